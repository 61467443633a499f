"""Presentations: what slides show, in which order, and where each piece stands."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artifact.locators import LineSpan, SlidePlace
from artifact.model import Artifact, Block, BlockType, Cell, ColumnType, Visibility, WordCount
from extractor_svc.errors import LocatorNotFound, Malformed, NoText, OutputLimit, TooManyColumns, TooManyRows, XmlDtdForbidden
from extractor_svc.extract import extract, resolve
from extractor_svc.limits import Limits
from tests.unit.extractor.presentations import (
    CHART,
    DIAGRAM,
    DRAWING,
    NAMES,
    SLIDES,
    DeckXml,
    SlideXml,
    frame,
    group,
    page,
    paragraph,
    relationships,
    run,
    shape,
    table,
    title,
)


def read(deck: DeckXml, *, filename: str = "talk.pptx", limits: Limits | None = None) -> Artifact:
    content = deck.build()
    artifact = extract(content, filename=filename, limits=limits or Limits())
    for block in artifact.blocks:
        assert resolve(content, block.locator, filename=filename).split() == block.text.split(), block
    return artifact


def one(shapes: str, **others: object) -> Artifact:
    return read(DeckXml([SlideXml(shapes, **others)]))  # type: ignore[arg-type]  # keywords of SlideXml, passed on


def texts(artifact: Artifact) -> list[str]:
    return [block.text for block in artifact.blocks]


def kinds(artifact: Artifact) -> list[tuple[BlockType, str]]:
    return [(block.type, block.text) for block in artifact.blocks]


def only(artifact: Artifact) -> Block:
    (block,) = artifact.blocks
    return block


class TestFieldFaults:
    """The field's known faults with presentations (H12 to H14)."""

    def test_h12_slides_come_as_the_presentation_lists_them_and_an_orphan_is_absent(self) -> None:
        slides = [SlideXml(title(name)) for name in ("Intro", "Data", "Close", "Orphan")]
        artifact = read(DeckXml(slides, listed=[2, 0, 1]))
        assert [(block.text, block.locator) for block in artifact.blocks] == [
            ("Close", SlidePlace(1, 1, "2")),
            ("Intro", SlidePlace(2, 2, "2")),
            ("Data", SlidePlace(3, 3, "2")),
        ]
        assert (artifact.coverage.unit, artifact.coverage.total, artifact.coverage.extracted) == ("slide", 3, 3)
        assert artifact.coverage.complete

    def test_h13_boxes_nested_groups_and_tables_are_all_read_and_kept_apart(self) -> None:
        artifact = one(
            shape(2, "Left side", at=(100, 100))
            + shape(3, "Right side", at=(5_000_000, 100))
            + group(4, group(5, shape(6, "Deep label", at=(1, 1)), at=(1, 1)), at=(100, 2_000_000))
            + frame(7, table([["Plan", "Price"], ["Basic", "40"]], flags='firstRow="1"'), at=(100, 4_000_000))
        )
        assert texts(artifact) == ["Left side", "Right side", "Deep label", "Plan\tPrice\nBasic\t40"]
        assert artifact.blocks[2].locator == SlidePlace(1, 1, "4/5/6/p1")
        grid = artifact.blocks[3]
        assert (grid.type, grid.locator) == (BlockType.TABLE, SlidePlace(1, 1, "7"))
        assert grid.cells == (Cell(0, 0, "Plan"), Cell(0, 1, "Price"), Cell(1, 0, "Basic"), Cell(1, 1, "40"))

    def test_h14_runs_breaks_and_fields_are_read_in_document_order(self) -> None:
        field = '<a:fld id="{1}" type="slidenum"><a:rPr/><a:t>7</a:t></a:fld>'
        artifact = one(
            shape(2, paragraph(run("Water use") + "<a:br/>" + run("down 4 points")), placeholder='type="title"')
            + shape(3, paragraph(run("Sheet ") + field + run(" of 20")), at=(0, 3_000_000))
        )
        assert texts(artifact) == ["Water use down 4 points", "Sheet 7 of 20"]

    def test_h14_control_characters_do_not_reach_the_text(self) -> None:
        artifact = one(shape(2, "Water use_x000B_down") + shape(3, "bell_x0007_rings; A_x0041_ stays"))
        assert texts(artifact) == ["Water use\ndown", "bell rings; A_x0041_ stays"]


class TestSlides:
    def test_a_title_heads_its_slide_and_not_the_next(self) -> None:
        first = SlideXml(shape(3, "Body", at=(0, 0)) + title("Plans"))
        artifact = read(DeckXml([first, SlideXml(shape(2, "Untitled"))]))
        assert [(block.type, block.level, block.section_path) for block in artifact.blocks] == [
            (BlockType.HEADING, 1, ("Plans",)),
            (BlockType.TEXT_BOX, 0, ("Plans",)),
            (BlockType.TEXT_BOX, 0, ()),
        ]

    def test_shapes_are_read_from_the_upper_left(self) -> None:
        low, right, left = (0, 5_000_000), (4_000_000, 1_000_000), (0, 1_000_900)
        artifact = one(shape(2, "low", at=low) + shape(3, "right", at=right) + shape(4, "left", at=left))
        assert texts(artifact) == ["left", "right", "low"]

    def test_a_shape_without_a_position_follows_the_one_before_it(self) -> None:
        artifact = one(shape(2, "low", at=(0, 5_000_000)) + shape(3, "after") + shape(4, "high", at=(0, 0)))
        assert texts(artifact) == ["high", "low", "after"]

    def test_a_hidden_slide_and_a_hidden_shape_are_flagged(self) -> None:
        seen = SlideXml(shape(2, "seen") + shape(3, "unseen", attributes='hidden="1"'))
        artifact = read(DeckXml([SlideXml(title("Spare"), shown=False), seen]))
        assert [(block.text, block.visibility) for block in artifact.blocks] == [
            ("Spare", Visibility.HIDDEN_SLIDE),
            ("seen", Visibility.VISIBLE),
            ("unseen", Visibility.HIDDEN_TEXT),
        ]

    def test_of_alternatives_the_preferred_one_is_read_once(self) -> None:
        choices = f"<mc:Choice Requires='x'>{shape(2, 'new')}</mc:Choice><mc:Fallback>{shape(2, 'old')}</mc:Fallback>"
        assert texts(one(f"<mc:AlternateContent>{choices}</mc:AlternateContent>")) == ["new"]
        alone = f"<mc:AlternateContent><mc:Fallback>{shape(2, 'old')}</mc:Fallback></mc:AlternateContent>"
        assert texts(one(alone)) == ["old"]

    def test_footers_dates_and_numbers_on_a_slide_are_footers(self) -> None:
        artifact = one(shape(2, "Draft", placeholder='type="ftr" idx="11"') + shape(3, "4", placeholder='type="sldNum" idx="12"'))
        assert kinds(artifact) == [(BlockType.FOOTER, "Draft"), (BlockType.FOOTER, "4")]

    def test_shapes_with_one_id_are_told_apart(self) -> None:
        artifact = one(shape(2, "one") + shape(2, "two"))
        assert [block.locator for block in artifact.blocks] == [SlidePlace(1, 1, "2/p1"), SlidePlace(1, 1, "2~2/p1")]

    def test_a_picture_and_its_alternative_text_are_told_and_not_read(self) -> None:
        picture = '<p:pic><p:nvPicPr><p:cNvPr id="9" name="p" descr="A red barn"/></p:nvPicPr><p:spPr/></p:pic>'
        artifact = one(shape(2, "Barn") + picture)
        assert texts(artifact) == ["Barn"]
        assert [(warning.code, warning.locator) for warning in artifact.warnings] == [("IMAGE_SKIPPED", SlidePlace(1, 1, "9"))]
        assert artifact.coverage.words_excluded == (WordCount("alternative_text", 3),)

    def test_strict_files_are_read_alike(self) -> None:
        deck = DeckXml([SlideXml(title("Plans") + frame(3, table([["a", "b"], ["1", "2"]], flags='firstRow="1"')))])
        usual, strict = extract(deck.build(), filename="a.pptx"), extract(deck.build(strict=True), filename="a.pptx")
        assert usual.blocks == strict.blocks


class TestBullets:
    def test_bullets_are_list_items_with_their_level(self) -> None:
        bullet = '<a:pPr><a:buChar char="-"/></a:pPr>'
        deeper = '<a:pPr lvl="2"><a:buAutoNum type="arabicPeriod"/></a:pPr>'
        artifact = one(shape(2, "Lead", paragraph(run("One"), properties=bullet), paragraph(run("Two"), properties=deeper)))
        assert [(block.type, block.level) for block in artifact.blocks] == [
            (BlockType.TEXT_BOX, 0),
            (BlockType.LIST_ITEM, 1),
            (BlockType.LIST_ITEM, 3),
        ]

    def test_a_placeholder_takes_bullets_and_position_from_layout_and_master(self) -> None:
        master_styles = (
            '<p:txStyles><p:bodyStyle><a:lvl1pPr><a:buChar char="-"/></a:lvl1pPr>'
            "<a:lvl2pPr><a:buNone/></a:lvl2pPr></p:bodyStyle></p:txStyles>"
        )
        plain_style = "<a:lstStyle><a:lvl1pPr><a:buNone/></a:lvl1pPr></a:lstStyle>"
        layout = (
            shape(2, "Click here", placeholder='type="body" idx="1"', at=(0, 4_000_000))
            + shape(3, "Click there", placeholder='type="body" idx="2"', style=plain_style)
            + shape(4, "Acme Ltd")
        )
        parts = {
            "ppt/slideLayouts/l.xml": page("sldLayout", layout),
            "ppt/slideLayouts/_rels/l.xml.rels": relationships([("slideMaster", "../slideMasters/m.xml")]),
            "ppt/slideMasters/m.xml": page(
                "sldMaster", shape(2, "x", placeholder='type="body" idx="1"', at=(0, 100)), after=master_styles
            ),
        }
        second = paragraph(run("deeper"), properties='<a:pPr lvl="1"/>')
        shapes = (
            shape(5, "low", second, placeholder='idx="1"')
            + shape(6, "plain", placeholder='type="body" idx="2"')
            + shape(7, "between", at=(0, 2_000_000))
        )
        artifact = read(DeckXml([SlideXml(shapes, related=[("slideLayout", "../slideLayouts/l.xml")])], parts=parts))
        assert kinds(artifact) == [
            (BlockType.PARAGRAPH, "plain"),
            (BlockType.TEXT_BOX, "between"),
            (BlockType.LIST_ITEM, "low"),
            (BlockType.PARAGRAPH, "deeper"),
        ]
        assert artifact.coverage.words_excluded == (WordCount("slide_layout", 2),)


class TestTables:
    def test_a_table_with_a_header_is_a_typed_dataset_without_its_totals(self) -> None:
        rows = [["Plan", "Price"], ["Basic", "40"], ["Pro", "90.5"], ["Sum", "130.5"]]
        artifact = one(frame(4, table(rows, flags='firstRow="1" lastRow="1"')))
        (dataset,) = artifact.datasets
        assert only(artifact).dataset_id == dataset.id == "slide-1-table-1"
        assert [(column.name, column.type) for column in dataset.columns] == [
            ("Plan", ColumnType.STRING),
            ("Price", ColumnType.NUMBER),
        ]
        assert dataset.rows.column("Price").to_pylist() == [Decimal(40), Decimal("90.5")]
        assert (
            dataset.rows.column("_locator").to_pylist()[1]
            == '{"slide":{"first_slide":1,"last_slide":1,"shape":"4/r3","notes":false}}'
        )
        assert only(artifact).text.endswith("Sum\t130.5")

    def test_a_header_without_a_flag_is_known_by_numbers_below_words(self) -> None:
        assert len(one(frame(4, table([["Plan", "Price"], ["Basic", "40"]]))).datasets) == 1
        assert one(frame(4, table([["Plan", "Price"], ["Basic", "cheap"]]))).datasets == ()

    def test_merged_cells_span_and_the_covered_ones_are_counted(self) -> None:
        rows = [['gridSpan="2"|Both', 'hMerge="1"|lost words', "C"], ['rowSpan="9"|Tall', "x", "y"], ['vMerge="1"|', "z", ""]]
        artifact = one(frame(4, table(rows, flags='firstRow="1"')))
        assert only(artifact).text == "Both\t\tC\nTall\tx\ty\n\tz"
        assert only(artifact).cells[:3] == (Cell(0, 0, "Both", 1, 2), Cell(0, 2, "C"), Cell(1, 0, "Tall", 2, 1))
        assert artifact.datasets == ()
        assert artifact.coverage.words_excluded == (WordCount("covered_by_merge", 2),)

    def test_a_row_of_a_table_is_a_place(self) -> None:
        content = DeckXml([SlideXml(frame(4, table([["a", "b"], ["1", "2"]])))]).build()
        assert resolve(content, SlidePlace(1, 1, "4/r2"), filename="a.pptx") == "1\t2"
        with pytest.raises(LocatorNotFound):
            resolve(content, SlidePlace(1, 1, "4/r3"), filename="a.pptx")

    def test_tables_over_a_limit_are_refused(self) -> None:
        deck = DeckXml([SlideXml(frame(4, table([["a", "b"], ["1", "2"], ["3", "4"]])))])
        for limits, error in (
            (Limits(max_columns=1), TooManyColumns),
            (Limits(max_rows=2), TooManyRows),
            (Limits(max_cells=5), TooManyRows),
        ):
            with pytest.raises(error):
                extract(deck.build(), filename="a.pptx", limits=limits)


NOTES = {
    "ppt/notesSlides/n.xml": page(
        "notes",
        shape(2, "Say hello.", "Then pause.", placeholder='type="body" idx="1"')
        + shape(3, "12", placeholder='type="sldNum" idx="5"')
        + shape(4, "Confidential", placeholder='type="ftr" idx="4"'),
    )
}


class TestBesideTheSlide:
    def test_speaker_notes_are_read_without_the_slide_number(self) -> None:
        deck = DeckXml([SlideXml(title("Hi"), related=[("notesSlide", "../notesSlides/n.xml")])], parts=NOTES)
        artifact = read(deck)
        assert [(block.type, block.text, block.locator) for block in artifact.blocks[1:]] == [
            (BlockType.SPEAKER_NOTE, "Say hello.\nThen pause.", SlidePlace(1, 1, "2", notes=True)),
            (BlockType.FOOTER, "Confidential", SlidePlace(1, 1, "4", notes=True)),
        ]
        assert artifact.coverage.words_excluded == (WordCount("slide_number", 1),)
        assert resolve(deck.build(), SlidePlace(1, 1), filename="a.pptx") == "Hi"

    def test_classic_comments_name_their_author(self) -> None:
        comments = f'<p:cmLst xmlns:p="{SLIDES}"><p:cm authorId="0" idx="1"><p:text>Check this</p:text></p:cm></p:cmLst>'
        authors = f'<p:cmAuthorLst xmlns:p="{SLIDES}"><p:cmAuthor id="0" name="Ann Lee"/></p:cmAuthorLst>'
        deck = DeckXml(
            [SlideXml(title("Hi"), related=[("comments", "../comments/c.xml")])],
            related=[("commentAuthors", "commentAuthors.xml")],
            parts={"ppt/comments/c.xml": comments, "ppt/commentAuthors.xml": authors},
        )
        block = read(deck).blocks[1]
        assert (block.type, block.text, block.locator) == (
            BlockType.COMMENT,
            "Ann Lee: Check this",
            SlidePlace(1, 1, "comment/1"),
        )

    def test_threads_of_comments_are_read_with_their_replies(self) -> None:
        names = f'xmlns:m="http://schemas.microsoft.com/office/powerpoint/2018/8/main" xmlns:a="{DRAWING}"'
        reply = f'<m:reply authorId="{{B}}"><m:txBody>{paragraph(run("Yes"))}</m:txBody></m:reply>'
        thread = f'<m:cm authorId="{{A}}"><m:replyLst>{reply}</m:replyLst><m:txBody>{paragraph(run("Right?"))}</m:txBody></m:cm>'
        authors = f'<m:authorLst {names}><m:author id="{{A}}" name="Ann"/><m:author id="{{B}}" name="Bo"/></m:authorLst>'
        deck = DeckXml(
            [SlideXml(title("Hi"), related=[("comments", "../comments/c.xml")])],
            related=[("authors", "authors.xml")],
            parts={"ppt/comments/c.xml": f"<m:cmLst {names}>{thread}</m:cmLst>", "ppt/authors.xml": authors},
        )
        assert texts(read(deck))[1:] == ["Ann: Right?", "Bo: Yes"]

    def test_charts_and_diagrams_give_their_words(self) -> None:
        series = "<c:strCache><c:pt><c:v>North</c:v></c:pt></c:strCache><c:numCache><c:pt><c:v>5</c:v></c:pt></c:numCache>"
        chart = (
            f'<c:chartSpace xmlns:c="{CHART}" xmlns:a="{DRAWING}"><c:rich>{paragraph(run("Sales"))}</c:rich>{series}</c:chartSpace>'
        )
        points = "".join(f"<d:pt><d:t>{paragraph(run(text))}</d:t></d:pt>" for text in ("Plan", "Do"))
        diagram = f'<d:dataModel xmlns:d="{DIAGRAM}" xmlns:a="{DRAWING}"><d:ptLst>{points}</d:ptLst></d:dataModel>'
        shapes = frame(4, f'<c:chart xmlns:c="{CHART}" r:id="rId1"/>') + frame(5, f'<d:relIds xmlns:d="{DIAGRAM}" r:dm="rId2"/>')
        artifact = read(
            DeckXml(
                [SlideXml(shapes, related=[("chart", "../charts/c.xml"), ("diagramData", "../diagrams/d.xml")])],
                parts={"ppt/charts/c.xml": chart, "ppt/diagrams/d.xml": diagram},
            )
        )
        assert kinds(artifact) == [(BlockType.CHART_TEXT, "Sales\nNorth"), (BlockType.DIAGRAM_TEXT, "Plan\nDo")]


class TestOutcomes:
    def test_macros_never_run_and_are_told(self) -> None:
        artifact = read(DeckXml([SlideXml(title("Hi"))], parts={"ppt/vbaProject.bin": b"\xd0\xcf"}), filename="talk.pptm")
        assert [warning.code for warning in artifact.warnings] == ["ACTIVE_CONTENT"]

    @pytest.mark.parametrize(("part", "reason"), [({"ppt/slides/slide2.xml": "<p:sld"}, "malformed")])
    def test_a_broken_slide_fails_alone(self, part: dict[str, str], reason: str) -> None:
        artifact = read(DeckXml([SlideXml(title("Good")), SlideXml(title("Bad"))], parts=part))
        assert texts(artifact) == ["Good"]
        assert [(unit.unit, unit.reason) for unit in artifact.coverage.failed] == [("slide 2", reason)]
        assert not artifact.coverage.complete

    def test_a_listed_slide_without_a_part_keeps_its_number(self) -> None:
        artifact = read(DeckXml([SlideXml(title("One")), SlideXml(title("Three"))], listed=[0, 7, 1]))
        assert [block.locator for block in artifact.blocks] == [SlidePlace(1, 1, "2"), SlidePlace(3, 3, "2")]
        assert [(unit.unit, unit.reason) for unit in artifact.coverage.failed] == [("slide 2", "missing_part")]

    def test_broken_attachments_fail_beside_their_slide(self) -> None:
        shapes = title("Good") + frame(4, f'<c:chart xmlns:c="{CHART}" r:id="rId3"/>')
        related = [("notesSlide", "../n.xml"), ("comments", "../missing.xml"), ("chart", "../n.xml")]
        artifact = read(DeckXml([SlideXml(shapes, related=related)], parts={"ppt/n.xml": "<broken"}))
        assert texts(artifact) == ["Good"]
        assert [(unit.unit, unit.reason) for unit in artifact.coverage.failed] == [
            ("slide 1/chart", "malformed"),
            ("slide 1/notes", "malformed"),
            ("slide 1/comments", "missing_part"),
        ]

    def test_a_presentation_without_a_readable_slide_is_refused(self) -> None:
        with pytest.raises(Malformed):
            read(DeckXml([SlideXml()], parts={"ppt/slides/slide1.xml": "<p:sld"}))

    @pytest.mark.parametrize("slides", [[], [SlideXml()], [SlideXml(shape(2, " "))]])
    def test_a_presentation_without_text_says_so(self, slides: list[SlideXml]) -> None:
        with pytest.raises(NoText):
            read(DeckXml(slides))

    def test_a_document_type_refuses_the_file(self) -> None:
        evil = f'<!DOCTYPE x [<!ENTITY e "e">]><p:sld {NAMES}/>'
        with pytest.raises(XmlDtdForbidden):
            read(DeckXml([SlideXml()], parts={"ppt/slides/slide1.xml": evil}))

    def test_floods_are_refused(self) -> None:
        deck = DeckXml([SlideXml(shape(2, "one", "two", "three"))] * 3)
        for limits in (Limits(max_pages=2), Limits(max_blocks=4), Limits(max_text_chars=20)):
            with pytest.raises(OutputLimit):
                extract(deck.build(), filename="a.pptx", limits=limits)

    def test_groups_too_deep_to_be_real_fail_as_a_slide(self) -> None:
        deep = shape(2, "bottom")
        for number in range(400):
            deep = group(number + 3, deep)
        artifact = read(DeckXml([SlideXml(title("Good")), SlideXml(deep)]))
        assert [unit.unit for unit in artifact.coverage.failed] == ["slide 2"]

    def test_places_that_are_not_there_are_not_found(self) -> None:
        content = DeckXml([SlideXml(title("Hi"))]).build()
        for place in (SlidePlace(2, 2), SlidePlace(1, 1, "9"), SlidePlace(1, 1, "2", notes=True), LineSpan(1, 1)):
            with pytest.raises(LocatorNotFound):
                resolve(content, place, filename="a.pptx")

    def test_a_range_of_slides_is_a_place(self) -> None:
        content = DeckXml([SlideXml(title(name)) for name in ("One", "Two", "Three")]).build()
        assert resolve(content, SlidePlace(2, 3), filename="a.pptx") == "Two\nThree"


WORDS = st.text("abc \t_xå1", min_size=1, max_size=8)
BOXES = st.builds(
    lambda number, texts, x, y, role: shape(number, *texts, at=(x, y), placeholder=role),
    st.integers(2, 4),
    st.lists(WORDS, min_size=1, max_size=3),
    st.integers(-(10**6), 10**7),
    st.integers(-(10**6), 10**7),
    st.sampled_from(["", 'type="title"', 'type="ctrTitle"', 'type="ftr"', 'idx="3"', 'type="sldNum"']),
)
TABLES = st.builds(
    lambda number, rows, flags: frame(number, table(rows, flags=flags)),
    st.integers(2, 4),
    st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=3),
    st.sampled_from(["", 'firstRow="1"', 'firstRow="1" lastRow="1"']),
)
TREES = st.recursive(
    st.one_of(BOXES, TABLES),
    lambda inner: st.builds(lambda n, s: group(n, "".join(s)), st.integers(2, 4), st.lists(inner, max_size=3)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(TREES, max_size=4).map("".join), min_size=1, max_size=3))
def test_every_block_reads_back_from_its_place(slides: list[str]) -> None:
    try:
        artifact = read(DeckXml([SlideXml(shapes) for shapes in slides]))
    except NoText:
        return
    places = [block.locator for block in artifact.blocks]
    assert len(set(places)) == len(places)
    assert artifact.coverage.complete
