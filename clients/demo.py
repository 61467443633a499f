"""The demo: `python -m clients.demo` starts both services, ingests the samples, searches them and asks their figures.

It checks what it shows: where a sample does not come through, a hit is not of the document it should be of, or a figure differs, it
says so and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

from clients.cli.ingest import Wishes, ingest_all, print_summary
from clients.cli.output import console, styled
from clients.cli.query import print_result
from clients.cli.receipts import print_trace
from clients.cli.search import print_hits
from clients.cli.sources import Source
from clients.errors import LoomError
from clients.knowledge import KnowledgeClient, file_uri
from clients.places import describe
from clients.plans import Plan
from clients.requests.ingest import IngestOptions
from clients.results.datasets import Dataset, QueryResult
from clients.serving import LocalServices, Places, ServingFault

ROOT: Final = Path(__file__).resolve().parent.parent
SAMPLES: Final = ROOT / "samples"
NAMES: Final = ("field-report.pdf", "orders.xlsx", "runbook.md")
TIMEOUT_S: Final = 180.0


@dataclass(frozen=True, slots=True)
class Question:
    """A search and what its first hit has to be: of this file, in a section and at a place that say these words."""

    text: str
    file: str
    section: str
    place: str


QUESTIONS: Final = (
    Question("which pump vibrated above the limit of the manufacturer", "field-report.pdf", "pump 3", "page 2"),
    Question("gasket sets ordered by Birch & Sons", "orders.xlsx", "Orders", "sheet Orders, rows 1-11"),
    Question("pool.max-size", "runbook.md", "Connection pool exhausted", "lines"),
)
FIGURES: Final = (("north", 6, Decimal("3275.87")), ("south", 2, Decimal("820.46")), ("west", 2, Decimal("440.00")))
"""Orders and their amounts by region, added up by hand from the workbook."""
SOUTH: Final = ("sheet Orders, row 4", "sheet Orders, row 9")
"""Where the orders of the south stand."""


class DemoFault(Exception):
    """Something is not as it should be."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the demo; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m clients.demo", description="Shows Loom at work on its samples.")
    parser.add_argument("--data-dir", type=Path, default=ROOT / ".loom" / "demo", help="folder it keeps its data and logs in")
    parser.add_argument("--listen", default="127.0.0.1:0", metavar="HOST:PORT", help="knowledge service; port 0 takes a free one")
    parser.add_argument("--extractor-listen", default="127.0.0.1:0", metavar="HOST:PORT", help="extractor; likewise")
    given = parser.parse_args(argv)
    places = Places(given.data_dir / "data", given.listen, given.extractor_listen, log_dir=given.data_dir / "logs")
    try:
        run(places)
    except (LoomError, ServingFault, DemoFault, OSError) as fault:
        print(f"demo: {fault}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo: interrupted", file=sys.stderr)
        return 130
    return 0


def run(places: Places) -> None:
    """Starts both services, shows everything, and stops them.

    Raises:
        DemoFault: something is not as it should be.
        ServingFault: a service did not start, or ended by itself.
        LoomError: a call failed.
    """
    _step("Starting the extractor and the knowledge service")
    with LocalServices(places) as services:
        console().print(f"knowledge on {services.knowledge_address}, extractor on {services.extractor_address}")
        with KnowledgeClient(services.knowledge_address) as client:
            show(client)
        if ended := services.ended():
            raise ServingFault(f"the {ended.name} {ended.ending()}; see {places.log_dir}")
    _step("Stopped; all is as it should be")


def show(client: KnowledgeClient) -> None:
    """Ingests, searches and asks.

    Raises:
        DemoFault: something is not as it should be.
    """
    _step(f"Ingesting {', '.join(NAMES)}")
    ingest_samples(client)
    for question in QUESTIONS:
        _step(f"Searching: {question.text}")
        search(client, question)
    _step("Asking the workbook: orders and their amount by region")
    ask(client)


def ingest_samples(client: KnowledgeClient) -> None:
    """Ingests the samples.

    Raises:
        DemoFault: one did not come through.
    """
    sources = [Source(file_uri(SAMPLES / name), name, SAMPLES / name) for name in NAMES]
    wishes = Wishes(title="", tags=("demo",), options=IngestOptions(), allow_partial=False, wait=True, timeout_s=TIMEOUT_S)
    outcomes = ingest_all(client, sources, wishes, quiet=False)
    print_summary(outcomes)
    failed = [outcome.source.filename for outcome in outcomes if outcome.failed]
    if failed:
        raise DemoFault(f"not ingested: {', '.join(failed)}")


def search(client: KnowledgeClient, question: Question) -> None:
    """Searches and prints the hits.

    Raises:
        DemoFault: the first hit is not the one it should be.
    """
    found = client.search(question.text, top_k=3, tags=["demo"])
    print_hits(found)
    if not found.hits:
        raise DemoFault(f"nothing found for {question.text!r}")
    first = found.hits[0]
    right = (
        first.source_uri == file_uri(SAMPLES / question.file)
        and question.section.lower() in first.section.lower()
        and question.place in first.place
    )
    if not right:
        where = f"{first.source_uri}, section {first.section!r}, place {first.place!r}"
        raise DemoFault(f"{question.text!r} should lead to {question.section!r} in {question.file}, and leads to {where}")


def ask(client: KnowledgeClient) -> None:
    """Runs a plan over the workbook and prints its result and receipt.

    Raises:
        DemoFault: a figure is not the one it should be, or the receipt does not hold.
    """
    plan = orders_plan(orders_dataset(client.datasets(file_uri(SAMPLES / "orders.xlsx"))))
    result = client.query(plan)
    print_result(result)
    check_figures(result)
    verified = client.verify(result.receipt)
    if not verified.agrees:
        raise DemoFault(f"the receipt does not hold: {'; '.join(verified.differences)}")
    console().print(styled("run again from the receipt: it agrees", "dim"))
    _step("Tracing the figure of the south to the rows of the workbook")
    rows = list(client.trace(result.receipt, 1))
    print_trace(rows)
    if [describe(row.locator) for row in rows] != list(SOUTH):
        raise DemoFault(f"the figure of the south is made of {' and '.join(SOUTH)}")


def orders_dataset(datasets: Sequence[Dataset]) -> Dataset:
    """The dataset of the orders, which is the one with an amount.

    Raises:
        DemoFault: there is none.
    """
    for dataset in datasets:
        if any(column.source_header == "Amount (EUR)" for column in dataset.columns):
            return dataset
    raise DemoFault(f"no dataset of orders.xlsx has the column Amount (EUR); there are {[item.name for item in datasets]}")


def orders_plan(dataset: Dataset) -> Plan:
    """Orders and their amounts by region, the largest first."""
    region, amount = (
        next(column.name for column in dataset.columns if column.source_header == header) for header in ("Region", "Amount (EUR)")
    )
    plan = Plan.over(dataset.source_uri, dataset.dataset_id).where(amount, ">", 0)
    return plan.group_by(region, name="region").count(name="orders").sum(amount, name="amount").order_by("-amount")


def check_figures(result: QueryResult) -> None:
    """Compares the figures with those added up by hand.

    Raises:
        DemoFault: one differs.
    """
    figures = tuple(result.rows)
    if figures != FIGURES:
        raise DemoFault(f"the figures should be {FIGURES}, and are {figures}")
    if not result.receipt.complete:
        raise DemoFault(f"the result is not complete: {'; '.join(result.receipt.incomplete)}")


def _step(text: str) -> None:
    console().print(styled(f"\n{text}", "bold"))


if __name__ == "__main__":
    raise SystemExit(main())
