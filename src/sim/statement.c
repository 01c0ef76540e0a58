/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* What each statement does. docs/sim.md describes them in the order of the table at the end. */
#include "sim/sim_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- Arguments ------------------------------------------------------------------------------ */

static bool number_word(struct sim *sim, const struct token *t, const char *what, uint64_t *value)
{
    return sim_number(t->text, false, value) ||
           sim_wrong(sim, t->column, "'%s' is not a number: %s", t->text, what);
}

static bool split_word(struct sim *sim, struct token *t, const char **key, const char **value)
{
    return sim_split(t, key, value) ||
           sim_wrong(sim, t->column, "'%s' is not of the form name=value", t->text);
}

/* Set a member of a struct from key=value; `table` says which there are. */
static bool set_field(struct sim *sim, const struct token *t, const struct field *table, void *to,
                      const char *key, const char *value)
{
    const struct field *f = sim_field(table, key);
    uint64_t number;
    char text[600];

    if (!f) {
        sim_members(table, text, sizeof(text));
        return sim_wrong(sim, t->column, "there is no '%s' here; there are %s", key, text);
    }
    if (!sim_field_parse(f, value, &number)) {
        sim_takes(f, text, sizeof(text));
        return sim_wrong(sim, t->column, "'%s' cannot be '%s'; it takes %s", key, value, text);
    }
    sim_field_set(f, to, number);
    return true;
}

static bool set_fields(struct sim *sim, struct words *w, size_t from, const struct field *table,
                       void *to)
{
    for (size_t i = from; i < w->count; i++) {
        const char *key, *value;

        if (!split_word(sim, &w->word[i], &key, &value) ||
            !set_field(sim, &w->word[i], table, to, key, value))
            return false;
    }
    return true;
}

/* Put a number into bits high to low of *reg; false if it does not fit. */
static bool put_bits(uint64_t *reg, unsigned high, unsigned low, uint64_t value)
{
    uint64_t mask = UINT64_MAX >> (63 - (high - low));

    if (value & ~mask)
        return false;
    *reg = (*reg & ~(mask << low)) | value << low;
    return true;
}

/* ---- Configuration: the unit is made anew --------------------------------------------------- */

/* Several statements may have to go together, so a contradiction is an error only when the unit is
 * made; but it is the statement's that began it. */
static void look_at_config(struct sim *sim, const struct token *where)
{
    struct machine *m = &sim->machine;

    sim_drop_unit(sim);
    if (spe_spu_config_validate(&m->config, NULL, 0) == SPE_OK)
        m->suspect.line = 0;
    else if (!m->suspect.line)
        m->suspect = (struct place){sim->script, sim->line, where->column};
}

static bool do_preset(struct sim *sim, struct words *w)
{
    if (spe_spu_config_init(&sim->machine.config, w->word[1].text) < 0)
        return sim_wrong(sim, w->word[1].column,
                         "there is no preset '%s'; 'spe sim --list presets' prints them",
                         w->word[1].text);
    look_at_config(sim, &w->word[1]);
    return true;
}

static bool set_option(struct sim *sim, const char *name, const struct token *value)
{
    char why[500] = "";

    if (spe_spu_option_set(&sim->machine.config, name, value->text, why, sizeof(why)) < 0)
        return sim_wrong(sim, value->column, "%s", why);
    look_at_config(sim, value);
    return true;
}

/* The words of a feature list without their signs: those that add, or those that take away. */
static spe_features named(const char *list, bool taken)
{
    spe_features set = 0;

    while (*list) {
        size_t length = strcspn(list, ",");
        bool minus = list[0] == '-';
        spe_features one = 0;
        char word[SIM_TOKEN_MAX];

        snprintf(word, sizeof(word), "%.*s", (int)(length - minus), list + minus);
        if (minus == taken && spe_features_parse(word, &one, word, 0) == SPE_OK)
            set |= one;
        list += length + (list[length] == ',');
    }
    return set;
}

/* Taking a feature away takes those that need it: what was not asked for is said. */
static void tell_features_lost(struct sim *sim, spe_features before, const char *list,
                               spe_features after)
{
    spe_features lost =
        spe_features_close(before | named(list, false)) & ~after & ~named(list, true);
    char names[1000];

    if (!lost)
        return;
    spe_features_format(lost, names, sizeof(names));
    SIM_EFFECT(sim, "features", sim_text("also_without", names));
}

/* The list starts from nothing, unless its first word takes away from the present one or adds to
 * it. */
static bool do_features(struct sim *sim, struct words *w)
{
    struct token *list = &w->word[1];
    spe_features features = 0, before;
    char why[250] = "";
    bool add = list->text[0] == '+' || list->text[0] == '-';

    if (add)
        features = sim->machine.config.features;
    before = features;
    if (spe_features_parse(list->text + (list->text[0] == '+'), &features, why, sizeof(why)) < 0)
        return sim_wrong(sim, list->column, "%s; 'spe sim --list features' prints them", why);
    spe_spu_config_features(&sim->machine.config, features);
    look_at_config(sim, list);
    tell_features_lost(sim, before, list->text + (list->text[0] == '+'), features);
    return true;
}

static bool do_option(struct sim *sim, struct words *w)
{
    if (!spe_spu_option_find(w->word[1].text))
        return sim_wrong(sim, w->word[1].column, "there is no option '%s'", w->word[1].text);
    return set_option(sim, w->word[1].text, &w->word[2]);
}

/* ---- PE state and registers ----------------------------------------------------------------- */

static bool set_pe_bits(struct sim *sim, const struct token *t, char *key, char *dot,
                        const char *value)
{
    const struct field *f;
    const struct bit_field *b;
    uint64_t number, reg;

    *dot = '\0';
    f = sim_field(sim_pe_fields, key);
    b = sim_bit(sim_pe_bits, key, dot + 1);
    if (!f || !b)
        return sim_wrong(sim, t->column, "there is no field '%s' of '%s'", dot + 1, key);
    reg = sim_field_get(f, &sim->machine.pe);
    if (!sim_number(value, false, &number) || !put_bits(&reg, b->high, b->low, number))
        return sim_wrong(sim, t->column, "'%s.%s' cannot be '%s'", key, dot + 1, value);
    sim_field_set(f, &sim->machine.pe, reg);
    return true;
}

static bool do_pe(struct sim *sim, struct words *w)
{
    for (size_t i = 1; i < w->count; i++) {
        const char *key, *value;
        char *dot;

        if (!split_word(sim, &w->word[i], &key, &value))
            return false;
        dot = strchr(w->word[i].text, '.');
        if (dot ? !set_pe_bits(sim, &w->word[i], w->word[i].text, dot, value)
                : !set_field(sim, &w->word[i], sim_pe_fields, &sim->machine.pe, key, value))
            return false;
    }
    if (sim->machine.pe.el > 3)
        return sim_wrong(sim, w->word[0].column, "an Exception level is 0 to 3");
    if (sim->spu)
        spe_spu_set_pe(sim->spu, &sim->machine.pe);
    return true;
}

/* Registers as they will be when the whole line has been read. */
struct register_line {
    uint64_t value[SPE_REG_COUNT];
    bool set[SPE_REG_COUNT];
};

static bool put_field(struct sim *sim, const struct token *t, unsigned reg, const char *field,
                      uint64_t number, uint64_t *value)
{
    struct spe_register_field f;

    if (!sim_register_field(sim, reg, field, &f))
        return sim_wrong(sim, t->column, "there is no field '%s' of '%s'", field,
                         spe_register_name(reg));
    if (!put_bits(value, f.high, f.low, number))
        return sim_wrong(sim, t->column, "%s has only %u bits", f.name, f.high - f.low + 1u);
    return true;
}

static bool read_assignment(struct sim *sim, struct token *t, struct register_line *line)
{
    const char *key, *value;
    uint64_t number;
    char *dot;
    int reg;

    if (!split_word(sim, t, &key, &value))
        return false;
    dot = strchr(t->text, '.');
    if (dot)
        *dot = '\0';
    reg = spe_register_by_name(key);
    if (reg < 0 || reg >= SPE_REG_COUNT)
        return sim_wrong(sim, t->column,
                         "there is no register '%s'; 'spe sim --list registers' prints them", key);
    if (!sim_number(value, false, &number))
        return sim_wrong(sim, t->column, "'%s' is not a number", value);
    if (!line->set[reg])
        line->value[reg] = spe_spu_reg_get(sim->spu, (enum spe_register)reg);
    line->set[reg] = true;
    if (dot)
        return put_field(sim, t, (unsigned)reg, dot + 1, number, &line->value[reg]);
    line->value[reg] = number;
    return true;
}

/* The assignments of a line take effect together: what enables profiling comes last. */
static bool do_reg(struct sim *sim, struct words *w)
{
    static const uint8_t enabling[] = {SPE_REG_PMSCR_EL1, SPE_REG_PMSCR_EL2, SPE_REG_PMBLIMITR_EL1};
    struct register_line line = {{0}, {false}};

    for (size_t i = 1; i < w->count; i++)
        if (!read_assignment(sim, &w->word[i], &line))
            return false;
    for (unsigned reg = 0; reg < SPE_REG_COUNT; reg++)
        if (line.set[reg] && !memchr(enabling, (int)reg, sizeof(enabling)))
            spe_spu_reg_set(sim->spu, (enum spe_register)reg, line.value[reg]);
    for (size_t i = 0; i < sizeof(enabling); i++)
        if (line.set[enabling[i]])
            spe_spu_reg_set(sim->spu, (enum spe_register)enabling[i], line.value[enabling[i]]);
    return true;
}

/* Pointer first: the limit register enables. */
static bool do_buffer(struct sim *sim, struct words *w)
{
    uint64_t base, size, limitr = spe_spu_reg_get(sim->spu, SPE_REG_PMBLIMITR_EL1);

    if (!number_word(sim, &w->word[1], "where the buffer starts", &base) ||
        !number_word(sim, &w->word[2], "its size", &size))
        return false;
    if ((base + size) & 4095)
        return sim_wrong(sim, w->word[2].column, "the buffer does not end at a multiple of 4096");
    spe_spu_reg_set(sim->spu, SPE_REG_PMBPTR_EL1, base);
    spe_spu_reg_set(sim->spu, SPE_REG_PMBLIMITR_EL1, (limitr & 0xfff) | (base + size) | 1);
    return true;
}

/* ---- MRS and MSR ---------------------------------------------------------------------------- */

static void tell_access(struct sim *sim, const char *name, const char *what)
{
    const struct spe_register_access *a = &sim->seen.access;
    const char *const *outcomes = sim_field(sim_outcome_fields, "outcome")->words;
    struct sim_value v[8];
    size_t n = 0;

    if (what)
        v[n++] = sim_text("name", what);
    v[n++] = sim_text("outcome", outcomes[a->outcome]);
    switch (a->outcome) {
    case SPE_OUTCOME_DONE:
        if (what)
            v[n++] = sim_text("reached", spe_register_name(a->reg));
        if (what && !strcmp(name, "mrs"))
            v[n++] = sim_hex("value", a->value);
        break;
    case SPE_OUTCOME_TRAP:
        v[n++] = sim_decimal("target_el", a->target_el);
        v[n++] = sim_hex("syndrome", a->syndrome);
        break;
    case SPE_OUTCOME_MEMORY:
        v[n++] = sim_hex("offset", a->memory_offset);
        break;
    default:
        break;
    }
    sim_effect(sim, name, v, n);
}

/* The next part of S<op0>_<op1>_C<CRn>_C<CRm>_<op2>: what stands before the number, and the
 * number. */
static bool encoding_part(const char **at, const char *before, unsigned most, unsigned *value)
{
    size_t length = strlen(before);

    *value = 0;
    if (strncasecmp(*at, before, length) != 0 || (*at)[length] < '0' || (*at)[length] > '9')
        return false;
    for (*at += length; **at >= '0' && **at <= '9' && *value <= most; (*at)++)
        *value = *value * 10 + (unsigned)(**at - '0');
    return *value <= most;
}

static int find_encoding(const char *name)
{
    unsigned op0, op1, crn, crm, op2;
    int reg = spe_register_by_name(name);

    if (reg >= 0)
        return spe_register_encoding((unsigned)reg);
    if (encoding_part(&name, "S", 3, &op0) && encoding_part(&name, "_", 7, &op1) &&
        encoding_part(&name, "_C", 15, &crn) && encoding_part(&name, "_C", 15, &crm) &&
        encoding_part(&name, "_", 7, &op2) && !*name)
        return (int)SPE_SYSREG(op0, op1, crn, crm, op2);
    return SPE_ERR_UNKNOWN;
}

/* The name behind an encoding; SPE_REG_NAME_COUNT if it is none of the unit's. */
static unsigned register_at(int encoding)
{
    unsigned reg = 0;

    while (reg < SPE_REG_NAME_COUNT && spe_register_encoding(reg) != encoding)
        reg++;
    return reg;
}

/* rt=N, and for MSR fields of the value. */
static bool access_word(struct sim *sim, struct token *t, unsigned reg, uint64_t *rt,
                        uint64_t *value)
{
    const char *key, *text;
    uint64_t number;

    if (!split_word(sim, t, &key, &text))
        return false;
    if (!sim_number(text, false, &number))
        return sim_wrong(sim, t->column, "'%s' is not a number", text);
    if (!strcmp(key, "rt")) {
        *rt = number;
        return number < 32 || sim_wrong(sim, t->column, "rt=0 to rt=31 are the registers");
    }
    if (!value || reg == SPE_REG_NAME_COUNT)
        return sim_wrong(sim, t->column, "only rt=0 to rt=31 may follow");
    return put_field(sim, t, reg, key, number, value);
}

/* The value of MSR: a number, or fields (the others are zero). */
static bool access_words(struct sim *sim, struct words *w, bool write, unsigned reg, uint64_t *rt,
                         uint64_t *value)
{
    size_t i = 2;

    if (write && !strncmp(w->word[2].text, "rt=", 3))
        return sim_wrong(sim, w->word[2].column, "a value or fields come before rt");
    if (write && !strchr(w->word[2].text, '=')) {
        if (!number_word(sim, &w->word[2], "what is written", value))
            return false;
        write = false;
        i++;
    }
    for (; i < w->count; i++)
        if (!access_word(sim, &w->word[i], reg, rt, write ? value : NULL))
            return false;
    return true;
}

static bool access_register(struct sim *sim, struct words *w, bool write)
{
    int encoding = find_encoding(w->word[1].text);
    uint64_t value = 0, rt = 0;
    int error;

    if (encoding < 0)
        return sim_wrong(sim, w->word[1].column,
                         "there is no register '%s'; 'spe sim --list registers' prints them",
                         w->word[1].text);
    if (!access_words(sim, w, write, register_at(encoding), &rt, &value))
        return false;
    error =
        write ? spe_spu_write(sim->spu, (unsigned)encoding, (unsigned)rt, value, &sim->seen.access)
              : spe_spu_read(sim->spu, (unsigned)encoding, (unsigned)rt, &sim->seen.access);
    if (error < 0)
        return sim_wrong(sim, w->word[1].column, "'%s' is not a register of the unit",
                         w->word[1].text);
    tell_access(sim, write ? "msr" : "mrs", w->word[1].text);
    return true;
}

static bool do_msr(struct sim *sim, struct words *w)
{
    return access_register(sim, w, true);
}

static bool do_mrs(struct sim *sim, struct words *w)
{
    return access_register(sim, w, false);
}

/* ---- Memory and time ------------------------------------------------------------------------ */

static bool do_memory(struct sim *sim, struct words *w)
{
    struct range r = {0};

    if (!number_word(sim, &w->word[1], "the first address", &r.first) ||
        !number_word(sim, &w->word[2], "how many bytes", &r.size))
        return false;
    if (w->count != 4 || strcmp(w->word[3].text, "ok") != 0)
        if (!set_fields(sim, w, 3, sim_fault_fields, &r.answer))
            return false;
    if (sim->machine.ranges == SIM_RANGE_MAX)
        return sim_wrong(sim, w->word[0].column, "there are more than %d memory statements",
                         SIM_RANGE_MAX);
    sim->machine.range[sim->machine.ranges++] = r;
    return true;
}

static bool do_time(struct sim *sim, struct words *w)
{
    return number_word(sim, &w->word[1], "the physical count", &sim->machine.time);
}

static bool do_random(struct sim *sim, struct words *w)
{
    struct machine *m = &sim->machine;

    m->randoms = m->random_at = 0;
    for (size_t i = 1; i < w->count; i++) {
        uint64_t byte;

        if (!number_word(sim, &w->word[i], "a random byte", &byte))
            return false;
        if (byte > 255 || m->randoms == SIM_RANDOM_MAX)
            return sim_wrong(sim, w->word[i].column, "random takes up to %d bytes, 0 to 255",
                             SIM_RANDOM_MAX);
        m->random[m->randoms++] = (uint8_t)byte;
    }
    return true;
}

/* ---- Operations ----------------------------------------------------------------------------- */

static bool do_op(struct sim *sim, struct words *w)
{
    struct machine *m = &sim->machine;
    int kind = sim_word(sim_operation_kinds, w->word[1].text);

    char kinds[300];

    if (kind < 0)
        return sim_wrong(sim, w->word[1].column, "there is no kind of operation '%s'; there are %s",
                         w->word[1].text,
                         sim_words_text(sim_operation_kinds, kinds, sizeof(kinds)));
    spe_operation_init(&m->op, (enum spe_operation_kind)kind);
    m->pc_step = 0;
    m->op_target_el = m->op_target_security = m->op_spsr_security = false;
    m->op_start = m->operations;
    for (size_t i = 2; i < w->count; i++) {
        const char *key, *value;

        if (!split_word(sim, &w->word[i], &key, &value))
            return false;
        if (!strcmp(key, "pc_step")) {
            if (!sim_number(value, false, &m->pc_step))
                return sim_wrong(sim, w->word[i].column, "'%s' is not a number", value);
        } else if (!set_field(sim, &w->word[i], sim_operation_fields, &m->op, key, value)) {
            return false;
        }
        m->op_target_el |= !strcasecmp(key, "target_el");
        m->op_target_security |= !strcasecmp(key, "target_security");
        m->op_spsr_security |= !strcasecmp(key, "spsr_security");
    }
    return true;
}

static bool do_access(struct sim *sim, struct words *w)
{
    struct machine *m = &sim->machine;
    struct spe_memory_access a = {0};

    if (m->op.access_count == SIM_ACCESS_MAX)
        return sim_wrong(sim, w->word[0].column, "an operation has at most %d accesses",
                         SIM_ACCESS_MAX);
    a.pas = SPE_NONSECURE;
    a.store = m->op.kind == SPE_OPERATION_STORE || m->op.kind == SPE_OPERATION_MEMSET;
    if (!set_fields(sim, w, 1, sim_access_fields, &a))
        return false;
    m->access[m->op.access_count++] = a;
    return true;
}

static bool do_extra(struct sim *sim, struct words *w)
{
    struct machine *m = &sim->machine;
    struct spe_extra e = {0};

    if (m->op.extra_count == SIM_EXTRA_MAX)
        return sim_wrong(sim, w->word[0].column, "an operation has at most %d extras",
                         SIM_EXTRA_MAX);
    if (!strcmp(w->word[1].text, "address"))
        e.type = SPE_PACKET_ADDRESS;
    else if (!strcmp(w->word[1].text, "counter"))
        e.type = SPE_PACKET_COUNTER;
    else
        return sim_wrong(sim, w->word[1].column, "an extra is an address or a counter");
    if (!set_fields(sim, w, 2, sim_extra_fields, &e))
        return false;
    m->extra[m->op.extra_count++] = e;
    return true;
}

/* A branch stays at its Exception level and in its Security state, unless `op` says otherwise. */
static void say_where(const struct sim *sim, struct spe_operation *op)
{
    const struct machine *m = &sim->machine;
    uint8_t security = spe_spu_status(sim->spu)->security;

    if (!m->op_target_el && op->kind == SPE_OPERATION_BRANCH)
        op->target_el = m->pe.el;
    if (!m->op_target_security)
        op->target_security = security;
    if (!m->op_spsr_security)
        op->spsr_security = security;
}

/* The operation that has just been sampled, as it stands. */
static bool begin_flight(struct sim *sim, unsigned number)
{
    const struct machine *m = &sim->machine;
    struct flight *f = malloc(sizeof(*f));

    if (!f)
        return sim_wrong(sim, 1, "there is no memory for a sample in flight");
    f->op = m->op;
    f->op.pc += (m->operations - 1 - m->op_start) * m->pc_step;
    say_where(sim, &f->op);
    memcpy(f->access, m->access, sizeof(f->access));
    memcpy(f->extra, m->extra, sizeof(f->extra));
    free(sim->flight[number]);
    sim->flight[number] = f;
    return true;
}

static bool complete(struct sim *sim, unsigned number)
{
    struct flight *f = sim->flight[number];
    int fate;

    f->op.accesses = f->access;
    f->op.extras = f->extra;
    sim->seen.of_sample = false;
    fate = spe_spu_complete(sim->spu, number, &f->op);
    free(f);
    sim->flight[number] = NULL;
    if (fate < 0)
        return sim_wrong(sim, 1, "the operation contradicts itself: sample %u is dropped", number);
    sim->seen.fate = fate;
    if (fate == SPE_FATE_FILTERED || fate == SPE_FATE_NOT_CAPTURED)
        SIM_EFFECT(sim, "lost", sim_text("fate", spe_sample_fate_name((unsigned)fate)));
    return true;
}

/* One operation that the unit has to look at. */
static bool step(struct sim *sim, unsigned population, bool hold)
{
    struct machine *m = &sim->machine;
    int number = spe_spu_step(sim->spu, population);

    m->operations++;
    m->time++;
    if (!sim_step(sim))
        return false;
    if (number <= 0)
        return true;
    if (!begin_flight(sim, (unsigned)number))
        return false;
    SIM_EFFECT(sim, "sample", sim_decimal("number", (uint64_t)number),
               sim_decimal("operation", m->operations));
    return hold || complete(sim, (unsigned)number);
}

static bool run(struct sim *sim, uint64_t left, unsigned population, bool hold)
{
    bool counted = spe_spu_in_population(sim->spu, population);

    while (left) {
        uint64_t budget = counted ? spe_spu_budget(sim->spu) : left;
        uint64_t n = budget < left ? budget : left;

        if (counted && spe_spu_advance(sim->spu, n) < 0)
            return sim_wrong(sim, 1, "the unit refused to advance");
        sim->machine.operations += n;
        sim->machine.time += n;
        left -= n;
        if (left) {
            if (!step(sim, population, hold))
                return false;
            left--;
        }
    }
    return true;
}

static bool do_run(struct sim *sim, struct words *w)
{
    uint64_t count = 1, population = 0;
    bool hold = false;
    const struct field set = {"population", 0, 4, FIELD_SET, sim_populations};

    for (size_t i = 1; i < w->count; i++) {
        struct token *t = &w->word[i];
        const char *key, *value;

        if (i == 1 && sim_number(t->text, false, &count))
            continue;
        if (!strcmp(t->text, "hold"))
            hold = true;
        else if (!sim_split(t, &key, &value) || strcmp(key, "population") != 0 ||
                 !sim_field_parse(&set, value, &population))
            return sim_wrong(sim, t->column, "run takes a number, hold and population=WORDS");
    }
    return run(sim, count, (unsigned)population, hold);
}

static bool do_complete(struct sim *sim, struct words *w)
{
    bool says = w->count > 1 && !strchr(w->word[1].text, '=');
    uint64_t number = 1;

    if (says && !number_word(sim, &w->word[1], "which sample in flight", &number))
        return false;
    if (number > SIM_FLIGHT_MAX || !sim->flight[number])
        return sim_wrong(sim, w->word[says].column,
                         "sample %llu is not in flight: 'run COUNT hold' keeps samples there",
                         (unsigned long long)number);
    return set_fields(sim, w, 1 + says, sim_operation_fields, &sim->flight[number]->op) &&
           complete(sim, (unsigned)number);
}

static bool do_branch(struct sim *sim, struct words *w)
{
    struct spe_taken_branch branch = {.el = sim->machine.pe.el,
                                      .security = spe_spu_status(sim->spu)->security};

    if (!set_fields(sim, w, 1, sim_branch_fields, &branch))
        return false;
    spe_spu_branch(sim->spu, &branch);
    return true;
}

/* ---- Events --------------------------------------------------------------------------------- */

static bool do_psb(struct sim *sim, struct words *w)
{
    (void)w;
    spe_spu_psb_csync(sim->spu, &sim->seen.access);
    tell_access(sim, "psb", NULL);
    return true;
}

static bool do_isb(struct sim *sim, struct words *w)
{
    (void)w;
    spe_spu_context_sync(sim->spu);
    return true;
}

static bool do_abort(struct sim *sim, struct words *w)
{
    struct spe_write_result abort = {.fault = SPE_FAULT_EXTERNAL_ABORT};

    if (!set_fields(sim, w, 1, sim_fault_fields, &abort))
        return false;
    return spe_spu_external_abort(sim->spu, &abort) >= 0 ||
           sim_wrong(sim, w->word[0].column,
                     "such an abort cannot arrive later: see write_abort, walk_abort and "
                     "ext_abort_sync");
}

static bool do_impdef(struct sim *sim, struct words *w)
{
    uint64_t mss = 0, mss2 = 0;
    bool on = !strcmp(w->word[1].text, "on");

    if (on || !strcmp(w->word[1].text, "off"))
        return spe_spu_impdef_enable(sim->spu, on) >= 0 ||
               sim_wrong(sim, w->word[1].column, "option impdef_buffer_event is absent");
    if (strcmp(w->word[1].text, "event") != 0)
        return sim_wrong(sim, w->word[1].column, "impdef takes on, off or event");
    for (size_t i = 2; i < w->count; i++) {
        const char *key, *value;

        if (!split_word(sim, &w->word[i], &key, &value))
            return false;
        if (!sim_number(value, false, !strcmp(key, "mss2") ? &mss2 : &mss) ||
            (strcmp(key, "mss") != 0 && strcmp(key, "mss2") != 0))
            return sim_wrong(sim, w->word[i].column, "an event takes mss=N and mss2=N");
    }
    return spe_spu_impdef_event(sim->spu, (uint16_t)mss, (uint32_t)mss2) >= 0 ||
           sim_wrong(sim, w->word[0].column, "option impdef_buffer_event is absent");
}

static bool do_reset(struct sim *sim, struct words *w)
{
    (void)w;
    sim_drop_flights(sim);
    spe_spu_reset(sim->spu);
    return true;
}

/* ---- Asking --------------------------------------------------------------------------------- */

static bool do_let(struct sim *sim, struct words *w)
{
    return sim_set_variable(sim, &w->word[1], w->word[2].text);
}

static bool compare(uint64_t is, const char *op, uint64_t wanted, bool *holds)
{
    const struct {
        const char *op;
        bool holds;
    } table[] = {
        {"==", is == wanted}, {"!=", is != wanted}, {"<", is < wanted}, {"<=", is <= wanted},
        {">", is > wanted},   {">=", is >= wanted}, {"&", is & wanted},
    };

    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (!strcmp(table[i].op, op)) {
            *holds = table[i].holds;
            return true;
        }
    return false;
}

/* Words (and absent) are equal or not; numbers have an order. */
static bool holds(struct sim *sim, struct words *w, const struct sim_value *is, bool *result)
{
    const char *op = w->word[2].text, *wanted = w->word[3].text;
    bool equality = !strcmp(op, "==") || !strcmp(op, "!=");
    uint64_t number;
    char text[SIM_TOKEN_MAX];

    sim_format(is, text, sizeof(text));
    if (sim_number(wanted, false, &number) && is->kind != SIM_ABSENT) {
        if (!compare(is->number, op, number, result))
            return sim_wrong(sim, w->word[2].column, "'%s' is not == != < <= > >= or &", op);
        return true;
    }
    if (!equality)
        return sim_wrong(sim, w->word[2].column, "words can only be == or !=");
    if (is->kind != SIM_WORD && strcmp(wanted, "absent") != 0 && is->kind != SIM_ABSENT)
        return sim_wrong(sim, w->word[3].column, "'%s' is not a number", wanted);
    *result = !strcasecmp(text, wanted) == !strcmp(op, "==");
    return true;
}

static bool do_expect(struct sim *sim, struct words *w)
{
    struct sim_value is;
    char text[SIM_TOKEN_MAX];
    bool good = false, quiet = sim->quiet;

    if (!sim_ask(sim, &w->word[1], &is) || !holds(sim, w, &is, &good))
        return false;
    sim->expected++;
    if (good)
        return true;
    sim->failed++;
    sim->quiet = false;
    sim_format(&is, text, sizeof(text));
    SIM_EFFECT(sim, "expect_failed", sim_text("what", w->word[1].text),
               sim_text("operator", w->word[2].text), sim_text("wanted", w->word[3].text),
               sim_text("is", text));
    sim->quiet = quiet;
    return true;
}

/* A whole register is shown with those of its fields that are not zero. */
static void show_pe_register(struct sim *sim, const char *name, const struct sim_value *value)
{
    const char *reg = name + strlen("pe.");
    struct sim_value v[SIM_EFFECT_VALUES];
    size_t n = 0;

    v[n++] = *value;
    for (const struct bit_field *b = sim_pe_bits; b->reg && n < SIM_EFFECT_VALUES; b++) {
        uint64_t bits = sim_bits(value->number, b->high, b->low);

        if (bits && !strcasecmp(b->reg, reg))
            v[n++] = sim_hex(b->name, bits);
    }
    sim_effect(sim, "show", v, n);
}

static void show_register(struct sim *sim, unsigned reg, uint64_t value)
{
    struct spe_register_field f;
    struct sim_value v[SIM_EFFECT_VALUES];
    char names[SIM_EFFECT_VALUES][32];
    size_t n = 0;

    v[n++] = sim_hex(spe_register_name(reg), value);
    for (size_t i = 0; spe_register_field_at(sim->spu, reg, i, &f) && n < SIM_EFFECT_VALUES; i++) {
        uint64_t bits = sim_bits(value, f.high, f.low);

        if (!bits || f.high - f.low == 63)
            continue;
        snprintf(names[n], sizeof(names[n]), "%s", f.name);
        v[n] = sim_hex(names[n], bits);
        n++;
    }
    sim_effect(sim, "show", v, n);
}

static bool show_one(struct sim *sim, const struct token *what)
{
    int reg = spe_register_by_name(what->text);
    struct sim_value value;

    if (!sim_ask(sim, what, &value))
        return false;
    value.key = what->text;
    if (reg >= 0 && reg < SPE_REG_COUNT)
        show_register(sim, (unsigned)reg, value.number);
    else if (!strncmp(what->text, "pe.", 3))
        show_pe_register(sim, what->text, &value);
    else
        sim_effect(sim, "show", &value, 1);
    return true;
}

/* "status" is all of its members, a line each. */
static bool show_group(struct sim *sim, const struct token *group, const struct field *table)
{
    for (; table->name; table++) {
        struct token member = {.column = group->column};

        snprintf(member.text, sizeof(member.text), "%.20s.%s", group->text, table->name);
        if (!show_one(sim, &member))
            return false;
    }
    return true;
}

static bool do_show(struct sim *sim, struct words *w)
{
    for (size_t i = 1; i < w->count; i++) {
        const struct field *table = sim_group(w->word[i].text);

        if (table ? !show_group(sim, &w->word[i], table) : !show_one(sim, &w->word[i]))
            return false;
    }
    return true;
}

/* ---- The table ------------------------------------------------------------------------------ */

struct verb {
    const char *name;
    bool (*run)(struct sim *sim, struct words *w);
    uint16_t least, most; /* arguments */
    bool unit;            /* there must be one */
    const char *usage;
};

#define MANY SIM_WORDS_MAX

/* The order is that of docs/sim.md. */
static const struct verb verbs[] = {
    {"preset", do_preset, 1, 1, false, "preset NAME"},
    {"features", do_features, 1, 1, false, "features LIST"},
    {"option", do_option, 2, 2, false, "option NAME VALUE"},
    {"pe", do_pe, 1, MANY, false, "pe NAME=VALUE..."},
    {"reg", do_reg, 1, MANY, true, "reg NAME[.FIELD]=VALUE..."},
    {"buffer", do_buffer, 2, 2, true, "buffer ADDRESS SIZE"},
    {"msr", do_msr, 2, MANY, true, "msr NAME VALUE|FIELD=VALUE... [rt=N]"},
    {"mrs", do_mrs, 1, 2, true, "mrs NAME [rt=N]"},
    {"memory", do_memory, 3, MANY, false, "memory ADDRESS SIZE ok|fault=WORD..."},
    {"time", do_time, 1, 1, false, "time COUNT"},
    {"random", do_random, 1, MANY, false, "random BYTE..."},
    {"op", do_op, 1, MANY, false, "op KIND [NAME=VALUE]..."},
    {"access", do_access, 0, MANY, false, "access [NAME=VALUE]..."},
    {"extra", do_extra, 2, 3, false, "extra address|counter index=N value=N"},
    {"run", do_run, 0, 3, true, "run [COUNT] [hold] [population=WORDS]"},
    {"complete", do_complete, 0, MANY, true, "complete [NUMBER] [NAME=VALUE]..."},
    {"branch", do_branch, 0, MANY, true, "branch [NAME=VALUE]..."},
    {"psb", do_psb, 0, 0, true, "psb"},
    {"isb", do_isb, 0, 0, true, "isb"},
    {"abort", do_abort, 0, MANY, true, "abort [NAME=VALUE]..."},
    {"impdef", do_impdef, 1, 3, true, "impdef on|off|event [mss=N] [mss2=N]"},
    {"reset", do_reset, 0, 0, true, "reset"},
    {"let", do_let, 2, 2, false, "let NAME VALUE"},
    {"expect", do_expect, 3, 3, true, "expect QUANTITY OPERATOR VALUE"},
    {"show", do_show, 1, MANY, true, "show QUANTITY..."},
};

const char *sim_statement_usage(size_t i)
{
    if (i < COUNT_OF(verbs))
        return verbs[i].usage;
    return i == COUNT_OF(verbs) ? "enumerate ... vary NAME VALUE... column [NAME] QUANTITY ... end"
                                : NULL;
}

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(verbs); i++)
        if (!strcmp(verbs[i].name, name))
            return &verbs[i];
    return NULL;
}

bool sim_statement(struct sim *sim, struct words *w, struct cursor *cursor)
{
    const struct verb *v = find_verb(w->word[0].text);
    size_t arguments = w->count - 1;

    if (!sim_step(sim))
        return false;
    if (!strcmp(w->word[0].text, "enumerate"))
        return sim_enumerate(sim, w, cursor);
    if (!v)
        return sim_wrong(sim, w->word[0].column,
                         "there is no statement '%s'; 'spe sim --list statements' prints them",
                         w->word[0].text);
    if (arguments < v->least || arguments > v->most) {
        size_t at = arguments < v->least ? w->count - 1 : v->most + 1u;

        return sim_wrong(sim, w->word[at].column, "it is written: %s", v->usage);
    }
    if (v->unit && !sim_need_unit(sim))
        return false;
    if (!v->run(sim, w))
        return false;
    sim_tell_pmu(sim);
    return true;
}
