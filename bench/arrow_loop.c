/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A loop in C over the Arrow stream of a recording, for bench_columns.sh, in one thread.
 *
 *     arrow_loop fast|time FILE [COLUMN,... [views]]
 *
 * Prints the rows, and the sum of the lengths of all columns less their nulls: each column of each
 * batch is looked at, and nothing more.
 */
#include <inttypes.h>
#include <specimen/arrow.h>
#include <stdio.h>

struct sums {
    uint64_t rows, values;
};

static int consume(struct ArrowArrayStream *stream, struct sums *sums)
{
    struct ArrowArray batch;
    int result;

    while ((result = stream->get_next(stream, &batch)) == 0 && batch.release) {
        sums->rows += (uint64_t)batch.length;
        for (int64_t i = 0; i < batch.n_children; i++)
            sums->values += (uint64_t)(batch.children[i]->length - batch.children[i]->null_count);
        batch.release(&batch);
    }
    return result;
}

int main(int argc, char **argv)
{
    struct spe_profile_options profile_options = SPE_PROFILE_OPTIONS;
    struct spe_arrow_options options = SPE_ARROW_OPTIONS;
    struct spe_profile_error error = {0};
    struct ArrowArrayStream stream;
    struct spe_profile *profile;
    struct sums sums = {0};
    int result;

    if (argc < 3)
        return 2;
    options.columns = argc > 3 ? argv[3] : NULL;
    if (argc > 4 && strcmp(argv[4], "views") == 0)
        options.names = SPE_ARROW_VIEW;
    profile_options.threads = 1;
    profile_options.map = true; /* as `spe report` does */
    profile_options.order = strcmp(argv[1], "time") == 0 ? SPE_ORDER_TIME : SPE_ORDER_FAST;
    if (spe_arrow_prepare(&options, &profile_options, &error) == SPE_OK && !options.columns)
        profile_options.want &= ~(unsigned)SPE_WANT_LINE; /* as `spe export` does */
    if (error.code || spe_profile_open(&profile, argv[2], &profile_options, &error) < 0 ||
        spe_arrow_stream(profile, &options, &stream, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    result = consume(&stream, &sums);
    stream.release(&stream);
    printf("%" PRIu64 " rows, %" PRIu64 " values\n", sums.rows, sums.values);
    return result != 0;
}
