/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "launch/option.h"

#include <stdlib.h>
#include <string.h>

char *option_value(const char *value)
{
    char *text = malloc(2 * strlen(value) + 1), *at = text;

    if (!text)
        return NULL;
    for (; *value; value++) {
        *at++ = *value;
        if (*value == ',')
            *at++ = ',';
    }
    *at = '\0';
    return text;
}
