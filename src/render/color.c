/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/color.h"

static const char *const codes[] = {
    [TONE_PLAIN] = "",        [TONE_TITLE] = "\033[1m",    [TONE_QUIET] = "\033[2m",
    [TONE_GOOD] = "\033[32m", [TONE_NOTABLE] = "\033[33m", [TONE_HOT] = "\033[31m",
};

void tone_begin(struct out *o, bool color, enum tone tone)
{
    if (color)
        out_string(o, codes[tone]);
}

void tone_end(struct out *o, bool color, enum tone tone)
{
    if (color && tone != TONE_PLAIN)
        out_string(o, "\033[0m");
}

enum tone tone_of_share(double share)
{
    return share >= 0.1 ? TONE_HOT : share >= 0.02 ? TONE_NOTABLE : TONE_PLAIN;
}

enum tone tone_of_misses(double share)
{
    return share >= 1.0 / 3 ? TONE_HOT : share >= 0.1 ? TONE_NOTABLE : TONE_PLAIN;
}
