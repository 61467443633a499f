"""The front matter of a Markdown file: where it ends, and its properties as they are written."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import yaml

_CLOSERS: Final = {"---": ("---", "..."), "+++": ("+++",)}
_LONGEST: Final = 65_536
"""Characters of a front matter that is parsed; a longer one is only kept as text."""
_MOST_PROPERTIES: Final = 1_000
_DEEPEST: Final = 20
_PROPERTY: Final = re.compile(r"""["']?(?P<key>[A-Za-z_][\w .-]*?)["']?(?:\s*=\s*|\s*:(?:\s+|$))(?P<value>.*)""")
_NO_PROSE: Final = re.compile(r"""[\s\-#}\]'"]|$""")
_QUOTES: Final = "\"'"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """How many lines a front matter takes up, its properties by dotted name, and whether all of it was understood."""

    lines: int
    properties: dict[str, str]
    understood: bool


def front_matter(lines: Sequence[str]) -> FrontMatter | None:
    """The properties above a document, as YAML between `---` or as TOML between `+++`; None where there are none.

    A thematic break above text is no front matter: between the signs there has to be a mapping, or a first line that is one
    property where the rest is not valid. Values are text as it is written, those of a list joined by commas; no tag is
    obeyed and no alias followed, so that a front matter cannot grow.
    """
    closers = _CLOSERS.get(lines[0].rstrip())
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() in closers), 0) if closers else 0
    if end < 2:
        return None
    inside = "\n".join(lines[1:end])
    pairs = None if len(inside) > _LONGEST else _parsed(inside, is_yaml=lines[0].startswith("-"))
    if pairs is not None:
        return FrontMatter(end + 1, _gathered(pairs[:_MOST_PROPERTIES]), len(pairs) <= _MOST_PROPERTIES) if pairs else None
    if not _PROPERTY.match(lines[1]) or not all(_PROPERTY.match(line) or _NO_PROSE.match(line) for line in lines[1:end]):
        return None
    written = [pair for line in lines[1:end][:_MOST_PROPERTIES] if (pair := _property(line))]
    return FrontMatter(end + 1, _gathered(written), understood=False)


def _parsed(inside: str, *, is_yaml: bool) -> list[tuple[str, str]] | None:
    """The names with their values; None where the text is not valid, none where it is no mapping."""
    try:
        return [*(_yaml_pairs(inside) if is_yaml else _toml_pairs(tomllib.loads(inside), ""))]
    except (yaml.YAMLError, tomllib.TOMLDecodeError, RecursionError, ValueError):
        return None


def _yaml_pairs(text: str) -> Iterator[tuple[str, str]]:
    """Follows the events of a YAML document, which hold its scalars as text."""
    path: list[str | None] = []
    is_mapping: list[bool] = []
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            if len(path) >= _DEEPEST:
                raise ValueError("nested too deep")
            is_mapping.append(isinstance(event, yaml.MappingStartEvent))
            if is_mapping == [False]:
                return
            path.append(None)
        elif isinstance(event, yaml.CollectionEndEvent):
            is_mapping.pop()
            path.pop()
            _close_value(path, is_mapping)
        elif isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            value = event.value if isinstance(event, yaml.ScalarEvent) else f"*{event.anchor}"
            if is_mapping and is_mapping[-1] and path[-1] is None:
                path[-1] = value
                continue
            if any(is_mapping):
                yield ".".join(part for part in path if part), value
            _close_value(path, is_mapping)


def _close_value(path: list[str | None], is_mapping: list[bool]) -> None:
    """Forgets the key whose value is over."""
    if is_mapping and is_mapping[-1]:
        path[-1] = None


def _toml_pairs(values: Mapping[str, object], above: str) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        name = f"{above}.{key}" if above else key
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Mapping):
                yield from _toml_pairs(item, name)
            else:
                yield name, _toml_text(item)


def _toml_text(value: object) -> str:
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _property(line: str) -> tuple[str, str] | None:
    found = _PROPERTY.fullmatch(line.rstrip())
    return (found["key"].strip(), found["value"].strip().strip(_QUOTES)) if found else None


def _gathered(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The values by name, several of one name joined by commas; empty ones are left out."""
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        if name and value.strip():
            values.setdefault(name, []).append(" ".join(value.split()))
    return {name: ", ".join(found) for name, found in values.items()}
