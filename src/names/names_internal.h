/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the files of the names room share:
 *
 *   dsos.c      files that were mapped, and where the ones with their names are; open.c
 *   symbols.c   symbols of ELF files; stripped.c: of those without a symbol table; symtab.c,
 *               demangle.c
 *   kernel.c    symbols of the kernel and its modules; jit.c: of code made at run time
 *   lines.c     source lines and inlined functions, out of DWARF; text_file.c: source files
 *   code.c      words of code; disassemble.c: as text
 *   types.c     types and members, out of DWARF; variables.c: where variables are; track.c: what
 *               loads and stores access; operands.c: what it needs of instructions; callees.c: of
 *               calls
 *
 * Symbols are read on first use, by any thread; lines by one thread only.
 */
#ifndef SPECIMEN_SRC_NAMES_INTERNAL_H
#define SPECIMEN_SRC_NAMES_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <specimen/names.h>
#include <specimen/perfdata.h>

#include "base/hash.h"
#include "base/strings.h"
#include "base/vector.h"
#include "names/budget.h"
#include "names/files.h"

/* ---- Files that were mapped ----------------------------------------------------------------- */

enum dso_kind { DSO_FILE, DSO_KERNEL, DSO_MODULE, DSO_ANONYMOUS, DSO_JIT, DSO_KSYMBOL };

enum { SYMBOL_FUNCTION = 1, SYMBOL_OBJECT = 2 };

struct symbol {
    uint64_t start, end;
    uint32_t name; /* offset in symtab.names */
    uint8_t kind, rank;
};

struct segment {
    uint64_t offset, address, size;
    uint64_t memory; /* bytes that it has there: those behind `size` (.bss) are not in the file */
};

/* Symbols of a file; does not change once it is there. */
struct symtab {
    VECTOR(struct symbol) functions; /* ascending by start */
    VECTOR(struct symbol) objects;
    VECTOR(char) names;
    VECTOR(struct segment) segments; /* where the file's bytes are in its own addresses */
    uint64_t kernel_shift;           /* what to add to the kernel's addresses in its file */
    bool relative;                   /* use segments */
    bool full;                       /* more than the budget had: names are missing */
    struct budget *budget;           /* NULL: no end */
    uint64_t taken;                  /* of it */
};

struct dso {
    uint32_t path, name; /* as they are shown */
    uint32_t mapped;     /* the path in the recording */
    uint8_t kind;
    bool several_ids; /* the recording has more than one for its path */
    bool code;        /* mapped to be executed: not only data */
    uint8_t id_size;
    uint8_t id[SPE_PERF_BUILD_ID_MAX];
    uint64_t ksymbol_start, ksymbol_size;
    uint64_t reference;      /* of the kernel: where reference_name was */
    uint32_t reference_name; /* string */
    struct spe_profile_dso shown;

    pthread_mutex_t lock;
    atomic_int loaded; /* once 1 everything below is read only */
    uint8_t state;
    char *file, *warning;
    uint8_t file_id_size; /* the build-id of the file itself: the recording may have none */
    uint8_t file_id[SPE_PERF_BUILD_ID_MAX];
    char *link; /* name of its debug file (.gnu_debuglink), or NULL */
    uint32_t link_crc;
    struct symtab symbols;

    struct lines *lines;      /* the profile's own thread only */
    struct file_types *types; /* likewise */
};

struct line_cache_entry {
    uint64_t address;
    uint32_t dso, line;
};

struct line_table {
    VECTOR(struct spe_profile_line) lines;
    struct hash_table table;
    uint64_t seed;
    struct line_cache_entry *cache;
};

struct dsos {
    VECTOR(struct dso *) list;
    struct strings *strings;
    struct budget *budget;
    char *symfs, *debug_dir, *vmlinux, *kallsyms; /* NULL: none */
    char *symfs_path;    /* absolute and without links; NULL: none, or it does not exist */
    const char *release; /* of the recorded kernel, or NULL */
    bool debuginfod;
    struct spe_perf_build_id *ids; /* of the recording */
    size_t id_count;
    bool ids_sorted;
    struct hash_table table;               /* by path, kind and build-id */
    struct kallsyms_files *kallsyms_files; /* once there is a kernel or a module */
    uint32_t kernel; /* 1 + number of the first one that is the kernel; 0: none is */
    struct line_table lines;
    struct types *types;                         /* NULL until somebody asks */
    void (*warn)(void *owner, const char *text); /* lines are missing, and why */
    void *owner;
};

#define VDSO_NAME "[vdso]"
#define DEBUG_ROOT "/usr/lib/debug" /* of installed debug files */

/* Find or add. NONE: no memory. */
uint32_t dsos_add(struct dsos *d, const char *path, bool kernel, uint64_t page_offset,
                  const uint8_t *id, size_t id_size);
/* Memory that may hold code made at run time, by its path in the recording. */
bool is_jit_memory(const char *path);
uint32_t dsos_add_jit(struct dsos *d, uint32_t pid);
uint32_t dsos_add_ksymbol(struct dsos *d, const char *name, uint64_t start, uint64_t size);
void dsos_free(struct dsos *d);

/* Read the symbols if nobody has. */
void dso_load(const struct dsos *d, struct dso *dso);
/* An address in the file's own addresses, from one in a map. */
uint64_t dso_address(const struct dso *dso, const struct spe_profile_map *map, uint64_t pc);
/* The same for an address behind the file's bytes in a map of its data, in or behind that map: the
 * program's loader puts .bss there. UINT64_MAX if it is not in .bss. */
uint64_t dso_bss_address(const struct dso *dso, const struct spe_profile_map *map,
                         uint64_t address);
/* Number of the symbol that holds the address, or NONE. */
uint32_t dso_find(const struct dso *dso, uint64_t address, unsigned kind);

/* A sentence, to be freed: something of this file was left out for its size. NULL but the first
 * time. */
char *dso_over_budget(const struct dsos *d, const struct dso *dso, const char *what);

/* Open a file of a dso: the mapped one, or the one with debug information. A descriptor, or -1;
 * *file is its name, to be freed. The first sets state and warning; what is refused by the second
 * leaves a warning in *warning if there is none yet. */
int dso_open(const struct dsos *d, struct dso *dso, char **file);
int dso_open_debug(const struct dsos *d, const struct dso *dso, char **file, char **warning);
/* Copies of /proc/kallsyms that were read. */
struct kallsyms_files *kallsyms_new(void); /* NULL: no memory */
void kallsyms_free(struct kallsyms_files *files);
/* Under their lock: the file, read now if nobody has. NULL: no memory. */
struct kallsyms *kallsyms_read(struct kallsyms_files *files, const char *path);
/* Symbols of the kernel or a module. */
void dso_load_kernel(const struct dsos *d, struct dso *dso);
/* Names of /tmp/perf-PID.map. */
void dso_load_jit(const struct dsos *d, struct dso *dso);
/* A descriptor of a regular file that is not empty, or -1. Nothing else is opened: a path out of a
 * recording may name anything. */
int dso_open_regular(const char *path);
/* Bytes of a file; fewer than asked for if it ends before. SPE_ERR_IO. */
int64_t file_read(int fd, uint64_t offset, void *bytes, size_t size);
/* As dso_open_regular, for kernel symbols, which /proc has as a file of size 0. */
FILE *dso_open_kallsyms(const char *path);
/* The same for a file where anybody may put one: it must be the user's own or root's, and not a
 * link. *why says who put something else there, else it is NULL. */
int dso_open_own(const char *path, const char **why);
/* Passes on what they return. A missing file is not reported; that it could not be opened
 * because something ran out is: names are missing then. */
int dso_opened(const struct dsos *d, int fd);
/* Text to be freed. Without memory it is NULL, and names are missing. */
char *dso_text(const struct dsos *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The path below --symfs, to be freed. */
char *dso_below(const struct dsos *d, const char *path);
int dso_open_checked(const struct dsos *d, const struct dso *dso, const char *path, uint8_t *state,
                     char **warning);
/* dir/.build-id/xx/yyyy and `rest`, to be freed; NULL without build-id or memory. */
char *build_id_path(const struct dsos *d, const char *dir, const uint8_t *id, size_t id_size,
                    const char *rest);
/* The file of a module below /lib/modules: its name, to be freed; or NULL. */
char *module_file(const struct dsos *d, const struct dso *dso);
/* "nf_tables" of "[nf_tables]" or ".../nf-tables.ko.zst". */
void module_name(const char *path, char *out, size_t size);
/* A file that debuginfod has: its name, to be freed; or NULL. */
char *debuginfod_find(const uint8_t *id, size_t id_size, bool debug);

/* Names of one file are below 4 GB, and ids have 31 bits. */
#define SYMBOL_MAX (1u << 28)

/* Returns the number of names in the static symbol table: 0 if the file is stripped. */
int symtab_read(struct symtab *t, int fd, enum dso_kind kind);
/* Functions of a stripped file, by whatever else it has: `name` is what it is called. */
int symtab_read_stripped(struct symtab *t, int fd, const char *name);
/* Lines of /tmp/perf-PID.map; SPE_ERR_NOSPACE if there were too many. */
int symtab_read_jit(struct symtab *t, FILE *file);
/* The symbols of the kernel (module "") or a module: their number, or an error. */
int symtab_take_kallsyms(struct symtab *t, const struct kallsyms *k, const char *module);
int symtab_add(struct symtab *t, const char *name, uint64_t start, uint64_t size, unsigned kind,
               unsigned rank);
int symtab_finish(struct symtab *t);
int symtab_name(struct symtab *t, const char *name, uint32_t *at);
/* Symbols with names of C++ get readable ones, unless that might take too many steps. */
int demangle(struct symtab *t, struct symbol *symbols, size_t count);
/* Not fewer than it takes to make this name readable. */
uint64_t demangle_steps(const char *name);
void symtab_free(struct symtab *t);
/* The build-id of an open ELF file: its size, 0 if it has none, or negative. */
int elf_build_id(int fd, enum dso_kind kind, uint8_t *id, size_t max, uint16_t *machine);
/* What .gnu_debuglink says: the name of the debug file, to be freed, and its CRC; or NULL. */
int elf_debuglink(int fd, char **link, uint32_t *crc);

#define SYMBOL_OF_OBJECT 0x80000000u /* in the low half of ids: objects, not functions */

/* ---- Code ----------------------------------------------------------------------------------- */

/* spe_profile_code */
int64_t dso_code(struct dsos *d, struct dso *dso, uint64_t address, uint32_t *words, uint8_t *data,
                 size_t count, const char **why);

/* ---- Lines ---------------------------------------------------------------------------------- */

uint32_t lines_find(struct dsos *d, struct dso *dso, uint32_t dso_id, uint64_t address);
/* spe_profile_inlines_at */
int lines_inlines(struct dsos *d, struct dso *dso, uint64_t address,
                  struct spe_profile_frame *frames, size_t max);
void lines_close(struct lines *lines);

#endif
