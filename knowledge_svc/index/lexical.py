"""BM25 over the words of text and context, on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import tantivy

from knowledge_svc.domain.analysis import tokens
from knowledge_svc.domain.errors import DiskFull
from knowledge_svc.domain.model import IndexRows, Scored, Token
from services.errors import DataLoss

_ID: Final = "chunk_id"
_WORDS: Final = "words"
_MARKER: Final = "marker"
_WATERMARK: Final = "watermark"
_WRITER_BYTES: Final = 32_000_000
HITS_PER_NAME: Final = 16
"""Hits that are read in the time that one id named in the query takes (0.3 µs against 2 to 10 µs at 10k to 40k chunks)."""
_SCORE_DECIMALS: Final = 4
"""Finer differences come from the order in which a segment adds up: such scores tie."""


class LexicalIndexDamaged(DataLoss):
    """The lexical index cannot be read or written; it has to be made anew from the record."""

    reason = "LEXICAL_INDEX_DAMAGED"


class TantivyIndex:
    """The `LexicalIndex` port over tantivy. Text and context are one bag of words; several commits make one index.

    A commit is on disk when `add` returns. Deleted chunks count in the document frequencies until their segment is merged.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Opens the index in the folder, making it where there is none; without a folder it lives in memory.

        Raises:
            LexicalIndexDamaged: what is in the folder cannot be read.
        """
        self._schema = _schema()
        self._writer: Any = None  # Any: tantivy's writer, opened with the first change
        with _faults():
            self._index = tantivy.Index(self._schema, path=None if folder is None else str(folder))
            self._index.config_reader("manual")
        self._reader = self._open_reader()

    def add(self, rows: IndexRows, *, removed: Iterable[int] = ()) -> None:
        """Adds or replaces chunks, drops those removed, and commits both with the rows' change number as the watermark.

        Raises:
            DiskFull: nothing was changed.
            LexicalIndexDamaged: nothing was changed.
        """
        try:
            with _faults():
                self._write(rows, removed)
        except BaseException:
            self._roll_back()
            raise
        self._reader = self._open_reader()

    def reader(self) -> LexicalReader:
        """Returns the last commit as a value: it does not change when more is added."""
        return self._reader

    def search(self, terms: Sequence[Token], *, k: int, allowed_ids: npt.NDArray[np.int64]) -> list[Scored]:
        """Returns the k best chunks among the allowed ids (ascending), best first, ties to the smaller id."""
        return self._reader.search(terms, k=k, allowed_ids=allowed_ids)

    def watermark(self) -> int:
        """Returns the change number of the last commit, 0 for an empty index."""
        return self._reader.watermark()

    def close(self) -> None:
        """Lets go of the writer and waits for its merges."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            with _faults():
                writer.wait_merging_threads()

    def _write(self, rows: IndexRows, removed: Iterable[int]) -> None:
        if self._writer is None:
            self._writer = _open_writer(self._index)
        for chunk_id in removed:
            self._writer.delete_documents_by_term(_ID, chunk_id)
        for chunk_id, content, context in zip(rows.chunk_ids.tolist(), rows.contents, rows.contexts, strict=True):
            self._writer.delete_documents_by_term(_ID, chunk_id)
            self._writer.add_document(_document(chunk_id, content, context))
        self._writer.delete_documents_by_term(_MARKER, 1)
        self._writer.add_document(_watermark(rows.change_seq))
        self._writer.commit()

    def _roll_back(self) -> None:
        """Forgets what was not committed; a writer that cannot do that is given up."""
        try:
            with _faults():
                if self._writer is not None:
                    self._writer.rollback()
        except (LexicalIndexDamaged, DiskFull):
            self._writer = None

    def _open_reader(self) -> LexicalReader:
        with _faults():
            self._index.reload()
            return LexicalReader(self._schema, self._index.searcher())


class LexicalReader:
    """One commit of a lexical index."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        self._schema = schema
        self._searcher = searcher

    def search(self, terms: Sequence[Token], *, k: int, allowed_ids: npt.NDArray[np.int64]) -> list[Scored]:
        """Returns the k best chunks among the allowed ids (ascending), best first, ties to the smaller id.

        Terms at one position are alternatives, of which the best counts.

        Raises:
            LexicalIndexDamaged: the index cannot be read.
        """
        if not terms or k < 1 or not len(allowed_ids) or not self._searcher.num_docs:
            return []
        with _faults():
            return self._best(_any_of(self._schema, terms), k, allowed_ids=allowed_ids)

    def chunk_ids(self) -> npt.NDArray[np.int64]:
        """Returns the ids of the chunks in the index, ascending."""
        with _faults():
            return np.fromiter((value for value, _ in self._ordered(_ID, tantivy.Order.Asc, self._searcher.num_docs)), np.int64)

    def watermark(self) -> int:
        """Returns the greatest watermark, 0 where there is none."""
        with _faults():
            return max((value for value, _ in self._ordered(_WATERMARK, tantivy.Order.Desc, 1)), default=0)

    def _ordered(self, field: str, order: tantivy.Order, limit: int) -> list[tuple[int, tantivy.DocAddress]]:
        query = tantivy.Query.exists_query(field)
        found: list[tuple[int, tantivy.DocAddress]] = self._searcher.search(
            query, limit=max(limit, 1), count=False, order_by_field=field, order=order
        ).hits
        return found

    def _best(self, query: tantivy.Query, k: int, *, allowed_ids: npt.NDArray[np.int64]) -> list[Scored]:
        """Reads hits until k are allowed and none that was not read could tie with the last of them.

        It begins with as many as hold k allowed ones on average; where naming the ids in the query costs less, it does that.
        """
        total = self._searcher.num_docs
        named = False
        limit = min(k + 1 + k * total // len(allowed_ids), total)
        while True:
            if not named and limit > HITS_PER_NAME * len(allowed_ids):
                query, named, limit = _restricted(self._schema, query, allowed_ids), True, min(k + 1, total)
            ids, scores = self._read(query, limit)
            best = _best_of(ids, scores, allowed_ids=allowed_ids)[:k]
            if len(ids) < limit or limit == total or (len(best) == k and scores[-1] < best[-1].score):
                return best
            limit = min(limit * 4, total)

    def _read(self, query: tantivy.Query, limit: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Returns the ids and scores of the first hits, best first."""
        hits = self._searcher.search(query, limit=limit, count=False).hits
        ids = self._searcher.fast_field_values(_ID, [address for _, address in hits])
        scores = np.array([score for score, _ in hits], dtype=np.float64).round(_SCORE_DECIMALS)
        return np.array(ids, dtype=np.int64), scores


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field(_ID, indexed=True, fast=True)
    builder.add_integer_field(_MARKER, indexed=True)
    builder.add_integer_field(_WATERMARK, fast=True)
    builder.add_text_field(_WORDS, tokenizer_name="raw", index_option="freq")
    return builder.build()


def _open_writer(index: tantivy.Index) -> tantivy.IndexWriter:
    """Opens the writer and clears what a killed one left: without that, later commits can fail for good."""
    writer = index.writer(_WRITER_BYTES, 1)
    writer.garbage_collect_files()
    return writer


def _document(chunk_id: int, content: str, context: str) -> tantivy.Document:
    document = tantivy.Document()
    document.add_integer(_ID, chunk_id)
    for text in (context, content):
        document.add_pre_tokenized_text(_WORDS, tantivy.PreTokenizedString(text, _cut(text)))
    return document


def _cut(text: str) -> list[tantivy.Token]:
    return [tantivy.Token(token.text, token.position, token.start, token.end) for token in tokens(text)]


def _watermark(change_seq: int) -> tantivy.Document:
    document = tantivy.Document()
    document.add_integer(_MARKER, 1)
    document.add_integer(_WATERMARK, change_seq)
    return document


def _any_of(schema: tantivy.Schema, terms: Sequence[Token]) -> tantivy.Query:
    places = groupby(sorted(terms, key=attrgetter("position")), key=attrgetter("position"))
    clauses = [_alternatives([_term(schema, token.text) for token in group]) for _, group in places]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, clause) for clause in clauses])


def _alternatives(queries: list[tantivy.Query]) -> tantivy.Query:
    return queries[0] if len(queries) == 1 else tantivy.Query.disjunction_max_query(queries)


def _term(schema: tantivy.Schema, text: str) -> tantivy.Query:
    return tantivy.Query.term_query(schema, _WORDS, text, index_option="freq")


def _restricted(schema: tantivy.Schema, query: tantivy.Query, chunk_ids: npt.NDArray[np.int64]) -> tantivy.Query:
    """Requires one of the ids without touching the score."""
    named = tantivy.Query.const_score_query(tantivy.Query.term_set_query(schema, _ID, chunk_ids.tolist()), 0.0)
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, named), (tantivy.Occur.Must, query)])


def _best_of(ids: npt.NDArray[np.int64], scores: npt.NDArray[np.float64], *, allowed_ids: npt.NDArray[np.int64]) -> list[Scored]:
    """Returns the allowed ones of the hits, best first, ties to the smaller id."""
    mask = _among(ids, allowed_ids)
    ids, scores = ids[mask], scores[mask]
    order = np.lexsort((ids, -scores))
    return [Scored(*pair) for pair in zip(ids[order].tolist(), scores[order].tolist(), strict=True)]


def _among(ids: npt.NDArray[np.int64], allowed_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    places = np.minimum(np.searchsorted(allowed_ids, ids), len(allowed_ids) - 1)
    found: npt.NDArray[np.bool_] = allowed_ids[places] == ids
    return found


@contextmanager
def _faults() -> Iterator[None]:
    """Turns what tantivy raises into errors of ours; its panics do not derive from Exception."""
    try:
        yield
    except BaseException as error:
        if not (isinstance(error, (ValueError, RuntimeError)) or type(error).__name__ == "PanicException"):
            raise
        if "No space left" in str(error) or "StorageFull" in str(error):
            raise DiskFull("the disk is full; free space for the lexical index") from error
        raise LexicalIndexDamaged("the lexical index cannot be used; rebuild the index") from error
