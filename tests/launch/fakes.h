/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A folder with small programs of the shell's, for tests that start programs. */
#ifndef TESTS_LAUNCH_FAKES_H
#define TESTS_LAUNCH_FAKES_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char fakes[PATH_MAX / 2];

static int make_fakes(void **state)
{
    const char *folder = getenv("TMPDIR");

    (void)state;
    snprintf(fakes, sizeof(fakes), "%s/spe-launch-XXXXXX", folder && *folder ? folder : "/tmp");
    return mkdtemp(fakes) ? 0 : -1;
}

static int remove_fakes(void **state)
{
    char command[PATH_MAX];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", fakes);
    return system(command);
}

/* The path is there until the next call. */
static char *fake_path(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", fakes, name);
    return path;
}

static char *fake_file(const char *name, const char *text, unsigned mode)
{
    char *path = fake_path(name);
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f) != 0 || chmod(path, mode) < 0)
        abort();
    return path;
}

/* A program that does this. */
static inline char *fake_program(const char *name, const char *lines)
{
    char text[2000];

    snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", lines);
    return fake_file(name, text, 0755);
}

#endif
