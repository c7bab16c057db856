"""Operations that do not need all of their arguments for every row, where these may fail.

CASE and COALESCE ask only the rows that take a branch. AND and OR are decided by one FALSE or TRUE,
whatever the other operands are or fail for, and in whichever order they stand. It is quicker to
compute everything for all rows, so that is tried first, unless users' functions would see rows that
they are not asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.expressions import Call
from eddyline.physical.expressions.evaluation import Evaluation, RowFailed, Rows, spread
from eddyline.physical.expressions.kernel import Kernel, constant_array

#: A ``pa.Scalar``, or a function of an Evaluation.
Node = Any
#: A call, the nodes of its arguments, and which of these can fail, to the node of the call.
LazyMaker = Callable[[Call, Sequence[Node], Sequence[bool]], Callable[[Evaluation], pa.Array]]


def _case(call: Call, nodes: Sequence[Node], _: object) -> Callable[[Evaluation], pa.Array]:
    """Arguments: condition, value, condition, value, ..., else."""
    branches = list(zip(nodes[:-1:2], nodes[1::2], strict=True))

    def node(evaluation: Evaluation) -> pa.Array:
        rest, places, values = np.arange(len(evaluation)), list[Rows](), list[pa.Array]()
        for condition, value in branches:
            truth, failed = _asked(condition, evaluation, rest)
            is_true = np.asarray(truth.fill_null(False))
            places.append(rest[is_true])
            values.append(_asked(value, evaluation, places[-1])[0])
            rest = rest[~(is_true | failed)]
        places.append(rest)
        values.append(_asked(nodes[-1], evaluation, rest)[0])
        return _scattered(len(evaluation), places, values)

    return node


def _coalesce(call: Call, nodes: Sequence[Node], _: object) -> Callable[[Evaluation], pa.Array]:
    def node(evaluation: Evaluation) -> pa.Array:
        rest, places, values = np.arange(len(evaluation)), list[Rows](), list[pa.Array]()
        for choice in nodes:
            chosen, failed = _asked(choice, evaluation, rest)
            valid = np.asarray(chosen.is_valid())
            places.append(rest[valid])
            values.append(chosen.filter(pa.array(valid)))
            rest = rest[~(valid | failed)]
        return _scattered(len(evaluation), places, values)

    return node


def _asked(node: Node, evaluation: Evaluation, rows: Rows) -> tuple[pa.Array, Any]:
    """The values of a node for some rows, and bool[k]: for which of them it has failed."""
    if isinstance(node, pa.Scalar):
        return constant_array(node, rows.size), np.zeros(rows.size, np.bool_)
    part = evaluation.of(rows)
    values = part.without_failed(node(part))
    evaluation.adopt(part, rows)
    return values, part.failed()


def _scattered(count: int, places: Sequence[Rows], values: Sequence[pa.Array]) -> pa.Array:
    """The values at their places of ``count``, NULL elsewhere."""
    where = np.concatenate(places)
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
            parts: list[tuple[Evaluation, Rows]] = []
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
    """The kernel applied to whole columns; if a row fails, the lazy node."""

    def node(evaluation: Evaluation) -> pa.Array:
        trial = evaluation.trial()
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
