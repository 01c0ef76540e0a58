/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Blocks of a shelf: none of those that are out overlaps another, in whatever order they come back
 * and whoever is the last to use the shelf.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "columns/shelf.h"
#include "support/random.h"

#define MOST 40

static const size_t sizes[] = {1, 64, 100, 4096, 300000, 3000000, 9000000};

struct block {
    unsigned char *at; /* or NULL */
    unsigned char mark;
};

/* Marks at both ends and in the middle: all that is needed to see an overlap of equal sizes. */
static void mark(struct block *b, size_t size, unsigned char with)
{
    b->mark = b->at[0] = b->at[size / 2] = b->at[size - 1] = with;
}

static void check(const struct block *b, size_t size)
{
    assert_int_equal(b->at[0], b->mark);
    assert_int_equal(b->at[size / 2], b->mark);
    assert_int_equal(b->at[size - 1], b->mark);
}

static void take(struct shelf *s, struct block *b, size_t size, unsigned char with)
{
    b->at = shelf_take(s);
    assert_non_null(b->at);
    assert_int_equal((uintptr_t)b->at % SHELF_ALIGNMENT, 0);
    mark(b, size, with);
}

static void put(struct shelf *s, struct block *b, size_t size)
{
    check(b, size);
    shelf_put(s, b->at);
    b->at = NULL;
}

static void test_any_order(void **state)
{
    struct random chance = {1};

    (void)state;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        struct shelf *s = shelf_new(sizes[k]);
        struct block blocks[MOST] = {{0}};

        assert_non_null(s);
        for (unsigned step = 0; step < (sizes[k] < 100000 ? 5000 : 200); step++) {
            struct block *b = &blocks[random_below(&chance, MOST)];

            if (b->at)
                put(s, b, sizes[k]);
            else
                take(s, b, sizes[k], (unsigned char)step);
        }
        for (size_t i = 0; i < MOST; i++) {
            if (blocks[i].at)
                put(s, &blocks[i], sizes[k]);
        }
        shelf_release(s);
    }
}

/* All are kept, and come back first to last, as those of a data frame do. */
static void test_kept(void **state)
{
    struct shelf *s = shelf_new(300000);
    struct block blocks[MOST];

    (void)state;
    for (size_t i = 0; i < MOST; i++)
        take(s, &blocks[i], 300000, (unsigned char)i);
    for (size_t i = 0; i < MOST; i++)
        put(s, &blocks[i], 300000);
    shelf_release(s);
}

/* A consumer that gives each batch back before or after it takes the next has two blocks. */
static void test_two_blocks(void **state)
{
    struct shelf *s = shelf_new(5000);
    void *first = shelf_take(s), *second = shelf_take(s);

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        shelf_put(s, first);
        assert_ptr_equal(shelf_take(s), first);
        shelf_put(s, second);
        assert_ptr_equal(shelf_take(s), second);
    }
    shelf_put(s, first);
    shelf_put(s, second);
    shelf_put(s, NULL);
    shelf_release(s);
    shelf_release(NULL);
}

static void test_outlives(void **state)
{
    struct shelf *s = shelf_new(100);
    struct block b;

    (void)state;
    shelf_keep(s);
    take(s, &b, 100, 7);
    shelf_release(s);
    put(s, &b, 100);
    shelf_release(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_two_blocks),
        cmocka_unit_test(test_outlives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
