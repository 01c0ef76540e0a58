/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Where things are: the cache, and the files that come with the command. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vm/vm.h"

int vm_cache_folder(char *out, size_t size, struct vm_error *error)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;

    if (cache && *cache == '/')
        n = snprintf(out, size, "%s/specimen/vm", cache);
    else if (home && *home)
        n = snprintf(out, size, "%s/.cache/specimen/vm", home);
    else
        return vm_fail(error, SPE_ERR_UNKNOWN, "vm",
                       "neither XDG_CACHE_HOME nor HOME says where the cache is");
    if (n < 0 || (size_t)n >= size)
        return vm_fail(error, SPE_ERR_RANGE, "vm", "the cache's path is too long");
    return 0;
}

int vm_find_file(const char *name, char *out, size_t size, struct vm_error *error)
{
    /* From the folder of the command: as installed, and in a build tree. */
    static const char *const places[] = {("../" SPECIMEN_FOLDER), "."};
    const char *told = getenv("SPECIMEN_FOLDER"), *plugin = getenv("SPECIMEN_PLUGIN");
    char self[2048];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    if (plugin && strcmp(name, VM_PLUGIN) == 0 && snprintf(out, size, "%s", plugin) < (int)size &&
        access(out, R_OK) == 0)
        return 0;
    if (told && snprintf(out, size, "%s/%s", told, name) < (int)size && access(out, R_OK) == 0)
        return 0;
    if (n > 0) {
        self[n] = '\0';
        slash = strrchr(self, '/');
        if (slash)
            *slash = '\0';
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
            if (snprintf(out, size, "%s/%s/%s", self, places[i], name) < (int)size &&
                access(out, R_OK) == 0)
                return 0;
    }
    return vm_fail(error, SPE_ERR_UNKNOWN, name,
                   "this file of Specimen's is not beside the command; is the installation whole?");
}

int vm_fetch(const char *cache, const char *version, bool again, struct vm_error *error)
{
    struct vm_words command = {0};
    char script[4096], made[4096];
    int status;

    snprintf(made, sizeof(made), version ? "%s/guest-%s" : "%s/qemu", cache, version);
    if (!again && access(made, R_OK) == 0)
        return 0;
    if (vm_find_file("fetch.sh", script, sizeof(script), error) < 0)
        return SPE_ERR_UNKNOWN;
    vm_words_add(&command, "/bin/sh");
    vm_words_add(&command, "%s", script);
    vm_words_add(&command, "%s", cache);
    vm_words_add(&command, version ? "guest" : "qemu");
    if (version)
        vm_words_add(&command, "%s", version);
    status = vm_run_program(command.list, NULL, false, 0, error);
    vm_words_free(&command);
    if (status > 0)
        return vm_fail(error, SPE_ERR_IO, version ? "guest" : "qemu",
                       "it could not be prepared in %s", cache);
    return status;
}
