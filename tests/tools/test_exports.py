# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The shared libraries export what the public headers declare, versioned, and nothing else; the
static ones have no other global symbols; the maps list them one by one."""

import glob
import importlib.util
import os
import shutil
import subprocess
import unittest

SOURCE = os.environ["SPE_SOURCE_DIR"]
BUILD = os.environ["SPE_BUILD_DIR"]
HEADERS = os.path.join(SOURCE, "include", "specimen")
NODES = {"libspecimen-core": "SPECIMEN_CORE_0.1", "libspecimen": "SPECIMEN_0.1"}

spec = importlib.util.spec_from_file_location("exports", os.path.join(SOURCE, "tools/exports.py"))
exports = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exports)


def symbols(library, *options):
    """What the first nm that understands the file says."""
    for tool in ("llvm-nm", "nm", "aarch64-linux-gnu-nm"):
        if shutil.which(tool):
            done = subprocess.run([tool, *options, "--defined-only", library],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0 and done.stdout:
                return {line.split()[-1] for line in done.stdout.splitlines()
                        if len(line.split()) == 3}
    raise AssertionError(f"no nm reads {library}")


def exported(library):
    node = NODES[library]
    return (symbols(os.path.join(BUILD, "src", library + ".so"), "-D")
            - {node, f"{node}@@{node}"})


class Exports(unittest.TestCase):
    maxDiff = None

    def test_maps_list_what_headers_declare(self):
        for library, core in exports.MAPS.items():
            self.assertEqual(sorted(exports.listed(library)),
                             sorted(exports.declared_by(core)), "tools/exports.py --update")

    def test_headers_and_libraries_agree(self):
        for library, core in exports.MAPS.items():
            names = {name.split("@")[0] for name in exported(library)}
            declared = exports.declared_by(core)
            self.assertEqual(sorted(declared - names), [], "declared in a header, not exported")
            self.assertEqual(sorted(names - declared), [], "exported, in no public header")

    def test_every_symbol_has_a_version(self):
        for library, node in NODES.items():
            bare = [name for name in exported(library)
                    if "@" in name and not name.endswith(node)]
            self.assertEqual(sorted(bare), [])

    def test_static_libraries_have_no_other_globals(self):
        for library, core in exports.MAPS.items():
            archive = os.path.join(BUILD, "src", library + ".a")
            if not os.path.exists(archive):
                self.skipTest("a build with sanitizers has no static libraries")
            self.assertEqual(sorted(symbols(archive, "-g") ^ exports.declared_by(core)), [])

    def test_every_header_is_installed(self):
        there = {os.path.basename(path) for path in glob.glob(os.path.join(HEADERS, "*.h"))}
        self.assertEqual(set(exports.headers()), there)

    def test_headers_go_together(self):
        """In C and in C++, in any order, each one first and alone."""
        names = sorted(exports.headers())
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
