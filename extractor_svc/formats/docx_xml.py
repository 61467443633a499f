"""How WordprocessingML writes switches, numbers and alternatives, and how a path names an element of a part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from artifact.model import Visibility
from extractor_svc.ooxml import Element, attribute, child_of, local_name

_FALSE: Final = frozenset({"0", "false", "off"})
_STEP: Final = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*)(?:\[([1-9][0-9]{0,8})\])?")
_BREAK: Final = re.compile("[\x85\u2028\u2029]")
_UNSHOWN: Final = re.compile("[\x7f-\x84\x86-\x9f\n\r]")
_SOFT_HYPHEN: Final = "\u00ad"
_BY_WEIGHT: Final = (
    Visibility.DELETED,
    Visibility.HIDDEN_ROW,
    Visibility.HIDDEN_TEXT,
    Visibility.INSERTED,
    Visibility.VISIBLE,
)

LIVE: Final = frozenset({Visibility.VISIBLE, Visibility.INSERTED})
"""What a reader sees once every change is made."""

Changes: TypeAlias = Mapping[str, Visibility]
"""How what stands in an element that marks a tracked change is shown, by the element's name."""

ACCEPTED: Final[Changes] = {
    "ins": Visibility.INSERTED,
    "moveTo": Visibility.INSERTED,
    "del": Visibility.DELETED,
    "moveFrom": Visibility.DELETED,
}
"""The document as its changes leave it."""

ORIGINAL: Final[Changes] = {
    "ins": Visibility.DELETED,
    "moveTo": Visibility.DELETED,
    "del": Visibility.INSERTED,
    "moveFrom": Visibility.INSERTED,
}
"""The document before its changes: what making each of them the other way round leaves."""


def live_children(element: Element, path: str) -> Iterator[tuple[Element, str, str]]:
    """The elements in one with their names and paths; of alternatives the first choice, or the fallback where there is none."""
    counts: dict[str, int] = {}
    for child in element:
        name = local_name(child)
        if not name:
            continue
        counts[name] = counts.get(name, 0) + 1
        place = below(path, f"{name}[{counts[name]}]")
        if name == "AlternateContent":
            yield from _chosen(child, place)
        elif name != "extLst":
            yield child, name, place


def below(path: str, step: str) -> str:
    """The path of an element in the one at `path`; a part's root has the empty path."""
    return f"{path}/{step}" if path else step


def find(root: Element, path: str) -> Element | None:
    """The element at a path below a part's root; None where there is none."""
    found = root
    for step in path.split("/"):
        match = _STEP.fullmatch(step)
        if match is None:
            return None
        same = (child for child in found if local_name(child) == match[1])
        found = next((child for number, child in enumerate(same, 1) if number == int(match[2] or 1)), None)
        if found is None:
            return None
    return found


def value_of(parent: Element | None, name: str) -> str | None:
    """What a property's `val` says; None where the property is absent, empty where it has no value."""
    found = None if parent is None else child_of(parent, name)
    return None if found is None else attribute(found, "val") or ""


def switch_of(parent: Element | None, name: str) -> bool | None:
    """Whether a switch is on; None where it is absent."""
    value = value_of(parent, name)
    return None if value is None else value.strip().lower() not in _FALSE


def number_of(parent: Element | None, name: str) -> int | None:
    """What a property's `val` counts; None where it is absent or no number that a document could have."""
    return whole_number(value_of(parent, name))


def whole_number(text: str | None) -> int | None:
    """A whole number from 0; None where the text is none, or none that a document could have."""
    stripped = (text or "").strip()
    return int(stripped) if stripped.isascii() and stripped.isdecimal() and len(stripped) <= 9 else None


def outweighing(outer: Visibility, inner: Visibility) -> Visibility:
    """How something is shown that stands in something else: what is deleted or hidden stays so, whatever is in it."""
    return next(visibility for visibility in _BY_WEIGHT if visibility in (outer, inner))


def plain(text: str) -> str:
    """Text as it is shown: a line end in the file is a space, control characters are spaces, soft hyphens are nothing."""
    return _BREAK.sub("\n", _UNSHOWN.sub(" ", text)).replace(_SOFT_HYPHEN, "")


def _chosen(alternatives: Element, path: str) -> Iterator[tuple[Element, str, str]]:
    for wanted in ("Choice", "Fallback"):
        chosen = child_of(alternatives, wanted)
        if chosen is not None:
            yield from live_children(chosen, below(path, f"{wanted}[1]"))
            return


def properties_of(element: Element, name: str, changes: Changes) -> Element | None:
    """The properties of a paragraph or run: those that stand now, or before a change of them was tracked."""
    stated = child_of(element, name)
    if changes is ACCEPTED or stated is None:
        return stated
    change = child_of(stated, f"{name}Change")
    return stated if change is None else child_of(change, name)


def is_gone(properties: Element | None, changes: Changes) -> bool:
    """Whether properties mark what they are of, such as the end of a paragraph or a row, as taken away."""
    return properties is not None and any(
        changes.get(local_name(child)) is Visibility.DELETED for child in properties if local_name(child) in changes
    )
