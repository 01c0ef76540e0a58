/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/json.h"

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

static void quoted(struct out *o, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    out_char(o, '"');
    while (*s) {
        unsigned n = utf8_length(s);

        if (n == 0) {
            out_string(o, "\\ufffd");
            n = 1;
        } else if (*s == '"' || *s == '\\') {
            out_char(o, '\\');
            out_char(o, (char)*s);
        } else if (*s < 0x20 || *s == 0x7f) {
            out_printf(o, "\\u%04x", *s);
        } else {
            out_bytes(o, (const char *)s, n);
        }
        s += n;
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
