# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""spe record: threads, children, other programs, libraries, signals, and sudden ends."""

import collections
import os
import signal
import subprocess
import time
import unittest

import recordtest
from recordtest import SPE, RecordTest

recordtest.require()

TASKS = ("-O1", "-pthread")
STATIC = (*TASKS, "-static", "-DSTATIC")


class Tasks(RecordTest):
    def by_thread(self):
        """How many of perf's samples each (comm, thread, function) has."""
        return collections.Counter(
            (s[0], s[1], s[3]) for s in self.perf_samples("comm", "tid", "ip", "sym") if len(s) > 3)

    def test_threads(self):
        program = self.compile("tasks.c", *TASKS)
        summary = self.record("-c", "512", "--", program, "threads")
        self.assertEqual((summary.processes, summary.threads), (1, 3))
        self.check()
        seen = self.by_thread()
        left = {(c, t) for c, t, f in seen if f == "left_work"}
        right = {(c, t) for c, t, f in seen if f == "right_work"}
        main = {(c, t) for c, t, f in seen if f == "main"} | {(c, t) for c, t, f in seen
                                                             if f == "threads"}
        self.assertEqual([c for c, _ in left if c == "lefty"], ["lefty"])
        self.assertEqual({t for _, t in left} & {t for _, t in right}, set())
        self.assertEqual({c for c, _ in right}, {"tasks"})
        self.assertLessEqual(len(main), 1)
        self.assertEqual(len({t for _, t in left}), 1)
        self.assertEqual(len({t for _, t in right}), 1)

    def test_shared_cpus(self):
        program = self.compile("tasks.c", *TASKS)
        self.record("-c", "512", "--cpus", "2", "--", program, "threads")
        self.check()
        self.assertNotIn(b"warnings", self.good("report", self.data))
        cpus = {s[0] for s in self.perf_samples("cpu", "ip")}
        self.assertEqual(cpus, {"[000]", "[001]"})
        functions = {f for _, _, f in self.by_thread()}
        self.assertTrue({"left_work", "right_work"} <= functions)

    def test_family(self):
        for flags in (TASKS, STATIC):
            program = self.compile("tasks.c", *flags)
            other = self.compile("tasks.c", *flags, name="another")
            summary = self.record("-c", "512", "--", program, "family", other, status=42)
            self.assertEqual((summary.processes, summary.threads), (2, 2))
            self.check()
            seen = self.by_thread()
            child = {(c, t) for c, t, f in seen if f == "child_work"}
            new = {(c, t) for c, t, f in seen if f == "new_program_work"}
            self.assertEqual({c for c, _ in child}, {"tasks"})
            self.assertEqual({c for c, _ in new}, {"another"})
            self.assertEqual({t for _, t in child}, {t for _, t in new})
            text = self.perf("script", "--show-task-events", "--no-itrace")
            pid = new.pop()[1]
            self.assertRegex(text, rf"PERF_RECORD_FORK\({pid}:{pid}\)")
            self.assertRegex(text, rf"PERF_RECORD_COMM exec: another:{pid}/{pid}")
            self.assertRegex(text, rf"PERF_RECORD_EXIT\({pid}:{pid}\)")

    def test_script(self):
        program = self.compile("tasks.c", *STATIC)
        script = os.path.join(self.dir, "script")
        with open(script, "w", encoding="utf-8") as f:
            f.write(f"#!{program} work\n")
        os.chmod(script, 0o755)
        for args in ((script,), (program, "family", script)):
            self.record("-c", "512", "--", *args, status=42)
            self.assertIn("new_program_work", {f for _, _, f in self.by_thread()})

    def test_host_program(self):
        # What is not for AArch64 is QEMU's business, and the recording goes on.
        program = self.compile("tasks.c", *TASKS)
        summary = self.record("-c", "512", "--", program, "family", "/bin/true")
        self.assertEqual(summary.processes, 2)
        self.assertIn("child_work", {f for _, _, f in self.by_thread()})

    def test_library(self):
        library = self.compile("library.c", "-O1", "-shared", "-fPIC", name="liblate.so")
        program = self.compile("tasks.c", *TASKS)
        self.record("-c", "512", "--", program, "library", library, status=43)
        self.assertIn("library_work", {f for _, _, f in self.by_thread()})

    def test_closed_descriptors(self):
        program = self.compile("tasks.c", *TASKS)
        summary = self.record("-c", "512", "--", program, "close")
        self.assertEqual((summary.processes, summary.threads), (1, 1))
        self.assertIn("new_program_work", {f for _, _, f in self.by_thread()})
        self.assertEqual(len(self.samples()), summary.records)


class Ends(RecordTest):
    def test_signals(self):
        program = self.compile("signals.c", "-O1")
        self.record("-c", "512", "--", program, "alarm", status=6)
        self.check()
        names = {s[1] for s in self.perf_samples("ip", "sym") if len(s) > 1}
        self.assertTrue({"on_alarm", "spin"} <= names, names)

    def test_sudden_ends(self):
        # Whatever ends the program, nothing that was sampled is lost.
        program = self.compile("signals.c", "-O1")
        for what, number in (("fault", signal.SIGSEGV), ("abort", signal.SIGABRT),
                             ("kill", signal.SIGKILL)):
            result = self.run_record("-c", "512", "--", program, what)
            text = result.stderr.decode()
            self.assertEqual(result.returncode, 128 + number, text)
            self.assertIn(f"ended by signal {int(number)} ", text)
            self.check()
            self.assertEqual(len(self.samples()), int(recordtest.SUMMARY.search(text)["records"]))
            names = collections.Counter(s[1] for s in self.perf_samples("ip", "sym") if len(s) > 1)
            self.assertGreater(names["spin"], 200000 * 4 / 512 / 2)

    def test_duration(self):
        program = self.compile("signals.c", "-O1")
        self.record("--duration", "0.5", "--", program, "wait", os.path.join(self.dir, "pid"),
                    os.path.join(self.dir, "never"), os.path.join(self.dir, "done"))
        self.assertFalse(os.path.exists(os.path.join(self.dir, "done")))
        self.check()

    def start(self, *args):
        """Start a recording of a program that waits; its recorder and its own pid."""
        program = self.compile("signals.c", "-O1")
        paths = [os.path.join(self.dir, name) for name in ("pid", "go", "done")]
        recorder = subprocess.Popen([SPE, "record", "-o", self.data, "-c", "512", *self.options,
                                     *args, "--", program, "wait", *paths], stderr=subprocess.PIPE)
        self.addCleanup(recorder.stderr.close)
        while not os.path.exists(paths[0]) or not os.path.getsize(paths[0]):
            time.sleep(0.02)
            self.assertIsNone(recorder.poll())
        with open(paths[0], encoding="utf-8") as f:
            return recorder, int(f.read()), paths

    def test_killed_program(self):
        recorder, pid, _ = self.start()
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(recorder.wait(40), 128 + signal.SIGKILL)
        self.check()
        self.assertGreater(len(self.samples()), 200000 * 4 / 512 / 2)

    def test_interrupt(self):
        recorder, _, paths = self.start()
        recorder.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(40), 128 + signal.SIGINT)
        self.check()
        self.assertFalse(os.path.exists(paths[2]))
        self.assertGreater(len(self.samples()), 100)

    def test_killed_recorder(self):
        # The program goes on, and what was written before can be read.
        recorder, _, paths = self.start()
        while not self.has_samples():
            time.sleep(0.05)
            self.assertIsNone(recorder.poll())
        recorder.kill()
        recorder.wait(40)
        with open(paths[1], "w", encoding="utf-8"):
            pass
        while not os.path.exists(paths[2]):
            time.sleep(0.02)
        self.check()
        self.assertGreater(len(self.samples()), 10)
        self.assertGreater(len(self.perf_samples("ip")), 10)

    def has_samples(self):
        try:
            return bool(self.aux())
        except AssertionError:
            return False


class CoreTasks(Tasks):
    options = ("--model", "core")


class CoreEnds(Ends):
    options = ("--model", "core")


if __name__ == "__main__":
    unittest.main()
