/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Numbers and sentences about differences: the same in a terminal and in a browser. */
#include <math.h>
#include <stdio.h>

#include "render/diff.h"
#include "render/table.h"

/* Of counts of operations these are shares. */
bool diff_in_percent(const struct diff *d, unsigned q)
{
    return d->per == SPE_PER_OPERATION && q != SPE_DIFF_LATENCY;
}

void diff_value_text(char text[DIFF_NUMBER], double value)
{
    if (value >= 1000.0 && value < 1e18)
        text_grouped(text, (uint64_t)(value + 0.5));
    else if (fabs(value - rint(value)) < 1e-9)
        snprintf(text, DIFF_NUMBER, "%.0f", value);
    else if (value > 0.0 && value < 0.01)
        snprintf(text, DIFF_NUMBER, "<0.01");
    else
        snprintf(text, DIFF_NUMBER, value >= 10.0 ? "%.1f" : "%.2f", value);
}

/* "-52.1", "new", "x 12"; a star if it is significant. Nothing here is cheap to misread: a change
 * that chance explains has no star. */
void diff_change_text(const struct spe_change *c, char text[DIFF_NUMBER])
{
    const char *star = c->significant ? "*" : "";
    double percent = c->before > 0.0 ? 100.0 * (c->after / c->before - 1.0) : 0.0;

    if (c->before <= 0.0 && c->after <= 0.0)
        snprintf(text, DIFF_NUMBER, "-");
    else if (c->before <= 0.0)
        snprintf(text, DIFF_NUMBER, "new%s", star);
    else if (c->after <= 0.0)
        snprintf(text, DIFF_NUMBER, "gone%s", star);
    else if (percent >= 999.5)
        snprintf(text, DIFF_NUMBER, "x %.0f%s", c->after / c->before, star);
    else if (fabs(percent) > 0.0 && fabs(percent) < 0.05)
        snprintf(text, DIFF_NUMBER, "%s%s", percent > 0.0 ? "<+0.1" : ">-0.1", star);
    else
        snprintf(text, DIFF_NUMBER, fabs(percent) > 0.0 ? "%+.1f%s" : "%.0f%s", percent, star);
}

/* Rounded away from each other, as all intervals are. */
void diff_interval_text(const struct spe_change *c, char text[DIFF_NUMBER])
{
    double low = 100.0 * (c->ratio.low - 1.0), high = 100.0 * (c->ratio.high - 1.0);
    double scale = high - low < 10.0 ? 10.0 : 1.0;
    int digits = scale > 1.0;

    low = floor(low * scale) / scale;
    high = ceil(high * scale) / scale;
    if (!c->tested || c->before <= 0.0)
        snprintf(text, DIFF_NUMBER, "-");
    else if (!isfinite(high))
        snprintf(text, DIFF_NUMBER, "from %+.*f", digits, low);
    else
        snprintf(text, DIFF_NUMBER, "%+.*f to %+.*f", digits, low, digits, high);
}

const char *diff_quantity_words(unsigned q)
{
    static const char *const words[SPE_DIFF_QUANTITIES] = {
        [SPE_DIFF_OPERATIONS] = "operations",
        [SPE_DIFF_LATENCY] = "latency",
        [SPE_DIFF_LOADS] = "loads",
        [SPE_DIFF_STORES] = "stores",
        [SPE_DIFF_BRANCHES] = "branches",
        [SPE_DIFF_NOT_TAKEN] = "not taken",
        [SPE_DIFF_MISPREDICTED] = "mispredicted",
        [SPE_DIFF_L1_MISSES] = "L1 misses",
        [SPE_DIFF_LLC_MISSES] = "LLC misses",
        [SPE_DIFF_WALKS] = "TLB walks",
        [SPE_DIFF_MISALIGNED] = "misaligned",
        [SPE_DIFF_PARTIAL_PREDICATES] = "partial predicates",
    };

    return words[q];
}

/* Most CPUs have no event for the last two: they are left out where nothing was seen. */
bool diff_is_shown(const struct diff *d, unsigned q)
{
    const struct spe_change *c = &d->result->total->changes[q];

    return d->result->known >> q & 1 && !(q == SPE_DIFF_OPERATIONS && diff_in_percent(d, q)) &&
           (q < SPE_DIFF_MISALIGNED || c->before > 0.0 || c->after > 0.0);
}

void diff_per_words(const struct diff *d, char *text, size_t size)
{
    switch (d->per) {
    case SPE_PER_RUN:
        snprintf(text, size, "of a run");
        break;
    case SPE_PER_TIME:
        snprintf(text, size, "per second");
        break;
    case SPE_PER_FUNCTION:
        snprintf(text, size, "per operation of %s", d->function);
        break;
    default:
        snprintf(text, size, "per operation");
        break;
    }
}

void diff_row_name(const struct diff *d, const struct spe_diff_row *row, char *text, size_t size)
{
    const char *dso = *row->dso ? row->dso : "[no map]";

    if (d->by == SPE_BY_DSO)
        snprintf(text, size, "%s", dso);
    else if (*row->line)
        snprintf(text, size, "%s (%s)", row->line, row->function);
    else if (*row->function)
        snprintf(text, size, "%s%s", row->function,
                 d->by == SPE_BY_FUNCTION_LINE ? " [no line]" : "");
    else
        snprintf(text, size, "[no symbol] %s", dso);
}

/* The quantity that the answer is about. */
unsigned diff_main_quantity(const struct diff *d)
{
    return d->result->known >> SPE_DIFF_LATENCY & 1 ? SPE_DIFF_LATENCY : SPE_DIFF_OPERATIONS;
}

void diff_total_sentence(const struct diff *d, char *text, size_t size)
{
    unsigned q = diff_main_quantity(d);
    const struct spe_change *c = &d->result->total->changes[q];
    char per[DIFF_TEXT / 4], before[DIFF_NUMBER], after[DIFF_NUMBER], change[DIFF_NUMBER],
        range[DIFF_NUMBER];

    diff_per_words(d, per, sizeof(per));
    diff_value_text(before, c->before);
    diff_value_text(after, c->after);
    diff_change_text(c, change);
    change[strcspn(change, "*")] = '\0';
    diff_interval_text(c, range);
    if (!c->significant && d->result->exact)
        snprintf(text, size, "%s %s: the same; other counts changed", diff_quantity_words(q), per);
    else if (!c->significant)
        snprintf(text, size, "no significant change of %s %s as a whole", diff_quantity_words(q),
                 per);
    else if (d->result->exact)
        snprintf(text, size, "%s %s: %s, was %s: %s %%", diff_quantity_words(q), per, after, before,
                 change);
    else
        snprintf(text, size, "%s %s: %s, was %s: %s %% (%s)", diff_quantity_words(q), per, after,
                 before, change, range);
}

void diff_most_sentence(const struct diff *d, char *text, size_t size)
{
    const struct spe_diff_row *row = d->result->rows;
    unsigned q = diff_main_quantity(d);
    const struct spe_change *c = d->result->row_significant ? &row->changes[q] : NULL;
    char name[DIFF_TEXT / 4], before[DIFF_NUMBER], after[DIFF_NUMBER];

    text[0] = '\0';
    if (!c || !c->significant)
        return;
    diff_row_name(d, row, name, sizeof(name));
    diff_value_text(before, diff_in_percent(d, q) ? 100.0 * c->before : c->before);
    diff_value_text(after, diff_in_percent(d, q) ? 100.0 * c->after : c->after);
    snprintf(text, size, "%s in %s: %s, was %s",
             d->result->total->changes[q].significant ? "most of it" : "the most", name, after,
             before);
}

/* Other quantities of a row that changed: "L1 misses -98.0, mispredicted new". */
void diff_also_text(const struct diff *d, const struct spe_diff_row *row, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (unsigned q = SPE_DIFF_QUANTITIES - 1; q > SPE_DIFF_LATENCY; q--) {
        const struct spe_change *c = &row->changes[q];
        char change[DIFF_NUMBER];
        int n;

        if (!(d->result->known >> q & 1) || !c->significant)
            continue;
        diff_change_text(c, change);
        change[strcspn(change, "*")] = '\0';
        n = snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", diff_quantity_words(q),
                     change);
        used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
    }
}
