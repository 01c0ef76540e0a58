/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* D18.2.4: the Data Source packet. */
#include "collect.h"

/* Loads and atomics; `filtered` is set for those that PMSDSFR_EL1 looks at. */
static bool source_applies(const struct collector *c, bool *filtered)
{
    *filtered = c->data && !c->writes;
    if (!c->data)
        return false;
    if (c->kind == SPE_OPERATION_ATOMIC && c->writes)
        return c->config->data_source_st_atomic;
    if (c->kind == SPE_OPERATION_STORE && c->op->st64bv)
        return c->config->st64bv_data_source;
    return !c->writes;
}

/* Combined: the part that everything had to wait for. NULL: no data was accessed. */
static const struct spe_memory_access *source_part(const struct collector *c)
{
    const struct spe_memory_access *slowest = NULL;

    if (c->parts == 0)
        return NULL;
    if (c->config->data_source_multi == SPE_SOURCE_CHOSEN_PART || c->parts == 1)
        return performed(c->part) ? c->part : NULL;
    for (uint32_t i = 0; i < c->op->access_count; i++) {
        const struct spe_memory_access *a = &c->op->accesses[i];

        if (looked_at(c, a, true) && performed(a) && (!slowest || a->done_at > slowest->done_at))
            slowest = a;
    }
    return slowest;
}

/* Every load and atomic that runs to its end has a data source, 0 if there is nothing to tell;
 * those that abort may have one (D18.2-052, D18.2-053). */
static bool lacks_source(const struct collector *c, const struct spe_memory_access *a)
{
    if (a)
        return a->external_abort && !c->config->data_source_on_abort;
    return !c->executed || c->op->exception || c->op->fault_condition;
}

int spu_put_source(struct collector *c)
{
    unsigned size = c->config->data_source == SPE_SOURCE_16BIT ? 2 : 1;
    const struct spe_memory_access *a;
    uint16_t source;
    bool filtered;

    if (c->info != SPE_INFO_ALL || c->config->data_source == SPE_SOURCE_NONE || c->op->unmodelled ||
        !source_applies(c, &filtered))
        return SPE_OK;
    a = source_part(c);
    if (lacks_source(c, a))
        return SPE_OK;
    source = a && a->has_source ? a->source : 0;
    if (c->config->data_source_map_count) {
        if (source >= c->config->data_source_map_count)
            return SPE_ERR_INVALID;
        source = c->config->data_source_map[source];
    }
    if (source >> (8 * size - 1) > 1)
        return SPE_ERR_INVALID;
    c->record->has |= SPE_HAS_SOURCE;
    c->record->source = source;
    c->record->source_size = (uint8_t)size;
    c->sample->has_source = filtered;
    c->sample->source = source;
    return SPE_OK;
}
