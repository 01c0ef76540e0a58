/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Settings of a machine by name. */
#include <errno.h>
#include <specimen/pe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct key {
    const char *name;
    size_t offset;  /* of a uint32_t in struct spe_machine_config */
    bool bytes;     /* a size: K, M and G may follow the number */
    const char *is; /* in a sentence */
};

#define KEY(name, member, is)                                                                      \
    {                                                                                              \
        name, offsetof(struct spe_machine_config, member), false, is                               \
    }
#define SIZE(name, member, is)                                                                     \
    {                                                                                              \
        name, offsetof(struct spe_machine_config, member), true, is                                \
    }

static const struct key keys[] = {
    KEY("sockets", sockets, "over which CPUs are spread"),
    SIZE("page", page_bytes, "size of a page, such as 4K, 16K, 64K or 2M"),
    SIZE("line", line_bytes, "size of a cache line"),
    SIZE("l1d", l1d.bytes, "size of the first data cache"),
    KEY("l1d-ways", l1d.ways, "its ways"),
    KEY("l1d-latency", l1d.latency, "cycles of a load that it serves"),
    SIZE("l2", l2.bytes, "size of the second cache; 0: there is none"),
    KEY("l2-ways", l2.ways, "its ways"),
    KEY("l2-latency", l2.latency, "cycles of a load that it serves"),
    KEY("l2-interval", l2_interval, "cycles between lines that a CPU gets from it"),
    SIZE("llc", llc.bytes, "size of a socket's last-level cache; 0: there is none"),
    KEY("llc-ways", llc.ways, "its ways"),
    KEY("llc-latency", llc.latency, "cycles of a load that it serves"),
    KEY("llc-interval", llc_interval, "cycles between lines that a CPU gets from it"),
    KEY("l1-tlb", l1_tlb_entries, "entries of the first data TLB"),
    KEY("l2-tlb", l2_tlb_entries, "entries of the second TLB; 0: there is none"),
    KEY("l2-tlb-ways", l2_tlb_ways, "its ways"),
    KEY("l2-tlb-latency", l2_tlb_latency, "cycles of a translation that it has"),
    KEY("walk-latency", walk_latency, "cycles of a translation that no TLB has"),
    KEY("memory-latency", memory_latency, "cycles of a load from memory"),
    KEY("memory-interval", memory_interval, "cycles between lines that a CPU gets from it"),
    KEY("remote-latency", remote_latency, "cycles that another socket adds"),
    KEY("snoop-latency", snoop_latency, "cycles that another core's cache adds"),
    KEY("mispredict", mispredict_cycles, "cycles of a misprediction"),
    KEY("issue-width", issue_width, "operations a cycle"),
    KEY("window", window, "operations between dispatch and commit"),
    KEY("load-misses", load_misses, "that are served at the same time"),
    KEY("store-queue", store_queue, "stores that wait for their lines"),
    KEY("forward-latency", forward_latency,
        "cycles of a load that a store in the queue serves; 0: as l1d-latency"),
    KEY("forward-failure", forward_failure,
        "cycles of a load that such a store cannot serve, if the store hits L1d; 0: as l1d-latency"),
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

const char *spe_machine_key_at(size_t i)
{
    return i < KEY_COUNT ? keys[i].name : NULL;
}

const char *spe_machine_key_sentence(size_t i)
{
    return i < KEY_COUNT ? keys[i].is : NULL;
}

static unsigned shift_of(char unit)
{
    switch (unit) {
    case 'K':
    case 'k':
        return 10;
    case 'M':
    case 'm':
        return 20;
    case 'G':
    case 'g':
        return 30;
    default:
        return 0;
    }
}

static bool parse(const char *text, bool bytes, uint32_t *value)
{
    unsigned long long number;
    unsigned shift = 0;
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (bytes && *end) {
        shift = shift_of(*end);
        end += shift != 0;
    }
    if (errno || *end || number > UINT32_MAX >> shift)
        return false;
    *value = (uint32_t)(number << shift);
    return true;
}

int spe_machine_config_set(struct spe_machine_config *config, const char *key, const char *value,
                           char *why, size_t why_size)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        uint32_t number;

        if (strcmp(keys[i].name, key) != 0)
            continue;
        if (keys[i].offset + sizeof(number) > config->size)
            break; /* the caller's configuration is older than the key */
        if (!parse(value, keys[i].bytes, &number)) {
            snprintf(why, why_size, "%s is %s, not a number%s (%s)", key, value,
                     keys[i].bytes ? " of bytes, K, M or G" : "", keys[i].is);
            return SPE_ERR_INVALID;
        }
        memcpy((char *)config + keys[i].offset, &number, sizeof(number));
        return SPE_OK;
    }
    return SPE_ERR_UNKNOWN;
}
