/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Recordings. The first byte chooses the options, the rest is the file: its tasks, maps and rows
 * are read to the end, every id leads somewhere, and a second look says the same, although hashes
 * have another seed. No symbols: they are in files that the input could name.
 */
#include <stdint.h>
#include <string.h>

#include <specimen/profile.h>

#include "require.h"

static uint64_t mix(uint64_t digest, uint64_t value)
{
    digest = (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 29;
}

static uint64_t mix_text(uint64_t digest, const char *text)
{
    for (; *text; text++)
        digest = mix(digest, (uint8_t)*text);
    return digest;
}

static uint64_t hear_row(struct spe_profile *p, const struct spe_rows *r, size_t i)
{
    uint64_t digest = mix(r->pc[i], r->time_ns[i]);

    digest = mix(mix(digest, r->cpu[i]), (uint64_t)r->pid[i] << 32 | r->tid[i]);
    digest = mix(mix(digest, r->flags[i]), r->level[i]);
    REQUIRE(r->thread[i] == SPE_NO_ID || spe_profile_thread(p, r->thread[i]));
    REQUIRE(r->map[i] == SPE_NO_ID || spe_profile_map(p, r->map[i]));
    digest = mix(mix(digest, r->thread[i]), r->map[i]);
    return mix_text(digest, spe_profile_string(p, r->comm[i]));
}

static uint64_t hear_tables(struct spe_profile *p)
{
    uint64_t digest = 0;

    for (uint32_t i = 0; i < spe_profile_thread_count(p); i++) {
        const struct spe_profile_thread *t = spe_profile_thread(p, i);

        digest = mix(mix(digest, (uint64_t)t->pid << 32 | t->tid), t->start_ns);
        digest = mix_text(digest, spe_profile_string(p, t->comm));
    }
    for (uint32_t i = 0; i < spe_profile_map_count(p); i++) {
        const struct spe_profile_map *m = spe_profile_map(p, i);

        REQUIRE(m->dso < spe_profile_dso_count(p));
        digest = mix(mix(digest, m->start), m->end);
        digest = mix_text(digest, spe_profile_string(p, spe_profile_dso(p, m->dso)->path));
    }
    for (size_t i = 0; spe_profile_warning(p, i); i++)
        digest = mix_text(digest, spe_profile_warning(p, i));
    return digest;
}

static uint64_t hear_rows(struct spe_profile *p, uint64_t *count)
{
    uint64_t digest = 0;
    struct spe_rows rows;
    int result;

    *count = 0;
    while ((result = spe_profile_next(p, &rows)) > 0) {
        REQUIRE(rows.count > 0);
        for (size_t i = 0; i < rows.count; i++)
            digest = mix(digest, hear_row(p, &rows, i));
        *count += rows.count;
    }
    REQUIRE(result == 0);
    REQUIRE(spe_profile_counts(p)->rows == *count);
    return digest;
}

static uint64_t look(const uint8_t *data, size_t size, const struct spe_profile_options *options,
                     uint64_t *count)
{
    struct spe_profile_error error = {0};
    struct spe_profile *p;
    uint64_t digest, again;

    *count = 0;
    if (spe_profile_open_memory(&p, data, size, options, &error) < 0) {
        REQUIRE(!p && error.code < 0 && error.text[0]);
        return 0;
    }
    digest = hear_rows(p, count);
    REQUIRE(spe_profile_rewind(p) == SPE_OK);
    REQUIRE(hear_rows(p, &again) == digest && again == *count);
    digest = mix(digest, hear_tables(p));
    spe_profile_close(p);
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct spe_profile_options options = SPE_PROFILE_OPTIONS;
    uint64_t count, other, digest;

    if (size < 2)
        return 0;
    options.threads = 1;
    options.no_debuginfod = true;
    options.debug_dir = "";
    options.group_rows = data[0] & 1 ? 3 : 0;
    options.memory_limit = data[0] & 2 ? UINT64_C(1) << (data[0] >> 4) << 8 : 0;
    digest = look(data + 1, size - 1, &options, &count);
    REQUIRE(look(data + 1, size - 1, &options, &other) == digest && other == count);
    options.order = SPE_ORDER_TIME;
    look(data + 1, size - 1, &options, &other);
    REQUIRE(other == count);
    return 0;
}
