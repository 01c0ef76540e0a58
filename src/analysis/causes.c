/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What latency is spent on: see enum cause. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings.h"
#include "analysis/mix.h"

#define Z 1.959963984540054 /* 97.5 % of the normal distribution lie below it */

/* ---- rows ------------------------------------------------------------------------------------ */

static unsigned kind_of(unsigned number)
{
    enum mix_class class_ = mix_class_of(number);
    struct spe_op op;

    if (class_ > MIX_OTHER)
        return 0;
    spe_op_decode(number >> 8, (uint8_t)number, &op);
    return (class_ == MIX_LOAD     ? ROW_LOAD
            : class_ == MIX_STORE  ? ROW_STORE
            : class_ == MIX_BRANCH ? ROW_BRANCH
                                   : 0) |
           (op.kind == SPE_OP_EXTENDED && (op.at || op.excl) ? ROW_ATOMIC : 0) |
           (op.kind == SPE_OP_SVE || op.kind == SPE_OP_SVE_LDST ? ROW_SVE : 0);
}

static bool is_shared(const struct kept_row *row)
{
    return (row->level >= SPE_LEVEL_PEER_CORE && row->level <= SPE_LEVEL_REMOTE_CACHE) ||
           row->events & (SPE_EVENT_BIT(MODIFIED) | SPE_EVENT_BIT(SNOOPED));
}

static enum cause cause_of_load(const struct kept_row *row)
{
    switch ((unsigned)spe_served_by(row->level, row->events)) {
    case SPE_LEVEL_L2:
    case SPE_SERVED_L2_HIT:
        return CAUSE_L2;
    case SPE_LEVEL_L3:
    case SPE_SERVED_LLC_HIT:
        return CAUSE_L3;
    case SPE_LEVEL_DRAM:
    case SPE_LEVEL_REMOTE_DRAM:
    case SPE_SERVED_BEYOND_LLC:
        return CAUSE_DRAM;
    case SPE_SERVED_REMOTE:
    case SPE_SERVED_IN_FLIGHT:
    case SPE_SERVED_BEYOND_L2:
    case SPE_SERVED_BEYOND_L1:
        return CAUSE_BEYOND_L1;
    default:
        return CAUSE_BASE;
    }
}

/* Of its own time. */
static enum cause cause_of(const struct kept_row *row)
{
    if (row_is(row, ROW_BRANCH))
        return row->events & SPE_EVENT_BIT(MISPREDICTED) ? CAUSE_BRANCH : CAUSE_BASE;
    if (!row_is(row, ROW_MEMORY))
        return CAUSE_BASE;
    if (is_shared(row))
        return CAUSE_SHARED;
    if (row_is(row, ROW_ATOMIC))
        return CAUSE_ATOMIC;
    return row_is(row, ROW_STORE) ? CAUSE_STORE : cause_of_load(row);
}

static void classify(struct study *s)
{
    uint8_t kinds[OP_COUNT];
    unsigned op;
    size_t i;

    for (op = 0; op < OP_COUNT; op++)
        kinds[op] = (uint8_t)kind_of(op);
    for (i = 0; i < s->count; i++) {
        s->rows[i].is = kinds[s->rows[i].op];
        s->rows[i].cause = (uint8_t)cause_of(&s->rows[i]);
    }
}

/* No part of the latency is more than all of it: full counters are. */
double translation_cycles(const struct kept_row *row)
{
    return row->translation < row->total ? row->translation : row->total;
}

static double issue_cycles(const struct kept_row *row)
{
    double most = row->total - translation_cycles(row);

    return row->issue < most ? row->issue : most;
}

double wait_cycles(const struct kept_row *row)
{
    double issue = issue_cycles(row);

    return issue >= WAIT_LEAST ? issue : 0.0;
}

static bool is_full(const struct study *s, const struct kept_row *row)
{
    return s->saturated_at && row->total >= s->saturated_at;
}

double own_cycles(const struct study *s, const struct kept_row *row)
{
    if (is_full(s, row))
        return s->mean[row->cause];
    return row->total - issue_cycles(row) - translation_cycles(row);
}

double cost_of(const struct study *s, size_t i, enum cause cause)
{
    const struct kept_row *row = &s->rows[i];
    double wait = wait_cycles(row), own = row->total - wait - translation_cycles(row), cost;

    cost = wait * s->function[s->function_of[i]].weight[cause];
    if (cause == CAUSE_TLB)
        cost += translation_cycles(row);
    else if (cause == row->cause)
        cost += own;
    return cost;
}

/* ---- the study ------------------------------------------------------------------------------- */

/* Code without a symbol is a function for each map. */
static uint64_t function_key(const struct kept_row *row)
{
    return row->symbol != SPE_NO_SYMBOL ? row->symbol : UINT64_C(0xffff) << 48 | row->map;
}

static int find_functions(struct study *s)
{
    size_t i;

    s->function_of = calloc(s->count + 1, sizeof(*s->function_of));
    if (!s->function_of)
        return SPE_ERR_NOMEM;
    for (i = 0; i < s->count; i++) {
        s->function_of[i] =
            tally_add(&s->functions, function_key(&s->rows[i]), s->rows[i].total, i);
        if (s->functions.no_memory)
            return SPE_ERR_NOMEM;
        s->latency += s->rows[i].total;
    }
    s->function = calloc(s->functions.items.count + 1, sizeof(*s->function));
    return s->function ? SPE_OK : SPE_ERR_NOMEM;
}

/* Of rows whose counter is not full. If too few tell, all weigh as if they took as long as a full
 * counter shows: a mean of two of them, which may have met a line on its way, is not knowledge. */
static void find_means(struct study *s)
{
    struct mean means[CAUSE_COUNT] = {{0}};
    size_t i;

    for (i = 0; i < s->count; i++)
        mean_add(&means[s->rows[i].cause], s, &s->rows[i], own_cycles(s, &s->rows[i]));
    for (i = 0; i < CAUSE_COUNT; i++)
        s->mean[i] = means[i].samples >= LEAST_SHOWN ? mean_of(&means[i]) : s->saturated_at;
}

static void find_weights(struct study *s)
{
    size_t i;
    unsigned c;

    for (i = 0; i < s->count; i++) {
        const struct kept_row *row = &s->rows[i];
        double own = own_cycles(s, row), walk = translation_cycles(row);

        s->function[s->function_of[i]].weight[row->cause] += own * own;
        s->function[s->function_of[i]].weight[CAUSE_TLB] += walk * walk;
    }
    for (i = 0; i < s->functions.items.count; i++) {
        double sum = 0.0, *weight = s->function[i].weight;

        for (c = 0; c < CAUSE_COUNT; c++)
            sum += weight[c];
        for (c = 0; c < CAUSE_COUNT && sum > 0.0; c++)
            weight[c] /= sum;
        weight[CAUSE_BASE] = sum > 0.0 ? weight[CAUSE_BASE] : 1.0;
    }
}

int study_begin(struct study *s)
{
    if (find_functions(s) < 0) {
        study_end(s);
        return SPE_ERR_NOMEM;
    }
    classify(s);
    share_contended(s);
    find_means(s);
    find_weights(s);
    return SPE_OK;
}

void study_end(struct study *s)
{
    tally_free(&s->functions);
    free(s->function_of);
    free(s->function);
    s->function_of = NULL;
    s->function = NULL;
}

/* ---- shares ---------------------------------------------------------------------------------- */

void ratio_add(struct ratio *r, double amount, double latency)
{
    r->amount += amount;
    r->squares += amount * amount;
    r->products += amount * latency;
}

void ratio_finish(const struct ratio *r, const struct study *s, struct spe_finding *f)
{
    double latency_squares = 0.0, share, variance, reach;
    size_t i;

    for (i = 0; i < s->count; i++)
        latency_squares += (double)s->rows[i].total * s->rows[i].total;
    share = s->latency > 0.0 ? r->amount / s->latency : 0.0;
    variance = r->squares - 2.0 * share * r->products + share * share * latency_squares;
    reach = variance > 0.0 && s->latency > 0.0 ? Z * sqrt(variance) / s->latency : 0.0;
    f->basis = SPE_OF_LATENCY;
    f->share = share;
    f->interval.low = share > reach ? share - reach : 0.0;
    f->interval.high = share + reach < 1.0 ? share + reach : 1.0;
}

void count_finish(uint64_t hits, uint64_t of, enum spe_finding_basis basis, struct spe_finding *f)
{
    f->basis = (uint8_t)basis;
    f->share = of ? (double)hits / (double)of : 0.0;
    f->interval = spe_interval_of_share(hits, of);
    f->samples = hits;
}

void mean_add(struct mean *m, const struct study *s, const struct kept_row *row, double cycles)
{
    if (is_full(s, row))
        return;
    m->sum += cycles;
    m->samples++;
}

double mean_of(const struct mean *m)
{
    return m->samples >= LEAST_SHOWN ? m->sum / (double)m->samples : 0.0;
}

/* ---- places ---------------------------------------------------------------------------------- */

void place_row(const struct study *s, size_t i, struct spe_finding *f)
{
    const struct kept_row *row = &s->rows[i];

    f->pc = row->pc;
    f->symbol = row->symbol;
    f->map = row->map;
    f->line = s->profile && row->map != SPE_NO_ID
                  ? spe_profile_find_line(s->profile, row->map, row->pc)
                  : SPE_NO_ID;
}

void find_place(struct study *s, amount_of *in_function, amount_of *at_pc, int what,
                struct spe_finding *f)
{
    struct tally functions = {.seed = 0}, pcs = {.seed = 0};
    const struct tally_item *best, *pc;
    double all = 0.0;
    size_t i;

    for (i = 0; i < s->count; i++) {
        double amount = in_function(s, i, what);

        if (amount > 0.0)
            tally_add(&functions, s->function_of[i], amount, i);
        all += amount;
    }
    best = tally_best(&functions);
    for (i = 0; best && i < s->count; i++) {
        if (s->function_of[i] == best->key && at_pc(s, i, what) > 0.0)
            tally_add(&pcs, s->rows[i].pc, at_pc(s, i, what), i);
    }
    pc = tally_best(&pcs);
    if (best) {
        f->here = best->sum / all;
        place_row(s, pc ? pc->first : best->first, f);
    }
    s->no_memory |= functions.no_memory || pcs.no_memory;
    tally_free(&functions);
    tally_free(&pcs);
}
