/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Flattened device trees, version 17: a header, a block of tokens (begin and end of nodes,
 * properties) and a block of strings with the properties' names; all numbers are big-endian.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "vm/vm.h"

#define FDT_MAGIC UINT32_C(0xd00dfeed)
enum { FDT_BEGIN_NODE = 1, FDT_END_NODE, FDT_PROP, FDT_NOP, FDT_END = 9 };

/* Places in the header. */
enum {
    H_MAGIC = 0,
    H_TOTAL = 4,
    H_STRUCT = 8,
    H_STRINGS = 12,
    H_RESERVED = 16,
    H_STRINGS_SIZE = 32,
    H_STRUCT_SIZE = 36,
    HEADER_SIZE = 40
};

struct tree {
    const uint8_t *bytes, *tokens, *strings;
    uint32_t size, tokens_size, strings_size;
};

static uint32_t be32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return be32toh(v);
}

static void put32(uint8_t *p, uint32_t v)
{
    v = htobe32(v);
    memcpy(p, &v, sizeof(v));
}

static uint32_t padded(uint32_t n)
{
    return (n + 3) & ~UINT32_C(3);
}

static bool block(const struct tree *t, unsigned place, unsigned size_place, const uint8_t **bytes,
                  uint32_t *size)
{
    uint32_t offset = be32(t->bytes + place);

    *size = be32(t->bytes + size_place);
    *bytes = t->bytes + offset;
    return offset <= t->size && *size <= t->size - offset;
}

static int open_tree(const uint8_t *bytes, size_t size, struct tree *t)
{
    *t = (struct tree){.bytes = bytes};
    if (size < HEADER_SIZE || be32(bytes) != FDT_MAGIC)
        return SPE_ERR_INVALID;
    t->size = be32(bytes + H_TOTAL);
    if (t->size > size || t->size < HEADER_SIZE || be32(bytes + H_RESERVED) > t->size ||
        !block(t, H_STRUCT, H_STRUCT_SIZE, &t->tokens, &t->tokens_size) ||
        !block(t, H_STRINGS, H_STRINGS_SIZE, &t->strings, &t->strings_size) ||
        t->strings_size == 0 || t->strings[t->strings_size - 1] != 0 || t->tokens_size % 4)
        return SPE_ERR_INVALID;
    return 0;
}

struct token {
    uint32_t kind;
    uint32_t at;          /* its place */
    const char *name;     /* of a property */
    const uint8_t *value; /* of a property */
    uint32_t size;
};

/* The token at *at, and *at behind it; false at a damaged one and past the end. */
static bool next_token(const struct tree *t, uint32_t *at, struct token *k)
{
    uint32_t left, length, name;

    if (*at >= t->tokens_size)
        return false;
    *k = (struct token){.kind = be32(t->tokens + *at), .at = *at};
    *at += 4;
    left = t->tokens_size - *at;
    if (k->kind == FDT_BEGIN_NODE) {
        length = (uint32_t)strnlen((const char *)t->tokens + *at, left);
        if (length == left)
            return false;
        *at += padded(length + 1);
    } else if (k->kind == FDT_PROP) {
        if (left < 8)
            return false;
        length = be32(t->tokens + *at);
        name = be32(t->tokens + *at + 4);
        if (length > left - 8 || name >= t->strings_size)
            return false;
        k->name = (const char *)t->strings + name;
        k->value = t->tokens + *at + 8;
        k->size = length;
        *at += 8 + padded(length);
    }
    return true;
}

static bool lists(const struct token *k, const char *word)
{
    const char *p = (const char *)k->value, *end = p + k->size;

    for (; p < end; p += strnlen(p, (size_t)(end - p)) + 1)
        if (strncmp(p, word, (size_t)(end - p)) == 0)
            return true;
    return false;
}

/* Addresses and sizes of the virt machine have two cells each. */
static unsigned regions_of(const struct token *reg, struct vm_region *regions, unsigned max)
{
    unsigned n = 0;

    for (uint32_t i = 0; i + 16 <= reg->size && n < max; i += 16, n++) {
        const uint8_t *p = reg->value + i;

        regions[n].base = (uint64_t)be32(p) << 32 | be32(p + 4);
        regions[n].size = (uint64_t)be32(p + 8) << 32 | be32(p + 12);
    }
    return n;
}

/* A node's properties come before its children: `compatible` and `reg` of one node follow each
 * other with no BEGIN_NODE between. */
int vm_fdt_gic(const uint8_t *tree, size_t size, struct vm_gic *gic)
{
    struct vm_region regions[6];
    unsigned count = 0, redistributor_regions = 1;
    int version = 0;
    struct tree t;
    struct token k;
    uint32_t at = 0;

    memset(gic, 0, sizeof(*gic));
    if (open_tree(tree, size, &t) < 0)
        return SPE_ERR_INVALID;
    while (next_token(&t, &at, &k) && k.kind != FDT_END) {
        if (k.kind == FDT_BEGIN_NODE || k.kind == FDT_END_NODE) {
            if (version && count)
                break;
            version = 0;
            count = 0;
            redistributor_regions = 1;
        } else if (k.kind == FDT_PROP && strcmp(k.name, "compatible") == 0) {
            version = lists(&k, "arm,gic-v3")                                       ? 3
                      : lists(&k, "arm,cortex-a15-gic") || lists(&k, "arm,gic-400") ? 2
                                                                                    : 0;
        } else if (k.kind == FDT_PROP && strcmp(k.name, "reg") == 0) {
            count = regions_of(&k, regions, 6);
        } else if (k.kind == FDT_PROP && strcmp(k.name, "#redistributor-regions") == 0 &&
                   k.size == 4) {
            redistributor_regions = be32(k.value);
        }
    }
    if (!version || !count || (version == 3 && count < 2))
        return SPE_ERR_UNKNOWN;
    gic->version = version;
    gic->distributor = regions[0];
    if (version == 3)
        for (unsigned i = 1; i < count && i <= redistributor_regions && i <= 4; i++)
            gic->redistributor[gic->redistributors++] = regions[i];
    return 0;
}

/* The place of a property's name among the strings. */
static bool find_string(const struct tree *t, const char *name, uint32_t *place)
{
    for (uint32_t i = 0; i < t->strings_size;
         i += (uint32_t)strlen((const char *)t->strings + i) + 1)
        if (strcmp((const char *)t->strings + i, name) == 0) {
            *place = i;
            return true;
        }
    return false;
}

/* Where the root node ends, which is where a further child of it goes. */
static bool end_of_root(const struct tree *t, uint32_t *place)
{
    unsigned depth = 0;
    struct token k;
    uint32_t at = 0;

    while (next_token(t, &at, &k)) {
        depth += k.kind == FDT_BEGIN_NODE;
        if (k.kind == FDT_END_NODE && depth-- == 1) {
            *place = k.at;
            return true;
        }
        if (k.kind == FDT_END)
            break;
    }
    return false;
}

static uint8_t *put_property(uint8_t *p, uint32_t name, const void *value, uint32_t size)
{
    put32(p, FDT_PROP);
    put32(p + 4, size);
    put32(p + 8, name);
    memset(p + 12, 0, padded(size));
    memcpy(p + 12, value, size);
    return p + 12 + padded(size);
}

static uint32_t spe_node(uint8_t *out, uint32_t compatible, uint32_t interrupts,
                         const struct vm_gic *gic, unsigned cpus, unsigned ppi)
{
    static const char what[] = "arm,statistical-profiling-extension-v1";
    uint8_t cells[12], *p = out;

    put32(cells, 1); /* a PPI, level-sensitive, active high; for GICv2 with a mask of the CPUs */
    put32(cells + 4, ppi);
    put32(cells + 8, 4 | (gic->version == 2 ? ((1u << cpus) - 1) << 8 : 0));
    put32(p, FDT_BEGIN_NODE);
    memcpy(p + 4, "spe", 4);
    p = put_property(p + 8, compatible, what, sizeof(what));
    p = put_property(p, interrupts, cells, sizeof(cells));
    put32(p, FDT_END_NODE);
    return (uint32_t)(p + 4 - out);
}

/* Bytes of the list of reserved memory, which ends with a pair of zeros. */
static bool reserved_size(const struct tree *t, uint32_t *size)
{
    static const uint8_t zeros[16];
    uint32_t at = be32(t->bytes + H_RESERVED);

    for (*size = 16; at <= t->size && t->size - at >= *size; *size += 16)
        if (memcmp(t->bytes + at + *size - 16, zeros, 16) == 0)
            return true;
    return false;
}

int vm_fdt_add_spe(const uint8_t *tree, size_t size, const struct vm_gic *gic, unsigned cpus,
                   unsigned ppi, uint8_t **out, size_t *out_size)
{
    enum { RESERVED = 48 }; /* the list is aligned to 8 bytes */
    uint32_t compatible, interrupts, place, node_size, reserved, tokens, strings;
    uint8_t node[128], *new;
    struct tree t;

    if (open_tree(tree, size, &t) < 0 || !find_string(&t, "compatible", &compatible) ||
        !find_string(&t, "interrupts", &interrupts) || !end_of_root(&t, &place) ||
        !reserved_size(&t, &reserved))
        return SPE_ERR_INVALID;
    node_size = spe_node(node, compatible, interrupts, gic, cpus, ppi);
    /* Without the room that QEMU leaves in its trees: Linux takes none of more than 2 MB. */
    tokens = RESERVED + reserved;
    strings = tokens + t.tokens_size + node_size;
    *out_size = (size_t)strings + t.strings_size;
    new = calloc(1, *out_size);
    if (!new)
        return SPE_ERR_NOMEM;
    memcpy(new, tree, HEADER_SIZE);
    memcpy(new + RESERVED, tree + be32(tree + H_RESERVED), reserved);
    memcpy(new + tokens, t.tokens, place);
    memcpy(new + tokens + place, node, node_size);
    memcpy(new + tokens + place + node_size, t.tokens + place, t.tokens_size - place);
    memcpy(new + strings, t.strings, t.strings_size);
    put32(new + H_TOTAL, (uint32_t)*out_size);
    put32(new + H_RESERVED, RESERVED);
    put32(new + H_STRUCT, tokens);
    put32(new + H_STRUCT_SIZE, t.tokens_size + node_size);
    put32(new + H_STRINGS, strings);
    *out = new;
    return 0;
}
