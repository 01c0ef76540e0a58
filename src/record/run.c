/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Starts the program, and stays until it ends. */
#include <errno.h>
#include <poll.h>
#include <specimen/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/count_of.h"
#include "launch/option.h"
#include "launch/signals.h"
#include "qemu/driver.h"
#include "record/find.h"
#include "record/receive.h"

enum {
    FILE_CPUS = 256, /* in the file: one for each thread but the last, which is of all others */
    CORE_CPUS = 256, /* in the model, made when a thread needs one */
    FUNCTIONAL_CPUS = 64,
    FLUSH_BYTES = 1 << 18,
    BACKLOG = 128,
    TURNS = 64,             /* between two looks at signals and the time */
    SPARE_DESCRIPTORS = 16, /* for what comes with messages, mapped files, and to say no */
};

#define LISTEN_AGAIN 0.2 /* seconds after the system could not accept a connection */
#define LAST_WORDS 10.0  /* seconds for those who go on talking when the program has ended */

struct recording {
    const struct record_options *options;
    struct problem *problem;
    struct record_summary *summary;
    struct found found;
    struct record_machine machine;
    struct wire_setup setup;
    struct record_file *file;
    struct receiver *receiver;
    char socket_name[64];
    int listener;
    bool watching, raised; /* signals; the limit */
    struct rlimit limit;   /* of descriptors, as it was */
    rlim_t descriptors;    /* that we may have */
    pid_t child;
    bool child_ended, file_failed;
    double started, deadline, next_flush, listen_again;
    uint64_t next_flush_bytes;
};

uint64_t record_interval(uint64_t period)
{
    return driver_interval(period);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- Before --------------------------------------------------------------------------------- */

/* A name that nobody guesses, in Linux's abstract space: there is no file to leave behind. */
static bool listen_for_processes(struct recording *r)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uint64_t random[2];
    size_t length;

    if (getrandom(random, sizeof(random), 0) != sizeof(random))
        return false;
    length = (size_t)snprintf(r->socket_name, sizeof(r->socket_name), "@specimen-%016llx%016llx",
                              (unsigned long long)random[0], (unsigned long long)random[1]);
    memcpy(address.sun_path, r->socket_name, length);
    address.sun_path[0] = '\0';
    r->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return r->listener >= 0 &&
           bind(r->listener, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == 0 &&
           listen(r->listener, BACKLOG) == 0;
}

static bool add_argument(struct wire_setup *setup, const char *text)
{
    size_t size = strlen(text) + 1;

    if (setup->arguments_size + size > sizeof(setup->arguments))
        return false;
    memcpy(setup->arguments + setup->arguments_size, text, size);
    setup->arguments_size += (uint32_t)size;
    setup->argument_count++;
    return true;
}

static bool plugin_option(const struct recording *r, char *text, size_t room)
{
    char *path = option_value(r->found.plugin);
    int n = path ? snprintf(text, room, "%s,role=recorder,socket=%s", path, r->socket_name) : -1;

    free(path);
    return n >= 0 && (size_t)n < room;
}

/* SME came with 7.1; its vectors are as long as SVE's. */
static void cpu_option(const struct recording *r, char *text, size_t room)
{
    const struct record_cpu *cpu = record_cpu_find(r->options->cpu);
    bool sme = qemu_is_at_least(&r->found.version, 7, 1);
    unsigned bytes = r->setup.vector_bits / 8;

    if (strcmp(cpu->qemu, "max") != 0)
        snprintf(text, room, "%s", cpu->qemu);
    else if (!bytes)
        snprintf(text, room, "max,sve=off%s", sme ? ",sme=off" : "");
    else if (sme)
        snprintf(text, room, "max,sve-default-vector-length=%u,sme-default-vector-length=%u", bytes,
                 bytes);
    else
        snprintf(text, room, "max,sve-default-vector-length=%u", bytes);
}

/* QEMU's command line up to the program, for us and for every exec. */
static bool make_arguments(struct recording *r)
{
    struct wire_setup *s = &r->setup;
    char plugin[2 * WIRE_TEXT], cpu[128];

    cpu_option(r, cpu, sizeof(cpu));
    return plugin_option(r, plugin, sizeof(plugin)) && add_argument(s, r->found.qemu) &&
           add_argument(s, "-cpu") && add_argument(s, cpu) &&
           (!r->found.sysroot[0] || (add_argument(s, "-L") && add_argument(s, r->found.sysroot))) &&
           add_argument(s, "-U") && add_argument(s, "SPECIMEN_PLUGIN_LEVEL") &&
           add_argument(s, "-plugin") && add_argument(s, plugin);
}

static unsigned cpus_of(const struct record_options *o)
{
    return o->cpus ? o->cpus : o->model == RECORD_MODEL_CORE ? CORE_CPUS : FUNCTIONAL_CPUS;
}

static bool make_setup(struct recording *r)
{
    const struct record_options *o = r->options;
    struct wire_setup *s = &r->setup;

    s->header = (struct wire_header){.type = WIRE_SETUP, .size = sizeof(*s)};
    s->version = WIRE_VERSION;
    s->flags = (o->stat ? WIRE_STAT : 0) | (o->cpus ? WIRE_SHARE_CPUS : 0) |
               (o->model == RECORD_MODEL_NONE ? 0 : WIRE_FUNCTIONAL) |
               (o->model == RECORD_MODEL_CORE ? WIRE_CORE : 0) | (o->calls ? WIRE_FOLLOW : 0);
    s->cpus = cpus_of(o);
    s->seed = o->seed;
    s->config = o->event.config | 1; /* per CPU, time cannot be done without: as perf does */
    s->config1 = o->event.config1;
    s->config2 = o->event.config2;
    s->config3 = o->event.config3;
    s->config4 = o->event.config4;
    s->period = o->period;
    s->machine = r->machine.config;
    s->vector_bits = r->machine.vector_bits;
    s->zva_bytes = record_cpu_find(o->cpu)->zva_bytes;
    snprintf(s->cpu, sizeof(s->cpu), "%s", o->cpu);
    return make_arguments(r);
}

/* ---- The program ---------------------------------------------------------------------------- */

/* QEMU's arguments, then "-0 name file", then the program's own. */
static char **make_command(struct recording *r)
{
    static char zero[] = "-0";
    char **given = r->options->command, *at = r->setup.arguments, **command;
    size_t count = 0, i = 0;

    while (given[count])
        count++;
    command = calloc(r->setup.argument_count + count + 8, sizeof(*command));
    if (!command)
        return NULL;
    for (; i < r->setup.argument_count; i++, at += strlen(at) + 1)
        command[i] = at;
    command[i++] = zero;
    if (r->found.script[0]) {
        command[i++] = r->found.script;
        command[i++] = r->found.file;
        if (r->found.argument[0])
            command[i++] = r->found.argument;
        command[i++] = r->found.program;
    } else {
        command[i++] = given[0];
        command[i++] = r->found.file;
    }
    memcpy(command + i, given + 1, count * sizeof(*command));
    return command;
}

/* For the plugin's socket. A process with one thread gets room for it at once, and keeps it when it
 * becomes QEMU. QEMU has two threads, and the kernel would make it wait a hundredth of a second. */
static void make_room_for_socket(void)
{
    close(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, WIRE_DESCRIPTOR));
}

static bool start_program(struct recording *r)
{
    char **command = make_command(r);

    if (!command) {
        problem_say(r->problem, false, r->options->command[0], "%s", spe_strerror(SPE_ERR_NOMEM));
        return false;
    }
    fflush(NULL);
    r->child = signals_fork();
    if (r->child == 0) {
        setrlimit(RLIMIT_NOFILE, &r->limit);
        qemu_tell_level(&r->found.version);
        make_room_for_socket();
        /* The same addresses in each run, so that its caches meet the same conflicts. A container
         * may forbid it: then they differ, as they do without us. */
        personality(ADDR_NO_RANDOMIZE | (unsigned)personality(0xffffffff));
        if (strcmp(r->options->output, "-") == 0)
            dup2(STDERR_FILENO, STDOUT_FILENO);
        execv(command[0], command);
        fprintf(stderr, "spe: %s: %s\n", command[0], strerror(errno));
        _exit(127);
    }
    free(command);
    if (r->child < 0)
        problem_say(r->problem, false, r->options->command[0], "cannot be started: %s",
                    strerror(errno));
    return r->child > 0;
}

/* A process costs us a descriptor. The program keeps its own limit. */
static void raise_limit(struct recording *r)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &r->limit) < 0)
        return;
    most = (struct rlimit){r->limit.rlim_max, r->limit.rlim_max};
    r->raised = setrlimit(RLIMIT_NOFILE, &most) == 0;
    r->descriptors = r->raised ? most.rlim_cur : r->limit.rlim_cur;
}

/* ---- While it runs -------------------------------------------------------------------------- */

static void reap(struct recording *r)
{
    int status;

    if (waitpid(r->child, &status, WNOHANG) != r->child)
        return;
    signals_child_ended();
    r->child_ended = true;
    r->summary->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    r->summary->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* There is no room for this process: it has to know, because it waits for us. */
static void refuse(struct recording *r, int fd)
{
    struct wire_setup setup = r->setup;

    setup.flags |= WIRE_UNRECORDED;
    send(fd, &setup, sizeof(setup), MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
    r->summary->unrecorded++;
}

/* Numbers are given from the lowest, so that the last ones stay free if no process gets them. */
static void welcome(struct recording *r, int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.uid != geteuid())
        close(fd); /* only processes of the same user */
    else if ((rlim_t)fd + SPARE_DESCRIPTORS >= r->descriptors ||
             !receiver_accept(r->receiver, fd, peer.pid))
        refuse(r, fd);
}

/* A listener that cannot accept stays readable: then it is left alone for a while. */
static void take_connections(struct recording *r)
{
    for (int i = 0; i < BACKLOG; i++) {
        int fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd >= 0) {
            welcome(r, fd);
            continue;
        }
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            r->listen_again = seconds() + LISTEN_AGAIN;
        if (errno != EINTR && errno != ECONNABORTED)
            return;
    }
}

static void keep_time(struct recording *r)
{
    double time = seconds();

    if (time >= r->next_flush || r->summary->aux_bytes >= r->next_flush_bytes) {
        if (!r->file_failed && !file_flush(r->file, r->problem))
            r->file_failed = true;
        if (r->options->progress)
            r->options->progress(r->options->user, time - r->started, r->summary->aux_bytes);
        r->next_flush = time + 1;
        r->next_flush_bytes = r->summary->aux_bytes + FLUSH_BYTES;
    }
    if (r->deadline != 0 && time >= r->deadline && !r->child_ended) {
        kill(r->child, r->summary->timed_out ? SIGKILL : SIGTERM);
        r->summary->timed_out = true;
        r->deadline = time + 5; /* for a program that does not mind SIGTERM */
    }
}

/* One round of at most so many turns; how many were needed. */
static unsigned serve(struct recording *r, unsigned turns, int timeout)
{
    struct pollfd fds[] = {
        {.fd = signals_descriptor(), .events = POLLIN},
        {.fd = seconds() < r->listen_again ? -1 : r->listener, .events = POLLIN},
        {.fd = receiver_descriptor(r->receiver), .events = POLLIN},
    };

    if (poll(fds, COUNT_OF(fds), timeout) == 0)
        return 0;
    if (fds[0].revents)
        signals_take();
    if (fds[1].revents)
        take_connections(r);
    return receiver_serve(r->receiver, turns);
}

/* What was said before the program ended. Those who go on talking do not keep us: everybody has had
 * some turns, and then it is a matter of time. */
static void hear_the_rest(struct recording *r)
{
    size_t turns = (receiver_count(r->receiver) + BACKLOG) * TURNS;
    double end = seconds() + LAST_WORDS;
    unsigned used;

    while (!signals_want_end() && (turns || seconds() < end) && (used = serve(r, TURNS, 0)) > 0)
        turns -= used < turns ? used : turns;
}

/* Until the program has ended and nothing that it sent is left. Processes that it left behind go on
 * without us. */
static void stay(struct recording *r)
{
    r->started = seconds();
    r->next_flush = r->started + 1;
    r->next_flush_bytes = FLUSH_BYTES;
    r->deadline = r->options->duration > 0 ? seconds() + r->options->duration : 0;
    while (!r->child_ended && !signals_want_end()) {
        serve(r, TURNS, 200);
        keep_time(r);
        reap(r);
    }
    if (!r->child_ended)
        r->summary->exit_status = 128 + SIGTERM;
    hear_the_rest(r);
}

/* ---- All ------------------------------------------------------------------------------------ */

static bool prepare(struct recording *r)
{
    if (!record_check_event(&r->options->event, r->options->cpu, r->problem) ||
        !record_machine_of(r->options, cpus_of(r->options), &r->machine, r->problem) ||
        !find_all(r->options, &r->found, r->problem))
        return false;
    if (!listen_for_processes(r)) {
        problem_say(r->problem, false, "record", "cannot set up the connection: %s",
                    strerror(errno));
        return false;
    }
    if (!make_setup(r)) {
        problem_say(r->problem, false, "record",
                    "the paths of QEMU, plugin and sysroot are too long");
        return false;
    }
    /* Signals are not watched yet: a FIFO waits for its reader, and a signal has to end that. */
    r->file = file_create(r->options, r->machine.settings, r->found.program,
                          r->options->cpus ? r->options->cpus : FILE_CPUS, r->problem);
    return r->file != NULL;
}

static bool finish(struct recording *r)
{
    receiver_end(r->receiver);
    if (!file_finish(r->file, &r->summary->file_bytes, r->problem))
        r->file_failed = true;
    if (r->options->keep)
        file_keep(r->file, r->options->keep, &r->summary->kept);
    r->summary->unread = file_unread(r->file);
    if (r->summary->processes == 0 && !r->summary->unrecorded && !r->file_failed) {
        problem_say(r->problem, false, r->found.qemu,
                    "QEMU ended with status %d before the plugin could start",
                    r->summary->exit_status);
        return false;
    }
    return !r->file_failed;
}

/* Until here a signal ends us as any other program: there is nothing to finish. */
static bool start(struct recording *r, struct record_counts *counts)
{
    raise_limit(r);
    r->watching = signals_watch();
    r->receiver = r->watching ? receiver_create(r->file, &r->setup, r->summary, counts) : NULL;
    if (r->receiver)
        return start_program(r);
    problem_say(r->problem, false, "record", "cannot be set up: %s", strerror(errno));
    return false;
}

static void clean_up(struct recording *r)
{
    receiver_free(r->receiver);
    file_free(r->file);
    if (r->listener >= 0)
        close(r->listener);
    if (r->watching)
        signals_unwatch();
    if (r->raised)
        setrlimit(RLIMIT_NOFILE, &r->limit);
}

bool record_run(const struct record_options *options, struct record_summary *summary,
                struct record_counts *counts, bool *started, struct problem *problem)
{
    struct recording *r = calloc(1, sizeof(*r));
    bool good = false;

    *started = false;
    memset(summary, 0, sizeof(*summary));
    if (!r) {
        problem_say(problem, false, "record", "%s", spe_strerror(SPE_ERR_NOMEM));
        return false;
    }
    r->options = options;
    r->problem = problem;
    r->summary = summary;
    r->listener = -1;
    if (prepare(r) && start(r, counts)) {
        *started = true;
        stay(r);
        good = finish(r);
    }
    clean_up(r);
    free(r);
    return good;
}
