/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "launch/problem.h"

#include <stdarg.h>
#include <stdio.h>

int problem_say(struct problem *problem, int code, const char *what, const char *why, ...)
{
    va_list args;

    snprintf(problem->what, sizeof(problem->what), "%s", what);
    va_start(args, why);
    vsnprintf(problem->why, sizeof(problem->why), why, args);
    va_end(args);
    return code;
}
