/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/export_code.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/edges.h"
#include "profile/program.h"
#include "render/export_code.h"

/* ---- which file ------------------------------------------------------------------------------ */

uint32_t export_code_dso(struct spe_profile *profile, const char *file, const char *name)
{
    uint32_t found = name ? spe_profile_find_dso(profile, name) : spe_profile_program(profile);
    const struct spe_profile_dso *dso;
    const char *path;

    if (found == SPE_NO_ID) {
        complain(name ? name : file, name ? "no file of the recording is called that"
                                          : "the recording has no program or library");
        return SPE_NO_ID;
    }
    dso = spe_profile_dso(profile, found);
    path = spe_profile_string(profile, dso->path);
    if (!profile_can_read_dso(profile, found)) {
        dso = spe_profile_dso(profile, found);
        if (dso->warning)
            complain(file, "%s", dso->warning);
        else
            complain(path, "%s; --symfs and --debug-dir name directories to look in",
                     spe_dso_state_name(dso->state));
        return SPE_NO_ID;
    }
    if (!name)
        complain(file, "the profile is of %s, one of %zu files; --dso takes another", path,
                 profile_file_count(profile));
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

static int write_edges(struct spe_profile *profile, const char *file, uint32_t dso, bool autofdo,
                       const struct spe_edges *edges, struct out *o)
{
    double interval = spe_profile_interval(profile);
    uint64_t weight = interval > 0.0 ? (uint64_t)llround(interval) : 1;
    size_t n = spe_edges_count(edges);
    struct spe_edge *list = calloc(n ? n : 1, sizeof(*list));
    struct spe_code_profile *source = NULL;
    int result = list ? SPE_OK : SPE_ERR_NOMEM;

    if (list)
        spe_edges_list(edges, list);
    if (list && !autofdo)
        export_bolt(o, list, n, edges_know_previous(spe_edges_counts(edges)), weight);
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
