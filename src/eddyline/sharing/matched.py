"""EXISTS and NOT EXISTS with windows of each query's own over the two streams.

    AntiJoin  r.k = b.k                          MatchedRows  r.k = b.k, without a match
      Filter  (temp > 28)                 ->       the rows of a flow over
        StreamScan  r [RANGE 1 MINUTE]               StreamScan  r
      StreamScan  b [RANGE 5 SECONDS]

The left rows are those of a flow, with the predicates and windows of each query; the length of the
right window is one more property of a query. So these queries share their filters with all other
queries over the left stream, and their matching with each other (``runtime/eddy/shared_matching``).
"""

from __future__ import annotations

from dataclasses import replace

from eddyline.algebra.expressions import ColumnRef, Expr, rewrite
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.parameters import has_parameters
from eddyline.algebra.plan import AntiJoin, MatchedRows, Plan, SemiJoin, SharedRows, StreamScan
from eddyline.algebra.windows import Range
from eddyline.sharing.flat import Flat, flatten
from eddyline.sharing.grouping import shared_rows
from eddyline.sharing.signature import Part, Signature, matches_streams, stand_in


def with_own_windows(signature: Signature, part: Part) -> tuple[Signature, Part] | None:
    """The flow over the left stream of a matching that is the only source of another flow; None if
    that source is something else, or compares more than keys, or may fail.
    """
    (source, *others) = signature.sources
    if others or not matches_streams(source):
        return None
    assert isinstance(source, (SemiJoin, AntiJoin)), "as it does"
    left, right = source.left, flatten(source.right, joins=False)
    (scan,) = right.leaves
    assert isinstance(left, StreamScan) and isinstance(left.window, Range), "likewise"
    assert isinstance(scan, StreamScan) and isinstance(scan.window, Range), "likewise"
    keys = tuple((a, _over(b, right)) for a, b in source.keys)
    exprs = (*(e for pair in keys for e in pair), *right.terms, *part.outputs)
    if any(can_fail(e) or has_parameters(e) for e in exprs):
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
        shows_matched=isinstance(source, SemiJoin),
        nulls_match=source.nulls_match,
    )
    lengths = left.window.row_length, scan.window.row_length
    above = matched if part.above is None else _replaced(part.above, matched)
    return own, replace(
        part,
        windows=(left.window.us, scan.window.us),
        row_lengths=lengths if any(lengths) else (),
        above=above,
    )


def _over(expr: Expr, right: Flat) -> Expr:
    """An expression over the columns of a flattened plan, over those of its leaf."""

    def change(e: Expr) -> Expr | None:
        return right.outputs[e.index] if isinstance(e, ColumnRef) else None

    return rewrite(expr, change)


def _replaced(plan: Plan, rows: MatchedRows) -> Plan:
    """The plan over these rows instead of SharedRows."""
    if isinstance(plan, SharedRows):
        return rows
    return plan.with_inputs(*(_replaced(below, rows) for below in plan.inputs))
