/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D17.6.4: in which direction an operation is sampled, and as which of its accesses. */
#include "collect.h"

/* ---- Direction ------------------------------------------------------------------------------ */

static bool accesses_both_ways(const struct spe_operation *op)
{
    bool reads = false, writes = false;

    for (uint32_t i = 0; i < op->access_count; i++) {
        reads |= !op->accesses[i].store;
        writes |= op->accesses[i].store;
    }
    return reads && writes;
}

/* Memory Copy and GCSSS2 are sampled as the load or as the store that they are, by the type filter
 * or evenly: SPEMultiAccessSample(). */
static bool either_way(const struct collector *c)
{
    switch (spu_filter_directions(c->spu)) {
    case SPU_TYPE_LD:
        return false;
    case SPU_TYPE_ST:
        return true;
    default:
        return spu_choose(c->spu, 2);
    }
}

static void judge_direction(struct collector *c)
{
    const struct spe_operation *op = c->op;

    c->one_direction = false;
    switch (c->kind) {
    case SPE_OPERATION_STORE:
    case SPE_OPERATION_MEMSET:
    case SPE_OPERATION_DC_ZVA:
        c->writes = true;
        break;
    case SPE_OPERATION_ATOMIC:
        c->writes = !op->returns_value;
        break;
    case SPE_OPERATION_MEMCPY:
        c->one_direction = accesses_both_ways(op);
        c->writes = c->one_direction || !op->access_count ? either_way(c) : op->accesses[0].store;
        break;
    case SPE_OPERATION_GCS:
        c->one_direction = !op->returns_value && accesses_both_ways(op);
        if (c->one_direction)
            c->writes = either_way(c);
        else
            c->writes = !op->returns_value && op->access_count && op->accesses[0].store;
        break;
    case SPE_OPERATION_BRANCH:
        c->writes = c->gcs_branch && op->accesses[0].store;
        break;
    default:
        c->writes = false;
    }
}

/* ---- Parts of an operation with several accesses (D17.6.4) ---------------------------------- */

static uint32_t count_parts(const struct collector *c, bool active)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->op->access_count; i++)
        n += looked_at(c, &c->op->accesses[i], active);
    return n;
}

static const struct spe_memory_access *nth_part(const struct collector *c, uint32_t n, bool active)
{
    const struct spe_memory_access *a = c->op->accesses;

    while (!looked_at(c, a, active) || n--)
        a++;
    return a;
}

const struct spe_memory_access *spu_lowest_part(const struct collector *c, bool active)
{
    const struct spe_memory_access *lowest = NULL;

    for (uint32_t i = 0; i < c->op->access_count; i++) {
        const struct spe_memory_access *a = &c->op->accesses[i];

        if (looked_at(c, a, active) && (!lowest || a->va < lowest->va))
            lowest = a;
    }
    return lowest;
}

/* Which of n parts; elements of a gather or scatter are always drawn (RMYPFF). */
static uint32_t choose_part(const struct collector *c, uint32_t n)
{
    if (c->config->part_choice == SPE_PART_ROUND_ROBIN && !is_vector_access(c))
        return c->spu->round_robin++ % n;
    return spu_choose(c->spu, n);
}

static const struct spe_memory_access *choose_address(const struct collector *c)
{
    if (!c->op->contiguous)
        return c->part;
    if (is_vector_access(c)) { /* RNHSYR */
        bool active = c->config->sve_contig_va == SPE_CONTIG_LOWEST_ACTIVE && count_parts(c, true);

        return spu_lowest_part(c, active);
    }
    if (c->config->multi_access == SPE_MULTI_PART &&
        c->config->part_contig_va == SPE_PART_VA_CHOSEN)
        return c->part;
    return spu_lowest_part(c, false);
}

void spu_choose_parts(struct collector *c)
{
    bool active;

    judge_direction(c);
    active = c->op->contiguous && count_parts(c, true);
    c->parts = c->access_info == SPE_SUBSET_NONE ? 0 : count_parts(c, active);
    if (c->parts == 0)
        return;
    c->part = nth_part(c, c->parts == 1 ? 0 : choose_part(c, c->parts), active);
    c->address = c->op->access_count == 1 ? c->part : choose_address(c);
}
