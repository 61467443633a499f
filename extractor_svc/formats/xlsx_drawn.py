"""The words of drawn text: paragraphs with their runs and breaks, in document order."""

from __future__ import annotations

from collections.abc import Iterator

from extractor_svc.ooxml import Element, local_name


def live(element: Element) -> Iterator[Element]:
    """The elements below one in document order, without a fallback, which repeats what the preferred choice says."""
    for child in element:
        if local_name(child) not in ("", "Fallback"):
            yield child
            yield from live(child)


def paragraphs(element: Element) -> str:
    """The text of all paragraphs below an element, one a line."""
    return "\n".join(line for p in live(element) if local_name(p) == "p" and (line := line_of(p)).strip())


def line_of(paragraph: Element) -> str:
    """The text of one paragraph."""
    pieces = []
    for element in live(paragraph):
        if local_name(element) == "t":
            pieces.append(element.text or "")
        elif local_name(element) == "br":
            pieces.append("\n")
    return "".join(pieces)
