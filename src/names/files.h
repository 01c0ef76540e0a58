/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What other rooms need to know of files that have names. */
#ifndef NAMES_FILES_H
#define NAMES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The build-id of an open ELF file: its size, 0 if it has none, or negative. */
int file_build_id(int fd, uint8_t *id, size_t max);

/* Does an open ELF file have this build-id? */
bool has_build_id(int fd, const uint8_t *id, size_t id_size);

#endif
