"""The scalar functions, operators and aggregates of Eddyline's SQL: names, typing rules, help.

Typing follows Spark SQL in ANSI mode, but where a rule differs it is to refuse a guess (text
against numbers needs a CAST). A row for which an operation has no value (an overflow, a division by
zero, text that is no number) fails; ``try_`` before the operation's name makes that NULL.

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
    tolerant,
)
from eddyline.algebra.functions.aggregates import AGGREGATES, resolve_aggregate
from eddyline.algebra.functions.coercion import (
    cast,
    common_type,
    converted_constant,
    literal,
    try_cast,
    unify,
)
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
    "converted_constant",
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
    "tolerant",
    "try_cast",
    "unify",
]
