/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Any bytes as the file of the commands that read: the first byte says which command line, the
 * others are the file. Every command ends, with one of the three exit statuses.
 */
#include <stdint.h>

#include "commands.h"

enum { WORDS = 16 };

/* IN and OUT are files, NAMES a folder without any, for files that the recording names. */
#define READING "--symfs", "NAMES", "--debug-dir", "NAMES", "IN"

static const char *const lines[][WORDS] = {
    {"report", READING},
    {"report", "--json", "--by", "function,line,symbol+source,dso,thread,cpu", READING},
    {"report", "--csv", "--by", "thread", "--sort", "latency", READING},
    {"report", "--data", "page", "--filter", "load and total > 5", "--width", "60", READING},
    {"script", READING},
    {"script", "--threads", "2", "-F", "+srcline,source,timestamp", "--ns", READING},
    {"script", "--order", "queue", "--filter", "comm ~ \"a\" or level == dram", READING},
    {"export", "--format", "csv", "--lines", READING},
    {"export", "--format", "ndjson", "--threads", "2", READING},
    {"export", "--format", "folded", "--lines", READING},
    {"export", "--format", "perf", "--cpus", "0-3", "-o", "OUT", READING},
    {"export", "--format", "bolt", READING},
    {"export", "--format", "autofdo", READING},
    {"check", "--cpu", "neoverse-n1", "IN"},
    {"check", "--json", "--features", "v1p4,sve", "IN"},
    {"dump", "--verbose", "IN"},
    {"dump", "--json", "IN"},
    {"dump", "--records", "--raw", "--cpu", "neoverse-v2", "IN"},
    {"report", "--raw", READING},
    {"sim", "IN"},
};

enum { LINES = sizeof(lines) / sizeof(lines[0]) };

static struct {
    char names[64], in[80], out[80];
} place;

static void remove_place(void)
{
    unlink(place.in);
    unlink(place.out);
    rmdir(place.names);
}

static void make_place(void)
{
    char folder[] = "/tmp/spe-fuzz-XXXXXX";

    REQUIRE(mkdtemp(folder));
    snprintf(place.names, sizeof(place.names), "%s", folder);
    snprintf(place.in, sizeof(place.in), "%s.in", folder);
    snprintf(place.out, sizeof(place.out), "%s.out", folder);
    setenv("HOME", folder, 1);
    atexit(remove_place);
    fuzz_prepare("/dev/null");
}

static void write_input(const uint8_t *data, size_t size)
{
    FILE *file = fopen(place.in, "wbe");

    REQUIRE(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static const struct command *command_named(const char *name)
{
    size_t i = 0;

    while (strcmp(fuzz_commands[i]->name, name) != 0)
        i++;
    return fuzz_commands[i];
}

static char *word_of(const char *word)
{
    return strcmp(word, "IN") == 0      ? place.in
           : strcmp(word, "OUT") == 0   ? place.out
           : strcmp(word, "NAMES") == 0 ? place.names
                                        : (char *)(uintptr_t)word; /* getopt does not write to it */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *argv[WORDS + 1] = {0};
    const struct command *c;
    int argc = 0, status;

    if (!size)
        return 0;
    if (!place.in[0])
        make_place();
    write_input(data + 1, size - 1);
    for (const char *const *line = lines[data[0] % LINES]; argc < WORDS && line[argc]; argc++)
        argv[argc] = word_of(line[argc]);
    c = command_named(argv[0]);
    fuzz_away();
    status = c->run(c, argc, argv);
    fuzz_back();
    REQUIRE(status >= STATUS_OK && status <= STATUS_USAGE);
    return 0;
}
