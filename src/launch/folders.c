/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "launch/folders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count_of.h"

static bool there(char *out, size_t size, const char *folder, const char *below, const char *name)
{
    int n = snprintf(out, size, "%s%s/%s", folder, below, name);

    return n > 0 && (size_t)n < size && access(out, R_OK) == 0;
}

bool launch_file(const char *name, char *out, size_t size)
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
           there(out, size, launch_installed(), "", name);
}

const char *launch_installed(void)
{
    return SPECIMEN_INSTALLED;
}

bool launch_cache(const char *name, char *out, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;

    if (cache && cache[0] == '/')
        n = snprintf(out, size, "%s/specimen/%s", cache, name);
    else if (home && home[0])
        n = snprintf(out, size, "%s/.cache/specimen/%s", home, name);
    return n > 0 && (size_t)n < size;
}

bool launch_plugin(char *out, size_t size, const char **given)
{
    *given = getenv("SPECIMEN_PLUGIN");
    if (!*given || !**given) {
        *given = NULL;
        return launch_file(LAUNCH_PLUGIN, out, size);
    }
    return snprintf(out, size, "%s", *given) < (int)size && access(*given, R_OK) == 0;
}

bool launch_is_program(const char *path)
{
    struct stat st;

    return access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The first of the directories in PATH that has it. */
bool launch_find_program(const char *name, char found[PATH_MAX])
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return snprintf(found, PATH_MAX, "%s", name) < PATH_MAX && access(found, F_OK) == 0;
    for (path = path ? path : "/usr/bin:/bin"; *path;) {
        int length = (int)strcspn(path, ":");

        if (snprintf(found, PATH_MAX, "%.*s/%s", length, path, name) < PATH_MAX &&
            launch_is_program(found))
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

void launch_sysroot(const char *given, char found[PATH_MAX])
{
    static const char *const folders[] = {
        "/usr/aarch64-linux-gnu",                  /* Debian's and Ubuntu's cross packages */
        "/usr/aarch64-redhat-linux/sys-root",      /* Fedora's */
        "/usr/aarch64-suse-linux/sys-root",        /* openSUSE's */
        "/usr/aarch64-linux-gnu/sys-root",         /* Gentoo's, Arch's */
        "/usr/aarch64-unknown-linux-gnu/sys-root", /* crosstool's */
        "/usr/aarch64-linux-musl",
    };
    const char *prefix = getenv("QEMU_LD_PREFIX");
    char loader[PATH_MAX];

    if (!given && prefix && prefix[0])
        given = prefix;
    if (given) {
        snprintf(found, PATH_MAX, "%s", given);
        return;
    }
    found[0] = '\0';
    if (access("/lib/ld-linux-aarch64.so.1", F_OK) == 0) /* multiarch, or this is AArch64 */
        return;
    for (unsigned i = 0; i < COUNT_OF(folders); i++) {
        snprintf(loader, sizeof(loader), "%s/lib", folders[i]);
        if (access(loader, F_OK) == 0) {
            snprintf(found, PATH_MAX, "%s", folders[i]);
            return;
        }
    }
}
