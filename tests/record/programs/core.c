/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Programs whose behaviour is known: what --model core has to show. The first argument says which;
 * some end with a line of results, so that a run can be compared with another.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE = 64, THREADS = 4 };

/* ---- Counters of four threads, in one line or in four --------------------------------------- */

static _Alignas(LINE) volatile long counters[THREADS * LINE / sizeof(long)];
static pthread_barrier_t start;

__attribute__((noinline)) void *count(void *counter)
{
    volatile long *value = counter;

    pthread_barrier_wait(&start);
    for (int i = 0; i < 300000; i++)
        ++*value;
    return NULL;
}

static int counting(size_t apart)
{
    pthread_t threads[THREADS];
    long sum = 0;

    pthread_barrier_init(&start, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, (void *)&counters[i * apart / sizeof(long)]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < THREADS; i++)
        sum += counters[i * apart / sizeof(long)];
    printf("%ld\n", sum);
    return 0;
}

/* ---- Eight threads and one lock ----------------------------------------------------------------
 */

enum { LOCKERS = 8 };

static struct {
    _Alignas(LINE) pthread_mutex_t mutex;
    long value;
} locked[LOCKERS] = {{PTHREAD_MUTEX_INITIALIZER, 0}};

__attribute__((noinline)) void *lock(void *one)
{
    typeof(&locked[0]) at = one;

    pthread_barrier_wait(&start);
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&at->mutex);
        at->value++;
        pthread_mutex_unlock(&at->mutex);
    }
    return NULL;
}

static int locking(size_t locks)
{
    pthread_t threads[LOCKERS];
    long sum = 0;

    pthread_barrier_init(&start, NULL, LOCKERS);
    for (size_t i = 0; i < LOCKERS; i++)
        pthread_create(&threads[i], NULL, lock, &locked[i % locks]);
    for (int i = 0; i < LOCKERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < LOCKERS; i++)
        sum += locked[i].value;
    printf("%ld\n", sum);
    return 0;
}

/* ---- Loads behind stores to lines that are in memory ----------------------------------------- */

enum { BEHIND = 1 << 18, BEHIND_ROUNDS = 100000 };

/* Each round has another line, in an order that prefetchers do not know. */
#define BEHIND_LOOP(name, store, load)                                                             \
    __attribute__((noinline)) void name(char *at)                                                  \
    {                                                                                              \
        for (unsigned i = 0; i < BEHIND_ROUNDS; i++)                                               \
            __asm__ volatile(store "\n\t" load ::"r"(at + (size_t)(i * 40503 % BEHIND) * LINE)     \
                             : "x9", "memory");                                                    \
    }

BEHIND_LOOP(same_bytes, "str xzr, [%0]", "ldr x9, [%0]")
BEHIND_LOOP(other_bytes, "str xzr, [%0]", "ldr x9, [%0, 8]")
BEHIND_LOOP(narrow_load, "str xzr, [%0]", "ldrb w9, [%0]")
BEHIND_LOOP(wide_load, "strb wzr, [%0]", "ldr x9, [%0]")

static int behind(void)
{
    const size_t bytes = (size_t)BEHIND * LINE;
    char *at = mmap(NULL, 4 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    same_bytes(at);
    other_bytes(at + bytes);
    narrow_load(at + 2 * bytes);
    wide_load(at + 3 * bytes);
    return 0;
}

/* ---- An array in order, and with a stride ---------------------------------------------------- */

enum { ARRAY = 64 << 20, READS = 600000 };

__attribute__((noinline)) unsigned long read_array(const volatile unsigned char *array, size_t step)
{
    unsigned long sum = 0;
    size_t at = 0;

    for (int i = 0; i < READS; i++) {
        sum += *(const volatile unsigned long *)(array + at);
        at += step;
        at = at >= ARRAY ? at - ARRAY : at;
    }
    return sum;
}

static int array(size_t step)
{
    unsigned char *bytes =
        mmap(NULL, ARRAY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    printf("%lu\n", read_array(bytes, step));
    return 0;
}

/* ---- A loop without accesses, before and after one load that misses ---------------------------
 * It is the same loop, so that its branch is foreseen when it runs again.
 */

__attribute__((noinline)) unsigned long turn(unsigned long x)
{
    for (int i = 0; i < 300000; i++)
        __asm__ volatile("add %0, %0, #3\n\teor %0, %0, %0, lsr #7" : "+r"(x));
    return x;
}

static int alu(void)
{
    volatile unsigned char *far = mmap(NULL, ARRAY, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long x = turn(1);

    x += far[ARRAY / 2];
    printf("%lu\n", turn(x));
    return 0;
}

/* ---- Many threads, each with memory of its own ------------------------------------------------
 */

enum { OWN = 1 << 20 };

/* In no order that a prefetcher knows. */
__attribute__((noinline)) void *wander(void *memory)
{
    volatile unsigned char *bytes = memory;
    unsigned long sum = 0;
    unsigned at = 1;

    pthread_barrier_wait(&start);
    for (int i = 0; i < 4000; i++) {
        at = at * 1664525 + 1013904223;
        sum += bytes[at >> 12];
    }
    return (void *)sum;
}

static int crowd(size_t count)
{
    pthread_t *threads = calloc(count, sizeof(*threads));
    unsigned char *memory =
        mmap(NULL, count * OWN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (size_t i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, wander, memory + i * OWN);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    puts("crowd");
    return 0;
}

/* ---- Threads that map and unmap, while another forks -------------------------------------------
 */

static volatile int stop;

static void *map(void *unused)
{
    unsigned long rounds = 0;

    (void)unused;
    while (!stop) {
        unsigned char *page =
            mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        for (int i = 0; i < 4096; i++)
            page[i * 7 % 4096]++;
        munmap(page, 65536);
        rounds++;
    }
    return (void *)rounds;
}

static void *spin(void *unused)
{
    static volatile unsigned long shared;

    (void)unused;
    while (!stop)
        shared++;
    return NULL;
}

static int forks(void)
{
    pthread_t threads[8];
    int status, sum = 0;

    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, i % 2 ? map : spin, NULL);
    for (int i = 0; i < 12; i++) {
        pid_t child = fork();

        if (child == 0)
            _exit((int)turn(5) & 3);
        waitpid(child, &status, 0);
        sum += WEXITSTATUS(status);
    }
    stop = 1;
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", sum);
    return 0;
}

/* ---- The end while threads run ----------------------------------------------------------------
 */

static int quit(void)
{
    pthread_t thread;

    for (int i = 0; i < 16; i++)
        pthread_create(&thread, NULL, i % 2 ? map : spin, NULL);
    turn(2);
    puts("quit");
    exit(9);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "sharing") == 0)
        return counting(sizeof(long));
    if (strcmp(what, "padded") == 0)
        return counting(LINE);
    if (strcmp(what, "lock") == 0)
        return locking(1);
    if (strcmp(what, "locks") == 0)
        return locking(LOCKERS);
    if (strcmp(what, "behind") == 0)
        return behind();
    if (strcmp(what, "order") == 0)
        return array(sizeof(long));
    if (strcmp(what, "lines") == 0)
        return array(LINE);
    if (strcmp(what, "stride") == 0)
        return array(4160);
    if (strcmp(what, "alu") == 0)
        return alu();
    if (strcmp(what, "crowd") == 0)
        return crowd((size_t)atoi(argv[2]));
    if (strcmp(what, "forks") == 0)
        return forks();
    return strcmp(what, "quit") == 0 ? quit() : 2;
}
