/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef SPE_FORMAT_PACKET_H
#define SPE_FORMAT_PACKET_H

#include <stdint.h>

/* enum spe_packet_type of every one-byte header (Table D18-1). */
extern const uint8_t spe_short_header_type[256];

#endif
