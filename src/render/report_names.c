/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What the ids of an answer are called. */
#include <inttypes.h>
#include <stdio.h>

#include "render/report.h"
#include "render/text.h"

const char *report_by_name(enum spe_group_by by)
{
    static const char *const names[SPE_BY_COUNT] = {
        [SPE_BY_FUNCTION] = "function",
        [SPE_BY_LINE] = "line",
        [SPE_BY_FUNCTION_LINE] = "symbol+source",
        [SPE_BY_DSO] = "dso",
        [SPE_BY_THREAD] = "thread",
        [SPE_BY_CPU] = "cpu",
        [SPE_BY_PROCESS] = "process",
        [SPE_BY_COMM] = "comm",
        [SPE_BY_PC] = "pc",
        [SPE_BY_CALLER] = "caller",
        [SPE_BY_FUNCTION_THREAD] = "function+thread",
        [SPE_BY_FUNCTION_PROCESS] = "function+process",
        [SPE_BY_FUNCTION_COMM] = "function+comm",
        [SPE_BY_FUNCTION_CPU] = "function+cpu",
        [SPE_BY_LINE_THREAD] = "line+thread",
        [SPE_BY_LINE_PROCESS] = "line+process",
        [SPE_BY_LINE_COMM] = "line+comm",
        [SPE_BY_LINE_CPU] = "line+cpu",
        [SPE_BY_DSO_THREAD] = "dso+thread",
        [SPE_BY_DSO_PROCESS] = "dso+process",
        [SPE_BY_DSO_COMM] = "dso+comm",
        [SPE_BY_DSO_CPU] = "dso+cpu",
    };

    return names[by];
}

const char *report_sort_name(enum spe_sort sort)
{
    static const char *const names[SPE_SORT_COUNT] = {
        [SPE_SORT_SAMPLES] = "samples", [SPE_SORT_LATENCY] = "latency",
        [SPE_SORT_L1] = "l1",           [SPE_SORT_LLC] = "llc",
        [SPE_SORT_TLB] = "tlb",         [SPE_SORT_MISPREDICTED] = "mispredicted",
    };

    return names[sort];
}

const char *report_spe_version(const struct report *report)
{
    spe_features features = report->info->features;

    if (!features)
        return NULL;
    if (features & SPE_FEAT(SPEv1p5))
        return "v1p5";
    if (features & SPE_FEAT(SPEv1p4))
        return "v1p4";
    if (features & SPE_FEAT(SPEv1p3))
        return "v1p3";
    if (features & SPE_FEAT(SPEv1p2))
        return "v1p2";
    return features & SPE_FEAT(SPEv1p1) ? "v1p1" : "v1p0";
}

const char *report_dso_name(const struct report *report, uint32_t dso)
{
    const struct spe_profile_dso *d =
        dso != SPE_NO_ID ? spe_profile_dso(report->profile, dso) : NULL;

    return d ? spe_profile_string(report->profile, d->name) : "";
}

void report_symbol_name(const struct report *report, uint64_t symbol, char name[REPORT_NAME])
{
    struct spe_profile_symbol s;

    name[0] = '\0';
    if (symbol != SPE_NO_SYMBOL && spe_profile_symbol(report->profile, symbol, &s) == SPE_OK)
        snprintf(name, REPORT_NAME, "%s", s.name);
}

/* A word that a shell might read in another way stands between apostrophes. */
static void add_word(struct text *t, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_@%+=:,./-";

    if (*word && !word[strspn(word, plain)]) {
        text_add(t, "%s", word);
        return;
    }
    text_add(t, "'");
    for (; *word; word++) {
        if (*word == '\'')
            text_add(t, "'\\'");
        text_add(t, "%c", *word);
    }
    text_add(t, "'");
}

void report_command(const struct spe_profile_info *info, char text[REPORT_COMMAND])
{
    struct text t = text_in(text, REPORT_COMMAND);

    for (size_t i = 0; i < info->command_count; i++) {
        text_add(&t, "%s", i ? " " : "");
        add_word(&t, info->command[i]);
    }
}

void report_line_name(const struct report *report, uint32_t line, char name[REPORT_NAME])
{
    struct spe_profile_line l;

    name[0] = '\0';
    if (line == SPE_NO_ID || spe_profile_line(report->profile, line, &l) != SPE_OK)
        return;
    snprintf(name, REPORT_NAME, "%s:%" PRIu32, spe_profile_string(report->profile, l.file), l.line);
}

static void thread_name(const struct report *report, uint32_t id, char name[REPORT_NAME])
{
    const struct spe_profile_thread *t =
        id != SPE_NO_ID ? spe_profile_thread(report->profile, id) : NULL;

    if (!t)
        snprintf(name, REPORT_NAME, "[unknown thread]");
    else if (t->pid == SPE_NO_TASK)
        snprintf(name, REPORT_NAME, "%s ?/%" PRIu32, spe_profile_string(report->profile, t->comm),
                 t->tid);
    else
        snprintf(name, REPORT_NAME, "%s %" PRIu32 "/%" PRIu32,
                 spe_profile_string(report->profile, t->comm), t->pid, t->tid);
}

/* The name is that of the first thread of the process that the recording names. */
static void process_name(const struct report *report, uint32_t pid, char name[REPORT_NAME])
{
    const struct spe_profile_thread *t, *found = NULL;

    for (uint32_t i = 0; (t = spe_profile_thread(report->profile, i)) != NULL; i++) {
        if (t->pid == pid && (!found || t->tid == pid))
            found = t;
        if (found && found->tid == pid)
            break;
    }
    if (pid == SPE_NO_TASK)
        snprintf(name, REPORT_NAME, "[unknown process]");
    else
        snprintf(name, REPORT_NAME, "%s %" PRIu32,
                 found ? spe_profile_string(report->profile, found->comm) : "?", pid);
}

void report_task_name(const struct report *report, enum spe_group_by by,
                      const struct spe_group *group, char name[REPORT_NAME])
{
    switch (spe_group_by_task(by)) {
    case SPE_BY_THREAD:
        thread_name(report, group->id, name);
        break;
    case SPE_BY_PROCESS:
        process_name(report, group->id, name);
        break;
    case SPE_BY_COMM:
        snprintf(name, REPORT_NAME, "%s",
                 group->id != SPE_NO_ID ? spe_profile_string(report->profile, group->id)
                                        : "[unknown thread]");
        break;
    case SPE_BY_CPU:
        snprintf(name, REPORT_NAME, group->id == SPE_NO_CPU ? "[unknown CPU]" : "CPU %" PRIu32,
                 group->id);
        break;
    default:
        name[0] = '\0';
        break;
    }
}

static void pc_name(const struct report *report, const struct spe_group *group,
                    char name[REPORT_NAME])
{
    const struct spe_profile_dso *d =
        group->dso != SPE_NO_ID ? spe_profile_dso(report->profile, group->dso) : NULL;
    const char *dso = report_dso_name(report, group->dso);

    if (!d || d->kernel || !*dso)
        snprintf(name, REPORT_NAME, "0x%" PRIx64, group->address);
    else
        snprintf(name, REPORT_NAME, "%s+0x%" PRIx64, dso, group->address);
}

/* A function, or what is known in its place. */
static void function_name(const struct report *report, const struct spe_group *group,
                          char name[REPORT_NAME])
{
    const char *dso = report_dso_name(report, group->dso);

    report_symbol_name(report, group->symbol, name);
    if (!name[0])
        snprintf(name, REPORT_NAME, "%s%s", *dso ? "[no symbol] " : "[no map]", dso);
}

static void caller_name(const struct report *report, const struct spe_group *group,
                        char name[REPORT_NAME])
{
    if (group->id == SPE_CALLER_FUNCTION)
        function_name(report, group, name);
    else
        snprintf(name, REPORT_NAME,
                 group->id == SPE_CALLER_NOBODY ? "[no caller]" : "[no call stack]");
}

void report_group_name(const struct report *report, enum spe_group_by by,
                       const struct spe_group *group, char name[REPORT_NAME])
{
    size_t length;

    if (by == SPE_BY_CALLER) {
        caller_name(report, group, name);
        return;
    }
    switch (spe_group_by_code(by)) {
    case SPE_BY_COUNT:
        report_task_name(report, by, group, name);
        return;
    case SPE_BY_PC:
        pc_name(report, group, name);
        return;
    case SPE_BY_DSO:
        snprintf(name, REPORT_NAME, "%s", report_dso_name(report, group->dso));
        if (!name[0])
            snprintf(name, REPORT_NAME, "[no map]");
        return;
    case SPE_BY_LINE:
        report_line_name(report, group->line, name);
        if (!name[0]) {
            function_name(report, group, name);
            length = strlen(name);
            snprintf(name + length, REPORT_NAME - length, " [no line]");
        }
        return;
    default:
        function_name(report, group, name);
        return;
    }
}

void report_place_name(const struct report *report, const struct spe_branch *branch,
                       char name[REPORT_NAME])
{
    const struct spe_profile_map *map =
        branch->map != SPE_NO_ID ? spe_profile_map(report->profile, branch->map) : NULL;

    report_symbol_name(report, branch->symbol, name);
    if (!name[0])
        snprintf(name, REPORT_NAME, map ? "[no symbol] %s" : "[no map]",
                 map ? report_dso_name(report, map->dso) : "");
}

void report_data_name(const struct report *report, const struct spe_data *data,
                      char name[REPORT_NAME])
{
    struct spe_profile_object object;

    name[0] = '\0';
    if (spe_profile_object(report->profile, data->thread, UINT64_MAX, data->hottest, &object) ==
        SPE_OK)
        spe_profile_object_text(report->profile, &object, 0, name, REPORT_NAME);
}
