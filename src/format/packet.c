/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D18.1.1 and D18.1.4: bytes <-> packets. A packet is one or two header bytes and 0, 1, 2, 4 or 8
 * payload bytes; the size is in the header, whatever the packet is.
 */
#include "packet.h"

#include <specimen/format.h>

#include "bytes.h"

#define FOUR(h, type) [h] = (type), [(h) + 1] = (type), [(h) + 2] = (type), [(h) + 3] = (type)
#define EIGHT(h, type) FOUR(h, type), FOUR((h) + 4, type)

/* Table D18-1. What is not listed is unallocated. */
const uint8_t spe_short_header_type[256] = {
    [0x00] = SPE_PACKET_PADDING,
    [0x01] = SPE_PACKET_END,
    [0x71] = SPE_PACKET_TIMESTAMP,
    [0x42] = SPE_PACKET_EVENTS,
    [0x52] = SPE_PACKET_EVENTS,
    [0x62] = SPE_PACKET_EVENTS,
    [0x72] = SPE_PACKET_EVENTS,
    [0x43] = SPE_PACKET_DATA_SOURCE,
    [0x53] = SPE_PACKET_DATA_SOURCE,
    [0x63] = SPE_PACKET_DATA_SOURCE, /* reserved size: D18.2.4 defines 0b00 and 0b01 only (X01) */
    [0x73] = SPE_PACKET_DATA_SOURCE,
    FOUR(0x64, SPE_PACKET_CONTEXT),
    FOUR(0x48, SPE_PACKET_OP_TYPE),
    EIGHT(0xb0, SPE_PACKET_ADDRESS),
    EIGHT(0x98, SPE_PACKET_COUNTER),
};

static bool is_extended(uint8_t byte0)
{
    return byte0 >= 0x20 && byte0 <= 0x3f;
}

/* Table D18-2: byte 0 is 0b001000xx, byte 1 an Address or Counter header. */
static enum spe_packet_type extended_type(uint8_t byte0, uint8_t byte1)
{
    uint8_t type = spe_short_header_type[byte1];

    if (byte0 > 0x23 || (type != SPE_PACKET_ADDRESS && type != SPE_PACKET_COUNTER))
        return SPE_PACKET_UNKNOWN;
    return type;
}

/* Payload bytes by the header byte that carries the size. An extended header cannot carry another
 * (U01), so 0x20-0x3f never gets here. */
static unsigned payload_size(uint8_t size_byte)
{
    return size_byte < 0x40 ? 0 : 1u << (size_byte >> 4 & 3);
}

int spe_packet_size(const uint8_t *bytes, size_t len)
{
    if (len < 1)
        return SPE_ERR_TRUNCATED;
    if (!is_extended(bytes[0]))
        return (int)(1 + payload_size(bytes[0]));
    if (len < 2)
        return SPE_ERR_TRUNCATED;
    if (is_extended(bytes[1]))
        return SPE_ERR_FRAMING;
    return (int)(2 + payload_size(bytes[1]));
}

static uint8_t packet_index(const struct spe_packet *p)
{
    uint8_t low = p->header_size == 2 ? p->header[1] : p->header[0];

    switch (p->type) {
    case SPE_PACKET_CONTEXT:
    case SPE_PACKET_OP_TYPE:
        return low & 3;
    case SPE_PACKET_ADDRESS:
    case SPE_PACKET_COUNTER:
        return p->header_size == 2 ? (uint8_t)((p->header[0] & 3) << 3 | (low & 7)) : low & 7;
    default:
        return 0;
    }
}

int spe_packet_decode(const uint8_t *bytes, size_t len, struct spe_packet *packet)
{
    int size = spe_packet_size(bytes, len);

    if (size < 0)
        return size;
    if ((size_t)size > len)
        return SPE_ERR_TRUNCATED;
    packet->header[0] = bytes[0];
    if (is_extended(bytes[0])) {
        packet->header[1] = bytes[1];
        packet->header_size = 2;
        packet->type = extended_type(bytes[0], bytes[1]);
    } else {
        packet->header[1] = 0;
        packet->header_size = 1;
        packet->type = spe_short_header_type[bytes[0]];
    }
    packet->payload_size = (uint8_t)(size - packet->header_size);
    packet->payload = load_sized(bytes + packet->header_size, packet->payload_size);
    packet->index = packet_index(packet);
    return size;
}

int spe_packet_encode(const struct spe_packet *packet, uint8_t *bytes, size_t len)
{
    int size = spe_packet_size(packet->header, packet->header_size);

    if (size < 0 || size != packet->header_size + packet->payload_size ||
        is_extended(packet->header[0]) != (packet->header_size == 2))
        return SPE_ERR_INVALID;
    if (packet->payload_size < 8 && packet->payload >> (8 * packet->payload_size))
        return SPE_ERR_RANGE;
    if ((size_t)size > len)
        return SPE_ERR_NOSPACE;
    memcpy(bytes, packet->header, packet->header_size);
    store_sized(bytes + packet->header_size, packet->payload_size, packet->payload);
    return size;
}

/* SZ of a payload of 1, 2, 4 or 8 bytes, in its place in the header; negative if there is none. */
static int size_field(unsigned size)
{
    switch (size) {
    case 1:
        return 0x00;
    case 2:
        return 0x10;
    case 4:
        return 0x20;
    case 8:
        return 0x30;
    default:
        return SPE_ERR_INVALID;
    }
}

/* The short header, or the second byte of an extended one; negative if there is no such packet. */
static int base_header(enum spe_packet_type type, unsigned index, unsigned size)
{
    switch (type) {
    case SPE_PACKET_PADDING:
        return 0x00;
    case SPE_PACKET_END:
        return 0x01;
    case SPE_PACKET_TIMESTAMP:
        return 0x71;
    case SPE_PACKET_EVENTS:
        return size_field(size) < 0 ? SPE_ERR_INVALID : 0x42 | size_field(size);
    case SPE_PACKET_DATA_SOURCE:
        return size == 1 || size == 2 ? 0x43 | size_field(size) : SPE_ERR_INVALID;
    case SPE_PACKET_CONTEXT:
        return index < 4 ? (int)(0x64 | index) : SPE_ERR_RANGE;
    case SPE_PACKET_OP_TYPE:
        return index < 4 ? (int)(0x48 | index) : SPE_ERR_RANGE;
    case SPE_PACKET_ADDRESS:
        return index < SPE_INDEX_COUNT ? (int)(0xb0 | (index & 7)) : SPE_ERR_RANGE;
    case SPE_PACKET_COUNTER:
        return index < SPE_INDEX_COUNT ? (int)(0x98 | (index & 7)) : SPE_ERR_RANGE;
    default:
        return SPE_ERR_INVALID;
    }
}

int spe_packet_make(struct spe_packet *packet, enum spe_packet_type type, unsigned index,
                    unsigned size, uint64_t payload)
{
    int base = base_header(type, index, size);
    bool extended = (type == SPE_PACKET_ADDRESS || type == SPE_PACKET_COUNTER) && index > 7;
    unsigned bytes;

    if (base < 0)
        return base;
    bytes = payload_size((uint8_t)base);
    if (bytes < 8 && payload >> (8 * bytes))
        return SPE_ERR_RANGE;
    packet->type = (uint8_t)type;
    packet->payload = payload;
    packet->payload_size = (uint8_t)bytes;
    packet->header_size = extended ? 2 : 1;
    packet->header[0] = extended ? (uint8_t)(0x20 | index >> 3) : (uint8_t)base;
    packet->header[1] = extended ? (uint8_t)base : 0;
    packet->index = packet_index(packet);
    return SPE_OK;
}

const char *spe_packet_type_name(unsigned type)
{
    static const char *const names[SPE_PACKET_TYPE_COUNT] = {
        [SPE_PACKET_UNKNOWN] = "Unknown", [SPE_PACKET_PADDING] = "Padding",
        [SPE_PACKET_END] = "End",         [SPE_PACKET_TIMESTAMP] = "Timestamp",
        [SPE_PACKET_EVENTS] = "Events",   [SPE_PACKET_DATA_SOURCE] = "Data Source",
        [SPE_PACKET_CONTEXT] = "Context", [SPE_PACKET_OP_TYPE] = "Operation Type",
        [SPE_PACKET_ADDRESS] = "Address", [SPE_PACKET_COUNTER] = "Counter",
    };

    return type < SPE_PACKET_TYPE_COUNT ? names[type] : names[SPE_PACKET_UNKNOWN];
}
