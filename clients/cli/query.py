"""`loom datasets` and `loom query`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from loom.knowledge.v1 import datasets_pb2
from rich.table import Table

from clients.cli.message_files import read_message, write_message
from clients.cli.options import AsJson, CaFile, Namespace, Server, Token
from clients.cli.output import UsageFault, console, jsonable, print_json, print_table, reports_errors, safe, styled
from clients.cli.plot import bars
from clients.cli.query_files import check_file, write_rows
from clients.cli.settings import open_client, source_uri_of
from clients.endpoint import KNOWLEDGE_ADDRESS
from clients.knowledge import KnowledgeClient
from clients.places import describe
from clients.plans import Plan
from clients.query_text import ShortQuery, build_plan, choose_dataset, split_source
from clients.results.datasets import Dataset, Explanation, QueryResult

Texts = list[str] | None


def _option(flag: str, metavar: str, about: str) -> object:
    return typer.Option(flag, metavar=metavar, help=about, rich_help_panel="Plan")


@reports_errors
def datasets(
    uri: Annotated[
        str, typer.Argument(metavar="[URI]", help="source_uri of a document, or a path of a local file; by default all.")
    ] = "",
    *,
    namespace: Namespace = "",
    server: Server = KNOWLEDGE_ADDRESS,
    token: Token = None,
    ca_file: CaFile = None,
    as_json: AsJson = False,
) -> None:
    """List datasets with their columns and types."""
    with open_client(server, token, namespace=namespace, ca_file=ca_file) as client:
        found = client.datasets(source_uri_of(uri)) if uri else tuple(client.list_datasets())
    if as_json:
        print_json({"datasets": found})
        return
    if not found:
        console().print("no datasets")
    for dataset in found:
        print_dataset(dataset)


def print_dataset(dataset: Dataset) -> None:
    """Prints what is to be known of a dataset."""
    out = console()
    out.print(styled(f"{dataset.source_uri}#{dataset.dataset_id}", "bold"), soft_wrap=True)
    facts = [dataset.name, f"{dataset.row_count} rows", describe(dataset.locator), dataset.schema_state.replace("_", " ")]
    if dataset.rejected_count:
        facts.append(f"{dataset.rejected_count} rows do not fit")
    out.print(styled("  " + " · ".join(fact for fact in facts if fact)))
    for column in dataset.columns:
        shown = f"number({column.precision},{column.scale})" if column.type == "number" and column.precision else column.type
        unit = f" {column.unit}" if column.unit else ""
        out.print(styled(f"    {column.name}  {shown}{unit}"))
    for clarification in dataset.clarifications:
        out.print(styled(f"  ? {clarification.message}", "yellow"))


@reports_errors
def query(
    *,
    source: Annotated[
        str, typer.Option("--from", metavar="URI[#ID]", help="Dataset: source_uri or path, and its id.", rich_help_panel="Plan")
    ] = "",
    where: Annotated[Texts, _option("--where", "CONDITION", "Such as 'amount >= 10 and region in (north, west)'.")] = None,
    group_by: Annotated[Texts, _option("--group-by", "COLUMN[:PART]", "Such as region, or ordered_on:month.")] = None,
    count: Annotated[Texts, _option("--count", "COLUMN", "Count values; '*' counts rows.")] = None,
    count_distinct: Annotated[Texts, _option("--count-distinct", "COLUMN", "Count different values.")] = None,
    count_if: Annotated[Texts, _option("--count-if", "CONDITION", "Count rows that meet a condition.")] = None,
    sums: Annotated[Texts, _option("--sum", "COLUMN", "Add up, exactly.")] = None,
    avg: Annotated[Texts, _option("--avg", "COLUMN", "Average, exactly to nine places.")] = None,
    least: Annotated[Texts, _option("--min", "COLUMN", "The least value.")] = None,
    greatest: Annotated[Texts, _option("--max", "COLUMN", "The greatest value.")] = None,
    median: Annotated[Texts, _option("--median", "COLUMN", "The middle value.")] = None,
    percentile: Annotated[Texts, _option("--percentile", "COLUMN:SHARE", "Such as amount:0.95.")] = None,
    stddev: Annotated[Texts, _option("--stddev", "COLUMN", "The sample's standard deviation.")] = None,
    having: Annotated[Texts, _option("--having", "CONDITION", "Over names of the result: 'sum_amount > 100'.")] = None,
    select: Annotated[Texts, _option("--select", "COLUMN,…", "Rows instead of figures: 'region, amount'.")] = None,
    distinct: Annotated[bool, typer.Option("--distinct", help="Each different row once.", rich_help_panel="Plan")] = False,
    order_by: Annotated[Texts, _option("--order-by", "NAME,…", "Names of the result; -NAME is descending.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="N", help="At most N rows.", rich_help_panel="Plan")
    ] = None,
    ignore_case: Annotated[
        bool, typer.Option("--ignore-case", help="Compare text without regard to case.", rich_help_panel="Plan")
    ] = False,
    plan_file: Annotated[
        Path | None, typer.Option("--plan", metavar="FILE", help="A plan as JSON of the contract, instead.", rich_help_panel="Plan")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Check the plan and show what would run.")] = False,
    receipt_file: Annotated[
        Path | None, typer.Option("--receipt", metavar="FILE", help="Also write the receipt, for `loom verify` and `loom trace`.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the rows as .csv, .json or .parquet instead.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --out.")] = False,
    plot: Annotated[bool, typer.Option("--plot", help="Draw a bar for each group.")] = False,
    namespace: Namespace = "",
    server: Server = KNOWLEDGE_ADDRESS,
    token: Token = None,
    ca_file: CaFile = None,
    as_json: AsJson = False,
) -> None:
    """Ask a typed question of a dataset and print the answer with its receipt.

    Every row is read or the question is refused; numbers are exact. A figure or column may end in ' as NAME'.
    """
    short = ShortQuery(
        where=where or (),
        group_by=group_by or (),
        count=count or (),
        count_distinct=count_distinct or (),
        count_if=count_if or (),
        sum=sums or (),
        avg=avg or (),
        min=least or (),
        max=greatest or (),
        median=median or (),
        percentile=percentile or (),
        stddev=stddev or (),
        having=having or (),
        select=select or (),
        distinct=distinct,
        order_by=order_by or (),
        limit=limit,
        ignore_case=ignore_case,
    )
    if bool(source) == bool(plan_file):
        raise UsageFault("name a dataset with --from, or a file with --plan, and not both")
    if plan_file and short != ShortQuery():
        raise UsageFault("the file of --plan holds the whole plan; leave the other options out")
    if out:
        check_file(out, force=force)
    with open_client(server, token, namespace=namespace, ca_file=ca_file) as client:
        plan = read_message(plan_file, datasets_pb2.Plan(), what="plan") if plan_file else _plan(client, source, short)
        if explain:
            print_explanation(client.explain(plan), as_json=as_json)
            return
        if out:
            receipt = write_rows(client, plan, out)
            _keep(receipt, receipt_file)
            console().print(styled(f"{receipt.result_rows} rows written to {out}"), soft_wrap=True)
            return
        result = client.query(plan)
    _keep(result.receipt, receipt_file)
    if plot:
        print_table(bars(result))
        return
    if as_json:
        print_json(result_document(result))
        return
    print_result(result)


def _keep(receipt: datasets_pb2.Receipt, path: Path | None) -> None:
    """Writes a receipt where one is asked for."""
    if path:
        write_message(path, receipt)


def _plan(client: KnowledgeClient, source: str, short: ShortQuery) -> Plan:
    named, dataset_id = split_source(source)
    source_uri = source_uri_of(named)
    return build_plan(choose_dataset(client.datasets(source_uri, dataset_id=dataset_id), source_uri), short)


def result_document(result: QueryResult) -> dict[str, object]:
    """A result as JSON: columns, rows as objects, and the receipt. Exact numbers are text, so that no digit is lost."""
    return {"columns": result.columns, "rows": jsonable(result.records()), "receipt": result.receipt}


def print_result(result: QueryResult) -> None:
    """Prints a result as a table, and its receipt."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in result.columns:
        table.add_column(styled(column.name), justify="right" if column.type in ("number", "duration") else "left")
    for row in result.rows:
        table.add_row(*(styled(shown_value(value)) for value in row))
    print_table(table)
    console().print()
    print_receipt(result.receipt)


def print_explanation(found: Explanation, *, as_json: bool) -> None:
    """Prints what a plan would run."""
    if as_json:
        print_json(found)
        return
    out = console()
    out.print(styled(found.statement), soft_wrap=True)
    out.print(styled(f"with {', '.join(shown_value(value) for value in found.parameters)}"), soft_wrap=True)
    out.print(styled(found.engine_plan), soft_wrap=True)


def shown_value(value: object) -> str:
    """A value as it stands in a table; null is a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(jsonable(value))


def print_receipt(receipt: datasets_pb2.Receipt) -> None:
    """Prints what a result is made of."""
    out = console()
    whole = "complete" if receipt.complete else "incomplete: " + "; ".join(receipt.incomplete)
    out.print(styled(f"{receipt.result_rows} rows, {whole}", "dim"))
    if receipt.steps:
        out.print(
            styled(", ".join(f"{step.step} {step.rows_in} to {step.rows_out}" for step in receipt.steps), "dim"), soft_wrap=True
        )
    for read in receipt.snapshots:
        rejected = f", {read.rejected_rows} rejected" if read.rejected_rows else ""
        facts = f"{read.row_count} rows{rejected}, revision {read.revision}, snapshot {read.snapshot_id}"
        out.print(styled(f"read {read.source_uri}#{read.dataset_id}: {facts}", "dim"), soft_wrap=True)
    out.print(styled(f"plan {receipt.plan_sha256[:16]}, result {receipt.result_sha256[:16]}, {safe(receipt.engine)}", "dim"))
