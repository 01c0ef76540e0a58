/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Files by build-id from the servers of $DEBUGINFOD_URLS, through elfutils' client library if it is
 * there. */
#include <dlfcn.h>
#include <unistd.h>

#include "names_internal.h"

struct debuginfod {
    void *library;
    void *(*begin)(void);
    void (*end)(void *client);
    int (*executable)(void *client, const unsigned char *id, int size, char **path);
    int (*debuginfo)(void *client, const unsigned char *id, int size, char **path);
};

static bool load_debuginfod(struct debuginfod *d)
{
    d->library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!d->library)
        return false;
    /* POSIX has it that dlsym gives functions as well; ISO C has no way to write it. */
    *(void **)&d->begin = dlsym(d->library, "debuginfod_begin");
    *(void **)&d->end = dlsym(d->library, "debuginfod_end");
    *(void **)&d->executable = dlsym(d->library, "debuginfod_find_executable");
    *(void **)&d->debuginfo = dlsym(d->library, "debuginfod_find_debuginfo");
    return d->begin && d->end && d->executable && d->debuginfo;
}

char *debuginfod_find(const uint8_t *id, size_t id_size, bool debug)
{
    struct debuginfod d = {0};
    char *path = NULL;
    void *client;
    int fd;

    if (load_debuginfod(&d) && (client = d.begin())) {
        fd = (debug ? d.debuginfo : d.executable)(client, id, (int)id_size, &path);
        if (fd >= 0)
            close(fd);
        else
            path = NULL;
        d.end(client);
    }
    if (d.library)
        dlclose(d.library);
    return path;
}
