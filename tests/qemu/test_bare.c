/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Registers that the plugin interface does not show: believed when they were proved, not before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "a64.h"
#include "hear.h"
#include "qemu/registers_bare.h"
#include "qemu/signals.h"
#include "stand_in.h"
#include "support/sanitized.h"

enum { TURNS = 60000, PROOF_PC = 0x500000, SP = 31 };

#define DATA UINT64_C(0x7000000)
#define ELSEWHERE UINT64_C(0x9000000)

/* The register is what the callback finds only where the compiler makes a jump of its last call. An
 * emulator may not have the system call that looks at what it points to. */
static bool can_be_proved(void)
{
#if defined(__OPTIMIZE__) && !defined(SANITIZED) && defined(BARE_PASS)
    char from = 0, to = 1;

    return process_vm_readv(getpid(), &(struct iovec){&to, 1}, 1, &(struct iovec){&from, 1}, 1,
                            0) == 1;
#else
    return false;
#endif
}

static struct bare_state state;

/* Four blocks of one load each, by X2, X3, X4 and SP, so often; QEMU tells an address so far from
 * what registers tell. */
static struct qemu_plugin_tb *load_by(unsigned base)
{
    const uint32_t word = 0xf9400000 | base << 5; /* ldr x0, [base] */

    return stand_in_translate(PROOF_PC + 16 * base, &word, 1);
}

static void prove(unsigned times, uint64_t off)
{
    static const unsigned bases[] = {2, 3, 4, SP};
    struct qemu_plugin_tb *blocks[4];

    for (unsigned i = 0; i < 4; i++)
        blocks[i] = load_by(bases[i]);
    for (unsigned i = 0; i < times; i++) {
        state.x[bases[i % 4]] = DATA + 8 * i;
        stand_in_run(0, blocks[i % 4], DATA + 8 * i + off);
    }
}

static void begin(const char *socket_name)
{
    stand_in_install(socket_name, 1);
    stand_in_begin(0);
    stand_in_state = &state;
}

/* QEMU would tell another address than registers do: whom the plugin asks decides the sample's. */
static void run_loop(bool told)
{
    struct qemu_plugin_tb *loop = stand_in_translate(LOOP_PC, loop_words, LOOP_SIZE);

    REQUIRE(stand_in_tells(loop, 0) == told && stand_in_tells(loop, 2) == told);
    state.x[1] = told ? 0 : DATA;
    for (unsigned i = 0; i < TURNS; i++)
        stand_in_run(0, loop, told ? DATA : ELSEWHERE);
    stand_in_exit();
}

static void proved(const char *socket_name)
{
    begin(socket_name);
    prove(64, 0);
    run_loop(false);
}

/* Then the callbacks that are written when the plugin starts are not: compiled code counts.
 * (Kernels before 6.3 permit it all the same.) */
static void not_executable(const char *socket_name)
{
    enum { SET_MDWE = 65, REFUSE_EXEC_GAIN = 1 };

    prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0);
    proved(socket_name);
}

static void not_enough(const char *socket_name)
{
    begin(socket_name);
    prove(63, 0);
    run_loop(true);
}

static void wrong_once(const char *socket_name)
{
    begin(socket_name);
    prove(1, 8);
    prove(1000, 0);
    run_loop(true);
}

static void no_memory(const char *socket_name)
{
    begin(socket_name);
    stand_in_state = (const void *)8;
    prove(1000, 0);
    run_loop(true);
}

/* A tag is not part of the address that QEMU tells. */
static void tagged(const char *socket_name)
{
    begin(socket_name);
    prove(64, UINT64_C(0xa5) << 56);
    run_loop(false);
}

struct seen {
    unsigned accesses, wrong;
};

static void see(const struct spe_record *r, void *user)
{
    struct seen *seen = user;

    if (r->op_class != SPE_CLASS_LDST || r->address[SPE_ADDRESS_PC] << 8 >> 8 >= PROOF_PC)
        return;
    seen->accesses++;
    seen->wrong += r->address[SPE_ADDRESS_VA] << 8 >> 8 != DATA;
}

static void check(void (*scenario)(const char *socket_name))
{
    struct seen seen = {0};
    struct wire_setup setup;
    struct heard heard;

    hear_setup(&setup, 0, 256);
    setup.config |= UINT64_C(1) << 16; /* jitter */
    hear(scenario, &setup, &heard, see, &seen);
    assert_true(WIFEXITED(heard.status));
    assert_int_equal(WEXITSTATUS(heard.status), 0);
    assert_int_equal(heard.troubles, 0);
    assert_int_equal(heard.statistics.records, heard.statistics.sampled);
    assert_in_range(seen.accesses, 100, TURNS);
    assert_int_equal(seen.wrong, 0);
}

static void test_proof(void **unused)
{
    (void)unused;
    check(not_enough);
    check(wrong_once);
    check(no_memory);
    if (!can_be_proved()) {
        print_message("nothing can be proved in this build, or on this kernel\n");
        return;
    }
    check(proved);
    check(not_executable);
    check(tagged);
}

/* ---- A lie that comes later ----------------------------------------------------------------- */

static void lie(const char *socket_name)
{
    struct qemu_plugin_tb *old;

    begin(socket_name);
    old = stand_in_translate(LOOP_PC, loop_words, LOOP_SIZE);
    prove(64, 0);
    state.x[1] = DATA;
    for (unsigned i = 0; i < TURNS; i++)
        stand_in_run(0, old, i < TURNS / 2 ? DATA : ELSEWHERE);
    run_loop(true); /* the same block anew: it is told again */
}

static void test_lie(void **unused)
{
    struct wire_setup setup;
    struct heard heard;

    (void)unused;
    if (!can_be_proved()) {
        print_message("nothing can be proved in this build, or on this kernel\n");
        return;
    }
    hear_setup(&setup, 0, 256);
    hear(lie, &setup, &heard, NULL, NULL);
    assert_true(WIFEXITED(heard.status));
    assert_int_equal(WEXITSTATUS(heard.status), 0);
    assert_int_equal(heard.troubles, 1);
    assert_non_null(strstr(heard.trouble[0], "registers"));
}

/* ---- The frame of a signal ------------------------------------------------------------------ */

static uint64_t frame[128];

static uint64_t read_frame(uint64_t address)
{
    uint64_t offset = address - DATA;

    return offset < sizeof(frame) ? frame[offset / 8] : 0;
}

static uint64_t read_x(void *user, unsigned n)
{
    (void)user;
    return state.x[n];
}

/* glibc for AArch64: sizeof(siginfo_t) is 128, offsetof(ucontext_t, uc_mcontext.pc) is 440. */
static void test_frame(void **unused)
{
    const struct spe_a64_registers registers = {.size = sizeof(registers), .x = read_x};
    uint64_t pc = 0;

    (void)unused;
    memset(&state, 0, sizeof(state));
    state.x[0] = 11;
    state.x[1] = state.x[SP] = DATA;
    state.x[2] = DATA + 128;
    frame[0] = 11;
    frame[(128 + 440) / 8] = LOOP_PC + 8;
    assert_true(signal_interrupted(&registers, read_frame, &pc));
    assert_int_equal(pc, LOOP_PC + 8);
    for (unsigned i = 0; i < 3; i++) { /* a function with other arguments is not a handler */
        state.x[i]++;
        assert_false(signal_interrupted(&registers, read_frame, &pc));
        state.x[i]--;
    }
    frame[0] = 7; /* nor is another signal's */
    assert_false(signal_interrupted(&registers, read_frame, &pc));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proof),
        cmocka_unit_test(test_lie),
        cmocka_unit_test(test_frame),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
