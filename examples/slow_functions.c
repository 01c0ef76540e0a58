/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The functions in which a recording's samples waited longest.
 *
 *   cc slow_functions.c $(pkg-config --cflags --libs specimen) && ./a.out perf.data
 */
#include <inttypes.h>
#include <stdio.h>

#include <specimen/analysis.h>

enum { TOP = 10 };

static int add_all(struct spe_analysis *analysis, struct spe_profile *profile)
{
    struct spe_rows rows;
    int result;

    while ((result = spe_profile_next(profile, &rows)) > 0) {
        result = spe_analysis_add(analysis, profile, &rows);
        if (result < 0)
            return result;
    }
    return result < 0 ? result : spe_analysis_finish(analysis, profile);
}

/* Names come out of the recording: what is not printable is not printed. */
static void print_name(const char *name)
{
    for (; *name; name++)
        putchar(*name >= ' ' && *name <= '~' ? *name : '?');
    putchar('\n');
}

static void print_top(const struct spe_analysis *analysis, const struct spe_profile *profile)
{
    struct spe_group top[TOP];
    size_t n = spe_analysis_groups(analysis, SPE_BY_FUNCTION, SPE_SORT_LATENCY, top, TOP);

    printf("%10s %12s  %s\n", "samples", "cycles", "function");
    for (size_t i = 0; i < n; i++) {
        struct spe_profile_symbol symbol;

        printf("%10" PRIu64 " %12" PRIu64 "  ", top[i].counts.samples, top[i].counts.latency);
        print_name(spe_profile_symbol(profile, top[i].symbol, &symbol) == SPE_OK ? symbol.name
                                                                                 : "(no symbol)");
    }
}

int main(int argc, char **argv)
{
    struct spe_profile_options options;
    struct spe_analysis_config config;
    struct spe_profile_error error;
    struct spe_profile *profile;
    struct spe_analysis *analysis;
    const char *path = argc > 1 ? argv[1] : "perf.data";
    int result;

    spe_profile_options_init(&options);
    options.want = SPE_WANT_SYMBOL;
    options.omit = SPE_ANALYSIS_OMIT;
    if (spe_profile_open(&profile, path, &options, &error) < 0) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        return 1;
    }
    spe_analysis_config_init(&config);
    config.by = 1u << SPE_BY_FUNCTION;
    result = spe_analysis_create(&analysis, &config);
    if (result == SPE_OK)
        result = add_all(analysis, profile);
    if (result == SPE_OK)
        print_top(analysis, profile);
    else
        fprintf(stderr, "%s: %s\n", path, spe_strerror(result));
    spe_analysis_destroy(analysis);
    spe_profile_close(profile);
    return result == SPE_OK ? 0 : 1;
}
