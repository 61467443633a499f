"""Delimited files that nobody here wrote: expected rows, annotated dialects, every word, and every place reads back."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from artifact.locators import from_json
from artifact.model import ROW_LOCATOR, Artifact
from extractor_svc.blocks import words_of
from extractor_svc.extract import extract, resolve

CORPUS = Path(__file__).resolve().parents[3] / ".." / "shared" / "corpus"
FILES = sorted(path.relative_to(CORPUS / "csv").as_posix() for path in (CORPUS / "csv").rglob("*.csv"))
SIGNS = {"comma": ",", "semicolon": ";", "vslash": "|", "tab": "\t", "doublequote": '"', "singlequote": "'"}

pytestmark = pytest.mark.skipif(not FILES, reason="the shared corpus is not here")


def content(name: str) -> bytes:
    return (CORPUS / "csv" / name).read_bytes()


def read(name: str) -> Artifact:
    return extract(content(name), filename=Path(name).name)


def grid(artifact: Artifact) -> list[list[str]]:
    """The cells of the table by row and column, short rows filled up."""
    (table,) = (block for block in artifact.blocks if block.dataset_id)
    width = len(artifact.datasets[0].columns)
    rows = [[""] * width for _ in range(max(cell.row for cell in table.cells) + 1)]
    for cell in table.cells:
        rows[cell.row][cell.column] = cell.text
    return rows


def annotated() -> list[tuple[str, str, str]]:
    found = []
    for line in (CORPUS / "MANIFEST.tsv").read_text("utf-8").splitlines() if FILES else []:
        name, *_, facts = line.split("\t")
        if dialect := re.search(r"annotated dialect: .*delimiter (\w+), quote (\w+)", facts):
            found.append((name.removeprefix("csv/"), SIGNS[dialect[1]], SIGNS[dialect[2]]))
    return found


@pytest.mark.parametrize("name", sorted(path for path in FILES if path.startswith("csv-spectrum")))
def test_the_expected_rows_are_read(name: str) -> None:
    expected = json.loads((CORPUS / "csv/csv-spectrum/expected.json").read_bytes())[Path(name).stem]
    if Path(name).stem == "location_coordinates":
        # The expectation holds another phone number than the file: it was made of other bytes, so the names alone compare.
        assert expected["Contact Phone Number"].encode() not in content(name)
        assert grid(read(name))[0] == list(expected)
        assert grid(read(name))[1][2:] == [expected["Cities"], expected["Counties"]]
        return
    header, *rows = grid(read(name))
    assert [dict(zip(header, row, strict=True)) for row in rows] == expected


@pytest.mark.parametrize(("name", "delimiter", "quote"), annotated())
def test_the_annotated_dialect_is_found(name: str, delimiter: str, quote: str) -> None:
    properties = read(name).properties
    assert (properties["delimiter"], properties["quote"]) == (delimiter, quote)


def test_every_annotated_file_is_compared() -> None:
    assert len(annotated()) == 10


@pytest.mark.parametrize(("name", "sign"), [("csv-pipe", "|"), ("csv-semicolon", ";"), ("csv-tab", "\t")])
def test_one_table_in_other_dialects_is_the_same_table(name: str, sign: str) -> None:
    right = grid(read("docling/csv-comma.csv"))
    right[2][3] = "Lozano"  # only the file with commas writes the title
    right[4][4] = f"Dominguez{sign}Mcmillan and Donovan"  # each file has its own delimiter in quotes here
    right[5][4] = f"Martin{sign}Lang and Andrade"
    assert grid(read(f"docling/{name}.csv")) == right


@pytest.mark.parametrize(
    ("name", "odd_lines", "rows"),
    [
        ("csv-inconsistent-header", [1], [["1", "2", "3", ""], *[["a", "b", "c", "d"]] * 4]),
        ("csv-too-many-columns", [3], [["1", "2", "3", "4", ""], ["a", "b", "c", "d", ""], ["a", "b", "c", "d", "e"]]),
        ("csv-too-few-columns", [3], [["1", "2", "3", "4"], ["a", "'b'", "c", "d"], ["a", "b", "c", ""]]),
    ],
)
def test_records_that_do_not_fit_are_kept_and_told(name: str, odd_lines: list[int], rows: list[list[str]]) -> None:
    artifact = read(f"docling/{name}.csv")
    assert grid(artifact)[: len(rows)] == rows
    assert [warning.locator.first for warning in artifact.warnings if warning.code == "ROW_WIDTH"] == odd_lines


@pytest.mark.parametrize("name", FILES)
def test_every_word_arrives_once_and_every_place_reads_back(name: str) -> None:
    artifact = read(name)
    emitted: Counter[str] = Counter()
    for block in artifact.blocks:
        emitted.update(words_of(block.text))
        assert resolve(content(name), block.locator, filename=Path(name).name).split() == block.text.split()
    assert emitted == words_of(content(name).decode(artifact.encoding))
    for place in artifact.datasets[0].rows.column(ROW_LOCATOR).to_pylist():
        assert resolve(content(name), from_json(place), filename=Path(name).name)
