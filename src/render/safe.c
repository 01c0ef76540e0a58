/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/safe.h"

#include <stdlib.h>

#include "base/count_of.h"

bool safe_code(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        /* ascending, behind ASCII's */
        {0x007f, 0x009f},   /* DEL, C1 */
        {0x00ad, 0x00ad},   /* soft hyphen */
        {0x061c, 0x061c},   /* Arabic letter mark */
        {0x180e, 0x180e},   /* Mongolian vowel separator */
        {0x200b, 0x200f},   /* zero width; left-to-right and right-to-left marks */
        {0x2028, 0x202e},   /* separators of lines and paragraphs; embeddings and overrides */
        {0x2060, 0x206f},   /* invisible operators; isolates */
        {0xfeff, 0xfeff},   /* byte order mark */
        {0xfff9, 0xfffb},   /* annotations */
        {0xe0000, 0xe007f}, /* tags */
    };

    if (code < 0x7f)
        return code >= 0x20;
    for (size_t i = 0; i < COUNT_OF(hidden) && code >= hidden[i].first; i++) {
        if (code <= hidden[i].last)
            return false;
    }
    return true;
}

char *safe_next(char *to, const char **text)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t code;
    unsigned n = utf8_decode(*text, &code), i;

    if (n && safe_code(code)) {
        to = put_bytes(to, *text, n);
    } else {
        n = n ? n : 1;
        for (i = 0; i < n; i++) {
            unsigned char byte = (unsigned char)(*text)[i];

            to = put_bytes(to, "\\x", 2);
            *to++ = digits[byte >> 4];
            *to++ = digits[byte & 15];
        }
    }
    *text += n;
    return to;
}

char *text_safe(const char *text)
{
    char *copy = malloc(4 * strlen(text) + 1), *p = copy;

    if (!copy)
        return NULL;
    while (*text)
        p = safe_next(p, &text);
    *p = '\0';
    return copy;
}

void out_safe(struct out *o, const char *text)
{
    while (*text)
        out_advance(o, safe_next(out_room(o, SAFE_MAX + 1), &text));
}

void out_data(struct out *o, const char *text)
{
    if (o->terminal)
        out_safe(o, text);
    else
        out_string(o, text);
}
