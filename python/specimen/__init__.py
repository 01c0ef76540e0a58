# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Recordings of Arm's Statistical Profiling Extension.

    import polars, specimen

    recording = specimen.open("perf.data", filter="load and total > 100")
    print(recording.info.host, recording.info.cpu, recording.info.interval)
    frame = polars.DataFrame(recording.samples(columns=["symbol", "total", "level"]))
    for function in recording.report().groups:
        print(function.symbol, function.counts.latency)

Samples come as an Arrow stream (`__arrow_c_stream__`), which pyarrow, Polars, DuckDB and pandas read
directly; this package needs none of them. docs/columns.md lists the columns, spe-filter(7) describes
filters. Files that cannot be read and invalid arguments raise `specimen.Error` with a sentence.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from . import _native
from ._native import Error

__all__ = ["Counts", "Error", "Group", "Info", "Mix", "Recording", "Report", "Samples", "Served",
           "columns", "decode", "open"]
__version__ = _native.version

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_BY = ("function", "line", None, "dso", "thread", "cpu", "process", "comm")
_SORT = ("samples", "latency", "l1", "llc", "tlb", "mispredicted")
_NAMES = ("dictionary", "view")


@dataclass(frozen=True)
class Info:
    """Information about a recording. None: the recording does not have it."""

    host: str | None
    kernel: str | None
    machine: str | None
    cpu: str | None
    model: str | None
    """The model's description of itself, if it was not hardware."""
    interval: int | None
    """Operations from one sample to the next."""
    command: list[str]
    """The arguments of the recorder."""
    cpus: list[int]
    timed: bool
    """Samples have times."""
    raw: bool
    """Raw SPE bytes: no times, no threads, no names."""
    damage: str | None
    """The damage of the file. The intact part can still be read."""
    incomplete: bool
    """The recording is incomplete: its recorder was killed, for example."""
    bytes: int
    spe_bytes: int
    queues: int
    """SPE buffers, one for each CPU or thread."""


@dataclass(frozen=True)
class Counts:
    """The counts of a group. Misses and walks count memory operations."""

    samples: int
    latency: int
    """Sum of total latencies, in cycles."""
    memory: int
    branches: int
    l1_misses: int
    llc_misses: int
    tlb_walks: int
    mispredicted: int


@dataclass(frozen=True)
class Mix:
    """Operations of one class, or of one kind of the class before it."""

    name: str
    is_class: bool
    samples: int
    latency_samples: int
    latency: int


@dataclass(frozen=True)
class Served:
    """Loads that one level of the memory served. Latencies are total latencies, in cycles."""

    name: str
    by_source: bool
    """By the Data Source packet; else by events."""
    loads: int
    latency_samples: int
    latency: int
    mean: float
    median: int
    p95: int
    p99: int
    max: int


@dataclass(frozen=True)
class Group:
    """A function, line, dso, thread, CPU, process or comm. None: not known, or not applicable."""

    symbol: str | None
    dso: str | None
    file: str | None
    line: int | None
    pid: int | None
    tid: int | None
    comm: str | None
    cpu: int | None
    counts: Counts


@dataclass(frozen=True)
class Report:
    """The results of `spe report`."""

    totals: Counts
    mix: list[Mix]
    events: dict[str, int]
    """Samples with each event; a sample can have several."""
    served: list[Served]
    groups: list[Group]
    lost: dict[str, int]
    """What is missing: samples, truncated and collided buffers, bytes that are not records."""
    warnings: list[str]


class Samples:
    """Samples, decoded when they are consumed. Each consumer reads the recording again."""

    def __init__(self, source: dict[str, Any], columns: Iterable[str] | None,
                 batch_rows: int | None, names: str) -> None:
        self._columns = None if columns is None else _names(columns)
        self._source = source
        self._batch_rows = batch_rows or 0
        if not 0 <= self._batch_rows <= 1 << 20:
            raise Error("batch_rows: from 1 to 1048576")
        self._names = _choice("names", names, _NAMES)
        _native.check_columns(self._columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A PyCapsule with a struct ArrowArrayStream. A requested schema is not followed, as the
        protocol allows."""
        return _native.stream(self._source, self._columns, self._batch_rows, self._names)


class Recording:
    """A perf.data file, or raw SPE bytes. Made by `open`."""

    def __init__(self, source: dict[str, Any]) -> None:
        self._source = source
        self.info = Info(**_native.info(source))

    def samples(self, columns: Iterable[str] | None = None, *,
                batch_rows: int | None = None,
                names: Literal["dictionary", "view"] = "dictionary") -> Samples:
        """The samples, by time. columns: names of docs/columns.md; only these are computed. Without
        it all but those that take a search (file, line, data, data_offset; file and line are null
        then). batch_rows: most rows of a batch (16384). names: "dictionary", which is a Categorical
        in Polars; or "view", a String there, which Polars takes without a look at each row."""
        return Samples(self._source, columns, batch_rows, names)

    def report(self, by: str = "function", sort: str = "latency", top: int = 20) -> Report:
        """The report, with the first `top` groups.

        by: function, line, dso, thread, cpu, process or comm.
        sort: samples, latency, l1, llc, tlb or mispredicted."""
        if not 0 <= top < 1 << 32:
            raise Error("top: from 0 to 4294967295")
        answer = _native.report(self._source, _choice("by", by, _BY), _choice("sort", sort, _SORT),
                                top)
        return Report(
            totals=Counts(**answer["totals"]),
            mix=[Mix(**row) for row in answer["mix"]],
            events=answer["events"],
            served=[Served(**row) for row in answer["served"]],
            groups=[Group(*code, *task, Counts(**counts))
                    for code, task, counts in answer["groups"]],
            lost=answer["lost"],
            warnings=answer["warnings"],
        )


def open(path: Path, *, filter: str | None = None,
         time: tuple[int | None, int | None] | None = None,
         cpus: Sequence[int] | None = None, pids: Sequence[int] | None = None,
         tids: Sequence[int] | None = None, queues: Sequence[int] | None = None,
         symfs: Path | None = None, debug_dir: Path | None = None, vmlinux: Path | None = None,
         kallsyms: Path | None = None, cpu: str | None = None, raw: bool = False,
         threads: int | None = None, map: bool = False) -> Recording:
    """Open a perf.data file or a file of raw SPE bytes.

    filter: an expression of spe-filter(7). time: from and to, in ns as in the column time_ns, either
    may be None. cpus, pids, tids: keep only these. queues: numbers of the SPE buffers to read, below
    info.queues, so that several readers can share a recording. symfs: directory with the files of the
    recorded machine. debug_dir: build-id cache. vmlinux, kallsyms: symbols of the kernel. cpu: the CPU,
    if the file does not identify it. raw: read raw SPE bytes, even if they do not look like SPE. threads:
    number of decoding threads. map: map the file instead of reading it, which is faster; if the file
    then shrinks, the process is killed (SIGBUS)."""
    return Recording(_source(
        path=os.fsencode(path), filter=filter, cpus=_list(cpus), pids=_list(pids),
        tids=_list(tids), queues=_list(queues), symfs=_path(symfs), debug_dir=_path(debug_dir), vmlinux=_path(vmlinux),
        kallsyms=_path(kallsyms), cpu=cpu, raw=raw, threads=threads, map=map, **_times(time)))


def decode(data: bytes | bytearray | memoryview, columns: Iterable[str] | None = None, *,
           filter: str | None = None, cpu: str | None = None,
           batch_rows: int | None = None,
           names: Literal["dictionary", "view"] = "dictionary") -> Samples:
    """The samples of raw SPE records. cpu ("neoverse-n1", or a MIDR) names data
    sources. The other arguments are those of `Recording.samples`."""
    source = _source(data=bytes(data), filter=filter, cpu=cpu, raw=True)
    _native.info(source)  # a filter or a CPU that makes no sense is said here
    return Samples(source, columns, batch_rows, names)


def columns() -> dict[str, str]:
    """Every column, and what it is."""
    return dict(_native.columns())


def _source(**keywords: Any) -> dict[str, Any]:
    return {name: value for name, value in keywords.items() if value is not None}


def _path(path: Path | None) -> bytes | None:
    return None if path is None else os.fsencode(path)


def _list(numbers: Sequence[int] | None) -> bytes | None:
    return None if numbers is None else array("I", numbers).tobytes()


def _times(time: tuple[int | None, int | None] | None) -> dict[str, int]:
    if time is None:
        return {}
    start, end = time
    limits = (0 if start is None else start, (1 << 64) - 1 if end is None else end)
    if not 0 <= limits[0] < limits[1] < 1 << 64:
        raise Error("time: from is not before to")
    return dict(zip(("time_from", "time_to"), limits))


def _names(columns: Iterable[str]) -> str:
    if isinstance(columns, str):
        raise TypeError("columns is a list of names")
    return ",".join(columns)


def _choice(what: str, name: str, names: tuple[str | None, ...]) -> int:
    if name not in names:
        raise Error(f"{what}: {name} is none of " + ", ".join(n for n in names if n))
    return names.index(name)
