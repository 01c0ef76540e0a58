/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Where the launchers find things: files that come with the command, the cache, programs in PATH,
 * AArch64's libraries. */
#ifndef LAUNCH_FOLDERS_H
#define LAUNCH_FOLDERS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define LAUNCH_PLUGIN "specimen-qemu.so"

/* A file that comes with the command: beside it in a build tree, else where it is installed. */
bool launch_file(const char *name, char *out, size_t size);

/* ${XDG_CACHE_HOME:-~/.cache}/specimen/NAME, whether it is there or not. False if neither variable
 * says where, or it does not fit. */
bool launch_cache(const char *name, char *out, size_t size);

/* Where launch_file looks last, for messages. */
const char *launch_installed(void);

/* The plugin: the file that SPECIMEN_PLUGIN names, else ours. False with *given, if that cannot be
 * read, or NULL. */
bool launch_plugin(char *out, size_t size, const char **given);

/* A program, by its path or in PATH. */
bool launch_find_program(const char *name, char found[PATH_MAX]);
bool launch_is_program(const char *path);

/* Where AArch64's libraries are: `given`, or QEMU_LD_PREFIX, or where distributions have them. ""
 * if none is needed, or none was found. */
void launch_sysroot(const char *given, char found[PATH_MAX]);

#endif
