/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Command lines: the first byte says which command, the others are its words, each ended by a line
 * feed. While a command runs no descriptor can be had and nothing can be written, so that no file
 * is opened, no program is recorded and no machine is started: only what the options say is tried.
 * An input that fails is in the log only (Base64), since the fuzzer cannot open a file then,
 * either.
 */
#include <stdint.h>
#include <sys/resource.h>

#include "commands.h"

enum { WORDS = 32, BYTES = 2048 };

static int split(char *text, char **argv, int argc)
{
    char *rest = text, *word;

    while (argc < WORDS && (word = strsep(&rest, "\n")) && (rest || *word))
        argv[argc++] = word;
    argv[argc] = NULL;
    return argc;
}

/* The descriptors that are open stay open. */
static void let_open(rlim_t count)
{
    struct rlimit limit;

    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = count < limit.rlim_max ? count : limit.rlim_max;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool prepared;
    char text[BYTES], *argv[WORDS + 1], name[16];
    const struct command *c;
    int argc;

    if (!size || size > sizeof(text))
        return 0;
    if (!prepared) {
        fuzz_prepare("/dev/full");
        setenv("HOME", "/proc/nowhere", 1); /* where not even a folder can be made */
        setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
        prepared = true;
    }
    c = fuzz_commands[data[0] % FUZZ_COMMANDS];
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    snprintf(name, sizeof(name), "%s", c->name);
    argv[0] = name;
    argc = split(text, argv, 1);
    fuzz_away();
    let_open(0);
    c->run(c, argc, argv);
    let_open(RLIM_INFINITY);
    fuzz_back();
    return 0;
}
