/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A unit's state saved, and restored into a fresh unit: both go on alike, to the byte. */
#include <stdlib.h>

#include "support/random.h"
#include "support/spu_unit.h"

#define BUFFER UINT64_C(0x100000)
#define BUFFER_SIZE 4096

/* All that a host was told, one after the other, as a hash and as numbers. */
struct machine {
    struct spe_spu *spu;
    struct random random;
    uint64_t time, heard;
    unsigned edges, exceptions;
    uint8_t memory[BUFFER_SIZE];
    int flying[4];
    unsigned flights;
};

static void hear(struct machine *m, uint64_t word)
{
    m->heard = (m->heard ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

static void on_write(void *user, const struct spe_write *w, struct spe_write_result *result)
{
    struct machine *m = user;

    hear(m, w->address ^ (uint64_t)w->size << 32);
    if (w->address >= BUFFER + BUFFER_SIZE - 512) {
        result->fault = SPE_FAULT_TRANSLATION;
        result->level = 3;
        return;
    }
    memcpy(m->memory + (w->address - BUFFER), w->data, w->size);
    result->written = w->size;
}

static uint64_t on_time(void *user)
{
    return ++((struct machine *)user)->time;
}

static void on_interrupt(void *user, bool level)
{
    struct machine *m = user;

    m->edges++;
    hear(m, level);
}

static void on_exception(void *user, const struct spe_exception *e)
{
    struct machine *m = user;

    m->exceptions++;
    hear(m, e->syndrome ^ (uint64_t)e->masking << 40);
}

static void on_pmu(void *user, unsigned event, uint64_t count)
{
    hear(user, event * UINT64_C(1000003) + count);
}

static const char *const options[][2] = {
    {"features", "all"},         {"max_inflight_samples", "4"},  {"sample_pick", "3"},
    {"fault_late_samples", "2"}, {"part_choice", "round_robin"}, {"rng_seed", "99"},
    {"pbt_non_branch", "1"},     {"multi_access", "part"},
};

static void configure(struct spe_spu_config *config)
{
    char why[200] = "";

    assert_int_equal(spe_spu_config_init(config, NULL), SPE_OK);
    for (size_t i = 0; i < COUNT(options); i++)
        if (spe_spu_option_set(config, options[i][0], options[i][1], why, sizeof(why)) < 0)
            fail_msg("%s", why);
}

static void make(struct machine *m, const struct spe_spu_config *config)
{
    struct spe_spu_host host;
    char why[200] = "";

    memset(m, 0, sizeof(*m));
    m->random = (struct random){1};
    spe_spu_host_init(&host);
    host.user = m;
    host.write = on_write;
    host.physical_count = on_time;
    host.interrupt = on_interrupt;
    host.exception = on_exception;
    host.pmu_event = on_pmu;
    if (spe_spu_create(config, &host, &m->spu, why, sizeof(why)) != SPE_OK)
        fail_msg("%s", why);
}

static void start(struct machine *m)
{
    spe_spu_reg_set(m->spu, SPE_REG_PMSIRR_EL1, 1 << 8 | 1);
    spe_spu_reg_set(m->spu, SPE_REG_PMBPTR_EL1, BUFFER);
    spe_spu_reg_set(m->spu, SPE_REG_PMBLIMITR_EL1, (BUFFER + BUFFER_SIZE) | 1);
    spe_spu_reg_set(m->spu, SPE_REG_PMSCR_EL1, 1 << 5 | 1 << 3 | 1);
}

static void describe(struct machine *m, struct spe_operation *op, struct spe_memory_access *a)
{
    uint64_t word = random_next(&m->random);

    spe_operation_init(op, word & 1 ? SPE_OPERATION_LOAD : SPE_OPERATION_OTHER);
    op->pc = word >> 40 << 2;
    op->execute_cycles = (uint32_t)(word >> 4 & 0xff);
    if (word & 1) {
        a[0] = (struct spe_memory_access){.va = word >> 20, .bytes = 8, .pa = 1};
        a[1] = (struct spe_memory_access){.va = word >> 30, .bytes = 8, .pa = 2};
        op->accesses = a;
        op->access_count = 2;
    }
}

static void finish_one(struct machine *m)
{
    struct spe_memory_access accesses[2];
    struct spe_operation op;

    describe(m, &op, accesses);
    hear(m, (uint64_t)spe_spu_complete(m->spu, (unsigned)m->flying[0], &op));
    m->flights--;
    memmove(m->flying, m->flying + 1, m->flights * sizeof(m->flying[0]));
}

/* The kernel's answer to the interrupt: an empty buffer. */
static void empty(struct machine *m)
{
    hear(m, spe_spu_reg_get(m->spu, SPE_REG_PMBSR_EL1));
    spe_spu_reg_set(m->spu, SPE_REG_PMBPTR_EL1, BUFFER);
    spe_spu_reg_set(m->spu, SPE_REG_PMBSR_EL1, 0);
}

static void run(struct machine *m, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        uint64_t word = random_next(&m->random), n = spe_spu_budget(m->spu);
        int got;

        if (word % 7 == 0 && n != UINT64_MAX) /* stop in the middle now and then */
            n /= 2;
        spe_spu_advance(m->spu, n == UINT64_MAX ? 1000 : n);
        if (word % 5 == 0) {
            struct spe_taken_branch branch = {.target = word >> 30 << 2, .security = SPE_NONSECURE};

            spe_spu_branch(m->spu, &branch);
        }
        got = spe_spu_budget(m->spu) ? 0 : spe_spu_step(m->spu, 0);
        hear(m, (uint64_t)got);
        if (got > 0)
            m->flying[m->flights++] = got;
        if (m->flights == 4 || (m->flights && word % 3 == 0))
            finish_one(m);
        if (word % 11 == 0)
            spe_spu_context_sync(m->spu);
        if (spe_spu_interrupt(m->spu) && word % 32 == 0)
            empty(m);
    }
}

static size_t save(const struct spe_spu *spu, uint8_t **bytes)
{
    size_t size = spe_spu_save(spu, NULL, 0);

    *bytes = malloc(size);
    assert_non_null(*bytes);
    assert_int_equal(spe_spu_save(spu, *bytes, size), size);
    return size;
}

static void alike(const struct machine *a, const struct machine *b)
{
    uint8_t *first, *second;
    size_t size = save(a->spu, &first);

    assert_int_equal(save(b->spu, &second), size);
    assert_memory_equal(first, second, size);
    assert_int_equal(a->heard, b->heard);
    assert_int_equal(a->edges, b->edges);
    assert_memory_equal(a->memory, b->memory, sizeof(a->memory));
    free(first);
    free(second);
}

/* The other machine is the same but for its unit, which is fresh. */
static void take_over(struct machine *to, const struct machine *from,
                      const struct spe_spu_config *config)
{
    struct spe_spu *unit;
    uint8_t *bytes;
    size_t size = save(from->spu, &bytes);
    unsigned edges;
    char why[200] = "";

    make(to, config);
    edges = to->edges;
    if (spe_spu_restore(to->spu, bytes, size, why, sizeof(why)) != SPE_OK)
        fail_msg("%s", why);
    assert_int_equal(to->edges, edges); /* no callback */
    unit = to->spu;
    *to = *from; /* `user` is the machine itself, so the unit's host stays */
    to->spu = unit;
    free(bytes);
}

static void test_goes_on_alike(void **state)
{
    struct spe_spu_config config;
    struct machine *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
    bool raised = false, flying = false, records = false;

    (void)state;
    configure(&config);
    for (unsigned steps = 0; steps < 600; steps += 13) {
        struct spe_spu_stats stats;

        make(a, &config);
        start(a);
        run(a, steps);
        take_over(b, a, &config);
        alike(a, b);
        raised |= spe_spu_interrupt(a->spu);
        flying |= spe_spu_in_flight(a->spu) > 1;
        run(a, 400);
        run(b, 400);
        alike(a, b);
        spe_spu_stats(a->spu, &stats);
        records |= stats.records > 50;
        spe_spu_destroy(a->spu);
        spe_spu_destroy(b->spu);
    }
    assert_true(raised); /* else nothing was tried */
    assert_true(flying);
    assert_true(records);
    free(a);
    free(b);
}

static void test_refuses(void **state)
{
    struct spe_spu_config config;
    struct machine *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
    uint8_t *bytes, *before, *after;
    size_t size, same;
    char why[200] = "";

    (void)state;
    configure(&config);
    make(a, &config);
    start(a);
    run(a, 300);
    size = save(a->spu, &bytes);
    config.rng_seed++;
    make(b, &config);
    same = save(b->spu, &before);
    assert_int_equal(spe_spu_restore(b->spu, bytes, size, why, sizeof(why)), SPE_ERR_INVALID);
    assert_non_null(strstr(why, "configuration"));
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(spe_spu_restore(a->spu, bytes, cut, NULL, 0), SPE_ERR_FORMAT);
    bytes[8]++;
    assert_int_equal(spe_spu_restore(a->spu, bytes, size, why, sizeof(why)), SPE_ERR_FORMAT);
    assert_non_null(strstr(why, "version"));
    assert_int_equal(save(b->spu, &after), same);
    assert_memory_equal(before, after, same); /* untouched */
    free(before);
    free(after);
    free(bytes);
    spe_spu_destroy(a->spu);
    spe_spu_destroy(b->spu);
    free(a);
    free(b);
}

/* A wrong byte is found by the checksum. With a checksum that was made to fit, the state is refused
 * or is that of some unit, which runs. */
static void test_wrong_bytes(void **state)
{
    struct spe_spu_config config;
    struct machine *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
    uint8_t *bytes;
    size_t size, refused = 0;
    struct random seed = {5};

    (void)state;
    configure(&config);
    make(a, &config);
    start(a);
    run(a, 333);
    size = save(a->spu, &bytes);
    make(b, &config);
    for (size_t at = 0; at < size; at++) {
        uint8_t flip = (uint8_t)(1u << random_next(&seed) % 8), good[8];
        uint64_t sum;

        bytes[at] ^= flip;
        assert_int_not_equal(spe_spu_restore(b->spu, bytes, size, NULL, 0), SPE_OK);
        memcpy(good, bytes + size - 8, 8);
        sum = spu_save_checksum(bytes, size - 8);
        memcpy(bytes + size - 8, &sum, 8);
        b->flights = 0;
        if (spe_spu_restore(b->spu, bytes, size, NULL, 0) == SPE_OK) {
            assert_true(spe_spu_in_flight(b->spu) <= 4);
            spe_spu_reset(b->spu);
            run(b, 20);
        } else {
            refused++;
        }
        memcpy(bytes + size - 8, good, 8);
        bytes[at] ^= flip;
    }
    assert_true(refused > 20); /* head, flags, small numbers */
    spe_spu_destroy(a->spu);
    spe_spu_destroy(b->spu);
    free(bytes);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_on_alike),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_wrong_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
