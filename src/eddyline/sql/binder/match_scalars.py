"""Expressions of DEFINE and MEASURES: columns of rows of variables, and aggregates over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from sqlglot import exp

from eddyline.algebra.expressions import AggregateCall, ColumnRef, Expr, columns_of, rewrite
from eddyline.algebra.nodes.match_recognize import (
    CLASSIFIER_TYPE,
    EVERY_VARIABLE,
    MatchedAggregate,
    Navigation,
)
from eddyline.errors import SqlError, UnsupportedError, did_you_mean
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.parameters import names_row
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.numbers import whole_number
from eddyline.types import Schema

#: Furthest offset of FIRST, LAST and PREV.
MAX_OFFSET: Final = 100
_NAVIGATIONS: Final = ("first", "last")
_OFFSETS: Final = f"a whole number of rows from 0 to {MAX_OFFSET}"


@dataclass
class Names:
    """What the expressions of one MATCH_RECOGNIZE can name.

    Attributes:
        scope: the columns of the input.
        variables: bits of variables and subsets, by lower-case name.
        schema: of the input. time: its column of event time, if it has one.
        shifted: columns of earlier rows so far: a column, and how many rows earlier.
    """

    scope: Scope
    variables: Mapping[str, int]
    schema: Schema
    time: int | None
    shifted: dict[tuple[int, int], None] = field(default_factory=dict)

    def earlier(self, expr: Expr, rows: int) -> Expr:
        """The expression over the row that is a number of rows earlier in the partition."""
        width = len(self.schema)

        def change(e: Expr) -> Expr | None:
            if not isinstance(e, ColumnRef):
                return None
            index, before = e.index, rows
            if index > width:  # an earlier row already
                index, more = list(self.shifted)[index - width - 1]
                before += more
            key = (index, before)
            self.shifted.setdefault(key)
            place = width + 1 + list(self.shifted).index(key)
            return ColumnRef(e.type, place, f"PREV({self.schema[index].name}, {before})")

        return rewrite(expr, change) if rows else expr


class MatchScalars(Scalars):
    """Binds expressions over the rows of a match.

    Args:
        clause: DEFINE or MEASURES.
        current: in DEFINE, the variable that is defined, as a bit: its last row is the current one.
        final: whether values are of the whole match.
    """

    def __init__(
        self,
        names: Names,
        context: Context,
        clause: Literal["DEFINE", "MEASURES"],
        *,
        current: int = 0,
        final: bool = False,
    ) -> None:
        super().__init__(names.scope, context)
        self._names = names
        self._of = clause
        self._current = current
        self._final = final
        self._row_variables: set[int] | None = None  # inside of one row's expression

    def bind(self, node: exp.Expr) -> Expr:
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return self._column_of(node)
        name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
        if name in ("final", "running") and len(node.expressions) == 1:
            return self._with_semantics(node, name == "final")
        if name in _NAVIGATIONS:
            return self._navigation(node, name)
        if name == "prev":
            return self._previous(node)
        if name in ("classifier", "match_rowtime", "match_number", "next"):
            return self._of_whole_match(node, name)
        return super().bind(node)

    def _fail(self, node: exp.Expr, message: str) -> SqlError:
        return self._context.error(node, message)

    def _bits(self, node: exp.Column) -> int | None:
        """The variable in front of a column; None: the name of the stream, or nothing."""
        if not node.table or names_row(node, self._context):
            return None
        first = node.parts[0]
        names = self._names
        bits = names.variables.get(first.name.lower())
        if bits is None and not names.scope.names(node):
            column = exp.Column(this=first.copy())
            if len(node.parts) > 2 or not names.scope.names(column):
                advice = did_you_mean(first.name, list(names.variables))
                raise self._fail(first, f"there is no variable '{first.name}' in PATTERN; {advice}")
        return bits

    # -- columns and rows ----------------------------------------------

    def _column_of(self, node: exp.Column) -> Expr:
        bits = self._bits(node)
        plain = node if bits is None else _without_variable(node)
        expr = super().bind(plain)
        if self._row_variables is not None:
            self._row_variables.add(EVERY_VARIABLE if bits is None else bits)
            return expr
        if not columns_of(expr):  # of the row of FOR EACH
            return expr
        bits = EVERY_VARIABLE if bits is None else bits
        return self._navigated("last", bits, expr, 0, node.sql("spark"))

    def _row(self, node: exp.Expr) -> tuple[Expr, int]:
        """The expression over one row, and the variables whose row it is, as bits."""
        if self._row_variables is not None:
            raise self._fail(node, "FIRST, LAST and aggregates do not contain each other")
        self._row_variables = set()
        try:
            expr = self.bind(node)
            found = self._row_variables
        finally:
            self._row_variables = None
        if len(found) > 1:
            raise self._fail(node, "these are columns of several variables: name one of them")
        return expr, found.pop() if found else EVERY_VARIABLE

    def _navigated(self, end: str, bits: int, expr: Expr, offset: int, text: str) -> Expr:
        if end == "last" and offset == 0 and bits & self._current:
            return expr  # the current row
        assert end in _NAVIGATIONS, end
        side: Literal["first", "last"] = "first" if end == "first" else "last"
        if self._final and self._of == "MEASURES" and text.upper().startswith("RUNNING"):
            text = text[len("RUNNING ") :]
        return Navigation(expr.type, side, bits, expr, offset, self._final, text)

    def _navigation(self, node: exp.Expr, name: str) -> Expr:
        """FIRST or LAST."""
        if not 1 <= len(node.expressions) <= 2:
            raise self._fail(node, f"write {name.upper()}(A.x) or {name.upper()}(A.x, 1)")
        offset = self._offset(node, 0)
        expr, bits = self._row(node.expressions[0])
        return self._navigated(name, bits, expr, offset, node.sql("spark"))

    def _previous(self, node: exp.Expr) -> Expr:
        if not 1 <= len(node.expressions) <= 2:
            raise self._fail(node, "write PREV(A.x) or PREV(A.x, 1)")
        rows, inner = self._offset(node, 1), node.expressions[0]
        if self._row_variables is not None:
            return self._names.earlier(self.bind(inner), rows)
        if isinstance(inner, exp.Anonymous) and inner.name.lower() in _NAVIGATIONS:
            found = self.bind(inner)
            if isinstance(found, Navigation):
                argument = self._names.earlier(found.argument, rows)
                return replace(found, argument=argument, text=node.sql("spark"))
            return self._names.earlier(found, rows)
        expr, bits = self._row(inner)
        return self._navigated("last", bits, self._names.earlier(expr, rows), 0, node.sql("spark"))

    def _offset(self, node: exp.Expr, default: int) -> int:
        if len(node.expressions) < 2:
            return default
        given = node.expressions[1]
        is_number = isinstance(given, exp.Literal) and not given.is_string
        offset = whole_number(given.name, MAX_OFFSET + 1) if is_number else None
        if offset is None:
            raise self._fail(given, f"the offset of {node.name.upper()} is {_OFFSETS}")
        return offset

    # -- the whole match -----------------------------------------------

    def _with_semantics(self, node: exp.Expr, final: bool) -> Expr:
        if self._of == "DEFINE":
            raise self._fail(node, f"{node.name.upper()} is allowed in MEASURES only")
        saved, self._final = self._final, final or self._final
        try:
            return self.bind(node.expressions[0])
        finally:
            self._final = saved

    def _of_whole_match(self, node: exp.Expr, name: str) -> Expr:
        word = name.upper()
        refused = {
            "next": "NEXT is not supported: name the row by a variable behind it",
            "match_number": "MATCH_NUMBER() is not supported: numbers of partitions would be kept "
            "for ever; use the time of the match, as MATCH_ROWTIME()",
        }
        if name in refused:
            raise self._context.error(node, refused[name], UnsupportedError)
        if self._of == "DEFINE" or self._row_variables is not None:
            raise self._fail(node, f"{word}() is allowed in MEASURES only, outside of other calls")
        if node.expressions:
            raise self._fail(node, f"{word}() takes no arguments")
        width = len(self._names.schema)
        if name == "classifier":
            variable = ColumnRef(CLASSIFIER_TYPE, width, "CLASSIFIER()")
            return self._navigated("last", EVERY_VARIABLE, variable, 0, "CLASSIFIER()")
        time = self._names.time
        if time is None:
            raise self._fail(node, "the event time is _ts here: leave MATCH_ROWTIME() out")
        column = ColumnRef(self._names.schema[time].type, time, "")
        return Navigation(column.type, "last", EVERY_VARIABLE, column, 0, True, "MATCH_ROWTIME()")

    def _aggregate(self, node: exp.Expr, where: exp.Expr | None) -> Expr:
        """An aggregate over the rows of a variable, which its columns name."""
        if self._row_variables is not None:
            raise self._fail(node, f"aggregate {node.name} is not allowed in another call")
        if self._of == "DEFINE" and not self.is_aggregate(node):
            raise self._fail(node, "DISTINCT, ORDER BY and WITHIN GROUP are not allowed in DEFINE")
        found: set[int] = set()
        call = self._without_variables(node, found)
        condition = None if where is None else self._without_variables(where, found)
        if len(found) > 1:
            raise self._fail(node, "these are columns of several variables: name one of them")
        bits = found.pop() if found else EVERY_VARIABLE
        scope = self._names.scope
        if self._names.time is not None:
            scope = replace(scope, time=scope.column_at(self._names.time))
        bound = Scalars(scope, self._context)._aggregate(call, condition)
        text = node.sql("spark")

        def change(e: Expr) -> Expr | None:
            if not isinstance(e, AggregateCall):
                return None
            return MatchedAggregate(e.type, e.aggregate, bits, self._final, text)

        return rewrite(bound, change)

    def _without_variables(self, node: exp.Expr, found: set[int]) -> exp.Expr:
        """The node with plain columns, or a star; adds the variables, as bits."""

        def change(part: exp.Expr) -> exp.Expr:
            is_call = isinstance(part, exp.Anonymous) and part is not copied
            if is_call and part.name.lower() in (*_NAVIGATIONS, "prev"):
                message = f"{part.name.upper()} is not allowed in an aggregate"
                raise self._fail(part, message)
            if not isinstance(part, exp.Column):
                return part
            bits = self._bits(part)
            found.add(EVERY_VARIABLE if bits is None else bits)
            if bits is None:
                return part
            return part.this.copy() if isinstance(part.this, exp.Star) else _without_variable(part)

        copied = node.copy()
        return copied.transform(change, copy=False)


def _without_variable(node: exp.Column) -> exp.Column:
    """The column without the first of its names."""
    places = ("this", "table", "db", "catalog")
    names = node.parts[:0:-1]
    plain = exp.Column(**{p: n.copy() for p, n in zip(places, names, strict=False)})
    plain.meta.update(node.meta)
    return plain
