/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The files of a recording, of which spe_profile_program() chooses one. */
#ifndef PROFILE_PROGRAM_H
#define PROFILE_PROGRAM_H

#include <specimen/profile.h>

/* How many programs and libraries there are. */
size_t profile_file_count(const struct spe_profile *profile);

/* The dso's addresses are those of a file, which is at hand. It is looked for if nobody did. */
bool profile_can_read_dso(struct spe_profile *profile, uint32_t dso);

#endif
