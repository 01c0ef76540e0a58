/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What types.c, variables.c, track.c, callees.c and frames.c share. */
#ifndef NAMES_TYPES_INTERNAL_H
#define NAMES_TYPES_INTERNAL_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "names/elf_file.h"
#include "names/types.h"

/* ---- Types ---------------------------------------------------------------------------------- */

#define TYPE_DEPTH 32           /* typedefs, structs and arrays in each other */
#define TYPE_MEMBERS (1u << 20) /* of one type */
#define TYPE_MAX (1u << 24)

/* Where an offset is in an element of an array. */
static inline int64_t floor_modulo(int64_t a, uint64_t b)
{
    int64_t rest = a % (int64_t)b;

    return rest < 0 ? rest + (int64_t)b : rest;
}

struct member {
    uint64_t offset, size; /* as in spe_profile_member */
    uint32_t type, name;
    uint8_t bit, bits;
    bool inherited;
    bool discriminant; /* says which variant of the type there is (Rust) */
};

struct type {
    Dwarf_Die die;
    uint32_t dso;
    uint32_t dimension; /* of an array: how many were taken off its description */
    uint8_t kind;       /* enum spe_type_kind */
    bool reference;     /* a pointer that is written as one does not see it */
    bool listed;        /* members are */
    uint32_t given;     /* string: a typedef's name for a type without one; NONE */
    uint32_t name;      /* string, or NONE: nobody asked yet */
    uint32_t same;      /* the first type that is equal; NONE: nobody asked yet */
    uint32_t target;
    uint64_t size, count;
    VECTOR(struct member) members; /* ascending by offset */
};

struct types {
    VECTOR(struct type) list;
    struct hash_table table; /* by description */
    struct hash_table alike; /* by what they are */
    uint64_t seed;
    uint64_t taken;           /* of the budget */
    unsigned depth;           /* of types that are being described */
    uint32_t stack_operation; /* NONE: nobody asked yet */
    uint64_t common_steps;    /* of types_common(), since somebody set it to 0 */
    struct budget *budget;
};

/* All types, made on first use; NULL without memory. */
struct types *types_of(struct dsos *d);
/* The type that a description has (DW_AT_type); NONE: void, or no memory. */
uint32_t types_of_die(struct dsos *d, uint32_t dso, Dwarf_Die *die);
/* What stands for the registers that functions save, which is no type of the program. NONE: no
 * memory. */
uint32_t types_stack_operation(struct dsos *d);
/* Is a description of a unit in Rust? */
bool types_in_rust(Dwarf_Die *die);
/* A pointer to a type. NONE: no memory. */
uint32_t types_pointer(struct dsos *d, uint32_t target);
/* Never NULL: of NONE it is void. Valid until the next type is added. */
const struct type *types_at(struct dsos *d, uint32_t id);
/* Members, read now if nobody has. May add types. */
void types_list(struct dsos *d, uint32_t id);
/* The first of all equal types. */
uint32_t types_same(struct dsos *d, uint32_t id);
/* Is there a type `part` at offset in `whole`, or is it the same? */
bool types_contains(struct dsos *d, uint32_t whole, uint64_t offset, uint32_t part);

/* The struct or union that lies around the same place in two types, at the same offset: *offset is
 * that of the place in it. */
bool types_common(struct dsos *d, uint32_t a, uint64_t a_offset, uint32_t b, uint64_t b_offset,
                  uint32_t *type, uint64_t *offset);

/* What lies at an offset. */
struct type_leaf {
    uint32_t type;       /* of the innermost */
    uint64_t offset;     /* of the access in it */
    uint64_t flat;       /* ... in the whole, with first elements in place of others */
    unsigned matches;    /* 1: one member. More: several that it touches, or that share bytes */
    uint64_t array;      /* innermost array around it: offset of its first byte in the whole ... */
    uint64_t array_size; /* ... its size, and that of its elements; 0: there is none */
    uint64_t element;
};

/* What an access of a size at an offset touches. False:
 * nothing lies there, or not all of it. */
bool types_leaf(struct dsos *d, uint32_t type, uint64_t offset, uint64_t size,
                struct type_leaf *leaf);

/* The one array in a type of which an access of a size, at a multiple of stride and offset, can hit
 * elements: *offset is then in its first element. False: there is none, or more than one. */
bool types_only_array(struct dsos *d, uint32_t type, uint64_t stride, uint64_t size,
                      int64_t *offset);

/* What the pointer at an offset of a type points to, if it is described as one to `target`. Rust's
 * library keeps the elements of a Vec behind a pointer to bytes: RawVec<T> says what they are.
 * NONE: anything. */
uint32_t types_pointed(struct dsos *d, uint32_t type, uint64_t offset, uint32_t target);

/* ---- Files ---------------------------------------------------------------------------------- */

struct variable {
    uint64_t start, end;
    uint64_t part; /* offset of `start` in the variable: compilers may take it apart */
    uint32_t name, type;
};

/* A variable of threads by its symbol: descriptions do not always say where it is. */
struct tls_symbol {
    uint64_t offset, size;
    uint32_t name;
    bool several; /* variables of this name */
};

struct variables {
    struct variable *at; /* ascending by start, once sorted */
    size_t count, capacity;
};

/* A type with what is accessed in it. */
struct target {
    uint32_t type, name;
    int64_t offset;
    uint64_t stride; /* any multiple of it may be added; 0: nothing is */
    uint8_t why;     /* SPE_ACCESS_KNOWN, or why there is none */
    bool variable;   /* `name` lies there; else it is reached by a pointer */
    bool two;        /* the multiple of stride is 0 or 1 */
    uint32_t room;   /* of a variable: bytes up to its end */
    uint32_t next;   /* of a variable: the one behind it, if the access goes on in it; or NONE */
};

/* What is remembered of an instruction. */
struct known_access {
    uint64_t address;
    struct spe_profile_access access;
    struct target target;
    bool settled; /* access says all of it */
};

struct code_piece {
    uint64_t start, end;
};

/* Pointers that the loader writes, by where. */
struct relocation {
    uint64_t at, value;
    bool thread; /* value is from the thread pointer on */
};

#define RELOCATIONS_MAX (1u << 20)

/* What a function of the file does to its caller's registers. */
struct callee {
    uint64_t entry;
    uint32_t changed; /* bit n: Xn */
};

struct file_types {
    bool listed;              /* variables are */
    struct variables globals; /* by address */
    struct variables tls;     /* by offset in the thread's block */
    VECTOR(struct tls_symbol) tls_symbols;
    bool catches;       /* exceptions */
    uint64_t tls_align; /* of that block */
    VECTOR(struct relocation) relocations;
    Dwarf_CFI *cfi; /* NULL: not asked for, or not there */
    Elf *cfi_elf;   /* the file that it is of; NULL: it is of the debug information */
    bool cfi_tried;
    int fd; /* code; -1: not opened, or not there */
    bool tried;
    VECTOR(struct known_access) accesses;
    struct hash_table table; /* of them */
    VECTOR(struct callee) callees;
    struct hash_table callee_table;
    struct budget *budget;
    uint64_t taken;
};

struct file_types *file_types_of(struct dsos *d, struct dso *dso);
bool file_types_take(struct file_types *f, uint64_t bytes);

/* The variable around an address in a sorted list. */
const struct variable *variables_find(const struct variables *v, uint64_t address);
/* The mapped file, for its code and tables, opened now if nobody has. False: it is not there. */
bool file_types_open(struct dsos *d, struct dso *dso, struct file_types *f);
/* Bytes of it, by their address in the file. */
bool file_types_code(const struct dso *dso, const struct file_types *f, uint64_t address,
                     uint8_t *bytes, size_t size);
/* The file's global and static variables, read now if nobody has. */
void variables_list(struct dsos *d, uint32_t dso, struct file_types *f);

/* callees.c: registers (bit n: Xn) that a call to an address of the file may change; 0: not known
 * where it goes. AAPCS64: X19 to X29 and SP are kept. */
#define CALL_CHANGES_ALL UINT32_C(0x4007ffff)
uint32_t callees_changed(struct dsos *d, struct dso *dso, struct file_types *f, uint64_t entry);

/* frames.c: what the unwinder knows. The CFA at a pc is what the register holds, and offset. False:
 * that is not known. */
bool frames_cfa(struct dsos *d, struct dso *dso, struct file_types *f, uint64_t pc, unsigned *reg,
                int64_t *offset);

/* Where a function keeps its caller's registers, from the CFA on. */
struct saved_places {
    int64_t *at;
    size_t count, capacity;
};

int frames_saved(struct dsos *d, struct dso *dso, struct file_types *f,
                 const struct code_piece *pieces, size_t count, struct saved_places *saved);
void frames_close(struct file_types *f);

/* ---- Variables of a function ---------------------------------------------------------------- */

enum location_kind {
    LOCATION_REGISTER, /* the variable, or its part from `part` on, is what the register holds and
                          `offset` */
    LOCATION_MEMORY,   /* ... lies where the register points, and `offset` */
    LOCATION_FRAME,    /* ... lies at the CFA and `offset` */
};

struct location {
    uint64_t start, end; /* code */
    int64_t offset;
    uint64_t part, size; /* of the variable */
    uint32_t type, name;
    uint8_t kind, reg;
    bool first; /* of the function's first parameter */
};

struct locations {
    struct location *at;
    size_t count, capacity;
    uint64_t steps; /* of reading them */
    bool full;      /* more than are looked at */
};

/* Where a function's variables are, with those of inlined functions. */
int locations_list(struct dsos *d, uint32_t dso, Dwarf_Die *function, struct locations *list);

/* lines.c: the debug information of a file, or NULL; the unit and function of an address. */
Dwarf *lines_dwarf(struct dsos *d, struct dso *dso);
bool lines_function(struct dsos *d, struct dso *dso, uint64_t address, Dwarf_Die *function);

#endif
