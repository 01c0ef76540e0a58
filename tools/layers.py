#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Holds the include lines of src/ to the picture of the rooms in CONTRIBUTING.md.

A room may include headers of itself and of rooms that stand to its left in a line of the picture.
Rooms with a public header are entered through it: their other headers are for themselves, but for
those in EXCEPTIONS, which may go and never come: one that nobody needs is an error, too.

usage: layers.py [TREE]
"""

import os
import re
import sys

# Public headers that are not called after their room.
PUBLIC = {"error.h": "base", "features.h": "format", "version.h": "base", "arrow.h": "columns"}

# Rooms whose headers are for every room to their right.
OPEN = {"base"}

# Internal headers that another room includes, and who does.
EXCEPTIONS = {
    "analysis/edges.h": ["cli"],
    "analysis/timeline.h": ["render"],
    "columns/columns.h": ["cli"],
    "columns/ipc.h": ["cli"],
    "columns/parquet.h": ["cli"],
    "columns/table.h": ["render"],
    "format/account.h": ["cli", "profile"],
    "format/bytes.h": ["names", "perfdata", "sim", "spu"],
    "format/clones.h": ["analysis", "columns", "perfdata", "profile"],
    "format/counters.def": ["columns", "profile"],  # a list that stands once
    "format/cpus.h": ["render"],
    "names/files.h": ["record", "vm"],
    "names/names_internal.h": ["profile"],
    "names/types.h": ["profile"],
    "pe/code.h": ["qemu"],
    "pe/machine_fast.h": ["qemu"],
    "pe/merge.h": ["qemu"],
    "perfdata/output.h": ["record", "render"],  # all outputs follow links in the same way
    "perfdata/input.h": ["profile"],
    "perfdata/spool.h": ["cli", "profile"],
    "profile/export_perf.h": ["cli"],
    "profile/program.h": ["cli"],
    "spu/spu_fast.h": ["qemu"],
}

PICTURE_LINE = re.compile(r"^ {4}\w.*<-.*$", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([\w/.-]+)[">]', re.M)


def picture(text):
    """room -> the rooms to its left, of all lines in which it stands."""
    left = {}
    for line in PICTURE_LINE.findall(text):
        line = line.split("(")[0]  # a remark
        before = set()
        for group in line.split("<-"):
            rooms = [room.strip() for room in group.split(",")]
            for room in rooms:
                left.setdefault(room, set()).update(before)
            before.update(rooms)
    return left


def sources(tree):
    for folder, _, names in sorted(os.walk(os.path.join(tree, "src"))):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(folder, name), tree)


def room_of(header, path, tree):
    """(room, whether it is public) of an included header; None if it is not ours."""
    parts = header.split("/")
    if parts[0] == "specimen":
        return PUBLIC.get(parts[1], parts[1].removesuffix(".h")), True
    if len(parts) > 1 and os.path.exists(os.path.join(tree, "src", header)):
        return parts[0], False
    if os.path.exists(os.path.join(tree, os.path.dirname(path), header)):
        return path.split("/")[1], False
    return None


def check(tree, exceptions):
    """Sentences about what is wrong."""
    with open(os.path.join(tree, "CONTRIBUTING.md"), encoding="utf-8") as f:
        left = picture(f.read())
    wrong, used = [], set()
    entered = {PUBLIC.get(name, name.removesuffix(".h"))
               for name in os.listdir(os.path.join(tree, "include", "specimen"))}
    entered -= OPEN
    if not left:
        wrong.append("CONTRIBUTING.md has no picture of the rooms")
    for path in sources(tree):
        room = path.split("/")[1]
        if room not in left:
            wrong.append(f"{path}: '{room}' is not a room of the picture")
            continue
        with open(os.path.join(tree, path), encoding="utf-8") as f:
            headers = INCLUDE.findall(f.read())
        for header in headers:
            found = room_of(header, path, tree)
            if found is None or found[0] == room:
                continue
            other, public = found
            if other not in left[room]:
                wrong.append(f"{path}: {header}: {room} may not call {other}")
            elif not public and other in entered:
                if room in exceptions.get(header, ()):
                    used.add((header, room))
                else:
                    wrong.append(f"{path}: {header}: is for {other} itself; {room} has "
                                 f"specimen/{other}.h")
    for header, rooms in exceptions.items():
        wrong += [f"tools/layers.py: {header} is not needed by {room} any more: take it out of "
                  "EXCEPTIONS" for room in rooms if (header, room) not in used]
    return wrong


def main(args):
    tree = args[0] if args else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    wrong = check(tree, EXCEPTIONS)
    for line in wrong:
        print(line)
    print(f"{sum(1 for _ in sources(tree))} files, {len(wrong)} wrong, "
          f"{sum(map(len, EXCEPTIONS.values()))} exceptions")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
