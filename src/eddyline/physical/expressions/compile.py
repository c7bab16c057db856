"""Compiles bound expressions to closures over columns.

Every node becomes one call of an Arrow kernel on whole columns; constants stay scalars as long as
possible, and constant sub-expressions are computed once. Nodes that cannot fail are computed for
all rows, also in the branches of a CASE; nodes that can fail, only for the rows that need them
(``lazy.py``). Failed rows are NULL, and are reported once per evaluation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import methodcaller

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, ColumnRef, ElementRef, Expr, Literal, walk
from eddyline.algebra.functions.fallibility import call_can_fail, can_fail
from eddyline.algebra.functions.user_defined import UserCall
from eddyline.physical.expressions.comparison import COMPARISON_KERNELS
from eddyline.physical.expressions.data import Datum, constant_array
from eddyline.physical.expressions.dates import DATE_KERNELS
from eddyline.physical.expressions.digests import DIGEST_KERNELS
from eddyline.physical.expressions.elementwise import ELEMENTWISE, element_column
from eddyline.physical.expressions.encodings import ENCODING_KERNELS
from eddyline.physical.expressions.evaluation import Columns, Evaluation, part_of
from eddyline.physical.expressions.fallible import FALLIBLE_KERNELS, TOLERANT_KERNELS
from eddyline.physical.expressions.json_reading import JSON_READING_KERNELS
from eddyline.physical.expressions.json_values import JSON_KERNELS
from eddyline.physical.expressions.json_writing import JSON_WRITING_KERNELS
from eddyline.physical.expressions.kernel import Kernel, Maker
from eddyline.physical.expressions.lazy import LAZY, Node, optimistic
from eddyline.physical.expressions.list_functions import LIST_KERNELS
from eddyline.physical.expressions.logic import LOGIC_KERNELS
from eddyline.physical.expressions.maps import MAP_KERNELS
from eddyline.physical.expressions.months import MONTH_KERNELS
from eddyline.physical.expressions.nested import NESTED_KERNELS
from eddyline.physical.expressions.numeric import NUMERIC_KERNELS
from eddyline.physical.expressions.sort_keys import SORT_KEY_KERNELS
from eddyline.physical.expressions.text import TEXT_KERNELS
from eddyline.physical.expressions.texts import TEXTS_KERNELS
from eddyline.physical.expressions.user_defined import make_user_kernel
from eddyline.physical.expressions.zones import ZONE_KERNELS
from eddyline.runtime.batch import Part
from eddyline.runtime.failures import Failure, report

KERNELS: dict[str, Maker] = {
    **COMPARISON_KERNELS,
    **LOGIC_KERNELS,
    **NUMERIC_KERNELS,
    **TEXT_KERNELS,
    **DATE_KERNELS,
    **MONTH_KERNELS,
    **TOLERANT_KERNELS,
    **NESTED_KERNELS,
    **MAP_KERNELS,
    **SORT_KEY_KERNELS,
    **JSON_KERNELS,
    **JSON_READING_KERNELS,
    **JSON_WRITING_KERNELS,
    **ZONE_KERNELS,
    **DIGEST_KERNELS,
    **ENCODING_KERNELS,
    **LIST_KERNELS,
    **TEXTS_KERNELS,
}


def compile_expr(expr: Expr) -> Callable[[Columns], pa.Array]:
    """The expression as a function of columns.

    Returns:
        A function whose result is a ``pa.Array`` of exactly the expression's type, one value per
        row. Rows for which the expression has no value are NULL, and are reported to
        :mod:`eddyline.runtime.failures`. It is stateless and thread-safe.
    """
    node = _compile(expr)
    if isinstance(node, pa.Scalar):
        return lambda columns: constant_array(node, len(columns))
    if not can_fail(expr):
        plain: Callable[[Columns], pa.Array] = node
        return plain
    columns_read = dict.fromkeys(e for e in walk(expr) if isinstance(e, ColumnRef))
    reads = tuple((c.name, c.index) for c in columns_read)

    def evaluate(columns: Columns) -> pa.Array:
        evaluation = Evaluation(columns)
        values = node(evaluation)
        if not evaluation.has_failed:
            return values
        report(Failure(columns, *evaluation.failures(), reads))
        return evaluation.without_failed(values)

    return evaluate


def _compile(expr: Expr) -> Node:
    """The node of an expression; constant sub-expressions are computed here."""
    match expr:
        case Literal():
            return pa.scalar(expr.value, expr.type)
        case ColumnRef():
            return methodcaller("column", expr.index)
        case ElementRef():
            variable = element_column(expr.number)
            return lambda columns: columns.column(variable)
        case Call() if expr.function in ELEMENTWISE:
            return ELEMENTWISE[expr.function](expr, [_compile(a) for a in expr.args])
        case Call(function="field") if (part := _part(expr)) is not None:
            column, names = part
            return lambda columns: part_of(columns, column, names)
        case Call(function="in", arguments=(needle, *choices)) if any(map(can_fail, choices)):
            equal = [Call(expr.type, "=", (needle, c)) for c in choices]
            return _compile(Call(expr.type, "or", tuple(equal)))
        case Call():
            nodes = [_compile(a) for a in expr.args]
            fallible = [can_fail(a) for a in expr.args]
            if call_can_fail(expr):
                return _fallible(expr, nodes)
            kernel = _typed(KERNELS[expr.function](expr), expr.type)
            constants = [n for n in nodes if isinstance(n, pa.Scalar)]
            if len(constants) == len(nodes):
                return kernel(*(constant_array(c, 1) for c in constants))[0]
            if expr.function in LAZY and any(fallible):
                lazy = LAZY[expr.function](expr, nodes, fallible)
                is_own = any(isinstance(e, UserCall) for e in walk(expr))
                return lazy if is_own else optimistic(kernel, nodes, lazy)
            return _apply(kernel, nodes)
    raise TypeError(f"not an expression: {expr!r}")


def _part(expr: Expr) -> Part | None:
    """The column and the names, if an expression is a field of structures of a column."""
    names: list[str] = []
    while isinstance(expr, Call) and expr.function == "field":
        structure, name = expr.args
        if not pt.is_struct(structure.type):
            return None
        assert isinstance(name, Literal), "the binder makes it"
        names.append(name.value)
        expr = structure
    return (expr.index, tuple(reversed(names))) if isinstance(expr, ColumnRef) else None


def _fallible(call: Call, nodes: list[Node]) -> Node:
    """The node of a call that can fail; its kernel also takes an Evaluation."""
    if isinstance(call, UserCall):
        kernel = make_user_kernel(call)
    else:
        kernel = FALLIBLE_KERNELS[call.function](call)
    constants = [n for n in nodes if isinstance(n, pa.Scalar)]
    if len(constants) == len(nodes):
        once = Evaluation(_OneRow())
        value = kernel(once, *(constant_array(c, 1) for c in constants))[0]
        return _failing(once.failures()[1][0].as_py(), call.type) if once.has_failed else value
    functions = [_constantly(n) if isinstance(n, pa.Scalar) else n for n in nodes]
    return lambda evaluation: kernel(evaluation, *[f(evaluation) for f in functions])


def _failing(reason: str, type_: pa.DataType) -> Node:
    """The node of a constant expression that fails."""

    def node(evaluation: Evaluation) -> pa.Array:
        evaluation.fail_all(reason)
        return pa.nulls(len(evaluation), type_)

    return node


@dataclass(frozen=True)
class _OneRow:
    """One row without columns."""

    def column(self, index: int) -> pa.Array:
        raise AssertionError("a constant reads no columns")

    def __len__(self) -> int:
        return 1


def _typed(kernel: Kernel, type_: pa.DataType) -> Kernel:
    """The kernel with a cast of its result where Arrow's result type is not the declared one."""

    def typed(*data: Datum) -> pa.Array:
        result = kernel(*data)
        return result if result.type == type_ else result.cast(type_)

    return typed


def _apply(kernel: Kernel, nodes: list[Node]) -> Callable[[Columns], Datum]:
    """The kernel applied to the values of the nodes; one and two arguments are the common cases."""
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
