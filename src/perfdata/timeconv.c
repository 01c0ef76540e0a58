/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * TIME_CONV: the rule by which the kernel's clock follows from the counter,
 *
 *   ns = zero + ticks * mult / 2^shift
 *
 * With cap_short the counter may be narrower than 64 bits (in practice 56): only the bits in `mask`
 * count, from `cycles` on. All sums wrap at 2^64; `zero` relies on it.
 */
#include "format/clones.h"
#include "perfdata_internal.h"

__extension__ typedef unsigned __int128 u128;

int spe_perf_time_validate(const struct spe_perf_time_conv *tc)
{
    return tc->shift < 64 && tc->mult ? SPE_OK : SPE_ERR_RANGE;
}

uint64_t spe_perf_time_to_ns(const struct spe_perf_time_conv *tc, uint64_t ticks)
{
    if (spe_perf_time_validate(tc) < 0)
        return 0;
    if (tc->cap_short)
        ticks = tc->cycles + ((ticks - tc->cycles) & tc->mask);
    return tc->zero + (uint64_t)((u128)ticks * tc->mult >> tc->shift);
}

/* The kernel keeps mult below 2^32 and shift at most 32. The two halves of a tick then have
 * products of 64 bits, and no bit of the upper one is shifted out: many at a time can be computed.
 */
static CLONES void short_times(const struct spe_perf_time_conv *tc, const uint64_t *ticks,
                               uint64_t *ns, size_t count)
{
    const uint64_t cycles = tc->cap_short ? tc->cycles : 0, zero = tc->zero;
    const uint64_t mask = tc->cap_short ? tc->mask : UINT64_MAX;
    const uint32_t mult = (uint32_t)tc->mult;
    const unsigned shift = (unsigned)tc->shift;

    for (size_t i = 0; i < count; i++) {
        uint64_t t = cycles + ((ticks[i] - cycles) & mask);
        uint64_t high = (t >> 32) * mult, low = (uint64_t)(uint32_t)t * mult;

        ns[i] = zero + (high << (32 - shift)) + (low >> shift);
    }
}

void spe_perf_times_to_ns(const struct spe_perf_time_conv *tc, const uint64_t *ticks, uint64_t *ns,
                          size_t count)
{
    if (tc->mult && tc->mult <= UINT32_MAX && tc->shift <= 32) {
        short_times(tc, ticks, ns, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        ns[i] = spe_perf_time_to_ns(tc, ticks[i]);
}

uint64_t spe_perf_time_to_ticks(const struct spe_perf_time_conv *tc, uint64_t ns)
{
    if (spe_perf_time_validate(tc) < 0)
        return 0;
    return (uint64_t)(((u128)(ns - tc->zero) << tc->shift) / tc->mult);
}

int spe_perf_time_from_hz(struct spe_perf_time_conv *tc, uint64_t hz)
{
    const uint64_t second = 1000000000, range = 3600;

    memset(tc, 0, sizeof(*tc));
    if (!hz || hz > UINT32_MAX)
        return SPE_ERR_RANGE;
    for (tc->shift = 32; tc->shift; tc->shift--) {
        uint64_t bits = 0;

        tc->mult = ((second << tc->shift) + hz / 2) / hz;
        /* Bits of an hour's ticks above the low 32: the multiplier has to leave room for them. */
        for (uint64_t high = range * hz >> 32; high; high >>= 1)
            bits++;
        if (!(tc->mult >> (32 - bits)))
            break;
    }
    if (tc->shift == 32) { /* the kernel keeps shifts below 32 for its users */
        tc->shift = 31;
        tc->mult >>= 1;
    }
    tc->mask = UINT64_MAX >> 8;
    tc->cap_zero = tc->cap_short = true;
    return spe_perf_time_validate(tc);
}

/* The first three fields are as old as the record; those behind came with cap_short. */
bool pd_time_conv_parse(const uint8_t *record, size_t size, struct spe_perf_time_conv *tc)
{
    if (size < 32)
        return false;
    memset(tc, 0, sizeof(*tc));
    tc->shift = load64(record + 8);
    tc->mult = load64(record + 16);
    tc->zero = load64(record + 24);
    if (size >= 50) {
        tc->cycles = load64(record + 32);
        tc->mask = load64(record + 40);
        tc->cap_zero = record[48];
        tc->cap_short = record[49];
    }
    return true;
}
