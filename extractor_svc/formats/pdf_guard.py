"""Tells pages that would take the parser's memory or time, before anything runs them."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from extractor_svc.errors import DecompressionLimit
from extractor_svc.limits import MIB, Limits

_PIECE_BYTES: Final = 256 * 1024
FEWEST_FORMS: Final = 5
"""Forms of a page from which on they may draw one another often enough to matter."""
_MOST_DRAWS: Final = 100_000
"""How often a page may draw forms, those inside forms included; busy maps draw some thousands."""
_DEEPEST_FORM: Final = 100
_DRAWS: Final = re.compile(rb"/([^\s/<>\[\](){}%]+)\s+Do\b")

FormEntry: TypeAlias = tuple[int, str, int, object]
"""A form as the parser lists it: its object, its name, the form whose resources have the name (0 the page), and its box."""


def refuse_a_bomb(packed: bytes, *, flate_layers: int, limits: Limits) -> None:
    """Inflates a stream piece by piece, keeping nothing, and counts.

    The bounds are those of an archive's entry: past 1 MiB at most `zip_max_ratio` times the packed bytes.

    Raises:
        DecompressionLimit: the stream inflates past the bound.
    """
    bound = max(MIB, limits.zip_max_ratio * len(packed))
    pieces: Iterable[bytes] = (packed,)
    for _ in range(flate_layers):
        pieces = _inflated(pieces)
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > bound:
            raise DecompressionLimit(
                f"a content stream of {len(packed)} bytes inflates past {bound} bytes; simplify the page",
                metadata={"packed_bytes": str(len(packed)), "bound_bytes": str(bound)},
            )


def _inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The inflated pieces of a Flate stream; a damaged rest is left to the parser, which reports it."""
    inflater = zlib.decompressobj()
    for piece in pieces:
        rest = piece
        while rest:
            try:
                yield inflater.decompress(rest, _PIECE_BYTES)
            except zlib.error:
                return
            rest = inflater.unconsumed_tail


def draws_without_end(contents: bytes, forms: Sequence[FormEntry], stream_of: Callable[[int], bytes | None]) -> bool:
    """Whether a page draws forms so often, forms inside forms included, that it would take too long; circles count as once."""
    named: dict[int, dict[str, int]] = {}
    for xref, name, invoker, _ in forms:
        named.setdefault(invoker, {})[name] = xref
    total: dict[int, int] = {}

    def draws(xref: int, content: bytes, depth: int) -> int:
        if depth > _DEEPEST_FORM:
            return _MOST_DRAWS + 1
        if xref not in total:
            total[xref] = 0
            times = _times_drawn(content, named.get(xref, {}))
            total[xref] = sum(count * (1 + draws(form, stream_of(form) or b"", depth + 1)) for form, count in times.items())
        return total[xref]

    return draws(0, contents, 0) > _MOST_DRAWS


def _times_drawn(content: bytes, named: Mapping[str, int]) -> Counter[int]:
    names = Counter(match.decode("latin-1") for match in _DRAWS.findall(content))
    times: Counter[int] = Counter()
    for name, count in names.items():
        if name in named:
            times[named[name]] += count
    return times
