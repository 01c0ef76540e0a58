# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe record: what is in its file before and afterwards, and what the file says of itself."""

import json
import os
import pty
import signal
import subprocess
import time
import unittest

import recordtest
from recordtest import SPE, RecordTest, run_shell, spe

recordtest.require()

READERS = (("report",), ("script",), ("export", "--format", "csv"))
SENTENCE = "the recording is not complete: the recorder was ended, or could not write"


STATUS = 5  # of the program, if all is well


class Output(RecordTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile("count.S", "-nostdlib", "-static", "-DLOOPS=100000",
                                    name="program")

    def start(self, *args, **kwargs):
        return subprocess.Popen([SPE, "record", *args], cwd=self.dir, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, **kwargs)

    def content(self, name):
        with open(os.path.join(self.dir, name), "rb") as f:
            return f.read()

    # ---- before ---------------------------------------------------------------------------------

    def test_the_old_recording_stays(self):
        for name in ("perf.data", "other.data"):
            old = []
            for seed in (1, 2, 3):
                result = spe("record", "-q", "--seed", seed, "-o", name, self.program, cwd=self.dir)
                self.assertEqual(result.returncode, STATUS, result.stderr)
                old.append(self.content(name))
                if seed > 1:
                    self.assertEqual(self.content(name + ".old"), old[-2])
        # An empty file is not worth it.
        open(os.path.join(self.dir, "empty"), "wb").close()
        spe("record", "-q", "-o", "empty", self.program, cwd=self.dir)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "empty.old")))

    def test_link(self):
        os.mkdir(os.path.join(self.dir, "big"))
        os.symlink("big/target", self.data)
        for _ in range(2):
            self.record(self.program, status=STATUS)
            self.assertTrue(os.path.islink(self.data))
        self.assertEqual(sorted(os.listdir(os.path.join(self.dir, "big"))),
                         ["target", "target.old"])

    def test_the_program_is_not_the_output(self):
        before = self.content("program")
        os.link(self.program, self.data)
        result = spe("record", "-o", self.data, self.program)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr.decode(),
                         f"spe: {self.data}: is the program to be recorded\n")
        self.assertEqual(self.content("program"), before)
        self.assertFalse(os.path.exists(self.data + ".old"))

    def test_terminal(self):
        main, side = pty.openpty()
        result = subprocess.run([SPE, "record", "-o", "-", self.program], stdout=side,
                                stderr=subprocess.PIPE, check=False)
        os.close(side)
        os.close(main)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, b"spe: standard output: is a terminal, and a recording is "
                                        b"not text; give -o FILE\n")

    def test_fifo_without_a_reader(self):
        fifo = os.path.join(self.dir, "fifo")
        os.mkfifo(fifo)
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.start("-o", fifo, self.program) as process:
                time.sleep(1)  # by now it waits, most likely; earlier the signal ends it as well
                process.send_signal(number)
                try:
                    process.wait(timeout=50)
                except subprocess.TimeoutExpired:
                    process.kill()
            self.assertEqual(process.returncode, -number)
        # With a reader it is a recording.
        with self.start("-q", "-o", fifo, self.program) as process:
            with open(fifo, "rb") as f:
                data = f.read()
        self.assertEqual(process.returncode, STATUS)
        self.assertEqual(spe("check", "-", stdin=data).returncode, 0)

    # ---- several --------------------------------------------------------------------------------

    def test_six_at_once(self):
        """Nobody writes into another one's file; who cannot write says so and runs nothing."""
        slow = self.compile("count.S", "-nostdlib", "-static", "-DLOOPS=3000000", name="slow")
        self.record(self.program, status=STATUS)
        first = self.content("perf.data")
        processes = [self.start("-q", "--seed", str(i), slow) for i in range(6)]
        results = [(process.communicate()[1].decode(), process.returncode)
                   for process in processes]
        winners = [result for result in results if result == ("", STATUS)]
        for message, status in results:
            if status != STATUS:
                self.assertEqual(status, 2)
                self.assertRegex(message, r"^spe: perf.data: another recording is being written to "
                                          r"it: wait, or give another name with -o\n$")
        self.assertTrue(winners, results)
        self.assertEqual(sorted(name for name in os.listdir(self.dir) if "data" in name),
                         ["perf.data", "perf.data.old"])
        for name in ("perf.data", "perf.data.old"):
            self.good("check", os.path.join(self.dir, name))
        if len(winners) == 1:
            self.assertEqual(self.content("perf.data.old"), first)

    def test_while_another_one_writes(self):
        """The file of a recording that goes on is nobody else's, however full it is."""
        self.record(self.program, status=STATUS)
        first = self.content("perf.data")
        slow = self.compile("count.S", "-nostdlib", "-static", "-DLOOPS=2000000000", name="slow")
        with self.start("-q", "-o", self.data, "-c", "1024", slow) as process:
            while self.content("perf.data") == first or os.path.getsize(self.data) < 100000:
                time.sleep(0.05)
            result = spe("record", "-q", "-o", self.data, self.program)
            process.send_signal(signal.SIGINT)
            process.communicate()
        self.assertEqual((result.returncode, result.stderr.decode()), (
            2, f"spe: {self.data}: another recording is being written to it: wait, or give another "
               "name with -o\n"))
        self.assertEqual(self.content("perf.data.old"), first)
        self.assertGreater(os.path.getsize(self.data), 100000)
        self.good("check", self.data)

    # ---- the end --------------------------------------------------------------------------------

    def expect_incomplete(self):
        result = spe("check", "--json", self.data)
        summary = json.loads(result.stdout.splitlines()[-1])
        self.assertEqual((result.returncode, summary["good"], summary["complete"],
                          summary["damage"]), (1, False, False, None))
        self.assertIn(SENTENCE, result.stderr.decode())
        self.assertIn("the recording is not complete", spe("check", self.data).stdout.decode())
        for command in READERS:
            result = spe(*command, self.data)
            self.assertEqual(result.returncode, 0, result.stderr)
            text = result.stdout if command == ("report",) else result.stderr
            self.assertIn(SENTENCE, " ".join(text.decode().split()))
        copy = os.path.join(self.dir, "copy")
        spe("export", "--format", "perf", "-o", copy, self.data)
        self.assertEqual(spe("check", copy).returncode, 1)

    def perf_messages(self):
        """What perf says of the file, apart from what it says of every SPE recording."""
        usual = ("Only instruction-based sampling", "unwind: target platform=arm64")
        perf = recordtest.perf_file.find_perf()
        if not perf:
            self.skipTest("there is no perf")
        messages = []
        for command in (("script",), ("report", "--header-only"), ("evlist",)):
            result = subprocess.run([*perf, *command, "-i", self.data], capture_output=True,
                                    text=True, errors="replace", check=False, cwd=self.dir)
            self.assertEqual(result.returncode, 0, result.stderr)
            messages += [line for line in result.stderr.splitlines()
                         if line and not line.startswith(usual)]
        return messages

    def test_complete(self):
        self.record(self.program, status=STATUS)
        self.good("check", self.data)
        for command in READERS:
            self.assertNotIn(SENTENCE.encode(), self.good(*command, self.data))
        self.assertEqual(self.perf_messages(), [])

    def test_killed_launcher(self):
        slow = self.compile("count.S", "-nostdlib", "-static", "-DLOOPS=2000000000", name="slow")
        with self.start("-o", self.data, "-c", "1024", slow) as process:
            while not os.path.exists(self.data) or os.path.getsize(self.data) < 200000:
                time.sleep(0.05)
            children = run_shell(f"cat /proc/{process.pid}/task/*/children").stdout.split()
            process.kill()
            process.stderr.close()
            process.wait()
            for child in children:
                os.kill(int(child), signal.SIGKILL)
        self.expect_incomplete()
        self.assertGreater(len(self.samples()), 100)
        self.assertEqual(self.perf_messages(), [])

    def test_full_disk(self):
        program = self.compile("memory.c", "-O2", "-static")
        result = run_shell(f"trap '' XFSZ; ulimit -f 1100; exec {SPE} record -o {self.data} -c 256 "
                           f"-- {program}")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.expect_incomplete()
        self.assertEqual(self.perf_messages(), [])  # perf 7.2 says if the machine is not described
        recording = json.loads(self.good("report", "--json", self.data))["recording"]
        self.assertTrue(recording["simulated"])
        self.assertIn(program, recording["command"])

    def test_pipe(self):
        whole = spe("record", "-q", "-o", "-", self.program).stdout
        self.assertEqual(spe("check", "-", stdin=whole).returncode, 0)
        with open(self.data, "wb") as f:
            f.write(whole[:-8])  # its last record
        self.expect_incomplete()


if __name__ == "__main__":
    unittest.main()
