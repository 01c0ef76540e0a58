/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Events as `spe record -e` takes them: any text is an event or is refused with a sentence; an
 * event stays the same when it is written out and parsed again.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"
#include "require.h"

static void check(const struct record_event *event, const char *cpu)
{
    struct problem problem = {{0}, {0}};

    if (!record_check_event(event, cpu, &problem))
        REQUIRE(problem.what[0] && problem.why[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct problem problem = {{0}, {0}};
    struct record_event event, again;
    char *text = malloc(size + 1), written[256];

    REQUIRE(text);
    memcpy(text, data, size);
    text[size] = '\0';
    if (!record_parse_event(text, &event, &problem)) {
        REQUIRE(problem.why[0]);
    } else {
        check(&event, "neoverse-n1");
        check(&event, "architecture");
        check(&event, "no such CPU");
        snprintf(written, sizeof(written),
                 "arm_spe_0/event_filter=%" PRIu64 ",min_latency=%#" PRIx64
                 ",inv_event_filter=%" PRIu64 ",inv_data_src_filter=%" PRIu64 "/",
                 event.config1, event.config2, event.config3, event.config4);
        REQUIRE(record_parse_event(written, &again, &problem));
        REQUIRE(again.config1 == event.config1 && again.config2 == event.config2 &&
                again.config3 == event.config3 && again.config4 == event.config4);
    }
    free(text);
    return 0;
}
