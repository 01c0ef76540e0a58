/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A process with the plugin in it, and what it says to its launcher. The scenario runs in a child,
 * so that each begins with a fresh plugin; sanitizers there make it end with a status.
 */
#ifndef TESTS_QEMU_HEAR_H
#define TESTS_QEMU_HEAR_H

#include <specimen/format.h>

#include "qemu/wire.h"

enum { HEARD_COUNTS = 64, HEARD_TROUBLES = 8 };

struct heard {
    int status; /* of the process, as of waitpid */
    unsigned processes, forked, threads, ends, aways, troubles;
    uint32_t slot_end; /* one more than the largest */
    char trouble[HEARD_TROUBLES][256];
    char program[64]; /* the last one's name */
    struct wire_statistics statistics;
    uint64_t bytes;                         /* SPE data */
    struct wire_count counts[HEARD_COUNTS]; /* the first ones */
    unsigned count_count;
    uint64_t executed, taken; /* of all */
};

/* Called for every SPE record. */
typedef void (*heard_record)(const struct spe_record *record, void *user);

/* `scenario` gets the socket's name; it may return or call exit(). */
void hear(void (*scenario)(const char *socket_name), const struct wire_setup *setup,
          struct heard *heard, heard_record see, void *user);

/* How often the instruction at this address ran, in all processes. */
uint64_t heard_executed(const struct heard *heard, uint64_t pc);

/* A setup for the scenario: WIRE_STAT ..., and a period. */
void hear_setup(struct wire_setup *setup, unsigned flags, uint64_t period);

/* In the scenario: end it, with a sentence, if the condition does not hold. (An assertion of cmocka
 * would go on with the next test, in the wrong process.) */
#define REQUIRE(condition) require(condition, #condition, __FILE__, __LINE__)
void require(int condition, const char *text, const char *file, int line);

#endif
