"""The encoding of a page: by its byte order mark, the caller, the page's own declaration, or what its bytes read best as."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final

from extractor_svc.blocks import WarningList
from extractor_svc.decoding import DecodedText, decode
from extractor_svc.encoding_detection import detect_encoding

FALLBACK: Final = "windows-1252"
"""What browsers take where nothing is said and the bytes are no UTF-8."""

_DECLARED_WITHIN: Final = 32 * 1024
"""Bytes in which a declaration is looked for; browsers look through 1,024, and again where one comes later."""
_SPACE: Final = b"\t\n\x0c\r "
_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_XML: Final = re.compile(rb"""<\?xml[\t\n\x0c\r ][^>]*?encoding[\t\n\x0c\r ]*=[\t\n\x0c\r ]*["']([A-Za-z0-9._:-]+)["'][^>]*>""")
_STOP: Final = re.compile(rb"<(?:(?P<comment>!--)|(?P<meta>[Mm][Ee][Tt][Aa](?=[\t\n\x0c\r /]))|(?P<tag>/?[A-Za-z])|[!/?])")
_NAME_END: Final = re.compile(rb"[\t\n\x0c\r >]")
_ATTRIBUTE: Final = re.compile(
    rb"""[\t\n\x0c\r /]*(?:(?P<name>=?[^\t\n\x0c\r />=]+|=)[\t\n\x0c\r ]*"""
    rb"""(?:=[\t\n\x0c\r ]*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'"""
    rb"""|(?P<bare>[^\t\n\x0c\r >"'][^\t\n\x0c\r >]*)(?=[\t\n\x0c\r >])|(?=>))|(?=[^=])))"""
)
_CHARSET: Final = re.compile(
    r"""charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^"'\t\n\f\r ;][^\t\n\f\r ;]*))""", re.IGNORECASE
)
_WIDER: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""Encodings that a page means by the name of a narrower one, as browsers read them."""
_OTHER_NAMES: Final = {
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "x-x-big5": "big5hkscs",
    "x-cp1250": "cp1250",
    "x-cp1251": "cp1251",
    "x-cp1252": "cp1252",
    "x-euc-jp": "euc_jp",
    "windows-949": "cp949",
    "ks_c_5601-1989": "cp949",
    "dos-874": "cp874",
    "windows-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "iso-8859-8-e": "iso8859-8",
    "logical": "iso8859-8",
    "visual": "iso8859-8",
    "x-mac-roman": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-mac-ukrainian": "mac-cyrillic",
    "unicode-1-1-utf-8": "utf-8",
    "x-user-defined": "cp1252",
}
_READ: Final = frozenset(
    {"utf-8", "cp866", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "cp874", "gb18030", "big5hkscs", "euc_jp", "iso2022_jp"}
    | {"cp932", "cp949"}
    | {f"cp{number}" for number in range(1250, 1259)}
    | {f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)}
)
_C1: Final = {0xDC80 + place: 0x80 + place for place in range(0x20)}
_ESCAPED: Final = re.compile("[\udc80-\udcff]")
_LABEL: Final = re.compile(r"[a-z0-9][a-z0-9_:.-]*")
_FEW: Final = 10
"""Valid characters past ASCII, to one that is not, from which on a declared UTF-8 is believed in spite of bad bytes; bytes to one
NUL up to which a page may be UTF-16."""


def decode_page(content: bytes, option: str, warnings: WarningList) -> DecodedText:
    """Decodes a page, lines ended by line feeds.

    A byte order mark wins, then the option, then what the page declares, then UTF-8 if the bytes are that, then detection.
    A page whose bytes break its declaration is read in what they are, or with signs of replacement where only few do.

    Raises:
        InvalidOption: the option is no text encoding.
        BadEncoding: the bytes are not valid in what the mark or the option says.
    """
    if content.startswith(_MARKS):
        return decode(content, "")
    if option:
        return decode(content, option)
    declared = declared_encoding(content)
    if declared and (text := _strictly(content, declared)) is not None:
        return _lines(text, declared)
    if not declared:
        return _undeclared(content, warnings)
    return _misdeclared(content, declared, warnings)


def declared_encoding(content: bytes) -> str:
    """The encoding that an XML declaration or a `meta` element names, by its IANA name; empty where none does."""
    head = content[:_DECLARED_WITHIN]
    if found := _XML.match(head):
        return _known(found[1].decode("ascii"))
    position = 0
    while stop := _STOP.search(head, position):
        if stop["comment"]:
            position = _after(head, b"-->", stop.start() + 2)
        elif stop["meta"]:
            attributes = _Attributes(head, stop.end())
            if name := _of_meta(dict(attributes.all())):
                return name
            position = attributes.position
        elif stop["tag"]:
            name_end = _NAME_END.search(head, stop.end())
            attributes = _Attributes(head, name_end.start() if name_end else len(head))
            for _ in attributes.all():
                pass
            position = attributes.position
        else:
            position = _after(head, b">", stop.end())
    return ""


class _Attributes:
    """Reads the attributes of one tag, the first of a name winning; `position` is behind what was read.

    A tag that does not end within the bytes has no attributes.
    """

    def __init__(self, head: bytes, position: int) -> None:
        self._head = head
        self.position = position

    def all(self) -> Iterator[tuple[str, str]]:
        """The attributes, names in lower case, the last of one name first."""
        found: list[tuple[str, str]] = []
        while match := _ATTRIBUTE.match(self._head, self.position):
            self.position = match.end()
            value = next((match[group] for group in ("double", "single", "bare") if match[group] is not None), b"")
            found.append((match["name"].decode("latin-1").lower(), value.decode("latin-1").lower()))
        rest = len(self._head) - len(self._head[self.position :].lstrip(_SPACE + b"/"))
        if self._head[rest : rest + 1] == b">":
            self.position = rest + 1
            yield from reversed(found)
        elif rest >= len(self._head) or self._head[rest - 1 : rest] == b"=":
            self.position = len(self._head)


def _of_meta(attributes: dict[str, str]) -> str:
    if "charset" in attributes:
        return _known(attributes["charset"])
    if attributes.get("http-equiv") != "content-type":
        return ""
    found = _CHARSET.search(attributes.get("content", ""))
    return _known(next(filter(None, found.groups()), "")) if found else ""


def _known(label: str) -> str:
    """The IANA name of the encoding that browsers read for a label; empty where the label names none."""
    label = label.strip("\t\n\f\r ").lower()
    if label.startswith(("utf-16", "utf16", "unicode", "ucs-2", "iso-10646-ucs-2", "csunicode")) and label not in _OTHER_NAMES:
        return "utf-8"
    if not _LABEL.fullmatch(label):
        return ""
    try:
        name = codecs.lookup(_OTHER_NAMES.get(label, label)).name
    except (LookupError, ValueError):
        return ""
    name = _WIDER.get(name, name)
    return _iana(name) if name in _READ else ""


def _iana(name: str) -> str:
    if re.fullmatch(r"cp(?:12\d\d|874)", name):
        return name.replace("cp", "windows-")
    return {"cp932": "shift_jis", "cp949": "euc-kr", "big5hkscs": "big5"}.get(name) or re.sub(
        r"^iso8859-", "iso-8859-", name
    ).replace("_", "-")


def _codec(name: str) -> str:
    return {"shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs", "windows-874": "cp874"}.get(name, name)


def _after(head: bytes, sign: bytes, start: int) -> int:
    end = head.find(sign, start)
    return len(head) if end < 0 else end + len(sign)


def _strictly(content: bytes, name: str) -> str | None:
    """The text in one encoding; None where bytes are not valid in it. The C1 places of Windows encodings are valid in browsers."""
    try:
        text = content.decode(_codec(name), errors="surrogateescape" if name.startswith("windows-") else "strict")
    except UnicodeDecodeError:
        return None
    if not _ESCAPED.search(text):
        return text
    text = text.translate(_C1)
    return None if _ESCAPED.search(text) else text


def _undeclared(content: bytes, warnings: WarningList) -> DecodedText:
    wide = content.count(b"\x00") * _FEW > len(content)
    if not wide and (text := _strictly(content, "utf-8")) is not None:
        return _lines(text, FALLBACK if text.isascii() else "utf-8")
    guessed = detect_encoding(content) or FALLBACK
    warnings.add("ENCODING_GUESSED", f"The page does not say its encoding and is no UTF-8; it was read as {guessed}.")
    text = _strictly(content, guessed)
    return _lines(content.decode(_codec(guessed), errors="replace") if text is None else text, guessed)


def _misdeclared(content: bytes, declared: str, warnings: WarningList) -> DecodedText:
    replaced = content.decode(_codec(declared), errors="replace")
    bad = replaced.count("\ufffd")
    good = sum(1 for _ in re.finditer(r"[^\x00-\x7f\ufffd]", replaced))
    guessed = detect_encoding(content) if good < bad * _FEW else ""
    text = _strictly(content, guessed) if guessed else None
    if text is not None:
        warnings.add("ENCODING_GUESSED", f"The page says it is {declared}, which it is not; it was read as {guessed}.")
        return _lines(text, guessed)
    warnings.add("INVALID_CHARACTERS", f"{bad} characters are not valid {declared} and were replaced by U+FFFD.")
    return _lines(replaced, declared)


def _lines(text: str, encoding: str) -> DecodedText:
    return DecodedText(text.replace("\r\n", "\n").replace("\r", "\n"), encoding)
