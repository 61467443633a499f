"""Writes the rows of a query to a file: CSV, JSON or Parquet, by the extension of its name."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from loom.knowledge.v1 import datasets_pb2

from clients.cli.output import UsageFault, jsonable
from clients.knowledge import KnowledgeClient
from clients.plans import Plan
from clients.results.datasets import QueryResult


def check_file(path: Path, *, force: bool) -> None:
    """Refuses a file before anything is asked.

    Raises:
        UsageFault: its extension names no form, or it is there and may not be replaced.
    """
    if path.suffix.lower() not in (".csv", ".json", ".parquet"):
        raise UsageFault(f"{path.name}: rows are written as .csv, .json or .parquet")
    if path.exists() and not force:
        raise UsageFault(f"{path} is there already; replace it with --force, or name another file")


def write_rows(client: KnowledgeClient, plan: Plan | datasets_pb2.Plan, path: Path) -> datasets_pb2.Receipt:
    """Runs a plan and writes its rows; what they were made of is in the receipt. Exact numbers keep every digit."""
    if path.suffix.lower() == ".parquet":
        streamed = client.query_arrow(plan)
        streamed.to_parquet(path)
        return streamed.receipt
    result = client.query(plan)
    written = as_csv(result) if path.suffix.lower() == ".csv" else as_json(result)
    path.write_text(written, encoding="utf-8", newline="")
    return result.receipt


def as_csv(result: QueryResult) -> str:
    """The rows as CSV under their names; null is an empty cell, dates and times are ISO 8601."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(column.name for column in result.columns)
    writer.writerows([_cell(value) for value in row] for row in result.rows)
    return out.getvalue()


def as_json(result: QueryResult) -> str:
    """The rows as a list of objects; exact numbers are text, so that no digit is lost."""
    return json.dumps(jsonable(result.records()), ensure_ascii=False, indent=2) + "\n"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(jsonable(value))
