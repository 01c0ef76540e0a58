/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "record/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <specimen/format.h>
#include <specimen/perfdata.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/vector.h"
#include "names/files.h"
#include "record/keep.h"
#include "record/output.h"

enum { SPE_EVENT, TRACKING_EVENT, CALLS_EVENT, EVENTS, PMU_TYPE = 8, CALLS_PMU, ID_STEP = 1 << 16 };

#define CPUS_MAX 1024

/* A mapped file whose build-id was looked for. */
struct known_file {
    char *path;
    uint8_t id[SPE_PERF_BUILD_ID_MAX];
    uint8_t id_size;
    uint64_t code, code_end; /* offsets between which it has code; empty if it has none */
};

/* AUX bytes that a queue has so far. */
struct record_file {
    struct spe_perf_writer *writer;
    char *path;
    int fd;
    unsigned cpus;
    bool shared;                    /* by more threads than there are, as --cpus says */
    unsigned events;                /* of the first so many */
    uint64_t ids[EVENTS][CPUS_MAX]; /* one a CPU */
    uint64_t *offsets;              /* of each queue */
    size_t offset_count;
    const struct record_options *options;
    const char *settings;                     /* of the machine */
    unsigned used_cpus;                       /* the first so many are named by a record */
    uint64_t first_sample_ns, last_sample_ns; /* of all records; last 0: there was none */
    struct spe_bulk *bulk;                    /* that reads these times */
    VECTOR(struct known_file) known;
    struct file_unread unread;
    int error; /* the first */
    bool reported;
};

/* ---- What a file begins with ---------------------------------------------------------------- */

static void set_error(struct record_file *f, int result)
{
    if (result < 0 && f->error == 0)
        f->error = result;
}

static void add_events(struct record_file *f, const struct record_options *o)
{
    unsigned how = o->event.config & 2 ? SPE_PERF_PHYSICAL : 0;
    struct spe_perf_event events[EVENTS], *spe = &events[SPE_EVENT];

    spe_perf_event_init_spe(spe, PMU_TYPE, how);
    spe->config = o->event.config;
    spe->config1 = o->event.config1;
    spe->config2 = o->event.config2;
    spe->config3 = o->event.config3;
    spe->config4 = o->event.config4;
    spe->period = record_interval(o->period);
    spe->flags |= SPE_PERF_FLAG_EXCLUDE_KERNEL | SPE_PERF_FLAG_EXCLUDE_HV; /* QEMU has neither */
    spe->name = "arm_spe_0//u";
    spe_perf_event_init_tracking(&events[TRACKING_EVENT], how);
    spe_perf_event_init_calls(&events[CALLS_EVENT], CALLS_PMU, how);
    for (unsigned e = 0; e < f->events; e++) {
        events[e].flags |= SPE_PERF_FLAG_USE_CLOCKID;
        events[e].clockid = CLOCK_MONOTONIC;
        for (unsigned i = 0; i < f->cpus; i++)
            f->ids[e][i] = e * ID_STEP + i + 1;
        events[e].ids = f->ids[e];
        events[e].id_count = f->cpus;
        set_error(f, spe_perf_writer_event(f->writer, &events[e]));
    }
}

/* Without a model nothing is known of data sources, so that no table of a real CPU may be used. */
static uint64_t midr_of(const struct record_options *o)
{
    return o->model == RECORD_MODEL_NONE ? SOFTWARE_MIDR : record_cpu_find(o->cpu)->midr;
}

/* Of the host: the program runs in its memory. */
static uint64_t memory_kb(int pages)
{
    long count = sysconf(pages), size = sysconf(_SC_PAGESIZE);

    return count > 0 && size > 0 ? (uint64_t)count * (uint64_t)size / 1024 : 0;
}

static uint64_t clock_resolution_ns(void)
{
    struct timespec t;

    return clock_getres(CLOCK_MONOTONIC, &t) == 0 && t.tv_sec == 0 ? (uint64_t)t.tv_nsec : 0;
}

/* The model's CPUs that the recording knows of. A pipe is told before the first thread has one. */
static unsigned cpus_so_far(const struct record_file *f)
{
    return f->shared || !f->used_cpus ? f->cpus : f->used_cpus;
}

static void add_features(struct record_file *f)
{
    static const struct spe_perf_pmu pmus[] = {
        {1, "software"}, {PMU_TYPE, "arm_spe_0"}, {CALLS_PMU, "specimen"}};
    static const char *const models[] = {
        [RECORD_MODEL_NONE] = "no model: no latencies, cache events or data sources",
        [RECORD_MODEL_FUNCTIONAL] = "functional model: no time, prefetchers or order of threads",
        [RECORD_MODEL_CORE] =
            "core model: no ports, instruction side or forwarding in shared lines",
    };
    const struct record_options *o = f->options;
    char cpuid[32], cpus[32], note[MACHINE_SETTINGS + 256];
    struct spe_perf_numa_node node = {0, memory_kb(_SC_PHYS_PAGES), memory_kb(_SC_AVPHYS_PAGES),
                                      cpus};
    struct utsname host = {0};
    struct spe_perf_features features = {
        .hostname = host.nodename,
        .osrelease = host.release,
        .version = "specimen " SPECIMEN_VERSION,
        .arch = "aarch64",
        .cpudesc = note,
        .cpuid = cpuid,
        .cpus_available = cpus_so_far(f),
        .cpus_online = cpus_so_far(f),
        .total_mem_kb = node.total_kb,
        .command = o->command_line,
        .command_count = o->command_line_count,
        .numa = &node,
        .numa_count = 1,
        .pmus = pmus,
        .pmu_count = f->events > CALLS_EVENT ? 3 : 2,
        .first_sample_ns = f->first_sample_ns,
        .last_sample_ns = f->last_sample_ns,
        .clockid_resolution_ns = clock_resolution_ns(),
    };

    uname(&host);
    snprintf(cpuid, sizeof(cpuid), "0x%016llx", (unsigned long long)midr_of(o));
    snprintf(cpus, sizeof(cpus), "0-%u", cpus_so_far(f) - 1);
    snprintf(note, sizeof(note), "%s%s%s, software SPE under QEMU, %s", o->cpu,
             *f->settings ? " with " : "", f->settings, models[o->model]);
    set_error(f, spe_perf_writer_features(f->writer, &features));
}

static void begin(struct record_file *f, const struct record_options *o)
{
    struct spe_perf_cpu *cpus = calloc(f->cpus, sizeof(*cpus));
    struct spe_perf_id *ids = calloc(f->events * (size_t)f->cpus, sizeof(*ids));
    struct spe_perf_metadata metadata = {.pmu_type = PMU_TYPE, .cpus = cpus, .cpu_count = f->cpus};
    struct spe_perf_time_conv time;
    struct spe_perf_start start = {
        .size = sizeof(start),
        .time_conv = &time,
        .metadata = &metadata,
        .ids = ids,
        .id_count = f->events * (size_t)f->cpus,
    };

    spe_perf_time_from_hz(&time, 1000000000);
    for (unsigned i = 0; cpus && ids && i < f->cpus; i++) {
        cpus[i] = (struct spe_perf_cpu){.cpu = i,
                                        .pmu_type = PMU_TYPE,
                                        .midr = midr_of(o),
                                        .min_interval = record_cpu_find(o->cpu)->min_interval};
        for (unsigned e = 0; e < f->events; e++)
            ids[e * f->cpus + i] = (struct spe_perf_id){f->ids[e][i], i, i, UINT64_MAX};
    }
    set_error(f, cpus && ids ? spe_perf_writer_begin(f->writer, &start) : SPE_ERR_NOMEM);
    free(cpus);
    free(ids);
}

/* What cannot be written twice gets the form that perf has for pipes. */
static bool open_writer(struct record_file *f, const char *program, struct problem *problem)
{
    struct spe_perf_error error;
    bool seekable;

    f->fd = output_open(f->path, program, &seekable, problem);
    if (f->fd < 0)
        return false;
    if (spe_perf_writer_open_fd(&f->writer, f->fd, seekable ? 0 : SPE_PERF_WRITE_PIPE, &error) ==
        SPE_OK)
        return true;
    problem_say(problem, false, f->path, "%s", error.text);
    return false;
}

struct record_file *file_create(const struct record_options *options, const char *settings,
                                const char *program, unsigned cpus, struct problem *problem)
{
    struct record_file *f = calloc(1, sizeof(*f));

    if (!f || !(f->path = strdup(options->output)) || !(f->bulk = malloc(spe_bulk_sizeof()))) {
        free(f ? f->path : NULL);
        free(f);
        problem_say(problem, false, options->output, "%s", spe_strerror(SPE_ERR_NOMEM));
        return NULL;
    }
    f->options = options;
    f->settings = settings;
    f->cpus = cpus;
    f->shared = options->cpus != 0;
    f->events = options->calls ? EVENTS : CALLS_EVENT;
    if (!open_writer(f, program, problem)) {
        file_free(f);
        return NULL;
    }
    add_events(f, options);
    add_features(f);
    begin(f, options);
    if (!file_flush(f, problem)) {
        file_free(f);
        return NULL;
    }
    return f;
}

/* ---- Records -------------------------------------------------------------------------------- */

bool file_has_own_cpu(const struct record_file *f, uint32_t queue)
{
    return !f->shared && queue + 1 < f->cpus;
}

/* The CPU of a queue's thread: its own, or the last one, or one that threads share. */
static uint32_t file_cpu(const struct record_file *f, uint32_t queue)
{
    if (f->shared)
        return queue % f->cpus;
    return file_has_own_cpu(f, queue) ? queue : f->cpus - 1;
}

static struct spe_perf_record record_at(const struct record_file *f, const struct file_place *at,
                                        uint32_t type, int event)
{
    uint32_t cpu = file_cpu(f, at->cpu);

    return (struct spe_perf_record){
        .type = type,
        .misc = SPE_PERF_MISC_USER,
        .event = event,
        .id = {.pid = at->pid,
               .tid = at->tid,
               .time = at->time,
               .id = f->ids[event][cpu],
               .cpu = cpu},
    };
}

static void put(struct record_file *f, const struct spe_perf_record *r)
{
    if (r->id.cpu >= f->used_cpus)
        f->used_cpus = r->id.cpu + 1;
    if (!f->error)
        set_error(f, spe_perf_writer_record(f->writer, r));
}

void file_comm(struct record_file *f, const struct file_place *at, const char *name, bool exec)
{
    struct spe_perf_record r = record_at(f, at, SPE_PERF_COMM, TRACKING_EVENT);
    char comm[16];

    snprintf(comm, sizeof(comm), "%s", name); /* as the kernel cuts it */
    r.misc = exec ? SPE_PERF_MISC_COMM_EXEC : 0;
    r.comm = (struct spe_perf_comm){at->pid, at->tid, comm};
    put(f, &r);
}

void file_fork(struct record_file *f, const struct file_place *at, uint32_t parent,
               uint32_t parent_tid)
{
    struct spe_perf_record r = record_at(f, at, SPE_PERF_FORK, TRACKING_EVENT);

    r.misc = 0;
    r.task = (struct spe_perf_task){at->pid, parent, at->tid, parent_tid, at->time};
    put(f, &r);
}

void file_exit(struct record_file *f, const struct file_place *at, uint32_t parent)
{
    struct spe_perf_record r = record_at(f, at, SPE_PERF_EXIT, TRACKING_EVENT);

    r.misc = 0;
    r.task = (struct spe_perf_task){at->pid, parent, at->tid, parent, at->time};
    put(f, &r);
}

void file_start(struct record_file *f, const struct file_place *at)
{
    struct spe_perf_record r = record_at(f, at, SPE_PERF_ITRACE_START, SPE_EVENT);

    r.misc = 0;
    r.thread = (struct spe_perf_thread){at->pid, at->tid};
    put(f, &r);
}

/* Threads that share a CPU take turns as the host likes: nobody could say when. */
void file_switch(struct record_file *f, const struct file_place *at, bool out)
{
    struct spe_perf_record r = record_at(f, at, SPE_PERF_SWITCH_CPU_WIDE, TRACKING_EVENT);

    if (!file_has_own_cpu(f, at->cpu))
        return;
    r.misc = out ? SPE_PERF_MISC_SWITCH_OUT : 0;
    r.switched = (struct spe_perf_switch){0, 0}; /* the idle task before and after */
    put(f, &r);
}

void file_lost(struct record_file *f, const struct file_place *at, uint64_t count)
{
    struct spe_perf_record r = record_at(f, at, SPE_PERF_LOST, SPE_EVENT);

    r.misc = 0;
    r.lost = (struct spe_perf_lost){r.id.id, count};
    put(f, &r);
}

/* In the order of the fields that spe_perf_event_init_calls asks for. */
void file_stack(struct record_file *f, const struct file_place *at, uint64_t pc,
                const uint64_t *frames, size_t count)
{
    struct spe_perf_record r = record_at(f, at, SPE_PERF_SAMPLE, CALLS_EVENT);
    uint64_t words[8 + WIRE_FRAMES] = {
        r.id.id,
        pc,
        at->pid | (uint64_t)at->tid << 32,
        at->time,
        r.id.cpu,
        2 + count,
        SPE_PERF_CONTEXT_USER,
        pc,
    };

    if (f->events <= CALLS_EVENT || count > WIRE_FRAMES)
        return;
    memcpy(words + 8, frames, count * sizeof(*frames));
    r.bytes = (const uint8_t *)words;
    r.size = (8 + count) * sizeof(words[0]);
    put(f, &r);
}

/* ---- Maps and build-ids --------------------------------------------------------------------- */

/* Whether all the bytes are there; if not, errno is 0, or says why they could not be read. */
static bool read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
    size_t done = 0;
    ssize_t n = 1;

    while (done < size && n != 0) {
        n = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    errno = 0;
    return done == size;
}

/* QEMU's own mappings do not say what is code, but program headers do. */
static void find_code(int fd, struct known_file *k)
{
    Elf64_Ehdr e;
    Elf64_Phdr ph;

    if (!read_at(fd, &e, sizeof(e), 0) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
        e.e_ident[EI_CLASS] != ELFCLASS64)
        return;
    for (unsigned i = 0; i < e.e_phnum; i++) {
        if (!read_at(fd, &ph, sizeof(ph), e.e_phoff + i * sizeof(ph)))
            return;
        if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) || k->code_end)
            continue;
        k->code = ph.p_offset;
        k->code_end = ph.p_offset + ph.p_filesz;
    }
}

/* For reading, if it is a regular file. Whatever else a path leads to is not even opened: a FIFO
 * would wait for a writer, and a device may do anything. */
static int open_regular(const char *path)
{
    int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
    char again[32];
    struct stat st;

    if (place < 0)
        return -1;
    snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
    if (fstat(place, &st) == 0 && S_ISREG(st.st_mode))
        fd = open(again, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    close(place);
    return fd;
}

/* A path that leads to nothing is not worth a word: the file may be gone, or never have had a name.
 * But a file that is there and could not be read is missing for a reason of ours. */
static void count_unread(struct record_file *f)
{
    if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != EIO)
        return;
    f->unread.why = f->unread.files++ ? f->unread.why : errno;
}

static void read_build_id(struct record_file *f, struct known_file *k)
{
    int fd, size;

    errno = 0;
    fd = open_regular(k->path);
    if (fd >= 0)
        find_code(fd, k);
    count_unread(f);
    if (fd < 0)
        return;
    size = file_build_id(fd, k->id, sizeof(k->id));
    k->id_size = size > 0 && size <= (int)sizeof(k->id) ? (uint8_t)size : 0;
    close(fd);
}

/* A file that nothing is known of yet; NULL without memory. */
static struct known_file *new_file(struct record_file *f, const char *path)
{
    struct known_file *k;

    if (VECTOR_ROOM(&f->known) < 0)
        return NULL;
    k = &f->known.at[f->known.count];
    memset(k, 0, sizeof(*k));
    if (!(k->path = strdup(path)))
        return NULL;
    f->known.count++;
    return k;
}

/* The file, looked at once; NULL without memory. */
static const struct known_file *know(struct record_file *f, const char *path)
{
    struct known_file *k;

    for (size_t i = 0; i < f->known.count; i++)
        if (strcmp(f->known.at[i].path, path) == 0)
            return &f->known.at[i];
    k = new_file(f, path);
    if (!k) {
        count_unread(f);
        return NULL;
    }
    read_build_id(f, k);
    if (k->id_size) {
        struct spe_perf_build_id id = {
            .pid = -1, .misc = SPE_PERF_MISC_USER, .id_size = k->id_size, .path = k->path};

        memcpy(id.id, k->id, k->id_size);
        set_error(f, spe_perf_writer_build_id(f->writer, &id));
    }
    return k;
}

void file_map(struct record_file *f, const struct file_place *at, const struct wire_map *map)
{
    struct spe_perf_record r = record_at(f, at, SPE_PERF_MMAP2, TRACKING_EVENT);
    const struct known_file *k = map->inode ? know(f, map->path) : NULL;

    uint32_t protection = map->protection;

    if (k && !(protection & PROT_WRITE) && map->offset < k->code_end &&
        k->code < map->offset + map->length)
        protection |= PROT_EXEC;
    if (!(protection & PROT_EXEC))
        r.misc |= SPE_PERF_MISC_MMAP_DATA;
    r.mmap = (struct spe_perf_mmap){
        .pid = at->pid,
        .tid = at->tid,
        .start = map->start,
        .length = map->length,
        .page_offset = map->offset,
        .major = map->major,
        .minor = map->minor,
        .inode = map->inode,
        .protection = protection,
        .flags = map->flags,
        .path = map->path,
    };
    if (k && k->id_size) {
        r.mmap.id_size = k->id_size;
        memcpy(r.mmap.id, k->id, k->id_size);
        r.misc |= SPE_PERF_MISC_MMAP_BUILD_ID;
    }
    put(f, &r);
}

/* ---- AUX bytes ------------------------------------------------------------------------------ */

static uint64_t *offset_of(struct record_file *f, uint32_t queue)
{
    if (queue >= f->offset_count) {
        size_t count = (size_t)queue * 2 + 16;
        uint64_t *grown = realloc(f->offsets, count * sizeof(*grown));

        if (!grown) {
            set_error(f, SPE_ERR_NOMEM);
            return NULL;
        }
        memset(grown + f->offset_count, 0, (count - f->offset_count) * sizeof(*grown));
        f->offsets = grown;
        f->offset_count = count;
    }
    return &f->offsets[queue];
}

static void see_time(struct record_file *f, uint64_t time)
{
    if (!f->last_sample_ns || time < f->first_sample_ns)
        f->first_sample_ns = time;
    if (time > f->last_sample_ns)
        f->last_sample_ns = time;
}

/* The times of the records: the file says from when to when it has samples. */
static void see_times(struct record_file *f, const uint8_t *bytes, size_t size)
{
    enum { ROWS = 256 };
    uint64_t times[ROWS];
    uint8_t has[ROWS];
    struct spe_columns columns;
    struct spe_item skipped;
    int got;

    spe_columns_init(&columns);
    columns.capacity = ROWS;
    columns.timestamp = times;
    columns.has = has;
    set_error(f, spe_bulk_init(f->bulk, 0, SPE_BULK_AUTO));
    set_error(f, spe_bulk_feed(f->bulk, bytes, size));
    spe_bulk_end(f->bulk);
    do {
        columns.rows = 0;
        got = spe_bulk_next(f->bulk, &columns, &skipped);
        for (size_t i = 0; i < columns.rows; i++)
            if (has[i] & SPE_HAS_TIMESTAMP)
                see_time(f, times[i]);
    } while (got > SPE_ITEM_NONE);
}

void file_aux(struct record_file *f, const struct file_place *at, uint32_t queue, unsigned flags,
              const void *bytes, size_t size)
{
    struct spe_perf_record r = record_at(f, at, SPE_PERF_AUX, SPE_EVENT);
    uint64_t *offset = offset_of(f, queue);
    struct spe_perf_auxtrace piece = {
        .offset = offset ? *offset : 0,
        .reference = at->time,
        .idx = queue,
        .tid = UINT32_MAX,
        .cpu = file_cpu(f, at->cpu),
    };

    if (f->error || !offset)
        return;
    r.misc = 0;
    r.aux = (struct spe_perf_aux){*offset, size, flags};
    put(f, &r);
    if (size)
        set_error(f, spe_perf_writer_aux(f->writer, &piece, bytes, size));
    see_times(f, bytes, size);
    *offset += size;
}

/* ---- The end -------------------------------------------------------------------------------- */

static bool judge(struct record_file *f, struct problem *problem)
{
    const struct spe_perf_error *e = spe_perf_writer_problem(f->writer);

    if (!f->error)
        return true;
    if (!f->reported)
        problem_say(problem, false, f->path, "%s",
                    e && e->text[0] ? e->text : spe_strerror(f->error));
    f->reported = true;
    return false;
}

bool file_flush(struct record_file *f, struct problem *problem)
{
    if (!f->error)
        add_features(f);
    if (!f->error)
        set_error(f, spe_perf_writer_flush(f->writer));
    return judge(f, problem);
}

bool file_finish(struct record_file *f, uint64_t *bytes, struct problem *problem)
{
    if (!f->error)
        add_features(f);
    if (!f->error)
        set_error(f, spe_perf_writer_finish(f->writer));
    *bytes = spe_perf_writer_size(f->writer);
    return judge(f, problem);
}

void file_keep(const struct record_file *f, const char *directory, struct record_kept *kept)
{
    for (size_t i = 0; i < f->known.count; i++) {
        const struct known_file *k = &f->known.at[i];
        int fd = k->id_size ? open_regular(k->path) : -1;

        if (fd < 0)
            continue;
        keep_binary(directory, fd, k->path, k->id, k->id_size, kept);
        close(fd);
    }
}

struct file_unread file_unread(const struct record_file *f)
{
    return f->unread;
}

void file_free(struct record_file *f)
{
    if (!f)
        return;
    spe_perf_writer_close(f->writer);
    if (f->fd > STDERR_FILENO)
        close(f->fd);
    for (size_t i = 0; i < f->known.count; i++)
        free(f->known.at[i].path);
    free(f->known.at);
    free(f->offsets);
    free(f->bulk);
    free(f->path);
    free(f);
}
