/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What threads do, in the order of modelled time.
 *
 * An emulator runs its threads as the host schedules them: millions of accesses of one before the
 * next moves. So a thread does not go through the machine at once. It writes down which blocks it
 * ran and what they accessed, in a stream of its own, and hands that over now and then; whoever
 * hands over takes the lock and lets the machine have the events of all streams, always those of
 * the cpu whose clock is least. (Where only one thread runs, pe/helper.h lets it have them, beside
 * that one.) A stream that runs and has handed over nothing for that time holds the others up, so
 * that nobody is ever further ahead than a stream has room for.
 *
 * A thread that waits in the kernel is away and holds nobody up. Nor does one that does not hand
 * over in real time, for whatever reason: patience ends, and it comes back at the others' time.
 */
#ifndef PE_MERGE_H
#define PE_MERGE_H

#include <pthread.h>

#include "pe/code.h"
#include "pe/helper.h"
#include "specimen/pe.h"

/* Events are words. The highest byte says what it is: the ordinal of the instruction whose access
 * is at the address in the rest, or one of these. */
enum {
    PE_EVENT_BLOCK = PE_ORDINALS, /* a block begins: how often again, and its address */
    PE_EVENT_WIDE,                /* an access: address; then index, bytes and how in a word */
    PE_EVENT_WATCH,               /* an instruction of the next block is watched: number of watch */
    PE_EVENT_WAKE,                /* it was away until this time */
    PE_EVENT_REST,                /* nothing is watched in so many operations from the next block */
};

#define PE_EVENT_SHIFT 56
#define PE_EVENT_MASK (UINT64_MAX >> (64 - PE_EVENT_SHIFT))
#define PE_AGAIN_SHIFT 48      /* host addresses of programs are shorter */
#define PE_AGAIN_MAX 63        /* times that a block begins again, without an access between */
#define PE_EVENTS (1u << 15)   /* that a stream has room for */
#define PE_BLOCK_EVENTS 1024   /* that one block may have before it is looked at again */
#define PE_HAND_LATER 512      /* that it may have to find a better place to hand over */
#define PE_WATCHES 64          /* at a time, of one stream */
#define PE_BATCH_WATCHES 8     /* a batch of events has no more: somebody waits for them */
#define PE_LATE_STORES 64      /* of one stream */
#define PE_WATCHED_ACCESSES 64 /* of one instruction: a structure of bytes */

struct pe_watched_access {
    uint64_t va;
    uint32_t bytes;
    bool store;
    struct spe_machine_access met;
};

/* What became of an instruction that somebody wants to know about. */
struct pe_watch {
    uint32_t index; /* of the instruction in its block */
    uint32_t wait;  /* cycles from dispatch to issue */
    bool done, timed, mispredicted, ended;
    uint32_t late_stores; /* of its own that are still to be had */
    uint64_t next;        /* where the block behind it begins; 0: not known */
    uint32_t access_count;
    struct pe_watched_access accesses[PE_WATCHED_ACCESSES];
};

struct pe_merge;

/* A store that has to ask other cpus, and does so later than it was dispatched. */
struct pe_late_store {
    const struct pe_site *site;
    uint64_t va, issued; /* ticks */
    uint64_t not_before; /* ticks: it waits for its line until then, */
    uint64_t asked;      /* that it asked for then */
    uint64_t number;     /* among the cpu's stores */
    uint64_t done;       /* ticks: it is in the line; 0: it has not been made */
    uint32_t bytes;
    int watch; /* -1: none */
};

/*
 * Where a thread writes its events. Only that thread looks at it, and it may have it wherever it
 * finds it soonest. An emulator puts an event for every access, so that one does nothing but store
 * it: whether there is room, and what has to be done before, is seen to when a block begins.
 */
struct pe_writer {
    uint64_t *at;      /* where the next event goes: there is always room, and an event before it */
    uintptr_t hand_at; /* hand over when that is at this address, or soon */
    uintptr_t room_to; /* there is room up to here, and for what a block has */
    int32_t again;     /* times that the latest block may still begin again in its event */
    uint32_t watched;  /* watches that were put since it was handed over */
    uint64_t *events;  /* NULL: not begun, or over */
};

#define PE_AGAIN_HANDED (-2) /* writer.again: none, for its event has been handed over */

/* One thread. What comes before `merge` is its own, all else is the lock's. */
struct pe_stream {
    struct pe_writer *writer;
    uint64_t shown;            /* events that others may have, */
    struct pe_batches batches; /* of which these wait for the helper */
    uint32_t stretch;          /* batches since all had to be had, */
    uint32_t before;           /* and in the stretch before */
    struct pe_merge *merge;
    struct pe_cpu *cpu;
    uint64_t *events;
    uint64_t handed, done; /* events that were handed over, that the machine has had */
    uint64_t not_before;   /* ticks: it waits for a line until then, */
    uint64_t asked;        /* that it asked for then */
    bool in_turn;          /* it had its turn and was out of events: it goes on when it has more, */
    uint64_t limit;        /* until that time: ticks */
    bool alone;            /* in its turn nobody else runs, or has anything to be had */
    bool running;          /* it will hand over more */
    bool ignored;          /* ... but it does not hold up the others until then */
    bool waiting;          /* its thread sleeps until there is room, */
    bool has_room;         /* which there is since its latest turn: it is to be woken */
    uint64_t handed_at;    /* when it handed over last, microseconds */
    uint64_t patience;     /* for so long do others wait for it since then */
    pthread_cond_t room;
    const struct pe_block *block;
    uint32_t again;               /* times that the block of the event has begun already */
    uint64_t latest_end;          /* of the latest access of the block, */
    const struct pe_site *latest; /* the instruction's, */
    uint32_t latest_facts;        /* and what was counted of it */
    uint32_t watching_count, next_count;
    uint8_t watching[PE_WATCHES], next[PE_WATCHES]; /* in this block, in the next */
    struct pe_watch *watches;
    uint32_t stores_first, stores_end, stores_next; /* next: the one that is made next */
    struct pe_late_store *stores;                   /* a ring of PE_LATE_STORES */
    uint64_t margin;                                /* operations: pe_skim_margin */
    uint64_t skim_until;    /* operations: nobody looks before that. See pe/skim.h */
    uint64_t followed_from; /* operations: the window is followed since then */
    uint64_t skimmed;       /* operations */
    uint64_t began;         /* ticks: the block */
    uint64_t ended;         /* ticks: its cpu's clock when it was gone */
};

struct pe_merge {
    pthread_mutex_t lock;
    struct spe_machine *machine;
    struct pe_stream **streams;
    size_t count, room;
    struct pe_helper helper;
    uint64_t met;     /* ticks: when a cpu last had to ask another for a line */
    bool counting;    /* exact counts of every instruction */
    bool simple;      /* no short ways: for tests, which compare */
    bool thorough;    /* the window is followed everywhere: the same */
    unsigned hurried; /* not 0: nobody waits for others */
};

bool pe_merge_init(struct pe_merge *merge, struct spe_machine *machine, bool counting);
void pe_merge_free(struct pe_merge *merge);
/* The same in a forked child, which has no helper. */
void pe_merge_forget(struct pe_merge *merge);

/* Whoever has the lock finds that the machine has had all that was handed over, as far as can be.
 */
void pe_merge_lock(struct pe_merge *merge);
void pe_merge_unlock(struct pe_merge *merge);
/* The helper does so, too. Are there more by now? */
bool pe_merge_help(struct pe_merge *merge);

/* A thread begins to run on that cpu; false without memory. Several may run on one. The writer is
 * the thread's. */
bool pe_stream_begin(struct pe_stream *stream, struct pe_writer *writer, struct pe_merge *merge,
                     unsigned cpu);
/* All its events have been had, in order if that can be; it is gone. */
void pe_stream_end(struct pe_stream *stream);

/* Hand over, and wait until there is room for more. What was handed over is had soon. */
void pe_stream_hand(struct pe_stream *stream);
/* All that was handed over has been had, as far as can be. */
void pe_stream_catch_up(struct pe_stream *stream);
/* Hand over, and wait until all has been had, if that can be without more of its own. */
void pe_stream_settle(struct pe_stream *stream);
/* Hand over, and wait for nothing. */
void pe_stream_show(struct pe_stream *stream);
/* The thread goes into the kernel, and is back. */
void pe_stream_away(struct pe_stream *stream);
void pe_stream_back(struct pe_stream *stream);
/* All that was handed over is had, in the order of time, whoever might still hold it up. */
void pe_merge_finish(struct pe_merge *merge);
/* From now on nobody waits for others, or they do again: the emulator is about to stop all threads,
 * and one that has stopped hands over nothing. */
void pe_merge_hurry(struct pe_merge *merge, bool hurry);

/* Counts of an instruction, while `counting`. */
struct pe_site_counts {
    uint64_t taken, mispredicted, l1_misses, llc_misses, walks;
};

/* What is put goes nowhere, until the writer is that of a stream: no room is needed for longer than
 * one block, for the next one hands over. */
void pe_write_nowhere(struct pe_writer *w);

/* Has it put so many events since it should have handed over? */
static inline bool pe_is_late(const struct pe_writer *w, size_t events)
{
    return (uintptr_t)w->at >= w->hand_at + events * sizeof(*w->at);
}

/* Has the latest block begun again, or been handed over? Then pe_close comes before the next. */
static inline bool pe_is_open(const struct pe_writer *w)
{
    return w->again != PE_AGAIN_MAX;
}

/* How often the latest block began again is in its event from now on. That one is near: only
 * accesses of the block can be behind it. */
static inline void pe_close(struct pe_writer *w)
{
    unsigned times = (unsigned)(PE_AGAIN_MAX - (w->again < 0 ? 0 : w->again));
    uint64_t *event = w->at;

    if (pe_is_open(w) && w->again > PE_AGAIN_HANDED) {
        do
            event--;
        while (*event >> PE_EVENT_SHIFT != PE_EVENT_BLOCK);
        *event += (uint64_t)times << PE_AGAIN_SHIFT;
    }
    w->again = PE_AGAIN_MAX;
}

static inline void pe_put(struct pe_writer *w, uint64_t event)
{
    *w->at++ = event;
}

static inline uint64_t pe_block_event(const struct pe_block *block)
{
    return (uint64_t)PE_EVENT_BLOCK << PE_EVENT_SHIFT | (uint64_t)(uintptr_t)block;
}

/*
 * Does the block begin again, with no event between? A loop without accesses is one event for many
 * rounds. They are counted in the writer: a word that was just stored elsewhere takes the host
 * longer to read than the loop runs.
 */
static inline bool pe_begins_again(struct pe_writer *w, const struct pe_block *block)
{
    return w->at[-1] == pe_block_event(block) && --w->again >= 0;
}

/* A block that does not. True: hand over before it runs. */
static inline bool pe_put_new_block(struct pe_writer *w, const struct pe_block *block)
{
    pe_put(w, pe_block_event(block));
    return pe_is_late(w, 0);
}

/* Any block. */
static inline bool pe_put_block(struct pe_writer *w, const struct pe_block *block)
{
    if (pe_begins_again(w, block))
        return false;
    pe_close(w);
    return pe_put_new_block(w, block);
}

/* `tag`: the ordinal, already in its place. */
static inline void pe_put_access(struct pe_writer *w, uint64_t tag, uint64_t va)
{
    pe_put(w, tag | (va & PE_EVENT_MASK));
}

static inline void pe_put_wide(struct pe_writer *w, uint32_t index, uint64_t va, uint32_t bytes,
                               unsigned how)
{
    w->at[0] = (uint64_t)PE_EVENT_WIDE << PE_EVENT_SHIFT | (va & PE_EVENT_MASK);
    w->at[1] = (uint64_t)how << 32 | (uint64_t)(bytes & 0xffff) << 16 | index;
    w->at += 2;
}

/* The second word of such an access. */
#define PE_WIDE_INDEX(more) ((uint32_t)((more)&0xffff))
#define PE_WIDE_BYTES(more) ((uint32_t)((more) >> 16 & 0xffff))
#define PE_WIDE_HOW(more) ((unsigned)((more) >> 32))

static inline struct pe_block *pe_event_block(uint64_t event)
{
    return (struct pe_block *)(uintptr_t)(event & (UINT64_MAX >> (64 - PE_AGAIN_SHIFT)));
}

static inline uint32_t pe_event_again(uint64_t event)
{
    return event >> PE_AGAIN_SHIFT & 0xff;
}

static inline void pe_put_rest(struct pe_writer *w, uint64_t operations)
{
    pe_put(w, (uint64_t)PE_EVENT_REST << PE_EVENT_SHIFT | (operations & PE_EVENT_MASK));
}

/* The watch is written by whoever has the lock, until it is done. */
static inline void pe_put_watch(struct pe_writer *w, unsigned watch)
{
    if (++w->watched >= PE_BATCH_WATCHES && !pe_is_late(w, 0))
        w->hand_at = (uintptr_t)w->at;
    pe_put(w, (uint64_t)PE_EVENT_WATCH << PE_EVENT_SHIFT | watch);
}

#endif
