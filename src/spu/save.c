/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A unit's whole state as bytes, for hosts that take snapshots. One walk over the state both writes
 * and reads it, so that the two cannot differ; little-endian, without gaps:
 *
 *   8 magic, 4 version, 4 size of all, 8 digest of the configuration, the state, 8 checksum
 *
 * Reading walks twice: the first time nothing is stored, so that a state that is refused leaves the
 * unit as it was. Caches (shapes, the record being built) and what follows from the rest (status)
 * are not in it.
 */
#include <stdio.h>
#include <string.h>

#include "format/bytes.h"
#include "spu_internal.h"

#define MAGIC UINT64_C(0x4554415453455053) /* "SPESTATE" */
#define VERSION 1
#define HEAD 24
#define TAIL 8

enum mode { MEASURE, WRITE, TRY, READ };

struct codec {
    uint8_t *bytes; /* const when reading: nothing is written then */
    size_t size, at;
    enum mode mode;
    bool bad; /* reading: a value that no unit has */
};

static uint64_t hash(uint64_t seed, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < size; i++)
        seed = (seed ^ p[i]) * UINT64_C(0x100000001b3);
    return seed;
}

uint64_t spu_save_checksum(const uint8_t *bytes, size_t size)
{
    return hash(UINT64_C(0xcbf29ce484222325), bytes, size);
}

/* ---- Fields --------------------------------------------------------------------------------- */

/* A value of `width` bytes, at most `max`; returns what the field holds from now on, which is
 * another value only when it reads. */
static uint64_t number(struct codec *c, uint64_t value, unsigned width, uint64_t max)
{
    uint64_t found;

    c->at += width;
    if (c->mode == MEASURE)
        return value;
    if (c->at > c->size) {
        c->bad = true;
        return value;
    }
    if (c->mode == WRITE) {
        store_sized(c->bytes + c->at - width, width, value);
        return value;
    }
    found = load_sized(c->bytes + c->at - width, width);
    c->bad |= found > max;
    return c->mode == READ ? found : value;
}

static void u64(struct codec *c, uint64_t *field)
{
    *field = number(c, *field, 8, UINT64_MAX);
}

static void u32(struct codec *c, uint32_t *field)
{
    *field = (uint32_t)number(c, *field, 4, UINT32_MAX);
}

static void u8(struct codec *c, uint8_t *field, uint8_t max)
{
    *field = (uint8_t)number(c, *field, 1, max);
}

static void flag(struct codec *c, bool *field)
{
    *field = number(c, *field, 1, 1);
}

static void u64s(struct codec *c, uint64_t *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        u64(c, &fields[i]);
}

/* ---- Parts ---------------------------------------------------------------------------------- */

static void walk_pe(struct codec *c, struct spe_pe_state *pe)
{
    bool *const flags[] = {&pe->aarch32, &pe->el1_aarch32, &pe->el2_aarch32,    &pe->debug,
                           &pe->sdd,     &pe->pm,          &pe->counter_enabled};
    uint64_t *const registers[] = {
        &pe->scr_el3,     &pe->hcr_el2,      &pe->mdcr_el2,     &pe->mdcr_el3,   &pe->hdfgrtr_el2,
        &pe->hdfgwtr_el2, &pe->hdfgrtr2_el2, &pe->hdfgwtr2_el2, &pe->hfgitr_el2, &pe->cnthctl_el2,
        &pe->cntvoff_el2, &pe->cntpoff_el2,  &pe->pmcr_el0};

    u8(c, &pe->el, 3);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        flag(c, flags[i]);
    for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
        u64(c, registers[i]);
    u32(c, &pe->contextidr_el1);
    u32(c, &pe->contextidr_el2);
}

static void walk_registers(struct codec *c, struct spe_spu *spu)
{
    for (unsigned reg = 0; reg < SPE_REG_COUNT; reg++) {
        uint64_t found = number(c, spu->reg[reg], 8, UINT64_MAX);

        if (c->mode == READ)
            spu->reg[reg] = found & spu_register_mask(spu, (enum spe_register)reg);
    }
}

/* In one of the ways in which it can be told: nothing has run since the counters. */
static void walk_sampling(struct codec *c, struct spe_spu *spu)
{
    struct spu_sampling s = spu->sampling;

    spu_sampling_settle(&s);
    u32(c, &s.count);
    u8(c, &s.ecount, spu_has(spu, SPE_FEAT_SPE_ERnd) ? UINT8_MAX : 0);
    flag(c, &s.ecount_due);
    flag(c, &s.ecount_on);
    flag(c, &s.loaded);
    u8(c, &s.skid, spu->config.sample_pick);
    flag(c, &s.enabled);
    if (c->mode == READ)
        spu->sampling = s; /* its budget follows: spu_state_update */
}

static void walk_branch(struct codec *c, struct spu_last_branch *last)
{
    u64(c, &last->branch.target);
    u8(c, &last->branch.el, 3);
    u8(c, &last->branch.security, SPE_REALM);
    flag(c, &last->branch.context_sync);
    flag(c, &last->valid);
    flag(c, &last->since_cse);
}

static void walk_flight(struct codec *c, struct spu_flight *f)
{
    flag(c, &f->busy);
    u64(c, &f->order);
    u8(c, &f->el, 3);
    u8(c, &f->security, SPE_REALM);
    flag(c, &f->context1);
    flag(c, &f->context2);
    flag(c, &f->physical_address);
    flag(c, &f->nv2_address);
    u8(c, &f->timestamp, SPE_TIMESTAMP_OFFSET_PHYSICAL);
    flag(c, &f->time_unknown);
    u32(c, &f->contextidr_el1);
    u32(c, &f->contextidr_el2);
    u64(c, &f->time_offset);
    u64(c, &f->start_count);
    walk_branch(c, &f->last);
}

static void walk_flights(struct codec *c, struct spe_spu *spu)
{
    unsigned busy = 0;

    u64(c, &spu->next_order);
    for (unsigned i = 0; i < spu->config.max_inflight_samples; i++) {
        walk_flight(c, &spu->flight[i]);
        busy += spu->flight[i].busy;
    }
    if (c->mode == READ)
        spu->in_flight = busy;
}

static void walk_late(struct codec *c, struct spu_late *late)
{
    struct spe_write_result *fault = &late->fault;

    u32(c, &late->left);
    u8(c, &late->x, 3);
    flag(c, &late->mid_record);
    u32(c, &fault->written);
    u8(c, &fault->fault, SPE_FAULT_COUNT - 1);
    u8(c, &fault->stage, 2);
    fault->level = (int8_t)number(c, (uint8_t)fault->level, 1, UINT8_MAX);
    u8(c, &fault->walk, SPE_WALK_GPT);
    flag(c, &fault->top_level);
    flag(c, &fault->assured_only);
    flag(c, &fault->overlay);
    flag(c, &fault->dirty_bit);
}

static void walk_events(struct codec *c, struct spe_spu *spu)
{
    struct spe_exception *told = &spu->told;

    for (unsigned x = 1; x <= 3; x++) {
        flag(c, &spu->sync[x].observed);
        flag(c, &spu->sync[x].synchronized);
        flag(c, &spu->sync[x].by_unit);
    }
    flag(c, &spu->irq);
    u8(c, &told->masking, SPE_MASK_ALWAYS);
    u8(c, &told->source, 3);
    u8(c, &told->target_el, 3);
    flag(c, &told->synchronized);
    u32(c, &told->within);
    u32(c, &told->syndrome);
}

static void walk_stats(struct codec *c, struct spe_spu_stats *s)
{
    u64(c, &s->population);
    u64(c, &s->selected);
    u64(c, &s->collisions);
    u64(c, &s->sampled);
    u64(c, &s->dropped);
    u64s(c, s->fate, SPE_FATE_COUNT);
    u64s(c, s->filtered_by, SPE_SAMPLE_FILTER_COUNT);
    u64(c, &s->records);
    u64(c, &s->bytes_built);
    u64(c, &s->bytes_written);
    u64(c, &s->bytes_discarded);
    u64s(c, s->bytes_discarded_by, SPE_FATE_COUNT);
    u64(c, &s->management_events);
}

static void walk(struct codec *c, struct spe_spu *spu)
{
    walk_pe(c, &spu->pe);
    walk_registers(c, spu);
    walk_sampling(c, spu);
    u64(c, &spu->rng.state); /* the kinds are the configuration's */
    u64(c, &spu->choice.state);
    u32(c, &spu->round_robin);
    walk_branch(c, &spu->last);
    walk_flights(c, spu);
    u64(c, &spu->prepared);
    walk_late(c, &spu->late);
    flag(c, &spu->impdef_enabled);
    walk_events(c, spu);
    walk_stats(c, &spu->stats);
}

/* ---- The configuration ---------------------------------------------------------------------- */

/* Of every option by name and value, so that it is the same in every release that has the same
 * options, and of the layout. */
static uint64_t digest(const struct spe_spu *spu)
{
    const struct spe_layout *layout = &spu->layout;
    const struct spe_option *option;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    char value[1024];

    for (size_t i = 0; (option = spe_spu_option_at(i)) != NULL; i++) {
        h = hash(h, option->name, strlen(option->name) + 1);
        spu_option_get(&spu->config, option->name, value, sizeof(value));
        h = hash(h, value, strlen(value) + 1);
    }
    for (unsigned i = 0; i < layout->slots; i++) {
        const uint8_t slot[] = {layout->slot[i].type, layout->slot[i].index,
                                (uint8_t)layout->slot[i].place,
                                (uint8_t)(layout->slot[i].place >> 8)};

        h = hash(h, slot, sizeof(slot));
    }
    return h;
}

/* ---- Both ways ------------------------------------------------------------------------------ */

size_t spe_spu_save(const struct spe_spu *spu, void *bytes, size_t size)
{
    /* The walk stores only when it reads. */
    struct spe_spu *unit = (struct spe_spu *)(uintptr_t)spu;
    struct codec c = {.mode = MEASURE, .at = HEAD};
    uint8_t *out = bytes;
    size_t all;

    walk(&c, unit);
    all = c.at + TAIL;
    if (size < all)
        return all;
    c = (struct codec){.bytes = out, .size = all, .at = HEAD, .mode = WRITE};
    walk(&c, unit);
    store64(out, MAGIC);
    store32(out + 8, VERSION);
    store32(out + 12, (uint32_t)all);
    store64(out + 16, digest(spu));
    store64(out + all - TAIL, spu_save_checksum(out, all - TAIL));
    return all;
}

static int check(const struct spe_spu *spu, const uint8_t *bytes, size_t size, char *why,
                 size_t why_size)
{
    if (size < HEAD + TAIL || load64(bytes) != MAGIC)
        spu_refuse(why, why_size, "the bytes are not a unit's state");
    else if (load32(bytes + 8) != VERSION)
        spu_refuse(why, why_size, "the state is of version %u, this library has version %u",
                   load32(bytes + 8), VERSION);
    else if (load32(bytes + 12) != size ||
             load64(bytes + size - TAIL) != spu_save_checksum(bytes, size - TAIL))
        spu_refuse(why, why_size, "the state is damaged");
    else if (load64(bytes + 16) != digest(spu))
        return spu_refuse(why, why_size, "the state is of a unit with another configuration");
    else
        return SPE_OK;
    return SPE_ERR_FORMAT;
}

int spe_spu_restore(struct spe_spu *spu, const void *bytes, size_t size, char *why, size_t why_size)
{
    uint8_t *in = (uint8_t *)(uintptr_t)bytes; /* a codec that reads does not write */
    struct codec c = {.bytes = in, .size = size, .at = HEAD, .mode = TRY};
    int error = check(spu, in, size, why, why_size);

    if (error)
        return error;
    walk(&c, spu);
    if (c.bad || c.at + TAIL != size) {
        spu_refuse(why, why_size, "the state has a value that no unit has");
        return SPE_ERR_FORMAT;
    }
    c = (struct codec){.bytes = in, .size = size, .at = HEAD, .mode = READ};
    walk(&c, spu);
    spu_state_update(spu);
    return SPE_OK;
}
