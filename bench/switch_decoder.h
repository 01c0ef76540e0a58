/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A straightforward SPE decoder, one packet at a time in a switch, as most projects write it: the
 * peer that the bulk decoder is measured against. It fills the same columns, trusts its input as
 * far as the packet's size goes, and knows nothing of damage.
 */
#ifndef BENCH_SWITCH_DECODER_H
#define BENCH_SWITCH_DECODER_H

#include <specimen/format.h>

#include <string.h>

struct switch_record {
    uint64_t address[8], events, timestamp;
    uint32_t context[2];
    uint16_t counter[8], source, op;
    uint8_t has, addresses, counters;
};

static inline uint64_t switch_payload(const uint8_t *p, unsigned size)
{
    uint64_t value = 0;

    memcpy(&value, p, size);
    return value;
}

static inline void switch_append(struct spe_columns *c, const struct switch_record *r, size_t at)
{
    size_t row = c->rows++;

    c->offset[row] = at;
    c->pc[row] = r->address[0];
    c->target[row] = r->address[1];
    c->va[row] = r->address[2];
    c->pa[row] = r->address[3];
    c->previous_target[row] = r->address[4];
    c->events[row] = r->events;
    c->timestamp[row] = r->timestamp;
    c->context1[row] = r->context[0];
    c->context2[row] = r->context[1];
    c->total[row] = r->counter[0];
    c->issue[row] = r->counter[1];
    c->translation[row] = r->counter[2];
    c->alt_issue[row] = r->counter[4];
    c->source[row] = r->source;
    c->op[row] = r->op;
    c->has[row] = r->has;
    c->addresses[row] = r->addresses;
    c->counters[row] = r->counters;
}

/* Decodes from *pos until the columns are full or the bytes end. */
static inline void switch_decode(const uint8_t *bytes, size_t len, size_t *pos,
                                 struct spe_columns *c)
{
    struct switch_record r = {0};
    size_t at = *pos, start = at;

    while (at < len && c->rows < c->capacity) {
        uint8_t h = bytes[at];
        unsigned extended = 0, index, size;
        uint64_t value;

        if (h == 0x00) {
            at++;
            if (!r.has && !r.addresses && !r.counters)
                start = at;
            continue;
        }
        if (h >= 0x20 && h < 0x40 && at + 1 < len) {
            extended = h & 3;
            h = bytes[++at];
        }
        size = h < 0x40 ? 0 : 1u << (h >> 4 & 3);
        if (at + 1 + size > len)
            break;
        value = switch_payload(bytes + at + 1, size);
        at += 1 + size;
        index = extended << 3 | (h & 7);
        switch (h) {
        case 0x71:
            r.timestamp = value;
            r.has |= SPE_HAS_TIMESTAMP;
            __attribute__((fallthrough));
        case 0x01:
            switch_append(c, &r, start);
            memset(&r, 0, sizeof(r));
            start = at;
            *pos = at;
            break;
        case 0x42:
        case 0x52:
        case 0x62:
        case 0x72:
            r.events = value;
            r.has |= SPE_HAS_EVENTS;
            break;
        case 0x43:
        case 0x53:
            r.source = (uint16_t)value;
            r.has |= SPE_HAS_SOURCE;
            break;
        case 0x64:
        case 0x65:
            r.context[h & 1] = (uint32_t)value;
            r.has |= (uint8_t)(SPE_HAS_CONTEXT1 << (h & 1));
            break;
        case 0x48:
        case 0x49:
        case 0x4a:
            r.op = (uint16_t)((h & 3) << 8 | value);
            r.has |= SPE_HAS_OP;
            break;
        case 0xb0:
        case 0xb1:
        case 0xb2:
        case 0xb3:
        case 0xb4:
            if (index < 8) {
                r.address[index] = value;
                r.addresses |= (uint8_t)(1u << index);
            }
            break;
        case 0x98:
        case 0x99:
        case 0x9a:
        case 0x9c:
            if (index < 8) {
                r.counter[index] = (uint16_t)value;
                r.counters |= (uint8_t)(1u << index);
            }
            break;
        default:
            break;
        }
    }
}

#endif
