/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the machine model costs an emulator that tells it every access and branch, on one core: hits
 * of L1 (called, and inline as the plugin does it), misses by where they are served, branches; and
 * a plain loop that counts, to compare with. Rounds are interleaved and the best of each counts,
 * since the machine is shared.
 *
 *   bench_machine [ROUNDS [WORD]]     only the measures that have WORD in their name
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pe/machine_fast.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- What is measured ----------------------------------------------------------------------- */

typedef void round_fn(struct spe_machine *machine, uint64_t n, uint64_t bytes);

static volatile uint64_t counter;

static void count(struct spe_machine *machine, uint64_t n, uint64_t bytes)
{
    (void)machine;
    (void)bytes;
    for (uint64_t i = 0; i < n; i++)
        counter = counter + 1;
}

/* Words of `bytes` bytes one after the other, every fourth access a store. */
static void walk_inline(struct spe_machine *machine, uint64_t n, uint64_t bytes)
{
    for (uint64_t i = 0; i < n; i++)
        pe_touch_fast(machine, machine->cpus[0], 0x10000 + (i * 8 & (bytes - 1)), 8, i % 4 == 0);
}

static void walk(struct spe_machine *machine, uint64_t n, uint64_t bytes)
{
    for (uint64_t i = 0; i < n; i++)
        spe_machine_touch(machine, 0, 0x10000 + (i * 8 & (bytes - 1)), 8,
                          i % 4 == 0 ? SPE_ACCESS_STORE : 0, NULL);
}

static void scatter_inline(struct spe_machine *machine, uint64_t n, uint64_t bytes)
{
    uint64_t x = 1;

    for (uint64_t i = 0; i < n; i++) {
        x = x * UINT64_C(6364136223846793005) + 1;
        pe_touch_fast(machine, machine->cpus[0], 0x10000 + (x >> 30 & (bytes - 1) & ~UINT64_C(7)),
                      8, i % 4 == 0);
    }
}

/* A line each, so that nothing hits that does not fit. */
static void stride(struct spe_machine *machine, uint64_t n, uint64_t bytes)
{
    for (uint64_t i = 0; i < n; i++)
        pe_touch_fast(machine, machine->cpus[0], 0x10000 + (i * 64 & (bytes - 1)), 8, i % 4 == 0);
}

/* Two cpus write the same line in turn. */
static void ping_pong(struct spe_machine *machine, uint64_t n, uint64_t bytes)
{
    (void)bytes;
    for (uint64_t i = 0; i < n; i++)
        pe_touch_fast(machine, machine->cpus[i & 1], 0x10000, 8, true);
}

static void jump(struct spe_machine *machine, uint64_t n, uint64_t bytes)
{
    (void)bytes;
    for (uint64_t i = 0; i < n; i++)
        spe_machine_branch(machine, 0, 0x1000 + (i & 15) * 4, 0, true, 0x2000);
}

static void loop(struct spe_machine *machine, uint64_t n, uint64_t bytes)
{
    (void)bytes;
    for (uint64_t i = 0; i < n; i++)
        spe_machine_branch(machine, 0, 0x1000 + (i & 15) * 4, SPE_BRANCH_CONDITIONAL, i & 7,
                           0x2000);
}

static void coin(struct spe_machine *machine, uint64_t n, uint64_t bytes)
{
    uint64_t x = 1;

    (void)bytes;
    for (uint64_t i = 0; i < n; i++) {
        x = x * UINT64_C(6364136223846793005) + 1;
        spe_machine_branch(machine, 0, 0x1000, SPE_BRANCH_CONDITIONAL, x >> 63, 0x2000);
    }
}

/* ---- Rounds --------------------------------------------------------------------------------- */

struct measure {
    const char *name;
    round_fn *run;
    uint64_t n, bytes;
    struct spe_machine *machine;
    double best; /* seconds */
};

static struct spe_machine *make(void)
{
    struct spe_machine_config config;
    struct spe_machine *machine;
    char why[200] = "no memory";

    if (spe_machine_config_init(&config, "neoverse-n1") ||
        spe_machine_create(&config, &machine, why, sizeof(why))) {
        fprintf(stderr, "bench_machine: %s\n", why);
        exit(2);
    }
    return machine;
}

static void one_round(struct measure *m)
{
    double start = now(), seconds;

    m->run(m->machine, m->n, m->bytes);
    seconds = now() - start;
    if (m->best == 0 || seconds < m->best)
        m->best = seconds;
}

int main(int argc, char **argv)
{
    static struct measure measures[] = {
        {"plain counter in memory", count, 20000000, 0, NULL, 0},
        {"L1 hit, sequential, inline", walk_inline, 20000000, 1 << 14, NULL, 0},
        {"L1 hit, sequential, called", walk, 20000000, 1 << 14, NULL, 0},
        {"L1 hit, random, inline", scatter_inline, 20000000, 1 << 15, NULL, 0},
        {"L1 miss, L2 hit", stride, 2000000, 1 << 17, NULL, 0},
        {"L2 miss, LLC hit", stride, 2000000, 1 << 23, NULL, 0},
        {"LLC miss", stride, 2000000, 1 << 28, NULL, 0},
        {"modified in the other cpu's cache", ping_pong, 2000000, 0, NULL, 0},
        {"branch, unconditional", jump, 20000000, 0, NULL, 0},
        {"branch, conditional, predicted", loop, 20000000, 0, NULL, 0},
        {"branch, conditional, random", coin, 5000000, 0, NULL, 0},
    };
    size_t count_of = sizeof(measures) / sizeof(measures[0]);
    int rounds = argc > 1 ? atoi(argv[1]) : 5;

    for (size_t i = 0; i < count_of; i++)
        measures[i].machine = make();
    for (int r = 0; r < rounds; r++)
        for (size_t i = 0; i < count_of; i++)
            if (i == 0 || argc < 3 || strstr(measures[i].name, argv[2]))
                one_round(&measures[i]);
    for (size_t i = 0; i < count_of; i++) {
        double each = measures[i].best / (double)measures[i].n * 1e9;
        double plain = measures[0].best / (double)measures[0].n * 1e9;

        if (measures[i].best > 0)
            printf("%-36s %8.2f ns each   %6.1f plain counts\n", measures[i].name, each,
                   each / plain);
        spe_machine_destroy(measures[i].machine);
    }
    return 0;
}
