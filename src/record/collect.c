/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "record/collect.h"

#include <errno.h>
#include <poll.h>
#include <specimen/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NO_QUEUE UINT32_MAX

enum { THREADS_MAX = 1 << 16, MESSAGES_AT_ONCE = 16 };

/* A thread's place in the file, and what it shares with us. */
struct queue {
    bool used;
    uint32_t tid;
    uint64_t taken; /* bytes of the thread that are in the file */
    struct wire_shared *shared;
};

struct process {
    uint32_t pid, parent;
    int fd; /* -1: away */
    bool greeted;
    char name[64];
    uint32_t *queues; /* by slot */
    uint32_t slot_count;
};

struct collector {
    struct record_file *file;
    const struct wire_setup *setup;
    struct record_summary *summary;
    struct record_counts *counts;
    struct process **processes;
    size_t count, room;
    struct queue *queues;
    uint32_t queue_count;
    union {
        struct wire_header header;
        struct wire_hello hello;
        struct wire_text text;
        struct wire_map map;
        struct wire_thread thread;
        struct wire_aux aux;
        struct wire_counts counts;
        uint8_t bytes[WIRE_MESSAGE_MAX];
    } message;
};

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct collector *collector_create(struct record_file *file, const struct wire_setup *setup,
                                   struct record_summary *summary, struct record_counts *counts)
{
    struct collector *c = calloc(1, sizeof(*c));

    if (c) {
        c->file = file;
        c->setup = setup;
        c->summary = summary;
        c->counts = counts;
    }
    return c;
}

/* ---- Queues --------------------------------------------------------------------------------- */

/* The lowest that nobody uses. */
static uint32_t take_queue(struct collector *c)
{
    uint32_t i = 0;

    while (i < c->queue_count && c->queues[i].used)
        i++;
    if (i == c->queue_count) {
        struct queue *grown = realloc(c->queues, (i + 1) * sizeof(*grown));

        if (!grown)
            return NO_QUEUE;
        c->queues = grown;
        c->queue_count++;
    }
    c->queues[i] = (struct queue){.used = true};
    return i;
}

static uint32_t queue_of(const struct process *p, uint32_t slot)
{
    return slot < p->slot_count ? p->queues[slot] : NO_QUEUE;
}

static bool set_queue(struct process *p, uint32_t slot, uint32_t queue)
{
    if (slot >= THREADS_MAX)
        return false;
    if (slot >= p->slot_count) {
        uint32_t *grown = realloc(p->queues, (slot + 1) * sizeof(*grown));

        if (!grown)
            return false;
        while (p->slot_count <= slot)
            grown[p->slot_count++] = NO_QUEUE;
        p->queues = grown;
    }
    p->queues[slot] = queue;
    return true;
}

static void write_aux(struct collector *c, const struct process *p, uint32_t queue, uint64_t time,
                      unsigned flags, const uint8_t *bytes, uint64_t offset, uint64_t size)
{
    struct queue *q = &c->queues[queue];
    struct file_place at = {p->pid, q->tid, queue, time};
    uint64_t skip = q->taken > offset ? q->taken - offset : 0;

    if (skip >= size && !flags)
        return;
    skip = skip < size ? skip : size;
    file_aux(c->file, &at, queue, flags, bytes + skip, size - skip);
    c->summary->aux_bytes += size - skip;
    q->taken = offset + size;
}

/* What is in the shared memory and never came by message. The other side may be anything by now. */
static void take_rest(struct collector *c, const struct process *p, uint32_t queue, uint64_t time)
{
    struct queue *q = &c->queues[queue];
    uint64_t head, offset;

    if (!q->shared)
        return;
    head = atomic_load_explicit(&q->shared->head, memory_order_acquire);
    offset = atomic_load_explicit(&q->shared->offset, memory_order_acquire);
    if (head && head <= WIRE_BUFFER)
        write_aux(c, p, queue, time, 0, q->shared->buffer, offset, head);
}

static void add_statistics(struct wire_statistics *to, const struct wire_statistics *from)
{
    to->operations += from->operations;
    to->selected += from->selected;
    to->collisions += from->collisions;
    to->sampled += from->sampled;
    to->filtered += from->filtered;
    to->records += from->records;
    to->bytes += from->bytes;
    to->dropped += from->dropped;
    for (unsigned i = 0; i < 8; i++)
        to->filtered_by[i] += from->filtered_by[i];
}

/* Threads that share a CPU take turns as the host likes: nobody could say when. */
static void tell_switch(struct collector *c, const struct file_place *at, bool out)
{
    if (!(c->setup->flags & WIRE_SHARE_CPUS))
        file_switch(c->file, at, out);
}

/* The thread in this slot has ended. */
static void end_thread(struct collector *c, struct process *p, uint32_t slot, uint64_t time,
                       bool exits)
{
    uint32_t queue = queue_of(p, slot);
    struct file_place at;
    struct queue *q;

    if (queue == NO_QUEUE)
        return;
    q = &c->queues[queue];
    at = (struct file_place){p->pid, q->tid, queue, time};
    take_rest(c, p, queue, time);
    if (q->shared) {
        add_statistics(&c->summary->statistics, &q->shared->statistics);
        munmap(q->shared, sizeof(*q->shared));
    }
    tell_switch(c, &at, true);
    if (exits)
        file_exit(c->file, &at, q->tid == p->pid ? p->parent : p->pid);
    *q = (struct queue){.used = false};
    p->queues[slot] = NO_QUEUE;
}

/* ---- Processes ------------------------------------------------------------------------------ */

static struct process *find_process(struct collector *c, uint32_t pid)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->processes[i]->greeted && c->processes[i]->pid == pid)
            return c->processes[i];
    return NULL;
}

static void remove_process(struct collector *c, struct process *p)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->processes[i] == p) {
            c->processes[i] = c->processes[--c->count];
            break;
        }
    }
    if (p->fd >= 0)
        close(p->fd);
    free(p->queues);
    free(p);
}

/* All its threads have ended, and unless it is about to become another program, so has it. */
static void end_process(struct collector *c, struct process *p, bool exits)
{
    uint64_t time = now();
    bool main_ended = false;

    for (uint32_t slot = 0; slot < p->slot_count; slot++) {
        uint32_t queue = queue_of(p, slot);

        main_ended |= queue != NO_QUEUE && c->queues[queue].tid == p->pid;
        end_thread(c, p, slot, time, exits);
    }
    if (exits && !main_ended && p->greeted) {
        struct file_place at = {p->pid, p->pid, 0, time};

        file_exit(c->file, &at, p->parent);
    }
}

void collector_accept(struct collector *c, int fd)
{
    struct process *p = calloc(1, sizeof(*p));

    if (p && c->count == c->room) {
        size_t room = c->room * 2 + 16;
        struct process **grown = reallocarray(c->processes, room, sizeof(void *));

        if (grown) {
            c->processes = grown;
            c->room = room;
        }
    }
    if (!p || c->count == c->room) {
        free(p);
        close(fd);
        return;
    }
    p->fd = fd;
    c->processes[c->count++] = p;
}

/* ---- Messages ------------------------------------------------------------------------------- */

static struct file_place place_of(const struct process *p, const struct wire_header *h)
{
    (void)p;
    return (struct file_place){h->pid, h->tid, 0, h->time};
}

/* A new connection says who it is: a new process, or one that was there before and came back, which
 * takes the connection over. False if p is gone. */
static bool greet(struct collector *c, struct process *p, const struct wire_hello *h)
{
    struct process *old = find_process(c, h->header.pid);
    struct file_place at = {h->header.pid, h->header.tid, 0, h->header.time};

    if (h->version != WIRE_VERSION ||
        send(p->fd, c->setup, sizeof(*c->setup), MSG_NOSIGNAL) != (ssize_t)sizeof(*c->setup)) {
        remove_process(c, p);
        return false;
    }
    c->summary->level = h->level;
    if (old && h->how != WIRE_FORKED) {
        if (old->fd >= 0)
            close(old->fd);
        old->fd = p->fd;
        p->fd = -1;
        remove_process(c, p);
        if (h->how == WIRE_STARTED)
            end_process(c, old, false);
        return false;
    }
    p->pid = h->header.pid;
    p->parent = h->parent;
    p->greeted = true;
    c->summary->processes++;
    if (h->how == WIRE_FORKED)
        file_fork(c->file, &at, h->parent, h->parent);
    return true;
}

static void start_thread(struct collector *c, struct process *p, const struct wire_thread *m,
                         int fd)
{
    struct file_place at = place_of(p, &m->header);
    struct wire_shared *shared;
    struct stat st;
    uint32_t queue;

    if (fd < 0 || fstat(fd, &st) < 0 || (size_t)st.st_size < sizeof(*shared))
        return;
    end_thread(c, p, m->slot, m->header.time, false);
    queue = take_queue(c);
    if (queue == NO_QUEUE || !set_queue(p, m->slot, queue))
        return;
    shared = mmap(NULL, sizeof(*shared), PROT_READ, MAP_SHARED, fd, 0);
    c->queues[queue].shared = shared == MAP_FAILED ? NULL : shared;
    c->queues[queue].tid = m->header.tid;
    c->summary->threads++;
    at.cpu = queue;
    if (m->header.tid != p->pid)
        file_fork(c->file, &at, p->pid, p->pid);
    tell_switch(c, &at, false);
    file_start(c->file, &at);
}

static void take_aux(struct collector *c, struct process *p, const struct wire_aux *m)
{
    uint32_t queue = queue_of(p, m->slot);

    if (queue != NO_QUEUE && m->size <= WIRE_BUFFER &&
        m->header.size == offsetof(struct wire_aux, bytes) + m->size)
        write_aux(c, p, queue, m->header.time, m->flags, m->bytes, m->offset, m->size);
}

static void take_counts(struct collector *c, const struct wire_counts *m)
{
    struct record_counts *to = c->counts;

    if (!to || m->count > WIRE_COUNTS_MAX)
        return;
    if (to->count + m->count > to->room) {
        size_t room = to->room * 2 + WIRE_COUNTS_MAX;
        struct record_count *grown = realloc(to->at, room * sizeof(*grown));

        if (!grown)
            return;
        to->at = grown;
        to->room = room;
    }
    for (uint32_t i = 0; i < m->count; i++)
        to->at[to->count++] = (struct record_count){m->header.pid, m->counts[i]};
}

/* One message of `size` bytes in c->message. False if the process is gone from the list. */
static bool take_message(struct collector *c, struct process *p, size_t size, int fd)
{
    const struct wire_header *h = &c->message.header;
    struct file_place at = place_of(p, h);

    if (size < sizeof(*h) || h->size != size)
        return true;
    c->message.bytes[size < WIRE_MESSAGE_MAX ? size : WIRE_MESSAGE_MAX - 1] = '\0';
    if (h->type == WIRE_HELLO)
        return size < sizeof(c->message.hello) || greet(c, p, &c->message.hello);
    if (!p->greeted)
        return true;
    switch (h->type) {
    case WIRE_PROGRAM:
    case WIRE_COMM:
        file_comm(c->file, &at, c->message.text.text, h->type == WIRE_PROGRAM);
        break;
    case WIRE_MAP:
        file_map(c->file, &at, &c->message.map);
        break;
    case WIRE_THREAD:
        start_thread(c, p, &c->message.thread, fd);
        break;
    case WIRE_AUX:
        take_aux(c, p, &c->message.aux);
        break;
    case WIRE_THREAD_END:
        end_thread(c, p, c->message.thread.slot, h->time, h->tid != p->pid);
        break;
    case WIRE_AWAY:
        close(p->fd);
        p->fd = -1;
        break;
    case WIRE_COUNTS:
        take_counts(c, &c->message.counts);
        break;
    case WIRE_TROUBLE:
        snprintf(c->summary->trouble, sizeof(c->summary->trouble), "%.200s", c->message.text.text);
        break;
    default:
        break;
    }
    return true;
}

/* The descriptor that came with a message, or -1. */
static int passed_descriptor(struct msghdr *message)
{
    int fd = -1;

    for (struct cmsghdr *m = CMSG_FIRSTHDR(message); m; m = CMSG_NXTHDR(message, m))
        if (m->cmsg_level == SOL_SOCKET && m->cmsg_type == SCM_RIGHTS)
            memcpy(&fd, CMSG_DATA(m), sizeof(fd));
    return fd;
}

/* 1: a message was read; 0: nothing there; -1: the connection has ended; -2: so has p, or its
 * connection by agreement. */
static int read_message(struct collector *c, struct process *p)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {&c->message, sizeof(c->message)};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.room,
        .msg_controllen = sizeof(control.room),
    };
    ssize_t size = recvmsg(p->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    int fd;
    bool there;

    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (size == 0)
        return -1;
    fd = passed_descriptor(&message);
    there = take_message(c, p, (size_t)size, fd);
    if (fd >= 0)
        close(fd);
    return there && p->fd >= 0 ? 1 : -2;
}

static struct process *process_of(struct collector *c, int fd)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->processes[i]->fd == fd)
            return c->processes[i];
    return NULL;
}

void collector_read(struct collector *c, int fd)
{
    struct process *p = process_of(c, fd);
    int result = 1;

    for (int i = 0; p && i < MESSAGES_AT_ONCE && result > 0; i++)
        result = read_message(c, p);
    if (result != -1 || !p)
        return;
    end_process(c, p, true);
    remove_process(c, p);
}

size_t collector_poll(const struct collector *c, struct pollfd *fds, size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < c->count && count < max; i++)
        if (c->processes[i]->fd >= 0)
            fds[count++] = (struct pollfd){.fd = c->processes[i]->fd, .events = POLLIN};
    return count;
}

size_t collector_count(const struct collector *c)
{
    return c->count;
}

/* ---- The end -------------------------------------------------------------------------------- */

void collector_end(struct collector *c)
{
    while (c->count) {
        end_process(c, c->processes[0], true);
        remove_process(c, c->processes[0]);
    }
}

void collector_free(struct collector *c)
{
    if (!c)
        return;
    collector_end(c);
    free(c->processes);
    free(c->queues);
    free(c);
}
