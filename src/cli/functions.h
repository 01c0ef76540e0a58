/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What `spe annotate` and the page of `spe report --html` show of functions: names, code, lines. */
#ifndef CLI_FUNCTIONS_H
#define CLI_FUNCTIONS_H

#include <specimen/analysis.h>

#include "render/annotate.h"

#define FUNCTIONS_MAX 64

/* The functions, targets and totals of a, out of an annotation that is finished and stays. False if
 * memory ran out. */
bool functions_describe(struct annotate *a, struct spe_profile *profile,
                        const struct spe_annotation *annotation);
void functions_free(struct annotate *a);

#endif
