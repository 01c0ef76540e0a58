/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What expect, show and column can ask for: "PMBSR_EL1.S", "stats.records", "record.va" ... */
#include "sim/sim_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

/* The pieces of a dotted name. */
struct path {
    char text[SIM_TOKEN_MAX];
    const char *part[4]; /* "" past the last */
    unsigned column;
};

static void cut_path(const struct token *what, struct path *path)
{
    char *at;

    snprintf(path->text, sizeof(path->text), "%s", what->text);
    path->column = what->column;
    at = path->text;
    for (size_t i = 0; i < COUNT_OF(path->part); i++) {
        path->part[i] = at;
        at += strcspn(at, i + 1 < COUNT_OF(path->part) ? "." : "");
        if (*at)
            *at++ = '\0';
    }
}

static bool unknown(struct sim *sim, const struct path *path, const char *kind, const char *name)
{
    return sim_wrong(sim, path->column, "there is no %s named '%s'", kind, name);
}

static struct sim_value from_field(const struct field *f, const void *from)
{
    struct sim_value v = {.kind = SIM_HEX, .number = sim_field_get(f, from)};
    size_t words = 0;

    if (f->kind == FIELD_WORD) {
        while (f->words[words])
            words++;
        if (v.number < words) {
            v.kind = SIM_WORD;
            v.word = f->words[v.number];
        }
    }
    return v;
}

static bool ask_table(struct sim *sim, const struct path *path, const struct field *table,
                      const void *from, const char *name, struct sim_value *value)
{
    const struct field *f = sim_field(table, name);

    char members[700];

    if (!f) {
        sim_members(table, members, sizeof(members));
        return sim_wrong(sim, path->column, "there is no quantity named '%s' in '%s'; there are %s",
                         name, path->part[0], members);
    }
    *value = from_field(f, from);
    return true;
}

/* ---- Registers and PE state ----------------------------------------------------------------- */

bool sim_register_field(const struct sim *sim, unsigned reg, const char *name,
                        struct spe_register_field *field)
{
    const struct bit_field *part = sim_bit(sim_unit_bits, spe_register_name(reg), name);

    if (part) {
        *field = (struct spe_register_field){part->name, part->high, part->low, true, true};
        return true;
    }
    for (size_t i = 0; spe_register_field_at(sim->spu, reg, i, field); i++)
        if (!strcasecmp(field->name, name))
            return true;
    return false;
}

static bool ask_register(struct sim *sim, const struct path *path, unsigned reg,
                         struct sim_value *value)
{
    struct spe_register_field f = {.high = 63, .low = 0};

    if (path->part[1][0] && !sim_register_field(sim, reg, path->part[1], &f))
        return unknown(sim, path, "field of that register", path->part[1]);
    value->kind = SIM_HEX;
    value->number = sim_bits(spe_spu_reg_get(sim->spu, (enum spe_register)reg), f.high, f.low);
    return true;
}

static bool ask_pe(struct sim *sim, const struct path *path, struct sim_value *value)
{
    const struct bit_field *b;

    if (!ask_table(sim, path, sim_pe_fields, &sim->machine.pe, path->part[1], value))
        return false;
    if (!path->part[2][0])
        return true;
    b = sim_bit(sim_pe_bits, path->part[1], path->part[2]);
    if (!b)
        return unknown(sim, path, "field of that register", path->part[2]);
    value->number = sim_bits(value->number, b->high, b->low);
    return true;
}

/* ---- The unit ------------------------------------------------------------------------------- */

static bool ask_status(struct sim *sim, const struct path *path, struct sim_value *value)
{
    return ask_table(sim, path, sim_status_fields, spe_spu_status(sim->spu), path->part[1], value);
}

static bool ask_counts(struct sim *sim, const struct path *path, const char *const *words,
                       const uint64_t *counts, struct sim_value *value)
{
    int i = sim_word(words, path->part[2]);
    char text[300];

    if (i < 0)
        return sim_wrong(sim, path->column, "there is no '%s' in '%s.%s'; there are %s",
                         path->part[2], path->part[0], path->part[1],
                         sim_words_text(words, text, sizeof(text)));
    value->number = counts[i];
    return true;
}

static bool ask_stats(struct sim *sim, const struct path *path, struct sim_value *value)
{
    struct spe_spu_stats stats;

    spe_spu_stats(sim->spu, &stats);
    value->kind = SIM_DECIMAL;
    if (!strcmp(path->part[1], "fate"))
        return ask_counts(sim, path, sim_fates, stats.fate, value);
    if (!strcmp(path->part[1], "discarded_by"))
        return ask_counts(sim, path, sim_fates, stats.bytes_discarded_by, value);
    if (!strcmp(path->part[1], "filtered_by"))
        return ask_counts(sim, path, sim_filters, stats.filtered_by, value);
    if (!ask_table(sim, path, sim_stats_fields, &stats, path->part[1], value))
        return false;
    value->kind = SIM_DECIMAL;
    return true;
}

static bool ask_exception(struct sim *sim, const struct path *path, struct sim_value *value)
{
    unsigned x = (unsigned)(path->part[0][strlen("exception")] - '0');
    struct spe_exception e;

    if (x >= 1 && x <= 3)
        spe_spu_exception_of(sim->spu, x, &e);
    else
        spe_spu_exception(sim->spu, &e);
    return ask_table(sim, path, sim_exception_fields, &e, path->part[1], value);
}

static bool ask_route(struct sim *sim, const struct path *path, struct sim_value *value)
{
    uint64_t ec, fsc = 0;

    if (!sim_number(path->part[1], false, &ec) ||
        (path->part[2][0] && !sim_number(path->part[2], false, &fsc)))
        return sim_wrong(sim, path->column, "a route is route.EC or route.EC.FSC, with numbers");
    value->kind = SIM_DECIMAL;
    value->number = spe_spu_route(sim->spu, (unsigned)ec, (unsigned)fsc);
    return true;
}

static bool ask_pmu(struct sim *sim, const struct path *path, struct sim_value *value)
{
    int slot = sim_pmu_by_name(path->part[1]);

    if (slot < 0)
        return unknown(sim, path, "PMU event", path->part[1]);
    value->kind = SIM_DECIMAL;
    value->number = sim->seen.pmu[slot];
    return true;
}

static bool ask_access(struct sim *sim, const struct path *path, struct sim_value *value)
{
    const struct spe_register_access *a = &sim->seen.access;

    if (!strcmp(path->part[1], "reg")) {
        *value = sim_text(NULL, a->outcome == SPE_OUTCOME_DONE ? spe_register_name(a->reg) : NULL);
        if (!value->word)
            value->kind = SIM_ABSENT;
        return true;
    }
    return ask_table(sim, path, sim_outcome_fields, a, path->part[1], value);
}

static bool ask_memory(struct sim *sim, const struct path *path, struct sim_value *value)
{
    uint64_t address;
    uint8_t byte;

    if (!sim_number(path->part[1], false, &address))
        return sim_wrong(sim, path->column, "a byte is memory.ADDRESS");
    value->kind = SIM_ABSENT;
    if (sim_memory_byte(sim, address, &byte)) {
        value->kind = SIM_HEX;
        value->number = byte;
    }
    return true;
}

static bool ask_option(struct sim *sim, const struct path *path, struct sim_value *value)
{
    char *text = sim->option_text;

    if (spe_spu_option_get(&sim->machine.config, path->part[1], text, sizeof(sim->option_text)) < 0)
        return unknown(sim, path, "option", path->part[1]);
    *value = sim_text(NULL, text);
    if (sim_number(text, false, &value->number))
        value->kind = strncmp(text, "0x", 2) ? SIM_DECIMAL : SIM_HEX;
    return true;
}

/* ---- The last record ------------------------------------------------------------------------ */

static struct sim_value present(bool there, uint64_t number)
{
    return (struct sim_value){.kind = there ? SIM_HEX : SIM_ABSENT, .number = number};
}

static bool ask_indexed(const struct spe_record *r, const char *name, struct sim_value *value)
{
    for (unsigned i = 0; i < SPE_INDEX_COUNT; i++) {
        char number[16];

        if (spe_address_name(i) && !strcmp(spe_address_name(i), name)) {
            *value = present(spe_record_has_address(r, i), r->address[i]);
            return true;
        }
        if (spe_counter_name(i) && !strcmp(spe_counter_name(i), name)) {
            *value = present(spe_record_has_counter(r, i), r->counter[i]);
            return true;
        }
        snprintf(number, sizeof(number), "address%u", i);
        if (!strcmp(number, name)) {
            *value = present(spe_record_has_address(r, i), r->address[i]);
            return true;
        }
        snprintf(number, sizeof(number), "counter%u", i);
        if (!strcmp(number, name)) {
            *value = present(spe_record_has_counter(r, i), r->counter[i]);
            return true;
        }
    }
    return false;
}

static bool ask_events(struct sim *sim, const struct path *path, struct sim_value *value)
{
    const struct spe_record *r = &sim->seen.record;
    uint64_t bit;

    *value = present(r->has & SPE_HAS_EVENTS, r->events);
    if (!path->part[2][0])
        return true;
    for (unsigned i = 0; i < 64; i++)
        if (spe_event_name(i) && !strcmp(spe_event_name(i), path->part[2])) {
            value->number = r->events >> i & 1;
            return true;
        }
    if (!sim_number(path->part[2], false, &bit) || bit > 63)
        return unknown(sim, path, "event", path->part[2]);
    value->number = r->events >> bit & 1;
    return true;
}

static bool ask_record(struct sim *sim, const struct path *path, struct sim_value *value)
{
    const struct seen *seen = &sim->seen;
    const struct spe_record *r = &seen->record;
    const struct {
        const char *name;
        bool there;
        uint64_t number;
    } fields[] = {
        {"size", true, seen->size},
        {"written", true, seen->written},
        {"pointer", true, seen->pointer},
        {"op_class", r->has & SPE_HAS_OP, r->op_class},
        {"op", r->has & SPE_HAS_OP, r->op},
        {"source", r->has & SPE_HAS_SOURCE, r->source},
        {"context1", r->has & SPE_HAS_CONTEXT1, r->context[0]},
        {"context2", r->has & SPE_HAS_CONTEXT2, r->context[1]},
        {"timestamp", r->has & SPE_HAS_TIMESTAMP, r->timestamp},
    };

    if (!seen->have_record || (!strcmp(path->part[0], "sample") && !seen->of_sample)) {
        value->kind = SIM_ABSENT;
        return true;
    }
    if (!strcmp(path->part[1], "events"))
        return ask_events(sim, path, value);
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        if (!strcmp(fields[i].name, path->part[1])) {
            *value = present(fields[i].there, fields[i].number);
            return true;
        }
    return ask_indexed(r, path->part[1], value) ||
           unknown(sim, path, "part of a record", path->part[1]);
}

/* ---- Single ones ---------------------------------------------------------------------------- */

static bool ask_single(struct sim *sim, const struct path *path, struct sim_value *value)
{
    const struct {
        const char *name;
        uint64_t number;
    } singles[] = {
        {"interrupt", spe_spu_interrupt(sim->spu)},
        {"interrupt_enabled", spe_spu_interrupt_enabled(sim->spu)},
        {"budget", spe_spu_budget(sim->spu)},
        {"in_flight", spe_spu_in_flight(sim->spu)},
        {"time", sim->machine.time},
        {"operations", sim->machine.operations},
        {"serrors", sim->seen.serrors},
        {"triggers", sim->seen.triggers},
        {"wakes", sim->seen.wakes},
    };

    if (!strcmp(path->part[0], "fate")) {
        *value = sim_text(NULL, sim->seen.fate < 0 ? NULL : sim_fates[sim->seen.fate]);
        value->kind = sim->seen.fate < 0 ? SIM_ABSENT : SIM_WORD;
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(singles); i++)
        if (!strcmp(singles[i].name, path->part[0])) {
            value->kind = SIM_DECIMAL;
            value->number = singles[i].number;
            return true;
        }
    return sim_wrong(sim, path->column,
                     "there is no register or quantity named '%s'; 'spe sim --list quantities' "
                     "prints them",
                     path->part[0]);
}

typedef bool ask_fn(struct sim *, const struct path *, struct sim_value *);

static const struct {
    const char *name;
    ask_fn *ask;
} groups[] = {
    {"pe", ask_pe},
    {"status", ask_status},
    {"stats", ask_stats},
    {"exception", ask_exception},
    {"exception1", ask_exception},
    {"exception2", ask_exception},
    {"exception3", ask_exception},
    {"route", ask_route},
    {"pmu", ask_pmu},
    {"access", ask_access},
    {"memory", ask_memory},
    {"option", ask_option},
    {"record", ask_record},
    {"sample", ask_record},
};

const struct field *sim_group(const char *name)
{
    static const struct {
        const char *name;
        const struct field *table;
    } tables[] = {
        {"pe", sim_pe_fields},          {"status", sim_status_fields},
        {"stats", sim_stats_fields},    {"exception", sim_exception_fields},
        {"access", sim_outcome_fields},
    };

    for (size_t i = 0; i < COUNT_OF(tables); i++)
        if (!strcmp(tables[i].name, name))
            return tables[i].table;
    return NULL;
}

bool sim_ask(struct sim *sim, const struct token *what, struct sim_value *value)
{
    struct path path;
    int reg;

    if (!sim_need_unit(sim))
        return false;
    *value = (struct sim_value){0};
    cut_path(what, &path);
    reg = spe_register_by_name(path.part[0]);
    if (reg >= 0 && reg < SPE_REG_COUNT)
        return ask_register(sim, &path, (unsigned)reg, value);
    for (size_t i = 0; i < COUNT_OF(groups); i++)
        if (!strcmp(groups[i].name, path.part[0]))
            return groups[i].ask(sim, &path, value);
    return ask_single(sim, &path, value);
}

void sim_format(const struct sim_value *value, char *text, size_t size)
{
    switch (value->kind) {
    case SIM_ABSENT:
        snprintf(text, size, "absent");
        break;
    case SIM_WORD:
        snprintf(text, size, "%s", value->word);
        break;
    case SIM_DECIMAL:
        snprintf(text, size, "%" PRIu64, value->number);
        break;
    default:
        snprintf(text, size, value->number < 10 ? "%" PRIu64 : "0x%" PRIx64, value->number);
    }
}
