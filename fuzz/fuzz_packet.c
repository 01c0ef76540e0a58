/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* One packet: what decodes encodes back to the same bytes, and every view of it is total. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <specimen/format.h>

#include "require.h"

static void view(const struct spe_packet *p, spe_features features)
{
    struct spe_address address;
    struct spe_op op;

    REQUIRE(spe_packet_status(p, features) <= SPE_RESERVED);
    if (p->type == SPE_PACKET_ADDRESS) {
        spe_address_decode(p->index, p->payload, &address);
        REQUIRE(spe_address_encode(p->index, &address) == p->payload);
    }
    if (p->type == SPE_PACKET_OP_TYPE) {
        spe_op_decode(p->index, (uint8_t)p->payload, &op);
        if (op.kind != SPE_OP_RESERVED)
            REQUIRE(spe_op_encode(&op) == SPE_OK && op.payload == (uint8_t)p->payload &&
                    op.class_ == p->index);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spe_features features = 0;
    uint8_t back[SPE_PACKET_MAX];
    struct spe_packet p;
    int used;

    if (size > 8) {
        memcpy(&features, data + size - 8, 8);
        features &= SPE_FEATURES_ALL;
    }
    used = spe_packet_decode(data, size, &p);
    if (used < 0) {
        REQUIRE(used == SPE_ERR_TRUNCATED || used == SPE_ERR_FRAMING);
        return 0;
    }
    REQUIRE((size_t)used <= size && used <= SPE_PACKET_MAX);
    REQUIRE(spe_packet_encode(&p, back, sizeof(back)) == used);
    REQUIRE(!memcmp(back, data, (size_t)used));
    view(&p, features);
    return 0;
}
