/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/truth.h"

#include <inttypes.h>
#include <stdio.h>

#include "render/json.h"

enum { NAME_WIDTH = 26 };

static const char *const titles[TRUTH_QUANTITIES] = {
    "operations", "loads",     "stores",   "branches", "not taken",
    "mispredict", "L1 misses", "LLC miss", "walks",
};

/* The name in its column; cut if it is longer, control bytes made visible. */
static void put_name(struct out *o, const char *name)
{
    size_t length = strlen(name);
    char cut[NAME_WIDTH];

    snprintf(cut, sizeof(cut), "%s", name);
    if (length >= sizeof(cut))
        memcpy(cut + sizeof(cut) - 3, "..", 3);
    out_untrusted(o, cut);
    out_spaces(o, (unsigned)(NAME_WIDTH - strlen(cut)));
}

static void put_function(struct out *o, const struct truth_function *f, unsigned quantities)
{
    put_name(o, f->name);
    out_string(o, "  exact   ");
    for (unsigned q = 0; q < quantities; q++)
        out_printf(o, " %11" PRIu64, f->exact[q]);
    out_char(o, '\n');
    put_name(o, f->dso);
    out_string(o, "  estimate");
    for (unsigned q = 0; q < quantities; q++)
        out_printf(o, " %11.0f", f->estimate[q]);
    out_char(o, '\n');
}

void render_truth(struct out *o, const struct truth *truth, size_t functions, unsigned quantities)
{
    out_printf(
        o, "Exact counts of the emulator, and estimates from %" PRIu64 " samples, by function\n",
        truth->samples);
    out_spaces(o, NAME_WIDTH + 10);
    for (unsigned q = 0; q < quantities; q++)
        out_printf(o, " %11s", titles[q]);
    out_char(o, '\n');
    for (size_t i = 0; i < truth->count && i < functions; i++)
        put_function(o, &truth->functions[i], quantities);
    if (truth->count > functions)
        out_printf(o, "and %zu functions more\n", truth->count - functions);
}

static void put_quantities(struct json *j, const char *key, const struct truth_function *f,
                           unsigned quantities)
{
    json_object(j, key);
    for (unsigned q = 0; q < quantities; q++) {
        json_object(j, truth_names[q]);
        json_number(j, "exact", f->exact[q]);
        json_number(j, "samples", f->samples[q]);
        json_number(j, "estimate", (uint64_t)(f->estimate[q] + 0.5));
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
