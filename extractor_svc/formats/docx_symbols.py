"""Characters that a document takes from the Symbol and Wingdings fonts, as what they show."""

from __future__ import annotations

import re
from typing import Final

_PRIVATE: Final = re.compile("[\uf020-\uf0ff]")
_PRIVATE_RANGE: Final = range(0xF000, 0xF100)
_PRIVATE_SIZE: Final = 0x100
_SURROGATES: Final = range(0xD800, 0xE000)
_SYMBOL: Final = {
    **dict(zip(range(0x20, 0x40), " !∀#∃%&∋()∗+,−./0123456789:;<=>?", strict=True)),
    **dict(zip(range(0x40, 0x60), "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_", strict=True)),
    **dict(zip(range(0x60, 0x7F), "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼", strict=True)),
    **dict(zip(range(0xA0, 0xC0), "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵", strict=True)),
    **dict(zip(range(0xC0, 0xE0), "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓", strict=True)),
    **dict(zip(range(0xE0, 0xF0), "◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪", strict=True)),
    **dict(zip(range(0xF1, 0xFF), "〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭", strict=True)),
}
_WINGDINGS: Final = {
    **dict(zip(range(0x6C, 0x79), "●❍■□▢❑❒⬧⧫◆❖⬥⌧", strict=True)),
    0x28: "☎",
    0x2A: "✉",
    0x36: "⌛",
    0x45: "☜",
    0x46: "☞",
    0x4A: "☺",
    0x4B: "😐",
    0x4C: "☹",
    0x9E: "·",
    0x9F: "•",
    0xA1: "○",
    0xA7: "▪",
    0xA8: "◻",
    0xD8: "➢",
    0xDF: "←",
    0xE0: "→",
    0xE1: "↑",
    0xE2: "↓",
    0xE8: "➔",
    0xF0: "⇨",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
}
_FONTS: Final = {"symbol": _SYMBOL, "wingdings": _WINGDINGS}
_UNKNOWN: Final = "\ufffd"


def symbol(font: str, code: str) -> str:
    """The character that a symbol shows, by the hexadecimal code the file gives; U+FFFD where it is not known."""
    try:
        number = int(code, 16)
    except ValueError:
        return _UNKNOWN
    known = _FONTS.get(font.strip().lower())
    if number in _PRIVATE_RANGE or (known and number < _PRIVATE_SIZE):
        return (known or {}).get(number % _PRIVATE_SIZE, _UNKNOWN)
    return chr(number) if 0x20 <= number < 0x11_0000 and number not in _SURROGATES else _UNKNOWN


def by_font(text: str, font: str) -> str:
    """Text with the characters that mean something in their font only replaced by what they show there."""
    known = _FONTS.get(font.strip().lower(), {})
    return _PRIVATE.sub(lambda match: known.get(ord(match[0]) % _PRIVATE_SIZE, _UNKNOWN), text)


def needs_font(text: str) -> bool:
    """Whether the text has characters that mean something in their font only."""
    return _PRIVATE.search(text) is not None
