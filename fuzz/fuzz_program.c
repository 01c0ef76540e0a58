/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Is it a program? Any bytes have a verdict, and all that it says ends. A script may name itself.
 */
#include <elf.h>
#include <stdio.h>

#include "launch/program.h"
#include "names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct program p, again;
    enum program_verdict verdict;
    char path[40];
    int fd = file_of(data, size);

    memset(&p, 0xff, sizeof(p));
    memset(&again, 0, sizeof(again));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    verdict = program_examine(path, "/nowhere", &p);
    REQUIRE(verdict != PROGRAM_MISSING || p.script);
    REQUIRE(verdict != PROGRAM_OK || p.machine == EM_AARCH64);
    REQUIRE(memchr(p.file, 0, sizeof(p.file)) && memchr(p.loader, 0, sizeof(p.loader)));
    REQUIRE(memchr(p.interpreter, 0, sizeof(p.interpreter)));
    REQUIRE(memchr(p.argument, 0, sizeof(p.argument)));
    /* The same bytes are the same program, whatever was in memory before. */
    REQUIRE(program_examine(path, "/nowhere", &again) == verdict);
    REQUIRE(again.machine == p.machine && again.script == p.script);
    REQUIRE(strcmp(again.loader, p.loader) == 0 && strcmp(again.file, p.file) == 0);
    close(fd);
    return 0;
}
