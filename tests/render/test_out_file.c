/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A file that must be new does not replace one that came while it was written. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "render/out_file.h"

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void check_file(const char *path, const char *text)
{
    char bytes[16] = {0};
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0);
    assert_true(read(fd, bytes, sizeof(bytes) - 1) >= 0);
    close(fd);
    assert_string_equal(bytes, text);
}

static int count_files(const char *folder)
{
    DIR *dir = opendir(folder);
    int n = 0;

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static int write_new(const char *path, bool only_new, const char *meanwhile)
{
    struct out_file f;

    assert_int_equal(out_file_open(&f, path), 0);
    f.only_new = only_new;
    assert_int_equal(write(f.fd, "ours", 4), 4);
    if (meanwhile)
        write_file(path, meanwhile);
    return out_file_close(&f, true);
}

static void only_new(void **state)
{
    char folder[] = "/tmp/spe-out-XXXXXX", path[64];

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/file", folder);
    assert_int_equal(write_new(path, true, "theirs"), EEXIST);
    check_file(path, "theirs");
    assert_int_equal(count_files(folder), 1);
    assert_int_equal(write_new(path, false, "theirs"), 0);
    check_file(path, "ours");
    unlink(path);
    assert_int_equal(write_new(path, true, NULL), 0);
    check_file(path, "ours");
    assert_int_equal(count_files(folder), 1);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_new)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
