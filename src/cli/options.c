/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/words.h"
#include "render/wrap.h"

/* ---- all rows of a table, and of those in it ------------------------------------------------- */

#define ROWS_MAX 96
#define FIRST_VALUE 0x100 /* of a long option: clear of letters */

struct known {
    const struct option_row *row;
    char *base; /* of its target */
    bool *given;
    char letter;
};

struct rows {
    struct known known[ROWS_MAX];
    size_t count;
};

static const struct option_row help_row = {"help", 'h', NULL, "this text", .kind = OPTION_ROW_HELP};

/* A member of the job; the help has no job. */
static char *member_at(char *job, size_t offset)
{
    return job ? job + offset : NULL;
}

static void add_row(struct rows *rows, const struct option_row *row, char *base,
                    const struct known *table)
{
    struct known *known = &rows->known[rows->count];

    if (rows->count == ROWS_MAX)
        abort(); /* a table that was never tried */
    rows->count++;
    *known = (struct known){.row = row, .base = base, .letter = row->letter};
    if (!table)
        return;
    known->given = table->row->given ? (bool *)member_at(table->base, table->row->given) : NULL;
    if (row->letter && table->row->without && strchr(table->row->without, row->letter))
        known->letter = '\0';
}

/* Tables are in tables at one level only. */
static void add_table(struct rows *rows, const struct known *table)
{
    for (const struct option_row *row = table->row->table; row->kind != OPTION_ROW_END; row++)
        add_row(rows, row, member_at(table->base, table->row->target), table);
}

static void add_rows(struct rows *rows, const struct command *c, char *job)
{
    rows->count = 0;
    for (const struct option_row *row = c->options; row->kind != OPTION_ROW_END; row++) {
        struct known table = {.row = row, .base = job};

        if (row->kind == OPTION_ROW_TABLE)
            add_table(rows, &table);
        else
            add_row(rows, row, job, NULL);
    }
    add_row(rows, &help_row, job, NULL);
}

/* ---- the help -------------------------------------------------------------------------------- */

#define HELP_WIDTH 80
#define HELP_COLUMN 25 /* of what an option does */

/* Text behind a label, below itself where it is too long. */
static void print_wrapped(const char *label, int column, const char *text)
{
    if (column && (int)strlen(label) >= column) {
        puts(label);
        label = "";
    }
    do {
        size_t end = wrap_line(text, (size_t)(HELP_WIDTH - column));

        printf("%-*s%.*s\n", column, label, (int)end, text);
        label = "";
        text += end + (text[end] != '\0');
    } while (*text);
}

/* "  -o, --output FILE": further names of the same row go behind a comma. */
static size_t label_row(char *label, size_t size, size_t used, const struct known *known)
{
    const struct option_row *row = known->row;
    char letter[8] = "    ";
    int n;

    if (known->letter)
        snprintf(letter, sizeof(letter), "-%c, ", known->letter);
    n = snprintf(label + used, size - used, "%s%s--%s%s%s", used ? ", " : "  ",
                 used && !known->letter ? "" : letter, row->name, row->argument ? " " : "",
                 row->argument ? row->argument : "");
    return used + (size_t)n;
}

void print_command_help(const struct command *c)
{
    struct rows rows;
    char label[160];
    size_t used = 0;

    add_rows(&rows, c, NULL);
    printf("%s\n", c->usage);
    for (size_t i = 0; i < rows.count; i++) {
        const struct option_row *row = rows.known[i].row;

        if (row->kind == OPTION_ROW_TEXT) {
            print_wrapped("", 0, row->help);
            continue;
        }
        used = label_row(label, sizeof(label), used, &rows.known[i]);
        if (!row->help)
            continue;
        print_wrapped(label, HELP_COLUMN, row->help);
        used = 0;
    }
    printf("\n%s", c->examples);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* strtoull takes signs and blanks: numbers here begin with a digit. */
static bool parse_number(const char *text, uint64_t *value, char **end)
{
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    *value = strtoull(text, end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    return errno == 0;
}

bool number_option(const struct command *c, const char *option, const char *text, uint64_t min,
                   uint64_t max, uint64_t *value)
{
    char *end;

    if (!parse_number(text, value, &end) || *end) {
        usage_error(c, option, "'%s' is not a number", text);
        return false;
    }
    if (*value < min || *value > max) {
        usage_error(c, option, "%s is not between %" PRIu64 " and %" PRIu64, text, min, max);
        return false;
    }
    return true;
}

static const char units[] = "KMGT";

bool size_option(const struct command *c, const char *option, const char *text, uint64_t *value)
{
    char *end;
    unsigned shift = 0;
    const char *unit;

    if (parse_number(text, value, &end)) {
        unit = *end ? memchr(units, toupper((unsigned char)*end), 3) : NULL;
        if (unit) {
            shift = 10 * (unsigned)(unit - units + 1);
            end++;
        }
        if (!*end && *value <= UINT64_MAX >> shift) {
            *value <<= shift;
            return true;
        }
    }
    usage_error(c, option, "'%s' is not a size (bytes, 0x..., or with K, M or G)", text);
    return false;
}

/* "64K" */
static const char *size_text(uint64_t size, char text[24])
{
    unsigned unit = 0;

    for (; unit < 4 && size && size % 1024 == 0; unit++)
        size /= 1024;
    snprintf(text, 24, "%" PRIu64 "%.*s", size, unit ? 1 : 0, unit ? units + unit - 1 : "");
    return text;
}

static bool size_within(const struct command *c, const char *option, const char *text,
                        const struct option_row *row, uint64_t *value)
{
    char limit[24];

    if (!size_option(c, option, text, value))
        return false;
    if (*value < row->min)
        usage_error(c, option, "%s is less than %s", text, size_text(row->min, limit));
    else if (*value > row->max)
        usage_error(c, option, "%s is more than %s", text, size_text(row->max, limit));
    else
        return true;
    return false;
}

bool share_option(const struct command *c, const char *option, const char *text, double *percent)
{
    char *end;

    *percent = strtod(text, &end);
    if (end != text && (!*end || strcmp(end, "%") == 0) && *percent >= 0 && *percent <= 100)
        return true;
    usage_error(c, option, "'%s' is not a number from 0 to 100", text);
    return false;
}

unsigned find_name(const char *const *names, const char *word, size_t length)
{
    unsigned i;

    for (i = 0; names[i]; i++) {
        if (strlen(names[i]) == length && strncmp(names[i], word, length) == 0)
            break;
    }
    return i;
}

bool choice_option(const struct command *c, const char *option, const char *text,
                   const char *const *names, unsigned *value)
{
    const char *near;
    char list[512];
    unsigned count = 0;

    *value = find_name(names, text, strlen(text));
    if (names[*value])
        return true;
    while (names[count])
        count++;
    near = nearest_name(text, names, count);
    list_names(list, sizeof(list), names, count, count == 2 ? " nor " : ", ");
    usage_error(c, option, "'%s' is %s %s%s%s%s", text, count == 2 ? "neither" : "none of", list,
                near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return false;
}

/* ---- taking them ----------------------------------------------------------------------------- */

static bool take_unsigned(const struct command *c, const char *option, const char *text,
                          const struct option_row *row, unsigned *target)
{
    uint64_t value;

    if (!number_option(c, option, text, row->min, row->max, &value))
        return false;
    *target = (unsigned)value;
    return true;
}

static bool take(const struct command *c, const struct known *known, const char *value)
{
    const struct option_row *row = known->row;
    void *target = known->base + row->target;
    char option[64];

    snprintf(option, sizeof(option), "--%s", row->name);
    if (known->given)
        *known->given = true;
    switch (row->kind) {
    case OPTION_ROW_FLAG:
        *(bool *)target = row->min;
        return true;
    case OPTION_ROW_VALUE:
        *(unsigned *)target = (unsigned)row->min;
        return true;
    case OPTION_ROW_STRING:
        *(const char **)target = value;
        return true;
    case OPTION_ROW_NUMBER:
        return number_option(c, option, value, row->min, row->max, target);
    case OPTION_ROW_UNSIGNED:
        return take_unsigned(c, option, value, row, target);
    case OPTION_ROW_SIZE:
        return size_within(c, option, value, row, target);
    case OPTION_ROW_CHOICE:
        return choice_option(c, option, value, row->names, target);
    case OPTION_ROW_TAKE:
        return row->take(c, target, value);
    default:
        return true;
    }
}

/* An option that is not known: perf's word for something, or a near miss, or neither. */
static void unknown_option(const struct command *c, const char *word, const struct rows *rows)
{
    const char *answer = perf_option(c->name, word), *near = NULL, *names[ROWS_MAX];
    char name[64];
    size_t n = 0;

    if (strncmp(word, "--", 2) == 0) {
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
        for (size_t i = 0; i < rows->count; i++) {
            if (rows->known[i].row->name)
                names[n++] = rows->known[i].row->name;
        }
        near = nearest_name(name, names, n);
    }
    if (answer)
        usage_error(c, word, "is perf's option; %s", answer);
    else if (near)
        usage_error(c, word, "there is no such option; did you mean --%s?", near);
    else
        usage_error(c, word, "there is no such option");
}

/* The same rows for getopt_long. */
struct getopt_rows {
    struct option list[ROWS_MAX + 1];
    char letters[2 * ROWS_MAX + 3];
};

static void make_getopt_rows(struct getopt_rows *g, const struct command *c,
                             const struct rows *rows)
{
    char *letter = g->letters;
    struct option *option = g->list;

    if (c->words_follow)
        *letter++ = '+';
    *letter++ = ':';
    for (size_t i = 0; i < rows->count; i++) {
        const struct known *known = &rows->known[i];
        bool value = known->row->argument;

        if (!known->row->name)
            continue;
        *option++ = (struct option){known->row->name, value, NULL, FIRST_VALUE + (int)i};
        if (!known->letter)
            continue;
        *letter++ = known->letter;
        if (value)
            *letter++ = ':';
    }
    *option = (struct option){0};
    *letter = '\0';
}

static const struct known *find_row(const struct rows *rows, int option)
{
    if (option >= FIRST_VALUE)
        return &rows->known[option - FIRST_VALUE];
    for (size_t i = 0; i < rows->count; i++) {
        if (option && rows->known[i].letter == option)
            return &rows->known[i];
    }
    return NULL;
}

/* getopt_long has found nothing, or no value. */
static void refuse(const struct command *c, int option, int argc, char **argv,
                   const struct rows *rows)
{
    const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "option";
    char letter[3] = "-?";

    if (strncmp(word, "--", 2) != 0 && optopt > 0 && optopt < 128) { /* one letter of several */
        letter[1] = (char)optopt;
        word = letter;
    }
    if (option == ':')
        usage_error(c, word, "the option needs a value");
    else
        unknown_option(c, word, rows);
}

bool take_options(const struct command *c, void *job, int argc, char **argv, int *status)
{
    struct getopt_rows g;
    struct rows rows;
    int option;

    add_rows(&rows, c, job);
    make_getopt_rows(&g, c, &rows);
    *status = STATUS_USAGE;
    opterr = 0;
    while ((option = getopt_long(argc, argv, g.letters, g.list, NULL)) != -1) {
        const struct known *known = find_row(&rows, option);

        if (!known) {
            refuse(c, option, argc, argv, &rows);
            return false;
        }
        if (known->row->kind == OPTION_ROW_HELP) {
            print_command_help(c);
            *status = STATUS_OK;
            return false;
        }
        if (!take(c, known, optarg))
            return false;
    }
    return true;
}
