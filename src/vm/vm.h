/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Starting a virtual machine whose processors have SPE: QEMU, the plugin in its role as a device, a
 * device tree that tells of it, and a small guest of our own. docs/vm.md.
 *
 * Functions that can fail return 0 or a negative enum spe_error and fill a struct problem.
 */
#ifndef VM_VM_H
#define VM_VM_H

#include <specimen/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "launch/problem.h"
#include "launch/qemu.h"

/* A list of strings that grows, ends with NULL and owns its strings. Running out of memory is
 * remembered and told by vm_words_failed. */
struct vm_words {
    char **list;
    size_t count, room;
    bool failed;
};

void vm_words_add(struct vm_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vm_words_add_list(struct vm_words *words, char *const *list);
void vm_words_free(struct vm_words *words);

/* ---- Files of ours --------------------------------------------------------------------------- */

/* ${XDG_CACHE_HOME:-~/.cache}/specimen/vm */
int vm_cache_folder(char *out, size_t size, struct problem *error);

/* A file that is installed or built beside the command: the plugin, or a script of this room. */
int vm_find_file(const char *name, char *out, size_t size, struct problem *error);

/* Prepare QEMU (version NULL) or a guest with that Linux in the cache, unless it is there and
 * `again` is false. */
int vm_fetch(const char *cache, const char *version, bool again, struct problem *error);

/* ---- QEMU ------------------------------------------------------------------------------------ */

struct vm_qemu {
    struct vm_words command; /* the program and what it always needs */
    char path[4096];
    struct qemu_version version;
    bool silent; /* it never said which */
};

/* The QEMU to use: `path` if it is given, else the cache's, else the one in PATH. SPE_ERR_UNKNOWN
 * if there is none that is fit. */
int vm_find_qemu(const char *path, const char *cache, struct vm_qemu *qemu, struct problem *error);
void vm_qemu_free(struct vm_qemu *qemu);

/* child_run, with a sentence for what is not a status. */
int vm_run_program(char *const *command, int output, bool interactive, unsigned seconds,
                   struct problem *error);

/* ---- Device tree ----------------------------------------------------------------------------- */

struct vm_region {
    uint64_t base, size;
};

/* The interrupt controller, as the tree tells it. */
struct vm_gic {
    int version;                  /* 2 or 3 */
    struct vm_region distributor; /* version 2 */
    struct vm_region redistributor[4];
    unsigned redistributors; /* regions; version 3 */
};

extern const bool vm_has_fdt; /* this build has libfdt; else the functions below can do nothing */

/* Read a flattened device tree of `size` bytes, aligned as malloc does it, and find the GIC.
 * SPE_ERR_INVALID if it is damaged, SPE_ERR_UNKNOWN if it has no such controller. */
int vm_fdt_gic(const uint8_t *tree, size_t size, struct vm_gic *gic);

/* The same tree with a node for the SPU of all CPUs, whose interrupt is PPI `ppi`. *out is to be
 * freed. */
int vm_fdt_add_spe(const uint8_t *tree, size_t size, const struct vm_gic *gic, unsigned cpus,
                   unsigned ppi, uint8_t **out, size_t *out_size);

/* ---- initrd ---------------------------------------------------------------------------------- */

/* A cpio archive ("newc") that Linux unpacks as its first file system. Paths have no leading /. */
struct vm_cpio {
    FILE *file;
    uint32_t inode;
    bool failed;
};

void vm_cpio_file(struct vm_cpio *cpio, const char *path, unsigned mode, const void *bytes,
                  size_t size);
int vm_cpio_copy(struct vm_cpio *cpio, const char *path, unsigned mode, const char *from,
                 struct problem *error);
int vm_cpio_tree(struct vm_cpio *cpio, const char *folder, struct problem *error);
void vm_cpio_folder(struct vm_cpio *cpio, const char *path);
void vm_cpio_device(struct vm_cpio *cpio, const char *path, unsigned major, unsigned minor);
/* The end; false if anything could not be written. Does not close the file. */
bool vm_cpio_end(struct vm_cpio *cpio);

/* ---- What comes out -------------------------------------------------------------------------- */

enum {
    VM_TAR_NAME_MAX = 4096,
    VM_TAR_AHEAD_MAX = 65536, /* headers that are about another one */
};

struct vm_tar {
    int fd;
    uint64_t at, end; /* the next header; the archive's size */
};

struct vm_tar_entry {
    char name[VM_TAR_NAME_MAX];
    bool bad_name; /* longer than that, or with a NUL: it was cut */
    char type;     /* as in the archive: '0' or NUL is a file, '5' a folder */
    unsigned mode; /* with set-id bits */
    uint64_t at, size;
};

/* The file behind fd; it stays the caller's. */
int vm_tar_open(struct vm_tar *tar, int fd, struct problem *error);
/* 1: an entry, whose bytes are in the archive; 0: the end; else the archive is damaged. */
int vm_tar_next(struct vm_tar *tar, struct vm_tar_entry *entry, struct problem *error);
/* Bytes of an entry. */
bool vm_tar_read(const struct vm_tar *tar, uint64_t at, void *bytes, size_t size);

/* Tells the user about a file: what, and what about it. Names may hold any byte. */
typedef void vm_tell(const char *what, const char *why);

struct vm_limits {
    uint64_t bytes, entries;
};

/* What a run of a command comes to. */
struct vm_outcome {
    int status;      /* the command's, -1: the guest did not say */
    bool incomplete; /* not all of the command's files came; the user has been told why */
};

/* ---- Names for recordings -------------------------------------------------------------------- */

enum { VM_KALLSYMS_MAX = 64 << 20 }; /* bytes that are taken of a guest's; Linux 6.12 has 11 MB */

/* What the guest was given, and what of it the recordings of a run name by build-id. */
struct vm_symbols {
    const char *root, *kernel; /* the guest's files and its Linux, here */
    char *const *put;          /* more files, ends with NULL; NULL: none */
    int kallsyms;              /* the guest's, ours to close; -1: it did not come */
    bool listed;
    struct vm_named *list;
    size_t count, room;
};

/* A file of the guest's: if it is a recording, note what it names. */
void vm_symbols_read(struct vm_symbols *symbols, int file);
/* Put what is named into ~/.debug, and tell so. */
void vm_symbols_keep(const struct vm_symbols *symbols, vm_tell *tell);
void vm_symbols_free(struct vm_symbols *symbols);

/* ---- Unpacking ------------------------------------------------------------------------------- */

/*
 * Unpack the archive of a guest: `status`, which is a number, and the files and folders below
 * `work`, which go into `folder`; `kallsyms` for `symbols`, which may be NULL. Nothing else comes,
 * and everything else is told. The folder must be empty and ours alone. Fails if the archive is
 * damaged, over a limit, or a file cannot be written; the files before that have come.
 */
int vm_unpack(int archive, int folder, const struct vm_limits *limits, struct vm_symbols *symbols,
              vm_tell *tell, struct vm_outcome *outcome, struct problem *error);

/* The folder that the user's files go to. */
struct vm_output {
    const char *path;
    int fd;
    bool made;                  /* by us */
    struct vm_symbols *symbols; /* of what comes; NULL: none are wanted */
};

/* Make the folder, unless it is there. */
int vm_output_open(struct vm_output *output, const char *path, struct problem *error);
/* Forget it; remove it if we made it and nothing came. */
void vm_output_close(struct vm_output *output);
/*
 * Unpack an archive into a new folder in the output, then move each name into the output itself.
 * What would replace something or is hidden stays in the new folder unless `force`, and is told; a
 * perf.data that is there becomes perf.data.old. No link in the output is followed.
 */
int vm_output_take(const struct vm_output *output, int archive, const struct vm_limits *limits,
                   bool force, vm_tell *tell, struct vm_outcome *outcome, struct problem *error);

/* ---- The machine ----------------------------------------------------------------------------- */

struct vm_options {
    const char *qemu;            /* path; NULL: find one */
    const char *kernel, *initrd; /* NULL: the fetched guest's */
    const char *append;          /* more for Linux's command line */
    const char *kernel_version;  /* of the fetched guest; NULL: 6.12 */
    const char *spe;             /* "v1p4", or a feature list; NULL: the CPU's */
    const char *cpu;             /* preset of the unit; NULL: architecture */
    const char *qemu_cpu;        /* QEMU's -cpu; NULL: by `cpu` */
    const char *model;           /* "none" or "functional" */
    const char *unit;            /* options of the unit: "name=value,..." */
    const char *output;          /* folder for the files of a run; NULL: the current one */
    const char *log;             /* file for the console of a run */
    vm_tell *tell;               /* about the files of a run */
    struct vm_limits limits;     /* of them */
    char *const *put;            /* files for the run, ends with NULL; NULL: none */
    char *const *command;        /* to run in the guest; NULL: a shell on the terminal */
    char *const *more;           /* QEMU's options, ends with NULL */
    unsigned cpus, memory_mb, timeout;
    bool el2, gic2, plain; /* plain: without the plugin, to compare */
    bool force;            /* files of a run may replace others */
    bool no_symbols;       /* leave the build-id cache alone */
    bool verbose;          /* say QEMU's command line */
};

/* Boot. A kernel of the user's has the status 0, and so has a shell that was cut off. */
int vm_boot(const struct vm_options *options, struct vm_outcome *outcome, struct problem *error);

#endif
