/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Where things are: programs in PATH, the cache, the plugin, sysroots; and what a program is. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fakes.h"
#include "launch/folders.h"
#include "launch/option.h"
#include "launch/program.h"

static void test_path(void **state)
{
    char found[PATH_MAX], path[PATH_MAX + 32], *before = strdup(getenv("PATH"));

    (void)state;
    fake_program("tool", "exit 0");
    mkdir(fake_path("folder"), 0755);
    fake_file("plain", "", 0644);
    snprintf(path, sizeof(path), "/nowhere:%s:/bin", fakes);
    setenv("PATH", path, 1);
    assert_true(launch_find_program("tool", found));
    assert_string_equal(found, fake_path("tool"));
    assert_true(launch_find_program("sh", found));
    assert_string_equal(found, "/bin/sh");
    assert_false(launch_find_program("plain", found)); /* may not be executed */
    assert_false(launch_find_program("folder", found));
    assert_false(launch_find_program("nothing", found));
    assert_true(launch_find_program(fake_path("plain"), found)); /* a path is taken as it is */
    assert_false(launch_find_program("/nowhere/tool", found));
    setenv("PATH", before, 1);
    free(before);
}

static void test_cache(void **state)
{
    char found[PATH_MAX];

    (void)state;
    setenv("XDG_CACHE_HOME", "/caches", 1);
    assert_true(launch_cache("vm", found, sizeof(found)));
    assert_string_equal(found, "/caches/specimen/vm");
    setenv("XDG_CACHE_HOME", "relative", 1); /* is not allowed, and not looked at */
    setenv("HOME", "/home/me", 1);
    assert_true(launch_cache("vm", found, sizeof(found)));
    assert_string_equal(found, "/home/me/.cache/specimen/vm");
    assert_false(launch_cache("vm", found, 10));
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_false(launch_cache("vm", found, sizeof(found)));
}

static void test_plugin(void **state)
{
    char found[PATH_MAX];
    const char *given;

    (void)state;
    setenv("SPECIMEN_PLUGIN", fake_file("plugin.so", "", 0644), 1);
    assert_true(launch_plugin(found, sizeof(found), &given));
    assert_string_equal(found, fake_path("plugin.so"));
    setenv("SPECIMEN_PLUGIN", "/nowhere.so", 1);
    assert_false(launch_plugin(found, sizeof(found), &given));
    assert_string_equal(given, "/nowhere.so");
    setenv("SPECIMEN_PLUGIN", "", 1);
    launch_plugin(found, sizeof(found), &given);
    assert_null(given);
    assert_false(launch_file("no-such-file-of-ours", found, sizeof(found)));
    assert_non_null(strstr(launch_installed(), "specimen"));
}

static void test_sysroot(void **state)
{
    char found[PATH_MAX];

    (void)state;
    setenv("QEMU_LD_PREFIX", "/prefix", 1);
    launch_sysroot("/given", found);
    assert_string_equal(found, "/given");
    launch_sysroot(NULL, found);
    assert_string_equal(found, "/prefix");
    unsetenv("QEMU_LD_PREFIX");
    launch_sysroot(NULL, found); /* whatever this machine has, it is there */
    assert_true(!found[0] || access(found, F_OK) == 0);
}

/* An ELF header alone, which is enough to tell what it is. */
static char *elf_file(const char *name, unsigned type, unsigned machine, unsigned bits)
{
    char *path = fake_path(name);
    Elf64_Ehdr e = {.e_type = (Elf64_Half)type, .e_machine = (Elf64_Half)machine};
    FILE *f = fopen(path, "wb");

    memcpy(e.e_ident, ELFMAG, SELFMAG);
    e.e_ident[EI_CLASS] = (unsigned char)bits;
    e.e_ident[EI_DATA] = ELFDATA2LSB;
    assert_non_null(f);
    assert_int_equal(fwrite(&e, sizeof(e), 1, f), 1);
    assert_int_equal(fclose(f), 0);
    return path;
}

static void test_programs(void **state)
{
    struct program p;

    (void)state;
    assert_int_equal(program_examine(elf_file("good", ET_EXEC, EM_AARCH64, ELFCLASS64), "", &p),
                     PROGRAM_OK);
    assert_int_equal(program_examine(elf_file("x86", ET_EXEC, EM_X86_64, ELFCLASS64), "", &p),
                     PROGRAM_FOREIGN);
    assert_int_equal(p.machine, EM_X86_64);
    assert_int_equal(program_examine(elf_file("ilp32", ET_EXEC, EM_AARCH64, ELFCLASS32), "", &p),
                     PROGRAM_FOREIGN);
    assert_int_equal(program_examine(elf_file("object", ET_REL, EM_AARCH64, ELFCLASS64), "", &p),
                     PROGRAM_LIBRARY);
    assert_int_equal(program_examine(fakes, "", &p), PROGRAM_DIRECTORY);
    assert_int_equal(mkfifo(fake_path("fifo"), 0600), 0);
    assert_int_equal(program_examine(fake_path("fifo"), "", &p),
                     PROGRAM_DIRECTORY); /* no waiting */
    assert_int_equal(program_examine(fake_path("nothing"), "", &p), PROGRAM_MISSING);
    assert_int_equal(program_examine(fake_file("text", "hello\n", 0755), "", &p), PROGRAM_UNKNOWN);
}

/* A header that ends early says nothing of what comes behind it. */
static void test_cut_programs(void **state)
{
    struct program p;

    (void)state;
    for (off_t size = 0; size < (off_t)sizeof(Elf64_Ehdr); size++) {
        char *path = elf_file("cut", ET_EXEC, EM_AARCH64, ELFCLASS64);

        assert_int_equal(truncate(path, size), 0);
        assert_int_equal(program_examine(path, "", &p), PROGRAM_UNKNOWN);
    }
}

/* A script is its interpreter, which is looked for in the sysroot first. */
static void test_scripts(void **state)
{
    struct program p;

    (void)state;
    mkdir(fake_path("opt"), 0755);
    elf_file("opt/interpreter", ET_EXEC, EM_AARCH64, ELFCLASS64);
    fake_file("script", "#! /opt/interpreter  -x  y\nhello\n", 0755);
    assert_int_equal(program_examine(fake_path("script"), fakes, &p), PROGRAM_OK);
    assert_true(p.script);
    assert_string_equal(p.interpreter, "/opt/interpreter");
    assert_string_equal(p.argument, "-x  y");
    assert_string_equal(p.file, fake_path("opt/interpreter"));
    assert_int_equal(program_examine(fake_path("script"), "", &p), PROGRAM_MISSING);
    assert_int_equal(program_examine(fake_file("empty", "#!\n", 0755), "", &p), PROGRAM_UNKNOWN);
}

static void test_option_values(void **state)
{
    char *text = option_value("/a,b,,c");

    (void)state;
    assert_string_equal(text, "/a,,b,,,,c");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path),     cmocka_unit_test(test_cache),
        cmocka_unit_test(test_plugin),   cmocka_unit_test(test_sysroot),
        cmocka_unit_test(test_programs), cmocka_unit_test(test_cut_programs),
        cmocka_unit_test(test_scripts),  cmocka_unit_test(test_option_values),
    };

    return cmocka_run_group_tests(tests, make_fakes, remove_fakes);
}
