from collections.abc import Iterator

import duckdb
import pytest

from knowledge_svc.storage.schema import MIGRATIONS, Migration, RecordTooNew, migrate, version_of

SECOND = Migration(2, ("ALTER TABLE sections ADD COLUMN note VARCHAR", "UPDATE sections SET note = 'old'"))


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def columns(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    query = "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ?"
    return dict(connection.execute(query, [table]).fetchall())


def test_an_empty_file_has_no_version(connection: duckdb.DuckDBPyConnection) -> None:
    assert version_of(connection) == 0


def test_an_empty_file_is_brought_to_the_newest_version(connection: duckdb.DuckDBPyConnection) -> None:
    migrate(connection, 5)
    assert version_of(connection) == MIGRATIONS[-1].version
    assert columns(connection, "chunks")["vector"] == "FLOAT[5]"


def test_a_newest_record_is_left_as_it_is(connection: duckdb.DuckDBPyConnection) -> None:
    migrate(connection, 5)
    before = connection.execute("SELECT * FROM meta").fetchall()
    migrate(connection, 7)
    assert connection.execute("SELECT * FROM meta").fetchall() == before


def test_an_older_record_gets_what_it_lacks_and_keeps_what_it_has(connection: duckdb.DuckDBPyConnection) -> None:
    migrate(connection, 5)
    connection.execute("INSERT INTO sections VALUES (1, 0, [], [], 3, false)")
    migrate(connection, 5, migrations=(*MIGRATIONS, SECOND))
    assert version_of(connection) == 2
    assert connection.execute("SELECT characters, note FROM sections").fetchall() == [(3, "old")]


def test_a_migration_that_fails_leaves_the_version_before(connection: duckdb.DuckDBPyConnection) -> None:
    migrate(connection, 5)
    broken = Migration(2, (SECOND.statements[0], "SELECT no_such_column FROM sections"))
    with pytest.raises(duckdb.BinderException):
        migrate(connection, 5, migrations=(*MIGRATIONS, broken))
    assert version_of(connection) == 1
    assert "note" not in columns(connection, "sections")


def test_a_newer_record_is_refused_untouched(connection: duckdb.DuckDBPyConnection) -> None:
    migrate(connection, 5, migrations=(*MIGRATIONS, SECOND))
    with pytest.raises(RecordTooNew) as refusal:
        migrate(connection, 5)
    assert refusal.value.metadata == {"found": "2", "newest": "1"}
    assert version_of(connection) == 2
