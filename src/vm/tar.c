/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * Reading a tar archive that a guest wrote: POSIX ustar with pax headers, and GNU's long names and
 * large numbers, which busybox and GNU tar write. The guest may be hostile: no number is used
 * before it is held against the archive's size.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count_of.h"
#include "vm/vm.h"

enum { BLOCK = 512 };

struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], unused[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

static const char what[] = "the guest's archive";

static int damaged(const struct vm_tar *tar, struct problem *error, const char *why)
{
    return problem_say(error, SPE_ERR_INVALID, what, "at byte %llu: %s",
                       (unsigned long long)tar->at, why);
}

bool vm_tar_read(const struct vm_tar *tar, uint64_t at, void *bytes, size_t size)
{
    uint8_t *p = bytes;

    while (size) {
        ssize_t n = pread(tar->fd, p, size, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
}

int vm_tar_open(struct vm_tar *tar, int fd, struct problem *error)
{
    struct stat st;

    tar->fd = fd;
    tar->at = 0;
    if (fstat(fd, &st) < 0)
        return problem_say(error, SPE_ERR_IO, what, "%s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return problem_say(error, SPE_ERR_INVALID, what, "it is not a regular file");
    tar->end = (uint64_t)st.st_size;
    return 0;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Big-endian, behind a first byte of 0x80; 0xff begins a negative one. */
static bool binary_number(const char *field, size_t size, uint64_t *value)
{
    uint64_t v = 0;

    if ((uint8_t)field[0] != 0x80)
        return false;
    for (size_t i = 1; i < size; i++) {
        if (v >> 56)
            return false;
        v = v << 8 | (uint8_t)field[i];
    }
    *value = v;
    return true;
}

/* Octal digits between blanks; ends with a blank, a NUL or the field. An empty field is 0. */
static bool number(const char *field, size_t size, uint64_t *value)
{
    uint64_t v = 0;
    size_t i = 0;

    if (field[0] & 0x80)
        return binary_number(field, size, value);
    while (i < size && field[i] == ' ')
        i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
        v = v << 3 | (uint64_t)(field[i] - '0'); /* twelve digits are 36 bits */
    while (i < size && (field[i] == ' ' || field[i] == '\0'))
        i++;
    *value = v;
    return i == size;
}

static bool checksum_is_right(const struct header *h)
{
    const uint8_t *bytes = (const uint8_t *)h;
    uint64_t wanted, sum = ' ' * sizeof(h->checksum);

    for (size_t i = 0; i < sizeof(*h); i++)
        sum += bytes[i];
    for (size_t i = 0; i < sizeof(h->checksum); i++)
        sum -= (uint8_t)h->checksum[i];
    return number(h->checksum, sizeof(h->checksum), &wanted) && wanted == sum;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Takes `size` bytes as the entry's name. One that does not fit is cut, and marked. */
static void take_name(struct vm_tar_entry *e, const char *name, size_t size)
{
    e->bad_name = size >= sizeof(e->name) || memchr(name, '\0', size);
    if (size >= sizeof(e->name))
        size = sizeof(e->name) - 1;
    memcpy(e->name, name, size);
    e->name[size] = '\0';
}

/* The prefix is POSIX's; GNU's archives have other things there. */
static void header_name(const struct header *h, struct vm_tar_entry *e)
{
    size_t name = strnlen(h->name, sizeof(h->name)), prefix = 0;
    char path[sizeof(h->prefix) + 1 + sizeof(h->name)];

    if (memcmp(h->magic, "ustar", sizeof("ustar")) == 0)
        prefix = strnlen(h->prefix, sizeof(h->prefix));
    memcpy(path, h->prefix, prefix);
    if (prefix)
        path[prefix++] = '/';
    memcpy(path + prefix, h->name, name);
    take_name(e, path, prefix + name);
}

/* ---- Headers in front of an entry ------------------------------------------------------------ */

/* What they say about the entry that follows. */
struct ahead {
    bool named, sized, sparse;
    uint64_t size;
};

static bool decimal(const char *text, size_t size, uint64_t *value)
{
    uint64_t v = 0;

    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || v > (UINT64_MAX - 9) / 10)
            return false;
        v = v * 10 + (uint64_t)(text[i] - '0');
    }
    *value = v;
    return size > 0;
}

static bool pax_value(const char *key, size_t key_size, const char *value, size_t size,
                      struct ahead *ahead, struct vm_tar_entry *e)
{
    static const char sparse[] = "GNU.sparse.";

    if (key_size == 4 && memcmp(key, "path", 4) == 0) {
        take_name(e, value, size);
        ahead->named = true;
    } else if (key_size == 4 && memcmp(key, "size", 4) == 0) {
        ahead->sized = true;
        return decimal(value, size, &ahead->size);
    } else if (key_size >= sizeof(sparse) - 1 && memcmp(key, sparse, sizeof(sparse) - 1) == 0) {
        ahead->sparse = true;
    }
    return true;
}

/* Lines of "LENGTH KEY=VALUE\n", whose length counts itself. */
static bool pax_header(const char *text, size_t size, struct ahead *ahead, struct vm_tar_entry *e)
{
    while (size) {
        const char *blank = memchr(text, ' ', size), *equals;
        uint64_t length;

        if (!blank || !decimal(text, (size_t)(blank - text), &length) || length > size ||
            length < (uint64_t)(blank - text) + 3 || text[length - 1] != '\n')
            return false;
        equals = memchr(blank, '=', (size_t)(text + length - blank));
        if (!equals || !pax_value(blank + 1, (size_t)(equals - blank - 1), equals + 1,
                                  (size_t)(text + length - 1 - (equals + 1)), ahead, e))
            return false;
        text += length;
        size -= (size_t)length;
    }
    return true;
}

/* Takes in a header that is about the next entry: GNU's long name, or pax. */
static int look_ahead(struct vm_tar *tar, const struct vm_tar_entry *header, struct ahead *ahead,
                      struct vm_tar_entry *e, struct problem *error)
{
    char text[VM_TAR_AHEAD_MAX];
    size_t size = (size_t)header->size;

    if (header->size > sizeof(text))
        return damaged(tar, error, "a header is too long");
    if (!vm_tar_read(tar, header->at, text, size))
        return damaged(tar, error, "it cannot be read");
    if (header->type == 'L') {
        take_name(e, text, strnlen(text, size));
        ahead->named = true;
    } else if (header->type == 'x' && !pax_header(text, size, ahead, e)) {
        return damaged(tar, error, "a pax header is invalid");
    }
    return 0;
}

static bool is_ahead(char type)
{
    return type == 'L' || type == 'K' || type == 'x' || type == 'g';
}

/* ---- Entries --------------------------------------------------------------------------------- */

static bool is_zero(const struct header *h)
{
    static const struct header zero;

    return memcmp(h, &zero, sizeof(zero)) == 0;
}

static const char *compression(const void *bytes)
{
    static const struct {
        const char *name, *magic;
        size_t size;
    } known[] = {
        {"gzip", "\x1f\x8b", 2},
        {"compress", "\x1f\x9d", 2},
        {"bzip2", "BZh", 3},
        {"xz", "\xfd\x37zXZ", 5},
        {"zstd", "\x28\xb5\x2f\xfd", 4},
        {"lzip", "LZIP", 4},
        {"lz4", "\x04\x22\x4d\x18", 4},
        {"lzop", "\x89LZO", 4},
        {"lzma", "\x5d\x00\x00\x80\x00", 5},
    };

    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (memcmp(bytes, known[i].magic, known[i].size) == 0)
            return known[i].name;
    return NULL;
}

static int not_tar(const struct vm_tar *tar, const struct header *h, struct problem *error)
{
    const char *packed = tar->at == 0 ? compression(h) : NULL;

    if (packed)
        return problem_say(error, SPE_ERR_INVALID, what,
                           "it is compressed with %s; only a plain tar archive is unpacked",
                           packed);
    return damaged(tar, error, "this is not the header of a tar archive");
}

/* Moves on behind the entry's bytes; they are in the archive. */
static int skip_bytes(struct vm_tar *tar, struct vm_tar_entry *e, struct problem *error)
{
    uint64_t blocks = e->size / BLOCK + (e->size % BLOCK != 0);

    e->at = tar->at + BLOCK;
    if (blocks > (tar->end - e->at) / BLOCK)
        return damaged(tar, error, "the archive ends before this entry does");
    tar->at = e->at + blocks * BLOCK;
    return 0;
}

/* Reads a header. 1: there is one, 0: the archive's end. */
static int read_header(struct vm_tar *tar, struct header *h, struct problem *error)
{
    if (tar->end - tar->at < BLOCK)
        return damaged(tar, error, "the archive ends without its mark of the end");
    if (!vm_tar_read(tar, tar->at, h, sizeof(*h)))
        return damaged(tar, error, "it cannot be read");
    if (is_zero(h))
        return 0;
    if (memcmp(h->magic, "ustar", 5) != 0)
        return not_tar(tar, h, error);
    if (!checksum_is_right(h))
        return damaged(tar, error, "the checksum of a header is wrong");
    return 1;
}

/* Only files have bytes: in the header of a folder or a link the size says something else, if
 * anything. */
static bool has_bytes(char type)
{
    return type < '1' || type > '6';
}

int vm_tar_next(struct vm_tar *tar, struct vm_tar_entry *e, struct problem *error)
{
    struct ahead ahead = {0};
    struct vm_tar_entry part;
    struct header h = {0};
    uint64_t mode;
    int result;

    for (;;) {
        result = read_header(tar, &h, error);
        if (result <= 0)
            return result;
        part.type = h.type;
        if (!number(h.size, sizeof(h.size), &part.size))
            return damaged(tar, error, "the size in a header is invalid");
        if (!is_ahead(h.type))
            break;
        if (skip_bytes(tar, &part, error) < 0 || look_ahead(tar, &part, &ahead, e, error) < 0)
            return SPE_ERR_INVALID;
    }
    if (!number(h.mode, sizeof(h.mode), &mode))
        return damaged(tar, error, "the mode in a header is invalid");
    if (!ahead.named)
        header_name(&h, e);
    e->mode = (unsigned)(mode & 07777);
    e->type = ahead.sparse ? 'S' : h.type;
    e->size = has_bytes(h.type) ? (ahead.sized ? ahead.size : part.size) : 0;
    result = skip_bytes(tar, e, error);
    return result < 0 ? result : 1;
}
