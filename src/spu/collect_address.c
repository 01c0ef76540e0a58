/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D17.6.3, D17.6.4, D18.2.1: Address packets. */
#include "collect.h"

#define TAG_GRANULE 16

static void put_address(struct collector *c, unsigned index, uint64_t payload)
{
    c->record->addresses |= 1u << index;
    c->record->address[index] = payload;
}

static void put_instruction_address(struct collector *c, unsigned index, uint64_t va, unsigned el,
                                    unsigned security)
{
    struct spe_address a = {.address = va & (UINT64_MAX >> 8), .el = (uint8_t)el};

    a.ns = security & 1;
    a.nse = has(c, SPE_FEAT_RME) ? (uint8_t)(security >> 1) : 0;
    put_address(c, index, spe_address_encode(index, &a));
}

/* ---- Which data addresses are told ---------------------------------------------------------- */

static bool is_nv2_access(const struct collector *c)
{
    return c->op->registers == SPE_REGISTERS_NV2 && has(c, SPE_FEAT_NV2);
}

static bool records_va(const struct collector *c)
{
    if (!c->address || c->info != SPE_INFO_ALL)
        return false;
    if (is_nv2_access(c) && !c->flight->nv2_address) /* D17.6.4.2 */
        return false;
    if (c->address->inactive) /* RMYPFF, RNHSYR */
        return c->op->contiguous && c->config->sve_contig_inactive_va;
    return true;
}

static bool records_pa(const struct collector *c)
{
    const struct spe_operation *op = c->op;

    if (!c->va || !c->flight->physical_address || !translated(c->address))
        return false;
    return !(c->kind == SPE_OPERATION_STORE && op->exclusive_failed && !c->config->stx_fail_pa);
}

void spu_judge_addresses(struct collector *c)
{
    c->va = records_va(c);
    c->pa = records_pa(c);
}

/* ---- Data (D17.6.4) ------------------------------------------------------------------------- */

static bool is_tag_access(const struct collector *c)
{
    return c->op->registers == SPE_REGISTERS_TAG && c->data && !c->gcs_branch;
}

/* D17.6.4.1: a Tag access may be one to the location or to all that the tags cover. */
static uint64_t data_va(const struct collector *c)
{
    uint64_t granule = c->address->granule ? c->address->granule : TAG_GRANULE;

    if (is_tag_access(c) && c->config->tag_access_va == SPE_TAG_VA_GRANULE_BASE)
        return c->address->va & ~(granule - 1);
    return c->address->va;
}

static void put_va(struct collector *c)
{
    const struct spe_memory_access *access = c->address;
    uint64_t va = data_va(c);
    struct spe_address a = {.address = va & (UINT64_MAX >> 8)};

    if (access->tbi || access->mte_untagged_addresses || c->config->tbi0_tag == SPE_TBI0_VA_63_56)
        a.tag = (uint8_t)(va >> 56);
    put_address(c, SPE_ADDRESS_VA, spe_address_encode(SPE_ADDRESS_VA, &a));
}

static uint64_t data_pa(const struct collector *c)
{
    const struct spe_memory_access *a = c->address;
    bool base = c->config->tag_access_va == SPE_TAG_VA_GRANULE_BASE ||
                c->config->tag_access_pa == SPE_TAG_PA_FROM_GRANULE_BASE;

    return is_tag_access(c) && base ? a->granule_pa : a->pa;
}

static bool is_checked(const struct collector *c, const struct spe_memory_access *a)
{
    if (!has(c, SPE_FEAT_MTE2) || !a->tag_checked)
        return false;
    if (a->canonical_tag && has(c, SPE_FEAT_MTE_CANONICAL_TAGS))
        return false;
    return !a->tcf_ignored || c->config->ch_when_tcf_ignored;
}

static void put_pa(struct collector *c)
{
    const struct spe_memory_access *access = c->address;
    struct spe_address a = {.address = data_pa(c) & (UINT64_MAX >> 8)};

    a.ns = access->pas & 1;
    a.nse = has(c, SPE_FEAT_RME) ? access->pas >> 1 : 0;
    a.ch = is_checked(c, access);
    if (a.ch || (has(c, SPE_FEAT_MTE2) && c->config->pat_unchecked == SPE_PAT_TAG))
        a.pat = access->pat;
    put_address(c, SPE_ADDRESS_PA, spe_address_encode(SPE_ADDRESS_PA, &a));
}

/* ---- Branches (D17.6.3) --------------------------------------------------------------------- */

static bool taken(const struct collector *c)
{
    return c->op->taken || c->op->kind == SPE_OPERATION_ISB || c->op->kind == SPE_OPERATION_ERET;
}

static void put_target(struct collector *c)
{
    const struct spe_operation *op = c->op;
    uint64_t target = op->kind == SPE_OPERATION_ISB ? op->pc + 4 : op->target;

    if (!taken(c)) { /* software may not make anything of it */
        if (c->config->not_taken_target == SPE_NOT_TAKEN_EMIT_UNKNOWN)
            put_instruction_address(c, SPE_ADDRESS_TARGET, target, c->flight->el,
                                    c->flight->security);
        return;
    }
    if (op->kind == SPE_OPERATION_ISB)
        put_instruction_address(c, SPE_ADDRESS_TARGET, target, c->flight->el, c->flight->security);
    else if (op->illegal_return && c->config->illegal_eret_context == SPE_ERET_SPSR)
        put_instruction_address(c, SPE_ADDRESS_TARGET, target, op->spsr_el, op->spsr_security);
    else
        put_instruction_address(c, SPE_ADDRESS_TARGET, target, op->target_el, op->target_security);
}

/* D17.6.3.1; `last` is what was known when the operation was selected. */
static bool records_previous_target(const struct collector *c)
{
    const struct spu_last_branch *last = &c->flight->last;
    bool branched = c->kind == SPE_OPERATION_BRANCH && taken(c) && c->executed;

    if (!has(c, SPE_FEAT_SPE_PBT) || !last->valid || c->speculative)
        return false;
    return (branched || c->config->pbt_non_branch) &&
           (!last->branch.context_sync || c->config->pbt_after_cse) &&
           (last->since_cse || c->config->pbt_none_since_cse);
}

/* ---- All ------------------------------------------------------------------------------------ */

void spu_put_addresses(struct collector *c)
{
    const struct spe_taken_branch *previous = &c->flight->last.branch;

    if (c->info == SPE_INFO_NONE)
        return;
    put_instruction_address(c, SPE_ADDRESS_PC, c->op->pc, c->flight->el, c->flight->security);
    if (c->info != SPE_INFO_ALL)
        return;
    if (c->kind == SPE_OPERATION_BRANCH && !c->speculative)
        put_target(c);
    if (c->va)
        put_va(c);
    if (c->pa)
        put_pa(c);
    if (records_previous_target(c))
        put_instruction_address(c, SPE_ADDRESS_PREVIOUS_TARGET, previous->target, previous->el,
                                previous->security);
    for (uint32_t i = 0; i < c->op->extra_count; i++) {
        const struct spe_extra *e = &c->op->extras[i];

        if (e->type == SPE_PACKET_ADDRESS && (c->config->impdef_addresses >> e->index & 1) &&
            !c->speculative)
            put_address(c, e->index, e->value);
    }
}
