"""Immutable Parquet files of dataset rows, written durably and checked by their hash before they are read."""

from __future__ import annotations

import datetime as dt
import errno
import hashlib
import os
import re
import threading
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from artifact.model import ROW_ID, ROW_LOCATOR, Column, ColumnType, Dataset
from knowledge_svc.datasets.held import ROW_ID_COLUMN, ROW_LOCATOR_COLUMN, column_name
from knowledge_svc.domain.errors import DiskFull, InvalidArtifact, SnapshotDamaged
from knowledge_svc.domain.model import DatasetSnapshot, SchemaState, Scope
from knowledge_svc.domain.plan import Scalar

_SUFFIX: Final = ".parquet"
_PARTIAL: Final = ".partial"
_ID: Final = re.compile(r"[0-9a-f]{32}")
_ROWS_PER_GROUP: Final = 122_880  # the engine reads row groups of this size in parallel
_READ_BYTES: Final = 1 << 20
_MAX_DIGITS: Final = 38
_FIRST_DATE: Final = dt.date(1, 1, 1)
_LAST_DATE: Final = dt.date(9999, 12, 31)
_ARROW_TYPES: Final = {
    ColumnType.STRING: pa.string(),
    ColumnType.BOOL: pa.bool_(),
    ColumnType.DATE: pa.date32(),
    ColumnType.DATETIME: pa.timestamp("us"),
    ColumnType.TIME: pa.time64("us"),
    ColumnType.DURATION: pa.int64(),
}

_FileState: TypeAlias = tuple[int, int, int, int]
"""Inode, size, and times of change in nanoseconds."""


class SnapshotFiles:
    """The files of one folder, each named by its snapshot's id. Safe from several threads."""

    def __init__(self, directory: Path, *, new_id: Callable[[], str] = lambda: uuid.uuid4().hex) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory.resolve()
        self._new_id = new_id
        self._verified: dict[Path, tuple[_FileState, str]] = {}
        self._lock = threading.Lock()

    @property
    def directory(self) -> Path:
        """The folder, as an absolute path."""
        return self._directory

    def write(
        self, dataset: Dataset, *, scope: Scope, source_uri: str, revision: int, ordinal: int, published_at: dt.datetime
    ) -> DatasetSnapshot:
        """Writes a dataset's rows; the file is on disk under its final name when this returns.

        Raises:
            InvalidArtifact: the rows are not those of the columns, or hold what no snapshot can.
            DiskFull: the disk is full; nothing is left behind.
        """
        snapshot_id = self._new_id()
        table = _to_table(dataset)
        file_sha256 = self._write_file(table, self._path(snapshot_id))
        return DatasetSnapshot(
            snapshot_id=snapshot_id,
            scope=scope,
            source_uri=source_uri,
            dataset_id=dataset.id,
            name=dataset.name,
            ordinal=ordinal,
            revision=revision,
            columns=tuple(replace(column, precision=min(column.precision, _MAX_DIGITS)) for column in dataset.columns),
            schema_state=SchemaState.NEEDS_CLARIFICATION if dataset.clarifications else SchemaState.INFERRED,
            clarifications=dataset.clarifications,
            row_count=table.num_rows,
            rejected_count=dataset.rejected_count,
            rejected_rows=dataset.rejected_rows,
            complete=dataset.complete,
            locator=dataset.locator,
            file_sha256=file_sha256,
            published_at=published_at,
        )

    def verified(self, snapshot: DatasetSnapshot) -> Path:
        """Returns the snapshot's file once its bytes are those that were written; a file that did not change is hashed once.

        Raises:
            SnapshotDamaged: the file is missing or its bytes changed.
        """
        path = self._path(snapshot.snapshot_id)
        try:
            state = _state(path)
            with self._lock:
                known = self._verified.get(path)
            if known != (state, snapshot.file_sha256):
                if _sha256(path) != snapshot.file_sha256:
                    raise _damaged(snapshot, "the bytes of its file changed")
                with self._lock:
                    self._verified[path] = (state, snapshot.file_sha256)
        except OSError as error:
            raise _damaged(snapshot, "its file cannot be read") from error
        return path

    def sample(self, snapshot: DatasetSnapshot, rows: int) -> list[tuple[Scalar | None, ...]]:
        """Returns the first rows, one value a stored column.

        Raises:
            SnapshotDamaged: the file is missing or its bytes changed.
        """
        positions = [i for i, column in enumerate(snapshot.columns) if column.stored]
        with pq.ParquetFile(self.verified(snapshot)) as file:
            batches = file.iter_batches(batch_size=max(rows, 1), columns=[column_name(i) for i in positions])
            first = next(batches, None)
        if first is None or not positions:
            return [() for _ in range(min(rows, snapshot.row_count))]
        values = [_values(first.column(j), snapshot.columns[i]) for j, i in enumerate(positions)]
        return list(zip(*values, strict=True))[:rows]

    def sweep(self, known: Collection[str], *, written_before: dt.datetime) -> int:
        """Removes files of snapshots that are not known and were last written before; returns how many.

        The margin keeps files whose publish has not committed yet; at the start of the process there are none.
        """
        removed = 0
        for path in self._directory.iterdir():
            is_orphan = path.name.endswith((_SUFFIX, _PARTIAL)) and path.name.removesuffix(_SUFFIX) not in known
            if is_orphan and path.stat().st_mtime < written_before.timestamp():
                path.unlink(missing_ok=True)
                with self._lock:
                    self._verified.pop(path, None)
                removed += 1
        if removed:
            _sync_directory(self._directory)
        return removed

    def _path(self, snapshot_id: str) -> Path:
        if not _ID.fullmatch(snapshot_id):
            raise ValueError("a snapshot id is 32 hexadecimal digits")
        return self._directory / f"{snapshot_id}{_SUFFIX}"

    def _write_file(self, table: pa.Table, path: Path) -> str:
        partial = path.with_suffix(_PARTIAL)
        with _removed_on_failure(partial), partial.open("wb") as file:
            sink = _HashingSink(file)
            with pq.ParquetWriter(
                pa.PythonFile(sink, mode="w"), table.schema, compression="zstd", store_decimal_as_integer=True
            ) as writer:
                writer.write_table(table, row_group_size=_ROWS_PER_GROUP)
            file.flush()
            os.fsync(file.fileno())
            partial.rename(path)
            _sync_directory(self._directory)
        return sink.sha256


class _HashingSink:
    """A file that is only appended to, hashed on the way."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.closed = False

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def write(self, data: bytes) -> int:
        self._hash.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self.closed = True


@contextmanager
def _removed_on_failure(path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull("the disk is full; free some space and ingest again") from error
        raise


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _state(path: Path) -> _FileState:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_READ_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def _damaged(snapshot: DatasetSnapshot, what: str) -> SnapshotDamaged:
    return SnapshotDamaged(
        f"the snapshot of dataset {snapshot.dataset_id} of {snapshot.source_uri} is damaged: {what}; ingest the source again",
        metadata={
            "source_uri": snapshot.source_uri,
            "dataset_id": snapshot.dataset_id,
            "snapshot_id": snapshot.snapshot_id,
        },
    )


def _to_table(dataset: Dataset) -> pa.Table:
    """The rows under the names of their places; the names of the source go into the file's schema."""
    stored = [(i, column) for i, column in enumerate(dataset.columns) if column.stored]
    expected = [ROW_ID, ROW_LOCATOR, *(column.name for _, column in stored)]
    if dataset.rows.column_names != expected:
        raise _invalid(dataset, "rows", "its rows do not have the dataset's columns")
    fields = [pa.field(ROW_ID_COLUMN, pa.int64(), nullable=False), pa.field(ROW_LOCATOR_COLUMN, pa.string())]
    arrays = [dataset.rows.column(0), dataset.rows.column(1)]
    for place, (i, column) in enumerate(stored, start=2):
        arrays.append(_to_held(dataset, column, dataset.rows.column(place)))
        fields.append(pa.field(column_name(i), arrays[-1].type, metadata={"name": column.name}))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _to_held(dataset: Dataset, column: Column, values: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        if column.type is ColumnType.DURATION:
            values = values.cast(pa.duration("us"))
        held = values.cast(_arrow_type(column))
    except pa.ArrowException as error:
        raise _invalid(dataset, column.name, f"its values do not fit the type {column.type}") from error
    if column.type in (ColumnType.DATE, ColumnType.DATETIME) and not _tellable(held):
        raise _invalid(dataset, column.name, "it holds a date outside the years 1 to 9999")
    return held


def _arrow_type(column: Column) -> pa.DataType:
    if column.type is not ColumnType.NUMBER:
        return _ARROW_TYPES[column.type]
    return pa.decimal128(min(column.precision, _MAX_DIGITS), column.scale) if column.precision else pa.float64()


def _tellable(values: pa.ChunkedArray) -> bool:
    dates = values.cast(pa.date32(), safe=False)
    bounds = pc.min_max(dates.cast(pa.int32()))
    least, most = bounds["min"].as_py(), bounds["max"].as_py()
    epoch = dt.date(1970, 1, 1)
    return least is None or ((_FIRST_DATE - epoch).days <= least and most <= (_LAST_DATE - epoch).days)


def _values(array: pa.Array, column: Column) -> list[Scalar | None]:
    values = array.cast(pa.duration("us")) if column.type is ColumnType.DURATION else array
    return list(values.to_pylist())


def _invalid(dataset: Dataset, column: str, what: str) -> InvalidArtifact:
    return InvalidArtifact(
        f"dataset {dataset.id} cannot be kept: column {column}: {what}", metadata={"dataset_id": dataset.id, "column": column}
    )
