/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/vcpus.h"

#include <sys/mman.h>

struct vcpus_piece vcpus_first;
struct vcpus_piece *vcpus_pieces[VCPUS_PIECES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned end; /* no piece from this one on was ever there */

void vcpus_look(unsigned index, const struct pe_block *block,
                const struct spe_a64_registers *registers)
{
    struct vcpu *v = vcpus_at(index);

    if (v)
        unit_look(v, block, registers);
    else
        here.left = INT64_MAX;
}

void vcpus_lock(void)
{
    pthread_mutex_lock(&lock);
}

void vcpus_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* Pages that nobody touches cost nothing. */
static struct vcpus_piece *make_piece(void)
{
    void *piece = mmap(NULL, sizeof(struct vcpus_piece), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return piece == MAP_FAILED ? NULL : piece;
}

static struct vcpus_piece *piece_of(unsigned number)
{
    return number == 0 ? &vcpus_first : vcpus_pieces[number];
}

struct vcpu *vcpus_add(unsigned index)
{
    unsigned number = index / VCPUS_PIECE;
    struct vcpus_piece *piece = piece_of(number);
    struct vcpu *v;

    if (!piece)
        piece = vcpus_pieces[number] = make_piece();
    if (!piece)
        return NULL;
    if (number >= end)
        end = number + 1;
    v = &piece->vcpus[index % VCPUS_PIECE];
    piece->living += !v->there;
    *v = (struct vcpu){.there = true};
    return v;
}

void vcpus_remove(unsigned index)
{
    unsigned number = index / VCPUS_PIECE;
    struct vcpus_piece *piece = piece_of(number);

    piece->vcpus[index % VCPUS_PIECE].there = false;
    if (--piece->living > 0 || number == 0)
        return;
    vcpus_pieces[number] = NULL;
    munmap(piece, sizeof(*piece));
}

/* Behind the last of them there are only pages that nobody has touched. */
static void see_living(unsigned first, struct vcpus_piece *piece,
                       void (*see)(unsigned index, struct vcpu *v))
{
    unsigned living = piece->living;

    for (unsigned i = 0; living && i < VCPUS_PIECE; i++)
        if (piece->vcpus[i].there) {
            living--;
            see(first + i, &piece->vcpus[i]);
        }
}

void vcpus_each(void (*see)(unsigned index, struct vcpu *v))
{
    for (unsigned i = 0; i < end; i++) {
        struct vcpus_piece *piece = piece_of(i);

        if (piece)
            see_living(i * VCPUS_PIECE, piece, see);
    }
}
