/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What an address is called: files that were mapped, their source lines, inlined functions. A
 * profile (profile.h) hands these out.
 *
 * Text (names of symbols and files) is untrusted: it is bounded in length and ends with a NUL, and
 * may hold any other byte. Whoever shows it escapes it.
 */
#ifndef SPECIMEN_NAMES_H
#define SPECIMEN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "perfdata.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPE_NO_TASK UINT32_MAX /* pid, tid */
#define SPE_NO_ID UINT32_MAX   /* thread, comm, map, line */
#define SPE_NO_SYMBOL UINT64_MAX

/* Where a file's symbols came from. */
enum spe_dso_state {
    SPE_DSO_UNTRIED,    /* nobody asked yet */
    SPE_DSO_VERIFIED,   /* its build-id is the recording's */
    SPE_DSO_UNVERIFIED, /* there is no build-id to compare: the file at its path was taken */
    SPE_DSO_REFUSED,    /* a file was there, but it is another one: see warning */
    SPE_DSO_MISSING,    /* no file was found */
    SPE_DSO_ANONYMOUS,  /* no file: [heap], //anon ... */
};

SPE_API const char *spe_dso_state_name(unsigned state); /* "verified" ...; never NULL */

struct spe_profile_dso {
    uint32_t path;   /* string, as perf shows it: the path in the recording, [module] ... */
    uint32_t name;   /* string, without directories; [JIT] tid PID */
    uint8_t state;   /* enum spe_dso_state */
    bool kernel;     /* kernel or module */
    uint8_t id_size; /* build-id in the recording; 0: none */
    uint8_t id[SPE_PERF_BUILD_ID_MAX];
    const char *file;    /* that symbols were read from; NULL */
    const char *warning; /* why it was refused; NULL */
};

struct spe_profile_map {
    uint64_t start, end, page_offset;
    uint32_t dso;
    uint32_t pid; /* who mapped it; SPE_NO_TASK: the kernel */
};

struct spe_profile_line {
    uint32_t file; /* string */
    uint32_t line; /* 0: no line in this file */
    uint32_t dso;
};

struct spe_profile_frame {
    uint32_t function;      /* string */
    uint32_t linkage;       /* string: what the linker calls it, "_Z4walki" */
    uint32_t first_line;    /* of its declaration; 0: not known */
    uint32_t file;          /* string: where the pc is in this function */
    uint32_t line;          /* ... 0: no line in this file */
    uint32_t discriminator; /* which of several pieces of code of the line: LLVM's base
                               discriminator; 0 if another compiler made it */
    uint32_t times; /* executions that one of this code stands for: it was unrolled or vectorised
                       (LLVM's duplication factor); 1 where nothing is said */
    /* Of the one that is a symbol, in the file's own addresses: */
    uint64_t entry;      /* its first instruction; UINT64_MAX: not known */
    uint64_t start, end; /* the piece of its code that has the pc */
};

#ifdef __cplusplus
}
#endif
#endif
