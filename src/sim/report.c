/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "sim/report.h"

#include <stdio.h>

#include "render/export_csv.h"
#include "render/json.h"
#include "render/safe.h"
#include "render/spe_record.h"

/* How the unit's records are to be read: by its own features and counter size. */
static struct naming naming_of(const struct report *r, const struct sim_effect *e)
{
    return (struct naming){
        .features = e->config->features,
        .features_known = true,
        .count_bits = e->config->count_size,
        .color = r->color,
    };
}

static struct spe_item item_of(const struct spe_record_notice *n)
{
    return (struct spe_item){
        .type = SPE_ITEM_RECORD,
        .offset = n->pointer,
        .size = n->size,
        .bytes = n->bytes,
    };
}

/* ---- Text ----------------------------------------------------------------------------------- */

static void text_value(struct out *o, const struct sim_value *v)
{
    switch (v->kind) {
    case SIM_ABSENT:
        out_string(o, "absent");
        break;
    case SIM_DECIMAL:
        out_decimal(o, v->number);
        break;
    case SIM_WORD:
        out_safe(o, v->word);
        break;
    default:
        out_string(o, v->number < 10 ? "" : "0x");
        out_hex(o, v->number);
    }
}

/* "7: expect failed: PMBSR_EL1.S == 1, but it is 0" */
static void text_failure(struct report *r, const struct sim_effect *e)
{
    struct out *o = r->out;

    out_decimal(o, e->line);
    out_string(o, r->color ? ": \033[1;31mexpect failed:\033[0m" : ": expect failed:");
    for (size_t i = 0; i < e->count; i++) {
        out_string(o, i + 1 < e->count ? " " : ", but it is ");
        text_value(o, &e->value[i]);
    }
    out_char(o, '\n');
}

static void text_effect(struct report *r, const struct sim_effect *e)
{
    struct out *o = r->out;

    out_decimal(o, e->line);
    out_string(o, ": ");
    out_safe(o, e->name);
    for (size_t i = 0; i < e->count; i++) {
        out_char(o, ' ');
        out_safe(o, e->value[i].key);
        out_char(o, '=');
        text_value(o, &e->value[i]);
    }
    out_char(o, '\n');
}

/* "3: record written, 51 of 51 bytes at 00010000: load gp ..." */
static void text_record(struct report *r, const struct sim_effect *e)
{
    const struct spe_record_notice *n = e->record;
    struct naming naming = naming_of(r, e);
    struct spe_item item = item_of(n);

    out_printf(r->out, "%u: record %s, %u of %u bytes at ", e->line, spe_sample_fate_name(n->fate),
               n->written, n->size);
    render_record_text(r->out, &naming, &item, n->record);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_value(struct json *j, const struct sim_value *v)
{
    switch (v->kind) {
    case SIM_ABSENT:
        json_null(j, v->key);
        break;
    case SIM_DECIMAL:
        json_number(j, v->key, v->number);
        break;
    case SIM_WORD:
        json_string(j, v->key, v->word);
        break;
    default:
        json_hex(j, v->key, v->number);
    }
}

static void json_bytes(struct json *j, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * SPE_RECORD_MAX + 1];

    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * size] = '\0';
    json_string(j, "bytes", text);
}

/* The record's own object goes inside: what ends its line is taken back. */
static void json_record(struct report *r, struct json *j, const struct sim_effect *e)
{
    struct naming naming = naming_of(r, e);
    struct spe_item item = item_of(e->record);

    json_bytes(j, e->record->bytes, e->record->size);
    out_string(r->out, ",\"record\":");
    render_record_json(r->out, &naming, NULL, &item, e->record->record);
    r->out->used--;
}

static void json_effect(struct report *r, const struct sim_effect *e)
{
    struct json j;

    json_begin(&j, r->out);
    json_object(&j, NULL);
    json_number(&j, "line", e->line);
    json_string(&j, "effect", e->name);
    for (size_t i = 0; i < e->count; i++)
        json_value(&j, &e->value[i]);
    if (e->record)
        json_record(r, &j, e);
    json_object_end(&j);
    json_end_line(&j);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void csv_cell(struct out *o, const char *cell)
{
    if (!strpbrk(cell, ",\"\r\n")) {
        out_data(o, cell);
        return;
    }
    csv_quoted(o, cell);
}

static void csv_row(struct out *o, const char *const *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i)
            out_char(o, ',');
        csv_cell(o, cells[i]);
    }
    out_char(o, '\n');
}

static void json_row(struct report *r, bool head, const char *const *cells, size_t count)
{
    struct json j;

    for (size_t i = 0; head && i < count && i < REPORT_COLUMNS; i++)
        snprintf(r->head[i], sizeof(r->head[i]), "%s", cells[i]);
    if (head)
        return;
    json_begin(&j, r->out);
    json_object(&j, NULL);
    for (size_t i = 0; i < count && i < REPORT_COLUMNS; i++)
        json_string(&j, r->head[i], cells[i]);
    json_object_end(&j);
    json_end_line(&j);
}

/* ---- The listener --------------------------------------------------------------------------- */

static void on_effect(void *user, const struct sim_effect *e)
{
    struct report *r = user;

    if (r->json)
        json_effect(r, e);
    else if (e->record)
        text_record(r, e);
    else if (strcmp(e->name, "expect_failed") == 0)
        text_failure(r, e);
    else
        text_effect(r, e);
}

static void on_row(void *user, bool head, const char *const *cells, size_t count)
{
    struct report *r = user;

    if (r->json)
        json_row(r, head, cells, count);
    else
        csv_row(r->out, cells, count);
}

struct sim_listener report_listener(struct report *report, struct out *out, bool json, bool color)
{
    *report = (struct report){.out = out, .json = json, .color = color};
    return (struct sim_listener){.user = report, .effect = on_effect, .row = on_row};
}
