"""Workbooks that nobody here wrote: every one is read or refused with a reason, its text reads back, stated values are right."""

from __future__ import annotations

import csv
import importlib.util
import resource
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from artifact.model import Artifact, BlockType
from extractor_svc.errors import PasswordRequired
from extractor_svc.extract import extract, resolve
from services.errors import LoomError

SHARED = Path(__file__).resolve().parents[3] / ".." / "shared"
CORPUS = SHARED / "corpus" / "xlsx"
HOSTILE = SHARED / "corpus" / "hostile" / "poi"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")

WORKBOOKS = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*") if path.suffix in (".xlsx", ".xlsm"))
REFUSED = {"calamine/pass_protected.xlsx": "PASSWORD_REQUIRED"}
HOSTILE_OUTCOMES = {
    "54764.xlsx": "XML_DTD_FORBIDDEN",
    "poc-xmlbomb.xlsx": "XML_DTD_FORBIDDEN",
    "poc-shared-strings.xlsx": "MALFORMED",
    "crash-274d6342e4842d61be0fb48eaadad6208ae767ae.xlsx": "ZIP_INVALID",
    "clusterfuzz-testcase-minimized-POIXSSFFuzzer-4828727001088000.xlsx": "ZIP_INVALID",
    "clusterfuzz-testcase-minimized-XLSX2CSVFuzzer-5636439151607808.xlsx": "ZIP_INVALID",
    "xxe_in_schema.xlsx": "read",
}

CHILD = """
import sys
from pathlib import Path
from extractor_svc.extract import extract
from services.errors import LoomError
path = Path(sys.argv[1])
try:
    extract(path.read_bytes(), filename=path.name)
    print("read")
except LoomError as error:
    print(error.code_reason)
"""


def read(name: str) -> Artifact:
    return extract((CORPUS / name).read_bytes(), filename=Path(name).name)


def grid(artifact: Artifact, sheet: str) -> dict[str, str]:
    """The displayed text of every cell of a sheet by its A1 reference, from tables and texts alike."""
    shown: dict[str, str] = {}
    for block in artifact.blocks:
        place = block.locator
        if getattr(place, "sheet", "") != sheet or place.first_row == 0:
            continue
        if not block.cells:
            shown[place.a1.partition(":")[0]] = block.text
        for cell in block.cells:
            corner = type(place)(sheet, *[place.first_row + cell.row] * 2, *[place.first_column + cell.column] * 2)
            shown[corner.a1] = cell.text
    return shown


@pytest.mark.parametrize("name", WORKBOOKS)
def test_every_workbook_is_read_or_refused_and_reads_back(name: str) -> None:
    content = (CORPUS / name).read_bytes()
    try:
        artifact = extract(content, filename=Path(name).name)
    except LoomError as error:
        assert error.code_reason == REFUSED[name]
        return
    assert name not in REFUSED
    assert artifact.coverage.complete
    for block in artifact.blocks:
        assert resolve(content, block.locator, filename=Path(name).name).split() == block.text.split(), block


@pytest.mark.parametrize("name", sorted(HOSTILE_OUTCOMES))
def test_hostile_workbooks_end_in_a_typed_outcome_within_bounds(name: str) -> None:
    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))

    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(HOSTILE / name)],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=bound,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, HOSTILE_OUTCOMES[name]), done.stderr


def test_an_encrypted_workbook_asks_for_a_password() -> None:
    with pytest.raises(PasswordRequired):
        read("calamine/pass_protected.xlsx")


@pytest.mark.parametrize(
    ("name", "sheet", "cells"),
    [
        ("date.xlsx", "Sheet1", {"A1": "2021-01-01", "A3": "255:10:10", "B1": "15", "B3": "17"}),
        ("date_1904.xlsx", "Sheet1", {"A1": "2021-01-01", "A3": "255:10:10"}),
        ("date_iso.xlsx", "Sheet", {"A1": "2021-01-01"}),
        ("encoded_entities.xlsx", "Sheet1", {"A1": "&"}),
        ("has_x000D_.xlsx", "Sheet1", {"A1": "ABC\r\nDEF"}),
        ("inlineStr_cdata.xlsx", "Sheet1", {"A1": "Hello CDATA", "B1": "World", "A2": "12345", "B2": "NormalText"}),
        (
            "issue_261.xlsx",
            "Some Sheet",
            {"A1": "String Value 32", "G61": "939", "A66": "String Value 42", "D66": "String Value 8"},
        ),
        ("issues.xlsx", "issue2", {"A1": "1", "B1": "a", "A2": "2", "B2": "b", "A3": "3", "B3": "c"}),
        ("issues.xlsx", "issue6", {"A1": "1", "A2": "2", "A3": "ab", "A4": "FALSE"}),
        ("minimal_package.xlsx", "Sheet1", {"A3": "BKG_NUM"}),
        ("nonstandard-xml-ns-prefix.xlsx", "Sheet1", {"A1": "a", "B1": "b", "A2": "1", "B2": "3", "A3": "2", "B3": "4"}),
        (
            "richtext-namespaced.xlsx",
            "Sheet1",
            {"A1": "inline string\nLine 2\nLine 3", "H1": "shared string\nLine 2\nLine 3"},
        ),
        ("rph.xlsx", "Sheet1", {"A1": "課きく　毛こ"}),
        (
            "errors.xlsx",
            "Feuil1",
            {"A1": "#DIV/0!", "A2": "#NAME?", "A3": "#VALUE!", "A4": "#NULL!", "A5": "#REF!", "A6": "#NUM!", "A7": "#N/A"},
        ),
    ],
)
def test_stated_cells_are_as_stated(name: str, sheet: str, cells: dict[str, str]) -> None:
    shown = grid(read(f"calamine/{name}"), sheet)
    assert {place: shown[place] for place in cells} == cells


@pytest.mark.parametrize("name", [name for name in WORKBOOKS if name not in REFUSED])
def test_every_word_that_an_independent_count_finds_is_told(name: str) -> None:
    """All but `_x000D_`, which that count takes for letters, where the file's stated text has a carriage return."""
    spec = importlib.util.spec_from_file_location("account", SHARED / "tools" / "account.py")
    assert spec is not None and spec.loader is not None
    account = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(account)
    told = account.words("\n".join(block.text for block in read(name).blocks).replace("ABC\r\nDEF", "ABC_x000D_\nDEF"))
    missing = {kind: counted - told for kind, counted in account.source_words(CORPUS / name).items()}
    assert not any(missing.values()), missing


def test_a_sheet_without_cells_is_its_name_alone() -> None:
    assert [block.text for block in read("calamine/empty_sheet.xlsx").blocks] == ["Sheet1"]


def test_declared_tables_hold_their_stated_values() -> None:
    datasets = read("calamine/temperature-table.xlsx").datasets
    assert [(d.name, [c.name for c in d.columns]) for d in datasets] == [
        ("Temperature", ["label", "value"]),
        ("OtherTable", ["label2", "value2"]),
    ]
    assert datasets[0].rows.column("value").to_pylist() == [Decimal("22.2222"), Decimal(72)]
    assert datasets[1].rows.to_pylist()[0]["label2"] == "something"
    assert datasets[1].rows.column("value2").to_pylist() == [Decimal("12.5"), Decimal(64)]


def test_formulas_of_whole_columns_are_kept_as_written() -> None:
    sheets = {dataset.name: dataset for dataset in read("calamine/column_row_ranges.xlsx").datasets}
    formulas = {formula.formula for formula in sheets["Column ranges"].formulas}
    assert {"SUM(F:G)", "SUM(G:H)"} <= formulas


def test_a_value_below_the_digits_shown_is_kept() -> None:
    (dataset,) = [dataset for dataset in read("calamine/issues.xlsx").datasets if dataset.name == "issue5"]
    assert dataset.rows.column("column 1").to_pylist() == [Decimal("0.5")]


def test_rows_and_cells_without_references_are_all_read() -> None:
    shown = grid(read("calamine/issue_261.xlsx"), "Some Sheet")
    assert max(int(place.lstrip("ABCDEFGH")) for place in shown) == 66


@pytest.mark.parametrize("name", ["RkNumber", "mixed_sheets"])
def test_displayed_values_are_those_a_spreadsheet_program_saved(name: str) -> None:
    artifact = read(f"sheetjs/{name}.xlsx")
    first = artifact.blocks[0].text
    shown = grid(artifact, first)
    with (CORPUS / f"sheetjs/{name}.xlsx.0.csv").open(newline="", encoding="utf-8") as handle:
        expected = {f"{'ABCDEFGHIJ'[c]}{r}": v for r, row in enumerate(csv.reader(handle), 1) for c, v in enumerate(row) if v}
    assert shown == expected


def test_number_formats_show_what_a_spreadsheet_program_shows() -> None:
    """All of a table of formats but the names of days before March 1900, which that program has one day off."""
    shown = grid(read("sheetjs/LONumbers-2010.xlsx"), "Sheet1")
    with (CORPUS / "sheetjs/LONumbers-2010.xlsx.0.csv").open(newline="", encoding="utf-8") as handle:
        saved = {f"{'ABCDEFGHIJ'[c]}{r}": v for r, row in enumerate(csv.reader(handle), 1) for c, v in enumerate(row)}
    expected = {place: value for place, value in saved.items() if value and not value.startswith("##")}
    wrong = {place: (shown.get(place), value) for place, value in expected.items() if shown.get(place) != value.strip()}
    assert {value for _, value in wrong.values()} <= {"Sun", "Sunday", "Thu", "Thursday"}
    assert len(expected) > 200


def test_the_title_of_a_table_heads_it() -> None:
    artifact = read("docling/xlsx_05_table_with_title.xlsx")
    assert [(block.type, block.text) for block in artifact.blocks[:2]] == [
        (BlockType.HEADING, "Duck Observations"),
        (BlockType.HEADING, "Number of freshwater ducks per year"),
    ]
    (dataset,) = artifact.datasets
    assert dataset.rows.column("Year").to_pylist() == [2019, 2020, 2021, 2022, 2023, 2024]
    assert dataset.rows.column("Freshwater Ducks").to_pylist() == [120, 135, 150, 170, 160, 180]


def test_a_dimension_far_too_large_changes_nothing() -> None:
    plain, inflated = read("docling/xlsx_01.xlsx"), read("docling/xlsx_04_inflated.xlsx")
    assert [block.text for block in plain.blocks] == [block.text for block in inflated.blocks]


def test_a_date_beside_a_time_span_in_one_column_is_held_as_text() -> None:
    (dataset,) = read("calamine/date_1904.xlsx").datasets
    assert dataset.rows.column(dataset.columns[0].name).to_pylist() == ["2021-01-02", "255:10:10"]
    assert [asked.code for asked in dataset.clarifications] == ["header_like_data", "mixed_types"]
