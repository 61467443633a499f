"""Runs compiled plans on locked-down connections: no file but the snapshots, bounded memory, time and rows."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import duckdb

from knowledge_svc.datasets.compile import CompiledPlan, Statement, compile_plan, compile_repeats, compile_rows
from knowledge_svc.datasets.figures import OVERFLOW_MARK
from knowledge_svc.datasets.held import from_engine, quote, to_engine
from knowledge_svc.datasets.snapshots import SnapshotFiles
from knowledge_svc.domain.checked_plan import CheckedPlan, ResultTable, Step
from knowledge_svc.domain.datasets import Explanation, QueryRun, SourceRow
from knowledge_svc.domain.errors import NumberOverflow, QueryMemory, ResultTooLarge, SnapshotDamaged
from knowledge_svc.domain.fan_out import Repeats, refuse_fan_out
from knowledge_svc.domain.stop import Stop
from services.errors import Internal

_WATCH_S: Final = 0.05
"""How often a running query is checked against its stop; far below the second within which it has to end."""


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """Bounds of one query, and how many run at once; memory and threads are per query."""

    memory_bytes: int = 1 << 30
    threads: int = 2
    max_running: int = 2
    max_result_rows: int = 100_000
    max_result_values: int = 2_000_000
    timeout_s: float = 30.0


class DuckDbEngine:
    """A few connections, each with a database of its own in memory, that read the snapshots of one folder."""

    def __init__(self, files: SnapshotFiles, limits: EngineLimits) -> None:
        self._files = files
        self._limits = limits
        self._idle: queue.LifoQueue[duckdb.DuckDBPyConnection] = queue.LifoQueue()
        for _ in range(limits.max_running):
            self._idle.put(locked_connection(files.directory, limits))

    @property
    def version(self) -> str:
        """Name and version, as receipts cite it."""
        return f"duckdb {duckdb.__version__}"

    def close(self) -> None:
        """Closes every connection, waiting for those that work."""
        for _ in range(self._limits.max_running):
            self._idle.get().close()

    def run(self, checked: CheckedPlan, *, stop: Stop) -> QueryRun:
        """Runs a plan over every row of its snapshots.

        Raises:
            SnapshotDamaged: a snapshot's file is missing or changed.
            FanOut: a join repeats rows under a figure.
            ResultTooLarge, NumberOverflow, QueryMemory, QueryTimeout, Cancelled: there is no whole answer.
        """
        max_rows = self._max_rows(checked)
        compiled = compile_plan(checked, max_rows=max_rows)
        with self._session(checked, stop) as session:
            refuse_fan_out(checked, partial(_repeats, session))
            rows = session.answer(compiled.main)
            if len(rows) > max_rows:
                raise _too_large(max_rows)
            steps = _steps(checked, compiled, rows=rows, session=session)
        return QueryRun(_table(checked, compiled, rows), compiled.main.text, compiled.main.parameters, steps)

    def explain(self, checked: CheckedPlan, *, stop: Stop) -> Explanation:
        """Shows what a plan would run; raises as `run`."""
        statement = compile_plan(checked, max_rows=self._max_rows(checked)).main
        with self._session(checked, stop) as session:
            return Explanation(statement.text, statement.parameters, session.explain(statement))

    def rows(self, checked: CheckedPlan, *, dataset: int, after: int, limit: int, stop: Stop) -> list[SourceRow]:
        """Returns a dataset's first rows with an id greater than `after` behind what the plan's `where` keeps; raises as `run`."""
        statement, held = compile_rows(checked, dataset=dataset, after=after, limit=limit)
        with self._session(checked, stop) as session:
            found = session.answer(statement)
        return [
            SourceRow(_whole(row_id), str(place), tuple(from_engine(value, one) for value, one in zip(values, held, strict=True)))
            for row_id, place, *values in found
        ]

    def _max_rows(self, checked: CheckedPlan) -> int:
        return min(self._limits.max_result_rows, self._limits.max_result_values // len(checked.columns))

    @contextmanager
    def _session(self, checked: CheckedPlan, stop: Stop) -> Iterator[Session]:
        """Opens a session that reads the plan's snapshots, their bytes checked, and stops in time."""
        paths = {one.snapshot_id: self._files.verified(one) for one in checked.snapshots}
        stop = stop.shortened(self._limits.timeout_s)
        with self._connection(stop) as connection, _translated(stop), _views(connection, paths):
            yield Session(connection, stop)

    @contextmanager
    def _connection(self, stop: Stop) -> Iterator[duckdb.DuckDBPyConnection]:
        """Takes an idle connection and puts it back; one that broke is replaced."""
        connection = self._take(stop)
        try:
            with _interrupted(connection, stop):
                yield connection
        except (duckdb.FatalException, duckdb.InternalException):
            connection.close()
            connection = locked_connection(self._files.directory, self._limits)
            raise
        finally:
            self._idle.put(connection)

    def _take(self, stop: Stop) -> duckdb.DuckDBPyConnection:
        """Waits for an idle connection no longer than the query may."""
        while True:
            stop.check()
            with suppress(queue.Empty):
                return self._idle.get(timeout=_WATCH_S)


def locked_connection(directory: Path, limits: EngineLimits) -> duckdb.DuckDBPyConnection:
    """Opens a database in memory that reads files of the folder and nothing else, and whose settings cannot change."""
    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{limits.memory_bytes // 1024}KiB",
            "threads": limits.threads,
            "temp_directory": "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "allow_persistent_secrets": False,
            "python_enable_replacements": False,
            "preserve_insertion_order": False,  # every statement orders its rows; this way it takes less memory
        },
    )
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(f"SET allowed_directories = [{_text(f'{directory}/')}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


class Session:
    """One query's use of a connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, stop: Stop) -> None:
        self._connection = connection
        self._stop = stop

    def answer(self, statement: Statement) -> list[tuple[object, ...]]:
        """Returns every row of a statement.

        Raises:
            Internal: it is not one SELECT.
            QueryTimeout, Cancelled: the work has to end.
        """
        rows = self._execute(self._parse(statement), statement)
        self._stop.check()
        return rows

    def explain(self, statement: Statement) -> str:
        """Returns the engine's plan of a statement, as text; raises as `answer`."""
        parsed = self._parse(statement)
        return str(self._execute(f"EXPLAIN {parsed.query}", statement)[0][1])

    def _parse(self, statement: Statement) -> duckdb.Statement:
        self._stop.check()
        parsed = self._connection.extract_statements(statement.text)
        if len(parsed) != 1 or parsed[0].type != duckdb.StatementType.SELECT:
            raise Internal("a plan compiled to something else than one SELECT statement")
        return parsed[0]

    def _execute(self, query: duckdb.Statement | str, statement: Statement) -> list[tuple[object, ...]]:
        bound = [to_engine(value) for value in statement.parameters]
        rows: list[tuple[object, ...]] = self._connection.execute(query, bound).fetchall()
        return rows


@contextmanager
def _views(connection: duckdb.DuckDBPyConnection, paths: dict[str, Path]) -> Iterator[None]:
    """Gives each snapshot's file its id as a name."""
    try:
        for snapshot_id, path in paths.items():
            connection.read_parquet(str(path)).create_view(snapshot_id, replace=True)
        yield
    finally:
        with suppress(duckdb.InterruptException):  # what is left is replaced by the next query of the snapshot
            for snapshot_id in paths:
                connection.execute(f"DROP VIEW IF EXISTS {quote(snapshot_id)}")


@contextmanager
def _interrupted(connection: duckdb.DuckDBPyConnection, stop: Stop) -> Iterator[None]:
    """Interrupts the connection once the stop is reached, again and again: an interrupt between two statements is lost."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_WATCH_S):
            if stop.reached:
                connection.interrupt()

    watcher = threading.Thread(target=watch, name="query-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


@contextmanager
def _translated(stop: Stop) -> Iterator[None]:
    try:
        yield
    except duckdb.InterruptException:
        stop.check()
        raise
    except duckdb.OutOfMemoryException as error:
        raise QueryMemory(
            "the query needs more memory than allowed; narrow it with where, or take fewer columns or groups"
        ) from error
    except duckdb.OutOfRangeException as error:
        raise _overflow() from error
    except duckdb.InvalidInputException as error:
        if OVERFLOW_MARK not in str(error):
            raise
        raise _overflow() from error
    except duckdb.IOException as error:
        raise SnapshotDamaged("a snapshot's file cannot be read; ingest the source again") from error


def _overflow() -> NumberOverflow:
    return NumberOverflow("a figure does not fit in 38 digits; narrow the query with where or group it")


def _too_large(max_rows: int) -> ResultTooLarge:
    return ResultTooLarge(
        f"the result has more than {max_rows} rows; narrow it with where or ask for fewer with limit",
        metadata={"max_rows": str(max_rows)},
    )


def _text(value: str) -> str:
    """A text literal; for paths of ours alone, since DDL takes no parameters."""
    return "'" + value.replace("'", "''") + "'"


def _table(checked: CheckedPlan, compiled: CompiledPlan, rows: Sequence[tuple[object, ...]]) -> ResultTable:
    held = compiled.held
    read = tuple(tuple(from_engine(row[i], one) for i, one in enumerate(held)) for row in rows)
    selected = checked.selects_rows and not checked.plan.distinct
    row_ids = tuple(_row_ids(checked, row[len(held) :]) for row in rows) if selected else ()
    return ResultTable(checked.columns, read, row_ids)


def _row_ids(checked: CheckedPlan, found: Sequence[object]) -> tuple[tuple[int, ...], ...]:
    """One tuple a dataset of the plan: the row it gave, or none."""
    given = dict(zip(checked.visible, found, strict=True))
    ids = (given.get(place) for place in range(len(checked.snapshots)))
    return tuple(() if one is None else (_whole(one),) for one in ids)


def _repeats(session: Session, checked: CheckedPlan) -> list[Repeats]:
    counts = [_whole(count) for count in session.answer(compile_repeats(checked))[0]]
    return [Repeats(place, *counts[2 * i : 2 * i + 2]) for i, place in enumerate(checked.visible)]


def _steps(
    checked: CheckedPlan, compiled: CompiledPlan, *, rows: Sequence[tuple[object, ...]], session: Session
) -> tuple[Step, ...]:
    """Tells what each step did to the rows."""
    if checked.selects_rows and not checked.plan.distinct:
        kept = before_limit = _rows_before_limit(checked, compiled, rows=rows, session=session)
        over = []
    else:
        passing, kept, groups, *present = _group_totals(compiled, rows, session)
        over = [*_skipped(checked, compiled, kept=kept, present=present), Step("group", kept, groups)]
        over += [Step("having", groups, passing)] if checked.having else []
        before_limit = passing
    read = sum(snapshot.row_count for snapshot in checked.snapshots)
    joined = _whole(session.answer(compiled.joined)[0][0]) if compiled.joined else kept
    joins = [Step("join", read, joined)] if checked.joins else []
    where = [Step("where", joined if joins else read, kept)] if checked.where else []
    limit = [] if checked.plan.limit is None else [Step("limit", before_limit, len(rows))]
    return (Step("read", read, read), *joins, *where, *over, *limit)


def _rows_before_limit(
    checked: CheckedPlan, compiled: CompiledPlan, *, rows: Sequence[tuple[object, ...]], session: Session
) -> int:
    if compiled.totals is None or (checked.plan.limit is not None and len(rows) < checked.plan.limit):
        return len(rows)
    return _whole(session.answer(compiled.totals)[0][0])


def _group_totals(compiled: CompiledPlan, rows: Sequence[tuple[object, ...]], session: Session) -> list[int]:
    """Groups that pass `having`, rows, groups, and values that are not null of each column read."""
    if compiled.totals is not None:
        return [_whole(value or 0) for value in session.answer(compiled.totals)[0]]
    if not rows:
        return [0] * (3 + len(compiled.present))
    rows_read, groups, *present = (_whole(value) for value in rows[0][len(compiled.held) :])
    return [groups, rows_read, groups, *present]


def _skipped(checked: CheckedPlan, compiled: CompiledPlan, *, kept: int, present: Sequence[int]) -> list[Step]:
    return [
        Step(f"aggregate {checked.columns[len(checked.keys) + i].name}", kept, present[place], kept - present[place])
        for i, place in enumerate(compiled.present)
        if place is not None
    ]


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"the engine answered {type(value).__name__} for a count")
    return value
