#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""How fast a cluster of Spark on this machine reads recordings, with one worker and with two.

    SPE=path/to/spe .deps/python/bin/python bench/spark_rate.py [MB]

Eight recordings, together 800 MB of SPE bytes by default; a worker has one core. The job sums the
latencies by host and symbol. Times are on the clock, the least of three runs, without the start of the cluster. It
needs the environment that `tools/test.sh spark` makes.
"""

import os
import subprocess
import sys
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(TOP, "python", "tests_spark"), os.path.join(TOP, "python", "tests")]

# pylint: disable=wrong-import-position
import recordings  # noqa: E402
import test_spark  # noqa: E402
from pyspark.sql import functions as f  # noqa: E402

FILES = 8
MEGABYTES = int(sys.argv[1]) if len(sys.argv) > 1 else 800
CHOSEN = "host,symbol,total"


def make():
    folder = recordings.path("rate")
    os.makedirs(folder)
    for i in range(FILES):
        part = recordings.generate(f"rate-{i}.spe", ["--cpu", "neoverse-n1"],
                                   MEGABYTES * 1000000 // FILES // 64, i)
        recordings.recording_file.main([part, f"{folder}/{i}.data"])
        os.unlink(part)
    return folder


def seconds(job):
    def once():
        before = time.monotonic()
        job()
        return time.monotonic() - before
    return min(once() for _ in range(3))


def rates(folder, workers):
    spark = test_spark.spark
    reader = spark.read.format("specimen").option("task_bytes", str(64 << 20))
    if not spark.conf.get("spark.sql.python.filterPushdown.enabled"):
        raise SystemExit("the session is not that of the tests")

    def ask(frame):
        return frame.groupBy("host", "symbol").agg(f.sum("total"), f.count("*")).collect()

    for what, frame in (("all columns", reader.load(folder + "/*.data")),
                        (CHOSEN, reader.option("columns", CHOSEN).load(folder + "/*.data"))):
        took = seconds(lambda frame=frame: ask(frame))
        print(f"  {workers} worker{'s' if workers > 1 else ' '} {what:<20} {took:7.2f} s "
              f"{MEGABYTES / took:7.0f} MB/s", flush=True)


def main():
    folder = make()
    print(f"{MEGABYTES} MB of SPE bytes in {FILES} recordings")
    alone = seconds(lambda: [subprocess.run([recordings.SPE, "report", "-q", f"{folder}/{i}.data"],
                                            check=True, stdout=subprocess.DEVNULL)
                             for i in range(FILES)])
    print(f"  spe report, one after the other {alone:7.2f} s {MEGABYTES / alone:7.0f} MB/s")
    test_spark.setUpModule()
    rates(folder, 2)
    test_spark.end(test_spark.cluster.workers[0])
    rates(folder, 1)
    test_spark.tearDownModule()


if __name__ == "__main__":
    main()
