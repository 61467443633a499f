"""Number formats of a workbook: their parts and the kind of value they show (ECMA-376 part 1, 18.8.30 and 18.8.31)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from artifact.model import ColumnType

BUILT_IN: Final = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: '"$"#,##0_);\\("$"#,##0\\)',
    6: '"$"#,##0_);[Red]\\("$"#,##0\\)',
    7: '"$"#,##0.00_);\\("$"#,##0.00\\)',
    8: '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)',
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "yyyy-mm-dd",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm",
    37: "#,##0_);(#,##0)",
    38: "#,##0_);[Red](#,##0)",
    39: "#,##0.00_);(#,##0.00)",
    40: "#,##0.00_);[Red](#,##0.00)",
    41: '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
    42: '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)',
    44: '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), "yyyy-mm-dd"),
    **dict.fromkeys(range(32, 36), "h:mm:ss"),
}
"""Codes of the built-in formats. Those that depend on the reader's country (14, 22, East Asian dates) are shown as ISO 8601."""

_TOKEN: Final = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<noon>AM/PM|A/P)|(?P<exponent>E[+-])|(?P<moment>y+|m+|d+|h+|s+|e+|g+|b+)"
    r"|(?P<digit>[0#?])|(?P<sign>[.,%/@])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST_CODE: Final = 1000
_ELAPSED: Final = re.compile(r"h+|m+|s+", re.IGNORECASE)
_CONDITION: Final = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[0-9]+(?:\.[0-9]+)?)")


@dataclass(frozen=True, slots=True)
class Token:
    """One element of a format and its text.

    Kinds: `literal`, `general`, `digit`, `point`, `comma`, `percent`, `slash`, `text`, `exponent`, `noon`, `elapsed`,
    `fraction` (of a second), and the parts of a moment, `y`, `m`, `d`, `h`, `n` (minutes), `s`.
    """

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a format, between semicolons, the kinds of its elements, and the condition its values have to meet.

    `second_places` are the digits of a second that it shows, None where it shows no seconds.
    """

    tokens: tuple[Token, ...]
    kinds: frozenset[str]
    second_places: int | None
    condition: tuple[str, Decimal] | None = None

    def has(self, *kinds: str) -> bool:
        """Whether any element is of these kinds."""
        return not self.kinds.isdisjoint(kinds)


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """A format: its code, empty for General, and what its values mean."""

    code: str
    kind: ColumnType
    sections: tuple[Section, ...]


@lru_cache(maxsize=4096)
def number_format(code: str) -> NumberFormat:
    """Reads a format code; one longer than any program writes is taken as General."""
    code = code if len(code) <= _LONGEST_CODE else "General"
    sections = tuple(_section(text) for text in _split(code))
    kind = _kind(sections[0])
    return NumberFormat("" if code.strip().lower() == "general" else code, kind, sections)


def _split(code: str) -> list[str]:
    """The sections of a code; semicolons in quotes, brackets or after a backslash part nothing."""
    sections, current = [], ""
    for match in re.finditer(r'"[^"]*"?|\[[^\]]*\]|[\\_*].|.', code, re.DOTALL):
        if match.group() == ";":
            sections.append(current)
            current = ""
        else:
            current += match.group()
    return [*sections, current]


def _section(text: str) -> Section:
    tokens: list[Token] = []
    condition = None
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        found = match[kind] if kind else ""
        if kind == "bracket" and (asked := _CONDITION.fullmatch(found)):
            condition = (asked[1], Decimal(asked[2]))
        elif (token := _token(kind, found, tokens)) and token.kind == "fraction" and tokens[-1].kind == "fraction":
            tokens[-1] = Token("fraction", tokens[-1].text + token.text)
        elif token:
            tokens.append(token)
    return _section_of(_with_minutes(tokens), condition)


def _section_of(tokens: Sequence[Token], condition: tuple[str, Decimal] | None) -> Section:
    shows_seconds = any(token.kind == "s" or (token.kind == "elapsed" and token.text[0] in "sS") for token in tokens)
    places = max((len(token.text) for token in tokens if token.kind == "fraction"), default=0)
    return Section(tuple(tokens), frozenset(token.kind for token in tokens), places if shows_seconds else None, condition)


def _token(kind: str, text: str, before: Sequence[Token]) -> Token | None:
    match kind:
        case "quoted" | "escaped" | "other":
            return Token("literal", text)
        case "space":
            return Token("literal", " ")
        case "bracket":
            return _bracket(text)
        case "moment":
            return Token({"e": "y", "b": "literal", "g": "literal"}.get(text[0].lower(), text[0].lower()), text)
        case "sign":
            return Token({".": "point", ",": "comma", "%": "percent", "/": "slash", "@": "text"}[text], text)
        case "digit" if text == "0" and before and before[-1].kind in ("point", "fraction") and _after_seconds(before):
            return Token("fraction", text)
        case "fill" | "":
            return None
    return Token(kind, text)


def _after_seconds(before: Sequence[Token]) -> bool:
    earlier = [token for token in before if token.kind not in ("fraction", "point")]
    return bool(earlier) and (earlier[-1].kind == "s" or (earlier[-1].kind == "elapsed" and earlier[-1].text[0].lower() == "s"))


def _bracket(text: str) -> Token | None:
    if _ELAPSED.fullmatch(text):
        return Token("elapsed", text)
    if text.startswith("$"):
        return Token("literal", text[1:].partition("-")[0])
    return None


def _with_minutes(tokens: Sequence[Token]) -> list[Token]:
    """Tells minutes, next to hours or seconds, from months."""
    parts = [i for i, token in enumerate(tokens) if token.kind in ("y", "m", "d", "h", "s", "elapsed")]
    out = list(tokens)
    for position, i in enumerate(parts):
        if tokens[i].kind != "m" or len(tokens[i].text) > 2:
            continue
        before = tokens[parts[position - 1]] if position else Token("", "-")
        after = tokens[parts[position + 1]] if position + 1 < len(parts) else Token("", "-")
        after_hours = before.kind == "h" or (before.kind == "elapsed" and before.text[0] in "hH")
        if after_hours or after.kind == "s":
            out[i] = Token("n", tokens[i].text)
    return out


def _kind(section: Section) -> ColumnType:
    if section.has("elapsed"):
        return ColumnType.DURATION
    date, time = section.has("y", "m", "d"), section.has("h", "n", "s", "noon")
    if date and time:
        return ColumnType.DATETIME
    if date or time:
        return ColumnType.DATE if date else ColumnType.TIME
    if section.has("text") and not section.has("digit"):
        return ColumnType.STRING
    return ColumnType.NUMBER


GENERAL: Final = number_format("General")
