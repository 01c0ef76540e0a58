/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A test vector for decoders: bytes, and what they mean. docs/vectors.md describes its JSON.
 */
#ifndef RENDER_TEST_VECTOR_H
#define RENDER_TEST_VECTOR_H

#include <specimen/format.h>

#include "render/out.h"

enum tv_field_kind {
    TV_NUMBER,
    TV_HEX,
    TV_TEXT,
    TV_BOOL,
    TV_NULL,
    TV_BITS,   /* a mask, as the numbers of its bits */
    TV_EVENTS, /* a mask, as the names of these events */
};

struct tv_field {
    const char *name;
    uint8_t kind; /* enum tv_field_kind */
    uint64_t value;
    const char *text; /* TV_TEXT */
};

#define TV_FIELDS 10

struct tv_packet {
    size_t offset, size;
    struct spe_packet packet; /* of a run of padding: its first byte */
    uint8_t status;           /* enum spe_definition */
    char key[24];             /* its name among the fields of the record; empty: it has none */
    unsigned fields;
    struct tv_field field[TV_FIELDS];
};

/* A record, or a range that a decoder skips. */
struct tv_item {
    uint8_t type;   /* enum spe_item_type */
    uint8_t reason; /* SPE_ITEM_SKIPPED */
    size_t offset, size;
    size_t first, end; /* the record's packets */
};

#define TV_BYTES 4096
#define TV_PACKETS 64
#define TV_ITEMS 8

struct test_vector {
    char id[64], about[240], rows[240]; /* rows of the catalogue, separated by blanks */
    const char *features;               /* as in --features */
    spe_features set;
    unsigned count_bits;
    bool unsynced; /* the first bytes may lie inside a record */
    bool wrong;    /* its maker gave it more than it has room for, or unknown features */
    uint8_t bytes[TV_BYTES];
    size_t size, packets, items;
    struct tv_packet packet[TV_PACKETS];
    struct tv_item item[TV_ITEMS];
};

/* One line of JSON. */
void tv_json(struct out *o, const struct test_vector *v);

#endif
