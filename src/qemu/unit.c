/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pe/machine_fast.h"
#include "qemu/channel.h"
#include "qemu/registers.h"
#include "qemu/registers_bare.h"
#include "qemu/signals.h"
#include "qemu/slots.h"
#include "qemu/tasks.h"
#include "qemu/trouble.h"
#include "spu/spu_fast.h"

#define FORCE (INT64_C(1) << 62)
#define MANY (INT64_C(1) << 60)          /* operations: more than ever run */
#define DRAIN_AFTER UINT64_C(1000000000) /* ns: what a killed launcher can lose */

struct unit_process unit_process;

/* Where a vCPU is before its first block. */
static const struct pe_block nowhere;

__thread struct here here = {.block = &nowhere};

/* ---- Configuration -------------------------------------------------------------------------- */

static bool setup_machine(const struct wire_setup *setup, char *why, size_t why_size)
{
    bool core = setup->flags & WIRE_CORE;

    if ((core ? pe_machine_create : spe_machine_create)(&setup->machine, &unit_process.machine, why,
                                                        why_size) != SPE_OK)
        return false;
    spe_machine_alone(unit_process.machine, true); /* until there is a second thread */
    return true;
}

/* In this emulator an operation is over before the next one begins, so that samples never collide
 * (with a merge: before PE_WATCHES others); those that a block was left before, by an exception,
 * were "misspeculated", and are not told. */
static bool setup_unit(const struct wire_setup *setup)
{
    struct spe_spu_config *config = &unit_process.config;

    if (spe_spu_config_init(config, setup->cpu) < 0)
        return false;
    if (!(setup->flags & WIRE_FUNCTIONAL)) /* nobody looks at data sources and branches then */
        spe_spu_config_features(config, config->features & ~(SPE_FEAT(SPE_LDS) | SPE_FEAT(SPE_FDS) |
                                                             SPE_FEAT(SPE_PBT)));
    config->max_inflight_samples = setup->flags & WIRE_CORE ? PE_WATCHES : UNIT_SAMPLES_MAX;
    config->ts_point = SPE_TS_SAMPLED;
    config->pop_misspec = 1;
    config->capture_misspec = 0;
    config->data_source_map_count = 0; /* the machine knows the numbers */
    /* Nobody sees the flags when a conditional select or compare runs: they count as unconditional,
     * which an implementation may choose (D17.6.5). */
    config->cond_ops = 0;
    /* An operation missed if any part of it did: exact counts are of operations, too. */
    config->part_events = SPE_PART_EVENTS_WHOLE;
    memset(config->store_cache_events, SPE_STORE_RECORDED, sizeof(config->store_cache_events));
    config->rng_seed = setup->seed;
    return true;
}

bool unit_setup(const struct wire_setup *setup, char *why, size_t why_size)
{
    unit_process.event = (struct driver_event){
        setup->config,  setup->config1, setup->config2,
        setup->config3, setup->config4, setup->period,
    };
    unit_process.cpus = setup->cpus;
    unit_process.stat = setup->flags & WIRE_STAT;
    unit_process.vector_bits = setup->vector_bits;
    registers_now.zva_bytes = setup->zva_bytes;
    unit_process.calls = setup->flags & WIRE_FOLLOW;
    if (!setup_unit(setup)) {
        snprintf(why, why_size, "there is no unit of %.32s", setup->cpu);
        return false;
    }
    if (spe_spu_config_validate(&unit_process.config, why, why_size) < 0)
        return false;
    return !(setup->flags & WIRE_FUNCTIONAL) || setup_machine(setup, why, why_size);
}

void unit_prepare(struct vcpu *v)
{
    pthread_mutex_init(&v->lock, NULL);
    v->slot = SLOTS_NONE;
    v->own = (struct here){.left = -1}; /* the first block has to look */
    v->here = &v->own;
    v->vector_bits = unit_process.vector_bits;
    v->hidden = 0;
}

/* ---- The merge ------------------------------------------------------------------------------ */

void unit_begin_merge(void)
{
    static struct pe_merge merge;

    if (unit_process.merge)
        pe_merge_forget(&merge);
    pe_merge_init(&merge, unit_process.machine, unit_process.stat);
    merge.helper.wanted = true;
    unit_process.merge = &merge;
}

static void take_slot(struct vcpu *v)
{
    if (v->slot == SLOTS_NONE)
        v->slot = slots_take();
}

static void free_stream(struct vcpu *v)
{
    free(v->stream.events);
    free(v->stream.watches);
    free(v->stream.stores);
    v->stream = (struct pe_stream){0};
    v->here->writer = (struct pe_writer){0};
}

/* The slot decides the cpu, so a thread gets its slot before it runs. */
void unit_begin_stream(struct vcpu *v)
{
    if (!unit_process.merge)
        return;
    take_slot(v);
    if (v->slot != SLOTS_NONE &&
        !pe_stream_begin(&v->stream, &v->here->writer, unit_process.merge, v->slot))
        free_stream(v);
}

void unit_not_recorded(const char *why)
{
    trouble_tell("a thread could not be recorded: %s", why);
}

/* ---- The unit's host ------------------------------------------------------------------------ */

static void write_buffer(void *user, const struct spe_write *w, struct spe_write_result *result)
{
    struct vcpu *v = user;
    uint64_t base = (uint64_t)(uintptr_t)v->shared->buffer;

    if (w->address < base || w->address + w->size > base + WIRE_BUFFER) {
        result->fault = SPE_FAULT_TRANSLATION;
        result->level = 3;
        return;
    }
    memcpy(v->shared->buffer + (w->address - base), w->data, w->size);
    result->written = w->size;
}

static uint64_t physical_count(void *user)
{
    struct vcpu *v = user;

    v->counted = channel_time();
    return v->counted;
}

static void interrupt(void *user, bool level)
{
    ((struct vcpu *)user)->irq = level;
}

/* ---- Starting ------------------------------------------------------------------------------- */

static uint64_t buffer_base(const struct vcpu *v)
{
    return (uint64_t)(uintptr_t)v->shared->buffer;
}

/* ftruncate, but quietly: the program's own limit for files counts for ours, and would bring it a
 * SIGXFSZ that it has not earned. One that waits already is the program's. */
static bool set_size(int fd, size_t size)
{
    const struct timespec at_once = {0};
    sigset_t excess, waiting, old;
    bool good;
    int error;

    sigemptyset(&excess);
    sigaddset(&excess, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &excess, &old);
    sigpending(&waiting);
    good = ftruncate(fd, (off_t)size) == 0;
    error = errno;
    if (!good && !sigismember(&waiting, SIGXFSZ))
        while (sigtimedwait(&excess, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = error;
    return good;
}

/* Memory for the buffer that the launcher has, too; its descriptor stays nowhere. */
static bool share_buffer(struct vcpu *v)
{
    struct wire_thread message = {
        .header = {.type = WIRE_THREAD, .size = sizeof(message)},
        .slot = v->slot,
    };
    int fd = memfd_create("specimen", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool good = false;

    if (fd < 0)
        return false;
    if (set_size(fd, sizeof(*v->shared)) && fcntl(fd, F_ADD_SEALS, WIRE_SEALS) == 0) {
        v->shared = mmap(NULL, sizeof(*v->shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (v->shared == MAP_FAILED)
            v->shared = NULL;
        good = v->shared && channel_send(&message.header, NULL, 0, fd);
    }
    close(fd);
    return good;
}

static bool make_unit(struct vcpu *v)
{
    const struct spe_spu_host host = {
        .size = sizeof(host),
        .user = v,
        .write = write_buffer,
        .physical_count = physical_count,
        .interrupt = interrupt,
    };
    struct spe_spu_config config = unit_process.config;

    config.rng_seed += (v->slot + 1) * UINT64_C(0x9e3779b97f4a7c15) +
                       unit_process.lineage * UINT64_C(0xbf58476d1ce4e5b9);
    errno = ENOMEM;
    v->samples = calloc(UNIT_SAMPLES_MAX, sizeof(*v->samples));
    v->words = calloc(UNIT_WORDS, sizeof(*v->words));
    if (unit_process.merge)
        v->watched = calloc(PE_WATCHES, sizeof(*v->watched));
    if (unit_process.calls)
        v->kept = calloc(config.max_inflight_samples, sizeof(*v->kept));
    if (!v->samples || !v->words || (unit_process.merge && !v->watched) ||
        (unit_process.calls && !v->kept) || spe_spu_create(&config, &host, &v->spu, NULL, 0) < 0)
        return false;
    driver_start(v->spu, &unit_process.event, buffer_base(v), WIRE_BUFFER, (uint32_t)v->tid);
    return true;
}

/* A merge lets threads share the cpus; else a thread without a cpu would have no facts. */
static bool needs_cpu(void)
{
    return unit_process.machine && !unit_process.merge;
}

/* In the thread itself, which is not where QEMU creates the vCPU. */
static void start(struct vcpu *v)
{
    const char *why = NULL;

    v->started = true;
    v->tid = gettid();
    if (!v->stream.events)
        unit_begin_stream(v);
    take_slot(v);
    v->cpu = slots_are_shared() ? v->slot % unit_process.cpus : v->slot;
    v->cpu_lock = slots_cpu_lock(v->cpu);
    v->pe = NULL;
    if (needs_cpu() && !unit_process.stat && !v->cpu_lock && v->cpu < unit_process.cpus)
        v->pe = unit_process.machine->cpus[v->cpu];
    v->drained = channel_time();
    if (v->slot == SLOTS_NONE)
        errno = EAGAIN; /* as when the kernel has no room for a thread */
    else if (v->cpu >= unit_process.cpus && needs_cpu())
        why = "the functional model has no CPU for another one; --cpus lets threads share them";
    else if (unit_process.merge && !v->stream.events)
        errno = ENOMEM;
    else if (share_buffer(v) && make_unit(v))
        return;
    v->ended = true;
    unit_not_recorded(why ? why : strerror(errno));
}

/* ---- Sending -------------------------------------------------------------------------------- */

/* Samples that are no records. */
static void publish_lost(struct wire_statistics *to, const struct spe_spu_stats *s)
{
    uint64_t discarded = 0;

    to->filtered = s->fate[SPE_FATE_FILTERED];
    to->dropped = s->dropped + s->fate[SPE_FATE_NOT_CAPTURED];
    for (unsigned i = SPE_FATE_DISCARD_MODE; i < SPE_FATE_COUNT; i++)
        discarded += s->fate[i];
    to->discarded = discarded;
    for (unsigned i = 0; i < SPE_SAMPLE_FILTER_COUNT; i++)
        to->filtered_by[i] = s->filtered_by[i];
}

static void publish_stacks(struct wire_statistics *to, const struct wire_statistics *stacks)
{
    to->stacks = stacks->stacks;
    to->stacks_unsettled = stacks->stacks_unsettled;
    to->stacks_lost = stacks->stacks_lost;
    to->stacks_deep = stacks->stacks_deep;
}

static void publish_statistics(struct vcpu *v)
{
    struct wire_statistics *to = &v->shared->statistics;
    const struct spe_spu_stats *s = spu_stats(v->spu);

    to->operations = s->population;
    to->selected = s->selected;
    to->collisions = s->collisions;
    to->sampled = s->sampled;
    to->records = s->records;
    to->bytes = s->bytes_written;
    to->hidden = v->hidden;
    if (spu_lost(v->spu)) /* until then they are all zero, as in new memory */
        publish_lost(to, s);
    if (v->kept)
        publish_stacks(to, &v->stacks);
}

/* Let the launcher see the buffer as it is: it takes what is there when we are killed. */
static void publish(struct vcpu *v)
{
    uint64_t size = spu_pointer(v->spu) - buffer_base(v);

    publish_statistics(v);
    atomic_store_explicit(&v->shared->head, size, memory_order_release);
}

/* The messages' last members are large, come from elsewhere, and are not made here. */
static bool send_aux(struct vcpu *v, const struct driver_data *data)
{
    struct wire_aux message;

    memset(&message, 0, offsetof(struct wire_aux, bytes));
    message.header = (struct wire_header){
        .type = WIRE_AUX, .size = offsetof(struct wire_aux, bytes), .tid = (uint32_t)v->tid};
    message.slot = v->slot;
    message.flags = data->flags;
    message.offset = atomic_load_explicit(&v->shared->offset, memory_order_relaxed);
    message.records = (uint32_t)(v->shared->statistics.records - v->shared->carried);
    message.size = (uint32_t)data->size;
    return channel_send(&message.header, v->shared->buffer, data->size, -1);
}

/* Stacks are not worth a look at offsets: those of a thread that is killed just now are lost. */
static void send_stacks(struct vcpu *v)
{
    uint64_t size = atomic_load_explicit(&v->shared->stacks_size, memory_order_relaxed);
    struct wire_calls message;

    if (!size)
        return;
    memset(&message, 0, offsetof(struct wire_calls, stacks));
    message.header = (struct wire_header){
        .type = WIRE_CALLS, .size = offsetof(struct wire_calls, stacks), .tid = (uint32_t)v->tid};
    message.slot = v->slot;
    message.size = (uint32_t)size;
    atomic_store_explicit(&v->shared->stacks_size, 0, memory_order_release);
    if (!channel_send(&message.header, v->shared->stacks, message.size, -1))
        v->ended = true;
}

void unit_drain(struct vcpu *v)
{
    struct driver_data data;
    uint64_t offset;

    send_stacks(v);
    driver_collect(v->spu, buffer_base(v), &data);
    publish(v);
    v->irq = false;
    v->drained = channel_time();
    if (data.size == 0 && data.flags == 0)
        return;
    if (!send_aux(v, &data) || data.fatal) {
        v->ended = true;
        return;
    }
    /* Sent and still in the buffer for a moment: the launcher knows what it has by the offset. */
    offset = atomic_load_explicit(&v->shared->offset, memory_order_relaxed);
    v->shared->carried = v->shared->statistics.records;
    atomic_store_explicit(&v->shared->head, 0, memory_order_release);
    atomic_store_explicit(&v->shared->offset, offset + data.size, memory_order_release);
    driver_resume(v->spu, buffer_base(v), WIRE_BUFFER);
}

/* ---- Finishing a sample --------------------------------------------------------------------- */

/* There is no translation: physical addresses are the virtual ones. */
static void translate(struct spe_memory_access *a)
{
    a->pa = a->va & UINT64_C(0xffffffffffff);
    a->pas = SPE_NONSECURE;
}

/* The branch was the block's last, so that the next block tells how it went. False if it does not:
 * a signal's handler came next, or nothing. */
static bool describe_branch(struct spe_operation *op, const struct spe_a64 *insn, uint64_t next)
{
    uint64_t direct = op->pc + (uint64_t)insn->displacement;

    if (op->kind == SPE_OPERATION_ISB)
        return true;
    op->target_security = SPE_NONSECURE;
    if (!next)
        return false;
    if (!insn->direct) {
        op->taken = true;
        op->target = next;
        return true;
    }
    op->target = direct;
    op->taken = next == direct;
    if (op->taken)
        return true;
    op->condition_failed = op->conditional;
    return op->conditional && next == op->pc + 4;
}

/* An operation that should have accessed memory and did not: it never ran, or it faulted. Only a
 * store-exclusive may fail quietly, vector accesses may have no active element, and of some nobody
 * sees the accesses. */
static bool never_ran(const struct sample *s, struct spe_operation *op)
{
    if (op->kind != SPE_OPERATION_LOAD && op->kind != SPE_OPERATION_STORE &&
        op->kind != SPE_OPERATION_ATOMIC)
        return false;
    if (op->exclusive && op->kind == SPE_OPERATION_STORE) {
        op->exclusive_failed = true;
        return false;
    }
    return !op->predicated && !s->site->hidden;
}

/* Without registers: what the word tells, and the accesses that QEMU has seen. */
static bool describe_seen(struct sample *s, const struct spe_a64 *insn)
{
    static const struct spe_a64_registers unknown = {.size = sizeof(unknown)};
    struct spe_memory_access ignored[SPE_A64_ACCESSES_MAX];

    spe_a64_evaluate(insn, pe_site_pc(s->site), &unknown, &s->op, ignored);
    s->op.accesses = s->access_count ? s->accesses : NULL;
    s->op.access_count = s->access_count;
    s->op.contiguous = s->access_count > 1 && !s->op.gather_scatter;
    s->op.partial_predicate = s->partial;
    s->op.empty_predicate = s->empty;
    return s->access_count || !never_ran(s, &s->op);
}

/* Does the machine know what the operation met? Not of a cpu that it does not have, and not of
 * accesses that nobody saw. */
static bool is_modelled(const struct vcpu *v, const struct spe_a64 *insn,
                        const struct spe_operation *op)
{
    bool accesses = insn->load || insn->store || insn->address != SPE_A64_NO_ADDRESS;

    if (!unit_process.machine || (!unit_process.merge && v->cpu >= unit_process.cpus))
        return false;
    return !accesses || op->access_count || op->exclusive_failed || op->empty_predicate;
}

/* The handler of a signal is not where a block goes on. */
static bool came_to_its_end(const struct pe_block *block, uint64_t next,
                            const struct spe_a64_registers *registers)
{
    bool taken;

    if (!next || !block->branch)
        return next == block->end;
    if (block->direct)
        return unit_branch_outcome(block, next, &taken);
    return registers && registers->x(registers->user, block->target_in) == next;
}

/* It was evaluated when its block began: did it run, or did one before it fault, or itself? */
static bool may_have_faulted(const struct sample *s, uint64_t next,
                             const struct spe_a64_registers *registers)
{
    const struct pe_block *block = s->site->block;
    uint64_t at;

    if (!s->evaluated || !s->site->early || !pe_block_tells(block) ||
        came_to_its_end(block, next, registers))
        return false;
    if (!registers || !signal_interrupted(registers, tasks_read_word, &at))
        return true;
    return at - block->pc < block->end - block->pc && pe_site_pc(s->site) >= at;
}

/* Programs spend their time in few instructions, so a word has mostly been classified before. What
 * this returns is valid until the next call. */
static const struct spe_a64 *classify(struct vcpu *v, uint32_t word)
{
    uint64_t key = (uint64_t)v->vector_bits << 33 | UINT64_C(1) << 32 | word;
    struct known_word *known = &v->words[word * 2654435769u / (UINT32_MAX / UNIT_WORDS + 1)];

    if (known->key != key) {
        spe_a64_classify(word, v->vector_bits, &known->insn);
        known->key = key;
    }
    return &known->insn;
}

/* Fill in s->op; one that did not run is "misspeculated". */
static void describe(struct vcpu *v, struct sample *s, uint64_t next,
                     const struct spe_a64_registers *registers)
{
    const struct spe_a64 *insn = classify(v, s->site->word);
    bool ran = true;

    if (!s->evaluated)
        ran = describe_seen(s, insn) && !(unit_process.by_registers && s->site->registers);
    if (may_have_faulted(s, next, registers))
        ran = false;
    s->op.mispredicted = s->mispredicted;
    if (insn->branch && !describe_branch(&s->op, insn, next))
        ran = false;
    s->op.misspeculated = !ran;
    v->hidden += s->site->hidden && !s->evaluated && !s->access_count && !s->empty;
    s->op.unmodelled = !is_modelled(v, insn, &s->op);
    if (s->op.unmodelled)
        return;
    if (unit_process.merge && ran)
        pe_describe(&unit_process.machine->config, &s->op, s->accesses, s->met, s->wait);
    else if (ran)
        spe_machine_describe(unit_process.machine, v->cpu, &s->op, s->accesses, s->met);
}

static void count_no_stack(struct vcpu *v, int why)
{
    v->stacks.stacks_unsettled += why == CALLS_UNSETTLED;
    v->stacks.stacks_lost += why == CALLS_LOST;
    v->stacks.stacks_deep += why == CALLS_DEEP;
}

/* The sample has become a record: its stack goes to the launcher, too. */
static void tell_stack(struct vcpu *v, const struct sample *s)
{
    const struct kept_stack *kept = &v->kept[s->number - 1];
    struct wire_stack head = {kept->time, pe_site_pc(s->site), (uint64_t)kept->count};
    uint64_t size = atomic_load_explicit(&v->shared->stacks_size, memory_order_relaxed);
    uint64_t frames = (uint64_t)kept->count * sizeof(kept->frames[0]);
    uint8_t *to;

    if (kept->count < 0) {
        count_no_stack(v, kept->count);
        return;
    }
    if (size + sizeof(head) + frames > WIRE_STACKS) {
        send_stacks(v);
        size = 0;
    }
    to = (uint8_t *)v->shared->stacks + size;
    memcpy(to, &head, sizeof(head));
    memcpy(to + sizeof(head), kept->frames, frames);
    atomic_store_explicit(&v->shared->stacks_size, size + sizeof(head) + frames,
                          memory_order_release);
    v->stacks.stacks++;
}

static void finish_sample(struct vcpu *v, struct sample *s, uint64_t next,
                          const struct spe_a64_registers *registers)
{
    int fate;

    describe(v, s, next, registers);
    fate = spe_spu_complete(v->spu, s->number, &s->op);
    if (v->kept && fate == SPE_FATE_WRITTEN)
        tell_stack(v, s);
    if (v->irq)
        unit_drain(v);
}

/* What the model saw of it. */
static void take_watch(struct sample *s, const struct pe_watch *watch)
{
    s->access_count = watch->access_count;
    s->mispredicted = watch->mispredicted;
    s->wait = watch->wait;
    s->evaluated = false;
    for (uint32_t i = 0; i < watch->access_count; i++) {
        const struct pe_watched_access *a = &watch->accesses[i];

        s->accesses[i] =
            (struct spe_memory_access){.va = a->va, .bytes = a->bytes, .store = a->store};
        translate(&s->accesses[i]);
        s->met[i] = a->met;
    }
}

static struct pe_watch *oldest_watch(const struct vcpu *v)
{
    return &v->stream.watches[v->watched[v->watched_first % PE_WATCHES].number - 1];
}

static bool is_done(const struct pe_watch *watch)
{
    return __atomic_load_n(&watch->done, __ATOMIC_ACQUIRE);
}

/* Those that the model has had; a record never comes before that of an earlier operation. */
static void finish_watched(struct vcpu *v)
{
    while (v->watched_first != v->watched_end && is_done(oldest_watch(v))) {
        const struct watched *w = &v->watched[v->watched_first % PE_WATCHES];
        const struct pe_watch *watch = oldest_watch(v);
        struct sample *s = v->samples;

        s->site = w->site;
        s->number = w->number;
        s->partial = w->partial;
        s->empty = w->empty;
        take_watch(s, watch);
        finish_sample(v, s, watch->next, NULL);
        v->watched_first++;
    }
}

static bool is_recording(const struct vcpu *v)
{
    return v->started && !v->ended;
}

/* What the model has had, for the launcher to see. */
static void collect(struct vcpu *v)
{
    if (!is_recording(v) || v->watched_first == v->watched_end)
        return;
    finish_watched(v);
    publish(v);
}

/* `next` is where the program goes on, 0 if nobody knows, and what it has in its registers there,
 * NULL: the same. */
static void finish_samples(struct vcpu *v, uint64_t next, const struct spe_a64_registers *registers)
{
    if (unit_process.merge)
        finish_watched(v);
    for (unsigned i = 0; i < v->sample_count; i++)
        finish_sample(v, &v->samples[i], next, registers);
    v->sample_count = 0;
    v->armed_size = 0;
}

/* ---- Looking at a block --------------------------------------------------------------------- */

static void begin_watch(struct vcpu *v, const struct pe_site *site, unsigned number)
{
    struct pe_watch *watch = &v->stream.watches[number - 1];

    memset(watch, 0, offsetof(struct pe_watch, accesses));
    watch->index = (uint32_t)(site - site->block->sites);
    v->watched[v->watched_end++ % PE_WATCHES] = (struct watched){.site = site, .number = number};
    pe_put_watch(v->stream.writer, number - 1);
}

static void keep_stack(struct vcpu *v, unsigned number)
{
    struct kept_stack *kept = &v->kept[number - 1];

    kept->time = v->counted;
    kept->count = calls_take(&v->calls, kept->frames);
}

static void begin_sample(struct vcpu *v, const struct pe_site *site, unsigned number)
{
    struct sample *s;

    if (v->kept)
        keep_stack(v, number);
    if (unit_process.merge) {
        begin_watch(v, site, number);
        return;
    }
    s = &v->samples[v->sample_count++];
    s->site = site;
    s->number = number;
    s->access_count = 0;
    s->mispredicted = s->evaluated = s->partial = s->empty = false;
    v->armed = (uintptr_t)site->block->sites;
    v->armed_size = site->block->count * sizeof(*site);
}

static void evaluate(struct vcpu *v, struct sample *s, const struct spe_a64_registers *registers)
{
    const struct spe_a64 *insn = classify(v, s->site->word);

    spe_a64_evaluate(insn, pe_site_pc(s->site), registers, &s->op, s->accesses);
    for (uint32_t i = 0; i < s->op.access_count; i++)
        translate(&s->accesses[i]);
    s->evaluated = true;
}

static void evaluate_early(struct vcpu *v, const struct spe_a64_registers *registers)
{
    for (unsigned i = 0; i < v->sample_count; i++)
        if (v->samples[i].site->early)
            evaluate(v, &v->samples[i], registers);
}

/* All operations of the block, of which the unit may choose some. */
static void count_block(struct vcpu *v, const struct pe_block *block)
{
    const struct spe_taken_branch last = {.target = v->taken, .security = SPE_NONSECURE};
    uint64_t done = 0, budget;

    if (v->taken)
        spe_spu_branch(v->spu, &last);
    while ((budget = spu_budget(v->spu)) < block->count - done) {
        int number;

        spu_run(v->spu, budget);
        done += budget;
        number = spe_spu_step(v->spu, 0);
        if (number > 0)
            begin_sample(v, &block->sites[done], (unsigned)number);
        done++;
    }
    spu_run(v->spu, block->count - done);
}

/* Let blocks run until the unit needs to look, or only this one if a sample waits for its end. */
static void allow(struct vcpu *v, const struct pe_block *block)
{
    uint64_t budget = spu_budget(v->spu);

    v->told = budget < MANY ? budget : MANY;
    v->here->left = (int64_t)v->told;
    v->forced = v->sample_count > 0;
    if (v->forced)
        v->here->left -= FORCE;
    if (v->stream.events && !unit_process.stat)
        pe_put_rest(v->stream.writer, v->told + block->count);
}

/* The unit asks for the time when a sample begins. Where one has only ended, that was a moment ago.
 */
static bool is_time_to_drain(const struct vcpu *v, bool finished)
{
    if (!v->counted && finished)
        return false;
    return (v->counted ? v->counted : channel_time()) - v->drained > DRAIN_AFTER;
}

static void look(struct vcpu *v, const struct pe_block *block,
                 const struct spe_a64_registers *registers)
{
    bool fresh = !v->started, finished = v->forced;

    if (fresh)
        start(v);
    if (v->ended) {
        v->here->left = MANY;
        return;
    }
    if (!fresh) {
        uint64_t left = (uint64_t)(v->here->left + (v->forced ? FORCE : 0) + block->count);

        finish_samples(v, block->pc, registers);
        if (v->told != left)
            spe_spu_advance(v->spu, v->told - left);
    }
    v->counted = 0;
    count_block(v, block);
    if (registers)
        evaluate_early(v, registers);
    if (v->irq || is_time_to_drain(v, finished))
        unit_drain(v);
    else if (finished || unit_process.merge)
        publish(v);
    if (v->ended)
        v->here->left = MANY;
    else
        allow(v, block);
}

static bool may_be_full(const struct vcpu *v)
{
    return v->watched_end - v->watched_first + UNIT_SAMPLES_MAX > PE_WATCHES;
}

/* When all may be in flight, wait for the model once. If that is not enough, samples collide. Where
 * a batch of events ends does not depend on when the helper comes to it: it is waited for first. */
static void make_room(struct vcpu *v)
{
    if (!may_be_full(v))
        return;
    pe_stream_catch_up(&v->stream);
    pthread_mutex_lock(&v->lock);
    collect(v);
    pthread_mutex_unlock(&v->lock);
    if (may_be_full(v))
        pe_stream_settle(&v->stream);
}

/* The vCPU's own thread is here for the first time. */
static void move_in(struct vcpu *v)
{
    pthread_mutex_lock(&v->lock);
    here.left = v->here->left;
    here.writer = v->here->writer;
    v->here = &here;
    v->stream.writer = &here.writer;
    pthread_mutex_unlock(&v->lock);
}

void unit_look(struct vcpu *v, const struct pe_block *block,
               const struct spe_a64_registers *registers)
{
    if (v->here != &here)
        move_in(v);
    if (v->stream.events && v->watched)
        make_room(v);
    pthread_mutex_lock(&v->lock);
    look(v, block, registers);
    pthread_mutex_unlock(&v->lock);
}

/* ---- What a sampled operation does ---------------------------------------------------------- */

static struct sample *sample_of(struct vcpu *v, const struct pe_site *site)
{
    for (unsigned i = 0; i < v->sample_count; i++)
        if (v->samples[i].site == site)
            return &v->samples[i];
    return NULL;
}

/* The second half of a pair is not an access of its own. */
static bool merge(struct sample *s, uint64_t va, uint32_t bytes, bool store,
                  const struct spe_machine_access *met)
{
    struct spe_memory_access *last;
    struct spe_machine_access *last_met;

    if (s->access_count == 0)
        return false;
    last = &s->accesses[s->access_count - 1];
    last_met = &s->met[s->access_count - 1];
    if (last->store != store || last->va + last->bytes != va)
        return false;
    last->bytes += bytes;
    if (met) {
        uint32_t facts = last_met->facts | met->facts;

        if (met->cycles > last_met->cycles)
            *last_met = *met;
        last_met->facts = facts;
    }
    return true;
}

/* Blocks from before bare registers were proved tell their accesses, too. */
static void check_evaluated(const struct sample *s, uint64_t va)
{
    for (uint32_t i = 0; i < s->op.access_count; i++)
        if ((va - s->accesses[i].va) << 8 < (uint64_t)s->accesses[i].bytes << 8)
            return;
    bare_refute();
}

void unit_access(struct vcpu *v, const struct pe_site *site, uint64_t va, uint32_t bytes,
                 bool store, const struct spe_machine_access *met)
{
    struct sample *s;

    pthread_mutex_lock(&v->lock);
    s = sample_of(v, site);
    if (s && s->evaluated) {
        check_evaluated(s, va);
    } else if (s && s->access_count < SPE_A64_ACCESSES_MAX && !merge(s, va, bytes, store, met)) {
        s->accesses[s->access_count] =
            (struct spe_memory_access){.va = va, .bytes = bytes, .store = store};
        translate(&s->accesses[s->access_count]);
        if (met)
            s->met[s->access_count] = *met;
        s->access_count++;
    }
    pthread_mutex_unlock(&v->lock);
}

void unit_evaluate(struct vcpu *v, const struct pe_site *site,
                   const struct spe_a64_registers *registers)
{
    struct sample *s;

    pthread_mutex_lock(&v->lock);
    s = sample_of(v, site);
    if (s && !s->evaluated)
        evaluate(v, s, registers);
    pthread_mutex_unlock(&v->lock);
}

void unit_hidden(struct vcpu *v, const struct pe_site *site, const struct hidden *hidden,
                 const struct spe_machine_access *met)
{
    struct sample *s;

    pthread_mutex_lock(&v->lock);
    s = sample_of(v, site);
    if (s && !s->evaluated) {
        s->op = hidden->op;
        s->op.accesses = s->accesses;
        for (uint32_t i = 0; i < s->op.access_count; i++) {
            s->accesses[i] = hidden->accesses[i];
            if (met)
                s->met[i] = met[i];
            translate(&s->accesses[i]);
        }
        s->evaluated = true;
    }
    pthread_mutex_unlock(&v->lock);
}

/* Only this thread adds watches, and the model has not had those of the block that runs: no lock.
 */
void unit_predicate(struct vcpu *v, const struct pe_site *site, const struct hidden *hidden)
{
    for (unsigned i = 1; v->watched && i <= PE_WATCHES; i++) {
        struct watched *w = &v->watched[(v->watched_end - i) % PE_WATCHES];

        if (!w->site || w->site->block != site->block)
            return;
        if (w->site != site)
            continue;
        if (!w->evaluated) {
            w->evaluated = true;
            w->partial = hidden->op.partial_predicate;
            w->empty = hidden->op.empty_predicate;
        }
        return;
    }
}

uint64_t unit_wants_registers(const struct vcpu *v)
{
    for (unsigned i = 0; i < v->sample_count; i++)
        if (v->samples[i].site->registers && !v->samples[i].evaluated)
            return (uint64_t)v->samples[i].site->id + 1;
    return 0;
}

void unit_branch(struct vcpu *v, const struct pe_site *site, bool mispredicted)
{
    struct sample *s = sample_of(v, site);

    if (s)
        s->mispredicted = mispredicted;
}

/* ---- In the kernel -------------------------------------------------------------------------- */

/* Nobody knows for how long. */
void unit_away(struct vcpu *v)
{
    pthread_mutex_lock(&v->lock);
    if (v->stream.events) {
        pe_stream_away(&v->stream);
        collect(v);
    }
    pthread_mutex_unlock(&v->lock);
}

/* It does not wait there. */
void unit_show(struct vcpu *v)
{
    pthread_mutex_lock(&v->lock);
    if (v->stream.events) {
        pe_stream_show(&v->stream);
        collect(v);
    }
    pthread_mutex_unlock(&v->lock);
}

void unit_back(struct vcpu *v)
{
    pthread_mutex_lock(&v->lock);
    if (v->stream.events)
        pe_stream_back(&v->stream);
    pthread_mutex_unlock(&v->lock);
}

static void end_stream(struct vcpu *v)
{
    if (!v->stream.events)
        return;
    pe_stream_end(&v->stream);
    collect(v);
}

void unit_end_stream(struct vcpu *v)
{
    pthread_mutex_lock(&v->lock);
    end_stream(v);
    pthread_mutex_unlock(&v->lock);
}

/* ---- The end -------------------------------------------------------------------------------- */

static void give_slot(struct vcpu *v)
{
    if (v->slot != SLOTS_NONE)
        slots_give(v->slot);
    v->slot = SLOTS_NONE;
}

static void tell_end(struct vcpu *v)
{
    struct wire_thread_end message = {
        .header = {.type = WIRE_THREAD_END, .size = sizeof(message), .tid = (uint32_t)v->tid},
        .slot = v->slot,
    };

    publish_statistics(v);
    message.statistics = v->shared->statistics;
    message.statistics.cycles = v->stream.ended / PE_TICKS;
    channel_send(&message.header, NULL, 0, -1);
}

static void end(struct vcpu *v)
{
    int64_t left = v->here->left + (v->forced ? FORCE : 0);

    if (v->ended || !v->started)
        return;
    finish_samples(v, 0, NULL);
    if (left >= 0 && (uint64_t)left <= v->told)
        spe_spu_advance(v->spu, v->told - (uint64_t)left);
    unit_drain(v);
    tell_end(v);
    give_slot(v);
    v->ended = true;
    v->here->left = MANY;
}

void unit_end(struct vcpu *v)
{
    pthread_mutex_lock(&v->lock);
    end_stream(v);
    end(v);
    pthread_mutex_unlock(&v->lock);
}

/* What the thread itself looks at without the lock is left alone. */
void unit_stop(struct vcpu *v)
{
    pthread_mutex_lock(&v->lock);
    if (is_recording(v)) {
        if (unit_process.merge)
            finish_watched(v);
        unit_drain(v);
        tell_end(v);
        v->ended = true;
    }
    pthread_mutex_unlock(&v->lock);
}

static void forget(struct vcpu *v)
{
    spe_spu_destroy(v->spu);
    v->spu = NULL;
    if (v->shared)
        munmap(v->shared, sizeof(*v->shared));
    v->shared = NULL;
    free(v->samples);
    v->samples = NULL;
    free(v->words);
    v->words = NULL;
    free(v->kept);
    v->kept = NULL;
    v->stacks = (struct wire_statistics){0};
    free(v->watched);
    v->watched = NULL;
    v->watched_first = v->watched_end = 0;
    free_stream(v);
    free(v->executed);
    free(v->met);
    v->executed = NULL;
    v->met = NULL;
    v->executed_count = v->met_count = 0;
}

void unit_free(struct vcpu *v)
{
    end_stream(v); /* of a thread that never ran */
    give_slot(v);  /* of a thread that could not be recorded */
    forget(v);
    calls_free(&v->calls);
    pthread_mutex_destroy(&v->lock);
}

void unit_forked(struct vcpu *v)
{
    forget(v);
    v->started = v->ended = v->forced = v->irq = v->hurries = false;
    v->sample_count = 0;
    v->armed_size = 0;
    v->pe = NULL;
    unit_prepare(v);
}

bool unit_grow_counts(struct vcpu *v)
{
    size_t blocks, sites;
    uint64_t *executed;
    struct pe_site_counts *met;

    blocks_lock();
    blocks = blocks_count() + 1024;
    sites = blocks_site_count() + 8192;
    blocks_unlock();
    executed = realloc(v->executed, blocks * sizeof(*executed));
    if (!executed)
        return false;
    memset(executed + v->executed_count, 0, (blocks - v->executed_count) * sizeof(*executed));
    v->executed = executed;
    v->executed_count = blocks;
    met = realloc(v->met, sites * sizeof(*met));
    if (!met)
        return false;
    memset(met + v->met_count, 0, (sites - v->met_count) * sizeof(*met));
    v->met = met;
    v->met_count = sites;
    return true;
}
