/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * enumerate ... end: `vary` lines give variables lists of values, `column` lines say what to ask,
 * everything between is run for each combination, from the state in which the block began.
 */
#include "sim/sim_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/vector.h"

#define VARY_MAX 16
#define COLUMN_MAX 32
#define VALUES_MAX 65536
#define COMBINATIONS_MAX (UINT64_C(1) << 24)

struct vary {
    struct token name;
    char **value;
    size_t count, room, at;
};

struct column {
    struct token name, what;
    unsigned line;
};

struct block {
    struct vary vary[VARY_MAX];
    size_t varies;
    struct column column[COLUMN_MAX];
    size_t columns;
    struct cursor body; /* from the first line after `enumerate` to `end` */

    struct machine machine; /* as it was */
    uint64_t reg[SPE_REG_COUNT];
    bool had_unit;
    size_t variables;
};

/* ---- Reading the block ---------------------------------------------------------------------- */

static bool add_value(struct sim *sim, struct vary *v, const struct token *t, const char *text)
{
    if (!sim_step(sim))
        return false;
    if (v->count == VALUES_MAX)
        return sim_wrong(sim, t->column, "a vary has at most %d values", VALUES_MAX);
    if (vector_grow(&v->value, &v->room, v->count, sizeof(*v->value)) < 0)
        return sim_wrong(sim, t->column, "there is no memory for the values");
    v->value[v->count] = strdup(text);
    return v->value[v->count++] || sim_wrong(sim, t->column, "there is no memory for the values");
}

/* "0..31", or "0x10..0x1f" with values that are written so; else it is one value as it stands. */
static bool add_values(struct sim *sim, struct vary *v, struct token *t)
{
    char *dots = strstr(t->text, ".."), text[32];
    bool hex = !strncasecmp(t->text, "0x", 2);
    uint64_t first, last;

    if (dots)
        *dots = '\0';
    if (!dots || !sim_number(t->text, false, &first) || !sim_number(dots + 2, false, &last)) {
        if (dots)
            *dots = '.';
        return add_value(sim, v, t, t->text);
    }
    if (first > last)
        return sim_wrong(sim, t->column, "the range ends before it begins");
    for (uint64_t n = first;; n++) {
        snprintf(text, sizeof(text), hex ? "0x%" PRIx64 : "%" PRIu64, n);
        if (!add_value(sim, v, t, text))
            return false;
        if (n == last)
            return true;
    }
}

static bool add_vary(struct sim *sim, struct block *b, struct words *w)
{
    struct vary *v;

    if (w->count < 3)
        return sim_wrong(sim, w->word[0].column, "vary takes a name and values");
    if (b->varies == VARY_MAX)
        return sim_wrong(sim, w->word[0].column, "there are more than %d vary", VARY_MAX);
    v = &b->vary[b->varies++];
    v->name = w->word[1];
    for (size_t i = 2; i < w->count; i++)
        if (!add_values(sim, v, &w->word[i]))
            return false;
    /* So that the lines below can be cut into words before a value is chosen. */
    return sim_set_variable(sim, &v->name, v->value[0]);
}

static bool add_column(struct sim *sim, struct block *b, const struct words *w)
{
    struct column *c;

    if (w->count != 2 && w->count != 3)
        return sim_wrong(sim, w->word[0].column, "column takes a name and a quantity");
    if (b->columns == COLUMN_MAX)
        return sim_wrong(sim, w->word[0].column, "there are more than %d columns", COLUMN_MAX);
    if (!sim_good_name(sim, &w->word[1], "._-"))
        return false;
    c = &b->column[b->columns++];
    c->name = w->word[1];
    c->what = w->word[w->count - 1];
    c->line = sim->line;
    return true;
}

static bool read_block(struct sim *sim, struct cursor *cursor, struct block *b, struct words *w)
{
    unsigned first = sim->line;
    int more;

    b->body = *cursor;
    while ((more = sim_next_line(sim, cursor, w)) > 0) {
        const char *verb = w->word[0].text;

        if (!strcmp(verb, "end")) {
            b->body.length = cursor->at;
            return true;
        }
        if (!strcmp(verb, "enumerate"))
            return sim_wrong(sim, w->word[0].column, "enumerate cannot be inside enumerate");
        if ((!strcmp(verb, "vary") && !add_vary(sim, b, w)) ||
            (!strcmp(verb, "column") && !add_column(sim, b, w)) ||
            (!strcmp(verb, "let") && w->count == 3 &&
             !sim_set_variable(sim, &w->word[1], w->word[2].text)))
            return false;
    }
    if (more == 0) {
        sim->line = first;
        return sim_wrong(sim, 1, "this enumerate has no end");
    }
    return false;
}

/* ---- Going through the combinations --------------------------------------------------------- */

static void remember(const struct sim *sim, struct block *b)
{
    b->machine = sim->machine;
    b->had_unit = sim->spu != NULL;
    for (unsigned r = 0; b->had_unit && r < SPE_REG_COUNT; r++)
        b->reg[r] = spe_spu_reg_get(sim->spu, (enum spe_register)r);
}

/* A new unit with the registers of before; the one that enables comes last. */
static bool restore(struct sim *sim, const struct block *b)
{
    sim_drop_unit(sim);
    sim->machine = b->machine;
    if (!b->had_unit)
        return true;
    if (!sim_need_unit(sim))
        return false;
    for (unsigned r = 0; r < SPE_REG_COUNT; r++)
        if (r != SPE_REG_PMBLIMITR_EL1)
            spe_spu_reg_set(sim->spu, (enum spe_register)r, b->reg[r]);
    spe_spu_reg_set(sim->spu, SPE_REG_PMBLIMITR_EL1, b->reg[SPE_REG_PMBLIMITR_EL1]);
    return true;
}

static bool run_body(struct sim *sim, const struct block *b, struct words *w)
{
    struct cursor cursor = b->body;
    int more;

    for (size_t i = 0; i < b->varies; i++)
        if (!sim_set_variable(sim, &b->vary[i].name, b->vary[i].value[b->vary[i].at]))
            return false;
    while ((more = sim_next_line(sim, &cursor, w)) > 0) {
        const char *verb = w->word[0].text;

        if (!strcmp(verb, "vary") || !strcmp(verb, "column") || !strcmp(verb, "end"))
            continue;
        if (!sim_statement(sim, w, &cursor))
            return false;
    }
    return more == 0;
}

static bool show_row(struct sim *sim, const struct block *b)
{
    char text[COLUMN_MAX][SIM_TOKEN_MAX];
    const char *cells[VARY_MAX + COLUMN_MAX];
    size_t n = 0;

    for (size_t i = 0; i < b->varies; i++)
        cells[n++] = b->vary[i].value[b->vary[i].at];
    for (size_t i = 0; i < b->columns; i++) {
        struct sim_value value;

        sim->line = b->column[i].line;
        if (!sim_ask(sim, &b->column[i].what, &value))
            return false;
        sim_format(&value, text[i], sizeof(text[i]));
        cells[n++] = text[i];
    }
    sim->listener.row(sim->listener.user, false, cells, n);
    return true;
}

static void show_head(struct sim *sim, const struct block *b)
{
    const char *cells[VARY_MAX + COLUMN_MAX];
    size_t n = 0;

    for (size_t i = 0; i < b->varies; i++)
        cells[n++] = b->vary[i].name.text;
    for (size_t i = 0; i < b->columns; i++)
        cells[n++] = b->column[i].name.text;
    sim->listener.row(sim->listener.user, true, cells, n);
}

/* The last list turns fastest. */
static bool next_combination(struct block *b)
{
    for (size_t i = b->varies; i-- > 0;) {
        if (++b->vary[i].at < b->vary[i].count)
            return true;
        b->vary[i].at = 0;
    }
    return false;
}

static bool countable(struct sim *sim, const struct block *b, unsigned column)
{
    uint64_t n = 1;

    for (size_t i = 0; i < b->varies; i++)
        n = n > COMBINATIONS_MAX ? n : n * b->vary[i].count;
    return n <= COMBINATIONS_MAX || sim_wrong(sim, column, "there are more than %llu combinations",
                                              (unsigned long long)COMBINATIONS_MAX);
}

static bool run_block(struct sim *sim, struct block *b, struct words *w)
{
    bool good = true;

    show_head(sim, b);
    do {
        good = sim_step(sim) && restore(sim, b) && run_body(sim, b, w) && show_row(sim, b);
    } while (good && next_combination(b));
    return good && restore(sim, b);
}

static void free_block(struct block *b)
{
    for (size_t i = 0; i < b->varies; i++) {
        for (size_t n = 0; n < b->vary[i].count; n++)
            free(b->vary[i].value[n]);
        free(b->vary[i].value);
    }
    free(b);
}

bool sim_enumerate(struct sim *sim, struct words *words, struct cursor *cursor)
{
    struct block *b = calloc(1, sizeof(*b));
    unsigned column = words->word[0].column;
    bool good;

    if (!b)
        return sim_wrong(sim, column, "there is no memory for the block");
    b->variables = sim->variables;
    good = read_block(sim, cursor, b, words) && countable(sim, b, column);
    if (good) {
        remember(sim, b);
        sim->quiet = true;
        good = run_block(sim, b, words);
        sim->quiet = false;
        sim->variables = b->variables;
    }
    free_block(b);
    return good;
}
