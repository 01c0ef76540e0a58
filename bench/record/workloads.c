/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Some programs in one, for AArch64:
 *
 *   matmul   floating-point, a load or two for every multiplication
 *   chase    loads that wait for each other, in 256 KiB
 *   crc      integer operations, few accesses
 *   qsort    calls, branches that nobody can predict
 *   pack     matches in 4 MiB of text, found by a hash: many loads miss L1, and some L2
 *
 * and one whose memory counts: 128 threads at once, each of which fills its caches.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE = 256,
    NODES = 32768,
    STEPS = 60000000,
    BYTES = 1 << 16,
    ROUNDS = 400,
    WORDS = 1000000,
    TEXT = 1 << 22,
    HASH_BITS = 16,
    THREADS = 128,
    LINE = 64
};

static double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];

static uint32_t next_random(void)
{
    static uint32_t state = 1;

    state = state * 1664525 + 1013904223;
    return state >> 8;
}

__attribute__((noinline)) static uint64_t matmul(void)
{
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            left[i][j] = right[i][j] = i - j;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                for (int k = 0; k < SIDE; k++)
                    product[i][j] += left[i][k] * right[k][j];
    return (uint64_t)product[7][9];
}

__attribute__((noinline)) static uint64_t chase(void)
{
    static void *nodes[NODES];
    static uint32_t order[NODES];
    void **at = (void **)&nodes[0];

    for (uint32_t i = 0; i < NODES; i++)
        order[i] = i;
    for (uint32_t i = NODES - 1; i; i--) {
        uint32_t j = next_random() % (i + 1), t = order[i];

        order[i] = order[j];
        order[j] = t;
    }
    for (uint32_t i = 0; i < NODES; i++)
        nodes[order[i]] = &nodes[order[(i + 1) % NODES]];
    for (int i = 0; i < STEPS; i++)
        at = *at;
    return (uint64_t)(at - nodes);
}

__attribute__((noinline)) static uint64_t crc(void)
{
    static uint8_t bytes[BYTES];
    uint32_t sum = 0;

    for (int i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)next_random();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < BYTES; i++) {
            sum ^= bytes[i];
            for (int k = 0; k < 8; k++)
                sum = sum >> 1 ^ (0xedb88320 & -(sum & 1));
        }
    return sum;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

__attribute__((noinline)) static uint64_t sort(void)
{
    static uint32_t words[WORDS];

    for (int i = 0; i < WORDS; i++)
        words[i] = next_random();
    qsort(words, WORDS, sizeof(words[0]), compare);
    return words[WORDS / 2];
}

/* How long are two texts the same? */
static uint32_t match(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
    uint32_t length = 0;

    while (b + length < end && a[length] == b[length])
        length++;
    return length;
}

__attribute__((noinline)) static uint64_t pack(void)
{
    static uint8_t text[TEXT];
    static uint32_t latest[1 << HASH_BITS], chain[TEXT];
    uint64_t matched = 0;

    for (uint32_t i = 0; i < TEXT; i++) /* of few letters: short matches */
        text[i] = (uint8_t)('a' + (next_random() >> 16) % 8);
    for (uint32_t i = 1; i + 4 < TEXT;) {
        uint32_t four, hash, best = 0;

        memcpy(&four, &text[i], 4);
        hash = four * 2654435761u >> (32 - HASH_BITS);
        for (uint32_t at = latest[hash], tries = 0; at && tries < 8; at = chain[at], tries++) {
            uint32_t length = match(&text[at], &text[i], text + TEXT);

            best = length > best ? length : best;
        }
        chain[i] = latest[hash];
        latest[hash] = i;
        matched += best;
        i += best > 4 ? best : 1;
    }
    return matched;
}

static pthread_barrier_t all_there;
static char shared[2 << 20];

static void *read_all(void *user)
{
    const volatile char *bytes = shared;

    pthread_barrier_wait(&all_there);
    for (size_t i = 0; i < sizeof(shared); i += LINE)
        (void)bytes[i];
    pthread_barrier_wait(&all_there);
    return user;
}

static uint64_t threads(void)
{
    pthread_t thread;

    pthread_barrier_init(&all_there, NULL, THREADS);
    for (int i = 1; i < THREADS; i++)
        if (pthread_create(&thread, NULL, read_all, NULL) != 0)
            abort();
    read_all(NULL);
    return THREADS;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint64_t (*run)(void);
    } workloads[] = {{"matmul", matmul}, {"chase", chase}, {"crc", crc},
                     {"qsort", sort},    {"pack", pack},   {"threads", threads}};

    for (unsigned i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
        if (argc > 1 && strcmp(argv[1], workloads[i].name) == 0) {
            printf("%llu\n", (unsigned long long)workloads[i].run());
            return 0;
        }
    return 2;
}
