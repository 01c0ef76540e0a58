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

/* ---- Code ----------------------------------------------------------------------------------- */

/* One word of A64 code. */
struct spe_code_word {
    bool known;       /* text is an instruction; else ".inst" and the word */
    bool branch;      /* it may change the PC */
    bool has_target;  /* ... to a place that the word itself tells */
    uint64_t target;  /* ... which is this */
    const char *kind; /* "load", "store", "branch" ...; "undefined" if it is not allocated */
    char text[160];   /* "ldr x0, [x1, #0x8]" */
};

struct spe_disassembler;

/* NULL: no memory. A build without a disassembler library gives ".inst" for every word. */
SPE_API struct spe_disassembler *spe_disassembler_new(void);
SPE_API void spe_disassembler_free(struct spe_disassembler *disassembler); /* NULL is fine */

/* Never wrong: a word that the library does not know, or takes for another kind of operation than
 * our own classifier (pe.h) does, is ".inst". */
SPE_API void spe_disassemble(struct spe_disassembler *disassembler, uint64_t address, uint32_t word,
                             struct spe_code_word *out);

/* ---- Source files --------------------------------------------------------------------------- */

struct spe_source;

/*
 * A file by the path in debug information: below `directory`, if there is one, with as many of the
 * path's last parts as are found there; else at the path itself. Regular files only, of up to 64
 * MB. SPE_OK, SPE_ERR_UNKNOWN if there is none, SPE_ERR_NOMEM, SPE_ERR_IO, SPE_ERR_NOSPACE.
 */
SPE_API int spe_source_open(struct spe_source **source, const char *path, const char *directory);
SPE_API void spe_source_close(struct spe_source *source); /* NULL is fine */

SPE_API const char *spe_source_path(const struct spe_source *source); /* that was opened */
SPE_API int64_t spe_source_time(const struct spe_source *source); /* of its last change, seconds */
SPE_API uint32_t spe_source_lines(const struct spe_source *source);

/* Line n, from 1, without its end and at most 1000 bytes of it, into `text`; "" past the last. */
#define SPE_SOURCE_TEXT 1001
SPE_API void spe_source_line(const struct spe_source *source, uint32_t n,
                             char text[SPE_SOURCE_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
