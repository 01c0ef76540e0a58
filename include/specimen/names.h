/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Names of addresses: mapped files, source lines, inlined functions. The functions of profile.h
 * return these structs.
 *
 * Text (names of symbols and files) is untrusted: it is bounded in length and ends with a NUL, and
 * may contain any other byte. Escape it before you display it.
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
    SPE_DSO_UNTRIED,    /* not looked for yet */
    SPE_DSO_VERIFIED,   /* its build-id matches the recording */
    SPE_DSO_UNVERIFIED, /* the recording has no build-id: the file at the path is used */
    SPE_DSO_REFUSED,    /* a file was found, but it is a different one: see warning */
    SPE_DSO_MISSING,    /* no file was found */
    SPE_DSO_ANONYMOUS,  /* no file: [heap], //anon ... */
};

SPE_API const char *spe_dso_state_name(unsigned state); /* "verified" ...; never NULL */

struct spe_profile_dso {
    uint32_t path;   /* string, as in perf: the path in the recording, [module] ... */
    uint32_t name;   /* string, without directories; [JIT] tid PID */
    uint8_t state;   /* enum spe_dso_state */
    bool kernel;     /* kernel or module */
    uint8_t id_size; /* build-id in the recording; 0: none */
    uint8_t id[SPE_PERF_BUILD_ID_MAX];
    const char *file;    /* the file with the symbols, or NULL */
    const char *warning; /* why a file was refused, or NULL */
};

struct spe_profile_map {
    uint64_t start, end, page_offset;
    uint32_t dso;
    uint32_t pid; /* the process; SPE_NO_TASK: the kernel */
};

struct spe_profile_line {
    uint32_t file; /* string */
    uint32_t line; /* 0: no line in this file */
    uint32_t dso;
};

struct spe_profile_frame {
    uint32_t function;      /* string */
    uint32_t linkage;       /* string: the linkage name, "_Z4walki" */
    uint32_t first_line;    /* of its declaration; 0: not known */
    uint32_t file;          /* string: the source file of the pc in this function */
    uint32_t line;          /* its line; 0: no line in this file */
    uint32_t discriminator; /* LLVM's base discriminator, which distinguishes several blocks on one
                               line; 0 with other compilers */
    uint32_t times; /* LLVM's duplication factor: how many executions one execution of this code
                       stands for after unrolling or vectorisation; 1 if not recorded */
    /* For the function with a symbol, as addresses in the file: */
    uint64_t entry;      /* its first instruction; UINT64_MAX: not known */
    uint64_t start, end; /* the range of its code that contains the pc */
};

/* ---- Code ----------------------------------------------------------------------------------- */

/* One word of A64 code. */
struct spe_code_word {
    bool known;       /* text is an instruction; else ".inst" and the word */
    bool branch;      /* it may change the PC */
    bool has_target;  /* the target is encoded in the word */
    uint64_t target;  /* valid if has_target */
    const char *kind; /* "load", "store", "branch" ...; "undefined" if it is unallocated */
    char text[160];   /* "ldr x0, [x1, #0x8]" */
};

struct spe_disassembler;

/* SPE_OK or SPE_ERR_NOMEM. A build without a disassembler library gives ".inst" for every word. */
SPE_API int spe_disassembler_create(struct spe_disassembler **disassembler);
SPE_API void spe_disassembler_destroy(struct spe_disassembler *disassembler); /* NULL is allowed */

/* Disassemble a word. The text is ".inst" if the disassembler library does not know the word, or if
 * it decodes another kind of operation than the classifier of pe.h. */
SPE_API void spe_disassemble(struct spe_disassembler *disassembler, uint64_t address, uint32_t word,
                             struct spe_code_word *out);

/* ---- Source files --------------------------------------------------------------------------- */

struct spe_text_file;

/*
 * Open a source file by its path in debug information. If `directory` is not NULL, the file is
 * searched below it: with the full path, then with fewer and fewer leading directories. Then the
 * path itself is tried. Only regular files of up to 64 MB are opened. SPE_OK, SPE_ERR_UNKNOWN if
 * there is no such file, SPE_ERR_NOMEM, SPE_ERR_IO, SPE_ERR_NOSPACE.
 */
SPE_API int spe_text_file_open(struct spe_text_file **source, const char *path,
                               const char *directory);
SPE_API void spe_text_file_close(struct spe_text_file *source); /* NULL is allowed */

SPE_API const char *spe_text_file_path(const struct spe_text_file *source); /* of the opened file */
SPE_API int64_t
spe_text_file_time(const struct spe_text_file *source); /* modification time in seconds */
SPE_API uint32_t spe_text_file_lines(const struct spe_text_file *source);

/* Copy line n (from 1) to `text`, without its line end, at most 1000 bytes; "" past the last line.
 */
#define SPE_TEXT_LINE 1001
SPE_API void spe_text_file_line(const struct spe_text_file *source, uint32_t n,
                                char text[SPE_TEXT_LINE]);
/* ---- Types ---------------------------------------------------------------------------------- */

/* The kind of a type, without typedefs and qualifiers. Type ids are dense. Equal types have equal
 * ids, even if different compilation units or files describe them. */
enum spe_type_kind {
    SPE_TYPE_OTHER, /* void, a function, or an incomplete type: it has no members */
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
    uint32_t target; /* of a pointer: the type that it points to; of an array: the type of its
                        elements; SPE_NO_ID: void */
    uint64_t count;  /* elements of an array; 0: not known */
    size_t members;  /* of a struct or union */
    uint32_t dso;    /* one of the files that describe it */
};

struct spe_profile_member {
    uint32_t name;     /* string; "": no name, or a base class */
    uint32_t type;     /* spe_profile_type */
    uint64_t offset;   /* bytes; of a bit field: of its first byte */
    uint64_t size;     /* bytes; of a bit field: the bytes that it touches; 0: a flexible array */
    uint8_t bit, bits; /* of a bit field: first bit in the first byte, number of bits; else 0 */
    bool inherited;    /* a base class */
};

/* Why no type of the program is known for an access. */
enum spe_access_reason {
    SPE_ACCESS_KNOWN,
    SPE_ACCESS_NO_CODE,       /* the instruction is not in a file: no map, the kernel, JIT code */
    SPE_ACCESS_NO_FILE,       /* its file is missing, or is not the recorded one */
    SPE_ACCESS_NO_DEBUG_INFO, /* no debug information describes the function */
    SPE_ACCESS_NO_VARIABLE,   /* no variable holds the base of the address */
    SPE_ACCESS_LOST_TRACK,    /* the address comes from a variable, but in a way that could not be
                                 followed */
    SPE_ACCESS_SAVED,         /* a register of the caller that is saved on the stack, according to
                                 .eh_frame. An answer, with a type of its own: "(stack operation)" */
    SPE_ACCESS_TEMPORARY, /* another stack slot without a variable: a temporary of the compiler */
    SPE_ACCESS_CONSTANT,  /* an address in the file without a variable: a literal of the compiler, a
                             table of addresses */
    SPE_ACCESS_NO_TYPE,   /* void *, or an incomplete type */
    SPE_ACCESS_OUTSIDE,   /* the pointer's type has no member at the offset */
    SPE_ACCESS_AMBIGUOUS, /* variables of different types are possible */
    SPE_ACCESS_NO_ACCESS, /* the instruction in the file does not access memory */
    SPE_ACCESS_TOO_LARGE, /* the function or its debug information exceeds a limit */
    SPE_ACCESS_REASONS
};

SPE_API const char *spe_access_reason_name(unsigned reason); /* "no variable" ...; never NULL */

/* The data of one load or store. */
struct spe_profile_access {
    uint8_t reason;    /* enum spe_access_reason; type, offset and member are valid for
                          SPE_ACCESS_KNOWN and _SAVED only */
    bool load, store;  /* always valid: the kind of the instruction */
    bool stack;        /* always valid: the address comes from the stack pointer */
    bool indexed;      /* an unknown element of an array: offset is that of the first element */
    uint32_t type;     /* the outermost known type, without array dimensions */
    uint64_t offset;   /* of the access in the type */
    uint32_t size;     /* bytes that the instruction accesses; 0: not known */
    uint32_t member;   /* string: "next", "slots[].key", "u.{i,f}"; "" if the type has no members.
                          Members in {} are all accessed, or share the bytes */
    uint32_t variable; /* string: the variable; SPE_NO_ID: accessed through a pointer.
                          "{a,b}": a pair of registers that continues in b; type and member are
                          those of a */
};

/* ---- Objects -------------------------------------------------------------------------------- */

enum spe_object_kind {
    SPE_OBJECT_NONE,      /* nothing is known about the address */
    SPE_OBJECT_VARIABLE,  /* a global or static variable of a program, a library or the kernel */
    SPE_OBJECT_STACK,     /* of a thread */
    SPE_OBJECT_HEAP,      /* [heap] */
    SPE_OBJECT_ANONYMOUS, /* memory without a file */
    SPE_OBJECT_FILE,      /* a mapped file, at an address without a variable */
    SPE_OBJECT_VDSO,
    SPE_OBJECT_KERNEL, /* kernel memory without a symbol */
    SPE_OBJECT_KINDS
};

SPE_API const char *spe_object_kind_name(unsigned kind); /* "variable" ...; never NULL */

struct spe_profile_object {
    uint8_t kind;    /* enum spe_object_kind */
    uint32_t name;   /* string: name of the variable, file or memory; or "" */
    uint32_t dso;    /* or SPE_NO_ID */
    uint32_t thread; /* the thread of the stack; SPE_NO_ID: not known, or not a stack */
    uint64_t start;  /* address of its first byte */
    uint64_t size;   /* bytes; 0: not known */
    uint64_t offset; /* of the address in it */
    uint32_t type;   /* of a variable with debug information: spe_profile_type; else SPE_NO_ID */
};

#ifdef __cplusplus
}
#endif
#endif
