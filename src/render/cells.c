/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/cells.h"

#include <math.h>
#include <specimen/analysis.h>

#include "render/report.h"

void interval_cell(struct table *t, uint64_t hits, uint64_t samples)
{
    struct spe_interval i = spe_interval_of_share(hits, samples);
    double wide = 100.0 * (i.high - i.low), scale;
    int digits = wide >= 10.0 ? 0 : wide >= 1.0 || i.high >= 0.1 ? 1 : 2;

    scale = digits == 0 ? 100.0 : digits == 1 ? 1000.0 : 10000.0;
    table_format(t, TONE_QUIET, "%.*f-%.*f", digits, 100.0 * floor(i.low * scale) / scale, digits,
                 100.0 * ceil(i.high * scale) / scale);
}

void miss_cell(struct table *t, uint64_t misses, uint64_t of)
{
    if (!of)
        table_text(t, TONE_QUIET, "-");
    else
        table_percent(t, tone_of_misses(share_of(misses, of)), share_of(misses, of));
}

void mean_cell(struct table *t, uint64_t latency, uint64_t samples)
{
    if (samples)
        table_format(t, TONE_PLAIN, "%.1f", (double)latency / (double)samples);
    else
        table_text(t, TONE_QUIET, "-");
}
