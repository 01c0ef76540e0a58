#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Which requirements of the catalogue are named by a test, and which are not.

A MUST or FORMAT row is covered when a test names its id. A CHOICE row is covered when an option in
src/ or include/ names it and a test does too. INFO rows need nothing. A test counts when
tests/meson.build (or fuzz/meson.build) lists it: a file that nobody runs covers nothing.
"""

import argparse
import collections
import fnmatch
import os
import re
import sys

ID = re.compile(r"\bD1[78]\.\d+-\d{3}\b")
KINDS = ("MUST", "FORMAT", "CHOICE")
TEST_ENDINGS = (".c", ".sh", ".py")
TEXT_ENDINGS = TEST_ENDINGS + (".h", ".txt")
# The tests of the tools are about this script, not about the format.
NOT_EVIDENCE = ("tools",)
# Test vectors name rows, and are not options.
VECTORS = re.compile(r"src/cli/(gen_vectors|test_vector)[a-z_]*\.[ch]")

Row = collections.namedtuple("Row", "id chapter kind statement")


class Problem(Exception):
    """Something that makes the answer meaningless, told in one sentence."""


def read_catalogue(path):
    rows = {}
    with open(path, encoding="utf-8") as file:
        names = file.readline().rstrip("\n").split("\t")
        try:
            id_at, kind_at, text_at = (names.index(n) for n in ("id", "kind", "statement"))
        except ValueError:
            raise Problem(f"{path}: the first line must name the columns id, kind and statement")
        for number, line in enumerate(file, 2):
            cells = line.rstrip("\n").split("\t")
            if len(cells) != len(names):
                raise Problem(f"{path}:{number}: {len(cells)} columns, expected {len(names)}")
            id_, kind = cells[id_at], cells[kind_at]
            if not ID.fullmatch(id_):
                raise Problem(f"{path}:{number}: '{id_}' is not a requirement id")
            if kind not in KINDS + ("INFO",):
                raise Problem(f"{path}:{number}: '{kind}' is not a kind")
            if id_ in rows:
                raise Problem(f"{path}:{number}: {id_} is there twice")
            rows[id_] = Row(id_, id_.rsplit("-", 1)[0], kind, cells[text_at])
    return rows


def listed_tests(root):
    """The file names that the build runs as tests, as paths below the root."""
    listed = set()
    path = os.path.join(root, "tests", "meson.build")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"(?m)^\s*#.*$", "", file.read())
        for room, body in re.findall(r"(?m)^(\w+)_tests\s*\+?=\s*\[(.*?)^\s*\]", text, re.S):
            for name in re.findall(r"'([^']+)'", body):
                listed.add(os.path.join("tests", room, name))
    path = os.path.join(root, "fuzz", "meson.build")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"(?m)^\s*#.*$", "", file.read())
        for body in re.findall(r"(?m)^fuzz_names\s*\+?=\s*\[(.*?)^\s*\]", text, re.S):
            for name in re.findall(r"'([^']+)'", body):
                listed.add(os.path.join("fuzz", f"fuzz_{name}.c"))
    return listed


def text_files(root, top):
    for folder, folders, names in os.walk(os.path.join(root, top)):
        folders.sort()
        for name in sorted(names):
            if name.endswith(TEXT_ENDINGS):
                yield os.path.relpath(os.path.join(folder, name), root)


def ids_in(root, path):
    """(id, line number) for every id that the file names."""
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            for id_ in ID.findall(line):
                yield id_, number


class Coverage:
    def __init__(self, root, rows):
        self.rows = rows
        self.in_tests = collections.defaultdict(list)
        self.in_options = collections.defaultdict(list)
        self.unknown = []  # "path:line: id" that the catalogue does not have
        self.unlisted = set()  # tests that name ids and are not run
        listed = listed_tests(root)

        for top in ("tests", "fuzz"):
            for path in text_files(root, top):
                if top == "tests" and path.split(os.sep)[1] in NOT_EVIDENCE:
                    continue
                is_test = path.endswith(TEST_ENDINGS) and (top == "fuzz" or is_test_name(path))
                for id_, number in ids_in(root, path):
                    if is_test and path not in listed:
                        self.unlisted.add(path)
                    else:
                        self.in_tests[id_].append(f"{path}:{number}")
                    self._exists(id_, path, number)
        for top in ("src", "include"):
            for path in text_files(root, top):
                for id_, number in ids_in(root, path):
                    if not VECTORS.fullmatch(path):
                        self.in_options[id_].append(f"{path}:{number}")
                    self._exists(id_, path, number)

    def _exists(self, id_, path, number):
        if id_ not in self.rows:
            self.unknown.append(f"{path}:{number}: {id_}")

    def lacks(self, row):
        """What the row still needs: an empty string, or a few words."""
        if row.kind == "INFO":
            return ""
        needs = []
        if row.kind == "CHOICE" and row.id not in self.in_options:
            needs.append("an option")
        if row.id not in self.in_tests:
            needs.append("a test")
        return " and ".join(needs)


def is_test_name(path):
    """Support files of C tests are evidence through the tests that use them."""
    name = os.path.basename(path)
    return name.startswith("test_") or not name.endswith(".c")


def print_table(coverage):
    chapters = sorted({row.chapter for row in coverage.rows.values()})
    print("chapter " + "".join(f"{kind:>12}" for kind in KINDS) + f"{'all':>12}")
    sums = collections.Counter()
    for chapter in chapters + ["all"]:
        cells = []
        for kind in KINDS + ("all",):
            if chapter != "all":
                for row in coverage.rows.values():
                    if row.chapter == chapter and row.kind in KINDS and kind in (row.kind, "all"):
                        got = not coverage.lacks(row)
                        for where in (chapter, "all"):
                            sums[where, kind, "total"] += 1
                            sums[where, kind, "named"] += got
            cells.append(f"{sums[chapter, kind, 'named']}/{sums[chapter, kind, 'total']}")
        print(f"{chapter:<8}" + "".join(f"{cell:>12}" for cell in cells))


def read_held(path, rows):
    """The rows that must not lose their tests."""
    held = set()
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            pattern = line.split("#", 1)[0].strip()
            if not pattern:
                continue
            found = {
                id_
                for id_, row in rows.items()
                if row.chapter == pattern or fnmatch.fnmatchcase(id_, pattern)
            }
            if not found:
                raise Problem(f"{path}:{number}: '{pattern}' is neither a chapter nor an id")
            held |= found
    return held


def main(argv=None):
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--root", default=here, help="top of the source tree")
    parser.add_argument("--catalogue", help="default: docs/conformance/requirements.tsv")
    parser.add_argument("--missing", nargs="?", const="*", metavar="PATTERN",
                        help="list the rows that need something (of a chapter, or matching ids)")
    parser.add_argument("--where", metavar="ID", help="list the places that name an id")
    parser.add_argument("--hold", metavar="FILE",
                        help="fail when a row of the chapters or id patterns in FILE is missing")
    args = parser.parse_args(argv)

    catalogue = args.catalogue or os.path.join(
        args.root, "docs", "conformance", "requirements.tsv")
    try:
        rows = read_catalogue(catalogue)
        held = read_held(args.hold, rows) if args.hold else set()
        coverage = Coverage(args.root, rows)
    except (Problem, OSError) as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2

    if args.where:
        for place in coverage.in_options[args.where] + coverage.in_tests[args.where]:
            print(place)
        return 0

    print_table(coverage)
    if args.missing:
        print()
        for row in rows.values():
            needs = coverage.lacks(row)
            if needs and (row.chapter == args.missing
                          or fnmatch.fnmatchcase(row.id, args.missing)):
                print(f"{row.id} {row.kind} needs {needs}: {row.statement}")

    failures = [f"{place} is not in the catalogue" for place in coverage.unknown]
    failures += [f"{path} names requirements but no meson.build lists it as a test"
                 for path in sorted(coverage.unlisted)]
    failures += [f"{id_} is held and needs {coverage.lacks(rows[id_])}: {rows[id_].statement}"
                 for id_ in rows if id_ in held and coverage.lacks(rows[id_])]
    if failures:
        print()
        for failure in failures:
            print(f"conformance: {failure}")
        print(f"conformance: {len(failures)} problems")
        return 1
    if args.hold:
        needing = sum(rows[id_].kind != "INFO" for id_ in held)
        print(f"\nconformance: all of the {needing} rows that are held are covered")
    return 0


if __name__ == "__main__":
    sys.exit(main())
