# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The shared library exports what the public headers declare, versioned, and nothing else."""

import glob
import os
import re
import shutil
import subprocess
import unittest

SOURCE = os.environ["SPE_SOURCE_DIR"]
BUILD = os.environ["SPE_BUILD_DIR"]
NODE = "SPECIMEN_0.1"


HEADERS = os.path.join(SOURCE, "include", "specimen")


def listed(name):
    """The headers of one list in include/specimen/meson.build."""
    with open(os.path.join(HEADERS, "meson.build"), encoding="utf-8") as file:
        body = re.search(rf"^{name} = [^\n]*\n(.*?)^[\])]", file.read(), re.M | re.S)
    return set(re.findall(r"'([^']+\.h)'", body.group(1))) if body else set()


def declared():
    names = set()
    for header in listed("specimen_headers"):
        with open(os.path.join(HEADERS, header), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
        for statement in re.findall(r"^SPE_API\b([^;{]*)", text, flags=re.M):
            names.add(re.search(r"\b(spe_\w+)\s*(\(|\[|$)", statement.strip()).group(1))
    return names


def exported():
    library = os.path.join(BUILD, "src", "libspecimen.so")
    nm = next(tool for tool in ("llvm-nm", "nm", "aarch64-linux-gnu-nm")
              if shutil.which(tool) and subprocess.run(
                  [tool, "-D", library], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
              ).returncode == 0)
    listing = subprocess.run([nm, "-D", "--defined-only", library], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    return {line.split()[-1] for line in listing.splitlines()} - {NODE, f"{NODE}@@{NODE}"}


class Exports(unittest.TestCase):
    maxDiff = None

    def test_headers_and_library_agree(self):
        names = {name.split("@")[0] for name in exported()}
        self.assertEqual(sorted(declared() - names), [], "declared in a header, not exported")
        self.assertEqual(sorted(names - declared()), [], "exported, in no public header")

    def test_every_symbol_has_a_version(self):
        bare = sorted(name for name in exported() if "@" in name and not name.endswith(NODE))
        self.assertEqual(bare, [])

    def test_every_header_is_installed(self):
        there = {os.path.basename(path) for path in glob.glob(os.path.join(HEADERS, "*.h"))}
        self.assertEqual(listed("specimen_headers"), there)

    def test_headers_go_together(self):
        """In C and in C++, in any order, each one first and alone."""
        names = sorted(listed("specimen_headers"))
        together = "".join(f"#include <specimen/{name}>\n" for name in names + names[::-1])
        for language in ("c", "c++"):
            for text in [together] + [f"#include <specimen/{name}>\n" for name in names]:
                compiled = subprocess.run(
                    ["cc", "-x", language, "-fsyntax-only", "-Wall", "-Werror", "-I",
                     os.path.join(SOURCE, "include"), "-"], input=text, text=True,
                    capture_output=True, check=False)
                if language == "c++" and "cc1plus" in compiled.stderr:
                    continue  # this machine's cc has no C++
                self.assertEqual((compiled.returncode, compiled.stderr), (0, ""), text)


if __name__ == "__main__":
    unittest.main()
