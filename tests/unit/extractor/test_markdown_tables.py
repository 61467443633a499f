"""Pipe tables as datasets: typed by what their cells show, each row at its line."""

from __future__ import annotations

import json
import time
from decimal import Decimal

import pytest

from artifact.locators import LineSpan
from artifact.model import ROW_LOCATOR, ColumnType, Dataset
from extractor_svc.extract import extract

PRICES = (
    "# Prices\n\n| Item | Price | Sold on |\n|:--|--:|---|\n| larch | **1,234.50** | 2024-01-02 |\n| `fir` | 20.25 | 2024-02-03 |\n"
)


def datasets(text: str) -> tuple[Dataset, ...]:
    return extract(text.encode(), filename="page.md").datasets


def column(dataset: Dataset, number: int) -> list[object]:
    return list(dataset.rows.column(number + 2).to_pylist())


class TestTyped:
    def test_columns_are_typed_by_what_their_cells_show(self) -> None:
        (dataset,) = datasets(PRICES)
        assert [(held.name, held.type) for held in dataset.columns] == [
            ("Item", ColumnType.STRING),
            ("Price", ColumnType.NUMBER),
            ("Sold on", ColumnType.DATE),
        ]
        assert column(dataset, 0) == ["larch", "fir"]
        assert column(dataset, 1) == [Decimal("1234.50"), Decimal("20.25")]
        assert (dataset.name, dataset.header_rows, dataset.complete) == ("Table 1", 1, True)

    def test_rows_stand_at_their_lines_and_the_block_names_the_dataset(self) -> None:
        artifact = extract(PRICES.encode(), filename="page.md")
        block, dataset = artifact.blocks[1], artifact.datasets[0]
        assert (block.dataset_id, block.locator, dataset.locator) == (dataset.id, LineSpan(3, 6), LineSpan(3, 6))
        places = [json.loads(place) for place in dataset.rows.column(ROW_LOCATOR).to_pylist()]
        assert places == [{"lines": {"first": 5, "last": 5}}, {"lines": {"first": 6, "last": 6}}]
        assert block.text.split("\n")[1] == "larch\t**1,234.50**\t2024-01-02"

    @pytest.mark.parametrize(
        ("cell", "shown"),
        [
            ("*a* __b__ ~~c~~", "a b c"),
            ("[name](http://x 'title')", "name"),
            ("[name][ref]", "name"),
            ("![alt](x.png)", "alt"),
            ("`a*b*`", "a*b*"),
            ("a \\| b", "a | b"),
            ("one<br>two", "one two"),
            ("&copy; &lt;x&gt;", "© <x>"),
            ("a\\*b", "a*b"),
            ("2 < 3", "2 < 3"),
        ],
    )
    def test_inline_signs_are_no_part_of_a_value(self, cell: str, shown: str) -> None:
        (dataset,) = datasets(f"| k | v |\n|---|---|\n| x | {cell} |\n\n[ref]: http://y\n")
        assert column(dataset, 1) == [shown]

    def test_a_short_row_has_empty_cells(self) -> None:
        (dataset,) = datasets("| a | b |\n|---|---|\n| 1 |\n| 2 | 3 |\n")
        assert column(dataset, 1) == [None, Decimal("3")]

    def test_tables_in_quotes_and_lists_are_datasets_too(self) -> None:
        quoted = "> | a | b |\n> |---|---|\n> | 1 | 2 |\n\n- item\n\n  | c | d |\n  |---|---|\n  | 3 | 4 |\n"
        assert [(dataset.name, column(dataset, 1)) for dataset in datasets(quoted)] == [
            ("Table 1", [Decimal("2")]),
            ("Table 2", [Decimal("4")]),
        ]


class TestTextAlone:
    @pytest.mark.parametrize(
        "table",
        [
            "| a | b |\n|---|---|\n",
            "| a |\n|---|\n| 1 |\n",
            "| a | |\n|---|---|\n| 1 | 2 |\n",
            "| a | b |\n|---|---|\n| 1 | 2 | 3 |\n",
            "| a | b |\n|---|---|\n| | |\n",
            "a | b\n1 | 2\n",
        ],
    )
    def test_what_is_no_header_over_values_is_no_dataset(self, table: str) -> None:
        artifact = extract(table.encode(), filename="page.md")
        assert (artifact.datasets, artifact.blocks[0].dataset_id) == ((), "")

    def test_past_so_many_tables_the_rest_is_text_and_the_ledger_says_so(self) -> None:
        artifact = extract(b"| a | b |\n|---|---|\n| 1 | 2 |\n\n" * 2_003, filename="page.md")
        assert (len(artifact.datasets), len(artifact.blocks)) == (2_000, 2_003)
        assert artifact.coverage.lost == ("datasets",)
        assert [warning.code for warning in artifact.warnings] == ["DATASETS_LEFT_OUT"]

    def test_a_table_ten_times_as_long_takes_ten_times_as_long(self) -> None:
        def seconds(rows: int) -> float:
            table = "| a | b |\n|---|---|\n" + "".join(f"| **{n}** | x |\n" for n in range(rows))
            begun = time.process_time()
            datasets(table)
            return time.process_time() - begun

        seconds(100)
        assert seconds(2_000) < 25 * max(seconds(200), 0.02)
