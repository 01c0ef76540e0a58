/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Damaged files: cut off after every byte, and changed at random. Every one of them ends in an
 * answer whose bytes add up, or in a sentence; never in a crash, which the sanitizers look for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifndef SPE_NO_ZSTD
#include <zstd.h>
#endif

#include "../support/perfdata_files.h"

/* What a reading said, for comparing two of the same bytes. */
struct said {
    uint64_t records, aux_bytes, skipped, missing, viewed;
    bool opened;
};

/* Touch everything that the reader hands out. */
static uint64_t touch(const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    uint64_t sum = 0;

    for (size_t i = 0; i < size; i++)
        sum += p[i];
    return sum;
}

static uint64_t touch_text(const char *text)
{
    return text ? touch(text, strlen(text)) : 0;
}

static uint64_t touch_record(const struct spe_perf_record *rec)
{
    uint64_t sum = touch(rec->bytes, rec->size);

    if (!rec->viewed)
        return sum;
    if (rec->type == SPE_PERF_MMAP || rec->type == SPE_PERF_MMAP2)
        sum += touch_text(rec->mmap.path);
    else if (rec->type == SPE_PERF_COMM)
        sum += touch_text(rec->comm.name);
    else if (rec->type == SPE_PERF_KSYMBOL)
        sum += touch_text(rec->ksymbol.name);
    else if (rec->type == SPE_PERF_BUILD_ID)
        sum += touch_text(rec->build_id.path);
    else if (rec->type == SPE_PERF_NAMESPACES)
        sum += touch(rec->namespaces.links, rec->namespaces.count * 16);
    return sum;
}

static uint64_t touch_features(const struct spe_perf_reader *r)
{
    const struct spe_perf_features *f = spe_perf_reader_features(r);
    uint64_t sum = touch_text(f->hostname) + touch_text(f->arch) + touch_text(f->cpuid);

    for (size_t i = 0; i < f->command_count; i++)
        sum += touch_text(f->command[i]);
    for (size_t i = 0; i < f->numa_count; i++)
        sum += touch_text(f->numa[i].cpus);
    for (size_t i = 0; i < f->mem_count; i++)
        sum += touch(f->mem[i].set, (f->mem[i].bits + 63) / 64 * 8);
    for (size_t i = 0; i < f->pmu_count; i++)
        sum += touch_text(f->pmus[i].name);
    for (size_t i = 0; i < f->build_id_count; i++)
        sum += touch_text(f->build_ids[i].path);
    for (size_t i = 0; i < spe_perf_reader_event_count(r); i++)
        sum += touch_text(spe_perf_reader_event(r, i)->name) +
               touch(spe_perf_reader_event(r, i)->ids, spe_perf_reader_event(r, i)->id_count * 8);
    return sum + spe_perf_reader_midr(r, 0) + spe_perf_reader_is_spe(r, 0);
}

static void check_queues(const struct spe_perf_reader *r, const struct said *said)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < spe_perf_reader_queue_count(r); i++) {
        const struct spe_perf_queue *q = spe_perf_reader_queue(r, i);

        bytes += q->bytes;
        for (size_t p = 0; q->pieces && p < q->piece_count; p++) {
            const uint8_t *at;
            int64_t n = spe_perf_piece_read(r, &q->pieces[p], 0, NULL, SIZE_MAX, &at);

            assert_int_equal(n, q->pieces[p].size);
            touch(at, (size_t)n);
        }
    }
    assert_int_equal(bytes, said->aux_bytes);
}

/* From memory, or as a stream if most > 0. */
static struct said read_bytes(const uint8_t *bytes, size_t size, size_t most)
{
    struct dribble dribble = {bytes, size, 0, most};
    struct spe_perf_input input = {dribble_read, &dribble};
    struct spe_perf_error error = {0};
    struct spe_perf_reader *r;
    struct spe_perf_record rec;
    struct said said = {0};
    const struct spe_perf_account *a;
    const uint8_t *aux;
    size_t aux_size;
    uint64_t ranges = 0;
    int result;

    result = most ? spe_perf_reader_open_input(&r, &input, 0, &error)
                  : spe_perf_reader_open_memory(&r, bytes, size, 0, &error);
    if (result < 0) {
        assert_int_equal(result, SPE_ERR_FORMAT);
        assert_true(error.text[0]);
        return said;
    }
    said.opened = true;
    while ((result = spe_perf_reader_next(r, &rec)) == 1) {
        touch_record(&rec);
        said.viewed += rec.viewed;
        if (rec.type == SPE_PERF_AUXTRACE && said.records % 2) /* asked for, or stepped over */
            while (spe_perf_reader_aux(r, &aux, &aux_size) == 1)
                touch(aux, aux_size);
        said.records++;
    }
    assert_int_equal(result, 0);
    touch_features(r);
    a = spe_perf_reader_account(r);
    assert_true(perf_account_adds_up(a));
    assert_int_equal(a->bytes, size);
    for (size_t i = 0; spe_perf_reader_range(r, i); i++)
        ranges += spe_perf_reader_range(r, i)->size;
    assert_int_equal(ranges, a->skipped_bytes);
    if (a->skipped_bytes || a->missing_bytes)
        assert_true(spe_perf_reader_problem(r)->code < 0 && spe_perf_reader_problem(r)->text[0]);
    said.aux_bytes = a->aux_bytes;
    said.skipped = a->skipped_bytes;
    said.missing = a->missing_bytes;
    check_queues(r, &said);
    spe_perf_reader_close(r);
    return said;
}

/* In a block of its own, so that the byte behind it is somebody else's. */
static struct said read_copy(const uint8_t *bytes, size_t size, size_t most)
{
    uint8_t *copy = malloc(size ? size : 1);
    struct said said;

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    said = read_bytes(copy, size, most);
    free(copy);
    return said;
}

/* Small files of each kind. */
static void make_file(unsigned kind, struct memory_file *file)
{
    struct machine m = {.records_per_slice = 1, .pipe = kind == 1, .cut_anywhere = true};

    if (kind < 2) {
        assert_int_equal(machine_make(&m, file, false), SPE_OK);
        return;
    }
    hand_header(file, SPE_PERF_SAMPLE_TID | SPE_PERF_SAMPLE_TIME, 0);
#ifndef SPE_NO_ZSTD
    for (unsigned i = 0; i < 2; i++) {
        struct memory_file plain = {0};
        uint64_t words[4] = {1, 0, 2, 3};
        uint8_t out[4096];
        uint32_t head[2] = {SPE_PERF_COMPRESSED};
        size_t n;

        for (unsigned k = 0; k < 20; k++) {
            snprintf((char *)&words[1], 8, "c%u", k);
            hand_record(&plain, SPE_PERF_COMM, 0, words, 4);
        }
        n = ZSTD_compress(out, sizeof(out), plain.bytes, plain.size, 1);
        assert_false(ZSTD_isError(n));
        head[1] = (uint32_t)(8 + n) << 16;
        hand_put(file, head, 8);
        hand_put(file, out, n);
        memory_free(&plain);
    }
#endif
    hand_auxtrace(file, 0, 0, "abcdefgh", 8);
    hand_finish(file);
}

enum { KINDS = 3 };

static void test_every_truncation(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct memory_file file = {0};
        struct said whole, last = {0};

        make_file(kind, &file);
        whole = read_copy(file.bytes, file.size, 0);
        assert_true(whole.opened && !whole.skipped && !whole.missing);
        for (size_t size = 0; size < file.size; size++) {
            struct said said = read_copy(file.bytes, size, 0);
            struct said stream = read_copy(file.bytes, size, 1 + size % 500);

            assert_true(said.records >= last.records && said.records <= whole.records);
            assert_true(said.aux_bytes >= last.aux_bytes || said.aux_bytes + 8 > last.aux_bytes);
            assert_int_equal(said.opened, stream.opened);
            assert_int_equal(said.records, stream.records);
            assert_int_equal(said.skipped, stream.skipped);
            assert_int_equal(said.aux_bytes, stream.aux_bytes);
            last = said;
        }
        memory_free(&file);
    }
}

static void change(struct random *rng, uint8_t *bytes, size_t *size)
{
    static const uint64_t values[] = {0, 1, 7, 8, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX};
    size_t at = random_below(rng, (uint32_t)*size);
    uint64_t value = values[random_below(rng, 8)];
    size_t width = (size_t)1 << random_below(rng, 4);

    switch (random_below(rng, 6)) {
    case 0:
        bytes[at] ^= (uint8_t)(1u << random_below(rng, 8));
        break;
    case 1:
        bytes[at] = (uint8_t)random_next(rng);
        break;
    case 2: /* a number, where numbers are */
    case 3:
        at &= ~(width - 1);
        if (at + width <= *size)
            memcpy(bytes + at, &value, width);
        break;
    case 4: /* a piece twice */
        value = random_below(rng, (uint32_t)*size);
        if (value + 64 <= *size && at + 64 <= *size)
            memmove(bytes + at, bytes + value, 64);
        break;
    default:
        *size = random_chance(rng, 10) ? at + 1 : *size;
        break;
    }
}

static void test_mutations(void **state)
{
    struct random rng = {42};
    unsigned refused = 0;

    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct memory_file file = {0};
        uint8_t *copy;

        make_file(kind, &file);
        copy = malloc(file.size);
        assert_non_null(copy);
        for (unsigned i = 0; i < 4000; i++) {
            unsigned changes = 1 + random_below(&rng, 4);
            size_t size = file.size;

            memcpy(copy, file.bytes, size);
            /* Half of them where the headers are. */
            while (changes--) {
                size_t part = random_chance(&rng, 50) ? size : size < 600 ? size : 600;

                change(&rng, copy, &part);
                if (part < 600 && part < size && random_chance(&rng, 5))
                    size = part;
            }
            refused += !read_copy(copy, size, 0).opened;
            read_copy(copy, size, 1 + random_below(&rng, 10000));
        }
        free(copy);
        memory_free(&file);
    }
    print_message("12000 changed files, each read in two ways; %u were refused\n", refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_mutations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
