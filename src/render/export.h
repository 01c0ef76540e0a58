/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Samples for other programs: CSV, JSON Lines, and folded stacks. */
#ifndef RENDER_EXPORT_H
#define RENDER_EXPORT_H

#include <specimen/analysis.h>

#include "base/buffer.h"
#include "columns/table.h"
#include "render/out.h"

/* Memory to make texts in. */
struct export_texts {
    struct buffer text;
};

/* One line for the names of the columns, then one for each row. */
void export_csv_header(struct out *o, const struct column_choice *choice);
void export_csv_batch(struct out *o, struct export_texts *t, const struct column_choice *choice,
                      const struct batch *batch);

/* One object a row, with the fields that its record has. */
void export_ndjson_batch(struct out *o, struct export_texts *t, const struct column_choice *choice,
                         const struct batch *batch);

/* "dso;function 123", with lines "dso;function;file:12 123": what flame-graph programs read. */
void export_folded(struct out *o, struct spe_profile *profile, const struct spe_group *groups,
                   size_t count, bool latency);

/* The same with all callers, outermost first: "main;work;memcpy 123". The nodes of a tree by task,
 * which is `task`, come before them. SPE_OK or SPE_ERR_NOMEM. */
int export_folded_calls(struct out *o, struct spe_profile *profile,
                        const struct spe_call_tree *tree, enum spe_group_by task, bool latency);

#endif
