/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What comes out of a guest: archives made byte by byte, good and hostile ones, are unpacked into a
 * folder; and what is in the folder, in the one around it and in what was told is looked at.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka needs four of the above */
#include <cmocka.h>

#include "vm/vm.h"

enum { BLOCK = 512, ROOM = 1 << 20 };

/* ---- Making archives ------------------------------------------------------------------------- */

struct archive {
    uint8_t *bytes;
    size_t size;
};

static struct archive a;
static struct vm_limits limits;
static struct problem error;
static struct vm_outcome outcome;
static char told[65536];
static char around[PATH_MAX], output[PATH_MAX + 8];

static uint8_t *grow(size_t size)
{
    uint8_t *at = a.bytes + a.size;

    assert_true(a.size + size <= ROOM);
    a.size += size;
    return at;
}

static void seal(uint8_t *header)
{
    unsigned sum = 0;

    memset(header + 148, ' ', 8);
    for (int i = 0; i < BLOCK; i++)
        sum += header[i];
    snprintf((char *)header + 148, 8, "%06o", sum);
}

/* GNU's kind of header, as busybox writes it. */
static uint8_t *add_header(const char *name, char type, unsigned mode, size_t size)
{
    uint8_t *h = grow(BLOCK);

    memset(h, 0, BLOCK);
    memcpy(h, name, strnlen(name, 100));
    snprintf((char *)h + 100, 8, "%07o", mode);
    snprintf((char *)h + 124, 12, "%011o", (unsigned)size);
    h[156] = (uint8_t)type;
    memcpy(h + 257, "ustar  ", 8);
    seal(h);
    return h;
}

static void add_bytes(const void *bytes, size_t size)
{
    uint8_t *at = grow((size + BLOCK - 1) / BLOCK * BLOCK);

    memcpy(at, bytes, size);
}

static void add(const char *name, char type, unsigned mode, const char *text)
{
    add_header(name, type, mode, strlen(text));
    add_bytes(text, strlen(text));
}

static void add_status(void)
{
    add("status", '0', 0644, "7\n");
}

static void add_end(void)
{
    memset(grow(2 * (size_t)BLOCK), 0, 2 * (size_t)BLOCK);
}

static void add_pax(const char *text)
{
    add("pax", 'x', 0644, text);
}

static void add_long_name(const char *name, size_t size)
{
    add_header("././@LongLink", 'L', 0, size);
    add_bytes(name, size);
}

/* ---- Unpacking them -------------------------------------------------------------------------- */

static void tell(const char *what, const char *why)
{
    size_t n = strlen(told);

    snprintf(told + n, sizeof(told) - n, "%s: %s\n", what, why);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st, (void)type, (void)walk;
    return remove(path);
}

static int set_up(void **state)
{
    (void)state;
    a.bytes = calloc(1, ROOM);
    a.size = 0;
    told[0] = '\0';
    limits = (struct vm_limits){1 << 20, 1000};
    snprintf(around, sizeof(around), "/tmp/spe-test-unpack-XXXXXX");
    assert_non_null(a.bytes);
    assert_non_null(mkdtemp(around));
    snprintf(output, sizeof(output), "%s/out", around);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(a.bytes);
    return nftw(around, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The archive as a file. */
static int archive_file(void)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, a.bytes, a.size), a.size);
    return fd;
}

static int take(bool force)
{
    struct vm_output o;
    int fd = archive_file(), result;

    outcome = (struct vm_outcome){.status = -1};
    error = (struct problem){0};
    assert_int_equal(vm_output_open(&o, output, &error), 0);
    result = vm_output_take(&o, fd, &limits, force, tell, &outcome, &error);
    vm_output_close(&o);
    close(fd);
    return result;
}

/* All was well, and nothing was refused. */
static void take_well(void)
{
    assert_int_equal(take(false), 0);
    assert_int_equal(outcome.status, 7);
    assert_false(outcome.incomplete);
    assert_null(strstr(told, "refused"));
}

static char *in_output(const char *name)
{
    static char path[3 * PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", output, name);
    return path;
}

static void make(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void holds(const char *path, const char *text)
{
    char bytes[256] = "";
    FILE *f = fopen(path, "r");

    if (!f)
        fail_msg("%s: %s", path, strerror(errno));
    else {
        bytes[fread(bytes, 1, sizeof(bytes) - 1, f)] = '\0';
        fclose(f);
        assert_string_equal(bytes, text);
    }
}

static unsigned mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static unsigned found;

static int count_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)path, (void)type, (void)walk;
    assert_true(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode));
    found++;
    return 0;
}

/* Names in the folder around the output and below, without that folder itself. */
static unsigned all_names(void)
{
    found = 0;
    assert_int_equal(nftw(around, count_one, 16, FTW_PHYS), 0);
    return found - 1;
}

/* The archive was good, but for one entry that was refused for this reason; `after` came. */
static void refused(const char *name, const char *why)
{
    char sentence[512];

    add("work/after", '0', 0644, "after");
    add_end();
    assert_int_equal(take(false), 0);
    assert_int_equal(outcome.status, 7);
    assert_true(outcome.incomplete);
    snprintf(sentence, sizeof(sentence), "%s: refused: %s\n", name, why);
    if (!strstr(told, sentence))
        fail_msg("told: %s", told);
    holds(in_output("after"), "after");
    assert_int_equal(all_names(), 2); /* the output, and that file */
}

/* The archive is damaged; what was before came. */
static void damaged(const char *why)
{
    assert_true(take(false) < 0);
    if (!strstr(error.why, why))
        fail_msg("why: %s", error.why);
}

/* ---- Good archives --------------------------------------------------------------------------- */

static void test_files(void **state)
{
    (void)state;
    add_status();
    add("work/", '5', 0755, "");
    add("work/perf.data", '0', 0644, "PERFILE2");
    add("work/sub/", '5', 0755, "");
    add("work/sub/deep/er/x", '\0', 0755, "x"); /* its folders are not in the archive */
    add("./work//./name \n ", '0', 0600, "blank");
    add("work/empty", '0', 0644, "");
    add_end();
    umask(022);
    take_well();
    holds(in_output("perf.data"), "PERFILE2");
    holds(in_output("sub/deep/er/x"), "x");
    holds(in_output("name \n "), "blank");
    holds(in_output("empty"), "");
    assert_int_equal(mode_of(in_output("sub/deep/er/x")), 0755);
    assert_int_equal(mode_of(in_output("name \n ")), 0600);
    assert_int_equal(all_names(), 8);
    assert_non_null(strstr(told, "perf.data: from the guest: 1 file, 8 bytes\n"));
    assert_non_null(strstr(told, "sub: from the guest: 1 file, 1 bytes\n"));
}

static void test_modes(void **state)
{
    (void)state;
    add_status();
    add("work/suid", '0', 06755, "s");
    add("work/sticky/", '5', 07777, "");
    add("work/unreadable", '0', 0, "u");
    add_end();
    umask(022);
    take_well();
    assert_int_equal(mode_of(in_output("suid")), 0755);
    assert_int_equal(mode_of(in_output("sticky")), 0755);
    assert_int_equal(mode_of(in_output("unreadable")), 0600);
}

static void test_no_status(void **state)
{
    (void)state;
    add_end();
    assert_int_equal(take(false), 0);
    assert_int_equal(outcome.status, -1);
    assert_false(outcome.incomplete);
    assert_int_equal(access(output, F_OK), -1); /* an output of ours in which nothing is */
}

static void test_long_names(void **state)
{
    char name[VM_TAR_NAME_MAX] = "work/", *at = name + strlen(name);

    (void)state;
    for (int i = 0; i < 10; i++) { /* ten folders of 200 letters */
        memset(at, 'a' + i, 200);
        at[200] = '/';
        at += 201;
    }
    at[-1] = '\0';
    add_status();
    add_long_name(name, strlen(name) + 1);
    add("work/aaa", '0', 0644, "gnu");
    add_end();
    take_well();
    holds(in_output(name + 5), "gnu");
}

static void test_ustar_prefix(void **state)
{
    uint8_t *h;

    (void)state;
    add_status();
    h = add_header("file", '0', 0644, 3);
    memcpy(h + 257, "ustar\00000", 8);
    memcpy(h + 345, "work/sub", 8);
    seal(h);
    add_bytes("pos", 3);
    h = add_header("work/gnu", '0', 0644, 0); /* GNU keeps times there */
    memcpy(h + 345, "../../x", 7);
    seal(h);
    add_end();
    take_well();
    holds(in_output("sub/file"), "pos");
    holds(in_output("gnu"), "");
}

static void test_pax(void **state)
{
    uint8_t *h;

    (void)state;
    add_status();
    add_pax("20 path=work/by-pax\n30 mtime=1700000000.123456789\n");
    add("work/short", '0', 0644, "p");
    add("global", 'g', 0644, "17 comment=hallo\n");
    add_pax("10 size=5\n");
    h = add_header("work/five", '0', 0644, 0);
    seal(h);
    add_bytes("12345", 5);
    add_end();
    take_well();
    holds(in_output("by-pax"), "p");
    holds(in_output("five"), "12345");
    assert_int_equal(all_names(), 3);
}

static void test_binary_size(void **state)
{
    uint8_t *h;

    (void)state;
    add_status();
    h = add_header("work/binary", '0', 0644, 0);
    memcpy(h + 124, "\x80\0\0\0\0\0\0\0\0\0\0\3", 12);
    seal(h);
    add_bytes("256", 3);
    add_end();
    take_well();
    holds(in_output("binary"), "256");
}

/* ---- Refused, while the rest comes ----------------------------------------------------------- */

static void test_types(void **state)
{
    static const struct {
        char type;
        const char *why;
    } types[] = {{'1', "it is a hard link"},
                 {'2', "it is a symbolic link"},
                 {'3', "it is a device"},
                 {'4', "it is a device"},
                 {'6', "it is a FIFO"},
                 {'7', "it is neither a file nor a directory"},
                 {'S', "it is stored as a sparse file"},
                 {'V', "it is neither a file nor a directory"},
                 {'\xff', "it is neither a file nor a directory"}};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        uint8_t *h;

        add_status();
        h = add_header("work/thing", types[i].type, 0777, 0);
        memcpy(h + 157, "/etc/passwd", 11);
        memcpy(h + 329, "0000001\0000000003", 15); /* /dev/null */
        seal(h);
        refused("work/thing", types[i].why);
        tear_down(state);
        set_up(state);
    }
}

/* A link has no bytes, whatever its size says. */
static void test_link_with_size(void **state)
{
    (void)state;
    add_status();
    add_header("work/link", '2', 0777, 3);
    refused("work/link", "it is a symbolic link");
}

static void test_names(void **state)
{
    static const char out[] = "its name leads out of the directory",
                      aside[] = "it is not in the command's directory";
    static const struct {
        const char *name, *why;
    } names[] = {{"work/../escaped", out},
                 {"../escaped", out},
                 {"work/sub/../../../escaped", out},
                 {"work/..", out},
                 {"/work/escaped", "its name is absolute"},
                 {"/etc/cron.d/x", "its name is absolute"},
                 {"dmesg", aside},
                 {"workshop/x", aside},
                 {".", aside},
                 {"", aside},
                 {"work", "it is where the command's directory should be"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        add_status();
        add(names[i].name, '0', 0644, "evil");
        refused(names[i].name, names[i].why);
        tear_down(state);
        set_up(state);
    }
}

static void test_too_deep(void **state)
{
    char name[200] = "work";

    (void)state;
    for (int i = 0; i < 64; i++)
        strcat(name, "/a");
    add_status();
    add_long_name(name, strlen(name));
    add("work/a", '0', 0644, "deep");
    refused(name, "it is too deep");
}

static void test_bad_long_name(void **state)
{
    char *name = calloc(1, 20000);

    (void)state;
    assert_non_null(name);
    memset(name, 'n', 19999);
    memcpy(name, "work/", 5);
    add_status();
    add_long_name(name, 20000);
    add("work/short", '0', 0644, "long");
    name[VM_TAR_NAME_MAX - 1] = '\0';
    add("work/after", '0', 0644, "after");
    add_end();
    assert_int_equal(take(false), 0);
    assert_true(outcome.incomplete);
    assert_non_null(strstr(told, ": refused: its name is too long or holds a NUL\n"));
    assert_int_equal(strncmp(told, name, VM_TAR_NAME_MAX - 1), 0);
    assert_int_equal(all_names(), 2);
    free(name);
}

/* A component that the file system does not take. */
static void test_long_component(void **state)
{
    char name[400] = "work/";

    (void)state;
    memset(name + 5, 'c', 300);
    add_status();
    add_long_name(name, strlen(name));
    add("work/c", '0', 0644, "c");
    refused(name, strerror(ENAMETOOLONG));
}

static void test_pax_nul_in_name(void **state)
{
    static const char pax[] = "18 path=work/a\0bc\n";

    (void)state;
    add_status();
    add_header("pax", 'x', 0644, sizeof(pax) - 1);
    add_bytes(pax, sizeof(pax) - 1);
    add("work/x", '0', 0644, "x");
    refused("work/a", "its name is too long or holds a NUL");
}

static void test_pax_leads_out(void **state)
{
    (void)state;
    add_status();
    add_pax("22 path=../../escaped\n");
    add("work/x", '0', 0644, "x");
    refused("../../escaped", "its name leads out of the directory");
}

static void test_pax_sparse(void **state)
{
    (void)state;
    add_status();
    add_pax("22 GNU.sparse.major=1\n");
    add("work/x", '0', 0644, "x");
    refused("work/x", "it is stored as a sparse file");
}

static void test_twice(void **state)
{
    (void)state;
    add_status();
    add("work/after", '0', 0644, "after");
    refused("work/after", "the archive has this name twice");
}

static void test_file_for_folder(void **state)
{
    (void)state;
    add_status();
    add("work/after", '0', 0644, "after");
    add("work/after/below", '0', 0644, "below");
    add_end();
    assert_int_equal(take(false), 0);
    assert_non_null(
        strstr(told, "work/after/below: refused: a file is where its directory should"));
    assert_int_equal(all_names(), 2);
}

/* A link is refused, so a name behind it makes a folder here. */
static void test_through_own_link(void **state)
{
    uint8_t *h;

    (void)state;
    add_status();
    h = add_header("work/l", '2', 0777, 0);
    memcpy(h + 157, around, strlen(around));
    seal(h);
    add("work/l/escaped", '0', 0644, "no");
    add_end();
    assert_int_equal(take(false), 0);
    assert_true(outcome.incomplete);
    holds(in_output("l/escaped"), "no");
    assert_int_equal(all_names(), 3);
}

static void test_many_refused(void **state)
{
    (void)state;
    add_status();
    for (int i = 0; i < 100; i++)
        add_header("work/l", '2', 0777, 0);
    add_end();
    assert_int_equal(take(false), 0);
    assert_non_null(strstr(told, "the guest's files: 80 more were refused\n"));
}

static void test_bad_status(void **state)
{
    static const char *const bad[] = {"", "x", "256", "-1", "7x", "0000000000000000000007"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        add("status", '0', 0644, bad[i]);
        add_end();
        assert_int_equal(take(false), 0);
        assert_int_equal(outcome.status, -1);
        assert_non_null(strstr(told, "status: refused: it is not a"));
        tear_down(state);
        set_up(state);
    }
    add("status", '6', 0644, "");
    add_end();
    assert_int_equal(take(false), 0);
    assert_int_equal(outcome.status, -1);
    assert_non_null(strstr(told, "status: refused: it is a FIFO\n"));
}

/* ---- Damaged --------------------------------------------------------------------------------- */

/* At every place: nothing comes that is not whole. */
static void test_truncated(void **state)
{
    const size_t whole = 6 * (size_t)BLOCK;

    for (size_t size = 1; size <= whole; size += 171) { /* 512 is not a multiple */
        add_status();
        add("work/first", '0', 0644, "first");
        add("work/second", '0', 0644, "second");
        assert_int_equal(a.size, whole);
        a.size = size;
        damaged("the archive ends");
        assert_int_equal(access(in_output("first"), F_OK), size >= 4 * (size_t)BLOCK ? 0 : -1);
        assert_int_equal(access(in_output("second"), F_OK), size == whole ? 0 : -1);
        tear_down(state);
        set_up(state);
    }
}

static void bad_size(const char *field)
{
    uint8_t *h;

    a.size = 0;
    add_status();
    h = add_header("work/x", '0', 0644, 0);
    memcpy(h + 124, field, 12);
    seal(h);
    add_end();
    assert_true(take(false) < 0);
    assert_string_equal(error.what, "the guest's archive"); /* the reader, before any limit */
    assert_int_equal(access(in_output("x"), F_OK), -1);
}

static void test_sizes(void **state)
{
    (void)state;
    bad_size("77777777777\0");                              /* 8 GB */
    bad_size("777777777777");                               /* 64 GB, no NUL */
    bad_size("00000002001\0");                              /* one more than there are */
    bad_size("12345678901\0");                              /* not octal */
    bad_size("-0000000001\0");                              /* signs are not digits */
    bad_size("1 1        \0");                              /* two numbers */
    bad_size("\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"); /* 2^64 - 1: rounding up overflows */
    bad_size("\x80\0\0\1\0\0\0\0\0\0\0\0");                 /* 2^64 */
    bad_size("\x80\0\0\0\x80\0\0\0\0\0\0\0");               /* 2^63: negative as an offset */
    bad_size("\x80\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
    bad_size("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"); /* -1 */
    bad_size("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe\0");   /* a block back: a loop */
}

static void test_checksum(void **state)
{
    uint8_t *h;

    (void)state;
    add_status();
    h = add_header("work/x", '0', 0644, 0);
    h[0] ^= 1;
    add_end();
    damaged("the checksum of a header is wrong");
    assert_int_equal(outcome.status, 7);
}

static void test_not_an_archive(void **state)
{
    static const struct {
        const char *bytes, *why;
    } kinds[] = {{"\x1f\x8b\x08\x08", "it is compressed with gzip"},
                 {"BZh91AY&SY", "it is compressed with bzip2"},
                 {"\xfd\x37zXZ\x01", "it is compressed with xz"},
                 {"\x28\xb5\x2f\xfd", "it is compressed with zstd"},
                 {"LZIP\x01", "it is compressed with lzip"},
                 {"\x04\x22\x4d\x18", "it is compressed with lz4"},
                 {"\x1f\x9d\x90", "it is compressed with compress"},
                 {"\x89LZO", "it is compressed with lzop"},
                 {"070701 a cpio", "this is not the header of a tar archive"}};

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        a.size = 0;
        memset(a.bytes, 0x55, 4 * (size_t)BLOCK);
        strcpy((char *)grow(4 * (size_t)BLOCK), kinds[i].bytes);
        damaged(kinds[i].why);
    }
}

/* Compressed bytes behind a good entry are not an archive, either. */
static void test_compressed_later(void **state)
{
    (void)state;
    add_status();
    memset(grow(BLOCK), 0x55, BLOCK);
    damaged("this is not the header of a tar archive");
}

static void bad_pax(const char *text)
{
    a.size = 0;
    memset(a.bytes, 0, ROOM);
    add_status();
    add_pax(text);
    add("work/x", '0', 0644, "x");
    add_end();
    damaged("a pax header is invalid");
}

static void test_bad_pax(void **state)
{
    (void)state;
    bad_pax("x");
    bad_pax("999 path=x\n");
    bad_pax("0 path=work/y\n");
    bad_pax("3 path=work/y\n");
    bad_pax("14 path=work/y!");
    bad_pax("15 path work/y\n");
    bad_pax("-5 path=work/y\n");
    bad_pax("18446744073709551630 path=work/y\n");
    bad_pax("12 size=abc\n");
    bad_pax("11 size=-1\n");
    bad_pax("9 size=\n");
    bad_pax("29 size=18446744073709551616\n");
}

static void test_pax_size(void **state)
{
    (void)state;
    add_status();
    add_pax("29 size=18446744073709551600\n");
    add("work/x", '0', 0644, "x");
    add_end();
    damaged("the archive ends before this entry does");
    assert_int_equal(access(in_output("x"), F_OK), -1);
}

static void test_long_header(void **state)
{
    static char text[VM_TAR_AHEAD_MAX + 1];

    (void)state;
    memset(text, 'a', sizeof(text));
    add_status();
    add_long_name(text, sizeof(text));
    add("work/x", '0', 0644, "x");
    add_end();
    damaged("a header is too long");
}

/* Headers that are about another one, which does not come. */
static void test_header_alone(void **state)
{
    (void)state;
    add_status();
    add_long_name("work/y", 7);
    add_end();
    take_well();
    assert_int_equal(all_names(), 0);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void test_size_limit(void **state)
{
    (void)state;
    limits.bytes = 10;
    add_status();
    add("work/five", '0', 0644, "12345");
    add("work/more", '0', 0644, "67890");
    add("work/over", '0', 0644, "1");
    add_end();
    assert_true(take(false) < 0);
    assert_non_null(strstr(error.why, "--max-size"));
    assert_string_equal(error.what, "work/over");
    holds(in_output("five"), "12345");
    holds(in_output("more"), "67890");
    assert_int_equal(all_names(), 3);
}

/* What is refused counts, too: a million links take no less time. */
static void test_count_limit(void **state)
{
    (void)state;
    limits.entries = 4;
    add_status();
    add("work/", '5', 0755, "");
    add_header("work/l", '2', 0777, 0);
    add("work/last", '0', 0644, "last");
    add("work/over", '0', 0644, "over");
    add_end();
    assert_true(take(false) < 0);
    assert_non_null(strstr(error.why, "--max-files"));
    holds(in_output("last"), "last");
    assert_int_equal(all_names(), 2);
}

/* ---- Into a folder that is in use ------------------------------------------------------------ */

static void test_existing_file(void **state)
{
    char *at;

    (void)state;
    assert_int_equal(mkdir(output, 0777), 0);
    make(in_output("mine"), "mine");
    add_status();
    add("work/mine", '0', 0644, "theirs");
    add("work/new", '0', 0644, "new");
    add_end();
    assert_int_equal(take(false), 0);
    assert_true(outcome.incomplete);
    assert_int_equal(outcome.status, 7);
    holds(in_output("mine"), "mine");
    holds(in_output("new"), "new");
    /* The sentence says where the guest's is. */
    at = strstr(told, "mine: the guest's is in ");
    assert_non_null(at);
    at += strlen("mine: the guest's is in ");
    *strstr(at, ": it exists already (--force") = '\0';
    strcat(at, "/mine");
    holds(at, "theirs");
}

static void test_force(void **state)
{
    (void)state;
    assert_int_equal(mkdir(output, 0777), 0);
    make(in_output("mine"), "mine");
    assert_int_equal(mkdir(in_output("sub"), 0777), 0);
    make(in_output("sub/kept"), "kept");
    make(in_output("sub/mine"), "mine");
    make(in_output("victim"), "victim");
    assert_int_equal(symlink("victim", in_output("link")), 0);
    add_status();
    add("work/mine", '0', 0644, "theirs");
    add("work/.hidden", '0', 0644, "hidden");
    add("work/sub/mine", '0', 0644, "theirs");
    add("work/sub/new/x", '0', 0644, "new");
    add("work/link", '0', 0644, "was a link");
    add_end();
    assert_int_equal(take(true), 0);
    assert_false(outcome.incomplete);
    holds(in_output("mine"), "theirs");
    holds(in_output(".hidden"), "hidden");
    holds(in_output("sub/kept"), "kept");
    holds(in_output("sub/mine"), "theirs");
    holds(in_output("sub/new/x"), "new");
    holds(in_output("victim"), "victim"); /* the link was replaced, not followed */
    holds(in_output("link"), "was a link");
    assert_int_equal(all_names(), 10);
}

/* The user has a link to another folder; the guest knows its name. */
static void existing_link(bool force)
{
    char target[PATH_MAX + 16];

    snprintf(target, sizeof(target), "%s/elsewhere", around);
    assert_int_equal(mkdir(target, 0777), 0);
    assert_int_equal(mkdir(output, 0777), 0);
    assert_int_equal(symlink(target, in_output("l")), 0);
    add_status();
    add("work/l/authorized_keys", '0', 0644, "evil");
    add_end();
    assert_int_equal(take(force), 0);
    assert_true(outcome.incomplete);
    assert_non_null(strstr(told, "l: the guest's is in "));
    assert_int_equal(rmdir(target), 0); /* it is empty */
    assert_int_equal(unlink(in_output("l")), 0);
}

static void test_existing_link(void **state)
{
    (void)state;
    existing_link(false);
}

static void test_existing_link_force(void **state)
{
    (void)state;
    existing_link(true);
}

static void test_folder_in_use(void **state)
{
    (void)state;
    assert_int_equal(mkdir(output, 0777), 0);
    assert_int_equal(mkdir(in_output("src"), 0777), 0);
    add_status();
    add("work/.bash_profile", '0', 0644, "evil");
    add("work/.ssh/authorized_keys", '0', 0644, "evil");
    add("work/src/planted.c", '0', 0644, "evil");
    add_end();
    assert_int_equal(take(false), 0);
    assert_true(outcome.incomplete);
    assert_int_equal(access(in_output(".bash_profile"), F_OK), -1);
    assert_int_equal(access(in_output(".ssh"), F_OK), -1);
    assert_int_equal(access(in_output("src/planted.c"), F_OK), -1);
    assert_non_null(strstr(told, ".ssh: the guest's is in "));
    assert_non_null(strstr(told, ": hidden names are not moved to an existing directory"));
}

/* A folder of its own has no such rules. */
static void test_own_folder(void **state)
{
    (void)state;
    add_status();
    add("work/.hidden", '0', 0644, "hidden");
    add_end();
    take_well();
    holds(in_output(".hidden"), "hidden");
}

static void test_recording(void **state)
{
    (void)state;
    assert_int_equal(mkdir(output, 0777), 0);
    make(in_output("perf.data"), "first");
    make(in_output("perf.data.old"), "older");
    add_status();
    add("work/perf.data", '0', 0644, "second");
    add_end();
    take_well();
    holds(in_output("perf.data"), "second");
    holds(in_output("perf.data.old"), "first");
    assert_non_null(strstr(told, "; the one that was there is perf.data.old now\n"));
    assert_int_equal(all_names(), 3);
}

static void test_no_output(void **state)
{
    struct vm_output o;

    (void)state;
    make(output, "a file");
    assert_true(vm_output_open(&o, output, &error) < 0);
    assert_string_equal(error.why, strerror(ENOTDIR));
    holds(output, "a file");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_files),
        T(test_modes),
        T(test_no_status),
        T(test_long_names),
        T(test_ustar_prefix),
        T(test_pax),
        T(test_binary_size),
        T(test_types),
        T(test_link_with_size),
        T(test_names),
        T(test_too_deep),
        T(test_bad_long_name),
        T(test_long_component),
        T(test_pax_nul_in_name),
        T(test_pax_leads_out),
        T(test_pax_sparse),
        T(test_twice),
        T(test_file_for_folder),
        T(test_through_own_link),
        T(test_many_refused),
        T(test_bad_status),
        T(test_truncated),
        T(test_sizes),
        T(test_checksum),
        T(test_not_an_archive),
        T(test_compressed_later),
        T(test_bad_pax),
        T(test_pax_size),
        T(test_long_header),
        T(test_header_alone),
        T(test_size_limit),
        T(test_count_limit),
        T(test_existing_file),
        T(test_force),
        T(test_existing_link),
        T(test_existing_link_force),
        T(test_folder_in_use),
        T(test_own_folder),
        T(test_recording),
        T(test_no_output),
    };
#undef T

    return cmocka_run_group_tests(tests, NULL, NULL);
}
