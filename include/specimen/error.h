/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Errors of the whole library. A function that can fail returns a negative spe_error; zero and
 * positive results are successes, sizes or counts. Values are part of the ABI: add at the end.
 */
#ifndef SPECIMEN_ERROR_H
#define SPECIMEN_ERROR_H

#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

enum spe_error {
    SPE_OK = 0,
    SPE_ERR_TRUNCATED = -1, /* the bytes end inside a packet or record: more may follow */
    SPE_ERR_FRAMING = -2,   /* the bytes cannot be a packet: no size can be derived */
    SPE_ERR_INVALID = -3,   /* an argument is invalid */
    SPE_ERR_NOSPACE = -4,   /* the caller's buffer is too small */
    SPE_ERR_LAYOUT = -5,    /* the record has a packet without a slot in the layout */
    SPE_ERR_SIZE = -6,      /* the record is larger than the layout's maximum */
    SPE_ERR_RANGE = -7,     /* a value does not fit its field */
    SPE_ERR_UNKNOWN = -8,   /* a name (of a CPU, feature, option ...) is not known */
    SPE_ERR_NOMEM = -9,     /* out of memory */
    SPE_ERR_IO = -10,       /* a system call failed; see errno */
    SPE_ERR_FORMAT = -11,   /* the contents of a file do not match its format */
};

/* One sentence without a full stop, for any int; never NULL. */
SPE_API const char *spe_strerror(int error);

#ifdef __cplusplus
}
#endif
#endif
