/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The perf of this machine as the judge, both ways: its commands read what the writer makes and
 * find the same records, threads, times and addresses; and what it records is read with the counts
 * that it reports itself. SPE_PERF may name another perf (a command line).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../support/perfdata_files.h"

static char dir[] = "/tmp/spe-perf-XXXXXX"; /* the only state: where the files of this run are */

static const char *perf(void)
{
    const char *named = getenv("SPE_PERF");

    return named && *named ? named : "perf";
}

/* What a command of perf prints, both streams; it has to succeed if `good`. %s is the directory. */
__attribute__((format(printf, 2, 3))) static char *run(bool good, const char *format, ...)
{
    struct memory_file text = {0};
    char command[4096], bytes[4096];
    /* perf c2c asks addr2line about a program that is not there, and dies of the broken pipe. */
    int n = snprintf(command, sizeof(command), "trap '' PIPE; cd %s; export HOME=%s; ", dir, dir);
    size_t got;
    va_list args;
    FILE *f;
    int status;

    va_start(args, format);
    vsnprintf(command + n, sizeof(command) - (size_t)n, format, args);
    va_end(args);
    f = popen(command, "r");
    assert_non_null(f);
    while ((got = fread(bytes, 1, sizeof(bytes), f)) > 0)
        hand_put(&text, bytes, got);
    status = pclose(f);
    hand_put(&text, "", 1);
    if (good && status != 0)
        print_message("%s\n%s\n", command, (char *)text.bytes);
    assert_true(!good || status == 0);
    return (char *)text.bytes;
}

static uint64_t count(const char *text, const char *what)
{
    uint64_t n = 0;

    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

/* The number behind the first place of `what`, or UINT64_MAX. */
static uint64_t number_after(const char *text, const char *what)
{
    const char *at = strstr(text, what);

    return at ? strtoull(at + strlen(what), NULL, 10) : UINT64_MAX;
}

static void save(const char *name, const void *bytes, size_t size)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static struct machine make(const char *name, struct machine m)
{
    struct memory_file file = {0};

    assert_int_equal(machine_make(&m, &file, true), SPE_OK);
    save(name, file.bytes, file.size);
    memory_free(&file);
    return m;
}

/* ---- What we write -------------------------------------------------------------------------- */

/* Samples of `perf script -F tid,time,ip --ns`: "1005 6.000000164: d9525c ..." */
struct samples {
    uint64_t count, sum_ip, sum_ns, other;
    uint64_t count_of[MACHINE_THREADS];
};

static void add_sample(struct samples *s, unsigned tid, uint64_t ns, uint64_t ip)
{
    unsigned known = 0;

    s->count++;
    s->sum_ip += ip;
    s->sum_ns += ns;
    for (unsigned t = 0; t < MACHINE_THREADS; t++) {
        s->count_of[t] += machine_tid(t) == tid;
        known += machine_tid(t) == tid;
    }
    s->other += !known;
}

static struct samples parse_samples(char *text)
{
    struct samples s = {0};

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        unsigned long long seconds, ns, ip;
        unsigned tid;

        if (sscanf(line, "%u %llu.%9llu: %llx", &tid, &seconds, &ns, &ip) == 4)
            add_sample(&s, tid, seconds * 1000000000 + ns, ip);
    }
    free(text);
    return s;
}

static void test_script(void **state)
{
    struct machine m = make("m.data", (struct machine){.records_per_slice = 400});
    struct samples s;
    char *text;

    (void)state;
    s = parse_samples(
        run(true, "%s script -i m.data --itrace=i1i -F tid,time,ip --ns 2>/dev/null", perf()));
    assert_int_equal(s.count, m.records);
    assert_int_equal(s.other, 0);
    assert_memory_equal(s.count_of, m.records_of, sizeof(m.records_of));
    assert_true(s.sum_ip == m.sum_pc);
    assert_true(s.sum_ns == m.sum_ns);

    text = run(true, "%s script -i m.data --itrace=i1i -F comm,ip,dso 2>&1", perf());
    assert_int_equal(count(text, "/opt/prog"), m.records); /* all have a map, the child's too */
    assert_int_equal(count(text, "child"), m.records_of[10]);
    assert_non_null(strstr(text, "AUX data lost 8 times out of 48"));
    assert_non_null(strstr(text, "AUX data had gaps in it 8 times out of 48"));
    assert_null(strstr(text, "incompatible"));
    free(text);

    text = run(true, "%s script -i m.data --itrace=M -F tid 2>/dev/null", perf());
    assert_int_equal(count(text, "\n"), m.loads_stores);
    free(text);
}

static void test_dump(void **state)
{
    struct machine m = make("m.data", (struct machine){.records_per_slice = 40});
    char *text = run(true, "%s script -D -i m.data 2>/dev/null", perf());

    (void)state;
    assert_int_equal(count(text, "PERF_RECORD_AUXTRACE size"), m.pieces);
    assert_int_equal(count(text, " TS "), m.records);
    assert_int_equal(count(text, "Bad packet"), 0);
    assert_int_equal(count(text, "PERF_RECORD_FORK("), MACHINE_THREADS - 1);
    assert_int_equal(count(text, "PERF_RECORD_AUX "), MACHINE_CPUS * MACHINE_SLICES);
    assert_int_equal(count(text, "PERF_RECORD_SWITCH_CPU_WIDE"), 2 * MACHINE_CPUS * MACHINE_SLICES);
    assert_int_equal(count(text, "PERF_RECORD_COMM exec: prog:1000/1000"), 1);
    free(text);
}

/* The number in a line of a table behind its columns of percents (one, or two by perf 7), or 0. */
static uint64_t line_samples(const char *line)
{
    char *end;

    strtod(line, &end);
    if (end == line || *end != '%')
        return 0;
    for (const char *at = end + 1;; at = end + 1) {
        double number = strtod(at, &end);

        if (end == at || *end != '%')
            return (uint64_t)number;
    }
}

/* The "Samples" column of one event's table. */
static uint64_t table_samples(const char *text, const char *event)
{
    char head[64];
    const char *at;
    uint64_t sum = 0;

    snprintf(head, sizeof(head), "of event '%s'", event);
    at = strstr(text, head);
    assert_non_null(at);
    while ((at = strchr(at, '\n')) && strncmp(++at, "# Samples:", 10) != 0)
        sum += line_samples(at);
    return sum;
}

static void test_reports(void **state)
{
    struct machine m = make("m.data", (struct machine){.records_per_slice = 100});
    char *text;

    (void)state;
    text = run(true, "%s report --stdio -i m.data --itrace=i1i 2>/dev/null", perf());
    assert_int_equal(number_after(text, "Event count (approx.): "), m.records);
    free(text);
    text = run(true, "%s mem report --stdio --sort=mem -i m.data 2>/dev/null", perf());
    assert_int_equal(table_samples(text, "memory"), m.loads_stores);
    free(text);
    text = run(true, "%s c2c report --stdio -i m.data 2>/dev/null", perf());
    assert_int_equal(number_after(text, "Total records                     :"), m.loads_stores);
    free(text);
}

static void test_inject(void **state)
{
    struct machine m = make("m.data", (struct machine){.records_per_slice = 100});
    struct spe_perf_reader *r;
    struct spe_perf_record rec;
    char path[256], *text;
    uint64_t samples = 0, sum_ip = 0, sum_ns = 0;

    (void)state;
    text = run(true, "%s inject -i m.data -o inject.data --itrace=i1i --strip 2>&1", perf());
    free(text);
    text = run(true, "%s script -i inject.data -F tid 2>/dev/null", perf());
    assert_int_equal(count(text, "\n"), m.records);
    free(text);
    /* perf's own file, with the samples in it, is read by us, too. */
    snprintf(path, sizeof(path), "%s/inject.data", dir);
    assert_int_equal(spe_perf_reader_open(&r, path, 0, NULL), SPE_OK);
    while (spe_perf_reader_next(r, &rec) == 1)
        if (rec.type == SPE_PERF_SAMPLE && rec.viewed) {
            samples++;
            sum_ip += rec.sample.ip;
            sum_ns += rec.id.time;
        }
    assert_int_equal(samples, m.records);
    assert_true(sum_ip == m.sum_pc);
    assert_true(sum_ns == m.sum_ns);
    assert_true(perf_account_adds_up(spe_perf_reader_account(r)));
    assert_int_equal(spe_perf_reader_account(r)->skipped_bytes, 0);
    spe_perf_reader_close(r);
}

static void test_header(void **state)
{
    char *text;

    (void)state;
    make("m.data", (struct machine){.records_per_slice = 10});
    text = run(true, "%s buildid-list -i m.data 2>/dev/null", perf());
    assert_int_equal(count(text, "\n"), 3);
    assert_non_null(strstr(text, "0102030000000000000000000000000000000000 [kernel.kallsyms]"));
    assert_non_null(strstr(text, "0405060000000000000000000000000000000000 /opt/prog"));
    assert_non_null(strstr(text, "07080900000000000000000000000000"));
    free(text);
    text = run(true, "%s report --header-only -I -i m.data 2>/dev/null", perf());
    assert_non_null(strstr(text, "# hostname : machine"));
    assert_non_null(strstr(text, "# arch : aarch64"));
    assert_non_null(strstr(text, "# nrcpus online : 8"));
    assert_non_null(strstr(text, "# cpuid : 0x00000000413fd0c1"));
    assert_non_null(strstr(text, "# cmdline : spe record -- ./prog"));
    assert_non_null(strstr(text, "name = arm_spe_0//"));
    assert_non_null(strstr(text, "# node1 cpu list : 4-7"));
    assert_non_null(strstr(text, "arm_spe_0 = 8"));
    assert_non_null(strstr(text, "# total memory : 16000000 kB"));
    assert_non_null(strstr(text, "# memory nodes (nr 2, block size 0x8000000)"));
    free(text);
}

/* In pipe form, from standard input; timeless and per thread, where perf adds one empty sample for
 * each queue. */
static void test_other_forms(void **state)
{
    struct machine m = make("pipe.data", (struct machine){.records_per_slice = 50, .pipe = true});
    struct samples s = parse_samples(
        run(true, "cat pipe.data | %s script -i - --itrace=i1i -F tid,time,ip --ns 2>/dev/null",
            perf()));
    char *text;

    (void)state;
    assert_int_equal(s.count, m.records);
    assert_true(s.sum_ip == m.sum_pc);
    text = run(true, "cat pipe.data | %s report -i - --stdio --itrace=i1i 2>/dev/null", perf());
    assert_int_equal(number_after(text, "Event count (approx.): "), m.records);
    free(text);
    m = make("thread.data",
             (struct machine){.records_per_slice = 50, .per_thread = true, .timeless = true});
    text = run(true, "%s script -i thread.data --itrace=i1i -F tid 2>/dev/null", perf());
    assert_in_range(count(text, "\n"), m.records, m.records + MACHINE_CPUS);
    free(text);
}

/* Killed after any write: perf reads what we read, and never complains about the file. */
static void test_killed(void **state)
{
    (void)state;
    for (unsigned stop = 3; stop < 30; stop += 4) {
        struct machine m = {.records_per_slice = 20};
        struct memory_file file = {.stop_after = stop};
        struct spe_perf_reader *r;
        struct spe_perf_record rec;
        char *text;

        assert_int_equal(machine_make(&m, &file, true), SPE_OK);
        save("killed.data", file.bytes, file.size);
        assert_int_equal(spe_perf_reader_open_memory(&r, file.bytes, file.size, 0, NULL), SPE_OK);
        while (spe_perf_reader_next(r, &rec) == 1)
            ;
        text = run(true, "%s script -D -i killed.data 2>&1", perf());
        assert_int_equal(count(text, "PERF_RECORD_AUXTRACE size"),
                         spe_perf_reader_account(r)->records_by[SPE_PERF_AUXTRACE]);
        assert_null(strstr(text, "properly terminated"));
        assert_null(strstr(text, "rror:"));
        free(text);
        text = run(true, "%s script -i killed.data --itrace=i1i -F tid 2>/dev/null", perf());
        if (spe_perf_reader_features(r)->arch) /* with an index perf finds everything */
            assert_int_equal(count(text, "\n"),
                             20 * spe_perf_reader_account(r)->records_by[SPE_PERF_AUXTRACE]);
        free(text);
        spe_perf_reader_close(r);
        memory_free(&file);
    }
}

/* ---- What perf writes ----------------------------------------------------------------------- */

#define WORK "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sh -c true; true'"

/* "   MMAP2 events:          9" for every type, against the account. */
static void compare_stats(const char *text, const struct spe_perf_account *a)
{
    const char *end = strstr(text, "TOTAL events");
    unsigned types = 0;

    assert_non_null(end);
    end = strstr(end, "stats:\n"); /* of the first event, behind those of all */
    for (uint32_t type = 1; type < SPE_PERF_RECORD_TYPES; type++) {
        const char *name = spe_perf_record_name(type), *at;
        char what[64];

        if (!name)
            continue;
        snprintf(what, sizeof(what), " %s events:", name);
        at = strstr(text, what);
        if (at && (!end || at < end)) {
            if (number_after(at, what) != a->records_by[type])
                print_message("%s: perf %llu, read %llu\n", name,
                              (unsigned long long)number_after(at, what),
                              (unsigned long long)a->records_by[type]);
            assert_int_equal(number_after(at, what), a->records_by[type]);
            types++;
        } else {
            assert_int_equal(a->records_by[type], 0);
        }
    }
    assert_true(types > 5);
}

/* Record with these options and read it three ways. */
static void recorded(const char *options, bool pipe)
{
    char path[256], *text = run(false, "%s record %s -e cpu-clock -o %s -- " WORK " %s", perf(),
                                options, pipe ? "-" : "real.data", pipe ? "> real.data" : "2>&1");
    struct spe_perf_reader *r;
    struct spe_perf_record rec;
    struct samples s, ours = {0};
    uint64_t mapped_ids = 0;
    FILE *f;

    free(text);
    snprintf(path, sizeof(path), "%s/real.data", dir);
    f = fopen(path, "rb");
    if (!f || fgetc(f) == EOF) {
        if (f)
            fclose(f);
        print_message("perf cannot record here: not compared\n");
        skip();
        return;
    }
    fclose(f);
    assert_int_equal(spe_perf_reader_open(&r, path, 0, NULL), SPE_OK);
    while (spe_perf_reader_next(r, &rec) == 1) {
        if (rec.type == SPE_PERF_SAMPLE && rec.viewed)
            add_sample(&ours, rec.id.tid, rec.id.time, rec.sample.ip);
        mapped_ids += rec.type == SPE_PERF_MMAP2 && rec.viewed && rec.mmap.id_size;
    }
    assert_int_equal(spe_perf_reader_problem(r)->code, 0);
    assert_true(perf_account_adds_up(spe_perf_reader_account(r)));
    assert_int_equal(spe_perf_reader_account(r)->skipped_bytes, 0);
    assert_int_equal(spe_perf_reader_account(r)->malformed, 0);
    assert_true(ours.count > 0);
    text = pipe ? run(true, "cat real.data | %s report --stats -i - 2>/dev/null", perf())
                : run(true, "%s report --stats -i real.data 2>/dev/null", perf());
    compare_stats(text, spe_perf_reader_account(r));
    free(text);
    s = parse_samples(run(true, "cat real.data | %s script -i %s -F tid,time,ip --ns 2>/dev/null",
                          perf(), pipe ? "-" : "real.data"));
    assert_int_equal(s.count, ours.count);
    assert_true(s.sum_ip == ours.sum_ip);
    assert_true(s.sum_ns == ours.sum_ns);
    text = run(true, "cat real.data | %s report --header-only -i %s 2>/dev/null", perf(),
               pipe ? "-" : "real.data");
    if (!pipe) {
        char line[512];

        snprintf(line, sizeof(line), "# hostname : %s\n", spe_perf_reader_features(r)->hostname);
        assert_non_null(strstr(text, line));
        snprintf(line, sizeof(line), "# os release : %s\n", spe_perf_reader_features(r)->osrelease);
        assert_non_null(strstr(text, line));
        assert_int_equal(number_after(text, "# nrcpus avail : "),
                         spe_perf_reader_features(r)->cpus_available);
        assert_non_null(spe_perf_reader_event(r, 0)->name);
        assert_true(spe_perf_reader_features(r)->command_count > 0);
        snprintf(line, sizeof(line), "# cmdline : %s ", spe_perf_reader_features(r)->command[0]);
        assert_non_null(strstr(text, line));
        /* Compressing, perf does not look at what it writes. */
        assert_true(spe_perf_reader_features(r)->build_id_count + mapped_ids > 0 ||
                    strstr(options, "-z"));
    }
    free(text);
    spe_perf_reader_close(r);
}

static void test_recorded(void **state)
{
    (void)state;
    recorded("", false);
}

static void test_recorded_events(void **state)
{
    (void)state;
    recorded("-e task-clock --switch-events --namespaces -d", false);
}

static void test_recorded_pipe(void **state)
{
    (void)state;
    recorded("", true);
}

static void test_recorded_compressed(void **state)
{
    (void)state;
#ifndef SPE_NO_ZSTD
    char *text = run(false, "%s version --build-options 2>/dev/null", perf());
    const char *zstd = strstr(text, "zstd: [");
    bool on = zstd && strstr(zstd, "on") && strstr(zstd, "on") - zstd < 12;

    free(text);
    if (!on) {
        print_message("this perf has no zstd\n");
        skip();
    }
    recorded("-z", false);
#endif
}

static int clean_up(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_script),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_inject),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_other_forms),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_recorded_events),
        cmocka_unit_test(test_recorded_pipe),
        cmocka_unit_test(test_recorded_compressed),
    };
    char command[512];

    snprintf(command, sizeof(command), "%s --version >/dev/null 2>&1", perf());
    if (system(command) != 0) {
        printf("there is no perf on this machine (SPE_PERF may name one)\n");
        return 77;
    }
    if (!mkdtemp(dir))
        return 1;
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
