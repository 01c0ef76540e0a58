/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/report_types.h"

#include <stdlib.h>
#include <string.h>

#define LAYOUTS 3 /* that --by member shows */

enum types_list types_by(struct report_types *t, const char *word, size_t length)
{
    static const struct {
        const char *name;
        enum types_list list;
    } words[] = {{"object", TYPES_OBJECTS}, {"type", TYPES_TYPES}, {"member", TYPES_MEMBERS}};
    bool *flags[] = {&t->by_object, &t->by_type, &t->by_member};

    for (size_t i = 0; i < 3; i++) {
        if (strlen(words[i].name) == length && !strncmp(words[i].name, word, length)) {
            *flags[i] = true;
            return words[i].list;
        }
    }
    return TYPES_NONE;
}

bool types_lack(const struct report_types *t, enum spe_sort sort)
{
    return sort == SPE_SORT_MISPREDICTED && (t->by_object || t->by_type || t->by_member);
}

unsigned types_want(const struct report_types *t)
{
    return (t->by_object ? SPE_TYPES_OBJECTS : 0u) |
           (t->by_type || t->by_member || t->name ? SPE_TYPES_TYPES : 0u);
}

static bool has_members(struct spe_profile *profile, uint32_t id)
{
    struct spe_profile_type type;

    return spe_profile_type(profile, id, &type) == SPE_OK && type.members;
}

/* "node" is as good as "struct node". */
static bool is_called(struct spe_profile *profile, uint32_t id, const char *name)
{
    struct spe_profile_type type;
    const char *full, *blank;

    if (spe_profile_type(profile, id, &type) != SPE_OK)
        return false;
    full = spe_profile_string(profile, type.name);
    blank = strchr(full, ' ');
    return !strcmp(full, name) || (blank && type.members && !strcmp(blank + 1, name));
}

static bool add_layout(struct report_types *t, const struct spe_types *types,
                       const struct spe_type_row *row)
{
    struct report_layout *l = &t->layouts[t->layout_count];

    l->type = *row;
    l->member_count = spe_types_member_count(types, row->type);
    l->members = calloc(l->member_count + 1, sizeof(*l->members));
    if (!l->members)
        return false;
    t->layout_count++;
    spe_types_members(types, row->type, l->members, l->member_count);
    l->apart = spe_types_apart(types, row->type, l->apart_members);
    l->contended = spe_types_contended(types, row->type, l->contended_members);
    return true;
}

static bool add_layouts(struct report_types *t, const struct spe_types *types,
                        struct spe_profile *profile, const struct spe_type_row *rows, size_t count)
{
    bool good = true;
    size_t most = t->by_member ? LAYOUTS : 0;

    t->layouts = calloc(count + 1, sizeof(*t->layouts));
    if (!t->layouts)
        return false;
    t->not_found = t->name;
    for (size_t i = 0; i < count && good; i++) {
        bool named = t->name && is_called(profile, rows[i].type, t->name);

        if (named || (!t->name && t->layout_count < most && has_members(profile, rows[i].type)))
            good = add_layout(t, types, &rows[i]);
        t->not_found &= !named;
    }
    return good;
}

bool types_ask(struct report_types *t, struct spe_types *types, struct spe_profile *profile,
               enum spe_sort sort, size_t top)
{
    struct spe_type_row *all;
    bool good;

    /* A layout alone (--type) goes with a key of other lists. */
    t->sort = spe_types_sort(types, sort) == SPE_OK ? sort : SPE_SORT_LATENCY;
    spe_types_totals(types, &t->all, t->reasons);
    t->type_of = spe_types_count(types);
    t->member_of = spe_types_member_count(types, SPE_NO_ID);
    t->object_of = spe_types_object_count(types);
    t->types = calloc(top + 1, sizeof(*t->types));
    t->members = calloc(top + 1, sizeof(*t->members));
    t->objects = calloc(top + 1, sizeof(*t->objects));
    all = calloc(t->type_of + 1, sizeof(*all));
    good = t->types && t->members && t->objects && all;
    if (good) {
        t->type_count = spe_types_top(types, t->types, top);
        t->member_count = spe_types_members(types, SPE_NO_ID, t->members, top);
        t->object_count = spe_types_objects(types, t->objects, top);
        good = add_layouts(t, types, profile, all, spe_types_top(types, all, t->type_of));
    }
    free(all);
    return good;
}

void types_forget(struct report_types *t)
{
    for (size_t i = 0; i < t->layout_count; i++)
        free(t->layouts[i].members);
    free(t->layouts);
    free(t->types);
    free(t->members);
    free(t->objects);
}
