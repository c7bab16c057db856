"""Frames of ROWS that leave out rows that tie, for DuckDB: its ORDER BY would have to say both
which rows tie and in which order they are. The rows of a frame are listed, those that tie are
left out, and the aggregate is computed of the list.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp


def leaves_out_ties(window: exp.Window) -> bool:
    """Whether a window is such a frame."""
    spec = window.args.get("spec")
    if spec is None or str(spec.args.get("kind")).upper() != "ROWS":
        return False
    return str(spec.args.get("exclude") or "").upper() in ("GROUP", "TIES")


def list_frame(window: exp.Window, ties: Sequence[exp.Expr]) -> None:
    """Replace such a window.

    Args:
        ties: the order of rows that tie.
    """
    group = [o.this for o in window.args["order"].expressions]
    spec = window.args["spec"]
    own = str(spec.args["exclude"]).upper() == "TIES"
    spec.set("exclude", None)
    called, filtered, ignores = window.this, None, False
    while isinstance(called, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        if isinstance(called, exp.Filter):
            filtered = called.expression.this
        ignores |= isinstance(called, exp.IgnoreNulls)
        called = called.this
    value, shape = _shape(called)
    if filtered is not None:
        value = exp.Case().when(filtered.copy(), value)
    same = _row(group)
    listed = window.copy()
    listed.set("this", exp.Anonymous(this="list", expressions=[_row([same, value])]))
    for tie in ties:
        listed.args["order"].append("expressions", exp.Ordered(this=tie.copy(), nulls_first=True))
    kept = f"e[1] IS DISTINCT FROM {_text(same)}"
    if own and _has_current_row(spec):  # which is behind those up to it
        up_to = listed.copy()
        up_to.set("this", exp.Count(this=exp.Star()))
        up_to.args["spec"].set("end", "CURRENT ROW")
        up_to.args["spec"].set("end_side", None)
        kept = f"({kept} OR i = {_text(up_to)})"
    if ignores:
        kept += " AND e[2] IS NOT NULL"
    rows = f"list_filter(COALESCE({_text(listed)}, []), (e, i) -> {kept})"
    text = shape.format(f"list_transform({rows}, e -> e[2])")
    window.replace(sqlglot.parse_one(text, dialect="duckdb"))


def _has_current_row(spec: exp.Expr) -> bool:
    start, end = (str(spec.args.get(f"{n}_side") or "").upper() for n in ("start", "end"))
    return start != "FOLLOWING" and (end != "PRECEDING" or not spec.args.get("end"))


def _shape(called: exp.Expr) -> tuple[exp.Expr, str]:
    """What is listed of each row, and how the value is computed of the list."""
    value = called.this
    if isinstance(called, exp.FirstValue):
        return value.copy(), "list_extract({}, 1)"
    if isinstance(called, exp.LastValue):
        return value.copy(), "list_extract({}, -1)"
    if isinstance(called, exp.NthValue):
        return value.copy(), f"list_extract({{}}, {_text(called.args['offset'])})"
    name = called.sql_names()[0].lower() if isinstance(called, exp.Func) else called.name.lower()
    shape = f"list_aggregate({{}}, '{_NAMES.get(name, name)}')"
    if isinstance(value, exp.Distinct):
        return value.expressions[0].copy(), shape.format("list_distinct({})")
    if isinstance(value, exp.Star):
        return exp.Literal.number(1), shape
    return value.copy(), shape


_NAMES = {"logical_or": "bool_or", "variance_pop": "var_pop"}


def _row(values: Sequence[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="row", expressions=[v.copy() for v in values])


def _text(value: exp.Expr) -> str:
    return value.sql(dialect="duckdb", identify=True)
