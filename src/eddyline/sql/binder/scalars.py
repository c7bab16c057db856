"""Typed expressions from scalar syntax."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import takewhile
from typing import Any, Final

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import ElementRef, Expr, Literal, columns_of
from eddyline.algebra.functions.alternatives import ALTERNATIVES
from eddyline.errors import SqlError, UnsupportedError, did_you_mean
from eddyline.sql.binder.aggregate_calls import read_call
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.grouping_sets import GroupingCall
from eddyline.sql.binder.intervals import interval_literal, interval_of, shifted
from eddyline.sql.binder.literals import constant
from eddyline.sql.binder.nested_values import NESTED_VALUES, SPECIAL_CALLS
from eddyline.sql.binder.over_binding import bind_over
from eddyline.sql.binder.over_calls import called_over, is_called_over
from eddyline.sql.binder.predicates import PREDICATES, bound_otherwise, needles, one_of_tuples
from eddyline.sql.binder.refused import refusal_of
from eddyline.sql.binder.scope import Drawn, Scope
from eddyline.sql.catalog import Catalog
from eddyline.sql.group_window_syntax import group_call
from eddyline.sql.limits import MAX_EXPRESSION
from eddyline.sql.nodes import own_nodes
from eddyline.types import sql_type

_BINARY: Final[dict[type[exp.Expr], str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "div",
    exp.Mod: "%",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.And: "and",
    exp.Or: "or",
    exp.DPipe: "||",
    exp.Like: "like",
    exp.ILike: "ilike",
    exp.RegexpLike: "rlike",
    exp.SimilarTo: "similar_to",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}


class Scalars:
    """Binds expressions over one scope.

    Args:
        scope: the visible columns.
        context: for errors.
        clause: the clause that is bound, if it does not allow aggregates; else None.
        aliases: select-list entries, used for names that no column has.
        keys: in HAVING, the grouping keys; there aliases precede columns that are not keys.

    Attributes:
        clause: see above.
        origins: for each input column, the first node that names it.
        elements: variables of functions over elements, by lower-case name.
    """

    def __init__(
        self,
        scope: Scope,
        context: Context,
        *,
        clause: str | None = None,
        aliases: Mapping[str, exp.Expr] | None = None,
        keys: tuple[Expr, ...] | None = None,
    ) -> None:
        self._scope = scope
        self._context = context
        self.clause = clause
        self._aliases = dict(aliases or {})
        self._keys = keys
        self.origins: dict[int, exp.Expr] = {}
        self.elements: dict[str, ElementRef] = {}

    def bind(self, node: exp.Expr) -> Expr:
        """The typed expression.

        Raises:
            SqlError: a name, type or literal is wrong.
            UnsupportedError: the syntax is not supported.
        """
        handler = Scalars._binary if type(node) in _BINARY else _HANDLERS.get(type(node))
        if handler is None:
            raise self.refusal(node)
        try:
            expr = handler(self, node)
        except SqlError as e:
            raise self._context.placed(e, node) from None
        if self._context.sizes.of(expr) > MAX_EXPRESSION:
            message = f"this needs more than {MAX_EXPRESSION} operators: compute parts in a query"
            raise self._context.error(node, message)
        return expr

    def condition(self, node: exp.Expr) -> Expr:
        """A boolean expression, for WHERE, ON and HAVING."""
        expr = self.bind(node)
        if pa.types.is_null(expr.type):
            return functions.cast(expr, pa.bool_())
        if not pa.types.is_boolean(expr.type):
            raise self._context.error(node, f"expected a condition, got {sql_type(expr.type)}")
        return expr

    def refusal(self, node: exp.Expr) -> SqlError:
        """The error for syntax that is not supported."""
        what, instead = refusal_of(node)
        return self._context.error(node, f"{what} is not supported: {instead}", UnsupportedError)

    def bind_all(self, nodes: Sequence[exp.Expr]) -> tuple[Expr, ...]:
        """Several typed expressions."""
        return tuple(self.bind(n) for n in nodes)

    # -- leaves --------------------------------------------------------

    def _column(self, node: exp.Expr) -> Expr:
        assert isinstance(node, exp.Column)
        if isinstance(node.this, exp.Star):
            raise self.refusal(node.this)
        head, fields = self._scope.without_fields(node, self._context, self._aliases)
        return reduce(functions.nested.field, fields, self._named(head))

    def _named(self, node: exp.Column) -> Expr:
        """The column, or the select-list entry, of a name."""
        column = self._scope.resolve(node, self._context)
        alias = self._aliases.get(node.name.lower()) if not node.table else None
        shadowed = alias is not None and self._keys is not None and column not in self._keys
        if column is not None and not shadowed:
            for index in columns_of(column):
                self.origins.setdefault(index, node)
            return column
        if alias is None:
            raise self._scope.unknown(node, self._context)
        saved = self._aliases, self._keys
        names = takewhile(lambda name: name != node.name.lower(), self._aliases)
        self._aliases, self._keys = {name: self._aliases[name] for name in names}, None
        try:
            return self.bind(alias)  # it can read the columns before it
        finally:
            self._aliases, self._keys = saved

    # -- operators -----------------------------------------------------

    def _binary(self, node: exp.Expr) -> Expr:
        """A left-deep chain of binary operators, bound without recursion."""
        chain = [node]
        while type(chain[-1].this) in _BINARY and interval_of(chain[-1].this) is None:
            chain.append(chain[-1].this)
        expr: Expr | None = None
        for operator in reversed(chain):
            try:
                special = bound_otherwise(self, operator, expr)
                if special is not None:
                    expr = special
                    continue
                months = self._with_months(operator, expr)
                if months is not None:
                    expr = months
                    continue
                expr = self.bind(operator.this) if expr is None else expr
                expr = self._applied(operator, expr, self.bind(operator.expression))
            except SqlError as e:
                raise self._context.placed(e, operator) from None
        assert expr is not None, "a chain has operators"
        return expr

    def _with_months(self, node: exp.Expr, left: Expr | None) -> Expr | None:
        """A sum or difference with an INTERVAL that has months; None if it is another."""
        if not isinstance(node, (exp.Add, exp.Sub)):
            return None
        try:
            length = interval_of(node.expression)
        except SqlError as e:
            raise self._context.placed(e, node.expression) from None
        if length is not None and length.months:
            moment = self.bind(node.this) if left is None else left
            return shifted(moment, length, 1 if isinstance(node, exp.Add) else -1)
        length = interval_of(node.this) if isinstance(node, exp.Add) and left is None else None
        if length is None or not length.months:
            return None
        return shifted(self.bind(node.expression), length, 1)

    def _applied(self, node: exp.Expr, *operands: Expr) -> Expr:
        self._context.require_only(node, "this", "expression", "typed", "safe", "negate")
        expr = functions.resolve(_BINARY[type(node)], operands)
        return functions.resolve("not", (expr,)) if node.args.get("negate") else expr

    def _escape(self, node: exp.Expr) -> Expr:
        """LIKE ... ESCAPE: LIKE with a third operand."""
        if not isinstance(node.this, (exp.Like, exp.ILike)):
            raise self.refusal(node)
        like = node.this
        return self._applied(like, *self.bind_all([like.this, like.expression, node.expression]))

    def _paren(self, node: exp.Expr) -> Expr:
        return self.bind(node.this)

    def _in(self, node: exp.Expr) -> Expr:
        if node.args.get("query"):
            return self._sub_query(node)
        self._context.require_only(node, "this", "expressions")
        if isinstance(node.this, exp.Tuple):
            return one_of_tuples(self, node)
        return functions.resolve("in", self.bind_all([node.this, *node.expressions]))

    def _sub_query(self, node: exp.Expr) -> Expr:
        binder = self._context.sub_queries
        if binder is None or self.clause not in _WITH_SUB_QUERIES:
            where = self.clause or "this expression"
            message = f"a sub-query in {where} is not supported: compute it in a query in FROM"
            raise self._context.error(node, message, UnsupportedError)
        values = self.bind_all(needles(node)) if isinstance(node, exp.In) else None
        value: Expr = binder(node, values, self._scope, self._context)
        for index in columns_of(value):
            self.origins.setdefault(index, node)
        return value

    # -- functions -----------------------------------------------------

    def _extract(self, node: exp.Expr) -> Expr:
        name = node.this.name.lower()
        if name not in functions.calendar.PARTS:
            choices = ALTERNATIVES.get(name) or did_you_mean(name, functions.calendar.PARTS)
            raise self._context.error(node.this, f"EXTRACT has no field '{name}'; {choices}")
        return functions.calendar.part(name, self.bind(node.expression))

    def _call(self, node: exp.Expr) -> Expr:
        if self.is_aggregate(node):
            return self._aggregate(node, None)
        if node.name.lower() in ("grouping", "grouping_id"):
            return self._grouping(node)
        window = self._scope.window
        if window is not None and group_call(node) is not None:
            return window.value(node)
        special = SPECIAL_CALLS.get(node.name.lower())
        if special is not None and (made := special(self, node)) is not None:
            return made
        own = self._context.catalog.functions
        function = functions.find(node.name, own)
        unit = self._unit(node)
        if unit is None:
            return functions.resolve(node.name, self.bind_all(node.expressions), own)
        if node.name.lower() not in functions.calendar.WITH_UNITS:
            forms = " or ".join(function.forms)
            raise self._context.error(unit, f"{node.name} takes no unit; valid: {forms}")
        named = functions.literal(unit.name, pa.string())
        return functions.resolve(node.name, (named, *self.bind_all(node.expressions[1:])), own)

    def _grouping(self, node: exp.Expr) -> Expr:
        if self.clause is not None:
            raise self._context.error(node, f"{node.name} is not allowed in {self.clause}")
        type_ = pa.int64() if node.name.lower() == "grouping_id" else pa.int8()
        return GroupingCall(type_, node.name, self.bind_all(node.expressions), node)

    def _unit(self, node: exp.Expr) -> exp.Expr | None:
        """The first of three arguments if it is a unit of time, as in DATEDIFF(day, a, b)."""
        first = node.expressions[0] if len(node.expressions) == 3 else None
        if not isinstance(first, exp.Column) or first.table or self._scope.names(first):
            return None
        return first if first.name.lower() in functions.datetimes.TRUNC_UNITS else None

    def _filtered(self, node: exp.Expr) -> Expr:
        inner = node.this
        while isinstance(inner, (exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
            inner = inner.this
        if not self.is_aggregate(inner):
            raise self._context.error(
                node, f"FILTER is allowed behind aggregates only, not behind {node.this.name}"
            )
        return self._aggregate(node.this, node.expression.this)

    def _clauses_of_aggregate(self, node: exp.Expr) -> Expr:
        """WITHIN GROUP, IGNORE NULLS or RESPECT NULLS behind a call."""
        call = read_call(node).call
        if not self.is_aggregate(call):
            if isinstance(call, exp.Anonymous):
                functions.find(call.name, self._context.catalog.functions)  # says what is there
            raise self.refusal(node)
        return self._aggregate(node, None)

    def _aggregate(self, node: exp.Expr, where: exp.Expr | None) -> Expr:
        call = read_call(node)
        name = call.call.name
        if self.clause not in (None, _OVER):
            advice = ": write HAVING behind GROUP BY" if self.clause == "WHERE" else ""
            message = f"aggregate {name} is not allowed in {self.clause}{advice}"
            raise self._context.error(node, message)
        of_groups = self.clause is None and is_called_over(node)
        clause = _OVER if of_groups else "an aggregate"
        inner = Scalars(self._scope, self._context, clause=clause)
        if of_groups:
            inner.origins = self.origins
        arguments = None if call.is_star else inner.bind_all(call.arguments)
        request = functions.Request(
            name,
            arguments,
            call.distinct,
            None if where is None else inner.condition(where),
            tuple(inner.ordering(o) for o in call.order),
            call.within,
            call.ignore_nulls,
            self._scope.time,
            None if self._scope.kept is None else Drawn(self._scope.kept, node),
        )
        own = self._context.catalog.aggregate(name)
        return functions.resolve_aggregate(request) if own is None else own.expression(request)

    def is_aggregate(self, node: exp.Expr) -> bool:
        """Whether a node calls an aggregate function."""
        return is_aggregate(node, self._context.catalog)

    def ordering(self, node: exp.Expr) -> functions.Ordering:
        """A value of ORDER BY."""
        return functions.Ordering(self.bind(node.this), *self.direction(node))

    def direction(self, node: exp.Expr) -> tuple[bool, bool]:
        """Whether a value of ORDER BY is in descending order, and whether NULL is first."""
        self._context.require_only(node, "this", "desc", "nulls_first")
        return bool(node.args.get("desc")), bool(node.args.get("nulls_first"))

    def star(self) -> list[tuple[str, Expr]]:
        """The columns of ``*``, with their names."""
        return self._scope.star()

    @property
    def event_time(self) -> Expr | None:
        """The event time of the rows, if it is known."""
        return self._scope.time

    @property
    def context(self) -> Context:
        """For errors."""
        return self._context


def is_aggregate(node: exp.Expr, catalog: Catalog) -> bool:
    """Whether a node calls an aggregate function."""
    if not isinstance(node, exp.Anonymous):
        return False
    return functions.is_aggregate_name(node.name) or catalog.aggregate(node.name) is not None


def has_aggregate(node: exp.Expr, catalog: Catalog) -> bool:
    """Whether an expression contains an aggregate outside of its sub-queries and without OVER."""
    own = own_nodes(node)
    windowed = {id(called_over(n)) for n in own if isinstance(n, exp.Window)}
    return any(is_aggregate(n, catalog) and id(n) not in windowed for n in own)


#: The arguments of an aggregate with OVER, which may be aggregates: SUM(COUNT(*)) OVER () is the
#: sum of the counts of all groups.
_OVER: Final = "an aggregate with OVER"
#: Where expressions can have sub-queries; None: the select list and HAVING.
_WITH_SUB_QUERIES: Final = (None, "WHERE", "ON", "GROUP BY", "an aggregate")

_Handler = Callable[[Scalars, Any], Expr]

_HANDLERS: Final[dict[type[exp.Expr], _Handler]] = {
    **PREDICATES,
    **NESTED_VALUES,
    exp.Column: Scalars._column,
    exp.Literal: lambda _, node: constant(node),
    exp.RawString: lambda _, node: functions.literal(node.name, pa.string()),
    exp.Interval: lambda _, node: interval_literal(node),
    exp.Boolean: lambda _, node: functions.literal(bool(node.this), pa.bool_()),
    exp.Null: lambda _, node: Literal(pa.null(), None),
    exp.Escape: Scalars._escape,
    exp.Paren: Scalars._paren,
    exp.In: Scalars._in,
    exp.Extract: Scalars._extract,
    exp.Anonymous: Scalars._call,
    exp.Filter: Scalars._filtered,
    exp.Window: bind_over,
    exp.WithinGroup: Scalars._clauses_of_aggregate,
    exp.IgnoreNulls: Scalars._clauses_of_aggregate,
    exp.RespectNulls: Scalars._clauses_of_aggregate,
    exp.Subquery: Scalars._sub_query,
    exp.Exists: Scalars._sub_query,
}
