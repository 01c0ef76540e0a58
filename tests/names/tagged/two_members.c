/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* One struct, two hot members on different lines, in a loop. */
struct buffer {
    char first;
    char reserved[63];
    char second;
};

static struct buffer buffer __attribute__((aligned(64)));

__attribute__((noinline)) void turn(struct buffer *b, int n)
{
    for (int i = 0; i < n; i++) {
        b->first++; /* T: struct buffer.first; struct buffer.second */
        if (b->first == 0) /* T: struct buffer.first */
            b->second += 2; /* T: struct buffer.second */
        b->second ^= b->first; /* T: struct buffer.second; struct buffer.first */
    }
}

int main(void)
{
    turn(&buffer, 300000);
    return buffer.second == 99; /* T: struct buffer.second */
}
