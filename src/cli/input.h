/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Where the bytes come from: a file or standard input ("-"), read in pieces of a fixed size, so
 * that memory does not grow with the input. Reading beats mapping here: a mapped file counts as
 * memory in use, and one that shrinks meanwhile kills the program.
 *
 * This is the one place where other containers of SPE bytes (perf.data) will come in.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
    const char *name; /* for messages */
    int fd;
    bool size_known;
    uint64_t size;   /* of the whole input, if known */
    uint64_t offset; /* of bytes[0] in the input */
    uint8_t *bytes;  /* read and not used yet */
    size_t length;
    bool last; /* nothing follows them */
    /* private */
    uint8_t *buffer;
    bool sparse, in_hole;
    uint64_t run_end; /* where the hole or the data at the position ends */
};

/*
 * Open `path` and read its first bytes from `offset` on. With `raw` the bytes are taken as they
 * are; else a known container that cannot be read is refused. False after a complaint.
 */
bool input_open(struct input *in, const char *path, uint64_t offset, bool raw);

/* n bytes of the front are done with. */
void input_used(struct input *in, size_t n);

/* Read more behind what is left. False after a complaint. */
bool input_more(struct input *in);

void input_close(struct input *in);

#endif
