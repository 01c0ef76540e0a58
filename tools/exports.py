#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""What the public headers declare and the symbol maps list, for the tests and for people.

usage: exports.py            say where headers and maps differ; the status is 1 if they do
       exports.py --update   add what is missing to the last node of each map, take out the rest
"""

import os
import re
import sys

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORE_HEADERS = {"error.h", "features.h", "format.h", "gen.h", "pe.h", "spu.h", "version.h"}
MAPS = {"libspecimen-core": True, "libspecimen": False}  # whether it is the core's
FUNCTION = re.compile(r"\b(spe_\w+)\s*\(")


def headers(tree=TREE):
    with open(os.path.join(tree, "include/specimen/meson.build"), encoding="utf-8") as file:
        return re.findall(r"'(\w+\.h)'", file.read())


def text_of(header, tree=TREE):
    with open(os.path.join(tree, "include/specimen", header), encoding="utf-8") as file:
        return file.read()


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def declared(header, tree=TREE):
    """The names of exported functions of a header, in its order."""
    statements = re.findall(r"^SPE_API\b([^;{]*)", without_comments(text_of(header, tree)), re.M)
    return [FUNCTION.search(statement).group(1) for statement in statements]


def declared_by(core, tree=TREE):
    return {name for header in headers(tree) if (header in CORE_HEADERS) == core
            for name in declared(header, tree)}


def map_path(library, tree=TREE):
    return os.path.join(tree, "src", library + ".map")


def listed(library, tree=TREE):
    with open(map_path(library, tree), encoding="utf-8") as file:
        return re.findall(r"^    (spe_\w+);$", file.read(), re.M)


def update(library, wanted):
    """The last node gets what is new; what is gone leaves its node."""
    with open(map_path(library), encoding="utf-8") as file:
        text = file.read()
    known = set(listed(library))
    text = re.sub(r"^    (spe_\w+);\n", lambda m: m.group(0) if m.group(1) in wanted else "",
                  text, flags=re.M)
    head, _, body = text.rpartition("global:\n")
    names = set(re.findall(r"^    (spe_\w+);\n", body, re.M)) | (wanted - known)
    rest = re.sub(r"^    spe_\w+;\n", "", body, flags=re.M)
    lines = "".join(f"    {name};\n" for name in sorted(names))
    with open(map_path(library), "w", encoding="utf-8") as file:
        file.write(head + "global:\n" + lines + rest)


def main(arguments):
    wrong = 0
    for library, core in MAPS.items():
        wanted = declared_by(core)
        if arguments == ["--update"]:
            update(library, wanted)
        for name in sorted(wanted ^ set(listed(library))):
            wrong += 1
            print(f"src/{library}.map: {name} is in "
                  f"{'no map' if name in wanted else 'no public header'}; "
                  "tools/exports.py --update")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
