/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "pe/code.h"

#include <stdlib.h>
#include <string.h>

#define L1_CYCLES 4
#define HOST_LINE 64 /* bytes */

/* As the Operation Type packet tells it (D18.2.7). */
static uint16_t kind_of(const struct spe_a64 *insn)
{
    switch (insn->operation.kind) {
    case SPE_OPERATION_LOAD:
        return PE_IS_LOAD;
    case SPE_OPERATION_STORE:
    case SPE_OPERATION_DC_ZVA:
    case SPE_OPERATION_MEMSET:
        return PE_IS_STORE;
    case SPE_OPERATION_ATOMIC:
        return insn->operation.returns_value ? PE_IS_LOAD : PE_IS_STORE;
    case SPE_OPERATION_BRANCH:
        return PE_IS_BRANCH;
    default:
        return 0;
    }
}

/* An exclusive store takes the line as an atomic does. */
static uint16_t how_of(const struct spe_a64 *insn)
{
    if (insn->operation.kind == SPE_OPERATION_ATOMIC ||
        (insn->operation.exclusive && insn->operation.kind == SPE_OPERATION_STORE))
        return SPE_ACCESS_ATOMIC;
    return insn->operation.kind == SPE_OPERATION_STORE ? SPE_ACCESS_STORE : 0;
}

static bool is_pair(const struct spe_a64 *insn)
{
    return (insn->word & 0x3a000000) == 0x28000000;
}

/* Loads and stores of one general or scalar register: one access, whose size the word tells. */
static uint8_t bytes_of(const struct spe_a64 *insn)
{
    const struct spe_operation *op = &insn->operation;
    bool one = (op->kind == SPE_OPERATION_LOAD || op->kind == SPE_OPERATION_STORE) &&
               !op->exclusive && insn->bytes <= 8 &&
               (op->registers == SPE_REGISTERS_GENERAL || op->registers == SPE_REGISTERS_FP);

    return one && !is_pair(insn) ? (uint8_t)insn->bytes : 0;
}

/* Emulators make one access or several of a pair, but all of the same size. */
static bool is_plain_pair(const struct spe_a64 *insn)
{
    const struct spe_operation *op = &insn->operation;

    return is_pair(insn) && (op->kind == SPE_OPERATION_LOAD || op->kind == SPE_OPERATION_STORE) &&
           !op->exclusive &&
           (op->registers == SPE_REGISTERS_GENERAL || op->registers == SPE_REGISTERS_FP);
}

/* Multiplications, divisions and what floating point is made of take longer than one cycle. */
static uint8_t latency_of(const struct spe_a64 *insn)
{
    uint32_t word = insn->word;

    if (insn->load)
        return L1_CYCLES;
    if ((word & 0x1f000000) == 0x1b000000)
        return 3; /* MADD ... */
    if ((word & 0x5fe0f800) == 0x1ac00800)
        return 12; /* UDIV, SDIV */
    return insn->operation.floating_point ? 3 : insn->operation.advanced_simd ? 2 : 1;
}

/* A and R are elsewhere in CAS and CASP than in the others. An exclusive load stands for both
 * halves of the atomic. */
static bool acquires(const struct spe_a64 *insn)
{
    bool cas = !(insn->word & UINT32_C(1) << 28);
    uint32_t a = UINT32_C(1) << (cas ? 22 : 23), r = UINT32_C(1) << (cas ? 15 : 22);

    if (!insn->operation.acquire_release)
        return false;
    if (insn->operation.kind == SPE_OPERATION_ATOMIC)
        return insn->word & a && !(insn->word & r);
    return insn->operation.exclusive && insn->load;
}

static void note_site(struct pe_block *block, struct pe_site *site)
{
    struct spe_a64 insn;

    spe_a64_classify(site->word, 0, &insn);
    spe_a64_uses(&insn, &site->reads, &site->writes);
    site->is = kind_of(&insn);
    site->how = how_of(&insn);
    site->bytes = bytes_of(&insn);
    site->paired = is_plain_pair(&insn);
    site->forwards = (site->bytes || site->paired) && !insn.operation.acquire_release;
    site->latency = latency_of(&insn);
    site->registers = insn.address != SPE_A64_NO_ADDRESS || insn.operation.cond_op;
    block->registers |= site->reads | site->writes;
    block->stores += insn.store;
    block->acquires |= acquires(&insn);
}

/* ---- Addresses that are known when the block begins ----------------------------------------- */

#define SP_BIT (UINT64_C(1) << 31) /* SP, and 31 as a register of an address */

/* Would it write the register, if that were another one in this field? What it writes is SP then,
 * or nothing: sets of registers do not have SP. */
static bool writes_31(uint32_t word, unsigned field)
{
    uint64_t reads, writes;
    struct spe_a64 insn;

    if ((word >> field & 31) != 31)
        return false;
    for (unsigned n = 0; n < 2; n++) { /* it may write one of these anyway */
        spe_a64_classify((word & ~(UINT32_C(31) << field)) | n << field, 0, &insn);
        spe_a64_uses(&insn, &reads, &writes);
        if (!(writes >> n & 1))
            return false;
    }
    return true;
}

/* Where flags are set, 31 is XZR. */
static uint64_t changed_by(const struct pe_site *site)
{
    bool flags = site->writes & SPE_A64_USES_FLAGS;
    bool sp = writes_31(site->word, 5) || (!flags && writes_31(site->word, 0));

    return (site->writes & ~SPE_A64_USES_FLAGS) | (sp ? SP_BIT : 0);
}

/* Of the simple ways to make one; false: it is not. */
static bool address_registers(const struct spe_a64 *insn, uint64_t *registers)
{
    *registers = 0;
    if (insn->authenticated)
        return false;
    switch (insn->address) {
    case SPE_A64_LITERAL:
        return true;
    case SPE_A64_BASE_REGISTER:
        *registers = UINT64_C(1) << insn->base;
        if (insn->index != 31) /* XZR */
            *registers |= UINT64_C(1) << insn->index;
        return true;
    case SPE_A64_BASE:
    case SPE_A64_BASE_OFFSET:
        *registers = UINT64_C(1) << insn->base;
        return true;
    default:
        return false;
    }
}

static void note_early(struct pe_block *b)
{
    uint64_t changed = 0, registers;
    bool accessed = false;
    struct spe_a64 insn;

    for (uint32_t i = 0; i < b->count; i++) {
        struct pe_site *site = &b->sites[i];

        spe_a64_classify(site->word, 0, &insn);
        site->early = address_registers(&insn, &registers) && !(registers & changed) &&
                      (!accessed || pe_block_tells(b));
        accessed |= insn.address != SPE_A64_NO_ADDRESS;
        changed |= changed_by(site);
    }
}

/* BLR X30 overwrites it. */
static uint8_t target_in(const struct spe_a64 *insn)
{
    bool lost = insn->operation.link && insn->target_register == 30;

    return insn->direct || insn->authenticated || lost ? PE_NOWHERE : insn->target_register;
}

static void note_branch(struct pe_block *b)
{
    struct spe_a64 insn;

    spe_a64_classify(pe_block_last(b)->word, 0, &insn);
    if (!insn.branch)
        return;
    b->branch = true;
    b->direct = insn.direct;
    b->target_in = target_in(&insn);
    b->target = b->end - 4 + (uint64_t)insn.displacement;
    b->kind = (uint8_t)((insn.operation.conditional ? SPE_BRANCH_CONDITIONAL : 0) |
                        (insn.operation.indirect ? SPE_BRANCH_INDIRECT : 0) |
                        (insn.operation.link ? SPE_BRANCH_LINK : 0) |
                        (insn.operation.procedure_return ? SPE_BRANCH_RETURN : 0));
    b->plain = b->direct && b->kind == SPE_BRANCH_CONDITIONAL;
}

/* Which instructions an event can name by a short number. All events of a block together are not
 * more than there are such numbers. */
static bool note_plain_sites(struct pe_block *b)
{
    enum { PAIR_EVENTS = 4 }; /* two registers of 16 bytes, in accesses of 8 */
    unsigned count = 0, events = 0;

    b->plain_sites = b->count <= PE_FIRST ? b->first : calloc(b->count, sizeof(*b->plain_sites));
    if (!b->plain_sites)
        return false;
    for (uint32_t i = 0; i < b->count; i++) {
        struct pe_site *site = &b->sites[i];

        if (!site->bytes && !site->paired)
            continue;
        events += site->paired ? PAIR_EVENTS : 1;
        if (events > PE_ORDINALS) {
            site->bytes = 0;
            site->paired = false;
            continue;
        }
        site->ordinal = (uint8_t)count;
        b->plain_sites[count++] =
            (struct pe_plain){(uint16_t)i, site->bytes, site->how & SPE_ACCESS_STORE};
    }
    return true;
}

/* Registers through one round: when each has its value. */
static void one_round(const struct pe_block *b, uint32_t ready[64])
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct pe_site *site = &b->sites[i];
        uint32_t when = 0;

        for (uint64_t r = site->reads; r; r &= r - 1)
            when = ready[__builtin_ctzll(r)] > when ? ready[__builtin_ctzll(r)] : when;
        for (uint64_t r = site->writes; r; r &= r - 1)
            ready[__builtin_ctzll(r)] = when + site->latency;
    }
}

static uint32_t latest(const uint32_t ready[64])
{
    uint32_t when = 0;

    for (unsigned i = 0; i < 64; i++)
        when = ready[i] > when ? ready[i] : when;
    return when;
}

/* What a round that follows many others takes, if only data holds it up. */
static void note_recurrence(struct pe_block *b)
{
    uint32_t ready[64] = {0}, before;

    if (!b->branch || !b->direct || b->target != b->pc)
        return;
    for (unsigned i = 0; i < 4; i++)
        one_round(b, ready);
    before = latest(ready);
    for (unsigned i = 0; i < PE_RECURRENCE; i++)
        one_round(b, ready);
    b->recurrence = (uint16_t)(latest(ready) - before);
}

struct pe_block *pe_block_create(uint64_t pc, const uint32_t *words, size_t count)
{
    size_t bytes = sizeof(struct pe_block) + count * sizeof(struct pe_site);
    struct pe_block *b;

    bytes = (bytes + HOST_LINE - 1) / HOST_LINE * HOST_LINE;
    b = aligned_alloc(HOST_LINE, bytes);
    if (!b)
        return NULL;
    memset(b, 0, bytes);
    b->pc = pc;
    b->end = pc + 4 * count;
    b->goes_on[false] = b->goes_on[true] = PE_NO_PC;
    b->count = (uint32_t)count;
    b->last_word = (uint32_t)((b->end - 4) >> 2);
    for (size_t i = 0; i < count; i++) {
        b->sites[i].block = b;
        b->sites[i].pc = pc + 4 * i;
        b->sites[i].word = words[i];
        note_site(b, &b->sites[i]);
    }
    if (!note_plain_sites(b)) {
        free(b);
        return NULL;
    }
    note_branch(b);
    note_early(b);
    note_recurrence(b);
    return b;
}

void pe_site_note_bytes(struct pe_site *site, uint32_t bytes)
{
    __atomic_store_n(&site->bytes, (uint8_t)bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&site->block->plain_sites[site->ordinal].bytes, (uint8_t)bytes,
                     __ATOMIC_RELAXED);
}

void pe_block_destroy(struct pe_block *block)
{
    if (block && block->plain_sites != block->first)
        free(block->plain_sites);
    free(block);
}
