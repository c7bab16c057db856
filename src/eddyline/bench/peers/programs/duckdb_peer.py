"""DuckDB offline: all rows at hand as its own tables, one statement; the practical limit."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.bench.peers.bags import Bag, bag_of
from eddyline.bench.peers.cases import LINKED, PLANE, Case, key_texts, read_case, read_columns
from eddyline.bench.peers.programs.serve import serve

#: Widths of buckets to try, in windows.
_WIDTHS: Final = (1, 4, 16)


def forms(case: Case) -> tuple[str, ...]:
    """The names of the forms of a case."""
    if case.kind in ("join", "queries", *LINKED):
        packed = () if case.string_keys else ("packed",)
        return tuple(f"{how} {width}" for width in _WIDTHS for how in ("two-keys", *packed))
    return ("statement",)


def main(folder: Path) -> None:
    """Serve the case in a folder."""
    import duckdb

    case = read_case(folder)
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    connection = duckdb.connect(config={"threads": threads})
    for stream in case.streams:
        _load(connection, stream, _columns(case, folder, stream))
    if case.kind == "rules":
        rules = read_columns(folder, "rules", ("x0", "x1", "y0", "y1"))
        _load(connection, "rules", {"id": np.arange(case.count), **rules})
    if case.kind == "queries":
        rules = read_columns(folder, "rules", ("window_us", "x"))
        _load(connection, "rules", {"id": np.arange(case.count), **rules})

    def prepare(form: str) -> Callable[[], Bag]:
        sql = statement(case, form)
        return lambda: _run(case, connection, sql)

    serve(prepare)


def _columns(case: Case, folder: Path, stream: str) -> dict[str, Any]:
    columns: dict[str, Any] = dict(read_columns(folder, stream, ("ts", *case.columns)))
    if case.string_keys:
        columns["k"] = pa.array(key_texts(np.arange(case.keys))).take(pa.array(columns["k"]))
    return columns


def _load(connection: Any, name: str, columns: dict[str, Any]) -> None:
    connection.register("arrived", pa.table(columns))
    connection.execute(f"CREATE TABLE {name} AS SELECT * FROM arrived")
    connection.unregister("arrived")


def _run(case: Case, connection: Any, sql: str) -> Bag:
    table = connection.sql(sql).to_arrow_table()
    columns = dict(zip(table.schema.names, table.columns, strict=True))
    added = columns.pop("added", None)
    signs = None if added is None else added.to_numpy().astype(np.bool_)
    return bag_of(list(columns.values()), signs)


def statement(case: Case, form: str) -> str:
    """The query of a case."""
    window, last = case.window_us, f"(SELECT max(ts) FROM {case.streams[-1]})"
    if case.kind in ("join", "queries", *LINKED):
        how, width = form.split()
        return _joins(case, how == "packed", int(width) * window)
    if case.kind == "groups":
        return f"""
            SELECT ts, k, n, t FROM (
              SELECT ts, k, (sum(d) OVER w)::BIGINT AS n, (sum(d * v) OVER w)::BIGINT AS t FROM (
                SELECT ts, k, v, 1 AS d FROM s UNION ALL
                SELECT ts + {window}, k, v, -1 FROM s WHERE ts + {window} <= {last})
              WINDOW w AS (PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING))
            WHERE n > 0"""
    if case.kind == "over":
        return f"""
            SELECT ts, k, count(*) OVER w AS n, (sum(v) OVER w)::BIGINT AS t FROM s WINDOW w AS (
              PARTITION BY k ORDER BY ts RANGE BETWEEN {window} PRECEDING AND CURRENT ROW)"""
    if case.kind == "absent":
        return _absent(window, last)
    if case.kind == "distinct":
        return f"""
            WITH near AS (
              SELECT ts, k, lag(ts) OVER w AS earlier, lead(ts) OVER w AS later FROM s
              WINDOW w AS (PARTITION BY k ORDER BY ts))
            SELECT ts, k, TRUE AS added FROM near WHERE earlier IS NULL OR earlier + {window} < ts
            UNION ALL
            SELECT ts + {window}, k, FALSE FROM near
            WHERE ts + {window} <= {last} AND (later IS NULL OR later > ts + {window})"""
    side = max(1, int(PLANE / max(case.count, 4) ** 0.5))
    return f"""
        WITH lines AS (
          SELECT *, unnest(range(x0 // {side}, x1 // {side} + 1)) AS cx FROM rules),
        squares AS (SELECT *, unnest(range(y0 // {side}, y1 // {side} + 1)) AS cy FROM lines)
        SELECT r.id, s.v FROM s JOIN squares r
          ON s.x // {side} = r.cx AND s.y // {side} = r.cy
          AND s.x BETWEEN r.x0 AND r.x1 AND s.y BETWEEN r.y0 AND r.y1"""


def _absent(window_us: int, last: str) -> str:
    """Spans in which a key is in ``b``, and for each row of ``a`` the ends that are in its life."""
    return f"""
        WITH near AS (
          SELECT ts, k, lag(ts) OVER w AS earlier FROM b WINDOW w AS (PARTITION BY k ORDER BY ts)),
        numbered AS (
          SELECT ts, k, sum((earlier IS NULL OR earlier + {window_us} < ts)::INT) OVER (
            PARTITION BY k ORDER BY ts ROWS UNBOUNDED PRECEDING) AS span FROM near),
        spans AS (
          SELECT k, min(ts) AS low, max(ts) + {window_us} AS high FROM numbered GROUP BY k, span),
        lives AS (SELECT k, v, ts AS low, ts + {window_us} AS high FROM a),
        met AS (
          SELECT l.v, l.low, l.high, s.low AS came, s.high AS went FROM lives l JOIN spans s
          ON l.k = s.k AND s.low < l.high AND s.high > l.low),
        changes AS (
          SELECT low AS ts, v, TRUE AS added FROM lives
          WHERE v NOT IN (SELECT v FROM met WHERE came <= low AND went > low) UNION ALL
          SELECT high, v, FALSE FROM lives
          WHERE v NOT IN (SELECT v FROM met WHERE came < high AND went >= high) UNION ALL
          SELECT came, v, FALSE FROM met WHERE came > low UNION ALL
          SELECT went, v, TRUE FROM met WHERE went < high)
        SELECT ts, v, added FROM changes
        WHERE ts <= greatest({last}, (SELECT max(ts) FROM a))"""


def _joins(case: Case, packed: bool, bucket_us: int) -> str:
    """Joins by time bucket: a row is repeated for each bucket that its partners can be in."""
    if case.kind in LINKED:
        return _chain(case, packed, bucket_us)
    pairs = _pairs(case, "a", "b", ("k", "k"), packed, bucket_us)
    if case.kind == "join":
        return f"SELECT ak AS k, av, bv FROM ({pairs})"
    return f"""
        SELECT r.id, av, bv FROM ({pairs}) AS p JOIN rules r
          ON p.ax < r.x AND abs(p.ats - p.bts) < r.window_us"""


def _chain(case: Case, packed: bool, bucket_us: int) -> str:
    following = "k" if case.kind == "star" else "j"
    joined, known = "a", f"SELECT ts AS ats, v AS av, k AS first, ts, {following} AS key FROM a"
    for right in case.streams[1:]:
        near = " AND ".join(f"abs(l.{s}ts - r.ts) < {case.window_us}" for s in joined)
        left_key, right_key = _keys("l.key", "l.h", "r.k", "r.h", packed)
        known = f"""
            SELECT l.* EXCLUDE (ts, key, h), r.ts AS {right}ts, r.v AS {right}v, r.ts AS ts,
              r.{following} AS key
            FROM (SELECT *, ts // {bucket_us} AS h FROM ({known})) AS l
            JOIN (SELECT *, {_near(case, bucket_us)} AS h FROM {right}) AS r
              ON {left_key} = {right_key} AND {near}"""
        joined += right
    met = " WHERE key = first" if case.kind == "cycle" else ""
    return f"SELECT {', '.join(f'{s}v' for s in case.streams)} FROM ({known}){met}"


def _pairs(
    case: Case, left: str, right: str, keys: tuple[str, str], packed: bool, bucket_us: int
) -> str:
    left_key, right_key = _keys(f"l.{keys[0]}", "l.h", f"r.{keys[1]}", "r.h", packed)
    x = ", l.x AS ax" if case.kind == "queries" else ""
    return f"""
        SELECT l.k AS ak, l.v AS av, r.v AS bv, l.ts AS ats, r.ts AS bts{x}
        FROM (SELECT *, ts // {bucket_us} AS h FROM {left}) AS l
        JOIN (SELECT *, {_near(case, bucket_us)} AS h FROM {right}) AS r
          ON {left_key} = {right_key} AND abs(l.ts - r.ts) < {case.window_us}"""


def _near(case: Case, bucket_us: int) -> str:
    low, high = (f"(ts {sign} {case.window_us}) // {bucket_us}" for sign in "-+")
    return f"unnest(range({low}, {high} + 1))"


def _keys(left: str, of_left: str, right: str, of_right: str, packed: bool) -> tuple[str, str]:
    if packed:
        return f"{left} * 1000000 + {of_left}", f"{right} * 1000000 + {of_right}"
    return f"({left}, {of_left})", f"({right}, {of_right})"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
