/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A vCPU with its Statistical Profiling Unit. Which operation is sampled, what becomes a record and
 * where it goes is the unit's business; this counts for it, and describes what it asks for.
 *
 * QEMU tells us when a block begins and when memory is accessed. So operations are counted a block
 * at a time, before they run, and what a sampled one did is known when the next block begins.
 */
#ifndef QEMU_UNIT_H
#define QEMU_UNIT_H

#include <pthread.h>
#include <specimen/pe.h>
#include <specimen/spu.h>
#include <sys/types.h>

#include "pe/merge.h"
#include "qemu/blocks.h"
#include "qemu/calls.h"
#include "qemu/driver.h"
#include "qemu/hidden.h"
#include "qemu/wire.h"

enum {
    UNIT_SAMPLES_MAX = 8, /* in one block */
    UNIT_WORDS = 128,     /* that a thread keeps: a power of two */
};

/* A sampled operation that has not finished. */
struct sample {
    const struct pe_site *site;
    unsigned number; /* in flight, as the unit has it */
    uint32_t access_count;
    bool mispredicted;
    bool evaluated;      /* `op`, accesses (and met) are from registers, before it ran */
    bool partial, empty; /* where there is a merge: what is known of its predicate */
    uint32_t wait;       /* for issue, cycles; where there is a merge */
    struct spe_operation op;
    struct spe_memory_access accesses[SPE_A64_ACCESSES_MAX];
    struct spe_machine_access met[SPE_A64_ACCESSES_MAX];
};

/* What an instruction word means, as it was found before. */
struct known_word {
    uint64_t key; /* word and vector length; 0: none */
    struct spe_a64 insn;
};

/* With a merge: one that the model has not had yet, or that was not collected. */
struct watched {
    const struct pe_site *site;
    unsigned number; /* in flight; that of its watch is one less */
    bool evaluated;  /* registers told of its predicate: */
    bool partial, empty;
};

/* The call stack of a sample in flight. */
struct kept_stack {
    uint64_t time;
    int count; /* of frames, or enum calls_none */
    uint64_t frames[WIRE_FRAMES];
};

/*
 * What every block looks at. A thread has it in memory of its own, at a place that needs no
 * look-up: a counter there was measured to cost less than half of one that has to be found by the
 * number of the vCPU.
 */
struct here {
    int64_t left;                 /* operations that may run before unit_look is needed */
    const struct pe_block *block; /* that began last; with calls or the model only */
    unsigned flow;                /* ... and whether calls_follow_sp has to be called at the next */
    struct pe_writer writer;      /* where there is a merge */
};

#define UNIT_HERE __attribute__((tls_model("initial-exec"), visibility("hidden")))
extern UNIT_HERE __thread struct here here;

struct vcpu {
    struct here *here; /* of its thread, from its first look on; before that `own` */
    struct here own;
    uintptr_t armed;           /* the block whose accesses belong to a sample: where its sites */
    uintptr_t armed_size;      /* begin, and their size; 0: none */
    uint64_t taken;            /* target of the last taken branch; with the model only */
    pthread_mutex_t *cpu_lock; /* NULL: no other thread runs on that cpu */
    unsigned cpu;              /* of the machine */
    struct pe_cpu *pe;         /* that one, if nothing is counted and nobody locked out; or NULL */

    /* Where there is a merge: what the thread does, on its way to the model. Without events it is
     * not begun, or over. */
    struct pe_stream stream;

    uint64_t *executed;         /* --stat: by block */
    struct pe_site_counts *met; /* --stat: by instruction */
    size_t executed_count, met_count;
    const struct pe_site *met_site; /* --stat: whose access was counted last in this block, */
    uint64_t met_end;               /* where it ended, */
    uint32_t met_facts;             /* and what was counted of it */

    /* What only a look needs. */
    bool there;           /* QEMU has such a vCPU */
    pthread_mutex_t lock; /* the process may end in another thread */
    bool forced;          /* `left` was made negative to be called at the next block */
    bool started, ended;
    bool irq;
    pid_t tid;
    uint32_t slot;        /* SLOTS_NONE: none */
    uint64_t told;        /* operations that the unit allowed, at the time that `left` was set */
    uint64_t drained;     /* time */
    uint64_t hidden;      /* samples whose accesses nobody saw */
    uint32_t vector_bits; /* of SVE, in this thread */
    struct spe_spu *spu;
    struct wire_shared *shared;
    struct sample *samples;
    unsigned sample_count;
    struct known_word *words; /* UNIT_WORDS, by a hash of the word */
    struct watched *watched;  /* a ring of PE_WATCHES, in order */
    unsigned watched_first, watched_end;
    bool hurries;   /* all others, until its system call returns */
    uint32_t woken; /* when it wakes others: how many had come back before, */
    uint32_t wakes; /* and how many will. See core.c */

    /* With calls: what the thread is in, and what its samples in flight were in, by number. */
    struct calls calls;
    struct kept_stack *kept;
    uint64_t counted;              /* the last time that the unit asked for */
    struct wire_statistics stacks; /* what is counted of them */

    /* Its last system call, until that returns. */
    int64_t call;
    uint64_t call_arguments[8], call_time;
};

/* Does the access of this site belong to a sample, perhaps? */
static inline bool unit_is_armed(const struct vcpu *v, const struct pe_site *site)
{
    return (uintptr_t)site - v->armed < v->armed_size;
}

/* How the branch at the end of the last block went, where it goes on at `next`. False if nobody
 * knows: a signal's handler is not the target of a direct branch. */
static inline bool unit_branch_outcome(const struct pe_block *last, uint64_t next, bool *taken)
{
    *taken = last->direct ? next == last->target : true;
    return *taken || next == last->end;
}

/* What all units of the process have in common. */
struct unit_process {
    uint64_t lineage; /* tells processes apart in the seed */
    struct driver_event event;
    struct spe_spu_config config;
    struct spe_machine *machine; /* NULL: no model */
    struct pe_merge *merge;      /* NULL: accesses go through the machine when they happen */
    unsigned cpus;
    uint32_t vector_bits; /* of SVE, where a thread has not asked for another length */
    bool stat;
    bool calls;        /* are followed */
    bool by_registers; /* accesses are not seen, but computed: unit_evaluate */
};

extern struct unit_process unit_process;

/* Make the unit's configuration, and the machine if the setup asks for a model. The machine has
 * CPUs 0 to cpus - 1. On failure: false, and a sentence in `why`. */
bool unit_setup(const struct wire_setup *setup, char *why, size_t why_size);

/* A merge without streams, for the machine. */
void unit_begin_merge(void);

/* A vCPU is there, not yet running; it starts with its first look. */
void unit_prepare(struct vcpu *v);

/* Where there is a merge: the vCPU has a place in it from now on. Else nothing. */
void unit_begin_stream(struct vcpu *v);
/* Its thread goes into the kernel, and will not wait there. */
void unit_show(struct vcpu *v);
/* It may wait there, and is back; or it ends, and the model has had all it did. */
void unit_away(struct vcpu *v);
void unit_back(struct vcpu *v);
void unit_end_stream(struct vcpu *v);

/* A thread cannot be recorded: tell the launcher, which counts. The program goes on. */
void unit_not_recorded(const char *why);

/* The block is about to run and v->here->left is negative: it has its count subtracted already.
 * Registers, where they are known, tell what most accesses of the block will be; else NULL. */
void unit_look(struct vcpu *v, const struct pe_block *block,
               const struct spe_a64_registers *registers);

/* An access in the armed block. `met` is NULL without a model. */
void unit_access(struct vcpu *v, const struct pe_site *site, uint64_t va, uint32_t bytes,
                 bool store, const struct spe_machine_access *met);

/* The instruction is about to run, and its registers are known. */
void unit_evaluate(struct vcpu *v, const struct pe_site *site,
                   const struct spe_a64_registers *registers);

/* The same of an instruction whose accesses are hidden; `met` is NULL without a model. */
void unit_hidden(struct vcpu *v, const struct pe_site *site, const struct hidden *hidden,
                 const struct spe_machine_access *met);

/* The same where there is a merge, which tells of the accesses: its predicate. */
void unit_predicate(struct vcpu *v, const struct pe_site *site, const struct hidden *hidden);

/* The next sampled instruction that wants to be told so: its id + 1, 0 if there is none. */
uint64_t unit_wants_registers(const struct vcpu *v);

/* How the branch at the end of the last block ended, if it is sampled. */
void unit_branch(struct vcpu *v, const struct pe_site *site, bool mispredicted);

/* Send the data so far. */
void unit_drain(struct vcpu *v);

/* Its thread ends, or the process: complete what can be completed, send everything. */
void unit_end(struct vcpu *v);

/* Another thread is about to exec, which ends this one wherever it is: send the data so far. */
void unit_stop(struct vcpu *v);

/* The vCPU is gone. */
void unit_free(struct vcpu *v);

/* In a forked child: what was copied is the parent's, and it begins anew. */
void unit_forked(struct vcpu *v);

/* --stat: room for the counts of all blocks that there are; false without memory. */
bool unit_grow_counts(struct vcpu *v);

#endif
