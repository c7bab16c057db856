"""The scalar functions, operators and aggregates of Eddyline's SQL: names, typing rules, help.

Typing follows Spark SQL with ANSI mode off, so nothing raises on data: integer arithmetic wraps,
division by zero and casts of unparsable text give NULL. Where a rule differs from Spark it is to
refuse a guess (text against numbers needs a CAST). NaN compares as in IEEE 754.

The binder calls :func:`resolve` and :func:`resolve_aggregate`; what they return has every implicit
conversion spelled out as a ``cast``, so evaluation needs no typing rules of its own.
"""

from eddyline.algebra.functions.aggregates import AGGREGATES, resolve_aggregate
from eddyline.algebra.functions.coercion import cast, common_type, literal, unify
from eddyline.algebra.functions.registry import FUNCTIONS, Function, resolve

# Importing a family registers its functions.
from eddyline.algebra.functions import (  # isort: skip
    conditionals as _conditionals,
    datetimes as _datetimes,
    numbers as _numbers,
    operators as _operators,
    strings as _strings,
)

__all__ = [
    "AGGREGATES",
    "FUNCTIONS",
    "Function",
    "cast",
    "common_type",
    "literal",
    "resolve",
    "resolve_aggregate",
    "unify",
]
