/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Which threads use which members in which lines of the cache. */
#ifndef ANALYSIS_LINE_USERS_H
#define ANALYSIS_LINE_USERS_H

#include "base/hash.h"
#include "base/vector.h"

#include <stdbool.h>
#include <stdint.h>

#define LINE_USERS 262144 /* more are not kept */
#define LINE 64

struct used_line {
    uint64_t line; /* address / LINE */
    uint32_t pid, last_user;
};

struct line_user { /* a thread that uses a member in a line */
    uint32_t line, member, thread;
    uint32_t before; /* another user of the line, or UINT32_MAX */
    bool wrote;
};

struct line_users {
    VECTOR(struct used_line) lines;
    VECTOR(struct line_user) users;
    struct hash_table line_table, user_table;
};

/* SPE_OK or SPE_ERR_NOMEM. */
int line_users_add(struct line_users *u, uint64_t seed, uint32_t pid, uint64_t address,
                   const struct line_user *user);
void line_users_free(struct line_users *u);

#endif
