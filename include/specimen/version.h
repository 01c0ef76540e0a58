/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Which release this is, and what stays the same from one to the next.
 *
 * A release whose SPE_SONAME is another one may change anything. Those with the same one only add:
 * functions, values at the end of an enum, members at the end of a struct. What callers have to do
 * for it is little:
 *
 * - A struct with a `size` is made ready by its init function, which is inline and writes the size
 *   that the caller knows. The library takes as much of it as there is; members that the caller
 *   does not know have their defaults. A caller that is newer than the library gets SPE_ERR_INVALID
 *   if it asks for something that the library does not know, which is a byte that is not zero.
 * - Functions that fill a struct of the caller's, or a list of them, are inline, too: they tell the
 *   library the size (spe_..._sized), and get what fits. Other languages call these by themselves.
 *   If the sizes differ, a list needs memory for a moment; without it the list is empty.
 * - Structs that the library owns and hands out by pointer may be longer than the caller knows. In
 *   a list of them, spe_..._at(list, i) is the next element, list[i] may not be.
 * - All other structs are finished: packets, records, accesses, edges, and structs inside others,
 *   unless they are the last member. So are enums that have an array for their values.
 *
 * Names say how long something lives: _create and _destroy; _open and _close for what reads or
 * writes a file; _init for memory of the caller's, which nobody has to give back.
 *
 * Who asks why gets one sentence: in `why` (which may be NULL or too short), or, of files, in the
 * text of an error that also has the place.
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

/* Of the shared libraries. Until 1.0 every minor version has its own. */
#define SPE_SONAME "0.1"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the library that runs, which may not be the one that the caller was built with. */
SPE_API int spe_version_number(void);
SPE_API const char *spe_version(void); /* "0.1.0" */

#ifdef __cplusplus
}
#endif
#endif
