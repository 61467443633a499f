"""The cells of a sheet as lines of text: a row a line, cells joined by a tab."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from extractor_svc.errors import OutputLimit
from extractor_svc.formats.xlsx_grid import Grid
from extractor_svc.formats.xlsx_raw import Integers
from extractor_svc.text_columns import Places, byte_lengths, column_of, encoded, picked, side_by_side

_FEW: Final = 200
_PLAIN, _SPACE, _OTHER = range(3)
_CLASS_OF_BYTE: Final = np.full(256, _PLAIN, np.uint8)
_CLASS_OF_BYTE[[*range(0x20), 0xC2, 0xE1, 0xE2, 0xE3]] = _OTHER  # controls, and first bytes of other white space
_CLASS_OF_BYTE[0x20] = _SPACE
_UNEVEN: Final = r"[\x09-\x0d\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]|^ | $|  "


def lines_of(grid: Grid, positions: Places, first_column: int, *, max_chars: int) -> str:
    """The rows of some cells, in order, from a column on; white space within a cell is one space; rows without a word are left out.

    Raises:
        OutputLimit: the text would have more than `max_chars` bytes.
    """
    if len(positions) <= _FEW:
        return _few_lines(grid, positions, first_column, max_chars=max_chars)
    texts = _on_one_line(grid.cells.values.texts.take(pa.array(positions)))
    rows, columns = grid.cells.rows[positions], grid.cells.columns[positions].astype(np.int64)
    lengths = byte_lengths(texts)
    starts = np.flatnonzero(np.diff(rows, prepend=0))
    says = np.add.reduceat(lengths, starts) > 0
    if not says.any():
        return ""
    if not says.all():
        kept = np.repeat(says, np.diff(np.append(starts, len(rows))))
        texts, rows, columns, lengths = picked(texts, kept), rows[kept], columns[kept], lengths[kept]
    separators = _separators(rows, columns, first_column)
    if int(lengths.sum()) + int(separators.sum()) > max_chars:
        raise _too_much_text(max_chars)
    return _joined(texts, separators, rows)


def _few_lines(grid: Grid, positions: Places, first_column: int, *, max_chars: int) -> str:
    """The same, cell by cell, which is quicker where there are few."""
    lines: dict[int, str] = {}
    ends: dict[int, int] = {}
    texts = grid.cells.values.texts.take(pa.array(positions)).to_pylist()
    rows, columns = grid.cells.rows[positions].tolist(), grid.cells.columns[positions].tolist()
    for row, column, text in zip(rows, columns, texts, strict=True):
        lines[row] = lines.get(row, "") + "\t" * (column - ends.get(row, first_column)) + " ".join(text.split())
        ends[row] = column
    found = "\n".join(line for line in lines.values() if line.strip())
    if len(found) > max_chars:
        raise _too_much_text(max_chars)
    return found


def _too_much_text(max_chars: int) -> OutputLimit:
    return OutputLimit(
        f"a table shows more than {max_chars} characters of text; split it", metadata={"max_text_chars": str(max_chars)}
    )


def _separators(rows: Integers, columns: Places, first_column: int) -> Places:
    """How many tabs stand before each cell."""
    before = np.concatenate([[first_column], columns[:-1]])
    return columns - np.where(np.diff(rows, prepend=0) > 0, first_column, before)


def _joined(texts: pa.StringArray, tabs: Places, rows: Integers) -> str:
    """Every text after its tabs, the first one of a row after a line's end."""
    breaks = np.diff(rows, prepend=rows[:1]) > 0
    widths = tabs * 2 + breaks
    found = np.flatnonzero(np.bincount(widths))
    before = column_of(["\n" * (width % 2) + "\t" * (width // 2) for width in found.tolist()])
    place_of = np.zeros(int(found[-1]) + 1, np.int32)
    place_of[found] = np.arange(len(found))
    joined = side_by_side(before.take(pa.array(place_of[widths])), texts)
    return bytes(joined.buffers()[2]).decode()


def _on_one_line(texts: pa.StringArray) -> pa.StringArray:
    """The texts with all white space as single spaces between words."""
    if _is_even(texts):
        return texts
    uneven = pc.match_substring_regex(texts, _UNEVEN)
    if not uneven.true_count:
        return texts
    places, words = encoded(texts.filter(uneven))
    even = column_of([" ".join(word.split()) for word in words])
    return pc.replace_with_mask(texts, uneven, even.take(pa.array(places)))


def _is_even(texts: pa.StringArray) -> bool:
    """Whether it is plain by the bytes that white space is single spaces between words."""
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    if offsets[0] == offsets[-1]:
        return True
    classes = _CLASS_OF_BYTE[np.frombuffer(texts.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]]
    spaces = classes == _SPACE
    if (classes == _OTHER).any() or (spaces[1:] & spaces[:-1]).any():
        return False
    filled = offsets[1:] > offsets[:-1]
    edges = np.concatenate([offsets[:-1][filled], offsets[1:][filled] - 1]) - offsets[0]
    return not spaces[edges].any()
