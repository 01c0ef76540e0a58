/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the lists of test vectors share.
 */
#ifndef CLI_GEN_VECTORS_H
#define CLI_GEN_VECTORS_H

#include "base/count_of.h"
#include "cli/test_vector.h"

#define ALL "all"
#define PLAIN "v1p0"
#define TOP(n) ((uint64_t)(n) << 56) /* the top byte of an address */
#define CODE UINT64_C(0xaaaac8b15b98)
#define DATA UINT64_C(0xffff00001000)

struct writer {
    struct out *out;
    char *why;
    size_t why_size;
    bool good; /* the library agreed with all vectors so far */
    struct test_vector v;
};

/* Start the next vector: see tv_begin. */
struct test_vector *vectors_begin(struct writer *w, const char *features, const char *rows);

/* Check it and write it. */
void vectors_finish(struct writer *w);

/* Likewise, after the End packet of its record: a packet with its End is a record. */
void vectors_finish_record(struct writer *w);

/* The vectors of each packet's fields. */
void packet_vectors(struct writer *w);

/* All vectors, one a line; false, and *why filled, if the library contradicts one. */
bool write_vectors(struct out *o, char *why, size_t why_size);

#endif
