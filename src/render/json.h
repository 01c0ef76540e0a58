/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * JSON as it is produced: the writer keeps the commas, the caller keeps the nesting. In an object
 * every value has a key; in an array (and at the top) the key is NULL.
 *
 * Numbers are for counts and small fields. Bit patterns of up to 64 bits (addresses, raw payloads)
 * are strings of hex digits with 0x, because many readers keep numbers as doubles.
 */
#ifndef RENDER_JSON_H
#define RENDER_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "render/out.h"

struct json {
    struct out *out;
    bool comma; /* a value came before, at this level */
};

void json_begin(struct json *j, struct out *o);
void json_end_line(struct json *j); /* after a top-level value: JSON Lines */

void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);

void json_number(struct json *j, const char *key, uint64_t value);
void json_hex(struct json *j, const char *key, uint64_t value);
/* Fractions with nine digits behind the point: more than any sample size gives a meaning to. */
void json_real(struct json *j, const char *key, double value);
/* The 95 % interval of a share: an object with "low" and "high". */
void json_interval(struct json *j, const char *key, uint64_t hits, uint64_t samples);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* Any bytes up to the NUL; NULL is null. Each byte that is not part of UTF-8 comes out as U+FFFD,
 * and what a terminal should not be sent (render/safe.h) as \uXXXX, which means the same. */
void json_string(struct json *j, const char *key, const char *value);

#endif
