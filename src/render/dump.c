/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "render/dump.h"

#include <ctype.h>
#include <stdio.h>

#define LINE_BYTES 16
#define BLANK_SIZE (2 + 3 * LINE_BYTES + 1) /* from the offset to the description */
#define LINE_MAX_SIZE 1024 /* the longest is an Events packet with all bits set, below 400 */

/* perf's words; an empty one is not named. */
static const char *const event_words[32] = {
    [SPE_EVENT_EXCEPTION] = "EXCEPTION-GEN",
    [SPE_EVENT_RETIRED] = "RETIRED",
    [SPE_EVENT_L1D_ACCESS] = "L1D-ACCESS",
    [SPE_EVENT_L1D_MISS] = "L1D-REFILL",
    [SPE_EVENT_TLB_ACCESS] = "TLB-ACCESS",
    [SPE_EVENT_TLB_WALK] = "TLB-REFILL",
    [SPE_EVENT_NOT_TAKEN] = "NOT-TAKEN",
    [SPE_EVENT_MISPREDICTED] = "MISPRED",
    [SPE_EVENT_LLC_ACCESS] = "LLC-ACCESS",
    [SPE_EVENT_LLC_MISS] = "LLC-REFILL",
    [SPE_EVENT_REMOTE] = "REMOTE-ACCESS",
    [SPE_EVENT_MISALIGNED] = "ALIGNMENT",
    [SPE_EVENT_TRANSACTIONAL] = "TXN",
    [SPE_EVENT_PARTIAL_PREDICATE] = "SVE-PARTIAL-PRED",
    [SPE_EVENT_EMPTY_PREDICATE] = "SVE-EMPTY-PRED",
    [SPE_EVENT_L2D_ACCESS] = "L2D-ACCESS",
    [SPE_EVENT_L2D_MISS] = "L2D-MISS",
    [SPE_EVENT_MODIFIED] = "HITM",
    [SPE_EVENT_RECENTLY_FETCHED] = "LFB",
    [SPE_EVENT_SNOOPED] = "SNOOPED",
    [SPE_EVENT_STREAMING] = "STREAMING-SVE",
    [SPE_EVENT_SMCU] = "SMCU",
};

/* ---- text that is made once ----------------------------------------------------------------- */

/* A short string in the making; what does not fit is a mistake here, not of the input. */
struct words {
    size_t length;
    char text[128];
};

static void add(struct words *w, const char *s)
{
    size_t n = strlen(s);

    if (w->length + n < sizeof(w->text)) {
        memcpy(w->text + w->length, s, n);
        w->length += n;
    }
}

static void add_if(struct words *w, bool condition, const char *s)
{
    if (condition)
        add(w, s);
}

static void add_evl(struct words *w, unsigned evl)
{
    char number[24];

    snprintf(number, sizeof(number), " EVLEN %u", spe_evl_bits(evl));
    add(w, evl == SPE_EVL_OVER ? " EVLEN >2048" : number);
}

static void add_ets(struct words *w, unsigned ets)
{
    char number[24];

    snprintf(number, sizeof(number), " ETS %u", spe_ets_bits(ets));
    if (ets == SPE_ETS_WHOLE)
        add(w, " ETS WHOLE-ZA");
    else
        add(w, spe_ets_bits(ets) ? number : " ETS RESERVED");
}

static void add_branch(struct words *w, const struct spe_op *op)
{
    static const char *const cr[4] = {"", " CR-BL", " CR-RET", " CR-NON-BL-RET"};

    add(w, "B");
    add_if(w, op->cond, " COND");
    add_if(w, op->ind, " IND");
    add_if(w, op->gcs, " GCS");
    add(w, cr[op->cr & 3]);
}

static void add_other(struct words *w, const struct spe_op *op)
{
    switch (op->kind) {
    case SPE_OP_SVE:
        add(w, "SVE-OTHER");
        add_evl(w, op->evl);
        add_if(w, op->fp, " FP");
        add_if(w, op->pred, " PRED");
        break;
    case SPE_OP_SME:
        add(w, "SME-OTHER");
        add_ets(w, op->ets);
        add_if(w, op->fp, " FP");
        break;
    default:
        add(w, "OTHER");
        add_if(w, op->ase, " ASE");
        add_if(w, op->fp, " FP");
        add(w, op->cond ? " COND" : " INSN-OTHER");
        break;
    }
}

static void add_load_store(struct words *w, const struct spe_op *op)
{
    static const char *const registers[SPE_OP_KIND_COUNT] = {
        [SPE_OP_GP] = " GP-REG",
        [SPE_OP_SIMD_FP] = " SIMD-FP",
        [SPE_OP_UNSPECIFIED] = " UNSPEC-REG",
        [SPE_OP_TAG] = " MTE-TAG",
        [SPE_OP_NV2] = " NV-SYSREG",
        [SPE_OP_SVE_LDST] = " SVE-SME-REG",
        [SPE_OP_MEMCPY] = " MEMCPY",
        [SPE_OP_MEMSET] = " MEMSET",
        [SPE_OP_GCS] = " GCS",
    };

    add(w, op->store ? "ST" : "LD");
    add_if(w, registers[op->kind], registers[op->kind]);
    if (op->kind == SPE_OP_EXTENDED) {
        add_if(w, op->at, " AT");
        add_if(w, op->excl, " EXCL");
        add_if(w, op->ar, " AR");
    } else if (op->kind == SPE_OP_SVE_LDST) {
        add_evl(w, op->evl);
        add_if(w, op->pred, " PRED");
        add_if(w, op->sg, " SG");
    } else if (op->kind == SPE_OP_GCS) {
        add_if(w, op->comm, " COMM");
    }
}

static void make_op(struct dump_op *text, unsigned class_, unsigned payload)
{
    struct words w = {0};
    struct spe_op op;

    spe_op_decode(class_, (uint8_t)payload, &op);
    if (op.kind == SPE_OP_RESERVED) {
        char reserved[32];

        snprintf(reserved, sizeof(reserved), "OP-TYPE 0x%x (%u)", payload, class_);
        add(&w, reserved);
    } else if (class_ == SPE_CLASS_BRANCH) {
        add_branch(&w, &op);
    } else if (class_ == SPE_CLASS_LDST) {
        add_load_store(&w, &op);
    } else {
        add_other(&w, &op);
    }
    text->length = (uint8_t)(w.length < DUMP_OP_TEXT ? w.length : DUMP_OP_TEXT);
    memcpy(text->text, w.text, DUMP_OP_TEXT);
}

static void make_events(struct dump_events *text, unsigned byte, unsigned bits)
{
    struct words w = {0};
    unsigned i;

    add_if(&w, byte == 0, "EV");
    for (i = 0; i < 8; i++) {
        const char *word = event_words[8 * byte + i];

        if (word && bits >> i & 1) {
            add(&w, " ");
            add(&w, word);
        }
    }
    text->length = (uint8_t)(w.length < DUMP_EVENT_TEXT ? w.length : DUMP_EVENT_TEXT);
    memcpy(text->text, w.text, DUMP_EVENT_TEXT);
}

static void sort_events(struct dump *d)
{
    unsigned i;

    d->named_events = 0;
    d->impdef_events = 0;
    for (i = 0; i < 64; i++) {
        enum spe_definition status = naming_event(&d->naming, i);

        if (status == SPE_DEFINED)
            d->named_events |= UINT64_C(1) << i;
        else if (status == SPE_IMPDEF)
            d->impdef_events |= UINT64_C(1) << i;
    }
    d->zero_events = ~(d->named_events | d->impdef_events);
}

void dump_init(struct dump *d, const struct naming *naming, uint64_t offset, uint64_t limit)
{
    unsigned i, j;

    d->naming = *naming;
    d->offset = offset;
    d->limit = limit;
    d->lines = 0;
    d->bad = 0;
    d->unknown = 0;
    sort_events(d);
    for (i = 0; i < 4; i++) {
        for (j = 0; j < 256; j++) {
            make_op(&d->op[i][j], i, j);
            make_events(&d->events[i][j], i, j);
        }
    }
}

void dump_preamble(struct out *o, uint64_t size, bool size_known)
{
    out_string(o, ".\n. ... ARM SPE data: size ");
    if (!size_known) {
        out_string(o, "unknown\n");
        return;
    }
    if (size) /* as "%#zx" does */
        out_string(o, "0x");
    out_hex(o, size);
    out_string(o, " bytes\n");
}

/* ---- descriptions --------------------------------------------------------------------------- */

/* Copies in steps of 16 bytes, so past the end: the callers' room has the slack for it. */
static inline char *put_text(char *p, const char *text, unsigned length)
{
    unsigned i;

    for (i = 0; i < length; i += 16)
        memcpy(p + i, text + i, 16);
    return p + length;
}

static char *put_list(char *p, const char *word, uint64_t events)
{
    char separator = ':';

    if (!events)
        return p;
    p = put_bytes(p, word, strlen(word));
    for (; events; events &= events - 1) {
        *p++ = separator;
        p = put_decimal(p, (unsigned)__builtin_ctzll(events));
        separator = ',';
    }
    return p;
}

/* Events that this CPU names: "late_prefetch" is written LATE-PREFETCH. Takes them from *events. */
static char *put_cpu_events(char *p, const struct dump *d, uint64_t *events)
{
    uint64_t left = *events & d->impdef_events;

    for (; left; left &= left - 1) {
        unsigned event = (unsigned)__builtin_ctzll(left);
        const char *name = naming_event_name(&d->naming, event);

        if (!name)
            continue;
        *p++ = ' ';
        for (; *name; name++)
            *p++ = *name == '_' ? '-' : (char)toupper((unsigned char)*name);
        *events &= ~(UINT64_C(1) << event);
    }
    return p;
}

static char *put_events(char *p, const struct dump *d, uint64_t events)
{
    uint64_t named = events & d->named_events;
    unsigned i;

    for (i = 0; i < 4; i++) {
        const struct dump_events *text = &d->events[i][named >> 8 * i & 0xff];

        p = put_text(p, text->text, text->length);
    }
    if (__builtin_expect(events == named, 1))
        return p;
    events ^= named;
    p = put_cpu_events(p, d, &events);
    p = put_list(p, " IMPDEF", events & d->impdef_events);
    return put_list(p, " RES0", events & d->zero_events);
}

static char *put_instruction_address(char *p, uint64_t payload)
{
    p = put_hex(p, payload & UINT64_C(0x00ffffffffffffff));
    p = PUT_LITERAL(p, " el0 ns=0");
    p[-6] = (char)('0' + (payload >> 61 & 3));
    p[-1] = (char)('0' + (payload >> 63));
    if (__builtin_expect(payload >> 60 & 1, 0))
        p = PUT_LITERAL(p, " nse=1");
    return p;
}

static char *put_physical_address(char *p, uint64_t payload)
{
    p = put_hex(p, payload & UINT64_C(0x00ffffffffffffff));
    p = PUT_LITERAL(p, " ns=0 ch=0 pat=");
    p[-11] = (char)('0' + (payload >> 63));
    p[-6] = (char)('0' + (payload >> 62 & 1));
    p = put_hex(p, payload >> 56 & 15);
    if (__builtin_expect(payload >> 60 & 1, 0))
        p = PUT_LITERAL(p, " nse=1");
    return p;
}

static char *put_index(char *p, unsigned index)
{
    p = PUT_LITERAL(p, " (");
    p = put_decimal(p, index);
    *p++ = ')';
    return p;
}

static char *put_address(char *p, unsigned index, uint64_t payload)
{
    switch (index) {
    case SPE_ADDRESS_PC:
        return put_instruction_address(PUT_LITERAL(p, "PC 0x"), payload);
    case SPE_ADDRESS_TARGET:
        return put_instruction_address(PUT_LITERAL(p, "TGT 0x"), payload);
    case SPE_ADDRESS_PREVIOUS_TARGET:
        return put_instruction_address(PUT_LITERAL(p, "PBT 0x"), payload);
    case SPE_ADDRESS_VA:
        return put_hex(PUT_LITERAL(p, "VA 0x"), payload);
    case SPE_ADDRESS_PA:
        return put_physical_address(PUT_LITERAL(p, "PA 0x"), payload);
    default:
        return put_index(put_hex(PUT_LITERAL(p, "ADDR 0x"), payload), index);
    }
}

static char *put_counter(char *p, const struct dump *d, unsigned index, uint16_t count)
{
    p = put_decimal(PUT_LITERAL(p, "LAT "), count);
    switch (index) {
    case SPE_COUNTER_TOTAL:
        p = PUT_LITERAL(p, " TOT");
        break;
    case SPE_COUNTER_ISSUE:
        p = PUT_LITERAL(p, " ISSUE");
        break;
    case SPE_COUNTER_TRANSLATION:
        p = PUT_LITERAL(p, " XLAT");
        break;
    case SPE_COUNTER_ALT_ISSUE:
        p = PUT_LITERAL(p, " ALT-ISSUE");
        break;
    default:
        p = put_index(p, index);
        break;
    }
    if (__builtin_expect(naming_saturated(&d->naming, count), 0))
        p = PUT_LITERAL(p, " SATURATED");
    return p;
}

static char *put_context(char *p, unsigned index, uint64_t payload)
{
    p = put_hex(PUT_LITERAL(p, "CONTEXT 0x"), payload);
    if (index >= SPE_CONTEXT_COUNT)
        return put_index(p, index);
    p = PUT_LITERAL(p, " el1");
    p[-1] = (char)('1' + index);
    return p;
}

static char *put_source(char *p, const struct spe_packet *packet)
{
    p = put_decimal(PUT_LITERAL(p, "DATA-SOURCE "), packet->payload);
    return packet->payload_size > 2 ? PUT_LITERAL(p, " (reserved size)") : p;
}

static char *put_unknown(char *p, const struct spe_packet *packet)
{
    p = PUT_LITERAL(p, "UNKNOWN");
    if (packet->payload_size)
        p = put_hex(PUT_LITERAL(p, " 0x"), packet->payload);
    p = put_hex(PUT_LITERAL(p, " (0x"), packet->header[0]);
    if (packet->header_size == 2)
        p = put_hex(PUT_LITERAL(p, " 0x"), packet->header[1]);
    *p++ = ')';
    return p;
}

static char *put_packet(char *p, struct dump *d, const struct spe_packet *packet)
{
    const struct dump_op *op;

    switch (packet->type) {
    case SPE_PACKET_PADDING:
        return PUT_LITERAL(p, "PAD");
    case SPE_PACKET_END:
        return PUT_LITERAL(p, "END");
    case SPE_PACKET_TIMESTAMP:
        return put_decimal(PUT_LITERAL(p, "TS "), packet->payload);
    case SPE_PACKET_EVENTS:
        return put_events(p, d, packet->payload);
    case SPE_PACKET_DATA_SOURCE:
        return put_source(p, packet);
    case SPE_PACKET_CONTEXT:
        return put_context(p, packet->index, packet->payload);
    case SPE_PACKET_OP_TYPE:
        op = &d->op[packet->index & 3][packet->payload & 0xff];
        return put_text(p, op->text, op->length);
    case SPE_PACKET_ADDRESS:
        return put_address(p, packet->index, packet->payload);
    case SPE_PACKET_COUNTER:
        return put_counter(p, d, packet->index, (uint16_t)packet->payload);
    default:
        d->unknown++;
        return put_unknown(p, packet);
    }
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* " xx" for every byte, and a space more so that it is one word. */
#define HEX_DIGIT(n) ((n) < 10 ? '0' + (n) : 'a' + (n)-10)
#define HEX_BYTE(n)                                                                                \
    {                                                                                              \
        ' ', HEX_DIGIT((n) >> 4), HEX_DIGIT((n)&15), ' '                                           \
    }
#define HEX_4(n) HEX_BYTE(n), HEX_BYTE((n) + 1), HEX_BYTE((n) + 2), HEX_BYTE((n) + 3)
#define HEX_16(n) HEX_4(n), HEX_4((n) + 4), HEX_4((n) + 8), HEX_4((n) + 12)
#define HEX_64(n) HEX_16(n), HEX_16((n) + 16), HEX_16((n) + 32), HEX_16((n) + 48)
static const char hex_bytes[256][4] = {HEX_64(0), HEX_64(64), HEX_64(128), HEX_64(192)};

/* Everything up to the description. n is 1 to 16. Past 4 GiB the offset takes more digits and
 * pushes the rest to the right. */
static inline char *put_line_start(char *p, uint64_t offset, const uint8_t *bytes, unsigned n)
{
    static const char blank[] = ":                                                  ";
    unsigned i;

    p = PUT_LITERAL(p, ".  ");
    if (__builtin_expect(offset >> 32, 0))
        p = put_hex(p, offset >> 32);
    p = put_hex8(p, (uint32_t)offset);
    memcpy(p, blank, BLANK_SIZE);
    for (i = 0; i < n; i++)
        memcpy(p + 2 + 3 * i, hex_bytes[bytes[i]], 4);
    return p + BLANK_SIZE;
}

static void bad_byte(struct dump *d, struct out *o, const uint8_t *byte)
{
    char *p = put_line_start(out_room(o, LINE_MAX_SIZE), d->offset, byte, 1);

    if (d->naming.color)
        p = PUT_LITERAL(p, "\033[31mBad packet!\033[0m\n");
    else
        p = PUT_LITERAL(p, "Bad packet!\n");
    out_advance(o, p);
    d->offset++;
    d->lines++;
    d->bad++;
}

/* Bytes of a padding line: up to 16, or 0 if only what follows can tell. */
static unsigned padding_run(const uint8_t *bytes, size_t len, bool last)
{
    unsigned n = 1;

    while (n < LINE_BYTES && n < len && !bytes[n])
        n++;
    return n == len && n < LINE_BYTES && !last ? 0 : n;
}

/* Nothing follows and the packet is cut: its bytes are not packets of their own. */
static size_t cut_packet(struct dump *d, struct out *o, const uint8_t *bytes, size_t len)
{
    size_t i;

    for (i = 0; i < len && d->lines < d->limit; i++)
        bad_byte(d, o, bytes + i);
    return i;
}

/* One packet's line; returns its bytes, 0 if it needs what follows. */
static size_t one_line(struct dump *d, struct out *o, const uint8_t *bytes, size_t len, bool last)
{
    struct spe_packet packet;
    int size = spe_packet_decode(bytes, len, &packet);
    char *p;

    if (__builtin_expect(size < 0, 0)) {
        if (size == SPE_ERR_TRUNCATED)
            return last ? cut_packet(d, o, bytes, len) : 0;
        bad_byte(d, o, bytes);
        return 1;
    }
    if (packet.type == SPE_PACKET_PADDING) {
        size = (int)padding_run(bytes, len, last);
        if (size == 0)
            return 0;
    }
    p = put_line_start(out_room(o, LINE_MAX_SIZE), d->offset, bytes, (unsigned)size);
    p = put_packet(p, d, &packet);
    *p++ = '\n';
    out_advance(o, p);
    d->offset += (unsigned)size;
    d->lines++;
    return (size_t)size;
}

size_t dump_packets(struct dump *d, struct out *o, const uint8_t *bytes, size_t len, bool last)
{
    size_t used = 0;

    while (used < len && d->lines < d->limit && !o->error) {
        size_t n = one_line(d, o, bytes + used, len - used, last);

        if (n == 0)
            break;
        used += n;
    }
    return used;
}
