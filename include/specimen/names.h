/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Names of addresses: files that were mapped, their source lines, inlined functions. A
 * profile (profile.h) hands these out.
 *
 * Text (names of symbols and files) is untrusted: it is bounded in length and ends with a NUL, and
 * may hold any other byte. Escape it before you show it.
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
    uint32_t linkage;       /* string: its name for the linker, "_Z4walki" */
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

/* SPE_OK or SPE_ERR_NOMEM. A build without a disassembler library gives ".inst" for every word. */
SPE_API int spe_disassembler_create(struct spe_disassembler **disassembler);
SPE_API void spe_disassembler_destroy(struct spe_disassembler *disassembler); /* NULL is fine */

/* Never wrong: a word that the library does not know, or takes for another kind of operation than
 * our own classifier (pe.h) does, is ".inst". */
SPE_API void spe_disassemble(struct spe_disassembler *disassembler, uint64_t address, uint32_t word,
                             struct spe_code_word *out);

/* ---- Source files --------------------------------------------------------------------------- */

struct spe_text_file;

/*
 * A file by the path in debug information: below `directory`, if there is one, with as many of the
 * path's last parts as are found there; else at the path itself. Regular files only, of up to 64
 * MB. SPE_OK, SPE_ERR_UNKNOWN if there is none, SPE_ERR_NOMEM, SPE_ERR_IO, SPE_ERR_NOSPACE.
 */
SPE_API int spe_text_file_open(struct spe_text_file **source, const char *path,
                               const char *directory);
SPE_API void spe_text_file_close(struct spe_text_file *source); /* NULL is fine */

SPE_API const char *spe_text_file_path(const struct spe_text_file *source); /* that was opened */
SPE_API int64_t
spe_text_file_time(const struct spe_text_file *source); /* of its last change, seconds */
SPE_API uint32_t spe_text_file_lines(const struct spe_text_file *source);

/* Line n, from 1, without its end and at most 1000 bytes of it, into `text`; "" past the last. */
#define SPE_TEXT_LINE 1001
SPE_API void spe_text_file_line(const struct spe_text_file *source, uint32_t n,
                                char text[SPE_TEXT_LINE]);
/* ---- Types ---------------------------------------------------------------------------------- */

/* What a type is, without typedefs and qualifiers. Ids are dense; equal types have equal ids, in
 * whichever unit or file they are described. */
enum spe_type_kind {
    SPE_TYPE_OTHER, /* void, a function, or described only elsewhere: nothing lies in it */
    SPE_TYPE_BASE,
    SPE_TYPE_ENUM,
    SPE_TYPE_POINTER, /* and references */
    SPE_TYPE_STRUCT,  /* and classes */
    SPE_TYPE_UNION,
    SPE_TYPE_ARRAY,
};

struct spe_profile_type {
    uint32_t name;   /* string: "struct node", "ns::Node", "unsigned int", "char *" */
    uint8_t kind;    /* enum spe_type_kind */
    uint64_t size;   /* bytes; 0: not known */
    uint32_t target; /* of a pointer or array: the type that it points to, or of its elements;
                        SPE_NO_ID: void */
    uint64_t count;  /* elements of an array; 0: not known */
    size_t members;  /* of a struct or union */
    uint32_t dso;    /* one of the files that have it */
};

struct spe_profile_member {
    uint32_t name;     /* string; "": it has none, or it is a base class */
    uint32_t type;     /* spe_profile_type */
    uint64_t offset;   /* bytes; of a bit field: of its first byte */
    uint64_t size;     /* bytes; of a bit field: those that it touches; 0: a flexible array */
    uint8_t bit, bits; /* of a bit field: first bit in the first byte, and how many; else 0 */
    bool inherited;    /* a base class */
};

/* Why no type of the program is known for an access. */
enum spe_access_reason {
    SPE_ACCESS_KNOWN,
    SPE_ACCESS_NO_CODE,       /* the instruction lies in no file: no map, the kernel, made code */
    SPE_ACCESS_NO_FILE,       /* its file is missing, or another one than the recorded one */
    SPE_ACCESS_NO_DEBUG_INFO, /* nothing describes the function */
    SPE_ACCESS_NO_VARIABLE,   /* no variable is where the address comes from */
    SPE_ACCESS_LOST_TRACK,    /* it comes from one, but not in a way that could be followed */
    SPE_ACCESS_SAVED,     /* a register of the caller's, kept on the stack: .eh_frame says so. An
                             answer, with a type of its own: "(stack operation)" */
    SPE_ACCESS_TEMPORARY, /* another place of the stack in which no variable lies: what the
                             compiler keeps there for a while */
    SPE_ACCESS_CONSTANT,  /* an address of the file at which it has no variable: a number of the
                             compiler's, a table of addresses */
    SPE_ACCESS_NO_TYPE,   /* void *, or a type that is described only elsewhere */
    SPE_ACCESS_OUTSIDE,   /* a pointer's type has no member there */
    SPE_ACCESS_AMBIGUOUS, /* variables of different types claim it */
    SPE_ACCESS_NO_ACCESS, /* the instruction in the file does not access memory */
    SPE_ACCESS_TOO_LARGE, /* the function or its description is beyond our limits */
    SPE_ACCESS_REASONS
};

SPE_API const char *spe_access_reason_name(unsigned reason); /* "no variable" ...; never NULL */

/* The data of one load or store. */
struct spe_profile_access {
    uint8_t reason;    /* enum spe_access_reason; type, offset, member: of KNOWN and SAVED only */
    bool load, store;  /* of any: the kind of the instruction */
    bool stack;        /* of any: the address comes from the stack pointer */
    bool indexed;      /* some element of an array: offset is that of the first one */
    uint32_t type;     /* the outermost type that is known, arrays of it taken apart */
    uint64_t offset;   /* where in it */
    uint32_t size;     /* bytes, as the instruction has them; 0: not known */
    uint32_t member;   /* string: "next", "slots[].key", "u.{i,f}"; "" if the type has no members.
                          Several are in {} where the access touches them all, or where they share
                          the bytes */
    uint32_t variable; /* string: the variable that lies there; SPE_NO_ID: reached by a pointer.
                          "{a,b}": a pair of registers that goes on in b; type and member are a's */
};

/* ---- Objects -------------------------------------------------------------------------------- */

enum spe_object_kind {
    SPE_OBJECT_NONE,      /* nothing is known of the address */
    SPE_OBJECT_VARIABLE,  /* a global or static variable, of a program, a library, the kernel */
    SPE_OBJECT_STACK,     /* of a thread */
    SPE_OBJECT_HEAP,      /* [heap] */
    SPE_OBJECT_ANONYMOUS, /* memory without a file */
    SPE_OBJECT_FILE,      /* a map of a file, where it has no variable */
    SPE_OBJECT_VDSO,
    SPE_OBJECT_KERNEL, /* its memory, where it has no symbol */
    SPE_OBJECT_KINDS
};

SPE_API const char *spe_object_kind_name(unsigned kind); /* "variable" ...; never NULL */

struct spe_profile_object {
    uint8_t kind;    /* enum spe_object_kind */
    uint32_t name;   /* string: of the variable, file or memory; "" if there is none */
    uint32_t dso;    /* or SPE_NO_ID */
    uint32_t thread; /* whose stack; SPE_NO_ID: not known, or not a stack */
    uint64_t start;  /* its first byte, in memory */
    uint64_t size;   /* bytes; 0: not known */
    uint64_t offset; /* of the address in it */
    uint32_t type;   /* of a variable with debug information: spe_profile_type; else SPE_NO_ID */
};

#ifdef __cplusplus
}
#endif
#endif
