/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Where the launchers find what is theirs: files that come with the command, and the cache. */
#ifndef QEMU_PLACES_H
#define QEMU_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#define PLACES_PLUGIN "specimen-qemu.so"

/* A file that comes with the command: beside it in a build tree, else where it is installed. */
bool places_file(const char *name, char *out, size_t size);

/* ${XDG_CACHE_HOME:-~/.cache}/specimen/NAME, whether it is there or not. False if neither variable
 * says where, or it does not fit. */
bool places_cache(const char *name, char *out, size_t size);

/* Where places_file looks last, for messages. */
const char *places_installed(void);

#endif
