"""What binds a result to what it was made of: canonical forms, their hashes, and sentences on what was left out."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

from knowledge_svc.domain.checked_plan import ResultTable, Step
from knowledge_svc.domain.model import DatasetSnapshot
from knowledge_svc.domain.plan import (
    Aggregate,
    All,
    AnyOf,
    ColumnRef,
    Comparison,
    Join,
    Not,
    OrderBy,
    Plan,
    Predicate,
    Scalar,
)

_LABELS: Final = {
    "plan_sha256": "the hash of the plan",
    "snapshots": "what it says of the snapshots",
    "result_sha256": "the hash of the result",
    "result_rows": "the number of rows",
    "incomplete": "what it says was left out",
    "steps": "what it says of the steps",
    "statement": "the statement",
    "parameters": "a parameter of the statement",
    "engine": "the engine",
}

Json: TypeAlias = "str | int | bool | list[Json] | dict[str, Json] | None"

_MICROSECOND: Final = dt.timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class SnapshotRead:
    """A snapshot that a plan read, by its id and by what it held."""

    alias: str
    source_uri: str
    dataset_id: str
    snapshot_id: str
    revision: int
    row_count: int
    rejected_rows: int
    file_sha256: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """All that is needed to run a plan again and compare. `incomplete` has one sentence a dataset that left rows out.

    One that a caller hands in has no `executed_at`: when it ran is not compared.
    """

    plan: Plan
    plan_sha256: str
    snapshots: tuple[SnapshotRead, ...]
    statement: str
    parameters: tuple[Scalar, ...]
    engine: str
    result_sha256: str
    result_rows: int
    incomplete: tuple[str, ...]
    steps: tuple[Step, ...]
    executed_at: dt.datetime | None = None

    @property
    def complete(self) -> bool:
        """Whether no dataset left rows out."""
        return not self.incomplete


def plan_sha256(plan: Plan) -> str:
    """The SHA-256 of the plan's canonical form."""
    return hashlib.sha256(canonical_plan(plan).encode()).hexdigest()


def canonical_plan(plan: Plan) -> str:
    """One line of JSON with sorted keys in which every part of the plan stands, defaults too."""
    return _line(
        {
            "datasets": [{"source_uri": one.source_uri, "dataset_id": one.dataset_id, "alias": one.alias} for one in plan.datasets],
            "joins": [_join(one) for one in plan.joins],
            "where": [_predicate(one) for one in plan.where],
            "group_by": [
                {"column": _ref(one.column), "time_part": str(one.time_part or ""), "as": one.name} for one in plan.group_by
            ],
            "aggregates": [_aggregate(one) for one in plan.aggregates],
            "having": [_predicate(one) for one in plan.having],
            "select": [{"column": _ref(one.column), "as": one.name} for one in plan.select],
            "distinct": plan.distinct,
            "order_by": [_order(one) for one in plan.order_by],
            "limit": plan.limit,
        }
    )


def snapshots_read(plan: Plan, snapshots: Sequence[DatasetSnapshot]) -> tuple[SnapshotRead, ...]:
    """The snapshots of a plan, in the order of its datasets, as receipts cite them."""
    return tuple(
        SnapshotRead(
            alias=one.alias,
            source_uri=snapshot.source_uri,
            dataset_id=snapshot.dataset_id,
            snapshot_id=snapshot.snapshot_id,
            revision=snapshot.revision,
            row_count=snapshot.row_count,
            rejected_rows=snapshot.rejected_count,
            file_sha256=snapshot.file_sha256,
        )
        for one, snapshot in zip(plan.datasets, snapshots, strict=True)
    )


def differences(claimed: Receipt, found: Receipt) -> tuple[str, ...]:
    """Says of each part of a receipt in which it is not what running its plan again gives; when it ran is no part."""
    return tuple(
        f"{label} is not what running the plan again gives"
        for name, label in _LABELS.items()
        if getattr(claimed, name) != getattr(found, name)
    )


def result_sha256(table: ResultTable) -> str:
    """The SHA-256 of the result's canonical form: a line for the columns, then one for each row's values."""
    digest = hashlib.sha256()
    columns: list[Json] = [[one.name, str(one.type), one.precision, one.scale] for one in table.columns]
    digest.update(_line(columns).encode() + b"\n")
    for row in table.rows:
        values: list[Json] = [None if value is None else scalar_text(value) for value in row]
        digest.update(_line(values).encode() + b"\n")
    return digest.hexdigest()


def scalar_text(value: Scalar) -> str:
    """A value as text: exact digits without exponent, the shortest digits that read back to a double, ISO 8601, seconds."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value)
        case int() | Decimal():
            return format(value, "f") if isinstance(value, Decimal) else str(value)
        case dt.timedelta():
            return duration_text(value)
        case _:
            return value.isoformat()


def duration_text(value: dt.timedelta) -> str:
    """Seconds with up to six decimals, such as `5400` or `-0.25`."""
    microseconds = value // _MICROSECOND
    whole, rest = divmod(abs(microseconds), 1_000_000)
    decimals = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{'-' if microseconds < 0 else ''}{whole}{decimals}"


def incomplete_sentences(snapshots: Sequence[DatasetSnapshot]) -> tuple[str, ...]:
    """Says of each dataset that left rows or values out what it left out."""
    sentences = []
    for snapshot in snapshots:
        parts = []
        if snapshot.rejected_count:
            rows = "1 row" if snapshot.rejected_count == 1 else f"{snapshot.rejected_count} rows"
            parts.append(f"{rows} of the source did not fit the columns and {'is' if rows == '1 row' else 'are'} left out")
        if not snapshot.complete:
            parts.append("the extraction did not keep every value of the table")
        if parts:
            sentences.append(f"dataset {snapshot.dataset_id} of {snapshot.source_uri}: {'; '.join(parts)}")
    return tuple(sentences)


def _predicate(predicate: Predicate) -> Json:
    match predicate:
        case Comparison():
            return {
                "column": _ref(predicate.column),
                "operator": str(predicate.operator),
                "values": [_typed(value) for value in predicate.values],
                "ignore_case": predicate.ignore_case,
            }
        case Not(inner):
            return {"not": _predicate(inner)}
        case All(predicates):
            return {"all": [_predicate(one) for one in predicates]}
        case AnyOf(predicates):
            return {"any": [_predicate(one) for one in predicates]}


def _join(join: Join) -> Json:
    return {
        "alias": join.alias,
        "kind": str(join.kind),
        "keys": [{"left": _ref(key.left), "right": _ref(key.right)} for key in join.keys],
        "allow_fan_out": join.allow_fan_out,
    }


def _aggregate(aggregate: Aggregate) -> Json:
    return {
        "function": str(aggregate.function),
        "column": None if aggregate.column is None else _ref(aggregate.column),
        "as": aggregate.name,
        "condition": None if aggregate.condition is None else _predicate(aggregate.condition),
        "fraction": None if aggregate.fraction is None else scalar_text(aggregate.fraction),
        "order_by": [_order(one) for one in aggregate.order_by],
    }


def _order(order: OrderBy) -> Json:
    return {"name": order.name, "alias": order.alias, "descending": order.descending, "nulls_first": order.nulls_first}


def _ref(ref: ColumnRef) -> Json:
    return {"alias": ref.alias, "column": ref.column}


def _typed(value: Scalar) -> Json:
    return {type(value).__name__.lower(): scalar_text(value)}


def _line(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
