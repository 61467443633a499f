"""Numbers of list items as Word writes them: in Roman or Arabic digits, in letters, in circles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_ROMAN: Final = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)
_LARGEST_ROMAN: Final = 3999
_MOST_REPEATS: Final = 30
_LATIN: Final = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN: Final = "абвгдежзиклмнопрстуфхцчшщэюя"
_CHICAGO: Final = "*†‡§"
_IDEOGRAPHS: Final = "〇一二三四五六七八九"
_TEN: Final = "十"
_FULL_WIDTH: Final = str.maketrans("0123456789", "０１２３４５６７８９")
_ENCLOSED: Final = {"decimalEnclosedCircle": "①", "decimalEnclosedParen": "⑴", "decimalEnclosedFullstop": "⒈"}
_LAST_ENCLOSED: Final = 20


def written(number: int, form: str) -> str:
    """A number in a number format of WordprocessingML (ECMA-376, 17.18.59).

    Formats that spell numbers in the words of a language, and those not known here, are written in digits; so is a number
    that a format has no sign for.
    """
    write = _FORMS.get(form)
    text = write(number) if write is not None and number > 0 else ""
    return text or str(number)


def padded(number: int, pattern: str) -> str:
    """A number in a custom format, which shows its first numbers, such as `001, 002, 003`."""
    first = pattern.partition(",")[0].strip()
    return f"{number:0{len(first)}d}" if first.isascii() and first.isdigit() and len(first) <= _MOST_REPEATS else str(number)


def _roman(number: int) -> str:
    if number > _LARGEST_ROMAN:
        return ""
    text = ""
    for value, sign in _ROMAN:
        count, number = divmod(number, value)
        text += sign * count
    return text


def _lettered(letters: str) -> Callable[[int], str]:
    """Letters in a row, each repeated once they have all been used: z is followed by aa, then by bb."""

    def write(number: int) -> str:
        repeats, place = divmod(number - 1, len(letters))
        return letters[place] * (repeats + 1) if repeats < _MOST_REPEATS else ""

    return write


def _counted(number: int) -> str:
    """Chinese and Japanese counting below a hundred."""
    if number >= 100:
        return ""
    tens, ones = divmod(number, 10)
    return (_IDEOGRAPHS[tens] if tens > 1 else "") + (_TEN if tens else "") + (_IDEOGRAPHS[ones] if ones else "")


def _enclosed(first: str) -> Callable[[int], str]:
    return lambda number: chr(ord(first) + number - 1) if number <= _LAST_ENCLOSED else ""


_FORMS: Final[dict[str, Callable[[int], str]]] = {
    "decimalZero": lambda number: f"{number:02d}",
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "lowerLetter": _lettered(_LATIN),
    "upperLetter": _lettered(_LATIN.upper()),
    "russianLower": _lettered(_RUSSIAN),
    "russianUpper": _lettered(_RUSSIAN.upper()),
    "chicago": _lettered(_CHICAGO),
    "hex": lambda number: f"{number:X}",
    "numberInDash": lambda number: f"- {number} -",
    "decimalFullWidth": lambda number: str(number).translate(_FULL_WIDTH),
    "ideographDigital": lambda number: "".join(_IDEOGRAPHS[int(digit)] for digit in str(number)),
    "japaneseDigitalTenThousand": lambda number: "".join(_IDEOGRAPHS[int(digit)] for digit in str(number)),
    **dict.fromkeys(("chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCounting"), _counted),
    **{form: _enclosed(first) for form, first in _ENCLOSED.items()},
}
