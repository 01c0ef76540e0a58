/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/trouble.h"

#include <stdarg.h>
#include <stdio.h>

#include "qemu/channel.h"

void trouble_tell(const char *format, ...)
{
    va_list arguments;
    char text[256];

    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): version 14 does not see va_start */
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    channel_text(WIRE_TROUBLE, text);
}
