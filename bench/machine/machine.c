/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What tools/measure.py runs on a modelled machine: the usual small programs that find out how fast
 * caches, translation, prediction and memory are.
 *
 *     machine WHAT COUNT [A]
 *
 * WHAT is done COUNT times behind a preparation that does not depend on COUNT: the difference of
 * two runs is the cost of WHAT alone.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, PAGE = 4096, CHAINS = 16, PATTERN = 65536, SPREAD = 16384, OTHERS = 160 << 20 };

static uint64_t sink;

static char *reserve(size_t bytes)
{
    char *at = mmap(NULL, bytes + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED) {
        perror("machine");
        exit(1);
    }
    return at;
}

static size_t common(size_t a, size_t b)
{
    return b ? common(b, a % b) : a;
}

/* Node i is followed by this one, in a cycle through all: in no order if there are a power of two
 * of them, else by a constant number of nodes. */
static size_t follower(size_t i, size_t nodes)
{
    size_t step = nodes * 5 / 8 + 1;

    if (!(nodes & (nodes - 1)))
        return (i * 1664525 + 1013904223) & (nodes - 1);
    while (common(nodes, step) != 1)
        step++;
    return (i + step) % nodes;
}

static char *ring(size_t nodes, size_t apart)
{
    char *at = reserve(nodes * apart);

    for (size_t i = 0; i < nodes; i++)
        *(char **)(at + i * apart) = at + follower(i, nodes) * apart;
    return at;
}

__attribute__((noinline)) char *chase(char *at, size_t count)
{
    while (count--)
        at = *(char **)at;
    return at;
}

/* A working set of A bytes, line after line in no order. */
static void latency(size_t count, size_t bytes)
{
    char *at = chase(ring(bytes / LINE, LINE), 2 * bytes / LINE);

    sink += (uintptr_t)chase(at, count);
}

/* Independent loads, so many bytes apart. */
__attribute__((noinline)) uint64_t walk(const char *at, size_t apart, size_t count)
{
    uint64_t sum = 0;

    for (; count--; at += apart)
        sum += *(const uint64_t *)at;
    return sum;
}

/* Other lines take the caches. */
static void forget(void)
{
    sink += walk(reserve(OTHERS), LINE, OTHERS / LINE);
}

/* A rings in turn, all of it in memory and not in a cache. */
static void memory(size_t count, size_t chains)
{
    char *at[CHAINS];

    for (size_t k = 0; k < chains; k++)
        at[k] = ring(SPREAD, LINE);
    forget();
    switch (chains) {
#define NEXT(k) at##k = *(char *volatile *)at##k
#define LOOP(declare, body)                                                                        \
    {                                                                                              \
        declare;                                                                                   \
        while (count--) {                                                                          \
            body;                                                                                  \
        }                                                                                          \
    }
    case 1:
        sink += (uintptr_t)chase(at[0], count);
        break;
    case 2:
        LOOP(char *at0 = at[0]; char *at1 = at[1], NEXT(0); NEXT(1))
        break;
    case 4:
        LOOP(char *at0 = at[0]; char *at1 = at[1]; char *at2 = at[2]; char *at3 = at[3], NEXT(0);
             NEXT(1); NEXT(2); NEXT(3))
        break;
    case 8:
        LOOP(char *at0 = at[0]; char *at1 = at[1]; char *at2 = at[2]; char *at3 = at[3];
             char *at4 = at[4]; char *at5 = at[5]; char *at6 = at[6]; char *at7 = at[7], NEXT(0);
             NEXT(1); NEXT(2); NEXT(3); NEXT(4); NEXT(5); NEXT(6); NEXT(7))
        break;
    case 16:
        LOOP(char *at0 = at[0]; char *at1 = at[1]; char *at2 = at[2]; char *at3 = at[3];
             char *at4 = at[4]; char *at5 = at[5]; char *at6 = at[6]; char *at7 = at[7];
             char *at8 = at[8]; char *at9 = at[9]; char *at10 = at[10]; char *at11 = at[11];
             char *at12 = at[12]; char *at13 = at[13]; char *at14 = at[14];
             char *at15 = at[15], NEXT(0); NEXT(1); NEXT(2); NEXT(3); NEXT(4); NEXT(5); NEXT(6);
             NEXT(7); NEXT(8); NEXT(9); NEXT(10); NEXT(11); NEXT(12); NEXT(13); NEXT(14); NEXT(15))
        break;
    }
}

/* A pages, one line of each; the lines are in different sets. */
static void pages(size_t count, size_t number)
{
    char *at = ring(number, PAGE + LINE);

    sink += (uintptr_t)chase(chase(at, 4 * number), count);
}

/* Independent loads, A bytes apart, of fresh memory. */
static void stride(size_t count, size_t apart)
{
    sink += walk(reserve(count * apart), apart, count);
}

/* The bytes of `blocks` blocks of 256. */
__attribute__((noinline)) void read_all(const char *at, size_t blocks)
{
    while (blocks--)
        __asm__ volatile("ldp q0, q1, [%0]\n\tldp q2, q3, [%0, 32]\n\t"
                         "ldp q4, q5, [%0, 64]\n\tldp q6, q7, [%0, 96]\n\t"
                         "ldp q16, q17, [%0, 128]\n\tldp q18, q19, [%0, 160]\n\t"
                         "ldp q20, q21, [%0, 192]\n\tldp q22, q23, [%0, 224]\n\t"
                         "add %0, %0, 256"
                         : "+r"(at)::"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17",
                           "v18", "v19", "v20", "v21", "v22", "v23", "memory");
}

/* COUNT passes over A bytes. */
static void bandwidth(size_t count, size_t bytes)
{
    char *at = reserve(bytes);

    memset(at, 1, bytes);
    read_all(at, bytes / 256);
    while (count--)
        read_all(at, bytes / 256);
}

/* A branch that goes as a pattern of A bits says, again and again. */
static uint8_t pattern[PATTERN];

__attribute__((noinline)) uint64_t follow(size_t length, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; count--; i = i + 1 == length ? 0 : i + 1) {
        if (pattern[i])
            __asm__ volatile("add %0, %0, 1" : "+r"(sum));
        __asm__ volatile("nop");
    }
    return sum;
}

static void branches(size_t count, size_t length)
{
    uint64_t random = 88172645463325252u;

    for (size_t i = 0; i < length; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        pattern[i] = length > 1 && (random >> 20 & 1);
    }
    sink += follow(length, 4 * length);
    sink += follow(length, count);
}

/* Lines that another core has just written. (Two threads that wait for each other's values would
 * measure the emulator: how often one looks in vain is the host's choice.) */
static void *write_ring(void *made)
{
    *(char **)made = ring(SPREAD / 4, LINE);
    return NULL;
}

static void peer(size_t count)
{
    pthread_t thread;
    char *at;

    pthread_create(&thread, NULL, write_ring, &at);
    pthread_join(thread, NULL);
    sink += (uintptr_t)chase(at, count);
}

/* A word is stored, and one is read A bytes behind its beginning, which is stored next. */
static _Alignas(LINE) char words[LINE];

static void store_chain(size_t count, size_t a)
{
    uint64_t value = 2;

    while (count--)
        __asm__ volatile("str %0, [%1]\n\tldr %0, [%2]"
                         : "+r"(value)
                         : "r"(words), "r"(words + a)
                         : "memory");
    sink += value;
}

/* A word is stored, and a byte of it read, which nobody needs. */
static void behind(size_t count, size_t a)
{
    while (count--)
        __asm__ volatile("str xzr, [%0]\n\tldrb w9, [%1]" ::"r"(words), "r"(words + a)
                         : "x9", "memory");
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    size_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
    size_t a = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;

    if (!strcmp(what, "latency"))
        latency(count, a);
    else if (!strcmp(what, "memory"))
        memory(count, a);
    else if (!strcmp(what, "pages"))
        pages(count, a);
    else if (!strcmp(what, "stride"))
        stride(count, a);
    else if (!strcmp(what, "bandwidth"))
        bandwidth(count, a);
    else if (!strcmp(what, "branches"))
        branches(count, a);
    else if (!strcmp(what, "peer"))
        peer(count);
    else if (!strcmp(what, "chain"))
        store_chain(count, a);
    else if (!strcmp(what, "behind"))
        behind(count, a);
    else {
        fputs("usage: machine WHAT COUNT [A]\n", stderr);
        return 2;
    }
    return sink == 1;
}
