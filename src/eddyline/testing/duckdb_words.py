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
