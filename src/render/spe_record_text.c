/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include <stdio.h>

#include "base/count_of.h"
#include "render/spe_record.h"

#define OP_COLUMNS 22

static size_t append(char *text, size_t size, size_t length, const char *word)
{
    int n = snprintf(text + length, size - length, "%s%s", length ? " " : "", word);

    return n < 0 || (size_t)n >= size - length ? length : length + (size_t)n;
}

static size_t append_bits(char *text, size_t size, size_t length, uint32_t bits, bool over)
{
    char number[16];

    snprintf(number, sizeof(number), over ? ">%u" : "%u", over ? 2048 : bits);
    return append(text, size, length, number);
}

static size_t append_ets(char *text, size_t size, size_t length, unsigned ets)
{
    char word[16];

    if (ets == SPE_ETS_WHOLE)
        return append(text, size, length, "whole-za");
    if (spe_ets_bits(ets))
        return append_bits(text, size, length, spe_ets_bits(ets), false);
    snprintf(word, sizeof(word), "reserved%u", ets);
    return append(text, size, length, word);
}

/* The operation in a few words: "load gp", "branch cond call", "sve 256 fp". */
static void op_words(const struct spe_op *op, char *text, size_t size)
{
    static const char *const cr[4] = {NULL, "call", "return", NULL};
    const struct {
        bool set;
        const char *word;
    } flags[] = {
        {op->at, "atomic"},  {op->excl, "exclusive"},
        {op->ar, "acq/rel"}, {op->ase, "simd"},
        {op->fp, "fp"},      {op->cond, "cond"},
        {op->ind, "ind"},    {op->gcs, "gcs"},
        {op->pred, "pred"},  {op->sg, op->store ? "scatter" : "gather"},
        {op->comm, "comm"},
    };
    size_t length = 0, i;

    if (op->class_ == SPE_CLASS_LDST && op->kind != SPE_OP_RESERVED)
        length = append(text, size, length, op->store ? "store" : "load");
    if (op->kind == SPE_OP_SVE_LDST)
        length = append(text, size, length, "sve");
    else if (op->kind != SPE_OP_EXTENDED)
        length = append(text, size, length, spe_op_kind_name(op->kind));
    if (op->kind == SPE_OP_SVE || op->kind == SPE_OP_SVE_LDST)
        length = append_bits(text, size, length, spe_evl_bits(op->evl), op->evl == SPE_EVL_OVER);
    if (op->kind == SPE_OP_SME)
        length = append_ets(text, size, length, op->ets);
    for (i = 0; i < COUNT_OF(flags); i++) {
        if (flags[i].set)
            length = append(text, size, length, flags[i].word);
    }
    if (op->kind == SPE_OP_BRANCH && cr[op->cr & 3])
        append(text, size, length, cr[op->cr & 3]);
}

static void put_operation(struct out *o, const struct spe_record *r)
{
    char text[96] = "no operation type";
    struct spe_op op;
    size_t length;

    if (r->has & SPE_HAS_OP) {
        spe_op_decode(r->op_class, r->op, &op);
        if (op.kind == SPE_OP_RESERVED)
            snprintf(text, sizeof(text), "op %u:0x%02x", r->op_class, r->op);
        else
            op_words(&op, text, sizeof(text));
    }
    length = strlen(text);
    out_bytes(o, text, length);
    out_spaces(o, length < OP_COLUMNS ? (unsigned)(OP_COLUMNS - length) : 0);
}

static void put_key(struct out *o, const char *key)
{
    out_char(o, ' ');
    out_string(o, key);
    out_char(o, '=');
}

static void put_hex_value(struct out *o, const char *key, uint64_t value)
{
    put_key(o, key);
    out_bytes(o, "0x", 2);
    out_hex(o, value);
}

static void put_security(struct out *o, const struct naming *naming, const struct spe_address *a)
{
    static const char *const names[4] = {"/secure", "", "/nse-without-ns", "/realm"};

    out_string(o, names[spe_address_security(a, naming_features(naming)) & 3]);
}

static void put_one_address(struct out *o, const struct naming *naming, unsigned index,
                            uint64_t payload)
{
    const char *name = spe_address_name(index);
    struct spe_address a;

    spe_address_decode(index, payload, &a);
    if (!name) {
        out_printf(o, " address%u=0x%llx", index, (unsigned long long)payload);
        return;
    }
    put_hex_value(o, name, spe_address_canonical(index, payload));
    if (index == SPE_ADDRESS_VA) {
        if (a.tag != 0 && a.tag != 0xff)
            out_printf(o, "/tag%02x", a.tag);
        return;
    }
    if (index == SPE_ADDRESS_PA) {
        if (a.ch)
            out_printf(o, "/checked%x", a.pat);
    } else {
        out_printf(o, "/el%u", a.el);
    }
    put_security(o, naming, &a);
}

static void put_counters(struct out *o, const struct naming *naming, const struct spe_record *r)
{
    uint32_t left;

    for (left = r->counters; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        const char *name = spe_counter_name(i);

        if (name)
            put_key(o, name);
        else
            out_printf(o, " counter%u=", i);
        out_decimal(o, r->counter[i]);
        if (naming_saturated(naming, r->counter[i]))
            out_char(o, '+');
    }
}

static void put_event(struct out *o, const struct naming *naming, unsigned event)
{
    const char *name = naming_event_name(naming, event);

    if (name)
        out_string(o, name);
    else
        out_printf(o, naming_event(naming, event) == SPE_IMPDEF ? "impdef%u" : "reserved%u", event);
}

static void put_events(struct out *o, const struct naming *naming, uint64_t events)
{
    const char *separator = "";

    put_key(o, "events");
    if (!events)
        out_char(o, '-');
    for (; events; events &= events - 1) {
        out_string(o, separator);
        put_event(o, naming, (unsigned)__builtin_ctzll(events));
        separator = ",";
    }
}

static void put_source(struct out *o, const struct naming *naming, uint16_t value)
{
    const struct spe_source *source = naming->cpu ? spe_cpu_source(naming->cpu, value) : NULL;

    put_hex_value(o, "source", value);
    if (source) {
        out_char(o, '(');
        out_string(o, source->name);
        out_char(o, ')');
    }
}

void render_record_text(struct out *o, const struct naming *naming, const struct spe_item *item,
                        const struct spe_record *r)
{
    uint32_t left;

    out_hex_min(o, item->offset, 8);
    out_bytes(o, ": ", 2);
    put_operation(o, r);
    for (left = r->addresses; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);

        put_one_address(o, naming, i, r->address[i]);
    }
    put_counters(o, naming, r);
    if (r->has & SPE_HAS_SOURCE)
        put_source(o, naming, r->source);
    if (r->has & SPE_HAS_EVENTS)
        put_events(o, naming, r->events);
    if (r->has & SPE_HAS_CONTEXT1)
        put_hex_value(o, "context1", r->context[0]);
    if (r->has & SPE_HAS_CONTEXT2)
        put_hex_value(o, "context2", r->context[1]);
    if (r->has & SPE_HAS_TIMESTAMP) {
        put_key(o, "time");
        out_decimal(o, r->timestamp);
    }
    if (r->unknown)
        out_printf(o, " unknown=%u", r->unknown);
    out_char(o, '\n');
}

void render_skipped_text(struct out *o, const struct naming *naming, const struct spe_item *item)
{
    out_hex_min(o, item->offset, 8);
    out_string(o, naming->color ? ": \033[31mskipped\033[0m " : ": skipped ");
    out_decimal(o, item->size);
    out_string(o, item->size == 1 ? " byte: " : " bytes: ");
    out_string(o, spe_skip_reason_name(item->reason));
    out_char(o, '\n');
}
