/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Types and objects of `spe report`: what is asked for, and the answers. */
#ifndef CLI_REPORT_TYPES_H
#define CLI_REPORT_TYPES_H

#include "render/types.h"

/* A word of --by: TYPES_NONE if it is not one of object, type, member. */
enum types_list types_by(struct report_types *t, const char *word, size_t length);

/* SPE_TYPES_... */
unsigned types_want(const struct report_types *t);

/* Rows of these lists have no such count. */
bool types_lack(const struct report_types *t, enum spe_sort sort);

/* The first `top` of each list. False if there is no memory. */
bool types_ask(struct report_types *t, struct spe_types *types, struct spe_profile *profile,
               enum spe_sort sort, size_t top);
void types_forget(struct report_types *t);

#endif
