"""The scalar functions, operators and aggregates of Eddyline's SQL: names, typing rules, help.

Typing follows Spark SQL with ANSI mode off, so nothing raises on data: integer arithmetic wraps,
division by zero and casts of unparsable text give NULL. Where a rule differs from Spark it is to
refuse a guess (text against numbers needs a CAST).

The binder calls :func:`resolve` and :func:`resolve_aggregate`; what they return has every implicit
conversion spelled out as a ``cast``, so evaluation needs no typing rules of its own.
"""

from eddyline.algebra.functions import (  # importing a family registers its functions
    arithmetic,
    conditionals,
    datetimes,
    numbers,
    predicates,
    strings,
    text_patterns,
)
from eddyline.algebra.functions.aggregates import AGGREGATES, resolve_aggregate
from eddyline.algebra.functions.coercion import cast, common_type, literal, unify
from eddyline.algebra.functions.registry import FUNCTIONS, Function, find, is_reserved, resolve
from eddyline.algebra.functions.user_defined import FUNCTION_KINDS, FunctionKind, UserFunction

__all__ = [
    "AGGREGATES",
    "FUNCTIONS",
    "FUNCTION_KINDS",
    "Function",
    "FunctionKind",
    "UserFunction",
    "arithmetic",
    "cast",
    "common_type",
    "conditionals",
    "datetimes",
    "find",
    "is_reserved",
    "literal",
    "numbers",
    "predicates",
    "resolve",
    "resolve_aggregate",
    "strings",
    "text_patterns",
    "unify",
]
