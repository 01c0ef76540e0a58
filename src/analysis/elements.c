/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Elements of lists grow at their end, as other structs do. A caller that was built with another
 * release says how large its elements are, and gets a list of such.
 */
#include <stdlib.h>

#include "analysis/lists.h"
#include "base/sized.h"

/* ---- Lists of the caller's ------------------------------------------------------------------- */

/* Room for n elements: the caller's own, if they have the right size. NULL without memory. */
static void *begin(void *theirs, size_t n, size_t their_size, size_t own_size)
{
    return their_size == own_size ? theirs : calloc(n ? n : 1, own_size);
}

static void end(void *own, void *theirs, size_t count, size_t their_size, size_t own_size)
{
    if (own == theirs)
        return;
    for (size_t i = 0; i < count; i++)
        sized_give((char *)theirs + i * their_size, their_size, (const char *)own + i * own_size,
                   own_size);
    free(own);
}

size_t spe_analysis_mix_sized(const struct spe_analysis *analysis, struct spe_mix mix[SPE_MIX_MAX],
                              size_t size)
{
    struct spe_mix *own = begin(mix, SPE_MIX_MAX, size, sizeof(*own));
    size_t count = own ? analysis_mix(analysis, own) : 0;

    end(own, mix, count, size, sizeof(*own));
    return count;
}

size_t spe_analysis_served_sized(const struct spe_analysis *analysis,
                                 struct spe_served_row rows[SPE_SERVED_COUNT], size_t size)
{
    struct spe_served_row *own = begin(rows, SPE_SERVED_COUNT, size, sizeof(*own));
    size_t count = own ? analysis_served(analysis, own) : 0;

    end(own, rows, count, size, sizeof(*own));
    return count;
}

size_t spe_analysis_groups_sized(const struct spe_analysis *analysis, enum spe_group_by by,
                                 enum spe_sort sort, struct spe_group *top, size_t n, size_t size)
{
    struct spe_group *own = begin(top, n, size, sizeof(*own));
    size_t count = own ? analysis_groups(analysis, by, sort, own, n) : 0;

    end(own, top, count, size, sizeof(*own));
    return count;
}

size_t spe_analysis_branches_sized(const struct spe_analysis *analysis, struct spe_branch *top,
                                   size_t n, uint64_t *error, size_t size)
{
    struct spe_branch *own = begin(top, n, size, sizeof(*own));
    size_t count = own ? analysis_branches(analysis, own, n, error) : 0;

    end(own, top, count, size, sizeof(*own));
    return count;
}

size_t spe_analysis_data_sized(const struct spe_analysis *analysis, struct spe_data *top, size_t n,
                               size_t size, struct spe_data_summary *summary, size_t summary_size)
{
    struct spe_data_summary own_summary = {0};
    struct spe_data *own = begin(top, n, size, sizeof(*own));
    size_t count = own ? analysis_data(analysis, own, n, &own_summary) : 0;

    sized_give(summary, summary_size, &own_summary, sizeof(own_summary));
    end(own, top, count, size, sizeof(*own));
    return count;
}

int spe_analysis_findings_sized(struct spe_analysis *analysis, struct spe_profile *profile,
                                struct spe_finding findings[SPE_FINDINGS_MAX], size_t size)
{
    struct spe_finding *own = begin(findings, SPE_FINDINGS_MAX, size, sizeof(*own));
    int count = own ? analysis_findings(analysis, profile, own) : SPE_ERR_NOMEM;

    end(own, findings, count < 0 ? 0 : (size_t)count, size, sizeof(*own));
    return count;
}

size_t spe_types_top_sized(const struct spe_types *types, struct spe_type_row *top, size_t n,
                           size_t size)
{
    struct spe_type_row *own = begin(top, n, size, sizeof(*own));
    size_t count = own ? types_top(types, own, n) : 0;

    end(own, top, count, size, sizeof(*own));
    return count;
}

size_t spe_types_objects_sized(const struct spe_types *types, struct spe_object_row *top, size_t n,
                               size_t size)
{
    struct spe_object_row *own = begin(top, n, size, sizeof(*own));
    size_t count = own ? types_objects(types, own, n) : 0;

    end(own, top, count, size, sizeof(*own));
    return count;
}

size_t spe_types_members_sized(const struct spe_types *types, uint32_t type,
                               struct spe_type_row *top, size_t n, size_t size)
{
    struct spe_type_row *own = begin(top, n, size, sizeof(*own));
    size_t count = own ? types_members(types, type, own, n) : 0;

    end(own, top, count, size, sizeof(*own));
    return count;
}

bool spe_types_apart_sized(const struct spe_types *types, uint32_t type,
                           struct spe_type_row members[2], size_t size)
{
    struct spe_type_row *own = begin(members, 2, size, sizeof(*own));
    bool count = own ? types_apart(types, type, own) : false;

    end(own, members, count ? 2 : 0, size, sizeof(*own));
    return count;
}

bool spe_types_contended_sized(const struct spe_types *types, uint32_t type,
                               struct spe_type_row members[2], size_t size)
{
    struct spe_type_row *own = begin(members, 2, size, sizeof(*own));
    bool count = own ? types_contended(types, type, own) : false;

    end(own, members, count ? 2 : 0, size, sizeof(*own));
    return count;
}

/* ---- Lists of the library's ------------------------------------------------------------------ */

size_t spe_element_size(enum spe_element element)
{
    static const size_t sizes[SPE_ELEMENT_COUNT] = {
        [SPE_ELEMENT_SHARED_LINE] = sizeof(struct spe_shared_line),
        [SPE_ELEMENT_SHARED_OFFSET] = sizeof(struct spe_shared_offset),
        [SPE_ELEMENT_SHARED_USER] = sizeof(struct spe_shared_user),
        [SPE_ELEMENT_TIME_BIN] = sizeof(struct spe_time_bin),
        [SPE_ELEMENT_INSTRUCTION] = sizeof(struct spe_instruction),
        [SPE_ELEMENT_BRANCH_TARGET] = sizeof(struct spe_branch_target),
        [SPE_ELEMENT_ANNOTATED_LINE] = sizeof(struct spe_annotated_line),
        [SPE_ELEMENT_DIFF_ROW] = sizeof(struct spe_diff_row),
        [SPE_ELEMENT_CODE_COUNT] = sizeof(struct spe_code_count),
    };

    return (unsigned)element < SPE_ELEMENT_COUNT ? sizes[element] : 0;
}
