/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The model of `spe vm`: what nobody saw is not described. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "qemu/device.h"

/* Of QEMU, and not called here. */
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t info, uint64_t va)
{
    (void)info;
    (void)va;
    return NULL;
}

bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *where)
{
    (void)where;
    return false;
}

uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *where)
{
    (void)where;
    return 0;
}

static struct device_cpu *load(uint32_t accesses, uint32_t met)
{
    static struct device_cpu cpu;

    cpu = (struct device_cpu){.op = {.kind = SPE_OPERATION_LOAD, .access_count = accesses},
                              .met_count = met};
    for (uint32_t i = 0; i < accesses; i++)
        cpu.accesses[i] = (struct spe_memory_access){.va = 0x1000 + 8 * i, .bytes = 8};
    for (uint32_t i = 0; i < met; i++)
        spe_machine_touch(device.machine, 0, cpu.accesses[i].va, 8, 0, &cpu.met[i]);
    cpu.op.accesses = cpu.accesses;
    device_model_describe(&cpu);
    return &cpu;
}

static void test_seen(void **state)
{
    const struct device_cpu *cpu = load(2, 2);

    (void)state;
    assert_false(cpu->op.unmodelled);
    assert_true(cpu->accesses[0].has_source);
    assert_true(cpu->accesses[1].has_source);
    assert_true(cpu->op.execute_cycles > 1);
}

static void test_not_seen(void **state)
{
    (void)state;
    for (uint32_t met = 0; met < 2; met++) {
        const struct device_cpu *cpu = load(2, met);

        assert_true(cpu->op.unmodelled);
        for (uint32_t i = 0; i < 2; i++) {
            assert_false(cpu->accesses[i].has_source);
            assert_int_equal(cpu->accesses[i].facts, 0);
        }
        assert_int_equal(cpu->op.execute_cycles, 0);
    }
}

/* An operation without accesses needs none. */
static void test_none_to_see(void **state)
{
    (void)state;
    assert_false(load(0, 0)->op.unmodelled);
}

static int create(void **state)
{
    (void)state;
    return device_model_create("neoverse-n1", 1) ? 0 : -1;
}

static int destroy(void **state)
{
    (void)state;
    spe_machine_destroy(device.machine);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seen),
        cmocka_unit_test(test_not_seen),
        cmocka_unit_test(test_none_to_see),
    };

    return cmocka_run_group_tests(tests, create, destroy);
}
