/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Reads words (little-endian, four bytes each) from standard input and prints a line for each: what
 * the classifier says of it, as words that test_a64_disassemblers.py compares. With --uses: the
 * registers it reads and writes, as two numbers that test_a64_uses_llvm.py compares.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "specimen/pe.h"

static const char *const kinds[SPE_OPERATION_KIND_COUNT] = {
    "other",    "sve",          "sme-vector", "sme-tile", "load", "store", "atomic",
    "copy",     "set",          "gcs",        "branch",   "eret", "isb",   "cmo",
    "prefetch", "sve-prefetch", "at",         "zva",      "wfx",
};

static const char *const registers[SPE_REGISTERS_COUNT] = {
    "general", "fp", "simd", "sve", "sme", "tag", "tag-data", "nv2", "unspecified",
};

static const char *const conditional[] = {
    "", "csel", "fcsel", "csinc", "csneg", "csinv", "ccmp", "fccmp", "ccmn",
};

static void flag(bool is, const char *name)
{
    if (is)
        printf(" %s", name);
}

/* The address, as the disassemblers' texts can be turned into: base, index:extend<<shift, offset.
 * An offset in vector lengths has a unit, unless it is 0. */
static void print_address(const struct spe_a64 *insn)
{
    const char *unit = insn->address == SPE_A64_BASE_VL && insn->offset ? "vl" : "";

    switch (insn->address) {
    case SPE_A64_BASE:
    case SPE_A64_BASE_OFFSET:
    case SPE_A64_BASE_VL:
        printf(" at=x%u%+" PRId64 "%s", insn->base, insn->offset, unit);
        break;
    case SPE_A64_BASE_REGISTER:
        printf(" at=x%u+x%u:%u<<%u", insn->base, insn->index, insn->extend, insn->shift);
        break;
    case SPE_A64_LITERAL:
        printf(" at=pc%+" PRId64, insn->offset);
        break;
    case SPE_A64_VECTOR_ADDRESSES:
        fputs(" at=", stdout);
        if (insn->base != SPE_A64_NO_REGISTER)
            printf("x%u+", insn->base);
        printf("z%u:%u<<%u%+" PRId64, insn->index, insn->extend, insn->shift, insn->offset);
        break;
    default:
        break;
    }
}

static void print(const struct spe_a64 *insn)
{
    const struct spe_operation *op = &insn->operation;

    if (!insn->allocated) {
        puts("unallocated");
        return;
    }
    fputs(kinds[op->kind], stdout);
    if (op->kind == SPE_OPERATION_LOAD || op->kind == SPE_OPERATION_STORE ||
        op->kind == SPE_OPERATION_ATOMIC)
        printf(" %s", registers[op->registers]);
    flag(op->cond_op, conditional[op->cond_op]);
    flag(insn->load, "reads");
    flag(insn->store, "writes");
    flag(op->returns_value, "returns");
    flag(op->acquire_release, "ar");
    flag(op->exclusive, "exclusive");
    flag(op->st64bv, "st64bv");
    flag(op->conditional, "conditional");
    flag(op->indirect, "indirect");
    flag(op->link, "link");
    flag(op->procedure_return, "return");
    flag(op->floating_point, "float");
    flag(op->advanced_simd, "asimd");
    flag(op->predicated, "predicated");
    flag(op->predicate_operand, "predicate");
    flag(op->predicate_only, "only-predicates");
    flag(op->predicate_as_counter, "counter");
    flag(op->gather_scatter, "gather");
    flag(op->uses_zt, "zt");
    if (op->vectors)
        printf(" vectors=%" PRIu32, op->vectors);
    if (insn->bytes)
        printf(" bytes=%" PRIu32, insn->bytes);
    if (insn->direct)
        printf(" displacement=%" PRId64, insn->displacement);
    print_address(insn);
    putchar('\n');
}

static void print_uses(const struct spe_a64 *insn)
{
    uint64_t reads, writes;

    spe_a64_uses(insn, &reads, &writes);
    printf("%d %016" PRIx64 " %016" PRIx64 "\n", insn->allocated, reads, writes);
}

int main(int argc, char **argv)
{
    bool uses = argc > 1 && strcmp(argv[1], "--uses") == 0;
    uint32_t word;
    struct spe_a64 insn;

    while (fread(&word, sizeof(word), 1, stdin) == 1) {
        spe_a64_classify(word, 128, &insn);
        if (uses)
            print_uses(&insn);
        else
            print(&insn);
    }
    return 0;
}
