/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/functions.h"

#include <stdio.h>
#include <stdlib.h>

#define WORDS_MAX (UINT64_C(4) << 20)
#define AROUND 16 /* bytes of code shown around samples that no function has */

/* The code of a function; of what has no symbol, the code around its samples. */
static bool load_code(struct spe_profile *profile, struct annotate_function *f)
{
    struct spe_profile_symbol symbol = {.size = 0};
    uint64_t end, count;
    int64_t read;

    if (!f->count)
        return true;
    if (f->dso == SPE_NO_ID) {
        f->no_code = "no map of the recording has it";
        return true;
    }
    if (f->symbol != SPE_NO_SYMBOL && spe_profile_symbol(profile, f->symbol, &symbol) == SPE_OK) {
        f->start = symbol.address & ~UINT64_C(3);
        end = symbol.size < UINT64_MAX - symbol.address ? symbol.address + symbol.size : UINT64_MAX;
    } else {
        f->start = f->instructions[0].address;
        f->start -= f->start > AROUND ? AROUND : 0;
        end = f->instructions[f->count - 1].address + AROUND;
    }
    count = (end - f->start) / 4;
    count = count < WORDS_MAX ? count : WORDS_MAX;
    f->words = calloc(count + 1, sizeof(*f->words));
    f->data = calloc(count + 1, 1);
    if (!f->words || !f->data)
        return false;
    read = spe_profile_code(profile, f->dso, f->start, f->words, f->data, count, &f->no_code);
    f->word_count = read > 0 ? (size_t)read : 0;
    return read != SPE_ERR_NOMEM;
}

static bool name_function(struct spe_profile *profile, struct annotate_function *f)
{
    const struct spe_profile_dso *dso =
        f->dso != SPE_NO_ID ? spe_profile_dso(profile, f->dso) : NULL;
    struct spe_profile_symbol symbol;
    int size;

    if (spe_profile_symbol(profile, f->symbol, &symbol) == SPE_OK)
        size = asprintf(&f->name, "%s", symbol.name);
    else if (dso)
        size = asprintf(&f->name, "[no symbol] %s", spe_profile_string(profile, dso->path));
    else
        size = asprintf(&f->name, "[no map]");
    if (size < 0)
        f->name = NULL;
    return f->name;
}

bool functions_describe(struct annotate *a, struct spe_profile *profile,
                        const struct spe_annotation *annotation)
{
    size_t count;
    const struct spe_code_choice *choices = spe_annotation_choices(annotation, &count);

    a->functions = calloc(count + 1, sizeof(*a->functions));
    if (!a->functions || spe_disassembler_create(&a->disassembler) < 0)
        return false;
    a->targets = spe_annotation_targets(annotation);
    spe_annotation_totals(annotation, &a->samples, &a->latency);
    for (size_t i = 0; i < count && i < FUNCTIONS_MAX; i++) {
        struct annotate_function *f = &a->functions[a->function_count++];

        f->symbol = choices[i].symbol;
        f->dso = choices[i].dso;
        f->instructions = spe_annotation_instructions(annotation, i, &f->count);
        for (size_t k = 0; k < f->count; k++)
            spe_instruction_add(&f->sum, &f->instructions[k]);
        if (!name_function(profile, f) || !load_code(profile, f) ||
            spe_annotation_lines(annotation, profile, i, &f->lines, &f->line_count) < 0)
            return false;
    }
    return true;
}

void functions_free(struct annotate *a)
{
    for (size_t i = 0; i < a->function_count; i++) {
        free(a->functions[i].name);
        free(a->functions[i].lines);
        free(a->functions[i].words);
        free(a->functions[i].data);
    }
    free(a->functions);
    a->functions = NULL;
    a->function_count = 0;
    spe_disassembler_destroy(a->disassembler);
    a->disassembler = NULL;
}
