/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Records both ways. Every byte string that decodes encodes back to itself, packet by packet; and
 * every record that decodes, and has only what layouts know, comes back the same through each
 * layout that has room for it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <specimen/format.h>

#include "../tests/support/streams.h"
#include "require.h"

static void packets_round_trip(const uint8_t *bytes, size_t size)
{
    uint8_t back[SPE_PACKET_MAX];
    struct spe_packet p;

    for (size_t pos = 0; pos < size;) {
        int used = spe_packet_decode(bytes + pos, size - pos, &p);

        REQUIRE(used > 0);
        REQUIRE(spe_packet_encode(&p, back, sizeof(back)) == used);
        REQUIRE(!memcmp(back, bytes + pos, (size_t)used));
        pos += (size_t)used;
    }
}

static void record_round_trips(const struct spe_record *r, const struct spe_layout *layout)
{
    uint8_t bytes[SPE_RECORD_MAX];
    struct spe_record back, expected = *r;
    int size = spe_record_encode(r, layout, bytes, sizeof(bytes));
    int used;

    if (size < 0) {
        REQUIRE(size == SPE_ERR_LAYOUT || size == SPE_ERR_SIZE || size == SPE_ERR_RANGE);
        return;
    }
    REQUIRE(size <= layout->max_size && size % layout->align == 0 && size >= layout->min_size);
    used = spe_record_decode(bytes, (size_t)size, &back);
    REQUIRE(used > 0 && used <= size);
    for (unsigned i = 0; i < SPE_INDEX_COUNT; i++)
        expected.counter[i] = spe_counter_clip(r->counter[i], layout->count_bits);
    REQUIRE(same_record(&expected, &back) && !back.unknown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct spe_record r;
    int used;

    memset(&r, 0, sizeof(r));
    used = spe_record_decode(data, size, &r);
    if (used < 0) {
        REQUIRE(used == SPE_ERR_TRUNCATED || used == SPE_ERR_FRAMING || used == SPE_ERR_SIZE);
        return 0;
    }
    packets_round_trip(data, (size_t)used);
    for (size_t i = 0; spe_layout_at(i); i++)
        record_round_trips(&r, spe_layout_at(i));
    return 0;
}
