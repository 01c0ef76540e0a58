/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include <math.h>
#include <stdlib.h>

#include "analysis/diff.h"

#define MOST_FREEDOM 1e5 /* from here on it is the normal distribution */

/* ---- Student's distribution ------------------------------------------------------------------ */

/* The continued fraction of the incomplete beta function, from its first term on: each step takes
 * an even and an odd coefficient. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0), f;

    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    f = d;
    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;

        d = 1.0 + even * d;
        c = 1.0 + even / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        f *= c * d;
        d = 1.0 + odd * d;
        c = 1.0 + odd / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        step = c * d;
        f *= step;
        if (fabs(step - 1.0) < 1e-12)
            break;
    }
    return f;
}

/* lgamma writes a global, and the library has none of its own. */
static double log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

/* The regularized incomplete beta function I_x(a, b). */
static double incomplete_beta(double a, double b, double x)
{
    double front;

    if (x <= 0.0 || x >= 1.0)
        return x >= 1.0;
    front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    /* The fraction converges fast on the side where the mean is. */
    return x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(a, b, x) / a
                                         : 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double student_beyond(double t, double freedom)
{
    if (freedom >= MOST_FREEDOM)
        return erfc(fabs(t) / sqrt(2.0));
    return incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t));
}

/* 97.5 % of Student's distribution lie below it: the expansion of Cornish and Fisher around the
 * normal distribution, which is 0.8 % too little with three degrees of freedom. */
static double student_quantile(double freedom)
{
    const double z = 1.959963984540054, z2 = z * z, v = 1.0 / freedom;

    return z * (1.0 + v * ((z2 + 1.0) / 4.0 +
                           v * (((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0 +
                                v * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0)));
}

/* ---- A change -------------------------------------------------------------------------------- */

/* What the samples of a sum say of the variance of one unit's. */
static double variance_of(const struct moments *m, double units, double spread)
{
    double mean = m->sum[0] / units, variance = m->sum[1] / units + spread * mean * mean;

    return variance > 0.0 ? variance : 0.0;
}

/* How much that variance is worth. */
static double freedom_of(const struct moments *m, double units, double spread)
{
    double mean = m->sum[0] / units, square = m->sum[1] / units;
    double variance = square, fourth = m->sum[3] / units, freedom;

    if (spread < 0.0) { /* around the mean, which is known */
        variance = square - mean * mean;
        fourth += mean * (mean * (6.0 * square - 3.0 * mean * mean) - 4.0 * m->sum[2] / units) -
                  variance * variance;
    }
    freedom = fourth > 0.0 ? 2.0 * units * variance * variance / fourth : MOST_FREEDOM;
    if (spread > 0.0 && freedom > 2.0 * units)
        freedom = 2.0 * units;
    return freedom < 1.0 ? 1.0 : freedom < MOST_FREEDOM ? freedom : MOST_FREEDOM;
}

/* Fieller's interval: all ratios r for which after - r before is not significantly different from
 * nothing. */
static struct spe_interval ratio_interval(const struct spe_change *c, const double variance[2],
                                          double quantile)
{
    double q2 = quantile * quantile;
    double a = c->before * c->before - q2 * variance[0], b = c->before * c->after;
    double d = c->after * c->after - q2 * variance[1], root = b * b - a * d;
    struct spe_interval interval = {0.0, INFINITY};

    if (a <= 0.0) { /* before may be nothing: the lower end is all that there is */
        interval.low = d > 0.0 && root > 0.0 ? d / (b + sqrt(root)) : 0.0;
        return interval;
    }
    root = root > 0.0 ? sqrt(root) : 0.0;
    interval.low = b > root ? (b - root) / a : 0.0;
    interval.high = (b + root) / a;
    return interval;
}

/* What is added to a variance, and how much it is worth. */
struct extra {
    double variance[2], freedom[2];
};

static void change_with(struct spe_change *change, const struct moments side[2],
                        const struct diff_work work[2], uint64_t hits, const struct extra *extra)
{
    double units = work[0].units + work[1].units, spread = work[0].spread;
    double one, separate, together, variance[2], freedom, larger, doubt;
    struct moments both;

    for (unsigned i = 0; i < 4; i++)
        both.sum[i] = side[0].sum[i] + side[1].sum[i];
    one = variance_of(&both, units, spread);
    for (unsigned i = 0; i < 2; i++)
        variance[i] = variance_of(&side[i], work[i].units, spread) / work[i].units;
    separate = variance[0] + variance[1];
    together = one * (1.0 / work[0].units + 1.0 / work[1].units);
    larger = separate > together ? separate : together;
    for (unsigned i = 0; i < 2 && separate > 0.0; i++) {
        variance[i] *= larger / separate;
        if (!(side[i].sum[0] >
              0.0)) /* that there is none says nothing of how little there may be */
            variance[i] = one / work[i].units;
    }
    change->before = side[0].sum[0] / work[0].units;
    change->after = side[1].sum[0] / work[1].units;
    freedom = freedom_of(&both, units, spread);
    change->tested = hits >= SPE_DIFF_LEAST && larger > 0.0;
    doubt = larger * larger / freedom;
    for (unsigned i = 0; i < 2; i++) {
        variance[i] += extra->variance[i];
        larger += extra->variance[i];
        doubt += extra->variance[i] * extra->variance[i] / extra->freedom[i];
    }
    if (change->tested)
        freedom = larger * larger / doubt; /* Satterthwaite's for a sum of variances */
    change->p = change->tested
                    ? student_beyond((change->after - change->before) / sqrt(larger), freedom)
                    : 1.0;
    change->ratio = ratio_interval(change, variance, student_quantile(freedom));
}

void diff_change(struct spe_change *change, const struct moments side[2],
                 const struct diff_work work[2], uint64_t hits)
{
    static const struct extra none = {{0.0, 0.0}, {1.0, 1.0}};

    change_with(change, side, work, hits, &none);
}

/* What blocks differ by from what is expected of them, beyond what sampling explains, as the
 * variance of the sum; negative if one block has nearly all. Blocks count by their weight. */
static double beyond_sampling(const struct moments *m, double samples, const struct diff_uneven *u,
                              unsigned e, double *freedom)
{
    double weight = u->expected[e].sum, squares = u->expected[e].squares;
    double blocks = squares > 0.0 ? weight * weight / squares : 0.0;
    double slope, differ;

    if (blocks < 1.5)
        return -1.0;
    slope = m->sum[0] / weight;
    differ = u->products + slope * (slope * u->expected[e].own - 2.0 * u->expected[e].with);
    differ *= blocks / (blocks - 1.0);
    *freedom = blocks - 1.0;
    return fmax(0.0, differ - (m->sum[1] - m->sum[0] * m->sum[0] / samples));
}

/* Of what can be expected, that counts which comes closer: that threads or phases differ is the
 * program's own. */
void diff_change_uneven(struct spe_change *change, const struct moments side[2],
                        const struct diff_work work[2], const uint64_t samples[2],
                        const struct diff_uneven uneven[2])
{
    struct extra extra = {{0.0, 0.0}, {1.0, 1.0}};

    for (unsigned i = 0; i < 2; i++) {
        double least = INFINITY;

        for (unsigned e = 0; e < DIFF_EXPECTED; e++) {
            double freedom,
                beyond = beyond_sampling(&side[i], (double)samples[i], &uneven[i], e, &freedom);

            if (beyond < 0.0 || beyond >= least)
                continue;
            least = beyond;
            extra.variance[i] = beyond / (work[i].units * work[i].units);
            extra.freedom[i] = freedom;
        }
    }
    change_with(change, side, work, samples[0] + samples[1], &extra);
}

/* ---- Many of them ---------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

double diff_threshold(double *p, size_t n)
{
    double threshold = -1.0;

    qsort(p, n, sizeof(*p), ascending);
    for (size_t i = 0; i < n; i++) {
        if (p[i] <= SPE_DIFF_RATE * (double)(i + 1) / (double)n)
            threshold = p[i];
    }
    return threshold;
}
