/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The generator: valid records, the asked-for mix and time, and the same ones every time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/format.h>
#include <specimen/gen.h>

#include "gen/state.h"

#define DIGEST_PLAIN UINT64_C(0xc65b1b53c49428b2)
#define DIGEST_N1 UINT64_C(0x7b0c0e2eefb4c326)
#define DIGEST_ALL UINT64_C(0x2824f719508f036e)

static struct spe_gen gen;

static void start(const struct spe_gen_config *config)
{
    char why[200] = "";

    if (spe_gen_init(&gen, config, why, sizeof(why)) < 0)
        fail_msg("%s", why);
}

/* FNV-1a over the bytes of `n` records in the order of the architecture. */
static uint64_t digest(const struct spe_gen_config *config, unsigned n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    start(config);
    for (unsigned i = 0; i < n; i++) {
        uint8_t bytes[SPE_RECORD_MAX];
        struct spe_record r;
        int size;

        spe_gen_next(&gen, &r);
        size = spe_record_encode(&r, spe_layout_by_name("architecture"), bytes, sizeof(bytes));
        assert_true(size > 0);
        for (int at = 0; at < size; at++)
            hash = (hash ^ bytes[at]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Benchmarks and tests elsewhere compare runs: the same configuration is the same stream, on every
 * machine and in every version. Change these numbers only with the generator. */
static void same_stream_every_time(void **state)
{
    struct spe_gen_config plain, n1, all;

    (void)state;
    spe_gen_config_init(&plain);
    n1 = all = plain;
    n1.cpu = spe_cpu_by_name("neoverse-n1");
    n1.features = n1.cpu->features;
    n1.seed = 7;
    all.features = SPE_FEATURES_ALL;
    all.count_bits = 16;
    all.context2 = all.speculative = true;
    assert_int_equal(digest(&plain, 200000), DIGEST_PLAIN);
    assert_int_equal(digest(&n1, 200000), DIGEST_N1);
    assert_int_equal(digest(&all, 200000), DIGEST_ALL);
    assert_int_equal(digest(&plain, 200000), DIGEST_PLAIN);
}

static void count_violation(void *user, const struct spe_violation *violation)
{
    print_message("%s: %s\n", violation->rule->name, violation->detail);
    ++*(unsigned *)user;
}

static void records_are_valid(void **state)
{
    static const char *const lists[] = {"v1p0", "v1p1,sve", "v1p2,sve,sme,spe_sme,mte2", "v1p4,lds",
                                        "all"};

    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct spe_gen_config config;
        struct spe_check_config check = {.size = sizeof(check), .count_bits = 12, .tbi = true};
        unsigned violations = 0;
        char why[200];

        spe_gen_config_init(&config);
        config.features = SPE_FEAT(Secure);
        assert_int_equal(spe_features_parse(lists[i], &config.features, why, sizeof(why)), SPE_OK);
        check.features = config.features;
        start(&config);
        for (unsigned n = 0; n < 20000; n++) {
            uint8_t bytes[SPE_RECORD_MAX];
            struct spe_record r;
            int size;

            spe_gen_next(&gen, &r);
            size = spe_record_encode(&r, spe_layout_by_name("architecture"), bytes, sizeof(bytes));
            spe_check_record(&check, bytes, (size_t)size, 0, count_violation, &violations);
        }
        assert_int_equal(violations, 0);
    }
}

static void mix_and_time(void **state)
{
    struct spe_gen_config config;
    unsigned seen[SPE_GEN_CLASSES] = {0};
    uint64_t last = 0, first = 0;
    enum { RECORDS = 40000 };

    (void)state;
    spe_gen_config_init(&config);
    config.mix[SPE_GEN_LOAD] = 1;
    config.mix[SPE_GEN_STORE] = 2;
    config.mix[SPE_GEN_BRANCH] = 3;
    config.mix[SPE_GEN_OTHER] = 4;
    config.period = 500;
    config.first_timestamp = 12345;
    start(&config);
    for (unsigned i = 0; i < RECORDS; i++) {
        struct spe_record r;
        struct spe_op op;

        spe_gen_next(&gen, &r);
        spe_op_decode(r.op_class, r.op, &op);
        seen[op.class_ == SPE_CLASS_BRANCH  ? SPE_GEN_BRANCH
             : op.class_ == SPE_CLASS_OTHER ? SPE_GEN_OTHER
             : op.store                     ? SPE_GEN_STORE
                                            : SPE_GEN_LOAD]++;
        assert_true(r.has & SPE_HAS_TIMESTAMP);
        assert_true(r.timestamp >= config.first_timestamp && r.timestamp > last);
        last = r.timestamp;
        if (!i)
            first = last;
    }
    /* Six standard deviations of a binomial of n = 40000 are under 600 for every share here. */
    for (unsigned i = 0; i < SPE_GEN_CLASSES; i++)
        assert_in_range(seen[i], RECORDS / 10 * (i + 1) - 600, RECORDS / 10 * (i + 1) + 600);
    assert_in_range((last - first) / (RECORDS - 1), 490, 510);
}

/* What is switched off is not there; what the layout has no place for neither. */
static void contents(void **state)
{
    struct spe_gen_config config;

    (void)state;
    spe_gen_config_init(&config);
    config.timestamps = config.physical = config.context1 = false;
    config.context2 = true;
    config.features |= SPE_FEAT(EL2);
    start(&config);
    for (unsigned i = 0; i < 2000; i++) {
        struct spe_record r;

        spe_gen_next(&gen, &r);
        assert_int_equal(r.has & (SPE_HAS_TIMESTAMP | SPE_HAS_CONTEXT1 | SPE_HAS_CONTEXT2),
                         SPE_HAS_CONTEXT2);
        assert_false(spe_record_has_address(&r, SPE_ADDRESS_PA));
    }
    spe_gen_config_init(&config);
    config.features = SPE_FEATURES_ALL;
    config.layout = spe_layout_by_name("neoverse-n1");
    start(&config);
    for (unsigned i = 0; i < 5000; i++) {
        uint8_t bytes[64];
        struct spe_record r;

        spe_gen_next(&gen, &r);
        assert_int_equal(spe_record_encode(&r, config.layout, bytes, sizeof(bytes)), 64);
    }
}

static void bad_configurations_are_refused(void **state)
{
    struct spe_gen_config good, bad;
    char why[200];

    (void)state;
    spe_gen_config_init(&good);
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        bad = good;                                                                                \
        change;                                                                                    \
        why[0] = '\0';                                                                             \
        assert_int_equal(spe_gen_init(&gen, &bad, why, sizeof(why)), SPE_ERR_INVALID);             \
        assert_true(strlen(why) > 10);                                                             \
    } while (0)
    REFUSED(memset(bad.mix, 0, sizeof(bad.mix)));
    REFUSED(bad.count_bits = 13);
    REFUSED(bad.context2 = true); /* without EL2 there is no CONTEXTIDR_EL2 */
    REFUSED(bad.period = 0);
    REFUSED(bad.period = (1u << 30) + 1);
    bad = good;
    bad.period = 1u << 30;
    assert_int_equal(spe_gen_init(&gen, &bad, why, sizeof(why)), SPE_OK);
    bad.period = 1;
    assert_int_equal(spe_gen_init(&gen, &bad, why, sizeof(why)), SPE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_stream_every_time),
        cmocka_unit_test(records_are_valid),
        cmocka_unit_test(mix_and_time),
        cmocka_unit_test(contents),
        cmocka_unit_test(bad_configurations_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
