/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The 95 % confidence interval of a share. Wilson's score interval, because the shares in a profile
 * are often near 0, where the textbook interval p +- z sqrt(p (1 - p) / n) goes below 0 and is far
 * too narrow:
 *
 *     (p + z^2 / 2n  +-  z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n),   z = 1.96
 */
#include <math.h>
#include <specimen/analysis.h>

#define Z 1.959963984540054 /* 97.5 % of the normal distribution lie below it */

struct spe_interval spe_interval_of_share(uint64_t hits, uint64_t samples)
{
    struct spe_interval interval = {0.0, 1.0};
    double n = (double)samples, p, middle, reach, scale;

    if (!samples)
        return interval;
    p = (double)hits / n;
    scale = 1.0 / (1.0 + Z * Z / n);
    middle = (p + Z * Z / (2.0 * n)) * scale;
    reach = Z * sqrt(p * (1.0 - p) / n + Z * Z / (4.0 * n * n)) * scale;
    /* The formula touches 0 and 1 exactly; rounding must not step past them. */
    interval.low = hits == 0 || middle < reach ? 0.0 : middle - reach;
    interval.high = hits == samples || middle + reach > 1.0 ? 1.0 : middle + reach;
    return interval;
}
