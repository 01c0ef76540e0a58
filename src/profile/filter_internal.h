/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Filter expressions: filter_parse.c turns text into tests and a program in postfix order,
 * filter.c runs it over the rows of a group, a bit a row, and filter_fields.c knows the fields.
 */
#ifndef SPECIMEN_SRC_FILTER_INTERNAL_H
#define SPECIMEN_SRC_FILTER_INTERNAL_H

#include <regex.h>

#include "profile_internal.h"

#define FILTER_DEPTH 64   /* of bitmaps, and of parentheses */
#define FILTER_TESTS 4096 /* in one expression */
#define FILTER_MEMO 1024
#define OP_COUNT 1024 /* CLASS << 8 | payload */

enum field_kind { FIELD_NUMBER, FIELD_TEXT, FIELD_FLAG };

enum field_id {
    F_TIME,
    F_TIMESTAMP,
    F_CPU,
    F_PID,
    F_TID,
    F_EL,
    F_PC,
    F_TARGET,
    F_VA,
    F_PA,
    F_PREVIOUS_TARGET,
    F_TAG,
    F_EVENTS,
    F_OP,
    F_CLASS,
#define COUNTER(name, NAME, sentence) F_##NAME,
#include "format/counters.def"
    F_EXECUTION,
    F_SOURCE,
    F_CONTEXT1,
    F_CONTEXT2,
    F_LINE,
    F_QUEUE,
    F_OFFSET,
    /* text */
    F_SYMBOL,
    F_DSO,
    F_PATH,
    F_COMM,
    F_FILE,
    F_LEVEL,
    F_KIND,
    /* flags of the operation: see filter_op_flags */
    F_LOAD,
    F_STORE,
    F_MEMORY,
    F_BRANCH,
    F_OTHER,
    F_CONDITIONAL,
    F_INDIRECT,
    F_CALL,
    F_RETURN,
    F_ATOMIC,
    F_EXCLUSIVE,
    F_ACQUIRE_RELEASE,
    F_SVE,
    F_PREDICATED,
    F_GATHER,
    /* other flags */
    F_KERNEL,
    F_USER,
    F_MISMATCH,
    F_EVENT, /* F_EVENT: events.NAME, its number is in the test */
};

struct field {
    struct spe_filter_field shown;
    uint8_t id;   /* enum field_id */
    uint8_t kind; /* enum field_kind */
    uint8_t want; /* SPE_WANT_... */
};

enum test_kind {
    TEST_PRESENT, /* a number or text is there; a flag is set */
    TEST_RANGE,   /* low <= number <= high, or not */
    TEST_EQUAL,   /* text */
    TEST_MATCH,   /* text, by a regular expression */
};

struct memo {
    uint64_t key; /* id + 1; 0: free */
    bool answer;
};

struct test {
    uint8_t kind, field, event;
    bool negate, nothing; /* nothing: an empty range */
    uint64_t low, high;
    char *text;
    bool has_regex;
    regex_t regex;
    struct memo *memo;
};

enum step_kind { STEP_TEST, STEP_AND, STEP_OR, STEP_NOT };

struct step {
    uint8_t kind;
    uint32_t test;
};

struct spe_filter {
    VECTOR(struct test) tests;
    VECTOR(struct step) steps;
    unsigned depth; /* bitmaps that are needed at a time */
    unsigned want;
    uint64_t *bits;
    size_t words; /* of one bitmap */
    uint32_t op_flags[OP_COUNT];
    uint8_t op_kind[OP_COUNT];
};

/* A field by name, and for events.NAME its number; NULL. */
const struct field *filter_find_field(const char *name, uint8_t *event);
const struct field *filter_field(unsigned id);

/* What to ask instead of a name that `spe script -F` has and filters have not; NULL. */
const char *filter_instead(const char *name);

/* The names of all fields, with commas. */
void filter_list_fields(char *text, size_t size);

/* What operations are, as bits F_LOAD and up, F_LOAD being bit 0. */
void filter_op_tables(struct spe_filter *f);

/* Numbers of up to 64 rows from `base` on, and which of them have one. */
uint64_t filter_load(const struct spe_filter *f, const struct spe_profile *p,
                     const struct spe_rows *rows, unsigned field, size_t base, size_t count,
                     uint64_t *out);
/* A flag of up to 64 rows. */
uint64_t filter_flags(const struct spe_filter *f, const struct spe_rows *rows,
                      const struct test *test, size_t base, size_t count);
/* The text of a row by an id of it; NULL if there is none. */
uint64_t filter_text_id(const struct spe_filter *f, const struct spe_profile *p,
                        const struct spe_rows *rows, unsigned field, size_t row);
const char *filter_text(const struct spe_profile *p, unsigned field, uint64_t id);

#endif
