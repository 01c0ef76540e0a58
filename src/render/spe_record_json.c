/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include <stdio.h>

#include "render/json.h"
#include "render/spe_record.h"

static const char *const security_names[4] = {"secure", "nonsecure", NULL, "realm"};

static void one_address(struct json *j, const struct naming *naming, unsigned index,
                        uint64_t payload)
{
    struct spe_address a;
    enum spe_security security;

    spe_address_decode(index, payload, &a);
    security = spe_address_security(&a, naming_features(naming));
    json_object(j, spe_address_name(index));
    json_hex(j, "raw", payload);
    json_hex(j, "address", spe_address_canonical(index, payload));
    switch (index) {
    case SPE_ADDRESS_VA:
        json_number(j, "tag", a.tag);
        break;
    case SPE_ADDRESS_PA:
        json_string(j, "security", security_names[security & 3]);
        json_bool(j, "checked", a.ch);
        json_number(j, "tag", a.pat);
        break;
    default:
        json_number(j, "el", a.el);
        json_string(j, "security", security_names[security & 3]);
        break;
    }
    json_object_end(j);
}

/* IMPLEMENTATION DEFINED and reserved indexes have a number only. */
static void nameless_addresses(struct json *j, const struct spe_record *r)
{
    uint32_t left;
    bool open = false;

    for (left = r->addresses; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);

        if (spe_address_name(i))
            continue;
        if (!open)
            json_array(j, "addresses");
        open = true;
        json_object(j, NULL);
        json_number(j, "index", i);
        json_hex(j, "raw", r->address[i]);
        json_object_end(j);
    }
    if (open)
        json_array_end(j);
}

static void addresses(struct json *j, const struct naming *naming, const struct spe_record *r)
{
    uint32_t left;

    for (left = r->addresses; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);

        if (spe_address_name(i))
            one_address(j, naming, i, r->address[i]);
    }
    nameless_addresses(j, r);
}

static void counters(struct json *j, const struct naming *naming, const struct spe_record *r)
{
    uint32_t left;

    json_array(j, "counters");
    for (left = r->counters; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);

        json_object(j, NULL);
        json_number(j, "index", i);
        json_string(j, "name", spe_counter_name(i));
        json_number(j, "cycles", r->counter[i]);
        json_bool(j, "saturated", naming_saturated(naming, r->counter[i]));
        json_object_end(j);
    }
    json_array_end(j);
}

/* The bits that have no name, of one status, by number. */
static void event_numbers(struct json *j, const struct naming *naming, const char *key,
                          uint64_t events, enum spe_definition wanted)
{
    bool open = false;

    for (; events; events &= events - 1) {
        unsigned event = (unsigned)__builtin_ctzll(events);

        if (naming_event(naming, event) != wanted || naming_event_name(naming, event))
            continue;
        if (!open)
            json_array(j, key);
        open = true;
        json_number(j, NULL, event);
    }
    if (open)
        json_array_end(j);
}

static void events_field(struct json *j, const struct naming *naming, const struct spe_record *r)
{
    uint64_t left;

    json_object(j, "events");
    json_hex(j, "raw", r->events);
    json_number(j, "size", r->events_size);
    json_array(j, "set");
    for (left = r->events; left; left &= left - 1) {
        const char *name = naming_event_name(naming, (unsigned)__builtin_ctzll(left));

        if (name)
            json_string(j, NULL, name);
    }
    json_array_end(j);
    event_numbers(j, naming, "impdef", r->events, SPE_IMPDEF);
    event_numbers(j, naming, "reserved", r->events, SPE_RESERVED);
    json_object_end(j);
}

static void op_load_store(struct json *j, const struct spe_op *op)
{
    json_bool(j, "store", op->store);
    if (op->kind == SPE_OP_EXTENDED) {
        json_bool(j, "atomic", op->at);
        json_bool(j, "exclusive", op->excl);
        json_bool(j, "acquire_release", op->ar);
    } else if (op->kind == SPE_OP_SVE_LDST) {
        json_bool(j, "predicated", op->pred);
        json_bool(j, "gather_scatter", op->sg);
    } else if (op->kind == SPE_OP_GCS) {
        json_bool(j, "common", op->comm);
    }
}

static void op_branch(struct json *j, const struct spe_op *op)
{
    static const char *const cr[4] = {"not_recorded", "link", "return", "neither"};

    json_bool(j, "conditional", op->cond);
    json_bool(j, "indirect", op->ind);
    json_bool(j, "gcs", op->gcs);
    json_string(j, "call_return", cr[op->cr & 3]);
}

static void op_other(struct json *j, const struct spe_op *op)
{
    json_bool(j, "fp", op->fp);
    if (op->kind == SPE_OP_SVE)
        json_bool(j, "predicated", op->pred);
    if (op->kind == SPE_OP_OTHER) {
        json_bool(j, "simd", op->ase);
        json_bool(j, "conditional", op->cond);
    }
}

/* EVL and ETS: the field, and the bits that it stands for (null where it names no size). */
static void op_size(struct json *j, const char *key, unsigned field, uint32_t bits)
{
    json_number(j, key, field);
    if (bits)
        json_number(j, "bits", bits);
    else
        json_null(j, "bits");
}

static void op_field(struct json *j, const struct spe_record *r)
{
    struct spe_op op;

    spe_op_decode(r->op_class, r->op, &op);
    json_object(j, "op");
    json_number(j, "class", r->op_class);
    json_number(j, "raw", r->op);
    json_string(j, "kind", spe_op_kind_name(op.kind));
    if (op.kind == SPE_OP_BRANCH)
        op_branch(j, &op);
    else if (op.kind != SPE_OP_RESERVED && op.class_ == SPE_CLASS_LDST)
        op_load_store(j, &op);
    else if (op.kind != SPE_OP_RESERVED)
        op_other(j, &op);
    if (op.kind == SPE_OP_SVE || op.kind == SPE_OP_SVE_LDST)
        op_size(j, "evl", op.evl, spe_evl_bits(op.evl));
    if (op.kind == SPE_OP_SME)
        op_size(j, "ets", op.ets, spe_ets_bits(op.ets));
    json_object_end(j);
}

static void source_field(struct json *j, const struct naming *naming, const struct spe_record *r)
{
    const struct spe_source *source = naming->cpu ? spe_cpu_source(naming->cpu, r->source) : NULL;

    json_object(j, "source");
    json_number(j, "raw", r->source);
    json_number(j, "size", r->source_size);
    json_string(j, "name", source ? source->name : NULL);
    json_string(j, "level", source ? spe_source_level_name(source->level) : NULL);
    if (source)
        json_bool(j, "modified", source->modified);
    json_object_end(j);
}

/* What a record holds beside its fields: kept as header and payload. */
static bool stepped_over(const struct spe_packet *p)
{
    switch (p->type) {
    case SPE_PACKET_UNKNOWN:
        return true;
    case SPE_PACKET_CONTEXT:
        return p->index >= SPE_CONTEXT_COUNT;
    case SPE_PACKET_OP_TYPE:
        return p->index == SPE_CLASS_RESERVED;
    case SPE_PACKET_DATA_SOURCE:
        return p->payload_size > 2;
    case SPE_PACKET_ADDRESS:
        return spe_address_status(p->index, SPE_FEATURES_ALL) == SPE_RESERVED;
    case SPE_PACKET_COUNTER:
        return spe_counter_status(p->index, SPE_FEATURES_ALL) == SPE_RESERVED;
    default:
        return false;
    }
}

static void unknown_packets(struct json *j, const struct spe_item *item)
{
    struct spe_packet packet;
    uint64_t pos = 0;

    json_array(j, "unknown");
    while (pos < item->size) {
        int size = spe_packet_decode(item->bytes + pos, (size_t)(item->size - pos), &packet);

        if (size < 0) /* cannot be: the record was decoded from these bytes */
            break;
        if (stepped_over(&packet)) {
            json_object(j, NULL);
            json_number(j, "offset", item->offset + pos);
            json_hex(j, "header",
                     packet.header_size == 2 ? (uint64_t)packet.header[0] << 8 | packet.header[1]
                                             : packet.header[0]);
            json_number(j, "size", packet.payload_size);
            json_hex(j, "payload", packet.payload);
            json_object_end(j);
        }
        pos += (unsigned)size;
    }
    json_array_end(j);
}

static void begin_item(struct json *j, struct out *o, const char *type, const char *file,
                       const struct spe_item *item)
{
    json_begin(j, o);
    json_object(j, NULL);
    json_string(j, "type", type);
    if (file)
        json_string(j, "file", file);
    json_number(j, "offset", item->offset);
    json_number(j, "size", item->size);
}

void render_record_json(struct out *o, const struct naming *naming, const char *file,
                        const struct spe_item *item, const struct spe_record *r)
{
    struct json j;

    begin_item(&j, o, "record", file, item);
    json_number(&j, "padding", r->padding);
    if (r->has & SPE_HAS_OP)
        op_field(&j, r);
    addresses(&j, naming, r);
    counters(&j, naming, r);
    if (r->has & SPE_HAS_SOURCE)
        source_field(&j, naming, r);
    if (r->has & SPE_HAS_EVENTS)
        events_field(&j, naming, r);
    if (r->has & SPE_HAS_CONTEXT1)
        json_number(&j, "context1", r->context[0]);
    if (r->has & SPE_HAS_CONTEXT2)
        json_number(&j, "context2", r->context[1]);
    if (r->has & SPE_HAS_TIMESTAMP)
        json_number(&j, "timestamp", r->timestamp);
    if (r->unknown)
        unknown_packets(&j, item);
    json_object_end(&j);
    json_end_line(&j);
}

void render_skipped_json(struct out *o, const char *file, const struct spe_item *item)
{
    struct json j;

    begin_item(&j, o, "skipped", file, item);
    json_string(&j, "reason", spe_skip_reason_name(item->reason));
    json_object_end(&j);
    json_end_line(&j);
}
