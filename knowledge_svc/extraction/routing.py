"""Sends each file to an extractor that its format is routed to, and to the next one where that is down."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import structlog

from artifact.model import Artifact
from knowledge_svc.domain.errors import BlobGone, ExtractionRefused, ExtractorDown
from knowledge_svc.domain.file_names import FORMATS, format_named
from knowledge_svc.domain.model import Capabilities, ExtractOptions, FormatInfo, FormatStanding, Upload
from knowledge_svc.domain.ports import BlobStore, ProgressSink
from knowledge_svc.extraction.remote import RemoteExtractor

ANY: Final = "*"
"""The route of every format that has none of its own, and of files whose format neither name nor caller says."""

_log = structlog.get_logger("loom.extraction")


class RoutedExtractor:
    """The `Extractor` port over one or several extractors; `routes` maps a format's id, or `*`, to those that take it.

    Extractors of one route take turns. One that is down, or busy, is passed over for the next.
    """

    def __init__(self, routes: Mapping[str, Sequence[RemoteExtractor]]) -> None:
        self._routes = {name: tuple(extractors) for name, extractors in routes.items()}
        self._turn = itertools.count()

    async def extract(
        self, blobs: BlobStore, upload: Upload, options: ExtractOptions, *, progress: ProgressSink
    ) -> tuple[Artifact, bytes]:
        """Has the file read by the first extractor of its route that can."""
        if not await asyncio.to_thread(blobs.exists, upload.sha256):
            raise BlobGone("the file's bytes are not stored any more; upload it again", metadata={"sha256": upload.sha256})
        chosen = await self._choose(options.format or upload.format, upload, asked=bool(options.format))
        down: ExtractorDown | None = None
        for extractor in chosen:
            try:
                return await extractor.extract(blobs, upload, options, progress=progress)
            except ExtractorDown as error:
                _log.warning("extractor_down", extractor=extractor.name, error=error.message)
                down = error
        raise down or ExtractorDown("no extractor of this format can be reached")

    async def formats(self) -> list[FormatStanding]:
        """Every format of the product and every one that an extractor declares, by id."""
        await asyncio.gather(*(_asked(extractor) for extractor in self._extractors()))
        declared = {item.id: item for extractor in self._extractors() for item in _declared(await _asked(extractor))}
        known = {name: format_named(name) for name in FORMATS} | declared
        return [FormatStanding(known[name], await self._available(name)) for name in sorted(known)]

    async def close(self) -> None:
        """Ends every connection."""
        for extractor in self._extractors():
            await extractor.close()

    async def _choose(self, name: str, upload: Upload, *, asked: bool) -> list[RemoteExtractor]:
        """The extractors a file can go to now, in the order to try them.

        Raises:
            ExtractionRefused: no extractor takes the format, or the file is larger than any of them takes.
            ExtractorDown: those that might cannot be asked.
        """
        route = self._route(name)
        answers = await asyncio.gather(*(_asked(extractor, again=True) for extractor in route))
        able = [(extractor, answer) for extractor, answer in zip(route, answers, strict=True) if isinstance(answer, Capabilities)]
        fit = [(extractor, answer) for extractor, answer in able if _reads(answer, name)]
        if not fit:
            if down := next((answer for answer in answers if isinstance(answer, ExtractorDown)), None):
                raise down
            if asked and name not in FORMATS:
                raise ExtractionRefused(f"options.format {name!r} is no format; leave it empty", reason="UNSUPPORTED_TYPE")
            raise ExtractionRefused(f"no configured extractor reads {name or 'such'} files", reason="FORMAT_UNAVAILABLE")
        roomy = [extractor for extractor, answer in fit if not answer.max_bytes or upload.size_bytes <= answer.max_bytes]
        if not roomy:
            most = max(answer.max_bytes for _, answer in fit)
            message = f"the file has {upload.size_bytes} bytes, the extractor takes {most}; split it"
            raise ExtractionRefused(message, reason="DOCUMENT_TOO_LARGE")
        first = next(self._turn) % len(roomy)
        return roomy[first:] + roomy[:first]

    async def _available(self, name: str) -> bool | None:
        answers = [await _asked(extractor) for extractor in self._route(name)]
        if any(isinstance(answer, Capabilities) and _reads(answer, name) for answer in answers):
            return True
        return None if any(isinstance(answer, ExtractorDown) for answer in answers) else False

    def _route(self, name: str) -> tuple[RemoteExtractor, ...]:
        return self._routes.get(name) or self._routes.get(ANY, ())

    def _extractors(self) -> list[RemoteExtractor]:
        return list(dict.fromkeys(itertools.chain.from_iterable(self._routes.values())))


async def _asked(extractor: RemoteExtractor, *, again: bool = False) -> Capabilities | ExtractorDown:
    """What an extractor reads, or why it cannot be asked."""
    try:
        return await extractor.capabilities(ask_again=again)
    except ExtractorDown as error:
        return error


def _declared(answer: Capabilities | ExtractorDown) -> Iterable[FormatInfo]:
    return answer.formats if isinstance(answer, Capabilities) else ()


def _reads(answer: Capabilities, name: str) -> bool:
    """Whether an extractor declares a format; a file whose format nobody named may be anything."""
    return not name or any(item.id == name for item in answer.formats)
