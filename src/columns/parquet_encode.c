/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "columns/parquet_encode.h"

#include <stdlib.h>
#include <zstd.h>

#include "columns/thrift.h"
#include "format/clones.h"

#define DICTIONARY_MAX 32768 /* values of a dictionary of numbers */
#define SLOTS 65536          /* to find them: a power of 2, twice as many */
#define PATIENCE 15          /* row groups after one in which something did not pay */
#define NOISE_LEVEL (-20)    /* of zstd, where its usual level did not pay: it gives up at once */
#define DELTA_BLOCK 128
#define DELTA_MINI 32

enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };

struct encoder {
    ZSTD_CCtx *zstd;
    int level;
    uint64_t *values; /* those that are there */
    size_t capacity;
    uint32_t *indexes;       /* of the same in a dictionary */
    uint64_t *known;         /* values of the dictionary, by index */
    uint32_t *slots;         /* 1 + index, by hash; 0: free */
    VECTOR(uint32_t) locals; /* 1 + index in the row group, by index of all texts; 0: none yet */
    struct buffer page, header;
};

struct encoder *encoder_new(int level)
{
    struct encoder *e = calloc(1, sizeof(*e));

    if (!e)
        return NULL;
    e->level = level;
    e->zstd = ZSTD_createCCtx();
    e->known = malloc(DICTIONARY_MAX * sizeof(*e->known));
    e->slots = malloc(SLOTS * sizeof(*e->slots));
    if (!e->zstd || !e->known || !e->slots) {
        encoder_free(e);
        return NULL;
    }
    return e;
}

void encoder_free(struct encoder *e)
{
    if (!e)
        return;
    ZSTD_freeCCtx(e->zstd);
    free(e->values);
    free(e->indexes);
    free(e->known);
    free(e->slots);
    free(e->locals.at);
    buffer_free(&e->page);
    buffer_free(&e->header);
    free(e);
}

enum parquet_type parquet_type(const struct column *c)
{
    switch (c->type) {
    case COLUMN_TEXT:
        return PARQUET_BYTES;
    case COLUMN_FLAG:
        return PARQUET_BOOLEAN;
    default:
        return column_size(c) == 8 ? PARQUET_INT64 : PARQUET_INT32;
    }
}

/* ---- pages ---------------------------------------------------------------------------------- */

static void page_header(struct encoder *e, int type, size_t plain, size_t packed, size_t values,
                        enum parquet_encoding encoding)
{
    struct thrift t = {.out = &e->header};

    e->header.size = 0;
    thrift_begin(&t);
    thrift_number(&t, 1, THRIFT_I32, type);
    thrift_number(&t, 2, THRIFT_I32, (int64_t)plain);
    thrift_number(&t, 3, THRIFT_I32, (int64_t)packed);
    thrift_struct(&t, type == DATA_PAGE ? 5 : 7);
    thrift_number(&t, 1, THRIFT_I32, (int64_t)values);
    thrift_number(&t, 2, THRIFT_I32, encoding);
    if (type == DATA_PAGE) {
        thrift_number(&t, 3, THRIFT_I32, PARQUET_RLE);
        thrift_number(&t, 4, THRIFT_I32, PARQUET_RLE);
    }
    thrift_end(&t);
    thrift_end(&t);
}

/* The bytes of e->page, packed, behind their header. */
static int put_page(struct encoder *e, struct chunk *chunk, int type, size_t values,
                    enum parquet_encoding encoding)
{
    size_t bound = ZSTD_compressBound(e->page.size), packed;
    struct buffer *out = &chunk->bytes;
    uint8_t *to;

    if (e->page.failed || e->page.size > INT32_MAX)
        return SPE_ERR_NOMEM;
    /* The header has the packed size: pack behind room for the longest one, then move. */
    to = buffer_room(out, bound + 64);
    if (!to)
        return SPE_ERR_NOMEM;
    packed = ZSTD_compressCCtx(e->zstd, to + 64, bound, e->page.at, e->page.size,
                               type == DATA_PAGE && chunk->noise ? NOISE_LEVEL : e->level);
    if (ZSTD_isError(packed))
        return SPE_ERR_NOMEM;
    page_header(e, type, e->page.size, packed, values, encoding);
    if (e->header.failed || e->header.size > 64)
        return SPE_ERR_NOMEM;
    memcpy(to, e->header.at, e->header.size);
    memmove(to + e->header.size, to + 64, packed);
    out->size += e->header.size + packed;
    chunk->uncompressed += e->header.size + e->page.size;
    if (type == DATA_PAGE && !chunk->noise && packed > e->page.size - e->page.size / 32)
        chunk->noise = PATIENCE;
    return SPE_OK;
}

/* ---- levels --------------------------------------------------------------------------------- */

static void put_u32(struct buffer *b, uint32_t value)
{
    buffer_put(b, &value, sizeof(value)); /* little-endian, as this machine is */
}

/* Which rows have a value: the bitmap is a bit-packed run as it is. All or none are one run. */
static void put_levels(struct encoder *e, const struct column *c, const struct cells *cells,
                       size_t rows)
{
    size_t start = e->page.size, groups = (rows + 7) / 8;
    uint32_t size;

    if (c->presence == PRESENT_ALWAYS)
        return;
    put_u32(&e->page, 0);
    if (cells->valid && cells->nulls < rows) {
        buffer_varint(&e->page, groups << 1 | 1);
        buffer_put(&e->page, cells->valid, groups);
    } else {
        buffer_varint(&e->page, rows << 1);
        buffer_byte(&e->page, !cells->valid);
    }
    if (e->page.failed)
        return;
    size = (uint32_t)(e->page.size - start - sizeof(size));
    memcpy(e->page.at + start, &size, sizeof(size));
}

/* ---- values --------------------------------------------------------------------------------- */

static int make_room(struct encoder *e, size_t rows)
{
    if (rows <= e->capacity)
        return SPE_OK;
    free(e->values);
    free(e->indexes);
    e->values = malloc(rows * sizeof(*e->values));
    e->indexes = malloc((rows + 8) * sizeof(*e->indexes));
    e->capacity = e->values && e->indexes ? rows : 0;
    return e->capacity ? SPE_OK : SPE_ERR_NOMEM;
}

/* Values of `type` that are there, as 64 bits, without gaps. Each is written; one that is not there
 * is written over. */
#define GATHER(type)                                                                               \
    do {                                                                                           \
        const type *from = cells->values;                                                          \
        for (size_t i = 0; !cells->valid && i < rows; i++)                                         \
            to[i] = from[i];                                                                       \
        for (size_t i = 0; cells->valid && i < rows; i += 64) {                                    \
            size_t end = rows - i < 64 ? rows : i + 64;                                            \
            uint64_t bits = cells->valid[i / 64];                                                  \
            for (size_t k = i; k < end; k++, bits >>= 1) {                                         \
                *to = from[k];                                                                     \
                to += bits & 1;                                                                    \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* To e->values; how many there are. */
static size_t gather(struct encoder *e, const struct column *c, const struct cells *cells,
                     size_t rows)
{
    uint64_t *to = e->values;

    if (cells->nulls == rows)
        return 0;
    switch (column_size(c)) {
    case 1:
        GATHER(uint8_t);
        break;
    case 2:
        GATHER(uint16_t);
        break;
    case 4:
        GATHER(uint32_t);
        break;
    default:
        GATHER(uint64_t);
        break;
    }
    return rows - cells->nulls;
}

/* Least and greatest of the values, each of which has the bits of `turn` turned. */
CLONES static void min_max(const uint64_t *values, size_t count, uint64_t turn, uint64_t *least,
                           uint64_t *greatest)
{
    uint64_t min = UINT64_MAX, max = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t value = values[i] ^ turn;

        min = value < min ? value : min;
        max = value > max ? value : max;
    }
    *least = min ^ turn;
    *greatest = max ^ turn;
}

static void find_range(const struct encoder *e, size_t count, bool is_signed, struct chunk *chunk)
{
    min_max(e->values, count, is_signed ? UINT64_C(1) << 63 : 0, &chunk->min, &chunk->max);
    chunk->has_range = count > 0;
}

/* ---- runs and packed bits ------------------------------------------------------------------- */

static unsigned bits_of(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* Values of `width` bits, at most 16 and the lowest first; `count` is a multiple of 8. */
static void pack32(struct buffer *b, const uint32_t *values, size_t count, unsigned width)
{
    size_t size = count / 8 * width;
    uint8_t *to = buffer_room(b, size + 16);

    if (!to)
        return;
    for (size_t i = 0; i < count; i += 8, to += width) {
        const uint32_t *v = values + i;
        uint64_t low = v[0] | (uint64_t)v[1] << width | (uint64_t)v[2] << 2 * width |
                       (uint64_t)v[3] << 3 * width;
        uint64_t high = v[4] | (uint64_t)v[5] << width | (uint64_t)v[6] << 2 * width |
                        (uint64_t)v[7] << 3 * width;
        uint64_t first = width < 16 ? low | high << 4 * width : low;
        uint64_t second = width < 16 ? high >> (64 - 4 * width) : high;

        memcpy(to, &first, sizeof(first));
        memcpy(to + sizeof(first), &second, sizeof(second));
    }
    b->size += size;
}

static void put_packed(struct buffer *b, uint32_t *values, size_t count, unsigned width)
{
    size_t groups = (count + 7) / 8;

    if (!count)
        return;
    for (size_t i = count; i < groups * 8; i++)
        values[i] = 0; /* only the last run is not a multiple of 8, and there is room behind it */
    buffer_varint(b, groups << 1 | 1);
    pack32(b, values, groups * 8, width);
}

static void put_run(struct buffer *b, uint32_t value, size_t count, unsigned width)
{
    buffer_varint(b, count << 1);
    buffer_put(b, &value, (width + 7) / 8);
}

static bool same_eight(const uint32_t values[8])
{
    uint32_t difference = 0;

    for (size_t i = 1; i < 8; i++)
        difference |= values[i] ^ values[0];
    return !difference;
}

/* Equal values in runs, the others packed, eight at a time. A run and the header of what is packed
 * behind it take some bytes: short runs of few bits are packed, too. */
static void put_indexes(struct buffer *b, uint32_t *indexes, size_t count, unsigned width)
{
    size_t start = 0, i = 0, worth = width < 8 ? 64 / width : 8;

    while (i + 8 <= count) {
        size_t run = 8;

        if (!same_eight(indexes + i)) {
            i += 8;
            continue;
        }
        while (i + run < count && indexes[i + run] == indexes[i])
            run++;
        if (run >= worth) {
            put_packed(b, indexes + start, i - start, width);
            put_run(b, indexes[i], run, width);
            start = i + run;
        }
        i += run >= worth ? run : run / 8 * 8;
    }
    put_packed(b, indexes + start, count - start, width);
}

/* ---- dictionaries --------------------------------------------------------------------------- */

/* The data page of a column with a dictionary of `known` values. */
static int put_indexed(struct encoder *e, const struct column *c, const struct cells *cells,
                       size_t rows, size_t count, size_t known, struct chunk *chunk)
{
    unsigned width = known > 1 ? bits_of(known - 1) : 1;

    chunk->encoding = PARQUET_DICTIONARY;
    e->page.size = 0;
    put_levels(e, c, cells, rows);
    buffer_byte(&e->page, width);
    put_indexes(&e->page, e->indexes, count, width);
    return put_page(e, chunk, DATA_PAGE, rows, PARQUET_DICTIONARY);
}

/* Where the values that are less than SLOTS above the least one are found, each by itself. */
static size_t count_directly(struct encoder *e, size_t count, uint64_t least, size_t most)
{
    size_t known = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t *slot = &e->slots[e->values[i] - least];

        if (!*slot) {
            if (known == most)
                return 0;
            e->known[known++] = e->values[i];
            *slot = (uint32_t)known;
        }
        e->indexes[i] = *slot - 1;
    }
    return known;
}

static size_t count_by_hash(struct encoder *e, size_t count, size_t most)
{
    size_t known = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t value = e->values[i];
        size_t slot = (size_t)(value * 0x9e3779b97f4a7c15u >> 48);

        while (e->slots[slot] && e->known[e->slots[slot] - 1] != value)
            slot = (slot + 1) % SLOTS;
        if (!e->slots[slot]) {
            if (known == most)
                return 0;
            e->known[known++] = value;
            e->slots[slot] = (uint32_t)known;
        }
        e->indexes[i] = e->slots[slot] - 1;
    }
    return known;
}

/* Indexes of the values in the order in which they first come: how many there are, or 0 if that
 * are so many that it does not pay. */
static size_t find_dictionary(struct encoder *e, size_t count, struct chunk *chunk)
{
    size_t most = count / 4 < DICTIONARY_MAX ? count / 4 : DICTIONARY_MAX, known;
    uint64_t range = chunk->max - chunk->min;

    memset(e->slots, 0, (range < SLOTS ? range + 1 : SLOTS) * sizeof(*e->slots));
    known =
        range < SLOTS ? count_directly(e, count, chunk->min, most) : count_by_hash(e, count, most);
    if (!known && count)
        chunk->patience = PATIENCE;
    return known;
}

static void put_numbers(struct buffer *b, const uint64_t *values, size_t count,
                        enum parquet_type type)
{
    size_t size = type == PARQUET_INT64 ? 8 : 4;
    uint8_t *to = count ? buffer_room(b, count * size) : NULL;

    for (size_t i = 0; to && i < count; i++)
        memcpy(to + i * size, &values[i], size); /* the low bytes come first */
    b->size += to ? count * size : 0;
}

static int dictionary_page(struct encoder *e, size_t known, struct chunk *chunk)
{
    int result = put_page(e, chunk, DICTIONARY_PAGE, known, PARQUET_PLAIN);

    chunk->dictionary_size = chunk->bytes.size;
    return result;
}

/* Texts of this row group, numbered as they first come; e->values are those of all. */
static size_t localise(struct encoder *e, const struct cells *cells, size_t count)
{
    size_t known = 0;

    for (size_t i = 0; i < count; i++) {
        size_t text = e->values[i];

        if (!e->locals.at[text]) {
            int32_t from = cells->texts->offsets[text], to = cells->texts->offsets[text + 1];

            put_u32(&e->page, (uint32_t)(to - from));
            buffer_put(&e->page, cells->texts->bytes + from, (size_t)(to - from));
            e->locals.at[text] = (uint32_t)++known;
        }
        e->indexes[i] = e->locals.at[text] - 1;
    }
    return known;
}

static int plain_page(struct encoder *e, const struct column *c, const struct cells *cells,
                      size_t rows, size_t count, struct chunk *chunk)
{
    chunk->encoding = PARQUET_PLAIN;
    e->page.size = 0;
    put_levels(e, c, cells, rows);
    put_numbers(&e->page, e->values, count, parquet_type(c));
    return put_page(e, chunk, DATA_PAGE, rows, PARQUET_PLAIN);
}

static int encode_text(struct encoder *e, const struct column *c, const struct cells *cells,
                       size_t rows, struct chunk *chunk)
{
    size_t texts = cells->texts->count, known, count = gather(e, c, cells, rows);

    while (e->locals.capacity < texts) {
        e->locals.count = e->locals.capacity;
        if (VECTOR_ROOM(&e->locals) < 0)
            return SPE_ERR_NOMEM;
    }
    if (texts)
        memset(e->locals.at, 0, texts * sizeof(*e->locals.at));
    e->page.size = 0;
    known = localise(e, cells, count);
    if (!known)
        return plain_page(e, c, cells, rows, 0, chunk);
    if (dictionary_page(e, known, chunk) < 0)
        return SPE_ERR_NOMEM;
    return put_indexed(e, c, cells, rows, count, known, chunk);
}

/* ---- differences ---------------------------------------------------------------------------- */

/* Values of at most 64 bits; a value may lie in two words. */
static void pack64(struct buffer *b, const uint64_t *values, size_t count, unsigned width)
{
    size_t size = count * width / 8; /* of a part of a block: whole bytes */
    uint8_t *to = buffer_room(b, size + 16);
    uint64_t word = 0;
    unsigned used = 0;

    if (!to || !width)
        return;
    for (size_t i = 0; i < count; i++) {
        word |= values[i] << used;
        used += width;
        if (used < 64)
            continue;
        memcpy(to, &word, sizeof(word));
        to += sizeof(word);
        used -= 64;
        word = used ? values[i] >> (width - used) : 0;
    }
    memcpy(to, &word, sizeof(word));
    b->size += size;
}

/* Neighbours become one value of twice as many bits: half the work. */
static unsigned pair(uint64_t *values, size_t count, unsigned width)
{
    for (size_t i = 0; i < count / 2; i++)
        values[i] = values[2 * i] | values[2 * i + 1] << width;
    return 2 * width;
}

/* Differences above the least of them, 32 at a time with as many bits as their greatest has. */
CLONES static void put_block(struct buffer *b, const uint64_t *values, size_t count)
{
    uint64_t differences[DELTA_BLOCK] = {0}, or [DELTA_BLOCK / DELTA_MINI] = {0};
    int64_t least = INT64_MAX;

    for (size_t i = 0; i < count; i++) {
        differences[i] = values[i + 1] - values[i];
        if ((int64_t)differences[i] < least)
            least = (int64_t)differences[i];
    }
    for (size_t i = 0; i < count; i++) {
        differences[i] -= (uint64_t)least;
        or [i / DELTA_MINI] |= differences[i];
    }
    buffer_zigzag(b, least);
    for (size_t m = 0; m < DELTA_BLOCK / DELTA_MINI; m++)
        buffer_byte(b, bits_of(or [m]));
    for (size_t m = 0; m * DELTA_MINI < count; m++) {
        uint64_t *mini = differences + m * DELTA_MINI;
        unsigned width = bits_of(or [m]);
        size_t left = DELTA_MINI;

        for (; width && width <= 32; left /= 2)
            width = pair(mini, left, width);
        pack64(b, mini, left, width);
    }
}

static void put_differences(struct buffer *b, const uint64_t *values, size_t count)
{
    buffer_varint(b, DELTA_BLOCK);
    buffer_varint(b, DELTA_BLOCK / DELTA_MINI);
    buffer_varint(b, count);
    buffer_zigzag(b, count ? (int64_t)values[0] : 0);
    for (size_t i = 0; i + 1 < count; i += DELTA_BLOCK)
        put_block(b, values + i, count - 1 - i < DELTA_BLOCK ? count - 1 - i : DELTA_BLOCK);
}

/* ---- columns -------------------------------------------------------------------------------- */

static int encode_number(struct encoder *e, const struct column *c, const struct cells *cells,
                         size_t rows, unsigned patience, struct chunk *chunk)
{
    size_t count = gather(e, c, cells, rows), known;

    find_range(e, count, c->type == COLUMN_I64, chunk);
    known = patience ? 0 : find_dictionary(e, count, chunk);
    if (known) {
        e->page.size = 0;
        put_numbers(&e->page, e->known, known, parquet_type(c));
        if (dictionary_page(e, known, chunk) < 0)
            return SPE_ERR_NOMEM;
        return put_indexed(e, c, cells, rows, count, known, chunk);
    }
    if (parquet_type(c) != PARQUET_INT64 || !count)
        return plain_page(e, c, cells, rows, count, chunk);
    chunk->encoding = PARQUET_DELTA;
    e->page.size = 0;
    put_levels(e, c, cells, rows);
    put_differences(&e->page, e->values, count);
    return put_page(e, chunk, DATA_PAGE, rows, PARQUET_DELTA);
}

/* Bits of the rows that have a value, without gaps. */
static void put_flags(struct buffer *b, const struct cells *cells, size_t rows)
{
    const uint64_t *bits = cells->values;
    size_t count = rows - cells->nulls, size = (count + 7) / 8, at = 0;
    uint8_t *to = size ? buffer_room(b, size) : NULL;

    if (!to)
        return;
    if (!cells->valid) {
        memcpy(to, bits, size);
    } else {
        memset(to, 0, size);
        for (size_t i = 0; i < rows; i++) {
            if (!cell_there(cells, i))
                continue;
            to[at / 8] |= (uint8_t)((bits[i / 64] >> i % 64 & 1) << at % 8);
            at++;
        }
    }
    b->size += size;
}

static int encode_flags(struct encoder *e, const struct column *c, const struct cells *cells,
                        size_t rows, struct chunk *chunk)
{
    chunk->encoding = PARQUET_PLAIN;
    e->page.size = 0;
    put_levels(e, c, cells, rows);
    put_flags(&e->page, cells, rows);
    return put_page(e, chunk, DATA_PAGE, rows, PARQUET_PLAIN);
}

int encode_chunk(struct encoder *e, const struct column *c, const struct cells *cells, size_t rows,
                 struct chunk *chunk)
{
    struct buffer bytes = chunk->bytes;
    unsigned patience = chunk->patience, noise = chunk->noise;

    bytes.size = 0;
    bytes.failed = false;
    *chunk = (struct chunk){.bytes = bytes, .values = rows, .nulls = cells->nulls};
    chunk->patience = (uint8_t)(patience ? patience - 1 : 0);
    chunk->noise = (uint8_t)(noise ? noise - 1 : 0);
    if (make_room(e, rows) < 0)
        return SPE_ERR_NOMEM;
    if (c->type == COLUMN_TEXT)
        return encode_text(e, c, cells, rows, chunk);
    if (c->type == COLUMN_FLAG)
        return encode_flags(e, c, cells, rows, chunk);
    return encode_number(e, c, cells, rows, patience, chunk);
}
