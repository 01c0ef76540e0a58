/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Lists that callers have room for, in elements of this release; elements.c gives them to callers
 * that know smaller or larger ones. */
#ifndef ANALYSIS_LISTS_H
#define ANALYSIS_LISTS_H

#include <specimen/analysis.h>

size_t analysis_mix(const struct spe_analysis *analysis, struct spe_mix mix[SPE_MIX_MAX]);
size_t analysis_served(const struct spe_analysis *analysis,
                       struct spe_served_row rows[SPE_SERVED_COUNT]);
size_t analysis_groups(const struct spe_analysis *analysis, enum spe_group_by by,
                       enum spe_sort sort, struct spe_group *top, size_t n);
size_t analysis_branches(const struct spe_analysis *analysis, struct spe_branch *top, size_t n,
                         uint64_t *error);
size_t analysis_data(const struct spe_analysis *analysis, struct spe_data *top, size_t n,
                     struct spe_data_summary *summary);
int analysis_findings(struct spe_analysis *analysis, struct spe_profile *profile,
                      struct spe_finding findings[SPE_FINDINGS_MAX]);
size_t types_top(const struct spe_types *types, struct spe_type_row *top, size_t n);
size_t types_objects(const struct spe_types *types, struct spe_object_row *top, size_t n);
size_t types_members(const struct spe_types *types, uint32_t type, struct spe_type_row *top,
                     size_t n);
bool types_apart(const struct spe_types *types, uint32_t type, struct spe_type_row members[2]);
bool types_contended(const struct spe_types *types, uint32_t type, struct spe_type_row members[2]);

#endif
