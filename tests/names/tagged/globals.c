/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Variables with places of their own: global, static, static in a function, thread-local. */
struct counter {
    long hits;
    long misses;
    char name[16];
};

struct config {
    int level;
    short flags;
    struct counter *main;
    struct counter each[4];
};

struct counter counter;
static struct config config = {.level = 3};
struct counter many[32];
long plain;
static int matrix[4][6];
static double weights[10];
_Thread_local long own;
static _Thread_local struct counter mine;

__attribute__((noinline)) void count(int hit)
{
    if (hit)
        counter.hits++; /* T: struct counter.hits */
    else
        counter.misses++; /* T: struct counter.misses */
    plain += hit; /* T: long int */
}

__attribute__((noinline)) long configure(int n)
{
    config.level = n; /* T: struct config.level */
    config.flags = (short)n; /* T: struct config.flags */
    config.main = &counter; /* T: struct config.main */
    config.main->hits += n; /* T: struct counter.hits; struct config.main */
    config.each[2].misses = n; /* T: struct counter.misses */
    return config.each[n & 3].hits; /* T: struct counter.hits */
}

__attribute__((noinline)) long all(int n)
{
    long sum = 0;

    for (int i = 0; i < n; i++) {
        sum += many[i].hits; /* T: struct counter.hits */
        many[i].misses = sum; /* T: struct counter.misses */
    }
    return sum;
}

__attribute__((noinline)) int at(int row, int column)
{
    matrix[row][column] += 1; /* T: int */
    return matrix[row][column]; /* T: int */
}

__attribute__((noinline)) double mean(int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += weights[i]; /* T: double */
    return sum;
}

__attribute__((noinline)) long next(void)
{
    static long last;
    static struct counter calls;

    calls.hits++; /* T: struct counter.hits */
    last += 3; /* T: long int */
    return last; /* T: long int */
}

__attribute__((noinline)) long local(long n)
{
    own += n; /* T: long int */
    mine.hits += n; /* T: struct counter.hits */
    mine.misses = own; /* T: struct counter.misses; long int */
    return mine.hits; /* T: struct counter.hits */
}

int main(void)
{
    long sum = 0;

    for (int i = 0; i < 2000; i++) {
        count(i & 1);
        sum += configure(1) + all(32) + at(1, 2) + (int)mean(10) + next() + local(4);
    }
    return sum == 12345;
}
