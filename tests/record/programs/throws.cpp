/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* As calls.c, with exceptions. */
#include <stdexcept>

#define APART __attribute__((noinline, noclone))

extern "C" {
volatile unsigned long sum;
static unsigned long work_size = 300;

#define LEAF(name)                                                                                 \
    APART unsigned long name()                                                                     \
    {                                                                                              \
        for (unsigned long i = 0; i < work_size; i++)                                              \
            sum = sum + i;                                                                         \
        return sum;                                                                                \
    }

LEAF(leaf_throws)
LEAF(leaf_cleanup)
LEAF(leaf_caught)
LEAF(leaf_rethrown)
LEAF(leaf_after)
}

struct guard {
    APART ~guard()
    {
        leaf_cleanup();
        sum = sum + 1;
    }
};

extern "C" APART void throws(int depth)
{
    if (depth) {
        guard g;
        throws(depth - 1);
        sum = sum + 1;
        return;
    }
    leaf_throws();
    throw std::runtime_error("no");
}

extern "C" APART void rethrows()
{
    try {
        throws(2);
    } catch (const std::logic_error &) {
        sum = sum + 1;
    } catch (const std::exception &) {
        leaf_caught();
        throw;
    }
}

extern "C" APART void catches()
{
    try {
        rethrows();
    } catch (const std::exception &) {
        leaf_rethrown();
    }
    leaf_after();
    sum = sum + 1;
}

int main()
{
    for (int i = 0; i < 40; i++)
        catches();
    return 0;
}
