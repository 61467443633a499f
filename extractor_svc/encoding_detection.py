"""The encoding of a text that does not say its own, judged by what its bytes would read as."""

from __future__ import annotations

import codecs
import re
from typing import Final

from charset_normalizer import CharsetMatch, from_bytes

from extractor_svc.blocks import WarningList
from extractor_svc.decoding import DecodedText, decode
from extractor_svc.errors import BadEncoding

_UTF_8: Final = "utf-8"
_SAMPLE: Final = 256 * 1024
_MORE_CHAOS: Final = 10.0
_PREFERRED: Final = (
    "cp1252",
    "cp1251",
    "cp1253",
    "cp932",
    "euc_jp",
    "gb18030",
    "big5",
    "cp949",
    "cp866",
    "cp437",
    "cp850",
    "cp500",
)
_WESTERN: Final = re.compile(r"[À-ÖØ-öø-ÿŒœŠšŽžŸ‘’‚“”„–—…€£¥§©®°·•ªº¿¡«»²³¼½¾\xa0\u2122]")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f]")
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_LEAST_WESTERN: Final = 0.95


def detect_encoding(content: bytes) -> str:
    """The encoding that a text without a byte order mark reads best in, as Python names it; empty where none fits.

    Of encodings that fit as well, the one in wider use wins; a Western text is not taken for an Eastern one over a letter.
    """
    sample = _sample(content)
    if b"\x00" in sample and (wide := _wide(sample)):
        return wide
    matches = [match for match in from_bytes(sample) if _decodes(content, match.encoding)]
    if _is_western(content, matches):
        return "cp1252"
    if not matches or "\x00" in str(matches[0]):
        return ""
    best = matches[0]
    names = [best.encoding, *best.could_be_from_charset]
    names += [match.encoding for match in matches if _as_good(match, best)]
    ranked = [name for name in _PREFERRED if name in names and _decodes(content, name)]
    return codecs.lookup(ranked[0] if ranked else best.encoding).name


def decode_or_guess(content: bytes, encoding: str, warnings: WarningList) -> DecodedText:
    """Decodes a text as `encoding` says, else by its byte order mark or as UTF-8, else as it reads best, with a warning.

    Raises:
        InvalidOption: there is no such text encoding.
        BadEncoding: the bytes are not valid in the named encoding, or in none that can be told.
    """
    if encoding:
        return decode(content, encoding)
    try:
        decoded = decode(content, "")
    except BadEncoding:
        guessed = detect_encoding(content)
        if not guessed:
            raise
        return _guessed(content, guessed, warnings)
    if decoded.encoding == _UTF_8 and _may_be_wide(decoded.text) and (guessed := detect_encoding(content)).startswith("utf-16"):
        return _guessed(content, guessed, warnings)
    return decoded


def _may_be_wide(text: str) -> bool:
    """Whether a text has NULs and so many control characters that they may be halves of others; a stray NUL is none."""
    if "\x00" not in text:
        return False
    sample = text[:_SAMPLE]
    return 4 * len(_CONTROL.findall(sample)) >= len(sample)


def _guessed(content: bytes, encoding: str, warnings: WarningList) -> DecodedText:
    warnings.add("ENCODING_GUESSED", f"The file does not say its encoding and is no UTF-8; it was read as {encoding}.")
    return decode(content, encoding)


def _sample(content: bytes) -> bytes:
    """The first bytes, up to the end of a line, so that no character is cut."""
    if len(content) <= _SAMPLE:
        return content
    end = content.rfind(b"\n", 0, _SAMPLE)
    return content[: end + 1 if end > 0 else _SAMPLE]


def _wide(sample: bytes) -> str:
    """UTF-16 without its mark: in Western text every other byte is NUL, the first of a pair in big endian."""
    pairs = len(sample) // 2
    even, odd = sample[: pairs * 2 : 2].count(0), sample[1 : pairs * 2 : 2].count(0)
    if odd > pairs // 2 and even < pairs // 10:
        return "utf-16-le"
    return "utf-16-be" if even > pairs // 2 and odd < pairs // 10 else ""


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _as_good(match: CharsetMatch, best: CharsetMatch) -> bool:
    return match.percent_chaos <= best.percent_chaos and match.percent_coherence >= best.percent_coherence


def _is_western(content: bytes, matches: list[CharsetMatch]) -> bool:
    """Whether Windows-1252 gives Western letters and signs among plain ones, and no other encoding reads clearly better."""
    if b"\x00" in content or not _decodes(content, "cp1252"):
        return False
    high = _NOT_ASCII.findall(content.decode("cp1252"))
    if len(high) * 3 > len(content) or sum(map(len, _WESTERN.findall("".join(high)))) < _LEAST_WESTERN * len(high):
        return False
    mine = next((match for match in matches if match.encoding == "cp1252" or "cp1252" in match.could_be_from_charset), None)
    return not matches or (mine is not None and mine.percent_chaos <= matches[0].percent_chaos + _MORE_CHAOS)
