/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Are bytes SPE records at all? Almost every byte string frames as packets (see stream.c), so the
 * question is how much of it the stream takes for records. Of other files that is next to nothing:
 * 1.5 % of an ELF program is much. Of SPE records it is nearly all, also where every tenth has a
 * wrong byte.
 */
#include <specimen/format.h>

#include "state.h"
#include <string.h>

/* A record has packets, and more that are known than others. */
static bool is_plausible(const struct spe_record *r)
{
    int known = __builtin_popcount(r->addresses) + __builtin_popcount(r->counters) +
                __builtin_popcount(r->has);

    return known > 0 && known >= (int)r->unknown;
}

static bool starts_with(const uint8_t *bytes, size_t size, const char *magic, size_t length)
{
    return size >= length && memcmp(bytes, magic, length) == 0;
}

static bool is_text(const uint8_t *bytes, size_t size)
{
    size_t i = 0;

    while (i < size && (bytes[i] >= 0x20 ? bytes[i] != 0x7f : bytes[i] >= '\t' && bytes[i] <= '\r'))
        i++;
    return i == size;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    size_t i = 0;

    while (i < size && !bytes[i])
        i++;
    return i == size;
}

static const char *what_it_is(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return "it is empty";
    if (starts_with(bytes, size,
                    "\x7f"
                    "ELF",
                    4))
        return "it looks like an ELF file";
    if (starts_with(bytes, size, "\x1f\x8b", 2) ||
        starts_with(bytes, size, "\x28\xb5\x2f\xfd", 4) ||
        starts_with(bytes, size,
                    "\xfd"
                    "7zXZ",
                    5))
        return "it looks like a compressed file";
    if (is_zero(bytes, size))
        return "it has only zeros";
    return is_text(bytes, size) ? "it looks like text" : "most of it does not decode";
}

int spe_stream_probe(const uint8_t *bytes, size_t size, bool end, const char **what)
{
    uint64_t good = 0, bad = 0;
    struct spe_stream stream;
    struct spe_record record;
    struct spe_item item;

    spe_stream_init(&stream, 0);
    spe_stream_feed(&stream, bytes, size);
    for (;;) {
        while (spe_stream_next(&stream, &item, &record)) {
            if (item.type == SPE_ITEM_RECORD && is_plausible(&record))
                good += item.size;
            else
                bad += item.size;
        }
        if (stream.ended || !end)
            break;
        spe_stream_end(&stream);
    }
    *what = what_it_is(bytes, size);
    if (!end && !good && !bad && size < SPE_PROBE_SIZE)
        return SPE_ERR_TRUNCATED;
    return good > 0 && good >= bad;
}
