/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Rows of a profile as typed columns: batches of bounded size whose cells are values and a bitmap
 * of those that are there. Only chosen columns are computed.
 *
 *     table_open(&table, profile, &choice, rows);
 *     while ((result = table_next(table, &batch)) > 0)
 *         use(batch);
 *         batch_release(batch);
 *     table_close(table);
 */
#ifndef COLUMNS_TABLE_H
#define COLUMNS_TABLE_H

#include <stdatomic.h>

#include "columns/columns.h"
#include "columns/dictionary.h"

struct table;
struct shelf;

/* What the cells of a name are. */
enum table_names {
    NAMES_BYTES, /* indexes of texts as they are */
    NAMES_UTF8,  /* indexes of texts that are UTF-8 */
    NAMES_VIEWS, /* views of texts that are UTF-8 (struct text_view) */
};

/* One column of a batch. Bitmaps have bit i % 64 of word i / 64 for row i; bits behind the last row
 * are zero. */
struct cells {
    void *values; /* of column_size bytes; of a flag: a bitmap; or views. Zero where absent */
    const uint64_t *valid; /* NULL: all are there */
    size_t nulls;
    struct dictionary_view *texts; /* of a text, else NULL */
};

struct batch {
    atomic_uint users;
    size_t rows;
    size_t count;   /* of cells, as in the choice */
    bool has_views; /* of names: NAMES_VIEWS */
    struct cells *cells;
    void *memory; /* values and bitmaps, of the shelf */
    struct shelf *shelf;
};

void batch_keep(struct batch *b);
void batch_release(struct batch *b); /* NULL is fine */

static inline bool cell_there(const struct cells *c, size_t row)
{
    return !c->valid || c->valid[row / 64] >> row % 64 & 1;
}

/* Batches of at most `rows` rows; the choice is copied. SPE_OK or SPE_ERR_NOMEM. */
int table_open(struct table **table, struct spe_profile *profile,
               const struct column_choice *choice, size_t rows, enum table_names names);
void table_close(struct table *table); /* NULL is fine */
const struct column_choice *table_choice(const struct table *table);

/*
 * Take rows from *from on (0 at first): as many as fit into the batch that is being filled. Moves
 * *from on. 1: the batch is full, take it (table_take) before you go on; 0: it took them all; or an
 * error.
 */
int table_add(struct table *table, const struct spe_rows *rows, size_t *from);

/* The rows since the last one; *batch is NULL if there are none. SPE_OK or an error. */
int table_take(struct table *table, struct batch **batch);

/* The next batch of the profile's rows: 1, 0 at the end, or an error. */
int table_next(struct table *table, struct batch **batch);

#endif
