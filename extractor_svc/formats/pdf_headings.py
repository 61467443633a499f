"""Tells headings from text by the evidence a file gives: its outline, numbering, and looks; and ranks them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from extractor_svc.formats.pdf_ink import Bookmark
from extractor_svc.formats.pdf_paragraphs import Paragraph, ends_sentence

Look: TypeAlias = tuple[float, bool, bool]
"""Size, bold, and in capitals: what headings of one level have in common."""

_LARGER: Final = 1.12
_AS_LARGE: Final = 0.97
_SMALLEST: Final = 0.85
"""Sizes of headings, as shares of the text's: larger alone is enough, as large with another font, smaller never."""
_SAME_SIZE: Final = 0.6
"""Points within which two sizes are one."""
_MOST_WORDS: Final = 25
_MOST_WORDS_BOLD: Final = 16
_MOST_WORDS_PLAIN: Final = 12
_MOST_LINES: Final = 3
_NUMBER: Final = re.compile(
    r"(?:(?:chapter|section|part|annex|appendix|article)\s+)?"
    r"(?P<open>\(?)(?P<number>\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){1,4}|[IVX]{1,5})(?P<stop>[.):]?)\s+(?=\S)",
    re.IGNORECASE,
)
_LEADERS: Final = re.compile(r"(?:\.\s?){4,}|_{4,}")
_LETTER: Final = re.compile(r"[^\W\d_]")
_UNCASED: Final = re.compile("[\u0590-\u0aff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NOT_WORDS: Final = re.compile(r"[_=<>{}\[\]|\\]|\w\(")
"""Signs of code, which is often set in capitals."""
_CODE: Final = re.compile(r"<[^<>]*>|[{}]|\w\(\w*\)|;$")
_OPENING: Final = "「『《〈“‘\"'(["
_DEEPEST: Final = 6


@dataclass(slots=True)
class Placed:
    """A paragraph, the page it stands on, and whether the next one there looks the same."""

    page: int
    paragraph: Paragraph
    text: str
    next_alike: bool = False


@dataclass(frozen=True, slots=True)
class BodyLook:
    """The size and the font that most letters of a document are set in, and whether these are monospaced."""

    size: float = 0.0
    font: str = ""
    mono: bool = False


def body_look_of(paragraphs: Iterable[Paragraph]) -> BodyLook:
    """What most text of a document looks like."""
    sizes: Counter[float] = Counter()
    fonts: Counter[tuple[str, bool]] = Counter()
    for paragraph in paragraphs:
        for line in paragraph.lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
            fonts[line.font, line.mono] += len(line.text)
    if not sizes:
        return BodyLook()
    font, mono = fonts.most_common(1)[0][0]
    return BodyLook(sizes.most_common(1)[0][0], font, mono)


def heading_levels(placed: Sequence[Placed], outline: Sequence[Bookmark], *, body: BodyLook) -> dict[int, int]:
    """The level, from 1, of every paragraph that is a heading, by its index.

    A level is that of its tag in the file's structure, or the outline's where it names the heading. Else headings of one look
    have one level: that of those among them which are named so, or their rank by size. Numbered ones of the same look are
    ranked by the depth of their numbers.
    """
    tagged = {i: item.paragraph.lines[0].tag for i, item in enumerate(placed) if all(line.tag for line in item.paragraph.lines)}
    named = _named_by_outline(placed, outline) | tagged
    found = [i for i, item in enumerate(placed) if i in named or _looks_like_heading(item, body)]
    looks = {i: _look(placed[i]) for i in found}
    ranks = _ranks([looks[i] for i in found])
    by_look: dict[Look, Counter[int]] = defaultdict(Counter)
    for i, level in named.items():
        by_look[looks[i]][level] += 1
    levels: dict[int, int] = {}
    shallowest = _shallowest_numbered(found, placed, looks, ranks)
    for i in found:
        depth = _depth_of_number(placed[i].text)
        if i in named:
            levels[i] = named[i]
        elif depth and shallowest is not None:
            levels[i] = shallowest + depth - 1
        elif by_look[looks[i]]:
            levels[i] = by_look[looks[i]].most_common(1)[0][0]
        else:
            levels[i] = ranks[looks[i]]
    return {i: min(max(level, 1), _DEEPEST) for i, level in levels.items()}


def _looks_like_heading(item: Placed, body: BodyLook) -> bool:
    """Whether a paragraph is short, no sentence, and set larger than the text or, standing alone, set apart from it."""
    text, paragraph = item.text, item.paragraph
    words, size = len(text.split()), paragraph.size
    if not _may_be_heading(paragraph, text):
        return False
    sentence = ends_sentence(text) and text[-1] not in "?:"
    if size >= body.size * _LARGER and not (sentence and words > _MOST_WORDS_PLAIN):
        return not _CODE.search(text)
    if sentence or item.next_alike or _NOT_WORDS.search(text) or size < body.size * _SMALLEST or len(paragraph.lines) > 2:
        return False
    if paragraph.bold and words <= _MOST_WORDS_BOLD:
        return True
    if words > _MOST_WORDS_PLAIN:
        return False
    number = _NUMBER.match(text)
    title = text[number.end() if number else 0 :].lstrip(_OPENING)
    if not title[:1].isupper() and not _UNCASED.match(title):
        return False
    other = bool(paragraph.font) and paragraph.font != body.font and text[-1] != ":"
    deep = number is not None and "." in number["number"]
    return deep or _in_capitals(text) or (other and size >= body.size * _AS_LARGE)


def _may_be_heading(paragraph: Paragraph, text: str) -> bool:
    if len(paragraph.lines) > _MOST_LINES or len(text.split()) > _MOST_WORDS or paragraph.lines[0].hidden:
        return False
    letters = len(_LETTER.findall(text))
    return letters > 0 and text[-1] not in ",;" and not _LEADERS.search(text) and letters * 2 >= len(text.replace(" ", ""))


def _named_by_outline(placed: Sequence[Placed], outline: Sequence[Bookmark]) -> dict[int, int]:
    """Paragraphs that an entry of the outline names, on its page or the next, with the entry's level."""
    if not outline:
        return {}
    by_title: Mapping[str, list[Bookmark]] = defaultdict(list)
    for bookmark in outline:
        by_title[_folded(bookmark.title)].append(bookmark)
    named: dict[int, int] = {}
    used: set[int] = set()
    for i, item in enumerate(placed):
        if len(item.paragraph.lines) > _MOST_LINES + 1:
            continue
        for title in (_folded(item.text), _folded(_NUMBER.sub("", item.text, count=1))):
            match = next((b for b in by_title.get(title, ()) if 0 <= item.page - b.page <= 1 and id(b) not in used), None)
            if match and title:
                named[i] = match.level
                used.add(id(match))
                break
    return named


def _folded(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _look(item: Placed) -> Look:
    return round(item.paragraph.size * 2) / 2, item.paragraph.bold, _in_capitals(item.text)


def _ranks(looks: Sequence[Look]) -> dict[Look, int]:
    """The rank of every look: larger first, then bold, then capitals.

    Looks that come back make the ranks; one that comes once, as those of a title page do, ranks with the next larger that
    comes back, or above all of them.
    """
    counted = Counter(looks)
    ordered = sorted(counted, key=lambda look: (-look[0], not look[1], not look[2]))
    ranks: dict[Look, int] = {}
    rank, before = 0, None
    for look in ordered:
        single = counted[look] == 1 and max(counted.values()) > 1
        nearly = before is not None and before[0] - look[0] <= _SAME_SIZE and before[1:] == look[1:]
        if not rank or not (nearly or single):
            rank = rank + 1 if before is not None or not single else 1
            before = look if not single else before
        ranks[look] = rank
    return ranks


def _shallowest_numbered(
    found: Sequence[int], placed: Sequence[Placed], looks: Mapping[int, Look], ranks: Mapping[Look, int]
) -> int | None:
    """The level of headings numbered with one number: the best rank among numbered ones, less their depth."""
    levels = [ranks[looks[i]] - depth + 1 for i in found if (depth := _depth_of_number(placed[i].text))]
    return max(min(levels), 1) if levels else None


def _depth_of_number(text: str) -> int:
    match = _NUMBER.match(text)
    if not match or match["open"] or not (match["stop"] or "." in match["number"] or match["number"].isdigit()):
        return 0
    return match["number"].count(".") + 1


def _in_capitals(text: str) -> bool:
    letters = _LETTER.findall(text)
    return len(letters) >= 4 and all(char.isupper() for char in letters)
