"""Where the links of a slide lead: addresses outside, other slides, and what a show does at a click."""

from __future__ import annotations

from collections.abc import Mapping

from extractor_svc.formats.pptx_deck import Deck, relationship_id
from extractor_svc.ooxml import Element


def link_targets(deck: Deck, part: str) -> dict[str, str]:
    """What a part's relationships lead to as links, by id: an address, `#slide=3`, or the name of another part."""
    numbers = {slide.part: slide.number for slide in deck.slides if slide.part}
    found = {}
    for rel in deck.package.relationships(part):
        inside = f"#slide={numbers[rel.part]}" if rel.part in numbers else rel.part
        found[rel.id] = rel.address or inside
    return found


def target_of(click: Element, targets: Mapping[str, str]) -> str:
    """Where a click leads: by its relationship, else as its action says, such as `ppaction://hlinkshowjump?jump=nextslide`."""
    return targets.get(relationship_id(click), "") or click.get("action", "")
