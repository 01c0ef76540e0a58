# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe record: each thing that goes wrong gets one clear sentence."""

import os
import stat
import subprocess
import sys
import unittest

import recordtest
from recordtest import RecordTest

recordtest.require()


class Errors(RecordTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile("count.S", "-nostdlib", "-static", "-DLOOPS=1000")

    def refuse(self, pattern, *args, status=2, **kwargs):
        """It must end with the status, and its first sentence must be this one."""
        result = self.run_record(*args, **kwargs)
        lines = [line for line in result.stderr.decode().splitlines() if line.startswith("spe: ")]
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertRegex(lines[0], pattern)

    def fake(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        return path

    def test_these_tests_know_what_they_need(self):
        """A QEMU without plugins is a reason to skip, not one to fail."""
        self.fake("qemu-aarch64", "#!/bin/sh\necho usage\n")
        env = dict(os.environ, PATH=f"{self.dir}:{os.environ['PATH']}", XDG_CACHE_HOME=self.dir)
        said = subprocess.run([sys.executable, "-c", "import recordtest; print(recordtest.missing())"],
                              cwd=recordtest.HERE, env=env, capture_output=True, check=True,
                              text=True).stdout
        self.assertRegex(said, "no qemu-aarch64 with plugins")

    def test_program(self):
        self.refuse(r"^spe: record: there is no program", *())
        self.refuse(r"^spe: ./nothing: No such file", "./nothing")
        self.refuse(r"^spe: nothing-at-all: there is no such program in PATH", "nothing-at-all")
        self.refuse(r"^spe: /bin/true: this program is for .*compiled for AArch64", "/bin/true")
        self.refuse(r"^spe: .*: this is neither an ELF program nor a script",
                    self.fake("text", "hello\n"))
        self.refuse(r"^spe: .*: its interpreter /no/such does not exist",
                    self.fake("script", "#!/no/such\n"))
        self.refuse(r"^spe: .*: this is not a regular file", self.dir)
        os.chmod(self.program, 0o644)
        self.refuse(r"^spe: .*: this file may not be executed", self.program)

    def test_loader(self):
        dynamic = self.compile("signals.c")
        self.refuse(r"^spe: .*: its loader /lib/ld-linux-aarch64.so.1 is not in /nowhere; install "
                    r".*libc6-arm64-cross", "-L", "/nowhere", dynamic)

    def test_qemu(self):
        self.refuse(r"^spe: qemu-aarch64: there is no QEMU .*install the package qemu-user",
                    self.program, env={"PATH": self.dir, "HOME": self.dir, "XDG_CACHE_HOME": ""})
        self.refuse(r"^spe: .*: there is no such program", "--qemu", "./nothing", self.program)
        self.refuse(r"^spe: /bin/true: this is not QEMU's user mode", "--qemu", "/bin/true",
                    self.program)
        plain = self.fake("qemu-aarch64", "#!/bin/sh\n"
                                          "echo qemu-aarch64 version 10.0.2\n")
        self.refuse(r"^spe: .*: this QEMU was built without plugins", "--qemu", plain,
                    self.program)
        self.refuse(r"^spe: .*/qemu-aarch64: this QEMU was built without plugins.*build-qemu",
                    self.program, env={"PATH": self.dir, "HOME": self.dir, "XDG_CACHE_HOME": ""})

    def test_plugin(self):
        self.refuse(r"^spe: /nowhere: SPECIMEN_PLUGIN names a plugin that cannot be read",
                    self.program, env={"SPECIMEN_PLUGIN": "/nowhere"})
        self.refuse(r"^spe: .*: QEMU ended with status \d+ before the plugin could start",
                    "-q", self.program, status=1, env={"SPECIMEN_PLUGIN": "/etc/passwd"})

    def test_output(self):
        self.refuse(r"^spe: /nowhere/x.data: .*No such file", "-o", "/nowhere/x.data",
                    self.program)
        # The disk is full from the beginning: nothing is run.
        self.refuse(r"^spe: /dev/full: .*No space left", "-o", "/dev/full", self.program)

    def test_full_disk(self):
        # The disk becomes full while the program runs: it runs on, and the rest can be read.
        program = self.compile("memory.c", "-O2", "-static")
        limit = f"ulimit -f 1100; exec {recordtest.SPE} record -o {self.data} -c 256 -- {program}"
        result = recordtest.run_shell(f"trap '' XFSZ; {limit}")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"(?m)^spe: .*perf.data: .*File too large")
        self.check()
        self.assertGreater(len(self.samples()), 10)

    def test_options(self):
        for args, pattern in (
                (("-e", "cycles"), "^spe: cycles: the event must be arm_spe"),
                (("-e", "arm_spe/sheep=1/"), "^spe: sheep: an SPE event has no such term"),
                (("-e", "arm_spe/jitter=2/"), "^spe: jitter: 2 is too large, it has 1 bits"),
                (("-e", "arm_spe/min_latency=x/"), "^spe: x: this is not a number for min_latency"),
                (("-e", "arm_spe/jitter=1"), "^spe: arm_spe/jitter=1: the event must end"),
                (("-e", "arm_spe/inv_event_filter=2/"), "^spe: inv_event_filter: the SPE of "
                                                        "neoverse-n1 cannot do this"),
                (("--cpu", "i486"), "^spe: i486: there is no model of such a CPU"),
                (("--model", "toy"), "^spe: toy: the model is none, functional or core"),
                (("--cpus", "0"), "^spe: --cpus: "),
                (("--duration", "-1"), "^spe: -1: --duration takes"),
                (("-c", "many"), "^spe: --count: ")):
            self.refuse(pattern, *args, self.program)


if __name__ == "__main__":
    unittest.main()
