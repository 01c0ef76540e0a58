/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Ends itself with SIGILL, with instructions that every CPU has. */
#include <signal.h>

int main(void)
{
    raise(SIGILL);
    return 0;
}
