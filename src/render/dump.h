/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * One packet a line, in the layout and the words of Linux `perf script -D`, so that the two can be
 * compared with diff. docs/perf-differences.md lists where we say something else, and why.
 */
#ifndef RENDER_DUMP_H
#define RENDER_DUMP_H

#include "render/naming.h"
#include "render/out.h"

#define DUMP_OP_TEXT 47
#define DUMP_EVENT_TEXT 95

struct dump_op {
    uint8_t length;
    char text[DUMP_OP_TEXT];
};

struct dump_events {
    uint8_t length;
    char text[DUMP_EVENT_TEXT];
};

/* About 150 KB of text made once, so that a line is little more than a few copies. */
struct dump {
    struct naming naming;
    uint64_t offset;       /* of the next byte, in the input */
    uint64_t limit;        /* lines that may still be written */
    uint64_t lines;        /* written */
    uint64_t bad;          /* bytes outside packets */
    uint64_t unknown;      /* packets stepped over */
    uint64_t named_events; /* with a word of their own and nothing to add to it */
    uint64_t impdef_events, zero_events;
    struct dump_op op[4][256];
    struct dump_events events[4][256]; /* by byte of the payload; the rest have no words */
};

void dump_init(struct dump *d, const struct naming *naming, uint64_t offset, uint64_t limit);

/* The two lines that perf prints before the packets of a buffer. */
void dump_preamble(struct out *o, uint64_t size, bool size_known);

/*
 * Write the lines of the packets in bytes[0..len). Returns how many bytes were used: all if `last`
 * says that nothing follows, else perhaps some less, to be given again in front of what follows.
 * Stops early when the limit is reached or the output failed.
 */
size_t dump_packets(struct dump *d, struct out *o, const uint8_t *bytes, size_t len, bool last);

#endif
