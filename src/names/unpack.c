/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Packed modules of the kernel (.ko.gz, .ko.xz, .ko.zst). They say how large the file is: that much
 * memory is there for it, and not a byte more. A file that is larger is not unpacked.
 */
#include "names/unpack.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "names/budget.h"

#ifndef SPE_NO_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#ifndef SPE_NO_LZMA
#include <lzma.h>
#endif
#ifndef SPE_NO_ZSTD
#include <zstd.h>
#endif

/* What the decoder of xz may take for itself: the window of xz -9 has 64 MB. */
#define LZMA_MEMORY (UINT64_C(80) << 20)

enum packing packing_of(const uint8_t start[6])
{
    if (!memcmp(start, "\x1f\x8b", 2))
        return PACKED_GZIP;
    if (!memcmp(start, "\xfd\x37zXZ", 6))
        return PACKED_XZ;
    return !memcmp(start, "\x28\xb5\x2f\xfd", 4) ? PACKED_ZSTD : PACKED_NOT;
}

/* ---- gzip ----------------------------------------------------------------------------------- */

#ifndef SPE_NO_ZLIB
static uint64_t gzip_size(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = bytes + size;

    return size < 18 ? 0 : end[-4] | end[-3] << 8 | end[-2] << 16 | (uint32_t)end[-1] << 24;
}

static size_t gzip_unpack(const uint8_t *bytes, size_t size, uint8_t *to, size_t to_size)
{
    z_stream z = {
        .next_in = bytes, .avail_in = (uInt)size, .next_out = to, .avail_out = (uInt)to_size};
    bool good;

    if (size > UINT_MAX || to_size > UINT_MAX || inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return 0;
    good = inflate(&z, Z_FINISH) == Z_STREAM_END;
    inflateEnd(&z);
    return good ? to_size - z.avail_out : 0;
}
#endif

/* ---- xz ------------------------------------------------------------------------------------- */

#ifndef SPE_NO_LZMA
static uint64_t xz_size(const uint8_t *bytes, size_t size)
{
    uint64_t memory = LZMA_MEMORY, unpacked = 0;
    size_t at;
    lzma_stream_flags footer;
    lzma_index *index = NULL;

    if (size < 2 * LZMA_STREAM_HEADER_SIZE ||
        lzma_stream_footer_decode(&footer, bytes + size - LZMA_STREAM_HEADER_SIZE) != LZMA_OK ||
        footer.backward_size > size - 2 * LZMA_STREAM_HEADER_SIZE)
        return 0;
    at = size - LZMA_STREAM_HEADER_SIZE - (size_t)footer.backward_size;
    if (lzma_index_buffer_decode(&index, &memory, NULL, bytes, &at,
                                 size - LZMA_STREAM_HEADER_SIZE) == LZMA_OK)
        unpacked = lzma_index_uncompressed_size(index);
    lzma_index_end(index, NULL);
    return unpacked;
}

static size_t xz_unpack(const uint8_t *bytes, size_t size, uint8_t *to, size_t to_size)
{
    uint64_t memory = LZMA_MEMORY;
    size_t in = 0, out = 0;

    return lzma_stream_buffer_decode(&memory, 0, NULL, bytes, &in, size, to, &out, to_size) ==
                   LZMA_OK
               ? out
               : 0;
}
#endif

/* ---- All ------------------------------------------------------------------------------------ */

uint64_t unpacked_size(enum packing packing, const uint8_t *bytes, size_t size)
{
    switch (packing) {
#ifndef SPE_NO_ZLIB
    case PACKED_GZIP:
        return gzip_size(bytes, size);
#endif
#ifndef SPE_NO_LZMA
    case PACKED_XZ:
        return xz_size(bytes, size);
#endif
#ifndef SPE_NO_ZSTD
    case PACKED_ZSTD: {
        uint64_t unpacked = ZSTD_getFrameContentSize(bytes, size);

        if (unpacked == ZSTD_CONTENTSIZE_UNKNOWN) /* it was packed in a pipe */
            return UNPACKED_MAX;
        return unpacked == ZSTD_CONTENTSIZE_ERROR ? 0 : unpacked;
    }
#endif
    default:
        return 0;
    }
}

size_t unpack(enum packing packing, const uint8_t *bytes, size_t size, uint8_t *to, size_t to_size)
{
    switch (packing) {
#ifndef SPE_NO_ZLIB
    case PACKED_GZIP:
        return gzip_unpack(bytes, size, to, to_size);
#endif
#ifndef SPE_NO_LZMA
    case PACKED_XZ:
        return xz_unpack(bytes, size, to, to_size);
#endif
#ifndef SPE_NO_ZSTD
    case PACKED_ZSTD:
        size = ZSTD_decompress(to, to_size, bytes, size);
        return ZSTD_isError(size) ? 0 : size;
#endif
    default:
        return 0;
    }
}
