/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Columns for tests, fuzzing and benchmarks: made, filled by hand, compared. */
#ifndef TESTS_SUPPORT_COLUMNS_H
#define TESTS_SUPPORT_COLUMNS_H

#include <stdlib.h>
#include <string.h>

#include <specimen/format.h>

/* Every column of struct spe_columns with the size of its elements. */
#define FOR_EACH_COLUMN(X)                                                                         \
    X(offset, uint64_t)                                                                            \
    X(pc, uint64_t)                                                                                \
    X(target, uint64_t)                                                                            \
    X(va, uint64_t)                                                                                \
    X(pa, uint64_t)                                                                                \
    X(previous_target, uint64_t)                                                                   \
    X(events, uint64_t)                                                                            \
    X(timestamp, uint64_t)                                                                         \
    X(context1, uint32_t)                                                                          \
    X(context2, uint32_t)                                                                          \
    X(total, uint16_t)                                                                             \
    X(issue, uint16_t)                                                                             \
    X(translation, uint16_t)                                                                       \
    X(alt_issue, uint16_t)                                                                         \
    X(source, uint16_t)                                                                            \
    X(op, uint16_t)                                                                                \
    X(has, uint8_t)                                                                                \
    X(addresses, uint8_t)                                                                          \
    X(counters, uint8_t)

static inline struct spe_columns make_columns(size_t capacity)
{
    struct spe_columns c = {.size = sizeof(c), .capacity = capacity};

#define MAKE(column, type)                                                                         \
    c.column = malloc(capacity * sizeof(type));                                                    \
    if (!c.column)                                                                                 \
        abort();
    FOR_EACH_COLUMN(MAKE)
#undef MAKE
    return c;
}

static inline void free_columns(struct spe_columns *c)
{
#define FREE(column, type) free(c->column);
    FOR_EACH_COLUMN(FREE)
#undef FREE
}

/* Forget the columns whose bit is set, in the order above. */
static inline void drop_columns(struct spe_columns *c, uint32_t bits)
{
#define DROP(column, type)                                                                         \
    if (bits & 1)                                                                                  \
        c->column = NULL;                                                                          \
    bits >>= 1;
    FOR_EACH_COLUMN(DROP)
#undef DROP
    (void)bits;
}

/* All rows of all columns that both have. */
static inline bool same_columns(const struct spe_columns *a, const struct spe_columns *b)
{
    bool same = a->rows == b->rows;

#define COMPARE(column, type)                                                                      \
    same = same &&                                                                                 \
           (!a->column || !b->column || !memcmp(a->column, b->column, a->rows * sizeof(type)));
    FOR_EACH_COLUMN(COMPARE)
#undef COMPARE
    return same;
}

/* The row of a record, by the words of struct spe_columns. */
static inline void columns_append(struct spe_columns *c, const struct spe_record *r,
                                  uint64_t offset)
{
    size_t row = c->rows++;
    uint64_t *const address[] = {c->pc, c->target, c->va, c->pa, c->previous_target};
    uint16_t *const counter[] = {c->total, c->issue, c->translation, NULL, c->alt_issue};

    for (unsigned i = 0; i < 5; i++) {
        address[i][row] = spe_record_has_address(r, i) ? r->address[i] : 0;
        if (counter[i])
            counter[i][row] = spe_record_has_counter(r, i) ? r->counter[i] : 0;
    }
    c->offset[row] = offset;
    c->events[row] = r->has & SPE_HAS_EVENTS ? r->events : 0;
    c->timestamp[row] = r->has & SPE_HAS_TIMESTAMP ? r->timestamp : 0;
    c->context1[row] = r->has & SPE_HAS_CONTEXT1 ? r->context[0] : 0;
    c->context2[row] = r->has & SPE_HAS_CONTEXT2 ? r->context[1] : 0;
    c->source[row] = r->has & SPE_HAS_SOURCE ? r->source : 0;
    c->op[row] = r->has & SPE_HAS_OP ? (uint16_t)(r->op_class << 8 | r->op) : 0;
    c->has[row] = (uint8_t)r->has;
    c->addresses[row] = (uint8_t)r->addresses;
    c->counters[row] = (uint8_t)r->counters;
}

#endif
