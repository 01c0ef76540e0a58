/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which addresses of a block are known when it begins, and what acquires: by hand, from the words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "pe/code.h"

#define B_NE 0x54000041           /* b.ne */
#define RET 0xd65f03c0            /* ret */
#define RETAA 0xd65f0bff          /* retaa */
#define BLR_X4 0xd63f0080         /* blr x4 */
#define BLR_X30 0xd63f03c0        /* blr x30 */
#define LDR_X1_X0 0xf9400001      /* ldr x1, [x0] */
#define LDR_X3_X2 0xf9400043      /* ldr x3, [x2] */
#define LDR_X0_X0 0xf9400000      /* ldr x0, [x0] */
#define LDR_X2_X0_POST 0xf8408402 /* ldr x2, [x0], #8 */
#define LDR_X4_X0_X2 0xf8626804   /* ldr x4, [x0, x2] */
#define LDR_X4_X0_XZR 0xf87f6804  /* ldr x4, [x0, xzr] */
#define LDR_X5_LITERAL 0x58000045 /* ldr x5, .+8 */
#define LDRAA_X1_X0 0xf8200401    /* ldraa x1, [x0] */
#define ADD_X0 0x91002000         /* add x0, x0, #8 */
#define ADD_X2 0x91002042         /* add x2, x2, #8 */
#define CMP_X0 0xf100041f         /* cmp x0, #1: subs xzr */
#define SUB_SP 0xd10043ff         /* sub sp, sp, #16 */
#define MOV_SP_FP 0x910003bf      /* mov sp, x29 */
#define AND_SP 0x927cec1f         /* and sp, x0, #~15 */
#define STR_X1_SP 0xf90003e1      /* str x1, [sp] */
#define STR_X2_SP_8 0xf90007e2    /* str x2, [sp, #8] */
#define STR_XZR_X2 0xf900005f     /* str xzr, [x2] */
#define STP_PUSH 0xa9bf7bfd       /* stp x29, x30, [sp, #-16]! */
#define LDP_POP 0xa8c17bfd        /* ldp x29, x30, [sp], #16 */
#define DC_ZVA_X0 0xd50b7420      /* dc zva, x0 */

/* One character an instruction: e early, . not. */
static void expect(const char *early, size_t count, const uint32_t *words)
{
    struct pe_block *b = pe_block_create(0x1000, words, count);

    assert_non_null(b);
    for (size_t i = 0; i < count; i++)
        if (b->sites[i].early != (early[i] == 'e'))
            fail_msg("instruction %zu of \"%s\"", i, early);
    pe_block_destroy(b);
}

#define EXPECT(early, ...)                                                                         \
    expect(early, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (const uint32_t[]){__VA_ARGS__})

static void test_registers(void **state)
{
    (void)state;
    EXPECT("ee.", LDR_X1_X0, LDR_X3_X2, B_NE);
    EXPECT("..e.", ADD_X0, LDR_X1_X0, LDR_X3_X2, B_NE);
    EXPECT("e.e.", LDR_X0_X0, LDR_X1_X0, LDR_X3_X2, B_NE);
    EXPECT("e..", LDR_X2_X0_POST, LDR_X1_X0, B_NE);
    EXPECT("e..", LDR_X2_X0_POST, LDR_X3_X2, B_NE);
    EXPECT("e.", LDR_X4_X0_X2, B_NE);
    EXPECT("...", ADD_X2, LDR_X4_X0_X2, B_NE);
    EXPECT(".e.", ADD_X2, LDR_X4_X0_XZR, B_NE);
    EXPECT(".e.", ADD_X0, LDR_X5_LITERAL, B_NE);
}

/* SP is in no set of registers that instructions write. */
static void test_stack(void **state)
{
    (void)state;
    EXPECT("ee.", STR_X1_SP, STR_X2_SP_8, B_NE);
    EXPECT(".e.", CMP_X0, STR_X1_SP, B_NE);
    EXPECT("ee.", STR_XZR_X2, STR_X1_SP, B_NE);
    EXPECT("...", SUB_SP, STR_X1_SP, B_NE);
    EXPECT("...", MOV_SP_FP, STR_X1_SP, B_NE);
    EXPECT("...", AND_SP, STR_X1_SP, B_NE);
    EXPECT("e..", STP_PUSH, STR_X1_SP, B_NE);
    EXPECT("e..", LDP_POP, STR_X1_SP, B_NE);
}

/* Where an access before it may fault, the end of the block has to tell. */
static void test_ends(void **state)
{
    (void)state;
    EXPECT("ee.", LDR_X1_X0, LDR_X3_X2, RET);
    EXPECT("ee", LDR_X1_X0, LDR_X3_X2);
    EXPECT("e..", LDR_X1_X0, LDR_X3_X2, RETAA);
    EXPECT(".e.", ADD_X0, LDR_X3_X2, RETAA);
    EXPECT("ee.", LDR_X1_X0, LDR_X3_X2, BLR_X4);
    EXPECT("e..", LDR_X1_X0, LDR_X3_X2, BLR_X30);
}

/* Not so simple: a signed pointer, a block of memory. */
static void test_others(void **state)
{
    (void)state;
    EXPECT("..", LDRAA_X1_X0, B_NE);
    EXPECT("..", DC_ZVA_X0, B_NE);
}

/* Only what takes a lock: not what gives it back, and not what does either. */
static void test_acquires(void **state)
{
    static const struct {
        uint32_t word;
        bool acquires;
    } cases[] = {
        {0x88e07c41, true},  /* casa w0, w1, [x2] */
        {0x88a07c41, false}, /* cas */
        {0x88a0fc41, false}, /* casl */
        {0x88e0fc41, false}, /* casal */
        {0x48607c82, true},  /* caspa x0, x1, x2, x3, [x4] */
        {0x4860fc82, false}, /* caspal */
        {0xb8a08041, true},  /* swpa w0, w1, [x2] */
        {0xb8608041, false}, /* swpl */
        {0xb8e08041, false}, /* swpal */
        {0xb8a00041, true},  /* ldadda w0, w1, [x2] */
        {0x885ffc40, true},  /* ldaxr w0, [x2] */
        {0x885f7c40, false}, /* ldxr */
        {0x8811fc41, false}, /* stlxr w17, w1, [x2] */
        {0x88dffc40, false}, /* ldar w0, [x2] */
        {LDR_X1_X0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint32_t words[] = {ADD_X0, cases[i].word, RET};
        struct pe_block *b = pe_block_create(0x1000, words, 3);

        assert_non_null(b);
        if (b->acquires != cases[i].acquires)
            fail_msg("%08x", (unsigned)cases[i].word);
        pe_block_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers), cmocka_unit_test(test_stack),
        cmocka_unit_test(test_ends),      cmocka_unit_test(test_others),
        cmocka_unit_test(test_acquires),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
