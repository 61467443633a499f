"""Refuses joins that repeat rows under a figure, which would then count them more than once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from knowledge_svc.domain.checked_plan import CheckedPlan
from knowledge_svc.domain.errors import FanOut
from knowledge_svc.domain.plan import AggregateFunction
from knowledge_svc.domain.plan_faults import shown
from services.errors import FieldViolation


@dataclass(frozen=True, slots=True)
class Repeats:
    """Of the joined rows that a plan's `where` keeps: how many have a row of a dataset, and how many different ones these are."""

    dataset: int
    rows: int
    different: int


CountRepeats: TypeAlias = Callable[[CheckedPlan], Sequence[Repeats]]
"""Counts for each visible dataset of a plan."""

_REPEATABLE: Final = frozenset(
    {
        AggregateFunction.MIN,
        AggregateFunction.MAX,
        AggregateFunction.COUNT_DISTINCT,
        AggregateFunction.FIRST,
        AggregateFunction.LAST,
    }
)
"""Figures that a repeated row leaves as they are."""


def refuse_fan_out(checked: CheckedPlan, count: CountRepeats) -> None:
    """Checks that no dataset under a figure has a row twice among the joined rows, unless the joins that do it are allowed to.

    Figures are aggregates over a column: counts of rows count the joined rows, which is what they say.

    Raises:
        FanOut: a join repeats rows, with the counts.
    """
    under = {one.column.dataset for one in checked.aggregates if one.column is not None and one.function not in _REPEATABLE}
    if not under or all(join.allow_fan_out or join.kind.looks_up for join in checked.joins):
        return
    repeated = _repeated(checked, under, count)
    for place, join in enumerate(checked.joins):
        if not repeated:
            return
        if join.kind.looks_up or join.allow_fan_out:
            continue
        before, upto = (replace(checked, joins=checked.joins[:end], where=()) for end in (place, place + 1))
        fresh = repeated.keys() & (_repeated(upto, under, count).keys() - _repeated(before, under, count).keys())
        if fresh:
            raise _fan_out(checked, place, [repeated[dataset] for dataset in sorted(fresh)])


def _repeated(checked: CheckedPlan, under: set[int], count: CountRepeats) -> dict[int, Repeats]:
    """The datasets under a figure of which a row stands more than once."""
    return {one.dataset: one for one in count(checked) if one.dataset in under and one.different < one.rows}


def _fan_out(checked: CheckedPlan, place: int, repeated: Iterable[Repeats]) -> FanOut:
    field = f"plan.joins[{place}]"
    names = [one.alias for one in checked.plan.datasets]
    told = "; ".join(f"{one.different} rows of {shown(names[one.dataset])} stand as {one.rows}" for one in repeated)
    description = f"the join repeats rows under a figure: {told}; join by keys that are unique, or set allow_fan_out"
    metadata = {"field": field, "rows": told}
    return FanOut(f"{field}: {description}", metadata=metadata, violations=[FieldViolation(field, description)])
