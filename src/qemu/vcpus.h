/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/*
 * The vCPUs of the process, by QEMU's index. That index is one more than the largest of the living
 * threads, so that threads which overlap make it grow without an end: memory is there only for
 * pieces of the table in which somebody lives.
 */
#ifndef QEMU_VCPUS_H
#define QEMU_VCPUS_H

#include "qemu/unit.h"

enum { VCPUS_PIECE = 1 << 12, VCPUS_PIECES = 1 << 20 }; /* together: any index */

struct vcpus_piece {
    struct vcpu vcpus[VCPUS_PIECE];
    unsigned living;
};

/* The first one stays, and is found without a table. */
#define VCPUS_HIDDEN __attribute__((visibility("hidden"))) /* so that its address is known */
extern VCPUS_HIDDEN struct vcpus_piece vcpus_first;
extern VCPUS_HIDDEN struct vcpus_piece *vcpus_pieces[VCPUS_PIECES]; /* the others */

/* The vCPU, in its own thread; NULL: it is not recorded. A piece comes and goes only while no
 * vCPU of it runs, which is why nothing has to be locked here. */
static inline struct vcpu *vcpus_at(unsigned index)
{
    struct vcpus_piece *piece;

    if (__builtin_expect(index < VCPUS_PIECE, 1))
        return &vcpus_first.vcpus[index];
    piece = vcpus_pieces[index / VCPUS_PIECE];
    return piece ? &piece->vcpus[index % VCPUS_PIECE] : NULL;
}

/* unit_look, if the vCPU is recorded; else the thread need not look again. */
void vcpus_look(unsigned index, const struct pe_block *block,
                const struct spe_a64_registers *registers);

/* All others want the lock: a thread may start or end while another ends the process. */
void vcpus_lock(void);
void vcpus_unlock(void);

/* QEMU makes a vCPU: clean memory for it. NULL without memory. */
struct vcpu *vcpus_add(unsigned index);

/* It is gone. */
void vcpus_remove(unsigned index);

/* Call `see` for every one that is there. */
void vcpus_each(void (*see)(unsigned index, struct vcpu *v));

#endif
