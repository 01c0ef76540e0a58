/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Filter expressions: any text is compiled or refused with a sentence about a place in it. What
 * compiles selects among some rows, the same ones each time; and "not" selects the others.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <specimen/profile.h>

#include "require.h"

/* Bare SPE bytes: a load, a branch, a record with little in it. */
static const uint8_t records[] = {
    0xb0, 0x00, 0x10, 0x40, 0,    0,    0,    0,    0x80, 0xb2, 0x08, 0x20, 0,    0,    0,
    0,    0,    0,    0x99, 0x05, 0,    0x98, 0x70, 0,    0x9a, 0x03, 0,    0x43, 0x08, 0x49,
    0x00, 0x52, 0x96, 0x00, 0x71, 0x01, 0x02, 0x03, 0x04, 0,    0,    0,    0,    0xb0, 0x40,
    0x10, 0x40, 0,    0,    0,    0,    0x80, 0xb1, 0x80, 0x10, 0x40, 0,    0,    0,    0,
    0x80, 0x98, 0x09, 0,    0x4a, 0x01, 0x42, 0x82, 0x01, 0x48, 0x00, 0x42, 0x02, 0x01,
};

#define ROWS 3

static int64_t select_rows(const char *text, uint64_t *selected)
{
    struct spe_profile_options options = SPE_PROFILE_OPTIONS;
    struct spe_profile_error error = {.filter_position = -1};
    struct spe_filter *filter;
    struct spe_profile *p;
    struct spe_rows rows;
    int64_t kept;

    if (spe_filter_create(&filter, text, &error) < 0) {
        REQUIRE(error.code < 0 && error.text[0]);
        REQUIRE(error.code == SPE_ERR_NOMEM || (size_t)error.filter_position <= strlen(text));
        return -1;
    }
    options.threads = 1;
    options.raw = true;
    options.cpu = "neoverse-n1";
    options.no_debuginfod = true;
    options.debug_dir = "";
    options.want = spe_filter_wants(filter);
    REQUIRE(spe_profile_open_memory(&p, records, sizeof(records), &options, NULL) == SPE_OK);
    REQUIRE(spe_profile_next(p, &rows) == 1 && rows.count == ROWS);
    kept = spe_filter_select(filter, p, &rows, selected);
    REQUIRE(kept == __builtin_popcountll(*selected) && !(*selected >> ROWS));
    spe_profile_close(p);
    spe_filter_destroy(filter);
    return kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 8);
    uint64_t selected = 0, others = 0;

    REQUIRE(text);
    memcpy(text, "not (", 5);
    memcpy(text + 5, data, size);
    memcpy(text + 5 + size, ")", 2);
    text[5 + size] = '\0';
    if (select_rows(text + 5, &selected) >= 0 && strlen(text) == size + 5) {
        text[5 + size] = ')';
        if (select_rows(text, &others) >= 0) /* it may have too many parentheses now */
            REQUIRE((selected ^ others) == (UINT64_C(1) << ROWS) - 1);
    }
    free(text);
    return 0;
}
