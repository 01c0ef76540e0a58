/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The fields that an expression can name, and where in a row they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter_internal.h"

/* clang-format off */
static const struct field fields[] = {
    {{"time", "number", "nanoseconds of the recording's clock"}, F_TIME, FIELD_NUMBER, 0},
    {{"timestamp", "number", "ticks, as recorded"}, F_TIMESTAMP, FIELD_NUMBER, 0},
    {{"cpu", "number", "CPU"}, F_CPU, FIELD_NUMBER, 0},
    {{"pid", "number", "process"}, F_PID, FIELD_NUMBER, 0},
    {{"tid", "number", "thread"}, F_TID, FIELD_NUMBER, 0},
    {{"comm", "text", "name of the thread"}, F_COMM, FIELD_TEXT, 0},
    {{"el", "number", "Exception level, 0 to 3"}, F_EL, FIELD_NUMBER, 0},
    {{"user", "flag", "at EL0"}, F_USER, FIELD_FLAG, 0},
    {{"kernel", "flag", "above EL0"}, F_KERNEL, FIELD_FLAG, 0},
    {{"pc", "number", "address of the operation"}, F_PC, FIELD_NUMBER, 0},
    {{"symbol", "text", "function of the pc"}, F_SYMBOL, FIELD_TEXT, SPE_WANT_SYMBOL},
    {{"dso", "text", "file of the pc, without directories"}, F_DSO, FIELD_TEXT, 0},
    {{"path", "text", "file of the pc"}, F_PATH, FIELD_TEXT, 0},
    {{"file", "text", "source file of the pc"}, F_FILE, FIELD_TEXT, SPE_WANT_LINE},
    {{"line", "number", "source line of the pc"}, F_LINE, FIELD_NUMBER, SPE_WANT_LINE},
    {{"target", "number", "target of a branch"}, F_TARGET, FIELD_NUMBER, 0},
    {{"previous_target", "number", "target of the branch before"}, F_PREVIOUS_TARGET,
     FIELD_NUMBER, 0},
    {{"va", "number", "virtual data address"}, F_VA, FIELD_NUMBER, 0},
    {{"pa", "number", "physical data address"}, F_PA, FIELD_NUMBER, 0},
    {{"tag", "number", "top byte of the va"}, F_TAG, FIELD_NUMBER, 0},
    {{"load", "flag", "reads memory"}, F_LOAD, FIELD_FLAG, 0},
    {{"store", "flag", "writes memory"}, F_STORE, FIELD_FLAG, 0},
    {{"memory", "flag", "reads or writes memory"}, F_MEMORY, FIELD_FLAG, 0},
    {{"branch", "flag", "branch"}, F_BRANCH, FIELD_FLAG, 0},
    {{"other", "flag", "neither memory nor branch"}, F_OTHER, FIELD_FLAG, 0},
    {{"conditional", "flag", "conditional"}, F_CONDITIONAL, FIELD_FLAG, 0},
    {{"indirect", "flag", "indirect branch"}, F_INDIRECT, FIELD_FLAG, 0},
    {{"call", "flag", "branch with link"}, F_CALL, FIELD_FLAG, 0},
    {{"return", "flag", "procedure return"}, F_RETURN, FIELD_FLAG, 0},
    {{"atomic", "flag", "atomic memory access"}, F_ATOMIC, FIELD_FLAG, 0},
    {{"exclusive", "flag", "exclusive memory access"}, F_EXCLUSIVE, FIELD_FLAG, 0},
    {{"acquire_release", "flag", "acquire or release"}, F_ACQUIRE_RELEASE, FIELD_FLAG, 0},
    {{"sve", "flag", "SVE or SME operation"}, F_SVE, FIELD_FLAG, 0},
    {{"predicated", "flag", "with a predicate"}, F_PREDICATED, FIELD_FLAG, 0},
    {{"gather", "flag", "gather load or scatter store"}, F_GATHER, FIELD_FLAG, 0},
    {{"kind", "text", "kind of operation: gp, simd_fp, branch ..."}, F_KIND, FIELD_TEXT, 0},
    {{"class", "number", "CLASS of the operation"}, F_CLASS, FIELD_NUMBER, 0},
    {{"op", "number", "SUBCLASS of the operation"}, F_OP, FIELD_NUMBER, 0},
#define COUNTER(name, NAME, sentence) {{#name, "number", sentence}, F_##NAME, FIELD_NUMBER, 0},
#include "format/counters.def"
    {{"execution", "number", "total minus issue latency"}, F_EXECUTION, FIELD_NUMBER, 0},
    {{"source", "number", "data source, as recorded"}, F_SOURCE, FIELD_NUMBER, 0},
    {{"level", "text", "data source by the CPU's table: l1, l2, dram ..."}, F_LEVEL, FIELD_TEXT, 0},
    {{"events", "number", "all events, bit n is event n"}, F_EVENTS, FIELD_NUMBER, 0},
    {{"events.NAME", "flag", "an event: events.retired, events.l1d_miss, events.12"}, F_EVENT,
     FIELD_FLAG, 0},
    {{"context1", "number", "CONTEXTIDR_EL1"}, F_CONTEXT1, FIELD_NUMBER, 0},
    {{"context2", "number", "CONTEXTIDR_EL2"}, F_CONTEXT2, FIELD_NUMBER, 0},
    {{"mismatch", "flag", "CONTEXT names another thread than other records"}, F_MISMATCH,
     FIELD_FLAG, 0},
    {{"queue", "number", "number of the SPE buffer"}, F_QUEUE, FIELD_NUMBER, 0},
    {{"offset", "number", "of the record in it"}, F_OFFSET, FIELD_NUMBER, 0},
};
/* clang-format on */

/* The same under the names of `spe script -F`, which are perf's, and of `spe report`. */
static const struct {
    const char *name, *field;
} aliases[] = {
    {"addr", "va"},      {"function", "symbol"}, {"ip", "pc"},        {"latency", "total"},
    {"phys_addr", "pa"}, {"sym", "symbol"},      {"weight", "total"},
};

/* Names of `spe script -F` that no one field has. */
static const struct {
    const char *name, *instead;
} others[] = {
    {"srcline", "file ~ \"name.c\" and line == 12"},
    {"data_src", "level, load, store"},
    {"event", "load, store, memory, branch, other"},
    {"flags", "call, return, conditional, events.mispredicted"},
    {"symoff", "symbol or pc"},
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

const struct spe_filter_field *spe_filter_field_at(size_t i)
{
    return i < FIELDS ? &fields[i].shown : NULL;
}

const struct field *filter_field(unsigned id)
{
    for (size_t i = 0; i < FIELDS; i++) {
        if (fields[i].id == id)
            return &fields[i];
    }
    return NULL;
}

static const struct field *find_event(const char *name, uint8_t *event)
{
    char *end;
    unsigned long number = strtoul(name, &end, 10);

    for (unsigned i = 0; i < 64; i++) {
        const char *other = spe_event_name(i);

        if ((other && !strcmp(other, name)) || (end != name && !*end && number == i)) {
            *event = (uint8_t)i;
            return filter_field(F_EVENT);
        }
    }
    return NULL;
}

const struct field *filter_find_field(const char *name, uint8_t *event)
{
    if (!strncmp(name, "events.", 7))
        return find_event(name + 7, event);
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
        if (!strcmp(aliases[i].name, name))
            return filter_find_field(aliases[i].field, event);
    }
    for (size_t i = 0; i < FIELDS; i++) {
        if (!strcmp(fields[i].shown.name, name))
            return &fields[i];
    }
    return NULL;
}

const char *filter_instead(const char *name)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (!strcmp(others[i].name, name))
            return others[i].instead;
    }
    return NULL;
}

void filter_list_fields(char *text, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < FIELDS && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", fields[i].shown.name);
}

/* ---- Operations ----------------------------------------------------------------------------- */

static uint32_t flag(bool set, unsigned field)
{
    return (uint32_t)set << (field - F_LOAD);
}

static uint32_t op_flags(const struct spe_op *op)
{
    bool memory = op->class_ == SPE_CLASS_LDST, branch = op->class_ == SPE_CLASS_BRANCH;
    bool sve = op->kind == SPE_OP_SVE || op->kind == SPE_OP_SVE_LDST || op->kind == SPE_OP_SME;

    return flag(memory && !op->store, F_LOAD) | flag(memory && op->store, F_STORE) |
           flag(memory, F_MEMORY) | flag(branch, F_BRANCH) |
           flag(op->class_ == SPE_CLASS_OTHER, F_OTHER) | flag(op->cond, F_CONDITIONAL) |
           flag(branch && op->ind, F_INDIRECT) | flag(branch && op->cr == SPE_CR_LINK, F_CALL) |
           flag(branch && op->cr == SPE_CR_RETURN, F_RETURN) | flag(op->at, F_ATOMIC) |
           flag(op->excl, F_EXCLUSIVE) | flag(op->ar, F_ACQUIRE_RELEASE) | flag(sve, F_SVE) |
           flag(op->pred, F_PREDICATED) | flag(op->sg, F_GATHER);
}

void filter_op_tables(struct spe_filter *f)
{
    for (unsigned i = 0; i < OP_COUNT; i++) {
        struct spe_op op = {0};

        spe_op_decode(i >> 8, (uint8_t)i, &op);
        f->op_flags[i] = op_flags(&op);
        f->op_kind[i] = op.kind;
    }
}

/* ---- Numbers -------------------------------------------------------------------------------- */

#define LOAD(column, condition)                                                                    \
    do {                                                                                           \
        for (size_t i = 0; i < count; i++) {                                                       \
            size_t row = base + i;                                                                 \
            out[i] = (uint64_t)(column);                                                           \
            present |= (uint64_t) !!(condition) << i;                                              \
        }                                                                                          \
    } while (0)

static uint64_t load_other(const struct spe_profile *p, const struct spe_rows *r, unsigned field,
                           size_t base, size_t count, uint64_t *out)
{
    uint64_t present = 0;

    switch (field) {
    case F_TIME:
        LOAD(r->time_ns[row], p->info.timed);
        break;
    case F_TIMESTAMP:
        LOAD(r->timestamp[row], r->has[row] & SPE_HAS_TIMESTAMP);
        break;
    case F_CPU:
        LOAD(r->cpu[row], r->cpu[row] != SPE_NO_CPU);
        break;
    case F_PID:
        LOAD(r->pid[row], r->pid[row] != SPE_NO_TASK);
        break;
    case F_TID:
        LOAD(r->tid[row], r->tid[row] != SPE_NO_TASK);
        break;
    case F_CONTEXT1:
        LOAD(r->context1[row], r->has[row] & SPE_HAS_CONTEXT1);
        break;
    case F_CONTEXT2:
        LOAD(r->context2[row], r->has[row] & SPE_HAS_CONTEXT2);
        break;
    case F_LINE:
        for (size_t i = 0; i < count; i++) {
            struct spe_profile_line line;

            spe_profile_line(p, r->line[base + i], &line);
            out[i] = line.line;
            present |= (uint64_t)(line.line > 0) << i;
        }
        break;
    case F_QUEUE:
        LOAD(r->queues ? r->queues[row] : r->queue, true);
        break;
    case F_OFFSET:
        LOAD(r->offset[row], true);
        break;
    default:
        break;
    }
    return present;
}

#define HAS_ADDRESS(index) (r->addresses[row] & 1u << SPE_ADDRESS_##index)
#define HAS_COUNTER(index) (r->counters[row] & 1u << SPE_COUNTER_##index)

uint64_t filter_load(const struct spe_filter *f, const struct spe_profile *p,
                     const struct spe_rows *r, unsigned field, size_t base, size_t count,
                     uint64_t *out)
{
    uint64_t present = 0;

    (void)f;
    switch (field) {
    case F_EL:
        LOAD(r->el[row], r->el[row] != SPE_NO_EL);
        break;
    case F_PC:
        LOAD(r->pc[row], HAS_ADDRESS(PC));
        break;
    case F_TARGET:
        LOAD(r->target[row], HAS_ADDRESS(TARGET));
        break;
    case F_VA:
        LOAD(r->va[row], HAS_ADDRESS(VA));
        break;
    case F_TAG:
        LOAD(r->tag[row], HAS_ADDRESS(VA));
        break;
    case F_PA:
        LOAD(r->pa[row], HAS_ADDRESS(PA));
        break;
    case F_PREVIOUS_TARGET:
        LOAD(r->previous_target[row], HAS_ADDRESS(PREVIOUS_TARGET));
        break;
    case F_EVENTS:
        LOAD(r->events[row], r->has[row] & SPE_HAS_EVENTS);
        break;
    case F_OP:
        LOAD(r->op[row] & 0xff, r->has[row] & SPE_HAS_OP);
        break;
    case F_CLASS:
        LOAD(r->op[row] >> 8, r->has[row] & SPE_HAS_OP);
        break;
#define COUNTER(name, NAME, sentence)                                                              \
    case F_##NAME:                                                                                 \
        LOAD(r->name[row], HAS_COUNTER(NAME));                                                     \
        break;
#include "format/counters.def"
    case F_EXECUTION:
        LOAD(r->total[row] > r->issue[row] ? r->total[row] - r->issue[row] : 0,
             HAS_COUNTER(TOTAL) && HAS_COUNTER(ISSUE));
        break;
    case F_SOURCE:
        LOAD(r->source[row], r->has[row] & SPE_HAS_SOURCE);
        break;
    default:
        return load_other(p, r, field, base, count, out);
    }
    return present;
}

uint64_t filter_flags(const struct spe_filter *f, const struct spe_rows *r, const struct test *test,
                      size_t base, size_t count)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < count; i++) {
        size_t row = base + i;
        uint64_t set;

        switch (test->field) {
        case F_KERNEL:
            set = r->el[row] != 0 && r->el[row] != SPE_NO_EL;
            break;
        case F_USER:
            set = r->el[row] == 0;
            break;
        case F_MISMATCH:
            set = !!(r->flags[row] & SPE_ROW_MISMATCH);
            break;
        case F_EVENT:
            set = r->events[row] >> test->event & 1;
            break;
        default:
            set = r->has[row] & SPE_HAS_OP
                      ? f->op_flags[r->op[row] % OP_COUNT] >> (test->field - F_LOAD) & 1
                      : 0;
            break;
        }
        bits |= set << i;
    }
    return bits;
}

/* ---- Text ----------------------------------------------------------------------------------- */

uint64_t filter_text_id(const struct spe_filter *f, const struct spe_profile *p,
                        const struct spe_rows *r, unsigned field, size_t row)
{
    struct spe_profile_line line;

    switch (field) {
    case F_SYMBOL:
        return r->symbol[row];
    case F_COMM:
        return r->comm[row] == SPE_NO_ID ? UINT64_MAX : r->comm[row];
    case F_DSO:
    case F_PATH:
        return r->map[row] == SPE_NO_ID ? UINT64_MAX : p->maps.at[r->map[row]].dso;
    case F_FILE:
        return spe_profile_line(p, r->line[row], &line) == SPE_OK ? line.file : UINT64_MAX;
    case F_LEVEL:
        return r->level[row] == SPE_LEVEL_UNKNOWN ? UINT64_MAX : r->level[row];
    default:
        return r->has[row] & SPE_HAS_OP ? f->op_kind[r->op[row] % OP_COUNT] : UINT64_MAX;
    }
}

const char *filter_text(const struct spe_profile *p, unsigned field, uint64_t id)
{
    struct spe_profile_symbol symbol;

    switch (field) {
    case F_SYMBOL:
        spe_profile_symbol(p, id, &symbol);
        return symbol.name;
    case F_DSO:
        return strings_at(&p->strings, p->dsos.list.at[id]->name);
    case F_PATH:
        return strings_at(&p->strings, p->dsos.list.at[id]->path);
    case F_LEVEL:
        return spe_source_level_name((unsigned)id);
    case F_KIND:
        return spe_op_kind_name((unsigned)id);
    default:
        return strings_at(&p->strings, (uint32_t)id);
    }
}
