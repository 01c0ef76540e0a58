/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Specimen authors */
/* Words of standard input, at addresses from 0, as lines "known kind<TAB>text" on standard output:
 * what test_disassemble.py compares with other disassemblers. */
#include <specimen/names.h>
#include <stdio.h>

int main(void)
{
    struct spe_disassembler *d;
    struct spe_code_word out;
    uint64_t address = 0;
    uint32_t word;

    if (spe_disassembler_create(&d) < 0)
        return 1;
    for (; fread(&word, sizeof(word), 1, stdin) == 1; address += sizeof(word)) {
        spe_disassemble(d, address, word, &out);
        printf("%d %s\t%s\n", out.known, out.kind, out.text);
    }
    spe_disassembler_destroy(d);
    return 0;
}
