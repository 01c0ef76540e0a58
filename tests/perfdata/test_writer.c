/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What is written is read again: records of every type, events, features, AUX bytes; at every
 * moment of the writing; and mistakes of the caller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../support/perfdata_files.h"
#include "format/state.h"

static struct spe_perf_reader *open_memory(const struct memory_file *file)
{
    struct spe_perf_reader *r;
    struct spe_perf_error error = {0};

    if (spe_perf_reader_open_memory(&r, file->bytes, file->size, 0, &error) < 0)
        print_message("%s at %llu\n", error.text, (unsigned long long)error.offset);
    assert_non_null(r);
    return r;
}

/* ---- Random records ------------------------------------------------------------------------- */

static const uint32_t types[] = {
    SPE_PERF_MMAP,         SPE_PERF_MMAP2,     SPE_PERF_COMM,
    SPE_PERF_EXIT,         SPE_PERF_FORK,      SPE_PERF_AUX,
    SPE_PERF_ITRACE_START, SPE_PERF_LOST,      SPE_PERF_LOST_SAMPLES,
    SPE_PERF_SWITCH,       SPE_PERF_THROTTLE,  SPE_PERF_SWITCH_CPU_WIDE,
    SPE_PERF_NAMESPACES,   SPE_PERF_KSYMBOL,   SPE_PERF_BPF,
    SPE_PERF_BUILD_ID,     SPE_PERF_CPU_MAP,   SPE_PERF_FINISHED_ROUND,
    SPE_PERF_UNTHROTTLE,   SPE_PERF_TEXT_POKE, 120,
};

struct text {
    char name[300];
    uint8_t bytes[512];
};

static void random_text(struct random *rng, char *text)
{
    size_t size = random_below(rng, random_chance(rng, 10) ? 299 : 20);

    for (size_t i = 0; i < size; i++)
        text[i] = (char)(1 + random_below(rng, 255));
    text[size] = 0;
}

static void random_view(struct random *rng, struct spe_perf_record *rec, struct text *text)
{
    uint8_t *view = (uint8_t *)&rec->mmap;

    for (size_t i = 0; i < sizeof(rec->mmap); i++)
        view[i] = (uint8_t)random_next(rng);
    switch (rec->type) {
    case SPE_PERF_MMAP:
    case SPE_PERF_MMAP2:
        rec->mmap.path = text->name;
        rec->mmap.id_size = random_chance(rng, 50) ? (uint8_t)(1 + random_below(rng, 20)) : 0;
        break;
    case SPE_PERF_COMM:
        rec->comm.name = text->name;
        break;
    case SPE_PERF_KSYMBOL:
        rec->ksymbol.name = text->name;
        break;
    case SPE_PERF_BUILD_ID:
        rec->build_id.path = text->name;
        rec->build_id.id_size = (uint8_t)random_below(rng, 21);
        break;
    case SPE_PERF_NAMESPACES:
        rec->namespaces.count = random_below(rng, 8);
        rec->namespaces.links = text->bytes;
        break;
    case SPE_PERF_AUX: /* not OVERWRITE, which has a meaning for the reader */
        rec->aux.flags &= ~(uint64_t)SPE_PERF_AUX_OVERWRITE;
        break;
    default:
        break;
    }
    rec->bytes = text->bytes;
    rec->size = 8 * random_below(rng, 60);
}

static void random_perf_record(struct random *rng, struct spe_perf_record *rec, struct text *text)
{
    memset(rec, 0, sizeof(*rec));
    for (size_t i = 0; i < sizeof(text->bytes); i++)
        text->bytes[i] = (uint8_t)random_next(rng);
    random_text(rng, text->name);
    rec->type = types[random_below(rng, sizeof(types) / sizeof(types[0]))];
    rec->misc = (uint16_t)random_next(rng);
    rec->event = rec->type < 64 ? (int)random_below(rng, 2) : -1;
    rec->id.pid = (uint32_t)random_next(rng);
    rec->id.tid = (uint32_t)random_next(rng);
    rec->id.time = random_next(rng);
    rec->id.cpu = random_below(rng, 8);
    rec->id.id = (rec->event ? 200 : 100) + random_below(rng, MACHINE_CPUS);
    random_view(rng, rec, text);
}

static void same_mmap(const struct spe_perf_record *a, const struct spe_perf_record *b)
{
    assert_int_equal(a->mmap.pid, b->mmap.pid);
    assert_int_equal(a->mmap.tid, b->mmap.tid);
    assert_true(a->mmap.start == b->mmap.start && a->mmap.length == b->mmap.length);
    assert_true(a->mmap.page_offset == b->mmap.page_offset);
    assert_string_equal(a->mmap.path, b->mmap.path);
    if (a->type == SPE_PERF_MMAP)
        return;
    assert_int_equal(a->mmap.protection, b->mmap.protection);
    assert_int_equal(a->mmap.flags, b->mmap.flags);
    assert_int_equal(a->mmap.id_size, b->mmap.id_size);
    if (a->mmap.id_size) {
        assert_memory_equal(a->mmap.id, b->mmap.id, a->mmap.id_size);
        assert_true(b->misc & SPE_PERF_MISC_MMAP_BUILD_ID);
        return;
    }
    assert_int_equal(a->mmap.major, b->mmap.major);
    assert_int_equal(a->mmap.minor, b->mmap.minor);
    assert_true(a->mmap.inode == b->mmap.inode);
    assert_true(a->mmap.inode_generation == b->mmap.inode_generation);
}

static void same_view(const struct spe_perf_record *a, const struct spe_perf_record *b)
{
    switch (a->type) {
    case SPE_PERF_MMAP:
    case SPE_PERF_MMAP2:
        same_mmap(a, b);
        break;
    case SPE_PERF_COMM:
        assert_int_equal(a->comm.pid, b->comm.pid);
        assert_int_equal(a->comm.tid, b->comm.tid);
        assert_string_equal(a->comm.name, b->comm.name);
        break;
    case SPE_PERF_FORK:
    case SPE_PERF_EXIT:
        assert_memory_equal(&a->task, &b->task, sizeof(a->task));
        break;
    case SPE_PERF_SWITCH_CPU_WIDE:
        assert_memory_equal(&a->switched, &b->switched, sizeof(a->switched));
        break;
    case SPE_PERF_ITRACE_START:
        assert_memory_equal(&a->thread, &b->thread, sizeof(a->thread));
        break;
    case SPE_PERF_AUX:
        assert_memory_equal(&a->aux, &b->aux, sizeof(a->aux));
        break;
    case SPE_PERF_LOST:
        assert_true(a->lost.id == b->lost.id);
        assert_true(a->lost.count == b->lost.count);
        break;
    case SPE_PERF_LOST_SAMPLES:
        assert_true(a->lost.count == b->lost.count);
        break;
    case SPE_PERF_THROTTLE:
    case SPE_PERF_UNTHROTTLE:
        assert_memory_equal(&a->throttle, &b->throttle, sizeof(a->throttle));
        break;
    case SPE_PERF_NAMESPACES:
        assert_true(a->namespaces.count == b->namespaces.count);
        assert_memory_equal(a->namespaces.links, b->namespaces.links, a->namespaces.count * 16);
        break;
    case SPE_PERF_KSYMBOL:
        assert_true(a->ksymbol.address == b->ksymbol.address);
        assert_int_equal(a->ksymbol.length, b->ksymbol.length);
        assert_int_equal(a->ksymbol.type, b->ksymbol.type);
        assert_int_equal(a->ksymbol.flags, b->ksymbol.flags);
        assert_string_equal(a->ksymbol.name, b->ksymbol.name);
        break;
    case SPE_PERF_BPF:
        assert_memory_equal(&a->bpf, &b->bpf, sizeof(a->bpf));
        break;
    case SPE_PERF_BUILD_ID:
        assert_int_equal(a->build_id.pid, b->build_id.pid);
        assert_int_equal(a->build_id.id_size, b->build_id.id_size);
        assert_memory_equal(a->build_id.id, b->build_id.id, a->build_id.id_size);
        assert_string_equal(a->build_id.path, b->build_id.path);
        break;
    default:
        break;
    }
}

static void same_perf_record(const struct spe_perf_record *a, const struct spe_perf_record *b)
{
    uint16_t change = a->type == SPE_PERF_MMAP2      ? SPE_PERF_MISC_MMAP_BUILD_ID
                      : a->type == SPE_PERF_BUILD_ID ? SPE_PERF_MISC_BUILD_ID_SIZE
                                                     : 0;
    bool raw = a->type == SPE_PERF_CPU_MAP || a->type == SPE_PERF_FINISHED_ROUND ||
               a->type == SPE_PERF_TEXT_POKE || a->type == 120;

    assert_int_equal(a->type, b->type);
    assert_int_equal(a->misc & ~change, b->misc & ~change);
    assert_int_equal(a->event, b->event);
    assert_int_equal(b->viewed, !raw);
    same_view(a, b);
    if (raw)
        assert_memory_equal(a->bytes, b->bytes + 8, a->size);
    if (a->event < 0)
        return;
    assert_int_equal(b->id.has, SPE_PERF_SAMPLE_TID | SPE_PERF_SAMPLE_TIME | SPE_PERF_SAMPLE_CPU |
                                    SPE_PERF_SAMPLE_ID);
    assert_int_equal(a->id.pid, b->id.pid);
    assert_int_equal(a->id.tid, b->id.tid);
    assert_int_equal(a->id.cpu, b->id.cpu);
    assert_true(a->id.time == b->id.time && a->id.id == b->id.id);
}

/* Write random records; returns the writer's result. */
static void write_random(struct spe_perf_writer *w, uint64_t seed, unsigned count)
{
    struct random rng = {seed};
    struct spe_perf_record rec;
    struct text text;

    for (unsigned i = 0; i < count; i++) {
        random_perf_record(&rng, &rec, &text);
        assert_int_equal(spe_perf_writer_record(w, &rec), SPE_OK);
    }
}

static void read_random(struct spe_perf_reader *r, uint64_t seed, unsigned count)
{
    struct random rng = {seed};
    struct spe_perf_record rec, got;
    struct text text;
    unsigned i = 0;

    while (spe_perf_reader_next(r, &got) == 1) {
        if (got.type == SPE_PERF_TIME_CONV || got.type == SPE_PERF_ID_INDEX ||
            got.type == SPE_PERF_AUXTRACE_INFO || got.type == SPE_PERF_HEADER_ATTR ||
            got.type == SPE_PERF_EVENT_UPDATE || got.type == SPE_PERF_HEADER_FEATURE)
            continue;
        if (i == count && got.type == SPE_PERF_FINISHED_ROUND)
            continue; /* the end of a complete pipe */
        random_perf_record(&rng, &rec, &text);
        same_perf_record(&rec, &got);
        i++;
    }
    assert_int_equal(i, count);
    assert_int_equal(spe_perf_reader_problem(r)->code, 0);
    assert_int_equal(spe_perf_reader_account(r)->malformed, 0);
    assert_true(perf_account_adds_up(spe_perf_reader_account(r)));
    assert_int_equal(spe_perf_reader_account(r)->skipped_bytes, 0);
}

static void random_records(unsigned flags)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct machine m = {0};
        struct memory_file file = {0};
        struct spe_perf_output output = memory_output(&file);
        struct spe_perf_writer *w;
        struct spe_perf_reader *r;

        assert_int_equal(spe_perf_writer_open_output(&w, &output, flags, NULL), SPE_OK);
        assert_int_equal(machine_events(&m, w), SPE_OK);
        assert_int_equal(machine_begin(w), SPE_OK);
        write_random(w, seed, 300);
        assert_int_equal(spe_perf_writer_finish(w), SPE_OK);
        spe_perf_writer_close(w);
        r = open_memory(&file);
        read_random(r, seed, 300);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

static void test_random_records(void **state)
{
    (void)state;
    random_records(0);
}

static void test_random_records_pipe(void **state)
{
    (void)state;
    random_records(SPE_PERF_WRITE_PIPE);
}

/* ---- Complete or not ------------------------------------------------------------------------ */

static bool reads_as_incomplete(const struct memory_file *file)
{
    struct spe_perf_reader *r = open_memory(file);
    struct spe_perf_record rec;
    char damage[200];
    bool incomplete;

    while (spe_perf_reader_next(r, &rec) == 1)
        continue;
    assert_false(spe_perf_reader_damage(r, damage, sizeof(damage)));
    incomplete = spe_perf_reader_info(r)->incomplete;
    spe_perf_reader_close(r);
    return incomplete;
}

/* A recorder that is killed leaves what was flushed; only one that finishes says so. */
static void complete(unsigned flags)
{
    struct machine m = {0};
    struct memory_file file = {0};
    struct spe_perf_output output = memory_output(&file);
    struct spe_perf_writer *w;

    assert_int_equal(spe_perf_writer_open_output(&w, &output, flags, NULL), SPE_OK);
    assert_int_equal(machine_events(&m, w), SPE_OK);
    assert_int_equal(machine_begin(w), SPE_OK);
    assert_true(reads_as_incomplete(&file));
    write_random(w, 2, 100); /* the last of these is not FINISHED_ROUND */
    assert_int_equal(spe_perf_writer_flush(w), SPE_OK);
    assert_true(reads_as_incomplete(&file));
    assert_int_equal(spe_perf_writer_finish(w), SPE_OK);
    assert_false(reads_as_incomplete(&file));
    if (!flags) {
        memset(file.bytes + 56, 0, 8); /* as perf writes it */
        assert_false(reads_as_incomplete(&file));
    }
    spe_perf_writer_close(w);
    memory_free(&file);
}

static void test_complete(void **state)
{
    (void)state;
    complete(0);
    complete(SPE_PERF_WRITE_PIPE);
}

/* ---- The machine ---------------------------------------------------------------------------- */

/* Decode all queues from their pieces and compare with what happened. */
struct decoded {
    uint64_t records, sum_pc, sum_ns, bytes, skipped;
    uint64_t records_of[MACHINE_THREADS];
};

static void decode_items(struct spe_stream *s, const struct spe_perf_time_conv *tc,
                         struct decoded *d)
{
    struct spe_item item;
    struct spe_record rec;

    while (spe_stream_next(s, &item, &rec) != SPE_ITEM_NONE) {
        if (item.type == SPE_ITEM_SKIPPED) {
            d->skipped += item.size;
            continue;
        }
        d->records++;
        d->sum_pc += spe_address_canonical(SPE_ADDRESS_PC, rec.address[SPE_ADDRESS_PC]);
        d->sum_ns += spe_perf_time_to_ns(tc, rec.timestamp);
        for (unsigned t = 0; t < MACHINE_THREADS; t++)
            d->records_of[t] += rec.context[0] == machine_tid(t);
    }
}

static void decode_queue(struct spe_perf_reader *r, const struct spe_perf_queue *q,
                         struct decoded *d)
{
    struct spe_stream s;
    uint8_t buffer[1000];

    spe_stream_init(&s, 0);
    for (size_t i = 0; i < q->piece_count; i++) {
        const struct spe_perf_piece *p = &q->pieces[i];
        const uint8_t *bytes;
        int64_t n;

        assert_int_equal(p->flags, 0);
        for (uint64_t at = 0;
             (n = spe_perf_piece_read(r, p, at, buffer, sizeof(buffer), &bytes)) > 0;
             at += (uint64_t)n) {
            d->bytes += (uint64_t)n;
            assert_int_equal(spe_stream_feed(&s, bytes, (size_t)n), SPE_OK);
            decode_items(&s, spe_perf_reader_time_conv(r), d);
        }
        assert_int_equal(n, 0);
    }
    spe_stream_end(&s);
    decode_items(&s, spe_perf_reader_time_conv(r), d);
}

static void check_decoded(const struct machine *m, const struct decoded *d)
{
    assert_int_equal(d->skipped, 0);
    assert_int_equal(d->records, m->records);
    assert_true(d->sum_pc == m->sum_pc);
    assert_true(d->sum_ns == m->sum_ns);
    assert_memory_equal(d->records_of, m->records_of, sizeof(m->records_of));
}

static void check_features(const struct spe_perf_reader *r)
{
    const struct spe_perf_features *f = spe_perf_reader_features(r);

    assert_string_equal(f->hostname, "machine");
    assert_string_equal(f->osrelease, "6.12.0");
    assert_string_equal(f->version, "0.1");
    assert_string_equal(f->arch, "aarch64");
    assert_string_equal(f->cpudesc, "Neoverse-N1");
    assert_string_equal(f->cpuid, "0x00000000413fd0c1");
    assert_int_equal(f->cpus_available, 8);
    assert_int_equal(f->cpus_online, 8);
    assert_int_equal(f->total_mem_kb, 16000000);
    assert_int_equal(f->command_count, 4);
    assert_string_equal(f->command[3], "./prog");
    assert_int_equal(f->numa_count, 2);
    assert_string_equal(f->numa[1].cpus, "4-7");
    assert_int_equal(f->numa[1].total_kb, 8000000);
    assert_int_equal(f->mem_count, 2);
    assert_int_equal(f->mem_block_size, 128 << 20);
    assert_int_equal(f->mem[1].bits, 16);
    assert_int_equal(f->mem[1].set[0], 0xff00);
    assert_int_equal(f->pmu_count, 2);
    assert_string_equal(f->pmus[1].name, "arm_spe_0");
    assert_int_equal(f->first_sample_ns, 6000000000);
    assert_int_equal(f->last_sample_ns, 7000000000);
}

static void check_build_ids(const struct spe_perf_reader *r)
{
    const struct spe_perf_features *f = spe_perf_reader_features(r);

    assert_int_equal(f->build_id_count, 3);
    assert_int_equal(f->build_ids[0].pid, -1);
    assert_string_equal(f->build_ids[2].path, "/opt/lib.so");
    assert_int_equal(f->build_ids[2].id_size, 16);
    assert_int_equal(f->build_ids[2].id[0], 7);
    assert_int_equal(f->build_ids[1].misc & SPE_PERF_MISC_CPUMODE, SPE_PERF_MISC_USER);
}

static void check_events(const struct spe_perf_reader *r)
{
    const struct spe_perf_event *spe = spe_perf_reader_event(r, 0);

    assert_int_equal(spe_perf_reader_event_count(r), 2);
    assert_null(spe_perf_reader_event(r, 2));
    assert_int_equal(spe->type, MACHINE_PMU);
    assert_int_equal(spe->attr_size, 128);
    assert_int_equal(spe->period, 4096);
    assert_int_equal(spe->id_count, 8);
    assert_int_equal(spe->ids[7], 107);
    assert_string_equal(spe->name, "arm_spe_0//");
    assert_string_equal(spe_perf_reader_event(r, 1)->name, "dummy:u");
    assert_int_equal(spe_perf_reader_event_by_id(r, 203), 1);
    assert_int_equal(spe_perf_reader_event_by_id(r, 99), SPE_ERR_UNKNOWN);
    assert_true(spe_perf_reader_is_spe(r, 0));
    assert_false(spe_perf_reader_is_spe(r, 1));
    assert_int_equal(spe_perf_reader_metadata(r)->version, 2);
    assert_int_equal(spe_perf_reader_metadata(r)->word, MACHINE_PMU);
    assert_int_equal(spe_perf_reader_metadata(r)->cpu_count, 8);
    assert_int_equal(spe_perf_reader_metadata(r)->cpus[3].event_filter, 0xffe);
    assert_int_equal(spe_perf_reader_midr(r, 5), MACHINE_MIDR);
    assert_int_equal(spe_perf_reader_midr(r, 8), 0);
    assert_int_equal(spe_perf_reader_midr(r, UINT32_MAX), MACHINE_MIDR);
}

static void check_account(const struct machine *m, const struct spe_perf_account *a)
{
    assert_true(perf_account_adds_up(a));
    assert_int_equal(a->skipped_bytes, 0);
    assert_int_equal(a->missing_bytes, 0);
    assert_int_equal(a->malformed, 0);
    assert_int_equal(a->records_by[SPE_PERF_AUXTRACE], m->pieces);
    assert_int_equal(a->records_by[SPE_PERF_AUX], MACHINE_CPUS * MACHINE_SLICES);
    assert_int_equal(a->aux_truncated, MACHINE_CPUS);
    assert_int_equal(a->aux_partial, MACHINE_CPUS);
    assert_int_equal(a->aux_collision, MACHINE_CPUS);
    assert_int_equal(a->records_by[SPE_PERF_FORK], MACHINE_THREADS - 1);
    assert_int_equal(a->records_by[SPE_PERF_SWITCH_CPU_WIDE], 2 * MACHINE_CPUS * MACHINE_SLICES);
}

static void machine_file(struct machine m, unsigned reader_flags, bool path)
{
    struct memory_file file = {0};
    struct spe_perf_reader *r;
    struct spe_perf_record rec;
    struct decoded d = {0};
    char name[] = "/tmp/spe-perfdata-XXXXXX";
    int fd = -1;

    assert_int_equal(machine_make(&m, &file, true), SPE_OK);
    if (path) {
        fd = mkstemp(name);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, file.bytes, file.size), (ssize_t)file.size);
        assert_int_equal(spe_perf_reader_open(&r, name, reader_flags, NULL), SPE_OK);
    } else {
        r = open_memory(&file);
    }
    assert_int_equal(spe_perf_reader_info(r)->pipe, m.pipe);
    assert_true(spe_perf_reader_info(r)->seekable);
    assert_int_equal(spe_perf_reader_info(r)->mapped, !(reader_flags & SPE_PERF_NO_MAP));
    while (spe_perf_reader_next(r, &rec) == 1)
        ;
    assert_int_equal(spe_perf_reader_problem(r)->code, 0);
    check_features(r);
    if (!m.pipe)
        check_build_ids(r);
    check_events(r);
    check_account(&m, spe_perf_reader_account(r));
    assert_int_equal(spe_perf_reader_account(r)->index_entries, m.pipe ? 0 : m.pieces);
    assert_int_equal(spe_perf_reader_account(r)->index_found, m.pipe ? 0 : m.pieces);
    assert_int_equal(spe_perf_reader_queue_count(r), MACHINE_CPUS);
    for (size_t i = 0; i < MACHINE_CPUS; i++) {
        assert_int_equal(spe_perf_reader_queue(r, i)->cpu, i);
        decode_queue(r, spe_perf_reader_queue(r, i), &d);
    }
    check_decoded(&m, &d);
    assert_in_range(d.bytes - m.aux_bytes, 0, 7 * MACHINE_CPUS); /* filling at the very end */
    spe_perf_reader_close(r);
    memory_free(&file);
    if (path) {
        close(fd);
        unlink(name);
    }
}

static void test_machine(void **state)
{
    (void)state;
    machine_file((struct machine){.records_per_slice = 50}, 0, false);
    machine_file((struct machine){.records_per_slice = 50}, 0, true);
    machine_file((struct machine){.records_per_slice = 50}, SPE_PERF_NO_MAP, true);
    machine_file((struct machine){.records_per_slice = 50, .cut_anywhere = true}, 0, false);
    machine_file((struct machine){.records_per_slice = 50, .pipe = true}, SPE_PERF_NO_MAP, true);
    machine_file((struct machine){.records_per_slice = 47, .cut_anywhere = true, .pipe = true}, 0,
                 false);
    /* More than a window and a writer's buffer. */
    machine_file((struct machine){.records_per_slice = 30000, .cut_anywhere = true},
                 SPE_PERF_NO_MAP, true);
}

/* The same from a stream, in chunks, one decoder a queue. */
static void machine_stream(struct machine m, size_t most)
{
    static struct spe_stream streams[MACHINE_CPUS];
    struct memory_file file = {0};
    struct spe_perf_reader *r;
    struct spe_perf_record rec;
    struct decoded d = {0};
    struct dribble dribble;
    struct spe_perf_input input = {dribble_read, &dribble};
    const uint8_t *bytes;
    size_t size;

    assert_int_equal(machine_make(&m, &file, false), SPE_OK);
    dribble = (struct dribble){file.bytes, file.size, 0, most};
    assert_int_equal(spe_perf_reader_open_input(&r, &input, 0, NULL), SPE_OK);
    assert_false(spe_perf_reader_info(r)->seekable);
    for (unsigned i = 0; i < MACHINE_CPUS; i++)
        spe_stream_init(&streams[i], 0);
    while (spe_perf_reader_next(r, &rec) == 1) {
        while (rec.type == SPE_PERF_AUXTRACE && spe_perf_reader_aux(r, &bytes, &size) == 1) {
            assert_true(size > 0);
            d.bytes += size;
            assert_int_equal(rec.auxtrace.flags, 0);
            assert_int_equal(spe_stream_feed(&streams[rec.auxtrace.idx], bytes, size), SPE_OK);
            decode_items(&streams[rec.auxtrace.idx], spe_perf_reader_time_conv(r), &d);
        }
    }
    for (unsigned i = 0; i < MACHINE_CPUS; i++) {
        static const uint8_t zeros[8];

        assert_int_equal(spe_perf_reader_queue(r, i)->idx, i);
        size = spe_perf_reader_queue(r, i)->held;
        d.bytes += size;
        assert_int_equal(spe_stream_feed(&streams[i], zeros, size), SPE_OK);
        decode_items(&streams[i], spe_perf_reader_time_conv(r), &d);
        spe_stream_end(&streams[i]);
        decode_items(&streams[i], spe_perf_reader_time_conv(r), &d);
        assert_null(spe_perf_reader_queue(r, i)->pieces);
    }
    assert_int_equal(spe_perf_reader_problem(r)->code, 0);
    assert_true(d.bytes == spe_perf_reader_account(r)->aux_bytes);
    check_decoded(&m, &d);
    check_features(r);
    check_events(r);
    check_account(&m, spe_perf_reader_account(r));
    assert_int_equal(spe_perf_reader_info(r)->size, file.size);
    spe_perf_reader_close(r);
    memory_free(&file);
}

static void test_machine_stream(void **state)
{
    (void)state;
    machine_stream((struct machine){.records_per_slice = 50, .pipe = true}, 1);
    machine_stream((struct machine){.records_per_slice = 50, .cut_anywhere = true}, 7);
    machine_stream((struct machine){.records_per_slice = 50, .cut_anywhere = true, .pipe = true},
                   4096);
    machine_stream((struct machine){.records_per_slice = 20000, .cut_anywhere = true, .pipe = true},
                   1 << 20);
}

/* ---- Killed --------------------------------------------------------------------------------- */

/* Records that can be read, and no damage among them. */
static uint64_t count_records(const struct memory_file *file, bool *features)
{
    struct spe_perf_reader *r = open_memory(file);
    struct spe_perf_record rec;
    uint64_t count = 0;

    while (spe_perf_reader_next(r, &rec) == 1)
        count++;
    assert_int_equal(spe_perf_reader_account(r)->skipped_bytes, 0);
    assert_int_equal(spe_perf_reader_account(r)->missing_bytes, 0);
    assert_true(perf_account_adds_up(spe_perf_reader_account(r)));
    *features = spe_perf_reader_features(r)->arch != NULL;
    if (*features) {
        check_features(r);
        assert_int_equal(spe_perf_reader_account(r)->index_entries,
                         spe_perf_reader_account(r)->index_found);
        assert_int_equal(spe_perf_reader_account(r)->index_entries,
                         spe_perf_reader_account(r)->records_by[SPE_PERF_AUXTRACE]);
    }
    spe_perf_reader_close(r);
    return count;
}

/* After every write: the file is good, has never less in it than after the flush before, and after
 * a flush everything. */
static void test_every_kill(void **state)
{
    struct machine whole = {.records_per_slice = 5};
    struct memory_file file = {0};
    uint64_t last = 0, all;
    unsigned writes, with_features = 0;
    bool features;

    (void)state;
    assert_int_equal(machine_make(&whole, &file, true), SPE_OK);
    writes = file.writes;
    all = count_records(&file, &features);
    assert_true(features);
    memory_free(&file);
    assert_true(writes > 3 * MACHINE_SLICES);
    for (unsigned stop = 3; stop <= writes; stop++) { /* the first flush takes three */
        struct machine m = {.records_per_slice = 5};
        uint64_t count;

        file.stop_after = stop;
        assert_int_equal(machine_make(&m, &file, true), SPE_OK);
        count = count_records(&file, &features);
        assert_true(count >= last && count <= all);
        last = count;
        with_features += features;
        memory_free(&file);
    }
    assert_int_equal(last, all);
    assert_true(with_features > MACHINE_SLICES);
}

/* Features that change while the data does not: the old ones, the new ones, or none. */
static void test_features_change(void **state)
{
    (void)state;
    for (unsigned stop = 3; stop < 9; stop++) {
        struct machine m = {0};
        struct memory_file file = {.stop_after = stop};
        struct spe_perf_output output = memory_output(&file);
        struct spe_perf_features other = {.arch = "aarch64", .hostname = "another machine"};
        struct spe_perf_writer *w;
        struct spe_perf_reader *r;
        const char *hostname;

        assert_int_equal(spe_perf_writer_open_output(&w, &output, 0, NULL), SPE_OK);
        assert_int_equal(machine_events(&m, w), SPE_OK);
        assert_int_equal(machine_features(w), SPE_OK);
        assert_int_equal(machine_begin(w), SPE_OK);
        assert_int_equal(spe_perf_writer_features(w, &other), SPE_OK);
        assert_int_equal(spe_perf_writer_finish(w), SPE_OK);
        spe_perf_writer_close(w);
        r = open_memory(&file);
        assert_int_equal(spe_perf_reader_problem(r)->code, 0);
        hostname = spe_perf_reader_features(r)->hostname;
        if (stop == 3)
            check_features(r);
        else if (stop >= 6)
            assert_string_equal(hostname, "another machine");
        else
            assert_null(hostname);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

/* Without flush nothing is lost that was flushed, and destroy does not finish. */
static void test_not_finished(void **state)
{
    struct machine m = {.records_per_slice = 5};
    struct memory_file file = {0};
    struct spe_perf_output output = memory_output(&file);
    struct spe_perf_writer *w;
    bool features;

    (void)state;
    assert_int_equal(spe_perf_writer_open_output(&w, &output, 0, NULL), SPE_OK);
    assert_int_equal(machine_events(&m, w), SPE_OK);
    assert_int_equal(machine_begin(w), SPE_OK);
    assert_int_equal(machine_run(&m, w, false), SPE_OK);
    assert_true(spe_perf_writer_size(w) > file.size);
    spe_perf_writer_close(w);
    assert_int_equal(count_records(&file, &features), 3);
    memory_free(&file);
}

/* A disk that is full: the error is the same from then on. */
static void test_full_disk(void **state)
{
    (void)state;
    for (unsigned stop = 1; stop < 20; stop++) {
        struct machine m = {.records_per_slice = 5};
        struct memory_file file = {.stop_after = stop, .fails = true};
        struct spe_perf_output output = memory_output(&file);
        struct spe_perf_writer *w;

        assert_int_equal(spe_perf_writer_open_output(&w, &output, 0, NULL), SPE_OK);
        assert_int_equal(machine_write(&m, w, true), SPE_ERR_IO);
        assert_int_equal(spe_perf_writer_problem(w)->code, SPE_ERR_IO);
        assert_int_equal(spe_perf_writer_flush(w), SPE_ERR_IO);
        assert_int_equal(spe_perf_writer_finish(w), SPE_ERR_IO);
        spe_perf_writer_close(w);
        memory_free(&file);
    }
}

/* Wherever the disk is full: all that was flushed is there, with its features, and not complete. */
static void test_little_room(void **state)
{
    struct machine whole = {.records_per_slice = 5};
    struct memory_file file = {0};
    uint64_t last = 0, all;
    size_t size, start;
    bool features;

    (void)state;
    file.stop_after = 3; /* the first flush */
    assert_int_equal(machine_make(&whole, &file, true), SPE_OK);
    start = file.size;
    memory_free(&file);
    whole = (struct machine){.records_per_slice = 5};
    assert_int_equal(machine_make(&whole, &file, true), SPE_OK);
    size = file.size;
    all = count_records(&file, &features);
    memory_free(&file);
    for (size_t room = start; room < size; room += 1 + (size - start) / 500) {
        struct machine m = {.records_per_slice = 5};
        struct spe_perf_reader *r;
        uint64_t count;

        file.room = room;
        assert_int_equal(machine_make(&m, &file, true), SPE_ERR_IO);
        assert_true(file.size <= room);
        count = count_records(&file, &features);
        assert_true(features);
        assert_true(count >= last && count < all);
        last = count;
        r = open_memory(&file);
        assert_true(spe_perf_reader_info(r)->incomplete);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
    assert_true(last > all / 2);
}

/* ---- Mistakes ------------------------------------------------------------------------------- */

static void test_mistakes(void **state)
{
    struct machine m = {0};
    struct memory_file file = {0};
    struct spe_perf_output output = memory_output(&file);
    struct spe_perf_writer *w;
    struct spe_perf_event event;
    struct spe_perf_record rec = {.type = SPE_PERF_COMM, .event = 0};
    struct spe_perf_metadata metadata = {.pmu_type = 8};
    struct spe_perf_start start = {.size = sizeof(start), .metadata = &metadata};
    struct spe_perf_build_id id = {.path = "x", .id_size = 21};
    struct spe_perf_auxtrace piece = {0};
    uint64_t ids[2] = {100, 0};
    char *long_name = calloc(1, 70000);

    (void)state;
    memset(long_name, 'x', 69999);
    assert_int_equal(spe_perf_writer_open_output(&w, &output, 0, NULL), SPE_OK);
    assert_int_equal(spe_perf_writer_begin(w, &start), SPE_ERR_INVALID); /* no events */
    assert_int_equal(machine_events(&m, w), SPE_OK);
    spe_perf_event_init_spe(&event, 9, 0);
    event.ids = ids;
    event.id_count = 1;
    assert_int_equal(spe_perf_writer_event(w, &event), SPE_ERR_INVALID); /* ID 100 is taken */
    event.ids = ids + 1;
    assert_int_equal(spe_perf_writer_event(w, &event), SPE_ERR_INVALID); /* 0 is not an ID */
    event.attr_size = 32;
    event.id_count = 0;
    assert_int_equal(spe_perf_writer_event(w, &event), SPE_ERR_INVALID);
    assert_int_equal(spe_perf_writer_record(w, &rec), SPE_ERR_INVALID); /* not begun */
    assert_int_equal(spe_perf_writer_aux(w, &piece, "", 0), SPE_ERR_INVALID);
    assert_int_equal(spe_perf_writer_flush(w), SPE_ERR_INVALID);
    assert_int_equal(spe_perf_writer_begin(w, &start), SPE_ERR_INVALID); /* time, no TIME_CONV */
    start.size = 8;
    assert_int_equal(spe_perf_writer_begin(w, &start), SPE_ERR_INVALID);
    assert_int_equal(machine_begin(w), SPE_OK);
    assert_int_equal(spe_perf_writer_event(w, &event), SPE_ERR_INVALID); /* too late */
    assert_int_equal(spe_perf_writer_record(w, &rec), SPE_ERR_INVALID);  /* no name */
    rec.comm.name = "name";
    rec.event = 2;
    assert_int_equal(spe_perf_writer_record(w, &rec), SPE_ERR_INVALID);
    rec.event = 1;
    rec.comm.name = long_name;
    assert_int_equal(spe_perf_writer_record(w, &rec), SPE_ERR_SIZE);
    rec.comm.name = "name";
    rec.type = SPE_PERF_AUXTRACE;
    assert_int_equal(spe_perf_writer_record(w, &rec), SPE_ERR_INVALID);
    assert_int_equal(spe_perf_writer_build_id(w, &id), SPE_ERR_INVALID);
    id.id_size = 20;
    id.path = long_name;
    assert_int_equal(spe_perf_writer_build_id(w, &id), SPE_ERR_INVALID);
    rec.type = SPE_PERF_COMM;
    assert_int_equal(spe_perf_writer_record(w, &rec), SPE_OK); /* none of this did harm */
    assert_int_equal(spe_perf_writer_finish(w), SPE_OK);
    assert_int_equal(spe_perf_writer_record(w, &rec), SPE_ERR_INVALID);
    spe_perf_writer_close(w);
    spe_perf_writer_close(NULL);
    assert_int_equal(spe_perf_writer_open(&w, "/nonexistent/file", 0, NULL), SPE_ERR_IO);
    assert_null(w);
    free(long_name);
    memory_free(&file);
}

/* A pipe cannot take a file whose header is written again. */
static void test_pipe_needs_pipe_form(void **state)
{
    struct spe_perf_writer *w;
    struct spe_perf_error error;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(spe_perf_writer_open_fd(&w, ends[1], 0, &error), SPE_ERR_INVALID);
    assert_non_null(strstr(error.text, "pipe"));
    close(ends[0]);
    close(ends[1]);
}

/* ---- Forms ---------------------------------------------------------------------------------- */

/* The smallest attributes that will do, so that old perfs read the file. */
static void test_attr_sizes(void **state)
{
    static const struct {
        uint64_t config3, config4;
        uint32_t size;
    } sizes[] = {{0, 0, 128}, {1, 0, 136}, {0, 1, 144}, {1, 1, 144}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct memory_file file = {0};
        struct spe_perf_output output = memory_output(&file);
        struct spe_perf_writer *w;
        struct spe_perf_reader *r;
        struct spe_perf_event event;
        struct spe_perf_metadata metadata = {.pmu_type = 8};
        struct spe_perf_start start = {.size = sizeof(start), .metadata = &metadata};

        assert_int_equal(spe_perf_writer_open_output(&w, &output, 0, NULL), SPE_OK);
        spe_perf_event_init_spe(&event, 8, SPE_PERF_TIMELESS);
        event.config1 = 11;
        event.config2 = 22;
        event.config3 = sizes[i].config3;
        event.config4 = sizes[i].config4;
        event.clockid = 4;
        assert_int_equal(spe_perf_writer_event(w, &event), 0);
        spe_perf_event_init_tracking(&event, SPE_PERF_TIMELESS);
        assert_int_equal(spe_perf_writer_event(w, &event), 1);
        assert_int_equal(spe_perf_writer_begin(w, &start), SPE_OK);
        assert_int_equal(spe_perf_writer_finish(w), SPE_OK);
        spe_perf_writer_close(w);
        r = open_memory(&file);
        assert_int_equal(spe_perf_reader_event(r, 0)->attr_size, sizes[i].size);
        assert_int_equal(spe_perf_reader_event(r, 1)->attr_size, 128);
        assert_int_equal(spe_perf_reader_event(r, 0)->config1, 11);
        assert_int_equal(spe_perf_reader_event(r, 0)->config2, 22);
        assert_int_equal(spe_perf_reader_event(r, 0)->config3, sizes[i].config3);
        assert_int_equal(spe_perf_reader_event(r, 0)->config4, sizes[i].config4);
        assert_int_equal(spe_perf_reader_event(r, 0)->clockid, 4);
        assert_string_equal(spe_perf_reader_event(r, 1)->name, "dummy:u");
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

/* TIME_CONV comes before AUXTRACE_INFO, or perf divides by zero; too many CPUs: version 1. */
static void test_first_records(void **state)
{
    static struct spe_perf_cpu cpus[1200];

    (void)state;
    for (unsigned i = 0; i < 1200; i++)
        cpus[i] = (struct spe_perf_cpu){i, 8, 1, 1, 0, false};
    for (size_t count = 1168; count <= 1170; count++) {
        struct machine m = {0};
        struct memory_file file = {0};
        struct spe_perf_output output = memory_output(&file);
        struct spe_perf_writer *w;
        struct spe_perf_reader *r;
        struct spe_perf_record rec;
        struct spe_perf_time_conv tc;
        struct spe_perf_metadata metadata = {.pmu_type = 8, .cpus = cpus, .cpu_count = count};
        struct spe_perf_start start = {sizeof(start), &tc, &metadata, NULL, 0};

        machine_time(&tc);
        assert_int_equal(spe_perf_writer_open_output(&w, &output, 0, NULL), SPE_OK);
        assert_int_equal(machine_events(&m, w), SPE_OK);
        assert_int_equal(spe_perf_writer_begin(w, &start), SPE_OK);
        assert_int_equal(spe_perf_writer_finish(w), SPE_OK);
        spe_perf_writer_close(w);
        r = open_memory(&file);
        assert_int_equal(spe_perf_reader_next(r, &rec), 1);
        assert_int_equal(rec.type, SPE_PERF_TIME_CONV);
        assert_memory_equal(&rec.time_conv.mult, &tc.mult, 8);
        assert_int_equal(spe_perf_reader_next(r, &rec), 1);
        assert_int_equal(rec.type, SPE_PERF_AUXTRACE_INFO);
        assert_int_equal(spe_perf_reader_metadata(r)->version, count <= 1169 ? 2 : 1);
        assert_int_equal(spe_perf_reader_metadata(r)->pmu_type, 8);
        assert_int_equal(spe_perf_reader_metadata(r)->cpu_count, count <= 1169 ? count : 0);
        assert_int_equal(spe_perf_reader_next(r, &rec), 0);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_records),  cmocka_unit_test(test_random_records_pipe),
        cmocka_unit_test(test_complete),        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_machine_stream),  cmocka_unit_test(test_every_kill),
        cmocka_unit_test(test_features_change), cmocka_unit_test(test_not_finished),
        cmocka_unit_test(test_full_disk),       cmocka_unit_test(test_little_room),
        cmocka_unit_test(test_mistakes),        cmocka_unit_test(test_pipe_needs_pipe_form),
        cmocka_unit_test(test_attr_sizes),      cmocka_unit_test(test_first_records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
