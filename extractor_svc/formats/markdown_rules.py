"""The parser of Markdown's blocks: CommonMark with pipe tables, footnotes, and underlines of three signs."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table

_SETEXT_SIGNS: Final = 3
_LOOK_AHEAD: Final = True
_FOOTNOTE: Final = re.compile(r"\[\^(?P<label>[^\]\[\s]+)\]:(?P<space>[ \t]*)")
_FOOTNOTE_INDENT: Final = 4


@cache
def block_parser() -> MarkdownIt:
    """A parser of blocks alone: inline Markdown stays as it is written.

    The environment of a parse needs a dictionary under `rows`; it is given each line of a table without what encloses it.
    """
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.block.ruler.at("lheading", _setext_heading)
    parser.block.ruler.at("table", _table_with_rows, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before("reference", "footnote", _footnote, {"alt": ["paragraph", "reference"]})
    return parser


def _table_with_rows(state: StateBlock, first: int, end: int, silent: int) -> bool:
    """The parser's rule for tables, which also keeps each line of a table without what encloses it."""
    found = table(state, first, end, bool(silent))
    if found and not silent:
        for line in range(first, state.line):
            state.env["rows"][line] = state.getLines(line, line + 1, state.blkIndent, keepLastLF=False)
    return found


def _footnote(state: StateBlock, first: int, end: int, silent: int) -> bool:
    """A rule for the text of a footnote, which goes on over indented lines as that of a list item does."""
    if state.is_code_block(first):
        return False
    start = state.bMarks[first] + state.tShift[first]
    sign = _FOOTNOTE.match(state.src, start, state.eMarks[first])
    if sign is None:
        return False
    if silent:
        return True
    opening = state.push("footnote_open", "section", 1)
    opening.info = sign["label"]
    opening.map = lines = [first, first + 1]
    _tokenize_inside(state, first, end, text=sign.end(), width=len(sign["space"].expandtabs(_FOOTNOTE_INDENT)))
    lines[1] = state.line
    state.push("footnote_close", "section", -1)
    return True


def _tokenize_inside(state: StateBlock, first: int, end: int, *, text: int, width: int) -> None:
    """Parses what a footnote holds as a block of its own, whose first line starts at `text`, `width` columns behind the sign."""
    before = state.bMarks[first], state.tShift[first], state.sCount[first], state.parentType
    state.bMarks[first], state.tShift[first] = text, 0
    state.blkIndent += _FOOTNOTE_INDENT
    state.sCount[first] = state.blkIndent + (width if width > _FOOTNOTE_INDENT else 0)
    state.parentType = "footnote"
    state.md.block.tokenize(state, first, end)
    state.blkIndent -= _FOOTNOTE_INDENT
    state.bMarks[first], state.tShift[first], state.sCount[first], state.parentType = before


def _setext_heading(state: StateBlock, first: int, end: int, silent: int) -> bool:
    """A rule for underlined headings that asks for three signs (L-CHUNK-05); a shorter line is text of the paragraph."""
    if silent or state.is_code_block(first):
        return False
    underline = _underline(state, first, end)
    if underline is None:
        return False
    sign = state.src[state.bMarks[underline] + state.tShift[underline]]
    tag = "h1" if sign == "=" else "h2"
    opening = state.push("heading_open", tag, 1)
    opening.map = [first, underline + 1]
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(first, underline, state.blkIndent, keepLastLF=False).strip()
    inline.map = [first, underline]
    state.push("heading_close", tag, -1)
    state.line = underline + 1
    return True


def _underline(state: StateBlock, first: int, end: int) -> int | None:
    """The line that underlines the paragraph from `first`; None where the paragraph ends without one."""
    ends_paragraph = state.md.block.ruler.getRules("paragraph")
    parent, state.parentType = state.parentType, "paragraph"
    try:
        for line in range(first + 1, end):
            if state.isEmpty(line):
                return None
            deep = state.sCount[line] - state.blkIndent > 3
            if not deep and state.sCount[line] >= state.blkIndent and _is_underline(state, line):
                return line
            if not deep and state.sCount[line] >= 0 and any(rule(state, line, end, _LOOK_AHEAD) for rule in ends_paragraph):
                return None
        return None
    finally:
        state.parentType = parent


def _is_underline(state: StateBlock, line: int) -> bool:
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip(" \t")
    return len(text) >= _SETEXT_SIGNS and (not text.strip("=") or not text.strip("-"))
