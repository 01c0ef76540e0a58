/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A struct in others, from which one gets to what is around it; callbacks; void pointers. */
#include <stddef.h>

struct link {
    struct link *next, *previous;
};

struct job {
    int id;
    struct link link;
    long cost;
    int (*run)(void *argument);
    void *argument;
};

struct queue {
    struct link head;
    long waiting;
};

#define JOB(l) ((struct job *)((char *)(l)-offsetof(struct job, link)))

__attribute__((noinline)) void enqueue(struct queue *q, struct job *j)
{
    struct link *l = &j->link;

    l->next = &q->head; /* T: struct link.next */
    l->previous = q->head.previous; /* T: struct link.previous */
    q->head.previous->next = l; /* T: struct link.previous; struct link.next */
    q->head.previous = l; /* T: struct link.previous */
    q->waiting += j->cost; /* T: struct queue.waiting; struct job.cost */
}

__attribute__((noinline)) long total(struct queue *q)
{
    long sum = 0;

    for (struct link *l = q->head.next; l != &q->head; /* T: struct link.next */
         l = l->next) { /* T: struct link.next */
        struct job *j = JOB(l);

        sum += j->cost; /* T: struct job.cost */
        j->id++; /* T: struct job.id */
    }
    return sum;
}

__attribute__((noinline)) int work(void *argument)
{
    struct queue *q = argument;

    q->waiting--; /* T: struct queue.waiting */
    return (int)q->waiting; /* T: struct queue.waiting */
}

__attribute__((noinline)) int start(struct job *j)
{
    if (!j->run) /* T: struct job.run */
        return 0;
    return j->run(j->argument); /* T: struct job.run; struct job.argument */
}

__attribute__((noinline)) void swap(struct job **a, struct job **b)
{
    struct job *old = *a; /* T: struct job * */

    *a = *b; /* T: struct job * */
    *b = old; /* T: struct job * */
    (*a)->cost = old->cost; /* T: struct job *; struct job.cost */
}

int main(void)
{
    static struct queue q;
    static struct job jobs[10];
    struct job *first = &jobs[0], *second = &jobs[1];

    q.head.next = q.head.previous = &q.head; /* T: struct link.next; struct link.previous */
    for (int i = 0; i < 10; i++) {
        jobs[i].cost = i; /* T: struct job.cost */
        jobs[i].run = work; /* T: struct job.run */
        jobs[i].argument = &q; /* T: struct job.argument */
        enqueue(&q, &jobs[i]);
    }
    swap(&first, &second);
    return total(&q) + start(first) == 12345;
}
