/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Options as text: a value from its words and numbers, and back. */
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Pieces of text ------------------------------------------------------------------------- */

/* Index of the word that is `length` characters at `text`, or -1. */
static int word_index(const struct spu_option *o, const char *text, size_t length)
{
    for (size_t i = 0; i < spu_option_words(o); i++)
        if (strlen(o->words[i]) == length && !memcmp(o->words[i], text, length))
            return (int)i;
    return -1;
}

static bool parse_number(const char *text, size_t length, uint64_t *value)
{
    char digits[72], *end;
    int base = 0;

    if (length == 0 || length >= sizeof(digits) || text[0] == '-' || text[0] == '+')
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    if (digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B'))
        base = 2;
    else if (digits[0] != '0' || (digits[1] != 'x' && digits[1] != 'X'))
        base = 10;
    if (digits[base == 2 ? 2 : 0] < '0' || digits[base == 2 ? 2 : 0] > '9')
        return false;
    if (base == 2 && strspn(digits + 2, "01") != length - 2) /* newer C libraries take 0b0b1 */
        return false;
    errno = 0;
    *value = strtoull(digits + (base == 2 ? 2 : 0), &end, base);
    return *end == 0 && errno == 0;
}

/* Call fn for each piece of a comma list; stops at the first that returns false. */
typedef bool piece_fn(const struct spu_option *o, const char *text, size_t length, void *to);

static bool each_piece(const struct spu_option *o, const char *list, piece_fn *fn, void *to)
{
    for (;;) {
        size_t length = strcspn(list, ",");

        if (!fn(o, list, length, to))
            return false;
        if (!list[length])
            return true;
        list += length + 1;
    }
}

static bool add_set_word(const struct spu_option *o, const char *text, size_t length, void *to)
{
    int i = word_index(o, text, length);

    if (i < 2)
        return false;
    *(uint64_t *)to |= UINT64_C(1) << (i - 2);
    return true;
}

static bool add_index(const struct spu_option *o, const char *text, size_t length, void *to)
{
    uint64_t index;

    if (!parse_number(text, length, &index) || index >= SPE_INDEX_COUNT || !(o->high >> index & 1))
        return false;
    *(uint64_t *)to |= UINT64_C(1) << index;
    return true;
}

static bool set_store_event(const struct spu_option *o, const char *text, size_t length, void *to)
{
    const char *colon = memchr(text, ':', length);
    uint8_t *choices = to;
    uint64_t event;
    int word;

    if (!colon || !parse_number(text, (size_t)(colon - text), &event) || event >= 32 ||
        !(SPU_STORE_EVENTS >> event & 1))
        return false;
    word = word_index(o, colon + 1, length - (size_t)(colon + 1 - text));
    if (word < 0)
        return false;
    choices[event] = (uint8_t)word;
    return true;
}

struct source_map {
    uint16_t value[SPE_SOURCE_MAP_MAX];
    uint16_t count;
};

static bool add_source(const struct spu_option *o, const char *text, size_t length, void *to)
{
    struct source_map *map = to;
    uint64_t value;

    if (map->count == SPE_SOURCE_MAP_MAX || !parse_number(text, length, &value) || value > o->high)
        return false;
    map->value[map->count++] = (uint16_t)value;
    return true;
}

/* ---- Text to value -------------------------------------------------------------------------- */

/* The kinds whose value is one number. */
static bool parse_simple(const struct spu_option *o, const char *text, uint64_t *value)
{
    int word = word_index(o, text, strlen(text));

    *value = 0;
    switch (o->kind) {
    case KIND_WORD:
        *value = (uint64_t)word;
        return word >= 0 && spu_option_permits(o, *value);
    case KIND_ONE_OF:
        if (word >= 0) /* "smallest" is zero, and the only way to say it */
            *value = strtoull(text, NULL, 10);
        return word >= 0 ||
               (parse_number(text, strlen(text), value) && *value && spu_option_permits(o, *value));
    case KIND_SET:
        if (word == 1)
            *value = o->high;
        return word == 0 || word == 1 || each_piece(o, text, add_set_word, value);
    case KIND_INDEXES:
        return word == 0 || each_piece(o, text, add_index, value);
    default:
        if (word == 0)
            return true;
        /* Where zero has a word, only the word means it. */
        return parse_number(text, strlen(text), value) && spu_option_permits(o, *value) &&
               !(*value == 0 && o->words);
    }
}

static int set_feature(const struct spu_option *o, struct spe_spu_config *config, const char *text)
{
    int word = word_index(o, text, strlen(text));
    spe_features bit = UINT64_C(1) << o->low;

    if (word < 0)
        return SPE_ERR_INVALID;
    if ((unsigned)word ^ (unsigned)o->high)
        spu_config_features(config, config->features | bit);
    else
        spu_config_features(config, config->features & ~bit);
    return SPE_OK;
}

static int set_store_events(const struct spu_option *o, struct spe_spu_config *config,
                            const char *text)
{
    int word = word_index(o, text, strlen(text));
    uint8_t choices[32];

    if (word >= 0) {
        spu_store_events_fill(config, (uint8_t)word);
        return SPE_OK;
    }
    memcpy(choices, config->store_cache_events, sizeof(choices));
    if (!each_piece(o, text, set_store_event, choices))
        return SPE_ERR_INVALID;
    memcpy(config->store_cache_events, choices, sizeof(choices));
    return SPE_OK;
}

static int set_source_map(const struct spu_option *o, struct spe_spu_config *config,
                          const char *text)
{
    struct source_map map = {.count = 0};

    if (strcmp(text, "raw") != 0 && !each_piece(o, text, add_source, &map))
        return SPE_ERR_INVALID;
    memcpy(config->data_source_map, map.value, sizeof(map.value));
    config->data_source_map_count = map.count;
    return SPE_OK;
}

static int set_layout(struct spe_spu_config *config, const char *text)
{
    const struct spe_layout *layout = spe_layout_by_name(text);

    if (!layout)
        return SPE_ERR_INVALID;
    config->layout = layout;
    return SPE_OK;
}

static int set_value(const struct spu_option *o, struct spe_spu_config *config, const char *text)
{
    uint64_t value;

    switch (o->kind) {
    case KIND_FEATURE:
        return set_feature(o, config, text);
    case KIND_LAYOUT:
        return set_layout(config, text);
    case KIND_STORE_EVENTS:
        return set_store_events(o, config, text);
    case KIND_SOURCE_MAP:
        return set_source_map(o, config, text);
    default:
        if (!parse_simple(o, text, &value))
            return SPE_ERR_INVALID;
        spu_option_store(o, config, value);
        return SPE_OK;
    }
}

int spu_option_set(struct spe_spu_config *config, const char *name, const char *value, char *why,
                   size_t why_size)
{
    const struct spu_option *o = spu_option_find(name);
    spe_features features = config->features;

    if (!o) {
        spu_refuse(why, why_size, "there is no option named %s", name);
        return SPE_ERR_UNKNOWN;
    }
    if (o->kind == KIND_FEATURES) {
        int error = spe_features_parse(value, &features, why, why_size);

        if (!error)
            spu_config_features(config, features);
        return error;
    }
    if (set_value(o, config, value))
        return spu_refuse(why, why_size, "option %s cannot be %s; it takes %s", name, value,
                          o->option.values);
    return SPE_OK;
}

/* ---- Value to text -------------------------------------------------------------------------- */

/* Text that grows in a buffer which may be too small, as snprintf counts. */
struct text {
    char *out;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    size_t room = t->length < t->size ? t->size - t->length : 0;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(room ? t->out + t->length : NULL, room, format, args);
    va_end(args);
    t->length += n > 0 ? (size_t)n : 0;
}

static void put_bits(struct text *t, const struct spu_option *o, uint64_t value)
{
    const char *comma = "";

    for (unsigned i = 0; i < 64; i++) {
        if (!(value >> i & 1))
            continue;
        if (o->kind == KIND_SET)
            put(t, "%s%s", comma, o->words[i + 2]);
        else
            put(t, "%s%u", comma, i);
        comma = ",";
    }
}

static void put_store_events(struct text *t, const struct spu_option *o,
                             const struct spe_spu_config *config)
{
    const uint8_t *choices = config->store_cache_events;
    uint8_t first = choices[SPE_EVENT_L1D_ACCESS];
    const char *comma = "";
    bool same = true;

    for (unsigned i = 0; i < 32; i++)
        same &= !(SPU_STORE_EVENTS >> i & 1) || choices[i] == first;
    if (same) {
        put(t, "%s", o->words[first % 3]);
        return;
    }
    for (unsigned i = 0; i < 32; i++) {
        if (!(SPU_STORE_EVENTS >> i & 1))
            continue;
        put(t, "%s%u:%s", comma, i, o->words[choices[i] % 3]);
        comma = ",";
    }
}

static void put_source_map(struct text *t, const struct spe_spu_config *config)
{
    if (!config->data_source_map_count)
        put(t, "raw");
    for (unsigned i = 0; i < config->data_source_map_count && i < SPE_SOURCE_MAP_MAX; i++)
        put(t, "%s0x%x", i ? "," : "", config->data_source_map[i]);
}

static void put_simple(struct text *t, const struct spu_option *o, uint64_t value)
{
    switch (o->kind) {
    case KIND_WORD:
        put(t, "%s", value < spu_option_words(o) ? o->words[value] : "?");
        break;
    case KIND_SET:
    case KIND_INDEXES:
        if (value == 0)
            put(t, "%s", o->words[0]);
        else if (o->kind == KIND_SET && value == o->high)
            put(t, "%s", o->words[1]);
        else
            put_bits(t, o, value);
        break;
    case KIND_MASK:
        put(t, "0x%llx", (unsigned long long)value);
        break;
    case KIND_ONE_OF:
        if (value == 0)
            put(t, "%s", o->words[spu_option_words(o) - 1]);
        else
            put(t, "%llu", (unsigned long long)value);
        break;
    default:
        if (value == 0 && o->words)
            put(t, "%s", o->words[0]);
        else
            put(t, "%llu", (unsigned long long)value);
    }
}

int spu_option_get(const struct spe_spu_config *config, const char *name, char *out,
                   size_t out_size)
{
    const struct spu_option *o = spu_option_find(name);
    struct text t = {out, out_size, 0};

    if (!o)
        return SPE_ERR_UNKNOWN;
    switch (o->kind) {
    case KIND_FEATURES:
        return spe_features_format(config->features, out, out_size);
    case KIND_FEATURE:
        put(&t, "%s",
            o->words[(unsigned)spe_has(config->features, (enum spe_feature)o->low) ^
                     (unsigned)o->high]);
        break;
    case KIND_LAYOUT:
        put(&t, "%s", config->layout && config->layout->name ? config->layout->name : "none");
        break;
    case KIND_STORE_EVENTS:
        put_store_events(&t, o, config);
        break;
    case KIND_SOURCE_MAP:
        put_source_map(&t, config);
        break;
    default:
        put_simple(&t, o, spu_option_load(o, config));
    }
    return (int)t.length;
}
