"""Word forms that belong together and words that do not."""

from __future__ import annotations

import pytest

from knowledge_svc.domain.stemming import stem

FAMILIES = [
    ("valve", "valves"),
    ("party", "parties"),
    ("study", "studies", "studied", "studying"),
    ("run", "running", "runs"),
    ("stop", "stopped", "stopping", "stops"),
    ("bake", "baked", "baking", "bakes"),
    ("create", "created", "creating", "creates"),
    ("enable", "enabled", "enabling"),
    ("rate", "rated", "rating"),
    ("use", "used", "using", "uses"),
    ("box", "boxes"),
    ("process", "processes", "processed", "processing"),
    ("plan", "planned", "planning", "plans"),
    ("leak", "leaks", "leaking", "leaked"),
    ("cache", "caches", "cached", "caching"),
    ("call", "calls", "called", "calling"),
    ("tie", "ties", "tied"),
]
APART = [("plan", "plane"), ("rat", "rate"), ("us", "use"), ("bus", "bu"), ("thing", "th"), ("need", "ne"), ("status", "statu")]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family[0])
def test_the_forms_of_a_word_share_a_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize(("word", "other"), APART)
def test_different_words_keep_different_stems(word: str, other: str) -> None:
    assert stem(word) != stem(other)


@pytest.mark.parametrize("word", ["b07", "ms31", "größes", "id", "ids", "東京", "a-bs", ""])
def test_what_is_no_english_word_stays_as_it_is(word: str) -> None:
    assert stem(word) == word
