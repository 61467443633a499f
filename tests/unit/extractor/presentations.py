"""Builds presentations from raw parts, so that a test says exactly what stands in the file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
NAMES = f'xmlns:a="{DRAWING}" xmlns:p="{SLIDES}" xmlns:r="{RELS}" xmlns:mc="{COMPATIBILITY}"'
STRICT = {
    DRAWING: "http://purl.oclc.org/ooxml/drawingml/main",
    SLIDES: "http://purl.oclc.org/ooxml/presentationml/main",
    RELS: "http://purl.oclc.org/ooxml/officeDocument/relationships",
}


@dataclass
class SlideXml:
    """A slide: the XML of its shapes, whether it is shown, and its relationships by kind and part (`rId1` on)."""

    shapes: str = ""
    shown: bool = True
    related: Sequence[tuple[str, str]] = ()


@dataclass
class DeckXml:
    """A presentation: its slides, the order they are listed in (from 0; all by default), and further parts."""

    slides: Sequence[SlideXml]
    listed: Sequence[int] | None = None
    related: Sequence[tuple[str, str]] = ()
    parts: Mapping[str, str | bytes] = field(default_factory=dict)
    before: str = ""

    def build(self, *, strict: bool = False) -> bytes:
        """The file's bytes."""
        listed = range(len(self.slides)) if self.listed is None else self.listed
        ids = "".join(f'<p:sldId id="{256 + i}" r:id="rId{i + 1}"/>' for i in listed)
        frame = f'<p:sldIdLst>{ids}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/>{self.before}'
        related = [("slide", f"slides/slide{i}.xml") for i in range(1, len(self.slides) + 1)]
        parts: dict[str, str | bytes] = {
            "_rels/.rels": relationships([("officeDocument", "ppt/presentation.xml")]),
            "ppt/presentation.xml": f"<p:presentation {NAMES}>{frame}</p:presentation>",
            "ppt/_rels/presentation.xml.rels": relationships([*related, *self.related]),
        }
        for i, slide in enumerate(self.slides, 1):
            parts[f"ppt/slides/slide{i}.xml"] = page("sld", slide.shapes, attributes="" if slide.shown else 'show="0"')
            parts[f"ppt/slides/_rels/slide{i}.xml.rels"] = relationships(slide.related)
        return zipped({**parts, **self.parts}, strict=strict)


def relationships(related: Sequence[tuple[str, str]]) -> str:
    """Relationships by kind and target, numbered from `rId1`; a target that starts with `http` lies outside."""
    items = "".join(
        f'<Relationship Id="rId{i}" Type="{RELS}/{kind}" Target="{target}" {mode(target)}/>'
        for i, (kind, target) in enumerate(related, 1)
    )
    return f'<Relationships xmlns="{PACKAGE_RELS}">{items}</Relationships>'


def mode(target: str) -> str:
    """What a relationship says of a target that lies outside the file."""
    return 'TargetMode="External"' if target.startswith("http") else ""


def page(root: str, shapes: str, *, attributes: str = "", after: str = "") -> str:
    """A part with a shape tree: a slide (`sld`), its notes, a layout or a master."""
    tree = f'<p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/></p:nvGrpSpPr><p:grpSpPr/>{shapes}</p:spTree>'
    return f"<p:{root} {NAMES} {attributes}><p:cSld>{tree}</p:cSld>{after}</p:{root}>"


def shape(
    number: int, *paragraphs: str, at: tuple[int, int] | None = None, placeholder: str = "", attributes: str = "", style: str = ""
) -> str:
    """A shape with a text; paragraphs are XML or, where they hold no tag, their text."""
    role = f"<p:ph {placeholder}/>" if placeholder else ""
    body = "".join(text if text.startswith("<a:p") else paragraph(run(text)) for text in paragraphs)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="x" {attributes}/><p:cNvSpPr/><p:nvPr>{role}</p:nvPr></p:nvSpPr>'
        f"<p:spPr>{_frame('a', at)}</p:spPr><p:txBody><a:bodyPr/>{style}{body}</p:txBody></p:sp>"
    )


def title(text: str, *, number: int = 2) -> str:
    """A title placeholder."""
    return shape(number, text, placeholder='type="title"')


def group(number: int, shapes: str, *, at: tuple[int, int] | None = None) -> str:
    """A group of shapes."""
    return (
        f'<p:grpSp><p:nvGrpSpPr><p:cNvPr id="{number}" name="g"/></p:nvGrpSpPr>'
        f"<p:grpSpPr>{_frame('a', at)}</p:grpSpPr>{shapes}</p:grpSp>"
    )


def frame(number: int, content: str, *, at: tuple[int, int] | None = None) -> str:
    """A frame around a table, a chart or a diagram."""
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="{number}" name="f"/></p:nvGraphicFramePr>{_frame("p", at)}'
        f'<a:graphic><a:graphicData uri="x">{content}</a:graphicData></a:graphic></p:graphicFrame>'
    )


def table(rows: Sequence[Sequence[str]], *, flags: str = "") -> str:
    """A table of texts; a cell may start with its attributes and a bar, such as `gridSpan="2"|text`."""
    lines = "".join(f"<a:tr>{''.join(map(_cell, row))}</a:tr>" for row in rows)
    return f"<a:tbl><a:tblPr {flags}/>{lines}</a:tbl>"


def paragraph(content: str, *, properties: str = "") -> str:
    """A paragraph of runs, breaks and fields."""
    return f"<a:p>{properties}{content}</a:p>"


def run(text: str) -> str:
    """A run of text."""
    return f"<a:r><a:rPr lang={quoteattr('en')}/><a:t>{escape(text)}</a:t></a:r>"


def zipped(parts: Mapping[str, str | bytes], *, strict: bool = False) -> bytes:
    """A ZIP archive of the parts in their order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            if strict and isinstance(content, str):
                for usual, name_of_strict in STRICT.items():
                    content = content.replace(usual, name_of_strict)
            archive.writestr(name, content)
    return out.getvalue()


def _frame(prefix: str, at: tuple[int, int] | None) -> str:
    return "" if at is None else f'<{prefix}:xfrm><a:off x="{at[0]}" y="{at[1]}"/><a:ext cx="9" cy="9"/></{prefix}:xfrm>'


def _cell(content: str) -> str:
    attributes, bar, text = content.rpartition("|")
    return f"<a:tc {attributes if bar else ''}><a:txBody><a:bodyPr/>{paragraph(run(text))}</a:txBody></a:tc>"
