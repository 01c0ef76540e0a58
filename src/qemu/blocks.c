/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/blocks.h"

#include <pthread.h>
#include <stdlib.h>

#include "qemu/channel.h"
#include "qemu/hidden.h"
#include "qemu/unit.h"

#define POINTER sizeof(void *)

static struct {
    pthread_mutex_t lock;
    struct pe_block **buckets;
    size_t bucket_count;    /* a power of two */
    struct pe_block **list; /* by id */
    size_t count, room, sites;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t hash(uint64_t pc, size_t count)
{
    return (size_t)((pc / 4 * UINT64_C(0x9e3779b97f4a7c15) >> 20) + count);
}

/* ---- The table ------------------------------------------------------------------------------ */

static bool grow(void)
{
    size_t count = table.bucket_count ? table.bucket_count * 2 : 4096;
    struct pe_block **buckets, **list = reallocarray(table.list, count, POINTER);

    if (!list)
        return false;
    table.list = list;
    buckets = calloc(count, POINTER);
    if (!buckets)
        return false;
    for (size_t i = 0; i < table.count; i++) {
        struct pe_block **bucket = &buckets[hash(list[i]->pc, list[i]->count) & (count - 1)];

        list[i]->next = *bucket;
        *bucket = list[i];
    }
    free(table.buckets);
    table.buckets = buckets;
    table.bucket_count = count;
    table.room = count;
    return true;
}

static struct pe_block **bucket_of(uint64_t pc, size_t count)
{
    return &table.buckets[hash(pc, count) & (table.bucket_count - 1)];
}

static bool is_same(const struct pe_block *b, uint64_t pc, const uint32_t *words, size_t count)
{
    if (b->pc != pc || b->count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (b->sites[i].word != words[i])
            return false;
    return true;
}

/* DC ZVA is a store, or cache maintenance, as the unit has it (D17.6.4): exact counts agree. */
static void note_site(struct pe_site *site)
{
    struct spe_a64 insn;

    spe_a64_classify(site->word, 0, &insn);
    site->hidden = hidden_is(&insn);
    site->early &= !site->hidden; /* these are evaluated just before they run */
    if (insn.operation.kind == SPE_OPERATION_DC_ZVA &&
        unit_process.config.dc_zva_as != SPE_ZVA_STORE)
        site->is = 0;
}

static struct pe_block *add(uint64_t pc, const uint32_t *words, size_t count)
{
    struct pe_block *b = pe_block_create(pc, words, count), **bucket = bucket_of(pc, count);

    if (!b)
        return NULL;
    b->time = channel_time();
    b->id = (uint32_t)table.count;
    for (uint32_t i = 0; i < b->count; i++) {
        b->sites[i].id = (uint32_t)table.sites++;
        note_site(&b->sites[i]);
    }
    b->next = *bucket;
    *bucket = b;
    table.list[table.count++] = b;
    return b;
}

/* The one in the table that is the same, else a new one. */
static struct pe_block *intern(uint64_t pc, const uint32_t *words, size_t count)
{
    struct pe_block *b;

    if (table.count == table.room && !grow())
        return NULL;
    for (b = *bucket_of(pc, count); b; b = b->next)
        if (is_same(b, pc, words, count))
            return b;
    return add(pc, words, count);
}

struct pe_block *blocks_find(const struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    uint32_t *words = calloc(count, sizeof(*words));
    struct pe_block *b;

    if (!words)
        return NULL;
    for (size_t i = 0; i < count; i++)
        words[i] = plugin_word(qemu_plugin_tb_get_insn(tb, i));
    blocks_lock();
    b = intern(qemu_plugin_tb_vaddr(tb), words, count);
    blocks_unlock();
    free(words);
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

struct pe_block *blocks_at(size_t id)
{
    return table.list[id];
}

void blocks_mark(uint64_t pc, uint8_t flow)
{
    blocks_lock();
    for (size_t i = 0; i < table.count; i++)
        if (table.list[i]->pc == pc)
            __atomic_fetch_or(&table.list[i]->flow, flow, __ATOMIC_RELAXED);
    blocks_unlock();
}

void blocks_lock(void)
{
    pthread_mutex_lock(&table.lock);
}

void blocks_unlock(void)
{
    pthread_mutex_unlock(&table.lock);
}
