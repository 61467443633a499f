import re
from dataclasses import replace

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from artifact.locators import LineSpan, PdfPlace, SheetPlace, TomlPlace, to_json
from artifact.model import ROW_ID, ROW_LOCATOR, Artifact, Block, BlockType, Column, ColumnType, Coverage, Dataset, Visibility
from knowledge_svc.domain.chunking import ChunkSettings
from knowledge_svc.domain.structure import cut_artifact, render

SIZE = ChunkSettings(size=60, stride=40)


def artifact(*blocks: Block, datasets: tuple[Dataset, ...] = ()) -> Artifact:
    return Artifact("markdown", "test/1", "0" * 64, 1, blocks, Coverage("line", 1, 1), datasets=datasets)


def paragraph(number: int, text: str, path: tuple[str, ...] = (), **more) -> Block:
    return Block(f"b{number}", BlockType.PARAGRAPH, text, LineSpan(number, number), section_path=path, **more)


def cut(*blocks: Block, datasets: tuple[Dataset, ...] = (), title: str = "T"):
    return cut_artifact(artifact(*blocks, datasets=datasets), title=title, description="", settings=SIZE)


def test_blocks_of_a_section_pack_up_to_the_size_and_their_places_merge():
    chunks, _ = cut(paragraph(1, "a" * 20), paragraph(2, "b" * 20), paragraph(3, "c" * 30))
    assert [chunk.content for chunk in chunks] == ["a" * 20 + "\n\n" + "b" * 20, "c" * 30]
    assert [chunk.locator for chunk in chunks] == [LineSpan(1, 2), LineSpan(3, 3)]
    assert [chunk.block_ids for chunk in chunks] == [("b1", "b2"), ("b3",)]


def test_a_chunk_never_crosses_a_section():
    chunks, sections = cut(paragraph(1, "one", ("A",)), paragraph(2, "two", ("B",)))
    assert [(chunk.content, chunk.section_path) for chunk in chunks] == [("one", ("A",)), ("two", ("B",))]
    assert [(section.path, section.chunk_indexes) for section in sections] == [(("A",), (0,)), (("B",), (1,))]


def test_a_heading_over_a_body_does_not_make_a_chunk_mixed_but_two_kinds_do():
    heading = Block("h", BlockType.HEADING, "Head", LineSpan(1, 1), level=1, section_path=("Head",))
    listed = Block("l", BlockType.LIST_ITEM, "item", LineSpan(3, 3), level=1, section_path=("Head",))
    (plain,), _ = cut(heading, paragraph(2, "body", ("Head",)))
    (mixed,), _ = cut(heading, paragraph(2, "body", ("Head",)), listed)
    (alone,), _ = cut(heading)
    assert (plain.block_type, mixed.block_type, alone.block_type) == ("paragraph", "mixed", "heading")


def test_l_keys_01_chunks_carry_the_names_their_blocks_define_and_read():
    (chunk,), _ = cut(paragraph(1, "one", defines=("a.b",)), paragraph(2, "two", reads=("c", "a.b")))
    assert chunk.keys == ("a.b", "c")


def test_a_long_paragraph_is_windowed_and_keeps_its_place():
    chunks, _ = cut(paragraph(7, " ".join(f"word{n}" for n in range(30))))
    assert len(chunks) > 2
    assert {chunk.locator for chunk in chunks} == {LineSpan(7, 7)}


def test_a_long_table_splits_by_rows_with_the_header_in_the_context_and_each_part_in_its_place():
    rows = [f"item {n}\t{n * 10}" for n in range(8)]
    text = "\n".join(["name\tprice", *rows])
    table = Block("t", BlockType.TABLE, text, SheetPlace("S", 3, 11, 1, 2), section_path=("S",), dataset_id="s")
    chunks, _ = cut(table, datasets=(sheet_dataset(8),))
    assert "\n".join(chunk.content for chunk in chunks) == text
    assert [chunk.locator.a1 for chunk in chunks] == ["A3:B8", "A9:B11"]
    assert [chunk.context for chunk in chunks] == ["T\nS", "T\nS\nname\tprice"]
    assert {chunk.block_type for chunk in chunks} == {"table_rows"}


def test_rows_of_a_table_without_a_header_carry_the_names_of_its_columns():
    rows = [f"item {n}\t{n * 10}" for n in range(8)]
    dataset = replace(sheet_dataset(8), header_rows=0)
    table = Block("t", BlockType.TABLE, "\n".join(rows), SheetPlace("S", 3, 10, 1, 2), section_path=("S",), dataset_id="s")
    names = "\t".join(column.name for column in dataset.columns)
    chunks, _ = cut(table, datasets=(dataset,))
    assert [chunk.context for chunk in chunks] == [f"T\nS\n{names}"] * 2
    assert "\n".join(chunk.content for chunk in chunks) == table.text
    (small,), _ = cut(replace(table, text=rows[0], locator=SheetPlace("S", 3, 3, 1, 2)), datasets=(dataset,))
    assert small.context == f"T\nS\n{names}"


def test_a_tables_rows_stand_on_their_own_pages():
    rows = [f"row {n}\t{n}" for n in range(1, 13)]
    text = "\n".join(["name\tnumber", *rows])
    pages = [PdfPlace(1, 1) if n <= 5 else PdfPlace(2, 2) for n in range(1, 13)]
    dataset = sheet_dataset(12, places=[to_json(place) for place in pages])
    chunks, _ = cut(Block("t", BlockType.TABLE, text, PdfPlace(1, 2), dataset_id="s"), datasets=(dataset,))
    assert [(chunk.locator.first_page, chunk.locator.last_page) for chunk in chunks] == [(1, 2), (2, 2)]


def test_a_row_longer_than_a_chunk_is_windowed_in_its_place():
    text = "\n".join(["name\tnote", "a\tshort", "b\t" + " ".join(f"word{n}" for n in range(20)), "c\tshort"])
    table = Block("t", BlockType.TABLE, text, SheetPlace("S", 3, 6, 1, 2), dataset_id="s")
    chunks, _ = cut(table, datasets=(sheet_dataset(3),))
    assert all(len(chunk.content) <= 60 for chunk in chunks)
    assert [chunk.locator.a1 for chunk in chunks] == ["A3:B4", *["A5:B5"] * (len(chunks) - 2), "A6:B6"]
    assert {word for chunk in chunks for word in chunk.content.split()} >= {f"word{n}" for n in range(20)}


def test_a_header_that_is_repeated_is_no_longer_than_a_chunk():
    header = "\t".join(f"column {n}" for n in range(30))
    text = "\n".join([header, *(f"row {n} with words in it" for n in range(4))])
    table = Block("t", BlockType.TABLE, text, SheetPlace("S", 3, 7, 1, 30), dataset_id="s")
    chunks, _ = cut(table, datasets=(sheet_dataset(4),))
    assert chunks[-1].context == f"T\n{header[:60]}"


def test_a_heading_that_is_a_paragraph_is_cut_in_the_context_and_whole_in_the_path():
    heading = "word " * 100
    (chunk,), _ = cut(paragraph(1, "body", (heading, "Below")))
    first, _, second = chunk.context.removeprefix("T\n").partition(" > ")
    assert (len(first), first[-1], second) == (200, "…", "Below")
    assert chunk.section_path == (heading, "Below")


def test_each_window_of_a_long_block_has_the_keys_it_names_and_the_first_the_rest():
    text = "CREATE TABLE t (" + ", ".join(f"Col_{n} INTEGER NOT NULL" for n in range(6)) + ")"
    keys = (*(f"t.col_{n}" for n in range(6)), 'schema."elsewhere"')
    chunks, _ = cut(Block("q", BlockType.SQL_STATEMENT, text, LineSpan(1, 1), defines=keys))
    assert len(chunks) > 2
    for number, chunk in enumerate(chunks):
        named = {f"t.col_{n}" for n in range(6) if f"Col_{n}" in chunk.content}
        assert set(chunk.keys) == named | ({'schema."elsewhere"'} if number == 0 else set())
    assert {key for chunk in chunks for key in chunk.keys} == set(keys)


def test_l_keys_09_a_toml_table_packs_with_its_keys_into_one_mixed_chunk():
    path = ("pool",)
    header = Block("h", BlockType.TOML_TABLE, "[pool]", TomlPlace("pool", 1, 1), section_path=path, defines=("pool",))
    key = Block("k", BlockType.TOML_KEY, "max = 4", TomlPlace("pool.max", 2, 2), section_path=path, defines=("pool.max",))
    (chunk,), _ = cut(header, key)
    assert (chunk.block_type, chunk.keys, chunk.block_ids) == ("mixed", ("pool", "pool.max"), ("h", "k"))
    assert (chunk.locator, chunk.context) == (TomlPlace("pool", 1, 2), "T\npool")


def test_deleted_text_is_neither_rendered_nor_cut():
    gone = paragraph(2, "gone", visibility=Visibility.DELETED)
    assert render(artifact(paragraph(1, "kept"), gone)) == "kept"
    assert [chunk.content for chunk in cut(paragraph(1, "kept"), gone)[0]] == ["kept"]


def test_the_rendered_text_reads_as_markdown_l_art_15():
    text = render(
        artifact(
            Block("h", BlockType.HEADING, "Head", LineSpan(1, 1), level=2, section_path=("Head",)),
            Block("l", BlockType.LIST_ITEM, "item", LineSpan(2, 2), level=2),
            Block("c", BlockType.CODE, "x = '```'", LineSpan(3, 3), language="python"),
        )
    )
    assert text == "## Head\n\n  - item\n\n````python\nx = '```'\n````"


@given(st.lists(st.tuples(st.text("ab \n", min_size=1, max_size=150), st.sampled_from([("A",), ("A", "B"), ()])), max_size=12))
def test_every_word_of_every_block_is_in_a_chunk_of_its_section(texts):
    blocks = [paragraph(number, text, path) for number, (text, path) in enumerate(texts, start=1)]
    chunks, _ = cut(*blocks)
    for block in blocks:
        kept = " ".join(chunk.content for chunk in chunks if block.id in chunk.block_ids)
        assert set(re.findall(r"\w{1,10}", block.text[:40])) <= set(re.findall(r"\w{1,10}", kept)) or len(block.text) > 60
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))


def sheet_dataset(count: int, places: list[str] | None = None) -> Dataset:
    located = places or [to_json(SheetPlace("S", 4 + n, 4 + n, 1, 2)) for n in range(count)]
    rows = pa.table({ROW_ID: pa.array(range(count), pa.int64()), ROW_LOCATOR: located, "name": [str(n) for n in range(count)]})
    return Dataset("s", "S", (Column("name", ColumnType.STRING),), rows, SheetPlace("S", 3, 3 + count, 1, 2))
