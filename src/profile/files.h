/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What other rooms need to know of the file that a profile reads. */
#ifndef PROFILE_FILES_H
#define PROFILE_FILES_H

#include <specimen/profile.h>

/* The recording, or a copy of standard input; -1 without either. It stays the profile's. */
int profile_fd(const struct spe_profile *profile);

#endif
