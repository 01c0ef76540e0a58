/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Call stacks: SAMPLE records of the recording that have one, found again by the thread, time and
 * pc of an SPE record, which are the same. Stacks that begin alike share their beginning: each is
 * the number of its innermost call, which knows its caller.
 *
 * Stacks of other events are kept apart, and only where SPE records have none: those that are known
 * to be of a sample are never mixed with those that may be.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sized.h"
#include "profile_internal.h"

static uint64_t hash_of(const struct stacks *s, uint32_t caller, uint64_t address)
{
    return hash_number(hash_number(s->seed, address), caller);
}

/* The call from the caller, or SPE_NO_ID without memory. */
static uint32_t intern(struct stacks *s, uint32_t caller, uint64_t address)
{
    uint64_t hash = hash_of(s, caller, address);
    size_t cursor = 0;
    uint32_t id;

    while ((id = hash_table_find(&s->index, hash, &cursor)) != UINT32_MAX)
        if (s->calls.at[id].caller == caller && s->calls.at[id].address == address)
            return id;
    id = (uint32_t)s->calls.count;
    if (id == SPE_NO_ID || VECTOR_ROOM(&s->calls) < 0 || hash_table_add(&s->index, hash, id) < 0)
        return SPE_NO_ID;
    s->calls.at[s->calls.count++] = (struct spe_profile_call){address, caller};
    return id;
}

/* All stacks of a process begin with it. One that has become another program is another process:
 * its addresses mean something else. */
static uint32_t root_of(struct stacks *s, uint32_t pid)
{
    uint32_t programs = id_table_get(&s->programs, pid);

    return intern(s, SPE_NO_ID, (uint64_t)pid << 32 | (programs == NONE ? 0 : programs));
}

int stacks_exec(struct stacks *s, uint32_t pid)
{
    uint32_t programs = id_table_get(&s->programs, pid);

    if (pid == SPE_NO_TASK)
        return SPE_OK;
    return id_table_set(&s->programs, pid, programs == NONE ? 1 : programs + 1);
}

static uint64_t word_at(const uint8_t *words, uint64_t i)
{
    uint64_t word;

    memcpy(&word, words + 8 * i, sizeof(word));
    return word;
}

/* The first address is that of the sample itself. SPE_NO_ID without memory. */
static uint32_t stack_of(struct stacks *s, const struct spe_perf_record *r)
{
    const struct spe_perf_sample *sample = &r->sample;
    uint32_t stack = root_of(s, r->id.pid);

    for (uint64_t i = sample->callchain_count; i-- > 0 && stack != SPE_NO_ID;) {
        uint64_t address = word_at(sample->callchain, i);
        bool leaf = address == sample->ip &&
                    (i == 0 || (i == 1 && word_at(sample->callchain, 0) >= SPE_PERF_CONTEXT_MAX));

        if (address < SPE_PERF_CONTEXT_MAX && !leaf)
            stack = intern(s, stack, address);
    }
    return stack;
}

int stacks_take(struct stacks *s, const struct spe_perf_record *r)
{
    uint32_t stack = stack_of(s, r);

    if (stack == SPE_NO_ID || VECTOR_ROOM(&s->samples) < 0)
        return SPE_ERR_NOMEM;
    s->samples.at[s->samples.count++] =
        (struct stack_sample){r->id.time, r->sample.ip, r->id.tid, stack};
    return SPE_OK;
}

/* A chain without addresses tells nothing. */
static bool has_addresses(const struct spe_perf_sample *sample)
{
    for (uint64_t i = 0; i < sample->callchain_count; i++)
        if (word_at(sample->callchain, i) < SPE_PERF_CONTEXT_MAX)
            return true;
    return false;
}

#define WEIGHT_MAX (UINT64_C(1) << 36) /* a sum of as many as fit into memory is a number, too */

int stacks_take_other(struct stacks *s, const struct spe_perf_record *r)
{
    uint64_t weight = r->sample.period;
    uint32_t stack;

    if (!has_addresses(&r->sample))
        return SPE_OK;
    stack = stack_of(s, r);
    if (stack == SPE_NO_ID || VECTOR_ROOM(&s->others) < 0)
        return SPE_ERR_NOMEM;
    s->others.at[s->others.count++] = (struct other_sample){
        .sample = {r->id.time, r->sample.ip, r->id.tid, stack},
        .weight = !weight               ? 1
                  : weight < WEIGHT_MAX ? weight
                                        : WEIGHT_MAX,
        .event = (uint32_t)r->event,
    };
    return SPE_OK;
}

uint64_t stacks_memory(const struct stacks *s)
{
    return s->calls.capacity * sizeof(s->calls.at[0]) +
           s->samples.capacity * sizeof(s->samples.at[0]) +
           s->others.capacity * sizeof(s->others.at[0]) + s->index.capacity * sizeof(uint64_t) +
           id_table_memory(&s->programs);
}

static int compare_keys(const struct stack_sample *x, const struct stack_sample *y)
{
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static int compare(const void *a, const void *b)
{
    const struct stack_sample *x = a, *y = b;
    int order = compare_keys(x, y);

    return order ? order : (x->stack > y->stack) - (x->stack < y->stack);
}

static int compare_others(const void *a, const void *b)
{
    const struct other_sample *x = a, *y = b;
    int order = (x->event > y->event) - (x->event < y->event);

    return order ? order : compare(&x->sample, &y->sample);
}

/* Periods of different events cannot be added: the event with most stacks is kept. */
static void keep_one_event(struct stacks *s)
{
    size_t best = 0, most = 0, from = 0;

    if (s->samples.count)
        s->others.count = 0;
    if (!s->others.count)
        return;
    qsort(s->others.at, s->others.count, sizeof(s->others.at[0]), compare_others);
    for (size_t i = 1; i <= s->others.count; i++) {
        if (i < s->others.count && s->others.at[i].event == s->others.at[from].event)
            continue;
        if (i - from > most) {
            best = from;
            most = i - from;
        }
        from = i;
    }
    memmove(s->others.at, s->others.at + best, most * sizeof(s->others.at[0]));
    s->others.count = most;
}

/* Of two different stacks of one sample nobody knows which is right. */
void stacks_finish(struct stacks *s)
{
    size_t kept = 0;

    keep_one_event(s);

    if (s->samples.count)
        qsort(s->samples.at, s->samples.count, sizeof(s->samples.at[0]), compare);
    for (size_t i = 0; i < s->samples.count; i++) {
        struct stack_sample *last = kept ? &s->samples.at[kept - 1] : NULL;

        if (!last || compare_keys(last, &s->samples.at[i]) != 0)
            s->samples.at[kept++] = s->samples.at[i];
        else if (last->stack != s->samples.at[i].stack)
            last->stack = SPE_NO_ID;
    }
    s->samples.count = kept;
}

uint32_t stacks_find(const struct stacks *s, uint64_t time, uint64_t pc, uint32_t tid)
{
    const struct stack_sample key = {time, pc, tid, 0};
    size_t low = 0, high = s->samples.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys(&s->samples.at[middle], &key);

        if (!order)
            return s->samples.at[middle].stack;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SPE_NO_ID;
}

void stacks_free(struct stacks *s)
{
    free(s->calls.at);
    free(s->samples.at);
    free(s->others.at);
    id_table_free(&s->programs);
    hash_table_free(&s->index);
}

int spe_profile_call(const struct spe_profile *p, uint32_t id, struct spe_profile_call *call)
{
    const struct stacks *s = &p->stacks;

    if (id >= s->calls.count || s->calls.at[id].caller == SPE_NO_ID)
        return SPE_ERR_UNKNOWN;
    *call = s->calls.at[id];
    return SPE_OK;
}

int spe_profile_other_stack_sized(const struct spe_profile *p, size_t i,
                                  struct spe_profile_other_stack *stack, size_t size)
{
    const struct other_sample *other;
    struct spe_profile_other_stack own = {.thread = SPE_NO_ID, .stack = SPE_NO_ID};
    struct task_view view;

    if (i < p->stacks.others.count) {
        other = &p->stacks.others.at[i];
        tasks_view(&p->tasks, other->sample.tid, other->sample.time, &view);
        own = (struct spe_profile_other_stack){.pc = other->sample.pc,
                                               .time_ns = other->sample.time,
                                               .weight = other->weight,
                                               .thread = view.thread,
                                               .stack = other->sample.stack};
    }
    sized_give(stack, size, &own, sizeof(own));
    return i < p->stacks.others.count ? SPE_OK : SPE_ERR_UNKNOWN;
}
