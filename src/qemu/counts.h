/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* --stat: how often each instruction ran and what happened to it, exactly, over all threads. */
#ifndef QEMU_COUNTS_H
#define QEMU_COUNTS_H

#include "qemu/unit.h"

/* Add a thread's counts to those of the process, and clear them. */
void counts_add(struct vcpu *v);

/* Send all, and clear them. */
void counts_send(void);

/* A forked child begins with nothing. */
void counts_reset(void);

#endif
