"""What Spark is asked, as SQL; and the hash of bags in its expressions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from eddyline.bench.peers.cases import LINKED, Case, Columns

_FACTOR: Final = 0x9E3779B97F4A7C15 - 2**64
#: ``customer``, of which every key begins, as the polynomial of its bytes.
_PREFIX: Final = b"customer"
_DIGITS: Final = 6


def hashed(case: Case, results: Any) -> Any:
    """One row: ``n``, the number of results, and ``h``, the sum of their hashes."""
    names = [name for name in results.columns if name != "added"]
    rows = results.selectExpr("*", "0L AS h")
    for name in names:
        value = _text_number(name) if case.string_keys and name == "k" else name
        rows = rows.selectExpr("* EXCEPT (h)", f"(h ^ {value}) * {_FACTOR}L AS h")
        rows = rows.selectExpr("* EXCEPT (h)", "h ^ shiftrightunsigned(h, 32) AS h")
    rows = rows.selectExpr("* EXCEPT (h)", f"h * {_FACTOR}L AS h")
    sign = "added" if "added" in results.columns else "1L"
    rows = rows.selectExpr(f"{sign} AS d", "h ^ shiftrightunsigned(h, 32) AS h")
    return rows.selectExpr("sum(d) AS n", "sum(d * h) AS h")


def _text_number(name: str) -> str:
    prefix = 0
    for byte in _PREFIX:
        prefix = prefix * 31 + byte
    parts = [str(_signed(prefix * 31**_DIGITS)) + "L"]
    for i in range(_DIGITS):
        digit = f"ascii(substring({name}, {len(_PREFIX) + 1 + i}, 1))"
        parts.append(f"{digit} * {31 ** (_DIGITS - 1 - i)}L")
    return f"({' + '.join(parts)})"


def _signed(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def cells_of(rules: Columns) -> dict[str, Any]:
    """The rules, each in every cell of a grid that it covers a part of."""
    side = int(max(1, rules["x1"][0] - rules["x0"][0]))
    made: dict[str, list[int]] = {n: [] for n in ("id", "cx", "cy", "x0", "x1", "y0", "y1", "side")}
    for i, (x0, x1, y0, y1) in enumerate(zip(*rules.values(), strict=True)):
        for x in range(x0 // side, x1 // side + 1):
            for y in range(y0 // side, y1 // side + 1):
                row = (i, x, y, x0, x1, y0, y1, side)
                for name, value in zip(made, row, strict=True):
                    made[name].append(int(value))
    return {name: np.array(values, np.int64) for name, values in made.items()}


def stream_join(case: Case) -> str:
    """With Spark's own operators on streams."""
    if case.kind == "rules":
        side = max(1, int(1_000_000 / np.sqrt(max(case.count, 4))))
        return (
            "SELECT /*+ BROADCAST(r) */ r.id, s.v FROM s JOIN rules r "
            f"ON s.x DIV {side} = r.cx AND s.y DIV {side} = r.cy "
            "AND s.x BETWEEN r.x0 AND r.x1 AND s.y BETWEEN r.y0 AND r.y1"
        )
    window = f"INTERVAL {case.window_us} MICROSECONDS"
    near = f"b.ts > a.ts - {window} AND b.ts < a.ts + {window}"
    return f"{_joined(case)} AND {near}"


def by_batch(case: Case, last_us: int, newest_us: int) -> str:
    """Over the view ``kept``: the rows of a batch and those before that are still in a window.

    Args:
        last_us: the largest timestamp before the batch. newest_us: that of the batch.
    """
    window = case.window_us
    if case.kind == "over":
        return f"""
            SELECT us, k, n, t FROM (
              SELECT us, k, count(*) OVER w AS n, sum(v) OVER w AS t FROM kept WINDOW w AS (
                PARTITION BY k ORDER BY us RANGE BETWEEN {window} PRECEDING AND CURRENT ROW))
            WHERE us > {last_us}"""
    if case.kind == "groups":
        return f"""
            SELECT us, k, n, t FROM (
              SELECT us, k, sum(d) OVER w AS n, sum(d * v) OVER w AS t FROM (
                SELECT us, k, v, 1L AS d FROM kept UNION ALL
                SELECT us + {window}, k, v, -1L FROM kept WHERE us + {window} <= {newest_us})
              WINDOW w AS (PARTITION BY k ORDER BY us ROWS UNBOUNDED PRECEDING))
            WHERE n > 0 AND us > {last_us}"""
    if case.kind == "distinct":
        return f"""
            WITH near AS (
              SELECT us, k, lag(us) OVER w AS earlier, lead(us) OVER w AS later FROM kept
              WINDOW w AS (PARTITION BY k ORDER BY us))
            SELECT us, k, 1L AS added FROM near
            WHERE us > {last_us} AND (earlier IS NULL OR earlier + {window} < us) UNION ALL
            SELECT us + {window}, k, -1L FROM near
            WHERE us + {window} <= {newest_us} AND (later IS NULL OR later > us + {window})"""
    streams = case.streams
    near = " AND ".join(
        f"abs({t}.us - {s}.us) < {window}" for i, t in enumerate(streams) for s in streams[:i]
    )
    newest = ", ".join(f"{s}.us" for s in streams)
    views = ", ".join(f"{s} AS (SELECT * FROM kept WHERE s = '{s}')" for s in streams)
    joined = f"{_joined(case)} AND {near} AND greatest({newest}) > {last_us}"
    if case.kind != "queries":
        return f"WITH {views} {joined}"
    return f"""
        WITH {views} SELECT /*+ BROADCAST(r) */ r.id, p.av, p.bv FROM ({joined}) AS p JOIN rules r
        ON p.ax < r.x AND p.apart < r.window_us"""


def _joined(case: Case) -> str:
    streams = case.streams
    if case.kind in LINKED:
        values = ", ".join(f"{s}.v AS {s}v" for s in streams)
        return f"SELECT {values} FROM {', '.join(streams)} WHERE {case.equal_keys()}"
    names = "a.k, a.v AS av, b.v AS bv"
    if case.kind == "queries":
        names = "a.v AS av, b.v AS bv, a.x AS ax, abs(a.us - b.us) AS apart"
    return f"SELECT {names} FROM a, b WHERE a.k = b.k"
