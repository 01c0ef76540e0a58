/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Types, members and objects as CSV. Accesses without a type are rows as well, with the reason: the
 * rows of all types or members add up to all loads and stores. */
#include <inttypes.h>

#include "render/export_csv.h"
#include "render/report.h"

#define COUNT_TITLES                                                                               \
    ",samples,share,share_low,share_high,latency,loads,stores,l1_misses,llc_misses,tlb_walks,"     \
    "threads,writers\n"

static void text_cell(struct out *o, const char *text)
{
    out_char(o, ',');
    csv_text(o, text);
}

/* Nobody counts the threads of a reason. */
static void count_cells(struct out *o, const struct spe_access_counts *c,
                        const struct spe_access_counts *all, bool threads)
{
    struct spe_interval share = spe_interval_of_share(c->samples, all->samples);

    csv_number(o, c->samples);
    out_printf(o, ",%.9f,%.9f,%.9f", share_of(c->samples, all->samples), share.low, share.high);
    csv_number(o, c->latency);
    csv_number(o, c->loads);
    csv_number(o, c->stores);
    csv_number(o, c->l1_misses);
    csv_number(o, c->llc_misses);
    csv_number(o, c->tlb_walks);
    if (threads) {
        csv_number(o, c->threads);
        csv_number(o, c->writers);
    } else {
        out_string(o, ",,");
    }
    out_char(o, '\n');
}

/* `empty`: the cells that only a known type has. */
static void reason_rows(struct out *o, const struct report_types *t, const char *empty)
{
    for (unsigned i = SPE_ACCESS_KNOWN + 1; i < SPE_ACCESS_REASONS; i++) {
        if (!t->reasons[i].samples || types_is_answer(i))
            continue;
        out_string(o, empty);
        csv_text(o, spe_access_reason_name(i));
        count_cells(o, &t->reasons[i], &t->all, false);
    }
}

static void list_types(struct out *o, struct spe_profile *p, const struct report_types *t)
{
    out_string(o, "type,size,unknown" COUNT_TITLES);
    for (size_t i = 0; i < t->type_count; i++) {
        struct spe_profile_type type;

        csv_text(o, types_name(p, t->types[i].type));
        if (spe_profile_type(p, t->types[i].type, &type) == SPE_OK && type.size)
            csv_number(o, type.size);
        else
            out_char(o, ',');
        out_char(o, ',');
        count_cells(o, &t->types[i].counts, &t->all, true);
    }
    reason_rows(o, t, ",,");
}

static void list_members(struct out *o, struct spe_profile *p, const struct report_types *t)
{
    out_string(o, "member,type,offset,unknown" COUNT_TITLES);
    for (size_t i = 0; i < t->member_count; i++) {
        const struct spe_type_row *row = &t->members[i];

        csv_text(o, spe_profile_string(p, row->member));
        text_cell(o, types_name(p, row->type));
        csv_number(o, row->offset);
        out_char(o, ',');
        count_cells(o, &row->counts, &t->all, true);
    }
    reason_rows(o, t, ",,,");
}

static void list_objects(struct out *o, struct spe_profile *p, const struct report_types *t)
{
    char name[REPORT_NAME];

    out_string(o, "object,kind,dso,type,start,size,pid" COUNT_TITLES);
    for (size_t i = 0; i < t->object_count; i++) {
        const struct spe_profile_object *object = &t->objects[i].object;
        const struct spe_profile_dso *dso = spe_profile_dso(p, object->dso);
        struct spe_profile_type type;

        types_object_name(p, object, name, sizeof(name));
        csv_text(o, name);
        text_cell(o, spe_object_kind_name(object->kind));
        text_cell(o, dso ? spe_profile_string(p, dso->name) : "");
        text_cell(o, spe_profile_type(p, object->type, &type) == SPE_OK
                         ? spe_profile_string(p, type.name)
                         : "");
        out_printf(o, ",0x%" PRIx64, object->start);
        csv_number(o, object->size);
        if (t->objects[i].pid == SPE_NO_TASK)
            out_char(o, ',');
        else
            csv_number(o, t->objects[i].pid);
        count_cells(o, &t->objects[i].counts, &t->all, true);
    }
}

void types_csv(struct out *o, struct spe_profile *profile, const struct report_types *t)
{
    if (t->csv == TYPES_TYPES)
        list_types(o, profile, t);
    else if (t->csv == TYPES_MEMBERS)
        list_members(o, profile, t);
    else
        list_objects(o, profile, t);
}
