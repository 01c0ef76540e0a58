/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which QEMU, and how to start it. */
#include "launch/qemu.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/child.h"
#include "vm/vm.h"

#define PROGRAM "qemu-system-aarch64"

enum { DEVICE_LEVEL = 6 }; /* the first whose plugins can be a device: QEMU 11.0 */

int vm_run_program(char *const *command, int output, bool interactive, unsigned seconds,
                   struct problem *error)
{
    struct child_options options = {
        .output = output, .interactive = interactive, .seconds = seconds};
    int status;

    switch (child_run(command, &options, &status)) {
    case CHILD_FAILED:
        return problem_say(error, SPE_ERR_IO, command[0], "%s", strerror(errno));
    case CHILD_ASKED:
        return problem_say(error, SPE_ERR_IO, command[0], "it was ended by a signal");
    case CHILD_LATE:
        return problem_say(error, SPE_ERR_IO, command[0], "it was ended after %u seconds", seconds);
    case CHILD_NOT_STARTED:
        return problem_say(error, SPE_ERR_IO, command[0], "it could not be started");
    default:
        return status;
    }
}

/* QEMU of the cache has its own C library, and comes with the loader that fits it. */
static bool from_cache(const char *cache, struct vm_qemu *q)
{
    char pattern[4096];
    glob_t loader = {0}, libraries = {0};
    bool found;

    snprintf(q->path, sizeof(q->path), "%s/qemu/usr/bin/" PROGRAM, cache);
    if (access(q->path, R_OK) < 0)
        return false;
    snprintf(pattern, sizeof(pattern), "%s/qemu/usr/lib*/ld-linux-*.so.*", cache);
    found = glob(pattern, 0, NULL, &loader) == 0;
    snprintf(pattern, sizeof(pattern), "%s/qemu/usr/lib/*-linux-gnu", cache);
    found = found && glob(pattern, 0, NULL, &libraries) == 0;
    if (found) {
        vm_words_add(&q->command, "%s", loader.gl_pathv[0]);
        vm_words_add(&q->command, "--library-path");
        vm_words_add(&q->command, "%s", libraries.gl_pathv[0]);
        vm_words_add(&q->command, "%s", q->path);
        vm_words_add(&q->command, "-L");
        vm_words_add(&q->command, "%s/qemu/usr/share/qemu", cache);
    }
    globfree(&loader);
    globfree(&libraries);
    return found;
}

static bool fit(struct vm_qemu *q)
{
    q->version = (struct qemu_version){0};
    if (q->command.failed)
        return false;
    if (qemu_examine(q->command.list, "version ", QEMU_PATIENCE, &q->version) == QEMU_SILENT)
        q->silent = true;
    return qemu_plugin_level(&q->version) >= DEVICE_LEVEL;
}

void vm_qemu_free(struct vm_qemu *q)
{
    vm_words_free(&q->command);
}

int vm_find_qemu(const char *path, const char *cache, struct vm_qemu *q, struct problem *error)
{
    bool failed;

    *q = (struct vm_qemu){0};
    if (!path && from_cache(cache, q) && fit(q))
        return 0;
    vm_qemu_free(q);
    snprintf(q->path, sizeof(q->path), "%s", path ? path : PROGRAM);
    vm_words_add(&q->command, "%s", q->path);
    if (fit(q))
        return 0;
    failed = q->command.failed;
    vm_qemu_free(q);
    if (failed)
        return problem_say(error, SPE_ERR_NOMEM, q->path, "%s", spe_strerror(SPE_ERR_NOMEM));
    if (q->silent)
        return problem_say(error, SPE_ERR_UNKNOWN, q->path,
                           "it did not print its version within %d seconds: this is not QEMU",
                           QEMU_PATIENCE);
    if (q->version.major)
        return problem_say(
            error, SPE_ERR_UNKNOWN, q->path,
            "this is QEMU %d.%d, whose plugins cannot be a device: 11.0 or newer can. "
            "Debian has one in trixie-backports; 'spe vm --fetch' unpacks it into %s",
            q->version.major, q->version.minor, cache);
    return problem_say(
        error, SPE_ERR_UNKNOWN, q->path,
        "there is no such QEMU here, and none in %s. It takes version 11.0 or newer: "
        "Debian has one in trixie-backports, and 'spe vm --fetch' unpacks it there",
        cache);
}
