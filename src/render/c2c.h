/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* `spe c2c` as a page and as JSON: cache lines that travel between cores. */
#ifndef RENDER_C2C_H
#define RENDER_C2C_H

#include "render/report.h"

struct c2c {
    struct report report; /* the file, its profile, info and counts: for names and the header */
    const struct spe_sharing_result *result;
    bool line_size_given;
    bool line_size_of_model; /* the recording's model was set to it */
};

/* False if memory ran out. */
bool c2c_text(struct out *o, const struct c2c *c2c, unsigned width, bool color);
void c2c_json(struct out *o, const struct c2c *c2c);

/* ---- what the forms share ------------------------------------------------------------------- */

const char *c2c_kind_name(enum spe_sharing_kind kind);    /* "false" ... */
const char *c2c_basis_name(enum spe_sharing_basis basis); /* "data source" ... */

/* Why there is no answer: a sentence; NULL if there is one. */
const char *c2c_nothing(const struct spe_sharing_result *result);

/* The variable at an offset of a line; "" if nothing is known. */
void c2c_object_name(const struct c2c *c2c, const struct spe_shared_line *line,
                     const struct spe_shared_offset *offset, char name[REPORT_NAME]);

/* The offset that most of the line's latency is of. */
const struct spe_shared_offset *c2c_hottest(const struct spe_shared_line *line);

void c2c_function_name(const struct c2c *c2c, const struct spe_shared_user *code,
                       char name[REPORT_NAME]);
void c2c_line_name(const struct c2c *c2c, const struct spe_shared_user *code,
                   char name[REPORT_NAME]);

/* What the line is, and what would separate its users: sentences. */
#define C2C_ADVICE 1024
void c2c_advice(const struct c2c *c2c, const struct spe_shared_line *line, char text[C2C_ADVICE]);

#endif
