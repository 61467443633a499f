"""Plain text: paragraphs as they are written, whatever the encoding, and every word of them."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artifact.locators import CharSpan, LineSpan, SheetPlace
from artifact.model import Artifact, BlockType
from extractor_svc.context import Options
from extractor_svc.errors import BadEncoding, InvalidOption, LocatorNotFound, NoText, OutputLimit
from extractor_svc.extract import extract, resolve
from extractor_svc.limits import Limits

CORPUS = Path(__file__).resolve().parents[3] / ".." / "shared" / "corpus" / "text"
FILES = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*.txt"))
NAMED = re.compile(r"\.(cp\d+)\.|win-(1252)")


def read(content: str | bytes, **options: str) -> Artifact:
    data = content.encode() if isinstance(content, str) else content
    return extract(data, filename="note.txt", options=Options(**options))


def shown(content: str | bytes) -> list[tuple[str, object]]:
    return [(block.text, block.locator) for block in read(content).blocks]


class TestParagraphs:
    def test_empty_lines_part_paragraphs_and_lines_stay_as_they_are(self) -> None:
        text = "\n\nOne  line\n  and another\n \t \nSecond.\n\n\n\nThird.\n"
        assert shown(text) == [
            ("One  line\n  and another", LineSpan(3, 4)),
            ("Second.", LineSpan(6, 6)),
            ("Third.", LineSpan(10, 10)),
        ]

    def test_nothing_is_a_heading(self) -> None:
        artifact = read("# A\n\nTITLE\n=====\n\n1. Scope\n\ntext")
        assert {block.type for block in artifact.blocks} == {BlockType.PARAGRAPH}
        assert {block.section_path for block in artifact.blocks} == {()}

    def test_a_form_feed_parts_pages(self) -> None:
        assert shown("end of one\n\ftop of two\nmore\n") == [("end of one", LineSpan(1, 1)), ("top of two\nmore", LineSpan(2, 3))]

    def test_paragraphs_that_share_a_line_stand_at_characters(self) -> None:
        assert shown("one\ftwo\n") == [("one", CharSpan(0, 3)), ("two", CharSpan(4, 7))]

    @pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
    def test_every_kind_of_line_end_counts_the_same(self, line_end: str) -> None:
        assert shown(line_end.join(["one", "two", "", "three", ""])) == [("one\ntwo", LineSpan(1, 2)), ("three", LineSpan(4, 4))]

    def test_a_long_paragraph_is_cut_at_line_ends(self) -> None:
        artifact = read("".join(f"entry {n} of the log\n" for n in range(1, 1001)))
        places = [block.locator for block in artifact.blocks if isinstance(block.locator, LineSpan)]
        assert len(places) == len(artifact.blocks)
        assert places[0].first == 1
        assert places[-1].last == 1000
        assert all(here.last + 1 == after.first for here, after in itertools.pairwise(places))
        assert all(len(block.text) <= 4000 for block in artifact.blocks)

    def test_a_long_line_is_cut_at_spaces(self) -> None:
        text = "word " * 5000
        artifact = read(text)
        assert len(artifact.blocks) > 1
        assert Counter(" ".join(block.text for block in artifact.blocks).split()) == Counter({"word": 5000})
        assert all(isinstance(block.locator, CharSpan) for block in artifact.blocks)

    @pytest.mark.parametrize("content", [b" \n\t\n", b"\xef\xbb\xbf\n", b"\x00\x07\n", b"\x0c"])
    def test_a_file_without_a_word_or_sign_is_refused(self, content: bytes) -> None:
        with pytest.raises(NoText):
            read(content)


class TestEncodings:
    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
    def test_a_byte_order_mark_says_the_encoding_and_is_no_text(self, encoding: str) -> None:
        assert [block.text for block in read("größer ☃".encode(encoding)).blocks] == ["größer ☃"]

    def test_the_named_encoding_is_used(self) -> None:
        artifact = read("Привет".encode("koi8-r"), encoding="koi8-r")
        assert (artifact.blocks[0].text, artifact.encoding, artifact.warnings) == ("Привет", "koi8-r", ())

    def test_row_l_fmt_10_bytes_that_are_not_valid_in_the_named_encoding_are_refused(self) -> None:
        with pytest.raises(BadEncoding) as refused:
            read(b"caf\xe9", encoding="utf-8")
        assert refused.value.metadata == {"encoding": "utf-8", "byte": "3"}

    def test_an_unknown_encoding_is_refused(self) -> None:
        with pytest.raises(InvalidOption):
            read("text", encoding="utf-9")

    @pytest.mark.parametrize(
        ("text", "encoding"),
        [
            ("Où est la bibliothèque ? Déjà vu, garçon, naïve façade", "cp1252"),
            ("“Quoted” — it’s 5 € for the café", "cp1252"),
            ("Die Straße führt über schöne Hügel nach Köln", "latin-1"),
            ("Привет, как дела? Это простой русский текст для проверки.", "cp1251"),
            ("これは日本語のテキストです。文字コードの検出を試します。", "shift_jis"),
            ("这是一个用于测试编码检测的中文文本。", "gb18030"),
            ("이것은 인코딩 감지를 테스트하기 위한 한국어 텍스트입니다.", "euc_kr"),
            ("Příliš žluťoučký kůň úpěl ďábelské ódy", "cp1250"),
            ("Plain words without a mark", "utf-16-le"),
            ("Plain words without a mark", "utf-16-be"),
        ],
    )
    def test_an_encoding_that_is_not_said_is_told_and_warned_of(self, text: str, encoding: str) -> None:
        artifact = read((text + "\n").encode(encoding))
        assert [block.text for block in artifact.blocks] == [text]
        assert [warning.code for warning in artifact.warnings] == ["ENCODING_GUESSED"]

    def test_bytes_that_no_encoding_fits_are_refused(self) -> None:
        with pytest.raises(BadEncoding):
            read(bytes(range(256)) * 8)


class TestControlCharacters:
    def test_they_part_words_and_are_told(self) -> None:
        artifact = read("a\x00b \x1b[31mred\x7f\n\x85c")
        assert [block.text for block in artifact.blocks] == ["a b  [31mred \n c"]
        assert [warning.code for warning in artifact.warnings] == ["CONTROL_CHARS"]

    def test_tabs_and_line_feeds_are_none(self) -> None:
        assert read("a\tb\nc").warnings == ()

    def test_directions_and_zero_widths_are_text(self) -> None:
        text = "\u202eabc\u202c zero\u200bwidth"
        assert [block.text for block in read(text).blocks] == [text]


class TestPlaces:
    @pytest.mark.parametrize(
        "place", [LineSpan(0, 1), LineSpan(2, 3), LineSpan(2, 1), CharSpan(0, 99), SheetPlace("S", 1, 1, 1, 1)]
    )
    def test_a_place_that_is_not_there_is_refused(self, place: object) -> None:
        with pytest.raises(LocatorNotFound):
            resolve(b"one\ntwo\n", place, filename="note.txt")

    @settings(max_examples=200, deadline=None)
    @given(
        st.lists(st.sampled_from(["a", "bc ", " ", "\n", "\n\n", "\f", "\t", "\r\n", "\x01", "é", "\u2028"]), max_size=60).map(
            "".join
        )
    )
    def test_every_word_is_in_one_block_and_every_place_reads_back(self, text: str) -> None:
        data = text.encode()
        if not re.sub(r"[\x01\s]", "", text):
            return
        artifact = extract(data, filename="note.txt")
        assert Counter(re.findall(r"\w+", "\n".join(block.text for block in artifact.blocks))) == Counter(re.findall(r"\w+", text))
        for block in artifact.blocks:
            assert resolve(data, block.locator, filename="note.txt").split() == block.text.split()


class TestLimits:
    def test_too_much_text_and_too_many_paragraphs_are_refused(self) -> None:
        with pytest.raises(OutputLimit):
            extract(b"word " * 100, filename="a.txt", limits=Limits(max_text_chars=400))
        with pytest.raises(OutputLimit):
            extract(b"a\n\n" * 100, filename="a.txt", limits=Limits(max_blocks=99))

    @pytest.mark.parametrize("content", [b" " * 2_000_000 + b"a", b"x" * 2_000_000, b"word " * 400_000, b" \x0c" * 500_000 + b"a"])
    def test_white_space_and_long_lines_take_no_time(self, content: bytes) -> None:
        begun = time.process_time()
        extract(content, filename="a.txt")
        assert time.process_time() - begun < 5

    @pytest.mark.parametrize("unit", ["A line of text, and more of it.\n", "One.\n\n", "word ", "x" * 50 + "\f"])
    def test_a_text_ten_times_as_long_takes_ten_times_as_long(self, unit: str) -> None:
        def seconds(size: int) -> float:
            begun = time.process_time()
            extract(unit.encode() * (size // len(unit)), filename="a.txt")
            return time.process_time() - begun

        seconds(10_000)
        assert seconds(400_000) < 25 * max(seconds(40_000), 0.02)


@pytest.mark.skipif(not FILES, reason="the shared corpus is absent")
class TestCorpus:
    @pytest.mark.parametrize("name", FILES)
    def test_every_word_once_and_every_place_reads_back(self, name: str) -> None:
        data = (CORPUS / name).read_bytes()
        named = NAMED.search(name)
        source = data.decode("cp" + (named[1] or "cp" + named[2]).removeprefix("cp") if named else "utf-8-sig")
        artifact = extract(data, filename=name)
        told = Counter(re.findall(r"\w+", "\n".join(block.text for block in artifact.blocks)))
        assert told == Counter(re.findall(r"\w+", source))
        assert artifact.coverage.complete
        assert artifact.coverage.words_emitted == told.total()
        for block in artifact.blocks:
            assert resolve(data, block.locator, filename=name).split() == block.text.split()

    def test_naughty_strings_come_as_they_are(self) -> None:
        data = (CORPUS / "blns" / "blns.txt").read_bytes()
        source = data.decode()
        naughty = [text for text in json.loads((CORPUS / "blns" / "blns.json").read_text("utf-8")) if text in source]
        assert len(naughty) == 286, "229 of the listed strings are of another edition and do not stand in the file"
        told = "\n".join(block.text for block in extract(data, filename="blns.txt").blocks)
        controls = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
        assert [text for text in naughty if controls.sub(" ", text).strip() not in told] == []
        assert not controls.search(told)

    def test_the_long_patent_is_quick(self) -> None:
        data = (CORPUS / "uspto" / "pftaps057006474.txt").read_bytes()
        begun = time.process_time()
        artifact = extract(data, filename="patent.txt")
        assert time.process_time() - begun < 1
        assert artifact.coverage.total == data.count(b"\n")
