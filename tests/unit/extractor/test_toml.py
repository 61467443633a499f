"""TOML: headers, keys and comments as they are written, every key under its full path."""

from __future__ import annotations

import datetime as dt
import json
import re
import time
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artifact.locators import LineSpan, TomlPlace
from artifact.model import Artifact, BlockType
from extractor_svc.context import Options
from extractor_svc.errors import BadEncoding, LocatorNotFound, Malformed, NoText, OutputLimit
from extractor_svc.extract import extract, resolve
from extractor_svc.limits import Limits

CORPUS = Path(__file__).resolve().parents[3] / ".." / "shared" / "corpus" / "toml"
VALID = sorted(path.name for path in (CORPUS / "valid").glob("*.toml"))
INVALID = sorted(path.name for path in (CORPUS / "invalid").glob("*.toml"))
NOT_UTF_8 = {"encoding-bad-utf8-in-comment.toml", "encoding-utf16-bom.toml"}


def read(content: str | bytes) -> Artifact:
    return extract(content.encode() if isinstance(content, str) else content, filename="settings.toml")


def shown(content: str) -> list[tuple[str, str, str, int, int]]:
    """Each block's type, text, key path and lines."""
    return [
        (block.type.value, block.text, block.locator.key_path, block.locator.first_line, block.locator.last_line)
        for block in read(content).blocks
    ]


def defined(content: str) -> list[tuple[str, ...]]:
    return [block.defines for block in read(content).blocks if block.defines]


def values(artifact: Artifact) -> dict[str, object]:
    """What the blocks say when they are read as a document."""
    return tomllib.loads("\n".join(block.text for block in artifact.blocks))


def tagged(value: object) -> object:
    """A value in the tagged form of the corpus: scalars with their type and canonical text."""
    match value:
        case dict():
            return {key: tagged(inner) for key, inner in value.items()}
        case list():
            return [tagged(inner) for inner in value]
        case bool():
            return {"type": "bool", "value": str(value).lower()}
        case int():
            return {"type": "integer", "value": str(value)}
        case float():
            return {"type": "float", "value": value}
        case str():
            return {"type": "string", "value": value}
        case dt.datetime():
            return {"type": "datetime" if value.tzinfo else "datetime-local", "value": value}
        case dt.date():
            return {"type": "date-local", "value": value}
        case dt.time():
            return {"type": "time-local", "value": value}
    raise TypeError(type(value))


def untexted(expected: object) -> object:
    """The corpus's tagged values with numbers and times read from their texts."""
    match expected:
        case {"type": "float", "value": str(text)}:
            return {"type": "float", "value": float(text)}
        case {"type": "datetime" | "datetime-local" as kind, "value": str(text)}:
            return {"type": kind, "value": dt.datetime.fromisoformat(text)}
        case {"type": "date-local", "value": str(text)}:
            return {"type": "date-local", "value": dt.date.fromisoformat(text)}
        case {"type": "time-local", "value": str(text)}:
            return {"type": "time-local", "value": dt.time.fromisoformat(text)}
        case dict():
            return {key: untexted(inner) for key, inner in expected.items()}
        case list():
            return [untexted(inner) for inner in expected]
    return expected


def written(value: object) -> str:
    """Values as text that is equal where they are, `nan` too."""
    return json.dumps(value, sort_keys=True, default=repr)


def test_row_h32_values_come_as_they_are_written_under_their_key_paths() -> None:
    text = "\n".join(
        [
            "big = 9223372036854775807",
            "3.14 = 'pi'",
            'long = """',
            "a \\",
            '   b"""',
            "at = 2031-05-27T07:32:00Z",
            "hex = 0xff",
        ]
    )
    artifact = read(text)
    assert [block.defines for block in artifact.blocks] == [("big",), ("3.14",), ("long",), ("at",), ("hex",)]
    assert artifact.blocks[0].text == "big = 9223372036854775807"
    assert artifact.blocks[2].locator == TomlPlace("long", 3, 5)
    assert values(artifact) == {
        "big": 9223372036854775807,
        "3": {"14": "pi"},
        "long": "a b",
        "at": dt.datetime(2031, 5, 27, 7, 32, tzinfo=dt.UTC),
        "hex": 255,
    }


class TestBlocks:
    def test_headers_keys_and_comments_are_blocks_of_whole_lines(self) -> None:
        text = "# Who\ntitle = 'x'  # short\n\n[owner]  # one\n  name = 'Ada'\n\n  # why\n  # so\n  dob.year = 1815\n"
        assert shown(text) == [
            ("comment", "# Who", "", 1, 1),
            ("toml_key", "title = 'x'  # short", "title", 2, 2),
            ("toml_table", "[owner]  # one", "owner", 4, 4),
            ("toml_key", "name = 'Ada'", "owner.name", 5, 5),
            ("comment", "# why\n  # so", "owner", 7, 8),
            ("toml_key", "dob.year = 1815", "owner.dob.year", 9, 9),
        ]

    @pytest.mark.parametrize(
        "value",
        [
            '"a # b [c] = d"',
            "'a # b ] }'",
            '"\\" # not the end"',
            '"""\n# [x]\n"" \\""" y"""',
            '"""a"""""',
            "'''\n[x]\ny = '' 1\n'''''",
            "[\n  1, # ]\n  [2, '],'],\n]",
            "{ a = '}', b = [ { c = \"]\" } ] }",
            '""',
            "''",
            '""""""',
        ],
    )
    def test_a_value_ends_where_it_ends(self, value: str) -> None:
        lines = value.count("\n")
        assert shown(f"k = {value}\nlast = 1\n") == [
            ("toml_key", f"k = {value}", "k", 1, 1 + lines),
            ("toml_key", "last = 1", "last", 2 + lines, 2 + lines),
        ]

    def test_line_ends_of_other_systems_count_the_same(self) -> None:
        assert shown("[a]\r\nx = 1\r\n") == [("toml_table", "[a]", "a", 1, 1), ("toml_key", "x = 1", "a.x", 2, 2)]

    def test_a_very_long_value_comes_in_parts_of_whole_lines(self) -> None:
        artifact = read("k = [\n" + "  1234567,\n" * 30_000 + "]\n")
        assert len(artifact.blocks) > 1
        assert all(len(block.text) <= 100_000 for block in artifact.blocks)
        assert {block.defines for block in artifact.blocks} == {("k",)}
        assert [block.locator.last_line + 1 for block in artifact.blocks[:-1]] == [
            block.locator.first_line for block in artifact.blocks[1:]
        ]


class TestKeyPaths:
    @pytest.mark.parametrize(
        ("text", "paths"),
        [
            ("[a.b]\nc.d = 1", [("a.b",), ("a.b.c.d",)]),
            ("[ a . 'b c' ]\n\"d.e\" = 1", [('a."b c"',), ('a."b c"."d.e"',)]),
            ("'quo\"te' = 1", [('"quo\\"te"',)]),
            ('"\\u00e9" = 1', [('"é"',)]),
            ('"\\u0000\\n" = 1', [('"\\u0000\\u000a"',)]),
            ('"" = 1', [('""',)]),
            ('"bare" = 1', [("bare",)]),
            ("pool-1.max-size = 1", [("pool-1.max-size",)]),
            ("[[a]]\nx = 1\n[[a]]\nx = 2", [("a",), ("a.x",), ("a",), ("a.x",)]),
            ("p = { x = 1, y.z = 2 }", [("p", "p.x", "p.y", "p.y.z")]),
            ("p = [ { x = 1 }, { x = 2, w = [ { v = 1 } ] } ]", [("p", "p.x", "p.w", "p.w.v")]),
            ("s = '{ x = 1 }'", [("s",)]),
        ],
    )
    def test_l_keys_01_each_is_defined_in_full(self, text: str, paths: list[tuple[str, ...]]) -> None:
        assert defined(text) == paths


class TestSections:
    def test_l_keys_09_a_table_with_its_keys_and_comments_is_one_section(self) -> None:
        text = "top = 1\n\n# about a\n[a]\nx = 1\n# inside a\n\n[a.b]\ny = 2\n"
        assert [(block.text, block.section_path) for block in read(text).blocks] == [
            ("top = 1", ()),
            ("# about a", ("a",)),
            ("[a]", ("a",)),
            ("x = 1", ("a",)),
            ("# inside a", ("a",)),
            ("[a.b]", ("a.b",)),
            ("y = 2", ("a.b",)),
        ]

    def test_elements_of_arrays_are_sections_of_their_own(self) -> None:
        text = "[[f]]\n[[f.v]]\n[[f.v]]\n[f.v.w]\n[[f]]\n[[f.v]]\n"
        assert [block.section_path[0] for block in read(text).blocks] == [
            "f[0]",
            "f[0].v[0]",
            "f[0].v[1]",
            "f[0].v[1].w",
            "f[1]",
            "f[1].v[0]",
        ]


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("a = 1\nb = \n", "2"),
            ("a = 1\n\na = 2\n", "3"),
            ("[a]\nb = [1,\n2\n", "3"),
            ("a = 1\rb = 2\n", "1"),
            ("x = '\x01'", "1"),
        ],
    )
    def test_what_is_not_toml_is_refused_with_its_line(self, text: str, line: str) -> None:
        with pytest.raises(Malformed) as refused:
            read(text)
        assert refused.value.metadata == {"line": line}

    @pytest.mark.parametrize("text", ["a = " + "[" * 5000 + "]" * 5000, "a = " + "9" * 5000])
    def test_nesting_and_numbers_past_all_measure_are_refused(self, text: str) -> None:
        with pytest.raises(Malformed):
            read(text)

    @pytest.mark.parametrize("content", [b"\n \n", b"\xef\xbb\xbf"])
    def test_an_empty_document_is_refused(self, content: bytes) -> None:
        with pytest.raises(NoText):
            read(content)

    def test_another_encoding_has_to_be_named(self) -> None:
        content = "a = 'é'".encode("utf-16")
        with pytest.raises(BadEncoding):
            read(content)
        named = extract(content, filename="a.toml", options=Options(encoding="utf-16"))
        assert [block.text for block in named.blocks] == ["a = 'é'"]

    def test_too_many_blocks_are_refused(self) -> None:
        with pytest.raises(OutputLimit):
            extract(b"".join(b"k%d = 1\n" % n for n in range(11)), filename="a.toml", limits=Limits(max_blocks=10))

    @pytest.mark.parametrize(
        "text", ["[[a]]\nx = 1\n" * 5_000, "a = [\n" + "1,\n" * 50_000 + "]", 'a = """\n' + 'x " y\n' * 50_000 + '"""']
    )
    def test_long_documents_take_little_time(self, text: str) -> None:
        begun = time.process_time()
        read(text)
        assert time.process_time() - begun < 5


class TestPlaces:
    @pytest.mark.parametrize(
        "place", [TomlPlace("a", 0, 1), TomlPlace("a", 1, 9), TomlPlace("b", 1, 1), TomlPlace("a.x", 1, 1), LineSpan(1, 1)]
    )
    def test_a_place_that_is_not_there_is_refused(self, place: object) -> None:
        with pytest.raises(LocatorNotFound):
            resolve(b"[a]\nx = 1\n", place, filename="a.toml")

    def test_a_place_of_several_keys_reads_back(self) -> None:
        assert resolve(b"[a]\nx = 1\ny = 2\n", TomlPlace("a", 2, 3), filename="a.toml") == "x = 1\ny = 2"

    @settings(max_examples=200, deadline=None)
    @given(
        st.lists(
            st.sampled_from(
                [
                    "# c",
                    " ",
                    "",
                    "x = 1",
                    "'y z' = '#'",
                    "[t]",
                    "[[u]]",
                    "v = [\n1, # ]\n]",
                    'w = """\n[x]\n"""',
                    "p.q = {r = 1}  # c",
                ]
            ),
            min_size=1,
            max_size=12,
        )
    )
    def test_every_word_is_in_one_block_and_every_place_reads_back(self, lines: list[str]) -> None:
        text = "\n".join(lines) + "\n"
        data = text.encode()
        try:
            expected = tomllib.loads(text)
            artifact = read(data)
        except (tomllib.TOMLDecodeError, NoText):
            return
        assert values(artifact) == expected
        assert Counter(re.findall(r"\w+", "\n".join(block.text for block in artifact.blocks))) == Counter(re.findall(r"\w+", text))
        for block in artifact.blocks:
            assert resolve(data, block.locator, filename="a.toml").split() == block.text.split()


@pytest.mark.skipif(not VALID, reason="the shared corpus is absent")
class TestCorpus:
    @pytest.mark.parametrize("name", VALID)
    def test_valid_documents_keep_their_values_and_every_word(self, name: str) -> None:
        data = (CORPUS / "valid" / name).read_bytes()
        artifact = read(data)
        expected = json.loads((CORPUS / "valid" / "expected.json").read_text("utf-8"))[name.removesuffix(".toml")]
        assert written(tagged(values(artifact))) == written(untexted(expected))
        told = Counter(re.findall(r"\w+", "\n".join(block.text for block in artifact.blocks)))
        assert told == Counter(re.findall(r"\w+", data.decode("utf-8-sig")))
        assert artifact.coverage.complete
        assert {block.type for block in artifact.blocks} <= {BlockType.TOML_KEY, BlockType.TOML_TABLE, BlockType.COMMENT}
        for block in artifact.blocks:
            assert resolve(data, block.locator, filename=name).split() == block.text.split()

    @pytest.mark.parametrize("name", INVALID)
    def test_invalid_documents_are_refused(self, name: str) -> None:
        with pytest.raises(BadEncoding if name in NOT_UTF_8 else Malformed) as refused:
            read((CORPUS / "invalid" / name).read_bytes())
        assert "byte" in refused.value.metadata or int(refused.value.metadata["line"]) >= 1
