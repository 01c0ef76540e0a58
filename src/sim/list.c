/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What there is to name: the lists of --list, and the words that a message offers instead. */
#include "sim/sim_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

struct list {
    sim_line_fn *line;
    void *user;
};

__attribute__((format(printf, 2, 3))) static void put(const struct list *to, const char *format,
                                                      ...)
{
    char text[1000];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    to->line(to->user, text);
}

const char *sim_words_text(const char *const *words, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; words && words[i]; i++) {
        int n = snprintf(text + length, size - length, "%s%s", i ? ", " : "", words[i]);

        if (n < 0 || length + (size_t)n >= size)
            break;
        length += (size_t)n;
    }
    return text;
}

void sim_takes(const struct field *f, char *text, size_t size)
{
    char words[500];

    sim_words_text(f->words, words, sizeof(words));
    switch (f->kind) {
    case FIELD_FLAG:
        snprintf(text, size, "0 or 1");
        break;
    case FIELD_WORD:
        snprintf(text, size, "%s", words);
        break;
    case FIELD_SET:
        snprintf(text, size, "a comma list of %s", words);
        break;
    case FIELD_SIGNED:
        snprintf(text, size, "-128 to 127");
        break;
    default:
        snprintf(text, size, "a number of up to %d bits", f->width * 8);
    }
}

/* ---- Members of structs --------------------------------------------------------------------- */

static void put_fields(const struct list *to, const struct field *table)
{
    char takes[600];

    for (; table->name; table++) {
        sim_takes(table, takes, sizeof(takes));
        put(to, "%s = %s", table->name, takes);
    }
}

static void put_words(const struct list *to, const char *const *words)
{
    for (; *words; words++)
        put(to, "%s", *words);
}

static void list_operations(const struct list *to)
{
    char kinds[500];

    put(to, "KIND = %s", sim_words_text(sim_operation_kinds, kinds, sizeof(kinds)));
    put(to, "pc_step = a number");
    put_fields(to, sim_operation_fields);
}

static void list_accesses(const struct list *to)
{
    put_fields(to, sim_access_fields);
}

static void list_facts(const struct list *to)
{
    put_words(to, sim_field(sim_access_fields, "facts")->words);
}

static void list_faults(const struct list *to)
{
    put_fields(to, sim_fault_fields);
}

static void list_features(const struct list *to)
{
    for (unsigned i = 0; spe_feature_name(i); i++)
        put(to, "%s", spe_feature_name(i));
}

/* The PE as a script finds it. */
static void list_pe(const struct list *to)
{
    struct spe_pe_state pe;

    spe_pe_state_init(&pe);
    for (const struct field *f = sim_pe_fields; f->name; f++) {
        uint64_t value = sim_field_get(f, &pe);

        put(to, value < 10 ? "%s = %" PRIu64 : "%s = 0x%" PRIx64, f->name, value);
        for (const struct bit_field *b = sim_pe_bits; b->reg; b++)
            if (!strcmp(b->reg, f->name))
                put(to, "    %s.%s = %" PRIu64, b->reg, b->name, sim_bits(value, b->high, b->low));
    }
}

static void list_statements(const struct list *to)
{
    for (size_t i = 0; sim_statement_usage(i); i++)
        put(to, "%s", sim_statement_usage(i));
}

/* ---- Quantities ----------------------------------------------------------------------------- */

static void put_group(const struct list *to, const char *group, const struct field *table)
{
    for (; table->name; table++)
        put(to, "%s.%s", group, table->name);
}

static void put_group_words(const struct list *to, const char *group, const char *const *words)
{
    for (; *words; words++)
        put(to, "%s.%s", group, *words);
}

static void put_record(const struct list *to, const char *group)
{
    put_group_words(to, group, sim_record_parts);
    for (unsigned i = 0; i < SPE_INDEX_COUNT; i++)
        if (spe_address_name(i))
            put(to, "%s.%s", group, spe_address_name(i));
    for (unsigned i = 0; i < SPE_INDEX_COUNT; i++)
        if (spe_counter_name(i))
            put(to, "%s.%s", group, spe_counter_name(i));
    put(to, "%s.addressN", group);
    put(to, "%s.counterN", group);
    put(to, "%s.events", group);
    for (unsigned i = 0; i < 64; i++)
        if (spe_event_name(i))
            put(to, "%s.events.%s", group, spe_event_name(i));
}

static void list_quantities(const struct list *to)
{
    put_words(to, sim_singles);
    put_group(to, "pe", sim_pe_fields);
    put_group(to, "status", sim_status_fields);
    put_group(to, "stats", sim_stats_fields);
    put_group_words(to, "stats.fate", sim_fates);
    put_group_words(to, "stats.discarded_by", sim_fates);
    put_group_words(to, "stats.filtered_by", sim_filters);
    put_group(to, "exception", sim_exception_fields);
    put(to, "exception1 to exception3, as exception");
    put_group(to, "access", sim_outcome_fields);
    put(to, "access.reg");
    put_record(to, "record");
    put(to, "sample, as record, but absent if the last sample has none");
    for (unsigned i = 0; i < SIM_PMU_EVENTS; i++)
        put(to, "pmu.%s", sim_pmu_name(sim_pmu_event(i)));
    put(to, "memory.ADDRESS");
    put(to, "option.NAME");
    put(to, "route.EC.FSC");
    put(to, "REGISTER");
    put(to, "REGISTER.FIELD");
}

/* ---- All of them ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*print)(const struct list *to);
    const struct field *table; /* whose members it lists */
} lists[] = {
    {"statements", list_statements, NULL},
    {"quantities", list_quantities, NULL},
    {"features", list_features, NULL},
    {"pe", list_pe, sim_pe_fields},
    {"operations", list_operations, sim_operation_fields},
    {"accesses", list_accesses, sim_access_fields},
    {"facts", list_facts, NULL},
    {"faults", list_faults, sim_fault_fields},
};

bool sim_list(const char *name, sim_line_fn *line, void *user)
{
    const struct list to = {line, user};

    for (size_t i = 0; i < COUNT_OF(lists); i++)
        if (!strcmp(lists[i].name, name)) {
            lists[i].print(&to);
            return true;
        }
    return false;
}

void sim_members(const struct field *table, char *text, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < COUNT_OF(lists); i++)
        if (lists[i].table == table) {
            snprintf(text, size, "those that 'spe sim --list %s' prints", lists[i].name);
            return;
        }
    text[0] = '\0';
    for (const struct field *f = table; f->name && length < size; f++)
        length +=
            (size_t)snprintf(text + length, size - length, "%s%s", f == table ? "" : ", ", f->name);
}
