/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * perf.data: any bytes are read to their end, from memory and as a stream in pieces; every byte is
 * accounted for, everything that is handed out can be touched, and pieces change nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <specimen/perfdata.h>

#include "require.h"

/* Reads every byte, so that the sanitizers see it. */
static uint64_t touch(const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    uint64_t sum = 0;

    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + p[i];
    return sum;
}

static uint64_t touch_text(const char *text)
{
    return text ? touch(text, strlen(text)) : 0;
}

static uint64_t touch_view(const struct spe_perf_record *rec)
{
    switch (rec->viewed ? rec->type : 0) {
    case SPE_PERF_MMAP:
    case SPE_PERF_MMAP2:
        return touch_text(rec->mmap.path);
    case SPE_PERF_COMM:
        return touch_text(rec->comm.name);
    case SPE_PERF_KSYMBOL:
        return touch_text(rec->ksymbol.name);
    case SPE_PERF_BUILD_ID:
        return touch_text(rec->build_id.path) + touch(rec->build_id.id, rec->build_id.id_size);
    case SPE_PERF_NAMESPACES:
        return touch(rec->namespaces.links, (size_t)rec->namespaces.count * 16);
    default:
        return 0;
    }
}

static uint64_t touch_lists(const struct spe_perf_features *f)
{
    uint64_t sum = touch_text(f->hostname) + touch_text(f->osrelease) + touch_text(f->version) +
                   touch_text(f->arch) + touch_text(f->cpudesc) + touch_text(f->cpuid);

    for (size_t i = 0; i < f->command_count; i++)
        sum += touch_text(f->command[i]);
    for (size_t i = 0; i < f->numa_count; i++)
        sum += touch_text(f->numa[i].cpus);
    for (size_t i = 0; i < f->mem_count; i++)
        sum += touch(f->mem[i].set, (size_t)((f->mem[i].bits + 63) / 64 * 8));
    for (size_t i = 0; i < f->pmu_count; i++)
        sum += touch_text(f->pmus[i].name);
    for (size_t i = 0; i < f->build_id_count; i++)
        sum += touch_text(f->build_ids[i].path);
    return sum;
}

static uint64_t touch_events(const struct spe_perf_reader *r)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < spe_perf_reader_event_count(r); i++) {
        const struct spe_perf_event *e = spe_perf_reader_event(r, i);

        sum += touch_text(e->name) + touch(e->attr, e->attr_size) + touch(e->ids, e->id_count * 8);
        for (size_t k = 0; k < e->id_count; k++)
            REQUIRE(spe_perf_reader_event_by_id(r, e->ids[k]) >= 0);
        sum += spe_perf_reader_is_spe(r, i);
    }
    return sum;
}

static void check_account(const struct spe_perf_reader *r, size_t size)
{
    const struct spe_perf_account *a = spe_perf_reader_account(r);
    uint64_t bytes = 0;

    REQUIRE(a->bytes == size && a->bytes == a->header_bytes + a->data_bytes + a->rest_bytes);
    REQUIRE(a->data_bytes == a->record_bytes + a->attached_bytes + a->aux_bytes + a->padding_bytes +
                                 a->skipped_bytes);
    REQUIRE(a->unpacked_bytes == a->unpacked_record_bytes + a->unpacked_skipped_bytes);
    REQUIRE(!a->skipped_bytes || spe_perf_reader_problem(r)->code < 0);
    for (size_t i = 0; i < spe_perf_reader_queue_count(r); i++) {
        const struct spe_perf_queue *q = spe_perf_reader_queue(r, i);
        uint64_t in_pieces = 0;

        bytes += q->bytes;
        for (size_t p = 0; q->pieces && p < q->piece_count; p++) {
            const uint8_t *at = NULL;
            int64_t n = spe_perf_piece_read(r, &q->pieces[p], 0, NULL, SIZE_MAX, &at);

            REQUIRE(n >= 0 && (uint64_t)n == q->pieces[p].size);
            in_pieces += (uint64_t)n;
            touch(at, (size_t)n);
        }
        REQUIRE(!q->pieces || in_pieces == q->bytes);
    }
    REQUIRE(bytes == a->aux_bytes);
}

/* Returns a digest of what was read. */
static uint64_t read_all(struct spe_perf_reader *r, size_t size)
{
    struct spe_perf_record rec;
    uint64_t digest = 0, count = 0;
    int result;

    while ((result = spe_perf_reader_next(r, &rec)) == 1) {
        const uint8_t *bytes;
        size_t n;

        digest = digest * 31 + touch(rec.bytes, rec.size) + touch_view(&rec);
        if (rec.type == SPE_PERF_AUXTRACE && (count++ & 1))
            while (spe_perf_reader_aux(r, &bytes, &n) == 1)
                touch(bytes, n);
    }
    REQUIRE(result == 0);
    touch_lists(spe_perf_reader_features(r));
    touch_events(r);
    spe_perf_reader_midr(r, 0);
    spe_perf_reader_midr(r, UINT32_MAX);
    check_account(r, size);
    return digest;
}

struct pieces {
    const uint8_t *bytes;
    size_t left, piece;
};

static int64_t next_piece(void *user, void *bytes, size_t size)
{
    struct pieces *p = user;

    if (size > p->piece)
        size = p->piece;
    if (size > p->left)
        size = p->left;
    if (size)
        memcpy(bytes, p->bytes, size);
    p->bytes += size;
    p->left -= size;
    return (int64_t)size;
}

static uint64_t read_stream(const uint8_t *data, size_t size, size_t piece)
{
    struct pieces pieces = {data, size, piece};
    struct spe_perf_input input = {next_piece, &pieces};
    struct spe_perf_error error = {0};
    struct spe_perf_reader *r;
    uint64_t digest;

    if (spe_perf_reader_open_input(&r, &input, 0, &error) < 0) {
        REQUIRE(error.code < 0 && error.text[0]);
        return 1;
    }
    digest = read_all(r, size);
    spe_perf_reader_close(r);
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct spe_perf_error error = {0};
    struct spe_perf_reader *r;
    uint64_t digest, small;

    if (spe_perf_reader_open_memory(&r, data, size, 0, &error) < 0) {
        REQUIRE(error.code < 0 && error.text[0]);
    } else {
        digest = read_all(r, size);
        /* The index of a file is not known to a stream; without one they read the same. */
        if (spe_perf_reader_info(r)->pipe)
            REQUIRE(read_stream(data, size, 1000) == digest);
        spe_perf_reader_close(r);
    }
    small = read_stream(data, size, 1 + size % 61);
    REQUIRE(small == read_stream(data, size, 1 << 20));
    return 0;
}
