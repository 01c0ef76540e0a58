/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Stacks that are known: each function named leaf_... is called in one way only, and what it is
 * called is that way, from the outermost function of this program to itself.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#define ROUNDS 40

volatile unsigned long sum;
static unsigned long work_size = 300;

/* Work with memory accesses, none of them by SP, and without calls. */
#define LEAF(name)                                                                                 \
    APART unsigned long name(void)                                                                 \
    {                                                                                              \
        unsigned long i;                                                                           \
                                                                                                   \
        for (i = 0; i < work_size; i++)                                                            \
            sum += i;                                                                              \
        return sum;                                                                                \
    }

LEAF(leaf_main_plain)
LEAF(leaf_main_plain_inner)
LEAF(leaf_main_tail)
LEAF(leaf_main_deep)
LEAF(leaf_main_jump_throw)
LEAF(leaf_main_jump_after)
LEAF(leaf_main_jump_nested)
LEAF(leaf_main_signal_body)
LEAF(leaf_main_signal_handler)
LEAF(leaf_main_alt_handler)
LEAF(leaf_main_escape_after)
LEAF(leaf_main_coroutines_main)
LEAF(leaf_coroutine_one)
LEAF(leaf_coroutine_two)
LEAF(leaf_coroutine_inner)
LEAF(leaf_thread)
LEAF(leaf_main_fork_child)
LEAF(leaf_main_pointer)
LEAF(leaf_main_big_frame)

/* ---- calls, tail calls, recursion ----------------------------------------------------------- */

APART unsigned long plain_inner(void)
{
    return leaf_main_plain_inner() + 1;
}

APART unsigned long plain(void)
{
    return leaf_main_plain() + plain_inner() + leaf_main_plain() + 1;
}

APART unsigned long tail_last(void)
{
    return leaf_main_tail(); /* a jump */
}

APART unsigned long tail(void)
{
    return tail_last(); /* a jump */
}

APART unsigned long deep(int depth)
{
    if (!depth)
        return leaf_main_deep() + 1;
    deep(depth - 1);
    sum++;
    return sum;
}

APART unsigned long pointer(unsigned long (*volatile function)(void))
{
    return function() + 1;
}

/* Its stack pointer moves after it has saved registers, and moves again. */
APART unsigned long big_frame(size_t size)
{
    volatile char *bytes = __builtin_alloca(size);
    unsigned long got;

    bytes[0] = 1;
    got = leaf_main_big_frame() + (unsigned long)bytes[0];
    return got + plain_inner();
}

/* ---- longjmp -------------------------------------------------------------------------------- */

static jmp_buf outer_jump, inner_jump;

APART void jump_throw(int deep)
{
    if (deep) {
        jump_throw(deep - 1);
        sum++;
        return;
    }
    leaf_main_jump_throw();
    longjmp(outer_jump, 1);
}

APART void jump_nested(void)
{
    if (!setjmp(inner_jump)) {
        leaf_main_jump_nested();
        longjmp(inner_jump, 1);
    }
    leaf_main_jump_nested();
    sum++;
}

APART void jump(void)
{
    if (!setjmp(outer_jump)) {
        jump_nested();
        jump_throw(5);
    }
    leaf_main_jump_after();
    sum++;
}

/* ---- signals -------------------------------------------------------------------------------- */

static sigjmp_buf escape_jump;

static void handler(int number)
{
    (void)number;
    leaf_main_signal_handler();
    sum++;
}

static void alt_handler(int number)
{
    (void)number;
    leaf_main_alt_handler();
    sum++;
}

static void escape_handler(int number)
{
    (void)number;
    siglongjmp(escape_jump, 1);
}

APART void signal_body(void)
{
    leaf_main_signal_body();
    raise(SIGUSR1);
    leaf_main_signal_body();
    raise(SIGUSR2);
    leaf_main_signal_body();
    sum++;
}

APART void escape(void)
{
    if (!sigsetjmp(escape_jump, 1))
        *(volatile int *)8 = 1;
    leaf_main_escape_after();
    sum++;
}

static void set_handlers(void)
{
    static char stack[65536];
    stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_handler = handler};

    sigaltstack(&alt, NULL);
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = alt_handler;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, NULL);
    action.sa_handler = escape_handler;
    sigaction(SIGSEGV, &action, NULL);
}

/* ---- coroutines ----------------------------------------------------------------------------- */

static ucontext_t main_context, contexts[2];
static char stacks[2][65536];

APART void coroutine_inner(int self)
{
    leaf_coroutine_inner();
    swapcontext(&contexts[self], &main_context);
    leaf_coroutine_inner();
    sum++;
}

static void coroutine_one(void)
{
    for (;;) {
        leaf_coroutine_one();
        swapcontext(&contexts[0], &contexts[1]); /* straight to the other one */
        leaf_coroutine_one();
        coroutine_inner(0);
    }
}

static void coroutine_two(void)
{
    for (;;) {
        leaf_coroutine_two();
        coroutine_inner(1);
        leaf_coroutine_two();
        swapcontext(&contexts[1], &main_context);
    }
}

APART void coroutines(int begin)
{
    for (int i = 0; begin && i < 2; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks[i];
        contexts[i].uc_stack.ss_size = sizeof(stacks[i]);
        contexts[i].uc_link = NULL;
        makecontext(&contexts[i], i ? coroutine_two : coroutine_one, 0);
    }
    for (int i = 0; i < 4; i++) {
        leaf_main_coroutines_main();
        swapcontext(&main_context, &contexts[i % 2]);
        leaf_main_coroutines_main();
    }
    sum++;
}

/* ---- threads and processes ------------------------------------------------------------------ */

static void *thread(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        leaf_thread();
        sum++;
    }
    return unused;
}

APART void fork_child(void)
{
    leaf_main_fork_child();
    sum++;
}

APART void processes(void)
{
    pid_t child = fork();

    if (child == 0) {
        for (int i = 0; i < 10; i++)
            fork_child();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* ---- a return address that is changed ------------------------------------------------------- */

/* smash saves x30, and returns to smashed instead: nothing that is called then has a known stack
 * until the program is back where it was. */
#ifdef SMASH
LEAF(leaf_smashed)

__attribute__((used)) unsigned long smashed(void)
{
    return leaf_smashed() + 1;
}

unsigned long smash(void);
__asm__(".text\n.globl smash\n.type smash, %function\n"
        "smash:\n"
        "    stp x29, x30, [sp, #-32]!\n"
        "    mov x29, sp\n"
        "    adrp x0, back\n"
        "    add x0, x0, :lo12:back\n"
        "    str x30, [x0]\n" /* for the way back */
        "    adrp x30, gadget\n"
        "    add x30, x30, :lo12:gadget\n"
        "    str x30, [sp, #8]\n"
        "    ldp x29, x30, [sp], #32\n"
        "    ret\n"
        ".size smash, . - smash\n"
        ".type gadget, %function\n"
        "gadget:\n"
        "    bl smashed\n"
        "    adrp x1, back\n"
        "    add x1, x1, :lo12:back\n"
        "    ldr x30, [x1]\n"
        "    ret\n"
        ".size gadget, . - gadget\n"
        ".bss\n.balign 8\nback: .skip 8\n.text\n");
#endif

int main(void)
{
    pthread_t threads[2];

    set_handlers();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        plain();
        tail();
        deep(30);
        pointer(leaf_main_pointer);
        big_frame(100 + (size_t)i * 64);
        jump();
        signal_body();
        escape();
        coroutines(i == 0);
#ifdef SMASH
        smash();
#endif
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    processes();
    return 0;
}
