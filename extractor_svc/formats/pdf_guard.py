"""Refuses a content stream that inflates out of proportion, before anything runs it."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Final

from extractor_svc.errors import DecompressionLimit
from extractor_svc.limits import MIB, Limits

_PIECE_BYTES: Final = 256 * 1024


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
