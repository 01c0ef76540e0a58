/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Records and skipped ranges, one a line: as text to read, or as JSON to compute with.
 */
#ifndef RENDER_SPE_RECORD_H
#define RENDER_SPE_RECORD_H

#include "render/naming.h"
#include "render/out.h"

void render_record_text(struct out *o, const struct naming *naming, const struct spe_item *item,
                        const struct spe_record *record);
void render_skipped_text(struct out *o, const struct naming *naming, const struct spe_item *item);

/* `file` is the name to put in the object, NULL for none. */
void render_record_json(struct out *o, const struct naming *naming, const char *file,
                        const struct spe_item *item, const struct spe_record *record);
void render_skipped_json(struct out *o, const char *file, const struct spe_item *item);

#endif
