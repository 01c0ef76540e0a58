/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which QEMU a program is, and what its plugins can do. */
#ifndef LAUNCH_QEMU_H
#define LAUNCH_QEMU_H

#include <stdbool.h>

struct qemu_version {
    int major, minor;
};

/* Behind `before` in the text: "qemu-aarch64 version 7.2.22 (Debian ...)". */
bool qemu_parse_version(const char *text, const char *before, struct qemu_version *version);

bool qemu_is_at_least(const struct qemu_version *version, int major, int minor);

/* The level of the plugin interface; 0: older than the first that we know. */
int qemu_plugin_level(const struct qemu_version *version);

/* What of that the plugin cannot find out, in the environment of those that we start. */
void qemu_tell_level(const struct qemu_version *version);

enum qemu_verdict {
    QEMU_GOOD,
    QEMU_ABSENT,
    QEMU_OTHER,  /* it does not say such a version */
    QEMU_SILENT, /* it says nothing, and does not end */
};

enum { QEMU_PATIENCE = 20 }; /* seconds for a program to say its version */

/* Ask the program, which may need arguments of its own. `before` is as above. */
enum qemu_verdict qemu_examine(char *const *command, const char *before, unsigned seconds,
                               struct qemu_version *version);

/* Was it built with them? */
bool qemu_has_plugins(char *const *command, unsigned seconds);

#endif
