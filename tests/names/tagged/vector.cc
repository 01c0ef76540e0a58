/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Templates and operators that are inlined. */
template <typename T> class Vector {
public:
    T *items;
    unsigned long count, room;

    T &operator[](unsigned long i)
    {
        return items[i]; /* T: Vector<Item>.items; Vector<int>.items; Vector<double>.items */
    }

    unsigned long size() const
    {
        return count; /* T: Vector<Item>.count; Vector<int>.count; Vector<double>.count */
    }

    void push(const T &item)
    {
        items[count] = item; /* T: Vector<int>.items; Vector<int>.count; int; Vector<double>.items; Vector<double>.count; double */
        count++; /* T: Vector<int>.count; Vector<double>.count */
    }
};

struct Item {
    int weight;
    short kind;
    long price;
};

__attribute__((noinline)) long cost(Vector<Item> &v)
{
    long sum = 0;

    for (unsigned long i = 0; i < v.size(); i++) {
        Item &item = v[i];

        sum += item.price; /* T: Item.price */
        item.weight++; /* T: Item.weight */
        item.kind = 2; /* T: Item.kind */
    }
    return sum;
}

__attribute__((noinline)) int add(Vector<int> &v)
{
    int sum = 0;

    for (unsigned long i = 0; i < v.size(); i++)
        sum += v[i]; /* T: int; Vector<int>.items */
    return sum;
}

__attribute__((noinline)) void fill(Vector<int> *v, Vector<double> *w)
{
    for (int i = 0; i < 50; i++) {
        v->push(i);
        w->push(i * 0.5);
    }
    v->room = 7; /* T: Vector<int>.room; double; Vector<double>.count */
    w->room = v->count; /* T: Vector<double>.room; Vector<int>.count */
}

int main()
{
    static Item items[20];
    static int numbers[64];
    static double reals[64];
    Vector<Item> v = {items, 20, 20};
    Vector<int> n = {numbers, 0, 64};
    Vector<double> d = {reals, 0, 64};

    fill(&n, &d);
    return cost(v) + add(n) == 12345;
}
