"""Builds word-processor documents from raw parts, so that a test says exactly what stands in the file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
PACKAGE_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"
SHAPES = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
PAGE = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
PICTURE = "http://schemas.openxmlformats.org/drawingml/2006/picture"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
VML = "urn:schemas-microsoft-com:vml"
OFFICE = "urn:schemas-microsoft-com:office:office"
NAMES = " ".join(
    f'xmlns:{prefix}="{name}"'
    for prefix, name in (
        ("w", WORDS),
        ("a", DRAWING),
        ("r", RELS),
        ("m", MATH),
        ("mc", COMPATIBILITY),
        ("wps", SHAPES),
        ("wp", PAGE),
        ("pic", PICTURE),
        ("c", CHART),
        ("dgm", DIAGRAM),
        ("v", VML),
        ("o", OFFICE),
    )
)
STRICT = {
    WORDS: "http://purl.oclc.org/ooxml/wordprocessingml/main",
    DRAWING: "http://purl.oclc.org/ooxml/drawingml/main",
    RELS: "http://purl.oclc.org/ooxml/officeDocument/relationships",
    MATH: "http://purl.oclc.org/ooxml/officeDocument/math",
}
MAIN_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
MACRO_TYPE = "application/vnd.ms-word.document.macroEnabled.main+xml"


@dataclass
class DocumentXml:
    """A document: its body, the contents of parts beside it, relationships (`rId1` on) and further parts.

    `styles`, `numbering`, `settings`, `footnotes`, `endnotes` and `comments` are what stands in the root of the part of
    that name, which is there only where something is given. `related` are (kind, target) pairs.
    """

    body: str
    styles: str = ""
    numbering: str = ""
    settings: str = ""
    footnotes: str = ""
    endnotes: str = ""
    comments: str = ""
    related: Sequence[tuple[str, str]] = ()
    parts: Mapping[str, str | bytes] = field(default_factory=dict)
    main_type: str = MAIN_TYPE

    def build(self, *, strict: bool = False) -> bytes:
        """The file's bytes."""
        beside = [name for name in ("styles", "numbering", "settings", "footnotes", "endnotes", "comments") if getattr(self, name)]
        parts: dict[str, str | bytes] = {
            "[Content_Types].xml": (
                '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
                f'<Override PartName="/word/document.xml" ContentType="{self.main_type}"/></Types>'
            ),
            "_rels/.rels": relationships([("officeDocument", "word/document.xml"), ("core-properties", "docProps/core.xml")]),
            "word/document.xml": part("document", f"<w:body>{self.body}</w:body>"),
            "word/_rels/document.xml.rels": relationships([*self.related, *((name, f"{name}.xml") for name in beside)]),
        }
        for name in beside:
            parts[f"word/{name}.xml"] = part(name, getattr(self, name))
        return zipped({**parts, **self.parts}, strict=strict)


def part(root: str, content: str) -> str:
    """A part of WordprocessingML with a root of that name."""
    return f"<w:{root} {NAMES}>{content}</w:{root}>"


def relationships(related: Sequence[tuple[str, str]]) -> str:
    """Relationships by kind and target, numbered from `rId1`; a target that starts with `http` lies outside."""
    items = "".join(
        f'<Relationship Id="rId{i}" Type="{RELS}/{kind}" Target={quoteattr(target)} {_mode(target)}/>'
        for i, (kind, target) in enumerate(related, 1)
    )
    return f'<Relationships xmlns="{PACKAGE_RELS}">{items}</Relationships>'


def _mode(target: str) -> str:
    return 'TargetMode="External"' if target.startswith("http") else ""


def p(*content: str, style: str = "", properties: str = "") -> str:
    """A paragraph; content is XML or, where it holds no tag, the text of a run."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    inside = f"<w:pPr>{named}{properties}</w:pPr>" if named or properties else ""
    return f"<w:p>{inside}{''.join(piece if '<' in piece else r(piece) for piece in content)}</w:p>"


def r(text: str, properties: str = "") -> str:
    """A run of text."""
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t xml:space={quoteattr('preserve')}>{escape(text)}</w:t></w:r>"


def item(text: str, number: int, level: int = 0) -> str:
    """A paragraph of a list."""
    return p(text, properties=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def inserted(*content: str, kind: str = "ins") -> str:
    """Content as a tracked insertion, or another tracked change around it."""
    return f'<w:{kind} w:id="1" w:author="A">{"".join(piece if "<" in piece else r(piece) for piece in content)}</w:{kind}>'


def deleted(text: str) -> str:
    """A run of text as a tracked deletion."""
    return f'<w:del w:id="1" w:author="A"><w:r><w:delText xml:space="preserve">{escape(text)}</w:delText></w:r></w:del>'


def style(
    identity: str, properties: str = "", *, kind: str = "paragraph", name: str = "", based_on: str = "", rest: str = ""
) -> str:
    """A style by id with its paragraph properties; a default name is the id, so that it tells nothing."""
    based = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    inside = f"<w:pPr>{properties}</w:pPr>" if properties else ""
    return f'<w:style w:type="{kind}" w:styleId="{identity}"><w:name w:val="{name or identity}"/>{based}{inside}{rest}</w:style>'


def outline(level: int) -> str:
    """An outline level from 0."""
    return f'<w:outlineLvl w:val="{level}"/>'


def level(number: int, form: str, text: str, *, rest: str = "", start: int = 1) -> str:
    """A level of a list from 0: its number format and what it shows, such as `%1.%2`."""
    return f'<w:lvl w:ilvl="{number}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{rest}<w:lvlText w:val="{text}"/></w:lvl>'


def a_list(number: int, *levels: str, abstract: int | None = None, overrides: str = "") -> tuple[str, str]:
    """A list's definition and the number that stands for it."""
    shared = number if abstract is None else abstract
    definition = f'<w:abstractNum w:abstractNumId="{shared}">{"".join(levels)}</w:abstractNum>' if levels else ""
    return definition, f'<w:num w:numId="{number}"><w:abstractNumId w:val="{shared}"/>{overrides}</w:num>'


def lists(*made: tuple[str, str]) -> str:
    """What a numbering part holds: definitions first, then the numbers."""
    return "".join(definition for definition, _ in made) + "".join(number for _, number in made)


def table(*rows: str, properties: str = "", columns: int = 0) -> str:
    """A table of rows."""
    grid = f"<w:tblGrid>{'<w:gridCol/>' * columns}</w:tblGrid>" if columns else ""
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{grid}{''.join(rows)}</w:tbl>"


def row(*cells: str, properties: str = "") -> str:
    """A row of cells; they are XML or, where they hold no tag, the text of a cell."""
    inside = f"<w:trPr>{properties}</w:trPr>" if properties else ""
    return f"<w:tr>{inside}{''.join(text if text.startswith('<w:tc') else cell(text) for text in cells)}</w:tr>"


def cell(*content: str, properties: str = "") -> str:
    """A cell of paragraphs and tables; content without a tag is a paragraph's text."""
    inside = "".join(text if text.startswith("<") else p(text) for text in content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc>"


def drawn(content: str, *, description: str = "") -> str:
    """A run with a drawing."""
    return (
        f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="d" descr={quoteattr(description)}/>'
        f"<a:graphic><a:graphicData>{content}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
    )


def text_box(*paragraphs: str) -> str:
    """A shape with a text box."""
    return f"<wps:wsp><wps:txbx><w:txbxContent>{''.join(paragraphs)}</w:txbxContent></wps:txbx></wps:wsp>"


def old_text_box(*paragraphs: str) -> str:
    """A run with a text box as older files have it."""
    box = f"<v:textbox><w:txbxContent>{''.join(paragraphs)}</w:txbxContent></v:textbox>"
    return f"<w:r><w:pict><v:shape>{box}</v:shape></w:pict></w:r>"


def alternatives(choice: str, fallback: str) -> str:
    """Two renderings of one content."""
    return (
        f'<mc:AlternateContent><mc:Choice Requires="wps">{choice}</mc:Choice><mc:Fallback>{fallback}</mc:Fallback>'
        "</mc:AlternateContent>"
    )


def field_of(code: str, result: str) -> str:
    """A field in its long form: its code, and what it shows."""
    marks = [f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")]
    return f"{marks[0]}<w:r><w:instrText>{escape(code)}</w:instrText></w:r>{marks[1]}{r(result)}{marks[2]}"


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
