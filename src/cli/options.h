/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The options of a command are one table: what they are called, what they take, where it goes and
 * what --help says. Taking them, the help, completion (which reads the help) and the answer to a
 * near miss all come from it. -h and --help are in no table: every command has them.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;

enum option_kind {
    OPTION_ROW_END,
    OPTION_ROW_TEXT, /* nothing but a text in the help */
    OPTION_ROW_TABLE,
    OPTION_ROW_NOTHING,
    OPTION_ROW_FLAG,
    OPTION_ROW_VALUE,
    OPTION_ROW_STRING,
    OPTION_ROW_NUMBER,
    OPTION_ROW_UNSIGNED,
    OPTION_ROW_SIZE,
    OPTION_ROW_CHOICE,
    OPTION_ROW_TAKE,
    OPTION_ROW_HELP,
};

/* What is wrong with the value has been reported if it returns false. */
typedef bool option_take(const struct command *c, void *target, const char *value);

struct option_row {
    const char *name; /* without -- */
    char letter;      /* 0: none */
    const char *argument;
    const char *help; /* it is wrapped; '\n' begins a line. NULL: the next row has it */
    enum option_kind kind;
    size_t target;     /* where it goes, from the beginning of the command's job */
    uint64_t min, max; /* of a number or a size; min: the value of OPTION_VALUE */
    const char *const *names;
    option_take *take;
    const struct option_row *table;
    const char *without; /* letters of the table that are not here */
    size_t given;        /* offset of a bool: was an option of the table given? 0: not asked */
};

/* The place of a member, which has to have the type. */
/* NOLINTBEGIN(bugprone-macro-parentheses): it is an initialiser, with types in it. */
#define OPTION_TARGET(job, member, type)                                                           \
    .target = offsetof(job, member) + 0 * sizeof(*(1 ? &((job *)0)->member : (type *)0))
/* NOLINTEND(bugprone-macro-parentheses) */

/* The last member of a row: what becomes of the option. `member` is one of the type `job`. */
#define OPTION_FLAG(job, member)                                                                   \
    .kind = OPTION_ROW_FLAG, .min = true, OPTION_TARGET(job, member, bool)
#define OPTION_UNSET(job, member)                                                                  \
    .kind = OPTION_ROW_FLAG, .min = false, OPTION_TARGET(job, member, bool)
#define OPTION_VALUE(job, member, value)                                                           \
    .kind = OPTION_ROW_VALUE, .min = (value), OPTION_TARGET(job, member, unsigned)
#define OPTION_STRING(job, member)                                                                 \
    .kind = OPTION_ROW_STRING, OPTION_TARGET(job, member, const char *)
#define OPTION_NUMBER(job, member, from, to)                                                       \
    .kind = OPTION_ROW_NUMBER, .min = (from), .max = (to), OPTION_TARGET(job, member, uint64_t)
#define OPTION_UNSIGNED(job, member, from, to)                                                     \
    .kind = OPTION_ROW_UNSIGNED, .min = (from), .max = (to), OPTION_TARGET(job, member, unsigned)
#define OPTION_SIZE(job, member, from, to)                                                         \
    .kind = OPTION_ROW_SIZE, .min = (from), .max = (to), OPTION_TARGET(job, member, uint64_t)
#define OPTION_CHOICE(job, member, list)                                                           \
    .kind = OPTION_ROW_CHOICE, .names = (list), OPTION_TARGET(job, member, unsigned)
#define OPTION_TAKE(function) .kind = OPTION_ROW_TAKE, .take = (function)
#define OPTION_NOTHING .kind = OPTION_ROW_NOTHING /* a word of perf for what is so anyway */

/* All of a row: text in the help, such as a title, in front of which "\n" makes room; the rows of
 * another table, whose targets are in a member. Letters of that which are not here may follow, and
 * the place of a bool that says whether any of them was given. */
#define OPTION_TEXT(text) .kind = OPTION_ROW_TEXT, .help = (text)
#define OPTION_ROWS(rows) .kind = OPTION_ROW_TABLE, .table = (rows) /* targets are in the job */
#define OPTION_TABLE(job, member, rows)                                                            \
    .kind = OPTION_ROW_TABLE, .target = offsetof(job, member), .table = (rows)

/* Takes all options. False if there is nothing left to do: *status is STATUS_USAGE after a
 * complaint, STATUS_OK after the help. optind is then the first word that is not an option. */
bool take_options(const struct command *c, void *job, int argc, char **argv, int *status);

/* The text of --help, on standard output. */
void print_command_help(const struct command *c);

/* Values of options. What is wrong is reported as a usage error; false then. Numbers are decimal or
 * 0x; sizes also with K, M or G (powers of 1024). */
bool number_option(const struct command *c, const char *option, const char *text, uint64_t min,
                   uint64_t max, uint64_t *value);
bool size_option(const struct command *c, const char *option, const char *text, uint64_t *value);
bool share_option(const struct command *c, const char *option, const char *text, double *percent);

/* The place of the text in the list of names, which ends with NULL. */
bool choice_option(const struct command *c, const char *option, const char *text,
                   const char *const *names, unsigned *value);

/* The place of a word in the list; the list's length if it is not there. */
unsigned find_name(const char *const *names, const char *word, size_t length);

#endif
