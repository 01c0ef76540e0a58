/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which QEMU is it? Small programs say what those of several versions and distributions say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fakes.h"
#include "launch/qemu.h"

#define USER "qemu-aarch64 version "
#define SYSTEM "version "

static char *qemu(const char *version_says)
{
    char lines[1000];

    snprintf(lines, sizeof(lines),
             "case $1 in\n--version) echo '%s' ;;\n--help) echo ' -plugin FILE' ;;\nesac",
             version_says);
    return fake_program("qemu", lines);
}

static enum qemu_verdict examine(char *path, const char *before, struct qemu_version *version)
{
    char *command[] = {path, NULL};

    *version = (struct qemu_version){-1, -1};
    return qemu_examine(command, before, QEMU_PATIENCE, version);
}

static void test_versions(void **state)
{
    static const struct {
        const char *says, *before;
        int major, minor, level;
    } all[] = {
        {"qemu-aarch64 version 5.2.0 (Debian 1:5.2+dfsg-11+deb11u3)", USER, 5, 2, 0},
        {"qemu-aarch64 version 6.0.0", USER, 6, 0, 1},
        {"qemu-aarch64 version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)", USER, 7, 2, 1},
        {"qemu-aarch64 version 8.2.2 (Debian 1:8.2.2+ds-0ubuntu1.4)", USER, 8, 2, 1},
        {"qemu-aarch64 version 9.0.0", USER, 9, 0, 2},
        {"qemu-aarch64 version 9.1.3", USER, 9, 1, 3},
        {"qemu-aarch64 version 9.2.1", USER, 9, 2, 4},
        {"qemu-aarch64 version 10.0.2 (Debian 1:10.0.2+ds-2)", USER, 10, 0, 4},
        {"qemu-aarch64 version 10.1.0", USER, 10, 1, 5},
        {"qemu-aarch64 version 10.2.50 (v10.2.0-12-gabcdef-dirty)", USER, 10, 2, 5},
        {"qemu-aarch64 version 11.0.0", USER, 11, 0, 6},
        {"QEMU emulator version 11.0.1 (Debian 1:11.0.1+ds-1~bpo13+1)", SYSTEM, 11, 0, 6},
        {"QEMU emulator version 11.1.2", SYSTEM, 11, 1, 7},
        {"QEMU emulator version 12.0", SYSTEM, 12, 0, 7},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct qemu_version version;

        assert_int_equal(examine(qemu(all[i].says), all[i].before, &version), QEMU_GOOD);
        assert_int_equal(version.major, all[i].major);
        assert_int_equal(version.minor, all[i].minor);
        assert_int_equal(qemu_plugin_level(&version), all[i].level);
    }
}

static void test_others(void **state)
{
    static const char *const says[] = {
        "",
        "garbage",
        "qemu-aarch64 version",
        "qemu-aarch64 version x.y",
        "qemu-aarch64 version 7",
        "qemu-aarch64 version 7.x",
        "qemu-aarch64 version -7.2",
        "qemu-arm version 7.2.22",
        "QEMU emulator version 7.2.22", /* the other kind */
    };
    struct qemu_version version;

    (void)state;
    for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++)
        assert_int_equal(examine(qemu(says[i]), USER, &version), QEMU_OTHER);
    /* It says a version, and that something went wrong. */
    assert_int_equal(
        examine(fake_program("fails", "echo qemu-aarch64 version 7.2.0; exit 1"), USER, &version),
        QEMU_OTHER);
    assert_int_equal(examine(fake_program("dies", "echo qemu-aarch64 version 7.2.0; kill -9 $$"),
                             USER, &version),
                     QEMU_OTHER);
    /* On standard error it does not count. */
    assert_int_equal(
        examine(fake_program("error", "echo qemu-aarch64 version 7.2.0 >&2"), USER, &version),
        QEMU_OTHER);
    /* More than there is room for: the beginning counts, and its end does not hang. */
    assert_int_equal(
        examine(fake_program("long", "echo qemu-aarch64 version 7.2.0; yes | head -c 1000000"),
                USER, &version),
        QEMU_GOOD);
}

static void test_absent(void **state)
{
    struct qemu_version version;

    (void)state;
    assert_int_equal(examine(fake_path("nothing"), USER, &version), QEMU_ABSENT);
    assert_int_equal(examine(fake_file("plain", "#!/bin/sh\n", 0644), USER, &version), QEMU_ABSENT);
    assert_int_equal(examine(fakes, USER, &version), QEMU_ABSENT);
}

/* It ignores SIGTERM as well, and does not keep us for ever. */
static void test_silent(void **state)
{
    char *command[] = {fake_program("hangs", "trap '' TERM; while :; do sleep 0.1; done"), NULL};
    struct qemu_version version;

    (void)state;
    assert_int_equal(qemu_examine(command, USER, 1, &version), QEMU_SILENT);
    assert_false(qemu_has_plugins(command, 1));
}

static void test_plugins(void **state)
{
    char *with[] = {qemu("x"), NULL};

    (void)state;
    assert_true(qemu_has_plugins(with, QEMU_PATIENCE));
    {
        char *without[] = {fake_program("without", "echo ' -cpu MODEL'"), NULL};

        assert_false(qemu_has_plugins(without, QEMU_PATIENCE));
    }
}

/* What a program's file says is believed without starting it, but not what a script contains. */
static void test_file(void **state)
{
    char program[] = "\177ELF and more qemu-aarch64 version 9.8.7 (Test)\n";
    char script[] = "#!/bin/sh\necho other # qemu-aarch64 version 9.8.7\n";
    char plugins[] = "\177ELF qemu_plugin_register_vcpu_tb_trans_cb";
    char *with[] = {fake_file("offers", plugins, 0755), NULL};
    struct qemu_version version = {0};

    (void)state;
    assert_true(qemu_has_plugins(with, QEMU_PATIENCE));
    assert_int_equal(examine(fake_file("script", script, 0755), USER, &version), QEMU_OTHER);
    assert_int_equal(examine(fake_file("program", program, 0755), USER, &version), QEMU_GOOD);
    assert_int_equal(version.major, 9);
    assert_int_equal(version.minor, 8);
}

/* Words in front: a loader and its arguments. */
static void test_words(void **state)
{
    char shell[] = "/bin/sh", flag[] = "-e";
    char *command[] = {shell, flag, qemu("QEMU emulator version 11.1.2"), NULL};
    struct qemu_version version;

    (void)state;
    assert_int_equal(qemu_examine(command, SYSTEM, QEMU_PATIENCE, &version), QEMU_GOOD);
    assert_int_equal(version.minor, 1);
}

/* Only 11.0 has to be told: its level looks like the next one from inside. */
static void test_told_level(void **state)
{
    static const struct qemu_version old = {10, 2}, odd = {11, 0}, new = {11, 1};

    (void)state;
    setenv("SPECIMEN_PLUGIN_LEVEL", "3", 1);
    qemu_tell_level(&old);
    assert_null(getenv("SPECIMEN_PLUGIN_LEVEL"));
    qemu_tell_level(&odd);
    assert_string_equal(getenv("SPECIMEN_PLUGIN_LEVEL"), "6");
    qemu_tell_level(&new);
    assert_null(getenv("SPECIMEN_PLUGIN_LEVEL"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions), cmocka_unit_test(test_others),
        cmocka_unit_test(test_absent),   cmocka_unit_test(test_silent),
        cmocka_unit_test(test_plugins),  cmocka_unit_test(test_file),
        cmocka_unit_test(test_words),    cmocka_unit_test(test_told_level),
    };

    return cmocka_run_group_tests(tests, make_fakes, remove_fakes);
}
