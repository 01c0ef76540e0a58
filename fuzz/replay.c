/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Feeds kept inputs to one fuzz target without a fuzzer: every regular file of the files and
 * folders on the command line, folders included, in the order of their names. Fails when a path
 * cannot be read or when there was nothing to replay, so that a lost corpus does not pass for a
 * good one.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long replayed;

static int complain(const char *path)
{
    fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
    return -1;
}

static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return complain(path);

    /* Exactly the input's size, so that a sanitizer sees the first byte beyond it. */
    uint8_t *data = malloc(size ? size : 1);
    size_t got = data ? fread(data, 1, size, file) : 0;
    int result = 0;
    if (!data || got != size)
        result = complain(path);
    fclose(file);

    if (result == 0) {
        if (getenv("REPLAY_VERBOSE"))
            fprintf(stderr, "replay: %s\n", path);
        LLVMFuzzerTestOneInput(data, size);
        replayed++;
    }
    free(data);
    return result;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return complain(path);
    if (S_ISREG(st.st_mode))
        return replay_file(path, (size_t)st.st_size);
    if (!S_ISDIR(st.st_mode))
        return 0;

    struct dirent **entries;
    int n = scandir(path, &entries, visible, alphasort);
    if (n < 0)
        return complain(path);

    int result = 0;
    for (int i = 0; i < n; i++) {
        char child[4096];
        int len = snprintf(child, sizeof(child), "%s/%s", path, entries[i]->d_name);
        if (len < 0 || (size_t)len >= sizeof(child)) {
            errno = ENAMETOOLONG;
            result = complain(path);
        } else if (replay_path(child) != 0) {
            result = -1;
        }
        free(entries[i]);
    }
    free(entries);
    return result;
}

int main(int argc, char **argv)
{
    int result = 0;
    for (int i = 1; i < argc; i++)
        if (replay_path(argv[i]) != 0)
            result = -1;

    printf("%lu inputs replayed\n", replayed);
    if (replayed == 0)
        fprintf(stderr, "replay: no inputs: give files or folders that hold some\n");
    return result == 0 && replayed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
