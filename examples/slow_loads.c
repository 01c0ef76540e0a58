/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The slowest load in a stream of SPE bytes, through the bulk decoder.
 *
 *   spe gen --records 100000 | slow_loads
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <specimen/format.h>

enum { ROWS = 1024 };

/* Only the columns that the question needs; the others stay NULL. */
static uint64_t pc[ROWS], va[ROWS];
static uint16_t total[ROWS], op[ROWS];

struct answer {
    uint64_t loads, pc, va;
    uint16_t total;
};

static bool is_load(uint16_t row_op)
{
    struct spe_op view;

    spe_op_decode(row_op >> 8, (uint8_t)row_op, &view);
    return view.class_ == SPE_CLASS_LDST && view.kind != SPE_OP_RESERVED && !view.store;
}

static void look_at(const struct spe_columns *c, struct answer *a)
{
    for (size_t i = 0; i < c->rows; i++) {
        if (!is_load(op[i]))
            continue;
        a->loads++;
        if (total[i] > a->total) {
            a->total = total[i];
            a->pc = spe_address_canonical(SPE_ADDRESS_PC, pc[i]);
            a->va = spe_address_canonical(SPE_ADDRESS_VA, va[i]);
        }
    }
}

/* Everything that the bytes fed so far give. */
static void drain(struct spe_bulk *bulk, struct answer *a)
{
    struct spe_columns columns;
    struct spe_item skipped;
    int got;

    spe_columns_init(&columns);
    columns.capacity = ROWS;
    columns.pc = pc;
    columns.va = va;
    columns.total = total;
    columns.op = op;
    do {
        columns.rows = 0;
        got = spe_bulk_next(bulk, &columns, &skipped);
        look_at(&columns, a);
        if (got == SPE_ITEM_SKIPPED)
            fprintf(stderr, "skipped %" PRIu64 " bytes at %" PRIu64 ": %s\n", skipped.size,
                    skipped.offset, spe_skip_reason_name(skipped.reason));
    } while (got != SPE_ITEM_NONE);
}

int main(void)
{
    struct spe_bulk *bulk = malloc(spe_bulk_sizeof());
    static uint8_t piece[1 << 16];
    struct answer a = {0};
    size_t n;

    if (!bulk)
        return 1;
    spe_bulk_init(bulk, 0, SPE_BULK_AUTO);
    while ((n = fread(piece, 1, sizeof(piece), stdin)) > 0) {
        spe_bulk_feed(bulk, piece, n);
        drain(bulk, &a);
    }
    spe_bulk_end(bulk);
    drain(bulk, &a);
    printf("%" PRIu64 " records, %" PRIu64 " loads; the slowest took %u cycles: pc %#" PRIx64
           ", address %#" PRIx64 "\n",
           spe_bulk_account(bulk)->records, a.loads, a.total, a.pc, a.va);
    free(bulk);
    return 0;
}
