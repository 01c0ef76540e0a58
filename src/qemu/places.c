/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool there(char *out, size_t size, const char *folder, const char *below, const char *name)
{
    int n = snprintf(out, size, "%s%s/%s", folder, below, name);

    return n > 0 && (size_t)n < size && access(out, R_OK) == 0;
}

bool places_file(const char *name, char *out, size_t size)
{
    char self[2048];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    self[length > 0 ? length : 0] = '\0';
    slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    return there(out, size, self, "", name) ||
           there(out, size, self, "/../" SPECIMEN_FOLDER, name) || /* wherever it was moved to */
           there(out, size, places_installed(), "", name);
}

const char *places_installed(void)
{
    return SPECIMEN_INSTALLED;
}

bool places_cache(const char *name, char *out, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;

    if (cache && cache[0] == '/')
        n = snprintf(out, size, "%s/specimen/%s", cache, name);
    else if (home && home[0])
        n = snprintf(out, size, "%s/.cache/specimen/%s", home, name);
    return n > 0 && (size_t)n < size;
}
