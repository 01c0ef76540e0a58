/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef ANALYSIS_SHARING_H
#define ANALYSIS_SHARING_H

#include <specimen/analysis.h>

/* Whether threads share the same bytes, or different ones, of a line; sets same_used of its
 * offsets. */
enum spe_sharing_kind sharing_kind(const struct spe_shared_line *line,
                                   struct spe_shared_offset *offsets);

#endif
