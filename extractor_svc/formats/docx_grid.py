"""Where the cells of a table stand: by grid column, with what they span, and the rows that are not shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from artifact.model import Visibility
from extractor_svc.errors import TooManyColumns, TooManyRows
from extractor_svc.formats.docx_xml import LIVE, Changes, live_children, number_of, outweighing, switch_of, value_of
from extractor_svc.limits import Limits
from extractor_svc.ooxml import Element, child_of, local_name

_WRAPPERS: Final = frozenset({"sdt", "sdtContent", "customXml", "smartTag"})


@dataclass(slots=True)
class Slot:
    """A cell in its place; rows and columns from 0. A covered one lies under the span of another and is not shown."""

    element: Element
    path: str
    visibility: Visibility
    row: int
    column: int
    column_span: int
    row_span: int = 1
    is_covered: bool = False


@dataclass(slots=True)
class Row:
    """A row with its cells, covered ones too; what is deleted or hidden has no number in the grid."""

    path: str
    visibility: Visibility
    is_header: bool
    slots: list[Slot] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table's rows in their order; `rows_shown` and `columns` count what is shown."""

    rows: tuple[Row, ...]
    rows_shown: int
    columns: int


def lay_out(table: Element, path: str, *, changes: Changes, visibility: Visibility, limits: Limits) -> Grid:
    """Lays out a table that stands where `visibility` holds.

    A merged cell goes on below by grid column, in the rows directly under it.

    Raises:
        TooManyColumns, TooManyRows: the table is larger than the limits.
    """
    rows: list[Row] = []
    open_merges: dict[int, Slot] = {}
    shown = columns = 0
    for element, place, around in _within(table, path, "tr", changes=changes, visibility=visibility):
        row = _row(element, place, changes=changes, visibility=around)
        number = shown if row.visibility in LIVE else -1
        width = _fill(row, element, number, open_merges=open_merges, changes=changes, limits=limits)
        rows.append(row)
        if row.visibility in LIVE:
            shown, columns = shown + 1, max(columns, width)
        if len(rows) > limits.max_rows:
            raise TooManyRows(
                f"a table has more than {limits.max_rows} rows; split it", metadata={"max_rows": str(limits.max_rows)}
            )
    return Grid(tuple(rows), shown, columns)


def _within(
    element: Element, path: str, wanted: str, *, changes: Changes, visibility: Visibility
) -> Iterator[tuple[Element, str, Visibility]]:
    for child, name, place in live_children(element, path):
        if name == wanted:
            yield child, place, visibility
        elif name in _WRAPPERS or name in changes:
            around = outweighing(visibility, changes.get(name, Visibility.VISIBLE))
            yield from _within(child, place, wanted, changes=changes, visibility=around)


def _row(element: Element, path: str, *, changes: Changes, visibility: Visibility) -> Row:
    properties = child_of(element, "trPr")
    for child in () if properties is None else properties:
        visibility = outweighing(visibility, changes.get(local_name(child), Visibility.VISIBLE))
    if switch_of(properties, "hidden"):
        visibility = outweighing(visibility, Visibility.HIDDEN_ROW)
    return Row(path, visibility, bool(switch_of(properties, "tblHeader")))


def _fill(row: Row, element: Element, number: int, *, open_merges: dict[int, Slot], changes: Changes, limits: Limits) -> int:
    """Places a row's cells, and returns the grid column that follows the last one."""
    before = child_of(element, "trPr")
    column = number_of(before, "gridBefore") or 0
    leading: Slot | None = None
    for cell, path, around in _within(element, row.path, "tc", changes=changes, visibility=row.visibility):
        properties = child_of(cell, "tcPr")
        visibility = outweighing(around, _change_of(properties, changes))
        span = max(1, number_of(properties, "gridSpan") or 1)
        _check_width(column + span, limits)
        slot = Slot(cell, path, visibility, number, column, span)
        if leading is not None and value_of(properties, "hMerge") in ("", "continue"):
            leading.column_span += span
            slot.is_covered = True
        else:
            leading = _place(slot, properties, open_merges)
        row.slots.append(slot)
        column += span
    column += number_of(before, "gridAfter") or 0
    _check_width(column, limits)
    return column


def _change_of(properties: Element | None, changes: Changes) -> Visibility:
    names = ("cellDel", "cellIns") if properties is not None else ()
    found = (name.removeprefix("cell").lower() for name in names if child_of(properties, name) is not None)
    return next((changes[name] for name in found), Visibility.VISIBLE)


def _place(slot: Slot, properties: Element | None, open_merges: dict[int, Slot]) -> Slot:
    merge = value_of(properties, "vMerge")
    above = open_merges.get(slot.column)
    if slot.row < 0:
        return slot
    if merge is None:
        open_merges.pop(slot.column, None)
    elif merge == "restart" or above is None or above.row + above.row_span != slot.row:
        open_merges[slot.column] = slot
    else:
        above.row_span += 1
        slot.is_covered = True
    return slot


def _check_width(columns: int, limits: Limits) -> None:
    if columns > limits.max_columns:
        raise TooManyColumns(
            f"a table has {columns} columns and at most {limits.max_columns} are read",
            metadata={"columns": str(columns), "max_columns": str(limits.max_columns)},
        )
