"""The context in which a syntax node is bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from sqlglot import exp

from eddyline.algebra.catalog import TableDef
from eddyline.algebra.expressions import Expr
from eddyline.algebra.per_node import per_node
from eddyline.algebra.plan import Plan, StreamScan, TableScan
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.sizes import Sizes
from eddyline.sql.catalog import Catalog
from eddyline.sql.limits import MAX_QUERIES
from eddyline.sql.source import SourceText
from eddyline.sql.window_syntax import WINDOW_FORMS, StreamWindow

#: Unsupported clauses by sqlglot's name: their name in SQL, and what to write instead.
_CLAUSES: Final = {
    "db": ("a qualified name", "there are no databases and schemas: write the plain name"),
    "windows": ("WINDOW", "write it at the end of the whole SELECT"),
    "locks": ("FOR UPDATE", "queries only read"),
    "sample": ("TABLESAMPLE", "ON OVERLOAD SHED drops rows under overload"),
    "except_": ("* EXCEPT", "name the columns"),
    "replace": ("* REPLACE", "name the columns"),
    "rename": ("* RENAME", "name the columns"),
    "by_name": ("BY NAME", "columns are matched by position"),
    "on": ("DISTINCT ON", "for the last row of each key read FROM s [PARTITION BY k ROWS 1]"),
    "hints": ("a hint", "joins run in the order that is estimated to cost least"),
}


@dataclass
class DefaultWindow:
    """A window for the streams below that have none; ``used``: a stream took it."""

    node: StreamWindow
    context: Context
    used: bool = False


@dataclass(frozen=True)
class Cte:
    """A WITH entry, and the context of its body (it contains the entries before it)."""

    node: exp.CTE
    context: Context


@dataclass(frozen=True)
class OuterColumns:
    """Columns of enclosing SELECTs that ``reader``, a part of a sub-query, cannot read.

    ``advice``: what to write instead.
    """

    names: Callable[[exp.Column], bool]
    reader: str
    advice: str = "only the WHERE of a plain SELECT can read it"


@dataclass(frozen=True)
class ParameterRow:
    """The row of ``FOR EACH ROW OF``: its name in the SELECT, and its table."""

    name: str
    table: TableDef


class SubQueryValues(Protocol):
    """Binds sub-queries as values."""

    def __call__(
        self, node: exp.Expr, needle: tuple[Expr, ...] | None, scope: Any, context: Context, /
    ) -> Expr:
        """The value of a sub-query for a row of a scope; ``needle``: the x of ``x IN (SELECT)``."""

    def row(self, query: exp.Expr, scope: Any, context: Context, /) -> list[tuple[str, Expr]]:
        """The names and values of the columns of a sub-query with one row, or none."""


@dataclass(frozen=True)
class Context:
    """The catalog, the script, and the definitions of the enclosing SELECTs.

    Attributes:
        source: the script that contains the syntax nodes (a view's differs from its reader's).
        ctes: visible WITH entries, by lower-case name.
        window: the window for streams without their own.
        reading: the views and queries being expanded, outermost first.
        far: inside a sub-query, the columns that it cannot read.
        sub_queries: binds sub-queries in expressions; None where there can be none.
        row: the row of FOR EACH ROW OF, if any.
        depth: number of enclosing queries.
        sizes: of the plans and expressions bound so far.
    """

    catalog: Catalog
    source: SourceText
    ctes: Mapping[str, Cte] = field(default_factory=dict)
    window: DefaultWindow | None = None
    reading: tuple[str, ...] = ()
    far: OuterColumns | None = None
    sub_queries: SubQueryValues | None = None
    row: ParameterRow | None = None
    depth: int = 0
    sizes: Sizes = field(default_factory=Sizes)

    def inside(self, node: exp.Expr) -> Context:
        """The context of a query within this one.

        Raises:
            SqlError: too many queries read each other.
        """
        if self.depth >= MAX_QUERIES:
            raise self.error(
                node,
                f"more than {MAX_QUERIES} queries are nested here, counting views and WITH "
                "entries: remove levels of views or sub-queries",
            )
        return replace(self, depth=self.depth + 1)

    def checked(self, plan: Plan, node: exp.Expr) -> Plan:
        """The plan, after a check of its size.

        Raises:
            SqlError: the plan is too large.
        """
        excess = self.sizes.of_plan(plan).excess()
        if excess is not None:
            message = f"this {excess}, counting those of views: split it into several queries"
            raise self.error(node, message)
        return plan

    def error(self, at: exp.Expr, message: str, kind: type[SqlError] = SqlError) -> SqlError:
        """An error positioned at a node."""
        return self.source.error(at, message, kind)

    def placed(self, error: SqlError, at: exp.Expr) -> SqlError:
        """The same error positioned at a node, unless it has a position."""
        return error if error.line is not None else self.error(at, error.message, type(error))

    def require_only(self, node: exp.Expr, *allowed: str) -> None:
        """Refuse a node that has arguments other than the allowed ones."""
        for name, value in node.args.items():
            if value and name not in allowed:
                at = value if isinstance(value, exp.Expr) else node
                clause, advice = _CLAUSES.get(name, (name.strip("_").upper(), ""))
                message = f"{clause} is not supported here" + (f": {advice}" if advice else "")
                raise self.error(at, message, UnsupportedError)


@dataclass(frozen=True)
class OpenStream:
    """A stream without a window, and its position.

    Attributes:
        made: what has been made of its rows, which stays as it is: "matches", "values with OVER";
            empty: nothing.
        ranked: whether they have got ranks, which must be limited.
    """

    name: str
    node: exp.Expr
    context: Context
    made: str = ""
    ranked: bool = False


@dataclass(frozen=True)
class BoundPlan:
    """A bound query or FROM item; ``open_streams`` are those below it without a window."""

    plan: Plan
    open_streams: tuple[OpenStream, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether the plan's rows change, as :func:`changes`."""
        return changes(self.plan)


def no_window_on_made(stream: OpenStream, what: str) -> SqlError:
    """The error for what cannot read rows that have been made of those of a stream."""
    return stream.context.error(
        stream.node,
        f"{what} of {stream.made}, which never leave, needs a window on them, as in FROM "
        "TUMBLE((SELECT ...), DESCRIPTOR(_ts), INTERVAL 1 HOUR)",
        UnsupportedError,
    )


def require_windows(streams: Iterable[OpenStream], what: str, instead: str = "") -> None:
    """Raise an error for the first stream without a window below a stateful operator.

    Args:
        instead: what else could be written.
    """
    for stream in streams:
        if stream.made:
            raise no_window_on_made(stream, what)
        raise stream.context.error(
            stream.node,
            f"{what} needs a window on stream '{stream.name}'; "
            f"write {stream.name} {WINDOW_FORMS}, or end the SELECT with WINDOW 10 SECONDS"
            + (f"; or {instead}" if instead else ""),
        )


@per_node
def changes(plan: Plan) -> bool:
    """Whether the rows of a plan change: it reads a stream or a retroactive table."""
    if isinstance(plan, TableScan):
        return plan.updates == "retroactive"
    return isinstance(plan, StreamScan) or any(map(changes, plan.inputs))
