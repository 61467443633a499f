"""Writes a document's leaves as numbered blocks and datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from artifact.model import Block, BlockType, Dataset, Visibility
from extractor_svc.blocks import BlockList, count_words
from extractor_svc.formats.pdf_joined import Table, dataset_of
from extractor_svc.formats.pdf_leaves import Leaf
from extractor_svc.limits import Limits

_SECTIONLESS: Final = frozenset({BlockType.HEADER, BlockType.FOOTER})


@dataclass(frozen=True, slots=True)
class Written:
    """The blocks and datasets of a document, and the words of table headers that were repeated on later pages."""

    blocks: tuple[Block, ...]
    datasets: tuple[Dataset, ...]
    repeated_words: int


def write(leaves: Sequence[Leaf], limits: Limits) -> Written:
    """Numbers the leaves as blocks, puts them under their headings, and types the tables.

    Running lines belong to no section. Leaves without a word or sign are left out, and a table
    that the page does not show is no dataset.

    Raises:
        OutputLimit, TooManyRows, TooManyColumns: as their names say.
    """
    out = BlockList(limits)
    datasets: list[Dataset] = []
    tables = repeated = 0
    for i, leaf in enumerate(leaves):
        if leaf.table is not None:
            tables += 1
            repeated += sum(part.repeated_words for part in leaf.table.parts[1:])
            name = _name_of(leaves, i) or f"Table {tables}"
            seen = leaf.visibility is Visibility.VISIBLE
            dataset = dataset_of(leaf.table, dataset_id=f"table-{tables}", name=name, limits=limits) if seen else None
            datasets += [dataset] if dataset else []
            _add_table(out, leaf, leaf.table, dataset_id=dataset.id if dataset else "")
        elif (text := leaf.text) and not _is_unread(text):
            _add(out, leaf, text)
    blocks = tuple(replace(block, section_path=()) if block.type in _SECTIONLESS else block for block in out.done())
    return Written(blocks, tuple(datasets), repeated)


def _add(out: BlockList, leaf: Leaf, text: str) -> None:
    if leaf.kind is BlockType.HEADING:
        out.heading(text, leaf.place, level=leaf.level, visibility=leaf.visibility)
    else:
        out.add(leaf.kind, text, leaf.place, level=leaf.level, ocr=leaf.ocr, visibility=leaf.visibility)


def _add_table(out: BlockList, leaf: Leaf, table: Table, *, dataset_id: str) -> None:
    out.add(
        BlockType.TABLE,
        table.text,
        leaf.place,
        cells=table.cells(),
        dataset_id=dataset_id,
        ocr=leaf.ocr,
        visibility=leaf.visibility,
    )


def _is_unread(text: str) -> bool:
    """Whether a text is made of signs that the font does not name, and nothing else; such words are counted as unread."""
    return "\ufffd" in text and not count_words(text)


def _name_of(leaves: Sequence[Leaf], at: int) -> str:
    """The caption above or below a table, or the nearest heading above it."""
    neighbours = [leaves[i] for i in (at - 1, at + 1) if 0 <= i < len(leaves)]
    caption = next((leaf.text for leaf in neighbours if leaf.kind is BlockType.CAPTION), "")
    if caption:
        return caption
    return next((leaves[i].text for i in range(at - 1, -1, -1) if leaves[i].kind is BlockType.HEADING), "")
