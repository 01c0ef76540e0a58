/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Names of code made at run time, out of /tmp/perf-PID.map: good ones, damaged ones, none. */
#include "support/profile_recording.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define CODE UINT64_C(0xffff80000000)
#define PID 7

static char directory[] = "/tmp/spe-jit-XXXXXX";
static char map_file[64];

static void put(const char *text)
{
    FILE *file = fopen(map_file, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Memory from CODE on, and samples in `count` places of it, by turns of the process and its child.
 */
static struct spe_profile *open_at(const char *memory, const uint64_t *offsets, size_t count,
                                   struct row *rows)
{
    struct spe_profile_options options = quiet_options(1);
    struct spe_profile *p;
    struct recording r;

    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, PID, PID, "java", true);
    recording_map(&r, 0, PID, CODE, 0x10000, 0x123000, memory, NULL, 0);
    recording_fork(&r, 5, 8, 8, PID, PID);
    for (size_t i = 0; i < count; i++)
        recording_sample(&r, 0, 10 + i, CODE + offsets[i], 0, i % 2 ? 8 : PID);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    options.symfs = directory;
    options.want = SPE_WANT_SYMBOL | SPE_WANT_LINE;
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, rows, count), count);
    recording_free(&r);
    return p;
}

static const char *name_at(struct spe_profile *p, const struct row *row)
{
    struct spe_profile_symbol symbol;

    spe_profile_symbol(p, row->symbol, &symbol);
    return symbol.name;
}

static const struct spe_profile_dso *dso_at(struct spe_profile *p, const struct row *row)
{
    return spe_profile_dso(p, spe_profile_map(p, row->map)->dso);
}

/* What a map of one text says of some places: names, "" for none. */
static void expect(const char *text, const uint64_t *offsets, const char *const *names,
                   size_t count)
{
    struct row rows[16];
    struct spe_profile *p;

    put(text);
    p = open_at("//anon", offsets, count, rows);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(name_at(p, &rows[i]), names[i]);
    assert_int_equal(dso_at(p, &rows[0])->state, SPE_DSO_UNVERIFIED);
    assert_string_equal(dso_at(p, &rows[0])->file, map_file);
    spe_profile_close(p);
}

/* A child that has its parent's memory has the parent's names; lines are none. */
static void names_of_code(void **state)
{
    static const uint64_t offsets[] = {0xff, 0x100, 0x13f, 0x140, 0x200, 0x2ff};
    static const char *const names[] = {
        "", "LazyCompile:~f a.js:3", "LazyCompile:~f a.js:3", "", "second", "second"};

    (void)state;
    expect("ffff80000100 40 LazyCompile:~f a.js:3\nffff80000200 100 second", offsets, names, 6);
}

static void all_kinds_of_memory(void **state)
{
    static const char *const memory[] = {"//anon",
                                         "[anon:v8]",
                                         "/memfd:doublemapper (deleted)",
                                         "[heap]",
                                         "[stack]",
                                         "/dev/zero (deleted)",
                                         "/SYSV000",
                                         "/anon_hugepage (deleted)"};
    static const uint64_t offset = 0x110;

    (void)state;
    put("ffff80000100 40 f\n");
    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
        struct row row;
        struct spe_profile *p = open_at(memory[i], &offset, 1, &row);

        assert_string_equal(name_at(p, &row), "f");
        assert_int_equal(row.line, SPE_NO_ID);
        assert_string_equal(path_of(p, row.map), "/tmp/perf-7.map");
        assert_string_equal(spe_profile_string(p, dso_at(p, &row)->name), "[JIT] tid 7");
        spe_profile_close(p);
    }
}

static void other_memory_has_none(void **state)
{
    static const char *const memory[] = {"[uprobes]", "/dev/mem", "/bin/anon"};
    static const uint64_t offset = 0x110;

    (void)state;
    put("ffff80000100 40 f\n");
    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
        struct row row;
        struct spe_profile *p = open_at(memory[i], &offset, 1, &row);

        assert_true(row.symbol == SPE_NO_SYMBOL);
        assert_string_equal(path_of(p, row.map), memory[i]);
        spe_profile_close(p);
    }
}

/* Of lines that overlap the last one counts, where it lies. */
static void overlaps(void **state)
{
    static const uint64_t offsets[] = {0x100, 0x150, 0x180, 0x1ff, 0x200, 0x280, 0x310};
    static const char *const names[] = {"outer", "inner", "outer", "outer", "again", "tail", "new"};

    (void)state;
    expect("ffff80000100 100 outer\n"
           "ffff80000150 10 inner\n"
           "ffff80000200 100 tail\n"
           "ffff80000200 20 once\n"
           "ffff80000200 20 again\n"
           "ffff80000310 10 old_and_long_name\n"
           "ffff80000300 40 new\n",
           offsets, names, 7);
}

static void damaged_lines(void **state)
{
    static const uint64_t offsets[] = {0x100, 0x140, 0x180, 0x1c0, 0x200, 0x240, 0x280};
    static const char *const names[] = {"", "", "", "", "", "", "good"};

    (void)state;
    expect("\n \nnothing\nffff80000100\nffff80000100 \nffff80000100 40\nffff80000100 40 \n"
           "ffff80000140 0 empty\n"
           " ffff80000140 40 blank\n"
           "-ffff80000140 40 negative\n"
           "ffff80000180 -40 negative\n"
           "ffff800001c0 xyz size\n"
           "ffff80000200 ffffffffffffffff around\n"
           "ffffffffffffffffffffffff 1 far\n"
           "ffff80000240\t40\ttabs\n"
           "ffff80000280 40 good",
           offsets, names, 7);
}

/* A name is cut where all strings are; the next line is not hurt. */
static void long_names(void **state)
{
    static const uint64_t offsets[] = {0x100, 0x200};
    static const size_t size = 100000;
    char *text = malloc(size + 100);
    struct spe_profile *p;
    struct row rows[2];

    (void)state;
    assert_non_null(text);
    strcpy(text, "ffff80000100 40 ");
    memset(text + strlen(text), 'x', size);
    strcpy(text + 16 + size, "\nffff80000200 40 next\n");
    put(text);
    free(text);
    p = open_at("//anon", offsets, 2, rows);
    assert_int_equal(strlen(name_at(p, &rows[0])), 4095);
    assert_string_equal(name_at(p, &rows[1]), "next");
    spe_profile_close(p);
}

/* Only regular files are read, and nobody waits for the others. */
static void no_regular_file(void **state)
{
    static const uint64_t offset = 0x110;

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct spe_profile *p;
        struct row row;

        unlink(map_file);
        if (i)
            assert_int_equal(i == 1 ? mkfifo(map_file, 0600) : mkdir(map_file, 0700), 0);
        p = open_at("//anon", &offset, 1, &row);
        assert_true(row.symbol == SPE_NO_SYMBOL);
        assert_int_equal(dso_at(p, &row)->state, SPE_DSO_ANONYMOUS);
        assert_null(dso_at(p, &row)->warning);
        spe_profile_close(p);
    }
    assert_int_equal(rmdir(map_file), 0);
}

static void somebody_elses(void **state)
{
    static const uint64_t offset = 0x110;
    struct spe_profile *p;
    struct row row;

    (void)state;
    put("ffff80000100 40 f\n");
    if (chown(map_file, 12345, 12345) < 0) {
        print_message("only root can give a file away\n");
        skip();
    }
    p = open_at("//anon", &offset, 1, &row);
    assert_true(row.symbol == SPE_NO_SYMBOL);
    assert_int_equal(dso_at(p, &row)->state, SPE_DSO_REFUSED);
    assert_non_null(strstr(spe_profile_warning(p, 0), "perf-7.map belongs neither to you"));
    spe_profile_close(p);
    unlink(map_file);
}

/* perf asks for the owner of the link, not of what it leads to; here links are not followed. */
static void a_link(void **state)
{
    static const uint64_t offset = 0x110;
    char target[64];

    (void)state;
    put("ffff80000100 40 f\n");
    snprintf(target, sizeof(target), "%s/target", directory);
    assert_int_equal(rename(map_file, target), 0);
    assert_int_equal(symlink(target, map_file), 0);
    for (int i = 0; i < 2; i++) {
        struct spe_profile *p;
        struct row row;

        if (i && lchown(map_file, 12345, 12345) < 0) {
            print_message("only root can give a link away\n");
            break;
        }
        p = open_at("//anon", &offset, 1, &row);
        assert_true(row.symbol == SPE_NO_SYMBOL);
        assert_int_equal(dso_at(p, &row)->state, SPE_DSO_REFUSED);
        assert_non_null(strstr(spe_profile_warning(p, 0),
                               i ? "perf-7.map belongs neither to you" : "is a symbolic link"));
        spe_profile_close(p);
    }
    unlink(map_file);
    unlink(target);
}

static int set_up(void **state)
{
    char path[64];

    (void)state;
    snprintf(path, sizeof(path), "%s/tmp", directory);
    snprintf(map_file, sizeof(map_file), "%s/tmp/perf-7.map", directory);
    return mkdir(path, 0700);
}

static int tear_down(void **state)
{
    char path[64];

    (void)state;
    unlink(map_file);
    snprintf(path, sizeof(path), "%s/tmp", directory);
    rmdir(path);
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_code),
        cmocka_unit_test(all_kinds_of_memory),
        cmocka_unit_test(other_memory_has_none),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(damaged_lines),
        cmocka_unit_test(long_names),
        cmocka_unit_test(no_regular_file),
        cmocka_unit_test(somebody_elses),
        cmocka_unit_test(a_link),
    };

    if (!mkdtemp(directory))
        return 1;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
