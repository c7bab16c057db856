"""Structures, lists and maps in columns: queries over them have the results of queries over streams
whose columns are the parts, and whose rows are the elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eddyline import Engine
from eddyline.testing import engine_with, rows_of
from eddyline.testing.strategies import OPTIONS
from net_changes import net_changes

WINDOWS: Final = ("RANGE 2 SECONDS", "RANGE 500 MILLISECONDS", "UNBOUNDED", "NOW")
PART: Final = pa.struct([("a", pa.int64()), ("b", pa.string())])
NESTED: Final = pa.schema(
    [
        ("ts", pa.int64()),
        ("o", pa.struct([("x", pa.int64()), ("p", PART)])),
        ("l", pa.list_(pa.int64())),
        ("parts", pa.list_(PART)),
        ("m", pa.map_(pa.string(), pa.int64())),
    ]
)
DECLARED: Final = (
    "ts TIMESTAMP, o STRUCT<x: BIGINT, p: STRUCT<a: BIGINT, b: STRING>>, l ARRAY<BIGINT>, "
    "parts ARRAY<STRUCT<a: BIGINT, b: STRING>>, m MAP<STRING, BIGINT>"
)
#: Streams of parts: of whole rows, and of elements.
FLAT: Final = {
    "flat": "x BIGINT, a BIGINT, b STRING, n INT, l0 BIGINT, k BIGINT",
    "ints": "x BIGINT, b STRING, n INT, e BIGINT, i BIGINT",
    "some": "x BIGINT, b STRING, e BIGINT, i BIGINT",
    "parts": "x BIGINT, a BIGINT, b STRING",
    "pairs": "x BIGINT, key STRING, value BIGINT",
}
#: A query over the stream s of nested rows and what it means over streams of parts.
_PAIRS: Final = """\
SELECT o.x, o.p.a, s.o.p.b AS b FROM s [W] WHERE o.x > 1
=
SELECT x, a, b FROM flat [W] WHERE x > 1

SELECT size(l) AS n, get(l, 0) AS l0, m['k'] AS k FROM s [W]
=
SELECT n, l0, k FROM flat [W]

SELECT l[0] AS l0, o.x FROM s [W] WHERE size(l) > 0
=
SELECT l0, x FROM flat [W] WHERE n > 0

SELECT o.p.b, COUNT(*) AS c, MAX(o.x) AS x FROM s [W] GROUP BY o.p.b
=
SELECT b, COUNT(*) AS c, MAX(x) AS x FROM flat [W] GROUP BY b

SELECT t.o.x, u.o.p.a FROM s [W] AS t, s [V] AS u WHERE t.o.x = u.o.p.a
=
SELECT t.x, u.a FROM flat [W] AS t, flat [V] AS u WHERE t.x = u.a

SELECT o.x, e FROM s [W], UNNEST(l) AS t (e) WHERE e > 0 AND o.x < 3
=
SELECT x, e FROM ints [W] WHERE e > 0 AND x < 3

SELECT o.x, e, i FROM s [W] CROSS JOIN UNNEST(s.l) WITH ORDINALITY AS t (e, i)
=
SELECT x, e, i FROM ints [W]

SELECT o.x, e, i FROM s [W] LEFT JOIN UNNEST(l) WITH ORDINALITY AS t (e, i) ON TRUE
=
SELECT x, e, i FROM some [W]

SELECT e, COUNT(*) AS c, SUM(o.x) AS x FROM s [W], UNNEST(l) AS t (e) GROUP BY e
=
SELECT e, COUNT(*) AS c, SUM(x) AS x FROM ints [W] GROUP BY e

SELECT DISTINCT e FROM s [W] LATERAL VIEW explode(l) t AS e
=
SELECT DISTINCT e FROM ints [W]

SELECT o.x, a, t.b FROM s [W], UNNEST(parts) AS t (a, b)
=
SELECT x, a, b FROM parts [W]

SELECT o.x, part.a FROM s [W], explode(parts) AS t (part) WHERE part.b = 'u'
=
SELECT x, a FROM parts [W] WHERE b = 'u'

SELECT o.x, key, value FROM s [W], UNNEST(m) AS t
=
SELECT x, key, value FROM pairs [W]

SELECT t.o.x, e, u.o.p.b AS b FROM s [W] AS t, UNNEST(t.l) AS v (e), s [V] AS u WHERE e = u.o.x
=
SELECT t.x, t.e, u.b FROM ints [W] AS t, flat [V] AS u WHERE t.e = u.x

SELECT e, d FROM s [W] AS t, s [V] AS u, UNNEST(t.l) AS v (e), UNNEST(u.l) AS w (d) WHERE e = d
AND t.o.x = u.o.x
=
SELECT t.e, u.e AS d FROM ints [W] AS t, ints [V] AS u WHERE t.e = u.e AND t.x = u.x

SELECT o.x, e FROM s [W], UNNEST(l) AS t (e) WHERE NOT EXISTS (SELECT 1 FROM s [V] AS u WHERE
u.o.x = e)
=
SELECT x, e FROM ints [W] WHERE NOT EXISTS (SELECT 1 FROM flat [V] AS u WHERE u.x = e)

SELECT e FROM (SELECT e, o.x FROM s [W], UNNEST(l) AS t (e) UNION ALL SELECT value, o.x FROM s
[V], UNNEST(m) AS t) AS q WHERE x > 0
=
SELECT e FROM (SELECT e, x FROM ints [W] UNION ALL SELECT value, x FROM pairs [V]) AS q WHERE x
> 0"""
QUERIES: Final = [tuple(pair.split("\n=\n")) for pair in _PAIRS.split("\n\n")]
EMITS: Final = ("", " EMIT CHANGES", " EMIT SNAPSHOT EVERY 1 SECOND")


@dataclass
class Rows:
    """Rows of the nested stream and of those of its parts."""

    nested: list[dict[str, Any]] = field(default_factory=list)
    flat: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {n: [] for n in FLAT})

    def add(self, ts: int, random: Random) -> None:
        some = random.choices([None, 0, 1, 2, 3], k=8)
        p: Any = random.choice([None, {"a": some[0], "b": random.choice([None, "u", "v"])}])
        o: Any = random.choice([None, {"x": some[1], "p": p}, {"x": some[1], "p": p}])
        ints = random.choice([None, [], some[2:3], some[2:6]])
        parts = random.choice([None, [None, p], [{"a": n, "b": "u"} for n in some[:2]]])
        pairs = random.choice([None, [], [("k", some[6])], [("j", some[7]), ("k", 1)]])
        self.nested.append({"ts": ts, "o": o, "l": ints, "parts": parts, "m": pairs})
        x, p = o and o["x"], (o and o["p"]) or {"a": None, "b": None}
        whole = {"n": None if ints is None else len(ints), "l0": (ints or [None])[0]}
        k = dict(pairs or []).get("k")
        self.flat["flat"].append({"ts": ts, "x": x, **p, **whole, "k": k})
        elements = [{"e": e, "i": i} for i, e in enumerate(ints or [], 1)]
        row = {"ts": ts, "x": x, "b": p["b"]}
        self.flat["ints"] += [{**row, **e, "n": whole["n"]} for e in elements]
        self.flat["some"] += [{**row, **e} for e in elements or [{"e": None, "i": None}]]
        none = {"a": None, "b": None}
        self.flat["parts"] += [{"ts": ts, "x": x, **(part or none)} for part in parts or []]
        self.flat["pairs"] += [{"ts": ts, "x": x, "key": j, "value": v} for j, v in pairs or []]

    def tables(self, engine: Engine) -> dict[str, pa.Table]:
        flat = {
            name: pa.Table.from_pylist(rows, schema=supplied(engine, name))
            for name, rows in self.flat.items()
        }
        return {"s": pa.Table.from_pylist(self.nested, schema=NESTED), **flat}


def supplied(engine: Engine, stream: str) -> pa.Schema:
    fields = engine.catalog.streams[stream].schema
    return pa.schema([(f.name, pa.int64() if f.name == "ts" else f.type) for f in fields])


def declared(options: dict[str, Any]) -> Engine:
    engine = engine_with(**options)
    for name, columns in {
        "s": DECLARED,
        **{n: f"ts TIMESTAMP, {c}" for n, c in FLAT.items()},
    }.items():
        engine.sql(f"CREATE STREAM {name} ({columns}) TIMESTAMP BY ts")
    return engine


def batches(random: Random) -> list[Rows]:
    found, ts = [], 1_000_000
    for _ in range(random.randint(1, 4)):
        rows = Rows()
        for _ in range(random.choice([1, 3, 9])):
            ts += random.choice([0, 0, 100_000, 400_000, 1_100_000])
            rows.add(ts, random)
        found.append(rows)
    last = Rows()  # brings the watermark of each stream to the same instant
    while not all(last.flat.values()):
        last.add(ts + 10_000_000, random)
    return [*found, last]


@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_each_query(number: int) -> None:
    for seed in range(3):
        compare([QUERIES[number]], Random(seed), {})


@given(st.integers(0, 2**48), OPTIONS)
def test_parts_and_elements_are_columns_and_rows(seed: int, options: dict[str, Any]) -> None:
    event(f"state: {options['state']}")
    random = Random(seed)
    compare(random.sample(QUERIES, 4), random, options | {"keep": {}})


def compare(queries: Sequence[tuple[str, ...]], random: Random, options: dict[str, Any]) -> None:
    engine = declared(options)
    for i, pair in enumerate(queries):
        windows, emit = random.choices(WINDOWS, k=2), random.choice(EMITS)
        for name, sql in zip((f"nested_{i}", f"flat_{i}"), pair, strict=True):
            text = sql.replace("[W]", f"[{windows[0]}]").replace("[V]", f"[{windows[1]}]")
            engine.query(text + emit, name=name)
    changes: dict[str, list[Any]] = {}
    for rows in batches(random):
        out = engine.process(rows.tables(engine))
        for name in engine.catalog.queries:
            changes.setdefault(name, []).extend(rows_of(out[name]))
    for i, (sql, *_) in enumerate(queries):
        found, expected = (
            sorted(map(repr, net_changes(engine.queries[n], changes[n], engine.clock)))
            for n in (f"nested_{i}", f"flat_{i}")
        )
        assert found == expected, sql
