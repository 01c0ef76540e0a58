/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
#include "qemu/countdown.h"

#include <string.h>
#include <sys/mman.h>

#include "qemu/unit.h"

#if defined(__x86_64__) && defined(__LP64__)

/* A number of up to 127 has room in the shortest form of the instruction. */
enum { COUNTS = 128, SLOT_BYTES = 32 };

struct slot {
    uint8_t code[SLOT_BYTES];
};

static const struct slot *slots; /* by count; NULL: none */

/* From where the thread's memory is told to be; the same in all threads. */
static int64_t place_of_counter(void)
{
    uintptr_t thread;

    __asm__("mov %%fs:0, %0" : "=r"(thread));
    return (int64_t)((uintptr_t)&here.left - thread);
}

static void write_slot(struct slot *slot, int32_t place, uint8_t count, qemu_plugin_exec_fn look)
{
    static const uint8_t code[] = {
        0x64, 0x48, 0x83, 0x2c, 0x25, 0, 0, 0, 0, 0, /* subq $count, %fs:place */
        0x78, 0x01,                                  /* js behind the ret */
        0xc3,                                        /* ret */
        0x48, 0xb8, 0,    0,    0,    0, 0, 0, 0, 0, /* movabs $look, %rax */
        0xff, 0xe0,                                  /* jmp *%rax */
    };
    uint64_t target = (uint64_t)(uintptr_t)look;

    _Static_assert(sizeof(code) <= SLOT_BYTES, "a function has room");
    memcpy(slot->code, code, sizeof(code));
    memcpy(slot->code + 5, &place, sizeof(place));
    slot->code[9] = count;
    memcpy(slot->code + 15, &target, sizeof(target));
}

void countdown_begin(qemu_plugin_exec_fn look)
{
    const size_t bytes = COUNTS * sizeof(struct slot);
    int64_t place = place_of_counter();
    struct slot *made;

    if (place != (int32_t)place)
        return;
    made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return;
    for (unsigned count = 0; count < COUNTS; count++)
        write_slot(&made[count], (int32_t)place, (uint8_t)count, look);
    if (mprotect(made, bytes, PROT_READ | PROT_EXEC) == 0)
        slots = made;
    else
        munmap(made, bytes);
}

qemu_plugin_exec_fn countdown_of(uint32_t count)
{
    if (!slots || count >= COUNTS)
        return NULL;
    return (qemu_plugin_exec_fn)(uintptr_t)slots[count].code;
}

#else

void countdown_begin(qemu_plugin_exec_fn look)
{
    (void)look;
}

qemu_plugin_exec_fn countdown_of(uint32_t count)
{
    (void)count;
    return NULL;
}

#endif
