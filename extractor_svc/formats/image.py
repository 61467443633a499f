"""Pictures of text: what OCR reads from PNG, JPEG, TIFF and their like, paragraph by paragraph, page by page."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Final

from artifact.locators import ImagePlace, Locator
from artifact.model import Artifact, BlockType, Coverage, FailedUnit
from extractor_svc.blocks import BlockList, WarningList, count_words, tally
from extractor_svc.context import ReadContext
from extractor_svc.errors import DecompressionLimit, LocatorNotFound, Malformed, NoText, OutputLimit, ParseTimeout
from extractor_svc.ocr.paragraphs import paragraphs_of, text_within
from extractor_svc.ocr.picture import read_frame, unsure_words
from extractor_svc.ocr.pixels import TOO_LARGE, Frame, PictureFile, PictureUnreadable
from extractor_svc.ocr.values import Reading

PARSER: Final = f"loom-image/1 rapidocr/{version('rapidocr')}"

_TIME_FOR_PAGES: Final = 0.85
"""Share of the time limit after which the pages left are listed as not read, so that those read are still returned."""


def read(content: bytes, context: ReadContext) -> Artifact:
    """Reads a picture file; every page of a TIFF is a page, an animation is its first frame.

    Each paragraph is a block, and so are rows with wide gaps in them, a line each, their cells parted by tabs. Places are in
    pixels of the page as it is shown, its EXIF orientation followed. Lines that are read too badly to be text are counted as
    unread. A page without text is read, and a warning says so; one whose data is broken is read as far as it goes.

    Raises:
        Malformed: the file is damaged and no text is left.
        DecompressionLimit: it has more pixels than are decoded.
        OutputLimit: it has more pages than the limit.
        NoText: OCR is switched off.
    """
    file = _open(content, context)
    pages = _Pages(file, context)
    for number in range(1, file.frames + 1):
        pages.take(number)
    return pages.artifact(len(content))


def resolve(content: bytes, locator: Locator, context: ReadContext) -> str:
    """Returns the text in a box of a page, read from the pixels once more: a paragraph's own box gives the paragraph.

    Raises:
        LocatorNotFound: the file has no such page.
        Malformed, DecompressionLimit, NoText: as `read`.
    """
    file = _open(content, context)
    if not isinstance(locator, ImagePlace) or not 1 <= locator.frame <= file.frames:
        raise LocatorNotFound(f"the file has pages 1 to {file.frames}", metadata={"pages": str(file.frames)})
    try:
        frame = file.frame(locator.frame)
    except PictureUnreadable as fault:
        raise _refusal(fault) from fault
    box = (locator.x0, locator.y0, locator.x1, locator.y1)
    return text_within(read_frame(frame, alive=_go_on), box)


@dataclass(slots=True)
class _Pages:
    """Takes one page after the other, and keeps the ledger."""

    file: PictureFile
    context: ReadContext
    blocks: BlockList = field(init=False)
    warnings: WarningList = field(init=False)
    failed: list[FailedUnit] = field(default_factory=list)
    faults: list[PictureUnreadable] = field(default_factory=list)
    damaged: bool = False
    unsure: int = 0
    end: float = field(init=False)

    def __post_init__(self) -> None:
        self.blocks = BlockList(self.context.limits)
        self.warnings = WarningList(self.context.limits)
        self.end = time.monotonic() + _TIME_FOR_PAGES * self.context.limits.timeout_s
        if self.file.animated:
            self.warnings.add("FRAMES_SKIPPED", "The picture is animated; its first frame was read.")

    def take(self, number: int) -> None:
        """Reads a page; one for which there is no time, or which cannot be decoded, is listed as not read."""
        if time.monotonic() > self.end:
            self._fail(number, "time_limit")
            return
        try:
            frame = self.file.frame(number)
            reading = read_frame(frame, alive=lambda: self.context.progress("page", number - 1, self.file.frames))
        except PictureUnreadable as fault:
            self.faults.append(fault)
            self._fail(number, fault.reason)
        except ParseTimeout:
            self._fail(number, "time_limit")
        else:
            self._write(number, frame, reading)

    def artifact(self, size_bytes: int) -> Artifact:
        """The artifact of all pages taken.

        Raises:
            Malformed, DecompressionLimit: no page was read, or nothing is left of a damaged one.
        """
        blocks = self.blocks.done()
        total = self.file.frames
        if not blocks and self.damaged:
            raise Malformed("the picture is damaged and no text of it is left; send an undamaged copy")
        if self.faults and len(self.faults) == total:
            raise _refusal(self.faults[0])
        self.context.progress("page", total, total)
        return Artifact(
            format="image",
            parser=PARSER,
            sha256=self.context.sha256,
            size_bytes=size_bytes,
            blocks=blocks,
            coverage=Coverage(
                unit="page",
                total=total,
                extracted=total - len(self.failed),
                failed=tuple(self.failed),
                lost=("page_content",) if self.damaged else (),
                words_emitted=sum(count_words(block.text) for block in blocks),
                words_unread=tally([("unsure_letters", self.unsure)]),
            ),
            warnings=self.warnings.done(),
            properties={"picture_format": self.file.format.lower()},
        )

    def _write(self, number: int, frame: Frame, reading: Reading) -> None:
        whole = ImagePlace(number, 0, 0, frame.width, frame.height)
        if frame.damaged:
            self.damaged = True
            self.warnings.add("REPAIRED", "The picture's data is broken; it was read as far as it goes.", whole)
        for paragraph in paragraphs_of(reading):
            self.blocks.add(BlockType.PARAGRAPH, paragraph.text, ImagePlace(number, *paragraph.bounds), ocr=True)
        self.unsure += (unsure := unsure_words(reading))
        if not reading.lines and not unsure:
            self.warnings.add("NO_TEXT", "No text was found on the page.", whole)

    def _fail(self, number: int, reason: str) -> None:
        self.failed.append(FailedUnit(str(number), reason, ImagePlace(number, 0, 0, *self.file.size(number))))


def _open(content: bytes, context: ReadContext) -> PictureFile:
    if context.options.ocr is False:
        raise NoText("the file is a picture, and reading from pixels is switched off; switch it on with options.ocr")
    try:
        file = PictureFile(content)
    except PictureUnreadable as fault:
        raise _refusal(fault) from fault
    most = context.limits.max_pages
    if file.frames > most:
        raise OutputLimit(
            f"the picture has {file.frames} pages and at most {most} are read; split it",
            metadata={"pages": str(file.frames), "max_pages": str(most)},
        )
    return file


def _refusal(fault: PictureUnreadable) -> Malformed | DecompressionLimit:
    if fault.reason == TOO_LARGE:
        return DecompressionLimit(f"{fault}; send it with fewer pixels")
    return Malformed("the picture is damaged and nothing of it can be decoded; send an undamaged copy")


def _go_on() -> None:
    """Has nobody to tell."""
