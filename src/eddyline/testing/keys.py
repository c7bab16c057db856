"""Keys of queries whose rows replace older rows (DESIGN: GROUP BY, EMIT INSERTS)."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from eddyline.testing.reading import read_query, session_gaps


def group_key(sql: str, views: Mapping[str, str] | None = None) -> tuple[int, ...] | None:
    """Ordinals, in the select list, of the columns that identify the groups of a query.

    A query replaces rows if it is a GROUP BY, or a projection or filter (without EXISTS and IN) of
    one in a sub-query or view, with the group's columns, and has no sub-queries above groups.
    ``()``: the one group of an aggregate without GROUP BY; None: the query does not replace rows.
    The end of a session is no such column: it changes as the session grows.

    >>> group_key("SELECT SUM(x), k FROM a [RANGE 1 SECOND] GROUP BY k")
    (1,)
    """
    reading, views = read_query(sql), views or {}
    if reading.for_each is not None:  # rows of one rule do not replace those of another
        return None
    found = _key(reading.select, views)
    if found and session_gaps(sql, views):
        assert isinstance(reading.select, exp.Query), "it has groups"
        names = [e.alias_or_name for e in reading.select.selects]
        return tuple(i for i in found if names[i] != "window_end")
    return found


def _key(query: exp.Expr, views: Mapping[str, str]) -> tuple[int, ...] | None:
    if not isinstance(query, exp.Select) or query.args.get("distinct"):
        return None
    chosen = [query.args.get(clause) for clause in ("qualify", "limit")]
    if any(chosen) or any(e.find(exp.Window) for e in query.expressions):
        return None  # rows are ordered above the groups
    having = query.args.get("having")
    if any(e.find(exp.Query) for e in (*query.expressions, *([having] if having else []))):
        return None  # groups are joined with sub-queries
    group = query.args.get("group")
    if group is not None:
        return _positions(query, group.expressions)
    if any(e.find(exp.AggFunc) for e in query.expressions):
        return ()
    if _tests_existence(query):  # its rows appear and disappear one by one
        return None
    inner = _only_source(query, views)
    return None if inner is None else _through(query, inner, _key(inner, views))


def _tests_existence(query: exp.Select) -> bool:
    where = query.args.get("where")
    return where is not None and where.find(exp.Query) is not None


def _positions(query: exp.Select, keys: list[exp.Expr]) -> tuple[int, ...] | None:
    found = []
    for key in keys:
        position = next((i for i, e in enumerate(query.expressions) if _same(e, key, i)), None)
        if position is None:
            return None
        found.append(position)
    return tuple(found)


def _same(item: exp.Expr, key: exp.Expr, position: int) -> bool:
    if isinstance(key, exp.Literal) and key.is_int:
        return int(key.this) == position + 1
    named = isinstance(key, exp.Column) and not key.table and item.alias_or_name == key.name
    shown = item.unalias()
    if all(c.table for e in (shown, key) for c in e.find_all(exp.Column)):
        return named or bool(shown == key)  # r0.v and r1.v differ
    return named or bool(_bare(shown) == _bare(key))


def _bare(expression: exp.Expr) -> exp.Expr:
    """The expression without table names: ``a.k`` and ``k`` become equal."""
    return expression.transform(
        lambda n: exp.column(n.name) if isinstance(n, exp.Column) and n.name else n
    )


def _only_source(query: exp.Select, views: Mapping[str, str]) -> exp.Expr | None:
    source = query.args.get("from_") or query.args.get("from")
    if source is None or query.args.get("joins"):
        return None
    if isinstance(source.this, exp.Subquery):
        return source.this.this if isinstance(source.this.this, exp.Query) else None
    name = source.this.name
    return read_query(views[name]).select if name in views else None


def _through(
    outer: exp.Select, inner: exp.Expr, key: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """The positions of the inner key columns in the outer select list."""
    assert isinstance(inner, exp.Query)
    if key is None or any(isinstance(e, exp.Star) for e in outer.expressions):
        return key
    shown = [e.unalias().name for e in outer.expressions]
    names = [inner.expressions[i].alias_or_name for i in key]
    return tuple(map(shown.index, names)) if set(names) <= set(shown) else None
