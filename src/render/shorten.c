/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/shorten.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/table.h"

/* ---- code points ----------------------------------------------------------------------------- */

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The text behind its first n code points. */
static const char *skip_points(const char *p, unsigned n)
{
    while (n > 0 && *p) {
        p++;
        while (is_continuation(*p))
            p++;
        n--;
    }
    return p;
}

static char *put_points(char *to, const char *from, unsigned n)
{
    size_t bytes = (size_t)(skip_points(from, n) - from);

    memcpy(to, from, bytes);
    return to + bytes;
}

/* The bytes that two texts have in common at their starts, in whole code points. */
static size_t common_start(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] && a[n] == b[n])
        n++;
    while (n > 0 && (is_continuation(a[n]) || is_continuation(b[n])))
        n--;
    return n;
}

/* ---- names that became the same -------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    const struct short_name *x = *(struct short_name *const *)a;
    const struct short_name *y = *(struct short_name *const *)b;
    int order = strcmp(x->text, y->text);

    return order ? order : strcmp(x->full, y->full);
}

/* Replaces the text of a name whose first difference from the others is at this byte. */
typedef bool recut(struct short_name *name, size_t difference, unsigned width);

/* Sorted by text and full name: the first and the last of a run differ first. */
static bool recut_run(struct short_name **run, size_t count, unsigned width, recut *again)
{
    size_t difference = common_start(run[0]->full, run[count - 1]->full);

    if (strcmp(run[0]->full, run[count - 1]->full) == 0)
        return true;
    for (size_t i = 0; i < count; i++) {
        if (!again(run[i], difference, width))
            return false;
    }
    return true;
}

/* Give names that differ, but whose texts do not, another text. */
static bool keep_apart(struct short_name *names, size_t count, unsigned width, recut *again)
{
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are sorted */
    struct short_name **sorted = calloc(count ? count : 1, sizeof(*sorted));
    bool good = sorted != NULL;
    size_t start = 0;

    if (!good)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &names[i];
    /* NOLINTNEXTLINE(bugprone-sizeof-expression) */
    qsort(sorted, count, sizeof(*sorted), by_text);
    for (size_t i = 1; good && i <= count; i++) {
        if (i < count && strcmp(sorted[i]->text, sorted[start]->text) == 0)
            continue;
        good = recut_run(sorted + start, i - start, width, again);
        start = i;
    }
    free(sorted);
    return good;
}

static bool replace(struct short_name *name, char *text)
{
    if (!text)
        return false;
    free(name->text);
    name->text = text;
    return true;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Without the directories of words that are paths. */
static void drop_directories(char *text)
{
    const char *from = text;
    char *to = text;

    while (*from) {
        size_t word = strcspn(from, " "), rest = word + strspn(from + word, " "), base = 0;

        for (size_t i = 0; *from == '/' && i + 1 < word; i++)
            base = from[i] == '/' ? i + 1 : base;
        from += base;
        rest -= base;
        memmove(to, from, rest);
        to += rest;
        from += rest;
    }
    *to = '\0';
}

/* What stands before the path, "..", and the directory in which it differs and all behind it. */
static bool keep_directories(struct short_name *name, size_t difference, unsigned width)
{
    size_t before = strcspn(name->full, "/");
    size_t size = strlen(name->full) + 3;
    char *text = malloc(size);

    (void)width;
    while (difference > before && name->full[difference - 1] != '/')
        difference--;
    if (text && difference > before + 2) {
        snprintf(text, size, "%.*s..%s", (int)before, name->full, name->full + difference);
    } else if (text) {
        snprintf(text, size, "%s", name->full);
    }
    return replace(name, text);
}

bool shorten_paths(struct short_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        drop_directories(names[i].text);
    return keep_apart(names, count, 0, keep_directories);
}

/* ---- any text -------------------------------------------------------------------------------- */

/* `head` code points of the start and `tail` of the end. */
static char *ends(const char *text, unsigned length, unsigned head, unsigned tail)
{
    char *cut = malloc(strlen(text) + 3), *to;

    if (!cut)
        return NULL;
    to = put_points(cut, text, head);
    *to++ = '.';
    *to++ = '.';
    to = put_points(to, skip_points(text, length - tail), tail);
    *to = '\0';
    return cut;
}

/* A part of the start, and the place in which it differs. */
static bool keep_difference(struct short_name *name, size_t difference, unsigned width)
{
    unsigned head = (width - 4) / 3, room = width - 4 - head, tail;
    const char *place = name->full + difference;
    char *text, *to;

    tail = text_width(place);
    if (text_width(name->full) <= width)
        return true;
    if (tail <= width - 2)
        return replace(name, ends(name->full, text_width(name->full), width - 2 - tail, tail));
    text = malloc(strlen(name->full) + 5);
    if (!text)
        return false;
    to = put_points(text, name->full, head);
    *to++ = '.';
    *to++ = '.';
    to = put_points(to, place, room);
    memcpy(to, "..", 3);
    return replace(name, text);
}

bool shorten_texts(struct short_name *names, size_t count, unsigned width, bool keep_start)
{
    unsigned tail = keep_start ? 0 : (width - 2) / 2;

    for (size_t i = 0; i < count; i++) {
        unsigned length = text_width(names[i].text);

        if (length > width &&
            !replace(&names[i], ends(names[i].text, length, width - 2 - tail, tail)))
            return false;
    }
    return keep_start || keep_apart(names, count, width, keep_difference);
}
