/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A load that faults, every time, between two others: the handler goes on behind all three, so the
 * last one never runs.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

extern const char behind[];

static void skip(int number, siginfo_t *info, void *context)
{
    ucontext_t *c = context;

    (void)number;
    (void)info;
    c->uc_mcontext.pc = (uintptr_t)behind;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO};
    uint64_t good[2] = {0};
    long rounds = argc > 1 ? atol(argv[1]) : 1000;

    sigaction(SIGSEGV, &action, NULL);
    for (long i = 0; i < rounds; i++)
        __asm__ volatile(".global first, faulting, never, behind\n"
                         "first: ldr x1, [%0]\n"
                         "faulting: ldr x2, [%1]\n"
                         "never: ldr x3, [%0, #8]\n"
                         "b behind\n"
                         "behind: nop\n"
                         :
                         : "r"(good), "r"(8L)
                         : "x1", "x2", "x3", "memory");
    return 0;
}
