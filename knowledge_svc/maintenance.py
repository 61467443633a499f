"""The commands that work on a data folder while no service runs on it."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from knowledge_svc.app import Storehouse, utc_now
from knowledge_svc.config import KnowledgeConfig
from knowledge_svc.datasets.retyping import DatasetRetyper
from knowledge_svc.domain.approvals import DatasetWriter
from knowledge_svc.domain.model import Scope
from knowledge_svc.domain.publishing import Publisher
from knowledge_svc.domain.rechunking import Rechunker, Recut
from knowledge_svc.domain.reembedding import reembed
from knowledge_svc.extraction.stored import StoredArtifacts
from knowledge_svc.storage.fresh_vectors import RecordFreshVectors

Work = Callable[[Storehouse, KnowledgeConfig], None]
_PROGRAM: Final = "python -m knowledge_svc rechunk"


def maintenance(argv: Sequence[str]) -> tuple[Work | None, list[str]]:
    """The work that the first word names, and the flags that are left for the settings; no work where it names none."""
    first, rest = (argv[0], list(argv[1:])) if argv else ("", [])
    if first == "rebuild-index":
        return _rebuild, rest
    if first == "reembed":
        return _reembed, rest
    if first == "rechunk":
        return _rechunk(rest)
    return None, list(argv)


def _rebuild(house: Storehouse, _config: KnowledgeConfig) -> None:
    """Makes every namespace's indexes anew and says how many chunks each holds."""
    for scope in house.store.scopes():
        print(f"{scope.org}/{scope.namespace}: {house.indexes.rebuild(scope)} chunks indexed", flush=True)


def _reembed(house: Storehouse, config: KnowledgeConfig) -> None:
    """Embeds everything anew with the configured model, then makes the indexes anew; says how far it is."""
    stored, model = house.store.embedding_model(), house.embedder.model
    if stored in ("", model):
        print(f"every vector is of {model} already", flush=True)
        return
    print(f"from {stored} to {model}", flush=True)
    fresh = RecordFreshVectors(house.record)
    reembed(fresh, house.embedder, progress=lambda done, total: print(f"{done} of {total} texts embedded", flush=True))
    _rebuild(house, config)


def _rechunk(words: list[str]) -> tuple[Work, list[str]]:
    parser = argparse.ArgumentParser(prog=_PROGRAM, allow_abbrev=False, add_help=False)
    parser.add_argument("--org", default="dev")
    parser.add_argument("--source-uri", default="")
    parser.add_argument("--apply", action="store_true")
    given, rest = parser.parse_known_args(words)

    def work(house: Storehouse, config: KnowledgeConfig) -> None:
        scope = Scope(given.org, config.namespace)
        _rechunk_scope(house, config, scope=scope, source_uri=given.source_uri, apply=given.apply)

    return work, rest


def _rechunk_scope(house: Storehouse, config: KnowledgeConfig, *, scope: Scope, source_uri: str, apply: bool) -> None:
    """Cuts a namespace's documents anew, or says what that would change; a line for each that is not the same."""
    publisher = Publisher(house.store, house.indexes)
    stored, datasets = StoredArtifacts(house.blobs), DatasetWriter(house.store, DatasetRetyper(), house.snapshots)
    rechunker = Rechunker(house.store, publisher, house.embedder, stored, datasets, chunks=config.chunks, clock=utc_now)
    counts: Counter[Recut] = Counter()
    for told in (rechunker.apply if apply else rechunker.compare)(scope, source_uri=source_uri):
        counts[told.outcome] += 1
        if told.outcome is not Recut.SAME:
            print(f"{told.source_uri}: {_LINE[told.outcome].format(before=told.before, after=told.after)}", flush=True)
    summary = ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Recut)
    print(f"{summary}{'' if apply or not counts[Recut.CHANGED] else '; nothing was written, add --apply'}", flush=True)


_LINE: Final[dict[Recut, str]] = {
    Recut.CHANGED: "{before} chunks, {after} when cut anew",
    Recut.GONE: "a file whose extraction is not stored any more; ingest it again to cut it anew",
    Recut.OVERTAKEN: "was written meanwhile and is left as it is",
}
