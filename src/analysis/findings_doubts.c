/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Rules about the data itself: is there enough of it, and is it what it seems to be? */
#include "analysis/findings.h"

bool find_few_samples(struct study *s, struct spe_finding *f)
{
    count_finish(s->count / 2, s->count, SPE_OF_SAMPLES, f); /* the widest interval of a share */
    f->samples = s->count;
    return s->count < LEAST_SAMPLES;
}

/* Not a single cycle is not a latency: the recorder did not know it. */
bool find_no_latency(struct study *s, struct spe_finding *f)
{
    uint64_t without = 0;
    size_t i;

    for (i = 0; i < s->count; i++)
        without += !s->rows[i].total;
    count_finish(without, s->count, SPE_OF_SAMPLES, f);
    return s->count && f->interval.low >= 0.5;
}

/* ---- what did not come ----------------------------------------------------------------------- */

/* Of the buffers' records with a flag. */
static bool find_buffers(const struct study *s, uint64_t flagged, struct spe_finding *f)
{
    uint64_t buffers = s->counts ? s->counts->file.records_by[SPE_PERF_AUX] : 0;

    count_finish(flagged < buffers ? flagged : buffers, buffers, SPE_OF_BUFFERS, f);
    return buffers && f->interval.low >= 0.05;
}

bool find_lost(struct study *s, struct spe_finding *f)
{
    return s->counts && find_buffers(s, s->counts->aux_truncated + s->counts->aux_partial, f);
}

bool find_collisions(struct study *s, struct spe_finding *f)
{
    return s->counts && find_buffers(s, s->counts->aux_collision, f);
}

bool find_damaged(struct study *s, struct spe_finding *f)
{
    const struct spe_account *a = s->counts ? &s->counts->account : NULL;

    if (!a || !a->bytes)
        return false;
    f->basis = SPE_OF_BYTES;
    f->samples = a->skipped_bytes;
    f->share = (double)a->skipped_bytes / (double)a->bytes;
    f->interval = (struct spe_interval){f->share, f->share}; /* they were counted */
    return f->share >= 0.01;
}

/* ---- how it was sampled ---------------------------------------------------------------------- */

static double share_of_best_pc(struct study *s, double *same, size_t *row)
{
    struct tally pcs = {.seed = 0};
    const struct tally_item *best;
    double share = 0.0;
    size_t i;

    for (i = 0; i < s->count; i++)
        tally_add(&pcs, s->rows[i].pc, 1.0, i);
    *same = 0.0;
    for (i = 0; i < pcs.items.count; i++) {
        double p = pcs.items.at[i].sum / (double)s->count;

        *same += p * p;
    }
    best = tally_best(&pcs);
    if (best) {
        share = spe_interval_of_share(best->count, s->count).low;
        *row = best->first;
    }
    s->no_memory |= pcs.no_memory;
    tally_free(&pcs);
    return share;
}

/* Samples that are always as many operations apart fall on the same instructions of a loop again
 * and again. Neighbours are then equal far more often than two samples of the recording are; or all
 * are one, although a loop has more instructions than that. */
bool find_resonance(struct study *s, struct spe_finding *f)
{
    double same, best;
    size_t row = 0;

    if (!s->info || !s->info->period || s->info->config & SPE_CONFIG_JITTER ||
        s->count < LEAST_SAMPLES)
        return false;
    best = share_of_best_pc(s, &same, &row);
    count_finish(s->repeats, s->pairs, SPE_OF_SAMPLES, f);
    if (!(f->interval.low > 0.5 && f->interval.low > 3.0 * same) && best < 0.9)
        return false;
    place_row(s, row, f);
    return true;
}

/* ---- what it does not say -------------------------------------------------------------------- */

bool find_no_threads(struct study *s, struct spe_finding *f)
{
    if (!s->counts || (s->info && s->info->raw))
        return false;
    count_finish(s->counts->by_nothing, s->counts->rows, SPE_OF_SAMPLES, f);
    return s->counts->rows && f->interval.low >= 0.05;
}

bool find_no_symbols(struct study *s, struct spe_finding *f)
{
    uint64_t unnamed = 0;
    size_t i, row = s->count;

    for (i = 0; i < s->count; i++) {
        if (s->rows[i].symbol == SPE_NO_SYMBOL) {
            unnamed++;
            row = row == s->count ? i : row;
        }
    }
    count_finish(unnamed, s->count, SPE_OF_SAMPLES, f);
    return f->interval.low >= 0.20;
}

/* Loads with a Data Source packet that no table explains. */
bool find_unknown_sources(struct study *s, struct spe_finding *f)
{
    uint64_t loads = 0, unknown = 0;
    size_t i;

    for (i = 0; i < s->count; i++) {
        const struct kept_row *row = &s->rows[i];

        if (!row_is(row, ROW_LOAD))
            continue;
        loads++;
        unknown += row->has & SPE_HAS_SOURCE && row->level == SPE_LEVEL_UNKNOWN;
    }
    count_finish(unknown, loads, SPE_OF_LOADS, f);
    return f->interval.low >= 0.10 && loads;
}

/* An operation issues before it completes (D17.6): one that waited longer for its issue than it
 * took altogether is a defect of the CPU or of the recording. */
bool find_contradictions(struct study *s, struct spe_finding *f)
{
    uint64_t wrong = 0;
    size_t i;

    for (i = 0; i < s->count; i++) {
        const struct kept_row *row = &s->rows[i];

        wrong += row->counters >> SPE_COUNTER_TOTAL & row->counters >> SPE_COUNTER_ISSUE & 1 &&
                 row->issue > row->total;
    }
    count_finish(wrong, s->count, SPE_OF_SAMPLES, f);
    return f->interval.low >= 0.01;
}
