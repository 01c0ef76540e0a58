/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Bytes -> columns. Records whose shape is known are taken by spe_bulk_fill_*; every other byte
 * goes through the stream, whose answers are the reference, and teaches a shape.
 */
#include "bulk.h"

#include "base/sized.h"
#include "bytes.h"
#include "stream.h"

static inline bool shape_matches(const struct spe_shape *s, const uint8_t *p)
{
    uint64_t d = 0;

    for (unsigned at = 0; at < s->advance; at += 8)
        d |= (load64(p + at) & load64(s->mask + at)) ^ load64(s->match + at);
    return !d;
}

#include "bulk_scalar.h"

#include "bulk_pass.h"

void spe_bulk_fill_portable(struct spe_bulk *b, struct spe_columns *c)
{
    fill_columns(b, c);
}

int spe_bulk_pass_portable(struct spe_bulk *b, struct spe_columns *c, struct spe_bulk_pass *pass)
{
    return pass_columns(b, c, pass);
}

/* ---- Learning a shape ----------------------------------------------------------------------- */

static void expect(struct spe_shape *s, size_t at, uint8_t byte)
{
    s->mask[at] = 0xff;
    s->match[at] = byte;
}

static void learn_wide(struct spe_shape *s, unsigned which, size_t at, unsigned size)
{
    s->wide_at[which] = (uint8_t)at;
    s->wide_mask[which] = size == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;
}

static void learn_narrow(struct spe_shape *s, unsigned which, size_t at, unsigned size)
{
    s->narrow_at[which] = (uint8_t)at;
    s->narrow_mask[which] = size == 2 ? 0xffff : 0xff;
}

static void learn_counter(struct spe_shape *s, unsigned index, size_t at)
{
#define COUNTER(name, NAME, sentence)                                                              \
    if (index == SPE_COUNTER_##NAME)                                                               \
        learn_narrow(s, NARROW_##NAME, at, 2);
#include "format/counters.def"
}

/* `at` is where the payload begins. What the stream counts as unknown has no column. */
static void learn_packet(struct spe_shape *s, const struct spe_packet *p, size_t at)
{
    switch (p->type) {
    case SPE_PACKET_ADDRESS:
        if (p->index <= SPE_ADDRESS_PREVIOUS_TARGET)
            learn_wide(s, WIDE_PC + p->index, at, 8);
        break;
    case SPE_PACKET_EVENTS:
        learn_wide(s, WIDE_EVENTS, at, p->payload_size);
        break;
    case SPE_PACKET_TIMESTAMP:
        learn_wide(s, WIDE_TIMESTAMP, at, 8);
        break;
    case SPE_PACKET_CONTEXT:
        if (p->index < SPE_CONTEXT_COUNT) {
            s->context_at[p->index] = (uint8_t)at;
            s->context_mask[p->index] = UINT32_MAX;
        }
        break;
    case SPE_PACKET_COUNTER:
        learn_counter(s, p->index, at);
        break;
    case SPE_PACKET_DATA_SOURCE:
        if (p->payload_size <= 2)
            learn_narrow(s, NARROW_SOURCE, at, p->payload_size);
        break;
    case SPE_PACKET_OP_TYPE:
        if (p->index != SPE_CLASS_RESERVED) {
            learn_narrow(s, NARROW_OP, at, 1);
            s->op_class = (uint16_t)(p->index << 8);
        }
        break;
    default:
        break;
    }
}

/* A cell of the row's permutation: `size` bytes of the record, or zero. Records over 64 bytes are
 * not read this way. */
static void permute_cell(struct spe_shape *s, unsigned cell, unsigned from, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        s->row_from[cell + i] = (uint8_t)((from + i) % 64);
        if (cell < 64)
            s->row_mask |= UINT64_C(1) << (cell + i);
        else
            s->tail_mask |= (uint16_t)(1u << (cell - 64 + i));
    }
}

/* The row as a permutation of the record's bytes and some constants, which have two of the eight
 * words behind the wide ones. One more counter needs a second group of words. */
_Static_assert(NARROW_COLUMNS <= 6, "narrow columns have six words of a row");

static void learn_permutation(struct spe_shape *s)
{
    for (unsigned i = 0; i < 64; i++)
        s->mask_bits |= (uint64_t)(s->mask[i] & 1) << i;
    for (unsigned i = 0; i < WIDE_COLUMNS; i++)
        permute_cell(s, 8 * i, s->wide_at[i], (unsigned)__builtin_popcountll(s->wide_mask[i]) / 8);
    for (unsigned i = 0; i < 2; i++)
        permute_cell(s, 56 + 4 * i, s->context_at[i], s->context_mask[i] ? 4 : 0);
    for (unsigned i = 0; i < NARROW_COLUMNS; i++)
        permute_cell(s, 64 + 2 * i, s->narrow_at[i],
                     (unsigned)__builtin_popcount(s->narrow_mask[i]) / 8);
    s->tail[2 * NARROW_OP + 1] = (uint8_t)(s->op_class >> 8);
    s->tail[12] = s->has;
    s->tail[13] = s->addresses;
    s->tail[14] = s->counters;
}

/* `bytes` holds the record and `len - r->size` bytes after it. */
static void learn_shape(struct spe_shape *s, const struct spe_record *r, const uint8_t *bytes,
                        size_t len)
{
    size_t pos = 0;
    struct spe_packet p;

    memset(s, 0, sizeof(*s));
    while (pos < r->size) {
        pos += (size_t)spe_packet_decode(bytes + pos, r->size - pos, &p);
        expect(s, pos - p.payload_size - p.header_size, p.header[0]);
        if (p.header_size == 2)
            expect(s, pos - p.payload_size - 1, p.header[1]);
        learn_packet(s, &p, pos - p.payload_size);
    }
    while (pos < len && pos < SPE_SHAPE_MAX && !bytes[pos])
        expect(s, pos++, 0);
    s->has = (uint8_t)r->has;
    s->addresses = (uint8_t)r->addresses;
    s->counters = (uint8_t)r->counters;
    s->unknown = r->unknown;
    s->size = (uint8_t)r->size;
    s->advance = (uint8_t)pos;
    s->first_header = bytes[0];
    learn_permutation(s);
}

/* ---- The tree over the shapes --------------------------------------------------------------- */

/* How many values the shapes of the set have at a place; 0 if one of them asks for nothing there.
 */
static unsigned values_at(const struct spe_bulk *b, unsigned set, unsigned at)
{
    uint64_t seen[4] = {0};
    unsigned values = 0;

    for (unsigned i = 0; i < b->shapes; i++) {
        uint8_t byte = b->shape[i].match[at];

        if (!(set >> i & 1))
            continue;
        if (!b->shape[i].mask[at])
            return 0;
        values += !(seen[byte >> 6] >> (byte & 63) & 1);
        seen[byte >> 6] |= UINT64_C(1) << (byte & 63);
    }
    return values;
}

/* The place that tells most shapes of the set apart. There is one where shapes differ first: up to
 * there they have the same headers, so that each has a header there. */
static unsigned best_place(const struct spe_bulk *b, unsigned set)
{
    unsigned best = 0, best_values = 0;

    for (unsigned at = 0; at < SPE_SHAPE_MAX; at++) {
        unsigned values = values_at(b, set, at);

        if (values > best_values) {
            best = at;
            best_values = values;
        }
    }
    return best;
}

/* Build the tree over the shapes of the set; returns the step to its root. */
static uint16_t build_tree(struct spe_bulk *b, unsigned set, unsigned depth, uint8_t *used)
{
    uint8_t node = *used;
    unsigned at;

    if (!(set & (set - 1)))
        return (uint16_t)((LEAF + __builtin_ctz(set)) << 8);
    ++*used;
    at = best_place(b, set);
    for (unsigned byte = 0; byte < 256; byte++)
        b->next[node << 8 | byte] = NO_SHAPE << 8;
    if (b->depth < depth + 1)
        b->depth = (uint8_t)(depth + 1);
    for (unsigned i = 0; i < b->shapes; i++) {
        uint8_t byte = b->shape[i].match[at];
        unsigned alike = 0;

        if (!(set >> i & 1) || b->next[node << 8 | byte] != NO_SHAPE << 8)
            continue;
        for (unsigned j = i; j < b->shapes; j++)
            if (set >> j & 1 && b->shape[j].match[at] == byte)
                alike |= 1u << j;
        b->next[node << 8 | byte] = build_tree(b, alike, depth + 1, used);
    }
    return (uint16_t)(node << 8 | at);
}

/* Walks that are at a leaf stay there. */
static void make_leaf(struct spe_bulk *b, unsigned leaf)
{
    for (unsigned byte = 0; byte < 256; byte++)
        b->next[leaf << 8 | byte] = (uint16_t)(leaf << 8);
}

/* No shape is known: every walk ends where it begins. */
static void clear_tree(struct spe_bulk *b)
{
    make_leaf(b, NO_SHAPE);
    b->root = NO_SHAPE << 8;
    b->depth = 0;
}

/* ---- Learning ------------------------------------------------------------------------------- */

/* Same packets at the same places; the padding after the record may differ. */
static bool same_packets(const struct spe_shape *a, const struct spe_shape *b)
{
    return a->size == b->size && !memcmp(a->mask, b->mask, a->size) &&
           !memcmp(a->match, b->match, a->size);
}

/* The shape to be replaced: one with the same packets, since the tree cannot tell them apart, else
 * the oldest. */
static unsigned victim_for(struct spe_bulk *b, const struct spe_shape *shape)
{
    unsigned victim = b->next_victim;

    for (unsigned i = 0; i < b->shapes; i++)
        if (same_packets(&b->shape[i], shape))
            return i;
    b->next_victim = (uint8_t)((victim + 1) % SPE_BULK_SHAPES);
    if (b->shapes < SPE_BULK_SHAPES)
        b->shapes++;
    return victim;
}

/* Remember the shape of the record that the stream just gave, if it is new. Near the end of a piece
 * that cannot be told. */
static void learn(struct spe_bulk *b, const struct spe_item *item, const struct spe_record *r)
{
    const struct spe_stream *s = &b->stream;
    size_t after = s->piece_size - s->piece_pos;
    struct spe_shape shape;
    uint8_t used = 0;

    if (b->path == SPE_BULK_ITERATOR || r->size > SPE_SHAPE_MAX || r->size + after < READ_AHEAD ||
        find_shape(NULL, b, b->root, b->depth, item->bytes) >= 0)
        return;
    learn_shape(&shape, r, item->bytes, r->size + after);
    b->last = (uint8_t)victim_for(b, &shape);
    b->shape[b->last] = shape;
    make_leaf(b, LEAF + b->last);
    b->longest = 0;
    for (unsigned i = 0; i < b->shapes; i++)
        if (b->shape[i].advance > b->longest)
            b->longest = b->shape[i].advance;
    b->depth = 0;
    b->root = build_tree(b, (1u << b->shapes) - 1, 0, &used);
}

/* ---- The reference way to a row ------------------------------------------------------------- */

#define PUT(column, present, value)                                                                \
    do {                                                                                           \
        if (c->column)                                                                             \
            c->column[c->rows] = (present) ? (value) : 0;                                          \
    } while (0)
#define PUT_ADDRESS(column, i) PUT(column, spe_record_has_address(r, i), r->address[i])
#define PUT_COUNTER(column, i) PUT(column, spe_record_has_counter(r, i), r->counter[i])

static void append_record(struct spe_columns *c, const struct spe_record *r, uint64_t offset)
{
    PUT(offset, true, offset);
    PUT_ADDRESS(pc, SPE_ADDRESS_PC);
    PUT_ADDRESS(target, SPE_ADDRESS_TARGET);
    PUT_ADDRESS(va, SPE_ADDRESS_VA);
    PUT_ADDRESS(pa, SPE_ADDRESS_PA);
    PUT_ADDRESS(previous_target, SPE_ADDRESS_PREVIOUS_TARGET);
    PUT(events, r->has & SPE_HAS_EVENTS, r->events);
    PUT(timestamp, r->has & SPE_HAS_TIMESTAMP, r->timestamp);
    PUT(context1, r->has & SPE_HAS_CONTEXT1, r->context[0]);
    PUT(context2, r->has & SPE_HAS_CONTEXT2, r->context[1]);
#define COUNTER(name, NAME, sentence) PUT_COUNTER(name, SPE_COUNTER_##NAME);
#include "format/counters.def"
    PUT(source, r->has & SPE_HAS_SOURCE, r->source);
    PUT(op, r->has & SPE_HAS_OP, (uint16_t)(r->op_class << 8 | r->op));
    PUT(has, true, (uint8_t)r->has);
    PUT(addresses, true, (uint8_t)r->addresses);
    PUT(counters, true, (uint8_t)r->counters);
    c->rows++;
}

/* ---- The decoder ---------------------------------------------------------------------------- */

static bool cpu_has(enum spe_bulk_path path)
{
    switch (path) {
    case SPE_BULK_ITERATOR:
    case SPE_BULK_PORTABLE:
        return true;
#if defined(__x86_64__)
    case SPE_BULK_AVX2:
        return __builtin_cpu_supports("avx2");
    case SPE_BULK_AVX512:
        return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#elif defined(__aarch64__)
    case SPE_BULK_NEON:
        return true;
#endif
    default:
        return false;
    }
}

static enum spe_bulk_path fastest_path(void)
{
    static const enum spe_bulk_path order[] = {SPE_BULK_AVX512, SPE_BULK_AVX2, SPE_BULK_NEON};

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (cpu_has(order[i]))
            return order[i];
    return SPE_BULK_PORTABLE;
}

size_t spe_bulk_sizeof(void)
{
    return sizeof(struct spe_bulk);
}

const struct spe_account *spe_bulk_account(const struct spe_bulk *b)
{
    return &b->stream.account;
}

int spe_bulk_init(struct spe_bulk *b, unsigned flags, enum spe_bulk_path path)
{
    if (path == SPE_BULK_AUTO)
        path = fastest_path();
    if (!cpu_has(path))
        return SPE_ERR_INVALID;
    spe_stream_init(&b->stream, flags);
    b->shapes = 0;
    b->next_victim = 0;
    b->last = 0;
    b->longest = 0;
    b->predicted = 0;
    b->shape[0].advance = 0;
    clear_tree(b);
    b->path = (uint8_t)path;
    return SPE_OK;
}

int spe_bulk_feed(struct spe_bulk *b, const uint8_t *bytes, size_t len)
{
    return spe_stream_feed(&b->stream, bytes, len);
}

void spe_bulk_end(struct spe_bulk *b)
{
    spe_stream_end(&b->stream);
}

/* Shapes may be used in the caller's memory, and in a stream that knows where it is. */
static bool may_use_shapes(const struct spe_stream *s)
{
    return s->piece && s->piece != s->carry && !s->resyncing;
}

static void fill_by_shape(struct spe_bulk *b, struct spe_columns *c)
{
    if (!may_use_shapes(&b->stream))
        return;
    switch (b->path) {
    case SPE_BULK_PORTABLE:
        spe_bulk_fill_portable(b, c);
        break;
#if defined(__x86_64__)
    case SPE_BULK_AVX512:
        if (b->longest <= 64) {
            spe_bulk_fill_avx512(b, c);
            break;
        }
        __attribute__((fallthrough));
    case SPE_BULK_AVX2:
        spe_bulk_fill_avx2(b, c);
        break;
#elif defined(__aarch64__)
    case SPE_BULK_NEON:
        spe_bulk_fill_neon(b, c);
        break;
#endif
    default:
        break;
    }
}

static int next_rows(struct spe_bulk *b, struct spe_columns *columns, struct spe_item *skipped)
{
    struct spe_record record;
    int got;

    for (;;) {
        fill_by_shape(b, columns);
        if (columns->rows >= columns->capacity)
            return SPE_ITEM_RECORD;
        got = spe_stream_next(&b->stream, skipped, &record);
        if (got != SPE_ITEM_RECORD)
            return got;
        append_record(columns, &record, skipped->offset);
        learn(b, skipped, &record);
        spe_stream_take_padding(&b->stream);
    }
}

int spe_bulk_next(struct spe_bulk *b, struct spe_columns *columns, struct spe_item *skipped)
{
    struct spe_columns own = {0};
    int got;

    if (columns->size == sizeof(own))
        return next_rows(b, columns, skipped);
    if (columns->size < offsetof(struct spe_columns, offset) ||
        !sized_take(&own, sizeof(own), columns, columns->size))
        return SPE_ERR_INVALID;
    got = next_rows(b, &own, skipped);
    columns->rows = own.rows;
    return got;
}

static int pass_by_shape(struct spe_bulk *b, struct spe_columns *c, struct spe_bulk_pass *pass)
{
    if (!may_use_shapes(&b->stream))
        return 0;
    switch (b->path) {
    case SPE_BULK_PORTABLE:
        return spe_bulk_pass_portable(b, c, pass);
#if defined(__x86_64__)
    case SPE_BULK_AVX512:
        if (b->longest <= 64)
            return spe_bulk_pass_avx512(b, c, pass);
        __attribute__((fallthrough));
    case SPE_BULK_AVX2:
        return spe_bulk_pass_avx2(b, c, pass);
#elif defined(__aarch64__)
    case SPE_BULK_NEON:
        return spe_bulk_pass_neon(b, c, pass);
#endif
    default:
        return 0;
    }
}

int spe_bulk_pass(struct spe_bulk *b, struct spe_columns *columns, struct spe_bulk_pass *pass)
{
    const struct spe_pass_data *data = pass->data;

    if (columns->size != sizeof(*columns) || pass->size != sizeof(*pass) || !(pass->pcs || data) ||
        (data && data->size != sizeof(*data)))
        return SPE_ERR_INVALID;
    return pass_by_shape(b, columns, pass);
}

int spe_bulk_noted(const struct spe_bulk *b, struct spe_columns *columns, const uint8_t *bytes)
{
    struct sink sink = {.columns = columns, .all = false};
    int shape = find_shape(&sink, b, b->root, b->depth, bytes);
    struct spe_record record;

    if (columns->size != sizeof(*columns) || columns->rows >= columns->capacity)
        return SPE_ERR_INVALID;
    if (shape >= 0) {
        sink_put(&sink, columns->rows++, b, (unsigned)shape, bytes, 0);
        return SPE_OK;
    }
    if (spe_record_decode(bytes, SPE_SHAPE_MAX, &record) <= 0)
        return SPE_ERR_FRAMING;
    append_record(columns, &record, 0);
    return SPE_OK;
}
