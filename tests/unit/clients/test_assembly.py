from loom.artifact.v1 import artifact_pb2
from loom.extractor.v1 import extractor_pb2

from clients.assembly import Assembly

Part = extractor_pb2.ExtractResponse
PLACE = artifact_pb2.Locator(lines=artifact_pb2.LineSpan(first=1, last=2))


def table(block_id: str, text: str, *cells: str) -> artifact_pb2.Block:
    grid = [artifact_pb2.Cell(row=0, column=number, text=cell) for number, cell in enumerate(cells)]
    return artifact_pb2.Block(id=block_id, type=artifact_pb2.BLOCK_TYPE_TABLE, text=text, cells=grid, locator=PLACE)


def column(name: str) -> artifact_pb2.Column:
    return artifact_pb2.Column(name=name, type=artifact_pb2.COLUMN_TYPE_STRING)


def test_what_is_too_large_for_one_message_is_joined_again():
    assembly = Assembly()
    for part in (
        Part(head=artifact_pb2.ArtifactHead(format="xlsx")),
        Part(blocks=extractor_pb2.BlockPart(blocks=[table("b1", "a\t", "a"), table("b1", "b", "b")])),
        Part(blocks=extractor_pb2.BlockPart(blocks=[artifact_pb2.Block(id="b1", text="\nc"), table("b2", "other")])),
        Part(dataset=artifact_pb2.DatasetSchema(id="d", name="D", row_count=0, columns=[column("one")])),
        Part(dataset=artifact_pb2.DatasetSchema(id="d", columns=[column("two")])),
        Part(rows=extractor_pb2.DatasetRows(dataset_id="d", arrow_ipc=b"x")),
        Part(coverage=artifact_pb2.Coverage(unit="sheet", total=1, extracted=1)),
    ):
        assembly.take(part)
    artifact = assembly.finish()
    assert [(block.id, block.text, [cell.text for cell in block.cells]) for block in artifact.blocks] == [
        ("b1", "a\tb\nc", ["a", "b"]),
        ("b2", "other", []),
    ]
    (dataset,) = artifact.datasets
    assert (dataset.name, [found.name for found in dataset.columns]) == ("D", ["one", "two"])
