/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A memory access in the form of Linux: numbers and texts of perf 7.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/datasrc.h"

enum { LOAD = 0x100, STORE = 0x101, BRANCH = 0x200 };

#define L1D SPE_EVENT_BIT(L1D_ACCESS)
#define LLCM (SPE_EVENT_BIT(LLC_ACCESS) | SPE_EVENT_BIT(LLC_MISS))
#define WALK (SPE_EVENT_BIT(TLB_ACCESS) | SPE_EVENT_BIT(TLB_WALK))

/* Texts of perf 7.2 for the Neoverse sources. */
static void check_n1(unsigned level, bool has_source, unsigned source, uint16_t op, uint64_t events,
                     const char *expected)
{
    struct datasrc d;
    char text[160];

    datasrc_init(&d, spe_cpu_by_name("neoverse-n1"));
    datasrc_text(datasrc_of(&d, op, (uint8_t)level, has_source, (uint16_t)source, events), text,
                 sizeof(text));
    assert_string_equal(text, expected);
}

static void test_datasrc(void **state)
{
    struct datasrc d;

    (void)state;
    check_n1(SPE_LEVEL_L1, true, 0, LOAD, L1D | SPE_EVENT_BIT(TLB_ACCESS),
             "|OP LOAD|LVL L1 hit|SNP None|TLB Walker hit|LCK No|BLK  N/A");
    check_n1(SPE_LEVEL_L3, true, 0xb, LOAD, WALK,
             "|OP LOAD|LVL L3 hit|SNP Hit|TLB Walker miss|LCK No|BLK  N/A");
    check_n1(SPE_LEVEL_DRAM, true, 0xe, LOAD, 0,
             "|OP LOAD|LVL Local RAM hit|SNP None|TLB N/A|LCK No|BLK  N/A");
    check_n1(0, false, 0, LOAD, LLCM, "|OP LOAD|LVL L3 miss|SNP N/A|TLB N/A|LCK No|BLK  N/A");
    check_n1(0, false, 0, STORE, LLCM, "|OP STORE|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A");
    check_n1(0, false, 0, BRANCH, 0, "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A");
    datasrc_init(&d, spe_cpu_by_name("neoverse-n1"));
    assert_int_equal(datasrc_of(&d, LOAD, SPE_LEVEL_L1, true, 0, 0),
                     2 | 0xa << 5 | 2 << 19 | UINT64_C(1) << 33);
    assert_int_equal(datasrc_of(&d, LOAD, SPE_LEVEL_PEER_CORE, true, 9, 0) >> 38 & 3, 2);
}

/* perf's rules for HiSilicon: REM_CCE1 and L3 for another cluster, REM_CCE2, "any cache" and remote
 * for another socket. No other table has them. */
static void test_clusters(void **state)
{
    const uint64_t peer = UINT64_C(2) << 38, remote = UINT64_C(1) << 37;
    const uint64_t l3 = UINT64_C(3) << 33, any = UINT64_C(0xb) << 33, hitm = UINT64_C(0x10) << 19;
    struct datasrc d;
    size_t i;

    (void)state;
    datasrc_init(&d, spe_cpu_by_name("hip12"));
    assert_int_equal(datasrc_of(&d, LOAD, SPE_LEVEL_PEER_CLUSTER, true, 5, 0),
                     2 | 0x402 << 5 | l3 | peer | hitm);
    assert_int_equal(datasrc_of(&d, LOAD, SPE_LEVEL_REMOTE_CACHE, true, 7, 0),
                     2 | 0x802 << 5 | any | remote | peer | hitm);
    for (i = 0; spe_cpu_at(i); i++) {
        const struct spe_source_table *table = spe_cpu_at(i)->sources;

        datasrc_init(&d, spe_cpu_at(i));
        assert_int_equal(d.cluster_levels, table && table == spe_cpu_by_name("hip12")->sources);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_datasrc),
        cmocka_unit_test(test_clusters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
