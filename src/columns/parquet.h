/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Batches as a Parquet file: each is a row group, whose columns several threads encode while the
 * caller makes the next batch. Without its footer, which comes last, the file is not one.
 */
#ifndef COLUMNS_PARQUET_H
#define COLUMNS_PARQUET_H

#include "columns/facts.h"
#include "columns/table.h"

#define PARQUET_ROWS 65536 /* of a row group: a batch may have as many */

struct parquet;

struct parquet_options {
    unsigned threads; /* that encode; at least 1 */
    int level;        /* of zstd */
    bool by_time;     /* rows ascend by time_ns */
    columns_put *put;
    void *user;
};

/* SPE_OK, or SPE_ERR_NOMEM, or SPE_ERR_UNKNOWN: this build has no zstd. */
int parquet_open(struct parquet **parquet, const struct column_choice *choice,
                 const struct parquet_options *options);
/* Takes the batch over. */
int parquet_add(struct parquet *p, struct batch *batch);
/* The rest and the footer, with these facts. */
int parquet_finish(struct parquet *p, const struct facts *facts);
void parquet_close(struct parquet *p); /* NULL is fine */

#endif
