/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The parts of a processing element (PE) that the unit needs: the classification of A64
 * instructions for SPE, and a model of caches, TLB and branch prediction.
 *
 *   instructions   spe_a64_classify, spe_a64_evaluate   pure functions of the word and registers
 *   machine        spe_machine_*                        docs/microarchitecture.md
 *
 * Both describe operations as struct spe_operation of spu.h. Neither depends on an emulator.
 */
#ifndef SPECIMEN_PE_H
#define SPECIMEN_PE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "error.h"
#include "spu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- A64 instructions ----------------------------------------------------------------------- */

/* How an instruction forms the address of its access. */
enum spe_a64_address {
    SPE_A64_NO_ADDRESS,
    SPE_A64_BASE,          /* [Xn|SP]; also post-indexed forms */
    SPE_A64_BASE_OFFSET,   /* [Xn|SP, #offset]; also pre-indexed forms */
    SPE_A64_BASE_REGISTER, /* [Xn|SP, Rm, extend #shift] */
    SPE_A64_BASE_VL,       /* [Xn|SP, #offset, MUL VL]: the offset is in units of `scale` bytes for
                              128-bit vectors */
    SPE_A64_LITERAL,       /* PC + offset */
    SPE_A64_REGISTER,      /* Xt of DC, IC, AT, GCSSS1: `base`, 31 is XZR */
    SPE_A64_VECTOR_ADDRESSES, /* SVE gather and scatter: Z`index` and, if any, X`base` */
    SPE_A64_MEMORY_COPY,      /* CPY, CPYF: to [Xd] `base` from [Xs] `index` */
    SPE_A64_MEMORY_SET        /* SET, SETG: to [Xd] `base` */
};

#define SPE_A64_NO_REGISTER 0xff

/*
 * One classified instruction word, with everything that the word alone determines. Values that
 * depend on registers or memory are zero in `operation` (accesses, taken, indirect targets).
 */
struct spe_a64 {
    uint32_t word;
    bool allocated;   /* an instruction that this library knows; else its kind is OTHER */
    bool load, store; /* it reads or writes memory (atomics: both); prefetch, CMO, AT: neither */
    bool branch;      /* it may change the PC: direct, indirect, ERET; not exceptions */
    bool ends_block;  /* the next instruction in memory is not always executed next: branch, SVC,
                         HVC, SMC, BRK, HLT, ERET, UDF */
    bool writes_memory_unconditionally; /* a store that is neither exclusive nor compare-and-swap */

    /* Address and size of the access, if load, store, CMO, prefetch, AT or DC ZVA */
    uint8_t address; /* enum spe_a64_address */
    uint8_t base;    /* Xn; 31 is SP; SPE_A64_NO_REGISTER: none */
    uint8_t index;   /* BASE_REGISTER: Xm, 31 is XZR; VECTOR_ADDRESSES: Zm */
    uint8_t extend;  /* option field of extended register forms: 0b010 UXTW, 0b011 LSL ... */
    uint8_t shift;   /* of the index */
    uint32_t scale;  /* BASE_VL */
    int64_t offset;
    uint32_t bytes;        /* size of the whole contiguous access; 0: depends on registers */
    uint8_t element_bytes; /* SIMD structures, SVE: size of an element in memory */
    uint8_t lane_bytes;    /* SVE, SME: size of an element in the vector, if predicated */
    uint8_t predicate;     /* Governing predicate Pg or PNg, if operation.predicated */
    bool authenticated; /* the base or target register holds a signed pointer: LDRAA, BRAA, RETAA */
    bool rounds_down;   /* the access starts at a multiple of its size: DC ZVA, Tags */

    /* Branches */
    bool direct; /* target = pc + displacement */
    int64_t displacement;
    uint8_t target_register; /* indirect: Xn */
    uint8_t condition;       /* B.cond, BC.cond, CSEL, CCMP ...: the four bits */
    bool has_condition;      /* `condition` is valid (not for CBZ, TBZ) */

    struct spe_operation operation; /* kind, registers, flags; pc is not set */
};

/* Classify a word. Never fails: an unallocated word is OTHER with allocated false. Fields that
 * depend on the vector length use `vl_bits` (128 to 2048; 0: 128). */
SPE_API void spe_a64_classify_sized(uint32_t word, uint32_t vl_bits, struct spe_a64 *insn,
                                    size_t size);

static inline void spe_a64_classify(uint32_t word, uint32_t vl_bits, struct spe_a64 *insn)
{
    spe_a64_classify_sized(word, vl_bits, insn, sizeof(*insn));
}

/* The registers of a PE before an instruction. A NULL callback: not known. */
struct spe_a64_registers {
    size_t size; /* written by spe_a64_registers_init */
    void *user;
    uint64_t (*x)(void *user, unsigned n); /* 0 to 30; 31 is SP */
    unsigned (*nzcv)(void *user);          /* N is bit 3, V is bit 0 */
    /* Z and P registers: fill all of out; false: not known. */
    bool (*z)(void *user, unsigned n, uint8_t *out, size_t size);
    bool (*p)(void *user, unsigned n, uint8_t *out, size_t size);
    uint32_t zva_bytes; /* the size of DC ZVA, from DCZID_EL0; 0: 64 */
    uint32_t tag_bytes; /* bytes whose tags LDGM, STGM, STZGM transfer, from GMID_EL1; 0: 64 */
};

/* Nothing is known. */
static inline void spe_a64_registers_init(struct spe_a64_registers *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

#define SPE_A64_ACCESSES_MAX 256 /* bytes of a 2048-bit vector */

/*
 * Fill in the values that registers determine: branch taken, target and condition_failed;
 * conditional select and compare; addresses and sizes of accesses; predication. Unknown values stay
 * as classified. All of `op` is written, from insn->operation and pc. Its accesses are in
 * `accesses`, at most SPE_A64_ACCESSES_MAX: one for a contiguous access, one per element for gather
 * and scatter (inactive elements are marked), two for instructions that read and write different
 * places. If a contiguous access begins with inactive elements, these are one access and the rest
 * is another. The single access of an atomic is not marked as a store. Returns a set of
 * SPE_A64_KNOWS_*.
 */
enum {
    SPE_A64_KNOWS_ADDRESS = 1u << 0,   /* all accesses have their addresses */
    SPE_A64_KNOWS_BRANCH = 1u << 1,    /* taken and target */
    SPE_A64_KNOWS_CONDITION = 1u << 2, /* condition_failed of a conditional operation */
    SPE_A64_KNOWS_PREDICATE = 1u << 3,
};
SPE_API unsigned spe_a64_evaluate_sized(const struct spe_a64 *insn, size_t insn_size, uint64_t pc,
                                        const struct spe_a64_registers *registers,
                                        struct spe_operation *op, size_t op_size,
                                        struct spe_memory_access *accesses);

static inline unsigned spe_a64_evaluate(const struct spe_a64 *insn, uint64_t pc,
                                        const struct spe_a64_registers *registers,
                                        struct spe_operation *op,
                                        struct spe_memory_access *accesses)
{
    return spe_a64_evaluate_sized(insn, sizeof(*insn), pc, registers, op, sizeof(*op), accesses);
}

/*
 * The registers that the instruction reads and writes, for data-flow analysis: bit n is Xn (0 to
 * 30), SPE_A64_USES_FLAGS is the condition flags, bit 32 + n is Vn and Zn. Other registers are in
 * neither set: SP, XZR, predicates, FFR, ZA, ZT0, system registers. A register is read if any part
 * of it may be read: an instruction that merges, accumulates or writes one lane also reads its
 * destination. Registers written by exceptions and changes of the streaming mode are not included.
 * An unallocated word has no registers.
 */
#define SPE_A64_USES_FLAGS (UINT64_C(1) << 31)
SPE_API void spe_a64_uses_sized(const struct spe_a64 *insn, size_t size, uint64_t *reads,
                                uint64_t *writes);

static inline void spe_a64_uses(const struct spe_a64 *insn, uint64_t *reads, uint64_t *writes)
{
    spe_a64_uses_sized(insn, sizeof(*insn), reads, writes);
}

/* ---- The machine: caches, TLB, prediction, latencies ---------------------------------------- */

struct spe_machine;

struct spe_cache_shape {
    uint32_t bytes, ways; /* bytes is a power of two times ways; ways 1 to 32 */
    uint32_t latency;     /* cycles from issue of a load to its data */
};

/* A prefetcher: how many lines it requests at a time, and how many lines it runs ahead. */
struct spe_prefetch_shape {
    uint32_t degree, distance; /* distance 0: no prefetcher; at most 64 */
};

struct spe_machine_config {
    size_t size;                         /* written by spe_machine_config_init */
    uint32_t cpus;                       /* 1 to 256 */
    uint32_t sockets;                    /* 1 to 8; cpus are spread evenly, first socket first */
    uint32_t line_bytes;                 /* 32 to 256 */
    struct spe_cache_shape l1d, l2, llc; /* llc: one per socket; bytes 0: no such level */
    uint32_t l1_tlb_entries;             /* 1 to 64, fully associative */
    uint32_t l2_tlb_entries;             /* 0: no second level; else a power of two times ways */
    uint32_t l2_tlb_ways;                /* 1 to 32 */
    uint32_t page_bytes;                 /* a power of two, from 4096 */
    uint32_t l2_tlb_latency;             /* cycles of a translation that hits in the L2 TLB */
    uint32_t walk_latency;               /* cycles of a table walk */
    uint32_t memory_latency;             /* cycles from issue of a load to its data */
    uint32_t remote_latency;             /* added for another socket */
    uint32_t snoop_latency;              /* added for another core's cache */
    uint32_t predictor_bits;             /* log2 of the direction tables' size, 1 to 24 */
    uint32_t btb_entries;                /* indirect targets: a power of two */
    uint32_t return_stack;               /* entries, from 1 */
    uint32_t mispredict_cycles;
    uint32_t issue_width;
    uint32_t window;          /* operations between dispatch and commit, 1 to 512 */
    uint32_t load_misses;     /* maximum L1 misses in flight, 1 to 64 */
    uint32_t store_queue;     /* maximum stores that wait for their lines, 1 to 256 */
    uint32_t memory_interval; /* minimum cycles between two lines that one cpu gets from memory */
    struct spe_prefetch_shape l1_prefetch; /* follows the stride of each instruction */
    struct spe_prefetch_shape l2_prefetch; /* follows streams of lines within a page */
    /* The data source value (D18.2.4) of each place; SPE_MACHINE_NO_SOURCE: none. These are the
     * CPU's own values, so the unit must have data_source_map_count 0. */
    uint16_t source[8];                 /* by enum spe_machine_place */
    uint32_t l2_interval, llc_interval; /* as memory_interval, for lines from these caches */
    /* Cycles of a load of bytes that a store in the queue has. forward_latency: the load gets them
     * from there. forward_failure: it cannot, and the store hits L1. 0: as an L1 hit. */
    uint32_t forward_latency, forward_failure;
};

#define SPE_MACHINE_NO_SOURCE 0xffff

enum spe_machine_place {
    SPE_PLACE_L1,
    SPE_PLACE_L2,
    SPE_PLACE_PEER, /* another core's cache, same socket */
    SPE_PLACE_LLC,
    SPE_PLACE_REMOTE_CACHE, /* another socket's */
    SPE_PLACE_MEMORY,
    SPE_PLACE_REMOTE_MEMORY,
    SPE_PLACE_COUNT
};

/* Called by spe_machine_config_init after it has set the size. */
SPE_API int spe_machine_config_preset(struct spe_machine_config *config, const char *preset);

/* Presets: "neoverse-n1", "neoverse-v2" ... (spe_spu_config_init uses the same names) with 8 cpus
 * on one socket, and "small" for tests. NULL is the first preset. SPE_ERR_UNKNOWN. */
static inline int spe_machine_config_init(struct spe_machine_config *config, const char *preset)
{
    config->size = sizeof(*config);
    return spe_machine_config_preset(config, preset);
}
SPE_API const char *spe_machine_preset_at(size_t i);
SPE_API const char *spe_machine_preset_sentence(size_t i);

/* Settings by name ("l2", "page", "sockets" ...), and a sentence about each; NULL past the last. A
 * value is a number; a size may end with K, M or G. SPE_ERR_UNKNOWN: the key does not exist;
 * SPE_ERR_INVALID with a sentence in `why`. validate checks the settings together: SPE_OK, or
 * SPE_ERR_INVALID with a sentence. */
SPE_API const char *spe_machine_key_at(size_t i);
SPE_API const char *spe_machine_key_sentence(size_t i);
SPE_API int spe_machine_config_set(struct spe_machine_config *config, const char *key,
                                   const char *value, char *why, size_t why_size);
SPE_API int spe_machine_config_validate(const struct spe_machine_config *config, char *why,
                                        size_t why_size);

/* config is copied. SPE_ERR_INVALID with a sentence in `why`, SPE_ERR_NOMEM. */
SPE_API int spe_machine_create(const struct spe_machine_config *config,
                               struct spe_machine **machine, char *why, size_t why_size);
SPE_API void spe_machine_destroy(struct spe_machine *machine);

/* Threads: several threads may call the functions with a `cpu` at the same time for different cpus,
 * and spe_machine_counts for any cpu. A call for a cpu that the machine does not have does nothing.
 */

enum { /* kinds of access, or-ed */
       SPE_ACCESS_STORE = 1u << 0,
       SPE_ACCESS_ATOMIC =
           1u << 1, /* read and write of one operation: takes the line exclusively */
       SPE_ACCESS_PREFETCH = 1u << 2,
       SPE_ACCESS_PREFETCH_FOR_STORE = 1u << 3,
       SPE_ACCESS_CLEAN = 1u << 4, /* cache maintenance by VA */
       SPE_ACCESS_INVALIDATE = 1u << 5,
};

/* The result of one access. */
struct spe_machine_access {
    uint32_t facts;                      /* SPE_FACT_* */
    uint8_t place;                       /* enum spe_machine_place that served it */
    bool asked;                          /* another cpu's cache was snooped for the line */
    uint32_t translation_cycles, cycles; /* translation latency; total from issue to completion */
};

/*
 * One access goes through translation, caches and coherence. `result` may be NULL if the
 * caller only wants the access to change the caches. An access that crosses lines or pages touches
 * all of them: the result has the time of the slowest part and the facts of all parts. Returns true
 * if the access missed the L1 data cache or the first-level TLB.
 */
SPE_API bool spe_machine_touch(struct spe_machine *machine, unsigned cpu, uint64_t address,
                               uint32_t bytes, unsigned how, struct spe_machine_access *result);

enum { /* kinds of branch, or-ed */
       SPE_BRANCH_CONDITIONAL = 1u << 0,
       SPE_BRANCH_INDIRECT = 1u << 1,
       SPE_BRANCH_LINK = 1u << 2,
       SPE_BRANCH_RETURN = 1u << 3,
};
/* Execute a branch: predict, compare, train the predictor. Returns true if it was mispredicted. */
SPE_API bool spe_machine_branch(struct spe_machine *machine, unsigned cpu, uint64_t pc,
                                unsigned kind, bool taken, uint64_t target);

/* A context switch, exec or TLB invalidation on that cpu. */
SPE_API void spe_machine_flush_tlb(struct spe_machine *machine, unsigned cpu);

/*
 * Complete the description of a sampled operation: facts, sources and times of its accesses, and
 * the cycles of all stages, according to its kind. `accesses` is the array that op->accesses points
 * to; `met` has the result of spe_machine_touch for each access. op->mispredicted must be set
 * already.
 */
SPE_API void spe_machine_describe(const struct spe_machine *machine, unsigned cpu,
                                  struct spe_operation *op, struct spe_memory_access *accesses,
                                  const struct spe_machine_access *met);

/* Exact counts of one cpu since creation. An access that touches two lines counts as two; cache
 * maintenance does not count. */
struct spe_machine_counts {
    uint64_t accesses, l1_misses, l2_misses, llc_misses, tlb_l1_misses, walks;
    uint64_t modified_snoops; /* requests of this cpu for lines that another cpu had modified */
    uint64_t invalidations;   /* copies in other cpus that its requests invalidated */
    uint64_t branches, mispredicted;
    uint64_t served[8]; /* by enum spe_machine_place; their sum is accesses */
};
SPE_API void spe_machine_counts_sized(const struct spe_machine *machine, unsigned cpu,
                                      struct spe_machine_counts *counts, size_t size);

static inline void spe_machine_counts(const struct spe_machine *machine, unsigned cpu,
                                      struct spe_machine_counts *counts)
{
    spe_machine_counts_sized(machine, cpu, counts, sizeof(*counts));
}

#ifdef __cplusplus
}
#endif
#endif
