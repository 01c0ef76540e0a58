/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include <math.h>

#include "render/diff.h"
#include "render/json.h"

const char *diff_by_name(enum spe_group_by by)
{
    return by == SPE_BY_DSO ? "dso" : by == SPE_BY_FUNCTION_LINE ? "line" : "function";
}

const char *diff_per_name(const struct diff *diff)
{
    switch (diff->per) {
    case SPE_PER_RUN:
        return "run";
    case SPE_PER_TIME:
        return "time";
    case SPE_PER_FUNCTION:
        return diff->function;
    default:
        return "operation";
    }
}

/* JSON has no infinity. */
static void put_change(struct json *j, const char *key, double ratio)
{
    if (isfinite(ratio))
        json_real(j, key, ratio - 1.0);
    else
        json_null(j, key);
}

static void put_quantities(struct json *j, const struct diff *d, const struct spe_diff_row *row)
{
    json_object(j, "quantities");
    for (unsigned q = 0; q < SPE_DIFF_QUANTITIES; q++) {
        const struct spe_change *c = &row->changes[q];

        if (!(d->result->known >> q & 1))
            continue;
        json_object(j, spe_diff_quantity_name(q));
        json_real(j, "old", c->before);
        json_real(j, "new", c->after);
        put_change(j, "change", c->before > 0.0 ? c->after / c->before : INFINITY);
        if (!d->result->exact) {
            put_change(j, "low", c->ratio.low);
            put_change(j, "high", c->ratio.high);
            if (c->tested)
                json_real(j, "p", c->p);
            else
                json_null(j, "p");
        }
        json_bool(j, "significant", c->significant);
        json_object_end(j);
    }
    json_object_end(j);
}

static void put_side(struct json *j, const struct diff *d, const char *key, unsigned side)
{
    json_object(j, key);
    json_string(j, "file", d->file[side]);
    json_number(j, "files", d->file_count[side]);
    if (!d->result->exact)
        json_number(j, "samples", d->result->total->samples[side]);
    json_real(j, "operations", d->result->operations[side]);
    if (d->result->program[side])
        json_string(j, "program", d->result->program[side]);
    json_object_end(j);
}

static void put_row(struct json *j, const struct diff *d, const struct spe_diff_row *row)
{
    json_object(j, NULL);
    if (d->by != SPE_BY_DSO)
        json_string(j, "function", row->function);
    if (d->by == SPE_BY_FUNCTION_LINE)
        json_string(j, "line", row->line);
    json_string(j, "dso", row->dso);
    if (!d->result->exact) {
        json_array(j, "samples");
        json_number(j, NULL, row->samples[0]);
        json_number(j, NULL, row->samples[1]);
        json_array_end(j);
    }
    json_bool(j, "significant", row->significant);
    put_quantities(j, d, row);
    json_object_end(j);
}

void diff_json(struct out *o, const struct diff *d)
{
    struct json j;

    json_begin(&j, o);
    json_object(&j, NULL);
    json_bool(&j, "exact", d->result->exact);
    json_string(&j, "by", diff_by_name(d->by));
    json_string(&j, "per", diff_per_name(d));
    put_side(&j, d, "old", 0);
    put_side(&j, d, "new", 1);
    json_number(&j, "tests", d->result->tests);
    json_number(&j, "significant", d->result->significant);
    json_array(&j, "fail_if");
    for (size_t i = 0; i < d->gate_count; i++) {
        json_object(&j, NULL);
        json_string(&j, "bound", d->gates[i].text);
        json_bool(&j, "failed", d->gates[i].failed);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object(&j, "total");
    put_quantities(&j, d, d->result->total);
    json_object_end(&j);
    json_array(&j, "rows");
    for (size_t i = 0; i < d->result->row_count; i++)
        put_row(&j, d, &d->result->rows[i]);
    json_array_end(&j);
    json_object_end(&j);
    json_end_line(&j);
}
