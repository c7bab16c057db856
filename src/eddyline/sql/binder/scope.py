"""The columns that an expression can name."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import Final, Protocol

import pyarrow as pa
import pyarrow.types as pt
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import ColumnRef, Expr, shift_columns
from eddyline.algebra.nodes.windowed import WINDOW_COLUMNS
from eddyline.errors import SqlError, UnsupportedError, did_you_mean
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.parameters import names_row, parameter, parameters
from eddyline.types import Schema

#: The share of a row's like that was kept by drop boxes.
KEPT: Final = "_kept"


class KeptValues(Protocol):
    """Binds what is known of the drop boxes of the rows of FROM; ``node``: for errors.

    Raises:
        SqlError: it is not known.
    """

    def share(self, node: exp.Expr) -> Expr:
        """``_kept``, which may be qualified."""

    def part(self, node: exp.Expr) -> Expr:
        """See ``DrawnRows``."""


@dataclass(frozen=True)
class Relation:
    """A FROM item: its name (alias), its columns, and the ordinal of its first column."""

    name: str
    fields: Schema
    offset: int

    def column(self, position: int, qualified: bool) -> ColumnRef:
        """The reference to the item's column at a position."""
        field = self.fields[position]
        name = f"{self.name}.{field.name}" if qualified and self.name else field.name
        return ColumnRef(field.type, self.offset + position, name)

    @cached_property
    def _positions(self) -> dict[str, list[int]]:
        """The positions of the item's columns, by lower-case name."""
        found: dict[str, list[int]] = {}
        for i, field_ in enumerate(self.fields):
            found.setdefault(field_.name.lower(), []).append(i)
        return found

    def positions(self, name: str) -> list[int]:
        """The positions of the item's columns of this name, ignoring case."""
        return self._positions.get(name.lower(), [])


@dataclass(frozen=True)
class WindowKeys:
    """The window of GROUP BY.

    Attributes:
        columns: its start and end. both: a structure of them.
        value: binds the call of a function of the window.
    """

    columns: tuple[ColumnRef, ColumnRef]
    both: Expr
    value: Callable[[exp.Expr], Expr]


@dataclass(frozen=True)
class Scope:
    """The FROM items of a SELECT, in order.

    Attributes:
        relations: the items.
        hidden: ordinals of the columns that USING merged into a column further left.
        merged: by ordinal, the expression of a column that USING of an outer join merged.
        outer: in a sub-query, the scope of the enclosing SELECT, for names that no item has.
        time: the event time of the rows, if it is known.
        named: whether columns are shown with their item's name even if there is one item only.
        window: that of GROUP BY, whose columns are the last.
        kept: of the rows of FROM; None: they are not in sight.
    """

    relations: tuple[Relation, ...] = ()
    hidden: frozenset[int] = frozenset()
    merged: Mapping[int, Expr] = field(default_factory=dict)
    outer: Scope | None = None
    named: bool = False
    time: Expr | None = None
    window: WindowKeys | None = None
    kept: KeptValues | None = None

    @property
    def width(self) -> int:
        """Number of columns of all items."""
        return sum(len(r.fields) for r in self.relations)

    def joined_with(self, name: str, fields: Schema) -> Scope:
        """The scope with one more FROM item to the right."""
        return replace(self, relations=(*self.relations, Relation(name, fields, self.width)))

    def beside(self, other: Scope) -> Scope:
        """The scope with all FROM items of another one appended."""
        right = other._moved(self.width)
        return replace(
            self,
            relations=self.relations + right.relations,
            hidden=self.hidden | right.hidden,
            merged={**self.merged, **right.merged},
        )

    def _moved(self, by: int) -> Scope:
        """The scope with its ordinals increased."""
        return replace(
            self,
            relations=tuple(replace(r, offset=r.offset + by) for r in self.relations),
            hidden=frozenset(i + by for i in self.hidden),
            merged={i + by: shift_columns(e, by) for i, e in self.merged.items()},
        )

    def without_outer(self) -> Scope:
        """The scope of a sub-query's own columns, which begin at 0."""
        assert self.outer is not None, "of a sub-query"
        return replace(self._moved(-self.outer.width), outer=None)

    def merging(self, left: int, right: int, merged: Expr | None) -> Scope:
        """The scope after USING: the right column needs its relation's name as a qualifier.

        The plain name refers to ``merged`` if given, else to the left column.
        """
        plain = self.merged if merged is None else {**self.merged, left: merged}
        return replace(self, hidden=self.hidden | {right}, merged=plain)

    def inside(self, outer: Scope) -> Scope:
        """The scope of a sub-query: the outer columns, then its own, which hide outer names."""
        around = replace(outer, outer=None, named=True)
        return replace(self._moved(outer.width), outer=around, named=True)

    # -- look-up -------------------------------------------------------

    def resolve(self, node: exp.Column, context: Context) -> Expr | None:
        """The column of a name, or the merge of several by USING, or a column of the row of FOR
        EACH; None if the name is unknown.

        Raises:
            SqlError: the name is ambiguous, or its qualifier is not a FROM item.
        """
        if names_row(node, context):
            return parameter(node, context)
        if self.kept is not None and node.name.lower() == KEPT:
            return self.kept.share(node)
        column = self.column(node, context)
        if column is None and node.name.lower() == "window_time":
            return self._window_time(node, context)
        if column is None or node.table:
            return column
        return self._home(node).merged.get(column.index, column)

    def _window_time(self, node: exp.Column, context: Context) -> Expr | None:
        """The last instant of the window of a row, if it has one."""
        end = node.copy()
        end.set("this", exp.to_identifier("window_end"))
        column = self.column(end, context)
        if column is None or not pt.is_timestamp(column.type):
            return None
        instant = functions.literal(timedelta(microseconds=1), pa.duration("us"))
        return functions.resolve("-", (column, instant))

    def column(self, node: exp.Column, context: Context) -> ColumnRef | None:
        """As :meth:`resolve`, but of columns merged by USING the leftmost."""
        context.require_only(node, "this", "table")
        home = self._home(node)
        relations = [self.relation(node, context)] if node.table else home.relations
        found = [r.column(i, home.qualified) for r in relations for i in r.positions(node.name)]
        found = [c for c in found if node.table or c.index not in home.hidden]
        if len(found) > 1:
            choices = ", ".join(c.name for c in found)
            raise context.error(node, f"column '{node.name}' is ambiguous; valid: {choices}")
        return found[0] if found else None

    def names(self, node: exp.Column) -> bool:
        """Whether an item has a column of this plain name, or is the qualifier."""
        if node.table:
            return any(r.name.lower() == node.table.lower() for r in self.relations)
        return any(r.positions(node.name) for r in self.relations)

    def without_fields(
        self, node: exp.Column, context: Context, others: Container[str]
    ) -> tuple[exp.Column, list[str]]:
        """A column without the names of fields behind it, and these.

        A name of several words begins with a FROM item if there is one of this name, else with a
        column.

        Args:
            others: names of columns beside those of the scope, in lower case.
        """
        first, *rest = node.parts
        if not rest or self._is_item(first.name, context):
            words = 2
        elif self.names(exp.Column(this=first.copy())) or first.name.lower() in others:
            words = 1
        else:
            home = self.outer
            words = 1 if home and home.names(exp.Column(this=first.copy())) else 2
        if len(node.parts) <= words:
            return node, []
        column = node.parts[words - 1].copy()
        qualifier = first.copy() if words == 2 else None
        return exp.Column(this=column, table=qualifier), [p.name for p in node.parts[words:]]

    def _is_item(self, name: str, context: Context) -> bool:
        names = [r.name for r in self._in_sight if r.name]
        if context.row is not None:
            names.append(context.row.name)
        return name.lower() in map(str.lower, names)

    def relation(self, node: exp.Column, context: Context) -> Relation:
        """The FROM item that qualifies a column (``t`` of ``t.x`` or ``t.*``)."""
        for relation in self._home(node).relations:
            if relation.name.lower() == node.table.lower():
                return relation
        self._refuse_far(node, context)
        names = [r.name for r in self._in_sight if r.name]
        if context.row is not None:
            names.append(context.row.name)
        message = f"'{node.table}' is not in FROM; {did_you_mean(node.table, names)}"
        if any(r.positions(node.table) for r in self._in_sight):
            message += f". '{node.table}' is a column, and no structure"
        elif context.row is None and node.table in context.catalog.tables:
            message += f". For a query per row: CREATE QUERY name FOR EACH ROW OF {node.table} AS"
        raise context.error(node.args["table"], message)

    def unknown(self, node: exp.Column, context: Context) -> SqlError:
        """The error for an unknown column name."""
        inside = f" in '{node.table}'" if node.table else ""
        if not node.table:
            self._refuse_far(node, context)
        relations = [self.relation(node, context)] if node.table else self._in_sight
        choices = [f.name for r in relations for f in r.fields]
        text = _as_text(node, context)
        if node.name.lower() in {column.name for column in WINDOW_COLUMNS}:
            text += ", which rows of a window such as [TUMBLE 1 MINUTE] have"
        message = (
            f"there is no column '{node.name}'{inside}{text}; {did_you_mean(node.name, choices)}"
        )
        of_row = [p.name for name, p in parameters(context) if name.lower() == node.name.lower()]
        if of_row and not node.table:
            message = f"there is no column '{node.name}' in FROM; the row has {of_row[0]}"
        return context.error(node.this, message)

    def _home(self, node: exp.Column) -> Scope:
        """The scope that has a name: the own one, else the outer one."""
        outer = self.outer
        return outer if outer and outer.names(node) and not self.names(node) else self

    @property
    def _in_sight(self) -> tuple[Relation, ...]:
        return self.relations + (self.outer.relations if self.outer else ())

    @staticmethod
    def _refuse_far(node: exp.Column, context: Context) -> None:
        far = context.far
        if far is not None and far.names(node):
            raise context.error(
                node,
                f"'{node.sql()}' is a column of an enclosing SELECT, which {far.reader} cannot "
                f"read: {far.advice}",
                UnsupportedError,
            )

    # -- columns -------------------------------------------------------

    @property
    def qualified(self) -> bool:
        """Whether columns are shown with their item's name."""
        return self.named or len(self.relations) > 1

    def columns_of(self, relation: Relation) -> list[ColumnRef]:
        """All columns of one FROM item."""
        return [relation.column(i, self.qualified) for i in range(len(relation.fields))]

    def column_at(self, index: int) -> ColumnRef:
        """The column of an ordinal."""
        relation = next(r for r in reversed(self.relations) if r.offset <= index)
        return relation.column(index - relation.offset, self.qualified)

    def columns(self) -> list[ColumnRef]:
        """The columns of all FROM items."""
        return [c for r in self.relations for c in self.columns_of(r)]

    def column_names(self) -> list[str]:
        """The plain names of all columns."""
        return [f.name for r in self.relations for f in r.fields]

    def star(self) -> list[tuple[str, Expr]]:
        """The columns of ``*`` with their names: all columns, those merged by USING once."""
        named = zip(self.column_names(), self.columns(), strict=True)
        return [(n, self.merged.get(c.index, c)) for n, c in named if c.index not in self.hidden]


def _as_text(node: exp.Column, context: Context) -> str:
    """Advice for a name in double quotes that may be meant as text, as in Spark."""
    if node.table or not context.source.is_in_double_quotes(node.this):
        return ""
    text = node.name.replace("'", "''")
    return f": double quotes quote names; if this is text, write '{text}' in single quotes"


@dataclass(frozen=True)
class Drawn:
    """What an aggregate can know of the drop boxes; see ``DrawnRows``."""

    kept: KeptValues
    node: exp.Expr

    def share(self) -> Expr:
        return self.kept.share(self.node)

    def part(self) -> Expr:
        return self.kept.part(self.node)
