/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/countdown.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "qemu/unit.h"

#if defined(__x86_64__) && defined(__LP64__)

/* A number of up to 127 has room in the shortest form of the instruction. */
enum { COUNTS = 128, SLOT_BYTES = 64 };

struct slot {
    uint8_t code[SLOT_BYTES];
};

static const struct slot *slots; /* by count; NULL: none */
static bool calls;

/* From where the thread's memory is told to be; the same in all threads. */
static int64_t place_of_here(void)
{
    uintptr_t thread;

    __asm__("mov %%fs:0, %0" : "=r"(thread));
    return (int64_t)((uintptr_t)&here - thread);
}

/* ---- Code ----------------------------------------------------------------------------------- */

static uint8_t *put(uint8_t *to, const void *bytes, size_t size)
{
    memcpy(to, bytes, size);
    return to + size;
}

#define PUT(to, ...) put(to, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static uint8_t *put_place(uint8_t *to, int64_t place)
{
    const int32_t low = (int32_t)place;

    return put(to, &low, sizeof(low));
}

enum { JUMP_BYTES = 12 };

static uint8_t *put_jump(uint8_t *to, qemu_plugin_exec_fn function)
{
    const uint64_t target = (uint64_t)(uintptr_t)function;

    to = PUT(to, 0x48, 0xb8); /* movabs $target, %rax */
    to = put(to, &target, sizeof(target));
    return PUT(to, 0xff, 0xe0); /* jmp *%rax */
}

static uint8_t *put_note(uint8_t *to, int64_t place, qemu_plugin_exec_fn follow)
{
    const uint8_t flow = offsetof(struct pe_block, flow);

    to = PUT(to, 0x64, 0x83, 0x3c, 0x25); /* cmpl $0, %fs:flow */
    to = put_place(to, place + (int64_t)offsetof(struct here, flow));
    to = PUT(to, 0, 0x75, 6);                     /* jne to the jump */
    to = PUT(to, 0xf6, 0x46, flow, FLOW_HANDLER); /* testb $FLOW_HANDLER, flow(%rsi) */
    to = PUT(to, 0x74, JUMP_BYTES);               /* je behind it */
    to = put_jump(to, follow);
    to = PUT(to, 0x64, 0x48, 0x89, 0x34, 0x25); /* mov %rsi, %fs:block */
    return put_place(to, place + (int64_t)offsetof(struct here, block));
}

static void write_slot(struct slot *slot, int64_t place, uint8_t count, qemu_plugin_exec_fn look,
                       qemu_plugin_exec_fn follow)
{
    uint8_t *to = slot->code;

    if (follow)
        to = put_note(to, place, follow);
    to = PUT(to, 0x64, 0x48, 0x83, 0x2c, 0x25); /* subq $count, %fs:left */
    to = put_place(to, place + (int64_t)offsetof(struct here, left));
    to = PUT(to, count, 0x78, 0x01); /* js behind the ret */
    to = PUT(to, 0xc3);              /* ret */
    put_jump(to, look);
}

_Static_assert(offsetof(struct pe_block, flow) < 128 && sizeof(here.flow) == 4 &&
                   sizeof(((struct pe_block *)0)->flow) == 1,
               "what the instructions say");

/* ---- All ------------------------------------------------------------------------------------ */

void countdown_begin(qemu_plugin_exec_fn look, qemu_plugin_exec_fn follow)
{
    const size_t bytes = COUNTS * sizeof(struct slot);
    int64_t place = place_of_here();
    struct slot *made;

    if (place < INT32_MIN || place > INT32_MAX - (int64_t)sizeof(here))
        return;
    made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return;
    for (unsigned count = 0; count < COUNTS; count++)
        write_slot(&made[count], place, (uint8_t)count, look, follow);
    if (mprotect(made, bytes, PROT_READ | PROT_EXEC) < 0) {
        munmap(made, bytes);
        return;
    }
    slots = made;
    calls = follow;
}

qemu_plugin_exec_fn countdown_of(const struct pe_block *block)
{
    if (!slots || block->count >= COUNTS || (calls && block->flow & FLOW_ENDS))
        return NULL;
    return (qemu_plugin_exec_fn)(uintptr_t)slots[block->count].code;
}

#else

void countdown_begin(qemu_plugin_exec_fn look, qemu_plugin_exec_fn follow)
{
    (void)look;
    (void)follow;
}

qemu_plugin_exec_fn countdown_of(const struct pe_block *block)
{
    (void)block;
    return NULL;
}

#endif
