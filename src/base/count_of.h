/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef BASE_COUNT_OF_H
#define BASE_COUNT_OF_H

/* Elements of an array, not of a pointer. */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
