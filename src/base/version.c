/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include <specimen/version.h>

int spe_version_number(void)
{
    return SPE_VERSION_NUMBER;
}

const char *spe_version(void)
{
    return SPE_VERSION;
}
