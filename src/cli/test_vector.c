/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The bytes and fields of test vectors, from the text of D18.1 and D18.2. */
#include "cli/test_vector.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/count_of.h"

/* By the struct's members; rows beside those of the packet itself. */
/* clang-format off */
const struct op_format op_formats[] = {
    {"other", "another operation", SPE_OP_OTHER, 0, 0xf8, 0x00,
     "D18.2-097 D18.2-101 D18.2-102 D18.2-103", {"v1p0"}, {0},
     {{"cond", 0, 1}, {"fp", 1, 1}, {"ase", 2, 1}}},
    {"sve", "data processing of SVE vectors", SPE_OP_SVE, 0, 0x89, 0x08,
     "D18.2-097 D18.2-104 D18.2-105 D18.2-108", {"v1p1,sve"}, {"v1p0,sve", "v1p1"},
     {{"fp", 1, 1}, {"pred", 2, 1}, {"evl", 4, 3}}},
    {"sme", "data processing of the SME array", SPE_OP_SME, 0, 0x89, 0x88,
     "D18.2-097 D18.2-109 D18.2-110 D18.2-115", {"v1p1,sme,spe_sme"}, {"v1p4,sme"},
     {{"fp", 1, 1}, {"ets", 4, 3}}},
    {"gp", "a load or store of general-purpose registers", SPE_OP_GP, 1, 0xfe, 0x00,
     "D18.2-098 D18.2-116 D18.2-121", {"v1p0"}, {0}, {{"ldst", 0, 1}}},
    {"simd_fp", "a load or store of SIMD&FP registers", SPE_OP_SIMD_FP, 1, 0xfe, 0x04,
     "D18.2-098 D18.2-117 D18.2-121", {"v1p0"}, {0}, {{"ldst", 0, 1}}},
    {"unspecified", "a load or store of unspecified registers", SPE_OP_UNSPECIFIED, 1, 0xfe, 0x10,
     "D18.2-098 D18.2-118 D18.2-121", {"v1p1"}, {"v1p0"}, {{"ldst", 0, 1}}},
    {"tag", "a load or store of Allocation Tags", SPE_OP_TAG, 1, 0xfe, 0x14,
     "D18.2-098 D18.2-119 D18.2-121", {"v1p3,mte"}, {"v1p2,mte", "v1p3"}, {{"ldst", 0, 1}}},
    {"nv2", "an MRS or MSR that became a load or store", SPE_OP_NV2, 1, 0xfe, 0x30,
     "D18.2-098 D18.2-120 D18.2-121", {"v1p0,nv2,el2"}, {"v1p0"}, {{"ldst", 0, 1}}},
    {"extended", "an atomic, acquire, release or exclusive access", SPE_OP_EXTENDED, 1, 0xe2, 0x02,
     "D18.2-098 D18.2-121 D18.2-122 D18.2-123", {"v1p0"}, {0},
     {{"ldst", 0, 1}, {"at", 2, 1}, {"excl", 3, 1}, {"ar", 4, 1}}},
    {"sve_ldst", "a load or store of SVE or SME registers", SPE_OP_SVE_LDST, 1, 0x0a, 0x08,
     "D18.2-098 D18.2-105 D18.2-124 D18.2-125 D18.2-127 D18.2-128",
     {"v1p1,sve", "v1p1,sme"}, {"v1p0,sve", "v1p1"},
     {{"ldst", 0, 1}, {"pred", 2, 1}, {"evl", 4, 3}, {"sg", 7, 1}}},
    {"memcpy", "a memory copy", SPE_OP_MEMCPY, 1, 0xfe, 0x20,
     "D18.2-098 D18.2-129", {"v1p3,mops"}, {"v1p2,mops", "v1p3"}, {{"ldst", 0, 1}}},
    {"memset", "a memory set", SPE_OP_MEMSET, 1, 0xff, 0x25,
     "D18.2-098 D18.2-130", {"v1p3,mops"}, {"v1p2,mops", "v1p3"}, {{0}}},
    {"gcs", "an access of the Guarded control stack", SPE_OP_GCS, 1, 0xfa, 0x40,
     "D18.2-098 D18.2-131 D18.2-132", {"v1p4,gcs"}, {"v1p3,gcs", "v1p4"},
     {{"ldst", 0, 1}, {"comm", 2, 1}}},
    {"branch", "a branch or exception return", SPE_OP_BRANCH, 2, 0xe0, 0x00,
     "D18.2-099 D18.2-133 D18.2-134 D18.2-135 D18.2-136 D18.2-137", {"v1p0"}, {0},
     {{"cond", 0, 1}, {"ind", 1, 1}, {"gcs", 2, 1}, {"cr", 3, 2}}},
};
/* clang-format on */
const size_t op_format_count = COUNT_OF(op_formats);

const struct op_format *op_format_of(unsigned class_, uint8_t payload)
{
    for (size_t i = 0; i < op_format_count; i++)
        if (op_formats[i].class_ == class_ && (payload & op_formats[i].mask) == op_formats[i].match)
            return &op_formats[i];
    return NULL;
}

/* ---- the vector ------------------------------------------------------------------------------ */

void tv_begin(struct test_vector *v, const char *features, const char *rows)
{
    char why[100];

    memset(v, 0, sizeof(*v));
    v->features = features;
    v->count_bits = 16;
    v->wrong = spe_features_parse(features, &v->set, why, sizeof(why)) < 0;
    tv_rows(v, rows);
}

void tv_id(struct test_vector *v, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(v->id, sizeof(v->id), format, args);
    va_end(args);
    for (char *p = v->id; *p; p++)
        if (*p == ',' || *p == '_')
            *p = *p == ',' ? '+' : '-';
}

void tv_about(struct test_vector *v, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(v->about, sizeof(v->about), format, args);
    va_end(args);
}

void tv_rows(struct test_vector *v, const char *rows)
{
    size_t used = strlen(v->rows);

    if (used + 1 + strlen(rows) >= sizeof(v->rows))
        v->wrong = true;
    snprintf(v->rows + used, sizeof(v->rows) - used, "%s%s", used ? " " : "", rows);
}

/* ---- packets --------------------------------------------------------------------------------- */

static unsigned bits_of(uint64_t value, unsigned high, unsigned low)
{
    return (unsigned)(value >> low & ((UINT64_C(1) << (high - low + 1)) - 1));
}

static uint64_t low_bits(uint64_t value, unsigned count)
{
    return value & ((UINT64_C(1) << count) - 1);
}

void tv_raw(struct test_vector *v, const uint8_t *bytes, size_t size)
{
    if (v->size + size > TV_BYTES) {
        v->wrong = true;
        return;
    }
    memcpy(v->bytes + v->size, bytes, size);
    v->size += size;
}

/* Bits 5:4 of the byte that tells the size, from 0x40 on (D18.1.1). */
static unsigned payload_size(uint8_t header)
{
    return header < 0x40 ? 0 : 1u << (header >> 4 & 3);
}

static struct tv_packet *add_packet(struct test_vector *v, enum spe_packet_type type,
                                    const uint8_t *header, unsigned header_size, unsigned index,
                                    uint64_t payload)
{
    struct tv_packet *p = &v->packet[v->packets];

    if (v->packets + 1 < TV_PACKETS)
        v->packets++;
    else
        v->wrong = true;
    memset(p, 0, sizeof(*p));
    p->offset = v->size;
    p->packet.type = (uint8_t)type;
    p->packet.index = (uint8_t)index;
    p->packet.header_size = (uint8_t)header_size;
    memcpy(p->packet.header, header, header_size);
    p->packet.payload_size = (uint8_t)payload_size(header[header_size - 1]);
    p->packet.payload = payload;
    tv_raw(v, header, header_size);
    for (unsigned i = 0; i < p->packet.payload_size; i++) {
        uint8_t byte = (uint8_t)(payload >> 8 * i);

        tv_raw(v, &byte, 1);
    }
    p->size = v->size - p->offset;
    return p;
}

static struct tv_packet *add_short(struct test_vector *v, enum spe_packet_type type,
                                   unsigned header, unsigned index, uint64_t payload)
{
    uint8_t byte = (uint8_t)(header | index);

    return add_packet(v, type, &byte, 1, index, payload);
}

/* Address and Counter: INDEX[4:3] is in the first of two bytes. */
static struct tv_packet *add_indexed(struct test_vector *v, enum spe_packet_type type,
                                     unsigned header, unsigned index, bool extended,
                                     uint64_t payload)
{
    uint8_t bytes[2] = {(uint8_t)(0x20 | index >> 3), (uint8_t)(header | (index & 7))};

    if (extended || index > 7)
        return add_packet(v, type, bytes, 2, index, payload);
    return add_packet(v, type, bytes + 1, 1, index, payload);
}

static void add_field(struct tv_packet *p, const char *name, enum tv_field_kind kind,
                      uint64_t value)
{
    p->field[p->fields++] = (struct tv_field){.name = name, .kind = (uint8_t)kind, .value = value};
}

static void add_text(struct tv_packet *p, const char *name, const char *text)
{
    add_field(p, name, text ? TV_TEXT : TV_NULL, 0);
    p->field[p->fields - 1].text = text;
}

/* A packet with a reserved value is not part of its record (D18.1.3). */
static void set_status(struct tv_packet *p, enum spe_definition status, const char *key)
{
    p->status = (uint8_t)status;
    if (status != SPE_RESERVED)
        snprintf(p->key, sizeof(p->key), "%s", key);
}

/* IMPLEMENTATION DEFINED are INDEX 0b0011x and 0b1xxxx, of addresses and of counters. */
static enum spe_definition other_index(unsigned index)
{
    return index == 6 || index == 7 || index >= 16 ? SPE_IMPDEF : SPE_RESERVED;
}

static void add_security(struct test_vector *v, struct tv_packet *p, unsigned ns, unsigned nse)
{
    static const char *const names[4] = {"secure", "nonsecure", "reserved", "realm"};
    bool rme = spe_has(v->set, SPE_FEAT_RME);

    add_text(p, "security", names[(rme ? nse << 1 : 0) | ns]);
}

static void instruction_fields(struct test_vector *v, struct tv_packet *p, uint64_t payload)
{
    add_field(p, "address", TV_HEX, low_bits(payload, 56));
    add_field(p, "ns", TV_NUMBER, bits_of(payload, 63, 63));
    add_field(p, "el", TV_NUMBER, bits_of(payload, 62, 61));
    add_field(p, "nse", TV_NUMBER, bits_of(payload, 60, 60));
    add_field(p, "zero", TV_NUMBER, bits_of(payload, 59, 56));
    add_security(v, p, bits_of(payload, 63, 63), bits_of(payload, 60, 60));
}

static void physical_fields(struct test_vector *v, struct tv_packet *p, uint64_t payload)
{
    add_field(p, "address", TV_HEX, low_bits(payload, 56));
    add_field(p, "ns", TV_NUMBER, bits_of(payload, 63, 63));
    add_field(p, "ch", TV_NUMBER, bits_of(payload, 62, 62));
    add_field(p, "zero", TV_NUMBER, bits_of(payload, 61, 61));
    add_field(p, "nse", TV_NUMBER, bits_of(payload, 60, 60));
    add_field(p, "pat", TV_NUMBER, bits_of(payload, 59, 56));
    add_security(v, p, bits_of(payload, 63, 63), bits_of(payload, 60, 60));
}

void tv_address(struct test_vector *v, unsigned index, bool extended, uint64_t payload)
{
    static const char *const names[5] = {"pc", "target", "va", "pa", "previous_target"};
    struct tv_packet *p = add_indexed(v, SPE_PACKET_ADDRESS, 0xb0, index, extended, payload);
    char key[24];

    add_field(p, "index", TV_NUMBER, index);
    if (index > 4) {
        snprintf(key, sizeof(key), "address_%u", index);
        set_status(p, other_index(index), key);
        return;
    }
    add_text(p, "name", names[index]);
    set_status(p, index < 4 || spe_has(v->set, SPE_FEAT_SPE_PBT) ? SPE_DEFINED : SPE_RESERVED,
               names[index]);
    if (index == 2) {
        add_field(p, "address", TV_HEX, low_bits(payload, 56));
        add_field(p, "tag", TV_NUMBER, bits_of(payload, 63, 56));
    } else if (index == 3) {
        physical_fields(v, p, payload);
    } else {
        instruction_fields(v, p, payload);
    }
}

void tv_context(struct test_vector *v, unsigned index, uint32_t payload)
{
    struct tv_packet *p = add_short(v, SPE_PACKET_CONTEXT, 0x64, index, payload);

    add_field(p, "index", TV_NUMBER, index);
    add_field(p, "context", TV_NUMBER, payload);
    set_status(p, index < 2 ? SPE_DEFINED : SPE_RESERVED,
               index ? "contextidr_el2" : "contextidr_el1");
}

/* INDEX 4 is for operations of FEAT_SPE_SME, with the clock of PMSIDR_EL1.ALTCLK (D17.6.1). */
static enum spe_definition counter_status(const struct test_vector *v, unsigned index)
{
    if (index < 3)
        return SPE_DEFINED;
    if (index == 4)
        return spe_has(v->set, SPE_FEAT_SPE_SME) && spe_has(v->set, SPE_FEAT_SPE_ALTCLK)
                   ? SPE_DEFINED
                   : SPE_RESERVED;
    return other_index(index);
}

void tv_counter(struct test_vector *v, unsigned index, bool extended, uint16_t payload)
{
    static const char *const names[5] = {"total", "issue", "translation", NULL, "alt_issue"};
    struct tv_packet *p = add_indexed(v, SPE_PACKET_COUNTER, 0x98, index, extended, payload);
    unsigned max = v->count_bits == 12 ? 0xfff : 0xffff;
    char key[24];

    add_field(p, "index", TV_NUMBER, index);
    if (index < 5 && names[index]) {
        add_text(p, "name", names[index]);
        snprintf(key, sizeof(key), "%s_latency", names[index]);
    } else {
        snprintf(key, sizeof(key), "counter_%u", index);
    }
    add_field(p, "count", TV_NUMBER, payload);
    add_field(p, "saturated", TV_BOOL, payload >= max);
    set_status(p, counter_status(v, index), key);
}

/* SZ of a payload of 1, 2, 4 or 8 bytes, in its place. */
static unsigned size_bits(unsigned size)
{
    return (unsigned)__builtin_ctz(size) << 4;
}

void tv_source(struct test_vector *v, unsigned size, uint64_t payload)
{
    struct tv_packet *p = add_short(v, SPE_PACKET_DATA_SOURCE, 0x43 | size_bits(size), 0, payload);

    if (size <= 2)
        add_field(p, "source", TV_NUMBER, payload);
    set_status(p, size <= 2 ? SPE_DEFINED : SPE_RESERVED, "source");
}

/* D18.2.6: what an event's bit is with these features. */
static enum spe_definition event_status(spe_features set, unsigned bit)
{
    bool v1p4 = spe_has(set, SPE_FEAT_SPEv1p4);

    if (bit <= 10)
        return SPE_DEFINED;
    if (bit == 11)
        return spe_has(set, SPE_FEAT_SPEv1p1) ? SPE_DEFINED : SPE_RESERVED;
    if (bit <= 15 || bit >= 48)
        return SPE_IMPDEF;
    if (bit == 16 || bit >= 32)
        return SPE_RESERVED;
    if (bit <= 18)
        return spe_has(set, SPE_FEAT_SPEv1p1) && set & (SPE_FEAT(SVE) | SPE_FEAT(SME))
                   ? SPE_DEFINED
                   : SPE_RESERVED;
    if (bit <= 23)
        return v1p4 ? SPE_DEFINED : SPE_RESERVED;
    if (bit <= 25 && spe_has(set, SPE_FEAT_SPE_SME))
        return SPE_DEFINED;
    return v1p4 ? SPE_RESERVED : SPE_IMPDEF;
}

void tv_events(struct test_vector *v, unsigned size, uint64_t payload)
{
    struct tv_packet *p = add_short(v, SPE_PACKET_EVENTS, 0x42 | size_bits(size), 0, payload);
    uint64_t by[3] = {0};

    for (uint64_t left = payload; left; left &= left - 1)
        by[event_status(v->set, (unsigned)__builtin_ctzll(left))] |= left & -left;
    add_field(p, "events", TV_HEX, payload);
    add_field(p, "set", TV_EVENTS, by[SPE_DEFINED]);
    add_field(p, "defined", TV_BITS, by[SPE_DEFINED]);
    add_field(p, "impdef", TV_BITS, by[SPE_IMPDEF]);
    add_field(p, "reserved", TV_BITS, by[SPE_RESERVED]);
    set_status(p, SPE_DEFINED, "events");
}

/* A list is a subset of the set when closing adds nothing. */
static bool has_features(const struct test_vector *v, const char *list)
{
    spe_features set = 0;
    char why[100];

    return spe_features_parse(list, &set, why, sizeof(why)) == SPE_OK && !(set & ~v->set);
}

/* EVL and ETS stand for a number of bits, but for some values. */
static void add_bits(struct tv_packet *p, unsigned value, unsigned last, uint32_t least)
{
    add_field(p, "bits", value <= last ? TV_NUMBER : TV_NULL,
              value <= last ? (uint64_t)least << value : 0);
}

static enum spe_definition op_status(const struct test_vector *v, const struct op_format *f,
                                     unsigned evl, unsigned ets)
{
    bool with = has_features(v, f->with[0]) || (f->with[1] && has_features(v, f->with[1]));

    if (evl == 7 && !spe_has(v->set, SPE_FEAT_SPE_SME))
        return SPE_RESERVED;
    return with && (ets < 12 || ets > 14) ? SPE_DEFINED : SPE_RESERVED;
}

void tv_op(struct test_vector *v, unsigned class_, uint8_t payload)
{
    struct tv_packet *p = add_short(v, SPE_PACKET_OP_TYPE, 0x48, class_, payload);
    const struct op_format *f = op_format_of(class_, payload);
    unsigned evl = 0, ets = 0;

    add_field(p, "class", TV_NUMBER, class_);
    add_text(p, "kind", f ? f->name : "reserved");
    set_status(p, SPE_RESERVED, "op");
    if (!f)
        return;
    for (unsigned i = 0; i < OP_FIELDS && f->field[i].name; i++) {
        unsigned shift = f->field[i].shift, value;

        value = bits_of(payload, shift + f->field[i].width - 1u, shift);
        if (strcmp(f->field[i].name, "ets") == 0) /* its lowest bit is bit 2 */
            value = ets = value << 1 | bits_of(payload, 2, 2);
        if (strcmp(f->field[i].name, "evl") == 0)
            evl = value;
        add_field(p, f->field[i].name, TV_NUMBER, value);
    }
    if (f->kind == SPE_OP_SME)
        add_bits(p, ets, 11, 128);
    if (f->kind == SPE_OP_SVE || f->kind == SPE_OP_SVE_LDST)
        add_bits(p, evl, 6, 32);
    set_status(p, op_status(v, f, evl, ets), "op");
}

void tv_padding(struct test_vector *v, size_t size)
{
    static const uint8_t zero;
    struct tv_packet *p = add_packet(v, SPE_PACKET_PADDING, &zero, 1, 0, 0);

    for (; p->size < size; p->size++)
        tv_raw(v, &zero, 1);
}

void tv_unknown(struct test_vector *v, const uint8_t *header, unsigned header_size,
                uint64_t payload)
{
    unsigned size = payload_size(header[header_size - 1]);
    struct tv_packet *p = add_packet(v, SPE_PACKET_UNKNOWN, header, header_size, 0,
                                     size < 8 ? low_bits(payload, 8 * size) : payload);

    set_status(p, SPE_RESERVED, "");
}

/* ---- records and damage ---------------------------------------------------------------------- */

static struct tv_item *add_item(struct test_vector *v, enum spe_item_type type, size_t offset)
{
    struct tv_item *item = &v->item[v->items];

    if (v->items + 1 < TV_ITEMS)
        v->items++;
    else
        v->wrong = true;
    *item = (struct tv_item){.type = (uint8_t)type, .offset = offset, .size = v->size - offset};
    return item;
}

/* The packets since the item before, without the padding that they begin with. */
static void complete_record(struct test_vector *v)
{
    size_t done = v->items ? v->item[v->items - 1].offset + v->item[v->items - 1].size : 0;
    struct tv_item *item;
    size_t first = 0;

    while (v->packet[first].offset < done || v->packet[first].packet.type == SPE_PACKET_PADDING)
        first++;
    item = add_item(v, SPE_ITEM_RECORD, v->packet[first].offset);
    item->first = first;
    item->end = v->packets;
}

void tv_end(struct test_vector *v)
{
    add_short(v, SPE_PACKET_END, 0x01, 0, 0);
    complete_record(v);
}

void tv_timestamp(struct test_vector *v, uint64_t payload)
{
    struct tv_packet *p = add_short(v, SPE_PACKET_TIMESTAMP, 0x71, 0, payload);

    add_field(p, "timestamp", TV_HEX, payload);
    set_status(p, SPE_DEFINED, "timestamp");
    complete_record(v);
}

void tv_skip(struct test_vector *v, size_t size, enum spe_skip_reason reason)
{
    size_t offset = v->size - size;

    while (v->packets && v->packet[v->packets - 1].offset >= offset)
        v->packets--;
    add_item(v, SPE_ITEM_SKIPPED, offset)->reason = (uint8_t)reason;
}
