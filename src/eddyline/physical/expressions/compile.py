"""From a bound expression to a closure over columns.

Every node becomes one call of an Arrow kernel on whole columns; constants stay scalars until the
end and constant sub-expressions are computed once. No kernel raises on data, so the branches of
CASE can be computed for all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, ColumnRef, Expr, Literal
from eddyline.algebra.functions.user_defined import UserCall
from eddyline.physical.expressions.comparison import COMPARISON_KERNELS
from eddyline.physical.expressions.dates import DATE_KERNELS
from eddyline.physical.expressions.kernel import Datum, Kernel, Maker, constant_array
from eddyline.physical.expressions.logic import LOGIC_KERNELS
from eddyline.physical.expressions.numeric import NUMERIC_KERNELS
from eddyline.physical.expressions.text import TEXT_KERNELS
from eddyline.physical.expressions.user_defined import make_user_kernel


class Columns(Protocol):
    """Rows as columns: what an expression is evaluated over."""

    def column(self, index: int) -> pa.Array:
        """Column ``index``, of its declared type and as long as the rows are many."""

    def __len__(self) -> int:
        """Number of rows."""


KERNELS: dict[str, Maker] = {
    **COMPARISON_KERNELS,
    **LOGIC_KERNELS,
    **NUMERIC_KERNELS,
    **TEXT_KERNELS,
    **DATE_KERNELS,
}

#: A ``pa.Scalar`` for what does not depend on the columns, otherwise a function of them.
_Node = Any


def compile_expr(expr: Expr) -> Callable[[Columns], pa.Array]:
    """The expression as a function of columns.

    Returns:
        A function whose result is a ``pa.Array`` of exactly the expression's type, one value per
        row. It keeps no state and may be called from several threads.
    """
    node = _compile(expr)
    if isinstance(node, pa.Scalar):
        return lambda columns: constant_array(node, len(columns))
    evaluate: Callable[[Columns], pa.Array] = node
    return evaluate


def compile_predicate(expr: Expr) -> Callable[[Columns], npt.NDArray[np.bool_]]:
    """The condition as a function of columns: true where it is TRUE, false where FALSE or NULL."""
    assert pt.is_boolean(expr.type), f"not a condition: {expr}"
    evaluate = compile_expr(expr)

    def predicate(columns: Columns) -> npt.NDArray[np.bool_]:
        answer = evaluate(columns)
        if answer.null_count:
            answer = answer.fill_null(False)
        result: npt.NDArray[np.bool_] = answer.to_numpy(zero_copy_only=False)
        return result

    return predicate


def _compile(expr: Expr) -> _Node:
    """The node of an expression; constant sub-expressions are computed here, once."""
    match expr:
        case Literal():
            return pa.scalar(expr.value, expr.type)
        case ColumnRef():
            index = expr.index
            return lambda columns: columns.column(index)
        case Call():
            nodes = [_compile(a) for a in expr.args]
            kernel = _typed(_kernel(expr), expr.type)
            constants = [n for n in nodes if isinstance(n, pa.Scalar)]
            if len(constants) == len(nodes):
                return kernel(*(constant_array(c, 1) for c in constants))[0]
            return _apply(kernel, nodes)
    raise TypeError(f"not an expression: {expr!r}")


def _kernel(call: Call) -> Kernel:
    return make_user_kernel(call) if isinstance(call, UserCall) else KERNELS[call.function](call)


def _typed(kernel: Kernel, type_: pa.DataType) -> Kernel:
    """The kernel with its result cast, where Arrow's result type is not the declared one."""

    def typed(*data: Datum) -> pa.Array:
        result = kernel(*data)
        return result if result.type == type_ else result.cast(type_)

    return typed


def _apply(kernel: Kernel, nodes: list[Any]) -> Callable[[Columns], Datum]:
    """The kernel applied to what the nodes give; one and two arguments are the common cases."""
    functions = [_constantly(n) if isinstance(n, pa.Scalar) else n for n in nodes]
    if len(functions) == 1:
        (only,) = functions
        return lambda columns: kernel(only(columns))
    if len(functions) == 2:
        left, right = functions
        return lambda columns: kernel(left(columns), right(columns))
    return lambda columns: kernel(*[f(columns) for f in functions])


def _constantly(scalar: pa.Scalar) -> Callable[[Columns], pa.Scalar]:
    return lambda _: scalar
