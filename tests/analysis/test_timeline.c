/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What is summed up when there is more than a timeline may hold; nothing is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/timeline.h"

enum { RECORDS = 24, RECORD_BYTES = 10, MOST = 4 };

/* Records of a pc alone, each another one. */
static void make_records(uint8_t bytes[RECORDS * RECORD_BYTES])
{
    for (size_t i = 0; i < RECORDS; i++) {
        uint8_t *r = bytes + i * RECORD_BYTES;

        memset(r, 0, RECORD_BYTES);
        r[0] = 0xb0;
        r[1] = (uint8_t)(4 * i);
        r[2] = 0x10;
        r[8] = 0x80;
        r[9] = 0x01;
    }
}

static void fill(struct timeline *t, const struct timeline_config *config)
{
    uint8_t bytes[RECORDS * RECORD_BYTES];
    struct spe_profile_options options = SPE_PROFILE_OPTIONS;
    struct spe_profile *profile;
    struct spe_rows rows;

    make_records(bytes);
    options.raw = true;
    options.want = SPE_WANT_SYMBOL | SPE_WANT_STACK;
    assert_int_equal(spe_profile_open_memory(&profile, bytes, sizeof(bytes), &options, NULL),
                     SPE_OK);
    assert_int_equal(timeline_init(t, config), SPE_OK);
    while (spe_profile_next(profile, &rows) > 0)
        assert_int_equal(timeline_add(t, profile, &rows), SPE_OK);
    assert_int_equal(timeline_finish(t), SPE_OK);
    spe_profile_close(profile);
}

static uint64_t sum(const struct timeline *t)
{
    uint64_t samples = 0;

    for (size_t i = 0; i < t->entries.count; i++)
        samples += t->entries.at[i].samples;
    return samples;
}

static void test_room_for_all(void **state)
{
    struct timeline_config config = {.by_pc = true, .most = 1000};
    struct timeline t;

    (void)state;
    fill(&t, &config);
    assert_int_equal(t.entries.count, RECORDS);
    assert_int_equal(sum(&t), RECORDS);
    assert_int_equal(t.left_out, 0);
    timeline_free(&t);
}

static void test_left_out(void **state)
{
    struct timeline_config config = {.by_pc = true, .most = MOST};
    struct timeline t;
    const struct stack_node *above;

    (void)state;
    fill(&t, &config);
    assert_int_equal(t.entries.count, MOST + 1);
    assert_int_equal(sum(&t), RECORDS);
    assert_int_equal(t.left_out, RECORDS - MOST);
    above = &t.nodes.at[t.nodes.at[t.entries.at[MOST].node].caller];
    assert_int_equal(t.frames.at[above->frame].kind, FRAME_LEFT_OUT);
    timeline_free(&t);
}

/* Functions, not instructions: all are nowhere. */
static void test_equal_stacks_are_one(void **state)
{
    struct timeline_config config = {.most = MOST};
    struct timeline t;

    (void)state;
    fill(&t, &config);
    assert_int_equal(t.entries.count, 1);
    assert_int_equal(sum(&t), RECORDS);
    timeline_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room_for_all),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_equal_stacks_are_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
