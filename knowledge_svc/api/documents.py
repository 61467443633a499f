"""DocumentService."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loom.knowledge.v1 import documents_pb2 as pb
from loom.knowledge.v1 import documents_pb2_grpc

from knowledge_svc.api.messages import document_message, section_message
from knowledge_svc.api.requests import (
    Faults,
    Scopes,
    author,
    check_request_id,
    check_uri,
    document_filter,
    document_input,
    retry_key,
)
from knowledge_svc.api.runner import Runner
from knowledge_svc.domain.documents import Documents, Written
from knowledge_svc.domain.model import Document, DocumentFilter, Scope
from services.errors import Unimplemented
from services.interceptor import RpcContext
from services.paging import page_size, read_page_token, write_page_token

DEFAULT_PAGE: Final = 50
MAX_PAGE: Final = 500


class DocumentServicer(documents_pb2_grpc.DocumentServiceServicer):
    """Answers the document RPCs; those not named here answer UNIMPLEMENTED."""

    def __init__(self, documents: Documents, *, scopes: Scopes, write: Runner, read: Runner) -> None:
        self._documents = documents
        self._scopes = scopes
        self._write = write
        self._read = read

    async def AddDocument(self, request: pb.AddDocumentRequest, context: RpcContext) -> pb.AddDocumentResponse:
        """Writes a new revision."""
        faults = Faults()
        given = document_input(request.document, faults)
        check_request_id(faults, request.request_id)
        faults.raise_any()
        key = retry_key("AddDocument", request.request_id, request)
        written = await self._write(self._documents.add, self._scopes.of(request.namespace), given, author=author(), request=key)
        return pb.AddDocumentResponse(document=document_message(written.document), chunks=written.document.chunk_count)

    async def UpsertDocument(self, request: pb.UpsertDocumentRequest, context: RpcContext) -> pb.UpsertDocumentResponse:
        """Adds or replaces a document."""
        faults = Faults()
        given = document_input(request.document, faults)
        check_request_id(faults, request.request_id)
        expected = request.expected_revision if request.HasField("expected_revision") else None
        faults.check(expected is None or expected >= 0, "expected_revision", "must not be negative")
        faults.raise_any()
        written: Written = await self._write(
            self._documents.upsert,
            self._scopes.of(request.namespace),
            given,
            author=author(),
            request=retry_key("UpsertDocument", request.request_id, request),
            expected_revision=expected,
        )
        return pb.UpsertDocumentResponse(
            document=document_message(written.document),
            chunks=written.document.chunk_count,
            changed=written.changed,
            duplicate_of_uri=written.duplicate_of_uri,
            duplicate_chunk_count=written.duplicate_chunk_count,
        )

    async def GetDocument(self, request: pb.GetDocumentRequest, context: RpcContext) -> pb.GetDocumentResponse:
        """Returns a document whole."""
        if request.HasField("as_of"):
            raise Unimplemented("as_of is declared and not built yet; name a revision instead", metadata={"field": "as_of"})
        faults = Faults()
        check_uri(faults, request.source_uri)
        faults.raise_any()
        document = await self._read(
            self._documents.get,
            self._scopes.of(request.namespace),
            request.source_uri,
            revision=request.revision if request.HasField("revision") else None,
            superseded=request.include_superseded,
        )
        return pb.GetDocumentResponse(document=document_message(document))

    async def ListDocuments(self, request: pb.ListDocumentsRequest, context: RpcContext) -> pb.ListDocumentsResponse:
        """Lists documents by namespace, then source_uri."""
        size = page_size(request.page_size, default=DEFAULT_PAGE, cap=MAX_PAGE)
        scopes = self._scopes.all_of(request.namespaces)
        selection = document_filter(request.uri_prefixes, request.tags)
        bound = ("ListDocuments", *[f"{s.org}/{s.namespace}" for s in scopes], *selection.uri_prefixes, "|", *selection.tags)
        after = read_page_token(request.page_token, bound) if request.page_token else ("0", "")
        found, position = await self._read(self._page, scopes, selection, after=(int(after[0]), after[1]), limit=size)
        token = write_page_token((str(position), found[-1].source_uri), bound) if position < len(scopes) else ""
        return pb.ListDocumentsResponse(documents=[document_message(document) for document in found], next_page_token=token)

    def _page(
        self, scopes: Sequence[Scope], selection: DocumentFilter, *, after: tuple[int, str], limit: int
    ) -> tuple[list[Document], int]:
        """A page over several namespaces, and the position of the one it stopped in; past the last where there is no more."""
        position, uri = after
        found: list[Document] = []
        while position < len(scopes):
            wanted = limit - len(found)
            rows = self._documents.page(scopes[position], selection, after_uri=uri, limit=wanted + 1)
            found.extend(rows[:wanted])
            if len(rows) > wanted:
                return found, position
            position, uri = position + 1, ""
        return found, position

    async def OutlineDocument(self, request: pb.OutlineDocumentRequest, context: RpcContext) -> pb.OutlineDocumentResponse:
        """Returns the sections of a document."""
        faults = Faults()
        check_uri(faults, request.source_uri)
        faults.raise_any()
        outline = await self._read(
            self._documents.outline,
            self._scopes.of(request.namespace),
            request.source_uri,
            section_path=tuple(request.section_path),
            include_children=request.include_children,
            revision=request.revision if request.HasField("revision") else None,
        )
        return pb.OutlineDocumentResponse(
            source_uri=outline.document.source_uri,
            revision=outline.document.revision,
            structured=outline.structured,
            sections=[section_message(section) for section in outline.sections],
            section_content=outline.section_content,
        )

    async def DeleteDocument(self, request: pb.DeleteDocumentRequest, context: RpcContext) -> pb.DeleteDocumentResponse:
        """Retires a document."""
        faults = Faults()
        check_uri(faults, request.source_uri)
        check_request_id(faults, request.request_id)
        faults.raise_any()
        document, retired = await self._write(
            self._documents.delete,
            self._scopes.of(request.namespace),
            request.source_uri,
            expected_revision=request.expected_revision if request.HasField("expected_revision") else None,
            request=retry_key("DeleteDocument", request.request_id, request),
        )
        return pb.DeleteDocumentResponse(doc_id=document.doc_id, revision=document.revision, chunks_retired=retired)
