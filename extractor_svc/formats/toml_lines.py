"""The statements of a sound TOML document with the characters they take up."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from artifact.model import BlockType

KeyPath: TypeAlias = tuple[str, ...]

_KEY_PART: Final = re.compile(r'"(?:[^"\\\n]|\\.)*+"|\'[^\'\n]*\'|[A-Za-z0-9_-]+')
_DOT: Final = re.compile(r"[ \t]*\.[ \t]*")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_BLANK: Final = re.compile(r"\s*")
_INDENT: Final = re.compile(r"[ \t]*")
_COMMENTS: Final = re.compile(r"#[^\n]*(?:\n[ \t]*#[^\n]*)*")
_TOKEN: Final = re.compile(
    r'"""[^"\\]*+(?:(?:\\.|"{1,2}(?!"))[^"\\]*+)*+"{3,5}'
    r"|'''[^']*+(?:'{1,2}(?!')[^']*+)*+'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'[^'\n]*'"
    r"|#[^\n]*"
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<line_end>\n)",
    re.DOTALL,
)
_ESCAPED: Final = re.compile(r'["\\\x00-\x1f\x7f]')


@dataclass(frozen=True, slots=True)
class Statement:
    """Comment lines, a table's header, or a key with its value.

    `path` is the full path of the table or key, a comment's that of the table it stands in. `section` names that table
    too, the elements of arrays numbered from 0 (`fruit[1].variety[0]`); it is empty above the first header.
    """

    kind: BlockType
    path: KeyPath
    section: str
    start: int
    end: int


def statements(text: str) -> list[Statement]:
    """Walks a document that is known to be valid; comments right above a header belong to the table it opens."""
    found = list(_statements(text))
    return [_placed(found, i, text) for i in range(len(found))]


def dotted(path: KeyPath) -> str:
    """A key path as TOML writes it, segments quoted where they are no bare keys."""
    return ".".join(part if _BARE.fullmatch(part) else _quoted(part) for part in path)


def key_paths(statement: Statement, text: str) -> tuple[KeyPath, ...]:
    """The full path of a key, whose text this is, and those of the keys in inline tables that are its value, each once."""
    if "{" not in text:
        return (statement.path,)
    value: object = tomllib.loads(text)
    for part in _key(text, 0)[0]:
        value = value[part] if isinstance(value, dict) else None
    return tuple(dict.fromkeys([statement.path, *_inside(value, statement.path)]))


def _inside(value: object, path: KeyPath) -> Iterator[KeyPath]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from _inside(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from _inside(inner, path)


def _statements(text: str) -> Iterator[Statement]:
    table: KeyPath = ()
    section = ""
    arrays: dict[str, int] = {}
    at = _skip(_BLANK, text, 0)
    while at < len(text):
        if text[at] == "#":
            end = _skip(_COMMENTS, text, at)
            yield Statement(BlockType.COMMENT, table, section, at, end)
        elif text[at] == "[":
            opens_element = text.startswith("[[", at)
            table, end = _key(text, at + 1 + opens_element)
            section = _section(table, arrays, opens_element=opens_element)
            end = _end_of_line(text, end + 1 + opens_element)
            yield Statement(BlockType.TOML_TABLE, table, section, at, end)
        else:
            path, end = _key(text, at)
            end = _end_of_line(text, end)
            yield Statement(BlockType.TOML_KEY, table + path, section, at, end)
        at = _skip(_BLANK, text, end)


def _placed(found: Sequence[Statement], i: int, text: str) -> Statement:
    here = found[i]
    following = found[i + 1] if i + 1 < len(found) else here
    if here.kind is not BlockType.COMMENT or following.kind is not BlockType.TOML_TABLE:
        return here
    touches = text.count("\n", here.end, following.start) == 1
    return replace(here, path=following.path, section=following.section) if touches else here


def _section(path: KeyPath, arrays: dict[str, int], *, opens_element: bool) -> str:
    """The table's name with the numbers of the array elements it stands in; `arrays` counts the elements so far."""
    name = ""
    for depth, part in enumerate(path, 1):
        name = f"{name}.{dotted((part,))}" if name else dotted((part,))
        if depth == len(path) and opens_element:
            arrays[name] = arrays.get(name, -1) + 1
        if name in arrays:
            name = f"{name}[{arrays[name]}]"
    return name


def _key(text: str, at: int) -> tuple[KeyPath, int]:
    """The dotted key that starts here, and the offset of what follows it: `=`, or the bracket that closes a header."""
    parts: list[str] = []
    while True:
        start = _skip(_INDENT, text, at)
        at = _skip(_KEY_PART, text, start)
        parts.append(_unquoted(text[start:at]))
        after = _skip(_DOT, text, at)
        if after == at:
            return tuple(parts), _skip(_INDENT, text, at)
        at = after


def _end_of_line(text: str, at: int) -> int:
    """Where the line ends on which the value that starts here ends, or which has nothing more than a comment."""
    depth = 0
    for token in _TOKEN.finditer(text, at):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth -= 1
        elif token["line_end"] and depth == 0:
            return token.start()
    return len(text)


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    """The offset behind what the pattern matches here; the same offset where it does not."""
    match = pattern.match(text, at)
    return match.end() if match else at


def _unquoted(part: str) -> str:
    if part.startswith("'"):
        return part[1:-1]
    if part.startswith('"'):
        return str(tomllib.loads(f"key = {part}")["key"])
    return part


def _quoted(part: str) -> str:
    return '"' + _ESCAPED.sub(_escape, part) + '"'


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    return f"\\{char}" if char in '"\\' else f"\\u{ord(char):04x}"
