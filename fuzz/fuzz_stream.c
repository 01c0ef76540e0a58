/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The record stream. The first two bytes choose the pieces and the flags; the rest is the stream.
 * Every byte is accounted for, items come in order, each record checks without harm, and the pieces
 * change nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <specimen/format.h>

#include "format/state.h"
#include "require.h"

/* Order-dependent digest of everything that the stream says. */
struct heard {
    uint64_t digest, end; /* end: of the last item */
};

static void hear(struct heard *h, uint64_t value)
{
    h->digest = (h->digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    h->digest ^= h->digest >> 29;
}

static void count(void *user, const struct spe_violation *violation)
{
    REQUIRE(violation->rule && violation->rule->name && violation->rule->sentence);
    ++*(unsigned *)user;
}

static void hear_record(struct heard *h, const struct spe_item *item, const struct spe_record *r)
{
    struct spe_check_config config = {.size = sizeof(config), .features = SPE_FEATURES_ALL};
    struct spe_record again;
    unsigned violations = 0;

    REQUIRE(item->bytes && item->size == r->size && r->size <= SPE_RECORD_MAX);
    REQUIRE(spe_record_decode(item->bytes, r->size, &again) == r->size);
    spe_check_record(&config, item->bytes, r->size, item->offset, count, &violations);
    hear(h, r->has);
    hear(h, r->addresses);
    hear(h, r->counters);
    hear(h, r->unknown);
    hear(h, violations);
    for (unsigned i = 0; i < SPE_INDEX_COUNT; i++) {
        hear(h, spe_record_has_address(r, i) ? r->address[i] : 0);
        hear(h, spe_record_has_counter(r, i) ? r->counter[i] : 0);
    }
}

static void listen(struct spe_stream *s, struct heard *h)
{
    struct spe_item item;
    struct spe_record r;

    while (spe_stream_next(s, &item, &r) != SPE_ITEM_NONE) {
        REQUIRE(item.size > 0 && item.offset >= h->end);
        h->end = item.offset + item.size;
        hear(h, item.type);
        hear(h, item.offset);
        hear(h, item.size);
        if (item.type == SPE_ITEM_RECORD)
            hear_record(h, &item, &r);
        else
            hear(h, item.reason);
    }
}

static uint64_t run(const uint8_t *data, size_t size, size_t piece, unsigned flags)
{
    struct spe_stream s;
    struct heard h = {0};
    const struct spe_account *a = &s.account;

    spe_stream_init(&s, flags);
    for (size_t at = 0; at < size; at += piece) {
        size_t len = size - at < piece ? size - at : piece;
        uint8_t *copy = malloc(len);

        REQUIRE(copy);
        memcpy(copy, data + at, len);
        REQUIRE(spe_stream_feed(&s, copy, len) == SPE_OK);
        listen(&s, &h);
        free(copy);
    }
    spe_stream_end(&s);
    listen(&s, &h);
    REQUIRE(a->bytes == size && h.end <= size);
    REQUIRE(a->record_bytes + a->padding_bytes + a->skipped_bytes == a->bytes);
    hear(&h, a->records);
    hear(&h, a->padding_bytes);
    return h.digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned flags;
    size_t piece;

    if (size < 3)
        return 0;
    flags = data[0] & 1 ? SPE_STREAM_UNSYNCED : 0;
    piece = 1 + (size_t)data[1] * (data[0] & 2 ? 1 : 37);
    REQUIRE(run(data + 2, size - 2, piece, flags) == run(data + 2, size - 2, size, flags));
    return 0;
}
