/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * All unaligned little-endian loads and stores of the library. Both supported hosts are
 * little-endian, so a memcpy is the whole job and compiles to one instruction.
 */
#ifndef SPE_FORMAT_BYTES_H
#define SPE_FORMAT_BYTES_H

#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Specimen supports little-endian hosts only"
#endif

static inline uint16_t load16(const uint8_t *p)
{
    uint16_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline uint32_t load32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline void store16(uint8_t *p, uint16_t v)
{
    memcpy(p, &v, sizeof(v));
}

static inline void store32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, sizeof(v));
}

static inline void store64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof(v));
}

/* A value of 1, 2, 4 or 8 bytes, zero-extended; 0 for any other size. */
static inline uint64_t load_sized(const uint8_t *p, unsigned size)
{
    switch (size) {
    case 1:
        return *p;
    case 2:
        return load16(p);
    case 4:
        return load32(p);
    case 8:
        return load64(p);
    default:
        return 0;
    }
}

/* The mirror: the low bytes of a value; nothing for any other size. */
static inline void store_sized(uint8_t *p, unsigned size, uint64_t value)
{
    switch (size) {
    case 1:
        *p = (uint8_t)value;
        break;
    case 2:
        store16(p, (uint16_t)value);
        break;
    case 4:
        store32(p, (uint32_t)value);
        break;
    case 8:
        store64(p, value);
        break;
    default:
        break;
    }
}

#endif
