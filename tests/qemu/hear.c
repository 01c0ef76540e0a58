/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "hear.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONNECTIONS = 8, SLOTS = 1024 };

struct connection {
    int fd; /* 0: none */
    struct wire_shared *shared[SLOTS];
};

struct ear {
    const struct wire_setup *setup;
    struct heard *heard;
    heard_record see;
    void *user;
    int listener, life; /* `life` ends when every process of the scenario has */
    char name[64];
    struct connection connections[CONNECTIONS];
    union {
        struct wire_header header;
        struct wire_hello hello;
        struct wire_text text;
        struct wire_thread thread;
        struct wire_aux aux;
        struct wire_counts counts;
        uint8_t bytes[WIRE_MESSAGE_MAX];
    } message;
};

void require(int condition, const char *text, const char *file, int line)
{
    if (condition)
        return;
    fprintf(stderr, "%s:%d: %s does not hold\n", file, line, text);
    _exit(99);
}

void hear_setup(struct wire_setup *setup, unsigned flags, uint64_t period)
{
    memset(setup, 0, sizeof(*setup));
    setup->header = (struct wire_header){.type = WIRE_SETUP, .size = sizeof(*setup)};
    setup->version = WIRE_VERSION;
    setup->flags = flags;
    setup->cpus = 64;
    setup->seed = 1;
    setup->config = 1;
    setup->period = period;
    strcpy(setup->cpu, "neoverse-n1");
    spe_machine_config_init(&setup->machine, NULL);
    setup->machine.cpus = setup->cpus;
    setup->zva_bytes = 64;
}

uint64_t heard_executed(const struct heard *heard, uint64_t pc)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < heard->count_count; i++)
        if (heard->counts[i].pc == pc)
            sum += heard->counts[i].executed;
    return sum;
}

/* ---- Messages ------------------------------------------------------------------------------- */

static void end_thread(struct ear *e, struct connection *c, uint32_t slot)
{
    struct wire_statistics *to = &e->heard->statistics;
    const struct wire_statistics *from;

    if (!c->shared[slot])
        return;
    from = &c->shared[slot]->statistics;
    to->operations += from->operations;
    to->sampled += from->sampled;
    to->records += from->records;
    to->bytes += from->bytes;
    to->dropped += from->dropped;
    munmap(c->shared[slot], sizeof(*c->shared[slot]));
    c->shared[slot] = NULL;
}

static void start_thread(struct ear *e, struct connection *c, int fd)
{
    uint32_t slot = e->message.thread.slot;

    require(slot < SLOTS && fd >= 0, "a thread comes with its memory", __FILE__, __LINE__);
    end_thread(e, c, slot);
    c->shared[slot] = mmap(NULL, sizeof(struct wire_shared), PROT_READ, MAP_SHARED, fd, 0);
    require(c->shared[slot] != MAP_FAILED, "mmap", __FILE__, __LINE__);
    e->heard->threads++;
    if (slot >= e->heard->slot_end)
        e->heard->slot_end = slot + 1;
}

/* Records begin at multiples of 64, as the units that are set up here write them. */
static void take_records(struct ear *e)
{
    const struct wire_aux *m = &e->message.aux;
    struct spe_record record;

    e->heard->bytes += m->size;
    for (uint32_t at = 0; e->see && at < m->size; at += (record.size + 63) / 64 * 64) {
        require(spe_record_decode(m->bytes + at, m->size - at, &record) > 0, "whole records",
                __FILE__, __LINE__);
        e->see(&record, e->user);
    }
}

static void take_message(struct ear *e, struct connection *c, int fd)
{
    struct heard *heard = e->heard;

    switch (e->message.header.type) {
    case WIRE_HELLO:
        heard->processes += e->message.hello.how != WIRE_BACK;
        heard->forked += e->message.hello.how == WIRE_FORKED;
        require(send(c->fd, e->setup, sizeof(*e->setup), 0) == sizeof(*e->setup), "send", __FILE__,
                __LINE__);
        break;
    case WIRE_PROGRAM:
        snprintf(heard->program, sizeof(heard->program), "%.60s", e->message.text.text);
        break;
    case WIRE_THREAD:
        start_thread(e, c, fd);
        break;
    case WIRE_AUX:
        take_records(e);
        break;
    case WIRE_THREAD_END:
        heard->ends++;
        end_thread(e, c, e->message.thread.slot);
        break;
    case WIRE_AWAY:
        heard->aways++;
        break;
    case WIRE_COUNTS:
        for (uint32_t i = 0; i < e->message.counts.count; i++) {
            heard->executed += e->message.counts.counts[i].executed;
            heard->taken += e->message.counts.counts[i].taken;
            if (heard->count_count < HEARD_COUNTS)
                heard->counts[heard->count_count++] = e->message.counts.counts[i];
        }
        break;
    case WIRE_TROUBLE:
        snprintf(heard->trouble[heard->troubles++ % HEARD_TROUBLES], sizeof(heard->trouble[0]),
                 "%.250s", e->message.text.text);
        break;
    default:
        break;
    }
}

static void read_message(struct ear *e, struct connection *c)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {&e->message, sizeof(e->message)};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.room,
        .msg_controllen = sizeof(control.room),
    };
    ssize_t size = recvmsg(c->fd, &message, MSG_CMSG_CLOEXEC);
    int fd = -1;

    if (size <= 0) {
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            end_thread(e, c, slot);
        close(c->fd);
        c->fd = 0;
        return;
    }
    require(e->message.header.size == (size_t)size, "a message has its size", __FILE__, __LINE__);
    if (CMSG_FIRSTHDR(&message))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
    take_message(e, c, fd);
    if (fd >= 0)
        close(fd);
}

/* ---- The launcher --------------------------------------------------------------------------- */

static void listen_for(struct ear *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    static unsigned number;
    size_t length;

    snprintf(e->name, sizeof(e->name), "@specimen-test-%d-%u", (int)getpid(), number++);
    length = strlen(e->name);
    memcpy(address.sun_path, e->name, length);
    address.sun_path[0] = '\0';
    e->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    require(bind(e->listener, (struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == 0 &&
                listen(e->listener, 16) == 0,
            "a socket", __FILE__, __LINE__);
}

static void take_connection(struct ear *e)
{
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        if (e->connections[i].fd)
            continue;
        e->connections[i].fd = accept4(e->listener, NULL, NULL, SOCK_CLOEXEC);
        return;
    }
    require(0, "few connections", __FILE__, __LINE__);
}

/* One round; false when all have ended and nothing is left. */
static bool serve(struct ear *e)
{
    struct pollfd fds[2 + CONNECTIONS] = {{e->life, POLLIN, 0}, {e->listener, POLLIN, 0}};
    bool busy = false;

    for (unsigned i = 0; i < CONNECTIONS; i++) {
        int fd = e->connections[i].fd;

        fds[2 + i] = (struct pollfd){fd ? fd : -1, POLLIN, 0};
        busy |= fd != 0;
    }
    poll(fds, 2 + CONNECTIONS, -1);
    for (unsigned i = 0; i < CONNECTIONS; i++)
        if (fds[2 + i].revents)
            read_message(e, &e->connections[i]);
    if (fds[1].revents)
        take_connection(e);
    return busy || fds[1].revents || !fds[0].revents;
}

void hear(void (*scenario)(const char *socket_name), const struct wire_setup *setup,
          struct heard *heard, heard_record see, void *user)
{
    struct ear *e = calloc(1, sizeof(*e));
    int life[2];
    pid_t child;

    require(e && pipe2(life, O_CLOEXEC) == 0, "memory and a pipe", __FILE__, __LINE__);
    memset(heard, 0, sizeof(*heard));
    e->setup = setup;
    e->heard = heard;
    e->see = see;
    e->user = user;
    e->life = life[0];
    listen_for(e);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        scenario(e->name);
        exit(0);
    }
    close(life[1]);
    while (serve(e))
        continue;
    require(waitpid(child, &heard->status, 0) == child, "waitpid", __FILE__, __LINE__);
    close(life[0]);
    close(e->listener);
    free(e);
}
