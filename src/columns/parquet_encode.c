/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "columns/parquet_encode.h"

#include <stdlib.h>
#include <zstd.h>

#include "columns/parquet_pack.h"
#include "columns/thrift.h"
#include "format/clones.h"

#define DICTIONARY_MAX 32768 /* values of a dictionary of numbers */
#define SLOTS 65536          /* to find them: a power of 2, twice as many */
#define PATIENCE 15          /* row groups after one in which something did not pay */
#define HASH_LOG 10          /* of zstd: pages are small, and a small table stays in the cache */
#define MIN_MATCH 7          /* packed bits seldom repeat; what does is long */
#define NOISE_LEVEL (-20)    /* of zstd, where its usual level did not pay: it gives up at once */

enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };

struct encoder {
    ZSTD_CCtx *zstd;
    int level;
    uint64_t *values; /* room for those of a row group */
    size_t capacity;
    uint16_t *indexes;       /* of the values in a dictionary */
    uint64_t *known;         /* values of the dictionary, by index */
    uint16_t *slots;         /* 1 + index, by hash; 0: free */
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
    ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_hashLog, HASH_LOG);
    ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_minMatch, MIN_MATCH);
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
    ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_compressionLevel,
                           type == DATA_PAGE && chunk->noise ? NOISE_LEVEL : e->level);
    packed = ZSTD_compress2(e->zstd, to + 64, bound, e->page.at, e->page.size);
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
    e->indexes = malloc((rows + 8) * sizeof(*e->indexes)); /* what pack_indexes writes over */
    e->capacity = e->values && e->indexes ? rows : 0;
    return e->capacity ? SPE_OK : SPE_ERR_NOMEM;
}

/* The values of a column that are there, without gaps. */
struct values {
    size_t count;
    bool is_wide;
    const uint64_t *wide;   /* of 64 bits, or: */
    const uint32_t *narrow; /* of at most 32 */
};

/* Each is written; one that is not there is written over. */
#define GATHER(to, from)                                                                           \
    do {                                                                                           \
        size_t kept = 0;                                                                           \
        for (size_t i = 0; !cells->valid && i < rows; i++)                                         \
            (to)[i] = (from)[i];                                                                   \
        for (size_t i = 0; cells->valid && i < rows; i += 64) {                                    \
            size_t end = rows - i < 64 ? rows : i + 64;                                            \
            uint64_t bits = cells->valid[i / 64];                                                  \
            for (size_t k = i; k < end; k++, bits >>= 1) {                                         \
                (to)[kept] = (from)[k];                                                            \
                kept += bits & 1;                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* As they are, where all are there; else copied together in e->values. */
static struct values gather(struct encoder *e, const struct column *c, const struct cells *cells,
                            size_t rows)
{
    size_t size = column_size(c);
    bool as_they_are = !cells->valid && size >= 4;
    const void *at = as_they_are ? cells->values : e->values;
    struct values v = {.count = rows - cells->nulls, .is_wide = size == 8};
    uint32_t *narrow = (uint32_t *)e->values;

    if (v.is_wide)
        v.wide = at;
    else
        v.narrow = at;
    if (as_they_are || !v.count)
        return v;
    if (size == 1)
        GATHER(narrow, (const uint8_t *)cells->values);
    else if (size == 2)
        GATHER(narrow, (const uint16_t *)cells->values);
    else if (size == 4)
        GATHER(narrow, (const uint32_t *)cells->values);
    else
        GATHER(e->values, (const uint64_t *)cells->values);
    return v;
}

/* Least and greatest of the values, each of which has the bits of `turn` turned. */
CLONES static void min_max_wide(const uint64_t *values, size_t count, uint64_t turn,
                                struct chunk *chunk)
{
    uint64_t min = UINT64_MAX, max = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t value = values[i] ^ turn;

        min = value < min ? value : min;
        max = value > max ? value : max;
    }
    chunk->min = min ^ turn;
    chunk->max = max ^ turn;
}

CLONES static void min_max_narrow(const uint32_t *values, size_t count, struct chunk *chunk)
{
    uint32_t min = UINT32_MAX, max = 0;

    for (size_t i = 0; i < count; i++) {
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    chunk->min = min;
    chunk->max = max;
}

static void find_range(const struct values *v, bool is_signed, struct chunk *chunk)
{
    chunk->has_range = v->count > 0;
    if (!chunk->has_range)
        return;
    if (v->is_wide)
        min_max_wide(v->wide, v->count, is_signed ? UINT64_C(1) << 63 : 0, chunk);
    else
        min_max_narrow(v->narrow, v->count, chunk);
}

/* ---- dictionaries --------------------------------------------------------------------------- */

/* The data page of a column with a dictionary of `known` values. */
static int put_indexed(struct encoder *e, const struct column *c, const struct cells *cells,
                       size_t rows, size_t known, struct chunk *chunk)
{
    unsigned width = known > 1 ? bits_of(known - 1) : 1;

    chunk->encoding = PARQUET_DICTIONARY;
    e->page.size = 0;
    put_levels(e, c, cells, rows);
    buffer_byte(&e->page, width);
    pack_indexes(&e->page, e->indexes, rows - cells->nulls, width);
    return put_page(e, chunk, DATA_PAGE, rows, PARQUET_DICTIONARY);
}

/* Where the values that are less than SLOTS above the least one are found, each by itself. */
static size_t count_directly(struct encoder *e, const struct values *v, uint64_t least, size_t most)
{
    uint16_t *restrict slots = e->slots, *restrict indexes = e->indexes;
    size_t known = 0;

    for (size_t i = 0; i < v->count; i++) {
        uint64_t value = v->is_wide ? v->wide[i] : v->narrow[i];
        uint16_t found = slots[value - least];

        if (!found) {
            if (known == most)
                return 0;
            e->known[known++] = value;
            slots[value - least] = found = (uint16_t)known;
        }
        indexes[i] = (uint16_t)(found - 1);
    }
    return known;
}

static size_t count_by_hash(struct encoder *e, const struct values *v, size_t most)
{
    uint16_t *restrict slots = e->slots, *restrict indexes = e->indexes;
    size_t known = 0;

    for (size_t i = 0; i < v->count; i++) {
        uint64_t value = v->is_wide ? v->wide[i] : v->narrow[i];
        size_t slot = (size_t)(value * 0x9e3779b97f4a7c15u >> 48);

        while (slots[slot] && e->known[slots[slot] - 1] != value)
            slot = (slot + 1) % SLOTS;
        if (!slots[slot]) {
            if (known == most)
                return 0;
            e->known[known++] = value;
            slots[slot] = (uint16_t)known;
        }
        indexes[i] = (uint16_t)(slots[slot] - 1);
    }
    return known;
}

/* Indexes of the values in the order in which they first come: how many there are, or 0 if that
 * are so many that it does not pay. */
static size_t find_dictionary(struct encoder *e, const struct values *v, struct chunk *chunk)
{
    size_t most = v->count / 4 < DICTIONARY_MAX ? v->count / 4 : DICTIONARY_MAX, known;
    uint64_t range = chunk->max - chunk->min;

    memset(e->slots, 0, (range < SLOTS ? range + 1 : SLOTS) * sizeof(*e->slots));
    known = range < SLOTS ? count_directly(e, v, chunk->min, most) : count_by_hash(e, v, most);
    if (!known && v->count)
        chunk->patience = PATIENCE;
    return known;
}

static void put_known(struct encoder *e, size_t known, enum parquet_type type)
{
    size_t size = type == PARQUET_INT64 ? 8 : 4;

    for (size_t i = 0; i < known; i++)
        buffer_put(&e->page, &e->known[i], size); /* the low bytes come first */
}

static int dictionary_page(struct encoder *e, size_t known, struct chunk *chunk)
{
    int result = put_page(e, chunk, DICTIONARY_PAGE, known, PARQUET_PLAIN);

    chunk->dictionary_size = chunk->bytes.size;
    return result;
}

/* Texts of this row group, numbered as they first come; the values are those of all. */
static size_t localise(struct encoder *e, const struct cells *cells, const struct values *v)
{
    uint16_t *restrict indexes = e->indexes;
    uint32_t *restrict locals = e->locals.at;
    size_t known = 0;

    for (size_t i = 0; i < v->count; i++) {
        uint32_t text = v->narrow[i];

        if (!locals[text]) {
            int32_t from = cells->texts->offsets[text], to = cells->texts->offsets[text + 1];

            put_u32(&e->page, (uint32_t)(to - from));
            buffer_put(&e->page, cells->texts->bytes + from, (size_t)(to - from));
            locals[text] = (uint32_t)++known;
        }
        indexes[i] = (uint16_t)(locals[text] - 1);
    }
    return known;
}

static int plain_page(struct encoder *e, const struct column *c, const struct cells *cells,
                      size_t rows, const struct values *v, struct chunk *chunk)
{
    chunk->encoding = PARQUET_PLAIN;
    e->page.size = 0;
    put_levels(e, c, cells, rows);
    if (v->is_wide)
        buffer_put(&e->page, v->wide, v->count * sizeof(*v->wide));
    else
        buffer_put(&e->page, v->narrow, v->count * sizeof(*v->narrow));
    return put_page(e, chunk, DATA_PAGE, rows, PARQUET_PLAIN);
}

static int encode_text(struct encoder *e, const struct column *c, const struct cells *cells,
                       size_t rows, struct chunk *chunk)
{
    size_t texts = cells->texts->count, known;
    struct values v = gather(e, c, cells, rows);

    while (e->locals.capacity < texts) {
        e->locals.count = e->locals.capacity;
        if (VECTOR_ROOM(&e->locals) < 0)
            return SPE_ERR_NOMEM;
    }
    if (texts)
        memset(e->locals.at, 0, texts * sizeof(*e->locals.at));
    e->page.size = 0;
    known = localise(e, cells, &v);
    if (!known)
        return plain_page(e, c, cells, rows, &v, chunk);
    if (dictionary_page(e, known, chunk) < 0)
        return SPE_ERR_NOMEM;
    return put_indexed(e, c, cells, rows, known, chunk);
}

/* ---- columns -------------------------------------------------------------------------------- */

static int encode_number(struct encoder *e, const struct column *c, const struct cells *cells,
                         size_t rows, unsigned patience, struct chunk *chunk)
{
    struct values v = gather(e, c, cells, rows);
    size_t known;

    find_range(&v, c->type == COLUMN_I64, chunk);
    known = patience ? 0 : find_dictionary(e, &v, chunk);
    if (known) {
        e->page.size = 0;
        put_known(e, known, parquet_type(c));
        if (dictionary_page(e, known, chunk) < 0)
            return SPE_ERR_NOMEM;
        return put_indexed(e, c, cells, rows, known, chunk);
    }
    if (parquet_type(c) != PARQUET_INT64 || !v.count)
        return plain_page(e, c, cells, rows, &v, chunk);
    chunk->encoding = PARQUET_DELTA;
    e->page.size = 0;
    put_levels(e, c, cells, rows);
    pack_differences(&e->page, v.wide, v.count);
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
