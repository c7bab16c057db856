"""Groups of many queries over lists of rows: what each query emits is what it emits alone."""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest

import eddyline
from eddyline.kernels import quiet_windows
from eddyline.kernels import shared_groups as kernels
from eddyline.runtime.eddy import shared_groups
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.runtime.graph import in_order
from eddyline.types import TIMESTAMP
from sharing_pair import DDL, Pair

FLOATS: Final[dict[str, list[float | None]]] = {
    "small": [0.5, 1.0, 1.25, 2.0, -1.0, None],
    "digits": [0.1, 0.2, 0.3, 1e-17, 1e17, -1e17, -0.1],
    "special": [float("nan"), float("inf"), float("-inf"), 1.0, 2.0, None],
    "far": [1e300, -1e300, 1e-300, 5e-324, 1.0, 2.0**401, -(2.0**401)],
}
AGGREGATES: Final = (
    *("AVG(v)", "SUM(v)", "COUNT(*)", "COUNT(v)", "SUM(i)", "AVG(i)", "STDDEV(v)"),
    *("MIN(v)", "MAX(i)", "MAX(v)"),
)
BOUNDS: Final = {
    "AVG(v)": (0.5, 1, 1.5),
    "SUM(v)": (1, 2.5, 0.30000000000000004),
    "STDDEV(v)": (1,),
}


EMITS: Final = (
    "CHANGES",
    "CHANGES",
    "SNAPSHOT EVERY 1 SECOND",
    "SNAPSHOT EVERY 3 SECONDS OFFSET 500 MILLISECONDS",
)


def queries(random: Random, count: int) -> list[str]:
    """With several windows, filters, aggregates and HAVING, and one EMIT."""
    emit = random.choice(EMITS)
    columns = ", ".join(random.sample(AGGREGATES, random.randint(1, 3)))
    what, compared = random.choice(AGGREGATES), random.choice(["<", "<=", ">", ">=", "="])
    having = random.choice(["", " HAVING {0} {1} {2}", " HAVING {2} {1} {0} AND COUNT(*) > 1"])
    found = []
    for _ in range(count):
        bound = random.choice(BOUNDS.get(what, (1, 2, 3)))
        where = random.choice(["", " WHERE i > 0", " WHERE v > 0.5", " WHERE i <> 1"])
        found.append(
            f"SELECT k, {columns} FROM s [RANGE {random.choice([1, 2, 3, 7])} SECONDS]{where} "
            f"GROUP BY k{having.format(what, compared, bound)} EMIT {emit}"
        )
    return found


def rows(random: Random, clock: int, floats: str, keys: int) -> pa.Table:
    count = random.choice([1, 3, 10, 40])
    ts = sorted(clock + random.randint(0, 4_000_000) for _ in range(count))
    return pa.table(
        {
            "ts": pa.array(ts, pa.int64()).cast(TIMESTAMP),
            "k": [random.randrange(keys) for _ in ts],
            "v": pa.array([random.choice(FLOATS[floats]) for _ in ts], pa.float64()),
            "i": pa.array([random.choice([None, 0, 1, 2, 2**62]) for _ in ts], pa.int64()),
        }
    )


def play(seed: str, floats: str, keys: int) -> int:
    """Queries that come and go, rows and restarts; returns the number of changes."""
    random = Random(seed)
    pair = Pair()
    pair.add("all", "SELECT k, v FROM s [RANGE 10 SECONDS]")  # rows are there for late queries
    waiting = [*queries(random, random.randint(2, 8)), *queries(random, 3)]
    for i in range(random.randint(2, 5)):
        pair.add(f"q{i}", waiting.pop())
    pair.process(rows(random, 0, floats, keys))
    clock, found = 0, 0
    for _ in range(random.randint(4, 10)):
        clock += random.choice([500_000, 1_000_000, 4_000_000])
        found += pair.process(rows(random, clock, floats, keys))
        if waiting and random.random() < 0.4:
            pair.add(f"late{len(waiting)}", waiting.pop())
        if len(pair.names) > 1 and random.random() < 0.2:
            pair.drop(random.choice(pair.names[1:]))
        if random.random() < 0.2:
            pair.restart()
    return found


@pytest.mark.parametrize("keys", [1, 3, 200])
@pytest.mark.parametrize("floats", FLOATS)
def test_queries_that_share_emit_what_they_emit_alone(floats: str, keys: int) -> None:
    assert sum(play(f"{floats} {keys} {seed}", floats, keys) for seed in range(4))


@pytest.mark.long
@pytest.mark.parametrize("floats", FLOATS)
def test_many_queries_that_share(floats: str) -> None:
    for seed in range(150):
        play(f"many {floats} {seed}", floats, Random(seed).choice([1, 2, 5, 200]))


def test_groups_that_cannot_be_shown_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A query costs no row of a group, nor a value of an aggregate, while HAVING cannot hold."""
    looked_at: list[int] = []

    def collect(*arguments: Any) -> Any:
        found = real(*arguments)
        looked_at.append(found[0].size)
        return found

    real = kernels.collect
    monkeypatch.setattr(kernels, "collect", collect)
    engine = eddyline.Engine()
    engine.sql(DDL)
    for i in range(20):
        engine.query(
            f"SELECT k, AVG(v) AS v FROM s [RANGE {i + 1} SECONDS] GROUP BY k HAVING AVG(v) > 30",
            name=f"q{i}",
        )
    for second in range(1, 40):
        hot = second == 30
        ts = pa.array([second * 1_000_000 + i for i in range(50)], pa.int64()).cast(TIMESTAMP)
        values = [900.0 if hot and i == 7 else 20.0 + i % 5 for i in range(50)]
        k, nothing = [i % 25 for i in range(50)], pa.nulls(50, pa.int64())
        table = pa.table({"ts": ts, "k": k, "v": values, "i": nothing})
        changes = engine.process({"s": table}, watermark=second * 1_000_000 + 49)
        if second < 30:
            assert looked_at.pop() == 0
        elif hot:
            assert 0 < looked_at.pop() <= 4 * 20, "the rows of one group"
            assert len(changes.active()) == 20


def test_the_rows_of_a_list_are_kept_once() -> None:
    engine = eddyline.Engine()
    engine.sql(DDL)
    for i in range(30):
        where = f" WHERE i > {i % 3}"
        engine.query(
            f"SELECT k, SUM(v) AS v FROM s [RANGE {i + 1} SECONDS]{where} GROUP BY k", name=f"q{i}"
        )
    groups = [o for o in in_order(engine.parts.queries.operators()) if isinstance(o, PerQuery)]
    table = pa.table(
        {
            "ts": pa.array(range(1, 1001), pa.int64()).cast(TIMESTAMP),
            "k": [1] * 1000,
            "v": [1.0] * 1000,
            "i": [i % 4 for i in range(1000)],
        }
    )
    engine.process({"s": table}, watermark=1000)
    assert [o.kept() for o in groups] == [750]
    engine.advance(100_000_000)
    assert [o.kept() for o in groups] == [0]


def test_a_query_is_brought_up_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_groups, "_MOST_ROWS", 5)
    for seed in range(6):
        play(f"pieces {seed}", "small", 3)


def test_the_state_of_a_group_at_the_edge_is_made_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A group that comes near its threshold again and again costs a constant per row, however many
    rows its window holds.
    """
    made: list[int] = []

    def rows_of(*arguments: Any) -> Any:
        found = real(*arguments)
        made.append(found[1].size)
        return found

    real = quiet_windows.rows_of
    monkeypatch.setattr(quiet_windows, "rows_of", rows_of)
    pair = Pair()
    for i in range(3):
        pair.add(
            f"q{i}",
            f"SELECT k, SUM(v) AS v FROM s [RANGE {100 + i} SECONDS] GROUP BY k HAVING SUM(v) > 10",
        )
    count = 1_500
    for first in range(0, count, 5):
        # each group of five rows adds up to 0; every other one goes over the threshold
        high = 11.0 if first // 5 % 2 else 1.0
        values = [high, -high, 0.0, 0.5, -0.5]
        pair.process(
            pa.table(
                {
                    "ts": pa.array(range(first, first + 5), pa.int64()).cast(TIMESTAMP),
                    "k": [1] * 5,
                    "v": values,
                    "i": pa.nulls(5, pa.int64()),
                }
            )
        )
    assert 0 < sum(made) <= 3 * 2 * count


def test_snapshots_of_a_quiet_year_cost_little() -> None:
    """Time that passes without rows is not gone through tick by tick."""
    engine = eddyline.Engine()
    engine.sql(DDL)
    for i in range(2):
        engine.query(
            f"SELECT k, COUNT(*) AS n FROM s [RANGE 3 SECONDS] WHERE i > {i} GROUP BY k "
            "EMIT SNAPSHOT EVERY 1 SECOND",
            name=f"q{i}",
        )
    second, year = 1_000_000, 366 * 86_400_000_000
    for start in (0, year):
        ts = pa.array([start + 1, start + second], pa.int64()).cast(TIMESTAMP)
        table = pa.table({"ts": ts, "k": [1, 1], "v": [1.0, 1.0], "i": [2, 2]})
        changes = engine.process({"s": table}, watermark=start + 10 * second)
        for i in range(2):
            assert changes[f"q{i}"]["n"].to_pylist() == [2, 2, 2, 1][: len(changes[f"q{i}"])]
            seconds = [(t.value - start) // second for t in changes[f"q{i}"]["_ts"]]
            assert seconds == [1, 2, 3]
