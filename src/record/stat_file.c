/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A reader of JSON for one kind of file. Members that it does not know are passed over, so that
 * later releases may write more; what is there twice counts twice.
 */
#include "record/stat_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEEPEST 32
#define LARGEST (UINT64_C(1) << 30) /* bytes: no program has so many functions */
#define NAME 4096

struct reader {
    const char *at, *end, *start;
    struct spe_diff *diff;
    unsigned side;
    char *why;
    char dso[NAME], function[NAME];
    unsigned known;    /* of the function */
    unsigned quantity; /* that is being read */
    uint64_t counts[SPE_DIFF_QUANTITIES];
    bool functions; /* the list is there */
};

/* Of a member whose key has been read. False: it has been said why not. */
typedef bool member_reader(struct reader *r, const char *key);

/* ---- JSON ------------------------------------------------------------------------------------ */

static bool wrong(struct reader *r, const char *what)
{
    if (!r->why[0])
        snprintf(r->why, STAT_FILE_WHY, "not a file of spe record --stat-json: %s at byte %zu",
                 what, (size_t)(r->at - r->start));
    return false;
}

static char next(struct reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static bool expect(struct reader *r, char c)
{
    char what[] = "no 'x'";

    if (next(r) == c) {
        r->at++;
        return true;
    }
    what[4] = c;
    return wrong(r, what);
}

static bool take_hex(struct reader *r, unsigned *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        if (r->at >= r->end || !isxdigit((unsigned char)*r->at))
            return wrong(r, "no hex digit");
        *code = *code << 4 | (unsigned)(isdigit((unsigned char)*r->at)
                                            ? *r->at - '0'
                                            : tolower((unsigned char)*r->at) - 'a' + 10);
    }
    return true;
}

/* Names come back only to be compared with each other: a surrogate may stay one. */
static size_t put_code(char *to, unsigned code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return code != 0; /* a NUL would end the name */
    }
    if (code < 0x800) {
        to[0] = (char)(0xc0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    to[0] = (char)(0xe0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 0x3f));
    to[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

static bool take_escape(struct reader *r, char *to, size_t *n)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter;
    unsigned code;

    r->at++;
    letter = r->at < r->end && *r->at ? strchr(letters, *r->at) : NULL;
    if (r->at < r->end && *r->at == 'u') {
        r->at++;
        if (!take_hex(r, &code))
            return false;
        *n = put_code(to, code);
        return true;
    }
    if (!letter)
        return wrong(r, "no escape");
    r->at++;
    to[0] = meanings[letter - letters];
    *n = 1;
    return true;
}

/* What does not fit is cut, as names are everywhere. */
static bool take_string(struct reader *r, char text[NAME])
{
    size_t used = 0;

    if (!expect(r, '"'))
        return false;
    while (r->at < r->end && *r->at != '"') {
        char part[4];
        size_t n = 1;

        part[0] = *r->at;
        if (part[0] == '\\') {
            if (!take_escape(r, part, &n))
                return false;
        } else {
            r->at++;
        }
        if (used + n < NAME) {
            memcpy(text + used, part, n);
            used += n;
        }
    }
    text[used] = '\0';
    return expect(r, '"');
}

static bool take_count(struct reader *r, uint64_t *value)
{
    const char *first;

    next(r);
    first = r->at;
    for (*value = 0; r->at < r->end && isdigit((unsigned char)*r->at); r->at++) {
        if (*value > (UINT64_MAX - 9) / 10)
            return wrong(r, "a number that is too large");
        *value = 10 * *value + (uint64_t)(*r->at - '0');
    }
    return r->at > first && (r->at == r->end || !strchr(".eE", *r->at)) ? true
                                                                        : wrong(r, "no count");
}

static bool take_members(struct reader *r, member_reader *member)
{
    char key[NAME];

    if (!expect(r, '{'))
        return false;
    if (next(r) == '}')
        return expect(r, '}');
    for (;;) {
        if (!take_string(r, key) || !expect(r, ':') || !member(r, key))
            return false;
        if (next(r) != ',')
            return expect(r, '}');
        r->at++;
    }
}

static bool skip_value(struct reader *r, unsigned depth);

static bool skip_many(struct reader *r, unsigned depth, char end)
{
    char text[NAME];

    r->at++;
    if (next(r) == end)
        return expect(r, end);
    for (;;) {
        if (end == '}' && (!take_string(r, text) || !expect(r, ':')))
            return false;
        if (!skip_value(r, depth + 1))
            return false;
        if (next(r) != ',')
            return expect(r, end);
        r->at++;
    }
}

// NOLINTNEXTLINE(misc-no-recursion): DEEPEST bounds it
static bool skip_value(struct reader *r, unsigned depth)
{
    char text[NAME], c = next(r);
    const char *first = r->at;

    if (depth > DEEPEST)
        return wrong(r, "too deep nesting");
    if (c == '"')
        return take_string(r, text);
    if (c == '{' || c == '[')
        return skip_many(r, depth, c == '{' ? '}' : ']');
    while (r->at < r->end && (isalnum((unsigned char)*r->at) || strchr("+-.", *r->at)) && *r->at)
        r->at++;
    return r->at > first ? true : wrong(r, "no value");
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool one_count(struct reader *r, const char *key)
{
    if (strcmp(key, "exact") != 0)
        return skip_value(r, 0);
    r->known |= 1u << r->quantity;
    return take_count(r, &r->counts[r->quantity]);
}

static bool counts_member(struct reader *r, const char *key)
{
    unsigned q;

    for (q = 0; q < SPE_DIFF_QUANTITIES; q++) {
        if (strcmp(key, spe_diff_quantity_name(q)) == 0)
            break;
    }
    if (q == SPE_DIFF_QUANTITIES)
        return skip_value(r, 0);
    r->quantity = q;
    return take_members(r, one_count);
}

static bool function_member(struct reader *r, const char *key)
{
    if (strcmp(key, "function") == 0)
        return take_string(r, r->function);
    if (strcmp(key, "dso") == 0)
        return take_string(r, r->dso);
    if (strcmp(key, "counts") == 0)
        return take_members(r, counts_member);
    return skip_value(r, 0);
}

static bool one_function(struct reader *r)
{
    int error;

    r->known = 0;
    r->function[0] = r->dso[0] = '\0';
    memset(r->counts, 0, sizeof(r->counts));
    if (!take_members(r, function_member))
        return false;
    error = spe_diff_add_exact(r->diff, r->side, r->dso, r->function, r->known, r->counts);
    if (error < 0)
        snprintf(r->why, STAT_FILE_WHY, "%s", spe_strerror(error));
    return error == SPE_OK;
}

static bool top_member(struct reader *r, const char *key)
{
    if (strcmp(key, "functions") != 0)
        return skip_value(r, 0);
    r->functions = true;
    if (!expect(r, '['))
        return false;
    while (next(r) != ']') {
        if (!one_function(r))
            return false;
        if (next(r) != ',')
            break;
        r->at++;
    }
    return expect(r, ']');
}

/* The bytes of the file, to be freed; NULL with a sentence. */
static char *read_all(FILE *f, size_t *size, char *why)
{
    char *bytes = NULL;
    size_t room = 0, got = 1;

    for (*size = 0; got; *size += got) {
        if (*size == room) {
            char *more = room < LARGEST ? realloc(bytes, room ? 2 * room : 65536) : NULL;

            if (!more) {
                snprintf(why, STAT_FILE_WHY, "%s", spe_strerror(SPE_ERR_NOMEM));
                free(bytes);
                return NULL;
            }
            bytes = more;
            room = room ? 2 * room : 65536;
        }
        got = fread(bytes + *size, 1, room - *size, f);
    }
    if (ferror(f)) {
        snprintf(why, STAT_FILE_WHY, "%s", strerror(errno));
        free(bytes);
        return NULL;
    }
    return bytes;
}

static bool read_text(struct reader *r)
{
    bool good = take_members(r, top_member) && (next(r) == '\0' || wrong(r, "more text"));

    if (good && !r->functions)
        return wrong(r, "no list of functions");
    return good && spe_diff_end_side(r->diff, r->side, NULL) == SPE_OK;
}

bool stat_file_read(const char *path, struct spe_diff *diff, unsigned side, char why[STAT_FILE_WHY])
{
    FILE *f = fopen(path, "re");
    struct reader *r = calloc(1, sizeof(*r));
    char *bytes = NULL;
    bool good = false;
    size_t size;

    why[0] = '\0';
    if (!f)
        snprintf(why, STAT_FILE_WHY, "%s", strerror(errno));
    else if (!r)
        snprintf(why, STAT_FILE_WHY, "%s", spe_strerror(SPE_ERR_NOMEM));
    else
        bytes = read_all(f, &size, why);
    if (bytes) {
        *r = (struct reader){.at = bytes, .start = bytes, .diff = diff, .side = side, .why = why};
        r->end = bytes + size;
        good = read_text(r);
    }
    free(bytes);
    free(r);
    if (f)
        fclose(f);
    return good;
}

bool is_stat_file(const char *path)
{
    struct stat st;
    FILE *f;
    int c;

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    f = fopen(path, "re");
    if (!f)
        return false;
    do
        c = getc(f);
    while (c != EOF && isspace(c));
    fclose(f);
    return c == '{';
}
