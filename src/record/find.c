/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "record/find.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qemu/places.h"
#include "qemu/program.h"

static bool is_program(const char *path)
{
    struct stat st;

    return access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The first of the directories in PATH that has it. */
static bool find_in_path(const char *name, char found[PATH_MAX])
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return snprintf(found, PATH_MAX, "%s", name) < PATH_MAX && access(found, F_OK) == 0;
    for (path = path ? path : "/usr/bin:/bin"; *path;) {
        int length = (int)strcspn(path, ":");

        if (snprintf(found, PATH_MAX, "%.*s/%s", length, path, name) < PATH_MAX &&
            is_program(found))
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

/* ---- QEMU ----------------------------------------------------------------------------------- */

/* What a program writes to standard output, as far as there is room. */
static bool output_of(const char *program, const char *argument, char *text, size_t room)
{
    size_t size = 0;
    int pipes[2], status;
    ssize_t got;
    pid_t child;

    text[0] = '\0';
    if (pipe2(pipes, O_CLOEXEC) < 0)
        return false;
    child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        dup2(pipes[1], STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execl(program, program, argument, (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    while (child > 0 && (got = read(pipes[0], text + size, room - 1 - size)) > 0)
        size += (size_t)got;
    close(pipes[0]);
    text[size] = '\0';
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
}

/* "qemu-aarch64 version 7.2.22 (Debian ...)" */
static bool parse_version(const char *text, struct found *found)
{
    static const char before[] = "qemu-aarch64 version ";
    const char *at = strstr(text, before);
    char *end;

    if (!at)
        return false;
    found->major = (int)strtol(at + sizeof(before) - 1, &end, 10);
    if (*end != '.')
        return false;
    found->minor = (int)strtol(end + 1, NULL, 10);
    return true;
}

enum verdict { QEMU_GOOD, QEMU_ABSENT, QEMU_OTHER, QEMU_WITHOUT_PLUGINS };

static enum verdict examine_qemu(const char *path, struct found *found)
{
    char text[32768];

    if (!is_program(path))
        return QEMU_ABSENT;
    if (!output_of(path, "--version", text, sizeof(text)) || !parse_version(text, found))
        return QEMU_OTHER;
    if (!output_of(path, "--help", text, sizeof(text)) || !strstr(text, "-plugin"))
        return QEMU_WITHOUT_PLUGINS;
    snprintf(found->qemu, sizeof(found->qemu), "%s", path);
    return QEMU_GOOD;
}

static bool given_qemu(const char *name, struct found *found, struct record_problem *problem)
{
    char path[PATH_MAX];

    switch (find_in_path(name, path) ? examine_qemu(path, found) : QEMU_ABSENT) {
    case QEMU_GOOD:
        return true;
    case QEMU_ABSENT:
        record_fail(problem, name, "there is no such program");
        break;
    case QEMU_OTHER:
        record_fail(problem, name, "this is not QEMU's user mode for AArch64 (qemu-aarch64)");
        break;
    case QEMU_WITHOUT_PLUGINS:
        record_fail(problem, name,
                    "this QEMU was built without plugins, which recording needs; "
                    "leave --qemu away, or run tools/build-qemu.sh");
        break;
    }
    return false;
}

static bool find_qemu(const char *given, struct found *found, struct record_problem *problem)
{
    static const char *const names[] = {"qemu-aarch64", "qemu-aarch64-static"};
    char path[PATH_MAX], useless[PATH_MAX] = "";

    if (!given)
        given = getenv("SPECIMEN_QEMU");
    if (given && given[0])
        return given_qemu(given, found, problem);
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        enum verdict v = find_in_path(names[i], path) ? examine_qemu(path, found) : QEMU_ABSENT;

        if (v == QEMU_GOOD)
            return true;
        if (v == QEMU_WITHOUT_PLUGINS)
            memcpy(useless, path, sizeof(useless));
    }
    if (places_cache("qemu/bin/qemu-aarch64", path, sizeof(path)) && /* tools/build-qemu.sh's */
        examine_qemu(path, found) == QEMU_GOOD)
        return true;
    if (useless[0])
        record_fail(problem, useless,
                    "this QEMU was built without plugins, which recording needs; run "
                    "tools/build-qemu.sh once, it makes one from your distribution's source");
    else
        record_fail(problem, "qemu-aarch64",
                    "there is no QEMU to run AArch64 programs; install the package qemu-user, or "
                    "name one with --qemu");
    return false;
}

/* ---- The plugin ----------------------------------------------------------------------------- */

static bool find_plugin(struct found *found, struct record_problem *problem)
{
    const char *given = getenv("SPECIMEN_PLUGIN");

    if (given && given[0]) {
        if (snprintf(found->plugin, sizeof(found->plugin), "%s", given) < PATH_MAX &&
            access(given, R_OK) == 0)
            return true;
        record_fail(problem, given, "SPECIMEN_PLUGIN names a plugin that cannot be read");
        return false;
    }
    if (places_file(PLACES_PLUGIN, found->plugin, sizeof(found->plugin)))
        return true;
    record_fail(problem, PLACES_PLUGIN,
                "the plugin for QEMU is neither beside this command nor in %s; install Specimen "
                "again, or name it in SPECIMEN_PLUGIN",
                places_installed());
    return false;
}

/* ---- The sysroot and the program ------------------------------------------------------------ */

static void find_sysroot(const char *given, struct found *found)
{
    static const char *const places[] = {
        "/usr/aarch64-linux-gnu",                  /* Debian's and Ubuntu's cross packages */
        "/usr/aarch64-redhat-linux/sys-root",      /* Fedora's */
        "/usr/aarch64-suse-linux/sys-root",        /* openSUSE's */
        "/usr/aarch64-linux-gnu/sys-root",         /* Gentoo's, Arch's */
        "/usr/aarch64-unknown-linux-gnu/sys-root", /* crosstool's */
        "/usr/aarch64-linux-musl",
    };
    const char *prefix = getenv("QEMU_LD_PREFIX");
    char loader[PATH_MAX];

    if (!given && prefix && prefix[0])
        given = prefix;
    if (given) {
        snprintf(found->sysroot, sizeof(found->sysroot), "%s", given);
        return;
    }
    found->sysroot[0] = '\0';
    if (access("/lib/ld-linux-aarch64.so.1", F_OK) == 0) /* multiarch, or this is AArch64 */
        return;
    for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(loader, sizeof(loader), "%s/lib", places[i]);
        if (access(loader, F_OK) == 0) {
            snprintf(found->sysroot, sizeof(found->sysroot), "%s", places[i]);
            return;
        }
    }
}

static const char *machine_name(unsigned machine)
{
    switch (machine) {
    case EM_X86_64:
        return "x86-64";
    case EM_386:
        return "32-bit x86";
    case EM_ARM:
        return "32-bit Arm";
    case EM_AARCH64:
        return "another kind of AArch64 (ILP32 or big-endian)";
    case EM_RISCV:
        return "RISC-V";
    case EM_PPC64:
        return "POWER";
    case EM_S390:
        return "s390";
    default:
        return "another architecture";
    }
}

static bool judge_program(enum program_verdict verdict, const struct program *p,
                          const struct found *found, struct record_problem *problem)
{
    const char *name = found->program;

    switch (verdict) {
    case PROGRAM_OK:
        if (access(name, X_OK) == 0)
            return true;
        record_fail(problem, name, "this file may not be executed: %s", strerror(errno));
        return false;
    case PROGRAM_MISSING:
        if (p->script)
            record_fail(problem, name, "its interpreter %s is not there", p->interpreter);
        else
            record_fail(problem, name, "%s", strerror(errno));
        return false;
    case PROGRAM_DIRECTORY:
        record_fail(problem, name, "this is not a regular file");
        return false;
    case PROGRAM_UNKNOWN:
        record_fail(problem, name, "this is neither an ELF program nor a script");
        return false;
    case PROGRAM_FOREIGN:
        record_fail(problem, name,
                    "%s is for %s; SPE needs a program that was compiled for AArch64",
                    p->script ? p->interpreter : "this program", machine_name(p->machine));
        return false;
    case PROGRAM_LIBRARY:
        record_fail(problem, name, "this is an object file, no program");
        return false;
    case PROGRAM_NO_LOADER:
        record_fail(problem, name,
                    "its loader %s is not in %s; install the AArch64 C library (package "
                    "libc6-arm64-cross) or name a sysroot with -L",
                    p->loader, found->sysroot[0] ? found->sysroot : "/");
        return false;
    }
    return false;
}

static bool find_program(const char *name, struct found *found, struct record_problem *problem)
{
    struct program p;

    errno = ENOENT;
    if (!find_in_path(name, found->program)) {
        record_fail(problem, name, "%s",
                    strchr(name, '/') ? strerror(errno) : "there is no such program in PATH");
        return false;
    }
    if (!judge_program(program_examine(found->program, found->sysroot, &p), &p, found, problem))
        return false;
    memcpy(found->file, p.file, sizeof(found->file));
    memcpy(found->script, p.script ? p.interpreter : "", p.script ? sizeof(found->script) : 1);
    memcpy(found->argument, p.argument, sizeof(found->argument));
    return true;
}

bool find_all(const struct record_options *options, struct found *found,
              struct record_problem *problem)
{
    memset(found, 0, sizeof(*found));
    find_sysroot(options->sysroot, found);
    return find_program(options->command[0], found, problem) &&
           find_qemu(options->qemu, found, problem) && find_plugin(found, problem);
}
