"""Where DuckDB's idea of an expression differs from Spark's."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

_INTEGERS: Final = (
    exp.DataType.Type.TINYINT,
    exp.DataType.Type.SMALLINT,
    exp.DataType.Type.INT,
    exp.DataType.Type.BIGINT,
)
_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ)


def in_duckdb(query: exp.Expr) -> exp.Expr:
    """The query with the difference spelled out."""

    def adapt(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.DataType) and node.this in (
            exp.DataType.Type.TIMESTAMPTZ,
            exp.DataType.Type.TIMESTAMPLTZ,
        ):
            return exp.DataType.build("timestamp", dialect="duckdb")
        if isinstance(node, (exp.Mod, exp.IntDiv)):  # x % 0 is NULL
            return type(node)(this=node.this, expression=exp.func("NULLIF", node.expression, "0"))
        return node

    return _with_escapes(query.transform(adapt).transform(_truncating_cast))


def _with_escapes(query: exp.Expr) -> exp.Expr:
    """The query with backslash as the escape of LIKE, where it has no other; DuckDB has none."""
    for like in reversed(list(query.find_all(exp.Like, exp.ILike))):  # the inner ones first
        if not isinstance(like.parent, exp.Escape):
            escape = exp.Literal.string("\\")
            like.replace(exp.Escape(this=like.copy(), expression=escape))
    return query


def with_ieee_comparisons(query: exp.Expr) -> exp.Expr:
    """The query with NaN compared as in IEEE 754: DuckDB's NaN equals itself and is the largest.

    Comparisons by operator and BETWEEN are spelled out. Those with the rows of a sub-query (IN)
    and by CASE x WHEN y are not.
    """

    def adapt(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Between):
            low = exp.GTE(this=node.this.copy(), expression=node.args["low"])
            high = exp.LTE(this=node.this, expression=node.args["high"])
            return exp.paren(exp.and_(_ieee(low), _ieee(high)))
        return _ieee(node) if isinstance(node, _COMPARISONS) else node

    return query.transform(adapt)


def _ieee(comparison: exp.Expr) -> exp.Expr:
    """The comparison, but false (of ``<>``: true) with NaN on either side; NULL stays NULL."""
    sides = (comparison.this, comparison.expression)
    nan = [_is_nan(side) for side in sides if not isinstance(side, (exp.Literal, exp.Null))]
    if not nan:
        return comparison
    chosen = exp.Case().when(exp.Is(this=exp.paren(comparison), expression=exp.null()), exp.null())
    different = exp.true() if isinstance(comparison, exp.NEQ) else exp.false()
    return exp.paren(chosen.when(exp.or_(*nan), different).else_(comparison.copy()))


def _is_nan(value: exp.Expr) -> exp.Expr:
    number = exp.TryCast(this=value.copy(), to=exp.DataType.build("double"))
    is_float = exp.func("TYPEOF", value.copy()).isin("DOUBLE", "FLOAT")
    return exp.and_(is_float, exp.func("ISNAN", number))


def _truncating_cast(node: exp.Expr) -> exp.Expr:
    """CAST of a fraction to an integer truncates; DuckDB's rounds."""
    if not isinstance(node, exp.Cast) or node.to.this not in _INTEGERS:
        return node
    source = node.this.sql(dialect="duckdb")
    fraction = f"TYPEOF({source}) IN ('DOUBLE', 'FLOAT') OR TYPEOF({source}) LIKE 'DECIMAL%'"
    to = node.to.sql(dialect="duckdb")
    return exp.maybe_parse(
        f"CASE WHEN {fraction} THEN TRY_CAST(TRUNC(TRY_CAST({source} AS DOUBLE)) AS {to}) "
        f"ELSE TRY_CAST({source} AS {to}) END",
        dialect="duckdb",
    )
