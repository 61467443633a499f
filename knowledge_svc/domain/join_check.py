"""Checks how a plan joins its datasets: each once, to earlier ones, by columns that can be equal exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from artifact.model import Column, ColumnType
from knowledge_svc.domain.checked_plan import FIGURE_DIGITS, CheckedColumn, CheckedJoin
from knowledge_svc.domain.plan import ColumnRef, Join, JoinKey, Plan
from knowledge_svc.domain.plan_faults import PlanFaults, shown, unknown_name
from knowledge_svc.domain.predicate_check import snapshot_resolver

MAX_JOIN_KEYS: Final = 8

Columns = Mapping[str, tuple[CheckedColumn, ...]]
"""The columns of each dataset by its alias."""


def visible_columns(plan: Plan, columns: Columns) -> dict[str, tuple[CheckedColumn, ...]]:
    """The columns that a plan can read once its datasets are joined: not those of datasets that were only looked up."""
    hidden = {join.alias for join in plan.joins if join.kind.looks_up}
    return {alias: found for alias, found in columns.items() if alias not in hidden}


class JoinCheck:
    """Checks the joins of one plan."""

    def __init__(self, plan: Plan, columns: Columns, faults: PlanFaults) -> None:
        self._plan = plan
        self._columns = columns
        self._faults = faults
        self._resolve = snapshot_resolver(dict(columns), faults)
        self._places = {dataset.alias: place for place, dataset in enumerate(plan.datasets)}
        self._joined = {plan.datasets[0].alias} if plan.datasets else set()
        self._looked_up: set[str] = set()

    def run(self) -> tuple[CheckedJoin, ...]:
        """Returns the joins that hold, in their order; what does not is noted."""
        checked = [self._join(join, f"plan.joins[{i}]") for i, join in enumerate(self._plan.joins)]
        missing = [one.alias for one in self._plan.datasets if one.alias not in self._joined | self._looked_up]
        if missing:
            names = ", ".join(map(shown, missing))
            self._faults.add("plan.joins", f"each dataset past the first is joined to an earlier one; join {names}")
        return tuple(join for join in checked if join is not None)

    def _join(self, join: Join, field: str) -> CheckedJoin | None:
        if not self._is_free(join, f"{field}.alias"):
            return None
        if not 1 <= len(join.keys) <= MAX_JOIN_KEYS:
            self._faults.add(f"{field}.keys", f"a join has 1 to {MAX_JOIN_KEYS} pairs of columns, not {len(join.keys)}")
        keys = [self._key(key, join.alias, f"{field}.keys[{i}]") for i, key in enumerate(join.keys[:MAX_JOIN_KEYS])]
        (self._looked_up if join.kind.looks_up else self._joined).add(join.alias)
        kept = tuple(key for key in keys if key is not None)
        return CheckedJoin(self._places[join.alias], join.kind, kept, join.allow_fan_out)

    def _is_free(self, join: Join, field: str) -> bool:
        """Whether the join names a dataset that is not there yet."""
        if join.alias not in self._places:
            self._faults.add(field, unknown_name("dataset of the plan has the alias", join.alias, filter(None, self._places)))
            return False
        if join.alias in self._joined | self._looked_up:
            first = self._places[join.alias] == 0
            self._faults.add(
                field, "the first dataset is where the joins begin; name a later one" if first else "it is joined already"
            )
            return False
        return True

    def _key(self, key: JoinKey, alias: str, field: str) -> tuple[CheckedColumn, CheckedColumn] | None:
        left = self._left(key.left, f"{field}.left")
        right = self._right(key.right, alias, f"{field}.right")
        if left is None or right is None:
            return None
        if reason := _unequal(left.column, right.column):
            self._faults.add(field, reason)
            return None
        return left, right

    def _left(self, ref: ColumnRef, field: str) -> CheckedColumn | None:
        if ref.alias in self._looked_up:
            self._faults.add(f"{field}.alias", "columns of a dataset that is joined by semi or anti cannot be read")
            return None
        if ref.alias in self._places and ref.alias not in self._joined:
            there = ", ".join(shown(one) for one in self._places if one in self._joined)
            self._faults.add(f"{field}.alias", f"the left column belongs to a dataset that is there already: {there}")
            return None
        found = self._resolve(ref, field)
        return found if isinstance(found, CheckedColumn) else None

    def _right(self, ref: ColumnRef, alias: str, field: str) -> CheckedColumn | None:
        if ref.alias not in ("", alias):
            self._faults.add(f"{field}.alias", f"the right column belongs to the joined dataset, {shown(alias)}")
            return None
        found = self._resolve(ColumnRef(ref.column, alias), field)
        return found if isinstance(found, CheckedColumn) else None


def _unequal(left: Column, right: Column) -> str:
    """Why values of the two columns cannot be compared exactly; empty where they can."""
    if left.type is not right.type:
        return f"the columns are of different types, {left.type} and {right.type}; only equal types are joined"
    if left.type is not ColumnType.NUMBER:
        return ""
    if bool(left.precision) != bool(right.precision):
        return "one column holds exact decimals and the other doubles, which are not equal exactly"
    digits = max(left.precision - left.scale, right.precision - right.scale) + max(left.scale, right.scale)
    if left.precision and digits > FIGURE_DIGITS:
        return f"comparing the columns takes {digits} digits and there are {FIGURE_DIGITS}"
    return ""
