/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The bulk decoder gives what the stream gives: every path, on every kind of input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/format.h>

#include "../support/columns.h"
#include "../support/streams.h"
#include "format/state.h"

enum { ROOM = 1 << 16 };

static const enum spe_bulk_path paths[] = {SPE_BULK_AUTO, SPE_BULK_ITERATOR, SPE_BULK_PORTABLE,
                                           SPE_BULK_AVX2, SPE_BULK_AVX512,   SPE_BULK_NEON};

/* Rows and skipped ranges of the reference, the record stream. */
struct reference {
    struct spe_columns columns;
    struct spe_item skipped[ROOM / 8];
    size_t ranges;
    struct spe_account account;
};

static void run_reference(struct reference *ref, const uint8_t *bytes, size_t len, unsigned flags)
{
    static struct spe_stream s;
    struct spe_item item;
    struct spe_record r;

    ref->columns.rows = 0;
    ref->ranges = 0;
    spe_stream_init(&s, flags);
    spe_stream_feed(&s, bytes, len);
    spe_stream_end(&s);
    while (spe_stream_next(&s, &item, &r) != SPE_ITEM_NONE) {
        if (item.type == SPE_ITEM_RECORD)
            columns_append(&ref->columns, &r, item.offset);
        else
            ref->skipped[ref->ranges++] = item;
    }
    ref->account = s.account;
}

/* Drain what the piece gives into `c`, comparing skipped ranges on the way. Columns are handed out
 * `window` rows at a time, so that rows end anywhere. */
static size_t drain(struct spe_bulk *b, struct spe_columns *c, size_t window,
                    const struct reference *ref, size_t range)
{
    struct spe_item skipped;
    int got;

    do {
        c->capacity = c->rows + window;
        got = spe_bulk_next(b, c, &skipped);
        if (got == SPE_ITEM_SKIPPED) {
            assert_true(range < ref->ranges);
            assert_int_equal(skipped.offset, ref->skipped[range].offset);
            assert_int_equal(skipped.size, ref->skipped[range].size);
            assert_int_equal(skipped.reason, ref->skipped[range].reason);
            range++;
        }
    } while (got != SPE_ITEM_NONE);
    return range;
}

static void check_path(const struct reference *ref, struct spe_columns *c, const uint8_t *bytes,
                       size_t len, unsigned flags, enum spe_bulk_path path, struct random *rng)
{
    static struct spe_bulk b;
    size_t range = 0, at = 0;
    size_t window = 1 + random_below(rng, 300);
    bool whole = random_chance(rng, 50);

    if (spe_bulk_init(&b, flags, path) < 0)
        return; /* every_path_is_here says so */
    c->rows = 0;
    while (at < len) {
        size_t piece = whole ? len : 1 + random_below(rng, 3000);

        if (piece > len - at)
            piece = len - at;
        assert_int_equal(spe_bulk_feed(&b, bytes + at, piece), SPE_OK);
        range = drain(&b, c, window, ref, range);
        at += piece;
    }
    spe_bulk_end(&b);
    range = drain(&b, c, window, ref, range);
    assert_int_equal(range, ref->ranges);
    assert_memory_equal(&b.stream.account, &ref->account, sizeof(ref->account));
    assert_true(same_columns(c, &ref->columns));
}

static void check_all_paths(const uint8_t *bytes, size_t len, unsigned flags, struct random *rng)
{
    static struct reference ref;
    static struct spe_columns c;

    if (!c.pc) {
        ref.columns = make_columns(ROOM);
        c = make_columns(ROOM);
    }
    run_reference(&ref, bytes, len, flags);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        check_path(&ref, &c, bytes, len, flags, paths[i], rng);
}

/* What random_record lacks: contexts, previous targets, alternate clock, IMPLEMENTATION DEFINED. */
static void add_rare_packets(struct random *rng, struct spe_record *r)
{
    if (random_chance(rng, 30)) {
        r->has |= SPE_HAS_CONTEXT1;
        r->context[0] = (uint32_t)random_next(rng);
    }
    if (random_chance(rng, 30)) {
        r->has |= SPE_HAS_CONTEXT2;
        r->context[1] = (uint32_t)random_next(rng);
    }
    for (unsigned i = SPE_ADDRESS_PA; i < SPE_INDEX_COUNT; i++) {
        if (random_chance(rng, i < 8 ? 15 : 1)) {
            r->addresses |= 1u << i;
            r->address[i] = random_next(rng);
        }
    }
    for (unsigned i = SPE_COUNTER_ALT_ISSUE; i < SPE_INDEX_COUNT; i++) {
        if (random_chance(rng, i < 8 ? 15 : 1)) {
            r->counters |= 1u << i;
            r->counter[i] = (uint16_t)random_next(rng);
        }
    }
    if (random_chance(rng, 20))
        r->has &= ~(uint32_t)SPE_HAS_TIMESTAMP;
    if (random_chance(rng, 20))
        r->events = random_next(rng);
}

static size_t make_stream(struct random *rng, uint8_t *bytes, size_t room,
                          const struct spe_layout *layout, bool rare)
{
    size_t len = 0;

    for (;;) {
        uint8_t record[SPE_RECORD_MAX];
        struct spe_record r;
        int size;

        random_record(rng, &r);
        if (rare)
            add_rare_packets(rng, &r);
        size = spe_record_encode(&r, layout, record, sizeof(record));
        assert_true(size > 0);
        if (len + (size_t)size + 70 > room)
            return len;
        memcpy(bytes + len, record, (size_t)size);
        len += (size_t)size;
        if (random_chance(rng, 5)) { /* padding of any length between records */
            size_t padding = random_below(rng, 70);

            memset(bytes + len, 0, padding);
            len += padding;
        }
    }
}

static void clean_streams(void **state)
{
    static uint8_t bytes[ROOM];
    struct random rng = {11};

    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        bool rare = round % 2;
        const struct spe_layout *layout = spe_layout_at(rare ? 0 : round / 2 % 3);
        size_t len = make_stream(&rng, bytes, ROOM - random_below(&rng, 100), layout, rare);

        check_all_paths(bytes, len, 0, &rng);
    }
}

static void damaged_streams(void **state)
{
    static uint8_t bytes[ROOM];
    struct random rng = {12};

    (void)state;
    for (unsigned round = 0; round < 120; round++) {
        const struct spe_layout *layout = spe_layout_at(round % 3);
        size_t len = make_stream(&rng, bytes, ROOM / 4, layout, layout == spe_layout_at(0));
        unsigned hits = random_below(&rng, 200);

        for (unsigned i = 0; i < hits; i++)
            bytes[random_below(&rng, (uint32_t)len)] = (uint8_t)random_next(&rng);
        check_all_paths(bytes, len, round % 5 ? 0 : SPE_STREAM_UNSYNCED, &rng);
    }
}

/* Bytes that are mostly headers, so that records are short, odd and many. */
static void random_bytes(void **state)
{
    static const uint8_t likely[] = {0x00, 0x01, 0x42, 0x52, 0x43, 0x49, 0x98,
                                     0x99, 0x20, 0x21, 0xb0, 0x65, 0x71, 0x02};
    static uint8_t bytes[ROOM / 8];
    struct random rng = {13};

    (void)state;
    for (unsigned round = 0; round < 400; round++) {
        size_t len = random_below(&rng, sizeof(bytes));

        for (size_t i = 0; i < len; i++)
            bytes[i] = random_chance(&rng, 50) ? likely[random_below(&rng, sizeof(likely))]
                                               : (uint8_t)random_next(&rng);
        check_all_paths(bytes, len, 0, &rng);
    }
}

/* Columns that are not wanted are left alone, and the others do not change. */
static void some_columns(void **state)
{
    static uint8_t bytes[ROOM / 4];
    static struct spe_bulk b;
    struct random rng = {14};
    size_t len = make_stream(&rng, bytes, sizeof(bytes), spe_layout_by_name("neoverse-n1"), false);
    struct spe_columns all = make_columns(ROOM);
    struct spe_item skipped;

    (void)state;
    assert_int_equal(spe_bulk_init(&b, 0, SPE_BULK_ITERATOR), SPE_OK);
    spe_bulk_feed(&b, bytes, len);
    spe_bulk_end(&b);
    assert_int_equal(spe_bulk_next(&b, &all, &skipped), SPE_ITEM_NONE);
    for (unsigned round = 0; round < 100; round++) {
        enum spe_bulk_path path = paths[round % (sizeof(paths) / sizeof(paths[0]))];
        struct spe_columns some = make_columns(ROOM), wanted = some;

        if (spe_bulk_init(&b, 0, path) == SPE_OK) {
            drop_columns(&wanted, (uint32_t)random_next(&rng));
            spe_bulk_feed(&b, bytes, len);
            spe_bulk_end(&b);
            assert_int_equal(spe_bulk_next(&b, &wanted, &skipped), SPE_ITEM_NONE);
            assert_true(same_columns(&wanted, &all));
        }
        free_columns(&some);
    }
    free_columns(&all);
}

static void paths_of_other_machines_are_refused(void **state)
{
    static const enum spe_bulk_path order[] = {SPE_BULK_AVX512, SPE_BULK_AVX2, SPE_BULK_NEON,
                                               SPE_BULK_PORTABLE};
    static struct spe_bulk b;
    unsigned fastest;

    (void)state;
    assert_int_equal(spe_bulk_init(&b, 0, SPE_BULK_AUTO), SPE_OK);
    fastest = b.path;
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (spe_bulk_init(&b, 0, order[i]) == SPE_OK) {
            assert_int_equal(fastest, order[i]);
            break;
        }
    }
    assert_int_equal(spe_bulk_init(&b, 0, SPE_BULK_AUTO), SPE_OK);
    assert_int_equal(spe_bulk_init(&b, 0, (enum spe_bulk_path)99), SPE_ERR_INVALID);
#if defined(__aarch64__)
    assert_int_equal(b.path, SPE_BULK_NEON);
    assert_int_equal(spe_bulk_init(&b, 0, SPE_BULK_AVX2), SPE_ERR_INVALID);
#else
    assert_int_equal(spe_bulk_init(&b, 0, SPE_BULK_NEON), SPE_ERR_INVALID);
#endif
}

/* Decode all of it; returns the rows that came from a known shape. */
static uint64_t predicted_rows(const uint8_t *bytes, size_t len, enum spe_bulk_path path,
                               struct spe_columns *c)
{
    static struct spe_bulk b;
    struct spe_item skipped;

    assert_int_equal(spe_bulk_init(&b, 0, path), SPE_OK);
    c->rows = 0;
    spe_bulk_feed(&b, bytes, len);
    spe_bulk_end(&b);
    assert_int_equal(spe_bulk_next(&b, c, &skipped), SPE_ITEM_NONE);
    return b.predicted;
}

/* Large records: contexts, all addresses and counters, End or Timestamp, which tells them apart
 * only after byte 64. */
static size_t make_large(struct random *rng, uint8_t *bytes, size_t room)
{
    size_t len = 0;

    while (len + 128 < room) {
        struct spe_record r;

        random_record(rng, &r);
        r.has |= SPE_HAS_CONTEXT1 | SPE_HAS_CONTEXT2 | SPE_HAS_SOURCE;
        r.source_size = 1;
        r.addresses = 0x1f;
        r.counters = 0x07;
        r.events = 0x3ff;
        for (unsigned i = 0; i < 5; i++)
            r.address[i] = random_next(rng) | 1;
        r.op_class = SPE_CLASS_LDST;
        if (random_chance(rng, 50))
            r.has &= ~(uint32_t)SPE_HAS_TIMESTAMP;
        len += (size_t)spe_record_encode(&r, spe_layout_by_name("architecture"), bytes + len, 128);
    }
    return len;
}

/* The fast way is taken for all but the first record of each shape, and for those near the end,
 * on every path, with all columns and with some. */
static void shapes_are_used(void **state)
{
    static uint8_t bytes[ROOM];
    struct random rng = {15};
    struct spe_columns all = make_columns(ROOM), some = all;

    (void)state;
    some.pa = NULL;
    for (unsigned layout = 0; layout < 4; layout++) {
        size_t len = layout < 3 ? make_stream(&rng, bytes, ROOM, spe_layout_at(layout), false)
                                : make_large(&rng, bytes, ROOM);

        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
            static struct spe_bulk probe;
            uint64_t with_all, with_some;

            if (spe_bulk_init(&probe, 0, paths[i]) < 0)
                continue;
            with_all = predicted_rows(bytes, len, paths[i], &all);
            with_some = predicted_rows(bytes, len, paths[i], &some);
            assert_int_equal(with_all, with_some);
            assert_true(with_all <= all.rows);
            if (paths[i] == SPE_BULK_ITERATOR)
                assert_int_equal(with_all, 0);
            else
                assert_true(with_all * 100 > all.rows * (layout == 3 ? 95 : 75));
        }
    }
    free_columns(&all);
}

/* ---- Runs ----------------------------------------------------------------------------------- */

#define TEMPLATES 6

/* Packets of records, which may stand in any order: of some records, of all, and unknown ones. */
static const uint8_t some_headers[] = {0x64, 0x65, 0x98, 0x99, 0x9a, 0x43, 0xb2};
static const uint8_t all_headers[] = {0xb0, 0x52, 0x49};
static const uint8_t unknown_headers[] = {0x66, 0x4b, 0x10};

struct template
{
    uint8_t header[16];
    unsigned packets;
};

static void add_packet(struct random *rng, struct template *t, uint8_t header)
{
    unsigned at = random_below(rng, ++t->packets);

    t->header[t->packets - 1] = t->header[at];
    t->header[at] = header;
}

static void make_template(struct random *rng, struct template *t)
{
    t->packets = 0;
    for (unsigned i = 0; i < sizeof(some_headers); i++)
        if (random_chance(rng, 40))
            add_packet(rng, t, some_headers[i]);
    for (unsigned i = 0; i < sizeof(all_headers); i++)
        add_packet(rng, t, all_headers[i]);
    for (unsigned i = 0; i < sizeof(unknown_headers); i++)
        if (random_chance(rng, 20))
            add_packet(rng, t, unknown_headers[i]);
    t->header[t->packets++] = random_chance(rng, 50) ? 0x71 : 0x01;
}

/* A record with these packets, at most 64 bytes. */
static size_t write_template(struct random *rng, const struct template *t, uint8_t *bytes)
{
    size_t at = 0;

    for (unsigned i = 0; i < t->packets; i++) {
        size_t end;

        bytes[at] = t->header[i];
        end = at + (size_t)spe_packet_size(bytes + at, 1);
        while (++at < end)
            bytes[at] = (uint8_t)random_next(rng);
    }
    assert_true(at <= 64);
    return at;
}

/* Runs of records that are at the same distance from each other, by their size or by padding, and
 * have one or some shapes; then perhaps something that is no record. */
static size_t make_runs(struct random *rng, uint8_t *bytes, size_t room)
{
    struct template templates[TEMPLATES];
    size_t len = 0;

    for (unsigned i = 0; i < TEMPLATES; i++)
        make_template(rng, &templates[i]);
    memset(bytes, 0, room);
    for (;;) {
        unsigned records = 1 + random_below(rng, 60), kinds = 1 + random_below(rng, 3);
        unsigned first = random_below(rng, TEMPLATES - kinds + 1);
        size_t distance = random_chance(rng, 50) ? 64 : random_below(rng, 50);

        if (len + 64 * (size_t)records + 2 > room)
            return len;
        while (records--) {
            size_t size =
                write_template(rng, &templates[first + random_below(rng, kinds)], bytes + len);

            len += size > distance ? size : distance;
        }
        if (random_chance(rng, 30)) { /* no packet has this header */
            bytes[len++] = 0x20;
            bytes[len++] = 0x20;
        }
    }
}

static void runs(void **state)
{
    static uint8_t bytes[ROOM];
    struct random rng = {16};

    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        size_t len = make_runs(&rng, bytes, ROOM / 4 - random_below(&rng, 100));

        check_all_paths(bytes, len, 0, &rng);
    }
}

/* The other tests leave out what this CPU lacks: this one says it. */
static void every_path_is_here(void **state)
{
    static const struct {
        enum spe_bulk_path path;
        const char *name;
    } simd[] = {
#if defined(__x86_64__)
        {SPE_BULK_AVX2, "AVX2"},
        {SPE_BULK_AVX512, "AVX-512 with VBMI"},
#elif defined(__aarch64__)
        {SPE_BULK_NEON, "Advanced SIMD"},
#endif
        {SPE_BULK_PORTABLE, "C"},
    };
    static struct spe_bulk b;
    bool missing = false;

    (void)state;
    for (size_t i = 0; i < sizeof(simd) / sizeof(simd[0]); i++) {
        if (spe_bulk_init(&b, 0, simd[i].path) == SPE_OK)
            continue;
        print_message("this CPU has no %s: its way to decode was not tested\n", simd[i].name);
        missing = true;
    }
    if (missing)
        skip();
}

/* One call for more rows and bytes than the sums of a tile's account have room for. */
static void many_rows(void **state)
{
    enum { MANY = 300000, DISTANCE = 64 };
    static const struct template two_unknown = {
        {0x66, 0xb0, 0xb2, 0x52, 0x4b, 0x49, 0x64, 0x65, 0x98, 0x99, 0x9a, 0x43, 0x71}, 13};
    static struct spe_bulk b;
    struct spe_columns c = {.size = sizeof(c), .capacity = MANY};
    uint8_t *bytes = calloc(MANY, DISTANCE);
    struct random rng = {17};
    struct spe_item skipped;
    size_t size = 0;

    (void)state;
    c.offset = malloc(MANY * sizeof(*c.offset));
    assert_true(bytes && c.offset);
    for (size_t i = 0; i < MANY; i++)
        size = write_template(&rng, &two_unknown, bytes + i * DISTANCE);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const struct spe_account *a = &b.stream.account;

        if (spe_bulk_init(&b, 0, paths[i]) < 0)
            continue;
        c.rows = 0;
        spe_bulk_feed(&b, bytes, (size_t)MANY * DISTANCE);
        spe_bulk_end(&b);
        while (spe_bulk_next(&b, &c, &skipped) == SPE_ITEM_RECORD && c.rows < MANY)
            ;
        assert_int_equal(c.rows, MANY);
        for (size_t row = 0; row < MANY; row++)
            assert_true(c.offset[row] == row * DISTANCE);
        assert_int_equal(spe_bulk_next(&b, &c, &skipped), SPE_ITEM_RECORD); /* no room for more */
        assert_int_equal(a->records, MANY);
        assert_int_equal(a->unknown, 2 * MANY);
        assert_int_equal(a->record_bytes, MANY * size);
        c.capacity++;
        assert_int_equal(spe_bulk_next(&b, &c, &skipped), SPE_ITEM_NONE);
        c.capacity--;
        assert_int_equal(a->padding_bytes, MANY * (DISTANCE - size));
        assert_int_equal(a->skipped, 0);
    }
    free(bytes);
    free(c.offset);
}

/* ---- Records that are passed over ------------------------------------------------------------ */

enum { KINDS = 6, PLACES = 24, FIRST_PLACE = 0x400000, DISTANCE_OF_MOST = 64 };

static uint64_t place(unsigned i)
{
    return FIRST_PLACE + 0x1000 * (uint64_t)i;
}

static void random_kind(struct random *rng, struct spe_record *r, uint32_t context)
{
    uint8_t bytes[SPE_RECORD_MAX];

    do {
        random_record(rng, r);
        if (random_chance(rng, 70)) {
            r->has |= SPE_HAS_OP | SPE_HAS_SOURCE;
            r->op_class = SPE_CLASS_LDST;
            r->source_size = random_chance(rng, 90) ? 1 : 2;
            r->addresses |= random_chance(rng, 90) << SPE_ADDRESS_VA;
        }
        r->has |= SPE_HAS_TIMESTAMP | context;
        r->addresses |= 1u << SPE_ADDRESS_PC;
        r->counters |= 1u << SPE_COUNTER_TOTAL;
    } while (spe_record_encode(r, spe_layout_at(0), bytes, sizeof(bytes)) > DISTANCE_OF_MOST);
}

/* Records of a few kinds at a few places, in turns of one context; some have no timestamp or no pc.
 */
static size_t make_turns(struct random *rng, uint8_t *bytes, size_t room, bool aligned)
{
    struct spe_record kind[KINDS];
    uint64_t time = 1000;
    uint32_t context = 1, left = 0;
    size_t len = 0;

    for (unsigned i = 0; i < KINDS; i++)
        random_kind(rng, &kind[i], i < KINDS - 1 ? SPE_HAS_CONTEXT1 : SPE_HAS_CONTEXT2);
    while (len + SPE_RECORD_MAX <= room) {
        struct spe_record r = kind[random_below(rng, random_chance(rng, 2) ? KINDS : KINDS - 1)];
        int size;

        if (!left--) {
            left = random_below(rng, 200);
            context = random_below(rng, 3);
        }
        time += random_below(rng, 20);
        r.timestamp = random_chance(rng, 1) ? time - 500 : time;
        r.context[0] = r.context[1] = context;
        r.address[SPE_ADDRESS_PC] =
            place(random_below(rng, PLACES)) | random_next(rng) << 56 | random_below(rng, 16) * 4;
        r.counter[SPE_COUNTER_TOTAL] = (uint16_t)random_below(rng, 4096);
        r.address[SPE_ADDRESS_VA] = random_next(rng);
        r.source = (uint16_t)random_below(rng, r.source_size == 2 ? 65536 : 256);
        r.op = (uint8_t)random_next(rng);
        if (random_chance(rng, 1))
            r.has &= ~(uint32_t)SPE_HAS_TIMESTAMP;
        if (random_chance(rng, 1))
            r.addresses &= ~(1u << SPE_ADDRESS_PC);
        size = spe_record_encode(&r, spe_layout_at(0), bytes + len, room - len);
        assert_true(size > 0 && size <= DISTANCE_OF_MOST);
        if (aligned)
            memset(bytes + len + size, 0, DISTANCE_OF_MOST - (size_t)size);
        len += aligned ? DISTANCE_OF_MOST : (size_t)size;
    }
    return len;
}

/* What may be passed over behind each row. */
struct turns {
    struct spe_bulk_pass behind[ROOM / 8];
    uint64_t bits[SPE_PASS_BITS / 64];
};

static bool may_pass(const struct spe_columns *c, size_t i, const struct spe_bulk_pass *pass)
{
    uint64_t pc = c->pc[i] & UINT64_MAX >> 8, bit = spe_pass_bit(pc, pass->grain);

    return c->addresses[i] >> SPE_ADDRESS_PC & 1 && c->has[i] & SPE_HAS_TIMESTAMP &&
           (c->has[i] & (SPE_HAS_CONTEXT1 | SPE_HAS_CONTEXT2)) == pass->has &&
           c->context1[i] == pass->context[0] && c->context2[i] == pass->context[1] &&
           c->timestamp[i] >= pass->first && c->timestamp[i] <= pass->last &&
           (pc < pass->low || pc > pass->high || !(pass->pcs[bit / 64] >> bit % 64 & 1));
}

/* Pass over what can be, and decode a few rows where that does not go on. */
static void pass_piece(struct spe_bulk *b, struct spe_columns *c, struct spe_bulk_pass *pass,
                       struct turns *turns, struct random *rng)
{
    struct spe_item skipped;
    int got;

    do {
        size_t from = c->rows, last;

        c->capacity = c->rows + 1 + random_below(rng, 40);
        got = spe_bulk_pass(b, c, pass);
        assert_true(got >= 0);
        for (size_t i = from; i < c->rows; i++)
            turns->behind[i] = *pass;
        last = c->rows - 1;
        if (got) {
            assert_true(c->rows > from);
            pass->has = c->has[last] & (SPE_HAS_CONTEXT1 | SPE_HAS_CONTEXT2);
            pass->context[0] = c->context1[last];
            pass->context[1] = c->context2[last];
            pass->first = c->timestamp[last];
            pass->last = pass->first + random_below(rng, 3000);
            turns->behind[last] = *pass;
        }
        from = c->rows;
        c->capacity = c->rows + (got ? 0 : 1 + random_below(rng, 4));
        got = spe_bulk_next(b, c, &skipped);
        for (size_t i = from; i < c->rows; i++)
            turns->behind[i] = *pass;
    } while (got != SPE_ITEM_NONE);
}

#define KEEP_ROW(column, type) (c)->column[to] = (c)->column[from];

/* Of the reference's rows only those that the decoder gave: the others could be passed over. */
static void leave_out(struct reference *ref, const struct spe_columns *got,
                      const struct turns *turns, struct spe_bulk_pass *sum)
{
    struct spe_columns *c = &ref->columns;
    size_t to = 0;

    for (size_t from = 0; from < c->rows; from++) {
        if (to < got->rows && got->offset[to] == c->offset[from]) {
            FOR_EACH_COLUMN(KEEP_ROW)
            to++;
            continue;
        }
        assert_true(to > 0);
        assert_true(may_pass(c, from, &turns->behind[to - 1]));
        sum->records++;
        sum->latency += c->total[from];
    }
    c->rows = to;
}

static void check_passing(const uint8_t *bytes, size_t len, enum spe_bulk_path path,
                          struct random *rng)
{
    static struct reference ref;
    static struct spe_columns c;
    static struct turns turns;
    static struct spe_bulk b;
    struct spe_bulk_pass pass, sum = {0};

    if (!c.pc) {
        ref.columns = make_columns(ROOM);
        c = make_columns(ROOM);
    }
    if (spe_bulk_init(&b, 0, path) < 0)
        return; /* every_path_is_here says so */
    run_reference(&ref, bytes, len, 0);
    memset(&turns, 0, sizeof(turns));
    spe_bulk_pass_init(&pass);
    pass.pcs = turns.bits;
    pass.grain = 12;
    pass.has = ~0u;
    pass.low = place(1);
    pass.high = place(PLACES / 2);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t bit = spe_pass_bit(place(random_below(rng, PLACES)), pass.grain);

        turns.bits[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    c.rows = 0;
    for (size_t at = 0, piece; at < len; at += piece) {
        piece = 1 + random_below(rng, 20000);
        piece = piece < len - at ? piece : len - at;
        spe_bulk_feed(&b, bytes + at, piece);
        pass_piece(&b, &c, &pass, &turns, rng);
    }
    spe_bulk_end(&b);
    pass_piece(&b, &c, &pass, &turns, rng);
    leave_out(&ref, &c, &turns, &sum);
    assert_true(same_columns(&c, &ref.columns));
    assert_int_equal(sum.records, pass.records);
    assert_int_equal(sum.latency, pass.latency);
    assert_memory_equal(&b.stream.account, &ref.account, sizeof(ref.account));
    if (path != SPE_BULK_ITERATOR)
        assert_true(pass.records > ref.columns.rows); /* most are */
}

/* ---- Records that are passed over by their data ---------------------------------------------- */

struct noted {
    struct spe_pass_data data;
    struct spe_pass_note notes[ROOM / 8];
    uint16_t line[ROOM]; /* of records that are noted, by their offset */
    bool is[ROOM];
};

static bool has_data(const struct spe_columns *c, size_t i, bool address)
{
    return c->has[i] & SPE_HAS_OP && c->op[i] >> 8 == SPE_CLASS_LDST &&
           (!address || c->addresses[i] >> SPE_ADDRESS_VA & 1);
}

static unsigned says(const struct spe_columns *c, size_t i, const struct spe_pass_data *d)
{
    return has_data(c, i, true) && c->has[i] & SPE_HAS_SOURCE && c->source[i] < 256
               ? d->sources[c->source[i]]
               : 0;
}

/* Each record is noted once. */
static void spread_notes(struct noted *n)
{
    memset(n->is, 0, sizeof(n->is));
    for (size_t i = 0; i < n->data.count; i++) {
        uint64_t place = n->notes[i].place, at = place >> 16;

        assert_in_range(place & 0xff, 1, SPE_PASS_NOTED);
        for (unsigned k = 0; k < (place & 0xff); k++, at += place >> 8 & 0xff) {
            assert_true(at < ROOM && !n->is[at]);
            n->is[at] = true;
            n->line[at] = n->notes[i].line[k];
        }
    }
}

/* What was passed over has a note, is not wanted, and is found again by the decoder. */
static void check_left_out(const struct spe_bulk *b, const uint8_t *bytes, const struct noted *n,
                           const struct spe_columns *c, size_t i, struct spe_pass_data *sum)
{
    static struct spe_columns again;
    uint64_t at = c->offset[i];

    if (!again.pc)
        again = make_columns(8);
    again.rows = 0;
    assert_true(n->is[at]);
    assert_false(says(c, i, &n->data) & SPE_PASS_WANTED);
    assert_int_equal(n->line[at],
                     spe_pass_line(has_data(c, i, true) ? c->va[i] : 0, n->data.shift));
    assert_int_equal(spe_bulk_noted(b, &again, bytes + at), SPE_OK);
    assert_int_equal(again.va[0], c->va[i]);
    assert_int_equal(again.pc[0], c->pc[i]);
    assert_int_equal(again.timestamp[0], c->timestamp[i]);
    assert_int_equal(again.total[0], c->total[i]);
    assert_int_equal(again.op[0], c->op[i]);
    assert_int_equal(again.has[0], c->has[i]);
    sum->samples += has_data(c, i, true);
    sum->no_address += has_data(c, i, false) && !has_data(c, i, true);
    sum->stores += has_data(c, i, true) && c->op[i] & 1;
    sum->latency += has_data(c, i, true) ? c->total[i] : 0;
    sum->said += says(c, i, &n->data) & SPE_PASS_SAID;
}

static void check_by_data(const uint8_t *bytes, size_t len, enum spe_bulk_path path,
                          struct random *rng)
{
    static struct reference ref;
    static struct spe_columns c;
    static struct turns turns;
    static struct noted n;
    static struct spe_bulk b;
    struct spe_pass_data sum = {0};
    struct spe_bulk_pass pass;
    size_t got = 0;

    if (!c.pc) {
        ref.columns = make_columns(ROOM);
        c = make_columns(ROOM);
    }
    if (spe_bulk_init(&b, 0, path) < 0)
        return;
    run_reference(&ref, bytes, len, 0);
    spe_bulk_pass_init(&pass);
    spe_pass_data_init(&n.data);
    pass.has = ~0u;
    pass.data = &n.data;
    n.data.base = bytes;
    n.data.notes = n.notes;
    n.data.capacity = sizeof(n.notes) / sizeof(n.notes[0]);
    n.data.shift = 4 + random_below(rng, 9);
    for (unsigned i = 0; i < 256; i++)
        n.data.sources[i] = (uint8_t)((random_chance(rng, 50) ? SPE_PASS_SAID : 0) |
                                      (random_chance(rng, 3) ? SPE_PASS_WANTED : 0));
    c.rows = 0;
    for (size_t at = 0, piece; at < len; at += piece) {
        piece = 1 + random_below(rng, 20000);
        piece = piece < len - at ? piece : len - at;
        spe_bulk_feed(&b, bytes + at, piece);
        pass_piece(&b, &c, &pass, &turns, rng);
    }
    spe_bulk_end(&b);
    pass_piece(&b, &c, &pass, &turns, rng);
    spread_notes(&n);
    for (size_t i = 0; i < ref.columns.rows; i++) {
        if (got < c.rows && c.offset[got] == ref.columns.offset[i]) {
            assert_false(n.is[ref.columns.offset[i]]);
            got++;
        } else {
            check_left_out(&b, bytes, &n, &ref.columns, i, &sum);
        }
    }
    assert_int_equal(got, c.rows);
    assert_int_equal(pass.records + c.rows, ref.columns.rows);
    assert_int_equal(sum.samples, n.data.samples);
    assert_int_equal(sum.no_address, n.data.no_address);
    assert_int_equal(sum.stores, n.data.stores);
    assert_int_equal(sum.latency, n.data.latency);
    assert_int_equal(sum.said, n.data.said);
    assert_memory_equal(&b.stream.account, &ref.account, sizeof(ref.account));
    if (path != SPE_BULK_ITERATOR)
        assert_true(pass.records > c.rows);
}

static void passed_by_data(void **state)
{
    static uint8_t bytes[ROOM];
    struct random rng = {19};

    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        size_t len = make_turns(&rng, bytes, ROOM - random_below(&rng, 100), round % 3);

        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
            check_by_data(bytes, len, paths[i], &rng);
    }
}

static void passed_records(void **state)
{
    static uint8_t bytes[ROOM];
    struct random rng = {18};

    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        size_t len = make_turns(&rng, bytes, ROOM - random_below(&rng, 100), round % 3);

        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
            check_passing(bytes, len, paths[i], &rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_streams),
        cmocka_unit_test(damaged_streams),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(some_columns),
        cmocka_unit_test(paths_of_other_machines_are_refused),
        cmocka_unit_test(shapes_are_used),
        cmocka_unit_test(runs),
        cmocka_unit_test(every_path_is_here),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(passed_records),
        cmocka_unit_test(passed_by_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
