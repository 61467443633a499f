from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator

import grpc
import pyarrow as pa
import pytest
from loom.artifact.v1 import artifact_pb2
from loom.extractor.v1 import extractor_pb2

from clients import AsyncExtractorClient, ExtractorClient, errors
from clients.requests.extract import ExtractOptions
from clients.results.ingest import Progress
from tests.unit.clients.fakes import Answer, Fake, refuse

Part = extractor_pb2.ExtractResponse


def arrow_bytes() -> bytes:
    sink = pa.BufferOutputStream()
    table = pa.table({"_row_id": pa.array([0, 1], pa.int64()), "name": ["a", "b"]})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    rows: bytes = sink.getvalue().to_pybytes()
    return rows


ROWS = arrow_bytes()
HEADING = artifact_pb2.Block(
    id="b1",
    type=artifact_pb2.BLOCK_TYPE_HEADING,
    text="Runs",
    level=1,
    section_path=["Runs"],
    locator=artifact_pb2.Locator(lines=artifact_pb2.LineSpan(first=1, last=1)),
    cells=[artifact_pb2.Cell(row=0, column=0, text="x")],
)
PARTS = [
    Part(progress=extractor_pb2.Progress(stage="parse", unit="line", done=1, total=2)),
    Part(
        head=artifact_pb2.ArtifactHead(format="csv", parser="loom-csv/1", sha256="ab", size_bytes=5, properties={"author": "ops"})
    ),
    Part(blocks=extractor_pb2.BlockPart(blocks=[HEADING])),
    Part(
        dataset=artifact_pb2.DatasetSchema(
            id="d1",
            name="names",
            row_count=2,
            columns=[
                artifact_pb2.Column(
                    name="name",
                    type=artifact_pb2.COLUMN_TYPE_STRING,
                    inferred=[artifact_pb2.TypeCount(type=artifact_pb2.COLUMN_TYPE_STRING, values=2)],
                )
            ],
        )
    ),
    Part(rows=extractor_pb2.DatasetRows(dataset_id="d1", arrow_ipc=ROWS[:100])),
    Part(rows=extractor_pb2.DatasetRows(dataset_id="d1", arrow_ipc=ROWS[100:])),
    Part(warnings=extractor_pb2.WarningPart(warnings=[artifact_pb2.Warning(code="CONTROL_CHARS", message="a NUL stood here")])),
    Part(
        coverage=artifact_pb2.Coverage(
            unit="line",
            total=2,
            extracted=2,
            words_excluded=[artifact_pb2.WordCount(reason="running_header", words=3)],
            complete=True,
        )
    ),
]


def extracted(*parts: Part) -> Answer:
    def answer(requests: Iterator[extractor_pb2.ExtractRequest], _context: object) -> Iterator[Part]:
        header = next(requests).header
        received = b"".join(request.data for request in requests)
        assert header.sha256 == hashlib.sha256(received).hexdigest()
        yield from parts

    return answer


@pytest.fixture
def extractor(fake: Fake) -> Iterator[ExtractorClient]:
    fake.on("Extract", extracted(*PARTS))
    with ExtractorClient(fake.address) as client:
        yield client


def test_an_artifact_is_put_together_from_its_parts(extractor: ExtractorClient) -> None:
    reported: list[Progress] = []
    artifact = extractor.extract(b"name\na\nb\n", "names.csv", on_progress=reported.append)
    assert (artifact.format, artifact.parser, artifact.size_bytes, artifact.properties) == (
        "csv",
        "loom-csv/1",
        5,
        {"author": "ops"},
    )
    (block,) = artifact.blocks
    assert (block.type, block.text, block.level, block.section_path, block.visibility) == (
        "heading",
        "Runs",
        1,
        ("Runs",),
        "visible",
    )
    assert (block.cells[0].row_span, block.cells[0].column_span) == (1, 1)
    assert block.locator.lines.first == 1
    assert [warning.code for warning in artifact.warnings] == ["CONTROL_CHARS"]
    assert (artifact.coverage.complete, artifact.coverage.words_excluded) == (True, {"running_header": 3})
    assert reported == [Progress("parse", "line", 1, 2)]


def test_the_rows_of_a_dataset_read_as_an_arrow_table(extractor: ExtractorClient) -> None:
    (dataset,) = extractor.extract(b"name\na\nb\n", "names.csv").datasets
    assert (dataset.id, dataset.name, dataset.row_count, dataset.locator) == ("d1", "names", 2, None)
    assert (dataset.columns[0].type, dataset.columns[0].inferred) == ("string", {"string": 2})
    assert dataset.rows.column("name").to_pylist() == ["a", "b"]


def test_without_pyarrow_the_bytes_stay_and_the_table_says_what_to_install(
    extractor: ExtractorClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    (dataset,) = extractor.extract(b"name\na\nb\n", "names.csv").datasets
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert dataset.arrow_ipc == ROWS
    with pytest.raises(ModuleNotFoundError, match="pip install pyarrow"):
        _ = dataset.rows


@pytest.mark.parametrize("lacking", [1, 7], ids=["head", "coverage"])
def test_a_stream_without_head_or_coverage_is_no_artifact(lacking: int, fake: Fake, extractor: ExtractorClient) -> None:
    parts = [part for position, part in enumerate(PARTS) if position != lacking]
    fake.on("Extract", extracted(*parts))
    with pytest.raises(errors.DataLoss, match="ended early"):
        extractor.extract(b"x", "x.csv")


def test_a_dataset_without_rows_is_no_artifact(fake: Fake, extractor: ExtractorClient) -> None:
    fake.on("Extract", extracted(*(part for part in PARTS if not part.HasField("rows"))))
    with pytest.raises(errors.DataLoss, match="no rows of dataset d1"):
        extractor.extract(b"x", "x.csv")


def test_a_refused_file_says_why(fake: Fake, extractor: ExtractorClient) -> None:
    fake.on("Extract", refuse(grpc.StatusCode.FAILED_PRECONDITION, "PASSWORD_REQUIRED", "the file is encrypted"))
    with pytest.raises(errors.FailedPrecondition) as caught:
        extractor.extract(b"x", "x.pdf")
    assert caught.value.reason == "PASSWORD_REQUIRED"


def test_options_and_names_travel_in_the_header(fake: Fake, extractor: ExtractorClient) -> None:
    headers: list[extractor_pb2.FileHeader] = []

    def look(requests: Iterator[extractor_pb2.ExtractRequest], context: object) -> Iterator[Part]:
        headers.extend(request.header for request in requests if request.HasField("header"))
        yield from PARTS

    fake.on("Extract", look)
    extractor.extract(b"x", "x.sql", options=ExtractOptions(sql_dialect="postgres", ocr=False, original_view=True))
    assert (headers[0].filename, headers[0].options.sql_dialect) == ("x.sql", "postgres")
    assert headers[0].options.HasField("ocr")
    assert headers[0].options.original_view


def test_a_place_is_resolved_from_the_original_alone(fake: Fake, extractor: ExtractorClient) -> None:
    def resolve(requests: Iterator[extractor_pb2.ResolveRequest], _context: object) -> extractor_pb2.ResolveResponse:
        header = next(requests).header
        lines = b"".join(request.data for request in requests).decode().splitlines()
        return extractor_pb2.ResolveResponse(text=lines[header.locator.lines.first - 1])

    fake.on("Resolve", resolve)
    place = artifact_pb2.Locator(lines=artifact_pb2.LineSpan(first=2, last=2))
    assert extractor.resolve(b"one\ntwo\n", place, filename="a.md") == "two"


def test_capabilities_name_formats_and_protections(fake: Fake, extractor: ExtractorClient) -> None:
    answer = extractor_pb2.GetCapabilitiesResponse(
        version="0.1.0",
        formats=[extractor_pb2.Format(id="pdf", extensions=[".pdf"], parser="loom-pdf/1", abilities=["tables"])],
        protections=[extractor_pb2.Protection(name="seccomp", on=True, detail="no sockets")],
        workers=2,
    )
    answer.timeout.FromSeconds(60)
    fake.on("GetCapabilities", answer)
    capabilities = extractor.capabilities()
    assert (capabilities.version, capabilities.timeout_s, capabilities.workers) == ("0.1.0", 60.0, 2)
    assert [(item.id, item.abilities) for item in capabilities.formats] == [("pdf", ("tables",))]
    assert [(item.name, item.on) for item in capabilities.protections] == [("seccomp", True)]
    assert extractor.health() == "serving"


async def test_the_asyncio_client_extracts_the_same(fake: Fake, extractor: ExtractorClient) -> None:
    async with AsyncExtractorClient(fake.address) as client:
        assert await client.extract(b"name\n", "names.csv") == extractor.extract(b"name\n", "names.csv")
