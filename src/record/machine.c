/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The machine that a program is recorded on: the CPU's, with what --machine changes. That is a list
 * of KEY=VALUE and of files with one such setting a line; what comes later counts.
 */
#include <specimen/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/machine_file.h"
#include "record/record.h"

enum { VECTOR_BITS_MAX = 2048 };

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
        problem_say(problem, false, key, "--model none has no machine; only vl can be set");
        return false;
    }
    return error == SPE_OK;
}

/* A setting is listed once, with the value that counts. */
static void forget(struct record_machine *m, const char *key)
{
    size_t length = strlen(key);

    for (char *at = m->settings; *at;) {
        size_t whole = strcspn(at, ",");
        char *next = at + whole + (at[whole] == ',');

        if (strncmp(at, key, length) == 0 && at[length] == '=')
            memmove(at, next, strlen(next) + 1);
        else
            at = next;
    }
    length = strlen(m->settings);
    if (length && m->settings[length - 1] == ',')
        m->settings[length - 1] = '\0';
}

static void list(struct record_machine *m, const char *key, const char *value)
{
    size_t used;

    forget(m, key);
    used = strlen(m->settings);
    snprintf(m->settings + used, sizeof(m->settings) - used, "%s%s=%s", used ? "," : "", key,
             value);
}

/* One KEY=VALUE. */
static bool set_one(struct record_machine *m, enum record_model model, const char *text,
                    struct problem *problem)
{
    char setting[MACHINE_SETTING], *value;
    size_t length = strlen(text);

    snprintf(setting, sizeof(setting), "%s", text);
    value = strchr(setting, '=');
    if (!value || value == setting || length >= sizeof(setting)) {
        problem_say(problem, false, setting,
                    "--machine takes KEY=VALUE,..., such as l2=2M,page=64K");
        return false;
    }
    *value++ = '\0';
    if (!set(m, model, setting, value, problem))
        return false;
    list(m, setting, value);
    return true;
}

/* An error in a file names its line. */
static bool set_file(struct record_machine *m, enum record_model model, const char *path,
                     struct problem *problem)
{
    struct machine_file file;
    char setting[MACHINE_SETTING + 1]; /* one that is cut is still too long */
    bool good = machine_file_open(&file, path, problem);

    while (good && machine_file_next(&file, setting, sizeof(setting))) {
        struct problem wrong;

        good = set_one(m, model, setting, &wrong);
        if (!good)
            machine_file_fail(&file, &wrong, problem);
    }
    machine_file_close(&file);
    return good;
}

static bool is_key(const char *text)
{
    const char *key = "vl";

    for (size_t i = 0; key; key = spe_machine_key_at(i++)) {
        if (strcmp(key, text) == 0)
            return true;
    }
    return false;
}

/* A word without '=' is a file, unless a value was forgotten. */
static bool set_word(struct record_machine *m, enum record_model model, const char *word,
                     struct problem *problem)
{
    if (!*word || strchr(word, '=') || is_key(word))
        return set_one(m, model, word, problem);
    return set_file(m, model, word, problem);
}

static bool set_all(struct record_machine *m, const struct record_options *options,
                    struct problem *problem)
{
    char *words = strdup(options->machine), *next = words;
    bool good = words != NULL;

    if (!good)
        problem_say(problem, false, "--machine", "%s", spe_strerror(SPE_ERR_NOMEM));
    while (good && next) {
        char *word = strsep(&next, ",");

        good = set_word(m, options->model, word, problem);
    }
    free(words);
    return good;
}

bool record_machine_of(const struct record_options *options, unsigned cpus,
                       struct record_machine *machine, struct problem *problem)
{
    const struct record_cpu *cpu = record_cpu_find(options->cpu);
    char why[200];

    spe_machine_config_init(&machine->config, cpu->machine);
    machine->config.cpus = cpus;
    machine->vector_bits = cpu->vector_bits;
    machine->settings[0] = '\0';
    if (options->machine && !set_all(machine, options, problem))
        return false;
    if (spe_machine_config_validate(&machine->config, why, sizeof(why)) == SPE_OK)
        return true;
    problem_say(problem, false, "--machine", "there is no such machine: %s", why);
    return false;
}
