/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "launch/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRIPT_DEPTH = 4 }; /* as in the kernel: a script's interpreter may be a script */

/* The file in the sysroot if it is there, else as it is. False if it is nowhere. */
static bool find_in_sysroot(const char *path, const char *sysroot, char found[PATH_MAX])
{
    int length = snprintf(found, PATH_MAX, "%s%s", sysroot, path);

    if (length < PATH_MAX && access(found, F_OK) == 0)
        return true;
    length = snprintf(found, PATH_MAX, "%s", path);
    return length < PATH_MAX && access(found, F_OK) == 0;
}

/* ---- ELF ------------------------------------------------------------------------------------ */

static enum program_verdict examine_loader(int fd, const Elf64_Ehdr *e, const char *sysroot,
                                           struct program *p)
{
    char found[PATH_MAX];
    Elf64_Phdr ph;

    for (unsigned i = 0; i < e->e_phnum; i++) {
        if (pread(fd, &ph, sizeof(ph), (off_t)(e->e_phoff + i * sizeof(ph))) != sizeof(ph))
            return PROGRAM_UNKNOWN;
        if (ph.p_type != PT_INTERP)
            continue;
        if (ph.p_filesz == 0 || ph.p_filesz >= sizeof(p->loader) ||
            pread(fd, p->loader, ph.p_filesz, (off_t)ph.p_offset) != (ssize_t)ph.p_filesz)
            return PROGRAM_UNKNOWN;
        p->loader[ph.p_filesz] = '\0';
        return find_in_sysroot(p->loader, sysroot, found) ? PROGRAM_OK : PROGRAM_NO_LOADER;
    }
    return PROGRAM_OK;
}

static enum program_verdict examine_elf(int fd, const char *sysroot, struct program *p)
{
    Elf64_Ehdr e;
    ssize_t got = pread(fd, &e, sizeof(e), 0);

    /* The machine is at the same place in 32-bit files. */
    if (got < (ssize_t)offsetof(Elf64_Ehdr, e_version))
        return PROGRAM_UNKNOWN;
    p->machine = e.e_machine;
    if (e.e_machine != EM_AARCH64 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
        e.e_ident[EI_DATA] != ELFDATA2LSB)
        return PROGRAM_FOREIGN;
    if (got < (ssize_t)sizeof(e))
        return PROGRAM_UNKNOWN;
    if (e.e_type != ET_EXEC && e.e_type != ET_DYN)
        return PROGRAM_LIBRARY;
    return examine_loader(fd, &e, sysroot, p);
}

/* ---- Scripts -------------------------------------------------------------------------------- */

/* "#! interpreter [argument]" */
static bool parse_script(char *line, struct program *p)
{
    char *name = line + 2 + strspn(line + 2, " \t"), *argument;

    name[strcspn(name, "\n")] = '\0';
    argument = name + strcspn(name, " \t");
    if (*argument) {
        *argument++ = '\0';
        argument += strspn(argument, " \t");
    }
    snprintf(p->interpreter, sizeof(p->interpreter), "%s", name);
    snprintf(p->argument, sizeof(p->argument), "%s", argument);
    return name[0] != '\0';
}

static enum program_verdict examine(const char *path, const char *sysroot, struct program *p,
                                    int depth);

static enum program_verdict examine_script(char *line, const char *sysroot, struct program *p,
                                           int depth)
{
    char found[PATH_MAX];
    struct program inner = {.file = ""};
    enum program_verdict verdict;

    p->script = true;
    if (!parse_script(line, p) || depth > SCRIPT_DEPTH)
        return PROGRAM_UNKNOWN;
    if (!find_in_sysroot(p->interpreter, sysroot, found))
        return PROGRAM_MISSING;
    verdict = examine(found, sysroot, &inner, depth + 1);
    memcpy(p->file, inner.file, sizeof(p->file));
    memcpy(p->loader, inner.loader, sizeof(p->loader));
    p->machine = inner.machine;
    return inner.script ? PROGRAM_UNKNOWN : verdict;
}

/* ---- All ------------------------------------------------------------------------------------ */

static enum program_verdict examine(const char *path, const char *sysroot, struct program *p,
                                    int depth)
{
    enum program_verdict verdict = PROGRAM_UNKNOWN;
    char head[PATH_MAX] = "";
    struct stat st;
    ssize_t got;
    int fd;

    memset(p, 0, sizeof(*p));
    snprintf(p->file, sizeof(p->file), "%s", path);
    /* The type comes first: to open a FIFO or a device may wait, or do something. */
    if (stat(path, &st) < 0)
        return PROGRAM_MISSING;
    if (!S_ISREG(st.st_mode))
        return PROGRAM_DIRECTORY;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return PROGRAM_MISSING;
    got = pread(fd, head, sizeof(head) - 1, 0);
    if (got >= EI_NIDENT && memcmp(head, ELFMAG, SELFMAG) == 0)
        verdict = examine_elf(fd, sysroot, p);
    else if (got > 2 && head[0] == '#' && head[1] == '!')
        verdict = examine_script(head, sysroot, p, depth);
    close(fd);
    return verdict;
}

enum program_verdict program_examine(const char *path, const char *sysroot, struct program *program)
{
    return examine(path, sysroot, program, 0);
}
