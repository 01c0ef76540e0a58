/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the files of D17.6 share: one sample while it is collected. collect.c says what the
 * operation is treated as and how much of it may be told; the others fill their packets of the
 * record.
 *
 *   collect_parts.c    D17.6.4           direction, and which of several accesses
 *   collect_address.c  D17.6.3, D18.2.1  PC, branch targets, data addresses
 *   collect_events.c   D18.2.6           Events
 *   collect_counter.c  D18.2.3           latencies
 *   collect_source.c   D18.2.4           Data Source
 *   collect_optype.c   D18.2.7           Operation Type, and the types of D17.5.1
 */
#ifndef SPECIMEN_SPU_COLLECT_H
#define SPECIMEN_SPU_COLLECT_H

#include "spu_internal.h"

/* One sample being collected: where from, where to, and what has been decided so far. */
struct collector {
    struct spe_spu *spu;
    const struct spe_spu_config *config;
    const struct spu_flight *flight;
    const struct spe_operation *op;
    struct spu_sample *sample;
    struct spe_record *record;

    uint8_t kind;        /* enum spe_operation_kind that it is treated as */
    bool executed;       /* Architecturally executed */
    bool speculative;    /* D17.6.7: its operands may hold what it must not see */
    uint8_t info;        /* SPE_INFO_*: how much is told */
    uint8_t access_info; /* SPE_SUBSET_*: how much is told of its accesses */
    bool gcs_branch;     /* a branch that makes a Guarded Control Stack access */
    bool data;           /* it is a load, store or atomic, or such a branch */
    bool writes;         /* the LDST bit: not a memory-reading operation */
    bool one_direction;  /* only accesses in the direction of `writes` are looked at */

    uint32_t parts;                          /* accesses that are looked at */
    const struct spe_memory_access *part;    /* the chosen one; NULL: there is none */
    const struct spe_memory_access *address; /* the one whose addresses are recorded; or NULL */
    bool va, pa;                             /* those packets are output */
};

static inline bool has(const struct collector *c, enum spe_feature f)
{
    return spe_has(c->config->features, f);
}

static inline bool has_gcs_types(const struct collector *c)
{
    return has(c, SPE_FEAT_SPEv1p4) && has(c, SPE_FEAT_GCS);
}

static inline bool is_conditional(const struct collector *c)
{
    const struct spe_operation *op = c->op;

    if (c->kind == SPE_OPERATION_BRANCH) /* exception returns are unconditional */
        return op->kind == SPE_OPERATION_BRANCH && op->conditional;
    return c->kind == SPE_OPERATION_OTHER && op->cond_op &&
           (c->config->cond_ops >> (op->cond_op - 1) & 1);
}

static inline bool is_vector_access(const struct collector *c)
{
    return c->kind == SPE_OPERATION_SVE_PREFETCH || c->op->registers == SPE_REGISTERS_SVE ||
           c->op->registers == SPE_REGISTERS_SME;
}

/* ---- Accesses ------------------------------------------------------------------------------- */

static inline bool performed(const struct spe_memory_access *a)
{
    return !a->unperformed && !a->inactive;
}

static inline bool translated(const struct spe_memory_access *a)
{
    return !a->untranslated && !a->inactive;
}

/* Is the access a part of what is sampled? `active`: one of an Active element. */
static inline bool looked_at(const struct collector *c, const struct spe_memory_access *a,
                             bool active)
{
    return (!c->one_direction || a->store == c->writes) && !(active && a->inactive);
}

/* Do events and total latency belong to the whole operation, not to the chosen part? */
static inline bool describes_whole(const struct collector *c)
{
    return c->op->access_count == 1 || c->config->multi_access == SPE_MULTI_ALL ||
           c->config->part_events == SPE_PART_EVENTS_WHOLE;
}

/* ---- Files ---------------------------------------------------------------------------------- */

/* Decide in which direction and as which part of several it is sampled: writes, one_direction,
 * parts, part, address. */
void spu_choose_parts(struct collector *c);
const struct spe_memory_access *spu_lowest_part(const struct collector *c, bool active);

/* Decide whether data addresses are recorded: va, pa. */
void spu_judge_addresses(struct collector *c);

/* Fill the record's packets as far as `info` lets them be told (D17.6-014), and what the filters
 * look at in any case. They are few, and each does much, because calls are most of their cost. */
void spu_put_events(struct collector *c);
void spu_put_type(struct collector *c);
void spu_put_counters(struct collector *c);
void spu_put_addresses(struct collector *c);
int spu_put_source(struct collector *c); /* SPE_ERR_INVALID: there is no such source */

#endif
