/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* After SIGILL: which CPU has the instruction. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "record/record.h"

/* C4.1: op0, bits 28:25, is 0b0010 for SVE; 0b0000 with bit 31 set for SME. */
static bool is_sve(uint32_t word)
{
    return (word >> 25 & 15) == 2;
}

static bool is_sme(uint32_t word)
{
    return (word >> 25 & 15) == 0 && word >> 31;
}

/* "a or b or c": those with vectors of SVE; they have SME, too. */
static void list_with_vectors(char *list, size_t room)
{
    const struct record_cpu *cpu;
    size_t used = 0;

    for (size_t i = 0; (cpu = record_cpu_at(i)) && used < room; i++)
        if (cpu->vector_bits)
            used +=
                (size_t)snprintf(list + used, room - used, "%s%s", used ? " or " : "", cpu->name);
}

static const char *name_of(uint32_t word, const struct spe_a64 *insn)
{
    if (is_sve(word))
        return "an SVE instruction";
    if (is_sme(word))
        return "an SME instruction";
    return insn->allocated ? "an instruction" : "an unknown instruction";
}

bool record_strange_tell(const struct record_options *options, const struct record_summary *summary,
                         char *text, size_t room)
{
    const struct record_cpu *cpu = record_cpu_find(options->cpu);
    const struct record_strange *s = &summary->strange;
    bool vectors = is_sve(s->word) || is_sme(s->word);
    char has[160] = "neoverse-v2";
    struct spe_a64 insn;

    if (summary->exit_status != 128 + SIGILL || !s->pid)
        return false;
    spe_a64_classify(s->word, 0, &insn);
    if (vectors)
        list_with_vectors(has, sizeof(has));
    if (!insn.allocated || cpu->vector_bits)
        snprintf(text, room,
                 "it ended at %s (0x%08" PRIx32 " at 0x%" PRIx64 "), which this QEMU does "
                 "not have; a newer one may have it (--qemu)",
                 name_of(s->word, &insn), s->word, s->pc);
    else
        snprintf(text, room,
                 "it ended at %s (0x%08" PRIx32 " at 0x%" PRIx64 ") that %s does not "
                 "have; record it with --cpu %s, which %s",
                 name_of(s->word, &insn), s->word, s->pc, cpu->name, has,
                 vectors ? "has it" : "has more of them");
    return true;
}
