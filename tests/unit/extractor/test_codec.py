"""The artifact's wire format: what goes out comes back, and what breaks the contract is named."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import fields, replace

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loom.artifact.v1 import artifact_pb2 as pb

from artifact.codec import (
    MAX_MESSAGE_BYTES,
    MAX_PART_BYTES,
    ArtifactAssembler,
    ArtifactFault,
    ArtifactTooLarge,
    BlocksPart,
    CoveragePart,
    DatasetPart,
    HeadPart,
    Part,
    RowsPart,
    dump,
    load,
    locator_message,
    locator_of,
    pack,
    parts,
    unpack,
)
from artifact.locators import LineSpan, Locator, PageBox, PdfPlace, RowSpan, SheetPlace, to_json
from artifact.model import (
    ROW_ID,
    ROW_LOCATOR,
    Artifact,
    Block,
    BlockType,
    Cell,
    CellFormula,
    Column,
    ColumnType,
    Coverage,
    Dataset,
)
from tests.unit.extractor import strategies

COLUMNS = (Column("item", ColumnType.STRING), Column("price", ColumnType.NUMBER, precision=7, scale=2))


def rows(**changes: pa.Array) -> pa.Table:
    held: dict[str, pa.Array] = {
        ROW_ID: pa.array([0, 1], pa.int64()),
        ROW_LOCATOR: pa.array([to_json(RowSpan(1, 1)), to_json(RowSpan(2, 2))]),
        "item": pa.array(["pen", "ink"]),
        "price": pa.array(["1.50", "20.00"]).cast(pa.decimal128(7, 2)),
    }
    return pa.table(held | changes)


def dataset(**changes: object) -> Dataset:
    return replace(Dataset("d1", "stock", COLUMNS, rows(), RowSpan(1, 2)), **changes)  # type: ignore[arg-type]  # one field each


def artifact(**changes: object) -> Artifact:
    block = Block("b1", BlockType.TABLE, "pen\t1.50", LineSpan(2, 3), dataset_id="d1")
    whole = Artifact("csv", "loom-csv/1", "0" * 64, 30, (block,), Coverage("row", 2, 2), datasets=(dataset(),))
    return replace(whole, **changes)  # type: ignore[arg-type]  # one field each


def assemble(sent: list[Part], *, max_bytes: int = 50_000_000) -> Artifact:
    assembler = ArtifactAssembler(max_bytes=max_bytes)
    for part in sent:
        assembler.add(part)
    return assembler.finish()


def fault_of(sent: list[Part]) -> str:
    with pytest.raises(ArtifactFault) as caught:
        assemble(sent)
    return caught.value.field


def same(left: object, right: object) -> bool:
    """Whether two artifacts or datasets are equal, their tables by value."""
    if isinstance(left, pa.Table):
        return isinstance(right, pa.Table) and bool(left.equals(right))
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Artifact | Dataset) and type(left) is type(right):
        return all(same(getattr(left, item.name), getattr(right, item.name)) for item in fields(left))
    return left == right


@pytest.mark.parametrize("kind", sorted(strategies.PLACES))
def test_a_locator_of_every_kind_comes_back_equal(kind: str) -> None:
    @given(strategies.PLACES[kind])
    @settings(max_examples=20, deadline=None)
    def comes_back(locator: Locator) -> None:
        message = locator_message(locator)
        assert message.WhichOneof("kind") == kind
        assert locator_of(pb.Locator.FromString(message.SerializeToString()), "locator") == locator

    comes_back()


@given(strategies.artifacts())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
def test_a_stored_artifact_comes_back_equal(whole: Artifact) -> None:
    assert same(load(dump(whole)), whole)


@given(strategies.artifacts(), st.integers(64, 2000))
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
def test_an_artifact_comes_back_equal_whatever_the_size_of_its_parts(whole: Artifact, max_part_bytes: int) -> None:
    sent = [unpack(pack(part)) for part in parts(whole, max_part_bytes=max_part_bytes)]
    assert same(assemble(sent), whole)
    assert all(len(part.arrow_ipc) <= max_part_bytes for part in sent if isinstance(part, RowsPart))


def test_equal_artifacts_are_stored_as_equal_bytes() -> None:
    first = artifact(properties={"author": "Ada", "subject": "stock"})
    second = artifact(properties={"subject": "stock", "author": "Ada"})
    assert dump(first) == dump(second)


def test_a_sheet_range_is_also_written_in_a1_notation() -> None:
    assert locator_message(SheetPlace("Orders", 2, 9, 1, 28)).sheet.a1 == "A2:AB9"


def test_a_sheets_tab_is_a_place_without_cells() -> None:
    message = locator_message(SheetPlace("Orders", 0, 0, 0, 0))
    assert message.sheet.a1 == ""
    assert locator_of(message, "locator") == SheetPlace("Orders", 0, 0, 0, 0)
    message.sheet.last_row = 1
    with pytest.raises(ArtifactFault):
        locator_of(message, "locator")


def test_the_parts_come_in_the_order_of_the_contract() -> None:
    kinds = [type(part).__name__ for part in parts(artifact())]
    assert kinds == ["HeadPart", "BlocksPart", "DatasetPart", "RowsPart", "CoveragePart"]


def test_rows_travel_in_parts_of_at_most_the_asked_size() -> None:
    many = 20_000
    table = pa.table(
        {
            ROW_ID: pa.array(range(many), pa.int64()),
            ROW_LOCATOR: [to_json(RowSpan(number + 1, number + 1)) for number in range(many)],
            "item": [f"item {number}" for number in range(many)],
            "price": pa.nulls(many, pa.decimal128(7, 2)),
        }
    )
    whole = artifact(datasets=(dataset(rows=table),))
    sent = list(parts(whole, max_part_bytes=65536))
    sizes = [len(part.arrow_ipc) for part in sent if isinstance(part, RowsPart)]
    assert len(sizes) > 10
    assert max(sizes) <= 65536
    assert assemble(sent).datasets[0].rows.equals(table)


def test_a_schema_too_large_for_one_message_comes_in_several() -> None:
    formulas = tuple(CellFormula(number % 2, "price", f"A{number}*2", cached=True) for number in range(1000))
    sent = list(parts(artifact(datasets=(dataset(formulas=formulas),)), max_part_bytes=4096))
    schemas = [part for part in sent if isinstance(part, DatasetPart)]
    assert len(schemas) > 3
    assert all(part.message.ByteSize() <= 4096 for part in schemas)
    assert assemble(sent).datasets[0].formulas == formulas


def test_a_dataset_without_rows_keeps_its_columns() -> None:
    empty = rows().slice(0, 0)
    assert load(dump(artifact(datasets=(dataset(rows=empty),)))).datasets[0].rows.schema == empty.schema


def test_a_column_that_was_not_stored_has_no_rows() -> None:
    columns = (COLUMNS[0], replace(COLUMNS[1], stored=False))
    whole = artifact(datasets=(dataset(columns=columns, rows=rows().drop_columns(["price"])),))
    back = load(dump(whole)).datasets[0]
    assert back.rows.column_names == [ROW_ID, ROW_LOCATOR, "item"]
    assert [column.name for column in back.columns] == ["item", "price"]


def test_a_block_too_large_for_one_message_comes_in_several() -> None:
    cells = tuple(Cell(number // 10, number % 10, f"cell {number}") for number in range(3000))
    before = Block("b0", BlockType.PARAGRAPH, "Stock", LineSpan(1, 1))
    table = Block("b1", BlockType.TABLE, "größer \U0001f58b\t" * 2000, LineSpan(2, 9), cells=cells)
    sent = list(parts(artifact(blocks=(before, table, replace(before, id="b2"))), max_part_bytes=4096))
    messages = [message for part in sent if isinstance(part, BlocksPart) for message in part.messages]
    assert len(messages) > 10
    assert max(message.ByteSize() for message in messages) <= 4096
    assert [message.id for message in messages][:3] == ["b0", "b1", "b1"]
    assert assemble(sent).blocks == (before, table, replace(before, id="b2"))


def test_a_table_of_many_megabytes_travels() -> None:
    cells = tuple(Cell(number // 10, number % 10, "x" * 100) for number in range(60_000))
    table = Block("b1", BlockType.TABLE, "x" * 6_000_000, LineSpan(2, 9), cells=cells)
    sent = list(parts(artifact(blocks=(table,))))
    assert max(part.messages[0].ByteSize() for part in sent if isinstance(part, BlocksPart)) <= MAX_PART_BYTES
    assert assemble(sent).blocks == (table,)


def test_a_cell_larger_than_a_message_is_refused_by_name() -> None:
    table = Block("b1", BlockType.TABLE, "", LineSpan(1, 1), cells=(Cell(0, 0, "x" * (MAX_MESSAGE_BYTES + 1)),))
    with pytest.raises(ArtifactTooLarge, match=r"^blocks\[0\]: "):
        list(parts(artifact(blocks=(table,))))


def test_rows_of_the_wrong_type_are_refused_before_they_are_sent() -> None:
    with pytest.raises(ArtifactFault) as caught:
        list(parts(artifact(datasets=(dataset(rows=rows(price=pa.array([1.5, 20.0]))),))))
    assert caught.value.field == "datasets[0].rows.price"


def test_complete_follows_from_the_ledger_and_not_from_its_sender() -> None:
    sent = list(parts(artifact(coverage=Coverage("page", 3, 2))))
    last = sent[-1]
    assert isinstance(last, CoveragePart)
    last.message.complete = True
    assert assemble(sent).coverage.complete is False


BLOCK_FAULTS: list[tuple[str, Callable[[pb.Block], object]]] = [
    ("blocks[0].id", lambda block: block.ClearField("id")),
    ("blocks[0].type", lambda block: block.ClearField("type")),
    ("blocks[0].type", lambda block: setattr(block, "type", 99)),
    ("blocks[0].visibility", lambda block: setattr(block, "visibility", 8)),
    ("blocks[0].locator", lambda block: block.ClearField("locator")),
    ("blocks[0].locator", lambda block: setattr(block.locator.lines, "first", 0)),
    ("blocks[0].locator", lambda block: setattr(block.locator.lines, "last", 1)),
    ("blocks[0].level", lambda block: setattr(block, "level", 1)),
    ("blocks[0].dataset_id", lambda block: setattr(block, "dataset_id", "d9")),
    ("blocks[0].cells[0].row_span", lambda block: block.cells.add(row_span=-1)),
    ("blocks[0].cells[0].column", lambda block: block.cells.add(column=-1)),
]


@pytest.mark.parametrize(("field", "spoil"), BLOCK_FAULTS)
def test_a_faulty_block_is_refused_by_the_path_of_its_field(field: str, spoil: Callable[[pb.Block], object]) -> None:
    sent = list(parts(artifact()))
    assert isinstance(sent[1], BlocksPart)
    spoil(sent[1].messages[0])
    assert fault_of(sent) == field


@pytest.mark.parametrize("level", [0, 10, -1])
def test_a_heading_has_a_level_from_1_to_9(level: int) -> None:
    heading = Block("b1", BlockType.HEADING, "Stock", LineSpan(1, 1), level=level)
    assert fault_of(list(parts(artifact(blocks=(heading,))))) == "blocks[0].level"


def test_a_cell_span_of_0_reads_as_1() -> None:
    sent = list(parts(artifact()))
    assert isinstance(sent[1], BlocksPart)
    sent[1].messages[0].cells.add(text="pen")
    (cell,) = assemble(sent).blocks[0].cells
    assert (cell.row_span, cell.column_span) == (1, 1)


def test_block_ids_are_unique() -> None:
    block = Block("b1", BlockType.PARAGRAPH, "pen", LineSpan(1, 1))
    other = replace(block, id="b2")
    assert fault_of(list(parts(artifact(blocks=(block, block))))) == "blocks[0].id"
    assert fault_of(list(parts(artifact(blocks=(block, other, block))))) == "blocks[2].id"


@pytest.mark.parametrize("side", [float("nan"), float("inf"), float("-inf")])
def test_a_box_has_finite_sides(side: float) -> None:
    place = PdfPlace(1, 1, boxes=(PageBox(1, 0, 0, 5, side),))
    assert fault_of(list(parts(artifact(blocks=(Block("b1", BlockType.PARAGRAPH, "x", place),))))) == "blocks[0].locator.boxes[0]"


DATASET_FAULTS: list[tuple[str, Callable[[pb.DatasetSchema], object]]] = [
    ("datasets[0].id", lambda schema: schema.ClearField("id")),
    ("datasets[0].locator", lambda schema: schema.ClearField("locator")),
    ("datasets[0].rows", lambda schema: setattr(schema, "row_count", 3)),
    ("datasets[0].rows", lambda schema: setattr(schema, "row_count", 1)),
    ("datasets[0].row_count", lambda schema: setattr(schema, "row_count", -1)),
    ("datasets[0].columns[0].type", lambda schema: schema.columns[0].ClearField("type")),
    ("datasets[0].columns[1].name", lambda schema: setattr(schema.columns[1], "name", "item")),
    ("datasets[0].columns[0].name", lambda schema: setattr(schema.columns[0], "name", "_row_id")),
    ("datasets[0].columns[1].precision", lambda schema: setattr(schema.columns[1], "precision", 77)),
    ("datasets[0].columns[1].scale", lambda schema: setattr(schema.columns[1], "scale", 8)),
    ("datasets[0].rows", lambda schema: setattr(schema.columns[1], "scale", 3)),
    ("datasets[0].rows", lambda schema: setattr(schema.columns[0], "type", pb.COLUMN_TYPE_BOOL)),
    ("datasets[0].rows", lambda schema: schema.columns.add(name="more", type=pb.COLUMN_TYPE_BOOL, stored=True)),
    ("datasets[0].rejected_rows", lambda schema: schema.rejected_rows.add()),
    ("datasets[0].formulas[0].row_id", lambda schema: schema.formulas.add(row_id=2, column="price")),
    ("datasets[0].formulas[0].column", lambda schema: schema.formulas.add(row_id=1, column="cost")),
]


@pytest.mark.parametrize(("field", "spoil"), DATASET_FAULTS)
def test_a_faulty_dataset_is_refused_by_the_path_of_its_field(field: str, spoil: Callable[[pb.DatasetSchema], object]) -> None:
    sent = list(parts(artifact(blocks=())))
    assert isinstance(sent[1], DatasetPart)
    spoil(sent[1].message)
    if field == "datasets[0].id":
        sent[2] = RowsPart("", b"")
    assert fault_of(sent) == field


ROW_FAULTS = [
    ("datasets[0].rows._row_id", rows(_row_id=pa.array([1, 0], pa.int64()))),
    ("datasets[0].rows._row_id", rows(_row_id=pa.array([1, 1], pa.int64()))),
    ("datasets[0].rows._row_id", rows(_row_id=pa.array([-1, 0], pa.int64()))),
    ("datasets[0].rows._row_id", rows(_row_id=pa.array([0, None], pa.int64()))),
    ("datasets[0].rows._locator", rows(_locator=pa.array([to_json(RowSpan(1, 1)), None]))),
    ("datasets[0].rows._locator", rows(_locator=pa.array([to_json(RowSpan(1, 1)), to_json(RowSpan(3, 2))]))),
    ("datasets[0].rows._locator", rows(_locator=pa.array(['{"rows":{"first":0,"last":4}}', '{"rows":{"first":4,"last":4}}']))),
    ("datasets[0].rows._locator", rows(_locator=pa.array(['{"rows":{"first":"1","last":4}}', '{"rows":{"first":4,"last":4}}']))),
    ("datasets[0].rows._locator", rows(_locator=pa.array(["row 1", "[" * 100_000]))),
]


@pytest.mark.parametrize(("field", "table"), ROW_FAULTS)
def test_faulty_rows_are_refused_by_the_path_of_their_column(field: str, table: pa.Table) -> None:
    assert fault_of(list(parts(artifact(datasets=(dataset(rows=table),))))) == field


def test_a_null_is_refused_where_none_may_stand() -> None:
    columns = (replace(COLUMNS[0], nullable=False), COLUMNS[1])
    sent = list(parts(artifact(datasets=(dataset(columns=columns, rows=rows(item=pa.array(["pen", None]))),))))
    assert fault_of(sent) == "datasets[0].rows.item"


def test_compressed_rows_are_refused() -> None:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, rows().schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(rows())
    sent = [RowsPart("d1", sink.getvalue()) if isinstance(part, RowsPart) else part for part in parts(artifact())]
    with pytest.raises(ArtifactFault, match=r"datasets\[0\]\.rows: is compressed"):
        assemble(sent)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_damaged_rows_are_refused_or_read_and_nothing_else(data: st.DataObject) -> None:
    sent = list(parts(artifact()))
    place = next(number for number, part in enumerate(sent) if isinstance(part, RowsPart))
    original = sent[place]
    assert isinstance(original, RowsPart)
    stream = bytearray(original.arrow_ipc)
    for _ in range(data.draw(st.integers(1, 4))):
        stream[data.draw(st.integers(0, len(stream) - 1))] = data.draw(st.integers(0, 255))
    sent[place] = RowsPart("d1", bytes(stream))
    try:
        assemble(sent).datasets[0].rows.validate(full=True)
    except ArtifactFault as fault:
        assert fault.field.startswith("datasets[0]")


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_damaged_bytes_are_a_fault_and_never_another_error(data: st.DataObject) -> None:
    stored = bytearray(dump(artifact()))
    stored[data.draw(st.integers(0, len(stored) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(stored)))
    try:
        load(bytes(stored[:end]))
    except ArtifactFault as fault:
        assert fault.field


def test_a_stored_artifact_that_was_cut_off_is_refused_at_every_length() -> None:
    stored = dump(artifact())
    for end in range(len(stored)):
        with pytest.raises(ArtifactFault):
            load(stored[:end])


HEAD_FAULTS: list[tuple[str, Callable[[pb.ArtifactHead], object]]] = [
    ("head.format", lambda head: head.ClearField("format")),
    ("head.parser", lambda head: head.ClearField("parser")),
    ("head.sha256", lambda head: setattr(head, "sha256", "A" * 64)),
    ("head.size_bytes", lambda head: setattr(head, "size_bytes", -1)),
]


@pytest.mark.parametrize(("field", "spoil"), HEAD_FAULTS)
def test_a_faulty_head_is_refused_by_the_path_of_its_field(field: str, spoil: Callable[[pb.ArtifactHead], object]) -> None:
    sent = list(parts(artifact()))
    assert isinstance(sent[0], HeadPart)
    spoil(sent[0].message)
    assert fault_of(sent) == field


COVERAGE_FAULTS: list[tuple[str, Callable[[pb.Coverage], object]]] = [
    ("coverage.unit", lambda coverage: coverage.ClearField("unit")),
    ("coverage.total", lambda coverage: setattr(coverage, "total", -1)),
    ("coverage.extracted", lambda coverage: setattr(coverage, "extracted", 3)),
    ("coverage.failed[0].reason", lambda coverage: coverage.failed.add(unit="2")),
    ("coverage.words_unread[0].words", lambda coverage: coverage.words_unread.add(reason="image_only_page", words=-4)),
]


@pytest.mark.parametrize(("field", "spoil"), COVERAGE_FAULTS)
def test_a_faulty_ledger_is_refused_by_the_path_of_its_field(field: str, spoil: Callable[[pb.Coverage], object]) -> None:
    sent = list(parts(artifact()))
    assert isinstance(sent[-1], CoveragePart)
    spoil(sent[-1].message)
    assert fault_of(sent) == field


def test_parts_out_of_turn_are_refused() -> None:
    head, block, schema, stream, coverage = parts(artifact())
    assert fault_of([block]) == "head"
    assert fault_of([head, head]) == "head"
    assert fault_of([head, stream]) == "rows.dataset_id"
    assert fault_of([head, block, schema, coverage]) == "datasets[0].rows"
    assert fault_of([head, schema, schema]) == "datasets[0]"
    assert fault_of([head, schema, stream, schema]) == "datasets[1].id"
    assert fault_of([head, block, schema, stream]) == "coverage"
    assert fault_of([head, schema, stream, coverage, block]) == "coverage"


def test_an_artifact_over_the_bound_is_refused_as_too_large() -> None:
    with pytest.raises(ArtifactTooLarge):
        assemble(list(parts(artifact())), max_bytes=100)
