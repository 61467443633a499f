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
_SAME_SIZE: Final = 0.6
"""Points within which two sizes are one."""
_MOST_WORDS: Final = 25
_MOST_WORDS_BOLD: Final = 16
_MOST_WORDS_PLAIN: Final = 12
_MOST_LINES: Final = 3
_NUMBER: Final = re.compile(
    r"(?:(?:chapter|section|part|annex|appendix|article)\s+)?"
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){1,4}|[IVX]{1,5})(?P<stop>[.):]?)\s+(?=\S)",
    re.IGNORECASE,
)
_LEADERS: Final = re.compile(r"(?:\.\s?){4,}|_{4,}")
_LETTER: Final = re.compile(r"[^\W\d_]")
_DEEPEST: Final = 6


@dataclass(frozen=True, slots=True)
class Placed:
    """A paragraph, the page it stands on, and whether the next one there looks the same."""

    page: int
    paragraph: Paragraph
    text: str
    next_alike: bool = False


def body_size_of(paragraphs: Iterable[Paragraph]) -> float:
    """The size most letters are set in; 0 without a letter."""
    sizes: Counter[float] = Counter()
    for paragraph in paragraphs:
        for line in paragraph.lines:
            sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def heading_levels(placed: Sequence[Placed], outline: Sequence[Bookmark], *, body_size: float) -> dict[int, int]:
    """The level, from 1, of every paragraph that is a heading, by its index.

    A level is the outline's where it names the heading. Else headings of one look have one level: that of those among them the
    outline names, or their rank by size. Numbered ones of the same look are ranked by the depth of their numbers.
    """
    named = _named_by_outline(placed, outline)
    found = [i for i, item in enumerate(placed) if i in named or _looks_like_heading(item, body_size)]
    looks = {i: _look(placed[i]) for i in found}
    ranks = _ranks(looks.values())
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


def _looks_like_heading(item: Placed, body_size: float) -> bool:
    text, paragraph = item.text, item.paragraph
    words = len(text.split())
    if not _LETTER.search(text) or len(paragraph.lines) > _MOST_LINES or words > _MOST_WORDS or paragraph.lines[0].hidden:
        return False
    if text[-1] in ",;" or _LEADERS.search(text) or len(_LETTER.findall(text)) * 2 < len(text.replace(" ", "")):
        return False
    larger = paragraph.size >= body_size * _LARGER
    sentence = ends_sentence(text) and text[-1] not in "?:"
    if larger and not (sentence and words > _MOST_WORDS_PLAIN):
        return True
    if sentence or paragraph.size < body_size * 0.85:
        return False
    number = _NUMBER.match(text)
    if item.next_alike:
        return False
    if number and "." in number["number"] and words <= _MOST_WORDS_PLAIN and len(paragraph.lines) == 1:
        return text[number.end()].isupper()
    if paragraph.bold and words <= _MOST_WORDS_BOLD and len(paragraph.lines) <= 2:
        return True
    return _in_capitals(text) and words <= _MOST_WORDS_PLAIN


def _named_by_outline(placed: Sequence[Placed], outline: Sequence[Bookmark]) -> dict[int, int]:
    """Paragraphs that an entry of the outline names, on its page or the next, with the entry's level."""
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


def _ranks(looks: Iterable[Look]) -> dict[Look, int]:
    """The rank of every look: larger first, then bold, then capitals; sizes that nearly agree rank as one."""
    ranks: dict[Look, int] = {}
    rank, before = 0, None
    for look in sorted(set(looks), key=lambda look: (-look[0], not look[1], not look[2])):
        if before is None or before[0] - look[0] > _SAME_SIZE or before[1:] != look[1:]:
            rank += 1
            before = look
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
    if not match or not (match["stop"] or "." in match["number"] or match["number"].isdigit()):
        return 0
    return match["number"].count(".") + 1


def _in_capitals(text: str) -> bool:
    letters = _LETTER.findall(text)
    return len(letters) >= 4 and all(char.isupper() for char in letters)
