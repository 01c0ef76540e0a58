/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Jump tables and many ways that meet. */
struct machine {
    long stack[16];
    int top;
    int pc;
    const struct op *code;
    struct machine *parent;
};

struct op {
    unsigned char kind;
    int operand;
};

__attribute__((noinline)) long run(struct machine *m, int steps)
{
    while (steps--) {
        const struct op *op = &m->code[m->pc]; /* T: struct machine.code; struct machine.pc */

        m->pc++; /* T: struct machine.pc */
        switch (op->kind) { /* T: struct op.kind; struct op.operand */
        case 0:
            m->stack[m->top++ & 15] = op->operand; /* T: struct machine.stack; struct machine.top; struct op.operand */
            break;
        case 1:
            m->top--; /* T: struct machine.top */
            break;
        case 2:
            m->pc = op->operand; /* T: struct machine.pc; struct op.operand */
            break;
        case 3:
            m->stack[0] += op->operand; /* T: struct machine.stack; struct op.operand */
            break;
        case 4:
            m->stack[1] = m->stack[2]; /* T: struct machine.stack */
            break;
        case 5:
            if (m->parent) /* T: struct machine.parent */
                m = m->parent; /* T: struct machine.parent */
            break;
        case 6:
            m->parent->top = 0; /* T: struct machine.parent; struct machine.top */
            break;
        default:
            return m->stack[op->operand & 15]; /* T: struct machine.stack; struct op.operand */
        }
    }
    return m->top; /* T: struct machine.top */
}

__attribute__((noinline)) int choose(struct machine *a, struct machine *b, int which)
{
    struct machine *m = which ? a : b;

    m->top += which; /* T: struct machine.top */
    return m->pc; /* T: struct machine.pc */
}

int main(void)
{
    static const struct op code[] = {{0, 3}, {3, 4}, {0, 5}, {1, 0}, {4, 0}, {2, 0}};
    static struct machine a, b;

    a.code = code; /* T: struct machine.code */
    a.parent = &b; /* T: struct machine.parent */
    b.code = code; /* T: struct machine.code */
    return run(&a, 1000) + choose(&a, &b, 1) == 12345;
}
