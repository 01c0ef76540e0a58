/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdint.h>

/* The code point that a text begins with: its bytes; 0 if there is none that is UTF-8. */
unsigned utf8_decode(const char *text, uint32_t *code);

#endif
