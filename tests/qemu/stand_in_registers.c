/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Registers of the stand-in for QEMU: one set for all vCPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_in.h"

struct stand_in_registers stand_in_registers;

/* ---- GLib's arrays, as far as api.c needs them ---------------------------------------------- */

struct byte_array {
    uint8_t *data;
    unsigned length;
};

struct byte_array *g_byte_array_new(void);
struct byte_array *g_byte_array_set_size(struct byte_array *array, unsigned size);
char *g_array_free(struct byte_array *array, int free_segment);

struct byte_array *g_byte_array_new(void)
{
    return calloc(1, sizeof(struct byte_array));
}

struct byte_array *g_byte_array_set_size(struct byte_array *array, unsigned size)
{
    array->data = realloc(array->data, size ? size : 1);
    if (!array->data)
        abort();
    array->length = size;
    return array;
}

char *g_array_free(struct byte_array *array, int free_segment)
{
    if (free_segment)
        free(array->data);
    free(array);
    return NULL;
}

/* ---- The list: x0 to x30, sp, cpsr, z0 to z31, p0 to p15 --------------------- */

enum { CPSR = 32, Z = 33, P = Z + 32, COUNT = P + 16 };

struct descriptor {
    uintptr_t handle;
    const char *name, *feature;
    bool readonly; /* from level 6 on */
};

extern int qemu_plugin_version;

struct byte_array *qemu_plugin_get_registers(void);
int qemu_plugin_read_register(struct qemu_plugin_register *reg, struct byte_array *out);

static const char *name_of(unsigned i)
{
    static char names[COUNT][8];

    if (i == 31)
        return "sp";
    if (i == CPSR)
        return "cpsr";
    snprintf(names[i], sizeof(names[i]), "%c%u",
             i < CPSR ? 'x'
             : i < P  ? 'z'
                      : 'p',
             i < CPSR ? i
             : i < P  ? i - Z
                      : i - P);
    return names[i];
}

struct byte_array *qemu_plugin_get_registers(void)
{
    size_t stride = qemu_plugin_version >= 6 ? sizeof(struct descriptor)
                                             : offsetof(struct descriptor, readonly);
    struct byte_array *list = g_byte_array_new();

    g_byte_array_set_size(list, (unsigned)(COUNT * stride));
    for (unsigned i = 0; i < COUNT; i++) {
        struct descriptor d = {i, name_of(i), "core", false};

        memcpy(list->data + i * stride, &d, stride);
    }
    list->length = COUNT;
    return list;
}

int qemu_plugin_read_register(struct qemu_plugin_register *reg, struct byte_array *out)
{
    unsigned i = (unsigned)(uintptr_t)reg;
    const struct stand_in_registers *r = &stand_in_registers;
    const void *from = &r->cpsr;
    unsigned size = 8;

    if (i < CPSR) {
        from = &r->x[i];
    } else if (i >= P) {
        from = r->p[i - P];
        size = sizeof(r->p[0]);
    } else if (i >= Z) {
        from = r->z[i - Z];
        size = sizeof(r->z[0]);
    }
    memcpy(g_byte_array_set_size(out, size)->data, from, size);
    return (int)size;
}
