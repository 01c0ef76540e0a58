/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The launcher of `spe record` against processes that say anything: the input is a list of acts of
 * up to four of them, who connect, send messages with and without descriptors, write to the memory
 * that they share, and hang up. Whatever they do, the file can be written, no descriptor stays
 * open, and the launcher waits for nobody.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/receive.h"
#include "require.h"

enum { PEERS = 4, ACTS = 256 };

enum { CALL, HANG_UP, SAY, SERVE, WRITE_SHARED, ACT_COUNT };

enum { NO_DESCRIPTOR, GOOD, UNSEALED, SHORT, PIPE, TWO, DESCRIPTOR_KINDS };

static struct {
    const uint8_t *data;
    size_t size;
    struct wire_setup setup;
    struct record_file *file;
    struct receiver *receiver;
    struct wire_shared *shared; /* the last that was sent */
    struct {
        int fd;
        uint64_t sequence;
    } peers[PEERS];
    uint8_t message[WIRE_MESSAGE_MAX + 64];
} fuzz;

static uint8_t take(void)
{
    if (!fuzz.size)
        return 0;
    fuzz.size--;
    return *fuzz.data++;
}

static size_t take_bytes(void *to, size_t most)
{
    size_t size = most < fuzz.size ? most : fuzz.size;

    memcpy(to, fuzz.data, size);
    fuzz.data += size;
    fuzz.size -= size;
    return size;
}

static int open_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 64; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void hang_up(unsigned who)
{
    if (fuzz.peers[who].fd >= 0)
        close(fuzz.peers[who].fd);
    fuzz.peers[who].fd = -1;
}

static void call(unsigned who)
{
    int ends[2];

    hang_up(who);
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    fuzz.peers[who].fd = ends[0];
    fuzz.peers[who].sequence = 0;
    receiver_accept(fuzz.receiver, ends[1], 1 + (pid_t)(who % 3)); /* two of them are one */
}

/* Memory as the plugin makes it, or not quite. */
static int make_memory(unsigned kind)
{
    size_t size = sizeof(*fuzz.shared) - (kind == SHORT);
    int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    REQUIRE(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
    if (kind != UNSEALED)
        REQUIRE(fcntl(fd, F_ADD_SEALS, WIRE_SEALS) == 0);
    if (fuzz.shared)
        munmap(fuzz.shared, sizeof(*fuzz.shared));
    fuzz.shared = mmap(NULL, sizeof(*fuzz.shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    REQUIRE(fuzz.shared != MAP_FAILED);
    return fd;
}

static size_t make_descriptors(unsigned kind, int fds[2])
{
    if (kind == NO_DESCRIPTOR)
        return 0;
    if (kind == PIPE) {
        REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
        close(fds[1]);
        return 1;
    }
    fds[0] = make_memory(kind);
    if (kind != TWO)
        return 1;
    fds[1] = dup(fds[0]);
    return 2;
}

static void send_message(int to, size_t size, const int *fds, size_t count)
{
    struct iovec part = {fuzz.message, size};
    union {
        char room[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (count) {
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(&control.align), fds, count * sizeof(int));
    }
    (void)!sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The size that is right for the type; 0: any. What depends on a number in it gets a right one. */
static size_t right_size(uint32_t type)
{
    struct wire_aux *aux = (struct wire_aux *)(void *)fuzz.message;
    struct wire_counts *counts = (struct wire_counts *)(void *)fuzz.message;

    switch (type) {
    case WIRE_HELLO:
        return sizeof(struct wire_hello);
    case WIRE_THREAD:
        return sizeof(struct wire_thread);
    case WIRE_THREAD_END:
        return sizeof(struct wire_thread_end);
    case WIRE_AWAY:
    case WIRE_BYE:
        return sizeof(struct wire_header);
    case WIRE_AUX:
        aux->size %= WIRE_BUFFER + 1;
        return offsetof(struct wire_aux, bytes) + aux->size;
    case WIRE_COUNTS:
        counts->count %= 8;
        return offsetof(struct wire_counts, counts) + counts->count * sizeof(counts->counts[0]);
    default:
        return 0;
    }
}

/* how: bit 0 a size of its own choice, bit 1 a sequence of its own, bit 2 no header made at all,
 * bit 3 a longer message. */
static void say(unsigned who, unsigned how)
{
    struct wire_header *h = (struct wire_header *)(void *)fuzz.message;
    uint32_t type = take() % (WIRE_BYE + 3);
    size_t body = take(), size;
    int fds[2];
    size_t count = make_descriptors(take() % DESCRIPTOR_KINDS, fds);

    if (how & 8)
        body *= 600;
    memset(fuzz.message, 0, sizeof(*h) + 512);
    size = sizeof(*h) + take_bytes(fuzz.message + sizeof(*h), body);
    if (type == WIRE_HELLO && body)
        ((struct wire_hello *)(void *)fuzz.message)->version = WIRE_VERSION;
    if (!(how & 1) && right_size(type))
        size = right_size(type);
    *h = (struct wire_header){type,    (uint32_t)size, 1 + who % 3,
                              1 + who, 1000,           fuzz.peers[who].sequence};
    if (how & 2)
        h->sequence = take() * UINT64_C(0x0123456789abcdef);
    if (how & 4)
        take_bytes(fuzz.message, sizeof(*h));
    fuzz.peers[who].sequence += type != WIRE_AUX;
    if (fuzz.peers[who].fd >= 0)
        send_message(fuzz.peers[who].fd, size, fds, count);
    while (count)
        close(fds[--count]);
}

static void write_shared(unsigned where)
{
    if (fuzz.shared)
        take_bytes((uint8_t *)fuzz.shared + where % 24 * 8, 8);
}

static void act(void)
{
    unsigned word = take(), who = word % PEERS, how = word / PEERS / 8;

    switch (word / PEERS % 8 % ACT_COUNT) {
    case CALL:
        call(who);
        break;
    case HANG_UP:
        hang_up(who);
        break;
    case SAY:
        say(who, take());
        break;
    case SERVE:
        receiver_serve(fuzz.receiver, 1 + how);
        break;
    default:
        write_shared(take());
        break;
    }
}

static void finish(void)
{
    struct problem problem;
    uint64_t bytes;

    for (unsigned i = 0; i < PEERS; i++)
        hang_up(i);
    while (receiver_serve(fuzz.receiver, 100))
        continue;
    receiver_free(fuzz.receiver);
    REQUIRE(file_finish(fuzz.file, &bytes, &problem));
    file_free(fuzz.file);
    if (fuzz.shared)
        munmap(fuzz.shared, sizeof(*fuzz.shared));
    fuzz.shared = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct record_options options = {
        .period = 4096, .output = "/dev/null", .cpu = "neoverse-n1"};
    struct record_summary summary = {0};
    struct record_counts counts = {0};
    struct problem problem;
    int descriptors = open_descriptors();

    fuzz.data = data;
    fuzz.size = size;
    fuzz.setup.header = (struct wire_header){.type = WIRE_SETUP, .size = sizeof(fuzz.setup)};
    fuzz.file = file_create(&options, "", "/bin/true", 1, &problem);
    REQUIRE(fuzz.file);
    fuzz.receiver = receiver_create(fuzz.file, &fuzz.setup, &summary, &counts);
    REQUIRE(fuzz.receiver);
    for (unsigned i = 0; i < PEERS; i++)
        fuzz.peers[i].fd = -1;
    for (unsigned i = 0; i < ACTS && fuzz.size; i++)
        act();
    finish();
    free(counts.at);
    REQUIRE(open_descriptors() == descriptors);
    return 0;
}
