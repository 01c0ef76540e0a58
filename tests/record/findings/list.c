/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A linked list whose elements lie anywhere in 48 MB: each step waits for memory. Healthy: an
 * array of the values. */
#include "problem.h"

#define ELEMENTS 786432u

struct element {
    struct element *next;
    uint64_t value[7];
};

static struct element elements[ELEMENTS] __attribute__((aligned(4096)));
static uint64_t values[ELEMENTS];

/* A cycle through all of them: the step has no divisor in common with their number. */
static NOINLINE void link_elements(uint32_t step)
{
    uint32_t from = 0, to, i;

    for (i = 0; i < ELEMENTS; i++, from = to) {
        to = from + step < ELEMENTS ? from + step : from + step - ELEMENTS;
        elements[from].next = &elements[to];
    }
}

static NOINLINE uint64_t walk_list(void)
{
    const struct element *e = elements;
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < ELEMENTS / 4; i++, e = e->next)
        sum += e->value[0];
    return sum;
}

static NOINLINE uint64_t walk_array(void)
{
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < ELEMENTS / 4; i++)
        sum += values[i];
    return sum;
}

int main(int argc, char **argv)
{
    bool healthy = is_healthy(argc, argv);

    link_elements(healthy ? 1 : 261725);
    printf("%u\n", (unsigned)(healthy ? walk_array() : walk_list()));
    return 0;
}
