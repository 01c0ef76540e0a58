/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D18.1.2 and D18.1.3: bytes -> records. A record is packets up to End or Timestamp; padding may
 * stand between records and between packets; unknown packets are stepped over by their size.
 *
 * Almost every byte string frames as packets, so damage shows only where a header has no size,
 * where a packet comes twice that no record has twice, or where no terminator comes in time. Then
 * the stream looks, byte by byte, for the next record that is beyond doubt: it begins with the same
 * header as the last good record, and all its packets are known.
 */
#include "stream.h"

#include "bytes.h"

/* parse_record: results other than a size. */
enum { NEED_MORE = 0, DAMAGED = -1 };

/* A step of the stream: results other than an item. */
enum { AGAIN = -1, WAIT = -2 };

/* Step over padding; returns the number of zero bytes at the start. */
static size_t padding_run(const uint8_t *p, size_t len)
{
    size_t n = 0;

    while (len - n >= 32 &&
           !(load64(p + n) | load64(p + n + 8) | load64(p + n + 16) | load64(p + n + 24)))
        n += 32;
    while (n < len && !p[n])
        n++;
    return n;
}

/* Set a bit of *set; false if it was set already. */
static bool first_time(uint32_t *set, uint32_t bit)
{
    bool first = !(*set & bit);

    *set |= bit;
    return first;
}

static bool take_address(struct spe_record *r, const struct spe_packet *p)
{
    bool first;

    if (spe_address_status(p->index, SPE_FEATURES_ALL) == SPE_RESERVED) {
        r->unknown++;
        return true;
    }
    first = first_time(&r->addresses, 1u << p->index);
    r->address[p->index] = p->payload;
    /* Nothing says that IMPLEMENTATION DEFINED packets come once: there the last one counts. */
    return first || p->index > SPE_ADDRESS_PREVIOUS_TARGET;
}

static bool take_counter(struct spe_record *r, const struct spe_packet *p)
{
    bool first;

    if (spe_counter_status(p->index, SPE_FEATURES_ALL) == SPE_RESERVED) {
        r->unknown++;
        return true;
    }
    first = first_time(&r->counters, 1u << p->index);
    r->counter[p->index] = (uint16_t)p->payload;
    return first || p->index > SPE_COUNTER_ALT_ISSUE;
}

static bool take_context(struct spe_record *r, const struct spe_packet *p)
{
    if (p->index >= SPE_CONTEXT_COUNT) {
        r->unknown++;
        return true;
    }
    r->context[p->index] = (uint32_t)p->payload;
    return first_time(&r->has, (uint32_t)SPE_HAS_CONTEXT1 << p->index);
}

static bool take_source(struct spe_record *r, const struct spe_packet *p)
{
    if (p->payload_size > 2) { /* reserved sizes (X01) */
        r->unknown++;
        return true;
    }
    r->source = (uint16_t)p->payload;
    r->source_size = p->payload_size;
    return first_time(&r->has, SPE_HAS_SOURCE);
}

static bool take_op(struct spe_record *r, const struct spe_packet *p)
{
    if (p->index == SPE_CLASS_RESERVED) {
        r->unknown++;
        return true;
    }
    r->op_class = p->index;
    r->op = (uint8_t)p->payload;
    return first_time(&r->has, SPE_HAS_OP);
}

/* Put a packet into the record; false if no record has this packet twice. */
static bool take_packet(struct spe_record *r, const struct spe_packet *p)
{
    switch (p->type) {
    case SPE_PACKET_ADDRESS:
        return take_address(r, p);
    case SPE_PACKET_COUNTER:
        return take_counter(r, p);
    case SPE_PACKET_CONTEXT:
        return take_context(r, p);
    case SPE_PACKET_DATA_SOURCE:
        return take_source(r, p);
    case SPE_PACKET_OP_TYPE:
        return take_op(r, p);
    case SPE_PACKET_EVENTS:
        r->events = p->payload;
        r->events_size = p->payload_size;
        return first_time(&r->has, SPE_HAS_EVENTS);
    case SPE_PACKET_TIMESTAMP:
        r->timestamp = p->payload;
        r->has |= SPE_HAS_TIMESTAMP;
        return true;
    case SPE_PACKET_END:
        return true;
    default:
        r->unknown++;
        return true;
    }
}

/*
 * One record from its first header on. Returns its size; NEED_MORE if `len` bytes do not decide;
 * DAMAGED with the reason in *why. What the first bytes decide, more bytes do not change: that
 * makes the stream's answers independent of where the pieces are split.
 */
static int parse_record(const uint8_t *bytes, size_t len, struct spe_record *r, uint8_t *why)
{
    size_t limit = len < SPE_RECORD_MAX ? len : SPE_RECORD_MAX;
    size_t pos = 0;
    struct spe_packet p;

    spe_record_clear(r);
    for (;;) {
        int size;

        for (; pos < limit && !bytes[pos]; pos++) /* padding, a lot of it in fixed layouts */
            r->padding++;
        size = spe_packet_decode(bytes + pos, limit - pos, &p);
        if (size == SPE_ERR_FRAMING) {
            *why = SPE_SKIP_FRAMING;
            return DAMAGED;
        }
        if (size < 0) { /* truncated: by the bytes at hand, or by the largest record there is */
            *why = SPE_SKIP_OVERSIZE;
            return limit == SPE_RECORD_MAX ? DAMAGED : NEED_MORE;
        }
        if (!take_packet(r, &p)) {
            *why = SPE_SKIP_DUPLICATE;
            return DAMAGED;
        }
        pos += (size_t)size;
        if (p.type == SPE_PACKET_END || p.type == SPE_PACKET_TIMESTAMP) {
            r->size = (uint16_t)pos;
            return (int)pos;
        }
    }
}

int spe_record_decode(const uint8_t *bytes, size_t len, struct spe_record *record)
{
    uint8_t why = SPE_SKIP_FRAMING;
    int size = parse_record(bytes, len, record, &why);

    if (size == NEED_MORE)
        return SPE_ERR_TRUNCATED;
    if (size == DAMAGED)
        return why == SPE_SKIP_OVERSIZE ? SPE_ERR_SIZE : SPE_ERR_FRAMING;
    return size;
}

/* Beyond doubt a record: every packet is known, and what every record has is there. */
static bool is_certain(const struct spe_record *r)
{
    return !r->unknown &&
           (r->has & (SPE_HAS_OP | SPE_HAS_EVENTS)) == (SPE_HAS_OP | SPE_HAS_EVENTS) &&
           spe_record_has_address(r, SPE_ADDRESS_PC);
}

size_t spe_stream_sizeof(void)
{
    return sizeof(struct spe_stream);
}

const struct spe_account *spe_stream_account(const struct spe_stream *s)
{
    return &s->account;
}

void spe_stream_init(struct spe_stream *s, unsigned flags)
{
    memset(s, 0, offsetof(struct spe_stream, carry));
    s->first_header = -1;
    s->flags = (uint8_t)flags;
    if (flags & SPE_STREAM_UNSYNCED) {
        s->resyncing = 1;
        s->skip_reason = SPE_SKIP_UNSYNCED;
    }
}

int spe_stream_feed(struct spe_stream *s, const uint8_t *bytes, size_t len)
{
    size_t room = sizeof(s->carry) - s->carry_size;
    size_t copied = len < room ? len : room;

    if (s->piece || s->ended)
        return SPE_ERR_INVALID;
    if (!len)
        return SPE_OK;
    s->account.bytes += len;
    s->piece_pos = 0;
    if (!s->carry_size) {
        s->piece = bytes;
        s->piece_size = len;
        return SPE_OK;
    }
    /* Read on in carry[], where the earlier bytes are, until they are used up. */
    memcpy(s->carry + s->carry_size, bytes, copied);
    s->piece = s->carry;
    s->piece_size = s->carry_size + copied;
    s->next_piece = bytes;
    s->next_size = len;
    return SPE_OK;
}

void spe_stream_end(struct spe_stream *s)
{
    s->ended = 1;
    if (!s->piece && s->carry_size) {
        s->piece = s->carry;
        s->piece_size = s->carry_size;
        s->piece_pos = 0;
        s->next_piece = NULL;
        s->next_size = 0;
    }
}

/* Are there bytes at the position? Once those of earlier pieces are used up, reading goes on in the
 * caller's memory. */
static bool has_bytes(struct spe_stream *s)
{
    if (s->piece == s->carry && s->piece_pos >= s->carry_size) {
        s->offset += s->carry_size;
        s->piece_pos -= s->carry_size;
        s->carry_size = 0;
        s->piece = s->next_piece;
        s->piece_size = s->next_size;
    }
    return s->piece && s->piece_pos < s->piece_size;
}

/* The bytes at hand do not decide: keep them for the next piece. There are fewer than
 * SPE_RECORD_MAX, and if they are in carry[] the caller's piece was copied whole. */
static void keep_rest(struct spe_stream *s)
{
    size_t rest = s->piece_size - s->piece_pos;

    s->offset += s->piece_pos;
    if (rest)
        memmove(s->carry, s->piece + s->piece_pos, rest);
    s->carry_size = (uint16_t)rest;
    s->piece = NULL;
    s->piece_size = 0;
    s->piece_pos = 0;
}

/* End the skipped range at the position, or where the padding before it began. An unsynchronised
 * stream that begins with a record or padding has nothing to skip. */
static int give_skipped(struct spe_stream *s, struct spe_item *item)
{
    uint64_t padding = s->zeros >= SPE_RECORD_MAX ? s->zeros : 0;

    s->resyncing = 0;
    s->zeros = 0;
    s->account.padding_bytes += padding;
    item->type = SPE_ITEM_NONE;
    item->reason = s->skip_reason;
    item->offset = s->skip_start;
    item->size = s->offset + s->piece_pos - padding - s->skip_start;
    item->bytes = NULL;
    if (!item->size)
        return AGAIN;
    item->type = SPE_ITEM_SKIPPED;
    s->account.skipped++;
    s->account.skipped_bytes += item->size;
    s->account.skipped_by[item->reason] += item->size;
    return SPE_ITEM_SKIPPED;
}

static int give_record(struct spe_stream *s, struct spe_item *item, const struct spe_record *r)
{
    item->type = SPE_ITEM_RECORD;
    item->reason = 0;
    item->offset = s->offset + s->piece_pos;
    item->size = r->size;
    item->bytes = s->piece + s->piece_pos;
    s->first_header = item->bytes[0];
    s->piece_pos += r->size;
    s->account.records++;
    s->account.record_bytes += r->size;
    s->account.unknown += r->unknown;
    return SPE_ITEM_RECORD;
}

static void start_skipping(struct spe_stream *s, uint8_t reason)
{
    s->resyncing = 1;
    s->skip_reason = reason;
    s->skip_start = s->offset + s->piece_pos;
}

void spe_stream_take_padding(struct spe_stream *s)
{
    size_t n = padding_run(s->piece + s->piece_pos, s->piece_size - s->piece_pos);

    s->piece_pos += n;
    s->account.padding_bytes += n;
}

/* Take the padding or the record at the position. */
static int step_record(struct spe_stream *s, struct spe_item *item, struct spe_record *record)
{
    const uint8_t *p = s->piece + s->piece_pos;
    size_t len = s->piece_size - s->piece_pos;
    uint8_t why = SPE_SKIP_TRUNCATED;
    int size;

    if (!*p) {
        spe_stream_take_padding(s);
        return AGAIN;
    }
    size = parse_record(p, len, record, &why);
    if (size > 0)
        return give_record(s, item, record);
    if (size == NEED_MORE && !s->ended)
        return WAIT;
    start_skipping(s, size == NEED_MORE ? SPE_SKIP_TRUNCATED : why);
    s->piece_pos += size == NEED_MORE ? len : 1;
    return AGAIN;
}

/* May a record have this packet again and again, without becoming more or less certain? */
static bool may_repeat(const struct spe_packet *p)
{
    if (p->type == SPE_PACKET_ADDRESS)
        return p->index > SPE_ADDRESS_PREVIOUS_TARGET &&
               spe_address_status(p->index, SPE_FEATURES_ALL) != SPE_RESERVED;
    return p->type == SPE_PACKET_COUNTER && p->index > SPE_COUNTER_ALT_ISSUE &&
           spe_counter_status(p->index, SPE_FEATURES_ALL) != SPE_RESERVED;
}

/*
 * Bytes that may be part of a record, and for the next SPE_RECORD_MAX of them, in a ring, how far
 * padding and packets that may repeat go on from there; 0: not known. Every other packet comes once
 * in a certain record, so that with this memory a try takes a bounded number of steps.
 */
struct search {
    const uint8_t *bytes;
    size_t start, limit; /* of the try */
    uint16_t reach[SPE_RECORD_MAX];
};

static uint16_t *reach_at(struct search *s, size_t pos)
{
    return &s->reach[pos % SPE_RECORD_MAX];
}

/* The next packet that comes once in a record, and *pos to its place; returns its size, or an
 * error. All places that were stepped over learn how far that went. */
static int next_packet(struct search *s, size_t *pos, struct spe_packet *p)
{
    size_t at = *pos, end = *pos;
    int size = SPE_ERR_TRUNCATED;

    for (; end < s->limit; end += *reach_at(s, end)) {
        uint16_t *reach = reach_at(s, end);

        if (*reach)
            continue;
        if (!s->bytes[end]) {
            *reach = (uint16_t)padding_run(s->bytes + end, s->limit - end);
            continue;
        }
        size = spe_packet_decode(s->bytes + end, s->limit - end, p);
        if (size < 0 || !may_repeat(p))
            break;
        *reach = (uint16_t)size;
        size = SPE_ERR_TRUNCATED;
    }
    for (*pos = end; at < end;) {
        uint16_t *reach = reach_at(s, at), far = (uint16_t)(end - at);

        at += *reach;
        *reach = far;
    }
    return size;
}

/* parse_record for a certain record only: its size, NEED_MORE, or DAMAGED. */
static int try_record(struct search *s, struct spe_record *r)
{
    size_t pos = s->start;
    struct spe_packet p;

    spe_record_clear(r);
    for (;;) {
        int size = next_packet(s, &pos, &p);

        if (size == SPE_ERR_FRAMING)
            return DAMAGED;
        if (size < 0)
            return s->limit - s->start == SPE_RECORD_MAX ? DAMAGED : NEED_MORE;
        if (!take_packet(r, &p) || r->unknown)
            return DAMAGED;
        pos += (size_t)size;
        if (p.type == SPE_PACKET_END || p.type == SPE_PACKET_TIMESTAMP)
            return is_certain(r) ? (int)(pos - s->start) : DAMAGED;
    }
}

/* Look for the next certain record, or for more zeros than a record can hold, which can only be
 * padding; the bytes before are the skipped range. */
static int step_resync(struct spe_stream *s, struct spe_item *item, struct spe_record *scratch)
{
    size_t end = s->piece == s->carry ? s->carry_size : s->piece_size;
    struct search search = {.bytes = s->piece};

    for (; s->piece_pos < end; *reach_at(&search, s->piece_pos++) = 0) {
        uint8_t byte = s->piece[s->piece_pos];
        size_t left = s->piece_size - s->piece_pos;
        int size;

        if (!byte) {
            if (++s->zeros < SPE_RECORD_MAX)
                continue;
            s->piece_pos++;
            return give_skipped(s, item);
        }
        if (s->first_header >= 0 && byte != s->first_header) {
            s->zeros = 0;
            continue;
        }
        search.start = s->piece_pos;
        search.limit = search.start + (left < SPE_RECORD_MAX ? left : SPE_RECORD_MAX);
        size = try_record(&search, scratch);
        if (size == NEED_MORE && !s->ended)
            return WAIT;
        s->zeros = 0;
        if (size > 0)
            return give_skipped(s, item);
    }
    return AGAIN;
}

int spe_stream_next(struct spe_stream *s, struct spe_item *item, struct spe_record *record)
{
    int got = AGAIN;

    while (got == AGAIN && has_bytes(s))
        got = s->resyncing ? step_resync(s, item, record) : step_record(s, item, record);
    if (got > 0)
        return got;
    if (s->piece)
        keep_rest(s);
    if (s->ended && s->resyncing && give_skipped(s, item) > 0)
        return SPE_ITEM_SKIPPED;
    item->type = SPE_ITEM_NONE;
    return SPE_ITEM_NONE;
}

const char *spe_skip_reason_name(unsigned reason)
{
    static const char *const names[SPE_SKIP_REASON_COUNT] = {
        [SPE_SKIP_FRAMING] = "header without a size",
        [SPE_SKIP_DUPLICATE] = "packet twice in a record",
        [SPE_SKIP_OVERSIZE] = "no terminator within 2048 bytes",
        [SPE_SKIP_TRUNCATED] = "stream ends inside a record",
        [SPE_SKIP_UNSYNCED] = "stream begins inside a record",
    };

    return reason < SPE_SKIP_REASON_COUNT ? names[reason] : "unknown reason";
}
