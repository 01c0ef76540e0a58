/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The unit's host: memory that can be made to fault, a clock, and effects for the listener. */
#include "sim/sim_internal.h"

#include <stdlib.h>

/* ---- Effects -------------------------------------------------------------------------------- */

static void emit(struct sim *sim, const struct sim_effect *effect)
{
    if (!sim->quiet)
        sim->listener.effect(sim->listener.user, effect);
}

void sim_effect(struct sim *sim, const char *name, const struct sim_value *values, size_t count)
{
    struct sim_effect effect = {.line = sim->line, .name = name, .count = count};

    memcpy(effect.value, values, count * sizeof(*values));
    emit(sim, &effect);
}

void sim_tell_pmu(struct sim *sim)
{
    struct seen *seen = &sim->seen;

    for (unsigned i = 0; i < SIM_PMU_EVENTS; i++) {
        uint64_t count = seen->pmu[i] - seen->pmu_told[i];

        if (count)
            SIM_EFFECT(sim, "pmu", sim_text("event", sim_pmu_name(sim_pmu_event(i))),
                       sim_decimal("count", count));
        seen->pmu_told[i] = seen->pmu[i];
    }
}

/* ---- Memory --------------------------------------------------------------------------------- */

static struct page *find_page(const struct sim *sim, uint64_t address)
{
    struct page *page = sim->pages[address / 4096 % SIM_PAGE_SLOTS];

    while (page && page->address != (address & ~UINT64_C(4095)))
        page = page->next;
    return page;
}

static struct page *make_page(struct sim *sim, uint64_t address)
{
    struct page *page = find_page(sim, address), **slot;

    if (page)
        return page;
    page = calloc(1, sizeof(*page));
    if (!page)
        return NULL;
    slot = &sim->pages[address / 4096 % SIM_PAGE_SLOTS];
    page->address = address & ~UINT64_C(4095);
    page->next = *slot;
    *slot = page;
    return page;
}

void sim_clear_memory(struct sim *sim)
{
    for (size_t i = 0; i < SIM_PAGE_SLOTS; i++)
        while (sim->pages[i]) {
            struct page *page = sim->pages[i];

            sim->pages[i] = page->next;
            free(page);
        }
}

bool sim_memory_byte(const struct sim *sim, uint64_t address, uint8_t *byte)
{
    const struct page *page = find_page(sim, address);

    if (!page || !page->known[address % 4096])
        return false;
    *byte = page->byte[address % 4096];
    return true;
}

/* The last range that was given for an address counts. */
static const struct range *find_range(const struct sim *sim, uint64_t address)
{
    for (size_t i = sim->machine.ranges; i-- > 0;) {
        const struct range *r = &sim->machine.range[i];

        if (address - r->first < r->size)
            return r->answer.fault ? r : NULL;
    }
    return NULL;
}

static bool faults(const struct range *range, const struct spe_write *write)
{
    if (!range)
        return false;
    return range->answer.fault != SPE_FAULT_TLB_CONFLICT ||
           !(write->flags & SPE_WRITE_NO_TLB_CONFLICT);
}

static void write_memory(void *user, const struct spe_write *write, struct spe_write_result *result)
{
    struct sim *sim = user;

    if (write->flags & SPE_WRITE_PREPARE) {
        SIM_EFFECT(sim, "prepare", sim_hex("page", write->address));
        return;
    }
    for (uint32_t i = 0; i < write->size; i++) {
        uint64_t address = write->address + i;
        const struct range *range = find_range(sim, address);
        struct page *page;

        if (faults(range, write)) {
            *result = range->answer;
            result->written = i;
            return;
        }
        page = make_page(sim, address);
        if (!page) {
            sim->no_memory = true;
            result->fault = SPE_FAULT_NOT_ALLOWED;
            result->written = i;
            return;
        }
        page->byte[address % 4096] = write->data[i];
        page->known[address % 4096] = true;
    }
    result->written = write->size;
}

/* ---- The other callbacks -------------------------------------------------------------------- */

static uint64_t physical_count(void *user)
{
    return ((struct sim *)user)->machine.time;
}

static uint8_t random_byte(void *user)
{
    struct machine *m = &((struct sim *)user)->machine;

    return m->randoms ? m->random[m->random_at++ % m->randoms] : 0;
}

static void interrupt(void *user, bool level)
{
    SIM_EFFECT((struct sim *)user, "interrupt", sim_decimal("level", level));
}

static void pmu_event(void *user, unsigned event, uint64_t count)
{
    int slot = sim_pmu_slot(event);

    if (slot >= 0)
        ((struct sim *)user)->seen.pmu[slot] += count;
}

static void cti_trigger(void *user, unsigned trigger)
{
    (void)trigger;
    ((struct sim *)user)->seen.triggers++;
}

static void serror(void *user, uint64_t address)
{
    ((struct sim *)user)->seen.serrors++;
    SIM_EFFECT((struct sim *)user, "serror", sim_hex("address", address));
}

static void wake(void *user)
{
    ((struct sim *)user)->seen.wakes++;
    SIM_EFFECT((struct sim *)user, "wake",
               sim_decimal("operation", ((struct sim *)user)->machine.operations + 1));
}

static void exception(void *user, const struct spe_exception *e)
{
    const char *const *words = sim_field(sim_exception_fields, "masking")->words;

    if (e->masking == SPE_MASK_DISABLED) {
        SIM_EFFECT((struct sim *)user, "exception", sim_text("masking", words[0]));
        return;
    }
    SIM_EFFECT((struct sim *)user, "exception", sim_text("masking", words[e->masking & 3]),
               sim_decimal("source", e->source), sim_decimal("target_el", e->target_el),
               sim_decimal("synchronized", e->synchronized), sim_decimal("within", e->within),
               sim_hex("syndrome", e->syndrome));
}

static const char *event_reason(const struct spe_management_event *e)
{
    uint64_t set = e->after & ~e->before;

    if (!e->is_new)
        return set >> 16 & 1 ? "collision" : "later_abort";
    switch (e->ec) {
    case 0x00:
        return e->mss == 1 ? "buffer_full" : "not_allowed";
    case 0x1e:
        return "gpc";
    case 0x1f:
        return "impdef";
    case 0x24:
        return "stage1_abort";
    case 0x25:
        return "stage2_abort";
    default:
        return "unknown";
    }
}

static void management_event(void *user, const struct spe_management_event *e)
{
    static const char *const registers[] = {"?", "PMBSR_EL1", "PMBSR_EL2", "PMBSR_EL3"};

    SIM_EFFECT((struct sim *)user, "event", sim_text("register", registers[e->el & 3]),
               sim_hex("before", e->before), sim_hex("after", e->after),
               sim_text("reason", event_reason(e)), sim_hex("ec", e->ec), sim_hex("mss", e->mss),
               sim_hex("mss2", e->mss2), sim_hex("pointer", e->pointer),
               sim_decimal("new", e->is_new));
}

static void record(void *user, const struct spe_record_notice *notice)
{
    struct sim *sim = user;
    const struct sim_effect effect = {
        .line = sim->line,
        .name = "record",
        .count = 4,
        .value = {sim_text("fate", spe_sample_fate_name(notice->fate)),
                  sim_decimal("size", notice->size), sim_decimal("written", notice->written),
                  sim_hex("pointer", notice->pointer)},
        .record = notice,
        .config = &sim->machine.config,
    };

    sim->seen.record = *notice->record;
    sim->seen.have_record = sim->seen.of_sample = true;
    sim->seen.size = notice->size;
    sim->seen.written = notice->written;
    sim->seen.pointer = notice->pointer;
    emit(sim, &effect);
}

/* ---- The unit ------------------------------------------------------------------------------- */

void sim_drop_flights(struct sim *sim)
{
    struct spe_spu_config config;

    spe_spu_get_config(sim->spu, &config);
    for (size_t i = 1; i <= config.max_inflight_samples; i++) {
        free(sim->flight[i]);
        sim->flight[i] = NULL;
    }
}

void sim_drop_unit(struct sim *sim)
{
    if (!sim->spu)
        return;
    sim_drop_flights(sim);
    spe_spu_destroy(sim->spu);
    sim->spu = NULL;
}

/* What is wrong with a configuration belongs to the statement that made it so. */
static bool refused(struct sim *sim, const char *why)
{
    const struct place *suspect = &sim->machine.suspect;
    unsigned column = 1;

    if (suspect->line && suspect->script == sim->script) {
        sim->line = suspect->line;
        column = suspect->column;
    }
    return sim_wrong(sim, column, "%s", why);
}

bool sim_need_unit(struct sim *sim)
{
    const struct spe_spu_host host = {
        .size = sizeof(host),
        .user = sim,
        .write = write_memory,
        .physical_count = physical_count,
        .random_byte = random_byte,
        .interrupt = interrupt,
        .pmu_event = pmu_event,
        .cti_trigger = cti_trigger,
        .serror = serror,
        .wake = wake,
        .exception = exception,
        .management_event = management_event,
        .record = record,
    };
    char why[200] = "";

    if (sim->spu)
        return true;
    sim->seen = (struct seen){.fate = -1};
    if (spe_spu_create(&sim->machine.config, &host, &sim->spu, why, sizeof(why)) < 0)
        return refused(sim, why);
    spe_spu_set_pe(sim->spu, &sim->machine.pe);
    return true;
}
