/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Times are in the order that everyone expects, and what the machine says of an operation is what
 * the unit takes: records of described operations break no rule of the format.
 */
#include "format/state.h"
#include "machine_test.h"

#include <specimen/format.h>
#include <specimen/spu.h>

/* ---- Order ---------------------------------------------------------------------------------- */

static struct spe_machine_access touch(struct spe_machine *m, unsigned cpu, uint64_t address,
                                       unsigned how)
{
    struct spe_machine_access met;

    spe_machine_touch(m, cpu, address, 8, how, &met);
    return met;
}

static uint32_t data_cycles(struct spe_machine_access met, unsigned place)
{
    assert_int_equal(met.place, place);
    return met.cycles - met.translation_cycles;
}

static void check_order(const char *name)
{
    struct spe_machine_config config = preset(name);
    uint32_t l1, l2, llc, peer, memory, remote_cache, remote_memory;
    struct spe_machine *m;

    config.cpus = 6;
    config.sockets = 2; /* cpus 0 to 2, 3 to 5 */
    m = make_machine(&config);
    memory = data_cycles(touch(m, 0, 0, 0), SPE_PLACE_MEMORY);
    l1 = data_cycles(touch(m, 0, 0, 0), SPE_PLACE_L1);
    touch(m, 1, 0, 0);
    llc = data_cycles(touch(m, 2, 0, 0), SPE_PLACE_LLC); /* nobody need be asked */
    touch(m, 0, 0, SPE_ACCESS_STORE);
    peer = data_cycles(touch(m, 1, 0, 0), SPE_PLACE_PEER);
    touch(m, 0, 0, SPE_ACCESS_STORE);
    remote_cache = data_cycles(touch(m, 3, 0, 0), SPE_PLACE_REMOTE_CACHE);
    remote_memory = data_cycles(touch(m, 3, 64, 0), SPE_PLACE_REMOTE_MEMORY);
    for (unsigned i = 1; i <= config.l1d.ways; i++) /* out of L1, not of L2 */
        touch(m, 0, 4096 + (uint64_t)i * config.l1d.bytes, 0);
    touch(m, 0, 4096, 0);
    for (unsigned i = 1; i <= config.l1d.ways; i++)
        touch(m, 0, 4096 + (uint64_t)i * config.l1d.bytes, 0);
    l2 = data_cycles(touch(m, 0, 4096, 0), SPE_PLACE_L2);
    assert_true(l1 < l2 && l2 < llc && llc < peer && peer < memory);
    assert_true(memory < remote_cache && remote_cache < remote_memory);
    spe_machine_destroy(m);
}

static void test_order(void **state)
{
    const char *name;

    (void)state;
    for (size_t i = 0; (name = spe_machine_preset_at(i)); i++)
        check_order(name);
}

static void test_translation(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *m = make_machine(&config);
    struct spe_machine_access walk = touch(m, 0, 0, 0), hit = touch(m, 0, 0, 0), second;

    (void)state;
    for (unsigned i = 1; i <= 2 * config.l1_tlb_entries; i++)
        touch(m, 0, 4096u * i, 0);
    second = touch(m, 0, 0, 0);
    assert_int_equal(walk.translation_cycles, config.walk_latency);
    assert_int_equal(walk.cycles, config.walk_latency + config.memory_latency);
    assert_int_equal(hit.translation_cycles, 0);
    assert_int_equal(hit.cycles, config.l1d.latency);
    assert_int_equal(second.translation_cycles, config.l2_tlb_latency);
    assert_false(second.facts & SPE_FACT_TLB_WALK);
    spe_machine_destroy(m);
}

/* A store that must take the line from others waits for them, though it hits. */
static void test_upgrade(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *m = make_machine(&config);
    struct spe_machine_access met;

    (void)state;
    touch(m, 0, 0, 0);
    touch(m, 1, 0, 0);
    met = touch(m, 0, 0, SPE_ACCESS_STORE);
    assert_int_equal(met.place, SPE_PLACE_L1);
    assert_false(met.facts & SPE_FACT_L1D_MISS);
    assert_int_equal(met.cycles, config.l1d.latency + config.snoop_latency);
    assert_int_equal(touch(m, 0, 0, SPE_ACCESS_STORE).cycles, config.l1d.latency);
    spe_machine_destroy(m);
}

/* ---- Descriptions --------------------------------------------------------------------------- */

static struct spe_operation described(struct spe_machine *m, unsigned kind, uint64_t address,
                                      struct spe_memory_access *access)
{
    struct spe_machine_access met = {0};
    struct spe_operation op;
    bool store = kind == SPE_OPERATION_STORE;

    spe_operation_init(&op, kind);
    if (access) {
        *access = (struct spe_memory_access){
            .va = address, .pa = address, .bytes = 8, .store = store, .pas = SPE_NONSECURE};
        op.accesses = access;
        op.access_count = 1;
        met = touch(m, 0, address, store ? SPE_ACCESS_STORE : 0);
    }
    spe_machine_describe(m, 0, &op, access, &met);
    return op;
}

static void test_describe_load(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *m = make_machine(&config);
    struct spe_memory_access access;
    struct spe_operation op = described(m, SPE_OPERATION_LOAD, 0x1000, &access);

    (void)state;
    assert_int_equal(access.wait_start, 0);
    assert_int_equal(access.translated_at, config.walk_latency);
    assert_int_equal(access.done_at, config.walk_latency + config.memory_latency);
    assert_true(access.has_source);
    assert_int_equal(access.source, 0xe);
    assert_int_equal(op.execute_cycles, access.done_at);
    assert_int_equal(op.issue_cycles, 1); /* its own miss is none that it waits for */
    op = described(m, SPE_OPERATION_STORE, 0x2000, &access);
    assert_int_equal(op.execute_cycles, config.walk_latency + 1); /* then it is in the buffer */
    assert_true(access.done_at > op.execute_cycles);
    access.unperformed = true;
    access.facts = 0;
    spe_machine_describe(m, 0, &op, &access, &(struct spe_machine_access){.facts = 1});
    assert_int_equal(access.facts, 0);
    spe_machine_destroy(m);
}

/* Behind a miss; less so with every access in between; no more after a misprediction. */
static void test_issue(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *m = make_machine(&config);
    struct spe_operation op;
    uint32_t last;

    (void)state;
    op = described(m, SPE_OPERATION_OTHER, 0, NULL);
    assert_int_equal(op.issue_cycles, 1);
    touch(m, 0, 64, SPE_ACCESS_STORE); /* nobody waits for it */
    touch(m, 0, 128, SPE_ACCESS_PREFETCH);
    assert_int_equal(described(m, SPE_OPERATION_OTHER, 0, NULL).issue_cycles, 1);
    touch(m, 0, 0, 0);
    last = described(m, SPE_OPERATION_OTHER, 0, NULL).issue_cycles;
    assert_int_equal(last, 1 + config.memory_latency / config.issue_width);
    for (unsigned i = 0; i < 5; i++) {
        touch(m, 0, 0, 0);
        op = described(m, SPE_OPERATION_OTHER, 0, NULL);
        assert_true(op.issue_cycles < last);
        last = op.issue_cycles;
    }
    touch(m, 0, 256, 0);
    assert_true(described(m, SPE_OPERATION_OTHER, 0, NULL).issue_cycles > last);
    assert_true(spe_machine_branch(m, 0, 0x1000, SPE_BRANCH_CONDITIONAL, true, 0x2000));
    touch(m, 0, 0, 0);
    assert_int_equal(described(m, SPE_OPERATION_OTHER, 0, NULL).issue_cycles, 1);
    assert_int_equal(touch(m, 1, 0, 0).place, SPE_PLACE_LLC); /* another cpu's does not count */
    assert_int_equal(described(m, SPE_OPERATION_OTHER, 0, NULL).issue_cycles, 1);
    spe_machine_destroy(m);
}

static void test_branch_and_other(void **state)
{
    struct spe_machine_config config = preset("neoverse-n1");
    struct spe_machine *m = make_machine(&config);
    struct spe_operation op;
    uint32_t right;

    (void)state;
    spe_operation_init(&op, SPE_OPERATION_BRANCH);
    spe_machine_describe(m, 0, &op, NULL, NULL);
    right = op.execute_cycles;
    op.mispredicted = true;
    spe_machine_describe(m, 0, &op, NULL, NULL);
    assert_int_equal(op.execute_cycles, right + config.mispredict_cycles);
    for (unsigned kind = 0; kind < SPE_OPERATION_KIND_COUNT; kind++) {
        spe_operation_init(&op, kind);
        spe_machine_describe(m, 0, &op, NULL, NULL);
        assert_true(op.execute_cycles >= 1 && op.decode_cycles >= 1 && op.commit_cycles >= 1);
    }
    spe_operation_init(&op, SPE_OPERATION_OTHER);
    spe_machine_describe(m, 0, &op, NULL, NULL);
    right = op.execute_cycles;
    op.floating_point = true;
    spe_machine_describe(m, 0, &op, NULL, NULL);
    assert_true(op.execute_cycles > right);
    spe_machine_destroy(m);
}

/* ---- The unit takes it ---------------------------------------------------------------------- */

#define BASE UINT64_C(0x100000)

struct host {
    uint8_t memory[1 << 20];
};

static void write_memory(void *user, const struct spe_write *w, struct spe_write_result *result)
{
    struct host *h = user;

    memcpy(h->memory + (w->address - BASE), w->data, w->size);
    result->written = w->size;
}

static struct spe_spu *make_unit(const char *name, struct host *host, struct spe_spu_config *config)
{
    const struct spe_spu_host callbacks = {
        .size = sizeof(callbacks), .user = host, .write = write_memory};
    struct spe_spu *spu = NULL;
    char why[200] = "";

    assert_int_equal(spe_spu_config_init(config, name), SPE_OK);
    config->data_source_map_count = 0; /* the machine has the CPU's own values */
    if (spe_spu_create(config, &callbacks, &spu, why, sizeof(why)))
        fail_msg("no unit: %s", why);
    spe_spu_reg_set(spu, SPE_REG_PMSIRR_EL1, 1 << 8);
    spe_spu_reg_set(spu, SPE_REG_PMSCR_EL1, 0x13); /* PA E1SPE E0SPE */
    spe_spu_reg_set(spu, SPE_REG_PMSCR_EL2, 0x10);
    spe_spu_reg_set(spu, SPE_REG_PMBPTR_EL1, BASE);
    spe_spu_reg_set(spu, SPE_REG_PMBLIMITR_EL1, (BASE + sizeof(host->memory)) | 1);
    return spu;
}

static void to_next_sample(struct spe_spu *spu)
{
    spe_spu_advance(spu, spe_spu_budget(spu));
    while (spe_spu_step(spu, 0) <= 0)
        spe_spu_advance(spu, spe_spu_budget(spu));
}

static void complain(void *user, const struct spe_violation *v)
{
    (void)user;
    print_message("%s: %s %s\n", v->rule->reference, v->rule->sentence, v->detail);
}

/* Every record so far: no violations, and the sum of what its events say. */
static unsigned check_records(const struct spe_spu_config *config, const struct host *host,
                              size_t size, uint64_t *events)
{
    const struct spe_check_config check = {.size = sizeof(check),
                                           .features = config->features,
                                           .count_bits = config->count_size,
                                           .max_size = config->max_size,
                                           .align = config->min_align_bytes};
    struct spe_stream stream;
    struct spe_item item;
    struct spe_record record;
    unsigned records = 0;

    spe_stream_init(&stream, 0);
    spe_stream_feed(&stream, host->memory, size);
    while (spe_stream_next(&stream, &item, &record) == SPE_ITEM_RECORD) {
        assert_int_equal(
            spe_check_record(&check, item.bytes, item.size, item.offset, complain, NULL), 0);
        *events |= record.events;
        records++;
    }
    return records;
}

static void sample(struct spe_machine *m, struct spe_spu *spu, uint64_t *seed)
{
    static const unsigned kinds[] = {SPE_OPERATION_LOAD, SPE_OPERATION_STORE, SPE_OPERATION_BRANCH,
                                     SPE_OPERATION_OTHER};
    unsigned kind = kinds[chance(seed, 4)];
    bool memory = kind == SPE_OPERATION_LOAD || kind == SPE_OPERATION_STORE;
    struct spe_memory_access access;
    struct spe_operation op;

    to_next_sample(spu);
    op = described(m, kind, chance(seed, 1 << 16), memory ? &access : NULL);
    op.pc = 0x400000 + 4 * chance(seed, 1000);
    if (kind == SPE_OPERATION_BRANCH) {
        op.taken = true;
        op.target = 0x400000 + 4 * chance(seed, 1000);
        op.target_security = SPE_NONSECURE;
        op.indirect = true;
        op.mispredicted = spe_machine_branch(m, 0, op.pc, SPE_BRANCH_INDIRECT, op.taken, op.target);
        spe_machine_describe(m, 0, &op, NULL, NULL);
    }
    assert_int_equal(spe_spu_sample(spu, &op), SPE_FATE_WRITTEN);
}

static void check_unit(const char *name)
{
    static struct host host;
    struct spe_spu_config unit;
    struct spe_machine_config config = preset("small");
    struct spe_machine_config same = preset(name);
    struct spe_spu *spu = make_unit(name, &host, &unit);
    struct spe_machine *m;
    uint64_t seed = 99, events = 0;

    memcpy(config.source, same.source, sizeof(config.source));
    m = make_machine(&config);
    for (unsigned i = 0; i < 2000; i++) {
        spe_machine_touch(m, 1, chance(&seed, 1 << 16), 8, SPE_ACCESS_STORE, NULL);
        sample(m, spu, &seed);
    }
    assert_int_equal(
        check_records(&unit, &host, spe_spu_reg_get(spu, SPE_REG_PMBPTR_EL1) - BASE, &events),
        2000);
    /* Retired; L1D, TLB accessed and missed; mispredicted. */
    assert_int_equal(events & 0xbe, 0xbe);
    spe_spu_destroy(spu);
    spe_machine_destroy(m);
}

static void test_unit(void **state)
{
    const char *name;

    (void)state;
    for (size_t i = 0; (name = spe_machine_preset_at(i)); i++) {
        struct spe_spu_config config;

        if (spe_spu_config_init(&config, name) == SPE_OK)
            check_unit(name);
    }
}

/* ---- Settings by name ----------------------------------------------------------------------- */

static int set(struct spe_machine_config *config, const char *key, const char *value)
{
    char why[200] = "";
    int error = spe_machine_config_set(config, key, value, why, sizeof(why));

    assert_int_equal(error == SPE_ERR_INVALID, why[0] != 0);
    return error;
}

static void test_settings(void **state)
{
    static const char *const wrong[] = {"", "x", "-1", "1x", "1KK", "4294967296", "4G", " 1"};
    struct spe_machine_config config, before;
    char why[200];

    (void)state;
    spe_machine_config_init(&config, NULL);
    before = config;
    /* Every key sets one field, and sets it to what it says. */
    for (size_t i = 0; spe_machine_key_at(i); i++) {
        assert_int_equal(set(&config, spe_machine_key_at(i), "13"), SPE_OK);
        assert_memory_not_equal(&config, &before, sizeof(config));
        assert_true(strlen(spe_machine_key_sentence(i)) > 5);
        config = before;
    }
    assert_null(spe_machine_key_at(1000));
    assert_null(spe_machine_key_sentence(1000));
    assert_int_equal(set(&config, "l2", "2M"), SPE_OK);
    assert_int_equal(config.l2.bytes, 2 << 20);
    assert_int_equal(set(&config, "page", "64k"), SPE_OK);
    assert_int_equal(config.page_bytes, 64 << 10);
    assert_int_equal(set(&config, "page", "1G"), SPE_OK);
    assert_int_equal(config.page_bytes, 1 << 30);
    assert_int_equal(spe_machine_config_validate(&config, why, sizeof(why)), SPE_OK);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(set(&config, "l2", wrong[i]), SPE_ERR_INVALID);
    assert_int_equal(config.l2.bytes, 2 << 20);
    assert_int_equal(set(&config, "sockets", "1K"), SPE_ERR_INVALID);
    assert_int_equal(set(&config, "l4", "1"), SPE_ERR_UNKNOWN);
    config.l2.bytes = 3;
    assert_int_equal(spe_machine_config_validate(&config, why, sizeof(why)), SPE_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),   cmocka_unit_test(test_translation),
        cmocka_unit_test(test_upgrade), cmocka_unit_test(test_describe_load),
        cmocka_unit_test(test_issue),   cmocka_unit_test(test_branch_and_other),
        cmocka_unit_test(test_unit),    cmocka_unit_test(test_settings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
