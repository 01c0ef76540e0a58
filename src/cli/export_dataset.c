/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "cli/export_dataset.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/vector.h"
#include "cli/cli.h"

#define NAME_BYTES 64                         /* of a host or recording that go into a name */
#define NO_VALUE "__HIVE_DEFAULT_PARTITION__" /* what readers take as null */

bool dataset_is_folder(const char *output)
{
    size_t length = output ? strlen(output) : 0;
    struct stat st;

    return length && (output[length - 1] == '/' || (stat(output, &st) == 0 && S_ISDIR(st.st_mode)));
}

const char *dataset_partition(struct dataset *d, const char *list)
{
    static const char *const known[DATASET_KEYS] = {"host", "date"};

    d->key_count = 0;
    for (const char *s = list;; s++) { /* past a comma */
        size_t length = strcspn(s, ",");
        const char *key = NULL;

        for (int i = 0; i < DATASET_KEYS; i++)
            if (strlen(known[i]) == length && strncmp(known[i], s, length) == 0)
                key = known[i];
        if (!key)
            return "is not a list of host and date";
        for (int i = 0; i < d->key_count; i++)
            if (d->keys[i] == key)
                return "has a name twice";
        d->keys[d->key_count++] = key;
        s += length;
        if (!*s)
            return NULL;
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Readers of datasets leave out what begins with '.' or '_'. */
static void put_escaped(FILE *to, const char *text)
{
    for (size_t i = 0; text[i] && i < NAME_BYTES; i++) {
        unsigned char c = (unsigned char)text[i];

        if ((c < 0x80 && isalnum(c)) || c == '-' || (i && (c == '.' || c == '_')))
            putc(c, to);
        else
            fprintf(to, "%%%02X", c);
    }
}

/* Folders and .data say nothing: "runs/7/perf.data" is perf. */
static void put_base(FILE *to, const char *file)
{
    char *copy = strdup(strcmp(file, "-") == 0 ? "stdin" : file);
    size_t length = copy ? strlen(copy) : 0;
    char *slash;

    while (length > 1 && copy[length - 1] == '/') /* a folder of perf */
        copy[--length] = '\0';
    if (length > 5 && strcmp(copy + length - 5, ".data") == 0)
        copy[length - 5] = '\0';
    slash = copy ? strrchr(copy, '/') : NULL;
    put_escaped(to, slash ? slash + 1 : copy ? copy : "");
    free(copy);
}

/* The day in UTC on which the file was last written: a perf.data does not say when it was made. */
static void put_date(FILE *to, const char *file)
{
    struct stat st;
    struct tm day;

    if (strcmp(file, "-") != 0 && stat(file, &st) == 0 && gmtime_r(&st.st_mtime, &day))
        fprintf(to, "%04d-%02d-%02d", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
    else
        fputs(NO_VALUE, to);
}

static void put_key(FILE *to, const char *key, const char *host, const char *file)
{
    fprintf(to, "%s=", key);
    if (strcmp(key, "date") == 0)
        put_date(to, file);
    else if (host && *host)
        put_escaped(to, host);
    else
        fputs(NO_VALUE, to);
    putc('/', to);
}

/* NULL: no memory. */
static char *make_path(const struct dataset *d, const char *host, const char *file,
                       const char *extension, unsigned number)
{
    size_t size, length = strlen(d->folder);
    char *path = NULL;
    FILE *to = open_memstream(&path, &size);

    if (!to)
        return NULL;
    fprintf(to, "%s%s", d->folder, d->folder[length - 1] == '/' ? "" : "/");
    for (int i = 0; i < d->key_count; i++)
        put_key(to, d->keys[i], host, file);
    if (host && *host) {
        put_escaped(to, host);
        putc('-', to);
    }
    put_base(to, file);
    if (number > 1)
        fprintf(to, "-%u", number);
    fprintf(to, ".%s", extension);
    if (fclose(to) == 0)
        return path;
    free(path);
    return NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Those that are missing, up to the last slash. */
static bool make_folders(char *path)
{
    char *slash = path;
    int made = 0;

    while (made == 0 && (slash = strchr(slash + 1, '/')) != NULL) {
        *slash = '\0';
        made = mkdir(path, 0777) < 0 && errno != EEXIST ? errno : 0;
        if (made)
            complain(path, "%s", strerror(made));
        *slash = '/';
    }
    return made == 0;
}

static bool was_made(const struct dataset *d, const char *path)
{
    for (size_t i = 0; i < d->made_count; i++)
        if (strcmp(d->made[i], path) == 0)
            return true;
    return false;
}

static bool keep(struct dataset *d, char *path)
{
    if (vector_grow(&d->made, &d->made_room, d->made_count, sizeof(char *)) < 0)
        return false;
    d->made[d->made_count++] = path;
    return true;
}

const char *dataset_path(struct dataset *d, const struct spe_profile *profile, const char *file,
                         const char *extension)
{
    const char *host = spe_profile_info(profile)->hostname;
    struct stat st;
    char *path;

    for (unsigned number = 1;; number++) {
        path = make_path(d, host, file, extension, number);
        if (!path || !was_made(d, path))
            break;
        free(path);
    }
    if (!path || !keep(d, path)) {
        free(path);
        complain(file, "%s", spe_strerror(SPE_ERR_NOMEM));
        return NULL;
    }
    if (!make_folders(path))
        return NULL;
    if (lstat(path, &st) == 0) {
        complain(path, "exists already: remove it, or choose another directory");
        return NULL;
    }
    return path;
}

void dataset_free(struct dataset *d)
{
    for (size_t i = 0; i < d->made_count; i++)
        free(d->made[i]);
    free(d->made);
}
