/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef SPE_FORMAT_STREAM_H
#define SPE_FORMAT_STREAM_H

#include <specimen/format.h>

#include "state.h"

/* Step over padding between records at the stream's position. */
void spe_stream_take_padding(struct spe_stream *s);

#endif
