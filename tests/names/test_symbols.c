/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Names and lines out of AArch64 programs that are compiled here: where a function, line or inlined
 * call is, the compiler's own tables (nm, and labels in the source) tell.
 */
#include "support/profile_recording.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CC "aarch64-linux-gnu-gcc"
#define BASE UINT64_C(0xaaaac0000000)

static char directory[] = "/tmp/spe-symbols-XXXXXX";

static int run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int run(const char *format, ...)
{
    char command[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    return system(command);
}

static void put(const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* What a command prints first, as a hexadecimal number or as it is. */
static void first_line(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void first_line(char *out, size_t size, const char *format, ...)
{
    char command[1024];
    va_list arguments;
    FILE *pipe;

    va_start(arguments, format);
    vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    out[0] = 0;
    if (!fgets(out, (int)size, pipe))
        out[0] = 0;
    out[strcspn(out, "\n")] = 0;
    pclose(pipe);
}

static uint64_t address_of(const char *file, const char *symbol)
{
    char line[256];

    first_line(line, sizeof(line), "aarch64-linux-gnu-nm %s/%s | grep ' %s$'", directory, file,
               symbol);
    if (!line[0])
        fail_msg("%s has no %s", file, symbol);
    return strtoull(line, NULL, 16);
}

static size_t build_id_of(const char *file, uint8_t *id)
{
    char line[256];
    size_t size = 0;

    first_line(line, sizeof(line),
               "aarch64-linux-gnu-readelf -n %s/%s | sed -n 's/.*Build ID: //p'", directory, file);
    for (; line[2 * size] && line[2 * size + 1] && size < 20; size++)
        sscanf(line + 2 * size, "%2hhx", &id[size]);
    return size;
}

/* The executable segment: where it is in the file and in its own addresses. */
static void text_segment(const char *file, uint64_t *offset, uint64_t *address)
{
    char line[512];
    unsigned long long o = 0, a = 0;

    first_line(line, sizeof(line),
               "aarch64-linux-gnu-readelf -lW %s/%s | grep 'LOAD.*R E' | head -1", directory, file);
    assert_int_equal(sscanf(line, " LOAD 0x%llx 0x%llx", &o, &a), 2);
    *offset = o;
    *address = a;
}

/* The segment of data that can be written. */
static void data_segment(const char *file, uint64_t *offset, uint64_t *address, uint64_t *size)
{
    char line[512];
    unsigned long long o = 0, a = 0, s = 0;

    first_line(line, sizeof(line),
               "aarch64-linux-gnu-readelf -lW %s/%s | grep 'LOAD.*RW' | head -1", directory, file);
    assert_int_equal(sscanf(line, " LOAD 0x%llx 0x%llx %*s 0x%llx", &o, &a, &s), 3);
    *offset = o;
    *address = a;
    *size = s;
}

static const char source[] =
    "#define NOINLINE __attribute__((noinline))\n" /* line 1 */
    "int counter[16];\n"
    "static inline __attribute__((always_inline)) int inner(int x)\n"
    "{\n"
    "    asm volatile(\"in_inner_%=:\" ::: \"memory\");\n" /* line 5 */
    "    return counter[x & 15] += x;\n"
    "}\n"
    "static inline __attribute__((always_inline)) int middle(int x)\n"
    "{\n"
    "    return inner(x + 1);\n" /* line 10 */
    "}\n"
    "NOINLINE int outer(int x)\n"
    "{\n"
    "    return middle(x) + 1;\n" /* line 14 */
    "}\n"
    "NOINLINE static int local_one(int x)\n"
    "{\n"
    "    asm volatile(\".globl in_local\\nin_local: nop\");\n" /* line 18 */
    "    return x * counter[3];\n"
    "}\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    (void)argv;\n"
    "    return outer(argc) + local_one(argc);\n"
    "}\n";

/* The program as it was mapped from BASE on. */
static uint64_t load(struct recording *r, uint64_t time, uint32_t pid, const char *file,
                     const char *path, const uint8_t *id, size_t id_size)
{
    uint64_t offset, address;

    text_segment(file, &offset, &address);
    offset &= ~UINT64_C(0xfff);
    address &= ~UINT64_C(0xfff);
    recording_map(r, time, pid, BASE + address, 0x10000, offset, path, id, id_size);
    return BASE;
}

static struct spe_profile *open_with_symbols(const struct recording *r, unsigned want)
{
    struct spe_profile_options options = quiet_options(1);

    options.symfs = directory;
    options.want = want;
    return recording_profile(r, &options);
}

static const char *symbol_name(struct spe_profile *p, uint64_t id)
{
    struct spe_profile_symbol symbol;

    spe_profile_symbol(p, id, &symbol);
    return symbol.name;
}

static void symbols_and_lines(void **state)
{
    uint8_t id[20];
    size_t id_size = build_id_of("prog", id);
    uint64_t outer = address_of("prog", "outer"), local = address_of("prog", "local_one");
    uint64_t in_local = address_of("prog", "in_local"), counter = address_of("prog", "counter");
    struct spe_profile_line line;
    struct spe_profile_place place;
    struct spe_profile *p;
    struct recording r;
    struct row row[8];

    (void)state;
    assert_int_equal(id_size, 20);
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 7, 7, "prog", true);
    load(&r, 0, 7, "prog", "/prog", id, id_size);
    recording_map(&r, 0, 7, BASE + (counter & ~UINT64_C(0xfff)), 0x1000, counter & ~UINT64_C(0xfff),
                  "/nothing", NULL, 0);
    recording_sample(&r, 0, 10, BASE + outer, 0, 7);
    recording_sample(&r, 0, 20, BASE + local + 4, 0, 7);
    recording_sample(&r, 0, 30, BASE + in_local, 0, 7);
    recording_sample(&r, 0, 40, BASE + 0x40000000, 0, 7);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = open_with_symbols(&r, SPE_WANT_SYMBOL | SPE_WANT_LINE);
    assert_int_equal(read_rows(p, row, 8), 4);
    assert_string_equal(symbol_name(p, row[0].symbol), "outer");
    assert_string_equal(symbol_name(p, row[1].symbol), "local_one");
    assert_true(row[3].symbol == SPE_NO_SYMBOL);
    assert_int_equal(spe_profile_line(p, row[2].line, &line), SPE_OK);
    assert_int_equal(line.line, 18);
    assert_non_null(strstr(spe_profile_string(p, line.file), "prog.c"));
    assert_int_equal(row[3].line, SPE_NO_ID);
    assert_int_equal(spe_profile_dso(p, spe_profile_map(p, row[0].map)->dso)->state,
                     SPE_DSO_VERIFIED);
    assert_int_equal(spe_profile_place(p, row[0].thread, 50, BASE + outer + 4, false, &place),
                     SPE_OK);
    assert_int_equal(place.in_symbol, 4);
    assert_true(place.symbol == row[0].symbol);
    spe_profile_close(p);
    recording_free(&r);
}

/* Filters that need lines. */
static void filter_by_line(void **state)
{
    static const char *const filters[] = {"line == 18", "file ~ \"prog\\.c$\" and line in (18)",
                                          "symbol == local_one"};
    uint64_t outer = address_of("prog", "outer"), in_local = address_of("prog", "in_local");
    struct recording r;

    (void)state;
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 7, 7, "prog", true);
    load(&r, 0, 7, "prog", "/prog", NULL, 0);
    recording_sample(&r, 0, 10, BASE + outer, 0, 7);
    recording_sample(&r, 0, 20, BASE + in_local, 0, 7);
    recording_sample(&r, 0, 30, 0x1000, 0, 7);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    for (int i = 0; i < 3; i++) {
        struct spe_profile_options options = quiet_options(2);
        struct spe_profile *p;
        struct row row[4];

        options.symfs = directory;
        options.filter = filters[i];
        p = recording_profile(&r, &options);
        assert_int_equal(read_rows(p, row, 4), 1);
        assert_int_equal(row[0].time, 20);
        assert_int_equal(spe_profile_counts(p)->filtered, 2);
        assert_int_equal(spe_profile_counts(p)->rows, 1);
        spe_profile_close(p);
    }
    recording_free(&r);
}

/* inner in middle in outer. */
static void inlined_functions(void **state)
{
    struct spe_profile_frame frame[8];
    char label[256];
    struct spe_profile *p;
    struct recording r;
    struct row row[2];
    uint64_t pc;

    (void)state;
    first_line(label, sizeof(label), "aarch64-linux-gnu-nm %s/prog | grep ' in_inner'", directory);
    pc = strtoull(label, NULL, 16);
    assert_true(pc > 0);
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 7, 7, "prog", true);
    load(&r, 0, 7, "prog", "/prog", NULL, 0);
    recording_sample(&r, 0, 10, BASE + pc, 0, 7);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = open_with_symbols(&r, SPE_WANT_SYMBOL);
    assert_int_equal(read_rows(p, row, 2), 1);
    assert_int_equal(spe_profile_inlines(p, row[0].map, row[0].pc, frame, 8), 3);
    assert_string_equal(spe_profile_string(p, frame[0].function), "inner");
    assert_string_equal(spe_profile_string(p, frame[1].function), "middle");
    assert_string_equal(spe_profile_string(p, frame[2].function), "outer");
    assert_true(frame[0].line == 5 || frame[0].line == 6);
    assert_int_equal(frame[1].line, 10);
    assert_int_equal(frame[2].line, 14);
    assert_string_equal(spe_profile_string(p, frame[2].linkage), "outer");
    assert_int_equal(frame[0].first_line, 3);
    assert_int_equal(frame[1].first_line, 8);
    assert_int_equal(frame[2].first_line, 12);
    assert_int_equal(frame[0].times, 1);
    assert_true(frame[0].entry == UINT64_MAX);
    assert_true(frame[2].entry == address_of("prog", "outer"));
    assert_true(spe_profile_find_address(p, row[0].map, row[0].pc) == pc);
    assert_true(spe_profile_find_address(p, SPE_NO_ID, row[0].pc) == UINT64_MAX);
    assert_int_equal(spe_profile_inlines_at(p, 0, pc, frame, 8), 3);
    assert_int_equal(spe_profile_inlines_at(p, 99, pc, frame, 8), 0);
    assert_int_equal(spe_profile_inlines(p, row[0].map, row[0].pc, frame, 1), 3);
    assert_int_equal(spe_profile_dso(p, spe_profile_map(p, row[0].map)->dso)->state,
                     SPE_DSO_UNVERIFIED);
    spe_profile_close(p);
    recording_free(&r);
}

/* Another build, or a program for another machine, gives no names, but a warning. */
static void wrong_binary(void **state)
{
    uint64_t outer = address_of("prog", "outer");
    struct spe_profile *p;
    struct recording r;
    uint8_t id[20] = {1, 2, 3, 4, 5};
    struct row row[4];

    (void)state;
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 7, 7, "prog", true);
    load(&r, 0, 7, "prog", "/prog", id, sizeof(id));
    recording_comm(&r, 0, 8, 8, "host", true);
    load(&r, 0, 8, "prog", "/host", NULL, 0);
    recording_sample(&r, 0, 10, BASE + outer, 0, 7);
    recording_sample(&r, 0, 11, BASE + outer, 0, 8);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = open_with_symbols(&r, SPE_WANT_SYMBOL | SPE_WANT_LINE);
    assert_int_equal(read_rows(p, row, 4), 2);
    for (int i = 0; i < 2; i++) {
        const struct spe_profile_dso *dso = spe_profile_dso(p, spe_profile_map(p, row[i].map)->dso);

        assert_true(row[i].symbol == SPE_NO_SYMBOL);
        assert_int_equal(row[i].line, SPE_NO_ID);
        assert_int_equal(dso->state, SPE_DSO_REFUSED);
        assert_non_null(strstr(dso->warning, "not used"));
        assert_string_equal(spe_profile_warning(p, (size_t)i), dso->warning);
    }
    assert_non_null(strstr(spe_profile_warning(p, 0), "0102030405"));
    spe_profile_close(p);
    recording_free(&r);
}

/* Build-ids of the features count for maps that have none; the cache is found by build-id. */
static void build_id_cache(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct spe_perf_build_id known = {.pid = 7, .misc = 2, .path = "/gone/prog"};
    struct spe_perf_features features = {.build_ids = &known, .build_id_count = 1};
    uint64_t outer = address_of("prog", "outer");
    char cache[256];
    struct spe_profile *p;
    struct recording r;
    struct row row[4];

    (void)state;
    known.id_size = (uint8_t)build_id_of("prog", known.id);
    snprintf(cache, sizeof(cache), "%s/cache", directory);
    {
        char hex[64] = "";

        for (int i = 1; i < 20; i++)
            sprintf(hex + strlen(hex), "%02x", known.id[i]);
        assert_int_equal(run("mkdir -p %s/.build-id/%02x/%s && cp %s/prog %s/.build-id/%02x/%s/elf",
                             cache, known.id[0], hex, directory, cache, known.id[0], hex),
                         0);
    }
    recording_open(&r, 0, 1, NEOVERSE_N1, &features);
    recording_comm(&r, 0, 7, 7, "prog", true);
    load(&r, 0, 7, "prog", "/gone/prog", NULL, 0);
    recording_sample(&r, 0, 10, BASE + outer, 0, 7);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    options.debug_dir = cache;
    options.want = SPE_WANT_SYMBOL;
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, row, 4), 1);
    assert_string_equal(symbol_name(p, row[0].symbol), "outer");
    assert_int_equal(spe_profile_dso(p, 0)->state, SPE_DSO_VERIFIED);
    spe_profile_close(p);
    recording_free(&r);
}

/* A path that had two files in the recording: nobody knows which of them a map is of. */
static void several_build_ids(void **state)
{
    struct spe_perf_build_id known[3] = {{.misc = 2, .path = "/prog"}};
    struct spe_perf_features features = {.build_ids = known, .build_id_count = 3};
    uint64_t outer = address_of("prog", "outer");

    (void)state;
    known[0].id_size = (uint8_t)build_id_of("prog", known[0].id);
    known[1] = known[2] = known[0];
    for (int different = 0; different < 2; different++) {
        struct spe_profile *p;
        struct recording r;
        struct row row;

        known[1].id[19] ^= (uint8_t)different;
        recording_open(&r, 0, 1, NEOVERSE_N1, &features);
        recording_comm(&r, 0, 7, 7, "prog", true);
        load(&r, 0, 7, "prog", "/prog", NULL, 0);
        recording_sample(&r, 0, 10, BASE + outer, 0, 7);
        recording_flush(&r, 0, 0, ANY, 0);
        recording_finish(&r);
        p = open_with_symbols(&r, SPE_WANT_SYMBOL);
        assert_int_equal(read_rows(p, &row, 1), 1);
        assert_string_equal(symbol_name(p, row.symbol), different ? "" : "outer");
        assert_int_equal(spe_profile_dso(p, 0)->state,
                         different ? SPE_DSO_REFUSED : SPE_DSO_VERIFIED);
        if (different)
            assert_non_null(strstr(spe_profile_warning(p, 0), "several build-ids of /prog"));
        spe_profile_close(p);
        recording_free(&r);
    }
}

/* What one address of a program is called, and the line that it has there. */
static void name_of(const char *file, const char *path, const uint8_t *id, size_t id_size,
                    uint64_t address, char *name, uint32_t *line_number, char *warning)
{
    struct spe_profile_line line;
    struct spe_profile *p;
    struct recording r;
    struct row row;

    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 7, 7, "prog", true);
    load(&r, 0, 7, file, path, id, id_size);
    recording_sample(&r, 0, 10, BASE + address, 0, 7);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = open_with_symbols(&r, SPE_WANT_SYMBOL | SPE_WANT_LINE);
    assert_int_equal(read_rows(p, &row, 1), 1);
    strcpy(name, symbol_name(p, row.symbol));
    spe_profile_line(p, row.line, &line);
    *line_number = line.line;
    snprintf(warning, 256, "%s", spe_profile_warning(p, 0) ? spe_profile_warning(p, 0) : "");
    spe_profile_close(p);
    recording_free(&r);
}

/* .gnu_debuglink: in its three places, by its CRC, in programs that have no build-id. */
static void debug_link(void **state)
{
    static const char *const places[] = {"opt", "opt/.debug", "usr/lib/debug/opt"};
    uint64_t in_local;
    char name[4096], warning[256];
    uint32_t line;

    (void)state;
    assert_int_equal(run("cd %s && mkdir -p opt && " CC
                         " -g -O1 -fno-ipa-icf -fno-pie -no-pie -Wl,--build-id=none -o plain "
                         "prog.c && "
                         "aarch64-linux-gnu-objcopy --only-keep-debug plain plain.debug && "
                         "aarch64-linux-gnu-strip -o opt/plain plain && "
                         "aarch64-linux-gnu-objcopy --add-gnu-debuglink=plain.debug opt/plain",
                         directory),
                     0);
    in_local = address_of("plain", "in_local");
    name_of("plain", "/opt/plain", NULL, 0, in_local, name, &line, warning);
    assert_memory_equal(name, "plain+0x", 8); /* where it is, not what it is called */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            run("cd %s && mkdir -p %s && cp plain.debug %s", directory, places[i], places[i]), 0);
        name_of("plain", "/opt/plain", NULL, 0, in_local, name, &line, warning);
        assert_string_equal(name, "local_one");
        assert_int_equal(line, 18);
        assert_string_equal(warning, "");
        /* A byte more, and it is another file. */
        assert_int_equal(run("cd %s && echo >> %s/plain.debug", directory, places[i]), 0);
        name_of("plain", "/opt/plain", NULL, 0, in_local, name, &line, warning);
        assert_memory_equal(name, "plain+0x", 8);
        assert_int_equal(line, 0);
        assert_non_null(strstr(warning, "is the debug file of another program"));
        assert_int_equal(run("rm %s/%s/plain.debug", directory, places[i]), 0);
    }
}

/* A recording without build-ids: the file's own one leads to its debug file. */
static void debug_file_of_unverified(void **state)
{
    uint64_t local = address_of("prog", "local_one");
    char name[4096], warning[256], hex[64] = "";
    uint32_t line;
    uint8_t id[20];

    (void)state;
    build_id_of("prog", id);
    for (int i = 1; i < 20; i++)
        sprintf(hex + strlen(hex), "%02x", id[i]);
    assert_int_equal(run("cd %s && mkdir -p usr/lib/debug/.build-id/%02x && "
                         "aarch64-linux-gnu-objcopy --only-keep-debug prog "
                         "usr/lib/debug/.build-id/%02x/%s.debug && "
                         "aarch64-linux-gnu-strip -o bare prog",
                         directory, id[0], id[0], hex),
                     0);
    name_of("prog", "/bare", NULL, 0, local, name, &line, warning);
    assert_string_equal(name, "local_one");
    /* One that is of another program by its build-id is none. */
    assert_int_equal(run("cd %s/usr/lib/debug/.build-id/%02x && "
                         "aarch64-linux-gnu-objcopy -R .note.gnu.build-id %s.debug",
                         directory, id[0], hex),
                     0);
    name_of("prog", "/bare", NULL, 0, local, name, &line, warning);
    assert_memory_equal(name, "bare+0x", 7);
    assert_non_null(strstr(warning, "another program"));
    assert_int_equal(run("rm -r %s/usr/lib/debug/.build-id", directory), 0);
}

/* dwz moves what two programs have in common to a third file. */
static void shared_debug_file(void **state)
{
    char label[256];
    uint64_t pc;

    (void)state;
    if (run("dwz --version > /dev/null 2>&1") != 0) {
        print_message("no dwz here to share debug information with\n");
        skip();
    }
    /* Beside the program, and by build-id below /usr/lib/debug. */
    assert_int_equal(run("cd %s && cp prog one && cp prog two && "
                         "dwz -m common -M ../elsewhere/common one two 2> /dev/null && "
                         "mkdir -p elsewhere dwz && mv one dwz/one && cp common elsewhere",
                         directory),
                     0);
    first_line(label, sizeof(label), "aarch64-linux-gnu-nm %s/prog | grep ' in_inner'", directory);
    pc = strtoull(label, NULL, 16);
    for (int i = 0; i < 3; i++) {
        struct spe_profile_frame frame[4];
        struct spe_profile *p;
        struct recording r;
        struct row row;

        if (i == 1) {
            uint8_t id[20];
            char hex[64] = "";

            build_id_of("common", id);
            for (int j = 1; j < 20; j++)
                sprintf(hex + strlen(hex), "%02x", id[j]);
            assert_int_equal(run("cd %s && mkdir -p usr/lib/debug/.build-id/%02x && "
                                 "mv elsewhere/common usr/lib/debug/.build-id/%02x/%s.debug",
                                 directory, id[0], id[0], hex),
                             0);
        } else if (i == 2) { /* another file in that place is not taken */
            assert_int_equal(run("cd %s && cp common elsewhere && "
                                 "cp prog usr/lib/debug/.build-id/*/*.debug",
                                 directory),
                             0);
        }
        recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
        recording_comm(&r, 0, 7, 7, "prog", true);
        load(&r, 0, 7, "prog", "/dwz/one", NULL, 0);
        recording_sample(&r, 0, 10, BASE + pc, 0, 7);
        recording_flush(&r, 0, 0, ANY, 0);
        recording_finish(&r);
        p = open_with_symbols(&r, SPE_WANT_SYMBOL);
        assert_int_equal(read_rows(p, &row, 1), 1);
        assert_int_equal(spe_profile_inlines(p, row.map, row.pc, frame, 4), 3);
        assert_string_equal(spe_profile_string(p, frame[0].function), "inner");
        assert_string_equal(spe_profile_string(p, frame[1].function), "middle");
        spe_profile_close(p);
        recording_free(&r);
    }
    assert_int_equal(run("rm -r %s/usr/lib/debug/.build-id", directory), 0);
}

/* Lines and inlined functions of a program whose debug information goes on in another file. */
static void other_debug_file(const char *file, const char *path)
{
    struct spe_profile_frame frame[4];
    struct spe_profile *p;
    struct recording r;
    struct row row;

    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 7, 7, "prog", true);
    load(&r, 0, 7, file, path, NULL, 0);
    recording_sample(&r, 0, 10, BASE + address_of(file, "in_local"), 0, 7);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = open_with_symbols(&r, SPE_WANT_SYMBOL | SPE_WANT_LINE);
    assert_int_equal(read_rows(p, &row, 1), 1);
    assert_string_equal(symbol_name(p, row.symbol), "local_one");
    spe_profile_inlines(p, row.map, row.pc, frame, 4);
    spe_profile_close(p);
    recording_free(&r);
}

/* libdw looks for files that debug information names by itself, and would wait at a FIFO. */
static void fifo_for_debug_file(void **state)
{
    (void)state;
    alarm(50);
    assert_int_equal(run("cd %s && mkdir split && " CC " -O1 -g -gsplit-dwarf -c -o split/p.o "
                         "prog.c && " CC " -o split/prog split/p.o && rm split/*.dwo && "
                         "mkfifo split/p.dwo",
                         directory),
                     0);
    other_debug_file("split/prog", "/split/prog");
    if (run("dwz --version > /dev/null 2>&1") != 0) {
        print_message("no dwz here to share debug information with\n");
    } else {
        assert_int_equal(run("cd %s && mkdir fifo && cp prog fifo/one && cp prog fifo/two && "
                             "cd fifo && dwz -m common -M ../fifo/common one two 2> /dev/null && "
                             "rm common && mkfifo common",
                             directory),
                         0);
        other_debug_file("fifo/one", "/fifo/one");
    }
    alarm(0);
}

/* [vdso] is in the cache under its name, with or without a link from its build-id. */
static void vdso(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    uint64_t outer = address_of("vdso.so", "outer");
    char cache[256], hex[64] = "";
    struct spe_profile *p;
    struct recording r;
    struct row row[4];
    uint8_t id[20];

    (void)state;
    assert_int_equal(build_id_of("vdso.so", id), 20);
    for (int i = 0; i < 20; i++)
        sprintf(hex + strlen(hex), "%02x", id[i]);
    snprintf(cache, sizeof(cache), "%s/vdso-cache", directory);
    assert_int_equal(run("mkdir -p '%s/[vdso]/%s' && cp %s/vdso.so '%s/[vdso]/%s/vdso'", cache, hex,
                         directory, cache, hex),
                     0);
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 7, 7, "prog", true);
    recording_map(&r, 0, 7, BASE, 0x10000, 0x7000, "[vdso]", id, 20);
    recording_sample(&r, 0, 10, BASE + outer + 4, 0, 7);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    options.want = SPE_WANT_SYMBOL;
    options.debug_dir = cache;
    for (int i = 0; i < 2; i++) {
        p = recording_profile(&r, &options);
        assert_int_equal(read_rows(p, row, 4), 1);
        assert_string_equal(symbol_name(p, row[0].symbol), "outer");
        assert_int_equal(spe_profile_dso(p, 0)->state, SPE_DSO_VERIFIED);
        spe_profile_close(p);
        if (i == 0)
            assert_int_equal(
                run("cd %s && mkdir -p .build-id/%.2s linked && mv '[vdso]/%s' linked && "
                    "ln -sn ../../linked/%s .build-id/%.2s/%s",
                    cache, hex, hex, hex, hex, hex + 2),
                0);
    }
    recording_free(&r);
}

/* Files of `perf inject --jit` of old perfs have sections, but no segments. */
static void sections_only(void **state)
{
    uint64_t outer = address_of("vdso.so", "outer");
    struct spe_profile *p;
    struct recording r;
    struct row row[4];

    (void)state;
    /* e_phoff and e_phnum are at 32 and 56. */
    assert_int_equal(run("cd %s && cp vdso.so jitted-7-0.so && "
                         "head -c 8 /dev/zero | dd of=jitted-7-0.so bs=1 seek=32 conv=notrunc "
                         "2> /dev/null && head -c 2 /dev/zero | dd of=jitted-7-0.so bs=1 seek=56 "
                         "conv=notrunc 2> /dev/null",
                         directory),
                     0);
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 7, 7, "java", true);
    recording_map(&r, 0, 7, BASE, 0x10000, 0, "//anon", NULL, 0);
    recording_map(&r, 5, 7, BASE + outer, 0x1000, outer, "/jitted-7-0.so", NULL, 0);
    recording_sample(&r, 0, 4, BASE + outer + 4, 0, 7);
    recording_sample(&r, 0, 10, BASE + outer + 4, 0, 7);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = open_with_symbols(&r, SPE_WANT_SYMBOL);
    assert_int_equal(read_rows(p, row, 4), 2);
    assert_string_equal(symbol_name(p, row[0].symbol), "");
    assert_string_equal(symbol_name(p, row[1].symbol), "outer");
    spe_profile_close(p);
    recording_free(&r);
}

/* Stripped, with its debug file in the place that distributions use. */
static void separate_debug_file(void **state)
{
    uint64_t local = address_of("prog", "local_one"), in_local = address_of("prog", "in_local");
    struct spe_profile_line line;
    struct spe_profile *p;
    struct recording r;
    uint8_t id[20];
    size_t id_size = build_id_of("prog", id);
    char hex[64] = "";
    struct row row[4];

    (void)state;
    for (int i = 1; i < 20; i++)
        sprintf(hex + strlen(hex), "%02x", id[i]);
    assert_int_equal(run("cd %s && mkdir -p usr/lib/debug/.build-id/%02x && "
                         "aarch64-linux-gnu-objcopy --only-keep-debug prog "
                         "usr/lib/debug/.build-id/%02x/%s.debug && "
                         "aarch64-linux-gnu-strip -o stripped prog",
                         directory, id[0], id[0], hex),
                     0);
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(&r, 0, 7, 7, "prog", true);
    load(&r, 0, 7, "stripped", "/stripped", id, id_size);
    recording_sample(&r, 0, 10, BASE + local + 4, 0, 7);
    recording_sample(&r, 0, 10, BASE + in_local, 0, 7);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    p = open_with_symbols(&r, SPE_WANT_SYMBOL | SPE_WANT_LINE);
    assert_int_equal(read_rows(p, row, 4), 2);
    assert_string_equal(symbol_name(p, row[0].symbol), "local_one");
    assert_int_equal(spe_profile_line(p, row[1].line, &line), SPE_OK);
    assert_int_equal(line.line, 18);
    spe_profile_close(p);
    recording_free(&r);
}

/* A sysroot on this machine, whose debug files are in it. --symfs may name it, though the paths in
 * the recording lie there already. */
static void sysroot(void **state)
{
    static const char *const symfs[] = {NULL, "/root", "/root/../root/"};
    uint64_t local = address_of("prog", "local_one");
    uint8_t id[20];
    size_t id_size = build_id_of("prog", id);
    char hex[64] = "", path[256];

    (void)state;
    for (int i = 1; i < 20; i++)
        sprintf(hex + strlen(hex), "%02x", id[i]);
    assert_int_equal(run("cd %s && mkdir -p root/opt/bin root/usr/lib/debug/.build-id/%02x && "
                         "aarch64-linux-gnu-objcopy --only-keep-debug prog "
                         "root/usr/lib/debug/.build-id/%02x/%s.debug && "
                         "aarch64-linux-gnu-strip -o root/opt/bin/deep prog",
                         directory, id[0], id[0], hex),
                     0);
    snprintf(path, sizeof(path), "%s/root/opt/bin/deep", directory);
    for (size_t i = 0; i < sizeof(symfs) / sizeof(symfs[0]); i++) {
        struct spe_profile_options options = quiet_options(1);
        char below[256];
        struct spe_profile *p;
        struct recording r;
        struct row row;

        recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
        recording_comm(&r, 0, 7, 7, "deep", true);
        load(&r, 0, 7, "prog", path, id, id_size);
        recording_sample(&r, 0, 10, BASE + local + 4, 0, 7);
        recording_flush(&r, 0, 0, ANY, 0);
        recording_finish(&r);
        snprintf(below, sizeof(below), "%s%s", directory, symfs[i] ? symfs[i] : "");
        options.symfs = symfs[i] ? below : NULL;
        options.want = SPE_WANT_SYMBOL;
        p = recording_profile(&r, &options);
        assert_int_equal(read_rows(p, &row, 1), 1);
        assert_string_equal(symbol_name(p, row.symbol), "local_one");
        spe_profile_close(p);
        recording_free(&r);
    }
}

/* The same by .gnu_debuglink, for a program that has no build-id. */
static void sysroot_link(void **state)
{
    char name[4096], warning[256], path[256];
    uint64_t in_local;
    uint32_t line;

    (void)state;
    assert_int_equal(run("cd %s && mkdir -p tree/opt/bin tree/usr/lib/debug/opt/bin && " CC
                         " -g -O1 -fno-ipa-icf -fno-pie -no-pie -Wl,--build-id=none -o plain "
                         "prog.c && "
                         "aarch64-linux-gnu-objcopy --only-keep-debug plain plain.debug && "
                         "aarch64-linux-gnu-strip -o tree/opt/bin/plain plain && "
                         "aarch64-linux-gnu-objcopy --add-gnu-debuglink=plain.debug "
                         "tree/opt/bin/plain && mv plain.debug tree/usr/lib/debug/opt/bin",
                         directory),
                     0);
    in_local = address_of("plain", "in_local");
    snprintf(path, sizeof(path), "%s/tree/opt/bin/plain", directory);
    name_of("plain", path, NULL, 0, in_local, name, &line, warning);
    assert_string_equal(name, "local_one");
    assert_int_equal(line, 18);
    assert_string_equal(warning, "");
    assert_int_equal(run("echo >> %s/tree/usr/lib/debug/opt/bin/plain.debug", directory), 0);
    name_of("plain", path, NULL, 0, in_local, name, &line, warning);
    assert_memory_equal(name, "plain+0x", 8);
    assert_non_null(strstr(warning, "is the debug file of another program"));
}

/* No symbols and no debug file: tables to unwind the stack tell where functions are. */
static void stripped_file(void **state)
{
    uint64_t local = address_of("prog", "local_one"), outer = address_of("prog", "outer");
    char name[256], warning[256], want[64];
    uint32_t line;

    (void)state;
    assert_int_equal(run("cd %s && aarch64-linux-gnu-objcopy --strip-all -R .note.gnu.build-id "
                         "prog naked",
                         directory),
                     0);
    snprintf(want, sizeof(want), "naked+0x%llx", (unsigned long long)local);
    name_of("naked", "/naked", NULL, 0, local + 8, name, &line, warning);
    assert_string_equal(name, want);
    snprintf(want, sizeof(want), "naked+0x%llx", (unsigned long long)outer);
    name_of("naked", "/naked", NULL, 0, outer, name, &line, warning);
    assert_string_equal(name, want);
    assert_int_equal(run("cd %s && aarch64-linux-gnu-objcopy -R .eh_frame -R .eh_frame_hdr naked "
                         "nothing_left",
                         directory),
                     0);
    name_of("nothing_left", "/nothing_left", NULL, 0, outer, name, &line, warning);
    assert_string_equal(name, "");
}

/* MiniDebugInfo: a packed symbol table in the stripped file. One that is damaged is not there. */
static void mini_debug_info(void **state)
{
    uint64_t local = address_of("prog", "local_one");
    char name[256], warning[256];
    uint32_t line;

    (void)state;
    assert_int_equal(run("cd %s && aarch64-linux-gnu-objcopy --only-keep-debug prog mini && "
                         "aarch64-linux-gnu-objcopy -S --keep-symbol=local_one mini && "
                         "xz -kf mini && head -c 100 mini.xz > cut.xz && "
                         "aarch64-linux-gnu-strip -o packed prog && cp packed cut && "
                         "aarch64-linux-gnu-objcopy -R .note.gnu.build-id "
                         "--add-section .gnu_debugdata=mini.xz packed && "
                         "aarch64-linux-gnu-objcopy -R .note.gnu.build-id -R .eh_frame_hdr "
                         "--add-section .gnu_debugdata=cut.xz cut",
                         directory),
                     0);
    name_of("packed", "/packed", NULL, 0, local + 4, name, &line, warning);
    assert_string_equal(name, "local_one");
    name_of("cut", "/cut", NULL, 0, local + 4, name, &line, warning);
    assert_string_equal(name, "");
}

/* Go's table of functions, as its linker writes it: TEXT is where addresses count from. */
static const char go_source[] = "    .text\n"
                                ".globl first\n"
                                "first: nop\n"
                                "    nop\n"
                                "second: nop\n"
                                "    nop\n"
                                "end:\n"
                                "    .section .gopclntab,\"a\"\n"
                                "tab: .4byte MAGIC\n"
                                "    .byte 0, 0, 4, 8\n"
                                "    .8byte 2, 0\n"
                                "#ifdef TEXT\n"
                                "    .8byte TEXT\n"
                                "#define WORD .4byte\n"
                                "#define AT(x) x - first\n"
                                "#else\n"
                                "#define WORD .8byte\n"
                                "#define AT(x) x\n"
                                "#endif\n"
                                "    .8byte names - tab, 0, 0, 0, functions - tab\n"
                                "names: .byte 0\n"
                                "n1: .asciz \"main.first\"\n"
                                "n2: .asciz \"main.(*T).second\"\n"
                                "functions: WORD AT(first), d1 - functions, AT(second)\n"
                                "    WORD d2 - functions, AT(end)\n"
                                "d1: WORD AT(first)\n"
                                "    .4byte n1 - names\n"
                                "d2: WORD AT(second)\n"
                                "    .4byte NAME2\n";

static void go_table(void **state)
{
    static const struct {
        const char *flags, *second;
    } cases[] = {
        {"-DMAGIC=0xfffffffa -DNAME2=n2-names", "main.(*T).second"},
        {"-DMAGIC=0xfffffff0 -DTEXT=first -DNAME2=n2-names", "main.(*T).second"},
        {"-DMAGIC=0xfffffff1 -DTEXT=first -DNAME2=n2-names", "main.(*T).second"},
        {"-DMAGIC=0xfffffff1 -DTEXT=0 -DNAME2=n2-names", "main.(*T).second"},
        {"-DMAGIC=0xfffffff1 -DTEXT=first -DNAME2=0x7fffffff", ""},
        {"-DMAGIC=0xfffffff2 -DTEXT=first -DNAME2=n2-names", ""},
    };

    (void)state;
    put("go.S", go_source);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[256], warning[256];
        uint64_t second;
        uint32_t line;

        assert_int_equal(run("cd %s && " CC " %s -nostdlib -static -Wl,-e,first "
                             "-Wl,--build-id=none -o go_full go.S && "
                             "aarch64-linux-gnu-strip -o go go_full",
                             directory, cases[i].flags),
                         0);
        second = address_of("go_full", "second");
        name_of("go", "/go", NULL, 0, second + 4, name, &line, warning);
        assert_string_equal(name, cases[i].second);
        name_of("go", "/go", NULL, 0, second - 4, name, &line, warning);
        assert_string_equal(name, i < 5 ? "main.first" : "");
    }
}

static const char data_source[] =
    "asm(\".data\\n.balign 64\\n.type mark, %object\\nmark: .skip 256\");\n"
    "int numbers[16] = {1};\n"
    "char table[300000];\n"
    "int main(void) { return numbers[1] + table[5]; }\n";

static const char *data_name(struct spe_profile *p, uint64_t address)
{
    struct spe_profile_place place;

    if (spe_profile_place(p, 0, UINT64_MAX, address, true, &place) != SPE_OK)
        return NULL;
    return place.symbol == SPE_NO_SYMBOL ? "" : symbol_name(p, place.symbol);
}

/* .bss is behind the map of the file's data, whether the recording has a map there, or another
 * file's, or none; it ends where the file says. Data without a size names only its address. */
static void names_of_data(void **state)
{
    static const char *const behind[] = {NULL, "//anon", "[heap]", "/other", "/data"};
    uint64_t offset, address, size, start, end, bss, table;

    (void)state;
    put("data.c", data_source);
    assert_int_equal(run("cd %s && " CC " -O1 -no-pie -o data data.c", directory), 0);
    data_segment("data", &offset, &address, &size);
    table = BASE + address_of("data", "table");
    start = BASE + (address & ~UINT64_C(0xfff));
    end = BASE + ((address + size + 0xfff) & ~UINT64_C(0xfff));
    bss = BASE + address + size;
    assert_true(table >= bss && table + 300000 > end);
    for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
        struct spe_profile *p;
        struct recording r;
        struct row row;
        bool other = behind[i] && !strcmp(behind[i], "/other");

        recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
        recording_comm(&r, 0, 7, 7, "data", true);
        if (behind[i] && !strcmp(behind[i], "/data")) /* a library is mapped as a whole first */
            recording_map(&r, 0, 7, BASE + 0x400000, 0x100000, 0, "/data", NULL, 0);
        else if (behind[i])
            recording_map(&r, 0, 7, end, 0x100000, 0, behind[i], NULL, 0);
        recording_map(&r, 0, 7, start, end - start, offset & ~UINT64_C(0xfff), "/data", NULL, 0);
        recording_sample(&r, 0, 10, BASE, 0, 7);
        recording_flush(&r, 0, 0, ANY, 0);
        recording_finish(&r);
        p = open_with_symbols(&r, 0);
        assert_int_equal(read_rows(p, &row, 1), 1);
        assert_string_equal(data_name(p, BASE + address_of("data", "numbers") + 4), "numbers");
        assert_string_equal(data_name(p, BASE + address_of("data", "mark")), "mark");
        assert_string_equal(data_name(p, BASE + address_of("data", "mark") + 8), "");
        assert_string_equal(data_name(p, table), "table");
        if (other) {
            assert_string_equal(data_name(p, table + 299999), "");
        } else {
            assert_string_equal(data_name(p, table + 299999), "table");
        }
        if (!behind[i])
            assert_null(data_name(p, table + 310000));
        spe_profile_close(p);
        recording_free(&r);
    }
}

/* The kernel by kallsyms, if its reference symbol is where the recording has it; and modules. */
static void kallsyms(void **state)
{
    static const char text[] = "ffff800010000000 T _text\n"
                               "ffff800010000100 t first_one\n"
                               "ffff800010000200 T second_one\n"
                               "ffff800010000200 D not_code\n"
                               "ffff800010000280 t $x.1\n"
                               "ffff800008000000 t in_module\t[nf_tables]\n"
                               "ffff800008000000 t in_other\t[other]\n";
    struct spe_profile_options options = quiet_options(1);
    char path[256];
    struct recording r;

    (void)state;
    put("kallsyms", text);
    snprintf(path, sizeof(path), "%s/kallsyms", directory);
    options.kallsyms = path;
    options.want = SPE_WANT_SYMBOL;
    for (int wrong = 0; wrong < 2; wrong++) {
        uint64_t reference = UINT64_C(0xffff800010000000) + (wrong ? 0x10000 : 0);
        struct spe_profile *p;
        struct row row[4];

        recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
        recording_map(&r, 0, ANY, reference, 0x800000, reference, "[kernel.kallsyms]_text", NULL,
                      0);
        recording_map(&r, 0, ANY, UINT64_C(0xffff800008000000), 0x1000, 0,
                      "/lib/modules/6.1/nf-tables.ko.zst", NULL, 0);
        recording_sample(&r, 0, 10, UINT64_C(0xffff800010010104), 1, 0);
        recording_sample(&r, 0, 11, UINT64_C(0xffff800010000104) + (wrong ? 0x10000 : 0), 1, 0);
        recording_sample(&r, 0, 12, UINT64_C(0xffff800008000010), 1, 0);
        recording_flush(&r, 0, 0, ANY, 0);
        recording_finish(&r);
        p = recording_profile(&r, &options);
        assert_int_equal(read_rows(p, row, 4), 3);
        assert_string_equal(symbol_name(p, row[1].symbol), wrong ? "" : "first_one");
        assert_string_equal(symbol_name(p, row[2].symbol), wrong ? "" : "in_module");
        assert_int_equal(spe_profile_dso(p, 0)->state,
                         wrong ? SPE_DSO_REFUSED : SPE_DSO_UNVERIFIED);
        spe_profile_close(p);
        recording_free(&r);
    }
}

/* kallsyms of the cache may be of another boot: they need a reference to say. One that was given
 * does not. */
static void kallsyms_of_another_boot(void **state)
{
    const uint64_t text = UINT64_C(0xffff800010000000);
    static const uint8_t id[20] = {0xab, 0xcd, 0xef};
    char cache[256], given[512];

    (void)state;
    put("kallsyms", "ffff800010000000 T _text\nffff800010000100 t first_one\n");
    snprintf(cache, sizeof(cache), "%s/boot-cache", directory);
    snprintf(given, sizeof(given), "%s/kallsyms", directory);
    assert_int_equal(
        run("d=%s/.build-id/ab/cdef$(printf '%%034d' 0); mkdir -p $d && cp %s $d/", cache, given),
        0);
    for (int i = 0; i < 3; i++) {
        struct spe_profile_options options = quiet_options(1);
        struct spe_profile *p;
        struct recording r;
        struct row row;

        recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
        recording_map(&r, 0, ANY, text, 0x800000, text,
                      i == 0 ? "[kernel.kallsyms]_text" : "[kernel.kallsyms]", id, sizeof(id));
        recording_sample(&r, 0, 10, text + 0x104, 1, 0);
        recording_flush(&r, 0, 0, ANY, 0);
        recording_finish(&r);
        options.debug_dir = cache;
        options.kallsyms = i == 2 ? given : NULL;
        options.want = SPE_WANT_SYMBOL;
        p = recording_profile(&r, &options);
        assert_int_equal(read_rows(p, &row, 1), 1);
        assert_string_equal(symbol_name(p, row.symbol), i == 1 ? "" : "first_one");
        assert_int_equal(spe_profile_dso(p, 0)->state,
                         i == 1 ? SPE_DSO_REFUSED : SPE_DSO_UNVERIFIED);
        spe_profile_close(p);
        recording_free(&r);
    }
}

/* The kernel by an ELF file that was linked elsewhere; without the reference symbol nobody knows
 * where. */
static void vmlinux(void **state)
{
    uint64_t outer = address_of("prog", "outer"), reference = address_of("prog", "main");
    uint64_t shift = UINT64_C(0xffff800010000000);
    char path[256];

    (void)state;
    snprintf(path, sizeof(path), "%s/prog", directory);
    for (int lost = 0; lost < 2; lost++) {
        struct spe_profile_options options = quiet_options(1);
        struct spe_profile_symbol symbol;
        struct spe_profile *p;
        struct recording r;
        struct row row[4];

        options.vmlinux = path;
        options.want = SPE_WANT_SYMBOL;
        recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
        recording_map(&r, 0, ANY, shift, 0x800000, shift + reference,
                      lost ? "[kernel.kallsyms]_text" : "[kernel.kallsyms]main", NULL, 0);
        recording_sample(&r, 0, 10, shift + outer + 4, 2, 0);
        recording_flush(&r, 0, 0, ANY, 0);
        recording_finish(&r);
        p = recording_profile(&r, &options);
        assert_int_equal(read_rows(p, row, 4), 1);
        assert_int_equal(spe_profile_symbol(p, row[0].symbol, &symbol),
                         lost ? SPE_ERR_UNKNOWN : SPE_OK);
        assert_string_equal(symbol.name, lost ? "" : "outer");
        assert_true(lost || symbol.address == shift + outer);
        assert_int_equal(spe_profile_dso(p, 0)->state, lost ? SPE_DSO_REFUSED : SPE_DSO_UNVERIFIED);
        spe_profile_close(p);
        recording_free(&r);
    }
}

#define MODULE_AT UINT64_C(0xffff800008000000)

static const char module_source[] =
    "__attribute__((section(\".init.text\"))) int on_load(void) { return 1; }\n"
    "int first_one(int x) { return x + 1; }\n"
    "int second_one(int x) { return first_one(x) * 3; }\n"
    "__attribute__((section(\".exit.text\"))) int on_unload(void) { return 2; }\n"
    "__attribute__((section(\".text.ftrace_trampoline\"))) int hook(void) { return 3; }\n"
    "__attribute__((section(\".text.later\"))) int later(void) { return 4; }\n";

/* Sections of code are where the kernel puts them: .text at the start, .exit.text behind it,
 * and nobody knows where from the hook on. */
static void check_module(const char *recorded, const char *id_of, const char *release,
                         const char *const *names, unsigned state_of_dso)
{
    struct spe_profile_options options = quiet_options(1);
    struct spe_perf_features features = {.osrelease = release};
    uint64_t second = address_of("nf-test.ko", "second_one");
    char line[256];
    uint64_t text_size, places[4];
    struct spe_profile *p;
    struct recording r;
    struct row row[4];
    uint8_t id[20];
    size_t id_size = id_of ? build_id_of(id_of, id) : 0;

    first_line(line, sizeof(line),
               "aarch64-linux-gnu-size -A %s/nf-test.ko | "
               "awk '$1 == \".text\" { printf \"%%x\\n\", $2 }'",
               directory);
    text_size = strtoull(line, NULL, 16);
    assert_true(text_size > second);
    places[0] = 0;
    places[1] = second + 4;
    places[2] = (text_size + 15) / 16 * 16 + 4; /* .exit.text is aligned to 16 */
    places[3] = places[2] + 16;
    recording_open(&r, 0, 1, NEOVERSE_N1, &features);
    recording_map(&r, 0, ANY, MODULE_AT, 0x4000, 0, recorded, id, id_size);
    for (unsigned i = 0; i < 4; i++)
        recording_sample(&r, 0, 10 + i, MODULE_AT + places[i], 1, 0);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    options.symfs = directory;
    options.want = SPE_WANT_SYMBOL | SPE_WANT_LINE;
    p = recording_profile(&r, &options);
    assert_int_equal(read_rows(p, row, 4), 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(symbol_name(p, row[i].symbol), names[i]);
        assert_int_equal(row[i].line, SPE_NO_ID);
    }
    assert_string_equal(path_of(p, row[0].map), "[nf_test]");
    assert_int_equal(spe_profile_dso(p, 0)->state, state_of_dso);
    spe_profile_close(p);
    recording_free(&r);
}

static void module_files(void **state)
{
    static const char *const all[] = {"first_one", "second_one", "on_unload", ""};
    static const char *const none[] = {"", "", "", ""};
    const char path[] = "/lib/modules/6.1-t/kernel/net/nf-test.ko";

    (void)state;
    put("module.c", module_source);
    assert_int_equal(run("cd %s && mkdir -p lib/modules/6.1-t/kernel/net && " CC
                         " -g -O1 -ffreestanding -fno-inline -falign-functions=16 -c -o module.o "
                         "module.c && "
                         "aarch64-linux-gnu-ld -r --build-id=sha1 -o nf-test.ko module.o && "
                         "cp nf-test.ko lib/modules/6.1-t/kernel/net",
                         directory),
                     0);
    check_module("[nf_test]", NULL, "6.1-t", all, SPE_DSO_UNVERIFIED);
    check_module("[nf_test]", "nf-test.ko", "6.1-t", all, SPE_DSO_VERIFIED);
    check_module(path, "nf-test.ko", NULL, all, SPE_DSO_VERIFIED);
    check_module(path, "prog", NULL, none, SPE_DSO_REFUSED);
    check_module("[nf_test]", NULL, "6.1-u", none, SPE_DSO_MISSING);
    check_module("[nf_test]", NULL, "../modules/6.1-t", none, SPE_DSO_MISSING);
    check_module("[nf_test]", NULL, NULL, none, SPE_DSO_MISSING);
    /* A program is not a module, whatever its name; and a compressed module is one, but not every
     * compressed file. */
    assert_int_equal(
        run("cd %s/lib/modules/6.1-t/kernel/net && cp ../../../../../prog nf-test.ko", directory),
        0);
    check_module("[nf_test]", NULL, "6.1-t", none, SPE_DSO_UNVERIFIED);
    assert_int_equal(run("cd %s/lib/modules/6.1-t/kernel/net && rm nf-test.ko && "
                         "gzip -c ../../../../../nf-test.ko > nf_test.ko.gz",
                         directory),
                     0);
    check_module("[nf_test]", "nf-test.ko", "6.1-t", all, SPE_DSO_VERIFIED);
    assert_int_equal(run("cd %s/lib/modules/6.1-t/kernel/net && echo no module | "
                         "gzip > nf_test.ko.gz",
                         directory),
                     0);
    check_module("[nf_test]", NULL, "6.1-t", none, SPE_DSO_REFUSED);
}

static int set_up(void **state)
{
    (void)state;
    put("prog.c", source);
    assert_int_equal(run("cd %s && " CC " -g -O1 -fno-ipa-icf -fno-pie -no-pie -Wl,--build-id=sha1 "
                         "-o prog prog.c",
                         directory),
                     0);
    assert_int_equal(run("cd %s && " CC " -O1 -shared -fpic -nostdlib -Wl,--build-id=sha1 "
                         "-o vdso.so prog.c",
                         directory),
                     0);
    /* The same for another machine: byte 18 of an ELF file is e_machine. */
    assert_int_equal(run("cd %s && cp prog host && printf '\\076' | "
                         "dd of=host bs=1 seek=18 conv=notrunc 2> /dev/null",
                         directory),
                     0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return run("rm -rf %s", directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_and_lines),
        cmocka_unit_test(inlined_functions),
        cmocka_unit_test(wrong_binary),
        cmocka_unit_test(build_id_cache),
        cmocka_unit_test(separate_debug_file),
        cmocka_unit_test(sysroot),
        cmocka_unit_test(sysroot_link),
        cmocka_unit_test(stripped_file),
        cmocka_unit_test(mini_debug_info),
        cmocka_unit_test(go_table),
        cmocka_unit_test(names_of_data),
        cmocka_unit_test(several_build_ids),
        cmocka_unit_test(debug_link),
        cmocka_unit_test(debug_file_of_unverified),
        cmocka_unit_test(shared_debug_file),
        cmocka_unit_test(fifo_for_debug_file),
        cmocka_unit_test(vdso),
        cmocka_unit_test(sections_only),
        cmocka_unit_test(module_files),
        cmocka_unit_test(kallsyms),
        cmocka_unit_test(kallsyms_of_another_boot),
        cmocka_unit_test(vmlinux),
        cmocka_unit_test(filter_by_line),
    };

    if (run(CC " --version > /dev/null 2>&1") != 0) {
        printf("no " CC " here: nothing to take names from\n");
        return 77;
    }
    if (!mkdtemp(directory))
        return 1;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
