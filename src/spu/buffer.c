/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * D17.8: from a record to memory. SPEWriteToBuffer() writes byte by byte and moves PMBPTR_EL1 with
 * each; here the host is given pieces as large as the access granule and says how many bytes it
 * wrote before a fault, which is the same to the byte. What a fault, an abort or a full buffer does
 * to PMBSR_ELx is in event.c.
 *
 * Bytes are accounted by PMBPTR_EL1: written is what the pointer moved over, the rest of a record
 * is discarded, by the record's fate.
 */
#include "spu_internal.h"

#include <string.h>

uint64_t spu_buffer_limit(const struct spe_spu *spu)
{
    uint64_t granule = UINT64_C(1) << spu->config.granule_shift;

    return spu->reg[SPE_REG_PMBLIMITR_EL1] & ~(granule - 1);
}

/* ---- Bytes of a record ---------------------------------------------------------------------- */

/* The shapes of spu_internal.h are worth their code: without them a whole sample (bench_spu) takes
 * a quarter longer with the layout of the architecture preset, half as long again with
 * neoverse-n1's, because encoding is then the largest part of it. */

/* Bytes of the Events payload, 0 if the layout's are too few for them. */
static unsigned events_size(const struct spe_spu *spu, uint64_t events)
{
    unsigned size = spu->layout.events_size;

    if (size == 0)
        return spe_events_size(events);
    return size == 8 || events >> 8 * size == 0 ? size : 0;
}

static bool has_shape(const struct spe_spu *spu, const struct spu_shape *s,
                      const struct spe_record *r)
{
    if (!s->size || s->has != r->has || s->addresses != r->addresses ||
        s->counters != r->counters || s->op_class != r->op_class)
        return false;
    if ((r->has & SPE_HAS_EVENTS) && s->events_size != events_size(spu, r->events))
        return false;
    return !(r->has & SPE_HAS_SOURCE) || r->source >> 8 * spu->layout.source_size == 0;
}

static const void *payload_of(const struct spe_record *record, const struct spu_patch *p)
{
    return (const uint8_t *)record + p->from;
}

static void store_count(const struct spe_spu *spu, uint8_t *to, const struct spe_record *record,
                        const struct spu_patch *p)
{
    uint16_t count;

    memcpy(&count, payload_of(record, p), 2);
    if (p->counter)
        count = spe_counter_clip(count, spu->layout.count_bits);
    memcpy(to, &count, 2);
}

/* Both hosts are little-endian: the low bytes of a member are its payload. */
static void store_payloads(const struct spe_spu *spu, struct spu_shape *s,
                           const struct spe_record *record)
{
    const struct spu_patch *p = s->patch;

    for (; p->size == 8; p++)
        memcpy(s->bytes + p->to, payload_of(record, p), 8);
    for (; p->size == 4; p++)
        memcpy(s->bytes + p->to, payload_of(record, p), 4);
    for (; p->size == 2; p++)
        store_count(spu, s->bytes + p->to, record, p);
    for (; p->size == 1; p++)
        memcpy(s->bytes + p->to, payload_of(record, p), 1);
}

/* Where in struct spe_record a packet's payload is; false for packets that have none. */
static bool payload_place(const struct spe_packet *p, size_t *place)
{
    switch (p->type) {
    case SPE_PACKET_TIMESTAMP:
        *place = offsetof(struct spe_record, timestamp);
        return true;
    case SPE_PACKET_EVENTS:
        *place = offsetof(struct spe_record, events);
        return true;
    case SPE_PACKET_DATA_SOURCE:
        *place = offsetof(struct spe_record, source);
        return true;
    case SPE_PACKET_CONTEXT:
        *place = offsetof(struct spe_record, context) + p->index * sizeof(uint32_t);
        return true;
    case SPE_PACKET_OP_TYPE:
        *place = offsetof(struct spe_record, op);
        return true;
    case SPE_PACKET_ADDRESS:
        *place = offsetof(struct spe_record, address) + p->index * sizeof(uint64_t);
        return true;
    case SPE_PACKET_COUNTER:
        *place = offsetof(struct spe_record, counter) + p->index * sizeof(uint16_t);
        return true;
    default:
        return false;
    }
}

static void add_patch(struct spu_shape *s, const struct spu_patch *patch)
{
    unsigned at = s->patches++;

    s->patch[at + 1].size = 0;
    for (; at > 0 && s->patch[at - 1].size < patch->size; at--)
        s->patch[at] = s->patch[at - 1];
    s->patch[at] = *patch;
}

/* Remember the shape of a record that has just been encoded, unless it is large. */
static void keep_shape(const struct spe_spu *spu, struct spu_shape *s, const struct spe_record *r,
                       unsigned size)
{
    struct spe_packet packet;
    size_t place;

    s->size = 0;
    s->patches = 0;
    s->patch[0].size = 0;
    if (size > sizeof(s->bytes))
        return;
    for (unsigned at = 0; at < size;) {
        int n = spe_packet_decode(spu->bytes + at, size - at, &packet);

        if (n <= 0)
            return;
        if (payload_place(&packet, &place)) {
            if (s->patches == SPU_SHAPE_PATCHES)
                return;
            add_patch(s, &(struct spu_patch){
                             .from = (uint16_t)place,
                             .to = (uint8_t)(at + packet.header_size),
                             .size = packet.payload_size,
                             .counter = packet.type == SPE_PACKET_COUNTER,
                         });
        }
        at += (unsigned)n;
    }
    memcpy(s->bytes, spu->bytes, size);
    s->has = r->has;
    s->addresses = r->addresses;
    s->counters = r->counters;
    s->op_class = r->op_class;
    s->events_size = (uint8_t)events_size(spu, r->events);
    s->size = (uint8_t)size;
}

/* Operations of one class mostly have one shape. NULL: there is no such shape yet. */
static struct spu_shape *find_shape(struct spe_spu *spu, const struct spe_record *record)
{
    uint8_t *usual = &spu->usual_shape[record->op_class % 4];

    for (unsigned i = 0; i < SPU_SHAPES; i++) {
        unsigned number = (*usual + i) % SPU_SHAPES;

        if (has_shape(spu, &spu->shape[number], record)) {
            *usual = (uint8_t)number;
            return &spu->shape[number];
        }
    }
    return NULL;
}

/* The record as bytes: their number, or 0 if the layout has no place for one of its packets. */
static uint32_t encode(struct spe_spu *spu, const struct spe_record *record, const uint8_t **bytes)
{
    struct spu_shape *shape = find_shape(spu, record);
    int size;

    if (shape) {
        store_payloads(spu, shape, record);
        *bytes = shape->bytes;
        return shape->size;
    }
    *bytes = spu->bytes;
    size = spe_record_encode(record, &spu->layout, spu->bytes, sizeof(spu->bytes));
    if (size <= 0)
        return 0;
    keep_shape(spu, &spu->shape[spu->next_shape++ % SPU_SHAPES], record, (unsigned)size);
    return (uint32_t)size;
}

/* ---- Pieces --------------------------------------------------------------------------------- */

/* How the writing of one record went. */
struct attempt {
    const uint8_t *bytes;
    uint32_t size;    /* of the record */
    uint32_t written; /* bytes that PMBPTR_EL1 moved over */
    enum spe_sample_fate fate;
    bool late_abort; /* an External abort that is reported asynchronously: `result` */
    struct spe_write_result result;
};

/*
 * Bytes of the next write: up to a multiple of the granule. With access_granule_mode varying the
 * granule is a power of two that hops about with the address (D18.1-017); it is not drawn from a
 * generator, so that nothing else in the record depends on it.
 */
static uint32_t piece_size(const struct spe_spu *spu, uint64_t address, uint32_t left)
{
    uint32_t granule = spu->config.access_granule_bytes, room;

    if (spu->config.access_granule_mode == SPE_GRANULE_VARYING) {
        uint32_t hash = (uint32_t)((address + spu->stats.bytes_built) * 2654435769u) >> 28;

        granule = hash >= 11 ? granule : granule >> hash ? granule >> hash : 1;
    }
    room = granule - (uint32_t)(address & (granule - 1));
    return left < room ? left : room;
}

/* With FEAT_SPE_nVM the pointer is a physical or intermediate physical address. Bits above its size
 * give an Address size fault; the highest may as well (D17.7), so they are not told apart. */
static bool beyond_physical(const struct spe_spu *spu, uint64_t address)
{
    return spu->status.nvm && address >> spu->config.pa_bits != 0;
}

static void ask_host(struct spe_spu *spu, struct spe_write *write, struct spe_write_result *result)
{
    *result = (struct spe_write_result){0};
    if (!spu->host.write) {
        result->fault = SPE_FAULT_NOT_ALLOWED;
        return;
    }
    spu->host.write(spu->host.user, write, result);
    /* A host that says neither how far it got nor why it stopped has not made the write. */
    if (result->fault >= SPE_FAULT_COUNT ||
        (result->fault == SPE_FAULT_NONE && result->written < write->size))
        result->fault = SPE_FAULT_NOT_ALLOWED;
    if (result->fault != SPE_FAULT_NONE && write->size && result->written >= write->size)
        result->written = write->size - 1; /* one byte at least has faulted */
}

/* tlb_conflict_fault 0: the rest of the piece once more, and the host may not say conflict again.
 */
static void resolve_conflict(struct spe_spu *spu, struct spe_write *write,
                             struct spe_write_result *result)
{
    uint32_t before = result->written;

    write->address += before;
    write->data += before;
    write->size -= before;
    write->flags |= SPE_WRITE_NO_TLB_CONFLICT;
    ask_host(spu, write, result);
    result->written += before;
    if (result->fault == SPE_FAULT_TLB_CONFLICT)
        result->fault = SPE_FAULT_NOT_ALLOWED;
}

static void start_write(const struct spe_spu *spu, struct spe_write *write)
{
    uint64_t pmbmar = spu->reg[SPE_REG_PMBMAR_EL1];

    *write = (struct spe_write){
        .el = spu->status.owner_el,
        .security = spu->status.owner_security,
        .flags = (spu->config.spu_hw_af_dirty ? SPE_WRITE_AF_DIRTY : 0u) |
                 (spu->status.nvm ? SPE_WRITE_NVM : 0u),
    };
    if (spu->status.nvm) {
        write->sh = (uint8_t)spu_bits(pmbmar, 9, 8);
        write->attr = (uint8_t)spu_bits(pmbmar, 7, 0);
    }
}

/* D17.8.3.1: once a page is written to, its successor within the buffer is made dirty if the write
 * would be permitted. Whatever the host says, nothing follows from it yet. */
static void prepare_next_page(struct spe_spu *spu, const struct spe_write *done)
{
    uint64_t page = UINT64_C(1) << spu->config.granule_shift;
    uint64_t next = (done->address & ~(page - 1)) + page;
    struct spe_write write = *done;
    struct spe_write_result ignored;

    if (next == spu->prepared || next < page || next >= spu_buffer_limit(spu))
        return;
    spu->prepared = next;
    write.address = next;
    write.data = NULL;
    write.size = 0;
    write.flags |= SPE_WRITE_PREPARE;
    ask_host(spu, &write, &ignored);
}

/* ---- Faults and aborts ---------------------------------------------------------------------- */

static unsigned abort_behaviour(const struct spe_spu *spu, const struct spe_write_result *result)
{
    return result->walk == SPE_WALK_NO ? spu->config.write_abort : spu->config.walk_abort;
}

static void raise_serror(struct spe_spu *spu, uint64_t address)
{
    if (spu->host.serror)
        spu->host.serror(spu->host.user, address);
}

/*
 * D17.8.4: may the record go on? An abort that is ignored or is an SError leaves no mark on the
 * unit, so the pointer goes on as if there had been none; so does one that the unit will only hear
 * of later.
 */
static bool go_on_after_abort(struct spe_spu *spu, struct attempt *a, uint64_t address,
                              const struct spe_write_result *result)
{
    switch (abort_behaviour(spu, result)) {
    case SPE_ABORT_IGNORE:
        return true;
    case SPE_ABORT_SERROR:
        raise_serror(spu, address + result->written);
        return true;
    case SPE_ABORT_MMU_FAULT:
        return false;
    default:
        if (spu->config.ext_abort_sync == SPE_EXT_ABORT_SYNC)
            return false;
        if (!a->late_abort)
            a->result = *result;
        a->late_abort = true;
        a->fate = SPE_FATE_ABORT;
        return true;
    }
}

/* What a fault that ends the record makes of it. */
static enum spe_sample_fate fate_of(const struct spe_spu *spu,
                                    const struct spe_write_result *result)
{
    if (result->fault == SPE_FAULT_NOT_ALLOWED)
        return SPE_FATE_NOT_ALLOWED;
    if (result->fault == SPE_FAULT_EXTERNAL_ABORT &&
        abort_behaviour(spu, result) == SPE_ABORT_REPORT)
        return SPE_FATE_ABORT;
    return SPE_FATE_FAULT;
}

/* What the host's answer to one piece means: true if the next piece may follow. */
static bool piece_done(struct spe_spu *spu, struct attempt *a, const struct spe_write *write,
                       uint32_t size, const struct spe_write_result *result)
{
    uint64_t address = write->address + write->size - size;

    if (result->fault == SPE_FAULT_NONE ||
        (result->fault == SPE_FAULT_EXTERNAL_ABORT && go_on_after_abort(spu, a, address, result))) {
        a->written += size;
        return true;
    }
    if (a->late_abort)
        return false; /* a fault after an abort that is on its way: the abort is what happened */
    a->result = *result;
    a->written += result->written;
    a->fate = fate_of(spu, result);
    return false;
}

static bool write_piece(struct spe_spu *spu, struct attempt *a, const struct spe_write *common)
{
    struct spe_write write = *common;
    struct spe_write_result result;
    uint32_t size;

    write.address = spu->record_start + a->written;
    write.data = a->bytes + a->written;
    size = write.size = piece_size(spu, write.address, a->size - a->written);
    if (beyond_physical(spu, write.address)) {
        result = (struct spe_write_result){.fault = SPE_FAULT_ADDRESS_SIZE, .stage = 1};
    } else {
        ask_host(spu, &write, &result);
        if (result.fault == SPE_FAULT_TLB_CONFLICT && !spu->config.tlb_conflict_fault)
            resolve_conflict(spu, &write, &result);
    }
    if (!piece_done(spu, a, &write, size, &result))
        return false;
    if (spu->config.speculative_dirty)
        prepare_next_page(spu, &write);
    return true;
}

static void write_pieces(struct spe_spu *spu, struct attempt *a)
{
    struct spe_write common;

    start_write(spu, &common);
    while (a->written < a->size)
        if (!write_piece(spu, a, &common))
            return;
}

/* ---- The record ----------------------------------------------------------------------------- */

/* PMBPTR_EL1 that is not aligned to PMBIDR_EL1.Align (Table D17-11, Alignment). */
static bool misaligned(const struct spe_spu *spu)
{
    return spu->config.misaligned_ptr != SPE_MISALIGNED_WRITE_ANYWAY &&
           (spu->record_start & (spu->config.min_align_bytes - 1)) != 0;
}

static void refuse_misaligned(const struct spe_spu *spu, struct attempt *a)
{
    bool fault = spu->config.misaligned_ptr == SPE_MISALIGNED_FAULT;

    a->fate = fault ? SPE_FATE_FAULT : SPE_FATE_NOT_ALLOWED;
    a->result = (struct spe_write_result){.fault = SPE_FAULT_ALIGNMENT, .stage = 1};
}

/* RTHGCR: nothing goes past the limit. A pointer that leaves no room for a record has been set so
 * by software against the rules, which makes it an access that is not allowed (D17.8.5). */
static bool fits(const struct spe_spu *spu, uint32_t size)
{
    uint64_t limit = spu_buffer_limit(spu);

    return spu->record_start <= limit && size <= limit - spu->record_start;
}

static void try_record(struct spe_spu *spu, struct attempt *a)
{
    a->fate = SPE_FATE_WRITTEN;
    if (spu->status.stopped || spu->late.left)
        a->fate = SPE_FATE_STOPPED;
    else if (!spu->status.buffer_enabled)
        a->fate = SPE_FATE_DISABLED;
    else if (spu->status.discard)
        a->fate = SPE_FATE_DISCARD_MODE;
    else if (misaligned(spu))
        refuse_misaligned(spu, a);
    else if (a->size == 0 || !fits(spu, a->size))
        a->fate = SPE_FATE_NOT_ALLOWED;
    else
        write_pieces(spu, a);
    /* Data of an access that is not allowed is discarded as a whole: D17.8.5. */
    if (a->fate == SPE_FATE_NOT_ALLOWED)
        a->written = 0;
}

static void account(struct spe_spu *spu, const struct attempt *a)
{
    uint32_t lost = a->size - a->written;

    spu->stats.bytes_built += a->size;
    spu->stats.bytes_written += a->written;
    spu->stats.bytes_discarded += lost;
    spu->stats.bytes_discarded_by[a->fate] += lost;
    spu->stats.records += a->fate == SPE_FATE_WRITTEN;
}

static void tell(struct spe_spu *spu, const struct spe_record *record, const struct attempt *a)
{
    if (a->fate == SPE_FATE_WRITTEN && spu->host.cti_trigger)
        spu->host.cti_trigger(spu->host.user, SPE_CTI_TRIGGER);
    if (spu->host.record) {
        const struct spe_record_notice notice = {
            .record = record,
            .bytes = a->bytes,
            .size = a->size,
            .pointer = spu->record_start,
            .written = a->written,
            .fate = (uint8_t)a->fate,
        };

        spu->host.record(spu->host.user, &notice);
    }
}

/* SPEBufferIsFull(): exactly one record of the largest size more still fits (D17.8.2). */
static bool full(const struct spe_spu *spu)
{
    return spu_buffer_limit(spu) - spu->reg[SPE_REG_PMBPTR_EL1] < spu->config.max_size;
}

/* At most one event: a fault or abort ends the record before the full test (RDTGVZ). After an abort
 * that is reported asynchronously the full test would find S set, so there is none either. */
static void record_events(struct spe_spu *spu, const struct attempt *a)
{
    switch (a->fate) {
    case SPE_FATE_FAULT:
        spu_event_fault(spu, &a->result, a->written != 0);
        return;
    case SPE_FATE_ABORT:
        spu_event_abort(spu, &a->result, a->late_abort, a->written != 0);
        return;
    case SPE_FATE_NOT_ALLOWED:
        if (spu->config.access_not_allowed == SPE_NOT_ALLOWED_EVENT)
            spu_event_other(spu, BSC_NOT_ALLOWED);
        return;
    case SPE_FATE_WRITTEN:
        if (full(spu))
            spu_event_other(spu, BSC_FULL);
        return;
    default:
        return;
    }
}

enum spe_sample_fate spu_buffer_write(struct spe_spu *spu, const struct spe_record *record)
{
    struct attempt a = {.written = 0};

    a.size = encode(spu, record, &a.bytes);
    spu->record_start = spu->reg[SPE_REG_PMBPTR_EL1];
    try_record(spu, &a);
    /* No derived state reads the pointer, so a record without an event needs no update. */
    spu->reg[SPE_REG_PMBPTR_EL1] = spu->record_start + a.written;
    account(spu, &a);
    tell(spu, record, &a);
    record_events(spu, &a);
    return a.fate;
}

/* ---- External aborts that come later -------------------------------------------------------- */

int spe_spu_external_abort(struct spe_spu *spu, const struct spe_write_result *abort)
{
    if (abort->fault != SPE_FAULT_EXTERNAL_ABORT)
        return SPE_ERR_INVALID;
    switch (abort_behaviour(spu, abort)) {
    case SPE_ABORT_IGNORE:
        return 0;
    case SPE_ABORT_SERROR:
        raise_serror(spu, spu->reg[SPE_REG_PMBPTR_EL1]);
        return 0;
    case SPE_ABORT_REPORT:
        if (spu->config.ext_abort_sync != SPE_EXT_ABORT_ASYNC)
            return SPE_ERR_INVALID;
        /* D17.5.5 makes no exception for writes that were made before Discard mode. */
        return spu->status.discard ? 0 : spu_event_abort(spu, abort, true, true);
    default: /* an MMU fault is known at the time of the write */
        return SPE_ERR_INVALID;
    }
}
