/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The one table of options: every kind of row, what it refuses, and the help. */
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/cli.h"

struct inner {
    unsigned before;
    const char *text;
};

enum form { FORM_FIRST, FORM_SECOND };

struct job {
    const struct command *command;
    bool flag, unset, given;
    enum form form;
    const char *text;
    uint64_t number, size;
    unsigned small;
    enum form choice;
    uint64_t taken;
    struct inner inner;
};

static bool take_length(const struct command *c, void *target, const char *value)
{
    uint64_t *length = target;

    *length = strlen(value);
    if (*length < 9)
        return true;
    usage_error(c, "--take", "%s is too long", value);
    return false;
}

static const char *const forms[] = {"first", "second", NULL};

static const struct option_row inner_options[] = {
    {OPTION_TEXT("\nInner:")},
    {"inner", 'i', "TEXT", "of the table in the table", OPTION_STRING(struct inner, text)},
    {0},
};

static const struct option_row options[] = {
    {OPTION_TEXT("Outer:")},
    {"flag", 'f', NULL, "a flag", OPTION_FLAG(struct job, flag)},
    {"unset", 0, NULL, "another", OPTION_UNSET(struct job, unset)},
    {"second", 0, NULL, "a value", OPTION_VALUE(struct job, form, FORM_SECOND)},
    {"text", 't', "TEXT", "a text", OPTION_STRING(struct job, text)},
    {"number", 'n', "N", "a number", OPTION_NUMBER(struct job, number, 2, 9)},
    {"small", 0, "N", "a number", OPTION_UNSIGNED(struct job, small, 0, 5)},
    {"size", 0, "SIZE", "a size", OPTION_SIZE(struct job, size, 1024, 1 << 20)},
    {"choice", 0, "WHICH", "first or second", OPTION_CHOICE(struct job, choice, forms)},
    {"take", 0, "TEXT", "at most eight letters, and a sentence that is long enough to be wrapped",
     OPTION_TAKE(take_length), OPTION_TARGET(struct job, taken, uint64_t)},
    {"old", 'o', NULL, NULL, OPTION_NOTHING},
    {"older", 0, NULL, "nothing", OPTION_NOTHING},
    {OPTION_TABLE(struct job, inner, inner_options), .given = offsetof(struct job, given)},
    {0},
};

static const struct option_row without[] = {
    {OPTION_TABLE(struct job, inner, inner_options), .without = "xi"},
    {0},
};

static const struct command command = {
    .name = "test", .usage = "Usage.\n", .options = options, .examples = "Examples:\n"};
static const struct command command_without = {
    .name = "test", .usage = "Usage.\n", .options = without, .examples = "Examples:\n"};
static const struct command command_words = {
    .name = "test", .options = options, .words_follow = true};

static struct job job;
static int status;

/* Words are divided by blanks. */
static bool take(const struct command *c, const char *line)
{
    static char words[200];
    char *argv[20] = {NULL}, *rest = NULL;
    int argc = 0;

    memset(&job, 0, sizeof(job));
    job.unset = true;
    snprintf(words, sizeof(words), "test %s", line);
    for (char *w = strtok_r(words, " ", &rest); w && argc < 19; w = strtok_r(NULL, " ", &rest))
        argv[argc++] = w;
    optind = 0;
    return take_options(c, &job, argc, argv, &status);
}

/* What goes to a descriptor while `run` runs. */
static const char *output_of(int fd, void (*run)(const char *line), const char *line)
{
    static char text[4000];
    int file = memfd_create("text", MFD_CLOEXEC), kept = dup(fd);
    ssize_t n;

    assert_true(file >= 0);
    fflush(NULL);
    dup2(file, fd);
    run(line);
    fflush(NULL);
    dup2(kept, fd);
    n = pread(file, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(file);
    close(kept);
    return text;
}

static void refused(const char *line)
{
    assert_false(take(&command, line));
    assert_int_equal(status, STATUS_USAGE);
}

static void says(const char *line, const char *sentence)
{
    const char *text = output_of(STDERR_FILENO, refused, line);

    if (!strstr(text, sentence))
        fail_msg("'%s' says '%s', not '%s'", line, text, sentence);
}

static void test_kinds(void **state)
{
    (void)state;
    assert_true(take(&command, "-f --unset --second -t x --number=9 --small 5 --size 2k"));
    assert_true(job.flag);
    assert_false(job.unset);
    assert_int_equal(job.form, FORM_SECOND);
    assert_string_equal(job.text, "x");
    assert_int_equal(job.number, 9);
    assert_int_equal(job.small, 5);
    assert_int_equal(job.size, 2048);
    assert_false(job.given);
    assert_true(take(&command, "--choice second --take four -n 0x3 --older -o"));
    assert_int_equal(job.choice, 1);
    assert_int_equal(job.taken, 4);
    assert_int_equal(job.number, 3);
    assert_true(take(&command, "-ft y")); /* letters in one word, a beginning that is unique */
    assert_string_equal(job.text, "y");
    assert_true(take(&command, "--num 4"));
    assert_int_equal(job.number, 4);
}

static void test_refusals(void **state)
{
    (void)state;
    says("--number 1", "spe: --number: 1 is not between 2 and 9\nTry 'spe test --help'.\n");
    says("-n 10", "--number: 10 is not between 2 and 9");
    says("-n -3", "--number: '-3' is not a number");
    says("--small 6", "--small: 6 is not between 0 and 5");
    says("--size 1023", "--size: 1023 is less than 1K");
    says("--size 2M", "--size: 2M is more than 1M");
    says("--size 1T", "--size: '1T' is not a size (bytes, 0x..., or with K, M or G)");
    says("--choice frst", "'frst' is neither first nor second; did you mean first?");
    says("--take too-long-a-word", "--take: too-long-a-word is too long");
    says("--text", "--text: the option needs a value");
    says("-t", "-t: the option needs a value");
    says("-fx", "-x: there is no such option");
    says("--flga", "--flga: there is no such option; did you mean --flag?");
    says("--innr x", "did you mean --inner?");
    says("--old=x", "--old=x: ");
}

static void test_tables(void **state)
{
    (void)state;
    assert_true(take(&command, "-i x"));
    assert_string_equal(job.inner.text, "x");
    assert_int_equal(job.inner.before, 0);
    assert_true(job.given);
    assert_true(take(&command_without, "--inner x"));
    assert_string_equal(job.inner.text, "x");
    assert_false(take(&command_without, "-i x"));
}

static void test_words(void **state)
{
    (void)state;
    assert_true(take(&command, "word -f"));
    assert_true(job.flag);
    assert_int_equal(optind, 2);
    assert_true(take(&command_words, "word -f"));
    assert_false(job.flag);
    assert_int_equal(optind, 1);
}

static void help(const char *line)
{
    assert_false(take(&command, line));
    assert_int_equal(status, STATUS_OK);
}

static void help_without(const char *line)
{
    assert_false(take(&command_without, line));
}

static void test_help(void **state)
{
    (void)state;
    assert_string_equal(
        output_of(STDOUT_FILENO, help, "--help"),
        "Usage.\n"
        "\n"
        "Outer:\n"
        "  -f, --flag             a flag\n"
        "      --unset            another\n"
        "      --second           a value\n"
        "  -t, --text TEXT        a text\n"
        "  -n, --number N         a number\n"
        "      --small N          a number\n"
        "      --size SIZE        a size\n"
        "      --choice WHICH     first or second\n"
        "      --take TEXT        at most eight letters, and a sentence that is long\n"
        "                         enough to be wrapped\n"
        "  -o, --old, --older     nothing\n"
        "\n"
        "Inner:\n"
        "  -i, --inner TEXT       of the table in the table\n"
        "  -h, --help             this text\n"
        "\n"
        "Examples:\n");
    assert_non_null(strstr(output_of(STDOUT_FILENO, help_without, "-h"), "\n      --inner TEXT"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),  cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_tables), cmocka_unit_test(test_words),
        cmocka_unit_test(test_help),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
