/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Lambdas with captures, references to members, const members. */
struct Window {
    int left, right;
    double ratio;
    const char *title;
};

template <typename F> static void each(Window *w, int n, F f)
{
    for (int i = 0; i < n; i++)
        f(w[i]);
}

__attribute__((noinline)) int widths(Window *w, int n)
{
    int sum = 0;

    each(w, n, [&sum](Window &x) {
        sum += x.right; /* T: Window.right; int; int &; int *; (anonymous).sum */
        sum -= x.left; /* T: Window.left; int; int &; int *; (anonymous).sum */
    });
    return sum;
}

__attribute__((noinline)) void stretch(Window &w, double by)
{
    double &ratio = w.ratio;

    ratio *= by; /* T: Window.ratio; double */
    w.left = (int)ratio; /* T: Window.left; Window.ratio; double */
}

__attribute__((noinline)) long letters(const Window *w, int n)
{
    long count = 0;

    for (int i = 0; i < n; i++) {
        const char *c = w[i].title; /* T: Window.title */

        while (c && *c) { /* T: char */
            count++;
            c++;
        }
    }
    return count;
}

struct Range {
    long from, to;

    struct Iterator {
        const Range *range;
        long at;

        bool done() const
        {
            return at >= range->to; /* T: Range::Iterator.at; Range::Iterator.range; Range.to */
        }
    };

    Iterator begin() const
    {
        return {this, from}; /* T: Range.from; Range::Iterator.range; Range::Iterator.at */
    }
};

__attribute__((noinline)) long span(const Range &r)
{
    long sum = 0;

    for (Range::Iterator i = r.begin(); !i.done(); i.at++) /* T: Range::Iterator.at */
        sum += i.at; /* T: Range::Iterator.at */
    return sum;
}

int main()
{
    static Window windows[12];
    Range range = {1, 20};

    windows[3].title = "abc"; /* T: Window.title */
    stretch(windows[2], 1.5);
    return widths(windows, 12) + letters(windows, 12) + span(range) == 12345;
}
