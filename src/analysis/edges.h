/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef ANALYSIS_EDGES_H
#define ANALYSIS_EDGES_H

#include <specimen/analysis.h>

/* Nearly all taken branches have a previous target, so that straight code is known from those. The
 * few others make little difference. */
bool edges_know_previous(const struct spe_edge_counts *counts);

#endif
