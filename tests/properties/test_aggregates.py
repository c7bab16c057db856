"""Aggregates over windows that slide are those of the rows alive, computed anew at every instant;
computed whole, by several queries together, and from parts that are merged.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from functools import reduce
from operator import and_, or_, xor
from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.engine.merged_query import MergedQuery
from eddyline.sql.statements import in_parts_statement
from eddyline.testing import engine_with

DDL: Final = (
    "CREATE STREAM s (ts TIMESTAMP, k BIGINT, x DOUBLE, y DOUBLE, n INT, d DECIMAL(10, 2), "
    "w DECIMAL(38, 4), t STRING, b BOOLEAN, u TIMESTAMP) TIMESTAMP BY ts"
)
STEP: Final = 1_000_000
Row = dict[str, Any]
Rows = list[Row]


def _some(rows: Rows, name: str) -> list[Any]:
    return [r[name] for r in rows if r[name] is not None]


def _pairs(rows: Rows) -> list[tuple[Fraction, Fraction]]:
    return [
        (Fraction(r["y"]), Fraction(r["x"]))
        for r in rows
        if r["y"] is not None and r["x"] is not None
    ]


def _moment(pairs: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """The sum of the products, each factor minus its mean."""
    means = [sum(p[i] for p in pairs) / Fraction(len(pairs)) for i in (0, 1)]
    return sum(((a - means[0]) * (b - means[1]) for a, b in pairs), Fraction(0))


def _spread(least: int, root: bool) -> Callable[[Rows], Any]:
    def expected(rows: Rows) -> Any:
        values = [Fraction(v) for v in _some(rows, "x")]
        if len(values) <= least:
            return None
        variance = float(_moment([(v, v) for v in values]) / (len(values) - least))
        return math.sqrt(variance) if root else variance

    return expected


def _comoment(name: str) -> Callable[[Rows], Any]:
    def expected(rows: Rows) -> Any:
        pairs = _pairs(rows)
        n = len(pairs)
        if n < (1 if name in ("covar_pop", "sxx", "syy", "sxy") else 2):
            return None
        xy = _moment(pairs)
        yy, xx = (_moment([(p[i], p[i]) for p in pairs]) for i in (0, 1))
        if name in ("sxx", "syy", "sxy"):
            return float({"sxx": xx, "syy": yy, "sxy": xy}[name])
        if name.startswith("covar"):
            return float(xy / (n - (name == "covar_samp")))
        if xx == 0 or (name == "corr" and yy == 0):
            return None
        if name == "slope":
            return float(xy / xx)
        if name == "intercept":
            return float(sum(p[0] for p in pairs) / n - xy / xx * sum(p[1] for p in pairs) / n)
        if name == "r2":
            return 1.0 if yy == 0 else float(xy * xy / (xx * yy))
        return float(xy) / math.sqrt(float(xx * yy))

    return expected


def _at(extreme: Callable[..., Any], value: str, by: str, nulls: bool) -> Callable[[Rows], Any]:
    """The value of the first or last row by another one; NULL is before all values."""

    def key(row: Row) -> Any:
        return row[by], row[value] is not None, 0 if row[value] is None else row[value]

    def expected(rows: Rows) -> Any:
        rows = [r for r in rows if r[by] is not None and (nulls or r[value] is not None)]
        return extreme(rows, key=key)[value] if rows else None

    return expected


def _mean(values: list[Decimal]) -> Any:
    with localcontext() as context:
        context.prec = 80
        return (sum(values, Decimal(0)) / len(values)).quantize(Decimal("1e-6"), ROUND_HALF_UP)


def _exact_sum(values: list[Decimal]) -> Decimal:
    with localcontext() as context:
        context.prec = 80
        return sum(values, Decimal(0))


def _of(name: str, function: Callable[[list[Any]], Any]) -> Callable[[Rows], Any]:
    def expected(rows: Rows) -> Any:
        values = _some(rows, name)
        return function(values) if values else None

    return expected


def _between(values: list[Any], fraction: float, descending: bool = False) -> float:
    """The number at a fraction of the values, between two of them if need be."""
    found = sorted((float(v) for v in values), reverse=descending)
    place = (len(found) - 1) * fraction
    low, high = math.floor(place), math.ceil(place)
    if low == high or found[low] == found[high]:
        return found[low]
    return found[low] + (found[high] - found[low]) * (place - low)


def _value_at(values: list[Any], fraction: float) -> Any:
    return sorted(values)[max(math.ceil(len(values) * fraction) - 1, 0)]


def _most_frequent(values: list[Any], last: bool = False) -> Any:
    count = Counter(values)
    most = [v for v in count if count[v] == max(count.values())]
    return max(most) if last else min(most)


def _in_order(value: str, *by: str) -> Callable[[Rows], list[Any]]:
    """The values by columns, one with - in descending order; NULL is the smallest."""

    def key(row: Row) -> Any:
        found = []
        for name in (*by, value):
            v = row[name.removeprefix("-")]
            if name.startswith("-"):
                found.append((v is None, 0 if v is None else -v))
            else:
                found.append((v is not None, 0 if v is None else v))
        return found

    return lambda rows: [r[value] for r in sorted(rows, key=key) if r[value] is not None]


def _joined(separator: str, texts: list[str]) -> str | None:
    return separator.join(texts) if texts else None


EXPECTED: Final[dict[str, Callable[[Rows], Any]]] = {
    "SUM(d)": _of("d", sum),
    "AVG(d)": _of("d", _mean),
    "SUM(w)": _of("w", _exact_sum),
    "MIN(w)": _of("w", min),
    "MAX(w)": _of("w", max),
    "SUM(u - ts)": lambda rows: _of("u", sum)(
        [{"u": None if r["u"] is None else r["u"] - r["ts"]} for r in rows]
    ),
    "SUM(DISTINCT n)": _of("n", lambda values: sum(set(values))),
    "AVG(DISTINCT x)": _of("x", lambda v: float(sum(map(Fraction, set(v))) / len(set(v)))),
    "SUM(DISTINCT d)": _of("d", lambda values: sum(set(values))),
    "COUNT(DISTINCT n, t)": lambda rows: len(
        {(r["n"], r["t"]) for r in rows if r["n"] is not None and r["t"] is not None}
    ),
    "COUNT(n, t)": lambda rows: sum(r["n"] is not None and r["t"] is not None for r in rows),
    "APPROX_COUNT_DISTINCT(t)": lambda rows: len(set(_some(rows, "t"))),
    "VAR_POP(x)": _spread(0, False),
    "VARIANCE(x)": _spread(1, False),
    "STDDEV_POP(x)": _spread(0, True),
    **{f"{n.upper()}(y, x)": _comoment(n) for n in ("covar_pop", "covar_samp", "corr")},
    **{
        f"REGR_{n.upper()}(y, x)": _comoment(n)
        for n in ("slope", "intercept", "r2", "sxx", "syy", "sxy")
    },
    "REGR_COUNT(y, x)": lambda rows: len(_pairs(rows)),
    "BIT_AND(n)": _of("n", lambda values: reduce(and_, values)),
    "BIT_OR(n)": _of("n", lambda values: reduce(or_, values)),
    "BIT_XOR(n)": _of("n", lambda values: reduce(xor, values)),
    "BOOL_AND(b)": _of("b", all),
    "BOOL_OR(b)": _of("b", any),
    "COUNT_IF(b)": lambda rows: sum(r["b"] is True for r in rows),
    "SUM(d) FILTER (WHERE b)": lambda rows: _of("d", sum)([r for r in rows if r["b"]]),
    "CORR(y, x) FILTER (WHERE b)": lambda rows: _comoment("corr")([r for r in rows if r["b"]]),
    "ANY_VALUE(t)": _of("t", min),
    "MIN_BY(t, n)": _at(min, "t", "n", True),
    "MAX_BY(w, t)": _at(max, "w", "t", True),
    "MAX_BY(t, x) FILTER (WHERE b)": lambda rows: _at(max, "t", "x", True)(
        [r for r in rows if r["b"]]
    ),
    "FIRST(n)": _at(min, "n", "ts", True),
    "LAST(t)": _at(max, "t", "ts", True),
    "LAST_VALUE(x) IGNORE NULLS": _at(max, "x", "ts", False),
    "PERCENTILE(x, 0.3)": _of("x", lambda v: _between(v, 0.3)),
    "PERCENTILE(n, array(0, 0.5, 1)) FILTER (WHERE b)": lambda rows: _of(
        "n", lambda v: [_between(v, p) for p in (0, 0.5, 1)]
    )([r for r in rows if r["b"]]),
    "MEDIAN(d)": _of("d", lambda v: _between(v, 0.5)),
    "PERCENTILE_CONT(0.2) WITHIN GROUP (ORDER BY x DESC)": _of(
        "x", lambda v: _between(v, 0.2, descending=True)
    ),
    "PERCENTILE_DISC(0.4) WITHIN GROUP (ORDER BY n)": _of("n", lambda v: float(_value_at(v, 0.4))),
    "APPROX_PERCENTILE(w, 0.5)": _of("w", lambda v: _value_at(v, 0.5)),
    "APPROX_PERCENTILE(w, array(0.2, 0.9))": _of(
        "w", lambda v: [_value_at(v, 0.2), _value_at(v, 0.9)]
    ),
    "MODE(t)": _of("t", _most_frequent),
    "MODE() WITHIN GROUP (ORDER BY n DESC)": _of("n", lambda v: _most_frequent(v, last=True)),
    "ARRAY_AGG(n)": _in_order("n", "ts"),
    "ARRAY_AGG(t ORDER BY n DESC, x)": _in_order("t", "-n", "x"),
    "ARRAY_AGG(DISTINCT t)": lambda rows: sorted(set(_some(rows, "t"))),
    "COLLECT_SET(w)": lambda rows: sorted(set(_some(rows, "w"))),
    "STRING_AGG(t, ',')": lambda rows: _joined(",", _in_order("t", "ts")(rows)),
    "STRING_AGG(DISTINCT t, '|') FILTER (WHERE b)": lambda rows: _joined(
        "|", sorted(set(_some([r for r in rows if r["b"]], "t")))
    ),
    "LISTAGG(t, '-') WITHIN GROUP (ORDER BY x, n)": lambda rows: _joined(
        "-", _in_order("t", "x", "n")(rows)
    ),
}
#: Exact in value, but the last digits of a DOUBLE.
CLOSE: Final = ("VAR", "STDDEV", "COVAR", "CORR", "REGR", "AVG(DISTINCT", "MEDIAN(d)")


def row(random: Random, ts: int) -> Row:
    def maybe(value: Any) -> Any:
        return None if random.random() < 0.2 else value

    number = random.choice([0.5, 1.0, 2.0, -3.25, 1e9, 0.1])
    return {
        "ts": ts,
        "k": random.randrange(3),
        "x": maybe(number),
        "y": maybe(random.choice([0.0, 7.5, -1.25, 1e-3])),
        "n": maybe(random.randrange(-3, 9)),
        "d": maybe(Decimal(random.randrange(-99, 9999)).scaleb(-2)),
        "w": maybe(Decimal(random.choice([10**33, -(10**33), 5, 0, 17])).scaleb(-4)),
        "t": maybe(random.choice(["", "a", "a\0", "a\0b", "b", "longer than eight bytes"])),
        "b": maybe(random.random() < 0.5),
        "u": maybe(ts + random.randrange(10 * STEP)),
    }


def table(rows: Rows, engine: Engine) -> pa.Table:
    fields = engine.catalog.streams["s"].schema
    schema = pa.schema([(f.name, pa.int64() if f.name in ("ts", "u") else f.type) for f in fields])
    rows = [{name: r[name] for name in schema.names} for r in rows]
    found = pa.Table.from_pylist(rows, schema=schema)
    return found.set_column(
        schema.get_field_index("u"), "u", found["u"].cast(pa.timestamp("us", "UTC"))
    )


def declared(**options: Any) -> Engine:
    engine = engine_with(**options)
    engine.sql(DDL)
    return engine


def batches(random: Random) -> list[Rows]:
    found, ts = [], STEP
    for _ in range(4):
        rows = []
        ts += STEP // 2
        for _ in range(random.choice([1, 4, 12])):
            ts += random.choice([0, 100_000, 700_000])
            rows.append(row(random, ts))
        found.append(rows)
    return found


def alive(rows: Rows, window: str, clock: int) -> Rows:
    if window.startswith("RANGE"):
        return [r for r in rows if r["ts"] + 2 * STEP > clock]
    if window.startswith("ROWS"):
        return rows[-7:]
    last = defaultdict(list)
    for r in rows:
        last[r["k"]].append(r)
    return [r for of_key in last.values() for r in of_key[-3:]]


WINDOWS: Final = ("RANGE 2 SECONDS", "ROWS 7", "PARTITION BY k ROWS 3")
NAMES: Final = {f"a{i}": sql for i, sql in enumerate(EXPECTED)}
LIST: Final = ", ".join(f"{sql} AS {name}" for name, sql in NAMES.items())


def check(found: list[Row], rows: Rows) -> None:
    groups = defaultdict(list)
    for r in rows:
        groups[r["k"]].append(r)
    assert sorted(f["k"] for f in found) == sorted(groups)
    for f in found:
        for name, sql in NAMES.items():
            expected = EXPECTED[sql](groups[f["k"]])
            value = f[name]
            if sql.startswith("SUM(u") and value is not None:
                value = round(value.total_seconds() * STEP)
            if sql.startswith(CLOSE) and expected is not None:
                value, expected = value, pytest.approx(expected, rel=1e-12, abs=1e-300)
                if sql.startswith("REGR_INTERCEPT"):  # a difference of rounded numbers
                    expected = pytest.approx(expected.expected, rel=1e-9, abs=1e-6)
            assert value == expected, (sql, groups[f["k"]])


@pytest.mark.parametrize(
    ("window", "state"),
    [(w, "upa") for w in WINDOWS] + [(WINDOWS[0], "negative-tuple"), (WINDOWS[0], "direct")],
)
def test_they_follow_the_rows_alive(window: str, state: str, tmp_path: Any) -> None:
    random = Random(f"{window} {state}")
    engine = declared(state=state, chunk_rows=3)
    engine.query(f"SELECT k, {LIST} FROM s [{window}] GROUP BY k", name="q")
    if window == WINDOWS[0]:  # a flow that both share
        engine.query(f"SELECT k, {LIST} FROM s [{window}] WHERE k < 2 GROUP BY k", name="some")
    rows: Rows = []
    for number, batch in enumerate(batches(random)):
        engine.process({"s": table(batch, engine)})
        rows += batch
        for clock in (rows[-1]["ts"], rows[-1]["ts"] + STEP // 4):
            engine.advance(clock)
            check(engine.queries["q"].snapshot().to_pylist(), alive(rows, window, clock))
        if window == WINDOWS[0]:
            expected = [r for r in alive(rows, window, clock) if r["k"] < 2]
            check(engine.queries["some"].snapshot().to_pylist(), expected)
        if number == 1:
            engine.save(tmp_path / "saved")
            engine = Engine.load(tmp_path / "saved")


@pytest.mark.parametrize(
    ("window", "size", "step"),
    [("TUMBLE 3 SECONDS", 3, 3), ("HOP 4 SECONDS EVERY 2 SECONDS", 4, 2)],
)
def test_they_are_final_in_fixed_windows(window: str, size: int, step: int, tmp_path: Any) -> None:
    random = Random(window)
    engine = declared(chunk_rows=5)
    keys = "k, window_start, window_end"
    engine.query(f"SELECT {keys}, {LIST} FROM s [{window}] GROUP BY {keys}", name="q")
    rows: Rows = []
    found: list[Row] = []
    for number, batch in enumerate(batches(random)):
        found += engine.process({"s": table(batch, engine)})["q"].to_pylist()
        rows += batch
        if number == 1:
            engine.save(tmp_path / "saved")
            engine = Engine.load(tmp_path / "saved")
    found += engine.advance(rows[-1]["ts"] + 10 * STEP)["q"].to_pylist()
    of_end = defaultdict(list)
    for f in found:
        of_end[round(f["window_end"].timestamp()) * STEP].append(f)
    for end in range(0, rows[-1]["ts"] + 10 * STEP, step * STEP):
        check(of_end.pop(end, []), [r for r in rows if end - size * STEP <= r["ts"] < end])
    assert not of_end


def test_they_are_final_in_sessions(tmp_path: Any) -> None:
    random = Random(11)
    engine = declared(chunk_rows=5)
    keys, gap = "k, window_start, window_end", 650_000  # no two rows are that far apart
    sql = f"SELECT {keys}, {LIST} FROM s [SESSION 650 MILLISECONDS BY k] GROUP BY {keys}"
    engine.query(sql, name="q")
    rows: Rows = []
    found: list[Row] = []
    for number, batch in enumerate(batches(random)):
        found += engine.process({"s": table(batch, engine)})["q"].to_pylist()
        rows += batch
        if number == 1:
            engine.save(tmp_path / "saved")
            engine = Engine.load(tmp_path / "saved")
    found += engine.advance(rows[-1]["ts"] + 10 * STEP)["q"].to_pylist()
    sessions: list[Rows] = []
    for k in range(3):
        last = None
        for r in rows:
            if r["k"] == k:
                if last is None or r["ts"] > last + gap:
                    sessions.append([])
                sessions[-1].append(r)
                last = r["ts"]
    of_end = {(f["k"], round(f["window_end"].timestamp() * STEP)): f for f in found}
    assert len(of_end) == len(found) == len(sessions)
    for session in sessions:
        check([of_end[session[0]["k"], session[-1]["ts"] + gap]], session)


def test_groups_are_chosen_by_them() -> None:
    random = Random(5)
    engine = declared()
    having = "BOOL_OR(b) AND COUNT(DISTINCT n, t) > 1 AND SUM(d) > 0.5"
    engine.query(
        f"SELECT k, MAX_BY(w, t) AS v FROM s [RANGE 2 SECONDS] GROUP BY k HAVING {having}", name="q"
    )
    rows: Rows = []
    chosen = 0
    for batch in batches(random):
        engine.process({"s": table(batch, engine)})
        rows += batch
        groups = defaultdict(list)
        for r in alive(rows, WINDOWS[0], rows[-1]["ts"]):
            groups[r["k"]].append(r)
        expected = {
            (k, EXPECTED["MAX_BY(w, t)"](of))
            for k, of in groups.items()
            if any(_some(of, "b"))
            and EXPECTED["COUNT(DISTINCT n, t)"](of) > 1
            and (EXPECTED["SUM(d)"](of) or 0) > Decimal("0.5")
        }
        found = {(r["k"], r["v"]) for r in engine.queries["q"].snapshot().to_pylist()}
        assert found == expected
        chosen += len(found)
    assert chosen


@pytest.mark.parametrize("seed", range(2))
def test_they_are_merged_from_parts(seed: int) -> None:
    random = Random(seed)
    select = f"SELECT k, {LIST} FROM s [RANGE 2 SECONDS] GROUP BY k"
    one = declared()
    merged = MergedQuery(one.query(select, name="q"))
    places = [declared(), declared()]
    for place in places:
        place.sql(in_parts_statement(f"CREATE QUERY q AS {select}"))
    rows: Rows = []
    for batch in batches(random):
        rows += batch
        clock = rows[-1]["ts"]
        dealt = [random.randrange(2) for _ in batch]
        changes = []
        for number, place in enumerate(places):
            own = [r for r, to in zip(batch, dealt, strict=True) if to == number]
            changes.append(place.process({"s": table(own, place)}, watermark=clock)["q"])
        merged.take_in(changes, clock)
        check(merged.query.snapshot().to_pylist(), alive(rows, WINDOWS[0], clock))
