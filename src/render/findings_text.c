/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Findings as sentences. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "render/report.h"
#include "render/table.h"
#include "render/text.h"
#include "render/wrap.h"

/* ---- words ----------------------------------------------------------------------------------- */

struct sentence {
    const struct report *report;
    const struct spe_finding *finding;
    struct text text;
    unsigned room; /* columns for a name */
};

#define say(sentence, ...) text_add(&(sentence)->text, __VA_ARGS__)

/* A name that may be long: its middle goes, since both ends tell it from others. */
static void say_name(struct sentence *s, const char *name)
{
    size_t length = strlen(name), head, tail;

    if (!s->room || length <= s->room) {
        say(s, "%s", name);
        return;
    }
    head = s->room / 2;
    tail = s->room - head - 2;
    while (head && ((unsigned char)name[head] & 0xc0) == 0x80)
        head--;
    while (tail && ((unsigned char)name[length - tail] & 0xc0) == 0x80)
        tail--;
    say(s, "%.*s..%s", (int)head, name, name + length - tail);
}

/* In percent, the interval rounded away from the share, as in the tables. */
static void say_share(struct sentence *s, const char *of)
{
    const struct spe_finding *f = s->finding;
    double scale = f->interval.high - f->interval.low >= 0.02 ? 100.0 : 1000.0;
    int digits = scale > 100.0;

    say(s, "%.*f %% (%.*f-%.*f) of %s", digits, 100.0 * f->share, digits,
        100.0 * floor(f->interval.low * scale) / scale, digits,
        100.0 * ceil(f->interval.high * scale) / scale, of);
}

static void function_name(const struct sentence *s, char name[REPORT_NAME])
{
    struct spe_branch at = {.symbol = s->finding->symbol, .map = s->finding->map};

    report_place_name(s->report, &at, name);
}

static void say_place(struct sentence *s, const char *before)
{
    char name[REPORT_NAME];

    if (!s->finding->pc || (s->finding->symbol == SPE_NO_SYMBOL && s->finding->map == SPE_NO_ID))
        return;
    function_name(s, name);
    say(s, "%s", before);
    say_name(s, name);
    report_line_name(s->report, s->finding->line, name);
    if (name[0])
        say(s, " (%s)", base_name(name));
}

/* The place, and how much of it is there unless it is nearly all. */
static void say_where(struct sentence *s, const char *nearly_all)
{
    char part[32];

    snprintf(part, sizeof(part), ", %.0f %% of it in ", 100.0 * s->finding->here);
    say_place(s, s->finding->here < 0.95 ? part : nearly_all);
}

/* The object that the data is part of, or its address. */
static void say_data(struct sentence *s)
{
    const struct spe_finding *f = s->finding;
    struct spe_data data = {.thread = f->thread, .hottest = f->address};
    char name[REPORT_NAME], other[REPORT_NAME] = "";

    if (!f->address)
        return;
    report_data_name(s->report, &data, name);
    data.hottest = f->other;
    if (f->other)
        report_data_name(s->report, &data, other);
    say(s, " on line %" PRIx64, f->address & ~UINT64_C(63));
    if (name[0]) {
        say(s, ", ");
        say_name(s, name);
    }
    if (name[0] && other[0] && strcmp(name, other) != 0) {
        say(s, " and ");
        say_name(s, other);
    }
}

/* The tables' means have the wait for older operations in them; these cycles do not. */
static void say_cycles(struct sentence *s)
{
    if (s->finding->cycles > 0.0)
        say(s, ", %.0f cycles each%s", s->finding->cycles,
            s->finding->rule == SPE_FINDING_TLB_WALKS ? "" : " once issued");
}

/* ---- costs ----------------------------------------------------------------------------------- */

static void say_thread(struct sentence *s)
{
    struct spe_group group = {.id = s->finding->thread};
    char name[REPORT_NAME];

    report_task_name(s->report, SPE_BY_THREAD, &group, name);
    say_share(s, "latency: thread ");
    say_name(s, name);
    say_where(s, " in ");
    say(s, ": %.0f cycles per sample, the others %.0f", s->finding->cycles, s->finding->others);
}

static double seconds_in(const struct sentence *s, uint64_t time_ns)
{
    return (double)(time_ns - s->report->counts->first_ns) * 1e-9;
}

static void say_phase(struct sentence *s)
{
    const struct spe_finding *f = s->finding;

    say_share(s, "latency: one phase");
    say_place(s, ", ");
    say(s, " from +%.3fs to +%.3fs, %.0f cycles per sample, %.0f at other times",
        seconds_in(s, f->from_ns), seconds_in(s, f->to_ns), f->cycles, f->others);
}

static void say_sharing(struct sentence *s, const char *what)
{
    say_share(s, "latency: ");
    say(s, "%s", what);
    say_data(s);
    say_where(s, ", in ");
    say_cycles(s);
}

static void say_cause(struct sentence *s, const char *what)
{
    say_share(s, "latency: ");
    say(s, "%s", what);
    say_where(s, " in ");
    say_cycles(s);
}

static void say_event(struct sentence *s, const char *what)
{
    say_share(s, what);
    say_where(s, ", nearly all in ");
}

static void cost_sentence(struct sentence *s)
{
    static const char *const causes[SPE_FINDING_RULES] = {
        [SPE_FINDING_DRAM] = "loads from DRAM",
        [SPE_FINDING_L3] = "loads from the L3 or system cache",
        [SPE_FINDING_L2] = "loads from the L2 cache",
        [SPE_FINDING_BEYOND_L1] = "loads that missed L1",
        [SPE_FINDING_TLB_WALKS] = "translation of addresses",
        [SPE_FINDING_ATOMICS] = "atomic operations",
        [SPE_FINDING_STORES] = "stores that wait",
        [SPE_FINDING_ISSUE_WAIT] = "waiting for older operations, none of them slow,",
    };
    static const char *const sharing[SPE_FINDING_RULES] = {
        [SPE_FINDING_FALSE_SHARING] = "false sharing: threads use different bytes",
        [SPE_FINDING_TRUE_SHARING] = "sharing: threads take the same data from each other",
        [SPE_FINDING_CONTENDED_ATOMICS] = "contention: atomics of several threads",
    };
    static const char *const events[SPE_FINDING_RULES] = {
        [SPE_FINDING_MISPREDICTED] = "branches are mispredicted",
        [SPE_FINDING_MISALIGNED] = "loads and stores are misaligned",
        [SPE_FINDING_EMPTY_PREDICATES] = "SVE operations have an empty predicate and do nothing",
        [SPE_FINDING_PARTIAL_PREDICATES] = "SVE operations use part of their vectors only",
    };
    unsigned rule = s->finding->rule;

    if (rule == SPE_FINDING_ONE_THREAD)
        say_thread(s);
    else if (rule == SPE_FINDING_ONE_PHASE)
        say_phase(s);
    else if (causes[rule])
        say_cause(s, causes[rule]);
    else if (sharing[rule])
        say_sharing(s, sharing[rule]);
    else if (events[rule])
        say_event(s, events[rule]);
    else
        say(s, "Nothing stands out: no known cause has a notable share");
    if (rule == SPE_FINDING_TLB_WALKS)
        say(s, "; larger pages would help");
}

/* ---- doubts ---------------------------------------------------------------------------------- */

static void few_samples(struct sentence *s)
{
    const struct spe_interval *i = &s->finding->interval;

    if (!s->finding->samples) {
        say(s, "there are no samples; record longer or more often");
        return;
    }
    say(s,
        "only %" PRIu64 " samples, a share may be off by %.0f points; record longer or more often",
        s->finding->samples, 50.0 * (i->high - i->low));
}

static void doubt_sentence(struct sentence *s)
{
    say(s, "Doubt: ");
    switch (s->finding->rule) {
    case SPE_FINDING_FEW_SAMPLES:
        few_samples(s);
        break;
    case SPE_FINDING_NO_LATENCY:
        say_share(s, "samples have no latency: what they cost is not known");
        break;
    case SPE_FINDING_LOST:
        say_share(s, "buffers have gaps: samples were lost; a larger buffer or interval helps");
        break;
    case SPE_FINDING_COLLISIONS:
        say_share(s, "buffers have collisions: slow operations hide others; use a larger interval");
        break;
    case SPE_FINDING_DAMAGED:
        say_share(s, "the SPE bytes could not be decoded");
        break;
    case SPE_FINDING_RESONANCE:
        say_share(s, "samples repeat the one before: the interval resonates with a loop");
        say_place(s, " in ");
        say(s, "; record with jitter");
        break;
    case SPE_FINDING_NO_THREADS:
        say_share(s, "samples have no thread: neither CONTEXT packets nor switches name it");
        break;
    case SPE_FINDING_NO_SYMBOLS:
        say_share(s, "samples have no symbol: debug files or --symfs give them names");
        break;
    case SPE_FINDING_UNKNOWN_SOURCES:
        say_share(s, "loads have data sources that are not known for this CPU; try --cpu");
        break;
    default:
        say_share(s, "samples have an issue latency above their total latency: the data is wrong");
        break;
    }
}

/* ---- the next step --------------------------------------------------------------------------- */

static void next_command(struct sentence *s)
{
    const struct spe_finding *f = s->finding;
    char name[REPORT_NAME];

    switch (f->rule) {
    case SPE_FINDING_FALSE_SHARING:
    case SPE_FINDING_TRUE_SHARING:
    case SPE_FINDING_CONTENDED_ATOMICS:
        say(s, "spe c2c");
        return;
    case SPE_FINDING_ONE_THREAD:
        say(s, "spe report --by thread,function+thread");
        return;
    case SPE_FINDING_ONE_PHASE:
        say(s, "spe report --by time");
        return;
    case SPE_FINDING_DAMAGED:
        say(s, "spe check");
        return;
    case SPE_FINDING_UNKNOWN_SOURCES:
        return;
    default:
        report_symbol_name(s->report, f->symbol, name);
        if (name[0] && !spe_finding_is_doubt(f->rule))
            say(s, "spe annotate %s", name);
        return;
    }
}

void finding_sentence(const struct report *report, const struct spe_finding *finding, unsigned room,
                      char *text, size_t size)
{
    struct sentence s = {report, finding, text_in(text, size), room};

    if (spe_finding_is_doubt(finding->rule))
        doubt_sentence(&s);
    else
        cost_sentence(&s);
}

void finding_next(const struct report *report, const struct spe_finding *finding, char *text,
                  size_t size)
{
    struct sentence s = {report, finding, text_in(text, size), 0};

    next_command(&s);
}

/* ---- the section ----------------------------------------------------------------------------- */

#define LABEL 3
#define TEXT_MAX 4096

/* Two rows, or three where two data are named: names are cut so that it fits, and the next step is
 * there if there is room. */
static void full_text(const struct report *report, const struct spe_finding *finding,
                      unsigned width, char text[TEXT_MAX])
{
    unsigned names, rows = finding->other ? 3 : 2;
    char next[TEXT_MAX];
    size_t used;

    for (names = 60; names > 12; names -= 4) {
        finding_sentence(report, finding, names, text, TEXT_MAX);
        if (wrap_rows(width, LABEL, text) <= rows)
            break;
    }
    finding_next(report, finding, next, sizeof(next));
    used = strlen(text);
    if (next[0])
        snprintf(text + used, TEXT_MAX - used, "; see: %s", next);
    if (wrap_rows(width, LABEL, text) > rows)
        text[used] = '\0';
}

bool findings_text(struct out *o, const struct report *report, unsigned width, bool color)
{
    char text[TEXT_MAX], label[16];
    bool good = true;
    size_t i;

    for (i = 0; i < report->finding_count; i++) {
        const struct spe_finding *f = &report->findings[i];
        enum tone tone = spe_finding_is_doubt(f->rule) ? TONE_NOTABLE : TONE_PLAIN;

        full_text(report, f, width, text);
        snprintf(label, sizeof(label), "%zu", i + 1);
        good &= wrap_text(&(struct wrap){o, width, color, LABEL, tone}, label, text);
    }
    return good;
}
