/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The CPU table, and the data sources of each CPU: D18.2-055 leaves them to the implementation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/format.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum table { UNKNOWN, COMMON, AMPEREONE, HIP12 };

/* Implementer and part, typed from the manuals' MIDR_EL1 values. */
static const struct {
    uint32_t midr; /* variant and revision 0 */
    const char *name;
    enum table table;
} cpus[] = {
    {0x410fd0c0, "neoverse-n1", COMMON},     {0x410fd490, "neoverse-n2", COMMON},
    {0x410fd8e0, "neoverse-n3", UNKNOWN},    {0x410fd400, "neoverse-v1", COMMON},
    {0x410fd4f0, "neoverse-v2", COMMON},     {0x410fd840, "neoverse-v3", COMMON},
    {0x410fd830, "neoverse-v3ae", UNKNOWN},  {0x410fd410, "cortex-a78", UNKNOWN},
    {0x410fd420, "cortex-a78ae", UNKNOWN},   {0x410fd4b0, "cortex-a78c", COMMON},
    {0x410fd470, "cortex-a710", UNKNOWN},    {0x410fd4d0, "cortex-a715", COMMON},
    {0x410fd810, "cortex-a720", COMMON},     {0x410fd890, "cortex-a720ae", COMMON},
    {0x410fd870, "cortex-a725", COMMON},     {0x410fd440, "cortex-x1", COMMON},
    {0x410fd4c0, "cortex-x1c", COMMON},      {0x410fd480, "cortex-x2", UNKNOWN},
    {0x410fd4e0, "cortex-x3", COMMON},       {0x410fd820, "cortex-x4", COMMON},
    {0x410fd850, "cortex-x925", COMMON},     {0x4e0f0100, "olympus", COMMON},
    {0x6d0fd490, "cobalt-100", COMMON},      {0xc00fac30, "ampereone", UNKNOWN},
    {0xc00fac40, "ampereone-1a", AMPEREONE}, {0x480fd010, "kunpeng-920", UNKNOWN},
    {0x480fd020, "hip09", UNKNOWN},          {0x480fd060, "hip12", HIP12},
};

static const struct expectation {
    uint16_t value;
    unsigned level;
    bool modified;
} common[] =
    {
        {0x0, SPE_LEVEL_L1, false},           {0x8, SPE_LEVEL_L2, false},
        {0x9, SPE_LEVEL_PEER_CORE, false},    {0xa, SPE_LEVEL_LOCAL_CLUSTER, false},
        {0xb, SPE_LEVEL_L3, false},           {0xc, SPE_LEVEL_PEER_CLUSTER, false},
        {0xd, SPE_LEVEL_REMOTE_CACHE, false}, {0xe, SPE_LEVEL_DRAM, false},
},
  ampereone[] =
      {
          {0, SPE_LEVEL_PEER_CORE, false},    {3, SPE_LEVEL_L3, false},
          {5, SPE_LEVEL_REMOTE_CACHE, false}, {7, SPE_LEVEL_DRAM, false},
          {8, SPE_LEVEL_L1, false},           {9, SPE_LEVEL_L2, false},
},
  hip12[] = {
      {0, SPE_LEVEL_PEER_CORE, false},    {1, SPE_LEVEL_PEER_CORE, true},
      {2, SPE_LEVEL_L3, false},           {3, SPE_LEVEL_L3, true},
      {4, SPE_LEVEL_PEER_CLUSTER, false}, {5, SPE_LEVEL_PEER_CLUSTER, true},
      {6, SPE_LEVEL_REMOTE_CACHE, false}, {7, SPE_LEVEL_REMOTE_CACHE, true},
      {8, SPE_LEVEL_DRAM, false},         {9, SPE_LEVEL_REMOTE_DRAM, false},
      {13, SPE_LEVEL_IO, false},          {16, SPE_LEVEL_L2, false},
      {17, SPE_LEVEL_L2, true},           {18, SPE_LEVEL_L1, false},
};

static const struct expectation *find(enum table table, unsigned value)
{
    const struct expectation *rows = table == COMMON ? common : table == HIP12 ? hip12 : ampereone;
    size_t count = table == COMMON  ? COUNT(common)
                   : table == HIP12 ? COUNT(hip12)
                                    : COUNT(ampereone);

    for (size_t i = 0; table != UNKNOWN && i < count; i++)
        if (rows[i].value == value)
            return &rows[i];
    return NULL;
}

static void cpus_are_found_by_midr_and_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cpus); i++) {
        const struct spe_cpu *cpu = spe_cpu_by_midr(cpus[i].midr);

        assert_non_null(cpu);
        assert_string_equal(cpu->name, cpus[i].name);
        assert_ptr_equal(spe_cpu_by_midr(cpus[i].midr | 0xf0000f), cpu); /* any revision */
        assert_ptr_equal(spe_cpu_by_midr(cpus[i].midr & ~UINT32_C(0xf0000)), cpu);
        assert_ptr_equal(spe_cpu_by_name(cpus[i].name), cpu);
        assert_ptr_equal(spe_cpu_at(i) ? spe_cpu_by_name(spe_cpu_at(i)->name) : NULL,
                         spe_cpu_at(i));
    }
    assert_null(spe_cpu_at(COUNT(cpus)));
    assert_null(spe_cpu_at(SIZE_MAX));
    assert_null(spe_cpu_by_midr(0));
    assert_null(spe_cpu_by_midr(0x400fd0c0)); /* another implementer */
    assert_null(spe_cpu_by_midr(0x410fd0d0)); /* another part */
    assert_null(spe_cpu_by_name(""));
    assert_null(spe_cpu_by_name("neoverse"));
}

/* Every value of a one-byte SOURCE, and some of two bytes; nothing is guessed. */
static void sources_are_those_of_the_cpu(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cpus); i++) {
        const struct spe_cpu *cpu = spe_cpu_by_midr(cpus[i].midr);

        assert_int_equal(cpu->sources != NULL, cpus[i].table != UNKNOWN);
        for (unsigned value = 0; value < 0x300; value++) {
            const struct expectation *want = find(cpus[i].table, value);
            const struct spe_source *source = spe_cpu_source(cpu, (uint16_t)value);

            if (!want) {
                assert_null(source); /* D18.2-055 */
                continue;
            }
            assert_non_null(source); /* D18.2-055 */
            assert_int_equal(source->value, value);
            assert_int_equal(source->level, want->level);
            assert_int_equal(source->modified, want->modified);
            assert_non_null(source->name);
        }
    }
    assert_null(spe_cpu_source(NULL, 0));
}

static void features_where_they_are_known(void **state)
{
    spe_features n1 = spe_cpu_by_name("neoverse-n1")->features;
    spe_features v1 = spe_cpu_by_name("neoverse-v1")->features;
    spe_features n2 = spe_cpu_by_name("neoverse-n2")->features;
    char why[100];

    (void)state;
    /* PMSVer is 1, 2, 2 */
    assert_true(spe_has(n1, SPE_FEAT_SPE) && !spe_has(n1, SPE_FEAT_SPEv1p1));
    assert_true(spe_has(v1, SPE_FEAT_SPEv1p1) && !spe_has(v1, SPE_FEAT_SPEv1p2));
    assert_true(spe_has(n2, SPE_FEAT_SPEv1p1) && !spe_has(n2, SPE_FEAT_SPEv1p2));
    assert_true(!spe_has(n1, SPE_FEAT_SVE) && spe_has(v1, SPE_FEAT_SVE) &&
                spe_has(n2, SPE_FEAT_SVE));
    assert_true(!spe_has(v1, SPE_FEAT_MTE2) && spe_has(n2, SPE_FEAT_MTE2));
    assert_int_equal(spe_cpu_by_name("cobalt-100")->features, n2);
    for (size_t i = 0; spe_cpu_at(i); i++) {
        spe_features f = spe_cpu_at(i)->features;

        assert_int_equal(spe_features_close(f), f);
        assert_int_equal(spe_features_validate(f, why, sizeof(why)), SPE_OK);
    }
}

static void layouts_where_they_are_known(void **state)
{
    (void)state;
    for (size_t i = 0; spe_cpu_at(i); i++) {
        const struct spe_cpu *cpu = spe_cpu_at(i);
        bool known = !strcmp(cpu->name, "neoverse-n1") || !strcmp(cpu->name, "kunpeng-920");

        assert_int_equal(cpu->layout != NULL, known);
        if (known)
            assert_string_equal(cpu->layout->name, cpu->name);
    }
}

static void implementation_defined_events(void **state)
{
    (void)state;
    for (size_t i = 0; spe_cpu_at(i); i++) {
        const struct spe_cpu *cpu = spe_cpu_at(i);

        for (unsigned e = 0; e < 70; e++) {
            const char *name = spe_cpu_event_name(cpu, e);

            if (!strcmp(cpu->name, "neoverse-n1") && e == 12)
                assert_string_equal(name, "late_prefetch"); /* D18.2-077 */
            else
                assert_null(name);
            if (e < 64)
                assert_int_equal(name != NULL, cpu->named_impdef_events >> e & 1);
            if (name)
                assert_int_equal(spe_event_status(e, cpu->features), SPE_IMPDEF);
        }
    }
    assert_null(spe_cpu_event_name(NULL, 12));
}

static void every_level_has_a_name(void **state)
{
    (void)state;
    for (unsigned a = 0; a < SPE_LEVEL_COUNT; a++)
        for (unsigned b = 0; b < a; b++)
            assert_string_not_equal(spe_source_level_name(a), spe_source_level_name(b));
    assert_string_equal(spe_source_level_name(SPE_LEVEL_DRAM), "dram");
    assert_string_equal(spe_source_level_name(SPE_LEVEL_COUNT), "unknown");
}

/* Nothing is claimed of CPUs that no public document describes. */
static void what_is_not_known(void **state)
{
    (void)state;
    for (size_t i = 0; spe_cpu_at(i); i++) {
        const struct spe_cpu *cpu = spe_cpu_at(i);
        bool known = !strcmp(cpu->name, "neoverse-n1") || !strcmp(cpu->name, "neoverse-n2") ||
                     !strcmp(cpu->name, "neoverse-v1") || !strcmp(cpu->name, "cobalt-100");

        assert_int_equal(cpu->features != 0, known);
        assert_int_equal(cpu->named_impdef_events,
                         strcmp(cpu->name, "neoverse-n1") ? 0 : UINT64_C(1) << 12);
        assert_null(spe_cpu_event_name(cpu, 63));
        assert_null(spe_cpu_event_name(cpu, 64));
        assert_null(spe_cpu_event_name(cpu, 76)); /* 12 and 64 */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpus_are_found_by_midr_and_name),
        cmocka_unit_test(sources_are_those_of_the_cpu),
        cmocka_unit_test(features_where_they_are_known),
        cmocka_unit_test(layouts_where_they_are_known),
        cmocka_unit_test(implementation_defined_events),
        cmocka_unit_test(every_level_has_a_name),
        cmocka_unit_test(what_is_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
