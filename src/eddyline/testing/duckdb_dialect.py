"""Translates expressions whose meaning in DuckDB differs from Spark's."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from eddyline.testing.failing import failing_division

_INTEGERS: Final = (
    exp.DataType.Type.TINYINT,
    exp.DataType.Type.SMALLINT,
    exp.DataType.Type.INT,
    exp.DataType.Type.BIGINT,
)


def in_duckdb(query: exp.Expr) -> exp.Expr:
    """The query with Spark's semantics in DuckDB's SQL."""

    def adapt(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.DataType) and node.this in (
            exp.DataType.Type.TIMESTAMPTZ,
            exp.DataType.Type.TIMESTAMPLTZ,
        ):
            return exp.DataType.build("timestamp", dialect="duckdb")
        return node

    adapted = query.transform(adapt).transform(_strict_cast).transform(_truncating_cast)
    adapted = adapted.transform(failing_division)
    return _with_escapes(adapted)


def _with_escapes(query: exp.Expr) -> exp.Expr:
    """Adds backslash as the escape of LIKE, where the query has none; DuckDB has no default."""
    for like in reversed(list(query.find_all(exp.Like, exp.ILike))):  # the inner ones first
        if not isinstance(like.parent, exp.Escape):
            escape = exp.Literal.string("\\")
            like.replace(exp.Escape(this=like.copy(), expression=escape))
    return query


def _strict_cast(node: exp.Expr) -> exp.Expr:
    """Turns what sqlglot reads as a TRY_CAST of Spark without ANSI mode into a CAST."""
    if isinstance(node, exp.TryCast) and not node.args.get("safe"):
        return exp.Cast(this=node.this, to=node.to)
    return node


def _truncating_cast(node: exp.Expr) -> exp.Expr:
    """CAST of a fraction to an integer truncates; DuckDB's would round."""
    if not isinstance(node, exp.Cast) or node.to.this not in _INTEGERS:
        return node
    source = node.this.sql(dialect="duckdb")
    fraction = f"TYPEOF({source}) IN ('DOUBLE', 'FLOAT') OR TYPEOF({source}) LIKE 'DECIMAL%'"
    to = node.to.sql(dialect="duckdb")
    cast = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    return exp.maybe_parse(
        f"CASE WHEN {fraction} THEN {cast}(TRUNC({cast}({source} AS DOUBLE)) AS {to}) "
        f"ELSE {cast}({source} AS {to}) END",
        dialect="duckdb",
    )
