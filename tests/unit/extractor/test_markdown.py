"""Markdown: every line in one block, headings where they are and nowhere else, and nothing lost."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artifact.locators import LineSpan
from artifact.model import Artifact, BlockType, Visibility
from extractor_svc.context import Options, ReadContext
from extractor_svc.errors import BadEncoding, InvalidOption, LocatorNotFound, NoText, OutputLimit
from extractor_svc.extract import extract, resolve
from extractor_svc.formats import markdown
from extractor_svc.limits import Limits


def read(text: str) -> Artifact:
    return extract(text.encode(), filename="page.md")


def headings(text: str) -> list[tuple[str, int]]:
    return [(block.text, block.level) for block in read(text).blocks if block.type is BlockType.HEADING]


def shown(text: str) -> list[tuple[str, str]]:
    return [(block.type.value, block.text) for block in read(text).blocks]


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


class TestHeadings:
    def test_row_h30_code_is_never_a_heading(self) -> None:
        text = "\n".join(
            [
                "# Real",
                "~~~",
                "# no1",
                "~~~",
                "````",
                "```",
                "# no2",
                "```",
                "````",
                "",
                "    # no3",
                "",
                "an unclosed `span",
                "",
                "## Also real ##",
            ]
        )
        assert headings(text) == [("Real", 1), ("Also real", 2)]
        code = [block.text for block in read(text).blocks if block.type is BlockType.CODE]
        assert code == ["# no1", "```\n# no2\n```", "# no3"]

    @pytest.mark.parametrize("level", range(1, 7))
    def test_number_signs_give_the_level(self, level: int) -> None:
        assert headings("#" * level + " Name") == [("Name", level)]

    @pytest.mark.parametrize("line", ["####### Name", "#Name", "\\# Name", "    # Name"])
    def test_what_is_no_atx_heading(self, line: str) -> None:
        assert headings(line) == []

    @pytest.mark.parametrize(("underline", "level"), [("===", 1), ("---", 2), ("======", 1), ("   ---  ", 2)])
    def test_three_signs_or_more_underline_a_heading(self, underline: str, level: int) -> None:
        assert headings(f"Name\n{underline}\n") == [("Name", level)]

    @pytest.mark.parametrize("underline", ["=", "==", "-", "--"])
    def test_a_shorter_underline_is_text(self, underline: str) -> None:
        assert shown(f"Name\n{underline}\nmore") == [("paragraph", f"Name\n{underline}\nmore")]

    def test_a_short_underline_does_not_hide_the_long_one_below(self) -> None:
        assert headings("Name\n--\nand more\n---\n") == [("Name -- and more", 2)]

    def test_an_underlined_heading_of_two_lines_is_one_line(self) -> None:
        assert headings("First\nsecond\n===\n") == [("First second", 1)]

    @pytest.mark.parametrize("level", range(1, 7))
    def test_a_one_line_html_element_is_a_heading(self, level: int) -> None:
        assert headings(f'<h{level} id="x">A <b>bold</b> name</h{level}>\n') == [("A bold name", level)]

    @pytest.mark.parametrize(
        "text",
        [
            "- # In a list",
            "1. Name\n   ---",
            "> # In a quote",
            "text\n***",
            "<div>\n<h2>In a block</h2>\n</div>",
            "text\n\n<!--\n# In a comment\n-->",
            "<h2>Over two\nlines</h2>",
            "<h1>One</h1><h1>Two</h1>",
            "```\n<h1>Code</h1>\n```",
        ],
    )
    def test_what_is_never_a_heading(self, text: str) -> None:
        assert headings(text) == []

    def test_a_heading_line_below_a_paragraph_needs_no_empty_line(self) -> None:
        assert shown("text\n# Name\ntext") == [("paragraph", "text"), ("heading", "Name"), ("paragraph", "text")]

    def test_sections_nest_by_level_and_close_at_their_own(self) -> None:
        artifact = read("# A\n## B\nb\n### C\nc\n## D\nd\n# E\n")
        assert [block.section_path for block in artifact.blocks] == [
            ("A",),
            ("A", "B"),
            ("A", "B"),
            ("A", "B", "C"),
            ("A", "B", "C"),
            ("A", "D"),
            ("A", "D"),
            ("E",),
        ]


class TestBlocks:
    def test_inline_signs_stay_as_written(self) -> None:
        assert shown("a *b* [c](d 'e') `f` \\*") == [("paragraph", "a *b* [c](d 'e') `f` \\*")]

    def test_items_keep_their_numbers_and_lose_their_bullets(self) -> None:
        artifact = read("- one\n- two\n  1. deep\n     more\n  2) other\n")
        assert [(block.type.value, block.text, block.level) for block in artifact.blocks] == [
            ("list_item", "one", 1),
            ("list_item", "two", 1),
            ("list_item", "1. deep\nmore", 2),
            ("list_item", "2) other", 2),
        ]

    def test_code_keeps_its_language_and_what_its_fence_says(self) -> None:
        (block,) = read("```python title=x.py\na = 1\n\nb = 2\n```\n").blocks
        assert (block.type, block.language, block.text) == (BlockType.CODE, "python", "title=x.py\na = 1\n\nb = 2")
        assert block.locator == LineSpan(1, 5)

    def test_a_quote_is_a_quote_and_its_lazy_lines_too(self) -> None:
        assert shown("> said\nstill\n") == [("quote", "said\nstill")]

    def test_a_table_is_a_grid_with_every_cell_of_the_source(self) -> None:
        (block,) = read("| a | b |\n|---|:-:|\n| 1 \\| 2 | `x` | extra |\n| 3 |\n").blocks
        assert block.type is BlockType.TABLE
        assert block.text == "a\tb\n1 | 2\t`x`\textra\n3"
        assert [(cell.row, cell.column, cell.text) for cell in block.cells] == [
            (0, 0, "a"),
            (0, 1, "b"),
            (1, 0, "1 | 2"),
            (1, 1, "`x`"),
            (1, 2, "extra"),
            (2, 0, "3"),
        ]

    def test_a_table_in_a_quote_is_read_without_the_quote_signs(self) -> None:
        (block,) = read("> | a |\n> |---|\n> | 1 |\n").blocks
        assert (block.type, block.text) == (BlockType.TABLE, "a\n1")

    def test_of_html_what_is_shown_is_text(self) -> None:
        text = '<div class="x">\n<b>bo</b>ld &amp; <br>next\n<img src="a.png" alt="A logo">\n<td>1</td><td>2</td>\n</div>\n'
        (block,) = read(text).blocks
        assert (block.text, block.locator) == ("bold & next\nA logo\n1 2", LineSpan(1, 5))

    def test_comments_scripts_and_styles_are_left_out_and_declared(self) -> None:
        comments = "a <!-- one two --> b `<!-- kept -->`\n\n<!-- three\n\nfour -->\n"
        artifact = read(f"{comments}\n<style>\np {{ top: 0 }}\n</style>\n\n# T <!-- x -->\n")
        assert [(block.type.value, block.text, block.locator) for block in artifact.blocks] == [
            ("paragraph", "a  b `<!-- kept -->`", LineSpan(1, 1)),
            ("heading", "T", LineSpan(11, 11)),
        ]
        excluded = {count.reason: count.words for count in artifact.coverage.words_excluded}
        assert (excluded["comment"], excluded["script"]) == (5, 3)
        assert artifact.coverage.complete

    @pytest.mark.parametrize("text", ["a <!-- never closed\nmore", "a `<!--` b --> c", "\\<!-- a --> b"])
    def test_what_is_no_comment_is_text(self, text: str) -> None:
        assert words(read(text).blocks[0].text) == words(text)

    def test_link_definitions_are_kept_as_hidden_text(self) -> None:
        artifact = read("text [a]\n\n[a]: http://x 'title'\n[a]: http://second\n")
        assert [(block.text, block.visibility) for block in artifact.blocks] == [
            ("text [a]", Visibility.VISIBLE),
            ("[a]: http://x 'title'", Visibility.HIDDEN_TEXT),
            ("[a]: http://second", Visibility.HIDDEN_TEXT),
        ]

    def test_footnotes_stand_with_their_labels(self) -> None:
        artifact = read("text[^1] and[^two]\n\n[^1]: The *note*\n    over lines\n\n    - an item\n\n[^two]: Other\n")
        assert [(block.type.value, block.text, block.locator) for block in artifact.blocks] == [
            ("paragraph", "text[^1] and[^two]", LineSpan(1, 1)),
            ("footnote", "[^1]: The *note*\nover lines", LineSpan(3, 4)),
            ("list_item", "an item", LineSpan(6, 6)),
            ("footnote", "[^two]: Other", LineSpan(8, 8)),
        ]

    def test_a_footnote_ends_a_paragraph_no_more_than_a_definition_does(self) -> None:
        assert shown("text\n[^1]: more\n") == [("paragraph", "text"), ("footnote", "[^1]: more")]

    def test_tasks_keep_their_boxes(self) -> None:
        assert shown("- [x] done\n- [ ] open\n  - [ ] deeper\n") == [
            ("list_item", "[x] done"),
            ("list_item", "[ ] open"),
            ("list_item", "[ ] deeper"),
        ]

    def test_front_matter_gives_properties_and_the_title(self) -> None:
        artifact = read('---\ntitle: "A page"\ndate: 2024-01-02\n---\n# Other\n')
        assert artifact.title == "A page"
        assert artifact.properties == {"title": "A page", "date": "2024-01-02"}
        assert [(block.type, block.locator) for block in artifact.blocks] == [
            (BlockType.METADATA, LineSpan(1, 4)),
            (BlockType.HEADING, LineSpan(5, 5)),
        ]

    def test_front_matter_in_yaml_keeps_values_as_they_are_written(self) -> None:
        lists = "tags: [a, 'b c']\ndraft: no\nauthor:\n  name: X\nby:\n  - id: 01\n  - id: 2"
        artifact = read(f"---\n# head\n{lists}\nabout: >\n  long\n  text\n...\nbody\n")
        assert artifact.properties == {
            "tags": "a, b c",
            "draft": "no",
            "author.name": "X",
            "by.id": "01, 2",
            "about": "long text",
        }
        assert artifact.warnings == ()

    def test_front_matter_in_toml(self) -> None:
        artifact = read('+++\ntitle = "A"\nwhen = 2024-01-02T03:04:05Z\n[extra]\nlist = [1, true]\n+++\nbody\n')
        assert artifact.properties == {
            "title": "A",
            "when": "2024-01-02T03:04:05+00:00",
            "extra.list": "1, true",
        }

    @pytest.mark.parametrize(
        "inside",
        [
            "title: A: b\nother: [",
            "title: A\nbomb: " + "[" * 5_000,
            "title: A\nlong: " + "x" * 70_000,
            "title: A\nother: !!python/object/apply:os.system ['x']\nbroken: }",
        ],
    )
    def test_front_matter_that_is_not_valid_or_too_long_is_kept_and_told(self, inside: str) -> None:
        artifact = read(f"---\n{inside}\n---\nbody\n")
        assert artifact.blocks[0].type is BlockType.METADATA
        assert artifact.blocks[0].text == inside
        assert artifact.properties["title"].startswith("A")
        assert [warning.code for warning in artifact.warnings] == ["FRONT_MATTER_NOT_PARSED"]

    def test_aliases_are_not_followed_and_tags_not_obeyed(self) -> None:
        levels = "".join(f"l{n}: &l{n} [*l{n - 1}, *l{n - 1}]\n" for n in range(1, 40))
        artifact = read(f"---\nl0: &l0 [x, x]\n{levels}t: !!python/name:os.system ''\n---\nbody\n")
        assert artifact.properties["l1"] == "*l0, *l0"
        assert sum(map(len, artifact.properties.values())) < 1_000

    def test_prose_between_rules_is_no_front_matter(self) -> None:
        assert shown("---\nNote: this is text.\n\nAnd more of it.\n\n---\n")[0] == ("paragraph", "Note: this is text.")

    def test_a_rule_above_text_is_no_front_matter(self) -> None:
        assert shown("---\n\ntext\n\n---\n") == [("paragraph", "text")]

    def test_without_front_matter_the_first_heading_is_the_title(self) -> None:
        assert read("## Small\n# Big\n").title == "Big"

    def test_deep_nesting_loses_nothing(self) -> None:
        artifact = read("> " * 60 + "deep down\n")
        assert " ".join(block.text for block in artifact.blocks).split()[-2:] == ["deep", "down"]


class TestPlaces:
    TEXT = "# A\n\ntext\nover lines\n\n- item\n\n```\ncode\n```\n"

    def test_blocks_stand_on_their_lines(self) -> None:
        assert [block.locator for block in read(self.TEXT).blocks] == [
            LineSpan(1, 1),
            LineSpan(3, 4),
            LineSpan(6, 6),
            LineSpan(8, 10),
        ]

    def test_lines_read_back_without_the_signs(self) -> None:
        assert resolve(self.TEXT.encode(), LineSpan(4, 10), filename="x.md").split() == ["over", "lines", "item", "code"]

    @pytest.mark.parametrize("place", [LineSpan(0, 1), LineSpan(3, 2), LineSpan(1, 99)])
    def test_lines_the_file_does_not_have_are_not_found(self, place: LineSpan) -> None:
        with pytest.raises(LocatorNotFound):
            resolve(self.TEXT.encode(), place, filename="x.md")


class TestEncodings:
    @pytest.mark.parametrize(
        ("content", "encoding"),
        [
            ("# Grün".encode(), "utf-8"),
            (b"\xef\xbb\xbf" + "# Grün".encode(), "utf-8"),
            (b"\xff\xfe" + "# Grün".encode("utf-16-le"), "utf-16-le"),
            (b"\xfe\xff" + "# Grün".encode("utf-16-be"), "utf-16-be"),
        ],
    )
    def test_the_byte_order_mark_says_the_encoding_and_is_no_text(self, content: bytes, encoding: str) -> None:
        artifact = extract(content, filename="x.md")
        assert ([block.text for block in artifact.blocks], artifact.encoding) == (["Grün"], encoding)

    def test_the_option_says_the_encoding(self) -> None:
        artifact = extract("# Grün".encode("latin-1"), filename="x.md", options=Options(encoding="ISO-8859-1"))
        assert ([block.text for block in artifact.blocks], artifact.encoding) == (["Grün"], "iso-8859-1")

    def test_bytes_that_are_not_valid_are_refused(self) -> None:
        with pytest.raises(BadEncoding) as caught:
            extract(b"abc\xffdef", filename="x.md")
        assert caught.value.metadata == {"encoding": "utf-8", "byte": "3"}

    @pytest.mark.parametrize("name", ["utf-9", "rot13", "base64", "", "idna\x00"])
    def test_an_unknown_encoding_is_no_option(self, name: str) -> None:
        if not name:
            assert extract(b"x", filename="x.md", options=Options(encoding=name)).encoding == "utf-8"
            return
        with pytest.raises(InvalidOption):
            extract(b"x", filename="x.md", options=Options(encoding=name))

    @pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
    def test_line_endings_count_the_same(self, ending: str) -> None:
        artifact = extract(ending.join(["# A", "", "b"]).encode(), filename="x.md")
        assert [block.locator for block in artifact.blocks] == [LineSpan(1, 1), LineSpan(3, 3)]

    def test_control_characters_are_said(self) -> None:
        artifact = extract(b"# a\x00b", filename="x.md")
        assert (artifact.blocks[0].text, artifact.warnings[0].code) == ("a\ufffdb", "CONTROL_CHARS")


class TestBounds:
    @pytest.mark.parametrize("content", [b" \n\n", b"***\n", b"\xef\xbb\xbf"])
    def test_a_file_of_no_text_is_refused(self, content: bytes) -> None:
        with pytest.raises(NoText):
            extract(content, filename="x.md")

    def test_a_flood_of_blocks_is_refused(self) -> None:
        with pytest.raises(OutputLimit):
            extract(b"a\n\n" * 20, filename="x.md", limits=Limits(max_blocks=10))

    def test_the_ledger_counts_lines_and_words(self) -> None:
        coverage = read("# One two\n\n```python\nthree\n```\n").coverage
        assert (coverage.unit, coverage.total, coverage.extracted, coverage.words_emitted) == ("line", 6, 6, 3)
        assert [(count.reason, count.words) for count in coverage.words_excluded] == [("markup", 1)]
        assert coverage.complete


PIECES = st.sampled_from(
    [
        "# a", "- b", "1. c", "> d", "```", "```py x", "~~~", " ", "\n", "\n\n", "    ", "| q | w |", "|--|--|", "===", "---", "--",
        "[r]: /u 't'", "<h1>z</h1>", "<div>", "</div>", "<!-- c --> ", "text", "2)",
        "\t", "\x00", "+++", "***", "[^n]: g", "e\\|f", "- ", "1.",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(PIECES, st.sampled_from(["", "\n", " "])), min_size=1, max_size=14))
def test_no_piece_of_markdown_is_lost_doubled_or_misplaced(pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + glue for piece, glue in pieces)
    try:
        artifact = markdown.read(text.encode(), ReadContext())
    except NoText:
        return
    kept = sum((words(block.text) for block in artifact.blocks), Counter[str]())
    fences = set(words(" ".join(line for line in text.split("\n") if "```" in line or "~~~" in line)))
    assert not kept - words(text)
    assert set(words(text) - kept) <= {"h1", "div", "c"} | fences
    places = [block.locator for block in artifact.blocks]
    assert all(isinstance(place, LineSpan) for place in places)
    lines = [line for place in places if isinstance(place, LineSpan) for line in range(place.first, place.last + 1)]
    assert lines == sorted(set(lines))
    for block in artifact.blocks:
        assert markdown.resolve(text.encode(), block.locator, ReadContext()).split() == block.text.split()
