/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Types, members and objects for programs. */
#include <stdio.h>

#include "render/types.h"

static const char *type_name(struct spe_profile *profile, uint32_t id)
{
    struct spe_profile_type type;

    return spe_profile_type(profile, id, &type) == SPE_OK ? spe_profile_string(profile, type.name)
                                                          : NULL;
}

static void counts_json(struct json *j, const struct spe_access_counts *c)
{
    json_number(j, "samples", c->samples);
    json_number(j, "loads", c->loads);
    json_number(j, "stores", c->stores);
    json_number(j, "latency", c->latency);
    json_number(j, "l1_misses", c->l1_misses);
    json_number(j, "llc_misses", c->llc_misses);
    json_number(j, "tlb_walks", c->tlb_walks);
    json_number(j, "threads", c->threads);
    json_number(j, "writers", c->writers);
}

static void row_json(struct json *j, struct spe_profile *p, const struct spe_type_row *row)
{
    json_object(j, NULL);
    json_string(j, "type", type_name(p, row->type));
    if (row->member != SPE_NO_ID) {
        json_string(j, "member", spe_profile_string(p, row->member));
        json_number(j, "offset", row->offset);
    }
    counts_json(j, &row->counts);
    json_object_end(j);
}

static void rows_json(struct json *j, struct spe_profile *p, const char *key,
                      const struct spe_type_row *rows, size_t count)
{
    json_array(j, key);
    for (size_t i = 0; i < count; i++)
        row_json(j, p, &rows[i]);
    json_array_end(j);
}

static void objects_json(struct json *j, struct spe_profile *p, const struct report_types *t)
{
    char name[1024];

    json_array(j, "objects");
    for (size_t i = 0; i < t->object_count; i++) {
        struct spe_profile_object o = t->objects[i].object;
        const struct spe_profile_dso *dso = spe_profile_dso(p, o.dso);

        if (o.kind == SPE_OBJECT_VARIABLE)
            snprintf(name, sizeof(name), "%s", spe_profile_string(p, o.name));
        else
            spe_profile_object_text(p, &o, 0, name, sizeof(name));
        json_object(j, NULL);
        json_string(j, "name", name);
        json_string(j, "kind", spe_object_kind_name(o.kind));
        json_string(j, "dso", dso ? spe_profile_string(p, dso->name) : NULL);
        json_string(j, "type", type_name(p, o.type));
        json_hex(j, "start", o.start);
        json_number(j, "size", o.size);
        if (t->objects[i].pid == SPE_NO_TASK)
            json_null(j, "pid");
        else
            json_number(j, "pid", t->objects[i].pid);
        counts_json(j, &t->objects[i].counts);
        json_object_end(j);
    }
    json_array_end(j);
}

static void members_json(struct json *j, struct spe_profile *p, uint32_t type)
{
    struct spe_profile_member m;

    json_array(j, "layout");
    for (size_t i = 0; spe_profile_member(p, type, i, &m) == SPE_OK; i++) {
        json_object(j, NULL);
        json_string(j, "name", spe_profile_string(p, m.name));
        json_string(j, "type", type_name(p, m.type));
        json_number(j, "offset", m.offset);
        json_number(j, "size", m.size);
        if (m.bits) {
            json_number(j, "bit", m.bit);
            json_number(j, "bits", m.bits);
        }
        json_bool(j, "base", m.inherited);
        json_object_end(j);
    }
    json_array_end(j);
}

static void pair_json(struct json *j, struct spe_profile *p, const char *key, bool found,
                      const struct spe_type_row rows[2])
{
    json_array(j, key);
    for (int i = 0; found && i < 2; i++)
        json_string(j, NULL, spe_profile_string(p, rows[i].member));
    json_array_end(j);
}

static void layouts_json(struct json *j, struct spe_profile *p, const struct report_types *t)
{
    json_array(j, "layouts");
    for (size_t i = 0; i < t->layout_count; i++) {
        const struct report_layout *l = &t->layouts[i];
        struct spe_profile_type type;

        spe_profile_type(p, l->type.type, &type);
        json_object(j, NULL);
        json_string(j, "type", spe_profile_string(p, type.name));
        json_number(j, "size", type.size);
        counts_json(j, &l->type.counts);
        members_json(j, p, l->type.type);
        rows_json(j, p, "members", l->members, l->member_count);
        pair_json(j, p, "hot_apart", l->apart, l->apart_members);
        pair_json(j, p, "contended", l->contended, l->contended_members);
        json_object_end(j);
    }
    json_array_end(j);
}

void types_json(struct json *j, struct spe_profile *profile, const struct report_types *t)
{
    if (!types_wanted(t))
        return;
    json_object(j, "accesses");
    counts_json(j, &t->all);
    json_number(j, "with_type", t->reasons[SPE_ACCESS_KNOWN].samples);
    json_number(j, "stack_operations", t->reasons[SPE_ACCESS_SAVED].samples);
    json_object(j, "unknown");
    for (unsigned i = SPE_ACCESS_KNOWN + 1; i < SPE_ACCESS_REASONS; i++) {
        if (t->reasons[i].samples && !types_is_answer(i))
            json_number(j, spe_access_reason_name(i), t->reasons[i].samples);
    }
    json_object_end(j);
    json_object_end(j);
    if (t->by_object)
        objects_json(j, profile, t);
    if (t->by_type)
        rows_json(j, profile, "types", t->types, t->type_count);
    if (t->by_member)
        rows_json(j, profile, "members", t->members, t->member_count);
    if (t->layout_count)
        layouts_json(j, profile, t);
}
