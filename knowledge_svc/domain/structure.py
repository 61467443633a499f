"""Cuts an artifact along its blocks: packed within their section, tables by rows, places and keys carried along."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from artifact.locators import Locator, SheetPlace, from_json, merge
from artifact.model import ROW_LOCATOR, Artifact, Block, BlockType, Dataset, Visibility
from knowledge_svc.domain.chunking import ChunkSettings, context_of, sha256_of, windows
from knowledge_svc.domain.model import Chunk, Section

MIXED: Final = "mixed"
MAX_HEADING: Final = 200
"""Characters of one heading within a context; a paragraph that is styled as a heading would drown the chunks below it."""
_SEPARATOR: Final = "\n\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """A block, or the part of one that fits a chunk. `header` is a table's first line, or its columns' names, where lost."""

    text: str
    type: str
    locator: Locator
    block_id: str
    keys: tuple[str, ...]
    header: str = ""


def shown(artifact: Artifact) -> tuple[Block, ...]:
    """The blocks that make up the document: all but what a tracked change deleted."""
    return tuple(block for block in artifact.blocks if block.visibility is not Visibility.DELETED)


def render(artifact: Artifact) -> str:
    """The artifact as text: headings marked as in Markdown, other blocks as they read, a blank line between."""
    return _SEPARATOR.join(_rendered(block) for block in shown(artifact) if block.text.strip())


def cut_artifact(
    artifact: Artifact, *, title: str, description: str, settings: ChunkSettings
) -> tuple[tuple[Chunk, ...], tuple[Section, ...]]:
    """Cuts an artifact into chunks that never cross a section and are at most the settings' size."""
    datasets = {dataset.id: dataset for dataset in artifact.datasets}
    chunks: list[Chunk] = []
    recorded: list[Section] = []
    for path, blocks in groupby(shown(artifact), key=lambda block: block.section_path):
        texts = [block for block in blocks if block.text.strip()]
        pieces = [piece for block in texts for piece in _pieces(block, datasets.get(block.dataset_id), settings)]
        first = len(chunks)
        context = context_of(title, description, [shortened(heading, MAX_HEADING) for heading in path])
        for packed in _packed(pieces, settings.size):
            chunks.append(_chunk(len(chunks), packed, path, context))
        if texts:
            characters = sum(len(block.text) for block in texts)
            recorded.append(Section(path, tuple(range(first, len(chunks))), characters))
    return tuple(chunks), tuple(recorded)


def _rendered(block: Block) -> str:
    if block.type is BlockType.HEADING:
        return f"{'#' * min(max(block.level, 1), 6)} {' '.join(block.text.split())}"
    if block.type is BlockType.LIST_ITEM:
        return f"{'  ' * max(block.level - 1, 0)}- {block.text}"
    if block.type is BlockType.CODE:
        fence = "`" * max(3, _longest_run(block.text, "`") + 1)
        return f"{fence}{block.language}\n{block.text}\n{fence}"
    return block.text


def _longest_run(text: str, character: str) -> int:
    return max((len(list(run)) for found, run in groupby(text) if found == character), default=0)


def shortened(text: str, most: int) -> str:
    """A text on one line, cut where it is longer than `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _pieces(block: Block, dataset: Dataset | None, settings: ChunkSettings) -> Iterator[Piece]:
    """A block that fits stays whole; a longer table splits by rows, any other block by windows."""
    keys = tuple(dict.fromkeys(block.defines + block.reads))
    names = _names_beside(dataset)[: settings.size] if block.type is BlockType.TABLE else ""
    whole = Piece(block.text, block.type.value, block.locator, block.id, keys, names)
    if len(block.text) <= settings.size:
        yield whole
    elif block.type is BlockType.TABLE:
        yield from _table_pieces(whole, _row_places(block, dataset), dataset, settings)
    else:
        yield from _windowed(whole, settings)


def _windowed(whole: Piece, settings: ChunkSettings) -> Iterator[Piece]:
    """Windows of a piece, each with the keys it names; the first has those that none does, as dotted paths that headers make up."""
    spans = list(windows(whole.text, 0, len(whole.text), settings=settings))
    texts = [whole.text[start:end] for start, end in spans]
    folded = [text.casefold() for text in texts]
    last_parts = {key: key.rpartition(".")[2].strip('"').casefold() for key in whole.keys}
    unnamed = {key for key, part in last_parts.items() if not any(part in text for text in folded)}
    for number, text in enumerate(texts):
        keys = tuple(key for key in whole.keys if last_parts[key] in folded[number] or (number == 0 and key in unnamed))
        yield replace(whole, text=text, keys=keys)


def _table_pieces(
    whole: Piece, places: Sequence[Locator | None], dataset: Dataset | None, settings: ChunkSettings
) -> Iterator[Piece]:
    """Groups of rows up to the size, with the header apart from their text (L-CHUNK-08); the first one holds it itself.

    Where the text has no header and a file names its columns elsewhere, as Parquet does, all carry the names.
    """
    lines = whole.text.split("\n")
    header_lines = dataset.header_rows if dataset else 1
    header = whole.header or "\n".join(lines[:header_lines])[: settings.size]
    first, length = 0, 0
    for number, line in enumerate(lines):
        if number > first and length + len(line) + 1 > settings.size:
            yield from _fitting(_rows(whole, lines, (first, number), places, header), settings)
            first, length = number, 0
        length += len(line) + 1
    yield from _fitting(_rows(whole, lines, (first, len(lines)), places, header), settings)


def _names_beside(dataset: Dataset | None) -> str:
    """The names of a dataset's columns where its table's text does not start with them."""
    return "" if dataset is None or dataset.header_rows else "\t".join(column.name for column in dataset.columns if column.stored)


def _fitting(rows: Piece, settings: ChunkSettings) -> Iterator[Piece]:
    """Rows that fit as they are; one row that does not, by windows."""
    if len(rows.text) <= settings.size:
        yield rows
    else:
        yield from _windowed(rows, settings)


def _rows(whole: Piece, lines: Sequence[str], span: tuple[int, int], places: Sequence[Locator | None], header: str) -> Piece:
    located = [place for place in places[span[0] : span[1]] if place is not None]
    place = _covering(located) if len(located) == span[1] - span[0] else None
    text = "\n".join(lines[span[0] : span[1]])
    kind = BlockType.TABLE_ROWS.value
    return replace(whole, text=text, type=kind, locator=place or whole.locator, header=header if span[0] or whole.header else "")


def _row_places(block: Block, dataset: Dataset | None) -> list[Locator | None]:
    """The place of each line of a table's text, None where it is not known by row."""
    lines = block.text.count("\n") + 1
    place = block.locator
    if isinstance(place, SheetPlace) and place.last_row - place.first_row + 1 == lines:
        return [replace(place, first_row=row, last_row=row) for row in range(place.first_row, place.last_row + 1)]
    if dataset is not None and dataset.rows.num_rows + dataset.header_rows == lines:
        rows = [from_json(text) for text in dataset.rows.column(ROW_LOCATOR).to_pylist()]
        return [rows[0] if rows else None] * dataset.header_rows + list[Locator | None](rows)
    return [None] * lines


def _covering(places: Iterable[Locator]) -> Locator | None:
    merged: Locator | None = None
    for place in places:
        merged = place if merged is None else merge(merged, place)
        if merged is None:
            return None
    return merged


def _packed(pieces: Sequence[Piece], size: int) -> Iterator[list[Piece]]:
    """Runs of pieces whose joined text fits; pieces whose places cannot be named together stay apart."""
    run: list[Piece] = []
    length = 0
    for piece in pieces:
        joined = length + len(_SEPARATOR) + len(piece.text)
        if run and (joined > size or piece.header or run[0].header or merge(run[-1].locator, piece.locator) is None):
            yield run
            run, length = [], 0
        length = length + len(_SEPARATOR) + len(piece.text) if run else len(piece.text)
        run.append(piece)
    if run:
        yield run


def _chunk(index: int, pieces: Sequence[Piece], path: tuple[str, ...], context: str) -> Chunk:
    content = _SEPARATOR.join(piece.text for piece in pieces)
    header = pieces[0].header
    return Chunk(
        index=index,
        content=content,
        context=f"{context}\n{header}".strip() if header else context,
        section_path=path,
        locator=_covering(piece.locator for piece in pieces) or pieces[0].locator,
        content_hash=sha256_of(content),
        block_type=_type_of(pieces),
        block_ids=tuple(dict.fromkeys(piece.block_id for piece in pieces)),
        keys=tuple(dict.fromkeys(key for piece in pieces for key in piece.keys)),
    )


def _type_of(pieces: Sequence[Piece]) -> str:
    """The one type of the pieces, `mixed` where there are several; a heading over a body does not make it mixed."""
    types = {piece.type for piece in pieces} - {BlockType.HEADING.value}
    if not types:
        return BlockType.HEADING.value
    return types.pop() if len(types) == 1 else MIXED
