/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What a colour means; the same everywhere. Nothing is said by colour alone.
 */
#ifndef RENDER_COLOR_H
#define RENDER_COLOR_H

#include "render/out.h"

enum tone {
    TONE_PLAIN,
    TONE_TITLE,   /* bold: headings */
    TONE_QUIET,   /* dim: legends, and what weighs nothing */
    TONE_GOOD,    /* green: complete, cheap */
    TONE_NOTABLE, /* yellow: at least a fiftieth of everything, or a tenth of its own kind */
    TONE_HOT,     /* red: at least a tenth of everything, or a third of its own kind; lost data */
};

/* Nothing if colour is off. */
void tone_begin(struct out *o, bool color, enum tone tone);
void tone_end(struct out *o, bool color, enum tone tone);

/* Of a share of all samples or latency, and of a share of misses. */
enum tone tone_of_share(double share);
enum tone tone_of_misses(double share);

#endif
