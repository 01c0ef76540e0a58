/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What follows from a configuration: which events its records may have (D18.2.6), which of them can
 * be filtered on (PMSEVFR_EL1), and the layout that the unit encodes with. Every combination of the
 * features and options that decide, against one line per event.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/format.h>

#include "spu/spu_internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(n) (UINT64_C(1) << (n))

/* Features that decide, and the options in the order of `struct switches`. */
static const spe_features deciding[] = {
    SPE_FEAT(SPEv1p1), SPE_FEAT(SPEv1p2) | SPE_FEAT(SPE_FnE),
    SPE_FEAT(SPEv1p4), SPE_FEAT(SVE),
    SPE_FEAT(SME),     SPE_FEAT(SPE_SME),
};

struct switches {
    bool v1p1, fne, v1p4, sve, sme, spe_sme;
    bool predict, llc, remote, align, l2, modified, recent, snoop, smcu, speculative;
};

static void make(unsigned features, unsigned options, struct spe_spu_config *c, struct switches *s)
{
    uint8_t *const fields[] = {
        &c->branch_prediction, &c->ev_llc,    &c->ev_remote, &c->ev_align, &c->ev_l2,
        &c->ev_modified,       &c->ev_recent, &c->ev_snoop,  &c->ev_smcu,  &c->spec_sampling};
    bool *const told = &s->v1p1;

    memset(c, 0, sizeof(*c));
    c->features = SPE_FEAT(SPE);
    for (unsigned i = 0; i < COUNT(deciding); i++) {
        told[i] = features >> i & 1;
        c->features |= told[i] ? deciding[i] : 0;
    }
    for (unsigned i = 0; i < COUNT(fields); i++) {
        told[COUNT(deciding) + i] = options >> i & 1;
        *fields[i] = (uint8_t)(options >> i & 1);
    }
}

/* D18.2.6, one line per event; IMPLEMENTATION DEFINED ones apart. */
static bool is_implemented(unsigned event, const struct switches *s)
{
    switch (event) {
    case 0: /* generated an exception */
    case 1: /* retired */
    case 2: /* L1 data access */
    case 3: /* L1 data refill or miss */
    case 4: /* TLB access */
    case 5: /* TLB walk */
    case 6: /* not taken */
        return true;
    case 7:
        return s->predict;
    case 8:
    case 9:
        return s->llc;
    case 10:
        return s->remote;
    case 11:
        return s->align && s->v1p1;
    case 17:
    case 18:
        return s->v1p1 && (s->sve || s->sme);
    case 19:
    case 20:
        return s->l2 && s->v1p4;
    case 21:
        return s->modified && s->v1p4;
    case 22:
        return s->recent && s->v1p4;
    case 23:
        return s->snoop && s->v1p4;
    case 24:
        return s->spe_sme;
    case 25:
        return s->spe_sme && s->smcu;
    default:
        return false;
    }
}

enum may { NEVER, ALWAYS, CHOICE };

/* PMSEVFR_EL1: bits of an architected event that is implemented. */
static enum may may_filter(unsigned event, const struct switches *s)
{
    switch (event) {
    case 0:
        return NEVER;
    case 1:
        return s->speculative ? ALWAYS : NEVER;
    case 6:
        return s->fne ? ALWAYS : NEVER;
    case 2:
    case 4:
    case 8:
    case 9:
    case 10:
        return s->v1p4 ? ALWAYS : CHOICE;
    default:
        return ALWAYS;
    }
}

#define FEATURE_SETS (1u << 6)
#define OPTION_SETS (1u << 10)

static void events_follow_features_and_options(void **state)
{
    struct spe_spu_config config;
    struct switches switches;

    (void)state;
    for (unsigned f = 0; f < FEATURE_SETS; f++)
        for (unsigned o = 0; o < OPTION_SETS; o++) {
            uint64_t expected = 0;

            make(f, o, &config, &switches);
            for (unsigned event = 0; event < 64; event++)
                expected |= is_implemented(event, &switches) ? BIT(event) : 0;
            assert_int_equal(spu_config_events(&config), expected);
        }
}

static void filters_follow_features_and_options(void **state)
{
    struct spe_spu_config config;
    struct switches switches;

    (void)state;
    for (unsigned f = 0; f < FEATURE_SETS; f++)
        for (unsigned o = 0; o < OPTION_SETS; o++) {
            uint64_t always = 0, choice = 0;

            make(f, o, &config, &switches);
            for (unsigned event = 0; event < 64; event++) {
                enum may may = may_filter(event, &switches);

                /* E[7] can be filtered on though it is never set (no branch prediction). */
                if (!is_implemented(event, &switches) && event != 7)
                    continue;
                always |= may == ALWAYS ? BIT(event) : 0;
                choice |= may == CHOICE ? BIT(event) : 0;
            }
            assert_int_equal(spu_config_filterable(&config), always);
            config.filter_events = UINT64_MAX;
            assert_int_equal(spu_config_filterable(&config), always | choice);
            config.filter_events = BIT(2) | BIT(8) | BIT(12) | BIT(24);
            assert_int_equal(spu_config_filterable(&config), always | (choice & (BIT(2) | BIT(8))));
        }
}

/* Events 12 to 15, 48 to 63, before FEAT_SPEv1p4 also 24 to 31. */
static void implementation_defined_events(void **state)
{
    static const uint64_t bits = UINT64_C(0xffff0000ff00f000);
    struct spe_spu_config config;
    struct switches switches;
    uint64_t plain;

    (void)state;
    make(0, 0, &config, &switches);
    plain = spu_config_events(&config);
    for (unsigned event = 0; event < 64; event++) {
        uint64_t filters;

        if (!(bits >> event & 1))
            continue;
        config.impdef_events = BIT(event);
        config.filter_events = 0;
        assert_int_equal(spu_config_events(&config), plain | BIT(event));
        filters = spu_config_filterable(&config);
        assert_false(filters >> event & 1);
        config.filter_events = BIT(event);
        assert_int_equal(spu_config_filterable(&config), filters | BIT(event));
        config.impdef_events = 0; /* what is not there cannot be filtered on */
        assert_int_equal(spu_config_filterable(&config), filters);
    }
}

static void the_layout_takes_the_sizes_of_the_configuration(void **state)
{
    struct spe_spu_config config;
    struct spe_layout layout;

    (void)state;
    assert_int_equal(spe_spu_config_init(&config, "neoverse-n1"), SPE_OK);
    spu_config_layout(&config, &layout);
    assert_string_equal(layout.name, "neoverse-n1");
    assert_int_equal(layout.slots, config.layout->slots);
    assert_int_equal(layout.terminator_place, config.layout->terminator_place);
    assert_int_equal(layout.min_size, 64);
    assert_int_equal(layout.max_size, 64);
    assert_int_equal(layout.align, 64);
    assert_int_equal(layout.count_bits, 12);
    assert_int_equal(layout.events_size, 2);
    assert_int_equal(layout.source_size, 1);
    config.max_size = 2048;
    config.min_align_bytes = 16;
    config.count_size = 16;
    config.events_size = 8;
    config.data_source = SPE_SOURCE_16BIT;
    spu_config_layout(&config, &layout);
    assert_int_equal(layout.min_size, 64);
    assert_int_equal(layout.max_size, 2048);
    assert_int_equal(layout.align, 16);
    assert_int_equal(layout.count_bits, 16);
    assert_int_equal(layout.events_size, 8);
    assert_int_equal(layout.source_size, 2);
    config.max_size = 32; /* refused by validation, but never a minimum above the maximum */
    config.data_source = SPE_SOURCE_NONE;
    spu_config_layout(&config, &layout);
    assert_int_equal(layout.min_size, 32);
    assert_int_equal(layout.source_size, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_follow_features_and_options),
        cmocka_unit_test(filters_follow_features_and_options),
        cmocka_unit_test(implementation_defined_events),
        cmocka_unit_test(the_layout_takes_the_sizes_of_the_configuration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
