/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The join looks at many rows together where it can: long and short runs of samples with all kinds
 * of threads, places and times, against a plain model that takes one row after the other.
 */
#include "support/profile_recording.h"
#include "support/random.h"

#include <stdio.h>

#define QUEUES 4
#define ROWS 4000 /* of a queue */
#define MAPS 80
#define NAMES 12
#define TURNS 40
#define START 1000 /* of the samples; what is there from the beginning has time 0 */
#define SPAN 8000  /* in which things change */

#define KERNEL UINT64_C(0xffff800008000000)
#define MODULE UINT64_C(0xffff800000100000)
#define UPPER UINT64_C(0xffff900000000000)

struct sample {
    uint64_t time; /* or NO_TIME */
    uint64_t pc;
    uint32_t context[2];
    uint8_t el; /* SPE_NO_EL: no PC packet */
    uint8_t has;
};

struct mapping { /* its number is in its page_offset */
    uint64_t time, start, end;
    uint32_t pid; /* ANY: the kernel */
};

struct name {
    uint64_t time;
    uint32_t tid;
    char text[8];
};

struct turn {
    uint64_t time;
    uint32_t tid;
};

/* What a row should be. */
struct expected {
    uint64_t time, pc;
    uint32_t pid, tid;
    uint32_t map; /* number of the mapping, or ANY */
    const char *comm;
    uint8_t el, flags;
};

struct world {
    struct recording r;
    struct random rng;
    struct mapping maps[MAPS];
    size_t map_count;
    struct name names[NAMES];
    size_t name_count;
    struct turn turns[TURNS]; /* of CPU 0; the first is who was there before */
    size_t turn_count;
    struct sample samples[QUEUES][ROWS];
    struct expected expected[QUEUES][ROWS];
    struct spe_profile_counts counts;
};

/* Queues: a CPU with SWITCH records, one without, one whose buffer names a thread, a thread. */
static const uint32_t queue_cpu[QUEUES] = {0, 1, 2, ANY}, queue_tid[QUEUES] = {ANY, ANY, 11, 20};

static const uint32_t tids[] = {10, 11, 20, 0, 777}; /* nobody knows the last */

static uint32_t pid_of(uint32_t tid)
{
    return tid == 11 ? 10 : tid == 10 || tid == 20 || !tid ? tid : SPE_NO_TASK;
}

/* ---- What happens --------------------------------------------------------------------------- */

static void add_map(struct world *w, uint64_t time, uint32_t pid, uint64_t start, uint64_t end)
{
    char path[32];

    assert_true(w->map_count < MAPS);
    snprintf(path, sizeof(path), pid == ANY ? "[module%zu]" : "/bin/file%zu", w->map_count);
    recording_map(&w->r, time, pid, start, end - start, 0x1000 * w->map_count, path, NULL, 0);
    w->maps[w->map_count++] = (struct mapping){time, start, end, pid};
}

static void add_name(struct world *w, uint64_t time, uint32_t tid)
{
    struct name *name = &w->names[w->name_count++];

    *name = (struct name){.time = time, .tid = tid};
    snprintf(name->text, sizeof(name->text), "name%zu", w->name_count);
    recording_comm(&w->r, time, pid_of(tid), tid, name->text, false);
}

/* Two processes have other files at the same addresses; `wide`: a map of the kernel reaches from
 * the lower half of the addresses to the upper one, as where addresses are hidden from perf. */
static void map_everything(struct world *w, bool wide)
{
    for (uint32_t pid = 10; pid <= 20; pid += 10) {
        add_map(w, 0, pid, 0x400000, 0x410000);
        add_map(w, 0, pid, 0x410000, 0x411000);
        add_map(w, 0, pid, UINT64_C(0x7f0000000000), UINT64_C(0x7f0000003000));
    }
    add_map(w, 0, 20, UPPER, UPPER + 0x1000); /* which a process cannot, but a file can have */
    if (wide)
        add_map(w, 0, ANY, 0x1000, KERNEL);
    add_map(w, 0, ANY, KERNEL, KERNEL + 0x200000);
    add_map(w, 0, ANY, KERNEL + 0x400000, KERNEL + 0x401000);
    add_name(w, 0, 10);
    add_name(w, 0, 11);
    add_name(w, 0, 20);
}

/* Maps that are there already get other files, whole or in part; so the model can take any map that
 * is not hidden by a later one. Times ascend. */
static void change_things(struct world *w)
{
    size_t first = w->map_count, changes = 40;
    uint64_t time = START;

    for (size_t i = 0; i < changes; i++) {
        const struct mapping *old = &w->maps[random_below(&w->rng, (uint32_t)first)];
        uint64_t size = old->end - old->start;

        time += 1 + random_below(&w->rng, 2 * SPAN / (uint32_t)changes);
        if (i == 10 || i == 30)
            add_map(w, time, ANY, MODULE, MODULE + 0x4000);
        else if (i % 8 == 3 && w->name_count < NAMES)
            add_name(w, time, tids[random_below(&w->rng, 3)]);
        else if (size <= 0x200000 && random_chance(&w->rng, 70))
            add_map(w, time, old->pid, old->start, old->end);
        else if (size <= 0x200000)
            add_map(w, time, old->pid, old->start + size / 4, old->end - size / 4);
    }
}

static void switch_threads(struct world *w)
{
    uint64_t time = START;
    uint32_t tid = 10;

    w->turns[w->turn_count++] = (struct turn){0, tid};
    while (w->turn_count < TURNS) {
        uint32_t next = tids[random_below(&w->rng, 4)];

        time += 1 + random_below(&w->rng, 2 * SPAN / TURNS);
        recording_switch(&w->r, time, 0, pid_of(tid), tid, true, next);
        w->turns[w->turn_count++] = (struct turn){time, next};
        tid = next;
    }
}

/* ---- Samples -------------------------------------------------------------------------------- */

/* What the samples of a run have in common. */
struct mood {
    struct sample like;
    const struct mapping *user, *kernel;
    unsigned in_kernel, odd, untimed; /* percent */
    unsigned step;                    /* of time */
};

/* Who runs: by no context, the first, the second or both. */
static void choose_context(struct random *rng, struct sample *s)
{
    s->has = random_below(rng, 4) * SPE_HAS_CONTEXT1;
    for (unsigned i = 0; i < 2; i++)
        s->context[i] =
            s->has & SPE_HAS_CONTEXT1 << i ? tids[random_below(rng, sizeof(tids) / 4)] : 0;
}

static const struct mapping *any_map(struct world *w, bool kernel)
{
    const struct mapping *map;

    do
        map = &w->maps[random_below(&w->rng, (uint32_t)w->map_count)];
    while ((map->pid == ANY) != kernel);
    return map;
}

static struct mood new_mood(struct world *w)
{
    static const unsigned kernels[] = {0, 10, 50, 100}, odds[] = {0, 0, 1, 30};
    static const unsigned untimed[] = {0, 0, 0, 20, 100};
    struct random *rng = &w->rng;
    struct mood mood = {
        .user = any_map(w, false),
        .kernel = any_map(w, true),
        .in_kernel = kernels[random_below(rng, 4)],
        .odd = odds[random_below(rng, 4)],
        .untimed = untimed[random_below(rng, 5)],
        .step = random_below(rng, 4),
    };

    choose_context(rng, &mood.like);
    return mood;
}

/* An address in a map; its first and last often. */
static uint64_t inside(struct random *rng, const struct mapping *map)
{
    uint64_t pc;

    switch (random_below(rng, 8)) {
    case 0:
        pc = map->start;
        break;
    case 1:
        pc = map->end - 1;
        break;
    default:
        pc = map->start + random_next(rng) % (map->end - map->start);
    }
    return (uint64_t)((int64_t)(pc << 8) >> 8); /* as packets have addresses */
}

/* Another thread, another map, the byte before or behind one, at any exception level, or no PC. */
static void make_odd(struct world *w, struct sample *s)
{
    const struct mapping *map = any_map(w, random_chance(&w->rng, 50));

    switch (random_below(&w->rng, 6)) {
    case 0:
        choose_context(&w->rng, s);
        return;
    case 1:
        s->el = SPE_NO_EL;
        s->pc = 0;
        return;
    case 2:
        s->pc = map->start - 1;
        break;
    case 3:
        s->pc = map->end;
        break;
    case 4:
        s->pc = inside(&w->rng, map);
        break;
    default:
        s->pc = UPPER << random_below(&w->rng, 2) * 8;
        s->pc += random_below(&w->rng, 0x3000);
        break;
    }
    s->el = (uint8_t)random_below(&w->rng, 4);
}

static void write_sample(struct world *w, unsigned queue, const struct sample *s)
{
    struct spe_address a = {.address = s->pc & UINT64_MAX >> 8, .el = s->el & 3, .ns = 1};
    struct spe_record record = {.has = SPE_HAS_OP | SPE_HAS_EVENTS | s->has,
                                .events = SPE_EVENT_BIT(RETIRED),
                                .op_class = SPE_CLASS_LDST,
                                .context = {s->context[0], s->context[1]}};

    if (s->el != SPE_NO_EL) {
        record.addresses = 1u << SPE_ADDRESS_PC;
        record.address[SPE_ADDRESS_PC] = spe_address_encode(SPE_ADDRESS_PC, &a);
    }
    if (s->time != NO_TIME) {
        record.has |= SPE_HAS_TIMESTAMP;
        record.timestamp = s->time;
    }
    sample_bytes(&w->r, queue, &record);
}

/* Time goes back once in the middle. The second queue begins with samples without one. */
static void make_samples(struct world *w, unsigned queue)
{
    uint64_t time = START;
    struct mood mood = new_mood(w);
    size_t end = 0;

    for (size_t i = 0; i < ROWS; i++) {
        struct sample *s = &w->samples[queue][i];

        if (i == end) {
            mood = new_mood(w);
            end = i + (random_chance(&w->rng, 50) ? 1 + random_below(&w->rng, 10)
                                                  : 64 + random_below(&w->rng, 600));
        }
        time += random_below(&w->rng, mood.step + 1);
        if (i == ROWS / 2)
            time = time > START + 1500 ? time - 1500 : START;
        *s = mood.like;
        s->time = (queue == 1 && i < 100) || random_chance(&w->rng, mood.untimed) ? NO_TIME : time;
        if (random_chance(&w->rng, mood.in_kernel)) {
            s->el = (uint8_t)(1 + random_below(&w->rng, 2));
            s->pc = inside(&w->rng, mood.kernel);
        } else {
            s->pc = inside(&w->rng, mood.user);
        }
        if (random_chance(&w->rng, mood.odd))
            make_odd(w, s);
        write_sample(w, queue, s);
        if (random_below(&w->rng, 1000) == 0)
            recording_flush(&w->r, queue, queue_cpu[queue], queue_tid[queue],
                            1 + random_below(&w->rng, (uint32_t)w->r.spe_size[queue]));
    }
    recording_flush(&w->r, queue, queue_cpu[queue], queue_tid[queue], 0);
}

/* ---- The model ------------------------------------------------------------------------------ */

static uint32_t turn_of(const struct world *w, unsigned queue, uint64_t time)
{
    uint32_t tid = SPE_NO_TASK;

    for (size_t i = 0; queue == 0 && i < w->turn_count && w->turns[i].time <= time; i++)
        tid = w->turns[i].tid;
    return tid;
}

static void find_thread(struct world *w, unsigned queue, const struct sample *s, uint64_t time,
                        struct expected *e)
{
    uint32_t turn = turn_of(w, queue, time);
    uint32_t other = turn != SPE_NO_TASK       ? turn
                     : queue_cpu[queue] == ANY ? queue_tid[queue]
                                               : SPE_NO_TASK;

    if (s->has) {
        e->tid = s->context[s->has & SPE_HAS_CONTEXT2 ? 1 : 0];
        e->flags |= SPE_ROW_BY_CONTEXT;
        w->counts.by_context++;
        w->counts.context_unknown += e->tid == 777;
        if (other != SPE_NO_TASK && other != e->tid) {
            e->flags |= SPE_ROW_MISMATCH;
            w->counts.context_mismatch++;
        }
    } else if (turn != SPE_NO_TASK) {
        e->tid = turn;
        e->flags |= SPE_ROW_BY_SWITCH;
        w->counts.by_switch++;
    } else if (queue_tid[queue] != ANY) {
        e->tid = queue_tid[queue];
        e->flags |= SPE_ROW_BY_BUFFER;
        w->counts.by_buffer++;
    } else {
        e->tid = SPE_NO_TASK;
        w->counts.by_nothing++;
    }
    e->pid = pid_of(e->tid);
    e->comm = e->tid ? "" : "swapper";
    for (size_t i = 0; i < w->name_count; i++) {
        if (w->names[i].tid == e->tid && w->names[i].time <= time)
            e->comm = w->names[i].text;
    }
}

/* EL0 is in its process, the others in the kernel, if they are in the upper half. */
static uint32_t find_map(const struct world *w, const struct sample *s, uint32_t pid, uint64_t time)
{
    uint32_t space = s->el ? ANY : pid, found = ANY;

    if (s->el == SPE_NO_EL || (s->el && !(s->pc >> 63)) || (!s->el && pid == SPE_NO_TASK))
        return ANY;
    for (uint32_t i = 0; i < w->map_count; i++) {
        const struct mapping *m = &w->maps[i];

        if (m->pid == space && m->time <= time && s->pc >= m->start && s->pc < m->end)
            found = i;
    }
    return found;
}

static void expect_queue(struct world *w, unsigned queue)
{
    uint64_t last = NO_TIME; /* before there is a time: how it was at the end */

    for (size_t i = 0; i < ROWS; i++) {
        const struct sample *s = &w->samples[queue][i];
        struct expected *e = &w->expected[queue][i];

        *e = (struct expected){.pc = s->pc, .el = s->el};
        if (s->time != NO_TIME) {
            last = s->time;
            e->flags |= SPE_ROW_TIMESTAMP;
        } else {
            w->counts.without_time++;
        }
        e->time = last == NO_TIME ? 0 : last;
        if (s->el != SPE_NO_EL)
            e->flags |= (s->el ? SPE_ROW_KERNEL : 0) | SPE_ROW_NS;
        find_thread(w, queue, s, last, e);
        e->map = find_map(w, s, e->pid, last);
    }
}

static struct world *make_world(unsigned seed)
{
    struct world *w = calloc(1, sizeof(*w));

    assert_non_null(w);
    w->rng.state = seed;
    recording_open(&w->r, 0, QUEUES, NEOVERSE_N1, NULL);
    map_everything(w, seed % 2);
    change_things(w);
    switch_threads(w);
    for (unsigned queue = 0; queue < QUEUES; queue++) {
        make_samples(w, queue);
        expect_queue(w, queue);
    }
    recording_finish(&w->r);
    return w;
}

/* ---- The comparison ------------------------------------------------------------------------- */

static bool same_thread(const struct spe_profile *p, const struct row *row,
                        const struct expected *e)
{
    const struct spe_profile_thread *thread = spe_profile_thread(p, row->thread);

    if (row->pid != e->pid || row->tid != e->tid ||
        strcmp(spe_profile_string(p, row->comm), e->comm) != 0)
        return false;
    return e->pid == SPE_NO_TASK ? !thread : thread && thread->tid == e->tid;
}

static bool same_map(const struct world *w, const struct spe_profile *p, const struct row *row,
                     const struct expected *e)
{
    const struct spe_profile_map *map = spe_profile_map(p, row->map);

    if (e->map == ANY)
        return row->map == SPE_NO_ID;
    return map && map->page_offset == 0x1000 * e->map && map->pid == w->maps[e->map].pid;
}

static bool in_cut(const struct spe_profile_options *options, const struct expected *e)
{
    return !(e->flags & SPE_ROW_TIMESTAMP) ||
           (e->time >= options->time_from && (!options->time_to || e->time < options->time_to));
}

static void check_row(const struct world *w, const struct spe_profile *p, const struct row *row,
                      size_t number)
{
    const struct expected *e = &w->expected[row->queue][number];

    if (row->time != e->time || row->pc != e->pc || row->el != e->el || row->flags != e->flags)
        fail_msg("queue %zu row %zu: time %llu pc %#llx EL%u flags %#x, not %llu %#llx EL%u %#x",
                 row->queue, number, (unsigned long long)row->time, (unsigned long long)row->pc,
                 row->el, row->flags, (unsigned long long)e->time, (unsigned long long)e->pc, e->el,
                 e->flags);
    if (!same_thread(p, row, e))
        fail_msg("queue %zu row %zu: thread %u of %u, not %u of %u", row->queue, number, row->tid,
                 row->pid, e->tid, e->pid);
    if (!same_map(w, p, row, e))
        fail_msg("queue %zu row %zu: pc %#llx at EL%u: %s, not map %u", row->queue, number,
                 (unsigned long long)row->pc, row->el, path_of(p, row->map), e->map);
}

static void check_counts(const struct spe_profile_counts *got, const struct spe_profile_counts *e)
{
    assert_int_equal(got->by_context, e->by_context);
    assert_int_equal(got->by_switch, e->by_switch);
    assert_int_equal(got->by_buffer, e->by_buffer);
    assert_int_equal(got->by_nothing, e->by_nothing);
    assert_int_equal(got->context_unknown, e->context_unknown);
    assert_int_equal(got->context_mismatch, e->context_mismatch);
    assert_int_equal(got->without_time, e->without_time);
}

static void check_profile(const struct world *w, const struct spe_profile_options *options,
                          struct spe_profile *p)
{
    struct row *rows = malloc(sizeof(*rows) * QUEUES * ROWS);
    size_t next[QUEUES] = {0}, count, kept = 0, no_map = 0;

    assert_non_null(rows);
    count = read_rows(p, rows, (size_t)QUEUES * ROWS);
    for (size_t i = 0; i < count; i++) {
        size_t *at = &next[rows[i].queue];

        while (*at < ROWS && !in_cut(options, &w->expected[rows[i].queue][*at]))
            ++*at;
        assert_true(*at < ROWS);
        check_row(w, p, &rows[i], (*at)++);
        no_map += rows[i].map == SPE_NO_ID;
    }
    for (unsigned queue = 0; queue < QUEUES; queue++) {
        for (size_t i = 0; i < ROWS; i++)
            kept += in_cut(options, &w->expected[queue][i]);
    }
    assert_int_equal(count, kept);
    assert_int_equal(spe_profile_counts(p)->no_map, no_map);
    check_counts(spe_profile_counts(p), &w->counts);
    free(rows);
}

static void check_world(unsigned seed)
{
    static const unsigned sizes[] = {64, 100, 1000, 4096};
    struct world *w = make_world(seed);

    for (unsigned i = 0; i < 4; i++) {
        struct spe_profile_options options = quiet_options(1 + (seed + i) % 3);
        struct spe_profile *p;

        options.group_rows = sizes[i];
        options.order = (seed / 2 + i) % 3;
        if ((seed + i) % 4 == 0) {
            options.time_from = START + 300;
            options.time_to = START + SPAN / 4;
        }
        p = recording_profile(&w->r, &options);
        check_profile(w, &options, p);
        assert_int_equal(spe_profile_rewind(p), SPE_OK);
        check_profile(w, &options, p);
        spe_profile_close(p);
    }
    recording_free(&w->r);
    free(w);
}

static void row_by_row(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++)
        check_world(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_by_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
