/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.3: three ways to the same samples. One unit is given every operation, one is asked for its
 * budget, and a model follows the Arm ARM's pseudocode line by line. All see the same register
 * writes and state changes, drawn at random, over more than a million operations.
 */
#include "support/random.h"
#include "support/sampling_unit.h"

#define NO_ERND ALL ",-spe_ernd"
#define MEMBERS 400000 /* that count, for each of the implementations */

/* ---- The model: SPEStartSample(), SPEToCollectSample(), SPEResetSampleCounter() -------------- */

struct model {
    bool ernd, at_selection, next;
    bool enabled;
    uint64_t pmsirr;
    uint32_t count;
    uint8_t ecount;
    bool due;
    bool first; /* COUNT has been loaded by enabling; the pseudocode would do so at this member */
    struct random random;
};

static uint8_t model_byte(struct model *m)
{
    return (uint8_t)random_next(&m->random);
}

static void model_load(struct model *m)
{
    m->count = (uint32_t)m->pmsirr & 0xffffff00;
    if ((m->pmsirr & 1) && !m->ernd)
        m->count += model_byte(m);
}

static void model_enable(struct model *m, bool enabled)
{
    if (enabled && !m->enabled && m->count == 0 && m->ecount == 0) {
        model_load(m);
        m->first = m->count && !m->at_selection;
    }
    m->enabled = enabled;
}

static bool model_secondary(struct model *m)
{
    if (!m->ernd || !(m->pmsirr & 1) || m->ecount == 0)
        return false;
    m->ecount--;
    if (m->ecount == 0 && m->next)
        m->due = true;
    return m->ecount == 0 && !m->next;
}

static bool model_step(struct model *m)
{
    bool random = m->ernd && (m->pmsirr & 1), due = false;

    if (!m->enabled)
        return false;
    if (random) {
        due = m->due;
        m->due = false;
    }
    if (m->at_selection) { /* the other reading of D17.3.4.1: see D17.3-009 */
        if (m->count) {
            m->count--;
            return false;
        }
        model_load(m);
        return true;
    }
    if (m->first) {
        m->first = false;
    } else if (m->count == 0) {
        model_load(m);
    } else {
        m->count--;
        if (m->count == 0 && random) {
            m->ecount = model_byte(m);
            return m->ecount == 0 || due;
        }
        if (m->count == 0)
            return true;
    }
    return model_secondary(m) || due;
}

/* ---- Three at once -------------------------------------------------------------------------- */

struct trio {
    struct bench step, batch;
    struct model model;
    bool with_model;
    struct random choice;
    uint64_t points, samples, members;
    struct random random[2]; /* of the units, for rng_kind user */
};

static uint8_t trio_random(void *user)
{
    return (uint8_t)random_next(user);
}

static void open_unit(struct bench *b, struct random *random, const char *features,
                      const char *options)
{
    struct spe_spu_host host = {
        .size = sizeof(host),
        .user = random,
        .random_byte = trio_random,
    };
    char why[256] = "";

    memset(b, 0, sizeof(*b));
    bench_config(&b->config, features, options);
    if (spe_spu_create(&b->config, &host, &b->spu, why, sizeof(why)) != SPE_OK)
        fail_msg("%s", why);
    spe_spu_get_pe(b->spu, &b->pe);
    bench_set(b, SPE_REG_PMSFCR_EL1, 4); /* no record is long enough: there is no memory */
    bench_set(b, SPE_REG_PMSLATFR_EL1, 1000);
}

static void trio_set(struct trio *t, enum spe_register reg, uint64_t value)
{
    bench_set(&t->step, reg, value);
    bench_set(&t->batch, reg, value);
    model_enable(&t->model, spe_spu_status(t->step.spu)->enabled);
}

static void trio_el(struct trio *t, uint32_t el)
{
    t->step.pe.el = t->batch.pe.el = (uint8_t)el;
    bench_pe(&t->step);
    bench_pe(&t->batch);
    model_enable(&t->model, spe_spu_status(t->step.spu)->enabled);
}

static void trio_interval(struct trio *t)
{
    uint64_t pmsirr = (1 + random_below(&t->choice, 2)) << 8 | random_below(&t->choice, 2);

    t->model.pmsirr = pmsirr;
    trio_set(t, SPE_REG_PMSIRR_EL1, pmsirr);
}

static void trio_counters(struct trio *t)
{
    uint64_t value = random_below(&t->choice, 3) * random_below(&t->choice, 400);

    if (random_chance(&t->choice, 30))
        value |= (uint64_t)random_below(&t->choice, 256) << 56;
    t->model.count = (uint32_t)value;
    t->model.ecount = t->model.ernd ? (uint8_t)(value >> 56) : 0;
    t->model.due = false;
    t->model.first = false;
    trio_set(t, SPE_REG_PMSICR_EL1, value);
}

static void trio_change(struct trio *t)
{
    switch (random_below(&t->choice, 8)) {
    case 0:
        trio_interval(t);
        break;
    case 1:
        trio_counters(t);
        break;
    case 2:
    case 3:
        trio_set(t, SPE_REG_PMSCR_EL1,
                 random_chance(&t->choice, 70) ? 3 : random_below(&t->choice, 4));
        break;
    case 4:
        trio_set(t, SPE_REG_PMBLIMITR_EL1,
                 (BUFFER_BASE + BUFFER_SIZE) | random_chance(&t->choice, 80));
        break;
    default:
        trio_el(t, random_chance(&t->choice, 15) ? 2 : random_below(&t->choice, 2));
    }
    assert_int_equal(spe_spu_budget(t->step.spu), spe_spu_budget(t->batch.spu));
}

static void trio_finish(struct trio *t, int number)
{
    struct spe_operation op = operation(SPE_OPERATION_OTHER);

    spe_spu_complete(t->step.spu, (unsigned)number, &op);
    spe_spu_complete(t->batch.spu, (unsigned)number, &op);
}

/* The next `members` by step; positions of those at which something was sampled go to `found`. */
static unsigned run_steps(struct trio *t, unsigned members, int *found)
{
    unsigned hits = 0;

    for (unsigned i = 0; i < members; i++) {
        int number = spe_spu_step(t->step.spu, 0);
        bool point = model_step(&t->model);

        found[i] = number;
        hits += number != 0;
        t->points += point; /* a collision is one too, but has no number */
        if (t->with_model && number)
            assert_true(point);
    }
    return hits;
}

static void run_batch(struct trio *t, unsigned members, const int *found)
{
    unsigned i = 0;

    while (i < members) {
        uint64_t budget = spe_spu_budget(t->batch.spu);
        unsigned n = budget < members - i ? (unsigned)budget : members - i;

        if (n && random_chance(&t->choice, 20))
            n = random_below(&t->choice, n); /* less than it may be */
        for (unsigned k = 0; k < n; k++)
            assert_int_equal(found[i + k], 0);
        assert_int_equal(spe_spu_advance(t->batch.spu, n), SPE_OK);
        i += n;
        if (i < members) {
            assert_int_equal(spe_spu_step(t->batch.spu, 0), found[i]);
            i++;
        }
    }
}

static void compare(struct trio *t)
{
    struct spe_spu_stats a, b;
    uint64_t pmsicr = bench_get(&t->step, SPE_REG_PMSICR_EL1);

    spe_spu_stats(t->step.spu, &a);
    spe_spu_stats(t->batch.spu, &b);
    assert_int_equal(a.population, b.population);
    assert_int_equal(a.selected, b.selected);
    assert_int_equal(a.collisions, b.collisions);
    assert_int_equal(a.sampled, b.sampled);
    assert_int_equal(pmsicr, bench_get(&t->batch, SPE_REG_PMSICR_EL1));
    assert_int_equal(bench_get(&t->step, SPE_REG_PMBSR_EL1),
                     bench_get(&t->batch, SPE_REG_PMBSR_EL1));
    if (t->with_model) {
        assert_int_equal(a.selected, t->points);
        assert_int_equal(pmsicr, (uint64_t)t->model.ecount << 56 | t->model.count);
    }
}

static void run_piece(struct trio *t)
{
    static int found[1000];
    unsigned members = 1 + random_below(&t->choice, random_chance(&t->choice, 20) ? 1000 : 100);

    t->samples += run_steps(t, members, found);
    run_batch(t, members, found);
    compare(t);
    t->members += members;
    while (spe_spu_in_flight(t->step.spu) && random_chance(&t->choice, 80))
        for (int number = 1; number <= (int)t->step.config.max_inflight_samples; number++)
            trio_finish(t, number);
}

static void check_implementation(const char *features, const char *options, uint64_t seed)
{
    struct trio *t = calloc(1, sizeof(*t));
    struct spe_spu_stats stats;

    assert_non_null(t);
    t->choice.state = seed;
    t->random[0].state = t->random[1].state = t->model.random.state = ~seed;
    open_unit(&t->step, &t->random[0], features, options);
    open_unit(&t->batch, &t->random[1], features, options);
    t->with_model = t->step.config.sample_pick == 0 && t->step.config.rng_kind == SPE_RNG_USER;
    t->model.ernd = spe_has(t->step.config.features, SPE_FEAT_SPE_ERnd);
    t->model.at_selection = t->step.config.reload_point == SPE_RELOAD_AT_SELECTION;
    t->model.next = t->step.config.ecount_select == SPE_ECOUNT_NEXT;
    trio_interval(t);
    do {
        trio_change(t);
        run_piece(t);
        spe_spu_stats(t->step.spu, &stats);
    } while (stats.population < MEMBERS);
    assert_true(t->samples > 300); /* it was about something */
    assert_true(t->members > MEMBERS + MEMBERS / 10);
    assert_true(stats.collisions > 0);
    bench_close(&t->step);
    bench_close(&t->batch);
    free(t);
}

static void test_three_ways(void **state)
{
    static const char *const units[][2] = {
        {ALL, "rng_kind=user"},
        {ALL, "rng_kind=user ecount_select=next max_inflight_samples=2"},
        {NO_ERND, "rng_kind=user"},
        {NO_ERND, "rng_kind=user reload_point=at_selection"},
        {ALL, "rng_kind=lfsr sample_pick=40"},
        {NO_ERND, "rng_kind=xorshift sample_pick=3 reload_point=at_selection"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(units); i++)
        check_implementation(units[i][0], units[i][1], 20 + i);
}

/*
 * The pseudocode alone, which loads COUNT at the first member rather than when profiling becomes
 * enabled: the same samples, if the interval is only changed while profiling is disabled.
 */
static bool literal_step(struct model *m)
{
    if (m->count == 0) {
        model_load(m);
    } else {
        m->count--;
        if (m->count == 0) {
            if (!m->ernd || !(m->pmsirr & 1))
                return true;
            m->ecount = model_byte(m);
            return m->ecount == 0;
        }
    }
    return model_secondary(m);
}

static void check_literal(const char *features, uint64_t seed)
{
    struct model m = {.random = {~seed}};
    struct random choice = {seed}, random = {~seed};
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    unsigned samples = 0;
    struct bench b;

    open_unit(&b, &random, features, "rng_kind=user");
    m.ernd = spe_has(b.config.features, SPE_FEAT_SPE_ERnd);
    for (unsigned round = 0; round < 3000; round++) {
        bench_set(&b, SPE_REG_PMBLIMITR_EL1, BUFFER_BASE + BUFFER_SIZE);
        if (random_chance(&choice, 30)) {
            m.pmsirr = 0x100 | random_below(&choice, 2);
            bench_set(&b, SPE_REG_PMSIRR_EL1, m.pmsirr);
            m.count = m.ecount = 0;
            bench_set(&b, SPE_REG_PMSICR_EL1, 0);
        }
        bench_set(&b, SPE_REG_PMSCR_EL1, PMSCR_ON);
        bench_set(&b, SPE_REG_PMBLIMITR_EL1, (BUFFER_BASE + BUFFER_SIZE) | 1);
        for (unsigned i = random_below(&choice, 600); i > 0; i--) {
            int number = spe_spu_step(b.spu, 0);

            assert_int_equal(literal_step(&m), number != 0);
            samples += number != 0;
            if (number)
                spe_spu_sample(b.spu, &op);
        }
    }
    assert_true(samples > 1000);
    bench_close(&b);
}

static void test_pseudocode(void **state)
{
    (void)state;
    check_literal(ALL, 5);
    check_literal(NO_ERND, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_ways),
        cmocka_unit_test(test_pseudocode),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
