/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The report as one JSON object: counts, and what follows from them where it is not a division. */
#include "render/json.h"
#include "render/report.h"

static void recording_json(struct json *j, const struct report *r)
{
    const struct spe_profile_info *info = r->info;
    size_t i;

    json_object(j, "recording");
    json_string(j, "file", r->file);
    json_number(j, "bytes", info->bytes);
    json_number(j, "spe_bytes", info->aux_bytes);
    json_bool(j, "raw", info->raw);
    json_bool(j, "truncated", info->truncated);
    json_bool(j, "unterminated", info->unterminated);
    json_bool(j, "incomplete", info->incomplete);
    json_string(j, "damage", info->damage);
    json_string(j, "hostname", info->hostname);
    json_string(j, "osrelease", info->osrelease);
    json_string(j, "arch", info->arch);
    json_number(j, "cpus_online", info->cpus_online);
    json_string(j, "cpu", info->cpu ? info->cpu->name : NULL);
    json_string(j, "spe_version", report_spe_version(r));
    json_bool(j, "simulated", info->simulated);
    json_array(j, "command");
    for (i = 0; i < info->command_count; i++)
        json_string(j, NULL, info->command[i]);
    json_array_end(j);
    json_number(j, "period", info->period);
    if (info->timed && r->counts->last_ns) {
        json_number(j, "first_ns", r->counts->first_ns);
        json_number(j, "last_ns", r->counts->last_ns);
    } else {
        json_null(j, "first_ns");
        json_null(j, "last_ns");
    }
    json_array(j, "warnings");
    for (i = 0; spe_profile_warning(r->profile, i); i++)
        json_string(j, NULL, spe_profile_warning(r->profile, i));
    json_array_end(j);
    json_object_end(j);
}

static void account_json(struct json *j, const struct report *r)
{
    const struct spe_profile_counts *c = r->counts;

    json_object(j, "account");
    json_number(j, "samples", c->rows);
    json_number(j, "cut", c->cut);
    json_number(j, "filtered", c->filtered);
    json_number(j, "lost", c->lost);
    json_number(j, "aux_truncated", c->aux_truncated);
    json_number(j, "aux_collision", c->aux_collision);
    json_number(j, "aux_partial", c->aux_partial);
    json_number(j, "spe_bytes", c->account.bytes);
    json_number(j, "record_bytes", c->account.record_bytes);
    json_number(j, "padding_bytes", c->account.padding_bytes);
    json_number(j, "skipped_bytes", c->account.skipped_bytes);
    json_number(j, "unknown_packets", c->account.unknown);
    json_number(j, "file_skipped_bytes", c->file.skipped_bytes);
    json_number(j, "without_thread", c->by_nothing);
    json_number(j, "without_map", c->no_map);
    json_number(j, "stacks_in_file", r->info->stacks);
    json_string(j, "other_stacks_event", r->info->other_event);
    json_object_end(j);
}

static void counts_json(struct json *j, const struct spe_counts *c)
{
    json_number(j, "samples", c->samples);
    json_number(j, "latency", c->latency);
    json_number(j, "memory", c->memory);
    json_number(j, "branches", c->branches);
    json_number(j, "l1_misses", c->l1_misses);
    json_number(j, "llc_misses", c->llc_misses);
    json_number(j, "tlb_walks", c->tlb_walks);
    json_number(j, "mispredicted", c->mispredicted);
}

static void mix_json(struct json *j, const struct report *r)
{
    size_t i;

    json_array(j, "operations");
    for (i = 0; i < r->mix_count; i++) {
        const struct spe_mix *m = &r->mix[i];

        json_object(j, NULL);
        json_string(j, m->is_class ? "class" : "kind", m->name);
        json_number(j, "samples", m->samples);
        json_interval(j, "share_95", m->samples, r->totals.samples);
        json_number(j, "latency_samples", m->latency_samples);
        json_number(j, "latency", m->latency);
        json_object_end(j);
    }
    json_array_end(j);
}

static void events_json(struct json *j, const struct report *r)
{
    unsigned i;

    json_array(j, "events");
    for (i = 0; i < 64; i++) {
        if (!r->events[i])
            continue;
        json_object(j, NULL);
        json_number(j, "event", i);
        json_string(j, "name", spe_event_name(i));
        json_number(j, "samples", r->events[i]);
        json_object_end(j);
    }
    json_array_end(j);
}

static void served_json(struct json *j, const struct report *r)
{
    size_t i;

    json_array(j, "loads");
    for (i = 0; i < r->served_count; i++) {
        const struct spe_served_row *row = &r->served[i];
        const struct spe_latency_summary *l = &row->latency;

        json_object(j, NULL);
        json_string(j, "served", spe_served_name(row->served));
        json_string(j, "by",
                    row->by_source                      ? "data source"
                    : row->served == SPE_SERVED_UNKNOWN ? NULL
                                                        : "events");
        json_number(j, "loads", row->loads);
        json_object(j, "latency");
        json_number(j, "samples", l->samples);
        json_number(j, "sum", l->sum);
        json_real(j, "mean", l->mean);
        json_number(j, "median", l->median);
        json_number(j, "p95", l->p95);
        json_number(j, "p99", l->p99);
        json_number(j, "max", l->max);
        if (l->saturated_at)
            json_number(j, "saturated", l->saturated);
        else
            json_null(j, "saturated");
        json_object_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

static void group_json(struct json *j, const struct report *r, const struct report_groups *g,
                       const struct spe_group *group)
{
    char name[REPORT_NAME];

    json_object(j, NULL);
    report_group_name(r, g->by, group, name);
    json_string(j, "name", name);
    if (spe_group_by_code(g->by) != SPE_BY_COUNT) {
        const char *dso = report_dso_name(r, group->dso);

        report_line_name(r, group->line, name);
        json_string(j, "line", name[0] ? name : NULL);
        json_string(j, "dso", *dso ? dso : NULL);
        report_task_name(r, g->by, group, name);
        if (name[0])
            json_string(j, report_by_name(spe_group_by_task(g->by)), name);
    }
    counts_json(j, &group->counts);
    if (!report_is_shared(r, g->by))
        json_interval(j, "share_95", group->counts.samples, r->totals.samples);
    json_object_end(j);
}

static void groups_json(struct json *j, const struct report *r)
{
    size_t i, k;

    json_array(j, "groups");
    for (i = 0; i < r->table_count; i++) {
        const struct report_groups *g = &r->tables[i];

        json_object(j, NULL);
        json_string(j, "by", report_by_name(g->by));
        json_string(j, "sort", report_sort_name(r->sort));
        json_number(j, "count", g->of);
        json_array(j, "top");
        for (k = 0; k < g->count; k++)
            group_json(j, r, g, &g->groups[k]);
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

static void branches_json(struct json *j, const struct report *r)
{
    char name[REPORT_NAME];
    size_t i;

    json_object(j, "branches");
    json_number(j, "error", r->branch_error);
    json_array(j, "top");
    for (i = 0; i < r->branch_count; i++) {
        const struct spe_branch *b = &r->branches[i];

        json_object(j, NULL);
        json_hex(j, "pc", b->pc);
        report_symbol_name(r, b->symbol, name);
        json_string(j, "function", name[0] ? name : NULL);
        json_number(j, "samples", b->samples);
        json_number(j, "mispredicted", b->mispredicted);
        json_interval(j, "share_95", b->mispredicted, b->samples);
        json_number(j, "not_taken", b->not_taken);
        json_number(j, "latency", b->latency);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void data_json(struct json *j, const struct report *r)
{
    char name[REPORT_NAME];
    size_t i;

    json_object(j, "data");
    json_number(j, "bytes", UINT64_C(1) << r->data_summary.shift);
    json_number(j, "latency", r->data_summary.latency);
    json_number(j, "missing", r->data_summary.missing);
    json_array(j, "top");
    for (i = 0; i < r->data_count; i++) {
        const struct spe_data *d = &r->data[i];

        json_object(j, NULL);
        json_hex(j, "address", d->address);
        json_hex(j, "hottest", d->hottest);
        if (d->pid == SPE_NO_TASK)
            json_null(j, "pid");
        else
            json_number(j, "pid", d->pid);
        report_data_name(r, d, name);
        json_string(j, "name", name[0] ? name : NULL);
        json_number(j, "latency", d->latency);
        json_number(j, "error", d->error);
        json_number(j, "samples", d->samples);
        json_number(j, "loads", d->loads);
        json_number(j, "stores", d->stores);
        json_number(j, "l1_misses", d->l1_misses);
        json_number(j, "shared", d->shared);
        json_bool(j, "several_threads", d->several_threads);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void place_json(struct json *j, const struct report *r, const struct spe_finding *f)
{
    const struct spe_profile_map *map =
        f->map != SPE_NO_ID ? spe_profile_map(r->profile, f->map) : NULL;
    const char *dso = map ? report_dso_name(r, map->dso) : "";
    struct spe_data data = {.thread = f->thread, .hottest = f->address};
    char name[REPORT_NAME];

    if (!f->pc) {
        json_null(j, "place");
        return;
    }
    json_object(j, "place");
    json_hex(j, "pc", f->pc);
    report_symbol_name(r, f->symbol, name);
    json_string(j, "function", name[0] ? name : NULL);
    report_line_name(r, f->line, name);
    json_string(j, "line", name[0] ? name : NULL);
    json_string(j, "dso", *dso ? dso : NULL);
    if (f->address) {
        json_hex(j, "address", f->address);
        report_data_name(r, &data, name);
        json_string(j, "data", name[0] ? name : NULL);
    }
    if (f->other) {
        data.hottest = f->other;
        json_hex(j, "other_address", f->other);
        report_data_name(r, &data, name);
        json_string(j, "other_data", name[0] ? name : NULL);
    }
    json_object_end(j);
}

static void finding_json(struct json *j, const struct report *r, const struct spe_finding *f)
{
    static const char *const bases[] = {
        [SPE_OF_LATENCY] = "latency",   [SPE_OF_SAMPLES] = "samples",
        [SPE_OF_BRANCHES] = "branches", [SPE_OF_ACCESSES] = "loads and stores",
        [SPE_OF_LOADS] = "loads",       [SPE_OF_SVE] = "SVE operations",
        [SPE_OF_BUFFERS] = "buffers",   [SPE_OF_BYTES] = "bytes",
    };
    char text[4 * REPORT_NAME];

    json_object(j, NULL);
    json_string(j, "name", spe_finding_name(f->rule));
    json_bool(j, "doubt", spe_finding_is_doubt(f->rule));
    finding_sentence(r, f, 0, text, sizeof(text));
    json_string(j, "sentence", text);
    json_real(j, "share", f->share);
    json_object(j, "interval");
    json_real(j, "low", f->interval.low);
    json_real(j, "high", f->interval.high);
    json_object_end(j);
    json_string(j, "basis", bases[f->basis]);
    json_number(j, "samples", f->samples);
    place_json(j, r, f);
    finding_next(r, f, text, sizeof(text));
    json_string(j, "next", text[0] ? text : NULL);
    json_object_end(j);
}

static void findings_json(struct json *j, const struct report *r)
{
    size_t i;

    json_array(j, "findings");
    for (i = 0; i < r->finding_count; i++)
        finding_json(j, r, &r->findings[i]);
    json_array_end(j);
}

static void times_json(struct json *j, const struct report *r)
{
    const struct spe_times *t = &r->times;
    unsigned served;
    size_t i;

    json_object(j, "time");
    json_number(j, "first_ns", t->from_ns);
    json_number(j, "bin_ns", t->bin_ns);
    json_array(j, "bins");
    for (i = 0; i < t->count; i++) {
        json_object(j, NULL);
        json_number(j, "samples", t->bins[i].samples);
        json_number(j, "latency", t->bins[i].latency);
        json_object(j, "loads");
        for (served = 0; served < SPE_SERVED_COUNT; served++) {
            if (t->bins[i].loads[served])
                json_number(j, spe_served_name(served), t->bins[i].loads[served]);
        }
        json_object_end(j);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

void report_json(struct out *o, const struct report *r)
{
    struct json j;

    json_begin(&j, o);
    json_object(&j, NULL);
    findings_json(&j, r);
    recording_json(&j, r);
    account_json(&j, r);
    json_string(&j, "filter", r->filter);
    json_object(&j, "totals");
    counts_json(&j, &r->totals);
    json_object_end(&j);
    mix_json(&j, r);
    events_json(&j, r);
    served_json(&j, r);
    groups_json(&j, r);
    branches_json(&j, r);
    data_json(&j, r);
    if (r->times.count)
        times_json(&j, r);
    if (r->calls)
        report_calls_json(&j, r);
    types_json(&j, r->profile, &r->types);
    json_object_end(&j);
    json_end_line(&j);
}
