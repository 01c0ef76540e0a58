/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Text from outside: every code point, and every sequence of bytes up to three (and the edges of
 * those of four) that may or may not be UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "render/export_csv.h"
#include "render/json.h"
#include "render/safe.h"

#define LAST_CODE 0x10ffff

/* Unicode's table of well-formed sequences (3-7), row by row: the length of one at s, or 0. */
static unsigned well_formed(const unsigned char *s)
{
    static const unsigned char rows[][9] = {
        /* length, then from and to of each byte */
        {1, 0x00, 0x7f},
        {2, 0xc2, 0xdf, 0x80, 0xbf},
        {3, 0xe0, 0xe0, 0xa0, 0xbf, 0x80, 0xbf},
        {3, 0xe1, 0xec, 0x80, 0xbf, 0x80, 0xbf},
        {3, 0xed, 0xed, 0x80, 0x9f, 0x80, 0xbf},
        {3, 0xee, 0xef, 0x80, 0xbf, 0x80, 0xbf},
        {4, 0xf0, 0xf0, 0x90, 0xbf, 0x80, 0xbf, 0x80, 0xbf},
        {4, 0xf1, 0xf3, 0x80, 0xbf, 0x80, 0xbf, 0x80, 0xbf},
        {4, 0xf4, 0xf4, 0x80, 0x8f, 0x80, 0xbf, 0x80, 0xbf},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned n = rows[i][0], at = 0;

        while (at < n && s[at] >= rows[i][1 + 2 * at] && s[at] <= rows[i][2 + 2 * at])
            at++;
        if (at == n)
            return n;
    }
    return 0;
}

static unsigned encode(uint32_t code, char *to)
{
    unsigned n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (unsigned i = n; i-- > 1; code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(n == 1 ? code : (0xf00u >> n & 0xf0) | code);
    to[n] = '\0';
    return n;
}

/* Written out, one by one: what must never be shown as it is. */
static bool forbidden(uint32_t code)
{
    static const uint32_t marks[] = {0x00ad, 0x061c, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e,
                                     0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d,
                                     0x202e, 0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x2065,
                                     0x2066, 0x2067, 0x2068, 0x2069, 0x206a, 0x206b, 0x206c,
                                     0x206d, 0x206e, 0x206f, 0xfeff, 0xfff9, 0xfffa, 0xfffb};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (code == marks[i])
            return true;
    }
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code >> 7 == 0xe0000 >> 7;
}

static void every_code_point(void **state)
{
    char text[8], safe[SAFE_MAX + 1], want[SAFE_MAX + 1];
    uint32_t code, decoded;

    (void)state;
    for (code = 1; code <= LAST_CODE; code++) {
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        unsigned n = encode(code, text), i;
        const char *s = text;
        char *end = safe;

        assert_int_equal(utf8_decode(text, &decoded), surrogate ? 0 : n);
        assert_true(surrogate || decoded == code);
        assert_true(surrogate || safe_code(code) == !forbidden(code));
        want[0] = '\0';
        for (i = 0; i < n && (surrogate || forbidden(code)); i++)
            sprintf(want + 4 * i, "\\x%02x", (unsigned char)text[i]);
        while (*s)
            end = safe_next(end, &s);
        *end = '\0';
        assert_string_equal(safe, want[0] ? want : text);
    }
}

/* Whatever the bytes: what comes out is UTF-8, and nothing of it is forbidden. */
static void check_bytes(const unsigned char *bytes)
{
    const char *s = (const char *)bytes;
    char safe[4 * SAFE_MAX], *end = safe;
    uint32_t code;
    unsigned n;

    n = well_formed(bytes);
    if (utf8_decode(s, &code) != n)
        fail_msg("%02x %02x %02x %02x is%s UTF-8", bytes[0], bytes[1], bytes[2], bytes[3],
                 n ? "" : " not");
    while (*s)
        end = safe_next(end, &s);
    *end = '\0';
    for (s = safe; *s; s += n) {
        n = well_formed((const unsigned char *)s);
        if (!n || !utf8_decode(s, &code) || forbidden(code))
            fail_msg("%02x %02x %02x %02x comes out as %s", bytes[0], bytes[1], bytes[2], bytes[3],
                     safe);
    }
}

static void every_sequence(void **state)
{
    static const unsigned char edges[] = {0x00, 0x01, 0x1b, 0x41, 0x7f, 0x80, 0x8f, 0x90,
                                          0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xe0, 0xf0, 0xff};
    unsigned char bytes[5] = {0};
    uint32_t i, last;

    (void)state;
    for (i = 0; i < 1u << 23; i++) { /* ASCII in front changes nothing */
        bytes[0] = (unsigned char)(0x80 | (i & 0x7f));
        bytes[1] = (unsigned char)(i >> 7);
        bytes[2] = (unsigned char)(i >> 15);
        bytes[3] = 0;
        check_bytes(bytes);
    }
    for (i = 0; i < 1u << 16; i++) {
        for (last = 0; last < 16; last++) {
            bytes[0] = (unsigned char)(0xf0 | (i & 15));
            bytes[1] = (unsigned char)(i >> 4 & 0xff);
            bytes[2] = edges[i >> 12];
            bytes[3] = edges[last];
            check_bytes(bytes);
        }
    }
}

/* What an appender writes for a text, to a file or as to a terminal. */
static const char *written(void (*append)(struct out *, const char *), const char *text,
                           bool terminal)
{
    static char result[256];
    FILE *file = tmpfile();
    struct out o;
    size_t size;

    assert_non_null(file);
    assert_int_equal(out_open(&o, fileno(file)), 0);
    assert_false(o.terminal);
    o.terminal = terminal;
    append(&o, text);
    assert_int_equal(out_close(&o), 0);
    rewind(file);
    size = fread(result, 1, sizeof(result) - 1, file);
    result[size] = '\0';
    fclose(file);
    return result;
}

static void json_text(struct out *o, const char *text)
{
    struct json j;

    json_begin(&j, o);
    json_string(&j, NULL, text);
}

static void appenders(void **state)
{
    static const char evil[] = "a\033\xc2\x9b\"\x9b\xe2\x80\xae,\xc3\xa4\xf3\xa0\x80\x81";
    char *copy = text_safe(evil);

    (void)state;
    assert_string_equal(copy,
                        "a\\x1b\\xc2\\x9b\"\\x9b\\xe2\\x80\\xae,\xc3\xa4\\xf3\\xa0\\x80\\x81");
    assert_string_equal(written(out_safe, evil, false), copy);
    assert_string_equal(written(out_data, evil, true), copy);
    assert_string_equal(written(out_data, evil, false), evil);
    assert_string_equal(written(json_text, evil, false),
                        "\"a\\u001b\\u009b\\\"\\ufffd\\u202e,\xc3\xa4\\udb40\\udc01\"");
    assert_string_equal(written(csv_text, "\033[2J", false), "\033[2J");
    assert_string_equal(written(csv_text, "\033[2J", true), "\\x1b[2J");
    assert_string_equal(written(csv_text, "=\"\r\033\xe2\x80\xa8", false),
                        "\"'=\"\"\r\033\xe2\x80\xa8\"");
    assert_string_equal(written(csv_text, "=\"\r\033\xe2\x80\xa8", true),
                        "\"'=\"\"\\x0d\\x1b\\xe2\\x80\\xa8\"");
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point),
        cmocka_unit_test(every_sequence),
        cmocka_unit_test(appenders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
