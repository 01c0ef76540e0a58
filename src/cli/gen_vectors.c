/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The list of test vectors that `spe gen --vectors` writes; docs/vectors.md describes it. */
#include <stdio.h>

#include "cli/test_vector.h"

#define ALL "all"
#define PLAIN "v1p0"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TOP(n) ((uint64_t)(n) << 56)
#define CODE UINT64_C(0xaaaac8b15b98)
#define DATA UINT64_C(0xffff00001000)

struct writer {
    struct out *out;
    char *why;
    size_t why_size;
    bool good;
    struct test_vector v;
};

static struct test_vector *begin(struct writer *w, const char *features, const char *rows)
{
    tv_begin(&w->v, features, rows);
    return &w->v;
}

static void finish(struct writer *w)
{
    w->good = w->good && tv_check(&w->v, w->why, w->why_size);
    if (w->good)
        tv_json(w->out, &w->v);
}

/* A packet alone is a record with its End. */
static void finish_record(struct writer *w)
{
    tv_end(&w->v);
    finish(w);
}

/* ---- framing (D18.1) ------------------------------------------------------------------------- */

static bool is_allocated(unsigned header)
{
    return header <= 1 || header == 0x71 || (header & 0xcf) == 0x42 || (header & 0xcf) == 0x43 ||
           (header & 0xfc) == 0x64 || (header & 0xfc) == 0x48 || (header & 0xf8) == 0xb0 ||
           (header & 0xf8) == 0x98;
}

/* The row that gives the payload of such a header its size. */
static const char *size_row(unsigned header)
{
    static const char *const rows[4] = {"D18.1-007", "D18.1-008", "D18.1-009", "D18.1-010"};

    return header < 0x40 ? "D18.1-005" : rows[header >> 4 & 3];
}

/* Payloads of unknown packets are full of End headers: whoever does not step over them by their
 * size ends the record too early. */
#define ENDS UINT64_C(0x0101010101010101)

static void unknown_headers(struct writer *w)
{
    for (unsigned header = 0; header < 256; header++) {
        uint8_t byte = (uint8_t)header;
        struct test_vector *v;

        if (is_allocated(header) || (header >= 0x20 && header < 0x40))
            continue;
        v = begin(w, ALL, "D18.1-004 D18.1-021 D18.1-034");
        tv_rows(v, size_row(header));
        tv_id(v, "framing-unknown-%02x", header);
        tv_about(v, "Header 0x%02x is not allocated: step over the packet by its size.", header);
        tv_unknown(v, &byte, 1, ENDS);
        tv_op(v, 1, 0);
        finish_record(w);
    }
}

static void unknown_extended_headers(struct writer *w)
{
    static const uint8_t first[] = {0x20, 0x21, 0x22, 0x23, 0x24, 0x28, 0x30, 0x3f};
    static const uint8_t second[] = {0x00, 0x01, 0x1f, 0x42, 0x53, 0x64, 0x71,
                                     0x98, 0xb0, 0xc0, 0xd0, 0xe0, 0xff};

    for (size_t i = 0; i < COUNT(first) * COUNT(second); i++) {
        uint8_t header[2] = {first[i / COUNT(second)], second[i % COUNT(second)]};
        struct test_vector *v;

        if (header[0] < 0x24 && (header[1] == 0x98 || header[1] == 0xb0))
            continue;
        v = begin(w, ALL, "D18.1-003 D18.1-006 D18.1-011 D18.1-021 D18.1-038");
        tv_id(v, "framing-extended-%02x%02x", header[0], header[1]);
        tv_about(v,
                 "The two-byte header 0x%02x 0x%02x is not allocated: its second byte gives "
                 "the size of the payload.",
                 header[0], header[1]);
        tv_unknown(v, header, 2, ENDS);
        tv_op(v, 1, 0);
        finish_record(w);
    }
}

static void worked_layouts(struct writer *w)
{
    struct test_vector *v = begin(w, ALL,
                                  "D18.1-004 D18.1-012 D18.1-013 D18.1-014 D18.1-018 D18.1-026 "
                                  "D18.2-056");

    tv_id(v, "framing-worked-end");
    tv_about(v, "A packet with 16 bits, one with 8 bits, and End: the first example of D18.1.2.");
    tv_counter(v, 0, false, 0x1234);
    tv_op(v, 0, 0);
    finish_record(w);
    v = begin(w, ALL,
              "D18.1-012 D18.1-013 D18.1-015 D18.1-018 D18.1-027 D18.2-139 D18.2-140 "
              "D18.2-141");
    tv_id(v, "framing-worked-timestamp");
    tv_about(v, "The same packets and a Timestamp, least significant byte first: the second "
                "example of D18.1.2.");
    tv_counter(v, 0, false, 0x1234);
    tv_op(v, 0, 0);
    tv_timestamp(v, UINT64_C(0x0807060504030201));
    finish(w);
}

static void end_alone(struct writer *w)
{
    struct test_vector *v = begin(w, ALL, "D18.1-012 D18.1-026 D18.2-056 D18.2-143");

    tv_id(v, "framing-end-alone");
    tv_about(v, "A record of an End packet only: framing does not ask what a record holds.");
    finish_record(w);
}

static void whole_record(struct test_vector *v, uint64_t time)
{
    tv_address(v, 0, false, CODE | TOP(0x80));
    tv_op(v, 1, 0);
    tv_events(v, 2, 0x16);
    tv_timestamp(v, time);
}

/* Padding of `count` bytes between two records, or inside one. */
static void padding(struct writer *w)
{
    static const unsigned counts[] = {1, 2, 3, 7, 8, 15, 16, 17, 63};

    for (size_t i = 0; i < COUNT(counts); i++) {
        struct test_vector *v = begin(w, ALL, "D18.1-018 D18.1-019 D18.1-020 D18.1-025 D18.2-138");

        tv_id(v, "padding-between-%u", counts[i]);
        tv_about(v, "%u bytes of padding before, between and after records.", counts[i]);
        tv_padding(v, counts[i]);
        whole_record(v, 1);
        tv_padding(v, counts[i]);
        whole_record(v, 2);
        tv_padding(v, counts[i]);
        finish(w);
        v = begin(w, ALL, "D18.1-023 D18.1-025 D18.2-138");
        tv_id(v, "padding-inside-%u", counts[i]);
        tv_about(v, "%u bytes of padding inside a record, wherever a header may be.", counts[i]);
        tv_address(v, 0, false, CODE | TOP(0x80));
        tv_padding(v, counts[i]);
        tv_op(v, 1, 0);
        tv_padding(v, counts[i]);
        finish_record(w);
    }
}

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
        v = begin(w, features[i & 1], "D18.1-010 D18.1-022 D18.2-001 D18.2-004");
        tv_rows(v, extended ? "D18.1-035 D18.1-036 D18.2-003" : "D18.1-024 D18.1-032 D18.2-002");
        tv_rows(v, address_row(index));
        tv_id(v, "address-%u-%s-%s", index, extended ? "extended" : "short", v->features);
        tv_about(v, "Address packet of INDEX %u with a header of %s.", index,
                 extended ? "two bytes" : "one byte");
        tv_address(v, index, extended, UINT64_C(0x80ab12345678abcd));
        tv_op(v, 1, 0);
        finish_record(w);
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
            begin(w, features[i / 16 % 2], "D18.2-011 D18.2-012 D18.2-013 D18.2-014");

        tv_rows(v, address_row(index));
        tv_id(v, "address-%u-top-%x-%s", index, top << 4, v->features);
        tv_about(v, "An instruction address at EL%u with NS %u and NSE %u.", top >> 1 & 3, top >> 3,
                 top & 1);
        tv_address(v, index, false, TOP(top << 4) | CODE);
        finish_record(w);
    }
}

static void address_boundaries(struct writer *w)
{
    static const uint64_t values[] = {0, 1, UINT64_C(0x7fffffffffffff), UINT64_C(0x80000000000000),
                                      UINT64_C(0xffffffffffffff)};

    for (unsigned i = 0; i < 5 * 5; i++) {
        unsigned index = i / 5;
        struct test_vector *v = begin(w, ALL, "D18.1-013");

        tv_rows(v, address_row(index));
        tv_rows(v, index == 2 ? "D18.2-018" : index == 3 ? "D18.2-021" : "D18.2-011");
        tv_id(v, "address-%u-value-%u", index, i % 5);
        tv_about(v, "An address at the border of its 56 bits, with a top byte of zero.");
        tv_address(v, index, false, values[i % 5]);
        finish_record(w);
    }
}

/* Bits that read as zero, and are not. */
static void address_zero_bits(struct writer *w)
{
    for (unsigned index = 0; index < 5; index++) {
        struct test_vector *v;

        if (index == 2)
            continue;
        v = begin(w, ALL, index == 3 ? "D18.2-021" : "D18.2-011");
        tv_id(v, "address-%u-zero-bits", index);
        tv_about(v, "Bits that read as zero are one: the other fields are as ever.");
        tv_address(v, index, false, TOP(index == 3 ? 0xa0 : 0x8f) | CODE);
        finish_record(w);
    }
}

static void data_addresses(struct writer *w)
{
    static const uint8_t tags[] = {0, 1, 0x0f, 0x7f, 0x80, 0xff};

    for (size_t i = 0; i < COUNT(tags); i++) {
        struct test_vector *v = begin(w, ALL, "D18.2-007 D18.2-018 D18.2-019 D18.2-020");

        tv_id(v, "address-2-tag-%02x", tags[i]);
        tv_about(v, "A data address with TAG 0x%02x, which is not a part of ADDR.", tags[i]);
        tv_address(v, 2, false, TOP(tags[i]) | DATA);
        finish_record(w);
    }
}

static void physical_addresses(struct writer *w)
{
    static const char *const features[2] = {ALL, PLAIN};

    for (unsigned i = 0; i < 2 * 8; i++) { /* NS, CH, NSE */
        unsigned top = (i & 1) << 7 | (i & 2) << 5 | (i & 4) << 2;
        struct test_vector *v = begin(w, features[i / 8],
                                      "D18.2-008 D18.2-021 D18.2-022 D18.2-023 "
                                      "D18.2-024 D18.2-025 D18.2-026");

        tv_id(v, "address-3-top-%02x-%s", top, v->features);
        tv_about(v, "A physical address with NS %u, CH %u and NSE %u.", top >> 7, top >> 6 & 1,
                 top >> 4 & 1);
        tv_address(v, 3, false, TOP(top) | DATA);
        finish_record(w);
    }
    for (unsigned i = 0; i < 4; i++) {
        unsigned pat = i & 1 ? 15 : 8, ch = i >> 1;
        struct test_vector *v = begin(w, ALL, "D18.2-021 D18.2-024 D18.2-025 D18.2-027 D18.2-028");

        tv_id(v, "address-3-pat-%u-ch-%u", pat, ch);
        tv_about(v, "A physical address with the Physical Address Tag %u, %s.", pat,
                 ch ? "which was checked" : "which was not checked");
        tv_address(v, 3, false, TOP(0x80 | ch << 6 | pat) | DATA);
        finish_record(w);
    }
}

/* ---- contexts, counters, sources, timestamps ------------------------------------------------- */

static void contexts(struct writer *w)
{
    static const uint32_t values[] = {0, 1, 0x04030201, 0x80000000, 0xffffffff};

    for (unsigned i = 0; i < 4 * 5; i++) {
        unsigned index = i / 5;
        struct test_vector *v = begin(w, ALL, "D18.1-009 D18.1-013 D18.1-030 D18.2-029");

        tv_rows(v, index == 0 ? "D18.2-030" : index == 1 ? "D18.2-031" : "D18.1-022 D18.2-032");
        tv_id(v, "context-%u-value-%u", index, i % 5);
        tv_about(v, index < 2 ? "Context of CONTEXTIDR_EL%u." : "Context INDEX %u is reserved.",
                 index < 2 ? index + 1 : index);
        tv_context(v, index, values[i % 5]);
        tv_op(v, 1, 0);
        finish_record(w);
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
        v = begin(w, features[i & 1], "D18.1-008 D18.1-022 D18.2-033");
        tv_rows(v, extended ? "D18.1-035 D18.1-037 D18.2-035" : "D18.1-024 D18.1-033 D18.2-034");
        tv_rows(v, counter_row(index));
        tv_id(v, "counter-%u-%s-%s", index, extended ? "extended" : "short", v->features);
        tv_about(v, "Counter packet of INDEX %u with a header of %s.", index,
                 extended ? "two bytes" : "one byte");
        tv_counter(v, index, extended, 0x123);
        tv_op(v, 1, 0);
        finish_record(w);
    }
}

static void alternate_clock(struct writer *w)
{
    static const char *const features[] = {"v1p0,altclk", "v1p1,sme,spe_sme",
                                           "v1p1,sme,spe_sme,altclk"};

    for (size_t i = 0; i < COUNT(features); i++) {
        struct test_vector *v = begin(w, features[i], "D18.1-022 D18.2-033 D18.2-039");

        tv_id(v, "counter-4-%s", v->features);
        tv_about(v, "The alternate clock's issue latency with the features %s.", v->features);
        tv_counter(v, 4, false, 0x123);
        tv_op(v, 1, 0);
        finish_record(w);
    }
}

static void counter_values(struct writer *w)
{
    static const uint16_t values[] = {0, 1, 0xffe, 0xfff, 0x1000, 0xfffe, 0xffff};

    for (unsigned i = 0; i < 3 * 7 * 2; i++) {
        unsigned index = i / 14, count = values[i / 2 % 7];
        struct test_vector *v = begin(w, ALL, "D18.1-013 D18.2-033 D18.2-049");

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
        finish_record(w);
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
        v = begin(w, ALL, "D18.1-013 D18.1-029 D18.2-051 D18.2-055");
        if (size > 2)
            tv_rows(v, "D18.1-022");
        tv_id(v, "source-%u-bytes-value-%u", size, i % 8);
        tv_about(v,
                 size > 2 ? "Data Source with a reserved size: step over %u bytes of payload."
                          : "Data Source of %u bytes; its meaning is the CPU's.",
                 size);
        tv_source(v, size, value);
        tv_op(v, 1, 0);
        finish_record(w);
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

    for (size_t i = 0; i < COUNT(values); i++) {
        struct test_vector *v = begin(w, ALL,
                                      "D18.1-010 D18.1-012 D18.1-027 D18.2-139 D18.2-140 "
                                      "D18.2-141");

        tv_id(v, "timestamp-value-%zu", i);
        tv_about(v, "A Timestamp is an unsigned number of 64 bits, and ends the record.");
        tv_op(v, 1, 0);
        tv_timestamp(v, values[i]);
        finish(w);
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
        v = begin(w, features[i % 5], "D18.1-028 D18.2-057 D18.2-058");
        tv_rows(v, bit == 3 && !spe_has(v->set, SPE_FEAT_SPEv1p4) ? "D18.2-089" : event_row(bit));
        tv_id(v, "events-bit-%u-%s", bit, v->features);
        tv_about(v, "Event %u alone, in the smallest payload that has it.", bit);
        tv_events(v, events_size(bit), UINT64_C(1) << bit);
        finish_record(w);
    }
}

static void event_sizes(struct writer *w)
{
    for (unsigned i = 0; i < 4 * 3; i++) {
        unsigned size = 1u << i / 3;
        uint64_t all = size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1;
        uint64_t values[3] = {0, all, 0x16};
        struct test_vector *v = begin(w, ALL,
                                      "D18.1-013 D18.1-028 D18.2-057 D18.2-058 D18.2-059 "
                                      "D18.2-060");

        tv_id(v, "events-%u-bytes-value-%u", size, i % 3);
        tv_about(v, "Events of %u bytes: %s; those beyond the payload are zero.", size,
                 i % 3 == 0   ? "none"
                 : i % 3 == 1 ? "all"
                              : "retired, with an access to cache and TLB");
        tv_events(v, size, values[i % 3]);
        finish_record(w);
    }
}

static void event_pairs(struct writer *w)
{
    struct test_vector *v = begin(w, ALL, "D18.2-091 D18.2-094 D18.2-095");

    tv_id(v, "events-exception-not-retired");
    tv_about(v, "E[1:0] is 0b01: the meaning of E[0] is IMPLEMENTATION DEFINED, and nobody may "
                "call it an architectural exception.");
    tv_events(v, 1, 1);
    tv_op(v, 1, 0);
    finish_record(w);
    v = begin(w, ALL, "D18.2-091 D18.2-092 D18.2-094");
    tv_id(v, "events-exception-retired");
    tv_about(v, "E[1:0] is 0b11: the operation completed with a synchronous exception.");
    tv_events(v, 1, 3);
    tv_op(v, 1, 0);
    finish_record(w);
    v = begin(w, ALL, "D18.2-073 D18.2-074");
    tv_id(v, "events-empty-predicate");
    tv_about(v, "An empty predicate is a partial one, too: E[18] and E[17].");
    tv_events(v, 4, 0x60002);
    tv_op(v, 0, 0x0c);
    finish_record(w);
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
        v = begin(w, ALL, OP_ROWS);
        tv_rows(v, f->rows);
        tv_id(v, "op-%s-%02x", f->name, payload);
        tv_about(v, "Operation Type 0x%02x of CLASS %u: %s.", payload, f->class_, f->what);
        tv_op(v, f->class_, (uint8_t)payload);
        finish_record(w);
    }
}

static void one_op(struct writer *w, const struct op_format *f, const char *features, bool with)
{
    struct test_vector *v;

    if (!features)
        return;
    v = begin(w, features, OP_ROWS " D18.1-022 D18.2-100");
    tv_rows(v, f->rows);
    tv_id(v, "op-%s-%s-%s", f->name, with ? "with" : "without", features);
    tv_about(v, "With the features %s the format of %s is %s.", features, f->what,
             with ? "defined" : "reserved");
    tv_op(v, f->class_, f->match);
    finish_record(w);
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

    for (size_t i = 0; i < COUNT(ops); i++) {
        struct test_vector *v = begin(w, ALL, OP_ROWS " D18.1-022 D18.2-099 D18.2-100");

        tv_id(v, "op-reserved-%u-%02x", ops[i][0], ops[i][1]);
        tv_about(v, "Operation Type 0x%02x of CLASS %u has no format: the packet is ignored.",
                 ops[i][1], ops[i][0]);
        tv_op(v, ops[i][0], ops[i][1]);
        tv_events(v, 1, 2);
        finish_record(w);
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

    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct test_vector *v = begin(w, sizes[i].features, OP_ROWS);

        tv_rows(v, sizes[i].rows);
        tv_id(v, "op-size-%s-%u", sizes[i].class_ ? "load" : sizes[i].what, sizes[i].length);
        for (char *p = v->id; *p; p++)
            *p = *p == ' ' ? '-' : *p;
        tv_about(v, "A %s of %u bits: the next size that the field can name is recorded.",
                 sizes[i].what, sizes[i].length);
        tv_op(v, sizes[i].class_, sizes[i].payload);
        finish_record(w);
    }
}

static void op_over_2048(struct writer *w)
{
    for (unsigned class_ = 0; class_ < 2; class_++) {
        struct test_vector *v = begin(w, "v1p1,sve", OP_ROWS " D18.1-022 D18.2-105");

        tv_id(v, "op-evl-7-without-spe-sme-%u", class_);
        tv_about(v, "EVL 0b111 is reserved without FEAT_SPE_SME.");
        tv_op(v, class_, 0x78);
        tv_events(v, 1, 2);
        finish_record(w);
    }
}

/* ---- layouts --------------------------------------------------------------------------------- */

enum { LOAD, STORE, BRANCH, OTHER, EVERYTHING, SAMPLES };

static const char *const sample_names[SAMPLES] = {"load", "store", "branch", "other", "everything"};

static void add_sample_address(struct spe_record *r, unsigned index, uint64_t payload)
{
    r->addresses |= 1u << index;
    r->address[index] = payload;
}

static void add_sample_counter(struct spe_record *r, unsigned index, uint16_t payload)
{
    r->counters |= 1u << index;
    r->counter[index] = payload;
}

static void add_sample_op(struct spe_record *r, uint8_t class_, uint8_t op, uint64_t events)
{
    r->has |= SPE_HAS_OP | SPE_HAS_EVENTS;
    r->op_class = class_;
    r->op = op;
    r->events = events;
    r->events_size = 1;
}

static void add_sample_data(struct spe_record *r)
{
    add_sample_address(r, SPE_ADDRESS_VA, DATA);
    add_sample_address(r, SPE_ADDRESS_PA, TOP(0x80) | 0x12345000);
    add_sample_counter(r, SPE_COUNTER_TRANSLATION, 3);
}

static void add_sample_source(struct spe_record *r)
{
    r->has |= SPE_HAS_SOURCE;
    r->source = 8;
    r->source_size = 1;
}

/* Every packet that the architecture defines, and two that are IMPLEMENTATION DEFINED. */
static void add_sample_everything(struct spe_record *r)
{
    add_sample_data(r);
    add_sample_source(r);
    add_sample_address(r, SPE_ADDRESS_TARGET, TOP(0x80) | (CODE + 64));
    add_sample_address(r, SPE_ADDRESS_PREVIOUS_TARGET, TOP(0x80) | (CODE - 64));
    add_sample_address(r, 17, 0x1111);
    add_sample_counter(r, SPE_COUNTER_ALT_ISSUE, 5);
    add_sample_counter(r, 31, 0x2222);
    r->has |= SPE_HAS_CONTEXT2;
    r->context[1] = 77;
}

static void make_sample(struct spe_record *r, unsigned sample, bool timestamp)
{
    static const uint8_t classes[SAMPLES] = {1, 1, 2, 0, 1}, ops[SAMPLES] = {0, 1, 1, 0, 0};

    memset(r, 0, sizeof(*r));
    r->has = SPE_HAS_CONTEXT1 | (timestamp ? SPE_HAS_TIMESTAMP : 0u);
    r->context[0] = 4711;
    r->timestamp = UINT64_C(0x123456789a);
    add_sample_address(r, SPE_ADDRESS_PC, TOP(0x80) | CODE);
    add_sample_op(r, classes[sample], ops[sample], sample < BRANCH || sample > OTHER ? 0x16 : 0x2);
    add_sample_counter(r, SPE_COUNTER_TOTAL, 9);
    add_sample_counter(r, SPE_COUNTER_ISSUE, 2);
    if (sample == LOAD || sample == STORE)
        add_sample_data(r);
    if (sample == LOAD)
        add_sample_source(r);
    if (sample == BRANCH)
        add_sample_address(r, SPE_ADDRESS_TARGET, TOP(0x80) | (CODE + 64));
    if (sample == EVERYTHING)
        add_sample_everything(r);
}

static bool has_packet(const struct spe_record *r, unsigned type, unsigned index)
{
    switch (type) {
    case SPE_PACKET_ADDRESS:
        return spe_record_has_address(r, index);
    case SPE_PACKET_COUNTER:
        return spe_record_has_counter(r, index);
    case SPE_PACKET_CONTEXT:
        return index < SPE_CONTEXT_COUNT && r->has >> index & SPE_HAS_CONTEXT1;
    case SPE_PACKET_DATA_SOURCE:
        return r->has & SPE_HAS_SOURCE;
    default: /* Operation Type and Events are in every sample */
        return index == 0;
    }
}

static void add_planned(struct test_vector *v, const struct spe_record *r, unsigned type,
                        unsigned index)
{
    switch (type) {
    case SPE_PACKET_ADDRESS:
        tv_address(v, index, false, r->address[index]);
        break;
    case SPE_PACKET_COUNTER:
        tv_counter(v, index, false, r->counter[index]);
        break;
    case SPE_PACKET_CONTEXT:
        tv_context(v, index, r->context[index]);
        break;
    case SPE_PACKET_DATA_SOURCE:
        tv_source(v, r->source_size, r->source);
        break;
    case SPE_PACKET_OP_TYPE:
        tv_op(v, r->op_class, r->op);
        break;
    default:
        tv_events(v, r->events_size, r->events);
        break;
    }
}

static void pad_to(struct test_vector *v, size_t place)
{
    if (place != SPE_SLOT_NEXT && v->size < place)
        tv_padding(v, place - v->size);
}

/* The record's bytes, slot by slot. */
static void lay_out(struct test_vector *v, const struct spe_record *r,
                    const struct spe_layout *layout)
{
    for (unsigned i = 0; i < layout->slots; i++) {
        const struct spe_layout_slot *slot = &layout->slot[i];
        bool all = slot->index == SPE_SLOT_ALL;

        for (unsigned n = all ? 0 : slot->index; n < (all ? 32u : slot->index + 1u); n++) {
            if (!has_packet(r, slot->type, n))
                continue;
            pad_to(v, slot->place);
            add_planned(v, r, slot->type, n);
        }
    }
    pad_to(v, layout->terminator_place);
    if (r->has & SPE_HAS_TIMESTAMP)
        tv_timestamp(v, r->timestamp);
    else
        tv_end(v);
    pad_to(v, layout->min_size);
    pad_to(v, (v->size + layout->align - 1) / layout->align * layout->align);
}

/* The library's encoder writes the same bytes. */
static void check_layout(struct writer *w, const struct spe_record *r,
                         const struct spe_layout *layout)
{
    uint8_t bytes[SPE_RECORD_MAX];
    int size = spe_record_encode(r, layout, bytes, sizeof(bytes));

    if (w->good && (size != (int)w->v.size || memcmp(bytes, w->v.bytes, w->v.size) != 0)) {
        snprintf(w->why, w->why_size, "vector %s: the encoder writes other bytes", w->v.id);
        w->good = false;
    }
}

static void one_layout(struct writer *w, const struct spe_layout *layout, unsigned sample,
                       bool timestamp)
{
    struct test_vector *v = begin(w, ALL,
                                  "D18.1-004 D18.1-012 D18.1-020 D18.1-023 D18.2-138 D18.2-141 "
                                  "D18.2-143");
    struct spe_record r;

    make_sample(&r, sample, timestamp);
    if (layout->events_size)
        r.events_size = layout->events_size;
    v->count_bits = layout->count_bits;
    tv_id(v, "layout-%s-%s-%s", layout->name, sample_names[sample],
          timestamp ? "timestamp" : "end");
    tv_about(v, "A record of the kind '%s' in the layout '%s', which ends with %s.",
             sample_names[sample], layout->name, timestamp ? "a Timestamp" : "End");
    lay_out(v, &r, layout);
    check_layout(w, &r, layout);
    finish(w);
}

static void layouts(struct writer *w)
{
    const struct spe_layout *layout;

    for (size_t i = 0; (layout = spe_layout_at(i)); i++) {
        for (unsigned sample = 0; sample < SAMPLES; sample++) {
            if (sample == EVERYTHING && i > 0) /* only the architecture's has room for it */
                continue;
            one_layout(w, layout, sample, true);
            one_layout(w, layout, sample, false);
        }
    }
}

static void repeated(struct writer *w)
{
    struct test_vector *v = begin(w, ALL, "D18.2-010 D18.2-040");

    tv_id(v, "record-impdef-twice");
    tv_about(v, "IMPLEMENTATION DEFINED packets may come twice: the last one counts.");
    tv_address(v, 6, false, 1);
    tv_address(v, 6, false, 2);
    tv_counter(v, 16, true, 3);
    tv_counter(v, 16, true, 4);
    finish_record(w);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static struct test_vector *begin_damage(struct writer *w, const char *rows)
{
    struct test_vector *v = begin(w, ALL, rows);

    whole_record(v, 1);
    return v;
}

/* The first `keep` bytes of a record with every size of payload, and then nothing. */
static void truncated(struct writer *w)
{
    for (size_t keep = 1;; keep++) {
        struct test_vector *v = begin_damage(w, "D18.1-004 D18.1-012");
        size_t start = v->size, whole;

        tv_address(v, 0, false, TOP(0x80) | CODE);
        tv_counter(v, 16, true, 1);
        tv_context(v, 0, 1);
        tv_op(v, 1, 0);
        whole = v->size - start;
        if (keep > whole)
            return;
        tv_id(v, "damage-truncated-%zu", keep);
        tv_about(v,
                 "The stream ends after %zu bytes of a record: they are lost, the record "
                 "before is not.",
                 keep);
        v->size = start + keep;
        tv_skip(v, keep, SPE_SKIP_TRUNCATED);
        finish(w);
    }
}

static void no_size(struct writer *w)
{
    static const uint8_t headers[][2] = {
        {0x20, 0x20}, {0x20, 0x3f}, {0x23, 0x30}, {0x24, 0x20}, {0x3f, 0x3f}};

    for (size_t i = 0; i < COUNT(headers); i++) {
        struct test_vector *v = begin_damage(w, "D18.1-006 D18.1-011");
        size_t start = v->size;

        tv_id(v, "damage-framing-%02x%02x", headers[i][0], headers[i][1]);
        tv_about(v,
                 "The second byte of the header 0x%02x 0x%02x gives no size: the record is "
                 "lost, the next one is found.",
                 headers[i][0], headers[i][1]);
        tv_address(v, 0, false, TOP(0x80) | CODE);
        tv_raw(v, headers[i], 2);
        tv_op(v, 1, 0);
        tv_skip(v, v->size - start, SPE_SKIP_FRAMING);
        whole_record(v, 3);
        finish(w);
    }
}

/* More zeros than a record can hold are padding, whatever was before. */
static void zeros_after(struct writer *w)
{
    static const uint8_t header[2] = {0x20, 0x20};
    struct test_vector *v = begin_damage(w, "D18.1-011 D18.1-019 D18.1-025");

    tv_id(v, "damage-then-padding");
    tv_about(v,
             "%u zeros after damage are padding: the record behind them is found, though it has "
             "an unknown packet.",
             SPE_RECORD_MAX);
    tv_raw(v, header, 2);
    tv_skip(v, 2, SPE_SKIP_FRAMING);
    tv_padding(v, SPE_RECORD_MAX);
    tv_unknown(v, (const uint8_t[]){0x02}, 1, 0);
    whole_record(v, 3);
    finish(w);
}

/* A record without its terminator runs into the next one, and has packets twice. */
static void no_terminator(struct writer *w)
{
    struct test_vector *v = begin_damage(w, "D18.1-012");
    size_t start = v->size;

    tv_id(v, "damage-no-terminator");
    tv_about(v, "A record has lost its terminator: it is lost, the next one is found.");
    tv_address(v, 0, false, TOP(0x80) | CODE);
    tv_op(v, 1, 0);
    tv_events(v, 1, 2);
    tv_skip(v, v->size - start, SPE_SKIP_DUPLICATE);
    whole_record(v, 3);
    whole_record(v, 4);
    finish(w);
}

/* Longer than any record (PMSIDR_EL1.MaxSize). */
static void no_end(struct writer *w)
{
    static const uint8_t unknown = 0x02;
    struct test_vector *v = begin_damage(w, "D18.1-005 D18.1-012 D18.1-034");

    tv_id(v, "damage-oversize");
    tv_about(v, "%u unknown packets and no terminator: no record is so large.", SPE_RECORD_MAX);
    for (unsigned i = 0; i < SPE_RECORD_MAX; i++)
        tv_raw(v, &unknown, 1);
    tv_skip(v, SPE_RECORD_MAX, SPE_SKIP_OVERSIZE);
    whole_record(v, 3);
    finish(w);
}

/* A buffer that was overwritten from its start on. */
static void from_the_middle(struct writer *w)
{
    static const uint8_t tail[] = {0x15, 0xc8, 0xaa, 0xaa, 0x00, 0x00, 0x80, 0x49, 0x00, 0x01};
    struct test_vector *v = begin(w, ALL, "D18.1-012");

    tv_id(v, "damage-unsynced");
    tv_about(v, "The first bytes are the end of a record: they are lost, the next one is found.");
    v->unsynced = true;
    tv_raw(v, tail, sizeof(tail));
    tv_skip(v, sizeof(tail), SPE_SKIP_UNSYNCED);
    whole_record(v, 3);
    finish(w);
}

bool write_vectors(struct out *o, char *why, size_t why_size)
{
    static void (*const groups[])(struct writer *) = {
        worked_layouts,
        end_alone,
        unknown_headers,
        unknown_extended_headers,
        padding,
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
        layouts,
        repeated,
        truncated,
        no_size,
        zeros_after,
        no_terminator,
        no_end,
        from_the_middle,
    };
    struct writer w = {.out = o, .why = why, .why_size = why_size, .good = true};

    for (size_t i = 0; i < COUNT(groups); i++)
        groups[i](&w);
    return w.good;
}
