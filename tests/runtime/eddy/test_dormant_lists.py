"""Lists without rows, of which no group can be shown: queries emit what they emit alone."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

from eddyline.kernels import row_lists
from eddyline.runtime.eddy import dormant_lists, lineage_sums
from eddyline.runtime.eddy.dormant_lists import DormantLists
from eddyline.runtime.eddy.lineages import Lineages
from eddyline.runtime.predicates import box_sets
from eddyline.runtime.predicates.boxes import Boxes
from eddyline.runtime.stores.columns import Array
from eddyline.types import TIMESTAMP
from sharing_pair import Pair

SECOND = 1_000_000
#: What HAVING compares, with bounds that groups rarely reach.
CONDITIONS = (
    ("AVG(v)", ">", (12, 14, 16)),
    ("AVG(v)", "<", (8, 6, 4)),
    ("SUM(v)", ">=", (700, 1_000, 2_000)),
    ("SUM(i)", ">", (150, 300, 900)),
    ("COUNT(v)", ">", (60, 100)),
    ("COUNT(*)", ">", (60, 100, 300)),
    ("COUNT(v)", ">=", (0, 90)),
)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Lists are watched whatever their number; counts how many became dormant, and were filled."""
    found = {"fallen": 0, "filled": 0, "ended": 0}
    fall, filled, end = DormantLists.fall_dormant, DormantLists.filled, DormantLists.end

    def counted_fall(self: DormantLists, *arguments: Any) -> list[int]:
        lists = fall(self, *arguments)
        found["fallen"] += len(lists)
        return lists

    def counted_filled(self: DormantLists, numbers: Any, clock: int) -> None:
        found["filled"] += len(numbers)
        filled(self, numbers, clock)

    def counted_end(self: DormantLists) -> set[int]:
        found["ended"] += 1
        return end(self)

    monkeypatch.setattr(DormantLists, "fall_dormant", counted_fall)
    monkeypatch.setattr(DormantLists, "filled", counted_filled)
    monkeypatch.setattr(DormantLists, "end", counted_end)
    monkeypatch.setattr(dormant_lists, "_LEAST", 1)
    monkeypatch.setattr(dormant_lists, "_LEAST_DORMANT", 0)
    monkeypatch.setattr(dormant_lists, "_LEAST_PAUSE", 0)
    monkeypatch.setattr(dormant_lists, "_MOST_PAUSE", 1)
    monkeypatch.setattr(dormant_lists, "_LOOK_AGAIN", 1 << 40)
    return found


def queries(random: Random, count: int) -> list[str]:
    what, compared, bounds = random.choice(CONDITIONS)
    emit = random.choice(["CHANGES", "INSERTS"])
    found = []
    for _ in range(count):
        where = random.choice(["", *(f" WHERE i > {n}" for n in range(4)), " WHERE 6 / i > 0"])
        length = random.choice([1, 2, 2, 3, 7])
        found.append(
            f"SELECT k, {what} AS x, COUNT(*) AS n FROM s [RANGE {length} SECONDS]{where} "
            f"GROUP BY k HAVING {what} {compared} {random.choice(bounds)} EMIT {emit}"
        )
    return found


def rows(random: Random, clock: int, specials: bool, keys: int) -> pa.Table:
    """Rows of two seconds around 10; now and then a key is far from that."""
    count = keys * random.choice([0, 1, 10, 40, 40, 40, 40, 100])
    ts = sorted(clock + random.randint(1, 2 * SECOND) for _ in range(count))
    odd = random.randrange(keys) if random.random() < 0.3 else -1
    values: list[float | None] = []
    k = [random.randrange(keys) for _ in ts]
    for key in k:
        value: float | None = 10 + random.gauss(0, 2) + (15 if key == odd else 0)
        if specials and random.random() < 0.02:
            value = random.choice([None, float("nan"), float("inf"), 1e300, 0.1])
        values.append(value)
    return pa.table(
        {
            "ts": pa.array(ts, pa.int64()).cast(TIMESTAMP),
            "k": pa.array(k, pa.int64()),
            "v": pa.array(values, pa.float64()),
            "i": pa.array([random.choice([None, 1, 1, 2, 3, 4, 5, 5]) for _ in ts], pa.int64()),
        }
    )


def play(seed: str, *, specials: bool = False, keys: int = 3) -> None:
    """Queries that come and go, rows and restarts."""
    random = Random(seed)
    pair = Pair()
    pair.add("all", "SELECT k, v FROM s [RANGE 10 SECONDS]")  # rows are there for late queries
    waiting = queries(random, random.randint(4, 12))
    for i in range(random.randint(2, 4)):
        pair.add(f"q{i}", waiting.pop())
    clock = 0
    for _ in range(random.randint(12, 20)):
        table = rows(random, clock, specials, keys)
        clock += 2 * SECOND
        if table.num_rows:
            pair.process(table)
        if random.random() < 0.1:
            clock += random.choice([3, 20]) * SECOND
        if waiting and random.random() < 0.3:
            pair.add(f"late{len(waiting)}", waiting.pop())
        if len(pair.names) > 1 and random.random() < 0.15:
            pair.drop(random.choice(pair.names[1:]))
        if random.random() < 0.05:
            pair.restart()


@pytest.mark.parametrize("keys", [1, 4])
@pytest.mark.parametrize("specials", [False, True])
def test_lists_fall_dormant_and_are_filled(seen: dict[str, int], specials: bool, keys: int) -> None:
    for seed in range(6):
        play(f"dormant {seed}", specials=specials, keys=keys)
    assert seen["fallen"] > seen["filled"] > 0


def test_a_list_is_filled_for_its_longest_window(seen: dict[str, int]) -> None:
    """That of a query that came after others, with shorter windows over the same rows."""
    play("many dormant 5", keys=30)
    assert seen["ended"] and seen["filled"]


def test_a_longer_window_finds_a_dormant_list(
    seen: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows enter once, and leave within the bounds of what leaves."""
    for name in ("leave", "_free_blocks"):  # in Python bounds are checked
        monkeypatch.setattr(row_lists, name, getattr(row_lists, name).__wrapped__)
    monkeypatch.setattr(lineage_sums, "_PIECES", 32)
    monkeypatch.setattr(lineage_sums, "_RING", 64)
    play("many dormant 20", specials=True, keys=30)
    assert seen["filled"]


def test_lists_whose_rows_boxes_find_are_not_dormant(
    seen: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Queries that move from grouped filters to boxes are in no lineage from then on."""
    boxed: list[bool] = []
    leave_out = Lineages.leave_out

    def noted(self: Lineages, queries: Array) -> None:
        boxed.append(bool(queries.any()))
        leave_out(self, queries)

    monkeypatch.setattr(Lineages, "leave_out", noted)
    monkeypatch.setattr(Boxes, "pays", True)
    monkeypatch.setattr(box_sets, "_LEAST", 4)
    for seed in range(8):
        play(f"boxed {seed}")
    assert any(boxed) and not all(boxed)
    assert seen["fallen"] > 0


@pytest.mark.long
@pytest.mark.parametrize("keys", [1, 2, 5, 30])
@pytest.mark.parametrize("specials", [False, True])
@pytest.mark.parametrize("pieces", [2, 8, 32])
def test_many_lists_fall_dormant_and_are_filled(
    seen: dict[str, int],
    monkeypatch: pytest.MonkeyPatch,
    specials: bool,
    keys: int,
    pieces: int,
) -> None:
    monkeypatch.setattr(lineage_sums, "_PIECES", pieces)
    monkeypatch.setattr(lineage_sums, "_RING", 2 * pieces)
    for seed in range(40):
        play(f"many dormant {seed}", specials=specials, keys=keys)
    assert seen["fallen"] > seen["filled"] > 0
