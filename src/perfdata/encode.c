/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Views and features -> bytes: the mirror of records.c, perf_features.c and parts of auxtrace.c. */
#include "perfdata_internal.h"

/* ---- Text ----------------------------------------------------------------------------------- */

/* With its NUL, filled up to a multiple of 8. */
static void put_text(struct pd_bytes *out, const char *text)
{
    size_t size = strlen(text) + 1;

    pd_put(out, text, size);
    pd_put_zeros(out, -size & 7);
}

/* Of a feature: its size, then the bytes, filled up to a multiple of 64. */
void pd_encode_string(struct pd_bytes *out, const char *text)
{
    size_t size = strlen(text) + 1, full = (size + 63) & ~(size_t)63;

    pd_put32(out, (uint32_t)full);
    pd_put(out, text, size);
    pd_put_zeros(out, full - size);
}

/* ---- Records -------------------------------------------------------------------------------- */

static void put_mmap(struct pd_bytes *out, const struct spe_perf_record *rec)
{
    const struct spe_perf_mmap *m = &rec->mmap;

    pd_put32(out, m->pid);
    pd_put32(out, m->tid);
    pd_put64(out, m->start);
    pd_put64(out, m->length);
    pd_put64(out, m->page_offset);
    if (rec->type == SPE_PERF_MMAP) {
        put_text(out, m->path);
        return;
    }
    if (m->id_size) {
        pd_put32(out, m->id_size);
        pd_put(out, m->id, SPE_PERF_BUILD_ID_MAX);
    } else {
        pd_put32(out, m->major);
        pd_put32(out, m->minor);
        pd_put64(out, m->inode);
        pd_put64(out, m->inode_generation);
    }
    pd_put32(out, m->protection);
    pd_put32(out, m->flags);
    put_text(out, m->path);
}

static void put_task(struct pd_bytes *out, const struct spe_perf_task *t)
{
    pd_put32(out, t->pid);
    pd_put32(out, t->parent_pid);
    pd_put32(out, t->tid);
    pd_put32(out, t->parent_tid);
    pd_put64(out, t->time);
}

static void put_ksymbol(struct pd_bytes *out, const struct spe_perf_ksymbol *k)
{
    pd_put64(out, k->address);
    pd_put32(out, k->length);
    pd_put16(out, k->type);
    pd_put16(out, k->flags);
    put_text(out, k->name);
}

static void put_bpf(struct pd_bytes *out, const struct spe_perf_bpf *b)
{
    pd_put16(out, b->type);
    pd_put16(out, b->flags);
    pd_put32(out, b->id);
    pd_put(out, b->tag, sizeof(b->tag));
}

static void put_pair(struct pd_bytes *out, uint32_t pid, uint32_t tid)
{
    pd_put32(out, pid);
    pd_put32(out, tid);
}

static void put_three(struct pd_bytes *out, uint64_t a, uint64_t b, uint64_t c)
{
    pd_put64(out, a);
    pd_put64(out, b);
    pd_put64(out, c);
}

static void put_time_conv(struct pd_bytes *out, const struct spe_perf_time_conv *tc)
{
    uint8_t caps[8] = {tc->cap_zero, tc->cap_short};

    put_three(out, tc->shift, tc->mult, tc->zero);
    pd_put64(out, tc->cycles);
    pd_put64(out, tc->mask);
    pd_put(out, caps, sizeof(caps));
}

/* Everything behind pid, id and path is the same in records and in the list of build-ids. */
static void put_build_id(struct pd_bytes *out, const struct spe_perf_build_id *b)
{
    uint8_t id[24] = {0};

    memcpy(id, b->id, b->id_size);
    id[20] = b->id_size;
    pd_put32(out, (uint32_t)b->pid);
    pd_put(out, id, sizeof(id));
    put_text(out, b->path);
    pd_put_zeros(out, 4); /* the path begins at 36 */
}

static void put_namespaces(struct pd_bytes *out, const struct spe_perf_namespaces *n)
{
    put_pair(out, n->pid, n->tid);
    pd_put64(out, n->count);
    if (n->count > PD_RECORD_MAX)
        out->failed = true;
    else
        pd_put(out, n->links, (size_t)n->count * 16);
}

static void put_body(struct pd_bytes *out, const struct spe_perf_record *rec)
{
    switch (rec->type) {
    case SPE_PERF_MMAP:
    case SPE_PERF_MMAP2:
        put_mmap(out, rec);
        break;
    case SPE_PERF_COMM:
        put_pair(out, rec->comm.pid, rec->comm.tid);
        put_text(out, rec->comm.name);
        break;
    case SPE_PERF_FORK:
    case SPE_PERF_EXIT:
        put_task(out, &rec->task);
        break;
    case SPE_PERF_SWITCH:
        break;
    case SPE_PERF_SWITCH_CPU_WIDE:
        put_pair(out, rec->switched.other_pid, rec->switched.other_tid);
        break;
    case SPE_PERF_ITRACE_START:
        put_pair(out, rec->thread.pid, rec->thread.tid);
        break;
    case SPE_PERF_AUX:
        put_three(out, rec->aux.offset, rec->aux.size, rec->aux.flags);
        break;
    case SPE_PERF_LOST:
        pd_put64(out, rec->lost.id);
        pd_put64(out, rec->lost.count);
        break;
    case SPE_PERF_LOST_SAMPLES:
        pd_put64(out, rec->lost.count);
        break;
    case SPE_PERF_THROTTLE:
    case SPE_PERF_UNTHROTTLE:
        put_three(out, rec->throttle.time, rec->throttle.id, rec->throttle.stream_id);
        break;
    case SPE_PERF_NAMESPACES:
        put_namespaces(out, &rec->namespaces);
        break;
    case SPE_PERF_KSYMBOL:
        put_ksymbol(out, &rec->ksymbol);
        break;
    case SPE_PERF_BPF:
        put_bpf(out, &rec->bpf);
        break;
    case SPE_PERF_BUILD_ID:
        put_build_id(out, &rec->build_id);
        break;
    case SPE_PERF_TIME_CONV:
        put_time_conv(out, &rec->time_conv);
        break;
    default:
        pd_put(out, rec->bytes, rec->size);
        pd_put_zeros(out, -rec->size & 7);
        break;
    }
}

static void put_sample_id(struct pd_bytes *out, const struct spe_perf_sample_id *id,
                          const struct spe_perf_event *event)
{
    uint64_t type = event->sample_type;

    if (type & SPE_PERF_SAMPLE_TID)
        put_pair(out, id->pid, id->tid);
    if (type & SPE_PERF_SAMPLE_TIME)
        pd_put64(out, id->time);
    if (type & SPE_PERF_SAMPLE_ID)
        pd_put64(out, id->id);
    if (type & SPE_PERF_SAMPLE_STREAM_ID)
        pd_put64(out, id->stream_id);
    if (type & SPE_PERF_SAMPLE_CPU)
        put_pair(out, id->cpu, 0);
    if (type & SPE_PERF_SAMPLE_IDENTIFIER)
        pd_put64(out, id->id);
}

static uint16_t misc_of(const struct spe_perf_record *rec)
{
    if (rec->type == SPE_PERF_MMAP2 && rec->mmap.id_size)
        return rec->misc | SPE_PERF_MISC_MMAP_BUILD_ID;
    if (rec->type == SPE_PERF_MMAP2)
        return rec->misc & (uint16_t)~SPE_PERF_MISC_MMAP_BUILD_ID;
    if (rec->type == SPE_PERF_BUILD_ID)
        return rec->misc | SPE_PERF_MISC_BUILD_ID_SIZE;
    return rec->misc;
}

static size_t begin_record(struct pd_bytes *out, uint32_t type, uint16_t misc)
{
    size_t start = out->size;

    pd_put32(out, type);
    pd_put16(out, misc);
    pd_put16(out, 0);
    return start;
}

/* Fill in the size. */
static int end_record(struct pd_bytes *out, size_t start)
{
    if (out->failed)
        return SPE_ERR_NOMEM;
    if (out->size - start > PD_RECORD_MAX) {
        out->size = start;
        return SPE_ERR_SIZE;
    }
    store16(out->bytes + start + 6, (uint16_t)(out->size - start));
    return SPE_OK;
}

int pd_encode_record(struct pd_bytes *out, const struct spe_perf_record *record,
                     const struct spe_perf_event *event)
{
    size_t start = begin_record(out, record->type, misc_of(record));

    put_body(out, record);
    if (event && record->type < SPE_PERF_HEADER_ATTR && record->type != SPE_PERF_SAMPLE &&
        (event->flags & SPE_PERF_FLAG_SAMPLE_ID_ALL))
        put_sample_id(out, &record->id, event);
    return end_record(out, start);
}

void pd_encode_build_id(struct pd_bytes *out, uint32_t type, const struct spe_perf_build_id *b)
{
    size_t start = begin_record(out, type, b->misc | SPE_PERF_MISC_BUILD_ID_SIZE);

    put_build_id(out, b);
    end_record(out, start);
}

void pd_encode_time_conv(struct pd_bytes *out, const struct spe_perf_time_conv *tc)
{
    size_t start = begin_record(out, SPE_PERF_TIME_CONV, 0);

    put_time_conv(out, tc);
    end_record(out, start);
}

/* ---- Metadata ------------------------------------------------------------------------------- */

#define CPU_MAGIC UINT64_C(0x1010101010101010)

enum { METADATA_WORDS = 4, CPU_WORDS = 7 };

static void put_cpu(struct pd_bytes *out, const struct spe_perf_cpu *cpu)
{
    pd_put64(out, CPU_MAGIC);
    pd_put64(out, cpu->cpu);
    pd_put64(out, CPU_WORDS - 3);
    pd_put64(out, cpu->midr);
    pd_put64(out, cpu->pmu_type == SPE_PERF_NO_PMU ? UINT64_MAX : cpu->pmu_type);
    pd_put64(out, cpu->min_interval);
    pd_put64(out, cpu->event_filter);
}

/*
 * Version 2 has the PMU type in word 2. perf up to 6.12 takes word 0 for it and finds no event if
 * there is a 2; later versions look at word 0 only to tell a 1 from all else. So the PMU type is in
 * both, and everybody is content.
 */
int pd_encode_metadata(struct pd_bytes *out, const struct spe_perf_metadata *m)
{
    size_t room = (PD_RECORD_MAX - 16) / 8 - METADATA_WORDS;
    size_t start = begin_record(out, SPE_PERF_AUXTRACE_INFO, 0);

    pd_put32(out, PD_AUXTRACE_SPE);
    pd_put32(out, PD_MARK_PIPE);
    pd_put64(out, m->pmu_type);
    if (!m->cpu_count || m->cpu_count > room / CPU_WORDS) {
        pd_put64(out, 1); /* buffers per CPU */
        return end_record(out, start);
    }
    pd_put64(out, METADATA_WORDS);
    pd_put64(out, m->pmu_type);
    pd_put64(out, m->cpu_count);
    for (size_t i = 0; i < m->cpu_count; i++)
        put_cpu(out, &m->cpus[i]);
    return end_record(out, start);
}

/* ---- Features ------------------------------------------------------------------------------- */

static bool feature_string(struct pd_bytes *out, const char *text)
{
    if (text)
        pd_encode_string(out, text);
    return text;
}

static bool feature_command(struct pd_bytes *out, const struct spe_perf_features *f)
{
    pd_put32(out, (uint32_t)f->command_count);
    for (size_t i = 0; i < f->command_count; i++)
        pd_encode_string(out, f->command[i]);
    return f->command_count;
}

static bool feature_numa(struct pd_bytes *out, const struct spe_perf_features *f)
{
    pd_put32(out, (uint32_t)f->numa_count);
    for (size_t i = 0; i < f->numa_count; i++) {
        pd_put32(out, f->numa[i].node);
        pd_put64(out, f->numa[i].total_kb);
        pd_put64(out, f->numa[i].free_kb);
        pd_encode_string(out, f->numa[i].cpus);
    }
    return f->numa_count;
}

static bool feature_mem(struct pd_bytes *out, const struct spe_perf_features *f)
{
    put_three(out, 1, f->mem_block_size, f->mem_count);
    for (size_t i = 0; i < f->mem_count; i++) {
        put_three(out, f->mem[i].node, f->mem[i].bits, f->mem[i].bits);
        pd_put(out, f->mem[i].set, (size_t)((f->mem[i].bits + 63) / 64 * 8));
    }
    return f->mem_count;
}

static bool feature_pmus(struct pd_bytes *out, const struct spe_perf_features *f)
{
    pd_put32(out, (uint32_t)f->pmu_count);
    for (size_t i = 0; i < f->pmu_count; i++) {
        pd_put32(out, f->pmus[i].type);
        pd_encode_string(out, f->pmus[i].name);
    }
    return f->pmu_count;
}

static bool feature_build_ids(struct pd_bytes *out, const struct spe_perf_features *f)
{
    for (size_t i = 0; i < f->build_id_count; i++)
        pd_encode_build_id(out, 0, &f->build_ids[i]);
    return f->build_id_count;
}

static bool feature_numbers(struct pd_bytes *out, unsigned feature,
                            const struct spe_perf_features *f)
{
    switch (feature) {
    case SPE_PERF_FEATURE_NRCPUS:
        put_pair(out, f->cpus_available, f->cpus_online);
        return f->cpus_available;
    case SPE_PERF_FEATURE_TOTAL_MEM:
        pd_put64(out, f->total_mem_kb);
        return f->total_mem_kb;
    case SPE_PERF_FEATURE_SAMPLE_TIME:
        pd_put64(out, f->first_sample_ns);
        pd_put64(out, f->last_sample_ns);
        return f->last_sample_ns;
    case SPE_PERF_FEATURE_CLOCKID:
        pd_put64(out, f->clockid_resolution_ns);
        return f->clockid_resolution_ns;
    default:
        return false;
    }
}

bool pd_encode_feature(struct pd_bytes *out, unsigned feature, const struct spe_perf_features *f)
{
    switch (feature) {
    case SPE_PERF_FEATURE_BUILD_ID:
        return feature_build_ids(out, f);
    case SPE_PERF_FEATURE_HOSTNAME:
        return feature_string(out, f->hostname);
    case SPE_PERF_FEATURE_OSRELEASE:
        return feature_string(out, f->osrelease);
    case SPE_PERF_FEATURE_VERSION:
        return feature_string(out, f->version);
    case SPE_PERF_FEATURE_ARCH:
        return feature_string(out, f->arch);
    case SPE_PERF_FEATURE_CPUDESC:
        return feature_string(out, f->cpudesc);
    case SPE_PERF_FEATURE_CPUID:
        return feature_string(out, f->cpuid);
    case SPE_PERF_FEATURE_CMDLINE:
        return feature_command(out, f);
    case SPE_PERF_FEATURE_NUMA_TOPOLOGY:
        return feature_numa(out, f);
    case SPE_PERF_FEATURE_PMU_MAPPINGS:
        return feature_pmus(out, f);
    case SPE_PERF_FEATURE_MEM_TOPOLOGY:
        return feature_mem(out, f);
    default:
        return feature_numbers(out, feature, f);
    }
}
