/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Words that are not known: what they may have been meant to be, and what perf's words are here. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stddef.h>

/* The name that a misspelt word is nearest to: one that it begins, or that differs by a few
 * characters. NULL if none is near. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

/* What a command or an option ("--itrace", "-g") of perf is called here: a sentence. NULL if it is
 * not a word of perf, or has no answer. */
const char *perf_command(const char *name);
const char *perf_option(const char *command, const char *option);

/* "a, b or c" into text, which is cut if it is too long. */
void list_names(char *text, size_t size, const char *const *names, size_t count, const char *last);

#endif
