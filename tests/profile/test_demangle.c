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

#include "profile/profile_internal.h"

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
static void test_against_cxxfilt(void **state)
{
    static const char names[] = "nm -D --defined-only $(gcc -print-file-name=libstdc++.so.6) | "
                                "sed -n 's/^.* [TW] \\(_Z[A-Za-z0-9_]*\\)\\(@.*\\)*$/\\1/p' | "
                                "grep -v -e '^_ZN*K*S[abdios]' -e S[abdios]E -e Ss";
    char command[1024], mangled[LINE], theirs[LINE], ours[LINE];
    unsigned compared = 0, equal = 0;
    FILE *in, *out;

    (void)state;
    snprintf(command, sizeof(command), "%s | c++filt -p", names);
    in = run(names);
    out = run(command);
    while (line_of(in, mangled) && line_of(out, theirs)) {
        demangled(mangled, ours);
        compared++;
        if (!strcmp(ours, theirs))
            equal++;
        else if (equal + 30 > compared)
            print_message("%s\n  c++filt %s\n  here    %s\n", mangled, theirs, ours);
    }
    pclose(in);
    pclose(out);
    assert_true(compared > 1000);
    assert_int_equal(equal, compared);
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
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_against_cxxfilt),
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
