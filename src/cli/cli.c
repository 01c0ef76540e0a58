/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/count_of.h"
#include "cli/words.h"
#include "render/safe.h"

/* File names come from outside, and so does much of what is said about them. */
static void print_safely(const char *text)
{
    char safe[SAFE_MAX + 1];

    while (*text)
        fwrite(safe, 1, (size_t)(safe_next(safe, &text) - safe), stderr);
}

__attribute__((format(printf, 2, 0))) static void complain_va(const char *what, const char *why,
                                                              va_list args)
{
    char sentence[1024];
    bool color = use_color(STDERR_FILENO);

    vsnprintf(sentence, sizeof(sentence), why, args);
    fputs(color ? "\033[1;31mspe:\033[0m " : "spe: ", stderr);
    print_safely(what);
    fputs(": ", stderr);
    print_safely(sentence);
    fputc('\n', stderr);
}

void complain(const char *what, const char *why, ...)
{
    va_list args;

    va_start(args, why);
    complain_va(what, why, args);
    va_end(args);
}

int usage_error(const struct command *c, const char *what, const char *why, ...)
{
    va_list args;

    va_start(args, why);
    complain_va(what, why, args);
    va_end(args);
    fprintf(stderr, "Try 'spe %s --help'.\n", c->name);
    return STATUS_USAGE;
}

static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color_mode;

bool use_color(int fd)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if (color_mode != COLOR_AUTO && fd == STDOUT_FILENO)
        return color_mode == COLOR_ALWAYS;
    return !(no_color && *no_color) && isatty(fd) && term && strcmp(term, "dumb") != 0;
}

static struct {
    bool unwanted;
    pid_t pid;      /* 0: it does not run */
    unsigned width; /* of the terminal that was standard output */
} pager;

#define WIDTH_DEFAULT 80

/* By the locale's name, in the order in which the C library looks at it. */
bool use_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *locale = getenv(names[i]);

        if (locale && *locale)
            return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}

unsigned page_width(uint64_t given, int fd)
{
    const char *columns = getenv("COLUMNS");
    unsigned long width = given ? (unsigned long)given : pager.width;
    struct winsize size;

    if (!width && ioctl(fd, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (!width && columns)
        width = strtoul(columns, NULL, 10);
    if (!width)
        return WIDTH_DEFAULT;
    return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : (unsigned)width;
}

/* ---- the pager ------------------------------------------------------------------------------- */

/* In the child: become the pager, or say why not. */
static _Noreturn void run_pager(int input, int failure, const char *command)
{
    int error;
    ssize_t written;

    dup2(input, STDIN_FILENO);
    setenv("LESS", "FRX", 0);
    if (command)
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    else
        execlp("less", "less", (char *)NULL);
    error = errno;
    written = write(failure, &error, sizeof(error));
    (void)written; /* who does not hear it waits for nothing */
    _exit(127);
}

/* True if it runs, and reads from *output. */
static bool fork_pager(const char *command, int *output)
{
    int data[2], failure[2], error;

    if (pipe2(data, O_CLOEXEC) < 0)
        return false;
    if (pipe2(failure, O_CLOEXEC) < 0) {
        close(data[0]);
        close(data[1]);
        return false;
    }
    pager.pid = fork();
    if (pager.pid == 0)
        run_pager(data[0], failure[1], command);
    close(data[0]);
    close(failure[1]);
    *output = data[1];
    if (pager.pid > 0 && read(failure[0], &error, sizeof(error)) > 0) {
        waitpid(pager.pid, NULL, 0);
        pager.pid = -1;
    }
    close(failure[0]);
    if (pager.pid > 0)
        return true;
    close(data[1]);
    pager.pid = 0;
    return false;
}

void start_pager(void)
{
    const char *command = getenv("PAGER"), *term = getenv("TERM");
    bool color = use_color(STDOUT_FILENO);
    unsigned width = page_width(0, STDOUT_FILENO);
    int output;

    if (pager.unwanted || !isatty(STDOUT_FILENO) || !term || strcmp(term, "dumb") == 0 ||
        (command && (!*command || strcmp(command, "cat") == 0)))
        return;
    if (!fork_pager(command, &output))
        return;
    color_mode = color ? COLOR_ALWAYS : COLOR_NEVER;
    pager.width = width;
    dup2(output, STDOUT_FILENO);
    if (isatty(STDERR_FILENO))
        dup2(output, STDERR_FILENO);
    close(output);
    signal(SIGINT, SIG_IGN); /* it is the pager's: who leaves it ends us by SIGPIPE */
    signal(SIGQUIT, SIG_IGN);
}

void end_pager(void)
{
    if (!pager.pid)
        return;
    close(STDOUT_FILENO); /* the pager sees the end */
    close(STDERR_FILENO);
    while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    pager.pid = 0;
}

static bool color_option(const struct command *c, void *target, const char *text)
{
    static const char *const names[] = {"auto", "always", "never", NULL};
    unsigned mode;

    (void)target;
    if (!choice_option(c, "--color", text, names, &mode))
        return false;
    color_mode = mode;
    return true;
}

static bool no_pager_option(const struct command *c, void *target, const char *text)
{
    (void)c;
    (void)target;
    (void)text;
    return pager.unwanted = true;
}

const struct option_row page_options[] = {
    {"color", 0, "WHEN", "colours: always, never, or auto, on a terminal (auto)",
     OPTION_TAKE(color_option)},
    {"no-pager", 0, NULL, "do not use $PAGER (less -FRX) on a terminal",
     OPTION_TAKE(no_pager_option)},
    {0},
};

bool count_bits_option(const struct command *c, void *target, const char *text)
{
    uint64_t *value = target;

    if (!number_option(c, "--count-bits", text, 12, 16, value))
        return false;
    if (*value == 12 || *value == 16)
        return true;
    usage_error(c, "--count-bits", "counters have 12 or 16 bits, not %s", text);
    return false;
}

/* ---- which machine --------------------------------------------------------------------------- */

static void list_cpus(char *text, size_t size)
{
    size_t used = 0, i;

    text[0] = '\0';
    for (i = 0; spe_cpu_at(i) && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", spe_cpu_at(i)->name);
}

const struct spe_cpu *find_cpu(const struct command *c, const char *name)
{
    const struct spe_cpu *cpu = spe_cpu_by_name(name);
    char names[800];

    if (!cpu) {
        list_cpus(names, sizeof(names));
        usage_error(c, "--cpu", "'%s' is not known; there are %s", name, names);
    }
    return cpu;
}

bool find_machine(const struct command *c, const struct machine_options *options, uint64_t midr,
                  struct naming *machine)
{
    char why[200];

    *machine = (struct naming){.color = machine->color, .cpu = spe_cpu_by_midr(midr)};
    if (options->cpu) {
        machine->cpu = find_cpu(c, options->cpu);
        if (!machine->cpu)
            return false;
    }
    if (machine->cpu) {
        machine->features = machine->cpu->features;
        machine->features_known = machine->features != 0;
        if (machine->cpu->layout)
            machine->count_bits = machine->cpu->layout->count_bits;
    }
    if (options->features) {
        if (spe_features_parse(options->features, &machine->features, why, sizeof(why)) < 0 ||
            spe_features_validate(machine->features, why, sizeof(why)) < 0) {
            usage_error(c, "--features", "%s", why);
            return false;
        }
        machine->features_known = true;
    }
    if (options->count_bits)
        machine->count_bits = (unsigned)options->count_bits;
    return true;
}

/* ---- output ---------------------------------------------------------------------------------- */

bool open_stdout(struct out *o)
{
    if (out_open(o, STDOUT_FILENO) == SPE_OK)
        return true;
    complain("standard output", "%s", spe_strerror(SPE_ERR_NOMEM));
    return false;
}

int close_stdout(struct out *o, int status)
{
    int error = out_close(o);

    if (!error)
        return status;
    complain("standard output", "%s", strerror(error));
    return STATUS_BAD_DATA;
}

bool open_output(struct output *o, const char *path)
{
    int error = out_file_open(&o->file, path);

    o->name = o->file.fd == STDOUT_FILENO ? "standard output" : path;
    if (!error && out_open(&o->out, o->file.fd) < 0) {
        out_file_close(&o->file, false);
        error = ENOMEM;
    }
    if (error)
        complain(o->name, "%s", strerror(error));
    return !error;
}

int close_output(struct output *o, bool complete, int status)
{
    int error = out_close(&o->out), late;

    late = out_file_close(&o->file, complete && !error);
    error = error ? error : late;
    if (error)
        complain(o->name, "%s", strerror(error));
    return error ? STATUS_BAD_DATA : status;
}

/* A directory of perf has the recording in its file "data". */
static bool stat_input(const char *input, struct stat *st)
{
    char *data;
    bool good;

    if (strcmp(input, "-") == 0)
        return fstat(STDIN_FILENO, st) == 0;
    if (stat(input, st) < 0)
        return false;
    if (!S_ISDIR(st->st_mode))
        return true;
    if (asprintf(&data, "%s/data", input) < 0)
        return false;
    good = stat(data, st) == 0;
    free(data);
    return good;
}

bool is_input(const char *output, const char *input)
{
    bool standard = !output || strcmp(output, "-") == 0;
    struct stat from, to;

    if ((standard ? fstat(STDOUT_FILENO, &to) : stat(output, &to)) < 0 || !S_ISREG(to.st_mode) ||
        !stat_input(input, &from) || from.st_dev != to.st_dev || from.st_ino != to.st_ino)
        return false;
    complain(standard ? "standard output" : output,
             "is the input file: give another name for the output");
    return true;
}

void report_account(const char *name, const struct spe_account *a)
{
    char reasons[512] = "";
    size_t used = 0;
    unsigned i;

    for (i = 0; i < SPE_SKIP_REASON_COUNT && used < sizeof(reasons); i++) {
        if (a->skipped_by[i])
            used += (size_t)snprintf(reasons + used, sizeof(reasons) - used, "%s%s: %" PRIu64,
                                     used ? "; " : " (", spe_skip_reason_name(i), a->skipped_by[i]);
    }
    complain(name,
             "%" PRIu64 " bytes = %" PRIu64 " in records + %" PRIu64 " padding + %" PRIu64
             " skipped%s%s; records %" PRIu64 ", skipped ranges %" PRIu64
             ", unknown packets %" PRIu64,
             a->bytes, a->record_bytes, a->padding_bytes, a->skipped_bytes, reasons,
             used ? ")" : "", a->records, a->skipped, a->unknown);
}

/* ---- progress -------------------------------------------------------------------------------- */

#define PROGRESS_AFTER 2.0 /* seconds */
#define PROGRESS_EVERY 0.5

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool progress_is_off;

void progress_off(void)
{
    progress_is_off = true;
}

void progress_with_output(void)
{
    if (isatty(STDOUT_FILENO))
        progress_off();
}

void progress_start(struct progress *p, const char *what, uint64_t total)
{
    p->what = what;
    p->total = total;
    p->start = p->last = now();
    p->shown = false;
    p->enabled = !progress_is_off && isatty(STDERR_FILENO);
}

void progress_update(struct progress *p, uint64_t done)
{
    double t;

    if (!p->enabled)
        return;
    t = now();
    if (t - p->start < PROGRESS_AFTER || t - p->last < PROGRESS_EVERY)
        return;
    p->last = t;
    p->shown = true;
    fputs("\r\033[K", stderr);
    print_safely(p->what);
    if (p->total)
        fprintf(stderr, ": %.0f%% of %.1f M", 100.0 * (double)done / (double)p->total,
                (double)p->total * 1e-6);
    else
        fprintf(stderr, ": %.1f M", (double)done * 1e-6);
    fprintf(stderr, ", %.0f M/s", (double)done * 1e-6 / (t - p->start));
    fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
