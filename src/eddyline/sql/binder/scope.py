"""Which columns an expression can name."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from eddyline.algebra.expressions import ColumnRef
from eddyline.errors import did_you_mean
from eddyline.sql.binder.context import Context
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
    """The FROM items of a SELECT, in order. ``merged`` are the ordinals that USING hides."""

    relations: tuple[Relation, ...] = ()
    merged: frozenset[int] = frozenset()

    @property
    def width(self) -> int:
        """How many columns all items have."""
        return sum(len(r.fields) for r in self.relations)

    def joined_with(self, name: str, fields: Schema) -> Scope:
        """The scope with one more FROM item to the right."""
        return replace(self, relations=(*self.relations, Relation(name, fields, self.width)))

    def merging(self, ordinal: int) -> Scope:
        """The scope in which a column is reachable only through its relation's name."""
        return replace(self, merged=self.merged | {ordinal})

    def resolve(self, node: exp.Column, context: Context) -> ColumnRef | None:
        """The column that a name means; None if no column has the name.

        Raises:
            SqlError: several columns have the name, or its qualifier names no FROM item.
        """
        found = self._candidates(node, context)
        if len(found) > 1:
            choices = ", ".join(c.name for c in found)
            raise context.error(node, f"column '{node.name}' is ambiguous; valid: {choices}")
        return found[0] if found else None

    def unknown(self, node: exp.Column, context: Context) -> Exception:
        """The error for a name that no column has."""
        inside = f" in '{node.table}'" if node.table else ""
        relations = [self.relation(node, context)] if node.table else self.relations
        choices = [f.name for r in relations for f in r.fields]
        message = f"there is no column '{node.name}'{inside}; {did_you_mean(node.name, choices)}"
        return context.error(node.this, message)

    def relation(self, node: exp.Column, context: Context) -> Relation:
        """The FROM item that qualifies a column (``t`` of ``t.x`` or ``t.*``)."""
        for relation in self.relations:
            if relation.name.lower() == node.table.lower():
                return relation
        names = [r.name for r in self.relations if r.name]
        message = f"'{node.table}' is not in FROM; {did_you_mean(node.table, names)}"
        raise context.error(node.args["table"], message)

    def star(self) -> list[ColumnRef]:
        """All columns, as ``*`` gives them: those merged by USING once."""
        columns = [c for r in self.relations for c in self.columns_of(r)]
        return [c for c in columns if c.index not in self.merged]

    def at(self, ordinal: int) -> ColumnRef:
        """The column with this ordinal."""
        owner = next(r for r in reversed(self.relations) if r.offset <= ordinal)
        return owner.column(ordinal - owner.offset, self._qualified)

    def columns_of(self, relation: Relation) -> list[ColumnRef]:
        """All columns of one FROM item."""
        return [relation.column(i, self._qualified) for i in range(len(relation.fields))]

    @property
    def _qualified(self) -> bool:
        return len(self.relations) > 1

    def _candidates(self, node: exp.Column, context: Context) -> list[ColumnRef]:
        context.require_only(node, "this", "table")
        relations = [self.relation(node, context)] if node.table else list(self.relations)
        found = [r.column(i, self._qualified) for r in relations for i in r.positions(node.name)]
        return [c for c in found if node.table or c.index not in self.merged]
