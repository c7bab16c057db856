"""Feedback that passes operators which take rows back: groups, EXISTS, outer joins.

A join whose input takes rows back has no gate of its own. What it has no partner for need not be
made below that input, though, as far as a row's key is known there::

    Join  g.k = c.k                            Join  g.k = c.k
      GroupBy  a.k: COUNT(*)                     GroupBy  a.k: COUNT(*)
        Join  a.g = b.g             ==>            Admitted  a.k = c.k
          a                                          Join  a.g = b.g
          b                                            a
      c                                                b
                                                 c

All operators between have this in common: their rows with a key follow, at any instant, from the
rows of the input with this key. So the rows are right as long as there is a partner, if all rows of
the input with the key are there then. Those that come late, with the partner, count from an instant
before it on; what has been shown until then had no partner.

Of EXISTS and NOT EXISTS these are left rows: all right rows are there. A LEFT JOIN is the union of
its pairs and of the left rows without a match, which read the same admitted rows::

    Union                                      Union
      Join  a.g = b.g                            Join  a.g = b.g
        a                            ==>           Admitted  a.k = c.k
        b                                            a
      AntiJoin  a.g = b.g                          b
        a                                        AntiJoin  a.g = b.g
        b                                          Admitted ..
                                                   b

Source: Yang and Papadias 2008, section V: an operator that does not produce partial results passes
feedback to those below it. docs/decisions/0124 and 0128 have the argument.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final, TypeAlias

import pyarrow as pa

from eddyline.algebra.expressions import ColumnRef, Expr, columns_of, shift_columns
from eddyline.algebra.functions.aggregates import AGGREGATES
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.plan import (
    Admitted,
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Join,
    Lookup,
    Partners,
    Plan,
    Project,
    SemiJoin,
    StreamScan,
    TableScan,
    Union,
)
from eddyline.algebra.reads import nodes
from eddyline.optimizer.traversal import substituted
from eddyline.physical.feedback.conditions import span
from eddyline.physical.patterns import base_scan
from eddyline.physical.strategy import Strategy

Wanted: TypeAlias = tuple[Partners, ...]

#: Maximum number of partners that rows wait for: those of the lowest joins.
_MOST_PARTNERS: Final = 4


def relayed(top: Join, strategy: Strategy) -> Join:
    """The join, with the rows that are needed below inputs which take rows back; itself if feedback
    has nothing to say about them.
    """
    is_on = strategy.feedback in ("jit", "auto") and strategy.feedback_form is None
    is_on &= top.feeds_back and top.takes_back
    needed = _needed(top) if is_on else {}
    if not any(needed.values()) or not all(map(_is_timed, nodes(top))):
        return top
    scans = tuple(p for p in dict.fromkeys(nodes(top)) if isinstance(p, StreamScan))
    gates = {plan: Admitted(plan, of, scans) if of else plan for plan, of in needed.items()}
    found = _rewritten(top, gates)
    assert isinstance(found, Join), "the top stays what it is"
    return found


def _is_timed(plan: Plan) -> bool:
    """Whether rows leave by time alone, if they do: no windows of rows, no deletions."""
    return not (isinstance(plan, (StreamScan, TableScan)) and plan.takes_back)


def _needed(top: Join) -> dict[Plan, Wanted]:
    """The inputs below whose rows may be suspended, and what is wanted of these; of one that is
    read at several places, what is wanted at all of them.
    """
    wanted: dict[Plan, Wanted] = {top: ()}
    found: dict[Plan, Wanted] = {}
    pairs, spares = _outer_pairs(top), set[Plan]()
    for plan in reversed(_in_order(top, pairs)):
        if plan not in wanted:
            continue
        below = _passed(plan, wanted[plan])
        if _is_gate(plan) and not (plan in pairs and below[pairs[plan]][1]):
            found[plan] = wanted[plan] if type(plan) is Join or plan in spares else ()
            continue
        for side, passed in below:
            wanted[side] = tuple(p for p in wanted.get(side, passed) if p in passed)
            if plan in spares or not (plan is top or _is_light(plan)):
                spares.add(side)
    return found


def _is_gate(plan: Plan) -> bool:
    """Whether the plan's rows may be suspended: joins of rows that are not taken back, and rows of
    a stream.
    """
    if plan.takes_back:
        return False
    return type(plan) is Join or isinstance(base_scan(plan), StreamScan)


def _is_light(plan: Plan) -> bool:
    """Whether a row costs so little here that a gate for rows of a stream would cost as much."""
    by_keys = isinstance(plan, (SemiJoin, AntiJoin)) and plan.residual is None
    return by_keys or isinstance(plan, (Filter, Project))


def _outer_pairs(top: Plan) -> dict[Plan, int]:
    """The joins that make the pairs of a LEFT or RIGHT JOIN, and which of their inputs is the one
    that it preserves: rows of this are suspended for all that is made of them.
    """
    alone = {p.inputs for p in nodes(top) if isinstance(p, AntiJoin)}
    found: dict[Plan, int] = {}
    for plan in nodes(top):
        if type(plan) is Join:
            preserved = [i for i in (0, 1) if (plan.inputs[i], plan.inputs[1 - i]) in alone]
            if len(preserved) == 1 and _is_gate(plan.inputs[preserved[0]]):
                found[plan] = preserved[0]
    return found


def _in_order(top: Plan, pairs: Collection[Plan]) -> list[Plan]:
    """The plan and all below it, down to what may be suspended; inputs first."""
    found: dict[Plan, None] = {}
    seen: set[Plan] = set()

    def visit(plan: Plan) -> None:
        if plan not in seen:
            seen.add(plan)
            is_end = _is_gate(plan) and plan not in pairs
            for below, _ in [] if is_end else _passed(plan, ()):
                visit(below)
            found[plan] = None

    visit(top)
    return list(found)


def _passed(plan: Plan, wanted: Wanted) -> list[tuple[Plan, Wanted]]:
    """The inputs of a plan, and what is wanted of their rows."""
    match plan:
        case Admitted():
            return []
        case Filter() | Distinct():
            return [(plan.input, wanted)]
        case Project():
            return [(plan.input, _computed(wanted, plan.exprs, len(plan.exprs)))]
        case GroupBy() if type(plan) is GroupBy and all(
            a.function in AGGREGATES for a in plan.aggregates
        ):
            return [(plan.input, _computed(_of_groups(wanted, plan), plan.keys, len(plan.keys)))]
        case Union():
            return [(part, wanted) for part in plan.parts]
        case SemiJoin() | AntiJoin() if not isinstance(plan, Lookup):
            return [(plan.left, wanted), (plan.right, ())]
        case Join() if type(plan) is Join:
            return [(side, _of_side(plan, i, wanted)) for i, side in enumerate(plan.inputs)]
    return [(below, ()) for below in plan.inputs]


def _computed(wanted: Wanted, exprs: tuple[Expr, ...], width: int) -> Wanted:
    """The same over the columns that others are computed from; what reads no other columns."""
    found = []
    for partners in wanted:
        if all(max(columns_of(own), default=-1) < width for own, _ in partners.keys):
            keys = tuple((substituted(own, exprs), other) for own, other in partners.keys)
            found += _usable(partners.plan, keys)
    return tuple(found)


def _of_groups(wanted: Wanted, plan: GroupBy) -> Wanted:
    """What is wanted of groups, if it is the same for all rows of a group: equal floats may differ
    (0.0 and -0.0), and what is computed from them.
    """
    if not any(pa.types.is_floating(k.type) for k in plan.keys):
        return wanted
    return tuple(p for p in wanted if all(isinstance(own, ColumnRef) for own, _ in p.keys))


def _of_side(plan: Join, side: int, wanted: Wanted) -> Wanted:
    """What is wanted of the rows of one input of a join: a partner in the other one, too."""
    first, last = span(plan, side)
    found: list[Partners] = []
    other = plan.inputs[1 - side]
    if plan.inputs[side].takes_back and not other.takes_back and plan.keys:
        found += _usable(other, tuple((pair[side], pair[1 - side]) for pair in plan.keys))
    for partners in wanted:
        own = [(k, o) for k, o in partners.keys if columns_of(k) <= set(range(first, last))]
        if own:  # less is asked than of the pair
            keys = tuple((shift_columns(k, -first), o) for k, o in own)
            found.append(replace(partners, keys=keys))
    return tuple(dict.fromkeys(found))[:_MOST_PARTNERS]


def _usable(plan: Plan, keys: tuple[tuple[Expr, Expr], ...]) -> list[Partners]:
    """Partners by these keys, unless computing them can fail."""
    if any(can_fail(e) for pair in keys for e in pair) or not all(columns_of(k) for k, _ in keys):
        return []
    return [Partners(plan, keys)]


def _rewritten(plan: Plan, known: dict[Plan, Plan]) -> Plan:
    """The plan over others, as far as they are known."""
    if plan not in known and not isinstance(plan, Admitted):
        known[plan] = plan.with_inputs(*(_rewritten(p, known) for p in plan.inputs))
    return known.get(plan, plan)
