"""Chunks on their way into the indexes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from knowledge_svc.domain.model import IndexRows, StagedRevision, section_key
from knowledge_svc.index.catalog import microseconds


def rows_of(staged: StagedRevision) -> IndexRows:
    """Returns the chunks of a staged revision, none of them live."""
    document, chunks = staged.draft.document, staged.draft.chunks
    count = len(chunks)
    return IndexRows(
        chunk_ids=np.asarray(staged.chunk_ids, dtype=np.int64),
        source_uris=(document.source_uri,) * count,
        tags=(document.tags,) * count,
        formats=(document.format or "",) * count,
        block_types=tuple(chunk.block_type for chunk in chunks),
        ingested_at_us=np.full(count, microseconds(document.ingested_at), dtype=np.int64),
        sections=tuple(section_key(document.doc_id, chunk.section_path) for chunk in chunks),
        contents=tuple(chunk.content for chunk in chunks),
        contexts=tuple(chunk.context for chunk in chunks),
        keys=tuple(chunk.keys for chunk in chunks),
        live=np.zeros(count, dtype=np.bool_),
        vectors=staged.draft.vectors,
        change_seq=staged.change_seq,
    )


def only(rows: IndexRows, chunk_ids: npt.NDArray[np.int64]) -> IndexRows:
    """Returns those of the rows whose id is among the given ones."""
    mask = np.isin(rows.chunk_ids, chunk_ids)
    if mask.all():
        return rows
    places = np.flatnonzero(mask).tolist()
    return IndexRows(
        chunk_ids=rows.chunk_ids[mask],
        source_uris=tuple(rows.source_uris[place] for place in places),
        tags=tuple(rows.tags[place] for place in places),
        formats=tuple(rows.formats[place] for place in places),
        block_types=tuple(rows.block_types[place] for place in places),
        ingested_at_us=rows.ingested_at_us[mask],
        sections=tuple(rows.sections[place] for place in places),
        contents=tuple(rows.contents[place] for place in places),
        contexts=tuple(rows.contexts[place] for place in places),
        keys=tuple(rows.keys[place] for place in places),
        live=rows.live[mask],
        vectors=None if rows.vectors is None else rows.vectors[mask],
        change_seq=rows.change_seq,
    )
