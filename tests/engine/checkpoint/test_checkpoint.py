"""Saving in the middle and going on: nothing may tell that an engine was loaded."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline import CatalogError, Engine, StateError
from eddyline.testing import batch, engine_with
from restarts import restarted

DDL = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, v DOUBLE, t STRING, d DECIMAL(9,2)) TIMESTAMP BY ts
        LATENESS 1 SECOND;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT, w BIGINT) TIMESTAMP BY ts;
    CREATE TABLE names (k BIGINT, name STRING);
    CREATE VIEW big AS SELECT ts, k, v FROM a WHERE v > 2
"""
QUERIES = {
    "filter and project": "SELECT k + 1, upper(t), d FROM a [RANGE 3 SECONDS] WHERE v > 1",
    "join": "SELECT a.t, b.w FROM a [RANGE 3 SECONDS], b [RANGE 2 SECONDS] WHERE a.k = b.k",
    "join of three": "SELECT a.v, b.w, c.t FROM a [RANGE 3 SECONDS], b [RANGE 5 SECONDS],"
    " a [RANGE 2 SECONDS] AS c WHERE a.k = b.k AND b.k = c.k",
    "nested loops": "SELECT a.k, b.k FROM a [RANGE 1 SECOND], b [RANGE 1 SECOND] WHERE a.k < b.k",
    "join on text": "SELECT x.v, y.v FROM a [ROWS 4] AS x, a [RANGE 2 SECONDS] AS y"
    " WHERE x.t = y.t",
    "table": "SELECT a.v, names.name FROM a [RANGE 3 SECONDS], names WHERE a.k = names.k",
    "group": "SELECT t, COUNT(*) AS n, SUM(k) AS s, AVG(v) AS a, MIN(t) AS m, MAX(d) AS x"
    " FROM a [RANGE 3 SECONDS] GROUP BY t",
    "moments": "SELECT k, SUM(v) AS s, STDDEV(v) AS d, COUNT(DISTINCT t) AS n"
    " FROM a [RANGE 4 SECONDS] GROUP BY k",
    "total": "SELECT COUNT(*) AS n, MAX(v) AS m FROM a [RANGE 2 SECONDS]",
    "group of rows": "SELECT k, MIN(v) AS m FROM a [ROWS 7] GROUP BY k",
    "group of a mixed join": "SELECT a.k, MIN(b.w) AS m FROM a [ROWS 2], b [RANGE 2 SECONDS]"
    " WHERE a.k = b.k GROUP BY a.k",
    "partition": "SELECT k, v FROM a [PARTITION BY k ROWS 2]",
    "distinct": "SELECT DISTINCT k, t FROM a [RANGE 3 SECONDS]",
    "distinct of a join": "SELECT DISTINCT a.k FROM a [RANGE 3 SECONDS], b [RANGE 2 SECONDS]"
    " WHERE a.k = b.k",
    "distinct of rows": "SELECT DISTINCT t FROM a [ROWS 5]",
    "union": "SELECT k FROM a [RANGE 3 SECONDS] UNION ALL SELECT w FROM b [RANGE 1 SECOND]",
    "spooled": "SELECT g.n, b.w FROM b [RANGE 3 SECONDS], (SELECT k, COUNT(*) AS n"
    " FROM a [RANGE 3 SECONDS] GROUP BY k) AS g WHERE g.k = b.k",
    "view": "SELECT k, v FROM big [RANGE 2 SECONDS]",
    "unbounded": "SELECT b.w FROM a [RANGE 2 SECONDS], b [UNBOUNDED] WHERE a.k = b.k",
}
EMITS = {
    "inserts": "",
    "changes": " EMIT CHANGES",
    "snapshot": " EMIT SNAPSHOT EVERY 2 SECONDS OFFSET 1 SECOND",
}
ROUNDS = 8


def engine() -> Engine:
    out = engine_with(chunk_rows=5)
    out.sql(DDL)
    out.table("names", pa.table({"k": [0, 1, 2], "name": ["none", "one", "two"]}))
    return out


def rounds() -> Iterator[dict[str, pa.Table]]:
    """Rows of eight seconds, a second each, out of order by up to a second and with NULLs."""
    random = np.random.default_rng(11)
    for second in range(ROUNDS):
        n = 12
        ts = 1_000_000 * second + random.integers(0, 1_000_000, n)
        texts = ["same prefix, a", "same prefix, b", "x", ""]
        none = random.random(n) < 0.1
        a = {
            "ts": ts,
            "k": pa.array(random.integers(0, 4, n), mask=none),
            "v": pa.array(random.normal(size=n) * 4, mask=random.random(n) < 0.1),
            "t": pa.array([texts[i] for i in random.integers(0, 4, n)], mask=none),
            "d": pa.array(random.integers(0, 99, n)).cast(pa.string()).cast(pa.decimal128(9, 2)),
        }
        b = {"ts": np.sort(ts), "k": random.integers(0, 4, n), "w": np.arange(n)}
        yield {"a": pa.table(a), "b": pa.table(b)}


def told(eng: Engine, rows: dict[str, pa.Table]) -> list[dict[str, list[Any]]]:
    changes = eng.process(rows)
    return [table.to_pydict() for table in (*changes.values(), *changes.late.values())]


def same(first: Any, second: Any) -> bool:
    return repr(first) == repr(second)  # NaN equals itself here


@pytest.mark.parametrize("emit", EMITS)
@pytest.mark.parametrize("kind", QUERIES)
def test_a_loaded_engine_goes_on_as_if_nothing_had_happened(kind: str, emit: str) -> None:
    whole = engine()
    whole.query(QUERIES[kind] + EMITS[emit], name="q")
    broken = engine()
    broken.query(QUERIES[kind] + EMITS[emit], name="q")
    for number, rows in enumerate(rounds()):
        if number in (2, 3, 5):
            broken = restarted(broken)
        assert same(told(whole, rows), told(broken, rows)), f"second {number}"
        snapshots = (e.queries["q"].snapshot().to_pydict() for e in (whole, broken))
        assert same(*snapshots), f"second {number}"
    end = "1970-01-01T00:01:00Z"
    assert same(whole.advance(end)["q"].to_pydict(), broken.advance(end)["q"].to_pydict())
    stats = whole.stats(), broken.stats()
    assert stats[0]["streams"] == stats[1]["streams"]
    assert (whole.clock, whole.watermark) == (broken.clock, broken.watermark)


def test_all_queries_at_once_with_drops_and_late_ones_between() -> None:
    whole, broken = engine(), engine()
    names = list(QUERIES)
    for eng in (whole, broken):
        for name in names:
            eng.query(QUERIES[name], name=name)
    for number, rows in enumerate(rounds()):
        assert same(told(whole, rows), told(broken, rows)), f"second {number}"
        for eng in (whole, broken):
            eng.drop(names[2 * number])
            eng.query(QUERIES[names[2 * number]] + EMITS["changes"], name=f"again {number}")
        broken = restarted(broken)
    assert list(whole.queries) == list(broken.queries)


def test_dropped_views_and_queries_that_others_read() -> None:
    eng = engine()
    eng.query("SELECT k, v FROM big [RANGE 9 SECONDS]", name="q1")
    eng.query("SELECT k FROM q1 WHERE v > 3", name="q2")
    for statement in ("DROP QUERY q1", "DROP VIEW big"):
        with contextlib.suppress(CatalogError):  # either refused, or done so that load still works
            eng.sql(statement)
    eng.process(next(rounds()))
    copy = restarted(eng)
    assert copy.queries["q2"].snapshot() == eng.queries["q2"].snapshot()


def test_changes_not_fetched_yet_are_saved() -> None:
    eng = engine()
    eng.process({"b": batch("ts | k | w\n1s | 1 | 5")}, watermark=0)
    eng.query("SELECT w FROM b [RANGE 9 SECONDS]", name="holds")
    eng.process({"b": batch("ts | k | w\n3s | 1 | 6")}, watermark=3_000_000)
    eng.query("SELECT w FROM b [RANGE 9 SECONDS] WHERE w > 0", name="q")
    copy = restarted(restarted(eng))
    assert copy.process({})["q"]["w"].to_pylist() == eng.process({})["q"]["w"].to_pylist() == [5, 6]
    assert restarted(copy).process({})["q"].num_rows == 0


def test_names_with_spaces_and_columns_with_slashes_and_quotes() -> None:
    eng = Engine()
    eng.sql('CREATE STREAM `s-t u` (`t/s` TIMESTAMP, `a/b "c"` BIGINT) TIMESTAMP BY `t/s`')
    sql = 'SELECT `a/b "c"` AS x FROM `s-t u` [PARTITION BY `a/b "c"` ROWS 2] EMIT CHANGES'
    eng.query(sql, name="q-r s")
    rows = pa.table({"t/s": [1, 2, 3], 'a/b "c"': [2, 2, 3]})
    eng.process({"s-t u": rows})
    copy = restarted(eng)
    assert copy.queries["q-r s"].snapshot()["x"].to_pylist() == [2, 2, 3]
    more = pa.table({"t/s": [4], 'a/b "c"': [2]})
    assert copy.process({"s-t u": more})["q-r s"]["_op"].to_pylist() == ["-", "+"]


def test_an_engine_is_saved_to_a_path_with_its_options(tmp_path: Path) -> None:
    eng = engine()
    eng.sql("CREATE QUERY q AS SELECT k FROM b [ROWS 1] WITH (sink = 'memory')")
    assert eng.query("SELECT k FROM b [ROWS 2]").name == "q1"
    eng.save(str(tmp_path / "saved"))
    copy = Engine.load(str(tmp_path / "saved"))
    assert copy.options.chunk_rows == 5
    assert copy.queries["q"].options == {"sink": "memory"}
    assert copy.query("SELECT k FROM b [ROWS 3]").name == "q2"
    assert copy.explain("SELECT k FROM b [ROWS 1]") == eng.explain("SELECT k FROM b [ROWS 1]")


def saved_with(program: str) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("program.json", program)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    "program", ["", "{}", "[]", "oops", json.dumps({"version": 99, "program": []})]
)
def test_other_files_are_refused(program: str) -> None:
    with pytest.raises(StateError):
        Engine.load(saved_with(program))


def test_damaged_and_missing_files_are_refused(tmp_path: Path) -> None:
    file = io.BytesIO()
    eng = engine()
    eng.process(next(rounds()))
    eng.save(file)
    (tmp_path / "half").write_bytes(file.getvalue()[: len(file.getvalue()) // 2])
    (tmp_path / "empty").write_bytes(b"")
    for name in ("half", "empty", "none"):
        with pytest.raises(StateError, match=name):
            Engine.load(str(tmp_path / name))
