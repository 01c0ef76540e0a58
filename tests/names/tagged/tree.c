/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A search tree: recursion, and a struct in a struct. */
#include <stdlib.h>

struct point {
    int x, y;
};

struct leaf {
    struct leaf *left, *right;
    struct point at;
    double weight;
    unsigned char color;
};

__attribute__((noinline)) struct leaf *insert(struct leaf *root, struct leaf *new)
{
    if (!root)
        return new;
    if (new->at.x < root->at.x) /* T: struct point.x */
        root->left = insert(root->left, new); /* T: struct leaf.left */
    else
        root->right = insert(root->right, new); /* T: struct leaf.right */
    return root;
}

__attribute__((noinline)) double weigh(const struct leaf *t)
{
    double sum;

    if (!t)
        return 0;
    sum = t->weight; /* T: struct leaf.weight */
    sum += weigh(t->left); /* T: struct leaf.left */
    sum += weigh(t->right); /* T: struct leaf.right */
    return sum;
}

__attribute__((noinline)) int paint(struct leaf *t, int x)
{
    int steps = 0;

    while (t) {
        t->color = (unsigned char)steps; /* T: struct leaf.color */
        t->at.y += steps; /* T: struct point.y */
        if (x < t->at.x) /* T: struct point.x */
            t = t->left; /* T: struct leaf.left */
        else
            t = t->right; /* T: struct leaf.right */
        steps++;
    }
    return steps;
}

__attribute__((noinline)) int spread(struct point *p, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++) {
        sum += p[i].x; /* T: struct point.x */
        p[i].y = sum; /* T: struct point.y */
    }
    return sum;
}

int main(void)
{
    struct leaf *root = NULL;
    struct leaf *leaves = calloc(100, sizeof(*leaves));
    struct point points[10];

    for (int i = 0; i < 100; i++) {
        leaves[i].at.x = i * 37 % 101; /* T: struct point.x */
        leaves[i].weight = i; /* T: struct leaf.weight */
        root = insert(root, &leaves[i]);
    }
    for (int i = 0; i < 10; i++) {
        points[i].x = i; /* T: struct point.x */
        points[i].y = 0; /* T: struct point.y */
    }
    return (int)weigh(root) + paint(root, 5) + spread(points, 10) == 12345;
}
