"""Numbers of one format, read and shown many at a time, where the file and the format write them as nearly all do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from extractor_svc.formats.xlsx_number_formats import NumberFormat, Section
from extractor_svc.text_columns import NO_TEXTS, Mask, byte_lengths, matching, picked, side_by_side, text_scalar

Whole: TypeAlias = npt.NDArray[np.int64]

_FEW: Final = 64
_PLAIN: Final = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$"
_MINUS_ZERO: Final = r"^-0(?:\.0*)?$"
_DECIMALS: Final = r"\.[0-9]*[1-9]$"
_BELOW_GENERAL: Final = r"^-?0\.00000"
_SURE: Final = 16
_MOST_DIGITS: Final = 18
_SIGNIFICANT: Final = 15
_GENERAL: Final = ("", "@")
_TENS: Final = np.array([10**power for power in range(_MOST_DIGITS + 1)], np.int64)
_FIXED: Final = re.compile(r"(?P<groups>#,##)?0(?:\.(?P<decimals>0+))?")


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers exactly: in plain digits, and as a whole number of 18 digits at most with the number of its decimals."""

    plain: pa.StringArray
    whole: Whole
    decimals: Whole

    def at(self, chosen: Mask) -> Numbers:
        """Some of them."""
        return self if chosen.all() else Numbers(picked(self.plain, chosen), self.whole[chosen], self.decimals[chosen])


@dataclass(frozen=True, slots=True)
class _Fixed:
    """A section of a format with a fixed number of decimals, and what stands before and after the digits."""

    before: str
    after: str
    decimals: int
    percents: int
    grouped: bool


def plain_numbers(stored: pa.StringArray, look: NumberFormat) -> tuple[Mask, pa.StringArray, pa.StringArray]:
    """Which of the texts are read here, their numbers in plain digits, and how the format shows these.

    What is read here, `number_value` reads alike; it leaves numbers with exponents or more digits than a double needs, formats
    other than General and those of fixed decimals, and all where there are few.
    """
    if len(stored) < _FEW or not (look.code in _GENERAL or any(map(_fixed, look.sections[:3]))):
        return np.zeros(len(stored), np.bool_), NO_TEXTS, NO_TEXTS
    read, numbers = exact_numbers(stored)
    shown, texts = _general(numbers) if look.code in _GENERAL else _formatted(numbers, look)
    read[read] = shown
    return read, picked(numbers.plain, shown), texts


def exact_numbers(stored: pa.StringArray) -> tuple[Mask, Numbers]:
    """The numbers that are plain digits, those of a double with too many of them in the fewest that mean the same double."""
    lengths, dotted = byte_lengths(stored), _points(stored) >= 0
    plain = matching(stored, _PLAIN) & ~matching(stored, _MINUS_ZERO)
    as_written = (lengths <= _SURE) | ((lengths <= _MOST_DIGITS) & ~dotted)
    if as_written.all():
        return plain, _numbers(picked(stored, plain))
    long = plain & ~as_written & matching(stored, _DECIMALS)
    doubles = pc.cast(pc.if_else(pa.array(long), stored, text_scalar("0.5")), pa.float64())
    fewest = pc.cast(doubles, pa.string())
    read = plain & (as_written | (long & matching(fewest, _PLAIN) & matching(fewest, _DECIMALS)))
    return read, _numbers(picked(pc.if_else(pa.array(long), fewest, stored), read))


def _points(numbers: pa.StringArray) -> Whole:
    """Where each number has its decimal point; below 0 where it has none."""
    return np.array(pc.find_substring(numbers, ".").to_numpy(), np.int64)


def _numbers(plain: pa.StringArray) -> Numbers:
    point = _points(plain)
    whole = pc.cast(pc.replace_substring(plain, ".", "") if (point >= 0).any() else plain, pa.int64()).to_numpy()
    return Numbers(plain, whole, np.where(point < 0, 0, byte_lengths(plain) - point - 1))


def _general(numbers: Numbers) -> tuple[Mask, pa.StringArray]:
    """Numbers as General shows them, those not too small for plain digits: 15 significant ones, no zeros at the end."""
    shown = ~matching(numbers.plain, _BELOW_GENERAL)
    numbers = numbers.at(shown)
    digits = np.searchsorted(_TENS, np.abs(numbers.whole), side="right")
    surplus = np.where(numbers.decimals > 0, np.maximum(digits - _SIGNIFICANT, 0), 0)
    texts = numbers.plain
    if (numbers.decimals < surplus).any():
        fits = numbers.decimals >= surplus
        shown[shown] = fits
        numbers, surplus, texts = numbers.at(fits), surplus[fits], picked(texts, fits)
    if surplus.any():
        long = surplus > 0
        rounded = _rounded(np.abs(numbers.whole[long]), surplus[long])
        cut = _by_decimals(rounded, numbers.decimals[long] - surplus[long], numbers.whole[long] < 0)
        texts = pc.replace_with_mask(texts, pa.array(long), cut)
    trailing = matching(texts, r"\.[0-9]*0$")
    if trailing.any():
        texts = pc.if_else(pa.array(trailing), pc.utf8_rtrim(pc.utf8_rtrim(texts, characters="0"), characters="."), texts)
    return shown, texts


def _by_decimals(whole: Whole, decimals: Whole, negative: Mask) -> pa.StringArray:
    """The texts of numbers that differ in how many decimals they have."""
    order = np.argsort(decimals, kind="stable")
    counts = np.unique(decimals)
    groups = [order[decimals[order] == count] for count in counts]
    texts = [_written(whole[group], int(count)) for group, count in zip(groups, counts, strict=True)]
    back = np.empty(len(order), np.int64)
    back[np.concatenate(groups)] = np.arange(len(order))
    return _signed(pa.concat_arrays(texts).take(pa.array(back)), negative)


def _formatted(numbers: Numbers, look: NumberFormat) -> tuple[Mask, pa.StringArray]:
    """Numbers through the section of the format that shows each, where it is one of fixed decimals."""
    sections = [_fixed(section) for section in look.sections[:3]]
    chosen = np.zeros(len(numbers.whole), np.int64)
    if any(section.condition for section in look.sections[:3]):
        return np.zeros(len(chosen), np.bool_), NO_TEXTS
    if len(sections) > 1:
        chosen[numbers.whole < 0] = 1
    if len(sections) > 2:
        chosen[numbers.whole == 0] = 2
    shown = np.zeros(len(chosen), np.bool_)
    texts, order = [], []
    for i, section in enumerate(sections):
        if section is not None and (here := chosen == i).any():
            fits, text = _through(section, numbers.at(here), signed=len(sections) == 1)
            order.append(np.flatnonzero(here)[fits])
            shown[order[-1]] = True
            texts.append(text)
    if not texts:
        return shown, NO_TEXTS
    back = np.argsort(np.concatenate(order), kind="stable")
    return shown, pa.concat_arrays(texts).take(pa.array(back))


def _through(section: _Fixed, numbers: Numbers, *, signed: bool) -> tuple[Mask, pa.StringArray]:
    decimals = section.decimals + 2 * section.percents
    digits = np.searchsorted(_TENS, np.abs(numbers.whole), side="right")
    fits = digits + np.maximum(decimals - numbers.decimals, 0) <= _MOST_DIGITS
    whole, had = np.abs(numbers.whole[fits]), numbers.decimals[fits]
    grown = whole * _TENS[np.clip(decimals - had, 0, _MOST_DIGITS)]
    rounded = np.where(had > decimals, _rounded(whole, np.maximum(had - decimals, 0)), grown)
    texts = _written(rounded, section.decimals, grouped=section.grouped)
    if section.before or section.after:
        texts = side_by_side(section.before.lstrip(), texts, section.after.rstrip())
    return fits, _signed(texts, (numbers.whole[fits] < 0) & (rounded > 0)) if signed else texts


def _rounded(whole: Whole, places: Whole) -> Whole:
    """Whole numbers of no sign without their last digits, rounded half up."""
    tens = _TENS[np.minimum(places, _MOST_DIGITS)]
    return np.where(places > _MOST_DIGITS, 0, whole // tens + (whole % tens >= tens - tens // 2) * (places > 0))


def _written(whole: Whole, decimals: int, *, grouped: bool = False) -> pa.StringArray:
    """Whole numbers of no sign as text, the last digits after a point."""
    tens = int(_TENS[decimals]) if decimals <= _MOST_DIGITS else 0
    if not tens:
        digits = pc.utf8_lpad(pc.cast(pa.array(whole), pa.string()), decimals, "0")
        return side_by_side("0.", digits)
    front = pc.cast(pa.array(whole // tens), pa.string())
    front = _grouped(front) if grouped else front
    if not decimals:
        return front
    behind = pc.utf8_slice_codeunits(pc.cast(pa.array(whole % tens + tens), pa.string()), 1)
    return side_by_side(front, ".", behind)


def _grouped(digits: pa.StringArray) -> pa.StringArray:
    """Digits with a comma before every third from the end."""
    longest = int(byte_lengths(digits).max(initial=0))
    if longest <= 3:
        return digits
    grouped = pc.utf8_slice_codeunits(digits, -3)
    for end in range(3, longest, 3):
        group = pc.utf8_slice_codeunits(digits, -end - 3, -end)
        grouped = pc.if_else(pa.array(byte_lengths(group) > 0), side_by_side(group, ",", grouped), grouped)
    return grouped


def _signed(texts: pa.StringArray, negative: Mask) -> pa.StringArray:
    if not negative.any():
        return texts
    return pc.if_else(pa.array(negative), side_by_side("-", texts), texts)


@lru_cache(maxsize=4096)
def _fixed(section: Section) -> _Fixed | None:
    """The section as one of fixed decimals; None where it is another."""
    at = [i for i, token in enumerate(section.tokens) if token.kind in ("digit", "comma", "point")]
    if not at or section.condition or not section.kinds <= {"digit", "comma", "point", "literal", "percent"}:
        return None
    match = _FIXED.fullmatch("".join(token.text for token in section.tokens[at[0] : at[-1] + 1]))
    before, after = ("".join(token.text for token in tokens) for tokens in (section.tokens[: at[0]], section.tokens[at[-1] + 1 :]))
    percents = sum(token.kind == "percent" for token in section.tokens)
    decimals = len(match["decimals"] or "") if match else 0
    if match is None or re.search("[1-9]", before + after) or decimals + 2 * percents > _SIGNIFICANT:
        return None
    return _Fixed(before, after, decimals, percents, bool(match["groups"]))
