"""Faults of a plan, gathered so that a caller sees all of them at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

from knowledge_svc.domain.errors import InvalidPlan
from services.errors import FieldViolation

_TOLD_BYTES: Final = 4096
_SHOWN: Final = 8
_SHOWN_LENGTH: Final = 80


class PlanFaults:
    """The faults found so far."""

    def __init__(self) -> None:
        self._violations: list[FieldViolation] = []

    def add(self, field: str, description: str) -> None:
        """Notes what is at fault with a field and what would be valid."""
        self._violations.append(FieldViolation(field, description))

    def raise_if_any(self) -> None:
        """Ends the check.

        Raises:
            InvalidPlan: at least one fault was noted; its violations are all of them, or as many as fit in a status.
        """
        if not self._violations:
            return
        first = self._violations[0]
        more = f", and {len(self._violations) - 1} more" if len(self._violations) > 1 else ""
        raise InvalidPlan(
            f"the plan does not hold: {first.field}: {first.description}{more}",
            metadata={"field": first.field, "faults": str(len(self._violations))},
            violations=self._told(),
        )

    def _told(self) -> list[FieldViolation]:
        """The faults, as many as a status can carry in its trailing metadata, and how many more there are."""
        told: list[FieldViolation] = []
        size = 0
        for place, violation in enumerate(self._violations):
            size += len(violation.field.encode()) + len(violation.description.encode())
            if size > _TOLD_BYTES and told:
                rest = len(self._violations) - place
                return [*told, FieldViolation("plan", f"{rest} more faults are not listed; repair these first")]
            told.append(violation)
        return told


def unknown_name(noun: str, wanted: str, known: Iterable[str]) -> str:
    """Describes a name that is not there, the close ones first, else some of those that are."""
    names = list(known)
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)
    close += [name for name in names if name.casefold() == wanted.casefold() and name not in close]
    if close:
        return f"no {noun} {shown(wanted)}; close: {_listed(close)}"
    return f"no {noun} {shown(wanted)}; there are: {_listed(names)}" if names else f"no {noun} {shown(wanted)}; there are none"


def shown(text: str) -> str:
    """Quotes a name, cut to a length that fits a message."""
    return f'"{text}"' if len(text) <= _SHOWN_LENGTH else f'"{text[:_SHOWN_LENGTH]}…"'


def _listed(names: list[str]) -> str:
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(shown(name) for name in names[:_SHOWN]) + rest
