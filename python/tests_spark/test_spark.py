# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""A real cluster on loopback, a master and two workers: Spark reads our files and our recordings as
others do, and a worker that is killed in the middle of a job changes nothing in its answer."""

import atexit
import concurrent.futures
import contextlib
import glob
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))

# pylint: disable=wrong-import-position
import duckdb  # noqa: E402
import pyarrow.parquet  # noqa: E402
import pyspark  # noqa: E402
import recordings  # noqa: E402
import test_docs  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from test_sql import FLEET, LINES, QUESTIONS, hosts_table, text  # noqa: E402

import specimen.spark  # noqa: E402

CLASS = os.path.join(os.path.dirname(pyspark.__file__), "bin", "spark-class")
SMALL = int(os.environ.get("SPECIMEN_SPARK_RECORDINGS", "1000"))
TASKS = SMALL // 32  # at least: one reads 32 recordings
PATIENCE = 240  # seconds for a process to come up on a busy machine


def start(name, *args):
    """A process of Spark in a group of its own; its log."""
    log = recordings.path(name + ".log")
    env = dict(os.environ, SPARK_LOCAL_IP="127.0.0.1", SPARK_NO_DAEMONIZE="1",
               PYSPARK_PYTHON=sys.executable, SPARK_WORKER_DIR=recordings.path(name),
               SPARK_DAEMON_MEMORY="256m")
    with open(log, "wb") as f:
        process = subprocess.Popen([CLASS, *args], stdout=f, stderr=f, env=env,
                                   start_new_session=True)
    atexit.register(end, process)
    return process, log


def end(process):
    """The process and its children: executors are in its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def wait_for(log, pattern, process):
    for _ in range(PATIENCE * 10):
        with open(log, encoding="utf-8", errors="replace") as f:
            found = re.search(pattern, f.read())
        if found:
            return found
        if process.poll() is not None:
            break
        time.sleep(0.1)
    with open(log, encoding="utf-8", errors="replace") as f:
        raise AssertionError(f"{log}: no {pattern}\n{f.read()}")


class Cluster:
    def __init__(self):
        self.master, log = start("master", "org.apache.spark.deploy.master.Master", "--host",
                                 "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.url = wait_for(log, r"spark://127\.0\.0\.1:\d+", self.master).group()
        self.workers = [self.add_worker(i) for i in range(2)]

    def add_worker(self, i):
        process, log = start(f"worker-{i}", "org.apache.spark.deploy.worker.Worker", "--host",
                             "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0",
                             self.url)
        wait_for(log, "Successfully registered with master", process)
        return process


def setUpModule():
    global cluster, spark  # pylint: disable=global-variable-undefined
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the cluster, too
    unittest.enterModuleContext(test_docs.place("fleet-page"))  # Spark stays where it was started
    cluster = Cluster()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (SparkSession.builder.master(cluster.url).appName("specimen")
             .config("spark.driver.host", "127.0.0.1").config("spark.ui.enabled", "false")
             .config("spark.executor.memory", "512m").config("spark.driver.memory", "1g")
             .config("spark.executor.cores", "1").config("spark.sql.shuffle.partitions", "4")
             .config("spark.sql.python.filterPushdown.enabled", "true")
             .getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    spark.dataSource.register(specimen.spark.Specimen)


def tearDownModule():
    spark.stop()


def plain(value):
    """Of both engines: decimals, floats and numbers are compared as floats."""
    return value if value is None or isinstance(value, (str, bool)) else float(value)


def sorted_rows(rows):
    return sorted(([plain(v) for v in row] for row in rows), key=repr)


class Files(unittest.TestCase):
    """Parquet files and recordings are the same table."""

    def same(self, expected, frame):
        table = frame.toArrow()
        self.assertEqual(table.column_names, list(expected))
        for name, values in expected.items():
            self.assertTrue(table[name].to_pylist() == values, name)  # a Decimal equals its int

    def test_values(self):
        for name, recording in recordings.all_of_them().items():
            with self.subTest(name):
                parquet = recordings.export(recording, "parquet")
                schema = pyarrow.parquet.read_schema(parquet)
                expected = recordings.from_csv(recording, schema)
                table = spark.read.parquet(parquet)
                self.same(expected, table)
                samples = spark.read.format("specimen").load(recording)
                self.assertEqual(samples.dtypes[:-2], table.dtypes)
                self.same(expected, samples.drop("host", "recording"))

    def same_answers(self, questions, files):
        """As DuckDB's on Parquet files."""
        with duckdb.connect() as db:
            for name in ("samples", "samples_before"):
                db.execute(f"CREATE VIEW {name} AS FROM read_parquet('{files}', "
                           "hive_partitioning = true)")
            for question in questions:
                with self.subTest(question):
                    ours = [[plain(v) for v in row] for row in spark.sql(text(question)).collect()]
                    theirs = [[plain(v) for v in row] for row in db.sql(text(question)).fetchall()]
                    self.assertEqual(len(ours), len(theirs))
                    for a, b in zip(ours, theirs):
                        self.assertEqual(len(a), len(b))
                        for x, y in zip(a, b):
                            if isinstance(x, float) and isinstance(y, float):
                                self.assertAlmostEqual(x, y, places=3)
                            else:
                                self.assertEqual(x, y)

    def test_questions(self):
        recording = recordings.recorded() or recordings.generated("neoverse-n1")
        table = recordings.export(recording, "parquet", *LINES)
        view = spark.read.parquet(table)
        view.createOrReplaceTempView("samples")
        view.createOrReplaceTempView("samples_before")
        self.same_answers(QUESTIONS, table)

    def test_fleet_questions(self):
        (spark.read.format("specimen").option("debug_dir", recordings.programs()[0])
         .load(recordings.fleet() + "/*.data").createOrReplaceTempView("samples"))
        self.same_answers(FLEET, hosts_table() + "**/*.parquet")

    def test_page(self):
        """The examples of docs/fleet.md, and README.md's, as they are written."""
        found = test_docs.blocks("fleet.md")
        self.assertEqual([language for language, _ in found], ["python", "sh", "python", "python"])
        os.symlink(recordings.fleet(), "recordings")
        names, printed = {"spark": spark}, io.StringIO()
        for language, block in found:
            with contextlib.redirect_stdout(printed):
                if language == "sh":
                    test_docs.shell(block)
                else:
                    exec(compile(block, "fleet.md", "exec"), names)  # pylint: disable=exec-used
        self.assertEqual(names["fast"].count(), sum(
            specimen.open(path).report().totals.samples
            for path in glob.glob("recordings/*.data")))
        with contextlib.redirect_stdout(printed):
            exec(test_docs.of_readme()[2], {"spark": spark})  # pylint: disable=exec-used
        self.assertEqual(printed.getvalue().count("plus_minus"), 4)

    def test_large_recordings_are_split(self):
        """By their queues, of which these have two."""
        recording = recordings.generated("neoverse-n1")
        reader = spark.read.format("specimen").option("columns", "cpu,pc,total,recording")
        whole = reader.load(recording)
        self.assertEqual(whole.rdd.getNumPartitions(), 1)
        for size, parts in ((os.path.getsize(recording) - 1, 2), (1, 2)):
            split = reader.option("task_bytes", str(size)).load(recording)
            self.assertEqual(split.rdd.getNumPartitions(), parts)
            self.assertEqual(sorted_rows(split.collect()), sorted_rows(whole.collect()))
        with self.assertRaisesRegex(Exception, "task_bytes: many is not a number"):
            reader.option("task_bytes", "many").load(recording).count()

    def test_options(self):
        recording = recordings.generated("neoverse-n1")
        reader = spark.read.format("specimen")
        chosen = (reader.option("columns", "total,symbol,host").option("filter", "load")
                  .load(recording))
        self.assertEqual(chosen.columns, ["total", "symbol", "host"])
        samples = specimen.open(recording, filter="load and total > 100")
        self.assertEqual(chosen.where("total > 100").count(), samples.report().totals.samples)
        self.assertEqual(chosen.select("host").distinct().collect()[0][0], "testhost")
        with self.assertRaisesRegex(Exception, "nope.*no recording is there"):
            reader.load("/nope/*.data").count()
        with self.assertRaisesRegex(Exception, "is not a column"):
            spark.read.format("specimen").option("columns", "moon").load(recording)


class Fleet(unittest.TestCase):
    """A thousand small recordings and a few large ones, and a worker that dies."""

    @classmethod
    def setUpClass(cls):
        cls.folder = recordings.path("fleet-recordings")
        os.makedirs(cls.folder)
        t = recordings.recording_file
        for i in range(SMALL):
            r = t.Recording(cpus=1)
            r.features[3] = t.feature_string(f"host-{i % 50}")
            r.aux(0, b"".join(t.sample(0x401000 + 4 * (n % 7), 100 + n, 10, va=64 * n,
                                       total=1 + (i * 7 + n) % 90) for n in range(20 + i % 20)))
            r.write(f"{cls.folder}/{i:04}.data")
        for i in range(3):
            part = recordings.generate(f"large-{i}.spe", ["--cpu", "neoverse-n1"], 100000, i)
            t.main([part, f"{cls.folder}/large-{i}.data"])

    def answer(self):
        return spark.sql("SELECT recording, count(*), sum(total), "
                         "count_if(event_l1d_miss AND op IN ('load', 'store')) "
                         "FROM fleet GROUP BY recording").collect()

    def reports(self):
        """The same of the command, recording by recording."""
        def totals(name):
            path = os.path.join(self.folder, name)
            said = json.loads(recordings.run("report", "-q", "--json", "--data", "none", path))
            return [path, *(said["totals"][k] for k in ("samples", "latency", "l1_misses"))]

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return list(pool.map(totals, sorted(os.listdir(self.folder))))

    def kill_in_the_middle(self, seen):
        """Ends one worker, and its executor, when a part of the tasks is done."""
        tracker = spark.sparkContext.statusTracker()
        for _ in range(PATIENCE * 50):
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info and info.numTasks >= TASKS and info.numCompletedTasks >= TASKS // 4:
                    seen.append((info.numCompletedTasks, info.numTasks))
                    end(cluster.workers[0])
                    return
            time.sleep(0.02)

    def test_killed_worker(self):
        samples = spark.read.format("specimen").load(self.folder + "/*.data")
        samples.createOrReplaceTempView("fleet")
        seen = []
        killer = threading.Thread(target=self.kill_in_the_middle, args=(seen,))
        killer.start()
        answer = sorted_rows(self.answer())
        killer.join()
        self.assertEqual(len(seen), 1, "no worker was killed")
        done, tasks = seen[0]
        self.assertTrue(0 < done < tasks, seen)
        self.assertIsNotNone(cluster.workers[0].poll())
        self.assertEqual(len(answer), SMALL + 3)
        self.assertEqual(answer, sorted_rows(self.reports()))


if __name__ == "__main__":
    unittest.main()
