/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/json.h"
#include "render/test_vector.h"

#define SCHEMA 1

static const char *const type_names[SPE_PACKET_TYPE_COUNT] = {
    [SPE_PACKET_UNKNOWN] = "unknown", [SPE_PACKET_PADDING] = "padding",
    [SPE_PACKET_END] = "end",         [SPE_PACKET_TIMESTAMP] = "timestamp",
    [SPE_PACKET_EVENTS] = "events",   [SPE_PACKET_DATA_SOURCE] = "data_source",
    [SPE_PACKET_CONTEXT] = "context", [SPE_PACKET_OP_TYPE] = "op_type",
    [SPE_PACKET_ADDRESS] = "address", [SPE_PACKET_COUNTER] = "counter",
};

static const char *const status_names[] = {
    [SPE_DEFINED] = "defined",
    [SPE_IMPDEF] = "impdef",
    [SPE_RESERVED] = "reserved",
};

static const char *const reason_names[SPE_SKIP_REASON_COUNT] = {
    [SPE_SKIP_FRAMING] = "framing",   [SPE_SKIP_DUPLICATE] = "duplicate",
    [SPE_SKIP_OVERSIZE] = "oversize", [SPE_SKIP_TRUNCATED] = "truncated",
    [SPE_SKIP_UNSYNCED] = "unsynced",
};

/* Bytes as digits in memory order. */
static void json_digits(struct json *j, const char *key, const uint8_t *bytes, size_t size)
{
    char text[2 * TV_BYTES + 1];
    char *p = text;

    for (size_t i = 0; i < size; i++) {
        *p++ = "0123456789abcdef"[bytes[i] >> 4];
        *p++ = "0123456789abcdef"[bytes[i] & 15];
    }
    *p = '\0';
    json_string(j, key, text);
}

static void bits(struct json *j, const char *key, uint64_t mask, bool names)
{
    json_array(j, key);
    for (; mask; mask &= mask - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(mask);

        if (names)
            json_string(j, NULL, spe_event_name(bit));
        else
            json_number(j, NULL, bit);
    }
    json_array_end(j);
}

static void one_field(struct json *j, const struct tv_field *f)
{
    switch ((enum tv_field_kind)f->kind) {
    case TV_NUMBER:
        json_number(j, f->name, f->value);
        break;
    case TV_HEX:
        json_hex(j, f->name, f->value);
        break;
    case TV_TEXT:
        json_string(j, f->name, f->text);
        break;
    case TV_BOOL:
        json_bool(j, f->name, f->value);
        break;
    case TV_NULL:
        json_null(j, f->name);
        break;
    case TV_BITS:
    case TV_EVENTS:
        bits(j, f->name, f->value, f->kind == TV_EVENTS);
        break;
    }
}

static void fields(struct json *j, const char *key, const struct tv_packet *p)
{
    json_object(j, key);
    for (unsigned i = 0; i < p->fields; i++)
        one_field(j, &p->field[i]);
    json_object_end(j);
}

static void one_packet(struct json *j, const struct tv_packet *p)
{
    json_object(j, NULL);
    json_number(j, "offset", p->offset);
    json_number(j, "size", p->size);
    json_string(j, "type", type_names[p->packet.type]);
    if (p->packet.type != SPE_PACKET_PADDING) {
        json_digits(j, "header", p->packet.header, p->packet.header_size);
        json_number(j, "payload_size", p->packet.payload_size);
        json_hex(j, "payload", p->packet.payload);
    }
    json_string(j, "status", status_names[p->status]);
    fields(j, "fields", p);
    json_object_end(j);
}

/* IMPLEMENTATION DEFINED packets may come twice: then the last one counts. */
static bool comes_again(const struct test_vector *v, const struct tv_item *item, size_t at)
{
    for (size_t i = at + 1; i < item->end; i++)
        if (strcmp(v->packet[i].key, v->packet[at].key) == 0)
            return true;
    return false;
}

static void record_fields(struct json *j, const struct test_vector *v, const struct tv_item *item)
{
    const struct tv_packet *last = &v->packet[item->end - 1];

    json_string(j, "terminator", type_names[last->packet.type]);
    json_object(j, "fields");
    for (size_t i = item->first; i < item->end; i++)
        if (v->packet[i].key[0] && !comes_again(v, item, i))
            fields(j, v->packet[i].key, &v->packet[i]);
    json_object_end(j);
}

/* Where a decoder is in step again; null if the stream ends before. */
static void skipped_fields(struct json *j, const struct test_vector *v, const struct tv_item *item)
{
    size_t end = item->offset + item->size;

    json_string(j, "reason", reason_names[item->reason]);
    if (end < v->size)
        json_number(j, "resync", end);
    else
        json_null(j, "resync");
}

static void one_item(struct json *j, const struct test_vector *v, const struct tv_item *item)
{
    bool record = item->type == SPE_ITEM_RECORD;

    json_object(j, NULL);
    json_string(j, "type", record ? "record" : "skipped");
    json_number(j, "offset", item->offset);
    json_number(j, "size", item->size);
    if (record)
        record_fields(j, v, item);
    else
        skipped_fields(j, v, item);
    json_object_end(j);
}

static void requirements(struct json *j, const char *rows)
{
    char row[16];

    json_array(j, "requirements");
    while (*rows) {
        size_t n = strcspn(rows, " ");

        if (n && n < sizeof(row)) {
            memcpy(row, rows, n);
            row[n] = '\0';
            json_string(j, NULL, row);
        }
        rows += n + (rows[n] == ' ');
    }
    json_array_end(j);
}

void tv_json(struct out *o, const struct test_vector *v)
{
    struct json j;

    json_begin(&j, o);
    json_object(&j, NULL);
    json_number(&j, "schema", SCHEMA);
    json_string(&j, "id", v->id);
    json_string(&j, "about", v->about);
    requirements(&j, v->rows);
    json_string(&j, "features", v->features);
    json_number(&j, "count_bits", v->count_bits);
    json_bool(&j, "unsynced", v->unsynced);
    json_digits(&j, "bytes", v->bytes, v->size);
    json_array(&j, "packets");
    for (size_t i = 0; i < v->packets; i++)
        one_packet(&j, &v->packet[i]);
    json_array_end(&j);
    json_array(&j, "items");
    for (size_t i = 0; i < v->items; i++)
        one_item(&j, v, &v->item[i]);
    json_array_end(&j);
    json_object_end(&j);
    json_end_line(&j);
}
