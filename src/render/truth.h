/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Exact counts beside estimates (record/truth.h), as text and as JSON. */
#ifndef RENDER_TRUTH_H
#define RENDER_TRUTH_H

#include "record/truth.h"
#include "render/out.h"

/* The first `functions` of them, the first `quantities`, as a table of that width. False if memory
 * ran out. */
bool render_truth(struct out *o, const struct truth *truth, size_t functions, unsigned quantities,
                  unsigned width, bool color);
void render_truth_json(struct out *o, const struct truth *truth, unsigned quantities);

#endif
