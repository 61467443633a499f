"""A large workbook, written part by part: whole numbers, decimals, dates, shared strings and formulas in turn."""

from __future__ import annotations

import io
import random
import zipfile
from typing import Final

_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_SHEETS: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_RELATIONSHIPS: Final = "application/vnd.openxmlformats-package.relationships+xml"
_STRINGS: Final = 2000
_PARTS: Final = {
    "workbook.xml": "sheet.main",
    "worksheets/sheet1.xml": "worksheet",
    "styles.xml": "styles",
    "sharedStrings.xml": "sharedStrings",
}


def large_workbook(rows: int, columns: int) -> bytes:
    """One sheet of `rows` rows below a header; at most 26 columns."""
    overrides = "".join(f'<Override PartName="/xl/{part}" ContentType="{_SHEETS}.{kind}+xml"/>' for part, kind in _PARTS.items())
    strings = "".join(f"<si><t>item {number}</t></si>" for number in range(_STRINGS))
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType="{_RELATIONSHIPS}"/>'
        f"{overrides}</Types>",
        "_rels/.rels": _relationships(("officeDocument", "xl/workbook.xml")),
        "xl/_rels/workbook.xml.rels": _relationships(
            ("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml")
        ),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets>'
        "</workbook>",
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="2"/><xf numFmtId="14"/>'
        "</cellXfs></styleSheet>",
        "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}">{strings}</sst>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{_sheet_data(rows, columns)}</sheetData></worksheet>',
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return packed.getvalue()


def _relationships(*targets: tuple[str, str]) -> str:
    each = (
        f'<Relationship Id="r{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(each)}</Relationships>'


def _sheet_data(rows: int, columns: int) -> str:
    chance = random.Random(5)
    header = "".join(f'<c r="{chr(65 + c)}1" t="inlineStr"><is><t>column {chr(65 + c)}</t></is></c>' for c in range(columns))
    lines = (f'<row r="{row}">{"".join(_cell(row, c, chance) for c in range(columns))}</row>' for row in range(2, rows + 2))
    return f'<row r="1">{header}</row>{"".join(lines)}'


def _cell(row: int, column: int, chance: random.Random) -> str:
    place = f"{chr(65 + column)}{row}"
    match column % 5:
        case 0:
            return f'<c r="{place}"><v>{row * 7 + column}</v></c>'
        case 1:
            return f'<c r="{place}" s="1"><v>{chance.randrange(100_000) / 100}</v></c>'
        case 2:
            return f'<c r="{place}" s="2"><v>{43831 + row % 900}</v></c>'
        case 3:
            return f'<c r="{place}" t="s"><v>{chance.randrange(_STRINGS)}</v></c>'
    return f'<c r="{place}"><f>A{row}*2</f><v>{row * 14}</v></c>'
