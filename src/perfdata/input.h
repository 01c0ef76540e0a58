/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Bytes at an offset, whatever they are in. Memory and mapped files hand out pointers; files that
 * are read have a window that moves; pipes have one that moves forward only.
 */
#ifndef PERFDATA_INPUT_H
#define PERFDATA_INPUT_H

#include <specimen/perfdata.h>

enum pd_input_kind { PD_MEMORY, PD_FILE, PD_STREAM };

struct pd_input {
    enum pd_input_kind kind;
    const uint8_t *memory; /* PD_MEMORY */
    bool mapped;
    bool own_fd;
    int fd;
    struct spe_perf_input input; /* PD_STREAM without a descriptor */
    uint64_t size;               /* UINT64_MAX until it is known */
    uint8_t *window;             /* the others: bytes at window_offset */
    uint64_t window_offset;      /* mapped: from here on pages are in use */
    size_t window_fill;
};

/* Open a file to read, or the file "data" of a directory, which is what `perf record --kcore`
 * makes. -1 with a sentence in *why. */
int pd_open_path(const char *path, const char **why);

int pd_input_open_fd(struct pd_input *s, int fd, bool map);
void pd_input_open_memory(struct pd_input *s, const void *bytes, size_t size);
int pd_input_open_input(struct pd_input *s, const struct spe_perf_input *input);
void pd_input_close(struct pd_input *s);

/* Bytes at an offset, one behind the other: up to `size`, which for windows is at most PD_WINDOW.
 * Fewer only at the end. A stream goes forward only. Returns their number or SPE_ERR_IO; they are
 * valid until the next call. */
int64_t pd_input_at(struct pd_input *s, uint64_t offset, size_t size, const uint8_t **bytes);

/* The rest without moving the window (PD_MEMORY and PD_FILE); thread-safe. */

/* Copy bytes. */
int64_t pd_input_read(const struct pd_input *s, uint64_t offset, void *bytes, size_t size);

/* Bytes where they are, or read to the buffer. A mapped file is read only if there is a buffer. */
int64_t pd_input_take(const struct pd_input *s, uint64_t offset, void *buffer, size_t size,
                      const uint8_t **bytes);

/* Nobody needs these bytes soon: pages of a mapped file do not stay in memory for them. */
void pd_input_done(const struct pd_input *s, uint64_t offset, uint64_t size);
/* The same of bytes within the file that were read out of its order. With the first and the last of
 * them the kernel mapped pages of their neighbours, who may be done already: these go, too. */
void pd_input_done_around(const struct pd_input *s, uint64_t offset, uint64_t size);

#endif
