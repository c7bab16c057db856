"""The registry of scalar functions: names, syntax for messages, and typing rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr
from eddyline.algebra.functions.aggregate_requests import aggregate_names, is_aggregate_name
from eddyline.algebra.functions.alternatives import ALTERNATIVES, CLOCK, CLOCKS
from eddyline.algebra.functions.coercion import implicit
from eddyline.errors import SqlError, did_you_mean
from eddyline.types import sql_type

#: Returns the typed expression for arguments; None if the function does not take them.
TypingRule = Callable[[tuple[Expr, ...]], Expr | None]


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function or operator.

    Attributes:
        name: canonical name, lower case; the ``Call.function`` unless the rule rewrites.
        family: its heading in the documentation.
        forms: its syntax, for messages and documentation.
        help: one sentence on the result.
        rule: the typing rule.
    """

    name: str
    family: str
    forms: tuple[str, ...]
    help: str
    rule: TypingRule


class Resolvable(Protocol):
    """A function that :func:`resolve` can apply."""

    @property
    def forms(self) -> tuple[str, ...]:
        """The syntax, for messages."""

    @property
    def rule(self) -> TypingRule:
        """The typing rule."""


#: The built-in functions by name and alias.
FUNCTIONS: Final[dict[str, Function]] = {}
_NONE: Final[Mapping[str, Resolvable]] = MappingProxyType({})

_NOT_REPEATABLE: Final = {
    name: instead
    for instead, names in {
        "use the event time of the stream": [
            *("current_date", "current_time", "curdate", "getdate", "localtimestamp"),
        ],
        "compute it before the stream": ["rand", "random", "randn", "uuid", "shuffle"],
    }.items()
    for name in names
}


def define(
    family: str, names: str, forms: str | Sequence[str], help_: str, rule: TypingRule | None = None
) -> Callable[[TypingRule], TypingRule]:
    """Register a function under each of the blank-separated ``names``, the canonical one first.

    Use as a decorator of the typing rule, or pass ``rule``.
    """
    canonical = names.split()[0]
    shown = (forms,) if isinstance(forms, str) else tuple(forms)

    def register(rule: TypingRule) -> TypingRule:
        function = Function(canonical, family, shown, help_, rule)
        for name in names.split():
            assert name not in FUNCTIONS, f"{name} is registered twice"
            FUNCTIONS[name] = function
        return rule

    if rule is not None:
        register(rule)
    return register


def takes(
    name: str, parameters: Sequence[pa.DataType], result: pa.DataType, *, optional: int = 0
) -> TypingRule:
    """The rule of a function with fixed parameter types; the last ``optional`` may be omitted."""

    def rule(args: tuple[Expr, ...]) -> Expr | None:
        if not len(parameters) - optional <= len(args) <= len(parameters):
            return None
        converted = [implicit(a, p) for a, p in zip(args, parameters, strict=False)]
        if any(a is None for a in converted):
            return None
        return Call(result, name, tuple(a for a in converted if a is not None))

    return rule


def define_plain(
    family: str,
    form: str,
    parameters: Sequence[pa.DataType],
    result: pa.DataType,
    help_: str,
    *,
    aliases: str = "",
) -> None:
    """Register a function with fixed parameter types, under the name in its form and aliases."""
    name = form.partition("(")[0]
    define(family, f"{name} {aliases}", form, help_, takes(name, parameters, result))


def is_reserved(name: str) -> bool:
    """Whether a name belongs to a built-in function, supported or refused."""
    key = name.lower()
    return key in FUNCTIONS or key in _NOT_REPEATABLE or key in CLOCKS


def resolve(name: str, args: tuple[Expr, ...], own: Mapping[str, Resolvable] = _NONE) -> Expr:
    """The typed expression for a function or operator applied to arguments.

    Short forms are rewritten (``between`` to two comparisons, ``nullif`` to ``case``), so that
    equal meanings tend to be equal expressions. For ``cast`` see :func:`cast`.

    Args:
        name: in any case.
        args: typed expressions.
        own: functions of the catalog, by lower-case name; built-in ones have priority.

    Raises:
        SqlError: the name is unknown, the arguments do not fit, or the function is not repeatable;
            without a position, which the caller adds.
    """
    function = find(name, own)
    expr = function.rule(args)
    if expr is None:
        types = ", ".join(sql_type(a.type) for a in args)
        forms = " or ".join(function.forms)
        raise SqlError(f"{name.lower()} does not take ({types}); valid: {forms}")
    return expr


def find(name: str, own: Mapping[str, Resolvable] = _NONE) -> Resolvable:
    """The function of a name, in any case.

    Raises:
        SqlError: the name is unknown; with what to write instead, without a position.
    """
    key = name.lower()
    function: Resolvable | None = FUNCTIONS.get(key) or own.get(key)
    if function is None:
        raise SqlError(_unknown(name, own))
    return function


def _unknown(name: str, own: Mapping[str, Resolvable]) -> str:
    key = name.lower()
    if key in CLOCKS:
        return f"{name}() here is not supported: {CLOCK}"
    if key in _NOT_REPEATABLE:
        return (
            f"{name} gives another value in each run, so a replay after a failure would "
            f"give other answers; {_NOT_REPEATABLE[key]} instead"
        )
    if is_aggregate_name(key):
        return f"{name} is an aggregate; it is allowed only in the select list and in HAVING"
    if ALTERNATIVES.get(key):
        return f"there is no function {name}: {ALTERNATIVES[key]}"
    if key in ALTERNATIVES:
        return f"there is no function {name}; docs/sql-functions.md lists the functions"
    words = [*(n for n in FUNCTIONS if n[0].isalpha()), *own, *aggregate_names()]
    return f"there is no function {name}; {did_you_mean(key, words)}"
