"""Parts of lists, maps, structures and JSON, and functions over their elements."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import ElementRef, Expr
from eddyline.algebra.functions.lambdas import LAMBDAS, Lambda
from eddyline.sql.binder.expression_binder import ExpressionBinder
from eddyline.sql.binder.intervals import interval_of
from eddyline.sql.datatypes import type_named
from eddyline.sql.durations import parse_interval


def _field(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    value = scalars.bind(node.this)
    if not isinstance(node.expression, exp.Identifier):
        raise scalars.refusal(node)
    return functions.nested.field(value, node.expression.name)


def _element(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    if len(node.expressions) != 1:
        raise scalars.context.error(
            node, "write one position or key in [...]; a map is map(key, value)"
        )
    matched = node.this.unnest()
    if isinstance(matched, exp.Anonymous) and matched.name.lower() == "regexp_match":
        arguments = [*matched.expressions, *node.expressions]
        return functions.resolve("regexp_match", scalars.bind_all(arguments))
    return functions.resolve("element", scalars.bind_all([node.this, *node.expressions]))


def _json(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    sign = "->>" if isinstance(node, exp.JSONExtractScalar) else "->"
    key = node.expression
    if not isinstance(key, (exp.Literal, exp.Neg)):
        message = f"{sign} takes a constant name or position; put a longer expression behind"
        raise scalars.context.error(key, f"{message} ({node.this.sql('spark')} {sign} 'name')")
    return functions.resolve(sign, scalars.bind_all([node.this, key]))


def _array(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    return functions.resolve("array", scalars.bind_all(node.expressions))


def _struct(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    """``struct(a, b + 1 AS c)``: fields with the names of columns, or col1, col2, ...; of
    ``struct(*)`` all columns.
    """
    arguments: list[Expr] = []
    for number, part in enumerate(node.expressions, 1):
        if isinstance(part, exp.Star):
            for name, column in scalars.star():
                arguments += [functions.literal(name, pa.string()), column]
            continue
        name = part.alias if isinstance(part, exp.Alias) else part.name
        named = isinstance(part, (exp.Alias, exp.Column, exp.Dot, exp.Identifier))
        name = (name or part.expression.name) if named else f"col{number}"
        arguments += [functions.literal(name, pa.string()), scalars.bind(part.unalias())]
    return functions.resolve("named_struct", tuple(arguments))


def _months_apart(scalars: ExpressionBinder, node: exp.Expr) -> Expr | None:
    """``sequence(a, b, INTERVAL '1' MONTH)``; None with another step."""
    length = interval_of(node.expressions[2]) if len(node.expressions) == 3 else None
    if length is None or not length.months:
        return None
    if length.us:
        raise scalars.context.error(node, "the step of sequence is of months or a fixed length")
    first, last = scalars.bind_all(node.expressions[:2])
    return functions.map_functions.sequence_of_months(first, last, length.months)


def _from_json(scalars: ExpressionBinder, node: exp.Expr) -> Expr | None:
    """``from_json(text, 'a INT, b STRING')``; None without a constant type."""
    if len(node.expressions) != 2:
        return None
    text, written = node.expressions
    if not isinstance(written, exp.Literal) or not written.is_string:
        return None
    name = written.name
    is_type = re.match(r"\s*(?:array|map|struct)\s*<", name, re.IGNORECASE)
    try:
        type_ = type_named(name if is_type else f"STRUCT<{name}>")
    except ValueError as e:
        raise scalars.context.error(written, str(e)) from None
    return functions.json_values.from_json(scalars.bind(text), type_)


def _in_bucket(scalars: ExpressionBinder, node: exp.Expr) -> Expr | None:
    """``time_bucket('5 minutes', ts)``; None with an INTERVAL."""
    length = node.expressions[0] if node.expressions else None
    if not isinstance(length, exp.Literal) or not length.is_string:
        return None
    try:
        us = parse_interval(length.name).fixed_us(length.name)
    except ValueError as e:
        raise scalars.context.error(length, str(e)) from None
    interval = functions.literal(timedelta(microseconds=us), pa.duration("us"))
    return functions.resolve(node.name, (interval, *scalars.bind_all(node.expressions[1:])))


def _clock_of_row(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    """``PROCTIME()``: the query's clock when a row comes, which is the event time of the row."""
    if node.expressions:
        raise scalars.context.error(node, "PROCTIME() takes no arguments")
    if scalars.event_time is None:
        message = "PROCTIME() is the event time of the rows of streams, which is not known here"
        raise scalars.context.error(node, f"{message}: select it in a sub-query")
    return scalars.event_time


#: Calls of which more than the arguments' values counts, by lower-case name.
SPECIAL_CALLS: Final[dict[str, Callable[[ExpressionBinder, exp.Expr], Expr | None]]] = {
    "struct": _struct,
    "proctime": _clock_of_row,
    "sequence": _months_apart,
    "from_json": _from_json,
    **dict.fromkeys(("date_bin", "time_bucket"), _in_bucket),
}


# -- functions over elements -------------------------------------------


def _lambda(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    """``(x, y) -> body``, an argument of a function; else the JSON of ``text -> 'name'``."""
    call = node.parent
    if not isinstance(call, exp.Anonymous) or call.name.lower() not in LAMBDAS:
        if len(node.expressions) != 1:
            raise scalars.refusal(node)
        text = exp.column(node.expressions[0].copy())
        text.meta.update(node.expressions[0].meta)
        return _json(scalars, exp.JSONExtract(this=text, expression=node.this))
    names = tuple(e.name.lower() for e in node.expressions)
    if len(set(names)) < len(names):
        raise scalars.context.error(node, "the variables of -> need different names")
    body = _with_variables(node.this.copy(), names)

    def bind(types: tuple[pa.DataType, ...]) -> tuple[Expr, int]:
        saved = scalars.elements
        first = 1 + max((e.number for e in saved.values()), default=-1)
        named = zip(node.expressions, types, strict=True)
        own = {e.name.lower(): ElementRef(t, first + i, e.name) for i, (e, t) in enumerate(named)}
        scalars.elements = {**saved, **own}
        try:
            return scalars.bind(body), first
        finally:
            scalars.elements = saved

    return Lambda(pa.null(), names, bind)


def _with_variables(body: exp.Expr, names: tuple[str, ...]) -> exp.Expr:
    """The body with variables as identifiers, in any case."""

    def change(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column) or part.parts[0].name.lower() not in names:
            return part
        return part.to_dot() if part.table else part.this

    return body.transform(change, copy=False)


def _variable(scalars: ExpressionBinder, node: exp.Expr) -> Expr:
    found = scalars.elements.get(node.name.lower())
    if found is None:
        raise scalars.refusal(node)
    return found


#: By the kind of their syntax.
NESTED_VALUES: Final[dict[type[exp.Expr], Callable[[Any, exp.Expr], Expr]]] = {
    exp.Dot: _field,
    exp.Bracket: _element,
    exp.Array: _array,
    exp.JSONExtract: _json,
    exp.JSONExtractScalar: _json,
    exp.Lambda: _lambda,
    exp.Identifier: _variable,
}
