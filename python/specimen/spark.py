# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Specimen authors
"""Recordings as a data source of Spark 4.1 or newer.

    import specimen.spark

    spark.dataSource.register(specimen.spark.Specimen)
    samples = spark.read.format("specimen").load("recordings/*.data")

Every executor decodes its own files. Options: `columns` (names with commas between them; only these
are computed), `filter` (spe-filter(7), applied before rows are made), `symfs`, `debug_dir`, `cpu`,
`task_bytes` (134217728: a recording that is larger is split by its queues, smaller ones are read
together, up to 32 by one task).
Comparisons of a query's WHERE are applied while decoding, too, if
spark.sql.python.filterPushdown.enabled is true.

Beside the columns of docs/columns.md there are `host` and `recording` (the path). Types are those
that Spark reads from Parquet: unsigned numbers have the next larger type, those of 64 bits are
DECIMAL(20, 0). docs/fleet.md has more.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow
from pyspark.sql.datasource import (DataSource, DataSourceReader, EqualTo, Filter, GreaterThan,
                                    GreaterThanOrEqual, InputPartition, LessThan, LessThanOrEqual)
from pyspark.sql.types import StructType

import specimen

_OURS = ("host", "recording")
_FILES = 32  # most of one task
_TYPES = {"uint8": ("smallint", pyarrow.int16()), "uint16": ("int", pyarrow.int32()),
          "uint32": ("bigint", pyarrow.int64()), "int64": ("bigint", pyarrow.int64()),
          "uint64": ("decimal(20,0)", pyarrow.decimal128(20, 0)),
          "bool": ("boolean", pyarrow.bool_())}
_TEXT = ("string", pyarrow.string())

# Columns that a filter knows by the same name, with the same meaning.
_NUMBERS = ("cpu", "pid", "tid", "total", "issue", "translation")
_COMPARE = {EqualTo: "==", GreaterThan: ">", GreaterThanOrEqual: ">=", LessThan: "<",
            LessThanOrEqual: "<="}


def _bytes(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise specimen.Error(f"task_bytes: {text} is not a number of bytes")
    return int(text)


def _decoded(names: list[str] | None) -> list[str] | None:
    """Columns to decode: there has to be one, to count by."""
    return None if names is None else [n for n in names if n not in _OURS] or ["pc"]


def _fields(names: list[str] | None) -> dict[str, tuple[str, pyarrow.DataType]]:
    """column -> its type in Spark and in Arrow, out of the schema of a recording with nothing in it."""
    samples = specimen.decode(b"", _decoded(names))
    table = pyarrow.RecordBatchReader.from_stream(samples).schema
    known = {field.name: _TYPES.get(str(field.type), _TEXT) for field in table}
    known.update(dict.fromkeys(_OURS, _TEXT))
    return {name: known[name] for name in names or known}


@dataclass
class Task(InputPartition):
    """What one task reads: files, or some queues of one file."""

    paths: list[str]
    queues: list[int] | None = None


def _split(path: str, parts: int) -> list[Task]:
    """A large recording by its queues. What cannot be opened is for the executor to say."""
    try:
        queues = specimen.open(path).info.queues
    except specimen.Error:
        return [Task([path])]
    parts = min(parts, queues)
    return [Task([path], list(range(i, queues, parts))) for i in range(parts)] or [Task([path])]


def _tasks(paths: list[str], task_bytes: int) -> list[Task]:
    """Small recordings together, large ones apart."""
    tasks, files, size = [], [], 0
    for path in paths:
        own = os.path.getsize(path) if os.path.isfile(path) else 0
        if own > task_bytes:
            tasks += _split(path, -(-own // task_bytes))
            continue
        if files and (size + own > task_bytes or len(files) == _FILES):
            tasks.append(Task(files))
            files, size = [], 0
        files.append(path)
        size += own
    return tasks + [Task(files)] if files else tasks


class Specimen(DataSource):
    """The data source. Spark makes it."""

    @classmethod
    def name(cls) -> str:
        return "specimen"

    def _columns(self) -> list[str] | None:
        columns = self.options.get("columns")
        return [name.strip() for name in columns.split(",")] if columns else None

    def schema(self) -> str:
        return ", ".join(f"`{name}` {kind}" for name, (kind, _) in _fields(self._columns()).items())

    def reader(self, schema: StructType) -> Reader:
        return Reader(dict(self.options), schema.fieldNames())


class Reader(DataSourceReader):
    """Plans on the driver, reads on the executors."""

    def __init__(self, options: dict[str, str], names: list[str]) -> None:
        self.options = options
        self.names = names
        self.conditions = [f"({options['filter']})"] if options.get("filter") else []
        self.task_bytes = _bytes(options.get("task_bytes", "134217728"))

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:
        """What we can drop early is dropped early; Spark looks at all that is left once more."""
        for one in filters:
            attribute = getattr(one, "attribute", ())
            operator = _COMPARE.get(type(one))
            if operator and len(attribute) == 1 and attribute[0] in _NUMBERS \
                    and type(one.value) is int and one.value >= 0:
                self.conditions.append(f"{attribute[0]} {operator} {one.value}")
            yield one

    def partitions(self) -> list[Task]:
        pattern = self.options.get("path", "")
        paths = sorted(glob.glob(pattern, recursive=True))
        if not paths:
            raise specimen.Error(f"{pattern}: no recording is there")
        return _tasks([os.path.abspath(path) for path in paths], self.task_bytes)

    def read(self, partition: Task) -> Iterator[pyarrow.RecordBatch]:
        types = {name: kind for name, (_, kind) in _fields(self.names).items()}
        for path in partition.paths:
            yield from self._read_one(path, partition.queues, types)

    def _read_one(self, path: str, queues: list[int] | None,
                  types: dict[str, pyarrow.DataType]) -> Iterator[pyarrow.RecordBatch]:
        options = {name: self.options[name] for name in ("symfs", "debug_dir", "cpu")
                   if name in self.options}
        recording = specimen.open(path, filter=" and ".join(self.conditions) or None,
                                  queues=queues, threads=1, **options)
        # As for `spe export`, lines are looked up only if they are asked for by name.
        decoded = _decoded(self.names if self.options.get("columns") else None)
        constants = {"host": recording.info.host, "recording": path}
        for batch in pyarrow.RecordBatchReader.from_stream(recording.samples(decoded)):
            yield pyarrow.RecordBatch.from_arrays(
                [pyarrow.array([constants[name]] * len(batch), types[name]) if name in constants
                 else batch[name].cast(types[name]) for name in self.names], self.names)
