/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The SPE sample record format, version 0 (Arm ARM D18), both ways:
 *
 *   bytes <-> packets     spe_packet_decode, spe_packet_encode         D18.1.1, D18.1.4
 *   payloads <-> fields   spe_address_*, spe_op_*, spe_event_* ...     D18.2
 *   bytes -> records      spe_stream_*    (pieces, damage, accounting) D18.1.2, D18.1.3
 *   record -> bytes       spe_record_encode with a spe_layout
 *   bytes -> columns      spe_bulk_*      (the fast way, same answers)
 *   record -> violations  spe_check_record
 *
 * Use the lowest layer that is sufficient. Nothing here allocates memory, does I/O or keeps global
 * state. The caller owns every struct; one thread at a time may use it.
 */
#ifndef SPECIMEN_FORMAT_H
#define SPECIMEN_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "error.h"
#include "features.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The maximum of 2^PMSIDR_EL1.MaxSize; no record is larger. */
#define SPE_RECORD_MAX 2048
#define SPE_PACKET_MAX 10
#define SPE_INDEX_COUNT 32 /* Address and Counter packets have a 5-bit INDEX */

/* ---- Packets (D18.1) ------------------------------------------------------------------------ */

enum spe_packet_type {
    SPE_PACKET_UNKNOWN,     /* unallocated: skipped by its size, all bytes kept */
    SPE_PACKET_PADDING,     /* 0x00 */
    SPE_PACKET_END,         /* 0x01 */
    SPE_PACKET_TIMESTAMP,   /* 0x71 */
    SPE_PACKET_EVENTS,      /* 0x42 0x52 0x62 0x72 */
    SPE_PACKET_DATA_SOURCE, /* 0x43 0x53; 0x63 0x73 have a reserved size */
    SPE_PACKET_CONTEXT,     /* 0x64-0x67 */
    SPE_PACKET_OP_TYPE,     /* 0x48-0x4b */
    SPE_PACKET_ADDRESS,     /* 0xb0-0xb7, extended 0x20-0x23 0xb0-0xb7 */
    SPE_PACKET_COUNTER,     /* 0x98-0x9f, extended 0x20-0x23 0x98-0x9f */
    SPE_PACKET_TYPE_COUNT
};

struct spe_packet {
    uint64_t payload; /* little-endian value of the payload bytes, zero-extended */
    uint8_t type;     /* enum spe_packet_type, determined by the header */
    uint8_t index;    /* INDEX of Address, Counter and Context, CLASS of Operation Type, else 0 */
    uint8_t header_size;  /* 1, or 2 for the extended format */
    uint8_t payload_size; /* 0, 1, 2, 4 or 8 */
    uint8_t header[2];    /* as in memory; header[1] is 0 when header_size is 1 */
};

/* The status of an encoding. Reserved packets are skipped, never rejected. */
enum spe_definition {
    SPE_DEFINED,
    SPE_IMPDEF,   /* IMPLEMENTATION DEFINED */
    SPE_RESERVED, /* reserved, or needs a feature that is not in the set, or reads as zero */
};

/* The size of the packet whose header starts at `bytes`: 1 to 10. SPE_ERR_TRUNCATED if len is too
 * short for the header, SPE_ERR_FRAMING if the second byte of an extended header is 0x20-0x3f. The
 * payload itself is not needed. */
SPE_API int spe_packet_size(const uint8_t *bytes, size_t len);

/* Decode one packet. Returns its size; SPE_ERR_TRUNCATED if it does not end within len;
 * SPE_ERR_FRAMING as above. *packet is written on success only. */
SPE_API int spe_packet_decode(const uint8_t *bytes, size_t len, struct spe_packet *packet);

/* The inverse: writes the bytes that decode read and returns their number. SPE_ERR_INVALID if
 * header and sizes are inconsistent, SPE_ERR_RANGE if the payload does not fit, SPE_ERR_NOSPACE if
 * len is too short. */
SPE_API int spe_packet_encode(const struct spe_packet *packet, uint8_t *bytes, size_t len);

/* Make a packet of a given type. index is as in the struct; payload_size matters only for Events
 * (1, 2, 4, 8) and Data Source (1, 2). Address and Counter INDEX 8 and above get the extended
 * header. SPE_ERR_INVALID or SPE_ERR_RANGE if no such packet exists. */
SPE_API int spe_packet_make(struct spe_packet *packet, enum spe_packet_type type, unsigned index,
                            unsigned payload_size, uint64_t payload);

/* Are the packet's header and payload defined with these features? This checks only the header
 * index, CLASS and SUBCLASS. spe_check_record checks whole records. */
SPE_API enum spe_definition spe_packet_status(const struct spe_packet *packet,
                                              spe_features features);

/* "Address", "Operation Type" ...; never NULL. */
SPE_API const char *spe_packet_type_name(unsigned type);

/* ---- Addresses (D18.2.1) -------------------------------------------------------------------- */

enum spe_address_index {
    SPE_ADDRESS_PC = 0,
    SPE_ADDRESS_TARGET = 1,
    SPE_ADDRESS_VA = 2,
    SPE_ADDRESS_PA = 3,
    SPE_ADDRESS_PREVIOUS_TARGET = 4, /* FEAT_SPE_PBT */
};

/* Numbered {NSE,NS}. */
enum spe_security {
    SPE_SECURE = 0,
    SPE_NONSECURE = 1,
    SPE_SECURITY_RESERVED = 2,
    SPE_REALM = 3,
};

struct spe_address {
    uint64_t address; /* bits [55:0] */
    uint8_t el;       /* instruction addresses */
    uint8_t ns, nse;  /* instruction addresses and PA */
    uint8_t tag;      /* data VA: the top byte */
    uint8_t ch, pat;  /* PA: tag checked, Physical Address Tag */
    uint8_t zero;     /* bits that read as zero: PC and targets [3:0], PA bit [5]; kept as found */
};

/* Split a payload into the fields of its INDEX. Reserved and IMPLEMENTATION DEFINED indexes have no
 * fields: address and tag then hold bits [55:0] and [63:56]. */
SPE_API void spe_address_decode(unsigned index, uint64_t payload, struct spe_address *a);

/* The inverse; for every index and payload, encode(decode(payload)) == payload. */
SPE_API uint64_t spe_address_encode(unsigned index, const struct spe_address *a);

/* The 64-bit address that software uses: a virtual address sign-extended from bit 55, without its
 * tag; a physical address unchanged. */
SPE_API uint64_t spe_address_canonical(unsigned index, uint64_t payload);

/* Security state of an instruction address, physical address space of a PA. Without FEAT_RME the
 * NSE bit is ignored. */
SPE_API enum spe_security spe_address_security(const struct spe_address *a, spe_features features);

SPE_API enum spe_definition spe_address_status(unsigned index, spe_features features);
SPE_API const char *spe_address_name(unsigned index); /* "pc", "target" ..., or NULL */

/* ---- Contexts (D18.2.2) --------------------------------------------------------------------- */

/* INDEX 0 is CONTEXTIDR_EL1, 1 is CONTEXTIDR_EL2, 2 and 3 are reserved. */
#define SPE_CONTEXT_COUNT 2

/* ---- Counters (D18.2.3) --------------------------------------------------------------------- */

enum spe_counter_index {
    SPE_COUNTER_TOTAL = 0,
    SPE_COUNTER_ISSUE = 1,
    SPE_COUNTER_TRANSLATION = 2,
    SPE_COUNTER_ALT_ISSUE = 4, /* in the clock domain of PMSIDR_EL1.ALTCLK */
};

/* The maximum of a counter of 12 or 16 bits. A counter with this value is saturated. */
static inline uint16_t spe_counter_max(unsigned count_bits)
{
    return count_bits == 12 ? 0xfff : 0xffff;
}

/* Clip a latency to the maximum of the counter (counters saturate, D18.2.3). */
static inline uint16_t spe_counter_clip(uint64_t cycles, unsigned count_bits)
{
    uint16_t max = spe_counter_max(count_bits);

    return cycles > max ? max : (uint16_t)cycles;
}

static inline bool spe_counter_saturated(uint16_t count, unsigned count_bits)
{
    return count >= spe_counter_max(count_bits);
}

SPE_API enum spe_definition spe_counter_status(unsigned index, spe_features features);
SPE_API const char *spe_counter_name(unsigned index); /* "total", "issue" ..., or NULL */

/* ---- Events (D18.2.6) ----------------------------------------------------------------------- */

enum spe_event {
    SPE_EVENT_EXCEPTION = 0,
    SPE_EVENT_RETIRED = 1,
    SPE_EVENT_L1D_ACCESS = 2,
    SPE_EVENT_L1D_MISS = 3, /* refill before FEAT_SPEv1p4, miss with it */
    SPE_EVENT_TLB_ACCESS = 4,
    SPE_EVENT_TLB_WALK = 5,
    SPE_EVENT_NOT_TAKEN = 6,
    SPE_EVENT_MISPREDICTED = 7,
    SPE_EVENT_LLC_ACCESS = 8,
    SPE_EVENT_LLC_MISS = 9,
    SPE_EVENT_REMOTE = 10,
    SPE_EVENT_MISALIGNED = 11,
    SPE_EVENT_TRANSACTIONAL = 16, /* always zero */
    SPE_EVENT_PARTIAL_PREDICATE = 17,
    SPE_EVENT_EMPTY_PREDICATE = 18,
    SPE_EVENT_L2D_ACCESS = 19,
    SPE_EVENT_L2D_MISS = 20,
    SPE_EVENT_MODIFIED = 21,
    SPE_EVENT_RECENTLY_FETCHED = 22,
    SPE_EVENT_SNOOPED = 23,
    SPE_EVENT_STREAMING = 24,
    SPE_EVENT_SMCU = 25,
};

#define SPE_EVENT_BIT(name) (UINT64_C(1) << SPE_EVENT_##name)

SPE_API enum spe_definition spe_event_status(unsigned event, spe_features features);

/* The events that may be 1 with these features: the defined and the IMPLEMENTATION DEFINED ones. */
SPE_API uint64_t spe_events_allowed(spe_features features);

/* A lower-case name ("l1d_miss"), or NULL. */
SPE_API const char *spe_event_name(unsigned event);

/* The architecture's definition in one sentence, or NULL. */
SPE_API const char *spe_event_sentence(unsigned event, spe_features features);

/* The size of the smallest Events payload that holds all set bits: 1, 2, 4 or 8 (D18.2-060). */
SPE_API unsigned spe_events_size(uint64_t events);

/* ---- Operation types (D18.2.7) -------------------------------------------------------------- */

enum spe_op_class {
    SPE_CLASS_OTHER = 0,
    SPE_CLASS_LDST = 1,
    SPE_CLASS_BRANCH = 2,
    SPE_CLASS_RESERVED = 3,
};

enum spe_op_kind {
    SPE_OP_RESERVED,
    SPE_OP_OTHER,
    SPE_OP_SVE,     /* data processing, SVE vector */
    SPE_OP_SME,     /* data processing, SME array */
    SPE_OP_GP,      /* load/store of general-purpose registers */
    SPE_OP_SIMD_FP, /* ... SIMD&FP registers */
    SPE_OP_UNSPECIFIED,
    SPE_OP_TAG,      /* Allocation Tags */
    SPE_OP_NV2,      /* MRS/MSR transformed into a load/store */
    SPE_OP_EXTENDED, /* atomic, acquire, release, exclusive */
    SPE_OP_SVE_LDST, /* SVE or SME registers */
    SPE_OP_MEMCPY,
    SPE_OP_MEMSET,
    SPE_OP_GCS,
    SPE_OP_BRANCH,
    SPE_OP_KIND_COUNT
};

/* Call or return, FEAT_SPE_CRR. */
enum spe_cr {
    SPE_CR_NOT_RECORDED = 0,
    SPE_CR_LINK = 1,
    SPE_CR_RETURN = 2,
    SPE_CR_NEITHER = 3,
};

#define SPE_EVL_OVER 7   /* EVL: more than 2048 bits, FEAT_SPE_SME */
#define SPE_ETS_WHOLE 15 /* ETS: the whole ZA array */

struct spe_op {
    uint8_t kind;        /* enum spe_op_kind */
    uint8_t class_;      /* enum spe_op_class */
    uint8_t payload;     /* the byte itself; SPE_OP_RESERVED has no other fields */
    bool store;          /* LDST: the instruction does not read memory */
    bool cond, ind, gcs; /* branch (cond: also other) */
    uint8_t cr;          /* branch: enum spe_cr */
    bool ase, fp;        /* other; fp: also SVE, SME */
    bool ar, excl, at;   /* extended */
    bool pred, sg;       /* SVE */
    uint8_t evl;         /* SVE and SVE load/store: 0-7 */
    uint8_t ets;         /* SME: 0-15 */
    bool comm;           /* GCS */
};

/* Classify a (class, payload) by its SUBCLASS pattern, whatever the features. Never fails: without
 * a matching pattern the kind is SPE_OP_RESERVED. */
SPE_API void spe_op_decode(unsigned class_, uint8_t payload, struct spe_op *op);

/* The inverse: sets class_ and payload from kind and fields. SPE_ERR_RANGE if a field does not fit,
 * SPE_ERR_INVALID if the kind has no encoding. Fields that the kind does not have are ignored. */
SPE_API int spe_op_encode(struct spe_op *op);

/* Reserved if the pattern, the features of its kind, or the value of a field (EVL, ETS) is
 * reserved. */
SPE_API enum spe_definition spe_op_status(const struct spe_op *op, spe_features features);

SPE_API const char *spe_op_kind_name(unsigned kind); /* "other", "gp", "sve_ldst" ...; never NULL */

/* Bits of a vector (EVL) or of a part of ZA (ETS); 0 if the field gives no size: EVL 0b111, ETS
 * 0b1111 and the reserved values. */
SPE_API uint32_t spe_evl_bits(unsigned evl);
SPE_API uint32_t spe_ets_bits(unsigned ets);

/* The field for a length in bits, rounded up to a power of two, at least 32 (EVL) or 128 (ETS).
 * Above 2048, EVL is SPE_EVL_OVER; above 262144, ETS is SPE_ETS_WHOLE (U08). */
SPE_API unsigned spe_evl_from_bits(uint32_t bits);
SPE_API unsigned spe_ets_from_bits(uint32_t bits);

/* ---- Records (D18.1.2) ---------------------------------------------------------------------- */

/* spe_record.has: the packets without an index that the record has. */
enum {
    SPE_HAS_OP = 1u << 0,
    SPE_HAS_EVENTS = 1u << 1,
    SPE_HAS_SOURCE = 1u << 2,
    SPE_HAS_CONTEXT1 = 1u << 3, /* CONTEXTIDR_EL1 */
    SPE_HAS_CONTEXT2 = 1u << 4, /* CONTEXTIDR_EL2 */
    SPE_HAS_TIMESTAMP = 1u << 5,
};

/*
 * One record. Only fields whose presence bit is set are valid; the others keep their previous
 * contents. Payloads are as in the packets: decode them with the functions above.
 */
struct spe_record {
    uint32_t has;       /* SPE_HAS_* */
    uint32_t addresses; /* bit i: address[i] is present */
    uint32_t counters;  /* bit i: counter[i] is present */
    uint32_t context[SPE_CONTEXT_COUNT];
    uint64_t events; /* bits that are not in the packet are zero (D18.2.6) */
    uint64_t timestamp;
    uint16_t source;
    uint8_t source_size;  /* bytes of SOURCE: 1 or 2 */
    uint8_t events_size;  /* bytes of the Events payload: 1, 2, 4 or 8 */
    uint8_t op_class, op; /* CLASS (0-2) and SUBCLASS payload: see spe_op_decode */
    uint16_t unknown;     /* skipped packets: unallocated or reserved headers */
    uint16_t padding;     /* padding bytes inside the record */
    uint16_t size;        /* bytes in the stream, from the first header to the terminator */
    uint64_t address[SPE_INDEX_COUNT];
    uint16_t counter[SPE_INDEX_COUNT];
};

/* Clear the record. This is cheaper than zeroing it, and sufficient. */
static inline void spe_record_clear(struct spe_record *r)
{
    r->has = 0;
    r->addresses = 0;
    r->counters = 0;
    r->source_size = 0;
    r->events_size = 0;
    r->unknown = 0;
    r->padding = 0;
    r->size = 0;
}

static inline bool spe_record_has_address(const struct spe_record *r, unsigned index)
{
    return r->addresses >> index & 1;
}

static inline bool spe_record_has_counter(const struct spe_record *r, unsigned index)
{
    return r->counters >> index & 1;
}

/* ---- Streams: records out of bytes ---------------------------------------------------------- */

/* Why bytes were skipped. */
enum spe_skip_reason {
    SPE_SKIP_FRAMING,   /* a header that has no size */
    SPE_SKIP_DUPLICATE, /* a packet that a record cannot have twice: a terminator was lost */
    SPE_SKIP_OVERSIZE,  /* no terminator within SPE_RECORD_MAX bytes */
    SPE_SKIP_TRUNCATED, /* the stream ended inside a record */
    SPE_SKIP_UNSYNCED,  /* the stream began inside a record (SPE_STREAM_UNSYNCED) */
    SPE_SKIP_REASON_COUNT
};

#define SPE_SKIP_ROOM 8 /* size of tables by reason, with room for more */

SPE_API const char *spe_skip_reason_name(unsigned reason); /* a short phrase; never NULL */

enum spe_item_type {
    SPE_ITEM_NONE = 0, /* feed more bytes, or the stream has ended */
    SPE_ITEM_RECORD,
    SPE_ITEM_SKIPPED,
};

struct spe_item {
    uint8_t type;    /* enum spe_item_type */
    uint8_t reason;  /* SPE_ITEM_SKIPPED: enum spe_skip_reason */
    uint64_t offset; /* of the first byte, in the stream */
    uint64_t size;   /* bytes; for a record: from the first header to the terminator, inclusive */
    const uint8_t *bytes; /* SPE_ITEM_RECORD: the record's bytes, valid until the next call on the
                             stream; NULL for a skipped range */
};

/* Always: record_bytes + padding_bytes + skipped_bytes + pending bytes = bytes. After
 * spe_stream_end and the last item nothing is pending. */
struct spe_account {
    uint64_t bytes;                     /* fed */
    uint64_t records;                   /* number of records */
    uint64_t record_bytes;              /* bytes in records, including padding inside them */
    uint64_t padding_bytes;             /* between records */
    uint64_t skipped;                   /* number of skipped ranges */
    uint64_t skipped_bytes;             /* bytes in these ranges */
    uint64_t skipped_by[SPE_SKIP_ROOM]; /* bytes, by reason */
    uint64_t unknown;                   /* skipped packets in records */
};

enum {
    SPE_STREAM_UNSYNCED = 1u << 0, /* the first bytes may be inside a record (snapshots) */
};

/*
 * A stream decodes the bytes of one buffer queue. Bytes arrive in pieces that may be split
 * anywhere; the results do not depend on the split. The caller provides spe_stream_sizeof() bytes
 * of memory, aligned as by malloc. Nothing has to be released afterwards.
 */
struct spe_stream;

/* The size in bytes. */
SPE_API size_t spe_stream_sizeof(void);

SPE_API void spe_stream_init(struct spe_stream *s, unsigned flags);

/* Give the next piece. The stream borrows it until spe_stream_next returns SPE_ITEM_NONE; only then
 * may the next piece be given. SPE_ERR_INVALID if it is given earlier, or after spe_stream_end. */
SPE_API int spe_stream_feed(struct spe_stream *s, const uint8_t *bytes, size_t len);

/* Mark the end of the input, so that the stream processes the remaining bytes. */
SPE_API void spe_stream_end(struct spe_stream *s);

/* Get the next item; *record is written for SPE_ITEM_RECORD only. Returns item->type. */
SPE_API int spe_stream_next(struct spe_stream *s, struct spe_item *item, struct spe_record *record);

/* The account of all bytes so far. The stream owns it. */
SPE_API const struct spe_account *spe_stream_account(const struct spe_stream *s);

/*
 * Do the first bytes of a file look like SPE records? At least half of the bytes, without padding
 * and a record that is not complete yet, must be consistent records. `end`: the file has no more
 * bytes. Returns 1 or 0; SPE_ERR_TRUNCATED if more bytes are needed, which never happens with `end`
 * or SPE_PROBE_SIZE bytes. If they do not, *what is a clause such as "it looks like text".
 */
#define SPE_PROBE_SIZE 65536
SPE_API int spe_stream_probe(const uint8_t *bytes, size_t size, bool end, const char **what);

/* Decode one record from contiguous bytes that start with its first header. Returns its size,
 * SPE_ERR_TRUNCATED, or an error if it is damaged. Leading padding is not skipped. */
SPE_API int spe_record_decode(const uint8_t *bytes, size_t len, struct spe_record *record);

/* ---- Layouts: bytes out of records ---------------------------------------------------------- */

#define SPE_LAYOUT_SLOTS 16
#define SPE_SLOT_NEXT 0xffff /* directly after the slot before it */
#define SPE_SLOT_ALL 0xff    /* a slot for all packets of its type, by ascending INDEX */

struct spe_layout_slot {
    uint8_t type;   /* enum spe_packet_type: Context, Counter, Address, Data Source, Op, Events */
    uint8_t index;  /* INDEX, for the first three, or SPE_SLOT_ALL; else 0 */
    uint16_t place; /* byte offset in the record, padded up to it; or SPE_SLOT_NEXT */
};

/*
 * The order and the positions of the packets in an implementation's records. For a packet without a
 * slot, spe_record_encode fails with SPE_ERR_LAYOUT. The terminator is always last (D18.1.2).
 */
struct spe_layout {
    const char *name;
    uint16_t terminator_place; /* offset of Timestamp or End, or SPE_SLOT_NEXT */
    uint16_t min_size;         /* records are padded to at least this size, after the terminator */
    uint16_t max_size;         /* 2^PMSIDR_EL1.MaxSize */
    uint16_t align;            /* 2^PMBIDR_EL1.Align: sizes are padded to a multiple of it */
    uint8_t events_size;       /* 1, 2, 4, 8, or 0 = the smallest that holds the events */
    uint8_t source_size;       /* 1 or 2, or 0 = that of the record */
    uint8_t count_bits;        /* 12 or 16: counters are clipped to it */
    uint8_t slots;
    struct spe_layout_slot slot[SPE_LAYOUT_SLOTS];
};

/* "architecture" (the order of the Arm ARM's pseudocode), "neoverse-n1", "kunpeng-920"; NULL if
 * there is no such layout. */
SPE_API const struct spe_layout *spe_layout_by_name(const char *name);
SPE_API const struct spe_layout *spe_layout_at(size_t i); /* for listing; NULL past the last */

/* Zero if the layout is valid, else SPE_ERR_INVALID with a sentence in `why`. */
SPE_API int spe_layout_validate(const struct spe_layout *layout, char *why, size_t why_size);

/*
 * Write the record, with its terminator and padding. Returns its size, a multiple of the alignment.
 * record->padding, unknown and size are ignored. SPE_ERR_LAYOUT, SPE_ERR_SIZE, SPE_ERR_NOSPACE;
 * SPE_ERR_RANGE if a value does not fit its packet (events in a smaller Events payload, a source of
 * two bytes in one byte).
 */
SPE_API int spe_record_encode(const struct spe_record *record, const struct spe_layout *layout,
                              uint8_t *bytes, size_t len);

/* ---- Bulk: columns out of bytes ------------------------------------------------------------- */

/*
 * Columns: each is an array of `capacity` elements, or NULL to leave it out. A cell is zero if the
 * record does not have its packet; `has`, `addresses` and `counters` distinguish this from a zero.
 */
struct spe_columns {
    size_t size;                                       /* written by spe_columns_init */
    size_t capacity;                                   /* rows that the arrays have room for */
    size_t rows;                                       /* rows filled; spe_bulk_next appends */
    uint64_t *offset;                                  /* of the record in the stream */
    uint64_t *pc, *target, *va, *pa, *previous_target; /* payloads, index 0-4 */
    uint64_t *events, *timestamp;
    uint32_t *context1, *context2;
    uint16_t *total, *issue, *translation, *alt_issue; /* counters 0, 1, 2, 4 */
    uint16_t *source;
    uint16_t *op;       /* CLASS << 8 | payload */
    uint8_t *has;       /* SPE_HAS_* */
    uint8_t *addresses; /* bit i: address i is present, i < 8 */
    uint8_t *counters;  /* likewise */
};

/* No columns, capacity 0. */
static inline void spe_columns_init(struct spe_columns *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

/*
 * The bulk decoder is a stream that remembers the layouts of the records it has decoded. The caller
 * provides spe_bulk_sizeof() bytes of memory, as for a stream.
 */
struct spe_bulk;

enum spe_bulk_path {
    SPE_BULK_AUTO,     /* the fastest that this CPU supports */
    SPE_BULK_ITERATOR, /* no prediction: the reference */
    SPE_BULK_PORTABLE,
    SPE_BULK_AVX2,
    SPE_BULK_AVX512, /* with VBMI: Zen 4, Ice Lake and later */
    SPE_BULK_NEON,
};

/* The size in bytes. */
SPE_API size_t spe_bulk_sizeof(void);

/* SPE_ERR_INVALID if this CPU or build does not support the path. */
SPE_API int spe_bulk_init(struct spe_bulk *b, unsigned flags, enum spe_bulk_path path);
SPE_API int spe_bulk_feed(struct spe_bulk *b, const uint8_t *bytes, size_t len);
SPE_API void spe_bulk_end(struct spe_bulk *b);

/*
 * Append rows until the columns are full, a range is skipped, or the piece is used up. Returns
 * SPE_ITEM_RECORD when the columns are full, SPE_ITEM_SKIPPED with *skipped filled (rows so far
 * come before it), or SPE_ITEM_NONE when more bytes are needed or the stream has ended;
 * SPE_ERR_INVALID if columns->size is 0, or a column is set that this library does not know.
 */
SPE_API int spe_bulk_next(struct spe_bulk *b, struct spe_columns *columns,
                          struct spe_item *skipped);

/*
 * Records that the caller does not need can be passed over, which is faster than decoding them into
 * rows. A record is passed over if its timestamp is from `first` to `last`, it has exactly these
 * contexts, and its pc is below `low`, above `high` or its bit is not set. Other records become
 * rows. The results are sums over all calls.
 *
 * With `data`, the data source decides instead of the pc: loads and stores with a data address and
 * a wanted data source become rows. The others are added to sums, and notes are kept, with which
 * the records of a cache line can be found again.
 */
#define SPE_PASS_BITS 32768
#define SPE_PASS_NOTED 8

/* Up to eight records, at equal distances, that were passed over. */
struct spe_pass_note {
    uint64_t place; /* of the first record, as bytes from `base`, << 16; distance << 8; number of
                       records */
    uint16_t line[SPE_PASS_NOTED]; /* spe_pass_line of the data address, or of 0 */
};

enum { /* of spe_pass_data.sources */
       SPE_PASS_SAID = 1,
       SPE_PASS_WANTED = 2
};

struct spe_pass_data {
    size_t size;          /* written by spe_pass_data_init */
    uint8_t sources[256]; /* SPE_PASS_... by data source; a missing or larger source is neither */
    unsigned shift;       /* lines of 2^shift bytes */
    const uint8_t *base;  /* all bytes fed are less than 2^47 bytes from here */
    struct spe_pass_note *notes;
    size_t count, capacity; /* of notes; passing over stops when they are full */

    /* Sums of the loads and stores that were passed over. */
    uint64_t samples, stores; /* with a data address; of these, stores */
    uint64_t latency, said;   /* of these: sum of total latencies, number with SPE_PASS_SAID */
    uint64_t no_address;
};

static inline void spe_pass_data_init(struct spe_pass_data *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

/* A hash of the line: lines with different hashes are different. */
static inline uint16_t spe_pass_line(uint64_t address, unsigned shift)
{
    uint64_t line = (address & UINT64_MAX >> 8) >> shift;

    return (uint16_t)(line ^ line >> 16);
}

struct spe_bulk_pass {
    size_t size;         /* written by spe_bulk_pass_init */
    const uint64_t *pcs; /* SPE_PASS_BITS bits, indexed by spe_pass_bit */
    uint64_t low, high;  /* a pc outside this range is passed over; 56 bits each */
    unsigned grain;
    unsigned has; /* SPE_HAS_CONTEXT1, SPE_HAS_CONTEXT2 */
    uint32_t context[2];
    uint64_t first, last;

    uint64_t records, latency;  /* passed over; sum of their total latencies (not with `data`) */
    uint64_t timestamp;         /* of the last record, passed over or not */
    struct spe_pass_data *data; /* or NULL */
};

static inline void spe_bulk_pass_init(struct spe_bulk_pass *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

/* The bit of a pc (an Address payload, or an address as software uses it). All addresses in 2^grain
 * bytes share a bit; bits repeat after SPE_PASS_BITS times as many bytes. */
static inline uint64_t spe_pass_bit(uint64_t pc, unsigned grain)
{
    return (pc & UINT64_MAX >> 8) >> grain & (SPE_PASS_BITS - 1);
}

/*
 * Like spe_bulk_next, but passes over records and may stop at any point. Returns 1 after a row with
 * other contexts or another time; 0 when the columns are full, or when only spe_bulk_next can
 * continue; SPE_ERR_INVALID as there. All rows that it appends have a timestamp.
 */
SPE_API int spe_bulk_pass(struct spe_bulk *b, struct spe_columns *columns,
                          struct spe_bulk_pass *pass);

/* Append the row of a record that this decoder passed over, with offset 0; a note gives the address
 * of its bytes. The position of the stream does not change. SPE_OK; SPE_ERR_INVALID if the columns
 * are full or have another size; an error if the bytes are not a record any more. */
SPE_API int spe_bulk_noted(const struct spe_bulk *b, struct spe_columns *columns,
                           const uint8_t *bytes);

/* The account of all bytes so far. The decoder owns it. */
SPE_API const struct spe_account *spe_bulk_account(const struct spe_bulk *b);

/* ---- CPUs by their MIDR (data in src/format/cpus.c) ------------------------------------ */

/* Where the data came from, according to the CPU's table. */
enum spe_source_level {
    SPE_LEVEL_UNKNOWN,
    SPE_LEVEL_L1,
    SPE_LEVEL_L2,
    SPE_LEVEL_L3, /* system or cluster cache */
    SPE_LEVEL_PEER_CORE,
    SPE_LEVEL_LOCAL_CLUSTER,
    SPE_LEVEL_PEER_CLUSTER,
    SPE_LEVEL_REMOTE_CACHE, /* another socket's cache, or a remote place without a name */
    SPE_LEVEL_DRAM,
    SPE_LEVEL_REMOTE_DRAM,
    SPE_LEVEL_IO,
    SPE_LEVEL_COUNT
};

SPE_API const char *spe_source_level_name(unsigned level);

struct spe_source {
    uint16_t value;
    uint8_t level;    /* enum spe_source_level */
    bool modified;    /* the line was dirty there */
    const char *name; /* "L1D", "Peer core" ... */
};

struct spe_source_table {
    const char *name;
    const struct spe_source *sources;
    size_t count;
};

struct spe_cpu {
    const char *name;                       /* "neoverse-n1" */
    const char *title;                      /* "Arm Neoverse N1" */
    uint8_t implementer;                    /* MIDR_EL1[31:24] */
    uint16_t part;                          /* MIDR_EL1[15:4] */
    const struct spe_source_table *sources; /* NULL: its data sources are not known */
    spe_features features;                  /* 0: not known here */
    const struct spe_layout *layout;        /* NULL: not known here */
    uint64_t named_impdef_events; /* IMPLEMENTATION DEFINED events with spe_cpu_event_name */
};

SPE_API const struct spe_cpu *
spe_cpu_by_midr(uint64_t midr); /* any variant and revision; or NULL */
SPE_API const struct spe_cpu *spe_cpu_by_name(const char *name);
SPE_API const struct spe_cpu *spe_cpu_at(size_t i);

/* The source's entry in the CPU's table; NULL if the CPU or the value is not known. */
SPE_API const struct spe_source *spe_cpu_source(const struct spe_cpu *cpu, uint16_t value);

/* Name of an IMPLEMENTATION DEFINED event on this CPU ("late_prefetch"), or NULL. */
SPE_API const char *spe_cpu_event_name(const struct spe_cpu *cpu, unsigned event);

/* ---- Validation ----------------------------------------------------------------------------- */

struct spe_check_config {
    size_t size; /* written by spe_check_config_init */
    spe_features features;
    unsigned count_bits; /* 12 or 16; 0: not checked */
    unsigned max_size;   /* bytes; 0: SPE_RECORD_MAX */
    unsigned align;      /* bytes; records start at a multiple of it; 0 or 1: not checked */
    bool speculative;    /* operations that do not retire may be sampled: E[1] may be 0 */
    bool tbi;            /* data VAs have a tag: the top byte may have any value */
};

/* The default: no features, no optional checks. */
static inline void spe_check_config_init(struct spe_check_config *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

enum spe_severity { SPE_VIOLATION, SPE_REMARK };

struct spe_rule {
    const char *name;      /* "missing-events" */
    const char *reference; /* "D18.2.6" or a requirement id */
    const char *sentence;
};

struct spe_violation {
    const struct spe_rule *rule;
    uint64_t offset;  /* of the record or packet, in the stream */
    char detail[120]; /* "context INDEX 2", may be empty */
    uint8_t severity; /* enum spe_severity: SPE_REMARK if the rule has exceptions */
};

typedef void spe_violation_fn(void *user, const struct spe_violation *violation);

/*
 * Check one record, as spe_stream_next returns it, against the configuration. Calls fn for each
 * violation and returns their number. SPE_ERR_INVALID if config->size is 0, or a member is set that
 * this library does not know. `bytes` may be the item's bytes.
 */
SPE_API int spe_check_record(const struct spe_check_config *config, const uint8_t *bytes,
                             size_t len, uint64_t offset, spe_violation_fn *fn, void *user);

SPE_API const struct spe_rule *spe_rule_at(size_t i); /* for listing; NULL past the last */

#ifdef __cplusplus
}
#endif
#endif
