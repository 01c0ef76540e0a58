/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/datasrc.h"

#include <stdio.h>

#include "format/cpus.h"

/* Bits of the union's fields, in place. */
#define OP_LOAD (UINT64_C(2) << 0)
#define OP_STORE (UINT64_C(4) << 0)
#define LVL(bits) ((uint64_t)(bits) << 5)
#define SNOOP(bits) ((uint64_t)(bits) << 19)
#define TLB(bits) ((uint64_t)(bits) << 26)
#define NUM(number) ((uint64_t)(number) << 33)
#define REMOTE (UINT64_C(1) << 37)
#define SNOOPX(bits) ((uint64_t)(bits) << 38)

enum {
    LVL_NA = 1,
    LVL_HIT = 2,
    LVL_MISS = 4,
    LVL_L1 = 8,
    LVL_LFB = 0x10,
    LVL_L2 = 0x20,
    LVL_L3 = 0x40,
    LVL_LOC_RAM = 0x80,
    LVL_REM_RAM1 = 0x100,
    LVL_REM_CCE1 = 0x400,
    LVL_REM_CCE2 = 0x800,
    LVL_IO = 0x1000,
};

enum { NUM_L1 = 1, NUM_L2, NUM_L3, NUM_IO = 0xa, NUM_ANY = 0xb, NUM_LFB, NUM_RAM, NUM_NA = 0xf };
enum { SNOOP_NA = 1, SNOOP_NONE = 2, SNOOP_HIT = 4, SNOOP_HITM = 0x10 };
enum { TLB_HIT = 2, TLB_MISS = 4, TLB_WALKER = 0x20 };
enum { SNOOPX_PEER = 2 };

#define HIT_IN(lvl, num) (LVL(LVL_HIT | (lvl)) | NUM(num))
#define NOWHERE (LVL(LVL_NA) | NUM(NUM_NA))

void datasrc_init(struct datasrc *d, const struct spe_cpu *cpu)
{
    d->table = cpu ? cpu->sources : NULL;
    d->cluster_levels = d->table && spe_source_table_has_clusters(d->table);
}

static bool is_modified(const struct datasrc *d, uint16_t source)
{
    size_t i;

    for (i = 0; d->table && i < d->table->count; i++) {
        if (d->table->sources[i].value == source)
            return d->table->sources[i].modified;
    }
    return false;
}

static uint64_t by_level(const struct datasrc *d, unsigned level, bool modified)
{
    uint64_t snoop = SNOOP(modified ? SNOOP_HITM : SNOOP_NONE);
    uint64_t peer = SNOOPX(SNOOPX_PEER) | (modified ? SNOOP(SNOOP_HITM) : 0);

    switch (level) {
    case SPE_LEVEL_L1:
        return HIT_IN(LVL_L1, NUM_L1) | snoop;
    case SPE_LEVEL_L2:
        return HIT_IN(LVL_L2, NUM_L2) | snoop;
    case SPE_LEVEL_L3:
        return HIT_IN(LVL_L3, NUM_L3) | SNOOP(modified ? SNOOP_HITM : SNOOP_HIT);
    case SPE_LEVEL_PEER_CORE:
        return HIT_IN(LVL_L2, NUM_L2) | peer;
    case SPE_LEVEL_LOCAL_CLUSTER:
        return HIT_IN(LVL_L3, NUM_L3) | peer;
    case SPE_LEVEL_PEER_CLUSTER:
        return HIT_IN(d->cluster_levels ? LVL_REM_CCE1 : LVL_L3, NUM_L3) | peer;
    case SPE_LEVEL_REMOTE_CACHE:
        return (d->cluster_levels ? HIT_IN(LVL_REM_CCE2, NUM_ANY) : NOWHERE) | REMOTE | peer;
    case SPE_LEVEL_DRAM:
        return HIT_IN(LVL_LOC_RAM, NUM_RAM) | SNOOP(SNOOP_NONE);
    case SPE_LEVEL_REMOTE_DRAM:
        return HIT_IN(LVL_REM_RAM1, NUM_RAM) | REMOTE;
    case SPE_LEVEL_IO:
        return HIT_IN(LVL_IO, NUM_IO) | SNOOP(SNOOP_NONE);
    default:
        return 0;
    }
}

static bool has(uint64_t events, unsigned access, unsigned miss)
{
    return events & (UINT64_C(1) << access | UINT64_C(1) << miss);
}

static uint64_t hit_or_miss(uint64_t events, unsigned miss, unsigned lvl, unsigned num)
{
    return LVL(lvl | (events >> miss & 1 ? LVL_MISS : LVL_HIT)) | NUM(num);
}

static uint64_t load_by_events(uint64_t events)
{
    switch (spe_served_by(SPE_LEVEL_UNKNOWN, events & ~SPE_EVENT_BIT(REMOTE))) {
    case SPE_SERVED_L1_HIT:
        return HIT_IN(LVL_L1, NUM_L1);
    case SPE_SERVED_IN_FLIGHT:
        return HIT_IN(LVL_LFB, NUM_LFB);
    case SPE_SERVED_L2_HIT:
        return HIT_IN(LVL_L2, NUM_L2);
    case SPE_SERVED_LLC_HIT:
        return HIT_IN(LVL_L3, NUM_L3);
    case SPE_SERVED_BEYOND_LLC:
        return LVL(LVL_MISS | LVL_L3) | NUM(NUM_L3);
    case SPE_SERVED_BEYOND_L2:
        return LVL(LVL_MISS | LVL_L2) | NUM(NUM_L2);
    case SPE_SERVED_BEYOND_L1:
        return LVL(LVL_MISS | LVL_L1) | NUM(NUM_L1);
    default:
        return NOWHERE;
    }
}

static uint64_t store_by_events(uint64_t events)
{
    if (has(events, SPE_EVENT_LLC_ACCESS, SPE_EVENT_LLC_MISS))
        return hit_or_miss(events, SPE_EVENT_LLC_MISS, LVL_L3, NUM_L3);
    if (has(events, SPE_EVENT_L2D_ACCESS, SPE_EVENT_L2D_MISS))
        return hit_or_miss(events, SPE_EVENT_L2D_MISS, LVL_L2, NUM_L2);
    if (has(events, SPE_EVENT_L1D_ACCESS, SPE_EVENT_L1D_MISS))
        return hit_or_miss(events, SPE_EVENT_L1D_MISS, LVL_L1, NUM_L1);
    return NOWHERE;
}

static uint64_t snoop_by_events(uint64_t events)
{
    if (!(events & SPE_EVENT_BIT(SNOOPED)))
        return SNOOP(SNOOP_NA);
    return SNOOP(events & SPE_EVENT_BIT(MODIFIED) ? SNOOP_HITM : SNOOP_HIT);
}

static uint64_t tlb_by_events(uint64_t events)
{
    if (!has(events, SPE_EVENT_TLB_ACCESS, SPE_EVENT_TLB_WALK))
        return 0;
    return TLB(TLB_WALKER | (events & SPE_EVENT_BIT(TLB_WALK) ? TLB_MISS : TLB_HIT));
}

uint64_t datasrc_of(const struct datasrc *d, uint16_t op, uint8_t level, bool has_source,
                    uint16_t source, uint64_t events)
{
    bool store = op & 1;
    uint64_t value;

    if (op >> 8 != SPE_CLASS_LDST)
        return 0;
    if (store) {
        /* A CPU with a table says nothing about its stores. */
        value = d->table ? NOWHERE | SNOOP(SNOOP_NA) : store_by_events(events);
    } else {
        value = has_source ? by_level(d, level, is_modified(d, source)) : 0;
        if (!value)
            value = load_by_events(events);
    }
    if (!(value & SNOOP(0x1f)))
        value |= snoop_by_events(events);
    if (events & SPE_EVENT_BIT(REMOTE))
        value |= REMOTE;
    return value | tlb_by_events(events) | (store ? OP_STORE : OP_LOAD);
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *const level_names[] = {NULL,
                                          NULL,
                                          NULL,
                                          "L1",
                                          "LFB",
                                          "L2",
                                          "L3",
                                          "Local RAM",
                                          "Remote RAM (1 hop)",
                                          "Remote RAM (2 hops)",
                                          "Remote Cache (1 hop)",
                                          "Remote Cache (2 hops)",
                                          "I/O",
                                          "Uncached"};
static const char *const snoop_names[] = {"N/A", "None", "Hit", "Miss", "HitM", "Fwd", "Peer"};
static const char *const tlb_names[] = {NULL, NULL, NULL, "L1", "L2", "Walker", "Fault"};

struct words {
    char *text;
    size_t size, used, first;
};

static void word(struct words *w, const char *text, const char *separator)
{
    int n;

    if (w->used + 1 >= w->size)
        return;
    n = snprintf(w->text + w->used, w->size - w->used, "%s%s", w->used > w->first ? separator : "",
                 text);
    w->used += (size_t)n < w->size - w->used ? (size_t)n : w->size - w->used - 1;
}

/* Names of the set bits, "A or B"; nothing set is N/A. */
static void bit_words(struct words *w, const char *title, uint64_t bits, const char *const *names,
                      unsigned count)
{
    unsigned i;

    w->first = w->used;
    word(w, title, "");
    w->first = w->used;
    for (i = 0; i < count; i++) {
        if (bits >> i & 1 && names[i])
            word(w, names[i], " or ");
    }
    if (w->used == w->first)
        word(w, "N/A", "");
    w->first = w->used;
}

size_t datasrc_text(uint64_t value, char *text, size_t size)
{
    struct words w = {text, size, 0, 0};
    uint64_t lvl = value >> 5 & 0x3fff, tlb = value >> 26 & 0x7f;
    uint64_t snoop = (value >> 19 & 0x1f) | (value >> 38 & 3) << 5;

    word(&w, value & OP_LOAD ? "|OP LOAD" : value & OP_STORE ? "|OP STORE" : "|OP N/A", "");
    if (value & REMOTE && !(lvl & ~(uint64_t)LVL_NA))
        word(&w, "|LVL Remote", "");
    else
        bit_words(&w, "|LVL ", lvl, level_names, 14);
    word(&w, lvl & LVL_HIT ? " hit" : lvl & LVL_MISS ? " miss" : "", "");
    bit_words(&w, "|SNP ", snoop, snoop_names, 7);
    bit_words(&w, "|TLB ", tlb, tlb_names, 7);
    word(&w, tlb & TLB_HIT ? " hit" : tlb & TLB_MISS ? " miss" : "", "");
    word(&w, "|LCK No|BLK  N/A", "");
    return w.used;
}
