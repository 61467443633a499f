"""Hypothesis strategies for whole artifacts and their pieces."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

from artifact.codec import row_schema
from artifact.locators import (
    ByteSpan,
    CharSpan,
    DocxPlace,
    HtmlPlace,
    ImagePlace,
    LineSpan,
    Locator,
    PageBox,
    PdfPlace,
    RowSpan,
    SheetPlace,
    SlidePlace,
    TomlPlace,
    to_json,
)
from artifact.model import (
    ROW_ID,
    ROW_LOCATOR,
    Artifact,
    ArtifactWarning,
    Block,
    BlockType,
    Cell,
    CellFormula,
    Clarification,
    Column,
    ColumnType,
    Coverage,
    Dataset,
    FailedUnit,
    Link,
    RejectedRow,
    TypeCount,
    Visibility,
    WordCount,
)

CHARACTERS = st.characters(exclude_categories=["Cs"])
TEXT = st.text(CHARACTERS, max_size=12)
NAME = st.text(CHARACTERS, min_size=1, max_size=8)
COUNT = st.integers(0, 2**31 - 1)
NUMBER = st.integers(1, 2**31 - 1)
SIDE = st.floats(-1e6, 1e6, allow_nan=False)


def ordered(values: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(values, values).map(lambda pair: (min(pair), max(pair)))


@st.composite
def pdf_places(draw: st.DrawFn) -> PdfPlace:
    first, last = draw(ordered(NUMBER))

    def box(sides: list[float]) -> PageBox:
        x0, x1 = sorted(sides[:2])
        y0, y1 = sorted(sides[2:])
        return PageBox(draw(st.integers(first, last)), x0, y0, x1, y1)

    sides = st.lists(SIDE, min_size=4, max_size=4)
    return PdfPlace(first, last, draw(TEXT), tuple(box(four) for four in draw(st.lists(sides, max_size=3))))


PLACES: dict[str, st.SearchStrategy[Locator]] = {
    "lines": ordered(NUMBER).map(lambda pair: LineSpan(*pair)),
    "chars": ordered(COUNT).map(lambda pair: CharSpan(*pair)),
    "bytes": ordered(COUNT).map(lambda pair: ByteSpan(*pair)),
    "pdf": pdf_places(),
    "slide": st.builds(lambda pair, shape, notes: SlidePlace(pair[0], pair[1], shape, notes), ordered(NUMBER), TEXT, st.booleans()),
    "sheet": st.builds(lambda sheet, rows, columns: SheetPlace(sheet, *rows, *columns), NAME, ordered(NUMBER), ordered(NUMBER)),
    "docx": st.builds(DocxPlace, NAME, NAME, NAME),
    "toml": st.builds(lambda path, pair: TomlPlace(path, *pair), TEXT, ordered(NUMBER)),
    "rows": ordered(NUMBER).map(lambda pair: RowSpan(*pair)),
    "image": st.builds(lambda frame, x, y: ImagePlace(frame, x[0], y[0], x[1], y[1]), NUMBER, ordered(COUNT), ordered(COUNT)),
    "html": st.builds(HtmlPlace, NAME, NAME),
}
LOCATORS = st.one_of(*PLACES.values())
CELLS = st.builds(Cell, row=COUNT, column=COUNT, text=TEXT, row_span=NUMBER, column_span=NUMBER, formula=TEXT, number_format=TEXT)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)


@st.composite
def blocks(draw: st.DrawFn, *, number: int = 0, dataset_ids: tuple[str, ...] = ("",)) -> Block:
    kind = draw(st.sampled_from(BlockType))
    return Block(
        id=f"b{number}",
        type=kind,
        text=draw(TEXT),
        locator=draw(LOCATORS),
        level=draw(st.integers(1, 9)) if kind in (BlockType.HEADING, BlockType.LIST_ITEM) else 0,
        section_path=draw(TEXTS),
        defines=draw(TEXTS),
        reads=draw(TEXTS),
        dataset_id=draw(st.sampled_from(dataset_ids)),
        cells=tuple(draw(st.lists(CELLS, max_size=3))),
        language=draw(TEXT),
        ocr=draw(st.booleans()),
        visibility=draw(st.sampled_from(Visibility)),
    )


COLUMN_VALUES: dict[ColumnType, st.SearchStrategy[object]] = {
    ColumnType.STRING: TEXT,
    ColumnType.NUMBER: st.decimals(-99999, 99999, places=2).map(lambda value: value.quantize(Decimal("0.01"))),
    ColumnType.BOOL: st.booleans(),
    ColumnType.DATE: st.dates(date(1900, 1, 1), date(2200, 1, 1)),
    ColumnType.DATETIME: st.datetimes(datetime.fromisoformat("1900-01-01"), datetime.fromisoformat("2200-01-01")),
    ColumnType.TIME: st.times(time(0, 0), time(23, 59, 59)),
    ColumnType.DURATION: st.timedeltas(timedelta(0), timedelta(days=9999)),
}


@st.composite
def columns(draw: st.DrawFn, *, number: int) -> Column:
    kind = draw(st.sampled_from(ColumnType))
    decimal = kind is ColumnType.NUMBER
    return Column(
        name=f"column {number}",
        type=kind,
        source_header=draw(TEXT),
        inferred=tuple(draw(st.lists(st.builds(TypeCount, st.sampled_from(ColumnType), COUNT), max_size=2))),
        number_format=draw(TEXT),
        unit=draw(TEXT),
        precision=7 if decimal else 0,
        scale=2 if decimal else 0,
        nullable=draw(st.booleans()),
        stored=draw(st.booleans()),
    )


@st.composite
def datasets(draw: st.DrawFn, *, number: int = 0) -> Dataset:
    made = tuple(draw(columns(number=index)) for index in range(draw(st.integers(0, 3))))
    ids = draw(st.lists(st.integers(0, 10**6), unique=True, max_size=5).map(sorted))
    held: dict[str, list[object]] = {ROW_ID: list(ids), ROW_LOCATOR: [to_json(draw(LOCATORS)) for _ in ids]}
    for column in made:
        if column.stored:
            values = COLUMN_VALUES[column.type]
            held[column.name] = [draw(st.none() | values if column.nullable else values) for _ in ids]
    rejected = tuple(draw(st.lists(st.builds(RejectedRow, LOCATORS, TEXTS, TEXT), max_size=2)))
    formulas = st.builds(
        CellFormula, st.sampled_from(ids or [0]), st.sampled_from([c.name for c in made] or [""]), TEXT, st.booleans()
    )
    return Dataset(
        id=f"d{number}",
        name=draw(TEXT),
        columns=made,
        rows=pa.table(held, row_schema(made)),
        locator=draw(LOCATORS),
        header_rows=draw(st.integers(0, 3)),
        rejected_count=len(rejected) + draw(st.integers(0, 5)),
        rejected_rows=rejected,
        clarifications=tuple(draw(st.lists(st.builds(Clarification, NAME, TEXT, TEXT), max_size=2))),
        formulas=tuple(draw(st.lists(formulas, max_size=3))) if ids and made else (),
        complete=draw(st.booleans()),
    )


WORDS = st.lists(st.builds(WordCount, NAME, COUNT), max_size=2).map(tuple)
MAYBE = st.none() | LOCATORS
COVERAGES = st.builds(
    lambda pair, **rest: Coverage(extracted=pair[0], total=pair[1], **rest),
    ordered(COUNT),
    unit=NAME,
    failed=st.lists(st.builds(FailedUnit, TEXT, NAME, MAYBE), max_size=2).map(tuple),
    lost=TEXTS,
    words_emitted=COUNT,
    words_excluded=WORDS,
    words_unread=WORDS,
)
LINKS = st.builds(Link, TEXT, NAME, LOCATORS)
WARNINGS = st.builds(ArtifactWarning, st.from_regex(r"[A-Z][A-Z0-9_]{0,9}", fullmatch=True), TEXT, MAYBE)


@st.composite
def artifacts(draw: st.DrawFn) -> Artifact:
    tables = tuple(draw(datasets(number=number)) for number in range(draw(st.integers(0, 2))))
    ids = ("", *(table.id for table in tables))
    return Artifact(
        format=draw(NAME),
        parser=draw(NAME),
        sha256=draw(st.from_regex(r"[0-9a-f]{64}", fullmatch=True)),
        size_bytes=draw(COUNT),
        blocks=tuple(draw(blocks(number=number, dataset_ids=ids)) for number in range(draw(st.integers(0, 4)))),
        coverage=draw(COVERAGES),
        title=draw(TEXT),
        encoding=draw(TEXT),
        datasets=tables,
        links=tuple(draw(st.lists(LINKS, max_size=2))),
        warnings=tuple(draw(st.lists(WARNINGS, max_size=3))),
        properties=draw(st.dictionaries(TEXT, TEXT, max_size=3)),
    )
