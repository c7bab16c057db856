"""EXISTS, NOT EXISTS and LEFT JOIN with windows of each query's own over the two streams.

    AntiJoin  r.k = b.k                          MatchedRows  r.k = b.k, without a match
      Filter  (temp > 28)                 ->       the rows of a flow over
        StreamScan  r [RANGE 1 MINUTE]               StreamScan  r
      StreamScan  b [RANGE 5 SECONDS]

A LEFT JOIN is the same with the pairs of rows that match, and NULLs for left rows without a match.
The left rows are those of a flow, with the predicates and windows of each query; the length of the
right window is one more property of a query. So these queries share their filters with all other
queries over the left stream, and their matching with each other (``runtime/eddy/shared_matching``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eddyline.algebra.expressions import ColumnRef, Expr, Literal, columns_of
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.plan import (
    AntiJoin,
    Join,
    MatchedRows,
    Plan,
    Project,
    SemiJoin,
    SharedRows,
    StreamScan,
    Union,
)
from eddyline.algebra.windows import Range
from eddyline.sharing.flat import flatten
from eddyline.sharing.grouping import shared_rows
from eddyline.sharing.signature import Part, Signature, matches_streams, stand_in


def with_own_windows(signature: Signature, part: Part) -> tuple[Signature, Part] | None:
    """The flow over the left stream of a matching that is the only source of another flow; None if
    that source is something else, or compares more than keys, or may fail.
    """
    (source, *others) = signature.sources
    if others:
        return None
    outer = _unmatched(source)
    matching = source if outer is None else outer
    if not matches_streams(matching):
        return None
    assert isinstance(matching, (SemiJoin, AntiJoin)), "as it does"
    left, right = matching.left, flatten(matching.right, joins=False)
    (scan,) = right.leaves
    assert isinstance(left, StreamScan) and isinstance(left.window, Range), "likewise"
    assert isinstance(scan, StreamScan) and isinstance(scan.window, Range), "likewise"
    keys = tuple((a, right.computed(b)) for a, b in matching.keys)
    exprs = (*(e for pair in keys for e in pair), *right.terms, *part.outputs)
    if any(can_fail(e) or has_parameters(e) for e in exprs):
        return None
    if any(c >= len(left.schema) for term in part.filters[0] for c in columns_of(term)):
        return None
    own = Signature((stand_in(left),), ())
    rows = shared_rows(own, part, left.lifespan_us)
    matched = MatchedRows(
        rows.fields,
        rows.sources,
        rows.lifespan_us,
        stand_in(scan),
        keys,
        tuple(right.terms),
        shows_matched=isinstance(matching, SemiJoin),
        nulls_match=matching.nulls_match,
        joined=outer is not None,
    )
    above_lengths = part.row_lengths[1:] or (None,) * (len(part.windows) - 1)
    lengths = (left.window.row_length, scan.window.row_length, *above_lengths)
    above = matched if part.above is None else _replaced(part.above, matched)
    return own, replace(
        part,
        windows=(left.window.us, scan.window.us, *part.windows[1:]),
        row_lengths=lengths if any(lengths) else (),
        above=above,
    )


def _unmatched(plan: Plan) -> AntiJoin | None:
    """What finds the left rows without a match of a LEFT JOIN; None: it is something else."""
    if not (isinstance(plan, Union) and len(plan.parts) == 2):
        return None
    join, alone = plan.parts
    if isinstance(join, Project) and _are_columns(join.exprs):
        join = join.input if len(join.exprs) == len(join.input.schema) else join
    if not isinstance(alone, Project):
        return None
    unmatched = alone.input
    if type(join) is not Join or type(unmatched) is not AntiJoin or join.residual is not None:
        return None
    sides = unmatched.left, unmatched.right, unmatched.keys
    if (join.left, join.right, join.keys) != sides or unmatched.nulls_match:
        return None
    width = len(unmatched.left.schema)
    own, padding = alone.exprs[:width], alone.exprs[width:]
    is_padded = all(isinstance(e, Literal) and e.is_null for e in padding)
    return unmatched if _are_columns(own) and is_padded else None


def _are_columns(exprs: Sequence[Expr]) -> bool:
    """Whether these are the columns of a plan in their order."""
    return all(isinstance(e, ColumnRef) and e.index == i for i, e in enumerate(exprs))


def _replaced(plan: Plan, rows: MatchedRows) -> Plan:
    """The plan over these rows instead of SharedRows."""
    if isinstance(plan, SharedRows):
        return rows
    return plan.with_inputs(*(_replaced(below, rows) for below in plan.inputs))
