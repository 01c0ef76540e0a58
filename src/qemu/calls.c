/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "qemu/signals.h"

/* ---- Words ---------------------------------------------------------------------------------- */

#define SP 31
#define FP 29

static int32_t sign_extend(uint32_t value, unsigned width)
{
    return (int32_t)(value << (32 - width)) >> (32 - width);
}

/* BL, BLR and its authenticating forms. */
static bool is_call(uint32_t word)
{
    return word >> 26 == 0x25 || (word & 0xfefff800) == 0xd63f0800 ||
           (word & 0xfffffc1f) == 0xd63f0000;
}

/* ADD (immediate), which MOV from and to SP is, and ADD (extended register), to SP. Frames are left
 * by way of FP; what else is added to SP comes from somewhere else. */
static bool moves_sp(uint32_t word)
{
    uint32_t rn = bits(word, 9, 5), rm = bits(word, 20, 16);

    if (bits(word, 4, 0) != SP)
        return false;
    if ((word & 0xff800000) == 0x91000000)
        return rn != SP && rn != FP;
    return (word & 0xffe00000) == 0x8b200000 && rn == SP && rm != SP;
}

/* Loads and stores of general registers by SP and an immediate: where SP is before and after, from
 * the address. */
static bool find_sp(uint32_t word, int16_t *before, int16_t *after)
{
    static const uint8_t pair_shift[] = {2, 2, 3, 0};
    int32_t offset;
    uint32_t mode;

    *before = *after = 0;
    if (bits(word, 9, 5) != SP || bits(word, 26, 26))
        return false;
    if (bits(word, 29, 27) == 5) { /* pairs */
        offset = sign_extend(bits(word, 21, 15), 7) * (1 << pair_shift[bits(word, 31, 30)]);
        mode = bits(word, 24, 23);
    } else if (bits(word, 29, 27) == 7 && bits(word, 25, 24) == 1) {
        offset = (int32_t)(bits(word, 21, 10) << bits(word, 31, 30));
        mode = 2;
    } else if (bits(word, 29, 27) == 7 && bits(word, 25, 24) == 0 && !bits(word, 21, 21) &&
               bits(word, 11, 10) != 2) {
        offset = sign_extend(bits(word, 20, 12), 9);
        mode = bits(word, 11, 10) ? bits(word, 11, 10) : 2;
    } else {
        return false;
    }
    if (mode != 1)
        *before = (int16_t)offset;
    if (mode == 1) /* post-index */
        *after = (int16_t)-offset;
    else if (mode != 3) /* not pre-index */
        *after = (int16_t)offset;
    return true;
}

/* mov x8, #139; svc #0 */
static bool is_sigreturn(const struct pe_block *b)
{
    return b->count >= 2 && b->sites[b->count - 1].word == 0xd4000001 &&
           b->sites[b->count - 2].word == 0xd2801168;
}

static bool is_handler(uint64_t pc);

void calls_mark(struct pe_block *b, uint32_t before)
{
    b->flow |= FLOW_MARKED;
    if (is_handler(b->pc))
        b->flow |= FLOW_HANDLER;
    if (b->kind & SPE_BRANCH_RETURN)
        b->flow |= FLOW_RETURN;
    else if (b->kind & SPE_BRANCH_LINK)
        b->flow |= FLOW_CALL;
    else if (b->branch && !b->direct)
        b->flow |= FLOW_JUMP;
    if (is_sigreturn(b))
        b->flow |= FLOW_SIGRETURN;
    if (is_call(before))
        b->flow |= FLOW_AFTER_CALL;
    for (uint32_t i = 0; i < b->count; i++) {
        struct pe_site *site = &b->sites[i];

        if (moves_sp(site->word))
            b->flow |= FLOW_MOVES_SP;
        site->by_sp = find_sp(site->word, &site->sp_before, &site->sp_after);
    }
}

/* ---- Handlers of signals -------------------------------------------------------------------- */

/* Any thread may add one. Those that are not in use any more stay: that does no harm. */
enum { HANDLERS = 64 };
static _Atomic uint64_t handlers[HANDLERS];
static _Atomic unsigned handler_count;

static bool is_handler(uint64_t pc)
{
    unsigned count = atomic_load_explicit(&handler_count, memory_order_acquire);

    for (unsigned i = 0; i < count && i < HANDLERS; i++)
        if (atomic_load_explicit(&handlers[i], memory_order_relaxed) == pc)
            return true;
    return false;
}

/* Two threads that add at the same time may lose one of the two: its signals are jumps out of order
 * then. */
bool calls_handler(uint64_t pc)
{
    unsigned count = atomic_load(&handler_count);

    if (pc < 2 || is_handler(pc)) /* SIG_DFL, SIG_IGN */
        return false;
    atomic_store(&handlers[count % HANDLERS], pc);
    if (count < HANDLERS)
        atomic_store_explicit(&handler_count, count + 1, memory_order_release);
    return true;
}

/* ---- Stacks --------------------------------------------------------------------------------- */

static bool grow(struct call_stack *s)
{
    uint32_t room = s->room ? 2 * s->room : 64;
    struct call *grown = room <= CALLS_DEPTH ? realloc(s->at, room * sizeof(*grown)) : NULL;

    if (!grown)
        return false;
    s->at = grown;
    s->room = room;
    return true;
}

static void push(struct calls *c, struct call call)
{
    struct call_stack *s = &c->stack;

    if (c->unsettled) {
        if (c->pending_count < CALLS_PENDING)
            c->pending[c->pending_count] = call;
        c->pending_count++;
    } else if (c->over || (s->count == s->room && !grow(s))) {
        c->over++;
    } else {
        s->at[s->count++] = call;
    }
}

/* What is not called from where it is on top goes to another place than that. */
static bool pop(struct calls *c, uint64_t to)
{
    struct call_stack *s = &c->stack;
    const struct call *top = NULL;

    if (c->unsettled) {
        if (!c->pending_count)
            return false;
        if (--c->pending_count >= CALLS_PENDING)
            return true;
        top = &c->pending[c->pending_count];
    } else if (c->over) {
        c->over--;
        return true;
    } else if (s->count) {
        top = &s->at[s->count - 1];
    }
    if (!top || top->to != to || top->interrupted)
        return false;
    if (!c->unsettled)
        s->count--;
    if (!c->read)
        c->sp = top->sp;
    return true;
}

static void drop_parked(struct calls *c, uint32_t i)
{
    free(c->parked[i].at);
    memmove(&c->parked[i], &c->parked[i + 1], (--c->parked_count - i) * sizeof(c->parked[0]));
}

/* Keep the current stack for later, and have none. The oldest goes when there are too many. */
static void park(struct calls *c)
{
    if (!c->parked)
        c->parked = calloc(CALLS_PARKED, sizeof(*c->parked));
    if (c->parked && c->stack.count) {
        if (c->parked_count == CALLS_PARKED)
            drop_parked(c, 0);
        c->parked[c->parked_count++] = c->stack;
    } else {
        free(c->stack.at);
    }
    c->stack = (struct call_stack){0};
    c->over = 0;
}

/* ---- Where the stack pointer is moved to ---------------------------------------------------- */

static uint64_t (*read_word)(uint64_t address);

void calls_read_with(uint64_t (*read)(uint64_t address))
{
    read_word = read;
}

/* Where the site has just loaded from; of a pair the first half. */
static bool loaded_from(const struct calls *c, const struct pe_site *site, uint64_t *va)
{
    uint32_t count = c->load_count < CALLS_LOADS ? c->load_count : CALLS_LOADS;
    bool found = false;

    for (uint32_t i = 1; i <= count; i++) {
        uint32_t at = (c->load_count - i) % CALLS_LOADS;

        if (c->loads[at].site != site) {
            if (found)
                break;
            continue;
        }
        *va = !found || c->loads[at].va < *va ? c->loads[at].va : *va;
        found = true;
    }
    return found && read_word;
}

/* LDR and LDP of 64 bits: whether it loads the register, and from where. */
static bool loads_register(const struct calls *c, const struct pe_site *site, uint32_t reg,
                           uint64_t *va)
{
    uint32_t word = site->word;
    bool pair = (word & 0xfe400000) == 0xa8400000;

    if ((word & 0xffc00000) != 0xf9400000 && !pair)
        return false;
    if (bits(word, 4, 0) != reg && !(pair && bits(word, 14, 10) == reg))
        return false;
    if (!loaded_from(c, site, va))
        return false;
    *va += bits(word, 4, 0) == reg ? 0 : 8;
    return true;
}

/*
 * What a register has before the instruction at `end`, if its block has just loaded it: setjmp's
 * buffers and contexts hold the stack pointer as it is, or in glibc's buffers with a guard, by EOR.
 */
static bool value_of(const struct calls *c, const struct pe_block *b, uint32_t end, uint32_t reg,
                     unsigned steps, uint64_t *value)
{
    uint64_t other = 0, va = 0;

    for (uint32_t i = end; i-- > 0;) {
        const struct pe_site *site = &b->sites[i];
        uint32_t word = site->word, n = bits(word, 9, 5), m = bits(word, 20, 16);

        if (reg == SP || !steps)
            return false;
        if (!(site->writes >> reg & 1))
            continue;
        if (loads_register(c, site, reg, &va)) {
            *value = read_word(va);
            return *value != 0;
        }
        if ((word & 0xffe0ffe0) == 0xaa0003e0) /* MOV */
            return value_of(c, b, i, m, steps - 1, value);
        if ((word & 0xffe0fc00) != 0xca000000 || !value_of(c, b, i, n, steps - 1, value) ||
            !value_of(c, b, i, m, steps - 1, &other))
            return false;
        *value ^= other;
        return true;
    }
    return false;
}

/* What the stack pointer is behind the block that moves it; 0 if nobody knows. */
static uint64_t moved_to(const struct calls *c, const struct pe_block *b)
{
    uint64_t value = 0;

    for (uint32_t i = b->count; i-- > 0;) {
        uint32_t word = b->sites[i].word;

        if (!moves_sp(word))
            continue;
        if ((word & 0xffc00000) != 0x91000000 || !value_of(c, b, i, bits(word, 9, 5), 4, &value))
            return 0;
        value += bits(word, 21, 10);
        return value & 15 ? 0 : value;
    }
    return 0;
}

/* ---- Jumps out of order --------------------------------------------------------------------- */

/* What is known of the stack pointer stays known until it is used. */
static void unsettle(struct calls *c, const struct pe_block *block)
{
    uint64_t sp = c->moved ? c->moved_to : c->unsettled && !c->pending_count ? c->sp : 0;

    if (c->read)
        sp = c->sp;
    c->leaves = c->moved;
    c->unsettled = true;
    c->after_call = block->flow & FLOW_AFTER_CALL;
    c->target = block->pc;
    c->pending_count = 0;
    c->moved = false;
    c->sp = sp;
    if (sp)
        calls_settle(c, sp, false);
}

/* How large a frame is, at most, that is taken for one: other stacks are farther away. */
#define NEAR UINT64_C(4096)

/* The call that returns to the target with exactly this stack pointer; count if there is none. */
static uint32_t find_return(const struct calls *c, const struct call_stack *s, uint64_t sp)
{
    for (uint32_t i = s->count; i-- > 0;)
        if (s->at[i].sp == sp && s->at[i].to == c->target && !s->at[i].interrupted)
            return i;
    return s->count;
}

/* The one call that was made with exactly this stack pointer: the program is in its caller. count
 * if there is none, or several: functions without a frame call with that of their caller. */
static uint32_t find_frame(const struct call_stack *s, uint64_t sp)
{
    uint32_t found = s->count;

    for (uint32_t i = 0; i < s->count; i++) {
        if (s->at[i].sp == sp && found < s->count)
            return s->count;
        if (s->at[i].sp == sp)
            found = i;
    }
    return found;
}

static bool has_frame(const struct call_stack *s, uint64_t sp)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->at[i].sp == sp)
            return true;
    return false;
}

/* Is the stack pointer that of a frame that has made calls, on any stack? */
static bool is_known(const struct calls *c, uint64_t sp)
{
    bool known = has_frame(&c->stack, sp);

    for (uint32_t i = 0; i < c->parked_count && !known; i++)
        known = has_frame(&c->parked[i], sp);
    return known;
}

static void settled(struct calls *c, uint32_t count, uint64_t sp)
{
    uint32_t pending = c->pending_count;

    c->stack.count = count;
    c->over = 0;
    c->unsettled = false;
    c->pending_count = 0;
    if (pending && !c->pending[0].sp)
        c->pending[0].sp = sp;
    for (uint32_t i = 0; i < pending && i < CALLS_PENDING; i++)
        push(c, c->pending[i]);
}

static void take_parked(struct calls *c, uint32_t i, uint32_t count, uint64_t sp)
{
    struct call_stack stack = c->parked[i];

    c->parked[i].at = NULL;
    drop_parked(c, i);
    park(c);
    c->stack = stack;
    settled(c, count, sp);
}

/* Is it a stack of its own that the stack pointer is in, far from all calls of the current one? */
static bool is_elsewhere(const struct call_stack *s, uint64_t sp)
{
    uint64_t low = UINT64_MAX, high = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t at = s->at[i].sp;

        if (!at)
            continue;
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    return low > high || sp + NEAR < low || sp > high + NEAR;
}

/* A new stack where an old one was: that one is not there any more. */
static void forget_at(struct calls *c, uint64_t sp)
{
    for (uint32_t i = c->parked_count; i-- > 0;)
        if (sp - c->parked[i].at[0].sp <= NEAR)
            drop_parked(c, i);
}

/* The stack on which a call returns to the target. */
static bool settle_by_return(struct calls *c, uint64_t sp)
{
    uint32_t found = find_return(c, &c->stack, sp);

    if (found < c->stack.count) {
        settled(c, found, sp);
        return true;
    }
    for (uint32_t i = c->parked_count; i-- > 0;) {
        found = find_return(c, &c->parked[i], sp);
        if (found == c->parked[i].count)
            continue;
        take_parked(c, i, found, sp);
        return true;
    }
    return false;
}

/* longjmp and exceptions go to a frame that has made calls, of the stack that they leave. */
static bool settle_by_frame(struct calls *c, uint64_t sp)
{
    uint32_t found = find_frame(&c->stack, sp);

    if (!c->leaves || found == c->stack.count)
        return false;
    settled(c, found, sp);
    return true;
}

/*
 * The stack pointer is known for the first time behind the jump: it was moved there, or `used`. The
 * program is in a frame that a call returned to (a coroutine that goes on, a return that leaves
 * several frames), in one that has made calls before (longjmp, an exception), or at the beginning
 * of a stack of its own. What was moved without a call before the target may be in a function
 * without a frame: it is believed when it is used.
 */
void calls_settle(struct calls *c, uint64_t sp, bool used)
{
    bool fresh;

    if (c->pending_count > CALLS_PENDING || settle_by_return(c, sp) ||
        ((used || c->after_call) && settle_by_frame(c, sp)))
        return;
    if (c->pending_count || (!used && is_known(c, sp)))
        return; /* a function that was called may have moved it */
    fresh = c->leaves && !c->after_call && is_elsewhere(&c->stack, sp) && !is_known(c, sp);
    park(c);
    if (fresh)
        forget_at(c, sp);
    c->stack.lost = !fresh;
    settled(c, 0, sp);
}

/* ---- Following ------------------------------------------------------------------------------ */

static void interrupt(struct calls *c, const struct pe_block *last)
{
    uint64_t sp = c->read && read_word ? read_word(c->sp + SIGNAL_SP_AT) : c->sp;

    push(c, (struct call){.to = last->end, .sp = sp, .interrupted = last});
    c->moved = false;
}

/* `last` has made a call, has returned or jumped. `again`: a handler came between the two blocks,
 * which may have been for the first instruction of the last one. */
static void follow(struct calls *c, const struct pe_block *last, const struct pe_block *block,
                   bool again)
{
    uint64_t pc = block->pc;
    bool direct = last->direct && pc == last->target;
    bool inside = pc > last->pc && pc < last->end;

    if (last->flow & FLOW_MOVES_SP) {
        c->moved = true;
        c->moved_to = c->read ? c->sp : moved_to(c, last);
    }
    if (last->flow & FLOW_RETURN && pop(c, pc)) {
        c->moved = false;
    } else if (last->flow & FLOW_CALL &&
               (direct || (!last->direct && !inside && !(again && pc == last->pc)))) {
        push(c, (struct call){.to = last->end, .sp = c->sp});
        c->moved = false;
    } else if (direct || inside || (again && pc == last->pc)) {
        return; /* left in the middle, for instance by a store into code, it goes on there */
    } else if (!(last->flow & FLOW_ENDS & ~FLOW_MOVES_SP) && pc == last->end) {
        return;
    } else if (block->flow & FLOW_HANDLER) {
        interrupt(c, last);
    } else if (block->flow & FLOW_SIGRETURN) {
        return; /* the handler returns to what ends it */
    } else if (!(last->flow & FLOW_JUMP) || c->moved) {
        unsettle(c, block);
    }
}

/* Behind rt_sigreturn: on as if no signal had come. */
static void resume(struct calls *c, const struct pe_block *block)
{
    struct call *at = c->unsettled ? c->pending : c->stack.at;
    uint32_t *count = c->unsettled ? &c->pending_count : &c->stack.count;
    uint32_t room = c->unsettled ? CALLS_PENDING : UINT32_MAX;

    for (uint32_t i = *count < room ? *count : room; i-- > 0;) {
        const struct pe_block *last = at[i].interrupted;

        if (!last)
            continue;
        *count = i;
        if (!c->read)
            c->sp = at[i].sp;
        c->over = 0;
        follow(c, last, block, true);
        return;
    }
}

void calls_follow(struct calls *c, const struct pe_block *last, const struct pe_block *block)
{
    if (!last->count) /* the first block */
        return;
    if (last->flow & FLOW_SIGRETURN)
        resume(c, block);
    else
        follow(c, last, block, false);
}

/* Is the stack pointer used in the block before it is changed? */
static bool uses_sp(const struct pe_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->sites[i].by_sp)
            return true;
        if (bits(b->sites[i].word, 4, 0) == SP && bits(b->sites[i].word, 28, 24) == 0x11)
            return false; /* ADD or SUB (immediate) to it, if it is not CMP */
    }
    return false;
}

void calls_follow_sp(struct calls *c, const struct pe_block *last, const struct pe_block *block,
                     uint64_t sp)
{
    c->read = true;
    c->sp = sp;
    if (calls_matter(last, block))
        calls_follow(c, last, block);
    if (c->unsettled && uses_sp(block))
        calls_settle(c, sp, true);
    c->read = false;
}

int calls_take(const struct calls *c, uint64_t frames[WIRE_FRAMES])
{
    const struct call_stack *s = &c->stack;

    if (c->unsettled)
        return CALLS_UNSETTLED;
    if (s->lost)
        return CALLS_LOST;
    if (c->over || s->count > WIRE_FRAMES)
        return CALLS_DEEP;
    for (uint32_t i = 0; i < s->count; i++)
        frames[i] = s->at[s->count - 1 - i].to;
    return (int)s->count;
}

void calls_free(struct calls *c)
{
    for (uint32_t i = 0; i < c->parked_count; i++)
        free(c->parked[i].at);
    free(c->parked);
    free(c->stack.at);
    *c = (struct calls){0};
}
