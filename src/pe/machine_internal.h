/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The machine inside. docs/microarchitecture.md says what is modelled; here is who may touch what.
 *
 * A private cache is filled by the thread of its cpu alone. The threads of other cpus only take
 * away: they clear bits of a word that is there, or all of it, and they hold the line's lock
 * meanwhile. So a thread may hit its own L1 without a lock, and everything that is not such a hit
 * happens under the lock of the line. One lock covers all lines that share an index in the
 * outermost private cache and in the LLC: whatever a fill evicts there is under the same lock. A
 * machine that one thread uses alone has nobody to lock out (spe_machine_alone).
 */
#ifndef PE_MACHINE_INTERNAL_H
#define PE_MACHINE_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <specimen/pe.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#if defined(__SANITIZE_THREAD__)
#define PE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define PE_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define PE_THREAD_SANITIZER 0
#endif

struct pe_block;

/* Where the compiler knows the shape of a cache when it sees the caller. */
#define PE_INLINE static inline __attribute__((always_inline))

#define PE_CPUS_MAX 256
#define PE_SOCKETS_MAX 8
#define PE_SHARER_WORDS (PE_CPUS_MAX / 64)
#define PE_TLB_MAX 64      /* entries of the first level: a bit each */
#define PE_TLB_HINTS 256   /* of the second level; a power of two */
#define PE_TLB_CHAINS 128  /* of the first level's hash; a power of two */
#define PE_RECENT_FILLS 16 /* a line is recently fetched among this many fills of its L1 */
#define PE_MISSES 8        /* latest load misses that a later operation may wait for */
#define PE_NO_PAGE UINT64_MAX
#define PE_NO_LINE UINT64_MAX
#define PE_TLB_ROUND (PE_ADDRESS_MASK + 1) /* in a word whose lower bits are an address */
#define PE_HOMES (UINT64_C(1) << 20)       /* pages whose home socket is kept */
#define PE_ADDRESS_MASK (UINT64_MAX >> 8)  /* the top byte is a tag: TBI */

/* A cached line is one word: its address, and in the low and the highest bits its state. */
#define PE_FLIGHT (UINT64_C(1) << 56)     /* it may not have arrived yet: see struct pe_flight */
#define PE_PREFETCHED (UINT64_C(1) << 57) /* nobody has asked for it but a prefetcher */
#define PE_STATE (PE_FLIGHT | PE_PREFETCHED | 31u)
enum {
    PE_VALID = 1u << 0,
    PE_EXCLUSIVE = 1u << 1, /* no other cpu has it */
    PE_MODIFIED = 1u << 2,  /* implies exclusive in a private cache */
    PE_FRESH = 1u << 3,     /* L1 only: not hit since it was filled */
    PE_TOLD = 1u << 4,      /* L1 only: L2 knows that it is modified */

    PE_SHARED_LINE = PE_VALID,
    PE_EXCLUSIVE_LINE = PE_VALID | PE_EXCLUSIVE,
    PE_MODIFIED_LINE = PE_VALID | PE_EXCLUSIVE | PE_MODIFIED,
};

typedef _Atomic uint64_t pe_word;

/* Words by set and way. Replacement is by one bit a way: a use sets it; when all are set, the
 * others are cleared; the victim is the first way without a line, else without the bit. */
struct pe_cache {
    pe_word *words; /* NULL: there is no such cache */
    void *memory;   /* `words` are in it */
    uint32_t *used;
    uint64_t set_mask;
    uint32_t ways, line_shift;
    uint32_t all_used; /* a bit for each way */
};

/* The first level is found by a hash: chains of entries that end with entry PE_TLB_MAX. */
struct pe_tlb {
    uint64_t used; /* as in a cache, of page[] */
    uint64_t all;  /* a bit for each entry */
    uint64_t page[PE_TLB_MAX + 1];
    uint64_t round; /* how often `used` was cleared, in the highest byte */
    uint8_t first[PE_TLB_CHAINS], next[PE_TLB_MAX];
    uint32_t entries, filled;
    pe_word *l2;                   /* NULL: one level. Only its own thread looks at it */
    uint32_t *l2_used;             /* by set */
    uint8_t l2_hint[PE_TLB_HINTS]; /* the way in which a page was last found, or not */
};

struct pe_target {
    uint64_t pc, target;
};

struct pe_predictor {
    uint8_t *bimodal, *gshare, *chooser; /* two-bit counters */
    uint64_t mask;                       /* of their indexes */
    struct pe_target *latest, *by_path;  /* indirect branches */
    uint64_t *stack;
    uint32_t stack_top, stack_depth;
    uint64_t history; /* directions, newest lowest */
    uint64_t path;    /* hash of the latest indirect targets */
};

/* Written by the cpu's own thread; anyone may read. */
struct pe_counts {
    pe_word accesses, l1_misses, l2_misses, llc_misses, tlb_l1_misses, walks;
    pe_word modified_snoops, invalidations;
    pe_word branches, mispredicted;
    pe_word served[SPE_PLACE_COUNT]; /* but L1, which is what remains */
};

struct pe_miss {
    uint64_t at; /* pe_moment() */
    uint32_t cycles;
};

#define PE_TICKS 256 /* in a cycle: clocks count the parts of one */
#define PE_WINDOW_MAX 512
#define PE_LOAD_MISSES_MAX 64
#define PE_STORES_MAX 256
#define PE_STORE_WORDS 256 /* words of memory that are told apart; a power of two */
#define PE_PREFETCH_MAX 64
#define PE_WAITING 24      /* loads in the queue from which they are issued */
#define PE_FLIGHTS 64      /* lines on their way to a cpu; a power of two */
#define PE_STRIDES 64      /* instructions that the first prefetcher knows; a power of two */
#define PE_STREAMS 16      /* that the second one follows */
#define PE_SURE 2          /* times that a prefetcher saw the same before it asks for anything */
#define PE_STRIDE_MAX 2048 /* bytes: further apart, each access would need another page */

/* A line that was asked for. */
struct pe_flight {
    uint64_t line, done; /* ticks */
    uint8_t place;       /* it comes from */
};

/* An operation that the window cannot let go of before `done`. */
struct pe_pending {
    uint64_t number, done;
};

struct pe_pending_ring {
    struct pe_pending at[PE_WINDOW_MAX];
    uint32_t first, end; /* modulo PE_WINDOW_MAX */
};

/* A plain store that may not be in L1 yet: see store_queue.c. */
struct pe_queued_store {
    uint64_t address, end;
    uint64_t data; /* ticks: its registers are known */
    uint64_t left; /* ticks: it is in L1 */
    uint64_t past; /* ticks: ... and a load is like any other that hits L1 */
};

struct pe_store_queue {
    struct pe_queued_store at[PE_STORES_MAX];
    uint32_t first, end;           /* modulo PE_STORES_MAX */
    uint64_t past[PE_STORE_WORDS]; /* ticks: by word of memory, the latest of its stores */
    uint64_t all_past;             /* ticks: the latest of all stores */
};

/*
 * The cpu's time: see window.c. `now` is when the first operation of the block that runs was
 * dispatched. A register is late while a load that missed has not brought what it depends on.
 */
struct pe_window {
    uint64_t now;              /* ticks */
    uint64_t operations;       /* dispatched before the block */
    uint64_t slow_until;       /* ticks: what took longer than L2 does is done */
    uint32_t walk;             /* cycles: the latest access had to look for its page, untimed */
    uint64_t full_at;          /* operations: the window is full then, unless a load is done */
    uint64_t late, late_until; /* registers, ticks */
    uint64_t committed;        /* ticks: the latest of the loads has its data */
    const void *thread;        /* that ran last */
    const struct pe_block *block;
    uint32_t settled;               /* instructions of the block whose registers are known */
    uint32_t step;                  /* ticks from one dispatch to the next */
    uint64_t stores;                /* dispatched before the block */
    uint64_t free[SPE_PLACE_COUNT]; /* ticks: the next line can leave the place. See pe_leaves */
    uint64_t atomic_free;           /* ticks: atomics are made one after the other */
    uint32_t served;                /* the next of served_until */
    uint64_t ready[64];
    uint64_t served_until[PE_LOAD_MISSES_MAX];
    uint64_t waiting[PE_WAITING]; /* until when the latest loads waited for registers: ticks */
    uint32_t waited;
    struct pe_pending_ring loads, stored;
    struct pe_flight flights[PE_FLIGHTS];
    struct pe_store_queue queue;
};

struct pe_stride {
    uint64_t pc, last, ahead;
    int64_t stride;
    uint32_t sure;
};

struct pe_line_stream {
    uint64_t page, last, ahead; /* line numbers */
    int32_t direction;
    uint32_t sure;
};

struct pe_prefetchers {
    struct pe_stride strides[PE_STRIDES];
    struct pe_line_stream streams[PE_STREAMS];
    uint32_t next_stream;
};

struct pe_cpu {
    /* What a hit needs */
    struct pe_cache l1;
    uint8_t *way_hint; /* where a line was last found, by hint_mask: or not */
    uint64_t hint_mask;
    /* By set of L1: the line that was hit last, if another load changes nothing, | 1 if a store
     * does not either, | the TLB's round, in which its page stays used; else PE_NO_LINE. Not true
     * where several threads use the machine. */
    uint64_t *hit_last;
    uint32_t line_bytes, page_shift;
    bool usual; /* its caches have the shape that most have: see machine_fast.h */
    struct pe_counts counts;
    struct pe_tlb tlb;

    struct pe_cache l2;
    const pe_word *filled[PE_RECENT_FILLS]; /* a ring of L1 words, */
    uint32_t fills;                         /* of which the next is this one */
    uint32_t number, socket;

    struct pe_miss misses[PE_MISSES]; /* a ring of loads that missed L1 */
    uint32_t miss_count;
    uint64_t refetched_at; /* pe_moment() of the latest misprediction */
    struct pe_predictor predictor;
    struct pe_window window;
    struct pe_prefetchers prefetchers;
};

struct pe_lock {
    _Alignas(64) atomic_bool taken;
};

/*
 * Which cpus have a line: an exact directory. All lines with the same index in the outermost
 * private caches are in one set, which has room for all that those caches can hold together, and
 * more: it is an open hash table.
 */
struct pe_directory {
    uint64_t *entries; /* line | 1, then a bit for each cpu; 0: free. NULL: there is one cpu */
    uint32_t cpus;     /* that it has room for */
    uint32_t line_shift, set_shift, slot_shift, entry_words;
};

#define PE_TURNS 1024 /* lines that cpus take from each other; a power of two */

/* A line that went from one cpu to another: it can go on when it has arrived. */
struct pe_turn {
    uint64_t line, until; /* ticks */
    uint64_t wanted;      /* ... from when on another cpu may want it; 0: nobody does */
};

struct spe_machine {
    struct spe_machine_config config;
    struct pe_turn turns[PE_TURNS];
    bool has_turns; /* any of them has a line */
    struct pe_cpu **cpus;
    struct pe_cache llc[PE_SOCKETS_MAX];
    struct pe_directory directory;
    struct pe_lock *locks;
    uint64_t lock_mask;
    atomic_uchar *homes; /* 1 + socket by page, of its first access; NULL: one socket */
    uint32_t line_shift, page_shift, tlb_set_mask, target_mask;
    uint32_t cycles[SPE_PLACE_COUNT][2]; /* pe_access_cycles */
    uint64_t intervals[SPE_PLACE_COUNT]; /* ticks between lines that a cpu gets; 0: none */
    uint64_t forward_ticks;              /* that data takes from the store queue to a register */
    uint64_t store_ticks;                /* ... and from there to L1, when its line is there */
    uint64_t past_ticks;                 /* the same, until nobody can tell that it was there */
    bool alone;                          /* see spe_machine_alone */
    bool on_demand;                      /* CPUs are made when a thread needs one */
};

static inline uint64_t pe_get(const pe_word *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

/* Of two times. */
static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* For words that one thread writes and others read. */
static inline void pe_count(pe_word *count, uint64_t n)
{
    atomic_store_explicit(count, pe_get(count) + n, memory_order_relaxed);
}

/* What stands for time where nothing is timed: accesses and branches so far. */
static inline uint64_t pe_moment(const struct pe_cpu *cpu)
{
    return pe_get(&cpu->counts.accesses) + pe_get(&cpu->counts.branches);
}

/* ---- Caches and directory (cache.c, directory.c) -------------------------------------------- */

int pe_cache_init(struct pe_cache *cache, const struct spe_cache_shape *shape, uint32_t line_shift);
void pe_cache_free(struct pe_cache *cache);

/* Clear these bits of the line's word, PE_VALID: all of it. Returns the state before, 0: none. */
uint64_t pe_cache_clear(struct pe_cache *cache, uint64_t line, uint64_t bits);

PE_INLINE pe_word *pe_cache_word(const struct pe_cache *cache, uint64_t line, unsigned way)
{
    return &cache->words[(line >> cache->line_shift & cache->set_mask) * cache->ways + way];
}

/* Acquire: a line that is seen to have left an L1 has left its state in L2 before. */
PE_INLINE uint32_t pe_compare(const pe_word *word, uint64_t mask, uint64_t wanted)
{
    return (atomic_load_explicit(word, memory_order_acquire) & mask) == wanted;
}

/* Which of 4 words are `wanted` in the bits of `mask`. The compiler leaves out a half of which the
 * mask has nothing. */
#if defined(__SSE2__) && !PE_THREAD_SANITIZER
/* Words are as whole in a vector as they are alone, and loads stay in order on this host. */
PE_INLINE __m128i pe_halves_4(const pe_word *words, bool high)
{
    const float *at = (const float *)(uintptr_t)words;
    __m128 first = _mm_loadu_ps(at), second = _mm_loadu_ps(at + 4);

    return _mm_castps_si128(high ? _mm_shuffle_ps(first, second, _MM_SHUFFLE(3, 1, 3, 1))
                                 : _mm_shuffle_ps(first, second, _MM_SHUFFLE(2, 0, 2, 0)));
}

PE_INLINE __m128i pe_compare_halves_4(const pe_word *words, bool high, uint32_t mask,
                                      uint32_t wanted)
{
    __m128i masked = _mm_and_si128(pe_halves_4(words, high), _mm_set1_epi32((int32_t)mask));

    return _mm_cmpeq_epi32(masked, _mm_set1_epi32((int32_t)wanted));
}

/* Which of 4 words are lines: PE_VALID is the lowest bit. */
PE_INLINE uint32_t pe_valid_4(const pe_word *words)
{
    return (uint32_t)_mm_movemask_ps(
        _mm_castsi128_ps(_mm_slli_epi32(pe_halves_4(words, false), 31)));
}

PE_INLINE uint32_t pe_compare_4(const pe_word *words, uint64_t mask, uint64_t wanted)
{
    __m128i low = pe_compare_halves_4(words, false, (uint32_t)mask, (uint32_t)wanted);
    __m128i high =
        pe_compare_halves_4(words, true, (uint32_t)(mask >> 32), (uint32_t)(wanted >> 32));

    atomic_signal_fence(memory_order_acquire);
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_and_si128(low, high)));
}
#else
PE_INLINE uint32_t pe_compare_4(const pe_word *words, uint64_t mask, uint64_t wanted)
{
    return pe_compare(&words[0], mask, wanted) | pe_compare(&words[1], mask, wanted) << 1 |
           pe_compare(&words[2], mask, wanted) << 2 | pe_compare(&words[3], mask, wanted) << 3;
}

PE_INLINE uint32_t pe_valid_4(const pe_word *words)
{
    return pe_compare_4(words, PE_VALID, PE_VALID);
}
#endif

/* Of so many words. All are looked at: where a loop ends that finds the one is hard to predict for
 * the host. */
PE_INLINE uint32_t pe_compare_all(const pe_word *words, uint32_t count, uint64_t mask,
                                  uint64_t wanted)
{
    uint32_t equal = 0, i = 0;

    for (; i + 4 <= count; i += 4)
        equal |= pe_compare_4(&words[i], mask, wanted) << i;
    for (; i < count; i++)
        equal |= pe_compare(&words[i], mask, wanted) << i;
    return equal;
}

/* The line's way, or -1. Lines of one set hardly ever have the same low half. */
PE_INLINE int pe_cache_find(const struct pe_cache *cache, uint64_t line)
{
    const uint64_t mask = ~(uint64_t)(PE_STATE & ~PE_VALID), wanted = line | PE_VALID;
    const pe_word *words = pe_cache_word(cache, line, 0);
    uint32_t found = pe_compare_all(words, cache->ways, (uint32_t)mask, (uint32_t)wanted);

    if (found && !pe_compare(&words[__builtin_ctz(found)], mask, wanted))
        found = pe_compare_all(words, cache->ways, mask, wanted);
    return found ? __builtin_ctz(found) : -1;
}

/* The set is looked at soon: the host fetches it now. */
PE_INLINE void pe_cache_fetch_set(const struct pe_cache *cache, uint64_t line)
{
    for (uint32_t way = 0; cache->words && way < cache->ways; way += 64 / sizeof(pe_word))
        __builtin_prefetch(pe_cache_word(cache, line, way));
}

/* The ways of the line's set that have a line, a bit each. */
PE_INLINE uint32_t pe_cache_valid(const struct pe_cache *cache, uint64_t line)
{
    const pe_word *words = pe_cache_word(cache, line, 0);
    uint32_t valid = 0, i = 0;

    for (; i + 4 <= cache->ways; i += 4)
        valid |= pe_valid_4(&words[i]) << i;
    for (; i < cache->ways; i++)
        valid |= pe_compare(&words[i], PE_VALID, PE_VALID) << i;
    return valid;
}

PE_INLINE unsigned pe_cache_victim(const struct pe_cache *cache, uint64_t line)
{
    uint32_t valid = pe_cache_valid(cache, line);
    uint32_t used = cache->used[line >> cache->line_shift & cache->set_mask];

    if (cache->ways == 1)
        return 0;
    return (unsigned)__builtin_ctz(~(valid == cache->all_used ? used : valid));
}

PE_INLINE void pe_cache_use(const struct pe_cache *cache, uint64_t line, unsigned way)
{
    uint32_t *used = &cache->used[line >> cache->line_shift & cache->set_mask];
    uint32_t bit = UINT32_C(1) << way, after = *used | bit;

    /* Nobody can foresee whether it is the last bit: no branch. */
    *used = after == cache->all_used ? bit : after;
}

int pe_directory_init(struct pe_directory *directory, const struct pe_cache *outermost,
                      uint32_t cpus);
void pe_directory_free(struct pe_directory *directory);
/* Room for at least so many cpus, while nobody else uses it. `outermost` is that of the first. */
int pe_directory_grow(struct pe_directory *directory, const struct pe_cache *outermost,
                      uint32_t cpus);
/* The bits of the cpus that have the line; NULL: none has. Valid until the next change. Of one cpu
 * alone: that may have it. */
const uint64_t *pe_directory_find(const struct pe_directory *directory, uint64_t line);
void pe_directory_add(struct pe_directory *directory, uint64_t line, unsigned cpu);
void pe_directory_remove(struct pe_directory *directory, uint64_t line, unsigned cpu);

/* ---- Cpus that come when they are needed (machine.c) ---------------------------------------- */

/* spe_machine_create with the first of the cpus alone. Each other one has to be asked for, while
 * nobody else uses the machine; NULL without memory. */
int pe_machine_create(const struct spe_machine_config *config, struct spe_machine **machine,
                      char *why, size_t why_size);
struct pe_cpu *pe_machine_cpu(struct spe_machine *machine, unsigned number);

/* ---- Accesses (machine.c, coherence.c, tlb.c) ----------------------------------------------- */

/* A plain load or store whose result nobody asks for. Did it miss? */
bool pe_touch(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t address, uint32_t bytes,
              bool store);

/* An access of several parts is as slow as the slowest, with the facts of all. */
void pe_merge_access(struct spe_machine_access *whole, const struct spe_machine_access *part);

/* spe_machine_describe, of an operation that waited so many cycles for issue. */
void pe_describe(const struct spe_machine_config *config, struct spe_operation *op,
                 struct spe_memory_access *accesses, const struct spe_machine_access *met,
                 uint32_t wait);

/* One line; met has what translation found and gets the rest. */
void pe_access_line(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line, unsigned how,
                    struct spe_machine_access *met);
/* pe_access_line for the plain load or store that misses L1 and finds in L2 all it needs, if it is
 * such a one; else nothing has happened. */
bool pe_refill(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line, bool store,
               uint32_t translation_cycles);
/* A line leaves L1 that L2 has too, and does not know to be modified. */
void pe_leave_l1(const struct spe_machine *machine, const struct pe_cpu *cpu, uint64_t line);
bool pe_held_by_others(const struct spe_machine *machine, const struct pe_cpu *cpu, uint64_t line);
void pe_maintain_line(struct spe_machine *machine, uint64_t line, unsigned how,
                      struct spe_machine_access *met);

/* All bits but one were cleared: what is noted of pages counts no more. */
void pe_tlb_next_round(struct pe_cpu *cpu);

PE_INLINE void pe_tlb_use(struct pe_cpu *cpu, unsigned entry)
{
    struct pe_tlb *tlb = &cpu->tlb;
    uint64_t bit = UINT64_C(1) << entry;

    /* Nobody can foresee whether the bit is new: no branch. */
    tlb->used |= bit;
    if (__builtin_expect(tlb->used == tlb->all, 0)) {
        tlb->used = bit;
        pe_tlb_next_round(cpu);
    }
}

int pe_tlb_init(struct pe_cpu *cpu, const struct spe_machine_config *config);
void pe_tlb_free(struct pe_tlb *tlb);
void pe_tlb_flush(struct pe_cpu *cpu, const struct spe_machine_config *config);
/* The page is not the first of its chain in the first level. Returns the cycles that that adds. */
uint64_t pe_translate_other(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t page);
/* Did the first level have it? */
bool pe_translate(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t address,
                  struct spe_machine_access *met);

/* A prefetcher asks for a line: for L2, or L1 too. `met` gets cycles until it is there and where it
 * comes from. False: it is there, or with another cpu, whom prefetchers leave alone. */
bool pe_prefetch_line(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t line, bool into_l1,
                      struct spe_machine_access *met);

/* Told beside the facts, within the model only. */
#define PE_MET_FLIGHT (UINT32_C(1) << 31) /* the line may still be on its way */
#define PE_MET_FIRST (UINT32_C(1) << 30)  /* first use of a line that a prefetcher asked for */
#define PE_MET (PE_MET_FLIGHT | PE_MET_FIRST)

/* ---- Stores and the loads behind them (store_queue.c) ---------------------------------------- */

struct pe_site;

/* A store was issued and its line will be there then; 0: it is. If it `forwards`, and its line is
 * not one that cpus take from each other, loads behind it may have its data. */
void pe_stored(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t address,
               uint32_t bytes, bool forwards, uint64_t issued, uint64_t done);
/* These bytes were stored in a way of which loads are told nothing. */
void pe_forget_stores(struct pe_cpu *cpu, uint64_t address, uint32_t bytes);
/* A plain load that was issued and whose line is there at `done` may meet a store. Returns when its
 * data is there, 0: at once, and puts that into `met`. */
uint64_t pe_load_behind_stores(const struct spe_machine *machine, struct pe_cpu *cpu,
                               uint64_t address, uint32_t bytes, uint64_t issued, uint64_t done,
                               struct spe_machine_access *met);

/* Until when a store may be in a word of memory, of 8 bytes. */
static inline uint64_t *pe_past_of(struct pe_store_queue *queue, uint64_t word)
{
    return &queue->past[word & (PE_STORE_WORDS - 1)];
}

static inline bool pe_may_meet_store(struct pe_cpu *cpu, uint64_t address, uint32_t bytes)
{
    if (cpu->window.queue.all_past <= cpu->window.now)
        return false;
    for (uint64_t word = address >> 3; word < (address + bytes + 7) >> 3; word++)
        if (*pe_past_of(&cpu->window.queue, word) > cpu->window.now)
            return true;
    return false;
}

/* ---- Time (window.c, prefetch.c) ------------------------------------------------------------- */

/* One access of a block's instruction, in modelled time. `met` has what a sample tells. */
void pe_timed_access(struct spe_machine *machine, struct pe_cpu *cpu, const struct pe_site *site,
                     uint64_t address, uint32_t bytes, unsigned how,
                     struct spe_machine_access *met);
/* The same for a plain load or store of one line that hits L1, or L2 where nothing is on its way,
 * and that nobody wants to hear of; false: it is not such a one, and nothing has happened. */
bool pe_timed_quick(struct spe_machine *machine, struct pe_cpu *cpu, const struct pe_site *site,
                    uint64_t address, uint32_t bytes, bool store);
/* The plain load or store was made, and its page had to be looked for: so many cycles in all. */
void pe_timed_walk(const struct spe_machine *machine, struct pe_cpu *cpu,
                   const struct pe_site *site, bool store, uint64_t cycles);
/* pe_timed_access for a store that was dispatched before and is made at that time: ticks. Returns
 * when it is in the line, 0: at once. */
uint64_t pe_timed_store(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t pc,
                        uint64_t address, uint32_t bytes, uint64_t issued,
                        struct spe_machine_access *met);
/* The cpu's store of that number leaves the store queue then: ticks. They do so in order. */
void pe_window_stored(struct pe_cpu *cpu, uint64_t number, uint64_t done);
/* The block's store, which so many of the cpu's were dispatched before, is dispatched when the
 * store queue has room. Returns when it can ask for its line, if its data is known: in the next
 * cycle, behind the loads that were dispatched with it. */
uint64_t pe_window_queue_store(const struct spe_machine *machine, struct pe_cpu *cpu,
                               const struct pe_site *site, uint64_t number);
/* The next block begins, so many ticks behind the last one if it waits for nothing. Where the
 * branch at the end of that is known to have been mispredicted, that is over first. */
void pe_window_begin(struct spe_machine *machine, struct pe_cpu *cpu, const struct pe_block *block,
                     uint64_t ticks, bool mispredicted);
/* Follow the registers that are late to the end of the block. */
void pe_window_settle(struct pe_cpu *cpu);
/* The window was not followed for so many ticks and operations: what it waited for before, it waits
 * for now. */
void pe_window_carry(struct pe_cpu *cpu, uint64_t ticks, uint64_t operations);
/* A thread goes on that is in this block. Has another run on the cpu since it did? */
bool pe_window_resume(struct pe_cpu *cpu, const void *thread, const struct pe_block *block);
/* The thread is gone. Another may be in the same memory later. */
void pe_window_leave(struct pe_cpu *cpu, const void *thread);
/* The block's load has its data from L2. Nobody waits for that, but for who served it. */
void pe_window_serve(const struct spe_machine *machine, struct pe_cpu *cpu,
                     const struct pe_site *site);
/* Does the block's instruction wait for its registers? */
bool pe_window_is_late(struct pe_cpu *cpu, const struct pe_site *site);
/* Cycles that the block's instruction waits for its registers. */
uint32_t pe_window_wait(struct pe_cpu *cpu, const struct pe_site *site);
/* When the block's instruction has what it reads: ticks. */
uint64_t pe_window_issue(struct pe_cpu *cpu, const struct pe_site *site);
/* Nothing ran until then. */
void pe_window_sleep(struct pe_cpu *cpu, uint64_t until);

/* The line was missed, or was waiting for its first use: learn, and ask for what comes next.
 * `outside`: L2 did not have it either, or from a prefetcher. `store`: nobody waits for what L2
 * has, and it is not counted among the lines that leave L2. `when`: ticks. pc 0: not known. */
void pe_prefetch(struct spe_machine *machine, struct pe_cpu *cpu, uint64_t pc, uint64_t address,
                 bool outside, bool store, uint64_t when);
/* The instruction's stride is sure: ask for what comes next. */
void pe_go_by_stride(struct spe_machine *machine, struct pe_cpu *cpu, struct pe_stride *s,
                     uint64_t address, uint64_t when, bool store);
/* When the line can be taken from the cpu that is about to get it; 0: at once. */
uint64_t pe_turn(struct spe_machine *machine, uint64_t line);
/* A cpu waits for the line until then. Those that have it look at pe_wanted from now on, before
 * they use it: what they do later than that, they do after the other cpus. */
void pe_want(struct spe_machine *machine, uint64_t line, uint64_t when);
void pe_unwant(struct spe_machine *machine, uint64_t line);
/* From when on another cpu may want the line; UINT64_MAX: nobody does. */
uint64_t pe_wanted(const struct spe_machine *machine, uint64_t line);

/* Where a line on its way is noted, if it is. */
PE_INLINE struct pe_flight *pe_flight_at(struct pe_cpu *cpu, unsigned line_shift, uint64_t line)
{
    return &cpu->window.flights[line >> line_shift & (PE_FLIGHTS - 1)];
}

static inline struct pe_flight *pe_flight_of(struct pe_cpu *cpu, uint64_t line)
{
    return pe_flight_at(cpu, cpu->l1.line_shift, line);
}

/* The line comes from that place and will be there then. */
static inline void pe_flight_add(struct pe_cpu *cpu, uint64_t line, uint64_t done, unsigned place)
{
    *pe_flight_of(cpu, line) = (struct pe_flight){line, done, (uint8_t)place};
}

/*
 * When the line that is asked for at that time can leave the place for the cpu. Lines are asked for
 * in the order of the program, not of time: one that waits for registers takes its part of what the
 * place can give, and does not hold up those behind it that are asked for before.
 */
static inline uint64_t pe_leaves(const struct spe_machine *machine, struct pe_cpu *cpu,
                                 unsigned place, uint64_t when)
{
    struct pe_window *w = &cpu->window;
    uint64_t *next = &w->free[place == SPE_PLACE_REMOTE_MEMORY ? SPE_PLACE_MEMORY : place];
    uint64_t leaves = when > *next ? when : *next;

    if (!machine->intervals[place])
        return when;
    *next = (*next > w->now ? *next : w->now) + machine->intervals[place];
    return leaves;
}

/* ---- Prediction (predictor.c) --------------------------------------------------------------- */

/* Two-bit counters, from sure that not to sure that yes. */
enum {
    PE_WEAK = 1, /* says no, and changes its mind at once */
    PE_STRONG = 3,
};

static inline bool pe_says_yes(uint8_t counter)
{
    return counter > PE_WEAK;
}

/* From tables: nobody can foresee what a program that is hard to foresee teaches, nor which branch
 * the host would take here. */
static inline void pe_teach(uint8_t *counter, bool yes)
{
    static const uint8_t taught[PE_STRONG + 1][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};

    *counter = taught[*counter][yes];
}

/* Whom to believe next time, if they were right: where both were, or neither, that tells nothing.
 */
static inline uint8_t pe_choose(uint8_t chooser, bool plain, bool shared)
{
    static const uint8_t chosen[PE_STRONG + 1][2][2] = {
        {{0, 1}, {0, 0}}, {{1, 2}, {0, 1}}, {{2, 3}, {1, 2}}, {{3, 3}, {2, 3}}};

    return chosen[chooser][plain][shared];
}

/* Was the direction foreseen? `word`: the branch's address in words, or the lower bits of that. */
PE_INLINE bool pe_direction(struct pe_predictor *p, uint64_t word, bool taken)
{
    uint64_t history = p->history;
    uint8_t *by_pc = &p->bimodal[word & p->mask];
    uint8_t *by_history = &p->gshare[(word ^ history) & p->mask];
    uint8_t *chooser = &p->chooser[word & p->mask], believed = *chooser;
    bool plain = pe_says_yes(*by_pc) == taken, shared = pe_says_yes(*by_history) == taken;

    p->history = history << 1 | taken;
    pe_teach(by_pc, taken);
    pe_teach(by_history, taken);
    *chooser = pe_choose(believed, plain, shared);
    return pe_says_yes(believed) ? shared : plain;
}

/* spe_machine_branch in modelled time, in which nobody asks when the latest one was mispredicted.
 */
bool pe_branch(const struct spe_machine *machine, struct pe_cpu *cpu, uint64_t pc, unsigned kind,
               bool taken, uint64_t target);

int pe_predictor_init(struct pe_predictor *predictor, const struct spe_machine_config *config);
void pe_predictor_free(struct pe_predictor *predictor);

/* ---- Configuration and latencies (machine_config.c, latency.c) ------------------------------ */

/* Cycles from issue to data, for data from that place. `snooped`: another core's cache was asked.
 */
uint32_t pe_access_cycles(const struct spe_machine_config *config, unsigned place, bool snooped);

static inline unsigned pe_log2(uint64_t power)
{
    return (unsigned)__builtin_ctzll(power);
}

#endif
