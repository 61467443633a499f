"""Places in a source file, in the source's own terms."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, fields, replace
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True)
class LineSpan:
    """Lines of a text file, 1-based, both ends included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class CharSpan:
    """Half-open range of Unicode code points in the decoded text, from 0."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ByteSpan:
    """Half-open range of bytes in the file, from 0."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PageBox:
    """A rectangle on a displayed PDF page: points from its upper left corner, after the page's rotation."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class PdfPlace:
    """Pages of a PDF, 1-based, both ends included; `label` is the first page's printed label, empty where it has none."""

    first_page: int
    last_page: int
    label: str = ""
    boxes: tuple[PageBox, ...] = ()


@dataclass(frozen=True, slots=True)
class SlidePlace:
    """Slides in presentation order, 1-based; `shape` is the path of shape ids joined by `/`; `notes` the speaker notes."""

    first_slide: int
    last_slide: int
    shape: str = ""
    notes: bool = False


@dataclass(frozen=True, slots=True)
class SheetPlace:
    """A range of one worksheet; rows 1-based and included, columns 1-based and included (A is 1). All zeros: the tab itself."""

    sheet: str
    first_row: int
    last_row: int
    first_column: int
    last_column: int

    @property
    def tab(self) -> bool:
        """Whether this is the sheet's tab, where its name stands, and no cell."""
        return self.last_row == 0

    @property
    def a1(self) -> str:
        """The range in A1 notation; one cell is written alone, the tab itself as nothing."""
        if self.tab:
            return ""
        first = f"{column_letters(self.first_column)}{self.first_row}"
        last = f"{column_letters(self.last_column)}{self.last_row}"
        return first if first == last else f"{first}:{last}"


@dataclass(frozen=True, slots=True)
class DocxPlace:
    """A part of a DOCX package and the paths of its first and last element, such as `body/p[3]` or `body/tbl[1]/tr[2]/tc[1]`."""

    part: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class TomlPlace:
    """A TOML key path, written dotted with quotes where needed, and the lines it stands on."""

    key_path: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class RowSpan:
    """Records of a row file (CSV, Parquet), 1-based and counted without header rows, both ends included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ImagePlace:
    """A rectangle in pixels from the upper left corner of one frame, 1-based."""

    frame: int
    x0: int
    y0: int
    x1: int
    y1: int


@dataclass(frozen=True, slots=True)
class HtmlPlace:
    """Elements of an HTML page by path, such as `html/body/div[2]/p[1]`."""

    first: str
    last: str


_KEY_PART: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^."]+')

Locator: TypeAlias = (
    LineSpan | CharSpan | ByteSpan | PdfPlace | SlidePlace | SheetPlace | DocxPlace | TomlPlace | RowSpan | ImagePlace | HtmlPlace
)

KINDS: Final[dict[str, type[Locator]]] = {
    "lines": LineSpan,
    "chars": CharSpan,
    "bytes": ByteSpan,
    "pdf": PdfPlace,
    "slide": SlidePlace,
    "sheet": SheetPlace,
    "docx": DocxPlace,
    "toml": TomlPlace,
    "rows": RowSpan,
    "image": ImagePlace,
    "html": HtmlPlace,
}
_KIND_OF: Final[dict[type[Locator], str]] = {kind: name for name, kind in KINDS.items()}


def column_letters(number: int) -> str:
    """The letters of a 1-based column: 1 is A, 27 is AA."""
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def kind_of(locator: Locator) -> str:
    """The locator's kind as it is named in the contract's oneof."""
    return _KIND_OF[type(locator)]


def to_json(locator: Locator) -> str:
    """One line of canonical JSON that `from_json` reads back to an equal locator."""
    return json.dumps({kind_of(locator): asdict(locator)}, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> Locator:
    """Reads what `to_json` wrote.

    Raises:
        ValueError: the text is not a locator.
    """
    try:
        ((name, values),) = json.loads(text).items()
        kind = KINDS[name]
        if kind is PdfPlace:
            values = {**values, "boxes": tuple(PageBox(**box) for box in values["boxes"])}
        if set(values) != {field.name for field in fields(kind)}:
            raise ValueError(f"fields of {name} do not match")
        return kind(**values)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not a locator: {text[:80]!r}") from error


def merge(first: Locator, second: Locator) -> Locator | None:
    """The smallest place of the same kind that covers both, or None where no single place can."""
    match first, second:
        case LineSpan(), LineSpan():
            return LineSpan(min(first.first, second.first), max(first.last, second.last))
        case RowSpan(), RowSpan():
            return RowSpan(min(first.first, second.first), max(first.last, second.last))
        case CharSpan(), CharSpan():
            return CharSpan(min(first.start, second.start), max(first.end, second.end))
        case ByteSpan(), ByteSpan():
            return ByteSpan(min(first.start, second.start), max(first.end, second.end))
        case PdfPlace(), PdfPlace():
            earlier = first if first.first_page <= second.first_page else second
            boxes = first.boxes + tuple(box for box in second.boxes if box not in first.boxes)
            return PdfPlace(earlier.first_page, max(first.last_page, second.last_page), earlier.label, boxes)
        case SlidePlace(), SlidePlace() if first.notes == second.notes:
            shape = first.shape if first.shape == second.shape else ""
            slides = min(first.first_slide, second.first_slide), max(first.last_slide, second.last_slide)
            return SlidePlace(*slides, shape=shape, notes=first.notes)
        case SheetPlace(), SheetPlace() if first.sheet == second.sheet and (first.tab or second.tab):
            return second if first.tab else first
        case SheetPlace(), SheetPlace() if first.sheet == second.sheet:
            return SheetPlace(
                first.sheet,
                min(first.first_row, second.first_row),
                max(first.last_row, second.last_row),
                min(first.first_column, second.first_column),
                max(first.last_column, second.last_column),
            )
        case DocxPlace(), DocxPlace() if first.part == second.part:
            return replace(first, last=second.last)
        case TomlPlace(), TomlPlace():
            path = _common_path(first.key_path, second.key_path)
            return TomlPlace(path, min(first.first_line, second.first_line), max(first.last_line, second.last_line))
        case ImagePlace(), ImagePlace() if first.frame == second.frame:
            return ImagePlace(
                first.frame, min(first.x0, second.x0), min(first.y0, second.y0), max(first.x1, second.x1), max(first.y1, second.y1)
            )
        case HtmlPlace(), HtmlPlace():
            return replace(first, last=second.last)
    return None


def describe(locator: Locator) -> str:
    """A short phrase for a person, such as `page 3`, `sheet Orders, rows 2-9 (A2:D9)` or `lines 4-12`."""
    match locator:
        case LineSpan(first, last):
            return _range("line", first, last)
        case RowSpan(first, last):
            return _range("row", first, last)
        case CharSpan(start, end):
            return f"characters {start}-{end}"
        case ByteSpan(start, end):
            return f"bytes {start}-{end}"
        case PdfPlace(first, last, label):
            printed = f" (printed {label})" if label and label != str(first) else ""
            return _range("page", first, last) + printed
        case SlidePlace(first, last, _, notes):
            return _range("slide", first, last) + (", notes" if notes else "")
        case SheetPlace(sheet) if locator.tab:
            return f"sheet {sheet}"
        case SheetPlace(sheet, first, last):
            return f"sheet {sheet}, {_range('row', first, last)} ({locator.a1})"
        case DocxPlace(part, first_path, last_path):
            return f"{part} {first_path}" if first_path == last_path else f"{part} {first_path} to {last_path}"
        case TomlPlace(key_path, first, last):
            lines = _range("line", first, last)
            return f"{key_path}, {lines}" if key_path else lines
        case ImagePlace(frame, x0, y0, x1, y1):
            return f"image {frame}, {x0},{y0} to {x1},{y1}"
        case HtmlPlace(first_path, last_path):
            return first_path if first_path == last_path else f"{first_path} to {last_path}"


def _range(noun: str, first: int, last: int) -> str:
    return f"{noun} {first}" if first == last else f"{noun}s {first}-{last}"


def _common_path(first: str, second: str) -> str:
    parts = []
    for left, right in zip(_KEY_PART.findall(first), _KEY_PART.findall(second), strict=False):
        if left != right:
            break
        parts.append(left)
    return ".".join(parts)
