/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What the parts of a shared line are called, and the sentences about it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "render/c2c.h"
#include "render/text.h"

const char *c2c_kind_name(enum spe_sharing_kind kind)
{
    static const char *const names[] = {
        [SPE_SHARING_UNCLEAR] = "unclear",
        [SPE_SHARING_TRUE] = "true",
        [SPE_SHARING_FALSE] = "false",
        [SPE_SHARING_BOTH] = "both",
    };

    return names[kind];
}

const char *c2c_basis_name(enum spe_sharing_basis basis)
{
    static const char *const names[] = {
        [SPE_SHARING_SOURCE] = "data source",
        [SPE_SHARING_SNOOPED] = "event data snooped",
        [SPE_SHARING_MISSES] = "L1 misses",
        [SPE_SHARING_BASIS_COUNT] = "nothing",
    };

    return names[basis];
}

void c2c_object_name(const struct c2c *c2c, const struct spe_shared_line *line,
                     const struct spe_shared_offset *offset, char name[REPORT_NAME])
{
    struct spe_data data = {.thread = offset->threads[0].thread,
                            .hottest = line->address + offset->offset};

    report_data_name(&c2c->report, &data, name);
}

const struct spe_shared_offset *c2c_hottest(const struct spe_shared_line *line)
{
    const struct spe_shared_offset *hottest = line->offsets;
    size_t i;

    for (i = 1; i < line->offset_count; i++)
        hottest = line->offsets[i].latency > hottest->latency ? &line->offsets[i] : hottest;
    return hottest;
}

void c2c_function_name(const struct c2c *c2c, const struct spe_shared_user *code,
                       char name[REPORT_NAME])
{
    struct spe_profile *profile = c2c->report.profile;
    struct spe_branch place = {.pc = code->pc, .map = code->map, .symbol = SPE_NO_SYMBOL};

    if (code->map != SPE_NO_ID)
        place.symbol = spe_profile_find_symbol(profile, code->map, code->pc);
    report_place_name(&c2c->report, &place, name);
}

void c2c_line_name(const struct c2c *c2c, const struct spe_shared_user *code,
                   char name[REPORT_NAME])
{
    uint32_t line = SPE_NO_ID;

    if (code->map != SPE_NO_ID)
        line = spe_profile_find_line(c2c->report.profile, code->map, code->pc);
    report_line_name(&c2c->report, line, name);
}

/* ---- advice ---------------------------------------------------------------------------------- */

static uint32_t tid_of(const struct c2c *c2c, uint32_t thread)
{
    const struct spe_profile_thread *t =
        thread != SPE_NO_ID ? spe_profile_thread(c2c->report.profile, thread) : NULL;

    return t ? t->tid : SPE_NO_TASK;
}

/* The thread that made most accesses to an offset, or the words for several threads. */
static void say_user(struct text *s, const struct c2c *c2c, const struct spe_shared_offset *o)
{
    if (o->same_used)
        text_add(s, " (%zu threads)", o->thread_count);
    else
        text_add(s, " (thread %" PRIu32 ")", tid_of(c2c, o->threads[0].thread));
}

#define NAMED 4 /* ranges of offsets in a sentence */

static bool is_light(const struct spe_shared_line *line, const struct spe_shared_offset *o)
{
    return o->samples * 100 < line->loads + line->stores;
}

/* Offsets from i on that belong to the same user: the last of them. */
static size_t last_of_range(const struct spe_shared_line *line, size_t i)
{
    const struct spe_shared_offset *o = line->offsets;
    size_t last = i;

    while (last + 1 < line->offset_count && o[last + 1].same_used == o[i].same_used &&
           o[last + 1].threads[0].thread == o[i].threads[0].thread)
        last++;
    return last;
}

/* "offset 0x0 (thread 7) and 0x8 to 0x18 (thread 8)": those that several use, or the others. */
static void say_offsets(struct text *s, const struct c2c *c2c, const struct spe_shared_line *line,
                        bool shared, bool others)
{
    const struct spe_shared_offset *o = line->offsets;
    size_t ranges = 0, named = 0, i, last;
    int pass;

    for (pass = 0; pass < 2; pass++) {
        for (i = 0; i < line->offset_count; i = last + 1) {
            last = last_of_range(line, i);
            if (is_light(line, &o[i]) || !(o[i].same_used ? shared : others))
                continue;
            if (pass == 0) {
                ranges++;
                continue;
            }
            if (named++ >= NAMED)
                continue;
            text_add(s, "%s0x%" PRIx32,
                     named == 1        ? "offset "
                     : named == ranges ? " and "
                                       : ", ",
                     o[i].offset);
            if (last > i)
                text_add(s, " to 0x%" PRIx32, o[last].offset);
            say_user(s, c2c, &o[i]);
        }
    }
    if (ranges > NAMED)
        text_add(s, " and %zu more", ranges - NAMED);
}

void c2c_advice(const struct c2c *c2c, const struct spe_shared_line *line, char text[C2C_ADVICE])
{
    const char *may = c2c->result->basis == SPE_SHARING_MISSES ? "Maybe " : "";
    unsigned bytes = 1u << c2c->result->shift;
    struct text s = text_in(text, C2C_ADVICE);
    uint64_t writes = 0;
    size_t i;

    for (i = 0; i < line->offset_count; i++)
        writes += line->offsets[i].writes;
    switch (line->kind) {
    case SPE_SHARING_FALSE:
        text_add(&s, "%s%salse sharing: ", may, *may ? "f" : "F");
        say_offsets(&s, c2c, line, true, true);
        text_add(&s, " are different bytes: put them %u bytes apart.", bytes);
        break;
    case SPE_SHARING_TRUE:
        text_add(&s, "%s%srue sharing: ", may, *may ? "t" : "T");
        say_offsets(&s, c2c, line, true, false);
        text_add(
            &s, ": they use the same bytes, and no padding separates them; a copy for each thread, "
                "or fewer writes, would.");
        break;
    case SPE_SHARING_BOTH:
        text_add(&s, "%s%srue and false sharing: ", may, *may ? "t" : "T");
        say_offsets(&s, c2c, line, true, true);
        text_add(&s,
                 ": put what different threads use %u bytes apart; bytes that several threads use "
                 "stay shared.",
                 bytes);
        break;
    case SPE_SHARING_UNCLEAR:
        text_add(&s, "True or false sharing is not clear: %s.",
                 writes ? "too few writes were sampled" : "no write to the line was sampled");
        break;
    }
}

const char *c2c_nothing(const struct spe_sharing_result *r)
{
    if (!r->samples && !r->no_address)
        return "there is no load or store among the samples: lines that travel are not seen";
    if (!r->samples)
        return "no load or store has a data address: record with addresses of data (spe record "
               "has them; of hardware the kernel may have kept them back)";
    if (!r->said)
        return "the records have neither data sources, nor snoops, nor L1 cache events: nothing "
               "says whether lines travel";
    return NULL;
}
