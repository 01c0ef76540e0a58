/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef NAMES_UNPACK_H
#define NAMES_UNPACK_H

#include <stddef.h>
#include <stdint.h>

enum packing { PACKED_NOT, PACKED_GZIP, PACKED_XZ, PACKED_ZSTD };

/* How a file is packed, by its first 6 bytes. */
enum packing packing_of(const uint8_t start[6]);

/* How large it is at most when it is unpacked; 0 if it is damaged or this build cannot unpack it.
 */
uint64_t unpacked_size(enum packing packing, const uint8_t *bytes, size_t size);

/* Returns how much it was; 0 if it is damaged or has no room. */
size_t unpack(enum packing packing, const uint8_t *bytes, size_t size, uint8_t *to, size_t to_size);

#endif
