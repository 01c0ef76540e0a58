/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* The configuration as callers have it, which may be of another release: all else in this room sees
 * one of this library. */
#include "base/sized.h"
#include "spu_internal.h"

/* Options that the caller does not know have their defaults. */
int spu_config_take(struct spe_spu_config *own, const struct spe_spu_config *config, char *why,
                    size_t why_size)
{
    memset(own, 0, sizeof(*own));
    spu_options_default(own);
    if (!sized_take(own, sizeof(*own), config, config->size))
        return spu_refuse(why, why_size, "the configuration has no size, or is of a later version");
    own->size = sizeof(*own);
    return SPE_OK;
}

static void give(struct spe_spu_config *config, const struct spe_spu_config *own)
{
    size_t size = config->size;

    sized_give(config, size, own, sizeof(*own));
    config->size = size;
}

int spe_spu_config_preset(struct spe_spu_config *config, const char *preset)
{
    struct spe_spu_config own;
    int error = spu_config_preset(&own, preset);

    if (!error)
        give(config, &own);
    return error;
}

void spe_spu_config_features(struct spe_spu_config *config, spe_features features)
{
    struct spe_spu_config own;

    if (spu_config_take(&own, config, NULL, 0) < 0)
        return;
    spu_config_features(&own, features);
    give(config, &own);
}

int spe_spu_config_validate(const struct spe_spu_config *config, char *why, size_t why_size)
{
    struct spe_spu_config own;
    int error = spu_config_take(&own, config, why, why_size);

    return error ? error : spu_config_validate(&own, why, why_size);
}

int spe_spu_option_set(struct spe_spu_config *config, const char *name, const char *value,
                       char *why, size_t why_size)
{
    struct spe_spu_config own;
    int error = spu_config_take(&own, config, why, why_size);

    if (!error)
        error = spu_option_set(&own, name, value, why, why_size);
    if (!error)
        give(config, &own);
    return error;
}

int spe_spu_option_get(const struct spe_spu_config *config, const char *name, char *out,
                       size_t out_size)
{
    struct spe_spu_config own;
    int error = spu_config_take(&own, config, NULL, 0);

    return error ? error : spu_option_get(&own, name, out, out_size);
}
