/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.3: which operation is sampled. The two interval counters, the generator behind PMSIRR_EL1.RND
 * and collisions.
 *
 * Most members of the population only count. The unit therefore keeps a budget, the number of
 * members that can run without any of them being special, and until it is used up a member costs a
 * subtraction. What is special goes through member(), which is the pseudocode's
 * SPEToCollectSample().
 */
#include "spu_fast.h"

/* ---- Generators (D17.3.2) ------------------------------------------------------------------- */

#define LFSR_TAPS UINT64_C(0xd800000000000000) /* x^64 + x^63 + x^61 + x^60 + 1: full length */
#define ANY_STATE UINT64_C(0x9e3779b97f4a7c15)

/* Spreads a seed over all bits, so that a small one does not give a run of small numbers first. */
static uint64_t mix(uint64_t z)
{
    z += ANY_STATE;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Zero is the state in which both generators are stuck; software can write it (D17.3-013). */
static uint64_t useable(uint64_t state)
{
    return state ? state : ANY_STATE;
}

static uint64_t xorshift(struct spu_rng *rng)
{
    uint64_t x = useable(rng->state);

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    rng->state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

static uint8_t lfsr(struct spu_rng *rng)
{
    uint64_t x = useable(rng->state);
    unsigned byte = 0;

    for (unsigned i = 0; i < 8; i++) {
        byte = byte << 1 | (unsigned)(x & 1);
        x = x >> 1 ^ (x & 1 ? LFSR_TAPS : 0);
    }
    rng->state = x;
    return (uint8_t)byte;
}

uint8_t spu_random_byte(struct spe_spu *spu)
{
    switch (spu->config.rng_kind) {
    case SPE_RNG_USER:
        return spu->host.random_byte(spu->host.user);
    case SPE_RNG_LFSR:
        return lfsr(&spu->rng);
    default:
        return (uint8_t)(xorshift(&spu->rng) >> 56);
    }
}

uint64_t spu_choice_bits(struct spe_spu *spu)
{
    return xorshift(&spu->choice);
}

uint32_t spu_choose(struct spe_spu *spu, uint32_t n)
{
    uint64_t product;

    if (n < 2)
        return 0;
    /* The high half of a product is even but for a few low halves, which are drawn again. */
    do {
        product = (spu_choice_bits(spu) >> 32) * n;
    } while ((uint32_t)product < (UINT32_MAX - n + 1) % n);
    return (uint32_t)(product >> 32);
}

/* ---- Counters ------------------------------------------------------------------------------- */

static bool selects_at_zero(const struct spe_spu *spu)
{
    return spu->config.reload_point == SPE_RELOAD_AT_SELECTION;
}

/* Bring the counters up to date. The budget kept `ran` below whatever a counter can lose. */
void spu_sampling_settle(struct spu_sampling *s)
{
    uint64_t counted = s->ran;

    if (counted == 0)
        return;
    if (s->ecount_on && s->ecount)
        s->ecount -= (uint8_t)counted;
    if (s->skid)
        s->skid -= (uint8_t)counted;
    s->count -= (uint32_t)(counted - s->loaded);
    s->loaded = false;
    s->ran = 0;
}

static uint64_t budget_of(const struct spe_spu *spu)
{
    const struct spu_sampling *s = &spu->sampling;
    uint64_t members;

    if (!s->enabled)
        return UINT64_MAX;
    if (s->count == 0 || (s->ecount_on && s->ecount_due))
        return 0;
    members = selects_at_zero(spu) ? s->count : (uint64_t)s->count - 1 + s->loaded;
    if (s->ecount_on && s->ecount && members > s->ecount - 1u)
        members = s->ecount - 1u;
    if (s->skid && members > s->skid - 1u)
        members = s->skid - 1u;
    return members;
}

/* SPEResetSampleCounter(): with FEAT_SPE_ERnd the primary counter has no random part. */
static void reload(struct spe_spu *spu)
{
    uint64_t pmsirr = spu->reg[SPE_REG_PMSIRR_EL1];

    spu->sampling.count = (uint32_t)(pmsirr & 0xffffff00);
    if ((pmsirr & 1) && !spu_has(spu, SPE_FEAT_SPE_ERnd))
        spu->sampling.count |= spu_random_byte(spu);
}

void spu_sampling_reset(struct spe_spu *spu)
{
    spu->sampling = (struct spu_sampling){.budget = UINT64_MAX};
    spu->rng.kind = spu->config.rng_kind;
    spu->rng.state = useable(mix(spu->config.rng_seed));
    spu->choice.kind = SPE_RNG_XORSHIFT;
    spu->choice.state = useable(mix(~spu->config.rng_seed));
}

void spu_sampling_update(struct spe_spu *spu)
{
    struct spu_sampling *s = &spu->sampling;
    const struct spe_spu_status *status = &spu->status;
    bool enabled = status->enabled;

    spu_sampling_settle(s); /* by the controls that the members ran under */
    s->ecount_on = spu_has(spu, SPE_FEAT_SPE_ERnd) && spu_bit(spu->reg[SPE_REG_PMSIRR_EL1], 0);
    /* D17.3.3: the test is on the whole register. */
    if (enabled && !s->enabled && s->count == 0 && s->ecount == 0) {
        reload(spu);
        s->loaded = s->count != 0 && !selects_at_zero(spu);
    }
    s->enabled = enabled;
    s->budget = budget_of(spu);
}

uint64_t spu_sampling_get(const struct spe_spu *spu)
{
    struct spu_sampling now = spu->sampling;

    spu_sampling_settle(&now);
    return (uint64_t)now.ecount << 56 | now.count;
}

/* Software starts again: nothing waits from before. */
void spu_sampling_set(struct spe_spu *spu, uint64_t pmsicr)
{
    struct spu_sampling *s = &spu->sampling;

    spu_sampling_settle(s);
    s->count = (uint32_t)pmsicr;
    s->ecount = spu_has(spu, SPE_FEAT_SPE_ERnd) ? (uint8_t)(pmsicr >> 56) : 0;
    s->ecount_due = false;
    s->loaded = false;
    s->skid = 0;
    s->budget = budget_of(spu);
}

/* ---- Selection (D17.3.4) -------------------------------------------------------------------- */

/* A member while the secondary counter runs. U02: which member is meant when it reaches zero. */
static bool count_secondary(struct spe_spu *spu)
{
    struct spu_sampling *s = &spu->sampling;

    if (!s->ecount_on || s->ecount == 0 || --s->ecount)
        return false;
    s->ecount_due = spu->config.ecount_select == SPE_ECOUNT_NEXT;
    return !s->ecount_due;
}

/* The member takes the primary counter to zero. */
static bool primary_zero(struct spe_spu *spu)
{
    struct spu_sampling *s = &spu->sampling;

    if (!s->ecount_on)
        return true;
    s->ecount = spu_random_byte(spu);
    return s->ecount == 0;
}

/* SPEToCollectSample(): one member runs; is it at the sampling point? */
static bool member(struct spe_spu *spu)
{
    struct spu_sampling *s = &spu->sampling;
    bool due = s->ecount_on && s->ecount_due;

    if (due)
        s->ecount_due = false;
    if (s->loaded) {
        s->loaded = false;
    } else if (s->count == 0) {
        reload(spu);
        if (selects_at_zero(spu))
            return true;
    } else if (--s->count == 0 && !selects_at_zero(spu)) {
        return primary_zero(spu) || due;
    }
    return count_secondary(spu) || due;
}

/* sample_pick: the member that is taken may be a later one. One that still waits when the next
 * sampling point comes is taken there, so that none is lost. */
static bool taken_here(struct spe_spu *spu, bool point)
{
    struct spu_sampling *s = &spu->sampling;
    bool take = s->skid && (--s->skid == 0 || point);
    uint32_t skid;

    if (!point)
        return take;
    skid = spu_choose(spu, spu->config.sample_pick + 1u);
    if (skid == 0 && take)
        skid = 1; /* a member is taken once */
    s->skid = (uint8_t)skid;
    return take || skid == 0;
}

static unsigned free_slot(const struct spe_spu *spu)
{
    unsigned slot = 0;

    while (spu->flight[slot].busy)
        slot++;
    return slot;
}

/* D17.8-009: the last of the samples that were still to come after a fault has been taken. */
static void count_late(struct spe_spu *spu)
{
    if (spu->late.left == 1)
        spu_event_late_end(spu);
    else if (spu->late.left)
        spu->late.left--;
}

static int take(struct spe_spu *spu)
{
    struct spu_flight *flight;
    unsigned slot;

    spu->stats.selected++;
    if (spu->in_flight == spu->config.max_inflight_samples) { /* IDBJXM */
        spu->stats.collisions++;
        spu_event_collision(spu);
        return 0;
    }
    slot = free_slot(spu);
    flight = &spu->flight[slot];
    spu_flight_begin(spu, flight);
    flight->busy = true;
    flight->order = spu->next_order++;
    spu->in_flight++;
    spu->stats.sampled++;
    count_late(spu);
    if (spu->config.wfx_sample_wakes && spu->host.wake)
        spu->host.wake(spu->host.user);
    return (int)slot + 1;
}

/* ---- Entry points --------------------------------------------------------------------------- */

bool spe_spu_in_population(const struct spe_spu *spu, unsigned population)
{
    return !(population & spu->excluded_population);
}

uint64_t spe_spu_budget(const struct spe_spu *spu)
{
    return spu_budget(spu);
}

int spe_spu_advance(struct spe_spu *spu, uint64_t operations)
{
    if (operations > spu->sampling.budget)
        return SPE_ERR_RANGE;
    spu_run(spu, operations);
    return SPE_OK;
}

int spe_spu_step(struct spe_spu *spu, unsigned population)
{
    bool point, here;

    if (!spe_spu_in_population(spu, population))
        return 0;
    if (spu->sampling.budget) {
        spu_run(spu, 1);
        return 0;
    }
    spu_sampling_settle(&spu->sampling);
    spu->stats.population++;
    spu_pmu(spu, SPE_PMU_SAMPLE_POP, 1);
    point = member(spu);
    here = taken_here(spu, point);
    spu->sampling.budget = budget_of(spu);
    return here ? take(spu) : 0;
}
