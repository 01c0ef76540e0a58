/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * COMPRESSED records: pieces of one zstd stream, whose output is records again. A record may begin
 * in one piece and end in the next. Whoever made the file flushed zstd at the end of each piece, so
 * everything that went in comes out before the next one.
 *
 * After a piece that does not decompress nothing can be said about those behind it, since they
 * refer back; and if what comes out is not a record, the place where the next one begins is lost.
 * In both cases all further pieces are skipped.
 */
#include "perfdata_internal.h"

#ifndef SPE_NO_ZSTD
#include <zstd.h>

enum {
    OUTPUT = 64 * 1024 + 128 * 1024, /* a record that is not complete, and a zstd block */
    WINDOW_LOG = 27,                 /* what level 22, perf's highest, needs: 128 MB */
    PIECE_LIMIT = 64 << 20,          /* of output from 64 KB of input, unless the file says more */
    PIECE_LIMIT_MAX = 1 << 30,
    TIMES_LIMIT = 1000, /* of output from all input so far: records are not that much alike */
};

struct pd_unpack {
    ZSTD_DCtx *zstd;
    ZSTD_inBuffer in;
    uint8_t *out;
    size_t at, fill; /* in out */
    uint64_t offset; /* of the compressed record */
    uint16_t record_size;
    uint64_t produced, limit; /* of this piece */
    uint64_t taken;           /* bytes of all pieces so far */
    bool active, broken;
    enum spe_perf_skip why; /* broken */
};

static struct pd_unpack *unpack_new(void)
{
    struct pd_unpack *u = calloc(1, sizeof(*u));

    if (!u)
        return NULL;
    u->out = malloc(OUTPUT);
    u->zstd = ZSTD_createDCtx();
    if (!u->out || !u->zstd) {
        free(u->out);
        ZSTD_freeDCtx(u->zstd);
        free(u);
        return NULL;
    }
    ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG);
    return u;
}

static uint64_t piece_limit(const struct spe_perf_reader *r)
{
    uint64_t said = r->features.compressed.mmap_size;

    if (said > PIECE_LIMIT_MAX)
        return PIECE_LIMIT_MAX;
    return said > PIECE_LIMIT ? said : PIECE_LIMIT;
}

/* The record counts as skipped, not as read. */
static void skip_record(struct spe_perf_reader *r, uint64_t offset, uint16_t size,
                        enum spe_perf_skip why)
{
    r->account.record_bytes -= size;
    pd_skip(r, offset, size, why);
}

int pd_unpack_start(struct spe_perf_reader *r, const uint8_t *bytes, size_t size, uint64_t offset,
                    uint16_t record_size)
{
    struct pd_unpack *u = r->unpack;

    if (!u) {
        u = r->unpack = unpack_new();
        if (!u)
            return SPE_ERR_NOMEM;
    }
    if (u->broken) {
        skip_record(r, offset, record_size, u->why);
        return SPE_OK;
    }
    u->in = (ZSTD_inBuffer){bytes, size, 0};
    u->offset = offset;
    u->record_size = record_size;
    u->produced = 0;
    u->limit = piece_limit(r);
    u->taken += size;
    u->active = true;
    return SPE_OK;
}

static void give_up(struct spe_perf_reader *r, enum spe_perf_skip why, const char *text)
{
    struct pd_unpack *u = r->unpack;

    pd_problem(r, SPE_ERR_FORMAT, u->offset, "%s", text);
    skip_record(r, u->offset, u->record_size, why);
    r->account.unpacked_skipped_bytes += u->fill - u->at;
    u->at = u->fill = 0;
    u->active = false;
    u->broken = true;
    u->why = why;
}

/* One piece may be full of zeros; but not all of them. */
static bool unpacks_too_much(const struct spe_perf_reader *r)
{
    uint64_t all = r->account.unpacked_bytes;

    return all > PIECE_LIMIT && all / TIMES_LIMIT > r->unpack->taken;
}

/* Make more output. False: nothing more comes out of this piece. */
static bool produce(struct spe_perf_reader *r)
{
    struct pd_unpack *u = r->unpack;
    ZSTD_outBuffer out;
    size_t result;

    memmove(u->out, u->out + u->at, u->fill - u->at);
    u->fill -= u->at;
    u->at = 0;
    out = (ZSTD_outBuffer){u->out, OUTPUT, u->fill};
    result = ZSTD_decompressStream(u->zstd, &out, &u->in);
    r->account.unpacked_bytes += out.pos - u->fill;
    u->produced += out.pos - u->fill;
    if (ZSTD_isError(result)) {
        u->fill = out.pos;
        give_up(r, SPE_PERF_SKIP_DECOMPRESS, ZSTD_getErrorName(result));
        return false;
    }
    if (out.pos == u->fill && u->in.pos == u->in.size) {
        u->active = false; /* the rest of a record waits for the next piece */
        return false;
    }
    u->fill = out.pos;
    if (u->produced > u->limit) {
        give_up(r, SPE_PERF_SKIP_DECOMPRESS, "a compressed record unpacks to more than it may");
        return false;
    }
    if (unpacks_too_much(r)) {
        give_up(r, SPE_PERF_SKIP_DECOMPRESS,
                "compressed records unpack to more than a thousand times their size");
        return false;
    }
    return true;
}

/* AUX bytes are never compressed, and nothing is twice. */
static bool may_be_inside(uint32_t type)
{
    return type != SPE_PERF_AUXTRACE && type != SPE_PERF_COMPRESSED &&
           type != SPE_PERF_COMPRESSED2 && type != SPE_PERF_TRACING_DATA;
}

int pd_unpack_next(struct spe_perf_reader *r, struct spe_perf_record *record)
{
    struct pd_unpack *u = r->unpack;

    while (u && u->active) {
        const uint8_t *p = u->out + u->at;
        size_t left = u->fill - u->at;
        size_t size = left >= 8 ? load16(p + 6) : 0;

        if (left >= 8 && (size < 8 || !may_be_inside(load32(p)))) {
            give_up(r, SPE_PERF_SKIP_DECOMPRESSED, "a compressed record does not hold records");
            break;
        }
        if (left >= 8 && size <= left) {
            u->at += size;
            r->account.unpacked_record_bytes += size;
            record->bytes = p;
            record->size = size;
            record->offset = u->offset;
            return 1;
        }
        if (!produce(r))
            break;
    }
    return 0;
}

void pd_unpack_end(struct spe_perf_reader *r)
{
    struct pd_unpack *u = r->unpack;

    if (!u || u->at == u->fill)
        return;
    pd_problem(r, SPE_ERR_TRUNCATED, u->offset, "the compressed data ends inside a record");
    r->account.unpacked_skipped_bytes += u->fill - u->at;
    u->at = u->fill = 0;
}

void pd_unpack_free(struct spe_perf_reader *r)
{
    if (!r->unpack)
        return;
    ZSTD_freeDCtx(r->unpack->zstd);
    free(r->unpack->out);
    free(r->unpack);
}

#else

int pd_unpack_start(struct spe_perf_reader *r, const uint8_t *bytes, size_t size, uint64_t offset,
                    uint16_t record_size)
{
    (void)bytes;
    (void)size;
    pd_problem(r, SPE_ERR_FORMAT, offset, "this Specimen was built without zstd");
    r->account.record_bytes -= record_size;
    pd_skip(r, offset, record_size, SPE_PERF_SKIP_DECOMPRESS);
    return SPE_OK;
}

int pd_unpack_next(struct spe_perf_reader *r, struct spe_perf_record *record)
{
    (void)r;
    (void)record;
    return 0;
}

void pd_unpack_end(struct spe_perf_reader *r)
{
    (void)r;
}

void pd_unpack_free(struct spe_perf_reader *r)
{
    (void)r;
}

#endif
