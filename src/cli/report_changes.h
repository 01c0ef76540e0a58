/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* `spe report --html FILE OLD NEW`: what changed since the older recording, for the page. */
#ifndef CLI_REPORT_CHANGES_H
#define CLI_REPORT_CHANGES_H

#include "cli/recording.h"
#include "render/diff.h"

/* By function and by line. */
struct report_changes {
    struct spe_diff *diff[2];
    struct diff page[2];
};

/* Read both recordings, of which the same samples are chosen. The status; errors have been
 * reported. */
int report_changes_read(struct report_changes *changes, const struct recording *recording,
                        const struct command *command, const char *const files[2], size_t top);
void report_changes_free(struct report_changes *changes);

#endif
