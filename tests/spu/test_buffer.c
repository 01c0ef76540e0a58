/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.8 from the record to memory: where bytes go, where PMBPTR_EL1 stops, and which event follows.
 * Records are handed to the buffer as they are, so that every size and shape can be tried; the way
 * from an operation to the buffer is in test_spu.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/gen.h>
#include <specimen/spu.h>

#include "format/state.h"
#include "gen/state.h"
#include "spu/spu_internal.h"
#include "support/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- A host with a few pages ---------------------------------------------------------------- */

enum { PAGE = 4096, PAGES = 4, GUARD = 4096, WINDOW = GUARD + PAGES * PAGE + GUARD };

#define BASE UINT64_C(0x40000000)
#define LIMIT (BASE + (uint64_t)PAGES * PAGE)
#define NOWHERE UINT64_MAX

/* One descriptor per page, and the table's above them. */
struct page {
    bool access_flag, writable, dbm;
};

struct rig {
    struct spe_spu *spu;
    struct spe_spu_config config;
    uint8_t memory[WINDOW];
    struct page page[PAGES + 1];
    bool table_access_flag;
    bool check_pages;

    uint64_t fault_at; /* this byte and those after it have the answer */
    struct spe_write_result answer;
    bool stubborn;     /* says TLB conflict even when it may not */
    bool short_answer; /* stops without saying why */

    unsigned writes, outside, crossings, prepares, flagless;
    uint32_t largest;
    uint64_t prepared[8];
    struct spe_write last_write;
    unsigned pmu_full, pmu_filtrate, cti, serrors, events, notices;
    uint64_t serror_at;
    struct spe_management_event event;
    struct spe_record_notice notice;
    bool irq;
};

static bool page_fault(struct rig *rig, const struct spe_write *w, uint64_t address,
                       struct spe_write_result *result)
{
    struct page *page = &rig->page[(address - BASE) / PAGE % (PAGES + 1)];
    bool manage = w->flags & SPE_WRITE_AF_DIRTY;

    if (!rig->check_pages)
        return false;
    if (manage) {
        rig->table_access_flag = true; /* FEAT_HAFT: set on the way down */
        page->access_flag = true;
        page->writable |= page->dbm;
    }
    result->level = 3;
    if (!page->access_flag)
        result->fault = SPE_FAULT_ACCESS_FLAG;
    else if (!page->writable)
        result->fault = SPE_FAULT_PERMISSION;
    return result->fault != SPE_FAULT_NONE;
}

static bool injected(struct rig *rig, const struct spe_write *w, uint64_t address,
                     struct spe_write_result *result)
{
    uint32_t written = result->written;

    if (address < rig->fault_at || rig->fault_at == NOWHERE)
        return false;
    if (rig->answer.fault == SPE_FAULT_TLB_CONFLICT && (w->flags & SPE_WRITE_NO_TLB_CONFLICT) &&
        !rig->stubborn)
        return false;
    *result = rig->answer;
    result->written = written;
    return true;
}

static void write_memory(void *user, const struct spe_write *w, struct spe_write_result *result)
{
    struct rig *rig = user;
    uint64_t granule = rig->config.access_granule_bytes;

    if (w->flags & SPE_WRITE_PREPARE) {
        assert_int_equal(w->size, 0);
        assert_null(w->data);
        rig->prepared[rig->prepares++ % COUNT(rig->prepared)] = w->address;
        page_fault(rig, w, w->address, result);
        return;
    }
    rig->writes++;
    rig->last_write = *w;
    rig->largest = w->size > rig->largest ? w->size : rig->largest;
    rig->crossings += w->address / granule != (w->address + w->size - 1) / granule;
    rig->flagless += !(w->flags & SPE_WRITE_AF_DIRTY);
    if (rig->short_answer)
        return;
    for (uint32_t i = 0; i < w->size; i++) {
        uint64_t address = w->address + i;

        result->written = i;
        if (injected(rig, w, address, result) || page_fault(rig, w, address, result))
            return;
        if (address < BASE || address >= LIMIT)
            rig->outside++;
        if (address - (BASE - GUARD) < WINDOW)
            rig->memory[address - (BASE - GUARD)] = w->data[i];
    }
    result->written = w->size;
}

static void note_pmu(void *user, unsigned event, uint64_t count)
{
    struct rig *rig = user;

    rig->pmu_full += event == SPE_PMU_SAMPLE_BUFFER_FULL ? (unsigned)count : 0;
    rig->pmu_filtrate += event == SPE_PMU_SAMPLE_FILTRATE ? (unsigned)count : 0;
}

static void note_cti(void *user, unsigned trigger)
{
    assert_int_equal(trigger, SPE_CTI_TRIGGER);
    ((struct rig *)user)->cti++;
}

static void note_serror(void *user, uint64_t address)
{
    ((struct rig *)user)->serrors++;
    ((struct rig *)user)->serror_at = address;
}

static void note_event(void *user, const struct spe_management_event *event)
{
    struct rig *rig = user;

    rig->event = *event;
    rig->events += event->is_new;
}

static void note_record(void *user, const struct spe_record_notice *notice)
{
    ((struct rig *)user)->notices++;
    ((struct rig *)user)->notice = *notice;
}

static void note_irq(void *user, bool level)
{
    ((struct rig *)user)->irq = level;
}

/* ---- Making a unit -------------------------------------------------------------------------- */

/* Plain SPE: no FEAT_SPE_EXC (all events go to PMBSR_EL1) and External aborts may be reported. */
#define PLAIN "v1p2,secure,el2,el3,ras,vhe,-v1p3"

static void configure(struct rig *rig, const char *features, const char *const *settings)
{
    char why[200] = "";

    memset(rig, 0, sizeof(*rig));
    rig->fault_at = NOWHERE;
    assert_int_equal(spe_spu_config_init(&rig->config, "architecture"), SPE_OK);
    if (features) {
        spe_features set = 0;

        assert_int_equal(spe_features_parse(features, &set, why, sizeof(why)), SPE_OK);
        spe_spu_config_features(&rig->config, set);
    }
    for (; settings && *settings; settings += 2)
        if (spe_spu_option_set(&rig->config, settings[0], settings[1], why, sizeof(why)))
            fail_msg("%s %s: %s", settings[0], settings[1], why);
}

static void enable(struct rig *rig, uint64_t pointer)
{
    spe_spu_reg_set(rig->spu, SPE_REG_PMBSR_EL1, 0);
    spe_spu_reg_set(rig->spu, SPE_REG_PMBPTR_EL1, pointer);
    spe_spu_reg_set(rig->spu, SPE_REG_PMBLIMITR_EL1, LIMIT | 1);
    spe_spu_reg_set(rig->spu, SPE_REG_PMSCR_EL1, 3);
}

static void create(struct rig *rig)
{
    const struct spe_spu_host host = {
        .size = sizeof(host),
        .user = rig,
        .write = write_memory,
        .pmu_event = note_pmu,
        .cti_trigger = note_cti,
        .serror = note_serror,
        .management_event = note_event,
        .record = note_record,
        .interrupt = note_irq,
    };
    char why[200] = "";

    if (spe_spu_create(&rig->config, &host, &rig->spu, why, sizeof(why)))
        fail_msg("create: %s", why);
    memset(rig->memory, 0xa5, sizeof(rig->memory));
    enable(rig, BASE);
}

#define START(rig, features, ...)                                                                  \
    do {                                                                                           \
        static const char *const settings_[] = {__VA_ARGS__};                                      \
        configure(rig, features, settings_);                                                       \
        create(rig);                                                                               \
    } while (0)

static void stop(struct rig *rig)
{
    spe_spu_destroy(rig->spu);
    rig->spu = NULL;
}

static uint64_t get(const struct rig *rig, enum spe_register reg)
{
    return spe_spu_reg_get(rig->spu, reg);
}

static uint64_t field(const struct rig *rig, enum spe_register reg, unsigned high, unsigned low)
{
    return spu_bits(get(rig, reg), high, low);
}

#define POINTER(rig) get(rig, SPE_REG_PMBPTR_EL1)
#define S(rig) field(rig, SPE_REG_PMBSR_EL1, 17, 17)
#define DL(rig) field(rig, SPE_REG_PMBSR_EL1, 19, 19)
#define EA(rig) field(rig, SPE_REG_PMBSR_EL1, 18, 18)
#define EC(rig) field(rig, SPE_REG_PMBSR_EL1, 31, 26)
#define MSS(rig) field(rig, SPE_REG_PMBSR_EL1, 15, 0)
#define MSS2(rig) field(rig, SPE_REG_PMBSR_EL1, 55, 32)

static const uint8_t *at(const struct rig *rig, uint64_t address)
{
    return rig->memory + (address - (BASE - GUARD));
}

static bool guards_whole(const struct rig *rig)
{
    for (unsigned i = 0; i < GUARD; i++)
        if (rig->memory[i] != 0xa5 || rig->memory[WINDOW - 1 - i] != 0xa5)
            return false;
    return rig->outside == 0;
}

static bool accounts_agree(const struct rig *rig)
{
    struct spe_spu_stats s;
    uint64_t by_cause = 0;

    spe_spu_stats(rig->spu, &s);
    for (unsigned f = 0; f < SPE_FATE_COUNT; f++)
        by_cause += s.bytes_discarded_by[f];
    return s.bytes_built == s.bytes_written + s.bytes_discarded && s.bytes_discarded == by_cause;
}

/* ---- Records -------------------------------------------------------------------------------- */

/* A record of exactly n bytes (1, 3 to 245) in the architecture's layout at alignment 1; it need
 * not make sense. */
static void sized_record(struct spe_record *r, unsigned n)
{
    unsigned left = n - 1; /* End */

    memset(r, 0, sizeof(*r));
    if (left % 3 == 2) {
        r->has |= SPE_HAS_OP;
        left -= 2;
    } else if (left % 3 == 1) {
        r->counters |= 1u << 16;
        left -= 4;
    }
    for (unsigned i = 16; left > 96 && i + 3 <= 31; i += 3, left -= 30)
        r->addresses |= 7u << i;
    for (unsigned i = 0; left >= 9 && i < 8; i++, left -= 9)
        r->addresses |= 1u << i;
    for (unsigned i = 0; left >= 3 && i < 8; i++, left -= 3)
        r->counters |= 1u << i;
    for (unsigned i = 0; i < SPE_INDEX_COUNT; i++) {
        r->address[i] = UINT64_C(0x0102030405060700) + i;
        r->counter[i] = (uint16_t)(0x1100 + i);
    }
}

static enum spe_sample_fate put(struct rig *rig, unsigned size)
{
    struct spe_record record;

    sized_record(&record, size);
    return spu_buffer_write(rig->spu, &record);
}

static void test_sized_records(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, "max_size", "256", NULL);
    for (unsigned n = 1; n < 240; n += n == 1 ? 2 : 1) {
        enable(&rig, BASE);
        assert_int_equal(put(&rig, n), SPE_FATE_WRITTEN);
        assert_int_equal(POINTER(&rig) - BASE, n);
        assert_int_equal(rig.notice.size, n);
    }
    stop(&rig);
}

/* ---- Nothing past the limit ----------------------------------------------------------------- */

/* Every record size, every room that may be left: the record is written whole or not at all, and no
 * byte lies outside. */
static void test_limit_every_room(void **state)
{
    static const struct {
        const char *max_size, *align;
    } sizes[] = {{"128", "1"},  {"128", "2"},   {"128", "64"},   {"128", "128"},
                 {"256", "16"}, {"1024", "32"}, {"2048", "512"}, {"2048", "2048"}};
    struct rig rig;

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const char *const settings[] = {"max_size", sizes[i].max_size, "min_align_bytes",
                                        sizes[i].align, NULL};

        configure(&rig, PLAIN, settings);
        create(&rig);
        for (unsigned n = 3; n < 120; n++) {
            unsigned align = rig.config.min_align_bytes;
            uint64_t size = (n + align - 1) / align * align;

            for (unsigned room = 0; room <= rig.config.max_size + 64; room += 1 + room / 200) {
                uint64_t from = LIMIT - room;
                bool fits_whole = size <= room;

                enable(&rig, from);
                rig.events = 0;
                assert_int_equal(put(&rig, n),
                                 fits_whole ? SPE_FATE_WRITTEN : SPE_FATE_NOT_ALLOWED);
                assert_int_equal(POINTER(&rig), fits_whole ? from + size : from);
                /* D17.8-126: an event exactly if less than the largest size is left. */
                assert_int_equal(
                    S(&rig), !fits_whole || LIMIT - (from + size) < rig.config.max_size ? 1 : 0);
                assert_int_equal(rig.events, S(&rig));
            }
        }
        assert_true(guards_whole(&rig)); /* D17.8-010 D17.8-133 */
        assert_true(accounts_agree(&rig));
        stop(&rig);
    }
}

/* Pointers that software should not have set: beyond the limit, at the ends of the address space.
 */
static void test_pointer_out_of_place(void **state)
{
    static const uint64_t pointers[] = {LIMIT,          LIMIT + 1,      UINT64_MAX,
                                        UINT64_MAX - 3, UINT64_MAX / 2, LIMIT - 1};
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, NULL);
    for (size_t i = 0; i < COUNT(pointers); i++) {
        enable(&rig, pointers[i]);
        assert_int_equal(put(&rig, 64), SPE_FATE_NOT_ALLOWED);
        assert_int_equal(POINTER(&rig), pointers[i]);
        assert_int_equal(S(&rig), 1);
    }
    assert_int_equal(rig.writes, 0);
    assert_true(guards_whole(&rig));

    /* A limit of zero leaves no room for anything. */
    spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, 0);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBPTR_EL1, 0);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBLIMITR_EL1, 1);
    assert_int_equal(put(&rig, 64), SPE_FATE_NOT_ALLOWED);
    assert_int_equal(rig.writes, 0);
    stop(&rig);
}

/* Fill the buffer with generated records until it is full: each is as the format room checks. */
static void fill_and_check(struct rig *rig)
{
    const struct spe_check_config check = {
        .size = sizeof(check),
        .features = rig->config.features,
        .count_bits = rig->config.count_size,
        .max_size = rig->config.max_size,
        .align = rig->config.min_align_bytes,
    };
    struct spe_gen_config gen_config;
    struct spe_gen gen;
    struct spe_stream stream;
    struct spe_item item;
    struct spe_record record;
    unsigned records = 0, found = 0;

    spe_gen_config_init(&gen_config);
    gen_config.features = rig->config.features;
    gen_config.layout = rig->config.layout;
    gen_config.count_bits = rig->config.count_size;
    assert_int_equal(spe_gen_init(&gen, &gen_config, NULL, 0), SPE_OK);
    while (!S(rig)) {
        spe_gen_next(&gen, &record);
        record.events &= rig->spu->implemented_events;
        assert_int_equal(spu_buffer_write(rig->spu, &record), SPE_FATE_WRITTEN);
        records++;
    }
    spe_stream_init(&stream, 0);
    spe_stream_feed(&stream, at(rig, BASE), (size_t)(POINTER(rig) - BASE));
    spe_stream_end(&stream);
    while (spe_stream_next(&stream, &item, &record) == SPE_ITEM_RECORD) {
        assert_int_equal(spe_check_record(&check, item.bytes, item.size, item.offset, NULL, NULL),
                         0);
        found++;
    }
    assert_int_equal(found, records);
    assert_int_equal(stream.account.skipped_bytes, 0);
    /* D17.8-133: no maximum-size record could have crossed the limit. */
    assert_true(POINTER(rig) > LIMIT - rig->config.max_size && POINTER(rig) <= LIMIT);
}

static void test_full_buffers_are_valid(void **state)
{
    struct rig rig;

    (void)state;
    for (size_t i = 0; spe_spu_preset_at(i); i++) {
        memset(&rig, 0, sizeof(rig));
        rig.fault_at = NOWHERE;
        assert_int_equal(spe_spu_config_init(&rig.config, spe_spu_preset_at(i)), SPE_OK);
        create(&rig);
        fill_and_check(&rig);
        assert_true(guards_whole(&rig));
        assert_true(accounts_agree(&rig));
        assert_int_equal(rig.pmu_full, 1);
        stop(&rig);
    }
}

/* The quick way to encode gives the bytes of spe_record_encode, for all mixtures of records. */
static void test_same_bytes_as_the_encoder(void **state)
{
    struct spe_gen_config gen_config;
    struct spe_record record;
    struct spe_gen gen;
    struct rig rig;
    uint8_t bytes[SPE_RECORD_MAX];

    (void)state;
    for (size_t i = 0; spe_spu_preset_at(i); i++) {
        memset(&rig, 0, sizeof(rig));
        rig.fault_at = NOWHERE;
        assert_int_equal(spe_spu_config_init(&rig.config, spe_spu_preset_at(i)), SPE_OK);
        create(&rig);
        spe_gen_config_init(&gen_config);
        gen_config.features = rig.config.features;
        gen_config.layout = rig.config.layout;
        gen_config.count_bits = 16; /* more than some presets hold: to be clipped */
        assert_int_equal(spe_gen_init(&gen, &gen_config, NULL, 0), SPE_OK);
        for (unsigned n = 0; n < 20000; n++) {
            int size;

            spe_gen_next(&gen, &record);
            if (n % 3 == 0)
                record.events |= UINT64_C(1) << n % 64;
            if (n % 5 == 0)
                record.counter[SPE_COUNTER_TOTAL] = 0xffff;
            if (n % 7 == 0)
                record.source = 0x1ff; /* has no place in one byte */
            size = spe_record_encode(&record, &rig.spu->layout, bytes, sizeof(bytes));
            enable(&rig, BASE);
            spu_buffer_write(rig.spu, &record);
            if (size < 0)
                size = 0; /* events that the preset's payload does not hold */
            assert_int_equal(rig.notice.size, size);
            if (size)
                assert_memory_equal(rig.notice.bytes, bytes, (size_t)size);
        }
        stop(&rig);
    }
}

/* It is used when the packets are the same, and large records do without. */
static void test_quick_encoding_is_used(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, "max_size", "256", NULL);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned n = 60; n < 60 + SPU_SHAPES; n++) {
            enable(&rig, BASE);
            assert_int_equal(put(&rig, n), SPE_FATE_WRITTEN);
            assert_int_equal(rig.notice.bytes == rig.spu->bytes, round == 0);
        }
    for (unsigned round = 0; round < 2; round++) {
        enable(&rig, BASE);
        put(&rig, 200);
        assert_ptr_equal(rig.notice.bytes, rig.spu->bytes);
    }
    /* The large ones have taken places: who was there is encoded anew, with its own payloads. */
    for (unsigned n = 60; n < 60 + SPU_SHAPES; n++) {
        struct spe_record record;
        uint8_t bytes[SPE_RECORD_MAX];

        sized_record(&record, n);
        record.address[0] = UINT64_C(0x1122334455667788);
        enable(&rig, BASE);
        spu_buffer_write(rig.spu, &record);
        assert_int_equal(spe_record_encode(&record, &rig.spu->layout, bytes, sizeof(bytes)), n);
        assert_memory_equal(at(&rig, BASE), bytes, n);
    }
    stop(&rig);
}

/* ---- Buffer full (D17.8.2) ------------------------------------------------------------------ */

#define PMBSR_ALL UINT64_C(0x00ffffff000d003f) /* everything but S and EC; MSS as BSC */

static void test_full_exactly(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, "max_size", "128", NULL);
    /* D17.8-126: exactly one largest record left is not full; one byte less is. */
    enable(&rig, LIMIT - 128 - 50);
    assert_int_equal(put(&rig, 50), SPE_FATE_WRITTEN);
    assert_int_equal(S(&rig), 0);
    assert_int_equal(rig.pmu_full, 0);
    enable(&rig, LIMIT - 128 - 50);
    assert_int_equal(put(&rig, 51), SPE_FATE_WRITTEN);
    assert_int_equal(S(&rig), 1);      /* D17.8-001 D17.8-003 D17.8-127 */
    assert_int_equal(EC(&rig), 0);     /* D17.8-127 */
    assert_int_equal(MSS(&rig), 1);    /* D17.8-127 */
    assert_int_equal(rig.pmu_full, 1); /* D17.8-131 */
    assert_int_equal(rig.events, 1);
    assert_true(rig.irq);
    assert_int_equal(POINTER(&rig), LIMIT - 128 + 1); /* D17.8-128 */
    stop(&rig);
}

static void test_full_leaves_the_rest(void **state)
{
    static const uint64_t presets[] = {0, PMBSR_ALL, UINT64_C(1) << 19, UINT64_C(1) << 16};
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, "max_size", "128", NULL);
    for (size_t i = 0; i < COUNT(presets); i++) {
        uint64_t kept = UINT64_C(0xd0000); /* DL, EA, COLL */

        enable(&rig, LIMIT - 130);
        spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, presets[i]);
        put(&rig, 60);
        assert_int_equal(S(&rig), 1);
        /* D17.8-129 D17.8-130 D17.8-004 */
        assert_int_equal(get(&rig, SPE_REG_PMBSR_EL1) & kept, presets[i] & kept);
    }
    stop(&rig);
}

/* D17.8-005 D17.8-008: the next record meets a unit that has stopped. */
static void test_full_stops(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, "max_size", "128", NULL);
    enable(&rig, LIMIT - 130);
    assert_true(spe_spu_status(rig.spu)->enabled);
    put(&rig, 60);
    assert_false(spe_spu_status(rig.spu)->enabled);
    assert_int_equal(put(&rig, 60), SPE_FATE_STOPPED);
    assert_int_equal(POINTER(&rig), LIMIT - 70);
    assert_int_equal(rig.events, 1);
    assert_int_equal(rig.pmu_full, 1);
    assert_true(accounts_agree(&rig));
    stop(&rig);
}

/* The padding that makes a record a multiple of the alignment belongs to it. */
static void test_full_after_padding(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, "max_size", "128", "min_align_bytes", "64", NULL);
    enable(&rig, LIMIT - 192);
    put(&rig, 3);
    assert_int_equal(POINTER(&rig), LIMIT - 128);
    assert_int_equal(S(&rig), 0);
    put(&rig, 3);
    assert_int_equal(POINTER(&rig), LIMIT - 64); /* D17.8-128 */
    assert_int_equal(S(&rig), 1);
    stop(&rig);
}

/* ---- Faults (D17.8.3) ----------------------------------------------------------------------- */

struct fault_case {
    struct spe_write_result answer;
    uint8_t ec, fsc;
};

/* Table D17-11 with the codes of the FSC field: D17.8-135 D17.8-144 D17.8-146. */
static const struct fault_case fault_cases[] = {
    {{.fault = SPE_FAULT_TRANSLATION, .stage = 1, .level = 0}, 0x24, 0x04},
    {{.fault = SPE_FAULT_TRANSLATION, .stage = 1, .level = 3}, 0x24, 0x07},
    {{.fault = SPE_FAULT_TRANSLATION, .stage = 2, .level = 1}, 0x25, 0x05},
    {{.fault = SPE_FAULT_TRANSLATION, .stage = 0, .level = 2}, 0x24, 0x06},
    {{.fault = SPE_FAULT_ADDRESS_SIZE, .stage = 1, .level = 0}, 0x24, 0x00},
    {{.fault = SPE_FAULT_ADDRESS_SIZE, .stage = 2, .level = 3}, 0x25, 0x03},
    {{.fault = SPE_FAULT_ACCESS_FLAG, .stage = 1, .level = 1}, 0x24, 0x09},
    {{.fault = SPE_FAULT_ACCESS_FLAG, .stage = 2, .level = 3}, 0x25, 0x0b},
    {{.fault = SPE_FAULT_PERMISSION, .stage = 1, .level = 2}, 0x24, 0x0e},
    {{.fault = SPE_FAULT_PERMISSION, .stage = 2, .level = 3}, 0x25, 0x0f},
    {{.fault = SPE_FAULT_ALIGNMENT, .stage = 1}, 0x24, 0x21},
    {{.fault = SPE_FAULT_TLB_CONFLICT, .stage = 1}, 0x24, 0x30},
    {{.fault = SPE_FAULT_TLB_CONFLICT, .stage = 2}, 0x25, 0x30},
    {{.fault = SPE_FAULT_UNSUPPORTED_ATOMIC, .stage = 1}, 0x24, 0x31}, /* D17.8-141 */
    {{.fault = SPE_FAULT_UNSUPPORTED_ATOMIC, .stage = 2}, 0x25, 0x31},
    {{.fault = SPE_FAULT_GPF, .stage = 1}, 0x24, 0x28}, /* D17.8-145 */
    {{.fault = SPE_FAULT_GPF, .stage = 2}, 0x24, 0x28}, /* not on a walk: always stage 1 */
    {{.fault = SPE_FAULT_GPF, .stage = 1, .walk = SPE_WALK_TABLE, .level = 2}, 0x24, 0x26},
    {{.fault = SPE_FAULT_GPF, .stage = 2, .walk = SPE_WALK_TABLE, .level = 3}, 0x25, 0x27},
    {{.fault = SPE_FAULT_GPC, .stage = 1, .walk = SPE_WALK_GPT}, 0x1e, 0x00},
    {{.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 1, .walk = SPE_WALK_TABLE, .level = 1},
     0x24,
     0x15}, /* D17.8-142 D17.8-161 */
    {{.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 2, .walk = SPE_WALK_TABLE, .level = 3},
     0x25,
     0x17},
    {{.fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 1, .walk = SPE_WALK_GPT}, 0x1e, 0x00},
};

static void check_fault(struct rig *rig, const struct fault_case *c, unsigned offset, uint64_t dl)
{
    uint64_t from = BASE + 100;

    enable(rig, from);
    spe_spu_reg_set(rig->spu, SPE_REG_PMBSR_EL1, dl << 19 | UINT64_C(1) << 16);
    rig->fault_at = from + offset;
    rig->answer = c->answer;
    rig->events = 0;
    assert_int_equal(put(rig, 75), SPE_FATE_FAULT);
    assert_int_equal(POINTER(rig), from + offset); /* D17.8-065 D17.8-148 */
    assert_int_equal(S(rig), 1);                   /* D17.8-001 D17.8-003 D17.8-143 */
    assert_int_equal(EC(rig), c->ec);
    assert_int_equal(MSS(rig), c->fsc);
    assert_int_equal(MSS2(rig), 0);
    assert_int_equal(DL(rig), offset ? 1 : dl); /* D17.8-067 D17.8-149 */
    assert_int_equal(EA(rig), 0);
    assert_int_equal(field(rig, SPE_REG_PMBSR_EL1, 16, 16), 1); /* D17.8-151 */
    assert_int_equal(rig->events, 1);
    assert_int_equal(rig->notice.fate, SPE_FATE_FAULT);
    assert_int_equal(rig->notice.written, offset);
}

/* Every fault at every byte of a record. */
static void test_faults_everywhere(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, "v1p4,secure,el2,el3,ras,vhe,rme,sel2,hafdbs,pmuv3", "walk_abort", "mmu_fault",
          NULL);
    for (size_t i = 0; i < COUNT(fault_cases); i++)
        for (unsigned offset = 0; offset < 75; offset++)
            for (uint64_t dl = 0; dl < 2; dl++)
                check_fault(&rig, &fault_cases[i], offset, dl);
    assert_true(accounts_agree(&rig));
    assert_true(guards_whole(&rig));
    stop(&rig);
}

/* Bytes before the fault are in memory, none after it; the records before it are whole, and the
 * last of them ends at most one largest record below the pointer. */
static void test_fault_to_the_byte(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, "max_size", "128", NULL);
    rig.answer = (struct spe_write_result){.fault = SPE_FAULT_TRANSLATION, .level = 3};
    for (unsigned at_byte = 0; at_byte < 300; at_byte++) {
        uint64_t last_end = BASE, fault = BASE + at_byte;
        struct spe_spu_stats before, after;

        memset(rig.memory, 0xa5, sizeof(rig.memory));
        enable(&rig, BASE);
        rig.fault_at = fault;
        spe_spu_stats(rig.spu, &before);
        while (put(&rig, 61) == SPE_FATE_WRITTEN)
            last_end = POINTER(&rig);
        spe_spu_stats(rig.spu, &after);
        assert_int_equal(POINTER(&rig), fault);
        assert_true(fault - last_end < 128); /* D17.8-066 */
        assert_int_equal(last_end, BASE + at_byte / 61 * 61);
        for (uint64_t a = fault; a < LIMIT; a++)
            assert_int_equal(*at(&rig, a), 0xa5);
        assert_int_equal(after.bytes_written - before.bytes_written, at_byte);
        assert_int_equal(after.bytes_discarded_by[SPE_FATE_FAULT] -
                             before.bytes_discarded_by[SPE_FATE_FAULT],
                         61 - at_byte % 61);
        assert_int_equal(DL(&rig), at_byte % 61 != 0);
    }
    stop(&rig);
}

/* D17.8-012: with DL set, what lies between the last complete record and the pointer is a tail that
 * a reader drops; D17.8-011: nothing behind the pointer is looked at. */
static void test_reader_after_fault(void **state)
{
    struct rig rig;
    struct spe_stream stream;
    struct spe_item item;
    struct spe_record record;

    (void)state;
    START(&rig, PLAIN, NULL);
    rig.answer = (struct spe_write_result){.fault = SPE_FAULT_PERMISSION, .level = 3};
    rig.fault_at = BASE + 3 * 61 + 40;
    while (put(&rig, 61) == SPE_FATE_WRITTEN)
        ;
    assert_int_equal(DL(&rig), 1);
    memset(rig.memory + (POINTER(&rig) - (BASE - GUARD)), 0x01, 100); /* somebody else's bytes */
    spe_stream_init(&stream, 0);
    spe_stream_feed(&stream, at(&rig, BASE), (size_t)(POINTER(&rig) - BASE));
    spe_stream_end(&stream);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(spe_stream_next(&stream, &item, &record), SPE_ITEM_RECORD);
        assert_int_equal(item.size, 61);
    }
    assert_int_equal(spe_stream_next(&stream, &item, &record), SPE_ITEM_SKIPPED);
    assert_int_equal(item.size, 40);
    assert_int_equal(spe_stream_next(&stream, &item, &record), SPE_ITEM_NONE);
    stop(&rig);
}

/* D17.8-068: the three readings of DL at a record boundary. */
static void test_fault_boundary_dl(void **state)
{
    static const char *const values[] = {"unchanged", "0", "1"};
    struct rig rig;

    (void)state;
    for (unsigned v = 0; v < COUNT(values); v++) {
        const char *const settings[] = {"fault_boundary_dl", values[v], NULL};

        configure(&rig, PLAIN, settings);
        create(&rig);
        rig.answer = (struct spe_write_result){.fault = SPE_FAULT_TRANSLATION};
        for (uint64_t dl = 0; dl < 2; dl++) {
            enable(&rig, BASE);
            spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, dl << 19);
            rig.fault_at = BASE;
            put(&rig, 40);
            assert_int_equal(DL(&rig), v == 0 ? dl : v - 1);
            enable(&rig, BASE);
            spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, dl << 19);
            rig.fault_at = BASE + 1;
            put(&rig, 40);
            assert_int_equal(DL(&rig), 1);
        }
        stop(&rig);
    }
}

/* D17.8-143: with S already 1 there is no write and no new syndrome. */
static void test_fault_while_stopped(void **state)
{
    struct rig rig;
    uint64_t before;

    (void)state;
    START(&rig, PLAIN, NULL);
    rig.answer = (struct spe_write_result){.fault = SPE_FAULT_TRANSLATION, .level = 1};
    rig.fault_at = BASE;
    spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, UINT64_C(1) << 17 | 0x33);
    before = get(&rig, SPE_REG_PMBSR_EL1);
    assert_int_equal(put(&rig, 40), SPE_FATE_STOPPED);
    assert_int_equal(get(&rig, SPE_REG_PMBSR_EL1), before);
    assert_int_equal(rig.writes, 0);
    assert_int_equal(rig.events, 0);
    stop(&rig);
}

/* D17.8-147: TopLevel and AssuredOnly, and what other faults leave of them; Overlay and DirtyBit.
 */
static void test_permission_details(void **state)
{
    static const struct {
        struct spe_write_result answer;
        uint64_t mss2;
    } cases[] = {
        {{.fault = SPE_FAULT_PERMISSION, .stage = 2, .level = 3, .top_level = true}, 1 << 8},
        {{.fault = SPE_FAULT_PERMISSION, .stage = 2, .level = 3, .assured_only = true}, 1 << 7},
        {{.fault = SPE_FAULT_PERMISSION, .stage = 2, .level = 3, .overlay = true}, 1 << 6},
        {{.fault = SPE_FAULT_PERMISSION, .stage = 1, .level = 3, .dirty_bit = true}, 1 << 5},
        {{.fault = SPE_FAULT_PERMISSION, .stage = 2, .level = 3}, 0},
        {{.fault = SPE_FAULT_TRANSLATION,
          .stage = 2,
          .level = 3,
          .top_level = true,
          .assured_only = true,
          .overlay = true,
          .dirty_bit = true},
         0},
    };
    struct rig rig;

    (void)state;
    START(&rig, NULL, NULL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        enable(&rig, BASE);
        spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, UINT64_C(0x00ffffff00000000));
        rig.answer = cases[i].answer;
        rig.fault_at = BASE + 7;
        assert_int_equal(put(&rig, 40), SPE_FATE_FAULT);
        assert_int_equal(MSS2(&rig), cases[i].mss2);
    }
    stop(&rig);
}

/* D17.8-136: the minimum alignment, and the three things that a wrong pointer may do. */
static void test_misaligned(void **state)
{
    struct rig rig;

    (void)state;
    for (unsigned align = 1; align <= 2048; align *= 2) {
        char text[8];
        const char *const settings[] = {
            "max_size", "2048", "min_align_bytes", text, "misaligned_ptr", "alignment_fault", NULL};

        snprintf(text, sizeof(text), "%u", align);
        configure(&rig, PLAIN, settings);
        create(&rig);
        assert_int_equal(1u << field(&rig, SPE_REG_PMBIDR_EL1, 3, 0), align);
        assert_int_equal(put(&rig, 40), SPE_FATE_WRITTEN);
        assert_int_equal(POINTER(&rig) % align, 0);
        for (unsigned off = 1; off < align; off = off * 2 + 1) {
            enable(&rig, BASE + off);
            assert_int_equal(put(&rig, 40), SPE_FATE_FAULT);
            assert_int_equal(MSS(&rig), 0x21);
            assert_int_equal(EC(&rig), 0x24);
            assert_int_equal(DL(&rig), 0);
            assert_int_equal(POINTER(&rig), BASE + off);
        }
        stop(&rig);
    }

    START(&rig, PLAIN, "min_align_bytes", "16", "misaligned_ptr", "write_anyway", NULL);
    enable(&rig, BASE + 5);
    assert_int_equal(put(&rig, 40), SPE_FATE_WRITTEN);
    assert_int_equal(POINTER(&rig), BASE + 5 + 48);
    stop(&rig);

    START(&rig, PLAIN, "min_align_bytes", "16", "misaligned_ptr", "access_not_allowed", NULL);
    enable(&rig, BASE + 8);
    assert_int_equal(put(&rig, 40), SPE_FATE_NOT_ALLOWED);
    assert_int_equal(POINTER(&rig), BASE + 8);
    assert_int_equal(DL(&rig), 1);
    assert_int_equal(rig.writes, 0);
    stop(&rig);
}

/* D17.8-140 */
static void test_tlb_conflict(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, "tlb_conflict_fault", "1", NULL);
    rig.answer = (struct spe_write_result){.fault = SPE_FAULT_TLB_CONFLICT};
    rig.fault_at = BASE + 20;
    assert_int_equal(put(&rig, 80), SPE_FATE_FAULT);
    assert_int_equal(MSS(&rig), 0x30);
    stop(&rig);

    START(&rig, PLAIN, "tlb_conflict_fault", "0", NULL);
    rig.answer = (struct spe_write_result){.fault = SPE_FAULT_TLB_CONFLICT};
    rig.fault_at = BASE + 20;
    assert_int_equal(put(&rig, 80), SPE_FATE_WRITTEN);
    assert_int_equal(S(&rig), 0);
    assert_memory_equal(at(&rig, BASE), rig.notice.bytes, 80);
    rig.stubborn = true;
    rig.fault_at = BASE + 100;
    assert_int_equal(put(&rig, 80), SPE_FATE_NOT_ALLOWED);
    assert_int_equal(POINTER(&rig), BASE + 80);
    stop(&rig);
}

/* A conflict at the third byte of a piece; once it is resolved, the tenth byte faults. */
static void conflict_then_fault(void *user, const struct spe_write *w,
                                struct spe_write_result *result)
{
    uint64_t at_byte = w->flags & SPE_WRITE_NO_TLB_CONFLICT ? BASE + 9 : BASE + 2;

    (void)user;
    result->fault =
        w->flags & SPE_WRITE_NO_TLB_CONFLICT ? SPE_FAULT_TRANSLATION : SPE_FAULT_TLB_CONFLICT;
    result->level = 3;
    result->written = (uint32_t)(at_byte - w->address);
    assert_in_range(w->size, 1, BASE + 40 - w->address);
}

static void test_fault_after_tlb_conflict(void **state)
{
    static const char *const settings[] = {"tlb_conflict_fault", "0", NULL};
    const struct spe_spu_host host = {.size = sizeof(host), .write = conflict_then_fault};
    struct spe_record record;
    struct rig rig;

    (void)state;
    configure(&rig, PLAIN, settings);
    assert_int_equal(spe_spu_create(&rig.config, &host, &rig.spu, NULL, 0), SPE_OK);
    enable(&rig, BASE);
    sized_record(&record, 40);
    assert_int_equal(spu_buffer_write(rig.spu, &record), SPE_FATE_FAULT);
    assert_int_equal(POINTER(&rig), BASE + 9); /* D17.8-148 */
    assert_int_equal(MSS(&rig), 0x07);
    assert_true(accounts_agree(&rig));
    stop(&rig);
}

/* ---- Access flag and dirty state (D17.8.3.1) ------------------------------------------------ */

static void test_managed_descriptors(void **state)
{
    struct rig rig;

    (void)state;
    /* D17.8-152 D17.8-155: with FEAT_SPEv1p3 the host is told to manage them, tables included. */
    START(&rig, "v1p3,haft,el2,hafdbs", NULL);
    rig.check_pages = true;
    rig.page[0] = (struct page){.access_flag = false, .dbm = true};
    assert_int_equal(put(&rig, 40), SPE_FATE_WRITTEN);
    assert_true(rig.page[0].access_flag && rig.page[0].writable);
    assert_true(rig.table_access_flag);
    assert_int_equal(rig.flagless, 0);
    assert_int_equal(field(&rig, SPE_REG_PMBIDR_EL1, 5, 5), 1);
    stop(&rig);

    /* D17.8-153: without it the option decides, and PMBIDR_EL1.F tells. */
    START(&rig, PLAIN, "spu_hw_af_dirty", "1", NULL);
    assert_int_equal(field(&rig, SPE_REG_PMBIDR_EL1, 5, 5), 1);
    put(&rig, 40);
    assert_true(rig.last_write.flags & SPE_WRITE_AF_DIRTY);
    stop(&rig);

    START(&rig, PLAIN, "spu_hw_af_dirty", "0", NULL);
    assert_int_equal(field(&rig, SPE_REG_PMBIDR_EL1, 5, 5), 0);
    rig.check_pages = true;
    rig.page[0] = (struct page){.access_flag = false, .writable = true};
    assert_int_equal(put(&rig, 40), SPE_FATE_FAULT); /* D17.8-139 */
    assert_int_equal(MSS(&rig), 0x0b);
    enable(&rig, BASE);
    rig.page[0] = (struct page){.access_flag = true, .writable = false, .dbm = true};
    assert_int_equal(put(&rig, 40), SPE_FATE_FAULT); /* D17.8-138 D17.8-137 */
    assert_int_equal(MSS(&rig), 0x0f);
    assert_false(rig.table_access_flag);
    stop(&rig);
}

/* D17.8-154: the page after the one that is written, within the buffer, once. */
static void test_speculative_dirty(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, "speculative_dirty", "0", NULL);
    put(&rig, 40);
    assert_int_equal(rig.prepares, 0);
    stop(&rig);

    START(&rig, PLAIN, "speculative_dirty", "1", "max_size", "128", NULL);
    rig.check_pages = true;
    for (unsigned i = 0; i < PAGES; i++)
        rig.page[i] = (struct page){.access_flag = true, .dbm = true};
    put(&rig, 40);
    put(&rig, 40);
    assert_int_equal(rig.prepares, 1);
    assert_int_equal(rig.prepared[0], BASE + PAGE);
    assert_true(rig.page[1].writable); /* dirty, and nothing was written there */
    assert_false(rig.page[2].writable);
    assert_int_equal(POINTER(&rig), BASE + 80);
    enable(&rig, LIMIT - 2 * PAGE - 20);
    put(&rig, 40);
    assert_int_equal(rig.prepares, 3); /* before the crossing, and after it */
    assert_int_equal(rig.prepared[2], LIMIT - PAGE);
    enable(&rig, BASE + 4095);
    put(&rig, 41); /* odd addresses have the same pages */
    assert_int_equal(rig.prepares, 5);
    assert_int_equal(rig.prepared[3], BASE + PAGE);
    assert_int_equal(rig.prepared[4], BASE + 2 * PAGE);
    enable(&rig, LIMIT - 300);
    put(&rig, 40);
    assert_int_equal(rig.prepares, 5); /* the next page is not in the buffer */
    assert_int_equal(S(&rig), 0);
    stop(&rig);
}

/* What a write says of itself: owning regime, privileged by nature, no watchpoints, no PAN. */
static void test_write_attributes(void **state)
{
    struct rig rig;
    struct spe_pe_state pe;

    (void)state;
    START(&rig, NULL, NULL);
    put(&rig, 40);
    assert_int_equal(rig.last_write.el, 1); /* D17.8-134 D17.8-137: nothing else is said */
    assert_int_equal(rig.last_write.security, SPE_NONSECURE);
    assert_int_equal(rig.last_write.flags, SPE_WRITE_AF_DIRTY);

    spe_pe_state_init(&pe);
    pe.mdcr_el2 = 0; /* EL2 owns the buffer */
    spe_spu_set_pe(rig.spu, &pe);
    put(&rig, 40);
    assert_int_equal(rig.last_write.el, 2);

    /* FEAT_SPE_nVM: no stage 1, attributes from PMBMAR_EL1, and an address size. */
    spe_spu_reg_set(rig.spu, SPE_REG_PMBMAR_EL1, 0x3ff);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBLIMITR_EL1, LIMIT | 0x81);
    assert_true(spe_spu_status(rig.spu)->nvm);
    assert_int_equal(put(&rig, 40), SPE_FATE_WRITTEN);
    assert_true(rig.last_write.flags & SPE_WRITE_NVM);
    assert_int_equal(rig.last_write.sh, 3);
    assert_int_equal(rig.last_write.attr, 0xff);
    stop(&rig);
}

static void test_physical_address_size(void **state)
{
    struct rig rig;
    struct spe_pe_state pe;
    uint64_t top = UINT64_C(1) << 40;

    (void)state;
    START(&rig, NULL, "pa_bits", "40", NULL);
    spe_pe_state_init(&pe);
    pe.mdcr_el2 = 0;
    spe_spu_set_pe(rig.spu, &pe);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBPTR_EL1, top - 30);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBLIMITR_EL1, (top + PAGE) | 0x81);
    assert_int_equal(put(&rig, 40), SPE_FATE_FAULT); /* D17.8-135 */
    assert_int_equal(POINTER(&rig), top);
    assert_int_equal(EC(&rig), 0x24);
    assert_int_equal(MSS(&rig), 0);
    assert_int_equal(DL(&rig), 1);
    stop(&rig);
}

/* ---- External aborts (D17.8.4) -------------------------------------------------------------- */

static const struct spe_write_result write_abort = {.fault = SPE_FAULT_EXTERNAL_ABORT};
static const struct spe_write_result walk_abort = {
    .fault = SPE_FAULT_EXTERNAL_ABORT, .stage = 2, .walk = SPE_WALK_TABLE, .level = 2};
static const struct spe_write_result gpt_abort = {.fault = SPE_FAULT_EXTERNAL_ABORT,
                                                  .walk = SPE_WALK_GPT};

/* D17.8-156: the permitted ones for each place; the others are refused. */
static void test_abort_options(void **state)
{
    static const struct {
        const char *features, *option, *value;
        bool good;
    } cases[] = {
        {PLAIN, "write_abort", "ignore", true},       {PLAIN, "write_abort", "serror", true},
        {PLAIN, "write_abort", "report", true},       {PLAIN, "write_abort", "mmu_fault", false},
        {PLAIN, "walk_abort", "ignore", true},        {PLAIN, "walk_abort", "serror", true},
        {PLAIN, "walk_abort", "report", true},        {PLAIN, "walk_abort", "mmu_fault", true},
        {"v1p3,el2", "write_abort", "report", false}, /* D17.8-162 D17.8-024 */
        {"v1p3,el2", "walk_abort", "report", false},  {"v1p3,el2", "walk_abort", "mmu_fault", true},
    };
    struct rig rig;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int error;

        configure(&rig, cases[i].features, NULL);
        error = spe_spu_option_set(&rig.config, cases[i].option, cases[i].value, NULL, 0);
        if (!error)
            error = spe_spu_config_validate(&rig.config, NULL, 0);
        assert_int_equal(error == SPE_OK, cases[i].good);
    }
}

/* D17.8-159: as if there had been none; D17.8-160: an SError and nothing else. */
static void test_abort_unreported(void **state)
{
    static const char *const words[] = {"ignore", "serror"};
    struct rig rig;

    (void)state;
    for (unsigned serror = 0; serror < 2; serror++)
        for (unsigned walk = 0; walk < 2; walk++) {
            const char *const settings[] = {walk ? "walk_abort" : "write_abort", words[serror],
                                            NULL};

            configure(&rig, PLAIN, settings);
            create(&rig);
            spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, UINT64_C(0x90033));
            rig.answer = walk ? walk_abort : write_abort;
            rig.fault_at = BASE + 10;
            assert_int_equal(put(&rig, 60), SPE_FATE_WRITTEN);
            assert_int_equal(get(&rig, SPE_REG_PMBSR_EL1), UINT64_C(0x90033));
            assert_int_equal(POINTER(&rig), BASE + 60);
            assert_int_equal(rig.serrors, serror);
            if (serror)
                assert_int_equal(rig.serror_at, BASE + 10);
            assert_int_equal(spe_spu_external_abort(rig.spu, &rig.answer), 0);
            assert_int_equal(rig.serrors, 2 * serror);
            assert_int_equal(get(&rig, SPE_REG_PMBSR_EL1), UINT64_C(0x90033));
            assert_true(spe_spu_status(rig.spu)->enabled);
            stop(&rig);
        }
}

/* D17.8-024: with FEAT_SPEv1p3 a write abort leaves no mark, a walk abort may be a fault. */
static void test_abort_with_v1p3(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, "v1p3,el2,hafdbs", "walk_abort", "mmu_fault", NULL);
    rig.answer = write_abort;
    rig.fault_at = BASE + 10;
    assert_int_equal(put(&rig, 60), SPE_FATE_WRITTEN);
    assert_int_equal(get(&rig, SPE_REG_PMBSR_EL1), 0);
    rig.answer = walk_abort;
    rig.fault_at = BASE + 70;
    assert_int_equal(put(&rig, 60), SPE_FATE_FAULT);
    assert_int_equal(EC(&rig), 0x25);
    assert_int_equal(MSS(&rig), 0x16);
    assert_int_equal(POINTER(&rig), BASE + 70);
    assert_int_equal(DL(&rig), 1);
    assert_int_equal(spe_spu_external_abort(rig.spu, &walk_abort), SPE_ERR_INVALID);
    stop(&rig);
}

/* D17.8-150 */
static void test_walk_abort_sets_ea(void **state)
{
    static const char *const values[] = {"0", "1"};
    struct rig rig;

    (void)state;
    for (unsigned v = 0; v < 2; v++)
        for (uint64_t preset = 0; preset < 2; preset++) {
            const char *const settings[] = {"walk_abort", "mmu_fault", "walk_abort_sets_ea",
                                            values[v], NULL};

            configure(&rig, PLAIN, settings);
            create(&rig);
            spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, preset << 18);
            rig.answer = walk_abort;
            rig.fault_at = BASE;
            assert_int_equal(put(&rig, 60), SPE_FATE_FAULT);
            assert_int_equal(EA(&rig), preset | v);
            /* Other faults have nothing to do with it. */
            enable(&rig, BASE);
            rig.answer = (struct spe_write_result){.fault = SPE_FAULT_TRANSLATION};
            assert_int_equal(put(&rig, 60), SPE_FATE_FAULT);
            assert_int_equal(EA(&rig), 0);
            stop(&rig);
        }
}

struct report_case {
    const struct spe_write_result *abort;
    uint8_t ec, sync_fsc;
};

/* D17.8-166: of the access, of a stage 2 table, of the GPT. */
static const struct report_case report_cases[] = {
    {&write_abort, 0x24, 0x10},
    {&walk_abort, 0x25, 0x16},
    {&gpt_abort, 0x1e, 0x10},
};

#define REPORT "write_abort", "report", "walk_abort", "report"

static void check_sync_report(struct rig *rig, const struct report_case *c, unsigned offset,
                              uint64_t dl)
{
    enable(rig, BASE + 64);
    spe_spu_reg_set(rig->spu, SPE_REG_PMBSR_EL1, dl << 19 | UINT64_C(1) << 16);
    rig->answer = *c->abort;
    rig->fault_at = BASE + 64 + offset;
    assert_int_equal(put(rig, 70), SPE_FATE_ABORT);
    assert_int_equal(POINTER(rig), BASE + 64 + offset); /* D17.8-164 */
    assert_int_equal(S(rig), 1);                        /* D17.8-001 D17.8-166 */
    assert_int_equal(EA(rig), 1);                       /* D17.8-163 */
    assert_int_equal(DL(rig), offset ? 1 : dl);         /* D17.8-165 */
    assert_int_equal(EC(rig), c->ec);
    assert_int_equal(MSS(rig), c->sync_fsc);
    assert_int_equal(field(rig, SPE_REG_PMBSR_EL1, 16, 16), 1); /* D17.8-167 */
    assert_int_equal(put(rig, 70), SPE_FATE_STOPPED);           /* D17.8-163 */
}

static void test_abort_reported_sync(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, PLAIN ",rme,sel2", REPORT, "ext_abort_sync", "sync", NULL); /* D17.8-007 */
    for (size_t i = 0; i < COUNT(report_cases); i++)
        for (unsigned offset = 0; offset < 70; offset++)
            for (uint64_t dl = 0; dl < 2; dl++)
                check_sync_report(&rig, &report_cases[i], offset, dl);
    assert_int_equal(spe_spu_external_abort(rig.spu, &write_abort), SPE_ERR_INVALID);
    assert_true(accounts_agree(&rig));
    stop(&rig);
}

/* Asynchronous: the pointer goes on over the record, and no byte can be relied on. */
static void test_abort_reported_async(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, PLAIN ",rme,sel2", REPORT, "ext_abort_sync", "async", NULL); /* D17.8-007 */
    for (size_t i = 0; i < COUNT(report_cases); i++) {
        enable(&rig, BASE);
        rig.answer = *report_cases[i].abort;
        rig.fault_at = BASE;
        assert_int_equal(put(&rig, 70), SPE_FATE_ABORT);
        assert_int_equal(POINTER(&rig), BASE + 70); /* D17.8-164 */
        assert_int_equal(S(&rig), 1);
        assert_int_equal(EA(&rig), 1);
        assert_int_equal(DL(&rig), 1); /* D17.8-165 D17.8-013 D17.8-168 */
        assert_int_equal(EC(&rig), report_cases[i].ec);
        assert_int_equal(MSS(&rig), 0x11); /* D17.8-166 */

        /* It may as well arrive much later, by a call. */
        enable(&rig, BASE);
        assert_int_equal(spe_spu_external_abort(rig.spu, report_cases[i].abort), 1);
        assert_int_equal(S(&rig), 1);
        assert_int_equal(EA(&rig), 1);
        assert_int_equal(DL(&rig), 1);
        assert_int_equal(MSS(&rig), 0x11);
        assert_int_equal(POINTER(&rig), BASE);
    }
    assert_int_equal(
        spe_spu_external_abort(rig.spu, &(struct spe_write_result){.fault = SPE_FAULT_TRANSLATION}),
        SPE_ERR_INVALID);
    assert_true(accounts_agree(&rig));
    stop(&rig);
}

/* D17.8-169: both orders of an asynchronous abort and another event. */
static void test_abort_async_order(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, REPORT, "ext_abort_sync", "async", "max_size", "128", NULL);
    enable(&rig, LIMIT - 150);
    put(&rig, 60); /* full */
    assert_int_equal(MSS(&rig), 1);
    assert_int_equal(spe_spu_external_abort(rig.spu, &write_abort), 0);
    assert_int_equal(EA(&rig), 1); /* D17.8-163 */
    assert_int_equal(DL(&rig), 1);
    assert_int_equal(EC(&rig), 0);
    assert_int_equal(MSS(&rig), 1);

    enable(&rig, LIMIT - 150);
    rig.pmu_full = 0;
    rig.answer = write_abort;
    rig.fault_at = LIMIT - 100;
    put(&rig, 60); /* the abort, and the buffer is full as well */
    assert_int_equal(MSS(&rig), 0x11);
    assert_int_equal(EC(&rig), 0x24);
    assert_int_equal(rig.pmu_full, 0);
    stop(&rig);
}

static void abort_then(void *user, const struct spe_write *w, struct spe_write_result *result)
{
    const struct rig *rig = user;

    *result = w->address < BASE + 64 ? write_abort : rig->answer;
    result->written = w->address < BASE + 64 ? 0 : 7;
}

/* An abort that is on its way, and something else on a later piece of the same record. */
static void test_abort_async_then_fault(void **state)
{
    const struct spe_write_result later[] = {
        {.fault = SPE_FAULT_TRANSLATION, .level = 2}, {.fault = SPE_FAULT_NOT_ALLOWED}, walk_abort};
    struct spe_spu_host host = {.size = sizeof(host), .write = abort_then};
    struct spe_record record;
    struct rig rig;

    (void)state;
    for (size_t i = 0; i < COUNT(later); i++) {
        static const char *const settings[] = {
            "write_abort", "report", "walk_abort", "mmu_fault", "ext_abort_sync", "async", NULL};

        configure(&rig, PLAIN, settings);
        rig.answer = later[i];
        host.user = &rig;
        assert_int_equal(spe_spu_create(&rig.config, &host, &rig.spu, NULL, 0), SPE_OK);
        enable(&rig, BASE);
        sized_record(&record, 90);
        assert_int_equal(spu_buffer_write(rig.spu, &record), SPE_FATE_ABORT);
        assert_int_equal(MSS(&rig), 0x11);
        assert_int_equal(EC(&rig), 0x24);
        assert_int_equal(EA(&rig), 1);
        assert_int_equal(DL(&rig), 1);
        assert_int_equal(POINTER(&rig), BASE + 64);
        assert_true(accounts_agree(&rig));
        stop(&rig);
    }
}

/* ---- Priorities (D17.8.1) ------------------------------------------------------------------- */

/* D17.8-123: fault before abort before full; only the highest is recorded. */
static void test_priorities(void **state)
{
    static const struct spe_write_result fault = {.fault = SPE_FAULT_PERMISSION, .level = 3};
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, REPORT, "ext_abort_sync", "sync", "max_size", "128", "min_align_bytes", "4",
          "misaligned_ptr", "alignment_fault", NULL);
    /* A fault in a record after which the buffer would be full. */
    enable(&rig, LIMIT - 160);
    rig.answer = fault;
    rig.fault_at = LIMIT - 101;
    assert_int_equal(put(&rig, 60), SPE_FATE_FAULT);
    assert_int_equal(EC(&rig), 0x24);
    assert_int_equal(MSS(&rig), 0x0f);
    assert_int_equal(rig.pmu_full, 0);
    /* The same with an abort. */
    enable(&rig, LIMIT - 160);
    rig.answer = write_abort;
    assert_int_equal(put(&rig, 60), SPE_FATE_ABORT);
    assert_int_equal(MSS(&rig), 0x10);
    assert_int_equal(rig.pmu_full, 0);
    /* A fault of the pointer, an abort of its first byte, and full. */
    enable(&rig, LIMIT - 159);
    rig.fault_at = LIMIT - 159;
    rig.events = 0;
    assert_int_equal(put(&rig, 60), SPE_FATE_FAULT);
    assert_int_equal(MSS(&rig), 0x21);
    assert_int_equal(EA(&rig), 0);
    assert_int_equal(rig.events, 1);
    assert_int_equal(rig.pmu_full, 0);
    stop(&rig);
}

/* ---- Access not allowed (D17.8.5) ----------------------------------------------------------- */

static void test_not_allowed(void **state)
{
    struct rig rig;

    (void)state;
    START(&rig, PLAIN, "access_not_allowed", "event", NULL);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, UINT64_C(0x5003f)); /* EA, COLL and an old BSC */
    rig.answer = (struct spe_write_result){.fault = SPE_FAULT_NOT_ALLOWED};
    rig.fault_at = BASE + 33;
    assert_int_equal(put(&rig, 80), SPE_FATE_NOT_ALLOWED);
    assert_int_equal(get(&rig, SPE_REG_PMBSR_EL1), UINT64_C(0xf0000)); /* D17.8-171 D17.8-001 */
    assert_int_equal(POINTER(&rig), BASE);
    assert_int_equal(put(&rig, 80), SPE_FATE_STOPPED);
    assert_true(accounts_agree(&rig));
    stop(&rig);

    START(&rig, PLAIN, "access_not_allowed", "silent_discard", NULL); /* D17.8-170 */
    rig.answer = (struct spe_write_result){.fault = SPE_FAULT_NOT_ALLOWED};
    rig.fault_at = BASE + 33;
    assert_int_equal(put(&rig, 80), SPE_FATE_NOT_ALLOWED);
    assert_int_equal(get(&rig, SPE_REG_PMBSR_EL1), 0);
    assert_int_equal(POINTER(&rig), BASE);
    assert_int_equal(rig.events, 0);
    rig.fault_at = NOWHERE;
    assert_int_equal(put(&rig, 80), SPE_FATE_WRITTEN);
    assert_memory_equal(at(&rig, BASE), rig.notice.bytes, 80);
    assert_true(accounts_agree(&rig));
    stop(&rig);
}

/* A host without memory, one that stops without a reason, one that invents a fault or bytes. */
static void test_hosts_that_answer_nonsense(void **state)
{
    struct rig rig;
    struct spe_record record;
    struct spe_spu *bare;

    (void)state;
    START(&rig, PLAIN, NULL);
    rig.short_answer = true;
    assert_int_equal(put(&rig, 80), SPE_FATE_NOT_ALLOWED);
    rig.short_answer = false;
    enable(&rig, BASE);
    rig.answer = (struct spe_write_result){.fault = SPE_FAULT_COUNT};
    rig.fault_at = BASE + 8;
    assert_int_equal(put(&rig, 80), SPE_FATE_NOT_ALLOWED);
    assert_true(accounts_agree(&rig));

    assert_int_equal(spe_spu_create(&rig.config, NULL, &bare, NULL, 0), SPE_OK);
    spe_spu_reg_set(bare, SPE_REG_PMBPTR_EL1, BASE);
    spe_spu_reg_set(bare, SPE_REG_PMBLIMITR_EL1, LIMIT | 1);
    spe_spu_reg_set(bare, SPE_REG_PMBSR_EL1, 0);
    sized_record(&record, 40);
    assert_int_equal(spu_buffer_write(bare, &record), SPE_FATE_NOT_ALLOWED);
    assert_true(spe_spu_interrupt(bare));
    spe_spu_destroy(bare);
    stop(&rig);
}

static void answer_too_much(void *user, const struct spe_write *w, struct spe_write_result *result)
{
    result->written = w->size + *(const uint32_t *)user;
    result->fault = w->address >= BASE + 64 ? SPE_FAULT_TRANSLATION : SPE_FAULT_NONE;
}

/* As many bytes as there were, or more: the pointer never goes past the write, and a fault keeps
 * one. */
static void test_hosts_that_boast(void **state)
{
    uint32_t more;
    const struct spe_spu_host host = {
        .size = sizeof(host), .user = &more, .write = answer_too_much};
    struct rig rig;
    struct spe_record record;

    (void)state;
    sized_record(&record, 40);
    for (more = 0; more < 3; more++) {
        configure(&rig, PLAIN, NULL);
        assert_int_equal(spe_spu_create(&rig.config, &host, &rig.spu, NULL, 0), SPE_OK);
        enable(&rig, BASE);
        assert_int_equal(spu_buffer_write(rig.spu, &record), SPE_FATE_WRITTEN);
        assert_int_equal(POINTER(&rig), BASE + 40);
        assert_int_equal(spu_buffer_write(rig.spu, &record), SPE_FATE_FAULT);
        assert_int_equal(POINTER(&rig), BASE + 64 + 15);
        assert_true(accounts_agree(&rig));
        stop(&rig);
    }
}

/* A record that the layout has no place for cannot be written. */
static void test_record_without_a_place(void **state)
{
    struct rig rig;
    struct spe_record record;

    (void)state;
    memset(&rig, 0, sizeof(rig));
    rig.fault_at = NOWHERE;
    assert_int_equal(spe_spu_config_init(&rig.config, "neoverse-n1"), SPE_OK);
    create(&rig);
    sized_record(&record, 245);
    assert_int_equal(spu_buffer_write(rig.spu, &record), SPE_FATE_NOT_ALLOWED);
    assert_int_equal(rig.writes, 0);
    assert_int_equal(S(&rig), 1);
    stop(&rig);
}

/* ---- Discard mode, disabled, stopped -------------------------------------------------------- */

static void test_not_written(void **state)
{
    struct rig rig;
    struct spe_spu_stats s;

    (void)state;
    START(&rig, PLAIN, NULL);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBLIMITR_EL1, LIMIT | 2 << 1 | 1);
    assert_int_equal(put(&rig, 50), SPE_FATE_DISCARD_MODE);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBPTR_EL1, LIMIT + 5); /* no rule for it in Discard mode */
    assert_int_equal(put(&rig, 50), SPE_FATE_DISCARD_MODE);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBLIMITR_EL1, LIMIT);
    assert_int_equal(put(&rig, 50), SPE_FATE_DISABLED);
    spe_spu_reg_set(rig.spu, SPE_REG_PMBSR_EL1, UINT64_C(1) << 17);
    assert_int_equal(put(&rig, 50), SPE_FATE_STOPPED);
    spe_spu_stats(rig.spu, &s);
    assert_int_equal(s.bytes_discarded_by[SPE_FATE_DISCARD_MODE], 100);
    assert_int_equal(s.bytes_discarded_by[SPE_FATE_DISABLED], 50);
    assert_int_equal(s.bytes_discarded_by[SPE_FATE_STOPPED], 50);
    assert_int_equal(s.bytes_built, 200);
    assert_int_equal(s.bytes_written, 0);
    assert_int_equal(s.records, 0);
    assert_int_equal(rig.writes, 0);
    assert_int_equal(rig.cti, 0);
    assert_int_equal(rig.notices, 4);
    stop(&rig);
}

/* ---- Granules (D18.1) ----------------------------------------------------------------------- */

/* D18.1-016 D18.1-017: any size of the writes, fixed or not, leaves the same bytes, pointer and
 * events, and no write is larger than the granule or crosses a multiple of it. */
static void test_granules(void **state)
{
    static const char *const modes[] = {"fixed", "varying"};
    static uint8_t expected[WINDOW];
    uint64_t expected_pointer = 0, expected_pmbsr = 0;
    unsigned distinct = 0, last_writes = 0;
    struct rig rig;

    (void)state;
    for (unsigned granule = 1; granule <= 2048; granule *= 2)
        for (unsigned mode = 0; mode < 2; mode++) {
            char text[8];
            const char *const settings[] = {"access_granule_bytes", text, "access_granule_mode",
                                            modes[mode], NULL};
            struct random random = {.state = 7};

            snprintf(text, sizeof(text), "%u", granule);
            configure(&rig, PLAIN, settings);
            create(&rig);
            rig.answer = (struct spe_write_result){.fault = SPE_FAULT_TRANSLATION, .level = 2};
            rig.fault_at = BASE + 3 * PAGE + 123;
            enable(&rig, BASE + 13);
            while (put(&rig, 3 + random_below(&random, 100)) == SPE_FATE_WRITTEN)
                ;
            assert_true(rig.largest <= granule);
            assert_int_equal(rig.crossings, 0);
            if (granule == 1 && mode == 0) {
                memcpy(expected, rig.memory, sizeof(expected));
                expected_pointer = POINTER(&rig);
                expected_pmbsr = get(&rig, SPE_REG_PMBSR_EL1);
            }
            assert_memory_equal(rig.memory, expected, sizeof(expected));
            assert_int_equal(POINTER(&rig), expected_pointer);
            assert_int_equal(get(&rig, SPE_REG_PMBSR_EL1), expected_pmbsr);
            if (mode == 1 && granule > 4)
                assert_true(rig.writes > last_writes); /* some were smaller */
            distinct += mode == 0 && rig.writes != last_writes;
            last_writes = rig.writes;
            stop(&rig);
        }
    assert_true(distinct > 6);
}

/* ---- Who is told ---------------------------------------------------------------------------- */

static void test_notices(void **state)
{
    struct rig rig;
    struct spe_spu_stats s;

    (void)state;
    START(&rig, PLAIN, NULL);
    put(&rig, 33);
    assert_int_equal(rig.cti, 1);
    assert_int_equal(rig.notices, 1);
    assert_int_equal(rig.notice.pointer, BASE);
    assert_int_equal(rig.notice.size, 33);
    assert_int_equal(rig.notice.written, 33);
    assert_int_equal(rig.notice.fate, SPE_FATE_WRITTEN);
    assert_memory_equal(rig.notice.bytes, at(&rig, BASE), 33);
    put(&rig, 40);
    assert_int_equal(rig.notice.pointer, BASE + 33);
    rig.answer = (struct spe_write_result){.fault = SPE_FAULT_TRANSLATION};
    rig.fault_at = BASE + 80;
    put(&rig, 40);
    assert_int_equal(rig.cti, 2); /* a trigger says that a record was written */
    assert_int_equal(rig.event.el, 1);
    assert_int_equal(rig.event.pointer, BASE + 80);
    spe_spu_stats(rig.spu, &s);
    assert_int_equal(s.records, 2);
    assert_int_equal(s.management_events, 1);
    stop(&rig);
}

/* The limit with larger granules. */
static void test_limit_granule(void **state)
{
    static const char *const shifts[] = {"12", "14", "16"};
    static const uint64_t limits[] = {UINT64_C(0x40013000), UINT64_C(0x40010000),
                                      UINT64_C(0x40010000)};
    struct rig rig;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        const char *const settings[] = {"granule_shift", shifts[i], NULL};

        configure(&rig, PLAIN, settings);
        create(&rig);
        spe_spu_reg_set(rig.spu, SPE_REG_PMBLIMITR_EL1, UINT64_C(0x40013fff));
        assert_int_equal(spu_buffer_limit(rig.spu), limits[i]);
        stop(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sized_records),
        cmocka_unit_test(test_limit_every_room),
        cmocka_unit_test(test_pointer_out_of_place),
        cmocka_unit_test(test_full_buffers_are_valid),
        cmocka_unit_test(test_same_bytes_as_the_encoder),
        cmocka_unit_test(test_quick_encoding_is_used),
        cmocka_unit_test(test_full_exactly),
        cmocka_unit_test(test_full_leaves_the_rest),
        cmocka_unit_test(test_full_stops),
        cmocka_unit_test(test_full_after_padding),
        cmocka_unit_test(test_faults_everywhere),
        cmocka_unit_test(test_fault_to_the_byte),
        cmocka_unit_test(test_reader_after_fault),
        cmocka_unit_test(test_fault_boundary_dl),
        cmocka_unit_test(test_fault_while_stopped),
        cmocka_unit_test(test_permission_details),
        cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_tlb_conflict),
        cmocka_unit_test(test_fault_after_tlb_conflict),
        cmocka_unit_test(test_managed_descriptors),
        cmocka_unit_test(test_speculative_dirty),
        cmocka_unit_test(test_write_attributes),
        cmocka_unit_test(test_physical_address_size),
        cmocka_unit_test(test_abort_options),
        cmocka_unit_test(test_abort_unreported),
        cmocka_unit_test(test_abort_with_v1p3),
        cmocka_unit_test(test_walk_abort_sets_ea),
        cmocka_unit_test(test_abort_reported_sync),
        cmocka_unit_test(test_abort_reported_async),
        cmocka_unit_test(test_abort_async_order),
        cmocka_unit_test(test_abort_async_then_fault),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_not_allowed),
        cmocka_unit_test(test_hosts_that_answer_nonsense),
        cmocka_unit_test(test_hosts_that_boast),
        cmocka_unit_test(test_record_without_a_place),
        cmocka_unit_test(test_not_written),
        cmocka_unit_test(test_granules),
        cmocka_unit_test(test_notices),
        cmocka_unit_test(test_limit_granule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
