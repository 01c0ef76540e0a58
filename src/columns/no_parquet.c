/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A build without zstd writes no Parquet. */
#include "columns/parquet.h"

int parquet_open(struct parquet **parquet, const struct column_choice *choice,
                 const struct parquet_options *options)
{
    (void)choice;
    (void)options;
    *parquet = NULL;
    return SPE_ERR_UNKNOWN;
}

int parquet_add(struct parquet *p, struct batch *batch)
{
    (void)p;
    batch_release(batch);
    return SPE_ERR_UNKNOWN;
}

int parquet_finish(struct parquet *p, const struct facts *facts)
{
    (void)p;
    (void)facts;
    return SPE_ERR_UNKNOWN;
}

void parquet_close(struct parquet *p)
{
    (void)p;
}
