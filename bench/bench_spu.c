/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the unit costs a host, on one core: operations that are not sampled (told in one go, in
 * blocks, one by one), and a whole sample from selection to the buffer. Rounds are interleaved and
 * the best of each counts, since the machine is shared. Exits with 1 if a target is missed.
 *
 *   bench_spu [ROUNDS [WORD]]     only the measures that have WORD in their name
 */
#include <specimen/spu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Allocations are counted ---------------------------------------------------------------- */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)
#define COUNTS_ALLOCATIONS 1
static unsigned long allocations;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    allocations++;
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    allocations++;
    return __libc_realloc(p, size);
}
#else
static unsigned long allocations;
#endif

/* ---- The host ------------------------------------------------------------------------------- */

#define BASE UINT64_C(0x100000)
#define BUFFER (1u << 20)

struct host {
    uint8_t memory[BUFFER];
    uint64_t time, bytes, pmu;
};

static struct host host_state;

static void write_memory(void *user, const struct spe_write *w, struct spe_write_result *result)
{
    struct host *h = user;

    memcpy(h->memory + (w->address - BASE), w->data, w->size);
    h->bytes += w->size;
    result->written = w->size;
}

static uint64_t physical_count(void *user)
{
    return ((struct host *)user)->time;
}

static void pmu_event(void *user, unsigned event, uint64_t count)
{
    (void)event;
    ((struct host *)user)->pmu += count;
}

static struct spe_spu *make_unit(const char *preset, uint64_t interval)
{
    const struct spe_spu_host host = {
        .size = sizeof(host),
        .user = &host_state,
        .write = write_memory,
        .physical_count = physical_count,
        .pmu_event = pmu_event,
    };
    struct spe_spu_config config;
    struct spe_spu *spu;
    char why[200];

    if (spe_spu_config_init(&config, preset) || spe_spu_create(&config, &host, &spu, why, 200)) {
        fprintf(stderr, "bench_spu: %s\n", why);
        exit(2);
    }
    spe_spu_reg_set(spu, SPE_REG_PMSIRR_EL1, interval << 8);
    spe_spu_reg_set(spu, SPE_REG_PMSCR_EL1, 0x3b);  /* E0SPE E1SPE CX PA TS */
    spe_spu_reg_set(spu, SPE_REG_PMSCR_EL2, 0x18);  /* CX PA */
    spe_spu_reg_set(spu, SPE_REG_PMSEVFR_EL1, 0x2); /* retired */
    spe_spu_reg_set(spu, SPE_REG_PMSLATFR_EL1, 4);
    spe_spu_reg_set(spu, SPE_REG_PMSFCR_EL1, 0x70005); /* all types chosen; FE FL */
    spe_spu_reg_set(spu, SPE_REG_PMBPTR_EL1, BASE);
    spe_spu_reg_set(spu, SPE_REG_PMBLIMITR_EL1, (BASE + BUFFER) | 1);
    return spu;
}

/* What is sampled, in turn: a load, a branch, a store, an arithmetic operation. */
struct program {
    struct spe_operation op[4];
    struct spe_memory_access access[2];
    unsigned at;
};

static void describe(struct program *p)
{
    static const enum spe_operation_kind kinds[4] = {SPE_OPERATION_LOAD, SPE_OPERATION_BRANCH,
                                                     SPE_OPERATION_STORE, SPE_OPERATION_OTHER};

    for (unsigned i = 0; i < 4; i++) {
        spe_operation_init(&p->op[i], kinds[i]);
        p->op[i].pc = 0x400000 + 4 * i;
        p->op[i].issue_cycles = 5;
        p->op[i].execute_cycles = 20;
    }
    p->op[1].taken = true;
    p->op[1].target = 0x500000;
    p->op[1].target_security = SPE_NONSECURE;
    for (unsigned i = 0; i < 2; i++) {
        p->access[i] = (struct spe_memory_access){
            .va = 0x7fff1000,
            .pa = 0x80001000,
            .bytes = 8,
            .facts = SPE_FACT_L1D_ACCESS | SPE_FACT_TLB_ACCESS,
            .has_source = i == 0,
            .store = i == 1,
            .pas = SPE_NONSECURE,
            .translated_at = 2,
            .done_at = 20,
        };
        p->op[2 * i].accesses = &p->access[i];
        p->op[2 * i].access_count = 1;
    }
    p->at = 0;
}

/* What an interrupt handler does with a full buffer. */
static void empty_buffer(struct spe_spu *spu)
{
    spe_spu_reg_set(spu, SPE_REG_PMBPTR_EL1, BASE);
    spe_spu_reg_set(spu, SPE_REG_PMBSR_EL1, 0);
}

static void finish_sample(struct spe_spu *spu, struct program *p)
{
    struct spe_operation *op = &p->op[p->at++ % 4];

    op->pc += 16;
    host_state.time += 100;
    if (spe_spu_sample(spu, op) < 0)
        abort();
    if (spe_spu_interrupt(spu))
        empty_buffer(spu);
}

/* ---- The rounds ----------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef void round_fn(struct spe_spu *spu, uint64_t operations);

/* As much as the unit allows at a time. */
static void run_batch(struct spe_spu *spu, uint64_t operations)
{
    struct program program;

    describe(&program);
    while (operations) {
        uint64_t n = spe_spu_budget(spu);

        n = n < operations ? n : operations;
        spe_spu_advance(spu, n);
        operations -= n;
        if (operations) {
            if (spe_spu_step(spu, 0) > 0)
                finish_sample(spu, &program);
            operations--;
        }
    }
}

/* Blocks of eight, as an emulator has them: a call for each. */
static void run_blocks(struct spe_spu *spu, uint64_t operations)
{
    struct program program;

    describe(&program);
    for (; operations >= 8; operations -= 8) {
        if (spe_spu_advance(spu, 8) == SPE_OK)
            continue;
        for (int i = 0; i < 8; i++)
            if (spe_spu_step(spu, 0) > 0)
                finish_sample(spu, &program);
    }
}

static void run_single(struct spe_spu *spu, uint64_t operations)
{
    struct program program;

    describe(&program);
    for (; operations; operations--)
        if (spe_spu_step(spu, 0) > 0)
            finish_sample(spu, &program);
}

struct measure {
    const char *name, *preset;
    round_fn *run;
    uint64_t interval, operations;
    double target; /* million operations a second, or nanoseconds a sample */
    bool per_sample;
    struct spe_spu *spu;
    double best; /* seconds */
    uint64_t samples;
};

static void one_round(struct measure *m)
{
    struct spe_spu_stats before, after;
    double start, seconds;

    spe_spu_stats(m->spu, &before);
    start = now();
    m->run(m->spu, m->operations);
    seconds = now() - start;
    spe_spu_stats(m->spu, &after);
    m->samples = after.records - before.records;
    if (m->best == 0 || seconds < m->best)
        m->best = seconds;
}

static bool report(const struct measure *m)
{
    double rate = (double)m->operations / m->best * 1e-6;
    double each = m->best / (double)m->samples * 1e9;
    bool met = m->per_sample ? each < m->target : rate >= m->target;

    if (m->per_sample)
        printf("%-40s %9.1f ns each      target under %4.0f ns   %s\n", m->name, each, m->target,
               met ? "met" : "MISSED");
    else
        printf("%-40s %9.0f M operations/s  target %6.0f M/s     %s\n", m->name, rate, m->target,
               met ? "met" : "MISSED");
    return met;
}

static size_t keep(struct measure *measures, size_t count, const char *word)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (strstr(measures[i].name, word))
            measures[kept++] = measures[i];
    return kept;
}

int main(int argc, char **argv)
{
    static struct measure measures[] = {
        {"batch, interval 4096", "architecture", run_batch, 16, 2000000000, 500, false, NULL, 0, 0},
        {"blocks of 8, interval 4096", "architecture", run_blocks, 16, 100000000, 500, false, NULL,
         0, 0},
        {"one call per operation, interval 4096", "architecture", run_single, 16, 20000000, 50,
         false, NULL, 0, 0},
        {"whole sample, architecture", "architecture", run_batch, 1, 257 * 100000, 200, true, NULL,
         0, 0},
        {"whole sample, neoverse-n1", "neoverse-n1", run_batch, 1, 257 * 100000, 200, true, NULL, 0,
         0},
    };
    size_t count = sizeof(measures) / sizeof(measures[0]);
    int rounds = argc > 1 ? atoi(argv[1]) : 7, missed = 0;
    unsigned long before;

    if (argc > 2)
        count = keep(measures, count, argv[2]);
    for (size_t i = 0; i < count; i++)
        measures[i].spu = make_unit(measures[i].preset, measures[i].interval);
    before = allocations;
    for (int r = 0; r < rounds; r++)
        for (size_t i = 0; i < count; i++)
            one_round(&measures[i]);
    before = allocations - before;
    for (size_t i = 0; i < count; i++) {
        missed += !report(&measures[i]);
        spe_spu_destroy(measures[i].spu);
    }
#ifdef COUNTS_ALLOCATIONS
    printf("%-40s %9lu                 target      0         %s\n", "allocations while running",
           before, before ? "MISSED" : "met");
    missed += before != 0;
#endif
    return missed ? 1 : 0;
}
