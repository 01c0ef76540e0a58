/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/counts.h"

#include <stdlib.h>
#include <string.h>

#include "qemu/channel.h"
#include "qemu/trouble.h"

static struct {
    pthread_mutex_t lock;
    struct vcpu sum; /* only its counts are used */
} counts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add_site(struct pe_site_counts *to, const struct pe_site_counts *from)
{
    to->taken += from->taken;
    to->mispredicted += from->mispredicted;
    to->l1_misses += from->l1_misses;
    to->llc_misses += from->llc_misses;
    to->walks += from->walks;
}

void counts_add(struct vcpu *v)
{
    pthread_mutex_lock(&counts.lock);
    if ((counts.sum.executed_count >= v->executed_count && counts.sum.met_count >= v->met_count) ||
        unit_grow_counts(&counts.sum)) {
        for (size_t i = 0; i < v->executed_count; i++)
            counts.sum.executed[i] += v->executed[i];
        for (size_t i = 0; i < v->met_count; i++)
            add_site(&counts.sum.met[i], &v->met[i]);
    } else {
        trouble_tell("the exact counts of a thread are lost: there is no memory");
    }
    pthread_mutex_unlock(&counts.lock);
    free(v->executed);
    free(v->met);
    v->executed = NULL;
    v->met = NULL;
    v->executed_count = v->met_count = 0;
}

static void clear(void)
{
    free(counts.sum.executed);
    free(counts.sum.met);
    memset(&counts.sum, 0, sizeof(counts.sum));
}

/* ---- Sending -------------------------------------------------------------------------------- */

static void flush(struct wire_counts *message)
{
    size_t size = message->count * sizeof(message->counts[0]);

    message->header =
        (struct wire_header){.type = WIRE_COUNTS, .size = offsetof(struct wire_counts, counts)};
    if (message->count)
        channel_send(&message->header, message->counts, size, -1);
    message->count = 0;
}

static void put_block(struct wire_counts *message, const struct pe_block *block, uint64_t executed,
                      const struct pe_site_counts *of_sites)
{
    static const struct pe_site_counts nothing;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct pe_site *site = &block->sites[i];
        const struct pe_site_counts *met = of_sites ? &of_sites[i] : &nothing;

        message->counts[message->count++] = (struct wire_count){
            .pc = pe_site_pc(site),
            .time = block->time,
            .executed = executed,
            .taken = met->taken,
            .mispredicted = met->mispredicted,
            .l1_misses = met->l1_misses,
            .llc_misses = met->llc_misses,
            .walks = met->walks,
            .word = site->word,
            .is = site->is,
        };
        if (message->count == WIRE_COUNTS_MAX)
            flush(message);
    }
}

static void clear_block(struct pe_block *block)
{
    block->executed = 0;
    free(block->counts);
    block->counts = NULL;
}

/* Where there is a merge, blocks have their counts. */
static void put_merged(struct wire_counts *message)
{
    blocks_lock();
    pe_merge_lock(unit_process.merge);
    for (size_t i = 0; i < blocks_count(); i++) {
        struct pe_block *block = blocks_at(i);

        if (block->executed)
            put_block(message, block, block->executed, block->counts);
        clear_block(block);
    }
    pe_merge_unlock(unit_process.merge);
    blocks_unlock();
}

void counts_send(void)
{
    struct wire_counts *message = calloc(1, sizeof(*message));

    pthread_mutex_lock(&counts.lock);
    if (message && unit_process.merge)
        put_merged(message);
    for (size_t i = 0; message && i < counts.sum.executed_count && i < blocks_count(); i++)
        if (counts.sum.executed[i])
            put_block(message, blocks_at(i), counts.sum.executed[i],
                      &counts.sum.met[blocks_at(i)->sites[0].id]);
    if (message)
        flush(message);
    clear();
    pthread_mutex_unlock(&counts.lock);
    free(message);
}

void counts_reset(void)
{
    pthread_mutex_init(&counts.lock, NULL);
    clear();
    for (size_t i = 0; unit_process.merge && i < blocks_count(); i++)
        clear_block(blocks_at(i));
}
