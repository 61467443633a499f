"""HTML pages: text with the white space a browser shows, structure, lists, fields, what is hidden, and places."""

from __future__ import annotations

import pytest

from artifact.locators import HtmlPlace
from artifact.model import Artifact, BlockType, WordCount
from extractor_svc.context import Options
from extractor_svc.errors import BadEncoding, LocatorNotFound, NoText, OutputLimit
from extractor_svc.extract import extract, resolve
from extractor_svc.limits import Limits


def read(markup: str, filename: str = "page.html") -> Artifact:
    return extract(markup.encode(), filename=filename)


def texts(markup: str) -> list[str]:
    return [block.text for block in read(markup).blocks]


def kinds(markup: str) -> list[tuple[BlockType, str]]:
    return [(block.type, block.text) for block in read(markup).blocks]


def excluded(markup: str) -> dict[str, int]:
    return {count.reason: count.words for count in read(markup).coverage.words_excluded}


class TestText:
    @pytest.mark.parametrize(
        ("markup", "expected"),
        [
            ("<p>one\n  two\t<b> three</b> four</p>", ["one two three four"]),
            ("<p>in<b>sep</b>arable H<sub>2</sub>O</p>", ["inseparable H2O"]),
            ("<p>first<br>second</p>", ["first\nsecond"]),
            ("first paragraph<br><br>second paragraph", ["first paragraph", "second paragraph"]),
            ("<div>above<p>inside</p>below</div>", ["above", "inside", "below"]),
            ("<div>a</div><div>b</div>", ["a", "b"]),
            ("<p>a &amp; b &lt;c&gt; &eacute; &#x1F62D; &copy &notit;</p>", ["a & b <c> é 😭 © ¬it;"]),
            ("<p>10&nbsp;km</p>", ["10 km"]),
            ("<p>co&shy;operate</p>", ["cooperate"]),
            ("<p>He said <q>yes</q>.</p>", ["He said “yes”."]),
            ("<p><ruby>漢<rt>kan</rt>字<rt>ji</rt></ruby></p>", ["漢(kan)字(ji)"]),
            ("<p><ruby>漢<rp>[</rp><rt>kan</rt><rp>]</rp></ruby></p>", ["漢[kan]"]),
            ("<a href=x>Home</a><a href=y>About</a>", ["Home About"]),
            ("<x-card>one</x-card><x-card>two</x-card>", ["one two"]),
            ("<p>2 < 3 and <3</p>", ["2 < 3 and <3"]),
            ("<p>x<!-- no -->y</p>", ["xy"]),
            ('<span style="display:block">a</span><span style="display:block">b</span>', ["a", "b"]),
            ('<p style="white-space:pre-line">a\n  b</p>', ["a\nb"]),
            ("<p>kept <del>old</del> <ins>new</ins></p>", ["kept old new"]),
            ("<details><summary>More</summary>Inside</details>", ["More", "Inside"]),
            ("<p>Press <img alt='Enter'> now</p>", ["Press Enter now"]),
            ("<math><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mfrac><mn>1</mn><mi>y</mi></mfrac></math>", ["x^2+1/y"]),
        ],
    )
    def test_text_has_the_white_space_a_browser_shows(self, markup: str, expected: list[str]) -> None:
        assert texts(markup) == expected

    def test_a_page_without_text_is_refused(self) -> None:
        with pytest.raises(NoText):
            read("<html><head><title>Only a title</title></head><body><script>code()</script></body></html>")

    def test_a_very_long_paragraph_is_cut_and_every_part_reads_back(self) -> None:
        content = ("<p>" + "word " * 50_000 + "</p>").encode()
        blocks = extract(content, filename="x.html").blocks
        assert len(blocks) == 3
        assert " ".join(block.text for block in blocks).split() == ["word"] * 50_000
        for block in blocks:
            assert resolve(content, block.locator, filename="x.html") == block.text


class TestOutcomes:
    @pytest.mark.parametrize(
        "start", ["<!DOCTYPE html>", "  <!-- x -->\n<HTML lang=en>", "<?xml version='1.0'?>\n<!doctype HTML PUBLIC ''>"]
    )
    def test_a_page_without_a_name_is_known_by_its_start(self, start: str) -> None:
        assert extract(f"{start}<p>text</p>".encode()).format == "html"

    def test_text_that_only_mentions_pages_is_none(self) -> None:
        assert extract(b"A page begins with <!DOCTYPE html>.").format == "text"

    def test_control_characters_are_replaced_with_a_warning(self) -> None:
        artifact = read("<p>a\x00b\x07c</p>")
        assert (artifact.blocks[0].text, [warning.code for warning in artifact.warnings]) == ("a b c", ["CONTROL_CHARS"])

    def test_more_blocks_than_the_limit_are_refused(self) -> None:
        with pytest.raises(OutputLimit):
            extract(b"<p>x" * 6, filename="x.html", limits=Limits(max_blocks=5))

    def test_reading_a_large_page_reports_progress(self) -> None:
        seen: list[tuple[str, int, int]] = []
        extract(b"<p>x" * 25_000, filename="x.html", progress=lambda *report: seen.append(report))
        assert seen == [("tag", 20_000, 0), ("element", 10_000, 0), ("element", 20_000, 0), ("page", 1, 1)]


class TestStructure:
    def test_headings_have_the_level_they_state_and_open_sections(self) -> None:
        blocks = read(
            "<h1>One</h1><p>a</p><h3>Three</h3><p>b</p><h2>Two\n<br>lines</h2><div role=heading aria-level=4>Four</div>"
        ).blocks
        assert [(block.text, block.level, block.section_path) for block in blocks] == [
            ("One", 1, ("One",)),
            ("a", 0, ("One",)),
            ("Three", 3, ("One", "Three")),
            ("b", 0, ("One", "Three")),
            ("Two lines", 2, ("One", "Two lines")),
            ("Four", 4, ("One", "Two lines", "Four")),
        ]

    def test_quotes_captions_pictures_and_code_are_told_apart(self) -> None:
        markup = (
            "<blockquote><p>Said</p></blockquote><figure><img alt='A duck'><figcaption>The duck</figcaption></figure>"
            "<pre><code class='language-python'>if x:\n    <b>y</b>()\n</code></pre>"
        )
        assert kinds(markup) == [
            (BlockType.QUOTE, "Said"),
            (BlockType.IMAGE_TEXT, "A duck"),
            (BlockType.CAPTION, "The duck"),
            (BlockType.CODE, "if x:\n    y()"),
        ]
        assert read(markup).blocks[3].language == "python"

    @pytest.mark.parametrize(
        "markup",
        [
            "<pre class='language-python'>x</pre>",
            "<pre data-lang=python>x</pre>",
            "<div class='highlight highlight-source-python'><pre>x</pre></div>",
            "<pre class='brush: python'>x</pre>",
            "<pre><code class='language-python'>x</code></pre>",
        ],
    )
    def test_code_has_the_language_its_classes_name(self, markup: str) -> None:
        (block,) = read(markup).blocks
        assert (block.type, block.text, block.language) == (BlockType.CODE, "x", "python")

    def test_parts_beside_the_main_text_are_flagged_and_open_no_section(self) -> None:
        markup = (
            "<header><h1>Site</h1><p>Slogan</p><nav><h2>Menu</h2><a>Home</a></nav></header><main><article>"
            "<header><p>By Ann</p></header><h2>Story</h2><p>Text</p><aside><h3>Note</h3><p>Aside</p></aside><p>Rest</p>"
            "<footer>Filed under x</footer></article></main><footer><h2>Links</h2><p>Imprint</p></footer>"
        )
        blocks = read(markup).blocks
        assert [(block.type, block.text) for block in blocks] == [
            (BlockType.HEADING, "Site"),
            (BlockType.HEADER, "Slogan"),
            (BlockType.HEADER, "Menu"),
            (BlockType.HEADER, "Home"),
            (BlockType.PARAGRAPH, "By Ann"),
            (BlockType.HEADING, "Story"),
            (BlockType.PARAGRAPH, "Text"),
            (BlockType.TEXT_BOX, "Note"),
            (BlockType.TEXT_BOX, "Aside"),
            (BlockType.PARAGRAPH, "Rest"),
            (BlockType.PARAGRAPH, "Filed under x"),
            (BlockType.FOOTER, "Links"),
            (BlockType.FOOTER, "Imprint"),
        ]
        assert blocks[9].section_path == ("Site", "Story")

    def test_a_quotes_or_a_figures_footer_is_none_of_the_page(self) -> None:
        assert kinds("<blockquote>Said<footer>Ann</footer></blockquote>") == [(BlockType.QUOTE, "Said"), (BlockType.QUOTE, "Ann")]

    def test_roles_flag_parts_as_elements_do(self) -> None:
        markup = "".join(f"<div role={role}>x</div>" for role in ("navigation", "main", "contentinfo", "complementary"))
        assert [kind for kind, _ in kinds(markup)] == [
            BlockType.HEADER,
            BlockType.PARAGRAPH,
            BlockType.FOOTER,
            BlockType.TEXT_BOX,
        ]


class TestLists:
    @pytest.mark.parametrize(
        ("markup", "expected"),
        [
            ("<ul><li>a<li>b</ul>", ["a", "b"]),
            ("<ol><li>a<li>b</ol>", ["1. a", "2. b"]),
            ("<ol start=9><li>a<li value=3>b<li>c</ol>", ["9. a", "3. b", "4. c"]),
            ("<ol reversed><li>a<li>b<li>c</ol>", ["3. a", "2. b", "1. c"]),
            ("<ol type=a><li>a<li>b</ol>", ["a. a", "b. b"]),
            ("<ol type=I start=4><li>x</ol>", ["IV. x"]),
            ("<ol start=27 type=A><li>x</ol>", ["AA. x"]),
            ("<ol style='list-style-type:lower-roman'><li>x</ol>", ["i. x"]),
            ("<ol style='list-style:none'><li>x</ol>", ["x"]),
            ("<ol><li><p>a</p><p>b</p></li><li></li><li>c</li></ol>", ["1. a", "b", "3. c"]),
            ("<ol><li><ol><li>x</ol></ol>", ["1. 1. x"]),
        ],
    )
    def test_items_have_the_numbers_a_browser_draws(self, markup: str, expected: list[str]) -> None:
        assert texts(markup) == expected

    def test_items_have_the_level_of_their_list(self) -> None:
        blocks = read("<ul><li>a<ol><li>b</ol>c<li>d</ul><dl><dt>t<dd>e<dl><dt>u<dd>f</dl></dl>").blocks
        assert [(block.text, block.level) for block in blocks] == [
            ("a", 1),
            ("1. b", 2),
            ("c", 1),
            ("d", 1),
            ("t", 1),
            ("e", 2),
            ("u", 2),
            ("f", 3),
        ]
        assert {block.type for block in blocks} == {BlockType.LIST_ITEM}


class TestFields:
    def test_fields_show_their_values(self) -> None:
        markup = (
            "<form><p><label>Name <input value='Ann Lee'></label></p><p><input type=checkbox checked> News "
            "<input type=radio> Never</p><p>Size <select><option>S<option selected>M</select></p>"
            "<p>Note <textarea>\nline 1\nline 2</textarea></p><p><input placeholder='your town'></p></form>"
        )
        assert kinds(markup) == [
            (BlockType.FORM_FIELD, "Name Ann Lee"),
            (BlockType.FORM_FIELD, "☑ News ○ Never"),
            (BlockType.FORM_FIELD, "Size ○ S\n◉ M"),
            (BlockType.FORM_FIELD, "Note line 1\nline 2"),
            (BlockType.FORM_FIELD, "your town"),
        ]

    def test_secret_and_hidden_fields_show_nothing(self) -> None:
        assert texts("<p>Log in <input type=password value=hunter2> <input type=hidden value=token></p>") == ["Log in"]

    def test_a_choice_shows_all_its_options_and_which_are_chosen(self) -> None:
        assert texts("<select><optgroup label=Cold><option>Tea<option>Milk</optgroup><option label=Water></select>") == [
            "Cold\n◉ Tea\n○ Milk\n○ Water"
        ]
        assert texts("<select multiple><option selected>a<option>b</select>") == ["☑ a\n☐ b"]
        artifact = read("<select>not shown<option>a</select>")
        assert artifact.coverage.words_excluded == (WordCount("hidden", 2),)

    def test_buttons_stand_apart(self) -> None:
        assert texts("<p><button>Save</button><button>Quit</button></p>") == ["Save Quit"]


class TestHidden:
    @pytest.mark.parametrize(
        ("markup", "reason"),
        [
            ("<p hidden>two words</p>", "hidden"),
            ("<div style='color:red; DISPLAY : none'><p>two words</p></div>", "hidden"),
            ("<p style='visibility:hidden'>two words</p>", "hidden"),
            ("<p><b hidden>two words</b></p>", "hidden"),
            ("<dialog>two words</dialog>", "hidden"),
            ("<template><p>two words</p></template>", "template"),
            ("<script>two(words)</script>", "script"),
            ("<style>two {words}</style>", "style"),
            ("<noscript><p>two words</p></noscript>", "noscript"),
            ("<iframe>two words</iframe>", "fallback"),
            ("<video>two words</video>", "fallback"),
            ("<!-- two words -->", "comment"),
            ("<table><tr><td>a</td><td hidden>two words</td></tr><tr style='display:none'></tr></table>", "hidden"),
        ],
    )
    def test_what_is_not_shown_is_left_out_and_counted(self, markup: str, reason: str) -> None:
        artifact = read(f"<p>shown</p>{markup}")
        assert "words" not in " ".join(block.text for block in artifact.blocks)
        assert artifact.coverage.words_excluded == (WordCount(reason, 2),)
        assert artifact.coverage.complete

    @pytest.mark.parametrize(
        "markup",
        [
            "<p aria-hidden=true>seen</p>",
            "<p hidden=until-found>seen</p>",
            "<p hidden style='display:block'>seen</p>",
            "<div style='visibility:hidden'><p style='visibility:visible'>seen</p></div>",
            "<dialog open>seen</dialog>",
            "<details><p>seen</p></details>",
            "<div><template shadowrootmode=open><p>seen</p></template></div>",
            "<p style='display:none;display:block'>seen</p>",
        ],
    )
    def test_what_is_shown_in_spite_of_its_looks_is_kept(self, markup: str) -> None:
        assert texts(markup) == ["seen"]

    def test_an_embedded_page_is_declared_unread(self) -> None:
        coverage = read("<p>a</p><iframe srcdoc='&lt;p>three words inside&lt;/p>'></iframe>").coverage
        assert (coverage.words_unread, coverage.complete) == ((WordCount("embedded_page", 3),), False)

    def test_text_after_a_tag_that_never_ends_is_declared_unread(self) -> None:
        artifact = read("<p>a</p><p title='never closed>lost words")
        assert artifact.coverage.words_unread == (WordCount("unclosed_tag", 6),)
        assert [warning.code for warning in artifact.warnings] == ["CONTENT_TRUNCATED"]


class TestProperties:
    def test_title_and_properties_come_from_the_head(self) -> None:
        artifact = read(
            "<html lang=de><head><title> A \n title </title><meta name=Description content='What it is'>"
            "<meta name=author content='Ann Lee'><meta property='article:published_time' content='2024-05-06'></head><p>x"
        )
        assert artifact.title == "A title"
        assert artifact.properties == {"description": "What it is", "author": "Ann Lee", "date": "2024-05-06", "language": "de"}

    def test_the_title_of_a_drawing_is_no_title_of_the_page(self) -> None:
        artifact = read("<svg><title>Logo</title></svg><meta property=og:title content='The page'>")
        assert (artifact.title, [block.text for block in artifact.blocks]) == ("The page", ["Logo"])

    def test_a_named_encoding_is_kept_to(self) -> None:
        with pytest.raises(BadEncoding):
            extract(b"<p>caf\xe9</p>", filename="x.html", options=Options(encoding="utf-8"))
        read_as = extract(b"<p>caf\xe9</p>", filename="x.html", options=Options(encoding="latin-1"))
        assert read_as.blocks[0].text == "café"

    def test_xhtml_may_close_elements_in_their_tag(self) -> None:
        head = '<?xml version="1.0"?><html><head><title/><script src="x"/></head>'
        markup = head + "<body><p/><p>kept<![CDATA[ & <as is>]]></p></body></html>"
        assert texts(markup) == ["kept & <as is>"]


class TestPlaces:
    MARKUP = "<body><div>intro <a>link</a><p>one</p><p>two</p></div><table><tr><th>A<th>B<tr><td>1<td>2</table>"

    def test_places_are_paths_of_elements(self) -> None:
        assert [block.locator for block in read(self.MARKUP).blocks] == [
            HtmlPlace("html/body/div[1]/text()[1]", "html/body/div[1]/a[1]/text()[1]"),
            HtmlPlace("html/body/div[1]/p[1]", "html/body/div[1]/p[1]"),
            HtmlPlace("html/body/div[1]/p[2]", "html/body/div[1]/p[2]"),
            HtmlPlace("html/body/table[1]", "html/body/table[1]"),
        ]

    @pytest.mark.parametrize(
        ("first", "last", "expected"),
        [
            ("html/body/div[1]/p[2]", "html/body/div[1]/p[2]", "two"),
            ("html/body/div[1]/p[1]", "html/body/div[1]/p[2]", "one\ntwo"),
            ("html/body/div[1]", "html/body/div[1]", "intro link\none\ntwo"),
            ("html/body/table[1]/tbody[1]/tr[2]", "html/body/table[1]/tbody[1]/tr[2]", "1\t2"),
            ("html/body/table[1]/tbody[1]/tr[1]/th[2]", "html/body/table[1]/tbody[1]/tr[1]/th[2]", "B"),
        ],
    )
    def test_a_place_reads_back_from_the_page(self, first: str, last: str, expected: str) -> None:
        assert resolve(self.MARKUP.encode(), HtmlPlace(first, last), filename="x.html") == expected

    def test_a_place_the_page_does_not_have_is_refused(self) -> None:
        with pytest.raises(LocatorNotFound):
            resolve(self.MARKUP.encode(), HtmlPlace("html/body/p[9]", "html/body/p[9]"), filename="x.html")
