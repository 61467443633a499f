"""The encoding of a page: the html5lib project's cases, declarations, and pages that declare what they are not."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from extractor_svc.blocks import WarningList
from extractor_svc.formats.html_encoding import FALLBACK, declared_encoding, decode_page
from extractor_svc.limits import DEFAULT_LIMITS

CASES = Path(__file__).resolve().parents[3] / ".." / "shared" / "corpus" / "html" / "html5lib"


def decoded(content: bytes, option: str = "") -> tuple[str, str, list[str]]:
    warnings = WarningList(DEFAULT_LIMITS)
    page = decode_page(content, option, warnings)
    return page.text, page.encoding, [warning.code for warning in warnings.done()]


def html5lib_cases() -> list[tuple[bytes, str]]:
    found = []
    for path in sorted(CASES.glob("encoding-*.dat")):
        for part in path.read_bytes().split(b"#data\n")[1:]:
            data, _, rest = part.partition(b"\n#encoding\n")
            found.append((data, rest.split(b"\n")[0].decode().strip().lower()))
    return found


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared corpus is not here")
def test_all_cases_of_html5lib_are_decoded_as_they_say() -> None:
    cases = html5lib_cases()
    assert len(cases) == 81
    assert [decoded(data)[1] for data, _ in cases] == [encoding for _, encoding in cases]


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("latin1", "windows-1252"),
        ("ascii", "windows-1252"),
        ("iso-8859-9", "windows-1254"),
        ("Shift_JIS", "shift_jis"),
        ("x-sjis", "shift_jis"),
        ("gb2312", "gb18030"),
        ("ks_c_5601-1987", "euc-kr"),
        ("big5", "big5"),
        ("tis-620", "windows-874"),
        ("utf-16", "utf-8"),
        ("koi8-r", "koi8-r"),
        ("cp500", ""),
        ("utf-7", ""),
        ("no-such", ""),
    ],
)
def test_a_label_means_what_browsers_read_for_it(label: str, name: str) -> None:
    assert declared_encoding(f"<meta charset={label}>".encode()) == name


def test_an_xml_declaration_names_the_encoding() -> None:
    assert declared_encoding(b"<?xml version='1.0' encoding='ISO-8859-2'?><html>") == "iso-8859-2"


def test_a_byte_order_mark_outweighs_the_option_and_the_declaration() -> None:
    assert decoded(codecs.BOM_UTF8 + "<meta charset=latin1>é".encode(), "latin-1")[:2] == ("<meta charset=latin1>é", "utf-8")


def test_the_option_outweighs_the_declaration() -> None:
    assert decoded("<meta charset=utf-8>é".encode("cp1252"), "cp1252")[0] == "<meta charset=utf-8>é"


def test_windows_encodings_have_no_invalid_bytes() -> None:
    assert decoded(b"<meta charset=windows-1252>\x81\x93") == ("<meta charset=windows-1252>\x81“", "windows-1252", [])


def test_what_declares_nothing_is_utf_8_where_it_can_be() -> None:
    assert decoded("<p>é</p>".encode())[1:] == ("utf-8", [])
    assert decoded(b"<p>e</p>")[1:] == (FALLBACK, [])


def test_what_declares_nothing_and_is_no_utf_8_is_detected_with_a_warning() -> None:
    text = "<p>Die Größe der Räume ist für Gäste natürlich schön.</p>"
    assert decoded(text.encode("cp1252")) == (text, "cp1252", ["ENCODING_GUESSED"])
    russian = "<p>Съешь же ещё этих мягких французских булок, да выпей чаю. Широкая электрификация южных губерний.</p>"
    assert decoded(russian.encode("cp1251"))[0] == russian


def test_utf_16_without_a_mark_is_detected() -> None:
    text = "<html><body><p>Plain words of a page</p></body></html>"
    assert decoded(text.encode("utf-16-le"))[0] == text


def test_a_page_that_is_not_what_it_declares_is_read_as_what_it_is() -> None:
    text = "<meta charset=utf-8><p>Die Größe der Räume ist für Gäste schön.</p>"
    assert decoded(text.encode("cp1252")) == (text, "cp1252", ["ENCODING_GUESSED"])


def test_a_few_bad_bytes_do_not_change_the_encoding() -> None:
    text = "<meta charset=utf-8><p>" + "größer " * 30 + "</p>"
    content = text.encode() + b"\xff"
    assert decoded(content) == (text + "\ufffd", "utf-8", ["INVALID_CHARACTERS"])
