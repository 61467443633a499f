import pytest
from hypothesis import given
from hypothesis import strategies as st

from artifact.locators import (
    ByteSpan,
    CharSpan,
    DocxPlace,
    HtmlPlace,
    ImagePlace,
    LineSpan,
    PageBox,
    PdfPlace,
    RowSpan,
    SheetPlace,
    SlidePlace,
    TomlPlace,
    column_letters,
    describe,
    from_json,
    merge,
    to_json,
)

BOX = PageBox(2, 10.0, 20.0, 30.5, 40.25)
EXAMPLES = [
    (LineSpan(4, 12), "lines 4-12"),
    (LineSpan(7, 7), "line 7"),
    (CharSpan(0, 9), "characters 0-9"),
    (ByteSpan(3, 4), "bytes 3-4"),
    (PdfPlace(3, 3), "page 3"),
    (PdfPlace(3, 4, label="iii", boxes=(BOX,)), "pages 3-4 (printed iii)"),
    (PdfPlace(3, 3, label="3"), "page 3"),
    (SlidePlace(2, 2, shape="4/7"), "slide 2"),
    (SlidePlace(2, 2, notes=True), "slide 2, notes"),
    (SheetPlace("Orders", 2, 9, 1, 4), "sheet Orders, rows 2-9 (A2:D9)"),
    (SheetPlace("Orders", 5, 5, 28, 28), "sheet Orders, row 5 (AB5)"),
    (SheetPlace("Orders", 0, 0, 0, 0), "sheet Orders"),
    (DocxPlace("word/document.xml", "body/p[3]", "body/p[3]"), "word/document.xml body/p[3]"),
    (DocxPlace("word/document.xml", "body/p[3]", "body/p[5]"), "word/document.xml body/p[3] to body/p[5]"),
    (TomlPlace("pool.max-size", 3, 3), "pool.max-size, line 3"),
    (TomlPlace("", 1, 2), "lines 1-2"),
    (RowSpan(1, 5), "rows 1-5"),
    (ImagePlace(1, 0, 1, 20, 30), "image 1, 0,1 to 20,30"),
    (HtmlPlace("html/body/p[1]", "html/body/p[1]"), "html/body/p[1]"),
]


@pytest.mark.parametrize(("place", "phrase"), EXAMPLES)
def test_a_place_is_told_in_a_few_words_and_reads_back_from_json(place, phrase):
    assert describe(place) == phrase
    assert from_json(to_json(place)) == place


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"lines":{"first":1}}', '{"lines":{"first":1,"last":2,"more":3}}', '{"nowhere":{}}']
)
def test_what_is_not_a_locator_is_refused(text):
    with pytest.raises(ValueError):
        from_json(text)


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (LineSpan(4, 6), LineSpan(2, 5), LineSpan(2, 6)),
        (RowSpan(1, 1), RowSpan(5, 6), RowSpan(1, 6)),
        (CharSpan(3, 9), CharSpan(5, 20), CharSpan(3, 20)),
        (PdfPlace(2, 2, "ii", (BOX,)), PdfPlace(1, 1, "i"), PdfPlace(1, 2, "i", (BOX,))),
        (SheetPlace("S", 2, 3, 2, 4), SheetPlace("S", 5, 5, 1, 2), SheetPlace("S", 2, 5, 1, 4)),
        (SheetPlace("S", 0, 0, 0, 0), SheetPlace("S", 2, 3, 1, 2), SheetPlace("S", 2, 3, 1, 2)),
        (SheetPlace("S", 2, 3, 1, 2), SheetPlace("S", 0, 0, 0, 0), SheetPlace("S", 2, 3, 1, 2)),
        (TomlPlace("a.b.c", 1, 1), TomlPlace("a.b.d", 4, 5), TomlPlace("a.b", 1, 5)),
        (TomlPlace('tool."a.b".c', 1, 1), TomlPlace('tool."a.c".c', 2, 2), TomlPlace("tool", 1, 2)),
        (SlidePlace(1, 1, "3"), SlidePlace(2, 2, "4"), SlidePlace(1, 2)),
        (DocxPlace("d", "p[1]", "p[1]"), DocxPlace("d", "p[4]", "p[4]"), DocxPlace("d", "p[1]", "p[4]")),
        (LineSpan(1, 1), RowSpan(1, 1), None),
        (SheetPlace("S", 1, 1, 1, 1), SheetPlace("T", 1, 1, 1, 1), None),
        (SlidePlace(1, 1), SlidePlace(1, 1, notes=True), None),
        (DocxPlace("d", "p[1]", "p[1]"), DocxPlace("footnotes", "p[1]", "p[1]"), None),
    ],
)
def test_two_places_merge_where_one_place_can_cover_them(first, second, both):
    assert merge(first, second) == both


@given(st.sampled_from([place for place, _ in EXAMPLES]))
def test_a_place_merged_with_itself_is_itself(place):
    assert merge(place, place) == place


@pytest.mark.parametrize(
    ("number", "letters"), [(1, "A"), (26, "Z"), (27, "AA"), (52, "AZ"), (53, "BA"), (702, "ZZ"), (703, "AAA")]
)
def test_columns_have_letters(number, letters):
    assert column_letters(number) == letters
