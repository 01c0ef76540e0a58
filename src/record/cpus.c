/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The CPUs that a program can be recorded on: those that both the unit and the machine model have,
 * and one with every feature of SPE. QEMU's CPU has to know no instructions that the unit does not
 * know. Its own models of CPUs with SVE came late, so that those are "max", which has more than
 * they have, and blocks of 512 bytes for DC ZVA.
 */
#include <stdio.h>
#include <string.h>

#include "base/count_of.h"
#include "record/record.h"

static const struct record_cpu cpus[] = {
    {"neoverse-n1", "neoverse-n1", "neoverse-n1", 0x413fd0c1, 1024, 0, 64},
    {"neoverse-v1", "neoverse-v1", "max", 0x411fd401, 1024, 256, 512},
    {"neoverse-n2", "neoverse-n2", "max", 0x410fd490, 1024, 128, 512},
    {"neoverse-v2", "neoverse-v2", "max", 0x410fd4f1, 1024, 128, 512},
    {"kunpeng-920", "kunpeng-920", "neoverse-n1", 0x481fd010, 1024, 0, 64},
    {"ampereone-1a", "ampereone-1a", "max", 0xc00fac40, 1024, 0, 512},
    {"architecture", "neoverse-v2", "max", SOFTWARE_MIDR, 256, 128, 512},
};

const struct record_cpu *record_cpu_at(size_t i)
{
    return i < COUNT_OF(cpus) ? &cpus[i] : NULL;
}

const struct record_cpu *record_cpu_find(const char *name)
{
    for (size_t i = 0; record_cpu_at(i); i++)
        if (strcmp(cpus[i].name, name) == 0)
            return &cpus[i];
    return NULL;
}
