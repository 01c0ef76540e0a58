/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "record/machine_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <specimen/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 65536, WHAT_MAX = 230 };

/*
 * A shell's <(...) is a pipe and welcome; devices are not: to open one may do something. A FIFO
 * that nobody writes to is an empty file, not one to wait for.
 */
static int open_file(const char *path, struct problem *problem)
{
    struct stat st;
    int fd = -1;

    if (stat(path, &st) < 0) {
        problem_say(problem, false, path,
                    "%s; --machine takes KEY=VALUE,... or a file of such lines", strerror(errno));
        return -1;
    }
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)) {
        problem_say(problem, false, path,
                    "is not a file; --machine takes KEY=VALUE,... or a file of such "
                    "lines");
        return -1;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fcntl(fd, F_SETFL, 0) < 0) /* a writer that is there is waited for */
        problem_say(problem, false, path, "%s", strerror(errno));
    return fd;
}

/* Its size; -1 after an error, more than FILE_MAX if it is too long. */
static ssize_t read_all(int fd, char *text)
{
    size_t size = 0;

    while (size <= FILE_MAX) {
        ssize_t n = read(fd, text + size, FILE_MAX + 1 - size);

        if (n < 0 && errno != EINTR)
            return -1;
        if (n == 0)
            break;
        size += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)size;
}

static bool is_good(const struct machine_file *f, ssize_t size, struct problem *problem)
{
    if (size < 0)
        problem_say(problem, false, f->path, "%s", strerror(errno));
    else if (size > FILE_MAX)
        problem_say(problem, false, f->path,
                    "has more than %d bytes: this is not a list of settings", FILE_MAX);
    else if (memchr(f->text, '\0', (size_t)size))
        problem_say(problem, false, f->path, "is not a text: it has a byte of value 0");
    else
        return true;
    return false;
}

bool machine_file_open(struct machine_file *f, const char *path, struct problem *problem)
{
    int fd = open_file(path, problem);
    ssize_t size;

    *f = (struct machine_file){.path = path, .text = fd >= 0 ? malloc(FILE_MAX + 2) : NULL};
    if (fd < 0)
        return false;
    if (!f->text) {
        close(fd);
        problem_say(problem, false, path, "%s", spe_strerror(SPE_ERR_NOMEM));
        return false;
    }
    size = read_all(fd, f->text);
    close(fd);
    if (!is_good(f, size, problem))
        return false;
    f->text[size] = '\0';
    f->next = f->text;
    return true;
}

void machine_file_close(struct machine_file *f)
{
    free(f->text);
}

/* In place; spaces include the '\r' of other systems' lines. */
static char *trim(char *text)
{
    char *end;

    while (isspace((unsigned char)*text))
        text++;
    end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

bool machine_file_next(struct machine_file *f, char *setting, size_t room)
{
    while (f->next) {
        char *line = strsep(&f->next, "\n"), *value;

        f->line++;
        line[strcspn(line, "#")] = '\0';
        line = trim(line);
        if (!*line)
            continue;
        value = strchr(line, '=');
        if (value)
            *value++ = '\0';
        snprintf(setting, room, "%s%s%s", trim(line), value ? "=" : "", value ? trim(value) : "");
        return true;
    }
    return false;
}

void machine_file_fail(const struct machine_file *f, const struct problem *wrong,
                       struct problem *problem)
{
    size_t length = strlen(f->path);
    bool of_option = strcmp(wrong->what, "--machine") == 0; /* which the line's place says better */
    char place[WHAT_MAX + 16];

    snprintf(place, sizeof(place), "%s:%u", f->path + (length > WHAT_MAX ? length - WHAT_MAX : 0),
             f->line);
    problem_say(problem, false, place, "%s%s%s", of_option ? "" : wrong->what,
                of_option ? "" : ": ", wrong->why);
}
