"""Joins what a page break parts: paragraphs that go on, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from artifact.model import BlockType
from extractor_svc.formats.pdf_joined import CONTINUED, continued
from extractor_svc.formats.pdf_leaves import Leaf
from extractor_svc.formats.pdf_paragraphs import ends_sentence
from extractor_svc.formats.pdf_places import merged_place

_ASIDE: Final = frozenset({BlockType.HEADER, BlockType.FOOTER, BlockType.FOOTNOTE})
"""What may stand between the two parts of something that goes on."""
_SAME_SIZE: Final = 0.5
_MOST_NOTICES: Final = 2


def joined(pages: Iterable[Sequence[Leaf]]) -> list[Leaf]:
    """All leaves in order, with the parts of a table, or of a paragraph, at the place of its first part."""
    out: list[Leaf] = []
    for leaves in pages:
        starts = _starts(leaves)
        for i, leaf in enumerate(leaves):
            at = _goes_on(out, leaf, first=i in starts)
            if at is None:
                out.append(leaf)
            else:
                out[at] = _together(out[at], leaf)
    return out


def _starts(leaves: Sequence[Leaf]) -> set[int]:
    """The leaves of a page that nothing but running lines and notices such as `continued` stands above."""
    starts: set[int] = set()
    notices = 0
    for i, leaf in enumerate(leaves):
        if leaf.kind in _ASIDE:
            continue
        starts.add(i)
        notices += 1
        if leaf.table or notices > _MOST_NOTICES or not CONTINUED.search(leaf.text):
            break
    return starts


def _goes_on(before: Sequence[Leaf], leaf: Leaf, *, first: bool) -> int | None:
    """Where the leaf stands that this one goes on from; None where it begins something."""
    at = _last_of_body(before)
    if at is None:
        return None
    last = before[at]
    if leaf.table and first:
        at = next(_tables_at_the_end(before), None)
        return at if at is not None and _table_goes_on(before[at], leaf) else None
    if leaf.kind is BlockType.PARAGRAPH and last.kind in (BlockType.PARAGRAPH, BlockType.LIST_ITEM):
        return at if _sentence_goes_on(last, leaf) else None
    return None


def _last_of_body(leaves: Sequence[Leaf]) -> int | None:
    return next((i for i in range(len(leaves) - 1, -1, -1) if leaves[i].kind not in _ASIDE), None)


def _tables_at_the_end(leaves: Sequence[Leaf]) -> Iterator[int]:
    """The table that ends the leaves, if only running lines and notices stand after it."""
    notices = 0
    for i in range(len(leaves) - 1, -1, -1):
        if leaves[i].table:
            yield i
            return
        if leaves[i].kind in _ASIDE:
            continue
        notices += 1
        if notices > 2 * _MOST_NOTICES or not CONTINUED.search(leaves[i].text):
            return


def _table_goes_on(last: Leaf, leaf: Leaf) -> bool:
    return _joined_table(last, leaf) is not None


def _joined_table(last: Leaf, leaf: Leaf) -> Leaf | None:
    if last.table is None or leaf.table is None:
        return None
    part = leaf.table.parts[0]
    table = continued(last.table, part.page, part.label, grid=part.grid)
    return replace(last, table=table, place=table.place()) if table else None


def _sentence_goes_on(last: Leaf, leaf: Leaf) -> bool:
    """Whether the leaf, on another page or in another column, goes on inside a sentence that the last one leaves open."""
    text = leaf.lines[0].text
    end, start = last.place.boxes[-1], leaf.place.boxes[0]
    if end.page == start.page and start.y0 >= end.y0 and start.x0 <= end.x1:
        return False
    if abs(last.size - leaf.size) > _SAME_SIZE or (last.ocr, last.visibility) != (leaf.ocr, leaf.visibility):
        return False
    return text[:1].islower() and not ends_sentence(last.lines[-1].text)


def _together(last: Leaf, leaf: Leaf) -> Leaf:
    table = _joined_table(last, leaf)
    if table is not None:
        return table
    return replace(last, lines=(*last.lines, *leaf.lines), place=merged_place([last.place, leaf.place]))
