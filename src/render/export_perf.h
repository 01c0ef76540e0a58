/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A recording written again, with the SPE records that a profile hands out and no others. */
#ifndef RENDER_EXPORT_PERF_H
#define RENDER_EXPORT_PERF_H

#include <specimen/profile.h>

/*
 * The profile is of the same file, in SPE_ORDER_QUEUE and at its first row. All records but SPE's
 * are kept: names and maps from before the cut are still needed. *records is the number of SPE
 * records that were written. SPE_OK, or an error with a sentence.
 */
int export_perf(struct spe_profile *profile, const char *file, const char *output,
                uint64_t *records, struct spe_perf_error *error);

#endif
