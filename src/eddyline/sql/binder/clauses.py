"""The WITH and WINDOW clauses of a query: they extend the context in which its parts are bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from sqlglot import exp

from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import Context, Cte, DefaultWindow
from eddyline.sql.window_syntax import StreamWindow

T = TypeVar("T")


def in_clauses(node: exp.Expr, context: Context, bind: Callable[[Context], T]) -> T:
    """Bind a query with its WITH entries and its trailing WINDOW in the context."""
    context = _with_ctes(node, context)
    window = node.args.get("windows")
    return with_default_window(window, context, bind) if window is not None else bind(context)


def with_default_window(window: StreamWindow, context: Context, bind: Callable[[Context], T]) -> T:
    """Bind with a default window for the streams that have none.

    Raises:
        SqlError: no stream takes the window.
    """
    default = DefaultWindow(window, context)
    bound = bind(replace(context, window=default))
    if not default.used:
        raise context.error(
            window, "this window applies to no stream: every stream here has its own, or is outside"
        )
    return bound


def with_own_window(node: exp.Expr, context: Context, bind: Callable[[Context], T]) -> T:
    """Bind the content of a FROM item; the item's window is the default for the streams in it."""
    window = node.args.get("window")
    return with_default_window(window, context, bind) if window else bind(context)


def _with_ctes(node: exp.Expr, context: Context) -> Context:
    with_ = node.args.get("with_")
    if with_ is None:
        return context
    context.require_only(with_, "expressions", "recursive")
    if with_.args.get("recursive"):
        raise context.error(
            with_, "WITH RECURSIVE is not supported: write plain WITH", UnsupportedError
        )
    for cte in with_.expressions:
        context.require_only(cte, "this", "alias")
        entry = Cte(cte, context)
        context = replace(context, ctes={**context.ctes, cte.alias.lower(): entry})
    return context


def written_terms(select: exp.Select) -> list[exp.Expr]:
    """The conjuncts of WHERE."""
    where = select.args.get("where")
    return [] if where is None else list(_terms(where.this))


def _terms(node: exp.Expr) -> Iterable[exp.Expr]:
    inner = node.unnest()
    if isinstance(inner, exp.And):
        yield from _terms(inner.this)
        yield from _terms(inner.expression)
    else:
        yield node
