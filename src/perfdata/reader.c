/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * A recording from its header to its last byte. Nothing in a file is believed: every offset and
 * size is held against the file before it is used, and memory is only taken for what is there.
 *
 * Two forms: a file has a header of 104 bytes that says where attributes, data and (behind the
 * data) features are; a pipe has a header of 16 bytes, and all else is records.
 */
#include "base/sized.h"
#include "perfdata_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Places in the header. */
enum {
    HEADER_SIZE = 8,
    HEADER_ATTR_SIZE = 16,
    HEADER_ATTRS = 24,
    HEADER_DATA = 40,
    HEADER_FEATURES = 72,
};

bool spe_perf_probe(const uint8_t *bytes, size_t size)
{
    return size >= 8 && (!memcmp(bytes, PD_MAGIC, 8) || !memcmp(bytes, PD_SWAPPED, 8) ||
                         !memcmp(bytes, "PERFFILE", 8));
}

int pd_reader_fail(struct spe_perf_reader *r, int code, uint64_t offset)
{
    r->problem.code = 0; /* more important than any damage before it */
    pd_problem(r, code, offset, "%s", code == SPE_ERR_IO ? strerror(errno) : spe_strerror(code));
    r->failed = code;
    return code;
}

/* ---- Sections ------------------------------------------------------------------------------- */

/* Copy bytes out of a window, in order, as far as there are any: a stream may be shorter. */
static int copy_range(struct pd_input *s, uint64_t offset, size_t size, struct pd_section *section)
{
    struct pd_bytes copy = {0};
    const uint8_t *bytes;
    int64_t n = 1;

    while (n > 0 && copy.size < size && !copy.failed) {
        size_t left = size - copy.size;

        n = pd_input_at(s, offset + copy.size, left < PD_WINDOW ? left : PD_WINDOW, &bytes);
        if (n > 0)
            pd_put(&copy, bytes, (size_t)n);
    }
    if (n < 0 || copy.failed) {
        pd_bytes_free(&copy);
        return n < 0 ? (int)n : SPE_ERR_NOMEM;
    }
    *section = (struct pd_section){copy.bytes, copy.size, copy.bytes};
    return SPE_OK;
}

/* Bytes outside the data: from memory, from the file, or from what was kept of a stream. They stay
 * until the reader closes. SPE_ERR_FORMAT if they are not there. */
static int get_section(struct spe_perf_reader *r, uint64_t offset, uint64_t size,
                       struct pd_section *section)
{
    const struct pd_section *kept = offset < r->info.data_offset ? &r->prefix : &r->suffix;
    uint64_t start = offset < r->info.data_offset ? 0 : r->end;
    int result;

    memset(section, 0, sizeof(*section));
    if (!size)
        return SPE_OK;
    if (r->input.kind == PD_STREAM) {
        if (offset < start || !pd_within(offset - start, size, kept->size))
            return SPE_ERR_FORMAT;
        section->bytes = kept->bytes + (offset - start);
        section->size = (size_t)size;
        return SPE_OK;
    }
    if (!pd_within(offset, size, r->input.size))
        return SPE_ERR_FORMAT;
    if (r->input.kind == PD_MEMORY) {
        section->bytes = r->input.memory + offset;
        section->size = (size_t)size;
        return SPE_OK;
    }
    result = copy_range(&r->input, offset, (size_t)size, section);
    if (result == SPE_OK && section->size < size) { /* somebody cut the file off */
        free(section->owned);
        memset(section, 0, sizeof(*section));
        result = SPE_ERR_FORMAT;
    }
    return result;
}

/* ---- Attributes ----------------------------------------------------------------------------- */

/* Fails the opening. The first sentence about the file stays; the system's own come before it. */
static int refuse(struct spe_perf_reader *r, int code, uint64_t offset, const char *text)
{
    if (code != SPE_ERR_FORMAT)
        return pd_reader_fail(r, code, offset);
    if (r->problem.code != SPE_ERR_FORMAT) {
        r->problem.code = 0;
        pd_problem(r, code, offset, "%s", text);
    }
    return code;
}

static int load_event(struct spe_perf_reader *r, const uint8_t *entry, size_t stride,
                      uint64_t offset)
{
    size_t attr_size = pd_attr_size(entry, stride - 16);
    uint64_t ids_offset = load64(entry + stride - 16), ids_size = load64(entry + stride - 8);
    struct pd_section ids = {0};
    int result = SPE_OK;

    if (!attr_size)
        return refuse(r, SPE_ERR_FORMAT, offset + 4,
                      "an event's attributes do not have the size that they say");
    if (ids_size / 8 > SPE_PERF_ID_MAX)
        return refuse(r, SPE_ERR_FORMAT, offset, "an event has more IDs than Specimen takes");
    if (ids_size)
        result = get_section(r, ids_offset, ids_size, &ids);
    if (result == SPE_OK)
        result = pd_events_add(r, entry, attr_size, ids.bytes, ids.size / 8, offset);
    free(ids.owned);
    if (result < 0)
        return refuse(r, result, ids_offset, "an event's IDs do not lie in the file");
    return SPE_OK;
}

static int load_events(struct spe_perf_reader *r, const uint8_t *header)
{
    uint64_t stride = load64(header + HEADER_ATTR_SIZE);
    uint64_t offset = load64(header + HEADER_ATTRS), size = load64(header + HEADER_ATTRS + 8);
    struct pd_section table = {0};
    int result;

    if (stride < PD_ATTR_MIN + 16 || stride > PD_RECORD_MAX)
        return refuse(r, SPE_ERR_FORMAT, HEADER_ATTR_SIZE,
                      "the header's size of an event's attributes is impossible");
    if (size / stride > SPE_PERF_EVENT_MAX)
        return refuse(r, SPE_ERR_FORMAT, HEADER_ATTRS,
                      "the file has more events than Specimen takes");
    result = get_section(r, offset, size, &table);
    if (result < 0)
        return refuse(r, result, HEADER_ATTRS, "the events' attributes do not lie in the file");
    for (size_t at = 0; result == SPE_OK && at + stride <= table.size; at += (size_t)stride)
        result = load_event(r, table.bytes + at, (size_t)stride, offset + at);
    free(table.owned);
    return result;
}

/* ---- Features ------------------------------------------------------------------------------- */

static int set_feature(struct spe_perf_reader *r, unsigned feature, struct pd_section *section,
                       uint64_t offset)
{
    if (feature == SPE_PERF_FEATURE_AUXTRACE) {
        pd_index_parse(r, section->bytes, section->size, offset);
        free(section->owned);
        section->bytes = section->owned = NULL;
    }
    free(r->feature[feature].owned);
    r->feature[feature] = *section;
    r->info.features[feature / 64] |= UINT64_C(1) << feature % 64;
    return section->bytes ? pd_feature_parse(r, feature, offset) : SPE_OK;
}

/* *budget: sections do not overlap, so together they are no larger than the file. */
static int load_feature(struct spe_perf_reader *r, unsigned feature, const uint8_t *entry,
                        uint64_t *budget)
{
    uint64_t offset = load64(entry), size = load64(entry + 8);
    struct pd_section section = {0};
    int result = SPE_ERR_FORMAT;

    if (!size && feature != SPE_PERF_FEATURE_AUXTRACE)
        return SPE_OK;
    if (size <= *budget)
        result = get_section(r, offset, size, &section);
    if (result == SPE_ERR_FORMAT) {
        pd_problem(r, result, offset, "feature %u does not lie in the file", feature);
        return SPE_OK;
    }
    if (result < 0)
        return result;
    *budget -= size;
    return set_feature(r, feature, &section, offset);
}

/* The table behind the data: offset and size for each bit of the header's bitmap. */
static int load_features(struct spe_perf_reader *r, uint64_t at)
{
    const uint64_t *bitmap = r->wanted;
    uint64_t budget = r->input.size;
    struct pd_section table = {0};
    size_t count = 0;
    int result;

    for (unsigned i = 0; i < SPE_PERF_FEATURE_COUNT / 64; i++)
        count += (size_t)__builtin_popcountll(bitmap[i]);
    if (!count)
        return SPE_OK;
    result = get_section(r, at, 16 * count, &table);
    if (result == SPE_ERR_FORMAT) {
        pd_problem(r, SPE_ERR_TRUNCATED, at, "the file ends before its features");
        return SPE_OK;
    }
    for (unsigned f = 0, i = 0; result == SPE_OK && f < SPE_PERF_FEATURE_COUNT; f++)
        if (bitmap[f / 64] >> f % 64 & 1)
            result = load_feature(r, f, table.bytes + 16 * (size_t)i++, &budget);
    free(table.owned);
    return result;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static void set_end(struct spe_perf_reader *r)
{
    uint64_t offset = r->info.data_offset, size = r->info.data_size, all = r->input.size;

    if (r->info.unterminated) {
        r->end = all; /* UINT64_MAX for a stream: up to where it ends */
        pd_problem(r, SPE_ERR_TRUNCATED, HEADER_DATA + 8,
                   "the recording was not finished: its size of the data is 0");
        r->damaged = false;
    } else if (size > all - offset) {
        r->end = all;
        r->info.truncated = true;
        r->account.missing_bytes = size - (all - offset);
        pd_problem(r, SPE_ERR_TRUNCATED, all,
                   "the file ends %" PRIu64 " bytes before its data does",
                   r->account.missing_bytes);
    } else {
        r->end = offset + size;
    }
}

/* Of a stream in file form, everything before the data is kept. */
static int keep_prefix(struct spe_perf_reader *r)
{
    int result;

    if (r->input.kind != PD_STREAM)
        return SPE_OK;
    if (r->info.data_offset > PD_PREFIX_MAX)
        return refuse(r, SPE_ERR_FORMAT, HEADER_DATA,
                      "the data begins too late to be read from a pipe");
    result = copy_range(&r->input, 0, (size_t)r->info.data_offset, &r->prefix);
    if (result == SPE_OK && r->prefix.size < r->info.data_offset)
        return refuse(r, SPE_ERR_FORMAT, r->prefix.size, "the file ends before its data begins");
    return result;
}

static int open_file_form(struct spe_perf_reader *r, const uint8_t *start, size_t header_size)
{
    uint8_t header[PD_HEADER] = {0};
    int result;

    memcpy(header, start, header_size);
    r->info.data_offset = load64(header + HEADER_DATA);
    r->info.data_size = load64(header + HEADER_DATA + 8);
    memcpy(r->wanted, header + HEADER_FEATURES, sizeof(r->wanted));
    if (r->info.data_offset < header_size || r->info.data_size > INT64_MAX ||
        r->info.data_offset > INT64_MAX)
        return refuse(r, SPE_ERR_FORMAT, HEADER_DATA,
                      "the header's place of the data is impossible");
    if (r->input.kind != PD_STREAM && r->info.data_offset > r->input.size)
        return refuse(r, SPE_ERR_FORMAT, r->input.size, "the file ends before its data begins");
    r->info.unterminated = !r->info.data_size;
    r->info.incomplete = load64(header + PD_HEADER_MARK) == PD_MARK_OPEN;
    set_end(r);
    result = keep_prefix(r);
    if (result == SPE_OK)
        result = load_events(r, header);
    if (result < 0)
        return refuse(r, result, 0, spe_strerror(result));
    r->position = r->account.header_bytes = r->info.data_offset;
    if (r->info.unterminated || r->input.kind == PD_STREAM)
        return SPE_OK;
    result = load_features(r, r->info.data_offset + r->info.data_size);
    return result < 0 ? refuse(r, result, 0, "the features cannot be read") : SPE_OK;
}

static int open_pipe_form(struct spe_perf_reader *r)
{
    r->info.pipe = true;
    r->info.data_offset = r->position = r->account.header_bytes = PD_HEADER_PIPE;
    r->end = r->input.size;
    return SPE_OK;
}

static int check_magic(struct spe_perf_reader *r, const uint8_t *bytes, size_t size)
{
    if (size >= 8 && !memcmp(bytes, PD_SWAPPED, 8))
        return refuse(
            r, SPE_ERR_FORMAT, 0,
            "the file was recorded on a big-endian machine, which Specimen does not read");
    if (size >= 8 && !memcmp(bytes, "PERFFILE", 8))
        return refuse(r, SPE_ERR_FORMAT, 0,
                      "the file has the first form of perf.data, from before Linux 3.6");
    if (size < 8 || memcmp(bytes, PD_MAGIC, 8) != 0)
        return refuse(r, SPE_ERR_FORMAT, 0, "the file is not a perf.data");
    if (size < PD_HEADER_PIPE)
        return refuse(r, SPE_ERR_FORMAT, size, "the file ends inside its header");
    return SPE_OK;
}

static int open_header(struct spe_perf_reader *r)
{
    const uint8_t *bytes = NULL;
    int64_t n = pd_input_at(&r->input, 0, PD_HEADER, &bytes);
    uint64_t size;
    int result;

    if (n < 0)
        return pd_reader_fail(r, (int)n, 0);
    result = check_magic(r, bytes, (size_t)n);
    if (result < 0)
        return result;
    size = load64(bytes + HEADER_SIZE);
    if (size == PD_HEADER_PIPE)
        return open_pipe_form(r);
    if (size != PD_HEADER && size != PD_HEADER_OLD)
        return refuse(r, SPE_ERR_FORMAT, HEADER_SIZE, "the header's size is impossible");
    if ((uint64_t)n < size)
        return refuse(r, SPE_ERR_FORMAT, (uint64_t)n, "the file ends inside its header");
    return open_file_form(r, bytes, (size_t)size);
}

/* The input is set up, or failed with `result`. */
static int finish_open(struct spe_perf_reader **out, struct spe_perf_reader *r, int result,
                       struct spe_perf_error *error)
{
    if (result < 0)
        pd_reader_fail(r, result, 0);
    else
        result = open_header(r);
    r->info.seekable = r->input.kind != PD_STREAM;
    r->info.mapped = r->input.kind == PD_MEMORY;
    r->info.size = r->input.size == UINT64_MAX ? 0 : r->input.size;
    r->account.bytes = r->info.size;
    if (result < 0) {
        if (error)
            *error = r->problem;
        spe_perf_reader_close(r);
        return result;
    }
    *out = r;
    return SPE_OK;
}

static struct spe_perf_reader *new_reader(struct spe_perf_reader **out, unsigned flags,
                                          struct spe_perf_error *error)
{
    struct spe_perf_reader *r = calloc(1, sizeof(*r));

    *out = NULL;
    if (!r)
        pd_fail(error, SPE_ERR_NOMEM, 0, "%s", spe_strerror(SPE_ERR_NOMEM));
    else
        r->flags = flags;
    return r;
}

int spe_perf_reader_open(struct spe_perf_reader **reader, const char *path, unsigned flags,
                         struct spe_perf_error *error)
{
    struct spe_perf_reader *r = new_reader(reader, flags, error);
    const char *why;
    int fd, result;

    if (!r)
        return SPE_ERR_NOMEM;
    fd = pd_open_path(path, &why);
    if (fd < 0) {
        spe_perf_reader_close(r);
        return pd_fail(error, SPE_ERR_IO, 0, "%s", why);
    }
    result = pd_input_open_fd(&r->input, fd, !(flags & SPE_PERF_NO_MAP));
    r->input.own_fd = true;
    return finish_open(reader, r, result, error);
}

int spe_perf_reader_open_fd(struct spe_perf_reader **reader, int fd, unsigned flags,
                            struct spe_perf_error *error)
{
    struct spe_perf_reader *r = new_reader(reader, flags, error);

    if (!r)
        return SPE_ERR_NOMEM;
    return finish_open(reader, r, pd_input_open_fd(&r->input, fd, !(flags & SPE_PERF_NO_MAP)),
                       error);
}

int spe_perf_reader_open_memory(struct spe_perf_reader **reader, const void *bytes, size_t size,
                                unsigned flags, struct spe_perf_error *error)
{
    struct spe_perf_reader *r = new_reader(reader, flags, error);

    if (!r)
        return SPE_ERR_NOMEM;
    pd_input_open_memory(&r->input, bytes, size);
    return finish_open(reader, r, SPE_OK, error);
}

int spe_perf_reader_open_input(struct spe_perf_reader **reader, const struct spe_perf_input *input,
                               unsigned flags, struct spe_perf_error *error)
{
    struct spe_perf_reader *r = new_reader(reader, flags, error);

    if (!r)
        return SPE_ERR_NOMEM;
    return finish_open(reader, r, pd_input_open_input(&r->input, input), error);
}

void spe_perf_reader_close(struct spe_perf_reader *reader)
{
    if (!reader)
        return;
    pd_unpack_free(reader);
    pd_queues_free(reader);
    pd_features_free(reader);
    pd_events_free(reader);
    free(reader->prefix.owned);
    free(reader->suffix.owned);
    free(reader->ranges);
    pd_input_close(&reader->input);
    free(reader);
}

/* ---- Damage --------------------------------------------------------------------------------- */

void pd_skip(struct spe_perf_reader *r, uint64_t offset, uint64_t size, enum spe_perf_skip reason)
{
    r->account.skipped_bytes += size;
    r->account.skipped_by[reason] += size;
    r->account.ranges++;
    if (r->range_count < SPE_PERF_RANGE_MAX &&
        vector_reserve(&r->ranges, &r->range_capacity, r->range_count + 1, sizeof(*r->ranges)) ==
            SPE_OK)
        r->ranges[r->range_count++] = (struct spe_perf_range){offset, size, reason};
}

/* A stream has no known end: read up to it. */
static int find_end(struct spe_perf_reader *r, uint64_t *end)
{
    const uint8_t *bytes;
    int64_t n;

    for (*end = r->position; *end < r->end; *end += (uint64_t)n) {
        uint64_t left = r->end - *end;

        n = pd_input_at(&r->input, *end, left < PD_WINDOW ? (size_t)left : PD_WINDOW, &bytes);
        if (n < 0)
            return (int)n;
        if (!n)
            break;
    }
    return SPE_OK;
}

/* There is no record at the position. Go on at the next one in the index, or not at all. */
static int skip_damage(struct spe_perf_reader *r, enum spe_perf_skip reason, const char *text)
{
    uint64_t from = r->position, to = pd_index_after(r, from);
    int result = SPE_OK;

    pd_problem(r, reason == SPE_PERF_SKIP_TRUNCATED ? SPE_ERR_TRUNCATED : SPE_ERR_FORMAT, from,
               "%s", text);
    if (to >= r->end) {
        to = r->end;
        if (r->input.kind == PD_STREAM)
            result = find_end(r, &to);
    }
    if (result < 0)
        return result;
    r->account.data_bytes += to - from;
    pd_skip(r, from, to - from, reason);
    r->position = to;
    return SPE_OK;
}

/* ---- Walking -------------------------------------------------------------------------------- */

/* Bytes at the position, within the data section. */
static int64_t bytes_here(struct spe_perf_reader *r, size_t size, const uint8_t **bytes)
{
    if (r->end - r->position < size)
        size = (size_t)(r->end - r->position);
    return size ? pd_input_at(&r->input, r->position, size, bytes) : 0;
}

/* Zeros between records: what a killed recording may end with. */
static int take_zeros(struct spe_perf_reader *r)
{
    const uint8_t *bytes = NULL;
    int64_t n = bytes_here(r, PD_WINDOW, &bytes);
    size_t zeros = 0;

    if (n < 0)
        return (int)n;
    while (n >= 8 && zeros <= (size_t)n - 8 && !load64(bytes + zeros))
        zeros += 8;
    r->position += zeros;
    r->account.data_bytes += zeros;
    r->account.padding_bytes += zeros;
    return SPE_OK;
}

static void count_record(struct spe_perf_reader *r, const struct spe_perf_record *rec)
{
    uint32_t type = rec->type < SPE_PERF_RECORD_TYPES ? rec->type : 0;

    r->account.records++;
    r->account.records_by[type]++;
    r->account.bytes_by[type] += rec->size;
}

/* The record at the position: 1, or an error, or 0 if there is none: the end, or something was
 * stepped over. */
static int take_record(struct spe_perf_reader *r, struct spe_perf_record *rec)
{
    const uint8_t *bytes = NULL;
    int64_t n = bytes_here(r, 8, &bytes);
    uint16_t size;

    if (n <= 0)
        return (int)n;
    if (n < 8)
        return skip_damage(r, SPE_PERF_SKIP_TRUNCATED, "the data ends inside a record's header");
    if (!load64(bytes))
        return take_zeros(r);
    size = load16(bytes + 6);
    if (size < 8)
        return skip_damage(r, SPE_PERF_SKIP_HEADER, "a record is smaller than its header");
    n = bytes_here(r, size, &bytes);
    if (n < 0)
        return (int)n;
    if (n < size)
        return skip_damage(r, SPE_PERF_SKIP_TRUNCATED, "the data ends inside a record");
    rec->type = r->last_type = load32(bytes);
    rec->offset = r->position;
    rec->bytes = bytes;
    rec->size = size;
    rec->decompressed = false;
    r->position += size;
    r->account.data_bytes += size;
    r->account.record_bytes += size;
    count_record(r, rec);
    return 1;
}

/* TRACING_DATA: bytes that follow the record, which nobody here needs. */
static int step_over_attached(struct spe_perf_reader *r)
{
    uint64_t end, left, size = r->attached;

    r->attached = 0;
    if (!size)
        return SPE_OK;

    if (r->input.kind != PD_STREAM) {
        left = r->end - r->position;
    } else { /* is there as much? */
        uint64_t old = r->end;
        int result;

        if (size < r->end - r->position)
            r->end = r->position + size;
        result = find_end(r, &end);
        left = end - r->position;
        r->end = old;
        if (result < 0)
            return result;
    }
    if (size > left) {
        pd_problem(r, SPE_ERR_TRUNCATED, r->position, "the data ends inside TRACING_DATA");
        if (!r->info.truncated)
            r->account.missing_bytes += size - left;
        size = left;
    }
    r->position += size;
    r->account.data_bytes += size;
    r->account.attached_bytes += size;
    return SPE_OK;
}

/* ---- What records tell the reader ----------------------------------------------------------- */

static int note_attr(struct spe_perf_reader *r, const struct spe_perf_record *rec)
{
    size_t attr_size = pd_attr_size(rec->bytes + 8, rec->size - 8);
    int result;

    if (!r->info.pipe)
        return SPE_OK;
    if (!attr_size) {
        r->account.malformed++;
        pd_problem(r, SPE_ERR_FORMAT, rec->offset,
                   "an event's attributes do not have the size that they say");
        return SPE_OK;
    }
    result = pd_events_add(r, rec->bytes + 8, attr_size, rec->bytes + 8 + attr_size,
                           (rec->size - 8 - attr_size) / 8, rec->offset);
    return result == SPE_ERR_FORMAT ? SPE_OK : result;
}

static int note_feature(struct spe_perf_reader *r, const struct spe_perf_record *rec)
{
    uint64_t feature = rec->size >= 16 ? load64(rec->bytes + 8) : SPE_PERF_FEATURE_COUNT;
    struct pd_section section = {0};

    if (!r->info.pipe || feature >= SPE_PERF_FEATURE_COUNT || rec->size == 16 ||
        feature == SPE_PERF_FEATURE_AUXTRACE)
        return SPE_OK;
    section.size = rec->size - 16;
    section.owned = malloc(section.size);
    if (!section.owned)
        return SPE_ERR_NOMEM;
    memcpy(section.owned, rec->bytes + 16, section.size);
    section.bytes = section.owned;
    return set_feature(r, (unsigned)feature, &section, rec->offset);
}

/* EVENT_UPDATE: u64 kind (2 is the name), u64 ID, text. */
static int note_update(struct spe_perf_reader *r, const struct spe_perf_record *rec)
{
    int event;

    if (rec->size <= 24 || load64(rec->bytes + 8) != 2)
        return SPE_OK;
    event = spe_perf_reader_event_by_id(r, load64(rec->bytes + 16));
    if (event < 0 || r->events[event].name)
        return SPE_OK;
    return pd_event_name(r, (size_t)event, (const char *)rec->bytes + 24, rec->size - 24)
               ? SPE_OK
               : SPE_ERR_NOMEM;
}

static void note_aux(struct spe_perf_reader *r, const struct spe_perf_record *rec)
{
    uint64_t flags = rec->viewed ? rec->aux.flags : 0;

    r->account.aux_truncated += !!(flags & SPE_PERF_AUX_TRUNCATED);
    r->account.aux_overwrite += !!(flags & SPE_PERF_AUX_OVERWRITE);
    r->account.aux_partial += !!(flags & SPE_PERF_AUX_PARTIAL);
    r->account.aux_collision += !!(flags & SPE_PERF_AUX_COLLISION);
    if (!(flags & SPE_PERF_AUX_OVERWRITE) || r->info.overwrite)
        return;
    r->info.overwrite = true;
    for (size_t i = 0; i < r->queue_count; i++)
        if (r->queues[i].pieces)
            r->queues[i].pieces[0].flags |= SPE_PERF_PIECE_UNSYNCED;
}

static int note_record(struct spe_perf_reader *r, struct spe_perf_record *rec)
{
    switch (rec->type) {
    case SPE_PERF_HEADER_ATTR:
        return note_attr(r, rec);
    case SPE_PERF_HEADER_FEATURE:
        return note_feature(r, rec);
    case SPE_PERF_EVENT_UPDATE:
        return note_update(r, rec);
    case SPE_PERF_AUXTRACE_INFO:
        pd_metadata_parse(r, rec);
        return SPE_OK;
    case SPE_PERF_TIME_CONV:
        if (rec->viewed) {
            r->time_conv = rec->time_conv;
            r->has_time_conv = true;
        }
        return SPE_OK;
    case SPE_PERF_AUX:
        note_aux(r, rec);
        return SPE_OK;
    case SPE_PERF_LOST:
    case SPE_PERF_LOST_SAMPLES:
        r->account.lost += rec->viewed ? rec->lost.count : 0;
        return SPE_OK;
    case SPE_PERF_AUXTRACE:
        return rec->viewed ? pd_aux_start(r, rec) : SPE_OK;
    case SPE_PERF_TRACING_DATA:
        /* Stepped over by the next call: until then the record's bytes are in use. */
        r->attached = rec->size >= 12 ? load32(rec->bytes + 8) : 0;
        return SPE_OK;
    default:
        return SPE_OK;
    }
}

/* ---- The end -------------------------------------------------------------------------------- */

/* Of a stream in file form: what is behind the data, as far as it is not too much to keep. */
static int take_rest(struct spe_perf_reader *r)
{
    uint64_t end, old = r->end;
    int result;

    if (r->info.pipe || r->info.unterminated || r->position < r->end)
        return SPE_OK;
    result = copy_range(&r->input, r->end, PD_PREFIX_MAX, &r->suffix);
    if (result < 0)
        return result;
    r->position += r->suffix.size;
    r->end = UINT64_MAX;
    result = find_end(r, &end);
    r->position = r->end = old;
    if (result < 0)
        return result;
    return load_features(r, r->end);
}

static int reach_end(struct spe_perf_reader *r)
{
    int result = SPE_OK;

    pd_unpack_end(r);
    if (r->input.kind == PD_STREAM) {
        if (r->end != UINT64_MAX && r->position < r->end) {
            r->info.truncated = true;
            r->account.missing_bytes += r->end - r->position;
            pd_problem(r, SPE_ERR_TRUNCATED, r->position, "the input ends before its data does");
        }
        result = take_rest(r);
        if (r->input.size == UINT64_MAX && result == SPE_OK)
            result = SPE_ERR_IO;
        r->info.size = r->account.bytes = r->input.size;
    }
    r->account.rest_bytes = r->account.bytes - r->account.header_bytes - r->account.data_bytes;
    if (r->info.pipe)
        r->info.incomplete = r->marked && r->last_type != SPE_PERF_FINISHED_ROUND;
    r->ended = true;
    return result;
}

/* A record that is not compressed, or the beginning of one that is. */
static int next_plain(struct spe_perf_reader *r, struct spe_perf_record *rec)
{
    uint64_t before = r->position;
    int result = take_record(r, rec);

    if (result == 0 && r->position == before)
        return reach_end(r);
    if (result <= 0)
        return result;
    if (rec->type == SPE_PERF_COMPRESSED)
        result =
            pd_unpack_start(r, rec->bytes + 8, rec->size - 8, rec->offset, (uint16_t)rec->size);
    else if (rec->type == SPE_PERF_COMPRESSED2 && rec->size >= 16 &&
             load64(rec->bytes + 8) <= rec->size - 16)
        result = pd_unpack_start(r, rec->bytes + 16, (size_t)load64(rec->bytes + 8), rec->offset,
                                 (uint16_t)rec->size);
    else if (rec->type == SPE_PERF_COMPRESSED2)
        r->account.malformed++;
    else
        return 1;
    return result < 0 ? result : 0;
}

static int next_record(struct spe_perf_reader *r, struct spe_perf_record *rec)
{
    int result = pd_aux_finish(r);

    if (result == SPE_OK)
        result = step_over_attached(r);
    while (result == 0 && !r->ended) {
        if (pd_unpack_next(r, rec)) {
            rec->type = load32(rec->bytes);
            rec->decompressed = true;
            count_record(r, rec);
            result = 1;
        } else {
            result = next_plain(r, rec);
        }
    }
    if (result <= 0)
        return result;
    pd_record_view(r, rec);
    result = note_record(r, rec);
    return result < 0 ? result : 1;
}

static int read_record(struct spe_perf_reader *reader, struct spe_perf_record *record)
{
    int result;

    if (reader->failed)
        return reader->failed;
    if (reader->ended)
        return 0;
    result = next_record(reader, record);
    return result < 0 ? pd_reader_fail(reader, result, reader->position) : result;
}

int spe_perf_reader_next_sized(struct spe_perf_reader *reader, struct spe_perf_record *record,
                               size_t size)
{
    struct spe_perf_record own;
    int result;

    if (size == sizeof(own))
        return read_record(reader, record);
    result = read_record(reader, &own);
    if (result > 0)
        sized_give(record, size, &own, sizeof(own));
    return result;
}

/* ---- Answers -------------------------------------------------------------------------------- */

const struct spe_perf_info *spe_perf_reader_info(const struct spe_perf_reader *reader)
{
    return &reader->info;
}

const struct spe_perf_time_conv *spe_perf_reader_time_conv(const struct spe_perf_reader *reader)
{
    return reader->has_time_conv ? &reader->time_conv : NULL;
}

const struct spe_perf_account *spe_perf_reader_account(const struct spe_perf_reader *reader)
{
    return &reader->account;
}

const struct spe_perf_range *spe_perf_reader_range(const struct spe_perf_reader *reader, size_t i)
{
    return i < reader->range_count ? &reader->ranges[i] : NULL;
}

const struct spe_perf_error *spe_perf_reader_problem(const struct spe_perf_reader *reader)
{
    return &reader->problem;
}

/* Appends "; " and a sentence. */
__attribute__((format(printf, 3, 4))) static void say(char *text, size_t size, const char *format,
                                                      ...)
{
    size_t used = strlen(text);
    va_list args;

    if (used && size - used > 2) {
        memcpy(text + used, "; ", 3);
        used += 2;
    }
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

bool spe_perf_reader_damage(const struct spe_perf_reader *reader, char *text, size_t size)
{
    const struct spe_perf_account *a = &reader->account;
    const struct spe_perf_range *first = spe_perf_reader_range(reader, 0);
    uint64_t unfound = a->index_entries - a->index_found;

    text[0] = '\0';
    if (a->missing_bytes || a->skipped_bytes || !reader->ended)
        unfound = 0; /* no wonder */
    if (reader->damaged &&
        !(reader->info.unterminated && reader->problem.offset == HEADER_DATA + 8))
        say(text, size, "the file is damaged at byte %" PRIu64 ": %s", reader->problem.offset,
            reader->problem.text);
    else if (reader->damaged || a->malformed || unfound)
        say(text, size, "the file is damaged");
    if (a->missing_bytes)
        say(text, size, "%" PRIu64 " bytes are missing", a->missing_bytes);
    if (a->skipped_bytes && first)
        say(text, size, "%" PRIu64 " bytes were skipped, the first of them at byte %" PRIu64,
            a->skipped_bytes, first->offset);
    if (a->unpacked_skipped_bytes)
        say(text, size, "%" PRIu64 " bytes out of compressed records were skipped",
            a->unpacked_skipped_bytes);
    if (a->malformed)
        say(text, size, "%" PRIu64 " records do not add up", a->malformed);
    if (unfound)
        say(text, size, "%" PRIu64 " AUXTRACE records of the index are not there", unfound);
    return text[0];
}

const char *spe_perf_skip_name(unsigned reason)
{
    static const char *const names[SPE_PERF_SKIP_COUNT] = {
        [SPE_PERF_SKIP_HEADER] = "record smaller than its header",
        [SPE_PERF_SKIP_TRUNCATED] = "data ends inside a record",
        [SPE_PERF_SKIP_QUEUES] = "too many queues",
        [SPE_PERF_SKIP_DECOMPRESS] = "compressed record that does not decompress",
        [SPE_PERF_SKIP_DECOMPRESSED] = "compressed record that does not hold records",
    };

    return reason < SPE_PERF_SKIP_COUNT ? names[reason] : "unknown reason";
}
