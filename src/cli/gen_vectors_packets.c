/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Test vectors of each packet's fields (D18.2), in the order of the text. */
#include "cli/gen_vectors.h"

/* ---- addresses (D18.2.1) --------------------------------------------------------------------- */

static const char *address_row(unsigned index)
{
    static const char *const rows[5] = {"D18.2-005", "D18.2-006", "D18.2-007", "D18.2-008",
                                        "D18.2-009 D18.2-017"};

    return index < 5 ? rows[index] : "D18.2-010";
}

static void address_indexes(struct writer *w)
{
    static const char *const features[2] = {ALL, PLAIN};

    for (unsigned i = 0; i < 32 * 2 * 2; i++) {
        unsigned index = i >> 2;
        bool extended = i & 2;
        struct test_vector *v;

        if (!extended && index > 7)
            continue;
        v = vectors_begin(w, features[i & 1], "D18.1-010 D18.1-022 D18.2-001 D18.2-004");
        tv_rows(v, extended ? "D18.1-035 D18.1-036 D18.2-003" : "D18.1-024 D18.1-032 D18.2-002");
        tv_rows(v, address_row(index));
        tv_id(v, "address-%u-%s-%s", index, extended ? "extended" : "short", v->features);
        tv_about(v, "Address packet of INDEX %u with a header of %s.", index,
                 extended ? "two bytes" : "one byte");
        tv_address(v, index, extended, UINT64_C(0x80ab12345678abcd));
        tv_op(v, 1, 0);
        vectors_finish_record(w);
    }
}

/* Each value of NS, EL and NSE, with and without FEAT_RME. */
static void instruction_addresses(struct writer *w)
{
    static const char *const features[2] = {ALL, "v1p2,pbt"};
    static const unsigned indexes[3] = {0, 1, 4};

    for (unsigned i = 0; i < 3 * 2 * 16; i++) {
        unsigned index = indexes[i / 32], top = i % 16;
        struct test_vector *v =
            vectors_begin(w, features[i / 16 % 2], "D18.2-011 D18.2-012 D18.2-013 D18.2-014");

        tv_rows(v, address_row(index));
        tv_id(v, "address-%u-top-%x-%s", index, top << 4, v->features);
        tv_about(v, "An instruction address at EL%u with NS %u and NSE %u.", top >> 1 & 3, top >> 3,
                 top & 1);
        tv_address(v, index, false, TOP(top << 4) | CODE);
        vectors_finish_record(w);
    }
}

static void address_boundaries(struct writer *w)
{
    static const uint64_t values[] = {0, 1, UINT64_C(0x7fffffffffffff), UINT64_C(0x80000000000000),
                                      UINT64_C(0xffffffffffffff)};

    for (unsigned i = 0; i < 5 * 5; i++) {
        unsigned index = i / 5;
        struct test_vector *v = vectors_begin(w, ALL, "D18.1-013");

        tv_rows(v, address_row(index));
        tv_rows(v, index == 2 ? "D18.2-018" : index == 3 ? "D18.2-021" : "D18.2-011");
        tv_id(v, "address-%u-value-%u", index, i % 5);
        tv_about(v, "An address at the border of its 56 bits, with a top byte of zero.");
        tv_address(v, index, false, values[i % 5]);
        vectors_finish_record(w);
    }
}

/* Bits that read as zero, and are not. */
static void address_zero_bits(struct writer *w)
{
    for (unsigned index = 0; index < 5; index++) {
        struct test_vector *v;

        if (index == 2)
            continue;
        v = vectors_begin(w, ALL, index == 3 ? "D18.2-021" : "D18.2-011");
        tv_id(v, "address-%u-zero-bits", index);
        tv_about(v, "Bits that read as zero are one: the other fields are as ever.");
        tv_address(v, index, false, TOP(index == 3 ? 0xa0 : 0x8f) | CODE);
        vectors_finish_record(w);
    }
}

static void data_addresses(struct writer *w)
{
    static const uint8_t tags[] = {0, 1, 0x0f, 0x7f, 0x80, 0xff};

    for (size_t i = 0; i < COUNT_OF(tags); i++) {
        struct test_vector *v = vectors_begin(w, ALL, "D18.2-007 D18.2-018 D18.2-019 D18.2-020");

        tv_id(v, "address-2-tag-%02x", tags[i]);
        tv_about(v, "A data address with TAG 0x%02x, which is not a part of ADDR.", tags[i]);
        tv_address(v, 2, false, TOP(tags[i]) | DATA);
        vectors_finish_record(w);
    }
}

static void physical_addresses(struct writer *w)
{
    static const char *const features[2] = {ALL, PLAIN};

    for (unsigned i = 0; i < 2 * 8; i++) { /* NS, CH, NSE */
        unsigned top = (i & 1) << 7 | (i & 2) << 5 | (i & 4) << 2;
        struct test_vector *v = vectors_begin(w, features[i / 8],
                                              "D18.2-008 D18.2-021 D18.2-022 D18.2-023 "
                                              "D18.2-024 D18.2-025 D18.2-026");

        tv_id(v, "address-3-top-%02x-%s", top, v->features);
        tv_about(v, "A physical address with NS %u, CH %u and NSE %u.", top >> 7, top >> 6 & 1,
                 top >> 4 & 1);
        tv_address(v, 3, false, TOP(top) | DATA);
        vectors_finish_record(w);
    }
    for (unsigned i = 0; i < 4; i++) {
        unsigned pat = i & 1 ? 15 : 8, ch = i >> 1;
        struct test_vector *v =
            vectors_begin(w, ALL, "D18.2-021 D18.2-024 D18.2-025 D18.2-027 D18.2-028");

        tv_id(v, "address-3-pat-%u-ch-%u", pat, ch);
        tv_about(v, "A physical address with the Physical Address Tag %u, %s.", pat,
                 ch ? "which was checked" : "which was not checked");
        tv_address(v, 3, false, TOP(0x80 | ch << 6 | pat) | DATA);
        vectors_finish_record(w);
    }
}

/* ---- contexts, counters, sources, timestamps ------------------------------------------------- */

static void contexts(struct writer *w)
{
    static const uint32_t values[] = {0, 1, 0x04030201, 0x80000000, 0xffffffff};

    for (unsigned i = 0; i < 4 * 5; i++) {
        unsigned index = i / 5;
        struct test_vector *v = vectors_begin(w, ALL, "D18.1-009 D18.1-013 D18.1-030 D18.2-029");

        tv_rows(v, index == 0 ? "D18.2-030" : index == 1 ? "D18.2-031" : "D18.1-022 D18.2-032");
        tv_id(v, "context-%u-value-%u", index, i % 5);
        tv_about(v, index < 2 ? "Context of CONTEXTIDR_EL%u." : "Context INDEX %u is reserved.",
                 index < 2 ? index + 1 : index);
        tv_context(v, index, values[i % 5]);
        tv_op(v, 1, 0);
        vectors_finish_record(w);
    }
}

static const char *counter_row(unsigned index)
{
    static const char *const rows[5] = {"D18.2-036", "D18.2-037", "D18.2-038", "D18.2-040",
                                        "D18.2-039"};

    return index < 5 ? rows[index] : "D18.2-040";
}

static void counter_indexes(struct writer *w)
{
    static const char *const features[2] = {ALL, PLAIN};

    for (unsigned i = 0; i < 32 * 2 * 2; i++) {
        unsigned index = i >> 2;
        bool extended = i & 2;
        struct test_vector *v;

        if (!extended && index > 7)
            continue;
        v = vectors_begin(w, features[i & 1], "D18.1-008 D18.1-022 D18.2-033");
        tv_rows(v, extended ? "D18.1-035 D18.1-037 D18.2-035" : "D18.1-024 D18.1-033 D18.2-034");
        tv_rows(v, counter_row(index));
        tv_id(v, "counter-%u-%s-%s", index, extended ? "extended" : "short", v->features);
        tv_about(v, "Counter packet of INDEX %u with a header of %s.", index,
                 extended ? "two bytes" : "one byte");
        tv_counter(v, index, extended, 0x123);
        tv_op(v, 1, 0);
        vectors_finish_record(w);
    }
}

static void alternate_clock(struct writer *w)
{
    static const char *const features[] = {"v1p0,altclk", "v1p1,sme,spe_sme",
                                           "v1p1,sme,spe_sme,altclk"};

    for (size_t i = 0; i < COUNT_OF(features); i++) {
        struct test_vector *v = vectors_begin(w, features[i], "D18.1-022 D18.2-033 D18.2-039");

        tv_id(v, "counter-4-%s", v->features);
        tv_about(v, "The alternate clock's issue latency with the features %s.", v->features);
        tv_counter(v, 4, false, 0x123);
        tv_op(v, 1, 0);
        vectors_finish_record(w);
    }
}

static void counter_values(struct writer *w)
{
    static const uint16_t values[] = {0, 1, 0xffe, 0xfff, 0x1000, 0xfffe, 0xffff};

    for (unsigned i = 0; i < 3 * 7 * 2; i++) {
        unsigned index = i / 14, count = values[i / 2 % 7];
        struct test_vector *v = vectors_begin(w, ALL, "D18.1-013 D18.2-033 D18.2-049");

        v->count_bits = i & 1 ? 12 : 16;
        if (v->count_bits == 12 && count > 0xfff)
            continue;
        tv_rows(v, counter_row(index));
        tv_rows(v, v->count_bits == 12 ? "D18.2-047" : "D18.2-048");
        tv_id(v, "counter-%u-value-%x-of-%u-bits", index, count, v->count_bits);
        tv_about(v,
                 "A count of %u where counters have %u bits; the largest is the mark of "
                 "saturation.",
                 count, v->count_bits);
        tv_counter(v, index, false, (uint16_t)count);
        vectors_finish_record(w);
    }
}

static void sources(struct writer *w)
{
    static const uint64_t values[] = {0,     1,      0x0e,       0xff,
                                      0x100, 0xffff, 0x80000000, UINT64_C(0x8000000000000000)};

    for (unsigned i = 0; i < 4 * 8; i++) {
        unsigned size = 1u << i / 8;
        uint64_t value = values[i % 8];
        struct test_vector *v;

        if (size < 8 && value >> 8 * size)
            continue;
        v = vectors_begin(w, ALL, "D18.1-013 D18.1-029 D18.2-051 D18.2-055");
        if (size > 2)
            tv_rows(v, "D18.1-022");
        tv_id(v, "source-%u-bytes-value-%u", size, i % 8);
        tv_about(v,
                 size > 2 ? "Data Source with a reserved size: step over %u bytes of payload."
                          : "Data Source of %u bytes; its meaning is the CPU's.",
                 size);
        tv_source(v, size, value);
        tv_op(v, 1, 0);
        vectors_finish_record(w);
    }
}

static void timestamps(struct writer *w)
{
    static const uint64_t values[] = {0,
                                      1,
                                      0x100,
                                      UINT64_C(0x0123456789abcdef),
                                      UINT64_C(0x7fffffffffffffff),
                                      UINT64_C(0x8000000000000000),
                                      UINT64_MAX};

    for (size_t i = 0; i < COUNT_OF(values); i++) {
        struct test_vector *v = vectors_begin(w, ALL,
                                              "D18.1-010 D18.1-012 D18.1-027 D18.2-139 D18.2-140 "
                                              "D18.2-141");

        tv_id(v, "timestamp-value-%zu", i);
        tv_about(v, "A Timestamp is an unsigned number of 64 bits, and ends the record.");
        tv_op(v, 1, 0);
        tv_timestamp(v, values[i]);
        vectors_finish(w);
    }
}

/* ---- events (D18.2.6) ------------------------------------------------------------------------ */

static const char *event_row(unsigned bit)
{
    static const char *const rows[26] = {
        "D18.2-094", "D18.2-091", "D18.2-090", "D18.2-088", "D18.2-087", "D18.2-086", "D18.2-085",
        "D18.2-084", "D18.2-081", "D18.2-080", "D18.2-079", "D18.2-078", "D18.2-077", "D18.2-077",
        "D18.2-077", "D18.2-077", "D18.2-076", "D18.2-074", "D18.2-073", "D18.2-071", "D18.2-070",
        "D18.2-068", "D18.2-067", "D18.2-066", "D18.2-065", "D18.2-064",
    };

    if (bit < 26)
        return rows[bit];
    return bit < 32 ? "D18.2-063" : bit < 48 ? "D18.2-062" : "D18.2-061";
}

static unsigned events_size(unsigned bit)
{
    return bit < 8 ? 1 : bit < 16 ? 2 : bit < 32 ? 4 : 8;
}

static void event_bits(struct writer *w)
{
    static const char *const features[5] = {ALL, PLAIN, "v1p1,sve", "v1p4", "v1p1,sme,spe_sme"};

    for (unsigned i = 0; i < 64 * 5; i++) {
        unsigned bit = i / 5;
        struct test_vector *v;

        if (i % 5 && (bit < 11 || bit > 31) && bit != 3) /* no feature changes them */
            continue;
        v = vectors_begin(w, features[i % 5], "D18.1-028 D18.2-057 D18.2-058");
        tv_rows(v, bit == 3 && !spe_has(v->set, SPE_FEAT_SPEv1p4) ? "D18.2-089" : event_row(bit));
        tv_id(v, "events-bit-%u-%s", bit, v->features);
        tv_about(v, "Event %u alone, in the smallest payload that has it.", bit);
        tv_events(v, events_size(bit), UINT64_C(1) << bit);
        vectors_finish_record(w);
    }
}

static void event_sizes(struct writer *w)
{
    for (unsigned i = 0; i < 4 * 3; i++) {
        unsigned size = 1u << i / 3;
        uint64_t all = size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1;
        uint64_t values[3] = {0, all, 0x16};
        struct test_vector *v = vectors_begin(w, ALL,
                                              "D18.1-013 D18.1-028 D18.2-057 D18.2-058 D18.2-059 "
                                              "D18.2-060");

        tv_id(v, "events-%u-bytes-value-%u", size, i % 3);
        tv_about(v, "Events of %u bytes: %s; those beyond the payload are zero.", size,
                 i % 3 == 0   ? "none"
                 : i % 3 == 1 ? "all"
                              : "retired, with an access to cache and TLB");
        tv_events(v, size, values[i % 3]);
        vectors_finish_record(w);
    }
}

static void event_pairs(struct writer *w)
{
    struct test_vector *v = vectors_begin(w, ALL, "D18.2-091 D18.2-094 D18.2-095");

    tv_id(v, "events-exception-not-retired");
    tv_about(v, "E[1:0] is 0b01: the meaning of E[0] is IMPLEMENTATION DEFINED, and nobody may "
                "call it an architectural exception.");
    tv_events(v, 1, 1);
    tv_op(v, 1, 0);
    vectors_finish_record(w);
    v = vectors_begin(w, ALL, "D18.2-091 D18.2-092 D18.2-094");
    tv_id(v, "events-exception-retired");
    tv_about(v, "E[1:0] is 0b11: the operation completed with a synchronous exception.");
    tv_events(v, 1, 3);
    tv_op(v, 1, 0);
    vectors_finish_record(w);
    v = vectors_begin(w, ALL, "D18.2-073 D18.2-074");
    tv_id(v, "events-empty-predicate");
    tv_about(v, "An empty predicate is a partial one, too: E[18] and E[17].");
    tv_events(v, 4, 0x60002);
    tv_op(v, 0, 0x0c);
    vectors_finish_record(w);
}

/* ---- operations (D18.2.7) -------------------------------------------------------------------- */

#define OP_ROWS "D18.1-007 D18.1-031 D18.2-096"

static void op_payloads(struct writer *w)
{
    for (unsigned i = 0; i < op_format_count * 256; i++) {
        const struct op_format *f = &op_formats[i / 256];
        unsigned payload = i % 256;
        struct test_vector *v;

        if ((payload & f->mask) != f->match)
            continue;
        v = vectors_begin(w, ALL, OP_ROWS);
        tv_rows(v, f->rows);
        tv_id(v, "op-%s-%02x", f->name, payload);
        tv_about(v, "Operation Type 0x%02x of CLASS %u: %s.", payload, f->class_, f->what);
        tv_op(v, f->class_, (uint8_t)payload);
        vectors_finish_record(w);
    }
}

static void one_op(struct writer *w, const struct op_format *f, const char *features, bool with)
{
    struct test_vector *v;

    if (!features)
        return;
    v = vectors_begin(w, features, OP_ROWS " D18.1-022 D18.2-100");
    tv_rows(v, f->rows);
    tv_id(v, "op-%s-%s-%s", f->name, with ? "with" : "without", features);
    tv_about(v, "With the features %s the format of %s is %s.", features, f->what,
             with ? "defined" : "reserved");
    tv_op(v, f->class_, f->match);
    vectors_finish_record(w);
}

static void op_features(struct writer *w)
{
    for (size_t i = 0; i < op_format_count; i++) {
        for (unsigned n = 0; n < 2; n++) {
            one_op(w, &op_formats[i], op_formats[i].with[n], true);
            one_op(w, &op_formats[i], op_formats[i].without[n], false);
        }
    }
}

static void op_reserved(struct writer *w)
{
    static const uint8_t ops[][2] = {
        {0, 0x09}, {0, 0x10}, {0, 0x20}, {0, 0x40}, {0, 0x80}, {0, 0x89}, {0, 0xff},
        {1, 0x22}, {1, 0x24}, {1, 0x32}, {1, 0x34}, {1, 0x42}, {1, 0x50}, {1, 0x60},
        {1, 0x80}, {1, 0x84}, {1, 0xf0}, {1, 0xff}, {2, 0x20}, {2, 0x40}, {2, 0x80},
        {2, 0xff}, {3, 0x00}, {3, 0x55}, {3, 0xff},
    };

    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        struct test_vector *v = vectors_begin(w, ALL, OP_ROWS " D18.1-022 D18.2-099 D18.2-100");

        tv_id(v, "op-reserved-%u-%02x", ops[i][0], ops[i][1]);
        tv_about(v, "Operation Type 0x%02x of CLASS %u has no format: the packet is ignored.",
                 ops[i][1], ops[i][0]);
        tv_op(v, ops[i][0], ops[i][1]);
        tv_events(v, 1, 2);
        vectors_finish_record(w);
    }
}

/* Lengths are rounded up to a size that EVL or ETS can name. */
static void op_sizes(struct writer *w)
{
    static const struct {
        const char *what;
        unsigned length;
        uint8_t class_, payload;
        const char *features, *rows;
    } sizes[] = {
        {"vector", 8, 0, 0x08, "v1p1,sve", "D18.2-105 D18.2-106 D18.2-107"},
        {"vector", 33, 0, 0x18, "v1p1,sve", "D18.2-105 D18.2-106 D18.2-107"},
        {"vector", 96, 0, 0x28, "v1p1,sve", "D18.2-105 D18.2-106 D18.2-107"},
        {"vector", 2048, 0, 0x68, "v1p1,sve", "D18.2-105 D18.2-106"},
        {"vector", 4096, 0, 0x78, ALL, "D18.2-105 D18.2-106"},
        {"loaded vector", 384, 1, 0x48, "v1p1,sve", "D18.2-105 D18.2-126"},
        {"loaded vector", 4096, 1, 0x78, ALL, "D18.2-105 D18.2-126"},
        {"tile", 64, 0, 0x88, ALL, "D18.2-110 D18.2-111 D18.2-112"},
        {"tile", 129, 0, 0x8c, ALL, "D18.2-110 D18.2-111 D18.2-112"},
        {"tile", 262144, 0, 0xdc, ALL, "D18.2-110 D18.2-111"},
        {"tile", 262145, 0, 0xfc, ALL, "D18.2-110 D18.2-112"},
        {"whole array", 524288, 0, 0xfc, ALL, "D18.2-110 D18.2-113 D18.2-114"},
    };

    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct test_vector *v = vectors_begin(w, sizes[i].features, OP_ROWS);

        tv_rows(v, sizes[i].rows);
        tv_id(v, "op-size-%s-%u", sizes[i].class_ ? "load" : sizes[i].what, sizes[i].length);
        for (char *p = v->id; *p; p++)
            *p = *p == ' ' ? '-' : *p;
        tv_about(v, "A %s of %u bits: the next size that the field can name is recorded.",
                 sizes[i].what, sizes[i].length);
        tv_op(v, sizes[i].class_, sizes[i].payload);
        vectors_finish_record(w);
    }
}

static void op_over_2048(struct writer *w)
{
    for (unsigned class_ = 0; class_ < 2; class_++) {
        struct test_vector *v = vectors_begin(w, "v1p1,sve", OP_ROWS " D18.1-022 D18.2-105");

        tv_id(v, "op-evl-7-without-spe-sme-%u", class_);
        tv_about(v, "EVL 0b111 is reserved without FEAT_SPE_SME.");
        tv_op(v, class_, 0x78);
        tv_events(v, 1, 2);
        vectors_finish_record(w);
    }
}

void packet_vectors(struct writer *w)
{
    static void (*const groups[])(struct writer *) = {
        address_indexes,
        instruction_addresses,
        address_boundaries,
        address_zero_bits,
        data_addresses,
        physical_addresses,
        contexts,
        counter_indexes,
        alternate_clock,
        counter_values,
        sources,
        timestamps,
        event_bits,
        event_sizes,
        event_pairs,
        op_payloads,
        op_features,
        op_reserved,
        op_sizes,
        op_over_2048,
    };

    for (size_t i = 0; i < COUNT_OF(groups); i++)
        groups[i](w);
}
