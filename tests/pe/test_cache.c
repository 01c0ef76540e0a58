/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Caches, coherence and TLB against a second model that is slow and plain: no directory, no locks,
 * no hashes; every question is answered by looking at everything. Random accesses of several cpus
 * must meet the same facts, places and cycles in both, and leave the same counts.
 */
#include "machine_test.h"

#include <stdlib.h>

#include <pe/machine_fast.h>

/* ---- The plain model ------------------------------------------------------------------------ */

#define MAX_WAYS 32
#define MAX_SETS 64
#define MAX_CPUS 70
#define LINES 4096 /* addresses below LINES * line_bytes */

struct slot {
    bool valid, used;
    unsigned line;
    unsigned page; /* TLB */
    bool dirty;    /* LLC */
    bool fresh;    /* L1 */
    unsigned long filled;
};

struct table {
    unsigned sets, ways;
    struct slot slot[MAX_SETS][MAX_WAYS];
};

enum mesi { INVALID, SHARED, EXCLUSIVE, MODIFIED };

struct plain_cpu {
    struct table l1, l2;
    enum mesi state[LINES]; /* of the line in this cpu, wherever it is */
    unsigned long fills;
    unsigned tlb_pages[PE_TLB_MAX];
    bool tlb_used[PE_TLB_MAX];
    unsigned tlb_count;
    struct table tlb2;
    struct spe_machine_counts counts;
};

struct plain {
    struct spe_machine_config config;
    struct plain_cpu cpu[MAX_CPUS];
    struct table llc[2];
    int home[LINES]; /* by page: 1 + socket */
};

static unsigned socket_of(const struct plain *p, unsigned cpu)
{
    return cpu * p->config.sockets / p->config.cpus;
}

static struct slot *find(struct table *t, unsigned line)
{
    for (unsigned w = 0; w < t->ways; w++)
        if (t->slot[line % t->sets][w].valid && t->slot[line % t->sets][w].line == line)
            return &t->slot[line % t->sets][w];
    return NULL;
}

static void use(struct table *t, struct slot *s)
{
    struct slot *set = t->slot[s->line % t->sets];
    bool all = true;

    s->used = true;
    for (unsigned w = 0; w < t->ways; w++)
        all &= set[w].used;
    for (unsigned w = 0; all && w < t->ways; w++)
        set[w].used = &set[w] == s;
}

/* Where the line will go; what is there must leave. */
static struct slot *victim(struct table *t, unsigned line)
{
    struct slot *set = t->slot[line % t->sets];

    for (unsigned w = 0; w < t->ways; w++)
        if (!set[w].valid)
            return &set[w];
    for (unsigned w = 0; w < t->ways; w++)
        if (!set[w].used)
            return &set[w];
    return &set[0];
}

static void put(struct table *t, struct slot *s, unsigned line)
{
    s->valid = true;
    s->line = line;
    s->dirty = false;
    use(t, s);
}

static void drop(struct table *t, unsigned line)
{
    struct slot *s = t->ways ? find(t, line) : NULL;

    if (s)
        s->valid = false;
}

static void forget(struct plain_cpu *c, unsigned line)
{
    drop(&c->l1, line);
    drop(&c->l2, line);
    c->state[line] = INVALID;
}

static unsigned home(struct plain *p, unsigned line, unsigned socket)
{
    unsigned page = line * p->config.line_bytes / p->config.page_bytes;

    if (!p->home[page])
        p->home[page] = 1 + (int)socket;
    return (unsigned)p->home[page] - 1;
}

static void to_llc(struct plain *p, unsigned line, unsigned socket, bool dirty)
{
    struct table *llc = &p->llc[home(p, line, socket)];
    struct slot *s;

    if (llc->ways == 0)
        return;
    s = find(llc, line);
    s = s ? s : victim(llc, line);
    put(llc, s, line);
    s->dirty = dirty;
}

static void leaves(struct plain *p, unsigned cpu, unsigned line)
{
    bool dirty = p->cpu[cpu].state[line] == MODIFIED;

    forget(&p->cpu[cpu], line);
    if (dirty)
        to_llc(p, line, socket_of(p, cpu), true);
}

static void fill(struct plain *p, unsigned cpu, unsigned line)
{
    struct plain_cpu *c = &p->cpu[cpu];
    struct slot *s;

    if (c->l2.ways && !find(&c->l2, line)) {
        s = victim(&c->l2, line);
        if (s->valid)
            leaves(p, cpu, s->line);
        put(&c->l2, s, line);
    }
    s = victim(&c->l1, line);
    if (s->valid && !c->l2.ways)
        leaves(p, cpu, s->line);
    put(&c->l1, s, line);
    s->fresh = true;
    s->filled = ++c->fills;
}

static unsigned take_from_others(struct plain *p, unsigned cpu, unsigned line)
{
    unsigned taken = 0;

    for (unsigned o = 0; o < p->config.cpus; o++)
        if (o != cpu && p->cpu[o].state[line]) {
            forget(&p->cpu[o], line);
            taken++;
        }
    p->cpu[cpu].counts.invalidations += taken;
    return taken;
}

/* From outside the cpu. Returns whether another cpu had to be asked. */
static bool from_outside(struct plain *p, unsigned cpu, unsigned line, bool exclusive, bool modify,
                         struct spe_machine_access *met)
{
    unsigned mine = socket_of(p, cpu), at = home(p, line, mine);
    struct slot *llc = p->llc[at].ways ? find(&p->llc[at], line) : NULL;
    int owner = -1, near = -1, far = -1;
    bool snooped = false, dirty = false;

    for (unsigned o = p->config.cpus; o-- > 0;) {
        if (o == cpu || !p->cpu[o].state[line])
            continue;
        if (p->cpu[o].state[line] >= EXCLUSIVE)
            owner = (int)o;
        if (socket_of(p, o) == mine)
            near = (int)o;
        else
            far = (int)o;
    }
    snooped = owner >= 0 || (exclusive && (near >= 0 || far >= 0));
    dirty = owner >= 0 && p->cpu[owner].state[line] == MODIFIED;
    if (dirty) {
        met->place = near >= 0 ? SPE_PLACE_PEER : SPE_PLACE_REMOTE_CACHE;
        met->facts |= SPE_FACT_MODIFIED_SNOOP | SPE_FACT_SNOOPED;
        p->cpu[cpu].counts.modified_snoops++;
        if (!modify)
            to_llc(p, line, mine, true);
    } else if (at == mine && llc) {
        met->place = SPE_PLACE_LLC;
    } else if (near >= 0) {
        met->place = SPE_PLACE_PEER;
        met->facts |= SPE_FACT_SNOOPED;
        snooped = true;
    } else if (llc) {
        met->place = SPE_PLACE_REMOTE_CACHE;
        met->facts |= SPE_FACT_REMOTE_LLC_HIT;
    } else if (far >= 0) {
        met->place = SPE_PLACE_REMOTE_CACHE;
        met->facts |= SPE_FACT_SNOOPED;
        snooped = true;
    } else {
        met->place = at == mine ? SPE_PLACE_MEMORY : SPE_PLACE_REMOTE_MEMORY;
        to_llc(p, line, mine, false);
    }
    if (llc && (met->place == SPE_PLACE_LLC || met->facts & SPE_FACT_REMOTE_LLC_HIT)) {
        met->facts |= llc->dirty ? SPE_FACT_MODIFIED_HIT : 0;
        use(&p->llc[at], llc);
    }
    if (met->place == SPE_PLACE_REMOTE_CACHE || met->place == SPE_PLACE_REMOTE_MEMORY)
        met->facts |= SPE_FACT_REMOTE;
    if (p->config.llc.bytes) {
        met->facts |= SPE_FACT_LLC_ACCESS;
        if (met->place != SPE_PLACE_LLC) {
            met->facts |= SPE_FACT_LLC_MISS;
            p->cpu[cpu].counts.llc_misses++;
        }
    }
    if (exclusive)
        take_from_others(p, cpu, line);
    else if (owner >= 0)
        p->cpu[owner].state[line] = SHARED;
    p->cpu[cpu].state[line] = modify                               ? MODIFIED
                              : exclusive || (near < 0 && far < 0) ? EXCLUSIVE
                                                                   : SHARED;
    return snooped;
}

static uint32_t latency(const struct plain *p, unsigned place, bool snooped)
{
    const struct spe_machine_config *c = &p->config;
    uint32_t shared = c->llc.bytes ? c->llc.latency : c->l2.bytes ? c->l2.latency : c->l1d.latency;
    uint32_t snoop = snooped ? c->snoop_latency : 0;
    const uint32_t cycles[SPE_PLACE_COUNT] = {
        [SPE_PLACE_L1] = c->l1d.latency + snoop,
        [SPE_PLACE_L2] = c->l2.latency + snoop,
        [SPE_PLACE_PEER] = shared + snoop,
        [SPE_PLACE_LLC] = shared + snoop,
        [SPE_PLACE_REMOTE_CACHE] = shared + c->remote_latency + snoop,
        [SPE_PLACE_MEMORY] = c->memory_latency,
        [SPE_PLACE_REMOTE_MEMORY] = c->memory_latency + c->remote_latency,
    };

    return cycles[place];
}

static void access_line(struct plain *p, unsigned cpu, unsigned line, unsigned how,
                        struct spe_machine_access *met)
{
    struct plain_cpu *c = &p->cpu[cpu];
    bool modify = how & (SPE_ACCESS_STORE | SPE_ACCESS_ATOMIC);
    bool exclusive = modify || how & SPE_ACCESS_PREFETCH_FOR_STORE;
    struct slot *l1 = find(&c->l1, line), *l2 = c->l2.ways ? find(&c->l2, line) : NULL;
    bool snooped = false;

    c->counts.accesses++;
    met->facts |= SPE_FACT_L1D_ACCESS;
    if (l1) {
        met->place = SPE_PLACE_L1;
        if (exclusive && c->state[line] == SHARED) {
            snooped = take_from_others(p, cpu, line) > 0;
            c->state[line] = EXCLUSIVE;
        } else {
            met->facts |= c->state[line] == MODIFIED ? SPE_FACT_MODIFIED_HIT : 0;
            if (l1->fresh && c->fills - l1->filled < PE_RECENT_FILLS)
                met->facts |= SPE_FACT_RECENT;
        }
        l1->fresh = false;
        use(&c->l1, l1);
    } else {
        c->counts.l1_misses++;
        met->facts |= SPE_FACT_L1D_MISS | SPE_FACT_L1D_REFILL;
        met->facts |= c->l2.ways ? SPE_FACT_L2D_ACCESS : 0;
        if (l2) {
            met->place = SPE_PLACE_L2;
            met->facts |= c->state[line] == MODIFIED ? SPE_FACT_MODIFIED_HIT : 0;
            if (exclusive && c->state[line] == SHARED) {
                snooped = take_from_others(p, cpu, line) > 0;
                c->state[line] = EXCLUSIVE;
            }
            use(&c->l2, l2);
        } else {
            if (c->l2.ways) {
                met->facts |= SPE_FACT_L2D_MISS;
                c->counts.l2_misses++;
            }
            snooped = from_outside(p, cpu, line, exclusive, modify, met);
        }
        fill(p, cpu, line);
    }
    if (modify)
        c->state[line] = MODIFIED;
    c->counts.served[met->place]++;
    met->cycles = met->translation_cycles + latency(p, met->place, snooped);
}

static void maintain(struct plain *p, unsigned line, bool invalidate, struct spe_machine_access *m)
{
    for (unsigned o = 0; o < p->config.cpus; o++) {
        if (invalidate)
            forget(&p->cpu[o], line);
        else if (p->cpu[o].state[line] == MODIFIED)
            p->cpu[o].state[line] = EXCLUSIVE;
    }
    for (unsigned s = 0; s < p->config.sockets; s++) {
        struct slot *llc = p->llc[s].ways ? find(&p->llc[s], line) : NULL;

        if (llc && invalidate)
            llc->valid = false;
        else if (llc)
            llc->dirty = false;
    }
    m->place = SPE_PLACE_MEMORY;
    m->cycles = m->translation_cycles + p->config.memory_latency;
}

static unsigned tlb_slot(struct plain_cpu *c, unsigned entries, unsigned page)
{
    unsigned i;

    for (i = 0; i < c->tlb_count; i++)
        if (c->tlb_pages[i] == page)
            return i;
    if (c->tlb_count < entries)
        return c->tlb_count++;
    for (i = 0; i < entries; i++)
        if (!c->tlb_used[i])
            return i;
    return 0;
}

static void translate(struct plain *p, unsigned cpu, unsigned page, struct spe_machine_access *met)
{
    struct plain_cpu *c = &p->cpu[cpu];
    unsigned before = c->tlb_count, i = tlb_slot(c, p->config.l1_tlb_entries, page);
    bool hit = i < before && c->tlb_pages[i] == page, all = true;
    struct slot *s;

    met->facts |= SPE_FACT_TLB_ACCESS;
    c->tlb_pages[i] = page;
    c->tlb_used[i] = true;
    for (unsigned k = 0; k < p->config.l1_tlb_entries; k++)
        all &= c->tlb_used[k];
    for (unsigned k = 0; all && k < p->config.l1_tlb_entries; k++)
        c->tlb_used[k] = k == i;
    if (hit)
        return;
    c->counts.tlb_l1_misses++;
    s = c->tlb2.ways ? find(&c->tlb2, page) : NULL;
    met->translation_cycles = s ? p->config.l2_tlb_latency : p->config.walk_latency;
    if (!s) {
        met->facts |= SPE_FACT_TLB_WALK;
        c->counts.walks++;
    }
    if (c->tlb2.ways)
        put(&c->tlb2, s ? s : victim(&c->tlb2, page), page);
}

static bool plain_touch(struct plain *p, unsigned cpu, uint64_t address, uint32_t bytes,
                        unsigned how, struct spe_machine_access *whole)
{
    unsigned first = (unsigned)(address / p->config.line_bytes);
    unsigned last = (unsigned)((address + (bytes ? bytes - 1 : 0)) / p->config.line_bytes);
    uint64_t tlb = p->cpu[cpu].counts.tlb_l1_misses, l1 = p->cpu[cpu].counts.l1_misses;

    memset(whole, 0, sizeof(*whole));
    for (unsigned line = first; line <= last; line++) {
        struct spe_machine_access part = {0};
        uint32_t facts = whole->facts;

        translate(p, cpu, line * p->config.line_bytes / p->config.page_bytes, &part);
        if (how & (SPE_ACCESS_CLEAN | SPE_ACCESS_INVALIDATE))
            maintain(p, line, how & SPE_ACCESS_INVALIDATE, &part);
        else
            access_line(p, cpu, line, how, &part);
        facts |= part.facts;
        if (part.cycles > whole->cycles)
            *whole = part;
        whole->facts = facts;
    }
    return p->cpu[cpu].counts.tlb_l1_misses != tlb || p->cpu[cpu].counts.l1_misses != l1;
}

static void plain_flush(struct plain *p, unsigned cpu)
{
    struct plain_cpu *c = &p->cpu[cpu];

    c->tlb_count = 0;
    memset(c->tlb_used, 0, sizeof(c->tlb_used));
    memset(c->tlb2.slot, 0, sizeof(c->tlb2.slot));
}

static void shape(struct table *t, const struct spe_cache_shape *s, uint32_t line_bytes)
{
    if (s->bytes == 0)
        return;
    t->ways = s->ways;
    t->sets = s->bytes / s->ways / line_bytes;
    assert_true(t->sets <= MAX_SETS && t->ways <= MAX_WAYS);
}

static struct plain *make_plain(const struct spe_machine_config *config)
{
    struct plain *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    p->config = *config;
    for (unsigned i = 0; i < config->cpus; i++) {
        shape(&p->cpu[i].l1, &config->l1d, config->line_bytes);
        shape(&p->cpu[i].l2, &config->l2, config->line_bytes);
        if (config->l2_tlb_entries) {
            p->cpu[i].tlb2.ways = config->l2_tlb_ways;
            p->cpu[i].tlb2.sets = config->l2_tlb_entries / config->l2_tlb_ways;
        }
    }
    for (unsigned i = 0; i < config->sockets; i++)
        shape(&p->llc[i], &config->llc, config->line_bytes);
    return p;
}

/* ---- Both together -------------------------------------------------------------------------- */

static void same_state(const struct spe_machine *m, const struct plain *p, unsigned line)
{
    static const unsigned bits[] = {0, PE_SHARED_LINE, PE_EXCLUSIVE_LINE, PE_MODIFIED_LINE};
    uint64_t address = (uint64_t)line * m->config.line_bytes;

    for (unsigned i = 0; i < m->config.cpus; i++) {
        const struct pe_cpu *cpu = m->cpus[i];

        assert_int_equal(state_in(&cpu->l1, address) | state_in(&cpu->l2, address),
                         bits[p->cpu[i].state[line]]);
    }
    check_line(m, address);
}

static void same_counts(const struct spe_machine *m, const struct plain *p)
{
    for (unsigned i = 0; i < m->config.cpus; i++) {
        struct spe_machine_counts counts;

        spe_machine_counts(m, i, &counts);
        assert_memory_equal(&counts, &p->cpu[i].counts, sizeof(counts));
    }
}

static unsigned any_kind(uint64_t *seed)
{
    static const unsigned kinds[] = {
        0,
        0,
        0,
        0,
        SPE_ACCESS_STORE,
        SPE_ACCESS_STORE,
        SPE_ACCESS_STORE,
        SPE_ACCESS_ATOMIC,
        SPE_ACCESS_STORE | SPE_ACCESS_ATOMIC,
        SPE_ACCESS_PREFETCH,
        SPE_ACCESS_PREFETCH_FOR_STORE,
        SPE_ACCESS_CLEAN,
        SPE_ACCESS_CLEAN | SPE_ACCESS_INVALIDATE,
    };

    /* Maintenance is rare: caches should be full of something. */
    if (chance(seed, 16))
        return kinds[chance(seed, 11)];
    return kinds[chance(seed, sizeof(kinds) / sizeof(kinds[0]))];
}

/* An address: near the last one, in a few lines that all cpus like, or anywhere in `span` lines. */
static uint64_t any_address(uint64_t *seed, uint64_t last, const struct spe_machine_config *config,
                            unsigned span)
{
    switch (chance(seed, 4)) {
    case 0:
        return last;
    case 1:
        return chance(seed, 8ul * config->line_bytes);
    default:
        return chance(seed, (uint64_t)span * config->line_bytes);
    }
}

static void run_both(const struct spe_machine_config *config, unsigned span, unsigned steps)
{
    struct spe_machine *m = make_machine(config);
    struct plain *p = make_plain(config);
    uint64_t seed = 88172645463325252u + span, last = 0;

    for (unsigned i = 0; i < steps; i++) {
        unsigned cpu = (unsigned)chance(&seed, config->cpus), how = any_kind(&seed);
        uint64_t address = any_address(&seed, last, config, span);
        uint32_t bytes = chance(&seed, 8) ? 8 : (uint32_t)chance(&seed, 200);
        struct spe_machine_access expected, met;
        bool missed, ask = chance(&seed, 2);

        last = address;
        spe_machine_alone(m, chance(&seed, 2)); /* which changes nothing but the time it takes */
        if (address / config->line_bytes + 200 / config->line_bytes + 2 >= LINES)
            continue;
        if (chance(&seed, 2000) == 0) {
            spe_machine_flush_tlb(m, cpu);
            plain_flush(p, cpu);
        }
        missed = plain_touch(p, cpu, address, bytes, how, &expected);
        /* A tag in the top byte is not part of the address. */
        assert_int_equal(spe_machine_touch(m, cpu, address | chance(&seed, 2) << 60, bytes, how,
                                           ask ? &met : NULL),
                         missed);
        if (ask) {
            assert_int_equal(met.facts, expected.facts);
            assert_int_equal(met.place, expected.place);
            assert_int_equal(met.translation_cycles, expected.translation_cycles);
            assert_int_equal(met.cycles, expected.cycles);
        }
        same_state(m, p, (unsigned)(address / config->line_bytes));
        if (i % 256 == 0) {
            for (unsigned line = 0; line < span; line++)
                same_state(m, p, line);
            check_caches(m);
        }
    }
    same_counts(m, p);
    spe_machine_destroy(m);
    free(p);
}

static void test_small(void **state)
{
    struct spe_machine_config config = preset("small");

    (void)state;
    run_both(&config, 200, 60000);
    run_both(&config, 2000, 60000);
}

static void test_one_socket(void **state)
{
    struct spe_machine_config config = preset("small");

    (void)state;
    config.sockets = 1;
    config.cpus = 3;
    run_both(&config, 150, 40000);
}

static void test_odd_ways(void **state)
{
    struct spe_machine_config config = preset("small");

    (void)state;
    config.cpus = 5;
    config.line_bytes = 32;
    config.l1d = (struct spe_cache_shape){3 * 4 * 32, 3, 2};
    config.l2 = (struct spe_cache_shape){5 * 8 * 32, 5, 7};
    config.llc = (struct spe_cache_shape){6 * 4 * 32, 6, 20}; /* fewer sets than L2 */
    config.l1_tlb_entries = 3;
    config.l2_tlb_entries = 6;
    config.l2_tlb_ways = 3;
    run_both(&config, 300, 40000);
    run_both(&config, 3500, 40000);
}

static void test_levels_missing(void **state)
{
    struct spe_machine_config config = preset("small");

    (void)state;
    config.l2.bytes = 0;
    run_both(&config, 100, 40000);
    config.llc.bytes = 0;
    config.l2_tlb_entries = 0;
    run_both(&config, 60, 40000);
    config = preset("small");
    config.llc.bytes = 0;
    run_both(&config, 200, 40000);
}

static void test_one_way(void **state)
{
    struct spe_machine_config config = preset("small");

    (void)state;
    config.l1d = (struct spe_cache_shape){4 * 64, 1, 2};
    config.l2 = (struct spe_cache_shape){8 * 64, 1, 7};
    config.llc = (struct spe_cache_shape){32 * 64, 32, 20};
    config.l1_tlb_entries = 1;
    config.l2_tlb_entries = 4;
    config.l2_tlb_ways = 1;
    run_both(&config, 80, 40000);
}

static void test_many_cpus(void **state)
{
    struct spe_machine_config config = preset("small");

    (void)state;
    config.cpus = MAX_CPUS; /* more than a word of the directory */
    run_both(&config, 400, 30000);
}

/* Translation alone, with many more pages than the caches' tests have. */
static void test_translation(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *m;
    struct plain *p;
    uint64_t seed = 4;

    (void)state;
    config.l2_tlb_entries = 256; /* the plain model has room for 64 sets */
    config.l2_tlb_ways = 8;
    config.l1d.bytes = 4096;
    config.l2.bytes = config.llc.bytes = 0;
    m = make_machine(&config);
    p = make_plain(&config);
    for (unsigned i = 0; i < 100000; i++) {
        unsigned page = (unsigned)(chance(&seed, 2) ? chance(&seed, 60) * 64 : chance(&seed, 5000));
        struct spe_machine_access expected = {0}, met;

        translate(p, 0, page, &expected);
        spe_machine_touch(m, 0, (uint64_t)page * 4096, 8, 0, &met);
        assert_int_equal(met.translation_cycles, expected.translation_cycles);
        assert_int_equal(met.facts & SPE_FACT_TLB_WALK, expected.facts & SPE_FACT_TLB_WALK);
        if (chance(&seed, 5000) == 0) {
            spe_machine_flush_tlb(m, 0);
            plain_flush(p, 0);
        }
    }
    spe_machine_destroy(m);
    free(p);
}

/* ---- What users rely on --------------------------------------------------------------------- */

static struct spe_machine_access touch(struct spe_machine *m, unsigned cpu, uint64_t address,
                                       unsigned how)
{
    struct spe_machine_access met;

    spe_machine_touch(m, cpu, address, 8, how, &met);
    return met;
}

/* Two cpus write to two variables of one line: each finds it modified in the other's cache. */
static void test_false_sharing(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *m = make_machine(&config);
    struct spe_machine_counts counts;

    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        struct spe_machine_access met = touch(m, i % 2, 0x10000 + 8 * (i % 2), 0);

        assert_int_equal(!!(met.facts & SPE_FACT_MODIFIED_SNOOP), i != 0);
        assert_int_equal(!!(met.facts & SPE_FACT_SNOOPED), i != 0);
        assert_int_equal(met.place, i ? SPE_PLACE_PEER : SPE_PLACE_MEMORY);
        touch(m, i % 2, 0x10000 + 8 * (i % 2), SPE_ACCESS_STORE);
    }
    spe_machine_counts(m, 0, &counts);
    assert_int_equal(counts.modified_snoops, 499);
    assert_int_equal(counts.invalidations, 499);
    spe_machine_counts(m, 1, &counts);
    assert_int_equal(counts.modified_snoops, 500);
    assert_int_equal(counts.l1_misses, 500);
    spe_machine_destroy(m);
}

static void test_private_data(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *m = make_machine(&config);

    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        for (unsigned cpu = 0; cpu < 4; cpu++)
            touch(m, cpu, 0x10000 + 64 * cpu, i % 2 ? SPE_ACCESS_STORE : 0);
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        struct spe_machine_counts counts;

        spe_machine_counts(m, cpu, &counts);
        assert_int_equal(counts.accesses, 1000);
        assert_int_equal(counts.l1_misses, 1);
        assert_int_equal(counts.modified_snoops, 0);
        assert_int_equal(counts.invalidations, 0);
    }
    spe_machine_destroy(m);
}

/* Readers of one line do not disturb each other. */
static void test_shared_reads(void **state)
{
    struct spe_machine_config config = preset("small");
    struct spe_machine *m = make_machine(&config);

    (void)state;
    assert_int_equal(touch(m, 0, 0, 0).place, SPE_PLACE_MEMORY); /* socket 0 is its home */
    assert_int_equal(touch(m, 1, 0, 0).place, SPE_PLACE_LLC);
    assert_int_equal(touch(m, 2, 0, 0).place, SPE_PLACE_REMOTE_CACHE);
    assert_int_equal(touch(m, 3, 0, 0).place, SPE_PLACE_PEER); /* cpu 2 is nearer than the home */
    for (unsigned cpu = 0; cpu < 4; cpu++)
        assert_int_equal(touch(m, cpu, 0, 0).facts & ~(unsigned)SPE_FACT_RECENT,
                         SPE_FACT_L1D_ACCESS | SPE_FACT_TLB_ACCESS);
    spe_machine_destroy(m);
}

static void test_recently_fetched(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *m = make_machine(&config);

    (void)state;
    assert_false(touch(m, 0, 0, 0).facts & SPE_FACT_RECENT);
    assert_true(touch(m, 0, 8, 0).facts & SPE_FACT_RECENT);
    assert_false(touch(m, 0, 16, 0).facts & SPE_FACT_RECENT); /* once */
    touch(m, 0, 0x1000, 0);
    for (unsigned i = 1; i < PE_RECENT_FILLS; i++)
        touch(m, 0, 0x1000 + 64 * i, 0);
    assert_true(touch(m, 0, 0x1000, 0).facts & SPE_FACT_RECENT);
    touch(m, 0, 0x2000, 0);
    touch(m, 0, 0x2040, 0);
    assert_false(touch(m, 0, 0x1040, 0).facts & SPE_FACT_RECENT); /* 16 fills ago */
    spe_machine_destroy(m);
}

/* One miss a line on the way through an array; then it is served where it fits. */
static void array(const char *name, uint32_t bytes, unsigned place)
{
    struct spe_machine_config config = preset(name);
    struct spe_machine *m = make_machine(&config);
    struct spe_machine_counts before, after;
    uint64_t lines = bytes / config.line_bytes;

    for (unsigned pass = 0; pass < 3; pass++) {
        spe_machine_counts(m, 0, &before);
        for (uint32_t at = 0; at < bytes; at += 8)
            spe_machine_touch(m, 0, at, 8, 0, NULL);
        spe_machine_counts(m, 0, &after);
        assert_int_equal(after.accesses - before.accesses, bytes / 8);
        if (pass == 0)
            assert_int_equal(after.served[SPE_PLACE_MEMORY], lines);
        else if (place == SPE_PLACE_L1)
            assert_int_equal(after.l1_misses, before.l1_misses);
        else
            assert_int_equal(after.served[place] - before.served[place], lines);
    }
    spe_machine_destroy(m);
}

static void test_arrays(void **state)
{
    (void)state;
    array("neoverse-n1", 64 * 1024, SPE_PLACE_L1);
    array("neoverse-n1", 512 * 1024, SPE_PLACE_L2);
    array("neoverse-n1", 8 * 1024 * 1024, SPE_PLACE_LLC);
    array("small", 1024, SPE_PLACE_L1);
    array("small", 4096, SPE_PLACE_L2);
    array("small", 16384, SPE_PLACE_LLC);
    array("small", 1 << 20, SPE_PLACE_MEMORY);
}

static uint64_t walks(struct spe_machine *m, unsigned pages, unsigned passes)
{
    struct spe_machine_counts before, after;

    spe_machine_counts(m, 0, &before);
    for (unsigned i = 0; i < passes * pages; i++)
        spe_machine_touch(m, 0, (uint64_t)(i % pages) * 4096, 8, 0, NULL);
    spe_machine_counts(m, 0, &after);
    return after.walks - before.walks;
}

static void test_walks(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *m = make_machine(&config);
    struct spe_machine_counts counts;

    (void)state;
    assert_int_equal(walks(m, 48, 10), 48); /* the first level has them all */
    spe_machine_counts(m, 0, &counts);
    assert_int_equal(counts.tlb_l1_misses, 48);
    spe_machine_flush_tlb(m, 0);
    assert_int_equal(walks(m, 1280, 4), 1280); /* the second level has them all */
    spe_machine_flush_tlb(m, 0);
    assert_int_equal(walks(m, 4096, 3), 3 * 4096); /* neither has */
    spe_machine_flush_tlb(m, 0);
    assert_int_equal(walks(m, 1, 1), 1);
    spe_machine_flush_tlb(m, 1); /* another cpu's */
    assert_int_equal(walks(m, 1, 1), 0);
    spe_machine_destroy(m);
}

/* A miss that nobody asks about is waited for like any other. */
static void test_unasked(void **state)
{
    struct spe_machine_config config = preset("small");
    struct spe_machine *asked = make_machine(&config), *unasked = make_machine(&config);
    uint64_t seed = 99;
    unsigned waits = 0;

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t address = chance(&seed, 40) * (8 * 4096 + 64) + chance(&seed, 4) * 4096;
        unsigned how = chance(&seed, 3) ? 0 : SPE_ACCESS_STORE;
        struct spe_operation one = {.kind = SPE_OPERATION_OTHER}, other = one;
        struct spe_machine_access met;

        spe_machine_touch(asked, 0, address, 8, how, &met);
        spe_machine_touch(unasked, 0, address, 8, how, NULL);
        spe_machine_describe(asked, 0, &one, NULL, NULL);
        spe_machine_describe(unasked, 0, &other, NULL, NULL);
        assert_int_equal(one.issue_cycles, other.issue_cycles);
        waits += one.issue_cycles > 1;
    }
    assert_in_range(waits, 1000, 19999);
    spe_machine_destroy(asked);
    spe_machine_destroy(unasked);
}

/* What L2 knew of a line before it was cleaned does not hold when it is written again. */
static void test_cleaned(void **state)
{
    enum { LINE = 0x4000, SAME_SET = 512 };
    static const struct {
        uint64_t address;
        unsigned how;
    } steps[] = {
        {LINE, SPE_ACCESS_STORE}, {LINE + SAME_SET, 0},
        {LINE + 2 * SAME_SET, 0}, {LINE, 0},
        {LINE, SPE_ACCESS_CLEAN}, {LINE, SPE_ACCESS_STORE},
        {LINE + SAME_SET, 0},     {LINE + 2 * SAME_SET, 0},
    };
    struct spe_machine_config config = preset("small");
    struct spe_machine *m = make_machine(&config);
    struct spe_machine_access met;

    (void)state;
    for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        spe_machine_touch(m, 0, steps[i].address, 8, steps[i].how, NULL);
    assert_int_equal(state_in(&m->cpus[0]->l1, LINE), 0);
    spe_machine_touch(m, 1, LINE, 8, 0, &met);
    assert_true(met.facts & SPE_FACT_MODIFIED_SNOOP);
    spe_machine_destroy(m);
}

static void test_crossing(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *m = make_machine(&config);
    struct spe_machine_access met;
    struct spe_machine_counts counts;

    (void)state;
    touch(m, 0, 4096, 0);
    touch(m, 0, 8192, 0);
    spe_machine_flush_tlb(m, 0);
    touch(m, 0, 4096, 0);
    assert_true(spe_machine_touch(m, 0, 8188, 8, 0, &met)); /* two lines, two pages */
    assert_int_equal(met.place, SPE_PLACE_MEMORY);
    assert_true(met.facts & SPE_FACT_TLB_WALK);
    assert_int_equal(met.translation_cycles, 0); /* the slower part is the first */
    assert_int_equal(met.cycles, config.memory_latency);
    spe_machine_counts(m, 0, &counts);
    assert_int_equal(counts.accesses, 5);
    spe_machine_destroy(m);
}

/* Lines of one set whose addresses differ in their high halves alone. */
static void test_far_apart(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *m = make_machine(&config);
    struct spe_machine_access met;

    (void)state;
    for (unsigned round = 0; round < 3; round++)
        for (uint64_t high = 0; high < config.l1d.ways; high++) {
            spe_machine_touch(m, 0, high << 32 | 0x1000, 8, 0, &met);
            assert_int_equal(met.place, round ? SPE_PLACE_L1 : SPE_PLACE_MEMORY);
        }
    spe_machine_destroy(m);
}

/* ---- Configurations ------------------------------------------------------------------------- */

static void refused(const struct spe_machine_config *config, const char *word)
{
    struct spe_machine *m = NULL;
    char why[200] = "";

    assert_int_equal(spe_machine_create(config, &m, why, sizeof(why)), SPE_ERR_INVALID);
    assert_null(m);
    if (!strstr(why, word))
        fail_msg("\"%s\" does not speak of %s", why, word);
    assert_int_equal(spe_machine_create(config, &m, NULL, 0), SPE_ERR_INVALID);
}

static void test_configurations(void **state)
{
    static const struct {
        size_t field;
        uint32_t value;
        const char *word;
    } bad[] = {
        {offsetof(struct spe_machine_config, cpus), 0, "cpus"},
        {offsetof(struct spe_machine_config, cpus), 257, "cpus"},
        {offsetof(struct spe_machine_config, sockets), 0, "sockets"},
        {offsetof(struct spe_machine_config, sockets), 9, "sockets"},
        {offsetof(struct spe_machine_config, cpus), 1, "sockets"},
        {offsetof(struct spe_machine_config, line_bytes), 16, "line_bytes"},
        {offsetof(struct spe_machine_config, line_bytes), 96, "line_bytes"},
        {offsetof(struct spe_machine_config, line_bytes), 512, "line_bytes"},
        {offsetof(struct spe_machine_config, l1d.bytes), 0, "l1d"},
        {offsetof(struct spe_machine_config, l1d.bytes), 1000, "l1d"},
        {offsetof(struct spe_machine_config, l1d.ways), 0, "l1d"},
        {offsetof(struct spe_machine_config, l1d.ways), 33, "l1d"},
        {offsetof(struct spe_machine_config, l2.bytes), 4096 * 3, "l2"},
        {offsetof(struct spe_machine_config, l2.latency), 100001, "l2"},
        {offsetof(struct spe_machine_config, llc.ways), 3, "llc"},
        {offsetof(struct spe_machine_config, l1_tlb_entries), 0, "l1_tlb"},
        {offsetof(struct spe_machine_config, l1_tlb_entries), 65, "l1_tlb"},
        {offsetof(struct spe_machine_config, l2_tlb_ways), 0, "l2_tlb"},
        {offsetof(struct spe_machine_config, l2_tlb_entries), 17, "l2_tlb"},
        {offsetof(struct spe_machine_config, page_bytes), 2048, "page"},
        {offsetof(struct spe_machine_config, page_bytes), 5000, "page"},
        {offsetof(struct spe_machine_config, memory_latency), UINT32_MAX, "memory"},
        {offsetof(struct spe_machine_config, remote_latency), UINT32_MAX, "remote"},
        {offsetof(struct spe_machine_config, snoop_latency), UINT32_MAX, "snoop"},
        {offsetof(struct spe_machine_config, walk_latency), UINT32_MAX, "walk"},
        {offsetof(struct spe_machine_config, l2_tlb_latency), UINT32_MAX, "l2_tlb_latency"},
        {offsetof(struct spe_machine_config, mispredict_cycles), UINT32_MAX, "mispredict"},
        {offsetof(struct spe_machine_config, predictor_bits), 0, "predictor"},
        {offsetof(struct spe_machine_config, predictor_bits), 25, "predictor"},
        {offsetof(struct spe_machine_config, btb_entries), 0, "btb"},
        {offsetof(struct spe_machine_config, btb_entries), 3, "btb"},
        {offsetof(struct spe_machine_config, return_stack), 0, "return"},
        {offsetof(struct spe_machine_config, return_stack), 2000, "return"},
        {offsetof(struct spe_machine_config, issue_width), 0, "issue"},
        {offsetof(struct spe_machine_config, size), 0, "size"},
    };
    struct spe_machine_config config;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        config = preset("small");
        memcpy((char *)&config + bad[i].field, &bad[i].value, sizeof(uint32_t));
        refused(&config, bad[i].word);
    }
    config = preset("neoverse-v2");
    config.cpus = 256;
    config.l2.bytes = 16u << 20;
    refused(&config, "too large");
}

static void test_presets(void **state)
{
    size_t count = 0;

    (void)state;
    for (const char *name; (name = spe_machine_preset_at(count)); count++) {
        struct spe_machine_config config = preset(name);

        spe_machine_destroy(make_machine(&config));
        assert_non_null(spe_machine_preset_sentence(count));
        /* The same data sources as the CPU of that name. */
        for (unsigned i = 0; i < SPE_PLACE_COUNT; i++)
            if (spe_cpu_by_name(name) && spe_cpu_by_name(name)->sources)
                assert_non_null(spe_cpu_source(spe_cpu_by_name(name), config.source[i]));
    }
    assert_int_equal(count, 7);
    assert_null(spe_machine_preset_sentence(count));
    assert_int_equal(spe_machine_config_init(&(struct spe_machine_config){0}, "cray-1"),
                     SPE_ERR_UNKNOWN);
}

static void test_no_such_cpu(void **state)
{
    struct spe_machine_config config = preset("small");
    struct spe_machine *m = make_machine(&config);
    struct spe_machine_counts counts, none = {0};

    (void)state;
    assert_false(spe_machine_touch(m, config.cpus, 0, 8, 0, NULL));
    assert_false(spe_machine_branch(m, config.cpus, 0, SPE_BRANCH_INDIRECT, true, 4));
    spe_machine_flush_tlb(m, config.cpus);
    spe_machine_counts(m, config.cpus, &counts);
    assert_memory_equal(&counts, &none, sizeof(counts));
    spe_machine_destroy(m);
    spe_machine_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_one_socket),
        cmocka_unit_test(test_odd_ways),
        cmocka_unit_test(test_levels_missing),
        cmocka_unit_test(test_one_way),
        cmocka_unit_test(test_many_cpus),
        cmocka_unit_test(test_translation),
        cmocka_unit_test(test_false_sharing),
        cmocka_unit_test(test_private_data),
        cmocka_unit_test(test_shared_reads),
        cmocka_unit_test(test_recently_fetched),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_unasked),
        cmocka_unit_test(test_cleaned),
        cmocka_unit_test(test_crossing),
        cmocka_unit_test(test_far_apart),
        cmocka_unit_test(test_configurations),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_no_such_cpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
