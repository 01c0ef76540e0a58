/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Random records and streams of them, with the truth kept beside. */
#ifndef TESTS_SUPPORT_STREAMS_H
#define TESTS_SUPPORT_STREAMS_H

#include <string.h>

#include <specimen/format.h>

#include "random.h"

/* A record of a load, store, branch or other operation, with fields that every layout has. */
static inline void random_record(struct random *rng, struct spe_record *r)
{
    unsigned kind = random_below(rng, 100);
    bool load = kind < 40, store = kind >= 40 && kind < 55, branch = kind >= 55 && kind < 75;

    memset(r, 0, sizeof(*r));
    r->has = SPE_HAS_OP | SPE_HAS_EVENTS | SPE_HAS_TIMESTAMP;
    r->addresses = 1u << SPE_ADDRESS_PC;
    r->counters = 1u << SPE_COUNTER_TOTAL | 1u << SPE_COUNTER_ISSUE;
    r->address[SPE_ADDRESS_PC] = UINT64_C(0x80) << 56 | (0x400000 + 4 * random_below(rng, 100000));
    r->counter[SPE_COUNTER_ISSUE] = (uint16_t)random_below(rng, 40);
    r->counter[SPE_COUNTER_TOTAL] = (uint16_t)(random_below(rng, 400) + 40);
    r->events = 2 | (random_next(rng) & 0x0fff);
    r->timestamp = UINT64_C(1000000000000) + random_below(rng, 1u << 31);
    if (load || store) {
        r->addresses |= 1u << SPE_ADDRESS_VA;
        r->counters |= 1u << SPE_COUNTER_TRANSLATION;
        r->address[SPE_ADDRESS_VA] = UINT64_C(0xffff80000000) + random_below(rng, 1u << 30);
        r->counter[SPE_COUNTER_TRANSLATION] = (uint16_t)random_below(rng, 20);
        r->op_class = SPE_CLASS_LDST;
        r->op = store;
    }
    if (load) {
        r->has |= SPE_HAS_SOURCE;
        r->source = (uint16_t)random_below(rng, 15);
        r->source_size = 1;
    }
    if (branch) {
        r->op_class = SPE_CLASS_BRANCH;
        r->op = (uint8_t)random_below(rng, 4);
        if (random_chance(rng, 80)) {
            r->addresses |= 1u << SPE_ADDRESS_TARGET;
            r->address[SPE_ADDRESS_TARGET] = r->address[SPE_ADDRESS_PC] + 64;
        }
    }
}

/* What a decoded record must equal: every field that is present, and nothing else is. */
static inline bool same_record(const struct spe_record *a, const struct spe_record *b)
{
    bool same = a->has == b->has && a->addresses == b->addresses && a->counters == b->counters;

    if (!same)
        return false;
    for (unsigned i = 0; i < SPE_INDEX_COUNT; i++) {
        if (spe_record_has_address(a, i))
            same &= a->address[i] == b->address[i];
        if (spe_record_has_counter(a, i))
            same &= a->counter[i] == b->counter[i];
    }
    if (a->has & SPE_HAS_CONTEXT1)
        same &= a->context[0] == b->context[0];
    if (a->has & SPE_HAS_CONTEXT2)
        same &= a->context[1] == b->context[1];
    if (a->has & SPE_HAS_TIMESTAMP)
        same &= a->timestamp == b->timestamp;
    if (a->has & SPE_HAS_SOURCE)
        same &= a->source == b->source;
    if (a->has & SPE_HAS_EVENTS)
        same &= a->events == b->events;
    if (a->has & SPE_HAS_OP)
        same &= a->op_class == b->op_class && a->op == b->op;
    return same;
}

/* records + padding + skipped = bytes, the rule of every ended stream. */
static inline bool account_adds_up(const struct spe_account *a)
{
    uint64_t by_reason = 0;

    for (unsigned i = 0; i < SPE_SKIP_REASON_COUNT; i++)
        by_reason += a->skipped_by[i];
    return a->record_bytes + a->padding_bytes + a->skipped_bytes == a->bytes &&
           by_reason == a->skipped_bytes;
}

#endif
