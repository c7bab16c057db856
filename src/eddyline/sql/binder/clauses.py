"""WITH and WINDOW around a query: what they add to the context of everything inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from sqlglot import exp

from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import Context, Cte, DefaultWindow
from eddyline.sql.window_syntax import StreamWindow

T = TypeVar("T")


def in_clauses(node: exp.Expr, context: Context, bind: Callable[[Context], T]) -> T:
    """Bind a query in the sight of its WITH entries and its trailing WINDOW."""
    context = _with_ctes(node, context)
    window = node.args.get("windows")
    return with_default_window(window, context, bind) if window is not None else bind(context)


def with_default_window(window: StreamWindow, context: Context, bind: Callable[[Context], T]) -> T:
    """Bind with a window for the streams without their own; there must be one.

    Raises:
        SqlError: no stream takes the window, so that it would silently mean nothing.
    """
    default = DefaultWindow(window, context)
    bound = bind(replace(context, window=default))
    if not default.used:
        raise context.error(
            window, "this window applies to nothing: no stream without a window stands here"
        )
    return bound


def with_own_window(node: exp.Expr, context: Context, bind: Callable[[Context], T]) -> T:
    """Bind what a FROM item stands for; its window is the default for the streams inside."""
    window = node.args.get("window")
    return with_default_window(window, context, bind) if window else bind(context)


def _with_ctes(node: exp.Expr, context: Context) -> Context:
    with_ = node.args.get("with_")
    if with_ is None:
        return context
    context.require_only(with_, "expressions", "recursive")
    if with_.args.get("recursive"):
        raise context.error(
            with_, "WITH RECURSIVE is not supported: plain WITH is", UnsupportedError
        )
    for cte in with_.expressions:
        context.require_only(cte, "this", "alias")
        entry = Cte(cte, context)
        context = replace(context, ctes={**context.ctes, cte.alias.lower(): entry})
    return context
