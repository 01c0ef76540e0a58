/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/recording.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void recording_init(struct recording *r)
{
    static const struct spe_profile_options options = SPE_PROFILE_OPTIONS;

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

static bool take_times(struct spe_profile_options *options, const char *text)
{
    const char *comma = strchr(text, ',');
    size_t length = comma ? (size_t)(comma - text) : 0;

    if (!comma || (length == 0 && !comma[1]))
        return false;
    if (length && !recording_time(text, length, &options->time_from))
        return false;
    if (comma[1] && !recording_time(comma + 1, strlen(comma + 1), &options->time_to))
        return false;
    return !comma[1] || options->time_from < options->time_to;
}

static bool take_list(const char *text, uint32_t *numbers, const uint32_t **list, size_t *count)
{
    int n = recording_list(text, numbers, RECORDING_LIST);

    *list = numbers;
    *count = n > 0 ? (size_t)n : 0;
    return n > 0;
}

static bool take_threads(struct spe_profile_options *options, const char *text)
{
    uint64_t n;
    const char *end = take_digits(text, text + strlen(text), &n);

    options->threads = (unsigned)n;
    return end && !*end && n <= 1024;
}

/* "4096", "64K", "512M", "2G": bytes, at least one. */
static bool take_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMG";
    const char *end = take_digits(text, text + strlen(text), bytes), *unit;
    unsigned shift = 0;

    if (end && *end) {
        unit = strchr(units, toupper((unsigned char)*end));
        if (!unit || end[1])
            return false;
        shift = 10 * (unsigned)(unit - units + 1);
    }
    if (!end || !*bytes || *bytes > UINT64_MAX >> shift)
        return false;
    *bytes <<= shift;
    return true;
}

/* Values that are just kept. */
static const char **string_of(struct spe_profile_options *o, int option)
{
    switch (option) {
    case RECORDING_FILTER:
        return &o->filter;
    case RECORDING_SYMFS:
        return &o->symfs;
    case RECORDING_DEBUG_DIR:
        return &o->debug_dir;
    case RECORDING_VMLINUX:
        return &o->vmlinux;
    case RECORDING_KALLSYMS:
        return &o->kallsyms;
    case RECORDING_CPU:
        return &o->cpu;
    default:
        return NULL;
    }
}

int recording_option(struct recording *r, int option, const char *value, const char **why)
{
    struct spe_profile_options *o = &r->options;
    const char **string = string_of(o, option);
    bool good = true;

    *why = "is no list of numbers such as 0-3,8";
    if (string) {
        *string = value;
        return 1;
    }
    switch (option) {
    case RECORDING_TIME:
        *why = "is no span of time such as 12.5s,13s or 100ms,";
        good = take_times(o, value);
        break;
    case RECORDING_CPUS:
        good = take_list(value, r->cpus, &o->cpus, &o->cpu_count);
        break;
    case RECORDING_PID:
        good = take_list(value, r->pids, &o->pids, &o->pid_count);
        break;
    case RECORDING_TID:
        good = take_list(value, r->tids, &o->tids, &o->tid_count);
        break;
    case RECORDING_RAW:
        o->raw = true;
        break;
    case RECORDING_THREADS:
        *why = "is no number from 0 to 1024";
        good = take_threads(o, value);
        break;
    case RECORDING_MEMORY:
        *why = "is not a size such as 64M or 2G";
        good = take_size(value, &o->memory_limit);
        break;
    default:
        return 0;
    }
    return good ? 1 : SPE_ERR_INVALID;
}

static const char *option_name(int option)
{
    switch (option) {
    case RECORDING_TIME:
        return "--time";
    case RECORDING_CPUS:
        return "--cpus";
    case RECORDING_PID:
        return "--pid";
    case RECORDING_TID:
        return "--tid";
    case RECORDING_THREADS:
        return "--threads";
    case RECORDING_MEMORY:
        return "--max-memory";
    default:
        return "option";
    }
}

bool recording_take(struct recording *r, const struct command *c, int option, const char *value)
{
    const char *why;
    int result = recording_option(r, option, value, &why);

    if (result < 0)
        usage_error(c, option_name(option), "%s %s", value, why);
    return result > 0;
}

const char *recording_file(const struct command *c, int argc, char **argv)
{
    if (optind + 1 < argc) {
        usage_error(c, argv[optind + 1], "one file at a time");
        return NULL;
    }
    return optind < argc ? argv[optind] : "perf.data";
}

int recording_open(const struct recording *r, const struct command *c, const char *file,
                   struct spe_profile **profile)
{
    struct spe_profile_error error = {0};

    if (spe_profile_open(profile, file, &r->options, &error) == SPE_OK)
        return STATUS_OK;
    if (error.filter_position >= 0 && r->options.filter && error.code == SPE_ERR_INVALID)
        return usage_error(c, "--filter", "%s (at character %d)", error.text,
                           error.filter_position + 1);
    complain(file, "%s", error.text[0] ? error.text : spe_strerror(error.code));
    return STATUS_BAD_DATA;
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

int recording_result(const struct spe_profile *profile, const char *file, int result)
{
    int names = spe_profile_status(profile);

    if (result < 0)
        complain(file, "%s", spe_strerror(result));
    else if (names < 0)
        complain(file, "names of functions or lines are missing: %s", spe_strerror(names));
    return result < 0 ? result : names;
}

void recording_warn(const struct spe_profile *profile, const char *file)
{
    const struct spe_account *account = &spe_profile_counts(profile)->account;
    size_t i;

    for (i = 0; spe_profile_warning(profile, i); i++)
        complain(file, "%s", spe_profile_warning(profile, i));
    if (account->skipped_bytes)
        report_account(file, account);
}

int recording_status(const struct spe_profile *profile)
{
    return spe_profile_info(profile)->damage ? STATUS_BAD_DATA : STATUS_OK;
}
