/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Is a record one that the architecture lets a PE with these features write? D18 says which
 * encodings there are, D17.6 what a record of each kind of operation holds.
 *
 * D17.6 leaves much open: an operation that was not Architecturally executed, or that generated an
 * exception, may lack anything but Events and terminator (D17.6, D17.6.10), and so may a few
 * that met an exception condition without taking an exception. Only what no reading permits is a
 * violation; a remark is what only such an operation, or one reading of two, would permit.
 */
#include <specimen/format.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"

/* ---- Rules ---------------------------------------------------------------------------------- */

enum rule {
    RULE_BAD_FRAMING,
    RULE_UNALLOCATED_HEADER,
    RULE_MISSING_TERMINATOR,
    RULE_TERMINATOR_NOT_LAST,
    RULE_DUPLICATE,
    RULE_OVERSIZE,
    RULE_MISALIGNED,
    RULE_RESERVED_INDEX,
    RULE_RESERVED_SOURCE_SIZE,
    RULE_RESERVED_OP,
    RULE_MISSING_EVENTS,
    RULE_MISSING_OP,
    RULE_MISSING_PC,
    RULE_MISSING_TARGET,
    RULE_MISSING_VA,
    RULE_MISSING_SOURCE,
    RULE_EVENT_READS_ZERO,
    RULE_EMPTY_NOT_PARTIAL,
    RULE_NOT_RETIRED,
    RULE_MISPREDICTED_NOT_BRANCH,
    RULE_NOT_TAKEN_UNCONDITIONAL,
    RULE_MEMORY_EVENT,
    RULE_PREDICATE_EVENT,
    RULE_TARGET_OF_EXCEPTION,
    RULE_TARGET_NOT_BRANCH,
    RULE_DATA_ADDRESS_NOT_MEMORY,
    RULE_PA_WITHOUT_VA,
    RULE_PREVIOUS_TARGET_SPECULATIVE,
    RULE_TRANSLATION_NOT_MEMORY,
    RULE_TRANSLATION_WITHOUT_VA,
    RULE_ALT_ISSUE_NOT_STREAMING,
    RULE_SOURCE_WITHOUT_LDS,
    RULE_SOURCE_NOT_LOAD,
    RULE_COUNTER_TOO_WIDE,
    RULE_ISSUE_OVER_TOTAL,
    RULE_CR_WITHOUT_CRR,
    RULE_CR_NOT_RECORDED,
    RULE_BRANCH_GCS,
    RULE_OTHER_FLAGS,
    RULE_LOAD_PREDICATED,
    RULE_GCS_COMMON,
    RULE_ADDRESS_ZERO_BITS,
    RULE_NSE_WITHOUT_RME,
    RULE_SECURITY_RESERVED,
    RULE_SECURE_NOT_IMPLEMENTED,
    RULE_TAG_FIELDS_WITHOUT_MTE2,
    RULE_PC_AT_EL3,
    RULE_TAG_WITHOUT_TBI,
    RULE_COUNT
};

/* The comment beside a rule names the requirements that it enforces, where `reference` has not room
 * for them. */
static const struct spe_rule rules[RULE_COUNT] = {
    /* D18.1-004, D18.1-011 */
    [RULE_BAD_FRAMING] = {"bad-framing", "D18.1.1",
                          "every packet's size follows from its header and ends within the record"},
    /* D18.1-034, D18.1-038 */
    [RULE_UNALLOCATED_HEADER] = {"unallocated-header", "D18.1.4",
                                 "a header is one that Tables D18-1 and D18-2 list"},
    /* D18.1-012, D17.6-160, D17.6-194, D18.2-141 */
    [RULE_MISSING_TERMINATOR] = {"missing-terminator", "D18.1.2",
                                 "a record ends with an End or a Timestamp packet"},
    /* D18.1-012, D18.1-019, D18.2-141 */
    [RULE_TERMINATOR_NOT_LAST] = {"terminator-not-last", "D18.1.2",
                                  "a record has one terminator, and nothing follows it"},
    /* Implied: D18.2 gives each value one packet of a record. */
    [RULE_DUPLICATE] = {"duplicate-packet", "D18.2", "a record holds a packet once"},
    [RULE_OVERSIZE] = {"oversize", "PMSIDR_EL1.MaxSize",
                       "a record is not larger than the implementation says"},
    /* D18.1-020 */
    [RULE_MISALIGNED] = {"misaligned", "PMBIDR_EL1.Align", "a record starts aligned"},
    /* D18.2-009, D18.2-010, D18.2-032, D18.2-039, D18.2-040 */
    [RULE_RESERVED_INDEX] = {"reserved-index", "D18.2",
                             "an INDEX is defined or IMPLEMENTATION DEFINED under the features"},
    /* D18.1-029, D18.2-051 */
    [RULE_RESERVED_SOURCE_SIZE] = {"reserved-source-size", "D18.2.4",
                                   "a Data Source payload is a byte or a halfword"},
    /* D18.2-099, D18.2-100, D18.2-104, D18.2-105, D18.2-109, D18.2-110, D18.2-118 to D18.2-120,
     * D18.2-124, D18.2-129 to D18.2-131, D18.2-133 */
    [RULE_RESERVED_OP] = {"reserved-operation", "D18.2.7",
                          "CLASS, SUBCLASS, EVL and ETS have values that the features define"},
    /* D17.6-160, D17.6-194 */
    [RULE_MISSING_EVENTS] = {"missing-events", "D17.6.10", "every record has an Events packet"},
    /* D17.6-010, D17.6-011 */
    [RULE_MISSING_OP] = {"missing-operation", "D17.6",
                         "an operation executed without exception has its type recorded"},
    /* D17.6-009 */
    [RULE_MISSING_PC] = {"missing-pc", "D17.6",
                         "an operation executed without exception has its PC recorded"},
    /* D17.6-028 */
    [RULE_MISSING_TARGET] = {"missing-target", "D17.6.3",
                             "a taken branch executed without exception has its target recorded"},
    /* D17.6-049 */
    [RULE_MISSING_VA] =
        {"missing-data-address", "D17.6.4",
         "a load or store executed without exception has its data address recorded"},
    /* D18.2-052 */
    [RULE_MISSING_SOURCE] = {"missing-data-source", "D18.2.4",
                             "with FEAT_SPE_LDS a load has its data source recorded"},
    /* D18.2-062 to D18.2-068, D18.2-070, D18.2-071, D18.2-073, D18.2-074, D18.2-076, D18.2-078 */
    [RULE_EVENT_READS_ZERO] = {"event-reads-zero", "D18.2.6",
                               "an event that the features do not define reads as zero"},
    /* D18.2-074 */
    [RULE_EMPTY_NOT_PARTIAL] = {"empty-not-partial", "D18.2.6",
                                "an empty predicate (E[18]) is also not full (E[17])"},
    /* D18.2-092 */
    [RULE_NOT_RETIRED] = {"not-retired", "D18.2.6",
                          "E[1] reads as one where speculative operations are not sampled"},
    /* D18.2-084 */
    [RULE_MISPREDICTED_NOT_BRANCH] = {"mispredicted-not-branch", "D18.2.6",
                                      "only a branch is mispredicted (E[7])"},
    /* D18.2-085, D17.6-118 */
    [RULE_NOT_TAKEN_UNCONDITIONAL] = {"not-taken-unconditional", "D18.2.6",
                                      "only a conditional operation fails its condition (E[6])"},
    /* D18.2-078 to D18.2-081, D18.2-086 to D18.2-090 */
    [RULE_MEMORY_EVENT] = {"memory-event", "D18.2.6",
                           "a branch without data access has no cache, TLB or alignment events"},
    /* D18.2-073, D18.2-074 */
    [RULE_PREDICATE_EVENT] = {"predicate-event", "D18.2.6",
                              "only an SVE or SME operation has predicate events"},
    /* D17.6-007, D17.6-040 */
    [RULE_TARGET_OF_EXCEPTION] = {"target-of-exception", "D17.6",
                                  "the target of an exception is not recorded"},
    /* D18.2-006 */
    [RULE_TARGET_NOT_BRANCH] = {"target-not-branch", "D18.2.1",
                                "only a branch has a branch target"},
    /* D18.2-007, D18.2-008 */
    [RULE_DATA_ADDRESS_NOT_MEMORY] = {"data-address-not-memory", "D18.2.1",
                                      "a branch without data access has no data address"},
    /* D17.6-085 */
    [RULE_PA_WITHOUT_VA] = {"physical-without-virtual", "D17.6.4",
                            "a physical data address comes with its virtual address"},
    /* D17.6-048 */
    [RULE_PREVIOUS_TARGET_SPECULATIVE] =
        {"previous-target-speculative", "D17.6.3.1",
         "a speculative operation has no previous branch target recorded"},
    /* D18.2-038, D17.6-059 */
    [RULE_TRANSLATION_NOT_MEMORY] = {"translation-not-memory", "D18.2.3",
                                     "a branch without data access has no translation latency"},
    /* D17.6-089 */
    [RULE_TRANSLATION_WITHOUT_VA] = {"translation-without-address", "D17.6.4",
                                     "without a data address the translation latency is absent or "
                                     "zero"},
    /* D17.6-020, D18.2-039 */
    [RULE_ALT_ISSUE_NOT_STREAMING] = {"alternate-clock-not-streaming", "D17.6.1",
                                      "the alternate clock counts in Streaming SVE mode only"},
    [RULE_SOURCE_WITHOUT_LDS] = {"source-without-lds", "PMSIDR_EL1.LDS",
                                 "a data source is recorded with FEAT_SPE_LDS only"},
    /* D18.2-052; optional for some, D18.2.4 and D17.6.4.4 */
    [RULE_SOURCE_NOT_LOAD] = {"source-not-load", "D18.2.4",
                              "only an operation that reads memory has a data source"},
    /* D18.2-033, D18.2-047 */
    [RULE_COUNTER_TOO_WIDE] = {"counter-too-wide", "D18.2.3",
                               "with 12-bit counters bits [15:12] of a count are zero"},
    /* D18.2-036, D18.2-037; D17.6.4 words the start of a memory access's total latency otherwise */
    [RULE_ISSUE_OVER_TOTAL] = {"issue-over-total", "D18.2.3",
                               "waiting for issue is a part of the total latency"},
    /* D18.2-135 */
    [RULE_CR_WITHOUT_CRR] = {"call-return-without-crr", "D18.2.7",
                             "without FEAT_SPE_CRR a branch's CR is 0b00"},
    /* D18.2-135, D17.6-037 */
    [RULE_CR_NOT_RECORDED] = {"call-return-not-recorded", "D18.2.7",
                              "with FEAT_SPE_CRR a branch's CR is not 0b00"},
    /* D18.2-136 */
    [RULE_BRANCH_GCS] = {"branch-gcs", "D18.2.7",
                         "a branch's GCS bit is 1 with FEAT_SPEv1p4 and FEAT_GCS only"},
    /* D18.2-102 */
    [RULE_OTHER_FLAGS] = {"other-flags", "D18.2.7",
                          "ASE and FP of an Other operation read as zero without FEAT_SPE_FPF"},
    /* D18.2-127 */
    [RULE_LOAD_PREDICATED] = {"load-predicated", "D18.2.7",
                              "without FEAT_SPEv1p2 PRED of a load is zero"},
    /* D17.6-038, D18.2-132 */
    [RULE_GCS_COMMON] = {"gcs-of-branch", "D17.6.3",
                         "a sampled instruction that branches and accesses the GCS is a Branch"},
    /* D18.2-011, D18.2-017, D18.2-021 */
    [RULE_ADDRESS_ZERO_BITS] = {"address-zero-bits", "D18.2.1",
                                "the reserved bits of byte 7 of an address are zero"},
    /* D18.2-013, D18.2-023 */
    [RULE_NSE_WITHOUT_RME] = {"nse-without-rme", "D18.2.1", "NSE reads as zero without FEAT_RME"},
    /* D18.2-012, D18.2-022 */
    [RULE_SECURITY_RESERVED] = {"security-reserved", "D18.2.1", "{NSE,NS} is not 0b10"},
    /* D18.2-012, D18.2-022 */
    [RULE_SECURE_NOT_IMPLEMENTED] = {"secure-not-implemented", "D18.2.1",
                                     "an address is Secure only where Secure state is implemented"},
    /* D18.2-024, D18.2-027 */
    [RULE_TAG_FIELDS_WITHOUT_MTE2] = {"tag-fields-without-mte2", "D18.2.1",
                                      "CH and PAT of a physical address read as zero without "
                                      "FEAT_MTE2"},
    /* D18.2-016 */
    [RULE_PC_AT_EL3] = {"pc-at-el3", "D18.2.1", "no record is generated at EL3"},
    /* D18.2-019 */
    [RULE_TAG_WITHOUT_TBI] = {"tag-without-tbi", "D18.2.1",
                              "without TBI the TAG is zero or bits [63:56] of the address"},
};

const struct spe_rule *spe_rule_at(size_t i)
{
    return i < RULE_COUNT ? &rules[i] : NULL;
}

/* ---- Reports -------------------------------------------------------------------------------- */

struct check {
    const struct spe_check_config *config;
    spe_violation_fn *fn;
    void *user;
    uint64_t offset; /* of the record in the stream */
    int reports;

    /* What the record says. Packets that are not defined are reported and left out. */
    struct spe_op op;  /* if SPE_HAS_OP */
    uint32_t contexts; /* all four INDEX values, for duplicates */
    bool terminated, after_terminator, op_seen, source_seen;
    struct spe_record record; /* its addresses and counters are set if they are present */
};

static bool has(const struct check *c, enum spe_feature feature)
{
    return spe_has(c->config->features, feature);
}

__attribute__((format(printf, 5, 6))) static void report(struct check *c, enum rule rule,
                                                         uint64_t at, enum spe_severity severity,
                                                         const char *format, ...)
{
    struct spe_violation violation;
    va_list args;

    violation.rule = &rules[rule];
    violation.offset = c->offset + at;
    violation.severity = (uint8_t)severity;
    violation.detail[0] = '\0';
    if (format) {
        va_start(args, format);
        vsnprintf(violation.detail, sizeof(violation.detail), format, args);
        va_end(args);
    }
    c->reports++;
    if (c->fn)
        c->fn(c->user, &violation);
}

/* A violation of the record as a whole. */
static void violation(struct check *c, enum rule rule)
{
    report(c, rule, 0, SPE_VIOLATION, NULL);
}

/* ---- What the record is about --------------------------------------------------------------- */

static bool event(const struct check *c, enum spe_event e)
{
    return (c->record.has & SPE_HAS_EVENTS) && (c->record.events >> e & 1);
}

static bool has_op(const struct check *c)
{
    return c->record.has & SPE_HAS_OP;
}

static bool is_class(const struct check *c, enum spe_op_class class_)
{
    return has_op(c) && c->op.class_ == class_;
}

/* Architecturally executed, and no exception: only then D17.6 demands anything but Events. */
static bool executed(const struct check *c)
{
    return event(c, SPE_EVENT_RETIRED) && !event(c, SPE_EVENT_EXCEPTION);
}

/*
 * Could this be an operation that met an exception condition without taking an exception
 * (D17.6.10)? Those are prefetches and address translations (Other, or SVE vector), and Non-fault
 * and First-fault SVE loads, which before FEAT_SPEv1p1 look like SIMD&FP loads (D18.2-117).
 */
static bool excusable(const struct check *c)
{
    if (!has_op(c))
        return true;
    switch (c->op.kind) {
    case SPE_OP_OTHER:
    case SPE_OP_SVE:
        return true;
    case SPE_OP_SVE_LDST:
        return !c->op.store;
    case SPE_OP_SIMD_FP:
        return !c->op.store && has(c, SPE_FEAT_SVE) && !has(c, SPE_FEAT_SPEv1p1);
    default:
        return false;
    }
}

static enum spe_severity severity(const struct check *c)
{
    return excusable(c) ? SPE_REMARK : SPE_VIOLATION;
}

/* A branch that accesses no data. One that accesses the Guarded control stack is both a branch and
 * a load or store (D17.6-038). */
static bool plain_branch(const struct check *c)
{
    return is_class(c, SPE_CLASS_BRANCH) && !c->op.gcs;
}

/* ---- Packets -------------------------------------------------------------------------------- */

/* Set a bit of *seen; a second time is a duplicate. */
static bool once(struct check *c, uint32_t *seen, unsigned bit, uint64_t at, const char *what)
{
    if (*seen >> bit & 1) {
        report(c, RULE_DUPLICATE, at, SPE_VIOLATION, "%s %u", what, bit);
        return false;
    }
    *seen |= UINT32_C(1) << bit;
    return true;
}

static bool once_flag(struct check *c, bool *seen, uint64_t at, const char *what)
{
    if (*seen) {
        report(c, RULE_DUPLICATE, at, SPE_VIOLATION, "%s", what);
        return false;
    }
    *seen = true;
    return true;
}

static void take_address(struct check *c, const struct spe_packet *p, uint64_t at)
{
    if (spe_address_status(p->index, c->config->features) == SPE_RESERVED)
        report(c, RULE_RESERVED_INDEX, at, SPE_VIOLATION, "address INDEX %u", p->index);
    if (once(c, &c->record.addresses, p->index, at, "address INDEX"))
        c->record.address[p->index] = p->payload;
}

static void take_counter(struct check *c, const struct spe_packet *p, uint64_t at)
{
    if (spe_counter_status(p->index, c->config->features) == SPE_RESERVED)
        report(c, RULE_RESERVED_INDEX, at, SPE_VIOLATION, "counter INDEX %u", p->index);
    if (once(c, &c->record.counters, p->index, at, "counter INDEX"))
        c->record.counter[p->index] = (uint16_t)p->payload;
}

static void take_context(struct check *c, const struct spe_packet *p, uint64_t at)
{
    if (p->index >= SPE_CONTEXT_COUNT)
        report(c, RULE_RESERVED_INDEX, at, SPE_VIOLATION, "context INDEX %u", p->index);
    once(c, &c->contexts, p->index, at, "context INDEX");
}

static void take_events(struct check *c, const struct spe_packet *p, uint64_t at)
{
    bool seen = c->record.has & SPE_HAS_EVENTS;

    if (!once_flag(c, &seen, at, "Events"))
        return;
    c->record.has |= SPE_HAS_EVENTS;
    c->record.events = p->payload;
}

static void take_source(struct check *c, const struct spe_packet *p, uint64_t at)
{
    if (p->payload_size > 2)
        report(c, RULE_RESERVED_SOURCE_SIZE, at, SPE_VIOLATION, "%u bytes", p->payload_size);
    if (once_flag(c, &c->source_seen, at, "Data Source"))
        c->record.has |= SPE_HAS_SOURCE;
}

static void take_op(struct check *c, const struct spe_packet *p, uint64_t at)
{
    struct spe_op op;

    if (!once_flag(c, &c->op_seen, at, "Operation Type"))
        return;
    spe_op_decode(p->index, (uint8_t)p->payload, &op);
    if (spe_op_status(&op, c->config->features) == SPE_RESERVED)
        report(c, RULE_RESERVED_OP, at, SPE_VIOLATION, "CLASS %u SUBCLASS 0x%02x (%s)", p->index,
               (unsigned)op.payload, spe_op_kind_name(op.kind));
    if (op.kind == SPE_OP_RESERVED)
        return; /* nothing more can be said of it */
    c->record.has |= SPE_HAS_OP;
    c->op = op;
}

static void take(struct check *c, const struct spe_packet *p, uint64_t at)
{
    if (c->terminated && p->type != SPE_PACKET_PADDING && !c->after_terminator) {
        c->after_terminator = true;
        report(c, RULE_TERMINATOR_NOT_LAST, at, SPE_VIOLATION, "%s follows",
               spe_packet_type_name(p->type));
    }
    if (c->terminated)
        return;
    switch (p->type) {
    case SPE_PACKET_PADDING: /* not forbidden inside a record (D18.1-023) */
        break;
    case SPE_PACKET_END:
    case SPE_PACKET_TIMESTAMP:
        c->terminated = true;
        break;
    case SPE_PACKET_EVENTS:
        take_events(c, p, at);
        break;
    case SPE_PACKET_DATA_SOURCE:
        take_source(c, p, at);
        break;
    case SPE_PACKET_CONTEXT:
        take_context(c, p, at);
        break;
    case SPE_PACKET_OP_TYPE:
        take_op(c, p, at);
        break;
    case SPE_PACKET_ADDRESS:
        take_address(c, p, at);
        break;
    case SPE_PACKET_COUNTER:
        take_counter(c, p, at);
        break;
    default:
        report(c, RULE_UNALLOCATED_HEADER, at, SPE_VIOLATION, "header 0x%02x 0x%02x", p->header[0],
               p->header[1]);
    }
}

/* False if the bytes stop being packets; then there is no more to say than that. */
static bool take_packets(struct check *c, const uint8_t *bytes, size_t len)
{
    struct spe_packet packet;
    size_t at = 0;

    while (at < len) {
        int size = spe_packet_decode(bytes + at, len - at, &packet);

        if (size < 0) {
            report(c, RULE_BAD_FRAMING, at, SPE_VIOLATION, "%s", spe_strerror(size));
            return false;
        }
        take(c, &packet, at);
        at += (size_t)size;
    }
    if (!c->terminated)
        violation(c, RULE_MISSING_TERMINATOR);
    return c->terminated;
}

/* ---- The record's place --------------------------------------------------------------------- */

static void check_place(struct check *c, size_t len)
{
    unsigned max = c->config->max_size ? c->config->max_size : SPE_RECORD_MAX;
    unsigned align = c->config->align;

    if (len > max)
        report(c, RULE_OVERSIZE, 0, SPE_VIOLATION, "%zu bytes, at most %u", len, max);
    if (align > 1 && c->offset % align)
        report(c, RULE_MISALIGNED, 0, SPE_VIOLATION, "offset is not a multiple of %u", align);
}

/* ---- What must be there --------------------------------------------------------------------- */

/*
 * Kinds whose access always has an address to record. The others may have none: SVE and, as
 * unspecified registers, SME accesses whose element is Inactive (D17.6.6), NV2
 * accesses when EL2 is not profiled (D17.6-100), memory copies and sets of no bytes.
 */
static bool always_has_address(const struct check *c)
{
    switch (c->op.kind) {
    case SPE_OP_GP:
    case SPE_OP_TAG:
    case SPE_OP_EXTENDED:
    case SPE_OP_GCS:
        return true;
    case SPE_OP_SIMD_FP:
        return !has(c, SPE_FEAT_SVE) || has(c, SPE_FEAT_SPEv1p1);
    default:
        return false;
    }
}

/* What is collected for a micro-op is IMPLEMENTATION DEFINED (D17.6.2), so this is for PEs that
 * sample instructions. */
static void check_instruction_contents(struct check *c)
{
    const struct spe_record *r = &c->record;

    if (!has(c, SPE_FEAT_SPE_ArchInst) || !executed(c))
        return;
    if (is_class(c, SPE_CLASS_BRANCH) && !event(c, SPE_EVENT_NOT_TAKEN) &&
        !spe_record_has_address(r, SPE_ADDRESS_TARGET))
        violation(c, RULE_MISSING_TARGET);
    if (is_class(c, SPE_CLASS_LDST) && always_has_address(c) &&
        !spe_record_has_address(r, SPE_ADDRESS_VA))
        violation(c, RULE_MISSING_VA);
}

/* What a micro-op records is IMPLEMENTATION DEFINED (D17.6.2). One without a latency does not tell
 * how it ran, and so not where its data came from. */
static bool tells_no_execution(const struct check *c)
{
    return !has(c, SPE_FEAT_SPE_ArchInst) && !spe_record_has_counter(&c->record, SPE_COUNTER_TOTAL);
}

/* An atomic that returns nothing has LDST=1, so it is not a load here: for it the packet is
 * optional. So it is for a load that aborts; an abort that is not also an exception is too rare to
 * allow for. */
static void check_source_present(struct check *c)
{
    if (!has(c, SPE_FEAT_SPE_LDS) || !executed(c) || (c->record.has & SPE_HAS_SOURCE) ||
        c->source_seen)
        return;
    if (is_class(c, SPE_CLASS_LDST) && !c->op.store && !event(c, SPE_EVENT_EMPTY_PREDICATE))
        report(c, RULE_MISSING_SOURCE, 0, tells_no_execution(c) ? SPE_REMARK : severity(c),
               "%s load", spe_op_kind_name(c->op.kind));
}

/* The latencies are not asked for: a counter with a fixed value may be left out (D17.6). */
static void check_contents(struct check *c)
{
    if (!(c->record.has & SPE_HAS_EVENTS))
        violation(c, RULE_MISSING_EVENTS);
    if (!executed(c))
        return;
    if (!c->op_seen)
        report(c, RULE_MISSING_OP, 0, SPE_REMARK, "%s", "");
    if (!spe_record_has_address(&c->record, SPE_ADDRESS_PC))
        report(c, RULE_MISSING_PC, 0, severity(c), "%s", "");
    check_instruction_contents(c);
    check_source_present(c);
}

/* ---- Events --------------------------------------------------------------------------------- */

/* Events of a data access; that E[23:19] are for loads only is one of two readings (X16), and not
 * looked at. */
#define MEMORY_EVENTS                                                                              \
    (SPE_EVENT_BIT(L1D_ACCESS) | SPE_EVENT_BIT(L1D_MISS) | SPE_EVENT_BIT(TLB_ACCESS) |             \
     SPE_EVENT_BIT(TLB_WALK) | SPE_EVENT_BIT(LLC_ACCESS) | SPE_EVENT_BIT(LLC_MISS) |               \
     SPE_EVENT_BIT(REMOTE) | SPE_EVENT_BIT(MISALIGNED) | SPE_EVENT_BIT(L2D_ACCESS) |               \
     SPE_EVENT_BIT(L2D_MISS) | SPE_EVENT_BIT(MODIFIED) | SPE_EVENT_BIT(RECENTLY_FETCHED) |         \
     SPE_EVENT_BIT(SNOOPED))

#define PREDICATE_EVENTS (SPE_EVENT_BIT(PARTIAL_PREDICATE) | SPE_EVENT_BIT(EMPTY_PREDICATE))

/* SME operations may be Other or unspecified (D17.6.6). */
static bool may_be_predicated(const struct check *c)
{
    switch (c->op.kind) {
    case SPE_OP_OTHER:
    case SPE_OP_SVE:
    case SPE_OP_SME:
    case SPE_OP_SVE_LDST:
    case SPE_OP_UNSPECIFIED:
        return true;
    default:
        return false;
    }
}

static unsigned lowest(uint64_t bits)
{
    unsigned bit = 0;

    while (!(bits >> bit & 1))
        bit++;
    return bit;
}

/* One report for each event of `wrong`. */
static void report_events(struct check *c, enum rule rule, uint64_t wrong)
{
    for (; wrong; wrong &= wrong - 1)
        report(c, rule, 0, SPE_VIOLATION, "E[%u]", lowest(wrong));
}

/* Consistency with the operation. An exception makes a branch something else (D17.6-040). */
static void check_events_of_op(struct check *c)
{
    uint64_t events = c->record.events & spe_events_allowed(c->config->features);
    bool conditional = c->op.cond;

    if (!has_op(c))
        return;
    if (event(c, SPE_EVENT_MISPREDICTED) && !event(c, SPE_EVENT_EXCEPTION) &&
        !is_class(c, SPE_CLASS_BRANCH))
        violation(c, RULE_MISPREDICTED_NOT_BRANCH);
    if (event(c, SPE_EVENT_NOT_TAKEN) && !event(c, SPE_EVENT_EXCEPTION) && !conditional)
        violation(c, RULE_NOT_TAKEN_UNCONDITIONAL);
    if (plain_branch(c))
        report_events(c, RULE_MEMORY_EVENT, events & MEMORY_EVENTS);
    if (!may_be_predicated(c))
        report_events(c, RULE_PREDICATE_EVENT, events & PREDICATE_EVENTS);
}

static void check_events(struct check *c)
{
    if (!(c->record.has & SPE_HAS_EVENTS))
        return;
    report_events(c, RULE_EVENT_READS_ZERO,
                  c->record.events & ~spe_events_allowed(c->config->features));
    if (event(c, SPE_EVENT_EMPTY_PREDICATE) && !event(c, SPE_EVENT_PARTIAL_PREDICATE))
        violation(c, RULE_EMPTY_NOT_PARTIAL);
    if (!c->config->speculative && !event(c, SPE_EVENT_RETIRED))
        violation(c, RULE_NOT_RETIRED);
    check_events_of_op(c);
}

/* ---- The operation type --------------------------------------------------------------------- */

static void check_branch(struct check *c)
{
    bool crr = has(c, SPE_FEAT_SPE_CRR);

    if (!crr && c->op.cr != SPE_CR_NOT_RECORDED)
        report(c, RULE_CR_WITHOUT_CRR, 0, SPE_VIOLATION, "CR %u", c->op.cr);
    if (crr && c->op.cr == SPE_CR_NOT_RECORDED)
        violation(c, RULE_CR_NOT_RECORDED);
    if (c->op.gcs && !(has(c, SPE_FEAT_SPEv1p4) && has(c, SPE_FEAT_GCS)))
        violation(c, RULE_BRANCH_GCS);
}

static void check_op(struct check *c)
{
    if (!has_op(c))
        return;
    switch (c->op.kind) {
    case SPE_OP_BRANCH:
        check_branch(c);
        break;
    case SPE_OP_OTHER:
        if ((c->op.ase || c->op.fp) && !has(c, SPE_FEAT_SPE_FPF))
            violation(c, RULE_OTHER_FLAGS);
        break;
    case SPE_OP_SVE_LDST:
        if (!c->op.store && c->op.pred && !has(c, SPE_FEAT_SPEv1p2))
            violation(c, RULE_LOAD_PREDICATED);
        break;
    case SPE_OP_GCS:
        if (!c->op.comm && has(c, SPE_FEAT_SPE_ArchInst))
            violation(c, RULE_GCS_COMMON);
        break;
    default:
        break;
    }
}

/* ---- Addresses ------------------------------------------------------------------------------ */

static void check_security(struct check *c, unsigned index, const struct spe_address *a)
{
    const char *name = spe_address_name(index);

    if (a->nse && !has(c, SPE_FEAT_RME))
        report(c, RULE_NSE_WITHOUT_RME, 0, SPE_VIOLATION, "%s", name);
    switch (spe_address_security(a, c->config->features)) {
    case SPE_SECURITY_RESERVED:
        report(c, RULE_SECURITY_RESERVED, 0, SPE_VIOLATION, "%s", name);
        break;
    case SPE_SECURE:
        if (!has(c, SPE_FEAT_Secure))
            report(c, RULE_SECURE_NOT_IMPLEMENTED, 0, SPE_VIOLATION, "%s", name);
        break;
    default:
        break;
    }
}

/* A tag that TBI does not allow makes the access fault, so it can be in a record of an exception.
 */
static void check_tag(struct check *c, const struct spe_address *a)
{
    uint8_t sign = a->address >> 55 & 1 ? 0xff : 0x00;

    if (!c->config->tbi && executed(c) && a->tag != 0 && a->tag != sign)
        report(c, RULE_TAG_WITHOUT_TBI, 0, SPE_VIOLATION, "TAG 0x%02x", a->tag);
}

/* The target of a not-taken branch is UNKNOWN (D17.6-035): nothing can be wrong with it. */
static bool is_unknown(const struct check *c, unsigned index)
{
    return index == SPE_ADDRESS_TARGET && event(c, SPE_EVENT_NOT_TAKEN);
}

static void check_address(struct check *c, unsigned index)
{
    struct spe_address a;

    spe_address_decode(index, c->record.address[index], &a);
    if (index == SPE_ADDRESS_VA) {
        check_tag(c, &a);
        return;
    }
    if (a.zero)
        report(c, RULE_ADDRESS_ZERO_BITS, 0, SPE_VIOLATION, "%s", spe_address_name(index));
    check_security(c, index, &a);
    if (index == SPE_ADDRESS_PA && (a.ch || a.pat) && !has(c, SPE_FEAT_MTE2))
        violation(c, RULE_TAG_FIELDS_WITHOUT_MTE2);
    if (index == SPE_ADDRESS_PC && a.el == 3)
        violation(c, RULE_PC_AT_EL3);
}

/* Which addresses go with which operation. Other may be a prefetch or cache maintenance and have
 * all that a load has (D17.6.8). */
static void check_addresses_of_op(struct check *c)
{
    uint32_t present = c->record.addresses;
    uint32_t data = 1u << SPE_ADDRESS_VA | 1u << SPE_ADDRESS_PA;

    if ((present >> SPE_ADDRESS_TARGET & 1) && event(c, SPE_EVENT_RETIRED) &&
        event(c, SPE_EVENT_EXCEPTION))
        violation(c, RULE_TARGET_OF_EXCEPTION);
    if ((present >> SPE_ADDRESS_TARGET & 1) && has_op(c) && !is_class(c, SPE_CLASS_BRANCH))
        violation(c, RULE_TARGET_NOT_BRANCH);
    if ((present & data) && plain_branch(c))
        violation(c, RULE_DATA_ADDRESS_NOT_MEMORY);
    if ((present & data) == 1u << SPE_ADDRESS_PA)
        violation(c, RULE_PA_WITHOUT_VA);
    if ((present >> SPE_ADDRESS_PREVIOUS_TARGET & 1) && (c->record.has & SPE_HAS_EVENTS) &&
        !event(c, SPE_EVENT_RETIRED))
        report(c, RULE_PREVIOUS_TARGET_SPECULATIVE, 0, SPE_REMARK, "%s", "");
}

static void check_addresses(struct check *c)
{
    for (unsigned i = 0; i <= SPE_ADDRESS_PREVIOUS_TARGET; i++)
        if (spe_record_has_address(&c->record, i) && !is_unknown(c, i))
            check_address(c, i);
    check_addresses_of_op(c);
}

/* ---- Counters ------------------------------------------------------------------------------- */

static void check_translation(struct check *c)
{
    if (!spe_record_has_counter(&c->record, SPE_COUNTER_TRANSLATION))
        return;
    if (plain_branch(c))
        violation(c, RULE_TRANSLATION_NOT_MEMORY);
    if (is_class(c, SPE_CLASS_LDST) && executed(c) &&
        !spe_record_has_address(&c->record, SPE_ADDRESS_VA) &&
        c->record.counter[SPE_COUNTER_TRANSLATION] != 0)
        report(c, RULE_TRANSLATION_WITHOUT_VA, 0, severity(c), "%u cycles",
               c->record.counter[SPE_COUNTER_TRANSLATION]);
}

static void check_issue(struct check *c)
{
    const struct spe_record *r = &c->record;
    unsigned bits = c->config->count_bits;
    uint16_t issue, total;

    if (!spe_record_has_counter(r, SPE_COUNTER_ISSUE) ||
        !spe_record_has_counter(r, SPE_COUNTER_TOTAL))
        return;
    issue = r->counter[SPE_COUNTER_ISSUE];
    total = r->counter[SPE_COUNTER_TOTAL];
    if (issue > total && !spe_counter_saturated(issue, bits) && !spe_counter_saturated(total, bits))
        report(c, RULE_ISSUE_OVER_TOTAL, 0, SPE_REMARK, "issue %u, total %u", issue, total);
}

static void check_counters(struct check *c)
{
    for (uint64_t left = c->record.counters; left; left &= left - 1) {
        unsigned i = lowest(left);

        if (c->config->count_bits == 12 && c->record.counter[i] > spe_counter_max(12))
            report(c, RULE_COUNTER_TOO_WIDE, 0, SPE_VIOLATION, "counter INDEX %u is 0x%04x", i,
                   c->record.counter[i]);
    }
    check_translation(c);
    check_issue(c);
    if (spe_record_has_counter(&c->record, SPE_COUNTER_ALT_ISSUE) &&
        (c->record.has & SPE_HAS_EVENTS) && !event(c, SPE_EVENT_STREAMING))
        violation(c, RULE_ALT_ISSUE_NOT_STREAMING);
}

/* ---- The data source ------------------------------------------------------------------------ */

/* Atomics that return nothing may have one (D18.2.4), and so may ST64BV and ST64BV0 (D17.6.4.4),
 * whose records look like those of plain stores. */
static bool may_have_source(const struct check *c)
{
    if (plain_branch(c))
        return false;
    if (!is_class(c, SPE_CLASS_LDST) || !c->op.store)
        return true;
    switch (c->op.kind) {
    case SPE_OP_EXTENDED:
        return c->op.at;
    case SPE_OP_GP:
    case SPE_OP_UNSPECIFIED:
        return has(c, SPE_FEAT_LS64_V) || has(c, SPE_FEAT_LS64_ACCDATA);
    default:
        return false;
    }
}

static void check_source(struct check *c)
{
    if (!(c->record.has & SPE_HAS_SOURCE))
        return;
    if (!has(c, SPE_FEAT_SPE_LDS))
        violation(c, RULE_SOURCE_WITHOUT_LDS);
    if (has_op(c) && !may_have_source(c))
        violation(c, RULE_SOURCE_NOT_LOAD);
}

/* --------------------------------------------------------------------------------------------- */

static int check(const struct spe_check_config *config, const uint8_t *bytes, size_t len,
                 uint64_t offset, spe_violation_fn *fn, void *user)
{
    struct check c;

    memset(&c, 0, offsetof(struct check, record.address));
    c.config = config;
    c.fn = fn;
    c.user = user;
    c.offset = offset;
    check_place(&c, len);
    if (!take_packets(&c, bytes, len))
        return c.reports;
    check_contents(&c);
    check_events(&c);
    check_op(&c);
    check_addresses(&c);
    check_counters(&c);
    check_source(&c);
    return c.reports;
}

int spe_check_record(const struct spe_check_config *config, const uint8_t *bytes, size_t len,
                     uint64_t offset, spe_violation_fn *fn, void *user)
{
    struct spe_check_config own = {0};

    if (config->size == sizeof(own))
        return check(config, bytes, len, offset, fn, user);
    if (!sized_take(&own, sizeof(own), config, config->size))
        return SPE_ERR_INVALID;
    return check(&own, bytes, len, offset, fn, user);
}
