"""MATCH_RECOGNIZE: the matches of a pattern in the rows of a FROM item."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import ColumnRef, Expr, conjuncts, rewrite
from eddyline.algebra.nodes.match_recognize import (
    MatchedAggregate,
    MatchRecognize,
    Navigation,
    OfMatch,
)
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import Project
from eddyline.algebra.row_patterns import (
    MAX_PROGRAM,
    Alternatives,
    Repeated,
    RowPattern,
    Sequenced,
    Skip,
    least_rows,
    most_rows,
    size_of,
)
from eddyline.algebra.run_conditions import MAX_DEPTH, depth, reads_match, why_not_computed
from eddyline.errors import UnsupportedError, did_you_mean
from eddyline.sql.binder.context import BoundPlan, Context
from eddyline.sql.binder.match_scalars import MatchScalars, Names
from eddyline.sql.binder.scope import Scope
from eddyline.sql.binder.time_columns import time_column
from eddyline.sql.match_syntax import MatchedRows

#: Most variables.
MAX_VARIABLES: Final = 62
#: Most operators of a condition that reads rows matched before.
_WINDOWS: Final = (
    "the rows of a stream without a window, perhaps filtered or computed by a sub-query"
)


def bind_matches(bound: BoundPlan, name: str, node: MatchedRows, context: Context) -> BoundPlan:
    """The matches in the rows of a FROM item.

    Args:
        bound, name: of the item. node: what is behind it.

    Raises:
        SqlError, UnsupportedError: names or types are wrong, or the pattern is not bounded.
    """
    plan = bound.plan
    if plan.pattern != Pattern.MONOTONIC or plan.takes_back or not bound.changes:
        message = f"MATCH_RECOGNIZE reads {_WINDOWS}"
        raise context.error(node, message, UnsupportedError)
    return _Binder(bound, name, node, context).bound()


class _Binder:
    def __init__(self, bound: BoundPlan, name: str, node: MatchedRows, context: Context) -> None:
        self._input = bound
        self._node = node
        self._context = context
        schema = bound.plan.schema
        self._names = Names(
            Scope().joined_with(name, schema),
            self._variables(),
            schema,
            time_column(bound.plan, context),
        )

    def bound(self) -> BoundPlan:
        """The plan of the matches."""
        node, all_rows = self._node, bool(self._node.args["all_rows"])
        self._check_pattern()
        self._check_order()
        partition = self._partition()
        conditions = self._conditions()
        measures = self._measures()
        variables = tuple(v.name for v in node.args["variables"])
        from_start = bool(node.args.get("from_start"))
        if from_start:
            variables, conditions = (*variables, "^"), (*conditions, self._first_row())
        values: dict[OfMatch, None] = {}
        for _, expr in measures:
            rewrite(expr, lambda e: _collected(e, values))
        matches = MatchRecognize(
            self._input.plan,
            partition,
            variables,
            conditions,
            tuple(self._names.shifted),
            node.args["pattern"],
            from_start,
            node.args.get("within"),
            self._skip(),
            all_rows,
            tuple(values),
            tuple(map(str, values)),
        )
        plan = self._projected(matches, measures)
        streams = tuple(replace(s, made="matches") for s in self._input.open_streams)
        return BoundPlan(self._context.checked(plan, node), streams)

    # -- names ---------------------------------------------------------

    def _variables(self) -> dict[str, int]:
        node, context = self._node, self._context
        given: list[exp.Expr] = node.args["variables"]
        if len(given) > MAX_VARIABLES:
            raise context.error(given[-1], f"PATTERN has more than {MAX_VARIABLES} variables")
        bits = {v.name.lower(): 1 << i for i, v in enumerate(given)}
        for subset in node.args.get("subsets") or ():
            name = subset.alias.lower()
            if name in bits:
                raise context.error(subset, f"'{subset.alias}' is defined twice")
            bits[name] = 0
            for part in subset.this.expressions:
                bits[name] |= self._bit(part, bits)
        return bits

    def _bit(self, name: exp.Expr, bits: dict[str, int]) -> int:
        known = [v.name for v in self._node.args["variables"]]
        bit = bits.get(name.name.lower())
        if bit is None or name.name.lower() not in map(str.lower, known):
            message = f"there is no variable '{name.name}' in PATTERN; "
            raise self._context.error(name, message + did_you_mean(name.name, known))
        return bit

    def _column(self, node: exp.Expr, clause: str) -> ColumnRef:
        context, scope = self._context, self._names.scope
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            raise context.error(node, f"{clause} takes columns of the stream")
        column = scope.column(node, context)
        if column is None:
            raise scope.unknown(node, context)
        return column

    def _partition(self) -> tuple[ColumnRef, ...]:
        columns = [self._column(c, "PARTITION BY") for c in self._node.args.get("partition") or ()]
        return tuple(dict.fromkeys(columns))

    # -- checks --------------------------------------------------------

    def _check_order(self) -> None:
        """ORDER BY is the event time: rows of an instant are in the order in which they came."""
        node, context, time = self._node, self._context, self._names.time
        name = "_ts" if time is None else self._names.schema[time].name
        order = node.args.get("order") or ()
        if not order:
            raise context.error(node, f"MATCH_RECOGNIZE needs ORDER BY {name}, the event time")
        first, *others = order
        column = first.this
        is_time = isinstance(column, exp.Column) and column.name.lower() == name.lower()
        if not is_time or first.args.get("desc"):
            raise context.error(
                first, f"ORDER BY must begin with {name}, the event time, ascending"
            )
        if others:
            raise context.error(
                others[0],
                f"ORDER BY has {name} only: rows of the same instant are in the order in which "
                "they came",
                UnsupportedError,
            )

    def _check_pattern(self) -> None:
        node, context = self._node, self._context
        pattern: RowPattern = node.args["pattern"]
        if least_rows(pattern) == 0:
            message = "PATTERN can match no rows: let it have a row at least"
            raise context.error(node, message, UnsupportedError)
        if size_of(pattern) >= MAX_PROGRAM:
            message = f"PATTERN has more than {MAX_PROGRAM} steps, as {{n}} counts n times"
            raise context.error(node, message)
        if _repeats_nothing(pattern):
            message = "PATTERN repeats by *, + or {n,} a group that can match no rows"
            raise context.error(node, message, UnsupportedError)
        if most_rows(pattern) is None and node.args.get("within") is None:
            raise context.error(
                node,
                "a pattern with *, + or {n,} needs WITHIN, as in PATTERN (A B+) WITHIN INTERVAL 1 "
                "HOUR, so that the rows that are kept are bounded",
                UnsupportedError,
            )

    def _skip(self) -> Skip:
        node = self._node
        to: Any = node.args.get("skip") or "past last"
        name = node.args.get("skip_to")
        if name is None:
            return Skip(to)
        bits = self._names.variables.get(name.name.lower())
        if bits is None:
            choices = did_you_mean(name.name, list(self._names.variables))
            message = f"there is no variable '{name.name}' in PATTERN; {choices}"
            raise self._context.error(name, message)
        return Skip(to, bits, name.name)

    # -- expressions ---------------------------------------------------

    def _conditions(self) -> tuple[Expr | None, ...]:
        node, context = self._node, self._context
        found: dict[int, Expr] = {}
        for definition in node.args.get("define") or ():
            name = definition.args["alias"]
            bit = self._bit(name, dict(self._names.variables))
            if bit in found:
                raise context.error(name, f"'{name.name}' is defined twice")
            scalars = MatchScalars(self._names, context, "DEFINE", current=bit)
            condition = scalars.condition(definition.this)
            for term in conjuncts(condition):
                why = why_not_computed(term) if reads_match(term) else None
                if why is None and reads_match(term) and depth(term) > MAX_DEPTH:
                    why = f"calls are nested more than {MAX_DEPTH} deep"
                if why is not None:
                    raise context.error(definition.this, why, UnsupportedError)
            found[bit] = condition
        return tuple(found.get(1 << i) for i in range(len(node.args["variables"])))

    def _first_row(self) -> Expr:
        """Whether a row is the first one of its partition."""
        time = self._names.time
        if time is None:
            message = "^ in PATTERN needs the event time: select it in the sub-query"
            raise self._context.error(self._node, message)
        column = ColumnRef(self._names.schema[time].type, time, self._names.schema[time].name)
        return functions.resolve("is_null", (self._names.earlier(column, 1),))

    def _measures(self) -> list[tuple[str, Expr]]:
        final = not self._node.args["all_rows"]
        scalars = MatchScalars(self._names, self._context, "MEASURES", final=final)
        given = self._node.args.get("measures") or ()
        return [(m.alias, scalars.bind(m.this)) for m in given]

    def _projected(self, matches: MatchRecognize, measures: list[tuple[str, Expr]]) -> Project:
        """The columns in the order of the standard: partition, order, measures, others."""
        shown = [ColumnRef(f.type, i, f.name) for i, f in enumerate(matches.schema)]
        width = len(matches.schema) - len(matches.values)
        places = {value: shown[width + i] for i, value in enumerate(matches.values)}
        first, rest = shown[:width], list[ColumnRef]()
        if matches.all_rows:
            leading = [c.index for c in matches.partition]
            if self._names.time is not None and self._names.time not in leading:
                leading.append(self._names.time)
            rest = [c for c in first if c.index not in leading]
            first = [first[i] for i in leading]
        exprs: list[Expr] = [*first]
        exprs += [rewrite(e, lambda part: _placed(part, places)) for _, e in measures]
        names = [*(c.name for c in first), *(n for n, _ in measures), *(c.name for c in rest)]
        return Project(matches, (*exprs, *rest), tuple(names))


def _collected(expr: Expr, values: dict[OfMatch, None]) -> None:
    if isinstance(expr, (Navigation, MatchedAggregate)):
        values.setdefault(expr)


def _placed(expr: Expr, places: dict[OfMatch, ColumnRef]) -> Expr | None:
    return places[expr] if isinstance(expr, (Navigation, MatchedAggregate)) else None


def _repeats_nothing(pattern: RowPattern) -> bool:
    match pattern:
        case Sequenced() | Alternatives():
            return any(map(_repeats_nothing, pattern.parts))
        case Repeated():
            endless = pattern.most is None and least_rows(pattern.part) == 0
            return endless or _repeats_nothing(pattern.part)
        case _:
            return False
