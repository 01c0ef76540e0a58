/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Shared cache lines as one JSON object. */
#include "render/c2c.h"
#include "render/json.h"

static const char *or_null(const char *name)
{
    return *name ? name : NULL;
}

static void user_json(struct json *j, const struct spe_shared_user *u)
{
    json_number(j, "samples", u->samples);
    json_number(j, "reads", u->reads);
    json_number(j, "writes", u->writes);
    json_number(j, "travelled", u->travelled);
    json_number(j, "latency", u->latency);
    json_object_end(j);
}

static void thread_json(struct json *j, const struct c2c *c, const struct spe_shared_user *u)
{
    const struct spe_profile_thread *t =
        u->thread != SPE_NO_ID ? spe_profile_thread(c->report.profile, u->thread) : NULL;

    json_object(j, NULL);
    json_string(j, "comm", t ? or_null(spe_profile_string(c->report.profile, t->comm)) : NULL);
    if (t)
        json_number(j, "tid", t->tid);
    else
        json_null(j, "tid");
    user_json(j, u);
}

static void code_json(struct json *j, const struct c2c *c, const struct spe_shared_user *u)
{
    char name[REPORT_NAME];

    json_object(j, NULL);
    json_hex(j, "pc", u->pc);
    c2c_function_name(c, u, name);
    json_string(j, "function", or_null(name));
    c2c_line_name(c, u, name);
    json_string(j, "line", or_null(name));
    user_json(j, u);
}

static void cpus_json(struct json *j, uint32_t cpus)
{
    if (cpus)
        json_number(j, "cpus", cpus);
    else
        json_null(j, "cpus");
}

static void offset_json(struct json *j, const struct c2c *c, const struct spe_shared_line *line,
                        const struct spe_shared_offset *o)
{
    char name[REPORT_NAME];
    size_t i;

    json_object(j, NULL);
    json_number(j, "offset", o->offset);
    c2c_object_name(c, line, o, name);
    json_string(j, "object", or_null(name));
    json_number(j, "samples", o->samples);
    json_number(j, "reads", o->reads);
    json_number(j, "writes", o->writes);
    json_number(j, "travelled", o->travelled);
    json_number(j, "latency", o->latency);
    json_bool(j, "same_bytes", o->same_used);
    cpus_json(j, o->cpus);
    json_array(j, "threads");
    for (i = 0; i < o->thread_count; i++)
        thread_json(j, c, &o->threads[i]);
    json_array_end(j);
    json_array(j, "code");
    for (i = 0; i < o->code_count; i++)
        code_json(j, c, &o->code[i]);
    json_array_end(j);
    json_object_end(j);
}

static void line_json(struct json *j, const struct c2c *c, const struct spe_shared_line *line)
{
    char text[C2C_ADVICE];
    size_t i;

    json_object(j, NULL);
    json_hex(j, "address", line->address);
    if (line->pid == SPE_NO_TASK)
        json_null(j, "pid");
    else
        json_number(j, "pid", line->pid);
    json_string(j, "sharing", c2c_kind_name(line->kind));
    json_number(j, "loads", line->loads);
    json_number(j, "stores", line->stores);
    json_number(j, "travelled", line->travelled);
    json_number(j, "travelled_of", line->travelled_of);
    json_interval(j, "share_95", line->travelled, line->travelled_of);
    json_number(j, "latency", line->latency);
    json_number(j, "threads", line->threads);
    cpus_json(j, line->cpus);
    c2c_advice(c, line, text);
    json_string(j, "advice", text);
    json_array(j, "offsets");
    for (i = 0; i < line->offset_count; i++)
        offset_json(j, c, line, &line->offsets[i]);
    json_array_end(j);
    json_object_end(j);
}

void c2c_json(struct out *o, const struct c2c *c)
{
    const struct spe_sharing_result *r = c->result;
    struct json j;
    size_t i;

    json_begin(&j, o);
    json_object(&j, NULL);
    json_string(&j, "file", c->report.file);
    json_string(&j, "cpu", c->report.info->cpu ? c->report.info->cpu->name : NULL);
    json_bool(&j, "simulated", c->report.info->simulated);
    json_string(&j, "based_on", c2c_basis_name(r->basis));
    json_number(&j, "line_bytes", UINT64_C(1) << r->shift);
    json_number(&j, "samples", r->samples);
    json_number(&j, "loads", r->loads);
    json_number(&j, "without_address", r->no_address);
    json_number(&j, "travelled", r->travelled);
    json_number(&j, "latency", r->latency);
    json_bool(&j, "several_threads", r->several_threads);
    json_number(&j, "lines_seen", r->seen);
    json_number(&j, "lines_too_few", r->too_few);
    json_number(&j, "lines_not_shown", r->not_examined);
    json_number(&j, "left_out", r->left_out);
    json_array(&j, "lines");
    for (i = 0; i < r->line_count; i++)
        line_json(&j, c, &r->lines[i]);
    json_array_end(&j);
    json_object_end(&j);
    json_end_line(&j);
}
