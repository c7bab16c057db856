"""Rows of streams in their windows, and of live tables, at ``$tau``, as sub-selects of DuckDB."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import sqlglot
from sqlglot import exp

from eddyline.testing.live import LiveUpdates
from eddyline.testing.month_windows import FixedLengths, MonthWindows, rendered
from eddyline.testing.reading import WindowText

#: Keys in the ``meta`` of a sub-select: its rows are a window's (with __ts and __n), or an NRR's.
WINDOW: Final = "window"
NRR: Final = "nrr"
#: The same for rows of a stream that never leave.
ENDLESS: Final = "endless"


def live_rows(stream: str, columns: Iterable[str], window: WindowText) -> exp.Expr:
    """The rows of a stream that a window holds at $tau, which are in the order of arrival if they
    are not in sessions.
    """
    if window.fixed is not None or window.session is not None:
        columns = tuple(columns)
        rows = in_windows(
            select_from((*columns, "__ts", "__n"), f"{stream}__rows"), columns, window
        )
        if window.fixed is not None:
            rows.meta[WINDOW] = True
        return rows
    rows = select_from(columns, f"{stream}__rows").where("__ts <= $tau", dialect="duckdb")
    if window.range_us is not None:
        rows = rows.where(f"$tau < __ts + {window.range_us}", dialect="duckdb")
    if window.rows is not None:
        per = ", ".join(f'"{c}"' for c in window.partition)
        partition = f"PARTITION BY {per} " if per else ""
        newest = f"ROW_NUMBER() OVER ({partition}ORDER BY __ts DESC, __n DESC)"
        rows = rows.qualify(f"{newest} <= {window.rows}", dialect="duckdb")
    rows.meta[WINDOW] = True
    rows.meta[ENDLESS] = window.range_us is None and window.rows is None
    return rows


def contents(name: str, updates: LiveUpdates, columns: tuple[str, ...]) -> exp.Expr:
    """The rows of a live table at $tau; of an NRR all rows ever, with their lifespans."""
    if updates == "retroactive":
        rows = select_from(columns, f"{name}__lifespans")
        return rows.where("__from <= $tau AND $tau < __to", dialect="duckdb")
    rows = select_from((*columns, "__from", "__to"), f"{name}__lifespans")
    rows.meta[NRR] = True
    return rows


def select_from(columns: Iterable[str], table: str) -> exp.Select:
    """Columns of a table of the oracle."""
    rows: exp.Select = exp.select(*(exp.column(c, quoted=True) for c in columns))
    return rows.from_(exp.to_table(f'"{table}"', dialect="duckdb"))


def in_windows(rows: exp.Expr, columns: Iterable[str], window: WindowText) -> exp.Expr:
    """Rows with __ts in windows between fixed instants, or sessions; no columns: all of them."""
    if window.session is not None:
        return _in_sessions(rows, columns, *window.session)
    assert window.fixed is not None, "there is no other window of this kind"
    return _in_fixed(rows, columns, window.fixed)


def _in_fixed(
    rows: exp.Expr, columns: Iterable[str], fixed: FixedLengths | MonthWindows
) -> exp.Expr:
    """Rows with __ts, once for each window that contains __ts and is open at $tau.

    Args:
        columns: of the rows; none: all but __ts.
    """
    shown = ", ".join(f'r."{c}"' for c in columns) or "r.* EXCLUDE (__ts)"
    numbers, start, end = rendered(fixed)
    text = f"""
        SELECT {shown}, make_timestamp({start}) AS window_start, make_timestamp({end}) AS window_end
        FROM __rows AS r, (SELECT UNNEST({numbers}) AS k) AS n
        WHERE r.__ts <= $tau AND {start} <= r.__ts AND r.__ts < {end} AND $tau < {end}
    """
    return filled(text, {"__rows": rows})


def _in_sessions(rows: exp.Expr, columns: Iterable[str], gap: int, keys: Sequence[str]) -> exp.Expr:
    """Rows with __ts in the sessions that have not ended before $tau, as they are then.

    Args:
        columns: of the rows; none: all but __ts.
    """
    added = "__ts, __new, __session, __start, __last"
    shown = ", ".join(f'r."{c}"' for c in columns) or f"r.* EXCLUDE ({added})"
    by = ", ".join(f'"{k}"' for k in keys) or "0"
    text = f"""
        SELECT {shown}, make_timestamp(r.__start) AS window_start,
            make_timestamp(r.__last + {gap}) AS window_end
        FROM (SELECT b.*, MIN(b.__ts) OVER (PARTITION BY {by}, b.__session) AS __start,
                MAX(b.__ts) OVER (PARTITION BY {by}, b.__session) AS __last
            FROM (SELECT a.*, SUM(a.__new) OVER (PARTITION BY {by} ORDER BY a.__ts) AS __session
                FROM (SELECT o.*, CASE WHEN o.__ts - LAG(o.__ts) OVER (PARTITION BY {by} ORDER BY
                        o.__ts) <= {gap} THEN 0 ELSE 1 END AS __new
                    FROM __rows AS o WHERE o.__ts <= $tau) AS a) AS b) AS r
        WHERE $tau <= r.__last + {gap}
    """
    return filled(text, {"__rows": rows})


def filled(text: str, tables: dict[str, exp.Expr]) -> exp.Expr:
    """A query with its placeholder tables replaced."""
    query = sqlglot.parse_one(text, read="duckdb")
    for table in list(query.find_all(exp.Table)):
        if table.name in tables:
            alias = exp.TableAlias(this=exp.to_identifier(table.alias))
            table.replace(exp.Subquery(this=tables[table.name], alias=alias))
    return query
