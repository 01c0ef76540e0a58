# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Callers of other releases: the library of this one runs programs that were compiled with headers
in which a struct, or the elements of a list, have one member less at their end, or one more."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["SPE_SOURCE_DIR"]
BUILD = os.environ["SPE_BUILD_DIR"]
HEADERS = os.path.join(SOURCE, "include", "specimen")
CALLER = os.path.join(SOURCE, "tests", "tools", "caller.c")

# Structs that grow: those with a size, and those whose size a function is told. The others are
# finished, or belong to the library (version.h).
FILLED = ["spe_spu_stats", "spe_machine_counts", "spe_counts", "spe_profile_symbol",
          "spe_profile_place", "spe_perf_event", "spe_perf_features",
          # elements of lists
          "spe_group", "spe_branch", "spe_data", "spe_data_summary", "spe_mix", "spe_served_row",
          "spe_finding", "spe_instruction"]


def text_of(header):
    with open(os.path.join(HEADERS, header), encoding="utf-8") as file:
        return file.read()


def struct_in(text, name):
    """Where the members of a struct begin and end."""
    found = re.search(rf"^struct {name} {{.*?^}};$", text, re.M | re.S)
    return (found.start(), found.end()) if found else None


def sized(header):
    """Names of the header's structs that begin with a size_t size."""
    return re.findall(r"^struct (\w+) \{\n(?:    /\*.*?\*/\n)?    size_t size;", text_of(header),
                      re.M | re.S)


def without_last(body):
    """The struct without its last declarator."""
    comments = [(m.start(), m.end()) for m in re.finditer(r"/\*.*?\*/", body, re.S)]
    blank = list(body)
    for start, end in comments:
        blank[start:end] = " " * (end - start)
    blank = "".join(blank)
    end = blank.rindex(";", 0, blank.rindex("}"))
    start = max(blank.rfind(";", 0, end), blank.rfind("{", 0, end)) + 1
    if re.search(r"\}\s*\w+$", blank[:end]):  # a struct or union without a name
        return body[:blank.rindex("struct {")] + body[end + 1:]
    comma = blank.rfind(",", start, end)
    if comma >= 0 and blank.find("(", start, end) < 0:
        return body[:comma] + body[end:]
    return body[:start] + body[end + 1:]


def with_more(body):
    end = body.rindex("}")
    return body[:end] + "    uint64_t later_release[3];\n" + body[end:]


def machine(path):
    """e_machine of an ELF file."""
    with open(path, "rb") as file:
        return file.read(20)[18:]


class Callers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists(os.path.join(BUILD, "src", "libspecimen.a")):
            raise unittest.SkipTest("a build with sanitizers is not for callers of others")
        if machine(os.path.join(BUILD, "src", "libspecimen.so")) != machine(sys.executable):
            raise unittest.SkipTest("the library is for another machine")

    def call(self, name=None, header=None, change=None):
        with tempfile.TemporaryDirectory() as folder:
            include = os.path.join(folder, "include", "specimen")
            shutil.copytree(HEADERS, include)
            if name:
                text = text_of(header)
                start, end = struct_in(text, name)
                changed = text[:start] + change(text[start:end]) + text[end:]
                self.assertNotEqual(text, changed)
                with open(os.path.join(include, header), "w", encoding="utf-8") as file:
                    file.write(changed)
            program = os.path.join(folder, "caller")
            libraries = os.path.join(BUILD, "src")
            subprocess.run(["cc", "-std=gnu11", "-Wall", "-Werror", "-g", "-I",
                            os.path.dirname(include), CALLER, "-o", program, "-L", libraries,
                            "-lspecimen", "-lspecimen-core"], check=True)
            done = subprocess.run([program], capture_output=True, text=True, check=False,
                                  env=dict(os.environ, LD_LIBRARY_PATH=libraries))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_same_release(self):
        self.call()

    def structs(self):
        found = 0
        for header in sorted(os.listdir(HEADERS)):
            if header.endswith(".h"):
                there = [name for name in FILLED if struct_in(text_of(header), name)]
                for name in sized(header) + there:
                    found += 1
                    yield name, header
        self.assertGreaterEqual(found, 13 + len(FILLED))

    def test_older_caller(self):
        for name, header in self.structs():
            with self.subTest(name):
                self.call(name, header, without_last)

    def test_newer_caller(self):
        for name, header in self.structs():
            with self.subTest(name):
                self.call(name, header, with_more)


if __name__ == "__main__":
    sys.exit(unittest.main())
