"""Clauses: disjunctions of conditions on attributes, of which predicates are conjunctions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

from eddyline.algebra.value_sets import EVERYTHING, NOTHING, ValueSet
from eddyline.runtime.predicates.grouped_filter import Attribute

#: A condition: what it accepts of an attribute.
ClauseTerm: TypeAlias = tuple[Attribute, ValueSet]
#: A disjunction over different attributes.
Clause: TypeAlias = Sequence[ClauseTerm]


def simplified(clause: Clause) -> Sequence[ClauseTerm] | None:
    """One condition per attribute, none that is never met; None if one is always met."""
    united: dict[Hashable, ClauseTerm] = {}
    for condition in clause:
        combine(united, condition, ValueSet.union)
    if any(accepts == EVERYTHING for _, accepts in united.values()):
        return None
    return [(a, accepts) for a, accepts in united.values() if accepts != NOTHING]


def combine(
    conditions: dict[Hashable, ClauseTerm],
    condition: ClauseTerm,
    how: Callable[[ValueSet, ValueSet], ValueSet],
) -> None:
    """Add a condition to those by attribute."""
    attribute, accepts = condition
    held = conditions.get(attribute.key)
    combined = accepts if held is None else how(held[1], accepts)
    conditions[attribute.key] = (attribute, combined)
