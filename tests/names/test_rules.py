#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Each rule by which loads and stores are followed, in a few instructions of its own.

A function is written in assembly; its debug information, which is made here, says of a register
what it holds at the first instruction only (or where else a case says). An access has behind // what
it has to be called: the type and its member, a variable in front of it, or the reason for which it
has no name. Tagged programs (test_tagged.py) show how far all rules together get; here each fails
alone.

usage: test_rules.py
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ.get("SPE_BUILD_DIR", "build")
LIST = os.path.join(BUILD, "tests", "list_accesses")
GCC = "aarch64-linux-gnu-gcc"

# Types: struct members are (name, type, offset); see types_text().
STRUCTS = {
    "node": (32, [("key", "long", 0), ("next", "node*", 8), ("left", "node*", 16),
                  ("right", "node*", 24)]),
    "list": (24, [("length", "long", 0), ("head", "link", 8)]),
    "item": (40, [("data", "long", 0), ("more", "long", 8), ("spare", "long", 16),
                  ("link", "link", 24)]),
    "link": (16, [("first", "long", 0), ("last", "long", 8)]),
    "bag": (80, [("count", "long", 0), ("slots", "long[4]", 8), ("end", "long", 40),
                 ("more", "long[4]", 48)]),
    "fork": (16, [("node", "node*", 0), ("bag", "bag*", 8)]),
    "chain": (32, [("one", "link", 0), ("two", "link", 16)]),
    "pair": (16, [("low", "int", 0), ("high", "int", 4), ("sum", "long", 8)]),
}
BASES = {"long": (8, 5), "int": (4, 5), "char": (1, 6)}
POINTERS = ["node*", "list*", "item*", "bag*", "pair*", "fork*", "chain*", "long*", "int*", "void*"]
ARRAYS = {"long[4]": ("long", 4), "node[8]": ("node", 8)}
# Globals are (name, type, symbol); those of threads lie in .tbss.
GLOBALS = [("table", "node[8]", "table"), ("total", "long", "total"), ("seen", "long", "seen")]
TLS = [("mine", "node", "mine")]

# A case is (name, variables, code, what else there is). Variables are
# "[parameter] name: type in PLACE [from LABEL to LABEL]". PLACE is x3, x3+8 (its value is x3 and 8),
# [x3+8] (it lies there) or [cfa-16]; [cfa-16]:8 is where its first 8 bytes are, [cfa-8]@8 where 8
# bytes behind these are. Without labels it is there at the first instruction only.
CASES = [
    ("variable", ["p: node* in x0"], """
        ldr x1, [x0, #8]            // node.next
        ret"""),
    ("parts of a register", ["p: node* in x0"], """
        mov w1, w0
        ldr x2, [x1]                // no variable
        ret"""),
    ("move", ["p: node* in x0"], """
        mov x1, x0
        mov x0, xzr
        ldr x2, [x1, #8]            // node.next
        ret"""),
    ("add", ["p: node* in x0"], """
        add x1, x0, #16
        ldr x2, [x1, #-8]           // node.next
        ldr x2, [x1]                // node.left
        ret"""),
    ("subtract", ["p: node* in x0"], """
        add x1, x0, #24
        mov x3, #8
        sub x1, x1, x3
        ldr x2, [x1]                // node.left
        ret"""),
    ("subtract an index", ["p: node* in x0"], """
        sub x1, x0, x3, lsl #5
        ldr x2, [x1, #8]            // node.next
        ret"""),
    ("page and offset", [], """
        adrp x0, total
        add x0, x0, :lo12:total
        ldr x1, [x0]                // total: long
        ret"""),
    ("address in two halves", [], """
        movz x0, #:abs_g0_nc:total
        movk x0, #:abs_g1:total
        ldr x1, [x0]                // total: long
        ret"""),
    ("element of a global array", [], """
        adrp x0, table
        add x0, x0, :lo12:table
        add x0, x0, x1, lsl #5
        ldr x2, [x0, #16]           // table: node.left
        ret"""),
    ("global offset table", [], """
        adrp x0, :got:seen
        ldr x0, [x0, :got_lo12:seen]    // constant
        str x1, [x0]                // seen: long
        ret"""),
    ("pointer that is loaded", ["p: node* in x0"], """
        ldr x1, [x0, #8]            // node.next
        ldr x2, [x1, #24]           // node.right
        ldr x3, [x2]                // node.key
        ret"""),
    ("pair of pointers that is loaded", ["p: node* in x0"], """
        ldp x1, x2, [x0, #16]       // node.{left,right}
        ldr x3, [x1]                // node.key
        ldr x3, [x2, #8]            // node.next
        ret"""),
    ("call keeps x19 and changes x1", ["p: node* in x0"], """
        mov x19, x0
        mov x1, x0
        bl elsewhere
        ldr x2, [x19]               // node.key
        ldr x2, [x1]                // no variable
        ret"""),
    ("call to what is known changes what that writes", ["p: node* in x0"], """
        mov x5, x0
        mov x6, x0
        bl small
        ldr x2, [x5]                // node.key
        ldr x2, [x6]                // no variable
        ret"""),
    ("call to what calls many others", ["p: node* in x0"], """
        mov x5, x0
        mov x6, x0
        bl busy
        ldr x2, [x5]                // node.key
        ldr x2, [x6]                // no variable
        ret"""),
    ("result of a function", [], """
        bl make
        ldr x1, [x0, #16]           // node.left
        ret"""),
    ("function that returns its argument", ["p: node* in x0"], """
        bl memset
        ldr x1, [x0, #8]            // node.next
        ret"""),
    ("function that does not return", ["p: node* in x0"], """
        mov x19, x0
        cbz x1, 1f
        mov x19, x2
        bl stop
1:      ldr x3, [x19]               // node.key
        ret"""),
    ("writeback behind the access", ["p: node* in x0"], """
        ldr x1, [x0], #8            // node.key
        ldr x1, [x0]                // node.next
        ret"""),
    ("writeback before the access", ["p: node* in x0"], """
        ldr x1, [x0, #8]!           // node.next
        ldr x1, [x0, #8]            // node.left
        ret"""),
    ("place of the stack", ["p: node* in x0"], """
        sub sp, sp, #32
        str x0, [sp, #8]            // temporary
        mov x0, xzr
        ldr x1, [sp, #8]            // temporary
        ldr x2, [x1]                // node.key
        add sp, sp, #32
        ret"""),
    ("place of the stack that is overwritten", ["p: node* in x0"], """
        sub sp, sp, #32
        str x0, [sp, #8]            // temporary
        str w1, [sp, #12]           // temporary
        ldr x1, [sp, #8]            // temporary
        ldr x2, [x1]                // no variable
        add sp, sp, #32
        ret"""),
    ("variable of the stack", ["n: node in [cfa-32] from start to end"], """
        sub sp, sp, #48
        str x1, [sp, #24]           // n: node.next
        add x2, sp, #16
        ldr x3, [x2, #16]           // n: node.left
        add sp, sp, #48
        ret"""),
    ("variable that begins behind the store", ["n: long in [cfa-8] from later to end"], """
        sub sp, sp, #16
        str x1, [sp, #8]            // n: long
later:  ldr x2, [sp, #8]            // n: long
        add sp, sp, #16
        ret"""),
    ("pair for two variables", ["p: node* in [cfa-16] from start to end",
                                "n: long in [cfa-8] from start to end"], """
        sub sp, sp, #16
        stp x1, x2, [sp]            // {p,n}: node*
        add sp, sp, #16
        ret"""),
    ("pair that goes on behind a part of a variable", ["s: pair in [cfa-16]:8 from start to end",
                                                       "n: long in [cfa-8] from start to end"], """
        sub sp, sp, #16
        stp x1, x2, [sp]            // {s,n}: pair.{low,high}
        add sp, sp, #16
        ret"""),
    ("pair for two parts of a variable", ["s: pair in [cfa-16]:8 from start to end",
                                          "s: pair in [cfa-8]@8 from start to end"], """
        sub sp, sp, #16
        stp x1, x2, [sp]            // s: pair.{low,high,sum}
        add sp, sp, #16
        ret"""),
    ("pair of numbers behind a pointer", ["n: long* in x0"], """
        ldp x1, x2, [x0]            // long
        ret"""),
    ("saved register", [], """
        stp x29, x30, [sp, #-32]!   // (stack operation)
        .cfi_def_cfa_offset 32
        .cfi_offset 29, -32
        .cfi_offset 30, -24
        str x1, [sp, #24]           // temporary
        ldp x29, x30, [sp], #32     // (stack operation)
        ret"""),
    ("choice with null", ["p: node* in x0"], """
        cmp x2, #0
        csel x1, x0, xzr, ne
        ldr x3, [x1]                // node.key
        csel x2, xzr, x0, ne
        ldr x3, [x2, #8]            // node.next
        ret"""),
    ("choice of two members", ["p: node* in x0"], """
        mov x1, #16
        mov x2, #24
        cmp x3, #0
        csel x1, x1, x2, ne
        ldr x4, [x0, x1]            // node.{left,right}
        ldr x5, [x4]                // node.key
        ret"""),
    ("pointers of two types, one of which is loaded", ["f: fork* in x0"], """
        mov x1, #8
        cmp x3, #0
        csel x1, x1, xzr, ne
        ldr x4, [x0, x1]            // fork.{node,bag}
        ldr x5, [x4]                // lost track
        ret"""),
    ("ways that agree", ["p: node* in x0"], """
        ldr x1, [x0, #16]           // node.left
        cbz x2, 1f
        ldr x1, [x0, #24]           // node.right
1:      ldr x3, [x1]                // node.key
        ret"""),
    ("ways that do not agree", ["p: node* in x0", "b: bag* in x1"], """
        mov x3, x0
        cbz x2, 1f
        mov x3, x1
1:      ldr x4, [x3]                // lost track
        ret"""),
    ("ways to the same part of two types", ["l: list* in x0", "i: item* in x1"], """
        add x3, x0, #8
        cbz x2, 1f
        add x3, x1, #24
1:      ldr x4, [x3, #8]            // link.last
        ldr x4, [x3, #16]           // not within one type
        ret"""),
    ("ways to the same part, one of them a choice", ["l: list* in x0", "c: chain* in x1"], """
        add x3, x0, #8
        cbz x2, 1f
        mov x4, #16
        csel x4, x4, xzr, ne
        add x3, x1, x4
1:      ldr x4, [x3, #8]            // link.last
        ret"""),
    ("loop over elements", ["p: node* in x0"], """
1:      ldr x1, [x0, #8]            // node.next
        add x0, x0, #32
        cbnz x2, 1b
        ret"""),
    ("loop over the links", ["p: node* in x0"], """
1:      ldr x1, [x0]                // node.key
        ldr x0, [x0, #8]            // node.next
        cbnz x0, 1b
        ret"""),
    ("index", ["n: long* in x0", "b: bag* in x1"], """
        ldr x2, [x0, x3, lsl #3]    // long
        add x4, x1, x3, lsl #3
        ldr x2, [x4, #8]            // bag.slots[]
        ret"""),
    ("multiplication", ["p: node* in x0"], """
        mov x1, #32
        madd x2, x3, x1, x0
        ldr x4, [x2, #24]           // node.right
        ret"""),
    ("multiplication of a choice", ["p: node* in x0"], """
        mov x1, #32
        mov x3, #1
        cbz x4, 1f
        mov x3, #2
1:      madd x2, x3, x1, x0
        ldr x4, [x2, #24]           // node.right
        ret"""),
    ("sign of a product", ["p: node* in x0"], """
        mov w4, #32
        mul w1, w3, w4
        sxtw x1, w1
        add x2, x0, x1
        ldr x4, [x2, #24]           // node.right
        ret"""),
    ("sign of an index", ["p: node* in x0"], """
        sxtw x1, w1
        add x2, x0, x1, lsl #5
        ldr x4, [x2, #24]           // node.right
        ret"""),
    ("thread pointer", [], """
        mrs x0, tpidr_el0
        add x0, x0, :tprel_hi12:mine
        add x0, x0, :tprel_lo12_nc:mine
        ldr x1, [x0, #8]            // mine: node.next
        ret"""),
    ("value that is stored where a pointer lies", ["p: node* in x0"], """
        ldr x1, [x2]                // no variable
        ldr x3, [x1]                // node.key
        str x1, [x0, #8]            // node.next
        ret"""),
    ("variable of which a later instruction tells", ["q: node* in x1 from later to end"], """
        ldr x1, [x2]                // no variable
        mov x3, x1
        ldr x4, [x3, #16]           // node.left
later:  ldr x4, [x3, #24]           // node.right
        ret"""),
    ("place of the result", [], """
        str x1, [x8, #8]            // pair.sum
        ret""", {"returns": "pair"}),
    ("first parameter in x1", ["parameter r: node* in x1"], """
        str x2, [x0, #8]            // no variable
        ret""", {"returns": "pair"}),
    ("struct where a register points", ["n: node in [x1+0] from start to end"], """
        ldr x2, [x1, #16]           // node.left
        ret"""),
    ("register from which a variable follows", ["p: node* in x0-8"], """
        ldr x2, [x0]                // node.next
        ret"""),
    ("pointer to anything", ["p: node* in x0", "v: void* in x0"], """
        ldr x2, [x0, #8]            // node.next
        ret"""),
    ("pointer to anything alone", ["v: void* in x0"], """
        ldr x2, [x0, #8]            // no type
        ret"""),
    ("variables that contradict each other", ["p: node* in x0", "b: bag* in x0"], """
        ldr x2, [x0, #8]            // ambiguous
        ret"""),
    ("variable that has the other in it", ["l: list* in x0", "n: long* in x0+8"], """
        ldr x2, [x0, #8]            // list.head.first
        ret"""),
    ("part of what the code knows", ["l: list* in x0", "n: long* in x1 from later to end"], """
        add x1, x0, #8
later:  ldr x2, [x1]                // list.head.first
        ret"""),
    ("pointer to anything behind a known one", ["p: node* in x0", "v: void* in x1 from later to end"],
     """
        mov x1, x0
later:  ldr x2, [x1, #8]            // node.next
        ret"""),
    ("variable of the stack in a register", ["n: node in [cfa-32] from start to end",
                                             "b: bag* in x1 from later to end"], """
        sub sp, sp, #48
        add x1, sp, #16
later:  ldr x2, [x1, #8]            // n: node.next
        add sp, sp, #48
        ret"""),
    ("number that a variable takes for a pointer", ["q: node* in x1 from later to end"], """
        mov x1, #5
later:  ldr x2, [x1]                // node.key
        ret"""),
    ("variable in an array that the code knows", ["p: node* in x0", "q: node* in x1 from later to end"],
     """
        add x1, x0, #32
later:  ldr x2, [x1, #40]           // node.next
        ret"""),
    ("variable that contradicts the code", ["p: node* in x0", "q: node* in x1 from later to end"], """
        add x1, x0, #8
later:  ldr x2, [x1]                // node.next
        ret"""),
    ("variable that the code leaves open", ["p: node* in x0", "q: node* in x1 from later to end"], """
        add x1, x0, x3
later:  ldr x2, [x1]                // node.key
        ret"""),
    ("number where the struct has none", ["p: pair* in x0 from start to end",
                                          "n: long* in x0+4 from later to end"], """
        mov x1, x0
later:  ldr x2, [x0, #8]            // pair.sum
        ret"""),
    ("access behind a struct", ["p: pair* in x0"], """
        ldr x1, [x0, #16]           // not within one type
        ldp x2, x3, [x0, #8]        // pair.sum
        ret"""),
    ("block that only a table leads to", ["p: node* in x0"], """
        mov x19, x0
        br x1
        ldr x2, [x19]               // node.key
        ret"""),
    ("block that nothing leads to", ["n: long in [cfa-8] from start to end"], """
        sub sp, sp, #16
        .cfi_def_cfa_offset 16
        ret
        ldr x1, [sp, #8]            // n: long
        ret"""),
    ("block that only an exception leads to", ["p: node* in x0"], """
        mov x19, x0
        mov x3, x0
        bl elsewhere
        ret
        ldr x2, [x19]               // node.key
        ldr x2, [x3]                // no variable
        ret"""),
]

RUST_CASES = [
    ("place of the result before the first parameter", ["parameter r: node* in x1"], """
        str x2, [x0, #8]            // pair.sum
        ldr x2, [x1, #8]            // node.next
        ret""", {"returns": "pair"}),
    ("first parameter in its own register", ["parameter r: node* in x0 from start to start",
                                             "parameter s: node* in x1"], """
        str x2, [x0, #8]            // no variable
        ret""", {"returns": "pair"}),
]
C, RUST = 0x0c, 0x1c  # languages of DWARF

# What cases call. `small` writes x6 alone.
CALLED = [("small", None, "mov x6, xzr\n ret", False), ("make", "node*", "mov x0, x1\n ret", False),
          ("stop", None, "b .", True)]
CALLED += [(f"leaf_{i}", None, "mov x6, xzr\n ret", False) for i in range(100)]
CALLED.append(("busy", None, "".join(f"bl leaf_{i}\n" for i in range(100)) + "ret", False))
LATER = """
        .globl elsewhere, memset
        .type elsewhere, %function
        .type memset, %function
elsewhere: .cfi_startproc
        ret
        .cfi_endproc
        .size elsewhere, . - elsewhere
memset: .cfi_startproc
        ret
        .cfi_endproc
        .size memset, . - memset
"""


def code_of(case, number):
    """The assembly of one case; its labels are its own."""
    name, _, code = case[:3]
    symbol = f"case_{number}"
    code = re.sub(r"\s*//.*", "", code)
    code = re.sub(r"\blater\b", f"later_{number}", code)
    return (f"        // {name}\n        .type {symbol}, %function\n{symbol}: start_{number}:\n"
            f"        .cfi_startproc\n{code}\n        .cfi_endproc\nend_{number}:\n"
            f"        .size {symbol}, . - {symbol}\n")


class Info:
    """.debug_info, .debug_abbrev and .debug_loc as text for the assembler."""

    FORMS = {"addr": 0x01, "data8": 0x07, "string": 0x08, "data1": 0x0b, "ref4": 0x13,
             "sec": 0x17, "expr": 0x18, "flag": 0x19}

    def __init__(self):
        self.out, self.abbrevs, self.lists = [], {}, []

    def die(self, tag, attributes, children=False):
        """A description; attributes are (number, form, value)."""
        key = (tag, children, tuple((a, f) for a, f, _ in attributes))
        number = self.abbrevs.setdefault(key, len(self.abbrevs) + 1)
        self.out.append(f".uleb128 {number}")
        for _, form, value in attributes:
            self.out.append({"addr": f".8byte {value}", "data8": f".8byte {value}",
                             "string": f'.asciz "{value}"', "data1": f".byte {value}",
                             "ref4": f".4byte {value} - unit", "sec": f".4byte {value}",
                             "expr": value, "flag": ""}[form])

    def end(self):
        self.out.append(".byte 0")

    def label(self, name):
        self.out.append(f"{name}:")

    def text(self):
        abbrevs = []
        for (tag, children, attributes), number in self.abbrevs.items():
            pairs = "".join(f".uleb128 {a}, {self.FORMS[f]}\n" for a, f in attributes)
            abbrevs.append(f".uleb128 {number}, {tag}\n.byte {int(children)}\n{pairs}.byte 0, 0\n")
        return ("\n.section .debug_abbrev,\"\",%progbits\nabbrevs:\n" + "".join(abbrevs) + ".byte 0\n"
                ".section .debug_info,\"\",%progbits\nunit: .4byte unit_end - 1f\n1: .2byte 4\n"
                ".4byte abbrevs\n.byte 8\n" + "\n".join(self.out) + "\nunit_end:\n"
                ".section .debug_loc,\"\",%progbits\n" + "\n".join(self.lists) + "\n")


def type_label(name):
    return "type_" + name.replace("*", "_pointer").replace("[", "_").replace("]", "")


def add_types(info):
    for name, (size, encoding) in BASES.items():
        info.label(type_label(name))
        info.die(0x24, [(0x03, "string", name), (0x0b, "data1", size), (0x3e, "data1", encoding)])
    for name in POINTERS:
        info.label(type_label(name))
        info.die(0x0f, [(0x0b, "data1", 8)] + (
            [] if name == "void*" else [(0x49, "ref4", type_label(name[:-1]))]))
    for name, (element, count) in ARRAYS.items():
        info.label(type_label(name))
        info.die(0x01, [(0x49, "ref4", type_label(element))], True)
        info.die(0x21, [(0x37, "data1", count)])
        info.end()
    for name, (size, members) in STRUCTS.items():
        info.label(type_label(name))
        info.die(0x13, [(0x03, "string", name), (0x0b, "data1", size)], True)
        for member, of, offset in members:
            info.die(0x0d, [(0x03, "string", member), (0x49, "ref4", type_label(of)),
                            (0x38, "data1", offset)])
        info.end()


def operations(place):
    """A location's operations as bytes for the assembler, and how many bytes."""
    number = re.fullmatch(r"x(\d+)", place)
    value = re.fullmatch(r"x(\d+)([+-]\d+)", place)
    memory = re.fullmatch(r"\[x(\d+)([+-]\d+)\]", place)
    frame = re.fullmatch(r"\[cfa([+-]\d+)\](?:([:@])(\d+))?", place)
    if number:
        return f".byte {0x50 + int(number[1])}"
    if value:
        return f".byte {0x70 + int(value[1])}\n.sleb128 {value[2]}\n.byte 0x9f"
    if memory:
        return f".byte {0x70 + int(memory[1])}\n.sleb128 {memory[2]}"
    before = f".byte 0x93\n.uleb128 {frame[3]}\n" if frame[2] == "@" else ""
    piece = f"\n.byte 0x93\n.uleb128 {frame[3]}" if frame[2] else ""
    return f"{before}.byte 0x91\n.sleb128 {frame[1]}{piece}"


def add_variable(info, text, number):
    parameter, name, of, place, first, last = re.fullmatch(
        r"(parameter )?(\w+): (\S+) in (\S+)(?: from (\w+) to (\w+))?", text).groups()
    begin, end = f"{first or 'start'}_{number}", f"{last}_{number}" if last else f"start_{number} + 4"
    at = f"list_{len(info.lists)}"
    info.lists.append(f"{at}: .8byte {begin} - text, {end} - text\n.2byte 2f - 1f\n"
                      f"1: {operations(place)}\n2: .8byte 0, 0")
    info.die(0x05 if parameter else 0x34,
             [(0x03, "string", name), (0x49, "ref4", type_label(of)), (0x02, "sec", at)])


def add_function(info, name, begin, end, returns, variables, number, stops=False):
    attributes = [(0x03, "string", name), (0x11, "addr", begin), (0x12, "data8", f"{end} - {begin}"),
                  (0x40, "expr", ".uleb128 1\n.byte 0x9c")]
    attributes += [(0x49, "ref4", type_label(returns))] if returns else []
    attributes += [(0x87, "flag", "")] if stops else []
    info.die(0x2e, attributes, True)
    for v in variables:
        add_variable(info, v, number)
    info.end()


def add_globals(info):
    for name, of, symbol in GLOBALS:
        info.die(0x34, [(0x03, "string", name), (0x49, "ref4", type_label(of)),
                        (0x02, "expr", f".uleb128 9\n.byte 3\n.8byte {symbol}")])
    for name, of, _ in TLS:  # as GCC does: the symbol says where it is
        info.die(0x34, [(0x03, "string", name), (0x49, "ref4", type_label(of)), (0x3f, "flag", "")])


def assembly(cases, language):
    info = Info()
    text = [".text\n.globl _start\n_start: text:\n"]
    info.die(0x11, [(0x13, "data1", language), (0x03, "string", "rules"), (0x11, "addr", "text"),
                    (0x12, "data8", "text_end - text")], True)
    add_types(info)
    add_globals(info)
    for number, case in enumerate(cases):
        text.append(code_of(case, number))
        more = case[3] if len(case) > 3 else {}
        add_function(info, f"case_{number}", f"start_{number}", f"end_{number}",
                     more.get("returns"), case[1], number)
    for name, returns, code, stops in CALLED:
        text.append(f".type {name}, %function\n{name}: .cfi_startproc\n{code}\n.cfi_endproc\n"
                    f"{name}_end: .size {name}, . - {name}\n")
        add_function(info, name, name, f"{name}_end", returns, [], 0, stops)
    info.end()
    data = ("\n.bss\n.balign 64\n" +
            "".join(f".globl {s}\n.type {s}, %object\n{s}: .skip 256\n.size {s}, 256\n"
                    for _, _, s in GLOBALS) +
            '\n.section .gcc_except_table,"a",%progbits\n.8byte 0\n'
            '\n.section .tbss,"awT",%nobits\n' +
            "".join(f".type {s}, %object\n{s}: .skip 32\n.size {s}, 32\n" for _, _, s in TLS))
    return "".join(text) + LATER + "text_end:\n" + data + info.text()


def answers(binary):
    """function -> what its accesses are called, in their order."""
    out = subprocess.run([LIST, binary], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in out.splitlines():
        f = line.split("\t")
        function, reason, of, member, variable = f[2:7]
        name = of.replace("struct ", "").replace(" *", "*") + ("." + member if member else "")
        said = name if of and reason in ("known", "saved register") else reason
        found.setdefault(function, []).append(f"{variable}: {said}" if variable else said)
    return found


def failures(cases, language):
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "rules.s"), os.path.join(folder, "rules")
        with open(source, "w", encoding="ascii") as f:
            f.write(assembly(cases, language))
        subprocess.run([GCC, "-nostdlib", "-static", "-no-pie", "-Wl,--no-relax", "-o", binary, source],
                       check=True)
        said = answers(binary)
    for number, case in enumerate(cases):
        symbol = f"case_{number}"
        wanted = [w.strip() for w in re.findall(r"//(.*)", case[2])]
        if said.get(symbol, []) != wanted:
            failed += 1
            print(f"{case[0]}: {said.get(symbol)}, not {wanted}")
    return failed


def main():
    if not os.path.exists(LIST):
        print("the list of accesses was not built: no elfutils")
        return 77
    if not shutil.which(GCC):
        print("there is no assembler for AArch64")
        return 77
    failed = failures(CASES, C) + failures(RUST_CASES, RUST)
    print(f"{len(CASES) + len(RUST_CASES)} cases, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
