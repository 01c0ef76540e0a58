# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Bad input, bad options, bad output: a clear sentence, the right status, bounded memory."""

import json
import os
import pty
import random
import re
import resource
import signal
import subprocess
import time
import unittest

import recording_file
import spetest
from spetest import CommandTest, load_record, spe

COMMANDS = ("report", "annotate", "script", "export", "dump", "check", "gen")


class Usage(CommandTest):
    def test_help(self):
        for args in (("--help",), ("help",), ("-h",)):
            self.assertIn("Commands:", self.good(*args).decode())
        for command in COMMANDS:
            text = self.good(command, "--help").decode()
            self.assertEqual(text, self.good("help", command).decode())
            self.assertEqual(text, self.good(command, "-h").decode())
            self.assertIn("\nExamples:\n  spe ", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertRegex(self.good("--version").decode(), r"^spe \S+\n$")

    def test_help_lists_every_option(self):
        """Every option that the help names exists, and needs a value if it shows one."""
        for command in COMMANDS:
            text = self.good(command, "--help").decode()
            for name, value in re.findall(r"^ .*?(--[a-z-]+)( [A-Z]+)?  ", text, re.M):
                result = spe(command, name)
                message = result.stderr.decode()
                self.assertNotIn("no such option", message)
                self.assertEqual(f"{name}: the option needs a value" in message, bool(value), name)

    def test_no_command(self):
        result = spe()
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"Commands:", result.stderr)
        self.assertEqual(self.bad(2, "frobnicate"), "spe: frobnicate: there is no such command; "
                         "there are record, report, annotate, c2c, diff, script, "
                         "export, dump, check, evlist, buildid-list, gen, sim and vm")
        self.assertIn("spe: nothing: there is no such command", self.bad(2, "help", "nothing"))

    def test_usage_errors(self):
        for args, message in (
                (("dump", "--frob", "x"), "--frob: there is no such option"),
                (("dump", "-q", "x"), "-q: there is no such option"),
                (("dump", "--cpu"), "--cpu: the option needs a value"),
                (("dump", "--offset", "-1", "x"),
                 "--offset: '-1' is not a size (bytes, 0x..., or with K, M or G)"),
                (("dump", "--offset", "20000000000G", "x"),
                 "--offset: '20000000000G' is not a size (bytes, 0x..., or with K, M or G)"),
                (("dump", "--count", "many", "x"), "--count: 'many' is not a number"),
                (("dump", "--count", "1x", "x"), "--count: '1x' is not a number"),
                (("dump", "--count-bits", "13", "x"), "--count-bits: counters have 12 or 16 bits, not 13"),
                (("dump", "--features", "v9", "x"), "--features: 'v9' is not a feature"),
                (("check", "--features", "crr", "x"),
                 "--features: FEAT_SPE_CRR needs FEAT_SPEv1p4"),
                (("check", "--align", "3", "x"),
                 "--align: 3 is not a power of two from 1 to 2048"),
                (("check", "--max-size", "4096", "x"),
                 "--max-size: 4096 is not between 16 and 2048"),
                (("check", "--limit", "few", "x"), "--limit: 'few' is not a number"),
                (("gen", "--mix", "loads=3"),
                 "--mix: 'loads=3' is not load=N, store=N, branch=N or other=N"),
                (("gen", "--mix", "load=0"), "gen: the mix has no operations"),
                (("gen", "--layout", "x"), "--layout: 'x' is not known"),
                (("gen", "--damage", "2"), "--damage: '2' is not a number from 0 to 1"),
                (("gen", "--context", "el3"), "--context: 'el3' is not el1, el2, both or none"),
                (("gen", "--context", "el2"), "gen: CONTEXTIDR_EL2 needs EL2"),
                (("gen", "--period", "0"), "--period: 0 is not between 1 and 1073741824"),
                (("gen", "file"), "file: gen reads no file; the output goes to -o FILE")):
            self.assertEqual(self.bad(2, *args), "spe: " + message)
        self.assertRegex(self.bad(2, "dump", "--cpu", "z80", "x"),
                         r"^spe: --cpu: 'z80' is not known; there are neoverse-n1, ")

    def test_terminal_is_no_place_for_records(self):
        main, side = pty.openpty()
        result = subprocess.run([spetest.SPE, "gen"], stdout=side, stderr=subprocess.PIPE,
                                check=False)
        os.close(side)
        os.close(main)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"is a terminal", result.stderr)


class BadFiles(CommandTest):
    def test_missing(self):
        for command in ("dump", "check"):
            self.assertEqual(self.bad(1, command, "/does/not/exist"),
                             "spe: /does/not/exist: No such file or directory")

    def test_directory(self):
        for command in ("dump", "check"):
            self.assertEqual(self.bad(1, command, self.dir),
                             f"spe: {self.dir}: is a directory; give a file of SPE bytes, or - for "
                             "standard input")

    def test_control_characters_in_a_name(self):
        message = self.bad(1, "dump", "/no/\x1b[31m\n")
        self.assertEqual(message, "spe: /no/\\x1b[31m\\x0a: No such file or directory")

    def test_one_bad_file_does_not_stop_the_others(self):
        result = spe("dump", "/does/not/exist", self.file(load_record()))
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"END", result.stdout)

    def test_damaged_perf_data(self):
        for magic in (b"PERFILE2", b"2ELIFREP"):
            path = self.file(magic + bytes(200))
            for command in ("dump", "check", "report", "script"):
                message = self.bad(1, command, path)
                self.assertTrue(message.startswith(f"spe: {path}: "), message)
                self.assertNotIn(b"perf.data", spe(command, "--raw", path).stderr)
            self.assertIn("--offset is for raw SPE bytes",
                          self.bad(1, "dump", "--offset", 16, path))

    def test_offset_past_the_end(self):
        path = self.file(bytes(10))
        self.assertEqual(self.bad(1, "dump", "--offset", 11, path),
                         f"spe: {path}: offset 11 is past the end, there are 10 bytes")
        self.assertEqual(spe("dump", "--offset", 10, path).returncode, 0)
        self.assertEqual(self.bad(1, "dump", "--offset", 11, "-", stdin=bytes(10)),
                         "spe: standard input: offset 11 is past the end, there are 10 bytes")
        data = load_record() * 3
        self.assertEqual(spe("dump", "--offset", 30, "-", stdin=data).stdout.splitlines()[2:],
                         spe("dump", "--offset", 30, self.file(data)).stdout.splitlines()[2:])

    def test_empty(self):
        path = self.file(b"")
        result = spe("dump", "--raw", path)
        self.assertEqual(result.stdout, b".\n. ... ARM SPE data: size 0 bytes\n")
        self.assertEqual(result.stderr.decode(), f"spe: {path}: there are no bytes to show\n")
        self.assertEqual(result.returncode, 0)
        result = spe("check", "--raw", "-")
        self.assertEqual(result.stderr, b"spe: standard input: there are no bytes to check\n")
        self.assertEqual(result.returncode, 0)

    def test_random_bytes(self):
        """Any bytes are accounted for to the last one, in every view."""
        rng = random.Random(7)
        for size in (1, 2, 9, 100, 5000, 300000):
            data = rng.randbytes(size)
            shown = 0
            for line in spe("dump", "--raw", "-", stdin=data).stdout.decode().splitlines()[2:]:
                self.assertEqual(int(line[3:11], 16), shown)
                shown += len(bytes.fromhex(line[13:61]))
            self.assertEqual(shown, size)
            account = spe("dump", "--raw", "--records", "-v", "-", stdin=data).stderr.decode()
            found = re.search(r"(\d+) bytes = (\d+) in records \+ (\d+) padding \+ (\d+) skipped",
                              account)
            total, *parts = map(int, found.groups())
            self.assertEqual((total, sum(parts)), (size, size), account)
            self.assertIn(spe("check", "--raw", "-", stdin=data).returncode, (0, 1))


class CutWhileRead(CommandTest):
    @unittest.skipIf("under-emulator" in spetest.SPE, "the emulator maps the file by itself")
    def test_sentence(self):
        """Recordings are mapped: somebody who cuts one meanwhile must not crash its reader."""
        path = os.path.join(self.dir, "trace.spe")
        self.good("gen", "--records", 200000, "-o", path)
        with subprocess.Popen([spetest.SPE, "script", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            os.truncate(path, 4096)  # most of the output is still to come
            _, message = process.communicate(timeout=50)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(message.decode(),
                         "spe: a file became shorter, or could not be read, while it was read: "
                         "try again when it is complete\n")


class PerfData(CommandTest):
    """dump and check find the bytes of a perf.data: what they say is what they say of the bytes."""

    def recording(self, cpus, cut=0):
        """A recording, and the bytes of each CPU. Records straddle its AUX buffers."""
        recording = recording_file.Recording(cpus)
        streams = []
        for cpu in range(cpus):
            data = self.good("gen", "--records", 50, "--cpu", "neoverse-n1", "--seed", cpu, "-o", "-")
            streams.append(data)
        for at in range(0, len(streams[0]), 200):
            for cpu in range(cpus):
                recording.aux(cpu, streams[cpu][at:at + 200])
        path = os.path.join(self.dir, "perf.data")
        recording.write(path)
        if cut:
            with open(path, "r+b") as f:
                f.truncate(os.path.getsize(path) - cut)
        return path, streams

    def bare(self, *args, data):
        return self.good(*args, "--cpu", "neoverse-n1", self.file(data)).decode()

    def test_dump(self):
        path, streams = self.recording(3)
        for view in ([], ["--records"], ["--json"]):
            expected = ""
            for cpu, data in enumerate(streams):
                text = self.bare("dump", *view, data=data)
                if not view:
                    first, second, rest = text.split("\n", 2)
                    text = f"{first}\n{second}\n. ... CPU {cpu}\n{rest}"
                elif view == ["--records"]:
                    text = f"{path}, CPU {cpu}:\n{text}"
                expected += text
            self.assertEqual(self.good("dump", *view, path).decode(), expected)
            with open(path, "rb") as f:
                piped = self.good("dump", *view, "-", stdin=f.read()).decode()
            self.assertEqual(piped, expected.replace(path, "standard input"))
        self.assertEqual(len(self.good("dump", "--json", "--count", 70, path).splitlines()), 70)

    def test_no_room_for_a_copy(self):
        # What comes through a pipe is copied; if that fails, it is not the input's fault.
        with open(self.recording(1)[0], "rb") as f:
            data = f.read()
        for command in ("report", "script", "dump", "check"):
            result = spe(command, "-", stdin=data, env={"TMPDIR": "/nowhere"})
            self.assertEqual(result.returncode, 1, command)
            self.assertRegex(result.stderr.decode(), r"^spe: .*: this cannot be read twice, and "
                             r"there is no room for a copy in /nowhere: No such file .*TMPDIR\n")

    def test_check(self):
        path, streams = self.recording(2)
        summary = json.loads(self.good("check", "--json", path))
        self.assertEqual((summary["good"], summary["records"], summary["cpu"], summary["bytes"]),
                         (True, 100, "neoverse-n1", sum(map(len, streams))))
        broken = spe("check", "--cpu", "neoverse-n1", "--max-size", 32, path)
        self.assertEqual(broken.returncode, 1)
        self.assertRegex(broken.stdout.decode(), r"^CPU 0:\n[^:]+: oversize")

    def test_cut_off(self):
        path, streams = self.recording(2, cut=3000)
        result = spe("check", "--json", path)
        summary = json.loads(result.stdout.splitlines()[-1])
        self.assertLess(0, summary["bytes"])
        self.assertLess(summary["bytes"], sum(map(len, streams)))
        self.assertEqual((result.returncode, summary["good"]), (1, False))
        self.assertRegex(result.stderr, rb"damaged at byte \d+: .*; \d+ bytes are missing")

    def test_no_samples(self):
        """All were filtered out: there is nothing wrong with that."""
        path = os.path.join(self.dir, "perf.data")
        recording_file.Recording(1).write(path)
        for command, verb in (("dump", "show"), ("check", "check")):
            result = spe(command, path)
            self.assertEqual((result.returncode, result.stderr.decode()),
                             (0, f"spe: {path}: there are no bytes to {verb}\n"))
        self.assertNotIn(b"PC", spe("dump", path).stdout)
        self.assertIn(b"good", spe("check", path).stdout)

    def test_no_spe(self):
        recording = recording_file.Recording(1)
        recording.data, recording.size = [recording_file.record(68, b"")], 8  # FINISHED_ROUND
        path = os.path.join(self.dir, "perf.data")
        recording.write(path)
        for command in ("dump", "check", "report", "script"):
            self.assertEqual(self.bad(1, command, path),
                             f"spe: {path}: is a perf.data file without SPE data: record with "
                             "-e arm_spe//")


class Large(CommandTest):
    def measured(self, *args):
        """Run; the largest memory in bytes, standard output and error, the exit status."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.dup2(write, 1)
            os.dup2(write, 2)
            os.close(read)
            os.execvp(spetest.SPE, [spetest.SPE, *args])
        os.close(write)
        with open(read, "rb") as f:
            text = f.read()
        _, status, usage = os.wait4(pid, 0)
        return (usage.ru_maxrss * 1024, text.decode(),
                os.waitstatus_to_exitcode(status))

    def test_sparse_file(self):
        """10 GB of zeros: full accounting, bounded memory, and no long wait."""
        path = self.file(b"")
        size = 10 * 1000**3
        try:
            os.truncate(path, size)
        except OSError:
            self.skipTest("the file system does not take a file of 10 GB")
        for command in (("check", "--raw"), ("dump", "--raw", "--records", "-v")):
            memory, text, status = self.measured(*command, path)
            self.assertEqual(status, 0, text)
            self.assertRegex(text, rf"(padding between them +{size}|\+ {size} padding)")
            if "under-emulator" not in spetest.SPE:
                self.assertLess(memory, 64 << 20)  # with what this script had before exec

    def test_sparse_file_with_data(self):
        """A record between two holes is found where it is."""
        path = self.file(b"")
        os.truncate(path, 3_000_000)
        with open(path, "r+b") as f:
            f.seek(1_000_003)
            f.write(load_record(9))
        lines = self.good("dump", "--raw", "--records", path).decode().splitlines()
        self.assertEqual([line[:8] for line in lines], [f"{1_000_003:08x}"])

    def test_memory_does_not_grow(self):
        path = os.path.join(self.dir, "big")
        self.good("gen", "--records", 1_000_000, "--cpu", "neoverse-n1", "-o", path)
        self.assertEqual(os.path.getsize(path), 64_000_000)
        for command in (("check", "--cpu", "neoverse-n1"), ("dump", "--offset", "60M")):
            memory, _, status = self.measured(*command, path)
            self.assertEqual(status, 0)
            if "under-emulator" not in spetest.SPE:
                self.assertLess(memory, 64 << 20)  # with what this script had before exec


class Progress(CommandTest):
    def slowly(self, on_terminal):
        """Feed it for three seconds; what it writes on standard error."""
        main, side = pty.openpty()
        process = subprocess.Popen([spetest.SPE, "check", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL,
                                   stderr=side if on_terminal else subprocess.PIPE)
        for _ in range(8):
            process.stdin.write(load_record())
            process.stdin.flush()
            time.sleep(0.4)
        process.stdin.close()
        process.wait()
        os.close(side)
        if on_terminal:
            text = b""
            try:
                while chunk := os.read(main, 10000):
                    text += chunk
            except OSError:  # the other side is closed and all is read
                pass
        else:
            text = process.stderr.read()
            process.stderr.close()
        os.close(main)
        return text

    def test_only_on_a_terminal(self):
        text = self.slowly(True)
        self.assertIn(b"standard input: 0.0 M", text)
        self.assertTrue(text.endswith(b"\r\x1b[K"), text)  # and wiped away
        self.assertEqual(self.slowly(False), b"")


class BadOutput(CommandTest):
    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        path = self.file(load_record())
        for args in (("dump", path), ("dump", "--json", path), ("check", path), ("gen",),
                     ("gen", "-o", "/dev/full"), ("--help",)):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([spetest.SPE, *args], stdout=full, stderr=subprocess.PIPE,
                                        check=False)
            self.assertEqual(result.returncode, 1, args)
            self.assertEqual(result.stderr.count(b"\n"), 1, result.stderr)
            self.assertRegex(result.stderr, rb"^spe: (standard output|/dev/full): ")

    def test_closed_pipe(self):
        """The reader goes away: the writer ends at once and quietly."""
        path = os.path.join(self.dir, "big")
        self.good("gen", "--records", 200_000, "-o", path)
        start = time.monotonic()
        process = subprocess.Popen([spetest.SPE, "dump", path], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b".\n")
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertEqual(process.wait(), -signal.SIGPIPE)
        self.assertLess(time.monotonic() - start, 30)

    def test_closed_pipe_with_the_signal_ignored(self):
        path = os.path.join(self.dir, "big")
        self.good("gen", "--records", 200_000, "-o", path)
        process = subprocess.Popen([spetest.SPE, "dump", path], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, restore_signals=False,
                                   preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"spe: standard output: Broken pipe\n")
        process.stderr.close()
        self.assertEqual(process.wait(), 1)

    def test_output_that_cannot_be_made(self):
        self.assertEqual(self.bad(1, "gen", "-o", "/does/not/exist"),
                         "spe: /does/not/exist: No such file or directory")
        self.assertEqual(self.bad(1, "gen", "-o", os.devnull, "--truth", "/does/not/exist"),
                         "spe: /does/not/exist: No such file or directory")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
