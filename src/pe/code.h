/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Straight pieces of code, as whoever runs them found them: what the model has to know of an
 * instruction before it runs.
 */
#ifndef PE_CODE_H
#define PE_CODE_H

#include <specimen/pe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pe_block;
struct pe_site_counts;

/* One instruction. */
struct pe_site {
    struct pe_block *block;
    uint64_t pc;
    uint64_t reads, writes; /* registers: spe_a64_uses */
    uint32_t word;
    uint32_t id;     /* dense, over all blocks */
    uint16_t how;    /* SPE_ACCESS_... that the word alone tells */
    uint16_t is;     /* PE_IS_... */
    uint8_t bytes;   /* of its one access, always the same; 0: that is told with each access */
    uint8_t latency; /* cycles from issue to result, where L1 has the data */
    uint8_t ordinal; /* among the instructions of the block that have `bytes`, or will */
    bool paired;     /* `bytes` are of each of its accesses, and the first access tells them */
    bool registers;  /* what it does depends on them: an access, a condition */
    bool hidden;     /* its accesses are not seen when they are made */
    bool early;      /* registers tell its address already when the block begins. Where it is not
                        the first access, pe_block_tells: whether the block came to its end tells
                        whether this one ran, or one before it faulted */
    bool forwards;   /* a store gives its data to loads behind it, a load takes it */
    bool by_sp;      /* its owner's: the address tells the stack pointer, before and after it */
    int16_t sp_before, sp_after; /* ... is so far below the address */
};

enum { /* what an instruction is; an atomic that returns a value is a load, else a store */
       PE_IS_LOAD = 1u << 0,
       PE_IS_STORE = 1u << 1,
       PE_IS_BRANCH = 1u << 2,
};

/* What an event does not tell of an access: `bytes` are those of the site. */
struct pe_plain {
    uint16_t index; /* of the instruction in the block */
    uint8_t bytes;
    bool store;
};

#define PE_FIRST 8 /* instructions of a block that has room for its plain_sites */

struct pe_block {
    /* What pe/skim.h needs comes first: a line of the host's cache, and the next one. */
    uint64_t pc;
    uint64_t goes_on[2]; /* where `ticks` are known, and the last instruction is `plain`: `end` and
                            `target`. Else PE_NO_PC */
    uint64_t ticks[2];   /* it takes, if its branch is not taken and if it is; 0: not known */
    struct pe_plain *plain_sites;    /* by ordinal */
    uint32_t count;                  /* of instructions */
    uint32_t last_word;              /* address of the last one, in words: its lower bits */
    uint64_t end;                    /* [pc, end) */
    struct pe_plain first[PE_FIRST]; /* plain_sites, if there is room */
    uint64_t target;                 /* of the branch at the end, if it is direct */
    bool branch;                     /* the last instruction is one */
    bool direct;                     /* ... with `target` */
    bool plain;                      /* ... and conditional, and no more */
    uint8_t kind;                    /* ... SPE_BRANCH_... */
    uint8_t flow;                    /* its owner's */
    uint16_t stores;                 /* instructions that store */
    uint32_t stall;                  /* that it waits for L2: parts of a tick. See pe/skim.h */
    uint16_t recurrence; /* cycles times PE_RECURRENCE from one round to the next if it is a loop */
    uint8_t target_in; /* of the branch: Xn that has a target that is not direct; else PE_NOWHERE */
    bool acquires;     /* an atomic in it does, and does not release: as who takes a lock */
    uint32_t learnt;   /* rounds of it that have shown `stall` */
    uint64_t registers;            /* that it reads or writes */
    uint32_t id;                   /* dense */
    uint64_t time;                 /* first seen */
    struct pe_block *next;         /* in its owner's table */
    uint64_t executed;             /* times, and */
    struct pe_site_counts *counts; /* what instructions met; NULL: nothing yet. See pe/merge.h */
    struct pe_site sites[];
};

#define PE_NOWHERE 31
#define PE_NO_PC 1
#define PE_RECURRENCE 4
#define PE_STALL_PARTS 64
#define PE_ORDINALS 0xf8 /* that an event of pe/merge.h can tell */

static inline uint64_t pe_site_pc(const struct pe_site *site)
{
    return site->pc;
}

static inline const struct pe_site *pe_block_last(const struct pe_block *block)
{
    return &block->sites[block->count - 1];
}

/* Can it be told from where the program goes on, and from registers then, whether the block came to
 * its end? Not where the target is a signed pointer. */
static inline bool pe_block_tells(const struct pe_block *block)
{
    return !block->branch || block->direct || block->target_in != PE_NOWHERE;
}

/* How the branch at the end of the block went, where the program goes on at `next`. False if nobody
 * knows: a signal's handler is not the target of a direct branch. */
static inline bool pe_branch_outcome(const struct pe_block *block, uint64_t next, bool *taken)
{
    *taken = !block->direct | (next == block->target); /* no branch: who knows which it is */
    return *taken | (next == block->end);
}

/* A block of these words, all but time, id, next and the ids of its sites; NULL without memory. */
struct pe_block *pe_block_create(uint64_t pc, const uint32_t *words, size_t count);
/* The first access of the pair tells its bytes, whichever thread makes it. */
void pe_site_note_bytes(struct pe_site *site, uint32_t bytes);
void pe_block_destroy(struct pe_block *block);

#endif
