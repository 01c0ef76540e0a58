/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The machine that a program is recorded on: the CPU's, with what --machine changes. */
#include <specimen/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"

enum { SETTING = 64, VECTOR_BITS_MAX = 2048 };

static void list_keys(char *list, size_t room)
{
    size_t used = (size_t)snprintf(list, room, "vl");
    const char *key;

    for (size_t i = 0; (key = spe_machine_key_at(i)) && used < room; i++)
        used += (size_t)snprintf(list + used, room - used, ", %s", key);
}

/* The length of SVE's vectors, in bits. */
static bool set_vectors(struct record_machine *m, const char *value, struct problem *problem)
{
    char *end;
    unsigned long bits = strtoul(value, &end, 10);

    if (!m->vector_bits) {
        problem_say(problem, false, "vl",
                    "this CPU has no SVE; neoverse-v1, neoverse-n2, neoverse-v2 and "
                    "architecture have it (--cpu)");
        return false;
    }
    if (*end || bits < 128 || bits > VECTOR_BITS_MAX || (bits & (bits - 1))) {
        problem_say(problem, false, "vl", "vl is %s, not 128, 256, 512, 1024 or 2048 bits", value);
        return false;
    }
    m->vector_bits = (uint32_t)bits;
    return true;
}

static bool set(struct record_machine *m, enum record_model model, const char *key,
                const char *value, struct problem *problem)
{
    char why[200], list[400];
    int error;

    if (strcmp(key, "vl") == 0)
        return set_vectors(m, value, problem);
    error = spe_machine_config_set(&m->config, key, value, why, sizeof(why));
    if (error == SPE_ERR_UNKNOWN) {
        list_keys(list, sizeof(list));
        problem_say(problem, false, key, "--machine has no such setting; there are %s", list);
    } else if (error) {
        problem_say(problem, false, "--machine", "%s", why);
    } else if (model == RECORD_MODEL_NONE) {
        problem_say(problem, false, key,
                    "--model none has no machine to set this of; only vl counts there");
        return false;
    }
    return error == SPE_OK;
}

/* One KEY=VALUE of the list. */
static bool set_one(struct record_machine *m, enum record_model model, const char *text,
                    size_t length, struct problem *problem)
{
    char setting[SETTING], *value;

    snprintf(setting, sizeof(setting), "%.*s", (int)length, text);
    value = strchr(setting, '=');
    if (!value || value == setting || length >= sizeof(setting)) {
        problem_say(problem, false, setting,
                    "--machine takes KEY=VALUE,..., such as l2=2M,page=64K");
        return false;
    }
    *value = '\0';
    return set(m, model, setting, value + 1, problem);
}

bool record_machine_of(const struct record_options *options, unsigned cpus,
                       struct record_machine *machine, struct problem *problem)
{
    const struct record_cpu *cpu = record_cpu_find(options->cpu);
    const char *at = options->machine;
    char why[200];

    spe_machine_config_init(&machine->config, cpu->machine);
    machine->config.cpus = cpus;
    machine->vector_bits = cpu->vector_bits;
    while (at) {
        size_t length = strcspn(at, ",");

        if (!set_one(machine, options->model, at, length, problem))
            return false;
        at = at[length] ? at + length + 1 : NULL;
    }
    if (spe_machine_config_validate(&machine->config, why, sizeof(why)) == SPE_OK)
        return true;
    problem_say(problem, false, "--machine", "there is no such machine: %s", why);
    return false;
}
