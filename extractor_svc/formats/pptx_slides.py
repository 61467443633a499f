"""All that belongs to one slide: what it shows, its speaker notes, and its comments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from artifact.model import BlockType
from extractor_svc.errors import Malformed
from extractor_svc.formats.pptx_deck import Deck, Slide, is_false
from extractor_svc.formats.pptx_shapes import Found, Leaf, ShapeWalk
from extractor_svc.formats.pptx_styles import StyleBook
from extractor_svc.formats.pptx_text import lines_below, live, plain
from extractor_svc.ooxml import Element, child_of, local_name


@dataclass(frozen=True, slots=True)
class SlideContent:
    """A slide as read: whether a show leaves it out, and what was found on it, in its notes and in its comments."""

    hidden: bool
    found: Found

    @property
    def leaves(self) -> list[Leaf]:
        """Every text in the order a reader meets them: the slide's, the notes', the comments'."""
        return self.found.leaves


def read_slide(deck: Deck, slide: Slide, styles: StyleBook) -> SlideContent:
    """Reads a slide; notes or comments that cannot be read are told as failed.

    Raises:
        Malformed: the slide's own part is not sound.
    """
    root = deck.package.parse(slide.part)
    found = ShapeWalk(deck, slide.part, styles.of(slide.part)).walk(root)
    _attach(found, deck, slide.part, kind="notesSlide", word="notes")
    _attach(found, deck, slide.part, kind="comments", word="comments")
    return SlideContent(is_false(root.get("show")), found)


def _attach(found: Found, deck: Deck, part: str, *, kind: str, word: str) -> None:
    for rel in deck.package.relationships(part):
        if rel.kind != kind or not rel.part:
            continue
        if rel.part not in deck.package:
            found.failed.append((word, "missing_part", ""))
            continue
        try:
            root = deck.package.parse(rel.part)
        except Malformed:
            found.failed.append((word, "malformed", ""))
            continue
        if word == "notes":
            _add_notes(found, ShapeWalk(deck, rel.part, StyleBook(deck).of(""), notes=True).walk(root))
        else:
            _add_comments(found, root, deck.authors)


def _add_notes(found: Found, notes: Found) -> None:
    """Takes the texts of a notes page; its picture is that of the slide, which was read already."""
    found.leaves.extend(notes.leaves)
    found.links.extend(notes.links)
    found.embedded.extend(notes.embedded)
    found.failed.extend((f"notes/{word}", reason, path) for word, reason, path in notes.failed)
    found.excluded.extend(notes.excluded)


def _add_comments(found: Found, root: Element, authors: dict[str, str]) -> None:
    earlier = sum(leaf.kind is BlockType.COMMENT for leaf in found.leaves)
    for number, (author, text) in enumerate(_comments(root), earlier + 1):
        name = authors.get(author, "").strip()
        found.add(Leaf(BlockType.COMMENT, f"comment/{number}", f"{name}: {text}" if name and text.strip() else text))


def _comments(root: Element) -> Iterator[tuple[str, str]]:
    """The author's id and the text of each comment and each reply, in the order they are kept."""
    for element in live(root):
        if local_name(element) in ("cm", "reply"):
            body = child_of(element, "txBody")
            text = child_of(element, "text")
            if body is not None:
                yield element.get("authorId", ""), lines_below(body)
            elif text is not None:
                yield element.get("authorId", ""), plain(text.text or "")
