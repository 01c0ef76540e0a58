/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A script that drives one Statistical Profiling Unit (docs/sim.md is its language). The engine
 * reads text and calls a listener; it does no I/O, so that the command and the tests can both use
 * it.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <specimen/spu.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim;

enum sim_value_kind {
    SIM_ABSENT, /* there is no such packet in the record, no such byte in memory */
    SIM_DECIMAL,
    SIM_HEX,
    SIM_WORD,
};

struct sim_value {
    const char *key;
    uint8_t kind; /* enum sim_value_kind */
    uint64_t number;
    const char *word; /* SIM_WORD; a SIM_WORD has its number too */
};

#define SIM_EFFECT_VALUES 24

/* Something happened, or was asked for. Everything in it is valid during the call. */
struct sim_effect {
    unsigned line;    /* of the statement, from 1 */
    const char *name; /* "record", "event", "interrupt" ... */
    size_t count;
    struct sim_value value[SIM_EFFECT_VALUES];
    const struct spe_record_notice *record; /* "record" only */
    const struct spe_spu_config *config;    /* likewise: how to read it */
};

struct sim_listener {
    void *user;
    void (*effect)(void *user, const struct sim_effect *effect);
    /* enumerate: the names of the columns, then one row for each combination. */
    void (*row)(void *user, bool head, const char *const *cells, size_t count);
};

/* Where and why a script cannot be understood, or a unit cannot be made of it. */
struct sim_error {
    unsigned line, column; /* from 1 */
    char sentence[800];
};

/* NULL if there is no memory. The listener is copied. */
struct sim *sim_create(const struct sim_listener *listener);
void sim_destroy(struct sim *sim);

/* After that many steps (statements, samples, combinations, values) a script is refused; without a
 * limit it may run for as long as it says. */
void sim_set_limit(struct sim *sim, uint64_t steps);

/* Run a script. SPE_OK, also if expectations failed; SPE_ERR_INVALID with *error. What was run
 * before stays in effect for the next script. */
int sim_run(struct sim *sim, const char *text, size_t length, struct sim_error *error);

/* Of all `expect` so far. */
uint64_t sim_expected(const struct sim *sim);
uint64_t sim_failed(const struct sim *sim);

/* Print a list of names, line by line: "statements", "quantities", "features", "pe" (with the
 * values that a script finds), "operations", "accesses", "facts", "faults". False: there is no such
 * list. */
typedef void sim_line_fn(void *user, const char *line);
bool sim_list(const char *name, sim_line_fn *line, void *user);

#endif
