/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * specimen._native: what Python cannot say by itself. A recording is a dictionary of keywords here
 * (`struct source` takes it apart); classes, defaults and documentation are in __init__.py.
 */
#include <Python.h>

#include <specimen/analysis.h>
#include <specimen/arrow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PyObject *error_type;

/* ---- a recording ----------------------------------------------------------------------------- */

struct source {
    struct spe_profile_options options;
    const char *path, *name; /* name: for messages */
    Py_buffer data, cpus, pids, tids, queues;
};

static void source_free(struct source *s)
{
    Py_buffer *const buffers[] = {&s->data, &s->cpus, &s->pids, &s->tids, &s->queues};

    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        if (buffers[i]->obj)
            PyBuffer_Release(buffers[i]);
    }
}

static void take_list(const Py_buffer *buffer, const uint32_t **list, size_t *count)
{
    *list = buffer->obj ? buffer->buf : NULL;
    *count = buffer->obj ? (size_t)buffer->len / sizeof(**list) : 0;
}

/* The strings belong to the dictionary's objects. */
static bool source_take(struct source *s, PyObject *keywords)
{
    static char *names[] = {"path", "data", "filter",  "time_from", "time_to", "cpus",
                            "pids", "tids", "symfs",   "debug_dir", "vmlinux", "kallsyms",
                            "cpu",  "raw",  "threads", "queues",    "map",     NULL};
    struct spe_profile_options *o = &s->options;
    unsigned long long from = 0, to = 0;
    PyObject *none = PyTuple_New(0);
    int raw = 0, map = 0, good;

    memset(s, 0, sizeof(*s));
    spe_profile_options_init(o);
    if (!none)
        return false;
    good = PyArg_ParseTupleAndKeywords(none, keywords, "|yy*sKKy*y*y*yyyyspIy*p", names, &s->path,
                                       &s->data, &o->filter, &from, &to, &s->cpus, &s->pids,
                                       &s->tids, &o->symfs, &o->debug_dir, &o->vmlinux,
                                       &o->kallsyms, &o->cpu, &raw, &o->threads, &s->queues, &map);
    Py_DECREF(none);
    if (!good)
        return false;
    s->name = s->path ? s->path : "bytes";
    o->time_from = from;
    o->time_to = to;
    o->raw = raw != 0;
    o->map = map != 0;
    take_list(&s->cpus, &o->cpus, &o->cpu_count);
    take_list(&s->pids, &o->pids, &o->pid_count);
    take_list(&s->tids, &o->tids, &o->tid_count);
    take_list(&s->queues, &o->queues, &o->queue_count);
    return true;
}

/* Text out of a file: bytes that are not UTF-8 become \xNN, as they do in columns. */
static PyObject *text(const char *s)
{
    if (!s)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "backslashreplace");
}

static PyObject *text_or_none(const char *s)
{
    return text(s && *s ? s : NULL);
}

/* Raises specimen.Error with a sentence about `what`. */
static void *fail(const char *what, const char *sentence)
{
    PyObject *name = text(what), *said = text(sentence), *whole;

    whole = name && said ? PyUnicode_FromFormat("%U: %U", name, said) : NULL;
    if (whole)
        PyErr_SetObject(error_type, whole);
    Py_XDECREF(whole);
    Py_XDECREF(said);
    Py_XDECREF(name);
    return NULL;
}

static void *fail_open(const struct source *s, const struct spe_profile_error *error)
{
    char sentence[sizeof(error->text) + 40];

    if (error->filter_position < 0 || !s->options.filter || error->code != SPE_ERR_INVALID)
        return fail(s->name, error->text[0] ? error->text : spe_strerror(error->code));
    snprintf(sentence, sizeof(sentence), "%s (at character %d)", error->text,
             error->filter_position + 1);
    return fail("filter", sentence);
}

/* NULL, with an exception, if that fails. Other threads of Python run meanwhile. `bytes` are those
 * of a recording in memory; they must stay until the profile is closed. */
static struct spe_profile *source_open(const struct source *s, const void *bytes)
{
    struct spe_profile_error error = {.filter_position = -1};
    struct spe_profile *profile = NULL;
    int result;

    Py_BEGIN_ALLOW_THREADS;
    if (s->path)
        result = spe_profile_open(&profile, s->path, &s->options, &error);
    else
        result = spe_profile_open_memory(&profile, bytes, (size_t)s->data.len, &s->options, &error);
    Py_END_ALLOW_THREADS;
    if (result != SPE_OK) {
        error.code = result;
        return fail_open(s, &error);
    }
    return profile;
}

static void close_profile(struct spe_profile *profile)
{
    Py_BEGIN_ALLOW_THREADS;
    spe_profile_close(profile);
    Py_END_ALLOW_THREADS;
}

/* ---- info ------------------------------------------------------------------------------------ */

static PyObject *command_of(const struct spe_profile_info *info)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < info->command_count; i++) {
        PyObject *word = text(info->command[i]);

        if (!word || PyList_Append(list, word) < 0)
            Py_CLEAR(list);
        Py_XDECREF(word);
    }
    return list;
}

static PyObject *cpus_of(const struct spe_profile_info *info)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < info->cpu_count; i++) {
        PyObject *number = PyLong_FromUnsignedLong(info->cpus[i].number);

        if (!number || PyList_Append(list, number) < 0)
            Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list;
}

static PyObject *number_or_none(uint64_t number)
{
    if (!number)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(number);
}

static PyObject *info_of(const struct spe_profile *profile)
{
    const struct spe_profile_info *i = spe_profile_info(profile);

    return Py_BuildValue(
        "{s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:K,s:K,s:K}", "host", text(i->hostname),
        "kernel", text(i->osrelease), "machine", text(i->arch), "cpu",
        text(i->cpu ? i->cpu->name : i->cpudesc), "model",
        text(i->simulated ? i->model_note : NULL), "interval", number_or_none(i->period), "command",
        command_of(i), "cpus", cpus_of(i), "timed", PyBool_FromLong(i->timed), "raw",
        PyBool_FromLong(i->raw), "damage", text(i->damage), "incomplete",
        PyBool_FromLong(i->incomplete || i->unterminated), "bytes", (unsigned long long)i->bytes,
        "spe_bytes", (unsigned long long)i->aux_bytes, "queues",
        (unsigned long long)i->queue_count);
}

static PyObject *native_info(PyObject *self, PyObject *keywords)
{
    struct spe_profile *profile;
    PyObject *info = NULL;
    struct source source;

    (void)self;
    if (source_take(&source, keywords)) {
        profile = source_open(&source, source.data.buf);
        if (profile) {
            info = info_of(profile);
            close_profile(profile);
        }
    }
    source_free(&source);
    return info;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* A stream over bytes of its own: it may outlive the object that they came from, and is released
 * where nobody holds Python's lock. */
struct owner {
    struct ArrowArrayStream inner;
    void *bytes;
};

static int owner_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    struct owner *o = stream->private_data;

    return o->inner.get_schema(&o->inner, schema);
}

static int owner_get_next(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
    struct owner *o = stream->private_data;

    return o->inner.get_next(&o->inner, array);
}

static const char *owner_get_last_error(struct ArrowArrayStream *stream)
{
    struct owner *o = stream->private_data;

    return o->inner.get_last_error(&o->inner);
}

static void owner_release(struct ArrowArrayStream *stream)
{
    struct owner *o = stream->private_data;

    o->inner.release(&o->inner);
    free(o->bytes);
    free(o);
    stream->release = NULL;
}

static void capsule_free(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");

    if (stream && stream->release)
        stream->release(stream);
    free(stream);
}

/* The profile belongs to the stream if this succeeds. */
static int start_stream(struct spe_profile *profile, const struct spe_arrow_options *options,
                        void *bytes, struct ArrowArrayStream *stream)
{
    struct spe_profile_error error = {0};
    struct owner *owner = calloc(1, sizeof(*owner));
    int result = SPE_ERR_NOMEM;

    if (owner)
        result = spe_arrow_stream(profile, options, &owner->inner, &error);
    if (result < 0) {
        free(owner);
        return result;
    }
    owner->bytes = bytes;
    *stream = (struct ArrowArrayStream){owner_get_schema, owner_get_next, owner_get_last_error,
                                        owner_release, owner};
    return SPE_OK;
}

static PyObject *stream_of(struct spe_profile *profile, const struct spe_arrow_options *options,
                           void *bytes)
{
    struct ArrowArrayStream *stream = calloc(1, sizeof(*stream));
    PyObject *capsule;
    int result = stream ? start_stream(profile, options, bytes, stream) : SPE_ERR_NOMEM;

    if (result < 0) {
        free(stream);
        close_profile(profile);
        free(bytes);
        return fail("samples", spe_strerror(result));
    }
    capsule = PyCapsule_New(stream, "arrow_array_stream", capsule_free);
    if (!capsule) {
        stream->release(stream);
        free(stream);
    }
    return capsule;
}

static PyObject *open_stream(struct source *source, const struct spe_arrow_options *options)
{
    struct spe_profile_error error = {0};
    struct spe_profile *profile;
    void *bytes = NULL;

    if (spe_arrow_prepare(options, &source->options, &error) < 0)
        return fail("columns", error.text);
    source->options.order = SPE_ORDER_TIME;
    if (!options->columns)
        source->options.want &= ~(unsigned)SPE_WANT_LINE; /* takes time: only if asked */
    if (!source->path) {
        bytes = malloc(source->data.len ? (size_t)source->data.len : 1);
        if (!bytes)
            return PyErr_NoMemory();
        memcpy(bytes, source->data.buf, (size_t)source->data.len);
    }
    profile = source_open(source, bytes);
    if (!profile) {
        free(bytes);
        return NULL;
    }
    return stream_of(profile, options, bytes);
}

static PyObject *native_stream(PyObject *self, PyObject *arguments)
{
    struct spe_arrow_options options = SPE_ARROW_OPTIONS;
    PyObject *keywords, *capsule = NULL;
    unsigned batch_rows = 0, names = SPE_ARROW_DICTIONARY;
    struct source source;

    (void)self;
    if (!PyArg_ParseTuple(arguments, "OzII", &keywords, &options.columns, &batch_rows, &names))
        return NULL;
    options.batch_rows = batch_rows;
    options.names = names;
    if (source_take(&source, keywords))
        capsule = open_stream(&source, &options);
    source_free(&source);
    return capsule;
}

static PyObject *native_check_columns(PyObject *self, PyObject *arguments)
{
    struct spe_arrow_options options = SPE_ARROW_OPTIONS;
    struct spe_profile_options profile = SPE_PROFILE_OPTIONS;
    struct spe_profile_error error = {0};

    (void)self;
    if (!PyArg_ParseTuple(arguments, "z", &options.columns))
        return NULL;
    if (spe_arrow_prepare(&options, &profile, &error) < 0)
        return fail("columns", error.text);
    Py_RETURN_NONE;
}

static PyObject *native_columns(PyObject *self, PyObject *none)
{
    PyObject *list = PyList_New(0);
    struct spe_arrow_column column;

    (void)self;
    (void)none;
    for (size_t i = 0; list && spe_arrow_column(i, &column); i++) {
        PyObject *one = Py_BuildValue("(ss)", column.name, column.sentence);

        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* ---- the report ------------------------------------------------------------------------------ */

#define SIGNAL_GROUPS 4096 /* of rows, between looks at Python's signals */

struct report {
    struct spe_profile *profile;
    struct spe_analysis *analysis;
    unsigned by, sort, top;
};

/* All rows; -1 with an exception after Ctrl-C, else 0 or an error of the library. */
static int read_rows(struct report *r)
{
    PyThreadState *state = PyEval_SaveThread();
    struct spe_rows rows;
    int result;
    size_t n;

    for (n = 1; (result = spe_profile_next(r->profile, &rows)) > 0; n++) {
        result = spe_analysis_add(r->analysis, r->profile, &rows);
        if (result < 0)
            break;
        if (n % SIGNAL_GROUPS == 0) {
            PyEval_RestoreThread(state);
            if (PyErr_CheckSignals() < 0)
                return -1;
            state = PyEval_SaveThread();
        }
    }
    if (result >= 0)
        result = spe_analysis_finish(r->analysis, r->profile);
    PyEval_RestoreThread(state);
    return result;
}

/* One more of a list that may have failed already; takes `one`. */
static void append(PyObject **list, PyObject *one)
{
    if (*list && (!one || PyList_Append(*list, one) < 0))
        Py_CLEAR(*list);
    Py_XDECREF(one);
}

static PyObject *mix_of(const struct report *r)
{
    PyObject *list = PyList_New(0);
    struct spe_mix mix[SPE_MIX_MAX];
    size_t n = spe_analysis_mix(r->analysis, mix);

    for (size_t i = 0; i < n; i++)
        append(&list, Py_BuildValue("{s:s,s:O,s:K,s:K,s:K}", "name", mix[i].name, "is_class",
                                    mix[i].is_class ? Py_True : Py_False, "samples",
                                    (unsigned long long)mix[i].samples, "latency_samples",
                                    (unsigned long long)mix[i].latency_samples, "latency",
                                    (unsigned long long)mix[i].latency));
    return list;
}

static PyObject *events_of(const struct report *r)
{
    PyObject *all = PyDict_New();
    uint64_t samples[64];

    spe_analysis_events(r->analysis, samples);
    for (unsigned i = 0; all && i < 64; i++) {
        const char *name = spe_event_name(i);
        char number[16];
        PyObject *value;

        if (!samples[i])
            continue;
        snprintf(number, sizeof(number), "%u", i);
        value = PyLong_FromUnsignedLongLong(samples[i]);
        if (!value || PyDict_SetItemString(all, name ? name : number, value) < 0)
            Py_CLEAR(all);
        Py_XDECREF(value);
    }
    return all;
}

static PyObject *served_of(const struct report *r)
{
    struct spe_served_row rows[SPE_SERVED_COUNT];
    size_t n = spe_analysis_served(r->analysis, rows);
    PyObject *list = PyList_New(0);

    for (size_t i = 0; i < n; i++) {
        const struct spe_latency_summary *l = &rows[i].latency;

        append(&list,
               Py_BuildValue("{s:s,s:O,s:K,s:K,s:K,s:d,s:I,s:I,s:I,s:I}", "name",
                             spe_served_name(rows[i].served), "by_source",
                             rows[i].by_source ? Py_True : Py_False, "loads",
                             (unsigned long long)rows[i].loads, "latency_samples",
                             (unsigned long long)l->samples, "latency", (unsigned long long)l->sum,
                             "mean", l->mean, "median", (unsigned)l->median, "p95",
                             (unsigned)l->p95, "p99", (unsigned)l->p99, "max", (unsigned)l->max));
    }
    return list;
}

static PyObject *counts_of(const struct spe_counts *c)
{
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "samples", (unsigned long long)c->samples, "latency",
        (unsigned long long)c->latency, "memory", (unsigned long long)c->memory, "branches",
        (unsigned long long)c->branches, "l1_misses", (unsigned long long)c->l1_misses,
        "llc_misses", (unsigned long long)c->llc_misses, "tlb_walks",
        (unsigned long long)c->tlb_walks, "mispredicted", (unsigned long long)c->mispredicted);
}

static PyObject *totals_of(const struct report *r)
{
    struct spe_counts totals;

    spe_analysis_totals(r->analysis, &totals);
    return counts_of(&totals);
}

static PyObject *known(uint32_t number, bool is_known)
{
    if (!is_known)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLong(number);
}

static const char *dso_name(const struct spe_profile *profile, uint32_t id)
{
    const struct spe_profile_dso *d = id != SPE_NO_ID ? spe_profile_dso(profile, id) : NULL;

    return d ? spe_profile_string(profile, d->name) : NULL;
}

/* Who ran it: pid, tid, comm and cpu, as far as the grouping says. */
static PyObject *task_of(const struct report *r, const struct spe_group *g)
{
    const struct spe_profile_thread *t =
        r->by == SPE_BY_THREAD && g->id != SPE_NO_ID ? spe_profile_thread(r->profile, g->id) : NULL;
    uint32_t comm = t ? t->comm : r->by == SPE_BY_COMM ? g->id : SPE_NO_ID;
    uint32_t pid = t ? t->pid : r->by == SPE_BY_PROCESS ? g->id : SPE_NO_TASK;

    return Py_BuildValue(
        "(NNNN)", known(pid, pid != SPE_NO_TASK), known(t ? t->tid : 0, t != NULL),
        text_or_none(comm != SPE_NO_ID ? spe_profile_string(r->profile, comm) : NULL),
        known(g->id, r->by == SPE_BY_CPU && g->id != SPE_NO_CPU));
}

/* Where it is: symbol, dso, file and line, as far as the grouping says. */
static PyObject *code_of(const struct report *r, const struct spe_group *g)
{
    struct spe_profile_symbol symbol = {0};
    struct spe_profile_line line = {0};
    bool has_line = g->line != SPE_NO_ID && spe_profile_line(r->profile, g->line, &line) == SPE_OK;

    if (g->symbol == SPE_NO_SYMBOL || spe_profile_symbol(r->profile, g->symbol, &symbol) != SPE_OK)
        symbol.name = NULL;
    return Py_BuildValue("(NNNN)", text_or_none(symbol.name),
                         text_or_none(dso_name(r->profile, g->dso)),
                         text(has_line ? spe_profile_string(r->profile, line.file) : NULL),
                         known(line.line, has_line));
}

static PyObject *groups_of(const struct report *r)
{
    struct spe_group *groups = calloc(r->top ? r->top : 1, sizeof(*groups));
    PyObject *list = PyList_New(0);
    size_t n;

    if (!groups) {
        Py_XDECREF(list);
        return PyErr_NoMemory();
    }
    n = spe_analysis_groups(r->analysis, r->by, r->sort, groups, r->top);
    for (size_t i = 0; i < n; i++)
        append(&list, Py_BuildValue("(NNN)", code_of(r, &groups[i]), task_of(r, &groups[i]),
                                    counts_of(&groups[i].counts)));
    free(groups);
    return list;
}

static PyObject *warnings_of(const struct report *r)
{
    PyObject *list = PyList_New(0);
    const char *sentence;

    for (size_t i = 0; (sentence = spe_profile_warning(r->profile, i)) != NULL; i++)
        append(&list, text(sentence));
    return list;
}

static PyObject *lost_of(const struct report *r)
{
    const struct spe_profile_counts *c = spe_profile_counts(r->profile);

    return Py_BuildValue("{s:K,s:K,s:K,s:K}", "lost", (unsigned long long)c->lost, "aux_truncated",
                         (unsigned long long)c->aux_truncated, "aux_collision",
                         (unsigned long long)c->aux_collision, "skipped_bytes",
                         (unsigned long long)c->account.skipped_bytes);
}

static PyObject *answer_of(const struct report *r)
{
    /* Groups come first: looking up their names may add warnings. */
    PyObject *groups = groups_of(r);

    return Py_BuildValue("{s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "groups", groups, "totals", totals_of(r),
                         "mix", mix_of(r), "events", events_of(r), "served", served_of(r), "lost",
                         lost_of(r), "warnings", warnings_of(r));
}

static PyObject *make_report(struct report *r, const char *name)
{
    struct spe_analysis_config config;
    PyObject *answer = NULL;
    size_t groups;
    int result;

    spe_analysis_config_init(&config);
    config.by = 1u << r->by;
    result = spe_analysis_create(&r->analysis, &config);
    if (result == SPE_OK)
        result = read_rows(r);
    if (result < 0) {
        if (!PyErr_Occurred())
            fail(name, spe_strerror(result));
    } else {
        groups = spe_analysis_group_count(r->analysis, r->by);
        if (groups < r->top)
            r->top = (unsigned)groups;
        answer = answer_of(r);
    }
    spe_analysis_destroy(r->analysis);
    return answer;
}

static PyObject *native_report(PyObject *self, PyObject *arguments)
{
    struct report r = {0};
    PyObject *keywords, *answer = NULL;
    struct source source;

    (void)self;
    if (!PyArg_ParseTuple(arguments, "OIII", &keywords, &r.by, &r.sort, &r.top))
        return NULL;
    if (r.by > SPE_BY_COMM || r.sort >= SPE_SORT_COUNT)
        return fail("report", spe_strerror(SPE_ERR_INVALID));
    if (source_take(&source, keywords)) {
        source.options.omit = SPE_ANALYSIS_OMIT;
        if (r.by == SPE_BY_COMM)
            source.options.omit &= ~(unsigned)SPE_OMIT_COMM;
        r.profile = source_open(&source, source.data.buf);
        if (r.profile) {
            answer = make_report(&r, source.name);
            close_profile(r.profile);
        }
    }
    source_free(&source);
    return answer;
}

/* ---- the module ------------------------------------------------------------------------------ */

static PyMethodDef methods[] = {
    {"info", native_info, METH_O, NULL},
    {"stream", native_stream, METH_VARARGS, NULL},
    {"check_columns", native_check_columns, METH_VARARGS, NULL},
    {"columns", native_columns, METH_NOARGS, NULL},
    {"report", native_report, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (!module)
        return NULL;
    error_type = PyErr_NewExceptionWithDoc(
        "specimen.Error",
        "A recording that cannot be read, a filter or a column that makes no sense: one sentence, "
        "the one that the command `spe` says.",
        NULL, NULL);
    if (!error_type || PyModule_AddObjectRef(module, "Error", error_type) < 0 ||
        PyModule_AddStringConstant(module, "version", SPE_VERSION) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
