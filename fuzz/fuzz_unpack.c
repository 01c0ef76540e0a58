/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * What a guest leaves: any bytes are unpacked to regular files and folders within the limits, and
 * nowhere else; and what the archive's reader found goes through the writer of initrds, whose bytes
 * are read back.
 */
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "require.h"
#include "vm/vm.h"

enum { BLOCK = 512 };

static const struct vm_limits limits = {.bytes = 1 << 16, .entries = 64};
static unsigned told;
static uint64_t found_bytes, found_names;

static void tell(const char *what, const char *why)
{
    REQUIRE(strlen(what) < PATH_MAX + 64 && why[0]);
    told++;
}

/* ---- The file system ------------------------------------------------------------------------- */

static int check_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)path, (void)type, (void)walk;
    REQUIRE(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode));
    REQUIRE(!(st->st_mode & (S_ISUID | S_ISGID | S_ISVTX)) || S_ISDIR(st->st_mode));
    REQUIRE(st->st_nlink == 1 || S_ISDIR(st->st_mode));
    found_names++;
    if (S_ISREG(st->st_mode))
        found_bytes += (uint64_t)st->st_size;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st, (void)type, (void)walk;
    return remove(path);
}

/* ---- Unpacking ------------------------------------------------------------------------------- */

static int memory_file(const uint8_t *data, size_t size)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);

    REQUIRE(fd >= 0);
    REQUIRE(write(fd, data, size) == (ssize_t)size);
    return fd;
}

static void unpack(int archive)
{
    char around[64], path[128];
    struct vm_outcome outcome;
    struct problem error = {0};
    struct vm_output output;

    /* In memory this is a hundred times faster. */
    snprintf(around, sizeof(around), "%s/spe-fuzz-unpack-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    REQUIRE(mkdtemp(around));
    snprintf(path, sizeof(path), "%s/output", around);
    told = 0;
    REQUIRE(vm_output_open(&output, path, &error) == 0);
    if (vm_output_take(&output, archive, &limits, false, tell, &outcome, &error) < 0)
        REQUIRE(error.what[0] || error.why[0]);
    REQUIRE(!outcome.incomplete || told);
    REQUIRE(outcome.status >= -1 && outcome.status <= 255);
    vm_output_close(&output);
    found_bytes = found_names = 0;
    REQUIRE(nftw(around, check_one, 16, FTW_PHYS) == 0);
    REQUIRE(found_bytes <= limits.bytes);
    REQUIRE(access(path, F_OK) == 0 || found_names == 1); /* nothing beside the output */
    REQUIRE(nftw(around, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

/* ---- initrd ---------------------------------------------------------------------------------- */

static unsigned field(const char *header, unsigned index)
{
    char text[9] = "", *end;
    unsigned long value;

    memcpy(text, header + 6 + (size_t)8 * index, 8);
    value = strtoul(text, &end, 16);
    REQUIRE(end == text + 8);
    return (unsigned)value;
}

/* One member of a cpio archive is what was put there; returns where the next begins. */
static size_t check_member(const char *text, size_t size, size_t at, const char *name,
                           const void *bytes, size_t count)
{
    const char *header = text + at;
    size_t name_size = strlen(name) + 1, data;

    REQUIRE(at % 4 == 0 && size - at >= 110 + name_size);
    REQUIRE(memcmp(header, "070701", 6) == 0);
    REQUIRE(field(header, 6) == count && field(header, 11) == name_size);
    REQUIRE(memcmp(header + 110, name, name_size) == 0);
    data = (at + 110 + name_size + 3) & ~(size_t)3;
    REQUIRE(size >= data && size - data >= count);
    REQUIRE(count == 0 || memcmp(text + data, bytes, count) == 0);
    return (data + count + 3) & ~(size_t)3;
}

static void write_initrd(int archive)
{
    struct vm_tar tar;
    struct vm_tar_entry entry;
    struct problem error;
    uint8_t bytes[4096];
    char *text;
    size_t size, at = 0, next;
    struct vm_cpio cpio = {.file = open_memstream(&text, &size)};

    REQUIRE(cpio.file && vm_tar_open(&tar, archive, &error) == 0);
    while (vm_tar_next(&tar, &entry, &error) == 1) {
        size_t count = entry.size < sizeof(bytes) ? (size_t)entry.size : sizeof(bytes);

        REQUIRE(entry.at <= tar.end && entry.size <= tar.end - entry.at);
        REQUIRE(vm_tar_read(&tar, entry.at, bytes, count));
        vm_cpio_file(&cpio, entry.name, S_IFREG | entry.mode, bytes, count);
        REQUIRE(fflush(cpio.file) == 0);
        next = check_member(text, size, at, entry.name, bytes, count);
        REQUIRE(next == size);
        at = next;
    }
    REQUIRE(vm_cpio_end(&cpio));
    REQUIRE(check_member(text, size, at, "TRAILER!!!", "", 0) == size);
    fclose(cpio.file);
    free(text);
}

/* ---- All ------------------------------------------------------------------------------------- */

/* A fuzzer does not guess checksums. */
static void seal_headers(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + BLOCK <= size; at += BLOCK) {
        uint8_t *header = data + at;
        char text[8];
        unsigned sum = 0;

        if (memcmp(header + 257, "ustar", 5) != 0)
            continue;
        memset(header + 148, ' ', 8);
        for (unsigned i = 0; i < BLOCK; i++)
            sum += header[i];
        snprintf(text, sizeof(text), "%06o", sum & 0777777);
        memcpy(header + 148, text, 7);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    REQUIRE(copy);
    memcpy(copy, data, size);
    for (int sealed = 0; sealed < 2; sealed++) {
        int archive = memory_file(copy, size);

        unpack(archive);
        write_initrd(archive);
        close(archive);
        seal_headers(copy, size);
    }
    free(copy);
    return 0;
}
