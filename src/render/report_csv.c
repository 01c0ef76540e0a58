/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The hottest groups as CSV: counts, and the interval of the share. */
#include "render/export_csv.h"
#include "render/report.h"

/* Who ran it, once more in columns of their own. */
static void task_titles(struct out *o, enum spe_group_by task)
{
    if (task == SPE_BY_THREAD)
        out_string(o, ",comm,pid,tid");
    if (task == SPE_BY_PROCESS)
        out_string(o, ",pid");
}

static void task_number(struct out *o, uint32_t task)
{
    out_char(o, ',');
    if (task != SPE_NO_TASK)
        out_decimal(o, task);
}

static void task_cells(struct out *o, const struct report *r, enum spe_group_by task, uint32_t id)
{
    const struct spe_profile_thread *t =
        task == SPE_BY_THREAD && id != SPE_NO_ID ? spe_profile_thread(r->profile, id) : NULL;

    if (task == SPE_BY_PROCESS)
        task_number(o, id);
    if (task != SPE_BY_THREAD)
        return;
    out_char(o, ',');
    csv_text(o, t ? spe_profile_string(r->profile, t->comm) : "");
    task_number(o, t ? t->pid : SPE_NO_TASK);
    task_number(o, t ? t->tid : SPE_NO_TASK);
}

void report_csv(struct out *o, const struct report *r)
{
    const struct report_groups *g = &r->tables[0];
    char name[REPORT_NAME];
    enum spe_group_by task = spe_group_by_task(g->by);
    bool pair = spe_group_by_code(g->by) != SPE_BY_COUNT && task != SPE_BY_COUNT;
    size_t i;

    csv_text(o, report_by_name(pair ? spe_group_by_code(g->by) : g->by));
    if (pair) {
        out_char(o, ',');
        csv_text(o, report_by_name(task));
    }
    out_string(o, ",line,dso,samples,share,share_low,share_high,latency,memory,branches,"
                  "l1_misses,llc_misses,tlb_walks,mispredicted");
    task_titles(o, task);
    out_char(o, '\n');
    for (i = 0; i < g->count; i++) {
        const struct spe_group *group = &g->groups[i];
        const struct spe_counts *c = &group->counts;
        struct spe_interval share = spe_interval_of_share(c->samples, r->totals.samples);

        report_group_name(r, g->by, group, name);
        csv_text(o, name);
        out_char(o, ',');
        if (pair) {
            report_task_name(r, g->by, group, name);
            csv_text(o, name);
            out_char(o, ',');
        }
        report_line_name(r, group->line, name);
        csv_text(o, name);
        out_char(o, ',');
        csv_text(o, report_dso_name(r, group->dso));
        csv_number(o, c->samples);
        out_printf(o, ",%.9f", share_of(c->samples, r->totals.samples));
        if (report_is_shared(r, g->by))
            out_string(o, ",,");
        else
            out_printf(o, ",%.9f,%.9f", share.low, share.high);
        csv_number(o, c->latency);
        csv_number(o, c->memory);
        csv_number(o, c->branches);
        csv_number(o, c->l1_misses);
        csv_number(o, c->llc_misses);
        csv_number(o, c->tlb_walks);
        csv_number(o, c->mispredicted);
        task_cells(o, r, task, group->id);
        out_char(o, '\n');
    }
}
