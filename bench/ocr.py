"""Text read from pixels beside what the pixels say: words, letters and seconds, a picture a line.

The truth is that of the corpus, and for scans made of PDF pages the pages' own text.
"""

from __future__ import annotations

import io
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pymupdf
from PIL import Image

from bench.corpus import CORPUS
from extractor_svc.context import Options
from extractor_svc.extract import extract

FOX: Final = "tesseract/phototest.gold.txt"
"""The text that several files show, whichever way it is turned or packed."""
EXPECTED: Final = {
    "tesseract/phototest.tif": FOX,
    "tesseract/phototest-rotated-180.png": FOX,
    "tesseract/phototest-rotated-L.png": FOX,
    "tesseract/phototest-rotated-R.png": FOX,
    "pytesseract/test.gif": FOX,
    "pytesseract/test.jpg": FOX,
    "pytesseract/test.png": FOX,
    "pytesseract/test.tiff": FOX,
    "pytesseract/test.webp": FOX,
    "tesseract/eurotext.tif": "tesseract/eurotext.txt",
    "pytesseract/test-european.jpg": "tesseract/eurotext.txt",
    "tesseract/8071_093.3B.tif": "tesseract/8071_093.3B.txt",
    "tesseract/8087_054.3B.tif": "tesseract/8087_054.3B.txt",
}
SAID: Final = "Docling bundles PDF document conversion to JSON and Markdown in an easy self contained package"
SAYING: Final = tuple(f"docling/ocr_test{turn}.pdf" for turn in ("", "_rotated_90", "_rotated_180", "_rotated_270"))
SCANS: Final = (
    ("icdar2013-eu/eu-004.pdf", 0, 0.0, 0.0),
    ("icdar2013-eu/eu-004.pdf", 0, 1.5, 12.0),
    ("docling/2305.03393v1-pg9.pdf", 0, 0.0, 0.0),
    ("ntsb/20080108X00031.pdf", 0, -2.0, 12.0),
    ("pdfplumber/scotus-transcript-p1.pdf", 0, 0.8, 20.0),
)
"""A page of a PDF, its number, and the tilt in degrees and the noise in grey levels of the scan that is made of it."""
_DOTS_AN_INCH: Final = 200
_BROKEN: Final = re.compile(r"(\w)[-\u2010]\s*\n\s*(?=[a-z])")


@dataclass(frozen=True, slots=True)
class Score:
    """How much of a text was read: shares of its words, of the words read, and of its letters in their order."""

    recall: float
    precision: float
    letters: float
    seconds: float


def run() -> str:
    """The table, as Markdown; a line that says so where the corpus is absent."""
    if not CORPUS.is_dir():
        return "The corpus is not here: nothing to read."
    rows = ["| picture | words read | words right | letters right | processor time |", "|---|---|---|---|---|"]
    for name, content, truth in _cases():
        score = score_of(content, name, truth)
        shares = f"{score.recall:.3f} | {score.precision:.3f} | {score.letters:.3f}"
        rows.append(f"| {name} | {shares} | {score.seconds:.1f} s |")
    return "\n".join(rows)


def score_of(content: bytes, name: str, truth: str) -> Score:
    """Reads a file, and holds its text against the truth: words as a multiset, letters by the fewest edits."""
    began = time.process_time()
    artifact = extract(content, filename=Path(name).name.partition(" ")[0])
    seconds = time.process_time() - began
    read = "\n".join(block.text for block in artifact.blocks)
    expected, found = _words(truth), _words(read)
    common = (expected & found).total()
    first, second = " ".join(_BROKEN.sub(r"\1", truth).split()), " ".join(read.split())
    letters = 1 - edits(first, second) / max(len(first), 1)
    return Score(common / max(expected.total(), 1), common / max(found.total(), 1), letters, seconds)


def edits(first: str, second: str) -> int:
    """The fewest letters to put in, take out or change that make one text of the other."""
    letters = np.array([ord(letter) for letter in first])
    steps = np.arange(len(letters) + 1)
    row = steps.copy()
    for number, letter in enumerate(second, 1):
        changed = np.minimum(row[1:] + 1, row[:-1] + (letters != ord(letter)))
        row = np.minimum.accumulate(np.concatenate(([number], changed)) - steps) + steps
    return int(row[-1])


def scan_of(path: Path, page: int, tilt: float, noise: float) -> tuple[bytes, str]:
    """A PDF whose one page is a picture of another's, and the text of that page as the PDF format reads it."""
    with pymupdf.open(path) as document:
        source = document[page]
        drawn = source.get_pixmap(dpi=_DOTS_AN_INCH)
        picture = Image.frombytes("RGB", (drawn.width, drawn.height), drawn.samples).convert("L")
        with pymupdf.open() as scan, pymupdf.open() as alone:
            target = scan.new_page(width=source.rect.width, height=source.rect.height)
            target.insert_image(target.rect, stream=_worn(picture, tilt, noise))
            alone.insert_pdf(document, from_page=page, to_page=page)
            native = extract(alone.tobytes(), filename="page.pdf", options=Options(ocr=False))
            return scan.tobytes(), "\n".join(block.text for block in native.blocks)


def _worn(picture: Image.Image, tilt: float, noise: float) -> bytes:
    turned = picture.rotate(tilt, resample=Image.Resampling.BICUBIC, fillcolor="white")
    grains = np.random.default_rng(7).normal(0, noise, (turned.height, turned.width)) if noise else 0
    worn = np.clip(np.asarray(turned, np.float32) + grains, 0, 255).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(worn).save(out, "JPEG", quality=60)
    return out.getvalue()


def _cases() -> Iterator[tuple[str, bytes, str]]:
    """Names, contents and truths."""
    for name, truth in EXPECTED.items():
        yield name, (CORPUS / "image" / name).read_bytes(), (CORPUS / "image" / truth).read_text("utf-8")
    for name in SAYING:
        yield name, (CORPUS / "image" / name).read_bytes(), SAID
    for name, page, tilt, noise in SCANS:
        content, truth = scan_of(CORPUS / "pdf" / name, page, tilt, noise)
        yield f"{name} scanned, {tilt:g} degrees, noise {noise:g}", content, truth


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", _BROKEN.sub(r"\1", text)))
