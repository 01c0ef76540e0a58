/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/script.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/count_of.h"
#include "render/datasrc.h"
#include "render/safe.h"
#include "render/script_names.h"
#include "render/table.h"

#define COMMS 256    /* slots for names of threads */
#define SOURCES 256  /* slots for texts of data sources */
#define TASKS 256    /* slots for numbers of tasks */
#define TASK_TEXT 48 /* two task numbers and a CPU's, each of up to ten digits */
#define COMM_MAX 62  /* 15 bytes escaped */
#define COMM_TEXT 80 /* with padding */
#define SOURCE_TEXT 144
#define LINE 2048 /* all fields of a line but the names, with room to spare */

struct comm_text {
    uint32_t id, length; /* length 0: the slot is free */
    char text[COMM_TEXT];
};

/* Process, thread and CPU. */
struct task_text {
    uint32_t pid, tid, cpu;
    uint32_t length; /* 0: the slot is free */
    char text[TASK_TEXT];
};

struct source_text {
    uint64_t value;
    uint32_t length;
    char text[SOURCE_TEXT];
};

struct script {
    struct spe_profile *profile;
    uint32_t fields;
    bool ns;
    uint64_t period;
    struct datasrc datasrc;
    struct place_texts places;
    struct comm_text comms[COMMS];
    struct task_text tasks[TASKS];
    struct source_text sources[SOURCES];
};

static const char *const field_names[SCRIPT_FIELDS] = {
    [SCRIPT_COMM] = "comm",
    [SCRIPT_PID] = "pid",
    [SCRIPT_TID] = "tid",
    [SCRIPT_CPU] = "cpu",
    [SCRIPT_TIME] = "time",
    [SCRIPT_PERIOD] = "period",
    [SCRIPT_EVENT] = "event",
    [SCRIPT_FLAGS] = "flags",
    [SCRIPT_ADDR] = "addr",
    [SCRIPT_DATA_SRC] = "data_src",
    [SCRIPT_WEIGHT] = "weight",
    [SCRIPT_IP] = "ip",
    [SCRIPT_SYM] = "sym",
    [SCRIPT_SYMOFF] = "symoff",
    [SCRIPT_DSO] = "dso",
    [SCRIPT_PHYS_ADDR] = "phys_addr",
    [SCRIPT_SRCLINE] = "srcline",
    [SCRIPT_OP] = "op",
    [SCRIPT_EVENTS] = "events",
    [SCRIPT_ISSUE] = "issue",
    [SCRIPT_TRANSLATION] = "translation",
    [SCRIPT_SOURCE] = "source",
    [SCRIPT_LEVEL] = "level",
    [SCRIPT_TARGET] = "target",
    [SCRIPT_PREVIOUS] = "previous_target",
    [SCRIPT_EL] = "el",
    [SCRIPT_TIMESTAMP] = "timestamp",
    [SCRIPT_OFFSET] = "offset",
};

const char *script_field_name(unsigned field)
{
    return field < SCRIPT_FIELDS ? field_names[field] : NULL;
}

unsigned script_omit(uint32_t fields)
{
    static const struct {
        uint32_t fields;
        unsigned omit;
    } needs[] = {
        {SCRIPT_BIT(OFFSET), SPE_OMIT_OFFSET},
        {SCRIPT_BIT(TIMESTAMP), SPE_OMIT_TIMESTAMP},
        {SCRIPT_BIT(ADDR) | SCRIPT_BIT(TARGET), SPE_OMIT_TARGET},
        {SCRIPT_BIT(ADDR), SPE_OMIT_VA},
        {SCRIPT_BIT(PHYS_ADDR), SPE_OMIT_PA},
        {SCRIPT_BIT(PREVIOUS), SPE_OMIT_PREVIOUS_TARGET},
        {SCRIPT_BIT(ISSUE) | SCRIPT_BIT(TRANSLATION), SPE_OMIT_LATENCIES},
        {SCRIPT_BIT(DATA_SRC) | SCRIPT_BIT(SOURCE), SPE_OMIT_SOURCE},
        {SCRIPT_BIT(COMM), SPE_OMIT_COMM},
    };
    unsigned omit = SPE_OMIT_CONTEXTS;
    size_t i;

    for (i = 0; i < COUNT_OF(needs); i++)
        omit |= fields & needs[i].fields ? 0 : needs[i].omit;
    return omit;
}

struct script *script_create(struct spe_profile *profile, uint32_t fields, bool ns)
{
    struct script *s = calloc(1, sizeof(*s));
    unsigned what = 0;

    if (!s)
        return NULL;
    what |= fields & SCRIPT_BIT(SYM) ? NAMES_SYM : 0;
    what |= fields & SCRIPT_BIT(SYMOFF) ? NAMES_SYMOFF : 0;
    what |= fields & SCRIPT_BIT(DSO) ? NAMES_DSO : 0;
    what |= fields & SCRIPT_BIT(SRCLINE) ? NAMES_LINE : 0;
    s->profile = profile;
    s->fields = fields;
    s->ns = ns;
    s->period = spe_profile_info(profile)->period;
    datasrc_init(&s->datasrc, spe_profile_info(profile)->cpu);
    if (place_texts_init(&s->places, profile, what) < 0) {
        free(s);
        return NULL;
    }
    return s;
}

void script_destroy(struct script *s)
{
    if (!s)
        return;
    place_texts_free(&s->places);
    free(s);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* To the right in 16 columns; a 64-bit number has no more digits than that. */
static char *put_hex16(char *p, uint64_t v)
{
    unsigned digits = v ? (unsigned)(67 - __builtin_clzll(v)) / 4 : 1;

    memset(p, ' ', 16);
    put_hex(p + 16 - digits, v);
    return p + 16;
}

static unsigned decimal_digits(uint64_t v)
{
    unsigned n = 1;

    while (v >= 10) {
        v /= 10;
        n++;
    }
    return n;
}

/* To the right in `width` columns, at most 16; in more if it needs them. */
static char *put_decimal_right(char *p, uint64_t v, unsigned width)
{
    char *at = p + width;

    if (decimal_digits(v) > width)
        return put_decimal(p, v);
    memset(p, ' ', 16);
    for (; v >= 100; v /= 100) {
        at -= 2;
        memcpy(at, out_decimal_pairs + 2 * (v % 100), 2);
    }
    if (v >= 10)
        memcpy(at - 2, out_decimal_pairs + 2 * v, 2);
    else
        at[-1] = (char)('0' + v);
    return p + width;
}

/* -1 is what perf prints for a task that is not known. */
static char *put_task(char *p, uint32_t id, unsigned width)
{
    if (id != SPE_NO_TASK)
        return put_decimal_right(p, id, width);
    while (width-- > 2)
        *p++ = ' ';
    return PUT_LITERAL(p, "-1");
}

/* Exactly so many digits. */
static char *put_fraction(char *p, uint32_t v, unsigned digits)
{
    unsigned at;

    for (at = digits; at > 1; at -= 2) {
        memcpy(p + at - 2, out_decimal_pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (at)
        *p = (char)('0' + v % 10);
    return p + digits;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static char *put_comm(struct script *s, char *p, uint32_t id)
{
    struct comm_text *slot = &s->comms[id % COMMS];

    if (!slot->length || slot->id != id) {
        const char *name = spe_profile_string(s->profile, id);
        char safe[COMM_MAX + SAFE_MAX + 1], *end = safe, *next = safe;
        unsigned width;

        while (*name && next - safe <= COMM_MAX) {
            end = next;
            next = safe_next(end, &name);
        }
        end = next - safe <= COMM_MAX ? next : end;
        *end = '\0';
        slot->length = 0;
        for (width = text_width(safe); width < 16; width++)
            slot->text[slot->length++] = ' ';
        slot->length += (uint32_t)sprintf(slot->text + slot->length, "%s ", safe);
        slot->id = id;
    }
    memcpy(p, slot->text, COMM_TEXT);
    return p + slot->length;
}

static char *put_pid_tid(const struct script *s, char *p, const struct spe_rows *rows, size_t i)
{
    bool pid = s->fields & SCRIPT_BIT(PID), tid = s->fields & SCRIPT_BIT(TID);
    char *start;

    if (pid)
        p = put_task(p, rows->pid[i], 5);
    if (pid && tid) {
        *p++ = '/';
        start = p;
        p = put_task(p, rows->tid[i], 0);
        while (p < start + 5)
            *p++ = ' ';
    } else if (tid) {
        p = put_task(p, rows->tid[i], 5);
    }
    if (pid || tid)
        *p++ = ' ';
    return p;
}

static char *put_cpu(char *p, uint32_t cpu)
{
    if (cpu == SPE_NO_CPU)
        return PUT_LITERAL(p, "[-01] "); /* as perf does */
    *p++ = '[';
    if (cpu < 1000)
        p = put_fraction(p, cpu, 3);
    else
        p = put_decimal(p, cpu);
    return PUT_LITERAL(p, "] ");
}

/* The same few tasks run all the time. */
static char *put_tasks(struct script *s, char *p, const struct spe_rows *rows, size_t i)
{
    uint32_t pid = rows->pid[i], tid = rows->tid[i], cpu = rows->cpu[i];
    struct task_text *slot = &s->tasks[(tid ^ cpu << 5) % TASKS];

    if (!slot->length || slot->pid != pid || slot->tid != tid || slot->cpu != cpu) {
        char *end = put_pid_tid(s, slot->text, rows, i);

        if (s->fields & SCRIPT_BIT(CPU))
            end = put_cpu(end, cpu);
        slot->length = (uint32_t)(end - slot->text);
        slot->pid = pid;
        slot->tid = tid;
        slot->cpu = cpu;
    }
    memcpy(p, slot->text, TASK_TEXT);
    return p + slot->length;
}

static char *put_time(const struct script *s, char *p, uint64_t ns)
{
    uint64_t seconds = ns / 1000000000;
    uint32_t rest = (uint32_t)(ns % 1000000000);

    p = put_decimal_right(p, seconds, 5);
    *p++ = '.';
    p = s->ns ? put_fraction(p, rest, 9) : put_fraction(p, rest / 1000, 6);
    return PUT_LITERAL(p, ": ");
}

const char *script_event(uint16_t op, uint8_t has)
{
    if (!(has & SPE_HAS_OP))
        return "instructions";
    return op >> 8 == SPE_CLASS_LDST     ? "memory"
           : op >> 8 == SPE_CLASS_BRANCH ? "branch"
                                         : "instructions";
}

uint64_t script_address(const struct spe_rows *rows, size_t i)
{
    if (rows->op[i] >> 8 == SPE_CLASS_LDST)
        return rows->va[i];
    return rows->op[i] >> 8 == SPE_CLASS_BRANCH ? rows->target[i] : 0;
}

/* script_event, to the right in 12 columns. */
static char *put_event(char *p, uint16_t op, uint8_t has)
{
    static const char names[4][16] = {
        "instructions: ", "      memory: ", "      branch: ", "instructions: "};
    _Static_assert(SPE_CLASS_LDST == 1 && SPE_CLASS_BRANCH == 2, "indices of the names");

    memcpy(p, names[has & SPE_HAS_OP ? op >> 8 & 3 : 0], 16);
    return p + 14;
}

/* Branches as perf names them: jcc/miss,not_taken/ */
static char *put_flags(char *p, const struct spe_rows *rows, size_t i)
{
    uint64_t events = rows->events[i];
    bool miss = events & SPE_EVENT_BIT(MISPREDICTED), not_taken = events & SPE_EVENT_BIT(NOT_TAKEN);
    char *start = p + 2;
    struct spe_op op;

    memset(p, ' ', 26);
    if (rows->op[i] >> 8 != SPE_CLASS_BRANCH)
        return p + 24;
    spe_op_decode(SPE_CLASS_BRANCH, (uint8_t)rows->op[i], &op);
    p = start;
    if (op.cr == SPE_CR_LINK)
        p = PUT_LITERAL(p, "call");
    else if (op.cr == SPE_CR_RETURN)
        p = PUT_LITERAL(p, "return");
    else if (op.cond)
        p = PUT_LITERAL(p, "jcc");
    else
        p = PUT_LITERAL(p, "jmp");
    if (miss || not_taken)
        p = put_bytes(p,
                      miss && not_taken ? "/miss,not_taken/"
                      : miss            ? "/miss/"
                                        : "/not_taken/",
                      miss && not_taken ? 16
                      : miss            ? 6
                                        : 11);
    return p > start + 21 ? p + 1 : start + 22;
}

static char *put_data_src(struct script *s, char *p, const struct spe_rows *rows, size_t i)
{
    uint64_t value = datasrc_of(&s->datasrc, rows->op[i], rows->level[i],
                                rows->has[i] & SPE_HAS_SOURCE, rows->source[i], rows->events[i]);
    uint64_t hash = value * UINT64_C(0x9e3779b97f4a7c15) >> 56;
    struct source_text *slot = &s->sources[hash % SOURCES];

    if (!slot->length || slot->value != value) {
        char *end = put_hex16(slot->text, value);

        *end++ = ' ';
        slot->length = 17 + (uint32_t)datasrc_text(value, end, SOURCE_TEXT - 18);
        slot->value = value;
    }
    memcpy(p, slot->text, SOURCE_TEXT);
    return p + slot->length;
}

static char *put_key(char *p, unsigned field)
{
    size_t length = strlen(field_names[field]);

    *p++ = ' ';
    memcpy(p, field_names[field], length);
    p[length] = '=';
    return p + length + 1;
}

/* A number that the record has, else "-". */
static char *put_value(char *p, unsigned field, bool there, uint64_t value, bool hex)
{
    p = put_key(p, field);
    if (!there) {
        *p++ = '-';
        return p;
    }
    if (!hex)
        return put_decimal(p, value);
    p = PUT_LITERAL(p, "0x");
    return put_hex(p, value);
}

static char *put_word(char *p, unsigned field, const char *word)
{
    return stpcpy(put_key(p, field), word);
}

static char *put_own(const struct script *s, char *p, const struct spe_rows *r, size_t i)
{
    uint32_t fields = s->fields;
    struct spe_op op;

    if (fields & SCRIPT_BIT(OP)) {
        spe_op_decode(r->op[i] >> 8, (uint8_t)r->op[i], &op);
        p = put_word(p, SCRIPT_OP, r->has[i] & SPE_HAS_OP ? spe_op_kind_name(op.kind) : "-");
        if (op.class_ == SPE_CLASS_LDST)
            p = op.store ? PUT_LITERAL(p, ",store") : PUT_LITERAL(p, ",load");
    }
    if (fields & SCRIPT_BIT(EVENTS))
        p = put_value(p, SCRIPT_EVENTS, r->has[i] & SPE_HAS_EVENTS, r->events[i], true);
    if (fields & SCRIPT_BIT(ISSUE))
        p = put_value(p, SCRIPT_ISSUE, r->counters[i] >> SPE_COUNTER_ISSUE & 1, r->issue[i], false);
    if (fields & SCRIPT_BIT(TRANSLATION))
        p = put_value(p, SCRIPT_TRANSLATION, r->counters[i] >> SPE_COUNTER_TRANSLATION & 1,
                      r->translation[i], false);
    if (fields & SCRIPT_BIT(SOURCE))
        p = put_value(p, SCRIPT_SOURCE, r->has[i] & SPE_HAS_SOURCE, r->source[i], true);
    if (fields & SCRIPT_BIT(LEVEL))
        p = put_word(p, SCRIPT_LEVEL,
                     r->level[i] == SPE_LEVEL_UNKNOWN ? "-" : spe_source_level_name(r->level[i]));
    if (fields & SCRIPT_BIT(TARGET))
        p = put_value(p, SCRIPT_TARGET, r->addresses[i] >> SPE_ADDRESS_TARGET & 1, r->target[i],
                      true);
    if (fields & SCRIPT_BIT(PREVIOUS))
        p = put_value(p, SCRIPT_PREVIOUS, r->addresses[i] >> SPE_ADDRESS_PREVIOUS_TARGET & 1,
                      r->previous_target[i], true);
    if (fields & SCRIPT_BIT(EL))
        p = put_value(p, SCRIPT_EL, r->el[i] != SPE_NO_EL, r->el[i], false);
    if (fields & SCRIPT_BIT(TIMESTAMP))
        p = put_value(p, SCRIPT_TIMESTAMP, r->has[i] & SPE_HAS_TIMESTAMP, r->timestamp[i], false);
    if (fields & SCRIPT_BIT(OFFSET))
        p = put_value(p, SCRIPT_OFFSET, true, r->offset[i], true);
    return p;
}

#define OWN_FIELDS (~(SCRIPT_BIT(OP) - 1))

/* Everything up to the names. */
static char *put_front(struct script *s, char *p, const struct spe_rows *r, size_t i)
{
    uint32_t fields = s->fields;

    if (fields & SCRIPT_BIT(COMM))
        p = put_comm(s, p, r->comm[i]);
    if (fields & (SCRIPT_BIT(PID) | SCRIPT_BIT(TID) | SCRIPT_BIT(CPU)))
        p = put_tasks(s, p, r, i);
    if (fields & SCRIPT_BIT(TIME))
        p = put_time(s, p, r->time_ns[i]);
    if (fields & SCRIPT_BIT(PERIOD)) {
        p = put_decimal_right(p, s->period, 10);
        *p++ = ' ';
    }
    if (fields & SCRIPT_BIT(EVENT))
        p = put_event(p, r->op[i], r->has[i]);
    if (fields & SCRIPT_BIT(FLAGS))
        p = put_flags(p, r, i);
    if (fields & SCRIPT_BIT(ADDR))
        p = put_hex16(p, script_address(r, i));
    if (fields & SCRIPT_BIT(DATA_SRC))
        p = put_data_src(s, p, r, i);
    if (fields & SCRIPT_BIT(WEIGHT))
        p = put_decimal_right(p, r->total[i], 16);
    if (fields & SCRIPT_BIT(IP)) {
        *p++ = ' ';
        p = put_hex16(p, r->pc[i]);
    }
    return p;
}

static char *put_back(const struct script *s, char *p, const struct spe_rows *r, size_t i)
{
    if (s->fields & SCRIPT_BIT(PHYS_ADDR))
        p = put_hex16(p, r->pa[i]);
    if (s->fields & OWN_FIELDS)
        p = put_own(s, p, r, i);
    *p++ = '\n';
    return p;
}

bool script_rows(struct script *s, struct out *o, const struct spe_rows *rows)
{
    size_t i;

    for (i = 0; i < rows->count; i++) {
        char *p = put_front(s, out_room(o, LINE), rows, i);

        if (s->places.what) {
            const struct place_text *place = place_texts_find(&s->places, rows, i);

            if (!place)
                return false;
            if (place->length <= PLACE_SHORT) {
                memcpy(p, place->text, PLACE_SHORT);
                p += place->length;
            } else {
                out_advance(o, p);
                out_bytes(o, place->text, place->length);
                p = out_room(o, LINE);
            }
        }
        out_advance(o, put_back(s, p, rows, i));
    }
    return true;
}
