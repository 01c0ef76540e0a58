/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/json.h"

#include <specimen/analysis.h>

#include "render/safe.h"

void json_begin(struct json *j, struct out *o)
{
    j->out = o;
    j->comma = false;
}

void json_end_line(struct json *j)
{
    out_char(j->out, '\n');
    j->comma = false;
}

/* Above U+FFFF in two halves, as JSON has it. */
static void escaped(struct out *o, uint32_t code)
{
    if (code < 0x10000)
        out_printf(o, "\\u%04x", code);
    else
        out_printf(o, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
}

static void quoted(struct out *o, const char *text)
{
    uint32_t code;

    out_char(o, '"');
    while (*text) {
        unsigned n = utf8_decode(text, &code);

        if (n == 0) {
            out_string(o, "\\ufffd");
            n = 1;
        } else if (*text == '"' || *text == '\\') {
            out_char(o, '\\');
            out_char(o, *text);
        } else if (!safe_code(code)) {
            escaped(o, code);
        } else {
            out_bytes(o, text, n);
        }
        text += n;
    }
    out_char(o, '"');
}

/* Keys are ours: plain lower-case words that need no escaping. */
static void start(struct json *j, const char *key)
{
    struct out *o = j->out;

    if (j->comma)
        out_char(o, ',');
    j->comma = true;
    if (key) {
        out_char(o, '"');
        out_string(o, key);
        out_bytes(o, "\":", 2);
    }
}

void json_object(struct json *j, const char *key)
{
    start(j, key);
    out_char(j->out, '{');
    j->comma = false;
}

void json_object_end(struct json *j)
{
    out_char(j->out, '}');
    j->comma = true;
}

void json_array(struct json *j, const char *key)
{
    start(j, key);
    out_char(j->out, '[');
    j->comma = false;
}

void json_array_end(struct json *j)
{
    out_char(j->out, ']');
    j->comma = true;
}

void json_number(struct json *j, const char *key, uint64_t value)
{
    start(j, key);
    out_decimal(j->out, value);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
    start(j, key);
    out_bytes(j->out, "\"0x", 3);
    out_hex(j->out, value);
    out_char(j->out, '"');
}

void json_bool(struct json *j, const char *key, bool value)
{
    start(j, key);
    out_string(j->out, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    start(j, key);
    out_string(j->out, "null");
}

void json_string(struct json *j, const char *key, const char *value)
{
    if (!value) {
        json_null(j, key);
        return;
    }
    start(j, key);
    quoted(j->out, value);
}

void json_real(struct json *j, const char *key, double value)
{
    struct out *o = j->out;

    if (j->comma)
        out_char(o, ',');
    j->comma = true;
    out_printf(o, "\"%s\":%.9f", key, value);
}

void json_interval(struct json *j, const char *key, uint64_t hits, uint64_t samples)
{
    struct spe_interval i = spe_interval_of_share(hits, samples);

    json_object(j, key);
    json_real(j, "low", i.low);
    json_real(j, "high", i.high);
    json_object_end(j);
}
