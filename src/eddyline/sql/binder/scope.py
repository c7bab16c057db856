"""Which columns an expression can name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from eddyline.algebra.expressions import ColumnRef, Expr, shift_columns
from eddyline.errors import SqlError, UnsupportedError, did_you_mean
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.parameters import names_row, parameter, parameters
from eddyline.types import Schema


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

    def positions(self, name: str) -> list[int]:
        """Where the item has columns of this name, in any case."""
        return [i for i, f in enumerate(self.fields) if f.name.lower() == name.lower()]


@dataclass(frozen=True)
class Scope:
    """The FROM items of a SELECT, in order.

    Attributes:
        relations: the items.
        hidden: the ordinals of columns that USING merged into one further left.
        merged: what the plain name of a column stands for that USING of an outer join made.
        outer: in a sub-query the columns of the SELECT around it, for names that no item has.
        named: whether columns are shown with their item's name even if there is one item only.
    """

    relations: tuple[Relation, ...] = ()
    hidden: frozenset[int] = frozenset()
    merged: Mapping[int, Expr] = field(default_factory=dict)
    outer: Scope | None = None
    named: bool = False

    @property
    def width(self) -> int:
        """How many columns all items have."""
        return sum(len(r.fields) for r in self.relations)

    def joined_with(self, name: str, fields: Schema) -> Scope:
        """The scope with one more FROM item to the right."""
        return replace(self, relations=(*self.relations, Relation(name, fields, self.width)))

    def beside(self, other: Scope) -> Scope:
        """The scope with all FROM items of another one to the right."""
        right = other._moved(self.width)
        return replace(
            self,
            relations=self.relations + right.relations,
            hidden=self.hidden | right.hidden,
            merged={**self.merged, **right.merged},
        )

    def _moved(self, by: int) -> Scope:
        """The same items behind so many other columns."""
        return replace(
            self,
            relations=tuple(replace(r, offset=r.offset + by) for r in self.relations),
            hidden=frozenset(i + by for i in self.hidden),
            merged={i + by: shift_columns(e, by) for i, e in self.merged.items()},
        )

    def merging(self, left: int, right: int, merged: Expr | None) -> Scope:
        """The scope in which the right column is reachable only through its relation's name.

        The plain name means ``merged``, if that is given, else the left column.
        """
        plain = self.merged if merged is None else {**self.merged, left: merged}
        return replace(self, hidden=self.hidden | {right}, merged=plain)

    def inside(self, outer: Scope) -> Scope:
        """The scope of a sub-query: the outer columns, then these, which hide outer names."""
        around = replace(outer, outer=None, named=True)
        return replace(self._moved(outer.width), outer=around, named=True)

    # -- look-up -------------------------------------------------------------------------------

    def resolve(self, node: exp.Column, context: Context) -> Expr | None:
        """What a name means: a column, or several that USING merged, or one of the row of FOR EACH;
        None if nothing has the name.

        Raises:
            SqlError: several columns have the name, or its qualifier names no FROM item.
        """
        if names_row(node, context):
            return parameter(node, context)
        column = self.column(node, context)
        if column is None or node.table:
            return column
        return self._home(node).merged.get(column.index, column)

    def column(self, node: exp.Column, context: Context) -> ColumnRef | None:
        """As :meth:`resolve`, but of several columns that USING merged the leftmost."""
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
        """Whether an item has this plain name, or this qualifier."""
        if node.table:
            return any(r.name.lower() == node.table.lower() for r in self.relations)
        return any(r.positions(node.name) for r in self.relations)

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
            message += f". '{node.table}' is a column: columns hold single values, without fields"
        elif context.row is None and node.table in context.catalog.tables:
            message += f". For a query per row: CREATE QUERY name FOR EACH ROW OF {node.table} AS"
        raise context.error(node.args["table"], message)

    def unknown(self, node: exp.Column, context: Context) -> SqlError:
        """The error for a name that no column has."""
        inside = f" in '{node.table}'" if node.table else ""
        if not node.table:
            self._refuse_far(node, context)
        relations = [self.relation(node, context)] if node.table else self._in_sight
        choices = [f.name for r in relations for f in r.fields]
        text = _as_text(node, context)
        message = (
            f"there is no column '{node.name}'{inside}{text}; {did_you_mean(node.name, choices)}"
        )
        of_row = [p.name for name, p in parameters(context) if name.lower() == node.name.lower()]
        if of_row and not node.table:
            message = f"there is no column '{node.name}' in FROM; that of the row is {of_row[0]}"
        return context.error(node.this, message)

    def _home(self, node: exp.Column) -> Scope:
        """The scope that has a name: the own one before the outer one."""
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
                "read: the WHERE of a plain SELECT in EXISTS or IN can read the one around it",
                UnsupportedError,
            )

    # -- columns -------------------------------------------------------------------------------

    @property
    def qualified(self) -> bool:
        """Whether columns are shown with their item's name."""
        return self.named or len(self.relations) > 1

    def columns_of(self, relation: Relation) -> list[ColumnRef]:
        """All columns of one FROM item."""
        return [relation.column(i, self.qualified) for i in range(len(relation.fields))]

    def columns(self) -> list[ColumnRef]:
        """The columns of all FROM items."""
        return [c for r in self.relations for c in self.columns_of(r)]

    def column_names(self) -> list[str]:
        """The plain names of all columns."""
        return [f.name for r in self.relations for f in r.fields]

    def star(self) -> list[tuple[str, Expr]]:
        """What ``*`` gives, with names: all columns, those merged by USING once."""
        named = zip(self.column_names(), self.columns(), strict=True)
        return [(n, self.merged.get(c.index, c)) for n, c in named if c.index not in self.hidden]


def _as_text(node: exp.Column, context: Context) -> str:
    """What to write instead if a name in double quotes was meant as text, which it is in Spark."""
    if node.table or not context.source.is_in_double_quotes(node.this):
        return ""
    text = node.name.replace("'", "''")
    return f": double quotes are for names; if this is text, write '{text}' in single quotes"
