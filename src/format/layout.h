/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef SPE_FORMAT_LAYOUT_H
#define SPE_FORMAT_LAYOUT_H

#include <specimen/format.h>

extern const struct spe_layout spe_layout_architecture;
extern const struct spe_layout spe_layout_neoverse_n1;
extern const struct spe_layout spe_layout_kunpeng_920;

#endif
