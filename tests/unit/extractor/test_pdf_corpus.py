"""Public PDF files: words and tables against counts and truth made by others, places that read back, and hostile files."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import ModuleType

import pypdfium2
import pytest

from artifact.model import Artifact, Block
from tests.unit.extractor.pdf_files import folded, read, read_back

SHARED = Path(__file__).resolve().parents[3] / ".." / "shared"
CORPUS = SHARED / "corpus"
TABLES = CORPUS / "pdf" / "icdar2013-eu"
PASSWORDS = {"2206.01062_pg3.pdf": "1234", "password-example.pdf": "test"}
BLOCKS_OF_A_FILE = 6
"""How many blocks of each file are read back, spread over it; reading all of them takes minutes."""

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not here")


def files(folder: str) -> list[Path]:
    return sorted((CORPUS / folder).glob("**/*.pdf"))


@cache
def artifact_of(path: Path) -> Artifact:
    return read(path.read_bytes(), password=PASSWORDS.get(path.name, ""))


def tool(name: str) -> ModuleType:
    """One of the corpus's own scoring tools."""
    spec = importlib.util.spec_from_file_location(name, SHARED / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def spread(blocks: tuple[Block, ...]) -> list[Block]:
    """A few blocks of a file, from its first to its last."""
    step = max(1, -(-len(blocks) // BLOCKS_OF_A_FILE))
    return list(blocks[::step])


@pytest.mark.parametrize("path", files("pdf"), ids=lambda path: path.name)
def test_places_of_blocks_read_back(path: Path) -> None:
    content, password = path.read_bytes(), PASSWORDS.get(path.name, "")

    for block in spread(artifact_of(path).blocks):
        assert folded(read_back(content, block, password=password)) == folded(block.text)


def test_words_agree_with_an_independent_reader() -> None:
    account = tool("account")
    source_words = kept = read_words = invented = 0
    for path in files("pdf"):
        document = pypdfium2.PdfDocument(path, password=PASSWORDS.get(path.name))
        text = "\n".join(page.get_textpage().get_text_range() for page in document)
        source: Counter[str] = account.words(text.replace("\ufffe", "").replace("\u00ad", ""))
        found: Counter[str] = account.words("\n".join(block.text for block in artifact_of(path).blocks))
        source_words += source.total()
        kept += (source & found).total()
        read_words += found.total()
        invented += (found - source).total()

    assert kept / source_words >= 0.996
    assert invented / read_words <= 0.005


def test_tables_agree_with_what_people_marked() -> None:
    truth = tool("truth")
    found: Counter[tuple[str, ...]] = Counter()
    right: Counter[tuple[str, ...]] = Counter()
    for path in sorted(TABLES.glob("*.pdf")):
        for block in artifact_of(path).blocks:
            cells = [
                {"row": c.row, "column": c.column, "row_span": c.row_span, "column_span": c.column_span, "text": c.text}
                for c in block.cells
            ]
            found.update({(path.name, *pair): count for pair, count in truth.relations(truth.grid(cells)).items()})
        for marked in truth.truth_tables(path.with_name(f"{path.stem}-str.xml")):
            right.update({(path.name, *pair): count for pair, count in truth.relations(truth.grid(marked)).items()})

    assert truth.f1(found, right)["f1"] >= 0.99


def test_headings_agree_with_a_reviewed_rendering() -> None:
    truth = tool("truth")
    for name in ("2305.03393v1-pg9", "amt_handbook_sample", "code_and_formula", "multi_page"):
        path = CORPUS / "pdf" / "docling" / f"{name}.pdf"
        blocks = [{"type": b.type.value, "text": b.text, "level": b.level} for b in artifact_of(path).blocks]
        report = truth.headings({"blocks": blocks}, path.with_suffix(".md"))
        assert report["texts"]["f1"] == 1.0, name


HOSTILE = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from extractor_svc.context import ReadContext
from extractor_svc.formats import pdf
from services.errors import LoomError
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        content = file.read()
    try:
        said = pdf.read(content, ReadContext()).blocks[0].text
    except LoomError as error:
        said = error.code_reason
    print(json.dumps([name, said]))
"""


def test_hostile_files_end_in_text_or_a_typed_refusal() -> None:
    paths = [str(path) for path in files("hostile")]
    root = Path(__file__).resolve().parents[3]

    ran = subprocess.run([sys.executable, "-c", HOSTILE, *paths], cwd=root, capture_output=True, text=True, timeout=90, check=True)

    said = {Path(name).name: text for name, text in map(json.loads, ran.stdout.splitlines())}
    assert set(said) == {Path(path).name for path in paths}
    assert said["pages-loop.pdf"] == "MALFORMED"
    assert said["outlines-with-loop.pdf"] == "Salad 0"
    assert said["issue-449.pdf"] == "NO_TEXT"
    assert said["bad1.pdf"] == "MALFORMED"
    assert said["bad16.pdf"] == "Potato"


@pytest.mark.parametrize("path", files("image/docling"), ids=lambda path: path.name)
def test_scans_without_a_text_layer_say_so(path: Path) -> None:
    with pytest.raises(Exception, match="OCR") as refused:
        read(path.read_bytes())

    assert getattr(refused.value, "code_reason", "") == "NO_TEXT"


def test_every_payment_of_a_report_is_a_row_with_its_amount() -> None:
    path = CORPUS / "pdf" / "pdfplumber" / "senate-expenditures.pdf"
    printed = pypdfium2.PdfDocument(path)[0].get_textpage().get_text_range()
    amounts = [Decimal(text.replace(",", "")) for text in re.findall(r"(?<![\d,.])[\d,]+\.\d\d(?!\d)", printed)]

    (dataset,) = artifact_of(path).datasets

    assert dataset.rows.column("AMOUNT ($)").to_pylist() == amounts
    documents = [value for value in dataset.rows.column("DOCUMENT NO.").to_pylist() if value]
    assert documents == re.findall(r"DHAW\d+", printed)
