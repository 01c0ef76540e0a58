/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Names by number, and threads that read them while one adds more: ThreadSanitizer is the judge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "base/strings.h"

enum { NAMES = 20000, READERS = 3 };

static void strings(void **state)
{
    struct strings *s = calloc(1, sizeof(*s));
    char text[32], *large = calloc(1, 10000);

    (void)state;
    strings_init(s, hash_seed());
    for (unsigned i = 0; i < 20000; i++) {
        snprintf(text, sizeof(text), "string %u", i);
        assert_int_equal(strings_add(s, text), i);
    }
    assert_int_equal(strings_add(s, "string 123"), 123);
    assert_string_equal(strings_at(s, 19999), "string 19999");
    assert_string_equal(strings_at(s, NONE), "");
    memset(large, 'x', 9999);
    assert_int_equal(strlen(strings_at(s, strings_add(s, large))), STRING_MAX);
    strings_free(s);
    free(s);
    free(large);
}

/* What a name says, its number says as well. */
static void *read_all(void *user)
{
    const struct strings *s = user;
    char expected[32];

    for (uint32_t id = 0, tries = 0; id < NAMES && tries < 1000 * NAMES; tries++) {
        const char *text = strings_at(s, id);

        if (!text[0])
            continue; /* it has not come yet */
        snprintf(expected, sizeof(expected), "string %u", id++);
        if (strcmp(text, expected) != 0)
            return user;
    }
    return NULL;
}

static void read_while_adding(void **state)
{
    struct strings *s = calloc(1, sizeof(*s));
    pthread_t readers[READERS];
    void *wrong;
    char text[32];

    (void)state;
    assert_non_null(s);
    strings_init(s, hash_seed());
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_all, s), 0);
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(text, sizeof(text), "string %u", i);
        assert_int_equal(strings_add(s, text), i);
    }
    for (unsigned i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(readers[i], &wrong), 0);
        assert_null(wrong);
    }
    strings_free(s);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings),
        cmocka_unit_test(read_while_adding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
