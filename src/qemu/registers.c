/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/registers.h"

#include <stdio.h>
#include <string.h>

#include "qemu/api.h"

enum { REGISTER_BYTES_MAX = 256 };

static struct {
    bool found;
    struct qemu_plugin_register *x[32], *cpsr, *z[32], *p[16]; /* x[31] is SP */
} handles;

static void find_numbered(struct qemu_plugin_register **to, unsigned count, char letter)
{
    char name[8];

    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%c%u", letter, i);
        to[i] = plugin_find_register(name);
    }
}

void registers_find(void)
{
    if (handles.found)
        return;
    handles.found = true;
    find_numbered(handles.x, 31, 'x');
    find_numbered(handles.z, 32, 'z');
    find_numbered(handles.p, 16, 'p');
    handles.x[31] = plugin_find_register("sp");
    handles.cpsr = plugin_find_register("cpsr");
}

static uint64_t read_x(void *user, unsigned n)
{
    (void)user;
    return plugin_read(handles.x[n & 31]);
}

static unsigned read_nzcv(void *user)
{
    (void)user;
    return (unsigned)(plugin_read(handles.cpsr) >> 28 & 15);
}

/* A register may be longer than asked for, by what QEMU's CPU could have. */
static bool read_vector(struct qemu_plugin_register *reg, uint8_t *out, size_t size)
{
    uint8_t bytes[REGISTER_BYTES_MAX];

    if (size > sizeof(bytes) || plugin_read_bytes(reg, bytes, sizeof(bytes)) < size)
        return false;
    memcpy(out, bytes, size);
    return true;
}

static bool read_z(void *user, unsigned n, uint8_t *out, size_t size)
{
    (void)user;
    return read_vector(handles.z[n & 31], out, size);
}

static bool read_p(void *user, unsigned n, uint8_t *out, size_t size)
{
    (void)user;
    return read_vector(handles.p[n & 15], out, size);
}

struct spe_a64_registers registers_now = {
    .size = sizeof(registers_now),
    .x = read_x,
    .nzcv = read_nzcv,
    .z = read_z,
    .p = read_p,
};
