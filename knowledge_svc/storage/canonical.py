"""Values without columns of their own, as canonical JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from artifact.locators import Locator, from_json, to_json
from artifact.model import (
    ArtifactWarning,
    Clarification,
    Column,
    ColumnType,
    Coverage,
    FailedUnit,
    RejectedRow,
    TypeCount,
    WordCount,
)
from knowledge_svc.domain.model import FailureClass, JobErrorCode, JobFailure

Json: TypeAlias = Any  # as json.loads returns it


def dumps(value: Json) -> str:
    """Writes JSON with sorted keys and no spaces, so that equal values are equal texts."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def coverage_text(coverage: Coverage | None) -> str | None:
    """Writes a ledger; None stays None."""
    if coverage is None:
        return None
    return dumps(
        {
            "unit": coverage.unit,
            "total": coverage.total,
            "extracted": coverage.extracted,
            "failed": [{"unit": unit.unit, "reason": unit.reason, "locator": _place(unit.locator)} for unit in coverage.failed],
            "lost": coverage.lost,
            "words_emitted": coverage.words_emitted,
            "words_excluded": _word_counts(coverage.words_excluded),
            "words_unread": _word_counts(coverage.words_unread),
        }
    )


def coverage_of(text: str | None) -> Coverage | None:
    """Reads what `coverage_text` wrote."""
    if text is None:
        return None
    value = json.loads(text)
    return Coverage(
        value["unit"],
        value["total"],
        value["extracted"],
        failed=tuple(FailedUnit(unit["unit"], unit["reason"], _place_of(unit["locator"])) for unit in value["failed"]),
        lost=tuple(value["lost"]),
        words_emitted=value["words_emitted"],
        words_excluded=tuple(WordCount(**count) for count in value["words_excluded"]),
        words_unread=tuple(WordCount(**count) for count in value["words_unread"]),
    )


def warnings_text(warnings: Sequence[ArtifactWarning]) -> str:
    """Writes warnings in their order."""
    return dumps([{"code": each.code, "message": each.message, "locator": _place(each.locator)} for each in warnings])


def warnings_of(text: str) -> tuple[ArtifactWarning, ...]:
    """Reads what `warnings_text` wrote."""
    return tuple(ArtifactWarning(each["code"], each["message"], _place_of(each["locator"])) for each in json.loads(text))


def columns_text(columns: Sequence[Column]) -> str:
    """Writes a dataset's columns in their order."""
    return dumps([_column(column) for column in columns])


def columns_of(text: str) -> tuple[Column, ...]:
    """Reads what `columns_text` wrote."""
    return tuple(_column_of(value) for value in json.loads(text))


def rejected_rows_text(rows: Sequence[RejectedRow]) -> str:
    """Writes rejected rows in their order."""
    return dumps([{"locator": to_json(row.locator), "values": row.values, "reason": row.reason} for row in rows])


def rejected_rows_of(text: str) -> tuple[RejectedRow, ...]:
    """Reads what `rejected_rows_text` wrote."""
    return tuple(RejectedRow(from_json(row["locator"]), tuple(row["values"]), row["reason"]) for row in json.loads(text))


def clarifications_text(clarifications: Sequence[Clarification]) -> str:
    """Writes a dataset's open questions in their order."""
    return dumps([{"code": each.code, "column": each.column, "message": each.message} for each in clarifications])


def clarifications_of(text: str) -> tuple[Clarification, ...]:
    """Reads what `clarifications_text` wrote."""
    return tuple(Clarification(**each) for each in json.loads(text))


def failure_text(failure: JobFailure | None) -> str | None:
    """Writes why an attempt failed; None stays None."""
    if failure is None:
        return None
    return dumps(
        {
            "code": failure.code,
            "failure_class": failure.failure_class,
            "message": failure.message,
            "reason": failure.reason,
            "times": failure.times,
        }
    )


def failure_of(text: str | None) -> JobFailure | None:
    """Reads what `failure_text` wrote."""
    if text is None:
        return None
    value = json.loads(text)
    code, failure_class = JobErrorCode(value["code"]), FailureClass(value["failure_class"])
    return JobFailure(code, failure_class, value["message"], value["reason"], value.get("times", 1))


def _column(column: Column) -> Json:
    return {
        "name": column.name,
        "type": column.type,
        "source_header": column.source_header,
        "inferred": [{"type": count.type, "values": count.values} for count in column.inferred],
        "number_format": column.number_format,
        "unit": column.unit,
        "precision": column.precision,
        "scale": column.scale,
        "nullable": column.nullable,
        "stored": column.stored,
    }


def _column_of(value: Json) -> Column:
    inferred = tuple(TypeCount(ColumnType(count["type"]), count["values"]) for count in value["inferred"])
    return Column(**{**value, "type": ColumnType(value["type"]), "inferred": inferred})


def _word_counts(counts: Sequence[WordCount]) -> Json:
    return [{"reason": count.reason, "words": count.words} for count in counts]


def _place(locator: Locator | None) -> str | None:
    return None if locator is None else to_json(locator)


def _place_of(text: str | None) -> Locator | None:
    return None if text is None else from_json(text)
