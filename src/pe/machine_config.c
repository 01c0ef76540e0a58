/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What a machine may be, and machines after real CPUs. docs/microarchitecture.md has the table with
 * the sources of the figures, and says which are documented and which are typical.
 */
#include "base/sized.h"
#include "machine_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define KIB(n) ((n)*UINT32_C(1024))
#define MIB(n) ((n)*UINT32_C(1048576))
#define LATENCY_MAX 100000
#define PRIVATE_LINES_MAX (UINT64_C(1) << 24) /* of all cpus: bounds the directory */

/* ---- Presets -------------------------------------------------------------------------------- */

struct preset {
    const char *name, *sentence;
    struct spe_machine_config config;
};

/* The data sources of src/format/cpus.c, by place. Those that a CPU does not tell apart share a
 * value; a CPU without a documented list tells none. */
#define COMMON_SOURCES                                                                             \
    {                                                                                              \
        0x0, 0x8, 0x9, 0xb, 0xd, 0xe, 0xd, SPE_MACHINE_NO_SOURCE                                   \
    }
#define AMPEREONE_SOURCES                                                                          \
    {                                                                                              \
        0x8, 0x9, 0x0, 0x3, 0x5, 0x7, 0x7, SPE_MACHINE_NO_SOURCE                                   \
    }
#define NO_SOURCES                                                                                 \
    {                                                                                              \
        SPE_MACHINE_NO_SOURCE, SPE_MACHINE_NO_SOURCE, SPE_MACHINE_NO_SOURCE,                       \
            SPE_MACHINE_NO_SOURCE, SPE_MACHINE_NO_SOURCE, SPE_MACHINE_NO_SOURCE,                   \
            SPE_MACHINE_NO_SOURCE, SPE_MACHINE_NO_SOURCE                                           \
    }

#define EIGHT_CPUS .size = sizeof(struct spe_machine_config), .cpus = 8, .sockets = 1

static const struct preset presets[] = {
    {"neoverse-n1",
     "Arm Neoverse N1: 64 KiB L1D, 1 MiB L2, 32 MiB system cache.",
     {EIGHT_CPUS,
      .line_bytes = 64,
      .l1d = {KIB(64), 4, 4},
      .l2 = {MIB(1), 8, 11},
      .llc = {MIB(32), 16, 85},
      .l1_tlb_entries = 48,
      .l2_tlb_entries = 1280,
      .l2_tlb_ways = 5,
      .page_bytes = 4096,
      .l2_tlb_latency = 5,
      .walk_latency = 40,
      .memory_latency = 270,
      .remote_latency = 300,
      .snoop_latency = 60,
      .predictor_bits = 14,
      .btb_entries = 4096,
      .return_stack = 16,
      .mispredict_cycles = 11,
      .issue_width = 4,
      .window = 128,
      .load_misses = 20,
      .store_queue = 48,
      .l2_interval = 3,
      .llc_interval = 4,
      .memory_interval = 7,
      .l1_prefetch = {2, 24},
      .l2_prefetch = {4, 32},
      .forward_failure = 10,
      .source = COMMON_SOURCES}},
    {"neoverse-v1",
     "Arm Neoverse V1: 64 KiB L1D, 1 MiB L2, 32 MiB system cache.",
     {EIGHT_CPUS,
      .line_bytes = 64,
      .l1d = {KIB(64), 4, 4},
      .l2 = {MIB(1), 8, 11},
      .llc = {MIB(32), 16, 80},
      .l1_tlb_entries = 40,
      .l2_tlb_entries = 2048,
      .l2_tlb_ways = 8,
      .page_bytes = 4096,
      .l2_tlb_latency = 5,
      .walk_latency = 40,
      .memory_latency = 300,
      .remote_latency = 300,
      .snoop_latency = 60,
      .predictor_bits = 15,
      .btb_entries = 8192,
      .return_stack = 32,
      .mispredict_cycles = 11,
      .issue_width = 8,
      .window = 256,
      .load_misses = 32,
      .store_queue = 96,
      .l2_interval = 2,
      .llc_interval = 3,
      .memory_interval = 6,
      .l1_prefetch = {2, 24},
      .l2_prefetch = {4, 32},
      .source = COMMON_SOURCES}},
    {"neoverse-n2",
     "Arm Neoverse N2: 64 KiB L1D, 1 MiB L2, 32 MiB system cache.",
     {EIGHT_CPUS,
      .line_bytes = 64,
      .l1d = {KIB(64), 4, 4},
      .l2 = {MIB(1), 8, 12},
      .llc = {MIB(32), 16, 90},
      .l1_tlb_entries = 44,
      .l2_tlb_entries = 1280,
      .l2_tlb_ways = 5,
      .page_bytes = 4096,
      .l2_tlb_latency = 5,
      .walk_latency = 40,
      .memory_latency = 300,
      .remote_latency = 300,
      .snoop_latency = 60,
      .predictor_bits = 15,
      .btb_entries = 8192,
      .return_stack = 32,
      .mispredict_cycles = 10,
      .issue_width = 5,
      .window = 160,
      .load_misses = 24,
      .store_queue = 64,
      .l2_interval = 2,
      .llc_interval = 4,
      .memory_interval = 7,
      .l1_prefetch = {2, 24},
      .l2_prefetch = {4, 32},
      .source = COMMON_SOURCES}},
    /* LLC: 21.2 ns at 2.8 GHz on Graviton4, see docs/measurements.tsv. */
    {"neoverse-v2",
     "Arm Neoverse V2: 64 KiB L1D, 2 MiB L2, 32 MiB system cache.",
     {EIGHT_CPUS,
      .line_bytes = 64,
      .l1d = {KIB(64), 4, 4},
      .l2 = {MIB(2), 8, 11},
      .llc = {MIB(32), 16, 60},
      .l1_tlb_entries = 48,
      .l2_tlb_entries = 2048,
      .l2_tlb_ways = 8,
      .page_bytes = 4096,
      .l2_tlb_latency = 5,
      .walk_latency = 40,
      .memory_latency = 310,
      .remote_latency = 300,
      .snoop_latency = 60,
      .predictor_bits = 16,
      .btb_entries = 8192,
      .return_stack = 32,
      .mispredict_cycles = 11,
      .issue_width = 8,
      .window = 320,
      .load_misses = 48,
      .store_queue = 96,
      .l2_interval = 2,
      .llc_interval = 2,
      .memory_interval = 6,
      .l1_prefetch = {2, 24},
      .l2_prefetch = {4, 32},
      .forward_latency = 5,
      .forward_failure = 10,
      .source = COMMON_SOURCES}},
    {"kunpeng-920",
     "HiSilicon Kunpeng 920 (TaiShan v110): 64 KiB L1D, 512 KiB L2, 32 MiB L3; no data sources.",
     {EIGHT_CPUS,
      .line_bytes = 64,
      .l1d = {KIB(64), 4, 4},
      .l2 = {KIB(512), 8, 10},
      .llc = {MIB(32), 16, 80},
      .l1_tlb_entries = 32,
      .l2_tlb_entries = 1024,
      .l2_tlb_ways = 4,
      .page_bytes = 4096,
      .l2_tlb_latency = 11,
      .walk_latency = 40,
      .memory_latency = 270,
      .remote_latency = 300,
      .snoop_latency = 60,
      .predictor_bits = 13,
      .btb_entries = 4096,
      .return_stack = 16,
      .mispredict_cycles = 14,
      .issue_width = 4,
      .window = 128,
      .load_misses = 20,
      .store_queue = 48,
      .l2_interval = 3,
      .llc_interval = 4,
      .memory_interval = 8,
      .l1_prefetch = {2, 24},
      .l2_prefetch = {4, 32},
      .source = NO_SOURCES}},
    {"ampereone-1a",
     "Ampere AmpereOne (AMPERE1A): 64 KiB L1D, 2 MiB L2, 64 MiB system cache.",
     {EIGHT_CPUS,
      .line_bytes = 64,
      .l1d = {KIB(64), 4, 4},
      .l2 = {MIB(2), 8, 11},
      .llc = {MIB(64), 16, 120},
      .l1_tlb_entries = 48,
      .l2_tlb_entries = 2048,
      .l2_tlb_ways = 8,
      .page_bytes = 4096,
      .l2_tlb_latency = 5,
      .walk_latency = 40,
      .memory_latency = 350,
      .remote_latency = 350,
      .snoop_latency = 60,
      .predictor_bits = 14,
      .btb_entries = 8192,
      .return_stack = 32,
      .mispredict_cycles = 10,
      .issue_width = 5,
      .window = 174,
      .load_misses = 24,
      .store_queue = 48,
      .l2_interval = 2,
      .llc_interval = 4,
      .memory_interval = 7,
      .l1_prefetch = {2, 24},
      .l2_prefetch = {4, 32},
      .source = AMPEREONE_SOURCES}},
    {"small",
     "Small caches on two sockets, for tests: 1 KiB L1D, 4 KiB L2, 16 KiB LLC.",
     {.size = sizeof(struct spe_machine_config),
      .cpus = 4,
      .sockets = 2,
      .line_bytes = 64,
      .l1d = {KIB(1), 2, 3},
      .l2 = {KIB(4), 4, 9},
      .llc = {KIB(16), 8, 30},
      .l1_tlb_entries = 4,
      .l2_tlb_entries = 16,
      .l2_tlb_ways = 4,
      .page_bytes = 4096,
      .l2_tlb_latency = 5,
      .walk_latency = 40,
      .memory_latency = 150,
      .remote_latency = 200,
      .snoop_latency = 20,
      .predictor_bits = 10,
      .btb_entries = 64,
      .return_stack = 8,
      .mispredict_cycles = 10,
      .issue_width = 2,
      .window = 32,
      .load_misses = 4,
      .store_queue = 8,
      .memory_interval = 10,
      .l1_prefetch = {0, 0},
      .l2_prefetch = {0, 0},
      .source = COMMON_SOURCES}},
};

#define PRESET_COUNT (sizeof(presets) / sizeof(presets[0]))

int spe_machine_config_preset(struct spe_machine_config *config, const char *preset)
{
    size_t size = config->size;

    for (size_t i = 0; i < PRESET_COUNT; i++)
        if (!strcmp(presets[i].name, preset ? preset : presets[0].name)) {
            sized_give(config, size, &presets[i].config, sizeof(presets[i].config));
            config->size = size;
            return SPE_OK;
        }
    return SPE_ERR_UNKNOWN;
}

const char *spe_machine_preset_at(size_t i)
{
    return i < PRESET_COUNT ? presets[i].name : NULL;
}

const char *spe_machine_preset_sentence(size_t i)
{
    return i < PRESET_COUNT ? presets[i].sentence : NULL;
}

/* ---- Validation ----------------------------------------------------------------------------- */

struct complaint {
    char *why;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct complaint *c,
                                                        const char *format, ...)
{
    va_list arguments;

    if (c->why && c->size) {
        va_start(arguments, format);
        vsnprintf(c->why, c->size, format, arguments);
        va_end(arguments);
    }
    return SPE_ERR_INVALID;
}

static bool is_power(uint64_t n)
{
    return n && !(n & (n - 1));
}

static int check_number(const struct complaint *c, const char *name, uint32_t value, uint32_t low,
                        uint32_t high)
{
    if (value >= low && value <= high)
        return SPE_OK;
    return refuse(c, "%s is %u, not %u to %u", name, value, low, high);
}

static int check_power(const struct complaint *c, const char *name, uint32_t value, uint32_t low,
                       uint32_t high)
{
    if (value >= low && value <= high && is_power(value))
        return SPE_OK;
    return refuse(c, "%s is %u, not a power of two from %u to %u", name, value, low, high);
}

static int check_cache(const struct complaint *c, const char *name,
                       const struct spe_cache_shape *shape, uint32_t line_bytes)
{
    int error = check_number(c, name, shape->ways, 1, 32);

    if (error)
        return refuse(c, "%s has %u ways, not 1 to 32", name, shape->ways);
    if (shape->bytes % (shape->ways * line_bytes) ||
        !is_power(shape->bytes / (shape->ways * line_bytes)))
        return refuse(c, "%s has %u bytes, not a power of two of sets of %u lines", name,
                      shape->bytes, shape->ways);
    return check_number(c, name, shape->latency, 0, LATENCY_MAX);
}

static int check_caches(const struct complaint *c, const struct spe_machine_config *config)
{
    const struct spe_cache_shape *outermost = config->l2.bytes ? &config->l2 : &config->l1d;
    int error = check_power(c, "line_bytes", config->line_bytes, 32, 256);

    if (!error)
        error = check_cache(c, "l1d", &config->l1d, config->line_bytes);
    if (!error && config->l2.bytes)
        error = check_cache(c, "l2", &config->l2, config->line_bytes);
    if (!error && config->llc.bytes)
        error = check_cache(c, "llc", &config->llc, config->line_bytes);
    if (!error &&
        (uint64_t)config->cpus * (outermost->bytes / config->line_bytes) > PRIVATE_LINES_MAX)
        error = refuse(c, "the private caches of %u cpus are too large together", config->cpus);
    return error;
}

static int check_tlb(const struct complaint *c, const struct spe_machine_config *config)
{
    int error = check_number(c, "l1_tlb_entries", config->l1_tlb_entries, 1, PE_TLB_MAX);

    if (!error)
        error = check_power(c, "page_bytes", config->page_bytes, 4096, UINT32_C(1) << 30);
    if (error || config->l2_tlb_entries == 0)
        return error;
    error = check_number(c, "l2_tlb_ways", config->l2_tlb_ways, 1, 32);
    if (!error)
        error = check_number(c, "l2_tlb_entries", config->l2_tlb_entries, 1, 1u << 20);
    if (!error && (config->l2_tlb_entries % config->l2_tlb_ways ||
                   !is_power(config->l2_tlb_entries / config->l2_tlb_ways)))
        error = refuse(c, "l2_tlb_entries is %u, not a power of two of sets of %u",
                       config->l2_tlb_entries, config->l2_tlb_ways);
    return error;
}

static int check_latencies(const struct complaint *c, const struct spe_machine_config *config)
{
    const struct {
        const char *name;
        uint32_t value;
    } latencies[] = {
        {"l2_tlb_latency", config->l2_tlb_latency},
        {"walk_latency", config->walk_latency},
        {"memory_latency", config->memory_latency},
        {"remote_latency", config->remote_latency},
        {"snoop_latency", config->snoop_latency},
        {"mispredict_cycles", config->mispredict_cycles},
        {"forward_latency", config->forward_latency},
        {"forward_failure", config->forward_failure},
    };
    int error = SPE_OK;

    for (size_t i = 0; !error && i < sizeof(latencies) / sizeof(latencies[0]); i++)
        error = check_number(c, latencies[i].name, latencies[i].value, 0, LATENCY_MAX);
    return error;
}

static int check_predictor(const struct complaint *c, const struct spe_machine_config *config)
{
    int error = check_number(c, "predictor_bits", config->predictor_bits, 1, 24);

    if (!error)
        error = check_power(c, "btb_entries", config->btb_entries, 1, 1u << 20);
    if (!error)
        error = check_number(c, "return_stack", config->return_stack, 1, 1024);
    return error ? error : check_number(c, "issue_width", config->issue_width, 1, 64);
}

static int check_window(const struct complaint *c, const struct spe_machine_config *config)
{
    int error = check_number(c, "window", config->window, 1, PE_WINDOW_MAX);

    if (!error)
        error = check_number(c, "load_misses", config->load_misses, 1, PE_LOAD_MISSES_MAX);
    if (!error)
        error = check_number(c, "store_queue", config->store_queue, 1, PE_STORES_MAX);
    if (!error)
        error = check_number(c, "l2_interval", config->l2_interval, 0, LATENCY_MAX);
    if (!error)
        error = check_number(c, "llc_interval", config->llc_interval, 0, LATENCY_MAX);
    if (!error)
        error = check_number(c, "memory_interval", config->memory_interval, 0, LATENCY_MAX);
    if (!error)
        error = check_number(c, "l1_prefetch.distance", config->l1_prefetch.distance, 0,
                             PE_PREFETCH_MAX);
    if (!error)
        error = check_number(c, "l2_prefetch.distance", config->l2_prefetch.distance, 0,
                             PE_PREFETCH_MAX);
    return error;
}

int spe_machine_config_validate(const struct spe_machine_config *config, char *why, size_t why_size)
{
    const struct complaint c = {why, why_size};
    int error;

    error = check_number(&c, "cpus", config->cpus, 1, PE_CPUS_MAX);
    if (!error)
        error = check_number(&c, "sockets", config->sockets, 1, PE_SOCKETS_MAX);
    if (!error && config->sockets > config->cpus)
        error =
            refuse(&c, "there are more sockets (%u) than cpus (%u)", config->sockets, config->cpus);
    if (!error)
        error = check_caches(&c, config);
    if (!error)
        error = check_tlb(&c, config);
    if (!error)
        error = check_latencies(&c, config);
    if (!error)
        error = check_predictor(&c, config);
    return error ? error : check_window(&c, config);
}
