"""What surrounds the piece of syntax that is being bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from sqlglot import exp

from eddyline.algebra.catalog import TableDef
from eddyline.algebra.plan import Plan, StreamScan, TableScan
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.catalog import Catalog
from eddyline.sql.limits import MAX_QUERIES
from eddyline.sql.source import Source
from eddyline.sql.window_syntax import WINDOW_FORMS, StreamWindow

#: Clauses by sqlglot's name: what SQL calls them, and what to write instead.
_CLAUSES: Final = {
    "db": ("a qualified name", "there are no databases and schemas: write the plain name"),
    "windows": ("WINDOW", "it ends a whole SELECT"),
    "locks": ("FOR UPDATE", "queries only read"),
    "sample": ("TABLESAMPLE", "ON OVERLOAD SHED drops rows when they are too many"),
    "except_": ("* EXCEPT", "name the columns"),
    "replace": ("* REPLACE", "name the columns"),
    "rename": ("* RENAME", "name the columns"),
    "by_name": ("BY NAME", "columns go together by their place"),
    "on": ("DISTINCT ON", "for the last row of each key read FROM s [PARTITION BY k ROWS 1]"),
    "hints": ("a hint", "joins run in the order that is expected to cost least"),
    "laterals": ("LATERAL", "write a join"),
}


@dataclass
class DefaultWindow:
    """A window for the streams below that have none; ``used`` once one of them took it."""

    node: StreamWindow
    context: Context
    used: bool = False


@dataclass(frozen=True)
class Cte:
    """A WITH entry, and the context in which its body is bound (it sees the entries before it)."""

    node: exp.CTE
    context: Context


@dataclass(frozen=True)
class Far:
    """The columns of enclosing SELECTs that ``reader``, which is being bound, cannot read."""

    names: Callable[[exp.Column], bool]
    reader: str


@dataclass(frozen=True)
class RuleRow:
    """The row of ``FOR EACH ROW OF``: what the SELECT calls it, and the table it is of."""

    name: str
    table: TableDef


@dataclass(frozen=True)
class Context:
    """The catalog, the script being read, and what the enclosing SELECTs provide.

    Attributes:
        source: the script that the syntax nodes come from (a view's differs from its reader's).
        ctes: WITH entries in sight, by lower-case name.
        window: the window for streams without their own.
        reading: the views and queries being expanded, outermost first.
        far: inside a sub-query of WHERE, the columns that are out of reach.
        row: the row for which the query runs, if it runs for each row of a table.
        depth: how many queries are around.
    """

    catalog: Catalog
    source: Source
    ctes: Mapping[str, Cte] = field(default_factory=dict)
    window: DefaultWindow | None = None
    reading: tuple[str, ...] = ()
    far: Far | None = None
    row: RuleRow | None = None
    depth: int = 0

    def inside(self, node: exp.Expr) -> Context:
        """The context of a query within this one.

        Raises:
            SqlError: too many queries read each other.
        """
        if self.depth >= MAX_QUERIES:
            raise self.error(
                node,
                f"more than {MAX_QUERIES} queries read each other here, counting views and WITH "
                "entries: read a stream or table nearer to where its rows are used",
            )
        return replace(self, depth=self.depth + 1)

    def error(self, at: exp.Expr, message: str, kind: type[SqlError] = SqlError) -> SqlError:
        """An error that points at a node."""
        return self.source.error(at, message, kind)

    def placed(self, error: SqlError, at: exp.Expr) -> SqlError:
        """The same error with the place of a node, unless it has a place already."""
        return error if error.line is not None else self.error(at, error.message, type(error))

    def require_only(self, node: exp.Expr, *allowed: str) -> None:
        """Refuse a node with any argument that its binder does not look at."""
        for name, value in node.args.items():
            if value and name not in allowed:
                at = value if isinstance(value, exp.Expr) else node
                clause, advice = _CLAUSES.get(name, (name.strip("_").upper(), ""))
                message = f"{clause} is not supported here" + (f": {advice}" if advice else "")
                raise self.error(at, message, UnsupportedError)


@dataclass(frozen=True)
class OpenStream:
    """A stream that got no window, and where it stands."""

    name: str
    node: exp.Expr
    context: Context


@dataclass(frozen=True)
class Bound:
    """A bound query or FROM item; ``open_streams`` are those below it without a window."""

    plan: Plan
    open_streams: tuple[OpenStream, ...] = ()

    @property
    def changes(self) -> bool:
        """As :func:`changes`, of the plan."""
        return changes(self.plan)


def require_windows(streams: Iterable[OpenStream], what: str) -> None:
    """Raise an error for the first stream without a window below an operator that keeps rows."""
    for stream in streams:
        raise stream.context.error(
            stream.node,
            f"{what} needs a window on stream '{stream.name}'; "
            f"write {stream.name} {WINDOW_FORMS}, or end the SELECT with WINDOW 10 SECONDS",
        )


def changes(plan: Plan) -> bool:
    """Whether something below changes the plan's rows: a stream, or a retroactive table."""
    if isinstance(plan, TableScan):
        return plan.updates == "retroactive"
    return isinstance(plan, StreamScan) or any(map(changes, plan.inputs))
