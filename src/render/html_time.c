/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The time line: bins of threads or CPUs, and what rows of tables have in each bin, as JSON that
 * the script of the page draws and adds up over the range that is chosen. */
#include "base/count_of.h"
#include "render/html.h"
#include "render/json.h"

static void total_loads(const struct html_page *page, uint64_t loads[SPE_SERVED_COUNT])
{
    const struct spe_times *t = &page->report->times;

    memset(loads, 0, SPE_SERVED_COUNT * sizeof(*loads));
    for (size_t i = 0; i < t->count; i++) {
        for (unsigned served = 0; served < SPE_SERVED_COUNT; served++)
            loads[served] += t->bins[i].loads[served];
    }
}

/* One array for each quantity; of places where loads were served, those that have any. */
static void bins_json(struct json *j, const struct html_page *page, const struct spe_time_bin *bins)
{
    size_t count = page->report->times.count, i;
    uint64_t loads[SPE_SERVED_COUNT];

    total_loads(page, loads);
    json_array(j, "samples");
    for (i = 0; i < count; i++)
        json_number(j, NULL, bins[i].samples);
    json_array_end(j);
    json_array(j, "latency");
    for (i = 0; i < count; i++)
        json_number(j, NULL, bins[i].latency);
    json_array_end(j);
    json_array(j, "loads");
    for (unsigned served = 0; served < SPE_SERVED_COUNT; served++) {
        if (!loads[served])
            continue;
        json_array(j, NULL);
        for (i = 0; i < count; i++)
            json_number(j, NULL, bins[i].loads[served]);
        json_array_end(j);
    }
    json_array_end(j);
}

/* Cut as in the tables, at the end of a code point. */
static void name_json(struct json *j, char name[REPORT_NAME])
{
    size_t length = strlen(name);

    if (length > HTML_NAME) {
        length = HTML_NAME;
        while (length && (name[length] & 0xc0) == 0x80)
            length--;
        name[length] = '\0';
    }
    json_string(j, "name", name);
}

static void lanes_json(struct json *j, const struct html_page *page)
{
    const struct report_groups *g = page->lane_ids;
    char name[REPORT_NAME];

    json_string(j, "by", report_by_name(g->by));
    json_array(j, "lanes");
    for (size_t i = 0; i < page->lane_count + (g->of > page->lane_count); i++) {
        json_object(j, NULL);
        if (i < page->lane_count)
            report_group_name(page->report, g->by, &g->groups[i], name);
        else
            memcpy(name, "all others", sizeof("all others"));
        name_json(j, name);
        bins_json(j, page, spe_lanes_bins(page->lanes, i));
        json_object_end(j);
    }
    json_array_end(j);
}

/* Row after row: of each bin all fields. 0 is followed by how many of them there are. */
static void cells_json(struct json *j, const struct spe_slice_table *t, size_t bins, size_t row)
{
    uint64_t zeros = 0;

    json_array(j, NULL);
    for (size_t i = 0; i < bins * t->fields; i++) {
        uint64_t value = t->cells[(i / t->fields * t->rows + row) * t->fields + i % t->fields];

        zeros += !value;
        if (zeros && (value || i + 1 == bins * t->fields)) {
            json_number(j, NULL, 0);
            json_number(j, NULL, zeros);
            zeros = 0;
        }
        if (value)
            json_number(j, NULL, value);
    }
    json_array_end(j);
}

static void table_json(struct json *j, const char *id, const struct spe_slice_table *t, size_t bins)
{
    json_object(j, id);
    json_array(j, "names");
    for (size_t i = 0; i < t->named; i++)
        json_string(j, NULL, t->names[i]);
    json_array_end(j);
    json_number(j, "fields", t->fields);
    json_array(j, "rows");
    for (size_t i = 0; i < t->rows; i++)
        cells_json(j, t, bins, i);
    json_array_end(j);
    json_object_end(j);
}

/* By the ids of the tables of the page. */
static void slices_json(struct json *j, const struct html_page *page)
{
    static const struct {
        enum spe_slice_kind kind;
        const char *id;
    } kinds[] = {
        {SPE_SLICE_TOTAL, "all"}, {SPE_SLICE_SERVED, "served"}, {SPE_SLICE_MIX, "mix"},
        {SPE_SLICE_DATA, "data"}, {SPE_SLICE_LINES, "shared"},  {SPE_SLICE_BRANCHES, "branch"},
    };
    size_t bins = page->report->times.count;
    struct spe_slice_table t;

    json_object(j, "slices");
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (spe_slices_table(page->slices, kinds[i].kind, SPE_BY_COUNT, &t))
            table_json(j, kinds[i].id, &t, bins);
    }
    for (size_t i = 0; i < page->report->table_count; i++) {
        enum spe_group_by by = page->report->tables[i].by;

        if (spe_slices_table(page->slices, SPE_SLICE_GROUPS, by, &t))
            table_json(j, report_by_name(by), &t, bins);
    }
    if (page->types) {
        table_json(j, "type", &page->type_slices, bins);
        table_json(j, "member", &page->member_slices, bins);
        table_json(j, "object", &page->object_slices, bins);
    }
    json_object_end(j);
}

void html_data(struct out *o, const struct html_page *page)
{
    const struct spe_times *t = &page->report->times;
    uint64_t loads[SPE_SERVED_COUNT];
    struct json j;

    json_begin(&j, o);
    j.in_html = true;
    json_object(&j, NULL);
    if (page->lanes) {
        total_loads(page, loads);
        json_number(&j, "from_ns", t->from_ns);
        json_number(&j, "bin_ns", t->bin_ns);
        json_array(&j, "levels");
        for (unsigned served = 0; served < SPE_SERVED_COUNT; served++) {
            if (loads[served])
                json_string(&j, NULL, spe_served_name(served));
        }
        json_array_end(&j);
        json_object(&j, "all");
        bins_json(&j, page, t->bins);
        json_object_end(&j);
        lanes_json(&j, page);
        slices_json(&j, page);
        json_array(&j, "latency_bins");
        for (unsigned bin = 0; bin <= SPE_LATENCY_BINS; bin++)
            json_number(&j, NULL, spe_latency_bin_from(bin));
        json_array_end(&j);
    }
    json_object_end(&j);
}

void html_time(struct out *o, const struct html_page *page)
{
    out_string(o, "<section id=\"time\"><h2>Time line</h2>\n");
    if (page->lanes)
        out_string(o, "<noscript><p>The time line is drawn by JavaScript, which is off; 'spe "
                      "report --by time' shows it in a terminal.</p></noscript>\n"
                      "<div id=\"timeline\"></div>\n");
    else
        out_string(o, "<p>There is none: the samples have no time.</p>\n");
    out_string(o, "</section>\n");
}
