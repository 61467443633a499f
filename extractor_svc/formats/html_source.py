"""A page's source in a normal form: only tags, attributes and depths that a parser takes in bounded time."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from extractor_svc.blocks import count_words
from extractor_svc.context import Progress, ignore_progress
from extractor_svc.errors import OutputLimit
from extractor_svc.formats.html_attributes import kept_attributes, shadow_root, shown_in_frame
from extractor_svc.formats.html_elements import BLOCKS, NEVER_SHOWN, VOID
from extractor_svc.formats.html_open import CUT, SHOWN, SKIPPED, OpenElements

DEEPEST: Final = 256
"""Elements within each other; those below are read as text of the one above. A parser's time grows with the depth."""
_MOST_TAGS: Final = 2_000_000
"""Tags of one page; as many short cells or paragraphs take about 1.5 GiB."""
_REPORT_EVERY: Final = 20_000

_SIGN: Final = re.compile(r"<(?:(/?)([A-Za-z][^\t\n\f />]*)(>?)|(!--)|[!?]|/(?=[\s\S]))")
"""A tag's slash, name, and end where it has no attributes; else the start of a comment, or of a declaration."""
_TAIL: Final = re.compile(
    r"""(?>[^>=]++|=[\t\n\f ]*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f >"'][^\t\n\f >]*+|(?=>)))*+>""",
)
_ABRUPT: Final = re.compile(r"-?>")
_COMMENT_END: Final = re.compile(r"--!?>")
_SCRIPT_SIGN: Final = re.compile(r"<!--|-->|<(/?)script(?=[\t\n\f />])", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^>]*>")
_ONCE: Final = frozenset({"body", "head", "html"})
_AS_TEXT: Final = {"title": "title", "textarea": "textarea", "xmp": "pre", "plaintext": "pre"}
_OTHER_NAMES: Final = {"listing": "pre", "select": "select-list"}
_RENAMED: Final = frozenset({"template", "image", "listing", "select"})
_RAW: Final = frozenset({"iframe", "noembed", "noframes", "noscript", "script", "style", "title", "textarea", "xmp", "plaintext"})


@dataclass(slots=True)
class NormalSource:
    """A page's source in its normal form, and what was left out of it by reason.

    `flattened` says how many elements stood too deep; `unclosed` how many words follow a tag that never ends;
    `targets` are where links lead, which their tags name by number.
    """

    text: str = ""
    excluded: list[tuple[str, int]] = field(default_factory=list)
    unread: list[tuple[str, int]] = field(default_factory=list)
    flattened: int = 0
    unclosed: int = 0
    targets: list[str] = field(default_factory=list)


def normal_source(source: str, *, xml: bool, progress: Progress = ignore_progress) -> NormalSource:
    """Rewrites a page so that a browser shows the same of it, without comments, scripts, styles, templates and frames' contents.

    `xml` takes `<x/>` as an empty element and reads CDATA sections, as XHTML means them.

    Raises:
        OutputLimit: there are more tags than one page may have.
    """
    return _Normalizer(source, xml=xml, progress=progress).done()


class _Normalizer:
    """Reads the source from start to end once."""

    def __init__(self, source: str, *, xml: bool, progress: Progress) -> None:
        self._source = source
        self._xml = xml
        self._progress = progress
        self._out: list[str] = []
        self._open = OpenElements()
        self._result = NormalSource()
        self._excluded: Counter[str] = Counter()
        self._languages: set[str] = set()
        self._tags = 0

    def done(self) -> NormalSource:
        """The normal form of the whole source."""
        source, position = self._source, 0
        while match := _SIGN.search(source, position):
            start = match.start()
            if start > position:
                self._text(source[position:start])
            slash, name, closed, comment = match.groups()
            if name:
                position = self._tag(start, slash, name, match.end(), closed=bool(closed))
            else:
                position = self._comment(start) if comment else self._bogus(start)
        self._text(source[position:])
        self._result.text = "".join(self._out)
        self._result.excluded += self._excluded.items()
        return self._result

    def _text(self, text: str) -> None:
        if self._open.skipping:
            self._excluded[self._open.reason] += count_words(text)
        else:
            self._out.append(text.replace("<", "&lt;") if "<" in text else text)

    def _comment(self, start: int) -> int:
        abrupt = _ABRUPT.match(self._source, start + 4)
        end = abrupt or _COMMENT_END.search(self._source, start + 4)
        stop = end.end() if end else len(self._source)
        self._excluded["comment"] += count_words(self._source[start + 4 : stop])
        if not self._open.skipping:
            self._out.append("<!---->")
        return stop

    def _bogus(self, start: int) -> int:
        """A declaration, a processing instruction or a CDATA section; only the latter can hold text."""
        source = self._source
        if source.startswith("<![CDATA[", start) and (self._xml or self._open.foreign):
            end = source.find("]]>", start)
            stop = end if end >= 0 else len(source)
            self._literal(source[start + 9 : stop])
            return stop + 3
        end = source.find(">", start)
        stop = end + 1 if end >= 0 else len(source)
        written = source[start:stop]
        if written[:9].lower() == "<!doctype" and written.endswith(">"):
            self._out.append(written)
        else:
            self._excluded["comment"] += count_words(written)
        return stop

    def _literal(self, text: str) -> None:
        if self._open.skipping:
            self._excluded[self._open.reason] += count_words(text)
        else:
            self._out.append(text.replace("&", "&amp;").replace("<", "&lt;"))

    def _tag(self, start: int, slash: str, name: str, position: int, *, closed: bool) -> int:
        """Writes one tag and, for an element whose content is no markup, that content; returns where to read on."""
        self._tags += 1
        if self._tags % _REPORT_EVERY == 0:
            self._progress("tag", self._tags, 0)
        if self._tags > _MOST_TAGS:
            raise OutputLimit(f"the page has more than {_MOST_TAGS} tags; split it", metadata={"max_tags": str(_MOST_TAGS)})
        name, tail = name.lower(), ""
        if not closed:
            found = _TAIL.match(self._source, position)
            if found is None:
                return self._never_ends(start)
            tail, position = found[0][:-1], found.end()
        if slash:
            self._end(name)
            return position
        return self._start(name, tail, position)

    def _never_ends(self, start: int) -> int:
        words = count_words(self._source[start:])
        self._result.unclosed = words
        self._result.unread.append(("unclosed_tag", words))
        return len(self._source)

    def _start(self, name: str, tail: str, position: int) -> int:
        written, hides, empty = "", False, False
        self._open.leave_drawing(name)
        if tail:
            written, hides = kept_attributes(name, tail, self._languages, self._result.targets)
            empty = tail.endswith("/") and (self._xml or self._open.foreign)
        if name in _RENAMED:
            name = self._renamed(name, tail)
        if name in _RAW and (name in NEVER_SHOWN or not self._open.foreign):
            return self._raw(name, tail, written, position, empty=empty)
        if name == "template":
            if not empty:
                self._open.push(name, SKIPPED, reason="template")
        else:
            self._write_start(name, written, hides=hides, empty=empty)
        return position

    def _renamed(self, name: str, tail: str) -> str:
        """A template that is shown is a division; an image outside a drawing is what `img` is.

        A `select` has a name that the parser gives no meaning: its time with the real one grows with the options' square.
        """
        if name == "template":
            return "div" if tail and shadow_root(tail) else name
        if name == "image":
            return "image" if self._open.foreign else "img"
        return _OTHER_NAMES[name]

    def _write_start(self, name: str, written: str, *, hides: bool, empty: bool) -> None:
        if name in VOID or name in _ONCE:
            if not self._open.skipping:
                self._out.append(f"<{name}{written}>")
            return
        depth = self._open.make_room(name)
        if self._open.skipping:
            state = SKIPPED
        elif depth >= DEEPEST:
            state = SKIPPED if hides else CUT
            self._result.flattened += 1
            if name in BLOCKS:
                self._new_line()
        else:
            state = SHOWN
            self._out.append(f"<{name}{written}>")
        if not empty:
            self._open.push(name, state, reason="hidden")
        elif state == SHOWN:
            self._out.append(f"</{name}>")

    def _end(self, name: str) -> None:
        name = _OTHER_NAMES.get(name, name)
        if name in ("br", "p"):
            self._open.leave_drawing(name)
        state = self._open.close(name)
        if self._open.skipping or state == SKIPPED:
            return
        if state == SHOWN:
            self._out.append(f"</{name}>")
        elif name in BLOCKS:
            self._new_line()

    def _new_line(self) -> None:
        """Parts the text of a block that stands too deep from what is around it."""
        if self._out[-1] != "<br>":
            self._out.append("<br>")

    def _raw(self, name: str, tail: str, written: str, position: int, *, empty: bool) -> int:
        """An element whose content is text up to its end tag; it is shown as such, or left out."""
        end, after = (position, position) if empty else self._raw_end(name, position)
        content = self._source[position:end]
        if self._open.skipping:
            self._excluded[self._open.reason] += count_words(content)
        elif name in NEVER_SHOWN:
            self._excluded[NEVER_SHOWN[name]] += count_words(_TAG.sub(" ", content))
            self._out.append(f"<{name}></{name}>")
            if name == "iframe" and (words := shown_in_frame(tail)):
                self._result.unread.append(("embedded_page", words))
        else:
            shown = _AS_TEXT[name]
            text = content if name in ("title", "textarea") else content.replace("&", "&amp;")
            self._out.append(f"<{shown}{written}>{text.replace('<', '&lt;')}</{shown}>")
        return after

    def _raw_end(self, name: str, position: int) -> tuple[int, int]:
        """Where the content ends and where the source goes on behind the end tag; the end of the source where there is none."""
        if name == "plaintext":
            return len(self._source), len(self._source)
        end = self._script_end(position) if name == "script" else self._next_end(name, position)
        if end < 0:
            return len(self._source), len(self._source)
        tail = _TAIL.match(self._source, end + len(name) + 2)
        return end, tail.end() if tail else len(self._source)

    def _next_end(self, name: str, position: int) -> int:
        found = re.compile(rf"</{name}(?=[\t\n\f />])", re.IGNORECASE).search(self._source, position)
        return found.start() if found else -1

    def _script_end(self, position: int) -> int:
        """The end tag of a script; within `<!--` a script tag opens one more that has to close first."""
        in_comment = in_script = False
        first = -1
        for sign in _SCRIPT_SIGN.finditer(self._source, position):
            if sign[0] == "<!--":
                in_comment = True
            elif sign[0] == "-->":
                in_comment = in_script = False
            elif sign[1] and not in_script:
                return sign.start()
            elif sign[1]:
                in_script = False
                first = sign.start() if first < 0 else first
            elif in_comment:
                in_script = True
        return first
