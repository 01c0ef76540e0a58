# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe record: a program that becomes another one, in every way and under any name."""

import os
import re
import shutil
import stat
import subprocess
import unittest

import recordtest
from recordtest import RecordTest

recordtest.require()

STATIC = ("-O1", "-static")


class Exec(RecordTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile("exec.c", *STATIC)

    def script(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def becomes(self, how, path, output="called has a word\n"):
        """The new program runs, and is recorded."""
        summary = self.record("-c", "512", "--", self.program, how, path, status=42)
        self.assertEqual(self.stdout, output, how)
        self.assertGreater(summary.records, 300000 * 4 / 768 / 2, how)
        if how == "memory":
            return  # there is no file with symbols
        names = {s[1] for s in self.perf_samples("ip", "sym") if len(s) > 1}
        self.assertIn("new_program_work", names, how)

    def same(self, how, path):
        """Nothing becomes of it, as under QEMU alone."""
        plain = self.plain(self.program, how, path)
        result = self.run_record("-c", "512", "--", self.program, how, path)
        self.assertEqual((result.returncode, result.stdout), (plain.returncode, plain.stdout),
                         (how, path, result.stderr))

    def test_ways(self):
        for how in ("path", "open", "closing", "memory", "folder", "nofollow"):
            self.becomes(how, self.program)

    def test_script(self):
        script = self.script("script", f"#!{self.program} work\n")
        for how, name in (("path", self.program), ("open", self.program)):
            self.becomes(how, script, f"{name} has a word\n")
        # Its interpreter could not open it.
        self.same("closing", script)
        self.same("folder", script)

    def test_refused(self):
        link = os.path.join(self.dir, "link")
        os.symlink(self.program, link)
        self.becomes("path", link)
        self.same("nofollow", link)
        self.same("not-empty", self.program)
        self.same("bad-flags", self.program)

    def test_no_file(self):
        fifo = os.path.join(self.dir, "fifo")
        os.mkfifo(fifo)
        os.chmod(fifo, 0o755)
        behind = self.script("behind", f"#!{fifo}\n")
        text = self.script("text", "hello\n")
        for path in (fifo, self.dir, "/dev/null", "/dev/tty", "/nowhere", text, behind):
            self.same("path", path)
        result = self.run_record(fifo)
        self.assertEqual(result.returncode, 2, result.stderr)

    def test_names(self):
        # /proc/self/maps has \012 for a newline, and for what looks like it.
        for name in ("new\nline", "back\\slash", "not\\012newline", "two\n\n\\012"):
            path = os.path.join(self.dir, name)
            shutil.copy(self.program, path)
            self.record("-c", "512", "--", path, "work", status=42)
            self.assertIn(b"new_program_work", self.good("report", self.data), name)

    def test_level(self):
        # The first start is told the level by the launcher, the second by the plugin: what it
        # speaks itself, which here is what the wrapper told it.
        log = os.path.join(self.dir, "log")
        qemu = recordtest.QEMU
        version = subprocess.run([qemu, "--version"], capture_output=True, check=True).stdout
        level = "1" if int(re.search(rb"version (\d+)", version)[1]) < 9 else "4"
        wrapper = self.script("qemu-aarch64", f"""#!/bin/sh
case $1 in
--version) echo qemu-aarch64 version 11.0.0; exit ;;
--help) exec {qemu} --help ;;
esac
echo "${{SPECIMEN_PLUGIN_LEVEL-unset}}" >>{log}
SPECIMEN_PLUGIN_LEVEL={level} exec {qemu} "$@"
""")
        self.record("-c", "512", "--qemu", wrapper, "--", self.program, "path", self.program,
                    status=42)
        self.assertEqual(self.stdout, "called has a word\n")
        with open(log, encoding="utf-8") as f:
            self.assertEqual(f.read().split(), ["6", level])


if __name__ == "__main__":
    unittest.main()
