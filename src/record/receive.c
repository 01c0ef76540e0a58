/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "record/receive.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/vector.h"

#define NO_QUEUE UINT32_MAX

enum {
    MESSAGES_AT_ONCE = 16,
    DESCRIPTORS_MAX = 253, /* with one message, the kernel's SCM_MAX_FD; ours have one or none */
    MESSAGES_WAITING = 1 << 16, /* more than a socket holds, but for a sender without end */
    QUEUES_TRIED = 64,
};

/* A thread's place in the file, and what it shares with us. */
struct queue {
    bool used;
    uint64_t free_from; /* when its last thread ended */
    uint32_t tid;
    uint64_t taken;          /* where the thread's bytes end that were looked at */
    uint64_t bytes, records; /* of them in the file */
    const struct wire_shared *shared;
};

/* Bytes of a thread. */
struct piece {
    uint64_t offset; /* in all that it has written */
    uint64_t size;
    uint64_t records; /* whole ones */
    unsigned flags;   /* PERF_AUX_FLAG_... */
};

/* A process is what it says it is in the file; `peer` is who the kernel says it is. */
struct process {
    pid_t peer;
    uint32_t pid, parent;
    int fd; /* -1: away */
    bool greeted;
    bool bye;          /* nothing has to come any more */
    bool main_thread;  /* has been counted */
    uint64_t messages; /* on this connection, but for AUX bytes */
    uint32_t *queues;  /* by slot */
    uint32_t slot_count;
};

struct receiver {
    struct record_file *file;
    const struct wire_setup *setup;
    struct record_summary *summary;
    struct record_counts *counts;
    int events; /* epoll */
    struct process **processes;
    size_t count, room;
    struct queue *queues;
    uint32_t queue_count;
    uint32_t queue_hint; /* those before it are in use */
    union {
        struct wire_header header;
        struct wire_hello hello;
        struct wire_text text;
        struct wire_map map;
        struct wire_thread thread;
        struct wire_thread_end thread_end;
        struct wire_aux aux;
        struct wire_calls calls;
        struct wire_counts counts;
        struct wire_strange strange;
        char bytes[WIRE_MESSAGE_MAX + 1]; /* and a NUL behind any text */
    } message;
};

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct receiver *receiver_create(struct record_file *file, const struct wire_setup *setup,
                                 struct record_summary *summary, struct record_counts *counts)
{
    struct receiver *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->file = file;
    c->setup = setup;
    c->summary = summary;
    c->counts = counts;
    c->events = epoll_create1(EPOLL_CLOEXEC);
    if (c->events < 0) {
        free(c);
        return NULL;
    }
    return c;
}

/* ---- Queues --------------------------------------------------------------------------------- */

/* Room for so many, the new ones unused. */
static bool reserve_queues(struct receiver *c, size_t count)
{
    size_t room = count * 2;
    struct queue *grown;

    if (count <= c->queue_count)
        return true;
    grown = reallocarray(c->queues, room, sizeof(*grown));
    if (!grown)
        return false;
    memset(grown + c->queue_count, 0, (room - c->queue_count) * sizeof(*grown));
    c->queues = grown;
    c->queue_count = (uint32_t)room;
    return true;
}

/* The lowest that nobody uses at that time. Messages of several threads and processes do not come
 * in the order of their times: on a queue whose thread ended later, two would seem to run at once.
 */
static uint32_t take_queue(struct receiver *c, uint64_t time)
{
    uint32_t first = c->queue_hint, queue;

    while (first < c->queue_count && c->queues[first].used)
        first++;
    c->queue_hint = first;
    if (!reserve_queues(c, (size_t)first + QUEUES_TRIED))
        return NO_QUEUE;
    for (queue = first; queue < first + QUEUES_TRIED; queue++)
        if (!c->queues[queue].used && c->queues[queue].free_from <= time)
            break;
    if (queue == first + QUEUES_TRIED) /* more than any program brings about */
        queue = first;
    c->queues[queue] = (struct queue){.used = true};
    return queue;
}

static void give_queue(struct receiver *c, uint32_t queue, uint64_t time)
{
    c->queues[queue] = (struct queue){.free_from = time};
    if (queue < c->queue_hint)
        c->queue_hint = queue;
}

static uint32_t queue_of(const struct process *p, uint32_t slot)
{
    return slot < p->slot_count ? p->queues[slot] : NO_QUEUE;
}

static bool set_queue(struct process *p, uint32_t slot, uint32_t queue)
{
    if (slot >= p->slot_count) {
        uint32_t *grown = reallocarray(p->queues, slot + 1, sizeof(*grown));

        if (!grown)
            return false;
        while (p->slot_count <= slot)
            grown[p->slot_count++] = NO_QUEUE;
        p->queues = grown;
    }
    p->queues[slot] = queue;
    return true;
}

/* Some of the bytes may have been there before. */
static void write_aux(struct receiver *c, const struct process *p, uint32_t queue, uint64_t time,
                      const struct piece *piece, const uint8_t *bytes)
{
    struct queue *q = &c->queues[queue];
    struct file_place at = {p->pid, q->tid, queue, time};
    uint64_t skip = q->taken > piece->offset ? q->taken - piece->offset : 0;

    if (skip >= piece->size && !piece->flags)
        return;
    skip = skip < piece->size ? skip : piece->size;
    file_aux(c->file, &at, queue, piece->flags, bytes + skip, piece->size - skip);
    c->summary->aux_bytes += piece->size - skip;
    q->bytes += piece->size - skip;
    q->records += skip ? 0 : piece->records;
    q->taken = piece->offset + piece->size;
}

/* Stacks that `size` bytes hold; what makes no sense is left out. They may change meanwhile. */
static void write_stacks(struct receiver *c, const struct process *p, uint32_t queue,
                         const uint64_t *words, uint64_t size)
{
    struct file_place at = {p->pid, c->queues[queue].tid, queue, 0};
    const uint64_t head = sizeof(struct wire_stack) / sizeof(*words);
    uint64_t left = size / sizeof(*words);

    while (left >= head) {
        const struct wire_stack *stack = (const struct wire_stack *)(const void *)words;
        uint64_t count = stack->count;

        if (count > WIRE_FRAMES || count > left - head)
            return;
        at.time = stack->time;
        file_stack(c->file, &at, stack->pc, stack->frames, count);
        words += head + count;
        left -= head + count;
    }
}

/* What is in the shared memory and never came by message. The other side may be anything by now. */
static void take_rest(struct receiver *c, const struct process *p, uint32_t queue, uint64_t time)
{
    const struct wire_shared *shared = c->queues[queue].shared;
    struct piece rest = {
        .size = atomic_load_explicit(&shared->head, memory_order_acquire),
        .offset = atomic_load_explicit(&shared->offset, memory_order_acquire),
        .records = shared->statistics.records - shared->carried,
    };

    uint64_t stacks = atomic_load_explicit(&shared->stacks_size, memory_order_acquire);

    if (rest.size && rest.size <= WIRE_BUFFER)
        write_aux(c, p, queue, time, &rest, shared->buffer);
    if (stacks <= WIRE_STACKS)
        write_stacks(c, p, queue, shared->stacks, stacks);
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
    to->discarded += from->discarded;
    to->hidden += from->hidden;
    for (unsigned i = 0; i < 8; i++)
        to->filtered_by[i] += from->filtered_by[i];
    to->stacks += from->stacks;
    to->stacks_unsettled += from->stacks_unsettled;
    to->stacks_lost += from->stacks_lost;
    to->stacks_deep += from->stacks_deep;
    to->cycles = to->cycles > from->cycles ? to->cycles : from->cycles; /* they ran side by side */
}

/* What the thread says that it made, and what of it is in the file. */
static void compare(struct receiver *c, const struct file_place *at, const struct queue *q,
                    const struct wire_statistics *said)
{
    uint64_t lost = said->records > q->records ? said->records - q->records : 0;

    if (!lost && said->bytes <= q->bytes)
        return;
    lost = lost ? lost : 1; /* bytes without a whole record */
    c->summary->lost_records += lost;
    file_lost(c->file, at, lost);
}

static void lose_messages(struct receiver *c, const struct file_place *at, uint64_t count)
{
    c->summary->lost_messages += count;
    file_lost(c->file, at, count);
}

/* The thread in this slot has ended. `said`: its last word, or NULL without one. */
static void end_thread(struct receiver *c, struct process *p, uint32_t slot, uint64_t time,
                       const struct wire_statistics *said, bool exits)
{
    uint32_t queue = queue_of(p, slot);
    struct file_place at;
    struct queue *q;

    if (queue == NO_QUEUE)
        return;
    q = &c->queues[queue];
    at = (struct file_place){p->pid, q->tid, queue, time};
    take_rest(c, p, queue, time);
    if (said)
        compare(c, &at, q, said);
    add_statistics(&c->summary->statistics, said ? said : &q->shared->statistics);
    munmap((void *)(uintptr_t)q->shared, sizeof(*q->shared));
    file_switch(c->file, &at, true);
    if (exits)
        file_exit(c->file, &at, q->tid == p->pid ? p->parent : p->pid);
    give_queue(c, queue, time);
    p->queues[slot] = NO_QUEUE;
}

/* ---- Processes ------------------------------------------------------------------------------ */

static struct process *find_process(struct receiver *c, pid_t peer)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->processes[i]->greeted && c->processes[i]->peer == peer)
            return c->processes[i];
    return NULL;
}

static void disconnect(struct process *p)
{
    if (p->fd >= 0)
        close(p->fd); /* and epoll forgets it */
    p->fd = -1;
}

static void remove_process(struct receiver *c, struct process *p)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->processes[i] == p) {
            c->processes[i] = c->processes[--c->count];
            break;
        }
    }
    disconnect(p);
    free(p->queues);
    free(p);
}

/* All its threads have ended, and unless it is about to become another program, so has it. */
static void end_threads(struct receiver *c, struct process *p, bool exits)
{
    uint64_t time = now();
    bool main_ended = false;

    for (uint32_t slot = 0; slot < p->slot_count; slot++) {
        uint32_t queue = queue_of(p, slot);

        main_ended |= queue != NO_QUEUE && c->queues[queue].tid == p->pid;
        end_thread(c, p, slot, time, NULL, exits);
    }
    if (exits && !main_ended && p->greeted) {
        struct file_place at = {p->pid, p->pid, 0, time};

        file_exit(c->file, &at, p->parent);
    }
}

static void end_process(struct receiver *c, struct process *p)
{
    end_threads(c, p, true);
    remove_process(c, p);
}

static bool add_process(struct receiver *c, struct process *p)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = p};

    if (vector_grow(&c->processes, &c->room, c->count, sizeof(void *)) < 0)
        return false;
    if (epoll_ctl(c->events, EPOLL_CTL_ADD, p->fd, &event) < 0)
        return false;
    c->processes[c->count++] = p;
    return true;
}

bool receiver_accept(struct receiver *c, int fd, pid_t peer)
{
    struct process *p = calloc(1, sizeof(*p));

    if (!p)
        return false;
    p->fd = fd;
    p->peer = peer;
    if (add_process(c, p))
        return true;
    free(p);
    return false;
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* What became of an attempt to read one. */
enum heard {
    HEARD,
    HEARD_NOTHING,
    HEARD_END,     /* of the connection */
    HEARD_AWAY,    /* of the connection, by agreement */
    HEARD_NONSENSE /* no plugin of ours says such a thing */
};

static enum heard hear(struct receiver *c, struct process *p);

static struct file_place place_of(const struct process *p, const struct wire_header *h)
{
    return (struct file_place){p->pid, h->tid, 0, h->time};
}

/* What the process has said on its connection before this one. It has closed that, so that nothing
 * more comes; if it has not, it is none of ours, and is not waited for. */
static void hear_out(struct receiver *c, struct process *old)
{
    enum heard heard = HEARD;

    for (int i = 0; i < MESSAGES_WAITING && old->fd >= 0 && heard == HEARD; i++)
        heard = hear(c, old);
    c->summary->refused += heard == HEARD_NONSENSE || (heard == HEARD && old->fd >= 0);
    disconnect(old);
}

/* The process was there before: it goes on as p, with its threads unless it is a new program. */
static void go_on(struct receiver *c, struct process *p, struct process *old, bool new_program)
{
    if (new_program) {
        c->summary->silent += !old->bye;
        end_threads(c, old, false);
    }
    p->main_thread = old->main_thread;
    p->parent = old->parent;
    p->queues = old->queues;
    p->slot_count = old->slot_count;
    old->queues = NULL;
    remove_process(c, old);
}

/* A new connection says who it is: a new process, or one that was there before. */
static enum heard greet(struct receiver *c, struct process *p)
{
    const struct wire_hello h = c->message.hello; /* others may be heard below */
    struct file_place at = {h.header.pid, h.header.tid, 0, h.header.time};
    struct process *old;

    if (p->greeted || h.version != WIRE_VERSION ||
        send(p->fd, c->setup, sizeof(*c->setup), MSG_NOSIGNAL | MSG_DONTWAIT) !=
            (ssize_t)sizeof(*c->setup))
        return HEARD_NONSENSE;
    c->summary->level = h.level;
    p->pid = h.header.pid;
    p->parent = h.parent;
    old = find_process(c, p->peer); /* not p itself, which is not greeted yet */
    if (old)
        hear_out(c, old);
    p->greeted = true;
    if (old && h.how != WIRE_FORKED && old->pid == p->pid) {
        go_on(c, p, old, h.how == WIRE_STARTED);
        return HEARD;
    }
    if (old) { /* the kernel has used its number again */
        c->summary->silent += !old->bye;
        end_process(c, old);
    }
    c->summary->processes += h.how != WIRE_BACK;
    if (h.how == WIRE_FORKED)
        file_fork(c->file, &at, h.parent, h.parent);
    return HEARD;
}

/* Memory that can be read whatever the other side does: of memfd_create, not of hugetlbfs, and of a
 * size that stays. NULL if it is not. */
static const struct wire_shared *share(int fd)
{
    const struct wire_shared *shared;
    struct statfs fs;
    struct stat st;
    int seals = fd < 0 ? -1 : fcntl(fd, F_GET_SEALS);

    if (seals < 0 || (seals & WIRE_SEALS) != WIRE_SEALS || fstat(fd, &st) < 0 ||
        st.st_size != (off_t)sizeof(*shared) || fstatfs(fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
        return NULL;
    shared = mmap(NULL, sizeof(*shared), PROT_READ, MAP_SHARED, fd, 0);
    return shared == MAP_FAILED ? NULL : shared;
}

/* Without memory for it the thread is not recorded: what it made will be missing at its end. */
static enum heard start_thread(struct receiver *c, struct process *p, int fd)
{
    const struct wire_thread *m = &c->message.thread;
    struct file_place at = place_of(p, &m->header);
    const struct wire_shared *shared = m->slot < WIRE_SLOTS ? share(fd) : NULL;
    bool is_main = m->header.tid == p->pid;
    uint32_t queue;

    if (!shared)
        return HEARD_NONSENSE;
    end_thread(c, p, m->slot, m->header.time, NULL, false);
    queue = take_queue(c, m->header.time);
    if (queue == NO_QUEUE || !set_queue(p, m->slot, queue)) {
        if (queue != NO_QUEUE)
            give_queue(c, queue, 0);
        munmap((void *)(uintptr_t)shared, sizeof(*shared));
        return HEARD;
    }
    c->queues[queue].shared = shared;
    c->queues[queue].tid = m->header.tid;
    c->summary->threads += !is_main || !p->main_thread; /* exec goes on with the same one */
    c->summary->crowded += !file_has_own_cpu(c->file, queue);
    p->main_thread |= is_main;
    at.cpu = queue;
    if (!is_main)
        file_fork(c->file, &at, p->pid, p->pid);
    file_switch(c->file, &at, false);
    file_start(c->file, &at);
    return HEARD;
}

static void finish_thread(struct receiver *c, struct process *p)
{
    const struct wire_thread_end *m = &c->message.thread_end;

    if (queue_of(p, m->slot) == NO_QUEUE) { /* it could not be recorded */
        static const struct queue nothing;
        struct file_place at = place_of(p, &m->header);

        add_statistics(&c->summary->statistics, &m->statistics);
        compare(c, &at, &nothing, &m->statistics);
        return;
    }
    end_thread(c, p, m->slot, m->header.time, &m->statistics, m->header.tid != p->pid);
}

static void take_aux(struct receiver *c, struct process *p)
{
    const struct wire_aux *m = &c->message.aux;
    struct piece piece = {m->offset, m->size, m->records, m->flags};
    uint32_t queue = queue_of(p, m->slot);

    if (queue != NO_QUEUE)
        write_aux(c, p, queue, m->header.time, &piece, m->bytes);
}

static void take_calls(struct receiver *c, const struct process *p)
{
    const struct wire_calls *m = &c->message.calls;
    uint32_t queue = queue_of(p, m->slot);

    if (queue != NO_QUEUE)
        write_stacks(c, p, queue, m->stacks, m->size);
}

static void take_counts(struct receiver *c, const struct process *p)
{
    const struct wire_counts *m = &c->message.counts;
    struct record_counts *to = c->counts;

    if (!to)
        return;
    if (vector_reserve(&to->at, &to->room, to->count + m->count, sizeof(*to->at)) < 0) {
        c->summary->lost_messages++;
        return;
    }
    for (uint32_t i = 0; i < m->count; i++)
        to->at[to->count++] = (struct record_count){p->pid, m->counts[i]};
}

/* Each sentence once, with how often it came. */
static void take_trouble(struct record_summary *s, const char *text)
{
    struct record_trouble *t = s->troubles;

    while (t < s->troubles + RECORD_TROUBLES - 1 && t->count &&
           strncmp(t->text, text, sizeof(t->text) - 1) != 0)
        t++;
    if (!t->count)
        snprintf(t->text, sizeof(t->text), "%.255s", text);
    t->count++;
}

/* The bytes that a message of its type has. */
static bool size_is_right(const struct receiver *c, size_t size)
{
    size_t least = sizeof(struct wire_header), most;

    if (size < least || c->message.header.size != size)
        return false;
    switch (c->message.header.type) {
    case WIRE_HELLO:
        least = most = sizeof(struct wire_hello);
        break;
    case WIRE_COMM:
    case WIRE_PROGRAM:
    case WIRE_TROUBLE:
        most = sizeof(struct wire_text);
        break;
    case WIRE_MAP:
        least = offsetof(struct wire_map, path);
        most = sizeof(struct wire_map);
        break;
    case WIRE_THREAD:
        least = most = sizeof(struct wire_thread);
        break;
    case WIRE_THREAD_END:
        least = most = sizeof(struct wire_thread_end);
        break;
    case WIRE_AUX:
        least = offsetof(struct wire_aux, bytes);
        most = size < least ? 0 : least + c->message.aux.size;
        return size == most && c->message.aux.size <= WIRE_BUFFER;
    case WIRE_CALLS:
        least = offsetof(struct wire_calls, stacks);
        most = size < least ? 0 : least + c->message.calls.size;
        return size == most && c->message.calls.size <= WIRE_STACKS;
    case WIRE_COUNTS:
        least = offsetof(struct wire_counts, counts);
        most = size < least ? 0 : least + c->message.counts.count * sizeof(struct wire_count);
        return size == most && c->message.counts.count <= WIRE_COUNTS_MAX;
    case WIRE_STRANGE:
        least = most = sizeof(struct wire_strange);
        break;
    case WIRE_AWAY:
    case WIRE_BYE:
        most = least;
        break;
    default:
        return false;
    }
    return least <= size && size <= most;
}

/* Messages that should have come before this one. */
static void check_sequence(struct receiver *c, struct process *p)
{
    const struct wire_header *h = &c->message.header;
    struct file_place at = place_of(p, h);

    if (h->sequence > p->messages)
        lose_messages(c, &at, h->sequence - p->messages);
    p->messages = h->sequence + (h->type != WIRE_AUX);
}

/* The message in c->message, whose size is right, of a process that is known. */
static enum heard take_message(struct receiver *c, struct process *p, int fd)
{
    const struct wire_header *h = &c->message.header;
    struct file_place at = place_of(p, h);

    p->bye = h->type == WIRE_BYE || h->type == WIRE_AWAY;
    switch (h->type) {
    case WIRE_PROGRAM:
    case WIRE_COMM:
        file_comm(c->file, &at, c->message.text.text, h->type == WIRE_PROGRAM);
        break;
    case WIRE_MAP:
        file_map(c->file, &at, &c->message.map);
        break;
    case WIRE_THREAD:
        return start_thread(c, p, fd);
    case WIRE_AUX:
        take_aux(c, p);
        break;
    case WIRE_CALLS:
        take_calls(c, p);
        break;
    case WIRE_THREAD_END:
        finish_thread(c, p);
        break;
    case WIRE_AWAY:
        disconnect(p);
        return HEARD_AWAY;
    case WIRE_COUNTS:
        take_counts(c, p);
        break;
    case WIRE_TROUBLE:
        take_trouble(c->summary, c->message.text.text);
        break;
    case WIRE_STRANGE:
        c->summary->strange =
            (struct record_strange){p->pid, c->message.strange.word, c->message.strange.pc};
        break;
    default:
        break;
    }
    return HEARD;
}

static enum heard judge(struct receiver *c, struct process *p, size_t size, int fd)
{
    bool hello = c->message.header.type == WIRE_HELLO;
    enum heard heard;

    if (!size_is_right(c, size) || (!hello && !p->greeted))
        return HEARD_NONSENSE;
    heard = hello ? greet(c, p) : HEARD;
    if (hello)
        p->messages = 1;
    else
        check_sequence(c, p);
    return hello ? heard : take_message(c, p, fd);
}

/* All descriptors that came with a message; how many. */
static size_t passed_descriptors(struct msghdr *message, int fds[DESCRIPTORS_MAX])
{
    size_t count = 0;

    for (struct cmsghdr *m = CMSG_FIRSTHDR(message); m; m = CMSG_NXTHDR(message, m)) {
        if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= m->cmsg_len; i++)
            if (count < DESCRIPTORS_MAX)
                memcpy(&fds[count++], CMSG_DATA(m) + i * sizeof(int), sizeof(int));
    }
    return count;
}

static enum heard hear(struct receiver *c, struct process *p)
{
    union {
        char room[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {c->message.bytes, WIRE_MESSAGE_MAX};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.room,
        .msg_controllen = sizeof(control.room),
    };
    ssize_t size = recvmsg(p->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    enum heard heard = HEARD_NONSENSE;
    int fds[DESCRIPTORS_MAX];
    size_t count;

    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? HEARD_NOTHING : HEARD_END;
    count = passed_descriptors(&message, fds);
    if (size == 0 && !count)
        return HEARD_END;
    c->message.bytes[size] = '\0';
    if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) && count <= 1)
        heard = judge(c, p, (size_t)size, count ? fds[0] : -1);
    while (count)
        close(fds[--count]);
    return heard;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static void serve(struct receiver *c, struct process *p)
{
    enum heard heard = HEARD;

    for (int i = 0; i < MESSAGES_AT_ONCE && heard == HEARD; i++)
        heard = hear(c, p);
    if (heard != HEARD_END && heard != HEARD_NONSENSE)
        return;
    if (p->greeted) {
        c->summary->refused += heard == HEARD_NONSENSE;
        c->summary->silent += heard == HEARD_END && !p->bye;
    }
    end_process(c, p);
}

int receiver_descriptor(const struct receiver *c)
{
    return c->events;
}

/* One at a time: to serve one may be the end of another. epoll takes turns. */
unsigned receiver_serve(struct receiver *c, unsigned most)
{
    unsigned count = 0;
    struct epoll_event event;

    while (count < most && epoll_wait(c->events, &event, 1, 0) == 1) {
        serve(c, event.data.ptr);
        count++;
    }
    return count;
}

size_t receiver_count(const struct receiver *c)
{
    return c->count;
}

/* ---- The end -------------------------------------------------------------------------------- */

void receiver_end(struct receiver *c)
{
    while (c->count) {
        struct process *p = c->processes[0];

        if (p->greeted && p->fd < 0)
            c->summary->silent++; /* it went away to come back */
        else if (p->greeted && !p->bye)
            c->summary->left++;
        end_process(c, p);
    }
}

void receiver_free(struct receiver *c)
{
    if (!c)
        return;
    receiver_end(c);
    close(c->events);
    free(c->processes);
    free(c->queues);
    free(c);
}
