/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The Arrow C stream: its values are those of the rows, absent ones are null, batches are as large
 * as was asked for, and everything may be released in any order.
 */
#include <specimen/arrow.h>

#include "support/profile_recording.h"

#define SAMPLES 150
#define LONG_PATH "/usr/bin/a-program" /* does not fit into a view */

static const uint8_t build_id[] = {0xab, 0x01, 0xcd};

/* Two threads of two names, one of which has a map; every third sample has no time of its own, and
 * none has a data address.
 */
static void make(struct recording *r)
{
    recording_open(r, 0, 1, NEOVERSE_N1, NULL);
    recording_comm(r, 0, 7, 7, "first", true);
    recording_comm(r, 0, 8, 8,
                   "sec\xff"
                   "ond-one",
                   true);
    recording_map(r, 0, 7, 0x400000, 0x10000, 0, LONG_PATH, build_id, sizeof(build_id));
    for (unsigned i = 0; i < SAMPLES; i++)
        recording_sample(r, 0, 100 + i, 0x400000 + 4 * i, 0,
                         i % 3 == 2 ? NO_CONTEXT : 7 + (int)i % 2);
    recording_flush(r, 0, 0, ANY, 0);
    recording_finish(r);
}

/* Names are views, or in dictionaries. */
static void open_names(struct recording *r, bool views, const char *columns, size_t rows,
                       struct ArrowArrayStream *stream)
{
    struct spe_arrow_options options = SPE_ARROW_OPTIONS;
    struct spe_profile_options profile_options = quiet_options(1);
    struct spe_profile *profile;

    make(r);
    options.columns = columns;
    options.batch_rows = rows;
    options.names = views ? SPE_ARROW_VIEW : SPE_ARROW_DICTIONARY;
    profile_options.order = SPE_ORDER_TIME;
    assert_int_equal(spe_arrow_prepare(&options, &profile_options, NULL), SPE_OK);
    profile = recording_profile(r, &profile_options);
    assert_int_equal(spe_arrow_stream(profile, &options, stream, NULL), SPE_OK);
}

static void open_stream(struct recording *r, const char *columns, size_t rows,
                        struct ArrowArrayStream *stream)
{
    open_names(r, false, columns, rows, stream);
}

static struct ArrowArray next(struct ArrowArrayStream *stream)
{
    struct ArrowArray array;

    assert_int_equal(stream->get_next(stream, &array), 0);
    return array;
}

static bool bit(const void *bitmap, size_t i)
{
    return ((const uint8_t *)bitmap)[i / 8] >> i % 8 & 1;
}

static bool there(const struct ArrowArray *a, size_t i)
{
    return !a->buffers[0] || bit(a->buffers[0], i);
}

/* Text i of a dictionary-encoded column. */
static void text(const struct ArrowArray *a, size_t i, char *to, size_t size)
{
    int32_t index = ((const int32_t *)a->buffers[1])[i];
    const int32_t *offsets = a->dictionary->buffers[1];

    assert_true(index >= 0 && index < a->dictionary->length);
    assert_true((size_t)(offsets[index + 1] - offsets[index]) < size);
    memcpy(to, (const char *)a->dictionary->buffers[2] + offsets[index],
           (size_t)(offsets[index + 1] - offsets[index]));
    to[offsets[index + 1] - offsets[index]] = '\0';
}

/* Text i of a column of views. */
static void viewed(const struct ArrowArray *a, size_t i, char *to, size_t size)
{
    const char *view = (const char *)a->buffers[1] + 16 * i;
    const char *from = view + 4;
    int32_t length, buffer, offset;

    assert_int_equal(a->n_buffers, 4);
    memcpy(&length, view, sizeof(length));
    memcpy(&buffer, view + 8, sizeof(buffer));
    memcpy(&offset, view + 12, sizeof(offset));
    assert_true(length >= 0 && (size_t)length < size);
    if (length > 12) {
        assert_int_equal(buffer, 0);
        assert_true(offset >= 0 && offset + length <= *(const int64_t *)a->buffers[3]);
        from = (const char *)a->buffers[2] + offset;
        assert_memory_equal(view + 4, from, 4);
    }
    memcpy(to, from, (size_t)length);
    to[length] = '\0';
}

static void values(void **state)
{
    struct ArrowArrayStream stream;
    struct recording r;
    size_t row = 0;

    (void)state;
    open_stream(&r, "pc,va,comm,total,event_retired,event_mispredicted,symbol,dso_pc", 64, &stream);
    for (;;) {
        struct ArrowArray batch = next(&stream);
        char name[32];

        if (!batch.release)
            break;
        assert_int_equal(batch.n_children, 8);
        assert_int_equal(batch.length, row < 128 ? 64 : SAMPLES - 128);
        for (size_t i = 0; i < (size_t)batch.length; i++, row++) {
            const struct ArrowArray *comm = batch.children[2];

            assert_int_equal(((const uint64_t *)batch.children[0]->buffers[1])[i],
                             0x400000 + 4 * row);
            assert_false(there(batch.children[1], i));
            assert_int_equal(there(comm, i), row % 3 != 2);
            if (there(comm, i)) {
                text(comm, i, name, sizeof(name));
                assert_string_equal(name, row % 2 ? "sec\\xffond-one" : "first");
            }
            assert_int_equal(((const uint16_t *)batch.children[3]->buffers[1])[i], 30);
            assert_true(bit(batch.children[4]->buffers[1], i));
            assert_false(bit(batch.children[5]->buffers[1], i));
            assert_false(there(batch.children[6], i));
        }
        assert_int_equal(batch.children[1]->null_count, batch.length);
        assert_int_equal(batch.children[0]->null_count, 0);
        batch.release(&batch);
        assert_null(batch.release);
    }
    assert_int_equal(row, SAMPLES);
    stream.release(&stream);
    assert_null(stream.release);
    recording_free(&r);
}

/* What is known of the file that a sample's code is in; null where no map is. */
static void build_ids(void **state)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    struct recording r;
    char name[32];

    (void)state;
    open_stream(&r, "build_id,dso,pid", 0, &stream);
    batch = next(&stream);
    for (size_t i = 0; i < SAMPLES; i++) {
        bool known = there(batch.children[2], i) &&
                     ((const uint32_t *)batch.children[2]->buffers[1])[i] == 7;

        assert_int_equal(there(batch.children[0], i), known);
        assert_int_equal(there(batch.children[1], i), known);
        if (known) {
            text(batch.children[0], i, name, sizeof(name));
            assert_string_equal(name, "ab01cd");
        }
    }
    assert_int_equal(batch.children[0]->null_count, SAMPLES - SAMPLES / 3);
    batch.release(&batch);
    stream.release(&stream);
    recording_free(&r);
}

/* Names as views: short ones in the view itself, long ones behind it, the second name, too; nothing
 * where there is none. */
static void views(void **state)
{
    static const char nothing[16];
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct recording r;
    size_t row = 0;

    (void)state;
    open_names(&r, true, "comm,dso,op,symbol", 64, &stream);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(schema.children[i]->format, "vu");
        assert_null(schema.children[i]->dictionary);
    }
    schema.release(&schema);
    for (;;) {
        struct ArrowArray batch = next(&stream);
        char name[64];

        if (!batch.release)
            break;
        for (size_t i = 0; i < (size_t)batch.length; i++, row++) {
            const struct ArrowArray *comm = batch.children[0], *dso = batch.children[1];

            assert_int_equal(there(comm, i), row % 3 != 2);
            viewed(comm, i, name, sizeof(name));
            assert_string_equal(name, row % 3 == 2 ? "" : row % 2 ? "sec\\xffond-one" : "first");
            assert_int_equal(there(dso, i), row % 3 != 2 && row % 2 == 0);
            viewed(dso, i, name, sizeof(name));
            assert_string_equal(name, there(dso, i) ? LONG_PATH : "");
            viewed(batch.children[2], i, name, sizeof(name));
            assert_string_equal(name, "load");
            assert_false(there(batch.children[3], i));
            assert_memory_equal((const char *)batch.children[3]->buffers[1] + 16 * i, nothing, 16);
        }
        batch.release(&batch);
    }
    assert_int_equal(row, SAMPLES);
    stream.release(&stream);
    recording_free(&r);
}

static void schema(void **state)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema, moved;
    struct recording r;

    (void)state;
    open_stream(&r, "time_ns,cpu,pc,el,total,comm,event_l1d_miss,offset", 0, &stream);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    stream.release(&stream); /* a schema lives on */
    assert_string_equal(schema.format, "+s");
    assert_int_equal(schema.n_children, 8);
    for (unsigned i = 0; i < 8; i++) {
        static const char *const formats[] = {"l", "I", "L", "C", "S", "i", "b", "L"};

        assert_string_equal(schema.children[i]->format, formats[i]);
        assert_int_equal(!!(schema.children[i]->flags & ARROW_FLAG_NULLABLE), i != 7);
    }
    assert_string_equal(schema.children[5]->dictionary->format, "u");
    assert_string_equal(schema.children[6]->name, "event_l1d_miss");
    moved = *schema.children[5];
    schema.children[5]->release = NULL;
    schema.release(&schema);
    assert_string_equal(moved.name, "comm");
    moved.release(&moved);
    recording_free(&r);
}

/* What a consumer can hold at once: a stream, a schema, two batches, and a column and a dictionary
 * that were moved out of them. */
struct held {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray first, second, child, dictionary;
};

#define HELD 6

static void hold(struct recording *r, struct held *h)
{
    open_stream(r, "comm,pc", 100, &h->stream);
    assert_int_equal(h->stream.get_schema(&h->stream, &h->schema), 0);
    h->first = next(&h->stream);
    h->second = next(&h->stream);
    h->child = *h->first.children[0];
    h->first.children[0]->release = NULL;
    h->dictionary = *h->second.children[0]->dictionary;
    h->second.children[0]->dictionary->release = NULL;
}

/* Look at one of them, which is as it was, and let it go. */
static void let_go(struct held *h, unsigned which)
{
    char name[32];

    switch (which) {
    case 0:
        h->stream.release(&h->stream);
        assert_null(h->stream.release);
        break;
    case 1:
        assert_string_equal(h->schema.children[0]->name, "comm");
        assert_string_equal(h->schema.children[1]->format, "L");
        h->schema.release(&h->schema);
        assert_null(h->schema.release);
        break;
    case 2:
        assert_int_equal(((const uint64_t *)h->first.children[1]->buffers[1])[99],
                         0x400000 + 4 * 99);
        h->first.release(&h->first);
        assert_null(h->first.release);
        break;
    case 3:
        assert_int_equal(((const uint64_t *)h->second.children[1]->buffers[1])[0],
                         0x400000 + 4 * 100);
        h->second.release(&h->second);
        assert_null(h->second.release);
        break;
    case 4:
        text(&h->child, 1, name, sizeof(name));
        assert_string_equal(name, "sec\\xffond-one");
        h->child.release(&h->child);
        assert_null(h->child.release);
        break;
    default:
        assert_int_equal(h->dictionary.length, 2);
        assert_memory_equal(h->dictionary.buffers[2], "first", 5);
        h->dictionary.release(&h->dictionary);
        assert_null(h->dictionary.release);
        break;
    }
}

static void release_in_every_order(void **state)
{
    (void)state;
    for (unsigned order = 0; order < 720; order++) {
        unsigned left[HELD] = {0, 1, 2, 3, 4, 5}, rest = order;
        struct recording r;
        struct held held;

        hold(&r, &held);
        for (unsigned count = HELD; count; count--) {
            unsigned at = rest % count, which = left[at];

            rest /= count;
            memmove(left + at, left + at + 1, (count - at - 1) * sizeof(left[0]));
            let_go(&held, which);
        }
        recording_free(&r);
    }
}

/* A column of views that was moved out of its batch keeps its names, whatever goes first. */
static void release_views_in_every_order(void **state)
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    (void)state;
    for (unsigned order = 0; order < 6; order++) {
        struct ArrowArrayStream stream;
        struct ArrowArray batch, dso;
        struct recording r;
        char name[64];

        open_names(&r, true, "dso,comm", 100, &stream);
        batch = next(&stream);
        dso = *batch.children[0];
        batch.children[0]->release = NULL;
        for (unsigned i = 0; i < 3; i++) {
            switch (orders[order][i]) {
            case 0:
                stream.release(&stream);
                break;
            case 1:
                viewed(batch.children[1], 1, name, sizeof(name));
                assert_string_equal(name, "sec\\xffond-one");
                batch.release(&batch);
                break;
            default:
                viewed(&dso, 0, name, sizeof(name));
                assert_string_equal(name, LONG_PATH);
                dso.release(&dso);
                break;
            }
        }
        recording_free(&r);
    }
}

static void refused(void **state)
{
    struct spe_arrow_options options = SPE_ARROW_OPTIONS;
    struct spe_profile_options profile_options = quiet_options(1);
    struct ArrowArrayStream stream;
    struct spe_profile_error error;
    struct spe_profile *profile;
    struct recording r;

    (void)state;
    options.columns = "pc,nothing";
    assert_int_equal(spe_arrow_prepare(&options, &profile_options, &error), SPE_ERR_INVALID);
    assert_non_null(strstr(error.text, "'nothing' is not a column; there are time_ns, cpu"));
    options.columns = "pc,,va";
    assert_int_equal(spe_arrow_prepare(&options, &profile_options, &error), SPE_ERR_INVALID);
    options.columns = "pc,va,pc";
    assert_int_equal(spe_arrow_prepare(&options, &profile_options, &error), SPE_ERR_INVALID);
    assert_non_null(strstr(error.text, "'pc' is named twice"));
    make(&r);
    profile = recording_profile(&r, &profile_options);
    options.columns = "pc";
    options.names = SPE_ARROW_VIEW + 1;
    assert_int_equal(spe_arrow_stream(profile, &options, &stream, &error), SPE_ERR_INVALID);
    assert_string_equal(error.text, "an option is out of its range");
    spe_profile_close(profile);
    recording_free(&r);
}

/* All columns, one at a time, with names of both kinds: none needs another. */
static void each_column(void **state)
{
    struct spe_arrow_column column;

    (void)state;
    for (size_t i = 0; spe_arrow_column(i, &column); i++) {
        struct ArrowArrayStream stream;
        struct ArrowArray batch;
        struct recording r;

        for (unsigned views = 0; views < 2; views++) {
            open_names(&r, views, column.name, 0, &stream);
            batch = next(&stream);
            assert_int_equal(batch.length, SAMPLES);
            assert_int_equal(batch.n_children, 1);
            batch.release(&batch);
            stream.release(&stream);
            recording_free(&r);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),    cmocka_unit_test(schema),
        cmocka_unit_test(refused),   cmocka_unit_test(each_column),
        cmocka_unit_test(build_ids), cmocka_unit_test(release_in_every_order),
        cmocka_unit_test(views),     cmocka_unit_test(release_views_in_every_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
