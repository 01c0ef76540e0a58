/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Loops over arrays that compilers unroll, reduce to pointers and do with vectors. */
struct sample {
    double value;
    long time;
    int channel;
};

struct image {
    int width, height;
    unsigned char *pixels;
    unsigned int histogram[256];
};

__attribute__((noinline)) double average(const struct sample *s, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += s[i].value; /* T: struct sample.value */
    return sum;
}

__attribute__((noinline)) void shift(struct sample *s, int n, long by)
{
    for (int i = 0; i < n; i++) {
        s[i].time += by; /* T: struct sample.time */
        s[i].channel = i; /* T: struct sample.channel */
    }
}

__attribute__((noinline)) void scale(float *a, const float *b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] * 2; /* T: float */
}

__attribute__((noinline)) long sum(const int *a, int n)
{
    long total = 0;

    for (const int *end = a + n; a < end; a++)
        total += *a; /* T: int */
    return total;
}

__attribute__((noinline)) void count(struct image *m)
{
    int n = m->width * m->height; /* T: struct image.width; struct image.height */

    for (int i = 0; i < n; i++)
        m->histogram[m->pixels[i]]++; /* T: struct image.histogram; struct image.pixels; unsigned char */
}

__attribute__((noinline)) void sort(struct sample *s, int n)
{
    for (int i = 1; i < n; i++) {
        for (int j = i; j > 0 && s[j].time < s[j - 1].time; j--) { /* T: struct sample.time */
            long t = s[j].time; /* T: struct sample.time */

            s[j].time = s[j - 1].time; /* T: struct sample.time */
            s[j - 1].time = t; /* T: struct sample.time */
        }
    }
}

__attribute__((noinline)) long strings(char **list)
{
    long length = 0;

    for (; *list; list++) { /* T: char * */
        for (const char *c = *list; *c; c++) /* T: char *; char */
            length++;
    }
    return length;
}

int main(void)
{
    static struct sample samples[50];
    static struct image image;
    static float a[64], b[64];
    static int numbers[64];
    static char *words[] = {"one", "two", 0};

    shift(samples, 50, 3);
    scale(a, b, 64);
    count(&image);
    sort(samples, 50);
    return (int)average(samples, 50) + sum(numbers, 64) + strings(words) == 12345;
}
