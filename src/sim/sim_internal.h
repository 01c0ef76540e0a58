/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 *   script.c      text -> statements, variables, blocks
 *   statement.c   what each statement does
 *   enumerate.c   all combinations of lists of values
 *   names.c       names of fields and values, as tables
 *   list.c        the same for people: --list, and what messages offer
 *   quantity.c    what expect, show and column can ask for
 *   host.c        the unit's host: memory with faults, time; effects
 *   report.c      effects and rows -> text, JSON, CSV
 */
#ifndef SIM_INTERNAL_H
#define SIM_INTERNAL_H

#include "base/count_of.h"
#include "sim/sim.h"

#include <string.h>

#define SIM_WORDS_MAX 512
#define SIM_TOKEN_MAX 512
#define SIM_RANDOM_MAX 256
#define SIM_ACCESS_MAX 64
#define SIM_EXTRA_MAX 16
#define SIM_RANGE_MAX 64
#define SIM_VARIABLE_MAX 32
#define SIM_FLIGHT_MAX 1024

/* ---- Names ---------------------------------------------------------------------------------- */

enum field_kind { FIELD_NUMBER, FIELD_SIGNED, FIELD_FLAG, FIELD_WORD, FIELD_SET };

/* A member of a struct that a script may name. */
struct field {
    const char *name;
    uint16_t offset;
    uint8_t width;            /* bytes */
    uint8_t kind;             /* enum field_kind */
    const char *const *words; /* FIELD_WORD: by value; FIELD_SET: by bit; ends with NULL */
};

/* Bits of a PE register that have a name. */
struct bit_field {
    const char *reg, *name;
    uint8_t high, low;
};

extern const struct field sim_pe_fields[], sim_operation_fields[], sim_access_fields[],
    sim_fault_fields[], sim_branch_fields[], sim_extra_fields[], sim_status_fields[],
    sim_exception_fields[], sim_outcome_fields[], sim_stats_fields[];
extern const struct bit_field sim_pe_bits[], sim_unit_bits[];
extern const char *const sim_operation_kinds[],
    *const sim_fates[], *const sim_filters[], *const sim_populations[],
                                                  *const sim_singles[], *const sim_record_parts[];

const struct field *sim_field(const struct field *table, const char *name);
const struct bit_field *sim_bit(const struct bit_field *table, const char *reg, const char *name);
uint64_t sim_field_get(const struct field *f, const void *from);
void sim_field_set(const struct field *f, void *to, uint64_t value);

/* Index of a word, ignoring case; -1. */
int sim_word(const char *const *words, const char *text);

/* Decimal, 0x, 0b, with K or M behind, with - in front if `is_signed`. */
bool sim_number(const char *text, bool is_signed, uint64_t *value);

/* A field's value from text: a number, a word, or a comma list of the words of a set. */
bool sim_field_parse(const struct field *f, const char *text, uint64_t *value);

static inline uint64_t sim_bits(uint64_t value, unsigned high, unsigned low)
{
    return value >> low & UINT64_MAX >> (63 - (high - low));
}

const char *sim_pmu_name(unsigned event);
int sim_pmu_slot(unsigned event);      /* -1: not known */
unsigned sim_pmu_event(unsigned slot); /* the number of the i-th */
int sim_pmu_by_name(const char *name); /* slot; -1 */
#define SIM_PMU_EVENTS 14

/* ---- The machine ---------------------------------------------------------------------------- */

/* Memory that answers a write with a fault. */
struct range {
    uint64_t first, size;
    struct spe_write_result answer;
};

/* Where a statement stands; line 0: nowhere. */
struct place {
    unsigned script, line, column;
};

/* What an enumeration puts back before each combination: all of it plain data. */
struct machine {
    struct spe_spu_config config;
    struct spe_pe_state pe;
    struct spe_operation op;
    uint64_t pc_step;
    struct spe_memory_access access[SIM_ACCESS_MAX];
    struct spe_extra extra[SIM_EXTRA_MAX];
    struct range range[SIM_RANGE_MAX];
    size_t ranges;
    uint64_t time;       /* the physical count: one more with each operation */
    uint64_t operations; /* run so far */
    uint64_t op_start;   /* operations when `op` was given: pc_step counts from there */
    bool op_target_el, op_target_security, op_spsr_security; /* said by `op` */
    uint8_t random[SIM_RANDOM_MAX]; /* rng_kind user: over and over; none: zeros */
    size_t randoms, random_at;
    struct place suspect; /* which statement made the configuration one that no unit can have */
};

struct page {
    uint64_t address;
    struct page *next;
    bool known[4096]; /* has been written */
    uint8_t byte[4096];
};

#define SIM_PAGE_SLOTS 1024

/* The last of each, for `expect`. */
struct seen {
    struct spe_register_access access;
    struct spe_record record;
    bool have_record;
    bool of_sample; /* it is the record of the last sample */
    uint32_t size, written;
    uint64_t pointer;
    int fate; /* of the last sample that ended; -1 before the first */
    uint64_t pmu[SIM_PMU_EVENTS], pmu_told[SIM_PMU_EVENTS];
    uint64_t serrors, triggers, wakes;
};

struct variable {
    char name[SIM_TOKEN_MAX], value[SIM_TOKEN_MAX];
};

struct token {
    char text[SIM_TOKEN_MAX];
    unsigned column;
};

/* A line cut into words, variables replaced. */
struct words {
    size_t count;
    struct token word[SIM_WORDS_MAX];
};

/* The script, and where it is read. */
struct cursor {
    const char *text;
    size_t length, at;
    unsigned line; /* the next line's number */
};

/* A sample in flight, as it ran. */
struct flight {
    struct spe_operation op;
    struct spe_memory_access access[SIM_ACCESS_MAX];
    struct spe_extra extra[SIM_EXTRA_MAX];
};

struct sim {
    struct sim_listener listener;
    struct machine machine;
    struct spe_spu *spu; /* NULL: not made yet, or its configuration has changed */
    struct page *pages[SIM_PAGE_SLOTS];
    struct seen seen;
    struct flight *flight[SIM_FLIGHT_MAX + 1]; /* by number; NULL: it is not in flight */

    struct variable variable[SIM_VARIABLE_MAX];
    size_t variables;
    unsigned script; /* how many there were */
    unsigned line;   /* of the statement that runs */
    bool quiet;      /* enumerating: effects are not told */
    bool no_memory;  /* for what the unit wrote */
    uint64_t expected, failed;
    uint64_t steps_left;    /* sim_set_limit */
    char option_text[1000]; /* the answer about an option, until the next question */
    struct sim_error *error;
};

/* ---- script.c ------------------------------------------------------------------------------- */

/* Say what is wrong at a column of the current line; returns false. */
bool sim_wrong(struct sim *sim, unsigned column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One step more; false after sim_wrong if the limit is reached. */
bool sim_step(struct sim *sim);

/* Cut the next line that is not empty; 0 at the end, -1 if it is wrong. */
int sim_next_line(struct sim *sim, struct cursor *cursor, struct words *words);

/* Split "key=value" at the first '='; false if there is none. The word is changed. */
bool sim_split(struct token *token, const char **key, const char **value);

/* Letters, digits and _ make a name; false after sim_wrong. */
bool sim_set_variable(struct sim *sim, const struct token *name, const char *value);

/* Is it a name for a column: as a variable, or a quantity? */
bool sim_good_name(struct sim *sim, const struct token *name, const char *also);

/* ---- list.c --------------------------------------------------------------------------------- */

/* "general, fp, simd"; returns text. */
const char *sim_words_text(const char *const *words, char *text, size_t size);

/* What a member takes, which members there are: for messages. */
void sim_takes(const struct field *f, char *text, size_t size);
void sim_members(const struct field *table, char *text, size_t size);

/* How the i-th statement is written; NULL past the last. */
const char *sim_statement_usage(size_t i);

/* ---- statement.c, enumerate.c --------------------------------------------------------------- */

bool sim_statement(struct sim *sim, struct words *words, struct cursor *cursor);
bool sim_enumerate(struct sim *sim, struct words *words, struct cursor *cursor);

/* ---- quantity.c ----------------------------------------------------------------------------- */

/* What is it now? False after sim_wrong. value->key is not set. */
bool sim_ask(struct sim *sim, const struct token *what, struct sim_value *value);

/* As text, the way that a row or a message shows it. */
void sim_format(const struct sim_value *value, char *text, size_t size);

/* A field of a register of the unit, or a part of PMBSR_ELx that has a name of its own. */
bool sim_register_field(const struct sim *sim, unsigned reg, const char *name,
                        struct spe_register_field *field);

/* The members of "status", "pe" ...; NULL if it is not such a group. */
const struct field *sim_group(const char *name);

/* ---- host.c --------------------------------------------------------------------------------- */

bool sim_need_unit(struct sim *sim); /* make it if there is none; false after sim_wrong */
void sim_drop_unit(struct sim *sim);
void sim_drop_flights(struct sim *sim); /* there is a unit */
void sim_clear_memory(struct sim *sim);
bool sim_memory_byte(const struct sim *sim, uint64_t address, uint8_t *byte);

void sim_effect(struct sim *sim, const char *name, const struct sim_value *values, size_t count);
void sim_tell_pmu(struct sim *sim); /* what was counted since the last time */

#define SIM_EFFECT(sim, name, ...)                                                                 \
    do {                                                                                           \
        const struct sim_value values_[] = {__VA_ARGS__};                                          \
        sim_effect(sim, name, values_, COUNT_OF(values_));                                         \
    } while (0)

static inline struct sim_value sim_hex(const char *key, uint64_t number)
{
    return (struct sim_value){key, SIM_HEX, number, NULL};
}

static inline struct sim_value sim_decimal(const char *key, uint64_t number)
{
    return (struct sim_value){key, SIM_DECIMAL, number, NULL};
}

static inline struct sim_value sim_text(const char *key, const char *word)
{
    return (struct sim_value){key, SIM_WORD, 0, word};
}

#endif
