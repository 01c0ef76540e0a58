/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * `spe report` as a page, as JSON and as CSV. The answers have been computed; here they only get
 * names and places.
 */
#ifndef RENDER_REPORT_H
#define RENDER_REPORT_H

#include <specimen/analysis.h>

#include "render/json.h"
#include "render/out.h"
#include "render/types.h"

#define REPORT_TABLES SPE_BY_COUNT

/* One list of hottest groups. */
struct report_groups {
    enum spe_group_by by;
    struct spe_group *groups;
    size_t count;    /* shown */
    size_t of;       /* there are */
    bool by_default; /* nobody asked for it: it is left out if it says nothing */
};

struct report {
    const char *file, *filter; /* filter: NULL */
    struct spe_profile *profile;
    const struct spe_profile_info *info;
    const struct spe_profile_counts *counts;
    enum spe_sort sort;
    bool wants_stacks;       /* rows have them */
    bool header_only, quiet; /* of the page: nothing below the header; no warnings in it */

    struct spe_counts totals;
    uint64_t events[64];
    struct spe_mix mix[SPE_MIX_MAX];
    size_t mix_count;
    struct spe_served_row served[SPE_SERVED_COUNT];
    size_t served_count;
    struct report_groups tables[REPORT_TABLES];
    size_t table_count;
    struct spe_branch *branches;
    size_t branch_count;
    uint64_t branch_error;
    struct spe_data *data;
    size_t data_count;
    struct spe_data_summary data_summary;
    struct spe_finding findings[SPE_FINDINGS_MAX];
    size_t finding_count;
    struct spe_times times;
    bool utf8;                   /* the page may have more than ASCII of our own */
    struct spe_call_tree *calls; /* NULL: not asked for */
    struct report_types types;
};

/* False if memory ran out. */
bool report_text(struct out *o, const struct report *report, unsigned width, bool color);
void report_json(struct out *o, const struct report *report);
void report_csv(struct out *o, const struct report *report); /* the first list of groups */

/* ---- parts of the page, without their titles ------------------------------------------------ */

/* False if memory ran out. */
bool findings_text(struct out *o, const struct report *report, unsigned width, bool color);
void times_text(struct out *o, const struct report *report);
unsigned times_bins(unsigned width); /* for which there is room */

/* One sentence without a full stop; names of more than `room` columns lose their middle, 0: none.
 */
void finding_sentence(const struct report *report, const struct spe_finding *finding, unsigned room,
                      char *text, size_t size);
/* The command to look closer with; "" if there is none. */
void finding_next(const struct report *report, const struct spe_finding *finding, char *text,
                  size_t size);
/* The call paths of the functions in the list by function. False if memory ran out. */
bool report_calls_text(struct out *o, const struct report *report);
void report_calls_json(struct json *j, const struct report *report);

/* ---- what the forms share ------------------------------------------------------------------- */

/* Callers by another event's stacks: counts are shared out, so they have no interval. */
static inline bool report_is_shared(const struct report *r, enum spe_group_by by)
{
    return by == SPE_BY_CALLER && r->info->other_event;
}

const char *report_by_name(enum spe_group_by by); /* "function" ..., as in --by */
const char *report_sort_name(enum spe_sort sort); /* "samples" ..., as in --sort */

/* The recorded command, quoted as a shell wants it; long ones are cut. */
#define REPORT_COMMAND 4096
void report_command(const struct spe_profile_info *info, char text[REPORT_COMMAND]);

/* "v1p1"; NULL if the features are not known. */
const char *report_spe_version(const struct report *report);

/* Names; "" where there is none. Long ones are cut. */
#define REPORT_NAME 1024
void report_symbol_name(const struct report *report, uint64_t symbol, char name[REPORT_NAME]);
void report_line_name(const struct report *report, uint32_t line, char name[REPORT_NAME]);
const char *report_dso_name(const struct report *report, uint32_t dso);
void report_group_name(const struct report *report, enum spe_group_by by,
                       const struct spe_group *group, char name[REPORT_NAME]);

/* Of a pair, the second name: who ran it. "" for other groupings. */
void report_task_name(const struct report *report, enum spe_group_by by,
                      const struct spe_group *group, char name[REPORT_NAME]);

/* A function in the call tree. */
void report_node_name(const struct report *report, const struct spe_call_node *node,
                      char name[REPORT_NAME]);

/* The function of a branch. */
void report_place_name(const struct report *report, const struct spe_branch *branch,
                       char name[REPORT_NAME]);

/* Object or map at a data address; "" if nothing is known. */
void report_data_name(const struct report *report, const struct spe_data *data,
                      char name[REPORT_NAME]);

static inline double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

#endif
