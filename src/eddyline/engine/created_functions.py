"""Functions that CREATE FUNCTION defines: bodies of SQL, and code in Python."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from eddyline.algebra.functions import SqlFunction
from eddyline.engine.functions import make_function, require_callable
from eddyline.errors import EddylineError, SqlError
from eddyline.sql.binder.function_bodies import bind_body
from eddyline.sql.catalog import Catalog, OwnFunction
from eddyline.sql.statements import CreateFunction, PythonCode
from eddyline.types import sql_type


def created_function(statement: CreateFunction, catalog: Catalog) -> OwnFunction:
    """The function of a statement.

    Raises:
        SqlError: the body is wrong, or the code cannot be loaded. CatalogError: SQL uses the name.
    """
    require_callable(statement.name)
    if statement.code is None:
        return SqlFunction(statement.name, statement.parameters, bind_body(statement, catalog))
    code = statement.code
    try:
        loaded = _of_body(statement.name, code) if code.is_body else _of_module(code.text)
        types = [sql_type(p.type) for p in statement.parameters]
        result = sql_type(statement.result)
        return make_function(statement.name, loaded, types, result, code.kind)
    except EddylineError as e:
        raise statement.source.error(code.at, str(e)) from None
    except Exception as e:  # of code that is loaded
        what = f"the code of function {statement.name} cannot be loaded"
        raise statement.source.error(code.at, f"{what}: {type(e).__name__}: {e}") from e


def _of_module(path: str) -> Callable[..., Any]:
    """What ``module.name`` names."""
    module, _, name = path.rpartition(".")
    if not module:
        raise SqlError(f"'{path}' is not a module and a name, as in 'rules.score'")
    found = getattr(import_module(module), name, None)
    if found is None:
        raise SqlError(f"the module {module} has no {name}")
    return _called(found, path)


def _of_body(name: str, code: PythonCode) -> Callable[..., Any]:
    """What a body defines under the name of the function."""
    module = ModuleType(f"eddyline_function_{name}")
    source = compile(textwrap.dedent(code.text), f"<function {name}>", "exec")
    exec(source, module.__dict__)  # the operator's own script; jobs that run refuse CREATE FUNCTION
    found = {k.lower(): v for k, v in vars(module).items()}.get(name.lower())
    if found is None:
        raise SqlError(f"the body does not define {name}")
    return _called(found, name)


def _called(found: Any, name: str) -> Callable[..., Any]:
    if not callable(found):
        raise SqlError(f"{name} is a {type(found).__name__}, and cannot be called")
    function: Callable[..., Any] = found
    return function
