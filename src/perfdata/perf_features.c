/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Feature sections (in pipes: HEADER_FEATURE records) -> struct spe_perf_features. Counts in a
 * section are held against the bytes that are there before anything is allocated for them. A
 * section that does not add up is a problem of the file, not of the reader: what it would say stays
 * unsaid.
 */
#include "perfdata_internal.h"

#include <inttypes.h>

/* A place in a section. Once something did not fit, `bad` stays set and all further reads are 0. */
struct cursor {
    const uint8_t *bytes;
    size_t left;
    bool bad, no_memory;
};

static const uint8_t *take(struct cursor *c, size_t size)
{
    const uint8_t *at = c->bytes;

    if (c->bad || size > c->left) {
        c->bad = true;
        return NULL;
    }
    c->bytes += size;
    c->left -= size;
    return at;
}

static uint32_t take32(struct cursor *c)
{
    const uint8_t *at = take(c, 4);

    return at ? load32(at) : 0;
}

static uint64_t take64(struct cursor *c)
{
    const uint8_t *at = take(c, 8);

    return at ? load64(at) : 0;
}

/* u32 length, then that many bytes with a NUL among them. NULL if not. */
static const char *take_string(struct cursor *c)
{
    uint32_t size = take32(c);
    const uint8_t *at = take(c, size);

    if (!at || !memchr(at, 0, size)) {
        c->bad = true;
        return NULL;
    }
    return (const char *)at;
}

/* An array for `count` elements that take at least `least` bytes each in the section. */
static void *array_for(struct cursor *c, uint64_t count, size_t least, size_t size)
{
    void *array;

    if (c->bad || !count || count > c->left / least) {
        c->bad |= count > c->left / least;
        return NULL;
    }
    array = calloc((size_t)count, size);
    c->no_memory |= !array;
    return array;
}

/* Frees an array that a pointer to const owns. */
static void drop(const void *array)
{
    free((void *)(uintptr_t)array);
}

static void parse_command(struct cursor *c, struct spe_perf_features *f)
{
    uint32_t count = take32(c);
    const char **list = array_for(c, count, 4, sizeof(*list));

    for (uint32_t i = 0; list && i < count; i++)
        list[i] = take_string(c);
    if (c->bad) {
        free(list);
        list = NULL;
    }
    drop(f->command);
    f->command = list;
    f->command_count = list ? count : 0;
}

static void parse_numa(struct cursor *c, struct spe_perf_features *f)
{
    uint32_t count = take32(c);
    struct spe_perf_numa_node *list = array_for(c, count, 24, sizeof(*list));

    for (uint32_t i = 0; list && i < count; i++) {
        list[i].node = take32(c);
        list[i].total_kb = take64(c);
        list[i].free_kb = take64(c);
        list[i].cpus = take_string(c);
    }
    if (c->bad) {
        free(list);
        list = NULL;
    }
    drop(f->numa);
    f->numa = list;
    f->numa_count = list ? count : 0;
}

/* The bitmap's words may lie anywhere in a mapped file: copy them to where uint64_t may be. */
static void take_bitmap(struct cursor *c, struct spe_perf_mem_node *node)
{
    uint64_t bits = take64(c), words = bits / 64 + !!(bits % 64);
    uint64_t *set = array_for(c, words, 8, 8);
    const uint8_t *at = set ? take(c, (size_t)words * 8) : NULL;

    if (at)
        memcpy(set, at, (size_t)words * 8);
    node->bits = set ? bits : 0;
    node->set = set;
}

static void drop_bitmaps(const struct spe_perf_mem_node *list, uint64_t count)
{
    for (uint64_t i = 0; list && i < count; i++)
        drop(list[i].set);
}

static void parse_mem(struct cursor *c, struct spe_perf_features *f)
{
    uint64_t version = take64(c), block = take64(c), count = take64(c);
    struct spe_perf_mem_node *list;

    if (version != 1)
        return;
    list = array_for(c, count, 24, sizeof(*list));
    for (uint64_t i = 0; list && i < count; i++) {
        list[i].node = take64(c);
        take64(c); /* the number of bits, which the bitmap repeats */
        take_bitmap(c, &list[i]);
    }
    if (c->bad) {
        drop_bitmaps(list, count);
        free(list);
        return;
    }
    drop_bitmaps(f->mem, f->mem_count);
    drop(f->mem);
    f->mem_block_size = block;
    f->mem = list;
    f->mem_count = list ? (size_t)count : 0;
}

static void parse_pmus(struct cursor *c, struct spe_perf_features *f)
{
    uint32_t count = take32(c);
    struct spe_perf_pmu *list = array_for(c, count, 8, sizeof(*list));

    for (uint32_t i = 0; list && i < count; i++) {
        list[i].type = take32(c);
        list[i].name = take_string(c);
    }
    if (c->bad) {
        free(list);
        list = NULL;
    }
    drop(f->pmus);
    f->pmus = list;
    f->pmu_count = list ? count : 0;
}

bool pd_build_id_view(const uint8_t *bytes, size_t size, struct spe_perf_build_id *b)
{
    memset(b, 0, sizeof(*b));
    if (size <= 36 || !memchr(bytes + 36, 0, size - 36))
        return false;
    b->misc = load16(bytes + 4);
    b->pid = (int32_t)load32(bytes + 8);
    memcpy(b->id, bytes + 12, SPE_PERF_BUILD_ID_MAX);
    b->id_size = SPE_PERF_BUILD_ID_MAX;
    if (b->misc & SPE_PERF_MISC_BUILD_ID_SIZE)
        b->id_size = bytes[32];
    b->path = (const char *)bytes + 36;
    return b->id_size <= SPE_PERF_BUILD_ID_MAX;
}

/* Records one behind the other; their header types are 0. */
static void parse_build_ids(struct cursor *c, struct spe_perf_features *f)
{
    struct spe_perf_build_id *list = NULL;
    size_t count = 0, capacity = 0;

    while (c->left && !c->bad) {
        size_t size = c->left >= 8 ? load16(c->bytes + 6) : 0;
        const uint8_t *at = size > 36 ? take(c, size) : NULL;

        if (at && vector_reserve(&list, &capacity, count + 1, sizeof(*list)) < 0) {
            c->no_memory = true;
            break;
        }
        c->bad |= !at || !pd_build_id_view(at, size, &list[count]);
        count += !c->bad;
    }
    drop(f->build_ids);
    f->build_ids = list;
    f->build_id_count = count; /* those before the bad one are good */
}

static void parse_event_desc(struct spe_perf_reader *r, struct cursor *c)
{
    uint32_t count = take32(c), attr_size = take32(c);

    for (uint32_t i = 0; i < count && !c->bad; i++) {
        const uint8_t *attr = take(c, attr_size), *ids;
        uint32_t id_count = take32(c);
        const char *name = take_string(c);
        int64_t event = i;

        ids = id_count <= c->left / 8 ? take(c, (size_t)id_count * 8) : NULL;
        c->bad |= !attr || !attr_size || !ids;
        if (!c->bad && id_count)
            event = spe_perf_reader_event_by_id(r, load64(ids));
        if (!c->bad && event >= 0 && (size_t)event < r->event_count)
            c->no_memory |= !pd_event_name(r, (size_t)event, name, strlen(name));
    }
}

static void parse_compressed(struct cursor *c, struct spe_perf_features *f)
{
    f->compressed.version = take32(c);
    f->compressed.type = take32(c);
    f->compressed.level = take32(c);
    f->compressed.ratio = take32(c);
    f->compressed.mmap_size = take32(c);
}

/* "0x00000000413fd0c1": MIDR_EL1 of Arm CPUs; other texts are those of other architectures. */
static void parse_cpuid(struct spe_perf_reader *r)
{
    const char *text = r->features.cpuid;
    char *end;

    r->cpuid = 0;
    if (text && text[0] == '0' && text[1] == 'x') {
        r->cpuid = strtoull(text, &end, 16);
        if (*end && *end != ',')
            r->cpuid = 0;
    }
}

static void parse_numbers(struct cursor *c, unsigned feature, struct spe_perf_features *f)
{
    switch (feature) {
    case SPE_PERF_FEATURE_NRCPUS:
        f->cpus_available = take32(c);
        f->cpus_online = take32(c);
        break;
    case SPE_PERF_FEATURE_TOTAL_MEM:
        f->total_mem_kb = take64(c);
        break;
    case SPE_PERF_FEATURE_SAMPLE_TIME:
        f->first_sample_ns = take64(c);
        f->last_sample_ns = take64(c);
        break;
    case SPE_PERF_FEATURE_CLOCKID:
        f->clockid_resolution_ns = take64(c);
        break;
    case SPE_PERF_FEATURE_COMPRESSED:
        parse_compressed(c, f);
        break;
    default:
        break;
    }
}

static void parse_lists(struct spe_perf_reader *r, struct cursor *c, unsigned feature)
{
    switch (feature) {
    case SPE_PERF_FEATURE_BUILD_ID:
        parse_build_ids(c, &r->features);
        break;
    case SPE_PERF_FEATURE_CMDLINE:
        parse_command(c, &r->features);
        break;
    case SPE_PERF_FEATURE_EVENT_DESC:
        parse_event_desc(r, c);
        break;
    case SPE_PERF_FEATURE_NUMA_TOPOLOGY:
        parse_numa(c, &r->features);
        break;
    case SPE_PERF_FEATURE_MEM_TOPOLOGY:
        parse_mem(c, &r->features);
        break;
    case SPE_PERF_FEATURE_PMU_MAPPINGS:
        parse_pmus(c, &r->features);
        break;
    default:
        parse_numbers(c, feature, &r->features);
        break;
    }
}

static const char **string_of(struct spe_perf_features *f, unsigned feature)
{
    switch (feature) {
    case SPE_PERF_FEATURE_HOSTNAME:
        return &f->hostname;
    case SPE_PERF_FEATURE_OSRELEASE:
        return &f->osrelease;
    case SPE_PERF_FEATURE_VERSION:
        return &f->version;
    case SPE_PERF_FEATURE_ARCH:
        return &f->arch;
    case SPE_PERF_FEATURE_CPUDESC:
        return &f->cpudesc;
    case SPE_PERF_FEATURE_CPUID:
        return &f->cpuid;
    default:
        return NULL;
    }
}

int pd_feature_parse(struct spe_perf_reader *r, unsigned feature, uint64_t offset)
{
    struct cursor c = {.bytes = r->feature[feature].bytes, .left = r->feature[feature].size};
    const char **text = string_of(&r->features, feature);

    if (text)
        *text = take_string(&c);
    else
        parse_lists(r, &c, feature);
    if (feature == SPE_PERF_FEATURE_CPUID)
        parse_cpuid(r);
    if (c.bad)
        pd_problem(r, SPE_ERR_FORMAT, offset, "feature %u is inconsistent", feature);
    return c.no_memory ? SPE_ERR_NOMEM : SPE_OK;
}

void pd_features_free(struct spe_perf_reader *r)
{
    struct spe_perf_features *f = &r->features;

    drop(f->command);
    drop(f->numa);
    drop_bitmaps(f->mem, f->mem_count);
    drop(f->mem);
    drop(f->pmus);
    drop(f->build_ids);
    for (unsigned i = 0; i < SPE_PERF_FEATURE_COUNT; i++)
        free(r->feature[i].owned);
    free(r->index);
}

const struct spe_perf_features *spe_perf_reader_features(const struct spe_perf_reader *reader)
{
    return &reader->features;
}

int spe_perf_reader_feature(const struct spe_perf_reader *reader, unsigned feature,
                            const uint8_t **bytes, size_t *size)
{
    if (feature >= SPE_PERF_FEATURE_COUNT || !reader->feature[feature].bytes)
        return SPE_ERR_UNKNOWN;
    *bytes = reader->feature[feature].bytes;
    *size = reader->feature[feature].size;
    return SPE_OK;
}
