/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which file was recorded, and how often. */
#include <stdlib.h>
#include <string.h>

#include "profile_internal.h"

#define COMM_BYTES 15 /* of a program's name, which the kernel keeps */

static bool is_file(const struct spe_profile *p, const struct spe_profile_dso *dso)
{
    return !dso->kernel && dso->state != SPE_DSO_ANONYMOUS &&
           spe_profile_string(p, dso->path)[0] == '/';
}

size_t profile_file_count(const struct spe_profile *p)
{
    size_t files = 0;

    for (uint32_t id = 0; id < spe_profile_dso_count(p); id++)
        files += is_file(p, spe_profile_dso(p, id));
    return files;
}

/* The first name of an address in it makes us open the file. */
bool profile_can_read_dso(struct spe_profile *p, uint32_t dso)
{
    uint8_t state;

    for (uint32_t id = 0; id < spe_profile_map_count(p); id++) {
        const struct spe_profile_map *map = spe_profile_map(p, id);

        if (map->dso == dso) {
            spe_profile_find_address(p, id, map->start);
            break;
        }
    }
    state = spe_profile_dso(p, dso)->state;
    return state == SPE_DSO_VERIFIED || state == SPE_DSO_UNVERIFIED;
}

static bool is_chosen(const struct spe_profile *p, uint32_t pid)
{
    for (size_t i = 0; i < p->cut_pid_count; i++) {
        if (p->cut_pids[i] == pid)
            return true;
    }
    return p->cut_pid_count == 0;
}

/* The last name of a process; NULL if it is not known. */
static const char *name_of(const struct spe_profile *p, uint32_t pid)
{
    const char *name = NULL;

    for (uint32_t id = 0; id < spe_profile_thread_count(p); id++) {
        const struct spe_profile_thread *thread = spe_profile_thread(p, id);

        if (thread->tid == pid && thread->comm != SPE_NO_ID)
            name = spe_profile_string(p, thread->comm);
    }
    return name;
}

/* The kernel maps the program before its loader, and an emulator the loader first: the name of the
 * process decides, else the order. */
uint32_t spe_profile_program(const struct spe_profile *p)
{
    const struct spe_profile_map *first = NULL;
    const char *name = NULL;

    for (uint32_t id = 0; id < spe_profile_map_count(p); id++) {
        const struct spe_profile_map *map = spe_profile_map(p, id);
        const struct spe_profile_dso *dso = spe_profile_dso(p, map->dso);

        if (!is_file(p, dso) || !is_chosen(p, map->pid))
            continue;
        if (!first) {
            first = map;
            name = name_of(p, map->pid);
        }
        if (name && map->pid == first->pid &&
            strncmp(name, spe_profile_string(p, dso->name), COMM_BYTES) == 0)
            return map->dso;
    }
    return first ? first->dso : SPE_NO_ID;
}

uint32_t spe_profile_find_dso(const struct spe_profile *p, const char *name)
{
    char *real = realpath(name, NULL);
    uint32_t by_name = SPE_NO_ID, id;

    for (id = 0; id < spe_profile_dso_count(p); id++) {
        const struct spe_profile_dso *dso = spe_profile_dso(p, id);
        const char *path = spe_profile_string(p, dso->path);

        if (strcmp(path, name) == 0 || (real && strcmp(path, real) == 0))
            break;
        if (by_name == SPE_NO_ID && strcmp(spe_profile_string(p, dso->name), name) == 0)
            by_name = id;
    }
    free(real);
    return id < spe_profile_dso_count(p) ? id : by_name;
}

/* PMSIRR_EL1.RND adds 0 to 255 operations, unless FEAT_SPE_ERnd makes them zero on average
 * (D17.3.2). Nothing is added for a CPU that is not known. */
double spe_profile_interval(const struct spe_profile *p)
{
    const struct spe_profile_info *info = &p->info;
    bool added = info->config & SPE_CONFIG_JITTER && info->features &&
                 !(info->features >> SPE_FEAT_SPE_ERnd & 1);

    return info->period ? (double)info->period + (added ? 127.5 : 0.0) : 0.0;
}
