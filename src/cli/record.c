/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* spe record: runs an AArch64 program under QEMU with a software SPU. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count_of.h"
#include "cli/cli.h"
#include "cli/words.h"
#include "record/record.h"
#include "render/truth.h"

static const char usage[] =
    "Usage: spe record [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "\n"
    "Run an AArch64 program under QEMU's user mode on any machine, and record it with a\n"
    "software Statistical Profiling Unit. The result is a perf.data file with SPE\n"
    "records for perf, spe report and others. Threads, child processes and the AArch64\n"
    "programs that they start are recorded, too.\n";

static const char examples[] =
    "The exit status is the program's, or 128 plus the number of the signal that ended\n"
    "it. It is 1 if the recording failed or is incomplete, 2 if it could not start.\n"
    "\n"
    "Examples:\n"
    "  aarch64-linux-gnu-gcc -O2 -g prog.c -o prog && spe record -- ./prog\n"
    "  spe report\n"
    "  spe record -e arm_spe/load_filter=1,min_latency=30,jitter=1/ -c 1024 -- ./prog\n"
    "  spe record -g -- ./prog && spe report -g\n"
    "  spe record --model none -o fast.data -- ./prog && perf report -i fast.data\n";

enum { PROGRESS_FIRST = 10, PROGRESS_MOST = 60 }; /* seconds to the first line, and between two */

struct job {
    const struct command *command;
    struct record_options options;
    const char *stat_json;
    uint64_t width;
    bool stat_text, quiet, verbose;
    double next_progress; /* seconds from the start */
    char home[PATH_MAX];  /* the directory for copies of binaries, if no other is given */
};

/* ---- options -------------------------------------------------------------------------------- */

static bool event_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    struct problem problem;

    if (record_parse_event(text, &job->options.event, &problem))
        return true;
    usage_error(c, problem.what, "%s", problem.why);
    return false;
}

static bool cpu_option(const struct command *c, void *target, const char *name)
{
    struct job *job = target;
    const char *names[16], *near;
    char list[256];
    size_t n = 0;

    job->options.cpu = name;
    if (record_cpu_find(name))
        return true;
    for (; n < 16 && record_cpu_at(n); n++)
        names[n] = record_cpu_at(n)->name;
    near = nearest_name(name, names, n);
    list_names(list, sizeof(list), names, n, " and ");
    usage_error(c, name, "there is no model of such a CPU%s%s%s there are %s",
                near ? "; did you mean " : "", near ? near : "", near ? "?" : ";", list);
    return false;
}

static bool model_option(const struct command *c, void *target, const char *name)
{
    static const char *const names[] = {
        [RECORD_MODEL_NONE] = "none",
        [RECORD_MODEL_FUNCTIONAL] = "functional",
        [RECORD_MODEL_CORE] = "core",
        NULL,
    };
    struct job *job = target;
    unsigned model = find_name(names, name, strlen(name));

    job->options.model = (enum record_model)model;
    if (names[model])
        return true;
    usage_error(c, name, "the model is none, functional or core");
    return false;
}

static bool duration_option(const struct command *c, void *target, const char *text)
{
    struct job *job = target;
    char *end;

    job->options.duration = strtod(text, &end);
    if (end != text && !*end && job->options.duration > 0 && job->options.duration < 1e9)
        return true;
    usage_error(c, text, "--duration takes a number of seconds above 0");
    return false;
}

static bool no_copies_option(const struct command *c, void *target, const char *value)
{
    struct job *job = target;

    (void)c;
    (void)value;
    job->options.keep = NULL;
    return true;
}

static const struct option_row options[] = {
    {"event", 'e', "EVENT",
     "arm_spe/TERM=VALUE,.../ as in perf: jitter, load_filter, store_filter, branch_filter, "
     "event_filter, inv_event_filter, min_latency, pa_enable, pct_enable ... (arm_spe/jitter=1/)",
     OPTION_TAKE(event_option)},
    {"count", 'c', "N", "sample interval in operations, a multiple of 256 (4096)",
     OPTION_NUMBER(struct job, options.period, 1, UINT32_MAX)},
    {"output", 'o', "FILE",
     "output file (perf.data); - is standard output, in pipe format, and the program's output "
     "goes to standard error; an existing file is renamed to FILE.old",
     OPTION_STRING(struct job, options.output)},
    {"calls", 'g', NULL,
     "also record the call stack of each sample, by following calls and returns; perf report -g "
     "and perf script show them",
     OPTION_FLAG(struct job, options.calls)},
    {"cpu", 0, "NAME",
     "the CPU to model: neoverse-n1 (default), neoverse-v1, neoverse-n2, neoverse-v2, kunpeng-920, "
     "ampereone-1a, architecture (every feature of SPE); v1, n2, v2 and architecture have SVE",
     OPTION_TAKE(cpu_option)},
    {"machine", 0, "KEY=VALUE,...",
     "change the modelled machine: vl (SVE vector length in bits), sockets, page (4K, 16K, 64K, "
     "2M), l1d, l2, llc (sizes), their -ways and -latency, l1-tlb, l2-tlb, memory-latency ...; a "
     "word without = is a file with such settings, one per line",
     OPTION_STRING(struct job, options.machine)},
    {"model", 0, "MODEL",
     "core (default): caches, TLB, prefetchers, branch prediction and out-of-order windows, where "
     "threads interleave in modelled time; functional: faster, without prefetchers and time; "
     "none: only addresses, operation types and branch directions",
     OPTION_TAKE(model_option)},
    {"cpus", 0, "N", "CPUs that threads share, 1 to 256 (one for each thread)",
     OPTION_UNSIGNED(struct job, options.cpus, 1, 256)},
    {"seed", 0, "N", "seed of the random jitter (1)",
     OPTION_NUMBER(struct job, options.seed, 0, UINT64_MAX)},
    {"duration", 0, "SEC", "end the program after this many seconds", OPTION_TAKE(duration_option)},
    {"stat", 0, NULL,
     "print exact counts of the emulator beside estimates from the samples, for each function",
     OPTION_FLAG(struct job, stat_text)},
    {"stat-json", 0, "FILE", "write these counts to FILE as JSON",
     OPTION_STRING(struct job, stat_json)},
    {"width", 0, "N", "columns of the table of --stat (the terminal's, or 80)",
     OPTION_NUMBER(struct job, width, WIDTH_MIN, WIDTH_MAX)},
    {"sysroot", 'L', "DIR", "directory of the AArch64 libraries (found, if installed)",
     OPTION_STRING(struct job, options.sysroot)},
    {"qemu", 0, "FILE", "the QEMU to run (found: qemu-aarch64)",
     OPTION_STRING(struct job, options.qemu)},
    {"no-buildid-cache", 'N', NULL, NULL, OPTION_TAKE(no_copies_option)},
    {"no-buildid", 'B', NULL, "keep no copies of the recorded binaries",
     OPTION_TAKE(no_copies_option)},
    {"buildid-dir", 0, "DIR", "build-id cache for these copies ($HOME/.debug, as perf)",
     OPTION_STRING(struct job, options.keep)},
    {"quiet", 'q', NULL, "no summary, no progress", OPTION_FLAG(struct job, quiet)},
    {"verbose", 'v', NULL, "report the copies that were made", OPTION_FLAG(struct job, verbose)},
    {0},
};

/* ---- the summary ---------------------------------------------------------------------------- */

/* What was sampled is filtered, in a record, or one of these, which are rare. */
static void print_rest(const struct wire_statistics *t)
{
    uint64_t known = t->filtered + t->dropped + t->discarded + t->records;

    if (t->dropped)
        fprintf(stderr, " %" PRIu64 " not completed,", t->dropped);
    if (t->discarded)
        fprintf(stderr, " %" PRIu64 " discarded,", t->discarded);
    if (t->sampled > known)
        fprintf(stderr, " %" PRIu64 " in flight at the end,", t->sampled - known);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "es";
}

enum { HIDDEN_SHARE = 100 }; /* less than one in so many is not worth a sentence */
/* A stack that may be wrong is none, and why is said. */
static void print_stacks(const struct job *job, const struct wire_statistics *t)
{
    const struct {
        uint64_t count;
        const char *why;
    } reasons[] = {
        {t->stacks_unsettled, "just after a jump that is neither call nor return"},
        {t->stacks_lost, "not found again after such a jump"},
        {t->stacks_deep, "too deep"},
    };
    const char *between = ":";

    fprintf(stderr, "spe: %s: %" PRIu64 " records have a call stack, %" PRIu64 " have none",
            job->options.output, t->stacks, t->stacks_unsettled + t->stacks_lost + t->stacks_deep);
    for (size_t i = 0; i < COUNT_OF(reasons); i++) {
        if (!reasons[i].count)
            continue;
        fprintf(stderr, "%s %" PRIu64 " %s", between, reasons[i].count, reasons[i].why);
        between = ",";
    }
    fputc('\n', stderr);
}

static void print_summary(const struct job *job, const struct record_summary *s)
{
    const struct wire_statistics *t = &s->statistics;
    const char *program = job->options.command[0];

    fprintf(stderr,
            "spe: %s: %" PRIu64 " operations, %" PRIu64 " sampled, %" PRIu64 " filtered, %" PRIu64
            " collided,",
            job->options.output, t->operations, t->sampled, t->filtered, t->collisions);
    print_rest(t);
    fprintf(stderr,
            " %" PRIu64 " records, %" PRIu64 " bytes (%" PRIu64 " process%s, %" PRIu64
            " thread%s)\n",
            t->records, s->file_bytes, s->processes, plural(s->processes), s->threads,
            s->threads == 1 ? "" : "s");
    if (s->crowded && !job->options.cpus)
        complain(program,
                 "%" PRIu64
                 " thread%s started while 255 others ran, and share CPU 255; their records "
                 "identify them",
                 s->crowded, s->crowded == 1 ? "" : "s");
    if (job->options.calls)
        print_stacks(job, t);
    if (s->signal)
        complain(program, "ended by signal %d (%s)", s->signal, strsignal(s->signal));
    if (t->hidden > t->sampled / HIDDEN_SHARE)
        complain(program,
                 "%" PRIu64
                 " samples are accesses that this QEMU does not report (SVE, SME, DC ZVA, "
                 "prefetches): their addresses and latencies are not recorded; QEMU 9.0 and later "
                 "reports them",
                 t->hidden);
    if (s->silent)
        complain(program,
                 "%" PRIu64 " process%s ended without a last message, as if killed: samples "
                 "in flight are not recorded",
                 s->silent, plural(s->silent));
    if (s->left)
        complain(program, "%" PRIu64 " process%s of it still run%s, but %s no longer recorded",
                 s->left, plural(s->left), s->left == 1 ? "s" : "", s->left == 1 ? "is" : "are");
}

static void print_kept(const struct job *job, const struct record_kept *kept)
{
    if (!job->options.keep)
        return;
    complain(job->options.keep, "%" PRIu64 " binaries (%" PRIu64 " bytes) were copied here",
             kept->files, kept->bytes);
    if (kept->left_out)
        complain(job->options.keep, "%" PRIu64 " binaries were not copied, the first is %s",
                 kept->left_out, kept->why);
}

/* What is missing in the file is said however quiet we are. */
static void print_troubles(const struct job *job, const struct record_summary *s)
{
    const char *program = job->options.command[0];
    char strange[300];

    if (record_strange_tell(&job->options, s, strange, sizeof(strange)))
        complain(program, "%s", strange);
    for (const struct record_trouble *t = s->troubles;
         t < s->troubles + RECORD_TROUBLES && t->count; t++) {
        if (t->count == 1)
            complain(program, "%s", t->text);
        else
            complain(program, "%s (%" PRIu64 " times this or another complaint)", t->text,
                     t->count);
    }
    if (s->lost_records || s->lost_messages)
        complain(job->options.output,
                 "the recording is not complete: %" PRIu64 " SPE records and %" PRIu64
                 " messages were lost on the way to the file",
                 s->lost_records, s->lost_messages);
    if (s->refused)
        complain(program,
                 "%" PRIu64 " process%s sent the recorder what its plugin never sends: recording "
                 "it has ended there",
                 s->refused, plural(s->refused));
    if (s->unrecorded)
        complain(program,
                 "%" PRIu64
                 " process%s ran without being recorded: the recorder has no descriptors "
                 "or no memory for more at a time; raise the limits (ulimit -n, ulimit -v)",
                 s->unrecorded, plural(s->unrecorded));
    if (s->unread.files)
        complain(job->options.output,
                 "%" PRIu64 " file%s of the program could not be read (%s): the recording does not "
                 "have %s build-id%s",
                 s->unread.files, s->unread.files == 1 ? "" : "s", strerror(s->unread.why),
                 s->unread.files == 1 ? "its" : "their", s->unread.files == 1 ? "" : "s");
}

static void warn_of_interval(const struct job *job)
{
    uint64_t interval = record_interval(job->options.period);

    if (interval != job->options.period)
        fprintf(stderr, "spe: --count %" PRIu64 ": the unit's interval is %" PRIu64 "\n",
                job->options.period, interval);
}

/* ---- the truth ------------------------------------------------------------------------------ */

enum { FUNCTIONS_SHOWN = 20 };

static bool write_json(const struct job *job, const struct truth *truth)
{
    struct output output;

    if (is_input(job->stat_json, job->options.output) || !open_output(&output, job->stat_json))
        return false;
    render_truth_json(&output.out, truth, truth_quantities(&job->options));
    return close_output(&output, true, STATUS_OK) == STATUS_OK;
}

static bool write_text(const struct job *job, const struct truth *truth)
{
    struct out out;
    bool good;

    if (out_open(&out, STDERR_FILENO) < 0)
        return false;
    good = render_truth(&out, truth, FUNCTIONS_SHOWN, truth_quantities(&job->options),
                        page_width(job->width, STDERR_FILENO), use_color(STDERR_FILENO));
    return out_close(&out) == 0 && good;
}

static bool tell_truth(const struct job *job, const struct record_summary *summary,
                       const struct record_counts *counts)
{
    struct problem problem;
    struct truth truth;
    bool good = truth_find(&job->options, summary, counts, &truth, &problem);

    if (!good)
        complain(problem.what, "%s", problem.why);
    else
        good = (!job->stat_json || write_json(job, &truth)) &&
               (!job->stat_text || write_text(job, &truth));
    truth_free(&truth);
    return good;
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Whole lines, and fewer and fewer of them: the program may write to the same terminal. */
static void show_progress(void *user, double seconds, uint64_t aux_bytes)
{
    struct job *job = user;

    if (seconds < job->next_progress)
        return;
    job->next_progress = seconds < PROGRESS_MOST ? 2 * seconds : seconds + PROGRESS_MOST;
    fprintf(stderr, "spe: %s: %.0f s, %.1f MB of records\n", job->options.output, seconds,
            (double)aux_bytes * 1e-6);
}

static int record(struct job *job)
{
    struct record_counts counts = {0};
    struct problem problem;
    struct record_summary summary;
    bool started, good;

    if (!job->quiet)
        warn_of_interval(job);
    if (!job->quiet && isatty(STDERR_FILENO)) {
        job->next_progress = PROGRESS_FIRST;
        job->options.progress = show_progress;
        job->options.user = job;
    }
    good =
        record_run(&job->options, &summary, job->options.stat ? &counts : NULL, &started, &problem);
    if (!good)
        complain(problem.what, "%s", problem.why);
    if (started && !job->quiet)
        print_summary(job, &summary);
    if (started)
        print_troubles(job, &summary);
    if (started && job->verbose)
        print_kept(job, &summary.kept);
    if (good && job->options.stat)
        good = tell_truth(job, &summary, &counts);
    free(counts.at);
    if (!good)
        return started ? STATUS_BAD_DATA : STATUS_USAGE;
    if (record_is_incomplete(&summary))
        return STATUS_BAD_DATA;
    return summary.timed_out ? STATUS_OK : summary.exit_status;
}

/* The command's words as they were typed: "spe" is not among argv here. */
static const char **whole_command(int argc, char **argv)
{
    const char **words = calloc((size_t)argc + 1, sizeof(*words));

    if (words) {
        words[0] = "spe";
        for (int i = 0; i < argc; i++)
            words[i + 1] = argv[i];
    }
    return words;
}

/* Where perf keeps binaries, and where all readers look for them. */
static void keep_below_home(struct job *job)
{
    const char *home = getenv("HOME");

    if (!home || home[0] != '/' || strlen(home) >= sizeof(job->home) - 8)
        return;
    snprintf(job->home, sizeof(job->home), "%s/.debug", home);
    job->options.keep = job->home;
}

static int run(const struct command *self, int argc, char **argv)
{
    const char **words = whole_command(argc, argv);
    struct job job = {
        .command = self,
        .options =
            {
                .event = {.config = UINT64_C(1) << 16},
                .period = 4096,
                .output = "perf.data",
                .cpu = "neoverse-n1",
                .model = RECORD_MODEL_CORE,
                .seed = 1,
            },
    };
    int status;

    if (!words) {
        complain("record", "%s", spe_strerror(SPE_ERR_NOMEM));
        return STATUS_BAD_DATA;
    }
    keep_below_home(&job);
    job.options.command_line = words;
    job.options.command_line_count = (size_t)argc + 1;
    if (take_options(self, &job, argc, argv, &status)) {
        job.options.command = argv + optind;
        job.options.stat = job.stat_text || job.stat_json;
        status = optind < argc ? record(&job)
                               : usage_error(self, "record", "there is no program to record");
    }
    free(words);
    return status;
}

const struct command command_record = {
    .name = "record",
    .summary = "run an AArch64 program anywhere and record it",
    .usage = usage,
    .options = options,
    .examples = examples,
    .words_follow = true, /* the program's options are its own */
    .run = run,
};
