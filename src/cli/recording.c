/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/recording.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void recording_init(struct recording *r)
{
    static const struct spe_profile_options options = SPE_PROFILE_OPTIONS;

    memset(r, 0, sizeof(*r));
    r->options = options;
    r->options.map = true; /* main() sees to SIGBUS */
}

/* Digits into *value; where they end, NULL if there are none or too many. */
static const char *take_digits(const char *s, const char *end, uint64_t *value)
{
    const char *first = s;

    for (*value = 0; s < end && isdigit((unsigned char)*s); s++) {
        if (*value > UINT64_MAX / 100)
            return NULL;
        *value = 10 * *value + (uint64_t)(*s - '0');
    }
    return s > first ? s : NULL;
}

static uint64_t unit_ns(const char *unit, size_t length)
{
    if (length == 1 && *unit == 's')
        return 1000000000;
    if (length != 2 || unit[1] != 's')
        return 0;
    return *unit == 'm' ? 1000000 : *unit == 'u' ? 1000 : *unit == 'n';
}

bool recording_time(const char *text, size_t length, uint64_t *ns)
{
    const char *end = text + length, *s;
    uint64_t whole, fraction = 0, scale = 1, unit;

    s = take_digits(text, end, &whole);
    if (!s)
        return false;
    if (s < end && *s == '.') {
        for (s++; s < end && isdigit((unsigned char)*s); s++) {
            if (scale < 1000000000) { /* finer than a nanosecond of a second does not count */
                fraction = 10 * fraction + (uint64_t)(*s - '0');
                scale *= 10;
            }
        }
    }
    unit = s == end ? 1000000000 : unit_ns(s, (size_t)(end - s));
    if (!unit || whole > UINT64_MAX / unit - 1)
        return false;
    *ns = whole * unit + fraction * unit / scale;
    return true;
}

int recording_list(const char *text, uint32_t *numbers, size_t max)
{
    const char *end = text + strlen(text), *s = text;
    size_t n = 0;

    for (;; s++) { /* past a comma */
        uint64_t first, last;

        s = take_digits(s, end, &first);
        last = first;
        if (s && *s == '-')
            s = take_digits(s + 1, end, &last);
        if (!s || last < first || last > UINT32_MAX || last - first >= max - n)
            return SPE_ERR_INVALID;
        while (first <= last)
            numbers[n++] = (uint32_t)first++;
        if (*s != ',')
            return *s ? SPE_ERR_INVALID : (int)n;
    }
}

/* "12.5s", "+0.5s", "10%". */
static bool take_moment(const char *text, size_t length, struct recording_moment *m)
{
    if (length > 1 && text[length - 1] == '%') {
        m->kind = MOMENT_PERCENT;
        if (!isdigit((unsigned char)text[length - 2]) ||
            !recording_time(text, length - 1, &m->value))
            return false;
        m->value /= 100000; /* "12.5" became 12.5e9 */
        return m->value <= 1000000;
    }
    m->kind = *text == '+' ? MOMENT_SINCE : MOMENT_AT;
    return recording_time(text + (*text == '+'), length - (*text == '+'), &m->value);
}

/* Two ends of the same kind can be compared before the recording is known. */
static bool take_times(struct recording *r, const char *text)
{
    size_t length = strcspn(text, ",");
    const char *rest = text + length;

    r->from = r->to = (struct recording_moment){0};
    if (!*rest && strchr(text, '%')) { /* perf's 10%-20% */
        length = strcspn(text, "-");
        rest = text + length;
        if (length < 2 || text[length - 1] != '%' || !rest[0] || !rest[1] ||
            rest[strlen(rest) - 1] != '%')
            return false;
    }
    rest += *rest != '\0';
    if ((!length && !*rest) || (length && !take_moment(text, length, &r->from)) ||
        (*rest && !take_moment(rest, strlen(rest), &r->to)))
        return false;
    r->options.time_from = r->from.kind == MOMENT_AT ? r->from.value : 0;
    r->options.time_to = r->to.kind == MOMENT_AT ? r->to.value : 0;
    return r->from.kind != r->to.kind || r->from.value < r->to.value;
}

/* What is wrong with the value of an option, unless it is good. */
static bool hold(const struct command *c, bool good, const char *option, const char *value,
                 const char *why)
{
    if (!good)
        usage_error(c, option, "%s %s", value, why);
    return good;
}

static bool time_option(const struct command *c, void *target, const char *value)
{
    return hold(c, take_times(target, value), "--time", value,
                "is not a span of time such as 12.5s,13s or +100ms,+200ms or 10%-20%");
}

static bool take_list(const struct command *c, const char *option, const char *text,
                      uint32_t *numbers, const uint32_t **list, size_t *count)
{
    int n = recording_list(text, numbers, RECORDING_LIST);

    *list = numbers;
    *count = n > 0 ? (size_t)n : 0;
    return hold(c, n > 0, option, text, "is not a list of numbers such as 0-3,8");
}

static bool cpus_option(const struct command *c, void *target, const char *value)
{
    struct recording *r = target;

    return take_list(c, "--cpus", value, r->cpus, &r->options.cpus, &r->options.cpu_count);
}

static bool pid_option(const struct command *c, void *target, const char *value)
{
    struct recording *r = target;

    return take_list(c, "--pid", value, r->pids, &r->options.pids, &r->options.pid_count);
}

static bool tid_option(const struct command *c, void *target, const char *value)
{
    struct recording *r = target;

    return take_list(c, "--tid", value, r->tids, &r->options.tids, &r->options.tid_count);
}

static bool cpu_option(const struct command *c, void *target, const char *value)
{
    struct recording *r = target;

    r->options.cpu = value;
    if (isdigit((unsigned char)*value))
        return hold(c, value[1] == 'x', "--cpu", value,
                    "is not the name of a CPU; CPUs by number are -C or --cpus");
    return find_cpu(c, value);
}

const struct option_row recording_options[] = {
    {OPTION_TEXT("\nWhich samples:")},
    {"filter", 0, "EXPR",
     "those that match (man spe-filter), for example\n"
     "'load and total > 100 and symbol ~ \"mem\"'",
     OPTION_STRING(struct recording, options.filter)},
    {"time", 0, "FROM,TO",
     "from FROM up to TO, either may be omitted: 12.5s,13s; +0.5s counts from the start; also 10%-20%",
     OPTION_TAKE(time_option)},
    {"comms", 'c', "LIST", "of threads with these names", OPTION_STRING(struct recording, comms)},
    {"dsos", 'd', "LIST", "of these programs and libraries", OPTION_STRING(struct recording, dsos)},
    {"symbols", 'S', "LIST", "of these functions", OPTION_STRING(struct recording, symbols)},
    {"cpus", 'C', "LIST", "of these CPUs, for example 0-3,8", OPTION_TAKE(cpus_option)},
    {"pid", 0, "LIST", "of these processes", OPTION_TAKE(pid_option)},
    {"tid", 0, "LIST", "of these threads", OPTION_TAKE(tid_option)},
    {OPTION_TEXT("\nWhere names come from:")},
    {"symfs", 0, "DIR", "look for files of the recorded machine below DIR",
     OPTION_STRING(struct recording, options.symfs)},
    {"debug-dir", 0, "DIR", "build-id cache (~/.debug)",
     OPTION_STRING(struct recording, options.debug_dir)},
    {"vmlinux", 'k', "FILE", "the kernel's symbols: its ELF file",
     OPTION_STRING(struct recording, options.vmlinux)},
    {"kallsyms", 0, "FILE", "the kernel's symbols: a copy of /proc/kallsyms",
     OPTION_STRING(struct recording, options.kallsyms)},
    {OPTION_TEXT("\nWhat the bytes are:")},
    {"input", 'i', "FILE", "the same as FILE, as in perf", OPTION_STRING(struct recording, input)},
    {"cpu", 0, "NAME", "the CPU, if the file does not identify it", OPTION_TAKE(cpu_option)},
    {"raw", 0, NULL, "treat the file as raw SPE bytes, without a check",
     OPTION_FLAG(struct recording, options.raw)},
    {"threads", 0, "N", "number of decoding threads (one per CPU)",
     OPTION_UNSIGNED(struct recording, options.threads, 0, 1024)},
    {"max-memory", 0, "SIZE",
     "memory limit for tasks, maps and buffers, such as 512M (1G, or the file's size)",
     OPTION_SIZE(struct recording, options.memory_limit, 1, UINT64_MAX)},
    {"force", 'f', NULL, "accepted for compatibility with perf; no effect", OPTION_NOTHING},
    {"quiet", 'q', NULL, "no warnings; errors are still printed",
     OPTION_FLAG(struct recording, quiet)},
    {0},
};

const char *one_file(const struct command *c, const char *input, int argc, char **argv)
{
    const char *second = input && optind < argc ? argv[optind]
                         : optind + 1 < argc    ? argv[optind + 1]
                                                : NULL;

    if (second) {
        usage_error(c, second, "one file at a time");
        return NULL;
    }
    return input ? input : optind < argc ? argv[optind] : "perf.data";
}

/* ---- lists as a part of the filter ----------------------------------------------------------- */

struct text {
    char *bytes;
    size_t size, used;
};

static void append(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct text *t, const char *format, ...)
{
    va_list args;
    int n;

    if (t->used >= t->size)
        return;
    va_start(args, format);
    n = vsnprintf(t->bytes + t->used, t->size - t->used, format, args);
    va_end(args);
    t->used += n > 0 ? (size_t)n : 0;
}

/* 'comm in ("a", "b")' */
static void append_list(struct text *t, const char *field, const char *list)
{
    append(t, "%s in (\"", field);
    for (; *list; list++) {
        if (*list == ',')
            append(t, "\", \"");
        else
            append(t, *list == '"' || *list == '\\' ? "\\%c" : "%c", *list);
    }
    append(t, "\")");
}

static bool is_filter(const struct command *c, const char *text)
{
    struct spe_profile_error error = {0};
    struct spe_filter *filter;
    int result = spe_filter_create(&filter, text, &error);

    if (result == SPE_OK)
        spe_filter_destroy(filter);
    else
        usage_error(c, "--filter", "%s (at character %d)", error.text, error.filter_position + 1);
    return result == SPE_OK;
}

bool recording_choose(struct recording *r, const struct command *c)
{
    struct text t = {.bytes = r->filter, .size = sizeof(r->filter)};
    const char *given = r->options.filter;

    if (!r->comms && !r->dsos && !r->symbols)
        return true;
    if (given && !is_filter(c, given)) /* alone: its mistakes have their places in it */
        return false;
    if (given)
        append(&t, "(%s)", given);
    if (r->comms) {
        append(&t, t.used ? " and " : "");
        append_list(&t, "comm", r->comms);
    }
    if (r->dsos) {
        append(&t, t.used ? " and (" : "(");
        append_list(&t, "dso", r->dsos);
        append(&t, " or ");
        append_list(&t, "path", r->dsos);
        append(&t, ")");
    }
    if (r->symbols) {
        append(&t, t.used ? " and " : "");
        append_list(&t, "symbol", r->symbols);
    }
    r->options.filter = r->filter;
    if (t.used < t.size)
        return true;
    usage_error(c, "--filter", "with the lists of names it is longer than %d bytes",
                RECORDING_TEXT - 1);
    return false;
}

const char *recording_file(struct recording *r, const struct command *c, int argc, char **argv)
{
    return recording_choose(r, c) ? one_file(c, r->input, argc, argv) : NULL;
}

/* ---- times ----------------------------------------------------------------------------------- */

struct span {
    bool timed;
    uint64_t first, last;
};

/* From when to when there are samples, which only going through them tells. */
static int find_span(const struct recording *r, const char *file, struct span *span)
{
    struct spe_profile_options options = r->options;
    struct spe_profile *profile;
    struct spe_rows rows;
    int result;

    options.filter = NULL;
    options.want = 0;
    options.omit = SPE_ANALYSIS_OMIT | SPE_OMIT_CPU | SPE_OMIT_VA;
    options.order = SPE_ORDER_FAST;
    options.time_from = options.time_to = 0;
    options.cpu_count = options.pid_count = options.tid_count = 0;
    options.cpus = options.pids = options.tids = NULL;
    result = spe_profile_open(&profile, file, &options, NULL);
    if (result < 0)
        return result;
    do {
        result = spe_profile_next(profile, &rows);
    } while (result > 0);
    span->timed = spe_profile_info(profile)->timed && spe_profile_counts(profile)->last_ns;
    span->first = spe_profile_counts(profile)->first_ns;
    span->last = spe_profile_counts(profile)->last_ns;
    spe_profile_close(profile);
    return result;
}

static bool is_relative(const struct recording_moment *m)
{
    return m->kind == MOMENT_SINCE || m->kind == MOMENT_PERCENT;
}

/* 100 % is behind the last sample. */
static uint64_t moment_ns(const struct recording_moment *m, const struct span *s)
{
    uint64_t length = s->last - s->first + 1;

    if (m->kind == MOMENT_PERCENT)
        return s->first + length / 1000000 * m->value + length % 1000000 * m->value / 1000000;
    if (m->kind == MOMENT_SINCE)
        return m->value < UINT64_MAX - s->first ? s->first + m->value : UINT64_MAX;
    return m->value;
}

static int set_times(struct recording *r, const struct command *c, const char *file)
{
    struct span span = {0};
    int result;

    if (is_relative(&r->from) || is_relative(&r->to)) {
        if (strcmp(file, "-") == 0)
            return usage_error(c, "--time", "parts of a recording need a file, not standard input");
        result = find_span(r, file, &span);
        if (result < 0)
            return STATUS_OK; /* opening it again says why */
        if (!span.timed) {
            complain(file, "the records have no time: --time cannot choose among them");
            return STATUS_BAD_DATA;
        }
    }
    r->options.time_from = moment_ns(&r->from, &span);
    r->options.time_to = moment_ns(&r->to, &span);
    if (r->to.kind == MOMENT_NONE || r->options.time_from < r->options.time_to)
        return STATUS_OK;
    return usage_error(c, "--time", "it ends before it begins");
}

bool recording_missed(const struct recording *r, const char *file,
                      const struct spe_profile *profile)
{
    const struct spe_profile_counts *counts = spe_profile_counts(profile);
    struct span span = {0};

    if (counts->rows || !counts->cut || (!r->options.time_from && !r->options.time_to))
        return false;
    if (strcmp(file, "-") != 0 && find_span(r, file, &span) >= 0 && span.timed &&
        (r->options.time_from > span.last ||
         (r->options.time_to && r->options.time_to <= span.first)))
        complain(file, "no sample is within --time: the recording is from %.6fs to %.6fs",
                 (double)span.first * 1e-9, (double)span.last * 1e-9);
    else
        complain(file, "no sample is within --time and the other limits");
    return true;
}

/* ---- opening and reading --------------------------------------------------------------------- */

int64_t recording_made_at(const char *file)
{
    struct stat st;

    return strcmp(file, "-") != 0 && stat(file, &st) == 0 ? st.st_mtime : 0;
}

int recording_open(struct recording *r, const struct command *c, const char *file,
                   struct spe_profile **profile)
{
    struct spe_profile_error error = {0};
    int status = set_times(r, c, file);

    if (r->quiet)
        progress_off();
    if (status != STATUS_OK)
        return status;
    if (spe_profile_open(profile, file, &r->options, &error) == SPE_OK)
        return STATUS_OK;
    if (error.filter_position >= 0 && r->options.filter && error.code == SPE_ERR_INVALID)
        return usage_error(c, "--filter", "%s (at character %d)", error.text,
                           error.filter_position + 1);
    complain(file, "%s", error.text[0] ? error.text : spe_strerror(error.code));
    return STATUS_BAD_DATA;
}

int recording_run(struct recording *r, const struct command *c, const char *file,
                  int (*answer)(void *job, struct spe_profile *profile), void *job)
{
    struct spe_profile *profile;
    int status = recording_open(r, c, file, &profile);

    if (status != STATUS_OK)
        return status;
    status = answer(job, profile);
    spe_profile_close(profile);
    return status;
}

int recording_rows(struct spe_profile *profile, const char *file, recording_each *each, void *user)
{
    const struct spe_profile_counts *counts = spe_profile_counts(profile);
    struct progress progress;
    struct spe_rows rows;
    int result;

    progress_start(&progress, file, spe_profile_info(profile)->aux_bytes);
    while ((result = spe_profile_next(profile, &rows)) > 0) {
        result = each(user, profile, &rows);
        if (result < 1)
            break;
        progress_update(&progress, counts->account.bytes);
    }
    progress_end(&progress);
    return result;
}

static int analyse(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    int result = spe_analysis_add(user, profile, rows);

    return result < 0 ? result : 1;
}

int recording_analyse(struct spe_profile *profile, const char *file, struct spe_analysis *analysis)
{
    int result = recording_rows(profile, file, analyse, analysis);

    return result < 0 ? result : spe_analysis_finish(analysis, profile);
}

static int see_data(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    int result = spe_analysis_add_data(user, rows);

    (void)profile;
    return result < 0 ? result : 1;
}

int recording_finish(struct spe_profile *profile, const char *file, struct spe_analysis *analysis)
{
    int result = spe_analysis_wants_data(analysis);

    if (result > 0) {
        result = spe_profile_rewind(profile);
        if (result == SPE_OK)
            result = recording_rows(profile, file, see_data, analysis);
    }
    return result < 0 ? result : spe_analysis_finish(analysis, profile);
}

int recording_result(const struct spe_profile *profile, const char *file, int result)
{
    int names = spe_profile_status(profile);

    if (result < 0)
        complain(file, "%s", spe_strerror(result));
    else if (names < 0)
        complain(file, "names of functions or lines are missing: %s", spe_strerror(names));
    return result < 0 ? result : names;
}

void recording_warn(const struct recording *r, const struct spe_profile *profile, const char *file)
{
    const struct spe_account *account = &spe_profile_counts(profile)->account;
    size_t i;

    if (r->quiet)
        return;
    for (i = 0; spe_profile_warning(profile, i); i++)
        complain(file, "%s", spe_profile_warning(profile, i));
    if (account->skipped_bytes)
        report_account(file, account);
}

int recording_status(const struct spe_profile *profile)
{
    return spe_profile_info(profile)->damage ? STATUS_BAD_DATA : STATUS_OK;
}
