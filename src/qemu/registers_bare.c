/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/registers_bare.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "qemu/trouble.h"

enum { PROOFS = 64, BASES = 4 }; /* addresses that were right, of as many registers at least */
enum { SP = 31 };

static struct {
    atomic_bool begun, proved, refuted;
    pthread_mutex_t lock; /* for what follows */
    unsigned proofs;
    uint32_t bases; /* registers that were part of them */
} bare = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Of this thread. */
static __attribute__((tls_model("initial-exec"))) __thread struct {
    const struct bare_state *now;
    const struct pe_site *site; /* whose access comes, NULL: none is foreseen */
    uint64_t va;
    uint32_t base;
} thread;

static uint64_t read_x(void *user, unsigned n)
{
    (void)user;
    return thread.now->x[n & 31];
}

bool bare_begin(void)
{
#ifdef BARE_PASS
    atomic_store(&bare.begun, true);
    return true;
#else
    return false;
#endif
}

bool bare_is_proved(void)
{
    return atomic_load_explicit(&bare.proved, memory_order_acquire);
}

static const struct spe_a64_registers registers = {.size = sizeof(registers), .x = read_x};

const struct spe_a64_registers *bare_registers(const void *state)
{
    thread.now = state;
    return bare_is_proved() ? &registers : NULL;
}

/* ---- Proof ---------------------------------------------------------------------------------- */

static bool is_open(void)
{
    return atomic_load_explicit(&bare.begun, memory_order_relaxed) && !bare_is_proved() &&
           !atomic_load_explicit(&bare.refuted, memory_order_relaxed);
}

/* Nobody knows yet that it is one, nor that it points to memory. */
static bool copy_state(const void *state, struct bare_state *copy)
{
    const struct iovec to = {copy, sizeof(*copy)};
    const struct iovec from = {(void *)(uintptr_t)state, sizeof(*copy)};

    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof(*copy);
}

static const struct pe_site *first_early(const struct pe_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (block->sites[i].early)
            return &block->sites[i];
    return NULL;
}

/* What these registers tell of the site; a literal proves nothing. */
static bool tell_address(const struct pe_site *site, const struct bare_state *state, uint64_t *va,
                         uint32_t *base)
{
    struct spe_memory_access accesses[SPE_A64_ACCESSES_MAX] = {{0}};
    struct spe_operation op;
    struct spe_a64 insn;
    unsigned known;

    spe_a64_classify(site->word, 0, &insn);
    thread.now = state;
    known = spe_a64_evaluate(&insn, pe_site_pc(site), &registers, &op, accesses);
    thread.now = NULL;
    *va = accesses[0].va;
    *base = insn.base;
    return insn.address != SPE_A64_LITERAL && known & SPE_A64_KNOWS_ADDRESS && op.access_count;
}

void bare_foresee(const struct pe_block *block, const void *state)
{
    const struct pe_site *site = is_open() ? first_early(block) : NULL;
    struct bare_state copy;

    thread.site = NULL;
    if (!site)
        return;
    if (!copy_state(state, &copy))
        bare_refute();
    else if (tell_address(site, &copy, &thread.va, &thread.base))
        thread.site = site;
}

static void count_proof(uint32_t base)
{
    pthread_mutex_lock(&bare.lock);
    bare.proofs++;
    bare.bases |= UINT32_C(1) << base;
    if (bare.proofs >= PROOFS && __builtin_popcount(bare.bases) >= BASES && bare.bases >> SP & 1)
        atomic_store_explicit(&bare.proved, true, memory_order_release);
    pthread_mutex_unlock(&bare.lock);
}

/* QEMU takes the tag of a pointer away before it tells the address. */
static bool is_same(uint64_t a, uint64_t b)
{
    return (a ^ b) << 8 == 0;
}

void bare_compare(const struct pe_site *site, uint64_t va)
{
    if (site != thread.site)
        return;
    thread.site = NULL; /* the second half of a pair is elsewhere */
    if (!is_open())
        return;
    if (is_same(va, thread.va))
        count_proof(thread.base);
    else
        bare_refute();
}

void bare_refute(void)
{
    bool proved = atomic_exchange(&bare.proved, false);

    atomic_store(&bare.refuted, true);
    if (proved)
        trouble_tell("QEMU's registers are not where they were: some accesses have no address");
}
