/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What following addresses through code needs to know of an instruction. */
#ifndef NAMES_OPERANDS_H
#define NAMES_OPERANDS_H

#include <stdbool.h>
#include <stdint.h>

#define REG_SP 31   /* where the stack pointer can be */
#define REG_NONE 32 /* the zero register, or none */

enum operands_kind {
    OPERANDS_OTHER,    /* what it writes is not known */
    OPERANDS_CONSTANT, /* d = value */
    OPERANDS_INSERT,   /* d = d with 16 bits of value at shift: MOVK */
    OPERANDS_ADD,      /* d = n + value + (m << shift), m and n may be REG_NONE */
    OPERANDS_SUBTRACT, /* d = n - (m << shift) */
    OPERANDS_MULTIPLY, /* d = a + n * m */
    OPERANDS_EXTEND,   /* d = n, of 32 bits with a sign */
    OPERANDS_SELECT,   /* d = n or m */
    OPERANDS_THREAD,   /* d = thread pointer */
};

enum operands_flow {
    FLOW_NEXT,
    FLOW_BRANCH,   /* to target */
    FLOW_MAYBE,    /* to target or on */
    FLOW_CALL,     /* target 0: not known */
    FLOW_JUMP,     /* to where a register says */
    FLOW_ELSEWHERE /* return, trap */
};

struct operands {
    uint8_t kind, flow;
    uint8_t d, n, m, a;
    uint8_t shift;
    bool narrow;     /* of 32 bits: a pointer does not come out of it */
    uint32_t writes; /* bit n: Xn, 31: SP */
    uint64_t value;
    uint64_t target;
    bool ends; /* a call that does not come back: the decoder does not know, track.c does */

    /* The access, if any */
    bool load, store;
    bool takes_value; /* a plain load to general registers: d and, if not REG_NONE, a get 8 bytes */
    bool gives_value; /* likewise a store */
    bool known;       /* the address is base + offset + (index << scale) */
    bool writes_back; /* base += advance afterwards */
    uint8_t base, index, scale;
    bool early; /* base += advance before */
    int64_t offset, advance;
    uint32_t bytes; /* 0: not known */
};

/* Decode a word at a pc. */
void operands_decode(uint32_t word, uint64_t pc, struct operands *o);

#endif
