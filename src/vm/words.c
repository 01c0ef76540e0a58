/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "vm/vm.h"

static void add(struct vm_words *w, char *word)
{
    if (vector_grow(&w->list, &w->room, w->count + 1, sizeof(char *)) < 0) { /* and NULL */
        free(word);
        w->failed = true;
        return;
    }
    w->list[w->count++] = word;
    w->list[w->count] = NULL;
    w->failed |= !word;
}

void vm_words_add(struct vm_words *w, const char *format, ...)
{
    va_list args;
    char *word;

    va_start(args, format);
    if (vasprintf(&word, format, args) < 0)
        word = NULL;
    va_end(args);
    add(w, word);
}

void vm_words_add_list(struct vm_words *w, char *const *list)
{
    for (; list && *list; list++)
        add(w, strdup(*list));
}

void vm_words_free(struct vm_words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->list[i]);
    free(w->list);
    *w = (struct vm_words){0};
}
