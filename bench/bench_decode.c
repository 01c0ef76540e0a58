/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Bulk decoding in GB/s on one core, beside a plain read of the same memory and a straightforward
 * switch decoder, in one run. Rounds are interleaved and the best of each counts, since the machine
 * is shared.
 *
 *   bench_decode [MEGABYTES] [LAYOUT]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <specimen/format.h>
#include <specimen/gen.h>

#include "../tests/support/columns.h"
#include "format/state.h"
#include "gen/state.h"
#include "switch_decoder.h"

enum { ROWS = 2048, ROUNDS = 9 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A checksum over the rows, so that no store is dead and all decoders can be compared. */
static uint64_t digest(const struct spe_columns *c)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < c->rows; i += 64)
        sum += c->pc[i] + c->va[i] + c->events[i] + c->timestamp[i] + c->total[i] + c->op[i];
    return sum;
}

struct result {
    uint64_t rows, sum;
    double seconds;
};

static struct result run_bulk(const uint8_t *bytes, size_t len, enum spe_bulk_path path,
                              struct spe_columns *c)
{
    static struct spe_bulk b;
    struct spe_item skipped;
    struct result r = {0};
    double start = now();
    int got;

    spe_bulk_init(&b, 0, path);
    spe_bulk_feed(&b, bytes, len);
    spe_bulk_end(&b);
    do {
        c->rows = 0;
        got = spe_bulk_next(&b, c, &skipped);
        r.rows += c->rows;
        r.sum += digest(c);
    } while (got != SPE_ITEM_NONE);
    r.seconds = now() - start;
    return r;
}

static struct result run_switch(const uint8_t *bytes, size_t len, struct spe_columns *c)
{
    struct result r = {0};
    double start = now();
    size_t pos = 0;

    do {
        c->rows = 0;
        switch_decode(bytes, len, &pos, c);
        r.rows += c->rows;
        r.sum += digest(c);
    } while (c->rows);
    r.seconds = now() - start;
    return r;
}

static struct result run_read(const uint8_t *bytes, size_t len)
{
    struct result r = {0};
    double start = now();
    uint64_t a = 0, b = 0, c = 0, d = 0, v[4];

    for (size_t i = 0; i + 32 <= len; i += 32) {
        memcpy(v, bytes + i, 32);
        a += v[0];
        b += v[1];
        c += v[2];
        d += v[3];
    }
    r.sum = a + b + c + d;
    r.seconds = now() - start;
    return r;
}

static size_t make_stream(uint8_t *bytes, size_t len, const struct spe_layout *layout)
{
    struct spe_gen_config config;
    struct spe_gen gen;
    struct spe_record record;
    size_t pos = 0;

    char why[200];

    spe_gen_config_init(&config);
    config.cpu = spe_cpu_by_name("neoverse-n1");
    config.layout = layout;
    if (spe_gen_init(&gen, &config, why, sizeof(why)) < 0)
        abort();
    while (pos + SPE_RECORD_MAX <= len) {
        int size;

        spe_gen_next(&gen, &record);
        size = spe_record_encode(&record, layout, bytes + pos, len - pos);
        if (size < 0)
            abort();
        pos += (size_t)size;
    }
    return pos;
}

enum { READ, SWITCH, ITERATOR, PORTABLE, SIMD, DECODERS };

static struct result run(unsigned which, const uint8_t *bytes, size_t len, struct spe_columns *c)
{
    switch (which) {
    case READ:
        return run_read(bytes, len);
    case SWITCH:
        return run_switch(bytes, len, c);
    case ITERATOR:
        return run_bulk(bytes, len, SPE_BULK_ITERATOR, c);
    case PORTABLE:
        return run_bulk(bytes, len, SPE_BULK_PORTABLE, c);
    default:
        return run_bulk(bytes, len, SPE_BULK_AUTO, c);
    }
}

int main(int argc, char **argv)
{
    static const char *const names[DECODERS] = {"plain read", "switch decoder", "record iterator",
                                                "bulk, portable", "bulk, SIMD"};
    size_t room = (argc > 1 ? strtoul(argv[1], NULL, 10) : 256) << 20;
    const struct spe_layout *layout = spe_layout_by_name(argc > 2 ? argv[2] : "neoverse-n1");
    uint8_t *bytes = malloc(room);
    struct spe_columns columns = make_columns(ROWS);
    struct result best[DECODERS] = {{0}};
    size_t len;

    if (!layout || !bytes)
        return 2;
    len = make_stream(bytes, room, layout);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < DECODERS; i++) {
            struct result r = run(i, bytes, len, &columns);

            if (i > SWITCH && (r.rows != best[SWITCH].rows || r.sum != best[SWITCH].sum)) {
                fprintf(stderr, "bench_decode: %s and switch decoder differ\n", names[i]);
                return 1;
            }
            if (!round || r.seconds < best[i].seconds)
                best[i] = r;
        }
    }
    printf("decode, %s layout, %.0f MB, %llu records, best of %d, one core\n", layout->name,
           1e-6 * (double)len, (unsigned long long)best[SWITCH].rows, ROUNDS);
    printf("  %-16s %8s %10s %9s %8s\n", "", "GB/s", "ns/record", "x switch", "x read");
    for (unsigned i = 0; i < DECODERS; i++)
        printf("  %-16s %8.2f %10.1f %9.2f %8.2f\n", names[i], 1e-9 * (double)len / best[i].seconds,
               1e9 * best[i].seconds / (double)best[SWITCH].rows,
               best[SWITCH].seconds / best[i].seconds, best[READ].seconds / best[i].seconds);
    printf("  targets: bulk at least 4 times the switch decoder (%s), at least 0.25 of the read "
           "(%s)\n",
           best[SWITCH].seconds / best[SIMD].seconds >= 4 ? "met" : "MISSED",
           best[READ].seconds / best[SIMD].seconds >= 0.25 ? "met" : "MISSED");
    free_columns(&columns);
    free(bytes);
    return 0;
}
