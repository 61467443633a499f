"""A child that publishes into an index folder until it is killed, and the journal from which its record is known again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from knowledge_svc.domain.model import RevisionDraft
from knowledge_svc.index.namespaces import Indexes
from tests.index_fixtures import DIMENSION, MODEL, SCOPE, MemoryRecord, chunk, draft

DOCUMENTS = 7


def uri_of(number: int) -> str:
    return f"doc/{number % DOCUMENTS}"


def replay(journal: Path) -> tuple[MemoryRecord, int]:
    """Returns the record after the journal's whole lines, and the number of the next draft; what was staged only is gone."""
    record, staged, number = MemoryRecord(), None, 0
    content = journal.read_text() if journal.exists() else ""
    for line in content.rpartition("\n")[0].split():
        if staged is not None and line != "publish":
            record.abandon(staged)
            staged = None
        if line == "stage":
            staged = record.stage(version(number))
            number += 1
        elif line == "publish" and staged is not None:
            record.publish(staged)
            staged = None
        elif line == "retire":
            record.retire(uri_of(number))
    if staged is not None:
        record.abandon(staged)
    return record, number


def version(number: int) -> RevisionDraft:
    texts = [f"pump number{number} part{place}" for place in range(number % 4 + 1)]
    return draft(uri_of(number), [chunk(place, text, keys=(f"k_{number}",)) for place, text in enumerate(texts)])


def main(folder: Path, journal: Path) -> None:
    record, number = replay(journal)
    indexes = Indexes(folder, store=record.as_store(), model=MODEL, dimension=DIMENSION)
    descriptor = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(word: str) -> None:
        os.write(descriptor, f"{word}\n".encode())

    while True:
        note("stage")
        staged = record.stage(version(number))
        number += 1
        indexes.add(staged)
        note("publish")
        indexes.serve(record.publish(staged))
        if number % 5 == 0:
            note("retire")
            indexes.serve(record.retire(uri_of(number)))
        if number % 3 == 0:
            indexes.save()
        with indexes.snapshot(SCOPE) as snapshot:
            print(snapshot.size, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
