"""The tables of the record and the migrations that make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import duckdb

from services.errors import FailedPrecondition

_TABLES_V1: Final = (
    """
    CREATE TABLE meta (
        schema_version INTEGER, database_id VARCHAR, dimension INTEGER, embedding_model VARCHAR, created_at TIMESTAMPTZ
    )""",
    "CREATE TABLE counters (change_seq BIGINT, chunk_id BIGINT, namespace_id BIGINT, job_seq BIGINT)",
    "INSERT INTO counters VALUES (0, 0, 0, 0)",
    "CREATE TABLE namespaces (namespace_id BIGINT, org VARCHAR, namespace VARCHAR, last_served BIGINT)",
    """
    CREATE TABLE revisions (
        staged_seq BIGINT, namespace_id BIGINT, source_uri VARCHAR, doc_id VARCHAR, revision BIGINT, title VARCHAR,
        description VARCHAR, tags VARCHAR[], metadata VARCHAR, content VARCHAR, content_hash VARCHAR, actor VARCHAR,
        user_id VARCHAR, source_class VARCHAR, ingested_at TIMESTAMPTZ, updated_at TIMESTAMPTZ, chunk_count BIGINT,
        format VARCHAR, parser VARCHAR, coverage VARCHAR, ingestion_id VARCHAR, original_sha256 VARCHAR,
        original_filename VARCHAR, original_content_type VARCHAR, artifact_sha256 VARCHAR, source VARCHAR,
        change_seq BIGINT, superseded_at TIMESTAMPTZ
    )""",
    """
    CREATE TABLE chunks (
        chunk_id BIGINT, staged_seq BIGINT, chunk_index BIGINT, content VARCHAR, context VARCHAR, section_path VARCHAR[],
        locator VARCHAR, content_hash VARCHAR, block_type VARCHAR, block_ids VARCHAR[], keys VARCHAR[], noise BOOLEAN,
        content_key BIGINT, input_key BIGINT, input_hash VARCHAR, embedding_model VARCHAR, vector FLOAT[{dimension}]
    )""",
    """
    CREATE TABLE sections (
        staged_seq BIGINT, ordinal BIGINT, path VARCHAR[], chunk_indexes BIGINT[], characters BIGINT, noise BOOLEAN
    )""",
    """
    CREATE TABLE datasets (
        snapshot_id VARCHAR, staged_seq BIGINT, namespace_id BIGINT, source_uri VARCHAR, dataset_id VARCHAR, name VARCHAR,
        ordinal BIGINT, revision BIGINT, columns VARCHAR, schema_state VARCHAR, clarifications VARCHAR, row_count BIGINT,
        rejected_count BIGINT, rejected_rows VARCHAR, complete BOOLEAN, locator VARCHAR, file_sha256 VARCHAR,
        published_at TIMESTAMPTZ, change_seq BIGINT, superseded_at TIMESTAMPTZ
    )""",
    """
    CREATE TABLE uploads (
        upload_id VARCHAR, namespace_id BIGINT, sha256 VARCHAR, size_bytes BIGINT, filename VARCHAR, content_type VARCHAR,
        format VARCHAR, owner VARCHAR, created_at TIMESTAMPTZ, expires_at TIMESTAMPTZ
    )""",
    """
    CREATE TABLE ingestions (
        ingestion_id VARCHAR, namespace_id BIGINT, seq BIGINT, upload_id VARCHAR, source_uri VARCHAR, title VARCHAR,
        description VARCHAR, tags VARCHAR, metadata VARCHAR, options VARCHAR, password VARCHAR, expected_revision BIGINT,
        allow_partial BOOLEAN, actor VARCHAR, user_id VARCHAR, source VARCHAR, state VARCHAR, queued_at TIMESTAMPTZ,
        updated_at TIMESTAMPTZ, next_attempt_at TIMESTAMPTZ, stage VARCHAR, unit VARCHAR, units_done BIGINT,
        units_total BIGINT, attempts BIGINT, lease_until TIMESTAMPTZ, ended_at TIMESTAMPTZ, cancel_requested BOOLEAN,
        failure VARCHAR, coverage VARCHAR, warnings VARCHAR, chunks BIGINT, revision BIGINT, datasets BIGINT, format VARCHAR
    )""",
    """
    CREATE TABLE requests (
        identity VARCHAR, method VARCHAR, request_id VARCHAR, body_sha256 VARCHAR, ingestion_id VARCHAR, published BIGINT,
        retired BIGINT, change_seq BIGINT, created_at TIMESTAMPTZ
    )""",
)


@dataclass(frozen=True, slots=True)
class Migration:
    """The statements that bring a record from the version before to `version`; `{dimension}` is a vector's length."""

    version: int
    statements: tuple[str, ...]


MIGRATIONS: Final = (Migration(1, _TABLES_V1),)
"""Every change of the tables, oldest first; a released one is never edited."""


class RecordTooNew(FailedPrecondition):
    """The record was written by a newer version of this program."""

    reason = "RECORD_TOO_NEW"


def migrate(connection: duckdb.DuckDBPyConnection, dimension: int, *, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Brings the record to the newest version, one transaction a migration, then a checkpoint.

    Raises:
        RecordTooNew: the record's version is newer than the newest migration; nothing was changed.
    """
    found = version_of(connection)
    newest = migrations[-1].version
    if found > newest:
        raise RecordTooNew(
            f"the record has schema version {found}, this program reads up to {newest}; start a newer version of it",
            metadata={"found": str(found), "newest": str(newest)},
        )
    for migration in migrations:
        if migration.version > found:
            _apply(connection, migration, dimension)
    if found < newest:
        connection.execute("CHECKPOINT")


def version_of(connection: duckdb.DuckDBPyConnection) -> int:
    """Returns the record's schema version, 0 for an empty file."""
    if not connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'meta'").fetchall():
        return 0
    rows = connection.execute("SELECT schema_version FROM meta").fetchall()
    return int(rows[0][0]) if rows else 0


def _apply(connection: duckdb.DuckDBPyConnection, migration: Migration, dimension: int) -> None:
    connection.begin()
    try:
        for statement in migration.statements:
            connection.execute(statement.replace("{dimension}", str(int(dimension))))
        if migration.version == 1:
            connection.execute("INSERT INTO meta VALUES (1, uuid()::VARCHAR, ?, '', now())", [dimension])
        connection.execute("UPDATE meta SET schema_version = ?", [migration.version])
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
