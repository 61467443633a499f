"""The exact names of a statement: what it creates and what it reads, in the order they come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Parts: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """Names of tables, columns and other objects without their quotes; an object under its full and its own name."""

    defines: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.defines or self.reads)


@dataclass(slots=True)
class NameList:
    """Gathers names; what a statement defines it does not read besides."""

    _defines: dict[str, None] = field(default_factory=dict)
    _reads: dict[str, None] = field(default_factory=dict)

    def define(self, parts: Parts) -> None:
        """Adds an object that is created."""
        self._defines.update(dict.fromkeys(_forms(parts)))

    def define_column(self, table: Parts, column: str) -> None:
        """Adds a column that is created."""
        self._defines.update(dict.fromkeys(_column_forms(table, column)))

    def read(self, parts: Parts) -> None:
        """Adds an object that is read, written or changed."""
        self._reads.update(dict.fromkeys(_forms(parts)))

    def read_column(self, table: Parts, column: str) -> None:
        """Adds a column that is read or written; `table` is empty where it is not known."""
        self._reads.update(dict.fromkeys(_column_forms(table, column)))

    def done(self) -> Names:
        """The names so far."""
        return Names(tuple(self._defines), tuple(name for name in self._reads if name not in self._defines))


def joined(names: Iterable[Names]) -> Names:
    """The names of several statements, each once."""
    gathered = list(names)
    defines = dict.fromkeys(name for found in gathered for name in found.defines)
    reads = dict.fromkeys(name for found in gathered for name in found.reads)
    return Names(tuple(defines), tuple(name for name in reads if name not in defines))


def _forms(parts: Parts) -> Sequence[str]:
    """`shop.public.orders` goes under that name, `public.orders` and `orders`."""
    return [_dotted(parts[i:]) for i in range(len(parts)) if parts[i]]


def _column_forms(table: Parts, column: str) -> Sequence[str]:
    return [*(f"{form}.{_dotted((column,))}" for form in _forms(table)), _dotted((column,))]


def _dotted(parts: Parts) -> str:
    """Names joined by dots, quoted where a dot is part of one."""
    return ".".join(f'"{part}"' if "." in part else part for part in parts if part)
