/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The CPUs that a program can be recorded on: those that both the unit and the machine model have,
 * and one with every feature of SPE. QEMU's CPU has to know no instructions that the unit does not
 * know, and vectors of 128 bits.
 */
#include <string.h>

#include "record/record.h"

#define MAX_SVE128 "max,sve-default-vector-length=16"

static const struct record_cpu cpus[] = {
    {"neoverse-n1", "neoverse-n1", "neoverse-n1", 0x413fd0c1, 1024},
    {"neoverse-v2", "neoverse-v2", MAX_SVE128, 0x410fd4f1, 1024},
    {"kunpeng-920", "kunpeng-920", "neoverse-n1", 0x481fd010, 1024},
    {"architecture", "neoverse-v2", MAX_SVE128, SOFTWARE_MIDR, 256},
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
