/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "columns/ipc.h"

#include <stdlib.h>

#include "columns/flatbuffer.h"

#define ALIGNMENT 64 /* of the buffers in a message */

/* Numbers are Arrow's: Message.fbs, Schema.fbs. */
enum { VERSION_5 = 4, HEADER_SCHEMA = 1, HEADER_DICTIONARY = 2, HEADER_BATCH = 3 };
enum { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY, MESSAGE_METADATA };
enum { SCHEMA_ENDIANNESS, SCHEMA_FIELDS, SCHEMA_METADATA };
enum { FIELD_NAME, FIELD_NULLABLE, FIELD_TYPE_TYPE, FIELD_TYPE, FIELD_DICTIONARY, FIELD_CHILDREN };
enum { TYPE_INT = 2, TYPE_UTF8 = 5, TYPE_BOOL = 6 };
enum { INT_WIDTH, INT_SIGNED };
enum { ENCODING_ID, ENCODING_INDEX, ENCODING_ORDERED };
enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS };
enum { DICTIONARY_ID, DICTIONARY_DATA, DICTIONARY_DELTA };
enum { PAIR_KEY, PAIR_VALUE };

#define BIT(field) (1u << (field))

struct node {
    int64_t rows, nulls;
};

struct part {
    const void *bytes;
    size_t size;
};

struct ipc {
    struct column_choice choice;
    columns_put *put;
    void *user;
    int error;
    struct buffer head;       /* of the message */
    size_t header;            /* the field that points to what the message is */
    size_t metadata;          /* the field that points to facts about the message */
    size_t sent[COLUMNS_MAX]; /* texts of each dictionary that was written, and 1 */
};

/* ---- messages ------------------------------------------------------------------------------- */

static void put(struct ipc *ipc, const void *bytes, size_t size)
{
    if (!ipc->error && size)
        ipc->error = ipc->put(ipc->user, bytes, size);
}

static size_t padded(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The root of a message; what it points to comes next. */
static void begin_message(struct ipc *ipc, unsigned type, size_t body, bool has_metadata)
{
    unsigned metadata = has_metadata ? BIT(MESSAGE_METADATA) : 0;
    struct buffer *b = &ipc->head;
    size_t message;

    b->size = 0;
    (void)flat_vector(b, 0, 0); /* room for the offset of the root */
    message = flat_table(b, BIT(MESSAGE_VERSION) | BIT(MESSAGE_HEADER_TYPE) | BIT(MESSAGE_HEADER) |
                                BIT(MESSAGE_BODY) | metadata);
    flat_point(b, 0, message);
    flat_set(b, message, MESSAGE_VERSION, VERSION_5);
    flat_set(b, message, MESSAGE_HEADER_TYPE, type);
    flat_set(b, message, MESSAGE_BODY, body);
    ipc->header = flat_field(message, MESSAGE_HEADER);
    ipc->metadata = flat_field(message, MESSAGE_METADATA);
}

static int send(struct ipc *ipc, const struct part *parts, size_t count)
{
    static const uint8_t zero[ALIGNMENT];
    uint32_t prefix[2] = {UINT32_MAX, 0};

    flat_align(&ipc->head, 8);
    if (ipc->head.failed)
        return ipc->error = SPE_ERR_NOMEM;
    prefix[1] = (uint32_t)ipc->head.size;
    put(ipc, prefix, sizeof(prefix));
    put(ipc, ipc->head.at, ipc->head.size);
    for (size_t i = 0; i < count; i++) {
        put(ipc, parts[i].bytes, parts[i].size);
        put(ipc, zero, padded(parts[i].size) - parts[i].size);
    }
    return ipc->error;
}

/* ---- the schema ----------------------------------------------------------------------------- */

static size_t int_type(struct buffer *b, unsigned width, bool is_signed)
{
    size_t type = flat_table(b, BIT(INT_WIDTH) | BIT(INT_SIGNED));

    flat_set(b, type, INT_WIDTH, width);
    flat_set(b, type, INT_SIGNED, is_signed);
    return type;
}

static void put_type(struct buffer *b, size_t field, const struct column *c)
{
    bool number = c->type != COLUMN_TEXT && c->type != COLUMN_FLAG;

    flat_set(b, field, FIELD_TYPE_TYPE,
             number                   ? TYPE_INT
             : c->type == COLUMN_TEXT ? TYPE_UTF8
                                      : TYPE_BOOL);
    flat_point(b, flat_field(field, FIELD_TYPE),
               number ? int_type(b, (unsigned)column_size(c) * 8, c->type == COLUMN_I64)
                      : flat_table(b, 0));
}

static void put_encoding(struct buffer *b, size_t field, size_t id)
{
    size_t encoding = flat_table(b, BIT(ENCODING_ID) | BIT(ENCODING_INDEX));

    flat_point(b, flat_field(field, FIELD_DICTIONARY), encoding);
    flat_set(b, encoding, ENCODING_ID, id);
    flat_point(b, flat_field(encoding, ENCODING_INDEX), int_type(b, 32, true));
}

static size_t put_field(struct buffer *b, const struct column *c, size_t id)
{
    unsigned dictionary = c->type == COLUMN_TEXT ? BIT(FIELD_DICTIONARY) : 0;
    size_t field = flat_table(b, BIT(FIELD_NAME) | BIT(FIELD_NULLABLE) | BIT(FIELD_TYPE_TYPE) |
                                     BIT(FIELD_TYPE) | BIT(FIELD_CHILDREN) | dictionary);

    flat_set(b, field, FIELD_NULLABLE, c->presence != PRESENT_ALWAYS);
    flat_point(b, flat_field(field, FIELD_NAME), flat_string(b, c->name));
    put_type(b, field, c);
    if (dictionary)
        put_encoding(b, field, id);
    flat_point(b, flat_field(field, FIELD_CHILDREN), flat_vector(b, 0, 4));
    return field;
}

static size_t element(size_t vector, size_t i)
{
    return vector + sizeof(uint32_t) * (1 + i);
}

/* Lets the field point to them. */
static void put_facts(struct buffer *b, size_t field, const struct facts *facts)
{
    size_t list = flat_vector(b, facts->list.count, sizeof(uint32_t));

    flat_point(b, field, list);
    for (size_t i = 0; i < facts->list.count; i++) {
        size_t pair = flat_table(b, BIT(PAIR_KEY) | BIT(PAIR_VALUE));

        flat_point(b, element(list, i), pair);
        flat_point(b, flat_field(pair, PAIR_KEY), flat_string(b, facts->list.at[i].key));
        flat_point(b, flat_field(pair, PAIR_VALUE), flat_string(b, facts->list.at[i].value));
    }
}

static int send_schema(struct ipc *ipc, const struct facts *facts)
{
    struct buffer *b = &ipc->head;
    size_t schema, fields;

    begin_message(ipc, HEADER_SCHEMA, 0, false);
    schema = flat_table(b, BIT(SCHEMA_ENDIANNESS) | BIT(SCHEMA_FIELDS) | BIT(SCHEMA_METADATA));
    flat_point(&ipc->head, ipc->header, schema);
    fields = flat_vector(b, ipc->choice.count, sizeof(uint32_t));
    flat_point(b, flat_field(schema, SCHEMA_FIELDS), fields);
    for (size_t i = 0; i < ipc->choice.count; i++)
        flat_point(b, element(fields, i), put_field(b, &ipc->choice.at[i], i));
    put_facts(b, flat_field(schema, SCHEMA_METADATA), facts);
    return send(ipc, NULL, 0);
}

/* ---- batches -------------------------------------------------------------------------------- */

/* A RecordBatch of nodes (length, nulls) and buffers: its position. */
static size_t put_batch(struct buffer *b, size_t rows, const struct node *nodes, size_t node_count,
                        const struct part *parts, size_t part_count)
{
    size_t batch = flat_table(b, BIT(BATCH_LENGTH) | BIT(BATCH_NODES) | BIT(BATCH_BUFFERS));
    int64_t offset = 0;
    size_t list;

    flat_set(b, batch, BATCH_LENGTH, rows);
    list = flat_vector(b, node_count, sizeof(nodes[0]));
    flat_point(b, flat_field(batch, BATCH_NODES), list);
    if (!b->failed)
        memcpy(b->at + list + sizeof(uint32_t), nodes, node_count * sizeof(nodes[0]));
    list = flat_vector(b, part_count, 2 * sizeof(int64_t));
    flat_point(b, flat_field(batch, BATCH_BUFFERS), list);
    for (size_t i = 0; i < part_count && !b->failed; i++) {
        int64_t place[2] = {offset, (int64_t)parts[i].size};

        memcpy(b->at + list + sizeof(uint32_t) + i * sizeof(place), place, sizeof(place));
        offset += (int64_t)padded(parts[i].size);
    }
    return batch;
}

static size_t body_size(const struct part *parts, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the first `count` are filled */
        size += padded(parts[i].size);
    return size;
}

static int send_dictionary(struct ipc *ipc, size_t id, const struct dictionary_view *texts)
{
    const struct node node = {(int64_t)texts->count, 0};
    const struct part parts[3] = {
        {NULL, 0},
        {texts->offsets, (texts->count + 1) * sizeof(*texts->offsets)},
        {texts->bytes, (size_t)texts->offsets[texts->count]},
    };
    struct buffer *b = &ipc->head;
    size_t dictionary;

    begin_message(ipc, HEADER_DICTIONARY, body_size(parts, 3), false);
    dictionary = flat_table(b, BIT(DICTIONARY_ID) | BIT(DICTIONARY_DATA));
    flat_point(&ipc->head, ipc->header, dictionary);
    flat_set(b, dictionary, DICTIONARY_ID, id);
    flat_point(b, flat_field(dictionary, DICTIONARY_DATA),
               put_batch(b, texts->count, &node, 1, parts, 3));
    return send(ipc, parts, 3);
}

static int send_dictionaries(struct ipc *ipc, const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct dictionary_view *texts = batch->cells[i].texts;

        if (!texts || ipc->sent[i] == texts->count + 1)
            continue;
        if (send_dictionary(ipc, i, texts) < 0)
            return ipc->error;
        ipc->sent[i] = texts->count + 1;
    }
    return SPE_OK;
}

/* With facts about it, or without (NULL). */
static int send_batch(struct ipc *ipc, const struct batch *batch, const struct facts *facts)
{
    struct node nodes[COLUMNS_MAX];
    struct part parts[2 * COLUMNS_MAX];
    size_t bits = (batch->rows + 7) / 8, count = 2 * batch->count;

    for (size_t i = 0; i < batch->count; i++) {
        const struct cells *cells = &batch->cells[i];
        size_t size = column_size(&ipc->choice.at[i]);

        nodes[i] = (struct node){(int64_t)batch->rows, (int64_t)cells->nulls};
        parts[2 * i] = (struct part){cells->valid, cells->valid ? bits : 0};
        parts[2 * i + 1] = (struct part){cells->values, size ? size * batch->rows : bits};
    }
    begin_message(ipc, HEADER_BATCH, body_size(parts, count), facts != NULL);
    flat_point(&ipc->head, ipc->header,
               put_batch(&ipc->head, batch->rows, nodes, batch->count, parts, count));
    if (facts)
        put_facts(&ipc->head, ipc->metadata, facts);
    return send(ipc, parts, count);
}

int ipc_add(struct ipc *ipc, const struct batch *batch)
{
    return send_dictionaries(ipc, batch) < 0 ? ipc->error : send_batch(ipc, batch, NULL);
}

/* Readers want each dictionary once before the first batch. */
static int send_facts(struct ipc *ipc, const struct facts *facts)
{
    static int32_t no_offset;
    static char no_bytes;
    static struct dictionary_view no_texts = {.offsets = &no_offset, .bytes = &no_bytes};
    struct cells cells[COLUMNS_MAX] = {{0}};
    const struct batch nothing = {.count = ipc->choice.count, .cells = cells};

    for (size_t i = 0; i < ipc->choice.count; i++) {
        if (ipc->choice.at[i].type == COLUMN_TEXT && !ipc->sent[i] &&
            send_dictionary(ipc, i, &no_texts) < 0)
            return ipc->error;
    }
    return send_batch(ipc, &nothing, facts);
}

int ipc_finish(struct ipc *ipc, const struct facts *facts)
{
    static const uint32_t end[2] = {UINT32_MAX, 0};

    if (facts->list.count && send_facts(ipc, facts) < 0)
        return ipc->error;
    put(ipc, end, sizeof(end));
    return ipc->error;
}

int ipc_open(struct ipc **ipc, const struct column_choice *choice, const struct facts *facts,
             columns_put *put_bytes, void *user)
{
    struct ipc *new = calloc(1, sizeof(*new));
    int result = SPE_ERR_NOMEM;

    *ipc = NULL;
    if (new) {
        new->choice = *choice;
        new->put = put_bytes;
        new->user = user;
        result = send_schema(new, facts);
    }
    if (result < 0)
        ipc_close(new);
    else
        *ipc = new;
    return result;
}

void ipc_close(struct ipc *ipc)
{
    if (!ipc)
        return;
    buffer_free(&ipc->head);
    free(ipc);
}
