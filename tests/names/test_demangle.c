/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* C++ names beside c++filt, on the names of the C++ library itself. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "names/names_internal.h"

#define LINE 4096

static FILE *run(const char *command)
{
    FILE *pipe = popen(command, "r");

    assert_non_null(pipe);
    return pipe;
}

static bool line_of(FILE *pipe, char *line)
{
    if (!fgets(line, LINE, pipe))
        return false;
    line[strcspn(line, "\n")] = 0;
    return true;
}

static void demangled(const char *mangled, char *out)
{
    struct symtab t = {0};

    assert_int_equal(symtab_add(&t, mangled, 0x1000, 16, SYMBOL_FUNCTION, 0), SPE_OK);
    symtab_finish(&t);
    snprintf(out, LINE, "%s", t.names.at + t.functions.at[0].name);
    symtab_free(&t);
}

/* c++filt -p leaves out parameters and types. It spells out std::string
 * and the like: names with these are not compared. */
static void compare_with_cxxfilt(const char *library, unsigned *compared, unsigned *equal)
{
    char names[1024], command[2048], mangled[LINE], theirs[LINE], ours[LINE];
    FILE *in, *out;

    *compared = *equal = 0;
    snprintf(
        names, sizeof(names),
        "nm -D --defined-only %s | sed -n 's/^.* [TW] \\(_Z[A-Za-z0-9_]*\\)\\(@.*\\)*$/\\1/p' | "
        "grep -v -e '^_ZN*K*S[abdios]' -e S[abdios]E -e Ss",
        library);
    snprintf(command, sizeof(command), "%s | c++filt -p", names);
    in = run(names);
    out = run(command);
    while (line_of(in, mangled) && line_of(out, theirs)) {
        demangled(mangled, ours);
        ++*compared;
        if (!strcmp(ours, theirs))
            ++*equal;
        else if (*equal + 5 > *compared)
            print_message("%s\n  c++filt %s\n  here    %s\n", mangled, theirs, ours);
    }
    pclose(in);
    pclose(out);
}

static void test_against_cxxfilt(void **state)
{
    unsigned compared, equal;

    (void)state;
    compare_with_cxxfilt("$(gcc -print-file-name=libstdc++.so.6)", &compared, &equal);
    assert_true(compared > 1000);
    assert_int_equal(equal, compared);
}

/* A library with long names: hardly any of them is too long. */
static void test_long_names(void **state)
{
    unsigned compared, equal;

    (void)state;
    compare_with_cxxfilt("$(ldconfig -p | sed -n 's/.*libLLVM.* => //p' | head -1)", &compared,
                         &equal);
    if (!compared) {
        print_message("there is no libLLVM to take long names from\n");
        skip();
    }
    print_message("%u of %u names are as c++filt has them\n", equal, compared);
    assert_true(compared > 1000);
    assert_true(equal * UINT64_C(1000) >= compared * UINT64_C(999));
}

/* "S_" is the first. */
static void put_reference(char *name, unsigned number)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *end = name + strlen(name);

    if (number == 0)
        strcpy(end, "S_");
    else if (number <= 36)
        sprintf(end, "S%c_", digits[number - 1]);
    else
        sprintf(end, "S%c%c_", digits[(number - 1) / 36], digits[(number - 1) % 36]);
}

/* A function whose every parameter is a template of `times` of the one before it. */
static void bomb(char *name, unsigned levels, unsigned times, bool pack)
{
    strcpy(name, pack ? "_Z1fIJiEEvPi" : "_Z1fPi");
    for (unsigned i = 0; i < levels; i++) {
        strcat(name, "1aI");
        for (unsigned j = 0; j < times; j++)
            put_reference(name, 2 * i + pack);
        strcat(name, "E");
    }
    if (pack) {
        strcat(name, "Dp");
        put_reference(name, 2 * levels + pack);
    }
}

/* What 200 bytes stand for can be more than all memory. Either it is short, or nobody tries. */
static void test_bombs(void **state)
{
    typedef char *demangler(const char *mangled, char *buffer, size_t *size, int *status);
    void *library = dlopen("libstdc++.so.6", RTLD_NOW);
    demangler *function = NULL;
    char name[LINE], ours[LINE];
    unsigned tried = 0, left = 0;

    (void)state;
    *(void **)&function = dlsym(library, "__cxa_demangle");
    for (unsigned i = 0; i < 2 * 4 * 60; i++) {
        char *full;

        bomb(name, i % 60, 2 + i / 60 % 4, i / 240);
        if (demangle_steps(name) > DEMANGLE_MAX) {
            demangled(name, ours);
            assert_string_equal(ours, name);
            left++;
            continue;
        }
        full = function(name, NULL, NULL, NULL);
        if (full) /* 15 bytes ("std::allocator") for a byte are the most */
            assert_true(strlen(full) <= 16 * demangle_steps(name));
        tried += full && strlen(full) > 10 * strlen(name);
        free(full);
    }
    print_message("%u bombs were small, %u left alone\n", tried, left);
    assert_true(tried > 10 && left > 100);
    dlclose(library);
}

/* Many names of which each is just good enough. */
static void test_all_steps(void **state)
{
    struct budget budget = {.limit = MEMORY_LIMIT};
    struct symtab t = {.budget = &budget};
    char name[LINE];

    (void)state;
    atomic_store(&budget.demangled, DEMANGLE_ALL - 1000);
    bomb(name, 2, 2, false);
    for (uint64_t i = 0; i < 20; i++)
        assert_int_equal(symtab_add(&t, name, 16 * i, 16, SYMBOL_FUNCTION, 0), SPE_OK);
    symtab_finish(&t);
    assert_string_equal(t.names.at + t.functions.at[0].name, "f");
    assert_string_equal(t.names.at + t.functions.at[19].name, name);
    symtab_free(&t);
}

static void test_others(void **state)
{
    static const char *const names[][2] = {
        {"main", "main"},
        {"_Zzz", "_Zzz"},
        {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
        {"_ZNK3FooclEi", "Foo::operator()"},
        {"_ZN12_GLOBAL__N_13barEv", "(anonymous namespace)::bar"},
        {"_Z3mapIiET_S0_", "map<int>"},
        {"_ZN1AcvbEv", "A::operator bool"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char ours[LINE];

        demangled(names[i][0], ours);
        assert_string_equal(ours, names[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_others),     cmocka_unit_test(test_against_cxxfilt),
        cmocka_unit_test(test_long_names), cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_all_steps),
    };

    if (!dlopen("libstdc++.so.6", RTLD_NOW)) {
        printf("there is no C++ run-time library for this machine, names stay as they are\n");
        return 77;
    }
    if (system("c++filt --version >/dev/null 2>&1") != 0) {
        printf("there is no c++filt to compare with\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
