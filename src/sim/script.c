/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* From text to statements: lines, words, comments, variables. */
#include "sim/sim_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool sim_wrong(struct sim *sim, unsigned column, const char *format, ...)
{
    va_list args;

    sim->error->line = sim->line;
    sim->error->column = column;
    va_start(args, format);
    vsnprintf(sim->error->sentence, sizeof(sim->error->sentence), format, args);
    va_end(args);
    return false;
}

bool sim_step(struct sim *sim)
{
    if (sim->steps_left == 0)
        return sim_wrong(sim, 1, "the script has taken more steps than it may");
    sim->steps_left--;
    return true;
}

/* ---- Variables ------------------------------------------------------------------------------ */

static struct variable *find_variable(struct sim *sim, const char *name, size_t length)
{
    for (size_t i = 0; i < sim->variables; i++)
        if (strlen(sim->variable[i].name) == length && !memcmp(sim->variable[i].name, name, length))
            return &sim->variable[i];
    return NULL;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool sim_good_name(struct sim *sim, const struct token *name, const char *also)
{
    for (const char *c = name->text; *c; c++)
        if (!is_name(*c) && !strchr(also, *c))
            return sim_wrong(sim, name->column, "'%s' is not a name", name->text);
    return true;
}

bool sim_set_variable(struct sim *sim, const struct token *name, const char *value)
{
    struct variable *v = find_variable(sim, name->text, strlen(name->text));

    if (!sim_good_name(sim, name, ""))
        return false;
    if (!v) {
        if (sim->variables == SIM_VARIABLE_MAX)
            return sim_wrong(sim, name->column, "there are more than %d variables",
                             SIM_VARIABLE_MAX);
        v = &sim->variable[sim->variables++];
        snprintf(v->name, sizeof(v->name), "%s", name->text);
    }
    snprintf(v->value, sizeof(v->value), "%s", value);
    return true;
}

/* ---- Words ---------------------------------------------------------------------------------- */

/* Text that is put together piece by piece into a word. */
struct piece {
    struct token *token;
    size_t length;
};

static bool append(struct sim *sim, struct piece *p, const char *text, size_t length)
{
    if (p->length + length >= sizeof(p->token->text))
        return sim_wrong(sim, p->token->column, "the word is longer than %zu characters",
                         sizeof(p->token->text) - 1);
    memcpy(p->token->text + p->length, text, length);
    p->length += length;
    p->token->text[p->length] = '\0';
    return true;
}

/* $name is replaced by the variable's value. Returns how many characters it took, 0 if wrong. */
static size_t append_variable(struct sim *sim, struct piece *p, const char *text, size_t left,
                              unsigned column)
{
    const struct variable *v;
    size_t n = 1;

    while (n < left && is_name(text[n]))
        n++;
    v = find_variable(sim, text + 1, n - 1);
    if (!v) {
        sim_wrong(sim, column, "there is no variable %.*s", (int)n, text);
        return 0;
    }
    return append(sim, p, v->value, strlen(v->value)) ? n : 0;
}

static bool cut_word(struct sim *sim, struct token *token, const char *text, size_t length)
{
    struct piece p = {token, 0};

    token->text[0] = '\0';
    for (size_t i = 0; i < length;) {
        size_t n = 1;

        if (text[i] == '$')
            n = append_variable(sim, &p, text + i, length - i, token->column + (unsigned)i);
        else if (!append(sim, &p, text + i, 1))
            return false;
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

static bool cut_line(struct sim *sim, const char *line, size_t length, struct words *words)
{
    size_t at = 0;

    words->count = 0;
    for (;;) {
        size_t end;
        struct token *token;

        while (at < length && isspace((unsigned char)line[at]))
            at++;
        if (at == length || line[at] == '#')
            return true;
        if (words->count == SIM_WORDS_MAX)
            return sim_wrong(sim, (unsigned)at + 1, "the line has more than %d words",
                             SIM_WORDS_MAX);
        for (end = at; end < length && !isspace((unsigned char)line[end]) && line[end] != '#';)
            end++;
        token = &words->word[words->count++];
        token->column = (unsigned)at + 1;
        if (!cut_word(sim, token, line + at, end - at))
            return false;
        at = end;
    }
}

int sim_next_line(struct sim *sim, struct cursor *cursor, struct words *words)
{
    while (cursor->at < cursor->length) {
        const char *line = cursor->text + cursor->at;
        size_t left = cursor->length - cursor->at;
        const char *end = memchr(line, '\n', left);
        size_t length = end ? (size_t)(end - line) : left;

        cursor->at += length + (end != NULL);
        sim->line = cursor->line++;
        if (!cut_line(sim, line, length, words))
            return -1;
        if (words->count)
            return 1;
    }
    return 0;
}

bool sim_split(struct token *token, const char **key, const char **value)
{
    char *equals = strchr(token->text, '=');

    if (!equals)
        return false;
    *equals = '\0';
    *key = token->text;
    *value = equals + 1;
    return true;
}

/* ---- The whole ------------------------------------------------------------------------------ */

struct sim *sim_create(const struct sim_listener *listener)
{
    struct sim *sim = calloc(1, sizeof(*sim));

    if (!sim)
        return NULL;
    sim->listener = *listener;
    sim->seen.fate = -1;
    sim->steps_left = UINT64_MAX;
    spe_spu_config_init(&sim->machine.config, NULL);
    spe_pe_state_init(&sim->machine.pe);
    spe_operation_init(&sim->machine.op, SPE_OPERATION_OTHER);
    return sim;
}

void sim_destroy(struct sim *sim)
{
    if (!sim)
        return;
    sim_drop_unit(sim);
    sim_clear_memory(sim);
    free(sim);
}

void sim_set_limit(struct sim *sim, uint64_t steps)
{
    sim->steps_left = steps;
}

int sim_run(struct sim *sim, const char *text, size_t length, struct sim_error *error)
{
    struct cursor cursor = {.text = text, .length = length, .line = 1};
    struct words *words = malloc(sizeof(*words));
    int more = -1;

    *error = (struct sim_error){0};
    sim->error = error;
    sim->script++;
    if (!words)
        return sim_wrong(sim, 1, "there is no memory for a line"), SPE_ERR_NOMEM;
    while ((more = sim_next_line(sim, &cursor, words)) > 0) {
        if (!sim_statement(sim, words, &cursor) ||
            (sim->no_memory && !sim_wrong(sim, 1, "there is no memory for the written bytes"))) {
            more = -1;
            break;
        }
    }
    free(words);
    return more < 0 ? SPE_ERR_INVALID : SPE_OK;
}

uint64_t sim_expected(const struct sim *sim)
{
    return sim->expected;
}

uint64_t sim_failed(const struct sim *sim)
{
    return sim->failed;
}
