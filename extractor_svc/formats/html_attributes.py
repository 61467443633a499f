"""The attributes of a tag that say what of a page is shown, and how; all others are left out before a page is parsed."""

from __future__ import annotations

import html
import re
from typing import Final

from extractor_svc.blocks import count_words
from extractor_svc.formats.html_elements import FORMATTING

_ATTRIBUTE: Final = re.compile(
    r"""[\t\n\f /]*+(=?[^\t\n\f />=]++|=)"""
    r"""(?:[\t\n\f ]*+=[\t\n\f ]*+(?:"([^"]*+)"|'([^']*+)'|([^\t\n\f >"'][^\t\n\f >]*+)|))?"""
)
LINK: Final = "data-link"
"""The attribute that holds the number of a link's target."""
_KEPT: Final = frozenset(
    [
        "alt",
        "aria-level",
        "charset",
        "checked",
        "colspan",
        "content",
        "datetime",
        "display",
        "encoding",
        "height",
        "hidden",
        "http-equiv",
        "itemprop",
        "label",
        "lang",
        "name",
        "open",
        "placeholder",
        "popover",
        "property",
        "reversed",
        "role",
        "rowspan",
        "selected",
        "size",
        "start",
        "type",
        "value",
        "multiple",
        "width",
    ]
)
_MOST: Final = 100_000
"""Characters of a value that is kept; a longer one is cut."""
_MOST_LANGUAGES: Final = 20
_STYLE: Final = re.compile(r"(?:^|;)\s*(display|visibility|white-space|list-style(?:-type)?)\s*:\s*([^;]*)", re.IGNORECASE)
_CSS_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_CSS_WORD: Final = re.compile(r"[a-z-]+")
_LANGUAGE: Final = re.compile(
    r"(?:^|[\s:])(?:lang(?:uage)?-|highlight-source-|highlight-text-|brush:\s*|sourceCode\s+)([A-Za-z0-9+#_.-]{1,30})"
)


def kept_attributes(name: str, tail: str, languages: set[str], targets: list[str]) -> tuple[str, bool]:
    """The attributes of a start tag in their normal form, and whether they hide the element.

    Formatting elements keep only what hides them and, up to a few in one page, the `languages` of code: a parser opens them
    again after every block, each set of attributes apart. So a link keeps the number of its target, which goes to `targets`.
    """
    found = _attributes(tail)
    style = _style(found["style"]) if "style" in found else {}
    hidden = _is_hidden(found, style)
    language = _language(found)
    if name in FORMATTING:
        if len(languages) < _MOST_LANGUAGES:
            languages.add(language)
        said = f' data-lang="{_quoted(language)}"' if name == "code" and language and language in languages else ""
        if name == "a" and (target := found.get("href")):
            said = f' {LINK}="{len(targets)}"'
            targets.append(target)
        return said + (" hidden" if hidden else ""), hidden
    kept = {key: value for key, value in found.items() if key in _KEPT}
    if style:
        kept["style"] = ";".join(f"{key}:{value}" for key, value in sorted(style.items()))
    if language:
        kept["data-lang"] = language
    return "".join(f' {key}="{_quoted(value)}"' for key, value in kept.items()), hidden


def shadow_root(tail: str) -> bool:
    """Whether a template's tag says that its content is shown, as the inside of the element around it."""
    return "shadowrootmode" in _attributes(tail)


def shown_in_frame(tail: str) -> int:
    """How many words the page has that a frame's tag holds itself."""
    written = html.unescape(_attributes(tail).get("srcdoc", ""))
    return count_words(re.sub(r"<[^>]*>", " ", written))


def style_of(written: str) -> dict[str, str]:
    """A normal style as its properties."""
    return dict(part.split(":", 1) for part in written.split(";") if ":" in part)


def _attributes(tail: str) -> dict[str, str]:
    """The first value of each attribute, as written; names in lower case."""
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(tail):
        found.setdefault(name.lower(), double or single or bare)
    return found


def _style(written: str) -> dict[str, str]:
    """The properties that matter here, each with its words; the last one wins, but not over an important one."""
    plain = _CSS_COMMENT.sub("", html.unescape(written))
    found: dict[str, str] = {}
    important: set[str] = set()
    for match in _STYLE.finditer(plain):
        key, value = match[1].lower().removesuffix("-type"), match[2].lower()
        if key not in important or "!important" in value:
            found[key] = " ".join(_CSS_WORD.findall(value.replace("!important", "")))
            important |= {key} if "!important" in value else set()
    return found


def _is_hidden(found: dict[str, str], style: dict[str, str]) -> bool:
    """Whether nothing of the element is shown; what a search in the page would open is."""
    if "hidden" in found and found["hidden"].strip().lower() != "until-found":
        return style.get("display", "none") == "none"
    return style.get("display") == "none"


def _language(found: dict[str, str]) -> str:
    named = found.get("data-lang") or found.get("data-language")
    match = None if named or "class" not in found else _LANGUAGE.search(found["class"])
    return named or (match[1] if match else "")


def _quoted(value: str) -> str:
    return value[:_MOST].replace('"', "&quot;")
