"""HTML inside Markdown: what of it is shown, line by line, and what is not."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from extractor_svc.blocks import count_words

_LONGEST_DECLARATION: Final = 2_000
_NOT_SHOWN: Final = re.compile(
    r"<!--(?P<comment>.*?)(?:-->|\Z)"
    rf"|<(?P<name>script|style|template)\b[^>]{{0,{_LONGEST_DECLARATION}}}+>(?P<code>.*?)(?:</(?P=name)\s*>|\Z)"
    rf"|<[!?][^>]{{0,{_LONGEST_DECLARATION}}}+>",
    re.DOTALL | re.IGNORECASE,
)
_TAG: Final = re.compile(r"</?(?P<name>[A-Za-z][\w:-]*+)(?P<attributes>(?:\s[^<>\"']*+|\"[^\"]*+\"|'[^']*+'|/|=)*+)>")
_ALTERNATIVE: Final = re.compile(r"""\balt\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s"'>]+))""", re.I)
_INLINE: Final = frozenset(
    [
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd"),
        *(
            "mark",
            "q",
            "rp",
            "rt",
            "ruby",
            "s",
            "samp",
            "small",
            "span",
            "strike",
            "strong",
            "sub",
            "sup",
            "time",
            "tt",
            "u",
            "var",
        ),
        "wbr",
    ]
)
"""Elements that part no words."""
_OPENING: Final = re.compile(r"\\.|`+|<!--", re.DOTALL)
_PREFORMATTED: Final = re.compile(r"\s*<(?:pre|textarea)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shown:
    """The lines as they are shown, as many as were given, and how many words are not shown, by reason."""

    lines: tuple[str, ...]
    excluded: Counter[str]


def shown_html(lines: Sequence[str]) -> Shown:
    """What a browser shows of a block of HTML: text without tags, and pictures by their alternative text."""
    excluded: Counter[str] = Counter()

    def leave_out(found: re.Match[str]) -> str:
        reason, text = ("comment", found["comment"]) if found["comment"] is not None else ("script", found["code"] or "")
        excluded[reason] += count_words(text)
        return _line_feeds(found) or " "

    text = _TAG.sub(_without_tag, _NOT_SHOWN.sub(leave_out, "\n".join(lines)))
    shown = [html.unescape(line) for line in text.split("\n")]
    if not _PREFORMATTED.match(lines[0]):
        shown = [" ".join(line.split()) for line in shown]
    return Shown(tuple(shown), excluded)


def without_comments(text: str) -> Shown:
    """Inline Markdown without the comments in it; what stands between backticks is none."""
    excluded: Counter[str] = Counter()
    kept: list[str] = []
    at = 0
    for start, end in _comments(text) if "<!--" in text else ():
        excluded["comment"] += count_words(text[start:end])
        kept += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end
    return Shown(tuple("".join([*kept, text[at:]]).split("\n")), excluded)


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Where comments stand outside code; signs that nothing closes open none."""
    at = 0
    unclosed: set[str] = set()
    while found := _OPENING.search(text, at):
        at, sign = found.end(), found[0]
        if sign == "<!--":
            end = text.find("-->", at)
            if end < 0:
                return
            at = end + len("-->")
            yield found.start(), at
        elif sign[0] == "`" and sign not in unclosed:
            closing = re.compile(rf"(?<!`){sign}(?!`)").search(text, at)
            if closing:
                at = closing.end()
            else:
                unclosed.add(sign)


def _without_tag(found: re.Match[str]) -> str:
    name = found["name"].lower()
    if name == "img" and (alternative := _ALTERNATIVE.search(found["attributes"])):
        return f" {alternative['double'] or alternative['single'] or alternative['bare'] or ''} {_line_feeds(found)}"
    return _line_feeds(found) or ("" if name in _INLINE else " ")


def _line_feeds(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")
