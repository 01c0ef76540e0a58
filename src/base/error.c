/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include <specimen/error.h>

#include <stddef.h>

/* Indexed by the negated error. */
static const char *const sentences[] = {
    [-SPE_OK] = "success",
    [-SPE_ERR_TRUNCATED] = "the bytes end inside a packet or record",
    [-SPE_ERR_FRAMING] = "the bytes cannot be a packet",
    [-SPE_ERR_INVALID] = "an argument is invalid",
    [-SPE_ERR_NOSPACE] = "the buffer is too small",
    [-SPE_ERR_LAYOUT] = "the record has a packet without a slot in the layout",
    [-SPE_ERR_SIZE] = "the record is larger than the layout's maximum",
    [-SPE_ERR_RANGE] = "a value does not fit its field",
    [-SPE_ERR_UNKNOWN] = "the name is not known",
    [-SPE_ERR_NOMEM] = "out of memory",
    [-SPE_ERR_IO] = "a system call failed",
    [-SPE_ERR_FORMAT] = "the contents of the file do not match its format",
};

#define SENTENCES (sizeof(sentences) / sizeof(sentences[0]))

const char *spe_strerror(int error)
{
    /* Compare before negating: -INT_MIN does not exist. */
    if (error > 0)
        return "success";
    if (error <= -(int)SENTENCES || !sentences[-error])
        return "an error that this version does not know";
    return sentences[-error];
}
