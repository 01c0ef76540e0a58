/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* How a recording went over time: one line of small bars for each quantity. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "render/report.h"
#include "render/table.h"

#define NAME 18
#define LEGEND 28

static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const letters[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};

unsigned times_bins(unsigned width)
{
    return width > NAME + LEGEND + 8 ? width - NAME - LEGEND - 6 : 2;
}

/* What is there is seen: only nothing is a blank. */
static const char *bar(const struct report *report, double value, double most)
{
    unsigned step = value > 0.0 && most > 0.0 ? (unsigned)ceil(8.0 * value / most) : 0;

    step = step > 8 ? 8 : step;
    return report->utf8 ? blocks[step] : letters[step];
}

static double mean_of(const struct spe_time_bin *bin)
{
    return bin->samples ? (double)bin->latency / (double)bin->samples : 0.0;
}

static uint64_t loads_of(const struct spe_time_bin *bin)
{
    uint64_t loads = 0;
    unsigned i;

    for (i = 0; i < SPE_SERVED_COUNT; i++)
        loads += bin->loads[i];
    return loads;
}

enum quantity { SAMPLES, LATENCY, SERVED }; /* SERVED + n: by enum spe_served */

static double value_of(const struct spe_time_bin *bin, unsigned quantity)
{
    switch (quantity) {
    case SAMPLES:
        return (double)bin->samples;
    case LATENCY:
        return mean_of(bin);
    default:
        return 100.0 * share_of(bin->loads[quantity - SERVED], loads_of(bin));
    }
}

static void show(struct out *o, const struct report *report, unsigned quantity, const char *name,
                 const char *legend)
{
    const struct spe_times *t = &report->times;
    double most = 0.0;
    char text[64];
    size_t i;

    for (i = 0; i < t->count; i++)
        most = fmax(most, value_of(&t->bins[i], quantity));
    if (most <= 0.0)
        return;
    out_printf(o, "  %-*s  ", NAME, name);
    for (i = 0; i < t->count; i++) /* levels share a scale: they are parts of one */
        out_string(o,
                   bar(report, value_of(&t->bins[i], quantity), quantity >= SERVED ? 100.0 : most));
    if (quantity == SAMPLES)
        text_grouped(text, (uint64_t)most);
    else
        snprintf(text, sizeof(text), most < 9.995 ? "%.2f" : "%.1f", most);
    out_printf(o, "  up to %s %s\n", text, legend);
}

void times_text(struct out *o, const struct report *report)
{
    unsigned served;

    show(o, report, SAMPLES, "samples", "in a bin");
    show(o, report, LATENCY, "latency", "cycles/sample");
    for (served = 0; served < SPE_SERVED_COUNT; served++)
        show(o, report, SERVED + served, spe_served_name(served), "% of loads");
}
