"""Functions of lists: order, extremes, positions and parts."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import kind, unify, with_element
from eddyline.algebra.functions.registry import define
from eddyline.errors import SqlError

_FAMILY: Final = "Structures, lists and maps"
_MOST_REPEATED: Final = 10_000
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
    found = with_element(args)
    return (
        None if found is None or not _is_list(found[0]) else Call(_BIGINT, "array_position", found)
    )


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


@define(
    _FAMILY,
    "array_remove",
    "array_remove(list, value)",
    "The list without the elements that are equal to the value; NULL if the value is.",
)
def _array_remove(args: tuple[Expr, ...]) -> Expr | None:
    found = with_element(args)
    return (
        None
        if found is None or not _is_list(found[0])
        else Call(found[0].type, "array_remove", found)
    )


def _longer(name: str, help_: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        found = with_element(args)
        return None if found is None else Call(found[0].type, name, found)

    define(_FAMILY, name, f"{name}(list, value)", help_, rule)


_longer("array_append", "The list with the value behind it, which may be NULL.")
_longer("array_prepend", "The list with the value, which may be NULL, before it.")


@define(
    _FAMILY,
    "array_repeat",
    "array_repeat(value, count)",
    "A list of the value repeated; the count is a constant up to 10,000; empty if it is negative.",
)
def _array_repeat(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or kind(args[1].type) != "integer" or pt.is_null(args[0].type):
        return None
    count = args[1]
    if not isinstance(count, Literal) or count.value is None:
        raise SqlError(f"the count of array_repeat is a constant, not {count}")
    if count.value > _MOST_REPEATED:
        raise SqlError(f"the count of array_repeat is at most {_MOST_REPEATED:,}")
    return Call(pa.list_(args[0].type), "array_repeat", args)


def _part(name: str, help_: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        return Call(args[0].type, name, args) if len(args) == 1 and _is_list(args[0]) else None

    define(_FAMILY, name, f"{name}(list)", help_, rule)


_part("array_distinct", "The list without repetitions, each element at its first place.")
_part("array_compact", "The list without the elements that are NULL.")


@define(
    _FAMILY,
    "flatten",
    "flatten(list of lists)",
    "The elements of the lists in one list; NULL if one of them is.",
)
def _flatten(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or not pt.is_list(args[0].type) or not pt.is_list(args[0].type.value_type):
        return None
    return Call(args[0].type.value_type, "flatten", args)


def _of_two(name: str, help_: str, type_: pa.DataType | None = None) -> None:
    """A function of two lists of one type; its type, by default theirs."""

    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if len(args) != 2 or not all(_is_list(a) for a in args):
            return None
        left, right = unify(args)
        return Call(type_ or left.type, name, (left, right))

    define(_FAMILY, name, f"{name}(list, list)", help_, rule)


_of_two("array_union", "The elements of both lists without repetitions; NULLs are one value.")
_of_two("array_intersect", "The elements that both lists have, without repetitions.")
_of_two("array_except", "The elements of the first list that the second has not, once each.")
_of_two(
    "arrays_overlap",
    "Whether the lists have an element in common that is not NULL; NULL if they have not, one of "
    "them has a NULL, and none is empty.",
    _BOOL,
)
