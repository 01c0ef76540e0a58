/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What the tests of the machine share: making one, chance, and the rules that its caches keep. */
#ifndef TESTS_PE_MACHINE_TEST_H
#define TESTS_PE_MACHINE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pe/machine_internal.h>

static inline struct spe_machine *make_machine(const struct spe_machine_config *config)
{
    struct spe_machine *machine = NULL;
    char why[200] = "";

    if (spe_machine_create(config, &machine, why, sizeof(why)))
        fail_msg("no machine: %s", why);
    return machine;
}

static inline struct spe_machine_config preset(const char *name)
{
    struct spe_machine_config config;

    assert_int_equal(spe_machine_config_init(&config, name), SPE_OK);
    return config;
}

static inline uint64_t chance(uint64_t *state, uint64_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 11) % n;
}

/* The state of a line in a cache, straight from the words; 0: not there. */
static inline unsigned state_in(const struct pe_cache *cache, uint64_t line)
{
    for (unsigned way = 0; cache->words && way < cache->ways; way++) {
        uint64_t word = *pe_cache_word(cache, line, way);

        if (word & PE_VALID && (word & ~(uint64_t)PE_STATE) == line)
            return word & (PE_VALID | PE_EXCLUSIVE | PE_MODIFIED);
    }
    return 0;
}

static inline const struct pe_cache *outermost(const struct pe_cpu *cpu)
{
    return cpu->l2.words ? &cpu->l2 : &cpu->l1;
}

/* MESI, inclusion and the directory, for one line. */
static inline void check_line(const struct spe_machine *machine, uint64_t line)
{
    const uint64_t *sharers = pe_directory_find(&machine->directory, line);
    unsigned copies = 0, owners = 0;

    for (unsigned i = 0; i < machine->config.cpus; i++) {
        const struct pe_cpu *cpu = machine->cpus[i];
        unsigned l1 = state_in(&cpu->l1, line), outer = state_in(outermost(cpu), line);

        assert_int_equal(outer != 0, sharers && sharers[i / 64] >> i % 64 & 1);
        if (l1) { /* inclusion; no more rights inside than outside */
            assert_true(outer != 0);
            assert_int_equal(l1 & PE_EXCLUSIVE, outer & PE_EXCLUSIVE);
        }
        assert_true((l1 & (PE_MODIFIED | PE_EXCLUSIVE)) != PE_MODIFIED);
        assert_true((outer & (PE_MODIFIED | PE_EXCLUSIVE)) != PE_MODIFIED);
        copies += outer != 0;
        owners += (outer & PE_EXCLUSIVE) != 0;
    }
    assert_true(owners <= 1);
    assert_true(owners == 0 || copies == 1);
}

/* No line is twice in a set, and each is in the set of its address. */
static inline void check_cache(const struct pe_cache *cache)
{
    for (uint64_t set = 0; cache->words && set <= cache->set_mask; set++)
        for (unsigned way = 0; way < cache->ways; way++) {
            uint64_t word = cache->words[set * cache->ways + way];

            if (word == 0)
                continue;
            assert_true(word & PE_VALID);
            assert_int_equal(word >> cache->line_shift & cache->set_mask, set);
            for (unsigned other = 0; other < way; other++) {
                uint64_t before = cache->words[set * cache->ways + other];

                assert_true(before == 0 || ((before ^ word) & ~PE_STATE) != 0);
            }
        }
}

static inline void check_caches(const struct spe_machine *machine)
{
    for (unsigned i = 0; i < machine->config.cpus; i++) {
        check_cache(&machine->cpus[i]->l1);
        check_cache(&machine->cpus[i]->l2);
    }
    for (unsigned i = 0; i < machine->config.sockets; i++)
        check_cache(&machine->llc[i]);
}

#endif
