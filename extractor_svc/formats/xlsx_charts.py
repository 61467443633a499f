"""A chart as text: its titles and labels, and each series with its categories and values as the chart keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from extractor_svc.formats.xlsx_book import whole_number
from extractor_svc.formats.xlsx_drawn import line_of, live
from extractor_svc.formats.xlsx_number_formats import number_format
from extractor_svc.formats.xlsx_values import number_value
from extractor_svc.ooxml import Element, child_of, local_name

Points: TypeAlias = dict[int, str]

_CATEGORIES: Final = ("cat", "xVal")
_VALUES: Final = ("val", "yVal", "bubbleSize")
_TEXT_CACHES: Final = ("strCache", "strLit")
_NUMBER_CACHES: Final = ("numCache", "numLit")


def chart_text(root: Element, *, from_1904: bool) -> str:
    """The chart's lines in its own order.

    A series is its name and then a line for each category: the category, a tab, and the value as its number format shows it.
    """
    return "\n".join(line for line in _lines(root, from_1904=from_1904) if line.strip())


def _lines(element: Element, *, from_1904: bool) -> Iterator[str]:
    for child in element:
        match local_name(child):
            case "" | "Fallback":
                continue
            case "p":
                yield line_of(child)
            case "ser":
                yield from _series(child, from_1904=from_1904)
            case "data":
                yield from _extended_data(child, from_1904=from_1904)
            case "txData":
                yield from (text.text or "" for text in child if local_name(text) == "v")
            case "strCache":
                yield from _points(child, str).values()
            case _:
                yield from _lines(child, from_1904=from_1904)


def _series(series: Element, *, from_1904: bool) -> Iterator[str]:
    """A series: its name, its points, and what is written at them."""
    columns: list[Points] = []
    labels: list[str] = []
    for child in series:
        name = local_name(child)
        if name == "tx":
            yield " ".join(_name(child))
        elif name in _CATEGORIES:
            columns.insert(0, _cached(child, from_1904=from_1904))
        elif name in _VALUES:
            columns.append(_cached(child, from_1904=from_1904))
        elif name == "trendline":
            labels.extend(text.text or "" for text in child if local_name(text) == "name")
            labels.extend(_lines(child, from_1904=from_1904))
        else:
            labels.extend(_lines(child, from_1904=from_1904))
    yield from _rows(columns)
    yield from labels


def _name(element: Element) -> Iterator[str]:
    for child in live(element):
        if local_name(child) == "v":
            yield child.text or ""
        elif local_name(child) == "p":
            yield line_of(child)


def _rows(columns: list[Points]) -> Iterator[str]:
    for place in sorted(set().union(*columns)):
        yield "\t".join(column.get(place, "") for column in columns).strip("\t")


def _cached(element: Element, *, from_1904: bool) -> Points:
    """The points that a reference or a list keeps, by their place; labels of several levels are joined, the outer one first."""
    levels: list[Points] = []
    for child in live(element):
        name = local_name(child)
        if name in _TEXT_CACHES or name == "lvl":
            levels.insert(0, _points(child, str))
        elif name in _NUMBER_CACHES:
            levels.insert(0, _points(child, _shown(child, from_1904=from_1904)))
    places = sorted(set().union(*levels))
    return {place: " ".join(level[place] for level in levels if place in level) for place in places}


def _points(cache: Element, show: Callable[[str], str]) -> Points:
    found: Points = {}
    for point in cache:
        value = child_of(point, "v") if local_name(point) == "pt" else None
        if value is not None and value.text:
            place = whole_number(point.get("idx"))
            found[len(found) if place is None else place] = show(value.text)
    return found


def _shown(cache: Element, *, from_1904: bool) -> Callable[[str], str]:
    """Shows numbers in the format that a cache states."""
    stated = child_of(cache, "formatCode")
    look = number_format((stated.text if stated is not None else None) or "General")
    return lambda stored: number_value(stored, look, from_1904=from_1904).text


def _extended_data(data: Element, *, from_1904: bool) -> Iterator[str]:
    """The dimensions of one series of a chart of the later kind, whose points are texts of their elements."""
    columns: list[Points] = []
    for dimension in data:
        if local_name(dimension) in ("strDim", "numDim"):
            for level in (child for child in dimension if local_name(child) == "lvl"):
                look = number_format(level.get("formatCode") or "General")
                points = [point for point in level if local_name(point) == "pt" and point.text]
                is_text = local_name(dimension) == "strDim"
                columns.append(
                    {
                        whole_number(point.get("idx")) or 0: point.text
                        if is_text
                        else number_value(point.text, look, from_1904=from_1904).text
                        for point in points
                    }
                )
    yield from _rows(columns)
