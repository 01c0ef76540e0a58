/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef PERFDATA_OUTPUT_H
#define PERFDATA_OUTPUT_H

/* The path behind symbolic links, whether the last one's file exists or not: whoever renames to it
 * leaves the links as they are. Free it. NULL with errno. */
char *pd_follow(const char *path);

#endif
