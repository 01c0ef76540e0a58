/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Forms of perf.data that Specimen does not write: put together by hand, and read. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef SPE_NO_ZSTD
#include <zstd.h>
#endif

#include "../support/perfdata_files.h"

#define MAGIC_CPU UINT64_C(0x1010101010101010)

/* What reading all of a file said. */
struct heard {
    uint64_t records, aux_bytes;
    uint8_t aux[1 << 16]; /* of queue 0, by chunks */
    size_t aux_size;
    unsigned unsynced, held;
    struct spe_perf_record last;
    char comm[32][64];
    unsigned comms;
};

static void hear_aux(struct spe_perf_reader *r, const struct spe_perf_record *rec, struct heard *h)
{
    const uint8_t *bytes;
    size_t size;

    h->unsynced += !!(rec->auxtrace.flags & SPE_PERF_PIECE_UNSYNCED);
    h->held += rec->auxtrace.held;
    while (spe_perf_reader_aux(r, &bytes, &size) == 1) {
        h->aux_bytes += size;
        if (rec->auxtrace.idx == 0 && h->aux_size + size <= sizeof(h->aux)) {
            memcpy(h->aux + h->aux_size, bytes, size);
            h->aux_size += size;
        }
    }
}

static void hear(struct spe_perf_reader *r, struct heard *h)
{
    struct spe_perf_record rec;

    memset(h, 0, sizeof(*h));
    while (spe_perf_reader_next(r, &rec) == 1) {
        h->records++;
        h->last = rec;
        assert_memory_equal(rec.bytes, &rec.type, 4); /* they are still there */
        if (rec.type == SPE_PERF_AUXTRACE && rec.viewed)
            hear_aux(r, &rec, h);
        if (rec.type == SPE_PERF_COMM && rec.viewed && h->comms < 32)
            snprintf(h->comm[h->comms++], sizeof(h->comm[0]), "%.63s", rec.comm.name);
    }
    assert_true(perf_account_adds_up(spe_perf_reader_account(r)));
    assert_int_equal(spe_perf_reader_next(r, &rec), 0); /* the end stays the end */
}

static struct spe_perf_reader *open_bytes(const struct memory_file *file)
{
    struct spe_perf_reader *r;

    assert_int_equal(spe_perf_reader_open_memory(&r, file->bytes, file->size, 0, NULL), SPE_OK);
    return r;
}

static void refused(const struct memory_file *file, const char *words, uint64_t offset)
{
    struct spe_perf_reader *r;
    struct spe_perf_error error = {0};

    assert_int_equal(spe_perf_reader_open_memory(&r, file->bytes, file->size, 0, &error),
                     SPE_ERR_FORMAT);
    assert_null(r);
    assert_int_equal(error.code, SPE_ERR_FORMAT);
    assert_non_null(strstr(error.text, words));
    assert_int_equal(error.offset, offset);
}

/* ---- Header --------------------------------------------------------------------------------- */

static void test_header(void **state)
{
    struct memory_file file = {0};
    struct spe_perf_reader *r;
    uint64_t big = UINT64_MAX, small = 8;

    (void)state;
    assert_true(spe_perf_probe((const uint8_t *)"PERFILE2", 8));
    assert_true(spe_perf_probe((const uint8_t *)"2ELIFREP", 8));
    assert_false(spe_perf_probe((const uint8_t *)"PERFILE", 7));
    assert_false(spe_perf_probe((const uint8_t *)"PERFILE3", 8));
    hand_put(&file, "xxxxxxxxxxxxxxxxxxxx", 20);
    refused(&file, "not a perf.data", 0);
    memcpy(file.bytes, "2ELIFREP", 8);
    refused(&file, "big-endian", 0);
    memcpy(file.bytes, "PERFFILE", 8);
    refused(&file, "Linux 3.6", 0);
    memcpy(file.bytes, "PERFILE2", 8);
    refused(&file, "header's size", 8);
    file.size = 12;
    refused(&file, "inside its header", 12);
    file.size = 0;
    hand_header(&file, 0, 0);
    file.size = 100;
    refused(&file, "inside its header", 100);
    file.size = 184;
    memcpy(file.bytes + 16, &small, 8);
    refused(&file, "attributes is impossible", 16);
    file.size = 0;
    hand_header(&file, 0, 0);
    memcpy(file.bytes + 24, &big, 8);
    refused(&file, "do not lie in the file", 24);
    file.size = 0;
    hand_header(&file, 0, 0);
    memcpy(file.bytes + 32, &big, 8);
    refused(&file, "more events", 24);
    file.size = 0;
    hand_header(&file, 0, 0);
    memcpy(file.bytes + 40, &big, 8);
    refused(&file, "place of the data", 40);
    memcpy(file.bytes + 40, &small, 8);
    refused(&file, "place of the data", 40);
    file.size = 0;
    hand_header(&file, 0, 0);
    file.bytes[108] = 63; /* attr.size */
    refused(&file, "size that they say", 108);
    assert_int_equal(spe_perf_reader_open(&r, "/nonexistent", 0, NULL), SPE_ERR_IO);
    memory_free(&file);
}

/* The header before there were features: 72 bytes, and nothing behind the data is looked at. */
static void test_old_header(void **state)
{
    uint64_t words[] = {72, 80, 72, 80, 152, 24, 0, 0};
    uint64_t comm[] = {1, 'x'};
    struct memory_file file = {0};
    struct spe_perf_reader *r;
    static struct heard h;

    (void)state;
    hand_put(&file, "PERFILE2", 8);
    hand_put(&file, words, sizeof(words));
    hand_attr(&file, 8, 64, 0, 0);
    memset(file.bytes + 72 + 56, 0xff, 8); /* would be bits of features */
    hand_put64(&file, 0);
    hand_put64(&file, 0);
    hand_record(&file, SPE_PERF_COMM, 0, comm, 2);
    hand_put(&file, "rest", 4);
    r = open_bytes(&file);
    hear(r, &h);
    assert_string_equal(h.comm[0], "x");
    assert_int_equal(h.records, 1);
    assert_int_equal(spe_perf_reader_account(r)->rest_bytes, 4);
    assert_int_equal(spe_perf_reader_problem(r)->code, 0);
    spe_perf_reader_close(r);
    memory_free(&file);
}

/* No events at all, from memory and from a stream: records have no sample_id then. */
static void test_no_events(void **state)
{
    const uint64_t none = 0, comm[] = {1, 'x'};
    static struct heard h;

    (void)state;
    for (unsigned stream = 0; stream < 2; stream++) {
        struct memory_file file = {0};
        struct dribble dribble;
        struct spe_perf_input input = {dribble_read, &dribble};
        struct spe_perf_reader *r;

        hand_header(&file, 0, 0);
        memcpy(file.bytes + 32, &none, 8);
        hand_record(&file, SPE_PERF_COMM, 0, comm, 2);
        hand_finish(&file);
        dribble = (struct dribble){file.bytes, file.size, 0, 10};
        if (stream)
            assert_int_equal(spe_perf_reader_open_input(&r, &input, 0, NULL), SPE_OK);
        else
            r = open_bytes(&file);
        hear(r, &h);
        assert_int_equal(spe_perf_reader_event_count(r), 0);
        assert_string_equal(h.comm[0], "x");
        assert_int_equal(h.last.event, -1);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

/* A descriptor that cannot be read. */
static void test_unreadable(void **state)
{
    struct spe_perf_reader *r;
    struct spe_perf_error error;
    char name[] = "/tmp/spe-perfdata-XXXXXX";
    int fd = mkstemp(name), out;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "PERFILE2PERFILE2", 16), 16);
    out = open(name, O_WRONLY);
    assert_int_equal(spe_perf_reader_open_fd(&r, out, 0, &error), SPE_ERR_IO);
    assert_null(r);
    assert_int_equal(error.code, SPE_ERR_IO);
    close(out);
    close(fd);
    unlink(name);
}

/* A directory, as `perf record --kcore` makes it. */
static void test_directory(void **state)
{
    struct memory_file file = {0};
    struct spe_perf_reader *r;
    struct spe_perf_error error;
    char dir[] = "/tmp/spe-perfdata-XXXXXX", path[64];
    FILE *f;

    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(spe_perf_reader_open(&r, dir, 0, &error), SPE_ERR_IO);
    assert_non_null(strstr(error.text, "No such file"));
    snprintf(path, sizeof(path), "%s/data", dir);
    hand_header(&file, 0, 0);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(file.bytes, 1, file.size, f), file.size);
    fclose(f);
    assert_int_equal(spe_perf_reader_open(&r, dir, 0, &error), SPE_OK);
    spe_perf_reader_close(r);
    unlink(path);
    rmdir(dir);
    memory_free(&file);
}

/* Attributes from 64 bytes, or none said, to some that no Linux has yet. */
static void test_attr_sizes(void **state)
{
    static const uint32_t sizes[] = {0, 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 200};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint32_t size = sizes[i] ? sizes[i] : 64;
        uint64_t words[] = {104, size + 16, 104, size + 16, 104 + size + 16, 0, 0, 0, 0, 0, 0, 0};
        struct memory_file file = {0};
        struct spe_perf_reader *r;
        struct spe_perf_error error;

        hand_put(&file, "PERFILE2", 8);
        hand_put(&file, words, sizeof(words));
        hand_attr(&file, 33, sizes[i], 7, 0);
        memset(file.bytes + 104 + 56, 0x11, size - 56);
        hand_put64(&file, 0);
        hand_put64(&file, 0);
        r = open_bytes(&file);
        assert_int_equal(spe_perf_reader_event_count(r), 1);
        assert_int_equal(spe_perf_reader_event(r, 0)->type, 33);
        assert_int_equal(spe_perf_reader_event(r, 0)->attr_size, size);
        assert_int_equal(spe_perf_reader_event(r, 0)->config1, UINT64_C(0x1111111111111111));
        assert_int_equal(spe_perf_reader_event(r, 0)->config2 != 0, size >= 72);
        assert_int_equal(spe_perf_reader_event(r, 0)->clockid != 0, size >= 96);
        assert_int_equal(spe_perf_reader_event(r, 0)->config3 != 0, size >= 136);
        assert_int_equal(spe_perf_reader_event(r, 0)->config4 != 0, size >= 144);
        assert_memory_equal(spe_perf_reader_event(r, 0)->attr, file.bytes + 104, size);
        spe_perf_reader_close(r);
        /* IDs that are not there. */
        memset(file.bytes + file.size - 8, 8, 1);
        memset(file.bytes + file.size - 16, 0xff, 8);
        assert_int_equal(spe_perf_reader_open_memory(&r, file.bytes, file.size, 0, &error),
                         SPE_ERR_FORMAT);
        assert_non_null(strstr(error.text, "IDs"));
        memory_free(&file);
    }
}

/* ---- Features ------------------------------------------------------------------------------- */

static uint64_t word_at(const struct memory_file *file, uint64_t offset)
{
    uint64_t value;

    memcpy(&value, file->bytes + offset, 8);
    return value;
}

/* Where the table has a feature: HOSTNAME is the second, behind BUILD_ID. */
static uint64_t table_entry(const struct memory_file *file, unsigned place)
{
    return word_at(file, 40) + word_at(file, 48) + 16 * (uint64_t)place;
}

/* Text without an end, sections outside the file, sections that together are larger than it. */
static void test_bad_features(void **state)
{
    (void)state;
    for (unsigned bad = 0; bad < 4; bad++) {
        struct machine m = {.records_per_slice = 1};
        struct memory_file file = {0};
        struct spe_perf_reader *r;
        const struct spe_perf_features *f;
        uint64_t entry, value = 0;

        assert_int_equal(machine_make(&m, &file, false), SPE_OK);
        entry = table_entry(&file, 1);
        if (bad == 0)
            memset(file.bytes + word_at(&file, entry) + 4, 'x', 64);
        if (bad == 1)
            value = file.size - 10;
        if (bad == 2)
            value = UINT64_MAX;
        if (bad == 1 || bad == 2)
            memcpy(file.bytes + entry, &value, 8);
        if (bad == 3) { /* OSRELEASE is the whole file: no room for it beside the others */
            value = file.size;
            memcpy(file.bytes + entry + 16 + 8, &value, 8);
            value = 0;
            memcpy(file.bytes + entry + 16, &value, 8);
        }
        r = open_bytes(&file);
        f = spe_perf_reader_features(r);
        if (bad < 3)
            assert_null(f->hostname);
        else
            assert_string_equal(f->hostname, "machine");
        assert_int_equal(f->osrelease == NULL, bad == 3);
        assert_string_equal(f->arch, "aarch64");
        assert_int_equal(spe_perf_reader_problem(r)->code, SPE_ERR_FORMAT);
        assert_non_null(strstr(spe_perf_reader_problem(r)->text,
                               bad == 0   ? "feature 3 is inconsistent"
                               : bad == 3 ? "feature 4 does not lie in the file"
                                          : "feature 3 does not lie in the file"));
        assert_int_equal(spe_perf_reader_info(r)->features[0] >> 3 & 3, bad == 3   ? 1
                                                                        : bad == 0 ? 3
                                                                                   : 2);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

/* CPUs of other architectures have other texts. */
static void test_cpuid(void **state)
{
    static const struct {
        const char *text;
        uint64_t midr;
    } texts[] = {{"0x00000000413fd0c1", 0x413fd0c1},
                 {"0x00000000410fd490,0x1", 0x410fd490},
                 {"AuthenticAMD-25-1-1", 0},
                 {"0x41 and more", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct memory_file file = {0};
        struct spe_perf_reader *r;
        static struct heard h;
        uint64_t words[10] = {SPE_PERF_FEATURE_CPUID, 64};

        memcpy((char *)words + 12, texts[i].text, strlen(texts[i].text) + 1);
        hand_put(&file, "PERFILE2", 8);
        hand_put64(&file, 16);
        hand_record(&file, SPE_PERF_HEADER_FEATURE, 0, words, 10);
        r = open_bytes(&file);
        hear(r, &h);
        assert_string_equal(spe_perf_reader_features(r)->cpuid, texts[i].text);
        assert_int_equal(spe_perf_reader_midr(r, 0), texts[i].midr);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

/* ---- Metadata ------------------------------------------------------------------------------- */

/* A file with one AUXTRACE_INFO of these words behind type and reserved. */
static struct spe_perf_reader *read_metadata(struct memory_file *file, const uint64_t *words,
                                             size_t count)
{
    struct spe_perf_reader *r;
    static struct heard h;

    hand_header(file, 0, 0);
    hand_record(file, SPE_PERF_AUXTRACE_INFO, 0, words, count);
    hand_finish(file);
    r = open_bytes(file);
    hear(r, &h);
    return r;
}

static void test_metadata(void **state)
{
    const uint64_t v1[] = {4, 8, 1};
    const uint64_t v2[] = {4,    2,     4,         8, 2, MAGIC_CPU,  0, 4,   0x413fd0c1, 8,
                           1024, 0xffe, MAGIC_CPU, 5, 4, 0x410fd490, 9, 256, 0xfff};
    const uint64_t old_v2[] = {4, 2,    4,         8, 2, MAGIC_CPU,  3,          3, 0x413fd0c1,
                               8, 1024, MAGIC_CPU, 4, 3, 0x413fd0c1, UINT64_MAX, 0};
    uint64_t bad[] = {4, 2, 4, 8, 3, MAGIC_CPU, 0, 4, 0x413fd0c1, 8, 1024, 0xffe};
    const uint64_t other[] = {1, 2, 3};
    struct memory_file file = {0};
    struct spe_perf_reader *r;

    (void)state;
    r = read_metadata(&file, v1, 3);
    assert_int_equal(spe_perf_reader_metadata(r)->version, 1);
    assert_int_equal(spe_perf_reader_metadata(r)->pmu_type, 8);
    assert_true(spe_perf_reader_metadata(r)->per_cpu_mmaps);
    assert_true(spe_perf_reader_is_spe(r, 0));
    assert_int_equal(spe_perf_reader_midr(r, 0), 0); /* older files say nothing */
    spe_perf_reader_close(r);
    memory_free(&file);

    r = read_metadata(&file, v2, 19);
    assert_int_equal(spe_perf_reader_metadata(r)->version, 2);
    assert_int_equal(spe_perf_reader_metadata(r)->word, 2);
    assert_int_equal(spe_perf_reader_metadata(r)->pmu_type, 8);
    assert_int_equal(spe_perf_reader_metadata(r)->cpu_count, 2);
    assert_int_equal(spe_perf_reader_metadata(r)->cpus[1].pmu_type, 9); /* another SPE PMU */
    assert_int_equal(spe_perf_reader_metadata(r)->cpus[1].event_filter, 0xfff);
    assert_int_equal(spe_perf_reader_midr(r, 0), 0x413fd0c1);
    assert_int_equal(spe_perf_reader_midr(r, 5), 0x410fd490);
    assert_int_equal(spe_perf_reader_midr(r, 1), 0);
    assert_int_equal(spe_perf_reader_midr(r, UINT32_MAX), 0); /* they differ */
    assert_true(spe_perf_reader_is_spe(r, 0));
    spe_perf_reader_close(r);
    memory_free(&file);

    r = read_metadata(&file, old_v2, 17);
    assert_int_equal(spe_perf_reader_metadata(r)->cpu_count, 2);
    assert_false(spe_perf_reader_metadata(r)->cpus[0].has_event_filter);
    assert_int_equal(spe_perf_reader_metadata(r)->cpus[1].cpu, 4);
    assert_int_equal(spe_perf_reader_metadata(r)->cpus[1].pmu_type, SPE_PERF_NO_PMU);
    assert_int_equal(spe_perf_reader_midr(r, UINT32_MAX), 0x413fd0c1);
    spe_perf_reader_close(r);
    memory_free(&file);

    for (unsigned i = 0; i < 4; i++) { /* too many CPUs, no CPUs, too short, header too long */
        bad[4] = i == 0 ? 3 : i == 1 ? 0 : 1;
        bad[2] = i == 3 ? 100 : 4;
        r = read_metadata(&file, bad, i == 2 ? 4 : 12);
        assert_null(spe_perf_reader_metadata(r));
        assert_int_equal(spe_perf_reader_account(r)->malformed, 1);
        assert_non_null(strstr(spe_perf_reader_problem(r)->text, "AUXTRACE_INFO"));
        assert_int_equal(spe_perf_reader_problem(r)->offset, 184);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
    r = read_metadata(&file, other, 3);
    assert_null(spe_perf_reader_metadata(r));
    assert_non_null(strstr(spe_perf_reader_problem(r)->text, "not Arm SPE"));
    spe_perf_reader_close(r);
    memory_free(&file);
}

/* ---- sample_id ------------------------------------------------------------------------------ */

/* Every combination of the fields, for one event, with and without an ID at its end. */
static void test_sample_id(void **state)
{
    static const uint64_t bits[] = {SPE_PERF_SAMPLE_TID, SPE_PERF_SAMPLE_TIME,
                                    SPE_PERF_SAMPLE_ID,  SPE_PERF_SAMPLE_STREAM_ID,
                                    SPE_PERF_SAMPLE_CPU, SPE_PERF_SAMPLE_IDENTIFIER};
    static struct heard h;

    (void)state;
    for (unsigned set = 0; set < 64; set++) {
        uint64_t type = SPE_PERF_SAMPLE_IP, words[9] = {0x100000001, 0, 0}; /* COMM pid tid "..." */
        size_t count = 2;
        struct memory_file file = {0};
        struct spe_perf_reader *r;
        const struct spe_perf_sample_id *id = &h.last.id;

        memcpy(&words[1], "name", 5);
        for (unsigned i = 0; i < 6; i++)
            if (set >> i & 1) {
                type |= bits[i];
                words[count++] = i == 0 ? 0x2200000011 : i == 5 ? 7 : 0x30 + i;
            }
        hand_header(&file, type, 0);
        hand_record(&file, SPE_PERF_COMM, 0, words, count);
        hand_finish(&file);
        r = open_bytes(&file);
        hear(r, &h);
        assert_int_equal(h.records, 1);
        assert_string_equal(h.comm[0], "name");
        assert_int_equal(h.last.event, 0);
        assert_int_equal(id->pid, set & 1 ? 0x11 : 0);
        assert_int_equal(id->tid, set & 1 ? 0x22 : 0);
        assert_int_equal(id->time, set & 2 ? 0x31 : 0);
        assert_int_equal(id->id, set & 32 ? 7 : set & 4 ? 0x32 : 0);
        assert_int_equal(id->stream_id, set & 8 ? 0x33 : 0);
        assert_int_equal(id->cpu, set & 16 ? 0x34 : 0);
        assert_int_equal(id->has & SPE_PERF_SAMPLE_ID, set & 36 ? SPE_PERF_SAMPLE_ID : 0);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

/* Two events in a pipe, told apart by ID (not IDENTIFIER), in records and samples. */
static void test_events_by_id(void **state)
{
    uint64_t type = SPE_PERF_SAMPLE_IP | SPE_PERF_SAMPLE_TID | SPE_PERF_SAMPLE_TIME |
                    SPE_PERF_SAMPLE_ID | SPE_PERF_SAMPLE_CPU | SPE_PERF_SAMPLE_PERIOD;
    struct memory_file file = {0};
    struct spe_perf_reader *r;
    struct spe_perf_record rec;
    uint32_t head[2] = {64, (8 + 64 + 16) << 16};

    (void)state;
    hand_put(&file, "PERFILE2", 8);
    hand_put64(&file, 16);
    for (uint64_t event = 0; event < 2; event++) {
        hand_put(&file, head, 8);
        hand_attr(&file, 1, 64, type, SPE_PERF_FLAG_SAMPLE_ID_ALL);
        hand_put64(&file, 60 - event * 10); /* not in order */
        hand_put64(&file, 20 + event);
    }
    for (uint64_t id = 0; id < 100; id++) {
        uint64_t sample[] = {0x1234, 0x200000001, 99, id, 3, 5};
        uint64_t fork[] = {1, 2, 3, 0x200000001, 99, id, 3};

        hand_record(&file, SPE_PERF_SAMPLE, 0, sample, 6);
        hand_record(&file, SPE_PERF_FORK, 0, fork, 7);
    }
    r = open_bytes(&file);
    for (int i = 0; i < 2; i++)
        assert_int_equal(spe_perf_reader_next(r, &rec), 1);
    for (int id = 0; id < 100; id++)
        for (int i = 0; i < 2; i++) {
            assert_int_equal(spe_perf_reader_next(r, &rec), 1);
            assert_int_equal(rec.event, id == 60 || id == 20 ? 0 : id == 50 || id == 21 ? 1 : -1);
            assert_true(rec.viewed);
            assert_int_equal(rec.id.id, id);
            assert_int_equal(rec.id.tid, 2);
            assert_int_equal(rec.id.time, 99);
            assert_int_equal(rec.id.cpu, 3);
            if (rec.type == SPE_PERF_SAMPLE) {
                assert_int_equal(rec.sample.ip, 0x1234);
                assert_int_equal(rec.sample.period, 5);
            } else {
                assert_int_equal(rec.task.time, 3);
            }
        }
    assert_int_equal(spe_perf_reader_next(r, &rec), 0);
    assert_int_equal(spe_perf_reader_problem(r)->code, 0);
    spe_perf_reader_close(r);
    memory_free(&file);
}

/* ---- AUX pieces ----------------------------------------------------------------------------- */

/* Read a file of pieces from memory and as a stream: both hand out the same. */
static void hear_pieces(struct memory_file *file, const char *expected, size_t size,
                        unsigned unsynced, size_t padding)
{
    static struct heard h;
    static const size_t most[] = {0, 1, 5, 1000};

    hand_finish(file);
    for (size_t i = 0; i < 4; i++) {
        struct dribble dribble = {file->bytes, file->size, 0, most[i]};
        struct spe_perf_input input = {dribble_read, &dribble};
        const struct spe_perf_queue *q;
        struct spe_perf_reader *r;
        size_t left = 0;

        if (!most[i])
            r = open_bytes(file);
        else
            assert_int_equal(spe_perf_reader_open_input(&r, &input, 0, NULL), SPE_OK);
        hear(r, &h);
        q = spe_perf_reader_queue(r, 0);
        assert_int_equal(h.aux_size + h.held + q->held, size);
        assert_int_equal(h.unsynced, unsynced);
        assert_int_equal(q->bytes, size);
        assert_int_equal(spe_perf_reader_account(r)->padding_bytes, padding);
        assert_int_equal(spe_perf_reader_account(r)->aux_bytes, size);
        if (!h.held)
            assert_memory_equal(h.aux, expected, h.aux_size);
        for (size_t p = 0; !most[i] && p < q->piece_count; p++) { /* the same by the list */
            const uint8_t *bytes;
            int64_t n = spe_perf_piece_read(r, &q->pieces[p], 0, NULL, SIZE_MAX, &bytes);

            assert_int_equal(n, q->pieces[p].size);
            assert_memory_equal(bytes, expected + left, n);
            left += (size_t)n;
        }
        assert_true(most[i] || left == size);
        spe_perf_reader_close(r);
    }
    memory_free(file);
}

static void test_padding(void **state)
{
    struct memory_file file = {0};

    (void)state;
    /* 5 bytes filled up to 8, twice; the last filling cannot be told from data. */
    hand_header(&file, 0, 0);
    hand_auxtrace(&file, 0, 0, "abcde\0\0", 8);
    hand_auxtrace(&file, 0, 5, "fghij\0\0", 8);
    hear_pieces(&file, "abcdefghij\0\0", 13, 0, 3);
    /* Zeros that are data, all of them or some. */
    hand_header(&file, 0, 0);
    hand_auxtrace(&file, 0, 100, "abcde\0\0", 8);
    hand_auxtrace(&file, 0, 108, "fgh\0\0\0\0", 8);
    hand_auxtrace(&file, 0, 114, "ijklmnop", 8);
    hear_pieces(&file, "abcde\0\0\0fgh\0\0\0ijklmnop", 22, 0, 2);
    /* Nobody knows offsets. */
    hand_header(&file, 0, 0);
    hand_auxtrace(&file, 0, 0, "abcde\0\0", 8);
    hand_auxtrace(&file, 0, 0, "fghijklm", 8);
    hear_pieces(&file, "abcde\0\0\0fghijklm", 16, 0, 0);
    /* A gap, and an overlap larger than filling: the stream is broken there. */
    hand_header(&file, 0, 0);
    hand_auxtrace(&file, 0, 0, "abcde\0\0", 8);
    hand_auxtrace(&file, 0, 16, "fghijklm", 8);
    hand_auxtrace(&file, 0, 20, "nopqrstu", 8);
    hear_pieces(&file, "abcde\0\0\0fghijklmnopqrstu", 24, 2, 0);
    /* Sizes that perf does not write are not filled up either. */
    hand_header(&file, 0, 0);
    hand_auxtrace(&file, 0, 0, "abc\0", 4);
    hand_auxtrace(&file, 0, 3, "", 0);
    hand_auxtrace(&file, 0, 4, "defg", 4);
    hear_pieces(&file, "abc\0defg", 8, 1, 0);
    /* Zeros only, and pieces of other queues between. */
    hand_header(&file, 0, 0);
    hand_auxtrace(&file, 0, 0, "\0\0\0\0\0\0\0", 8);
    hand_auxtrace(&file, 7, 0, "xxxxxxx", 8);
    hand_auxtrace(&file, 0, 8, "abcdefgh", 8);
    hand_finish(&file);
    {
        struct spe_perf_reader *r = open_bytes(&file);
        static struct heard h;

        hear(r, &h);
        assert_int_equal(spe_perf_reader_queue_count(r), 2);
        assert_int_equal(spe_perf_reader_queue(r, 0)->bytes, 16);
        assert_int_equal(spe_perf_reader_queue(r, 1)->idx, 7);
        assert_int_equal(spe_perf_reader_queue(r, 1)->cpu, 7);
        assert_memory_equal(h.aux, "\0\0\0\0\0\0\0\0abcdefgh", 16);
        assert_null(spe_perf_reader_queue(r, 2));
        spe_perf_reader_close(r);
    }
    memory_free(&file);
}

/* Snapshots: AUX records with the flag, before the pieces or after them. */
static void test_overwrite(void **state)
{
    const uint64_t aux[] = {0, 8, SPE_PERF_AUX_OVERWRITE};
    static struct heard h;

    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        struct memory_file file = {0};
        struct spe_perf_reader *r;

        hand_header(&file, 0, 0);
        if (!late)
            hand_record(&file, SPE_PERF_AUX, 0, aux, 3);
        hand_auxtrace(&file, 0, 1000, "abcdefgh", 8);
        if (late)
            hand_record(&file, SPE_PERF_AUX, 0, aux, 3);
        hand_finish(&file);
        r = open_bytes(&file);
        hear(r, &h);
        assert_int_equal(h.unsynced, !late);
        assert_true(spe_perf_reader_info(r)->overwrite);
        assert_int_equal(spe_perf_reader_account(r)->aux_overwrite, 1);
        assert_int_equal(spe_perf_reader_queue(r, 0)->pieces[0].flags, SPE_PERF_PIECE_UNSYNCED);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

/* Somebody numbers queues at random: what is too much is skipped, with a reason. */
static void test_many_queues(void **state)
{
    struct memory_file file = {0};
    struct spe_perf_reader *r;
    static struct heard h;
    struct random rng = {1};

    (void)state;
    hand_header(&file, 0, 0);
    for (unsigned i = 0; i < SPE_PERF_QUEUE_MAX + 10; i++)
        hand_auxtrace(&file, (uint32_t)random_next(&rng), 0, "abcdefgh", 8);
    hand_finish(&file);
    r = open_bytes(&file);
    hear(r, &h);
    assert_int_equal(spe_perf_reader_queue_count(r), SPE_PERF_QUEUE_MAX);
    assert_in_range(spe_perf_reader_account(r)->skipped_by[SPE_PERF_SKIP_QUEUES], 8, 80);
    assert_int_equal(spe_perf_reader_range(r, 0)->reason, SPE_PERF_SKIP_QUEUES);
    assert_int_equal(spe_perf_reader_range(r, 0)->size, 8);
    spe_perf_reader_close(r);
    memory_free(&file);
}

/* ---- Damage --------------------------------------------------------------------------------- */

static void put_comm(struct memory_file *file, const char *name)
{
    uint64_t words[2] = {1};

    memcpy(&words[1], name, strlen(name));
    hand_record(file, SPE_PERF_COMM, 0, words, 2);
}

/* A killed perf: data size 0, zeros at the end, half a record. */
static void test_unterminated(void **state)
{
    struct memory_file file = {0};
    struct spe_perf_reader *r;
    static const uint8_t zeros[4096];
    static struct heard h;

    (void)state;
    hand_header(&file, 0, 0);
    put_comm(&file, "one");
    hand_put(&file, zeros, sizeof(zeros));
    put_comm(&file, "two");
    put_comm(&file, "three");
    file.size -= 3;
    r = open_bytes(&file);
    assert_true(spe_perf_reader_info(r)->unterminated);
    hear(r, &h);
    assert_int_equal(h.comms, 2);
    assert_string_equal(h.comm[1], "two");
    assert_int_equal(spe_perf_reader_account(r)->padding_bytes, 4096);
    assert_int_equal(spe_perf_reader_account(r)->skipped_by[SPE_PERF_SKIP_TRUNCATED], 21);
    assert_int_equal(spe_perf_reader_problem(r)->code, SPE_ERR_TRUNCATED);
    spe_perf_reader_close(r);
    memory_free(&file);
}

static void test_no_record(void **state)
{
    struct memory_file file = {0};
    struct spe_perf_reader *r;
    static struct heard h;

    (void)state;
    hand_header(&file, 0, 0);
    put_comm(&file, "one");
    hand_put(&file, "\1\0\0\0\0\0\7\0", 8); /* size 7 */
    put_comm(&file, "lost");
    hand_finish(&file);
    r = open_bytes(&file);
    hear(r, &h);
    assert_int_equal(h.comms, 1);
    assert_int_equal(spe_perf_reader_account(r)->skipped_by[SPE_PERF_SKIP_HEADER], 32);
    assert_int_equal(spe_perf_reader_range(r, 0)->offset, 184 + 24);
    assert_int_equal(spe_perf_reader_problem(r)->offset, 184 + 24);
    assert_int_equal(spe_perf_reader_problem(r)->code, SPE_ERR_FORMAT);
    assert_null(spe_perf_reader_range(r, 1));
    spe_perf_reader_close(r);
    memory_free(&file);
}

/* With an index reading goes on at the next AUXTRACE record. */
static void test_index_helps(void **state)
{
    struct machine m = {.records_per_slice = 20};
    struct memory_file file = {0};
    struct spe_perf_reader *r;
    struct spe_perf_record rec;
    uint64_t first = 0;
    static struct heard h;

    (void)state;
    assert_int_equal(machine_make(&m, &file, false), SPE_OK);
    r = open_bytes(&file);
    while (spe_perf_reader_next(r, &rec) == 1)
        if (rec.type == SPE_PERF_ITRACE_START)
            first = rec.offset;
    spe_perf_reader_close(r);
    file.bytes[first + 6] = file.bytes[first + 7] = 0; /* its size */
    r = open_bytes(&file);
    hear(r, &h);
    assert_int_equal(spe_perf_reader_account(r)->ranges, 1);
    assert_int_equal(spe_perf_reader_account(r)->records_by[SPE_PERF_AUXTRACE], m.pieces);
    assert_true(h.aux_bytes + 7 * MACHINE_CPUS >= m.aux_bytes);
    assert_int_equal(spe_perf_reader_range(r, 0)->offset, first);
    spe_perf_reader_close(r);
    /* An AUXTRACE record that swallows all others. */
    memory_free(&file);
    m = (struct machine){.records_per_slice = 20};
    assert_int_equal(machine_make(&m, &file, false), SPE_OK);
    r = open_bytes(&file);
    while (spe_perf_reader_next(r, &rec) == 1 && rec.type != SPE_PERF_AUXTRACE)
        first = rec.offset + rec.size;
    spe_perf_reader_close(r);
    memset(file.bytes + first + 8, 0x70, 8); /* its size */
    r = open_bytes(&file);
    hear(r, &h);
    assert_int_equal(spe_perf_reader_account(r)->records_by[SPE_PERF_AUXTRACE], m.pieces);
    assert_true(spe_perf_reader_account(r)->missing_bytes > 0);
    assert_int_equal(spe_perf_reader_queue(r, 0)->pieces[0].flags, SPE_PERF_PIECE_TRUNCATED);
    spe_perf_reader_close(r);
    memory_free(&file);
}

/* Records that are too short for what they are, and text without an end. */
static void test_malformed(void **state)
{
    static const uint32_t types[] = {1,  2,  3,  4,  5,  6,  7,  10, 11,
                                     12, 13, 15, 16, 17, 18, 67, 71, 79};
    struct memory_file file = {0};
    struct spe_perf_reader *r;
    uint64_t words[32];
    static struct heard h;
    size_t bad = sizeof(types) / sizeof(types[0]);

    (void)state;
    hand_header(&file, 0, 0);
    for (size_t i = 0; i < bad; i++)
        hand_record(&file, types[i], 0, words, 0);
    memset(words, 'x', sizeof(words));
    hand_record(&file, SPE_PERF_COMM, 0, words, 32);
    hand_record(&file, SPE_PERF_MMAP, 0, words, 32);
    hand_record(&file, SPE_PERF_MMAP2, 0, words, 32);
    hand_record(&file, SPE_PERF_MMAP2, SPE_PERF_MISC_MMAP_BUILD_ID, words, 32);
    hand_record(&file, SPE_PERF_KSYMBOL, 0, words, 32);
    hand_record(&file, SPE_PERF_BUILD_ID, 0, words, 32);
    hand_record(&file, SPE_PERF_NAMESPACES, 0, words, 32); /* count */
    words[31] = 0;
    hand_record(&file, SPE_PERF_BUILD_ID, SPE_PERF_MISC_BUILD_ID_SIZE, words, 32); /* size 'x' */
    hand_record(&file, SPE_PERF_MMAP2, SPE_PERF_MISC_MMAP_BUILD_ID, words, 32);    /* likewise */
    hand_record(&file, SPE_PERF_COMM, 0, words, 32);                               /* good */
    hand_record(&file, 4000000000u, 0, words, 32); /* unknown: kept as it is */
    hand_finish(&file);
    r = open_bytes(&file);
    hear(r, &h);
    assert_int_equal(h.records, bad + 11);
    assert_int_equal(spe_perf_reader_account(r)->malformed, bad + 9);
    assert_int_equal(spe_perf_reader_account(r)->records_by[0], 1);
    assert_int_equal(h.comms, 1);
    assert_false(h.last.viewed);
    assert_int_equal(h.last.size, 8 + 256);
    assert_memory_equal(h.last.bytes + 8, words, 256);
    assert_null(spe_perf_record_name(4000000000u));
    assert_string_equal(spe_perf_record_name(SPE_PERF_MMAP2), "MMAP2");
    spe_perf_reader_close(r);
    memory_free(&file);
}

/* TRACING_DATA has bytes behind it that are no records. */
static void test_attached(void **state)
{
    struct memory_file file = {0};
    struct spe_perf_reader *r;
    static struct heard h;
    uint32_t head[3] = {SPE_PERF_TRACING_DATA, 12 << 16, 16};

    (void)state;
    for (size_t most = 0; most < 2; most++) {
        struct dribble dribble;
        struct spe_perf_input input = {dribble_read, &dribble};

        hand_put(&file, "PERFILE2", 8);
        hand_put64(&file, 16);
        hand_put(&file, head, 12);
        hand_put(&file, "0123456789abcdef", 16);
        put_comm(&file, "behind");
        head[2] = 1 << 20; /* more than a window */
        hand_put(&file, head, 12);
        head[2] = 16;
        hand_put(&file, "01", 2);
        dribble = (struct dribble){file.bytes, file.size, 0, 3};
        if (most)
            assert_int_equal(spe_perf_reader_open_input(&r, &input, 0, NULL), SPE_OK);
        else
            r = open_bytes(&file);
        hear(r, &h);
        assert_string_equal(h.comm[0], "behind");
        assert_int_equal(spe_perf_reader_account(r)->attached_bytes, 18);
        assert_int_equal(spe_perf_reader_account(r)->missing_bytes, (1 << 20) - 2);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

/* ---- Compressed records --------------------------------------------------------------------- */

#ifndef SPE_NO_ZSTD
struct packer {
    ZSTD_CCtx *zstd;
    struct memory_file *file;
    uint32_t type;
};

/* Compress some bytes into a record, as perf does: flushed, but the frame goes on. */
static void pack(struct packer *p, const void *bytes, size_t size)
{
    uint8_t out[60000];
    ZSTD_inBuffer in = {bytes, size, 0};
    ZSTD_outBuffer buffer = {out, sizeof(out), 0};
    uint32_t type = p->type, head;
    uint64_t data_size;

    assert_int_equal(ZSTD_compressStream2(p->zstd, &buffer, &in, ZSTD_e_flush), 0);
    data_size = buffer.pos;
    if (type == SPE_PERF_COMPRESSED2)
        buffer.pos = (buffer.pos + 7) & ~(size_t)7;
    head = (uint32_t)(8 + buffer.pos + (type == SPE_PERF_COMPRESSED2 ? 8 : 0)) << 16;
    hand_put(p->file, &type, 4);
    hand_put(p->file, &head, 4);
    if (type == SPE_PERF_COMPRESSED2)
        hand_put64(p->file, data_size);
    hand_put(p->file, out, buffer.pos);
}

/* 500 records in pieces of `step` bytes, between plain ones. */
static void make_compressed(struct memory_file *file, uint32_t type, size_t step)
{
    struct memory_file plain = {0};
    struct packer p = {ZSTD_createCCtx(), file, type};
    char name[9];

    hand_header(file, 0, 0);
    put_comm(file, "first");
    for (unsigned i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "c%u", i);
        put_comm(&plain, name);
    }
    for (size_t at = 0; at < plain.size; at += step)
        pack(&p, plain.bytes + at, plain.size - at < step ? plain.size - at : step);
    hand_auxtrace(file, 0, 0, "abcdefgh", 8);
    put_comm(file, "last");
    hand_finish(file);
    ZSTD_freeCCtx(p.zstd);
    memory_free(&plain);
}

static void test_compressed(void **state)
{
    static const size_t steps[] = {7, 24, 100, 5000, 100000};
    static struct heard h;

    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        struct memory_file file = {0};
        struct dribble dribble;
        struct spe_perf_input input = {dribble_read, &dribble};
        struct spe_perf_reader *r;
        const struct spe_perf_account *a;

        make_compressed(&file, i % 2 ? SPE_PERF_COMPRESSED : SPE_PERF_COMPRESSED2, steps[i / 4]);
        dribble = (struct dribble){file.bytes, file.size, 0, 100};
        if (i / 2 % 2)
            assert_int_equal(spe_perf_reader_open_input(&r, &input, 0, NULL), SPE_OK);
        else
            r = open_bytes(&file);
        hear(r, &h);
        a = spe_perf_reader_account(r);
        assert_int_equal(h.records, 503);
        assert_string_equal(h.comm[31], "c30");
        assert_false(h.last.decompressed);
        assert_int_equal(a->records_by[SPE_PERF_COMM], 502);
        assert_int_equal(a->unpacked_bytes, 500 * 24);
        assert_int_equal(a->unpacked_record_bytes, 500 * 24);
        assert_int_equal(a->skipped_bytes, 0);
        assert_int_equal(h.aux_bytes, 8);
        assert_int_equal(spe_perf_reader_problem(r)->code, 0);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

/* One piece is damaged: it and those behind it are skipped, all else is read. */
static void test_compressed_damage(void **state)
{
    static struct heard h;

    (void)state;
    for (unsigned at = 0; at < 40; at++) {
        struct memory_file file = {0};
        struct spe_perf_reader *r;
        const struct spe_perf_account *a;

        make_compressed(&file, SPE_PERF_COMPRESSED, 1000);
        file.bytes[184 + 24 + 8 + at] ^= 0xff;
        r = open_bytes(&file);
        hear(r, &h);
        a = spe_perf_reader_account(r);
        assert_string_equal(h.comm[0], "first");
        assert_int_equal(h.aux_bytes, 8);
        assert_true(h.last.type == SPE_PERF_COMM && !h.last.decompressed);
        if (at < 4) { /* the magic number of zstd */
            assert_int_equal(h.records, 3);
            assert_int_equal(a->ranges, a->records_by[SPE_PERF_COMPRESSED]);
            assert_int_equal(spe_perf_reader_range(r, 0)->reason, SPE_PERF_SKIP_DECOMPRESS);
            assert_int_equal(spe_perf_reader_range(r, 0)->offset, 184 + 24);
            assert_int_equal(spe_perf_reader_problem(r)->offset, 184 + 24);
        }
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

/* The contents are not records: AUX data, a record of size 0, a compressed one; or half of one. */
static void test_compressed_nonsense(void **state)
{
    static const uint8_t zeros[100000];
    static struct heard h;

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct memory_file file = {0}, plain = {0};
        struct packer p = {ZSTD_createCCtx(), &file, SPE_PERF_COMPRESSED};
        struct spe_perf_reader *r;
        const struct spe_perf_account *a;

        put_comm(&plain, "in");
        if (i == 0)
            hand_auxtrace(&plain, 0, 0, "abcdefgh", 8);
        else if (i == 1)
            hand_put(&plain, zeros, sizeof(zeros));
        else if (i == 2)
            hand_record(&plain, SPE_PERF_COMPRESSED, 0, (const uint64_t *)(const void *)zeros, 4);
        else
            hand_put(&plain, "\1\0\0\0\0\0\60\0xyz", 11);
        hand_header(&file, 0, 0);
        pack(&p, plain.bytes, plain.size);
        if (i < 3)
            pack(&p, plain.bytes, plain.size);
        put_comm(&file, "out");
        hand_finish(&file);
        r = open_bytes(&file);
        hear(r, &h);
        a = spe_perf_reader_account(r);
        assert_int_equal(h.comms, 2);
        assert_string_equal(h.comm[0], "in");
        assert_string_equal(h.comm[1], "out");
        assert_true(spe_perf_reader_problem(r)->code < 0);
        assert_true(a->unpacked_skipped_bytes > 0);
        assert_int_equal(a->ranges, i < 3 ? 2 : 0);
        if (i < 3)
            assert_int_equal(spe_perf_reader_range(r, 1)->reason, SPE_PERF_SKIP_DECOMPRESSED);
        spe_perf_reader_close(r);
        ZSTD_freeCCtx(p.zstd);
        memory_free(&file);
        memory_free(&plain);
    }
}

/* A small file that unpacks to a large one is stopped. */
static void test_compressed_bomb(void **state)
{
    struct memory_file file = {0};
    struct packer p = {ZSTD_createCCtx(), &file, SPE_PERF_COMPRESSED};
    size_t size = 100 << 20;
    uint8_t *bytes = malloc(size);
    struct spe_perf_reader *r;
    static struct heard h;

    (void)state;
    assert_non_null(bytes);
    memset(bytes, 0x41, size); /* records of type 0x41414141 and size 0x4141 */
    hand_header(&file, 0, 0);
    pack(&p, bytes, size);
    hand_finish(&file);
    assert_true(file.size < 65536);
    r = open_bytes(&file);
    hear(r, &h);
    assert_int_equal(spe_perf_reader_account(r)->skipped_by[SPE_PERF_SKIP_DECOMPRESS],
                     file.size - 184);
    assert_in_range(spe_perf_reader_account(r)->unpacked_bytes, 64 << 20, 65 << 20);
    assert_non_null(strstr(spe_perf_reader_problem(r)->text, "more than it may"));
    spe_perf_reader_close(r);
    ZSTD_freeCCtx(p.zstd);
    free(bytes);
    memory_free(&file);
}

/* Pieces that unpack to what one may, but too many of them. */
static void test_compressed_bombs(void **state)
{
    struct memory_file file = {0};
    struct packer p = {ZSTD_createCCtx(), &file, SPE_PERF_COMPRESSED};
    size_t size = 10 << 20, count = 20;
    uint8_t *bytes = malloc(size);
    const struct spe_perf_account *a;
    struct spe_perf_reader *r;
    static struct heard h;

    (void)state;
    assert_non_null(bytes);
    memset(bytes, 0x41, size);
    hand_header(&file, 0, 0);
    for (size_t i = 0; i < count; i++)
        pack(&p, bytes, size);
    hand_finish(&file);
    r = open_bytes(&file);
    hear(r, &h);
    a = spe_perf_reader_account(r);
    assert_true(a->unpacked_bytes > 64 << 20 && a->unpacked_bytes < count * size / 2);
    assert_true(a->skipped_by[SPE_PERF_SKIP_DECOMPRESS] > 0);
    assert_non_null(strstr(spe_perf_reader_problem(r)->text, "more than a thousand times"));
    spe_perf_reader_close(r);
    ZSTD_freeCCtx(p.zstd);
    free(bytes);
    memory_free(&file);
}
#endif

/* ---- Memory --------------------------------------------------------------------------------- */

/* A pipe whose one AUX piece has 300 MB is read in little memory. */
struct endless {
    struct memory_file head;
    size_t at;
    uint64_t left;
};

static int64_t endless_read(void *user, void *bytes, size_t size)
{
    struct endless *e = user;

    if (e->at < e->head.size) {
        size_t n = e->head.size - e->at < size ? e->head.size - e->at : size;

        memcpy(bytes, e->head.bytes + e->at, n);
        e->at += n;
        return (int64_t)n;
    }
    if (size > e->left)
        size = (size_t)e->left;
    memset(bytes, 0x5a, size);
    e->left -= size;
    return (int64_t)size;
}

static void test_little_memory(void **state)
{
    const uint64_t total = UINT64_C(300) << 20;
    struct endless endless = {.left = total};
    struct spe_perf_input input = {endless_read, &endless};
    uint64_t words[5] = {total, 0, 0, 0, 0};
    struct spe_perf_reader *r;
    struct rusage before, after;
    static struct heard h;

    (void)state;
    hand_put(&endless.head, "PERFILE2", 8);
    hand_put64(&endless.head, 16);
    hand_record(&endless.head, SPE_PERF_AUXTRACE, 0, words, 5);
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(spe_perf_reader_open_input(&r, &input, 0, NULL), SPE_OK);
    hear(r, &h);
    assert_true(h.aux_bytes == total);
    assert_true(spe_perf_reader_info(r)->size == total + 64);
    spe_perf_reader_close(r);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 16 * 1024);
    memory_free(&endless.head);
}

/* An input that fails: the reader says so, and says so again. */
static int64_t failing_read(void *user, void *bytes, size_t size)
{
    struct dribble *d = user;

    return d->at == d->size ? SPE_ERR_IO : dribble_read(user, bytes, size);
}

static void test_failing_input(void **state)
{
    struct machine m = {.records_per_slice = 3};
    struct memory_file file = {0};

    (void)state;
    assert_int_equal(machine_make(&m, &file, false), SPE_OK);
    for (size_t size = 0; size < file.size; size += 101) {
        struct dribble dribble = {file.bytes, size, 0, 1000};
        struct spe_perf_input input = {failing_read, &dribble};
        struct spe_perf_reader *r;
        struct spe_perf_record rec;
        struct spe_perf_error error;
        int result = spe_perf_reader_open_input(&r, &input, 0, &error);

        if (result == SPE_OK) {
            while ((result = spe_perf_reader_next(r, &rec)) == 1)
                ;
            assert_int_equal(spe_perf_reader_next(r, &rec), SPE_ERR_IO);
            assert_int_equal(spe_perf_reader_problem(r)->code, SPE_ERR_IO);
            spe_perf_reader_close(r);
        } else {
            assert_int_equal(error.code, SPE_ERR_IO);
        }
        assert_int_equal(result, SPE_ERR_IO);
    }
    memory_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_old_header),
        cmocka_unit_test(test_no_events),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_directory),
        cmocka_unit_test(test_attr_sizes),
        cmocka_unit_test(test_bad_features),
        cmocka_unit_test(test_cpuid),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_sample_id),
        cmocka_unit_test(test_events_by_id),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_overwrite),
        cmocka_unit_test(test_many_queues),
        cmocka_unit_test(test_unterminated),
        cmocka_unit_test(test_no_record),
        cmocka_unit_test(test_index_helps),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_attached),
#ifndef SPE_NO_ZSTD
        cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_compressed_damage),
        cmocka_unit_test(test_compressed_nonsense),
        cmocka_unit_test(test_compressed_bomb),
        cmocka_unit_test(test_compressed_bombs),
#endif
        cmocka_unit_test(test_failing_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
