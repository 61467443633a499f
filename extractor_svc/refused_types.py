"""Files that are known and not read: their names, their first bytes, and what to do with them instead."""

from __future__ import annotations

import struct
from typing import Final

from extractor_svc.errors import UnsupportedType

UNPACK: Final = "unpack it and send the files in it"


def _save_as(target: str, *extensions: str) -> dict[str, str]:
    return {f".{extension}": f"save it as .{target}" for extension in extensions}


REFUSED: Final[dict[str, str]] = {
    **_save_as("docx", "doc", "dot", "rtf", "odt", "ott", "fodt", "sxw", "pages", "wpd", "wps", "hwp"),
    **_save_as("xlsx", "xls", "xlt", "xlsb", "ods", "ots", "fods", "sxc", "numbers"),
    **_save_as("pptx", "ppt", "pps", "pot", "odp", "otp", "fodp", "sxi", "key"),
    **_save_as("html", "epub", "mobi", "azw", "azw3", "msg", "eml", "mht", "mhtml", "chm"),
    **_save_as("pdf", "djvu", "xps", "oxps", "ps", "eps", "vsd", "vsdx", "pub", "odg"),
    **dict.fromkeys((".zip", ".7z", ".rar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".tar"), UNPACK),
}
"""Extensions that are refused by name, and what to do with such a file."""

_KINDS: Final[dict[str, str]] = {
    "word": REFUSED[".doc"],
    "excel": REFUSED[".xls"],
    "powerpoint": REFUSED[".ppt"],
    "outlook": REFUSED[".msg"],
    "visio": REFUSED[".vsd"],
    "ole": "save it as .docx, .xlsx or .pptx",
    "postscript": REFUSED[".ps"],
    "wordperfect": REFUSED[".wpd"],
    "gzip": UNPACK,
    "bzip2": UNPACK,
    "zstd": UNPACK,
    **{extension[1:]: advice for extension, advice in REFUSED.items()},
}
_MAGIC: Final = (
    (0, b"{\\rtf", "rtf"),
    *((0, b"BZh%d1AY&SY" % level, "bzip2") for level in range(1, 10)),
    (0, b"\x1f\x8b\x08", "gzip"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z"),
    (0, b"Rar!\x1a\x07", "rar"),
    (0, b"\xfd7zXZ\x00", "xz"),
    (0, b"\x28\xb5\x2f\xfd", "zstd"),
    (257, b"ustar\x00", "tar"),
    (257, b"ustar  \x00", "tar"),
    (0, b"\xffWPC", "wordperfect"),
    (0, b"AT&TFORM", "djvu"),
    (0, b"ITSF\x03\x00", "chm"),
    (0, b"%!PS-Adobe", "postscript"),
    (0, b"\xc5\xd0\xd3\xc6", "postscript"),
    (60, b"BOOKMOBI", "mobi"),
)
_END_OF_NAME: Final = 31
"""Where the name that begins a Palm database ends at the latest, with a NUL; text that says BOOKMOBI has none there."""
_STREAMS: Final = (
    ("WordDocument", "word"),
    ("PowerPoint Document", "powerpoint"),
    ("Workbook", "excel"),
    ("Book", "excel"),
    ("__properties_version1.0", "outlook"),
    ("VisioDocument", "visio"),
)
_LEGACY: Final = frozenset(kind for _, kind in _STREAMS)
_TYPES_OF_PACKAGES: Final = (
    (b"application/vnd.oasis.opendocument.text", "odt"),
    (b"application/vnd.oasis.opendocument.spreadsheet", "ods"),
    (b"application/vnd.oasis.opendocument.presentation", "odp"),
    (b"application/vnd.oasis.opendocument.graphics", "odg"),
    (b"application/epub+zip", "epub"),
)
_FIRST_ENTRY: Final = struct.Struct("<26xHH")


def kind_of_start(content: bytes) -> str:
    """The kind of file that begins so; empty where none of those that are refused does."""
    found = next((kind for offset, magic, kind in _MAGIC if content.startswith(magic, offset)), "")
    return "" if found == "mobi" and content[_END_OF_NAME] else found


def kind_of_package(content: bytes) -> str:
    """The kind of an archive that states its type in its first entry; else empty."""
    if len(content) >= _FIRST_ENTRY.size and content.startswith(b"mimetype", _FIRST_ENTRY.size):
        name_bytes, extra_bytes = _FIRST_ENTRY.unpack_from(content)
        start = _FIRST_ENTRY.size + name_bytes + extra_bytes
        return next((kind for stated, kind in _TYPES_OF_PACKAGES if content.startswith(stated, start)), "")
    return ""


def is_binary_workbook(content: bytes) -> bool:
    """Whether an archive that is no sound office file is a workbook of binary parts."""
    return b"xl/workbook.bin" in content


def kind_of_compound(content: bytes) -> str:
    """The kind of a compound file by the streams it names; `ole` where these tell none."""
    return next((kind for stream, kind in _STREAMS if f"{stream}\x00".encode("utf-16-le") in content), "ole")


def advice_for(kind: str) -> str:
    """What to do with a file of a kind; empty for a kind that is not refused."""
    return _KINDS.get(kind, "")


def refused_by_name(extension: str) -> UnsupportedType:
    """The refusal of an extension of `REFUSED`."""
    return _refusal(f"{extension} files are not read", REFUSED[extension], {"extension": extension})


def refused_by_bytes(kind: str) -> UnsupportedType:
    """The refusal of a kind that the bytes showed."""
    said = "legacy office files" if kind == "ole" else f"legacy {kind} files" if kind in _LEGACY else f"{kind} files"
    return _refusal(f"{said} are not read", advice_for(kind), {"found": kind})


def _refusal(fact: str, advice: str, metadata: dict[str, str]) -> UnsupportedType:
    target = advice.removeprefix("save it as .")
    if target != advice and " " not in target:
        metadata = {**metadata, "save_as": target}
    return UnsupportedType(f"{fact}; {advice}", metadata=metadata)
