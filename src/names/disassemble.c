/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A word of A64 code as text. The text is that of a disassembler library, which may be older than
 * the program: it may not know a word, or take it for what it was before the architecture grew. So
 * our own classifier is asked, too, and where the two do not agree the word is shown as it is.
 */
#include "names/disassemble.h"

#include <inttypes.h>
#include <specimen/names.h>
#include <specimen/pe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

static const char *kind_name(const struct spe_a64 *insn)
{
    static const char *const names[SPE_OPERATION_KIND_COUNT] = {
        [SPE_OPERATION_OTHER] = "other",
        [SPE_OPERATION_SVE] = "SVE",
        [SPE_OPERATION_SME_VECTOR] = "SME",
        [SPE_OPERATION_SME_TILE] = "SME",
        [SPE_OPERATION_LOAD] = "load",
        [SPE_OPERATION_STORE] = "store",
        [SPE_OPERATION_ATOMIC] = "atomic",
        [SPE_OPERATION_MEMCPY] = "memory copy",
        [SPE_OPERATION_MEMSET] = "memory set",
        [SPE_OPERATION_GCS] = "guarded control stack",
        [SPE_OPERATION_BRANCH] = "branch",
        [SPE_OPERATION_ERET] = "exception return",
        [SPE_OPERATION_ISB] = "ISB",
        [SPE_OPERATION_CMO] = "cache maintenance",
        [SPE_OPERATION_PREFETCH] = "prefetch",
        [SPE_OPERATION_SVE_PREFETCH] = "SVE prefetch",
        [SPE_OPERATION_AT] = "address translation",
        [SPE_OPERATION_DC_ZVA] = "zeroing",
        [SPE_OPERATION_WFX] = "wait",
    };
    const struct spe_operation *op = &insn->operation;

    if (!insn->allocated)
        return "undefined";
    if (op->kind == SPE_OPERATION_OTHER)
        return op->advanced_simd ? "SIMD" : op->floating_point ? "floating-point" : "other";
    if (op->kind == SPE_OPERATION_LOAD && op->registers == SPE_REGISTERS_SVE)
        return "SVE load";
    if (op->kind == SPE_OPERATION_STORE && op->registers == SPE_REGISTERS_SVE)
        return "SVE store";
    return names[op->kind];
}

/* ---- what the library says ------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_one_of(const char *mnemonic, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(mnemonic, list[i]) == 0)
            return true;
    }
    return false;
}

static bool names_branch(const char *mnemonic)
{
    static const char *const branches[] = {"b",      "bl",   "br",     "blr",    "ret",    "retaa",
                                           "retab",  "cbz",  "cbnz",   "tbz",    "tbnz",   "braa",
                                           "braaz",  "brab", "brabz",  "blraa",  "blraaz", "blrab",
                                           "blrabz", "eret", "eretaa", "eretab", "drps"};

    return begins(mnemonic, "b.") || begins(mnemonic, "bc.") ||
           is_one_of(mnemonic, branches, sizeof(branches) / sizeof(branches[0]));
}

/* What touches memory begins with one of few words. */
static bool names_access(const char *mnemonic)
{
    return begins(mnemonic, "ld") || begins(mnemonic, "st") || begins(mnemonic, "cas") ||
           begins(mnemonic, "swp") || begins(mnemonic, "rcw") || begins(mnemonic, "cpy") ||
           begins(mnemonic, "set") || begins(mnemonic, "gcs");
}

/* Do the library and our classifier mean the same kind of operation? DC ZVA writes memory, and is
 * called "dc" or "sys"; SETF8 and SETFFR write no memory. */
static bool agree(const struct spe_a64 *insn, const char *mnemonic)
{
    bool memory = insn->load || insn->store, named = names_access(mnemonic);

    if (!insn->allocated || names_branch(mnemonic) != insn->branch)
        return false;
    if (insn->operation.kind == SPE_OPERATION_DC_ZVA || begins(mnemonic, "setf") ||
        begins(mnemonic, "gcs"))
        return true;
    return insn->branch || memory == named;
}

/* ---- aliases --------------------------------------------------------------------------------- */

/* C6.2: MOV (wide immediate) and MOV (inverted wide immediate) are preferred but for what looks
 * like a shift of nothing. */
static bool move_wide(uint32_t word, char *text, size_t size)
{
    bool is_64 = word >> 31, inverted = bits(word, 30, 29) == 0;
    unsigned hw = bits(word, 22, 21), rd = bits(word, 4, 0);
    uint64_t value = (uint64_t)bits(word, 20, 5) << (16 * hw);

    if ((word & 0x1f800000) != 0x12800000 || (bits(word, 30, 29) & 1))
        return false;
    if ((!bits(word, 20, 5) && hw) || (inverted && !is_64 && bits(word, 20, 5) == 0xffff))
        return false;
    value = inverted ? ~value : value;
    if (!is_64)
        value = (uint32_t)value;
    if (rd == 31)
        snprintf(text, size, "mov %s, ", is_64 ? "xzr" : "wzr");
    else
        snprintf(text, size, "mov %c%u, ", is_64 ? 'x' : 'w', rd);
    if (inverted && is_64)
        snprintf(text + strlen(text), size - strlen(text), "#%" PRId64, (int64_t)value);
    else if (inverted)
        snprintf(text + strlen(text), size - strlen(text), "#%" PRId32, (int32_t)value);
    else
        snprintf(text + strlen(text), size - strlen(text), "#0x%" PRIx64, value);
    return true;
}

/* C6.2, HINT: names that came later than the library. */
static const char *hint_name(uint32_t word)
{
    static const struct {
        uint8_t number;
        const char *name;
    } hints[] = {
        {7, "xpaclri"},    {8, "pacia1716"}, {10, "pacib1716"},   {12, "autia1716"},
        {14, "autib1716"}, {16, "esb"},      {17, "psb csync"},   {18, "tsb csync"},
        {20, "csdb"},      {22, "clrbhb"},   {24, "paciaz"},      {25, "paciasp"},
        {26, "pacibz"},    {27, "pacibsp"},  {28, "autiaz"},      {29, "autiasp"},
        {30, "autibz"},    {31, "autibsp"},  {32, "bti"},         {34, "bti c"},
        {36, "bti j"},     {38, "bti jc"},   {40, "chkfeat x16"},
    };

    if ((word & 0xfffff01f) != 0xd503201f)
        return NULL;
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        if (hints[i].number == bits(word, 11, 5))
            return hints[i].name;
    }
    return NULL;
}

/* MRS and MSR of a register without a name: libraries have called those of op0 2 "s3_...". */
static void repair_register(uint32_t word, char *text)
{
    char *name = (word & 0xffd80000) == 0xd5100000 ? strstr(text, "s3_") : NULL;

    if (name)
        name[1] = '2';
}

/* A prefetch of a kind without a name: Capstone 5 leaves the operand out ("prfm , [x1]"). It is
 * bits [4:0] of the word, of which SVE has four (C6.2, PRFM; C8.2, PRFB). */
static void repair_prefetch(uint32_t word, char *text, size_t size)
{
    char rest[160], *comma = strchr(text, ',');
    bool sve = word >> 25 == 0x42;

    if (!begins(text, "prf") || !comma || comma[-1] != ' ')
        return;
    snprintf(rest, sizeof(rest), "%s", comma);
    snprintf(comma, size - (size_t)(comma - text), "#%u%s", bits(word, sve ? 3 : 4, 0), rest);
}

/* The size of an element of an SVE bitmask immediate, in bits: of its imm13. */
static unsigned bitmask_element(uint32_t word)
{
    unsigned imms = bits(word, 10, 5), size = 32;

    if (bits(word, 17, 17))
        return 64;
    for (unsigned bit = 32; bit > 4 && (imms & bit); bit >>= 1)
        size >>= 1;
    return size < 8 ? 8 : size;
}

/* The number that SVE puts into all elements (C8.2: CPY, DUP, DUPM, AND, EOR, ORR): Capstone 5 does
 * not extend its sign, and has more bits of a mask than an element has. */
static void repair_elements(uint32_t word, char *text, size_t size)
{
    bool copy = (word & 0xff308000) == 0x05100000 || (word & 0xff3fc000) == 0x2538c000;
    bool mask = (word & 0xff3c0000) == 0x05000000;
    char *number = copy || mask ? strrchr(text, '#') : NULL;
    size_t left = number ? size - (size_t)(number - text) : 0;
    uint64_t value = number ? strtoull(number + 1, NULL, 0) : 0;

    if (number && copy)
        snprintf(number, left, "#%d", (int8_t)bits(word, 12, 5) * (bits(word, 13, 13) ? 256 : 1));
    else if (number)
        snprintf(number, left, "#0x%" PRIx64, value & UINT64_MAX >> (64 - bitmask_element(word)));
}

/* An address is not an immediate: "b 0x400580", not "b #0x400580". */
static void plain_target(char *text)
{
    char *operand = strrchr(text, '#');

    if (operand)
        memmove(operand, operand + 1, strlen(operand));
}

/* A condition that is always true has no opposite: CSNEG with it is not a CNEG (C6.2). */
static bool is_false_alias(uint32_t word, const char *text)
{
    return (word & 0x1fe00000) == 0x1a800000 && bits(word, 15, 13) == 7 && begins(text, "c") &&
           !begins(text, "cs");
}

/* Has the number one part of 16 bits that is not 0? Then MOVZ makes it, and MOV means that. */
static bool is_wide(uint64_t value, bool is_64)
{
    unsigned parts = 0;

    for (unsigned i = 0; i < (is_64 ? 4 : 2); i++)
        parts += (value >> (16 * i) & 0xffff) != 0;
    return parts <= 1;
}

/* ORR of the zero register and a bitmask immediate is preferred as MOV, unless MOV would mean MOVZ
 * or MOVN then: MoveWidePreferred(). */
static bool move_bitmask(uint32_t word, char *text, size_t size)
{
    char register_[8], number[32], *operand = strrchr(text, '#');
    bool is_64 = word >> 31;
    uint64_t value;

    if ((word & 0x7f8003e0) != 0x320003e0 || !operand)
        return false;
    value = strtoull(operand + 1, NULL, 0);
    if (is_wide(value, is_64) || is_wide(~value, is_64))
        return false;
    snprintf(register_, sizeof(register_), "%.*s", (int)(strcspn(text, ",") - 4), text + 4);
    snprintf(number, sizeof(number), "%s", operand);
    snprintf(text, size, "mov %s, %s", register_, number);
    return true;
}

/* INS is preferred as MOV. */
static bool move_element(char *text)
{
    if (!begins(text, "ins v"))
        return false;
    text[0] = 'm';
    text[1] = 'o';
    text[2] = 'v';
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool read_word(struct spe_disassembler *d, uint64_t address, const struct spe_a64 *insn,
                      char *text, size_t size)
{
    const char *hint = hint_name(insn->word);
    char mnemonic[32];

    if (hint) {
        snprintf(text, size, "%s", hint);
        return true;
    }
    if (!library_read(d, address, insn->word, mnemonic, sizeof(mnemonic), text, size) ||
        !agree(insn, mnemonic))
        return false;
    if (move_wide(insn->word, text, size) || move_bitmask(insn->word, text, size) ||
        move_element(text))
        return true;
    repair_register(insn->word, text);
    repair_prefetch(insn->word, text, size);
    repair_elements(insn->word, text, size);
    if (insn->branch && insn->direct)
        plain_target(text);
    return !is_false_alias(insn->word, text);
}

void spe_disassemble(struct spe_disassembler *d, uint64_t address, uint32_t word,
                     struct spe_code_word *out)
{
    struct spe_a64 insn;

    memset(out, 0, sizeof(*out));
    spe_a64_classify(word, 0, &insn);
    out->kind = kind_name(&insn);
    out->branch = insn.branch;
    out->has_target = insn.branch && insn.direct;
    out->target = out->has_target ? address + (uint64_t)insn.displacement : 0;
    out->known = read_word(d, address, &insn, out->text, sizeof(out->text));
    if (!out->known)
        snprintf(out->text, sizeof(out->text), ".inst 0x%08" PRIx32, word);
}
