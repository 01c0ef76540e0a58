/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Threads, processes and their names and maps over time, and who ran on which CPU. A pid or tid
 * that is used again is another process or thread.
 */
#include <stdlib.h>
#include <string.h>

#include "profile_internal.h"

/* ---- Processes and threads ------------------------------------------------------------------ */

/* A new process with this pid; the one before it, if any, is history. */
static uint32_t new_process(struct tasks *t, uint32_t pid)
{
    struct process *process;

    if (VECTOR_ROOM(&t->processes) < 0)
        return NONE;
    process = &t->processes.at[t->processes.count];
    *process = (struct process){.pid = pid, .edit = ++t->spaces.edits};
    if (pid != SPE_NO_TASK && id_table_set(&t->by_pid, pid, (uint32_t)t->processes.count) < 0)
        return NONE;
    return (uint32_t)t->processes.count++;
}

static uint32_t find_process(struct tasks *t, uint32_t pid)
{
    uint32_t process = pid == SPE_NO_TASK ? 0 : id_table_get(&t->by_pid, pid);

    return process == NONE ? new_process(t, pid) : process;
}

/* With far ones at 1, 1, 3, 1, 1, 3, 7 ... steps: two of the same length become one. */
static void link_older(const struct tasks *t, struct thread *thread, uint32_t number)
{
    const struct thread *threads = t->threads.at, *older;
    uint32_t further;

    thread->far = number;
    if (thread->older == NONE)
        return;
    older = &threads[thread->older];
    further = threads[older->far].far;
    thread->age = older->age + 1;
    thread->far =
        older->age - threads[older->far].age == threads[older->far].age - threads[further].age
            ? further
            : thread->older;
}

static uint32_t new_thread(struct tasks *t, uint32_t pid, uint32_t tid, uint64_t start)
{
    struct thread thread = {
        .shown = {pid, tid, SPE_NO_ID, start},
        .process = pid == SPE_NO_TASK ? NONE : find_process(t, pid),
        .older = id_table_get(&t->by_tid, tid),
    };

    if (tid == SPE_NO_TASK || (pid != SPE_NO_TASK && thread.process == NONE) ||
        VECTOR_ROOM(&t->threads) < 0 ||
        id_table_set(&t->by_tid, tid, (uint32_t)t->threads.count) < 0)
        return NONE;
    link_older(t, &thread, (uint32_t)t->threads.count);
    t->threads.at[t->threads.count] = thread;
    return (uint32_t)t->threads.count++;
}

/* The thread that has this tid now, made if there is none of that process. */
static uint32_t find_thread(struct tasks *t, uint32_t pid, uint32_t tid, uint64_t time)
{
    uint32_t thread = id_table_get(&t->by_tid, tid);

    if (thread == NONE)
        return new_thread(t, pid, tid, 0);
    return t->threads.at[thread].shown.pid == pid ? thread : new_thread(t, pid, tid, time);
}

int tasks_init(struct tasks *t, uint64_t seed)
{
    t->by_tid.seed = t->by_pid.seed = t->by_cpu.seed = seed;
    if (spaces_init(&t->spaces) < 0 || new_process(t, SPE_NO_TASK) == NONE)
        return SPE_ERR_NOMEM;
    return SPE_OK;
}

void tasks_free(struct tasks *t)
{
    for (size_t i = 0; i < t->processes.count; i++)
        free(t->processes.at[i].space.versions.at);
    for (size_t i = 0; i < t->threads.count; i++)
        free(t->threads.at[i].comm.versions.at);
    for (size_t i = 0; i < t->cpus.count; i++)
        free(t->cpus.at[i].turns.at);
    free(t->processes.at);
    free(t->threads.at);
    free(t->cpus.at);
    id_table_free(&t->by_tid);
    id_table_free(&t->by_pid);
    id_table_free(&t->by_cpu);
    free(t->spaces.nodes.at);
    memset(t, 0, sizeof(*t));
}

/* Arrays that grow have room for 16 elements, or for twice as many as they have. */
uint64_t tasks_memory(const struct tasks *t)
{
    uint64_t histories = 16 * (t->threads.count + t->processes.count) + 2 * t->versions;
    uint64_t turns = 16 * t->cpus.count + 2 * t->turns;
    uint64_t ids =
        id_table_memory(&t->by_tid) + id_table_memory(&t->by_pid) + id_table_memory(&t->by_cpu);

    return histories * sizeof(struct version) + turns * sizeof(struct turn) + ids +
           2 * t->threads.count * sizeof(struct thread) +
           2 * t->processes.count * sizeof(struct process) +
           2 * t->cpus.count * sizeof(struct cpu_turns) +
           2 * t->spaces.nodes.count * sizeof(struct space_node);
}

static uint32_t root_of(const struct process *process)
{
    size_t count = process->space.versions.count;

    return count ? process->space.versions.at[count - 1].what : 0;
}

/* From `time` on the process has another space. Nodes of the one before stay as they are. */
static int set_root(struct tasks *t, struct process *process, uint64_t time, uint32_t root)
{
    size_t count = process->space.versions.count;

    if (root == NONE)
        return SPE_ERR_NOMEM;
    if (t->spaces.full && count)
        time = process->space.versions.at[count - 1].time;
    t->versions++;
    return history_add(&process->space, time, root);
}

static int set_comm(struct tasks *t, uint32_t number, uint64_t time, uint32_t name)
{
    struct thread *thread = &t->threads.at[number];

    t->versions++;
    thread->shown.comm = name;
    return history_add(&thread->comm, time, name);
}

int tasks_comm(struct tasks *t, uint64_t time, uint32_t pid, uint32_t tid, uint32_t name, bool exec)
{
    uint32_t thread = find_thread(t, pid, tid, time);
    struct process *process;

    if (thread == NONE)
        return tid == SPE_NO_TASK ? SPE_OK : SPE_ERR_NOMEM;
    if (exec && t->threads.at[thread].process != NONE) {
        process = &t->processes.at[t->threads.at[thread].process];
        process->edit = ++t->spaces.edits;
        if (set_root(t, process, time, 0) < 0)
            return SPE_ERR_NOMEM;
    }
    return set_comm(t, thread, time, name);
}

/* The child shares its parent's tree until one of them changes it. */
static int copy_space(struct tasks *t, uint32_t child, uint32_t parent, uint64_t time)
{
    struct process *from = &t->processes.at[parent], *to = &t->processes.at[child];

    from->edit = ++t->spaces.edits;
    to->edit = ++t->spaces.edits;
    return set_root(t, to, time, root_of(from));
}

int tasks_fork(struct tasks *t, uint64_t time, const struct spe_perf_task *task, bool copy)
{
    uint32_t parent = id_table_get(&t->by_tid, task->parent_tid);
    uint32_t parent_process = id_table_get(&t->by_pid, task->parent_pid);
    uint32_t thread, child;

    if (task->tid == SPE_NO_TASK || task->pid == SPE_NO_TASK)
        return SPE_OK;
    if (task->pid != task->parent_pid) {
        child = new_process(t, task->pid);
        if (child == NONE)
            return SPE_ERR_NOMEM;
        if (copy && parent_process != NONE && copy_space(t, child, parent_process, time) < 0)
            return SPE_ERR_NOMEM;
    }
    thread = new_thread(t, task->pid, task->tid, time);
    if (thread == NONE)
        return SPE_ERR_NOMEM;
    if (parent == NONE || t->threads.at[parent].shown.comm == SPE_NO_ID)
        return SPE_OK;
    return set_comm(t, thread, time, t->threads.at[parent].shown.comm);
}

int tasks_seen(struct tasks *t, uint32_t pid, uint32_t tid, uint32_t name)
{
    uint32_t thread = id_table_get(&t->by_tid, tid);

    if (tid == SPE_NO_TASK || thread != NONE)
        return SPE_OK;
    thread = new_thread(t, pid, tid, 0);
    if (thread == NONE)
        return SPE_ERR_NOMEM;
    return name == SPE_NO_ID ? SPE_OK : set_comm(t, thread, 0, name);
}

int tasks_map(struct tasks *t, uint64_t time, uint32_t pid, uint64_t start, uint64_t end,
              uint32_t map)
{
    uint32_t number = find_process(t, pid);
    struct process *process;
    size_t count;

    if (number == NONE)
        return SPE_ERR_NOMEM;
    process = &t->processes.at[number];
    count = process->space.versions.count;
    if (!t->spaces.full && count && process->space.versions.at[count - 1].time < time)
        process->edit = ++t->spaces.edits;
    return set_root(t, process, time,
                    spaces_assign(&t->spaces, root_of(process), process->edit, start, end, map));
}

/* ---- Who runs where ------------------------------------------------------------------------- */

int tasks_turn(struct tasks *t, uint32_t cpu, uint64_t time, uint32_t tid, uint32_t left)
{
    uint32_t place = id_table_get(&t->by_cpu, cpu);
    struct cpu_turns *c;

    if (place == NONE) {
        place = (uint32_t)t->cpus.count;
        if (VECTOR_ROOM(&t->cpus) < 0 || id_table_set(&t->by_cpu, cpu, place) < 0)
            return SPE_ERR_NOMEM;
        t->cpus.at[t->cpus.count++] = (struct cpu_turns){.cpu = cpu, .before = left};
    }
    c = &t->cpus.at[place];
    if (VECTOR_ROOM(&c->turns) < 0)
        return SPE_ERR_NOMEM;
    c->turns.at[c->turns.count] = (struct turn){time, tid, (uint32_t)c->turns.count};
    c->turns.count++;
    t->turns++;
    return SPE_OK;
}

static int compare_turns(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

void tasks_finish(struct tasks *t)
{
    for (size_t i = 0; i < t->cpus.count; i++)
        qsort(t->cpus.at[i].turns.at, t->cpus.at[i].turns.count, sizeof(struct turn),
              compare_turns);
}

const struct cpu_turns *tasks_turns(const struct tasks *t, uint32_t cpu)
{
    uint32_t place = id_table_get(&t->by_cpu, cpu);

    return place == NONE ? NULL : &t->cpus.at[place];
}

/* ---- Looking up ----------------------------------------------------------------------------- */

uint32_t tasks_kernel_root(const struct tasks *t, uint64_t time, uint64_t *from, uint64_t *to)
{
    *from = 0;
    *to = UINT64_MAX;
    return history_at(&t->processes.at[0].space, time, 0, from, to);
}

void tasks_view_thread(const struct tasks *t, uint32_t thread, uint64_t time,
                       struct task_view *view)
{
    const struct thread *at = &t->threads.at[thread];

    view->tid = at->shown.tid;
    view->pid = at->shown.pid;
    view->thread = thread;
    view->comm = history_at(&at->comm, time, SPE_NO_ID, &view->from, &view->to);
    view->root = 0;
    if (at->process != NONE)
        view->root =
            history_at(&t->processes.at[at->process].space, time, 0, &view->from, &view->to);
}

void tasks_view(const struct tasks *t, uint32_t tid, uint64_t time, struct task_view *view)
{
    uint32_t thread = tid == SPE_NO_TASK ? NONE : id_table_get(&t->by_tid, tid);

    *view = (struct task_view){0, UINT64_MAX, tid, SPE_NO_TASK, SPE_NO_ID, SPE_NO_ID, 0};
    if (thread == NONE)
        return;
    while (t->threads.at[thread].shown.start_ns > time && t->threads.at[thread].older != NONE) {
        uint32_t far = t->threads.at[thread].far;

        view->to = t->threads.at[thread].shown.start_ns;
        thread = t->threads.at[far].shown.start_ns > time ? far : t->threads.at[thread].older;
    }
    if (t->threads.at[thread].older != NONE)
        view->from = t->threads.at[thread].shown.start_ns;
    tasks_view_thread(t, thread, time, view);
}
