# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Which variables, types and members the loads and stores of a recording are of."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import unittest

from recordtest import RecordTest, need_symbols, require, spe

require()
need_symbols()

TAGGED = os.path.join(os.environ["SPE_SOURCE_DIR"], "tests", "names", "tagged")

# Most accesses are to a variable that stays in the caches; some are to another page each.
NEAR_AND_FAR = """
struct near { long hot; };
struct far { long cold; char rest[4088]; };
static volatile struct near few;
static volatile struct far many[8192];

int main(void)
{
    for (unsigned i = 0; i < 200000; i++) {
        few.hot += i;
        few.hot ^= i;
        if (i % 8 == 0)
            many[i / 8 * 37 % 8192].cold = i;
    }
    return few.hot == 99;
}
"""


# A function that calls itself saves registers each time.
DEEP = """
static __attribute__((noinline)) long deep(long n, long *sum)
{
    *sum += n;
    return n < 2 ? n : deep(n - 1, sum) + deep(n - 2, sum);
}

int main(void)
{
    long sum = 0;

    return deep(22, &sum) == sum;
}
"""

# What the code reaches by an index from one array lies in the next.
NEXT = """
long first[64] = {1};
double second[64] = {1};

int main(int argc, char **argv)
{
    volatile long *at = first;
    long sum = 0, far = 64 * argc;

    for (long i = 0; i < 200000; i++)
        sum += at[far + i % 64];
    return sum == 3;
}
"""


# Members that share bytes; a member without samples that begins a line.
WIDE = """
struct wide {
    long hot;
    union { long number; char *text; } either;
    unsigned few : 3, more : 5;
    char rest[47];
    long cold, warm;
};
static volatile struct wide wide;

int main(void)
{
    for (long i = 0; i < 100000; i++) {
        wide.hot += i;
        wide.either.number ^= i;
        wide.few = i;
        wide.warm += i;
    }
    return wide.hot == 3;
}
"""

# Bytes that are no member's: before one with samples, before one without, in the second part of a
# union, and a single one.
HOLES = """
union both {
    struct { long a, b; } one;
    struct { char c; long d; } two;
};
struct holes {
    union both both;
    char left;
    short right;
    int hot;
    char small;
    long cold;
};
static volatile struct holes holes;

int main(void)
{
    for (long i = 0; i < 100000; i++) {
        holes.both.two.c = i;
        holes.both.two.d ^= i;
        holes.left = i;
        holes.hot += i;
    }
    return holes.hot == 3;
}
"""

# Two threads count, each in members of its own: of one object, of two on two lines, or of two that
# are neighbours and do not begin with a line.
COUNTERS = """
#include <pthread.h>

struct counters { long reads, writes; };
static volatile struct counters room[64] __attribute__((aligned(64)));
static long apart;

static void *count(void *number)
{
    long n = (long)number;
    volatile struct counters *c = &room[1 + n * apart];

    for (long i = 0; i < 100000; i++) {
        if (n || apart)
            c->reads += i;
        if (!n || apart)
            c->writes += i;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];

    apart = argc - 1;
    for (long n = 0; n < 2; n++)
        pthread_create(&threads[n], NULL, count, (void *)n);
    for (int n = 0; n < 2; n++)
        pthread_join(threads[n], NULL);
    return room[1].reads == 3;
}
"""


class Types(RecordTest):
    def source(self, name, text):
        path = os.path.join(self.dir, name + ".c")
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        return path[:-len(".c")]

    def recorded(self, name, *flags):
        """`name` is in the folder of tagged programs, or a path."""
        program = os.path.join(self.dir, os.path.basename(name))
        subprocess.run(["aarch64-linux-gnu-gcc", "-g", "-static", "-w", *flags, "-o", program,
                        os.path.join(TAGGED, name + ".c")], check=True)
        self.record("-c", "512", "--", program)
        return program

    def report(self, *args):
        return json.loads(self.good("report", "--json", "--top", "1000", *args, self.data))

    def csv(self, *args):
        text = self.good("report", "--csv", "--top", "1000", *args, self.data).decode()
        return list(csv.DictReader(io.StringIO(text)))

    def test_csv(self):
        """The rows of JSON in its order; with the reasons they are all loads and stores."""
        self.recorded("two_members", "-O0")
        report = self.report("--by", "object,type,member")
        everything = report["accesses"]
        names = {"types": ("type",), "members": ("type", "member", "offset"),
                 "objects": ("kind", "dso", "type", "start", "size", "pid")}
        counts = ("samples", "latency", "loads", "stores", "l1_misses", "llc_misses", "tlb_walks")
        for key, columns in names.items():
            rows = self.csv("--by", key[:-1])
            known = [row for row in rows if not row.get("unknown")]
            columns += counts + ("threads", "writers")
            self.assertEqual([[row[c] for c in columns] for row in known],
                             [["" if row[c] is None else str(row[c]) for c in columns]
                              for row in report[key]])
            if key == "objects":
                self.assertEqual([row["object"] for row in rows],
                                 [row["name"] for row in report[key]])
                continue
            self.assertEqual({row["unknown"]: int(row["samples"]) for row in rows
                              if row["unknown"]}, everything["unknown"])
            self.assertGreater(len(everything["unknown"]), 0)
            for count in counts:
                self.assertEqual(sum(int(row[count]) for row in rows), everything[count], count)
            self.assertAlmostEqual(sum(float(row["share"]) for row in rows), 1, places=6)
        sizes = {row["type"]: row["size"] for row in self.csv("--by", "type")}
        self.assertEqual(sizes["struct buffer"], "65")

    def test_first_list_is_csv(self):
        self.recorded("two_members", "-O0")
        for by in ("type,member", "member,type", "object,function", "function,type", "time,type"):
            text = self.good("report", "--csv", "--by", by, self.data).decode()
            first = by.replace("time,", "").split(",")[0]
            self.assertEqual(text.split(",")[0], first, by)

    def test_sorted(self):
        """Lists have the order of the key, which the title names."""
        self.recorded(self.source("near_and_far", NEAR_AND_FAR), "-O1")
        keys = {"samples": "samples", "latency": "latency", "l1": "l1_misses",
                "llc": "llc_misses", "tlb": "tlb_walks"}
        for by, near, far in (("type", "struct near", "struct far"),
                              ("member", "hot", "cold"), ("object", "few", "many")):
            firsts = {}
            for key, column in keys.items():
                report = self.report("--by", by, "--sort", key)[by + "s"]
                values = [row[column] for row in report]
                self.assertEqual(values, sorted(values, reverse=True), (by, key))
                rows = self.csv("--by", by, "--sort", key)
                self.assertEqual([int(row[column]) for row in rows if not row.get("unknown")],
                                 values)
                firsts[key] = rows[0][by]
            self.assertEqual([firsts[key] for key in ("samples", "llc", "tlb")], [near, far, far])
        page = self.good("report", "--by", "type", "--sort", "llc", self.data).decode()
        self.assertIn("Types with the most LLC misses", page)

    def test_key_that_rows_lack(self):
        """Loads and stores are not mispredicted, and a layout is not a list."""
        self.recorded("two_members", "-O0")
        for by in ("type", "member", "object"):
            said = self.bad("report", "--by", by, "--sort", "mispredicted", self.data)
            self.assertIn("latency, samples, l1, llc and tlb", said)
        self.assertIn("--by member", self.bad("report", "--csv", "--type", "buffer", self.data))
        self.good("report", "--type", "buffer", "--sort", "mispredicted", self.data)

    def test_hostile_names(self):
        """Names of debug information are fields of CSV, whatever they hold."""
        evil = {b"a_rather_long_name_of_a_type": b'=\x1b[31m,"\r\n',
                b"a_rather_long_name_of_a_member": b"@,'\t\x9b\xe2\x80\xae"}
        old_type, old_member = (name.decode() for name in evil)
        program = self.recorded(self.source("near_and_far", NEAR_AND_FAR), "-O1",
                                "-Wl,--build-id=none",  # the copy that is kept has other names
                                f"-Dnear={old_type}", f"-Dhot={old_member}")
        with open(program, "rb") as f:
            data = f.read()
        for old, new in evil.items():
            self.assertIn(old, data)
            data = data.replace(old, new.ljust(len(old), b"x"))
        with open(program, "wb") as f:
            f.write(data)
        self.record("-c", "512", "--", program)
        text = self.good("report", "--csv", "--by", "member", self.data).decode(
            "utf-8", "surrogateescape")
        row = next(csv.DictReader(io.StringIO(text, newline="")))
        new_type, new_member = (new.ljust(len(old), b"x").decode("utf-8", "surrogateescape")
                                for old, new in evil.items())
        self.assertEqual((row["type"], row["member"]), ("struct " + new_type, "'" + new_member))

    def bad(self, *args):
        result = spe(*args)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, b"")
        return result.stderr.decode()

    def test_both_members(self):
        """A loop that reads and writes two members: both have their share."""
        self.recorded("two_members", "-O0")
        report = self.report("--by", "type,member", "--type", "buffer")
        members = {row["member"]: row for row in report["members"]
                   if row["type"] == "struct buffer"}
        self.assertEqual(set(members), {"first", "second"})
        # -O0: first is accessed four times a turn (2 loads, 1 load and store), second twice.
        share = members["first"]["samples"] / (members["first"]["samples"] +
                                               members["second"]["samples"])
        self.assertGreater(share, 0.6)
        self.assertLess(share, 0.73)
        self.assertEqual(members["second"]["offset"], 64)
        self.assertEqual(report["layouts"][0]["hot_apart"], ["first", "second"])
        known = sum(row["samples"] for row in report["types"])
        self.assertEqual(known + sum(report["accesses"]["unknown"].values()),
                         report["accesses"]["samples"])
        self.assertGreater(known, 0.95 * report["accesses"]["samples"])

    def names_by_gdb(self, program, starts):
        """What gdb calls each address: "table + 8 in section .bss". It has a line for each section
        of the file that holds the address, and .tbss shares addresses with those behind it."""
        asked = [word for start in starts
                 for word in ("-ex", r"echo at\n", "-ex", f"info symbol {start:#x}")]
        said = subprocess.run(["gdb", "-nx", "-batch", *asked, program], check=True,
                              capture_output=True, text=True).stdout
        return [[line.split()[0].split(".")[0] for line in answer.splitlines()]
                for answer in said.split("at\n")[1:]]

    def test_globals_as_nm(self):
        """Every sampled address in a global has the name that nm and gdb give it."""
        program = self.recorded("globals", "-O1")
        symbols, places = [], {}
        for line in subprocess.run(["aarch64-linux-gnu-nm", "-S", program], check=True,
                                   capture_output=True, text=True).stdout.splitlines():
            words = line.split()
            if len(words) == 4:
                places[words[3]] = words[:2]
            if len(words) == 4 and words[2] in "bBdDrR":
                symbols.append((int(words[0], 16), int(words[1], 16), words[3]))
        rows = [row for row in self.report("--by", "object")["objects"]
                if row["kind"] == "variable" and row["dso"] == "globals"]
        starts = [int(row["start"], 16) for row in rows]
        for row, start in zip(rows, starts):
            names = [n.split(".")[0] for at, size, n in symbols if at <= start < at + size]
            self.assertIn(row["name"], names)
        self.assertGreater(len(rows), 3)
        if not shutil.which("gdb"):
            self.skipTest("nm agrees; there is no gdb to ask")
        answers = self.names_by_gdb(program, starts)
        self.assertEqual(len(answers), len(rows))
        for row, names in zip(rows, answers):
            # Of environ and __environ, which are one variable, gdb takes the other.
            same = [n for n in names if n == row["name"] or
                    (n in places and places[n] == places.get(row["name"]))]
            self.assertTrue(same, (row["name"], names))

    def test_text(self):
        """The page says the same, and what it does not know."""
        self.recorded("two_members", "-O0")
        page = self.good("report", "--by", "object,type,member", "--width", "120",
                         self.data).decode()
        for text in ("struct buffer.first", "struct buffer.second", "char second",
                     "-- line 1 --", "hot members lie on different lines", "no debug info",
                     "[stack of"):
            self.assertIn(text, page)
        missing = self.good("report", "--type", "nobody", self.data).decode()
        self.assertIn("No load or store of a type 'nobody'", missing)

    def test_stack_operations(self):
        """Registers that are saved have a name, and are not counted with the program's types."""
        self.recorded(self.source("deep", DEEP), "-O2", "-fno-optimize-sibling-calls")
        report = self.report("--by", "type,member")
        accesses, types = report["accesses"], {t["type"]: t for t in report["types"]}
        saved = types.pop("(stack operation)")["samples"]
        self.assertGreater(saved, 0.3 * accesses["samples"])
        self.assertEqual(accesses["stack_operations"], saved)
        self.assertEqual(accesses["with_type"], sum(t["samples"] for t in types.values()))
        self.assertNotIn("saved register", accesses["unknown"])
        self.assertEqual(accesses["samples"], accesses["with_type"] + saved +
                         sum(accesses["unknown"].values()))
        self.assertIn("(stack operation)", [m["type"] for m in report["members"]])
        page = self.good("report", "--by", "type", "--width", "80", self.data).decode()
        share = f"{100 * saved / accesses['samples']:.1f} %"
        self.assertIn(f"(stack operation), saved registers: {share}", page)
        self.assertNotIn("saved register  ", page)
        html = os.path.join(self.dir, "page.html")
        self.good("report", "--html", html, self.data)
        with open(html, encoding="utf-8") as f:
            self.assertRegex(f.read(), r"% are stack operations: functions save and restore registers")
        row = [r for r in self.csv("--by", "type") if r["type"] == "(stack operation)"]
        self.assertEqual([(r["size"], r["unknown"], r["samples"]) for r in row],
                         [("", "", str(saved))])

    def test_layout(self):
        """Accesses of members that share bytes are shown once; a line begins where it begins."""
        self.recorded(self.source("wide", WIDE), "-O1")
        page = self.good("report", "--type", "struct wide", "--width", "80", self.data).decode()
        rows = page[page.index("struct wide: 80 bytes, 2 lines of 64"):].splitlines()
        row = {name: next(i for i, r in enumerate(rows) if name in r) for name in
               ("long int number", "char *text", "more:5", "-- line 1 --", "long int cold",
                "long int warm")}
        self.assertRegex(rows[row["long int number"]], r"number +\d+ ")
        self.assertRegex(rows[row["char *text"]], r'text +"$')
        self.assertRegex(rows[row["more:5"]], r'more:5 +"$')
        self.assertEqual(row["-- line 1 --"] + 1, row["long int cold"])
        self.assertRegex(rows[row["long int warm"]], r"warm +\d+ ")

    def test_holes(self):
        """Each where pahole has it, whether the member behind it has samples or not."""
        self.recorded(self.source("holes", HOLES), "-O1")
        page = self.good("report", "--by", "type", "--type", "holes", "--width", "200",
                         self.data).decode()
        table = page[page.index("struct holes: 40 bytes, 1 line of 64"):].split("no room")[0]
        rows = re.findall(r"hole: \d+ bytes?|\b(?:long int|short int|int|char) \w+", table)
        self.assertEqual(rows[:12], [
            "long int a", "long int b", "char c", "hole: 7 bytes", "long int d", "char left",
            "hole: 1 byte", "short int right", "int hot", "char small", "hole: 7 bytes",
            "long int cold"])

    def test_threads_on_one_line(self):
        """Threads that have objects of their own on other lines do not meet."""
        program = self.recorded(self.source("counters", COUNTERS), "-O1", "-pthread")
        pair = ["reads", "writes"]
        for apart, expected in ((0, pair), (1, pair), (4, [])):
            self.record("-c", "512", "--", program, *["x"] * apart)
            layout = self.report("--by", "type", "--type", "counters")["layouts"][0]
            self.assertEqual(layout["contended"], expected, apart)
            page = self.good("report", "--by", "type", "--type", "counters", self.data).decode()
            self.assertEqual("different threads use reads and writes" in page, bool(expected))
            narrow = self.good("report", "--by", "type,member,object", "--width", 60, self.data)
            self.assertLessEqual(max(map(len, narrow.decode().splitlines())), 60)

    def test_global_by_its_address(self):
        """The sampled address says which of two arrays it was; the code names the other one."""
        program = self.recorded(self.source("next", NEXT), "-O1", "-fno-toplevel-reorder")
        self.assertEqual(self.symbol(program, "second")[0], self.symbol(program, "first")[0] + 512)
        types = {t["type"]: t["samples"] for t in self.report("--by", "type")["types"]}
        self.assertGreater(types["double"], 100)
        self.assertNotIn("long int", types)

    def test_stripped(self):
        """Without debug information there is a reason, and no type."""
        self.recorded("list", "-O1", "-g0")
        report = self.report("--by", "type")
        self.assertEqual(report["types"], [])
        self.assertEqual(set(report["accesses"]["unknown"]), {"no debug info"})


if __name__ == "__main__":
    unittest.main()
