"""SQL scripts: statements, comments and data rows as they are written, each at its place, whatever the dialect."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artifact.locators import CharSpan, LineSpan, Locator, SheetPlace
from artifact.model import Artifact
from extractor_svc.context import Options
from extractor_svc.errors import BadEncoding, InvalidOption, LocatorNotFound, NoText, OutputLimit
from extractor_svc.extract import extract, resolve
from extractor_svc.limits import Limits

CORPUS = Path(__file__).resolve().parents[3] / ".." / "shared" / "corpus" / "sql"
FILES = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*.sql"))


def read(content: str | bytes, dialect: str = "") -> Artifact:
    data = content.encode() if isinstance(content, str) else content
    return extract(data, filename="script.sql", options=Options(sql_dialect=dialect))


def shown(content: str, dialect: str = "") -> list[str]:
    """Each block's text."""
    return [block.text for block in read(content, dialect).blocks]


def typed(content: str, dialect: str = "") -> list[tuple[str, str]]:
    """Each block's type and text."""
    return [(block.type.value, block.text) for block in read(content, dialect).blocks]


def placed(content: str, dialect: str = "") -> list[tuple[str, Locator]]:
    """Each block's text and place."""
    return [(block.text, block.locator) for block in read(content, dialect).blocks]


def test_row_h31_quotes_of_all_kinds_hold_semicolons() -> None:
    text = "\n".join(
        [
            "create function f() returns text as $body$",
            "  select $q$ a; b; $q$;",
            "$body$ language sql;",
            "insert into t values ('x;y');",
            "select 2;",
        ]
    )
    artifact = read(text)
    assert [block.locator for block in artifact.blocks] == [LineSpan(1, 3), LineSpan(4, 4), LineSpan(5, 5)]
    assert artifact.blocks[0].text == "\n".join(text.split("\n")[:3])
    assert artifact.blocks[0].defines == ("f",)
    assert artifact.blocks[1].reads == ("t",)


class TestQuotes:
    @pytest.mark.parametrize(
        ("statement", "dialect"),
        [
            ("select 'a;b'", ""),
            ("select 'it''s; one'", ""),
            ("select 'back\\';slash'", "mysql"),
            ("select 'c:\\', 1", "postgres"),
            ("select E'it\\'s; one'", "postgres"),
            ('select "a;b"', ""),
            ("select `a;b`", "mysql"),
            ("select [a;b] from [c;]]d]", "tsql"),
            ("select $$ a; b $$", "postgres"),
            ("select $x$ a; $$ b; $$ $x$", "postgres"),
            ("select q'[it's; one]' from dual", "oracle"),
            ("select q'!it's; one!' from dual", "oracle"),
            ('select """a;\n"b"; c"""', "bigquery"),
            ("select 1 /* a; b */ + 2", ""),
            ("select 1 /* a; /* b; */ c; */ + 2", "postgres"),
            ("select 1 -- a; b\n + 2", ""),
            ("select 1 # a; b\n + 2", "mysql"),
            ("select 5 --2;", "mysql"),
            ("select 1 // a; b\n + 2", "snowflake"),
        ],
    )
    def test_a_semicolon_inside_ends_nothing(self, statement: str, dialect: str) -> None:
        text = statement if statement.endswith(";") else f"{statement};"
        assert shown(f"{text}\nselect 99;", dialect) == [text, "select 99;"]

    @pytest.mark.parametrize("opened", ["'", '"', "`", "/*", "$$ x"])
    def test_what_is_never_closed_is_told_and_kept(self, opened: str) -> None:
        artifact = read(f"select 1;\nselect {opened} a; b\n;select 2;\n", "")
        words = re.findall(r"\w+", "\n".join(block.text for block in artifact.blocks))
        assert words == re.findall(r"\w+", f"select 1 select {opened} a b select 2")
        assert artifact.blocks[0].text == "select 1;"
        if not opened.startswith("$"):
            assert "SQL_UNCLOSED" in {warning.code for warning in artifact.warnings}


class TestBodies:
    @pytest.mark.parametrize(
        ("statement", "dialect"),
        [
            ("create trigger a after insert on t begin select 1; update t set x = case when y then 1 end; end;", "sqlite"),
            ("create procedure p() begin if 1 then select 1; else select 2; end if; select 3; end;", "mysql"),
            (
                "create function f() returns int begin declare i int; while i < 3 do set i = i + 1; end while; return i; end;",
                "mysql",
            ),
            ("begin insert into t values (1); select 2; end;", ""),
            ("do $$ begin perform 1; end; $$;", "postgres"),
            ("create function f() returns int language sql begin atomic select 1; select 2; end;", "postgres"),
        ],
    )
    def test_a_body_is_part_of_its_statement(self, statement: str, dialect: str) -> None:
        assert shown(f"select 0;\n{statement}\nselect 99;", dialect) == ["select 0;", statement, "select 99;"]

    def test_begin_alone_starts_a_transaction(self) -> None:
        assert shown("begin;\nupdate t set x = 1;\ncommit;") == ["begin;", "update t set x = 1;", "commit;"]
        assert shown("begin transaction;\nselect 1;\nend;", "sqlite") == ["begin transaction;", "select 1;", "end;"]

    def test_a_slash_on_its_line_ends_a_block_of_oracle(self) -> None:
        body = "create or replace package body k is\n  procedure a is begin null; end;\nend;"
        artifact = read(f"{body}\n/\nselect 1 from dual;\n", "oracle")
        assert [block.text for block in artifact.blocks] == [f"{body}\n/", "select 1 from dual;"]

    def test_the_delimiter_of_a_client_ends_statements_from_then_on(self) -> None:
        text = "DELIMITER //\ncreate procedure p()\nbegin\n  select 1; select 2;\nend //\nDELIMITER ;\nselect 3;\n"
        artifact = read(text)
        assert [(block.text, block.locator) for block in artifact.blocks] == [
            ("DELIMITER //", LineSpan(1, 1)),
            ("create procedure p()\nbegin\n  select 1; select 2;\nend //", LineSpan(2, 5)),
            ("DELIMITER ;", LineSpan(6, 6)),
            ("select 3;", LineSpan(7, 7)),
        ]
        assert artifact.properties == {"sql_dialect": "mysql"}

    def test_go_ends_a_batch_and_not_a_string(self) -> None:
        text = "create proc p as\nbegin\n  select 1;\n  select 2;\nend\nGO\ninsert t values ('\nGO\n')\ngo 5\nselect 3\n"
        assert placed(text, "tsql") == [
            ("create proc p as\nbegin\n  select 1;\n  select 2;\nend\nGO", LineSpan(1, 6)),
            ("insert t values ('\nGO\n')\ngo 5", LineSpan(7, 10)),
            ("select 3", LineSpan(11, 11)),
        ]

    def test_inserts_of_a_batch_need_no_semicolon(self) -> None:
        text = "insert [dbo].[a] ([x]) values (1)\ninsert [dbo].[a] ([x]) values (2)\nGO\n"
        assert placed(text) == [
            ("insert [dbo].[a] ([x]) values (1)", LineSpan(1, 1)),
            ("insert [dbo].[a] ([x]) values (2)\nGO", LineSpan(2, 3)),
        ]


class TestBlocks:
    def test_copied_rows_are_data_behind_their_statement(self) -> None:
        text = "COPY public.t (a, b) FROM stdin;\n1\tx;y\n2\t'z\n\\.\n\nselect 1;\n"
        artifact = read(text)
        assert [(block.type.value, block.text, block.locator) for block in artifact.blocks] == [
            ("sql_statement", "COPY public.t (a, b) FROM stdin;", LineSpan(1, 1)),
            ("table_rows", "1\tx;y\n2\t'z\n\\.", LineSpan(2, 4)),
            ("sql_statement", "select 1;", LineSpan(6, 6)),
        ]
        assert "public.t.a" in artifact.blocks[1].reads
        assert artifact.datasets == ()

    def test_rows_of_very_many_columns_carry_the_names_of_the_table_and_the_first_columns(self) -> None:
        columns = ", ".join(f"c{n}" for n in range(500))
        artifact = read(f"COPY s.t ({columns}) FROM stdin;\n1\t2\n\\.\n")
        assert len(artifact.blocks[0].reads) == 2 + 3 * 500
        assert artifact.blocks[1].reads[:3] == ("s.t", "t", "s.t.c0")
        assert len(artifact.blocks[1].reads) == 64

    def test_comments_with_lines_of_their_own_are_blocks_and_others_stay(self) -> None:
        text = "-- head\n-- more\n\n/* about */ select 1; -- one\nselect /* in */ 2\n;\n-- tail"
        assert typed(text) == [
            ("comment", "-- head\n-- more"),
            ("sql_statement", "/* about */ select 1; -- one"),
            ("sql_statement", "select /* in */ 2\n;"),
            ("comment", "-- tail"),
        ]

    def test_commands_of_clients_are_code(self) -> None:
        assert typed("\\connect shop\nselect 1;\n\\echo done\n", "postgres") == [
            ("code", "\\connect shop"),
            ("sql_statement", "select 1;"),
            ("code", "\\echo done"),
        ]

    def test_statements_on_one_line_stand_at_characters(self) -> None:
        assert placed("select 1; select 2;\nselect\n3;") == [
            ("select 1;", CharSpan(0, 9)),
            ("select 2;", CharSpan(10, 19)),
            ("select\n3;", LineSpan(2, 3)),
        ]

    def test_separators_without_a_statement_are_commands(self) -> None:
        assert typed("-- a\nGO\nselect 1\nGO\n", "tsql") == [
            ("comment", "-- a"),
            ("code", "GO"),
            ("sql_statement", "select 1\nGO"),
        ]

    def test_what_the_parser_does_not_know_is_a_block_and_the_ledger_says_so(self) -> None:
        artifact = read("FOO BAR baz qux;\nselect 1;\n")
        assert [block.text for block in artifact.blocks] == ["FOO BAR baz qux;", "select 1;"]
        assert artifact.coverage.lost == ("sql_structure", "exact_keys")
        assert not artifact.coverage.complete
        assert [(warning.code, warning.locator) for warning in artifact.warnings] == [("SQL_NOT_PARSED", LineSpan(1, 1))]

    def test_a_long_insert_comes_in_parts_that_name_its_table(self) -> None:
        rows = ",\n".join(f"  ({n}, 'name {n}; and more')" for n in range(20_000))
        artifact = read(f"INSERT INTO shop.item (id, name) VALUES\n{rows};\n")
        assert len(artifact.blocks) > 1
        assert all(len(block.text) <= 100_000 for block in artifact.blocks)
        assert {block.reads for block in artifact.blocks} == {
            ("shop.item", "item", "shop.item.id", "item.id", "id", "shop.item.name", "item.name", "name")
        }
        lines = [block.locator for block in artifact.blocks if isinstance(block.locator, LineSpan)]
        assert [(lines[0].first, lines[-1].last), len(lines)] == [(1, 20_001), len(artifact.blocks)]


class TestDialects:
    @pytest.mark.parametrize(
        ("text", "dialect"),
        [
            ("create table t (id int auto_increment) engine=InnoDB;", "mysql"),
            ("create table t (id serial); select a::text from t;", "postgres"),
            ("select 1\nGO\n", "tsql"),
            ("create table t (id integer primary key autoincrement);", "sqlite"),
            ("create table t (a varchar2(10));\n/\n", "oracle"),
            ("create table t (a Int32) engine = MergeTree order by a;", "clickhouse"),
        ],
    )
    def test_signs_of_a_dialect_tell_it(self, text: str, dialect: str) -> None:
        assert read(text).properties == {"sql_dialect": dialect}

    def test_few_signs_tell_none(self) -> None:
        assert read("select a from b;").properties == {}

    @pytest.mark.parametrize(
        ("option", "dialect"), [("postgres", "postgres"), ("PostgreSQL", "postgres"), ("mariadb", "mysql"), ("mssql", "tsql")]
    )
    def test_the_option_wins(self, option: str, dialect: str) -> None:
        assert read("select 1\nGO\n", option).properties == {"sql_dialect": dialect}

    def test_the_neutral_dialect_can_be_asked_for(self) -> None:
        assert read("create table t (id int) engine=InnoDB;", "ansi").properties == {}

    def test_an_unknown_dialect_is_refused_with_the_known_ones(self) -> None:
        with pytest.raises(InvalidOption, match="postgres"):
            read("select 1;", "dbase")


class TestRefusals:
    @pytest.mark.parametrize("content", [b" \n", b"\xef\xbb\xbf", b";\n/\n"])
    def test_a_script_without_text_is_refused(self, content: bytes) -> None:
        with pytest.raises(NoText):
            read(content)

    def test_row_l_fmt_10_bytes_that_are_not_valid_in_the_encoding_are_refused(self) -> None:
        with pytest.raises(BadEncoding):
            extract(b"select 'caf\xe9';", filename="a.sql", options=Options(encoding="utf-8"))
        named = extract(b"select 'caf\xe9';", filename="a.sql", options=Options(encoding="latin-1"))
        assert [block.text for block in named.blocks] == ["select 'café';"]

    def test_too_many_blocks_are_refused(self) -> None:
        with pytest.raises(OutputLimit):
            extract(b"select 1;\n" * 11, filename="a.sql", limits=Limits(max_blocks=10))


class TestPlaces:
    @pytest.mark.parametrize("place", [LineSpan(0, 1), LineSpan(2, 3), CharSpan(0, 99), SheetPlace("S", 1, 1, 1, 1)])
    def test_a_place_that_is_not_there_is_refused(self, place: Locator) -> None:
        with pytest.raises(LocatorNotFound):
            resolve(b"select 1;\nselect 2;\n", place, filename="a.sql")

    @settings(max_examples=300, deadline=None)
    @given(
        st.lists(
            st.sampled_from(
                [
                    *("select 1", ";", "\n", " ", "'", '"', "`", "$$", "$a$", "--", "/*", "*/", "#", "[", "]", "(", ")", "begin"),
                    *(" end", "case ", "GO", "/", "\\", "DELIMITER //", "//", "COPY t FROM stdin;", "\\.", "é"),
                    "create procedure p as ",
                ]
            ),
            max_size=40,
        ).map("".join),
        st.sampled_from(["", "mysql", "postgres", "tsql", "oracle", "sqlite", "bigquery", "snowflake"]),
    )
    def test_every_word_is_in_one_block_and_every_place_reads_back(self, text: str, dialect: str) -> None:
        data = text.encode()
        options = Options(sql_dialect=dialect)
        try:
            artifact = extract(data, filename="a.sql", options=options) if data else None
        except NoText:
            return
        if artifact is None:
            return
        told = Counter(re.findall(r"\w+", "\n".join(block.text for block in artifact.blocks)))
        assert told.total() == artifact.coverage.words_emitted
        assert told == Counter(re.findall(r"\w+", text))
        for block in artifact.blocks:
            assert resolve(data, block.locator, filename="a.sql", options=options).split() == block.text.split()


@pytest.mark.skipif(not FILES, reason="the shared corpus is absent")
class TestCorpus:
    @pytest.mark.parametrize("name", FILES)
    def test_every_word_once_and_every_place_reads_back(self, name: str) -> None:
        data = (CORPUS / name).read_bytes()
        artifact = extract(data, filename=name)
        told = Counter(" ".join(block.text for block in artifact.blocks).split())
        assert told == Counter(data.decode("utf-8-sig").split())
        for block in artifact.blocks[:: max(1, len(artifact.blocks) // 60)]:
            assert resolve(data, block.locator, filename=name).split() == block.text.split()

    @pytest.mark.parametrize(("name", "dialect"), [("MySql", "mysql"), ("PostgreSql", "postgres"), ("Sqlite", "sqlite")])
    def test_a_dump_keeps_its_tables_and_rows(self, name: str, dialect: str) -> None:
        begun = time.process_time()
        artifact = read((CORPUS / "chinook" / f"Chinook_{name}.sql").read_bytes())
        assert time.process_time() - begun < 10
        assert (artifact.properties, artifact.coverage.lost) == ({"sql_dialect": dialect}, ())
        rows: Counter[str] = Counter()
        tables: set[str] = set()
        for block in artifact.blocks:
            if re.match(r"\s*CREATE TABLE", block.text):
                tables.add(block.defines[0].replace("_", "").lower())
            elif block.reads and not re.match(r"\s*(?:ALTER|CREATE|DROP|USE)", block.text):
                rows[block.reads[0].replace("_", "").lower()] += len(re.findall(r"^\s+\(", block.text, re.MULTILINE))
        assert rows == {
            "album": 347,
            "artist": 275,
            "customer": 59,
            "employee": 8,
            "genre": 25,
            "invoice": 412,
            "invoiceline": 2240,
            "mediatype": 5,
            "playlist": 18,
            "playlisttrack": 8715,
            "track": 3503,
        }
        assert tables == set(rows)
