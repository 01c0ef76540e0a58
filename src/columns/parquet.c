/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "columns/parquet.h"

#include <pthread.h>
#include <specimen/version.h>
#include <stdlib.h>

#include "columns/parquet_encode.h"
#include "columns/thrift.h"

static const char magic[4] = {'P', 'A', 'R', '1'};

enum { CODEC_ZSTD = 6, REQUIRED = 0, OPTIONAL = 1, LOGICAL_STRING = 1, LOGICAL_INTEGER = 10 };

struct parquet {
    struct column_choice choice;
    struct parquet_options options;
    uint64_t offset;      /* bytes written */
    uint64_t rows;        /* in them */
    struct buffer groups; /* the footer's row groups */
    size_t group_count;

    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pthread_t *threads;
    unsigned started;
    bool stop;
    struct batch *batch;  /* that is being encoded, or NULL */
    size_t next, waiting; /* column that nobody has; columns that are not done */
    struct chunk *chunks; /* of its columns */
    int error;            /* the first one */
};

/* ---- threads -------------------------------------------------------------------------------- */

/* The next column, under the lock; false: there will be none. */
static bool take_column(struct parquet *p, size_t *column)
{
    while (!p->stop && (!p->batch || p->next == p->choice.count))
        pthread_cond_wait(&p->work, &p->lock);
    *column = p->next;
    p->next += !p->stop;
    return !p->stop;
}

static void *encode_columns(void *user)
{
    struct parquet *p = user;
    struct encoder *e = encoder_new(p->options.level);
    size_t column;

    pthread_mutex_lock(&p->lock);
    while (take_column(p, &column)) {
        struct batch *batch = p->batch;
        int result;

        pthread_mutex_unlock(&p->lock);
        result = e ? encode_chunk(e, &p->choice.at[column], &batch->cells[column], batch->rows,
                                  &p->chunks[column])
                   : SPE_ERR_NOMEM;
        pthread_mutex_lock(&p->lock);
        if (result < 0 && !p->error)
            p->error = result;
        if (!--p->waiting)
            pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    encoder_free(e);
    return NULL;
}

/* Until nobody works on the batch. */
static void wait_for_columns(struct parquet *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->waiting)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void start_columns(struct parquet *p, struct batch *batch)
{
    pthread_mutex_lock(&p->lock);
    p->batch = batch;
    p->next = 0;
    p->waiting = p->choice.count;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
}

/* ---- what is written ------------------------------------------------------------------------ */

static void put(struct parquet *p, const void *bytes, size_t size)
{
    if (!p->error && size)
        p->error = p->options.put(p->options.user, bytes, size);
    p->offset += size;
}

static void put_statistics(struct thrift *t, const struct column *c, const struct chunk *chunk)
{
    size_t size = parquet_type(c) == PARQUET_INT64 ? 8 : 4;

    thrift_struct(t, 12);
    thrift_number(t, 3, THRIFT_I64, (int64_t)chunk->nulls);
    if (chunk->has_range) {
        thrift_binary(t, 5, &chunk->max, size);
        thrift_binary(t, 6, &chunk->min, size);
    }
    thrift_end(t);
}

static void put_encodings(struct thrift *t, const struct chunk *chunk)
{
    bool plain = chunk->dictionary_size && chunk->encoding != PARQUET_PLAIN;

    thrift_list(t, 2, THRIFT_I32, plain ? 3 : 2);
    buffer_zigzag(t->out, PARQUET_RLE);
    buffer_zigzag(t->out, chunk->encoding);
    if (plain)
        buffer_zigzag(t->out, PARQUET_PLAIN);
}

/* ColumnChunk of the footer; the pages begin at `start`. */
static void put_chunk(struct thrift *t, const struct column *c, const struct chunk *chunk,
                      uint64_t start)
{
    thrift_begin(t);
    thrift_number(t, 2, THRIFT_I64, (int64_t)start);
    thrift_struct(t, 3);
    thrift_number(t, 1, THRIFT_I32, parquet_type(c));
    put_encodings(t, chunk);
    thrift_list(t, 3, THRIFT_BINARY, 1);
    thrift_bytes(t, c->name, strlen(c->name));
    thrift_number(t, 4, THRIFT_I32, CODEC_ZSTD);
    thrift_number(t, 5, THRIFT_I64, (int64_t)chunk->values);
    thrift_number(t, 6, THRIFT_I64, (int64_t)chunk->uncompressed);
    thrift_number(t, 7, THRIFT_I64, (int64_t)chunk->bytes.size);
    thrift_number(t, 9, THRIFT_I64, (int64_t)(start + chunk->dictionary_size));
    if (chunk->dictionary_size)
        thrift_number(t, 11, THRIFT_I64, (int64_t)start);
    put_statistics(t, c, chunk);
    thrift_end(t);
    thrift_end(t);
}

static void put_sorting(const struct parquet *p, struct thrift *t)
{
    for (size_t i = 0; p->options.by_time && i < p->choice.count; i++) {
        if (p->choice.at[i].id != COLUMN_ID_time_ns)
            continue;
        thrift_list(t, 4, THRIFT_STRUCT, 1);
        thrift_begin(t);
        thrift_number(t, 1, THRIFT_I32, (int64_t)i);
        thrift_bool(t, 2, false);
        thrift_bool(t, 3, true);
        thrift_end(t);
    }
}

/* The batch that was encoded: its pages to the file, and what the footer will say of them. */
static void put_group(struct parquet *p)
{
    struct thrift t = {.out = &p->groups};
    uint64_t plain = 0, start = p->offset;

    thrift_begin(&t);
    thrift_list(&t, 1, THRIFT_STRUCT, p->choice.count);
    for (size_t i = 0; i < p->choice.count; i++) {
        const struct chunk *chunk = &p->chunks[i];

        put_chunk(&t, &p->choice.at[i], chunk, p->offset);
        plain += chunk->uncompressed;
        put(p, chunk->bytes.at, chunk->bytes.size);
    }
    thrift_number(&t, 2, THRIFT_I64, (int64_t)plain);
    thrift_number(&t, 3, THRIFT_I64, (int64_t)p->batch->rows);
    put_sorting(p, &t);
    thrift_number(&t, 5, THRIFT_I64, (int64_t)start);
    thrift_number(&t, 6, THRIFT_I64, (int64_t)(p->offset - start));
    thrift_end(&t);
    p->rows += p->batch->rows;
    p->group_count++;
}

/* Finish the batch that is being encoded, if there is one. */
static int end_batch(struct parquet *p)
{
    struct batch *batch;

    wait_for_columns(p);
    if (p->batch && !p->error)
        put_group(p);
    pthread_mutex_lock(&p->lock);
    batch = p->batch;
    p->batch = NULL;
    pthread_mutex_unlock(&p->lock);
    batch_release(batch);
    if (p->groups.failed && !p->error)
        p->error = SPE_ERR_NOMEM;
    return p->error;
}

int parquet_add(struct parquet *p, struct batch *batch)
{
    int result = end_batch(p);

    if (result < 0)
        batch_release(batch);
    else
        start_columns(p, batch);
    return result;
}

/* ---- the footer ----------------------------------------------------------------------------- */

static void put_integer(struct thrift *t, const struct column *c)
{
    static const uint8_t converted[] = {11, 12, 13, 14, 18}; /* UINT_8 ... UINT_64, INT_64 */

    thrift_number(t, 6, THRIFT_I32, converted[c->type]);
    thrift_struct(t, 10);
    thrift_struct(t, LOGICAL_INTEGER);
    thrift_number(t, 1, THRIFT_I8, (int64_t)column_size(c) * 8);
    thrift_bool(t, 2, c->type == COLUMN_I64);
    thrift_end(t);
    thrift_end(t);
}

static void put_element(struct thrift *t, const struct column *c)
{
    thrift_begin(t);
    thrift_number(t, 1, THRIFT_I32, parquet_type(c));
    thrift_number(t, 3, THRIFT_I32, c->presence == PRESENT_ALWAYS ? REQUIRED : OPTIONAL);
    thrift_text(t, 4, c->name);
    if (c->type == COLUMN_TEXT) {
        thrift_number(t, 6, THRIFT_I32, 0); /* UTF8 */
        thrift_struct(t, 10);
        thrift_struct(t, LOGICAL_STRING);
        thrift_end(t);
        thrift_end(t);
    } else if (c->type != COLUMN_FLAG) {
        put_integer(t, c);
    }
    thrift_end(t);
}

static void put_schema(struct thrift *t, const struct column_choice *choice)
{
    thrift_list(t, 2, THRIFT_STRUCT, choice->count + 1);
    thrift_begin(t);
    thrift_text(t, 4, "samples");
    thrift_number(t, 5, THRIFT_I32, (int64_t)choice->count);
    thrift_end(t);
    for (size_t i = 0; i < choice->count; i++)
        put_element(t, &choice->at[i]);
}

static void put_facts(struct thrift *t, const struct facts *facts)
{
    if (!facts->list.count)
        return;
    thrift_list(t, 5, THRIFT_STRUCT, facts->list.count);
    for (size_t i = 0; i < facts->list.count; i++) {
        thrift_begin(t);
        thrift_text(t, 1, facts->list.at[i].key);
        thrift_text(t, 2, facts->list.at[i].value);
        thrift_end(t);
    }
}

/* Statistics are compared as the types say. */
static void put_orders(struct thrift *t, size_t count)
{
    thrift_list(t, 7, THRIFT_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        thrift_begin(t);
        thrift_struct(t, 1);
        thrift_end(t);
        thrift_end(t);
    }
}

static void make_footer(const struct parquet *p, const struct facts *facts, struct buffer *out)
{
    struct thrift t = {.out = out};
    uint32_t size;

    thrift_begin(&t);
    thrift_number(&t, 1, THRIFT_I32, 2);
    put_schema(&t, &p->choice);
    thrift_number(&t, 3, THRIFT_I64, (int64_t)p->rows);
    thrift_list(&t, 4, THRIFT_STRUCT, p->group_count);
    buffer_put(out, p->groups.at, p->groups.size);
    put_facts(&t, facts);
    thrift_text(&t, 6, "specimen version " SPE_VERSION);
    put_orders(&t, p->choice.count);
    thrift_end(&t);
    size = (uint32_t)out->size;
    buffer_put(out, &size, sizeof(size));
    buffer_put(out, magic, sizeof(magic));
}

int parquet_finish(struct parquet *p, const struct facts *facts)
{
    struct buffer footer = {0};
    int result = end_batch(p);

    if (result < 0)
        return result;
    make_footer(p, facts, &footer);
    if (footer.failed || footer.size > INT32_MAX)
        p->error = SPE_ERR_NOMEM;
    put(p, footer.at, footer.size);
    buffer_free(&footer);
    return p->error;
}

/* ---- opening -------------------------------------------------------------------------------- */

static int start_threads(struct parquet *p)
{
    p->threads = calloc(p->options.threads, sizeof(*p->threads));
    if (!p->threads)
        return SPE_ERR_NOMEM;
    while (p->started < p->options.threads &&
           pthread_create(&p->threads[p->started], NULL, encode_columns, p) == 0)
        p->started++;
    return p->started ? SPE_OK : SPE_ERR_NOMEM; /* fewer are slower, not wrong */
}

int parquet_open(struct parquet **parquet, const struct column_choice *choice,
                 const struct parquet_options *options)
{
    struct parquet *p = calloc(1, sizeof(*p));
    int result = SPE_ERR_NOMEM;

    *parquet = NULL;
    if (!p)
        return SPE_ERR_NOMEM;
    p->choice = *choice;
    p->options = *options;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->chunks = calloc(choice->count, sizeof(*p->chunks));
    if (p->chunks)
        result = start_threads(p);
    if (result == SPE_OK) {
        put(p, magic, sizeof(magic));
        result = p->error;
    }
    if (result < 0)
        parquet_close(p);
    else
        *parquet = p;
    return result;
}

void parquet_close(struct parquet *p)
{
    if (!p)
        return;
    wait_for_columns(p);
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->started; i++)
        pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    batch_release(p->batch);
    for (size_t i = 0; p->chunks && i < p->choice.count; i++)
        buffer_free(&p->chunks[i].bytes);
    free(p->chunks);
    free(p->threads);
    buffer_free(&p->groups);
    free(p);
}
