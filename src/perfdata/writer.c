/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A recording as it is written. The order of writes is what makes a killed one readable:
 *
 *   begin   IDs, attributes, first records; flush
 *   data    if features are behind the data on disk, first a header without features; then the
 *           data, over them
 *   flush   the data; the features behind it; then the header, which makes both count
 *   error   the features of the last flush again, where they were; then its header
 *
 * At every moment the header tells the truth about the bytes that it speaks of. Between two flushes
 * it may speak of no features; then readers do without.
 */
#include "base/sized.h"
#include "perfdata_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { BUFFER = 1 << 20 };

enum state { SETTING_UP, WRITING, FINISHED };

struct spe_perf_writer {
    struct spe_perf_output output;
    struct pd_output_fd fd;
    unsigned flags;
    enum state state;
    struct spe_perf_error error;

    struct pd_event *events;
    size_t event_count, event_capacity;
    size_t attr_size;

    struct pd_bytes feature[SPE_PERF_FEATURE_COUNT];
    struct pd_bytes build_ids; /* those that were added one by one */
    struct pd_bytes index;     /* the AUXTRACE feature but for its count */

    struct pd_bytes buffer; /* bytes behind `written` */
    uint64_t written;       /* up to here they are in the file */
    uint64_t attrs_offset, data_offset;
    uint64_t flushed;       /* end of the data that the header knows */
    struct pd_bytes behind; /* the features after it */
    uint64_t behind_bitmap[SPE_PERF_FEATURE_COUNT / 64];
    bool features_there; /* the header says so */
    bool complete;       /* the header is to say so */
    bool dirty;          /* there is something to flush */

    struct id_table queues; /* by idx */
    uint64_t *next_offsets; /* of each queue's next piece */
    size_t next_capacity;
};

/* ---- Errors --------------------------------------------------------------------------------- */

/* The first error stays. */
static int fail(struct spe_perf_writer *w, int code)
{
    if (!w->error.code)
        pd_fail(&w->error, code, spe_perf_writer_size(w), "%s",
                code == SPE_ERR_IO && errno ? strerror(errno) : spe_strerror(code));
    return w->error.code;
}

/* A mistake of the caller, which leaves the file as it was. */
static int in_state(const struct spe_perf_writer *w, enum state state)
{
    if (w->error.code)
        return w->error.code;
    return w->state == state ? SPE_OK : SPE_ERR_INVALID;
}

const struct spe_perf_error *spe_perf_writer_problem(const struct spe_perf_writer *writer)
{
    return &writer->error;
}

uint64_t spe_perf_writer_size(const struct spe_perf_writer *writer)
{
    return writer->written + writer->buffer.size +
           (writer->state == FINISHED ? writer->behind.size : 0);
}

/* ---- Life ----------------------------------------------------------------------------------- */

static struct spe_perf_writer *new_writer(struct spe_perf_writer **out, unsigned flags,
                                          struct spe_perf_error *error)
{
    struct spe_perf_writer *w = calloc(1, sizeof(*w));

    *out = NULL;
    if (!w) {
        pd_fail(error, SPE_ERR_NOMEM, 0, "%s", spe_strerror(SPE_ERR_NOMEM));
        return NULL;
    }
    w->flags = flags;
    return w;
}

int spe_perf_writer_open_output(struct spe_perf_writer **writer,
                                const struct spe_perf_output *output, unsigned flags,
                                struct spe_perf_error *error)
{
    struct spe_perf_writer *w = new_writer(writer, flags, error);

    if (!w)
        return SPE_ERR_NOMEM;
    w->output = *output;
    *writer = w;
    return SPE_OK;
}

int spe_perf_writer_open_fd(struct spe_perf_writer **writer, int fd, unsigned flags,
                            struct spe_perf_error *error)
{
    struct spe_perf_writer *w = new_writer(writer, flags, error);

    if (!w)
        return SPE_ERR_NOMEM;
    pd_output_fd_init(&w->fd, &w->output, fd);
    if (!w->fd.seekable && !(flags & SPE_PERF_WRITE_PIPE)) {
        free(w);
        return pd_fail(error, SPE_ERR_INVALID, 0, "only the pipe form can be written to a pipe");
    }
    *writer = w;
    return SPE_OK;
}

int spe_perf_writer_open(struct spe_perf_writer **writer, const char *path, unsigned flags,
                         struct spe_perf_error *error)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int result;

    *writer = NULL;
    if (fd < 0)
        return pd_fail(error, SPE_ERR_IO, 0, "%s", strerror(errno));
    result = spe_perf_writer_open_fd(writer, fd, flags, error);
    if (*writer)
        (*writer)->fd.own = true;
    else
        close(fd);
    return result;
}

void spe_perf_writer_close(struct spe_perf_writer *writer)
{
    if (!writer)
        return;
    for (size_t i = 0; i < writer->event_count; i++) {
        free(writer->events[i].ids);
        free(writer->events[i].name);
        free(writer->events[i].attr);
    }
    free(writer->events);
    for (unsigned i = 0; i < SPE_PERF_FEATURE_COUNT; i++)
        pd_bytes_free(&writer->feature[i]);
    pd_bytes_free(&writer->build_ids);
    pd_bytes_free(&writer->index);
    pd_bytes_free(&writer->buffer);
    pd_bytes_free(&writer->behind);
    id_table_free(&writer->queues);
    free(writer->next_offsets);
    if (writer->fd.own)
        close(writer->fd.fd);
    free(writer);
}

/* ---- Events --------------------------------------------------------------------------------- */

static bool id_is_taken(const struct spe_perf_writer *w, uint64_t id)
{
    for (size_t i = 0; i < w->event_count; i++)
        for (size_t k = 0; k < w->events[i].event.id_count; k++)
            if (w->events[i].ids[k] == id)
                return true;
    return !id;
}

static int check_event(const struct spe_perf_writer *w, const struct spe_perf_event *event)
{
    size_t size = pd_attr_wanted(event);

    if (size < PD_ATTR_MIN || size > 4096 || size % 8 || (!event->attr && size > PD_ATTR_MAX))
        return SPE_ERR_INVALID;
    if (w->event_count == SPE_PERF_EVENT_MAX || (event->id_count && !event->ids))
        return SPE_ERR_INVALID;
    for (size_t i = 0; i < event->id_count; i++)
        if (id_is_taken(w, event->ids[i]))
            return SPE_ERR_INVALID;
    return SPE_OK;
}

static bool copy_event(struct pd_event *e, const struct spe_perf_event *event)
{
    size_t attr_size = pd_attr_wanted(event), ids = event->id_count * sizeof(uint64_t);

    *e = (struct pd_event){.event = *event};
    e->attr = malloc(attr_size);
    e->ids = malloc(ids ? ids : 1);
    e->name = strdup(event->name ? event->name : "unknown");
    if (!e->attr || !e->ids || !e->name) {
        free(e->attr);
        free(e->ids);
        free(e->name);
        return false;
    }
    if (ids)
        memcpy(e->ids, event->ids, ids);
    pd_attr_encode(event, e->attr, attr_size);
    e->event.attr = e->attr;
    e->event.attr_size = (uint32_t)attr_size;
    e->event.ids = e->ids;
    e->event.name = e->name;
    if (event->attr) { /* what the records depend on is in the bytes */
        e->event.sample_type = load64(e->attr + 24);
        e->event.flags = load64(e->attr + 40);
    }
    return true;
}

static int add_event(struct spe_perf_writer *writer, const struct spe_perf_event *event)
{
    int result = in_state(writer, SETTING_UP);

    if (result == SPE_OK)
        result = check_event(writer, event);
    if (result < 0)
        return result;
    if (vector_reserve(&writer->events, &writer->event_capacity, writer->event_count + 1,
                       sizeof(*writer->events)) < 0 ||
        !copy_event(&writer->events[writer->event_count], event))
        return fail(writer, SPE_ERR_NOMEM);
    if (writer->events[writer->event_count].event.attr_size > writer->attr_size)
        writer->attr_size = writer->events[writer->event_count].event.attr_size;
    return (int)writer->event_count++;
}

int spe_perf_writer_event_sized(struct spe_perf_writer *writer, const struct spe_perf_event *event,
                                size_t size)
{
    struct spe_perf_event own = {0};

    return sized_take(&own, sizeof(own), event, size) ? add_event(writer, &own) : SPE_ERR_INVALID;
}

/* ---- Features ------------------------------------------------------------------------------- */

/* It has to fit into a record. */
static bool good_build_id(const struct spe_perf_build_id *b)
{
    return b->path && b->id_size <= SPE_PERF_BUILD_ID_MAX && strlen(b->path) < PD_RECORD_MAX - 64;
}

/* Text is part of what was given: it may not be missing. */
static int check_features(const struct spe_perf_features *f)
{
    for (size_t i = 0; i < f->command_count; i++)
        if (!f->command[i])
            return SPE_ERR_INVALID;
    for (size_t i = 0; i < f->numa_count; i++)
        if (!f->numa[i].cpus)
            return SPE_ERR_INVALID;
    for (size_t i = 0; i < f->pmu_count; i++)
        if (!f->pmus[i].name)
            return SPE_ERR_INVALID;
    for (size_t i = 0; i < f->build_id_count; i++)
        if (!good_build_id(&f->build_ids[i]))
            return SPE_ERR_INVALID;
    return SPE_OK;
}

static int set_features(struct spe_perf_writer *writer, const struct spe_perf_features *features)
{
    int result = check_features(features);

    if (writer->error.code)
        return writer->error.code;
    if (result < 0 || writer->state == FINISHED)
        return SPE_ERR_INVALID;
    writer->dirty = true;
    for (unsigned f = 0; f < SPE_PERF_FEATURE_COUNT; f++) {
        pd_bytes_free(&writer->feature[f]);
        if (!pd_encode_feature(&writer->feature[f], f, features))
            writer->feature[f].size = 0;
        if (writer->feature[f].failed)
            return fail(writer, SPE_ERR_NOMEM);
    }
    return SPE_OK;
}

int spe_perf_writer_features_sized(struct spe_perf_writer *writer,
                                   const struct spe_perf_features *features, size_t size)
{
    struct spe_perf_features own = {0};

    return sized_take(&own, sizeof(own), features, size) ? set_features(writer, &own)
                                                         : SPE_ERR_INVALID;
}

static void encode_event_desc(const struct spe_perf_writer *w, struct pd_bytes *out)
{
    pd_put32(out, (uint32_t)w->event_count);
    pd_put32(out, (uint32_t)w->attr_size);
    for (size_t i = 0; i < w->event_count; i++) {
        const struct spe_perf_event *e = &w->events[i].event;

        pd_put(out, e->attr, e->attr_size);
        pd_put_zeros(out, w->attr_size - e->attr_size);
        pd_put32(out, (uint32_t)e->id_count);
        pd_encode_string(out, e->name);
        pd_put(out, e->ids, e->id_count * sizeof(uint64_t));
    }
}

/* A feature's payload at this moment. */
static void put_feature(const struct spe_perf_writer *w, unsigned feature, struct pd_bytes *out)
{
    if (feature == SPE_PERF_FEATURE_EVENT_DESC) {
        encode_event_desc(w, out);
    } else if (feature == SPE_PERF_FEATURE_AUXTRACE) {
        pd_put64(out, w->index.size / 16);
        pd_put(out, w->index.bytes, w->index.size);
    } else {
        pd_put(out, w->feature[feature].bytes, w->feature[feature].size);
        if (feature == SPE_PERF_FEATURE_BUILD_ID)
            pd_put(out, w->build_ids.bytes, w->build_ids.size);
    }
}

static bool has_feature(const struct spe_perf_writer *w, unsigned feature)
{
    return w->feature[feature].size || feature == SPE_PERF_FEATURE_EVENT_DESC ||
           feature == SPE_PERF_FEATURE_AUXTRACE ||
           (feature == SPE_PERF_FEATURE_BUILD_ID && w->build_ids.size);
}

/* Table and payloads, as they are at this offset of the file. */
static void encode_features(const struct spe_perf_writer *w, uint64_t at, struct pd_bytes *out,
                            uint64_t *bitmap)
{
    size_t count = 0;

    for (unsigned f = 0; f < SPE_PERF_FEATURE_COUNT; f++)
        if (has_feature(w, f)) {
            bitmap[f / 64] |= UINT64_C(1) << f % 64;
            count++;
        }
    pd_put_zeros(out, 16 * count);
    for (unsigned f = 0, i = 0; f < SPE_PERF_FEATURE_COUNT && !out->failed; f++) {
        size_t start = out->size;

        if (!has_feature(w, f))
            continue;
        put_feature(w, f, out);
        if (!out->failed) {
            store64(out->bytes + 16 * (size_t)i, at + start);
            store64(out->bytes + 16 * (size_t)i + 8, out->size - start);
        }
        i++;
    }
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

static int write_at(struct spe_perf_writer *w, uint64_t offset, const void *bytes, size_t size)
{
    int result;

    errno = 0;
    result = size ? w->output.write(w->output.user, offset, bytes, size) : SPE_OK;
    return result < 0 ? fail(w, result) : SPE_OK;
}

static int sync_file(struct spe_perf_writer *w)
{
    int result = SPE_OK;

    errno = 0;
    if ((w->flags & SPE_PERF_WRITE_SYNC) && w->output.sync)
        result = w->output.sync(w->output.user);
    return result < 0 ? fail(w, result) : SPE_OK;
}

/* Without a bitmap more is to come. */
static int write_header(struct spe_perf_writer *w, uint64_t data_end, const uint64_t *bitmap)
{
    uint8_t header[PD_HEADER] = PD_MAGIC;

    store64(header + 8, PD_HEADER);
    store64(header + 16, w->attr_size + 16);
    store64(header + 24, w->attrs_offset);
    store64(header + 32, w->event_count * (w->attr_size + 16));
    store64(header + 40, w->data_offset);
    store64(header + 48, data_end - w->data_offset);
    store64(header + PD_HEADER_MARK, bitmap && w->complete ? PD_MARK_DONE : PD_MARK_OPEN);
    if (bitmap)
        memcpy(header + 72, bitmap, SPE_PERF_FEATURE_COUNT / 8);
    return write_at(w, 0, header, sizeof(header));
}

/* The features on disk are about to be overwritten: the header must not speak of them. */
static int withdraw_features(struct spe_perf_writer *w)
{
    int result;

    if (!w->features_there)
        return SPE_OK;
    result = write_header(w, w->flushed, NULL);
    w->features_there = false;
    return result < 0 ? result : sync_file(w);
}

/* Features behind the data, and the header that speaks of both. */
static int write_features(struct spe_perf_writer *w, uint64_t data_end,
                          const struct pd_bytes *features, const uint64_t *bitmap)
{
    int result = write_at(w, data_end, features->bytes, features->size);

    if (result == SPE_OK)
        result = sync_file(w);
    if (result == SPE_OK)
        result = write_header(w, data_end, bitmap);
    w->features_there = result == SPE_OK;
    return result;
}

/* Ends the file where it ends. */
static int end_file(struct spe_perf_writer *w)
{
    int result = sync_file(w);

    if (result == SPE_OK && w->output.truncate) {
        result = w->output.truncate(w->output.user, w->flushed + w->behind.size);
        if (result < 0)
            fail(w, result);
    }
    return result;
}

/* What could not be written lies over the features of the last flush. Their room is in the file, so
 * a full disk takes them again. */
static void go_back(struct spe_perf_writer *w)
{
    if (w->features_there || !w->behind.size)
        return;
    w->complete = false;
    if (write_features(w, w->flushed, &w->behind, w->behind_bitmap) == SPE_OK)
        end_file(w);
}

/* Bytes that go into the file as they are, behind those before. */
static int append_directly(struct spe_perf_writer *w, const void *bytes, size_t size)
{
    int result = withdraw_features(w);

    if (result == SPE_OK)
        result = write_at(w, w->written, bytes, size);
    if (result == SPE_OK)
        w->written += size;
    else
        go_back(w);
    return result;
}

static int write_buffer(struct spe_perf_writer *w)
{
    int result;

    if (w->buffer.failed)
        return fail(w, SPE_ERR_NOMEM);
    if (!w->buffer.size)
        return SPE_OK;
    result = append_directly(w, w->buffer.bytes, w->buffer.size);
    w->buffer.size = 0;
    w->dirty = true;
    return result;
}

/* After something was put into the buffer. */
static int buffered(struct spe_perf_writer *w)
{
    return w->buffer.failed || w->buffer.size >= BUFFER ? write_buffer(w) : SPE_OK;
}

int spe_perf_writer_build_id(struct spe_perf_writer *writer,
                             const struct spe_perf_build_id *build_id)
{
    if (writer->error.code)
        return writer->error.code;
    if (writer->state == FINISHED || !good_build_id(build_id))
        return SPE_ERR_INVALID;
    writer->dirty = true;
    if (writer->state == WRITING && (writer->flags & SPE_PERF_WRITE_PIPE)) {
        pd_encode_build_id(&writer->buffer, SPE_PERF_BUILD_ID, build_id);
        return buffered(writer);
    }
    pd_encode_build_id(&writer->build_ids, 0, build_id);
    return writer->build_ids.failed ? fail(writer, SPE_ERR_NOMEM) : SPE_OK;
}

int spe_perf_writer_flush(struct spe_perf_writer *writer)
{
    uint64_t bitmap[SPE_PERF_FEATURE_COUNT / 64] = {0};
    struct pd_bytes features = {0};
    int result = in_state(writer, WRITING);

    if (result == SPE_OK)
        result = write_buffer(writer);
    if (result < 0 || (writer->flags & SPE_PERF_WRITE_PIPE) || !writer->dirty)
        return result;
    result = withdraw_features(writer); /* they may have changed where the data has not */
    encode_features(writer, writer->written, &features, bitmap);
    if (result == SPE_OK && features.failed)
        result = fail(writer, SPE_ERR_NOMEM);
    if (result == SPE_OK)
        result = write_features(writer, writer->written, &features, bitmap);
    if (result < 0) {
        pd_bytes_free(&features);
        go_back(writer);
        return result;
    }
    pd_bytes_free(&writer->behind);
    writer->behind = features;
    memcpy(writer->behind_bitmap, bitmap, sizeof(bitmap));
    writer->flushed = writer->written;
    writer->dirty = false;
    return end_file(writer);
}

static void put_start(struct pd_bytes *out, uint32_t type, size_t size)
{
    pd_put32(out, type);
    pd_put16(out, 0);
    pd_put16(out, (uint16_t)size);
}

/* The mark of a complete recording: the last record of a pipe, or in a file's header. */
int spe_perf_writer_finish(struct spe_perf_writer *writer)
{
    int result = in_state(writer, WRITING);

    if (result < 0)
        return result;
    if (writer->flags & SPE_PERF_WRITE_PIPE)
        put_start(&writer->buffer, SPE_PERF_FINISHED_ROUND, 8);
    writer->complete = writer->dirty = true;
    result = spe_perf_writer_flush(writer);
    if (result == SPE_OK)
        writer->state = FINISHED;
    return result;
}

/* ---- The beginning -------------------------------------------------------------------------- */

/* IDs and attributes; the header comes with the first flush. */
static void begin_file(struct spe_perf_writer *w)
{
    struct pd_bytes *out = &w->buffer;
    uint64_t ids = PD_HEADER;

    w->attrs_offset = PD_HEADER;
    for (size_t i = 0; i < w->event_count; i++)
        w->attrs_offset += w->events[i].event.id_count * 8;
    w->data_offset = w->attrs_offset + w->event_count * (w->attr_size + 16);
    w->flushed = w->data_offset;
    for (size_t i = 0; i < w->event_count; i++)
        pd_put(out, w->events[i].ids, w->events[i].event.id_count * 8);
    for (size_t i = 0; i < w->event_count; i++) {
        const struct spe_perf_event *e = &w->events[i].event;

        pd_put(out, e->attr, e->attr_size);
        pd_put_zeros(out, w->attr_size - e->attr_size);
        pd_put64(out, ids);
        pd_put64(out, e->id_count * 8);
        ids += e->id_count * 8;
    }
    w->written = PD_HEADER;
}

static int pipe_event(struct spe_perf_writer *w, const struct spe_perf_event *e)
{
    size_t size = 8 + e->attr_size + e->id_count * 8;

    if (size > PD_RECORD_MAX)
        return fail(w, SPE_ERR_SIZE);
    put_start(&w->buffer, SPE_PERF_HEADER_ATTR, size);
    pd_put(&w->buffer, e->attr, e->attr_size);
    pd_put(&w->buffer, e->ids, e->id_count * 8);
    return SPE_OK;
}

/* EVENT_UPDATE with a name. */
static void pipe_name(struct spe_perf_writer *w, const struct spe_perf_event *e)
{
    size_t size = strlen(e->name) + 1, padded = (size + 7) & ~(size_t)7;

    if (!e->id_count || padded > 4096)
        return;
    put_start(&w->buffer, SPE_PERF_EVENT_UPDATE, 24 + padded);
    pd_put64(&w->buffer, 2);
    pd_put64(&w->buffer, e->ids[0]);
    pd_put(&w->buffer, e->name, size);
    pd_put_zeros(&w->buffer, padded - size);
}

/* No index, since nothing is known of what follows; and EVENT_DESC is what the events' records are
 * for. A feature that is too large for a record is left out. */
static void pipe_feature(struct spe_perf_writer *w, unsigned feature)
{
    struct pd_bytes payload = {0};

    if (!has_feature(w, feature) || feature == SPE_PERF_FEATURE_AUXTRACE ||
        feature == SPE_PERF_FEATURE_EVENT_DESC || feature == SPE_PERF_FEATURE_BUILD_ID)
        return;
    put_feature(w, feature, &payload);
    pd_put_zeros(&payload, -payload.size & 7);
    if (payload.failed)
        w->buffer.failed = true;
    if (!payload.failed && payload.size <= PD_RECORD_MAX - 16) {
        put_start(&w->buffer, SPE_PERF_HEADER_FEATURE, 16 + payload.size);
        pd_put64(&w->buffer, feature);
        pd_put(&w->buffer, payload.bytes, payload.size);
    }
    pd_bytes_free(&payload);
}

/* Build-ids are records of their own. */
static void pipe_build_ids(struct spe_perf_writer *w)
{
    size_t start = w->buffer.size;

    put_feature(w, SPE_PERF_FEATURE_BUILD_ID, &w->buffer);
    for (size_t at = start; at < w->buffer.size && !w->buffer.failed;
         at += load16(w->buffer.bytes + at + 6))
        store32(w->buffer.bytes + at, SPE_PERF_BUILD_ID);
}

static int begin_pipe(struct spe_perf_writer *w)
{
    int result = SPE_OK;

    pd_put(&w->buffer, PD_MAGIC, 8);
    pd_put64(&w->buffer, PD_HEADER_PIPE);
    for (size_t i = 0; result == SPE_OK && i < w->event_count; i++)
        result = pipe_event(w, &w->events[i].event);
    for (unsigned f = 0; f < SPE_PERF_FEATURE_COUNT; f++)
        pipe_feature(w, f);
    pipe_build_ids(w);
    for (size_t i = 0; i < w->event_count; i++)
        pipe_name(w, &w->events[i].event);
    return result;
}

static int put_ids(struct spe_perf_writer *w, const struct spe_perf_id *ids, size_t count)
{
    if (!count)
        return SPE_OK;
    if (count > (PD_RECORD_MAX - 16) / 32)
        return SPE_OK; /* perf only needs it for guests */
    put_start(&w->buffer, SPE_PERF_ID_INDEX, 16 + count * 32);
    pd_put64(&w->buffer, count);
    for (size_t i = 0; i < count; i++) {
        pd_put64(&w->buffer, ids[i].id);
        pd_put64(&w->buffer, ids[i].idx);
        pd_put64(&w->buffer, ids[i].cpu);
        pd_put64(&w->buffer, ids[i].tid);
    }
    return SPE_OK;
}

/* perf divides by the multiplier whenever an event has time. */
static int check_start(const struct spe_perf_writer *w, const struct spe_perf_start *start)
{
    bool timed = false;

    if (!w->event_count || !start->metadata)
        return SPE_ERR_INVALID;
    for (size_t i = 0; i < w->event_count; i++)
        timed |= (w->events[i].event.sample_type & SPE_PERF_SAMPLE_TIME) != 0;
    if (!start->time_conv)
        return timed ? SPE_ERR_INVALID : SPE_OK;
    return spe_perf_time_validate(start->time_conv);
}

static int begin(struct spe_perf_writer *writer, const struct spe_perf_start *start)
{
    int result = in_state(writer, SETTING_UP);

    if (result == SPE_OK)
        result = check_start(writer, start);
    if (result < 0)
        return result;
    if (writer->flags & SPE_PERF_WRITE_PIPE)
        result = begin_pipe(writer);
    else
        begin_file(writer);
    if (result < 0)
        return result;
    if (start->time_conv)
        pd_encode_time_conv(&writer->buffer, start->time_conv);
    put_ids(writer, start->ids, start->id_count);
    result = pd_encode_metadata(&writer->buffer, start->metadata);
    if (result < 0)
        return fail(writer, result);
    writer->state = WRITING;
    return spe_perf_writer_flush(writer);
}

int spe_perf_writer_begin(struct spe_perf_writer *writer, const struct spe_perf_start *start)
{
    struct spe_perf_start own = {0};

    return sized_take(&own, sizeof(own), start, start->size) ? begin(writer, &own)
                                                             : SPE_ERR_INVALID;
}

/* ---- Records -------------------------------------------------------------------------------- */

/* Is everything there that the view's type needs? */
static bool has_text(const struct spe_perf_record *rec)
{
    switch (rec->type) {
    case SPE_PERF_MMAP:
    case SPE_PERF_MMAP2:
        return rec->mmap.path && rec->mmap.id_size <= SPE_PERF_BUILD_ID_MAX;
    case SPE_PERF_COMM:
        return rec->comm.name;
    case SPE_PERF_KSYMBOL:
        return rec->ksymbol.name;
    case SPE_PERF_BUILD_ID:
        return rec->build_id.path && rec->build_id.id_size <= SPE_PERF_BUILD_ID_MAX;
    case SPE_PERF_NAMESPACES:
        return rec->namespaces.links || !rec->namespaces.count;
    case SPE_PERF_AUXTRACE:
    case SPE_PERF_HEADER_ATTR:
        return false;
    default:
        return true;
    }
}

static int put_record(struct spe_perf_writer *writer, const struct spe_perf_record *record)
{
    const struct spe_perf_event *event = NULL;
    int result = in_state(writer, WRITING);

    if (result < 0)
        return result;
    if (!has_text(record) || record->event >= (int)writer->event_count)
        return SPE_ERR_INVALID;
    if (record->event >= 0)
        event = &writer->events[record->event].event;
    result = pd_encode_record(&writer->buffer, record, event);
    if (result == SPE_ERR_SIZE)
        return result;
    return result < 0 ? fail(writer, result) : buffered(writer);
}

int spe_perf_writer_record_sized(struct spe_perf_writer *writer,
                                 const struct spe_perf_record *record, size_t size)
{
    struct spe_perf_record own = {0};

    if (size == sizeof(own))
        return put_record(writer, record);
    return sized_take(&own, sizeof(own), record, size) ? put_record(writer, &own) : SPE_ERR_INVALID;
}

/* Where the queue's next piece begins. */
static uint64_t *next_offset(struct spe_perf_writer *w, uint32_t idx)
{
    uint32_t place = id_table_get(&w->queues, idx);

    if (place == NONE) {
        place = (uint32_t)w->queues.entries.count;
        if (vector_reserve(&w->next_offsets, &w->next_capacity, (size_t)place + 1,
                           sizeof(*w->next_offsets)) < 0 ||
            id_table_set(&w->queues, idx, place) < 0)
            return NULL;
        w->next_offsets[place] = 0;
    }
    return &w->next_offsets[place];
}

static void put_auxtrace(struct pd_bytes *out, const struct spe_perf_auxtrace *a, uint64_t offset,
                         uint64_t size)
{
    put_start(out, SPE_PERF_AUXTRACE, PD_AUXTRACE_SIZE);
    pd_put64(out, size);
    pd_put64(out, offset);
    pd_put64(out, a->reference);
    pd_put32(out, a->idx);
    pd_put32(out, a->tid);
    pd_put32(out, a->cpu);
    pd_put32(out, 0);
}

int spe_perf_writer_aux(struct spe_perf_writer *writer, const struct spe_perf_auxtrace *piece,
                        const void *bytes, size_t size)
{
    int result = in_state(writer, WRITING);
    uint64_t *next, offset, at = spe_perf_writer_size(writer);
    size_t padding = -size & 7;

    if (result < 0)
        return result;
    next = next_offset(writer, piece->idx);
    if (!next)
        return fail(writer, SPE_ERR_NOMEM);
    offset = piece->offset == SPE_PERF_OFFSET_NEXT ? *next : piece->offset;
    *next = offset + size;
    put_auxtrace(&writer->buffer, piece, offset, size + padding);
    if (size >= BUFFER) { /* not worth a copy */
        result = write_buffer(writer);
        if (result == SPE_OK)
            result = append_directly(writer, bytes, size);
    } else {
        pd_put(&writer->buffer, bytes, size);
    }
    pd_put_zeros(&writer->buffer, padding);
    if (!(writer->flags & SPE_PERF_WRITE_PIPE)) {
        pd_put64(&writer->index, at);
        pd_put64(&writer->index, PD_AUXTRACE_SIZE);
    }
    if (result < 0 || writer->index.failed)
        return fail(writer, result < 0 ? result : SPE_ERR_NOMEM);
    return buffered(writer);
}
