/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/count_of.h"
#include "cli/cli.h"
#include "cli/words.h"

#ifndef SPECIMEN_VERSION
#define SPECIMEN_VERSION "unknown"
#endif

static const struct command *const commands[] = {
    &command_record,       &command_report, &command_annotate, &command_c2c,   &command_diff,
    &command_script,       &command_export, &command_dump,     &command_check, &command_evlist,
    &command_buildid_list, &command_gen,    &command_sim,      &command_vm,
};

#define COMMANDS (COUNT_OF(commands))

static const struct command *find_command(const char *name)
{
    size_t i;

    for (i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static void print_help(FILE *f)
{
    size_t i;

    fputs("spe: Arm's Statistical Profiling Extension in software\n"
          "\n"
          "Usage: spe COMMAND [OPTION]... [FILE]...\n"
          "       spe help COMMAND\n"
          "       spe --version\n"
          "\n"
          "Commands:\n",
          f);
    for (i = 0; i < COMMANDS; i++)
        fprintf(f, "  %-12s  %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n"
          "Examples:\n"
          "  spe record -- ./program-for-aarch64\n"
          "  spe report perf.data\n"
          "  spe script --filter 'load and total > 500' perf.data\n"
          "  spe gen --records 1000 --cpu neoverse-n1 -o trace.spe\n"
          "  spe dump --count 20 trace.spe\n"
          "  spe dump --json trace.spe | jq .pc.address\n"
          "  spe check --cpu neoverse-n1 trace.spe\n"
          "  spe sim --list options\n"
          "\n"
          "Each command has a manual page: man spe-dump, and so on.\n",
          f);
}

static int unknown_command(const char *name)
{
    const char *names[COMMANDS], *answer = perf_command(name), *near;
    char list[256];

    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i]->name;
    near = nearest_name(name, names, COMMANDS);
    list_names(list, sizeof(list), names, COMMANDS, " and ");
    if (answer)
        complain(name, "is a command of perf; %s", answer);
    else if (near)
        complain(name, "there is no such command; did you mean '%s'? There are %s", near, list);
    else
        complain(name, "there is no such command; there are %s", list);
    fputs("Try 'spe --help'.\n", stderr);
    return STATUS_USAGE;
}

/* A help text that could not be written is a failure, too. */
static int flushed(int status)
{
    if (fflush(stdout) == 0)
        return status;
    complain("standard output", "the text could not be written");
    return STATUS_BAD_DATA;
}

static int help(int argc, char **argv)
{
    const struct command *c;

    if (argc < 3) {
        print_help(stdout);
        return STATUS_OK;
    }
    c = find_command(argv[2]);
    if (!c)
        return unknown_command(argv[2]);
    print_command_help(c);
    return STATUS_OK;
}

/* Recordings are mapped: this comes instead of an error from read(). */
static void on_bus_error(int number)
{
    static const char text[] = "spe: a file became shorter, or could not be read, while it was "
                               "read: try again when it is complete\n";

    ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

    (void)number;
    (void)written; /* there is nobody else to tell */
    out_file_abandon();
    _exit(STATUS_BAD_DATA);
}

/*
 * Whoever starts us may have closed standard input, output or error. A file that is opened then
 * would take such a number, and a message would be written into it. Hold the numbers: reading and
 * writing them fails as before, and a program that is started does not get them.
 */
static void hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/* -v is perf's word for it. */
static bool asks_version(const char *word)
{
    return strcmp(word, "--version") == 0 || strcmp(word, "version") == 0 ||
           strcmp(word, "-v") == 0 || strcmp(word, "-V") == 0;
}

int main(int argc, char **argv)
{
    struct sigaction bus_error = {.sa_handler = on_bus_error};
    const struct command *c;
    int status;

    hold_standard_descriptors();
    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return flushed(help(argc, argv));
    if (asks_version(argv[1])) {
        puts("spe " SPECIMEN_VERSION);
        return flushed(STATUS_OK);
    }
    c = find_command(argv[1]);
    if (!c)
        return unknown_command(argv[1]);
    sigaction(SIGBUS, &bus_error, NULL);
    status = flushed(c->run(c, argc - 1, argv + 1));
    end_pager();
    return status;
}
