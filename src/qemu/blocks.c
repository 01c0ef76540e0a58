/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/blocks.h"

#include <pthread.h>
#include <specimen/pe.h>
#include <stdlib.h>
#include <string.h>

#include "qemu/channel.h"

#define POINTER sizeof(void *)

static struct {
    pthread_mutex_t lock;
    struct block **buckets;
    size_t bucket_count; /* a power of two */
    struct block **list; /* by id */
    size_t count, room, sites;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t hash(uint64_t pc, uint32_t count)
{
    return (size_t)((pc / 4 * UINT64_C(0x9e3779b97f4a7c15) >> 20) + count);
}

/* ---- Making --------------------------------------------------------------------------------- */

static void note_branch(struct block *b)
{
    struct spe_a64 insn;

    spe_a64_classify(block_last(b)->word, 0, &insn);
    if (!insn.branch)
        return;
    b->branch = true;
    b->direct = insn.direct;
    b->target = b->end - 4 + (uint64_t)insn.displacement;
    b->kind = (uint8_t)((insn.operation.conditional ? SPE_BRANCH_CONDITIONAL : 0) |
                        (insn.operation.indirect ? SPE_BRANCH_INDIRECT : 0) |
                        (insn.operation.link ? SPE_BRANCH_LINK : 0) |
                        (insn.operation.procedure_return ? SPE_BRANCH_RETURN : 0));
    b->plain = b->direct && b->kind == SPE_BRANCH_CONDITIONAL;
}

/* As the Operation Type packet tells it (D18.2.7). */
static uint16_t kind_of(const struct spe_a64 *insn)
{
    switch (insn->operation.kind) {
    case SPE_OPERATION_LOAD:
        return WIRE_IS_LOAD;
    case SPE_OPERATION_STORE:
    case SPE_OPERATION_DC_ZVA:
        return WIRE_IS_STORE;
    case SPE_OPERATION_ATOMIC:
        return insn->operation.returns_value ? WIRE_IS_LOAD : WIRE_IS_STORE;
    case SPE_OPERATION_BRANCH:
        return WIRE_IS_BRANCH;
    default:
        return 0;
    }
}

/* An exclusive pair takes the line as an atomic does. */
static void note_access(struct site *site)
{
    struct spe_a64 insn;

    spe_a64_classify(site->word, 0, &insn);
    if (insn.operation.kind == SPE_OPERATION_ATOMIC ||
        (insn.operation.exclusive && insn.operation.kind == SPE_OPERATION_STORE))
        site->how = SPE_ACCESS_ATOMIC;
    site->is = kind_of(&insn);
    site->registers = insn.address != SPE_A64_NO_ADDRESS || insn.operation.cond_op;
}

static struct block *make(const struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    struct block *b = calloc(1, sizeof(*b) + count * sizeof(b->sites[0]));

    if (!b)
        return NULL;
    b->pc = qemu_plugin_tb_vaddr(tb);
    b->end = b->pc + 4 * count;
    b->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        b->sites[i].block = b;
        b->sites[i].word = plugin_word(qemu_plugin_tb_get_insn(tb, i));
    }
    return b;
}

static bool same(const struct block *a, const struct block *b)
{
    if (a->pc != b->pc || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->sites[i].word != b->sites[i].word)
            return false;
    return true;
}

/* ---- The table ------------------------------------------------------------------------------ */

static bool grow(void)
{
    size_t count = table.bucket_count ? table.bucket_count * 2 : 4096;
    struct block **buckets, **list = reallocarray(table.list, count, POINTER);

    if (!list)
        return false;
    table.list = list;
    buckets = calloc(count, POINTER);
    if (!buckets)
        return false;
    for (size_t i = 0; i < table.count; i++) {
        struct block **bucket = &buckets[hash(list[i]->pc, list[i]->count) & (count - 1)];

        list[i]->next = *bucket;
        *bucket = list[i];
    }
    free(table.buckets);
    table.buckets = buckets;
    table.bucket_count = count;
    table.room = count;
    return true;
}

/* The one in the table that is the same, else this one, now in the table. */
static struct block *intern(struct block *b)
{
    struct block **bucket;

    if (table.count == table.room && !grow()) {
        free(b);
        return NULL;
    }
    bucket = &table.buckets[hash(b->pc, b->count) & (table.bucket_count - 1)];
    for (struct block *old = *bucket; old; old = old->next) {
        if (same(old, b)) {
            free(b);
            return old;
        }
    }
    note_branch(b);
    b->time = channel_time();
    b->id = (uint32_t)table.count;
    for (uint32_t i = 0; i < b->count; i++) {
        b->sites[i].id = (uint32_t)table.sites++;
        note_access(&b->sites[i]);
    }
    b->next = *bucket;
    *bucket = b;
    table.list[table.count++] = b;
    return b;
}

struct block *blocks_find(const struct qemu_plugin_tb *tb)
{
    struct block *b = make(tb);

    if (!b)
        return NULL;
    blocks_lock();
    b = intern(b);
    blocks_unlock();
    return b;
}

size_t blocks_count(void)
{
    return table.count;
}

size_t blocks_site_count(void)
{
    return table.sites;
}

const struct block *blocks_at(size_t id)
{
    return table.list[id];
}

void blocks_lock(void)
{
    pthread_mutex_lock(&table.lock);
}

void blocks_unlock(void)
{
    pthread_mutex_unlock(&table.lock);
}
