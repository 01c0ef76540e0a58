/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "base/utf8.h"

unsigned utf8_decode(const char *text, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* by length: not overlong */
    const unsigned char *s = (const unsigned char *)text;
    unsigned n, i;

    *code = s[0];
    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xc0 || s[0] > 0xf7)
        return 0;
    n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    *code = s[0] & (0x7fu >> n);
    for (i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3f);
    }
    if (*code < least[n] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
        return 0;
    return n;
}
