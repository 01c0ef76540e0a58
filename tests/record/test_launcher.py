# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe record: a launcher that is slow, short of descriptors, blocked, or killed."""

import fcntl
import os
import re
import resource
import signal
import struct
import subprocess
import termios
import time
import unittest

import recordtest
from recordtest import SPE, RecordTest

recordtest.require()


def waiting(fd):
    """Bytes that a pipe holds."""
    return struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"1234"))[0]


class Launcher(RecordTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile("crowd.c", "-O1", "-static")

    def start(self, *args, data=None, **kwargs):
        """A recording whose program has said its pid and waits for a word."""
        recorder = subprocess.Popen([SPE, "record", "-o", data or self.data, *args],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, **kwargs)
        self.addCleanup(recorder.kill)
        for pipe in (recorder.stdin, recorder.stdout, recorder.stderr):
            self.addCleanup(pipe.close)
        pid = int(recorder.stdout.readline())
        self.addCleanup(self.kill, pid)
        return recorder, pid

    def kill(self, pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    @staticmethod
    def command(pid):
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read()

    @staticmethod
    def cpu(pid):
        """Seconds that the process itself has worked."""
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait_until(self, condition):
        for _ in range(2000):
            if condition():
                return
            time.sleep(0.02)
        self.fail("nothing happened")

    # ---- nothing is lost -------------------------------------------------------------------------

    def become(self, stopped):
        """Record an exec; the sampled places, and how many maps there are."""
        recorder, pid = self.start("-c", "2048", "--", self.program, "become")
        if stopped:
            recorder.send_signal(signal.SIGSTOP)
        recorder.stdin.write(b"x")
        recorder.stdin.flush()
        if stopped:
            # The second program is there, and nobody has read a word of the first one's.
            self.wait_until(lambda: self.command(pid).endswith(b"\0work\0"))
            time.sleep(0.5)
            recorder.send_signal(signal.SIGCONT)
        _, errors = recorder.communicate()
        self.assertEqual(recorder.returncode, 0, errors)
        self.assertRegex(errors.decode(), r"\(1 process, 1 thread\)\n$")
        maps = sum(kind == 10 for kind, _, _ in self.perf_records())
        return [s["pc"]["address"] for s in self.samples()], maps

    def test_slow_launcher(self):
        samples, maps = self.become(stopped=False)
        self.assertGreater(len(samples), 1000) # and no more than a socket holds
        self.assertGreater(maps, 80)
        self.assertEqual(self.become(stopped=True), (samples, maps))

    def test_left_behind(self):
        # A process that goes on talking does not keep the recorder, and is told of.
        result = self.run_record("--", self.program, "leave")
        os.kill(int(result.stdout), signal.SIGKILL)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"1 process of it still runs, but is no longer recorded", result.stderr)
        self.check()

    # ---- descriptors -----------------------------------------------------------------------------

    def limited(self, limit):
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit)

    def test_own_limit(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        for limit in ((50, hard), (50, 60)):
            result = self.run_record("--", self.program, "limits",
                                     preexec_fn=self.limited(limit))
            self.assertEqual(result.stdout.decode(), f"{limit[0]} {limit[1]}\n")
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_soft_limit(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        summary = self.record("--", self.program, "crowd", "40",
                              preexec_fn=self.limited((30, hard)))
        self.assertEqual((summary.processes, summary.threads), (41, 41))

    def test_hard_limit(self):
        # Some run unrecorded, which is said, and nobody waits for anybody.
        result = self.run_record("--", self.program, "crowd", "60",
                                 preexec_fn=self.limited((45, 45)))
        text = result.stderr.decode()
        self.assertEqual(result.returncode, 1, text)
        found = re.search(r"crowd: (\d+) processes ran without being recorded: .*ulimit -n", text)
        recorded = recordtest.SUMMARY.search(text)
        self.assertEqual(int(found[1]) + int(recorded["processes"]), 61, text)
        self.assertGreater(int(recorded["processes"]), 10)
        self.check()

    def test_cannot_accept(self):
        # The next program waits for an answer, and the recorder for a descriptor, but not busily.
        recorder, pid = self.start("--", self.program, "become")
        soft, hard = resource.prlimit(recorder.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(recorder.pid, resource.RLIMIT_NOFILE, (3, hard))
        recorder.stdin.write(b"x")
        recorder.stdin.flush()
        self.wait_until(lambda: self.command(pid).endswith(b"\0work\0"))
        time.sleep(1)
        before = self.cpu(recorder.pid)
        time.sleep(1)
        self.assertLess(self.cpu(recorder.pid) - before, 0.1)
        self.assertIsNone(recorder.poll())
        resource.prlimit(recorder.pid, resource.RLIMIT_NOFILE, (soft, hard))
        recorder.communicate()
        self.assertIn(recorder.returncode, (0, 1))  # 1: the first one's files could not be read
        self.assertGreater(len(self.samples()), 100)

    def test_no_standard_descriptors(self):
        # What is opened for the recording does not get their numbers.
        result = subprocess.run([SPE, "record", "-o", self.data, "--", self.program, "work"],
                                preexec_fn=lambda: os.closerange(0, 3), check=False)
        self.assertEqual(result.returncode, 0)
        self.check()
        self.assertGreater(len(self.samples()), 100)

    # ---- odd files -------------------------------------------------------------------------------

    def test_mapped_fifo(self):
        path = os.path.join(self.dir, "mapped")
        self.assertGreater(self.record("--", self.program, "fifo", path).records, 50)
        self.assertTrue(os.path.exists(path + " (deleted)"))

    def test_too_large(self):
        program = self.compile("memory.c", "-O2", "-static")
        result = self.run_record("-c", "256", "--", program, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (600000, resource.RLIM_INFINITY)))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr.decode(), r"(?m)^spe: .*perf.data: .*File too large")

    def test_no_reader(self):
        script = f"{SPE} record -o - -c 512 -- {self.program} work | head -c 100 >/dev/null; " \
                 "echo ${PIPESTATUS[0]}"
        result = recordtest.run_shell(script)
        self.assertEqual(result.stdout, "1\n", result.stderr)
        self.assertRegex(result.stderr, r"(?m)^spe: -: .*Broken pipe")

    # ---- signals ---------------------------------------------------------------------------------

    def test_blocked(self):
        # Nobody reads the FIFO any more: the recorder waits in a write, and ends nevertheless.
        for number in (signal.SIGTERM, signal.SIGINT):
            fifo = os.path.join(self.dir, f"fifo{number}")
            os.mkfifo(fifo)
            reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
            recorder, _ = self.start("-c", "256", "--", self.program, "stubborn", data=fifo)
            recorder.stdin.write(b"x")
            recorder.stdin.flush()

            # It writes every second as long as it can.
            def is_blocked(fd=reader):
                before = waiting(fd)
                time.sleep(3)
                return before > 16384 and waiting(fd) == before
            self.wait_until(is_blocked)
            recorder.send_signal(number)
            self.assertEqual(recorder.wait(200), -number)
            os.close(reader)

    def test_open(self):
        # A FIFO that nobody reads, before anything has begun.
        fifo = os.path.join(self.dir, "fifo")
        os.mkfifo(fifo)
        recorder = subprocess.Popen([SPE, "record", "-o", fifo, "--", self.program])
        time.sleep(0.5)
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(200), -signal.SIGINT)

    def test_stubborn_program(self):
        # It ignores SIGTERM. The second one is ours.
        recorder, _ = self.start("--", self.program, "stubborn")
        recorder.stdin.write(b"x")
        recorder.stdin.flush()
        recorder.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        self.assertIsNone(recorder.poll())
        recorder.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.wait(200), 128 + signal.SIGTERM)
        self.check()


if __name__ == "__main__":
    unittest.main()
