"""How a delimited file parts its cells: found by reading its first lines in every likely way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_PRIORS: Final = {",": 1.0, "\t": 1.0, ";": 0.98, "|": 0.9, "\x1f": 0.9, "\x01": 0.9, "^": 0.8, "~": 0.8, ":": 0.6}
"""Delimiters and how far each is believed where the lines leave a choice; a comma stands first, as the format's name says."""
_SAMPLE_BYTES: Final = 32 * 1024
_SAMPLE_ROWS: Final = 300
_STATED: Final = re.compile(rb'"?sep=([^\r\n"])"?(?:\n|\Z)', re.IGNORECASE)
_CLEAN: Final = re.compile(
    r"""\s*
    | [+\-−(]*[$€£¥]?\ ?[0-9][0-9.,'\ ]*(?:[eE][+-]?[0-9]+)?\ ?[%$€£¥)]*  # numbers
    | [0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}(?:[T\ ][0-9:.]+(?:Z|[+-][0-9:]+)?)?  # dates
    | [0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:\ ?[AaPp][Mm]|Z|[+-][0-9:]+)?  # times
    | [a-z]+://[^\s,;]+ | [^\s@,;]+@[^\s@,;]+
    | [^\W_][\w\ .\-/'()\[\]#&+%°?!|]*
    """,
    re.VERBOSE,
)
_PROSE: Final = re.compile(r'[^\W_][^\t;|"]*')
_ESCAPED: Final = r'(?<!\\)\\"(?!\s*(?:{delimiter}|\n|\Z))'


@dataclass(frozen=True, slots=True)
class Dialect:
    """Delimiter and quote, one ASCII character each; `escape` says that a backslash in quotes lets the next quote stand.

    `skipped_lines` is 1 where the first line only states the delimiter, as `sep=;`.
    """

    delimiter: str
    quote: str = '"'
    escape: bool = False
    skipped_lines: int = 0

    def field_pattern(self) -> re.Pattern[bytes]:
        """Matches a cell and what ends it (group 3): group 1 is what stands in quotes, group 2 a cell without.

        A cell whose quotes do not fit is one without: they are part of it.
        """
        end, quote = re.escape(self.delimiter), re.escape(self.quote)
        inside = rf"(?:[^{quote}\\]|{quote}{quote}|\\.|\\\n)" if self.escape else rf"(?:[^{quote}]|{quote}{quote})"
        return re.compile(rf"(?: *+{quote}({inside}*+){quote} *+(?=[{end}\n]|\Z)|([^{end}\n]*+))([{end}\n]|\Z)".encode())

    def unescape_pattern(self) -> str:
        """What stands for one character in quotes: the pattern's group 1 is that character."""
        quote = re.escape(self.quote)
        return rf"\\([{quote}\\])|{quote}({quote})" if self.escape else rf"{quote}({quote})"


def detect_dialect(data: bytes, *, tabs: bool) -> Dialect:
    """The dialect that explains the first lines of UTF-8 text best; `tabs` says that the file's name promises tabs.

    The measure is that of consistent rows: many rows of one width, of cells that each read as one thing (after van den
    Burg, Nazábal and Sutton, "Wrangling messy CSV files by detecting row and type patterns", 2019).
    """
    stated = _STATED.match(data)
    skipped = 0 if stated is None or stated[1].decode("ascii", "replace") not in _PRIORS else 1
    sample = _sample(data[stated.end() :] if stated and skipped else data)
    if stated is not None and skipped:
        delimiters: Sequence[str] = [stated[1].decode()]
    elif tabs and b"\t" in sample:
        delimiters = ["\t"]
    else:
        delimiters = [delimiter for delimiter in _PRIORS if delimiter.encode() in sample]
    dialects = [dialect for delimiter in delimiters for dialect in _dialects(sample, delimiter, skipped)]
    if not dialects:
        return Dialect("\t" if tabs else ",", skipped_lines=skipped)
    return max(dialects, key=lambda dialect: _score(sample, dialect))


def sample_rows(data: bytes, dialect: Dialect, *, limit: int) -> list[list[str]]:
    """The cells of the first records, as they are written between their quotes; lines without anything are left out."""
    pattern = dialect.field_pattern()
    rows: list[list[str]] = []
    cells: list[str] = []
    for found in pattern.finditer(data):
        if len(rows) == limit:
            break
        cells.append((found[2] if found[1] is None else found[1]).decode("utf-8", "replace"))
        if found[3] in (b"", b"\n"):
            if len(cells) > 1 or cells[0].strip():
                rows.append(cells)
            cells = []
    return rows


def _sample(data: bytes) -> bytes:
    """The first lines, whole ones."""
    if len(data) <= _SAMPLE_BYTES:
        return data
    end = data.rfind(b"\n", 0, _SAMPLE_BYTES)
    return data[: end if end > 0 else _SAMPLE_BYTES]


def _dialects(sample: bytes, delimiter: str, skipped: int) -> list[Dialect]:
    text = sample.decode("utf-8", "replace")
    escape = '"' in text and re.search(_ESCAPED.format(delimiter=re.escape(delimiter)), text) is not None
    usual = Dialect(delimiter, escape=escape, skipped_lines=skipped)
    return [usual, Dialect(delimiter, "'", skipped_lines=skipped)] if _single_quoted(text, delimiter) else [usual]


def _single_quoted(text: str, delimiter: str) -> bool:
    """Whether most lines have a cell in single quotes and none one in double quotes."""
    end = re.escape(delimiter)
    cell = rf"(?:^|{end})\s*{{quote}}[^\n]*?{{quote}}\s*(?:{end}|$)"
    if re.search(cell.format(quote='"'), text, re.MULTILINE):
        return False
    lines = text.strip("\n").split("\n")
    return 2 * sum(1 for line in lines if re.search(cell.format(quote="'"), line)) >= len(lines)


def _score(sample: bytes, dialect: Dialect) -> float:
    rows = sample_rows(sample, dialect, limit=_SAMPLE_ROWS)
    widths = Counter(map(len, rows))
    pattern = sum(count * (width - 1) / width for width, count in widths.items()) / max(len(widths), 1)
    cells = [cell for row in rows for cell in row]
    clean = sum(_cleanness(cell, dialect) for cell in cells) / max(len(cells), 1)
    return pattern * max(clean, 0.001) * _PRIORS[dialect.delimiter]


def _cleanness(cell: str, dialect: Dialect) -> float:
    if _CLEAN.fullmatch(cell.strip()) and not (cell.startswith("'") and dialect.quote != "'"):
        return 1.0
    return 0.5 if _PROSE.fullmatch(cell) and dialect.delimiter not in cell else 0.1
