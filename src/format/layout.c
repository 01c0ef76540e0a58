/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D18.1.2: records -> bytes. The architecture leaves the order of packets open, but for the
 * terminator, which is last; a layout says what one implementation does.
 */
#include "layout.h"

#include <stdarg.h>
#include <stdio.h>

#include "bytes.h"

#define ALL_OF(t)                                                                                  \
    {                                                                                              \
        SPE_PACKET_##t, SPE_SLOT_ALL, SPE_SLOT_NEXT                                                \
    }
#define NEXT(t, i)                                                                                 \
    {                                                                                              \
        SPE_PACKET_##t, i, SPE_SLOT_NEXT                                                           \
    }
#define AT(place, t, i)                                                                            \
    {                                                                                              \
        SPE_PACKET_##t, i, place                                                                   \
    }

/* The order of the pseudocode, SPEConstructRecord: any packet, nothing aligned. */
const struct spe_layout spe_layout_architecture = {
    .name = "architecture",
    .terminator_place = SPE_SLOT_NEXT,
    .max_size = SPE_RECORD_MAX,
    .align = 1,
    .count_bits = 16,
    .slots = 6,
    .slot = {ALL_OF(CONTEXT), ALL_OF(COUNTER), ALL_OF(ADDRESS), NEXT(DATA_SOURCE, 0),
             NEXT(OP_TYPE, 0), NEXT(EVENTS, 0)},
};

/* As in public dumps from Neoverse N1 servers: every record is 64 bytes, every packet has its
 * place, and what is absent is padding. A branch has its target where others have the data VA. */
const struct spe_layout spe_layout_neoverse_n1 = {
    .name = "neoverse-n1",
    .terminator_place = 0x37,
    .min_size = 64,
    .max_size = 64,
    .align = 64,
    .events_size = 2,
    .source_size = 1,
    .count_bits = 12,
    .slots = 12,
    .slot = {AT(0x00, ADDRESS, SPE_ADDRESS_PC), AT(0x09, CONTEXT, 0), AT(0x0e, CONTEXT, 1),
             AT(0x13, OP_TYPE, 0), AT(0x15, EVENTS, 0), AT(0x18, COUNTER, SPE_COUNTER_ISSUE),
             AT(0x1b, COUNTER, SPE_COUNTER_TOTAL), AT(0x1e, ADDRESS, SPE_ADDRESS_TARGET),
             AT(0x1e, ADDRESS, SPE_ADDRESS_VA), AT(0x27, COUNTER, SPE_COUNTER_TRANSLATION),
             AT(0x2a, ADDRESS, SPE_ADDRESS_PA), AT(0x33, DATA_SOURCE, 0)},
};

/* Records 44 bytes apart at an alignment of 4 are what is known of Kunpeng 920. The order inside
 * is ours: with it a load with timestamp takes 43 bytes and a padding byte. */
const struct spe_layout spe_layout_kunpeng_920 = {
    .name = "kunpeng-920",
    .terminator_place = SPE_SLOT_NEXT,
    .min_size = 44,
    .max_size = 64,
    .align = 4,
    .events_size = 2,
    .source_size = 1,
    .count_bits = 12,
    .slots = 6,
    .slot = {ALL_OF(CONTEXT), ALL_OF(ADDRESS), NEXT(OP_TYPE, 0), NEXT(EVENTS, 0), ALL_OF(COUNTER),
             NEXT(DATA_SOURCE, 0)},
};

static const struct spe_layout *const layouts[] = {
    &spe_layout_architecture,
    &spe_layout_neoverse_n1,
    &spe_layout_kunpeng_920,
};

const struct spe_layout *spe_layout_at(size_t i)
{
    return i < sizeof(layouts) / sizeof(layouts[0]) ? layouts[i] : NULL;
}

const struct spe_layout *spe_layout_by_name(const char *name)
{
    const struct spe_layout *l;

    for (size_t i = 0; (l = spe_layout_at(i)); i++)
        if (!strcmp(l->name, name))
            return l;
    return NULL;
}

/* ---- Encoding ------------------------------------------------------------------------------- */

/* The record under construction. error is the first that happened; nothing is written after it. */
struct writer {
    const struct spe_record *record;
    const struct spe_layout *layout;
    uint8_t *bytes;
    size_t room; /* the caller's space, or the largest record if that is less */
    size_t pos;
    size_t zeroed;                     /* bytes that are padding until something is put there */
    uint32_t addresses, counters, has; /* packets still to be written */
    int error;
};

static void pad_to(struct writer *w, size_t place)
{
    if (w->error)
        return;
    if (w->pos > place)
        w->error = SPE_ERR_LAYOUT; /* two packets want the same place */
    else if (place > w->room)
        w->error = place > w->layout->max_size ? SPE_ERR_SIZE : SPE_ERR_NOSPACE;
    else if (place > w->zeroed)
        memset(w->bytes + w->pos, 0, place - w->pos);
    w->pos = place;
}

/* A packet with a one-byte header; it is also how the two bytes of an extended one are put. */
static void put(struct writer *w, unsigned header, uint64_t payload, unsigned size)
{
    if (!w->error && w->room - w->pos < 1 + size)
        w->error = w->room == w->layout->max_size ? SPE_ERR_SIZE : SPE_ERR_NOSPACE;
    if (w->error)
        return;
    w->bytes[w->pos] = (uint8_t)header;
    store_sized(w->bytes + w->pos + 1, size, payload);
    w->pos += 1 + size;
}

/* The packets of a set with this base header, by ascending INDEX; 8 and up have extended headers.
 */
static void put_addresses(struct writer *w, uint32_t set)
{
    w->addresses &= ~set;
    for (; set; set &= set - 1) {
        unsigned index = (unsigned)__builtin_ctz(set);

        if (index > 7)
            put(w, 0x20 | index >> 3, 0, 0);
        put(w, 0xb0 | (index & 7), w->record->address[index], 8);
    }
}

static void put_counters(struct writer *w, uint32_t set)
{
    w->counters &= ~set;
    for (; set; set &= set - 1) {
        unsigned index = (unsigned)__builtin_ctz(set);

        if (index > 7)
            put(w, 0x20 | index >> 3, 0, 0);
        put(w, 0x98 | (index & 7),
            spe_counter_clip(w->record->counter[index], w->layout->count_bits), 2);
    }
}

static void put_contexts(struct writer *w, uint32_t set)
{
    for (unsigned i = 0; i < SPE_CONTEXT_COUNT; i++)
        if (set & (uint32_t)SPE_HAS_CONTEXT1 << i)
            put(w, 0x64 | i, w->record->context[i], 4);
    w->has &= ~set;
}

/* SZ of a payload of 1, 2, 4 or 8 bytes, in its place in the header. */
static unsigned size_field(unsigned size)
{
    return (unsigned)__builtin_ctz(size) << 4;
}

static void put_events(struct writer *w)
{
    uint64_t events = w->record->events;
    unsigned size = w->layout->events_size ? w->layout->events_size : spe_events_size(events);

    if (!w->error && size < 8 && events >> (8 * size))
        w->error = SPE_ERR_RANGE;
    put(w, 0x42 | size_field(size), events, size);
    w->has &= ~(uint32_t)SPE_HAS_EVENTS;
}

static void put_source(struct writer *w)
{
    unsigned size = w->layout->source_size ? w->layout->source_size : w->record->source_size;

    if (!w->error && size != 1 && size != 2)
        w->error = SPE_ERR_INVALID;
    else if (!w->error && size == 1 && w->record->source >> 8)
        w->error = SPE_ERR_RANGE;
    else
        put(w, 0x43 | size_field(size), w->record->source, size);
    w->has &= ~(uint32_t)SPE_HAS_SOURCE;
}

static void put_op(struct writer *w)
{
    if (!w->error && w->record->op_class > SPE_CLASS_RESERVED)
        w->error = SPE_ERR_RANGE;
    put(w, 0x48 | w->record->op_class, w->record->op, 1);
    w->has &= ~(uint32_t)SPE_HAS_OP;
}

/* The packets of a slot that are still to be written: as INDEX bits, or as SPE_HAS_* bits. */
static uint32_t wanted(const struct writer *w, const struct spe_layout_slot *slot)
{
    bool all = slot->index == SPE_SLOT_ALL;

    switch (slot->type) {
    case SPE_PACKET_ADDRESS:
        return w->addresses & (all ? UINT32_MAX : 1u << slot->index);
    case SPE_PACKET_COUNTER:
        return w->counters & (all ? UINT32_MAX : 1u << slot->index);
    case SPE_PACKET_CONTEXT:
        return w->has & (all ? (uint32_t)(SPE_HAS_CONTEXT1 | SPE_HAS_CONTEXT2)
                             : (uint32_t)SPE_HAS_CONTEXT1 << slot->index);
    case SPE_PACKET_OP_TYPE:
        return w->has & SPE_HAS_OP;
    case SPE_PACKET_EVENTS:
        return w->has & SPE_HAS_EVENTS;
    default:
        return w->has & SPE_HAS_SOURCE;
    }
}

static void put_slot(struct writer *w, const struct spe_layout_slot *slot)
{
    uint32_t set = wanted(w, slot);

    if (!set)
        return;
    if (slot->place != SPE_SLOT_NEXT)
        pad_to(w, slot->place);
    switch (slot->type) {
    case SPE_PACKET_ADDRESS:
        put_addresses(w, set);
        break;
    case SPE_PACKET_COUNTER:
        put_counters(w, set);
        break;
    case SPE_PACKET_CONTEXT:
        put_contexts(w, set);
        break;
    case SPE_PACKET_OP_TYPE:
        put_op(w);
        break;
    case SPE_PACKET_EVENTS:
        put_events(w);
        break;
    default:
        put_source(w);
        break;
    }
}

static void put_terminator(struct writer *w)
{
    if (w->layout->terminator_place != SPE_SLOT_NEXT)
        pad_to(w, w->layout->terminator_place);
    if (w->has & SPE_HAS_TIMESTAMP)
        put(w, 0x71, w->record->timestamp, 8);
    else
        put(w, 0x01, 0, 0);
    w->has &= ~(uint32_t)SPE_HAS_TIMESTAMP;
}

/* Padding after the terminator: to the smallest size, then to the alignment. */
static size_t padded_size(const struct spe_layout *l, size_t size)
{
    size_t align = l->align ? l->align : 1;

    if (size < l->min_size)
        size = l->min_size;
    return (size + align - 1) / align * align;
}

int spe_record_encode(const struct spe_record *record, const struct spe_layout *layout,
                      uint8_t *bytes, size_t len)
{
    struct writer w = {
        .record = record,
        .layout = layout,
        .bytes = bytes,
        .room = len < layout->max_size ? len : layout->max_size,
        .addresses = record->addresses,
        .counters = record->counters,
        .has = record->has,
    };

    /* A record of fixed places has many gaps: one fill is faster than many. */
    w.zeroed = layout->min_size < w.room ? layout->min_size : w.room;
    memset(bytes, 0, w.zeroed);
    for (unsigned i = 0; i < layout->slots; i++)
        put_slot(&w, &layout->slot[i]);
    put_terminator(&w);
    if (!w.error && (w.addresses || w.counters || w.has))
        w.error = SPE_ERR_LAYOUT;
    if (!w.error)
        pad_to(&w, padded_size(layout, w.pos));
    return w.error ? w.error : (int)w.pos;
}

/* ---- Validation ----------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static int refuse(char *why, size_t why_size,
                                                        const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, why_size, format, args);
    va_end(args);
    return SPE_ERR_INVALID;
}

static bool is_power_of_two(unsigned n)
{
    return n && !(n & (n - 1));
}

static bool slot_is_valid(const struct spe_layout_slot *slot)
{
    bool all = slot->index == SPE_SLOT_ALL;

    switch (slot->type) {
    case SPE_PACKET_ADDRESS:
    case SPE_PACKET_COUNTER:
        return all || slot->index < SPE_INDEX_COUNT;
    case SPE_PACKET_CONTEXT:
        return all || slot->index < SPE_CONTEXT_COUNT;
    case SPE_PACKET_OP_TYPE:
    case SPE_PACKET_EVENTS:
    case SPE_PACKET_DATA_SOURCE:
        return slot->index == 0;
    default:
        return false;
    }
}

int spe_layout_validate(const struct spe_layout *l, char *why, size_t why_size)
{
    if (!is_power_of_two(l->align) || l->align > SPE_RECORD_MAX)
        return refuse(why, why_size, "alignment %u is not a power of two from 1 to %u", l->align,
                      SPE_RECORD_MAX);
    if (!is_power_of_two(l->max_size) || l->max_size < 16 || l->max_size > SPE_RECORD_MAX)
        return refuse(why, why_size, "maximum size %u is not a power of two from 16 to %u",
                      l->max_size, SPE_RECORD_MAX);
    if (l->min_size > l->max_size || l->align > l->max_size)
        return refuse(why, why_size, "minimum size %u or alignment %u is over the maximum size %u",
                      l->min_size, l->align, l->max_size);
    if (l->events_size > 8 || (l->events_size && !is_power_of_two(l->events_size)))
        return refuse(why, why_size, "an Events payload has 1, 2, 4 or 8 bytes, not %u",
                      l->events_size);
    if (l->source_size > 2)
        return refuse(why, why_size, "a Data Source payload has 1 or 2 bytes, not %u",
                      l->source_size);
    if (l->count_bits != 12 && l->count_bits != 16)
        return refuse(why, why_size, "counters have 12 or 16 bits, not %u", l->count_bits);
    if (l->slots > SPE_LAYOUT_SLOTS)
        return refuse(why, why_size, "%u slots are more than %u", l->slots, SPE_LAYOUT_SLOTS);
    for (unsigned i = 0; i < l->slots; i++)
        if (!slot_is_valid(&l->slot[i]))
            return refuse(why, why_size, "slot %u is not a packet of a record", i);
    return SPE_OK;
}
