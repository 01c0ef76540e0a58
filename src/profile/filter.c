/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Running a filter: every test gives a bit a row; and, or, not work on words of 64 rows. */
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "filter_internal.h"

void spe_filter_destroy(struct spe_filter *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->tests.count; i++) {
        struct test *t = &f->tests.at[i];

        if (t->has_regex)
            regfree(&t->regex);
        free(t->text);
        free(t->memo);
    }
    free(f->tests.at);
    free(f->steps.at);
    free(f->bits);
    free(f);
}

unsigned spe_filter_wants(const struct spe_filter *filter)
{
    return filter->want;
}

static bool text_matches(const struct test *t, const char *text)
{
    if (t->kind == TEST_EQUAL)
        return !strcmp(text, t->text);
    return regexec(&t->regex, text, 0, NULL, 0) == 0;
}

/* Matching is slow and names are few. */
static bool id_matches(struct test *t, const struct spe_profile *p, uint64_t id)
{
    struct memo *memo = &t->memo[(id * 0x9e3779b97f4a7c15u >> 40) % FILTER_MEMO];

    if (memo->key != id + 1) {
        memo->answer = text_matches(t, filter_text(p, t->field, id));
        memo->key = id + 1;
    }
    return memo->answer;
}

static uint64_t run_text(const struct spe_filter *f, struct test *t, const struct spe_profile *p,
                         const struct spe_rows *rows, size_t base, size_t count)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t id = filter_text_id(f, p, rows, t->field, base + i);
        bool set =
            id != UINT64_MAX && (t->kind == TEST_PRESENT || id_matches(t, p, id) != t->negate);

        bits |= (uint64_t)set << i;
    }
    return bits;
}

static uint64_t run_number(const struct spe_filter *f, const struct test *t,
                           const struct spe_profile *p, const struct spe_rows *rows, size_t base,
                           size_t count)
{
    uint64_t values[64], bits = 0;
    uint64_t present = filter_load(f, p, rows, t->field, base, count, values);

    if (t->kind == TEST_PRESENT)
        return present;
    for (size_t i = 0; i < count && !t->nothing; i++)
        bits |= (uint64_t)(values[i] >= t->low && values[i] <= t->high) << i;
    return (t->negate ? ~bits : bits) & present;
}

static void run_test(struct spe_filter *f, struct test *t, const struct spe_profile *p,
                     const struct spe_rows *rows, uint64_t *out)
{
    unsigned kind = filter_field(t->field)->kind;

    for (size_t base = 0; base < rows->count; base += 64) {
        size_t count = rows->count - base < 64 ? rows->count - base : 64;

        if (kind == FIELD_FLAG)
            out[base / 64] = filter_flags(f, rows, t, base, count);
        else if (kind == FIELD_TEXT)
            out[base / 64] = run_text(f, t, p, rows, base, count);
        else
            out[base / 64] = run_number(f, t, p, rows, base, count);
    }
}

static int make_room(struct spe_filter *f, size_t words)
{
    uint64_t *bits;

    if (words <= f->words)
        return SPE_OK;
    bits = realloc(f->bits, words * f->depth * sizeof(uint64_t));
    if (!bits)
        return SPE_ERR_NOMEM;
    f->bits = bits;
    f->words = words;
    return SPE_OK;
}

static size_t run_step(struct spe_filter *f, const struct step *step, const struct spe_profile *p,
                       const struct spe_rows *rows, size_t top)
{
    size_t words = (rows->count + 63) / 64;
    uint64_t *free_bits = f->bits + top * f->words;

    if (step->kind == STEP_TEST) {
        run_test(f, &f->tests.at[step->test], p, rows, free_bits);
        return top + 1;
    }
    for (size_t i = 0; i < words; i++) {
        uint64_t *last = free_bits - f->words + i;

        if (step->kind == STEP_NOT)
            *last = ~*last;
        else if (step->kind == STEP_AND)
            *(last - f->words) &= *last;
        else
            *(last - f->words) |= *last;
    }
    return step->kind == STEP_NOT ? top : top - 1;
}

static int64_t select_rows(struct spe_filter *f, const struct spe_profile *profile,
                           const struct spe_rows *rows, uint64_t *selected)
{
    size_t words = (rows->count + 63) / 64, top = 0;
    int64_t count = 0;

    if (make_room(f, words) < 0)
        return SPE_ERR_NOMEM;
    for (size_t i = 0; i < f->steps.count; i++)
        top = run_step(f, &f->steps.at[i], profile, rows, top);
    for (size_t i = 0; i < words; i++) {
        selected[i] = f->bits[i];
        if (i == words - 1 && rows->count % 64)
            selected[i] &= (UINT64_C(1) << rows->count % 64) - 1;
        count += __builtin_popcountll(selected[i]);
    }
    return count;
}

int64_t spe_filter_select(struct spe_filter *f, const struct spe_profile *profile,
                          const struct spe_rows *rows, uint64_t *selected)
{
    struct spe_rows own;

    rows = sized_view(&own, sizeof(own), rows, rows->size);
    return rows ? select_rows(f, profile, rows, selected) : SPE_ERR_INVALID;
}
