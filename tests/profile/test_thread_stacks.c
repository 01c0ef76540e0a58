/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Whose stack an address is in, against a model that looks at every thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/profile_internal.h"
#include "support/random.h"

#define THREADS 40
#define PROCESSES 3
#define PAGES 2048
#define PAGE_SIZE UINT64_C(4096)
#define BASE UINT64_C(0x7f0000000000)
#define GAP (UINT64_C(1) << 20)

/* A page is of the thread that used it first; a thread has a range, which is within a gap. */
struct model {
    uint64_t low[THREADS], high[THREADS];
    bool used[THREADS];
    uint32_t page[PROCESSES][PAGES];
};

static void model_tell(struct model *m, uint32_t thread, uint64_t address)
{
    if (!m->used[thread]) {
        m->low[thread] = m->high[thread] = address;
        m->used[thread] = true;
    }
    if (address + GAP < m->low[thread] || address > m->high[thread] + GAP)
        return;
    if (address < m->low[thread])
        m->low[thread] = address;
    if (address > m->high[thread])
        m->high[thread] = address;
    for (uint64_t at = m->low[thread] / PAGE_SIZE; at <= m->high[thread] / PAGE_SIZE; at++) {
        uint32_t *page = &m->page[thread % PROCESSES][at - BASE / PAGE_SIZE];

        if (*page == NONE)
            *page = thread;
    }
}

static uint32_t model_owner(const struct model *m, uint32_t process, uint64_t address)
{
    uint32_t thread = m->page[process][(address - BASE) / PAGE_SIZE];

    if (thread == NONE || address < m->low[thread] || address > m->high[thread])
        return NONE;
    return thread;
}

static void test_model(void **state)
{
    static struct model m;
    struct random rng = {1};

    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        struct thread_stacks s = {0};

        memset(&m, 0, sizeof(m));
        memset(m.page, 0xff, sizeof(m.page));
        for (unsigned i = 0; i < 400; i++) {
            uint32_t thread = (uint32_t)(random_next(&rng) % THREADS);
            /* Near its own, or anywhere. */
            uint64_t address =
                BASE + (random_next(&rng) % 4 ? thread * (PAGES / THREADS) * PAGE_SIZE +
                                                    random_next(&rng) % (round * 50000 + 1)
                                              : random_next(&rng) % (PAGES * PAGE_SIZE));

            if (address >= BASE + PAGES * PAGE_SIZE)
                continue;
            assert_int_equal(thread_stacks_tell(&s, thread, thread % PROCESSES, address), SPE_OK);
            model_tell(&m, thread, address);
            for (unsigned j = 0; j < 20; j++) {
                uint32_t process = (uint32_t)(random_next(&rng) % PROCESSES);

                address = BASE + random_next(&rng) % (PAGES * PAGE_SIZE);
                assert_int_equal(thread_stacks_owner(&s, process, address),
                                 model_owner(&m, process, address));
            }
        }
        thread_stacks_free(&s);
    }
}

static void test_edges(void **state)
{
    struct thread_stacks s = {0};

    (void)state;
    assert_int_equal(thread_stacks_owner(&s, 0, BASE), NONE);
    assert_int_equal(thread_stacks_tell(&s, 0, NONE, BASE), SPE_OK);
    assert_int_equal(thread_stacks_tell(&s, 0, 0, UINT64_MAX), SPE_OK);
    assert_int_equal(thread_stacks_owner(&s, 0, UINT64_MAX), NONE);
    assert_int_equal(thread_stacks_tell(&s, 0, 0, INT64_MAX), SPE_OK);
    assert_int_equal(thread_stacks_owner(&s, 0, INT64_MAX), 0);
    assert_int_equal(thread_stacks_tell(&s, 1, 0, 0), SPE_OK);
    assert_int_equal(thread_stacks_owner(&s, 0, 0), 1);
    assert_int_equal(thread_stacks_owner(&s, NONE, 0), NONE);
    thread_stacks_free(&s);
}

/* A pool of threads that come and go costs a node for each stack, not for each thread. */
static void test_many(void **state)
{
    struct thread_stacks s = {0};

    (void)state;
    for (uint32_t thread = 0; thread < 100000; thread++) {
        uint64_t stack = BASE + thread % 64 * 2 * GAP;

        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(thread_stacks_tell(&s, thread, 1, stack + i * 100), SPE_OK);
        assert_int_equal(thread_stacks_owner(&s, 1, stack + 100), thread % 64);
    }
    assert_in_range(s.owners.nodes.count, 65, 200);
    thread_stacks_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
