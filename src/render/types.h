/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Types, members and objects in `spe report`: the lists, as text, as JSON and as CSV. */
#ifndef RENDER_TYPES_H
#define RENDER_TYPES_H

#include <specimen/analysis.h>

#include "render/json.h"
#include "render/out.h"
#include "render/sheet.h"

/* How a type lies in memory, with what was accessed of it. */
struct report_layout {
    struct spe_type_row type;
    struct spe_type_row *members; /* all that have samples */
    size_t member_count;
    bool apart, contended;
    struct spe_type_row apart_members[2], contended_members[2];
};

enum types_list { TYPES_NONE, TYPES_OBJECTS, TYPES_TYPES, TYPES_MEMBERS };

struct report_types {
    bool by_type, by_member, by_object;
    enum types_list csv; /* which of them is the first list of --by; TYPES_NONE: none of them */
    enum spe_sort sort;
    const char *name; /* a type whose layout is wanted; NULL */
    bool not_found;   /* ... but it has no samples */
    struct spe_access_counts all, reasons[SPE_ACCESS_REASONS];
    struct spe_type_row *types, *members;
    struct spe_object_row *objects;
    size_t type_count, type_of, member_count, member_of, object_count, object_of;
    struct report_layout *layouts;
    size_t layout_count;
};

struct types_page {
    struct sheet *sheet;
    struct spe_profile *profile;
    const struct report_types *types;
};

static inline bool types_wanted(const struct report_types *t)
{
    return t->by_type || t->by_member || t->by_object || t->name;
}

/* Registers that functions save are known for what they are: they have a row of their own. */
static inline bool types_is_answer(unsigned reason)
{
    return reason == SPE_ACCESS_KNOWN || reason == SPE_ACCESS_SAVED;
}

/* Loads and stores of which it is not known what they access. */
static inline uint64_t types_unknown(const struct report_types *t)
{
    return t->all.samples - t->reasons[SPE_ACCESS_KNOWN].samples -
           t->reasons[SPE_ACCESS_SAVED].samples;
}

void types_text(const struct types_page *page);
void types_json(struct json *j, struct spe_profile *profile, const struct report_types *types);
void types_csv(struct out *o, struct spe_profile *profile, const struct report_types *types);

/* "struct node"; "void" where there is none. */
const char *types_name(struct spe_profile *profile, uint32_t id);

/* "struct node.next"; the type alone where it has no members. */
void types_member_name(struct spe_profile *profile, const struct spe_type_row *row, char *name,
                       size_t size);

/* The name of an object: the variable, or the kind of memory. Its place: the file, or its kind. */
void types_object_name(struct spe_profile *profile, const struct spe_profile_object *object,
                       char *name, size_t size);
const char *types_object_place(struct spe_profile *profile,
                               const struct spe_profile_object *object);

/* What was accessed in [offset, offset + size). */
void types_counts_in(const struct report_layout *layout, uint64_t offset, uint64_t size,
                     struct spe_access_counts *counts);

/* "int count[4]", as in the source. */
void types_declare(struct spe_profile *profile, const struct spe_profile_member *member, char *text,
                   size_t size);

/* Of arrays of arrays what they are of; else the type itself. */
uint32_t types_element(struct spe_profile *profile, uint32_t id, struct spe_profile_type *type);

#endif
