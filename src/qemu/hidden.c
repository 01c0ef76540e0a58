/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/hidden.h"

#include "qemu/api.h"
#include "qemu/registers.h"

#define PAGE_BYTES UINT64_C(4096) /* of QEMU's user mode */

/* LD1RB and its like: one element, which QEMU loads as any other. */
static bool replicates_one(const struct spe_a64 *insn)
{
    return (insn->word & 0xfe408000) == 0x84408000;
}

static bool is_hidden_data(const struct spe_a64 *insn)
{
    switch (insn->operation.registers) {
    case SPE_REGISTERS_SVE:
    case SPE_REGISTERS_SME: /* not LDR and STR of whole registers */
        return insn->operation.predicated && !replicates_one(insn);
    case SPE_REGISTERS_TAG:
    case SPE_REGISTERS_TAG_DATA:
        return true;
    default:
        return false;
    }
}

bool hidden_is(const struct spe_a64 *insn)
{
    switch (insn->operation.kind) {
    case SPE_OPERATION_LOAD:
    case SPE_OPERATION_STORE:
        return is_hidden_data(insn);
    case SPE_OPERATION_DC_ZVA:
    case SPE_OPERATION_CMO:
    case SPE_OPERATION_PREFETCH:
    case SPE_OPERATION_SVE_PREFETCH:
    case SPE_OPERATION_MEMCPY:
    case SPE_OPERATION_MEMSET:
        return true;
    default:
        return false;
    }
}

/* PRFM: bits 4:3 are 0b10 for a store. SVE's have four bits, of which bit 3 is that. */
static unsigned how_to_prefetch(const struct spe_a64 *insn)
{
    unsigned for_store = insn->operation.kind == SPE_OPERATION_PREFETCH ? 1u << 4 : 1u << 3;

    return insn->word & for_store ? SPE_ACCESS_PREFETCH_FOR_STORE : SPE_ACCESS_PREFETCH;
}

/* By CRm: DC CIVAC and its like clean and invalidate, the others of EL0 clean. */
static unsigned how_to_maintain(const struct spe_a64 *insn)
{
    bool invalidates = (insn->word >> 8 & 14) == 14;

    return SPE_ACCESS_CLEAN | (invalidates ? SPE_ACCESS_INVALIDATE : 0);
}

static unsigned how_of(const struct spe_a64 *insn)
{
    switch (insn->operation.kind) {
    case SPE_OPERATION_PREFETCH:
    case SPE_OPERATION_SVE_PREFETCH:
        return how_to_prefetch(insn);
    case SPE_OPERATION_CMO:
        return how_to_maintain(insn);
    default:
        return 0; /* each access tells */
    }
}

/* Prefetches of instructions and IC IVAU: nothing that a model of data has. */
static bool is_of_code(const struct spe_a64 *insn)
{
    if (insn->operation.kind == SPE_OPERATION_PREFETCH)
        return (insn->word >> 3 & 3) == 1;
    return insn->operation.kind == SPE_OPERATION_CMO && (insn->word >> 8 & 15) == 5;
}

/* ---- First-fault and non-fault loads -------------------------------------------------------- */

/* LDFF1, LDNF1: they make no access that would fault. (With a vector of addresses bit 13 tells;
 * that of LDNT1 is another, but there such an access ends the program.) */
static bool may_stop(const struct spe_a64 *insn)
{
    return (insn->word & 0xfe00e000) == 0xa4006000 || (insn->word & 0xfe10e000) == 0xa410a000 ||
           (insn->word & 0xbe002000) == 0x84002000;
}

static bool can_be_read(uint64_t va)
{
    uint8_t byte;

    return plugin_level() < 4 || plugin_read_va(va, &byte, 1);
}

/* An access ends at the first page that cannot be read; one that begins there is not made. */
static void stop_at_fault(struct spe_memory_access *a)
{
    uint64_t at = a->va, end = a->va + a->bytes;

    while (at < end && can_be_read(at))
        at = (at | (PAGE_BYTES - 1)) + 1;
    if (at == a->va)
        a->unperformed = a->untranslated = true;
    else if (at < end)
        a->bytes = (uint32_t)(at - a->va);
}

bool hidden_evaluate(const struct pe_site *site, uint32_t vector_bits, struct hidden *hidden)
{
    struct spe_a64 insn;

    spe_a64_classify(site->word, vector_bits, &insn);
    hidden->how = how_of(&insn);
    if (is_of_code(&insn) ||
        !(spe_a64_evaluate(&insn, pe_site_pc(site), &registers_now, &hidden->op, hidden->accesses) &
          SPE_A64_KNOWS_ADDRESS))
        return false;
    for (uint32_t i = 0; may_stop(&insn) && i < hidden->op.access_count; i++)
        stop_at_fault(&hidden->accesses[i]);
    return true;
}
