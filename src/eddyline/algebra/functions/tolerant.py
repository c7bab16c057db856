"""The ``try_`` functions: NULL where the operation of that name fails.

A failing argument still fails: ``try_add(CAST(s AS INT), 1)`` fails where the CAST does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from eddyline.algebra.expressions import Call, Expr
from eddyline.algebra.functions.registry import FUNCTIONS, TypingRule, define

#: The ``try_`` function of an operation, by the operation's function.
NAMES: Final = {
    "+": "try_add",
    "-": "try_subtract",
    "*": "try_multiply",
    "/": "try_divide",
    "%": "try_mod",
    "cast": "try_cast",
    "date_add": "try_date_add",
    "to_date": "try_to_date",
    "to_timestamp": "try_to_timestamp",
    "parse_url": "try_parse_url",
    "url_decode": "try_url_decode",
    "make_timestamp": "try_make_timestamp",
}
_STRICT: Final = {name: function for function, name in NAMES.items()}


def tolerated(expr: Expr | None) -> Expr | None:
    """The expression with its operation replaced by the ``try_`` form."""
    if isinstance(expr, Call) and expr.function in NAMES:
        return replace(expr, function=NAMES[expr.function])
    return expr


def strict(call: Call) -> Call:
    """The operation of a ``try_`` call."""
    return replace(call, function=_STRICT[call.function])


def _of(function: str) -> TypingRule:
    return lambda args: tolerated(FUNCTIONS[function].rule(args)) if len(args) == 2 else None


for _function, _form, _what in (
    ("+", "number, number", "sum"),
    ("-", "number, number", "difference"),
    ("*", "number, number", "product"),
    ("/", "number, number", "quotient"),
    ("%", "number, number", "remainder"),
):
    _name = NAMES[_function]
    define(
        "Arithmetic",
        _name,
        f"{_name}({_form})",
        f"The {_what} as by `{_function}`; NULL where that fails.",
        _of(_function),
    )
