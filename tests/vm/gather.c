/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* SVE's gathers and scatters, and loads that may end early: prints sums that are known. */
#include <arm_sve.h>
#include <stdint.h>
#include <stdio.h>

#define KEEP __attribute__((noinline, noipa))

enum { N = 1 << 14 };

static uint64_t numbers[N], places[N];

static KEEP uint64_t gather(void)
{
    svuint64_t sum = svdup_u64(0);

    for (uint64_t i = 0; i < N; i += svcntd()) {
        svbool_t some = svwhilelt_b64(i, (uint64_t)N);
        svuint64_t at = svld1(some, places + i);

        sum = svadd_m(some, sum, svld1_gather_index(some, numbers, at));
    }
    return svaddv(svptrue_b64(), sum);
}

static KEEP void scatter(void)
{
    for (uint64_t i = 0; i < N; i += svcntd()) {
        svbool_t some = svwhilelt_b64(i, (uint64_t)N);

        svst1_scatter_index(some, numbers, svld1(some, places + i), svindex_u64(i, 1));
    }
}

/* However many elements each load brings. */
static KEEP uint64_t gather_first(void)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < N;) {
        svbool_t some = svwhilelt_b64(i, (uint64_t)N), came;
        svuint64_t at = svld1(some, places + i), loaded;

        svsetffr();
        loaded = svldff1_gather_index(some, numbers, at);
        came = svrdffr_z(some);
        sum += svaddv(came, loaded);
        i += svcntp_b64(some, came);
    }
    return sum;
}

static KEEP uint64_t load_first(void)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < N;) {
        svbool_t some = svwhilelt_b64(i, (uint64_t)N), came;
        svuint64_t loaded;

        svsetffr();
        loaded = svldff1(some, numbers + i);
        came = svrdffr_z(some);
        sum += svaddv(came, loaded);
        i += svcntp_b64(some, came);
    }
    return sum;
}

int main(void)
{
    for (uint64_t i = 0; i < N; i++) {
        numbers[i] = i;
        places[i] = i * 7919 % N;
    }
    for (int i = 0; i < 20; i++) {
        printf("gather %llu\n", (unsigned long long)gather());
        scatter();
    }
    printf("first %llu %llu\n", (unsigned long long)gather_first(),
           (unsigned long long)load_first());
    return 0;
}
