# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Every question of sql/ in DuckDB, on Parquet: its answer is that of `spe report --json`, or of a
plain computation on the CSV."""

import collections
import csv
import functools
import glob
import json
import math
import os
import statistics
import unittest

import duckdb
import pyarrow.parquet
import recordings

SQL = os.path.join(recordings.TOP, "sql")
QUESTIONS = sorted(name.removesuffix(".sql") for name in os.listdir(SQL) if name.endswith(".sql"))
FLEET = sorted("fleet/" + name.removesuffix(".sql") for name in os.listdir(SQL + "/fleet"))
LINES = ("--columns", "time_ns,pid,tid,comm,pc,va,op,kind,symbol,dso,file,line,total,translation,source,"
         "source_name,level,event_l1d_miss,event_llc_miss,event_tlb_walk,event_not_taken,"
         "event_mispredicted")


def recording():
    return recordings.recorded() or recordings.generated("neoverse-n1")


def text(name):
    with open(os.path.join(SQL, name + ".sql"), encoding="utf-8") as f:
        return f.read()


def ask(name, path=None, before=None):
    """The rows of the answer, as dictionaries."""
    with duckdb.connect() as db:
        for view, file in (("samples", path or recording()), ("samples_before", before)):
            if file:
                table = recordings.export(file, "parquet", *LINES)
                db.execute(f"CREATE VIEW {view} AS FROM read_parquet('{table}')")
        answer = db.sql(text(name))
        return [dict(zip(answer.columns, row)) for row in answer.fetchall()]


def rows(path=None):
    """The samples out of CSV."""
    path = path or recording()
    schema = pyarrow.parquet.read_schema(recordings.export(path, "parquet", *LINES))
    columns = recordings.from_csv(path, schema, *LINES)
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def report(path=None, by="function"):
    return json.loads(recordings.run("report", "-q", "--json", "--by", by, "--sort", "latency",
                                     "--top", "1000", path or recording(), status=(0, 1)))


def grouped(samples, *keys):
    groups = collections.defaultdict(list)
    for sample in samples:
        groups[tuple(key(sample) if callable(key) else sample[key] for key in keys)].append(sample)
    return groups


def cycles(samples):
    return sum(s["total"] or 0 for s in samples)


def count(samples, flag):
    return sum(1 for s in samples if s[flag])


def memory(samples):
    return [s for s in samples if s["op"] in ("load", "store")]


class Questions(unittest.TestCase):
    def some(self, answer):
        self.assertTrue(answer)
        return answer

    def test_all_are_here(self):
        self.assertEqual(QUESTIONS, sorted(name.removeprefix("test_of_") for name in dir(self)
                                           if name.startswith("test_of_")))
        self.assertEqual(len(QUESTIONS), 10)

    def test_of_functions(self):
        answer = self.some(ask("functions"))
        known = {(g["name"], g["dso"] or ""): g for g in report()["groups"][0]["top"]}
        self.assertEqual([a["latency"] for a in answer],
                         sorted((g["latency"] for g in known.values()), reverse=True)[:10])
        for a in answer:
            dso = os.path.basename(a["dso"] or "")
            name = a["symbol"] or (f"[no symbol] {dso}" if dso else "[no map]")
            g = known[name, dso]
            for key in ("samples", "latency", "l1_misses", "tlb_walks", "mispredicted"):
                self.assertEqual(a[key], g[key], (name, key))

    def test_of_operations(self):
        classes = collections.Counter()
        for a in self.some(ask("operations")):
            classes[a["op"]] += a["samples"]
        said = {o["class"]: o["samples"] for o in report()["operations"] if "class" in o}
        self.assertEqual(sorted(classes.values()), sorted(said.values()))
        self.assertEqual((classes["load"], classes["branch"]), (said["loads"], said["branches"]))

    def test_of_levels(self):
        said = [s for s in report()["loads"] if s["by"] == "data source"]
        keys = ("median", "p95", "p99")
        self.assertEqual(
            sorted((a["loads"], *(a[k] for k in keys), a["longest"])
                   for a in self.some(ask("levels")) if a["level"]),
            sorted((s["loads"], *(s["latency"][k] for k in keys), s["latency"]["max"])
                   for s in said))

    def test_of_tlb(self):
        expected = {}
        for key, group in grouped(memory(rows()), "symbol", "file", "line").items():
            walks = [s for s in group if s["event_tlb_walk"]]
            if walks:
                expected[key] = (len(group), len(walks), sum(s["translation"] or 0 for s in walks))
        answer = self.some(ask("tlb"))
        self.assertEqual(len(answer), min(20, len(expected)))
        for a in answer:
            self.assertEqual((a["accesses"], a["walks"], a["translation_cycles"]),
                             expected[a["symbol"], a["file"], a["line"]])
        self.assertEqual([a["walks"] for a in answer],
                         sorted((w for _, w, _ in expected.values()), reverse=True)[:20])

    def shared_lines(self):
        """Two threads, each with its own word of a line; a line of one thread; one that is read."""
        r, t = recordings.recording_file.Recording(cpus=1), recordings.recording_file
        time = 0
        for tid, word, op, line in ((11, 0, 1, 0x1000), (12, 8, 0, 0x1000), (11, 0, 1, 0x2000),
                                    (11, 8, 0, 0x2000), (11, 0, 0, 0x3000), (12, 8, 0, 0x3000),
                                    (11, 0, 1, 0x4000), (12, 0, 1, 0x4000)):
            for _ in range(3):
                time += 100
                r.aux(0, t.sample(0x401000, time, tid, (1, op), va=line + word, total=tid))
        r.write(recordings.path("shared.data"))
        return recordings.path("shared.data")

    def test_of_false_sharing(self):
        for path in (self.shared_lines(), recordings.generated("neoverse-n1")):
            expected = {}
            for key, group in grouped((s for s in memory(rows(path)) if s["va"] is not None),
                                      "pid", lambda s: s["va"] // 64 * 64).items():
                if (len({s["tid"] for s in group}) > 1 and len({s["va"] % 64 for s in group}) > 1
                        and any(s["op"] == "store" for s in group)):
                    expected[key] = (len({s["tid"] for s in group}), len({s["va"] % 64 for s in group}),
                                     sum(s["op"] == "load" for s in group),
                                     sum(s["op"] == "store" for s in group), cycles(group))
            answer = ask("false_sharing", path)
            self.assertEqual(len(answer), min(20, len(expected)))
            for a in answer:
                self.assertEqual((a["threads"], a["places"], a["loads"], a["stores"], a["latency"]),
                                 expected[a["pid"], a["cache_line"]])
        answer = ask("false_sharing", self.shared_lines())
        self.assertEqual([a["cache_line"] for a in answer], [0x1000])

    def test_of_branches(self):
        for path in (recording(), recordings.generated("neoverse-n1")):
            said = report(path)["branches"]
            self.assertEqual(said["error"], 0)
            answer = self.some(ask("branches", path))
            known = {int(b["pc"], 16): b for b in said["top"]}
            self.assertEqual([a["mispredicted"] for a in answer],
                             sorted((b["mispredicted"] for b in known.values()), reverse=True)[:10])
            for a in answer:
                for key in ("samples", "mispredicted", "not_taken", "latency"):
                    self.assertEqual(a[key], known[a["pc"]][key], (a, key))

    def test_of_phases(self):
        expected = grouped(rows(), lambda s: s["time_ns"] // 10000000)
        answer = self.some(ask("phases"))
        self.assertEqual([a["slice"] for a in answer], sorted(key for key, in expected))
        for a in answer:
            group = expected[a["slice"],]
            branches = [s for s in group if s["op"] == "branch"]
            self.assertEqual(
                (a["samples"], a["memory"], a["l1_misses"], a["branches"], a["mispredicted"]),
                (len(group), len(memory(group)), count(memory(group), "event_l1d_miss"),
                 len(branches), count(branches, "event_mispredicted")))
            self.assertAlmostEqual(a["mean"], statistics.fmean(
                s["total"] for s in group if s["total"] is not None))

    def test_of_threads(self):
        for path in (recording(), recordings.generated("neoverse-n1")):
            known = {g["name"]: g for g in report(path, "thread")["groups"][0]["top"]}
            for a in self.some(ask("threads", path)):
                g = known[f"{a['comm']} {a['pid']}/{a['tid']}"]
                for key in ("samples", "latency", "l1_misses", "llc_misses", "tlb_walks"):
                    self.assertEqual(a[key], g[key], (g, key))

    def test_of_pages(self):
        expected = {
            key: (len(group), cycles(group), count(group, "event_l1d_miss"),
                  count(group, "event_tlb_walk"))
            for key, group in grouped((s for s in memory(rows()) if s["va"] is not None), "pid",
                                      lambda s: s["va"] // 4096 * 4096).items()}
        answer = self.some(ask("pages"))
        for a in answer:
            self.assertEqual((a["samples"], a["latency"], a["l1_misses"], a["tlb_walks"]),
                             expected[a["pid"], a["page"]])
        self.assertEqual([a["latency"] for a in answer],
                         sorted((v[1] for v in expected.values()), reverse=True)[:20])

    def test_of_regressions(self):
        before, after = (grouped(rows(p), "symbol", "dso")
                         for p in (self.half(), recording()))
        all_before, all_after = (sum(map(cycles, groups.values())) for groups in (before, after))
        answer = self.some(ask("regressions", before=self.half()))
        changes = [a["share_after"] - a["share_before"] for a in answer]
        self.assertEqual(changes, sorted(changes, reverse=True))
        for a in answer:
            old, new = (groups.get((a["symbol"], a["dso"]), []) for groups in (before, after))
            if a["symbol"] is None or a["dso"] is None:
                continue  # null is not equal to null: such samples are rows of their own
            self.assertEqual((a["samples_before"], a["samples_after"]), (len(old), len(new)))
            self.assertTrue(math.isclose(a["share_before"], cycles(old) / all_before))
            self.assertTrue(math.isclose(a["share_after"], cycles(new) / all_after))
            if len(old) > 1 and len(new) > 1:
                error = math.sqrt(sum(statistics.variance(s["total"] for s in part) / len(part)
                                      for part in (old, new)))
                self.assertTrue(math.isclose(a["standard_error"], error, abs_tol=1e-12))

    def half(self):
        """The first half of the recording, as a recording of its own."""
        path = recordings.path("half.data")
        if not os.path.exists(path):
            recordings.run("export", "--format", "perf", "--time", "0%,50%", "-o", path,
                           recording())
        return path


@functools.cache
def hosts_table():
    """A dataset of the fleet's recordings: a host is a folder."""
    folder = recordings.path("hosts-table") + "/"
    recordings.run("export", "-q", "--format", "parquet", "--partition", "host", "--debug-dir",
                   recordings.programs()[0], "-o", folder,
                   *sorted(glob.glob(recordings.fleet() + "/*.data")))
    return folder


class Fleet(unittest.TestCase):
    """Against plain computations on the samples out of CSV."""

    @classmethod
    def setUpClass(cls):
        cls.samples = []
        for path in sorted(glob.glob(recordings.fleet() + "/*.data")):
            host = json.loads(recordings.run("report", "-q", "--json", path))["recording"]["hostname"]
            rows = csv.DictReader(recordings.run("export", "-q", "--format", "csv", "--debug-dir",
                                                 recordings.programs()[0], path)
                                  .decode().splitlines())
            cls.samples += [dict(row, host=host, total=int(row["total"])) for row in rows]

    def ask(self, name):
        with duckdb.connect() as db:
            db.execute(f"CREATE VIEW samples AS FROM read_parquet('{hosts_table()}**/*.parquet', "
                       "hive_partitioning = true)")
            answer = db.sql(text(name))
            return [dict(zip(answer.columns, row)) for row in answer.fetchall()]

    def test_all_are_here(self):
        self.assertEqual(FLEET, ["fleet/builds", "fleet/functions", "fleet/hosts"])
        self.assertEqual(len({s["host"] for s in self.samples}), 12)
        self.assertEqual(len({s["build_id"] for s in self.samples}), 2)

    def test_functions(self):
        whole = collections.Counter(s["host"] for s in self.samples)
        answer = self.ask("fleet/functions")
        expected = grouped(self.samples, "build_id", "symbol")
        self.assertEqual(len(answer), len(expected))
        self.assertEqual(len(answer), 4)  # two functions of two builds
        for a in answer:
            group = expected[a["build_id"], a["symbol"]]
            share = len(group) / len(self.samples)
            here = collections.Counter(s["host"] for s in group)
            error = math.sqrt(sum((here[h] - share * n) ** 2 for h, n in whole.items()) * 12 / 11)
            self.assertEqual((a["samples"], a["latency"], a["hosts"], a["dso"]),
                             (len(group), cycles(group), len(here), "/opt/program"))
            self.assertTrue(math.isclose(a["share"], share))
            self.assertTrue(math.isclose(a["plus_minus"], 1.96 * error / len(self.samples)))

    def test_hosts(self):
        loads = grouped((s for s in self.samples if s["op"] == "load"), "host")
        means = {host: statistics.fmean(s["total"] for s in group) for (host,), group in loads.items()}
        middle, deviation = statistics.fmean(means.values()), statistics.stdev(means.values())
        answer = self.ask("fleet/hosts")
        self.assertEqual(answer[0]["host"], "host-07")
        self.assertEqual(sorted(means), sorted(a["host"] for a in answer))
        for a in answer:
            group = loads[a["host"],]
            walks = sum(s["event_tlb_walk"] == "1" for s in group)
            self.assertEqual(a["loads"], len(group))
            self.assertTrue(math.isclose(a["mean"], means[a["host"]]))
            self.assertTrue(math.isclose(a["tlb_walks"], walks / len(group)))
            self.assertTrue(math.isclose(a["deviations"], (a["mean"] - middle) / deviation))

    def test_builds(self):
        groups = grouped(self.samples, "build_id", "symbol")
        builds = grouped(self.samples, "build_id")
        answer = self.ask("fleet/builds")
        self.assertEqual(sorted(a["symbol"] for a in answer), ["mix", "walk"])
        for a in answer:
            change, error = 0, 0
            for which, sign in (("a", -1), ("b", 1)):
                group = groups[a["build_" + which], a["symbol"]]
                totals = [s["total"] for s in group]
                change += sign * statistics.fmean(totals)
                error += statistics.variance(totals) / len(totals)
                self.assertTrue(math.isclose(a["share_" + which],
                                             len(group) / len(builds[a["build_" + which],])))
            self.assertTrue(math.isclose(a["change"], change))
            self.assertTrue(math.isclose(a["plus_minus"], 1.96 * math.sqrt(error)))
        self.assertGreater(abs(answer[0]["change"]), answer[0]["plus_minus"])
        self.assertEqual(answer[0]["symbol"], "walk")  # which the new build has slower


class Dataset(unittest.TestCase):
    def test_partitions_are_columns(self):
        folder = recordings.path("fleet")
        hosts = {"alpha": 3, "b/../../c=d": 5, "é %41": 2}
        paths = []
        for i, (host, samples) in enumerate(hosts.items()):
            r = recordings.recording_file.Recording(cpus=1)
            r.features[3] = recordings.recording_file.feature_string(host)
            r.aux(0, b"".join(recordings.recording_file.sample(0x401000, 100 + n, 10)
                              for n in range(samples)))
            os.makedirs(recordings.path(f"runs/{i}"))
            paths.append(recordings.path(f"runs/{i}/perf.data"))
            r.write(paths[-1])
            os.utime(paths[-1], (1700000000, 1700000000))
        recordings.run("export", "--format", "parquet", "--partition", "host,date", "-o",
                       folder + "/", *paths)
        answer = duckdb.sql(f"SELECT host, date::VARCHAR, count(*) FROM read_parquet('{folder}/**/*.parquet', "
                            "hive_partitioning = true) GROUP BY ALL").fetchall()
        self.assertEqual(sorted(answer), sorted((h, "2023-11-14", n) for h, n in hosts.items()))
        table = pyarrow.parquet.read_table(folder)
        self.assertEqual(collections.Counter(table["host"].to_pylist()), hosts)


if __name__ == "__main__":
    unittest.main()
