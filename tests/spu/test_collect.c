/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.6: what every record holds; latencies and clocks, micro-operations, branches and the previous
 * branch target, conditions, operations that were not executed, exceptions, other operations.
 * Memory accesses, SVE and SME, and the controls have tests of their own.
 */
#include "support/sampling_unit.h"

#define E_EXCEPTION 1
#define E_RETIRED 2

static unsigned ending(const struct bench *b)
{
    return (unsigned)b->record.events & 3;
}

/* ---- What all records hold ------------------------------------------------------------------ */

static void test_common(void **state)
{
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    op.pc = UINT64_C(0xffff800012345678);
    bench_record(&b, &op);
    assert_true(b.record.has & SPE_HAS_EVENTS);              /* D17.6-194 */
    assert_int_equal(b.memory[b.size - 1], 1);               /* D17.6-194: End */
    assert_int_equal(ending(&b), E_RETIRED); /* D17.6-006 */ /* D17.6-008 */
    assert_int_equal(address_of(&b, SPE_ADDRESS_PC), UINT64_C(0xff800012345678)); /* D17.6-009 */
    assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), 8);                       /* D17.6-012 */
    assert_int_equal(counter_of(&b, SPE_COUNTER_ISSUE), 3);                       /* D17.6-013 */
    assert_int_equal(b.record.counters, 3);
    assert_int_equal(b.record.addresses, 1);
    assert_int_equal(b.type.kind, SPE_OP_OTHER);
    bench_set(&b, SPE_REG_PMSCR_EL1, PMSCR_ON | 0x20);
    bench_record(&b, &op);
    assert_true(b.record.has & SPE_HAS_TIMESTAMP); /* D17.6-001 */
    assert_int_equal(b.memory[b.size - 9], 0x71);  /* D17.6-194: Timestamp */
    bench_close(&b);
}

/* One operation of each kind: its class, and what is always there. */
static void test_kinds(void **state)
{
    static const struct {
        uint8_t kind, class_;
        bool returns;
    } cases[] = {
        /* D17.6-010 */
        {SPE_OPERATION_OTHER, 0, 0},    {SPE_OPERATION_SVE, 0, 0},
        {SPE_OPERATION_SME_TILE, 0, 0}, {SPE_OPERATION_SME_VECTOR, 0, 0},
        {SPE_OPERATION_LOAD, 1, 0},     {SPE_OPERATION_STORE, 1, 0},
        {SPE_OPERATION_ATOMIC, 1, 0},   {SPE_OPERATION_ATOMIC, 1, 1},
        {SPE_OPERATION_MEMCPY, 1, 0},   {SPE_OPERATION_MEMSET, 1, 0},
        {SPE_OPERATION_GCS, 1, 0},      {SPE_OPERATION_BRANCH, 2, 0},
        {SPE_OPERATION_ERET, 2, 0},     {SPE_OPERATION_ISB, 0, 0},
        {SPE_OPERATION_CMO, 0, 0},      {SPE_OPERATION_PREFETCH, 0, 0},
        {SPE_OPERATION_AT, 0, 0},       {SPE_OPERATION_SVE_PREFETCH, 0, 0},
        {SPE_OPERATION_DC_ZVA, 1, 0},   {SPE_OPERATION_WFX, 0, 0},
    };
    struct spe_memory_access a = access_at(0x1000);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct spe_operation op = access_operation(cases[i].kind, &a, 1);

        op.taken = cases[i].class_ == 2;
        op.returns_value = cases[i].returns;
        a.store = cases[i].kind == SPE_OPERATION_STORE || cases[i].kind == SPE_OPERATION_MEMSET;
        bench_record(&b, &op);
        assert_true(b.record.has & SPE_HAS_OP);
        assert_int_equal(b.record.op_class, cases[i].class_); /* D17.6-010 */
        assert_true(has_address(&b, SPE_ADDRESS_PC));         /* D17.6-009 */
        assert_true(has_counter(&b, SPE_COUNTER_TOTAL));      /* D17.6-012 */
        assert_true(has_counter(&b, SPE_COUNTER_ISSUE));      /* D17.6-013 */
        assert_true(b.record.has & SPE_HAS_EVENTS);           /* D17.6-194 */
        assert_int_equal(ending(&b), E_RETIRED);
    }
    bench_close(&b);
}

/* ---- Latencies ------------------------------------------------------------------------------ */

static void test_stage(void **state)
{
    static const struct {
        const char *options;
        unsigned total, issue;
    } cases[] = {
        /* D17.3-038 */ /* D18.2-041 */
        {"sample_stage=decode", 7 + 20 + 300, 7 + 20},
        {"sample_stage=dispatch", 20 + 300, 20},
        {"sample_stage=issue", 300, 0},
        {"complete_means_committed=0", 20 + 300, 20},        /* D18.2-043 */
        {"complete_means_committed=1", 20 + 300 + 4000, 20}, /* D18.2-043 */
    };
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct bench b;

    (void)state;
    op.decode_cycles = 7;
    op.issue_cycles = 20;
    op.execute_cycles = 300;
    op.commit_cycles = 4000;
    op.sleep_cycles = 10000; /* of no other operation than WFX */
    op.result_cycles = 10000;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bench_open(&b, ALL, cases[i].options);
        bench_record(&b, &op);
        /* D17.3-038 */ /* D18.2-041 */ /* D18.2-043 */
        assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), cases[i].total);
        assert_int_equal(counter_of(&b, SPE_COUNTER_ISSUE), cases[i].issue);
        bench_close(&b);
    }
}

/* When operations of each class are complete. */
static void test_complete(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    a.done_at = 90;
    for (unsigned kind = 0; kind < SPE_OPERATION_KIND_COUNT; kind++) {
        struct spe_operation op = access_operation((enum spe_operation_kind)kind, &a, 1);
        bool reads = kind == SPE_OPERATION_LOAD || kind == SPE_OPERATION_ATOMIC ||
                     kind == SPE_OPERATION_MEMCPY || kind == SPE_OPERATION_GCS;

        op.returns_value = true;
        op.taken = true;
        a.store = kind == SPE_OPERATION_STORE || kind == SPE_OPERATION_MEMSET ||
                  kind == SPE_OPERATION_DC_ZVA;
        bench_record(&b, &op);
        /* D18.2-042: data has come; a store, branch or other has been executed */
        assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), 3 + (reads ? 90 : 5));
    }
    bench_close(&b);
}

static void test_wfx(void **state)
{
    static const struct {
        const char *options;
        unsigned total;
    } cases[] = {
        /* D18.2-044 */ /* D18.2-045 */
        {"wfx_complete=before_sleep wfx_counters_run=0", 8},
        {"wfx_complete=before_sleep wfx_counters_run=1", 8},
        {"wfx_complete=on_wake wfx_counters_run=0", 8},
        {"wfx_complete=on_wake wfx_counters_run=1", 1008},
    };
    struct spe_operation op = operation(SPE_OPERATION_WFX);
    struct bench b;

    (void)state;
    op.sleep_cycles = 1000;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bench_open(&b, ALL, cases[i].options);
        bench_record(&b, &op);
        /* D18.2-044 */ /* D18.2-045 */
        assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), cases[i].total);
        bench_close(&b);
    }
}

static void test_saturation(void **state)
{
    static const uint32_t cycles[] = {0xffe, 0xfff, 0x1000, 0xfffe, 0xffff, 0x10000, UINT32_MAX};
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct bench b;

    (void)state;
    for (unsigned wide = 0; wide < 2; wide++) {
        uint32_t most = wide ? 0xffff : 0xfff;

        bench_open(&b, ALL, wide ? "count_size=16" : "count_size=12");
        for (size_t i = 0; i < COUNT(cycles); i++) {
            op.issue_cycles = cycles[i];
            op.execute_cycles = cycles[i];
            bench_record(&b, &op);
            /* D18.2-049 */
            assert_int_equal(counter_of(&b, SPE_COUNTER_ISSUE),
                             cycles[i] < most ? cycles[i] : most);
            assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL),
                             2 * (uint64_t)cycles[i] < most ? 2 * cycles[i] : most);
        }
        bench_close(&b);
    }
}

static void test_fixed_counters(void **state)
{
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct bench b;

    (void)state;
    for (unsigned omit = 0; omit < 2; omit++) {
        bench_open(&b, ALL, omit ? "omit_fixed_counters=1" : "omit_fixed_counters=0");
        bench_record(&b, &op);
        assert_int_equal(b.record.counters, 3); /* none is fixed */
        bench_close(&b);
        bench_open(&b, ALL,
                   omit ? "fixed_counters=1 fixed_counter_value=7 omit_fixed_counters=1"
                        : "fixed_counters=1 fixed_counter_value=7 omit_fixed_counters=0");
        bench_record(&b, &op);
        assert_int_equal(has_counter(&b, SPE_COUNTER_ISSUE), !omit); /* D17.6-016 */
        if (!omit)
            assert_int_equal(counter_of(&b, SPE_COUNTER_ISSUE), 7);
        assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), 8);
        bench_close(&b);
    }
    /* A total that is fixed is so for the filter too. */
    bench_open(&b, ALL, "fixed_counters=0 fixed_counter_value=7 omit_fixed_counters=1");
    bench_set(&b, SPE_REG_PMSFCR_EL1, 4);
    bench_set(&b, SPE_REG_PMSLATFR_EL1, 8);
    assert_int_equal(bench_sample(&b, &op), SPE_FATE_FILTERED);
    bench_set(&b, SPE_REG_PMSLATFR_EL1, 7);
    bench_record(&b, &op);
    assert_int_equal(b.record.counters, 2);
    bench_close(&b);
}

/* IMPLEMENTATION DEFINED events, counters and addresses: those that are configured. */
static void test_impdef(void **state)
{
    static const struct spe_extra extras[] = {
        {SPE_PACKET_COUNTER, 6, 0x123},   {SPE_PACKET_COUNTER, 31, 0x1000000},
        {SPE_PACKET_COUNTER, 16, 5},      {SPE_PACKET_ADDRESS, 7, UINT64_C(0xfedcba9876543210)},
        {SPE_PACKET_ADDRESS, 20, 0x4444}, {SPE_PACKET_ADDRESS, 6, 1},
    };
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    struct bench b;

    (void)state;
    op.extras = extras;
    op.extra_count = COUNT(extras);
    op.impdef_events = ~UINT64_C(0);
    bench_open(&b, ALL,
               "impdef_events=0x8001000000005000 impdef_counters=6,31 "
               "impdef_addresses=7,20");
    bench_record(&b, &op);
    /* D17.6-017 */
    assert_int_equal(b.record.events, UINT64_C(0x8001000000005000) | E_RETIRED);
    assert_int_equal(b.record.counters, 3 | 1u << 6 | 1u << 31);
    assert_int_equal(counter_of(&b, 6), 0x123);
    assert_int_equal(counter_of(&b, 31), 0xffff); /* D18.2-049 */
    assert_int_equal(b.record.addresses, 1 | 1u << 7 | 1u << 20);
    assert_int_equal(b.record.address[7], UINT64_C(0xfedcba9876543210));
    assert_int_equal(b.record.address[20], 0x4444);
    bench_close(&b);
    bench_open(&b, ALL, "");
    bench_record(&b, &op); /* D17.6-017: empty unless configured */
    assert_int_equal(b.record.events, E_RETIRED);
    assert_int_equal(b.record.counters, 3);
    assert_int_equal(b.record.addresses, 1);
    bench_close(&b);
    bench_open(&b, NO_V1P4 ",-spe_sme,-sme", "impdef_events=0xff000000");
    bench_record(&b, &op);
    assert_int_equal(b.record.events, UINT64_C(0xff000000) | E_RETIRED); /* D17.6-017 */
    bench_close(&b);
}

/* ---- Other clocks (D17.6.1) ----------------------------------------------------------------- */

static void test_clocks(void **state)
{
    static const struct {
        const char *features, *options;
        bool asynchronous, streaming;
        unsigned index, cycles;
    } cases[] = {
        /* D17.6-018 */
        {ALL, "async_counter_clock=cpu", true, true, 1, 3},
        {ALL, "async_counter_clock=smcu_alt", true, true, 4, 77},
        {ALL, "async_counter_clock=smcu_alt", true, false, 1, 3}, /* D17.6-020 */
        {ALL, "async_counter_clock=smcu_alt", false, true, 1, 3}, /* D17.6-020 */
        {ALL, "async_counter_clock=impdef async_counter_index=6", true, false, 6, 77},
        {ALL, "async_counter_clock=impdef async_counter_index=29", true, true, 29, 77},
        {ALL, "async_counter_clock=impdef async_counter_index=29", false, true, 1, 3},
        {ALL, "async_counter_clock=impdef sample_stage=issue", true, true, 6, 0},
        {ALL ",-spe_sme", "async_counter_clock=impdef", true, false, 6, 77},
    };
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct spe_operation op = operation(SPE_OPERATION_SME_TILE);

        bench_open(&b, cases[i].features, cases[i].options);
        op.asynchronous = cases[i].asynchronous;
        op.streaming = cases[i].streaming;
        op.alt_issue_cycles = 77;
        bench_record(&b, &op);
        /* D17.6-018 */ /* D17.6-020 */ /* D17.6-021 */
        assert_int_equal(b.record.counters, 1 | 1u << cases[i].index);
        assert_int_equal(counter_of(&b, cases[i].index), cases[i].cycles);
        /* D17.6-019: in CPU cycles, always */
        assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), i == 7 ? 5 : 8);
        bench_close(&b);
    }
}

static void test_clocks_refused(void **state)
{
    static const char *const refused[][2] = {
        {ALL ",-spe_sme", "async_counter_clock=smcu_alt"},     /* D17.6-020 */
        {ALL ",-spe_altclk", "async_counter_clock=smcu_alt"},  /* D17.6-020 */
        {ALL, "altclk=impdef async_counter_clock=smcu_alt"},   /* D17.6-020 */
        {ALL, "async_counter_clock=impdef impdef_counters=6"}, /* D17.6-021 */
    };
    struct spe_spu_config config;
    char why[256];
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++)
        assert_int_equal(bench_create(&b, refused[i][0], refused[i][1], why, sizeof(why)),
                         SPE_ERR_INVALID);
    bench_config(&config, ALL, "");
    /* D17.6-021: never the INDEX of an architected counter */
    for (unsigned index = 0; index < 32; index++) {
        bool impdef = index == 6 || index == 7 || index >= 16;

        snprintf(why, sizeof(why), "%u", index);
        assert_int_equal(spe_spu_option_set(&config, "async_counter_index", why, NULL, 0),
                         impdef ? SPE_OK : SPE_ERR_INVALID);
    }
}

/* ---- Micro-operations (D17.6.2) ------------------------------------------------------------- */

static void test_micro_ops(void **state)
{
    static const char *const units[] = {"sample_unit=micro_op", "sample_unit=instruction"};
    struct spe_memory_access a = access_at(0x1000);
    struct bench b;

    (void)state;
    for (size_t u = 0; u < COUNT(units); u++) { /* D17.6-022 */
        struct spe_operation op = access_operation(SPE_OPERATION_LOAD, &a, 1);

        bench_open(&b, ALL, units[u]);
        assert_int_equal(bench_get(&b, SPE_REG_PMSIDR_EL1) >> 3 & 1, u); /* D17.6-022 */
        bench_record(&b, &op);
        assert_int_equal(b.record.op_class, SPE_CLASS_LDST); /* D17.6-025 */
        assert_true(bench_keeps(&b, &op, TYPE_LD));          /* D17.6-025 */
        op.address_generation = true;
        op.registers = SPE_REGISTERS_SIMD;
        op.floating_point = op.advanced_simd = true; /* of the instruction, not of the address */
        bench_record(&b, &op);
        assert_int_equal(b.type.kind, SPE_OP_OTHER); /* D17.6-024 */
        assert_false(bench_keeps(&b, &op, TYPE_LD)); /* D17.6-024 */
        assert_int_equal(bench_types(&b, &op), 0);   /* D17.6-024 */
        bench_record(&b, &op);
        assert_int_equal(b.record.addresses, 1);                /* D17.6-023 */
        assert_false(b.record.has & SPE_HAS_SOURCE);            /* D17.6-023 */
        assert_false(has_counter(&b, SPE_COUNTER_TRANSLATION)); /* D17.6-023 */
        assert_int_equal(b.record.events, E_RETIRED);           /* D17.6-023 */
        bench_close(&b);
    }
}

/* ---- Branches (D17.6.3) --------------------------------------------------------------------- */

#define TARGET UINT64_C(0x00aabbccdd0010)

static struct spe_operation branch(bool conditional, bool taken)
{
    struct spe_operation op = operation(SPE_OPERATION_BRANCH);

    op.conditional = conditional;
    op.taken = taken;
    op.condition_failed = conditional && !taken;
    op.target = TARGET;
    op.target_security = SPE_NONSECURE;
    return op;
}

static void check_branch(struct bench *b, unsigned n)
{
    bool conditional = n & 1, taken = n & 2 || !conditional, indirect = n & 4;
    bool mispredicted = n & 8, link = n & 16, ret = n & 32;
    struct spe_operation op = branch(conditional, taken);
    unsigned cr = link ? SPE_CR_LINK : ret ? SPE_CR_RETURN : SPE_CR_NEITHER;

    op.indirect = indirect;
    op.mispredicted = mispredicted;
    op.link = link;
    op.procedure_return = ret;
    bench_record(b, &op);
    assert_int_equal(b->type.kind, SPE_OP_BRANCH);               /* D17.6-026 */
    assert_int_equal(b->type.cond, conditional); /* D17.6-026 */ /* D17.6-011 */
    assert_int_equal(b->type.ind, indirect);                     /* D17.6-033 */
    assert_int_equal(b->type.gcs, false);
    /* D17.6-037 */ /* D18.2-135 */
    assert_int_equal(b->type.cr, spe_has(b->config.features, SPE_FEAT_SPE_CRR) ? cr : 0);
    assert_int_equal(event(b, SPE_EVENT_NOT_TAKEN), !taken); /* D17.6-032 */ /* D17.6-118 */
    assert_int_equal(event(b, SPE_EVENT_MISPREDICTED), /* D17.6-031 */       /* D17.6-030 */
                                                           mispredicted &&
                                                           b->config.branch_prediction);
    assert_int_equal(has_address(b, SPE_ADDRESS_TARGET), taken); /* D17.6-028 */
    if (taken)
        assert_int_equal(address_of(b, SPE_ADDRESS_TARGET), TARGET);
    assert_false(has_address(b, SPE_ADDRESS_VA));
}

static void test_branches(void **state)
{
    static const char *const units[][2] = {
        {ALL, "branch_prediction=1"}, /* D17.6-030 */
        {ALL, "branch_prediction=0"}, /* D17.6-030 */
        {NO_V1P4, ""},
    };
    struct bench b;

    (void)state;
    for (size_t u = 0; u < COUNT(units); u++) {
        bench_open(&b, units[u][0], units[u][1]);
        for (unsigned n = 0; n < 64; n++)
            if ((n & 48) != 48) /* never both a call and a return */
                check_branch(&b, n);
        bench_close(&b);
    }
}

static struct spe_address target_of(const struct bench *b, unsigned index)
{
    struct spe_address a;

    assert_true(has_address(b, index));
    spe_address_decode(index, b->record.address[index], &a);
    return a;
}

static void test_exception_return(void **state)
{
    static const char *const options[] = {"illegal_eret_context=actual",
                                          "illegal_eret_context=spsr"};
    struct bench b;

    (void)state;
    for (unsigned spsr = 0; spsr < 2; spsr++)
        for (unsigned illegal = 0; illegal < 2; illegal++) {
            struct spe_operation op = operation(SPE_OPERATION_ERET);
            struct spe_address target, pc;
            bool described = spsr && illegal;

            bench_open(&b, ALL, options[spsr]);
            b.pe.el = 1;
            bench_pe(&b);
            op.target = TARGET;
            op.target_el = 0;
            op.target_security = SPE_NONSECURE;
            op.spsr_el = 2;
            op.spsr_security = SPE_REALM;
            op.illegal_return = illegal;
            op.conditional = true; /* it is not: D17.6-027 */
            bench_record(&b, &op);
            assert_int_equal(b.type.kind, SPE_OP_BRANCH); /* D17.6-027 */
            assert_false(b.type.cond);                    /* D17.6-027 */
            assert_true(b.type.ind);
            assert_int_equal(b.type.cr, SPE_CR_NEITHER);
            assert_false(event(&b, SPE_EVENT_NOT_TAKEN));
            target = target_of(&b, SPE_ADDRESS_TARGET);
            pc = target_of(&b, SPE_ADDRESS_PC);
            assert_int_equal(target.address, TARGET);
            assert_int_equal(pc.el, 1);                                     /* D18.2-015 */
            assert_int_equal(target.el, described ? 2 : 0); /* D17.6-028 */ /* D17.6-029 */
            assert_int_equal(target.nse << 1 | target.ns, /* D17.6-028 */   /* D17.6-029 */
                                                              described ? SPE_REALM
                                                                        : SPE_NONSECURE);
            bench_close(&b);
        }
}

/* Without FEAT_RME there is no NSE bit, whatever the host says. */
static void test_target_without_rme(void **state)
{
    struct spe_operation op = branch(false, true);
    struct bench b;

    (void)state;
    bench_open(&b, ALL ",-rme", "");
    op.target_security = SPE_REALM;
    bench_record(&b, &op);
    assert_int_equal(target_of(&b, SPE_ADDRESS_TARGET).nse, 0);
    assert_int_equal(target_of(&b, SPE_ADDRESS_TARGET).ns, 1);
    bench_close(&b);
}

static void test_not_taken_target(void **state)
{
    static const char *const options[] = {"not_taken_target=omit", "not_taken_target=emit_unknown"};
    struct spe_operation op = branch(true, false);
    struct bench b;

    (void)state;
    for (unsigned emit = 0; emit < 2; emit++) {
        bench_open(&b, ALL, options[emit]);
        bench_record(&b, &op);
        assert_int_equal(has_address(&b, SPE_ADDRESS_TARGET), emit); /* D17.6-034 */
        assert_true(event(&b, SPE_EVENT_NOT_TAKEN));
        bench_close(&b);
    }
}

static void test_isb(void **state)
{
    struct spe_operation op = operation(SPE_OPERATION_ISB);
    struct bench b;

    (void)state;
    for (unsigned is_branch = 0; is_branch < 2; is_branch++) {
        bench_open(&b, ALL, is_branch ? "isb_is_branch=1" : "isb_is_branch=0");
        bench_record(&b, &op);
        /* D17.6-041 */
        assert_int_equal(b.type.kind, is_branch ? SPE_OP_BRANCH : SPE_OP_OTHER);
        assert_int_equal(has_address(&b, SPE_ADDRESS_TARGET), is_branch);
        assert_int_equal(bench_types(&b, &op), is_branch ? TYPE_B : 0);
        if (is_branch) {
            bench_record(&b, &op);
            assert_int_equal(address_of(&b, SPE_ADDRESS_TARGET), op.pc + 4); /* D17.6-041 */
            assert_int_equal(target_of(&b, SPE_ADDRESS_TARGET).el, 0);
            assert_int_equal(target_of(&b, SPE_ADDRESS_TARGET).ns, 1);
            assert_false(b.type.ind || b.type.cond);
        }
        bench_close(&b);
    }
}

/* A branch that pushes to or pops from the Guarded Control Stack is both. */
static void test_branch_with_gcs(void **state)
{
    struct spe_memory_access a = access_at(0x7000);
    struct bench b;

    (void)state;
    for (unsigned pops = 0; pops < 2; pops++) {
        struct spe_operation op = branch(false, true);

        bench_open(&b, ALL, "");
        a.store = !pops;
        a.wait_start = 10;
        a.translated_at = 14;
        a.done_at = 400;
        op.link = !pops;
        op.procedure_return = pops;
        op.gcs_access = true;
        op.accesses = &a;
        op.access_count = 1;
        op.execute_cycles = 500;
        for (unsigned filter = 0; filter < 3; filter++) {
            static const unsigned types[] = {0, TYPE_B, TYPE_LD | TYPE_ST};

            bench_set(&b, SPE_REG_PMSFCR_EL1, (uint64_t)types[filter] << 16 | 2);
            bench_record(&b, &op);                        /* D17.6-039 */
            assert_int_equal(b.type.kind, SPE_OP_BRANCH); /* D17.6-038 */
            assert_true(b.type.gcs);                      /* D17.6-070 */
            /* D17.6-038 */                               /* D17.6-113 */
            assert_int_equal(address_of(&b, SPE_ADDRESS_TARGET), TARGET);
            assert_int_equal(address_of(&b, SPE_ADDRESS_VA), 0x7000);
            assert_true(has_address(&b, SPE_ADDRESS_PA));
            assert_int_equal(counter_of(&b, SPE_COUNTER_TRANSLATION), 4);
            assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), 503);
            assert_int_equal(counter_of(&b, SPE_COUNTER_ISSUE), 3);
            assert_true(event(&b, SPE_EVENT_TLB_ACCESS));
            assert_int_equal(b.record.has & SPE_HAS_SOURCE, pops ? SPE_HAS_SOURCE : 0);
        }
        assert_int_equal(bench_types(&b, &op), TYPE_B | (pops ? TYPE_LD : TYPE_ST)); /* D17.6-039 */
        bench_close(&b);
    }
}

/* Both latencies are covered: a pop that is longer than the branch. */
static void test_branch_waits_for_gcs(void **state)
{
    struct spe_memory_access a = access_at(0x7000);
    struct spe_operation op = branch(false, true);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    a.done_at = 900;
    op.procedure_return = op.gcs_access = true;
    op.accesses = &a;
    op.access_count = 1;
    bench_record(&b, &op);
    assert_int_equal(counter_of(&b, SPE_COUNTER_TOTAL), 903); /* D17.6-113 */
    bench_close(&b);
}

/* One that generates an exception is not a branch. */
static void test_branch_with_exception(void **state)
{
    static const uint8_t kinds[] = {SPE_OPERATION_BRANCH, SPE_OPERATION_ERET, SPE_OPERATION_ISB};
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "incomplete_op_info=all isb_is_branch=1 not_taken_target=emit_unknown");
    for (size_t i = 0; i < COUNT(kinds); i++) {
        struct spe_operation op = branch(false, true);

        op.kind = kinds[i];
        op.exception = true;
        op.mispredicted = true;
        bench_record(&b, &op);
        assert_int_equal(b.type.kind, SPE_OP_OTHER);                       /* D17.6-040 */
        assert_false(has_address(&b, SPE_ADDRESS_TARGET)); /* D17.6-040 */ /* D17.6-007 */
        assert_false(event(&b, SPE_EVENT_MISPREDICTED));                   /* D17.6-040 */
        assert_int_equal(bench_types(&b, &op), 0);                         /* D17.6-040 */
    }
    bench_close(&b);
}

/* ---- Previous branch target (D17.6.3.1) ----------------------------------------------------- */

#define PREVIOUS UINT64_C(0x00112233445566)

static void report_branch(struct bench *b, uint64_t target, bool context_sync)
{
    struct spe_taken_branch taken = {.target = target, .el = 1, .security = SPE_REALM};

    taken.context_sync = context_sync;
    spe_spu_branch(b->spu, &taken);
}

static bool has_previous(struct bench *b, const struct spe_operation *op)
{
    bench_record(b, op);
    return has_address(b, SPE_ADDRESS_PREVIOUS_TARGET);
}

static void test_previous_target(void **state)
{
    struct spe_operation op = branch(false, true);
    struct spe_address a;
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    assert_int_equal(bench_get(&b, SPE_REG_PMSIDR_EL1) >> 24 & 1, 1); /* D17.6-042 */
    assert_false(has_previous(&b, &op));                              /* there was none */
    report_branch(&b, 0x1111, false);
    report_branch(&b, PREVIOUS, false);
    assert_true(has_previous(&b, &op)); /* D17.6-036 */ /* D17.6-043 */
    a = target_of(&b, SPE_ADDRESS_PREVIOUS_TARGET);
    assert_int_equal(a.address, PREVIOUS); /* D17.6-036 */ /* D17.6-043 */
    assert_int_equal(a.el, 1);
    assert_int_equal(a.nse << 1 | a.ns, SPE_REALM);
    assert_int_equal(address_of(&b, SPE_ADDRESS_TARGET), TARGET);
    /* The branch before the sampled one, not those that end while it is in flight. */
    bench_select(&b);
    report_branch(&b, 0x2222, false);
    bench_finish(&b, &op);
    assert_int_equal(address_of(&b, SPE_ADDRESS_PREVIOUS_TARGET), PREVIOUS); /* D17.6-043 */
    bench_close(&b);
    bench_open(&b, ALL ",-spe_pbt", "pbt_non_branch=1");
    assert_int_equal(bench_get(&b, SPE_REG_PMSIDR_EL1) >> 24 & 1, 0); /* D17.6-042 */
    report_branch(&b, PREVIOUS, false);
    assert_false(has_previous(&b, &op)); /* D17.6-036: FEAT_SPE_PBT */
    bench_close(&b);
}

static void test_previous_target_of_others(void **state)
{
    struct spe_operation other = operation(SPE_OPERATION_OTHER);
    struct spe_operation not_taken = branch(true, false), taken = branch(true, true);
    struct bench b;

    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        bench_open(&b, ALL, on ? "pbt_non_branch=1" : "pbt_non_branch=0");
        report_branch(&b, PREVIOUS, false);
        assert_int_equal(has_previous(&b, &other), on);     /* D17.6-044 */
        assert_int_equal(has_previous(&b, &not_taken), on); /* D17.6-044 */
        assert_true(has_previous(&b, &taken));
        bench_close(&b);
    }
}

static void test_previous_target_and_context(void **state)
{
    struct spe_operation op = branch(false, true);
    char options[80];
    struct bench b;

    (void)state;
    for (unsigned n = 0; n < 4; n++) {
        bool after = n & 1, none = n & 2;

        snprintf(options, sizeof(options), "pbt_after_cse=%u pbt_none_since_cse=%u", after, none);
        bench_open(&b, ALL, options);
        report_branch(&b, PREVIOUS, true);              /* an exception return, say */
        assert_int_equal(has_previous(&b, &op), after); /* D17.6-045 */
        report_branch(&b, PREVIOUS, false);
        assert_true(has_previous(&b, &op));
        spe_spu_context_sync(b.spu);
        assert_int_equal(has_previous(&b, &op), none); /* D17.6-046 */
        report_branch(&b, PREVIOUS, false);
        assert_true(has_previous(&b, &op));
        bench_close(&b);
    }
}

/* Never: a branch while profiling was disabled, an operation that is still speculative. */
static void test_previous_target_hidden(void **state)
{
    struct spe_operation op = branch(false, true);
    struct bench b;

    (void)state;
    bench_open(&b, ALL,
               "pbt_non_branch=1 pbt_after_cse=1 pbt_none_since_cse=1 spec_sampling=1 "
               "pop_misspec=1 capture_misspec=1 incomplete_op_info=all");
    b.pe.el = 2;
    bench_pe(&b);
    report_branch(&b, PREVIOUS, false);
    b.pe.el = 0;
    bench_pe(&b);
    assert_false(has_previous(&b, &op)); /* D17.6-047 */
    report_branch(&b, PREVIOUS, false);
    assert_true(has_previous(&b, &op));
    b.pe.el = 2; /* also when an older one was not hidden */
    bench_pe(&b);
    report_branch(&b, 0x3333, false);
    b.pe.el = 0;
    bench_pe(&b);
    assert_false(has_previous(&b, &op)); /* D17.6-047 */
    report_branch(&b, PREVIOUS, false);
    op.misspeculated = true;
    assert_false(has_previous(&b, &op)); /* D17.6-048 */
    bench_close(&b);
}

/* ---- Conditions (D17.6.5) ------------------------------------------------------------------- */

static void test_conditional(void **state)
{
    static const char *const names[] = {"csel",  "fcsel", "csinc", "csneg",
                                        "csinv", "ccmp",  "fccmp", "ccmn"};
    struct bench b;
    char options[40];

    (void)state;
    for (unsigned chosen = 0; chosen < 10; chosen++) { /* each alone, all, none */
        if (chosen < 8)
            snprintf(options, sizeof(options), "cond_ops=%s", names[chosen]);
        else
            snprintf(options, sizeof(options), "cond_ops=%s", chosen == 8 ? "all" : "none");
        bench_open(&b, ALL, options);
        for (uint8_t i = 0; i < 8; i++)
            for (unsigned failed = 0; failed < 2; failed++) {
                struct spe_operation op = operation(SPE_OPERATION_OTHER);
                bool counts = chosen == i || chosen == 8;

                op.cond_op = 1 + i;
                op.condition_failed = failed;
                bench_record(&b, &op);
                assert_int_equal(b.type.kind, SPE_OP_OTHER);
                /* D17.6-011 */ /* D17.6-118 */ /* D17.6-120 */
                assert_int_equal(b.type.cond, counts);
                assert_int_equal(event(&b, SPE_EVENT_NOT_TAKEN), counts && failed);
            }
        bench_close(&b);
    }
}

/* ADD has no condition, and a predicate is none. CSET is CSINC with the opposite condition: what is
 * told is of the machine instruction, so the host says that its condition failed. */
static void test_not_conditional(void **state)
{
    struct spe_operation add = operation(SPE_OPERATION_OTHER);
    struct spe_operation predicated = operation(SPE_OPERATION_SVE);
    struct spe_operation cset = operation(SPE_OPERATION_OTHER);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    bench_record(&b, &add);
    assert_false(b.type.cond); /* D17.6-011 */
    predicated.predicated = predicated.partial_predicate = true;
    predicated.vl_bits = 256;
    predicated.cond_op = 1;
    predicated.condition_failed = true;
    bench_record(&b, &predicated);
    assert_int_equal(b.type.kind, SPE_OP_SVE);
    assert_false(event(&b, SPE_EVENT_NOT_TAKEN)); /* D17.6-119 */
    predicated.kind = SPE_OPERATION_SME_TILE;
    bench_record(&b, &predicated);
    assert_false(event(&b, SPE_EVENT_NOT_TAKEN)); /* D17.6-119 */
    cset.cond_op = 3;                             /* CSINC */
    cset.condition_failed = true;
    bench_record(&b, &cset);
    assert_true(event(&b, SPE_EVENT_NOT_TAKEN)); /* D17.6-121 */
    bench_close(&b);
}

/* ---- Not executed (D17.6.7) ----------------------------------------------------------------- */

#define SPECULATIVE                                                                                \
    "spec_sampling=1 pop_misspec=1 capture_misspec=1 pop_nonarch=1 capture_nonarch=1 "

/* An operation with everything that might tell something. */
static struct spe_operation loud_load(const struct spe_memory_access *a,
                                      const struct spe_extra *extra)
{
    struct spe_operation op = access_operation(SPE_OPERATION_LOAD, a, 1);

    op.registers = SPE_REGISTERS_SVE;
    op.vl_bits = 256;
    op.predicated = op.partial_predicate = op.empty_predicate = true;
    op.extras = extra;
    op.extra_count = 1;
    return op;
}

static void test_misspeculated(void **state)
{
    static const char *const infos[] = {"incomplete_op_info=none", "incomplete_op_info=subset",
                                        "incomplete_op_info=all"};
    const struct spe_extra extra = {SPE_PACKET_ADDRESS, 6, 0x5ec3e7};
    struct spe_memory_access a = access_at(0x5ec3e7);
    char options[200];
    struct bench b;

    (void)state;
    a.facts = 0xffff;
    for (unsigned info = 0; info < 3; info++)
        for (unsigned nonarch = 0; nonarch < 2; nonarch++) {
            struct spe_operation load = loud_load(&a, &extra), jump = branch(true, false);
            struct spe_operation call = branch(false, true);

            snprintf(options, sizeof(options),
                     SPECULATIVE "impdef_addresses=6 %s "
                                 "not_taken_target=emit_unknown pbt_non_branch=1",
                     infos[info]);
            bench_open(&b, ALL, options);
            report_branch(&b, PREVIOUS, false);
            jump.mispredicted = call.mispredicted = true;
            load.misspeculated = jump.misspeculated = call.misspeculated = !nonarch;
            load.nonarch = jump.nonarch = call.nonarch = nonarch;
            for (unsigned i = 0; i < 3; i++) {
                const struct spe_operation *ops[] = {&load, &jump, &call};

                bench_record(&b, ops[i]);
                assert_true(b.record.has & SPE_HAS_EVENTS);           /* D17.6-160 */
                assert_int_equal(b.memory[b.size - 1], 1);            /* D17.6-160 */
                assert_int_equal(b.record.events, 0); /* D17.6-161 */ /* D17.6-162 */
                /* D17.6-162: no address but its own, which it fetched from */
                assert_int_equal(b.record.addresses, info ? 1 : 0);
                assert_false(b.record.has & SPE_HAS_SOURCE);            /* D17.6-162 */
                assert_false(has_counter(&b, SPE_COUNTER_TRANSLATION)); /* D17.6-162 */
                assert_int_equal(b.record.has & SPE_HAS_OP, info ? SPE_HAS_OP : 0);
                assert_int_equal(b.record.counters, info == 2 ? 3 : 0); /* D17.6-014 */
            }
            bench_close(&b);
        }
}

/* Whether their records are written; such a sample is fed, but not a filtrate. */
static void test_capture(void **state)
{
    static const char *const pops[] = {"pop_misspec=1", "pop_nonarch=1", "pop_nonarch_exc=1"};
    static const char *const captures[] = {"capture_misspec", "capture_nonarch",
                                           "capture_nonarch_exc"};
    char options[200];
    struct bench b;

    (void)state;
    for (unsigned which = 0; which < 3; which++)
        for (unsigned on = 0; on < 2; on++) {
            struct spe_operation op = operation(SPE_OPERATION_OTHER);

            /* D17.6-159 */ /* D17.6-198 */
            snprintf(options, sizeof(options), "spec_sampling=1 %s %s=%u", pops[which],
                     captures[which], on);
            bench_open(&b, ALL, options);
            op.misspeculated = which == 0;
            op.nonarch = which == 1;
            op.nonarch_exception = which == 2;
            /* D17.6-159 */ /* D17.6-198 */
            assert_int_equal(bench_sample(&b, &op), on ? SPE_FATE_WRITTEN : SPE_FATE_NOT_CAPTURED);
            assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FEED), 1);
            assert_int_equal(bench_pmu(&b, SPE_PMU_SAMPLE_FILTRATE), on);
            bench_close(&b);
        }
}

/* Records that need E[1] to be 0 are refused where it reads as one. */
static void test_speculation_refused(void **state)
{
    static const char *const refused[] = {
        /* D18.2-093 */
        "pop_misspec=1 capture_misspec=1",
        "pop_nonarch=1 capture_nonarch=1",
        "pop_nonarch_exc=1 capture_nonarch_exc=1 nonarch_exc_record=not_executed",
        "spec_sampling=1 capture_misspec=1",     /* D17.6-159 */
        "spec_sampling=1 capture_nonarch=1",     /* D17.6-159 */
        "spec_sampling=1 capture_nonarch_exc=1", /* D17.6-198 */
    };
    char why[256];
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++)
        /* D18.2-093 */ /* D17.6-159 */ /* D17.6-198 */
        assert_int_equal(bench_create(&b, ALL, refused[i], why, sizeof(why)), SPE_ERR_INVALID);
    bench_open(&b, ALL, "spec_sampling=0 pop_nonarch_exc=1 capture_nonarch_exc=1");
    bench_close(&b);
}

/* E[1] follows retirement where operations can be sampled that do not, else it is one. */
static void test_retired(void **state)
{
    struct spe_operation fault = operation(SPE_OPERATION_OTHER);
    struct spe_operation failed = branch(true, false);
    struct bench b;

    (void)state;
    for (unsigned spec = 0; spec < 2; spec++) {
        bench_open(&b, ALL, spec ? SPECULATIVE : "spec_sampling=0");
        fault.exception = true;
        bench_record(&b, &fault);
        assert_int_equal(ending(&b), E_RETIRED | E_EXCEPTION); /* D18.2-093 */ /* D17.6-008 */
        bench_record(&b, &failed);
        assert_int_equal(ending(&b), E_RETIRED); /* an operation whose condition fails retires */
        if (spec) {
            failed.misspeculated = true;
            bench_record(&b, &failed);
            assert_int_equal(ending(&b), 0); /* D18.2-093 */
            failed.misspeculated = false;
        }
        bench_close(&b);
    }
}

/* ---- Exceptions (D17.6.10) ------------------------------------------------------------------ */

static void check_incomplete(struct bench *b, const struct spe_operation *op, unsigned info)
{
    bench_record(b, op);
    assert_true(b->record.has & SPE_HAS_EVENTS);    /* D17.6-194 */
    assert_true(b->record.has & SPE_HAS_TIMESTAMP); /* D17.6-194 */
    /* D17.6-014 */                                 /* D17.6-195 */
    assert_int_equal(has_address(b, SPE_ADDRESS_PC), info > 0);
    assert_int_equal((b->record.has & SPE_HAS_OP) != 0, info > 0);
    assert_int_equal((b->record.has & SPE_HAS_CONTEXT1) != 0, info > 0);
    assert_int_equal(b->record.counters & 3, info == 2 ? 3 : 0);
    assert_int_equal(has_address(b, SPE_ADDRESS_VA), info == 2 && op->access_count);
}

static void test_incomplete(void **state)
{
    static const char *const infos[] = {"incomplete_op_info=none", "incomplete_op_info=subset",
                                        "incomplete_op_info=all"};
    struct spe_memory_access a = access_at(0x1000);
    struct bench b;

    (void)state;
    a.untranslated = true;
    a.unperformed = true;
    for (unsigned info = 0; info < 3; info++) {
        struct spe_operation svc = operation(SPE_OPERATION_OTHER);
        struct spe_operation load = access_operation(SPE_OPERATION_LOAD, &a, 1);
        struct spe_operation nonfault = access_operation(SPE_OPERATION_LOAD, &a, 1);
        struct spe_operation prefetch = access_operation(SPE_OPERATION_PREFETCH, &a, 1);
        struct spe_operation at = access_operation(SPE_OPERATION_AT, &a, 1);

        bench_open(&b, ALL, infos[info]);
        bench_set(&b, SPE_REG_PMSCR_EL1, PMSCR_ON | 0x28);
        svc.exception = load.exception = true;
        check_incomplete(&b, &svc, info);
        assert_int_equal(ending(&b), E_RETIRED | E_EXCEPTION); /* D17.6-006 */
        assert_false(has_address(&b, SPE_ADDRESS_TARGET));     /* D17.6-007 */
        check_incomplete(&b, &load, info);
        assert_int_equal(ending(&b), E_RETIRED | E_EXCEPTION); /* D17.6-006 */
        assert_false(has_address(&b, SPE_ADDRESS_PA));         /* D17.6-196 */
        assert_false(has_counter(&b, SPE_COUNTER_TRANSLATION));
        assert_int_equal(b.record.events & ~UINT64_C(3), 0);
        nonfault.registers = SPE_REGISTERS_SVE;
        nonfault.fault_condition = prefetch.fault_condition = at.fault_condition = true;
        check_incomplete(&b, &nonfault, info); /* D17.6-195 */
        assert_int_equal(ending(&b), E_RETIRED);
        check_incomplete(&b, &prefetch, info); /* D17.6-195 */
        check_incomplete(&b, &at, info);       /* D17.6-195 */
        bench_close(&b);
    }
}

/* Data came before the exception: where from is told only with everything else. */
static void test_incomplete_source(void **state)
{
    static const char *const infos[] = {"incomplete_op_info=none", "incomplete_op_info=subset",
                                        "incomplete_op_info=all"};
    struct spe_memory_access a = access_at(0x1000);
    struct bench b;

    (void)state;
    a.has_source = true;
    a.source = 9;
    for (unsigned info = 0; info < 3; info++) {
        struct spe_operation load = access_operation(SPE_OPERATION_LOAD, &a, 1);

        bench_open(&b, ALL, infos[info]);
        load.exception = true;
        bench_record(&b, &load);
        assert_int_equal(!!(b.record.has & SPE_HAS_SOURCE), info == 2); /* D17.6-014 */
        bench_close(&b);
    }
}

/* An exception after the translation: its address is known and may be told. */
static void test_exception_after_translation(void **state)
{
    struct spe_memory_access a = access_at(0x1000);
    struct spe_operation op = access_operation(SPE_OPERATION_LOAD, &a, 1);
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "incomplete_op_info=all");
    op.exception = true;
    bench_record(&b, &op);
    assert_true(has_address(&b, SPE_ADDRESS_PA)); /* D17.6-196: it was computed */
    a.untranslated = true;
    bench_record(&b, &op);
    assert_false(has_address(&b, SPE_ADDRESS_PA)); /* D17.6-196 */
    bench_close(&b);
}

static void test_nonarch_exception(void **state)
{
    char options[200];
    struct bench b;

    (void)state;
    for (unsigned n = 0; n < 4; n++) {
        struct spe_operation op = branch(false, true);
        bool not_executed = n & 1, e0 = n & 2;

        /* D17.6-199 */ /* D17.6-201 */
        snprintf(options, sizeof(options),
                 "spec_sampling=1 pop_nonarch_exc=1 capture_nonarch_exc=1 nonarch_exc_record=%s "
                 "nonarch_exc_e0=%u incomplete_op_info=subset",
                 not_executed ? "not_executed" : "handling", e0);
        bench_open(&b, ALL, options);
        op.nonarch_exception = true;
        bench_record(&b, &op);
        if (not_executed) /* D17.6-199 */ /* D17.6-200 */ /* D17.6-201 */ /* D18.2-095 */
            assert_int_equal(ending(&b), e0 ? E_EXCEPTION : 0);
        else /* D17.6-199 */
            assert_int_equal(ending(&b), E_RETIRED);
        assert_int_equal(has_address(&b, SPE_ADDRESS_TARGET), !not_executed); /* D17.6-199 */
        bench_close(&b);
    }
}

/* Mispredictions: all of them, or only those of branches that retire. */
static void test_mispredicted_retired(void **state)
{
    struct spe_operation op = branch(false, true);
    struct bench b;

    (void)state;
    op.mispredicted = true;
    op.nonarch_exception = true;
    for (unsigned retired = 0; retired < 2; retired++) {
        unsigned counted = 0, recorded = 0;

        bench_open(&b, ALL,
                   retired ? "spec_sampling=1 pop_nonarch_exc=1 capture_nonarch_exc=1 "
                             "nonarch_exc_record=not_executed pmu_mispred_retired=1"
                           : "spec_sampling=1 pop_nonarch_exc=1 capture_nonarch_exc=1 "
                             "nonarch_exc_record=not_executed pmu_mispred_retired=0");
        for (unsigned i = 0; i < 8; i++) {
            op.mispredicted = i & 1;
            op.nonarch_exception = i & 2;
            counted += op.mispredicted && !(retired && op.nonarch_exception);
            bench_record(&b, &op);
            recorded += event(&b, SPE_EVENT_MISPREDICTED);
        }
        assert_int_equal(recorded, counted); /* D18.2-083 */
        bench_close(&b);
    }
}

/* ---- Other operations (D17.6.8) ------------------------------------------------------------- */

static void test_other(void **state)
{
    struct bench b;

    (void)state;
    for (unsigned fpf = 0; fpf < 2; fpf++) {
        bench_open(&b, fpf ? ALL : ALL NO_EFT, "");
        for (unsigned n = 0; n < 8; n++) {
            struct spe_operation op = operation(SPE_OPERATION_OTHER);

            op.cond_op = n & 1 ? 6 : 0; /* CCMP */
            op.floating_point = n & 2;
            op.advanced_simd = n & 4;
            bench_record(&b, &op);
            /* D17.6-163 */
            assert_int_equal(b.type.kind, SPE_OP_OTHER);
            assert_int_equal(b.type.cond, n & 1);
            assert_int_equal(b.type.fp, fpf && (n & 2));
            assert_int_equal(b.type.ase, fpf && (n & 4));
            if (fpf)
                assert_int_equal(bench_types(&b, &op),
                                 (n & 2 ? TYPE_FP : 0) | (n & 4 ? TYPE_SIMD : 0));
        }
        bench_close(&b);
    }
}

static void check_other_access(struct bench *b, const struct spe_operation *op, unsigned info)
{
    bench_record(b, op);
    assert_int_equal(b->type.kind, SPE_OP_OTHER); /* D17.6-164 */
    assert_false(b->type.cond);
    /* D17.6-165 */
    assert_int_equal(has_address(b, SPE_ADDRESS_VA), info > 0);
    assert_int_equal(has_address(b, SPE_ADDRESS_PA), info > 0);
    assert_int_equal(has_counter(b, SPE_COUNTER_TRANSLATION), info == 2);
    assert_int_equal(event(b, SPE_EVENT_TLB_ACCESS), info == 2);
    assert_false(b->record.has & SPE_HAS_SOURCE);
    assert_false(bench_keeps(b, op, TYPE_LD | TYPE_ST)); /* D17.6-166 */
    assert_int_equal(bench_types(b, op), 0);             /* D17.6-166 */
}

static void test_other_accesses(void **state)
{
    static const char *const infos[] = {"cmo_info=none", "cmo_info=address",
                                        "cmo_info=address+events+latency"};
    static const uint8_t kinds[] = {SPE_OPERATION_CMO, SPE_OPERATION_PREFETCH, SPE_OPERATION_AT};
    struct spe_memory_access a = access_at(0x1000);
    struct bench b;

    (void)state;
    for (unsigned info = 0; info < 3; info++) {
        bench_open(&b, ALL, infos[info]);
        for (size_t i = 0; i < COUNT(kinds); i++) {
            struct spe_operation op = access_operation(kinds[i], &a, 1);

            check_other_access(&b, &op, info);
        }
        bench_close(&b);
    }
}

/* ---- The Events payload --------------------------------------------------------------------- */

static void test_events_size(void **state)
{
    static const struct {
        const char *features, *options;
        unsigned size;
    } cases[] = {
        /* D18.2-060 */
        {ALL, "events_size=8", 8},
        {ALL, "events_size=4", 4},
        {ALL, "events_size=smallest", 1},
        {NO_V1P1, "events_size=2", 2},
        {NO_V1P1, "events_size=1 ev_llc=0 ev_remote=0", 1},
    };
    static const char *const refused[] = {"events_size=1", "events_size=2",
                                          "events_size=4 impdef_events=0x1000000000000"};
    struct spe_operation op = operation(SPE_OPERATION_OTHER);
    char why[256];
    struct bench b;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bench_open(&b, cases[i].features, cases[i].options);
        bench_record(&b, &op);
        assert_int_equal(b.record.events_size, cases[i].size); /* D18.2-060 */
        assert_int_equal(b.record.events, E_RETIRED);
        bench_close(&b);
    }
    for (size_t i = 0; i < COUNT(refused); i++) /* D18.2-060: every implemented event must fit */
        assert_int_equal(bench_create(&b, ALL, refused[i], why, sizeof(why)), SPE_ERR_INVALID);
}

/* ---- Descriptions that contradict themselves ------------------------------------------------ */

static void spoil(struct spe_operation *op, struct spe_memory_access *a, struct spe_extra *e,
                  unsigned fault)
{
    switch (fault) {
    case 0:
        op->size = 0;
        break;
    case 1:
        op->kind = SPE_OPERATION_KIND_COUNT;
        break;
    case 2:
        op->registers = SPE_REGISTERS_COUNT;
        break;
    case 3:
        op->cond_op = 9;
        break;
    case 4:
        op->target_el = 4;
        break;
    case 5:
        op->spsr_el = 4;
        break;
    case 6:
        op->target_security = 4;
        break;
    case 7:
        op->spsr_security = 4;
        break;
    case 8:
        op->misspeculated = op->exception = true;
        break;
    case 9:
        op->taken = op->condition_failed = true;
        break;
    case 10:
        op->link = op->procedure_return = true;
        break;
    case 11:
        op->exclusive_failed = true;
        break;
    case 12:
        op->unfinished_mops = true;
        break;
    case 13:
        op->gcs_access = true, op->access_count = 0;
        break;
    case 14:
        op->accesses = NULL;
        break;
    case 15:
        op->extras = NULL;
        break;
    case 16:
        a->granule = 24;
        break;
    case 17:
        a->pat = 16;
        break;
    case 18:
        a->pas = 4;
        break;
    case 19:
        a->wait_start = 1;
        break;
    case 20:
        e->type = SPE_PACKET_EVENTS;
        break;
    case 21:
        e->index = 32;
        break;
    case 22:
        e->index = 2;
        break;
    case 23:
        a->source = 0x100;
        break; /* more than the packet holds */
    case 24:
        op->kind = SPE_OPERATION_MEMSET, op->unfinished_mops = op->misspeculated = true;
        break;
    default:
        break;
    }
}

static void test_contradictions(void **state)
{
    struct spe_spu_stats stats;
    struct bench b;

    (void)state;
    bench_open(&b, ALL, "");
    for (unsigned fault = 0; fault < 26; fault++) {
        struct spe_memory_access a = access_at(0x1000);
        struct spe_extra e = {SPE_PACKET_COUNTER, 6, 0};
        struct spe_operation op = access_operation(SPE_OPERATION_LOAD, &a, 1);

        op.extras = &e;
        op.extra_count = 1;
        spoil(&op, &a, &e, fault);
        assert_int_equal(bench_sample(&b, &op), fault < 25 ? SPE_ERR_INVALID : SPE_FATE_WRITTEN);
        assert_int_equal(spe_spu_in_flight(b.spu), 0);
    }
    spe_spu_stats(b.spu, &stats);
    assert_int_equal(stats.dropped, 25);
    {
        struct spe_operation op = operation(SPE_OPERATION_ERET); /* the largest that there are */

        op.target_el = op.spsr_el = 3;
        op.target_security = op.spsr_security = SPE_REALM;
        op.cond_op = 8;
        assert_int_equal(bench_sample(&b, &op), SPE_FATE_WRITTEN);
    }
    bench_close(&b);
}

/* A description costs no randomness of the intervals. */
static void test_description_does_not_disturb(void **state)
{
    struct spe_memory_access a[8];
    struct spe_operation plain = operation(SPE_OPERATION_OTHER);
    struct spe_operation many = access_operation(SPE_OPERATION_MEMCPY, a, 8);
    struct bench one, two;

    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        a[i] = access_at(0x1000 * i);
        a[i].store = i & 1;
    }
    bench_open(&one, ALL, "");
    bench_open(&two, ALL, "store_cache_events=varying");
    bench_set(&one, SPE_REG_PMSIRR_EL1, 0x101);
    bench_set(&two, SPE_REG_PMSIRR_EL1, 0x101);
    for (unsigned i = 0; i < 20000; i++) {
        int number = spe_spu_step(one.spu, 0);

        assert_int_equal(spe_spu_step(two.spu, 0), number);
        if (number) {
            bench_finish(&one, &plain);
            bench_finish(&two, &many);
        }
    }
    bench_close(&one);
    bench_close(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_stage),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_wfx),
        cmocka_unit_test(test_saturation),
        cmocka_unit_test(test_fixed_counters),
        cmocka_unit_test(test_impdef),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_clocks_refused),
        cmocka_unit_test(test_micro_ops),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_exception_return),
        cmocka_unit_test(test_target_without_rme),
        cmocka_unit_test(test_not_taken_target),
        cmocka_unit_test(test_isb),
        cmocka_unit_test(test_branch_with_gcs),
        cmocka_unit_test(test_branch_waits_for_gcs),
        cmocka_unit_test(test_branch_with_exception),
        cmocka_unit_test(test_previous_target),
        cmocka_unit_test(test_previous_target_of_others),
        cmocka_unit_test(test_previous_target_and_context),
        cmocka_unit_test(test_previous_target_hidden),
        cmocka_unit_test(test_conditional),
        cmocka_unit_test(test_not_conditional),
        cmocka_unit_test(test_misspeculated),
        cmocka_unit_test(test_capture),
        cmocka_unit_test(test_speculation_refused),
        cmocka_unit_test(test_retired),
        cmocka_unit_test(test_incomplete),
        cmocka_unit_test(test_incomplete_source),
        cmocka_unit_test(test_exception_after_translation),
        cmocka_unit_test(test_nonarch_exception),
        cmocka_unit_test(test_mispredicted_retired),
        cmocka_unit_test(test_other),
        cmocka_unit_test(test_other_accesses),
        cmocka_unit_test(test_events_size),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_description_does_not_disturb),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
