/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The filter language: which rows an expression selects, and where a wrong one is wrong. */
#include "support/profile_recording.h"

#include <stdio.h>

/*
 * Eight rows:
 *   0 load   total 100  source L1    EL0  tid 10 "ten"     va 0x1000
 *   1 load   total 300  source DRAM  EL0  tid 10           va 0x2000, l1d_miss
 *   2 store  total 50                EL1  tid 20 "twenty"  va 0xffff800000000000
 *   3 branch total 7    conditional, not taken, mispredicted
 *   4 branch with link, no latency
 *   5 other, not retired
 *   6 load, no source, no total, tid nobody knows
 *   7 load   total 4095 issue 95     source 3 (not in the table)
 */
#define ROWS 8

static void make_rows(struct recording *r)
{
    struct spe_record s[ROWS];
    struct spe_address pc = {.ns = 1}, kernel = {.ns = 1, .el = 1};

    memset(s, 0, sizeof(s));
    for (unsigned i = 0; i < ROWS; i++) {
        pc.address = 0x400000 + 4 * i;
        s[i].has = SPE_HAS_OP | SPE_HAS_EVENTS | SPE_HAS_TIMESTAMP | SPE_HAS_CONTEXT1;
        s[i].addresses = 1u << SPE_ADDRESS_PC;
        s[i].address[SPE_ADDRESS_PC] = spe_address_encode(SPE_ADDRESS_PC, &pc);
        s[i].counters = 1u << SPE_COUNTER_TOTAL;
        s[i].events = SPE_EVENT_BIT(RETIRED);
        s[i].timestamp = 1000000 * (i + 1);
        s[i].context[0] = 10;
        s[i].op_class = SPE_CLASS_LDST;
    }
    s[0].counter[SPE_COUNTER_TOTAL] = 100;
    s[0].has |= SPE_HAS_SOURCE;
    s[0].source_size = 1;
    s[0].addresses |= 1u << SPE_ADDRESS_VA;
    s[0].address[SPE_ADDRESS_VA] = 0x1000;
    s[1] = s[0];
    s[1].timestamp = 2000000;
    s[1].counter[SPE_COUNTER_TOTAL] = 300;
    s[1].source = 0xe;
    s[1].events |= SPE_EVENT_BIT(L1D_MISS);
    s[1].address[SPE_ADDRESS_VA] = 0x2000;
    s[2].counter[SPE_COUNTER_TOTAL] = 50;
    s[2].op = 1;
    s[2].context[0] = 20;
    s[2].addresses |= 1u << SPE_ADDRESS_VA;
    s[2].address[SPE_ADDRESS_VA] = UINT64_C(0x5aff800000000000);
    kernel.address = UINT64_C(0xff800010000000);
    s[2].address[SPE_ADDRESS_PC] = spe_address_encode(SPE_ADDRESS_PC, &kernel);
    s[3].counter[SPE_COUNTER_TOTAL] = 7;
    s[3].op_class = SPE_CLASS_BRANCH;
    s[3].op = 1;
    s[3].events |= SPE_EVENT_BIT(NOT_TAKEN) | SPE_EVENT_BIT(MISPREDICTED);
    s[4].op_class = SPE_CLASS_BRANCH;
    s[4].op = 1 << 3;
    s[4].counters = 0;
    s[5].op_class = SPE_CLASS_OTHER;
    s[5].events = 0;
    s[5].counters = 0;
    s[6].counters = 0;
    s[6].context[0] = 99;
    s[7].counters |= 1u << SPE_COUNTER_ISSUE;
    s[7].counter[SPE_COUNTER_TOTAL] = 4095;
    s[7].counter[SPE_COUNTER_ISSUE] = 95;
    s[7].has |= SPE_HAS_SOURCE;
    s[7].source_size = 1;
    s[7].source = 3;
    for (unsigned i = 0; i < ROWS; i++)
        sample_bytes(r, 0, &s[i]);
}

static void make(struct recording *r)
{
    recording_open(r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(r, 0, 10, 10, "ten", false);
    recording_comm(r, 0, 20, 20, "twenty", false);
    recording_map(r, 0, 10, 0x400000, 0x1000, 0, "/opt/lib x/libfoo.so.1", NULL, 0);
    make_rows(r);
    recording_flush(r, 0, 0, ANY, 0);
    recording_finish(r);
}

struct good {
    const char *text;
    unsigned rows; /* bit i: row i */
};

static const struct good good[] = {
    {"load", 0xc3},
    {"store", 0x04},
    {"memory", 0xc7},
    {"branch", 0x18},
    {"other", 0x20},
    {"not load", 0x3c},
    {"not not load", 0xc3},
    {"load and total > 100", 0x82},
    {"load and total >= 100", 0x83},
    {"total < 50", 0x08},
    {"total <= 50", 0x0c},
    {"total < 0", 0},
    {"total > 18446744073709551615", 0},
    {"total >= 0", 0x8f},
    {"total == 300", 0x02},
    {"total = 300", 0x02},
    {"total != 300", 0x8d}, /* rows without a latency are neither */
    {"not total == 300", 0xfd},
    {"total", 0x8f},
    {"not total", 0x70},
    {"execution == 4000", 0x80},
    {"execution == 4K", 0},
    {"total in (7, 100..300)", 0x0b},
    {"total in (100 .. 300, 7)", 0x0b},
    {"not total in (7)", 0xf7},
    {"load or branch and not conditional", 0xd3},
    {"(load or branch) and not conditional", 0xd3},
    {"(load or branch) and total < 50", 0x08},
    {"load or branch and total < 50", 0xcb}, /* and binds closer */
    {"not load and total < 1s", 0x0c},
    {"events.retired", 0xdf},
    {"not events.retired", 0x20},
    {"events.l1d_miss", 0x02},
    {"events.3", 0x02},
    {"events == 0xc2", 0x08},
    {"events.mispredicted and events.not_taken", 0x08},
    {"branch and conditional", 0x08},
    {"call", 0x10},
    {"return", 0},
    {"user", 0xfb},
    {"kernel", 0x04},
    {"el == 1", 0x04},
    {"pc >= 0xffff800000000000", 0x04},
    {"va == 0xffff800000000000", 0x04},
    {"tag == 0x5a", 0x04},
    {"va", 0x07},
    {"tid == 10", 0xbb},
    {"pid in (10, 20)", 0xbf},
    {"pid", 0xbf},
    {"tid == 99", 0x40},
    {"comm == ten", 0xbb},
    {"comm == \"ten\"", 0xbb},
    {"comm != ten", 0x04}, /* a row without a name has none that differs */
    {"comm ~ \"^t\"", 0xbf},
    {"comm ~ \"^t{1,255}\"", 0xbf}, /* repetitions, and what only looks like them */
    {"comm ~ \"^((t{1,16}){1,16}){1,15}\"", 0xbf},
    {"comm !~ \"[{255}][^]{255}[:alpha:]]{255}\\{255}\"", 0xbf},
    {"comm !~ \"en$\"", 0x04},
    {"comm in (ten, twenty)", 0xbf},
    {"comm", 0xbf},
    {"dso == \"libfoo.so.1\"", 0xbb},
    {"dso == libfoo.so.1", 0xbb},
    {"path ~ \"lib x/.*\\\\.so\"", 0xbb},
    {"path ~ \"lib x/.*\\.so\"", 0xbb},
    {"symbol", 0},
    {"symbol ~ memcpy", 0},
    {"file or line > 3", 0},
    {"level == l1", 0x01},
    {"level in (l1, dram)", 0x03},
    {"level", 0x03}, /* a missing source is not L1, nor is one that has no meaning */
    {"source == 0", 0x01},
    {"source", 0x83},
    {"kind == branch", 0x18},
    {"kind ~ \"^g\"", 0xc7},
    {"time < 3ms", 0x03},
    {"time >= 2500us and time<0.005s", 0x0c},
    {"time in (1ms..2ms)", 0x03},
    {"class == 2 and op == 1", 0x08},
    {"cpu == 0", 0xff},
    {"queue == 0 and offset >= 0", 0xff},
    {"context1 == 20", 0x04},
    {"context2", 0},
    {"timestamp == 1000000", 0x01},
    {"mismatch", 0},
    {"addr == 0xffff800000000000", 0x04}, /* the names of `spe script -F` and of `spe report` */
    {"ip >= 0xffff800000000000", 0x04},
    {"weight < 50 and not load and latency < 1s", 0x08},
    {"sym ~ memcpy or function ~ memcpy or phys_addr == 3", 0},
};

static void selects(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct spe_profile *p;
    struct spe_rows rows;
    struct recording r;

    (void)state;
    make(&r);
    options.want = SPE_WANT_SYMBOL | SPE_WANT_LINE;
    p = recording_profile(&r, &options);
    assert_int_equal(spe_profile_next(p, &rows), 1);
    assert_int_equal(rows.count, ROWS);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct spe_profile_error error;
        struct spe_filter *f;
        uint64_t bits = UINT64_MAX;

        if (spe_filter_create(&f, good[i].text, &error) < 0)
            fail_msg("%s: %s at %d", good[i].text, error.text, error.filter_position);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(spe_filter_select(f, p, &rows, &bits),
                             __builtin_popcount(good[i].rows));
            if (bits != good[i].rows)
                fail_msg("%s: %#llx, not %#x", good[i].text, (unsigned long long)bits,
                         good[i].rows);
        }
        spe_filter_destroy(f);
    }
    spe_profile_close(p);
    recording_free(&r);
}

/* The same as an option: only these rows come, for any order and number of threads. */
static void as_option(void **state)
{
    struct recording r;
    struct row row[ROWS];

    (void)state;
    make(&r);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct spe_profile_options options = quiet_options(1 + (unsigned)i % 3);
        struct spe_profile *p;
        size_t count = 0;

        options.filter = good[i].text;
        options.order = (unsigned)i % 3;
        p = recording_profile(&r, &options);
        assert_int_equal(read_rows(p, row, ROWS), __builtin_popcount(good[i].rows));
        for (unsigned bit = 0; bit < ROWS; bit++) {
            if (good[i].rows >> bit & 1)
                assert_int_equal(row[count++].time, 1000000 * (bit + 1));
        }
        assert_int_equal(spe_profile_counts(p)->rows, count);
        assert_int_equal(spe_profile_counts(p)->filtered, ROWS - count);
        spe_profile_close(p);
    }
    recording_free(&r);
}

struct bad {
    const char *text;
    int position;
    const char *sentence; /* part of it */
};

static const struct bad bad[] = {
    {"", 0, "ends"},
    {"   ", 3, "ends"},
    {"load and", 8, "ends"},
    {"load or ", 8, "ends"},
    {"not", 3, "ends"},
    {"loads", 0, "no field \"loads\"; there are time, timestamp"},
    {"load and stor", 9, "no field \"stor\""},
    {"events.nothing", 0, "no field"},
    {"events.64", 0, "no field"},
    {"(load", 0, "not closed"},
    {"load and (store or (branch)", 9, "not closed"},
    {"load)", 4, "should be here"},
    {"(load store)", 6, "should be here"},
    {"load store", 5, "should be here"},
    {"total >", 7, "with a number"},
    {"total > many", 8, "with a number"},
    {"total > \"5\"", 8, "with a number"},
    {"total ~ 5", 6, "is a number"},
    {"total > 99999999999999999999", 8, "too large"},
    {"total > 18446744073709551615K", 8, "too large"},
    {"total > 5 parsecs", 10, "should be here"},
    {"total > 5parsecs", 8, "not a number"},
    {"total > 1.5", 8, "fraction"},
    {"total > 0x", 8, "not a number"},
    {"total in 5", 9, "list"},
    {"total in (5", 11, "closing"},
    {"total in ()", 10, "with a number"},
    {"total in (7..5)", 10, "ends before"},
    {"load == 1", 5, "is a flag"},
    {"load in (1)", 5, "is a flag"},
    {"comm < ten", 5, "is a text"},
    {"comm == 5", 8, "with a text"},
    {"comm == and", 8, "with a text"},
    {"comm ~ \"(\"", 7, "regular expression"},
    /* They take minutes or all the memory once they are written out. */
    {"comm ~ \"(((((a{1,255}){1,255}){1,255}){1,255}){1,255})\"", 7, "repeats too much"},
    {"load and comm !~ \"((a{200}b{200}){20,}c)\"", 17, "repeats too much"},
    {"comm ~ \"(((((((((((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+"
     ")+)+\"",
     7, "repeats too much"},
    {"comm == \"ten", 8, "closing quotation"},
    {"comm !~ en$", 10, "no meaning"},
    {"level == l9", 9, "never \"l9\", but unknown, l1, l2"},
    {"dso == ld-linux.so.1", 9, "in quotation marks"},
    {"srcline ~ main", 0, "use file ~"},
    {"kind == frog", 8, "never"},
    {"load & store", 5, "write \"and\" or \"or\""},
    {"and", 0, "field"},
    {"5 > total", 0, "field"},
    {"load and or store", 9, "field"},
    {"\xff", 0, "no meaning"},
};

static void refuses(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct spe_profile_error error;
    struct spe_profile *p;
    struct spe_filter *f;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (spe_filter_create(&f, bad[i].text, &error) != SPE_ERR_INVALID)
            fail_msg("%s: taken", bad[i].text);
        if (error.filter_position != bad[i].position || !strstr(error.text, bad[i].sentence))
            fail_msg("%s: %d, %s", bad[i].text, error.filter_position, error.text);
        assert_null(f);
        assert_int_equal(spe_filter_create(&f, bad[i].text, NULL), SPE_ERR_INVALID);
    }
    options.filter = "load and nonsense";
    assert_int_equal(spe_profile_open_memory(&p, "", 0, &options, &error), SPE_ERR_INVALID);
    assert_int_equal(error.filter_position, 9);
    assert_null(p);
}

/* More names than are remembered. */
static void many_names(void **state)
{
    struct spe_profile_options options = quiet_options(2);
    struct spe_profile *p;
    struct recording r;
    struct spe_rows rows;
    char name[16];
    size_t count = 0;

    (void)state;
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    for (uint32_t i = 1; i <= 5000; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        recording_comm(&r, 0, i, i, name, false);
    }
    for (uint32_t i = 1; i <= 10000; i++)
        recording_sample(&r, 0, i, 0x1000, 0, 1 + i % 5000);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    options.filter = "comm ~ \"7$\"";
    p = recording_profile(&r, &options);
    while (spe_profile_next(p, &rows) > 0) {
        for (size_t i = 0; i < rows.count; i++)
            assert_int_equal(rows.tid[i] % 10, 7);
        count += rows.count;
    }
    assert_int_equal(count, 1000);
    spe_profile_close(p);
    recording_free(&r);
}

/* Deep and long ones end in an answer or a sentence. */
static void bounded(void **state)
{
    struct spe_profile_error error;
    struct spe_filter *f;
    char *text = malloc(200000);

    (void)state;
    assert_non_null(text);
    memset(text, '(', 100000);
    strcpy(text + 100000, "load");
    assert_int_equal(spe_filter_create(&f, text, &error), SPE_ERR_INVALID);
    assert_int_equal(error.filter_position, 64);
    text[0] = 0;
    for (char *at = text; at < text + 100000; at += 8)
        strcpy(at, "load or ");
    strcpy(text + 100000, "load");
    assert_int_equal(spe_filter_create(&f, text, &error), SPE_ERR_INVALID);
    assert_non_null(strstr(error.text, "too long"));
    memset(text, 'x', 1000);
    text[1000] = 0;
    assert_int_equal(spe_filter_create(&f, text, &error), SPE_ERR_INVALID);
    memset(text, 0, 1000);
    for (int i = 0; i < 63; i++)
        strcat(text, "(");
    strcat(text, "load");
    for (int i = 0; i < 63; i++)
        strcat(text, ")");
    assert_int_equal(spe_filter_create(&f, text, &error), SPE_OK);
    spe_filter_destroy(f);
    free(text);
}

/* Every field that is listed can be named. */
static void fields(void **state)
{
    const struct spe_filter_field *field;
    struct spe_filter *f;

    (void)state;
    for (size_t i = 0; (field = spe_filter_field_at(i)); i++) {
        const char *name = strcmp(field->name, "events.NAME") ? field->name : "events.retired";

        assert_int_equal(spe_filter_create(&f, name, NULL), SPE_OK);
        spe_filter_destroy(f);
        assert_true(strlen(field->sentence) > 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selects), cmocka_unit_test(as_option), cmocka_unit_test(refuses),
        cmocka_unit_test(bounded), cmocka_unit_test(fields),    cmocka_unit_test(many_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
