# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""What the tests of `spe report --html` share: recordings with time, threads, code and shared lines,
some with names that want to be markup; and a reader of pages. No test by itself."""

import html.parser
import json
import os
import subprocess

import recording_file as t

LOAD, STORE, BRANCH = (1, 0), (1, 1), (2, 1)
L2, PEER, DRAM = 8, 9, 14

# Markup, ends of the script, quotes, controls, separators of lines.
EVIL = ("</script><script>evil()</script>", "<img src=x onerror=evil()>", "\"'><b onclick='evil()'>",
        "<!--<script>", "&lt;b&gt;", "\x1b[31m\x07\r\n", "\u2028\u2029", "javascript:evil()")
ALL = "".join(EVIL)
SYMBOL = "an_unusually_long_name_of_a_function_that_has_to_be_shortened"


def samples(program):
    """Of two threads on two CPUs: both load, one writes beside what the other reads."""
    walk, mix, other = program.pc("walk"), program.pc("mix"), program.pc(SYMBOL)
    cpus = [b"", b""]
    for i in range(300):
        time = 1000 + 1000 * i
        cpus[0] += t.sample(walk + 4 * (i % 3), time, 10, LOAD, 0xe, 40 + i % 50, va=0x600000,
                            source=PEER if i % 2 else DRAM)
        cpus[0] += t.sample(mix, time + 100, 10, BRANCH, 0x82 if i % 3 else 2, 12, target=walk)
        cpus[1] += t.sample(other if i < 150 else mix, time + 200, 11, STORE, 2, 5, va=0x600020)
        cpus[1] += t.sample(mix + 4, time + 300, 11, LOAD, 2, 20 + i % 9, va=0x700000 + 64 * (i % 40),
                            source=L2)
    return cpus


def recording(path, program, comm="task"):
    r = t.Recording(cpus=2)
    for tid in (10, 11):
        r.comm(10, tid, comm)
    program.map(r, 10)
    for cpu, data in enumerate(samples(program)):
        r.aux(cpu, data)
    r.write(path)


def rename(program, old, new):
    """Another name of the same length, where the file has one."""
    with open(program.path, "rb") as f:
        data = f.read()
    assert old in data and len(old) == len(new)
    with open(program.path, "wb") as f:
        f.write(data.replace(old, new))


def hostile(directory, path):
    """A recording whose names all want to be more than names."""
    program = t.Program(directory)
    rename(program, SYMBOL.encode(), "</script><script>evil()</script>\"'&\x1b".ljust(len(SYMBOL)).encode())
    hidden = os.path.join(directory, "<img src=x onerror=evil()>&\"' elf")
    os.rename(program.path, hidden)
    program.path = hidden
    recording(path, program, ALL[:100])


def many_functions(directory, count):
    """A program with so many functions of one instruction each: its path, the address of the first
    and where that is in the file."""
    source, path = os.path.join(directory, "many.s"), os.path.join(directory, "many")
    with open(source, "w", encoding="ascii") as f:
        f.write(".globl _start\n_start:\n")
        f.writelines(f".type function_number_{i}, @function\nfunction_number_{i}: .long 0\n"
                     f".size function_number_{i}, 4\n" for i in range(count))
    subprocess.run(["cc", "-nostdlib", "-static", "-no-pie", "-o", path, source], check=True,
                   capture_output=True)
    sections = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True)
    words = next(line for line in sections.stdout.splitlines() if " .text " in line).split("]")[1].split()
    with open(path, "r+b") as f:
        f.seek(18)
        f.write(b"\xb7\0")
    return path, int(words[2], 16), int(words[3], 16)


def long_name(directory):
    """A program one of whose functions has a name of a megabyte."""
    name, original = "x" * 1000000, t.PROGRAM
    assert f"int {SYMBOL}(int n)\n" in original
    t.PROGRAM = original.replace(f"int {SYMBOL}(int n)\n", f"int {SYMBOL}(int n);\n"
                                 f"int {SYMBOL}(int n) __asm__(\"{name}\");\nint {SYMBOL}(int n)\n")
    try:
        program = t.Program(directory)
    finally:
        t.PROGRAM = original
    program.symbols[SYMBOL] = program.symbols[name]
    return program


def many_recorded(path, program, count):
    """One sample of each of so many of its functions."""
    where, start, offset = program
    r = t.Recording()
    r.comm(10, 10, "task")
    r.mmap(10, start, 0x100000, offset, where)
    r.aux(0, b"".join(t.sample(start + 4 * i, 10 + i, 10, LOAD, 2, 5, va=64 * i)
                      for i in range(count)))
    r.write(path)


def slice_sums(table, row, bins):
    """What a row of a list has in all bins, by the names of the fields. In the data 0 is followed by
    how many of them there are."""
    cells, packed = [], iter(table["rows"][row])
    for value in packed:
        cells += [value] if value else [0] * next(packed)
    assert len(cells) == bins * table["fields"]
    return {name: sum(cells[i::table["fields"]]) for i, name in enumerate(table["names"])}


VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(html.parser.HTMLParser):
    """A page: its tags, that they are nested well, and the rows of its tables by id."""

    def __init__(self, text):
        super().__init__()
        self.stack, self.tags, self.attributes, self.faults = [], [], [], []
        self.tables, self.scripts, self.links, self.ids = {}, [], [], []
        self.table = self.row = None
        self.text = ""
        self.feed(text)
        self.close()
        if self.stack:
            self.faults.append(("not closed", self.stack))

    def handle_starttag(self, tag, attrs):
        words = dict(attrs)
        self.tags.append(tag)
        self.attributes += words
        if "id" in words:
            self.ids.append(words["id"])
        if tag == "a":
            self.links.append(words["href"])
        if tag == "table":
            self.table = self.tables.setdefault(words["id"].removesuffix("-table"), [])
        if tag == "tr":
            self.row = []
        if tag in ("td", "th"):
            self.row.append([words.get("data-v"), ""])
        if tag == "script":
            self.scripts.append([words.get("type"), ""])
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.stack.append(tag)

    def handle_endtag(self, tag):
        if self.get_starttag_text().endswith("/>") and tag in ("rect", "path"):
            return
        if not self.stack or self.stack.pop() != tag:
            self.faults.append((tag, self.getpos()))
        if tag == "tr" and self.table is not None:
            self.table.append([(v if v is not None else text) for v, text in self.row])
        if tag == "table":
            self.table = None

    def handle_data(self, data):
        self.text += data
        if "script" in self.stack:
            self.scripts[-1][1] += data
        elif self.row and ("td" in self.stack or "th" in self.stack) and "title" not in self.stack:
            self.row[-1][1] += data

    def body(self, table):
        return self.tables[table][1:]

    def data(self):
        text, = (text for kind, text in self.scripts if kind == "application/json")
        return json.loads(text)
