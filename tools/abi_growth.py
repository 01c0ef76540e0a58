#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Does a report of abidiff have nothing but structs that grew at their end, and may?

usage: abi_growth.py HEADERS <REPORT

Structs that callers tell the size of may grow: those that begin with a size, those that a function
..._sized is given, and elements of lists that have a function ..._at. Prints what grew, and ends
with 1 at the first line that says anything else. libabigail's own suppressions cannot say this:
version 2.2 also passes over members that are inserted in the middle.
"""

import os
import re
import sys


def growing(headers):
    """The names of the structs that may grow."""
    names = set()
    for header in sorted(os.listdir(headers)):
        if not header.endswith(".h"):
            continue
        with open(os.path.join(headers, header), encoding="utf-8") as file:
            text = file.read()
        names.update(re.findall(r"^struct (\w+) \{\n(?:    /\*.*?\*/\n)?    size_t size;", text,
                                re.M | re.S))
        for parameters in re.findall(r"\w+_sized\(([^;{]*?)\);", text, re.S):
            names.update(re.findall(r"(?<!const )struct (\w+) (?:\*\w+|\w+\[)", parameters))
        names.update(re.findall(r"^SPE_ELEMENT_AT\((\w+),", text, re.M))
    return names


# What stands around a change.
CONTEXT = re.compile(r"""\s*(
    |.*changes\ summary:.*
    |\d+\ functions?\ with\ some\ (indirect\ )?sub-type\ changes?:
    |\[C\]\ '(function|method)\ .*'\ .*has\ some\ (indirect\ )?sub-type\ changes:
    |(parameter|return|implicit)\ .*(has\ sub-type\ changes|type\ changed):
    |in\ (pointed\ to|referenced|unqualified\ underlying)\ type\ .*:
    |\d+\ data\ member\ (insertion|change)s?(\ \(.*\))?:
    |type\ of\ '.*'\ changed:
    |.*\ was\ reported\ earlier.*
    |.*\ as\ reported\ earlier.*
    )""", re.X)
TYPE = re.compile(r"\s*in (?:pointed to|unqualified underlying) type '(?:const )?struct (\w+)'")
SIZE = re.compile(r"\s*type size changed from (\d+) to (\d+) \(in bits\)")
MEMBER = re.compile(r"\s*'.* (\w+(?:\[\d+\])?)', at offset (\d+) \(in bits\)")


def judge(lines, may_grow):
    """What grew; the line that is a break, or None."""
    grown, name, old_size = [], None, None
    for line in lines:
        line = line.rstrip("\n")
        if found := TYPE.match(line):
            name, old_size = found[1], None
        elif found := SIZE.fullmatch(line):
            old_size = int(found[1])
            if name not in may_grow or int(found[2]) < old_size:
                return grown, line
        elif found := MEMBER.match(line):
            if old_size is None or int(found[2]) < old_size:
                return grown, line
            grown.append(f"struct {name}: {found[1]}")
        elif not CONTEXT.fullmatch(line):
            return grown, line
    return grown, None


def main():
    grown, wrong = judge(sys.stdin, growing(sys.argv[1]))
    if wrong is not None:
        print("abi: this breaks programs that were built before:\n" + wrong)
        return 1
    for member in sorted(set(grown)):
        print("abi: new member of " + member)
    return 0


if __name__ == "__main__":
    sys.exit(main())
