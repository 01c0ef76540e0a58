/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Records for tests and benchmarks. What a record may hold follows D17.6 and D18.2 under the
 * configured features; how often it holds it imitates a server program.
 */
#include <specimen/gen.h>

#include <stdio.h>
#include <string.h>

#include "base/count_of.h"
#include "base/sized.h"
#include "gen/state.h"

#define NS (UINT64_C(1) << 63)
#define EL1 (UINT64_C(1) << 61)
#define ADDRESS_BITS UINT64_C(0x00ffffffffffffff)
#define TAG_CHECKED (UINT64_C(1) << 62) /* CH of a physical address */
#define PICK_RANGE (UINT32_C(1) << 31)  /* of the random number that picks the class */
#define MAX_PERIOD (1u << 30)
#define CONTEXT_RECORDS 2000 /* mean number of records between two context switches */

enum { SITE_STREAMING = 1, SITE_SMCU = 2, SITE_PREDICATED = 4 };

/* ---- random numbers: xoshiro256**, started by splitmix64 ------------------------------------- */

static uint64_t rotate(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static uint64_t random64(struct spe_gen *g)
{
    uint64_t *s = g->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

static void seed_random(struct spe_gen *g, uint64_t seed)
{
    unsigned i;

    for (i = 0; i < 4; i++) {
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        g->state[i] = z ^ z >> 31;
    }
}

/* 0 to n - 1. */
static uint32_t below(struct spe_gen *g, uint32_t n)
{
    return (uint32_t)((random64(g) >> 32) * n >> 32);
}

static bool chance(struct spe_gen *g, unsigned of_1024)
{
    return random64(g) >> 54 < of_1024;
}

/* One of n: the first are much more frequent than the last, and none is rare. */
static unsigned skewed(struct spe_gen *g, unsigned n)
{
    uint64_t r = random64(g);
    uint64_t share = r >> 32;

    if (r & 7)
        share = (share * share >> 32) * (r >> 3 & 0xffffff) >> 24;
    return (unsigned)(share * n >> 32);
}

/* ---- the program: sites and memory ----------------------------------------------------------- */

struct weighted_kind {
    uint8_t kind;
    uint8_t weight;
};

static const struct weighted_kind load_store_kinds[] = {
    {SPE_OP_GP, 60},    {SPE_OP_SIMD_FP, 14},    {SPE_OP_EXTENDED, 8}, {SPE_OP_SVE_LDST, 10},
    {SPE_OP_TAG, 1},    {SPE_OP_UNSPECIFIED, 2}, {SPE_OP_NV2, 1},      {SPE_OP_MEMCPY, 2},
    {SPE_OP_MEMSET, 1}, {SPE_OP_GCS, 1},
};
static const struct weighted_kind branch_kinds[] = {{SPE_OP_BRANCH, 100}};
static const struct weighted_kind other_kinds[] = {
    {SPE_OP_OTHER, 80}, {SPE_OP_SVE, 15}, {SPE_OP_SME, 5}};

static const struct {
    const struct weighted_kind *kind;
    unsigned count;
} kinds_of[SPE_GEN_CLASSES] = {
    [SPE_GEN_LOAD] = {load_store_kinds, COUNT_OF(load_store_kinds)},
    [SPE_GEN_STORE] = {load_store_kinds, COUNT_OF(load_store_kinds)},
    [SPE_GEN_BRANCH] = {branch_kinds, 1},
    [SPE_GEN_OTHER] = {other_kinds, COUNT_OF(other_kinds)},
};

static bool has_feature(const struct spe_gen *g, enum spe_feature f)
{
    return spe_has(g->config.features, f);
}

static bool kind_exists(const struct spe_gen *g, unsigned class_, unsigned kind)
{
    struct spe_op op = {.kind = (uint8_t)kind};

    if (class_ == SPE_GEN_LOAD && kind == SPE_OP_MEMSET)
        return false;
    return spe_op_status(&op, g->config.features) == SPE_DEFINED;
}

/* Every kind that exists has a site of its own among the last, cold ones; the rest are drawn. */
static unsigned choose_kind(struct spe_gen *g, unsigned class_, unsigned site)
{
    const struct weighted_kind *kind = kinds_of[class_].kind;
    unsigned i, total = 0, pick, nth = SPE_GEN_SITES - 1 - site;

    for (i = 0; i < kinds_of[class_].count; i++) {
        if (!kind_exists(g, class_, kind[i].kind))
            continue;
        if (nth-- == 0)
            return kind[i].kind;
        total += kind[i].weight;
    }
    pick = below(g, total);
    for (i = 0;; i++) {
        if (!kind_exists(g, class_, kind[i].kind))
            continue;
        if (pick < kind[i].weight)
            return kind[i].kind;
        pick -= kind[i].weight;
    }
}

/* Load-acquire, exclusive and atomic in the combinations that instructions have. */
static void choose_extended(struct spe_gen *g, struct spe_op *op)
{
    op->at = chance(g, 512);
    op->excl = !op->at && chance(g, 512);
    op->ar = (!op->at && !op->excl) || chance(g, 512);
}

static unsigned choose_evl(struct spe_gen *g)
{
    if (has_feature(g, SPE_FEAT_SPE_SME) && chance(g, 64))
        return SPE_EVL_OVER;
    return chance(g, 768) ? 2 : below(g, 4); /* mostly 128 bits, as on Neoverse V2 and N2 */
}

static void choose_vector(struct spe_gen *g, struct spe_op *op)
{
    op->evl = (uint8_t)choose_evl(g);
    op->ets = (uint8_t)(chance(g, 128) ? SPE_ETS_WHOLE : below(g, 12));
    op->pred = chance(g, 512);
    op->fp = chance(g, 512);
    op->sg = op->kind == SPE_OP_SVE_LDST && chance(g, 128);
    /* Without FEAT_SPEv1p2 loads do not say that they are predicated (D18.2.7). */
    if (op->kind == SPE_OP_SVE_LDST && !op->store && !has_feature(g, SPE_FEAT_SPEv1p2))
        op->pred = false;
}

static void choose_branch(struct spe_gen *g, struct spe_op *op)
{
    unsigned pick = below(g, 100);
    bool link, ret;

    op->cond = pick < 60;
    op->ind = pick >= 80;
    link = pick >= 70 && pick < 88; /* BL or BLR */
    ret = pick >= 90;
    op->gcs = (link || ret) && has_feature(g, SPE_FEAT_GCS) && has_feature(g, SPE_FEAT_SPEv1p4);
    if (has_feature(g, SPE_FEAT_SPE_CRR))
        op->cr = link ? SPE_CR_LINK : ret ? SPE_CR_RETURN : SPE_CR_NEITHER;
}

static void choose_other(struct spe_gen *g, struct spe_op *op)
{
    op->cond = chance(g, 100);
    op->ase = has_feature(g, SPE_FEAT_SPE_FPF) && !op->cond && chance(g, 100);
    op->fp = has_feature(g, SPE_FEAT_SPE_FPF) && chance(g, 150);
}

static void choose_op(struct spe_gen *g, unsigned class_, unsigned n, struct spe_gen_site *site)
{
    struct spe_op op = {.kind = (uint8_t)choose_kind(g, class_, n)};

    op.store = class_ == SPE_GEN_STORE;
    switch (op.kind) {
    case SPE_OP_EXTENDED:
        choose_extended(g, &op);
        break;
    case SPE_OP_SVE:
    case SPE_OP_SME:
    case SPE_OP_SVE_LDST:
        choose_vector(g, &op);
        break;
    case SPE_OP_BRANCH:
        choose_branch(g, &op);
        break;
    case SPE_OP_GCS:
        /* Whole instructions that branch are recorded as branches, not as this (D17.6.3). */
        op.comm = has_feature(g, SPE_FEAT_SPE_ArchInst) || chance(g, 512);
        break;
    case SPE_OP_OTHER:
        choose_other(g, &op);
        break;
    default:
        break;
    }
    spe_op_encode(&op);
    site->op = op.payload;
    site->kind = op.kind;
    if (op.pred)
        site->flags |= SITE_PREDICATED;
}

static uint64_t code_address(uint64_t offset, bool kernel)
{
    uint64_t base = kernel ? UINT64_C(0xffff800010080000) : UINT64_C(0x0000aaaac8a00000);

    return ((base + (offset & ~UINT64_C(3))) & ADDRESS_BITS) | NS | (kernel ? EL1 : 0);
}

static void make_site(struct spe_gen *g, unsigned class_, unsigned n)
{
    struct spe_gen_site *site = &g->site[class_][n];
    bool kernel, vector;

    memset(site, 0, sizeof(*site));
    choose_op(g, class_, n, site);
    vector = site->kind == SPE_OP_SVE || site->kind == SPE_OP_SVE_LDST;
    /* NV2 turns the system register accesses of a guest kernel into loads and stores. */
    kernel = site->kind == SPE_OP_NV2 || (site->kind != SPE_OP_SME && chance(g, 150));
    site->pc = code_address(below(g, 1u << 22), kernel);
    site->target = code_address(below(g, 1u << 22), kernel);
    site->region = (uint8_t)(kernel ? SPE_GEN_REGIONS - 1 : skewed(g, SPE_GEN_REGIONS - 1));
    site->stride = chance(g, 600) ? 8u << below(g, 4) : 0;
    site->likely = (uint16_t)(site->stride ? 8 + below(g, 60) : 40 + below(g, 500));
    if (class_ == SPE_GEN_BRANCH)
        site->likely = (uint16_t)(chance(g, 800) ? 2 + below(g, 20) : 60 + below(g, 300));
    site->taken = (uint16_t)(chance(g, 700) ? 900 + below(g, 120) : below(g, 1024));
    if (site->kind == SPE_OP_SME ||
        (vector && !kernel && has_feature(g, SPE_FEAT_SPE_SME) && chance(g, 400)))
        site->flags |= SITE_STREAMING;
    if (site->flags & SITE_STREAMING && chance(g, 512))
        site->flags |= SITE_SMCU;
}

static void make_region(struct spe_gen *g, unsigned n)
{
    struct spe_gen_region *r = &g->region[n];
    uint64_t base = UINT64_C(0x0000ffff00000000);

    if (n == SPE_GEN_REGIONS - 1)
        base = UINT64_C(0xffff000080000000); /* the kernel's linear map */
    r->base = base + ((uint64_t)n << 27);
    r->mask = (UINT64_C(4096) << below(g, 15)) - 1; /* 4 KiB to 64 MiB */
    r->position = random64(g) & r->mask & ~UINT64_C(63);
}

/* ---- data sources ---------------------------------------------------------------------------- */

static const uint8_t levels[] = {SPE_LEVEL_L1,         SPE_LEVEL_L2,           SPE_LEVEL_L3,
                                 SPE_LEVEL_PEER_CORE,  SPE_LEVEL_PEER_CLUSTER, SPE_LEVEL_DRAM,
                                 SPE_LEVEL_REMOTE_DRAM};

/* The CPU's value for a level, or for the nearest that its table has. Without a table the values
 * mean nothing to anybody, so any will do. */
static uint16_t source_of(const struct spe_gen *g, unsigned level)
{
    static const uint8_t instead[SPE_LEVEL_COUNT] = {
        [SPE_LEVEL_L1] = SPE_LEVEL_L2,
        [SPE_LEVEL_L2] = SPE_LEVEL_PEER_CORE,
        [SPE_LEVEL_L3] = SPE_LEVEL_LOCAL_CLUSTER,
        [SPE_LEVEL_PEER_CORE] = SPE_LEVEL_LOCAL_CLUSTER,
        [SPE_LEVEL_LOCAL_CLUSTER] = SPE_LEVEL_PEER_CLUSTER,
        [SPE_LEVEL_PEER_CLUSTER] = SPE_LEVEL_L3,
        [SPE_LEVEL_REMOTE_DRAM] = SPE_LEVEL_REMOTE_CACHE,
        [SPE_LEVEL_REMOTE_CACHE] = SPE_LEVEL_DRAM,
    };
    const struct spe_source_table *table = g->config.cpu ? g->config.cpu->sources : NULL;
    unsigned tries;
    size_t i;

    if (!table || !table->count)
        return (uint16_t)level;
    for (tries = 0; tries < SPE_LEVEL_COUNT; tries++) {
        for (i = 0; i < table->count; i++) {
            if (table->sources[i].level == level && !table->sources[i].modified)
                return table->sources[i].value;
        }
        level = instead[level];
    }
    return table->sources[0].value;
}

/* ---- what has a place ------------------------------------------------------------------------ */

static bool has_place(const struct spe_layout *layout, unsigned type, unsigned index)
{
    unsigned i;

    if (!layout)
        return true;
    for (i = 0; i < layout->slots; i++) {
        const struct spe_layout_slot *slot = &layout->slot[i];

        if (slot->type == type && (slot->index == index || slot->index == SPE_SLOT_ALL))
            return true;
    }
    return false;
}

static void find_places(struct spe_gen *g)
{
    const struct spe_gen_config *c = &g->config;
    const struct spe_layout *layout = c->layout;
    unsigned i;

    g->addresses = g->counters = g->has = 0;
    for (i = 0; i <= SPE_ADDRESS_PREVIOUS_TARGET; i++) {
        if (has_place(layout, SPE_PACKET_ADDRESS, i) &&
            spe_address_status(i, c->features) == SPE_DEFINED)
            g->addresses |= 1u << i;
    }
    if (!c->physical)
        g->addresses &= ~(1u << SPE_ADDRESS_PA);
    for (i = 0; i <= SPE_COUNTER_ALT_ISSUE; i++) {
        if (has_place(layout, SPE_PACKET_COUNTER, i) &&
            spe_counter_status(i, c->features) == SPE_DEFINED)
            g->counters |= 1u << i;
    }
    if (c->context1 && has_place(layout, SPE_PACKET_CONTEXT, 0))
        g->has |= SPE_HAS_CONTEXT1;
    if (c->context2 && has_place(layout, SPE_PACKET_CONTEXT, 1))
        g->has |= SPE_HAS_CONTEXT2;
    if (has_feature(g, SPE_FEAT_SPE_LDS) && has_place(layout, SPE_PACKET_DATA_SOURCE, 0))
        g->has |= SPE_HAS_SOURCE;
    if (c->timestamps)
        g->has |= SPE_HAS_TIMESTAMP;
    g->events = spe_events_allowed(c->features);
    if (layout && layout->events_size && layout->events_size < 8)
        g->events &= (UINT64_C(1) << 8 * layout->events_size) - 1;
    if (!(g->events & SPE_EVENT_BIT(STREAMING))) /* then a record cannot say which clock it is */
        g->counters &= ~(1u << SPE_COUNTER_ALT_ISSUE);
    g->cpu_events = c->cpu ? c->cpu->named_impdef_events & g->events : 0;
}

/* The largest record that would be written, of a load or a branch. */
static int largest_size(const struct spe_gen *g, bool branch)
{
    struct spe_record r = {0};
    uint8_t bytes[SPE_RECORD_MAX];

    r.has = SPE_HAS_OP | SPE_HAS_EVENTS | g->has;
    r.addresses = g->addresses & ~(branch ? 1u << SPE_ADDRESS_VA | 1u << SPE_ADDRESS_PA
                                          : 1u << SPE_ADDRESS_TARGET);
    r.counters = g->counters;
    if (branch) {
        r.has &= ~(uint32_t)SPE_HAS_SOURCE;
        r.counters &= ~(1u << SPE_COUNTER_TRANSLATION);
    }
    r.events = g->events & UINT32_MAX;
    r.events_size = (uint8_t)spe_events_size(r.events);
    r.source_size = 1;
    return spe_record_encode(&r, g->config.layout, bytes, sizeof(bytes));
}

/* A layout may have places for more than its largest record holds: leave out what matters least. */
static int fit_layout(struct spe_gen *g)
{
    unsigned step;
    int error = SPE_OK;

    for (step = 0; step <= 4; step++) {
        if (step == 1)
            g->addresses &= ~(1u << SPE_ADDRESS_PREVIOUS_TARGET);
        else if (step == 2)
            g->counters &= ~(1u << SPE_COUNTER_ALT_ISSUE);
        else if (step == 3)
            g->has &= ~(uint32_t)SPE_HAS_CONTEXT2;
        else if (step == 4)
            g->addresses &= ~(1u << SPE_ADDRESS_PA);
        error = largest_size(g, false);
        if (error > 0)
            error = largest_size(g, true);
        if (error > 0)
            return SPE_OK;
    }
    return error;
}

/* ---- start ----------------------------------------------------------------------------------- */

static void set_defaults(struct spe_gen_config *config)
{
    *config = (struct spe_gen_config){
        .size = sizeof(*config),
        .seed = 1,
        .features = SPE_FEAT(SPE) | SPE_FEAT(SPE_LDS),
        .mix = {40, 15, 20, 25},
        .count_bits = 12,
        .first_timestamp = UINT64_C(1000000000),
        .period = 2048,
        .timestamps = true,
        .physical = true,
        .context1 = true,
    };
}

void spe_gen_config_default(struct spe_gen_config *config)
{
    struct spe_gen_config own;
    size_t size = config->size;

    set_defaults(&own);
    sized_give(config, size, &own, sizeof(own));
    config->size = size;
}

size_t spe_gen_sizeof(void)
{
    return sizeof(struct spe_gen);
}

static const char *mistake(const struct spe_gen_config *c)
{
    uint64_t total = (uint64_t)c->mix[0] + c->mix[1] + c->mix[2] + c->mix[3];

    if (total == 0)
        return "the mix has no operations";
    if (total > UINT32_MAX)
        return "the weights of the mix are too large";
    if (c->count_bits != 12 && c->count_bits != 16)
        return "counters have 12 or 16 bits";
    if (c->period == 0 || c->period > MAX_PERIOD)
        return "the period is not between 1 and 2^30";
    if (c->context2 && !spe_has(c->features, SPE_FEAT_EL2))
        return "CONTEXTIDR_EL2 needs EL2";
    return NULL;
}

static void share_out(struct spe_gen *g)
{
    const uint32_t *mix = g->config.mix;
    uint64_t total = (uint64_t)mix[0] + mix[1] + mix[2] + mix[3];
    uint64_t sum = 0;
    unsigned i, last = 0;

    for (i = 0; i < SPE_GEN_CLASSES; i++) {
        sum += mix[i];
        g->limit[i] = (uint32_t)(sum * PICK_RANGE / total);
        if (mix[i])
            last = i;
    }
    for (i = last; i < SPE_GEN_CLASSES; i++)
        g->limit[i] = PICK_RANGE; /* whatever rounding left over */
}

static int init(struct spe_gen *g, const struct spe_gen_config *config, char *why, size_t why_size)
{
    const char *wrong = mistake(config);
    unsigned i, j;

    if (wrong) {
        snprintf(why, why_size, "%s", wrong);
        return SPE_ERR_INVALID;
    }
    if (spe_features_validate(config->features, why, why_size) < 0)
        return SPE_ERR_INVALID;
    memset(g, 0, sizeof(*g));
    g->config = *config;
    g->time = config->first_timestamp;
    seed_random(g, config->seed);
    find_places(g);
    if (config->layout && fit_layout(g) < 0) {
        snprintf(why, why_size, "layout %s has no room for a record", config->layout->name);
        return SPE_ERR_INVALID;
    }
    share_out(g);
    for (i = 0; i < sizeof(levels); i++)
        g->source[levels[i]] = source_of(g, levels[i]);
    for (i = 0; i < SPE_GEN_REGIONS; i++)
        make_region(g, i);
    for (i = 0; i < SPE_GEN_CLASSES; i++) {
        for (j = 0; j < SPE_GEN_SITES; j++)
            make_site(g, i, j);
    }
    g->previous_target = g->site[SPE_GEN_BRANCH][0].target;
    return SPE_OK;
}

int spe_gen_init(struct spe_gen *g, const struct spe_gen_config *config, char *why, size_t why_size)
{
    struct spe_gen_config own;

    set_defaults(&own);
    if (!sized_take(&own, sizeof(own), config, config->size)) {
        snprintf(why, why_size, "the configuration has no size, or is of a later version");
        return SPE_ERR_INVALID;
    }
    return init(g, &own, why, why_size);
}

/* ---- records --------------------------------------------------------------------------------- */

static void set_address(const struct spe_gen *g, struct spe_record *r, unsigned index,
                        uint64_t payload)
{
    r->address[index] = payload;
    r->addresses |= g->addresses & 1u << index;
}

static void set_counter(const struct spe_gen *g, struct spe_record *r, unsigned index,
                        uint64_t cycles)
{
    r->counter[index] = spe_counter_clip(cycles, g->config.count_bits);
    r->counters |= g->counters & 1u << index;
}

static void set_latency(const struct spe_gen *g, struct spe_record *r,
                        const struct spe_gen_site *site, uint64_t issue, uint64_t rest)
{
    set_counter(g, r, SPE_COUNTER_ISSUE, issue);
    set_counter(g, r, SPE_COUNTER_TOTAL, issue + rest);
    if (site->flags & SITE_STREAMING)
        set_counter(g, r, SPE_COUNTER_ALT_ISSUE, issue / 2 + 1);
}

/* Most issue at once, few wait long. */
static uint64_t issue_latency(struct spe_gen *g)
{
    uint64_t r = random64(g);
    unsigned spread = (unsigned)__builtin_ctzll(r | 1u << 9);

    return 1 + (r >> 32 & ((1u << spread) - 1));
}

static unsigned choose_level(struct spe_gen *g, const struct spe_gen_site *site)
{
    static const uint8_t deeper[] = {
        SPE_LEVEL_L2,   SPE_LEVEL_L2,        SPE_LEVEL_L2,           SPE_LEVEL_L2,
        SPE_LEVEL_L2,   SPE_LEVEL_L3,        SPE_LEVEL_L3,           SPE_LEVEL_L3,
        SPE_LEVEL_L3,   SPE_LEVEL_PEER_CORE, SPE_LEVEL_PEER_CLUSTER, SPE_LEVEL_DRAM,
        SPE_LEVEL_DRAM, SPE_LEVEL_DRAM,      SPE_LEVEL_DRAM,         SPE_LEVEL_REMOTE_DRAM};

    return chance(g, site->likely) ? deeper[below(g, sizeof(deeper))] : SPE_LEVEL_L1;
}

static uint64_t level_latency(struct spe_gen *g, unsigned level)
{
    static const uint16_t least[SPE_LEVEL_COUNT] = {
        [SPE_LEVEL_L1] = 4,
        [SPE_LEVEL_L2] = 11,
        [SPE_LEVEL_L3] = 38,
        [SPE_LEVEL_PEER_CORE] = 55,
        [SPE_LEVEL_PEER_CLUSTER] = 90,
        [SPE_LEVEL_DRAM] = 180,
        [SPE_LEVEL_REMOTE_DRAM] = 350,
    };

    return least[level] + below(g, least[level]);
}

static uint64_t load_events(struct spe_gen *g, unsigned level)
{
    uint64_t e = 0;

    if (level == SPE_LEVEL_L1)
        return chance(g, 10) ? SPE_EVENT_BIT(RECENTLY_FETCHED) : 0;
    e |= SPE_EVENT_BIT(L2D_ACCESS);
    if (level == SPE_LEVEL_L2)
        return e;
    e |= SPE_EVENT_BIT(L2D_MISS);
    if (level == SPE_LEVEL_PEER_CORE || level == SPE_LEVEL_PEER_CLUSTER) {
        e |= SPE_EVENT_BIT(SNOOPED);
        if (chance(g, 400))
            e |= SPE_EVENT_BIT(MODIFIED);
    }
    return e;
}

static uint64_t memory_events(struct spe_gen *g, unsigned level, bool store)
{
    uint64_t e = SPE_EVENT_BIT(L1D_ACCESS) | SPE_EVENT_BIT(TLB_ACCESS);

    if (level != SPE_LEVEL_L1)
        e |= SPE_EVENT_BIT(L1D_MISS);
    if (level != SPE_LEVEL_L1 && level != SPE_LEVEL_L2)
        e |= SPE_EVENT_BIT(LLC_ACCESS);
    if (level == SPE_LEVEL_DRAM || level == SPE_LEVEL_REMOTE_DRAM)
        e |= SPE_EVENT_BIT(LLC_MISS);
    if (level == SPE_LEVEL_REMOTE_DRAM)
        e |= SPE_EVENT_BIT(REMOTE);
    if (!store)
        e |= load_events(g, level);
    if (chance(g, 5))
        e |= SPE_EVENT_BIT(MISALIGNED);
    if (g->cpu_events && level != SPE_LEVEL_L1 && chance(g, 50))
        e |= g->cpu_events & (0 - g->cpu_events);
    return e;
}

static uint64_t data_address(struct spe_gen *g, const struct spe_gen_site *site)
{
    struct spe_gen_region *region = &g->region[site->region];

    if (!site->stride)
        return region->base + (random64(g) & region->mask & ~UINT64_C(7));
    region->position = (region->position + site->stride) & region->mask;
    return region->base + region->position;
}

/* A page table without a table: pages lie where a hash puts them. */
static uint64_t physical_address(const struct spe_gen *g, uint64_t va)
{
    uint64_t page = ((va >> 12) ^ g->config.seed) * UINT64_C(0xd6e8feb86659fd93) >> 38;

    return UINT64_C(0x80000000) + (page << 12) + (va & 0xfff);
}

static void make_access(struct spe_gen *g, struct spe_record *r, const struct spe_gen_site *site,
                        bool store)
{
    unsigned level = choose_level(g, site);
    bool walk = chance(g, level == SPE_LEVEL_L1 ? 3 : 40);
    uint64_t translation = walk ? 12 + below(g, 60) : chance(g, 100);
    uint64_t latency = store ? 1 + below(g, 6) : level_latency(g, level);
    uint64_t va = data_address(g, site);
    uint64_t pa = physical_address(g, va) | NS;

    r->events |= memory_events(g, level, store);
    if (walk)
        r->events |= SPE_EVENT_BIT(TLB_WALK);
    if (has_feature(g, SPE_FEAT_MTE2) && site->kind == SPE_OP_GP && site->stride)
        pa |= TAG_CHECKED;
    set_address(g, r, SPE_ADDRESS_VA, va);
    set_address(g, r, SPE_ADDRESS_PA, pa);
    set_counter(g, r, SPE_COUNTER_TRANSLATION, translation);
    set_latency(g, r, site, issue_latency(g), latency + translation);
    if (!store && g->has & SPE_HAS_SOURCE) {
        r->has |= SPE_HAS_SOURCE;
        r->source = g->source[level];
        r->source_size = r->source > 0xff ? 2 : 1;
    }
}

static void make_branch(struct spe_gen *g, struct spe_record *r, const struct spe_gen_site *site)
{
    bool taken = !(site->op & 1) || chance(g, site->taken);
    bool mispredicted = chance(g, site->likely);
    /* An indirect branch goes to one of a few places near its usual one. */
    uint64_t target = site->target + (site->op & 2 ? 64 * (uint64_t)below(g, 4) : 0);
    uint64_t issue;

    if (taken)
        set_address(g, r, SPE_ADDRESS_TARGET, target);
    else
        r->events |= SPE_EVENT_BIT(NOT_TAKEN);
    if (mispredicted)
        r->events |= SPE_EVENT_BIT(MISPREDICTED);
    issue = issue_latency(g); /* the order of two random numbers must not be the compiler's */
    set_latency(g, r, site, issue, mispredicted ? 11 + below(g, 8) : 1);
    if (taken)
        g->previous_target = target;
}

static void make_other(struct spe_gen *g, struct spe_record *r, const struct spe_gen_site *site)
{
    bool plain = site->kind == SPE_OP_OTHER;
    uint64_t issue;

    if (plain && site->op & 1 && chance(g, 512))
        r->events |= SPE_EVENT_BIT(NOT_TAKEN);
    if (plain && !(site->op & 7) && chance(g, 1))
        r->events |= SPE_EVENT_BIT(EXCEPTION); /* a system call, say */
    issue = issue_latency(g);
    set_latency(g, r, site, issue, plain ? 1 + below(g, 4) : 2 + below(g, 12));
}

/* What every record has: context, time and the events of vectors. */
static void make_common(struct spe_gen *g, struct spe_record *r, const struct spe_gen_site *site)
{
    if (g->context_left == 0) {
        g->context = 1000 + below(g, 12);
        g->context_left = 1 + below(g, 2 * CONTEXT_RECORDS);
    }
    g->context_left--;
    g->time += 1 + below(g, 2 * g->config.period - 1);
    r->timestamp = g->time;
    r->context[0] = r->context[1] = g->context;
    r->has |= g->has & (SPE_HAS_CONTEXT1 | SPE_HAS_CONTEXT2 | SPE_HAS_TIMESTAMP);
    if (site->flags & SITE_STREAMING)
        r->events |= SPE_EVENT_BIT(STREAMING);
    if (site->flags & SITE_SMCU)
        r->events |= SPE_EVENT_BIT(SMCU);
    if (site->flags & SITE_PREDICATED && chance(g, 200)) {
        r->events |= SPE_EVENT_BIT(PARTIAL_PREDICATE);
        if (chance(g, 100)) /* an empty predicate is a partial one, too (D18.2.6) */
            r->events |= SPE_EVENT_BIT(EMPTY_PREDICATE);
    }
}

void spe_gen_next(struct spe_gen *g, struct spe_record *r)
{
    static const uint8_t op_class[SPE_GEN_CLASSES] = {SPE_CLASS_LDST, SPE_CLASS_LDST,
                                                      SPE_CLASS_BRANCH, SPE_CLASS_OTHER};
    uint32_t pick = (uint32_t)(random64(g) >> 33);
    const struct spe_gen_site *site;
    unsigned class_ = 0;

    while (pick >= g->limit[class_])
        class_++;
    site = &g->site[class_][skewed(g, SPE_GEN_SITES)];
    spe_record_clear(r);
    r->has = SPE_HAS_OP | SPE_HAS_EVENTS;
    r->op_class = op_class[class_];
    r->op = site->op;
    r->events = SPE_EVENT_BIT(RETIRED);
    if (g->config.speculative && chance(g, 30))
        r->events = 0;
    set_address(g, r, SPE_ADDRESS_PC, site->pc);
    if (r->events) /* only what retires has the previous target (D17.6.3.1) */
        set_address(g, r, SPE_ADDRESS_PREVIOUS_TARGET, g->previous_target);
    if (class_ == SPE_GEN_BRANCH)
        make_branch(g, r, site);
    else if (class_ == SPE_GEN_OTHER)
        make_other(g, r, site);
    else
        make_access(g, r, site, class_ == SPE_GEN_STORE);
    make_common(g, r, site);
    r->events &= g->events;
    r->events_size = (uint8_t)spe_events_size(r->events);
}
