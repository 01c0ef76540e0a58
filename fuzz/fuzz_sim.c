/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A script for `spe sim`: whatever the text is, it runs or is refused with a place and a sentence,
 * tells effects that can be printed, and does the same again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "sim/sim.h"

#define STEPS 1000

struct told {
    uint64_t effects, rows, hash;
};

static void add(struct told *t, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        t->hash = (t->hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static void on_effect(void *user, const struct sim_effect *e)
{
    struct told *t = user;

    REQUIRE(e->line > 0 && e->name && e->count <= SIM_EFFECT_VALUES);
    t->effects++;
    add(t, e->name, strlen(e->name));
    for (size_t i = 0; i < e->count; i++) {
        REQUIRE(e->value[i].key);
        REQUIRE(e->value[i].kind != SIM_WORD || e->value[i].word);
        add(t, &e->value[i].number, sizeof(e->value[i].number));
        if (e->value[i].kind == SIM_WORD)
            add(t, e->value[i].word, strlen(e->value[i].word));
    }
    if (e->record) {
        REQUIRE(e->config && e->record->written <= e->record->size);
        REQUIRE(e->record->size <= SPE_RECORD_MAX);
        add(t, e->record->bytes, e->record->size);
    }
}

static void on_row(void *user, bool head, const char *const *cells, size_t count)
{
    struct told *t = user;

    t->rows += !head;
    for (size_t i = 0; i < count; i++) {
        REQUIRE(cells[i]);
        add(t, cells[i], strlen(cells[i]));
    }
}

static unsigned lines_of(const uint8_t *data, size_t size)
{
    unsigned lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    return lines;
}

static struct told run(const uint8_t *data, size_t size)
{
    struct told told = {0};
    const struct sim_listener listener = {&told, on_effect, on_row};
    struct sim *sim = sim_create(&listener);
    struct sim_error error;

    REQUIRE(sim);
    sim_set_limit(sim, STEPS);
    if (sim_run(sim, (const char *)data, size, &error) < 0) {
        REQUIRE(error.line >= 1 && error.line <= lines_of(data, size) && error.column >= 1);
        REQUIRE(error.sentence[0] && memchr(error.sentence, 0, sizeof(error.sentence)));
        add(&told, error.sentence, strlen(error.sentence));
    }
    REQUIRE(sim_failed(sim) <= sim_expected(sim));
    sim_destroy(sim);
    return told;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct told first, second;

    if (size > 4096)
        return 0;
    first = run(data, size);
    second = run(data, size);
    REQUIRE(!memcmp(&first, &second, sizeof(first)));
    return 0;
}
