/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "analysis/line_users.h"

#include <stdlib.h>

#define NOBODY UINT32_MAX

static uint32_t find_line(struct line_users *u, uint64_t seed, uint32_t pid, uint64_t line)
{
    uint64_t hash = hash_number(hash_number(seed, line), pid);
    size_t cursor = 0;
    uint32_t i;

    while ((i = hash_table_find(&u->line_table, hash, &cursor)) != NOBODY) {
        if (u->lines.at[i].line == line && u->lines.at[i].pid == pid)
            return i;
    }
    if (VECTOR_ROOM(&u->lines) < 0 ||
        hash_table_add(&u->line_table, hash, (uint32_t)u->lines.count) < 0)
        return NOBODY;
    u->lines.at[u->lines.count] = (struct used_line){line, pid, NOBODY};
    return (uint32_t)u->lines.count++;
}

int line_users_add(struct line_users *u, uint64_t seed, uint32_t pid, uint64_t address,
                   const struct line_user *user)
{
    uint32_t line, i;
    uint64_t hash;
    size_t cursor = 0;

    if (u->users.count >= LINE_USERS)
        return SPE_OK;
    line = find_line(u, seed, pid, address / LINE);
    if (line == NOBODY)
        return SPE_ERR_NOMEM;
    hash = hash_number(hash_number(seed, (uint64_t)line << 32 | user->member), user->thread);
    while ((i = hash_table_find(&u->user_table, hash, &cursor)) != NOBODY) {
        struct line_user *known = &u->users.at[i];

        if (known->line == line && known->member == user->member && known->thread == user->thread) {
            known->wrote |= user->wrote;
            return SPE_OK;
        }
    }
    if (VECTOR_ROOM(&u->users) < 0 ||
        hash_table_add(&u->user_table, hash, (uint32_t)u->users.count) < 0)
        return SPE_ERR_NOMEM;
    u->users.at[u->users.count] = *user;
    u->users.at[u->users.count].line = line;
    u->users.at[u->users.count].before = u->lines.at[line].last_user;
    u->lines.at[line].last_user = (uint32_t)u->users.count++;
    return SPE_OK;
}

void line_users_free(struct line_users *u)
{
    free(u->lines.at);
    free(u->users.at);
    hash_table_free(&u->line_table);
    hash_table_free(&u->user_table);
}
