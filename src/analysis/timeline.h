/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Samples by thread, time and call stack, for programs that draw them. Memory is bounded: samples
 * of one thread with the same stack in the same bin of time are one entry, and when there are too
 * many entries, bins become twice as long. When that does not help any more, callers are left out,
 * and last functions, too. Samples and latency are never lost.
 */
#ifndef ANALYSIS_TIMELINE_H
#define ANALYSIS_TIMELINE_H

#include <specimen/analysis.h>

#include "base/hash.h"
#include "base/vector.h"

enum stack_frame_kind {
    FRAME_CODE,
    FRAME_NO_STACK, /* above samples without a call stack, where others have one */
    FRAME_LEFT_OUT, /* above samples whose callers are left out */
    FRAME_SERVED,   /* below a function: where its loads were served */
};

struct stack_frame {
    uint64_t symbol;   /* SPE_NO_SYMBOL; of FRAME_SERVED: enum spe_served */
    uint64_t pc;       /* by_pc only: where the sample is, or the call */
    uint32_t map;      /* likewise */
    uint32_t dso;      /* SPE_NO_ID */
    uint32_t line;     /* SPE_NO_ID */
    uint32_t function; /* frame of the function, without line and pc: may be this one */
    uint8_t kind;
};

/* A frame as called by the frames above it; node 0 is above all. */
struct stack_node {
    uint32_t caller; /* node, less than its own number; of node 0: SPE_NO_ID */
    uint32_t frame;
};

struct stack_entry {
    uint64_t bin; /* time >> shift */
    uint64_t samples, latency;
    uint32_t thread; /* SPE_NO_ID */
    uint32_t node;
};

struct timeline_config {
    bool by_pc;  /* frames are instructions, not functions */
    bool lines;  /* frames have lines; without by_pc rows need SPE_WANT_LINE */
    bool served; /* functions only, and where loads were served; of samples with time */
    bool timed;  /* entries have a time */
    size_t most; /* entries */
    size_t bins; /* from the first to the last, at most; 0: any number */
};

#define TIMELINE_NO_TIME 63 /* the shift of entries without time */

struct timeline {
    struct timeline_config config;
    VECTOR(struct stack_frame) frames;
    VECTOR(struct stack_node) nodes;
    VECTOR(struct stack_entry) entries; /* after finish by thread, bin, node */
    unsigned shift;
    uint64_t least_ns, most_ns; /* of all samples */
    uint64_t samples;
    uint64_t without_time; /* ... and those that are in no entry, with `served` */
    uint64_t left_out;     /* samples without the callers that they have */

    struct hash_table frame_index, node_index, entry_index;
    uint64_t seed;
    VECTOR(uint32_t) node_of; /* by rows.stack, and 1: of its innermost call */
    VECTOR(uint32_t) unwound; /* calls of a stack that have no node yet, innermost first */
};

/* All of them: SPE_OK or SPE_ERR_NOMEM. Rows need SPE_WANT_SYMBOL, and may have SPE_WANT_STACK. */
int timeline_init(struct timeline *s, const struct timeline_config *config);
int timeline_add(struct timeline *s, struct spe_profile *profile, const struct spe_rows *rows);
int timeline_finish(struct timeline *s);
void timeline_free(struct timeline *s); /* of one that is all zeros, too */

/* When the bin of an entry begins. */
uint64_t timeline_time(const struct timeline *s, const struct stack_entry *entry);

#endif
