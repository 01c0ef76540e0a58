/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The differences between levels of the plugin interface: see api.h. */
#include "qemu/api.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- QEMU functions whose shape depends on the level ---------------------------------------- */

typedef void (*any_fn)(void);

/* The last argument is level 7's; on the machines that QEMU runs on, a callee that does not know
 * it does not see it. */
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id id, any_fn fn, void *user);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id id, any_fn fn, void *user);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id id, any_fn fn, void *user);
void qemu_plugin_register_flush_cb(qemu_plugin_id id, any_fn fn, void *user);
void qemu_plugin_register_atexit_cb(qemu_plugin_id id, any_fn fn, void *user);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id id, any_fn fn, void *user);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id id, any_fn fn, void *user);
PLUGIN_WEAK void qemu_plugin_register_vcpu_discon_cb(qemu_plugin_id id, int types, any_fn fn,
                                                     void *user);

/* Levels 1 and 2 return a pointer, later ones fill `out`. */
void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *out, size_t size);

/* GArray and GByteArray, as far as GLib makes them public. */
struct byte_array {
    uint8_t *data;
    unsigned length;
};

PLUGIN_WEAK struct byte_array *g_byte_array_new(void);
PLUGIN_WEAK struct byte_array *g_byte_array_set_size(struct byte_array *array, unsigned size);
PLUGIN_WEAK char *g_array_free(struct byte_array *array, int free_segment);

PLUGIN_WEAK struct byte_array *qemu_plugin_get_registers(void);
/* Up to level 5 it returns the register's size or -1, later whether it could: above 0 or not. A
 * bool has 8 bits only, so that the others must not be looked at. */
PLUGIN_WEAK int qemu_plugin_read_register(struct qemu_plugin_register *reg, struct byte_array *out);
PLUGIN_WEAK int qemu_plugin_write_register(struct qemu_plugin_register *reg,
                                           struct byte_array *bytes);
PLUGIN_WEAK bool qemu_plugin_read_memory_vaddr(uint64_t va, struct byte_array *out, size_t size);
PLUGIN_WEAK bool qemu_plugin_write_memory_vaddr(uint64_t va, struct byte_array *bytes);
/* An enumeration: 0 is success. */
PLUGIN_WEAK int qemu_plugin_read_memory_hwaddr(uint64_t pa, struct byte_array *out, size_t size);
PLUGIN_WEAK int qemu_plugin_write_memory_hwaddr(uint64_t pa, struct byte_array *bytes);

/* ---- The level ------------------------------------------------------------------------------ */

/* QEMU reads this after it has loaded the plugin, hence after the constructor has run. */
extern PLUGIN_EXPORT int qemu_plugin_version;
int qemu_plugin_version = 1;

/* Levels 6 and 7 export the same names: who starts QEMU knows its version and says so. */
__attribute__((constructor)) static void choose_level(void)
{
    const char *told = getenv("SPECIMEN_PLUGIN_LEVEL");

    if (told)
        qemu_plugin_version = (int)strtol(told, NULL, 10);
    else if (qemu_plugin_set_pc)
        qemu_plugin_version = 7;
    else if (qemu_plugin_translate_vaddr)
        qemu_plugin_version = 5;
    else if (qemu_plugin_read_memory_vaddr)
        qemu_plugin_version = 4;
    else if (qemu_plugin_register_vcpu_tb_exec_cond_cb)
        qemu_plugin_version = 3;
    else if (qemu_plugin_scoreboard_new)
        qemu_plugin_version = 2;
}

int plugin_level(void)
{
    return qemu_plugin_version;
}

/* ---- Callbacks: one set for levels up to 6, which pass the plugin's id, one for level 7 ------ */

static const struct plugin_role *role;

static void vcpu_init_old(qemu_plugin_id id, unsigned vcpu)
{
    (void)id;
    role->vcpu_init(vcpu);
}

static void vcpu_init_new(unsigned vcpu, void *user)
{
    (void)user;
    role->vcpu_init(vcpu);
}

static void vcpu_exit_old(qemu_plugin_id id, unsigned vcpu)
{
    (void)id;
    role->vcpu_exit(vcpu);
}

static void vcpu_exit_new(unsigned vcpu, void *user)
{
    (void)user;
    role->vcpu_exit(vcpu);
}

static void translate_old(qemu_plugin_id id, struct qemu_plugin_tb *tb)
{
    (void)id;
    role->translate(tb);
}

static void translate_new(struct qemu_plugin_tb *tb, void *user)
{
    (void)user;
    role->translate(tb);
}

/* These two take nothing that anybody needs. */
static void flush_any(void)
{
    role->flush();
}

static void exit_any(void)
{
    role->exit();
}

static void syscall_old(qemu_plugin_id id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                        uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
                        uint64_t a8)
{
    const uint64_t arguments[8] = {a1, a2, a3, a4, a5, a6, a7, a8};

    (void)id;
    role->syscall(vcpu, number, arguments);
}

static void syscall_new(unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                        uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8, void *user)
{
    const uint64_t arguments[8] = {a1, a2, a3, a4, a5, a6, a7, a8};

    (void)user;
    role->syscall(vcpu, number, arguments);
}

static void syscall_return_old(qemu_plugin_id id, unsigned vcpu, int64_t number, int64_t result)
{
    (void)id;
    role->syscall_return(vcpu, number, result);
}

static void syscall_return_new(unsigned vcpu, int64_t number, int64_t result, void *user)
{
    (void)user;
    role->syscall_return(vcpu, number, result);
}

static void discontinuity_old(qemu_plugin_id id, unsigned vcpu, int type, uint64_t from,
                              uint64_t to)
{
    (void)id;
    role->discontinuity(vcpu, (unsigned)type, from, to);
}

static void discontinuity_new(unsigned vcpu, int type, uint64_t from, uint64_t to, void *user)
{
    (void)user;
    role->discontinuity(vcpu, (unsigned)type, from, to);
}

void plugin_register(qemu_plugin_id id, const struct plugin_role *r)
{
    bool old = plugin_level() < 7;

#define EITHER(name) (old ? (any_fn)name##_old : (any_fn)name##_new)
    role = r;
    if (r->vcpu_init)
        qemu_plugin_register_vcpu_init_cb(id, EITHER(vcpu_init), NULL);
    if (r->vcpu_exit)
        qemu_plugin_register_vcpu_exit_cb(id, EITHER(vcpu_exit), NULL);
    if (r->translate)
        qemu_plugin_register_vcpu_tb_trans_cb(id, EITHER(translate), NULL);
    if (r->flush)
        qemu_plugin_register_flush_cb(id, flush_any, NULL);
    if (r->exit)
        qemu_plugin_register_atexit_cb(id, exit_any, NULL);
    if (r->syscall)
        qemu_plugin_register_vcpu_syscall_cb(id, EITHER(syscall), NULL);
    if (r->syscall_return)
        qemu_plugin_register_vcpu_syscall_ret_cb(id, EITHER(syscall_return), NULL);
    if (r->discontinuity && qemu_plugin_register_vcpu_discon_cb)
        qemu_plugin_register_vcpu_discon_cb(
            id, QEMU_DISCON_INTERRUPT | QEMU_DISCON_EXCEPTION | QEMU_DISCON_HOSTCALL,
            EITHER(discontinuity), NULL);
#undef EITHER
}

/* ---- Instructions --------------------------------------------------------------------------- */

uint32_t plugin_word(const struct qemu_plugin_insn *insn)
{
    uint32_t word = 0;

    if (plugin_level() >= 3)
        qemu_plugin_insn_data(insn, &word, sizeof(word));
    else
        memcpy(&word, qemu_plugin_insn_data(insn, NULL, 0), sizeof(word));
    return word;
}

/* ---- Registers and memory ------------------------------------------------------------------- */

static bool same_name(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

/* The handle of x0 may be NULL (level 7), which for our callers says that there is none: what they
 * get is one more than QEMU's handle. Neither points to anything. */
static struct qemu_plugin_register *shown(const struct qemu_plugin_register *handle)
{
    return (struct qemu_plugin_register *)((uintptr_t)handle + 1);
}

static struct qemu_plugin_register *hidden(const struct qemu_plugin_register *reg)
{
    return (struct qemu_plugin_register *)((uintptr_t)reg - 1);
}

struct qemu_plugin_register *plugin_find_register(const char *name)
{
    /* The descriptor of level 6 has one more member. */
    struct descriptor5 {
        struct qemu_plugin_register *handle;
        const char *name, *feature;
    };
    struct descriptor6 {
        struct descriptor5 first;
        bool readonly;
    };
    size_t stride = plugin_level() >= 6 ? sizeof(struct descriptor6) : sizeof(struct descriptor5);
    struct qemu_plugin_register *found = NULL;
    struct byte_array *list;

    if (!qemu_plugin_get_registers)
        return NULL;
    list = qemu_plugin_get_registers();
    for (unsigned i = 0; i < list->length && !found; i++) {
        struct descriptor5 d;

        memcpy(&d, list->data + i * stride, sizeof(d));
        if (same_name(d.name, name))
            found = shown(d.handle);
    }
    g_array_free(list, 1);
    return found;
}

static pthread_key_t scratch_key;

/* A GByteArray is a GArray of bytes. */
static void free_scratch(void *array)
{
    g_array_free(array, 1);
}

static void make_scratch_key(void)
{
    pthread_key_create(&scratch_key, free_scratch);
}

/* One a thread, empty. It goes when the thread does: a program may have a million of them. */
static struct byte_array *scratch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static __thread struct byte_array *array;

    if (!array) {
        array = g_byte_array_new();
        pthread_once(&once, make_scratch_key);
        pthread_setspecific(scratch_key, array);
    }
    return g_byte_array_set_size(array, 0);
}

static struct byte_array *scratch_with(const void *bytes, size_t size)
{
    struct byte_array *array = g_byte_array_set_size(scratch(), (unsigned)size);

    memcpy(array->data, bytes, size);
    return array;
}

static size_t take(const struct byte_array *array, void *out, size_t size)
{
    memcpy(out, array->data, array->length < size ? array->length : size);
    return array->length;
}

/* See qemu_plugin_read_register. */
static bool succeeded(int result)
{
    return plugin_level() >= 6 ? (result & 0xff) != 0 : result > 0;
}

size_t plugin_read_bytes(struct qemu_plugin_register *reg, void *out, size_t size)
{
    struct byte_array *array;

    if (!reg || !qemu_plugin_read_register)
        return 0;
    array = scratch();
    return succeeded(qemu_plugin_read_register(hidden(reg), array)) ? take(array, out, size) : 0;
}

uint64_t plugin_read(struct qemu_plugin_register *reg)
{
    uint64_t value = 0;

    plugin_read_bytes(reg, &value, sizeof(value));
    return value;
}

bool plugin_write(struct qemu_plugin_register *reg, uint64_t value)
{
    return reg && qemu_plugin_write_register &&
           succeeded(qemu_plugin_write_register(hidden(reg), scratch_with(&value, sizeof(value))));
}

bool plugin_read_va(uint64_t va, void *out, size_t size)
{
    struct byte_array *array = scratch();

    return qemu_plugin_read_memory_vaddr && qemu_plugin_read_memory_vaddr(va, array, size) &&
           take(array, out, size) == size;
}

bool plugin_write_va(uint64_t va, const void *bytes, size_t size)
{
    return qemu_plugin_write_memory_vaddr &&
           qemu_plugin_write_memory_vaddr(va, scratch_with(bytes, size));
}

bool plugin_read_pa(uint64_t pa, void *out, size_t size)
{
    struct byte_array *array = scratch();

    return qemu_plugin_read_memory_hwaddr && qemu_plugin_read_memory_hwaddr(pa, array, size) == 0 &&
           take(array, out, size) == size;
}

bool plugin_write_pa(uint64_t pa, const void *bytes, size_t size)
{
    return qemu_plugin_write_memory_hwaddr &&
           qemu_plugin_write_memory_hwaddr(pa, scratch_with(bytes, size)) == 0;
}

/* ---- Arguments ------------------------------------------------------------------------------ */

const char *plugin_argument(const struct plugin_arguments *arguments, const char *name)
{
    size_t length = strlen(name);

    for (int i = 0; i < arguments->count; i++)
        if (strncmp(arguments->list[i], name, length) == 0 && arguments->list[i][length] == '=')
            return arguments->list[i] + length + 1;
    return NULL;
}
