# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Completion offers the commands, every option that a command takes, and the values of those that
take one of a few."""

import glob
import os
import re
import shutil
import subprocess
import unittest

from spetest import SPE, CommandTest

FOLDER = os.path.join(os.environ.get("SPE_SOURCE_DIR", "."), "completions")
SOURCES = os.path.join(os.environ.get("SPE_SOURCE_DIR", "."), "src/cli")

# Options and some of their values.
VALUES = {
    ("report", "--by"): {"function", "type", "symbol+source", "time"},
    ("report", "--sort"): {"latency", "mispredicted", "srcline"},
    ("report", "--color"): {"auto", "always", "never"},
    ("report", "--cpu"): {"neoverse-n1", "kunpeng-920"},
    ("record", "--cpu"): {"neoverse-n1", "architecture"},
    ("record", "--model"): {"none", "functional", "core"},
    ("export", "--format"): {"csv", "parquet", "autofdo"},
    ("export", "--weight"): {"samples", "latency"},
    ("annotate", "--columns"): {"share", "operation"},
    ("report", "--top"): set(),
    ("report", "--symfs"): set(),
}


def run(*words, env=None):
    # In a build with ASan the leak checker never ends below zsh when the reader has had enough.
    asan = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=50,
                          env={**os.environ, "ASAN_OPTIONS": asan, **(env or {})}).stdout.split()


class Completion(CommandTest):
    def commands(self):
        return re.findall(r"^  ([\w-]+) {2,}\w", self.good("--help").decode(), re.M)

    def options(self, command):
        text = self.good(command, "--help").decode().split("\nExamples:")[0]
        return {name for line in text.splitlines() if line.startswith(" ")
                for name in re.findall(r"(?:^| )(--[a-z][a-z0-9-]+)", line)}

    def bash(self, *words):
        quoted = " ".join(f"'{w}'" for w in (SPE, *words))
        return run("bash", "-c", f". {FOLDER}/spe.bash; COMP_WORDS=({quoted}); "
                                 f"COMP_CWORD={len(words)}; _spe; printf '%s\\n' \"${{COMPREPLY[@]}}\"")

    def test_bash(self):
        self.assertEqual(self.bash(""), self.commands())
        self.assertEqual(self.bash("rep"), ["report"])
        self.assertEqual(self.bash("report", "--percent"), ["--percent-limit"])
        for command in self.commands():
            self.assertEqual(set(self.bash(command, "--")), self.options(command))

    def test_values(self):
        """Each that bash offers is one that the command takes; some are those that we know."""
        for (command, option), some in VALUES.items():
            offered = self.bash(command, option, "")
            self.assertTrue(some <= set(offered) if some else not offered, (option, offered))
            for value in offered:
                self.good(command, option, value, "--help")
        self.assertEqual(self.bash("report", "--by", "li"), ["line"])
        self.assertEqual(self.bash("report", "--by", "line,ty"), ["line,type"])
        self.assertEqual(self.bash("report", "--color", "=", "al"), ["always"])

    def test_nothing_happens(self):
        """A value that a command would take leads to nothing."""
        os.chdir(self.dir)
        self.assertEqual(self.bash("gen", "-o", ""), [])
        self.assertEqual(os.listdir(self.dir), [])

    def test_help_has_every_option(self):
        """Completion reads the help, which is made from the tables: all their rows are in one."""
        rows = set()
        for path in sorted(glob.glob(os.path.join(SOURCES, "*.[ch]"))):
            with open(path, encoding="utf-8") as f:
                rows |= set(re.findall(r"""\{\s*"([a-z][a-z0-9-]+)",\s+(?:0|'\w'),[^}]*OPTION_""",
                                       f.read().replace("\\\n", "\n")))
        self.assertGreater(len(rows), 90)
        offered = set().union(*map(self.options, self.commands()))
        self.assertEqual({"--" + name for name in rows} - offered, set())

    def on_path(self):
        """The tested command as plain `spe`."""
        os.symlink(os.path.abspath(SPE), os.path.join(self.dir, "spe"))
        return {"PATH": self.dir + ":" + os.environ["PATH"]}

    @unittest.skipUnless(shutil.which("fish"), "there is no fish")
    def test_fish(self):
        env = {**self.on_path(), "HOME": self.dir}

        def offered(line):
            words = run("fish", "--no-config", "-c", f"source {FOLDER}/spe.fish; "
                        f"complete -C '{line}' | string replace -r '\\t.*' ''; true", env=env)
            return set(words)

        self.assertEqual(offered("spe "), set(self.commands()))
        for command in self.commands():
            self.assertEqual(offered(f"spe {command} --"), self.options(command))
        for (command, option), some in VALUES.items():
            self.assertTrue(some <= offered(f"spe {command} {option} "), option)
        self.assertEqual(offered("spe report --by line,ty"), {"line,type"})

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh(self):
        run("zsh", "-n", os.path.join(FOLDER, "_spe"))
        script = (f"compadd() {{ shift; print -l -- $@; }}; _files() {{ }}; compset() {{ }}; "
                  f"_describe() {{ print -l -- ${{(P)2}}; }}; _spe() {{ . {FOLDER}/_spe; }}; ")

        def offered(*words, prefix="--"):
            quoted = " ".join(words)
            return run("zsh", "-fc", script + f"words=({SPE} {quoted} x); words[-1]=(); "
                       f"PREFIX='{prefix}'; CURRENT={len(words) + 2}; _spe")

        self.assertIn("report:one", offered())
        for command in self.commands():
            self.assertEqual(set(offered(command)), self.options(command))
        for (command, option), some in VALUES.items():
            values = set(offered(command, option, prefix=""))
            self.assertTrue(some <= values if some else not values, option)


if __name__ == "__main__":
    unittest.main()
