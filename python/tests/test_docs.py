# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""The examples of docs/python.md, docs/sql.md and README.md run as they are written."""

import collections
import contextlib
import io
import os
import re
import shutil
import statistics
import subprocess
import sys
import textwrap
import unittest

import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import recordings
import specimen

os.environ["MPLBACKEND"] = "Agg"  # what is shown is not seen

DOCS = os.path.join(recordings.TOP, "docs")


def blocks(name):
    """(language, text) of each example of a page."""
    with open(os.path.join(DOCS, name), encoding="utf-8") as f:
        return re.findall(r"^```(\w*)\n(.*?)^```$", f.read(), re.MULTILINE | re.DOTALL)


def of_readme():
    """What README.md shows of data frames: lines for the shell, for Python, and for Spark."""
    with open(os.path.join(recordings.TOP, "README.md"), encoding="utf-8") as f:
        section = re.search(r"^## Data frames and SQL\n(.*?)^## ", f.read(), re.MULTILINE | re.DOTALL)
    commands, *python = re.findall(r"(?:^    .*\n)+", section.group(1), re.MULTILINE)
    return (re.sub(r"^    \$ ", "", commands, flags=re.MULTILINE), *map(textwrap.dedent, python))


def shell(text):
    """Runs an example with this tree's command; what it prints."""
    path = os.pathsep.join((os.path.dirname(recordings.SPE), os.path.dirname(sys.executable),
                            os.environ["PATH"]))
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], env=dict(os.environ, PATH=path),
                          capture_output=True, check=False, timeout=100)
    assert done.returncode == 0, (text, done)
    return done.stdout.decode()


@contextlib.contextmanager
def place(name, **files):
    """A folder to run examples in, with the questions and some files."""
    folder, before = recordings.path(name), os.getcwd()
    os.makedirs(folder)
    os.symlink(os.path.realpath(os.path.join(recordings.TOP, "sql")), folder + "/sql")
    for file, source in files.items():
        shutil.copy(source, os.path.join(folder, file.replace("_", ".")))
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def recording():
    return recordings.recorded() or recordings.generated("neoverse-n1")


class Examples(unittest.TestCase):
    def run_all(self, name, expected):
        """Every block; the namespace of those in Python, and what all printed."""
        found, names, printed = blocks(name), {}, io.StringIO()
        self.assertEqual([language for language, _ in found], expected)
        for language, text in found:
            if text.startswith("pip install ."):
                continue  # what made the package that is tested here
            if language == "sh":
                printed.write(shell(text))
            else:
                with contextlib.redirect_stdout(printed):
                    exec(compile(text, name, "exec"), names)  # pylint: disable=exec-used
        return names, printed.getvalue()

    def test_python(self):
        bare = recordings.generate("buffer.spe", ["--cpu", "neoverse-n1"])
        with place("python-page", perf_data=recording(), buffer_spe=bare):
            names, printed = self.run_all("python.md", ["sh"] + ["python"] * 4)
            self.check_plot(names["plot"], names["specimen"].open("perf.data", filter="load"))
        self.assertEqual(len(names["frame"]), recordings.RECORDS)
        self.assertEqual(len(printed.splitlines()),
                         len(names["report"].served) + len(names["report"].groups))

    def check_plot(self, plot, loads):
        """A line for each level, through the medians of the milliseconds."""
        rows = pyarrow.table(loads.samples(["time_ns", "level", "total"])).to_pylist()
        start = min(r["time_ns"] for r in rows)
        totals = collections.defaultdict(lambda: collections.defaultdict(list))
        for r in rows:
            totals[r["level"] or "not known"][(r["time_ns"] - start) // 1000000].append(r["total"])
        lines = {line.get_label(): line for line in plot.gcf().axes[0].lines}
        self.assertEqual(set(lines), set(totals))
        for level, line in lines.items():
            self.assertEqual(list(line.get_xdata()), sorted(totals[level]))
            self.assertEqual(list(line.get_ydata()),
                             [statistics.median(totals[level][ms]) for ms in sorted(totals[level])])

    def test_readme(self):
        commands, python, _ = of_readme()
        with place("readme", perf_data=recording()):
            for host in ("a", "b"):
                os.makedirs(f"runs/{host}")
                shutil.copy("perf.data", f"runs/{host}/perf.data")
            self.assertIn("symbol", shell(commands))
            self.assertEqual(pyarrow.dataset.dataset("fleet").count_rows(),
                             2 * pyarrow.parquet.read_metadata("samples.parquet").num_rows)
            *lines, last = python.splitlines()
            names = {}
            exec("\n".join(lines), names)  # pylint: disable=exec-used
            frame = eval(last, names)  # pylint: disable=eval-used
            loads = specimen.open("perf.data", filter="load and total > 100").report().totals
            self.assertEqual((len(frame), frame["total"].sum()), (loads.samples, loads.latency))

    def test_sql(self):
        with place("sql-page", perf_data=recording()):
            _, printed = self.run_all("sql.md", ["sh", "sh", "python"])
        for word in ("symbol", "l1_misses", "deviations"):
            self.assertIn(word, printed)


if __name__ == "__main__":
    unittest.main()
