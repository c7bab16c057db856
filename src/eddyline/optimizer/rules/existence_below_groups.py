"""EXISTS and NOT EXISTS on a static table below GROUP BY, where they are about its keys.

A static table never changes, so EXISTS on it is a predicate on the keys::

    SemiJoin  g.symbol = c.symbol           Project  symbol, n
      Project  symbol, n                      GroupBy  symbol; COUNT(*) AS n
        GroupBy  symbol; COUNT(*) AS n  ==>     SemiJoin  symbol = symbol
          trades                                  trades
        companies                                 companies

Then rows of groups that are not in the answer are not grouped; if a join makes them, the look-up
sends it feedback on which rows are needed (``physical/feedback/tree.py``).

Source: Yang and Papadias 2008, section V (feedback of selections).

**Where it must not fire.**
- On a table that changes: a group reflects a non-retroactive one as it was when the *group* changed
  last, and a retroactive one takes groups back.
- Without keys: the one group of all rows exists even where nothing is looked up.
- Where keys are computed from a float, or the residual reads one: rows of one group may differ in
  the sign of zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from eddyline.algebra.expressions import ColumnRef, Expr, columns_of, walk
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    GroupBy,
    Plan,
    Project,
    SemiJoin,
    TableScan,
    below_projections,
)
from eddyline.optimizer.traversal import bottom_up, substituted


def existence_below_groups(plan: Plan) -> Plan:
    """Move each EXISTS on a static table below the groups of which it reads the keys."""
    return bottom_up(plan, _change)


def _change(plan: Plan) -> Plan:
    if not isinstance(plan, (SemiJoin, AntiJoin)) or not _is_static(plan.right):
        return plan
    return _below(plan, plan.left) or plan


def _is_static(plan: Plan) -> bool:
    table = below_projections(plan)
    return isinstance(table, TableScan) and table.updates == "static"


def _below(term: SemiJoin | AntiJoin, plan: Plan) -> Plan | None:
    """The rows of ``plan`` that meet the term, moved below groups; None if it cannot move."""
    if isinstance(plan, (Filter, Distinct)):
        below = _below(term, plan.input)
        return None if below is None else plan.with_inputs(below)
    if isinstance(plan, Project):
        below = _below(_over(term, plan.input, plan.exprs), plan.input)
        return None if below is None else plan.with_inputs(below)
    if isinstance(plan, GroupBy) and _is_about(term, plan):
        below = _over(term, plan.input, plan.keys)
        return plan.with_inputs(_change(below))
    return None


def _is_about(term: SemiJoin | AntiJoin, groups: GroupBy) -> bool:
    """Whether a term is about the keys of groups alone, and says the same of all their rows."""
    own = [left for left, _ in term.keys]
    width = len(groups.schema)
    rest = () if term.residual is None else (term.residual,)
    read = {c for e in own for c in columns_of(e)}
    read |= {c for e in rest for c in columns_of(e) if c < width}
    computed = [e for e in own if not isinstance(e, ColumnRef)] + list(rest)
    exact = not any(pa.types.is_floating(c.type) for e in computed for c in walk(e))
    return bool(groups.keys) and max(read, default=0) < len(groups.keys) and exact


def _over(term: SemiJoin | AntiJoin, plan: Plan, exprs: Sequence[Expr]) -> SemiJoin | AntiJoin:
    """A term on what is computed from the rows of ``plan``, on these rows."""
    keys = tuple((substituted(left, exprs), right) for left, right in term.keys)
    residual = term.residual
    if residual is not None:
        shift = len(plan.schema) - len(term.left.schema)
        places: dict[int, Expr] = dict(enumerate(exprs))
        for ref in (e for e in walk(residual) if isinstance(e, ColumnRef)):
            if ref.index >= len(term.left.schema):
                places[ref.index] = replace(ref, index=ref.index + shift)
        residual = substituted(residual, places)
    return replace(term, left=plan, keys=keys, residual=residual)
