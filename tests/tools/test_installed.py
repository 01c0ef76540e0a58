# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The installed tree, as a program outside of it meets it: through pkg-config."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["SPE_SOURCE_DIR"]
BUILD = os.environ["SPE_BUILD_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "cli"))
import perf_file  # noqa: E402


def machine(path):
    """e_machine of an ELF file."""
    with open(path, "rb") as file:
        return file.read(20)[18:]


def run(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **more).stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists(os.path.join(BUILD, "src", "libspecimen.a")):
            raise unittest.SkipTest("a build with sanitizers is not installed")
        if machine(os.path.join(BUILD, "src", "libspecimen.so")) != machine(sys.executable):
            raise unittest.SkipTest("the library is for another machine")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir",
            cls.folder.name, stderr=subprocess.STDOUT)
        for where, _, names in os.walk(cls.folder.name):
            if "specimen.pc" in names:
                cls.packages = where
                cls.libraries = os.path.dirname(where)

    def flags(self, package, *options):
        """pkg-config writes the place in front of every path, as for any tree below DESTDIR."""
        env = dict(os.environ, PKG_CONFIG_PATH=self.packages,
                   PKG_CONFIG_SYSROOT_DIR=self.folder.name)
        text = run("pkg-config", "--cflags", "--libs", *options, package, env=env, text=True)
        root = re.escape(self.folder.name)
        return [re.sub(rf"^(-[IL]){root}(/usr/(?:include|lib).*)", r"\1\2", flag)
                if not os.path.exists(flag[2:]) else flag for flag in shlex.split(text)]

    def compiled(self, source, flags):
        program = os.path.join(self.folder.name, os.path.basename(source) + ".out")
        run("cc", "-std=gnu11", "-Wall", "-Werror", source, "-o", program, *flags)
        return program

    def started(self, program, *arguments):
        return run(program, *arguments, text=True,
                   env=dict(os.environ, LD_LIBRARY_PATH=self.libraries))

    def recording(self):
        path = os.path.join(self.folder.name, "perf.data")
        data = run(os.environ["SPE"], "gen", "--records", "1000")
        with open(path, "wb") as file:
            file.write(perf_file.perf_data([data + bytes(-len(data) % 8)]))
        return path

    def test_example_reads_a_recording(self):
        program = self.compiled(os.path.join(SOURCE, "examples", "slow_functions.c"),
                                self.flags("specimen"))
        lines = self.started(program, self.recording()).splitlines()
        self.assertEqual(lines[0].split(), ["samples", "cycles", "function"])
        self.assertEqual(sum(int(line.split()[0]) for line in lines[1:]), 1000)

    def test_core_needs_libc_alone(self):
        program = self.compiled(os.path.join(SOURCE, "examples", "embed.c"),
                                self.flags("specimen-core"))
        self.assertIn("as expected", self.started(program))
        core = os.path.join(self.libraries, "libspecimen-core.so")
        needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", core, text=True))
        self.assertEqual([name for name in needed if not name.startswith("ld-linux")],
                         ["libc.so.6"])

    def test_names_of_a_program_are_its_own(self):
        """A program has a function of every name that is hidden in the library."""
        hidden = set()
        for archive in ("libcore-rooms.a", "librooms.a"):
            listing = run("nm", "-g", "--defined-only", os.path.join(BUILD, "src", archive),
                          text=True)
            hidden |= {line.split()[2] for line in listing.splitlines() if " T " in line}
        exported = set(re.findall(r"\bspe_\w+", run(
            "nm", "-D", "--defined-only", os.path.join(self.libraries, "libspecimen.so"),
            os.path.join(self.libraries, "libspecimen-core.so"), text=True)))
        hidden -= exported
        self.assertTrue({"vector_grow", "strings_add"} <= hidden)
        source = os.path.join(self.folder.name, "clash.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <stdlib.h>\n")
            for name in sorted(hidden):
                file.write(f"void {name}(void);\nvoid {name}(void)\n{{\n    abort();\n}}\n")
            with open(os.path.join(SOURCE, "examples", "slow_functions.c"),
                      encoding="utf-8") as example:
                file.write(example.read().replace("print_name", "show_name"))
        flags = [re.sub(r"^-l(specimen.*)", r"-l:lib\1.a", flag)
                 for flag in self.flags("specimen", "--static")]
        lines = self.started(self.compiled(source, flags), self.recording()).splitlines()
        self.assertEqual(sum(int(line.split()[0]) for line in lines[1:]), 1000)


if __name__ == "__main__":
    sys.exit(unittest.main())
