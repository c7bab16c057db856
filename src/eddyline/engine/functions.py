"""User-defined functions of an engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra.functions import (
    FUNCTION_KINDS,
    CodeFunction,
    FunctionKind,
    UserAggregate,
    UserFunction,
    is_aggregate_name,
    is_reserved,
)
from eddyline.algebra.functions.user_aggregates import KEPT_BY, StateColumn
from eddyline.errors import CatalogError, SqlError, StateError, did_you_mean
from eddyline.extras import extras_named
from eddyline.sql.catalog import Catalog, OwnFunction
from eddyline.sql.datatypes import type_named
from eddyline.sql.naming import LONGEST_NAME
from eddyline.sql.parser import parse
from eddyline.sql.statements import SelectStatement
from eddyline.types import sql_type


def make_function(
    name: str,
    evaluate: Callable[..., Any],
    args: Sequence[str],
    returns: str,
    kind: FunctionKind = "arrow",
) -> CodeFunction:
    """The function that :meth:`Engine.function` declares.

    Raises:
        CatalogError: SQL uses the name. SqlError: a type is unknown.
        ValueError: the kind is unknown, or there are no arguments.
        SetupError: the kind is ``pandas``, which is not installed.
    """
    if kind not in FUNCTION_KINDS:
        raise ValueError(f"function {name}: unknown kind; {did_you_mean(kind, FUNCTION_KINDS)}")
    if isinstance(args, str) or not args:
        raise ValueError(f"function {name}: args is a list of at least one type, as ['DOUBLE']")
    require_callable(name)
    if kind == "pandas":
        with extras_named():
            import_module("pandas")
    parameters = tuple(_type(name, t) for t in args)
    if kind == "aggregate":
        state = _state(name, evaluate, len(parameters))
        return UserAggregate(name, parameters, _type(name, returns), state, evaluate)
    return UserFunction(name, parameters, _type(name, returns), kind, evaluate)


def add_function(catalog: Catalog, function: OwnFunction) -> None:
    """Add a function to the catalog.

    Raises:
        CatalogError: the name is taken.
    """
    known = catalog.functions.get(function.name)
    if known is not None:
        raise CatalogError(f"cannot define {function}: function {known} exists")
    catalog.functions[function.name] = function


def function_declarations(catalog: Catalog) -> list[dict[str, Any]]:
    """The declarations of all functions for a checkpoint, without their code."""
    return [
        {
            "name": f.name,
            "args": [sql_type(t) for t in f.parameters],
            "returns": sql_type(f.result),
            "kind": f.kind,
        }
        for f in catalog.code
    ]


def add_declared(
    catalog: Catalog,
    declarations: Sequence[Mapping[str, Any]],
    functions: Mapping[str, Callable[..., Any]],
) -> None:
    """Define the functions of a checkpoint.

    Args:
        catalog: of the new engine.
        declarations: from :func:`function_declarations`.
        functions: their code, by name in any case; other functions are ignored.

    Raises:
        StateError: code is missing; the message lists the functions.
    """
    code = {name.lower(): evaluate for name, evaluate in functions.items()}
    missing = [d for d in declarations if d["name"].lower() not in code]
    if missing:
        signatures = ", ".join(
            f"{d['name']}({', '.join(d['args'])}) -> {d['returns']}" for d in missing
        )
        given = ", ".join(f"{d['name']!r}: ..." for d in missing)
        raise StateError(
            f"a checkpoint does not contain the code of functions: {signatures}; "
            f"pass it as load(..., functions={{{given}}})"
        )
    for d in declarations:
        add_function(catalog, make_function(evaluate=code[d["name"].lower()], **d))


def _state(name: str, evaluate: Any, arguments: int) -> tuple[StateColumn, ...]:
    """The columns of the state of an aggregate's class.

    Raises:
        ValueError: the class is not one of an aggregate. SqlError: a type is unknown.
    """
    given = getattr(evaluate, "state", {})
    needed = ("accumulate", "finish") if given else ("finish",)
    for method in needed:
        if not callable(getattr(evaluate, method, None)):
            raise ValueError(
                f"function {name}: an aggregate is a class with {' and '.join(needed)}"
            )
    if not given and arguments != 1:
        raise ValueError(f"function {name}: an aggregate without a state takes one argument")
    columns = []
    for column, declared in given.items():
        function, _, type_ = str(declared).strip().partition(" ")
        if function.lower() not in KEPT_BY or not type_:
            raise ValueError(
                f"function {name}: the state {column} is '{declared}'; valid: SUM, MIN, MAX or "
                "COUNT and a type, as 'SUM DOUBLE'"
            )
        columns.append(StateColumn(column, function.lower(), _type(name, type_)))
    return tuple(columns)


def require_callable(name: str) -> None:
    """Check that SQL can call a function of this name, and has no other meaning for it.

    Raises:
        CatalogError: the name is not valid.
    """
    if is_reserved(name) or is_aggregate_name(name):
        raise CatalogError(
            f"cannot define function {name}: SQL has a function of this name; choose another name"
        )
    is_word = re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII) and len(name) <= LONGEST_NAME
    if not is_word or not _is_called(name):
        raise CatalogError(
            f"cannot define function {name!r}: SQL cannot call it by this name; take a letter and "
            "then letters, digits and _, but not a keyword of SQL"
        )


def _is_called(name: str) -> bool:
    """Whether SQL parses ``name(x)`` as the call of a function."""
    try:
        (statement,) = parse(f"SELECT {name}(x) FROM s")
    except SqlError:
        return False
    assert isinstance(statement, SelectStatement), "the text is a SELECT"
    call = statement.select.ast.expressions[0]
    return isinstance(call, exp.Anonymous) and call.name == name


def _type(name: str, type_: str) -> pa.DataType:
    try:
        return type_named(type_)
    except ValueError as error:
        raise SqlError(f"function {name}: {error}") from None
