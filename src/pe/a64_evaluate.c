/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What registers decide of an instruction: branches, conditions, addresses, predicates. */
#include <string.h>

#include "base/sized.h"
#include "pe/a64.h"

#define VECTOR_BYTES_MAX 256
#define PREDICATE_BYTES_MAX (VECTOR_BYTES_MAX / 8)
#define BLOCK_BYTES 64 /* of DC ZVA and tag blocks, unless told */

/* One evaluation. */
struct evaluation {
    const struct spe_a64 *insn;
    const struct spe_a64_registers *registers;
    uint64_t pc;
    struct spe_operation *op;
    struct spe_memory_access *accesses;
    unsigned known;

    /* Governing predicate of up to four vectors, as far as read_predicate was there. */
    uint8_t active[4 * PREDICATE_BYTES_MAX];
};

/* Xn or SP */
static uint64_t x_or_sp(const struct evaluation *e, unsigned n)
{
    return e->registers->x(e->registers->user, n);
}

/* Xn or XZR */
static uint64_t x(const struct evaluation *e, unsigned n)
{
    return n == 31 ? 0 : x_or_sp(e, n);
}

/* ---- Conditions ----------------------------------------------------------------------------- */

/* ConditionHolds(): the low bit inverts, but for 0b111x. */
static bool condition_holds(unsigned condition, unsigned nzcv)
{
    bool n = nzcv & 8, z = nzcv & 4, c = nzcv & 2, v = nzcv & 1;
    bool holds[8] = {z, c, n, v, c && !z, n == v, n == v && !z, true};

    return holds[condition >> 1 & 7] != ((condition & 1) && condition < 14);
}

static uint64_t low(uint64_t value, unsigned width)
{
    return value & (UINT64_MAX >> (64 - width));
}

static int64_t as_signed(uint64_t value, unsigned width)
{
    uint64_t sign = UINT64_C(1) << (width - 1);

    return (int64_t)((low(value, width) ^ sign) - sign);
}

/* CB<cc>: the comparisons are those of two registers, or of one with 0 to 63 */
static bool compares(const struct evaluation *e)
{
    uint32_t word = e->insn->word;
    bool immediate = bit(word, 24), small = !immediate && bit(word, 15);
    unsigned width = small ? (bit(word, 14) ? 16 : 8) : bit(word, 31) ? 64 : 32;
    uint64_t left = x(e, bits(word, 4, 0));
    uint64_t right = immediate ? bits(word, 20, 15) : x(e, bits(word, 20, 16));
    uint64_t a = low(left, width), b = low(right, width);
    int64_t sa = as_signed(left, width), sb = as_signed(right, width);

    switch (bits(word, 23, 21)) {
    case 0:
        return sa > sb;
    case 1:
        return immediate ? sa < sb : sa >= sb;
    case 2:
        return a > b;
    case 3:
        return immediate ? a < b : a >= b;
    case 6:
        return a == b;
    default:
        return a != b;
    }
}

/* CBZ, CBNZ, TBZ, TBNZ, CB<cc>: on general-purpose registers */
static bool register_condition_holds(const struct evaluation *e)
{
    uint32_t word = e->insn->word;
    uint64_t rt = x(e, bits(word, 4, 0));
    bool negate = bit(word, 24);

    if (bits(word, 30, 29) == 3)
        return compares(e);
    if (bit(word, 25)) /* the number of the bit is b5:b40 */
        return (rt >> (bit(word, 31) * 32 + bits(word, 23, 19)) & 1) == negate;
    return (low(rt, bit(word, 31) ? 64 : 32) == 0) != negate;
}

static bool know_condition(struct evaluation *e, bool *holds)
{
    const struct spe_a64_registers *r = e->registers;

    if (e->insn->has_condition) {
        if (!r->nzcv)
            return false;
        *holds = condition_holds(e->insn->condition, r->nzcv(r->user));
    } else {
        if (!r->x)
            return false;
        *holds = register_condition_holds(e);
    }
    e->op->condition_failed = !*holds;
    e->known |= SPE_A64_KNOWS_CONDITION;
    return true;
}

/* The signature of an authenticated pointer is not part of the address, but which bits it has is a
 * matter of registers that are not ours. Nor is ELR_ELx. */
static bool target_is_known(const struct evaluation *e)
{
    return e->registers->x && !e->insn->authenticated &&
           e->insn->operation.kind != SPE_OPERATION_ERET;
}

static void evaluate_branch(struct evaluation *e)
{
    const struct spe_a64 *insn = e->insn;
    bool holds = true;

    if (insn->direct)
        e->op->target = e->pc + (uint64_t)insn->displacement;
    if (insn->operation.conditional && !know_condition(e, &holds))
        return;
    e->op->taken = holds;
    if (!insn->direct) {
        if (!target_is_known(e))
            return;
        e->op->target = x(e, insn->target_register);
    }
    e->known |= SPE_A64_KNOWS_BRANCH;
}

/* ---- Predicates ----------------------------------------------------------------------------- */

static bool is_active(const struct evaluation *e, uint32_t byte)
{
    return e->active[byte / 8] >> (byte % 8) & 1;
}

static void set_active(struct evaluation *e, uint32_t byte)
{
    e->active[byte / 8] = (uint8_t)(e->active[byte / 8] | 1u << (byte % 8));
}

/* CounterToPredicate(): the lowest set bit is the element's size, above it is how many are TRUE, or
 * from which on if bit 15 is set. */
static void expand_counter(struct evaluation *e, unsigned counter, uint32_t bytes)
{
    unsigned size = 0;

    if ((counter & 0xf) == 0)
        return;
    while (!(counter >> size & 1))
        size++;
    uint32_t count = (counter & 0x7fff) >> (size + 1);

    for (uint32_t n = 0; n << size < bytes; n++)
        if ((n < count) != (counter >> 15 & 1))
            set_active(e, n << size);
}

/* Fills in e->active for `bytes` of vectors. */
static bool read_predicate(struct evaluation *e, uint32_t bytes)
{
    const struct spe_a64_registers *r = e->registers;
    uint8_t raw[PREDICATE_BYTES_MAX] = {0};

    if (!r->p || !r->p(r->user, e->insn->predicate, raw, e->op->vl_bits / 64))
        return false;
    memset(e->active, 0, sizeof(e->active));
    if (e->op->predicate_as_counter)
        expand_counter(e, raw[0] | (unsigned)raw[1] << 8, bytes);
    else
        memcpy(e->active, raw, sizeof(raw));
    return true;
}

/* Bytes of the vectors that a Governing predicate covers; a structure has one predicate for all of
 * its vectors. */
static uint32_t governed_bytes(const struct evaluation *e)
{
    uint32_t vectors = e->op->predicate_as_counter && e->op->vectors ? e->op->vectors : 1;

    return vectors * e->op->vl_bits / 8;
}

static void evaluate_predicate(struct evaluation *e)
{
    uint32_t bytes = governed_bytes(e), lane = e->insn->lane_bytes, all = 0, on = 0;

    if (lane == 0 || !read_predicate(e, bytes))
        return;
    for (uint32_t at = 0; at < bytes; at += lane) {
        all++;
        on += is_active(e, at);
    }
    e->op->partial_predicate = on < all;
    e->op->empty_predicate = on == 0;
    e->known |= SPE_A64_KNOWS_PREDICATE;
}

/* ---- Addresses ------------------------------------------------------------------------------ */

static struct spe_memory_access *add_access(struct evaluation *e, uint64_t va, uint64_t bytes)
{
    struct spe_memory_access *a = &e->accesses[e->op->access_count++];

    *a = (struct spe_memory_access){.va = va, .store = e->insn->store && !e->insn->load};
    a->bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
    e->op->accesses = e->accesses;
    return a;
}

/* ExtendReg(): option<1:0> is the size, option<2> the sign */
static uint64_t extend(uint64_t value, unsigned option, unsigned shift)
{
    if ((option & 3) == 2)
        value = option & 4 ? (uint64_t)as_signed(value, 32) : low(value, 32);
    return value << shift;
}

static uint64_t scalar_address(const struct evaluation *e)
{
    const struct spe_a64 *insn = e->insn;

    switch (insn->address) {
    case SPE_A64_LITERAL:
        return e->pc + (uint64_t)insn->offset;
    case SPE_A64_REGISTER:
        return x(e, insn->base);
    case SPE_A64_BASE_OFFSET:
        return x_or_sp(e, insn->base) + (uint64_t)insn->offset;
    case SPE_A64_BASE_VL:
        return x_or_sp(e, insn->base) +
               (uint64_t)(insn->offset * insn->scale * (e->op->vl_bits / 128));
    case SPE_A64_BASE_REGISTER:
        return x_or_sp(e, insn->base) + extend(x(e, insn->index), insn->extend, insn->shift);
    default:
        return x_or_sp(e, insn->base);
    }
}

static uint32_t scalar_bytes(const struct evaluation *e)
{
    const struct spe_a64 *insn = e->insn;
    const struct spe_a64_registers *r = e->registers;
    uint32_t told = insn->operation.kind == SPE_OPERATION_DC_ZVA ? r->zva_bytes : r->tag_bytes;

    if (insn->bytes)
        return insn->bytes;
    return told ? told : BLOCK_BYTES;
}

/* Inactive elements in front of the first active one, or all of them, are an access of their own.
 */
static void contiguous_access(struct evaluation *e, uint64_t va, uint32_t bytes)
{
    uint32_t governed = governed_bytes(e), lane = e->insn->lane_bytes, inactive = 0;

    if (governed && e->known & SPE_A64_KNOWS_PREDICATE) {
        while (inactive < governed && !is_active(e, inactive))
            inactive += lane;
        inactive = (uint32_t)((uint64_t)bytes * inactive / governed);
    }
    if (inactive)
        add_access(e, va, inactive)->inactive = true;
    if (inactive < bytes)
        add_access(e, va + inactive, bytes - inactive);
}

static void evaluate_scalar(struct evaluation *e)
{
    uint32_t bytes = scalar_bytes(e);
    uint64_t va;

    if (e->insn->address != SPE_A64_LITERAL && (!e->registers->x || e->insn->authenticated))
        return;
    va = scalar_address(e);
    if (e->insn->rounds_down)
        va -= va % bytes;
    contiguous_access(e, va, bytes);
    e->known |= SPE_A64_KNOWS_ADDRESS;
}

static uint64_t lane_value(const uint8_t *vector, uint32_t at, uint32_t bytes)
{
    uint64_t value = 0;

    memcpy(&value, vector + at, bytes < 8 ? bytes : 8);
    return value;
}

/* Gather and scatter. Elements are all told if the predicate is not known. */
static void evaluate_vector(struct evaluation *e)
{
    const struct spe_a64 *insn = e->insn;
    const struct spe_a64_registers *r = e->registers;
    uint32_t bytes = e->op->vl_bits / 8, lane = insn->lane_bytes;
    uint8_t z[VECTOR_BYTES_MAX];
    uint64_t base = (uint64_t)insn->offset;

    if (!r->z || !r->z(r->user, insn->index, z, bytes))
        return;
    if (insn->base != SPE_A64_NO_REGISTER) {
        if (!r->x)
            return;
        base += x_or_sp(e, insn->base);
    }
    for (uint32_t at = 0; at < bytes; at += lane) {
        uint64_t index = extend(lane_value(z, at, lane), insn->extend, insn->shift);
        struct spe_memory_access *a = add_access(e, base + index, insn->element_bytes);

        a->inactive = e->known & SPE_A64_KNOWS_PREDICATE && !is_active(e, at);
    }
    e->known |= SPE_A64_KNOWS_ADDRESS;
}

/*
 * Memory Copy and Set (C6.1). Before the prologue Xn is the size and Xd, Xs are the lowest
 * addresses. After it, NZCV.C tells the algorithm. Option A (C is 0): what is left is at Xd + Xn if
 * Xn is negative, its size -Xn; else at Xd. Option B: at Xd, or below Xd if N is 1.
 */
static void evaluate_block(struct evaluation *e)
{
    const struct spe_a64 *insn = e->insn;
    const struct spe_a64_registers *r = e->registers;
    bool copy = insn->address == SPE_A64_MEMORY_COPY;
    bool prologue = bits(insn->word, copy ? 23 : 15, copy ? 22 : 14) == 0;
    uint64_t size, move = 0;

    if (!r->x || (!prologue && !r->nzcv))
        return;
    size = x(e, bits(insn->word, 9, 5));
    if (!prologue) {
        unsigned nzcv = r->nzcv(r->user);
        bool option_b = nzcv & 2;

        if (!option_b && (int64_t)size < 0) {
            move = size;
            size = 0 - size;
        } else if (option_b && nzcv & 8) {
            move = 0 - size;
        }
    }
    if (size && copy)
        add_access(e, x(e, insn->index) + move, size);
    if (size)
        add_access(e, x(e, insn->base) + move, size)->store = true;
    e->known |= SPE_A64_KNOWS_ADDRESS;
}

static void evaluate_address(struct evaluation *e)
{
    switch (e->insn->address) {
    case SPE_A64_NO_ADDRESS:
        break;
    case SPE_A64_VECTOR_ADDRESSES:
        evaluate_vector(e);
        break;
    case SPE_A64_MEMORY_COPY:
    case SPE_A64_MEMORY_SET:
        evaluate_block(e);
        break;
    default:
        evaluate_scalar(e);
    }
}

static unsigned evaluate(const struct spe_a64 *insn, uint64_t pc,
                         const struct spe_a64_registers *registers, struct spe_operation *op,
                         struct spe_memory_access *accesses)
{
    struct evaluation e;
    bool holds;

    e.insn = insn;
    e.registers = registers;
    e.pc = pc;
    e.op = op;
    e.accesses = accesses;
    e.known = 0;
    *op = insn->operation;
    op->pc = pc;
    if (insn->branch)
        evaluate_branch(&e);
    else if (insn->has_condition)
        know_condition(&e, &holds);
    evaluate_predicate(&e);
    evaluate_address(&e);
    return e.known;
}

/* The registers, the instruction and the operation may be of another release. */
static unsigned evaluate_sized(const struct spe_a64 *insn, size_t insn_size, uint64_t pc,
                               const struct spe_a64_registers *registers, struct spe_operation *op,
                               size_t op_size, struct spe_memory_access *accesses)
{
    struct spe_a64_registers own_registers = {0};
    struct spe_a64 own_insn = {0};
    struct spe_operation own_op;
    unsigned known;

    /* What this library does not know of the registers it does not ask for. */
    sized_give(&own_registers, sizeof(own_registers), registers, registers->size);
    sized_give(&own_insn, sizeof(own_insn), insn, insn_size);
    known = evaluate(&own_insn, pc, &own_registers, &own_op, accesses);
    sized_give(op, op_size, &own_op, sizeof(own_op));
    op->size = op_size;
    return known;
}

unsigned spe_a64_evaluate_sized(const struct spe_a64 *insn, size_t insn_size, uint64_t pc,
                                const struct spe_a64_registers *registers, struct spe_operation *op,
                                size_t op_size, struct spe_memory_access *accesses)
{
    if (registers->size == sizeof(*registers) && insn_size == sizeof(*insn) &&
        op_size == sizeof(*op))
        return evaluate(insn, pc, registers, op, accesses);
    return evaluate_sized(insn, insn_size, pc, registers, op, op_size, accesses);
}
