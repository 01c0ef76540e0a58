/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/truth.h"

#include "render/json.h"
#include "render/table.h"

enum { FIRST_QUANTITY = 2 };

/* The function's exact counts are in one row, its estimates in the next. What a narrow page keeps
 * longest is what programs are slow for. */
static const struct table_column columns[FIRST_QUANTITY + TRUTH_QUANTITIES] = {
    {.title = "function, dso", .text = true, .minimum = 14},
    {.title = "", .text = true, .minimum = 8},
    [FIRST_QUANTITY + TRUTH_OPERATIONS] = {.title = "operations"},
    [FIRST_QUANTITY + TRUTH_LOADS] = {.title = "loads", .rank = 1},
    [FIRST_QUANTITY + TRUTH_STORES] = {.title = "stores", .rank = 5},
    [FIRST_QUANTITY + TRUTH_BRANCHES] = {.title = "branches", .rank = 4},
    [FIRST_QUANTITY + TRUTH_NOT_TAKEN] = {.title = "not taken", .rank = 8},
    [FIRST_QUANTITY + TRUTH_MISPREDICTED] = {.title = "mispredict", .rank = 2},
    [FIRST_QUANTITY + TRUTH_L1_MISSES] = {.title = "L1 misses", .rank = 3},
    [FIRST_QUANTITY + TRUTH_LLC_MISSES] = {.title = "LLC misses", .rank = 6},
    [FIRST_QUANTITY + TRUTH_WALKS] = {.title = "walks", .rank = 7},
};

static uint64_t whole(double estimate)
{
    return (uint64_t)(estimate + 0.5);
}

static void put_function(struct table *t, const struct truth_function *f, unsigned quantities)
{
    table_text(t, TONE_PLAIN, f->name);
    table_text(t, TONE_PLAIN, "exact");
    for (unsigned q = 0; q < quantities; q++)
        table_count(t, TONE_PLAIN, f->exact[q]);
    table_text(t, TONE_QUIET, f->dso);
    table_text(t, TONE_PLAIN, "estimate");
    for (unsigned q = 0; q < quantities; q++)
        table_count(t, TONE_PLAIN, whole(f->estimate[q]));
}

bool render_truth(struct out *o, const struct truth *truth, size_t functions, unsigned quantities,
                  unsigned width, bool color)
{
    char samples[32];
    struct table t;
    bool good;

    text_grouped(samples, truth->samples);
    tone_begin(o, color, TONE_TITLE);
    out_printf(o, "Exact counts, and estimates from %s samples", samples);
    tone_end(o, color, TONE_TITLE);
    out_char(o, '\n');
    table_begin(&t, columns, FIRST_QUANTITY + quantities);
    for (size_t i = 0; i < truth->count && i < functions; i++)
        put_function(&t, &truth->functions[i], quantities);
    good = table_end(&t, o, width, color);
    if (truth->count > functions)
        out_printf(o, "  and %zu functions more\n", truth->count - functions);
    return good;
}

static void put_quantities(struct json *j, const char *key, const struct truth_function *f,
                           unsigned quantities)
{
    json_object(j, key);
    for (unsigned q = 0; q < quantities; q++) {
        json_object(j, truth_names[q]);
        json_number(j, "exact", f->exact[q]);
        json_number(j, "samples", f->samples[q]);
        json_number(j, "estimate", whole(f->estimate[q]));
        json_number(j, "low", (uint64_t)f->low[q]);
        json_number(j, "high", (uint64_t)(f->high[q] + 1));
        json_object_end(j);
    }
    json_object_end(j);
}

void render_truth_json(struct out *o, const struct truth *truth, unsigned quantities)
{
    struct json j;

    json_begin(&j, o);
    json_object(&j, NULL);
    json_number(&j, "operations", truth->operations);
    json_number(&j, "samples", truth->samples);
    if (truth->cycles)
        json_number(&j, "cycles", truth->cycles);
    json_array(&j, "functions");
    for (size_t i = 0; i < truth->count; i++) {
        json_object(&j, NULL);
        json_string(&j, "function", truth->functions[i].name);
        json_string(&j, "dso", truth->functions[i].dso);
        put_quantities(&j, "counts", &truth->functions[i], quantities);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_end_line(&j);
}
