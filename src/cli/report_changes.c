/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/report_changes.h"

struct reading {
    struct report_changes *changes;
    unsigned side;
};

static int add(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    const struct reading *r = user;
    int result = spe_diff_add(r->changes->diff[0], r->side, profile, rows);

    if (result == SPE_OK)
        result = spe_diff_add(r->changes->diff[1], r->side, profile, rows);
    return result < 0 ? result : 1;
}

static int end_side(const struct reading *r, struct spe_profile *profile)
{
    int result = spe_diff_end_side(r->changes->diff[0], r->side, profile);

    return result < 0 ? result : spe_diff_end_side(r->changes->diff[1], r->side, profile);
}

static int read_side(struct reading *r, struct recording *recording, const struct command *command,
                     const char *file)
{
    struct spe_profile *profile;
    int result, status = recording_open(recording, command, file, &profile);

    if (status != STATUS_OK)
        return status;
    result = recording_rows(profile, file, add, r);
    if (result == SPE_OK)
        result = end_side(r, profile);
    status = recording_result(profile, file, result) < 0 ? STATUS_BAD_DATA : STATUS_OK;
    spe_profile_close(profile);
    return status;
}

static int create(struct report_changes *c)
{
    static const enum spe_group_by by[2] = {SPE_BY_FUNCTION, SPE_BY_FUNCTION_LINE};
    struct spe_diff_config config;
    int error = SPE_OK;

    spe_diff_config_init(&config);
    for (unsigned i = 0; i < 2 && error == SPE_OK; i++) {
        config.by = c->page[i].by = by[i];
        error = spe_diff_create(&c->diff[i], &config);
    }
    return error;
}

static void describe(struct report_changes *c, const char *const files[2], size_t top)
{
    for (unsigned i = 0; i < 2; i++) {
        c->page[i].top = top;
        for (unsigned side = 0; side < 2; side++) {
            c->page[i].file[side] = files[side];
            c->page[i].file_count[side] = 1;
        }
    }
}

static int finish(struct report_changes *c)
{
    for (unsigned i = 0; i < 2; i++) {
        int error = spe_diff_finish(c->diff[i]);

        if (error < 0) {
            complain(c->page[i].file[0], "%s",
                     error == SPE_ERR_UNKNOWN ? "there are no samples on both sides to compare"
                                              : spe_strerror(error));
            return STATUS_BAD_DATA;
        }
        c->page[i].result = spe_diff_result(c->diff[i]);
    }
    return STATUS_OK;
}

int report_changes_read(struct report_changes *c, const struct recording *recording,
                        const struct command *command, const char *const files[2], size_t top)
{
    struct recording chosen = *recording;
    int status = STATUS_OK, error = create(c);

    if (error < 0) {
        complain(files[0], "%s", spe_strerror(error));
        return STATUS_BAD_DATA;
    }
    describe(c, files, top);
    chosen.options.omit = SPE_DIFF_OMIT;
    for (unsigned side = 0; side < 2 && status == STATUS_OK; side++) {
        struct reading reading = {c, side};

        status = read_side(&reading, &chosen, command, files[side]);
    }
    return status == STATUS_OK ? finish(c) : status;
}

void report_changes_free(struct report_changes *c)
{
    spe_diff_destroy(c->diff[0]);
    spe_diff_destroy(c->diff[1]);
}
