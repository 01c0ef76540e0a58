/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the plugin and the launcher of `spe record` say to each other over a socket that keeps
 * messages apart (SOCK_SEQPACKET). Both come from one build, so structs go as they are.
 *
 * A process connects, says WIRE_HELLO once and gets WIRE_SETUP. Then it only talks. Its end is the
 * end of its connection, however it ends; one that is not killed says WIRE_BYE before. Nothing may
 * get lost without being noticed: messages are numbered, AUX bytes have offsets, and a thread that
 * ends says what it has made. See docs/record.md.
 */
#ifndef QEMU_WIRE_H
#define QEMU_WIRE_H

#include <fcntl.h>
#include <specimen/pe.h>
#include <stdatomic.h>
#include <stdint.h>

enum {
    WIRE_VERSION = 3,
    WIRE_BUFFER = 64 << 10,       /* Profiling Buffer of a vCPU, and so the largest AUX message */
    WIRE_MESSAGE_MAX = 128 << 10, /* of any message */
    WIRE_TEXT = 4096,
    WIRE_SLOTS = 1 << 16, /* threads of a process at the same time */
    WIRE_FRAMES = 1023,   /* of a call stack, without the sample itself */
    WIRE_STACKS = 64 << 10,
    WIRE_DESCRIPTOR = 900, /* of the socket: out of the way of programs that count theirs */
};

enum wire_type {
    WIRE_HELLO = 1,  /* struct wire_hello */
    WIRE_SETUP,      /* struct wire_setup, the only one from the launcher */
    WIRE_COMM,       /* struct wire_text: the thread has this name now */
    WIRE_PROGRAM,    /* struct wire_text: as COMM, and the process has just become this program */
    WIRE_MAP,        /* struct wire_map */
    WIRE_THREAD,     /* struct wire_thread, with the descriptor of its struct wire_shared */
    WIRE_AUX,        /* struct wire_aux */
    WIRE_CALLS,      /* struct wire_calls: call stacks of samples */
    WIRE_THREAD_END, /* struct wire_thread_end */
    WIRE_AWAY,       /* header only: the connection ends, the process does not: it comes back */
    WIRE_COUNTS,     /* struct wire_counts: exact counts, with --stat */
    WIRE_TROUBLE,    /* struct wire_text: a sentence for the user */
    WIRE_STRANGE,    /* struct wire_strange: QEMU's CPU does not seem to have this instruction */
    WIRE_BYE,        /* header only: the process ends now, or becomes a program that is not ours */
};

struct wire_header {
    uint32_t type;
    uint32_t size; /* of the whole message */
    uint32_t pid, tid;
    uint64_t time; /* CLOCK_MONOTONIC, ns */
    /* Messages before it on this connection; not those of AUX bytes, which have offsets. */
    uint64_t sequence;
};

enum wire_hello_how {
    WIRE_STARTED, /* by the launcher, or by exec */
    WIRE_FORKED,
    WIRE_BACK /* after WIRE_AWAY */
};

struct wire_hello {
    struct wire_header header;
    uint32_t version; /* WIRE_VERSION */
    uint32_t how;
    uint32_t parent; /* process */
    int32_t level;   /* of the plugin interface */
};

enum {
    WIRE_STAT = 1u << 0,       /* count exactly: WIRE_COUNTS at the end */
    WIRE_FUNCTIONAL = 1u << 1, /* the machine model is on */
    WIRE_SHARE_CPUS = 1u << 2, /* there may be more threads than cpus */
    WIRE_UNRECORDED = 1u << 3, /* the launcher has no room: run, but send nothing */
    WIRE_CORE = 1u << 4,       /* with WIRE_FUNCTIONAL: accesses go through it in modelled time */
    WIRE_FOLLOW = 1u << 5,     /* calls and returns: samples have call stacks */
};

/* What to do. The event is in perf's words, as in struct perf_event_attr. */
struct wire_setup {
    struct wire_header header;
    uint32_t version;
    uint32_t flags;                  /* WIRE_STAT ... */
    uint32_t cpus;                   /* of the machine */
    uint32_t vector_bits, zva_bytes; /* of QEMU's CPU: SVE's vectors, what DC ZVA writes */
    uint64_t seed;
    uint64_t config, config1, config2, config3, config4, period;
    char cpu[32]; /* preset of the unit */
    struct spe_machine_config machine;
    /* How QEMU was started up to the program, for exec: strings one after the other. */
    uint32_t argument_count, arguments_size;
    char arguments[WIRE_TEXT * 4];
};

struct wire_text {
    struct wire_header header;
    char text[WIRE_TEXT];
};

struct wire_map {
    struct wire_header header;
    uint64_t start, length, offset, inode;
    uint32_t major, minor, protection, flags;
    char path[WIRE_TEXT];
};

/* A vCPU's thread. The slot is the lowest number that no other thread of its process has. */
struct wire_thread {
    struct wire_header header;
    uint32_t slot;
};

struct wire_aux {
    struct wire_header header;
    uint32_t slot;
    uint32_t flags;   /* PERF_AUX_FLAG_... */
    uint64_t offset;  /* in all that this thread has written */
    uint32_t records; /* whole ones, in these bytes */
    uint32_t size;
    uint8_t bytes[WIRE_BUFFER];
};

/* The call stack of one sample; its count of frames follows, innermost first. */
struct wire_stack {
    uint64_t time, pc; /* as in the SPE record */
    uint64_t count;
    uint64_t frames[];
};

/* Stacks one after the other. */
struct wire_calls {
    struct wire_header header;
    uint32_t slot;
    uint32_t size;
    uint64_t stacks[WIRE_STACKS / 8];
};

/* What the kernel would count; all of the thread so far. What was sampled and is nowhere else was
 * in flight. */
struct wire_statistics {
    uint64_t operations, selected, collisions, sampled, filtered, records, bytes;
    uint64_t dropped;        /* sampled, but never completed */
    uint64_t discarded;      /* completed, but the buffer did not take the record */
    uint64_t filtered_by[8]; /* enum spe_sample_filter */
    uint64_t hidden;         /* sampled, but nobody saw where it accessed memory */
    /* Records with a call stack, and without one: behind a jump out of order, not found again since
     * then, too deep. */
    uint64_t stacks, stacks_unsettled, stacks_lost, stacks_deep;
    uint64_t cycles; /* its CPU's modelled clock when it ended; 0: not modelled, or not known */
};

struct wire_thread_end {
    struct wire_header header;
    uint32_t slot;
    struct wire_statistics statistics; /* the last word */
};

/*
 * Memory that a vCPU shares with the launcher, so that what a killed program leaves is not lost:
 * records up to `head` that no WIRE_AUX has carried yet, and the statistics. It is a memfd that can
 * neither shrink nor grow (WIRE_SEALS): nobody can take away what the launcher reads.
 */
#define WIRE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct wire_shared {
    _Atomic uint64_t offset; /* of the buffer's first byte in all that this thread has written */
    _Atomic uint64_t head;   /* bytes in the buffer that are whole records */
    uint64_t carried;        /* records that are in WIRE_AUX messages */
    struct wire_statistics statistics;
    _Atomic uint64_t stacks_size; /* bytes of stacks that no WIRE_CALLS has carried */
    _Alignas(4096) uint8_t buffer[WIRE_BUFFER];
    uint64_t stacks[WIRE_STACKS / 8];
};

enum { /* what an instruction is; an atomic that returns a value is a load, else a store */
       WIRE_IS_LOAD = 1u << 0,
       WIRE_IS_STORE = 1u << 1,
       WIRE_IS_BRANCH = 1u << 2,
};

/* Exact counts of one instruction, with --stat. */
struct wire_count {
    uint64_t pc, time; /* where, and when it was first seen */
    uint64_t executed; /* times */
    uint64_t taken, mispredicted, l1_misses, llc_misses, walks; /* 0 without a model */
    uint32_t word, is;
};

struct wire_strange {
    struct wire_header header;
    uint64_t pc;
    uint32_t word;
};

enum { WIRE_COUNTS_MAX = 1024 };

struct wire_counts {
    struct wire_header header;
    uint32_t count;
    struct wire_count counts[WIRE_COUNTS_MAX];
};

#endif
