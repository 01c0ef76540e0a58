/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Edges and vertices in arrays of pointers, visited by recursion and by a stack of one's own. */
struct Vertex;

struct Edge {
    Vertex *to;
    float length;
};

struct Vertex {
    Edge *edges;
    unsigned degree;
    bool seen;
    float distance;
};

__attribute__((noinline)) unsigned visit(Vertex *v)
{
    unsigned found = 1;

    if (v->seen) /* T: Vertex.seen */
        return 0;
    v->seen = true; /* T: Vertex.seen */
    for (unsigned i = 0; i < v->degree; i++) /* T: Vertex.degree */
        found += visit(v->edges[i].to); /* T: Vertex.edges; Edge.to */
    return found;
}

__attribute__((noinline)) void relax(Vertex *v)
{
    for (Edge *e = v->edges; /* T: Vertex.edges */
         e != v->edges + v->degree; e++) { /* T: Vertex.edges; Vertex.degree */
        float d = v->distance + e->length; /* T: Vertex.distance; Edge.length */

        if (d < e->to->distance) /* T: Edge.to; Vertex.distance */
            e->to->distance = d; /* T: Edge.to; Vertex.distance */
    }
}

struct Stack {
    Vertex *items[16];
    int top;

    void push(Vertex *v)
    {
        items[top++] = v; /* T: Stack.items; Stack.top; Edge.to */
    }

    Vertex *pop()
    {
        return items[--top]; /* T: Stack.items; Stack.top */
    }
};

__attribute__((noinline)) int walk(Stack &s, Vertex *from)
{
    int steps = 0;

    s.push(from);
    while (s.top > 0 && steps < 10) { /* T: Stack.top */
        Vertex *v = s.pop();

        if (v->degree) /* T: Vertex.degree */
            s.push(v->edges[0].to); /* T: Vertex.edges; Edge.to */
        steps++;
    }
    return steps;
}

int main()
{
    static Vertex vertices[10];
    static Edge edges[10];
    static Stack stack;

    for (int i = 0; i < 10; i++) {
        edges[i].to = &vertices[(i + 1) % 10]; /* T: Edge.to */
        vertices[i].edges = &edges[i]; /* T: Vertex.edges */
        vertices[i].degree = 1; /* T: Vertex.degree */
    }
    relax(&vertices[3]);
    return visit(vertices) + walk(stack, vertices) == 12345;
}
