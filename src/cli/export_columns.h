/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* `spe export` for data people: every sample as a row of columns. */
#ifndef CLI_EXPORT_COLUMNS_H
#define CLI_EXPORT_COLUMNS_H

#include "cli/recording.h"
#include "columns/columns.h"
#include "render/out.h"

enum columns_format { COLUMNS_CSV, COLUMNS_NDJSON, COLUMNS_ARROW, COLUMNS_PARQUET };

/* Go through the rows and write them. 0, or an error that is not reported yet. */
int export_columns(struct spe_profile *profile, const char *file, enum columns_format format,
                   const struct column_choice *choice, struct out *o);

#endif
