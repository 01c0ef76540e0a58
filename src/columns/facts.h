/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What a file of columns says about its recording, as pairs of texts. */
#ifndef COLUMNS_FACTS_H
#define COLUMNS_FACTS_H

#include <specimen/profile.h>

#include "base/vector.h"

/* Bytes of the file, in order: SPE_OK or an error, which ends it. */
typedef int columns_put(void *user, const void *bytes, size_t size);

struct fact {
    const char *key;
    char *value;
};

struct facts {
    VECTOR(struct fact) list;
};

/* Facts that are known when a profile is open, what was lost among them: SPE_OK or SPE_ERR_NOMEM.
 */
int facts_of(struct facts *f, const struct spe_profile *profile);
/* ... and when all its rows were read: bytes that are not records. */
int facts_of_end(struct facts *f, const struct spe_profile *profile);
void facts_free(struct facts *f);

#endif
