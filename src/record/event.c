/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Events in perf's words: the format directory of the kernel's arm_spe_0. */
#include <errno.h>
#include <specimen/spu.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count_of.h"
#include "record/record.h"

struct term {
    const char *name;
    uint8_t word, low, bits; /* config<word>:low.. */
    spe_features needs;      /* 0: every SPE has it */
};

/* clang-format off */
static const struct term terms[] = {
    {"ts_enable",           0, 0,  1,  0},
    {"pa_enable",           0, 1,  1,  0},
    {"pct_enable",          0, 2,  1,  0},
    {"jitter",              0, 16, 1,  0},
    {"branch_filter",       0, 32, 1,  0},
    {"load_filter",         0, 33, 1,  0},
    {"store_filter",        0, 34, 1,  0},
    {"discard",             0, 35, 1,  SPE_FEAT(SPEv1p2)},
    {"branch_filter_mask",  0, 36, 1,  SPE_FEAT(SPE_EFT)},
    {"load_filter_mask",    0, 37, 1,  SPE_FEAT(SPE_EFT)},
    {"store_filter_mask",   0, 38, 1,  SPE_FEAT(SPE_EFT)},
    {"simd_filter",         0, 39, 1,  SPE_FEAT(SPE_EFT)},
    {"simd_filter_mask",    0, 40, 1,  SPE_FEAT(SPE_EFT)},
    {"float_filter",        0, 41, 1,  SPE_FEAT(SPE_EFT)},
    {"float_filter_mask",   0, 42, 1,  SPE_FEAT(SPE_EFT)},
    {"event_filter",        1, 0,  64, 0},
    {"min_latency",         2, 0,  12, 0},
    {"inv_event_filter",    3, 0,  64, SPE_FEAT(SPE_FnE)},
    {"inv_data_src_filter", 4, 0,  64, SPE_FEAT(SPE_FDS)},
};
/* clang-format on */

#define TERMS (COUNT_OF(terms))

static const struct term *find_term(const char *name)
{
    for (size_t i = 0; i < TERMS; i++)
        if (strcmp(terms[i].name, name) == 0)
            return &terms[i];
    return NULL;
}

static uint64_t *word_of(struct record_event *event, const struct term *term)
{
    uint64_t *words[] = {&event->config, &event->config1, &event->config2, &event->config3,
                         &event->config4};

    return words[term->word];
}

static uint64_t mask_of(const struct term *term)
{
    return (term->bits == 64 ? UINT64_MAX : (UINT64_C(1) << term->bits) - 1) << term->low;
}

static bool set_term(struct record_event *event, const struct term *term, uint64_t value)
{
    uint64_t *word = word_of(event, term), mask = mask_of(term);

    if (value & ~(mask >> term->low))
        return false;
    *word = (*word & ~mask) | value << term->low;
    return true;
}

/* One "name=value", or "name" for 1. */
static bool parse_term(char *text, struct record_event *event, struct problem *problem)
{
    char *equals = strchr(text, '='), *end;
    const struct term *term;
    uint64_t value = 1;

    if (equals)
        *equals = '\0';
    term = find_term(text);
    if (!term) {
        problem_say(problem, false, text, "an SPE event has no such term");
        return false;
    }
    if (equals) {
        errno = 0;
        value = strtoull(equals + 1, &end, 0);
        if (end == equals + 1 || *end || errno || equals[1] == '-') {
            problem_say(problem, false, equals + 1, "this is not a number for %s", term->name);
            return false;
        }
    }
    if (!set_term(event, term, value)) {
        problem_say(problem, false, term->name, "%s is too large, it has %u bits",
                    equals ? equals + 1 : "", term->bits);
        return false;
    }
    return true;
}

bool record_parse_event(const char *text, struct record_event *event, struct problem *problem)
{
    char copy[1024], *list, *end, *save = NULL;
    size_t name = strcspn(text, "/");

    memset(event, 0, sizeof(*event));
    if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy) ||
        (strncmp(text, "arm_spe", 7) != 0 || strspn(text + 7, "_0123456789") + 7 != name)) {
        problem_say(problem, false, text, "the event must be arm_spe/term=value,.../");
        return false;
    }
    list = copy + name;
    if (*list == '/') {
        end = strchr(++list, '/');
        if (!end || strspn(end + 1, "u") != strlen(end + 1)) {
            problem_say(problem, false, text, "the event must end with /");
            return false;
        }
        *end = '\0';
    }
    for (char *term = strtok_r(list, ",", &save); term; term = strtok_r(NULL, ",", &save))
        if (!parse_term(term, event, problem))
            return false;
    return true;
}

bool record_check_event(const struct record_event *event, const char *cpu, struct problem *problem)
{
    struct record_event copy = *event;
    struct spe_spu_config config;

    if (spe_spu_config_init(&config, cpu) < 0) {
        problem_say(problem, false, cpu, "there is no unit of such a CPU");
        return false;
    }
    for (size_t i = 0; i < TERMS; i++) {
        const struct term *t = &terms[i];

        if ((*word_of(&copy, t) & mask_of(t)) && (t->needs & ~config.features)) {
            problem_say(problem, false, t->name,
                        "the SPE of %s cannot do this; --cpu architecture has everything", cpu);
            return false;
        }
    }
    return true;
}
