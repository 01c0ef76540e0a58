/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "columns/shelf.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/large.h"

#define FIRST_BLOCKS 2
#define SLAB_SIZE ((size_t)8 << 20)

/* In front of each block. */
union head {
    struct {
        struct slab *slab;
        union head *next; /* of those that are free */
    };
    char size[SHELF_ALIGNMENT];
};

struct slab {
    struct slab *next; /* of those with room */
    void *memory;
    char *first;              /* block, with its head */
    size_t blocks, cut, used; /* room for so many; were ever handed out; are out now */
    union head *free;
};

struct shelf {
    atomic_uint users;
    pthread_mutex_t lock;
    size_t step;        /* bytes of a block and its head */
    bool has_slab;      /* had one: the next is a large one */
    struct slab *room;  /* slabs that have blocks to give */
    struct slab *spare; /* one of them of which none is out, kept for blocks to come; or NULL */
};

struct shelf *shelf_new(size_t block_size)
{
    struct shelf *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    atomic_init(&s->users, 1);
    pthread_mutex_init(&s->lock, NULL);
    s->step =
        sizeof(union head) + (block_size + SHELF_ALIGNMENT - 1) / SHELF_ALIGNMENT * SHELF_ALIGNMENT;
    return s;
}

void shelf_keep(struct shelf *s)
{
    atomic_fetch_add(&s->users, 1);
}

static void slab_free(struct slab *slab)
{
    free(slab->memory);
    free(slab);
}

void shelf_release(struct shelf *s)
{
    struct slab *next;

    if (!s || atomic_fetch_sub(&s->users, 1) != 1)
        return;
    for (struct slab *slab = s->room; slab; slab = next) {
        next = slab->next;
        slab_free(slab);
    }
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* One more with room; false: no memory. */
static bool add_slab(struct shelf *s)
{
    struct slab *slab = calloc(1, sizeof(*slab));

    if (!slab)
        return false;
    slab->blocks = s->has_slab ? (SLAB_SIZE - SHELF_ALIGNMENT) / s->step : FIRST_BLOCKS;
    slab->blocks += !slab->blocks;
    if (large_resize(&slab->memory, 0, slab->blocks * s->step + SHELF_ALIGNMENT) < 0) {
        free(slab);
        return false;
    }
    slab->first = (char *)slab->memory + -(uintptr_t)slab->memory % SHELF_ALIGNMENT;
    slab->next = s->room;
    s->room = slab;
    s->has_slab = true;
    return true;
}

/* Of a slab with room. */
static union head *slab_take(struct slab *slab, size_t step)
{
    union head *head = slab->free;

    if (head) {
        slab->free = head->next;
    } else {
        head = (union head *)(void *)(slab->first + slab->cut++ * step);
        head->slab = slab;
    }
    slab->used++;
    return head;
}

void *shelf_take(struct shelf *s)
{
    union head *head = NULL;

    pthread_mutex_lock(&s->lock);
    if (s->room || add_slab(s)) {
        struct slab *slab = s->room;

        head = slab_take(slab, s->step);
        if (slab == s->spare)
            s->spare = NULL;
        if (slab->used == slab->blocks)
            s->room = slab->next;
    }
    pthread_mutex_unlock(&s->lock);
    return head ? head + 1 : NULL;
}

/* Takes a slab out of those with room and frees it. */
static void drop(struct shelf *s, struct slab *slab)
{
    struct slab **at = &s->room;

    while (*at != slab)
        at = &(*at)->next;
    *at = slab->next;
    slab_free(slab);
}

void shelf_put(struct shelf *s, void *block)
{
    union head *head = block ? (union head *)block - 1 : NULL;
    struct slab *slab;

    if (!head)
        return;
    slab = head->slab;
    pthread_mutex_lock(&s->lock);
    if (slab->used-- == slab->blocks) {
        slab->next = s->room;
        s->room = slab;
    }
    head->next = slab->free;
    slab->free = head;
    if (!slab->used && s->spare)
        drop(s, slab);
    else if (!slab->used)
        s->spare = slab;
    pthread_mutex_unlock(&s->lock);
}
