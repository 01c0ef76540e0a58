/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A sink of bulk_fill.h: each cell is a load from the record, a mask and a store. The includer
 * defines before:
 *
 *   static inline bool shape_matches(const struct spe_shape *s, const uint8_t *p);
 */
#include "bulk.h"
#include "bytes.h"

struct sink {
    const struct spe_columns *columns;
    bool all; /* every column is wanted; a constant where fill() is inlined */
};

/* Store if the column is wanted; when all are, no test is left. */
#define CELL(column, value)                                                                        \
    do {                                                                                           \
        if (k->all || k->columns->column)                                                          \
            k->columns->column[row] = (value);                                                     \
    } while (0)

#define WIDE(which) (load64(p + s->wide_at[which]) & s->wide_mask[which])
#define CONTEXT(which) (load32(p + s->context_at[which]) & s->context_mask[which])
#define NARROW(which) ((uint16_t)(load16(p + s->narrow_at[which]) & s->narrow_mask[which]))

static inline __attribute__((always_inline)) void sink_put(struct sink *k, size_t row,
                                                           const struct spe_bulk *b, unsigned shape,
                                                           const uint8_t *p, uint64_t offset)
{
    const struct spe_shape *s = &b->shape[shape];

    CELL(offset, offset);
    CELL(pc, WIDE(WIDE_PC));
    CELL(target, WIDE(WIDE_TARGET));
    CELL(va, WIDE(WIDE_VA));
    CELL(pa, WIDE(WIDE_PA));
    CELL(previous_target, WIDE(WIDE_PREVIOUS));
    CELL(events, WIDE(WIDE_EVENTS));
    CELL(timestamp, WIDE(WIDE_TIMESTAMP));
    CELL(context1, CONTEXT(0));
    CELL(context2, CONTEXT(1));
#define COUNTER(name, NAME, sentence) CELL(name, NARROW(NARROW_##NAME));
#include "format/counters.def"
    CELL(source, NARROW(NARROW_SOURCE));
    CELL(op, (uint16_t)(s->op_class | NARROW(NARROW_OP)));
    CELL(has, s->has);
    CELL(addresses, s->addresses);
    CELL(counters, s->counters);
}

static inline bool has_shape(const struct sink *k, const struct spe_bulk *b, unsigned shape,
                             const uint8_t *p)
{
    (void)k;
    return shape_matches(&b->shape[shape], p);
}

static inline void sink_flush(struct sink *k, size_t rows)
{
    (void)k;
    (void)rows;
}

static inline bool wants_all(const struct spe_columns *c)
{
#define COUNTER(name, NAME, sentence) &&c->name
    return c->offset && c->pc && c->target && c->va && c->pa && c->previous_target && c->events &&
           c->timestamp && c->context1 && c->context2 && c->source && c->op && c->has &&
           c->addresses && c->counters
#include "format/counters.def"
        ;
}

#include "bulk_fill.h"

static inline void fill_columns(struct spe_bulk *b, struct spe_columns *c)
{
    const struct spe_columns copy = *c; /* which the stores into the columns cannot change */
    struct sink every = {.columns = &copy, .all = true};
    struct sink some = {.columns = &copy, .all = false};

    if (wants_all(c))
        fill(b, c, &every);
    else
        fill(b, c, &some);
}
