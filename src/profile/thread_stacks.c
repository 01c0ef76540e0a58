/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Which thread's stack an address is in. Threads' stacks are far apart, and each thread uses one:
 * what lies between two addresses of it is of it, too. A page is the stack of the thread of its
 * process that used it first: later threads often get the memory of one that has ended.
 */
#include <stdlib.h>

#include "profile_internal.h"

#define STACK_GAP (UINT64_C(1) << 20)
#define PAGE UINT64_C(4096)

enum { EDIT = 1 }; /* of the trees, which have no history */

static int room_for(struct thread_stacks *s, uint32_t thread, uint32_t process)
{
    if (!s->owners.nodes.count && spaces_init(&s->owners) < 0)
        return SPE_ERR_NOMEM;
    while (s->used.count <= thread) {
        if (VECTOR_ROOM(&s->used) < 0)
            return SPE_ERR_NOMEM;
        s->used.at[s->used.count++] = (struct stack_range){UINT64_MAX, 0};
    }
    while (s->roots.count <= process) {
        if (VECTOR_ROOM(&s->roots) < 0)
            return SPE_ERR_NOMEM;
        s->roots.at[s->roots.count++] = 0;
    }
    return SPE_OK;
}

/* The pages from `low` to `high` that are nobody's yet. */
static int claim(struct thread_stacks *s, uint32_t *root, uint32_t thread, uint64_t low,
                 uint64_t high)
{
    uint64_t at = low & ~(PAGE - 1), end = (high | (PAGE - 1)) + 1;

    while (at < end) {
        struct map_view view = spaces_view(&s->owners, *root, at);
        uint64_t next = view.last < end ? view.last + 1 : end;

        if (view.map == NONE) {
            uint32_t changed = spaces_assign(&s->owners, *root, EDIT, at, next, thread);

            if (changed == NONE)
                return SPE_ERR_NOMEM;
            *root = changed;
        }
        at = next;
    }
    return SPE_OK;
}

int thread_stacks_tell(struct thread_stacks *s, uint32_t thread, uint32_t process, uint64_t address)
{
    struct stack_range *used;
    uint64_t from = address, to = address; /* what is new of it */

    if (address >> 63 || process == NONE) /* the kernel's are not told */
        return SPE_OK;
    if (room_for(s, thread, process) < 0)
        return SPE_ERR_NOMEM;
    used = &s->used.at[thread];
    if (used->low > used->high) {
        *used = (struct stack_range){address, address};
    } else if (address >= used->low && address <= used->high) {
        return SPE_OK;
    } else if (address + STACK_GAP < used->low || address > used->high + STACK_GAP) {
        return SPE_OK; /* of a coroutine, or a signal's own: whose is not told */
    } else if (address < used->low) {
        to = used->low;
        used->low = address;
    } else {
        from = used->high;
        used->high = address;
    }
    return claim(s, &s->roots.at[process], thread, from, to);
}

uint32_t thread_stacks_owner(const struct thread_stacks *s, uint32_t process, uint64_t address)
{
    uint32_t thread;

    if (process >= s->roots.count)
        return NONE;
    thread = spaces_view(&s->owners, s->roots.at[process], address).map;
    if (thread == NONE || address < s->used.at[thread].low || address > s->used.at[thread].high)
        return NONE;
    return thread;
}

void thread_stacks_free(struct thread_stacks *s)
{
    free(s->owners.nodes.at);
    free(s->used.at);
    free(s->roots.at);
}
