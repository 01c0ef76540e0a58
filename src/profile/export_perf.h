/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A recording written again, with the SPE records that a profile hands out and no others. */
#ifndef PROFILE_EXPORT_PERF_H
#define PROFILE_EXPORT_PERF_H

#include <specimen/profile.h>

/*
 * The profile is of a perf.data, in SPE_ORDER_QUEUE and at its first row. All records but SPE's are
 * kept: names and maps from before the cut are still needed. A recording that is damaged or not
 * complete is not marked as complete in its copy. SPE_OK, or an error with a sentence.
 */
int export_perf(struct spe_profile *profile, int output, struct spe_perf_error *error);

#endif
