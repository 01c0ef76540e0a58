/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "record/find.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count_of.h"
#include "launch/folders.h"
#include "launch/program.h"
#include "launch/qemu.h"

/* ---- QEMU ----------------------------------------------------------------------------------- */

enum verdict { USABLE, ABSENT, OTHER, SILENT, WITHOUT_PLUGINS };

static enum verdict examine_qemu(char *path, struct found *found)
{
    char *command[] = {path, NULL};

    if (!launch_is_program(path))
        return ABSENT;
    switch (qemu_examine(command, "qemu-aarch64 version ", QEMU_PATIENCE, &found->version)) {
    case QEMU_GOOD:
        break;
    case QEMU_ABSENT:
        return ABSENT;
    case QEMU_SILENT:
        return SILENT;
    default:
        return OTHER;
    }
    if (!qemu_has_plugins(command, QEMU_PATIENCE))
        return WITHOUT_PLUGINS;
    snprintf(found->qemu, sizeof(found->qemu), "%s", path);
    return USABLE;
}

static bool given_qemu(const char *name, struct found *found, struct problem *problem)
{
    char path[PATH_MAX];

    switch (launch_find_program(name, path) ? examine_qemu(path, found) : ABSENT) {
    case USABLE:
        return true;
    case ABSENT:
        problem_say(problem, false, name, "there is no such program");
        break;
    case OTHER:
        problem_say(problem, false, name,
                    "this is not QEMU's user mode for AArch64 (qemu-aarch64)");
        break;
    case SILENT:
        problem_say(problem, false, name,
                    "it did not print its version within %d seconds: this is not QEMU's user mode "
                    "for AArch64 (qemu-aarch64)",
                    QEMU_PATIENCE);
        break;
    case WITHOUT_PLUGINS:
        problem_say(problem, false, name,
                    "this QEMU was built without plugins, which recording needs; "
                    "omit --qemu, or run tools/build-qemu.sh");
        break;
    }
    return false;
}

static bool find_qemu(const char *given, struct found *found, struct problem *problem)
{
    static const char *const names[] = {"qemu-aarch64", "qemu-aarch64-static"};
    char path[PATH_MAX], useless[PATH_MAX] = "";

    if (!given)
        given = getenv("SPECIMEN_QEMU");
    if (given && given[0])
        return given_qemu(given, found, problem);
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        enum verdict v = launch_find_program(names[i], path) ? examine_qemu(path, found) : ABSENT;

        if (v == USABLE)
            return true;
        if (v == WITHOUT_PLUGINS)
            memcpy(useless, path, sizeof(useless));
    }
    if (launch_cache("qemu/bin/qemu-aarch64", path, sizeof(path)) && /* tools/build-qemu.sh's */
        examine_qemu(path, found) == USABLE)
        return true;
    if (useless[0])
        problem_say(problem, false, useless,
                    "this QEMU was built without plugins, which recording needs; run "
                    "tools/build-qemu.sh once, it makes one from your distribution's source");
    else
        problem_say(problem, false, "qemu-aarch64",
                    "there is no QEMU to run AArch64 programs; install the package qemu-user, or "
                    "name one with --qemu");
    return false;
}

/* ---- The plugin ----------------------------------------------------------------------------- */

static bool find_plugin(struct found *found, struct problem *problem)
{
    const char *given;

    if (launch_plugin(found->plugin, sizeof(found->plugin), &given))
        return true;
    if (given)
        problem_say(problem, false, given, "SPECIMEN_PLUGIN names a plugin that cannot be read");
    else
        problem_say(problem, false, LAUNCH_PLUGIN,
                    "the plugin for QEMU is neither beside this command nor in %s; install "
                    "Specimen again, or name it in SPECIMEN_PLUGIN",
                    launch_installed());
    return false;
}

/* ---- The program ---------------------------------------------------------------------------- */

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
                          const struct found *found, struct problem *problem)
{
    const char *name = found->program;

    switch (verdict) {
    case PROGRAM_OK:
        if (access(name, X_OK) == 0)
            return true;
        problem_say(problem, false, name, "this file may not be executed: %s", strerror(errno));
        return false;
    case PROGRAM_MISSING:
        if (p->script)
            problem_say(problem, false, name, "its interpreter %s does not exist", p->interpreter);
        else
            problem_say(problem, false, name, "%s", strerror(errno));
        return false;
    case PROGRAM_DIRECTORY:
        problem_say(problem, false, name, "this is not a regular file");
        return false;
    case PROGRAM_UNKNOWN:
        problem_say(problem, false, name, "this is neither an ELF program nor a script");
        return false;
    case PROGRAM_FOREIGN:
        problem_say(problem, false, name,
                    "%s is for %s; SPE needs a program that was compiled for AArch64",
                    p->script ? p->interpreter : "this program", machine_name(p->machine));
        return false;
    case PROGRAM_LIBRARY:
        problem_say(problem, false, name, "this is an object file, not a program");
        return false;
    case PROGRAM_NO_LOADER:
        problem_say(problem, false, name,
                    "its loader %s is not in %s; install the AArch64 C library (package "
                    "libc6-arm64-cross) or name a sysroot with -L",
                    p->loader, found->sysroot[0] ? found->sysroot : "/");
        return false;
    }
    return false;
}

static bool find_program(const char *name, struct found *found, struct problem *problem)
{
    struct program p;

    errno = ENOENT;
    if (!launch_find_program(name, found->program)) {
        problem_say(problem, false, name, "%s",
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

bool find_all(const struct record_options *options, struct found *found, struct problem *problem)
{
    memset(found, 0, sizeof(*found));
    launch_sysroot(options->sysroot, found->sysroot);
    return find_program(options->command[0], found, problem) &&
           find_qemu(options->qemu, found, problem) && find_plugin(found, problem);
}
