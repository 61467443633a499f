"""All texts of a document in the order they are told: headers, the body with its notes where they are referred to, footers."""

from __future__ import annotations

from collections.abc import Iterator

from artifact.model import BlockType, Visibility
from extractor_svc.formats.docx_document import Document
from extractor_svc.formats.docx_story import Leaf, Ledger, StoryReader
from extractor_svc.formats.docx_xml import LIVE
from extractor_svc.limits import Limits


class Walk:
    """One walk through a document; its three parts are taken in their order, each once."""

    def __init__(self, document: Document, limits: Limits) -> None:
        self._document = document
        self._reader = StoryReader(document, limits)
        self._told: set[tuple[BlockType, str]] = set()
        self._unshown: dict[tuple[BlockType, str], Visibility] = {}

    @property
    def ledger(self) -> Ledger:
        """What the walk met so far that did not become text."""
        return self._reader.ledger

    def all(self) -> Iterator[Leaf]:
        """Every text."""
        yield from self.before()
        yield from self.body()
        yield from self.after()

    def before(self) -> Iterator[Leaf]:
        """Headers; those that no page shows are hidden text."""
        return self._margins(BlockType.HEADER)

    def body(self) -> Iterator[Leaf]:
        """The body; a note or comment follows the paragraph or table that refers to it first."""
        for leaves in self._reader.body():
            yield from leaves
            yield from self._notes()

    def after(self) -> Iterator[Leaf]:
        """Notes that nothing shown refers to, flagged, and footers."""
        for key, note in self._document.notes.items():
            if key not in self._told:
                self._told.add(key)
                yield from self._reader.note(note, self._unshown.get(key, Visibility.HIDDEN_TEXT))
                yield from self._notes()
        yield from self._margins(BlockType.FOOTER)

    def _margins(self, kind: BlockType) -> Iterator[Leaf]:
        for margin in self._document.margins:
            if margin.kind is kind:
                visibility = Visibility.VISIBLE if margin.is_shown else Visibility.HIDDEN_TEXT
                yield from self._reader.story(margin.root, kind, part=margin.part, path="", visibility=visibility)

    def _notes(self) -> Iterator[Leaf]:
        """The notes that were referred to, and those that these refer to in turn, each once."""
        while waiting := self._reader.told_of():
            for kind, number, visibility in waiting:
                key = kind, number
                if key in self._told or key not in self._document.notes:
                    continue
                if visibility not in LIVE:
                    self._unshown[key] = visibility
                    continue
                self._told.add(key)
                yield from self._reader.note(self._document.notes[key], visibility)
