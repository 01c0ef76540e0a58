/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The language of spe-filter(7):
 *
 *   expression := conjunction { "or" conjunction }
 *   conjunction := negation { "and" negation }
 *   negation := "not" negation | "(" expression ")" | test
 *   test := field [ comparison value | "in" "(" item { "," item } ")" ]
 *   item := value [ ".." value ]
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter_internal.h"

#define WORD_MAX 255

__extension__ typedef unsigned __int128 wide; /* so that overflow is seen */

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN, TOKEN_BAD };

struct parser {
    struct spe_filter *f;
    const char *text;
    size_t at; /* behind the token */
    struct spe_profile_error *error;
    int code;
    unsigned nesting, stack;

    uint8_t kind; /* of the token */
    size_t start;
    char word[WORD_MAX + 1]; /* word, string, sign */
    uint64_t number;
};

static int fail(struct parser *p, size_t position, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(struct parser *p, size_t position, const char *format, ...)
{
    va_list arguments;

    if (p->code < 0)
        return p->code;
    p->code = SPE_ERR_INVALID;
    if (p->error) {
        p->error->code = p->code;
        p->error->offset = position;
        p->error->filter_position = (int)position;
        va_start(arguments, format);
        vsnprintf(p->error->text, sizeof(p->error->text), format, arguments);
        va_end(arguments);
    }
    return p->code;
}

static int no_memory(struct parser *p)
{
    p->code = SPE_ERR_NOMEM;
    return profile_fail(p->error, SPE_ERR_NOMEM, "out of memory");
}

/* ---- Tokens --------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit units[] = {
    {"ns", 1},      {"us", 1000},   {"ms", 1000000}, {"s", 1000000000}, {"k", 1 << 10},
    {"m", 1 << 20}, {"g", 1 << 30}, {"K", 1 << 10},  {"M", 1 << 20},    {"G", 1 << 30},
};

/* "12", "0x1f", "1.5ms", "64K": all digits, then a unit. */
static int read_number(struct parser *p)
{
    const char *s = p->text + p->start;
    bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    wide value = 0;
    uint64_t part = 0, parts = 1, factor = 1;
    size_t i = hex ? 2 : 0, unit;

    for (; hex ? isxdigit((unsigned char)s[i]) : isdigit((unsigned char)s[i]); i++) {
        unsigned digit = isdigit((unsigned char)s[i]) ? (unsigned)(s[i] - '0')
                                                      : (unsigned)(tolower(s[i]) - 'a' + 10);

        value = value * (hex ? 16 : 10) + digit;
        if (value > UINT64_MAX)
            return fail(p, p->start, "the number is too large");
    }
    if (!hex && s[i] == '.' && isdigit((unsigned char)s[i + 1])) {
        for (i++; isdigit((unsigned char)s[i]); i++) {
            if (parts < UINT64_C(1000000000)) {
                part = part * 10 + (uint64_t)(s[i] - '0');
                parts *= 10;
            }
        }
    }
    for (unit = 0; isalnum((unsigned char)s[i + unit]) || s[i + unit] == '_'; unit++)
        ;
    for (size_t u = 0; u < sizeof(units) / sizeof(units[0]) && unit; u++) {
        if (strlen(units[u].name) == unit && !strncmp(units[u].name, s + i, unit)) {
            factor = units[u].factor;
            i += unit;
            unit = 0;
        }
    }
    if (unit || (hex && i == 2))
        return fail(p, p->start, "this is not a number: units are ns, us, ms, s, K, M and G");
    if (parts > 1 && factor == 1)
        return fail(p, p->start, "a fraction needs a unit (ns, us, ms, s, K, M, G)");
    value = value * factor + (wide)part * factor / parts;
    if (value > UINT64_MAX)
        return fail(p, p->start, "the number is too large");
    p->number = (uint64_t)value;
    p->at = p->start + i;
    p->kind = TOKEN_NUMBER;
    return SPE_OK;
}

static int read_string(struct parser *p)
{
    size_t size = 0;

    for (p->at = p->start + 1; p->text[p->at] != '"'; p->at++) {
        char c = p->text[p->at];

        /* \" and \\ only: a backslash before anything else belongs to the regular expression */
        if (c == '\\' && (p->text[p->at + 1] == '"' || p->text[p->at + 1] == '\\'))
            c = p->text[++p->at];
        if (!c)
            return fail(p, p->start, "the text has no closing quotation mark");
        if (size == WORD_MAX)
            return fail(p, p->start, "the text is longer than %d bytes", WORD_MAX);
        p->word[size++] = c;
    }
    p->word[size] = 0;
    p->at++;
    p->kind = TOKEN_STRING;
    return SPE_OK;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static int read_word(struct parser *p)
{
    size_t size = 0;

    while (is_word(p->text[p->start + size]))
        size++;
    if (size > WORD_MAX)
        return fail(p, p->start, "the word is longer than %d bytes", WORD_MAX);
    memcpy(p->word, p->text + p->start, size);
    p->word[size] = 0;
    p->at = p->start + size;
    p->kind = TOKEN_WORD;
    return SPE_OK;
}

static int read_sign(struct parser *p)
{
    static const char *const signs[] = {"==", "!=", "<=", ">=", "!~", "..", "=",
                                        "<",  ">",  "~",  "(",  ")",  ","};

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (!strncmp(p->text + p->start, signs[i], strlen(signs[i]))) {
            snprintf(p->word, sizeof(p->word), "%s", signs[i]);
            p->at = p->start + strlen(signs[i]);
            p->kind = TOKEN_SIGN;
            return SPE_OK;
        }
    }
    if (strchr("&|", p->text[p->start]))
        return fail(p, p->start, "write \"and\" or \"or\" here");
    return fail(p, p->start,
                "this character has no meaning here; put a text that has it in quotation marks");
}

static int next(struct parser *p)
{
    char c;

    while (isspace((unsigned char)p->text[p->at]))
        p->at++;
    p->start = p->at;
    c = p->text[p->at];
    p->word[0] = 0;
    p->kind = c ? TOKEN_BAD : TOKEN_END;
    if (!c)
        return SPE_OK;
    if (isdigit((unsigned char)c))
        return read_number(p);
    if (c == '"')
        return read_string(p);
    return isalpha((unsigned char)c) || c == '_' ? read_word(p) : read_sign(p);
}

static bool is(const struct parser *p, uint8_t kind, const char *word)
{
    return p->kind == kind && !strcmp(p->word, word);
}

static bool is_reserved(const struct parser *p)
{
    return is(p, TOKEN_WORD, "and") || is(p, TOKEN_WORD, "or") || is(p, TOKEN_WORD, "not") ||
           is(p, TOKEN_WORD, "in");
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static int add_step(struct parser *p, uint8_t kind, uint32_t test)
{
    if (VECTOR_ROOM(&p->f->steps) < 0)
        return no_memory(p);
    p->f->steps.at[p->f->steps.count++] = (struct step){kind, test};
    if (kind == STEP_TEST)
        p->stack++;
    else if (kind != STEP_NOT)
        p->stack--;
    if (p->stack > p->f->depth)
        p->f->depth = p->stack;
    return SPE_OK;
}

/* ---- Regular expressions -------------------------------------------------------------------- */

#define REGEX_ATOMS 4096

/* The last place of "[...]" that begins at `s`; a bracket that is first in it is one of its
 * characters. */
static const char *end_of_set(const char *s)
{
    s += s[1] == '^' ? 2 : 1;
    s += *s == ']';
    for (; *s && *s != ']'; s++) {
        if (s[0] == '[' && s[1] && strchr(".:=", s[1])) {
            const char close[] = {s[1], ']', 0}, *end = strstr(s + 2, close);

            s = end ? end + 1 : s;
        }
    }
    return *s ? s : s - 1;
}

/* How often "{...}" at *s writes its atom out; *s to its last place. */
static uint64_t repetitions(const char **s)
{
    uint64_t least = 0, most = 0;

    for (++*s; isdigit((unsigned char)**s); ++*s)
        least = least < REGEX_ATOMS ? 10 * least + (uint64_t)(**s - '0') : least;
    most = least;
    if (**s == ',') {
        for (most = 0, ++*s; isdigit((unsigned char)**s); ++*s)
            most = most < REGEX_ATOMS ? 10 * most + (uint64_t)(**s - '0') : most;
        most = most > least ? most : least + 1;
    }
    *s -= **s != '}';
    return most ? most : 1;
}

/*
 * Is a regular expression small once its repetitions are written out, which is what regcomp does?
 * Those inside each other multiply. sums[] has the atoms of each open parenthesis, `last` the ones
 * that a repetition repeats.
 */
static bool is_small_regex(const char *s)
{
    uint64_t sums[WORD_MAX + 1] = {0}, last = 0;
    size_t depth = 0;

    for (; *s; s++) {
        uint64_t times = *s == '+' ? 2 : *s == '{' ? repetitions(&s) : 1;

        if (times > 1) {
            sums[depth] += last * (times - 1);
            last *= times;
        } else if (*s == '(') {
            sums[++depth] = last = 0;
        } else if (*s == ')' && depth) {
            last = sums[depth--];
            sums[depth] += last;
        } else if (!strchr("*?{}", *s)) {
            s = *s == '[' ? end_of_set(s) : *s == '\\' && s[1] ? s + 1 : s;
            sums[depth] += last = 1;
        }
        if (sums[depth] > REGEX_ATOMS)
            return false;
    }
    return true;
}

/* Takes the text over, whatever happens: it is freed with the filter. */
static int add_test(struct parser *p, struct test test, size_t position)
{
    struct test *kept;
    char why[100];
    int result;

    if (VECTOR_ROOM(&p->f->tests) < 0) {
        free(test.text);
        return no_memory(p);
    }
    kept = &p->f->tests.at[p->f->tests.count++];
    *kept = test;
    p->f->want |= filter_field(kept->field)->want;
    if (p->f->tests.count > FILTER_TESTS)
        return fail(p, position, "the expression is too long");
    if (kept->kind == TEST_MATCH && !is_small_regex(kept->text))
        return fail(p, position, "the regular expression repeats too much: %d characters at most",
                    REGEX_ATOMS);
    if (kept->kind == TEST_MATCH) {
        result = regcomp(&kept->regex, kept->text, REG_EXTENDED | REG_NOSUB);
        if (result) {
            regerror(result, &kept->regex, why, sizeof(why));
            return fail(p, position, "this is not a regular expression: %s", why);
        }
        kept->has_regex = true;
    }
    if (kept->text) {
        kept->memo = calloc(FILTER_MEMO, sizeof(struct memo));
        if (!kept->memo)
            return no_memory(p);
    }
    return add_step(p, STEP_TEST, (uint32_t)p->f->tests.count - 1);
}

/* ---- Tests ---------------------------------------------------------------------------------- */

/* One of the few values of a field; NULL past the last. */
static const char *value_at(const struct field *field, unsigned i)
{
    if (field->id == F_LEVEL)
        return i < SPE_LEVEL_COUNT ? spe_source_level_name(i) : NULL;
    return i < SPE_OP_KIND_COUNT ? spe_op_kind_name(i) : NULL;
}

static bool has_value(const struct field *field, const char *word)
{
    for (unsigned i = 0; value_at(field, i); i++) {
        if (!strcmp(value_at(field, i), word))
            return true;
    }
    return false;
}

static int never(struct parser *p, const struct field *field)
{
    char list[300] = "";
    size_t used = 0;

    for (unsigned i = 0; value_at(field, i) && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
                                 value_at(field, i));
    return fail(p, p->start, "\"%s\" is never \"%.60s\", but %s", field->shown.name, p->word, list);
}

static int unknown_field(struct parser *p)
{
    const char *instead = filter_instead(p->word);
    char list[600];

    if (instead)
        return fail(p, p->start, "\"%s\" is not for filters: use %s", p->word, instead);
    filter_list_fields(list, sizeof(list));
    return fail(p, p->start, "there is no field \"%.60s\"; there are %s", p->word, list);
}

/* The text of a comparison. Fields that have few values take no others: a misspelt one would match
 * nothing in silence. */
static int take_text(struct parser *p, const struct field *field, bool match, char **text)
{
    if ((p->kind != TOKEN_STRING && p->kind != TOKEN_WORD) || is_reserved(p))
        return fail(p, p->start, "\"%s\" is compared with a text", field->shown.name);
    if (!match && (field->id == F_LEVEL || field->id == F_KIND) && !has_value(field, p->word))
        return never(p, field);
    *text = strdup(p->word);
    return *text ? SPE_OK : no_memory(p);
}

static int take_number(struct parser *p, const struct field *field, uint64_t *number)
{
    if (p->kind != TOKEN_NUMBER)
        return fail(p, p->start, "\"%s\" is compared with a number", field->shown.name);
    *number = p->number;
    return next(p);
}

static int text_test(struct parser *p, const struct field *field, struct test test)
{
    size_t position;
    bool match = strchr(p->word, '~');

    if (!match && strcmp(p->word, "==") != 0 && strcmp(p->word, "=") != 0 &&
        strcmp(p->word, "!=") != 0)
        return fail(p, p->start, "\"%s\" is a text: compare it with ==, !=, ~ or !~",
                    field->shown.name);
    test.kind = match ? TEST_MATCH : TEST_EQUAL;
    test.negate = p->word[0] == '!';
    if (next(p) < 0)
        return p->code;
    position = p->start;
    if (take_text(p, field, match, &test.text) < 0)
        return p->code;
    if (add_test(p, test, position) < 0)
        return p->code;
    return next(p);
}

static int number_test(struct parser *p, const struct field *field, struct test test)
{
    char sign[3];
    uint64_t value = 0;

    if (strchr(p->word, '~'))
        return fail(p, p->start, "\"%s\" is a number: compare it with ==, !=, <, <=, > or >=",
                    field->shown.name);
    memcpy(sign, p->word, sizeof(sign));
    if (next(p) < 0 || take_number(p, field, &value) < 0)
        return p->code;
    test.kind = TEST_RANGE;
    test.high = UINT64_MAX;
    if (sign[0] == '<') {
        test.high = sign[1] ? value : value - 1;
        test.nothing = !sign[1] && !value;
    } else if (sign[0] == '>') {
        test.low = sign[1] ? value : value + 1;
        test.nothing = !sign[1] && value == UINT64_MAX;
    } else {
        test.low = test.high = value;
        test.negate = sign[0] == '!';
    }
    return add_test(p, test, p->start);
}

static int list_item(struct parser *p, const struct field *field, struct test test)
{
    size_t position = p->start;

    if (field->kind == FIELD_TEXT) {
        test.kind = TEST_EQUAL;
        if (take_text(p, field, false, &test.text) < 0 || add_test(p, test, position) < 0)
            return p->code;
        return next(p);
    }
    test.kind = TEST_RANGE;
    if (take_number(p, field, &test.low) < 0)
        return p->code;
    test.high = test.low;
    if (is(p, TOKEN_SIGN, "..")) {
        if (next(p) < 0 || take_number(p, field, &test.high) < 0)
            return p->code;
        if (test.high < test.low)
            return fail(p, position, "the range ends before it begins");
    }
    return add_test(p, test, position);
}

static int list_test(struct parser *p, const struct field *field, struct test test)
{
    bool first = true;

    if (next(p) < 0)
        return p->code;
    if (!is(p, TOKEN_SIGN, "("))
        return fail(p, p->start, "\"in\" needs a list in parentheses, such as (1, 4..7)");
    do {
        if (next(p) < 0 || list_item(p, field, test) < 0)
            return p->code;
        if (!first && add_step(p, STEP_OR, 0) < 0)
            return p->code;
        first = false;
    } while (is(p, TOKEN_SIGN, ","));
    if (!is(p, TOKEN_SIGN, ")"))
        return fail(p, p->start, "the list has no closing parenthesis");
    return next(p);
}

static bool is_comparison(const struct parser *p)
{
    return p->kind == TOKEN_SIGN && strchr("=!<>~", p->word[0]);
}

static int parse_test(struct parser *p)
{
    struct test test = {.kind = TEST_PRESENT};
    size_t position = p->start;
    const struct field *field;

    if (p->kind == TOKEN_END)
        return fail(p, p->start, "the expression ends where a test should be");
    if (p->kind != TOKEN_WORD || is_reserved(p))
        return fail(p, p->start, "a field should be here");
    field = filter_find_field(p->word, &test.event);
    if (!field)
        return unknown_field(p);
    test.field = field->id;
    if (next(p) < 0)
        return p->code;
    if (!is_comparison(p) && !is(p, TOKEN_WORD, "in"))
        return add_test(p, test, position);
    if (field->kind == FIELD_FLAG)
        return fail(p, p->start, "\"%s\" is a flag: it is not compared", field->shown.name);
    if (is(p, TOKEN_WORD, "in"))
        return list_test(p, field, test);
    return field->kind == FIELD_TEXT ? text_test(p, field, test) : number_test(p, field, test);
}

/* ---- Expressions ---------------------------------------------------------------------------- */

static int parse_expression(struct parser *p);

static int parse_negation(struct parser *p)
{
    bool inverted = false;

    while (is(p, TOKEN_WORD, "not")) {
        inverted = !inverted;
        if (next(p) < 0)
            return p->code;
    }
    if (is(p, TOKEN_SIGN, "(")) {
        size_t open = p->start;

        if (++p->nesting > FILTER_DEPTH)
            return fail(p, p->start, "too many parentheses inside each other");
        if (next(p) < 0 || parse_expression(p) < 0)
            return p->code;
        if (!is(p, TOKEN_SIGN, ")"))
            return fail(p, p->kind == TOKEN_END ? open : p->start,
                        p->kind == TOKEN_END ? "this parenthesis is not closed"
                                             : "\"and\", \"or\" or \")\" should be here");
        p->nesting--;
        if (next(p) < 0)
            return p->code;
    } else if (parse_test(p) < 0) {
        return p->code;
    }
    return inverted ? add_step(p, STEP_NOT, 0) : SPE_OK;
}

static int parse_conjunction(struct parser *p)
{
    if (parse_negation(p) < 0)
        return p->code;
    while (is(p, TOKEN_WORD, "and")) {
        if (next(p) < 0 || parse_negation(p) < 0 || add_step(p, STEP_AND, 0) < 0)
            return p->code;
    }
    return SPE_OK;
}

static int parse_expression(struct parser *p)
{
    if (parse_conjunction(p) < 0)
        return p->code;
    while (is(p, TOKEN_WORD, "or")) {
        if (next(p) < 0 || parse_conjunction(p) < 0 || add_step(p, STEP_OR, 0) < 0)
            return p->code;
    }
    return SPE_OK;
}

int spe_filter_create(struct spe_filter **filter, const char *text, struct spe_profile_error *error)
{
    struct parser p = {.text = text, .error = error};

    if (error)
        *error = (struct spe_profile_error){.filter_position = -1};
    *filter = p.f = calloc(1, sizeof(*p.f));
    if (!p.f)
        return no_memory(&p);
    filter_op_tables(p.f);
    if (next(&p) >= 0 && parse_expression(&p) >= 0 && p.kind != TOKEN_END)
        fail(&p, p.start, "\"and\", \"or\" or the end should be here");
    if (p.code < 0) {
        spe_filter_destroy(p.f);
        *filter = NULL;
    }
    return p.code;
}
