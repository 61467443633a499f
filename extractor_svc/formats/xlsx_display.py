"""How a workbook's values look under their number formats."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Final

from extractor_svc.formats.xlsx_number_formats import NumberFormat, Section, Token

_WIDE: Final = Context(prec=2_000)
_SIGNIFICANT: Final = 15
_PLAIN_DIGITS: Final = 20
MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def show_number(look: NumberFormat, number: Decimal) -> str:
    """The number as the format shows it, rounded half away from zero; General shows 15 significant digits."""
    if not look.code:
        return _general(number)
    section, magnitude = _section_for(look, number)
    if section is None or section.has("general", "text"):
        return _around(section, _general(magnitude if section else number))
    if not section.has("digit"):
        return _literals(section.tokens)
    shown = _digits(section, abs(magnitude))
    return "-" + shown if magnitude < 0 and re.search(r"[1-9]", shown) else shown


def show_moment(look: NumberFormat, moment: dt.datetime) -> str:
    """The date, or the time of day, or both, as the format shows them."""
    section = look.sections[0]
    midnight = dt.datetime.combine(moment.date(), dt.time())
    time = _to_shown_second(section, moment - midnight)
    shown = midnight + time if time < dt.timedelta(days=1) or moment.date() < dt.date.max else moment
    return "".join(_moment_part(token, shown, halved=section.has("noon")) for token in section.tokens).strip()


def show_duration(look: NumberFormat, span: dt.timedelta) -> str:
    """The time span as the format shows it, its largest part counting past a day."""
    sign, span = ("-", -span) if span < dt.timedelta() else ("", span)
    section = look.sections[0]
    total_ms = _to_shown_second(section, span) // dt.timedelta(milliseconds=1)
    return sign + "".join(_elapsed_part(token, total_ms) for token in section.tokens).strip()


def _to_shown_second(section: Section, span: dt.timedelta) -> dt.timedelta:
    """Rounds to the last place of a second that a format shows; one that shows no seconds cuts them off."""
    places = section.second_places
    if places is None or places >= 3:
        return span
    step = dt.timedelta(milliseconds=10 ** (3 - places))
    return (span + step / 2) // step * step


def _section_for(look: NumberFormat, number: Decimal) -> tuple[Section | None, Decimal]:
    """The section that shows a number, and the number without the sign that the section itself expresses."""
    sections = look.sections[:3]
    if any(section.condition for section in sections):
        chosen = next((section for section in sections if _meets(section.condition, number)), None)
        return chosen, number
    if len(sections) > 1 and number < 0:
        return sections[1], -number
    if len(sections) > 2 and number == 0:
        return sections[2], number
    return (sections[0], number) if sections else (None, number)


def _meets(condition: tuple[str, Decimal] | None, number: Decimal) -> bool:
    if condition is None:
        return True
    sign, bound = condition
    return {
        "<": number < bound,
        ">": number > bound,
        "=": number == bound,
        "<=": number <= bound,
        ">=": number >= bound,
        "<>": number != bound,
    }[sign]


def _literals(tokens: Sequence[Token]) -> str:
    return "".join(token.text for token in tokens if token.kind in ("literal", "percent")).strip()


def _around(section: Section | None, shown: str) -> str:
    """The literals of a section with a value in place of its General or @."""
    if section is None:
        return shown
    parts = (shown if t.kind in ("general", "text") else t.text if t.kind in ("literal", "percent") else "" for t in section.tokens)
    return "".join(parts).strip()


def _general(number: Decimal) -> str:
    """A number without a format: whole ones as they are up to 20 digits, others to 15 significant digits."""
    if number == number.to_integral_value() and number.adjusted() < _PLAIN_DIGITS:
        return str(int(number))
    rounded = number.normalize() if len(number.as_tuple().digits) <= _SIGNIFICANT else _significant(number)
    if -6 < rounded.adjusted() < _PLAIN_DIGITS:
        return f"{rounded:f}"
    mantissa = rounded.scaleb(-rounded.adjusted())
    return f"{mantissa:f}E{rounded.adjusted():+03d}"


def _significant(number: Decimal) -> Decimal:
    step = Decimal((0, (1,), number.adjusted() - _SIGNIFICANT + 1))
    return number.quantize(step, ROUND_HALF_UP, _WIDE).normalize()


def _digits(section: Section, number: Decimal) -> str:
    """A number of no sign through the digit places of a section."""
    number = number.scaleb(2 * sum(token.kind == "percent" for token in section.tokens))
    if section.has("exponent"):
        return _scientific(section, number)
    if section.has("slash") and (shown := _as_fraction(section, number)):
        return shown
    places = [i for i, token in enumerate(section.tokens) if token.kind == "digit"]
    point = next((i for i, token in enumerate(section.tokens) if token.kind == "point"), len(section.tokens))
    commas = [i for i, token in enumerate(section.tokens) if token.kind == "comma"]
    whole = [i for i in places if i < point]
    scaled = sum(1 for i in commas if not any(place > i for place in whole) and (not whole or i > whole[-1]) and i < point)
    scaled += sum(1 for i in commas if i > point and i > places[-1])
    grouped = bool(whole) and any(whole[0] < i < whole[-1] for i in commas)
    decimals = [i for i in places if i > point]
    number = number.scaleb(-3 * scaled)
    rounded = number.quantize(Decimal((0, (1,), -len(decimals))), ROUND_HALF_UP, _WIDE)
    whole_text, _, fraction_text = f"{rounded:f}".partition(".")
    filled = _fill_whole(section, whole, whole_text, grouped=grouped) | _fill_decimals(section, decimals, fraction_text)
    return _joined(section, filled, point)


def _fill_whole(section: Section, places: Sequence[int], digits: str, *, grouped: bool) -> dict[int, str]:
    """Digits of the whole part by the place they stand at; the first place takes all that are left."""
    digits = "" if digits == "0" else digits
    filled: dict[int, str] = {}
    written = 0
    for i in reversed(places):
        takes = digits if i == places[0] else digits[-1:]
        digits = digits[: len(digits) - len(takes)]
        shown = takes or {"0": "0", "?": " "}.get(section.tokens[i].text, "")
        filled[i] = ""
        for digit in reversed(shown):
            separator = "," if grouped and written and written % 3 == 0 and digit != " " else ""
            filled[i] = digit + separator + filled[i]
            written += 1
    return filled


def _fill_decimals(section: Section, places: Sequence[int], digits: str) -> dict[int, str]:
    kept = len(digits.rstrip("0"))
    filled = {}
    for position, i in enumerate(places):
        optional = {"#": "", "?": " "}.get(section.tokens[i].text)
        filled[i] = optional if optional is not None and position >= kept else digits[position]
    return filled


def _joined(section: Section, filled: dict[int, str], point: int) -> str:
    out = []
    for i, token in enumerate(section.tokens):
        if token.kind == "digit":
            out.append(filled.get(i, ""))
        elif token.kind in ("literal", "percent", "slash") or i == point:
            out.append(token.text)
    return "".join(out).strip()


def _scientific(section: Section, number: Decimal) -> str:
    mark = next(i for i, token in enumerate(section.tokens) if token.kind == "exponent")
    point = next((i for i, token in enumerate(section.tokens[:mark]) if token.kind == "point"), mark)
    whole = sum(token.kind == "digit" for token in section.tokens[:point])
    decimals = sum(token.kind == "digit" for token in section.tokens[point:mark])
    width = sum(token.kind == "digit" for token in section.tokens[mark:])
    power = 0 if number == 0 else (number.adjusted() // max(whole, 1)) * max(whole, 1)
    mantissa = number.scaleb(-power).quantize(Decimal((0, (1,), -decimals)), ROUND_HALF_UP, _WIDE)
    if mantissa >= Decimal(10) ** max(whole, 1):
        power += max(whole, 1)
        mantissa = number.scaleb(-power).quantize(Decimal((0, (1,), -decimals)), ROUND_HALF_UP, _WIDE)
    sign = "-" if power < 0 else "+" if section.tokens[mark].text.endswith("+") else ""
    tail = "".join(token.text for token in section.tokens[mark + 1 :] if token.kind == "literal")
    return f"{mantissa:f}E{sign}{abs(power):0{width}d}{tail}".strip()


def _as_fraction(section: Section, number: Decimal) -> str:
    pattern = "".join(token.text if token.kind in ("digit", "slash") or token.text.isdigit() else " " for token in section.tokens)
    match = re.fullmatch(r"\s*(?:([#0?]+)\s+)?([#0?]+)\s*/\s*([#0?]+|[0-9]+)\s*", pattern)
    if match is None or number.adjusted() > _PLAIN_DIGITS:
        return ""
    whole = int(number) if match[1] else 0
    rest = Fraction(number) - whole
    if re.fullmatch(r"[0-9]*[1-9][0-9]*", match[3]):
        below = int(match[3])
        above = round(rest * below)
    else:
        near = rest.limit_denominator(10 ** len(match[3]) - 1)
        above, below = near.numerator, near.denominator
    if match[1] and (above == 0 or above == below):
        return str(whole + (above == below))
    return f"{whole} {above}/{below}" if whole else f"{above}/{below}"


def _moment_part(token: Token, moment: dt.datetime, *, halved: bool) -> str:
    size = len(token.text)
    match token.kind:
        case "y":
            return f"{moment.year % 100:02d}" if size <= 2 else f"{moment.year:04d}"
        case "m":
            return _name_or_number(moment.month, size, MONTHS[moment.month - 1])
        case "d":
            return _name_or_number(moment.day, size, DAYS[moment.weekday()])
        case "h":
            return f"{(moment.hour % 12 or 12) if halved else moment.hour:0{min(size, 2)}d}"
        case "n":
            return f"{moment.minute:0{min(size, 2)}d}"
        case "s":
            return f"{moment.second:0{min(size, 2)}d}"
        case "fraction":
            return f"{moment.microsecond:06d}"[:size]
        case "noon":
            half = "AM" if moment.hour < 12 else "PM"
            return half[0] if size == 3 else half
    return token.text if token.kind in ("literal", "point", "comma", "slash", "percent") else ""


def _name_or_number(number: int, size: int, name: str) -> str:
    if size <= 2:
        return f"{number:0{size}d}"
    return {3: name[:3], 5: name[:1]}.get(size, name)


def _elapsed_part(token: Token, total_ms: int) -> str:
    seconds = total_ms // 1000
    size = len(token.text)
    match token.kind:
        case "elapsed":
            per = {"h": 3600, "m": 60, "s": 1}[token.text[0].lower()]
            return f"{seconds // per:0{size}d}"
        case "h":
            return f"{seconds // 3600 % 24:0{min(size, 2)}d}"
        case "n" | "m":
            return f"{seconds // 60 % 60:0{min(size, 2)}d}"
        case "s":
            return f"{seconds % 60:0{min(size, 2)}d}"
        case "fraction":
            return f"{total_ms % 1000:03d}"[:size]
    return token.text if token.kind in ("literal", "point") else ""
