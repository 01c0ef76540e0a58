# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Outputs never harm inputs or what was there before; nothing that is read hides its damage."""

import functools
import json
import os
import random
import resource
import shutil
import signal
import stat
import struct
import subprocess
import time
import unittest

import recording_file as t
import spetest
from spetest import CommandTest, load_record, spe

READERS = (("report",), ("script",), ("export", "--format", "csv"), ("dump",), ("check",))


def content(path):
    with open(path, "rb") as f:
        return f.read()


class FilesTest(CommandTest):
    def recording(self, name="perf.data", pieces=40):
        """A recording; the offsets of its AUXTRACE records."""
        r = t.Recording(cpus=1)
        for tid in range(1000, 1064):  # that gen has in its records
            r.comm(tid, tid, "worker")
        data = self.good("gen", "--records", 20 * pieces, "--cpu", "neoverse-n1", "--context", "el1")
        for at in range(0, len(data), 20 * 64):
            r.aux(0, data[at:at + 20 * 64])
        path = os.path.join(self.dir, name)
        r.write(path)
        data_at, = struct.unpack_from("<Q", content(path), 40)
        return path, [data_at + at for at in r.index]

    def temporaries(self):
        return [name for name in os.listdir(self.dir) if name.startswith(".spe-")]

    def run_limited(self, *args, size):
        """Run with a largest size of files, and SIGXFSZ ignored: writing fails as on a full disk."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return subprocess.run([spetest.SPE, *map(str, args)], capture_output=True, check=False,
                              preexec_fn=limit, restore_signals=False)


class Outputs(FilesTest):
    def test_export_onto_the_input(self):
        path, _ = self.recording()
        before = content(path)
        link, hard = self.dir + "/link", self.dir + "/hard"
        os.symlink("perf.data", link)
        os.link(path, hard)
        for form in ("csv", "ndjson", "folded", "pprof", "speedscope", "perf", "bolt", "autofdo"):
            for output in (path, link, hard):
                for given in ([path], [hard], []):
                    message = self.bad(1, "export", "--format", form, "-o", output, *given,
                                       cwd=self.dir)
                    self.assertEqual(message, f"spe: {output}: is the input file: give "
                                              "another name for the output")
        with open(path, "rb") as f:
            result = subprocess.run([spetest.SPE, "export", "--format", "csv", "-o", hard, "-"],
                                    stdin=f, capture_output=True, check=False)
        self.assertEqual(result.returncode, 1)
        with open(path, "ab") as f:
            result = subprocess.run([spetest.SPE, "export", "--format", "csv", path], stdout=f,
                                    stderr=subprocess.PIPE, check=False)
        self.assertIn(b"standard output: is the input file", result.stderr)
        self.assertEqual(content(path), before)
        self.assertEqual(self.temporaries(), [])

    def test_an_error_leaves_the_old_file(self):
        path, _ = self.recording()
        for args in (("gen", "--records", 10000), ("export", "--format", "csv", path),
                     ("export", "--format", "perf", path)):
            out = self.file(b"precious", "out")
            result = self.run_limited(*args, "-o", out, size=4096)
            self.assertEqual(result.returncode, 1, args)
            self.assertIn(b"File too large", result.stderr)
            self.assertEqual(content(out), b"precious")
            os.unlink(out)
            self.assertEqual(self.run_limited(*args, "-o", out, size=4096).returncode, 1)
            self.assertFalse(os.path.exists(out))
            self.assertEqual(self.temporaries(), [])

    def test_a_signal_leaves_the_old_file(self):
        out = self.file(b"precious", "out")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # So many records take minutes; it must not write that long into the file itself.
            with subprocess.Popen([spetest.SPE, "gen", "--records", "4000000000", "-o", out],
                                  stderr=subprocess.DEVNULL,  # nohup and "&" have some ignored
                                  preexec_fn=functools.partial(signal.signal, number,
                                                               signal.SIG_DFL)) as process:
                while not self.temporaries() and os.path.getsize(out) < 1 << 20:
                    time.sleep(0.01)
                process.send_signal(number)
            self.assertIn(process.returncode, (-number, 128 + number))
            self.assertEqual(content(out), b"precious")
            self.assertEqual(self.temporaries(), [])

    def test_links_and_modes(self):
        good = self.good("gen", "--records", 10)
        target, link = self.dir + "/target", self.dir + "/link"
        os.symlink("target", link)
        old = os.umask(0o027)
        self.addCleanup(os.umask, old)
        self.good("gen", "--records", 10, "-o", link)  # the link led nowhere
        self.assertTrue(os.path.islink(link))
        self.assertEqual(content(target), good)
        self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o640)
        os.chmod(target, 0o604)
        self.good("gen", "--records", 20, "-o", link)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(len(content(target)), os.path.getsize(link))
        self.assertGreater(len(content(target)), len(good))
        self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o604)

    @unittest.skipIf(os.geteuid() == 0, "root may write every file")
    def test_a_file_that_may_not_be_written(self):
        out = self.file(b"precious", "out")
        os.chmod(out, 0o444)
        self.assertIn("Permission denied", self.bad(1, "gen", "-o", out))
        self.assertEqual(content(out), b"precious")

    def test_what_cannot_be_replaced(self):
        good = self.good("gen", "--records", 10)
        fifo = self.dir + "/fifo"
        os.mkfifo(fifo)
        with subprocess.Popen([spetest.SPE, "gen", "--records", "10", "-o", fifo]):
            self.assertEqual(content(fifo), good)
        self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))
        self.good("gen", "--records", 10, "-o", os.devnull)
        self.assertTrue(stat.S_ISCHR(os.stat(os.devnull).st_mode))
        for output in ("/dev/stdout", "-"):  # what is in the file already stays
            path = self.file(b"first", "log")
            with open(path, "ab") as f:
                subprocess.run([spetest.SPE, "gen", "--records", "10", "-o", output], stdout=f,
                               check=True)
            self.assertEqual(content(path), b"first" + good)

    def test_closed_descriptors(self):
        """A message must not end up in the file that got its number."""
        expected = self.dir + "/expected"
        spe("gen", "--records", 100, "--damage", 0.5, "-o", expected)
        for close in ("2>&-", "<&- 2>&-", "<&- >&- 2>&-"):
            out = self.dir + "/out"
            subprocess.run(["sh", "-c", f"exec {spetest.SPE} gen --records 100 --damage 0.5 "
                                        f"-o {out} {close}"], check=True)
            self.assertEqual(content(out), content(expected), close)
        closed = subprocess.run(["sh", "-c", f"exec {spetest.SPE} gen >&-"], check=False,
                                stderr=subprocess.PIPE)
        self.assertEqual(closed.returncode, 1)
        self.assertEqual(closed.stderr, b"spe: standard output: Bad file descriptor\n")

    def test_cut_of_standard_input(self):
        path, _ = self.recording()
        files = [self.dir + "/one", self.dir + "/two"]
        self.good("export", "--format", "perf", "-o", files[0], path)
        self.good("export", "--format", "perf", "-o", files[1], "-", stdin=content(path))
        self.assertEqual(content(files[0]), content(files[1]))
        self.assertEqual(self.good("script", files[0]), self.good("script", path))


class Damage(FilesTest):
    def check(self, path):
        result = spe("check", "--json", path)
        return result, json.loads(result.stdout.splitlines()[-1])

    def expect_damage(self, path, sentence, gap=False):
        """Every command gives what is intact, says what is wrong, and ends with 1. A stream with a
        gap cannot be cut into a new file."""
        result, summary = self.check(path)
        self.assertEqual((result.returncode, summary["good"]), (1, False))
        self.assertRegex(summary["damage"], sentence)
        sizes = summary["file_bytes"]
        self.assertEqual(sizes["all"], os.path.getsize(path))
        self.assertEqual(sizes["all"], sum(sizes[key] for key in (
            "header", "records", "spe", "padding", "skipped", "behind")))
        self.assertRegex(spe("check", path).stdout.decode().splitlines()[-1],
                         ": 0 violations, 0 bytes skipped, " + sentence)
        for command in (("report",), ("report", "--json"), ("script",), ("script", "--count", 1),
                        ("dump",), ("export", "--format", "ndjson"),
                        ("export", "--format", "folded")):
            result = spe(*command, path)
            self.assertEqual(result.returncode, 1, (command, result.stderr))
            self.assertRegex(result.stderr.decode(), rf"(?m)^spe: {path}: {sentence}")
            self.assertTrue(result.stdout or not summary["records"], command)
        copy = self.dir + "/copy"
        result = spe("export", "--format", "perf", "-o", copy, path)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.decode(), sentence)
        self.assertEqual(os.path.exists(copy), not gap)
        if gap:
            return summary
        result, whole = self.check(copy)
        self.assertEqual((result.returncode, whole["complete"], whole["records"]),
                         (1, False, summary["records"]))
        return summary

    def test_intact(self):
        path, _ = self.recording()
        summary = json.loads(self.good("check", "--json", path))
        self.assertEqual((summary["good"], summary["complete"], summary["damage"]),
                         (True, True, None))

    def test_cut(self):
        path, index = self.recording()
        whole = os.path.getsize(path)
        os.truncate(path, index[10] + 48 + 128)
        missing = self.expect_damage(path, r"the file is damaged at byte \d+: the file ends \d+ bytes "
                                           r"before its data does; \d+ bytes are missing")
        self.assertGreater(missing["file_bytes"]["missing"], whole / 2)
        self.assertGreater(missing["records"], 0)
        os.truncate(path, index[0])
        summary = self.expect_damage(path, r"the file is damaged at byte \d+: .* are missing")
        self.assertEqual(summary["records"], 0)

    def test_header_of_size_zero(self):
        path, index = self.recording()
        with open(path, "r+b") as f:
            f.seek(index[7] + 6)
            f.write(bytes(2))
        skipped = index[8] - index[7]
        summary = self.expect_damage(
            path, rf"the file is damaged at byte {index[7]}: a record is smaller than its header; "
                  rf"{skipped} bytes were skipped, the first of them at byte {index[7]}", gap=True)
        self.assertEqual(summary["file_bytes"]["skipped"], skipped)
        self.assertEqual(summary["records"], 39 * 20)

    def test_another_type(self):
        """SPE bytes are taken for records because the header before them is damaged."""
        path, index = self.recording()
        with open(path, "r+b") as f:
            f.seek(index[39])
            f.write(struct.pack("<I", 82))
        self.expect_damage(path, r"the file is damaged at byte \d+: .*\d+ bytes were skipped")

    def test_index(self):
        """The index knows of SPE bytes that nobody else knows of."""
        path, index = self.recording()
        data = content(path)
        self.assertEqual(data.count(struct.pack("<QQ", index[5], 48)), 1)
        path = self.file(data.replace(struct.pack("<QQ", index[5], 48),
                                      struct.pack("<QQ", index[5] + 8, 48)), "index")
        self.expect_damage(path, "the file is damaged; 1 AUXTRACE records of the index are not there")

    def test_section_outside_the_file(self):
        path, _ = self.recording()
        data = bytearray(content(path))
        at, size = struct.unpack_from("<QQ", data, 40)
        struct.pack_into("<Q", data, at + size, 1 << 40)  # the first feature
        path = self.file(bytes(data), "outside")
        self.expect_damage(path, r"the file is damaged at byte \d+: feature 3 does not lie in the file")

    def test_killed_perf(self):
        """perf writes the size of the data last."""
        path, _ = self.recording()
        data = bytearray(content(path))
        at, size = struct.unpack_from("<QQ", data, 40)
        struct.pack_into("<Q", data, 48, 0)
        path = self.file(bytes(data[:at + size]), "killed")
        result, summary = self.check(path)
        self.assertEqual((result.returncode, summary["complete"], summary["damage"],
                          summary["records"]), (1, False, None, 800))
        result = spe("script", path)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"the recording was not finished", result.stderr)

    def test_lost_samples_are_no_damage(self):
        path = self.dir + "/lost"
        r = t.Recording(cpus=1)
        r.comm(10, 10, "worker")
        r.aux(0, self.good("gen", "--records", 1, "--cpu", "neoverse-n1"))
        r.aux_flags(0, 0, 64, 1, 5)  # TRUNCATED
        r.sideband(2, struct.pack("<QQ", t.SPE_ID, 77))
        r.write(path)
        for command in READERS:
            self.assertEqual(spe(*command, path).returncode, 0, command)


class Mistaken(FilesTest):
    def piped(self, command, first, rest):
        with subprocess.Popen([spetest.SPE, *command, "-"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdin.write(first)
            process.stdin.flush()
            time.sleep(0.3)  # the first read must not bring more
            out, err = process.communicate(rest)
        return process.returncode, out, err

    def test_a_pipe_that_begins_slowly(self):
        path, _ = self.recording()
        data = content(path)
        for command in READERS:
            whole = spe(*command, "-", stdin=data)
            self.assertEqual(self.piped(command, data[:3], data[3:]),
                             (whole.returncode, whole.stdout, whole.stderr), command)
            self.assertEqual(whole.returncode, 0)
        bare = load_record(7) * 100
        for command in ("check", "dump"):
            self.assertEqual(self.piped((command,), bare[:9], bare[9:])[::2], (0, b""))

    def test_other_files(self):
        rng = random.Random(3)
        for name, data, what in (
                ("program", content(shutil.which("sh")), "it looks like an ELF file"),
                ("text", b"root:x:0:0:root:/root:/bin/sh\n" * 30, "it looks like text"),
                ("short", b"hello\n", "it looks like text"),
                ("empty", b"", "it is empty"),
                ("zeros", bytes(8192), "it has only zeros"),
                ("packed", b"\x1f\x8b\x08\x00" + rng.randbytes(5000),
                 "it looks like a compressed file"),
                ("noise", rng.randbytes(300000), "most of it does not decode"),
                ("ends", b"\x01" * 5000, "most of it does not decode")):
            path = self.file(data, name)
            for command in READERS:
                sentence = ("is not a perf.data file and does not look like SPE records "
                            f"({what}); use --raw to read it anyway")
                self.assertEqual(self.bad(1, *command, path), f"spe: {path}: {sentence}")
                self.assertIn(sentence, self.bad(1, *command, "-", stdin=data))
                self.assertNotIn(b"--raw", spe(*command, "--raw", path).stderr)

    def test_bare_records(self):
        path = self.dir + "/bare"
        for damage in (0, 0.01, 0.1):
            for cpu in ("neoverse-n1", "neoverse-v2"):
                spe("gen", "--records", 3000, "--cpu", cpu, "--damage", damage, "-o", path)
                for command in READERS:
                    result = spe(*command, path)
                    self.assertNotIn(b"does not look", result.stderr)
                    self.assertGreater(len(result.stdout), 200)
                self.assertEqual(spe("script", path).returncode, 0)
        remark = "this is not a perf.data file: it is read as raw SPE records"
        self.assertIn(remark, spe("script", path).stderr.decode())
        self.assertIn(remark, json.loads(spe("report", "--json", path).stdout)["recording"]["warnings"])
        self.assertNotIn(remark, spe("script", "--raw", path).stderr.decode())

    def test_directory_with_a_fifo(self):
        os.mkfifo(self.dir + "/data")
        for command in ("report", "script"):
            self.assertEqual(self.bad(1, command, self.dir),
                             f'spe: {self.dir}: is a directory whose "data" is not a file')
        os.unlink(self.dir + "/data")
        path, _ = self.recording("data")
        self.assertEqual(self.good("script", self.dir), self.good("script", path))
        out = self.dir + "/out"
        self.good("export", "--format", "perf", "-o", out, self.dir)
        self.assertEqual(self.good("script", out), self.good("script", path))
        self.bad(1, "export", "--format", "csv", "-o", path, self.dir)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
