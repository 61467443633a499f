"""The pure entry: one artifact or one typed refusal, whatever the bytes; and the artifact as JSON, Markdown and text."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from artifact.model import Artifact
from extractor_svc import render
from extractor_svc.context import Options
from extractor_svc.errors import EmptyDocument, TooLarge, UnsupportedType
from extractor_svc.extract import extract, resolve
from extractor_svc.limits import Limits
from extractor_svc.registry import READERS, reader_of
from extractor_svc.sniff import FORMATS
from services.errors import FailedPrecondition, InvalidArgument, LoomError
from tests.unit.extractor.workbooks import SheetXml, WorkbookXml, number, other, row, simple, table, text, uncalculated


class TestEntry:
    def test_the_artifact_says_what_it_was_made_of(self) -> None:
        content = b"# Title\n\ntext\n"
        artifact = extract(content, filename="x.md")
        assert (artifact.format, artifact.size_bytes, artifact.title) == ("markdown", 14, "Title")
        assert artifact.sha256 == hashlib.sha256(content).hexdigest()
        assert re.fullmatch(r"loom-markdown/1 markdown-it-py/[0-9.]+", artifact.parser)

    def test_the_same_bytes_give_the_same_artifact(self) -> None:
        content = simple([["a", "b"], [1, "x"]])
        assert render.to_json(extract(content, filename="x.xlsx")) == render.to_json(extract(content, filename="x.xlsx"))

    def test_a_declared_format_wins_over_the_name(self) -> None:
        assert extract(b"# A", filename="x.txt", options=Options(format="markdown")).format == "markdown"

    def test_more_bytes_than_allowed_are_refused(self) -> None:
        with pytest.raises(TooLarge) as caught:
            extract(b"# A long line", filename="x.md", limits=Limits(max_bytes=4))
        assert caught.value.metadata == {"size_bytes": "13", "max_bytes": "4"}

    def test_an_empty_file_is_refused(self) -> None:
        with pytest.raises(EmptyDocument):
            extract(b"", filename="x.md")

    def test_a_known_format_that_is_not_read_says_so(self) -> None:
        with pytest.raises(UnsupportedType, match="none files are not read yet"):
            reader_of("none")

    def test_progress_is_told_up_to_the_end(self) -> None:
        told: list[tuple[str, int, int]] = []
        content = WorkbookXml([SheetXml("A", table([["x"]])), SheetXml("B", table([["y"]]))]).build()
        extract(content, filename="x.xlsx", progress=lambda unit, done, total: told.append((unit, done, total)))
        assert told[0] == ("sheet", 0, 2)
        assert told[-1] == ("sheet", 2, 2)

    def test_every_reader_is_of_a_known_format_and_says_what_it_can(self) -> None:
        known = {known.id: known for known in FORMATS}
        for reader in READERS:
            assert reader.extensions == known[reader.id].extensions
            assert set(reader.abilities) <= {"headings", "tables", "datasets", "ocr", "locators", "exact_keys"}
            assert reader.parser.startswith(f"loom-{reader.id}/")
        assert len({reader.id for reader in READERS}) == len(READERS)


MIXED = WorkbookXml(
    [
        SheetXml(
            "Orders",
            table([["item", "price", "paid"], ["larch", 2, True]])
            + row(3, text("A3", "spruce"), other("B3", "e", "#DIV/0!"))
            + row(4, text("A4", "fir"), number("B4", "0.5"), other("C4", "b", "0")),
        )
    ]
).build()


def json_of(content: bytes, filename: str) -> Any:  # Any: parsed JSON
    artifact = extract(content, filename=filename)
    written = render.to_json(artifact)
    parsed = json.loads(json.dumps(written))
    assert parsed == written
    return parsed


class TestJson:
    def test_a_table_is_text_as_the_source_shows_it_and_records_by_a_schema(self) -> None:
        written = json_of(MIXED, "x.xlsx")
        blocks = {block["type"]: block for block in written["blocks"]}
        (dataset,) = written["datasets"]
        assert blocks["table"]["text"] == "item\tprice\tpaid\nlarch\t2\tTRUE\nspruce\t#DIV/0!\nfir\t0.5\tFALSE"
        assert len(blocks["table"]["cells"]) == 11
        assert [record["values"] for record in dataset["records"]] == [["larch", "2.0", True], ["fir", "0.5", False]]
        assert [record["row_id"] for record in dataset["records"]] == [0, 1]
        assert dataset["records"][1]["locator"]["sheet"]["first_row"] == 4
        assert [(column["name"], column["type"]) for column in dataset["schema"]] == [
            ("item", "string"),
            ("price", "number"),
            ("paid", "bool"),
        ]
        assert (dataset["row_count"], dataset["rejected_count"], dataset["complete"]) == (2, 1, False)

    def test_what_a_record_writes_otherwise_than_displayed_is_text_as_displayed(self) -> None:
        rows = table([["n", "rate"], [1, "x"]]) + row(2, number("A2", 1), number("B2", "0.075", style=1))
        book = WorkbookXml([SheetXml("S", rows)], formats=["General", "0.0%"])
        written = json_of(book.build(), "x.xlsx")
        (table_block,) = [block for block in written["blocks"] if block["type"] == "table"]
        assert table_block["text"] == "n\trate\n1\t7.5%"
        assert [record["values"] for record in written["datasets"][0]["records"]] == [["1", "0.075"]]

    def test_places_are_written_for_programs_and_for_people(self) -> None:
        written = json_of(MIXED, "x.xlsx")
        block = written["blocks"][1]
        assert block["locator"] == {
            "sheet": {"sheet": "Orders", "first_row": 1, "last_row": 4, "first_column": 1, "last_column": 3}
        }
        assert block["place"] == "sheet Orders, rows 1-4 (A1:C4)"

    def test_exact_values_are_written_as_text(self) -> None:
        rows = row(1, *(text(f"{c}1", c) for c in "abcd"))
        rows += row(
            2,
            *(
                number(f"{c}2", v, style=s)
                for c, v, s in [("A", "44197.5", 0), ("B", "0.25", 1), ("C", "1.5", 2), ("D", "1E-9", 3)]
            ),
        )
        book = WorkbookXml([SheetXml("S", rows)], formats=["yyyy-mm-dd h:mm", "h:mm", "[h]:mm", "General"])
        (dataset,) = json_of(book.build(), "x.xlsx")["datasets"]
        assert [record["values"] for record in dataset["records"]] == [["2021-01-01T12:00:00", "06:00:00", "129600", "0.000000001"]]

    def test_losses_stand_in_the_coverage(self) -> None:
        content = WorkbookXml([SheetXml("S", table([["n"], [1]]) + row(3, uncalculated("A3", "A2+1")))]).build()
        written = json_of(content, "x.xlsx")
        coverage = written["coverage"]
        assert (coverage["lost"], coverage["complete"]) == (["cached_values"], False)


class TestMarkdownAndText:
    def test_a_workbook_reads_as_headings_and_pipe_tables(self) -> None:
        content = simple([["Ducks | 2020"], [None], ["Year", "Ducks"], [2019, 120]])
        assert render.to_markdown(extract(content, filename="x.xlsx")) == (
            "# Sheet1\n\n## Ducks | 2020\n\n| Year | Ducks |\n| --- | --- |\n| 2019 | 120 |\n"
        )

    def test_markdown_reads_as_itself(self) -> None:
        source = "# A\n\ntext *b*\n\n- one\n\n  - two\n\n1. three\n\n> said\n\n```py\nx = '`'\n```\n"
        source += "\n| a | b |\n| --- | --- |\n| 1 |  |\n"
        assert render.to_markdown(extract(source.encode(), filename="x.md")) == source

    def test_hidden_text_is_left_out(self) -> None:
        artifact = extract(b"shown\n\n<!-- hidden -->\n", filename="x.md")
        assert render.to_text(artifact) == "shown\n"
        assert "hidden" not in render.to_markdown(artifact)


def outcome(content: bytes, filename: str) -> Artifact | LoomError:
    try:
        return extract(content, filename=filename, limits=Limits(max_blocks=2_000, zip_max_inflated_bytes=1 << 22))
    except LoomError as error:
        return error


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["x.md", "x.xlsx", "x.pdf", "", "x.doc", "x.csv"]))
def test_any_bytes_end_in_an_artifact_or_a_typed_refusal(content: bytes, filename: str) -> None:
    ended = outcome(content, filename)
    assert isinstance(ended, Artifact | InvalidArgument | FailedPrecondition)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, len(MIXED) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_workbook_with_changed_bytes_is_read_or_refused(changes: list[tuple[int, int]]) -> None:
    content = bytearray(MIXED)
    for place, byte in changes:
        content[place] = byte
    ended = outcome(bytes(content), "x.xlsx")
    assert isinstance(ended, Artifact | InvalidArgument | FailedPrecondition)


SHEET = table([["item", "price"], ["larch", 2], ["fir", "0.5"]]) + row(4, number("A4", 1, formula="SUM(A2:A3)"))
SOUP = st.sampled_from(
    [
        "<c>", "</c>", '<c r="B2">', '<c r="A0"/>', "<row>", '<row r="9">', "</row>", "<v>", "</v>", "<v>7</v>", "<f>", "</f>",
        '<f t="shared" si="0">A1</f>', '<f t="shared" si="0"/>', "<is>", "</is>", "<t>x</t>", "<rPh>", "</rPh>", "&lt;", "x", "0",
    ]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(SOUP, max_size=25))
def test_any_order_of_a_sheets_elements_is_read_or_refused(pieces: list[str]) -> None:
    content = WorkbookXml([SheetXml("S", "".join(pieces)), SheetXml("T", SHEET)]).build()
    artifact = extract(content, filename="x.xlsx")
    assert artifact.coverage.extracted + len(artifact.coverage.failed) == 2
    for block in artifact.blocks:
        assert resolve(content, block.locator, filename="x.xlsx").split() == block.text.split()


CELLS = st.one_of(
    st.none(), st.none(), st.integers(-9, 9), st.decimals(-9, 9, places=2), st.booleans(), st.text("ab c\n", max_size=6)
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(CELLS, max_size=6), max_size=8))
def test_every_cell_is_told_once_and_reads_back(rows: list[list[object]]) -> None:
    plain = [[str(value) if isinstance(value, Decimal) else value for value in cells] for cells in rows]
    content = WorkbookXml([SheetXml("S", table(plain))]).build()
    artifact = extract(content, filename="x.xlsx")
    source = Counter(word for cells in plain for value in cells if isinstance(value, str) for word in value.split())
    told = Counter(word for block in artifact.blocks[1:] for word in block.text.split())
    assert not source - told
    assert sum(told.values()) == sum(len(str(v).split()) for cells in plain for v in cells if v is not None)
    for block in artifact.blocks:
        assert resolve(content, block.locator, filename="x.xlsx").split() == block.text.split()
