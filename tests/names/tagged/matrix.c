/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Rows and columns: pointers to arrays, arrays of arrays in structs, floating point. */
struct matrix {
    int rows, columns;
    float cells[8][8];
};

struct stats {
    double sum, least, most;
    long n;
};

__attribute__((noinline)) float trace(const struct matrix *m)
{
    float sum = 0;

    for (int i = 0; i < m->rows; i++) /* T: struct matrix.rows */
        sum += m->cells[i][i]; /* T: struct matrix.cells */
    return sum;
}

__attribute__((noinline)) void multiply(struct matrix *to, const struct matrix *a,
                                        const struct matrix *b)
{
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            float sum = 0;

            for (int k = 0; k < 8; k++)
                sum += a->cells[i][k] * b->cells[k][j]; /* T: struct matrix.cells */
            to->cells[i][j] = sum; /* T: struct matrix.cells */
        }
    }
    to->rows = a->rows; /* T: struct matrix.rows */
    to->columns = b->columns; /* T: struct matrix.columns */
}

__attribute__((noinline)) void collect(struct stats *s, const float (*rows)[8], int n)
{
    for (int i = 0; i < n; i++) {
        float x = rows[i][2]; /* T: float */

        s->sum += x; /* T: struct stats.sum; float */
        if (x < s->least) /* T: struct stats.least */
            s->least = x; /* T: struct stats.least */
        if (x > s->most) /* T: struct stats.most */
            s->most = x; /* T: struct stats.most */
        s->n++; /* T: struct stats.n; struct stats.sum */
    }
}

int main(void)
{
    static struct matrix a, b, c;
    static struct stats s;

    a.rows = 8; /* T: struct matrix.rows */
    multiply(&c, &a, &b);
    collect(&s, (const float(*)[8])c.cells, 8);
    return trace(&c) + (float)s.sum == 12345.0f; /* T: struct stats.sum */
}
