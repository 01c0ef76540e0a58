/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "qemu/api.h"

static struct {
    pthread_mutex_t lock;
    char name[sizeof(((struct sockaddr_un *)0)->sun_path)];
    int fd; /* -1: not connected now */
    bool gone;
    uint64_t sequence; /* of the next message on this connection */
    uint32_t how;      /* enum wire_hello_how of the next hello */
    pid_t parent;
} channel = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

uint64_t channel_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- Messages ------------------------------------------------------------------------------- */

static ssize_t send_parts(struct wire_header *head, const void *bytes, size_t size, int descriptor)
{
    /* sendmsg only reads what these point at. */
    struct iovec parts[2] = {{head, head->size - size}, {(void *)(uintptr_t)bytes, size}};
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = size ? 2 : 1};
    ssize_t sent;

    if (descriptor >= 0) {
        message.msg_control = control.room;
        message.msg_controllen = sizeof(control.room);
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.align), &descriptor, sizeof(int));
    }
    head->sequence = channel.sequence;
    do
        sent = sendmsg(channel.fd, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0 && head->type != WIRE_AUX)
        channel.sequence++;
    return sent;
}

/* A launcher that has no room closes the connection with our hello unread, which is told once,
 * before what it has said. */
static bool receive_setup(int fd, struct wire_setup *setup)
{
    bool reset = false;
    ssize_t size;

    do {
        size = recv(fd, setup, sizeof(*setup), 0);
        if (size < 0 && errno == ECONNRESET && !reset) {
            reset = true;
            errno = EINTR;
        }
    } while (size < 0 && errno == EINTR);
    if (size == (ssize_t)sizeof(*setup) && setup->header.type == WIRE_SETUP &&
        setup->version == WIRE_VERSION)
        return true;
    if (size >= 0)
        errno = EPROTO;
    return false;
}

/* ---- Connecting ----------------------------------------------------------------------------- */

/* A name that begins with '@' is one of Linux's abstract ones, which no chroot hides. */
static int connect_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(channel.name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), high;

    if (fd < 0)
        return -1;
    high = fcntl(fd, F_DUPFD_CLOEXEC, WIRE_DESCRIPTOR);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    memcpy(address.sun_path, channel.name, length);
    if (address.sun_path[0] == '@')
        address.sun_path[0] = '\0';
    if (connect(fd, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool connect_and_greet(struct wire_setup *setup)
{
    struct wire_hello hello = {
        .header = {.type = WIRE_HELLO,
                   .size = sizeof(hello),
                   .pid = (uint32_t)getpid(),
                   .tid = (uint32_t)gettid(),
                   .time = channel_time()},
        .version = WIRE_VERSION,
        .how = channel.how,
        .parent = (uint32_t)(channel.how == WIRE_FORKED ? channel.parent : getppid()),
        .level = plugin_level(),
    };

    bool good;

    channel.fd = connect_socket();
    channel.sequence = 0;
    good = channel.fd >= 0 && (send_parts(&hello.header, NULL, 0, -1) > 0 || errno == EPIPE) &&
           receive_setup(channel.fd, setup);
    channel.how = WIRE_BACK;
    if (good && !(setup->flags & WIRE_UNRECORDED))
        return true;
    if (channel.fd >= 0)
        close(channel.fd);
    channel.fd = -1;
    channel.gone = true;
    return good;
}

bool channel_open(const char *socket_name, struct wire_setup *setup)
{
    if (strlen(socket_name) >= sizeof(channel.name)) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(channel.name, socket_name, strlen(socket_name) + 1);
    channel.how = WIRE_STARTED;
    return connect_and_greet(setup);
}

static bool reconnect(void)
{
    struct wire_setup *setup; /* the same as before, and large */
    bool good;

    if (channel.fd >= 0 || channel.gone)
        return channel.fd >= 0;
    setup = malloc(sizeof(*setup));
    good = setup && connect_and_greet(setup);
    free(setup);
    return good && !channel.gone;
}

/* ---- Sending -------------------------------------------------------------------------------- */

static bool send_locked(struct wire_header *head, const void *bytes, size_t size, int descriptor)
{
    for (int attempt = 0; attempt < 2 && reconnect(); attempt++) {
        if (send_parts(head, bytes, size, descriptor) >= 0)
            return true;
        if (errno != EBADF && errno != ENOTSOCK) { /* the launcher is gone */
            close(channel.fd);
            channel.gone = true;
        }
        channel.fd = -1;
    }
    return false;
}

bool channel_send(struct wire_header *head, const void *bytes, size_t size, int descriptor)
{
    bool sent;

    head->size += (uint32_t)size;
    head->pid = (uint32_t)getpid();
    if (!head->tid)
        head->tid = (uint32_t)gettid();
    if (!head->time)
        head->time = channel_time();
    pthread_mutex_lock(&channel.lock);
    sent = send_locked(head, bytes, size, descriptor);
    pthread_mutex_unlock(&channel.lock);
    return sent;
}

bool channel_text(enum wire_type type, const char *text)
{
    struct wire_header head = {.type = type, .size = sizeof(head)};
    size_t length = strnlen(text, WIRE_TEXT - 1);
    char line[WIRE_TEXT];

    memcpy(line, text, length);
    line[length] = '\0';
    return channel_send(&head, line, length + 1, -1);
}

int channel_descriptor(void)
{
    return channel.fd;
}

void channel_leave(void)
{
    struct wire_header head = {.type = WIRE_AWAY,
                               .size = sizeof(head),
                               .pid = (uint32_t)getpid(),
                               .tid = (uint32_t)gettid(),
                               .time = channel_time()};

    pthread_mutex_lock(&channel.lock);
    if (channel.fd >= 0) {
        send_parts(&head, NULL, 0, -1);
        close(channel.fd);
        channel.fd = -1;
    }
    pthread_mutex_unlock(&channel.lock);
}

void channel_bye(void)
{
    struct wire_header head = {.type = WIRE_BYE, .size = sizeof(head)};

    channel_send(&head, NULL, 0, -1);
}

/* ---- Fork ----------------------------------------------------------------------------------- */

void channel_lock(void)
{
    pthread_mutex_lock(&channel.lock);
}

void channel_unlock(void)
{
    pthread_mutex_unlock(&channel.lock);
}

void channel_forked(pid_t parent)
{
    if (channel.fd >= 0)
        close(channel.fd);
    channel.fd = -1;
    channel.gone = false; /* there may be room by now */
    channel.parent = parent;
    channel.how = WIRE_FORKED;
}
