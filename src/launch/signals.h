/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Signals while a program is recorded. SIGINT, SIGQUIT, SIGTERM and SIGHUP are the program's: they
 * are forwarded unless the terminal has sent them to it already, and its end ends the recording.
 * Whatever we are doing then, we end: if we do not get around to looking at a signal in
 * SIGNALS_PATIENCE seconds, because a write or an open waits for somebody, it ends us as if we had
 * never asked for it. Writing to a file that is too large, or to a pipe that nobody reads, is an
 * error like others.
 */
#ifndef LAUNCH_SIGNALS_H
#define LAUNCH_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum { SIGNALS_PATIENCE = 10 };

/* False with errno. What was ignored before stays so. */
bool signals_watch(void);
void signals_unwatch(void); /* all as before */

/* fork: the child has all as before, the parent forwards to it until it has ended. */
pid_t signals_fork(void);
void signals_child_ended(void);

/* Readable when one has come, SIGCHLD included; take it then. */
int signals_descriptor(void);
void signals_take(void);

/* SIGTERM came a second time: the program does not mind it, but we do. */
bool signals_want_end(void);

#endif
