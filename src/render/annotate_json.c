/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* `spe annotate` as one JSON object: all instructions that have samples, and what is known of them.
 */
#include <stdio.h>

#include "render/annotate.h"
#include "render/json.h"

static void latency_json(struct json *j, const char *key, const struct spe_latency_sum *sum)
{
    json_object(j, key);
    json_number(j, "samples", sum->samples);
    json_number(j, "cycles", sum->cycles);
    json_object_end(j);
}

/* `whole`: what it is a share of. */
static void sums_json(struct json *j, const struct spe_instruction *insn, uint64_t whole)
{
    const struct spe_counts *c = &insn->counts;

    json_number(j, "samples", c->samples);
    json_real(j, "share", whole ? (double)c->samples / (double)whole : 0.0);
    json_interval(j, "share_95", c->samples, whole);
    latency_json(j, "total", &insn->total);
    latency_json(j, "issue", &insn->issue);
    latency_json(j, "translation", &insn->translation);
    latency_json(j, "execution", &insn->execution);
    json_number(j, "memory", c->memory);
    json_number(j, "loads", insn->loads);
    json_number(j, "l1_misses", c->l1_misses);
    json_number(j, "llc_misses", c->llc_misses);
    json_number(j, "tlb_walks", c->tlb_walks);
    json_object(j, "served");
    for (unsigned i = 0; i < SPE_SERVED_COUNT; i++) {
        if (insn->served[i])
            json_number(j, spe_served_name(i), insn->served[i]);
    }
    json_object_end(j);
    json_number(j, "branches", c->branches);
    json_number(j, "not_taken", insn->not_taken);
    json_number(j, "mispredicted", c->mispredicted);
}

static void place_json(struct json *j, const struct annotate *a, const struct spe_code_place *place)
{
    bool known = place->function != SPE_NO_ID;

    json_string(j, "function", known ? spe_profile_string(a->profile, place->function) : NULL);
    json_bool(j, "inlined", place->inlined);
    json_string(j, "file",
                place->file != SPE_NO_ID ? spe_profile_string(a->profile, place->file) : NULL);
    json_number(j, "line", place->line);
}

static int lines_json(struct json *j, const struct annotate *a, const struct annotate_function *f)
{
    char text[SPE_TEXT_LINE];
    int error = SPE_OK, now;
    bool newer;

    json_array(j, "lines");
    for (size_t i = 0; i < f->line_count; i++) {
        const struct spe_code_place *place = &f->lines[i].place;

        now = annotate_source_line(a->sources, spe_profile_string(a->profile, place->file),
                                   place->line, text, &newer);
        error = error < 0 ? error : now;
        json_object(j, NULL);
        place_json(j, a, place);
        json_string(j, "text", text);
        json_bool(j, "newer_than_recording", newer);
        sums_json(j, &f->lines[i].sum, f->sum.counts.samples);
        json_object_end(j);
    }
    json_array_end(j);
    return error;
}

static void targets_json(struct json *j, const struct annotate *a,
                         const struct spe_instruction *insn)
{
    char name[ANNOTATE_NAME];

    json_array(j, "targets");
    for (size_t i = 0; i < insn->target_count; i++) {
        const struct spe_branch_target *t = &a->targets[insn->first_target + i];

        annotate_target_name(a, t, name);
        json_object(j, NULL);
        json_hex(j, "address", t->address);
        json_string(j, "place", name);
        json_number(j, "samples", t->samples);
        json_real(j, "share", (double)t->samples / (double)insn->counts.branches);
        json_number(j, "mispredicted", t->mispredicted);
        json_object_end(j);
    }
    json_array_end(j);
}

static void word_json(struct json *j, const struct annotate *a, const struct annotate_function *f,
                      uint64_t address)
{
    size_t at = address >= f->start ? (size_t)((address - f->start) / 4) : f->word_count;
    struct spe_code_word word;

    if (at >= f->word_count) {
        json_null(j, "word");
        json_null(j, "text");
        return;
    }
    spe_disassemble(a->disassembler, address, f->words[at], &word);
    json_hex(j, "word", f->words[at]);
    json_string(j, "text", word.text);
    json_bool(j, "disassembled", word.known);
    json_string(j, "class", word.kind);
}

static void instructions_json(struct json *j, const struct annotate *a,
                              const struct annotate_function *f)
{
    json_array(j, "instructions");
    for (size_t i = 0; i < f->count; i++) {
        const struct spe_instruction *insn = &f->instructions[i];
        struct spe_code_place place;

        spe_code_place(a->profile, insn->map, insn->pc, &place);
        json_object(j, NULL);
        json_hex(j, "address", insn->address);
        word_json(j, a, f, insn->address);
        json_string(j, "operation", insn->operation);
        json_string(j, "kind", insn->kind);
        place_json(j, a, &place);
        sums_json(j, insn, f->sum.counts.samples);
        targets_json(j, a, insn);
        json_object_end(j);
    }
    json_array_end(j);
}

static int function_json(struct json *j, const struct annotate *a,
                         const struct annotate_function *f)
{
    const struct spe_profile_dso *dso =
        f->dso != SPE_NO_ID ? spe_profile_dso(a->profile, f->dso) : NULL;
    int error;

    json_object(j, NULL);
    json_string(j, "function", f->symbol != SPE_NO_SYMBOL ? f->name : NULL);
    json_string(j, "dso", dso ? spe_profile_string(a->profile, dso->path) : NULL);
    json_string(j, "no_code", f->no_code);
    sums_json(j, &f->sum, a->samples);
    error = lines_json(j, a, f);
    instructions_json(j, a, f);
    json_object_end(j);
    return error;
}

int annotate_json(struct out *o, const struct annotate *a)
{
    struct json j;
    int error = SPE_OK;

    json_begin(&j, o);
    json_object(&j, NULL);
    json_string(&j, "file", a->file);
    json_number(&j, "samples", a->samples);
    json_number(&j, "latency", a->latency);
    json_array(&j, "functions");
    for (size_t i = 0; i < a->function_count && error == SPE_OK; i++)
        error = function_json(&j, a, &a->functions[i]);
    json_array_end(&j);
    json_object_end(&j);
    json_end_line(&j);
    return error;
}
