/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Tables that are too wide: what goes first, and names that stay apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "render/shorten.h"
#include "render/table.h"

#define NAMES 3

/* ---- names ----------------------------------------------------------------------------------- */

static void begin(struct short_name names[NAMES], const char *const full[NAMES])
{
    for (size_t i = 0; i < NAMES; i++)
        names[i] = (struct short_name){full[i], strdup(full[i])};
}

static void end(struct short_name names[NAMES], const char *const expected[NAMES])
{
    for (size_t i = 0; i < NAMES; i++) {
        assert_string_equal(names[i].text, expected[i]);
        free(names[i].text);
    }
}

static void test_paths(void **state)
{
    struct short_name names[NAMES];

    (void)state;
    begin(names, (const char *[]){"/usr/src/a.c:1", "LazyCompile:*f /home/u/t.js:1", "a/b"});
    assert_true(shorten_paths(names, NAMES));
    end(names, (const char *[]){"a.c:1", "LazyCompile:*f t.js:1", "a/b"});
    /* Two files of one name keep the directory in which they differ. */
    begin(names, (const char *[]){"/src/net/util.c:5", "/src/disk/util.c:5", "/src/main.c:5"});
    assert_true(shorten_paths(names, NAMES));
    end(names, (const char *[]){"..net/util.c:5", "..disk/util.c:5", "main.c:5"});
    begin(names, (const char *[]){"/", "/usr/", "//"});
    assert_true(shorten_paths(names, NAMES));
    end(names, (const char *[]){"/", "usr/", "//"});
}

static void test_texts(void **state)
{
    struct short_name names[NAMES];

    (void)state;
    begin(names, (const char *[]){"abcdefghijklmnopqrstuvwxyz", "short", "abcdefghijkl"});
    assert_true(shorten_texts(names, NAMES, 12, false));
    end(names, (const char *[]){"abcde..vwxyz", "short", "abcdefghijkl"});
    begin(names, (const char *[]){"abcdefghijklmnopqrstuvwxyz", "short", "abcdefghijkl"});
    assert_true(shorten_texts(names, NAMES, 12, true));
    end(names, (const char *[]){"abcdefghij..", "short", "abcdefghijkl"});
    /* What differs in the middle shows it: no two stubs are equal. */
    begin(names, (const char *[]){"std::vector<int, std::less>::insert_aux(",
                                  "std::vector<char, std::less>::insert_aux(", "x"});
    assert_true(shorten_texts(names, NAMES, 16, false));
    end(names, (const char *[]){"std:..int, std..", "std:..char, st..", "x"});
    /* Code points are not cut. */
    begin(names, (const char *[]){"\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4",
                                  "x", "y"});
    assert_true(shorten_texts(names, NAMES, 8, false));
    end(names, (const char *[]){"\u00e4\u00f6\u00fc..\u00f6\u00fc\u00e4", "x", "y"});
}

/* Names that are the same are not apart, however many there are. */
static void test_many(void **state)
{
    enum { MANY = 50000 };
    struct short_name *names = calloc(MANY, sizeof(*names));

    (void)state;
    assert_non_null(names);
    for (size_t i = 0; i < MANY; i++)
        names[i] =
            (struct short_name){"the_same_long_name_again", strdup("the_same_long_name_again")};
    assert_true(shorten_texts(names, MANY, 10, false));
    for (size_t i = 0; i < MANY; i++) {
        assert_string_equal(names[i].text, "the_..gain");
        free(names[i].text);
    }
    free(names);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The page of one row of a name, another and two numbers. */
static void page(char *text, size_t size, unsigned width, const char *name)
{
    static const struct table_column columns[] = {{"function", true, 0, 20},
                                                  {"dso", true, 1, 8},
                                                  {"95 %", false, 2, 0},
                                                  {"lat", false, 0, 0}};
    int ends[2];
    ssize_t n;
    struct table t;
    struct out o;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(out_open(&o, ends[1]), 0);
    table_begin(&t, columns, 4);
    table_text(&t, TONE_PLAIN, name);
    table_text(&t, TONE_PLAIN, "libexample.so");
    table_text(&t, TONE_PLAIN, "10.0-12.0");
    table_text(&t, TONE_PLAIN, "99.0");
    assert_true(table_end(&t, &o, width, false));
    assert_int_equal(out_close(&o), 0);
    n = read(ends[0], text, size - 1);
    assert_true(n > 0);
    text[n] = '\0';
    close(ends[0]);
    close(ends[1]);
}

static void test_order(void **state)
{
    static const char name[] = "a_function_of_25_columns_";
    char text[512];

    (void)state;
    page(text, sizeof(text), 80, name);
    assert_non_null(strstr(text, name));
    assert_non_null(strstr(text, "10.0-12.0"));
    page(text, sizeof(text), 42, name); /* the interval goes, names stay */
    assert_null(strstr(text, "10.0-12.0"));
    assert_non_null(strstr(text, "no room for: 95 %\n"));
    assert_non_null(strstr(text, "libe...so"));
    page(text, sizeof(text), 34, name); /* then the second name */
    assert_non_null(strstr(text, name));
    assert_non_null(strstr(text, "no room for: dso, 95 %\n"));
    page(text, sizeof(text), 20, name); /* the first one is cut when nothing else can go */
    assert_non_null(strstr(text, "a_func..umns_"));
    page(text, sizeof(text), 50, "/home/user/src/a_file.c:12");
    assert_non_null(strstr(text, "  a_file.c:12  libexample.so  10.0-12.0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
