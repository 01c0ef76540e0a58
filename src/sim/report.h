/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Effects and rows as they are printed: text and CSV, or JSON Lines. */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "render/out.h"
#include "sim/sim.h"

#define REPORT_COLUMNS 48

struct report {
    struct out *out;
    bool json, color;
    char head[REPORT_COLUMNS][512]; /* JSON: the names of the columns */
};

/* A listener that prints to `out`; the report has to outlive the script. */
struct sim_listener report_listener(struct report *report, struct out *out, bool json, bool color);

#endif
