/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Source files of a page, and names that both forms of it have. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vector.h"
#include "render/annotate.h"

#define SOURCES_MAX 1024

struct annotate_source {
    char *path;
    struct spe_text_file *source; /* NULL: there is none */
};

/* A missing file or one that is too large is not an error. */
static int open_source(struct annotate_sources *s, const char *path, struct annotate_source *new)
{
    int error =
        s->count < SOURCES_MAX ? spe_text_file_open(&new->source, path, s->directory) : SPE_OK;

    return error == SPE_ERR_NOMEM || error == SPE_ERR_IO ? error : SPE_OK;
}

static int find_source(struct annotate_sources *s, const char *path,
                       const struct annotate_source **found)
{
    struct annotate_source *new;
    int error;

    for (size_t i = s->count; i > 0; i--) {
        *found = &s->list[i - 1];
        if (strcmp((*found)->path, path) == 0)
            return SPE_OK;
    }
    if (vector_grow(&s->list, &s->capacity, s->count, sizeof(*s->list)) < 0)
        return SPE_ERR_NOMEM;
    *found = new = &s->list[s->count];
    *new = (struct annotate_source){strdup(path), NULL};
    error = new->path ? open_source(s, path, new) : SPE_ERR_NOMEM;
    if (error < 0)
        free(new->path);
    else
        s->count++;
    return error;
}

int annotate_source_line(struct annotate_sources *s, const char *path, uint32_t line,
                         char text[SPE_TEXT_LINE], bool *newer)
{
    const struct annotate_source *found;
    int error = find_source(s, path, &found);

    text[0] = '\0';
    *newer = false;
    if (error < 0 || !found->source)
        return error;
    spe_text_file_line(found->source, line, text);
    *newer = s->recorded && spe_text_file_time(found->source) > s->recorded;
    return SPE_OK;
}

void annotate_sources_free(struct annotate_sources *s)
{
    for (size_t i = 0; i < s->count; i++) {
        spe_text_file_close(s->list[i].source);
        free(s->list[i].path);
    }
    free(s->list);
    s->list = NULL;
    s->count = s->capacity = 0;
}

const char *annotate_column_name(unsigned column)
{
    static const char *const names[ANNOTATE_COLUMNS] = {
        [ANNOTATE_SHARE] = "share",
        [ANNOTATE_INTERVAL] = "interval",
        [ANNOTATE_SAMPLES] = "samples",
        [ANNOTATE_LATENCY] = "latency",
        [ANNOTATE_WEIGHT] = "weight",
        [ANNOTATE_ISSUE] = "issue",
        [ANNOTATE_TRANSLATION] = "translation",
        [ANNOTATE_EXECUTION] = "execution",
        [ANNOTATE_L1] = "l1",
        [ANNOTATE_LLC] = "llc",
        [ANNOTATE_TLB] = "tlb",
        [ANNOTATE_SERVED] = "served",
        [ANNOTATE_MISPREDICTED] = "mispredicted",
        [ANNOTATE_OPERATION] = "operation",
    };

    return names[column];
}

void annotate_target_name(const struct annotate *a, const struct spe_branch_target *target,
                          char name[ANNOTATE_NAME])
{
    const struct spe_profile_dso *dso =
        target->dso != SPE_NO_ID ? spe_profile_dso(a->profile, target->dso) : NULL;
    struct spe_profile_symbol symbol;

    if (target->symbol != SPE_NO_SYMBOL &&
        spe_profile_symbol(a->profile, target->symbol, &symbol) == SPE_OK)
        snprintf(name, ANNOTATE_NAME, target->in_symbol ? "%s+0x%" PRIx64 : "%s", symbol.name,
                 target->in_symbol);
    else if (dso && !dso->kernel)
        snprintf(name, ANNOTATE_NAME, "%s+0x%" PRIx64, spe_profile_string(a->profile, dso->name),
                 target->address);
    else
        snprintf(name, ANNOTATE_NAME, "0x%" PRIx64, target->address);
}

unsigned annotate_mostly_served(const struct spe_instruction *insn, uint64_t *loads)
{
    unsigned most = SPE_SERVED_COUNT;

    *loads = 0;
    for (unsigned i = 0; i < SPE_SERVED_COUNT; i++) {
        if (insn->served[i] > *loads) {
            *loads = insn->served[i];
            most = i;
        }
    }
    return most;
}
