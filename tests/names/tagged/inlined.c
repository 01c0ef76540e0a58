/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Small functions that are inlined, into each other and into loops. */
#include <stddef.h>

struct vector {
    float x, y, z;
};

struct particle {
    struct vector position, speed;
    float mass;
    unsigned id;
    struct particle *partner;
};

struct world {
    struct particle *particles;
    size_t count;
    float step;
};

static inline float dot(const struct vector *a, const struct vector *b)
{
    float sum = a->x * b->x; /* T: struct vector.x */

    sum += a->y * b->y; /* T: struct vector.y */
    sum += a->z * b->z; /* T: struct vector.z */
    return sum;
}

static inline void move(struct particle *p, float step)
{
    p->position.x += p->speed.x * step; /* T: struct vector.x */
    p->position.y += p->speed.y * step; /* T: struct vector.y */
    p->position.z += p->speed.z * step; /* T: struct vector.z */
}

static inline float energy(const struct particle *p)
{
    return p->mass * dot(&p->speed, &p->speed); /* T: struct particle.mass */
}

__attribute__((noinline)) float advance(struct world *w)
{
    float sum = 0;

    for (size_t i = 0; i < w->count; i++) { /* T: struct world.count; struct world.particles */
        struct particle *p = &w->particles[i]; /* T: struct world.particles */

        move(p, w->step); /* T: struct world.step */
        sum += energy(p);
    }
    return sum;
}

static inline struct particle *partner(struct particle *p)
{
    return p->partner; /* T: struct particle.partner */
}

__attribute__((noinline)) unsigned follow(struct particle *p, int n)
{
    while (n--)
        p = partner(partner(p));
    return p->id; /* T: struct particle.id */
}

__attribute__((noinline)) void pair(struct particle *a, struct particle *b)
{
    a->partner = b; /* T: struct particle.partner */
    b->partner = a; /* T: struct particle.partner */
    a->id = b->id + 1; /* T: struct particle.id */
}

int main(void)
{
    static struct particle particles[20];
    struct world world = {particles, 20, 0.5f};

    for (int i = 0; i < 20; i++)
        pair(&particles[i], &particles[19 - i]);
    return advance(&world) + (float)follow(particles, 9) == 12345.0f;
}
