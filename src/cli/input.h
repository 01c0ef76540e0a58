/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Where the bytes come from: a file or standard input ("-"), read in pieces of a fixed size, so
 * that memory does not grow with the input. Reading beats mapping here: a mapped file counts as
 * memory in use, and one that shrinks meanwhile kills the program.
 *
 * Bare SPE bytes are one stream. A perf.data has one for each queue of AUX buffers, and another one
 * wherever a buffer does not continue the one before:
 *
 *     input_open(&in, ...);
 *     do
 *         while (in.length > 0) { use in.bytes; input_used(&in, n); input_more(&in); }
 *     while (input_next(&in));
 *     input_close(&in);
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spe_perf_reader;
struct spe_perf_account;

struct input {
    const char *name; /* for messages */
    int fd;
    bool size_known;
    uint64_t size;   /* of the bytes, or of the queue, if known */
    uint64_t offset; /* of bytes[0] in it */
    uint8_t *bytes;  /* read and not used yet */
    size_t length;
    bool last;   /* nothing follows them in this stream */
    bool failed; /* a complaint has been made: what follows is not known */

    /* The perf.data; a complaint has been made about what is wrong with it. */
    const struct spe_perf_account *account; /* of its bytes; NULL: these are bare SPE bytes */
    char damage[512];                       /* what is wrong with the file; "": nothing is */
    bool incomplete;                        /* its recorder did not get to the end */

    /* The stream */
    uint64_t start; /* offset of its first byte */
    bool unsynced;  /* which may be in the middle of a record */
    char title[32]; /* "CPU 3", "thread 1234"; "" for bare bytes */
    uint64_t midr;  /* of its CPU; 0: not known */

    /* private */
    uint8_t *buffer;
    bool sparse, in_hole;
    uint64_t run_end; /* where the hole or the data at the position ends */
    struct spe_perf_reader *reader;
    size_t queue, piece;     /* that are read */
    uint64_t piece_position; /* read of the piece */
};

struct command;

/* The words after the options, or perf.data. */
struct files {
    char *const *names;
    int count;
};

struct files files_of(int argc, char *const *argv);

/*
 * Open `path` and read the first bytes of its first stream, from `offset` on if they are bare. With
 * `raw` the bytes are taken as they are, whatever they look like. Else what is not a perf.data must
 * look like SPE records; an offset says that much. False after a complaint.
 */
bool input_open(struct input *in, const char *path, uint64_t offset, bool raw);

/* n bytes of the front are done with. */
void input_used(struct input *in, size_t n);

/* A stream for the bytes, to be freed; NULL after a complaint. */
struct spe_stream *input_stream(const struct input *in);

/* Read more behind what is left. False after a complaint. */
bool input_more(struct input *in);

/* The next stream, once nothing is left of this one. False if there is none. */
bool input_next(struct input *in);

void input_close(struct input *in);

#endif
