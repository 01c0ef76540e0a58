/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What the tables of CPUs say beyond struct spe_source_table, which cannot grow. */
#ifndef FORMAT_CPUS_H
#define FORMAT_CPUS_H

#include <specimen/format.h>

/* Linux perf gives caches of other clusters and of other sockets levels of their own. With the
 * other tables both are a last-level cache, or nothing. */
bool spe_source_table_has_clusters(const struct spe_source_table *table);

#endif
