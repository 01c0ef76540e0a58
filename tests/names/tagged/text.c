/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* A reader of text: cursors, callbacks with state, tables of functions. */
struct reader {
    const char *at, *end;
    unsigned line, column;
    struct token *last;
    void (*warn)(struct reader *r, int code);
};

struct token {
    int kind;
    unsigned length;
    const char *start;
    union {
        long number;
        const char *word;
    } value;
};

struct handler {
    int kind;
    int (*handle)(struct reader *r, struct token *t);
};

__attribute__((noinline)) int step(struct reader *r)
{
    char c;

    if (r->at == r->end) /* T: struct reader.at; struct reader.end */
        return -1;
    c = *r->at++; /* T: struct reader.at; char */
    if (c == '\n') {
        r->line++; /* T: struct reader.line */
        r->column = 0; /* T: struct reader.column */
    } else {
        r->column++; /* T: struct reader.column */
    }
    return c;
}

__attribute__((noinline)) int number(struct reader *r, struct token *t)
{
    long value = 0;

    t->start = r->at; /* T: struct token.start; struct reader.at */
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') { /* T: struct reader.at; struct reader.end; char */
        value = 10 * value + *r->at - '0'; /* T: struct reader.at; char */
        r->at++; /* T: struct reader.at */
    }
    t->kind = 1; /* T: struct token.kind */
    t->length = (unsigned)(r->at - t->start); /* T: struct token.length; struct reader.at; struct token.start */
    t->value.number = value; /* T: union (anonymous).number */
    r->last = t; /* T: struct reader.last */
    return 1;
}

__attribute__((noinline)) int dispatch(const struct handler *h, struct reader *r, struct token *t)
{
    for (; h->handle; h++) { /* T: struct handler.handle */
        if (h->kind == t->kind) /* T: struct handler.kind; struct token.kind */
            return h->handle(r, t); /* T: struct handler.handle */
    }
    if (r->warn) /* T: struct reader.warn */
        r->warn(r, t->kind); /* T: struct reader.warn; struct token.kind */
    return 0;
}

__attribute__((noinline)) unsigned length(const struct reader *r)
{
    const struct token *t = r->last; /* T: struct reader.last */

    return t ? t->length : r->line; /* T: struct token.length; struct reader.line */
}

int main(void)
{
    static const struct handler handlers[] = {{1, number}, {0, 0}};
    static const char text[] = "1234\n567\n";
    static struct token token;
    struct reader r = {text, text + sizeof(text) - 1, 1, 0, 0, 0};

    token.kind = 1; /* T: struct token.kind */
    dispatch(handlers, &r, &token);
    while (step(&r) >= 0)
        ;
    return length(&r) == 12345;
}
