/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Making test vectors. Bytes and fields are written by tables of their own, not by the library's
 * encoder and decoder; tv_check then asks whether the library agrees.
 */
#ifndef CLI_TEST_VECTOR_H
#define CLI_TEST_VECTOR_H

#include "render/test_vector.h"

#define OP_FIELDS 4

/* A payload format of the Operation Type packet (D18.2.7). */
struct op_format {
    const char *name, *what;
    uint8_t kind; /* enum spe_op_kind */
    uint8_t class_, mask, match;
    const char *rows;
    const char *with[2], *without[2]; /* features that define it, and features that do not */
    struct {
        const char *name;
        uint8_t shift, width;
    } field[OP_FIELDS];
};

extern const struct op_format op_formats[];
extern const size_t op_format_count;

/* NULL: the payload has no format. */
const struct op_format *op_format_of(unsigned class_, uint8_t payload);

/* Start an empty vector. `features` and `rows` as in the struct. */
void tv_begin(struct test_vector *v, const char *features, const char *rows);
void tv_id(struct test_vector *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tv_about(struct test_vector *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tv_rows(struct test_vector *v, const char *rows); /* more of them */

/* Packets, at the end of the bytes. `extended`: with a two-byte header, also where one will do. */
void tv_address(struct test_vector *v, unsigned index, bool extended, uint64_t payload);
void tv_context(struct test_vector *v, unsigned index, uint32_t payload);
void tv_counter(struct test_vector *v, unsigned index, bool extended, uint16_t payload);
void tv_source(struct test_vector *v, unsigned size, uint64_t payload);
void tv_events(struct test_vector *v, unsigned size, uint64_t payload);
void tv_op(struct test_vector *v, unsigned class_, uint8_t payload);
void tv_padding(struct test_vector *v, size_t size);
/* A header that is not allocated, of one byte or two. */
void tv_unknown(struct test_vector *v, const uint8_t *header, unsigned header_size,
                uint64_t payload);

/* The terminators; each completes the record whose packets came before. */
void tv_end(struct test_vector *v);
void tv_timestamp(struct test_vector *v, uint64_t payload);

/* Take the last `size` bytes as a skipped range, with the packets that were made of them. */
void tv_skip(struct test_vector *v, size_t size, enum spe_skip_reason reason);
/* Bytes that are not packets; to be skipped with others. */
void tv_raw(struct test_vector *v, const uint8_t *bytes, size_t size);

/* Does the library say the same? If not, false and a sentence. */
bool tv_check(const struct test_vector *v, char *why, size_t why_size);

#endif
