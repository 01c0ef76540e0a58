/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef SPE_FORMAT_PASS_START_H
#define SPE_FORMAT_PASS_START_H

#include "bulk.h"

/* What the loop asks of every record, where the columns' stores cannot change it. */
struct passing {
    const struct spe_bulk_pass *is;
    const uint64_t *pcs;
    uint64_t low, size;     /* of the code that has bits */
    unsigned grain, shapes; /* shapes: a bit for each that may be passed over */
    uint32_t context[2];
    uint64_t first, span;
    uint64_t records, latency, timestamp;
    bool other; /* the last row has other contexts or another time */
    struct spe_pass_data *data;
    unsigned with_data, memory; /* likewise: loads and stores with an address; all of them */
};

#define PASS_CONTEXTS (SPE_HAS_CONTEXT1 | SPE_HAS_CONTEXT2)

static inline struct passing start_passing(const struct spe_bulk *b,
                                           const struct spe_bulk_pass *pass)
{
    struct passing k = {
        .is = pass,
        .pcs = pass->pcs,
        .low = pass->low,
        .size = pass->high - pass->low,
        .grain = pass->grain,
        .context = {pass->context[0], pass->context[1]},
        .first = pass->first,
        .span = pass->last - pass->first,
        .timestamp = pass->timestamp,
        .data = pass->data,
    };

    for (unsigned i = 0; i < b->shapes; i++) {
        const struct spe_shape *s = &b->shape[i];
        bool timed = s->has & SPE_HAS_TIMESTAMP;
        bool placed = s->addresses >> SPE_ADDRESS_PC & 1;
        bool memory = s->has & SPE_HAS_OP && s->op_class == SPE_CLASS_LDST << 8;

        k.shapes |= (unsigned)(timed && (placed || k.data)) << i;
        k.memory |= (unsigned)memory << i;
        k.with_data |= (unsigned)(memory && s->addresses >> SPE_ADDRESS_VA & 1) << i;
    }
    return k;
}

/* See spe_pass_note. */
static inline uint64_t note_place(const struct spe_pass_data *d, const uint8_t *p, size_t stride,
                                  unsigned count)
{
    return (uint64_t)(p - d->base) << 16 | stride << 8 | count;
}

#endif
