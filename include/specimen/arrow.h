/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The sample table as a stream of the Arrow C data interface, which pyarrow, Polars, DuckDB, pandas
 * and others read without a copy. docs/columns.md lists the columns.
 *
 *     struct spe_arrow_options options = SPE_ARROW_OPTIONS;
 *     options.columns = "time_ns,pc,symbol,total";
 *     spe_arrow_prepare(&options, &profile_options, &error);
 *     spe_profile_open(&profile, "perf.data", &profile_options, &error);
 *     spe_arrow_stream(profile, &options, &stream, &error);
 *     ...
 *     stream.release(&stream);
 */
#ifndef SPECIMEN_ARROW_H
#define SPECIMEN_ARROW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "error.h"
#include "profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* These are Arrow's own structs; the macros keep other headers from defining them again. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *schema);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *array);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *schema);
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *array);
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream);
    void *private_data;
};
#endif

/* The form of columns of names. */
enum spe_arrow_names {
    SPE_ARROW_DICTIONARY, /* int32 indexes of a dictionary of utf8 */
    SPE_ARROW_VIEW,       /* utf8_view: for consumers that would look up each index again, such as
                             Polars */
};

struct spe_arrow_options {
    size_t size;         /* sizeof(struct spe_arrow_options) */
    const char *columns; /* comma-separated names; NULL: all except the names of data */
    size_t batch_rows;   /* maximum rows of a batch, up to 1048576; 0: 16384 */
    bool keep_profile;   /* the caller keeps the profile, which must outlive the stream; else the
                            stream closes it on release */
    size_t names;        /* enum spe_arrow_names */
};

/* The defaults. */
static inline void spe_arrow_options_init(struct spe_arrow_options *it)
{
    memset(it, 0, sizeof(*it));
    it->size = sizeof(*it);
}

/* The same defaults as an initializer. */
#ifdef __cplusplus
static inline struct spe_arrow_options spe_arrow_options_usual(void)
{
    struct spe_arrow_options options = {};

    options.size = sizeof(options);
    return options;
}
#define SPE_ARROW_OPTIONS spe_arrow_options_usual()
#else
#define SPE_ARROW_OPTIONS                                                                          \
    {                                                                                              \
        .size = sizeof(struct spe_arrow_options)                                                   \
    }
#endif

/* Set `want` and `omit` of the options for a profile with these columns. SPE_OK, or SPE_ERR_INVALID
 * with a sentence in *error (which may be NULL) if a column does not exist. */
SPE_API int spe_arrow_prepare(const struct spe_arrow_options *options,
                              struct spe_profile_options *profile, struct spe_profile_error *error);

/*
 * A stream of the profile's rows in the profile's order, as structs of the columns. Missing values
 * are null. A dictionary of names grows from batch to batch; the views of a batch point into one
 * buffer of names.
 * Facts about the recording are in the schema's metadata.
 *
 * SPE_OK, or an error with a sentence in *error (which may be NULL); the caller then keeps the
 * profile. One thread at a time may use the stream; any thread may use its arrays and schemas.
 */
SPE_API int spe_arrow_stream(struct spe_profile *profile, const struct spe_arrow_options *options,
                             struct ArrowArrayStream *stream, struct spe_profile_error *error);

/* The available columns, for help texts; false past the last. */
struct spe_arrow_column {
    char name[40];
    const char *format; /* Arrow's: "L"; "i" with a dictionary of "u" for names; "b" for events */
    const char *sentence;
};

SPE_API bool spe_arrow_column_sized(size_t i, struct spe_arrow_column *column, size_t size);

static inline bool spe_arrow_column(size_t i, struct spe_arrow_column *column)
{
    return spe_arrow_column_sized(i, column, sizeof(*column));
}

#ifdef __cplusplus
}
#endif
#endif
