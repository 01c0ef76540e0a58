/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The test vectors that `spe gen --vectors` writes (docs/vectors.md): framing, layouts, damage. */
#include "cli/gen_vectors.h"

#include <stdio.h>

struct test_vector *vectors_begin(struct writer *w, const char *features, const char *rows)
{
    tv_begin(&w->v, features, rows);
    return &w->v;
}

void vectors_finish(struct writer *w)
{
    w->good = w->good && tv_check(&w->v, w->why, w->why_size);
    if (w->good)
        tv_json(w->out, &w->v);
}

/* A packet alone is a record with its End. */
void vectors_finish_record(struct writer *w)
{
    tv_end(&w->v);
    vectors_finish(w);
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
        v = vectors_begin(w, ALL, "D18.1-004 D18.1-021 D18.1-034");
        tv_rows(v, size_row(header));
        tv_id(v, "framing-unknown-%02x", header);
        tv_about(v, "Header 0x%02x is not allocated: step over the packet by its size.", header);
        tv_unknown(v, &byte, 1, ENDS);
        tv_op(v, 1, 0);
        vectors_finish_record(w);
    }
}

static void unknown_extended_headers(struct writer *w)
{
    static const uint8_t first[] = {0x20, 0x21, 0x22, 0x23, 0x24, 0x28, 0x30, 0x3f};
    static const uint8_t second[] = {0x00, 0x01, 0x1f, 0x42, 0x53, 0x64, 0x71,
                                     0x98, 0xb0, 0xc0, 0xd0, 0xe0, 0xff};

    for (size_t i = 0; i < COUNT_OF(first) * COUNT_OF(second); i++) {
        uint8_t header[2] = {first[i / COUNT_OF(second)], second[i % COUNT_OF(second)]};
        struct test_vector *v;

        if (header[0] < 0x24 && (header[1] == 0x98 || header[1] == 0xb0))
            continue;
        v = vectors_begin(w, ALL, "D18.1-003 D18.1-006 D18.1-011 D18.1-021 D18.1-038");
        tv_id(v, "framing-extended-%02x%02x", header[0], header[1]);
        tv_about(v,
                 "The two-byte header 0x%02x 0x%02x is not allocated: its second byte gives "
                 "the size of the payload.",
                 header[0], header[1]);
        tv_unknown(v, header, 2, ENDS);
        tv_op(v, 1, 0);
        vectors_finish_record(w);
    }
}

static void worked_layouts(struct writer *w)
{
    struct test_vector *v =
        vectors_begin(w, ALL,
                      "D18.1-004 D18.1-012 D18.1-013 D18.1-014 D18.1-018 D18.1-026 "
                      "D18.2-056");

    tv_id(v, "framing-worked-end");
    tv_about(v, "A packet with 16 bits, one with 8 bits, and End: the first example of D18.1.2.");
    tv_counter(v, 0, false, 0x1234);
    tv_op(v, 0, 0);
    vectors_finish_record(w);
    v = vectors_begin(w, ALL,
                      "D18.1-012 D18.1-013 D18.1-015 D18.1-018 D18.1-027 D18.2-139 D18.2-140 "
                      "D18.2-141");
    tv_id(v, "framing-worked-timestamp");
    tv_about(v, "The same packets and a Timestamp, least significant byte first: the second "
                "example of D18.1.2.");
    tv_counter(v, 0, false, 0x1234);
    tv_op(v, 0, 0);
    tv_timestamp(v, UINT64_C(0x0807060504030201));
    vectors_finish(w);
}

static void end_alone(struct writer *w)
{
    struct test_vector *v = vectors_begin(w, ALL, "D18.1-012 D18.1-026 D18.2-056 D18.2-143");

    tv_id(v, "framing-end-alone");
    tv_about(v, "A record of an End packet only: framing does not ask what a record holds.");
    vectors_finish_record(w);
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

    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct test_vector *v =
            vectors_begin(w, ALL, "D18.1-018 D18.1-019 D18.1-020 D18.1-025 D18.2-138");

        tv_id(v, "padding-between-%u", counts[i]);
        tv_about(v, "%u bytes of padding before, between and after records.", counts[i]);
        tv_padding(v, counts[i]);
        whole_record(v, 1);
        tv_padding(v, counts[i]);
        whole_record(v, 2);
        tv_padding(v, counts[i]);
        vectors_finish(w);
        v = vectors_begin(w, ALL, "D18.1-023 D18.1-025 D18.2-138");
        tv_id(v, "padding-inside-%u", counts[i]);
        tv_about(v, "%u bytes of padding inside a record, wherever a header may be.", counts[i]);
        tv_address(v, 0, false, CODE | TOP(0x80));
        tv_padding(v, counts[i]);
        tv_op(v, 1, 0);
        tv_padding(v, counts[i]);
        vectors_finish_record(w);
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
    struct test_vector *v =
        vectors_begin(w, ALL,
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
    vectors_finish(w);
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
    struct test_vector *v = vectors_begin(w, ALL, "D18.2-010 D18.2-040");

    tv_id(v, "record-impdef-twice");
    tv_about(v, "IMPLEMENTATION DEFINED packets may come twice: the last one counts.");
    tv_address(v, 6, false, 1);
    tv_address(v, 6, false, 2);
    tv_counter(v, 16, true, 3);
    tv_counter(v, 16, true, 4);
    vectors_finish_record(w);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static struct test_vector *begin_damage(struct writer *w, const char *rows)
{
    struct test_vector *v = vectors_begin(w, ALL, rows);

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
        vectors_finish(w);
    }
}

static void no_size(struct writer *w)
{
    static const uint8_t headers[][2] = {
        {0x20, 0x20}, {0x20, 0x3f}, {0x23, 0x30}, {0x24, 0x20}, {0x3f, 0x3f}};

    for (size_t i = 0; i < COUNT_OF(headers); i++) {
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
        vectors_finish(w);
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
    vectors_finish(w);
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
    vectors_finish(w);
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
    vectors_finish(w);
}

/* A buffer that was overwritten from its start on. */
static void from_the_middle(struct writer *w)
{
    static const uint8_t tail[] = {0x15, 0xc8, 0xaa, 0xaa, 0x00, 0x00, 0x80, 0x49, 0x00, 0x01};
    struct test_vector *v = vectors_begin(w, ALL, "D18.1-012");

    tv_id(v, "damage-unsynced");
    tv_about(v, "The first bytes are the end of a record: they are lost, the next one is found.");
    v->unsynced = true;
    tv_raw(v, tail, sizeof(tail));
    tv_skip(v, sizeof(tail), SPE_SKIP_UNSYNCED);
    whole_record(v, 3);
    vectors_finish(w);
}

bool write_vectors(struct out *o, char *why, size_t why_size)
{
    static void (*const groups[])(struct writer *) = {
        worked_layouts, end_alone,       unknown_headers, unknown_extended_headers,
        padding,        packet_vectors,  layouts,         repeated,
        truncated,      no_size,         zeros_after,     no_terminator,
        no_end,         from_the_middle,
    };
    struct writer w = {.out = o, .why = why, .why_size = why_size, .good = true};

    for (size_t i = 0; i < COUNT_OF(groups); i++)
        groups[i](&w);
    return w.good;
}
