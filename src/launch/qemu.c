/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "launch/qemu.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count_of.h"
#include "launch/child.h"

enum { WORDS_MAX = 16 };          /* of a command, without what is asked */
enum { PROGRAM_MAX = 256 << 20 }; /* bytes of a file that is read for it */

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

/* ---- Without starting it ----------------------------------------------------------------------
 */

static bool copy_text(const char *bytes, size_t size, const char *what, char *text, size_t room)
{
    const char *at = memmem(bytes, size, what, strlen(what));
    size_t length;

    if (memcmp(bytes, ELFMAG, SELFMAG) != 0 || !at)
        return false;
    length = strnlen(at, (size_t)(bytes + size - at));
    length = length < room ? length : room - 1;
    memcpy(text, at, length);
    text[length] = '\0';
    return true;
}

/*
 * The text in the program's file that begins with `what`. To read the file is much faster than to
 * start the program, which is a good part of a short recording. Only a program of this kind tells:
 * a script, or one that has to be started by another, has to be asked.
 */
static bool find_text(char *const *command, const char *what, char *text, size_t room)
{
    int fd = command[1] ? -1 : open(command[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    void *bytes = MAP_FAILED;
    bool found = false;

    if (fd < 0)
        return false;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size >= SELFMAG &&
        about.st_size <= PROGRAM_MAX)
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes != MAP_FAILED) {
        found = copy_text(bytes, (size_t)about.st_size, what, text, room);
        munmap(bytes, (size_t)about.st_size);
    }
    return found;
}

/* ---- What it is -------------------------------------------------------------------------------
 */

enum qemu_verdict qemu_examine(char *const *command, const char *before, unsigned seconds,
                               struct qemu_version *version)
{
    char word[] = "--version", text[1024];

    if (find_text(command, before, text, sizeof(text)) && qemu_parse_version(text, before, version))
        return QEMU_GOOD;
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

    if (find_text(command, "qemu_plugin_register_vcpu_tb_trans_cb", text, sizeof(text)))
        return true; /* it has the names of the functions that it offers */
    return ask(command, word, seconds, text, sizeof(text)) == CHILD_ENDED &&
           strstr(text, "-plugin");
}
