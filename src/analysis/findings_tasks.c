/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Rules about one thread, or one stretch of time, that has most of the latency. */
#include "analysis/findings.h"

/* ---- one thread ------------------------------------------------------------------------------ */

#define ACTIVE 0.02       /* of the samples: a thread that counts as one */
#define TIMES_FAIR 2.0    /* its share, against equal ones */
#define THREAD_LEAST 0.50 /* of all latency */

static double of_thread(const struct study *s, size_t i, int thread)
{
    return s->rows[i].thread == (uint32_t)thread ? s->rows[i].total : 0.0;
}

static size_t count_active(const struct study *s, const struct tally *threads)
{
    size_t n = 0, i;

    for (i = 0; i < threads->items.count; i++)
        n += (double)threads->items.at[i].count >= ACTIVE * (double)s->count;
    return n;
}

static void measure_thread(struct study *s, const struct tally_item *best, struct spe_finding *f)
{
    struct ratio ratio = {0};
    size_t i;

    f->thread = (uint32_t)best->key;
    for (i = 0; i < s->count; i++)
        ratio_add(&ratio, of_thread(s, i, (int)f->thread), s->rows[i].total);
    ratio_finish(&ratio, s, f);
    f->samples = best->count;
    f->cycles = best->sum / (double)best->count;
    f->others =
        s->count > best->count ? (s->latency - best->sum) / (double)(s->count - best->count) : 0.0;
}

bool find_one_thread(struct study *s, struct spe_finding *f)
{
    struct tally threads = {.seed = 0};
    const struct tally_item *best;
    bool found = false;
    size_t i, active;

    for (i = 0; i < s->count; i++)
        tally_add(&threads, s->rows[i].thread, s->rows[i].total, i);
    best = tally_best(&threads);
    active = count_active(s, &threads);
    if (best && active >= 2 && best->key != SPE_NO_ID) {
        double fair = TIMES_FAIR / (double)active;

        measure_thread(s, best, f);
        fair = fair < 0.9 ? fair : 0.9; /* of two threads, nine tenths are most of it */
        found = f->interval.low >= (fair > THREAD_LEAST ? fair : THREAD_LEAST);
    }
    if (found)
        find_place(s, of_thread, of_thread, (int)f->thread, f);
    s->no_memory |= threads.no_memory;
    tally_free(&threads);
    return found;
}

/* ---- one phase ------------------------------------------------------------------------------- */

#define BINS 64
#define PHASE_LEAST 0.40  /* of all latency */
#define PHASE_SAMPLES 0.5 /* of the function's samples: it is at most this part of the run */
#define TIMES_SLOWER 4.0  /* than the same function at other times */

struct bin {
    double latency;
    uint64_t samples, slow; /* slow: above the function's mean */
};

/* The function that has the most latency, over time: the same code at all times. */
struct phase {
    uint32_t function;
    uint64_t from_ns, to_ns; /* of its samples */
    struct bin bins[BINS], all, inside;
    size_t first, last; /* bins of the phase */
};

static bool is_in_function(const struct study *s, const struct phase *p, size_t i)
{
    return s->function_of[i] == p->function && s->rows[i].time_ns;
}

static size_t bin_of(const struct phase *p, uint64_t time_ns)
{
    double part = (double)(time_ns - p->from_ns) / (double)(p->to_ns - p->from_ns + 1);

    return (size_t)(part * BINS);
}

static void add_bin(struct bin *to, const struct bin *from)
{
    to->latency += from->latency;
    to->samples += from->samples;
    to->slow += from->slow;
}

static void fill_bins(const struct study *s, struct phase *p)
{
    double mean;
    size_t i;

    p->from_ns = UINT64_MAX;
    for (i = 0; i < s->count; i++) {
        const struct kept_row *row = &s->rows[i];

        if (!is_in_function(s, p, i))
            continue;
        p->from_ns = row->time_ns < p->from_ns ? row->time_ns : p->from_ns;
        p->to_ns = row->time_ns > p->to_ns ? row->time_ns : p->to_ns;
        add_bin(&p->all, &(struct bin){.latency = row->total, .samples = 1});
    }
    mean = p->all.samples ? p->all.latency / (double)p->all.samples : 0.0;
    for (i = 0; i < s->count; i++) {
        const struct kept_row *row = &s->rows[i];
        struct bin one = {.latency = row->total, .samples = 1, .slow = row->total > mean};

        if (is_in_function(s, p, i))
            add_bin(&p->bins[bin_of(p, row->time_ns)], &one);
    }
}

/* The stretch whose share of the latency exceeds its share of the samples by most. */
static void find_stretch(struct phase *p)
{
    double best = 0.0, sum = 0.0;
    size_t start = 0, i;

    for (i = 0; i < BINS; i++) {
        sum += p->bins[i].latency / p->all.latency -
               (double)p->bins[i].samples / (double)p->all.samples;
        if (sum > best) {
            best = sum;
            p->first = start;
            p->last = i;
        }
        if (sum < 0.0) {
            sum = 0.0;
            start = i + 1;
        }
    }
    for (i = p->first; i <= p->last; i++)
        add_bin(&p->inside, &p->bins[i]);
    p->all.slow = 0;
    for (i = 0; i < BINS; i++)
        p->all.slow += p->bins[i].slow;
}

/* The choice of the stretch favours what is there by chance: its slow samples have to be more than
 * twice as frequent, at the far ends of both intervals. */
static bool stands_out(const struct phase *p, struct spe_finding *f)
{
    uint64_t rest = p->all.samples - p->inside.samples;
    struct spe_interval inside, outside;

    if (p->inside.samples < LEAST_SHOWN || rest < LEAST_SHOWN ||
        (double)p->inside.samples > PHASE_SAMPLES * (double)p->all.samples)
        return false;
    inside = spe_interval_of_share(p->inside.slow, p->inside.samples);
    outside = spe_interval_of_share(p->all.slow - p->inside.slow, rest);
    f->cycles = p->inside.latency / (double)p->inside.samples;
    f->others = (p->all.latency - p->inside.latency) / (double)rest;
    return f->cycles >= TIMES_SLOWER * f->others && inside.low > 2.0 * outside.high;
}

static uint64_t bin_start(const struct phase *p, size_t bin)
{
    return p->from_ns + (uint64_t)((double)bin / BINS * (double)(p->to_ns - p->from_ns + 1));
}

static void measure_phase(struct study *s, const struct phase *p, struct spe_finding *f)
{
    struct ratio ratio = {0};
    struct tally pcs = {.seed = 0};
    size_t i;

    for (i = 0; i < s->count; i++) {
        bool in = is_in_function(s, p, i) && bin_of(p, s->rows[i].time_ns) >= p->first &&
                  bin_of(p, s->rows[i].time_ns) <= p->last;

        ratio_add(&ratio, in ? s->rows[i].total : 0.0, s->rows[i].total);
        if (in)
            tally_add(&pcs, s->rows[i].pc, s->rows[i].total, i);
    }
    ratio_finish(&ratio, s, f);
    f->samples = p->inside.samples;
    f->from_ns = bin_start(p, p->first);
    f->to_ns = bin_start(p, p->last + 1);
    f->here = 1.0;
    if (tally_best(&pcs))
        place_row(s, tally_best(&pcs)->first, f);
    s->no_memory |= pcs.no_memory;
    tally_free(&pcs);
}

bool find_one_phase(struct study *s, struct spe_finding *f)
{
    const struct tally_item *best = tally_best(&s->functions);
    struct phase p = {.function = 0};
    struct spe_finding thread = *f;

    if (!best || find_one_thread(s, &thread)) /* a slow thread alone is slow when it is alone */
        return false;
    p.function = (uint32_t)(best - s->functions.items.at);
    fill_bins(s, &p);
    if (p.all.latency <= 0.0 || p.to_ns <= p.from_ns)
        return false;
    find_stretch(&p);
    if (!stands_out(&p, f))
        return false;
    measure_phase(s, &p, f);
    return f->interval.low >= PHASE_LEAST;
}
