"""What the texts of a whole column mean, decided as for any displayed text, with whole columns of plain numbers at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from artifact.model import Column, ColumnType, TypeCount
from extractor_svc.tabular import MAX_DIGITS, HeldColumn, column_values_of_text, decimal_mark_of, hold_values
from extractor_svc.values import Value

_PLAIN: Final = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$"
_SMALL: Final = r"^-?[0-9](?:\.[0-9]+)?[eE]-[0-9]{1,2}$"
"""A number below 10 with a negative exponent, as programs write fractions near zero."""
_SURE_POINT: Final = r"^-?(?:0|[1-9][0-9]{3,})\.|\.(?:[0-9]{1,2}|[0-9]{4,})$"
"""A plain number whose point can only mark decimals: `1.234` alone might be a thousand in groups of three."""
_SPACE: Final = "[\\s\u00a0\u2009\u202f]"
_CURRENCY: Final = "(?:[A-Z]{3}|[A-Z]{0,2}[$€£¥₹₩₽₺₴₪₫₱฿])"
_PERHAPS_MORE_THAN_WORDS: Final = (
    rf"(?is)^{_SPACE}*(?:"
    rf"[(+\-−]*{_CURRENCY}?{_SPACE}?[\-−]?[0-9.](?:[0-9.,'’]|{_SPACE})*(?:e[+-]?[0-9]+)?{_SPACE}?(?:%|{_CURRENCY})?\)?"
    rf"|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[T ].*)?|[\-–—−‐]|true|false|){_SPACE}*$"
)
"""Texts that could be empty, a number, a date, a dash or a truth value; all others are words."""
_WITH_SEPARATOR: Final = r"[0-9][.,'’\s][0-9]"
_TRUTHS: Final = {"true": True, "false": False}
_EVIDENCE: Final = 100_000
_FEW: Final = 200
"""Rows up to which a column is held text by text, which takes less time there."""
_NOTHING: Final = pa.scalar(None, pa.string())
_ZERO: Final = pa.scalar(0, pa.int32())
_ONE: Final = pa.scalar(1, pa.int32())

Mark = Callable[[], str]
"""Tells the decimal mark that the rest of the file agrees on, where a column alone leaves a doubt."""


def hold_texts(name: str, source_header: str, texts: pa.ChunkedArray, mark: Mark) -> HeldColumn:
    """Types a column of texts by all of them and holds it; a text is empty where it is null or blank."""
    if len(texts) <= _FEW:
        return hold_values(name, source_header, _values([text or "" for text in texts.to_pylist()], mark, alone=True))
    plain = _hold_plain(name, source_header, texts)
    return plain or _hold_any(name, source_header, texts, mark)


def mark_of_file(columns: Sequence[pa.ChunkedArray], *, delimiter: str) -> str:
    """The decimal mark that the numbers of a file agree on; a point where none tells and commas part the cells."""
    found = decimal_mark_of([text for column in columns for text in _numbers_with_separators(column)])
    return found or ("." if delimiter == "," else "")


def _numbers_with_separators(column: pa.ChunkedArray) -> Iterator[str]:
    some = column.filter(pc.match_substring_regex(column, _WITH_SEPARATOR)).slice(0, _EVIDENCE).unique()
    yield from some.to_pylist()


def _hold_plain(name: str, source_header: str, texts: pa.ChunkedArray) -> HeldColumn | None:
    """Holds a column whose texts are all empty, plain numbers or small ones; None where one is not, or a point leaves a doubt."""
    values = pc.if_else(pc.equal(pc.binary_length(texts), _ZERO), _NOTHING, texts)
    small = pc.fill_null(pc.match_substring_regex(values, _SMALL), pa.scalar(value=False))
    written = values
    if pc.any(small).as_py():
        values = _in_digits(values, small)
    if values.null_count == len(values) or not pc.all(pc.match_substring_regex(values, _PLAIN)).as_py():
        return None
    lengths, points = pc.binary_length(values), pc.find_substring(values, ".")
    if pc.max(points).as_py() >= 0 and not pc.any(pc.match_substring_regex(written, _SURE_POINT)).as_py():
        return None
    without = pc.less(points, _ZERO)
    decimals = pc.if_else(without, _ZERO, pc.subtract(pc.subtract(lengths, points), _ONE))
    signs = pc.cast(pc.starts_with(values, "-"), pa.int32())
    whole = pc.max(pc.subtract(pc.if_else(without, lengths, points), signs)).as_py()
    scale = pc.max(decimals).as_py()
    if whole + scale > MAX_DIGITS:
        return None
    column = Column(
        name,
        ColumnType.NUMBER,
        source_header,
        (TypeCount(ColumnType.NUMBER, len(values) - values.null_count),),
        _most_common_format(pc.if_else(_without_point(written, small), _ZERO, decimals).filter(values.is_valid())),
        precision=whole + scale,
        scale=scale,
        nullable=values.null_count > 0,
    )
    return HeldColumn(column, values.cast(pa.decimal128(whole + scale, scale)))


def _in_digits(values: pa.ChunkedArray, small: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values with those that have an exponent written out."""
    written = pa.array([format(Decimal(text), "f") for text in values.filter(small).to_pylist()], pa.string())
    return pa.chunked_array([pc.replace_with_mask(values.combine_chunks(), small.combine_chunks(), written)])


def _without_point(written: pa.ChunkedArray, small: pa.ChunkedArray) -> pa.ChunkedArray:
    """Which small numbers are written without a point: they are shown as digits alone."""
    return pc.and_(small, pc.less(pc.find_substring(written, "."), _ZERO))


def _most_common_format(decimals: pa.ChunkedArray) -> str:
    """The display format of most numbers by how many decimals they have; none where they are written without a point."""
    counts = pc.value_counts(decimals)
    best = int(np.argmax(counts.field("counts").to_numpy()))
    places = counts.field("values")[best].as_py()
    return "0." + "0" * places if places else ""


def _hold_any(name: str, source_header: str, texts: pa.ChunkedArray, mark: Mark) -> HeldColumn:
    """Holds a column by its different texts; those that can be nothing but words are not looked at one by one."""
    known = pc.fill_null(texts, "")
    open_to_doubt = pc.match_substring_regex(known, _PERHAPS_MORE_THAN_WORDS)
    words = len(known) - pc.sum(open_to_doubt, min_count=0).as_py()
    coded = known.filter(open_to_doubt).combine_chunks().dictionary_encode()
    different = coded.dictionary.to_pylist()
    values = _values(different, mark, alone=not words)
    counts = np.bincount(coded.indices.to_numpy(zero_copy_only=False), minlength=len(different)).tolist()
    if words:
        held = hold_values(name, source_header, [*values, Value(ColumnType.STRING, "", "")], counts=[*counts, words])
    else:
        held = hold_values(name, source_header, values, counts=counts)
    if held.column.type is not ColumnType.STRING:
        return replace(held, array=held.array.take(coded.indices))
    nothing = pa.array([text for text, value in zip(different, values, strict=True) if value.kind is None], pa.string())
    array = pc.if_else(pc.is_in(known, nothing), _NOTHING, known)
    return replace(held, array=array)


def _values(texts: Sequence[str], mark: Mark, *, alone: bool) -> list[Value]:
    """The values of a column's different texts; a column of `true` and `false` alone is one of truth values."""
    filled = [text.strip().casefold() for text in texts if text.strip()]
    if alone and filled and all(text in _TRUTHS for text in filled):
        return [_truth(text) for text in texts]
    values = column_values_of_text(texts)
    doubted = any(value.kind is ColumnType.STRING for value in values)
    if not doubted or decimal_mark_of(texts) or not any("." in text or "," in text for text in texts):
        return values
    return column_values_of_text(texts, decimal_mark=mark())


def _truth(text: str) -> Value:
    found = _TRUTHS.get(text.strip().casefold())
    return Value() if found is None else Value(ColumnType.BOOL, found, text)
