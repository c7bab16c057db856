"""Chains of LEFT JOINs: the two parts of each share their inputs, so each more does not double the
time in which they are planned.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pyarrow as pa
import pytest

from counted_calls import calls_of
from eddyline import Engine
from eddyline.testing.script import Script
from window_rows import rows


def ddl(n: int) -> str:
    columns = "(ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts"
    return ";".join(f"CREATE STREAM {name} {columns}" for name in ["s", *streams(n)])


def streams(n: int) -> list[str]:
    return [f"r{i}" for i in range(n)]


def chain(n: int, where: str = "") -> str:
    outputs = "".join(f", {r}.x AS {r}" for r in streams(n))
    joins = "".join(f" LEFT JOIN {r} [RANGE 1 SECOND] ON s.k = {r}.k" for r in streams(n))
    return f"SELECT s.k{outputs} FROM s [RANGE 2 SECONDS]{joins}{where}"


FORMS: dict[str, Callable[[int], str]] = {
    "rows": chain,
    "filtered": lambda n: chain(n, " WHERE s.x > 2 AND s.k = 'a'"),
    "changes": lambda n: f"{chain(n)} EMIT CHANGES",
    "grouped": lambda n: f"SELECT k, COUNT(*) AS n FROM ({chain(n)}) AS q GROUP BY k",
    "distinct": lambda n: chain(n).replace("SELECT", "SELECT DISTINCT", 1),
}


@pytest.mark.parametrize("form", FORMS)
def test_planning_takes_quadratic_time_at_most(form: str) -> None:
    def planned(n: int) -> int:
        engine = Engine()
        engine.sql(ddl(n))

        def run() -> None:
            for name in ("first", "second"):  # which share operators
                engine.query(FORMS[form](n), name=name).explain(analyze=True)
            engine.stats()

        return calls_of(run)

    planned(2)  # imports modules
    assert planned(24) < 5 * planned(12)


def test_forty_left_joins() -> None:
    engine = Engine()
    engine.sql(ddl(40))
    engine.query(chain(40), name="q")
    one = pa.table({"ts": [1_000_000], "k": ["a"], "x": [7]})
    out = engine.process({"s": one, "r7": one}, watermark=1_000_000)["q"]
    rest = dict.fromkeys(streams(40))
    shown = [row for row in out.to_pylist() if row["_op"] == "+"]
    assert {name: shown[-1][name] for name in rest} == rest | {"r7": 7}


@pytest.mark.parametrize("form", ["rows", "changes"])
def test_answers(form: str) -> None:
    random = Random(form)
    script = Script(ddl(6), FORMS[form](6), options={"chunk_rows": 3})
    clock = 1_000_000
    for _ in range(3):
        ends = []
        for name in random.sample(["s", *streams(6)], 4):
            start = [clock]
            script.process(**{name: rows(random, start, 2, "ab")})
            ends.append(start[0])
        clock = max(ends)
    script.advance(clock + 5_000_000).finish()
    assert script.changes().num_rows
