/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "columns/facts.h"

#include <inttypes.h>
#include <specimen/version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "columns/columns.h"

/* Text out of a file: bytes that are not UTF-8 are left out, because readers insist on it. */
static void keep_utf8(char *text)
{
    char *to = text;

    while (*text) {
        uint32_t code;
        unsigned size = utf8_decode(text, &code);

        for (unsigned i = 0; i < size; i++)
            to[i] = text[i];
        to += size;
        text += size ? size : 1;
    }
    *to = '\0';
}

__attribute__((format(printf, 3, 4))) static int add(struct facts *f, const char *key,
                                                     const char *format, ...)
{
    va_list arguments;
    char *value;
    int size;

    va_start(arguments, format);
    size = vasprintf(&value, format, arguments);
    va_end(arguments);
    if (size < 0)
        return SPE_ERR_NOMEM;
    keep_utf8(value);
    if (VECTOR_ROOM(&f->list) < 0) {
        free(value);
        return SPE_ERR_NOMEM;
    }
    f->list.at[f->list.count++] = (struct fact){key, value};
    return SPE_OK;
}

static int add_text(struct facts *f, const char *key, const char *text)
{
    return text ? add(f, key, "%s", text) : SPE_OK;
}

static int add_number(struct facts *f, const char *key, uint64_t number)
{
    return number ? add(f, key, "%" PRIu64, number) : SPE_OK;
}

static int add_command(struct facts *f, const struct spe_profile_info *info)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file;
    int result;

    if (!info->command_count)
        return SPE_OK;
    file = open_memstream(&text, &size);
    if (!file)
        return SPE_ERR_NOMEM;
    for (size_t i = 0; i < info->command_count; i++)
        fprintf(file, "%s%s", i ? " " : "", info->command[i]);
    result = fclose(file) == 0 ? add_text(f, "specimen.command", text) : SPE_ERR_NOMEM;
    free(text);
    return result;
}

/* What is wrong with the file: all of it was looked at when it was opened. */
static int add_losses(struct facts *f, const struct spe_profile *profile)
{
    const struct spe_profile_info *info = spe_profile_info(profile);
    const struct spe_profile_counts *c = spe_profile_counts(profile);

    if (add_text(f, "specimen.damage", info->damage) < 0 ||
        add_number(f, "specimen.lost", c->lost) < 0 ||
        add_number(f, "specimen.aux_truncated", c->aux_truncated) < 0 ||
        add_number(f, "specimen.aux_collision", c->aux_collision) < 0)
        return SPE_ERR_NOMEM;
    return info->incomplete || info->unterminated ? add_text(f, "specimen.incomplete", "true")
                                                  : SPE_OK;
}

int facts_of(struct facts *f, const struct spe_profile *profile)
{
    const struct spe_profile_info *info = spe_profile_info(profile);

    if (add(f, "specimen.schema", "%s", COLUMNS_VERSION) < 0 ||
        add_text(f, "specimen.version", SPE_VERSION) < 0 ||
        add_text(f, "specimen.host", info->hostname) < 0 ||
        add_text(f, "specimen.kernel", info->osrelease) < 0 ||
        add_text(f, "specimen.machine", info->arch) < 0 ||
        add_text(f, "specimen.cpu", info->cpu ? info->cpu->name : info->cpudesc) < 0 ||
        add_text(f, "specimen.model", info->simulated ? info->model_note : NULL) < 0 ||
        add_number(f, "specimen.interval", info->period) < 0 ||
        add_text(f, "specimen.clock", info->timed ? "perf" : NULL) < 0 || add_command(f, info) < 0)
        return SPE_ERR_NOMEM;
    return add_losses(f, profile);
}

int facts_of_end(struct facts *f, const struct spe_profile *profile)
{
    return add_number(f, "specimen.skipped_bytes",
                      spe_profile_counts(profile)->account.skipped_bytes);
}

void facts_free(struct facts *f)
{
    for (size_t i = 0; i < f->list.count; i++)
        free(f->list.at[i].value);
    free(f->list.at);
    f->list.at = NULL;
    f->list.count = f->list.capacity = 0;
}
