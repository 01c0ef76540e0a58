/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* `spe export` for programs that draw samples. */
#ifndef CLI_EXPORT_VIEWERS_H
#define CLI_EXPORT_VIEWERS_H

#include "cli/recording.h"
#include "render/out.h"

enum viewer_format { VIEWER_PPROF, VIEWER_SPEEDSCOPE, VIEWER_FIREFOX, VIEWER_PERFETTO };

/* What the rows need for it. */
void viewer_wants(enum viewer_format format, bool lines, struct spe_profile_options *options);

/* Can it be drawn? If not, that has been said. */
bool viewer_can(struct spe_profile *profile, const char *file, enum viewer_format format);

/* Go through the rows and write the file. 0, or an error that is not reported yet. What had to be
 * left out is said, unless `quiet`. */
int export_viewer(struct spe_profile *profile, const char *file, enum viewer_format format,
                  bool latency, bool lines, bool quiet, struct out *o);

#endif
