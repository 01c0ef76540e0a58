/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Types and objects of `spe report`: what is asked for, and the answers. */
#ifndef CLI_REPORT_TYPES_H
#define CLI_REPORT_TYPES_H

#include "render/types.h"

/* A word of --by: false if it is none of object, type, member. */
bool types_by(struct report_types *t, const char *word, size_t length);

/* SPE_TYPES_... */
unsigned types_want(const struct report_types *t);

/* The first `top` of each list. False if there is no memory. */
bool types_ask(struct report_types *t, const struct spe_types *types, struct spe_profile *profile,
               size_t top);
void types_forget(struct report_types *t);

#endif
