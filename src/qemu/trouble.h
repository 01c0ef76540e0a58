/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What cannot be recorded is said: a sentence for the user, by way of the launcher. */
#ifndef QEMU_TROUBLE_H
#define QEMU_TROUBLE_H

void trouble_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
