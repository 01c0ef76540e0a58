/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Device trees: the GIC is found, the node goes in, and damaged trees are refused. */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka needs the four above */
#include <cmocka.h>

#include "vm/vm.h"

enum { BEGIN = 1, END_NODE, PROP, END = 9 };
enum { COMPATIBLE = 0, REG = 11, INTERRUPTS = 15, REGIONS = 26 };
static const char strings[] = "compatible\0reg\0interrupts\0#redistributor-regions";

struct builder {
    _Alignas(8) uint8_t bytes[2048];
    uint32_t size;
};

static void word(struct builder *b, uint32_t v)
{
    v = htobe32(v);
    memcpy(b->bytes + b->size, &v, 4);
    b->size += 4;
}

static void bytes(struct builder *b, const void *p, uint32_t size)
{
    memcpy(b->bytes + b->size, p, size);
    b->size += (size + 3) & ~3u;
}

static void property(struct builder *b, uint32_t name, const void *value, uint32_t size)
{
    word(b, PROP);
    word(b, size);
    word(b, name);
    bytes(b, value, size);
}

static void begin(struct builder *b, const char *name)
{
    word(b, BEGIN);
    bytes(b, name, (uint32_t)strlen(name) + 1);
}

static void set(struct builder *b, uint32_t at, uint32_t v)
{
    v = htobe32(v);
    memcpy(b->bytes + at, &v, 4);
}

/* A tree with room at its end, as QEMU's have: a memory node, then the controller. */
static struct builder make(const char *compatible, const uint64_t *reg, uint32_t pairs,
                           uint32_t regions)
{
    struct builder b = {.size = 40};
    uint64_t cells[16];
    uint32_t tokens;

    for (uint32_t i = 0; i < 2 * pairs; i++)
        cells[i] = htobe64(reg[i]);
    b.size += 8 + 16; /* the list of reserved memory: empty */
    tokens = b.size;
    begin(&b, "");
    property(&b, COMPATIBLE, "linux,dummy-virt", 17);
    begin(&b, "memory@40000000");
    property(&b, REG, "\0\0\0\0\x40\0\0\0\0\0\0\0\x40\0\0\0", 16);
    word(&b, END_NODE);
    begin(&b, "intc@8000000");
    property(&b, REG, cells, pairs * 16);
    if (regions) {
        uint32_t n = htobe32(regions);

        property(&b, REGIONS, &n, 4);
    }
    property(&b, COMPATIBLE, compatible, (uint32_t)strlen(compatible) + 1);
    begin(&b, "v2m@8020000");
    property(&b, COMPATIBLE, "arm,gic-v2m-frame", 18);
    word(&b, END_NODE);
    word(&b, END_NODE);
    word(&b, END_NODE);
    word(&b, END);
    set(&b, 0, 0xd00dfeed);
    set(&b, 8, tokens);
    set(&b, 36, b.size - tokens);
    set(&b, 12, b.size);
    set(&b, 16, 48);
    set(&b, 20, 17);
    set(&b, 24, 16);
    set(&b, 32, sizeof(strings));
    bytes(&b, strings, sizeof(strings));
    b.size = sizeof(b.bytes);
    set(&b, 4, b.size);
    return b;
}

static const uint64_t reg3[] = {0x8000000, 0x10000, 0x80a0000, 0xf60000, 0x4000000000, 0x4000000};

static struct builder gic3(void)
{
    return make("arm,gic-v3", reg3, 3, 2);
}

static void test_gic(void **state)
{
    struct builder b = gic3();
    struct vm_gic gic;

    (void)state;
    assert_int_equal(vm_fdt_gic(b.bytes, b.size, &gic), 0);
    assert_int_equal(gic.version, 3);
    assert_int_equal(gic.redistributors, 2);
    assert_int_equal(gic.redistributor[0].base, 0x80a0000);
    assert_int_equal(gic.redistributor[0].size, 0xf60000);
    assert_int_equal(gic.redistributor[1].base, 0x4000000000);
    b = make("arm,gic-v3", reg3, 2, 0);
    assert_int_equal(vm_fdt_gic(b.bytes, b.size, &gic), 0);
    assert_int_equal(gic.redistributors, 1);
    b = make("arm,cortex-a15-gic", reg3, 2, 0);
    assert_int_equal(vm_fdt_gic(b.bytes, b.size, &gic), 0);
    assert_int_equal(gic.version, 2);
    assert_int_equal(gic.distributor.base, 0x8000000);
    b = make("arm,pl390", reg3, 2, 0);
    assert_int_equal(vm_fdt_gic(b.bytes, b.size, &gic), SPE_ERR_UNKNOWN);
}

/* The bytes of the node, from the specification of flattened trees. */
static struct builder expected_node(uint32_t flags)
{
    static const char what[] = "arm,statistical-profiling-extension-v1";
    struct builder b = {0};
    uint32_t cells[3] = {htobe32(1), htobe32(5), htobe32(flags)};

    begin(&b, "spe"); /* the order of properties means nothing; this is libfdt's */
    property(&b, INTERRUPTS, cells, sizeof(cells));
    property(&b, COMPATIBLE, what, sizeof(what));
    word(&b, END_NODE);
    return b;
}

static void check_added(struct builder *b, unsigned cpus, uint32_t flags)
{
    struct builder node = expected_node(flags);
    struct vm_gic before, after;
    uint8_t *out;
    size_t size;

    assert_int_equal(vm_fdt_gic(b->bytes, b->size, &before), 0);
    assert_int_equal(vm_fdt_add_spe(b->bytes, b->size, &before, cpus, 5, &out, &size), 0);
    assert_true(size < b->size); /* the room is gone */
    assert_non_null(memmem(out, size, node.bytes, node.size));
    assert_int_equal(vm_fdt_gic(out, size, &after), 0);
    assert_memory_equal(&before, &after, sizeof(before));
    assert_memory_equal(out + size - sizeof(strings), strings, sizeof(strings));
    free(out);
}

static void test_add(void **state)
{
    struct builder b = gic3();

    (void)state;
    check_added(&b, 4, 4);
    b = make("arm,cortex-a15-gic", reg3, 2, 0);
    check_added(&b, 3, 4 | 7 << 8); /* GICv2 tells which CPUs */
}

/* Whatever one byte is, and wherever the file ends: an answer, and no access outside. */
static void test_damage(void **state)
{
    struct builder good = gic3();
    struct vm_gic gic;
    uint8_t *out;
    size_t size;

    (void)state;
    for (uint32_t at = 0; at < 700; at++)
        for (unsigned value = 0; value < 256; value += 17) {
            uint8_t *copy = malloc(good.size);

            assert_non_null(copy);
            memcpy(copy, good.bytes, good.size);
            copy[at] = (uint8_t)value;
            if (vm_fdt_gic(copy, good.size, &gic) == 0 &&
                vm_fdt_add_spe(copy, good.size, &gic, 1, 5, &out, &size) == 0)
                free(out);
            free(copy);
        }
    for (size_t n = 0; n < good.size; n++) {
        uint8_t *copy = malloc(n + 1);

        assert_non_null(copy);
        memcpy(copy, good.bytes, n);
        assert_int_equal(vm_fdt_gic(copy, n, &gic), SPE_ERR_INVALID);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gic),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
