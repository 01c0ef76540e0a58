/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/top.h"

#include <stdlib.h>
#include <string.h>

static char *element_at(const struct top *t, size_t i)
{
    return (char *)t->elements + i * t->size;
}

static bool is_later(const struct top *t, size_t a, size_t b)
{
    return t->order(element_at(t, a), element_at(t, b), t->user) > 0;
}

static void exchange(const struct top *t, size_t a, size_t b)
{
    char *p = element_at(t, a), *q = element_at(t, b);
    size_t i;

    for (i = 0; i < t->size; i++) {
        char c = p[i];

        p[i] = q[i];
        q[i] = c;
    }
}

static void move_up(const struct top *t, size_t i)
{
    while (i > 0 && is_later(t, i, (i - 1) / 2)) {
        exchange(t, i, (i - 1) / 2);
        i = (i - 1) / 2;
    }
}

static void move_down(const struct top *t, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= t->count)
            return;
        if (child + 1 < t->count && is_later(t, child + 1, child))
            child++;
        if (!is_later(t, child, i))
            return;
        exchange(t, child, i);
        i = child;
    }
}

void top_offer(struct top *t, const void *element)
{
    if (t->count < t->n) {
        memcpy(element_at(t, t->count), element, t->size);
        move_up(t, t->count++);
    } else if (t->n && t->order(element, t->elements, t->user) < 0) {
        memcpy(t->elements, element, t->size);
        move_down(t, 0);
    }
}

size_t top_finish(struct top *t)
{
    size_t count = t->count;

    while (t->count > 1) { /* the last goes to the end, and so on */
        exchange(t, 0, t->count - 1);
        t->count--;
        move_down(t, 0);
    }
    t->count = count;
    return count;
}
