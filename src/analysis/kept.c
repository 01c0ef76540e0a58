/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/kept.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/mix.h"

int kept_init(struct kept *k)
{
    *k = (struct kept){.step = 1};
    k->rows = calloc(KEPT_MAX, sizeof(*k->rows));
    return k->rows ? SPE_OK : SPE_ERR_NOMEM;
}

void kept_free(struct kept *k)
{
    free(k->rows);
    memset(k, 0, sizeof(*k));
}

/* Every second one goes. */
static void thin(struct kept *k)
{
    size_t i;

    for (i = 0; 2 * i < k->count; i++)
        k->rows[i] = k->rows[2 * i];
    k->count = i;
    k->step *= 2;
}

static void keep(struct kept *k, const struct spe_rows *r, size_t i)
{
    k->rows[k->count++] = (struct kept_row){
        .pc = r->pc[i],
        .symbol = r->symbol ? r->symbol[i] : SPE_NO_SYMBOL,
        .va = r->va ? r->va[i] : 0,
        .time_ns = r->time_ns[i],
        .events = r->events[i],
        .map = r->map[i],
        .thread = r->thread[i],
        .pid = r->pid[i],
        .op = r->has[i] & SPE_HAS_OP ? r->op[i] & 0x3ff : OP_NONE,
        .total = r->total[i],
        .issue = r->issue ? r->issue[i] : 0,
        .translation = r->translation ? r->translation[i] : 0,
        .level = r->level[i],
        .has = r->has[i],
        .addresses = r->va ? r->addresses[i] : 0,
        .counters = r->counters[i],
    };
}

void kept_add(struct kept *k, const struct spe_rows *rows)
{
    for (; k->next < k->seen + rows->count; k->next += k->step) {
        if (k->count == KEPT_MAX)
            thin(k);
        keep(k, rows, (size_t)(k->next - k->seen));
    }
    k->seen += rows->count;
}

/* Rows of both stand for the same number of rows then. */
void kept_merge(struct kept *to, const struct kept *from)
{
    size_t stride, i;

    while (to->step < from->step)
        thin(to);
    stride = (size_t)(to->step / from->step);
    for (i = 0; i < from->count; i += stride) {
        if (to->count == KEPT_MAX) {
            thin(to);
            stride *= 2;
        }
        to->rows[to->count++] = from->rows[i];
    }
    to->seen += from->seen;
    to->next = to->seen;
}

void kept_name(struct kept *k, struct spe_profile *profile)
{
    size_t i;

    for (i = 0; profile && i < k->count; i++) {
        struct kept_row *row = &k->rows[i];

        if (row->symbol == SPE_NO_SYMBOL && row->map != SPE_NO_ID)
            row->symbol = spe_profile_find_symbol(profile, row->map, row->pc);
    }
}
