/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Where things are: the cache, and the files that come with the command. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/folders.h"
#include "vm/vm.h"

int vm_cache_folder(char *out, size_t size, struct problem *error)
{
    if (launch_cache("vm", out, size))
        return 0;
    return problem_say(error, SPE_ERR_UNKNOWN, "vm",
                       "neither XDG_CACHE_HOME nor HOME says where the cache is");
}

int vm_find_file(const char *name, char *out, size_t size, struct problem *error)
{
    const char *given = NULL;
    bool found = strcmp(name, LAUNCH_PLUGIN) == 0 ? launch_plugin(out, size, &given)
                                                  : launch_file(name, out, size);

    if (found)
        return 0;
    if (given)
        return problem_say(error, SPE_ERR_UNKNOWN, given,
                           "SPECIMEN_PLUGIN names a plugin that cannot be read");
    return problem_say(
        error, SPE_ERR_UNKNOWN, name,
        "this file of Specimen's is not beside the command; is the installation complete?");
}

int vm_fetch(const char *cache, const char *version, bool again, struct problem *error)
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
    status = vm_run_program(command.list, -1, false, 0, error);
    vm_words_free(&command);
    if (status > 0)
        return problem_say(error, SPE_ERR_IO, version ? "guest" : "qemu",
                           "it could not be prepared in %s", cache);
    return status;
}
