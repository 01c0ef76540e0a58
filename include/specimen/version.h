/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The release, and the rules of compatibility between releases.
 *
 * A release with another SPE_SONAME may change anything. Releases with the same SPE_SONAME only add
 * functions, values at the end of an enum, and members at the end of a struct. The rules for
 * callers are:
 *
 * - Fill a struct that has a `size` with its init function. The function is inline and writes the
 *   size that the caller knows. The library reads that many bytes; members that the caller does not
 *   know have their defaults. A caller that is newer than the library gets SPE_ERR_INVALID if it
 *   sets a member that the library does not know: a byte that is not zero.
 * - Functions that fill a struct of the caller, or a list of structs, are inline as well. They pass
 *   the size to the library (spe_..._sized) and get the members that fit. Other languages call the
 *   _sized functions. If the sizes differ, a list needs temporary memory; without it, the
 *   list is empty.
 * - Structs that the library owns and returns by pointer may be longer than the caller knows. In
 *   a list of them, use spe_..._at(list, i) and not list[i].
 * - All other structs never change: packets, records, accesses, edges, and structs inside others,
 *   unless they are the last member. The same holds for enums with an array for their values.
 *
 * Names show lifetimes: _create and _destroy; _open and _close for files; _init for memory of the
 * caller, which needs no release.
 *
 * The reason of an error is one sentence without a full stop that begins with a small letter: in
 * `why` (which may be NULL or too short), or, for files, in the text of an error struct, which also
 * has the offset.
 */
#ifndef SPECIMEN_VERSION_H
#define SPECIMEN_VERSION_H

#if defined(__GNUC__)
#define SPE_API __attribute__((visibility("default")))
#else
#define SPE_API
#endif

#define SPE_VERSION_MAJOR 0
#define SPE_VERSION_MINOR 1
#define SPE_VERSION_PATCH 0
#define SPE_VERSION_NUMBER                                                                         \
    (SPE_VERSION_MAJOR * 1000000 + SPE_VERSION_MINOR * 1000 + SPE_VERSION_PATCH)
#define SPE_VERSION "0.1.0"

/* Of the shared libraries. Until 1.0 it changes with every minor version. */
#define SPE_SONAME "0.1"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the loaded library, which may differ from the one that the caller was built with.
 */
SPE_API int spe_version_number(void);
SPE_API const char *spe_version(void); /* "0.1.0" */

#ifdef __cplusplus
}
#endif
#endif
