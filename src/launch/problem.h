/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Why something failed: a sentence "what: why" for the user. */
#ifndef LAUNCH_PROBLEM_H
#define LAUNCH_PROBLEM_H

struct problem {
    char what[256], why[1024];
};

/* Fill *problem; returns `code`. Long texts are cut. */
int problem_say(struct problem *problem, int code, const char *what, const char *why, ...)
    __attribute__((format(printf, 4, 5)));

#endif
