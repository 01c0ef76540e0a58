/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The unit under random register traffic, PE states, operations and host answers. Whatever happens,
 * no write goes past the limit, the interrupt is told by its edges, registers hold only bits that
 * they have, the counter never overruns its budget, and the accounts add up.
 */
#include <specimen/spu.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* ---- Bytes of the input --------------------------------------------------------------------- */

struct input {
    const uint8_t *data;
    size_t size, at;
};

static uint8_t byte(struct input *in)
{
    return in->at < in->size ? in->data[in->at++] : 0;
}

static uint64_t number(struct input *in)
{
    uint64_t v = 0;
    unsigned n = byte(in) % 9;

    for (unsigned i = 0; i < n; i++)
        v = v << 8 | byte(in);
    return v;
}

/* ---- The host ------------------------------------------------------------------------------- */

struct host {
    struct input *in;
    struct spe_spu *spu;
    bool irq;
    uint64_t written;
};

static void write_memory(void *user, const struct spe_write *w, struct spe_write_result *result)
{
    struct host *h = user;
    uint64_t limit = spe_spu_reg_get(h->spu, SPE_REG_PMBLIMITR_EL1) & ~UINT64_C(0xfff);
    uint8_t how = byte(h->in);

    CHECK(w->address <= limit && w->size <= limit - w->address);
    if (w->size == 0) {
        CHECK(w->flags & SPE_WRITE_PREPARE);
        CHECK(w->address < limit);
        return;
    }
    CHECK(!(w->flags & SPE_WRITE_PREPARE) && w->data);
    CHECK(w->address >= spe_spu_reg_get(h->spu, SPE_REG_PMBPTR_EL1));
    for (uint32_t i = 0; i < w->size; i++)
        h->written += w->data[i]; /* sanitizers look at every byte */
    result->written = w->size;
    if (how < 200)
        return;
    result->written = how % 7 ? byte(h->in) % (w->size + 1) : (uint32_t)number(h->in);
    result->fault = byte(h->in) % (SPE_FAULT_COUNT + 1);
    result->stage = byte(h->in) % 4;
    result->level = (int8_t)(byte(h->in) % 8) - 3;
    result->walk = byte(h->in) % 4;
    result->top_level = how & 1;
    result->assured_only = how & 2;
    result->overlay = how & 4;
    result->dirty_bit = how & 8;
}

static uint64_t physical_count(void *user)
{
    return ((struct host *)user)->written;
}

static uint8_t random_byte(void *user)
{
    return byte(((struct host *)user)->in);
}

static void interrupt(void *user, bool level)
{
    struct host *h = user;

    CHECK(level != h->irq);
    h->irq = level;
}

static void record(void *user, const struct spe_record_notice *notice)
{
    (void)user;
    CHECK(notice->written <= notice->size && notice->size <= SPE_RECORD_MAX);
    CHECK(notice->fate != SPE_FATE_WRITTEN || notice->written == notice->size);
}

/* ---- The unit ------------------------------------------------------------------------------- */

static void random_option(struct input *in, struct spe_spu_config *config)
{
    size_t count = 0, words = 0;
    const struct spe_option *o;
    struct spe_spu_config changed = *config;
    char text[24] = "";
    uint64_t v;

    while (spe_spu_option_at(count))
        count++;
    o = spe_spu_option_at(byte(in) % count);
    while (spe_spu_option_word(o, words))
        words++;
    v = number(in);
    for (unsigned i = 0; i < 20 && (v || i == 0); i++, v /= 10)
        text[i] = (char)('0' + v % 10);
    if (spe_spu_option_set(&changed, o->name,
                           words ? spe_spu_option_word(o, byte(in) % words) : text, NULL, 0) == 0 &&
        spe_spu_config_validate(&changed, NULL, 0) == 0)
        *config = changed;
}

static struct spe_spu *make_unit(struct input *in, struct host *h)
{
    const struct spe_spu_host host = {
        .size = sizeof(host),
        .user = h,
        .write = write_memory,
        .physical_count = physical_count,
        .random_byte = random_byte,
        .interrupt = interrupt,
        .record = record,
    };
    struct spe_spu_config config;
    struct spe_spu *spu = NULL;
    unsigned options;

    CHECK(spe_spu_config_init(&config, spe_spu_preset_at(byte(in) % 4)) == 0);
    options = byte(in) % 8;
    while (options--)
        random_option(in, &config);
    CHECK(spe_spu_create(&config, &host, &spu, NULL, 0) == 0);
    return spu;
}

/* ---- What is done to it --------------------------------------------------------------------- */

static void change_pe(struct input *in, struct spe_spu *spu)
{
    struct spe_pe_state pe;
    uint64_t *const registers[] = {
        &pe.scr_el3,     &pe.hcr_el2,      &pe.mdcr_el2,     &pe.mdcr_el3,   &pe.hdfgrtr_el2,
        &pe.hdfgwtr_el2, &pe.hdfgrtr2_el2, &pe.hdfgwtr2_el2, &pe.hfgitr_el2, &pe.cnthctl_el2,
        &pe.cntvoff_el2, &pe.cntpoff_el2,  &pe.pmcr_el0};
    bool *const flags[] = {&pe.aarch32, &pe.el1_aarch32, &pe.el2_aarch32,    &pe.debug,
                           &pe.sdd,     &pe.pm,          &pe.counter_enabled};
    uint8_t what = byte(in);

    spe_spu_get_pe(spu, &pe);
    if (what < 100)
        pe.el = what & 3;
    else if (what < 150)
        *registers[what % 13] ^= UINT64_C(1) << byte(in) % 64;
    else if (what < 200)
        *registers[what % 13] = number(in);
    else if (what < 230)
        *flags[what % 7] ^= true;
    else
        spe_pe_state_init(&pe);
    spe_spu_set_pe(spu, &pe);
}

static void access_register(struct input *in, struct spe_spu *spu)
{
    unsigned reg = byte(in) % SPE_REG_NAME_COUNT, rt = byte(in) % 32;
    unsigned encoding = (unsigned)spe_register_encoding(reg);
    uint8_t how = byte(in);
    struct spe_register_access a;

    if (how > 250)
        encoding ^= how; /* perhaps another register, perhaps none */
    if (how % 3 == 0 && reg < SPE_REG_COUNT) {
        uint64_t value = number(in);

        spe_spu_reg_set(spu, (enum spe_register)reg, value);
        /* What is kept can be set again, and stays. */
        value = spe_spu_reg_get(spu, (enum spe_register)reg);
        if (reg != SPE_REG_PMSICR_EL1 && reg != SPE_REG_RNG) {
            spe_spu_reg_set(spu, (enum spe_register)reg, value);
            CHECK(spe_spu_reg_get(spu, (enum spe_register)reg) == value);
        }
        return;
    }
    if (how % 3 == 1 ? spe_spu_read(spu, encoding, rt, &a)
                     : spe_spu_write(spu, encoding, rt, number(in), &a))
        return;
    CHECK(a.outcome <= SPE_OUTCOME_MEMORY);
    CHECK(a.outcome != SPE_OUTCOME_TRAP || a.target_el == 2 || a.target_el == 3);
}

/* A buffer that can be used, and all sampled. */
static void set_up(struct input *in, struct spe_spu *spu)
{
    uint64_t base = number(in), room = 4096u * (1u + byte(in) % 4);

    spe_spu_reg_set(spu, SPE_REG_PMBSR_EL1, 0);
    spe_spu_reg_set(spu, SPE_REG_PMBPTR_EL1, base);
    spe_spu_reg_set(spu, SPE_REG_PMSIRR_EL1, byte(in) % 4 << 8 | (byte(in) & 1));
    spe_spu_reg_set(spu, SPE_REG_PMSCR_EL1, 0x3b);
    spe_spu_reg_set(spu, SPE_REG_PMSCR_EL2, 0x3b);
    spe_spu_reg_set(spu, SPE_REG_PMBLIMITR_EL1, ((base + room) & ~UINT64_C(0xfff)) | 1);
}

static void fill_bytes(struct input *in, void *to, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)to)[i] = byte(in);
}

/* Any operation, its flags drawn one by one: a bool holds 0 or 1. */
static void sample(struct input *in, struct spe_spu *spu, unsigned which)
{
    struct spe_memory_access access[3];
    struct spe_operation op;
    uint8_t flags[16];

    spe_operation_init(&op, byte(in) % (SPE_OPERATION_KIND_COUNT + 1));
    memset(access, 0, sizeof(access));
    fill_bytes(in, flags, sizeof(flags));
    op.pc = number(in);
    op.target = number(in);
    op.exception = flags[0] & 1;
    op.taken = flags[0] & 2;
    op.conditional = flags[0] & 4;
    op.indirect = flags[0] & 8;
    op.link = flags[0] & 16;
    op.procedure_return = flags[0] & 32;
    op.gcs_access = flags[0] & 64;
    op.misspeculated = flags[1] & 1;
    op.nonarch = flags[1] & 2;
    op.nonarch_exception = flags[1] & 4;
    op.predicated = flags[1] & 8;
    op.gather_scatter = flags[1] & 16;
    op.exclusive = flags[1] & 32;
    op.returns_value = flags[1] & 64;
    op.asynchronous = flags[1] & 128;
    op.streaming = flags[2] & 1;
    op.whole_za = flags[2] & 2;
    op.condition_failed = flags[2] & 4;
    op.st64bv = flags[2] & 8;
    op.contiguous = flags[2] & 16;
    op.registers = flags[3] % (SPE_REGISTERS_COUNT + 1);
    op.cond_op = flags[4] % 10;
    op.vl_bits = (uint32_t)flags[5] * 16;
    op.vectors = flags[6] % 5;
    op.issue_cycles = (uint32_t)number(in);
    op.execute_cycles = (uint32_t)number(in);
    op.target_el = flags[7] & 3;
    op.target_security = flags[7] >> 2 & 3;
    op.impdef_events = flags[8] ? number(in) : 0;
    for (unsigned i = 0; i < 3; i++) {
        access[i].va = number(in);
        access[i].pa = number(in);
        access[i].bytes = flags[9];
        access[i].facts = (uint32_t)number(in);
        access[i].source = flags[10];
        access[i].has_source = flags[11] & 1;
        access[i].store = flags[11] & 2;
        access[i].unperformed = flags[11] & 4;
        access[i].tbi = flags[11] & 8;
        access[i].tag_checked = flags[11] & 16;
        access[i].inactive = flags[11] & 32;
        access[i].pat = flags[12] & 15;
        access[i].pas = flags[12] >> 4 & 3;
        access[i].translated_at = flags[13];
        access[i].done_at = (uint32_t)flags[13] + flags[14];
    }
    op.accesses = access;
    op.access_count = flags[15] % 4;
    if (which)
        spe_spu_complete(spu, which, &op);
    else
        spe_spu_sample(spu, &op);
}

static void run(struct input *in, struct spe_spu *spu)
{
    uint64_t budget = spe_spu_budget(spu), n = number(in);

    CHECK(spe_spu_advance(spu, n) == (n <= budget ? SPE_OK : SPE_ERR_RANGE));
    budget = spe_spu_budget(spu);
    if (budget < 4096)
        CHECK(spe_spu_advance(spu, budget) == SPE_OK);
    if (spe_spu_step(spu, byte(in) & 7) > 0 && byte(in) & 1)
        sample(in, spu, 0);
}

static void events(struct input *in, struct spe_spu *spu)
{
    const struct spe_write_result abort_result = {.fault = byte(in) % SPE_FAULT_COUNT,
                                                  .walk = byte(in) % 3};
    const struct spe_taken_branch branch = {.target = number(in), .el = byte(in) & 3};
    struct spe_register_access a;

    switch (byte(in) % 7) {
    case 0:
        spe_spu_psb_csync(spu, &a);
        break;
    case 1:
        spe_spu_context_sync(spu);
        break;
    case 2:
        spe_spu_external_abort(spu, &abort_result);
        break;
    case 3:
        spe_spu_impdef_enable(spu, byte(in) & 1);
        break;
    case 4:
        spe_spu_impdef_event(spu, byte(in), byte(in));
        break;
    case 5:
        spe_spu_branch(spu, &branch);
        break;
    default:
        spe_spu_reset(spu);
    }
}

/* ---- What must hold ------------------------------------------------------------------------- */

static void check(const struct spe_spu *spu, const struct host *h)
{
    struct spe_spu_stats s;
    struct spe_exception e;
    uint64_t fates = 0, discarded = 0;

    spe_spu_stats(spu, &s);
    for (unsigned f = 0; f < SPE_FATE_COUNT; f++) {
        fates += s.fate[f];
        discarded += s.bytes_discarded_by[f];
    }
    CHECK(s.sampled == spe_spu_in_flight(spu) + s.dropped + fates);
    CHECK(s.selected == s.sampled + s.collisions);
    CHECK(s.bytes_discarded == discarded && s.bytes_built == s.bytes_written + discarded);
    CHECK(s.records == s.fate[SPE_FATE_WRITTEN]);
    CHECK(spe_spu_interrupt(spu) == h->irq);
    CHECK(!spe_spu_status(spu)->enabled || spe_spu_status(spu)->buffer_enabled);
    CHECK(!spe_spu_status(spu)->buffer_enabled || !spe_spu_status(spu)->stopped);
    spe_spu_exception(spu, &e);
    CHECK(e.masking != SPE_MASK_UNMASKED || (e.target_el >= 1 && e.target_el <= 3));
    CHECK(e.masking == SPE_MASK_DISABLED || (e.source >= 1 && e.source <= 3));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size, 0};
    struct host h = {.in = &in};

    h.spu = make_unit(&in, &h);
    for (unsigned steps = 0; in.at < in.size && steps < 2000; steps++) {
        uint8_t what = byte(&in);

        if (what < 90)
            access_register(&in, h.spu);
        else if (what < 130)
            change_pe(&in, h.spu);
        else if (what < 200)
            run(&in, h.spu);
        else if (what < 225)
            sample(&in, h.spu, byte(&in) % 4);
        else if (what < 240)
            set_up(&in, h.spu);
        else
            events(&in, h.spu);
        check(h.spu, &h);
    }
    spe_spu_destroy(h.spu);
    return 0;
}
