/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Recording: start a program under QEMU with our plugin, take what it sends, write perf.data.
 * docs/record.md tells how it works.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <specimen/pe.h>

#include "launch/problem.h"
#include "qemu/wire.h"

/* An event in perf's words. */
struct record_event {
    uint64_t config, config1, config2, config3, config4;
};

enum record_model { RECORD_MODEL_NONE, RECORD_MODEL_FUNCTIONAL, RECORD_MODEL_CORE };

struct record_options {
    struct record_event event;
    uint64_t period;
    const char *output;
    const char *cpu;     /* preset */
    const char *sysroot; /* NULL: found */
    const char *qemu;    /* NULL: found */
    enum record_model model;
    const char *machine; /* "l2=2M,page=64K", also names of files; NULL: as the CPU's is */
    unsigned cpus;       /* 0: a CPU for every thread */
    uint64_t seed;
    double duration; /* seconds; 0: until the program ends */
    bool stat;
    bool calls;                      /* samples have call stacks */
    const char *keep;                /* directory for copies of the binaries; NULL: none are made */
    char **command;                  /* the program and its arguments, NULL at the end */
    const char *const *command_line; /* of the recorder, for the file */
    size_t command_line_count;
    /* Called at least once a second, with the time since the start; NULL: nobody wants to know. */
    void (*progress)(void *user, double seconds, uint64_t aux_bytes);
    void *user;
};

/* Something that processes complained about. */
struct record_trouble {
    char text[256];
    uint64_t count;
};

enum { RECORD_TROUBLES = 4 }; /* sentences that are kept; the last counts for all that follow */

/* Binaries that were copied, so that the recording keeps its names (record/keep.h). */
struct record_kept {
    uint64_t files, bytes;
    uint64_t left_out;
    char why[512]; /* the first of these was */
};

/* An instruction that QEMU's CPU does not seem to have: one that ends a program with SIGILL. */
struct record_strange {
    uint32_t pid; /* 0: there was none */
    uint32_t word;
    uint64_t pc;
};

/* What was recorded. */
/* Mapped files that could not be read: their build-ids are not in the recording. */
struct file_unread {
    uint64_t files;
    int why; /* errno of the first */
};

struct record_summary {
    struct wire_statistics statistics; /* of all threads */
    uint64_t processes, threads, aux_bytes, file_bytes;
    uint64_t lost_records;  /* SPE records that were made and are not in the file */
    uint64_t lost_messages; /* that were sent and never came */
    uint64_t refused;       /* processes that said what no plugin says: not heard any more */
    uint64_t unrecorded;    /* processes that there was no room for */
    uint64_t silent;        /* processes that ended without WIRE_BYE, as killed ones do */
    uint64_t left;          /* processes that outlive the recording */
    uint64_t crowded;       /* threads that had no CPU of their own, --cpus or not */
    struct file_unread unread;
    int level;       /* of QEMU's plugin interface */
    int exit_status; /* of the program: 128 + signal if one ended it */
    int signal;      /* that one, or 0 */
    bool timed_out;  /* the duration was over */
    struct record_trouble troubles[RECORD_TROUBLES];
    struct record_strange strange; /* the last */
    struct record_kept kept;
};

/* Is something missing in the file, of what should be there? */
static inline bool record_is_incomplete(const struct record_summary *s)
{
    return s->lost_records || s->lost_messages || s->refused || s->unrecorded || s->unread.files;
}

/* Exact counts of one instruction in one process. */
struct record_count {
    uint32_t pid;
    struct wire_count count;
};

struct record_counts {
    struct record_count *at;
    size_t count, room;
};

/*
 * Record. False with a problem if nothing could be recorded, or not all: `started` tells whether
 * the program ran. Then the file is what was recorded before. `counts` (may be NULL) gets the exact
 * counts; free counts->at.
 */
bool record_run(const struct record_options *options, struct record_summary *summary,
                struct record_counts *counts, bool *started, struct problem *problem);

/* ---- -e ------------------------------------------------------------------------------------- */

/* Parse "arm_spe/ts_enable=1,load_filter=1/" and the like. False with a problem. */
bool record_parse_event(const char *text, struct record_event *event, struct problem *problem);

/* Is there, in this CPU's SPE, what the event asks for? False with a problem. */
bool record_check_event(const struct record_event *event, const char *cpu, struct problem *problem);

/* The interval that the unit will have for this period. */
uint64_t record_interval(uint64_t period);

/* ---- CPUs ----------------------------------------------------------------------------------- */

#define SOFTWARE_MIDR 0x000f0510 /* QEMU's own: an implementer number reserved for software */

/* What --cpu offers. */
struct record_cpu {
    const char *name;    /* and the unit's preset */
    const char *machine; /* preset of the machine model */
    const char *qemu;    /* QEMU's -cpu */
    uint64_t midr;
    uint32_t min_interval;
    uint32_t vector_bits; /* of SVE; 0: it has none */
    uint32_t zva_bytes;   /* that DC ZVA writes in QEMU's CPU */
};

const struct record_cpu *record_cpu_at(size_t i); /* NULL past the last */
const struct record_cpu *record_cpu_find(const char *name);

enum { MACHINE_SETTING = 64, MACHINE_SETTINGS = 32 * MACHINE_SETTING };

/* What `options` make of their CPU's machine. */
struct record_machine {
    struct spe_machine_config config;
    uint32_t vector_bits;            /* of SVE; 0: it has none */
    char settings[MACHINE_SETTINGS]; /* what is different, each key once: "l2=2M,page=64K" */
};

/* After SIGILL: a sentence that says which --cpu has the instruction. False if that was not it. */
bool record_strange_tell(const struct record_options *options, const struct record_summary *summary,
                         char *text, size_t room);

/* With that many CPUs. False with a problem. */
bool record_machine_of(const struct record_options *options, unsigned cpus,
                       struct record_machine *machine, struct problem *problem);

#endif
