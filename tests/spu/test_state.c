/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Effective values, owner, enabling (D17.4, D17.7) and what may be collected (D17.6.9).
 *
 * Each quantity is a table of rules: conditions in words, and the value that follows. Quantities
 * that are known already may be conditions of later ones. Groups of inputs are enumerated in full,
 * each with all other inputs at random; for every input at least one rule of every table must
 * apply, and all that apply must say the same, which must be what the unit derives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spu/spu_internal.h"
#include "support/random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Conditions ----------------------------------------------------------------------------- */

/* Inputs, in capitals as the architecture has them (two-bit fields as bit 1 and bit 0), and then
 * the quantities that are conditions of others. */
#define INPUTS(X)                                                                                  \
    /* features */                                                                                 \
    X(SPE)                                                                                         \
    X(Secure)                                                                                      \
    X(EL2)                                                                                         \
    X(EL3)                                                                                         \
    X(SEL2)                                                                                        \
    X(RME)                                                                                         \
    X(VHE)                                                                                         \
    X(E2H0)                                                                                        \
    X(RAS)                                                                                         \
    X(SPE_EXC)                                                                                     \
    X(NV)                                                                                          \
    X(SPE_nVM)                                                                                     \
    X(SPEv1p2)                                                                                     \
    X(ECV)                                                                                         \
    X(ECV_POFF)                                                                                    \
    /* the PE */                                                                                   \
    X(NS)                                                                                          \
    X(NSE)                                                                                         \
    X(EEL2)                                                                                        \
    X(EA)                                                                                          \
    X(ECVEn)                                                                                       \
    X(TGE)                                                                                         \
    X(E2H)                                                                                         \
    X(TEA)                                                                                         \
    X(NSPBE)                                                                                       \
    X(NSPB1)                                                                                       \
    X(PMSEE1)                                                                                      \
    X(PMSEE0)                                                                                      \
    X(E2PB1)                                                                                       \
    X(E2PB0)                                                                                       \
    X(CNTHCTL_ECV_)                                                                                \
    X(Debug)                                                                                       \
    X(AArch32)                                                                                     \
    X(EL1_AArch32)                                                                                 \
    X(EL2_AArch32)                                                                                 \
    X(PE_EL1)                                                                                      \
    X(PE_EL0)                                                                                      \
    /* the unit's registers */                                                                     \
    X(PMSCR1_EE1)                                                                                  \
    X(PMSCR1_EE0)                                                                                  \
    X(PMSCR2_EE1)                                                                                  \
    X(PMSCR2_EE0)                                                                                  \
    X(E0SPE)                                                                                       \
    X(E1SPE)                                                                                       \
    X(E0HSPE)                                                                                      \
    X(E2SPE)                                                                                       \
    X(EnVM)                                                                                        \
    X(CX1)                                                                                         \
    X(CX2)                                                                                         \
    X(PA1)                                                                                         \
    X(PA2)                                                                                         \
    X(TS1)                                                                                         \
    X(TS2)                                                                                         \
    X(PCT1_1)                                                                                      \
    X(PCT1_0)                                                                                      \
    X(PCT2_1)                                                                                      \
    X(PCT2_0)                                                                                      \
    X(E)                                                                                           \
    X(FM1)                                                                                         \
    X(FM0)                                                                                         \
    X(nVM)                                                                                         \
    X(S1)                                                                                          \
    X(S2)                                                                                          \
    X(S3)                                                                                          \
    /* options */                                                                                  \
    X(literal)                                                                                     \
    X(pct_as_1)                                                                                    \
    X(pct_as_0)

#define QUANTITIES(X)                                                                              \
    X(ns)                                                                                          \
    X(nse)                                                                                         \
    X(secure_el2)                                                                                  \
    X(el2_on)                                                                                      \
    X(tge)                                                                                         \
    X(e2h)                                                                                         \
    X(in_host)                                                                                     \
    X(pmsee1)                                                                                      \
    X(pmsee0)                                                                                      \
    X(ee2_1)                                                                                       \
    X(ee2_0)                                                                                       \
    X(owner1)                                                                                      \
    X(owner0)                                                                                      \
    X(el2_on_in_owner)                                                                             \
    X(el2_owns)                                                                                    \
    X(envm)                                                                                        \
    X(stopped)                                                                                     \
    X(buffer)                                                                                      \
    X(enabled)                                                                                     \
    X(p1_1)                                                                                        \
    X(p1_0)                                                                                        \
    X(p2_1)                                                                                        \
    X(p2_0)                                                                                        \
    X(stamp1)                                                                                      \
    X(stamp0)

#define NUMBER_OF(name) IS_##name,
#define NAME_OF(name) #name,
enum { INPUTS(NUMBER_OF) INPUT_COUNT, QUANTITIES(NUMBER_OF) ATOM_COUNT };
static const char *const names[] = {INPUTS(NAME_OF) "" /* INPUT_COUNT */, QUANTITIES(NAME_OF)};

_Static_assert(ATOM_COUNT <= 128, "a world is two words");

struct world {
    uint64_t bits[2];
};

static void put(struct world *world, unsigned atom, bool value)
{
    uint64_t bit = UINT64_C(1) << atom % 64;

    world->bits[atom / 64] = value ? world->bits[atom / 64] | bit : world->bits[atom / 64] & ~bit;
}

static bool get(const struct world *world, unsigned atom)
{
    return world->bits[atom / 64] >> atom % 64 & 1;
}

/* ---- Rules ---------------------------------------------------------------------------------- */

struct rule {
    const char *when; /* names, each true or, after '!', false; all must hold */
    unsigned value;
};

/* A rule's condition as bits, and whether it has applied to anything. */
struct condition {
    struct world mask, value;
    bool applied;
};

struct table {
    const char *name;
    const struct rule *rules;
    size_t count;
    struct condition *conditions; /* one per rule */
    bool compiled;
};

#define TABLE(name, ...)                                                                           \
    static const struct rule name##_rules[] = {__VA_ARGS__};                                       \
    static struct condition name##_conditions[COUNT(name##_rules)];                                \
    static struct table name##_table = {#name, name##_rules, COUNT(name##_rules),                  \
                                        name##_conditions, false};

static unsigned atom_named(const char *text, size_t length)
{
    for (unsigned i = 0; i < ATOM_COUNT; i++)
        if (length && strlen(names[i]) == length && !memcmp(names[i], text, length))
            return i;
    fail_msg("there is no condition %.*s", (int)length, text);
    return 0;
}

static void compile_one(const char *when, struct condition *condition)
{
    memset(condition, 0, sizeof(*condition));
    while (*when) {
        bool no = *when == '!';
        size_t length = strcspn(when += no, " ");
        unsigned atom = atom_named(when, length);

        put(&condition->mask, atom, true);
        put(&condition->value, atom, !no);
        when += length + (when[length] == ' ');
    }
}

static bool applies(const struct condition *condition, const struct world *world)
{
    return (world->bits[0] & condition->mask.bits[0]) == condition->value.bits[0] &&
           (world->bits[1] & condition->mask.bits[1]) == condition->value.bits[1];
}

static unsigned value_of(struct table *table, const struct world *world)
{
    const struct rule *first = NULL;

    for (size_t i = 0; !table->compiled && i < table->count; i++)
        compile_one(table->rules[i].when, &table->conditions[i]);
    table->compiled = true;
    for (size_t i = 0; i < table->count; i++) {
        const struct rule *rule = &table->rules[i];

        if (!applies(&table->conditions[i], world))
            continue;
        table->conditions[i].applied = true;
        if (!first)
            first = rule;
        if (first->value != rule->value)
            fail_msg("%s: '%s' and '%s' disagree", table->name, first->when, rule->when);
    }
    if (!first)
        fail_msg("%s: no rule applies", table->name);
    return first->value;
}

/* ---- The rules of the architecture ---------------------------------------------------------- */

/* Effective SCR_EL3.{NS,NSE}. */
TABLE(ns, {"!Secure", 1}, {"Secure !EL3", 0}, {"Secure EL3 NS", 1}, {"Secure EL3 !NS", 0})
TABLE(nse, {"!RME", 0}, {"!NSE", 0}, {"RME NSE", 1})

/* Secure EL2: by SCR_EL3.EEL2, or because the PE is Secure only. */
TABLE(secure_el2, {"!EL2", 0}, {"!SEL2", 0}, {"EL3 !EEL2", 0}, {"EL2 SEL2 EL3 EEL2", 1},
      {"!EL3 !Secure", 0}, {"EL2 SEL2 !EL3 Secure", 1})

/* EL2 enabled in the current Security state. */
TABLE(el2_on, {"!EL2", 0}, {"EL2 !EL3", 1}, {"EL2 ns", 1}, {"EL2 secure_el2", 1},
      {"EL3 !ns !secure_el2", 0})

TABLE(tge, {"!el2_on", 0}, {"!TGE", 0}, {"el2_on TGE", 1})
TABLE(ea, {"!EL3", 0}, {"Debug", 0}, {"!EA", 0}, {"EL3 !Debug EA", 1})
TABLE(tea, {"!el2_on", 0}, {"!RAS", 0}, {"!TEA", 0}, {"el2_on RAS TEA", 1})
TABLE(e2h, {"!VHE", 0}, {"!el2_on", 0}, {"VHE el2_on !E2H0", 1}, {"VHE el2_on E2H", 1},
      {"E2H0 !E2H", 0})
TABLE(in_host, {"!VHE", 0}, {"!el2_on", 0}, {"!e2h", 0}, {"e2h PE_EL1 !PE_EL0", 1},
      {"e2h !PE_EL1 !PE_EL0 tge", 1}, {"!PE_EL1 !PE_EL0 !tge", 0}, {"!PE_EL1 PE_EL0", 0},
      {"PE_EL1 PE_EL0", 0})

/* MDCR_EL3.PMSEE is RES0 without FEAT_SPE_EXC. */
TABLE(pmsee, {"!SPE_EXC", 0}, {"SPE_EXC !EL3", 1}, {"SPE_EXC EL3 !PMSEE1 !PMSEE0", 0},
      {"SPE_EXC EL3 !PMSEE1 PMSEE0", 1}, {"SPE_EXC EL3 PMSEE1 !PMSEE0", 2},
      {"SPE_EXC EL3 PMSEE1 PMSEE0", 3})

/* Effective PMSCR_EL2.EE; RHJXHT (D17.8-017): also while the PE is at EL3. */
#define EE2_FIELD "SPE_EXC EL2 "
TABLE(ee2, {"!SPE_EXC", 0}, {"EL3 !PMSEE1 !PMSEE0", 0}, {"!PMSCR2_EE1 !PMSCR2_EE0 EL2 ns", 0},
      {"!PMSCR2_EE1 !PMSCR2_EE0 EL2 secure_el2", 0},
      {EE2_FIELD "pmsee0 ns !PMSCR2_EE1 PMSCR2_EE0", 1},
      {EE2_FIELD "pmsee1 ns !PMSCR2_EE1 PMSCR2_EE0", 1},
      {EE2_FIELD "pmsee0 secure_el2 !PMSCR2_EE1 PMSCR2_EE0", 1},
      {EE2_FIELD "pmsee1 secure_el2 !PMSCR2_EE1 PMSCR2_EE0", 1},
      {EE2_FIELD "pmsee0 ns PMSCR2_EE1 !PMSCR2_EE0", 2},
      {EE2_FIELD "pmsee1 ns PMSCR2_EE1 !PMSCR2_EE0", 2},
      {EE2_FIELD "pmsee0 secure_el2 PMSCR2_EE1 !PMSCR2_EE0", 2},
      {EE2_FIELD "pmsee1 secure_el2 PMSCR2_EE1 !PMSCR2_EE0", 2},
      {EE2_FIELD "pmsee0 ns PMSCR2_EE1 PMSCR2_EE0", 3},
      {EE2_FIELD "pmsee1 ns PMSCR2_EE1 PMSCR2_EE0", 3},
      {EE2_FIELD "pmsee0 secure_el2 PMSCR2_EE1 PMSCR2_EE0", 3},
      {EE2_FIELD "pmsee1 secure_el2 PMSCR2_EE1 PMSCR2_EE0", 3}, {"SPE_EXC pmsee0 !EL2", 1},
      {"SPE_EXC pmsee1 !EL2", 1}, {"SPE_EXC pmsee0 !ns !secure_el2", 1},
      {"SPE_EXC pmsee1 !ns !secure_el2", 1})

/* Effective PMSCR_EL1.EE; D17.8-118 for the values that are reserved without FEAT_NV. */
TABLE(ee1, {"!ee2_1 !ee2_0", 0}, {"!PMSCR1_EE1 !PMSCR1_EE0", 0}, {"ee2_0 PMSCR1_EE1 PMSCR1_EE0", 3},
      {"ee2_1 PMSCR1_EE1 PMSCR1_EE0", 3}, {"NV !PMSCR1_EE1 PMSCR1_EE0", 0},
      {"!literal !PMSCR1_EE1 PMSCR1_EE0", 0}, {"ee2_0 NV PMSCR1_EE1 !PMSCR1_EE0", 3},
      {"ee2_1 NV PMSCR1_EE1 !PMSCR1_EE0", 3}, {"ee2_0 !literal PMSCR1_EE1 !PMSCR1_EE0", 3},
      {"ee2_1 !literal PMSCR1_EE1 !PMSCR1_EE0", 3}, {"ee2_0 !NV literal !PMSCR1_EE1 PMSCR1_EE0", 1},
      {"ee2_1 !NV literal !PMSCR1_EE1 PMSCR1_EE0", 1},
      {"ee2_0 !NV literal PMSCR1_EE1 !PMSCR1_EE0", 2},
      {"ee2_1 !NV literal PMSCR1_EE1 !PMSCR1_EE0", 2})

/* ProfilingBufferOwner(): the Security state, then the Exception level. */
TABLE(owner, {"!EL3 Secure", SPE_SECURE}, {"!EL3 !Secure", SPE_NONSECURE},
      {"EL3 !RME !NSPB1", SPE_SECURE}, {"EL3 !RME NSPB1", SPE_NONSECURE},
      {"EL3 RME !NSPBE !NSPB1 Secure", SPE_SECURE},
      {"EL3 RME !NSPBE !NSPB1 !Secure", SPE_SECURITY_RESERVED},
      {"EL3 RME !NSPBE NSPB1", SPE_NONSECURE}, {"EL3 RME NSPBE NSPB1", SPE_REALM},
      {"EL3 RME NSPBE !NSPB1", SPE_SECURITY_RESERVED})
TABLE(el2_on_in_owner, {"!EL2", 0}, {"EL2 owner0", 1}, {"EL2 owner1", 1}, {"EL2 secure_el2", 1},
      {"!owner1 !owner0 !secure_el2", 0})
TABLE(el2_owns, {"!el2_on_in_owner", 0}, {"E2PB1", 0}, {"E2PB0", 0},
      {"el2_on_in_owner !E2PB1 !E2PB0", 1})

TABLE(envm, {"!SPE_nVM", 0}, {"SPE_nVM !el2_on_in_owner", 1}, {"SPE_nVM el2_owns", 1},
      {"SPE_nVM EnVM", 1}, {"el2_on_in_owner !el2_owns !EnVM", 0})
TABLE(nvm, {"!SPE_nVM", 0}, {"!nVM", 0}, {"el2_on_in_owner !el2_owns !EnVM", 0},
      {"SPE_nVM nVM el2_owns", 1}, {"SPE_nVM nVM !el2_on_in_owner", 1}, {"SPE_nVM nVM EnVM", 1})

/* SPEProfilingStopped(). D17.8-078: without FEAT_SPE_EXC only PMBSR_EL1.S counts. */
TABLE(stopped, {"S1", 1}, {"ee2_1 S2", 1}, {"SPE_EXC EL3 pmsee1 S3", 1}, {"!S1 !S2 !S3", 0},
      {"!S1 !SPE_EXC", 0}, {"!S1 !ee2_1 !pmsee1", 0}, {"!S1 !ee2_1 !S3", 0}, {"!S1 !S2 !pmsee1", 0},
      {"!S1 !ee2_1 !EL3", 0}, {"!S1 !S2 !EL3", 0})

/* ProfilingBufferEnabled(), for an S bit or none. */
#define IN_OWNER(rest)                                                                             \
    {"SPE !Debug E !el2_owns !EL1_AArch32 !nse !ns !owner1 !owner0 " rest, 1},                     \
        {"SPE !Debug E !el2_owns !EL1_AArch32 !nse ns !owner1 owner0 " rest, 1},                   \
        {"SPE !Debug E !el2_owns !EL1_AArch32 nse ns owner1 owner0 " rest, 1},                     \
        {"SPE !Debug E el2_owns !EL2_AArch32 !nse !ns !owner1 !owner0 " rest, 1},                  \
        {"SPE !Debug E el2_owns !EL2_AArch32 !nse ns !owner1 owner0 " rest, 1},                    \
    {                                                                                              \
        "SPE !Debug E el2_owns !EL2_AArch32 nse ns owner1 owner0 " rest, 1                         \
    }
#define NOT_IN_OWNER                                                                               \
    {"!SPE", 0}, {"Debug", 0}, {"!E", 0}, {"el2_owns EL2_AArch32", 0},                             \
        {"!el2_owns EL1_AArch32", 0}, {"owner1 !owner0", 0}, {"ns !owner0", 0}, {"!ns owner0", 0}, \
        {"nse !owner1", 0}, {"!nse owner1", 0},                                                    \
    {                                                                                              \
        "nse !ns", 0                                                                               \
    }
TABLE(buffer, {"stopped", 0}, NOT_IN_OWNER, IN_OWNER("!stopped"))
TABLE(usable, NOT_IN_OWNER, IN_OWNER(""))

/* StatisticalProfilingEnabled(el): owner, TGE, and the bit; given that the buffer is enabled. */
TABLE(at_el2, {"AArch32", 0}, {"!el2_owns", 0}, {"el2_owns !E2SPE", 0},
      {"!AArch32 el2_owns E2SPE", 1})
TABLE(at_el1, {"AArch32", 0}, {"tge", 0}, {"!tge !E1SPE", 0}, {"!AArch32 !tge E1SPE", 1})
TABLE(at_el0, {"AArch32", 0}, {"!el2_owns tge", 0}, {"!tge !E0SPE", 0}, {"!AArch32 !tge E0SPE", 1},
      {"tge !E0HSPE", 0}, {"!AArch32 el2_owns tge E0HSPE", 1})

TABLE(discard, {"!SPEv1p2", 0}, {"SPEv1p2 FM1 !FM0", 1}, {"!FM1", 0}, {"FM0", 0})

/* D17.6-168 and D17.6-170: the contexts. */
TABLE(context1, {"!enabled", 0}, {"PE_EL1", 0}, {"tge", 0}, {"!CX1", 0},
      {"enabled !PE_EL1 !tge CX1", 1})
TABLE(context2, {"!enabled", 0}, {"!el2_on", 0}, {"!CX2", 0}, {"enabled el2_on CX2", 1})

/* D17.6-191, D17.6-192: PMSCR_EL2.PA counts as 1 where EL2 is off in the owning state. */
TABLE(pa, {"el2_owns PA2", 1}, {"el2_owns !PA2", 0}, {"!el2_owns !PA1", 0},
      {"!el2_owns PA1 !el2_on_in_owner", 1}, {"el2_on_in_owner !el2_owns PA1 PA2", 1},
      {"el2_on_in_owner !el2_owns PA1 !PA2", 0})

/* Effective PMSCR_EL1.PCT and PMSCR_EL2.PCT; D17.6-190 for 0b10. */
#define PCT(on, f)                                                                                 \
    {on "!" f "_1 !" f "_0", 0}, {on "!" f "_1 " f "_0", 1}, {on "ECV " f "_1 " f "_0", 3},        \
        {on "!ECV " f "_0", 1}, {on "!ECV !" f "_0", 0},                                           \
        {on "ECV " f "_1 !" f "_0 !pct_as_1 !pct_as_0", 0},                                        \
        {on "ECV " f "_1 !" f "_0 !pct_as_1 pct_as_0", 1},                                         \
    {                                                                                              \
        on "ECV " f "_1 !" f "_0 pct_as_1", 3                                                      \
    }
TABLE(p1, {"!EL2", 1}, PCT("EL2 ", "PCT1"))
TABLE(p2, {"!el2_on", 1}, PCT("el2_on ", "PCT2"))

/* Table D17-3, rows D17.6-177 to D17.6-189. */
#define NONE SPE_TIMESTAMP_NONE
#define VIRTUAL SPE_TIMESTAMP_VIRTUAL
#define PHYSICAL SPE_TIMESTAMP_PHYSICAL
#define OFFSET SPE_TIMESTAMP_OFFSET_PHYSICAL
TABLE(stamp, {"!enabled", NONE}, {"!el2_owns !TS1", NONE},              /* D17.6-177 */
      {"enabled !el2_owns !p1_1 !p1_0 TS1", VIRTUAL},                   /* D17.6-178 */
      {"enabled !el2_on !el2_owns !p1_1 p1_0 TS1", PHYSICAL},           /* D17.6-179 */
      {"enabled !el2_on !el2_owns p1_1 p1_0 TS1", OFFSET},              /* D17.6-180 */
      {"enabled el2_on !el2_owns !p2_1 !p2_0 TS1", VIRTUAL},            /* D17.6-181 */
      {"enabled el2_on !el2_owns !p2_1 p2_0 !p1_1 p1_0 TS1", PHYSICAL}, /* D17.6-182 */
      {"enabled el2_on !el2_owns !p2_1 p2_0 p1_1 p1_0 TS1", OFFSET},    /* D17.6-183 */
      {"enabled el2_on !el2_owns p2_1 p2_0 !p1_1 p1_0 TS1", OFFSET},    /* D17.6-184 */
      {"enabled el2_on !el2_owns p2_1 p2_0 p1_1 p1_0 TS1", OFFSET},     /* D17.6-185 */
      {"el2_owns !TS2", NONE},                                          /* D17.6-186 */
      {"enabled el2_owns !p2_1 !p2_0 TS2", VIRTUAL},                    /* D17.6-187 */
      {"enabled el2_owns !p2_1 p2_0 TS2", PHYSICAL},                    /* D17.6-188 */
      {"enabled el2_owns p2_1 p2_0 TS2", OFFSET})                       /* D17.6-189 */

/* What is subtracted: D17.6-175 for the virtual offset, D17.6-176 for the physical one. Without EL2
 * both are 0, which shows in PMSCR_EL1.PCT too: it then reads 0b01, physical time. */
enum { NOTHING, CNTVOFF, CNTPOFF };
TABLE(offset, {"!stamp1 !stamp0", NOTHING}, {"stamp1 !stamp0", NOTHING}, {"!EL2", NOTHING},
      {"!stamp1 stamp0 in_host", NOTHING}, {"!stamp1 stamp0 EL2 !in_host", CNTVOFF},
      {"stamp1 stamp0 !ECV_POFF", NOTHING}, {"stamp1 stamp0 !CNTHCTL_ECV_", NOTHING},
      {"stamp1 stamp0 EL3 !ECVEn", NOTHING},
      {"stamp1 stamp0 EL2 ECV_POFF CNTHCTL_ECV_ !EL3", CNTPOFF},
      {"stamp1 stamp0 EL2 ECV_POFF CNTHCTL_ECV_ ECVEn", CNTPOFF})

/* ---- From a world to registers -------------------------------------------------------------- */

static struct spe_spu_config config;
static struct spe_pe_state pe;
static uint64_t reg[SPE_REG_COUNT];
static struct spe_spu_status status;
static struct random noise = {1}; /* for everything that is no condition */

#define FEATURE(f)                                                                                 \
    {                                                                                              \
        IS_##f, &config.features, SPE_FEAT_##f                                                     \
    }

static const struct {
    unsigned atom;
    uint64_t *word;
    unsigned bit;
} places[] = {
    FEATURE(SPE),
    FEATURE(Secure),
    FEATURE(EL2),
    FEATURE(EL3),
    FEATURE(SEL2),
    FEATURE(RME),
    FEATURE(VHE),
    FEATURE(E2H0),
    FEATURE(RAS),
    FEATURE(SPE_EXC),
    FEATURE(NV),
    FEATURE(SPE_nVM),
    FEATURE(SPEv1p2),
    FEATURE(ECV),
    FEATURE(ECV_POFF),
    {IS_NS, &pe.scr_el3, 0},
    {IS_EA, &pe.scr_el3, 3},
    {IS_EEL2, &pe.scr_el3, 18},
    {IS_ECVEn, &pe.scr_el3, 28},
    {IS_NSE, &pe.scr_el3, 62},
    {IS_TGE, &pe.hcr_el2, 27},
    {IS_E2H, &pe.hcr_el2, 34},
    {IS_TEA, &pe.hcr_el2, 37},
    {IS_NSPBE, &pe.mdcr_el3, 11},
    {IS_NSPB1, &pe.mdcr_el3, 13},
    {IS_PMSEE0, &pe.mdcr_el3, 51},
    {IS_PMSEE1, &pe.mdcr_el3, 52},
    {IS_E2PB0, &pe.mdcr_el2, 12},
    {IS_E2PB1, &pe.mdcr_el2, 13},
    {IS_CNTHCTL_ECV_, &pe.cnthctl_el2, 12},
    {IS_PMSCR1_EE0, &reg[SPE_REG_PMSCR_EL1], 8},
    {IS_PMSCR1_EE1, &reg[SPE_REG_PMSCR_EL1], 9},
    {IS_PMSCR2_EE0, &reg[SPE_REG_PMSCR_EL2], 8},
    {IS_PMSCR2_EE1, &reg[SPE_REG_PMSCR_EL2], 9},
    {IS_E0SPE, &reg[SPE_REG_PMSCR_EL1], 0},
    {IS_E1SPE, &reg[SPE_REG_PMSCR_EL1], 1},
    {IS_E0HSPE, &reg[SPE_REG_PMSCR_EL2], 0},
    {IS_E2SPE, &reg[SPE_REG_PMSCR_EL2], 1},
    {IS_EnVM, &reg[SPE_REG_PMSCR_EL2], 11},
    {IS_CX1, &reg[SPE_REG_PMSCR_EL1], 3},
    {IS_CX2, &reg[SPE_REG_PMSCR_EL2], 3},
    {IS_PA1, &reg[SPE_REG_PMSCR_EL1], 4},
    {IS_PA2, &reg[SPE_REG_PMSCR_EL2], 4},
    {IS_TS1, &reg[SPE_REG_PMSCR_EL1], 5},
    {IS_TS2, &reg[SPE_REG_PMSCR_EL2], 5},
    {IS_PCT1_0, &reg[SPE_REG_PMSCR_EL1], 6},
    {IS_PCT1_1, &reg[SPE_REG_PMSCR_EL1], 7},
    {IS_PCT2_0, &reg[SPE_REG_PMSCR_EL2], 6},
    {IS_PCT2_1, &reg[SPE_REG_PMSCR_EL2], 7},
    {IS_E, &reg[SPE_REG_PMBLIMITR_EL1], 0},
    {IS_FM0, &reg[SPE_REG_PMBLIMITR_EL1], 1},
    {IS_FM1, &reg[SPE_REG_PMBLIMITR_EL1], 2},
    {IS_nVM, &reg[SPE_REG_PMBLIMITR_EL1], 7},
    {IS_S1, &reg[SPE_REG_PMBSR_EL1], 17},
    {IS_S2, &reg[SPE_REG_PMBSR_EL2], 17},
    {IS_S3, &reg[SPE_REG_PMBSR_EL3], 17},
};

/* The rest of every register is noise, and so are features that are no condition. */
static void make_noise(void)
{
    uint64_t *const words[] = {&config.features, &pe.scr_el3,  &pe.hcr_el2,
                               &pe.mdcr_el3,     &pe.mdcr_el2, &pe.cnthctl_el2};

    for (size_t i = 0; i < COUNT(words); i++)
        *words[i] = random_next(&noise);
    for (size_t i = 0; i < COUNT(reg); i++)
        reg[i] = random_next(&noise);
    pe.cntvoff_el2 = random_next(&noise) | 1;
    pe.cntpoff_el2 = random_next(&noise) & ~UINT64_C(1);
    pe.pm = random_next(&noise) & 1;
    pe.sdd = random_next(&noise) & 1;
}

static void make(const struct world *world)
{
    for (size_t i = 0; i < COUNT(places); i++) {
        uint64_t bit = UINT64_C(1) << places[i].bit;

        *places[i].word =
            get(world, places[i].atom) ? *places[i].word | bit : *places[i].word & ~bit;
    }
    pe.debug = get(world, IS_Debug);
    pe.aarch32 = get(world, IS_AArch32);
    pe.el1_aarch32 = get(world, IS_EL1_AArch32);
    pe.el2_aarch32 = get(world, IS_EL2_AArch32);
    pe.el = (uint8_t)(get(world, IS_PE_EL1) << 1 | get(world, IS_PE_EL0));
    config.pmscr_el1_ee_reserved = get(world, IS_literal) ? SPE_EE_LITERAL : SPE_EE_TABLE;
    config.pct_reserved_as = get(world, IS_pct_as_1)   ? SPE_PCT_AS_11
                             : get(world, IS_pct_as_0) ? SPE_PCT_AS_01
                                                       : SPE_PCT_AS_00;
}

/* What no PE is: FEAT_RME without EL3, EL3 that has neither Secure state nor FEAT_RME. */
static bool is_possible(const struct world *world)
{
    if (get(world, IS_RME) && !get(world, IS_EL3))
        return false;
    return !get(world, IS_EL3) || get(world, IS_Secure) || get(world, IS_RME);
}

/* ---- Comparison ----------------------------------------------------------------------------- */

static void complain(const char *name, unsigned expected, unsigned got, const struct world *world)
{
    print_error("%s is %u, expected %u. True are:", name, got, expected);
    for (unsigned i = 0; i < ATOM_COUNT; i++)
        if (get(world, i))
            print_error(" %s", names[i]);
    fail_msg("in that state");
}

/* The value by the rules, which the unit must have derived too; kept as `atom`, and the bit above
 * it as the atom before, for two-bit quantities. -1: not a condition of anything. */
static unsigned same(struct table *table, unsigned got, struct world *world, int atom, bool two)
{
    unsigned expected = value_of(table, world);

    if (got != expected)
        complain(table->name, expected, got, world);
    if (atom >= 0)
        put(world, (unsigned)atom, expected & 1);
    if (two)
        put(world, (unsigned)atom - 1, expected >> 1);
    return expected;
}

#define ONE(table, field) same(&table##_table, status.field, world, IS_##table, false)
#define TWO(table, field, low) same(&table##_table, status.field, world, IS_##low, true)
#define LAST(table, got) same(&table##_table, got, world, -1, false)

static void check_effective(struct world *world)
{
    unsigned security;

    ONE(ns, ns);
    ONE(nse, nse);
    security = (unsigned)(get(world, IS_nse) << 1 | get(world, IS_ns));
    if (status.security != security)
        complain("security", security, status.security, world);
    ONE(secure_el2, secure_el2);
    ONE(el2_on, el2_enabled);
    ONE(tge, tge);
    LAST(ea, status.ea);
    LAST(tea, status.tea);
    ONE(e2h, e2h);
    ONE(in_host, in_host);
    TWO(pmsee, pmsee, pmsee0);
    TWO(ee2, ee2, ee2_0);
    LAST(ee1, status.ee1);
}

static void check_owner(struct world *world)
{
    TWO(owner, owner_security, owner0);
    ONE(el2_on_in_owner, el2_in_owning_state);
    put(world, IS_el2_owns, LAST(el2_owns, status.owner_el == 2));
    assert_true(status.owner_el == 1 || status.owner_el == 2);
    ONE(envm, envm);
    LAST(nvm, status.nvm);
}

static void check_enabled(struct world *world)
{
    struct table *const tables[] = {&at_el0_table, &at_el1_table, &at_el2_table};
    unsigned buffer, usable;

    ONE(stopped, stopped);
    buffer = ONE(buffer, buffer_enabled);
    usable = value_of(&usable_table, world);
    put(world, IS_enabled, false);
    for (unsigned el = 0; el < 3; el++) {
        unsigned expected = value_of(tables[el], world);

        if (status.enabled_at[el] != (buffer && expected))
            complain(tables[el]->name, buffer && expected, status.enabled_at[el], world);
        if (el != pe.el)
            continue;
        put(world, IS_enabled, buffer && expected);
        if (status.enabled_unless_stopped != (usable && expected))
            complain("enabled unless stopped", usable && expected, status.enabled_unless_stopped,
                     world);
    }
    assert_false(status.enabled_at[3]); /* D18.2-016: never at EL3 */
    if (pe.el == 3)
        assert_false(status.enabled_unless_stopped);
    if (status.enabled != get(world, IS_enabled))
        complain("enabled", get(world, IS_enabled), status.enabled, world);
    LAST(discard, status.discard);
}

static void check_collection(struct world *world)
{
    const uint64_t offsets[] = {0, pe.cntvoff_el2, pe.cntpoff_el2};
    unsigned p1, p2, offset;

    LAST(context1, status.context1);
    LAST(context2, status.context2);
    LAST(pa, status.physical_address);
    p1 = value_of(&p1_table, world);
    p2 = value_of(&p2_table, world);
    put(world, IS_p1_0, p1 & 1);
    put(world, IS_p1_1, p1 >> 1);
    put(world, IS_p2_0, p2 & 1);
    put(world, IS_p2_1, p2 >> 1);
    TWO(stamp, timestamp, stamp0);
    offset = value_of(&offset_table, world);
    if (status.time_offset != offsets[offset])
        fail_msg("the time offset is %llx, not that of case %u",
                 (unsigned long long)status.time_offset, offset);
}

static void check(struct world *world)
{
    make(world);
    memset(&status, 0xa5, sizeof(status));
    spu_derive(&config, &pe, reg, &status);
    check_effective(world);
    check_owner(world);
    check_enabled(world);
    check_collection(world);
}

/* ---- Enumeration ---------------------------------------------------------------------------- */

/* Everything at random, but for the conditions that `fixed` names. */
static void random_world(struct world *world, const struct condition *fixed)
{
    for (unsigned w = 0; w < 2; w++)
        world->bits[w] = (random_next(&noise) & ~fixed->mask.bits[w]) | fixed->value.bits[w];
}

/* All values of the atoms that `inputs` names; all others random, except for `fixed`. */
static void enumerate(const char *inputs, const char *fixed)
{
    unsigned atoms[32], count = 0;
    struct condition condition;
    struct world world;

    compile_one(fixed, &condition);
    while (*inputs) {
        size_t length = strcspn(inputs, " ");

        assert_true(count < COUNT(atoms));
        atoms[count++] = atom_named(inputs, length);
        inputs += length + (inputs[length] == ' ');
    }
    for (uint64_t n = 0; n >> count == 0; n++) {
        if (n % 64 == 0)
            make_noise();
        random_world(&world, &condition);
        for (unsigned i = 0; i < count; i++)
            put(&world, atoms[i], n >> i & 1);
        if (is_possible(&world))
            check(&world);
    }
}

#define SECURITY "Secure EL2 EL3 SEL2 RME NS NSE EEL2"
#define OWNER SECURITY " NSPBE NSPB1 E2PB1 E2PB0"
#define RUNNING "SPE E !Debug !AArch32 !EL1_AArch32 !EL2_AArch32 !S1 !S2 !S3"

static void effective_values(void **state)
{
    (void)state;
    enumerate(SECURITY " VHE E2H0 RAS EA TGE E2H TEA Debug PE_EL1 PE_EL0", "");
}

static void exception_enables_and_stopped(void **state)
{
    (void)state;
    enumerate("SPE_EXC EL3 EL2 SEL2 Secure NS EEL2 NV literal PMSEE1 PMSEE0 PMSCR2_EE1 PMSCR2_EE0 "
              "PMSCR1_EE1 PMSCR1_EE0 S1 S2 S3",
              "");
}

static void owner_and_addresses(void **state)
{
    (void)state;
    enumerate(OWNER " SPE_nVM EnVM nVM", "");
}

static void buffer_enabled(void **state)
{
    (void)state;
    enumerate(OWNER " SPE E Debug EL1_AArch32 EL2_AArch32 S1", "!AArch32 !S2 !S3");
}

static void profiling_enabled(void **state)
{
    (void)state;
    enumerate(OWNER " TGE E0SPE E1SPE E0HSPE E2SPE AArch32",
              "SPE E !Debug !EL1_AArch32 !EL2_AArch32 !S1 !S2 !S3");
}

static void discard_mode(void **state)
{
    (void)state;
    enumerate("SPEv1p2 FM1 FM0 E SPE_EXC", "");
}

static void contexts(void **state)
{
    (void)state;
    enumerate(OWNER " TGE CX1 CX2 PE_EL1 PE_EL0", RUNNING " E0SPE E1SPE E2SPE E0HSPE");
}

static void physical_addresses(void **state)
{
    (void)state;
    enumerate(OWNER " PA1 PA2", "");
}

/* Non-secure, so that the inputs are those of Table D17-3; the random ones above are not. */
static void timestamps(void **state)
{
    (void)state;
    enumerate("EL2 EL3 ECV E2PB1 E2PB0 PCT2_1 PCT2_0 TS2 PCT1_1 PCT1_0 TS1 pct_as_1 pct_as_0 TGE "
              "PE_EL1 PE_EL0 E2H",
              RUNNING " Secure !SEL2 !RME NS NSPB1 E0SPE E1SPE E2SPE E0HSPE VHE E2H0");
    enumerate("EL2 EL3 SEL2 EEL2 ECV E2PB1 E2PB0 PCT2_1 PCT2_0 TS2 PCT1_1 PCT1_0 TS1",
              RUNNING " Secure !RME !NS !NSPB1 E0SPE E1SPE E2SPE E0HSPE");
}

static void time_offsets(void **state)
{
    (void)state;
    enumerate(
        "EL2 EL3 ECV ECV_POFF CNTHCTL_ECV_ ECVEn PCT2_1 PCT2_0 PCT1_1 PCT1_0 TGE E2H VHE E2H0 "
        "PE_EL1 PE_EL0",
        RUNNING " Secure !SEL2 !RME NS NSPB1 !E2PB1 !E2PB0 TS1 TS2 E0SPE E1SPE E2SPE E0HSPE");
}

static void anything(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        enumerate("Secure EL2 EL3 SEL2 RME NS NSE EEL2 SPE_EXC PMSEE1 PMSCR2_EE1 TGE NV", "");
}

/* No table has a line that nothing has tried. */
static void every_rule_has_applied(void **state)
{
    static struct table *const tables[] = {
        &ns_table,         &nse_table,
        &secure_el2_table, &el2_on_table,
        &tge_table,        &ea_table,
        &tea_table,        &e2h_table,
        &in_host_table,    &pmsee_table,
        &ee2_table,        &ee1_table,
        &owner_table,      &el2_on_in_owner_table,
        &el2_owns_table,   &envm_table,
        &nvm_table,        &stopped_table,
        &buffer_table,     &usable_table,
        &at_el2_table,     &at_el1_table,
        &at_el0_table,     &discard_table,
        &context1_table,   &context2_table,
        &pa_table,         &p1_table,
        &p2_table,         &stamp_table,
        &offset_table,
    };

    (void)state;
    for (size_t i = 0; i < COUNT(tables); i++)
        for (size_t j = 0; j < tables[i]->count; j++)
            if (!tables[i]->conditions[j].applied)
                fail_msg("%s: '%s' never applied", tables[i]->name, tables[i]->rules[j].when);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(effective_values),
        cmocka_unit_test(exception_enables_and_stopped),
        cmocka_unit_test(owner_and_addresses),
        cmocka_unit_test(buffer_enabled),
        cmocka_unit_test(profiling_enabled),
        cmocka_unit_test(discard_mode),
        cmocka_unit_test(contexts),
        cmocka_unit_test(physical_addresses),
        cmocka_unit_test(timestamps),
        cmocka_unit_test(time_offsets),
        cmocka_unit_test(anything),
        cmocka_unit_test(every_rule_has_applied), /* the last: it looks at what the others did */
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
