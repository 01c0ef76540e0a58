/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* How often code ran, for compilers and linkers: BOLT's and LLVM's text. */
#ifndef RENDER_EXPORT_CODE_H
#define RENDER_EXPORT_CODE_H

#include <specimen/analysis.h>

#include "render/out.h"

/*
 * BOLT's pre-aggregated profile: "B from to count mispredicted" for a branch that was taken, "F
 * from to count" for what went straight on. Counts are samples times `weight`.
 *
 * straight_on: fall-throughs are the edges of that kind; else branches that were not taken. Both
 * estimate the same, so both together would count it twice.
 */
void export_bolt(struct out *o, const struct spe_edge *edges, size_t count, bool straight_on,
                 uint64_t weight);

/* LLVM's sample profile, as text. */
void export_autofdo(struct out *o, const struct spe_profile *profile,
                    const struct spe_code_profile *source, uint64_t weight);

#endif
