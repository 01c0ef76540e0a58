/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Where the tables of many recordings go: a folder with a file for each. */
#ifndef CLI_EXPORT_DATASET_H
#define CLI_EXPORT_DATASET_H

#include <specimen/profile.h>
#include <stdbool.h>

#define DATASET_KEYS 2

struct dataset {
    const char *folder;
    const char *keys[DATASET_KEYS]; /* of --partition: "host", "date" */
    int key_count;
    char **made; /* paths of this call, so that two recordings of one name are two files */
    size_t made_count, made_room;
};

/* Does -o mean a folder? It ends with a slash, or is one. */
bool dataset_is_folder(const char *output);

/* The list of --partition. NULL, or a sentence about what is wrong. */
const char *dataset_partition(struct dataset *d, const char *list);

/*
 * The path for a recording: FOLDER/[host=HOST/][date=DATE/]HOST-NAME.EXTENSION, with its folders
 * made. It is free, and valid until dataset_free. NULL after a complaint.
 *
 * Names come out of the recording, so every byte that could mean something to a file system, a
 * shell or a reader of datasets is written as %NN, as Hive does.
 */
const char *dataset_path(struct dataset *d, const struct spe_profile *profile, const char *file,
                         const char *extension);

void dataset_free(struct dataset *d);

#endif
