/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Floating-point: bodies that attract each other, an integral, a polynomial. */
#include <stdio.h>

#define BODIES 24
#define PART __attribute__((noinline))

struct body {
    double at[3], speed[3], mass;
};

static struct body bodies[BODIES];

PART static void place(void)
{
    unsigned seed = 5;

    for (unsigned i = 0; i < BODIES; i++) {
        for (unsigned k = 0; k < 3; k++) {
            seed = seed * 1664525 + 1013904223;
            bodies[i].at[k] = (double)(seed >> 8) / (1 << 20);
        }
        bodies[i].mass = 1.0 + i % 3;
    }
}

PART static double root(double x)
{
    return __builtin_sqrt(x);
}

PART static void attract(struct body *a, struct body *b, double time)
{
    double way[3], square = 0.01, force;

    for (unsigned k = 0; k < 3; k++) {
        way[k] = b->at[k] - a->at[k];
        square += way[k] * way[k];
    }
    force = time / (square * root(square));
    for (unsigned k = 0; k < 3; k++) {
        a->speed[k] += way[k] * force * b->mass;
        b->speed[k] -= way[k] * force * a->mass;
    }
}

PART static void step(double time)
{
    for (unsigned i = 0; i < BODIES; i++)
        for (unsigned j = i + 1; j < BODIES; j++)
            attract(&bodies[i], &bodies[j], time);
    for (unsigned i = 0; i < BODIES; i++)
        for (unsigned k = 0; k < 3; k++)
            bodies[i].at[k] += time * bodies[i].speed[k];
}

PART static double energy(void)
{
    double sum = 0;

    for (unsigned i = 0; i < BODIES; i++)
        for (unsigned k = 0; k < 3; k++)
            sum += 0.5 * bodies[i].mass * bodies[i].speed[k] * bodies[i].speed[k];
    return sum;
}

PART static double polynomial(double x)
{
    double y = 0;

    for (int i = 12; i >= 0; i--)
        y = y * x + 1.0 / (1 + i);
    return y;
}

PART static double integral(unsigned parts)
{
    double sum = 0;

    for (unsigned i = 0; i < parts; i++)
        sum += polynomial((i + 0.5) / parts) / parts;
    return sum;
}

int main(void)
{
    double sum = 0;

    place();
    for (unsigned i = 0; i < 1200; i++) {
        step(0.001);
        sum += energy();
    }
    printf("%.6f %.6f\n", sum, integral(120000));
    return 0;
}
