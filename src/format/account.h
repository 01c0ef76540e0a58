/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#ifndef FORMAT_ACCOUNT_H
#define FORMAT_ACCOUNT_H

#include <specimen/format.h>

/* What an account grew by, from `then` to `now`, is added to the sum. */
static inline void account_add(struct spe_account *sum, const struct spe_account *now,
                               const struct spe_account *then)
{
    sum->bytes += now->bytes - then->bytes;
    sum->records += now->records - then->records;
    sum->record_bytes += now->record_bytes - then->record_bytes;
    sum->padding_bytes += now->padding_bytes - then->padding_bytes;
    sum->skipped += now->skipped - then->skipped;
    sum->skipped_bytes += now->skipped_bytes - then->skipped_bytes;
    sum->unknown += now->unknown - then->unknown;
    for (unsigned i = 0; i < SPE_SKIP_REASON_COUNT; i++)
        sum->skipped_by[i] += now->skipped_by[i] - then->skipped_by[i];
}

#endif
