# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""perf's words, near misses, lists of names, parts of the time, colours and the pager."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import unittest

import perf_options
import recording_file as t
from spetest import SPE, CommandTest, spe

SECOND = 10**9


def on_terminal(*args, **env):
    """Run on a terminal of its own: what it shows, and the exit status."""
    main, side = pty.openpty()
    full = {**os.environ, "TERM": "xterm", **env}
    full.pop("NO_COLOR", None)
    with subprocess.Popen([SPE, *map(str, args)], stdin=side, stdout=side, stderr=side,
                          env=full) as process:
        os.close(side)
        text = b""
        try:
            while data := os.read(main, 65536):
                text += data
        except OSError:  # the other side is closed
            pass
        status = process.wait(timeout=50)
    os.close(main)
    return text.decode(), status


class Words(CommandTest):
    def setUp(self):
        super().setUp()
        self.path = self.dir + "/perf.data"
        r = t.Recording(cpus=2)
        r.comm(10, 10, "alpha")
        r.comm(10, 11, "beta")
        r.comm(20, 20, "gamma")
        # One sample a tenth of a second, from 1 s on: ten of alpha, six of beta, four of gamma.
        for cpu, base in ((0, 0x401000), (1, 0x402000)):
            data = b""
            for i in range(cpu, 20, 2):
                tid = 10 if i < 10 else 11 if i < 16 else 20
                data += t.sample(base, SECOND + i * SECOND // 10, tid, (1, 0), 0x16, 9,
                                 va=0x1000 + i)
            r.aux(cpu, data)
        r.write(self.path)

    def rows(self, *args):
        text = self.good("report", "--csv", "--top", 100, *args, self.path).decode()
        table = csv.DictReader(io.StringIO(text))
        return [(row[table.fieldnames[0]], int(row["samples"])) for row in table]

    def samples(self, *args):
        return json.loads(self.good("report", "--json", *args, self.path))["totals"]["samples"]

    # ---- commands

    def test_commands(self):
        self.assertRegex(self.bad(2, "reprot"), "did you mean 'report'\\? There are record, report,")
        self.assertIn("did you mean 'script'", self.bad(2, "scrpt"))
        self.assertNotIn("did you mean", self.bad(2, "frobnicate"))
        for word in ("version", "-v", "-V"):
            self.assertEqual(self.good(word), self.good("--version"))
        for command in ("list", "mem", "stat", "top"):
            message = self.bad(2, command, "report")
            self.assertTrue(message.startswith(f"spe: {command}: is a command of perf; "), message)
        self.assertIn("spe record --stat", self.bad(2, "stat"))

    def test_lists(self):
        r = t.Recording(cpus=1)
        r.comm(10, 10, "x")
        r.aux(0, t.sample(0x401000, 1, 10))
        path = self.dir + "/other.data"
        r.write(path)
        events = self.good("evlist", "-i", path).decode().splitlines()
        self.assertEqual(events, self.good("evlist", path).decode().splitlines())
        self.assertGreater(len(events), 0)
        self.assertEqual(self.good("buildid-list", path), b"")
        for command in ("evlist", "buildid-list"):
            self.bad(1, command, self.file(t.sample(0x401000, 1, 10) * 9))
            self.bad(2, command, path, path)
            self.bad(1, command, self.dir + "/nothing")

    # ---- options

    def test_near_misses(self):
        self.assertIn("did you mean --top?", self.bad(2, "report", "--tpo", 3))
        self.assertIn("did you mean --fields?", self.bad(2, "script", "--feilds=ip"))
        self.assertIn("did you mean --sym", self.bad(2, "report", "--sym", "x"))  # not unique
        self.assertNotIn("did you mean", self.bad(2, "report", "--xyzzy"))
        self.assertRegex(self.bad(2, "script", "-F", "sim", self.path),
                         "no field sim; did you mean sym\\? There are comm, pid,")
        self.assertRegex(self.bad(2, "record", "--cpu", "neoverse-n9", "x"),
                         "no model of such a CPU; did you mean neoverse-.*there are .*kunpeng-920")
        self.assertRegex(self.bad(2, "report", "--by", "funtion"), "did you mean function\\?")
        self.assertNotIn("did you mean", self.bad(2, "report", "--by", "foo"))  # dso is far off

    def test_answers(self):
        for args, answer in (
                (("report", "--itrace=i1i"), "every record is one sample"),
                (("script", "--itrace", "i1i"), "every record is one sample"),
                (("script", "-g"), "spe report -g"),
                (("report", "--children"), "spe report -g"),
                (("report", "--mem-mode"), "where loads were served"),
                (("script", "-D"), "spe dump"),
                (("report", "-v"), "-q"),
                (("record", "-a"), "spe record -- PROGRAM"),
                (("record", "-p", "1"), "spe record -- PROGRAM"),
                (("record", "-F", "99"), "-c N"),
                (("record", "--freq=99"), "-c N"),
                (("record", "--call-graph=fp"), "-g")):
            message = self.bad(2, *args)
            self.assertIn(": is perf's option; ", message)
            self.assertIn(answer, message)

    def test_each_option_of_perf(self):
        """It is taken, or the answer says what to do instead: no word of perf is merely unknown."""
        for command, words in perf_options.OPTIONS.items():
            for word in words:
                with self.subTest(f"{command} {word}"):
                    message = spe(command, word, "-", "/", "/").stderr.decode()
                    self.assertNotIn("there is no such option", message)

    def test_words_that_change_nothing(self):
        plain = self.good("report", self.path)
        for words in (("--stdio",), ("-n",), ("--no-children", "--header"), ("-f",), ("--force",)):
            self.assertEqual(self.good("report", *words, self.path), plain)
        self.assertEqual(self.good("report", "-i", self.path), plain)
        self.assertEqual(self.good("script", "-f", "--input", self.path),
                         self.good("script", self.path))
        self.bad(2, "report", "-i", self.path, self.path)

    def test_choice(self):
        self.assertEqual(self.samples("--comms", "alpha"), 10)
        self.assertEqual(self.samples("--comm", "alpha,gamma"), 14)
        self.assertEqual(self.samples("-c", "alpha", "--filter", "cpu == 0 or cpu == 1"), 10)
        self.assertEqual(self.samples("-C", "0"), 10)
        self.assertEqual(self.samples("--dsos", "libc.so.6"), 0)
        self.assertEqual(self.samples("--symbols", 'a"\\b'), 0)
        self.assertEqual(len(self.good("script", "-c", "beta", self.path).splitlines()), 6)
        self.assertIn("(at character 1)", self.bad(2, "report", "-c", "a", "--filter", "a", self.path))
        self.assertIn("should be here (at character 5)",
                      self.bad(2, "report", "-c", "a", "--filter", "load) or (load", self.path))
        self.assertIn("-C or --cpus", self.bad(2, "report", "--cpu", "0-3", self.path))
        self.assertIn("'z80' is not known; there are neoverse-n1, ",
                      self.bad(2, "report", "--cpu", "z80", self.path))

    def test_quiet(self):
        raw = t.sample(0x1000, 10, 10) + b"\xff" * 7
        self.assertNotEqual(spe("script", "--raw", "-", stdin=raw).stderr, b"")
        self.assertEqual(spe("script", "--raw", "-q", "-", stdin=raw).stderr, b"")

    # ---- lists

    def test_by(self):
        self.assertEqual(self.rows("--by", "comm"), [("alpha", 10), ("beta", 6), ("gamma", 4)])
        self.assertEqual(self.rows("--by", "process"), [("alpha 10", 16), ("gamma 20", 4)])
        self.assertEqual(self.rows("--by", "pid"), self.rows("--by", "process"))
        self.assertEqual(sorted(self.rows("--by", "pc")), [("0x401000", 10), ("0x402000", 10)])
        self.assertEqual([n for _, n in self.rows("--by", "thread")], [10, 6, 4])

    def test_pairs(self):
        text = self.good("report", "--csv", "--by", "function+comm", self.path).decode()
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([(r["function"], r["comm"], r["samples"]) for r in rows],
                         [("[no map]", "alpha", "10"), ("[no map]", "beta", "6"),
                          ("[no map]", "gamma", "4")])
        text = self.good("report", "--csv", "--by", "function+thread", self.path).decode()
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([(r["thread"], r["comm"], r["pid"], r["tid"]) for r in rows],
                         [("alpha 10/10", "alpha", "10", "10"), ("beta 10/11", "beta", "10", "11"),
                          ("gamma 20/20", "gamma", "20", "20")])
        text = self.good("report", "--csv", "--by", "process", self.path).decode()
        self.assertEqual([r["pid"] for r in csv.DictReader(io.StringIO(text))], ["10", "20"])
        text = self.good("report", "--csv", "--by", "dso+cpu", self.path).decode()
        self.assertEqual([r["cpu"] for r in csv.DictReader(io.StringIO(text))], ["CPU 0", "CPU 1"])
        groups = json.loads(self.good("report", "--json", "--by", "line+process", self.path))["groups"]
        self.assertEqual([g["process"] for g in groups[0]["top"]], ["alpha 10", "gamma 20"])
        page = self.good("report", "--by", "function+thread", self.path).decode()
        self.assertIn("Hottest functions with threads by latency, 3 of 3", page)
        self.assertRegex(page, r"\[no map\] +beta 10/11 +6 ")
        self.assertLessEqual(max(map(len, page.splitlines())), 80)

    def test_sort(self):
        def by(keys):
            groups = json.loads(self.good("report", "--json", "-s", keys, self.path))["groups"]
            return [g["by"] for g in groups]

        for keys, name in (("sym", "function"), ("sym,dso", "function"), ("dso", "dso"),
                           ("srcline", "line"), ("sym,srcline", "symbol+source"),
                           ("comm", "comm"), ("pid", "process"), ("comm,tid", "thread"),
                           ("cpu", "cpu"), ("comm,dso,symbol", "function+comm")):
            self.assertEqual(by(keys), [name])
        self.assertEqual(by("latency"), ["function", "line"])
        self.assertIn("--sort latency", self.bad(2, "report", "--sort", "local_weight", self.path))
        self.assertIn("'frob' is none of samples", self.bad(2, "report", "-s", "frob", self.path))
        self.bad(2, "report", "-s", "cpu,comm", self.path)

    def test_limits(self):
        self.assertEqual(self.rows("--by", "comm", "--percent-limit", "25"),
                         [("alpha", 10), ("beta", 6)])
        for bad in ("x", "101", "-1", ""):
            self.bad(2, "report", "--percent-limit", bad, self.path)
        header = self.good("report", "--header-only", self.path)
        self.assertIn(b"\n" + header, self.good("report", self.path))
        self.assertNotIn(b"Hottest", header)

    # ---- time

    def test_time(self):
        for span, count in (("1.5s,2s", 5), ("+0.5s,+1s", 5), ("+0.5s,", 15), (",+0.5s", 5),
                            ("10%-20%", 2), ("10%,20%", 2), ("0%-100%", 20), ("50%-100%", 10),
                            ("1.5s,+1s", 5), ("12.5%-50%", 7), ("+0.5s", 15), ("1.5s", 15)):
            self.assertEqual(self.samples("--time", span), count, span)
        for bad in ("20%-10%", "10%", "%-20%", "10%-", "101%-102%", "+,", "-1s,", "+2s,+1s"):
            self.assertIn("span of time", self.bad(2, "report", "--time", bad, self.path), bad)
        self.assertIn("ends before it begins",
                      self.bad(2, "report", "--time", "+2s,1.1s", self.path))
        self.assertIn("need a file", self.bad(2, "report", "--time", "10%-20%", "-"))

    def test_time_outside(self):
        for command in (("report",), ("script",), ("export", "--format", "csv")):
            result = spe(*command, "--time", "100s,200s", self.path)
            self.assertEqual(result.returncode, 0)
            self.assertIn(b"no sample is within --time: the recording is from 1.000000s to 2.900000s",
                          result.stderr)
        page = spe("report", "--time", "100s,200s", self.path).stdout
        self.assertIn(b"no sample was chosen", page)
        self.assertNotIn(b"records have no time", page)
        # The page shows the times that --time takes.
        page = self.good("report", self.path).decode()
        self.assertRegex(page, r"duration +1\.900000 s, samples from 1\.000000s to 2\.900000s\n")

    # ---- colours and the pager

    def test_color(self):
        plain = self.good("report", self.path)
        self.assertNotIn(b"\x1b", plain)
        color = self.good("report", "--color=always", self.path)
        self.assertEqual(re.sub(rb"\x1b\[[0-9;]*m", b"", color), plain)
        self.assertNotEqual(color, plain)
        self.assertIn("\x1b[", on_terminal("report", self.path)[0])
        self.assertNotIn("\x1b[", on_terminal("report", "--color", "never", self.path)[0])
        self.bad(2, "report", "--color", "maybe", self.path)

    def test_pager(self):
        pager = "sed 's/^/| /'"
        for command in ("report", "script", "dump", "check"):
            text, status = on_terminal(command, self.path, PAGER=pager)
            self.assertEqual(status, spe(command, self.path).returncode, command)
            self.assertEqual({line[:2] for line in text.splitlines()}, {"| "}, command)
            self.assertNotIn("| ", on_terminal(command, "--no-pager", self.path, PAGER=pager)[0])
        self.assertIn("\x1b[", on_terminal("report", self.path, PAGER=pager)[0])
        # Not for data, not without a terminal, not if it is cat.
        self.assertNotIn("| {", on_terminal("report", "--json", self.path, PAGER=pager)[0])
        self.assertNotIn(b"| ", self.good("report", self.path, env={"PAGER": pager})[:2])
        # The status is ours, whatever the pager's; a wrong command line needs no pager.
        self.assertEqual(on_terminal("report", self.path, PAGER="cat >/dev/null; exit 3")[1], 0)
        self.assertEqual(on_terminal("report", self.dir + "/nothing", PAGER=pager)[1], 1)
        text, status = on_terminal("report", "--frob", PAGER=pager)
        self.assertEqual((status, text[:2]), (2, "\x1b["))

    def test_pager_that_leaves(self):
        # Who has seen enough ends us, without a message.
        with open(self.path, "rb") as f:
            many = self.file(t.sample(0x1000, 10, 10) * 20000 + f.read(0), "many.spe")
        text, status = on_terminal("script", many, PAGER="head -n 1")
        self.assertEqual(len(text.splitlines()), 1, text[:500])
        self.assertIn(status, (0, 1, -13))


if __name__ == "__main__":
    unittest.main()
