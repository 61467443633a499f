"""The place of an element or a text in a page: its path from the root."""

from __future__ import annotations


class Place:
    """An element or text node by its name and number among its like; its path is written when it is asked for."""

    __slots__ = ("_path", "above", "name", "number")

    def __init__(self, above: Place | None, name: str, number: int) -> None:
        self.above = above
        self.name = name
        self.number = number
        self._path = ""

    @property
    def path(self) -> str:
        """The path from the root, such as `html/body/div[2]/p[1]`; the root has no number, nor have its children."""
        if not self._path:
            unwritten: list[Place] = []
            place: Place | None = self
            while place is not None and not place._path:
                unwritten.append(place)
                place = place.above
            for written in reversed(unwritten):
                written._path = written._written()
        return self._path

    def _written(self) -> str:
        if self.above is None:
            return self.name
        step = self.name if self.above.above is None else f"{self.name}[{self.number}]"
        return f"{self.above._path}/{step}"
