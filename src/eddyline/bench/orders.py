"""The order of joins that the engine chooses, beside all orders that can be written.

Joins of three and four streams are drawn at random: how many values a key has, and which share of
the rows of either side has any of the other's. Of each join engines with the same rows take turns,
call by call: one that chooses the order, and two for each order in which every join has a key, with
feedback and without. The processor time of the last calls is compared, after windows are full and
statistics have been measured.

Two questions: how much longer than the best order takes the chosen one? And would another order be
chosen if the cost model knew what feedback saves: does the order that is best without feedback, run
with it, take longer than the order that is best with it?
"""

from __future__ import annotations

import json as json_text
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import inf
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eddyline import Engine, StrategyOptions
from eddyline.bench.feeding import process_all
from eddyline.physical.strategy import Feedback
from eddyline.types import TIMESTAMP

_STREAMS: Final = "abcd"
_WINDOW_S: Final = 4
#: Rows of a call and stream, a second of event time; calls, and how many of them are not measured.
_ROWS: Final = 2_000
_CALLS: Final = 80
_WARM: Final = 50
_JOINS: Final = 24
#: Of the ratios: the median, and nine in ten, are asked to be at most this.
ASKED_CHOSEN: Final = (1.1, 1.5)
ASKED_FEEDBACK: Final = (1.02, 1.05)

#: Pairs of streams that a condition ties, by shape.
Edges: TypeAlias = tuple[tuple[int, int], ...]
SHAPES: Final[Mapping[str, Edges]] = {
    "chain of 3": ((0, 1), (1, 2)),
    "chain of 4": ((0, 1), (1, 2), (2, 3)),
    "star of 4": ((0, 1), (0, 2), (0, 3)),
    "clique of 3": ((0, 1), (1, 2), (0, 2)),
}


@dataclass(frozen=True)
class Key:
    """A condition: number of common values, and the share of rows of either side that has one."""

    values: int
    shares: tuple[float, float]


@dataclass(frozen=True)
class RandomJoin:
    """A join that was drawn.

    Attributes:
        keys: of the conditions of its shape. seed: of its rows.
    """

    shape: str
    keys: tuple[Key, ...]
    seed: int

    @classmethod
    def drawn(cls, number: int) -> RandomJoin:
        """The join of a number."""
        random = np.random.default_rng(number)
        shape = list(SHAPES)[number % len(SHAPES)]
        keys = []
        for _ in SHAPES[shape]:
            partners = random.choice([0.3, 1, 3])
            left, right = (float(share) for share in random.choice([0.02, 0.1, 0.3, 1.0], 2))
            values = _WINDOW_S * _ROWS * min(left, right) / partners
            keys.append(Key(max(2, int(values)), (left, right)))
        return cls(shape, tuple(keys), number)

    @property
    def edges(self) -> Edges:
        """The pairs of streams that its conditions tie."""
        return SHAPES[self.shape]

    @property
    def streams(self) -> str:
        """Their names."""
        return _STREAMS[: 1 + max(max(edge) for edge in self.edges)]

    def orders(self) -> Iterator[str]:
        """The orders in which each stream is tied to one before it; the first two once."""
        tied = {frozenset(_STREAMS[i] for i in edge) for edge in self.edges}
        for order in permutations(self.streams):
            later = range(1, len(order))
            has_keys = (any({order[i], o} in tied for o in order[:i]) for i in later)
            if order[0] < order[1] and all(has_keys):
                yield "".join(order)

    def engine(self, order: str, strategy: StrategyOptions) -> Engine:
        """An engine with the query, its streams in this order."""
        engine = Engine(strategy=strategy)
        columns = ", ".join(f"k{i} BIGINT" for i in range(len(self.edges)))
        for stream in self.streams:
            engine.sql(f"CREATE STREAM {stream} (ts TIMESTAMP, {columns}) TIMESTAMP BY ts")
        read = ", ".join(f"{s} [RANGE {_WINDOW_S} SECONDS]" for s in order)
        met = " AND ".join(
            f"{_STREAMS[a]}.k{i} = {_STREAMS[b]}.k{i}" for i, (a, b) in enumerate(self.edges)
        )
        engine.query(f"SELECT a.k0 FROM {read} WHERE {met}", name="q")
        return engine

    def rows(self, call: int) -> dict[str, pa.Table]:
        """The rows of a call: a second of all streams."""
        random = np.random.default_rng((self.seed, call))
        given = {}
        for place, stream in enumerate(self.streams):
            ts = call * 1_000_000 + np.sort(random.integers(0, 1_000_000, _ROWS))
            columns = {"ts": pa.array(ts, TIMESTAMP)}
            for i, (edge, key) in enumerate(zip(self.edges, self.keys, strict=True)):
                share = key.shares[edge.index(place)] if place in edge else 1.0
                common = random.integers(0, key.values, _ROWS)
                own = 10_000_000 * (place + 1) + random.integers(0, 5 * key.values, _ROWS)
                columns[f"k{i}"] = pa.array(np.where(random.random(_ROWS) < share, common, own))
            given[stream] = pa.table(columns)
        return given


@dataclass(frozen=True)
class Compared:
    """The processor seconds of a join: of the order chosen, and by written order."""

    join: RandomJoin
    chosen: float
    with_feedback: Mapping[str, float]
    without: Mapping[str, float]

    @property
    def of_chosen(self) -> float:
        """The time of the chosen order as a multiple of the best one's, with feedback or not."""
        return self.chosen / min(*self.with_feedback.values(), *self.without.values())

    @property
    def of_unaware(self) -> float:
        """The time, with feedback, of the order that is best without it, as a multiple of the time
        of the one that is best with it.
        """
        unaware = min(self.without, key=lambda order: self.without[order])
        return self.with_feedback[unaware] / min(self.with_feedback.values())

    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "shape": self.join.shape,
            "keys": [[key.values, *key.shares] for key in self.join.keys],
            "chosen": round(self.chosen, 4),
            "with_feedback": {order: round(s, 4) for order, s in self.with_feedback.items()},
            "without": {order: round(s, 4) for order, s in self.without.items()},
        }


def compared(join: RandomJoin, calls: int = _CALLS, warm: int = _WARM) -> Compared:
    """Measure a join.

    Raises:
        AssertionError: the orders have different numbers of results.
    """

    def written(order: str, feedback: Feedback) -> Engine:
        given = StrategyOptions(feedback=feedback, executor="tree", optimize=False, replan=inf)
        return join.engine(order, given)

    orders = list(join.orders())
    engines = {("chosen", "auto"): join.engine(join.streams, StrategyOptions(executor="tree"))}
    engines |= {(order, "auto"): written(order, "auto") for order in orders}
    engines |= {(order, "off"): written(order, "off") for order in orders}
    seconds, results = dict.fromkeys(engines, 0.0), dict.fromkeys(engines, 0)
    for call in range(calls):
        rows = join.rows(call)
        turns = list(engines.items())[:: 1 if call % 2 else -1]
        for name, engine in turns:
            began = time.process_time()
            changes = process_all(engine, rows)
            seconds[name] += (time.process_time() - began) * (call >= warm)
            results[name] += sum(table.num_rows for table in changes.batches())
    assert len(set(results.values())) == 1, f"{join}: {results}"
    auto, off = ({o: seconds[o, way] for o in orders} for way in ("auto", "off"))
    return Compared(join, seconds["chosen", "auto"], auto, off)


def run_orders(*, joins: int = _JOINS, json: bool = False) -> None:
    """Measure, and print the ratios.

    Args:
        joins: how many are drawn.
    """
    numbers = track(range(joins), "joins", disable=json, transient=True)
    found = [compared(RandomJoin.drawn(number)) for number in numbers]
    if json:
        print(json_text.dumps([c.as_dict() for c in found], indent=2))
        return
    table = Table(
        "processor time of",
        "median",
        "9 in 10",
        "most",
        "asked",
        title=f"{joins} random joins of three and four streams",
    )
    chosen = _shown([c.of_chosen for c in found], ASKED_CHOSEN)
    table.add_row("the chosen order, to the best of all", *chosen)
    unaware = _shown([c.of_unaware for c in found], ASKED_FEEDBACK)
    table.add_row("the order best without feedback, run with it, to the best with it", *unaware)
    Console().print(table)


def _shown(ratios: Sequence[float], asked: tuple[float, float]) -> tuple[str, ...]:
    median, most_of_ten, most = np.quantile(ratios, [0.5, 0.9, 1.0])
    holds = "holds" if median <= asked[0] and most_of_ten <= asked[1] else "does not hold"
    return (
        *(f"{number:.2f}" for number in (median, most_of_ten, most)),
        f"{asked[0]}, {asked[1]}: {holds}",
    )
