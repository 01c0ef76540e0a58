/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe_packet_status: every one-byte header and every extended one, by D18.1.4 and D18.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <specimen/format.h>

static enum spe_definition status(uint8_t byte0, uint8_t byte1, spe_features features)
{
    uint8_t bytes[10] = {byte0, byte1};
    struct spe_packet p;

    assert_true(spe_packet_decode(bytes, sizeof(bytes), &p) > 0);
    return spe_packet_status(&p, features);
}

/* With an all-zero payload, and without optional features. */
static enum spe_definition expected(unsigned header)
{
    switch (header) {
    case 0x00:
    case 0x01: /* D18.2-056 */
    case 0x71:
    case 0x42: /* D18.2-057 */
    case 0x52:
    case 0x62:
    case 0x72:
    case 0x43: /* D18.2-051 */
    case 0x53: /* D18.2-051 */
    case 0x64: /* D18.2-029, D18.2-030 */
    case 0x65: /* D18.2-029, D18.2-031 */
    case 0x48: /* D18.2-096 */
    case 0x49:
    case 0x4a:
    case 0xb0:
    case 0xb1:
    case 0xb2:
    case 0xb3:
    case 0x98:
    case 0x99:
    case 0x9a:
        return SPE_DEFINED;
    case 0xb6: /* D18.2-010 */
    case 0xb7:
    case 0x9e: /* D18.2-040 */
    case 0x9f:
        return SPE_IMPDEF;
    default: /* 0x63, 0x73 are sizes that D18.2-051 lacks, 0x66, 0x67: D18.2-032, 0x4b: D18.2-099 */
        return SPE_RESERVED;
    }
}

static void every_short_header(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 256; h++)
        if (h < 0x20 || h > 0x3f)
            assert_int_equal(status((uint8_t)h, 0, SPE_FEAT(SPE)), expected(h));
}

static void every_extended_header(void **state)
{
    (void)state;
    for (unsigned b0 = 0x20; b0 < 0x40; b0++) {
        for (unsigned b1 = 0; b1 < 256; b1++) {
            bool address = b1 >= 0xb0 && b1 <= 0xb7, counter = b1 >= 0x98 && b1 <= 0x9f;
            enum spe_definition want = SPE_RESERVED;

            if (b1 >= 0x20 && b1 <= 0x3f)
                continue; /* no packet */
            if (b0 == 0x20 && (address || counter))
                want = expected(b1); /* D18.2-004: the same packet */
            else if ((b0 == 0x22 || b0 == 0x23) && (address || counter))
                want = SPE_IMPDEF; /* INDEX 16-31: D18.2-010, D18.2-040 */
            assert_int_equal(status((uint8_t)b0, (uint8_t)b1, SPE_FEAT(SPE)), want);
        }
    }
}

static void features_are_looked_at(void **state)
{
    spe_features sve = SPE_FEAT(SPE) | SPE_FEAT(SPEv1p1) | SPE_FEAT(SVE);

    (void)state;
    assert_int_equal(status(0xb4, 0, SPE_FEATURES_ALL), SPE_DEFINED); /* D18.2-009 */
    assert_int_equal(status(0xb4, 0, SPE_FEATURES_ALL & ~SPE_FEAT(SPE_PBT)), SPE_RESERVED);
    assert_int_equal(status(0x9c, 0, SPE_FEATURES_ALL), SPE_DEFINED); /* D18.2-039 */
    assert_int_equal(status(0x9c, 0, sve), SPE_RESERVED);
    assert_int_equal(status(0x48, 0x08, sve), SPE_DEFINED); /* D18.2-104 */
    assert_int_equal(status(0x48, 0x08, SPE_FEAT(SPE)), SPE_RESERVED);
    assert_int_equal(status(0x48, 0x78, sve), SPE_RESERVED); /* D18.2-105 */
    assert_int_equal(status(0x48, 0x78, sve | SPE_FEAT(SPE_SME)), SPE_DEFINED);
    assert_int_equal(status(0x4a, 0x20, SPE_FEATURES_ALL), SPE_RESERVED); /* D18.2-133 */
    assert_int_equal(status(0x4b, 0x00, SPE_FEATURES_ALL), SPE_RESERVED); /* D18.2-099 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_short_header),
        cmocka_unit_test(every_extended_header),
        cmocka_unit_test(features_are_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
