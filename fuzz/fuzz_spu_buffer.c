/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Records into a real buffer with guard bytes, with random faults, aborts and pointers. The host
 * knows what it wrote, so the target can check all of it: nothing outside the buffer, the pointer
 * on the byte that faulted, every complete record where and as it was announced.
 */
#include <specimen/spu.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

enum { GUARD = 4096, BUFFER = 8192, WINDOW = GUARD + BUFFER + GUARD };

#define BASE UINT64_C(0x100000)
#define LIMIT (BASE + BUFFER)

struct input {
    const uint8_t *data;
    size_t size, at;
};

static uint8_t byte(struct input *in)
{
    return in->at < in->size ? in->data[in->at++] : 0;
}

struct host {
    struct input *in;
    const struct spe_spu *spu;
    uint8_t memory[WINDOW];
    uint8_t rate;           /* of faults */
    uint64_t expected;      /* where the next byte must go */
    uint64_t fault_address; /* of the last fault or abort */
    uint8_t fault;
    bool hole; /* an abort that was ignored, or is an SError, has left bytes unwritten */
};

static uint8_t *at(struct host *h, uint64_t address)
{
    return h->memory + (address - (BASE - GUARD));
}

static struct spe_spu_config config_of(const struct spe_spu *spu)
{
    struct spe_spu_config config;

    spe_spu_get_config(spu, &config);
    return config;
}

static void write_memory(void *user, const struct spe_write *w, struct spe_write_result *result)
{
    struct host *h = user;
    uint32_t good = w->size;

    if (w->flags & SPE_WRITE_PREPARE) {
        CHECK(w->size == 0 && w->address > BASE && w->address < LIMIT);
        return;
    }
    CHECK(w->size && w->address >= BASE - GUARD && w->address < LIMIT);
    CHECK(w->size <= LIMIT - w->address);
    CHECK(w->address / config_of(h->spu).access_granule_bytes ==
          (w->address + w->size - 1) / config_of(h->spu).access_granule_bytes);
    if (byte(h->in) < h->rate) {
        result->fault = 1 + byte(h->in) % (SPE_FAULT_COUNT - 1);
        result->stage = byte(h->in) % 3;
        result->level = (int8_t)(byte(h->in) % 6) - 2;
        result->walk = byte(h->in) % 3;
        good = byte(h->in) % w->size;
        h->fault = result->fault;
        h->hole |= h->fault == SPE_FAULT_EXTERNAL_ABORT;
        h->fault_address = w->address + good;
    }
    memcpy(at(h, w->address), w->data, good);
    result->written = good;
}

/* Every complete record lies in memory as it was announced. */
static void record(void *user, const struct spe_record_notice *n)
{
    struct host *h = user;

    CHECK(n->written <= n->size);
    CHECK(n->pointer == h->expected);
    if (n->fate == SPE_FATE_WRITTEN && !h->hole)
        CHECK(!memcmp(at(h, n->pointer), n->bytes, n->size));
    if (n->fate == SPE_FATE_FAULT && h->fault)
        CHECK(n->pointer + n->written == h->fault_address);
    if (n->fate == SPE_FATE_NOT_ALLOWED || n->fate == SPE_FATE_STOPPED ||
        n->fate == SPE_FATE_DISCARD_MODE || n->fate == SPE_FATE_DISABLED)
        CHECK(n->written == 0);
    h->expected = n->pointer + n->written;
}

static void set_word(struct input *in, struct spe_spu_config *config, const char *name)
{
    const struct spe_option *o = spe_spu_option_find(name);
    struct spe_spu_config changed = *config;
    unsigned words = 0;

    while (spe_spu_option_word(o, words))
        words++;
    if (words &&
        spe_spu_option_set(&changed, name, spe_spu_option_word(o, byte(in) % words), NULL, 0) ==
            0 &&
        spe_spu_config_validate(&changed, NULL, 0) == 0)
        *config = changed;
}

static void make_config(struct input *in, struct spe_spu_config *config)
{
    static const char *const words[] = {
        "ext_abort_sync",     "fault_boundary_dl",  "misaligned_ptr",      "tlb_conflict_fault",
        "walk_abort_sets_ea", "spu_hw_af_dirty",    "speculative_dirty",   "write_abort",
        "walk_abort",         "access_not_allowed", "access_granule_mode",
    };
    struct spe_spu_config changed;

    CHECK(spe_spu_config_init(config, spe_spu_preset_at(byte(in) % 4)) == 0);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        set_word(in, config, words[i]);
    changed = *config;
    changed.access_granule_bytes = (uint16_t)(1u << byte(in) % 12);
    changed.max_size = 64u << byte(in) % 6;
    changed.min_align_bytes = 1u << byte(in) % 12;
    if (spe_spu_config_validate(&changed, NULL, 0) == 0)
        *config = changed;
}

static void restart(struct input *in, struct host *h, struct spe_spu *spu)
{
    uint64_t pointer = BASE + (byte(in) << 8 | byte(in)) % (BUFFER + 64u);

    if (byte(in) < 200)
        pointer &= ~(uint64_t)(config_of(spu).min_align_bytes - 1);
    spe_spu_reg_set(spu, SPE_REG_PMBSR_EL1, (uint64_t)byte(in) % 16 << 16 & ~UINT64_C(0x20000));
    spe_spu_reg_set(spu, SPE_REG_PMBPTR_EL1, pointer);
    spe_spu_reg_set(spu, SPE_REG_PMSIRR_EL1, 1 << 8);
    spe_spu_reg_set(spu, SPE_REG_PMSICR_EL1, 1);
    spe_spu_reg_set(spu, SPE_REG_PMSCR_EL1, 0x39);
    spe_spu_reg_set(spu, SPE_REG_PMSCR_EL2, 0x18);
    spe_spu_reg_set(spu, SPE_REG_PMBLIMITR_EL1, LIMIT | (byte(in) < 20 ? 5 : 1));
    h->expected = spe_spu_reg_get(spu, SPE_REG_PMBPTR_EL1);
}

static void one_sample(struct input *in, struct host *h, struct spe_spu *spu)
{
    static const enum spe_operation_kind kinds[] = {SPE_OPERATION_OTHER, SPE_OPERATION_LOAD,
                                                    SPE_OPERATION_STORE, SPE_OPERATION_BRANCH};
    struct spe_memory_access access = {.va = 0x1000, .pa = 0x2000, .bytes = 8, .done_at = 9};
    struct spe_operation op;
    bool stopped = spe_spu_status(spu)->stopped;
    int fate;

    spe_operation_init(&op, kinds[byte(in) % 4]);
    op.pc = 0x1000 + byte(in);
    op.taken = op.kind == SPE_OPERATION_BRANCH;
    op.target = 0x2000;
    access.store = op.kind == SPE_OPERATION_STORE;
    if (op.kind == SPE_OPERATION_LOAD || op.kind == SPE_OPERATION_STORE) {
        op.accesses = &access;
        op.access_count = 1;
    }
    h->fault = 0;
    h->hole = false;
    fate = spe_spu_sample(spu, &op);
    CHECK(fate >= 0);
    CHECK(!stopped || fate == SPE_FATE_STOPPED);
    CHECK(spe_spu_reg_get(spu, SPE_REG_PMBPTR_EL1) == h->expected);
    if (fate == SPE_FATE_FAULT || fate == SPE_FATE_ABORT)
        CHECK(spe_spu_status(spu)->stopped);
    if (fate == SPE_FATE_WRITTEN)
        CHECK(spe_spu_status(spu)->stopped == (LIMIT - h->expected < config_of(spu).max_size));
}

static void check_guards(const struct host *h)
{
    for (unsigned i = 0; i < GUARD; i++)
        CHECK(h->memory[i] == 0xa5 && h->memory[WINDOW - 1 - i] == 0xa5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct host h;
    struct input in = {data, size, 0};
    const struct spe_spu_host host = {
        .size = sizeof(host), .user = &h, .write = write_memory, .record = record};
    struct spe_spu_config config;
    struct spe_spu_stats s;
    struct spe_spu *spu;

    h.in = &in;
    h.rate = byte(&in);
    memset(h.memory, 0xa5, sizeof(h.memory));
    make_config(&in, &config);
    CHECK(spe_spu_create(&config, &host, &spu, NULL, 0) == 0);
    h.spu = spu;
    restart(&in, &h, spu);
    for (unsigned steps = 0; in.at < in.size && steps < 2000; steps++) {
        if (byte(&in) < 16)
            restart(&in, &h, spu);
        while (spe_spu_budget(spu) != UINT64_MAX) {
            spe_spu_advance(spu, spe_spu_budget(spu));
            if (spe_spu_step(spu, 0) > 0)
                break;
        }
        if (spe_spu_in_flight(spu))
            one_sample(&in, &h, spu);
        else
            restart(&in, &h, spu);
    }
    spe_spu_stats(spu, &s);
    CHECK(s.bytes_built == s.bytes_written + s.bytes_discarded);
    check_guards(&h);
    spe_spu_destroy(spu);
    return 0;
}
