/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Some rows of a recording, evenly over all of it: every one, or every second, fourth ... so that
 * they fit. Questions that nobody can ask in advance are asked of these, however large it was.
 */
#ifndef ANALYSIS_KEPT_H
#define ANALYSIS_KEPT_H

#include <specimen/analysis.h>

#define KEPT_MAX 32768

struct kept_row {
    uint64_t pc, symbol, va, time_ns, events;
    uint32_t map, thread, pid;
    uint16_t op; /* OP_NONE: none */
    uint16_t total, issue, translation;
    uint8_t level, has, addresses, counters;
    uint8_t is, cause; /* see findings.h; 0 before */
};

struct kept {
    struct kept_row *rows; /* KEPT_MAX of them, or NULL */
    size_t count;
    uint64_t step;       /* one in so many rows is kept */
    uint64_t seen, next; /* rows; the next one to keep */
};

int kept_init(struct kept *k); /* SPE_OK or SPE_ERR_NOMEM */
void kept_free(struct kept *k);
void kept_add(struct kept *k, const struct spe_rows *rows);
void kept_merge(struct kept *to, const struct kept *from);

/* Symbols that the rows did not have. */
void kept_name(struct kept *k, struct spe_profile *profile);

#endif
