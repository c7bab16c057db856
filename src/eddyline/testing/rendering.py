"""Renders a query in DuckDB's SQL, with ``$tau`` for the instant.

Windows and live tables become sub-selects of the rows live at ``$tau``. Operators that DuckDB lacks
are expanded (for rows for which the query fails see ``failing.py``)::

    a EXCEPT ALL ON (k) b     per k, the youngest (by __ts, __n) COUNT(a) - COUNT(b) rows of a; NULL
                              is a value like others
    a [..] JOIN nrr ON ..     ... AND nrr.__from <= a.__ts AND a.__ts < nrr.__to: the rows of the
                              table at the result's own time
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from sqlglot import exp

from eddyline.testing.duckdb_dialect import in_duckdb
from eddyline.testing.failing import without_failing_rows
from eddyline.testing.kept_shares import with_products
from eddyline.testing.live import LiveUpdates
from eddyline.testing.live_rows import (
    ENDLESS,
    NRR,
    WINDOW,
    contents,
    filled,
    in_windows,
    live_rows,
    select_from,
)
from eddyline.testing.reading import Reading, WindowText, read_query, stream_of
from eddyline.testing.tied_rows import (
    order_ties,
    waits_for_ties,
    waits_us,
    without_frames_of_places,
)


@dataclass(frozen=True)
class OracleCatalog:
    """The inputs of queries: streams and live tables with their columns, SELECTs of views."""

    streams: tuple[tuple[str, tuple[str, ...]], ...]
    live: tuple[tuple[str, LiveUpdates, tuple[str, ...]], ...] = ()
    views: tuple[tuple[str, str], ...] = ()


@lru_cache(maxsize=256)
def render(sql: str, catalog: OracleCatalog) -> str:
    """The query for DuckDB.

    Raises:
        ValueError: this rendering does not support the query.
    """
    query = _Inliner(catalog).inline(read_query(sql), None)
    query = _without_keyed_negation(query)
    for select in list(query.find_all(exp.Select)):
        without_frames_of_places(select)
        if waits_for_ties(select):
            _before_now(select, waits_us(select))
        _reflect_tables(select)
        order_ties(select, partial(_stamps, select))
    return in_duckdb(query).sql(dialect="duckdb", identify=True)


class _Inliner:
    """Replaces the names of a query by sub-selects of their contents at $tau."""

    def __init__(self, catalog: OracleCatalog) -> None:
        self._streams = dict(catalog.streams)
        self._live = {name: (updates, columns) for name, updates, columns in catalog.live}
        self._views = dict(catalog.views)

    def inline(self, reading: Reading, outer: WindowText | None) -> exp.Expr:
        """The query; ``outer``: the window of streams without one."""
        trailing = reading.trailing or outer
        select = reading.select.copy()
        for part in select.find_all(exp.Select):
            without_failing_rows(part)
        with_products(select, self._streams, self._views)
        for table in list(select.find_all(exp.Table)):
            name, number = stream_of(table)
            rows = self._rows(name, trailing if number is None else reading.windows[number])
            if rows is not None:
                alias = exp.TableAlias(this=exp.to_identifier(table.alias or name))
                inlined = exp.Subquery(this=rows, alias=alias)
                inlined.set("joins", table.args.get("joins"))
                table.replace(inlined)
        return select

    def _rows(self, name: str, window: WindowText | None) -> exp.Expr | None:
        if name in self._views and window is not None and window.session is not None:
            return in_windows(self._ever(name), [], window)
        if name in self._views and window is not None and window.fixed is not None:
            select = read_query(self._views[name]).select
            if not any(stream_of(t)[1] is None for t in select.find_all(exp.Table)):
                return in_windows(self._ever(name), [], window)
        if name in self._views:
            return self.inline(read_query(self._views[name]), window)
        if name in self._streams:
            return live_rows(name, self._streams[name], window or WindowText())
        if name in self._live:
            return contents(name, *self._live[name])
        return None

    def _ever(self, view: str) -> Any:
        """All results that a view of streams, or of joined ones, has made up to $tau, with __ts."""
        reading = read_query(self._views[view])
        select: Any = reading.select.copy()
        _require(isinstance(select, exp.Select) and not select.args.get("group"), "joins here")
        ends = []
        for table in list(select.find_all(exp.Table)):
            name, number = stream_of(table)
            window = reading.trailing if number is None else reading.windows[number]
            rows = select_from(self._streams[name], f"{name}__rows").where(
                "__ts <= $tau", dialect="duckdb"
            )
            rows.select("__ts", copy=False)
            rows.meta[WINDOW] = True
            alias = table.alias or name
            inlined = exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier(alias)))
            if window is not None:
                assert window.range_us is not None, "RANGE windows"
                rows.select(f"__ts + {window.range_us} AS __exp", copy=False)
                ends.append(exp.column("__exp", alias))
            table.replace(inlined)
        _stamp(select, "__ts")
        for end in ends:
            select.where(exp.LT(this=_time_of(_items(select)), expression=end), copy=False)
        return select


def _before_now(select: exp.Select, waits_us: int) -> None:
    """Leave out the rows of the instant itself, and the values of those that wait longer."""
    for item in _items(select):
        if isinstance(item, exp.Subquery) and item.this.meta.get(ENDLESS):
            item.this.where("__ts < $tau", dialect="duckdb", copy=False)
            if waits_us:
                known = f"{item.alias}.{_stamp(item.this, '__ts')} + {waits_us} < $tau"
                select.qualify(known, dialect="duckdb", copy=False)


# -- EXCEPT ALL ON -----------------------------------------------------


def _without_keyed_negation(query: exp.Expr) -> exp.Expr:
    def keyed() -> Iterator[exp.Except]:
        return (node for node in query.find_all(exp.Except) if node.args.get("on"))

    while (negation := next(keyed(), None)) is not None:
        rows = _keyed_negation(negation)
        if negation is query:
            query = rows
        else:
            negation.replace(rows)
    return query


def _keyed_negation(negation: exp.Except) -> exp.Expr:
    """``left EXCEPT ALL ON (key, ...) right`` in DuckDB's SQL."""
    left, right = negation.this.unnest(), negation.expression.unnest()
    alone = not isinstance(negation.parent, exp.SetOperation)
    _require(alone, "EXCEPT ALL ON in parentheses")
    base = _only_window(left)
    keys = [column.name for column in negation.args["on"]]
    shown = {e.alias_or_name: e.unalias() for e in left.expressions}
    _require(set(keys) <= set(shown), f"keys out of {list(shown)}, not {keys}")
    age = _stamp(base.this, "__ts"), _stamp(base.this, "__n")
    key_values = [shown[k] for k in keys]
    youngest_first = exp.Order(
        expressions=[exp.Ordered(this=exp.column(c, base.alias), desc=True) for c in age]
    )
    rank = _over(exp.RowNumber(), key_values, youngest_first)
    count = _over(exp.Count(this=exp.Star()), key_values)
    ranked = left.select(exp.alias_(rank, "__rank"), exp.alias_(count, "__v1"))
    names = ", ".join(f'"{n}"' for n in shown)
    agree = " AND ".join(f'b."{k}" IS NOT DISTINCT FROM a."{k}"' for k in keys)
    whole = f"""
        SELECT {names} FROM __left AS a
        WHERE __rank <= __v1 - (SELECT COUNT(*) FROM __right AS b WHERE {agree})
    """
    return filled(whole, {"__left": ranked, "__right": right})


def _over(
    function: exp.Expr, per: Iterable[exp.Expr], order: exp.Order | None = None
) -> exp.Window:
    return exp.Window(this=function, partition_by=[e.copy() for e in per], order=order)


def _only_window(select: exp.Expr) -> exp.Subquery:
    """The window that a SELECT filters and projects, so that its rows have a timestamp."""
    items = list(_items(select))
    simple = len(items) == 1 and not any(
        select.args.get(clause) for clause in ("distinct", "group", "having")
    )
    simple = simple and not any(
        part.find(exp.AggFunc, exp.Query) for part in (*select.expressions, *_terms(select))
    )
    window = items[0] if simple else None
    if not isinstance(window, exp.Subquery) or WINDOW not in window.this.meta:
        raise _beyond("EXCEPT ALL ON of one window with filters and a select list")
    return window


def _stamps(select: exp.Select) -> list[exp.Expr]:
    """The columns that order the rows that a SELECT reads: those of a stream by their arrival,
    others by all their columns.
    """
    items = list(_items(select))
    if len(items) != 1 or not isinstance(items[0], exp.Subquery) or not _arrives(items[0].this):
        return _all_columns(items)
    stamps: list[exp.Expr] = [
        exp.column(_stamp(items[0].this, c), items[0].alias or None) for c in ("__ts", "__n")
    ]
    if "window_end" not in [e.alias_or_name for e in items[0].this.selects]:
        return stamps
    return [*stamps, exp.column("window_end", items[0].alias or None)]  # a row in several windows


def _arrives(rows: exp.Expr) -> bool:
    """Whether rows are those of a stream, with their order."""
    if WINDOW in rows.meta:
        return True
    if not isinstance(rows, exp.Select) or rows.find(exp.Window, exp.AggFunc) or _stars(rows):
        return False
    if any(rows.args.get(c) for c in ("group", "distinct", "joins", "qualify", "limit")):
        return False
    items = list(_items(rows))
    return len(items) == 1 and isinstance(items[0], exp.Subquery) and _arrives(items[0].this)


def _all_columns(items: Iterable[exp.Expr]) -> list[exp.Expr]:
    """All columns of items of FROM; none if they are not named."""
    found: list[exp.Expr] = []
    for item in items:
        rows = item.this if isinstance(item, exp.Subquery) else None
        while isinstance(rows, exp.SetOperation):
            rows = rows.this
        if not isinstance(rows, exp.Select) or _stars(rows):
            return []
        named = [e.alias_or_name for e in rows.selects]
        found += [exp.column(c, item.alias or None) for c in named if not c.startswith("__")]
    return found


# -- non-retroactive tables --------------------------------------------


def _reflect_tables(select: exp.Select) -> None:
    """Restrict the NRRs of a SELECT to their contents at each result's own time."""
    items = list(_items(select))
    tables = [i for i in items if isinstance(i, exp.Subquery) and NRR in i.this.meta]
    if not tables:
        return
    joins = [j for j in select.find_all(exp.Join) if j.parent_select is select]
    _require(not any(j.side for j in joins), "no outer join with an NRR")
    _require(not _stars(select), "columns by name beside an NRR")
    at = _time_of(items)
    for table in tables:
        start, end = (exp.column(c, table.alias) for c in ("__from", "__to"))
        select.where(exp.LTE(this=start, expression=at.copy()), copy=False)
        select.where(exp.LT(this=at.copy(), expression=end), copy=False)


def _time_of(items: Iterable[exp.Expr]) -> exp.Expr:
    """The latest timestamp of the stream rows of a result."""
    times: list[exp.Expr] = [
        exp.column(_stamp(item.this, "__ts"), item.alias)
        for item in items
        if isinstance(item, exp.Subquery) and NRR not in item.this.meta
    ]
    _require(bool(times), "an NRR beside a stream")
    return times[0] if len(times) == 1 else exp.Greatest(this=times[0], expressions=times[1:])


def _stamp(rows: exp.Expr, column: str) -> str:
    """Add ``__ts`` (or ``__n``) to the select list of a query over stream rows."""
    rows = rows.unnest()
    if isinstance(rows, exp.Union) and not rows.args.get("distinct"):
        _stamp(rows.this, column)
        _stamp(rows.expression, column)
        return column
    if not isinstance(rows, exp.Select):
        raise _beyond("rows computed from stream rows")
    if column in [e.alias_or_name for e in rows.expressions]:
        return column
    if WINDOW in rows.meta:
        rows.select(column, copy=False)
        return column
    plain = not rows.args.get("distinct") and not rows.args.get("group")
    plain = plain and not any(e.find(exp.AggFunc) for e in rows.expressions)
    _require(plain and not _stars(rows), "an NRR beside plain SELECTs")
    items = list(_items(rows))
    if column == "__ts":
        rows.select(exp.alias_(_time_of(items), column), copy=False)
    else:
        rows.select(exp.column(_stamp(items[0].this, column), items[0].alias), copy=False)
    return column


# -- parts of a SELECT -------------------------------------------------


def _items(select: exp.Expr) -> Iterator[exp.Expr]:
    """The items of FROM, with any kind of join."""
    source = select.args.get("from_") or select.args.get("from")
    if source is not None:
        yield from _joined(source.this)
    for join in select.args.get("joins") or []:
        yield from _joined(join.this)


def _joined(item: exp.Expr) -> Iterator[exp.Expr]:
    """An item, or the items in parentheses, with those joined to it."""
    if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table | exp.Subquery):
        yield from _joined(item.this)
    else:
        yield item
    for join in item.args.get("joins") or []:
        yield from _joined(join.this)


def _terms(select: exp.Expr) -> list[exp.Expr]:
    where = select.args.get("where")
    return [] if where is None else [where.this]


def _stars(select: exp.Select) -> bool:
    def is_star(expression: exp.Expr) -> bool:
        return isinstance(expression, exp.Star) or (
            isinstance(expression, exp.Column) and isinstance(expression.this, exp.Star)
        )

    return any(is_star(e) for e in select.expressions)


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise _beyond(what)


def _beyond(what: str) -> ValueError:
    return ValueError(f"the oracle supports only {what}")
