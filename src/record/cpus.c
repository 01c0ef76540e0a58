/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The CPUs that a program can be recorded on: those that both the unit and the machine model have.
 * QEMU's CPU has to know no instructions that the unit does not know, and vectors of 128 bits.
 */
#include <string.h>

#include "record/record.h"

static const struct record_cpu cpus[] = {
    {"neoverse-n1", "neoverse-n1", "Armv8.2, the one that most versions of perf know best",
     0x413fd0c1, 1024},
    {"neoverse-v2", "max,sve-default-vector-length=16", "Armv9.0 with SVE of 128 bits", 0x410fd4f1,
     1024},
    {"kunpeng-920", "neoverse-n1", "Armv8.2, no data sources", 0x481fd010, 1024},
};

const struct record_cpu *record_cpu_at(size_t i)
{
    return i < sizeof(cpus) / sizeof(cpus[0]) ? &cpus[i] : NULL;
}

const struct record_cpu *record_cpu_find(const char *name)
{
    for (size_t i = 0; record_cpu_at(i); i++)
        if (strcmp(cpus[i].name, name) == 0)
            return &cpus[i];
    return NULL;
}
