/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Opening a recording, what it says of itself, and its rows and tables. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sized.h"
#include "perfdata/spool.h"
#include "profile_internal.h"

#define THREADS_MAX 256
#define BYTES_A_THREAD (UINT64_C(256) << 20)
#define GROUP_ROWS 1024
#define GROUP_ROWS_MAX 65536
#define QUEUES_IN_PLACE 16
#define MEMORY_LIMIT (UINT64_C(1) << 30)

int profile_fail(struct spe_profile_error *error, int code, const char *format, ...)
{
    va_list arguments;

    if (error) {
        *error = (struct spe_profile_error){.code = code, .filter_position = -1};
        va_start(arguments, format);
        vsnprintf(error->text, sizeof(error->text), format, arguments);
        va_end(arguments);
    }
    return code;
}

int profile_warn(struct spe_profile *p, const char *format, ...)
{
    va_list arguments;
    char *text;
    int size;

    va_start(arguments, format);
    size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0 || VECTOR_ROOM(&p->warnings) < 0) {
        if (size >= 0)
            free(text);
        names_missing(&p->strings, SPE_ERR_NOMEM);
        return SPE_ERR_NOMEM;
    }
    p->warnings.at[p->warnings.count++] = text;
    return SPE_OK;
}

/* ---- Options -------------------------------------------------------------------------------- */

static int copy_text(char **to, const char *from)
{
    *to = from ? strdup(from) : NULL;
    return from && !*to ? SPE_ERR_NOMEM : SPE_OK;
}

static int copy_list(uint32_t **to, size_t *to_count, const uint32_t *from, size_t count)
{
    if (!from || !count)
        return SPE_OK;
    *to = malloc(count * sizeof(uint32_t));
    if (!*to)
        return SPE_ERR_NOMEM;
    memcpy(*to, from, count * sizeof(uint32_t));
    *to_count = count;
    return SPE_OK;
}

static int copy_debug_dir(struct dsos *d, const char *given)
{
    const char *home = getenv("HOME");

    if (given)
        return given[0] ? copy_text(&d->debug_dir, given) : SPE_OK;
    if (home && home[0] == '/' && asprintf(&d->debug_dir, "%s/.debug", home) < 0) {
        d->debug_dir = NULL;
        return SPE_ERR_NOMEM;
    }
    return SPE_OK;
}

static int find_cpu(struct spe_profile *p, const char *name, struct spe_profile_error *error)
{
    char *end;
    uint64_t midr;

    if (!name)
        return SPE_OK;
    p->given_cpu = spe_cpu_by_name(name);
    if (p->given_cpu)
        return SPE_OK;
    midr = strtoull(name, &end, 0);
    p->given_cpu = end != name && !*end ? spe_cpu_by_midr(midr) : NULL;
    if (!p->given_cpu)
        return profile_fail(error, SPE_ERR_UNKNOWN, "no CPU is called \"%.60s\"", name);
    return SPE_OK;
}

/* A filter that needs lines runs where lines are looked up, on the caller's thread. */
static int set_filter(struct spe_profile *p, const char *text, struct spe_profile_error *error)
{
    unsigned wants;
    int result;

    if (!text)
        return SPE_OK;
    result = spe_filter_create(&p->filter, text, error);
    if (result < 0)
        return result;
    if (copy_text(&p->filter_text, text) < 0)
        return profile_fail(error, SPE_ERR_NOMEM, "out of memory");
    wants = spe_filter_wants(p->filter);
    p->want |= wants;
    p->worker_filter = !(wants & SPE_WANT_LINE);
    return SPE_OK;
}

/* A filter and a cut may ask for any column. */
static bool reads_everything(const struct spe_profile_options *o)
{
    return o->filter || o->cpus || o->pids || o->tids || o->time_from || o->time_to;
}

static void warn_of_lines(void *profile, const char *text)
{
    profile_warn(profile, "%s", text);
}

static int set_options(struct spe_profile *p, const struct spe_profile_options *o,
                       struct spe_profile_error *error)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const char *urls = getenv("DEBUGINFOD_URLS");
    struct dsos *d = &p->dsos;

    if (o->order > SPE_ORDER_TIME || o->group_rows > GROUP_ROWS_MAX)
        return profile_fail(error, SPE_ERR_INVALID, "an option is out of its range");
    p->thread_count = o->threads;
    p->cpus_here = cpus > 0 ? (unsigned)cpus : 1;
    p->order = o->order;
    p->want = o->want;
    p->omit = reads_everything(o) ? 0 : o->omit;
    if (p->want & SPE_WANT_STACK)
        p->omit &= ~(unsigned)SPE_OMIT_TID;
    p->memory_limit = o->memory_limit;
    p->group_rows = o->group_rows ? o->group_rows : GROUP_ROWS;
    p->time_from = o->time_from;
    p->time_to = o->time_to;
    p->budget.limit = o->memory_limit ? o->memory_limit : MEMORY_LIMIT;
    d->strings = &p->strings;
    d->budget = &p->budget;
    d->warn = warn_of_lines;
    d->owner = p;
    d->debuginfod = !o->no_debuginfod && urls && urls[0];
    if (copy_text(&d->symfs, o->symfs) < 0 || copy_debug_dir(d, o->debug_dir) < 0 ||
        copy_text(&d->vmlinux, o->vmlinux) < 0 || copy_text(&d->kallsyms, o->kallsyms) < 0 ||
        copy_list(&p->cut_cpus, &p->cut_cpu_count, o->cpus, o->cpu_count) < 0 ||
        copy_list(&p->cut_pids, &p->cut_pid_count, o->pids, o->pid_count) < 0 ||
        copy_list(&p->cut_tids, &p->cut_tid_count, o->tids, o->tid_count) < 0 ||
        copy_list(&p->chosen_queues, &p->chosen_count, o->queues, o->queue_count) < 0)
        return profile_fail(error, SPE_ERR_NOMEM, "out of memory");
    d->symfs_path = d->symfs ? realpath(d->symfs, NULL) : NULL;
    if (find_cpu(p, o->cpu, error) < 0)
        return SPE_ERR_UNKNOWN;
    return set_filter(p, o->filter, error);
}

/* ---- CPUs and queues ------------------------------------------------------------------------ */

static const struct spe_cpu *model_of(const struct spe_profile *p, uint32_t cpu, uint64_t *midr)
{
    *midr = p->reader ? spe_perf_reader_midr(p->reader, cpu) : 0;
    return *midr ? spe_cpu_by_midr(*midr) : p->given_cpu;
}

/* Levels of small source values as a table, one for all CPUs that have the same sources; NULL if
 * there are none. */
static int find_levels(struct spe_profile *p, const struct spe_cpu *cpu, const uint8_t **levels)
{
    struct level_table *table;

    *levels = NULL;
    if (!cpu || !cpu->sources)
        return SPE_OK;
    for (size_t i = 0; i < p->levels.count; i++) {
        if (p->levels.at[i]->sources == cpu->sources) {
            *levels = p->levels.at[i]->level;
            return SPE_OK;
        }
    }
    table = calloc(1, sizeof(*table));
    if (!table || POINTER_ROOM(&p->levels) < 0) {
        free(table);
        return SPE_ERR_NOMEM;
    }
    table->sources = cpu->sources;
    for (unsigned value = 0; value < 256; value++) {
        const struct spe_source *source = spe_cpu_source(cpu, (uint16_t)value);

        table->level[value] = source ? source->level : SPE_LEVEL_UNKNOWN;
    }
    p->levels.at[p->levels.count++] = table;
    *levels = table->level;
    return SPE_OK;
}

static int add_cpu(struct spe_profile *p, uint32_t number)
{
    struct spe_profile_cpu cpu = {.number = number};

    cpu.cpu = model_of(p, number, &cpu.midr);
    if (VECTOR_ROOM(&p->cpus) < 0)
        return SPE_ERR_NOMEM;
    p->cpus.at[p->cpus.count++] = cpu;
    return SPE_OK;
}

static int compare_cpus(const void *a, const void *b)
{
    const struct spe_profile_cpu *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* Ascending, each once: two of one number are the same in all that is known of them. */
static void sort_cpus(struct spe_profile *p)
{
    size_t kept = 0;

    if (p->cpus.count)
        qsort(p->cpus.at, p->cpus.count, sizeof(p->cpus.at[0]), compare_cpus);
    for (size_t i = 0; i < p->cpus.count; i++) {
        if (!kept || p->cpus.at[kept - 1].number != p->cpus.at[i].number)
            p->cpus.at[kept++] = p->cpus.at[i];
    }
    p->cpus.count = kept;
}

static int list_cpus(struct spe_profile *p)
{
    const struct spe_perf_metadata *m = p->reader ? spe_perf_reader_metadata(p->reader) : NULL;
    uint64_t midr;

    for (size_t i = 0; m && i < m->cpu_count; i++) {
        if (add_cpu(p, m->cpus[i].cpu) < 0)
            return SPE_ERR_NOMEM;
    }
    for (size_t i = 0; !p->cpus.count && i < p->queue_count; i++) {
        if (p->queues[i].cpu != SPE_NO_CPU && i < 8192 && add_cpu(p, p->queues[i].cpu) < 0)
            return SPE_ERR_NOMEM;
    }
    sort_cpus(p);
    p->info.cpus = p->cpus.at;
    p->info.cpu_count = p->cpus.count;
    p->info.cpu = p->cpus.count ? p->cpus.at[0].cpu : model_of(p, SPE_NO_CPU, &midr);
    for (size_t i = 1; i < p->cpus.count; i++) {
        if (p->cpus.at[i].cpu != p->info.cpu)
            p->info.cpu = NULL;
    }
    p->info.features = p->info.cpu ? p->info.cpu->features : 0;
    return SPE_OK;
}

static int make_queues(struct spe_profile *p)
{
    size_t count = p->reader ? spe_perf_reader_queue_count(p->reader) : 1;
    uint64_t midr;

    p->queues = calloc(count ? count : 1, sizeof(*p->queues));
    if (!p->queues)
        return SPE_ERR_NOMEM;
    p->queue_count = count;
    p->info.per_thread = p->reader && p->queue_count;
    for (size_t i = 0; i < p->queue_count; i++) {
        struct queue *q = &p->queues[i];

        q->perf = p->reader ? spe_perf_reader_queue(p->reader, i) : NULL;
        q->cpu = q->perf ? q->perf->cpu : SPE_NO_CPU;
        q->tid = q->perf ? q->perf->tid : SPE_NO_TASK;
        q->model = model_of(p, q->cpu, &midr);
        if (find_levels(p, q->model, &q->levels) < 0)
            return SPE_ERR_NOMEM;
        p->info.aux_bytes += q->perf ? q->perf->bytes : p->raw.size;
        p->info.per_thread = p->info.per_thread && q->cpu == SPE_NO_CPU;
        q->unread = q->drained = p->chosen_count > 0;
    }
    for (size_t i = 0; i < p->chosen_count; i++) {
        if (p->chosen_queues[i] < p->queue_count)
            p->queues[p->chosen_queues[i]].unread = p->queues[p->chosen_queues[i]].drained = false;
    }
    p->info.queue_count = p->queue_count;
    return list_cpus(p);
}

/* ---- What the recording says ---------------------------------------------------------------- */

static void describe_events(struct spe_profile *p)
{
    for (size_t i = 0; i < spe_perf_reader_event_count(p->reader); i++) {
        const struct spe_perf_event *e = spe_perf_reader_event(p->reader, i);

        if (!spe_perf_reader_is_spe(p->reader, i))
            continue;
        p->info.period = e->flags & SPE_PERF_FLAG_FREQ ? 0 : e->period;
        p->info.config = e->config;
        p->info.config1 = e->config1;
        p->info.config2 = e->config2;
        return;
    }
}

/* A guest of `spe vm` has a perf of its own, which knows of nothing; but the guest has a name. */
static void describe_guest(struct spe_profile_info *info)
{
    static const char name[] = "software-spe-in-qemu.";

    if (!info->hostname || strncmp(info->hostname, name, sizeof(name) - 1) != 0)
        return;
    info->simulated = true;
    info->model_note = strcmp(info->hostname + sizeof(name) - 1, "no-model") == 0
                           ? "software SPE in QEMU, no model: no latencies, cache events or data "
                             "sources"
                           : "software SPE in QEMU, functional model: no time, prefetchers or "
                             "order of CPUs";
}

static void describe(struct spe_profile *p)
{
    const struct spe_perf_features *f = spe_perf_reader_features(p->reader);
    const struct spe_perf_info *i = spe_perf_reader_info(p->reader);
    struct spe_profile_info *info = &p->info;

    info->snapshot = i->overwrite;
    info->truncated = i->truncated;
    info->unterminated = i->unterminated;
    info->incomplete = i->incomplete;
    info->bytes = i->size;
    info->hostname = f->hostname;
    info->osrelease = f->osrelease;
    info->perf_version = f->version;
    info->arch = f->arch;
    info->cpudesc = f->cpudesc;
    info->command = f->command;
    info->command_count = f->command_count;
    info->cpus_available = f->cpus_available;
    info->cpus_online = f->cpus_online;
    info->features_of_file = f;
    /* Specimen's own recorder says so where perf has its version. */
    info->simulated = f->version && !strncmp(f->version, "specimen", 8);
    info->model_note = info->simulated ? f->cpudesc : NULL;
    describe_guest(info);
    describe_events(p);
}

static void count_file(struct spe_profile *p)
{
    struct spe_profile_counts *c = &p->start_counts;

    c->file = *spe_perf_reader_account(p->reader);
    c->lost = c->file.lost;
    c->aux_truncated = c->file.aux_truncated;
    c->aux_collision = c->file.aux_collision;
    c->aux_partial = c->file.aux_partial;
}

static void warn_file(struct spe_profile *p)
{
    char damage[512];

    if (spe_perf_reader_damage(p->reader, damage, sizeof(damage)) &&
        profile_warn(p, "%s", damage) == SPE_OK)
        p->info.damage = p->warnings.at[p->warnings.count - 1];
    if (p->info.incomplete)
        profile_warn(p,
                     "the recording is not complete: the recorder was ended, or could not write, "
                     "before it was done");
    if (p->info.unterminated)
        profile_warn(p, "the recording was not finished: it is read as far as it goes");
    if (p->tasks.spaces.full)
        profile_warn(p, "the recording has too many changes of maps: the last maps are used for "
                        "the whole time");
}

/* ---- Opening -------------------------------------------------------------------------------- */

/* What is kept of a record takes about as much as the record. */
static uint64_t default_limit(uint64_t bytes)
{
    return bytes > MEMORY_LIMIT ? bytes : MEMORY_LIMIT;
}

static int finish_perf(struct spe_profile *p, struct spe_profile_error *error)
{
    int result;

    if (!p->memory_limit)
        p->memory_limit = default_limit(spe_perf_reader_info(p->reader)->size);
    result = sideband_read(p);
    if (result == SPE_ERR_IO)
        return profile_fail(error, result, "%s", spe_perf_reader_problem(p->reader)->text);
    if (result < 0)
        return profile_fail(error, result, "%s", spe_strerror(result));
    describe(p);
    count_file(p);
    warn_file(p);
    return SPE_OK;
}

/* Threads that have little to do cost more than they save. */
static void choose_threads(struct spe_profile *p)
{
    uint64_t worth = p->info.aux_bytes / BYTES_A_THREAD + 1;

    if (!p->thread_count)
        p->thread_count = worth < p->cpus_here ? (unsigned)worth : p->cpus_here;
    if (p->thread_count > THREADS_MAX)
        p->thread_count = THREADS_MAX;
}

/* The kernel maps more of a file than is asked for, up to some MB at each place where it is read:
 * with many queues, reading takes less memory. */
static bool can_decode_in_place(const struct spe_profile *p)
{
    bool in_memory = p->reader ? spe_perf_reader_info(p->reader)->mapped : p->raw.kind == PD_MEMORY;

    return in_memory && p->queue_count <= QUEUES_IN_PLACE;
}

static int finish_open(struct spe_profile *p, struct spe_profile_error *error)
{
    int result = p->reader ? finish_perf(p, error) : SPE_OK;

    if (result < 0)
        return result;
    if (p->reader && !spe_perf_reader_metadata(p->reader))
        return profile_fail(error, SPE_ERR_FORMAT,
                            "is a perf.data file without SPE data: record with -e arm_spe//");
    if (!p->reader) {
        p->info.raw = true;
        p->info.bytes = p->raw.size;
        if (tasks_seen(&p->tasks, 0, 0, SPE_NO_ID) < 0)
            return profile_fail(error, SPE_ERR_NOMEM, "out of memory");
    }
    p->counts = p->start_counts;
    result = make_queues(p);
    p->in_place = can_decode_in_place(p);
    choose_threads(p);
    if (result >= 0)
        result = order_start(p);
    return result < 0 ? profile_fail(error, result, "%s", spe_strerror(result)) : SPE_OK;
}

static int perf_error(struct spe_profile_error *error, const struct spe_perf_error *from)
{
    profile_fail(error, from->code, "%s", from->text);
    if (error)
        error->offset = from->offset;
    return from->code;
}

/* A descriptor that can be read at any place, or -1 with a sentence. */
static int open_file(const char *path, char why[SPOOL_WHY])
{
    bool input = strcmp(path, "-") == 0;
    const char *reason = NULL;
    int fd = input ? dup(STDIN_FILENO) : pd_open_path(path, &reason);
    struct stat st;
    int copy;

    if (fd < 0 || fstat(fd, &st) < 0) {
        snprintf(why, SPOOL_WHY, "%s", fd >= 0 || input ? strerror(errno) : reason);
        return fd;
    }
    if (S_ISREG(st.st_mode) && !input)
        return fd;
    copy = spool_input(fd, NULL, 0, why);
    close(fd);
    return copy;
}

/* Bytes that are not a perf.data are SPE records if they look like them, or if somebody insists. */
static int probe_raw(struct spe_profile *p, bool insist, struct spe_profile_error *error)
{
    uint64_t size = p->raw.size < SPE_PROBE_SIZE ? p->raw.size : SPE_PROBE_SIZE;
    uint8_t *bytes = insist ? NULL : malloc(SPE_PROBE_SIZE);
    const char *what;
    int64_t n;
    int like;

    if (insist)
        return SPE_OK;
    if (!bytes)
        return profile_fail(error, SPE_ERR_NOMEM, "out of memory");
    n = pd_input_read(&p->raw, 0, bytes, (size_t)size);
    like = n < 0 ? 0 : spe_stream_probe(bytes, (size_t)n, (uint64_t)n == p->raw.size, &what);
    free(bytes);
    if (n < 0)
        return profile_fail(error, SPE_ERR_IO, "%s", strerror(errno));
    if (like <= 0)
        return profile_fail(error, SPE_ERR_FORMAT,
                            "is not a perf.data file and does not look like SPE records (%s); use "
                            "--raw to read it anyway",
                            what);
    return profile_warn(p, "this is not a perf.data file: it is read as raw SPE records");
}

/* What the first bytes tell of an open input. A perf.data gets a reader of its own. */
static int is_perf(const struct pd_input *s)
{
    uint8_t first[8];
    int64_t n = pd_input_read(s, 0, first, sizeof(first));

    return n < 0 ? (int)n : spe_perf_probe(first, (size_t)n);
}

static int open_input(struct spe_profile *p, const char *path,
                      const struct spe_profile_options *options, struct spe_profile_error *error)
{
    bool raw = options && options->raw, map = options && options->map;
    struct spe_perf_error reason = {0};
    char why[SPOOL_WHY];
    int result;

    p->fd = open_file(path, why);
    if (p->fd < 0)
        return profile_fail(error, SPE_ERR_IO, "%s", why);
    result = pd_input_open_fd(&p->raw, p->fd, map);
    if (result == SPE_OK && !raw)
        result = is_perf(&p->raw);
    if (result < 0)
        return profile_fail(error, result, "%s",
                            result == SPE_ERR_IO ? strerror(errno) : spe_strerror(result));
    if (!result)
        return probe_raw(p, raw, error);
    pd_input_close(&p->raw);
    result = spe_perf_reader_open_fd(&p->reader, p->fd, map ? 0 : SPE_PERF_NO_MAP, &reason);
    return result < 0 ? perf_error(error, &reason) : SPE_OK;
}

static int new_profile(struct spe_profile **profile, const struct spe_profile_options *options,
                       struct spe_profile_error *error)
{
    struct spe_profile_options own = SPE_PROFILE_OPTIONS;
    struct spe_profile *p = *profile = calloc(1, sizeof(*p));

    if (p)
        p->fd = -1;
    if (error)
        *error = (struct spe_profile_error){.filter_position = -1};
    if (p)
        strings_init(&p->strings, hash_seed());
    if (!p || tasks_init(&p->tasks, p->strings.seed) < 0) {
        profile_fail(error, SPE_ERR_NOMEM, "out of memory");
        return SPE_ERR_NOMEM;
    }
    if (options && !sized_take(&own, sizeof(own), options, options->size))
        return profile_fail(error, SPE_ERR_INVALID,
                            "the options have no size, or are of a later version");
    return set_options(p, &own, error);
}

static int keep_or_close(struct spe_profile **profile, int result)
{
    if (result >= 0)
        return SPE_OK;
    spe_profile_close(*profile);
    *profile = NULL;
    return result;
}

int spe_profile_open(struct spe_profile **profile, const char *path,
                     const struct spe_profile_options *options, struct spe_profile_error *error)
{
    int result = new_profile(profile, options, error);

    if (result >= 0)
        result = open_input(*profile, path, options, error);
    if (result >= 0)
        result = finish_open(*profile, error);
    return keep_or_close(profile, result);
}

int spe_profile_open_memory(struct spe_profile **profile, const void *bytes, size_t size,
                            const struct spe_profile_options *options,
                            struct spe_profile_error *error)
{
    struct spe_perf_error why = {0};
    bool raw = options && options->raw;
    int result = new_profile(profile, options, error);

    if (result >= 0 && !raw && spe_perf_probe(bytes, size)) {
        result = spe_perf_reader_open_memory(&(*profile)->reader, bytes, size, 0, &why);
        if (result < 0)
            perf_error(error, &why);
    } else if (result >= 0) {
        pd_input_open_memory(&(*profile)->raw, bytes, size);
        result = probe_raw(*profile, raw, error);
    }
    if (result >= 0)
        result = finish_open(*profile, error);
    return keep_or_close(profile, result);
}

void spe_profile_close(struct spe_profile *p)
{
    if (!p)
        return;
    order_stop(p);
    pass_forget(p);
    spe_filter_destroy(p->filter);
    for (size_t i = 0; i < p->warnings.count; i++)
        free(p->warnings.at[i]);
    for (size_t i = 0; i < p->levels.count; i++)
        free(p->levels.at[i]);
    dsos_free(&p->dsos);
    tasks_free(&p->tasks);
    stacks_free(&p->stacks);
    strings_free(&p->strings);
    free(p->warnings.at);
    free(p->levels.at);
    free(p->cpus.at);
    free(p->maps.at);
    thread_stacks_free(&p->thread_stacks);
    free(p->queues);
    free(p->cut_cpus);
    free(p->cut_pids);
    free(p->cut_tids);
    free(p->chosen_queues);
    free(p->filter_text);
    spe_perf_reader_close(p->reader);
    pd_input_close(&p->raw);
    if (p->fd >= 0)
        close(p->fd);
    free(p);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static void fill_lines(struct spe_profile *p, struct group *g)
{
    for (size_t i = 0; i < g->columns.rows; i++) {
        if (g->map[i] != SPE_NO_ID)
            g->line[i] = spe_profile_find_line(p, g->map[i], g->columns.pc[i]);
    }
}

/* The filter that needs lines. */
static int filter_group(struct spe_profile *p, struct group *g)
{
    size_t rows = g->columns.rows;
    struct spe_rows view;
    int64_t kept;

    group_show(g, &view);
    kept = spe_filter_select(p->filter, p, &view, g->selected);
    if (kept < 0)
        return (int)kept;
    group_select(g, g->selected);
    p->counts.filtered += rows - (size_t)kept;
    p->counts.rows -= rows - (size_t)kept;
    return SPE_OK;
}

/* What only the whole can tell. */
static void finish(struct spe_profile *p)
{
    struct spe_profile_counts *c = &p->counts;

    if (p->finished)
        return;
    p->finished = true;
    if (p->reader && c->account.records && !c->by_context)
        profile_warn(p, "no SPE record has a thread id (CONTEXT packets)");
    if (c->context_unknown)
        profile_warn(p,
                     "%llu SPE records name threads (CONTEXT packets) that the recording does not "
                     "know",
                     (unsigned long long)c->context_unknown);
    if (c->context_mismatch)
        profile_warn(p,
                     "%llu SPE records name another thread (CONTEXT packets) than the one that ran "
                     "by other records",
                     (unsigned long long)c->context_mismatch);
}

static int next_rows(struct spe_profile *p, struct spe_rows *rows)
{
    struct group *g = NULL;
    int result;

    do {
        result = p->search ? left_out_next(p, &g) : order_next(p, &g);
        if (result > 0 && g->line)
            fill_lines(p, g);
        if (result > 0 && p->filter && !p->worker_filter) {
            int filtered = filter_group(p, g);

            result = filtered < 0 ? filtered : result;
        }
    } while (result > 0 && !g->columns.rows);
    if (result > 0)
        group_show(g, rows);
    if (result == 0)
        finish(p);
    return result;
}

int spe_profile_next_sized(struct spe_profile *p, struct spe_rows *rows, size_t size)
{
    struct spe_rows own;
    int result = next_rows(p, &own);

    if (result > 0) {
        sized_give(rows, size, &own, sizeof(own));
        rows->size = size;
    }
    return result;
}

int spe_profile_rewind(struct spe_profile *p)
{
    order_stop(p);
    left_out_forget(p);
    p->counts = p->start_counts;
    return order_start(p);
}

/* ---- Tables --------------------------------------------------------------------------------- */

const struct spe_profile_info *spe_profile_info(const struct spe_profile *p)
{
    return &p->info;
}

const struct spe_profile_counts *spe_profile_counts(const struct spe_profile *p)
{
    return &p->counts;
}

int spe_profile_status(const struct spe_profile *p)
{
    return atomic_load(&p->strings.trouble);
}

const char *spe_profile_warning(const struct spe_profile *p, size_t i)
{
    if (i < p->warnings.count)
        return p->warnings.at[i];
    i -= p->warnings.count;
    for (uint32_t dso = 0; dso < p->dsos.list.count; dso++) {
        const struct spe_profile_dso *shown = spe_profile_dso(p, dso);

        if (shown && shown->warning && i-- == 0)
            return shown->warning;
    }
    return NULL;
}

const char *spe_profile_string(const struct spe_profile *p, uint32_t id)
{
    return strings_at(&p->strings, id);
}

const struct spe_profile_thread *spe_profile_thread(const struct spe_profile *p, uint32_t id)
{
    return id < p->tasks.threads.count ? &p->tasks.threads.at[id].shown : NULL;
}

size_t spe_profile_thread_count(const struct spe_profile *p)
{
    return p->tasks.threads.count;
}

/* Another thread may be reading its symbols: what is shown is then what was before. */
const struct spe_profile_dso *spe_profile_dso(const struct spe_profile *p, uint32_t id)
{
    struct dso *dso = id < p->dsos.list.count ? p->dsos.list.at[id] : NULL;

    if (!dso)
        return NULL;
    dso->shown.path = dso->path;
    dso->shown.name = dso->name;
    dso->shown.kernel =
        dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE || dso->kind == DSO_KSYMBOL;
    dso->shown.id_size = dso->id_size;
    memcpy(dso->shown.id, dso->id, sizeof(dso->id));
    dso->shown.state = dso->kind == DSO_ANONYMOUS ? SPE_DSO_ANONYMOUS : SPE_DSO_UNTRIED;
    if (atomic_load_explicit(&dso->loaded, memory_order_acquire)) {
        dso->shown.state = dso->state;
        dso->shown.file = dso->file;
        dso->shown.warning = dso->warning;
    }
    return &dso->shown;
}

size_t spe_profile_dso_count(const struct spe_profile *p)
{
    return p->dsos.list.count;
}

const struct spe_profile_map *spe_profile_map(const struct spe_profile *p, uint32_t id)
{
    return id < p->maps.count ? &p->maps.at[id] : NULL;
}

size_t spe_profile_map_count(const struct spe_profile *p)
{
    return p->maps.count;
}

static int find_name(const struct spe_profile *p, uint64_t id, struct spe_profile_symbol *symbol)
{
    struct dso *dso = id >> 32 < p->dsos.list.count ? p->dsos.list.at[id >> 32] : NULL;
    uint32_t number = (uint32_t)id & ~SYMBOL_OF_OBJECT;
    const struct symbol *found = NULL;

    *symbol = (struct spe_profile_symbol){"", SPE_NO_ID, 0, 0};
    if (!dso || !atomic_load_explicit(&dso->loaded, memory_order_acquire))
        return SPE_ERR_UNKNOWN;
    if (id & SYMBOL_OF_OBJECT && number < dso->symbols.objects.count)
        found = &dso->symbols.objects.at[number];
    else if (!(id & SYMBOL_OF_OBJECT) && number < dso->symbols.functions.count)
        found = &dso->symbols.functions.at[number];
    if (!found)
        return SPE_ERR_UNKNOWN;
    symbol->name = dso->symbols.names.at + found->name;
    symbol->dso = (uint32_t)(id >> 32);
    symbol->address = found->start + dso->symbols.kernel_shift;
    symbol->size = found->end - found->start;
    return SPE_OK;
}

int spe_profile_symbol_sized(const struct spe_profile *p, uint64_t id,
                             struct spe_profile_symbol *symbol, size_t size)
{
    struct spe_profile_symbol own;
    int result = find_name(p, id, &own);

    sized_give(symbol, size, &own, sizeof(own));
    return result;
}

/* ---- Places --------------------------------------------------------------------------------- */

static uint32_t root_at(const struct spe_profile *p, uint32_t thread, uint64_t time,
                        uint64_t address)
{
    struct task_view view = {.to = UINT64_MAX};
    uint64_t from, to;

    if (address >> 63)
        return tasks_kernel_root(&p->tasks, time, &from, &to);
    if (thread >= p->tasks.threads.count)
        return 0;
    tasks_view_thread(&p->tasks, thread, time, &view);
    return view.root;
}

/* May memory that this view is of be .bss of the file that is mapped before it? Recorders do not
 * tell of all anonymous memory. A library is first mapped as a whole: what remains of that map
 * behind the data is where .bss was put. */
static bool may_be_bss(const struct spe_profile *p, const struct map_view *view, uint32_t before)
{
    const struct spe_profile_map *map, *data = &p->maps.at[before];
    uint8_t kind;

    if (view->map == NONE)
        return true;
    map = &p->maps.at[view->map];
    kind = p->dsos.list.at[map->dso]->kind;
    return kind == DSO_ANONYMOUS || kind == DSO_JIT ||
           (map->dso == data->dso && map->start < data->start);
}

static bool place_in_map(struct spe_profile *p, uint32_t map, uint64_t address,
                         struct spe_profile_place *place)
{
    struct dso *dso;

    if (map == NONE)
        return false;
    place->map = map;
    place->dso = p->maps.at[map].dso;
    dso = p->dsos.list.at[place->dso];
    dso_load(&p->dsos, dso);
    place->address = dso_address(dso, &p->maps.at[map], address);
    return true;
}

/* The same for data without bytes in a file, in the map or behind one. */
static bool place_in_bss(struct spe_profile *p, uint32_t root, const struct map_view *view,
                         uint64_t address, struct spe_profile_place *place)
{
    uint32_t maps[2] = {view->map, NONE};

    if (view->first)
        maps[1] = spaces_view(&p->tasks.spaces, root, view->first - 1).map;
    for (unsigned i = 0; i < 2; i++) {
        const struct spe_profile_map *map = maps[i] == NONE ? NULL : &p->maps.at[maps[i]];
        struct dso *dso = map ? p->dsos.list.at[map->dso] : NULL;

        if (!dso || dso->kind != DSO_FILE || (i == 1 && !may_be_bss(p, view, maps[1])))
            continue;
        dso_load(&p->dsos, dso);
        place->map = maps[i];
        place->dso = map->dso;
        place->address = dso_bss_address(dso, map, address);
        if (place->address != UINT64_MAX)
            return true;
    }
    return false;
}

static int find_place(struct spe_profile *p, uint32_t thread, uint64_t time_ns, uint64_t address,
                      bool data, struct spe_profile_place *place)
{
    uint64_t time = p->info.timed ? time_ns : UINT64_MAX;
    uint32_t root = root_at(p, thread, time, address), number;
    struct map_view view = spaces_view(&p->tasks.spaces, root, address);
    struct dso *dso;
    struct spe_profile_symbol symbol;

    *place = (struct spe_profile_place){SPE_NO_ID, SPE_NO_ID, SPE_NO_SYMBOL, 0, 0};
    if (!(data && place_in_bss(p, root, &view, address, place)) &&
        !place_in_map(p, view.map, address, place))
        return SPE_ERR_UNKNOWN;
    dso = p->dsos.list.at[place->dso];
    number = dso_find(dso, place->address, data ? SYMBOL_OBJECT : SYMBOL_FUNCTION);
    if (number == NONE)
        return SPE_OK;
    place->symbol = (uint64_t)place->dso << 32 | number | (data ? SYMBOL_OF_OBJECT : 0);
    if (spe_profile_symbol(p, place->symbol, &symbol) == SPE_OK)
        place->in_symbol = place->address - (symbol.address - dso->symbols.kernel_shift);
    return SPE_OK;
}

int spe_profile_place_sized(struct spe_profile *p, uint32_t thread, uint64_t time_ns,
                            uint64_t address, bool data, struct spe_profile_place *place,
                            size_t size)
{
    struct spe_profile_place own;
    int result = find_place(p, thread, time_ns, address, data, &own);

    sized_give(place, size, &own, sizeof(own));
    return result;
}

/* The dso of a map, with its symbols; NULL if there is no such map. */
static struct dso *load_dso(struct spe_profile *p, const struct spe_profile_map *map)
{
    struct dso *dso = map ? p->dsos.list.at[map->dso] : NULL;

    if (dso)
        dso_load(&p->dsos, dso);
    return dso;
}

uint64_t spe_profile_find_symbol(struct spe_profile *p, uint32_t map, uint64_t pc)
{
    const struct spe_profile_map *m = spe_profile_map(p, map);
    const struct dso *dso = load_dso(p, m);
    uint32_t number = dso ? dso_find(dso, dso_address(dso, m, pc), SYMBOL_FUNCTION) : NONE;

    return number == NONE ? SPE_NO_SYMBOL : (uint64_t)m->dso << 32 | number;
}

uint64_t spe_profile_find_address(struct spe_profile *p, uint32_t map, uint64_t pc)
{
    const struct spe_profile_map *m = spe_profile_map(p, map);
    const struct dso *dso = load_dso(p, m);

    return dso ? dso_address(dso, m, pc) : UINT64_MAX;
}

uint32_t spe_profile_find_line(struct spe_profile *profile, uint32_t map, uint64_t pc)
{
    const struct spe_profile_map *m = spe_profile_map(profile, map);
    struct dso *dso = load_dso(profile, m);

    return dso ? lines_find(&profile->dsos, dso, m->dso, dso_address(dso, m, pc)) : SPE_NO_ID;
}

int spe_profile_inlines(struct spe_profile *profile, uint32_t map, uint64_t pc,
                        struct spe_profile_frame *frames, size_t max)
{
    const struct spe_profile_map *m = spe_profile_map(profile, map);

    return m ? spe_profile_inlines_at(profile, m->dso, spe_profile_find_address(profile, map, pc),
                                      frames, max)
             : 0;
}

int spe_profile_inlines_at(struct spe_profile *profile, uint32_t dso, uint64_t address,
                           struct spe_profile_frame *frames, size_t max)
{
    struct dsos *d = &profile->dsos;

    return dso < d->list.count ? lines_inlines(d, d->list.at[dso], address, frames, max) : 0;
}

int64_t spe_profile_code(struct spe_profile *profile, uint32_t dso, uint64_t address,
                         uint32_t *words, uint8_t *data, size_t count, const char **why)
{
    struct dsos *d = &profile->dsos;

    *why = "there is no such file";
    return dso < d->list.count ? dso_code(d, d->list.at[dso], address, words, data, count, why)
                               : SPE_ERR_UNKNOWN;
}

int spe_profile_line(const struct spe_profile *profile, uint32_t id, struct spe_profile_line *line)
{
    if (id < profile->dsos.lines.lines.count) {
        *line = profile->dsos.lines.lines.at[id];
        return SPE_OK;
    }
    *line = (struct spe_profile_line){SPE_NO_ID, 0, SPE_NO_ID};
    return SPE_ERR_UNKNOWN;
}
