/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Whole commands inside a fuzz target: they read nothing from us and print to nowhere. */
#ifndef FUZZ_COMMANDS_H
#define FUZZ_COMMANDS_H

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "require.h"

static const struct command *const fuzz_commands[] = {
    &command_record, &command_report, &command_script, &command_export, &command_dump,
    &command_check,  &command_gen,    &command_sim,    &command_vm,
};

enum { FUZZ_COMMANDS = sizeof(fuzz_commands) / sizeof(fuzz_commands[0]) };

static struct {
    FILE *stderr_kept;
    FILE *messages; /* instead of stderr, so that descriptor 2 stays with the sanitizers */
    int device;     /* instead of standard output */
    int output;     /* standard output, while it is away */
} fuzz_world;

static inline void fuzz_prepare(const char *device)
{
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);

    REQUIRE(input >= 0 && dup2(input, STDIN_FILENO) >= 0);
    close(input);
    fuzz_world.messages = fopen("/dev/null", "we");
    fuzz_world.device = open(device, O_WRONLY | O_CLOEXEC);
    fuzz_world.output = dup(STDOUT_FILENO);
    REQUIRE(fuzz_world.messages && fuzz_world.device >= 0 && fuzz_world.output >= 0);
}

/* Before and after a command. */
static inline void fuzz_away(void)
{
    REQUIRE(dup2(fuzz_world.device, STDOUT_FILENO) >= 0);
    fuzz_world.stderr_kept = stderr;
    stderr = fuzz_world.messages;
    optind = 0; /* getopt starts anew */
}

static inline void fuzz_back(void)
{
    fflush(stdout);
    clearerr(stdout);
    stderr = fuzz_world.stderr_kept;
    REQUIRE(dup2(fuzz_world.output, STDOUT_FILENO) >= 0);
}

#endif
