/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Call stacks, by following calls and returns. A call puts its return address on a stack of ours; a
 * return has to go to the address on top of it. Where control goes elsewhere (longjmp, exceptions,
 * coroutines, a changed return address) nothing is believed until an access by the stack pointer
 * tells which frame the program is in: a wrong stack is worse than none.
 *
 * Nothing here knows QEMU. What tells the stack pointer is the register itself where it can be read
 * when a block begins, else the address of an access whose base it is.
 */
#ifndef QEMU_CALLS_H
#define QEMU_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "pe/code.h"
#include "qemu/wire.h"

enum {
    CALLS_DEPTH = 1 << 16, /* calls that are followed */
    CALLS_PARKED = 256,    /* stacks of a thread besides the one that it is on */
    CALLS_PENDING = 32,
    CALLS_LOADS = 64, /* that are remembered of a block that moves the stack pointer */
};

/* pe_block.flow: what matters here of a block. */
enum {
    FLOW_CALL = 1u << 0,       /* it ends with a call, */
    FLOW_RETURN = 1u << 1,     /* a return, */
    FLOW_JUMP = 1u << 2,       /* or another jump to a register's address */
    FLOW_SIGRETURN = 1u << 3,  /* it ends a signal's handler */
    FLOW_MOVES_SP = 1u << 4,   /* the stack pointer becomes what a register other than FP has */
    FLOW_AFTER_CALL = 1u << 5, /* the instruction before it is a call */
    FLOW_MARKED = 1u << 6,     /* calls_mark has seen it */
    FLOW_HANDLER = 1u << 7,    /* a signal's handler begins with it */
    FLOW_ENDS = FLOW_CALL | FLOW_RETURN | FLOW_JUMP | FLOW_SIGRETURN | FLOW_MOVES_SP,
};

struct call {
    uint64_t to;                        /* where it returns to */
    uint64_t sp;                        /* of the caller; 0: nobody knows */
    const struct pe_block *interrupted; /* no call, but a signal came at the end of this block */
};

struct call_stack {
    struct call *at;
    uint32_t count, room;
    bool lost; /* nobody knows what is below it */
};

struct calls {
    uint64_t sp;             /* after the last access by it; 0: not known */
    bool read;               /* ... it is what the register had when the block began */
    struct call_stack stack; /* that the program is on, unless it is `unsettled` */
    uint64_t over;           /* calls that it has no room for */
    bool moved;              /* see FLOW_MOVES_SP; neither call nor return since */
    uint64_t moved_to;       /* ... to here; 0: not known */

    /* Behind a jump out of order, until the stack pointer is known. */
    bool unsettled;
    bool leaves;     /* the stack pointer was moved before the jump */
    bool after_call; /* the jump went to where a call returns to */
    uint64_t target;
    struct call pending[CALLS_PENDING]; /* calls since */
    uint32_t pending_count;

    struct call_stack *parked;
    uint32_t parked_count;

    /* What blocks that move the stack pointer have loaded from where. */
    struct {
        const struct pe_site *site;
        uint64_t va;
    } loads[CALLS_LOADS];
    uint32_t load_count;
};

/* Note in a new block what the functions below look at. `before`: the word in front of it, 0 if
 * nobody knows. */
void calls_mark(struct pe_block *block, uint32_t before);

/* How the program's memory is read: a word, 0 if it is not there. */
void calls_read_with(uint64_t (*read)(uint64_t address));

/* Where a signal's handler begins, in this process: blocks that are marked from now on know it. Is
 * it a new one? */
bool calls_handler(uint64_t pc);

void calls_follow(struct calls *c, const struct pe_block *last, const struct pe_block *block);
/* The same where the stack pointer can be read, at every block while `unsettled`. */
void calls_follow_sp(struct calls *c, const struct pe_block *last, const struct pe_block *block,
                     uint64_t sp);
void calls_settle(struct calls *c, uint64_t sp, bool used);

/* A block begins behind another one: is there something to follow? */
static inline bool calls_matter(const struct pe_block *last, const struct pe_block *block)
{
    return (last->flow & FLOW_ENDS) | (block->flow & FLOW_HANDLER);
}

/*
 * calls_follow_sp for what most of it is: a call, the return of the latest call, or a jump on the
 * same stack. False: it is not such a one, and nothing has happened.
 */
static inline bool calls_follow_usual(struct calls *c, const struct pe_block *last,
                                      const struct pe_block *block, uint64_t sp)
{
    unsigned flow = last->flow & FLOW_ENDS;
    struct call_stack *s = &c->stack;

    if (c->unsettled | (c->over != 0) | ((block->flow & FLOW_HANDLER) != 0))
        return false;
    if (flow == FLOW_RETURN) {
        if (!s->count || s->at[s->count - 1].to != block->pc || s->at[s->count - 1].interrupted)
            return false;
        s->count--;
    } else if (flow == FLOW_CALL) {
        bool called =
            last->direct ? block->pc == last->target : block->pc - last->pc >= last->end - last->pc;

        if (!called || s->count == s->room)
            return false;
        s->at[s->count++] = (struct call){.to = last->end, .sp = sp};
    } else if (flow != FLOW_JUMP || c->moved) {
        return false;
    }
    c->moved = false;
    c->sp = sp;
    return true;
}

/* A site with `by_sp` accesses memory. The second half of a pair is not aligned as the stack
 * pointer is, and tells nothing. */
static inline void calls_access(struct calls *c, const struct pe_site *site, uint64_t va)
{
    uint64_t before = va - (uint64_t)(int64_t)site->sp_before;

    if (before & 15)
        return;
    c->sp = va - (uint64_t)(int64_t)site->sp_after;
    if (__builtin_expect(c->unsettled, 0))
        calls_settle(c, before, true);
}

/* A block that moves the stack pointer loads something. */
static inline void calls_load(struct calls *c, const struct pe_site *site, uint64_t va)
{
    c->loads[c->load_count % CALLS_LOADS].site = site;
    c->loads[c->load_count++ % CALLS_LOADS].va = va;
}

/* Why there is no stack. */
enum calls_none {
    CALLS_UNSETTLED = -1, /* behind a jump out of order, before the stack pointer is known */
    CALLS_LOST = -2,      /* ... and that did not tell where the program is */
    CALLS_DEEP = -3,
};

/* The callers' addresses behind their calls, innermost first: their number, or enum calls_none. */
int calls_take(const struct calls *c, uint64_t frames[WIRE_FRAMES]);

void calls_free(struct calls *c);

#endif
