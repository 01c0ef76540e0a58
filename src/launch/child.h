/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Programs that are started and waited for. They do not live longer than we do. A signal that asks
 * us to end ends the program; it then takes effect here, or as soon as the caller does not hold it
 * any more (child_hold_signals).
 */
#ifndef LAUNCH_CHILD_H
#define LAUNCH_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct child_options {
    int output;       /* where its standard output goes; -1: where ours does */
    bool interactive; /* it has our standard input; else none */
    bool silent;      /* it has no standard error */
    unsigned seconds; /* after which it is ended; 0: never */
};

enum child_end {
    CHILD_ENDED,
    CHILD_FAILED,      /* no process: errno */
    CHILD_NOT_STARTED, /* there is no such program, or it is not one */
    CHILD_LATE,
    CHILD_ASKED, /* by a signal to us */
};

/* *status: its exit status, or 128 and the signal that ended it. */
enum child_end child_run(char *const *command, const struct child_options *options, int *status);

/* What it writes to standard output, as far as there is room, if it ends with status 0. */
enum child_end child_text(char *const *command, unsigned seconds, char *text, size_t room,
                          int *status);

/* Signals that ask us to end wait until child_let_signals: what is temporary is then removed. */
void child_hold_signals(sigset_t *before);
void child_let_signals(const sigset_t *before);
/* Has one come that waits? */
bool child_asked_to_end(void);

#endif
