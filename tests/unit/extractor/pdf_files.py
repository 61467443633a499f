"""Builds small PDF files for the tests, with a writer that shares nothing with the reader."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from artifact.model import Artifact, Block, BlockType
from extractor_svc.context import Options, ReadContext
from extractor_svc.formats import pdf
from extractor_svc.limits import DEFAULT_LIMITS, Limits

LETTER = (612.0, 792.0)


def drawn(
    *pages: Callable[[Canvas], None], size: tuple[float, float] = LETTER, finish: Callable[[Canvas], None] | None = None
) -> bytes:
    """A file with a page for each function that draws one; y grows upwards, as PDF has it."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=size, invariant=1)
    for page in pages:
        page(canvas)
        canvas.showPage()
    if finish:
        finish(canvas)
    canvas.save()
    return out.getvalue()


def lines_at(
    x: float, top: float, texts: Sequence[str], *, leading: float = 14, size: float = 11, font: str = "Helvetica"
) -> Callable[[Canvas], None]:
    """Draws texts one below the other; `top` is measured from the upper edge of a letter page."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, size)
        for i, text in enumerate(texts):
            canvas.drawString(x, LETTER[1] - top - i * leading, text)

    return draw


def together(*parts: Callable[[Canvas], None]) -> Callable[[Canvas], None]:
    """Draws several parts on one page."""

    def draw(canvas: Canvas) -> None:
        for part in parts:
            part(canvas)

    return draw


def picture(x: float, y: float, width: float, height: float) -> Callable[[Canvas], None]:
    """Draws a grey picture; it has no text layer."""

    def draw(canvas: Canvas) -> None:
        pixels = ImageReader(_grey())
        canvas.drawImage(pixels, x, y, width, height)

    return draw


def _grey() -> io.BytesIO:
    """An 8 by 8 picture in the PPM format."""
    return io.BytesIO(b"P6 8 8 255\n" + bytes([200, 210, 220]) * 64)


def ruled(
    x: float,
    top: float,
    rows: Sequence[Sequence[str]],
    *,
    widths: Sequence[float],
    height: float = 18,
    without: Sequence[tuple[int, int]] = (),
    bold_rows: int = 0,
) -> Callable[[Canvas], None]:
    """Draws a ruled table; `without` lists cells (row, column) that have no line below them."""

    def draw(canvas: Canvas) -> None:
        y = LETTER[1] - top
        edges = [x]
        for width in widths:
            edges.append(edges[-1] + width)
        canvas.setLineWidth(0.7)
        for edge in edges:
            canvas.line(edge, y, edge, y - height * len(rows))
        canvas.line(edges[0], y, edges[-1], y)
        for r, row in enumerate(rows):
            canvas.setFont("Helvetica-Bold" if r < bold_rows else "Helvetica", 10)
            for c, text in enumerate(row):
                canvas.drawString(edges[c] + 4, y - height * r - 12.5, text)
                if (r, c) not in without:
                    canvas.line(edges[c], y - height * (r + 1), edges[c + 1], y - height * (r + 1))

    return draw


def raw_pdf(objects: Sequence[bytes], *, root: int = 1, extra_trailer: bytes = b"") -> bytes:
    """A file of given objects, numbered from 1, with a sound cross-reference table."""
    out = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root %d 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, root, extra_trailer, start)
    return bytes(out)


def stream(content: bytes, extra: bytes = b"") -> bytes:
    """A stream object."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), extra, content)


def read(content: bytes, *, password: str = "", limits: Limits = DEFAULT_LIMITS) -> Artifact:
    """The artifact of a file."""
    return pdf.read(content, ReadContext("file.pdf", "00", Options(password=password, ocr=False), limits))


def read_back(content: bytes, block: Block, *, password: str = "") -> str:
    """The text at a block's place."""
    return pdf.resolve(content, block.locator, ReadContext("file.pdf", "", Options(password=password)))


def texts(artifact: Artifact, *kinds: BlockType) -> list[str]:
    """The texts of the blocks, or of those of some kinds."""
    return [block.text for block in artifact.blocks if not kinds or block.type in kinds]


def folded(text: str) -> str:
    """The text without its white space."""
    return "".join(text.split())
