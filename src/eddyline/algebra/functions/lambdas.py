"""Functions that take a function over the elements of a list or the entries of a map:
``transform(xs, x -> x + n)``.

The call has the list, the body and, as a constant, the number of the first variable of the body;
its variables are :class:`ElementRef`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr
from eddyline.algebra.functions.coercion import cast, common_type, kind, literal
from eddyline.algebra.functions.registry import FUNCTIONS, define, resolve
from eddyline.errors import SqlError

_FAMILY: Final = "Structures, lists and maps"
_BOOL, _INT = pa.bool_(), pa.int32()


@dataclass(frozen=True, slots=True)
class Lambda(Expr):
    """``(x, y) -> body`` until the types of its variables are known.

    Attributes:
        names: of its variables.
        bind: the body and the number of the first variable, by the types of the variables.
    """

    names: tuple[str, ...]
    bind: Callable[[tuple[pa.DataType, ...]], tuple[Expr, int]]


#: The body of a function, and the number of its first variable as a constant.
_Body = tuple[Expr, Expr]


def _body(arg: Expr, *types: pa.DataType, least: int = 0) -> _Body | None:
    """The body of a function of variables of these types, of which at least ``least`` must be given
    (0: all); None if the argument is no such function.
    """
    if not isinstance(arg, Lambda) or not (least or len(types)) <= len(arg.names) <= len(types):
        return None
    body, first = arg.bind(types[: len(arg.names)])
    return body, literal(first, _INT)


def _condition(found: _Body | None) -> _Body | None:
    """The body as a condition."""
    if found is None or kind(found[0].type) not in ("bool", "null"):
        return None
    return cast(found[0], _BOOL), found[1]


def _known(found: _Body) -> _Body:
    if pt.is_null(found[0].type):
        raise SqlError("the type of the elements is not known: CAST the NULL")
    return found


def _over_list(args: tuple[Expr, ...]) -> _Body | None:
    """The body over an element and, if it is wanted, its position from 0."""
    if len(args) != 2 or not pt.is_list(args[0].type):
        return None
    return _body(args[1], args[0].type.value_type, _INT, least=1)


@define(
    _FAMILY,
    "transform",
    ["transform(list, x -> value)", "transform(list, (x, i) -> value)"],
    "The list of the values that are computed of the elements, and of their positions from 0.",
)
def _transform(args: tuple[Expr, ...]) -> Expr | None:
    found = _over_list(args)
    if found is None:
        return None
    body, first = _known(found)
    return Call(pa.list_(body.type), "transform", (args[0], body, first))


@define(
    _FAMILY,
    "filter",
    ["filter(list, x -> condition)", "filter(list, (x, i) -> condition)"],
    "The list of the elements for which the condition is true.",
)
def _filter(args: tuple[Expr, ...]) -> Expr | None:
    found = _condition(_over_list(args))
    return None if found is None else Call(args[0].type, "filter", (args[0], *found))


def _quantified(name: str, help_: str) -> None:
    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if len(args) != 2 or not pt.is_list(args[0].type):
            return None
        found = _condition(_body(args[1], args[0].type.value_type))
        return None if found is None else Call(_BOOL, name, (args[0], *found))

    define(_FAMILY, name, f"{name}(list, x -> condition)", help_, rule)


_quantified("exists", "Whether the condition is true of an element; else NULL if it is of one.")
_quantified("forall", "Whether the condition is true of all elements; NULL if of some it is NULL.")


@define(
    _FAMILY,
    "aggregate reduce",
    [
        "aggregate(list, start, (sum, x) -> value)",
        "aggregate(list, start, (sum, x) -> value, sum -> value)",
    ],
    "The value that begins with start and is computed anew with each element; in the end by the "
    "last function.",
)
def _aggregate(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) not in (3, 4) or not pt.is_list(args[0].type):
        return None
    list_, start, step = args[:3]
    element = list_.type.value_type
    found = _body(step, start.type, element)
    if found is None:
        return None
    type_ = common_type(start.type, found[0].type)
    if type_ != start.type:
        found = _body(step, type_, element)
    assert found is not None, "it has been bound before"
    folded: Expr = Call(
        type_, "aggregate", (list_, cast(start, type_), cast(found[0], type_), found[1])
    )
    if len(args) == 3:
        return folded
    last = _body(args[3], type_)
    return last and Call(last[0].type, "with_value", (folded, *last))


@define(
    _FAMILY,
    "zip_with",
    "zip_with(list, list, (x, y) -> value)",
    "The list of the values of elements at the same places; NULL stands for those of the shorter "
    "list.",
)
def _zip_with(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 3 or not all(pt.is_list(a.type) for a in args[:2]):
        return None
    found = _body(args[2], *(a.type.value_type for a in args[:2]))
    if found is None:
        return None
    body, first = _known(found)
    return Call(pa.list_(body.type), "zip_with", (*args[:2], body, first))


@define(
    _FAMILY,
    "map_filter",
    "map_filter(map, (key, value) -> condition)",
    "The map of the entries for which the condition is true.",
)
def _map_filter(args: tuple[Expr, ...]) -> Expr | None:
    found = _condition(_over_map(args))
    return None if found is None else Call(args[0].type, "map_filter", (args[0], *found))


@define(
    _FAMILY,
    "transform_values",
    "transform_values(map, (key, value) -> value)",
    "The map with other values.",
)
def _transform_values(args: tuple[Expr, ...]) -> Expr | None:
    found = _over_map(args)
    if found is None:
        return None
    body, first = _known(found)
    type_ = pa.map_(args[0].type.key_type, body.type)
    return Call(type_, "transform_values", (args[0], body, first))


@define(
    _FAMILY,
    "transform_keys",
    "transform_keys(map, (key, value) -> key)",
    "The map with other keys, which differ and are not NULL.",
)
def _transform_keys(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or not pt.is_map(args[0].type):
        return None
    keys, values = (resolve(f, args[:1]) for f in ("map_keys", "map_values"))
    changed = FUNCTIONS["zip_with"].rule((keys, values, args[1]))
    return changed and resolve("map_from_arrays", (changed, values))


def _over_map(args: tuple[Expr, ...]) -> _Body | None:
    if len(args) != 2 or not pt.is_map(args[0].type):
        return None
    return _body(args[1], args[0].type.key_type, args[0].type.item_type)


#: The functions that take one.
LAMBDAS: Final = frozenset(
    (
        *("transform", "filter", "exists", "forall", "aggregate", "reduce", "zip_with"),
        *("map_filter", "transform_values", "transform_keys"),
    )
)
