/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * CLONES before a function with loops over columns: the compiler vectorises them for several sets
 * of instructions, and the loader takes the best one that the machine has. Not with Clang, with C
 * libraries that lack such functions, and sanitizers, which are not ready when they are chosen.
 */
#ifndef SPE_FORMAT_CLONES_H
#define SPE_FORMAT_CLONES_H

#include <stdint.h> /* which tells the C library, too */

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && __GNUC__ >= 12 &&          \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define CLONES
#endif

#endif
