/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D18.2: is a packet defined, IMPLEMENTATION DEFINED or reserved? A question for the payload views.
 */
#include <specimen/format.h>

static enum spe_definition op_status(const struct spe_packet *packet, spe_features features)
{
    struct spe_op op;

    spe_op_decode(packet->index, (uint8_t)packet->payload, &op);
    return spe_op_status(&op, features);
}

enum spe_definition spe_packet_status(const struct spe_packet *packet, spe_features features)
{
    switch (packet->type) {
    case SPE_PACKET_PADDING:
    case SPE_PACKET_END:
    case SPE_PACKET_TIMESTAMP:
    case SPE_PACKET_EVENTS:
        return SPE_DEFINED;
    case SPE_PACKET_DATA_SOURCE: /* SZ is a byte or a halfword (X01) */
        return packet->payload_size <= 2 ? SPE_DEFINED : SPE_RESERVED;
    case SPE_PACKET_CONTEXT:
        return packet->index < SPE_CONTEXT_COUNT ? SPE_DEFINED : SPE_RESERVED;
    case SPE_PACKET_OP_TYPE:
        return op_status(packet, features);
    case SPE_PACKET_ADDRESS:
        return spe_address_status(packet->index, features);
    case SPE_PACKET_COUNTER:
        return spe_counter_status(packet->index, features);
    default: /* unallocated: D18.1.4 */
        return SPE_RESERVED;
    }
}
