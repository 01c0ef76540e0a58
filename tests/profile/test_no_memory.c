/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Allocations that fail where others wait for what was to be allocated. */
#include "support/profile_recording.h"
#include "support/sanitized.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "profile/profile_internal.h"

#define SAMPLES 3000
#define TRIES 300

#ifdef SANITIZED

int main(void)
{
    puts("a sanitizer has a calloc of its own");
    return 77;
}

#else

static atomic_size_t failing; /* size of the element whose next allocation fails; 0: none */

void *__libc_calloc(size_t count, size_t size);

void *calloc(size_t count, size_t size)
{
    size_t wanted = size;

    if (size && atomic_compare_exchange_strong(&failing, &wanted, 0))
        return NULL;
    return __libc_calloc(count, size);
}

static void make(struct recording *r)
{
    recording_open(r, 0, 4, NEOVERSE_N1, NULL);
    for (unsigned i = 0; i < SAMPLES; i++)
        recording_sample(r, i % 4, 1000 + i, 0x1000 + i, 0, NO_CONTEXT);
    for (unsigned i = 0; i < 4; i++)
        recording_flush(r, i, i, ANY, 0);
    recording_finish(r);
}

/* One of the threads cannot start: the read fails, or the others are done before, but nobody waits
 * for ever and nothing is read twice. */
static void a_thread_without_memory(void **state)
{
    struct recording r = {0};
    unsigned failed = 0;

    (void)state;
    make(&r);
    for (unsigned i = 0; i < TRIES; i++) {
        struct spe_profile_options options = quiet_options(8);
        struct spe_profile *p;
        struct spe_rows rows;
        size_t count = 0;
        int result;

        options.order = i % 3;
        options.group_rows = 16;
        atomic_store(&failing, sizeof(struct joiner));
        p = recording_profile(&r, &options);
        alarm(60);
        while ((result = spe_profile_next(p, &rows)) > 0)
            count += rows.count;
        spe_profile_close(p);
        alarm(0);
        assert_true(result == SPE_ERR_NOMEM ? count <= SAMPLES : count == SAMPLES);
        failed += result == SPE_ERR_NOMEM;
    }
    print_message("%u of %u reads failed\n", failed, TRIES);
    assert_true(failed > 0);
    recording_free(&r);
}

static void no_memory_for_queues(void **state)
{
    struct spe_profile_options options = quiet_options(1);
    struct spe_profile_error error = {0};
    struct recording r = {0};
    struct spe_profile *p;

    (void)state;
    make(&r);
    atomic_store(&failing, sizeof(struct queue));
    assert_int_equal(spe_profile_open_memory(&p, r.bytes, r.size, &options, &error), SPE_ERR_NOMEM);
    assert_null(p);
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_without_memory),
        cmocka_unit_test(no_memory_for_queues),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
