"""Aggregates computed anew from all rows of a group, in plain Python, and rows to try them with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from functools import reduce
from operator import and_, or_, xor
from random import Random
from typing import Any, Final

STEP: Final = 1_000_000
Row = dict[str, Any]
Rows = list[Row]


def present(rows: Rows, name: str) -> list[Any]:
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
        values = [Fraction(v) for v in present(rows, "x")]
        if len(values) <= least:
            return None
        variance = float(_moment([(v, v) for v in values]) / (len(values) - least))
        return math.sqrt(variance) if root else variance

    return expected


def _shape(rows: Rows, power: int) -> Any:
    """Skewness (3) or kurtosis (4)."""
    values = [Fraction(v) for v in present(rows, "n")]
    if not values:
        return None
    mean = sum(values) / len(values)
    second, high = (sum((v - mean) ** p for v in values) / len(values) for p in (2, power))
    if not second:
        return None
    shape = float(high) / math.sqrt(float(second**power)) - (3 if power == 4 else 0)
    return round(shape, 9)


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
        values = present(rows, name)
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
    "APPROX_COUNT_DISTINCT(t)": lambda rows: len(set(present(rows, "t"))),
    "VAR_POP(x)": _spread(0, False),
    "VARIANCE(x)": _spread(1, False),
    "STDDEV_POP(x)": _spread(0, True),
    **{f"{n.upper()}(y, x)": _comoment(n) for n in ("covar_pop", "covar_samp", "corr")},
    **{
        f"REGR_{n.upper()}(y, x)": _comoment(n)
        for n in ("slope", "intercept", "r2", "sxx", "syy", "sxy")
    },
    "ROUND(SKEWNESS(n), 9)": lambda rows: _shape(rows, 3),
    "ROUND(KURTOSIS(n) FILTER (WHERE b), 9)": lambda rows: _shape([r for r in rows if r["b"]], 4),
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
    "HISTOGRAM(t)": _of("t", lambda v: sorted(Counter(v).items())),
    "HISTOGRAM(n) FILTER (WHERE n > 0)": lambda rows: (
        sorted(Counter(v for v in present(rows, "n") if v > 0).items()) or None
    ),
    "ARRAY_AGG(n)": _in_order("n", "ts"),
    "ARRAY_AGG(t ORDER BY n DESC, x)": _in_order("t", "-n", "x"),
    "ARRAY_AGG(DISTINCT t)": lambda rows: sorted(set(present(rows, "t"))),
    "COLLECT_SET(w)": lambda rows: sorted(set(present(rows, "w"))),
    "STRING_AGG(t, ',')": lambda rows: _joined(",", _in_order("t", "ts")(rows)),
    "STRING_AGG(DISTINCT t, '|') FILTER (WHERE b)": lambda rows: _joined(
        "|", sorted(set(present([r for r in rows if r["b"]], "t")))
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
