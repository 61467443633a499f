"""Checks the fields of requests and turns them into values of the domain; past here a value is valid by its type."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from google.protobuf import json_format
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from loom.knowledge.v1 import documents_pb2, ingest_pb2, search_pb2

from knowledge_svc.domain.documents import DocumentInput, request_key
from knowledge_svc.domain.ingestion import IngestRequest
from knowledge_svc.domain.model import (
    Author,
    ChunkFilter,
    DocumentFilter,
    ExtractOptions,
    JobState,
    RequestKey,
    Scope,
)
from knowledge_svc.domain.search import SearchMode, SearchQuery
from services.auth import current_identity
from services.errors import FieldViolation, InvalidArgument, Unimplemented

MAX_URI: Final = 2048
MAX_NAME: Final = 128
MAX_TITLE: Final = 1000
MAX_DESCRIPTION: Final = 4000
MAX_TAGS: Final = 64
MAX_PREFIXES: Final = 8
MAX_NAMESPACES: Final = 32
MAX_QUERY: Final = 4096
MAX_FILENAME: Final = 255
MAX_PASSWORD: Final = 1024
MAX_ORIGINAL_BYTES: Final = 2 * 1024 * 1024
MAX_TOP_K: Final = 100
DEFAULT_TOP_K: Final = 5
MAX_LEXICAL_WEIGHT: Final = 10.0
MAX_SINCE_S: Final = 100 * 366 * 86_400

_MODES: Final[dict[int, SearchMode]] = {
    search_pb2.SEARCH_MODE_UNSPECIFIED: SearchMode.HYBRID,
    search_pb2.SEARCH_MODE_HYBRID: SearchMode.HYBRID,
    search_pb2.SEARCH_MODE_SEMANTIC: SearchMode.SEMANTIC,
    search_pb2.SEARCH_MODE_LEXICAL: SearchMode.LEXICAL,
}
STATES: Final[dict[int, JobState]] = {
    ingest_pb2.INGESTION_STATE_PENDING: JobState.PENDING,
    ingest_pb2.INGESTION_STATE_PROCESSING: JobState.PROCESSING,
    ingest_pb2.INGESTION_STATE_READY: JobState.READY,
    ingest_pb2.INGESTION_STATE_PARTIAL: JobState.PARTIAL,
    ingest_pb2.INGESTION_STATE_FAILED: JobState.FAILED,
    ingest_pb2.INGESTION_STATE_CANCELLED: JobState.CANCELLED,
}


class Faults:
    """Collects every fault of a request, then refuses it once."""

    def __init__(self) -> None:
        self._violations: list[FieldViolation] = []

    def add(self, field: str, description: str) -> None:
        """Notes one fault."""
        self._violations.append(FieldViolation(field, description))

    def check(self, fine: object, field: str, description: str) -> None:
        """Notes a fault unless `fine` holds."""
        if not fine:
            self.add(field, description)

    def text(self, value: str, field: str, *, most: int, least: int = 0) -> None:
        """Checks a text's length and that it has no control characters."""
        self.check(least <= len(value) <= most, field, f"takes {least} to {most} characters, not {len(value)}")
        self.check(not any(unicodedata.category(c) == "Cc" for c in value), field, "must not hold control characters")

    def texts(self, values: Sequence[str], field: str, *, most: int, length: int, least: int = 1) -> None:
        """Checks a list's size and each of its texts."""
        self.check(len(values) <= most, field, f"takes at most {most} entries, not {len(values)}")
        for number, value in enumerate(values):
            self.text(value, f"{field}[{number}]", most=length, least=least)

    def raise_any(self) -> None:
        """Refuses the request where anything was noted.

        Raises:
            InvalidArgument: with every fault as a violation.
        """
        if self._violations:
            first = self._violations[0]
            more = f" (and {len(self._violations) - 1} more)" if len(self._violations) > 1 else ""
            raise InvalidArgument(f"{first.field} {first.description}{more}", violations=self._violations)


class Scopes:
    """Names the scope of a call: the caller's organisation and the namespace asked for."""

    def __init__(self, default_namespace: str) -> None:
        self._default = default_namespace

    def of(self, namespace: str) -> Scope:
        """Returns the scope; an empty namespace means the default.

        Raises:
            InvalidArgument: the name is too long or holds control characters.
        """
        faults = Faults()
        faults.text(namespace, "namespace", most=MAX_NAME)
        faults.raise_any()
        return Scope(current_identity().org, namespace or self._default)

    def all_of(self, namespaces: Sequence[str]) -> list[Scope]:
        """Returns the scopes, the default one where none is named.

        Raises:
            InvalidArgument: a name does not hold, or there are more than 32.
        """
        if len(namespaces) > MAX_NAMESPACES:
            violation = FieldViolation("namespaces", f"takes at most {MAX_NAMESPACES} entries, not {len(namespaces)}")
            raise InvalidArgument(f"namespaces {violation.description}", violations=[violation])
        return [self.of(name) for name in dict.fromkeys(namespaces or [""])]


def author() -> Author:
    """Who the call writes as."""
    return Author(current_identity().name)


def retry_key(method: str, request_id: str, request: Message) -> RequestKey | None:
    """The key under which the call may be retried, None without a request id."""
    body = request.SerializeToString(deterministic=True)
    return request_key(f"{current_identity().org}/{current_identity().name}", method, request_id, body)


def check_request_id(faults: Faults, request_id: str) -> None:
    """Notes a request id that is too long."""
    faults.text(request_id, "request_id", most=MAX_NAME)


def check_uri(faults: Faults, source_uri: str, field: str = "source_uri") -> None:
    """Notes a source_uri that cannot name a document."""
    faults.text(source_uri, field, most=MAX_URI, least=1)
    faults.check(source_uri == source_uri.strip(), field, "must not begin or end with a space")


def document_input(message: documents_pb2.DocumentInput, faults: Faults) -> DocumentInput:
    """Reads what a caller says of a document, noting every fault."""
    check_uri(faults, message.source_uri, "document.source_uri")
    _describe(faults, message.title, message.description, message.tags, "document.")
    has_original = message.HasField("original_bytes")
    faults.check(
        len(message.original_bytes) <= MAX_ORIGINAL_BYTES,
        "document.original_bytes",
        f"takes at most {MAX_ORIGINAL_BYTES} bytes; upload a larger file",
    )
    return DocumentInput(
        source_uri=message.source_uri,
        content=message.content,
        title=message.title,
        description=message.description,
        tags=tuple(dict.fromkeys(message.tags)),
        metadata=metadata_text(message.metadata, faults, "document.metadata"),
        original=message.original_bytes if has_original else None,
        original_filename=message.original_filename,
        original_content_type=message.original_content_type,
        source=message.source if message.HasField("source") else None,
    )


def document_filter(uri_prefixes: Sequence[str], tags: Sequence[str]) -> DocumentFilter:
    """Reads a selection of documents.

    Raises:
        InvalidArgument: with every fault as a violation.
    """
    faults = Faults()
    _check_selection(faults, uri_prefixes, tags)
    faults.raise_any()
    return DocumentFilter(tuple(uri_prefixes), tuple(tags))


def search_query(request: search_pb2.SearchRequest, scope: Scope, *, now: datetime) -> SearchQuery:
    """Reads a search; a window in time ends now.

    Raises:
        InvalidArgument: with every fault as a violation.
        Unimplemented: an option of the contract that is not built yet.
    """
    faults = Faults()
    faults.check(0 < len(request.query) <= MAX_QUERY, "query", f"takes 1 to {MAX_QUERY} characters, not {len(request.query)}")
    faults.check(bool(request.query.strip()) or not request.query, "query", "must hold more than white space")
    faults.check(0 <= request.top_k <= MAX_TOP_K, "top_k", f"takes 1 to {MAX_TOP_K}, or 0 for {DEFAULT_TOP_K}")
    weight = request.lexical_weight if request.HasField("lexical_weight") else 1.0
    faults.check(0 <= weight <= MAX_LEXICAL_WEIGHT, "lexical_weight", f"takes 0 to {MAX_LEXICAL_WEIGHT:g}")
    since = timedelta(seconds=min(request.since.seconds, MAX_SINCE_S + 1)) + timedelta(microseconds=request.since.nanos // 1000)
    in_range = timedelta() < since <= timedelta(seconds=MAX_SINCE_S)
    faults.check(not request.HasField("since") or in_range, "since", "takes more than nothing, and at most 100 years")
    faults.check(request.mode in _MODES, "mode", "is not a search mode")
    _check_selection(faults, request.uri_prefixes, request.tags)
    faults.texts(request.formats, "formats", most=MAX_TAGS, length=MAX_NAME, least=0)
    faults.texts(request.block_types, "block_types", most=MAX_TAGS, length=MAX_NAME)
    faults.raise_any()
    _refuse_unbuilt(request)
    return SearchQuery(
        scope=scope,
        text=request.query,
        mode=_MODES[request.mode],
        lexical_weight=weight,
        selection=ChunkFilter(
            uri_prefixes=tuple(request.uri_prefixes),
            tags=tuple(request.tags),
            formats=tuple(request.formats),
            block_types=tuple(request.block_types),
            ingested_since=now - since if request.HasField("since") else None,
        ),
        collapse_sections=request.collapse_sections if request.HasField("collapse_sections") else True,
        top_k=request.top_k or DEFAULT_TOP_K,
    )


def ingest_request(request: ingest_pb2.StartIngestionRequest) -> IngestRequest:
    """Reads a request for an ingest.

    Raises:
        InvalidArgument: with every fault as a violation.
    """
    faults = Faults()
    check_uri(faults, request.source_uri)
    check_request_id(faults, request.request_id)
    faults.text(request.upload_id, "upload_id", most=MAX_NAME, least=1)
    _describe(faults, request.title, request.description, request.tags, "")
    faults.check(not request.HasField("expected_revision") or request.expected_revision >= 0, "expected_revision", "is negative")
    metadata = metadata_text(request.metadata, faults, "metadata")
    faults.text(request.source, "source", most=MAX_NAME)
    chosen = request.options
    for name in ("format", "encoding", "sql_dialect"):
        faults.text(getattr(chosen, name), f"options.{name}", most=MAX_NAME)
    faults.check(len(chosen.password) <= MAX_PASSWORD, "options.password", f"takes at most {MAX_PASSWORD} characters")
    faults.raise_any()
    return IngestRequest(
        upload_id=request.upload_id,
        source_uri=request.source_uri,
        title=request.title,
        description=request.description,
        tags=tuple(dict.fromkeys(request.tags)),
        metadata=metadata,
        options=ExtractOptions(chosen.format, chosen.encoding, chosen.sql_dialect, chosen.password),
        expected_revision=request.expected_revision if request.HasField("expected_revision") else None,
        allow_partial=request.allow_partial,
        source=request.source if request.HasField("source") else None,
    )


def job_states(numbers: Iterable[int]) -> list[JobState]:
    """Reads a selection of job states.

    Raises:
        InvalidArgument: a number is not a state.
    """
    faults = Faults()
    chosen = list(numbers)
    for position, number in enumerate(chosen):
        faults.check(number in STATES, f"states[{position}]", "is not a state of a job")
    faults.raise_any()
    return [STATES[number] for number in chosen]


def metadata_text(message: Struct, faults: Faults, field: str) -> str:
    """Metadata as canonical JSON text; what JSON cannot hold, such as a number that is none, is noted."""
    try:
        return json_format.MessageToJson(message, indent=None, sort_keys=True, ensure_ascii=False)
    except (json_format.SerializeToJsonError, ValueError, RecursionError):
        faults.add(field, "must hold finite numbers, texts, lists and objects only, at most 100 deep")
        return "{}"


def _describe(faults: Faults, title: str, description: str, tags: Sequence[str], prefix: str) -> None:
    faults.text(title, f"{prefix}title", most=MAX_TITLE)
    faults.check(len(description) <= MAX_DESCRIPTION, f"{prefix}description", f"takes at most {MAX_DESCRIPTION} characters")
    faults.texts(tags, f"{prefix}tags", most=MAX_TAGS, length=MAX_NAME)


def _check_selection(faults: Faults, uri_prefixes: Sequence[str], tags: Sequence[str]) -> None:
    faults.texts(uri_prefixes, "uri_prefixes", most=MAX_PREFIXES, length=MAX_URI)
    faults.texts(tags, "tags", most=MAX_TAGS, length=MAX_NAME)


def _refuse_unbuilt(request: search_pb2.SearchRequest) -> None:
    """Options that the contract declares and this version does not serve are refused, never ignored."""
    asked = {
        "namespace_scope": request.namespace_scope == search_pb2.NAMESPACE_SCOPE_ALL_MINE,
        "narrow_spans": request.narrow_spans,
        "rerank": request.rerank not in ("", "none"),
        "as_of": request.HasField("as_of"),
        "page_token": bool(request.page_token),
    }
    for field, given in asked.items():
        if given:
            raise Unimplemented(f"{field} is declared and not built yet; leave it unset", metadata={"field": field})
