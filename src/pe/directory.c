/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Which private caches have a line. A set is an open hash table with linear probing, whose entries
 * move up when one is removed; it is never full. Slots come in groups, and a group of one set is
 * followed in memory by the same group of the next: a search stays in one line of the host's cache
 * if it can, and lines that follow each other are found one after the other.
 *
 * Of one cpu nothing is kept: nobody else can have what it has. Most programs have one thread.
 */
#include "machine_internal.h"

#include <stdlib.h>
#include <string.h>

#define GROUP 4 /* slots; a power of two */

int pe_directory_init(struct pe_directory *directory, const struct pe_cache *outermost,
                      uint32_t cpus)
{
    uint64_t lines = (uint64_t)cpus * outermost->ways, slots = GROUP;

    while (slots < lines + lines / 4 + 1)
        slots *= 2;
    directory->cpus = cpus;
    directory->set_shift = pe_log2(outermost->set_mask + 1);
    directory->line_shift = outermost->line_shift;
    directory->slot_shift = pe_log2(slots);
    directory->entry_words = 1 + (cpus + 63) / 64;
    directory->entries = NULL;
    if (cpus == 1)
        return SPE_OK;
    directory->entries =
        calloc((outermost->set_mask + 1) * slots, directory->entry_words * sizeof(uint64_t));
    return directory->entries ? SPE_OK : SPE_ERR_NOMEM;
}

void pe_directory_free(struct pe_directory *directory)
{
    free(directory->entries);
}

static uint64_t slot_mask(const struct pe_directory *d)
{
    return (UINT64_C(1) << d->slot_shift) - 1;
}

/* Where the search for a line begins. */
static uint64_t first_slot(const struct pe_directory *d, uint64_t line)
{
    uint64_t tag = line >> d->line_shift >> d->set_shift;

    return (tag * UINT64_C(0x9e3779b97f4a7c15) >> (64 - d->slot_shift)) & ~(uint64_t)(GROUP - 1);
}

static uint64_t *entry(const struct pe_directory *d, uint64_t line, uint64_t slot)
{
    uint64_t set = line >> d->line_shift & ((UINT64_C(1) << d->set_shift) - 1);
    uint64_t group = (slot / GROUP << d->set_shift) + set;

    return &d->entries[(group * GROUP + slot % GROUP) * d->entry_words];
}

/* The line's slot, or the free one where it would go. */
static uint64_t find_slot(const struct pe_directory *d, uint64_t line)
{
    uint64_t slot = first_slot(d, line);

    while (*entry(d, line, slot) && *entry(d, line, slot) != (line | PE_VALID))
        slot = (slot + 1) & slot_mask(d);
    return slot;
}

static const uint64_t *find(const struct pe_directory *d, uint64_t line)
{
    const uint64_t *e = entry(d, line, find_slot(d, line));

    return *e ? e + 1 : NULL;
}

const uint64_t *pe_directory_find(const struct pe_directory *directory, uint64_t line)
{
    static const uint64_t only_one = 1;

    return directory->entries ? find(directory, line) : &only_one;
}

static void add(struct pe_directory *d, uint64_t line, unsigned cpu)
{
    uint64_t *e = entry(d, line, find_slot(d, line));

    e[0] = line | PE_VALID;
    e[1 + cpu / 64] |= UINT64_C(1) << cpu % 64;
}

void pe_directory_add(struct pe_directory *directory, uint64_t line, unsigned cpu)
{
    if (directory->entries)
        add(directory, line, cpu);
}

/* Close the gap: every entry stays reachable from its first slot. */
static void close_gap(struct pe_directory *d, uint64_t line, uint64_t gap)
{
    uint64_t mask = slot_mask(d);
    size_t size = d->entry_words * sizeof(uint64_t);

    for (uint64_t slot = (gap + 1) & mask; *entry(d, line, slot); slot = (slot + 1) & mask) {
        uint64_t *e = entry(d, line, slot);
        uint64_t from = first_slot(d, *e & ~(uint64_t)PE_VALID);

        if (((slot - from) & mask) < ((slot - gap) & mask))
            continue;
        memcpy(entry(d, line, gap), e, size);
        gap = slot;
    }
    memset(entry(d, line, gap), 0, size);
}

static void take_away(struct pe_directory *d, uint64_t line, unsigned cpu)
{
    uint64_t slot = find_slot(d, line), left = 0;
    uint64_t *e = entry(d, line, slot);

    if (*e == 0)
        return;
    e[1 + cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
    for (unsigned i = 1; i < d->entry_words; i++)
        left |= e[i];
    if (left == 0)
        close_gap(d, line, slot);
}

void pe_directory_remove(struct pe_directory *directory, uint64_t line, unsigned cpu)
{
    if (directory->entries)
        take_away(directory, line, cpu);
}

/* Entries of the old one, at their places in the new one. */
static void move_entries(const struct pe_directory *from, struct pe_directory *to)
{
    uint64_t count = UINT64_C(1) << (from->set_shift + from->slot_shift);

    for (uint64_t i = 0; i < count; i++) {
        const uint64_t *e = &from->entries[i * from->entry_words];
        uint64_t line = *e & ~(uint64_t)PE_VALID;

        if (*e)
            memcpy(entry(to, line, find_slot(to, line)), e, from->entry_words * sizeof(*e));
    }
}

/* What the only cpu has. */
static void add_all(struct pe_directory *d, const struct pe_cache *outermost)
{
    for (uint64_t i = 0; i < (outermost->set_mask + 1) * outermost->ways; i++) {
        uint64_t word = pe_get(&outermost->words[i]);

        if (word & PE_VALID)
            add(d, word & ~(uint64_t)PE_STATE, 0);
    }
}

/* Twice as many while there are few of them, then as many as one word more has bits for. */
int pe_directory_grow(struct pe_directory *directory, const struct pe_cache *outermost,
                      uint32_t cpus)
{
    struct pe_directory grown;
    uint32_t room = directory->cpus;
    int error;

    while (room < cpus)
        room += room < 64 ? room : 64;
    error = pe_directory_init(&grown, outermost, room);
    if (error)
        return error;
    if (directory->cpus == 1)
        add_all(&grown, outermost);
    else
        move_entries(directory, &grown);
    free(directory->entries);
    *directory = grown;
    return SPE_OK;
}
