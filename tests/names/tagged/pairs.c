/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Pairs of registers that go to two variables next to each other, and to two members. */
struct ring {
    struct ring *next, *last;
    long turns;
};

struct span {
    long from, to;
};

static struct ring *first;
static long made;

__attribute__((noinline)) static long look(struct ring **at, long *number, long *limit)
{
    __asm__ volatile("" ::: "memory");
    return (*at)->turns + *number - *limit; /* T: struct ring *; struct ring.turns; long */
}

__attribute__((noinline)) static long two(struct ring *ring, long n)
{
    struct ring *at = ring; /* T: struct ring *; long */
    long number = n; /* T: long; struct ring * */
    long limit = n * 3; /* T: long; struct ring * */

    return look(&at, &number, &limit);
}

__attribute__((noinline)) static void link(struct ring *ring, struct ring *next, struct ring *last)
{
    ring->next = next; /* T: struct ring.next; struct ring.last */
    ring->last = last; /* T: struct ring.last; struct ring.next */
}

__attribute__((noinline)) static long unlink(struct ring *ring)
{
    struct ring *next = ring->next, *last = ring->last; /* T: struct ring.next; struct ring.last */

    return next == last ? 1 : next->turns - last->turns; /* T: struct ring.turns */
}

__attribute__((noinline)) static long width(const struct span *span, long n)
{
    long sum = 0;

    for (long i = 0; i < n; i++)
        sum += span[i].to - span[i].from; /* T: struct span.to; struct span.from */
    return sum;
}

__attribute__((noinline)) static void keep(struct ring *ring, long n)
{
    first = ring; /* T: struct ring *; long */
    made = n; /* T: long; struct ring * */
}

int main(int argc, char **argv)
{
    struct ring a = {&a, &a, argc}, b = {&a, &a, 2};
    struct span spans[16];

    for (int i = 0; i < 16; i++)
        spans[i] = (struct span){i, 2 * i};
    link(&a, &b, &b);
    keep(&b, argc);
    return (int)(two(&a, made) + unlink(&b) + width(spans, argc) + first->turns) == 42;
}
