from __future__ import annotations

import io
import zipfile
from decimal import Decimal
from pathlib import Path

import openpyxl
import pypdfium2
import pytest

from samples import make_samples

SAMPLES = Path(make_samples.__file__).parent


def archive(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def pages(content: bytes) -> list[str]:
    with pypdfium2.PdfDocument(content) as document:
        return [page.get_textpage().get_text_range() for page in document]


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    return make_samples.samples()


def test_the_files_checked_in_are_what_the_script_makes(made: dict[str, bytes]) -> None:
    kept = {path.name: path.read_bytes() for path in SAMPLES.iterdir() if path.is_file() and path.suffix != ".py"}
    assert set(kept) == set(made)
    assert kept["runbook.md"] == made["runbook.md"]
    assert archive(kept["orders.xlsx"]) == archive(made["orders.xlsx"])
    assert pages(kept["field-report.pdf"]) == pages(made["field-report.pdf"])


def test_the_bytes_are_the_same_on_every_run(made: dict[str, bytes]) -> None:
    assert make_samples.samples() == made


def test_the_amounts_of_the_orders_are_those_of_their_rows(made: dict[str, bytes]) -> None:
    book = openpyxl.load_workbook(io.BytesIO(made["orders.xlsx"]), read_only=True)
    rows = list(book["Orders"].iter_rows(min_row=2, values_only=True))
    amounts = {row[0]: Decimal(str(row[8])) for row in rows}
    assert amounts[4101] == Decimal("321.1")  # 4 bearings at 84.50, less 5 %
    assert amounts[4110] == Decimal("84.5")  # one, without a discount
    assert sum(amounts.values()) == Decimal("4536.33")


def test_the_report_has_three_pages_and_its_table_on_the_second(made: dict[str, bytes]) -> None:
    report = pages(made["field-report.pdf"])
    assert len(report) == 3
    assert "Pump 3 41.0 371.9 57.6 0.155 7.9" in report[1]
