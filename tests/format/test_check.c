/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe_check_record: what is reported for records made by hand, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <specimen/format.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Records -------------------------------------------------------------------------------- */

struct part {
    uint8_t type, index, size;
    uint64_t payload;
};

#define PARTS 16
#define STOP 0xff /* marks the end of the parts: zero is a padding packet */

#define ADDRESS(index, payload)                                                                    \
    {                                                                                              \
        SPE_PACKET_ADDRESS, index, 8, payload                                                      \
    }
#define COUNTER(index, payload)                                                                    \
    {                                                                                              \
        SPE_PACKET_COUNTER, index, 2, payload                                                      \
    }
#define OP(class_, payload)                                                                        \
    {                                                                                              \
        SPE_PACKET_OP_TYPE, class_, 1, payload                                                     \
    }
#define EVENTS(payload)                                                                            \
    {                                                                                              \
        SPE_PACKET_EVENTS, 0, 8, payload                                                           \
    }
#define SOURCE(payload)                                                                            \
    {                                                                                              \
        SPE_PACKET_DATA_SOURCE, 0, 1, payload                                                      \
    }
#define CONTEXT(index)                                                                             \
    {                                                                                              \
        SPE_PACKET_CONTEXT, index, 4, 7                                                            \
    }
#define TIMESTAMP                                                                                  \
    {                                                                                              \
        SPE_PACKET_TIMESTAMP, 0, 8, 9                                                              \
    }
#define END                                                                                        \
    {                                                                                              \
        SPE_PACKET_END, 0, 0, 0                                                                    \
    }
#define PADDING                                                                                    \
    {                                                                                              \
        SPE_PACKET_PADDING, 0, 0, 0                                                                \
    }
#define NO_MORE                                                                                    \
    {                                                                                              \
        STOP, 0, 0, 0                                                                              \
    }

/* Non-secure EL1 and EL0 instruction addresses, a low virtual and a Non-secure physical address. */
#define PC ADDRESS(0, UINT64_C(0xa0ffff8000081000))
#define PC_EL0 ADDRESS(0, UINT64_C(0x8000aaaa00001000))
#define TARGET ADDRESS(1, UINT64_C(0xa0ffff8000082000))
#define VA ADDRESS(2, UINT64_C(0x0000ffff00003000))
#define PA ADDRESS(3, UINT64_C(0x8000000040003000))
#define PREVIOUS ADDRESS(4, UINT64_C(0xa0ffff8000080000))
#define TOTAL COUNTER(0, 20)
#define ISSUE COUNTER(1, 5)
#define TRANSLATION COUNTER(2, 1)

/* An address with this byte 7. */
#define TOP(index, byte) ADDRESS(index, (uint64_t)(byte) << 56 | 0x1000)

#define RETIRED 0x2
#define EXCEPTION 0x1

#define LOAD OP(1, 0x00)
#define STORE OP(1, 0x01)
#define BRANCH OP(2, 0x00)
#define COND_BRANCH OP(2, 0x01)
#define OTHER OP(0, 0x00)

static size_t encode(const struct part *parts, uint8_t *bytes, size_t room)
{
    size_t size = 0;

    for (; parts->type != STOP; parts++) {
        struct spe_packet p;
        int n;

        assert_int_equal(
            spe_packet_make(&p, parts->type, parts->index, parts->size, parts->payload), SPE_OK);
        n = spe_packet_encode(&p, bytes + size, room - size);
        assert_true(n > 0);
        size += (size_t)n;
    }
    return size;
}

/* ---- Reports, as text ----------------------------------------------------------------------- */

/* Rules that some case has made speak. */
static bool spoken[100];

struct reports {
    char text[1000]; /* "rule rule? rule": a question mark for a remark */
    char details[1000];
    uint64_t last_offset;
};

static void note(void *user, const struct spe_violation *v)
{
    struct reports *r = user;
    size_t used = strlen(r->text), details = strlen(r->details);

    snprintf(r->text + used, sizeof(r->text) - used, "%s%s%s", used ? " " : "", v->rule->name,
             v->severity == SPE_REMARK ? "?" : "");
    snprintf(r->details + details, sizeof(r->details) - details, "%s%s", details ? "; " : "",
             v->detail);
    r->last_offset = v->offset;
    for (size_t i = 0; spe_rule_at(i); i++)
        if (spe_rule_at(i) == v->rule)
            spoken[i] = true;
}

static int count_words(const char *text)
{
    int words = *text != '\0';

    for (; *text; text++)
        words += *text == ' ';
    return words;
}

static struct reports check_bytes(const struct spe_check_config *config, const uint8_t *bytes,
                                  size_t size, uint64_t offset)
{
    struct reports r = {"", "", 0};
    int n = spe_check_record(config, bytes, size, offset, note, &r);

    assert_int_equal(n, count_words(r.text));
    assert_int_equal(spe_check_record(config, bytes, size, offset, NULL, NULL), n);
    return r;
}

#define F(name) SPE_FEAT(name)
#define V1P0 (F(SPE) | F(Secure) | F(EL2) | F(EL3))
#define V1P1 (V1P0 | F(SPEv1p1))
#define V1P2 (V1P1 | F(SPEv1p2) | F(SPE_FnE))
#define V1P3 (V1P2 | F(SPEv1p3))
#define V1P4 (V1P3 | F(SPEv1p4))
#define SVE_ (V1P1 | F(SVE))
#define SME_ (V1P1 | F(SME) | F(SPE_SME) | F(SPE_ALTCLK))

enum {
    SPECULATIVE = 1,
    TBI = 2,
    BITS12 = 4,
    BITS16 = 8,
};

struct example {
    spe_features features;
    unsigned flags;
    const char *expected;
    struct part parts[PARTS];
};

static void try_example(const struct example *x, size_t i)
{
    struct spe_check_config config = {
        .size = sizeof(config),
        .features = x->features,
        .count_bits = x->flags & BITS12   ? 12
                      : x->flags & BITS16 ? 16
                                          : 0,
        .speculative = x->flags & SPECULATIVE,
        .tbi = x->flags & TBI,
    };
    uint8_t bytes[200];
    size_t size = encode(x->parts, bytes, sizeof(bytes));
    struct reports r = check_bytes(&config, bytes, size, 64);

    if (strcmp(r.text, x->expected))
        fail_msg("example %zu: expected '%s', got '%s' (%s)", i, x->expected, r.text, r.details);
}

#define TRY(examples)                                                                              \
    do {                                                                                           \
        (void)state;                                                                               \
        for (size_t i_ = 0; i_ < COUNT(examples); i_++)                                            \
            try_example(&(examples)[i_], i_);                                                      \
    } while (0)

/* ---- Good records --------------------------------------------------------------------------- */

static void good_records(void **state)
{
    static const struct example examples[] = {
        /* A load with all that a Neoverse N1 writes, and padding in between. */
        {V1P0 | F(SPE_LDS),
         BITS12,
         "",
         {PC, CONTEXT(0), CONTEXT(1), PADDING, LOAD, EVENTS(0x16), ISSUE, TOTAL, VA, TRANSLATION,
          PA, SOURCE(0), TIMESTAMP, NO_MORE}},
        {V1P0,
         BITS12,
         "",
         {PC, STORE, EVENTS(0x16), ISSUE, TOTAL, VA, TRANSLATION, PA, TIMESTAMP, NO_MORE}},
        {V1P0, 0, "", {PC, BRANCH, EVENTS(RETIRED), TARGET, TOTAL, ISSUE, END, NO_MORE}},
        {V1P0, 0, "", {PC_EL0, OTHER, EVENTS(RETIRED), TOTAL, ISSUE, END, NO_MORE}},
        /* Nothing but Events and a terminator: exception, or not retired (D17.6-160, D17.6-194). */
        {V1P0, 0, "", {EVENTS(RETIRED | EXCEPTION), END, NO_MORE}},
        {V1P0, SPECULATIVE, "", {EVENTS(0), END, NO_MORE}},
        {V1P0, SPECULATIVE, "", {EVENTS(EXCEPTION), TIMESTAMP, NO_MORE}},
        /* A not-taken branch, with and without a target, which is then UNKNOWN (D17.6-035). */
        {V1P0 | F(SPE_ArchInst), 0, "", {PC, COND_BRANCH, EVENTS(0x42), END, NO_MORE}},
        {V1P0, 0, "", {PC, COND_BRANCH, EVENTS(0x42), ADDRESS(1, UINT64_MAX), END, NO_MORE}},
        /* IMPLEMENTATION DEFINED addresses, counters and events. */
        {V1P0,
         0,
         "",
         {PC, OTHER, EVENTS(UINT64_C(0xffff0000ff00f002)), ADDRESS(6, 1), ADDRESS(31, 2),
          COUNTER(7, 3), COUNTER(16, 4), END, NO_MORE}},
        /* A prefetch is Other with all that a load has. */
        {V1P0 | F(SPE_LDS),
         0,
         "",
         {PC, OTHER, EVENTS(0x3e), VA, PA, TRANSLATION, SOURCE(0), END, NO_MORE}},
        {V1P0 | F(SPE_LDS), 0, "", {PC, LOAD, EVENTS(0x16), VA, SOURCE(8), END, NO_MORE}},
        /* A return that pops the Guarded control stack is a branch with a data access. */
        {V1P4 | F(GCS) | F(SPE_CRR) | F(SPE_LDS),
         0,
         "",
         {PC, OP(2, 0x16), EVENTS(0x16), TARGET, VA, PA, TRANSLATION, SOURCE(0), END, NO_MORE}},
    };

    TRY(examples);
}

/* ---- Framing -------------------------------------------------------------------------------- */

static void framing(void **state)
{
    static const struct {
        uint8_t size, bytes[16];
        const char *expected, *detail;
        unsigned offset;
    } cases[] = {
        {4, {0x42, 0x03, 0x01}, "", "", 0}, /* a padding byte follows: allowed between records */
        {2, {0x42, 0x03}, "missing-terminator", "", 0}, /* D18.1-012, D18.2-141 */
        {4, {0x42, 0x03, 0x01, 0x01}, "terminator-not-last", "End follows", 3}, /* D18.1-012 */
        {12,
         {0x42, 0x03, 0x01, 0x71},
         "terminator-not-last",
         "Timestamp follows",
         3}, /* D18.1-012: never both */
        {5, {0x42, 0x03, 0x01, 0x42, 0x03}, "terminator-not-last", "Events follows", 3},
        /* D18.1-019 */
        {4, {0x42, 0x03, 0xb0, 0x01}, "bad-framing", NULL, 2}, /* the packet does not end */
        {4, {0x42, 0x03, 0x20, 0x20}, "bad-framing", NULL, 2}, /* D18.1-011 */
        {5, {0x42, 0x03, 0x40, 0x00, 0x01}, "unallocated-header", "header 0x40 0x00", 2},
        /* D18.1-034 */
        {6, {0x42, 0x03, 0x24, 0xc8, 0x00, 0x01}, "unallocated-header", "header 0x24 0xc8", 2},
        /* D18.1-038 */
        {0, {0}, "missing-terminator", "", 0},
        {2, {0xb0, 0x01}, "bad-framing", NULL, 0}, /* and no more is said of such a record */
    };
    struct spe_check_config config = {.size = sizeof(config), .features = V1P0};

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct reports r = check_bytes(&config, cases[i].bytes, cases[i].size, 100);

        assert_string_equal(r.text, cases[i].expected);
        if (cases[i].detail)
            assert_string_equal(r.details, cases[i].detail);
        if (*r.text)
            assert_int_equal(r.last_offset, 100 + cases[i].offset);
    }
}

static void duplicates(void **state)
{
    static const struct example examples[] = {
        /* The first one counts: neither E[1]=0 nor EL3 is reported. */
        {V1P0, 0, "duplicate-packet", {EVENTS(3), EVENTS(0), END, NO_MORE}},
        {V1P0, 0, "duplicate-packet", {EVENTS(3), PC, TOP(0, 0xe0), END, NO_MORE}},
        {V1P0, 0, "duplicate-packet", {EVENTS(3), EVENTS(3), END, NO_MORE}},
        {V1P0, 0, "duplicate-packet", {EVENTS(3), PC, PC, END, NO_MORE}},
        {V1P0, 0, "duplicate-packet", {EVENTS(3), TOTAL, COUNTER(0, 9), END, NO_MORE}},
        {V1P0,
         0,
         "duplicate-packet",
         {EVENTS(3), CONTEXT(1), CONTEXT(0), CONTEXT(1), END, NO_MORE}},
        {V1P0, 0, "duplicate-packet", {EVENTS(3), OTHER, LOAD, END, NO_MORE}},
        {V1P0 | F(SPE_LDS), 0, "duplicate-packet", {EVENTS(3), SOURCE(1), SOURCE(1), END, NO_MORE}},
        {V1P0,
         0,
         "duplicate-packet duplicate-packet",
         {EVENTS(3), ADDRESS(16, 1), ADDRESS(16, 1), ADDRESS(16, 1), END, NO_MORE}},
    };

    TRY(examples);
}

static void size_and_alignment(void **state)
{
    uint8_t bytes[64] = {0x42, 0x03};
    struct spe_check_config config = {.size = sizeof(config), .features = V1P0};

    (void)state;
    bytes[63] = 0x01;
    config.max_size = 64;
    assert_string_equal(check_bytes(&config, bytes, 64, 0).text, "");
    config.max_size = 63;
    assert_string_equal(check_bytes(&config, bytes, 64, 0).text, "oversize");
    config.max_size = 0;
    config.align = 16;
    assert_string_equal(check_bytes(&config, bytes, 64, 48).text, ""); /* D18.1-020 */
    assert_string_equal(check_bytes(&config, bytes, 64, 56).text, "misaligned");
    config.align = 1;
    assert_string_equal(check_bytes(&config, bytes, 64, 57).text, "");
    config.align = 0;
    assert_string_equal(check_bytes(&config, bytes, 64, 57).text, "");
}

static void largest_record(void **state)
{
    static uint8_t bytes[SPE_RECORD_MAX + 1] = {0x42, 0x03};
    struct spe_check_config config = {.size = sizeof(config), .features = V1P0};

    (void)state;
    bytes[SPE_RECORD_MAX] = 0x01;
    assert_string_equal(check_bytes(&config, bytes, sizeof(bytes), 0).text, "oversize");
    bytes[SPE_RECORD_MAX - 1] = 0x01;
    assert_string_equal(check_bytes(&config, bytes, SPE_RECORD_MAX, 0).text, "");
}

/* ---- Reserved encodings --------------------------------------------------------------------- */

static void reserved_indexes(void **state)
{
    struct spe_check_config config = {.size = sizeof(config), .features = V1P0};

    (void)state;
    for (unsigned i = 0; i < 32; i++) {
        /* Typed from the INDEX tables; 4 needs features in both. */
        bool reserved_address = i == 4 || i == 5 || (i >= 8 && i <= 15);
        bool reserved_counter = i == 3 || i == 4 || i == 5 || (i >= 8 && i <= 15);
        struct part address[] = {
            EVENTS(0), VA, {SPE_PACKET_ADDRESS, (uint8_t)i, 8, 0x1}, END, NO_MORE};
        struct part counter[] = {EVENTS(3), {SPE_PACKET_COUNTER, (uint8_t)i, 2, 0}, END, NO_MORE};
        uint8_t bytes[64];
        struct reports r;

        config.speculative = true;
        if (i == 2)
            address[1] = (struct part)PC;
        r = check_bytes(&config, bytes, encode(address, bytes, sizeof(bytes)), 0);
        /* D18.2-009, D18.2-010 */
        assert_int_equal(strstr(r.text, "reserved-index") != NULL, reserved_address);
        r = check_bytes(&config, bytes, encode(counter, bytes, sizeof(bytes)), 0);
        /* D18.2-040 */
        assert_int_equal(strstr(r.text, "reserved-index") != NULL, reserved_counter);
    }
}

static void reserved_values(void **state)
{
    static const struct example examples[] = {
        {V1P0, 0, "reserved-index", {EVENTS(3), CONTEXT(2), END, NO_MORE}},      /* D18.2-032 */
        {V1P0, 0, "reserved-index", {EVENTS(3), CONTEXT(3), END, NO_MORE}},      /* D18.2-032 */
        {V1P2 | F(SPE_PBT), 0, "", {EVENTS(3), PREVIOUS, END, NO_MORE}},         /* D18.2-009 */
        {SME_, 0, "", {EVENTS(0x1000003), COUNTER(4, 1), END, NO_MORE}},         /* D18.2-039 */
        {V1P0, 0, "reserved-operation", {EVENTS(3), OP(3, 0), END, NO_MORE}},    /* D18.2-099 */
        {V1P0, 0, "reserved-operation", {EVENTS(3), OP(0, 0x80), END, NO_MORE}}, /* D18.2-100 */
        {V1P0, 0, "reserved-operation", {EVENTS(3), OP(2, 0x20), END, NO_MORE}}, /* D18.2-133 */
        {V1P1, 0, "reserved-operation", {EVENTS(3), OP(0, 0x08), END, NO_MORE}}, /* D18.2-104 */
        {SVE_, 0, "", {EVENTS(3), OP(0, 0x08), END, NO_MORE}},
        {SVE_, 0, "reserved-operation", {EVENTS(3), OP(0, 0x78), END, NO_MORE}}, /* D18.2-105 */
        {SVE_, 0, "reserved-operation", {EVENTS(3), OP(1, 0x78), END, NO_MORE}}, /* D18.2-105 */
        {SVE_ | F(SPE_SME), 0, "", {EVENTS(3), OP(1, 0x78), END, NO_MORE}},
        {SVE_, 0, "reserved-operation", {EVENTS(3), OP(0, 0x88), END, NO_MORE}}, /* D18.2-109 */
        {SME_, 0, "", {EVENTS(3), OP(0, 0x88), END, NO_MORE}},
        {SME_, 0, "reserved-operation", {EVENTS(3), OP(0, 0xe8), END, NO_MORE}}, /* ETS 12 */
        {SME_, 0, "reserved-operation", {EVENTS(3), OP(0, 0xec), END, NO_MORE}}, /* ETS 13 */
        {SME_, 0, "reserved-operation", {EVENTS(3), OP(0, 0xf8), END, NO_MORE}}, /* ETS 14 */
        {SME_, 0, "", {EVENTS(3), OP(0, 0xfc), END, NO_MORE}},                   /* D18.2-110 */
        {V1P0, 0, "reserved-operation", {EVENTS(3), OP(1, 0x10), END, NO_MORE}}, /* D18.2-118 */
        {V1P3, 0, "reserved-operation", {EVENTS(3), OP(1, 0x14), END, NO_MORE}}, /* D18.2-119 */
        {V1P0, 0, "reserved-operation", {EVENTS(3), OP(1, 0x30), END, NO_MORE}}, /* D18.2-120 */
        {V1P1, 0, "reserved-operation", {EVENTS(3), OP(1, 0x08), END, NO_MORE}}, /* D18.2-124 */
        {V1P3, 0, "reserved-operation", {EVENTS(3), OP(1, 0x20), END, NO_MORE}}, /* D18.2-129 */
        {V1P2 | F(MOPS), 0, "reserved-operation", {EVENTS(3), OP(1, 0x25), END, NO_MORE}},
        /* D18.2-130 */
        {V1P3 | F(GCS) | F(SPE_CRR),
         0,
         "reserved-operation",
         {EVENTS(3), OP(1, 0x44), END, NO_MORE}}, /* D18.2-131 */
    };
    static const uint8_t wide_source[] = {0x63, 0, 0, 0, 0, 0x42, 0x03, 0x01};
    struct spe_check_config config = {.size = sizeof(config), .features = V1P0 | F(SPE_LDS)};

    TRY(examples);
    /* D18.2-051 */
    assert_string_equal(check_bytes(&config, wide_source, sizeof(wide_source), 0).text,
                        "reserved-source-size");
}

/* ---- What must be there --------------------------------------------------------------------- */

#define INSTRUCTIONS (V1P0 | F(SPE_ArchInst))

static void missing_packets(void **state)
{
    static const struct example examples[] = {
        {V1P0, 0, "missing-events", {PC, OTHER, END, NO_MORE}}, /* D17.6-160, D17.6-194 */
        {V1P0, 0, "missing-events", {TIMESTAMP, NO_MORE}},
        /* D17.6-009, D17.6-010: a remark where a silent fault could explain it. */
        {V1P0, 0, "missing-operation? missing-pc?", {EVENTS(RETIRED), END, NO_MORE}},
        {V1P0, 0, "missing-operation?", {EVENTS(RETIRED), PC, END, NO_MORE}},
        {V1P0, 0, "missing-pc?", {EVENTS(RETIRED), OTHER, END, NO_MORE}},
        {V1P0, 0, "missing-pc", {EVENTS(RETIRED), BRANCH, TARGET, END, NO_MORE}}, /* D17.6-009 */
        {V1P0, 0, "missing-pc", {EVENTS(RETIRED), STORE, VA, END, NO_MORE}},
        {SVE_, 0, "missing-pc?", {EVENTS(RETIRED), OP(0, 0x08), END, NO_MORE}},
        {SVE_, 0, "missing-pc?", {EVENTS(RETIRED), OP(1, 0x08), VA, END, NO_MORE}},
        {SVE_, 0, "missing-pc", {EVENTS(RETIRED), OP(1, 0x09), VA, END, NO_MORE}},
        {V1P0 | F(SVE), 0, "missing-pc?", {EVENTS(RETIRED), OP(1, 0x04), VA, END, NO_MORE}},
        {SVE_, 0, "missing-pc", {EVENTS(RETIRED), OP(1, 0x04), VA, END, NO_MORE}},
        /* D17.6-028: instructions only, since what a micro-op records is not said. */
        {INSTRUCTIONS, 0, "missing-target", {EVENTS(RETIRED), PC, BRANCH, END, NO_MORE}},
        {V1P0, 0, "", {EVENTS(RETIRED), PC, BRANCH, END, NO_MORE}},
        {INSTRUCTIONS, 0, "", {EVENTS(RETIRED | EXCEPTION), PC, BRANCH, END, NO_MORE}},
        {INSTRUCTIONS, SPECULATIVE, "", {EVENTS(0), PC, BRANCH, END, NO_MORE}},
        /* D17.6-049 */
        {INSTRUCTIONS, 0, "missing-data-address", {EVENTS(RETIRED), PC, LOAD, END, NO_MORE}},
        {INSTRUCTIONS, 0, "missing-data-address", {EVENTS(RETIRED), PC, OP(1, 0x04), END, NO_MORE}},
        {INSTRUCTIONS, 0, "missing-data-address", {EVENTS(RETIRED), PC, OP(1, 0x13), END, NO_MORE}},
        {V1P0, 0, "", {EVENTS(RETIRED), PC, LOAD, END, NO_MORE}},
        {INSTRUCTIONS, 0, "", {EVENTS(RETIRED | EXCEPTION), PC, LOAD, END, NO_MORE}},
        /* Kinds that may have no address: Inactive elements, NV2. */
        {INSTRUCTIONS | SVE_, 0, "", {EVENTS(RETIRED), PC, OP(1, 0x08), END, NO_MORE}},
        {INSTRUCTIONS | F(NV) | F(NV2), 0, "", {EVENTS(RETIRED), PC, OP(1, 0x30), END, NO_MORE}},
        {INSTRUCTIONS | V1P1, 0, "", {EVENTS(RETIRED), PC, OP(1, 0x10), END, NO_MORE}},
        {INSTRUCTIONS | F(SVE), 0, "", {EVENTS(RETIRED), PC, OP(1, 0x04), END, NO_MORE}},
    };

    TRY(examples);
}

#define LDS (V1P0 | F(SPE_LDS))

static void data_sources(void **state)
{
    static const struct example examples[] = {
        /* D18.2-052: loads, LDADD, SWP */
        {LDS, 0, "missing-data-source", {EVENTS(RETIRED), PC, LOAD, TOTAL, VA, END, NO_MORE}},
        {LDS,
         0,
         "missing-data-source",
         {EVENTS(RETIRED), PC, OP(1, 0x06), TOTAL, VA, END, NO_MORE}},
        {LDS,
         0,
         "missing-data-source",
         {EVENTS(RETIRED), PC, OP(1, 0x16), TOTAL, VA, END, NO_MORE}},
        /* A micro-op that tells nothing of its execution may do without (D17.6.2). */
        {LDS, 0, "missing-data-source?", {EVENTS(RETIRED), PC, LOAD, VA, END, NO_MORE}},
        {LDS | F(SPE_ArchInst),
         0,
         "missing-data-source",
         {EVENTS(RETIRED), PC, LOAD, VA, END, NO_MORE}},
        {LDS, 0, "", {EVENTS(RETIRED), PC, LOAD, VA, SOURCE(0), END, NO_MORE}},
        {LDS, 0, "", {EVENTS(RETIRED | EXCEPTION), PC, LOAD, VA, END, NO_MORE}},
        {LDS, SPECULATIVE, "", {EVENTS(0), PC, LOAD, VA, END, NO_MORE}},
        {V1P0, 0, "", {EVENTS(RETIRED), PC, LOAD, VA, END, NO_MORE}},
        {LDS | SVE_,
         0,
         "missing-data-source?",
         {EVENTS(RETIRED), PC, OP(1, 0x08), VA, END, NO_MORE}},
        {LDS | SVE_, 0, "", {EVENTS(0x60002), PC, OP(1, 0x08), END, NO_MORE}},
        {LDS, 0, "", {EVENTS(RETIRED), PC, STORE, VA, END, NO_MORE}},
        /* STADD may have one or not. */
        {LDS, 0, "", {EVENTS(RETIRED), PC, OP(1, 0x07), VA, END, NO_MORE}},
        {LDS, 0, "", {EVENTS(RETIRED), PC, OP(1, 0x07), VA, SOURCE(0), END, NO_MORE}},
        /* Plain stores may not, but ST64BV looks like one. */
        {LDS, 0, "source-not-load", {EVENTS(RETIRED), PC, STORE, VA, SOURCE(0), END, NO_MORE}},
        {LDS | F(LS64) | F(LS64_V),
         0,
         "",
         {EVENTS(RETIRED), PC, STORE, VA, SOURCE(0), END, NO_MORE}},
        {LDS,
         0,
         "source-not-load",
         {EVENTS(RETIRED), PC, OP(1, 0x05), VA, SOURCE(0), END, NO_MORE}},
        {LDS,
         0,
         "source-not-load",
         {EVENTS(RETIRED), PC, OP(1, 0x13), VA, SOURCE(0), END, NO_MORE}},
        {LDS, 0, "source-not-load", {EVENTS(RETIRED), PC, BRANCH, TARGET, SOURCE(0), END, NO_MORE}},
        {V1P0, 0, "source-without-lds", {EVENTS(RETIRED), PC, LOAD, VA, SOURCE(0), END, NO_MORE}},
    };

    TRY(examples);
}

/* ---- Events --------------------------------------------------------------------------------- */

/* Bits that may be 1, typed from D18.2.6, for three sets of features. */
static void events_that_read_as_zero(void **state)
{
    static const struct {
        spe_features features;
        const char *allowed; /* E[0] first */
    } sets[] = {
        {V1P0, "1111111111101111"
               "0000000011111111" /* E[31:24] IMPLEMENTATION DEFINED: D18.2-063 to D18.2-065 */
               "0000000000000000" /* D18.2-062 */
               "1111111111111111"},
        {SVE_, "1111111111111111" /* D18.2-078 */
               "0110000011111111" /* D18.2-073, D18.2-074, D18.2-076 */
               "0000000000000000"
               "1111111111111111"},
        {V1P4, "1111111111111111"
               "0001111100000000" /* D18.2-063 to D18.2-068, D18.2-070, D18.2-071 */
               "0000000000000000"
               "1111111111111111"},
        {SPE_FEATURES_ALL, "1111111111111111"
                           "0111111111000000" /* D18.2-064, D18.2-065 */
                           "0000000000000000"
                           "1111111111111111"},
    };

    (void)state;
    for (size_t s = 0; s < COUNT(sets); s++) {
        for (unsigned e = 0; e < 64; e++) {
            struct part parts[] = {EVENTS(UINT64_C(1) << e), END, NO_MORE};
            struct spe_check_config config = {
                .size = sizeof(config), .features = sets[s].features, .speculative = true};
            char detail[20];
            uint8_t bytes[16];
            struct reports r;

            if (e == 18)
                parts[0].payload |= 1u << 17;
            r = check_bytes(&config, bytes, encode(parts, bytes, sizeof(bytes)), 0);
            if (sets[s].allowed[e] == '1') {
                assert_null(strstr(r.text, "event-reads-zero"));
                continue;
            }
            snprintf(detail, sizeof(detail), "E[%u]", e);
            assert_non_null(strstr(r.text, "event-reads-zero"));
            assert_non_null(strstr(r.details, detail));
        }
    }
}

static void events_and_operations(void **state)
{
    static const struct example examples[] = {
        {SVE_, 0, "empty-not-partial", {EVENTS(0x40003), END, NO_MORE}}, /* D18.2-074 */
        {SVE_, 0, "", {EVENTS(0x60003), END, NO_MORE}},
        {SVE_, 0, "", {EVENTS(0x20003), END, NO_MORE}},
        {V1P0, 0, "not-retired", {EVENTS(0), END, NO_MORE}}, /* D18.2-092 */
        {V1P0, 0, "not-retired", {EVENTS(EXCEPTION), END, NO_MORE}},
        /* D18.2-084 */
        {V1P0, 0, "", {EVENTS(0x82), PC, BRANCH, TARGET, END, NO_MORE}},
        {V1P0, 0, "mispredicted-not-branch", {EVENTS(0x82), PC, OTHER, END, NO_MORE}},
        {V1P0, 0, "mispredicted-not-branch", {EVENTS(0x82), PC, LOAD, VA, END, NO_MORE}},
        {V1P0, 0, "", {EVENTS(0x83), PC, OTHER, END, NO_MORE}},
        /* D18.2-085 */
        {V1P0, 0, "", {EVENTS(0x42), PC, OP(0, 0x01), END, NO_MORE}},
        {V1P0, 0, "not-taken-unconditional", {EVENTS(0x42), PC, OTHER, END, NO_MORE}},
        {V1P0, 0, "not-taken-unconditional", {EVENTS(0x42), PC, BRANCH, END, NO_MORE}},
        {V1P0, 0, "not-taken-unconditional", {EVENTS(0x42), PC, STORE, VA, END, NO_MORE}},
        /* D18.2-073, D18.2-074: SVE, SME, and what SME operations may be recorded as */
        {SVE_, 0, "", {EVENTS(0x20002), PC, OP(0, 0x0c), END, NO_MORE}},
        {SVE_, 0, "", {EVENTS(0x20002), PC, OP(1, 0x09), VA, END, NO_MORE}},
        {SVE_, 0, "", {EVENTS(0x20002), PC, OP(1, 0x10), VA, END, NO_MORE}},
        {SVE_, 0, "", {EVENTS(0x20002), PC, OTHER, END, NO_MORE}},
        {SVE_, 0, "predicate-event", {EVENTS(0x20002), PC, BRANCH, TARGET, END, NO_MORE}},
        {SVE_, 0, "predicate-event predicate-event", {EVENTS(0x60002), PC, LOAD, VA, END, NO_MORE}},
    };

    TRY(examples);
}

/* D18.2-078 to D18.2-081, D18.2-086 to D18.2-090 and E[23:19]: not for a branch, but for one that
 * accesses the Guarded control stack. */
static void memory_events_of_branches(void **state)
{
    static const unsigned memory[] = {2, 3, 4, 5, 8, 9, 10, 11, 19, 20, 21, 22, 23};

    (void)state;
    for (unsigned e = 2; e < 26; e++) {
        struct part plain[] = {
            EVENTS(RETIRED | UINT64_C(1) << e), PC, OP(2, 0x19), TARGET, END, NO_MORE};
        struct part gcs[] = {
            EVENTS(RETIRED | UINT64_C(1) << e), PC, OP(2, 0x1d), TARGET, END, NO_MORE};
        struct spe_check_config config = {
            .size = sizeof(config), .features = spe_features_close(V1P4 | F(GCS) | F(SPE_CRR))};
        uint8_t bytes[64];
        bool is_memory = false;

        for (size_t i = 0; i < COUNT(memory); i++)
            is_memory |= memory[i] == e;
        assert_int_equal(strstr(check_bytes(&config, bytes, encode(plain, bytes, 64), 0).text,
                                "memory-event") != NULL,
                         is_memory);
        assert_null(
            strstr(check_bytes(&config, bytes, encode(gcs, bytes, 64), 0).text, "memory-event"));
    }
}

/* ---- Operation types ------------------------------------------------------------------------ */

static void operation_fields(void **state)
{
    static const struct example examples[] = {
        /* D18.2-135: CR 0 to 3 without and with FEAT_SPE_CRR */
        {V1P4, 0, "", {EVENTS(3), OP(2, 0x00), END, NO_MORE}},
        {V1P4, 0, "call-return-without-crr", {EVENTS(3), OP(2, 0x08), END, NO_MORE}},
        {V1P4, 0, "call-return-without-crr", {EVENTS(3), OP(2, 0x10), END, NO_MORE}},
        {V1P4, 0, "call-return-without-crr", {EVENTS(3), OP(2, 0x18), END, NO_MORE}},
        {V1P4 | F(SPE_CRR), 0, "call-return-not-recorded", {EVENTS(3), OP(2, 0x00), END, NO_MORE}},
        {V1P4 | F(SPE_CRR), 0, "", {EVENTS(3), OP(2, 0x08), END, NO_MORE}},
        {V1P4 | F(SPE_CRR), 0, "", {EVENTS(3), OP(2, 0x10), END, NO_MORE}},
        {V1P4 | F(SPE_CRR), 0, "", {EVENTS(3), OP(2, 0x18), END, NO_MORE}},
        /* D18.2-136: both FEAT_SPEv1p4 and FEAT_GCS */
        {V1P3, 0, "branch-gcs", {EVENTS(3), OP(2, 0x04), END, NO_MORE}},
        {V1P4, 0, "branch-gcs", {EVENTS(3), OP(2, 0x04), END, NO_MORE}},
        {V1P3 | F(GCS), 0, "branch-gcs", {EVENTS(3), OP(2, 0x04), END, NO_MORE}},
        {V1P4 | F(GCS) | F(SPE_CRR), 0, "", {EVENTS(3), OP(2, 0x0c), END, NO_MORE}},
        /* D18.2-102 */
        {V1P0, 0, "other-flags", {EVENTS(3), OP(0, 0x02), END, NO_MORE}},
        {V1P0, 0, "other-flags", {EVENTS(3), OP(0, 0x04), END, NO_MORE}},
        {V1P0 | F(SPE_FPF) | F(SPE_EFT), 0, "", {EVENTS(3), OP(0, 0x06), END, NO_MORE}},
        {SVE_, 0, "", {EVENTS(3), OP(0, 0x0a), END, NO_MORE}}, /* FP of an SVE operation */
        /* D18.2-127: predicated loads from FEAT_SPEv1p2 on, stores always */
        {SVE_, 0, "load-predicated", {EVENTS(3), OP(1, 0x0c), END, NO_MORE}},
        {SVE_, 0, "", {EVENTS(3), OP(1, 0x0d), END, NO_MORE}},
        {SVE_ | V1P2, 0, "", {EVENTS(3), OP(1, 0x0c), END, NO_MORE}},
        /* D17.6-038, D18.2-132: COMM 0 is for PEs that sample micro-ops */
        {V1P4 | F(GCS) | F(SPE_CRR), 0, "", {EVENTS(3), OP(1, 0x40), END, NO_MORE}},
        {V1P4 | F(GCS) | F(SPE_CRR) | F(SPE_ArchInst),
         0,
         "gcs-of-branch",
         {EVENTS(3), OP(1, 0x40), END, NO_MORE}},
        {V1P4 | F(GCS) | F(SPE_CRR) | F(SPE_ArchInst),
         0,
         "",
         {EVENTS(3), OP(1, 0x44), END, NO_MORE}},
    };

    TRY(examples);
}

/* ---- Addresses ------------------------------------------------------------------------------ */

#define NO_SECURE (V1P0 & ~F(Secure))

static void address_fields(void **state)
{
    static const struct example examples[] = {
        /* D18.2-011, D18.2-017, D18.2-021: bits that are zero */
        {V1P0, 0, "address-zero-bits", {EVENTS(3), TOP(0, 0x81), END, NO_MORE}},
        {V1P0, 0, "address-zero-bits", {EVENTS(3), TOP(0, 0x88), END, NO_MORE}},
        {V1P2 | F(SPE_PBT), 0, "address-zero-bits", {EVENTS(3), TOP(4, 0x82), END, NO_MORE}},
        {V1P0, 0, "address-zero-bits", {EVENTS(3), VA, TOP(3, 0xa0), END, NO_MORE}},
        {V1P0, 0, "address-zero-bits", {EVENTS(RETIRED), PC, BRANCH, TOP(1, 0x84), END, NO_MORE}},
        /* D18.2-013, D18.2-023: NSE without FEAT_RME */
        {V1P0, 0, "nse-without-rme", {EVENTS(3), TOP(0, 0x90), END, NO_MORE}},
        {V1P0, 0, "nse-without-rme", {EVENTS(3), VA, TOP(3, 0x90), END, NO_MORE}},
        {V1P0 | F(RME), 0, "", {EVENTS(3), TOP(0, 0x90), VA, TOP(3, 0x90), END, NO_MORE}},
        /* D18.2-012, D18.2-022: {NSE,NS} 0b10 */
        {V1P0 | F(RME), 0, "security-reserved", {EVENTS(3), TOP(0, 0x10), END, NO_MORE}},
        {V1P0 | F(RME), 0, "security-reserved", {EVENTS(3), VA, TOP(3, 0x10), END, NO_MORE}},
        /* D18.2-012, D18.2-022: Secure */
        {V1P0 | F(RME), 0, "", {EVENTS(3), TOP(0, 0x00), VA, TOP(3, 0x00), END, NO_MORE}},
        {NO_SECURE | F(RME), 0, "secure-not-implemented", {EVENTS(3), TOP(0, 0x00), END, NO_MORE}},
        {NO_SECURE, 0, "secure-not-implemented", {EVENTS(3), VA, TOP(3, 0x00), END, NO_MORE}},
        /* D18.2-024, D18.2-027: CH and PAT */
        {V1P0, 0, "tag-fields-without-mte2", {EVENTS(3), VA, TOP(3, 0xc0), END, NO_MORE}},
        {V1P0, 0, "tag-fields-without-mte2", {EVENTS(3), VA, TOP(3, 0x81), END, NO_MORE}},
        {V1P0 | F(MTE) | F(MTE2), 0, "", {EVENTS(3), VA, TOP(3, 0xcf), END, NO_MORE}},
        /* D18.2-016, D18.2-014 */
        {V1P0, 0, "", {EVENTS(3), TOP(0, 0xc0), END, NO_MORE}},
        {V1P0, 0, "pc-at-el3", {EVENTS(3), TOP(0, 0xe0), END, NO_MORE}},
        {V1P0, 0, "pc-at-el3", {EVENTS(3), TOP(0, 0x60), END, NO_MORE}},
        /* An illegal exception return may say EL3 of its target. */
        {V1P0, 0, "", {EVENTS(RETIRED), PC, BRANCH, TOP(1, 0xe0), END, NO_MORE}},
        /* D18.2-019: a tag needs TBI; without, zero or the sign */
        {V1P0, 0, "tag-without-tbi", {EVENTS(RETIRED), PC, LOAD, TOP(2, 0x5a), END, NO_MORE}},
        {V1P0, 0, "tag-without-tbi", {EVENTS(RETIRED), PC, LOAD, TOP(2, 0xff), END, NO_MORE}},
        {V1P0, TBI, "", {EVENTS(RETIRED), PC, LOAD, TOP(2, 0x5a), END, NO_MORE}},
        {V1P0, 0, "", {EVENTS(3), PC, LOAD, TOP(2, 0x5a), END, NO_MORE}},
        {V1P0,
         0,
         "",
         {EVENTS(RETIRED), PC, LOAD, ADDRESS(2, UINT64_C(0xffff800000000000)), END, NO_MORE}},
        {V1P0,
         0,
         "",
         {EVENTS(RETIRED), PC, LOAD, ADDRESS(2, UINT64_C(0x00ff800000000000)), END, NO_MORE}},
        {V1P0,
         0,
         "tag-without-tbi",
         {EVENTS(RETIRED), PC, LOAD, ADDRESS(2, UINT64_C(0x7fff800000000000)), END, NO_MORE}},
    };

    TRY(examples);
}

static void addresses_and_operations(void **state)
{
    static const struct example examples[] = {
        /* D17.6-007, D17.6-040 */
        {V1P0, 0, "target-of-exception", {EVENTS(3), PC, TARGET, END, NO_MORE}},
        {V1P0, SPECULATIVE, "", {EVENTS(EXCEPTION), PC, TARGET, END, NO_MORE}}, /* E[0] unclear */
        /* D18.2-006 */
        {V1P0, 0, "target-not-branch", {EVENTS(RETIRED), PC, OTHER, TARGET, END, NO_MORE}},
        {V1P0, 0, "target-not-branch", {EVENTS(RETIRED), PC, LOAD, VA, TARGET, END, NO_MORE}},
        /* D18.2-007, D18.2-008 */
        {V1P0,
         0,
         "data-address-not-memory",
         {EVENTS(RETIRED), PC, BRANCH, TARGET, VA, END, NO_MORE}},
        {V1P0,
         0,
         "data-address-not-memory",
         {EVENTS(RETIRED), PC, BRANCH, TARGET, VA, PA, END, NO_MORE}},
        /* D17.6-085 */
        {V1P0, 0, "physical-without-virtual", {EVENTS(RETIRED), PC, LOAD, PA, END, NO_MORE}},
        {V1P0, 0, "physical-without-virtual", {EVENTS(3), PA, END, NO_MORE}},
        /* D17.6-048; any operation may have it otherwise */
        {V1P2 | F(SPE_PBT),
         SPECULATIVE,
         "previous-target-speculative?",
         {EVENTS(0), PC, PREVIOUS, END, NO_MORE}},
        {V1P2 | F(SPE_PBT),
         SPECULATIVE,
         "",
         {EVENTS(RETIRED), PC, LOAD, VA, PREVIOUS, END, NO_MORE}},
    };

    TRY(examples);
}

/* ---- Counters ------------------------------------------------------------------------------- */

static void counters(void **state)
{
    static const struct example examples[] = {
        /* D18.2-033, D18.2-047, D18.2-048 */
        {V1P0, BITS12, "", {EVENTS(3), COUNTER(0, 0xfff), COUNTER(6, 0xfff), END, NO_MORE}},
        {V1P0, BITS12, "counter-too-wide", {EVENTS(3), COUNTER(0, 0x1000), END, NO_MORE}},
        {V1P0,
         BITS12,
         "counter-too-wide counter-too-wide",
         {EVENTS(3), COUNTER(1, 0x8000), COUNTER(31, 0xffff), END, NO_MORE}},
        {V1P0, BITS16, "", {EVENTS(3), COUNTER(0, 0xffff), END, NO_MORE}},
        {V1P0, 0, "", {EVENTS(3), COUNTER(0, 0xffff), END, NO_MORE}},
        /* D18.2-036, D18.2-037 */
        {V1P0, BITS12, "issue-over-total?", {EVENTS(3), COUNTER(0, 4), ISSUE, END, NO_MORE}},
        {V1P0, BITS12, "", {EVENTS(3), COUNTER(0, 5), ISSUE, END, NO_MORE}},
        {V1P0, BITS12, "", {EVENTS(3), COUNTER(0, 4), COUNTER(1, 0xfff), END, NO_MORE}},
        {V1P0,
         BITS16,
         "issue-over-total?",
         {EVENTS(3), COUNTER(0, 4), COUNTER(1, 0xfff), END, NO_MORE}},
        /* D18.2-038 */
        {V1P0, 0, "translation-not-memory", {EVENTS(3), PC, BRANCH, TRANSLATION, END, NO_MORE}},
        /* D17.6-089 */
        {V1P0,
         0,
         "translation-without-address",
         {EVENTS(RETIRED), PC, LOAD, TRANSLATION, END, NO_MORE}},
        {SVE_,
         0,
         "translation-without-address?",
         {EVENTS(RETIRED), PC, OP(1, 0x08), TRANSLATION, END, NO_MORE}},
        {V1P0, 0, "", {EVENTS(RETIRED), PC, LOAD, COUNTER(2, 0), END, NO_MORE}},
        {V1P0, 0, "", {EVENTS(3), PC, LOAD, TRANSLATION, END, NO_MORE}},
        /* D18.2-039, D17.6-020 */
        {SME_, 0, "alternate-clock-not-streaming", {EVENTS(3), COUNTER(4, 1), END, NO_MORE}},
    };

    TRY(examples);
}

/* ---- All of it ------------------------------------------------------------------------------ */

static void rules_are_listed(void **state)
{
    size_t count = 0;

    (void)state;
    while (spe_rule_at(count))
        count++;
    assert_true(count < COUNT(spoken));
    for (size_t i = 0; i < count; i++) {
        const struct spe_rule *rule = spe_rule_at(i);

        assert_true(strlen(rule->name) > 0 && strlen(rule->reference) > 0);
        assert_int_equal(strspn(rule->name, "abcdefghijklmnopqrstuvwxyz0123456789-"),
                         strlen(rule->name));
        assert_true(strlen(rule->sentence) > 10);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(rule->name, spe_rule_at(j)->name);
    }
    assert_null(spe_rule_at(count + 1));
}

/* Runs last: no rule is without an example. */
static void every_rule_has_spoken(void **state)
{
    (void)state;
    for (size_t i = 0; spe_rule_at(i); i++)
        if (!spoken[i])
            fail_msg("no example breaks '%s'", spe_rule_at(i)->name);
}

/* Any bytes at all, for the sanitizers. */
static void random_bytes(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (unsigned n = 0; n < 20000; n++) {
        struct spe_check_config config = {.size = sizeof(config), .count_bits = 12, .align = 8};
        uint8_t bytes[48];

        for (size_t i = 0; i < sizeof(bytes); i++) {
            seed = seed * 1664525u + 1013904223u;
            bytes[i] = (uint8_t)(seed >> 24);
        }
        config.features = n & 1 ? SPE_FEATURES_ALL : V1P0;
        assert_true(spe_check_record(&config, bytes, n % (sizeof(bytes) + 1), n, NULL, NULL) >= 0);
    }
}

/* What is wrong with the record as a whole is reported at its first byte. */
static void note_offset(void *user, const struct spe_violation *v)
{
    if (!strcmp(v->rule->name, "nse-without-rme") || !strcmp(v->rule->name, "missing-operation") ||
        !strcmp(v->rule->name, "misaligned")) {
        assert_int_equal(v->offset, 4099);
        ++*(unsigned *)user;
    }
}

static void findings_have_their_place(void **state)
{
    static const uint8_t bytes[] = {0xb0, 0, 0x10, 0, 0, 0, 0, 0, 0x90, 0x42, 0x02, 0x01};
    const struct spe_check_config config = {
        .size = sizeof(config), .features = SPE_FEAT(SPE) | SPE_FEAT(Secure), .align = 64};
    unsigned found = 0;

    (void)state;
    spe_check_record(&config, bytes, sizeof(bytes), 4099, note_offset, &found);
    assert_int_equal(found, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_records),
        cmocka_unit_test(framing),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(size_and_alignment),
        cmocka_unit_test(largest_record),
        cmocka_unit_test(reserved_indexes),
        cmocka_unit_test(reserved_values),
        cmocka_unit_test(missing_packets),
        cmocka_unit_test(data_sources),
        cmocka_unit_test(events_that_read_as_zero),
        cmocka_unit_test(events_and_operations),
        cmocka_unit_test(memory_events_of_branches),
        cmocka_unit_test(operation_fields),
        cmocka_unit_test(address_fields),
        cmocka_unit_test(addresses_and_operations),
        cmocka_unit_test(counters),
        cmocka_unit_test(rules_are_listed),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(every_rule_has_spoken),
        cmocka_unit_test(findings_have_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
