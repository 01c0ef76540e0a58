/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What the files of this room are to each other:
 *
 *   input.c           bytes at an offset, from memory, a file or a pipe
 *   reader.c          header and sections, the walk over the records, damage
 *   attr.c            events: struct perf_event_attr both ways, IDs
 *   perf_features.c   feature sections -> struct spe_perf_features
 *   records.c         record bytes -> views, sample_id
 *   auxtrace.c        AUXTRACE_INFO, AUX queues and pieces, the index
 *   compressed.c      zstd
 *   timeconv.c        TIME_CONV
 *   encode.c          views and features -> bytes
 *   writer.c          the file that is written, and when
 *   output.c          ... and where to
 */
#ifndef SPECIMEN_PERFDATA_INTERNAL_H
#define SPECIMEN_PERFDATA_INTERNAL_H

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <specimen/perfdata.h>

#include "base/id_table.h"
#include "base/vector.h"
#include "format/bytes.h"
#include "input.h"

#define PD_MAGIC "PERFILE2"
#define PD_SWAPPED "2ELIFREP"

/*
 * What tells a recording that was finished from one whose recorder was killed, or met a full disk.
 * A file has it in its header, where early versions of perf had the offset of a section that perf
 * ignores by now; its size stays 0. A pipe has a mark at its beginning, in the word of
 * AUXTRACE_INFO that is reserved, and ends with a FINISHED_ROUND record. Others have neither mark,
 * and nothing is known of them.
 */
#define PD_MARK_OPEN UINT64_C(0x6e65706f20455053) /* "SPE open" */
#define PD_MARK_DONE UINT64_C(0x656e6f6420455053) /* "SPE done" */
#define PD_MARK_PIPE 0x43455053u                  /* "SPEC" */

enum {
    PD_WINDOW = 256 * 1024, /* a record is at most 64 KB */
    PD_HEADER = 104,
    PD_HEADER_OLD = 72, /* without features */
    PD_HEADER_PIPE = 16,
    PD_ATTR_MIN = 64, /* the first version of struct perf_event_attr */
    PD_ATTR_MAX = 144,
    PD_RECORD_MAX = 65528,
    PD_AUXTRACE_SIZE = 48,
    PD_AUXTRACE_SPE = 4,
    PD_HEADER_MARK = 56,
    PD_PREFIX_MAX = 64 << 20, /* before and behind the data, where it has to be kept */
};

/* ---- Memory --------------------------------------------------------------------------------- */

/* Bytes that grow at the end. After a failure they are of no use, and `failed` says so. */
struct pd_bytes {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed;
};

void pd_put(struct pd_bytes *b, const void *bytes, size_t size);
void pd_put16(struct pd_bytes *b, uint16_t value);
void pd_put32(struct pd_bytes *b, uint32_t value);
void pd_put64(struct pd_bytes *b, uint64_t value);
void pd_put_zeros(struct pd_bytes *b, size_t size);
void pd_bytes_free(struct pd_bytes *b);

/* For qsort; the numbers need not be aligned. */
int pd_compare_u64(const void *a, const void *b);

/* Does [offset, offset + size) lie within [0, limit)? */
static inline bool pd_within(uint64_t offset, uint64_t size, uint64_t limit)
{
    return offset <= limit && size <= limit - offset;
}

/* Fill in *error (may be NULL) and return the code. */
int pd_fail(struct spe_perf_error *error, int code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- Reader --------------------------------------------------------------------------------- */

struct pd_section {
    const uint8_t *bytes;
    size_t size;
    uint8_t *owned; /* the bytes, unless they are in the map */
};

struct pd_id {
    uint64_t id;
    uint32_t event;
};

struct pd_event {
    struct spe_perf_event event;
    uint8_t *attr;
    uint64_t *ids;
    char *name;
};

struct pd_queue {
    struct spe_perf_queue queue;
    struct spe_perf_piece *pieces;
    size_t capacity;
    struct spe_perf_piece last; /* also where no list is kept */
};

/* The AUXTRACE record whose bytes are being handed out. */
struct pd_aux {
    bool active;
    uint64_t offset; /* in the file, of the next byte */
    uint64_t left;   /* to hand out */
    uint64_t given;
    uint8_t zeros; /* of the piece before it that turned out to be no padding */
    uint8_t tail;  /* zeros at the end that may be padding */
    bool pads;     /* may have padding at all */
    bool refused;  /* too many queues */
    uint32_t queue;
};

struct pd_unpack; /* compressed.c */

struct spe_perf_reader {
    struct pd_input input;
    unsigned flags;
    struct spe_perf_info info;
    struct spe_perf_account account;
    struct spe_perf_error problem;
    bool damaged; /* there was a problem, and it was not that the recorder was killed */
    bool marked;  /* a pipe that ends with FINISHED_ROUND, if it is complete */
    uint32_t last_type;
    int failed; /* what every later call returns */
    bool ended;

    uint64_t attached;                            /* bytes behind the last record to step over */
    uint64_t position, end;                       /* in the data section; end may be UINT64_MAX */
    struct pd_section prefix, suffix;             /* of a stream in file form */
    uint64_t wanted[SPE_PERF_FEATURE_COUNT / 64]; /* features, by the header */

    struct pd_event *events;
    size_t event_count, event_capacity;
    struct pd_id *ids; /* sorted */
    size_t id_count, id_capacity;

    struct pd_section feature[SPE_PERF_FEATURE_COUNT];
    struct spe_perf_features features;
    uint64_t *index; /* file offsets of AUXTRACE records, sorted */
    size_t index_count, index_next;

    bool has_metadata, has_time_conv;
    struct spe_perf_metadata metadata;
    struct spe_perf_cpu *cpus;
    struct spe_perf_time_conv time_conv;
    uint64_t cpuid; /* MIDR by the feature */

    struct pd_aux aux;
    struct pd_queue *queues;
    size_t queue_count, queue_capacity;
    struct id_table queue_of; /* by idx */

    struct pd_unpack *unpack;
    struct spe_perf_range *ranges;
    size_t range_count, range_capacity;
};

/* Keep the first problem. */
void pd_problem(struct spe_perf_reader *r, int code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A problem that ends reading; returns the code. */
int pd_reader_fail(struct spe_perf_reader *r, int code, uint64_t offset);

/* Account for a range that was skipped. */
void pd_skip(struct spe_perf_reader *r, uint64_t offset, uint64_t size, enum spe_perf_skip reason);

/* ---- attr.c */

/* Bytes of an attribute by its own size field, or 0 if `room` bytes cannot hold it. */
size_t pd_attr_size(const uint8_t *attr, size_t room);
int pd_events_add(struct spe_perf_reader *r, const uint8_t *attr, size_t attr_size,
                  const uint8_t *ids, size_t id_count, uint64_t offset);
bool pd_event_name(struct spe_perf_reader *r, size_t event, const char *name, size_t size);
void pd_events_free(struct spe_perf_reader *r);
size_t pd_attr_encode(const struct spe_perf_event *event, uint8_t *attr, size_t room);
size_t pd_attr_wanted(const struct spe_perf_event *event);

/* ---- perf_features.c */

int pd_feature_parse(struct spe_perf_reader *r, unsigned feature, uint64_t offset);
void pd_features_free(struct spe_perf_reader *r);

/* One record of a build-id list; false if it is none. The path is in `bytes`. */
bool pd_build_id_view(const uint8_t *bytes, size_t size, struct spe_perf_build_id *b);

/* ---- records.c */

/* Fill in everything but type, offset and decompressed from the bytes. */
void pd_record_view(struct spe_perf_reader *r, struct spe_perf_record *record);

/* ---- auxtrace.c */

void pd_metadata_parse(struct spe_perf_reader *r, const struct spe_perf_record *record);
void pd_index_parse(struct spe_perf_reader *r, const uint8_t *bytes, size_t size, uint64_t offset);
uint64_t pd_index_after(const struct spe_perf_reader *r, uint64_t offset); /* or UINT64_MAX */
int pd_aux_start(struct spe_perf_reader *r, struct spe_perf_record *record);
int pd_aux_finish(struct spe_perf_reader *r);
void pd_queues_free(struct spe_perf_reader *r);

/* ---- compressed.c */

int pd_unpack_start(struct spe_perf_reader *r, const uint8_t *bytes, size_t size, uint64_t offset,
                    uint16_t record_size);
/* The next record that came out: 1, or 0 if more has to go in. */
int pd_unpack_next(struct spe_perf_reader *r, struct spe_perf_record *record);
void pd_unpack_end(struct spe_perf_reader *r); /* the data ends */
void pd_unpack_free(struct spe_perf_reader *r);

/* ---- timeconv.c */

bool pd_time_conv_parse(const uint8_t *record, size_t size, struct spe_perf_time_conv *tc);

/* ---- encode.c */

/* Append a record by its view, sample_id included. SPE_ERR_SIZE if it becomes too large. */
int pd_encode_record(struct pd_bytes *out, const struct spe_perf_record *record,
                     const struct spe_perf_event *event);
void pd_encode_time_conv(struct pd_bytes *out, const struct spe_perf_time_conv *tc);
int pd_encode_metadata(struct pd_bytes *out, const struct spe_perf_metadata *m);
void pd_encode_string(struct pd_bytes *out, const char *text);
void pd_encode_build_id(struct pd_bytes *out, uint32_t type, const struct spe_perf_build_id *b);
/* The payload of a feature by the struct; false if the struct has nothing of it. */
bool pd_encode_feature(struct pd_bytes *out, unsigned feature, const struct spe_perf_features *f);

/* ---- output.c */

struct pd_output_fd {
    int fd;
    bool own, seekable;
    uint64_t position;
};

void pd_output_fd_init(struct pd_output_fd *o, struct spe_perf_output *output, int fd);

#endif
