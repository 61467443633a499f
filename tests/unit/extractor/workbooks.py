"""Builds workbooks from raw parts, so that a test says exactly what stands in the file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
CONTENT_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"


@dataclass
class SheetXml:
    """A sheet: its name, the XML of its rows, what follows the rows, its state, and its relationships by kind and part."""

    name: str
    rows: str = ""
    after: str = ""
    before: str = ""
    state: str = "visible"
    related: Sequence[tuple[str, str]] = ()


@dataclass
class WorkbookXml:
    """A workbook: sheets, shared strings (the XML of each item), number format codes by style, and further parts."""

    sheets: Sequence[SheetXml]
    strings: Sequence[str] = ()
    formats: Sequence[str] = ()
    from_1904: bool = False
    calculation: str = ""
    parts: Mapping[str, str | bytes] = field(default_factory=dict)
    related: Sequence[tuple[str, str]] = ()

    def build(self) -> bytes:
        """The file's bytes."""
        parts: dict[str, str | bytes] = {
            "[Content_Types].xml": _content_types(),
            "_rels/.rels": relationships([("officeDocument", "xl/workbook.xml")]),
            "xl/workbook.xml": self._workbook(),
        }
        related = [("worksheet", f"worksheets/sheet{i}.xml") for i in range(1, len(self.sheets) + 1)]
        if self.strings:
            related.append(("sharedStrings", "sharedStrings.xml"))
            items = "".join(f"<si>{item}</si>" for item in self.strings)
            parts["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{items}</sst>'
        if self.formats:
            related.append(("styles", "styles.xml"))
            parts["xl/styles.xml"] = _styles(self.formats)
        parts["xl/_rels/workbook.xml.rels"] = relationships([*related, *self.related])
        for i, sheet in enumerate(self.sheets, 1):
            body = f"{sheet.before}<sheetData>{sheet.rows}</sheetData>{sheet.after}"
            parts[f"xl/worksheets/sheet{i}.xml"] = f'<worksheet xmlns="{MAIN}" xmlns:r="{RELS}">{body}</worksheet>'
            if sheet.related:
                parts[f"xl/worksheets/_rels/sheet{i}.xml.rels"] = relationships(sheet.related)
        return zipped({**parts, **self.parts})

    def _workbook(self) -> str:
        sheets = "".join(
            f'<sheet name={quoteattr(sheet.name)} sheetId="{i}" state="{sheet.state}" r:id="rId{i}"/>'
            for i, sheet in enumerate(self.sheets, 1)
        )
        base = '<workbookPr date1904="1"/>' if self.from_1904 else ""
        return f'<workbook xmlns="{MAIN}" xmlns:r="{RELS}">{base}<sheets>{sheets}</sheets>{self.calculation}</workbook>'


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP archive of the parts in their order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def row(number: int, *cells: str, attributes: str = "") -> str:
    """A row of cells."""
    return f'<row r="{number}" {attributes}>{"".join(cells)}</row>'


def number(place: str, value: object, *, style: int = 0, formula: str = "") -> str:
    """A number cell, with a formula where one is given."""
    return f'<c r="{place}" s="{style}">{_formula(formula)}<v>{value}</v></c>'


def text(place: str, value: str, *, style: int = 0) -> str:
    """A cell with its text in line."""
    return f'<c r="{place}" s="{style}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'


def shared(place: str, index: int) -> str:
    """A cell with a shared string."""
    return f'<c r="{place}" t="s"><v>{index}</v></c>'


def other(place: str, kind: str, value: str, *, formula: str = "") -> str:
    """A cell of any other type: `b`, `e`, `d` or `str`."""
    return f'<c r="{place}" t="{kind}">{_formula(formula)}<v>{escape(value)}</v></c>'


def uncalculated(place: str, formula: str) -> str:
    """A formula whose result the file does not hold."""
    return f'<c r="{place}">{_formula(formula)}<v></v></c>'


def merged(*ranges: str) -> str:
    """The list of merged ranges that follows the rows."""
    cells = "".join(f'<mergeCell ref="{place}"/>' for place in ranges)
    return f"<mergeCells>{cells}</mergeCells>"


def table(rows: Sequence[Sequence[object]], *, top: int = 1, left: int = 1) -> str:
    """Rows of texts, numbers, booleans and empty cells (None) from a corner on."""
    return "".join(
        row(top + i, *(_cell(f"{_letters(left + j)}{top + i}", value) for j, value in enumerate(values)))
        for i, values in enumerate(rows)
    )


def simple(rows: Sequence[Sequence[object]], *, name: str = "Sheet1", after: str = "") -> bytes:
    """A workbook of one sheet of such rows."""
    return WorkbookXml([SheetXml(name, table(rows), after)]).build()


def _cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return other(place, "b", str(int(value)))
    return text(place, value) if isinstance(value, str) else number(place, value)


def _letters(column: int) -> str:
    return chr(ord("A") + column - 1)


def _formula(formula: str) -> str:
    return f"<f>{escape(formula)}</f>" if formula else ""


def relationships(related: Sequence[tuple[str, str]]) -> str:
    """A relationships part; kinds are the last word of an office relationship's type, or a whole type."""
    items = "".join(
        f'<Relationship Id="rId{i}" Type="{_relationship_type(kind)}" Target="{part}" {_mode(part)}/>'
        for i, (kind, part) in enumerate(related, 1)
    )
    return f'<Relationships xmlns="{PACKAGE_RELS}">{items}</Relationships>'


def _mode(target: str) -> str:
    return 'TargetMode="External"' if target.startswith("http") else ""


def _relationship_type(kind: str) -> str:
    return kind if ":" in kind else f"{RELS}/{kind}"


def _content_types() -> str:
    workbook = f'<Override PartName="/xl/workbook.xml" ContentType="{SHEET_TYPE}"/>'
    return f'<Types xmlns="{CONTENT_TYPES}"><Default Extension="xml" ContentType="application/xml"/>{workbook}</Types>'


def _styles(formats: Sequence[str]) -> str:
    codes = "".join(f'<numFmt numFmtId="{164 + i}" formatCode={quoteattr(code)}/>' for i, code in enumerate(formats))
    styles = "".join(f'<xf numFmtId="{164 + i}"/>' for i in range(len(formats)))
    return f'<styleSheet xmlns="{MAIN}"><numFmts>{codes}</numFmts><cellXfs>{styles}</cellXfs></styleSheet>'
