/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The names that scripts use: members of the library's structs, and the words of their values. */
#include "sim/sim_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "format/bytes.h"

/* ---- Words ---------------------------------------------------------------------------------- */

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

const char *const sim_operation_kinds[] = {
    "other",    "sve",          "sme_vector", "sme_tile", "load", "store", "atomic",
    "memcpy",   "memset",       "gcs",        "branch",   "eret", "isb",   "cmo",
    "prefetch", "sve_prefetch", "at",         "dc_zva",   "wfx",  NULL};

const char *const sim_fates[] = {"written",  "filtered", "not_captured", "discard_mode", "stopped",
                                 "disabled", "fault",    "abort",        "not_allowed",  NULL};

const char *const sim_filters[] = {"type", "events", "inverted", "latency", "source", NULL};

const char *const sim_singles[] = {
    "interrupt", "interrupt_enabled", "budget", "in_flight", "time", "operations",
    "serrors",   "triggers",          "wakes",  "fate",      NULL};

const char *const sim_record_parts[] = {"size",   "written",  "pointer",  "op_class",  "op",
                                        "source", "context1", "context2", "timestamp", NULL};

const char *const sim_populations[] = {"misspeculated", "nonarch", "nonarch_exception", NULL};

#define SECURITIES WORDS("secure", "nonsecure", "reserved", "realm")

/* ---- Tables --------------------------------------------------------------------------------- */

#define AT(type, member)                                                                           \
    (uint16_t) offsetof(struct type, member), (uint8_t)sizeof(((struct type *)0)->member)
#define NUMBER(type, member)                                                                       \
    {                                                                                              \
#member, AT(type, member), FIELD_NUMBER, NULL                                              \
    }
#define FLAG(type, member)                                                                         \
    {                                                                                              \
#member, AT(type, member), FIELD_FLAG, NULL                                                \
    }
#define WORD(type, member, words)                                                                  \
    {                                                                                              \
#member, AT(type, member), FIELD_WORD, words                                               \
    }
#define SET(type, member, words)                                                                   \
    {                                                                                              \
#member, AT(type, member), FIELD_SET, words                                                \
    }
#define NO_MORE                                                                                    \
    {                                                                                              \
        NULL, 0, 0, 0, NULL                                                                        \
    }

const struct field sim_pe_fields[] = {
    NUMBER(spe_pe_state, el),
    FLAG(spe_pe_state, aarch32),
    FLAG(spe_pe_state, el1_aarch32),
    FLAG(spe_pe_state, el2_aarch32),
    FLAG(spe_pe_state, debug),
    FLAG(spe_pe_state, sdd),
    FLAG(spe_pe_state, pm),
    FLAG(spe_pe_state, counter_enabled),
    NUMBER(spe_pe_state, scr_el3),
    NUMBER(spe_pe_state, hcr_el2),
    NUMBER(spe_pe_state, mdcr_el2),
    NUMBER(spe_pe_state, mdcr_el3),
    NUMBER(spe_pe_state, hdfgrtr_el2),
    NUMBER(spe_pe_state, hdfgwtr_el2),
    NUMBER(spe_pe_state, hdfgrtr2_el2),
    NUMBER(spe_pe_state, hdfgwtr2_el2),
    NUMBER(spe_pe_state, hfgitr_el2),
    NUMBER(spe_pe_state, cnthctl_el2),
    NUMBER(spe_pe_state, cntvoff_el2),
    NUMBER(spe_pe_state, cntpoff_el2),
    NUMBER(spe_pe_state, pmcr_el0),
    NUMBER(spe_pe_state, contextidr_el1),
    NUMBER(spe_pe_state, contextidr_el2),
    NO_MORE,
};

/* Those that the rules read (architecture of the controls outside the unit). */
const struct bit_field sim_pe_bits[] = {
    {"scr_el3", "NS", 0, 0},
    {"scr_el3", "EA", 3, 3},
    {"scr_el3", "RW", 10, 10},
    {"scr_el3", "EEL2", 18, 18},
    {"scr_el3", "FGTEn", 27, 27},
    {"scr_el3", "ECVEn", 28, 28},
    {"scr_el3", "GPF", 48, 48},
    {"scr_el3", "FGTEn2", 59, 59},
    {"scr_el3", "NSE", 62, 62},
    {"hcr_el2", "VM", 0, 0},
    {"hcr_el2", "DC", 12, 12},
    {"hcr_el2", "TGE", 27, 27},
    {"hcr_el2", "E2H", 34, 34},
    {"hcr_el2", "TEA", 37, 37},
    {"hcr_el2", "NV", 42, 42},
    {"hcr_el2", "NV1", 43, 43},
    {"hcr_el2", "NV2", 45, 45},
    {"hcr_el2", "GPF", 48, 48},
    {"mdcr_el3", "NSPBE", 11, 11},
    {"mdcr_el3", "NSPB", 13, 12},
    {"mdcr_el3", "EnPMSN", 36, 36},
    {"mdcr_el3", "EnPMS3", 42, 42},
    {"mdcr_el3", "PMSEE", 52, 51},
    {"mdcr_el3", "EnPMS4", 55, 55},
    {"mdcr_el2", "E2PB", 13, 12},
    {"mdcr_el2", "TPMS", 14, 14},
    {"mdcr_el2", "HPMFZS", 36, 36},
    {"cnthctl_el2", "ECV", 12, 12},
    {"pmcr_el0", "DP", 5, 5},
    {"pmcr_el0", "FZS", 32, 32},
    {"hfgitr_el2", "PSBCSYNC", 63, 63},
    {NULL, NULL, 0, 0},
};

/* Parts of PMBSR_ELx.MSS and MSS2 (D24.7), by whose EC they have a meaning. */
#define SYNDROME_PARTS(reg)                                                                        \
    {reg, "BSC", 5, 0}, {reg, "FSC", 5, 0}, {reg, "TopLevel", 40, 40},                             \
        {reg, "AssuredOnly", 39, 39}, {reg, "Overlay", 38, 38},                                    \
    {                                                                                              \
        reg, "DirtyBit", 37, 37                                                                    \
    }
const struct bit_field sim_unit_bits[] = {
    SYNDROME_PARTS("PMBSR_EL1"),  SYNDROME_PARTS("PMBSR_EL2"), SYNDROME_PARTS("PMBSR_EL3"),
    SYNDROME_PARTS("PMBSR_EL12"), {NULL, NULL, 0, 0},
};

const struct field sim_operation_fields[] = {
    NUMBER(spe_operation, pc),
    FLAG(spe_operation, exception),
    FLAG(spe_operation, fault_condition),
    FLAG(spe_operation, misspeculated),
    FLAG(spe_operation, nonarch),
    FLAG(spe_operation, nonarch_exception),
    FLAG(spe_operation, unfinished_mops),
    FLAG(spe_operation, taken),
    FLAG(spe_operation, conditional),
    FLAG(spe_operation, indirect),
    FLAG(spe_operation, link),
    FLAG(spe_operation, procedure_return),
    FLAG(spe_operation, mispredicted),
    FLAG(spe_operation, gcs_access),
    FLAG(spe_operation, illegal_return),
    NUMBER(spe_operation, target),
    NUMBER(spe_operation, target_el),
    WORD(spe_operation, target_security, SECURITIES),
    NUMBER(spe_operation, spsr_el),
    WORD(spe_operation, spsr_security, SECURITIES),
    WORD(spe_operation, cond_op,
         WORDS("none", "csel", "fcsel", "csinc", "csneg", "csinv", "ccmp", "fccmp", "ccmn")),
    FLAG(spe_operation, condition_failed),
    WORD(spe_operation, registers,
         WORDS("general", "fp", "simd", "sve", "sme", "tag", "tag_data", "nv2", "unspecified")),
    FLAG(spe_operation, returns_value),
    FLAG(spe_operation, acquire_release),
    FLAG(spe_operation, exclusive),
    FLAG(spe_operation, exclusive_failed),
    FLAG(spe_operation, st64bv),
    FLAG(spe_operation, address_generation),
    FLAG(spe_operation, contiguous),
    FLAG(spe_operation, floating_point),
    FLAG(spe_operation, advanced_simd),
    FLAG(spe_operation, predicated),
    FLAG(spe_operation, zeroing),
    FLAG(spe_operation, predicate_operand),
    FLAG(spe_operation, predicate_only),
    FLAG(spe_operation, predicate_as_counter),
    FLAG(spe_operation, gather_scatter),
    FLAG(spe_operation, advsimd_equivalent),
    FLAG(spe_operation, uses_zt),
    FLAG(spe_operation, multi_vector),
    FLAG(spe_operation, whole_za),
    FLAG(spe_operation, masked_zero),
    FLAG(spe_operation, partial_predicate),
    FLAG(spe_operation, empty_predicate),
    FLAG(spe_operation, streaming),
    FLAG(spe_operation, smcu),
    FLAG(spe_operation, asynchronous),
    NUMBER(spe_operation, vl_bits),
    NUMBER(spe_operation, vector_bits),
    NUMBER(spe_operation, vectors),
    NUMBER(spe_operation, predicate_bits),
    NUMBER(spe_operation, tile_bits),
    NUMBER(spe_operation, decode_cycles),
    NUMBER(spe_operation, issue_cycles),
    NUMBER(spe_operation, execute_cycles),
    NUMBER(spe_operation, commit_cycles),
    NUMBER(spe_operation, sleep_cycles),
    NUMBER(spe_operation, result_cycles),
    NUMBER(spe_operation, alt_issue_cycles),
    NUMBER(spe_operation, impdef_events),
    NO_MORE,
};

const struct field sim_access_fields[] = {
    NUMBER(spe_memory_access, va),
    NUMBER(spe_memory_access, pa),
    NUMBER(spe_memory_access, granule_pa),
    NUMBER(spe_memory_access, bytes),
    NUMBER(spe_memory_access, granule),
    SET(spe_memory_access, facts,
        WORDS("l1d_access", "l1d_miss", "l1d_refill", "tlb_access", "tlb_walk", "l2d_access",
              "l2d_miss", "llc_access", "llc_miss", "remote", "remote_llc_hit", "modified_hit",
              "modified_snoop", "recent", "snooped", "slow_alignment")),
    NUMBER(spe_memory_access, source),
    FLAG(spe_memory_access, has_source),
    FLAG(spe_memory_access, store),
    FLAG(spe_memory_access, untranslated),
    FLAG(spe_memory_access, unperformed),
    FLAG(spe_memory_access, inactive),
    FLAG(spe_memory_access, external_abort),
    FLAG(spe_memory_access, tbi),
    FLAG(spe_memory_access, mte_untagged_addresses),
    FLAG(spe_memory_access, tag_checked),
    FLAG(spe_memory_access, tcf_ignored),
    FLAG(spe_memory_access, canonical_tag),
    NUMBER(spe_memory_access, pat),
    WORD(spe_memory_access, pas, SECURITIES),
    NUMBER(spe_memory_access, wait_start),
    NUMBER(spe_memory_access, translated_at),
    NUMBER(spe_memory_access, done_at),
    NO_MORE,
};

const struct field sim_fault_fields[] = {
    WORD(spe_write_result, fault,
         WORDS("none", "translation", "address_size", "access_flag", "permission", "alignment",
               "tlb_conflict", "unsupported_atomic", "gpf", "gpc", "external_abort",
               "not_allowed")),
    NUMBER(spe_write_result, stage),
    {"level", AT(spe_write_result, level), FIELD_SIGNED, NULL},
    WORD(spe_write_result, walk, WORDS("no", "table", "gpt")),
    FLAG(spe_write_result, top_level),
    FLAG(spe_write_result, assured_only),
    FLAG(spe_write_result, overlay),
    FLAG(spe_write_result, dirty_bit),
    NO_MORE,
};

const struct field sim_branch_fields[] = {
    NUMBER(spe_taken_branch, target),
    NUMBER(spe_taken_branch, el),
    WORD(spe_taken_branch, security, SECURITIES),
    FLAG(spe_taken_branch, context_sync),
    NO_MORE,
};

const struct field sim_extra_fields[] = {
    NUMBER(spe_extra, index),
    NUMBER(spe_extra, value),
    NO_MORE,
};

const struct field sim_status_fields[] = {
    FLAG(spe_spu_status, ns),
    FLAG(spe_spu_status, nse),
    WORD(spe_spu_status, security, SECURITIES),
    FLAG(spe_spu_status, secure_el2),
    FLAG(spe_spu_status, el2_enabled),
    FLAG(spe_spu_status, el2_in_owning_state),
    FLAG(spe_spu_status, tge),
    FLAG(spe_spu_status, e2h),
    FLAG(spe_spu_status, in_host),
    FLAG(spe_spu_status, ea),
    FLAG(spe_spu_status, tea),
    NUMBER(spe_spu_status, pmsee),
    NUMBER(spe_spu_status, ee2),
    NUMBER(spe_spu_status, ee1),
    FLAG(spe_spu_status, nvm),
    FLAG(spe_spu_status, envm),
    NUMBER(spe_spu_status, owner_el),
    WORD(spe_spu_status, owner_security, SECURITIES),
    FLAG(spe_spu_status, stopped),
    FLAG(spe_spu_status, buffer_enabled),
    FLAG(spe_spu_status, enabled),
    {"enabled_at_el0", offsetof(struct spe_spu_status, enabled_at[0]), 1, FIELD_FLAG, NULL},
    {"enabled_at_el1", offsetof(struct spe_spu_status, enabled_at[1]), 1, FIELD_FLAG, NULL},
    {"enabled_at_el2", offsetof(struct spe_spu_status, enabled_at[2]), 1, FIELD_FLAG, NULL},
    {"enabled_at_el3", offsetof(struct spe_spu_status, enabled_at[3]), 1, FIELD_FLAG, NULL},
    FLAG(spe_spu_status, enabled_unless_stopped),
    FLAG(spe_spu_status, context1),
    FLAG(spe_spu_status, context2),
    FLAG(spe_spu_status, physical_address),
    WORD(spe_spu_status, timestamp, WORDS("none", "virtual", "physical", "offset_physical")),
    NUMBER(spe_spu_status, time_offset),
    FLAG(spe_spu_status, discard),
    FLAG(spe_spu_status, freeze_first),
    FLAG(spe_spu_status, freeze_second),
    FLAG(spe_spu_status, freeze_cycles),
    NO_MORE,
};

const struct field sim_exception_fields[] = {
    WORD(spe_exception, masking, WORDS("disabled", "unmasked", "by_pm", "always")),
    NUMBER(spe_exception, source),
    NUMBER(spe_exception, target_el),
    FLAG(spe_exception, synchronized),
    NUMBER(spe_exception, within),
    NUMBER(spe_exception, syndrome),
    NO_MORE,
};

const struct field sim_outcome_fields[] = {
    WORD(spe_register_access, outcome, WORDS("done", "undefined", "trap", "memory", "nop")),
    NUMBER(spe_register_access, target_el),
    NUMBER(spe_register_access, memory_offset),
    NUMBER(spe_register_access, syndrome),
    NUMBER(spe_register_access, value),
    NO_MORE,
};

const struct field sim_stats_fields[] = {
    NUMBER(spe_spu_stats, population),
    NUMBER(spe_spu_stats, selected),
    NUMBER(spe_spu_stats, collisions),
    NUMBER(spe_spu_stats, sampled),
    NUMBER(spe_spu_stats, dropped),
    NUMBER(spe_spu_stats, records),
    NUMBER(spe_spu_stats, bytes_built),
    NUMBER(spe_spu_stats, bytes_written),
    NUMBER(spe_spu_stats, bytes_discarded),
    NUMBER(spe_spu_stats, management_events),
    NO_MORE,
};

static const struct {
    unsigned event;
    const char *name;
} pmu_events[SIM_PMU_EVENTS] = {
    {SPE_PMU_SAMPLE_POP, "SAMPLE_POP"},
    {SPE_PMU_SAMPLE_FEED, "SAMPLE_FEED"},
    {SPE_PMU_SAMPLE_FILTRATE, "SAMPLE_FILTRATE"},
    {SPE_PMU_SAMPLE_COLLISION, "SAMPLE_COLLISION"},
    {SPE_PMU_SAMPLE_FEED_DS, "SAMPLE_FEED_DS"},
    {SPE_PMU_SAMPLE_BUFFER_FULL, "SAMPLE_BUFFER_FULL"},
    {SPE_PMU_SAMPLE_FEED_BR, "SAMPLE_FEED_BR"},
    {SPE_PMU_SAMPLE_FEED_LD, "SAMPLE_FEED_LD"},
    {SPE_PMU_SAMPLE_FEED_ST, "SAMPLE_FEED_ST"},
    {SPE_PMU_SAMPLE_FEED_OP, "SAMPLE_FEED_OP"},
    {SPE_PMU_SAMPLE_FEED_EVENT, "SAMPLE_FEED_EVENT"},
    {SPE_PMU_SAMPLE_FEED_LAT, "SAMPLE_FEED_LAT"},
    {SPE_PMU_SAMPLE_FEED_FP, "SAMPLE_FEED_FP"},
    {SPE_PMU_SAMPLE_FEED_SIMD, "SAMPLE_FEED_SIMD"},
};

/* ---- Looking up ----------------------------------------------------------------------------- */

const struct field *sim_field(const struct field *table, const char *name)
{
    for (; table->name; table++)
        if (!strcasecmp(table->name, name))
            return table;
    return NULL;
}

const struct bit_field *sim_bit(const struct bit_field *table, const char *reg, const char *name)
{
    for (; table->reg; table++)
        if (!strcasecmp(table->reg, reg) && !strcasecmp(table->name, name))
            return table;
    return NULL;
}

int sim_word(const char *const *words, const char *text)
{
    for (int i = 0; words && words[i]; i++)
        if (!strcasecmp(words[i], text))
            return i;
    return -1;
}

int sim_pmu_slot(unsigned event)
{
    for (int i = 0; i < SIM_PMU_EVENTS; i++)
        if (pmu_events[i].event == event)
            return i;
    return -1;
}

unsigned sim_pmu_event(unsigned slot)
{
    return pmu_events[slot].event;
}

const char *sim_pmu_name(unsigned event)
{
    int slot = sim_pmu_slot(event);

    return slot < 0 ? "unknown" : pmu_events[slot].name;
}

int sim_pmu_by_name(const char *name)
{
    for (int i = 0; i < SIM_PMU_EVENTS; i++)
        if (!strcasecmp(pmu_events[i].name, name))
            return i;
    return -1;
}

/* ---- Values --------------------------------------------------------------------------------- */

uint64_t sim_field_get(const struct field *f, const void *from)
{
    return load_sized((const uint8_t *)from + f->offset, f->width);
}

void sim_field_set(const struct field *f, void *to, uint64_t value)
{
    store_sized((uint8_t *)to + f->offset, f->width, value);
}

/* K and M, powers of 1024. */
static bool suffixed(const char *end, uint64_t *value)
{
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;

    if (shift)
        end++;
    if (*end || *value > UINT64_MAX >> shift)
        return false;
    *value <<= shift;
    return true;
}

bool sim_number(const char *text, bool is_signed, uint64_t *value)
{
    bool negative = is_signed && text[0] == '-';
    int base = 10;
    char *end;

    text += negative;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        base = 16;
    else if (text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
        base = 2;
    text += base == 10 ? 0 : 2;
    if (!isxdigit((unsigned char)text[0]))
        return false;
    /* strtoull would take a second prefix. */
    if (base != 10 && text[0] == '0' && tolower((unsigned char)text[1]) == (base == 16 ? 'x' : 'b'))
        return false;
    errno = 0;
    *value = strtoull(text, &end, base);
    if (errno || end == text || !suffixed(end, value))
        return false;
    if (negative)
        *value = 0 - *value;
    return true;
}

static bool parse_set(const struct field *f, const char *text, uint64_t *value)
{
    char piece[SIM_TOKEN_MAX];

    *value = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        int bit;

        if (length >= sizeof(piece))
            return false;
        memcpy(piece, text, length);
        piece[length] = '\0';
        bit = sim_word(f->words, piece);
        if (bit < 0)
            return false;
        *value |= UINT64_C(1) << bit;
        if (!text[length])
            return true;
        text += length + 1;
    }
}

static bool within(const struct field *f, uint64_t value)
{
    unsigned bits = f->width * 8u;

    if (f->kind == FIELD_FLAG)
        return value < 2;
    if (f->kind == FIELD_SIGNED)
        return value + 128 < 256;
    return bits == 64 || value >> bits == 0;
}

bool sim_field_parse(const struct field *f, const char *text, uint64_t *value)
{
    int word = f->kind == FIELD_WORD ? sim_word(f->words, text) : -1;

    if (word >= 0) {
        *value = (uint64_t)word;
        return true;
    }
    if (sim_number(text, f->kind == FIELD_SIGNED, value))
        return within(f, *value);
    return f->kind == FIELD_SET && parse_set(f, text, value);
}
