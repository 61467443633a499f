"""Says places in a few words, for display only."""

from __future__ import annotations

from loom.artifact.v1 import artifact_pb2


def describe(locator: artifact_pb2.Locator | None) -> str:
    """A short phrase such as `page 3`, `sheet Orders, rows 2-9` or `lines 4-12`; empty where there is no place."""
    if locator is None:
        return ""
    match locator.WhichOneof("kind"):
        case "lines":
            return _range("line", locator.lines.first, locator.lines.last)
        case "rows":
            return _range("row", locator.rows.first, locator.rows.last)
        case "chars":
            return f"characters {locator.chars.start}-{locator.chars.end}"
        case "bytes":
            return f"bytes {locator.bytes.start}-{locator.bytes.end}"
        case "pdf":
            return _range("page", locator.pdf.first_page, locator.pdf.last_page)
        case "slide":
            return _range("slide", locator.slide.first_slide, locator.slide.last_slide)
        case "sheet":
            rows = _range("row", locator.sheet.first_row, locator.sheet.last_row)
            return f"sheet {locator.sheet.sheet}, {rows}" if locator.sheet.first_row else f"sheet {locator.sheet.sheet}"
        case "toml":
            lines = _range("line", locator.toml.first_line, locator.toml.last_line)
            return f"{locator.toml.key_path}, {lines}" if locator.toml.key_path else lines
        case "docx":
            return _path(f"{locator.docx.part} ", locator.docx.first, locator.docx.last)
        case "html":
            return _path("", locator.html.first, locator.html.last)
        case "image":
            return f"image {locator.image.frame}"
        case _:
            return ""


def _range(noun: str, first: int, last: int) -> str:
    return f"{noun} {first}" if first == last else f"{noun}s {first}-{last}"


def _path(part: str, first: str, last: str) -> str:
    return f"{part}{first}" if first == last else f"{part}{first} to {last}"
