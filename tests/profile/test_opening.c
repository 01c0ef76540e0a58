/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The first bytes of a file tell what it is: they are read to the end, or it is not opened. */
#include <errno.h>
#include <specimen/profile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../support/profile_recording.h"

/* This is what the library calls, too. */
static struct {
    unsigned calls;   /* since it was set */
    unsigned fail_at; /* the call that fails, from 1 on; 0: none */
    int error;
    size_t most; /* bytes that a call brings; 0: all */
} trouble;

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    if (++trouble.calls == trouble.fail_at) {
        errno = trouble.error;
        return -1;
    }
    if (trouble.most && size > trouble.most)
        size = trouble.most;
    return syscall(SYS_pread64, fd, bytes, size, offset);
}

static void set_trouble(unsigned fail_at, int error, size_t most)
{
    trouble.calls = 0;
    trouble.fail_at = fail_at;
    trouble.error = error;
    trouble.most = most;
}

static char path[] = "/tmp/spe-opening-XXXXXX";

static int make_file(void **state)
{
    struct recording r = {0};
    int fd = mkstemp(path);

    (void)state;
    recording_open(&r, 0, 1, NEOVERSE_N1, NULL);
    recording_sample(&r, 0, 1, 0x1000, 0, 10);
    recording_flush(&r, 0, 0, ANY, 0);
    recording_finish(&r);
    if (fd < 0 || write(fd, r.bytes, r.size) != (ssize_t)r.size)
        return -1;
    recording_free(&r);
    return close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static int open_with(unsigned fail_at, int error, size_t most, bool *raw)
{
    struct spe_profile *p;
    int result;

    set_trouble(fail_at, error, most);
    result = spe_profile_open(&p, path, NULL, NULL);
    set_trouble(0, 0, 0);
    *raw = result == SPE_OK && spe_profile_info(p)->raw;
    spe_profile_close(p);
    return result;
}

static void trouble_with_the_first_bytes(void **state)
{
    bool raw;

    (void)state;
    assert_int_equal(open_with(0, 0, 0, &raw), SPE_OK);
    assert_false(raw);
    assert_int_equal(open_with(1, EIO, 0, &raw), SPE_ERR_IO);
    assert_int_equal(open_with(1, EINTR, 0, &raw), SPE_OK);
    assert_false(raw);
    for (size_t most = 1; most < 9; most++) {
        assert_int_equal(open_with(0, 0, most, &raw), SPE_OK);
        assert_false(raw);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trouble_with_the_first_bytes),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
