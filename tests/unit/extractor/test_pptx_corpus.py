"""Public presentations: words against an independent count, headings against renderings by others, and hostile files."""

from __future__ import annotations

import importlib.util
import json
import resource
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from artifact.model import Artifact, BlockType
from extractor_svc.context import Options
from extractor_svc.extract import extract, resolve
from extractor_svc.render import to_json
from services.errors import LoomError

SHARED = Path(__file__).resolve().parents[3] / ".." / "shared"
CORPUS = SHARED / "corpus" / "pptx"
HOSTILE = SHARED / "corpus" / "hostile" / "poi"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")

DECKS = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*.pptx"))
WITHOUT_TEXT = {
    f"python-pptx/{name}.pptx" for name in ("no-slides", "shp-access-ole-object", "shp-embedded-pptx", "shp-groupshape")
}
AUTHOR_WORDS = {"docling/powerpoint_comments.pptx": 8}
"""Names of those who comment, which a reader sees beside each comment and the independent count leaves out: John Reviewer once,
Jane Smith three times, two words each."""
RENDERED = sorted(path.relative_to(CORPUS).as_posix().removesuffix(".md") for path in CORPUS.rglob("*.pptx.md"))

CHILD = """
import sys
from pathlib import Path
from extractor_svc.extract import extract
from services.errors import LoomError
path = Path(sys.argv[1])
try:
    extract(path.read_bytes(), filename=path.name)
    print("read")
except LoomError as error:
    print(error.code_reason)
"""


def read(name: str) -> Artifact:
    """What the deck itself says; words in pictures are none of the oracle's."""
    return extract((CORPUS / name).read_bytes(), filename=Path(name).name, options=Options(ocr=False))


def tool(name: str) -> ModuleType:
    """One of the corpus's own scoring tools."""
    spec = importlib.util.spec_from_file_location(name, SHARED / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", DECKS)
def test_every_presentation_is_read_whole_and_reads_back_or_has_no_text(name: str) -> None:
    content = (CORPUS / name).read_bytes()
    try:
        artifact = extract(content, filename=Path(name).name)
    except LoomError as error:
        assert (name in WITHOUT_TEXT, error.code_reason) == (True, "NO_TEXT")
        return
    assert name not in WITHOUT_TEXT
    assert artifact.coverage.complete
    for block in artifact.blocks:
        assert resolve(content, block.locator, filename=Path(name).name).split() == block.text.split(), block


@pytest.mark.parametrize("name", [name for name in DECKS if name not in WITHOUT_TEXT])
def test_every_word_arrives_once_and_none_is_invented(name: str, tmp_path: Path) -> None:
    account = tool("account")
    written = tmp_path / "artifact.json"
    written.write_text(json.dumps(to_json(read(name))), encoding="utf-8")
    score = account.score(account.source_words(CORPUS / name), account.produced_words(written))
    everything = score.pop("all")
    assert {kind: found["recall"] for kind, found in score.items()} == dict.fromkeys(score, 1.0)
    assert everything["invented"] == AUTHOR_WORDS.get(name, 0)


@pytest.mark.parametrize("name", sorted(WITHOUT_TEXT))
def test_files_without_text_have_no_word_in_the_independent_count(name: str) -> None:
    assert tool("account").source_words(CORPUS / name) == {}


@pytest.mark.parametrize("name", RENDERED)
def test_headings_are_those_of_the_rendering(name: str) -> None:
    rendering = (CORPUS / f"{name}.md").read_text(encoding="utf-8")
    expected = [line.removeprefix("# ") for line in rendering.splitlines() if line.startswith("# ")]
    assert [block.text for block in read(name).blocks if block.type is BlockType.HEADING] == expected


def test_a_table_has_the_cells_and_the_spans_of_the_rendering() -> None:
    """The rendering repeats a merged cell in each place it covers."""
    lines = [
        line for line in (CORPUS / "docling/powerpoint_sample.pptx.md").read_text("utf-8").splitlines() if line.startswith("|")
    ]
    expected = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if not line.startswith("| -")]
    (table,) = [block for block in read("docling/powerpoint_sample.pptx").blocks if block.type is BlockType.TABLE]
    shown = [[""] * 7 for _ in expected]
    for cell in table.cells:
        for row in range(cell.row, cell.row + cell.row_span):
            for column in range(cell.column, cell.column + cell.column_span):
                shown[row][column] = cell.text
    assert shown == expected


@pytest.mark.parametrize("name", RENDERED)
def test_texts_outside_charts_come_in_the_order_of_the_rendering(name: str) -> None:
    rendering = " ".join((CORPUS / f"{name}.md").read_text(encoding="utf-8").split())
    kept = (BlockType.HEADING, BlockType.PARAGRAPH, BlockType.TEXT_BOX, BlockType.LIST_ITEM)
    place = 0
    for block in read(name).blocks:
        if block.type in kept:
            place = rendering.index(" ".join(block.text.split()), place)


def test_bullets_are_told_from_plain_paragraphs_as_in_the_rendering() -> None:
    blocks = read("docling/powerpoint_sample.pptx").blocks
    items = [block.text.strip() for block in blocks if block.type is BlockType.LIST_ITEM]
    plain = [block.text for block in blocks if block.type in (BlockType.PARAGRAPH, BlockType.TEXT_BOX)]
    assert items[:3] == ["With foo", "Bar", "And baz things"]
    assert len(items) == 18
    assert plain == [
        "With footnote",
        "A rectangle shape with this text inside.",
        "Let’s introduce a list",
        "Some info:",
        "Maybe a list?",
    ]


@pytest.mark.parametrize("path", sorted(HOSTILE.glob("*.pptx")), ids=lambda path: path.name)
def test_hostile_presentations_end_in_a_typed_outcome_within_bounds(path: Path) -> None:
    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))

    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, timeout=60, preexec_fn=bound, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "ZIP_INVALID"), done.stderr
