"""Computed columns of CREATE STREAM, and event times that are computed: typed expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import pyarrow.types as pt
from sqlglot import exp
from sqlglot.tokenizer_core import Token

from eddyline.algebra.catalog import StreamDef
from eddyline.algebra.expressions import Expr, columns_of
from eddyline.algebra.functions.coercion import implicit
from eddyline.errors import SqlError
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.catalog import Catalog
from eddyline.sql.nesting import check_depth
from eddyline.sql.source import SourceText
from eddyline.types import TIMESTAMP, Field, sql_type

_READ_NUMBERS: Final = (
    "for a number since 1970 write timestamp_seconds(...), timestamp_millis(...), "
    "timestamp_micros(...) or timestamp_nanos(...)"
)


@dataclass(frozen=True)
class ComputedSyntax:
    """The expressions of a CREATE STREAM.

    Attributes:
        columns: of computed columns, by name. event_time: of TIMESTAMP BY (...), or None.
        unit: where ts_unit is declared, or None.
    """

    columns: Mapping[str, exp.Expr] = field(default_factory=dict)
    event_time: exp.Expr | None = None
    unit: Token | None = None


def with_computed(stream: StreamDef, syntax: ComputedSyntax, source: SourceText) -> StreamDef:
    """The stream with its computed columns and event time.

    Raises:
        SqlError: a name or type is wrong, or an expression reads a computed column.
    """
    if not syntax.columns and syntax.event_time is None:
        return stream
    if len(syntax.columns) == len(stream.schema):
        last = syntax.columns[stream.schema[-1].name]
        raise source.error(last, "a stream needs a column that its source has: all are computed")
    binder = _Binder(stream, syntax, source)
    computed = {
        f.name: binder.event_time(syntax.columns[f.name])
        if f.name == stream.timestamp and syntax.event_time is None
        else binder.column(f, syntax.columns[f.name])
        for f in stream.schema
        if f.name in syntax.columns
    }
    if syntax.event_time is None:
        return replace(stream, computed=computed)
    time = binder.event_time(syntax.event_time)
    return replace(stream, computed=computed, event_time=time, timestamp=str(time))


@dataclass(frozen=True)
class _Binder:
    stream: StreamDef
    syntax: ComputedSyntax
    source: SourceText

    def column(self, column: Field, node: exp.Expr) -> Expr:
        """The expression of a column, as its type."""
        expr = self._bound(node)
        typed = implicit(expr, column.type)
        if typed is None:
            type_ = sql_type(column.type)
            advice = f"write CAST(... AS {type_})"
            if column.type == TIMESTAMP and pt.is_integer(expr.type):
                advice = _READ_NUMBERS
            raise self._error(
                node,
                f"column '{column.name}' is {type_}, and its expression {sql_type(expr.type)}; "
                f"{advice}",
            )
        return typed

    def event_time(self, node: exp.Expr) -> Expr:
        """The expression of the event time: a TIMESTAMP, or a number that the engine judges."""
        expr = self._bound(node)
        if pt.is_integer(expr.type):
            return expr
        if pt.is_floating(expr.type) or pt.is_decimal(expr.type):
            if self.stream.ts_unit is None:
                message = f"an event time of {sql_type(expr.type)} needs WITH (ts_unit = 's')"
                raise self._error(node, f"{message}, or another unit of ms, us, ns")
            return expr
        time = implicit(expr, TIMESTAMP)
        if time is None:
            what = f"an event time must be a TIMESTAMP, and this is {sql_type(expr.type)}"
            advice = "write to_timestamp(...)" if pt.is_string(expr.type) else _READ_NUMBERS
            raise self._error(node, f"{what}; {advice}")
        if self.syntax.unit is not None:
            raise self.source.error(
                self.syntax.unit,
                "ts_unit is the unit of numbers, and the event time is computed as a TIMESTAMP: "
                "leave it out",
            )
        return time

    def _bound(self, node: exp.Expr) -> Expr:
        check_depth(node, self.source)
        context = Context(Catalog(), self.source)
        scope = Scope().joined_with(self.stream.name, self.stream.schema)
        scalars = Scalars(scope, context, clause="a computed column")
        expr = scalars.bind(node)
        for position in sorted(columns_of(expr)):
            name = self.stream.schema[position].name
            if name in self.syntax.columns:
                raise self._error(
                    scalars.origins[position],
                    f"column '{name}' is computed too: write its expression here",
                )
        return expr

    def _error(self, node: exp.Expr, message: str) -> SqlError:
        return self.source.error(node, message)
