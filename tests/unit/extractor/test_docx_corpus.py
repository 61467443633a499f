"""Public documents: words against an independent count, headings and order against renderings by others, and hostile files."""

from __future__ import annotations

import importlib.util
import json
import re
import resource
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from lxml import etree

from artifact.model import Artifact, BlockType
from extractor_svc.context import Options
from extractor_svc.extract import extract, resolve
from extractor_svc.render import to_json
from services.errors import LoomError

SHARED = Path(__file__).resolve().parents[3] / ".." / "shared"
CORPUS = SHARED / "corpus" / "docx"
HOSTILE = SHARED / "corpus" / "hostile" / "poi"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")

DOCUMENTS = sorted(path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*.docx"))
WITHOUT_TEXT = {"python-docx/blk-containing-table.docx", "python-docx/sty-having-no-styles-part.docx"}
WITH_TEXT = [name for name in DOCUMENTS if name not in WITHOUT_TEXT]
RENDERED = sorted(path.relative_to(CORPUS).as_posix().removesuffix(".md") for path in CORPUS.rglob("*.docx.md"))
NUMBERS = {
    "docx_list_blank_spacer": "1 1.1 1.2 2",
    "docx_list_resumed_numbering": "1 2 3",
    "docx_rich_cells": "1 2 3",
    "textbox": "1 2",
    "unit_test_headers_numbered": "1 1.1 1.2 1.2.1 2 2.1.1 2.2 1 1.1 1.1.1 2.3.1 2.3.2 2.3.3 2.3.4 2.3.5 2.3.6 2.3.7 2.3.8 "
    "2.3.8.1 2.3.8.2 2.3.8.3",
    "word_sample": "1 2 3 1 2 3",
}
"""Numbers of headings and items that a reader sees and no part of the file holds; the independent count leaves them out."""
ORDER_FLOORS = {
    "docx_checkboxes": 0.93,
    "docx_comments": 0.75,
    "docx_external_image": 0.97,
    "docx_page_header_footer_first_page": 0.76,
    "docx_rich_cells": 0.95,
    "equations": 0.87,
    "textbox": 0.96,
    "unit_test_formatting": 0.73,
    "word_sample": 0.95,
    "word_tables": 0.90,
}
"""How alike our sequence of words is to the rendering's at least; 1 where nothing is said. The rendering leaves out comments,
headers, footers and alternative texts, repeats merged cells, and has `<!-- image -->` and LaTeX of its own."""
OUTCOMES = {
    "51921-Word-Crash067": "NO_TEXT",
    "ExternalEntityInText": "XML_DTD_FORBIDDEN",
    "clusterfuzz-testcase-minimized-POIXWPFFuzzer-4791943399604224": "ZIP_INVALID",
    "clusterfuzz-testcase-minimized-POIXWPFFuzzer-5313273089884160": "ZIP_INVALID",
    "truncated62886": "ZIP_INVALID",
    "zero-length": "NO_TEXT",
}

_NUMBER = re.compile(r"^([0-9.]*[0-9])\.? ")

CHILD = """
import sys
from pathlib import Path
from extractor_svc.context import Options
from extractor_svc.extract import extract
from services.errors import LoomError
for path in map(Path, sys.argv[1:]):
    try:
        extract(path.read_bytes(), filename=path.name, options=Options(ocr=False))
        print(path.stem, "READ")
    except LoomError as error:
        print(path.stem, error.code_reason)
"""


def read(name: str) -> Artifact:
    """What the document itself says; words in pictures are none of the oracle's."""
    return extract((CORPUS / name).read_bytes(), filename=Path(name).name, options=Options(ocr=False))


def tool(name: str) -> ModuleType:
    """One of the corpus's own scoring tools."""
    spec = importlib.util.spec_from_file_location(name, SHARED / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(name: str, folder: Path) -> Path:
    path = folder / "artifact.json"
    path.write_text(json.dumps(to_json(read(name))), encoding="utf-8")
    return path


def beside_the_text(name: str) -> str:
    """What a reader sees, or hears, that the independent count does not read: authors of comments and alternative texts."""
    told: list[str] = []
    with zipfile.ZipFile(CORPUS / name) as package:
        for part in package.namelist():
            if re.fullmatch(r"word/(document|comments|header|footer)\d*\.xml", part):
                root = etree.fromstring(package.read(part))
                told += [
                    str(comment.get(key)) for comment in root.iter("{*}comment") for key in comment.attrib if "author" in str(key)
                ]
                for drawing in root.iter("{*}drawing", "{*}pict"):
                    told += {text for shape in drawing.iter() for key in ("descr", "alt") if (text := str(shape.get(key, "")))}
    return " ".join(told)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_is_read_whole_and_reads_back_or_has_no_text(name: str) -> None:
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


@pytest.mark.parametrize("name", WITH_TEXT)
def test_every_word_arrives_and_what_is_more_is_shown_beside_the_text(name: str, tmp_path: Path) -> None:
    account = tool("account")
    source, produced = account.source_words(CORPUS / name), account.produced_words(written(name, tmp_path))
    score = account.score(source, produced)
    del score["all"]
    assert {kind: found["recall"] for kind, found in score.items()} == dict.fromkeys(score, 1.0)
    live: Counter[str] = sum(source.values(), Counter())
    shown = account.words(f"{NUMBERS.get(Path(name).stem, '')} {beside_the_text(name)}")
    assert produced - live == shown


@pytest.mark.parametrize("name", sorted(WITHOUT_TEXT))
def test_files_without_text_have_no_word_in_the_independent_count(name: str) -> None:
    assert tool("account").source_words(CORPUS / name) == {}


@pytest.mark.parametrize("name", RENDERED)
def test_headings_are_those_of_the_rendering(name: str) -> None:
    """The rendering leaves out the full stop after a heading's number."""
    expected = [text for _, text in tool("truth").markdown_headings((CORPUS / f"{name}.md").read_text("utf-8"))]
    found = [block.text for block in read(name).blocks if block.type is BlockType.HEADING]
    assert [_NUMBER.sub(r"\1 ", text) for text in found] == expected


@pytest.mark.parametrize("name", RENDERED)
def test_words_come_in_the_order_of_the_rendering(name: str, tmp_path: Path) -> None:
    order = tool("truth").order(json.loads(written(name, tmp_path).read_text("utf-8")), CORPUS / f"{name}.md")["order"]
    assert order >= ORDER_FLOORS.get(Path(name).stem, 1.0)


@pytest.mark.parametrize("name", [name for name in RENDERED if "list" in name or "numbered" in name])
def test_items_show_the_numbers_of_the_rendering(name: str) -> None:
    """The rendering ends every number with a full stop, as only some of the lists do."""
    rendering = (CORPUS / f"{name}.md").read_text("utf-8")
    lines = [_NUMBER.sub(r"\1 ", line.strip().removeprefix("- ")) for line in rendering.splitlines()]
    items = [_NUMBER.sub(r"\1 ", block.text) for block in read(name).blocks if block.type is BlockType.LIST_ITEM]
    assert items
    assert items == [line for line in lines if line in items]


def test_headings_nest_as_in_the_rendering() -> None:
    name = "docling/unit_test_headers_numbered.docx"
    expected = [level for level, _ in tool("truth").markdown_headings((CORPUS / f"{name}.md").read_text("utf-8"))]
    levels = [block.level for block in read(name).blocks if block.type is BlockType.HEADING]
    assert levels[0] == 1
    assert [level + 1 for level in levels[1:]] == expected[1:]


def test_hostile_documents_end_in_a_typed_outcome_within_bounds() -> None:
    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))

    paths = map(str, sorted(HOSTILE.glob("*.docx")))
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *paths], capture_output=True, text=True, timeout=60, preexec_fn=bound, check=False
    )
    assert done.returncode == 0, done.stderr
    assert dict(line.split() for line in done.stdout.splitlines()) == OUTCOMES
