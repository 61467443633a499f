"""What a file is: its bytes against its name and what was declared of it, and archives that are no honest office files."""

from __future__ import annotations

import io
import re
import struct
import zipfile

import pytest

from extractor_svc.errors import (
    EmptyDocument,
    InvalidOption,
    PasswordRequired,
    TypeMismatch,
    UnsupportedType,
    ZipBomb,
    ZipInvalid,
    ZipPath,
    ZipTooManyEntries,
)
from extractor_svc.limits import Limits
from extractor_svc.refused_types import REFUSED
from extractor_svc.sniff import FORMATS, identify
from extractor_svc.zip_guard import Archive
from tests.unit.extractor.workbooks import CONTENT_TYPES, relationships, simple, zipped

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600
ENCRYPTED = OLE + "EncryptedPackage".encode("utf-16-le") + b"\x00" * 100
BINARY_WORKBOOK = zipped(
    {
        "[Content_Types].xml": f'<Types xmlns="{CONTENT_TYPES}"/>',
        "_rels/.rels": relationships([("officeDocument", "xl/workbook.bin")]),
        "xl/workbook.bin": "\x83\x01",
    }
)
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
WORKBOOK = simple([["a"]])


def what(content: bytes, filename: str = "", content_type: str = "", declared: str = "") -> str:
    return identify(content, filename=filename, content_type=content_type, declared=declared, limits=Limits())


def office(kind: str, root: str = "document") -> bytes:
    override = f'<Override PartName="/main.xml" ContentType="application/vnd.openxmlformats-officedocument.{kind}.x+xml"/>'
    types = f'<Types xmlns="{CONTENT_TYPES}">{override}</Types>'
    return zipped(
        {"[Content_Types].xml": types, "_rels/.rels": relationships([("officeDocument", "main.xml")]), "main.xml": f"<{root}/>"}
    )


def compound(*streams: str) -> bytes:
    """A compound file that names some streams in its directory."""
    return OLE + b"".join(f"{stream}\x00".encode("utf-16-le").ljust(128, b"\x00") for stream in streams)


def stated(media_type: str) -> bytes:
    """An archive whose first entry states its type, as open documents and books have it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as package:
        package.writestr("mimetype", media_type)
        package.writestr("content.xml", "<x/>")
    return out.getvalue()


class TestIdentify:
    @pytest.mark.parametrize(
        ("content", "filename", "content_type", "declared", "format_id"),
        [
            (b"# x", "x.md", "", "", "markdown"),
            (b"# x", "X.MARKDOWN", "", "", "markdown"),
            (b"# x", "", "text/markdown; charset=utf-8", "", "markdown"),
            (b"# x", "notes.txt", "", "markdown", "markdown"),
            (b"# x", "x.md", "application/octet-stream", "", "markdown"),
            (b"x", "", "", "", "text"),
            (PDF, "x.pdf", "", "", "pdf"),
            (PDF, "", "", "", "pdf"),
            (PDF, "x.unknown", "", "", "pdf"),
            (b"junk\x00\xff" * 20 + PDF, "x.pdf", "", "", "pdf"),
            (b"\n\n" + PDF, "", "", "", "pdf"),
            (b"A page about %PDF-1.7 headers", "x.md", "", "", "markdown"),
            (WORKBOOK, "x.xlsx", "", "", "xlsx"),
            (WORKBOOK, "", "", "", "xlsx"),
            (WORKBOOK, "macro.xlsm", "", "", "xlsx"),
            (WORKBOOK, "misnamed.xls", "", "xlsx", "xlsx"),
            (office("wordprocessingml"), "", "", "", "docx"),
            (office("presentationml"), "x.pptx", "", "", "pptx"),
            (office("other", root="workbook"), "", "", "", "xlsx"),
            (b"PAR1data", "", "", "", "parquet"),
        ],
    )
    def test_what_bytes_and_names_agree_on(
        self, content: bytes, filename: str, content_type: str, declared: str, format_id: str
    ) -> None:
        assert what(content, filename, content_type, declared) == format_id

    def test_an_empty_file_is_refused_whatever_its_name(self) -> None:
        with pytest.raises(EmptyDocument):
            what(b"", "x.pdf")

    @pytest.mark.parametrize(
        ("content", "filename", "declared"),
        [
            (WORKBOOK, "x.pdf", ""),
            (WORKBOOK, "x.docx", ""),
            (WORKBOOK, "x.md", ""),
            (PDF, "x.xlsx", ""),
            (PDF, "x.md", ""),
            (b"text", "x.pdf", ""),
            (b"text", "x.md", "pdf"),
            (b"\x89PNG\r\n\x1a\n", "x.md", ""),
            (OLE, "x.pdf", ""),
            (zipped({"a.txt": "x"}), "x.xlsx", ""),
        ],
    )
    def test_bytes_that_are_not_what_the_name_says_are_refused(self, content: bytes, filename: str, declared: str) -> None:
        with pytest.raises(TypeMismatch):
            what(content, filename, declared=declared)

    @pytest.mark.parametrize(
        ("content", "filename"),
        [
            (OLE, ""),
            (OLE, "x.xlsx"),
            (b"\x00\x01\x02\x03", ""),
            (b"\x1f\x8b\x08\x00", "x.gz"),
            (b"text", "x.unknown"),
            (zipped({"a.txt": "x"}), "x.zip"),
            (b"{\\rtf1 x}", "x.rtf"),
        ],
    )
    def test_bytes_that_nothing_reads_are_refused(self, content: bytes, filename: str) -> None:
        with pytest.raises(UnsupportedType):
            what(content, filename)

    @pytest.mark.parametrize("extension", sorted(REFUSED))
    def test_files_are_refused_by_name_with_what_to_do(self, extension: str) -> None:
        with pytest.raises(UnsupportedType, match=re.escape(f"{extension} files are not read; {REFUSED[extension]}")):
            what(OLE, f"old{extension.upper()}")

    @pytest.mark.parametrize(
        ("extension", "save_as"),
        [
            (".doc", "docx"),
            (".xls", "xlsx"),
            (".xlsb", "xlsx"),
            (".ppt", "pptx"),
            (".rtf", "docx"),
            (".odt", "docx"),
            (".ods", "xlsx"),
            *((".odp", "pptx"), (".epub", "html"), (".msg", "html"), (".pages", "docx"), (".djvu", "pdf")),
        ],
    )
    def test_the_refusal_says_what_to_save_it_as(self, extension: str, save_as: str) -> None:
        with pytest.raises(UnsupportedType) as refused:
            what(b"x", f"old{extension}")
        assert refused.value.metadata == {"extension": extension, "save_as": save_as}

    @pytest.mark.parametrize(
        ("content", "kind", "advice"),
        [
            (compound("WordDocument"), "legacy word files", "save it as .docx"),
            (compound("Workbook"), "legacy excel files", "save it as .xlsx"),
            (compound("Book"), "legacy excel files", "save it as .xlsx"),
            (compound("Workbook", "WordDocument"), "legacy word files", "save it as .docx"),
            (compound("PowerPoint Document"), "legacy powerpoint files", "save it as .pptx"),
            (compound("__properties_version1.0"), "legacy outlook files", "save it as .html"),
            (OLE, "legacy office files", "save it as .docx, .xlsx or .pptx"),
            (b"{\\rtf1 x}", "rtf files", "save it as .docx"),
            (stated("application/vnd.oasis.opendocument.text"), "odt files", "save it as .docx"),
            (stated("application/vnd.oasis.opendocument.spreadsheet"), "ods files", "save it as .xlsx"),
            (stated("application/vnd.oasis.opendocument.presentation"), "odp files", "save it as .pptx"),
            (stated("application/epub+zip"), "epub files", "save it as .html"),
            (BINARY_WORKBOOK, "xlsb files", "save it as .xlsx"),
            (zipped({"a.txt": "x"}), "zip files", "unpack it"),
            (b"\x1f\x8b\x08\x00", "gzip files", "unpack it"),
            (b"7z\xbc\xaf\x27\x1c\x00", "7z files", "unpack it"),
            (b"Rar!\x1a\x07\x00", "rar files", "unpack it"),
            (b"BZh91AY&SY\x00", "bzip2 files", "unpack it"),
            (b"name".ljust(257, b"\x00") + b"ustar\x0000", "tar files", "unpack it"),
            (b"\xffWPC\x10\x00", "wordperfect files", "save it as .docx"),
            (b"AT&TFORM\x00\x00", "djvu files", "save it as .pdf"),
            (b"%!PS-Adobe-3.0\n", "postscript files", "save it as .pdf"),
            (b"name".ljust(60, b"\x00") + b"BOOKMOBI", "mobi files", "save it as .html"),
        ],
    )
    def test_files_without_a_name_are_refused_by_their_bytes_with_what_to_do(self, content: bytes, kind: str, advice: str) -> None:
        with pytest.raises(UnsupportedType, match=re.escape(f"{kind} are not read; {advice}")):
            what(content)

    @pytest.mark.parametrize(
        ("content", "filename", "found", "advice"),
        [
            (b"{\\rtf1 x}", "x.docx", "rtf", "save it as .docx"),
            (stated("application/vnd.oasis.opendocument.text"), "x.docx", "odt", "save it as .docx"),
            (stated("application/epub+zip"), "x.pdf", "epub", "save it as .html"),
            (compound("WordDocument"), "x.pdf", "word", "save it as .docx"),
            (b"%!PS-Adobe-3.0\n", "x.txt", "postscript", "save it as .pdf"),
            (b"\x1f\x8b\x08\x00", "x.csv", "gzip", "unpack it"),
        ],
    )
    def test_refused_bytes_under_another_name_are_a_mismatch_with_what_to_do(
        self, content: bytes, filename: str, found: str, advice: str
    ) -> None:
        with pytest.raises(TypeMismatch, match=re.escape(advice)) as refused:
            what(content, filename)
        assert refused.value.metadata["found"] == found

    def test_a_legacy_file_under_the_new_name_is_refused_as_what_it_is(self) -> None:
        with pytest.raises(UnsupportedType, match=r"legacy word files are not read; save it as \.docx"):
            what(compound("WordDocument"), "x.docx")

    @pytest.mark.parametrize(
        "content",
        [
            b"ustar",
            b"BZh and text",
            b"a,b\n1AY&SY",
            b"%!PS is how it starts",
            b"AT&T form",
            b"mimetype",
            b"The first record of such a book begins sixty bytes in, with BOOKMOBI.",
        ],
    )
    def test_text_that_begins_alike_is_text(self, content: bytes) -> None:
        assert what(content, "x.txt") == "text"

    def test_an_encrypted_office_file_asks_for_its_password(self) -> None:
        with pytest.raises(PasswordRequired):
            what(ENCRYPTED, "x.xlsx")
        with pytest.raises(PasswordRequired):
            what(ENCRYPTED)

    def test_an_unknown_declared_format_is_no_option(self) -> None:
        with pytest.raises(InvalidOption, match="markdown"):
            what(b"x", "x.md", declared="wordperfect")

    def test_every_extension_names_one_format(self) -> None:
        extensions = [extension for known in FORMATS for extension in known.extensions]
        assert len(extensions) == len(set(extensions))
        assert not set(extensions) & set(REFUSED)


def archive(content: bytes, **limits: int) -> Archive:
    return Archive(content, Limits(**limits))


class TestArchive:
    def test_entries_are_found_without_regard_to_case_and_backslashes(self) -> None:
        opened = archive(zipped({"Xl\\Work.xml": "x", "dir/": ""}))
        assert ("xl/work.xml" in opened, opened.read("XL/WORK.XML"), opened.names) == (True, b"x", ("Xl/Work.xml",))

    def test_an_entry_without_a_name_is_refused(self) -> None:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as nameless:
            nameless.writestr(zipfile.ZipInfo(""), "x")
        with pytest.raises(ZipInvalid):
            archive(out.getvalue())

    @pytest.mark.parametrize("content", [b"PK\x03\x04 and nothing else", zipped({"a": "x"})[:-8], b"PK\x05\x06" + b"\xff" * 18])
    def test_a_damaged_archive_is_refused(self, content: bytes) -> None:
        with pytest.raises(ZipInvalid):
            archive(content)

    @pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/passwd", "C:/x", "..\\evil"])
    def test_a_name_that_leaves_the_archive_is_refused(self, name: str) -> None:
        with pytest.raises(ZipPath):
            archive(zipped({name: "x"}))

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_an_entry_that_stands_twice_is_refused(self) -> None:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as twice:
            twice.writestr("a", "1")
            twice.writestr("a", "2")
        with pytest.raises(ZipInvalid, match="twice"):
            archive(out.getvalue())

    def test_too_many_entries_are_refused(self) -> None:
        with pytest.raises(ZipTooManyEntries):
            archive(zipped({str(i): "" for i in range(20)}), zip_max_entries=19)

    def test_an_entry_that_inflates_too_many_times_is_a_bomb(self) -> None:
        with pytest.raises(ZipBomb, match="times"):
            archive(zipped({"a": "0" * 3_000_000}), zip_max_ratio=100)

    def test_a_small_entry_may_be_packed_as_tightly_as_it_likes(self) -> None:
        assert len(archive(zipped({"a": "0" * 500_000}), zip_max_ratio=10).read("a")) == 500_000

    def test_entries_that_inflate_too_far_together_are_a_bomb(self) -> None:
        with pytest.raises(ZipBomb, match="would inflate"):
            archive(zipped({"a": "x" * 600, "b": "x" * 600}), zip_max_inflated_bytes=1000)

    def test_inflating_the_same_entry_again_and_again_runs_out_of_budget(self) -> None:
        opened = archive(zipped({"a": "x" * 600}), zip_max_inflated_bytes=1000)
        opened.read("a")
        with pytest.raises(ZipBomb):
            opened.read("a")

    def test_overlapping_entries_are_refused(self) -> None:
        content = bytearray(zipped({"a": "first entry", "b": "second one"}))
        directory = content.index(b"PK\x01\x02")
        second = content.index(b"PK\x01\x02", directory + 1)
        content[second + 42 : second + 46] = struct.pack("<I", 0)
        with pytest.raises(ZipInvalid, match="overlap"):
            archive(bytes(content))

    def test_encrypted_entries_are_refused(self) -> None:
        content = bytearray(zipped({"a": "x"}))
        content[content.index(b"PK\x01\x02") + 8] |= 1
        with pytest.raises(ZipInvalid, match="password"):
            archive(bytes(content))

    def test_an_entry_whose_bytes_were_changed_is_damaged_when_read(self) -> None:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as stored:
            stored.writestr("a", "original")
        opened = archive(out.getvalue().replace(b"original", b"0riginal"))
        with pytest.raises(ZipInvalid, match="entry a"):
            opened.read("a")

    def test_a_packing_that_office_files_do_not_use_is_refused(self) -> None:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as packed:
            packed.writestr("a", "x")
        with pytest.raises(ZipInvalid, match="packed"):
            archive(out.getvalue())
