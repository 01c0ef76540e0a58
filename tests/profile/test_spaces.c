/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Address spaces over time against an array that says for every page and moment what is there. */
#include "support/profile_recording.h"
#include "support/random.h"

#include <stdio.h>

#include "profile/profile_internal.h"

#define PAGES 200
#define MOMENTS 300
#define SPACES 4

static uint32_t truth[SPACES][MOMENTS][PAGES];

/* The map of an address, and that all addresses of which it says so have the same. */
static void check_view(const struct spaces *s, uint32_t root, uint64_t address,
                       const uint32_t *maps)
{
    struct map_view view = spaces_view(s, root, address);

    assert_int_equal(view.root, root);
    assert_int_equal(view.map, maps[address / 4096]);
    assert_in_range(address, view.first, view.last);
    for (uint64_t page = view.first / 4096; page < PAGES && page <= view.last / 4096; page++)
        assert_int_equal(maps[page], view.map);
    assert_int_equal(view.first % 4096, 0);
    assert_int_equal((view.last + 1) % 4096, 0);
}

/* A space is changed, copied as a fork does, or emptied; every moment must stay as it was. */
static void random_changes(struct random *rng)
{
    struct tasks t = {0};
    uint32_t root[SPACES][MOMENTS] = {{0}}, edit[SPACES];

    assert_int_equal(spaces_init(&t.spaces), SPE_OK);
    for (unsigned s = 0; s < SPACES; s++) {
        edit[s] = ++t.spaces.edits;
        memset(truth[s][0], 0xff, sizeof(truth[s][0]));
    }
    for (unsigned m = 1; m < MOMENTS; m++) {
        unsigned which = random_below(rng, SPACES), from = random_below(rng, SPACES);
        unsigned action = random_below(rng, 20);

        for (unsigned s = 0; s < SPACES; s++) {
            memcpy(truth[s][m], truth[s][m - 1], sizeof(truth[s][m]));
            root[s][m] = root[s][m - 1];
        }
        edit[which] = ++t.spaces.edits;
        if (action == 0) {
            root[which][m] = 0;
            memset(truth[which][m], 0xff, sizeof(truth[which][m]));
        } else if (action == 1) {
            edit[from] = ++t.spaces.edits;
            root[which][m] = root[from][m];
            memcpy(truth[which][m], truth[from][m], sizeof(truth[which][m]));
        } else {
            unsigned changes = 1 + random_below(rng, 3);

            for (unsigned c = 0; c < changes; c++) {
                uint32_t start = random_below(rng, PAGES - 1);
                uint32_t end = start + 1 + random_below(rng, PAGES - start - 1), map = m * 10 + c;

                root[which][m] = spaces_assign(&t.spaces, root[which][m], edit[which], start * 4096,
                                               end * 4096, map);
                for (uint32_t page = start; page < end; page++)
                    truth[which][m][page] = map;
            }
        }
    }
    for (unsigned s = 0; s < SPACES; s++) {
        for (unsigned m = 0; m < MOMENTS; m++) {
            for (unsigned page = 0; page < PAGES; page++) {
                check_view(&t.spaces, root[s][m], page * 4096, truth[s][m]);
                check_view(&t.spaces, root[s][m], page * 4096 + 4095, truth[s][m]);
            }
        }
    }
    free(t.spaces.nodes.at);
}

static void spaces_over_time(void **state)
{
    struct random rng;

    (void)state;
    for (unsigned seed = 1; seed <= 10; seed++) {
        rng.state = seed;
        random_changes(&rng);
    }
}

/* A hundred thousand maps, each over the one before, and in order: memory and depth stay small. */
static void many_maps(void **state)
{
    struct tasks t = {0};
    struct task_view view;

    (void)state;
    assert_int_equal(tasks_init(&t, hash_seed()), SPE_OK);
    assert_int_equal(tasks_comm(&t, 0, 1, 1, 0, false), SPE_OK);
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(tasks_map(&t, i, 1, i * 64, i * 64 + 128, i), SPE_OK);
    assert_true(t.spaces.nodes.count < 100000u * 120);
    tasks_view(&t, 1, 50000, &view);
    assert_int_equal(spaces_view(&t.spaces, view.root, 50000 * 64).map, 50000);
    assert_int_equal(spaces_view(&t.spaces, view.root, 49999 * 64).map, 49999);
    tasks_free(&t);
}

/* When history grows out of bounds it is given up, and the space stays right. */
static void too_many_changes(void **state)
{
    struct tasks t = {0};
    struct task_view view;

    (void)state;
    assert_int_equal(tasks_init(&t, hash_seed()), SPE_OK);
    assert_int_equal(tasks_comm(&t, 0, 1, 1, 0, false), SPE_OK);
    for (uint32_t i = 0; i < 300000; i++)
        assert_int_equal(tasks_map(&t, i, 1, (uint64_t)(i % 65536) * 4096,
                                   (uint64_t)(i % 65536) * 4096 + 4096, i),
                         SPE_OK);
    assert_true(t.spaces.full);
    assert_true(t.spaces.nodes.count < 3u << 21);
    tasks_view(&t, 1, UINT64_MAX - 1, &view);
    assert_int_equal(spaces_view(&t.spaces, view.root, (UINT64_C(299999) % 65536) * 4096).map,
                     299999);
    tasks_free(&t);
}

static void history(void **state)
{
    struct history h = {0};
    uint64_t from = 0, to = UINT64_MAX;

    (void)state;
    assert_int_equal(history_at(&h, 5, 77, &from, &to), 77);
    history_add(&h, 10, 1);
    history_add(&h, 20, 2);
    history_add(&h, 20, 3);
    history_add(&h, 30, 4);
    assert_int_equal(history_at(&h, 5, 77, &from, &to), 1);
    assert_int_equal(to, 20);
    to = UINT64_MAX;
    assert_int_equal(history_at(&h, 29, 77, &from, &to), 3);
    assert_int_equal(from, 20);
    assert_int_equal(to, 30);
    free(h.versions.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_over_time),
        cmocka_unit_test(many_maps),
        cmocka_unit_test(too_many_changes),
        cmocka_unit_test(history),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
