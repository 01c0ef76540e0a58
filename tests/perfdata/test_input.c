/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Which pages of a mapped file are given back. In place of the file there is memory of our own:
 * what is given back of it reads as zeros.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "perfdata/input.h"
#include "support/random.h"

#define PAGES 16
#define WINDOW ((size_t)16 << 20) /* that stays in memory where a file is read in order */

struct fake {
    struct pd_input input;
    uint8_t *memory;
    size_t page, size;
};

/* A page more than the source has is behind it. */
static void fake_start(struct fake *f, size_t size)
{
    f->page = (size_t)sysconf(_SC_PAGESIZE);
    f->size = (size + f->page - 1) / f->page * f->page;
    f->memory =
        mmap(NULL, f->size + f->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f->memory != MAP_FAILED);
    memset(f->memory, 1, f->size + f->page);
    f->input = (struct pd_input){
        .kind = PD_MEMORY, .memory = f->memory, .mapped = true, .fd = -1, .size = size};
}

static void fake_end(struct fake *f)
{
    munmap(f->memory, f->size + f->page);
}

/* Pages before `end` and from `first` on are gone, and no others. */
static void check_gone(const struct fake *f, size_t first, size_t end)
{
    for (size_t at = 0; at < f->size + f->page; at += f->page)
        assert_int_equal(f->memory[at], at < first || at >= end);
}

/* Some emulators do not give pages back. */
static void need_madvise(void)
{
    struct fake f;
    bool gone;

    fake_start(&f, 1);
    madvise(f.memory, f.page, MADV_DONTNEED);
    gone = !f.memory[0];
    fake_end(&f);
    if (!gone) {
        print_message("MADV_DONTNEED does nothing here\n");
        skip();
    }
}

/* A page goes when its last byte is done with; that behind the end of the file is not ours. */
static void done(void **state)
{
    struct random rng = {1};
    struct fake f;

    (void)state;
    need_madvise();
    for (unsigned round = 0; round < 500; round++) {
        size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page, from, to;

        if (round % 2)
            size -= random_below(&rng, (uint32_t)page);
        from = random_below(&rng, (uint32_t)size);
        to = from + random_below(&rng, (uint32_t)(size - from + 1));
        if (round % 4 < 2)
            to = size;
        fake_start(&f, size);
        pd_input_done(&f.input, from, to - from);
        check_gone(&f, from / page * page, to / page * page);
        fake_end(&f);
    }
}

/* Pages of the neighbours go with a large range, but none behind the end of the file. */
static void done_around(void **state)
{
    const size_t around = 65536, size = 20 * around + 5000;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct random rng = {2};
    struct fake f;

    (void)state;
    need_madvise();
    for (unsigned round = 0; round < 300; round++) {
        size_t from = random_below(&rng, (uint32_t)size);
        size_t to = from + random_below(&rng, (uint32_t)(size - from + 1));
        size_t first = from, end = to;

        if (round % 8 == 0)
            end = to = size;
        if (to - from >= around) {
            first = from < around ? 0 : from - around;
            end = size - to < around ? size : to + around;
        }
        fake_start(&f, size);
        pd_input_done_around(&f.input, from, to - from);
        check_gone(&f, first / page * page, end / page * page);
        fake_end(&f);
    }
}

/* Memory that is borrowed is left alone. */
static void done_in_memory(void **state)
{
    struct fake f;

    (void)state;
    fake_start(&f, PAGES * (size_t)sysconf(_SC_PAGESIZE));
    f.input.mapped = false;
    pd_input_done(&f.input, 0, f.size);
    check_gone(&f, 0, 0);
    fake_end(&f);
}

/* Reading on, a window stays; what is before it goes. */
static void window(void **state)
{
    const uint8_t *bytes;
    struct fake f;

    (void)state;
    need_madvise();
    fake_start(&f, 3 * WINDOW);
    assert_int_equal(pd_input_at(&f.input, 10, 8, &bytes), 8);
    assert_int_equal(pd_input_at(&f.input, WINDOW, 8, &bytes), 8);
    check_gone(&f, 0, 0);
    assert_int_equal(pd_input_at(&f.input, WINDOW + f.page + 1, 8, &bytes), 8);
    assert_ptr_equal(bytes, f.memory + WINDOW + f.page + 1);
    check_gone(&f, 0, WINDOW + f.page);
    memset(f.memory, 1, f.size);
    assert_int_equal(pd_input_at(&f.input, 5 * f.page, 8, &bytes), 8); /* back */
    assert_int_equal(pd_input_at(&f.input, 2 * WINDOW, 8, &bytes), 8);
    check_gone(&f, 5 * f.page, 2 * WINDOW);
    fake_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(done),
        cmocka_unit_test(done_around),
        cmocka_unit_test(done_in_memory),
        cmocka_unit_test(window),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
