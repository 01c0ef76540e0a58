/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The launcher's end of the wire over real sockets: what a plugin says, what gets lost on the way,
 * and what a recorded program may say that no plugin ever would.
 */
#include "record/receive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <specimen/perfdata.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 64 }; /* of a record, here */

/* A recording, and what is in its file when it has ended. */
struct test {
    struct record_options options;
    char path[32];
    struct wire_setup setup;
    struct record_summary summary;
    struct record_counts counts;
    struct record_file *file;
    struct receiver *receiver;
    int descriptors; /* that were open before */
    uint64_t aux_bytes, lost;
    uint64_t records[SPE_PERF_RECORD_TYPES];
    uint64_t switched[4];  /* when each CPU's last switch was */
    unsigned out_of_order; /* switches that were before the last one of their CPU */
};

/* A process that talks to it. */
struct peer {
    struct test *test;
    int fd;
    uint32_t pid;
    uint64_t sequence, time;
    struct wire_shared *shared; /* of its last thread */
};

static int open_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 512; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void begin(struct test *t)
{
    struct problem problem;
    int fd;

    memset(t, 0, sizeof(*t));
    t->options = (struct record_options){
        .period = 4096, .output = t->path, .cpu = "neoverse-n1", .model = RECORD_MODEL_FUNCTIONAL};
    t->descriptors = open_descriptors();
    strcpy(t->path, "/tmp/spe-receive-XXXXXX");
    fd = mkstemp(t->path);
    assert_true(fd >= 0);
    close(fd);
    t->setup.header = (struct wire_header){.type = WIRE_SETUP, .size = sizeof(t->setup)};
    t->file = file_create(&t->options, "", "/bin/true", 4, &problem);
    assert_non_null(t->file);
    t->receiver = receiver_create(t->file, &t->setup, &t->summary, &t->counts);
    assert_non_null(t->receiver);
}

static void see_switch(struct test *t, const struct spe_perf_record *r)
{
    t->out_of_order += r->id.time < t->switched[r->id.cpu];
    t->switched[r->id.cpu] = r->id.time;
}

static void read_file(struct test *t)
{
    const struct spe_perf_account *account;
    struct spe_perf_reader *reader;
    struct spe_perf_record record;

    assert_int_equal(spe_perf_reader_open(&reader, t->path, 0, NULL), SPE_OK);
    while (spe_perf_reader_next(reader, &record) == 1)
        if (record.type == SPE_PERF_SWITCH_CPU_WIDE)
            see_switch(t, &record);
    assert_int_equal(spe_perf_reader_problem(reader)->code, 0);
    account = spe_perf_reader_account(reader);
    assert_int_equal(account->malformed, 0);
    t->aux_bytes = account->aux_bytes;
    t->lost = account->lost;
    memcpy(t->records, account->records_by, sizeof(t->records));
    spe_perf_reader_close(reader);
}

/* Every connection is closed, every descriptor that came, and the file is good. */
static void finish(struct test *t)
{
    struct problem problem;
    uint64_t bytes;
    struct stat st;

    receiver_free(t->receiver);
    assert_true(file_finish(t->file, &bytes, &problem));
    file_free(t->file);
    assert_int_equal(stat(t->path, &st), 0);
    assert_int_equal(bytes, st.st_size);
    read_file(t);
    unlink(t->path);
    free(t->counts.at);
    assert_int_equal(open_descriptors(), t->descriptors);
}

static void serve(struct test *t)
{
    while (receiver_serve(t->receiver, 100))
        continue;
}

/* ---- What a process says -------------------------------------------------------------------- */

/* The launcher has the lower descriptors, ours are out of the way of those it opens. */
static struct peer call(struct test *t, uint32_t pid)
{
    struct peer p = {.test = t, .pid = pid, .time = 1000};
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    p.fd = fcntl(ends[0], F_DUPFD_CLOEXEC, 200);
    assert_true(p.fd >= 0);
    close(ends[0]);
    receiver_accept(t->receiver, ends[1], (pid_t)pid);
    return p;
}

/* Bytes as they are, with descriptors. */
static bool send_bytes(struct peer *p, const void *bytes, size_t size, const int *fds, size_t count)
{
    struct iovec part = {(void *)(uintptr_t)bytes, size};
    union {
        char room[CMSG_SPACE(8 * sizeof(int))];
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
    return sendmsg(p->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size;
}

static void say(struct peer *p, uint32_t type, void *message, size_t size, int fd)
{
    struct wire_header *h = message;

    *h = (struct wire_header){type, (uint32_t)size, p->pid, p->pid, p->time, p->sequence};
    if (type != WIRE_AUX)
        p->sequence++;
    assert_true(send_bytes(p, message, size, &fd, fd >= 0));
}

static void say_word(struct peer *p, uint32_t type)
{
    struct wire_header h;

    say(p, type, &h, sizeof(h), -1);
}

static void say_text(struct peer *p, uint32_t type, const char *text)
{
    struct wire_text m;

    strcpy(m.text, text);
    say(p, type, &m, offsetof(struct wire_text, text) + strlen(text) + 1, -1);
}

static void say_map(struct peer *p, const char *path)
{
    struct wire_map m = {.start = 0x1000, .length = 0x1000, .inode = 1};

    strcpy(m.path, path);
    say(p, WIRE_MAP, &m, offsetof(struct wire_map, path) + strlen(path) + 1, -1);
}

static void say_hello(struct peer *p, uint32_t how)
{
    struct wire_hello m = {.version = WIRE_VERSION, .how = how, .parent = 1, .level = 1};

    p->sequence = 0;
    say(p, WIRE_HELLO, &m, sizeof(m), -1);
}

/* A process that is answered. */
static struct peer greet(struct test *t, uint32_t pid, uint32_t how)
{
    struct wire_setup setup;
    struct peer p = call(t, pid);

    say_hello(&p, how);
    serve(t);
    assert_int_equal(recv(p.fd, &setup, sizeof(setup), MSG_DONTWAIT), sizeof(setup));
    return p;
}

static int make_memory(size_t size, int seals)
{
    int fd = memfd_create("specimen", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static void say_thread_with(struct peer *p, uint32_t slot, int fd)
{
    struct wire_thread m = {.slot = slot};

    say(p, WIRE_THREAD, &m, sizeof(m), fd);
    if (fd >= 0)
        close(fd);
}

static void forget(struct peer *p)
{
    if (p->shared)
        munmap(p->shared, sizeof(*p->shared));
    p->shared = NULL;
}

static void say_thread(struct peer *p, uint32_t slot)
{
    int fd = make_memory(sizeof(struct wire_shared), WIRE_SEALS);

    forget(p);
    p->shared = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(p->shared != MAP_FAILED);
    say_thread_with(p, slot, fd);
}

static void say_aux(struct peer *p, uint32_t slot, uint64_t offset, uint32_t records)
{
    static struct wire_aux m;

    m.slot = slot;
    m.offset = offset;
    m.records = records;
    m.size = records * BYTES;
    say(p, WIRE_AUX, &m, offsetof(struct wire_aux, bytes) + m.size, -1);
}

static void say_thread_end(struct peer *p, uint32_t slot, uint64_t records)
{
    struct wire_thread_end m = {
        .slot = slot,
        .statistics = {
            .sampled = records + 1, .dropped = 1, .records = records, .bytes = records * BYTES}};

    say(p, WIRE_THREAD_END, &m, sizeof(m), -1);
}

static void hang_up(struct peer *p)
{
    forget(p);
    close(p->fd);
    p->fd = -1;
}

/* A whole life. */
static void live(struct peer *p, uint32_t records)
{
    say_text(p, WIRE_PROGRAM, "prog");
    say_map(p, "/nowhere");
    say_thread(p, 0);
    say_aux(p, 0, 0, records);
    say_thread_end(p, 0, records);
}

static bool is_connected(const struct peer *p)
{
    struct pollfd fd = {.fd = p->fd, .events = POLLIN};

    return poll(&fd, 1, 0) == 0 || !(fd.revents & POLLHUP);
}

/* ---- What plugins say ----------------------------------------------------------------------- */

static void test_life(void **state)
{
    struct test t;
    struct peer p;

    (void)state;
    begin(&t);
    p = greet(&t, 7, WIRE_STARTED);
    live(&p, 10);
    say_text(&p, WIRE_TROUBLE, "it rains");
    say_text(&p, WIRE_TROUBLE, "it rains");
    say_word(&p, WIRE_BYE);
    hang_up(&p);
    serve(&t);
    assert_int_equal(receiver_count(t.receiver), 0);
    finish(&t);
    assert_int_equal(t.summary.processes, 1);
    assert_int_equal(t.summary.threads, 1);
    assert_int_equal(t.summary.statistics.records, 10);
    assert_int_equal(t.summary.statistics.dropped, 1);
    assert_int_equal(t.summary.silent + t.summary.left, 0);
    assert_false(record_is_incomplete(&t.summary));
    assert_string_equal(t.summary.troubles[0].text, "it rains");
    assert_int_equal(t.summary.troubles[0].count, 2);
    assert_int_equal(t.aux_bytes, 10 * BYTES);
    assert_int_equal(t.records[SPE_PERF_LOST], 0);
    assert_int_equal(t.records[SPE_PERF_MMAP2], 1);
    assert_int_equal(t.records[SPE_PERF_EXIT], 1);
}

/* The next program says hello before anybody has read a word of the first one. */
static void test_exec(void **state)
{
    struct test t;
    struct peer first, second;

    (void)state;
    begin(&t);
    first = greet(&t, 7, WIRE_STARTED);
    for (int i = 0; i < 100; i++)
        say_map(&first, "/nowhere");
    live(&first, 10);
    say_word(&first, WIRE_AWAY);
    hang_up(&first);
    second = call(&t, 7);
    say_hello(&second, WIRE_STARTED);
    live(&second, 5);
    say_word(&second, WIRE_BYE);
    serve(&t);
    hang_up(&second);
    serve(&t);
    finish(&t);
    assert_int_equal(t.summary.processes, 1);
    assert_int_equal(t.summary.threads, 1); /* the same one goes on */
    assert_int_equal(t.summary.silent, 0);
    assert_false(record_is_incomplete(&t.summary));
    assert_int_equal(t.aux_bytes, 15 * BYTES);
    assert_int_equal(t.records[SPE_PERF_MMAP2], 102);
    assert_int_equal(t.records[SPE_PERF_EXIT], 1);
}

/* Its threads go on when a process comes back, and a number that is used again is another process.
 */
static void test_back(void **state)
{
    struct test t;
    struct peer p, again;

    (void)state;
    begin(&t);
    p = greet(&t, 7, WIRE_STARTED);
    say_thread(&p, 0);
    say_aux(&p, 0, 0, 3);
    say_word(&p, WIRE_AWAY);
    hang_up(&p);
    again = greet(&t, 7, WIRE_BACK);
    say_aux(&again, 0, 3ull * BYTES, 4);
    say_thread_end(&again, 0, 7);
    say_word(&again, WIRE_BYE);
    hang_up(&again);
    p = greet(&t, 7, WIRE_FORKED);
    live(&p, 1);
    say_word(&p, WIRE_BYE);
    hang_up(&p);
    serve(&t);
    finish(&t);
    assert_int_equal(t.summary.processes, 2);
    assert_int_equal(t.summary.threads, 2);
    assert_int_equal(t.summary.silent, 0);
    assert_false(record_is_incomplete(&t.summary));
    assert_int_equal(t.aux_bytes, 8 * BYTES);
}

/* Times and messages come in different orders: a thread that began before another one ended does
 * not get its CPU, even if it is heard of later. */
static void test_late_word(void **state)
{
    struct test t;
    struct peer first, second;

    (void)state;
    begin(&t);
    first = greet(&t, 7, WIRE_STARTED);
    second = greet(&t, 8, WIRE_STARTED);
    say_thread(&first, 0);
    first.time = 3000;
    say_thread_end(&first, 0, 0);
    serve(&t);
    second.time = 2000;
    say_thread(&second, 0);
    serve(&t);
    second.time = 5000;
    say_thread_end(&second, 0, 0);
    first.time = 4000;
    say_thread(&first, 1); /* has the first CPU again */
    first.time = 6000;
    say_thread_end(&first, 1, 0);
    say_word(&first, WIRE_BYE);
    say_word(&second, WIRE_BYE);
    serve(&t);
    hang_up(&first);
    hang_up(&second);
    serve(&t);
    finish(&t);
    assert_int_equal(t.records[SPE_PERF_SWITCH_CPU_WIDE], 6);
    assert_int_equal(t.out_of_order, 0);
    assert_int_equal(t.switched[0], 6000);
    assert_int_equal(t.switched[1], 5000);
}

/* A killed process never says what it made; what it shared is taken, and nothing is lost. */
static void test_killed(void **state)
{
    struct test t;
    struct peer p;

    (void)state;
    begin(&t);
    p = greet(&t, 7, WIRE_STARTED);
    say_thread(&p, 0);
    say_aux(&p, 0, 0, 3);
    p.shared->offset = 2ull * BYTES; /* one record came, and is still in the buffer */
    p.shared->head = 3ull * BYTES;
    p.shared->carried = 2;
    p.shared->statistics.sampled = 6;
    p.shared->statistics.records = 5;
    hang_up(&p);
    serve(&t);
    p = greet(&t, 8, WIRE_STARTED); /* and one that outlives the recording */
    say_thread(&p, 0);
    serve(&t);
    receiver_end(t.receiver);
    hang_up(&p);
    finish(&t);
    assert_int_equal(t.summary.silent, 1);
    assert_int_equal(t.summary.left, 1);
    assert_int_equal(t.summary.statistics.sampled, 6);
    assert_false(record_is_incomplete(&t.summary));
    assert_int_equal(t.aux_bytes, 5 * BYTES);
    assert_int_equal(t.lost, 0);
}

/* ---- What gets lost ------------------------------------------------------------------------- */

static void test_lost_messages(void **state)
{
    struct test t;
    struct peer p;

    (void)state;
    begin(&t);
    p = greet(&t, 7, WIRE_STARTED);
    p.sequence += 3; /* as if they had been sent */
    live(&p, 10);
    say_word(&p, WIRE_BYE);
    hang_up(&p);
    serve(&t);
    finish(&t);
    assert_int_equal(t.summary.lost_messages, 3);
    assert_int_equal(t.summary.lost_records, 0);
    assert_true(record_is_incomplete(&t.summary));
    assert_int_equal(t.records[SPE_PERF_LOST], 1);
    assert_int_equal(t.lost, 3);
}

static void test_lost_records(void **state)
{
    struct test t;
    struct peer p;

    (void)state;
    begin(&t);
    p = greet(&t, 7, WIRE_STARTED);
    say_thread(&p, 0);
    say_aux(&p, 0, 0, 10);
    say_aux(&p, 0, 14ull * BYTES, 6); /* four are missing before it */
    say_thread_end(&p, 0, 25);        /* and five behind it */
    say_thread_end(&p, 1, 100);       /* of a thread that never began here */
    say_word(&p, WIRE_BYE);
    hang_up(&p);
    serve(&t);
    finish(&t);
    assert_int_equal(t.summary.lost_messages, 0);
    assert_int_equal(t.summary.lost_records, 109);
    assert_true(record_is_incomplete(&t.summary));
    assert_int_equal(t.aux_bytes, 16 * BYTES);
    assert_int_equal(t.lost, 109);
}

/* ---- What no plugin says -------------------------------------------------------------------- */

/* The message ends the recording of its process, and does nothing else. */
static void expect_refusal(struct test *t, struct peer *p, uint64_t refused)
{
    serve(t);
    assert_false(is_connected(p));
    assert_int_equal(receiver_count(t->receiver), 0);
    assert_int_equal(t->summary.refused, refused);
    hang_up(p);
}

static void test_sizes(void **state)
{
    static const uint32_t types[] = {0,          WIRE_HELLO,      WIRE_SETUP,  WIRE_COMM,
                                     WIRE_MAP,   WIRE_PROGRAM,    WIRE_THREAD, WIRE_AUX,
                                     WIRE_AWAY,  WIRE_THREAD_END, WIRE_COUNTS, WIRE_TROUBLE,
                                     WIRE_CALLS, WIRE_STRANGE,    WIRE_BYE,    99,
                                     UINT32_MAX};
    static uint8_t bytes[WIRE_MESSAGE_MAX + 8];
    struct wire_header *h = (struct wire_header *)(void *)bytes;
    struct test t;
    uint64_t refused = 0;

    (void)state;
    begin(&t);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const size_t sizes[] = {1, 8, sizeof(*h) - 1, sizeof(*h) + 1, 90000, WIRE_MESSAGE_MAX + 8};

        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            struct peer p = greet(&t, 7, WIRE_STARTED);

            memset(bytes, 'x', sizeof(bytes));
            *h = (struct wire_header){.type = types[i], .size = (uint32_t)sizes[k], .sequence = 1};
            assert_true(send_bytes(&p, bytes, sizes[k], NULL, 0));
            if (sizes[k] == sizeof(*h) + 1 &&
                (types[i] == WIRE_COMM || types[i] == WIRE_PROGRAM || types[i] == WIRE_TROUBLE)) {
                hang_up(&p); /* a text of one character */
                serve(&t);
            } else {
                expect_refusal(&t, &p, ++refused);
            }
        }
    }
    finish(&t);
    assert_string_equal(t.summary.troubles[0].text, "x");
    assert_int_equal(t.records[SPE_PERF_COMM], 2);
}

/* A length in the message that is not the message's own. */
static void test_lengths(void **state)
{
    static struct wire_counts counts = {.count = 2};
    static struct wire_aux aux = {.size = 100};
    struct test t;
    struct peer p;

    (void)state;
    begin(&t);
    p = greet(&t, 7, WIRE_STARTED);
    say(&p, WIRE_COUNTS, &counts, offsetof(struct wire_counts, counts[2]), -1);
    serve(&t);
    assert_int_equal(t.counts.count, 2);
    say(&p, WIRE_COUNTS, &counts, offsetof(struct wire_counts, counts[1]), -1);
    expect_refusal(&t, &p, 1);
    p = greet(&t, 7, WIRE_STARTED);
    say_thread(&p, 0);
    say(&p, WIRE_AUX, &aux, offsetof(struct wire_aux, bytes) + 99, -1);
    expect_refusal(&t, &p, 2);
    p = greet(&t, 7, WIRE_STARTED);
    aux.header.size = 1;
    assert_true(send_bytes(&p, &aux, 200, NULL, 0));
    expect_refusal(&t, &p, 3);
    finish(&t);
    assert_int_equal(t.aux_bytes, 0);
}

/* A text without an end, after a message that has filled the launcher's memory with it. */
static void test_endless_text(void **state)
{
    static uint8_t bytes[100000];
    struct wire_map map = {.inode = 1};
    struct test t;
    struct peer p;

    (void)state;
    begin(&t);
    p = call(&t, 6);
    memset(bytes, 'x', sizeof(bytes));
    assert_true(send_bytes(&p, bytes, sizeof(bytes), NULL, 0));
    serve(&t);
    hang_up(&p);
    p = greet(&t, 7, WIRE_STARTED);
    say(&p, WIRE_MAP, &map, offsetof(struct wire_map, path), -1);
    memset(map.path, 'x', sizeof(map.path));
    say(&p, WIRE_MAP, &map, offsetof(struct wire_map, path) + 10, -1);
    say(&p, WIRE_MAP, &map, sizeof(map), -1);
    serve(&t);
    assert_true(is_connected(&p));
    hang_up(&p);
    finish(&t);
    assert_int_equal(t.summary.refused, 0);
    assert_int_equal(t.records[SPE_PERF_MMAP2], 3);
}

static void test_hellos(void **state)
{
    struct test t;
    struct peer p, other;

    (void)state;
    begin(&t);
    p = greet(&t, 7, WIRE_STARTED);
    say_thread(&p, 3);
    say_hello(&p, WIRE_STARTED); /* twice on one connection */
    expect_refusal(&t, &p, 1);

    p = greet(&t, 7, WIRE_STARTED);
    say_thread(&p, 3);
    other = greet(&t, 7, WIRE_BACK); /* while the first one lives */
    assert_false(is_connected(&p));
    assert_int_equal(receiver_count(t.receiver), 1);
    hang_up(&p);
    hang_up(&other);
    serve(&t);

    p = call(&t, 8);
    say_word(&p, WIRE_BYE); /* before any hello: it is none of ours */
    serve(&t);
    assert_false(is_connected(&p));
    hang_up(&p);
    finish(&t);
    assert_int_equal(t.summary.refused, 1);
}

/* Nobody has to read what the launcher says. */
static void test_unread_hellos(void **state)
{
    struct test t;

    (void)state;
    begin(&t);
    for (int i = 0; i < 400; i++) {
        struct peer p = call(&t, 7);

        say_hello(&p, i % 2 ? WIRE_BACK : WIRE_FORKED);
        serve(&t);
        hang_up(&p);
    }
    serve(&t);
    finish(&t);
    assert_int_equal(t.summary.processes, 200);
}

static void test_memory(void **state)
{
    const size_t size = sizeof(struct wire_shared);
    struct test t;
    struct peer p;
    int fds[2];

    (void)state;
    begin(&t);
    p = greet(&t, 7, WIRE_STARTED);
    say_thread_with(&p, 0, -1);
    expect_refusal(&t, &p, 1);
    p = greet(&t, 7, WIRE_STARTED);
    say_thread_with(&p, 0, make_memory(size, F_SEAL_GROW)); /* could be cut */
    expect_refusal(&t, &p, 2);
    p = greet(&t, 7, WIRE_STARTED);
    say_thread_with(&p, 0, make_memory(size - 1, WIRE_SEALS));
    expect_refusal(&t, &p, 3);
    p = greet(&t, 7, WIRE_STARTED);
    say_thread_with(&p, 0, open("/dev/zero", O_RDONLY | O_CLOEXEC));
    expect_refusal(&t, &p, 4);
    p = greet(&t, 7, WIRE_STARTED);
    say_thread_with(&p, WIRE_SLOTS, make_memory(size, WIRE_SEALS));
    expect_refusal(&t, &p, 5);
    for (size_t count = 2; count <= 8; count++) {
        struct wire_thread m = {.header = {WIRE_THREAD, sizeof(m), 7, 7, 0, 1}};
        int many[8];

        p = greet(&t, 7, WIRE_STARTED);
        fds[0] = make_memory(size, WIRE_SEALS);
        for (size_t i = 0; i < count; i++)
            many[i] = fds[0];
        assert_true(send_bytes(&p, &m, sizeof(m), many, count));
        close(fds[0]);
        expect_refusal(&t, &p, 4 + count);
    }
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    p = greet(&t, 7, WIRE_STARTED);
    say_text(&p, WIRE_COMM, "name");
    say_thread_with(&p, 0, fds[0]);
    close(fds[1]);
    expect_refusal(&t, &p, 13);
    finish(&t);
    assert_int_equal(t.summary.threads, 0);
}

/* One slot after another, and the same one again and again: queues come back. */
static void test_slots(void **state)
{
    struct test t;
    struct peer p;

    (void)state;
    begin(&t);
    p = greet(&t, 7, WIRE_STARTED);
    for (uint32_t i = 0; i < 3000; i++) {
        say_thread(&p, i % 3 ? i : WIRE_SLOTS - 1);
        if (i % 2)
            say_thread_end(&p, i % 3 ? i : WIRE_SLOTS - 1, 0);
        serve(&t);
    }
    hang_up(&p);
    serve(&t);
    finish(&t);
    assert_int_equal(t.summary.refused, 0);
    assert_int_equal(t.records[SPE_PERF_ITRACE_START], 3000);
    assert_int_equal(t.summary.threads, 1); /* all of them say that they are the main thread */
}

/* Nonsense in the memory that is shared: nothing is read outside it. */
static void test_nonsense_in_memory(void **state)
{
    static const uint64_t values[] = {0, 1, WIRE_BUFFER, WIRE_BUFFER + 1, UINT64_MAX, 1ull << 63};
    struct test t;

    (void)state;
    begin(&t);
    for (size_t i = 0; i < 36; i++) {
        struct peer p = greet(&t, 7, WIRE_FORKED);

        say_thread(&p, 0);
        say_aux(&p, 0, values[5 - i % 6], 2);
        p.shared->head = values[i / 6];
        p.shared->offset = values[i % 6];
        memset(&p.shared->statistics, (int)i * 7, sizeof(p.shared->statistics));
        hang_up(&p);
        serve(&t);
    }
    finish(&t);
}

/* One that talks without end gets its turns, and the others theirs. */
static void test_turns(void **state)
{
    struct test t;
    struct peer loud, quiet;
    struct wire_header h = {WIRE_BYE, sizeof(h), 7, 7, 0, 0};
    unsigned turns = 0;

    (void)state;
    begin(&t);
    loud = greet(&t, 7, WIRE_STARTED);
    quiet = greet(&t, 8, WIRE_STARTED);
    say_word(&quiet, WIRE_BYE);
    hang_up(&quiet);
    while (receiver_count(t.receiver) == 2 && turns < 1000) {
        while (send_bytes(&loud, &h, sizeof(h), NULL, 0))
            continue;
        turns += receiver_serve(t.receiver, 3);
    }
    assert_true(turns < 1000);
    hang_up(&loud);
    serve(&t);
    finish(&t);
    assert_int_equal(t.summary.silent, 0);
}

/* More connections than any limit of ours was. */
static void test_crowd(void **state)
{
    enum { CROWD = 4500 };
    struct rlimit before, more;
    struct test t;
    struct peer *peers = calloc(CROWD, sizeof(*peers));

    (void)state;
    assert_non_null(peers);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    more = (struct rlimit){before.rlim_max, before.rlim_max};
    if (more.rlim_cur < 2 * CROWD + 200 || setrlimit(RLIMIT_NOFILE, &more) < 0) {
        print_message("no more than %llu descriptors\n", (unsigned long long)before.rlim_max);
        free(peers);
        skip();
    }
    begin(&t);
    for (uint32_t i = 0; i < CROWD; i++) {
        peers[i] = call(&t, 1000 + i);
        say_hello(&peers[i], WIRE_FORKED);
    }
    serve(&t);
    assert_int_equal(receiver_count(t.receiver), CROWD);
    for (uint32_t i = 0; i < CROWD; i++) {
        say_word(&peers[i], WIRE_BYE);
        hang_up(&peers[i]);
    }
    serve(&t);
    assert_int_equal(receiver_count(t.receiver), 0);
    finish(&t);
    setrlimit(RLIMIT_NOFILE, &before);
    free(peers);
    assert_int_equal(t.summary.processes, CROWD);
    assert_int_equal(t.records[SPE_PERF_EXIT], CROWD);
}

/* A path that is a FIFO, or anything but a file, is not opened. */
static void test_paths(void **state)
{
    char path[] = "/tmp/spe-receive-fifo-XXXXXX";
    struct test t;
    struct peer p;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    begin(&t);
    p = greet(&t, 7, WIRE_STARTED);
    alarm(60); /* instead of waiting for a writer for ever */
    say_map(&p, path);
    say_map(&p, "/dev/zero");
    say_map(&p, "/");
    serve(&t);
    alarm(0);
    hang_up(&p);
    serve(&t);
    finish(&t);
    unlink(path);
    assert_int_equal(t.records[SPE_PERF_MMAP2], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),          cmocka_unit_test(test_exec),
        cmocka_unit_test(test_back),          cmocka_unit_test(test_killed),
        cmocka_unit_test(test_lost_messages), cmocka_unit_test(test_lost_records),
        cmocka_unit_test(test_sizes),         cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_endless_text),  cmocka_unit_test(test_hellos),
        cmocka_unit_test(test_unread_hellos), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_slots),         cmocka_unit_test(test_nonsense_in_memory),
        cmocka_unit_test(test_turns),         cmocka_unit_test(test_paths),
        cmocka_unit_test(test_crowd),         cmocka_unit_test(test_late_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
