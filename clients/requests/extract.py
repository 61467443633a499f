"""Calls to the extractor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from google.protobuf.message import Message
from loom.artifact.v1 import artifact_pb2
from loom.extractor.v1 import extractor_pb2

from clients.calls import Call, Exchange, Upload
from clients.files import File
from clients.results.capabilities import Capabilities, read_capabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractOptions:
    """What the caller knows of a file that the file cannot say; empty fields are found out. A password is never printed.

    `ocr` None leaves reading from pixels as the service is set. `original_view` reads a document with tracked changes as it stood
    before them.
    """

    format: str = ""
    encoding: str = ""
    sql_dialect: str = ""
    password: str = ""
    ocr: bool | None = None
    original_view: bool = False

    def __repr__(self) -> str:
        shown = f"format={self.format!r}, encoding={self.encoding!r}, sql_dialect={self.sql_dialect!r}"
        chosen = f"ocr={self.ocr!r}, original_view={self.original_view!r}"
        return f"ExtractOptions({shown}, password={'***' if self.password else ''!r}, {chosen})"


def capabilities() -> Call[Capabilities]:
    """Returns which formats are read, with which limits, and which protections are on."""
    return Call("extractor.GetCapabilities", extractor_pb2.GetCapabilitiesRequest(), read_capabilities)


def extract(file: File, options: ExtractOptions | None) -> Exchange[extractor_pb2.ExtractResponse]:
    """Sends a file; back come progress and the parts of its artifact."""

    def requests() -> Iterator[Message]:
        yield extractor_pb2.ExtractRequest(header=_header(file, options))
        for data in file.chunks():
            yield extractor_pb2.ExtractRequest(data=data)

    return Exchange("extractor.Extract", requests(), lambda part: part)


def resolve(file: File, locator: artifact_pb2.Locator, options: ExtractOptions | None) -> Upload[str]:
    """Sends a file and returns its text at a place."""

    def requests() -> Iterator[Message]:
        header = extractor_pb2.ResolveHeader(file=_header(file, options), locator=locator)
        yield extractor_pb2.ResolveRequest(header=header)
        for data in file.chunks():
            yield extractor_pb2.ResolveRequest(data=data)

    return Upload("extractor.Resolve", requests(), _text)


def _header(file: File, options: ExtractOptions | None) -> extractor_pb2.FileHeader:
    chosen = options or ExtractOptions()
    return extractor_pb2.FileHeader(
        filename=file.name,
        content_type=file.content_type,
        sha256=file.sha256,
        options=extractor_pb2.ExtractOptions(
            format=chosen.format,
            encoding=chosen.encoding,
            sql_dialect=chosen.sql_dialect,
            password=chosen.password,
            ocr=chosen.ocr,
            original_view=chosen.original_view,
        ),
    )


def _text(answer: extractor_pb2.ResolveResponse) -> str:
    return answer.text
