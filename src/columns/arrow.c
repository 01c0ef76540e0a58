/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The Arrow C stream. Every array holds a batch of table.h, and every dictionary a view, until it
 * is released: a consumer may move a child out of its parent and release both in any order.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <specimen/arrow.h>

#include "base/sized.h"
#include "columns/facts.h"
#include "columns/table.h"

#define BATCH_ROWS 16384 /* which fit into a cache, and are many for a consumer */
#define BATCH_ROWS_MAX 1048576

struct stream {
    struct spe_profile *profile;
    bool keep_profile, views;
    struct table *table;
    const char *error; /* of the last call, or NULL */
};

static const char *format_of(const struct column *c, bool views)
{
    static const char *const formats[] = {"C", "S", "I", "L", "l", "i", "b"};

    return views && c->type == COLUMN_TEXT ? "vu" : formats[c->type];
}

/* ---- schemas -------------------------------------------------------------------------------- */

/* A schema's own memory, with its children behind it. */
struct schema_memory {
    struct ArrowSchema **children;
    struct ArrowSchema *list;
    struct ArrowSchema dictionary;
    char *metadata;
    char name[32];
};

static void release_schema(struct ArrowSchema *schema)
{
    struct schema_memory *memory = schema->private_data;

    for (int64_t i = 0; i < schema->n_children; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are n_children */
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    }
    if (schema->dictionary && schema->dictionary->release)
        schema->dictionary->release(schema->dictionary);
    free(memory->children);
    free(memory->list);
    free(memory->metadata);
    free(memory);
    schema->release = NULL;
}

static void release_nothing(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static int new_schema(struct ArrowSchema *schema, const char *format, const char *name)
{
    struct schema_memory *memory = calloc(1, sizeof(*memory));

    if (!memory)
        return ENOMEM;
    snprintf(memory->name, sizeof(memory->name), "%s", name);
    *schema = (struct ArrowSchema){.format = format,
                                   .name = memory->name,
                                   .flags = ARROW_FLAG_NULLABLE,
                                   .release = release_schema,
                                   .private_data = memory};
    return 0;
}

static int column_schema(struct ArrowSchema *schema, const struct column *c, bool views)
{
    struct schema_memory *memory;

    if (new_schema(schema, format_of(c, views), c->name) != 0)
        return ENOMEM;
    if (c->presence == PRESENT_ALWAYS)
        schema->flags = 0;
    if (c->type == COLUMN_TEXT && !views) {
        memory = schema->private_data;
        memory->dictionary = (struct ArrowSchema){
            .format = "u", .name = "", .flags = ARROW_FLAG_NULLABLE, .release = release_nothing};
        schema->dictionary = &memory->dictionary;
    }
    return 0;
}

static char *put_text(char *to, const char *text)
{
    int32_t size = (int32_t)strlen(text);

    memcpy(to, &size, sizeof(size));
    memcpy(to + sizeof(size), text, (size_t)size);
    return to + sizeof(size) + size;
}

/* As Arrow has it: the number of pairs, then each text behind its size. */
static char *encode_facts(const struct facts *f)
{
    int32_t count = (int32_t)f->list.count;
    size_t size = sizeof(count);
    char *bytes, *to;

    for (size_t i = 0; i < f->list.count; i++)
        size += 2 * sizeof(int32_t) + strlen(f->list.at[i].key) + strlen(f->list.at[i].value);
    bytes = malloc(size);
    if (!bytes)
        return NULL;
    memcpy(bytes, &count, sizeof(count));
    to = bytes + sizeof(count);
    for (size_t i = 0; i < f->list.count; i++)
        to = put_text(put_text(to, f->list.at[i].key), f->list.at[i].value);
    return bytes;
}

static int set_metadata(struct ArrowSchema *schema, const struct spe_profile *profile)
{
    struct schema_memory *memory = schema->private_data;
    struct facts facts = {0};

    if (facts_of(&facts, profile) == SPE_OK)
        memory->metadata = encode_facts(&facts);
    facts_free(&facts);
    schema->metadata = memory->metadata;
    return memory->metadata ? 0 : ENOMEM;
}

static int add_children(struct ArrowSchema *schema, const struct stream *s)
{
    const struct column_choice *choice = table_choice(s->table);
    struct schema_memory *memory = schema->private_data;

    memory->children = calloc(choice->count, sizeof(struct ArrowSchema *));
    memory->list = calloc(choice->count, sizeof(*memory->list));
    schema->children = memory->children;
    if (!memory->children || !memory->list)
        return ENOMEM;
    for (size_t i = 0; i < choice->count; i++) {
        if (column_schema(&memory->list[i], &choice->at[i], s->views) != 0)
            return ENOMEM;
        memory->children[i] = &memory->list[i];
        schema->n_children++;
    }
    return 0;
}

static int make_schema(const struct stream *s, struct ArrowSchema *schema)
{
    if (new_schema(schema, "+s", "") != 0)
        return ENOMEM;
    schema->flags = 0;
    if (add_children(schema, s) != 0 || set_metadata(schema, s->profile) != 0) {
        release_schema(schema);
        return ENOMEM;
    }
    return 0;
}

/* ---- arrays --------------------------------------------------------------------------------- */

struct array_memory {
    const void *buffers[4];
    int64_t text_size; /* of the buffer that views point into */
    struct ArrowArray **children;
    struct ArrowArray *list;
    struct ArrowArray dictionary;
    struct batch *batch;           /* or NULL */
    struct dictionary_view *texts; /* or NULL */
};

static void release_array(struct ArrowArray *array)
{
    struct array_memory *memory = array->private_data;

    for (int64_t i = 0; i < array->n_children; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are n_children */
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
    }
    if (array->dictionary && array->dictionary->release)
        array->dictionary->release(array->dictionary);
    batch_release(memory->batch);
    dictionary_view_release(memory->texts);
    free(memory->children);
    free(memory->list);
    free(memory);
    array->release = NULL;
}

static struct array_memory *new_array(struct ArrowArray *array, size_t length, size_t nulls,
                                      int64_t buffers)
{
    struct array_memory *memory = calloc(1, sizeof(*memory));

    if (memory)
        *array = (struct ArrowArray){.length = (int64_t)length,
                                     .null_count = (int64_t)nulls,
                                     .n_buffers = buffers,
                                     .buffers = memory->buffers,
                                     .release = release_array,
                                     .private_data = memory};
    return memory;
}

/* Takes a reference of the view. */
static int dictionary_array(struct ArrowArray *array, struct dictionary_view *texts)
{
    struct array_memory *memory = new_array(array, texts->count, 0, 3);

    if (!memory)
        return ENOMEM;
    atomic_fetch_add(&texts->users, 1);
    memory->texts = texts;
    memory->buffers[1] = texts->offsets;
    memory->buffers[2] = texts->bytes;
    return 0;
}

/* Behind the views is what they point into, and its size. The batch keeps it. */
static void add_view_buffers(struct ArrowArray *array, const struct dictionary_view *texts)
{
    struct array_memory *memory = array->private_data;

    memory->text_size = texts->offsets[texts->count];
    memory->buffers[2] = texts->bytes;
    memory->buffers[3] = &memory->text_size;
    array->n_buffers = 4;
}

/* Takes a reference of the batch. */
static int column_array(struct ArrowArray *array, struct batch *batch, const struct cells *cells)
{
    struct array_memory *memory = new_array(array, batch->rows, cells->nulls, 2);

    if (!memory)
        return ENOMEM;
    batch_keep(batch);
    memory->batch = batch;
    memory->buffers[0] = cells->valid;
    memory->buffers[1] = cells->values;
    if (cells->texts && batch->has_views) {
        add_view_buffers(array, cells->texts);
    } else if (cells->texts) {
        if (dictionary_array(&memory->dictionary, cells->texts) != 0) {
            release_array(array);
            return ENOMEM;
        }
        array->dictionary = &memory->dictionary;
    }
    return 0;
}

static int batch_array(struct ArrowArray *array, struct batch *batch)
{
    struct array_memory *memory = new_array(array, batch->rows, 0, 1);

    if (!memory)
        return ENOMEM;
    memory->children = calloc(batch->count, sizeof(struct ArrowArray *));
    memory->list = calloc(batch->count, sizeof(*memory->list));
    array->children = memory->children;
    if (!memory->children || !memory->list) {
        release_array(array);
        return ENOMEM;
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (column_array(&memory->list[i], batch, &batch->cells[i]) != 0) {
            release_array(array);
            return ENOMEM;
        }
        memory->children[i] = &memory->list[i];
        array->n_children++;
    }
    return 0;
}

/* ---- the stream ----------------------------------------------------------------------------- */

static int fail(struct stream *s, int error)
{
    s->error = spe_strerror(error);
    return error == SPE_ERR_NOMEM ? ENOMEM : EIO;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    struct stream *s = stream->private_data;

    s->error = NULL;
    return make_schema(s, schema) == 0 ? 0 : fail(s, SPE_ERR_NOMEM);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
    struct stream *s = stream->private_data;
    struct batch *batch;
    int result = table_next(s->table, &batch);

    s->error = NULL;
    memset(array, 0, sizeof(*array)); /* without `release`: the end */
    if (result == 0) {
        result = spe_profile_status(s->profile);
        return result < 0 ? fail(s, result) : 0;
    }
    if (result > 0)
        result = batch_array(array, batch) == 0 ? SPE_OK : SPE_ERR_NOMEM;
    batch_release(batch);
    return result < 0 ? fail(s, result) : 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    const struct stream *s = stream->private_data;

    return s->error;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    struct stream *s = stream->private_data;

    table_close(s->table);
    if (!s->keep_profile)
        spe_profile_close(s->profile);
    free(s);
    stream->release = NULL;
}

static int refuse(struct spe_profile_error *error, int code, const char *why)
{
    if (error) {
        *error = (struct spe_profile_error){.code = code, .filter_position = -1};
        snprintf(error->text, sizeof(error->text), "%s", why);
    }
    return code;
}

int spe_arrow_prepare(const struct spe_arrow_options *options, struct spe_profile_options *profile,
                      struct spe_profile_error *error)
{
    struct spe_arrow_options own;
    const struct spe_arrow_options *o = sized_view(&own, sizeof(own), options, options->size);
    struct column_choice choice;
    int result;

    if (!o)
        return refuse(error, SPE_ERR_INVALID, "an option is out of its range");
    result = columns_choose(&choice, o->columns, error);
    if (result < 0)
        return result;
    profile->want = columns_want(&choice);
    profile->omit = columns_omit(&choice);
    return SPE_OK;
}

int spe_arrow_stream(struct spe_profile *profile, const struct spe_arrow_options *options,
                     struct ArrowArrayStream *stream, struct spe_profile_error *error)
{
    struct spe_arrow_options own;
    const struct spe_arrow_options *o = sized_view(&own, sizeof(own), options, options->size);
    size_t rows = o && o->batch_rows ? o->batch_rows : BATCH_ROWS;
    struct column_choice choice;
    bool views = o && o->names == SPE_ARROW_VIEW;
    struct stream *s;
    int result;

    if (!o || rows > BATCH_ROWS_MAX || o->names > SPE_ARROW_VIEW)
        return refuse(error, SPE_ERR_INVALID, "an option is out of its range");
    result = columns_choose(&choice, o->columns, error);
    if (result < 0)
        return result;
    s = calloc(1, sizeof(*s));
    if (!s || table_open(&s->table, profile, &choice, rows, views ? NAMES_VIEWS : NAMES_UTF8) < 0) {
        free(s);
        return refuse(error, SPE_ERR_NOMEM, "out of memory");
    }
    s->profile = profile;
    s->keep_profile = o->keep_profile;
    s->views = views;
    *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, s};
    return SPE_OK;
}

bool spe_arrow_column_sized(size_t i, struct spe_arrow_column *column, size_t size)
{
    struct spe_arrow_column own = {0};
    struct column c;

    if (!column_at(i, &c))
        return false;
    memcpy(own.name, c.name, sizeof(c.name));
    own.format = format_of(&c, false);
    own.sentence = c.sentence;
    sized_give(column, size, &own, sizeof(own));
    return true;
}
