/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * AUX data: the metadata block, the index, and the bytes behind AUXTRACE records, sorted into
 * queues.
 *
 * perf fills pieces up to 8 bytes with zeros. But zeros at the end may as well be the last bytes of
 * a packet, or SPE padding. Only the next piece tells: if, by its AUX offset, it begins less than 8
 * bytes before the end of the last one, the difference was filling. So those zeros are held back
 * until then; without a next piece they are bytes like others, and the SPE stream can do with them.
 */
#include "perfdata_internal.h"

/* ---- Metadata ------------------------------------------------------------------------------- */

static uint64_t word(const struct spe_perf_record *rec, size_t i)
{
    return load64(rec->bytes + 16 + 8 * i);
}

/* A CPU's words from `at` on: magic, CPU, number of words that follow, MIDR, PMU type, minimum
 * interval, and since Linux 6.18 the implemented events. */
static void parse_cpu(const struct spe_perf_record *rec, size_t at, size_t words,
                      struct spe_perf_cpu *cpu)
{
    cpu->cpu = (uint32_t)word(rec, at + 1);
    cpu->midr = word(rec, at + 3);
    cpu->pmu_type = (uint32_t)word(rec, at + 4);
    cpu->min_interval = word(rec, at + 5);
    cpu->has_event_filter = words > 6;
    cpu->event_filter = words > 6 ? word(rec, at + 6) : 0;
}

static bool parse_cpus(struct spe_perf_reader *r, const struct spe_perf_record *rec, size_t words)
{
    uint64_t header = word(rec, 1), count = word(rec, 3), stride;
    struct spe_perf_cpu *cpus;

    if (header < 4 || header > words || !count || count > (words - header) / 6)
        return false;
    stride = (words - header) / count; /* as perf does: CPUs may have more words one day */
    cpus = calloc((size_t)count, sizeof(*cpus));
    if (!cpus)
        return false;
    for (size_t i = 0; i < count; i++)
        parse_cpu(rec, (size_t)(header + i * stride), (size_t)stride, &cpus[i]);
    free(r->cpus);
    r->cpus = cpus;
    r->metadata.cpus = cpus;
    r->metadata.cpu_count = (size_t)count;
    return true;
}

static bool parse_metadata(struct spe_perf_reader *r, const struct spe_perf_record *rec,
                           size_t words)
{
    struct spe_perf_metadata *m = &r->metadata;

    if (words < 2)
        return false;
    m->word = (uint32_t)word(rec, 0);
    if (words == 2) { /* version 1 is told by its size */
        free(r->cpus);
        r->cpus = NULL;
        *m = (struct spe_perf_metadata){
            .version = 1, .pmu_type = m->word, .word = m->word, .per_cpu_mmaps = word(rec, 1) != 0};
        return true;
    }
    if (words < 4 || !parse_cpus(r, rec, words))
        return false;
    m->version = 2;
    m->pmu_type = (uint32_t)word(rec, 2);
    m->per_cpu_mmaps = false;
    return true;
}

void pd_metadata_parse(struct spe_perf_reader *r, const struct spe_perf_record *record)
{
    uint32_t type = record->size >= 16 ? load32(record->bytes + 8) : PD_AUXTRACE_SPE;

    if (type != PD_AUXTRACE_SPE) {
        pd_problem(r, SPE_ERR_FORMAT, record->offset,
                   "the AUX data is not Arm SPE (AUXTRACE_INFO says type %u)", type);
        return;
    }
    if (record->size < 32 || !parse_metadata(r, record, (record->size - 16) / 8)) {
        r->account.malformed++;
        pd_problem(r, SPE_ERR_FORMAT, record->offset, "AUXTRACE_INFO is inconsistent");
        return;
    }
    r->has_metadata = true;
    r->marked = load32(record->bytes + 12) == PD_MARK_PIPE;
}

const struct spe_perf_metadata *spe_perf_reader_metadata(const struct spe_perf_reader *reader)
{
    return reader->has_metadata ? &reader->metadata : NULL;
}

/* What all CPUs have in common, or 0. */
static uint64_t common_midr(const struct spe_perf_reader *r)
{
    for (size_t i = 1; i < r->metadata.cpu_count; i++)
        if (r->cpus[i].midr != r->cpus[0].midr)
            return 0;
    return r->cpus[0].midr;
}

uint64_t spe_perf_reader_midr(const struct spe_perf_reader *reader, uint32_t cpu)
{
    if (!reader->has_metadata || !reader->cpus)
        return reader->cpuid;
    if (cpu == UINT32_MAX)
        return common_midr(reader);
    for (size_t i = 0; i < reader->metadata.cpu_count; i++)
        if (reader->cpus[i].cpu == cpu)
            return reader->cpus[i].midr;
    return 0;
}

bool spe_perf_reader_is_spe(const struct spe_perf_reader *reader, size_t event)
{
    const struct spe_perf_event *e = spe_perf_reader_event(reader, event);

    if (!e || !reader->has_metadata)
        return false;
    if (e->type == reader->metadata.pmu_type)
        return true;
    for (size_t i = 0; i < reader->metadata.cpu_count; i++)
        if (reader->cpus[i].pmu_type == e->type)
            return true;
    return false;
}

/* ---- Index ---------------------------------------------------------------------------------- */

void pd_index_parse(struct spe_perf_reader *r, const uint8_t *bytes, size_t size, uint64_t offset)
{
    uint64_t count = size >= 8 ? load64(bytes) : 0;
    uint64_t *list;

    if (size < 8 || count > (size - 8) / 16) {
        pd_problem(r, SPE_ERR_FORMAT, offset, "the index of AUXTRACE records is inconsistent");
        return;
    }
    list = count ? malloc((size_t)count * sizeof(*list)) : NULL;
    if (!list)
        return; /* it only helps */
    for (size_t i = 0; i < count; i++)
        list[i] = load64(bytes + 8 + 16 * i);
    qsort(list, (size_t)count, sizeof(*list), pd_compare_u64);
    free(r->index);
    r->index = list;
    r->index_count = (size_t)count;
    r->account.index_entries = count;
}

uint64_t pd_index_after(const struct spe_perf_reader *r, uint64_t offset)
{
    size_t low = r->index_next, high = r->index_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->index[middle] <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->index_count ? r->index[low] : UINT64_MAX;
}

static void match_index(struct spe_perf_reader *r, uint64_t offset)
{
    while (r->index_next < r->index_count && r->index[r->index_next] < offset)
        r->index_next++;
    if (r->index_next < r->index_count && r->index[r->index_next] == offset) {
        r->account.index_found++;
        r->index_next++;
    }
}

/* ---- Queues --------------------------------------------------------------------------------- */

static bool keeps_pieces(const struct spe_perf_reader *r)
{
    return r->input.kind != PD_STREAM && !(r->flags & SPE_PERF_NO_PIECES);
}

static int find_queue(struct spe_perf_reader *r, const struct spe_perf_auxtrace *a, uint32_t *place)
{
    uint32_t found = id_table_get(&r->queue_of, a->idx);
    struct pd_queue *q;

    if (found != NONE) {
        *place = found;
        return 1;
    }
    if (r->queue_count == SPE_PERF_QUEUE_MAX)
        return 0;
    if (vector_reserve(&r->queues, &r->queue_capacity, r->queue_count + 1, sizeof(*r->queues)) <
            0 ||
        id_table_set(&r->queue_of, a->idx, (uint32_t)r->queue_count) < 0)
        return SPE_ERR_NOMEM;
    q = &r->queues[r->queue_count];
    memset(q, 0, sizeof(*q));
    q->queue.idx = a->idx;
    q->queue.cpu = a->cpu;
    q->queue.tid = a->tid;
    *place = (uint32_t)r->queue_count++;
    return 1;
}

static struct spe_perf_piece *stored_last(struct pd_queue *q)
{
    return q->pieces ? &q->pieces[q->queue.piece_count - 1] : NULL;
}

/* The last piece ended with filling. */
static void take_off(struct spe_perf_reader *r, struct pd_queue *q, uint8_t filling)
{
    struct spe_perf_piece *stored = stored_last(q);

    q->last.size -= filling;
    q->last.padding = filling;
    q->queue.bytes -= filling;
    q->queue.held -= filling;
    r->account.padding_bytes += filling;
    r->account.aux_bytes -= filling;
    if (stored) {
        stored->size = q->last.size;
        stored->padding = filling;
    }
}

/* How a piece continues the one before it. */
static void join(struct spe_perf_reader *r, struct pd_queue *q, struct spe_perf_auxtrace *a)
{
    uint64_t end = q->last.aux_offset + q->last.size;
    uint64_t behind = end - a->offset; /* how far it begins before that */

    if (!q->queue.piece_count) {
        if (r->info.overwrite)
            a->flags |= SPE_PERF_PIECE_UNSYNCED;
        return;
    }
    if (!a->offset && !q->last.aux_offset) /* the writer does not know offsets */
        behind = 0;
    if (behind > q->queue.held) {
        a->flags |= SPE_PERF_PIECE_UNSYNCED;
        a->held = q->queue.held;
    } else {
        take_off(r, q, (uint8_t)behind);
        r->aux.zeros = q->queue.held;
    }
    q->queue.held = 0;
}

static int add_piece(struct spe_perf_reader *r, struct pd_queue *q,
                     const struct spe_perf_piece *piece)
{
    q->last = *piece;
    q->queue.bytes += piece->size;
    q->queue.piece_count++;
    if (!keeps_pieces(r))
        return SPE_OK;
    if (vector_reserve(&q->pieces, &q->capacity, (size_t)q->queue.piece_count, sizeof(*q->pieces)) <
        0)
        return SPE_ERR_NOMEM;
    q->pieces[q->queue.piece_count - 1] = *piece;
    q->queue.pieces = q->pieces;
    return SPE_OK;
}

void pd_queues_free(struct spe_perf_reader *r)
{
    for (size_t i = 0; i < r->queue_count; i++)
        free(r->queues[i].pieces);
    free(r->queues);
    id_table_free(&r->queue_of);
    free(r->cpus);
}

size_t spe_perf_reader_queue_count(const struct spe_perf_reader *reader)
{
    return reader->queue_count;
}

const struct spe_perf_queue *spe_perf_reader_queue(const struct spe_perf_reader *reader, size_t i)
{
    return i < reader->queue_count ? &reader->queues[i].queue : NULL;
}

int64_t spe_perf_piece_read(const struct spe_perf_reader *reader,
                            const struct spe_perf_piece *piece, uint64_t from, void *buffer,
                            size_t size, const uint8_t **bytes)
{
    const struct pd_input *s = &reader->input;
    uint64_t left = from < piece->size ? piece->size - from : 0;

    if (s->kind == PD_STREAM || !pd_within(piece->file_offset, piece->size, s->size))
        return SPE_ERR_INVALID;
    if (!left)
        return 0;
    return pd_input_take(s, piece->file_offset + from, buffer, left < size ? (size_t)left : size,
                         bytes);
}

void spe_perf_piece_done(const struct spe_perf_reader *reader, const struct spe_perf_piece *piece,
                         uint64_t from, uint64_t size)
{
    if (pd_within(from, size, piece->size) &&
        pd_within(piece->file_offset, piece->size, reader->input.size))
        pd_input_done_around(&reader->input, piece->file_offset + from, size);
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* Zeros at the end of `size` bytes, up to 7. */
static uint8_t zeros_at_end(const uint8_t *bytes, size_t size)
{
    uint8_t n = 0;

    while (n < 7 && n < size && !bytes[size - 1 - n])
        n++;
    return n;
}

/* How many of the bytes that a record says it has are there; UINT64_MAX: the end is not known. */
static uint64_t bytes_there(const struct spe_perf_reader *r, uint64_t from, uint64_t size)
{
    uint64_t next;

    if (r->end == UINT64_MAX || size <= r->end - from)
        return size;
    /* It cannot be true. If the index knows of another record before the end, up to there. */
    next = pd_index_after(r, from);
    return (next < r->end ? next : r->end) - from;
}

static int look_at_tail(struct spe_perf_reader *r, struct pd_aux *aux)
{
    uint8_t bytes[8];
    size_t size = aux->left < sizeof(bytes) ? (size_t)aux->left : sizeof(bytes);
    int64_t n;

    if (!aux->pads || !size || r->input.kind == PD_STREAM)
        return SPE_OK;
    n = pd_input_read(&r->input, aux->offset + aux->left - size, bytes, size);
    if (n < 0)
        return (int)n;
    aux->tail = (size_t)n == size ? zeros_at_end(bytes, size) : 0;
    aux->left -= aux->tail;
    return SPE_OK;
}

/* An AUXTRACE record: its bytes follow at r->position. */
int pd_aux_start(struct spe_perf_reader *r, struct spe_perf_record *record)
{
    struct spe_perf_auxtrace *a = &record->auxtrace;
    struct pd_aux *aux = &r->aux;
    uint64_t there = bytes_there(r, r->position, a->size);
    struct spe_perf_piece piece = {.file_offset = r->position, .aux_offset = a->offset};
    int result;

    match_index(r, record->offset);
    memset(aux, 0, sizeof(*aux));
    if (there < a->size) {
        a->flags |= SPE_PERF_PIECE_TRUNCATED;
        if (!r->info.truncated) /* else they are among those that the header misses */
            r->account.missing_bytes += a->size - there;
        pd_problem(r, SPE_ERR_TRUNCATED, record->offset,
                   "an AUXTRACE record says it has more bytes than the file");
    }
    *aux = (struct pd_aux){.active = true,
                           .offset = r->position,
                           .left = there,
                           .pads = a->size % 8 == 0 && there == a->size};
    result = find_queue(r, a, &aux->queue);
    if (result <= 0) {
        aux->refused = true;
        return result;
    }
    join(r, &r->queues[aux->queue], a);
    result = look_at_tail(r, aux);
    if (result < 0)
        return result;
    piece.cpu = a->cpu;
    piece.tid = a->tid;
    piece.flags = (uint8_t)a->flags;
    piece.size = there;
    return there ? add_piece(r, &r->queues[aux->queue], &piece) : SPE_OK;
}

/* A stream tells only at the end of a piece what it ends with. */
static void end_of_stream_piece(struct spe_perf_reader *r, const uint8_t *bytes, size_t *size)
{
    if (!r->aux.pads || r->aux.refused)
        return;
    r->aux.tail = zeros_at_end(bytes, *size);
    *size -= r->aux.tail;
}

/* The stream ended before the piece did. */
static void cut_stream_piece(struct spe_perf_reader *r, uint64_t missing)
{
    struct pd_queue *q = &r->queues[r->aux.queue];

    r->aux.pads = false;
    r->aux.left -= missing;
    r->account.missing_bytes += missing;
    r->info.truncated = true;
    if (!r->aux.refused) {
        q->last.size -= missing;
        q->last.flags |= SPE_PERF_PIECE_TRUNCATED;
        q->queue.bytes -= missing;
    }
    pd_problem(r, SPE_ERR_TRUNCATED, r->aux.offset, "the input ends inside an AUXTRACE record");
}

/* Up to the whole piece from memory, up to a window else: a multiple of 8, so that the zeros at the
 * end are never in two chunks. */
static size_t chunk_size(const struct spe_perf_reader *r)
{
    uint64_t left = r->aux.left;

    return r->input.kind == PD_MEMORY || left <= PD_WINDOW ? (size_t)left : PD_WINDOW;
}

static int next_chunk(struct spe_perf_reader *r, const uint8_t **bytes, size_t *size)
{
    struct pd_aux *aux = &r->aux;
    size_t want = chunk_size(r);
    int64_t n = pd_input_at(&r->input, aux->offset, want, bytes);

    if (n < 0)
        return (int)n;
    if ((size_t)n < want)
        cut_stream_piece(r, aux->left - (uint64_t)n);
    *size = (size_t)n;
    aux->offset += (uint64_t)n;
    aux->left -= (uint64_t)n;
    if (!aux->left && r->input.kind == PD_STREAM)
        end_of_stream_piece(r, *bytes, size);
    aux->given += *size;
    return *size > 0;
}

int spe_perf_reader_aux(struct spe_perf_reader *reader, const uint8_t **bytes, size_t *size)
{
    static const uint8_t zeros[8];
    struct pd_aux *aux = &reader->aux;
    int result;

    if (reader->failed)
        return reader->failed;
    if (!aux->active || aux->refused)
        return 0;
    if (aux->zeros) {
        *bytes = zeros;
        *size = aux->zeros;
        aux->zeros = 0;
        return 1;
    }
    if (!aux->left)
        return 0;
    result = next_chunk(reader, bytes, size);
    return result < 0 ? pd_reader_fail(reader, result, aux->offset) : result;
}

/* Step over what was not asked for, and account for all of the piece. */
int pd_aux_finish(struct spe_perf_reader *r)
{
    struct pd_aux *aux = &r->aux;
    const uint8_t *bytes;
    uint64_t start = r->position;
    size_t size;

    if (!aux->active)
        return SPE_OK;
    while (aux->left && r->input.kind == PD_STREAM) {
        int result = next_chunk(r, &bytes, &size);

        if (result < 0)
            return result;
    }
    aux->given += aux->left;
    r->position += aux->given + aux->tail;
    r->account.data_bytes += aux->given + aux->tail;
    if (aux->refused) {
        if (aux->given)
            pd_skip(r, start, aux->given, SPE_PERF_SKIP_QUEUES);
    } else {
        r->account.aux_bytes += aux->given + aux->tail;
        if (aux->given + aux->tail)
            r->queues[aux->queue].queue.held = aux->tail;
    }
    aux->active = false;
    return SPE_OK;
}
