"""Functions of lists: order, extremes, positions and parts."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import implicit, kind
from eddyline.algebra.functions.registry import define
from eddyline.errors import SqlError

_FAMILY: Final = "Structures, lists and maps"
_BIGINT, _BOOL = pa.int64(), pa.bool_()


def _is_list(expr: Expr) -> bool:
    """Whether it is a list of values that have an order."""
    return pt.is_list(expr.type) and not pt.is_nested(expr.type.value_type)


@define(
    _FAMILY,
    "sort_array",
    ["sort_array(list)", "sort_array(list, ascending)"],
    "The list in ascending order, NULLs first, or with FALSE, a constant, in descending order.",
)
def _sort_array(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) not in (1, 2) or not _is_list(args[0]):
        return None
    ascending = args[1] if len(args) == 2 else Literal(_BOOL, True)
    if not pt.is_boolean(ascending.type):
        return None
    if not isinstance(ascending, Literal) or ascending.value is None:
        raise SqlError("the second argument of sort_array is TRUE or FALSE")
    return Call(args[0].type, "sort_array", (args[0], ascending, Literal(_BOOL, ascending.value)))


@define(_FAMILY, "array_sort", "array_sort(list)", "The list in ascending order, NULLs last.")
def _array_sort(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or not _is_list(args[0]):
        return None
    order = Literal(_BOOL, True), Literal(_BOOL, False)
    return Call(args[0].type, "sort_array", (args[0], *order))


def _extreme(name: str, help_: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if len(args) != 1 or not _is_list(args[0]):
            return None
        return Call(args[0].type.value_type, name, args)

    define(_FAMILY, name, f"{name}(list)", help_, rule)


_extreme("array_max", "The largest element that is not NULL; NULL if there is none.")
_extreme("array_min", "The smallest element that is not NULL; NULL if there is none.")


@define(
    _FAMILY,
    "array_position",
    "array_position(list, value)",
    "The position of the first element that is equal, from 1, a BIGINT; 0 if there is none.",
)
def _array_position(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or not _is_list(args[0]):
        return None
    element = implicit(args[1], args[0].type.value_type)
    return element and Call(_BIGINT, "array_position", (args[0], element))


@define(
    _FAMILY,
    "slice",
    "slice(list, start, length)",
    "A part of the list, from a position from 1, or from the end with a negative one; the position "
    "and the length are constants.",
)
def _slice(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 3 or not pt.is_list(args[0].type):
        return None
    if any(kind(a.type) != "integer" for a in args[1:]):
        return None
    for bound, name in zip(args[1:], ("start", "length"), strict=True):
        if not isinstance(bound, Literal) or bound.value is None:
            raise SqlError(f"the {name} of slice is a constant, not {bound}")
        if bound.value < 0 if name == "length" else bound.value == 0:
            raise SqlError(f"the {name} of slice cannot be {bound}")
    return Call(args[0].type, "slice", args)
