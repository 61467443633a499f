"""The exact names that SQL statements define and read, folded as their dialect does, and what is said where some are lost."""

from __future__ import annotations

import logging
import time

import pytest

from artifact.model import Artifact
from extractor_svc.context import Options
from extractor_svc.extract import extract
from extractor_svc.formats.sql_dialects import rules_of
from extractor_svc.formats.sql_finder import NameFinder


def read(content: str, dialect: str = "ansi") -> Artifact:
    return extract(content.encode(), filename="script.sql", options=Options(sql_dialect=dialect))


def keys(statement: str, dialect: str = "ansi") -> tuple[set[str], set[str]]:
    """The names that a single statement, known in full, defines and reads."""
    artifact = read(statement, dialect)
    assert artifact.coverage.lost == (), [warning.message for warning in artifact.warnings]
    (block,) = artifact.blocks
    return set(block.defines), set(block.reads)


def words(text: str) -> set[str]:
    return set(text.split())


class TestDefined:
    def test_l_keys_01_a_table_with_its_columns(self) -> None:
        defined, read_ = keys("CREATE TABLE shop.orders (id INT PRIMARY KEY, total NUMERIC(10, 2) /* sum */)")
        assert defined == words("shop.orders orders shop.orders.id orders.id id shop.orders.total orders.total total")
        assert read_ == set()

    def test_what_a_table_refers_to_is_read(self) -> None:
        defined, read_ = keys("CREATE TABLE a (x INT REFERENCES b (y), z INT, FOREIGN KEY (z) REFERENCES c (w))")
        assert (defined, read_) == (words("a a.x x a.z z"), words("b b.y y c c.w w"))

    @pytest.mark.parametrize(
        ("statement", "defined", "used"),
        [
            ("CREATE VIEW v AS SELECT a, t.b AS c, 1 FROM t", "v v.a a v.c c", "t t.a t.b b"),
            ("CREATE VIEW v (one, two) AS SELECT a, b FROM t", "v v.one one v.two two", "t t.a a t.b b"),
            ("CREATE TABLE c AS SELECT x, y AS z FROM t", "c c.x x c.z z", "t t.x t.y y"),
            ("CREATE UNIQUE INDEX i ON t (a, lower(b)) WHERE d IS NULL", "i", "t t.a a t.b b t.d d"),
            ("CREATE SEQUENCE s.q START WITH 1", "s.q q", ""),
            ("CREATE SCHEMA s", "s", ""),
            ("ALTER TABLE t ADD COLUMN c INT", "t.c c", "t"),
            ("ALTER TABLE t RENAME TO u", "u", "t"),
            ("ALTER TABLE t RENAME COLUMN a TO b", "t.b b", "t t.a a"),
            ("ALTER TABLE t DROP COLUMN a", "", "t t.a a"),
            ("ALTER TABLE t ADD CONSTRAINT k FOREIGN KEY (a) REFERENCES u (b)", "", "t t.a a u u.b b"),
            ("ALTER TABLE t ADD CONSTRAINT k UNIQUE (a, b)", "", "t t.a a t.b b"),
        ],
    )
    def test_other_objects_and_changes(self, statement: str, defined: str, used: str) -> None:
        assert keys(statement) == (words(defined), words(used))

    @pytest.mark.parametrize(
        ("statement", "dialect", "defined", "used"),
        [
            ("CREATE TRIGGER g BEFORE UPDATE ON s.t FOR EACH ROW EXECUTE FUNCTION s.f()", "postgres", "g", "s.t t s.f f"),
            ("CREATE EXTENSION IF NOT EXISTS pgcrypto WITH SCHEMA public", "postgres", "pgcrypto", ""),
            ("CREATE TYPE s.mood AS ENUM ('a', 'b')", "postgres", "s.mood mood", ""),
            ("RENAME TABLE a TO z", "mysql", "z", "a"),
            ("CREATE TABLE `b` (`id` int, KEY `k` (`id`)) ENGINE=InnoDB", "mysql", "b b.id id", ""),
            ("/*!50001 CREATE VIEW `v` AS select `a`.`x` AS `y` from `a` */", "mysql", "v v.y y", "a a.x x"),
            ("CREATE TABLE [dbo].[My t] ([a b] [int] NOT NULL) ON [PRIMARY]", "tsql", "", ""),
            ("CREATE VIRTUAL TABLE f USING fts5(title, body)", "sqlite", "f", ""),
        ],
    )
    def test_objects_of_one_dialect(self, statement: str, dialect: str, defined: str, used: str) -> None:
        expected = words(defined) or {"dbo.My t", "My t", "dbo.My t.a b", "My t.a b", "a b"}
        assert keys(statement, dialect) == (expected, words(used))


class TestRead:
    @pytest.mark.parametrize(
        ("statement", "used"),
        [
            ("SELECT o.id FROM orders o WHERE total > 1", "orders orders.id id orders.total total"),
            ("SELECT a.x, y FROM a JOIN b ON a.i = b.i", "a b a.x x y a.i i b.i"),
            ("SELECT x FROM t, f(1) AS g", "t x"),
            ("SELECT count(*) AS n FROM t GROUP BY k ORDER BY n", "t t.k k"),
            ("SELECT sum(q) OVER (ORDER BY s) AS s FROM t", "t t.q q t.s s"),
            (
                "WITH r AS (SELECT id FROM base) SELECT r.id, o.n FROM r JOIN other o ON o.id = r.id",
                "base other base.id id other.n n other.id",
            ),
            ("SELECT (SELECT max(m) FROM inner_t) FROM outer_t", "inner_t outer_t m"),
            ("SELECT d.x FROM (SELECT x FROM t) d", "t t.x x"),
            ("SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k)", "a b b.k k a.k"),
            ("SELECT a FROM t UNION SELECT b FROM u", "t u t.a a u.b b"),
            ("INSERT INTO s.t (a, b) VALUES (1, 2)", "s.t t s.t.a t.a a s.t.b t.b b"),
            ("INSERT INTO t (a) SELECT b FROM u", "t u t.a a u.b b"),
            ("UPDATE t SET a = u.b FROM u WHERE t.c = u.c", "t u t.a a u.b b t.c c u.c"),
            ("DELETE FROM t WHERE a = 1", "t t.a a"),
            ("MERGE INTO t USING u ON t.i = u.i WHEN MATCHED THEN UPDATE SET t.v = u.v", "t u t.i i u.i t.v v u.v"),
            ("DROP TABLE s.t", "s.t t"),
            ("TRUNCATE TABLE t", "t"),
            ("GRANT SELECT ON t TO someone", "t"),
            ("SELECT 1", ""),
            ("SET x = 1", ""),
        ],
    )
    def test_l_keys_01_tables_and_columns_of_statements(self, statement: str, used: str) -> None:
        assert keys(statement) == (set(), words(used))

    def test_a_column_of_an_unknown_table_goes_without_one(self) -> None:
        assert keys("SELECT x FROM a, b") == (set(), words("a b x"))

    def test_strings_and_comments_name_nothing(self) -> None:
        assert keys("SELECT 'from x' /* from y */ -- from z\nFROM t") == (set(), {"t"})


class TestFolding:
    @pytest.mark.parametrize(
        ("dialect", "names"),
        [
            ("postgres", {"orders", "orders.id", "id", "orders.Total", "Total"}),
            ("oracle", {"ORDERS", "ORDERS.ID", "ID", "ORDERS.Total", "Total"}),
            ("snowflake", {"ORDERS", "ORDERS.ID", "ID", "ORDERS.Total", "Total"}),
            ("sqlite", {"Orders", "Orders.Id", "Id", "Orders.Total", "Total"}),
            ("ansi", {"Orders", "Orders.Id", "Id", "Orders.Total", "Total"}),
        ],
    )
    def test_names_are_folded_as_the_dialect_does_and_quoted_ones_stay(self, dialect: str, names: set[str]) -> None:
        assert keys('SELECT Id, "Total" FROM Orders', dialect) == (set(), names)
        assert keys('INSERT INTO Orders (Id, "Total") VALUES (1, 2)', dialect) == (set(), names)
        assert keys('CREATE TABLE Orders (Id INT, "Total" INT)', dialect) == (names, set())

    def test_quotes_of_all_kinds_are_no_part_of_a_name(self) -> None:
        assert keys("SELECT `a b` FROM `t`", "mysql") == (set(), {"t", "t.a b", "a b"})
        assert keys("SELECT `a` FROM `t u`") == (set(), {"t u", "t u.a", "a"})
        assert keys("SELECT [a]]b] FROM [t]", "tsql") == (set(), {"t", "t.a]b", "a]b"})

    def test_a_dot_inside_a_name_is_told_from_one_between_names(self) -> None:
        assert keys('SELECT 1 FROM "a.b".c') == (set(), {'"a.b".c', "c"})


PLPGSQL = """CREATE FUNCTION s.f(p_id int, OUT res text) RETURNS text AS $$
DECLARE v_n int; r record;
BEGIN
  SELECT name, n INTO STRICT res, v_n FROM s.users u WHERE u.id = p_id;
  IF EXISTS (SELECT 1 FROM banned WHERE uid = p_id) THEN
    UPDATE s.users SET hits = hits + 1 WHERE id = p_id;
  ELSE
    INSERT INTO log (a, b) VALUES (p_id, v_n) ON CONFLICT (a) DO UPDATE SET b = excluded.b;
  END IF;
  FOR r IN SELECT x FROM y LOOP DELETE FROM z WHERE k = r.x; END LOOP;
END $$ LANGUAGE plpgsql;"""


class TestBodies:
    def test_tables_and_columns_in_a_quoted_body_are_read_and_variables_are_none(self) -> None:
        defined, used = keys(PLPGSQL, "postgres")
        users = "s.users users s.users.name users.name name s.users.n users.n n s.users.id users.id id s.users.hits users.hits hits"
        assert defined == {"s.f", "f"}
        assert used == words(f"{users} banned banned.uid uid log log.a a log.b b y y.x x z z.k k")

    @pytest.mark.parametrize(
        ("statement", "dialect", "defined", "used"),
        [
            (
                "create trigger g after update of x on a begin update b set z = new.x where id = old.y; end;",
                "sqlite",
                "g",
                "a b b.z z x b.id id y",
            ),
            (
                "CREATE DEFINER=`r`@`%` PROCEDURE p(IN a INT) BEGIN DECLARE c CURSOR FOR SELECT id FROM t1; "
                "IF a > 0 THEN UPDATE t2 SET d = CASE WHEN e THEN 1 ELSE 2 END WHERE f = a; END IF; END;",
                "mysql",
                "p",
                "t1 t1.id id t2 t2.d d t2.e e t2.f f",
            ),
            (
                "create procedure k.p(n number) is v number; begin select max(x) into v from tab where y = n; end;",
                "oracle",
                "K.P P",
                "TAB TAB.X X TAB.Y Y",
            ),
            ("declare @x int = 1\nif @x > 0\nbegin\n  update a set b = 1 where i = @x\nend", "tsql", "", "a a.b b a.i i"),
            (
                "create proc dbo.p @i int as select top 1 c from dbo.t where d = @i",
                "tsql",
                "dbo.p p",
                "dbo.t t dbo.t.c t.c c dbo.t.d t.d d",
            ),
            ("do $$ begin delete from t where a = 1; end $$", "postgres", "", "t t.a a"),
            ("create function j() returns text language plv8 as $$ select from nothing; $$", "postgres", "j", ""),
        ],
    )
    def test_bodies_of_dialects(self, statement: str, dialect: str, defined: str, used: str) -> None:
        assert keys(statement, dialect) == (words(defined), words(used))


class TestNotKnown:
    def test_names_are_found_by_the_words_around_them_and_the_ledger_says_that_some_are_lost(self) -> None:
        artifact = read("select a from t join u where where;\n")
        assert set(artifact.blocks[0].reads) == {"t", "u"}
        assert artifact.coverage.lost == ("sql_structure", "exact_keys")
        assert "words around them" in artifact.warnings[0].message

    def test_a_body_with_a_statement_that_is_not_known_is_told(self) -> None:
        artifact = read(
            "create function f() returns int as $$ begin select x from t where where; end $$ language plpgsql;", "postgres"
        )
        assert artifact.blocks[0].defines == ("f",)
        assert artifact.coverage.lost == ("sql_structure", "exact_keys")

    @pytest.mark.parametrize("statement", ["ALTER TABLE t OWNER TO someone", "VACUUM ANALYZE t", "REVOKE ALL ON t FROM PUBLIC"])
    def test_nothing_is_lost_where_no_column_can_stand(self, statement: str) -> None:
        assert read(statement, "postgres").coverage.lost == ()

    def test_no_text_of_a_statement_reaches_the_log(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.DEBUG):
            read("ALTER secret SOMETHING ODD; EXPLODE secret;")
        assert "secret" not in caplog.text


class TestBounds:
    @pytest.mark.parametrize(
        "code",
        [
            "select " + "(" * 5_000 + "1" + ")" * 5_000,
            "select " + "(select " * 3_000 + "1" + ")" * 3_000,
            "select " + "not " * 10_000 + "1",
            "select " + "- " * 10_000 + "1",
            "select " + "case when a then " * 2_000 + "1" + " end" * 2_000,
            "create table t (a " + "array<" * 2_000 + "int" + ">" * 2_000 + ")",
            "select " + "cast(" * 140 + "1" + " as int)" * 140,
            "select 1 where " + "a and " * 8_000 + "1",
            "select " + "a + " * 10_000 + "1",
            "select 1 from t where x in (" + "1, " * 15_000 + "1)",
            "select $a" + "$ $a".join(map(str, range(8_000))) + "$",
            "create function f() returns int as " + " ".join(f"$a{n}$" for n in range(8_000)),
            "begin " * 5_000 + "select 1;",
            "select x" + "[a]" * 10_000,
            "select " + "x[a[b]][a[b]]" * 3_000,
            "/*!" * 15_000,
            "insert into t " + "[a" * 20_000,
            "insert into t values " + "('a " * 10_000,
            "select " + ", ".join(f"c{n}" for n in range(6_000)) + " from t",
        ],
    )
    def test_depth_and_length_end_in_time_and_in_a_block(self, code: str) -> None:
        begun = time.process_time()
        artifact = read(code, "postgres")
        assert time.process_time() - begun < 10
        assert sum(len(block.text) for block in artifact.blocks) >= len(code) - 10

    @pytest.mark.parametrize("dialect", ["tsql", "sqlite", "mysql", "oracle"])
    def test_quotes_that_nothing_closes_take_no_time_in_any_dialect(self, dialect: str) -> None:
        begun = time.process_time()
        for opened in ("[a", "`a ' ", "q'[ ", "/*! ", "$a$ $b$ "):
            read(opened * 10_000, dialect)
        assert time.process_time() - begun < 10

    def test_a_block_carries_so_many_names_and_the_ledger_says_that_more_were_left_out(self) -> None:
        columns = ", ".join(f"c{n} INT" for n in range(4_000))
        artifact = read(f"CREATE TABLE a.b ({columns})")
        assert len(artifact.blocks[0].defines) == 10_000
        assert artifact.coverage.lost == ("sql_structure", "exact_keys")

    def test_a_name_of_no_sensible_length_is_no_key(self) -> None:
        artifact = read(f'SELECT 1 FROM "{"x" * 2_000}", t')
        assert artifact.blocks[0].reads == ("t",)
        assert artifact.coverage.lost == ("sql_structure", "exact_keys")

    def test_parsing_ends_when_its_time_is_used_up(self) -> None:
        ticks = iter(range(0, 1_000_000, 25))
        finder = NameFinder("", rules_of("", ""), guessed=False, clock=lambda: float(next(ticks)))
        found = [finder.find("SELECT a FROM t") for _ in range(4)]
        assert [one.complete for one in found] == [True, True, True, False]
        assert [set(one.names.reads) for one in found] == [{"t", "t.a", "a"}] * 3 + [{"t"}]

    def test_a_query_in_a_string_does_not_make_an_insert_of_rows_hard(self) -> None:
        rows = ", ".join(f"({n}, 'see (select 1)')" for n in range(5_000))
        artifact = read(f"INSERT INTO t (a, b) VALUES {rows}")
        assert (artifact.coverage.lost, set(artifact.blocks[0].reads)) == ((), words("t t.a a t.b b"))

    def test_a_dump_ten_times_as_long_takes_ten_times_as_long(self) -> None:
        def seconds(rows: int) -> float:
            script = "".join(f"INSERT INTO t (a, b) VALUES ({n}, 'x; y');\n" for n in range(rows))
            begun = time.process_time()
            read(script)
            return time.process_time() - begun

        seconds(100)
        assert seconds(10_000) < 25 * max(seconds(1_000), 0.02)
