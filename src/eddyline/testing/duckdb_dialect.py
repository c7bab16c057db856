"""Translates expressions whose meaning in DuckDB differs from Spark's."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from eddyline.sql.rewrites import COMPARED
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
    adapted = _with_any_and_all(adapted)
    return _with_tuples_compared(_with_deviations_of_nan(_with_escapes(adapted)))


def _with_any_and_all(query: exp.Expr) -> exp.Expr:
    """Writes IN with another comparison as ``x > ANY (SELECT ...)``, or ALL."""
    signs = {"=": exp.EQ, "<>": exp.NEQ, ">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE}
    for node in reversed(list(query.find_all(exp.In))):
        compared = node.args.get(COMPARED)
        if compared is None:
            continue
        sign, word = compared.split()
        rows = node.args["query"].copy()
        of = exp.All(this=rows) if word == "ALL" else exp.Any(this=rows)
        node.replace(exp.paren(signs[sign](this=node.this.copy(), expression=of)))
    return query


def _with_deviations_of_nan(query: exp.Expr) -> exp.Expr:
    """The deviation of NaN alone is NaN; DuckDB's would be 0, as that of any value alone."""
    for node in list(query.find_all(exp.VariancePop, exp.StddevPop)):
        whole: exp.Expr = node
        while isinstance(whole.parent, (exp.Filter, exp.Window)) and whole.arg_key == "this":
            whole = whole.parent
        largest = whole.copy()
        found = next(largest.find_all(exp.VariancePop, exp.StddevPop))
        most = exp.Max(this=found.this.copy())
        largest = most if found is largest else largest
        found.replace(most)
        nothing = exp.Mul(this=exp.Literal.number(0), expression=largest)
        whole.replace(exp.paren(exp.Add(this=whole.copy(), expression=nothing)))
    return query


def _with_tuples_compared(query: exp.Expr) -> exp.Expr:
    """Writes ``(a, b) IN (SELECT c, d ...)`` as the OR of ``a = c AND b = d`` over all rows."""
    for node in reversed(list(query.find_all(exp.In))):  # the inner ones first
        if not isinstance(node.this, exp.Tuple) or not node.args.get("query"):
            continue
        select = node.args["query"].copy()
        while isinstance(select, exp.Subquery):
            select = select.this
        assert isinstance(select, exp.Select), "a SELECT"
        assert not select.args.get("group"), "without GROUP BY"
        assert all(c.table for c in node.this.find_all(exp.Column)), "names with their tables"
        select.set("distinct", None)
        pairs = zip(node.this.expressions, select.selects, strict=True)
        equal = exp.and_(*(exp.EQ(this=a.copy(), expression=b.unalias()) for a, b in pairs))
        text = (
            "CASE WHEN BOOL_OR(__e) THEN TRUE WHEN COUNT(*) > COUNT(__e) THEN NULL ELSE FALSE END"
        )
        value: exp.Expr = exp.maybe_parse(text, dialect="duckdb").transform(
            lambda e, equal=equal: equal.copy() if isinstance(e, exp.Column) else e
        )
        select.set("expressions", [value])
        node.replace(exp.Subquery(this=select))
    return query


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
