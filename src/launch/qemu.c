/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "launch/qemu.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count_of.h"
#include "launch/child.h"

enum { WORDS_MAX = 16 }; /* of a command, without what is asked */

/* The first version of each level; src/qemu/api.h says what a level has. */
static const struct {
    struct qemu_version since;
    int level;
} levels[] = {
    {{11, 1}, 7}, {{11, 0}, 6}, {{10, 1}, 5}, {{9, 2}, 4}, {{9, 1}, 3}, {{9, 0}, 2}, {{6, 0}, 1},
};

bool qemu_parse_version(const char *text, const char *before, struct qemu_version *version)
{
    const char *at = strstr(text, before);
    char *end;

    if (!at)
        return false;
    at += strlen(before);
    version->major = (int)strtol(at, &end, 10);
    if (end == at || *end != '.' || version->major < 1)
        return false;
    at = end + 1;
    version->minor = (int)strtol(at, &end, 10);
    return end != at && version->minor >= 0;
}

bool qemu_is_at_least(const struct qemu_version *version, int major, int minor)
{
    return version->major > major || (version->major == major && version->minor >= minor);
}

int qemu_plugin_level(const struct qemu_version *version)
{
    for (size_t i = 0; i < COUNT_OF(levels); i++) {
        if (qemu_is_at_least(version, levels[i].since.major, levels[i].since.minor))
            return levels[i].level;
    }
    return 0;
}

/* Levels 6 and 7 cannot be told apart from inside. */
void qemu_tell_level(const struct qemu_version *version)
{
    if (qemu_plugin_level(version) == 6)
        setenv("SPECIMEN_PLUGIN_LEVEL", "6", 1);
    else
        unsetenv("SPECIMEN_PLUGIN_LEVEL");
}

/* What it says to one more word. */
static enum child_end ask(char *const *command, char *word, unsigned seconds, char *text,
                          size_t room)
{
    char *words[WORDS_MAX + 2];
    size_t count = 0;
    int status;

    for (; command[count] && count < WORDS_MAX; count++)
        words[count] = command[count];
    words[count++] = word;
    words[count] = NULL;
    return child_text(words, seconds, text, room, &status);
}

enum qemu_verdict qemu_examine(char *const *command, const char *before, unsigned seconds,
                               struct qemu_version *version)
{
    char word[] = "--version", text[1024];

    switch (ask(command, word, seconds, text, sizeof(text))) {
    case CHILD_ENDED:
        break;
    case CHILD_LATE:
        return QEMU_SILENT;
    default:
        return QEMU_ABSENT;
    }
    return qemu_parse_version(text, before, version) ? QEMU_GOOD : QEMU_OTHER;
}

bool qemu_has_plugins(char *const *command, unsigned seconds)
{
    char word[] = "--help", text[32768];

    return ask(command, word, seconds, text, sizeof(text)) == CHILD_ENDED &&
           strstr(text, "-plugin");
}
