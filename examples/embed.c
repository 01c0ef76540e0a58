/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * How to embed the Statistical Profiling Unit: a toy processor with a program of four instructions,
 * a kernel that sets up profiling with MSR and empties the buffer on the interrupt, and a reader
 * that decodes the records. docs/model.md explains it step by step.
 *
 *   cc embed.c -lspecimen-core && ./a.out
 *
 * The program walks through an array, so that one load in eight misses the cache:
 *
 *   0x1000  ldr  x2, [x0], #8     takes 4 cycles, or 90 when it misses
 *   0x1004  add  x1, x1, x2
 *   0x1008  subs x3, x3, #1
 *   0x100c  b.ne 0x1000           falls through once in 64 times
 */
#include <specimen/format.h>
#include <specimen/spu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER UINT64_C(0x80000) /* virtual address of the Profiling Buffer */
#define BUFFER_SIZE 16384
#define ARRAY UINT64_C(0x200000)
#define INSTRUCTIONS 4
#define CODE UINT64_C(0x1000)

struct machine {
    struct spe_spu *spu;
    uint8_t buffer[BUFFER_SIZE];
    uint64_t executed; /* instructions, which is also the time */
    bool irq;
    /* What the kernel has collected. */
    uint64_t records, samples[INSTRUCTIONS], misses[INSTRUCTIONS], cycles[INSTRUCTIONS];
    uint64_t interrupts;
};

/* ---- 1. The host: what the unit needs from the machine -------------------------------------- */

/* The unit writes in the owner's address space. A real host translates the address; this one maps
 * the buffer and nothing else. */
static void write_memory(void *user, const struct spe_write *w, struct spe_write_result *result)
{
    struct machine *m = user;

    if (w->address < BUFFER || w->address + w->size > BUFFER + BUFFER_SIZE) {
        result->fault = SPE_FAULT_TRANSLATION;
        result->stage = 1;
        result->level = 3;
        return;
    }
    memcpy(m->buffer + (w->address - BUFFER), w->data, w->size);
    result->written = w->size;
}

static uint64_t physical_count(void *user)
{
    return ((struct machine *)user)->executed;
}

static void interrupt(void *user, bool level)
{
    ((struct machine *)user)->irq = level;
}

/* ---- 2. The kernel: plain MSR and MRS ------------------------------------------------------- */

static struct spe_register_access access_register(struct machine *m, enum spe_register reg,
                                                  bool write, uint64_t value)
{
    unsigned encoding = (unsigned)spe_register_encoding(reg);
    struct spe_register_access a;
    int error = write ? spe_spu_write(m->spu, encoding, 0, value, &a)
                      : spe_spu_read(m->spu, encoding, 0, &a);

    if (error || a.outcome != SPE_OUTCOME_DONE) {
        fprintf(stderr, "the access to %s did not come through\n", spe_register_name(reg));
        exit(1);
    }
    return a;
}

static void msr(struct machine *m, enum spe_register reg, uint64_t value)
{
    access_register(m, reg, true, value);
}

static uint64_t mrs(struct machine *m, enum spe_register reg)
{
    return access_register(m, reg, false, 0).value;
}

/* Exception entry and return are changes of the PE state, and Context synchronization events. */
static void go_to_el(struct machine *m, unsigned el)
{
    struct spe_pe_state pe;

    spe_spu_get_pe(m->spu, &pe);
    pe.el = (uint8_t)el;
    spe_spu_set_pe(m->spu, &pe);
    spe_spu_context_sync(m->spu);
}

static void start_profiling(struct machine *m)
{
    go_to_el(m, 1);
    msr(m, SPE_REG_PMSIRR_EL1, 1 << 8 | 1); /* every 256 operations, with random jitter */
    msr(m, SPE_REG_PMSICR_EL1, 0);
    msr(m, SPE_REG_PMSFCR_EL1, 0); /* no filters */
    msr(m, SPE_REG_PMBPTR_EL1, BUFFER);
    msr(m, SPE_REG_PMBSR_EL1, 0);
    msr(m, SPE_REG_PMBLIMITR_EL1, (BUFFER + BUFFER_SIZE) | 1);
    msr(m, SPE_REG_PMSCR_EL1, 1 << 5 | 1); /* timestamps; sample at EL0 */
    go_to_el(m, 0);
}

static void count_record(struct machine *m, const struct spe_record *r)
{
    uint64_t pc = spe_address_canonical(SPE_ADDRESS_PC, r->address[SPE_ADDRESS_PC]);
    uint64_t i = (pc - CODE) / 4;

    if (i >= INSTRUCTIONS)
        return;
    m->records++;
    m->samples[i]++;
    m->misses[i] += r->events >> SPE_EVENT_L1D_MISS & 1;
    m->cycles[i] += r->counter[SPE_COUNTER_TOTAL];
}

/* Only [base, PMBPTR_EL1) holds records; what lies behind is nobody's business (IQRKCL). */
static void empty_buffer(struct machine *m)
{
    struct spe_stream *stream = malloc(spe_stream_sizeof());
    struct spe_item item;
    struct spe_record record;

    if (!stream)
        exit(1);
    spe_stream_init(stream, 0);
    spe_stream_feed(stream, m->buffer, (size_t)(mrs(m, SPE_REG_PMBPTR_EL1) - BUFFER));
    spe_stream_end(stream);
    while (spe_stream_next(stream, &item, &record) != SPE_ITEM_NONE)
        if (item.type == SPE_ITEM_RECORD)
            count_record(m, &record);
    free(stream);
    msr(m, SPE_REG_PMBPTR_EL1, BUFFER);
    msr(m, SPE_REG_PMBSR_EL1, 0); /* profiling goes on, the interrupt falls */
}

static void handle_interrupt(struct machine *m)
{
    m->interrupts++;
    go_to_el(m, 1);
    empty_buffer(m);
    go_to_el(m, 0);
}

static void stop_profiling(struct machine *m)
{
    struct spe_register_access a;

    go_to_el(m, 1);
    msr(m, SPE_REG_PMSCR_EL1, 0);
    spe_spu_context_sync(m->spu);
    spe_spu_psb_csync(m->spu, &a); /* all that was sampled has been written */
    empty_buffer(m);
    msr(m, SPE_REG_PMBLIMITR_EL1, 0);
}

/* ---- 3. The processor: describes the operations that are sampled, and only those ------------ */

static void describe(const struct machine *m, struct spe_operation *op,
                     struct spe_memory_access *access)
{
    uint64_t number = m->executed - 1, iteration = number / INSTRUCTIONS;
    bool miss = iteration % 8 == 0;

    spe_operation_init(op, SPE_OPERATION_OTHER);
    op->pc = CODE + number % INSTRUCTIONS * 4;
    op->issue_cycles = 1;
    op->execute_cycles = 1;
    switch (number % INSTRUCTIONS) {
    case 0:
        op->kind = SPE_OPERATION_LOAD;
        op->execute_cycles = miss ? 90 : 4;
        *access = (struct spe_memory_access){
            .va = ARRAY + iteration * 8,
            .bytes = 8,
            .facts = SPE_FACT_L1D_ACCESS | SPE_FACT_TLB_ACCESS |
                     (miss ? SPE_FACT_L1D_MISS | SPE_FACT_L1D_REFILL : 0),
            .translated_at = 1,
            .done_at = op->execute_cycles,
        };
        op->accesses = access;
        op->access_count = 1;
        break;
    case 3:
        op->kind = SPE_OPERATION_BRANCH;
        op->conditional = true;
        op->taken = iteration % 64 != 63;
        op->condition_failed = !op->taken;
        op->target = CODE;
        op->target_security = SPE_NONSECURE;
        op->mispredicted = !op->taken;
        break;
    default:
        break;
    }
}

/* The hot path: ask how many instructions may run unseen, run them, tell; then look at one. */
static void run(struct machine *m, uint64_t instructions)
{
    struct spe_memory_access access;
    struct spe_operation op;

    while (instructions) {
        uint64_t n = spe_spu_budget(m->spu);

        n = n < instructions ? n : instructions;
        m->executed += n; /* here a real processor runs them */
        instructions -= n;
        spe_spu_advance(m->spu, n);
        if (!instructions)
            return;
        m->executed++;
        instructions--;
        if (spe_spu_step(m->spu, 0) > 0) {
            describe(m, &op, &access);
            spe_spu_sample(m->spu, &op);
        }
        if (m->irq)
            handle_interrupt(m);
    }
}

/* ---- 4. All together ------------------------------------------------------------------------ */

static struct spe_spu *make_unit(struct machine *m)
{
    struct spe_spu_host host;
    struct spe_spu_config config;
    struct spe_spu *spu;
    char why[200];

    spe_spu_host_init(&host);
    host.user = m;
    host.write = write_memory;
    host.physical_count = physical_count;
    host.interrupt = interrupt;
    /* A Neoverse N1 whose data sources nobody tells: leave them out (FEAT_SPE_LDS). */
    if (spe_spu_config_init(&config, "neoverse-n1") < 0 ||
        spe_spu_option_set(&config, "features", "-lds", why, sizeof(why)) < 0 ||
        spe_spu_option_set(&config, "rng_seed", "42", why, sizeof(why)) < 0 ||
        spe_spu_create(&config, &host, &spu, why, sizeof(why)) < 0) {
        fprintf(stderr, "%s\n", why);
        exit(1);
    }
    return spu;
}

static void report(const struct machine *m)
{
    static const char *const text[INSTRUCTIONS] = {"ldr  x2, [x0], #8", "add  x1, x1, x2",
                                                   "subs x3, x3, #1", "b.ne 0x1000"};

    printf("%-20s %8s %8s %10s\n", "instruction", "samples", "misses", "cycles");
    for (unsigned i = 0; i < INSTRUCTIONS; i++)
        printf("%-20s %8llu %8llu %10.1f\n", text[i], (unsigned long long)m->samples[i],
               (unsigned long long)m->misses[i],
               m->samples[i] ? (double)m->cycles[i] / (double)m->samples[i] : 0.0);
}

/* What must be true of such a profile: no sample is lost, all instructions have their share, one
 * load in eight misses. */
static bool plausible(const struct machine *m)
{
    struct spe_spu_stats s;

    spe_spu_stats(m->spu, &s);
    if (m->records != s.records || s.bytes_built != s.bytes_written || m->interrupts == 0)
        return false;
    for (unsigned i = 0; i < INSTRUCTIONS; i++)
        if (m->samples[i] * INSTRUCTIONS * 10 < m->records * 9 ||
            m->samples[i] * INSTRUCTIONS * 10 > m->records * 11)
            return false;
    return m->misses[0] * 8 * 10 > m->samples[0] * 8 && m->misses[0] * 8 * 10 < m->samples[0] * 12;
}

int main(void)
{
    static struct machine m;
    bool good;

    m.spu = make_unit(&m);
    start_profiling(&m);
    run(&m, 4000000);
    stop_profiling(&m);
    report(&m);
    good = plausible(&m);
    printf("%llu records in %llu interrupts: %s\n", (unsigned long long)m.records,
           (unsigned long long)m.interrupts, good ? "as expected" : "NOT as expected");
    spe_spu_destroy(m.spu);
    return good ? 0 : 1;
}
