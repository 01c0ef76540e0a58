/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Does the library's decoder and encoder say what a test vector says? */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/test_vector.h"

struct check {
    const struct test_vector *v;
    char *why;
    size_t why_size;
};

/* Always false. */
static bool differ(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool differ(struct check *c, const char *format, ...)
{
    int n = snprintf(c->why, c->why_size, "vector %s: ", c->v->id);
    va_list args;

    if (n < 0 || (size_t)n >= c->why_size)
        return false;
    va_start(args, format);
    vsnprintf(c->why + n, c->why_size - (size_t)n, format, args);
    va_end(args);
    return false;
}

/* ---- packets --------------------------------------------------------------------------------- */

/* The vector's field has this value, or the vector has no such field and the value is zero. */
static bool same(struct check *c, const struct tv_packet *p, const char *name, uint64_t value)
{
    uint64_t expected = 0;

    for (unsigned i = 0; i < p->fields; i++)
        if (strcmp(p->field[i].name, name) == 0)
            expected = p->field[i].value;
    if (expected == value)
        return true;
    return differ(c, "the library has %s %#llx at %zu", name, (unsigned long long)value, p->offset);
}

static bool check_address(struct check *c, const struct tv_packet *p)
{
    uint64_t payload = p->packet.payload;
    unsigned index = p->packet.index;
    struct spe_address a;

    spe_address_decode(index, payload, &a);
    if (spe_address_encode(index, &a) != payload)
        return differ(c, "the address at %zu is not encoded as it was", p->offset);
    if (index > SPE_ADDRESS_PREVIOUS_TARGET)
        return true;
    return same(c, p, "address", a.address) && same(c, p, "el", a.el) && same(c, p, "ns", a.ns) &&
           same(c, p, "nse", a.nse) && same(c, p, "tag", a.tag) && same(c, p, "ch", a.ch) &&
           same(c, p, "pat", a.pat) && same(c, p, "zero", a.zero);
}

static bool check_op(struct check *c, const struct tv_packet *p)
{
    const struct op_format *f = op_format_of(p->packet.index, (uint8_t)p->packet.payload);
    struct spe_op op;

    spe_op_decode(p->packet.index, (uint8_t)p->packet.payload, &op);
    if (op.kind != (f ? f->kind : SPE_OP_RESERVED))
        return differ(c, "the library takes the operation as %s", spe_op_kind_name(op.kind));
    if (!f)
        return true;
    if (spe_op_encode(&op) < 0 || op.payload != p->packet.payload)
        return differ(c, "the operation is not encoded as it was");
    return same(c, p, "ldst", f->kind == SPE_OP_MEMSET ? 0 : op.store) &&
           same(c, p, "cond", op.cond) && same(c, p, "ind", op.ind) && same(c, p, "gcs", op.gcs) &&
           same(c, p, "cr", op.cr) && same(c, p, "ase", op.ase) && same(c, p, "fp", op.fp) &&
           same(c, p, "ar", op.ar) && same(c, p, "excl", op.excl) && same(c, p, "at", op.at) &&
           same(c, p, "pred", op.pred) && same(c, p, "sg", op.sg) && same(c, p, "evl", op.evl) &&
           same(c, p, "ets", op.ets) && same(c, p, "comm", op.comm) &&
           same(c, p, "bits",
                f->kind == SPE_OP_SME                                 ? spe_ets_bits(op.ets)
                : f->kind == SPE_OP_SVE || f->kind == SPE_OP_SVE_LDST ? spe_evl_bits(op.evl)
                                                                      : 0);
}

static bool check_events(struct check *c, const struct tv_packet *p)
{
    uint64_t by[3] = {0};

    for (uint64_t left = p->packet.payload; left; left &= left - 1)
        by[spe_event_status((unsigned)__builtin_ctzll(left), c->v->set)] |= left & -left;
    return same(c, p, "defined", by[SPE_DEFINED]) && same(c, p, "impdef", by[SPE_IMPDEF]) &&
           same(c, p, "reserved", by[SPE_RESERVED]);
}

static bool check_fields(struct check *c, const struct tv_packet *p)
{
    switch (p->packet.type) {
    case SPE_PACKET_ADDRESS:
        return check_address(c, p);
    case SPE_PACKET_OP_TYPE:
        return check_op(c, p);
    case SPE_PACKET_EVENTS:
        return check_events(c, p);
    case SPE_PACKET_COUNTER:
        return same(c, p, "saturated",
                    spe_counter_saturated((uint16_t)p->packet.payload, c->v->count_bits));
    default: /* the payload is all there is */
        return true;
    }
}

static bool same_packet(const struct spe_packet *a, const struct spe_packet *b)
{
    return a->type == b->type && a->index == b->index && a->payload == b->payload &&
           a->payload_size == b->payload_size && a->header_size == b->header_size &&
           a->header[0] == b->header[0] && a->header[1] == b->header[1];
}

static bool check_packet(struct check *c, const struct tv_packet *p)
{
    const uint8_t *bytes = c->v->bytes + p->offset;
    size_t size = p->packet.type == SPE_PACKET_PADDING ? 1 : p->size;
    uint8_t again[SPE_PACKET_MAX];
    struct spe_packet got;

    if (spe_packet_decode(bytes, p->size, &got) != (int)size || !same_packet(&got, &p->packet))
        return differ(c, "the library has another packet at %zu", p->offset);
    if (spe_packet_status(&got, c->v->set) != p->status)
        return differ(c, "the library has another status for the packet at %zu", p->offset);
    if (spe_packet_encode(&got, again, sizeof(again)) != (int)size ||
        memcmp(again, bytes, size) != 0)
        return differ(c, "the packet at %zu is not encoded as it was", p->offset);
    return check_fields(c, p);
}

/* ---- items ----------------------------------------------------------------------------------- */

/* Is the packet's payload in the record? */
static bool in_record(const struct spe_record *r, const struct spe_packet *p)
{
    switch (p->type) {
    case SPE_PACKET_ADDRESS:
        return spe_record_has_address(r, p->index) && r->address[p->index] == p->payload;
    case SPE_PACKET_COUNTER:
        return spe_record_has_counter(r, p->index) && r->counter[p->index] == p->payload;
    case SPE_PACKET_CONTEXT:
        return r->has >> p->index & SPE_HAS_CONTEXT1 && r->context[p->index] == p->payload;
    case SPE_PACKET_DATA_SOURCE:
        return r->has & SPE_HAS_SOURCE && r->source == p->payload &&
               r->source_size == p->payload_size;
    case SPE_PACKET_EVENTS:
        return r->has & SPE_HAS_EVENTS && r->events == p->payload &&
               r->events_size == p->payload_size;
    case SPE_PACKET_OP_TYPE:
        return r->has & SPE_HAS_OP && r->op_class == p->index && r->op == p->payload;
    case SPE_PACKET_TIMESTAMP:
        return r->has & SPE_HAS_TIMESTAMP && r->timestamp == p->payload;
    default:
        return true;
    }
}

/* IMPLEMENTATION DEFINED packets may come again with something else. */
static bool check_record(struct check *c, const struct tv_item *item, const struct spe_record *r)
{
    for (size_t i = item->first; i < item->end; i++) {
        const struct tv_packet *p = &c->v->packet[i];

        if (p->key[0] && p->status == SPE_DEFINED && !in_record(r, &p->packet))
            return differ(c, "the library's record lacks %s", p->key);
    }
    return true;
}

static bool check_items(struct check *c, struct spe_stream *stream)
{
    struct spe_record record;
    struct spe_item got;

    spe_stream_init(stream, c->v->unsynced ? SPE_STREAM_UNSYNCED : 0);
    spe_stream_feed(stream, c->v->bytes, c->v->size);
    spe_stream_end(stream);
    for (size_t i = 0; i < c->v->items; i++) {
        const struct tv_item *item = &c->v->item[i];

        if (spe_stream_next(stream, &got, &record) != item->type || got.offset != item->offset ||
            got.size != item->size || (got.type == SPE_ITEM_SKIPPED && got.reason != item->reason))
            return differ(c, "the library has another item at %zu: %llu bytes at %llu",
                          item->offset, (unsigned long long)got.size,
                          (unsigned long long)got.offset);
        if (got.type == SPE_ITEM_RECORD && !check_record(c, item, &record))
            return false;
    }
    if (spe_stream_next(stream, &got, &record) != SPE_ITEM_NONE)
        return differ(c, "the library has one more item");
    return true;
}

bool tv_check(const struct test_vector *v, char *why, size_t why_size)
{
    struct check c = {.v = v, .why = why, .why_size = why_size};
    struct spe_stream *stream;
    bool good;

    if (v->wrong)
        return differ(&c, "it is too large, or its features are not known");
    for (size_t i = 0; i < v->packets; i++)
        if (!check_packet(&c, &v->packet[i]))
            return false;
    stream = malloc(spe_stream_sizeof());
    if (!stream)
        return differ(&c, "%s", spe_strerror(SPE_ERR_NOMEM));
    good = check_items(&c, stream);
    free(stream);
    return good;
}
