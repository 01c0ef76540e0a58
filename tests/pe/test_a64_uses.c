/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The registers of an instruction: one word for each form, assembled by llvm-mc 19. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "specimen/pe.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct expectation {
    uint32_t word;
    const char *text, *reads, *writes;
};

/* clang-format off */
static const struct expectation words[] = {
    /* integer */
    {0xb0000003, "adrp x3, #4096", "", "x3"},
    {0x91001020, "add x0, x1, #4", "x1", "x0"},
    {0x910043ff, "add sp, sp, #16", "", ""},
    {0x31001020, "adds w0, w1, #4", "x1", "x0 flags"},
    {0xf10000ff, "subs xzr, x7, #0", "x7", "flags"},
    {0x91810420, "addg x0, x1, #16, #1", "x1", "x0"},
    {0x92400020, "and x0, x1, #1", "x1", "x0"},
    {0xf2400020, "ands x0, x1, #1", "x1", "x0 flags"},
    {0xd2800025, "movz x5, #1", "", "x5"},
    {0xf2a00025, "movk x5, #1, lsl #16", "x5", "x5"},
    {0xb3441420, "bfm x0, x1, #4, #5", "x0 x1", "x0"},
    {0xd3441420, "ubfm x0, x1, #4, #5", "x1", "x0"},
    {0x93c20c20, "extr x0, x1, x2, #3", "x1 x2", "x0"},
    {0xaa0203e0, "orr x0, xzr, x2", "x2", "x0"},
    {0xea220020, "bics x0, x1, x2", "x1 x2", "x0 flags"},
    {0xcb224020, "sub x0, x1, w2, uxtw", "x1 x2", "x0"},
    {0xab020420, "adds x0, x1, x2, lsl #1", "x1 x2", "x0 flags"},
    {0x9a020020, "adc x0, x1, x2", "x1 x2 flags", "x0"},
    {0xfa020020, "sbcs x0, x1, x2", "x1 x2 flags", "x0 flags"},
    {0xba010423, "rmif x1, #2, #3", "x1 flags", "flags"},
    {0x3a00082d, "setf8 w1", "x1 flags", "flags"},
    {0xfa420020, "ccmp x1, x2, #0, eq", "x1 x2 flags", "flags"},
    {0xba430820, "ccmn x1, #3, #0, eq", "x1 flags", "flags"},
    {0x9a821420, "csinc x0, x1, x2, ne", "x1 x2 flags", "x0"},
    {0x9b020c20, "madd x0, x1, x2, x3", "x1 x2 x3", "x0"},
    {0x9b427c20, "smulh x0, x1, x2", "x1 x2", "x0"},
    {0x9ac20820, "udiv x0, x1, x2", "x1 x2", "x0"},
    {0x9ac24c20, "crc32x w0, w1, x2", "x1 x2", "x0"},
    {0xbac20020, "subps x0, x1, x2", "x1 x2", "x0 flags"},
    {0x9ac21020, "irg x0, x1, x2", "x1 x2", "x0"},
    {0xdac01020, "clz x0, x1", "x1", "x0"},
    {0xdac10020, "pacia x0, x1", "x0 x1", "x0"},
    {0xdac13be0, "autdza x0", "x0", "x0"},
    {0xdac143e0, "xpaci x0", "x0", "x0"},
    /* branches and system */
    {0x54000041, "b.ne #8", "flags", ""},
    {0xb4000044, "cbz x4, #8", "x4", ""},
    {0x37180044, "tbnz w4, #3, #8", "x4", ""},
    {0x94000002, "bl #8", "", "x30"},
    {0xd61f0120, "br x9", "x9", ""},
    {0xd63f0120, "blr x9", "x9", "x30"},
    {0xd65f03c0, "ret", "x30", ""},
    {0xd71f092a, "braa x9, x10", "x9 x10", ""},
    {0xd63f093f, "blraaz x9", "x9", "x30"},
    {0xd65f0bff, "retaa", "x30", ""},
    {0xd69f03e0, "eret", "", "flags"},
    {0xd503201f, "nop", "", ""},
    {0xd503233f, "paciasp", "x30", "x30"},
    {0xd503219f, "autia1716", "x16 x17", "x17"},
    {0xd50320ff, "xpaclri", "x30", "x30"},
    {0xd503251f, "chkfeat x16", "x16", "x16"},
    {0xd500401f, "cfinv", "flags", "flags"},
    {0xd51b4201, "msr nzcv, x1", "x1", "flags"},
    {0xd53b4201, "mrs x1, nzcv", "flags", "x1"},
    {0xd53b2401, "mrs x1, rndr", "", "x1 flags"},
    {0xd53bd041, "mrs x1, tpidr_el0", "", "x1"},
    {0xd51bd041, "msr tpidr_el0, x1", "x1", ""},
    {0xd50b7421, "dc zva, x1", "x1", ""},
    {0xd5031001, "wfet x1", "x1", ""},
    {0xd52b7721, "gcspopm x1", "x1", "x1"},
    {0xd4000001, "svc #0", "", ""},
    /* loads and stores */
    {0xf9400420, "ldr x0, [x1, #8]", "x1", "x0"},
    {0xf8627be0, "ldr x0, [sp, x2, lsl #3]", "x2", "x0"},
    {0xf8408420, "ldr x0, [x1], #8", "x1", "x0 x1"},
    {0xf8008c20, "str x0, [x1, #8]!", "x0 x1", "x1"},
    {0x58000040, "ldr x0, #8", "", "x0"},
    {0x9c000080, "ldr q0, #16", "", "v0"},
    {0xf8a26820, "prfm pldl1keep, [x1, x2]", "x1 x2", ""},
    {0xa9c10440, "ldp x0, x1, [x2, #16]!", "x2", "x0 x1 x2"},
    {0xad000440, "stp q0, q1, [x2]", "x2 v0 v1", ""},
    {0xa9bf07ff, "stp xzr, x1, [sp, #-16]!", "x1", ""},
    {0xfc408420, "ldr d0, [x1], #8", "x1", "x1 v0"},
    {0x3c226820, "str b0, [x1, x2]", "x1 x2 v0", ""},
    {0xc85f7c20, "ldxr x0, [x1]", "x1", "x0"},
    {0xc802fc20, "stlxr w2, x0, [x1]", "x0 x1", "x2"},
    {0xc87f8440, "ldaxp x0, x1, [x2]", "x2", "x0 x1"},
    {0xc8230440, "stxp w3, x0, x1, [x2]", "x0 x1 x2", "x3"},
    {0xc8dffc20, "ldar x0, [x1]", "x1", "x0"},
    {0xc89ffc20, "stlr x0, [x1]", "x0 x1", ""},
    {0xc8a07c41, "cas x0, x1, [x2]", "x0 x1 x2", "x0"},
    {0x4860fc82, "caspal x0, x1, x2, x3, [x4]", "x0 x1 x2 x3 x4", "x0 x1"},
    {0xf8200041, "ldadd x0, x1, [x2]", "x0 x2", "x1"},
    {0xf820005f, "stadd x0, [x2]", "x0 x2", ""},
    {0xb8e08041, "swpal w0, w1, [x2]", "x0 x2", "x1"},
    {0xf8bfc020, "ldapr x0, [x1]", "x1", "x0"},
    {0xf8200420, "ldraa x0, [x1]", "x1", "x0"},
    {0xf8201c20, "ldraa x0, [x1, #8]!", "x1", "x0 x1"},
    {0xf83fd120, "ld64b x0, [x9]", "x9", "x0 x1 x2 x3 x4 x5 x6 x7"},
    {0xf828b120, "st64bv x8, x0, [x9]", "x0 x1 x2 x3 x4 x5 x6 x7 x9", "x8"},
    {0xd9401020, "ldapur x0, [x1, #1]", "x1", "x0"},
    {0x1d800820, "stlur q0, [x1]", "x1 v0", ""},
    {0xd9410840, "ldiapp x0, x1, [x2], #16", "x2", "x0 x1 x2"},
    {0xd9800820, "stlr x0, [x1, #-8]!", "x0 x1", "x1"},
    {0x19211040, "ldclrp x0, x1, [x2]", "x0 x1 x2", "x0 x1"},
    {0x19200c82, "rcwcasp x0, x1, x2, x3, [x4]", "x0 x1 x2 x3 x4", "x0 x1 flags"},
    {0x3820b041, "rcwset x0, x1, [x2]", "x0 x2", "x1 flags"},
    {0xd9600020, "ldg x0, [x1]", "x0 x1", "x0"},
    {0xd9a02420, "st2g x0, [x1], #32", "x0 x1", "x1"},
    {0x69000440, "stgp x0, x1, [x2]", "x0 x1 x2", ""},
    {0x19010440, "cpyfp [x0]!, [x1]!, x2!", "x0 x1 x2", "x0 x1 x2 flags"},
    {0x1d810440, "cpye [x0]!, [x1]!, x2!", "x0 x1 x2 flags", "x0 x1 x2"},
    {0x19c20420, "setp [x0]!, x1!, x2", "x0 x1 x2", "x0 x1 flags"},
    {0x1dc24420, "setgm [x0]!, x1!, x2", "x0 x1 x2 flags", "x0 x1"},
    {0x4cc2a03f, "ld1 { v31.16b, v0.16b }, [x1], x2", "x1 x2", "x1 v31 v0"},
    {0x0ddf9020, "ld1 { v0.s }[1], [x1], #4", "x1 v0", "x1 v0"},
    {0x0d60e020, "ld4r { v0.8b, v1.8b, v2.8b, v3.8b }, [x1]", "x1", "v0 v1 v2 v3"},
    {0x0c004020, "st3 { v0.8b, v1.8b, v2.8b }, [x1]", "x1 v0 v1 v2", ""},
    /* floating-point */
    {0x1f420c20, "fmadd d0, d1, d2, d3", "v1 v2 v3", "v0"},
    {0x1e222820, "fadd s0, s1, s2", "v1 v2", "v0"},
    {0x1e61c020, "fsqrt d0, d1", "v1", "v0"},
    {0x1e6e1000, "fmov d0, #1.0", "", "v0"},
    {0x1e622020, "fcmp d1, d2", "v1 v2", "flags"},
    {0x1e602038, "fcmpe d1, #0.0", "v1", "flags"},
    {0x1e620420, "fccmp d1, d2, #0, eq", "v1 v2 flags", "flags"},
    {0x1e620c20, "fcsel d0, d1, d2, eq", "v1 v2 flags", "v0"},
    {0x9e620020, "scvtf d0, x1", "x1", "v0"},
    {0x1e18f420, "fcvtzs w0, s1, #3", "v1", "x0"},
    {0x1e7e0020, "fjcvtzs w0, d1", "v1", "x0 flags"},
    {0x9eae0020, "fmov x0, v1.d[1]", "v1", "x0"},
    {0x9eaf0020, "fmov v0.d[1], x1", "x1 v0", "v0"},
    /* Advanced SIMD */
    {0x4ea28420, "add v0.4s, v1.4s, v2.4s", "v1 v2", "v0"},
    {0x4ea29420, "mla v0.4s, v1.4s, v2.4s", "v0 v1 v2", "v0"},
    {0x4e420c20, "fmla v0.8h, v1.8h, v2.8h", "v0 v1 v2", "v0"},
    {0x6e221c20, "eor v0.16b, v1.16b, v2.16b", "v1 v2", "v0"},
    {0x6e621c20, "bsl v0.16b, v1.16b, v2.16b", "v0 v1 v2", "v0"},
    {0x4e829420, "sdot v0.4s, v1.16b, v2.16b", "v0 v1 v2", "v0"},
    {0x6e82e420, "fcadd v0.4s, v1.4s, v2.4s, #90", "v1 v2", "v0"},
    {0x4ea0b820, "abs v0.4s, v1.4s", "v1", "v0"},
    {0x6ea06820, "uadalp v0.2d, v1.4s", "v0 v1", "v0"},
    {0x0ea12820, "xtn v0.2s, v1.2d", "v1", "v0"},
    {0x4ea12820, "xtn2 v0.4s, v1.2d", "v0 v1", "v0"},
    {0x5ea14820, "sqxtn s0, d1", "v1", "v0"},
    {0x4eb1b820, "addv s0, v1.4s", "v1", "v0"},
    {0x0ea20020, "saddl v0.2d, v1.2s, v2.2s", "v1 v2", "v0"},
    {0x0ea28020, "smlal v0.2d, v1.2s, v2.2s", "v0 v1 v2", "v0"},
    {0x4ea24020, "addhn2 v0.4s, v1.2d, v2.2d", "v0 v1 v2", "v0"},
    {0x4e040c20, "dup v0.4s, w1", "x1", "v0"},
    {0x4e0c1c20, "ins v0.s[1], w1", "x1 v0", "v0"},
    {0x6e0c4420, "ins v0.s[1], v1.s[2]", "v0 v1", "v0"},
    {0x0e0c3c20, "umov w0, v1.s[1]", "v1", "x0"},
    {0x4e0543e0, "tbl v0.16b, { v31.16b, v0.16b, v1.16b }, v5.16b", "v31 v0 v1 v5", "v0"},
    {0x0e051020, "tbx v0.8b, { v1.16b }, v5.8b", "v0 v1 v5", "v0"},
    {0x4e823820, "zip1 v0.4s, v1.4s, v2.4s", "v1 v2", "v0"},
    {0x6e021820, "ext v0.16b, v1.16b, v2.16b, #3", "v1 v2", "v0"},
    {0x4f000420, "movi v0.4s, #1", "", "v0"},
    {0x4f001420, "orr v0.4s, #1", "v0", "v0"},
    {0x4f3d0420, "sshr v0.4s, v1.4s, #3", "v1", "v0"},
    {0x4f3d1420, "ssra v0.4s, v1.4s, #3", "v0 v1", "v0"},
    {0x7f435420, "sli d0, d1, #3", "v0 v1", "v0"},
    {0x4f3d8420, "shrn2 v0.4s, v1.2d, #3", "v0 v1", "v0"},
    {0x7f3d9420, "uqshrn s0, d1, #3", "v1", "v0"},
    {0x0f7f8820, "mul v0.4h, v1.4h, v15.h[7]", "v1 v15", "v0"},
    {0x4fbf8020, "mul v0.4s, v1.4s, v31.s[1]", "v1 v31", "v0"},
    {0x4fbf1820, "fmla v0.4s, v1.4s, v31.s[3]", "v0 v1 v31", "v0"},
    {0x5f3f9820, "fmul h0, h1, v15.h[7]", "v1 v15", "v0"},
    {0x4e284820, "aese v0.16b, v1.16b", "v0 v1", "v0"},
    {0x4e286820, "aesmc v0.16b, v1.16b", "v1", "v0"},
    {0x5e280820, "sha1h s0, s1", "v1", "v0"},
    {0x5e026020, "sha256su1 v0.4s, v1.4s, v2.4s", "v0 v1 v2", "v0"},
    {0xce020c20, "eor3 v0.16b, v1.16b, v2.16b, v3.16b", "v1 v2 v3", "v0"},
    {0xce628c20, "rax1 v0.2d, v1.2d, v2.2d", "v1 v2", "v0"},
    {0xce628020, "sha512h q0, q1, v2.2d", "v0 v1 v2", "v0"},
    /* SVE */
    {0x04a20020, "add z0.s, z1.s, z2.s", "v1 v2", "v0"},
    {0x04800440, "add z0.s, p1/m, z0.s, z2.s", "v0 v2", "v0"},
    {0x04902440, "movprfx z0.s, p1/z, z2.s", "v2", "v0"},
    {0x04834440, "mla z0.s, p1/m, z2.s, z3.s", "v0 v2 v3", "v0"},
    {0x64ff0020, "fmla z0.d, z1.d, z15.d[1]", "v0 v1 v15", "v0"},
    {0x64bf2020, "fmul z0.s, z1.s, z7.s[3]", "v1 v7", "v0"},
    {0x24828430, "cmpgt p0.s, p1/z, z1.s, z2.s", "v1 v2", "flags"},
    {0x65824430, "fcmgt p0.s, p1/z, z1.s, z2.s", "v1 v2", ""},
    {0x25a21c20, "whilelo p0.s, x1, x2", "x1 x2", "flags"},
    {0x25e22020, "ctermeq x1, x2", "x1 x2 flags", "flags"},
    {0x2550c020, "ptest p0, p1.b", "", "flags"},
    {0x25a08020, "cntp x0, p0, p1.s", "", "x0"},
    {0x0430e3e0, "incb x0", "x0", "x0"},
    {0x04e0e3e0, "cntd x0", "", "x0"},
    {0x04215020, "addvl x0, x1, #1", "x1", "x0"},
    {0x04a24c20, "index z0.s, w1, w2", "x1 x2", "v0"},
    {0x05a03820, "dup z0.s, w1", "x1", "v0"},
    {0x05a0a440, "lasta w0, p1, z2.s", "v2", "x0"},
    {0x65802440, "faddv s0, p1, z2.s", "v2", "v0"},
    {0x65982440, "fadda s0, p1, s0, z2.s", "v0 v2", "v0"},
    {0x05a52be0, "tbl z0.s, { z31.s, z0.s }, z5.s", "v31 v0 v5", "v0"},
    {0x05a3c440, "sel z0.s, p1, z2.s, z3.s", "v2 v3", "v0"},
    {0x25314440, "psel p0, p1, p2.s[w13, 0]", "x13", ""},
    {0xa5424420, "ld1w { z0.s }, p1/z, [x1, x2, lsl #2]", "x1 x2", "v0"},
    {0xa5c0e43e, "ld3d { z30.d, z31.d, z0.d }, p1/z, [x1]", "x1", "v30 v31 v0"},
    {0xc5c2c420, "ld1d { z0.d }, p1/z, [x1, z2.d]", "x1 v2", "v0"},
    {0xe561a440, "st1w { z0.s }, p1, [z2.s, #4]", "v0 v2", ""},
    {0x85804020, "ldr z0, [x1]", "x1", "v0"},
    {0xe5800020, "str p0, [x1]", "x1", ""},
    {0x84220420, "prfb pldl1keep, p1, [x1, z2.s, uxtw]", "x1 v2", ""},
    /* SME */
    {0x80822020, "fmopa za0.s, p0/m, p1/m, z1.s, z2.s", "v1 v2", ""},
    {0xc0822000, "mova z0.s, p0/m, za0h.s[w13, 0]", "x13 v0", "v0"},
    {0xc0802020, "mova za0h.s[w13, 0], p0/m, z1.s", "x13 v1", ""},
    {0xc0062c04, "mova { z4.d - z7.d }, za.d[w9, 0, vgx4]", "x9", "v4 v5 v6 v7"},
    {0xc1253be0, "fmla za.s[w9, 0, vgx2], { z31.s, z0.s }, z5.s", "x9 v31 v0 v5", ""},
    {0xc1a8b004, "smax { z4.s, z5.s }, { z4.s, z5.s }, { z8.s, z9.s }", "v4 v5 v8 v9", "v4 v5"},
    {0xa1404020, "ld1w { z0.s, z8.s }, pn8/z, [x1]", "x1", "v0 v8"},
    {0xa0228024, "st1b { z4.b - z7.b }, pn8, [x1, x2]", "x1 x2 v4 v5 v6 v7", ""},
    {0xe1000020, "ldr za[w12, 0], [x1]", "x1 x12", ""},
    {0xc09c4020, "luti2 { z0.b, z8.b }, zt0, z1[0]", "v1", "v0 v8"},
    /* newer than LLVM 19; not an instruction */
    {0x74020021, "cbgt w1, w2, #4", "x1 x2", ""},
    {0xf5018021, "cbgt x1, #3, #4", "x1", ""},
    {0x00000000, "udf #0", "", ""},
    {0xffffffff, "(nothing)", "", ""},
};
/* clang-format on */

/* The set of "x0 flags v31": names with one space between them. */
static uint64_t set_of(const char *names)
{
    uint64_t set = 0;

    while (*names) {
        size_t length = strcspn(names, " ");

        if (strncmp(names, "flags", length) == 0)
            set |= SPE_A64_USES_FLAGS;
        else
            set |= UINT64_C(1) << (strtoul(names + 1, NULL, 10) + (*names == 'v' ? 32 : 0));
        names += length + (names[length] == ' ');
    }
    return set;
}

static void test_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct spe_a64 insn;
        uint64_t reads, writes;

        spe_a64_classify(words[i].word, 128, &insn);
        spe_a64_uses(&insn, &reads, &writes);
        if (reads != set_of(words[i].reads) || writes != set_of(words[i].writes))
            fail_msg("%08x %s: reads %016llx, not %s; writes %016llx, not %s", words[i].word,
                     words[i].text, (unsigned long long)reads, words[i].reads,
                     (unsigned long long)writes, words[i].writes);
    }
}

/* Whatever the word is: no instruction has no registers, and the vector length does not matter. */
static void test_any_word(void **state)
{
    uint32_t word = 1;

    (void)state;
    for (int i = 0; i < 1000000; i++) {
        struct spe_a64 insn;
        uint64_t reads, writes, more_reads, more_writes;

        word = word * 1664525 + 1013904223;
        spe_a64_classify(word, 128, &insn);
        spe_a64_uses(&insn, &reads, &writes);
        if (!insn.allocated)
            assert_true(reads == 0 && writes == 0);
        spe_a64_classify(word, 512, &insn);
        spe_a64_uses(&insn, &more_reads, &more_writes);
        assert_true(reads == more_reads && writes == more_writes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_any_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
