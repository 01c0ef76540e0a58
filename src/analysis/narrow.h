/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Which code is of chosen functions. Files are looked through when the first row of theirs comes:
 * until then, all of their code may be. So no symbols are read that nobody needs.
 */
#ifndef SPECIMEN_SRC_ANALYSIS_NARROW_H
#define SPECIMEN_SRC_ANALYSIS_NARROW_H

#include <specimen/analysis.h>

#include "base/vector.h"

struct narrow {
    VECTOR(uint64_t) functions; /* symbols that were chosen */
    bool *known;                /* by dso: there are no others in it */
    size_t dsos;
    bool off;     /* rows without a map are wanted: all rows are needed */
    bool changed; /* and the profile has not been told */
};

/* all: there are no other functions than these. */
int narrow_start(struct narrow *n, struct spe_profile *profile,
                 const struct spe_code_choice *choices, size_t count, bool all);
/* A row of this map has come. */
int narrow_see(struct narrow *n, struct spe_profile *profile, uint32_t map,
               spe_annotation_wanted *wanted, void *user);
int narrow_tell(struct narrow *n, struct spe_profile *profile);
void narrow_free(struct narrow *n);

#endif
