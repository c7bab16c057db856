"""Operations that do not need all of their arguments for every row, where arguments can fail.

CASE and COALESCE evaluate a branch only for the rows that take it. AND and OR are decided by one
FALSE or TRUE operand, even if other operands fail, in any order. Computing everything for all rows
is faster, so that is tried first, unless a user-defined function would see rows of other branches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.expressions import Call
from eddyline.physical.expressions.data import constant_array
from eddyline.physical.expressions.evaluation import Evaluation, RowFailed, RowIndexes, spread
from eddyline.physical.expressions.kernel import Kernel

#: A ``pa.Scalar``, or a function of an Evaluation.
Node = Any
#: Returns the node of a call, given the nodes of its arguments and whether each can fail.
LazyMaker = Callable[[Call, Sequence[Node], Sequence[bool]], Callable[[Evaluation], pa.Array]]


def _case(call: Call, nodes: Sequence[Node], _: object) -> Callable[[Evaluation], pa.Array]:
    """Arguments: condition, value, condition, value, ..., else."""
    branches = list(zip(nodes[:-1:2], nodes[1::2], strict=True))

    def node(evaluation: Evaluation) -> pa.Array:
        rest, positions, values = np.arange(len(evaluation)), list[RowIndexes](), list[pa.Array]()
        for condition, value in branches:
            truth, failed = _evaluated(condition, evaluation, rest)
            is_true = np.asarray(truth.fill_null(False))
            positions.append(rest[is_true])
            values.append(_evaluated(value, evaluation, positions[-1])[0])
            rest = rest[~(is_true | failed)]
        positions.append(rest)
        values.append(_evaluated(nodes[-1], evaluation, rest)[0])
        return _scattered(len(evaluation), positions, values)

    return node


def _coalesce(call: Call, nodes: Sequence[Node], _: object) -> Callable[[Evaluation], pa.Array]:
    def node(evaluation: Evaluation) -> pa.Array:
        rest, positions, values = np.arange(len(evaluation)), list[RowIndexes](), list[pa.Array]()
        for choice in nodes:
            chosen, failed = _evaluated(choice, evaluation, rest)
            valid = np.asarray(chosen.is_valid())
            positions.append(rest[valid])
            values.append(chosen.filter(pa.array(valid)))
            rest = rest[~(valid | failed)]
        return _scattered(len(evaluation), positions, values)

    return node


def _evaluated(node: Node, evaluation: Evaluation, rows: RowIndexes) -> tuple[pa.Array, Any]:
    """The values of a node for some rows, and bool[k]: whether each row has failed."""
    if isinstance(node, pa.Scalar):
        return constant_array(node, rows.size), np.zeros(rows.size, np.bool_)
    part = evaluation.of(rows)
    values = part.without_failed(node(part))
    evaluation.adopt(part, rows)
    return values, part.failed()


def _scattered(count: int, positions: Sequence[RowIndexes], values: Sequence[pa.Array]) -> pa.Array:
    """An array of length ``count`` with the values at their positions, else NULL."""
    where = np.concatenate(positions)
    order = np.argsort(where, kind="stable")
    return spread(pa.concat_arrays(values).take(pa.array(order)), where[order], count)


def _make_connective(combine: Any, decisive: bool) -> LazyMaker:
    """AND (``decisive`` is FALSE) or OR (TRUE)."""

    def make(
        call: Call, nodes: Sequence[Node], can_fail: Sequence[bool]
    ) -> Callable[[Evaluation], pa.Array]:
        pairs = list(zip(nodes, can_fail, strict=True))
        ordered = [n for n, fails in pairs if not fails] + [n for n, fails in pairs if fails]

        def node(evaluation: Evaluation) -> pa.Array:
            rest = np.arange(len(evaluation))
            result = pa.repeat(not decisive, rest.size)
            parts: list[tuple[Evaluation, RowIndexes]] = []
            for operand in ordered:
                part = evaluation.of(rest)
                parts.append((part, rest))
                values = _values(operand, part)
                if rest.size < len(result):
                    values = spread(values, rest, len(result))
                    undecided = np.zeros(len(result), np.bool_)
                    undecided[rest] = True
                    values = pc.if_else(pa.array(undecided), values, decisive)
                result = combine(result, values)
                rest = np.flatnonzero(
                    np.asarray(pc.fill_null(pc.not_equal(result, decisive), True))
                )
                if not rest.size:
                    break
            is_open = np.zeros(len(result), np.bool_)
            is_open[rest] = True
            for part, rows in parts:
                failed, reasons = part.failures()
                kept = is_open[rows[failed]]
                evaluation.fail(rows[failed][kept], reasons.filter(pa.array(kept)))
            return result

        return node

    return make


def _values(node: Node, part: Evaluation) -> pa.Array:
    if isinstance(node, pa.Scalar):
        return constant_array(node, len(part))
    return part.without_failed(node(part))


def optimistic(
    kernel: Kernel, nodes: Sequence[Node], lazy: Callable[[Evaluation], pa.Array]
) -> Callable[[Evaluation], pa.Array]:
    """The kernel applied to whole columns; after a failure, the lazy node."""

    def node(evaluation: Evaluation) -> pa.Array:
        trial = evaluation.strict()
        try:
            data = [n if isinstance(n, pa.Scalar) else n(trial) for n in nodes]
        except RowFailed:
            return lazy(evaluation)
        return kernel(*data)

    return node


LAZY: Final[dict[str, LazyMaker]] = {
    "case": _case,
    "coalesce": _coalesce,
    "and": _make_connective(pc.and_kleene, False),
    "or": _make_connective(pc.or_kleene, True),
}
