/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/export_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/export_code.h"

/* ---- which file ------------------------------------------------------------------------------ */

static bool is_file(const struct spe_profile *profile, const struct spe_profile_dso *dso)
{
    return !dso->kernel && dso->state != SPE_DSO_ANONYMOUS &&
           spe_profile_string(profile, dso->path)[0] == '/';
}

static bool is_wanted(const struct recording *recording, uint32_t pid)
{
    const struct spe_profile_options *options = &recording->options;
    size_t i;

    for (i = 0; i < options->pid_count; i++) {
        if (options->pids[i] == pid)
            return true;
    }
    return options->pid_count == 0;
}

/* The last name of a process; NULL if it is not known. */
static const char *name_of(const struct spe_profile *profile, uint32_t pid)
{
    const char *name = NULL;
    uint32_t id;

    for (id = 0; id < spe_profile_thread_count(profile); id++) {
        const struct spe_profile_thread *thread = spe_profile_thread(profile, id);

        if (thread->tid == pid && thread->comm != SPE_NO_ID)
            name = spe_profile_string(profile, thread->comm);
    }
    return name;
}

/* Of the first process that has mapped a file, the one that it is called by: the kernel keeps 15
 * bytes of the program's name. Else the first, which is the program where the kernel has mapped it,
 * and its loader where an emulator has. Also how many files there are. */
static uint32_t find_program(const struct spe_profile *profile, const struct recording *recording,
                             size_t *files)
{
    const struct spe_profile_map *first = NULL;
    const char *name = NULL;
    uint32_t id;

    for (id = 0, *files = 0; id < spe_profile_dso_count(profile); id++)
        *files += is_file(profile, spe_profile_dso(profile, id));
    for (id = 0; id < spe_profile_map_count(profile); id++) {
        const struct spe_profile_map *map = spe_profile_map(profile, id);
        const struct spe_profile_dso *dso = spe_profile_dso(profile, map->dso);

        if (!is_file(profile, dso) || !is_wanted(recording, map->pid))
            continue;
        if (!first) {
            first = map;
            name = name_of(profile, map->pid);
        }
        if (name && map->pid == first->pid &&
            strncmp(name, spe_profile_string(profile, dso->name), 15) == 0)
            return map->dso;
    }
    return first ? first->dso : SPE_NO_ID;
}

/* The first of that path, or else of that name without directories. */
static uint32_t find_named(const struct spe_profile *profile, const char *name)
{
    char *real = realpath(name, NULL);
    uint32_t by_name = SPE_NO_ID, id;

    for (id = 0; id < spe_profile_dso_count(profile); id++) {
        const struct spe_profile_dso *dso = spe_profile_dso(profile, id);
        const char *path = spe_profile_string(profile, dso->path);

        if (strcmp(path, name) == 0 || (real && strcmp(path, real) == 0))
            break;
        if (by_name == SPE_NO_ID && strcmp(spe_profile_string(profile, dso->name), name) == 0)
            by_name = id;
    }
    free(real);
    return id < spe_profile_dso_count(profile) ? id : by_name;
}

/* Its addresses are those of a file, which must be at hand. */
static bool can_be_read(struct spe_profile *profile, uint32_t dso)
{
    uint32_t id;
    uint8_t state;

    for (id = 0; id < spe_profile_map_count(profile); id++) {
        const struct spe_profile_map *map = spe_profile_map(profile, id);

        if (map->dso == dso) {
            spe_profile_find_address(profile, id, map->start);
            break;
        }
    }
    state = spe_profile_dso(profile, dso)->state;
    return state == SPE_DSO_VERIFIED || state == SPE_DSO_UNVERIFIED;
}

uint32_t export_code_dso(struct spe_profile *profile, const struct recording *recording,
                         const char *file, const char *name)
{
    size_t files = 0;
    uint32_t found = name ? find_named(profile, name) : find_program(profile, recording, &files);
    const struct spe_profile_dso *dso;
    const char *path;

    if (found == SPE_NO_ID) {
        complain(name ? name : file, name ? "no file of the recording is called that"
                                          : "the recording has no files whose code it could be");
        return SPE_NO_ID;
    }
    dso = spe_profile_dso(profile, found);
    path = spe_profile_string(profile, dso->path);
    if (!can_be_read(profile, found)) {
        dso = spe_profile_dso(profile, found);
        if (dso->warning)
            complain(file, "%s", dso->warning);
        else
            complain(path, "%s; --symfs and --debug-dir tell where files are",
                     spe_dso_state_name(dso->state));
        return SPE_NO_ID;
    }
    if (!name)
        complain(file, "the profile is of %s, one of %zu files; --dso takes another", path, files);
    return found;
}

/* ---- the work -------------------------------------------------------------------------------- */

static int add_rows(void *user, struct spe_profile *profile, struct spe_rows *rows)
{
    int result = spe_edges_add(user, profile, rows);

    return result < 0 ? result : 1;
}

static void report_counts(const char *file, const struct spe_edge_counts *c)
{
    complain(file,
             "of %" PRIu64 " samples %" PRIu64 " are of the file, %" PRIu64
             " of them branches; left out are %" PRIu64 " of other files, %" PRIu64
             " of the kernel, %" PRIu64 " without a map, %" PRIu64 " that did not retire",
             c->samples, c->inside, c->branches, c->elsewhere, c->kernel, c->no_map,
             c->not_retired);
    if (c->no_target)
        complain(file, "%" PRIu64 " taken branches do not say where to", c->no_target);
    if (c->previous_impossible)
        complain(file, "%" PRIu64 " previous targets lie behind the branch or in another file",
                 c->previous_impossible);
}

/* If nearly all taken branches have a previous target; the few others make little difference. */
static bool use_straight_on(const struct spe_edge_counts *c)
{
    return c->taken && 10 * c->previous >= 9 * c->taken;
}

/* Operations that a sample stands for: D17.3.2 has the mean intervals. 1 if nobody knows. */
static uint64_t mean_interval(const struct spe_profile_info *info)
{
    bool jitter = info->config & SPE_CONFIG_JITTER;
    bool added = info->features && !(info->features >> SPE_FEAT_SPE_ERnd & 1);

    return !info->period ? 1 : jitter && added ? info->period + 128 : info->period;
}

static int write_edges(struct spe_profile *profile, const char *file, uint32_t dso, bool autofdo,
                       const struct spe_edges *edges, struct out *o)
{
    uint64_t weight = mean_interval(spe_profile_info(profile));
    size_t n = spe_edges_count(edges);
    struct spe_edge *list = calloc(n ? n : 1, sizeof(*list));
    struct spe_code_profile *source = NULL;
    int result = list ? SPE_OK : SPE_ERR_NOMEM;

    if (list)
        spe_edges_list(edges, list);
    if (list && !autofdo)
        export_bolt(o, list, n, use_straight_on(spe_edges_counts(edges)), weight);
    else if (list)
        result = spe_code_profile_create(&source, profile, dso, list, n);
    if (source) {
        export_autofdo(o, profile, source, weight);
        if (source->no_line)
            complain(file,
                     "%" PRIu64 " samples of the file have no function or line in its debug "
                     "information",
                     source->no_line);
    }
    spe_code_profile_destroy(source);
    free(list);
    return result;
}

int export_code(struct spe_profile *profile, const char *file, uint32_t dso, bool autofdo,
                struct out *o)
{
    unsigned kinds = autofdo ? 1u << SPE_EDGE_NONE | 1u << SPE_EDGE_JUMP
                             : 1u << SPE_EDGE_JUMP | 1u << SPE_EDGE_TAKEN |
                                   1u << SPE_EDGE_NOT_TAKEN | 1u << SPE_EDGE_STRAIGHT_ON;
    struct spe_edges *edges;
    int result = spe_edges_create(&edges, dso, kinds);

    if (result == SPE_OK)
        result = recording_rows(profile, file, add_rows, edges);
    if (result == SPE_OK)
        result = write_edges(profile, file, dso, autofdo, edges, o);
    if (result == SPE_OK)
        report_counts(file, spe_edges_counts(edges));
    spe_edges_destroy(edges);
    return result;
}
