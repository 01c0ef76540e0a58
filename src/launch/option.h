/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Words of QEMU's command line that hold several values, for those who start QEMU. */
#ifndef LAUNCH_OPTION_H
#define LAUNCH_OPTION_H

/* A value as QEMU wants it in "name=value,name=value": it takes a comma for the value's end, and
 * two for one. To be freed; NULL: out of memory. */
char *option_value(const char *value);

#endif
