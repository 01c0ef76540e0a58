/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What callers in C and C++ write: tools/test.sh compiles it as both, with all warnings. */
#include <specimen/profile.h>

int headers_use(struct spe_profile **profile);

int headers_use(struct spe_profile **profile)
{
    struct spe_profile_options options = SPE_PROFILE_OPTIONS;

    options.want = SPE_WANT_SYMBOL;
    return spe_profile_open(profile, "perf.data", &options, NULL);
}
