/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What is known of the CPU whose records are shown, and what follows for the names.
 */
#ifndef RENDER_NAMING_H
#define RENDER_NAMING_H

#include <specimen/format.h>

struct naming {
    const struct spe_cpu *cpu; /* NULL: not known */
    spe_features features;     /* looked at when features_known */
    bool features_known;       /* else every name that some version of the architecture gives */
    unsigned count_bits;       /* 12 or 16; 0: not known */
    bool color;
};

/* The features that decide on names. */
static inline spe_features naming_features(const struct naming *naming)
{
    return naming->features_known ? naming->features : SPE_FEATURES_ALL;
}

/* With the features not known, an event is what the most generous version says: E[31:26] were
 * IMPLEMENTATION DEFINED before FEAT_SPEv1p4, and E[16] once had a meaning. */
static inline enum spe_definition naming_event(const struct naming *naming, unsigned event)
{
    if (!naming->features_known && event == SPE_EVENT_TRANSACTIONAL)
        return SPE_DEFINED;
    if (!naming->features_known && event >= 26 && event < 32)
        return SPE_IMPDEF;
    return spe_event_status(event, naming_features(naming));
}

/* The event's name; NULL if it is reserved, or IMPLEMENTATION DEFINED without a known meaning. */
static inline const char *naming_event_name(const struct naming *naming, unsigned event)
{
    switch (naming_event(naming, event)) {
    case SPE_DEFINED:
        return spe_event_name(event);
    case SPE_IMPDEF:
        return naming->cpu ? spe_cpu_event_name(naming->cpu, event) : NULL;
    default:
        return NULL;
    }
}

/* Is the counter at its mark of saturation? With its size not known 0xfff may be a count; 0xffff is
 * the mark either way. */
static inline bool naming_saturated(const struct naming *naming, uint16_t count)
{
    return spe_counter_saturated(count, naming->count_bits ? naming->count_bits : 16);
}

#endif
