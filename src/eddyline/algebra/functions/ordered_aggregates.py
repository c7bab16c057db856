"""Aggregate functions of all values of a group in order: percentiles, the mode, lists, texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Aggregate, Call, ElementRef, Expr, Literal
from eddyline.algebra.functions.aggregate_arguments import NARROW_DIGITS, double
from eddyline.algebra.functions.aggregate_requests import Request, as_call, compose
from eddyline.algebra.functions.aggregates import condition_of
from eddyline.algebra.functions.coercion import cast, implicit, is_number, kind, literal
from eddyline.algebra.functions.nested import field
from eddyline.algebra.functions.sort_keys import (
    all_values,
    last_value,
    sort_key,
    where_known,
)
from eddyline.algebra.orderings import Ordering
from eddyline.errors import SqlError
from eddyline.types import sql_type

_DOUBLE: Final = pa.float64()
#: What product folds: the product so far, and a value with how often it is there.
_ENTRY: Final = pa.struct([("key", _DOUBLE), ("value", pa.int64())])
_FOLDED: Final = ((_DOUBLE, "product"), (_ENTRY, "entry"))
#: The number of the first of these variables, which is in no function over elements.
_FIRST: Final = 0
_MEASURED: Final = ("integer", "float", "decimal", "date", "timestamp", "duration")


def _of_values(
    request: Request, function: str, value: Expr, type_: pa.DataType, *parameters: Any
) -> Expr:
    where = None if request.where is None else condition_of(request.where)
    return as_call(Aggregate(function, value, type_, request.distinct, where, parameters))


def _fractions(request: Request, given: Expr) -> tuple[tuple[float, ...], bool]:
    """The fractions of the rows, and whether they are a list."""
    listed = isinstance(given, Call) and given.function == "array"
    values = given.args if listed else (given,)
    if not all(isinstance(v, Literal) and _is_fraction(v) for v in values):
        raise SqlError(
            f"{request.name} takes a constant from 0 to 1, or an array(...) of them, not {given}"
        )
    return tuple(float(v.value) for v in values if isinstance(v, Literal)), listed


def _is_fraction(constant: Literal) -> bool:
    return is_number(constant.type) and constant.value is not None and 0 <= constant.value <= 1


def _ordering(request: Request, form: str) -> Ordering:
    """The one value of WITHIN GROUP (ORDER BY ...)."""
    if not request.within or len(request.order) != 1:
        raise SqlError(f"{request.name} needs one value to order by: {form}")
    return request.order[0]


def _interpolated(request: Request, value: Expr, given: Expr, descending: bool = False) -> Expr:
    fractions, listed = _fractions(request, given)
    type_ = pa.list_(pa.float64()) if listed else pa.float64()
    value = double(request.name, value)
    return _of_values(request, "percentile_between", value, type_, *fractions, descending)


def _picked(
    request: Request, function: str, value: Expr, *parameters: Any, listed: bool = False
) -> Expr:
    """Values of a group, of the type of the values."""
    if kind(value.type) in ("nested", "null", "other"):
        raise SqlError(f"{request.name} needs ordered values, not {sql_type(value.type)}")
    wide = pt.is_decimal(value.type) and value.type.precision > NARROW_DIGITS
    orderings = [Ordering(value)]
    compared = where_known([value], sort_key(request.name, *orderings)) if wide else value
    type_ = pa.list_(compared.type) if listed else compared.type
    found = _of_values(request, function, compared, type_, *parameters)
    if not wide:
        return found
    return all_values(found, orderings) if listed else last_value(found, orderings)


@compose(
    "percentile",
    ["percentile(value, fraction)", "percentile(value, array(fraction, ...))"],
    "The number that a fraction of the values does not exceed, between two values if need be, a "
    "DOUBLE; of several fractions a list. Exact.",
    (2, 2),
)
def _percentile(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    value, given = arguments
    return _interpolated(request, value, given)


@compose("median", "median(value)", "The number in the middle, `percentile(value, 0.5)`.", (1, 1))
def _median(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return _interpolated(request, arguments[0], literal(0.5, pa.float64()))


_CONT: Final = "percentile_cont(fraction) WITHIN GROUP (ORDER BY value [DESC])"
_DISC: Final = "percentile_disc(fraction) WITHIN GROUP (ORDER BY value [DESC])"


@compose("percentile_cont", _CONT, "The same as `percentile`.", (1, 1), order=True)
def _percentile_cont(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    by = _ordering(request, _CONT)
    return _interpolated(request, by.value, arguments[0], by.descending)


@compose(
    "percentile_disc",
    _DISC,
    "The first value that a fraction of the values does not exceed, a DOUBLE.",
    (1, 1),
    order=True,
)
def _percentile_disc(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    by = _ordering(request, _DISC)
    fractions, listed = _fractions(request, arguments[0])
    value = double(request.name, by.value)
    return _picked(request, "percentile_value", value, *fractions, by.descending, listed=listed)


@compose(
    "approx_percentile percentile_approx",
    ["approx_percentile(value, fraction)", "approx_percentile(value, fraction, accuracy)"],
    "The first value that a fraction of the values does not exceed, of their type; of several "
    "fractions a list. Exact here.",
    (2, 3),
)
def _approx_percentile(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    value, given, *accuracy = arguments
    if accuracy and not isinstance(accuracy[0], Literal):
        raise SqlError(f"{request.name} takes a constant as its accuracy, not {accuracy[0]}")
    if kind(value.type) not in _MEASURED:
        raise SqlError(
            f"{request.name} needs numbers, dates, times or intervals, not {sql_type(value.type)}"
        )
    fractions, listed = _fractions(request, given)
    return _picked(request, "percentile_value", value, *fractions, False, listed=listed)


_MODE: Final = ("mode(value)", "mode() WITHIN GROUP (ORDER BY value [DESC])")


@compose(
    "mode",
    _MODE,
    "The most frequent value; of several the smallest, or the first in the order.",
    (0, 2),
    order=True,
)
def _mode(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    if not arguments:
        by = _ordering(request, _MODE[1])
        return _picked(request, "most_frequent", by.value, by.descending)
    value, *flag = arguments
    if request.order or (
        flag and not (isinstance(flag[0], Literal) and pt.is_boolean(flag[0].type))
    ):
        raise SqlError(f"{request.name} is written {' or '.join(_MODE)}")
    return _picked(request, "most_frequent", value, False)


def nth_in_order(
    name: str, value: Expr, number: int, order: tuple[Ordering, ...], *, back: bool, ignore: bool
) -> Expr:
    """The value of the row of a number, from 1 on, in an order, of equal ones in that of the
    values; NULL if there are fewer.

    Args:
        name: of the function, for errors. back: whether rows are counted from the last one on.
        ignore: whether only rows with a value count.
    """
    orderings = (*order, Ordering(value))
    key = sort_key(name, *orderings)
    if ignore:
        key = where_known([value], key)
    aggregate = Aggregate("nth_in_order", key, key.type, parameters=(number, back))
    return last_value(as_call(aggregate), orderings)


@compose(
    "histogram",
    "histogram(value)",
    "The number of rows of each value that is not NULL, a map as in Trino and DuckDB; NULL without "
    "values.",
    (1, 1),
)
def _histogram(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    value = arguments[0]
    wide = pt.is_decimal(value.type) and value.type.precision > NARROW_DIGITS
    if wide or kind(value.type) in ("nested", "null", "other"):
        raise SqlError(f"{request.name} takes no {sql_type(value.type)}: cast it")
    return _of_values(request, "value_counts", value, pa.map_(value.type, pa.int64()))


@compose(
    "product",
    "product(number)",
    "The product of the values, a DOUBLE, as in DuckDB; NULL without values. A change costs the "
    "number of distinct values.",
    (1, 1),
    distinct=True,
)
def _product(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    value = implicit(arguments[0], _DOUBLE)
    if value is None:
        raise SqlError(f"{request.name} needs numbers, not {sql_type(arguments[0].type)}")
    every = replace(request, distinct=False)
    counts = _of_values(every, "value_counts", value, pa.map_(_DOUBLE, pa.int64()))
    product, entry = (ElementRef(t, _FIRST + i, n) for i, (t, n) in enumerate(_FOLDED))
    one = literal(1.0, _DOUBLE)
    times = one if request.distinct else cast(field(entry, "value"), _DOUBLE)
    factor = Call(_DOUBLE, "power", (field(entry, "key"), times))
    body = Call(_DOUBLE, "*", (product, factor))
    entries = Call(pa.list_(_ENTRY), "map_entries", (counts,))
    return Call(_DOUBLE, "aggregate", (entries, one, body, literal(_FIRST, pa.int32())))


def _listed(request: Request, value: Expr, *, empty: bool) -> Expr:
    """The values in order as a list; without values empty, or NULL."""
    order = request.order
    if request.distinct:
        if order and [o.value for o in order] != [value]:
            raise SqlError(f"ORDER BY in {request.name}(DISTINCT value) must be of the value")
    elif not order and request.time is not None:
        order = (Ordering(request.time),)
    orderings = (*order, Ordering(value))
    key = where_known([value], sort_key(request.name, *orderings))
    keys = _of_values(request, "sorted_list", key, pa.list_(pa.binary()))
    return all_values(keys, orderings, empty=empty)


_IN_ORDER: Final = "in the order of the event time if there is one, else of the values"


@compose(
    "array_agg collect_list",
    ["array_agg([DISTINCT] value)", "array_agg(value ORDER BY x, ...)"],
    f"The list of the values that are not NULL, {_IN_ORDER}.",
    (1, 1),
    distinct=True,
    order=True,
    nulls=True,
)
def _array_agg(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return _listed(request, arguments[0], empty=True)


@compose(
    "collect_set",
    "collect_set(value)",
    "The sorted list of the distinct values that are not NULL.",
    (1, 1),
    distinct=True,
)
def _collect_set(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    where = None if request.where is None else condition_of(request.where)
    return _listed(Request(request.name, arguments, True, where), arguments[0], empty=True)


@compose(
    "string_agg listagg",
    [
        "string_agg([DISTINCT] text)",
        "string_agg([DISTINCT] text, separator)",
        "string_agg(text, separator) WITHIN GROUP (ORDER BY x, ...)",
    ],
    f"The texts that are not NULL with a constant between them, {_IN_ORDER}; NULL if there are "
    "none.",
    (1, 2),
    distinct=True,
    order=True,
)
def _string_agg(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    text, *between = arguments
    if kind(text.type) != "string":
        raise SqlError(f"{request.name} needs texts, not {sql_type(text.type)}; CAST the argument")
    separator = between[0] if between else literal("", pa.string())
    if not (isinstance(separator, Literal) and pt.is_string(separator.type)):
        raise SqlError(f"{request.name} takes a constant text as separator, not {separator}")
    texts = _listed(request, text, empty=False)
    return Call(pa.string(), "array_join", (texts, separator))
